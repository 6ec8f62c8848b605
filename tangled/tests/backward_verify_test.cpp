// tests/backward_verify_test.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/thermodynamics.hpp"
#include "attn/verify_gradients.hpp"
#include "gradients.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(backward)

// compute the gradient without a gauge
AttentionParts<double> without_gauge(const AttentionInputs<double>& x,
                                     const OutputParts<double>& w,
                                     bool fused) {
  const auto f = attention_forward(x);
  auto g = attention_vjp(x, f, w);
  const Matrix<double> dA = w.O * x.V.transpose();
  const Vector<double> D =
      (fused ? w.O.cwiseProduct(f.O).eval()
             : f.weights.cwiseProduct(dA).eval()).rowwise().sum();
  const Matrix<double> dS =
      f.weights.cwiseProduct((dA.colwise() - D).colwise() + w.logZ) / x.T;
  g.bias = dS;
  g.Q = dS * f.K_low;
  g.K = dS.transpose() * f.Q_low;
  g.T = attn::detail::temperature_cotangent(x.T, f, dS, w.logZ);
  return g;
}

// check the public verification
BOOST_AUTO_TEST_CASE(four_ways_agree) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Size z{Index(1 + seed % 5), Index(1 + seed % 7),
                 Index(1 + seed % 3), Index(1 + seed % 4),
                 Index(seed % 4)};
    auto x = random_problem<double>(z, seed);
    if (seed % 2 == 0) x.mask.reset();
    const auto report = verify_gradients(x, random_outputs<double>(z, seed));
    BOOST_TEST(report.checks.size() == 14u);
    for (const GradientCheck& c : report.checks) verify(c.error, c.bound);
  }
}
BOOST_AUTO_TEST_CASE(four_ways_agree_without_extras) {
  for (const Index n : {1, 2, 5}) {
    const AttentionInputs<double> x{gaussian<double>(n, 3, 1, "Q"),
                                    gaussian<double>(4, 3, 1, "K"),
                                    gaussian<double>(4, 2, 1, "V")};
    const auto report = verify_gradients(
        x, OutputParts<double>{gaussian<double>(n, 2, 1, "dO")});
    BOOST_TEST(report.checks.size() == 10u);
    for (const GradientCheck& c : report.checks) verify(c.error, c.bound);
    BOOST_TEST(report.passed());
  }
}
BOOST_AUTO_TEST_CASE(planted_mistakes_are_found) {
  const Size z{4, 6, 3, 3, 5};
  const auto x = random_problem<double>(z, 3);
  const auto w = random_outputs<double>(z, 3);
  const auto good = attention_vjp(x, w);
  verify(verify_gradients(x, w, good).worst(), 1);
  const auto plant = [&](auto change) {
    auto g = good;
    change(g);
    refute(verify_gradients(x, w, g).worst(), 1.5);
  };
  plant([](auto& g) { g.Q /= std::sqrt(3.0); });
  plant([&](auto& g) { g.M.transposeInPlace(); });
  plant([&](auto& g) { g.T *= x.T; });
  plant([&](auto& g) { g.K = -g.K; });
  plant([](auto& g) { g.V(2, 3) *= 1 + 1e-13; });
  plant([](auto& g) { g.bias(0, 0) += 1e-13; });
  plant([](auto& g) { g.Q(0, 0) = std::nan(""); });

  // plant the misprinted third step
  plant([&](auto& g) {
    const auto f = attention_forward(x);
    const Matrix<double> dA = output_vjp(f.weights, x.V, w.O).A;
    const Vector<double> sums = dA.rowwise().sum();
    g.bias = f.weights.cwiseProduct(dA.colwise() - sums) / x.T;
  });
}
BOOST_AUTO_TEST_CASE(report_in_words) {
  const Size z{4, 6, 3, 3, 5};
  const auto report = verify_gradients(random_problem<double>(z, 3),
                                       random_outputs<double>(z, 3));
  std::ostringstream text;
  text << report;
  BOOST_TEST(text.str().find("Q, reverse mode") != std::string::npos);
  BOOST_TEST(text.str().find("passed, worst ratio") != std::string::npos);
  verify(report.worst(), 1);
  fact("worst", report.worst());
  fact("errorQ", report.checks[0].error);
  fact("boundQ", report.checks[0].bound);
  fact("reverse", report.checks[6].error);
}
BOOST_AUTO_TEST_CASE(report_by_hand) {
  const double inf = HUGE_VAL;
  const auto ratio = [](double error, double bound) {
    return GradientCheck{"", error, bound}.ratio();
  };
  verify(ratio(0, 0) + ratio(0, 1), 0);
  BOOST_TEST((ratio(1, 0) == inf && ratio(inf, inf) == inf));
  BOOST_TEST((ratio(1, inf) == inf && ratio(0, std::nan("")) == inf));
  BOOST_TEST((ratio(std::nan(""), 1) == inf && ratio(1, -1) == inf));
  verify(GradientReport{}.worst(), 0);
  const GradientReport report{{{"Q", 0.5, 0.5}}};
  BOOST_TEST((report.passed() && !GradientReport{}.passed()));
  std::ostringstream text;
  text << report;
  BOOST_TEST(text.str() == "Q                        error 0.5        "
                           " bound 0.5         ratio 1\n"
                           "passed, worst ratio 1\n");
  const Matrix<quad> a = lift<quad>(Matrix<double>{{1, 2}});
  const auto first = compare_parts("", a, 0 * a, Matrix<double>{{1, 2}});
  BOOST_TEST((first.error == 1 && first.bound == 1));
  const quad h(0x1p-20);
  const auto line = line_derivative([](const quad& t) { return t; }, h);
  verify(distance(line.value, 1), 0x1p-110);
  verify(std::abs(line.bound / (12e3 * unit_roundoff<quad>()) - 1), 1e-2);
}
BOOST_AUTO_TEST_CASE(bounds_of_the_report) {
  const auto x = random_problem<double>({2, 3, 1, 1, 2}, 3);
  const auto w = random_outputs<double>({2, 3, 1, 1, 2}, 3);
  const auto report = verify_gradients(x, w).checks;
  BOOST_TEST(report.size() == 14u);
  const AttentionParts<double> e =
      scaled_parts(errors_of_any_form(x, w), 0x1p-58);
  const auto xq = lift<quad>(x);
  const auto u = lift<quad>(direction_like(x, 0x5eed));
  const double along = to_double(duality(absolute_parts(u), lift<quad>(e)));
  const auto line = difference_along(xq, lift<quad>(w), u);
  const auto is = [&](std::size_t k, double bound) {
    verify(std::abs(report[k].bound / bound - 1), 0x1p-50);
  };
  is(11, e.T);
  is(12, 2 * along);
  is(13, line.bound + along);
  const auto g = attention_vjp(x, w);
  for (const auto& other : {verify_gradients(x, w, 0x5eed),
                            verify_gradients(x, w, g),
                            verify_gradients(x, w, g, 0x5eed)})
    verify(other.checks[13].bound - report[13].bound, 0);
}
BOOST_AUTO_TEST_CASE(differences_of_powers) {
  const quad h(0x1p-4);
  const auto power = [&](int n) {
    return line_derivative([n](const quad& t) { return pow(t, quad(n)); }, h);
  };
  const auto fifth = power(5), seventh = power(7);
  verify(std::abs(to_double(fifth.value)), roundings(100));
  verify(std::abs(fifth.bound / (4 * 0x1p-16) - 1), 0x1p-50);
  verify(distance(seventh.value, 36 * 0x1p-24), roundings(100));
}
BOOST_AUTO_TEST_CASE(reverse_mode_while_it_is_cheap) {
  for (const Index n : {128, 129}) {
    const AttentionInputs<double> x{gaussian<double>(n, 1, 1, "Q"),
                                    gaussian<double>(256, 1, 1, "K"),
                                    gaussian<double>(256, 1, 1, "V")};
    const OutputParts<double> w{gaussian<double>(n, 1, 1, "dO")};
    BOOST_TEST(verify_gradients(x, w).checks.size() == (n == 128 ? 10u : 6u));
  }
}
BOOST_AUTO_TEST_CASE(directions_as_drawn) {
  const auto x = random_problem<double>({2, 3, 2, 1, 2}, 3);
  const auto u = direction_like(x, 10);
  const auto drawn = [](const Matrix<double>& m, Index n, Index d,
                        const char* name) {
    verify(distance(m, gaussian<double>(n, d, 10, name)), 0);
  };
  drawn(u.Q, 2, 2, "dQ"), drawn(u.K, 3, 1, "dK"), drawn(u.V, 3, 2, "dV");
  drawn(u.M, 2, 1, "dM"), drawn(u.bias, 2, 3, "dB");
  verify(std::abs(u.T - x.T * gaussian<double>(1, 1, 10, "dT")(0, 0)), 0);
}

// check that right gradients pass when cold
BOOST_AUTO_TEST_CASE(right_gradients_pass_when_cold) {
  for (const double scale : {1.0, 30.0, 1e3, 1e4}) {
    auto x = small_problem(scale);
    for (const double T : {1.0, 1e-3}) {
      x.T = T;
      const OutputParts<double> w{gaussian<double>(4, 3, 4, "dO"),
                                  gaussian<double>(4, 1, 4, "l").col(0)};
      for (const GradientCheck& c : verify_gradients(x, w).checks)
        verify(c.error, c.bound);
      for (const bool fused : {false, true})
        for (const auto& c :
             verify_gradients(x, w, without_gauge(x, w, fused)).checks)
          verify(c.error, c.bound);
    }
  }
}

// check every entry by differences
BOOST_AUTO_TEST_CASE(strangers_have_the_widest_bound) {
  const auto x = small_problem(1e3);
  const OutputParts<double> w{gaussian<double>(4, 3, 4, "dO")};
  using enum SoftmaxPullback;
  const auto any = errors_of_any_form(x, w);
  Matrix<double> most = Matrix<double>::Zero(4, 3);
  double T = 0;
  for (const auto how : {gauge_fixed, textbook, fused}) {
    const auto e = attention_errors(x, w, how).gradient;
    most = most.cwiseMax(e.Q), T = std::max(T, e.T);
  }
  verify(distance(any.Q, most) + std::abs(any.T - T), 0);
  const auto own = attention_errors(x, w).gradient.Q;
  refute((any.Q.array() / own.array()).maxCoeff(), 1e6);
  auto g = attention_vjp(x, w);
  verify(verify_gradients(x, w, g).worst(), 1);
  g.V(0, 0) += 1e-9;
  refute(verify_gradients(x, w, g).worst(), 1.5);
}
BOOST_AUTO_TEST_CASE(rates_by_hand) {
  AttentionInputs<quad> x{Matrix<quad>{{2}}, Matrix<quad>{{3}, {1}},
                          Matrix<quad>{{1}, {1}}};
  x.T = quad(0.5);
  const auto rate = [&](double q, double T) {
    const AttentionParts<quad> u{Matrix<quad>{{q}}, 0 * x.K, 0 * x.V, {}, {},
                                 quad(T)};
    const auto y = dual_inputs(x, u);
    return attn::detail::fastest_rate(attention_forward(y), y.T);
  };
  verify(std::abs(rate(5, 0) - 30), 0);
  verify(std::abs(rate(0, 0) - 1), 0);
  verify(std::abs(rate(0, -1) - 24), 0);
  x.mask = Allowed{{false, false}};
  verify(std::abs(rate(5, -2) - 4), 0);
}
BOOST_AUTO_TEST_CASE(differences_of_rounded_losses) {
  AttentionErrors by_hand{};
  by_hand.O = Matrix<double>{{2, 3}}, by_hand.logZ = Vector<double>{{5}};
  verify(std::abs(attn::detail::loss_rounding(
                      by_hand, {Matrix<quad>{{-7, 1}}, Vector<quad>{{-11}}}) -
                  72 * 0x1p-60), 0);
  const AttentionInputs<quad> x{Matrix<quad>{{1000}},
                                Matrix<quad>{{1000}, {1000}},
                                Matrix<quad>{{1}, {-1}}};
  const OutputParts<quad> w{Matrix<quad>{{1}}};
  const AttentionParts<quad> u{0 * x.Q, 0 * x.K, Matrix<quad>{{1}, {1}},
                               {}, {}, quad(0)};
  const double off = attn::detail::loss_rounding(
      attention_errors(lift<double>(x), lift<double>(w)), w) * 0x1p20;
  const auto d = difference_along(x, w, u);
  verify(distance(d.value, 1), d.bound);
  verify(off * 110 / 60, d.bound);
  verify(d.bound, off * 130 / 60);
}
BOOST_AUTO_TEST_CASE(differences_of_every_entry) {
  const Size z{2, 3, 2, 2, 2};
  const auto x = random_problem<quad>(z, 2);
  const auto w = random_outputs<quad>(z, 2);
  const auto g = attention_vjp(x, w);
  AttentionParts<quad> zero{0 * g.Q, 0 * g.K,    0 * g.V,
                            0 * g.M, 0 * g.bias, quad(0)};
  const auto each = [&](Matrix<quad>& part, const Matrix<quad>& hand) {
    for (Index k = 0; k < part.size(); ++k) {
      part.data()[k] = 1;
      const LineDerivative m = difference_along(x, w, zero);
      verify(distance(m.value, hand.data()[k]), m.bound);
      verify(m.bound, 1e-12);
      part.data()[k] = 0;
    }
  };
  each(zero.Q, g.Q);
  each(zero.K, g.K);
  each(zero.V, g.V);
  each(zero.M, g.M);
  each(zero.bias, g.bias);
  zero.T = 1;
  verify(distance(difference_along(x, w, zero).value, g.T), 1e-12);
}

// check what the backward pass refuses
BOOST_AUTO_TEST_CASE(refuses_what_does_not_fit) {
  const Matrix<double> a(2, 3), b(4, 3), c(4, 2), d(5, 2);
  using In = AttentionInputs<double>;
  const auto forward = [](const In& x) { return attention_forward(x); };
  BOOST_CHECK_EXCEPTION(forward({a, b, d}), std::invalid_argument,
                        says("attention_forward: K is 4x3 but V is 5x2"));
  BOOST_CHECK_EXCEPTION(forward({a, c, c}), std::invalid_argument,
                        says("Q is 2x3 and K is 4x2"));
  BOOST_CHECK_EXCEPTION(forward({a, c, c, a}), std::invalid_argument,
                        says("M is 2x3, expected 3x2"));
  BOOST_CHECK_EXCEPTION(forward({a, b, c, {}, c}), std::invalid_argument,
                        says("bias is 4x2, expected 2x4"));
  BOOST_CHECK_EXCEPTION(forward({a, b, c, {}, {}, Allowed(1, 1)}),
                        std::invalid_argument, says("mask is 1x1"));
}
BOOST_AUTO_TEST_CASE(refuses_one_wrong_side) {
  const Matrix<double> a(2, 3), b(4, 3), c(4, 2), none(2, 0);
  const auto bad = [](const AttentionInputs<double>& x, const char* words) {
    BOOST_CHECK_EXCEPTION(attention_forward(x), std::invalid_argument,
                          says(words));
  };
  bad({a, c, c, Matrix<double>(3, 3)}, "M is 3x3, expected 3x2");
  bad({none, Matrix<double>(4, 0), c}, "equally many columns, not none");
  bad({a, b, c, {}, a}, "bias is 2x3, expected 2x4");
  bad({a, b, c, {}, b.transpose()}, "bias is 3x4, expected 2x4");
  bad({a, b, c, {}, {}, Allowed(2, 3)}, "mask is 2x3, expected 2x4");
  bad({a, b, c, {}, {}, Allowed(3, 4)}, "mask is 3x4, expected 2x4");
  const AttentionInputs<double> x{a, b, c, Matrix<double>(3, 3)};
  BOOST_CHECK_EXCEPTION(attention_forward(x, Metric<double>::scaled(3)),
                        std::invalid_argument, says("both M and a metric"));
  BOOST_CHECK_EXCEPTION(scores_vjp(c, a, b), std::invalid_argument,
                        says("scores_vjp: dS is 4x2, Q_low 2x3, K_low 4x3"));
  BOOST_CHECK_EXCEPTION(scores_vjp(a, a, b), std::invalid_argument,
                        says("scores_vjp: dS is 2x3"));
  BOOST_CHECK_EXCEPTION(fisher_lower(a, Matrix<double>(2, 2)),
                        std::invalid_argument, says("X is 2x2"));
}
BOOST_AUTO_TEST_CASE(refuses_each_wrong_part) {
  const Matrix<double> Q = Matrix<double>::Zero(2, 3);
  AttentionInputs<double> x{Q, Matrix<double>::Zero(4, 3),
                            Matrix<double>::Zero(4, 2)};
  x.M = Matrix<double>::Zero(3, 3);
  x.bias = Matrix<double>::Zero(2, 4);
  const OutputParts<double> w{Matrix<double>::Zero(2, 2)};
  const auto good = attention_vjp(x, w);
  const auto bad = [&](auto part, Index n, Index m, const std::string& words) {
    auto g = good;
    (g.*part).resize(n, m);
    using refused = std::invalid_argument;
    BOOST_CHECK_EXCEPTION(attention_jvp(x, g), refused, says(words));
    BOOST_CHECK_EXCEPTION(attention_hvp(x, g, w), refused, says(words));
    BOOST_CHECK_EXCEPTION(verify_gradients(x, w, g), refused, says(words));
  };
  using P = AttentionParts<double>;
  bad(&P::Q, 2, 2, "of Q is 2x2, expected 2x3");
  bad(&P::Q, 0, 0, "of Q is 0x0, expected 2x3");
  bad(&P::K, 3, 3, "of K is 3x3, expected 4x3");
  bad(&P::V, 4, 3, "of V is 4x3, expected 4x2");
  bad(&P::M, 3, 2, "of M is 3x2, expected 3x3");
  bad(&P::bias, 2, 3, "of bias is 2x3, expected 2x4");
  auto g = good;
  g.M.resize(0, 0);
  BOOST_CHECK_EXCEPTION(verify_gradients(x, w, g), std::invalid_argument,
                        says("of M is 0x0, expected 3x3"));
  g = good, g.bias.resize(0, 0);
  BOOST_CHECK_EXCEPTION(verify_gradients(x, w, g), std::invalid_argument,
                        says("of bias is 0x0, expected 2x4"));
  BOOST_CHECK_EXCEPTION(attention_hvp(x, good, {Q}), std::invalid_argument,
                        says("hvp: cotangent of O is 2x3, expected 2x2"));
  const AttentionParts<double> u{Q, x.K, x.V}, v{Q, x.K, x.V, {}, {}, 0};
  x.Q.setOnes(), x.M->setOnes(), x.K.row(0).setOnes();
  verify((attention_jvp(x, u).logZ - attention_jvp(x, v).logZ).norm(), 0);
}
BOOST_AUTO_TEST_CASE(refuses_what_does_not_belong) {
  const Matrix<double> a(2, 3), b(4, 3), c(4, 2);
  const AttentionInputs<double> good{0 * a, 0 * b, 0 * c};
  auto cold = good;
  cold.T = 0;
  BOOST_CHECK_THROW(attention_forward(cold), std::domain_error);
  BOOST_CHECK_EXCEPTION(attention_vjp(good, {c}), std::invalid_argument,
                        says("cotangent of O is 4x2, expected 2x2"));
  BOOST_CHECK_EXCEPTION(
      attention_vjp(good, {Matrix<double>(2, 2), Vector<double>(3)}),
      std::invalid_argument, says("logZ has 3 entries, expected 2"));
  BOOST_CHECK_EXCEPTION(attention_jvp(good, {b, b, c}),
                        std::invalid_argument,
                        says("direction of Q is 4x3, expected 2x3"));
}
BOOST_AUTO_TEST_CASE(refuses_a_foreign_forward_pass) {
  const auto x = random_problem<double>({2, 3, 2, 4, 2}, 1);
  const auto w = random_outputs<double>({2, 3, 2, 4, 2}, 1);
  const auto u = random_direction<double>({2, 3, 2, 4, 2}, 1);
  using F = AttentionForward<double>;
  const auto bad = [&](auto part, Index n, Index m, const char* words) {
    F f = attention_forward(x);
    (f.*part).resize(n, m);
    using refused = std::invalid_argument;
    BOOST_CHECK_EXCEPTION(attention_vjp(x, f, w), refused, says(words));
    BOOST_CHECK_EXCEPTION(attention_jvp(x, f, u), refused, says(words));
  };
  bad(&F::Q_low, 3, 4, "the forward pass has Q_low 3x4, expected 2x4");
  bad(&F::Q_low, 2, 2, "the forward pass has Q_low 2x2, expected 2x4");
  bad(&F::K_low, 2, 2, "the forward pass has K_low 2x2, expected 3x2");
  bad(&F::K_low, 3, 4, "the forward pass has K_low 3x4, expected 3x2");
  bad(&F::scores, 2, 2, "the forward pass has scores 2x2, expected 2x3");
  bad(&F::scores, 3, 3, "the forward pass has scores 3x3, expected 2x3");
  bad(&F::weights, 2, 2, "the forward pass has weights 2x2");
  bad(&F::weights, 3, 3, "the forward pass has weights 3x3");

  // refuse a derivative of cotangents that does not fit
  OutputParts<double> dot = w;
  dot.O.resize(3, 2);
  BOOST_CHECK_EXCEPTION(attention_hvp(x, u, w, dot), std::invalid_argument,
                        says("bar_dot of O is 3x2"));
  dot.O.resize(2, 1);
  BOOST_CHECK_EXCEPTION(attention_hvp(x, u, w, dot), std::invalid_argument,
                        says("bar_dot of O is 2x1"));
  dot = w, dot.logZ.resize(1);
  BOOST_CHECK_EXCEPTION(attention_hvp(x, u, w, dot), std::invalid_argument,
                        says("bar_dot of logZ has 1 entries"));
}
BOOST_AUTO_TEST_CASE(refuses_to_pair_what_differs) {
  const Matrix<double> a(2, 3), b(3, 2);
  BOOST_CHECK_EXCEPTION(duality(a, b), std::invalid_argument,
                        says("duality: 2x3 with 3x2"));
  BOOST_CHECK_EXCEPTION(duality(a, Matrix<double>(2, 4)),
                        std::invalid_argument, says("2x3 with 2x4"));
  verify(duality(a, Matrix<double>(0, 0)), 0);
  const auto x = random_problem<double>({2, 3, 2, 4, 2}, 1);
  const auto f = attention_forward(x);
  for (const Matrix<double>& dO : {a, b})
    BOOST_CHECK_EXCEPTION(cotangent_loss(f, {dO}), std::invalid_argument,
                          says("O is 2x2 but its cotangent " + shape(dO)));
  BOOST_CHECK_EXCEPTION(cotangent_loss(f, {f.O, Vector<double>(3)}),
                        std::invalid_argument,
                        says("2 rows but 3 cotangents of logZ"));
}
BOOST_AUTO_TEST_CASE(refuses_in_the_parts) {
  const Matrix<double> a(2, 3), b(4, 3);
  BOOST_CHECK_EXCEPTION(output_vjp(a, b, a), std::invalid_argument,
                        says("output_vjp: A is 2x3 but V is 4x3"));
  BOOST_CHECK_EXCEPTION(output_vjp(a, Matrix<double>(3, 2), a),
                        std::invalid_argument, says("dO is 2x3"));
  BOOST_CHECK_EXCEPTION(fisher_lower(a, b), std::invalid_argument,
                        says("fisher_lower: A is 2x3 but X is 4x3"));
  const AttentionInputs<double> x{0 * a, 0 * b, 0 * b};
  AttentionParts<double> g = attention_vjp(x, {0 * a});
  g.V.resize(1, 1);
  BOOST_CHECK_EXCEPTION(verify_gradients(x, {0 * a}, g),
                        std::invalid_argument,
                        says("gradient of V is 1x1, expected 4x3"));
}

// complete a gradient with the bias of another
AttentionParts<quad> with_bias(AttentionParts<quad> g,
                               const AttentionParts<quad>& other) {
  g.bias = other.bias;
  return g;
}

// check the sources' worked example
/// The worked example of the sources.
template <class S>
AttentionInputs<S> worked_example() {
  return lift<S>(AttentionInputs<double>{
      Matrix<double>{{1, 0}, {0, 1}},
      Matrix<double>{{1, 0}, {0, 1}, {1, 1}},
      Matrix<double>{{2, 0}, {0, 2}, {1, 1}}});
}
BOOST_AUTO_TEST_CASE(golden_gradients) {
  const auto x = worked_example<quad>();
  const auto f = attention_forward(x);
  const auto g = attention_vjp(x, {f.O});
  const double q = 0.068436857550, p = -0.091890510399;
  const double r = 0.0234536528, s = 0.8022242, t = 0.6402335,
               v = 0.5575423;
  const Matrix<double> Q{{q, p}, {p, q}}, K{{-p, -q}, {-q, -p}, {-r, -r}},
      V{{t, v}, {v, t}, {s, s}};
  verify(distance(g.Q, lift<quad>(Q)), 1e-12);
  verify(distance(g.K, lift<quad>(K)), 1e-9);
  verify(distance(g.V, lift<quad>(V)), 5e-8);
  fact("Q00", to_double(g.Q(0, 0)), 8);
  fact("Q01", to_double(g.Q(0, 1)), 8);
  fact("K00", to_double(g.K(0, 0)), 8);
  fact("K01", to_double(g.K(0, 1)), 8);
}
BOOST_AUTO_TEST_CASE(five_steps_as_printed) {
  const auto x = worked_example<quad>();
  const auto f = attention_forward(x);
  const auto good = attention_vjp(x, {f.O});
  const Matrix<quad> dA = times(f.O, x.V.transpose());
  const Vector<quad> rowsum = dA.rowwise().sum();
  const Matrix<quad> dS = f.weights.cwiseProduct(dA.colwise() - rowsum);
  const Matrix<quad> dQ = times(dS, f.K_low),
                     dK = times(dS.transpose(), f.Q_low);
  const auto off = [](const Matrix<quad>& a, const Matrix<quad>& b) {
    return to_double(quad((a - b).norm() / b.norm()));
  };
  fact("dQ", off(dQ, good.Q));
  fact("dK", off(dK, good.K));
  fact("sum", to_double(quad(dS.rowwise().sum().minCoeff())));
  refute(off(dQ, good.Q), 1);
  refute(off(dK, good.K), 1);
  verify_parts(good, with_bias(reverse_gradient(x, {f.O}), good),
      roundings(100));
}

// check the smaller errata
BOOST_AUTO_TEST_CASE(output_by_value_as_printed) {
  const auto x = worked_example<quad>();
  const Matrix<quad> A = attention_forward(x).weights;
  double printed = 0;
  each_entry(x.V, [&](Index m, Index n, const auto& dual) {
    const Matrix<quad> truth = infinitesimal(dual, A, 'V');
    for (Index i = 0; i < 2; ++i)
      for (Index b = 0; b < 2; ++b) {
        const quad literal = i == m && b == n ? A.row(i).sum() : quad(0);
        printed = std::max(printed, distance(literal, truth(i, b)));
        verify(distance(b == n ? A(i, m) : quad(0), truth(i, b)),
               roundings(100));
      }
  });
  fact("off", printed);
  refute(printed, 0.5);
}
BOOST_AUTO_TEST_CASE(chain_rule_of_the_notes) {
  constexpr auto printed = attn::detail::parsed<
      R"(\bar S_{mn} = \bar O_{ib} D^{ib}{}_i{}^j J^i{}_{jmn})">;
  constexpr auto renamed = attn::detail::parsed<
      R"(\bar S_{mn} = \bar O_{ib} D^{ib}{}_p{}^q J^p{}_{qmn})">;
  static_assert(printed.fault == attn::detail::Fault::too_often);
  const int times = printed.term[0].count('i');
  fact("i", times);
  refute(times - 2, 1);
  verify(double(renamed.fault != attn::detail::Fault::none), 0);
}
BOOST_AUTO_TEST_CASE(rows_and_columns) {
  const Matrix<quad> x = lift<quad>(Matrix<double>{{1, 2, 4}});
  Matrix<quad> J(3, 3), F(3, 3);
  each_entry(x, [&](Index, Index q, const auto& dual) {
    const Matrix<Dual<quad>> a = dual / dual.sum(), s = gibbs(dual);
    for (Index n = 0; n < 3; ++n) J(n, q) = a(n).d, F(n, q) = s(n).d;
  });
  for (Index n = 0; n < 3; ++n) {
    const quad row = J.row(n).sum();
    fact("row_" + std::to_string(n), to_double(row), 3);
    verify(distance(row, (7 - 3 * x(n)) / quad(49)), roundings(10));
    refute(std::abs(to_double(row)), 0.02);
  }
  verify(largest(J.colwise().sum()), roundings(10));
  verify(largest(F.rowwise().sum()), roundings(10));
  verify(largest(F.colwise().sum()), roundings(10));
}

// count the wrong formulas that a loss reveals
/// How many of four wrong formulas for dS change dQ, for this cotangent.
int caught(const Matrix<double>& dO) {
  const auto x = worked_example<double>();
  const auto f = attention_forward(x);
  const Matrix<double>& A = f.weights;
  const Matrix<double> dA = dO * x.V.transpose();
  const Matrix<double> right = fisher_lower(A, dA);
  const Matrix<double> none = 0 * right;
  int n = 0;
  for (const Matrix<double>& wrong :
       {Matrix<double>(-right), Matrix<double>(2 * right), none,
        Matrix<double>(right.cwiseProduct(A))})
    n += ((wrong - right) * x.K).cwiseAbs().maxCoeff() > 1e-12;
  return n;
}

// check that the sources' losses see nothing
BOOST_AUTO_TEST_CASE(vacuous_losses) {
  const auto x = worked_example<quad>();
  const auto f = attention_forward(x);
  const OutputParts<quad> sum{Matrix<quad>::Ones(2, 2)};
  const auto g = attention_vjp(x, f, sum);
  verify(largest(g.Q), 0);
  verify(largest(g.K), 0);
  const Matrix<double> ones = Matrix<double>::Ones(2, 2);
  BOOST_TEST(caught(ones) == 0);
  BOOST_TEST(caught(gaussian<double>(2, 2, 1)) == 4);
  refute(caught(gaussian<double>(2, 2, 1)) - caught(ones), 4);
}

// check what differences in float are worth
BOOST_AUTO_TEST_CASE(single_precision_differences) {
  AttentionInputs<float> x{gaussian<float>(4, 8, 1, "Q"),
                           gaussian<float>(6, 8, 1, "K"),
                           gaussian<float>(6, 8, 1, "V")};
  const auto loss = [&] {
    const auto f = attention_forward(x);
    return f.O.squaredNorm() / 2;
  };
  const Matrix<float> dQ =
      attention_vjp(x, OutputParts<float>{attention_forward(x).O}).Q;
  double worst = 0;
  for (Index k = 0; k < x.Q.size(); ++k) {
    const float q = x.Q.data()[k], h = 1e-5F;
    x.Q.data()[k] = q + h;
    const float up = loss();
    x.Q.data()[k] = q - h;
    const float down = loss();
    x.Q.data()[k] = q;
    worst = std::max(
        worst, std::abs(double((up - down) / (2 * h) - dQ.data()[k])));
  }

  // hold the same gradient against its bound
  fact("worst", worst);
  fact("tolerance", 1e-5 / unit_roundoff<float>(), 2);
  refute(worst, 1e-3);
  const OutputParts<float> w{attention_forward(x).O};
  const Matrix<double> bound = attention_errors(x, w).gradient.Q;
  verify(attention_vjp(x, w).Q,
         attention_vjp(lift<quad>(x), lift<quad>(w)).Q, bound);
  verify(bound.maxCoeff(), 1e-3);
}
BOOST_AUTO_TEST_SUITE_END()
