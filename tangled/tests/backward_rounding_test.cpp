// tests/backward_rounding_test.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/thermodynamics.hpp"
#include "attn/verify_gradients.hpp"
#include "gradients.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(backward)

// check the accuracy of the gauge-fixed form
BOOST_AUTO_TEST_CASE(gauge_bound) {
  const double u = unit_roundoff<double>();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Index n = Index(1 + seed % 20);
    const double scale = std::pow(10.0, double(seed % 7) - 3);
    const Matrix<double> A = gibbs(
        Matrix<double>(scale * gaussian<double>(1, n, seed)));
    const Matrix<double> X = gaussian<double>(1, n, seed, "X");
    const Matrix<quad> truth = fisher_lower(lift<quad>(A), lift<quad>(X));
    const Matrix<double> Y = fisher_lower(A, X);

    // bound the errors of a lowered row
    const Matrix<quad> a = lift<quad>(A), x = lift<quad>(X);
    const quad top = a.maxCoeff(), sigma = abs(quad(a.sum() - 1));
    for (Index q = 0; q < n; ++q) {
      quad P = 0;
      for (Index k = 0; k < n; ++k) P += a(k) * abs(quad(x(q) - x(k)));
      const quad rest = (1 + (1 + sigma) / top) * a(q) * P;
      verify(distance(Y(q), truth(q)),
             gamma(n + 4, u) * to_double(rest) +
                 double(n + 1) * smallest_subnormal<double>());
    }
  }
}
/// The gradient of the queries against its bound.
void hold_queries(const AttentionInputs<double>& x, std::uint64_t seed) {
  const OutputParts<double> w{gaussian<double>(32, 16, seed, "dO")};
  verify(attention_vjp(x, w).Q,
         attention_vjp(lift<quad>(x), lift<quad>(w)).Q,
         attention_errors(x, w).gradient.Q);
}
BOOST_AUTO_TEST_CASE(gauge_against_textbook) {
  for (const int scale : {1, 10, 30}) {
    ThreeWays w{double(scale), 0, 0, 0, 0};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const ThreeWays t = compare_three_ways(scale, seed);
      hold_queries(scaled_problem<double>(scale, seed), seed);
      w.gauge = std::max(w.gauge, t.gauge);
      w.textbook = std::max(w.textbook, t.textbook);
      w.fused = std::max(w.fused, t.fused);
    }
    const std::string at = "_" + std::to_string(scale);
    fact("gauge" + at, w.gauge);
    fact("textbook" + at, w.textbook);
    fact("fused" + at, w.fused);
    if (scale == 30) refute(w.textbook, 0x1p50);
    if (scale == 30) refute(w.fused, 0x1p50);
  }
}

// add two sets of error bounds
void add_errors(AttentionErrors& e, const AttentionErrors& more) {
  e.O += more.O;
  e.logZ += more.logZ;
  e.gradient.Q += more.gradient.Q;
  e.gradient.K += more.gradient.K;
  e.gradient.V += more.gradient.V;
  e.gradient.M += more.gradient.M;
  e.gradient.bias += more.gradient.bias;
  e.gradient.T += more.gradient.T;
}

// check computed gradients against their bounds
template <class S, class R>
void hold(const AttentionInputs<S>& x, const OutputParts<S>& w) {
  const auto xr = lift<R>(lift<double>(x));
  const auto wr = lift<R>(lift<double>(w));
  auto e = attention_errors(x, w);
  if constexpr (std::is_same_v<R, double>)
    add_errors(e, attention_errors(xr, wr));
  const auto f = attention_forward(x);
  const auto fr = attention_forward(xr);
  const auto g = lift<double>(attention_vjp(x, f, w));
  const auto t = attention_vjp(xr, fr, wr);

  // hold each part of the gradient
  verify(g.Q, t.Q, e.gradient.Q);
  verify(g.K, t.K, e.gradient.K);
  verify(g.V, t.V, e.gradient.V);
  verify(g.bias, t.bias, e.gradient.bias);
  if (x.M) verify(g.M, t.M, e.gradient.M);
  verify(to_double(R(abs(R(g.T) - t.T))), e.gradient.T);
  verify(lift<double>(f.O), fr.O, e.O);
  for (Index i = 0; i < f.logZ.size(); ++i)
    if (!is_forbidden(fr.logZ(i)))
      verify(distance(to_double(f.logZ(i)), fr.logZ(i)), e.logZ(i));
}
template <class S, class R>
void hold_against_bounds(std::uint64_t seed, Index most) {
  Size z{};
  const auto x = any_problem<S>(seed, most, z);
  hold<S, R>(x, lift<S>(random_outputs<double>(z, seed)));
}
BOOST_AUTO_TEST_CASE(bounds_in_double) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed)
    hold_against_bounds<double, quad>(seed, 8);
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    hold_against_bounds<double, quad>(seed, 32);
}
BOOST_AUTO_TEST_CASE(bounds_in_float) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed)
    hold_against_bounds<float, double>(seed, 24);
}
BOOST_AUTO_TEST_CASE(bounds_in_half) {
  const Eigen::half one(1), next(one + Eigen::half(0x1p-10F));
  BOOST_TEST(float(next) - 1 == 0x1p-10F);
  for (std::uint64_t seed = 1; seed <= 500; ++seed)
    hold_against_bounds<Eigen::half, double>(seed, 12);
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    hold_against_bounds<Eigen::half, double>(seed, 60);
}
BOOST_AUTO_TEST_CASE(bounds_in_bfloat16) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed)
    hold_against_bounds<Eigen::bfloat16, double>(seed, 12);
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    hold_against_bounds<Eigen::bfloat16, double>(seed, 60);
}
template <class S, class R>
void hold_small(std::uint64_t seed, double scale) {
  Size z{};
  auto x = lift<double>(any_problem<S>(seed, 10, z));
  auto w = random_outputs<double>(z, seed);
  x.V *= scale, w.O *= scale, w.logZ *= scale * scale;
  if (seed % 2 == 0) x.K *= scale;
  hold<S, R>(lift<S>(x), lift<S>(w));
}
BOOST_AUTO_TEST_CASE(bounds_around_underflow) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    hold_small<double, quad>(seed, 1e-161);
    hold_small<float, double>(seed, 1e-22);
    hold_small<Eigen::bfloat16, double>(seed, 1e-20);
    hold_small<Eigen::half, double>(seed, 1e-3);
  }
}
BOOST_AUTO_TEST_CASE(underflow_needs_its_term) {
  const Matrix<float> a{{1e-23F}}, b{{3.3e-22F}};
  const Tracked c = tracked_product<float>(tracked_exactly(a),
                                           tracked_exactly(b));
  const Matrix<quad> truth = lift<quad>(a) * lift<quad>(b);
  const Matrix<float> product = a * b;
  verify(product, truth, c.error);
  const double size = to_double(truth(0)), u = unit_roundoff<float>();
  refute(distance(product(0), truth(0)), 1000 * gamma(1, u) * size);
}
BOOST_AUTO_TEST_CASE(hypotheses_are_needed) {
  using Eigen::half, Eigen::bfloat16;
  AttentionInputs<half> x{Matrix<half>::Constant(1, 1, half(300)),
                          Matrix<half>::Constant(2, 1, half(300)),
                          Matrix<half>::Constant(2, 1, half(1))};
  BOOST_TEST(std::isnan(float(attention_forward(x).O(0))));
  bfloat16 sum(0);
  for (int k = 0; k < 1000; ++k) sum += bfloat16(1);
  verify(std::abs(float(sum) - 256), 0);
  const auto ones = [](Index k) {
    return tracked_exactly(Matrix<double>::Ones(1, k));
  };
  const auto square = [&](Index k) {
    return tracked_product<bfloat16>(ones(k), tracked_transpose(ones(k)));
  };
  verify(std::abs(square(128).value(0) - 128), 0);
  BOOST_CHECK_EXCEPTION(square(129), std::domain_error,
                        says("sums of 129 terms are too long"));
  BOOST_CHECK_THROW(tracked_row_sums<bfloat16>(ones(129)),
                    std::domain_error);
}
BOOST_AUTO_TEST_CASE(tracked_products) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index k = Index(1 + seed % 40);
    const Matrix<quad> X = gaussian<quad>(3, k, seed, "X") / quad(3);
    const Matrix<quad> Y = gaussian<quad>(k, 4, seed, "Y") / quad(7);
    const auto rounded = [](const Matrix<quad>& m) {
      const Matrix<float> f = lift<float>(m);
      const Matrix<double> d = lift<double>(m);
      return std::pair{f, Tracked{d, 0x1p-23 * d.cwiseAbs()}};
    };
    const auto [x, tx] = rounded(X);
    const auto [y, ty] = rounded(Y);
    const Matrix<float> z = times(x, y);
    verify(z, times(X, Y), tracked_product<float>(tx, ty).error);
  }
}
void same(double ours, double by_hand) {
  verify(std::abs(ours - by_hand), 0x1p-46 * std::abs(by_hand));
}
BOOST_AUTO_TEST_CASE(rules_by_hand) {
  const double u = 0x1p-24, eta = 0x1p-149;
  const Tracked a{Matrix<double>{{1, -2}}, Matrix<double>{{0.5, 0.25}}};
  const Tracked b{Matrix<double>{{3}, {1}}, Matrix<double>{{0.25}, {1}}};
  const Tracked ab = tracked_product<float>(a, b);
  same(ab.value(0), 1);
  same(ab.error(0), 0.5 * 3.5 + 0.25 * 3 + 2 * 0.25 + 2.5 * 1 +
                        gamma(2, u) * (2 * 3.5 + 2.5 * 3));
  const Tracked half = tracked_multiple<float>(-0.5, a, 2);
  same(half.value(1), 1);
  same(half.error(1), 0.125 + gamma(3, u) * 1.25);
  const Tracked sum = tracked_sum<float>(a, tracked_transpose(b));
  same(sum.value(0), 4);
  same(sum.error(0), 0.75 + u * (4 + 1.5));

  // compare the other rules with the formulas
  const Tracked each = tracked_entries<float>(a, tracked_transpose(b));
  same(each.value(1), -2);
  same(each.error(1), 0.25 * 3 + 2.5 * 1 + u * 2.5 * 3);
  const Tracked row = tracked_row_sums<float>(a);
  same(row.value(0), -1);
  same(row.error(0), 0.75 + gamma(1, u) * (2 + 2.5));
  const Tracked none = tracked_exactly(Matrix<double>::Zero(1, 2));
  same(tracked_product<float>(none, tracked_transpose(none)).error(0), 6 * eta);
  same(tracked_multiple<float>(3, none, 0).error(0), 3 * eta);
  same(tracked_entries<float>(none, none).error(0), 3 * eta);
  verify(tracked_sum<float>(none, none).error(0), 0);
}
Matrix<quad> sizes(const Tracked& a) {
  return lift<quad>(a.value).cwiseAbs() + 2 * lift<quad>(a.error);
}
void above(const Tracked& bound, const Matrix<quad>& rule) {
  for (Index k = 0; k < rule.size(); ++k) {
    const quad b(bound.error.data()[k]);
    verify(to_double(quad(rule.data()[k] / b)), 1);
    verify(to_double(quad(1 - rule.data()[k] / b)), 0x1p-46);
  }
}
Tracked uncertain(Index n, Index m, std::uint64_t seed, const char* name) {
  const Matrix<double> e = gaussian<double>(n, m, seed + 100, name);
  return {gaussian<double>(n, m, seed, name), e.cwiseAbs()};
}
BOOST_AUTO_TEST_CASE(rules_in_quad) {
  const quad u(0x1p-53);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index k = Index(1 + seed % 7);
    const Tracked a = uncertain(3, k, seed, "a"),
                  b = uncertain(k, 2, seed, "b"),
                  c = uncertain(3, k, seed, "c");
    const Matrix<quad> A = sizes(a), B = sizes(b), C = sizes(c);
    const Matrix<quad> ea = lift<quad>(a.error), eb = lift<quad>(b.error),
                       ec = lift<quad>(c.error);
    const auto g = [&](Index n) { return quad(n) * u / (1 - quad(n) * u); };

    // compare each rule with quad
    above(tracked_product<double>(a, b),
          times(ea, B) + times(A, eb) + g(k) * times(A, B));
    above(tracked_entries<double>(a, c),
          ea.cwiseProduct(C) + A.cwiseProduct(ec) + u * A.cwiseProduct(C));
    const Matrix<quad> e = ea + ec;
    const Matrix<quad> z = lift<quad>(a.value) + lift<quad>(c.value);
    above(tracked_sum<double>(a, c), e + u * (z.cwiseAbs() + 2 * e));
    above(tracked_multiple<double>(-3, a, 2), 3 * ea + g(3) * (3 * A));
    above(tracked_row_sums<double>(a), (ea + g(k - 1) * A).rowwise().sum());
  }
}
BOOST_AUTO_TEST_CASE(rule_of_logz_in_quad) {
  const quad u(0x1p-53), T(0.75);
  const auto g = [&](int n) { return quad(n) * u / (1 - quad(n) * u); };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int k = int(1 + seed % 7);
    const Tracked s = uncertain(3, k, seed, "s");
    const Matrix<double> equal = s.value.col(0).replicate(1, k);
    for (const Tracked& t : {s, tracked_exactly(equal)}) {
      Matrix<quad> rule(3, 1);
      for (Index i = 0; i < 3; ++i) {
        // evaluate the rule of logz in quad
        const quad E(t.error.row(i).maxCoeff()), m(t.value.row(i).maxCoeff());
        quad worst(0);
        for (Index j = 0; j < k; ++j) {
          const quad e(t.error(i, j)), x = m - quad(t.value(i, j));
          worst = std::max(worst, quad((e + g(2) * (x + 2 * e + 2 * E)) / T));
        }
        rule(i) = worst + g(k + 2) + g(2) * (abs(m) + 2 * E) / T +
                  g(3) * (log(quad(k)) + 1);
      }
      above(tracked_log_partition<double>(t, 0.75), rule);
    }
  }
}
struct Uncertain {
  Matrix<quad> exact;
  Matrix<float> computed;
  Tracked tracked;
};
Uncertain rounded(Index n, Index m, std::uint64_t seed, const char* name) {
  const Matrix<quad> X = gaussian<quad>(n, m, seed, name) / quad(3);
  const Matrix<float> x = lift<float>(X);
  const Matrix<double> d = lift<double>(x);
  return {X, x, {d, 0x1p-23 * d.cwiseAbs()}};
}
BOOST_AUTO_TEST_CASE(rules_hold_in_float) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index k = Index(1 + seed % 20);
    const auto [X, x, a] = rounded(3, k, seed, "X");
    const auto [Y, y, b] = rounded(3, k, seed, "Y");
    verify(Matrix<float>(x + y), Matrix<quad>(X + Y),
           tracked_sum<float>(a, b).error);
    verify(Matrix<float>(x.cwiseProduct(y)), Matrix<quad>(X.cwiseProduct(Y)),
           tracked_entries<float>(a, b).error);
    const float third = 1 / 3.0F;
    verify(Matrix<float>(third * x), Matrix<quad>(X / quad(3)),
           tracked_multiple<float>(1 / 3.0, a, 1).error);
    verify(Matrix<float>(x / 3.0F), Matrix<quad>(X / quad(3)),
           tracked_multiple<float>(1 / 3.0, a, 1).error);
    verify(Matrix<float>(x.rowwise().sum()), Matrix<quad>(X.rowwise().sum()),
           tracked_row_sums<float>(a).error);
  }
}
BOOST_AUTO_TEST_CASE(softmax_rule_by_hand) {
  const double u = 0x1p-24, g = gamma(2, u);
  const Tracked s{Matrix<double>{{0, -1}}, Matrix<double>{{0.25, 0.125}}};
  const Tracked A = tracked_gibbs<float>(s, 2);
  const Matrix<double> dY{{(0.25 + g * (0 + 0.5 + 0.5)) / 2,
                           (0.125 + g * (1 + 0.25 + 0.5)) / 2}};
  const Matrix<double> by_hand =
      softmax_bound<float>(Matrix<double>{{0, -0.5}}, dY);
  for (const Index j : {0, 1}) same(A.error(j), by_hand(j));
  same(A.value(0), 1 / (1 + std::exp(-0.5)));
  const Tracked z = tracked_log_partition<float>(s, 2);
  same(z.value(0), std::log1p(std::exp(-0.5)));
  same(z.error(0), dY(0) + gamma(4, u) + g * (0 + 0.5) / 2 +
                       gamma(3, u) * (std::log(2.0) + 1));

  // look for the error at which nothing is known
  for (const double vast : {0.3, 2.0, 50.0, HUGE_VAL}) {
    const Tracked t{s.value, Matrix<double>{{vast, 0}}};
    same(tracked_gibbs<float>(t, 1).error(0), 1 + 2 * u);
  }
  const auto at = [&](double e) {
    return tracked_gibbs<float>({s.value, Matrix<double>{{e, 0}}}, 1).error(0);
  };
  double low = 0, high = 0.3;
  for (int k = 0; k < 60; ++k) {
    const double e = (low + high) / 2;
    (at(e) < 1 ? low : high) = e;
  }
  verify(1 - at(low), 0x1p-40);
}
BOOST_AUTO_TEST_CASE(one_row_walked) {
  const Tracked A = tracked_gibbs<double>(
      tracked_exactly(Matrix<double>{{46, 0}}), 1);
  const Tracked X =
      tracked_product<double>(tracked_exactly(Matrix<double>{{1}}),
                              tracked_exactly(Matrix<double>{{5, 1}}));
  const quad truth = fisher_lower(gibbs(Matrix<quad>{{46, 0}}),
                                  Matrix<quad>{{5, 1}})(0);
  for (const Index key : {0, -1}) {
    // record one walk of a row
    const std::string form = key == 0 ? "_gauge" : "_textbook";
    const Tracked z = attn::detail::tracked_shift<double>(X, {key});
    const Tracked D = attn::detail::tracked_dots<double>(A, z);
    const Tracked Y = tracked_lower<double>(A, X, {key});
    fact("z" + form, z.value(0), 2), fact("dz" + form, z.error(0), 2);
    fact("D" + form, D.value(0), 2), fact("dD" + form, D.error(0), 2);
    fact("S" + form, Y.value(0), 2), fact("dS" + form, Y.error(0), 2);
    verify(distance(Y.value(0), truth), Y.error(0));
    const double part = Y.error(0) / to_double(truth);
    if (key == 0)
      verify(part, 0x1p-40);
    else
      refute(part, 1000);
  }
}
BOOST_AUTO_TEST_CASE(lowering_rule_by_hand) {
  const double u = 0x1p-24, A[2] = {0.75, 0.25}, dA[2] = {0.125, 0.0625};
  const Tracked a{Matrix<double>{{A[0], A[1]}}, Matrix<double>{{dA[0], dA[1]}}};
  const Tracked x{Matrix<double>{{1, 3}}, Matrix<double>{{0.5, 0.25}}};
  for (const Index key : {0, -1}) {
    const double z[2] = {key < 0 ? 1.0 : 0, key < 0 ? 3.0 : 2};
    const double e[2] = {key < 0 ? 0.5 : 0,
                         key < 0 ? 0.25 : 0.75 + u * (2 + 1.5)};
    double D = 0, dD = 0, size = 0;
    for (const int j : {0, 1}) {
      const double s = z[j] + 2 * e[j], W = A[j] + 2 * dA[j];
      const double d = dA[j] * s + W * e[j] + u * W * s;
      D += A[j] * z[j], dD += d, size += A[j] * z[j] + 2 * d;
    }
    dD += gamma(1, u) * size;
    const Tracked Y = tracked_lower<float>(a, x, {key});

    // compare the product of a lowered row
    for (const int j : {0, 1}) {
      const double W = A[j] + 2 * dA[j], y = std::abs(z[j] - D);
      const double r = e[j] + dD, dy = r + u * (y + 2 * r), s = y + 2 * dy;
      same(Y.value(j), A[j] * (z[j] - D));
      same(Y.error(j), dA[j] * s + W * dy + u * W * s);
    }
  }

  // compare what exact arguments leave
  const double eta = 0x1p-149, d = 6 * eta * (1 + 2 * gamma(1, u));
  const Tracked one = tracked_exactly(Matrix<double>{{1, 0}});
  const Tracked none = tracked_exactly(Matrix<double>::Zero(1, 2));
  const Tracked Y = tracked_lower<float>(one, none, {0});
  same(Y.error(0), d * (1 + 2 * u) * (1 + 2 * u) + 3 * eta);
  same(Y.error(1), 3 * eta);
  const Tracked sole = tracked_exactly(Matrix<double>{{1}});
  same(tracked_lower<float>(sole, sole, {0}).value(0), 0);
  const Matrix<double> B{{2}}, no{{-HUGE_VAL}};
  same(tracked_scores<float>(sole, sole, B).value(0), 3);
  same(tracked_scores<float>(sole, sole, no).error(0), 0);
  const AttentionInputs<float> x1{Matrix<float>{{1}}, Matrix<float>{{2}},
                                  Matrix<float>{{1}}};
  same(tracked_forward(x1).K_low.error(0), gamma(3, u) * 2);
  same(tracked_forward(x1).Q_low.error(0), gamma(3, u));
}
AttentionInputs<float> two_keys() {
  AttentionInputs<float> x{Matrix<float>{{0.5}}, Matrix<float>{{1}, {-1}},
                           Matrix<float>{{1}, {3}}};
  x.M = Matrix<float>{{1.5}};
  x.bias = Matrix<float>{{0.25, -1}};
  x.T = 2;
  return x;
}
BOOST_AUTO_TEST_CASE(bound_of_the_scores_by_hand) {
  const auto x = two_keys();
  const OutputParts<float> w{Matrix<float>{{3}}, Vector<float>{{-5}}};
  const auto f = tracked_forward(x);
  const Tracked dO = tracked_exactly(w.O);
  const Tracked dA = tracked_product<float>(dO, tracked_transpose(f.V));
  const Tracked l = tracked_exactly(Matrix<double>{{-5, -5}});
  const auto cotangent = [&](const Tracked& lowered) {
    return tracked_multiple<float>(
        0.5, tracked_sum<float>(lowered,
                                tracked_entries<float>(f.weights, l)), 1);
  };
  const Tracked dS = cotangent(tracked_lower<float>(f.weights, dA, {0}));
  const auto e = attention_errors(x, w).gradient;
  for (const Index j : {0, 1}) same(e.bias(j), dS.error(j));

  // compare the bounds of the other two forms
  const auto plain = cotangent(tracked_lower<float>(f.weights, dA, {-1}));
  const Tracked D = tracked_row_sums<float>(tracked_entries<float>(dO, f.O));
  const Tracked minus{-D.value.replicate(1, 2), D.error.replicate(1, 2)};
  const auto other = cotangent(tracked_entries<float>(
      f.weights, tracked_sum<float>(dA, minus)));
  for (const Index j : {0, 1}) {
    using enum SoftmaxPullback;
    same(attention_errors(x, w, textbook).gradient.bias(j), plain.error(j));
    same(attention_errors(x, w, fused).gradient.bias(j), other.error(j));
  }

  // compare the bound of the temperature
  const double u = 0x1p-24, E = f.scores.error.maxCoeff();
  const double top = std::abs(f.scores.value(0)), g = gamma(2, u);
  const double m = 5 * E + u * 5 * (top + 2 * E);
  double error = 0.5 * m + g * 0.5 * (5 * top + 2 * m), value = 0, size = 0;
  double pairs = 0;
  for (const Index j : {0, 1}) {
    const double x0 = f.scores.value(j) - f.scores.value(0);
    const double r = f.scores.error(j) + E, ex = r + u * (std::abs(x0) + 2 * r);
    const double s = dS.size()(j), y = std::abs(x0) + 2 * ex;
    const double d = dS.error(j) * y + s * ex + u * s * y;
    value += dS.value(j) * x0, pairs += d;
    size += std::abs(dS.value(j) * x0) + 2 * d;
  }
  const double all = value - 5 * f.scores.value(0) / 2;
  error += pairs + gamma(1, u) * size;
  error += u * (std::abs(all) + 2 * error);
  same(e.T, 0.5 * error + g * 0.5 * (std::abs(all) + 2 * error));
}
BOOST_AUTO_TEST_CASE(bound_of_the_tangent_by_hand) {
  const auto x = two_keys();
  const auto exact = [](const Matrix<double>& m) { return tracked_exactly(m); };
  const auto sum = tracked_sum<float>;
  const auto product = tracked_product<float>;
  AttentionParts<float> u{Matrix<float>{{2}}, Matrix<float>{{1}, {2}},
                          Matrix<float>{{-1}, {1}}, Matrix<float>{{3}},
                          Matrix<float>{{1, 5}}};
  const auto f = tracked_forward(x);
  const Tracked form = product(product(f.Q, exact(Matrix<double>{{3}})),
                               tracked_transpose(f.K));
  const Tracked algebra =
      sum(product(exact(Matrix<double>{{2}}), tracked_transpose(f.K_low)),
          product(f.Q_low, exact(Matrix<double>{{1, 2}})));
  const Tracked dY = tracked_multiple<float>(
      0.5, sum(sum(algebra, form), exact(Matrix<double>{{1, 5}})), 1);
  const Tracked dA = tracked_lower<float>(f.weights, dY, {0});
  const Tracked dV = exact(Matrix<double>{{-1}, {1}});
  same(tangent_errors(x, u)(0),
       sum(product(dA, f.V), product(f.weights, dV)).error(0));
}
BOOST_AUTO_TEST_CASE(bound_of_the_textbook_form) {
  const auto x = scaled_problem<double>(30, 1);
  const OutputParts<double> w{gaussian<double>(32, 16, 1, "dO")};
  const auto fixed = attention_errors(x, w).gradient.Q;
  const auto free =
      attention_errors(x, w, SoftmaxPullback::textbook).gradient.Q;
  const auto f = attention_forward(x);
  const Matrix<double> textbook =
      softmax_vjp(f.weights, output_vjp(f.weights, x.V, w.O).A) * f.K_low;
  const Matrix<quad> truth = attention_vjp(lift<quad>(x), lift<quad>(w)).Q;
  fact("ratio", (free.array() / fixed.array()).maxCoeff());
  verify(textbook, truth, free);
  verify(attention_vjp(x, w).Q, truth, fixed);
  const Matrix<double> off = lift<double>(lift<quad>(textbook) - truth);
  refute((off.cwiseAbs().array() / fixed.array()).maxCoeff(), 1e3);
}

// check that nothing leaks
constexpr double never = -std::numeric_limits<double>::infinity();
struct Sight {
  AttentionInputs<double> x;
  OutputParts<double> w;
  AttentionParts<double> u;
  /// Does query i see key j?
  bool operator()(Index i, Index j) const {
    return (*x.mask)(i, j) && (*x.bias)(i, j) != never;
  }
};
Sight forbidding(std::uint64_t seed) {
  const Size z{5, 6, 3, 2, 2};
  Sight s{random_problem<double>(z, seed), random_outputs<double>(z, seed),
          random_direction<double>(z, seed)};
  for (Index k = 0; k < 30; ++k)
    if ((k + Index(seed)) % 5 == 0) s.x.bias->data()[k] = never;
  s.x.mask->row(1).setConstant(false);
  s.x.mask->col(2).setConstant(false);
  return s;
}
double poison(Index k) {
  const double inf = std::numeric_limits<double>::infinity();
  const double p[] = {std::numeric_limits<double>::quiet_NaN(), inf, -inf};
  return p[k % 3];
}
Sight poisoned(Sight s, const std::vector<Index>& readers) {
  const auto reads = [&](Index i) {
    return std::find(readers.begin(), readers.end(), i) != readers.end();
  };
  const Sight sees = s;
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 6; ++j) {
      double& b = (*s.x.bias)(i, j);
      if (b != never && !(reads(i) && sees(i, j))) b = poison(i + 2 * j);
      if (!(reads(i) && sees(i, j))) s.u.bias(i, j) = poison(i + j);
    }

  // poison queries that are no readers
  for (Index i = 0; i < 5; ++i)
    if (!reads(i)) {
      s.x.Q.row(i).setConstant(poison(i));
      s.w.O.row(i).setConstant(poison(i + 1));
      s.w.logZ(i) = poison(i + 2);
      s.u.Q.row(i).setConstant(poison(i));
    }

  // poison keys that no reader sees
  for (Index j = 0; j < 6; ++j)
    if (std::none_of(readers.begin(), readers.end(),
                     [&](Index i) { return sees(i, j); })) {
      s.x.K.row(j).setConstant(poison(j));
      s.x.V.row(j).setConstant(poison(j + 1));
      s.u.K.row(j).setConstant(poison(j + 2));
      s.u.V.row(j).setConstant(poison(j));
    }
  return s;
}
/// How many entries differ; a NaN differs from everything, and the two
/// zeros are equal.
template <class A, class B>
double different(const A& a, const B& b) {
  return double((a.array() != b.array()).count());
}
BOOST_AUTO_TEST_CASE(a_query_reads_what_it_sees) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (Index i = 0; i < 5; ++i) {
      const Sight s = forbidding(seed), p = poisoned(s, {i});
      const auto f = attention_forward(s.x), h = attention_forward(p.x);
      const auto g = attention_vjp(s.x, f, s.w);
      const auto k = attention_vjp(p.x, h, p.w);
      verify(different(f.O.row(i), h.O.row(i)), 0);
      verify(different(f.logZ.row(i), h.logZ.row(i)), 0);
      verify(different(f.weights.row(i), h.weights.row(i)), 0);
      verify(different(g.Q.row(i), k.Q.row(i)), 0);
      verify(different(g.bias.row(i), k.bias.row(i)), 0);
    }
}
BOOST_AUTO_TEST_CASE(a_key_reads_who_sees_it) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (Index j = 0; j < 6; ++j) {
      const Sight s = forbidding(seed);
      std::vector<Index> readers;
      for (Index i = 0; i < 5; ++i)
        if (s(i, j)) readers.push_back(i);
      const Sight p = poisoned(s, readers);
      const auto g = attention_vjp(s.x, s.w);
      const auto k = attention_vjp(p.x, p.w);
      verify(different(g.K.row(j), k.K.row(j)), 0);
      verify(different(g.V.row(j), k.V.row(j)), 0);
    }
}
BOOST_AUTO_TEST_CASE(the_form_reads_what_is_in_a_pair) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Sight s = forbidding(seed), p = poisoned(s, {0, 2, 3, 4});
    BOOST_TEST(!p.x.Q.row(1).allFinite());
    BOOST_TEST(!p.x.K.row(2).allFinite());
    const auto g = attention_vjp(s.x, s.w), k = attention_vjp(p.x, p.w);
    verify(different(g.M, k.M), 0);
    verify(std::abs(g.T - k.T), 0);
    BOOST_TEST(k.K.row(2).isZero(0));
    BOOST_TEST(k.Q.row(1).isZero(0));
  }
}
BOOST_AUTO_TEST_CASE(tangents_read_what_they_see) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (Index i = 0; i < 5; ++i) {
      const Sight s = forbidding(seed), p = poisoned(s, {i});
      const auto y = attention_jvp(s.x, s.u), z = attention_jvp(p.x, p.u);
      verify(different(y.O.row(i), z.O.row(i)), 0);
      verify(different(y.logZ.row(i), z.logZ.row(i)), 0);
    }
}
BOOST_AUTO_TEST_CASE(what_is_seen_is_not_hidden) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  AttentionInputs<double> x{Matrix<double>{{1}, {1}},
                            Matrix<double>{{0}, {-2000}},
                            Matrix<double>{{1}, {nan}}};
  x.mask = Allowed{{true, true}, {true, false}};
  auto f = attention_forward(x);
  verify(f.weights(0, 1), 0);
  BOOST_TEST(std::isnan(f.O(0)));
  const OutputParts<double> w{Matrix<double>{{1}, {1}}};
  BOOST_TEST(attention_vjp(x, f, w).Q.allFinite());  // as the text says
  verify(std::abs(f.O(1) - 1), 0);
  x.K(1) = nan;
  f = attention_forward(x);
  BOOST_TEST((std::isnan(f.weights(0, 0)) && std::isnan(f.logZ(0))));
  verify(std::abs(f.weights(1, 0) - 1) + std::abs(f.weights(1, 1)), 0);
  x.mask = Allowed{{false, true}, {true, false}};
  BOOST_TEST(std::isnan(attention_forward(x).logZ(0)));
}

// check masks and empty rows
BOOST_AUTO_TEST_CASE(infinite_bias_is_a_mask) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Size z{3, 6, 2, 2, 3};
    const auto x = random_problem<double>(z, seed);
    auto y = x;
    y.mask.reset();
    y.bias = x.mask->select(*x.bias,
                            -std::numeric_limits<double>::infinity());
    const auto w = random_outputs<double>(z, seed);
    const auto g = attention_vjp(x, w), h = attention_vjp(y, w);
    verify(largest(g.Q - h.Q), 0);
    verify(largest(g.K - h.K), 0);
    verify(std::abs(g.T - h.T), 0);
    verify(largest(x.mask->select(0 * g.bias, g.bias)), 0);
  }
}
BOOST_AUTO_TEST_CASE(infinite_product_is_a_mask) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  AttentionInputs<double> x{Matrix<double>{{1}}, Matrix<double>{{1}, {never}},
                            Matrix<double>{{2}, {5}}};
  const OutputParts<double> w{Matrix<double>{{1}}};
  verify(std::abs(attention_forward(x).O(0) - 2), 0);
  verify(std::abs(attention_vjp(x, w).Q(0)), 0);
  x.K(1) = nan;
  x.bias = Matrix<double>{{0, never}};
  verify(std::abs(attention_forward(x).O(0) - 2), 0);
  verify(std::abs(attention_vjp(x, w).K(1)), 0);
}
BOOST_AUTO_TEST_CASE(empty_rows_have_no_gradient) {
  const Size z{3, 4, 2, 3, 2};
  auto x = random_problem<double>(z, 2);
  x.mask = Allowed::Constant(3, 4, true);
  x.mask->row(0).setConstant(false);
  const auto w = random_outputs<double>(z, 2);
  const auto f = attention_forward(x);
  const auto g = attention_vjp(x, f, w);
  BOOST_TEST(f.logZ(0) == -std::numeric_limits<double>::infinity());
  verify(f.O.row(0).cwiseAbs().sum() + g.Q.row(0).cwiseAbs().sum() +
             g.bias.row(0).cwiseAbs().sum(), 0);
  BOOST_TEST((g.Q.allFinite() && g.K.allFinite() && g.V.allFinite()));
  BOOST_TEST((g.M.allFinite() && std::isfinite(g.T)));
  auto other = w;
  other.O.row(0).setConstant(1e3);
  other.logZ(0) = 1e3;
  verify(largest(attention_vjp(x, other).K - g.K), 0);
}
BOOST_AUTO_TEST_CASE(bounds_do_not_see_padding) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Sight s = forbidding(seed), p = poisoned(s, {0, 2, 3, 4});
    const auto e = attention_errors(s.x, s.w).gradient;
    const auto d = attention_errors(p.x, p.w).gradient;
    verify(different(e.M, d.M) + std::abs(e.T - d.T), 0);
    verify(attention_vjp(p.x, p.w).M,
           attention_vjp(lift<quad>(s.x), lift<quad>(s.w)).M, d.M);
    BOOST_TEST(verify_gradients(p.x, p.w).passed());
  }
}
BOOST_AUTO_TEST_CASE(one_key_decides_nothing) {
  const Size z{4, 1, 3, 3, 2};
  auto x = random_problem<double>(z, 3);
  x.mask.reset();
  const auto w = random_outputs<double>(z, 3);
  const auto g = attention_vjp(x, OutputParts<double>{w.O});
  verify(g.Q.cwiseAbs().sum() + g.K.cwiseAbs().sum() +
             g.M.cwiseAbs().sum() + std::abs(g.T), 0);
  const RowVector<double> all = w.O.colwise().sum();
  verify(largest(g.V - all),
         gamma(8, unit_roundoff<double>()) * w.O.cwiseAbs().sum());
}
BOOST_AUTO_TEST_CASE(zero_extents) {
  const std::vector<Size> sizes{
      {0, 3, 2, 2, 2}, {3, 0, 2, 2, 2}, {3, 3, 2, 2, 0}, {0, 0, 1, 1, 0}};
  for (const Size& z : sizes) {
    const auto x = random_problem<double>(z, 4);
    const auto g = attention_vjp(x, random_outputs<double>(z, 4));
    BOOST_TEST((g.Q.rows() == z.n_q && g.Q.cols() == z.d_q));
    BOOST_TEST((g.K.rows() == z.n_k && g.V.cols() == z.d_v));
    BOOST_TEST((g.bias.rows() == z.n_q && g.bias.cols() == z.n_k));
    BOOST_TEST(std::isfinite(g.T));
    const auto u = random_direction<double>(z, 4);
    const Matrix<double> O = attention_jvp(x, u).O;
    BOOST_TEST((O.rows() == z.n_q && O.cols() == z.d_v));
  }
}

// check the gradient of the temperature
BOOST_AUTO_TEST_CASE(temperature_of_large_scores) {
  const auto eighths = [](Index n, const char* name) {
    Matrix<double> m = 8 * gaussian<double>(n, 4, 1, name);
    return Matrix<double>(m.array().round() / 8);
  };
  AttentionInputs<double> x{eighths(6, "Q"), eighths(9, "K"),
                            eighths(9, "V")};
  x.bias = Matrix<double>::Constant(6, 9, 0x1p20);
  const OutputParts<double> w{gaussian<double>(6, 4, 1, "dO")};
  const auto f = attention_forward(x);
  const auto g = attention_vjp(x, f, w);
  const quad truth = attention_vjp(lift<quad>(x), lift<quad>(w)).T;
  const double naive = -g.bias.cwiseProduct(f.scores).sum();
  const double ours = distance(g.T, truth);
  verify(ours, attention_errors(x, w).gradient.T);
  fact("ours", ours);
  fact("naive", distance(naive, truth));
  refute(distance(naive, truth), 100 * ours);
}

// check the flow through layers
BOOST_AUTO_TEST_CASE(values_conserve_the_sum) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Size z{Index(1 + seed % 5), Index(1 + seed % 6), 3, 2, 4};
    auto x = random_problem<quad>(z, seed);
    x.mask.reset();
    const auto w = random_outputs<quad>(z, seed);
    const RowVector<quad> in = w.O.colwise().sum();
    const RowVector<quad> out = attention_vjp(x, w).V.colwise().sum();
    for (Index c = 0; c < 4; ++c) verify(distance(in(c), out(c)),
                                         roundings(1e3));
  }
}
BOOST_AUTO_TEST_CASE(uniform_layer_averages) {
  const Matrix<double> X = gaussian<double>(16, 4, 1);
  const auto norm = cotangent_norms(X, 0, 3, false);
  const Matrix<double> dX = gaussian<double>(16, 4, 77);
  const double mean = dX.colwise().mean().norm() * 4;
  for (std::size_t l = 1; l < norm.size(); ++l)
    verify(std::abs(norm[l] - mean),
           gamma(3 * 40, unit_roundoff<double>()) * norm[0]);
  const auto g = attention_vjp({Matrix<double>(0 * X), X, X},
                               OutputParts<double>{dX});
  verify(largest(g.K), 0);
  verify(largest(g.V.rowwise() - dX.colwise().mean()),
         gamma(40, unit_roundoff<double>()) * largest(dX));
  fact("kept", norm.back() / norm.front());
}
BOOST_AUTO_TEST_CASE(flow_reports_norms) {
  const Size z{4, 5, 3, 3, 2};
  const auto x = random_problem<double>(z, 2);
  const auto w = random_outputs<double>(z, 2);
  const auto g = attention_vjp(x, w);
  const GradientFlow flow = gradient_flow(x, w);
  auto bad = x;
  bad.Q(0, 0) = std::nan("");
  BOOST_TEST(std::isnan(gradient_flow(bad, w).dQ));
  const double u = gamma(40, unit_roundoff<double>());
  verify(std::abs(flow.dQ - g.Q.norm()), u * flow.dQ);
  verify(std::abs(flow.dS - g.bias.norm()), u * flow.dS);
  verify(std::abs(flow.dO - w.O.norm()), u * flow.dO);
  BOOST_TEST(std::isfinite(flow.S));
  verify(flow.dS, (flow.dA / 2 + w.logZ.norm()) / x.T);
}

// check the adjoint identity at a large size
AttentionInputs<double> square_problem(Index n) {
  return {gaussian<double>(n, 64, 1, "Q"), gaussian<double>(n, 64, 1, "K"),
          gaussian<double>(n, 64, 1, "V")};
}
BOOST_AUTO_TEST_CASE(adjoint_at_512) {
  const auto x = square_problem(512);
  const OutputParts<double> w{gaussian<double>(512, 64, 1, "dO")};
  const auto c = adjoint_test(x, w, attention_vjp(x, w),
                              direction_like(x, 5));
  verify(c.error, c.bound);
}
BOOST_AUTO_TEST_CASE(adjoint_finds_mistakes) {
  const auto x = square_problem(64);
  const OutputParts<double> w{gaussian<double>(64, 64, 1, "dO")};
  const auto u = direction_like(x, 5);
  auto g = attention_vjp(x, w);
  const Matrix<double> Q = g.Q;
  double smallest = 1;
  for (double e = 1e-1; e > 1e-14; e /= 10) {
    g.Q = Q * (1 + e);
    if (adjoint_test(x, w, g, u).ratio() > 1) smallest = e;
  }
  fact("smallest", smallest);
  g.Q = 8 * Q;
  refute(adjoint_test(x, w, g, u).ratio(), 1e3);
  g.Q = Q;
  verify(adjoint_test(x, w, g, u).ratio(), 1);
  g.T = 1e6;  // is not asked about
  verify(adjoint_test(x, w, g, u).ratio(), 1);
}
BOOST_AUTO_TEST_CASE(adjoint_refuses) {
  const Size z{2, 3, 1, 1, 2};
  const auto x = random_problem<double>(z, 3);
  const auto u = direction_like(x, 5);
  const OutputParts<double> w{gaussian<double>(2, 2, 4, "dO")};
  auto g = attention_vjp(x, w);
  g.V.resize(2, 3);
  BOOST_CHECK_EXCEPTION(adjoint_test(x, w, g, u), std::invalid_argument,
                        says("gradient of V is 2x3, expected 3x2"));
  BOOST_CHECK_EXCEPTION(tangent_errors(x, u), std::domain_error,
                        says("tangent_errors: the temperature moves"));
}
BOOST_AUTO_TEST_CASE(adjoint_bound_by_hand) {
  const Size z{2, 3, 1, 1, 2};
  const auto x = random_problem<double>(z, 3);
  const OutputParts<double> w{gaussian<double>(2, 2, 4, "dO")};
  const auto g = attention_vjp(x, w);
  auto u = direction_like(x, 5);
  const auto c = adjoint_test(x, w, g, u);
  u.T = 0;
  const auto U = absolute_parts(u), G = absolute_parts(g);
  const Matrix<double> W = w.O.cwiseAbs(),
                       Y = attention_jvp(x, u).O.cwiseAbs();
  const Index terms = 2 + 3 + 6 + 1 + 6 + 4 + 16;
  same(c.bound, duality(W, tangent_errors(x, u)) +
                    duality(attention_errors(x, w).gradient, U) +
                    gamma(terms, 0x1p-53) * (duality(W, Y) + duality(G, U)));
}
BOOST_AUTO_TEST_SUITE_END()
