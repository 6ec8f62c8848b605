// tests/multihead_rounding_test.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/verify_multihead.hpp"
#include "modules.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(multihead)

// check the errors of a layer against their bounds
template <class S>
void errors_within_bounds(const Setting<S>& s, std::uint64_t seed) {
  const Matrix<S> dY = gaussian<S>(s.X.rows(), s.m.W_O.cols(), seed, "dY");
  const auto f = multihead_forward(s.m, s.X, s.C, s.bias);
  const auto g = multihead_vjp(s.m, s.X, s.C, f, dY);
  const auto m = lifted<quad>(s.m);
  const Matrix<quad> X = lift<quad>(s.X), C = lift<quad>(s.C);
  const auto q = multihead_forward(m, X, C, lift<quad>(s.bias));
  const auto t = multihead_vjp(m, X, C, q, lift<quad>(dY));
  const auto e = multihead_errors(s.m, s.X, s.C, dY, s.bias);
  verify(f.Y, q.Y, e.Y);
  verify(g.X, t.X, e.gradient.X);
  verify(g.C, t.C, e.gradient.C);
  for_each_weight([](auto, const auto& a, const auto& b, const auto& c) {
    if (a.size() > 0) verify(a, b, c);
  }, g.weights, t.weights, e.gradient.weights);
}
template <class S>
void all_errors_within_bounds() {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    errors_within_bounds(setting<S>(seed), seed);
  errors_within_bounds(large_setting<S>(), 1);
}
BOOST_AUTO_TEST_CASE(errors_in_double) { all_errors_within_bounds<double>(); }
BOOST_AUTO_TEST_CASE(errors_in_float) { all_errors_within_bounds<float>(); }
Matrix<double> backwards(const Matrix<double>& W, Index blocks) {
  const Index d = W.cols() / blocks;
  Matrix<double> Y = W;
  for (Index b = 0; b < blocks; ++b)
    Y.middleCols(b * d, d) = W.middleCols((blocks - 1 - b) * d, d);
  return Y;
}
MultiHead<double> backwards(MultiHead<double> m) {
  for (auto* b : {&m.b_Q, &m.b_K, &m.b_V})
    if (b->size() > 0)
      *b = backwards(b->transpose(), b == &m.b_Q ? m.heads : m.kv_heads)
               .transpose();
  m.W_Q = backwards(m.W_Q, m.heads), m.W_K = backwards(m.W_K, m.kv_heads);
  m.W_V = backwards(m.W_V, m.kv_heads);
  m.W_O = backwards(m.W_O.transpose(), m.heads).transpose();
  return m;
}
BOOST_AUTO_TEST_CASE(bounds_move_with_their_heads) {
  using enum SoftmaxPullback;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const auto how : {gauge_fixed, textbook, fused}) {
      const auto s = setting<double>(seed);
      const Matrix<double> dY =
          gaussian<double>(s.X.rows(), s.m.W_O.cols(), seed, "dY");
      const auto bound = [&](const MultiHead<double>& m) {
        return multihead_errors<double>(m, s.X, s.C, dY, s.bias, how)
            .gradient.weights.W_Q;
      };
      const Matrix<double> e = backwards(bound(s.m), s.m.heads);
      verify(distance(bound(backwards(s.m)), e) / e.maxCoeff(), 1e-12);
    }
}
BOOST_AUTO_TEST_CASE(the_gauge_keeps_digits_in_the_cold) {
  using enum SoftmaxPullback;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto s = setting<double>(seed);
    s.m.W_Q *= 100;
    const Matrix<double> dY =
        gaussian<double>(s.X.rows(), s.m.W_O.cols(), seed, "dY");
    const auto bound = [&](SoftmaxPullback how) {
      return multihead_errors<double>(s.m, s.X, s.C, dY, s.bias, how)
          .gradient.weights.W_Q.norm();
    };
    verify(bound(gauge_fixed), std::min(bound(textbook), bound(fused)) / 4);
  }
}

// check a layer's output against its lines
struct Known { Matrix<double> value, error; };
template <class S>
struct Lines {
  const double u = unit_roundoff<S>(), eta = smallest_subnormal<S>();
  Known product(const Known& a, const Known& b,
                const Matrix<double>& ab) const {
    const Index k = a.value.cols();
    const Matrix<double> A = a.value.cwiseAbs() + a.error;
    const Matrix<double> B = b.value.cwiseAbs() + b.error;
    return {ab, ((a.error * B + A * b.error + gamma(k, u) * A * B).array() +
                 double(k) * eta).matrix()};
  }
  Known plus(Known z, const Matrix<quad>& b) const {
    if (b.size() == 0) return z;
    z.value += lift<double>(b);
    z.error += u * (z.value.cwiseAbs() + z.error);
    return z;
  }

  // project by lines
  static Known exactly(const Matrix<quad>& x) {
    const Matrix<double> X = lift<double>(x);
    return {X, Matrix<double>::Zero(X.rows(), X.cols())};
  }
  Known projection(const Known& x, const Matrix<quad>& X,
                   const Matrix<quad>& W, const Vector<quad>& b) const {
    const Known y = product(x, exactly(W), lift<double>(times(X, W)));
    if (b.size() == 0) return y;
    return plus(y, b.transpose().replicate(X.rows(), 1));
  }

  // weigh by lines
  Vector<double> weights(const Vector<quad>& A, const Vector<S>& computed,
                         const Vector<double>& delta) const {
    const double m = to_double(computed.maxCoeff());
    Vector<quad> r = Vector<quad>::Zero(A.size());
    quad low = 0, high = 0;
    Index n = 0;
    for (Index j = 0; j < A.size(); ++j)
      if (A(j) > quad(0)) {
        r(j) = quad(delta(j) + u * (m - to_double(computed(j))) + gamma(2, u));
        low += A(j) * exp(-r(j)), high += A(j) * exp(r(j)), ++n;
      }
    const quad g = quad(gamma(n, u));
    Vector<double> dA = Vector<double>::Zero(A.size());
    for (Index j = 0; j < A.size(); ++j)
      if (A(j) > quad(0))
        dA(j) = to_double(A(j) * std::max(exp(r(j) + g) / low - 1,
                                          1 - exp(-r(j) - g) / high));
    return dA;
  }
};
template <class S>
Matrix<double> output_by_lines(const Setting<quad>& s,
                               const HeadTrace<quad>& t,
                               const HeadTrace<S>& run) {
  const MultiHead<quad>& m = s.m;
  const Lines<S> by;
  const Index n = s.X.rows(), k = s.C.rows(), d = m.d_k(), e = m.d_v();
  const double root = std::sqrt(double(d));
  const auto P = by.projection(by.exactly(s.X), s.X, m.W_Q, m.b_Q);
  const auto K = by.projection(by.exactly(s.C), s.C, m.W_K, m.b_K);
  const auto V = by.projection(by.exactly(s.C), s.C, m.W_V, m.b_V);
  const Matrix<double> dQ =
      ((P.error + gamma(3, by.u) * (P.value.cwiseAbs() + P.error)).array() /
           root + by.eta).matrix();
  const Matrix<quad> out = t.O.mat();
  Known O{lift<double>(out), Matrix<double>(n, m.heads * e)};
  for (Index h = 0; h < m.heads; ++h)

    // bound the outputs of one head by lines
    {
      const Index g = h / m.group();
      const Known Q{P.value.middleCols(h * d, d) / root,
                    dQ.middleCols(h * d, d)};
      const Known KT{K.value.middleCols(g * d, d).transpose(),
                     K.error.middleCols(g * d, d).transpose()};
      const Known dot = by.product(Q, KT, Q.value * KT.value);
      const Known scores = by.plus(dot, s.bias);
      const Matrix<quad> A = stacked(t.A).middleRows(h * n, n);
      const Matrix<S> computed = stacked(run.scores).middleRows(h * n, n);
      Known weights{lift<double>(A), Matrix<double>(n, k)};
      for (Index i = 0; i < n; ++i)
        weights.error.row(i) =
            by.weights(A.row(i), computed.row(i), scores.error.row(i));
      const Known values{V.value.middleCols(g * e, e),
                         V.error.middleCols(g * e, e)};
      O.error.middleCols(h * e, e) =
          by.product(weights, values, O.value.middleCols(h * e, e)).error;
      for (Index i = 0; i < n; ++i)
        if (!(A.row(i).maxCoeff() > quad(0)))
          O.error.row(i).segment(h * e, e).setZero();
    }
  return by.projection(O, out, m.W_O, m.b_O).error;
}
template <class S>
void output_within_lines(const Setting<S>& s) {
  const Setting<quad> q{lifted<quad>(s.m), lift<quad>(s.X), lift<quad>(s.C),
                        lift<quad>(s.bias)};
  const auto run = multihead_forward(s.m, s.X, s.C, s.bias);
  const auto t = multihead_forward(q.m, q.X, q.C, q.bias);
  verify(run.Y, t.Y, output_by_lines(q, t, run));
  const Matrix<S> O = run.O.mat();
  for (Index i = 0; i < s.bias.rows(); ++i)
    if (!(s.bias.row(i).maxCoeff() > -HUGE_VAL))
      verify(double(O.row(i).norm()), 0);
}
template <class S>
void output_within_lines() {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    auto s = setting<S>(seed);
    if (seed % 4 == 0) s.m.W_Q *= S(seed % 8 == 0 ? 8 : 1e6);
    output_within_lines(s);
  }
  output_within_lines(large_setting<S>());
}
BOOST_AUTO_TEST_CASE(output_in_double) { output_within_lines<double>(); }
BOOST_AUTO_TEST_CASE(output_in_float) { output_within_lines<float>(); }

// check the reports on a layer
template <class S>
void reports_pass(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto s = setting<S>(seed);
    const auto report = verify_multihead(s.m, s.X, s.C, s.bias, seed);
    verify(report.worst(), 1);
    BOOST_TEST(report.passed());
    BOOST_TEST(report.checks.size() == (s.m.b_Q.size() > 0 ? 20u : 12u));
  }
}
BOOST_AUTO_TEST_CASE(reports_in_double) { reports_pass<double>(12); }
BOOST_AUTO_TEST_CASE(reports_in_float) { reports_pass<float>(12); }
BOOST_AUTO_TEST_CASE(reports_on_nothing_are_refused) {
  auto s = setting<double>(4);
  const auto t = multihead_forward(s.m, s.X, s.C);
  const Matrix<double> dY = t.Y;
  const auto refused = [&](Index rows, Index cols) {
    auto g = multihead_vjp(s.m, s.X, s.C, t, dY);
    g.weights.W_V.resize(rows, cols);
    BOOST_CHECK_EXCEPTION(
        verify_multihead(s.m, s.X, s.C, dY, g), std::invalid_argument,
        says("gradient of W_V is " + shape(g.weights.W_V)));
  };
  refused(s.m.W_V.rows(), 1), refused(1, s.m.W_V.cols());
  s.X(0, 0) = std::nan("");
  BOOST_CHECK_EXCEPTION(verify_multihead(s.m, s.X, s.C), std::domain_error,
                        says("must be finite"));
}

// compute a gradient head by head
HeadGradient<double> by_hand(const MultiHead<double>& m,
                             const Matrix<double>& X, const Matrix<double>& C,
                             const Matrix<double>& dY, bool fused) {
  const Index k = m.d_k(), v = m.d_v();
  const double root = std::sqrt(double(k));
  const Matrix<double> Q = project<double>(X, m.W_Q, m.b_Q).mat() / root;
  const Matrix<double> K = project<double>(C, m.W_K, m.b_K).mat();
  const Matrix<double> V = project<double>(C, m.W_V, m.b_V).mat();
  const Matrix<double> dO = dY * m.W_O.transpose();
  Matrix<double> dQ = 0 * Q, dK = 0 * K, dV = 0 * V, O = 0 * dO;
  for (Index h = 0; h < m.heads; ++h) {
    // compute the gradient of one head by hand
    const Index g = h / m.group();
    const Matrix<double> Kg = K.middleCols(g * k, k), Vg = V.middleCols(g * v, v);
    const Matrix<double> Qh = Q.middleCols(h * k, k);
    const Matrix<double> w = dO.middleCols(h * v, v);
    const Matrix<double> A = attn::gibbs(Matrix<double>(Qh * Kg.transpose()));
    const Matrix<double> o = A * Vg, dA = w * Vg.transpose();
    const Vector<double> mean = fused ? w.cwiseProduct(o).rowwise().sum()
                                      : A.cwiseProduct(dA).rowwise().sum();
    const Matrix<double> dS = A.cwiseProduct(dA.colwise() - mean);
    O.middleCols(h * v, v) = o;
    dQ.middleCols(h * k, k) = dS * Kg / root;
    dK.middleCols(g * k, k) += dS.transpose() * Qh;
    dV.middleCols(g * v, v) += A.transpose() * w;
  }
  HeadGradient<double> g;
  g.X = dQ * m.W_Q.transpose();
  g.C = dK * m.W_K.transpose() + dV * m.W_V.transpose();
  g.weights = {m.heads, m.kv_heads, X.transpose() * dQ, C.transpose() * dK,
               C.transpose() * dV, O.transpose() * dY, dQ.colwise().sum(),
               dK.colwise().sum(), dV.colwise().sum(), dY.colwise().sum()};
  return g;
}

// check that right gradients pass
BOOST_AUTO_TEST_CASE(right_gradients_pass_when_cold) {
  for (const double scale : {1.0, 10.0, 100.0, 1000.0}) {
    auto s = setting<double>(8);
    s.m.W_Q *= scale;
    const Matrix<double> dY = gaussian<double>(s.X.rows(), 3, 8, "dY");
    for (const bool fused : {false, true})
      verify(verify_multihead(s.m, s.X, s.C, dY,
                              by_hand(s.m, s.X, s.C, dY, fused)).worst(), 1);
    verify(verify_multihead(s.m, s.X, s.C).worst(), 1);
  }
}

// check that wrong gradients are refused
BOOST_AUTO_TEST_CASE(wrong_gradients_are_refused) {
  const auto s = setting<double>(2);  // four heads, two sets of keys
  const auto t = multihead_forward(s.m, s.X, s.C);
  const Matrix<double> dY = gaussian<double>(3, 3, 1, "dY");
  const auto good = multihead_vjp(s.m, s.X, s.C, t, dY);
  const auto judged = [&](auto change) {
    auto g = good;
    change(g);
    return verify_multihead(s.m, s.X, s.C, dY, g).worst();
  };
  verify(judged([](auto&) {}), 1);

  // plant an error of a program
  refute(judged([](auto& g) { g.weights.W_Q *= std::sqrt(3.0); }), 2);
  refute(judged([&](auto& g) {
    g.weights.W_K << good.weights.W_K.rightCols(3),
        good.weights.W_K.leftCols(3);
  }), 2);
  refute(judged([](auto& g) { g.weights.b_Q /= 3; }), 2);
  auto deaf = s.m;
  deaf.W_K.setZero();
  refute(judged([&](auto& g) {
    g.C = multihead_vjp(deaf, s.X, s.C, t, dY).C;
  }), 2);
  auto silent = t;
  stacked(silent.A).topRows(3).setZero();
  refute(judged([&](auto& g) {
    g.weights.W_V = multihead_vjp(s.m, s.X, s.C, silent, dY).weights.W_V;
  }), 2);

  // plant an error of one entry
  const auto e =
      detail::widest_errors<double>(s.m, s.X, s.C, dY, Matrix<double>());
  refute(judged([&](auto& g) { g.X(1, 2) += 2.1 * e.X(1, 2); }), 1.05);
  refute(judged([&](auto& g) {
    g.weights.W_O(3, 1) -= 2.1 * e.weights.W_O(3, 1);
  }), 1.05);
  refute(judged([&](auto& g) {
    g.weights.b_V(4) += 2.1 * e.weights.b_V(4);
  }), 1.05);
}
BOOST_AUTO_TEST_SUITE_END()
