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
    const Matrix<double> X = gaussian<double>(1, n, seed + 999);
    const Matrix<quad> truth = fisher_lower(lift<quad>(A), lift<quad>(X));
    const Matrix<double> Y = fisher_lower(A, X);
    const double top = A.maxCoeff();
    for (Index q = 0; q < n; ++q) {
      double P = 0;
      for (Index k = 0; k < n; ++k) P += A(k) * std::abs(X(q) - X(k));
      verify(distance(Y(q), truth(q)),
             1.01 * u * double(n + 3) * (1 + 1 / top) * A(q) * P +
                 double(n) * std::numeric_limits<double>::denorm_min());
    }
  }
}
/// The gradient of the queries against its bound.
void hold_queries(const AttentionInputs<double>& x, std::uint64_t seed) {
  const OutputParts<double> w{gaussian<double>(32, 16, seed + 300)};
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
  e.gradient.Q += more.gradient.Q;
  e.gradient.K += more.gradient.K;
  e.gradient.V += more.gradient.V;
  e.gradient.M += more.gradient.M;
  e.gradient.bias += more.gradient.bias;
  e.gradient.T += more.gradient.T;
}

// check computed gradients against their bounds
template <class S, class R>
void hold_against_bounds(std::uint64_t seed, Index most) {
  Size z{};
  const auto x = any_problem<S>(seed, most, z);
  const auto w = lift<S>(random_outputs<double>(z, seed));
  const auto xr = lift<R>(lift<double>(x));
  const auto wr = lift<R>(lift<double>(w));
  auto e = attention_errors(x, w);
  if constexpr (std::is_same_v<R, double>)
    add_errors(e, attention_errors(xr, wr));
  const auto f = attention_forward(x);
  const auto g = lift<double>(attention_vjp(x, f, w));
  const auto t = attention_vjp(xr, wr);
  verify(lift<double>(f.O), attention_forward(xr).O, e.O);
  verify(g.Q, t.Q, e.gradient.Q);
  verify(g.K, t.K, e.gradient.K);
  verify(g.V, t.V, e.gradient.V);
  verify(g.bias, t.bias, e.gradient.bias);
  if (x.M) verify(g.M, t.M, e.gradient.M);
  verify(to_double(R(abs(R(g.T) - t.T))), e.gradient.T);
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
}
BOOST_AUTO_TEST_CASE(bounds_in_bfloat16) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed)
    hold_against_bounds<Eigen::bfloat16, double>(seed, 12);
}
BOOST_AUTO_TEST_CASE(tracked_products) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index k = Index(1 + seed % 40);
    const Matrix<quad> X = gaussian<quad>(3, k, seed) / quad(3);
    const Matrix<quad> Y = gaussian<quad>(k, 4, seed + 500) / quad(7);
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
  verify(std::abs(ours - by_hand), 0x1p-48 * std::abs(by_hand));
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
  same(sum.error(0), 0.75 + u * (2 + 3.5));
  const Tracked none = tracked_exactly(Matrix<double>::Zero(1, 2));
  same(tracked_product<float>(none, tracked_transpose(none)).error(0), 2 * eta);
  same(tracked_multiple<float>(3, none, 0).error(0), eta);
}
BOOST_AUTO_TEST_CASE(softmax_rule_by_hand) {
  const double u = 0x1p-24, g = gamma(2, u);
  const Tracked s{Matrix<double>{{0, -1}}, Matrix<double>{{0.25, 0.125}}};
  const Tracked A = tracked_gibbs<float>(s, 2);
  const Matrix<double> dY{{(0.25 + g * (0 + 0.25 + 0.25)) / 2,
                           (0.125 + g * (1 + 0.125 + 0.25)) / 2}};
  const Matrix<double> by_hand =
      softmax_bound<float>(Matrix<double>{{0, -0.5}}, dY);
  for (const Index j : {0, 1}) same(A.error(j), by_hand(j));
  same(A.value(0), 1 / (1 + std::exp(-0.5)));
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
BOOST_AUTO_TEST_CASE(lowering_rule_by_hand) {
  const double u = 0x1p-24, eta = 0x1p-149, g = gamma(2, u);
  const Tracked A{Matrix<double>{{0.75, 0.25}},
                  Matrix<double>{{0.125, 0.0625}}};
  const Tracked X{Matrix<double>{{1, 3}}, Matrix<double>{{0.5, 0.25}}};
  for (const Index key : {0, -1}) {
    const double shifted = 0.75 + u * (2 + 0.75);
    const double z[2] = {key < 0 ? 1.0 : 0, key < 0 ? 3.0 : 2};
    const double e[2] = {key < 0 ? 0.5 : 0, key < 0 ? 0.25 : shifted};
    const double mean = 0.75 * z[0] + 0.25 * z[1];
    const double s0 = z[0] + 2 * e[0], s1 = z[1] + 2 * e[1];
    const double off = 0.125 * s0 + 0.0625 * s1 + e[0] + 0.375 * e[1] +
                       g * (s0 + 0.375 * s1);
    const Tracked Y = tracked_lower<float>(A, X, {key});
    for (const int j : {0, 1}) {
      const double W = j ? 0.375 : 1, y = z[j] - mean, size = std::abs(y);
      const double r = e[j] + off + u * (size + e[j] + off);
      same(Y.value(j), A.value(j) * y);
      same(Y.error(j), A.error(j) * (size + 2 * r) + W * r +
                           u * W * (size + 2 * r));
    }
  }
  const Tracked one = tracked_exactly(Matrix<double>{{1, 0}});
  const Tracked none = tracked_exactly(Matrix<double>::Zero(1, 2));
  const Tracked Y = tracked_lower<float>(one, none, {0});
  same(Y.error(0), 2 * eta * (1 + u) * (1 + 2 * u) + eta);
  same(Y.error(1), eta);
  const Tracked sole = tracked_exactly(Matrix<double>{{1}});
  same(tracked_lower<float>(sole, sole, {0}).value(0), 0);
  const Matrix<double> B{{2}}, never{{-HUGE_VAL}};
  same(tracked_scores<float>(sole, sole, B).value(0), 3);
  same(tracked_scores<float>(sole, sole, never).error(0), 0);
  const AttentionInputs<float> x{Matrix<float>{{1}}, Matrix<float>{{2}},
                                 Matrix<float>{{1}}};
  same(tracked_forward(x).K_low.error(0), gamma(4, u) * 2);
  same(tracked_forward(x).Q_low.error(0), gamma(4, u));
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
  const Tracked dA = tracked_product<float>(
      tracked_exactly(w.O), tracked_transpose(f.V));
  const Matrix<double> A = f.weights.value, d = f.weights.error;
  const Tracked A_l{-5 * A, 5 * d + 5 * 0x1p-24 * f.weights.size()};
  const Tracked dS = tracked_multiple<float>(
      0.5, tracked_sum<float>(tracked_lower<float>(f.weights, dA, {0}), A_l),
      0);
  const auto e = attention_errors(x, w).gradient;
  for (const Index j : {0, 1}) same(e.bias(j), dS.error(j));
  const double u = 0x1p-24, E = f.scores.error.maxCoeff();
  const double gap = f.scores.value(0) - f.scores.value(1);
  const double top = std::abs(f.scores.value(0)) + 2 * E;
  double value = top * 5 / 2, error = 2 * u * top * 5 / 2;
  for (const Index j : {0, 1}) {
    const double size = (j == 0 ? 0 : gap) + 4 * E, s = dS.size()(j);
    value += s * size;
    error += dS.error(j) * size + s * (f.scores.error(j) + u * size);
  }
  same(e.T, (error + gamma(2 + 1 + 4, u) * value) / 2);
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
      0.5, sum(sum(algebra, form), exact(Matrix<double>{{1, 5}})), 0);
  const Tracked dA = tracked_lower<float>(f.weights, dY, {0});
  const Tracked dV = exact(Matrix<double>{{-1}, {1}});
  same(tangent_errors(x, u)(0),
       sum(product(dA, f.V), product(f.weights, dV)).error(0));
}
BOOST_AUTO_TEST_CASE(bound_of_the_textbook_form) {
  const auto x = scaled_problem<double>(30, 1);
  const OutputParts<double> w{gaussian<double>(32, 16, 301)};
  const auto fixed = attention_errors(x, w).gradient.Q;
  const auto free = attention_errors(x, w, false).gradient.Q;
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

// check masks and empty rows
BOOST_AUTO_TEST_CASE(unread_keys_do_no_harm) {
  const Size z{3, 5, 2, 2, 2};
  auto x = random_problem<double>(z, 1);
  x.mask = Allowed::Constant(3, 5, true);
  for (const Index j : {0, 4}) {
    x.mask->col(j).setConstant(false);
    x.K.row(j).setConstant(std::nan(""));
    x.V.row(j).setConstant(std::nan(""));
  }
  const auto w = random_outputs<double>(z, 1);
  const auto g = attention_vjp(x, w);
  auto y = x;
  y.mask.reset();
  y.K = x.K.middleRows(1, 3).eval();
  y.V = x.V.middleRows(1, 3).eval();
  y.bias = x.bias->middleCols(1, 3).eval();
  const auto t = attention_vjp(lift<quad>(y), lift<quad>(w));
  const auto e = attention_errors(y, w).gradient;
  verify(g.Q, t.Q, e.Q);
  verify(Matrix<double>(g.K.middleRows(1, 3)), t.K, e.K);
  verify(g.M, t.M, e.M);
  verify(distance(g.T, t.T), e.T);
  for (const Index j : {0, 4})
    verify(g.K.row(j).cwiseAbs().sum() + g.V.row(j).cwiseAbs().sum(), 0);
  verify(attention_forward(x).O, attention_forward(lift<quad>(y)).O,
         attention_errors(y, w).O);
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
BOOST_AUTO_TEST_CASE(nan_reaches_a_forbidden_key) {
  const Size z{2, 2, 2, 2, 2};
  auto x = random_problem<double>(z, 5);
  x.mask = Allowed{{true, false}, {true, true}};
  const auto w = random_outputs<double>(z, 5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto spoilt = [](const RowVector<double>& row) {
    return row.array().isNaN().all();
  };
  auto query = x, key = x, value = x, bias = x;
  query.Q(0, 0) = key.K(1, 0) = value.V(1, 0) = bias.K(1, 0) = nan;
  const auto g = attention_vjp(x, w);
  BOOST_TEST((g.K.allFinite() && g.Q.allFinite()));
  BOOST_TEST(spoilt(attention_vjp(query, w).K.row(1)));
  BOOST_TEST(spoilt(attention_vjp(key, w).Q.row(0)));
  BOOST_TEST(std::isfinite(attention_forward(key).O(0, 0)));
  BOOST_TEST(std::isnan(attention_forward(value).O(0, 0)));
  bias.mask.reset();
  (*bias.bias)(0, 1) = -std::numeric_limits<double>::infinity();
  BOOST_TEST(spoilt(attention_forward(bias).weights.row(0)));
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
  const auto eighths = [](Index n, std::uint64_t seed) {
    Matrix<double> m = 8 * gaussian<double>(n, 4, seed);
    return Matrix<double>(m.array().round() / 8);
  };
  AttentionInputs<double> x{eighths(6, 1), eighths(9, 2), eighths(9, 3)};
  x.bias = Matrix<double>::Constant(6, 9, 0x1p20);
  const OutputParts<double> w{gaussian<double>(6, 4, 4)};
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
    for (Index c = 0; c < 4; ++c) verify(distance(in(c), out(c)), 1e-31);
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
  fact("kept", norm.back() / norm.front());
}
BOOST_AUTO_TEST_CASE(flow_reports_norms) {
  const Size z{4, 5, 3, 3, 2};
  const auto x = random_problem<double>(z, 2);
  const auto w = random_outputs<double>(z, 2);
  const auto g = attention_vjp(x, w);
  const GradientFlow flow = gradient_flow(x, w);
  const double u = gamma(40, unit_roundoff<double>());
  verify(std::abs(flow.dQ - g.Q.norm()), u * flow.dQ);
  verify(std::abs(flow.dS - g.bias.norm()), u * flow.dS);
  verify(std::abs(flow.dO - w.O.norm()), u * flow.dO);
  BOOST_TEST(std::isfinite(flow.S));
  verify(flow.dS, (flow.dA / 2 + w.logZ.norm()) / x.T);
}

// check the adjoint identity at a large size
AttentionInputs<double> square_problem(Index n) {
  return {gaussian<double>(n, 64, 1), gaussian<double>(n, 64, 2),
          gaussian<double>(n, 64, 3)};
}
BOOST_AUTO_TEST_CASE(adjoint_at_512) {
  const auto x = square_problem(512);
  const OutputParts<double> w{gaussian<double>(512, 64, 4)};
  const auto c = adjoint_test(x, w, attention_vjp(x, w),
                              direction_like(x, 5));
  verify(c.error, c.bound);
}
BOOST_AUTO_TEST_CASE(adjoint_finds_mistakes) {
  const auto x = square_problem(64);
  const OutputParts<double> w{gaussian<double>(64, 64, 4)};
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
BOOST_AUTO_TEST_CASE(adjoint_bound_by_hand) {
  const Size z{2, 3, 1, 1, 2};
  const auto x = random_problem<double>(z, 3);
  const OutputParts<double> w{gaussian<double>(2, 2, 4)};
  const auto g = attention_vjp(x, w);
  auto u = direction_like(x, 5);
  const auto c = adjoint_test(x, w, g, u);
  u.T = 0;
  const auto size = [](const auto& m) { return Matrix<double>(m.cwiseAbs()); };
  const auto U = map_parts<double>(u, size), G = map_parts<double>(g, size);
  const Matrix<double> W = size(w.O), Y = size(attention_jvp(x, u).O);
  const Index terms = 2 + 3 + 6 + 1 + 6 + 4 + 16;
  same(c.bound, duality(W, tangent_errors(x, u)) +
                    duality(attention_errors(x, w).gradient, U) +
                    gamma(terms, 0x1p-53) * (duality(W, Y) + duality(G, U)));
}
BOOST_AUTO_TEST_SUITE_END()
