// tests/attention_test.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <numbers>
#include <random>
#include "attn/attention.hpp"
#include "attn/autodiff.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "metrics.hpp"
using namespace attn;
BOOST_AUTO_TEST_SUITE(bilinear)
const double inf = std::numeric_limits<double>::infinity();

// draw layers of random shape and scale
template <class S>
struct Layer {
  Matrix<S> Q, K, V;
};
template <class S>
Layer<S> draw_layer(std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  const auto extent = [&] { return Index(1 + bits() % 24); };
  const Index n = extent(), m = extent(), d = extent(), c = extent();
  const double size = std::pow(10.0, double(bits() % 4) / 2 - 0.5);
  const Matrix<double> Q = size * gaussian<double>(n, d, seed, "layer Q");
  const Matrix<double> K = size * gaussian<double>(m, d, seed, "layer K");
  return {lift<S>(Q), lift<S>(K), gaussian<S>(m, c, seed, "layer V")};
}
template <class S>
AttentionBound bound_of(const Layer<S>& x) {
  return attention_bound(x.Q, x.K, x.V);
}

// check the worked examples
BOOST_AUTO_TEST_CASE(worked_example) {
  const Matrix<double> Q{{1, 0}, {0, 1}}, K{{1, 0}, {0, 1}, {1, 1}},
      V{{2, 0}, {0, 2}, {1, 1}};
  const auto [O, A, S, logZ] = attention(Q, K, V);
  const quad x = exp(1 / sqrt(quad(2))), Z = 2 * x + 1;
  const Matrix<quad> A0{{x / Z, 1 / Z, x / Z}, {1 / Z, x / Z, x / Z}};
  const quad o1 = 3 * x / Z, o2 = (x + 2) / Z;
  const Matrix<quad> O0{{o1, o2}, {o2, o1}};
  verify(A, A0, Matrix<double>::Constant(2, 3, 8 * 0x1p-53));
  verify(O, O0, Matrix<double>::Constant(2, 2, 16 * 0x1p-53));
  verify(distance(exp(quad(logZ(0))), Z), 8 * 0x1p-53 * to_double(Z));
  fact("x", to_double(x), 7);
  fact("Z", to_double(Z), 7);
  fact("a1", A(0, 0), 6), fact("a2", A(0, 1), 6);
  fact("o1", O(0, 0), 7), fact("o2", O(0, 1), 6);
}
BOOST_AUTO_TEST_CASE(second_example) {
  const Matrix<double> Q{{1, 0}, {0, 1}}, K{{1, 0}, {0.5, 0.5}, {0, 1}};
  const auto O = attention(Q, K, K).O;
  const quad y = exp(1 / sqrt(quad(8))), Z = y * y + y + 1;
  const quad o1 = (y * y + y / 2) / Z, o2 = (y / 2 + 1) / Z;
  const Matrix<quad> O0{{o1, o2}, {o2, o1}};
  verify(O, O0, Matrix<double>::Constant(2, 2, 16 * 0x1p-53));
  fact("o1", O(0, 0), 6), fact("o2", O(0, 1), 6);
}

// check permutation equivariance
template <class S>
Matrix<S> shuffle_rows(const Matrix<S>& X, const std::vector<Index>& order) {
  return X(order, Eigen::all);
}
Matrix<Fp> weights_from_exponentials(const Matrix<Fp>& E) {
  const Vector<Fp> Z = E.rowwise().sum();
  return Z.cwiseInverse().asDiagonal() * E;
}
BOOST_AUTO_TEST_CASE(equivariance_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = Index(1 + seed % 5), m = Index(1 + seed % 8);
    const Matrix<Fp> E = gaussian<Fp>(n, m, seed, "E");
    const Matrix<Fp> V = gaussian<Fp>(m, 3, seed, "V");
    const auto pi = permutation(n, seed, "pi");
    const auto sigma = permutation(m, seed, "sigma");
    const Matrix<Fp> moved = E(pi, sigma);
    const Matrix<Fp> A = weights_from_exponentials(E);
    const Matrix<Fp> there = weights_from_exponentials(moved);
    verify_exact(there, Matrix<Fp>(A(pi, sigma)), 2);
    verify_exact(average(there, shuffle_rows(V, sigma)),
                 shuffle_rows<Fp>(average(A, V), pi), 2 * m + 1);
  }
}
BOOST_AUTO_TEST_CASE(equivariance_in_double) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto x = draw_layer<double>(seed);
    const auto pi = permutation(x.Q.rows(), seed, "pi");
    const auto sigma = permutation(x.K.rows(), seed, "sigma");
    const auto here = attention(x.Q, x.K, x.V);
    const auto there = attention(shuffle_rows(x.Q, pi),
        shuffle_rows(x.K, sigma), shuffle_rows(x.V, sigma));
    const auto b = bound_of(x);
    verify(there.A, Matrix<double>(here.A(pi, sigma)),
           Matrix<double>(2 * b.A(pi, sigma)));
    verify(there.O, shuffle_rows(here.O, pi),
           Matrix<double>(2 * shuffle_rows(b.O, pi)));
  }
}

// check the convex hull
void inside_the_hull(const Matrix<quad>& O, const Matrix<quad>& V,
                     std::uint64_t seed) {
  const Vector<quad> w = gaussian<quad>(V.cols(), 1, seed, "direction");
  const Vector<quad> o = O * w, v = V * w;
  const double u = unit_roundoff<quad>();
  const double lost = gamma(2 * (V.rows() + V.cols()) + 6, u);
  const double size = to_double((V.cwiseAbs() * w.cwiseAbs()).maxCoeff());
  verify(worse(0, to_double(o.maxCoeff() - v.maxCoeff())), lost * size);
  verify(worse(0, to_double(v.minCoeff() - o.minCoeff())), lost * size);
  const auto norms = [](const Matrix<quad>& X) {
    const auto rows = X.rowwise();
    return std::array{quad(rows.lpNorm<1>().maxCoeff()),
                      quad(rows.norm().maxCoeff()),
                      quad(rows.lpNorm<Eigen::Infinity>().maxCoeff())};
  };
  const auto out = norms(O), in = norms(V);
  for (std::size_t k = 0; k < 3; ++k)
    verify(worse(0, to_double(out[k] - in[k])), 2 * lost * to_double(in[k]));
}
BOOST_AUTO_TEST_CASE(outputs_in_the_hull) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto x = draw_layer<double>(seed);
    const Matrix<quad> V = lift<quad>(x.V);
    inside_the_hull(attention(lift<quad>(x.Q), lift<quad>(x.K), V).O, V, seed);
  }
}
BOOST_AUTO_TEST_CASE(masked_outputs_in_the_hull) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = Index(1 + seed % 5), m = Index(2 + seed % 9);
    const Index allowed = 1 + Index(seed) % (m - 1);
    const auto order = permutation(m, seed, "mask");
    Matrix<quad> S = gaussian<quad>(n, m, seed, "S");
    Matrix<quad> V = gaussian<quad>(m, 3, seed, "V"), kept(allowed, 3);
    for (Index k = 0; k < m; ++k) {
      const Index j = order[std::size_t(k)];
      if (k < allowed) {
        kept.row(k) = V.row(j);
      } else {
        S.col(j).setConstant(quad(-inf));
        V.row(j) *= quad(1e6);
      }
    }
    inside_the_hull(average(softmax(S), V), kept, seed);
  }
}

// check scores and weights
BOOST_AUTO_TEST_CASE(scores_by_definition) {
  for (const auto& [n, m, p, q] : {std::array{3, 4, 2, 5}, {1, 1, 1, 1},
                                   {5, 2, 6, 3}, {2, 7, 4, 4}}) {
    const Matrix<Fp> Q = gaussian<Fp>(n, p, 1, "Q");
    const Matrix<Fp> K = gaussian<Fp>(m, q, 1, "K");
    const Matrix<Fp> M = gaussian<Fp>(p, q, 1, "M");
    const auto S = eq<"S^{ij} = Q^{ia} M_{ab} K^{jb}">(
        view<up, up>(Q), view<dn, dn>(M), view<up, up>(K));
    verify_exact(scores(Q, K, Bilinear<Fp>{M}), Matrix<Fp>(S.mat()), 3);
    verify_exact(S(n - 1, m - 1), inner<Bilinear<Fp>>(
        Q.row(n - 1).transpose(), K.row(m - 1).transpose(), {M}), 3);
  }
}
BOOST_AUTO_TEST_CASE(scores_of_each_kind) {
  for (const Index d : {1, 3, 8})
    for (const auto& g : metrics<quad>(d, 21)) {
      const Matrix<quad> Q = gaussian<quad>(4, d, 1, "Q");
      const Matrix<quad> K = gaussian<quad>(3, d, 1, "K");
      const Matrix<quad> S = Q * g.dense() * K.transpose();
      verify(distance(scores(Q, K, g), S), agreement);
    }
}
BOOST_AUTO_TEST_CASE(standard_scores_are_scaled_products) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto x = draw_layer<double>(seed);
    const quad c = 1 / sqrt(quad(double(x.Q.cols())));
    const Matrix<quad> S = c * lift<quad>(x.Q) * lift<quad>(x.K).transpose();
    verify(scores(x.Q, x.K), S, bound_of(x).S);
  }
}
BOOST_AUTO_TEST_CASE(weights_by_definition) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const double size = std::pow(10.0, double(seed % 5) - 1);
    const Matrix<double> S =
        size * gaussian<double>(Index(1 + seed % 6), Index(1 + seed % 9), seed);
    const Matrix<quad> E = lift<quad>(S).array().exp();
    const Vector<quad> Z = E.rowwise().sum();
    const auto [A, logZ] = weigh(S);
    const Matrix<quad> truth = Z.cwiseInverse().asDiagonal() * E;
    verify(A, truth, softmax_bound(S, 0 * S));
    for (Index i = 0; i < S.rows(); ++i)
      verify(to_double(abs(quad(logZ(i)) - log(Z(i)))),
             gamma(S.cols() + 6, 0x1p-53) *
                 (1 + S.row(i).cwiseAbs().maxCoeff()));
  }
}
BOOST_AUTO_TEST_CASE(shift_of_a_row_is_not_seen) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Matrix<double> S = 8 * uniform<double>(3, 6, seed);
    const double c = double(Index(seed) - 25) * 4096;
    const Matrix<double> rounded = (S.array() + c) - c;
    const Matrix<double> T = rounded.array() + c;
    verify((softmax(T) - softmax(rounded)).norm(), 0);
    verify(worse(0, -softmax(S).minCoeff()), 0);
    verify(largest((softmax(S).rowwise().sum().array() - 1).matrix()),
           gamma(14, 0x1p-53));
  }
}

// check the edges of the softmax
BOOST_AUTO_TEST_CASE(forbidden_keys_weigh_nothing) {
  const RowVector<double> s{{1, -inf, 3, -inf}}, t{{1, 3}};
  const auto [A, logZ] = weigh(s);
  verify(std::abs(A(0, 1)) + std::abs(A(0, 3)), 0);
  verify((RowVector<double>{{A(0, 0), A(0, 2)}} - softmax(t)).norm(), 0);
  verify(std::abs(logZ(0) - weigh(t).logZ(0)), 0);
}
BOOST_AUTO_TEST_CASE(empty_rows_are_zero) {
  const Matrix<double> s{{-inf, -inf}, {0, 0}};
  const auto [A, logZ] = weigh(s);
  verify((A - Matrix<double>{{0, 0}, {0.5, 0.5}}).norm(), 0);
  BOOST_TEST(logZ(0) == -inf);
  const auto none = weigh(Matrix<double>(2, 0));
  BOOST_TEST((none.A.rows() == 2 && none.logZ(1) == -inf));
  const Matrix<double> O = average(A, gaussian<double>(2, 3, 1));
  verify(O.row(0).norm(), 0);
}
BOOST_AUTO_TEST_CASE(nan_stays_in_its_row) {
  for (const Index j : {0, 1, 2})
    for (const double other : {0.5, -inf}) {
      Matrix<double> s = Matrix<double>::Constant(2, 3, other);
      s(0, j) = NAN, s(1, 1) = 0;
      const auto [A, logZ] = weigh(s);
      BOOST_TEST((A.row(0).array().isNaN().all() && std::isnan(logZ(0))));
      verify(std::abs(A.row(1).sum() - 1), gamma(5, 0x1p-53));
    }
}
BOOST_AUTO_TEST_CASE(infinite_scores) {
  const auto one = weigh(RowVector<double>{{1, inf, -inf}});
  verify((one.A - RowVector<double>{{0, 1, 0}}).norm(), 0);
  BOOST_TEST(one.logZ(0) == inf);
  BOOST_TEST(softmax(RowVector<double>{{inf, inf, 0}}).array().isNaN().all());
  verify(std::abs(softmax(RowVector<double>{{1e300, -1e300}})(0) - 1), 0);
}

// check the shapes of attention
BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit) {
  const auto m = [](Index n, Index d) { return gaussian<double>(n, d, 1); };
  using invalid = std::invalid_argument;
  BOOST_CHECK_EXCEPTION(scores(m(2, 3), m(4, 5)), invalid,
                        says("scores: Q is 2x3 but K is 4x5"));
  BOOST_CHECK_EXCEPTION(scores(m(2, 3), m(4, 5), Bilinear<double>{m(3, 4)}),
                        invalid, says("K is 4x5 but the form is 3x4"));
  BOOST_CHECK_EXCEPTION(attention(m(2, 3), m(4, 5), m(4, 1)), invalid,
                        says("attention: Q is 2x3 but K is 4x5"));
  BOOST_CHECK_EXCEPTION(attention(m(2, 3), m(4, 3), m(5, 1)), invalid,
                        says("attention: K is 4x3 but V is 5x1"));
  BOOST_CHECK_EXCEPTION(scores(m(2, 0), m(4, 0)), invalid, says("d >= 1"));
  BOOST_CHECK_EXCEPTION(average(m(2, 3), m(4, 1)), invalid, says("average"));
  BOOST_CHECK_EXCEPTION(inner<Bilinear<double>>(Vector<double>::Ones(2),
      Vector<double>::Ones(3), {m(3, 3)}), invalid, says("inner: u has 2"));
}
BOOST_AUTO_TEST_CASE(empty_shapes_are_legal) {
  const auto m = [](Index n, Index d) { return gaussian<double>(n, d, 1); };
  BOOST_TEST(attention(m(0, 3), m(4, 3), m(4, 2)).O.cols() == 2);
  BOOST_TEST(attention(m(2, 3), m(4, 3), m(4, 0)).O.rows() == 2);
  const auto x = attention(m(2, 3), m(0, 3), m(0, 5));
  verify(x.O.norm(), 0);
  BOOST_TEST((x.O.cols() == 5 && x.logZ(1) == -inf));
  const auto g = Metric<double>::scaled(0, 1.0);
  const Matrix<double> A = attention(m(2, 0), m(4, 0), m(4, 1), g).A;
  verify(largest((A.array() - 0.25).matrix()), 0);
  const auto b = attention_bound(m(2, 3), m(0, 3), m(0, 5));
  BOOST_TEST(shape(b.A) == "2x0");
  BOOST_TEST((shape(b.O) == "2x5" && b.O.norm() == 0));
}
BOOST_AUTO_TEST_CASE(takes_blocks_and_columns) {
  const Matrix<double> X = gaussian<double>(9, 12, 4);
  const Eigen::MatrixXd columns = X.middleCols(3, 4);
  const Matrix<double> Q = X.middleCols(3, 4), K = X.bottomLeftCorner(5, 4),
                       V = X.topRightCorner(5, 3);
  const Matrix<double> O = attention(Q, K, V).O;
  verify((attention(columns, X.bottomLeftCorner(5, 4),
                    X.topRightCorner(5, 3)).O - O).norm(), 0);
  verify((attention(Q + 0 * Q, 1 * K, V).O - O).norm(), 0);
}

// check the variance of scores
Vector<double> score_moments(double p, int d) {  // of order 1, 2, 4
  const int states = int(std::lround(std::pow(9, d)));
  Vector<double> moments = Vector<double>::Zero(3);
  for (int state = 0; state < states; ++state) {
    double weight = 1, s = 0;
    for (int a = 0, rest = state; a < d; ++a, rest /= 9) {
      const int q = rest % 3 - 1, k = rest / 3 % 3 - 1;  // times 1/sqrt(p)
      weight *= (q == 0 ? 1 - p : p / 2) * (k == 0 ? 1 - p : p / 2);
      s += q * k / p;
    }
    moments += weight * Vector<double>{{s, s * s, s * s * s * s}};
  }
  return moments;
}
BOOST_AUTO_TEST_CASE(score_moments_by_enumeration) {
  for (const double p : {1.0, 0.5, 0.25})
    for (const int d : {1, 2, 3}) {
      const Vector<double> m = score_moments(p, d);
      const double D = d, spread = m(2) - m(1) * m(1);
      verify(std::abs(m(0)), 0);
      verify(std::abs(m(1) - D), 0);
      verify(std::abs(spread - (2 * D * D + (1 / (p * p) - 3) * D)), 0);
    }
}
void variance_of(const Matrix<double>& q, const Matrix<double>& k,
                 double fourth) {
  const double D = double(q.cols()), N = double(q.rows());
  const Vector<double> s = q.cwiseProduct(k).rowwise().sum();
  const double v = s.squaredNorm() / N;
  verify(std::abs(s.mean()), 4 * std::sqrt(D / N));
  verify(std::abs(v - D),
         4 * std::sqrt((2 * D * D + (fourth * fourth - 3) * D) / N));
  if (fourth == 3) fact("v" + std::to_string(q.cols()), v, 4);
}
BOOST_AUTO_TEST_CASE(score_variance) {
  for (const Index d : {16, 64, 256}) {
    const Index n = 10000;
    variance_of(gaussian<double>(n, d, 1, "q"), gaussian<double>(n, d, 1, "k"),
                3);
    const Matrix<double> q = uniform<double>(n, d, 1, "q");
    const Matrix<double> k = uniform<double>(n, d, 1, "k");
    variance_of(std::sqrt(3.0) * q, std::sqrt(3.0) * k, 9.0 / 5);
    const auto sign = [](double x) { return x < 0 ? -1.0 : 1.0; };
    variance_of(q.unaryExpr(sign), k.unaryExpr(sign), 1);
  }
}
BOOST_AUTO_TEST_CASE(equal_query_and_key) {
  for (const Index d : {16, 64, 256}) {
    const Index n = 4000;
    const Matrix<double> q = gaussian<double>(n, d, 3);
    const Vector<double> s = q.rowwise().squaredNorm() / std::sqrt(double(d));
    const double se = std::sqrt(2.0 / double(n));  // sqrt(2d/n) / sqrt(d)
    verify(std::abs(s.mean() - std::sqrt(double(d))), 4 * se);
    fact("m" + std::to_string(d), s.mean(), 3);
  }
}

// average over Gaussian scores
struct Laplace {  // with w = t e^s, s = sigma z:
  double lost = 0, tilted = 0;     // 1 - L and E[s w exp(-w)],
  std::array<double, 5> power{};   // E[w^k exp(-w)]
  double log_L() const { return lost < 1 ? std::log1p(-lost) : -1e9; }
};
Laplace laplace(double sigma, double t, double h) {
  Laplace sum;
  for (double z = -9; z < 4 * sigma + 10; z += h) {
    const double weight =
        std::exp(-z * z / 2) * h / std::sqrt(2 * std::numbers::pi);
    const double w = t * std::exp(sigma * z);
    double term = weight * std::exp(-w);
    sum.lost -= weight * std::expm1(-w);
    sum.tilted += sigma * z * w * term;
    for (double& moment : sum.power) moment += term, term *= w;
  }
  return sum;
}
template <class F>  // of f(Laplace, t) dx over all x = log t that matter
double integral(double sigma, double n, double h, const F& f) {
  const double low = -std::log(n) - 30 - sigma * (sigma / 2 + 9);
  double sum = 0;
  for (double x = low; x < 4 + 10 * sigma; x += h)
    sum += h * f(laplace(sigma, std::exp(x), h), std::exp(x));
  return sum;
}
double mean_jacobian(double sigma, double n, double h) {
  return integral(sigma, n, h, [n](const Laplace& m, double) {
    const auto& w = m.power;
    const double one = n * std::exp((n - 1) * m.log_L());
    const double two = n * (n - 1) * std::exp((n - 2) * m.log_L());
    return one * (w[2] - w[3] + w[4] / 6) + two * w[2] * w[2] / 6;
  });
}
void within_four_errors(const Vector<double>& x, double mean, double extra) {
  const double var = (x.array() - x.mean()).square().mean();
  verify(std::abs(x.mean() - mean),
         4 * std::sqrt(var / double(x.size() - 1)) + extra);
}

// check the size of the Jacobian
BOOST_AUTO_TEST_CASE(jacobian_identities) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = Index(1 + seed % 8);
    Vector<Fp> a = gaussian<Fp>(n, 1, seed, "weights");
    a(n - 1) += Fp(1) - a.sum();
    Matrix<Fp> J = Fp(-1) * a * a.transpose();
    J.diagonal() += a;
    const Fp norm2 = J.cwiseProduct(J).sum();
    Fp p2(0), p3(0), spread(0), squares(0);
    for (Index j = 0; j < n; ++j)
      p2 += a(j) * a(j), p3 += a(j) * a(j) * a(j);
    for (Index j = 0; j < n; ++j) {
      spread += a(j) * (a(j) - p2) * (a(j) - p2);
      for (Index k = 0; k < n; ++k) {
        const Fp x = j == k ? a(j) * (Fp(1) - a(j)) : a(j) * a(k);
        squares += x * x;
      }
    }
    verify_exact(norm2, p2 - 2 * p3 + p2 * p2, 4);
    verify_exact(norm2, squares, 4);
    const Fp half = Fp(1) / Fp(2);
    const Fp gap = half - p2;
    verify_exact(norm2, half * half - gap * gap - 2 * spread, 5);
  }
}
double jacobian_size(const Matrix<double>& a) {
  const double p2 = a.squaredNorm(), p3 = a.array().cube().sum();
  return std::sqrt(std::max(0.0, p2 - 2 * p3 + p2 * p2));
}
BOOST_AUTO_TEST_CASE(jacobian_norm) {
  const double few = 40 * 0x1p-53;  // at most 40 roundings of terms below 1
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Matrix<double> s = double(seed % 4) *
        gaussian<double>(1, Index(1 + seed % 9), seed, "scores");
    const Matrix<double> a = softmax(s);
    Matrix<double> J = -a.transpose() * a;
    J.diagonal() += a.transpose();
    const double norm2 = J.squaredNorm(), ours = jacobian_size(a);
    const double top = a.maxCoeff(), p2 = a.squaredNorm();
    verify(std::abs(norm2 - ours * ours), few);
    verify(worse(0, top * top * (1 - top) * (1 - top) - norm2), few);
    verify(worse(0, norm2 + (0.5 - p2) * (0.5 - p2) - 0.25), few);
  }
  for (const Index k : {1, 2, 3, 4, 7}) {
    Matrix<double> a = Matrix<double>::Zero(1, 9);
    a.leftCols(k).setConstant(1 / double(k));
    const double K = double(k), size = jacobian_size(a);
    verify(std::abs(size * size - (K - 1) / (K * K)), few);
  }
}
template <class F, class T>
void leaves_next_order(const F& coefficient, Index n, const T& theory) {
  const double coarse = distance(coefficient(n), theory);
  const double fine = distance(coefficient(2 * n), theory);
  verify(std::abs(coarse / fine - 2), 0.1);
}
template <class F>
quad binomial_mean(Index n, const quad& p, const F& f) {
  quad weight = pow(1 - p, quad(double(n))), sum = 0;
  for (Index k = 0; k <= n; ++k) {
    sum += weight * f(quad(double(k)) / quad(double(n)));
    weight *= quad(double(n - k)) / quad(double(k + 1)) * p / (1 - p);
  }
  return sum;
}
BOOST_AUTO_TEST_CASE(jacobian_second_term) {
  const quad p = 0.25, x = 5;  // e^s is 5 with probability p, else 1
  const auto power = [&](const quad& share, int k) {
    return share * pow(x, quad(k)) + 1 - share;
  };
  const quad m2 = power(p, 2) / pow(power(p, 1), quad(2)),
             m3 = power(p, 3) / pow(power(p, 1), quad(3));
  const auto coefficient = [&](Index n) {
    const quad N{double(n)}, mean = binomial_mean(n, p, [&](const quad& f) {
      const quad p2 = power(f, 2) / pow(power(f, 1), quad(2)) / N;
      const quad p3 = power(f, 3) / pow(power(f, 1), quad(3)) / (N * N);
      return p2 - 2 * p3 + p2 * p2;
    });
    return quad(N * (m2 - N * mean));
  };
  const quad theory = 4 * m3 - 4 * m2 * m2 + m2;
  leaves_next_order(coefficient, 512, theory);
  fact("found", to_double(2 * coefficient(1024) - coefficient(512)), 4);
  fact("theory", to_double(theory), 4);
  fact("without", to_double(2 * m3 - m2 * m2), 4);
}
BOOST_AUTO_TEST_CASE(jacobian_of_gaussian_rows) {
  const Index rows = 1 << 12;
  const Matrix<double> A = softmax(gaussian<double>(rows, 256, 1, "rows"));
  Vector<double> squares(rows);
  for (Index i = 0; i < rows; ++i)
    squares(i) = std::pow(jacobian_size(A.row(i)), 2);
  const double mean = mean_jacobian(1, 256, 0.1);
  within_four_errors(squares, mean, 0);
  verify(std::abs(mean - mean_jacobian(1, 256, 0.05)), 1e-12);
  for (const double sigma : {0.5, 1.0}) {
    const double e = std::exp(sigma * sigma);
    const auto coefficient = [&](Index m) {
      const double n = double(m);
      return n * (e - n * mean_jacobian(sigma, n, 0.1));
    };
    const double theory = 4 * e * e * e - 4 * e * e + e;
    leaves_next_order(coefficient, 4096, theory);
    if (sigma < 1) continue;
    fact("found", 2 * coefficient(8192) - coefficient(4096), 3);
    fact("theory", theory, 3);
  }
}
struct Quartiles {
  std::array<double, 3> raw, scaled;
};
Quartiles fresh_layers(Index n, Index d) {
  std::vector<double> raw, scaled;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Matrix<double> Q = gaussian<double>(40, d, seed, "Q");
    const Matrix<double> K = gaussian<double>(n, d, seed, "K");
    const Matrix<double> A = softmax(scores(Q, K, Metric<double>::identity(d)));
    const Matrix<double> B = softmax(scores(Q, K));
    for (Index i = 0; i < 40; ++i) {
      raw.push_back(jacobian_size(A.row(i)));
      scaled.push_back(jacobian_size(B.row(i)));
    }
  }
  std::ranges::sort(raw), std::ranges::sort(scaled);
  return {{raw[120], raw[240], raw[360]},
          {scaled[120], scaled[240], scaled[360]}};
}
BOOST_AUTO_TEST_CASE(jacobian_at_initialisation) {
  const auto reference = fresh_layers(64, 16).scaled;
  for (const Index d : {16, 64, 256, 1024}) {
    const auto [raw, scaled] = fresh_layers(64, d);
    fact("raw" + std::to_string(d), raw[1], 2);
    fact("scaled" + std::to_string(d), scaled[1], 2);
    if (d > 16)
      verify(reference[0] <= scaled[1] && scaled[1] <= reference[2] ? 0 : 1, 0);
    if (d <= 64) verify(worse(0, scaled[1] - raw[1]), 0);
    if (d == 1024) verify(raw[1], 0.01 * scaled[1]);
  }
  const auto few = fresh_layers(8, 16), many = fresh_layers(512, 128);
  verify(worse(0, few.raw[1] - few.scaled[1]), 0);
  verify(worse(0, many.scaled[1] - many.raw[1]), 0);
}
BOOST_AUTO_TEST_CASE(jacobian_of_many_keys) {
  const Index n = 1 << 20;
  for (const double v : {0.25, 1.0}) {
    const Matrix<double> s =
        std::sqrt(v) * gaussian<double>(1, n, 11, v < 1 ? "quarter" : "one");
    const double size = jacobian_size(softmax(s)), N = double(n);
    const double e = std::exp(v);
    const double spread = e * e * e * e - 4 * e * e + 4 * e - 1;
    verify(std::abs(N * size * size - e),
           4 * e * std::sqrt(spread / N) + 2 * e * e * e / N);
  }
}

// check the entropy deficit
Vector<double> deficits(const Matrix<double>& S) {
  const auto [A, logZ] = weigh(S);
  const double logn = std::log(double(S.cols()));
  return logn - (logZ - A.cwiseProduct(S).rowwise().sum()).array();
}
double deficit_theory(double v, double n) {
  return v / 2 - ((v - 0.5) * std::exp(v) + 0.5) / n;
}
BOOST_AUTO_TEST_CASE(deficit_of_gaussian_scores) {
  for (const Index n : {64, 1024, 16384})
    for (const double sigma : {0.5, 1.0}) {
      const Matrix<double> S =
          sigma * gaussian<double>((1 << 20) / n, n, std::uint64_t(n),
                                   sigma < 1 ? "half" : "one");
      const Vector<double> x = deficits(S);
      const double v = sigma * sigma, theory = deficit_theory(v, double(n));
      within_four_errors(x, theory, 6 * std::pow(theory - v / 2, 2));
      if (sigma < 1) continue;
      fact("n" + std::to_string(n), x.mean(), 3);
      fact("t" + std::to_string(n), theory, 3);
    }
}
BOOST_AUTO_TEST_CASE(deficit_second_term) {
  const quad p = 0.25, e = 5;  // e^s is 5 with probability p, else 1
  const auto mean = [&](const quad& f) { return quad(f * e + 1 - f); };
  const auto tilted = [&](const quad& f) { return quad(f * e * log(e)); };
  const auto deficit = [&](const quad& f) {
    return quad(tilted(f) / mean(f) - log(mean(f)));
  };
  const quad x = mean(p), y = tilted(p), q = p * (1 - p);
  const quad var = q * (e - 1) * (e - 1), cov = q * (e - 1) * e * log(e);
  const quad theory = (2 * y / (x * x * x) + 1 / (x * x)) * var / 2 -
                      cov / (x * x);
  leaves_next_order([&](Index n) {
    return quad(quad(double(n)) * (binomial_mean(n, p, deficit) - deficit(p)));
  }, 512, theory);
}
double mean_deficit(double sigma, double n, double h) {
  return std::log(n) + integral(sigma, n, h, [n](const Laplace& m, double t) {
    const double log_L = m.log_L();
    return n * m.tilted * std::exp((n - 1) * log_L) -
           (std::exp(-t) - std::exp(n * log_L));
  });
}
BOOST_AUTO_TEST_CASE(deficit_of_many_keys) {
  for (const double sigma : {0.5, 1.0}) {
    const double v = sigma * sigma;
    leaves_next_order([&](Index n) {
      return double(n) * (v / 2 - mean_deficit(sigma, double(n), 0.1));
    }, 4096, (v - 0.5) * std::exp(v) + 0.5);
  }
  for (const double sigma : {0.5, 1.0, 1.5, 2.0}) {
    const double v = sigma * sigma, n = 100 * std::exp(1.5 * v);
    const double first = v / 2 - deficit_theory(v, n);
    const double missed = v / 2 - mean_deficit(sigma, n, 0.1);
    verify(std::abs(missed / first - 1), 4 * std::exp(2 * v) / n);
  }
}
BOOST_AUTO_TEST_CASE(deficit_of_large_scores) {
  for (const Index n : {16, 256, 4096}) {
    const double mean = mean_deficit(4, double(n), 0.1);
    const Matrix<double> S =
        4 * gaussian<double>((1 << 20) / n, n, std::uint64_t(n), "four");
    within_four_errors(deficits(S), mean, 0);
    verify(std::abs(mean - mean_deficit(4, double(n), 0.05)), 1e-9);
  }
  const double n = std::exp(16), missed = 8 - mean_deficit(4, n, 0.1);
  const double formula = 8 - deficit_theory(16, n);
  fact("missed", missed, 2);
  fact("formula", formula, 3);
  refute(formula - missed, 10);
}
BOOST_AUTO_TEST_CASE(deficit_of_a_layer) {
  const Index d = 64, n = 4096;
  const Matrix<double> Q = gaussian<double>(100, d, 1, "Q");
  const Matrix<double> K = gaussian<double>(n, d, 1, "K");
  const Vector<double> x = deficits(scores(Q, K));
  const Vector<double> v = Q.rowwise().squaredNorm() / double(d);
  for (Index i = 0; i < x.size(); ++i) {  // Var(Y/X - log X), delta method
    const double s = v(i), e = std::exp(s);
    const double var = (s + 1) * (s + 1) * (e - 1) -
                       2 * (s + 1) * (2 * s * e - s) +
                       (s + 4 * s * s) * e - s * s;
    verify(std::abs(x(i) - deficit_theory(s, double(n))),
           6 * std::sqrt(var / double(n)));
  }
  fact("mean", x.mean(), 3);
}
BOOST_AUTO_TEST_CASE(deficit_of_uniform_scores) {
  for (const double b : {0.5, 2.0, 6.0}) {
    const Matrix<double> S = b * uniform<double>(100, 8192, 3);
    const double limit = b / std::tanh(b) - 1 - std::log(std::sinh(b) / b);
    within_four_errors(deficits(S), limit, b * b / 8192);
  }
}

// check the forward error bound
template <class S>
void forward_error(const Layer<S>& x) {
  const auto [O, A, scores, logZ] = attention(x.Q, x.K, x.V);
  const auto truth =
      attention(lift<quad>(x.Q), lift<quad>(x.K), lift<quad>(x.V));
  const AttentionBound b = bound_of(x);
  verify(scores, truth.S, b.S);
  verify(A, truth.A, b.A);
  verify(O, truth.O, b.O);
}
BOOST_AUTO_TEST_CASE(forward_error_in_double) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed)
    forward_error(draw_layer<double>(seed));
}
BOOST_AUTO_TEST_CASE(forward_error_in_float) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed)
    forward_error(draw_layer<float>(seed));
}
template <class S>
void forward_error_at_length() {
  const auto K = gaussian<S>(1500, 128, 1, "many keys");
  forward_error(Layer<S>{gaussian<S>(5, 128, 1, "queries"), K,
                         gaussian<S>(1500, 64, 1, "many values")});
}
BOOST_AUTO_TEST_CASE(forward_error_of_long_rows) {
  forward_error_at_length<double>();
  forward_error_at_length<float>();
}
BOOST_AUTO_TEST_CASE(bound_by_hand) {
  const double u = 0x1p-24, tiny = 0x1p-149;
  const Matrix<float> Q = Matrix<float>::Ones(2, 4);
  const Matrix<float> K = Matrix<float>::Ones(3, 4);
  const Matrix<float> V = Matrix<float>::Constant(3, 1, -3);
  const auto b = attention_bound(Q, K, V);
  BOOST_TEST((b.S.array() == 2 * gamma(8, u) + 8 * tiny).all());
  const Matrix<double> two{{2, 2, 2}}, dS = (1 + 2 * u) * b.S.topRows(1);
  const double a = softmax_bound<float>(two, dS)(0, 0);
  const double o = 9 * (a + gamma(4, u) * (1. / 3 + a));
  for (Index i = 0; i < 2; ++i) {
    verify(std::abs(b.A(i, 2) / a - 1), gamma(16, 0x1p-53));
    verify(std::abs(b.O(i, 0) / o - 1), gamma(32, 0x1p-53));
  }
  const auto zero = attention_bound(0 * Q, K, 0 * V);
  BOOST_TEST((zero.S.array() == 8 * tiny).all());
  BOOST_TEST((zero.O.array() == 3 * tiny).all());
}
BOOST_AUTO_TEST_CASE(cancelled_scores) {
  const Matrix<double> q = 16 * gaussian<double>(8, 64, 1, "queries");
  Matrix<double> k = 16 * gaussian<double>(256, 64, 1, "keys");
  const Matrix<double> gram = q * q.transpose();
  k -= (k * q.transpose() * gram.inverse() * q).eval();
  const Matrix<float> Q = lift<float>(q);
  const Matrix<float> K = lift<float>(k);
  const Matrix<quad> truth =
      scores(lift<quad>(Q), lift<quad>(K));
  const Matrix<float> S = scores(Q, K);
  verify(S, truth, attention_bound(Q, K, K).S);
  const double size = largest(truth), error = distance(S, truth);
  fact("score", size, 2), fact("error", error, 2);
  refute(error / size, 1);
}
BOOST_AUTO_TEST_CASE(enormous_scores) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<double> Q = 300 * gaussian<double>(4, 8, seed, "Q");
    const Matrix<double> K = 300 * gaussian<double>(6, 8, seed, "K");
    const Matrix<double> V = gaussian<double>(6, 2, seed, "V");
    const auto truth =
        attention(lift<quad>(Q), lift<quad>(K), lift<quad>(V));
    verify(attention(Q, K, V).O, truth.O, attention_bound(Q, K, V).O);
  }
}
BOOST_AUTO_TEST_CASE(scale_before_contraction) {
  const Index d = 4096;
  const Matrix<float> Q = Matrix<float>::Constant(1, d, 3e17f);
  const Matrix<float> K = Matrix<float>::Constant(1, d, 3e17f);
  BOOST_TEST(std::isinf((Q * K.transpose())(0, 0)));
  const float S = scores(Q, K)(0, 0);
  verify(std::abs(double(S) / (9e34 * 64) - 1), gamma(d + 8, 0x1p-24));
}

// check the errata on attention
BOOST_AUTO_TEST_CASE(erratum_05) {
  const auto mean = [](Index d) {
    const Matrix<double> q = gaussian<double>(500, d, 9);
    return q.rowwise().squaredNorm().mean() / std::sqrt(double(d));
  };
  fact("m16", mean(16), 3), fact("m1024", mean(1024), 3);
  refute(mean(1024) - mean(16), 20);
  for (const Index d : {16, 1024}) {  // independent: does not grow
    const Matrix<double> q = gaussian<double>(4000, d, 1, "q");
    const Matrix<double> k = gaussian<double>(4000, d, 1, "k");
    const double v =
        q.cwiseProduct(k).rowwise().sum().squaredNorm() / 4000 / double(d);
    verify(std::abs(v - 1), 4 * std::sqrt((2 + 6 / double(d)) / 4000));
  }
}
BOOST_AUTO_TEST_CASE(erratum_07) {
  const Matrix<quad> Q = gaussian<quad>(3, 4, 1, "Q");
  const Matrix<quad> K = gaussian<quad>(5, 4, 1, "K");
  const Matrix<quad> printed = Q * K.transpose(), S = scores(Q, K);
  refute(to_double((printed - S).norm() / S.norm()), 0.99);
  verify(to_double((printed / 2 - S).norm() / S.norm()), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_08) {
  const Matrix<quad> Q{{1, 0}, {0, 1}}, K{{1, 0}, {0, 1}, {1, 1}},
      V{{2, 0}, {0, 2}, {1, 1}};
  const auto [O, A, S, logZ] = attention(Q, K, V);
  Matrix<quad> reading(3, 2), summed = Matrix<quad>::Zero(1, 2);
  for (Index j = 0; j < 3; ++j) {
    reading.row(j) = A(0, j) * V.row(j);
    summed += reading.row(j);
  }
  const quad spread = reading.col(0).maxCoeff() - reading.col(0).minCoeff();
  fact("spread", to_double(spread), 3);
  refute(to_double(spread), 0.1);
  verify(to_double((summed - O.row(0)).norm()), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_23) {
  const Matrix<quad> Q = gaussian<quad>(3, 4, 1, "Q");
  const Matrix<quad> K = gaussian<quad>(5, 4, 1, "K");
  const Matrix<quad> dS = gaussian<quad>(3, 5, 1, "dS");
  const auto g = metrics<quad>(4, 7).back();
  const Matrix<quad> G = g.dense();
  const Matrix<quad> truth = gradient([&](const Matrix<Var<quad>>& q) {
    using V = Var<quad>;
    const Bilinear<V> form{G.cast<V>()};
    return V(scores(q, K.cast<V>(), form).cwiseProduct(dS.cast<V>()).sum());
  }, Q);
  const auto dQ = eq<R"(\bar Q_{ia} = \bar S_{ij} g_{ab} K^{jb})">(
      view<dn, dn>(dS), view<dn, dn>(G), view<up, up>(K));
  verify(to_double((dQ.mat() - truth).norm() / truth.norm()), agreement);
  const Matrix<quad> raised = g.raise(dQ.mat());
  verify(to_double((raised - dS * K).norm()), agreement);
  const Matrix<quad> printed = dS * K / 2;
  const double off = to_double((printed - truth).norm() / truth.norm());
  fact("printed", off, 3);
  refute(off, 0.1);
}
BOOST_AUTO_TEST_CASE(erratum_33) {
  const Matrix<quad> two = 2 * Matrix<quad>::Identity(3, 3);
  const Basis<quad> b(two + gaussian<quad>(3, 3, 1, "P"));
  const Matrix<quad> M = gaussian<quad>(3, 3, 1, "M");
  const Matrix<quad> X = gaussian<quad>(3, 2, 1, "vectors");
  const Tensor<quad, up> q(X.col(0)), k(X.col(1));
  const Vector<quad> qt = b.vector(q).vec(), kt = b.vector(k).vec();
  const Matrix<quad> upper = b.R * M * b.R.transpose();
  const Matrix<quad> lower = b.form({M}).mat();
  const auto sum = [](const Vector<quad>& x, const Matrix<quad>& m,
                      const Vector<quad>& y) { return x.dot(m * y); };
  const quad before = sum(X.col(0), M, X.col(1));
  const double moved = to_double(abs(sum(qt, upper, kt) - before));
  fact("moved", moved, 3);
  refute(moved, 0.1);
  verify(to_double(abs(sum(qt, lower, kt) - before)), agreement);
}

// check the answers on attention
BOOST_AUTO_TEST_CASE(answer_two_tokens) {
  const Matrix<double> X = gaussian<double>(2, 3, 1, "tokens");
  const Bilinear<double> B{gaussian<double>(3, 3, 1, "form")};
  const auto [A, logZ] = weigh(scores(X, X, B));
  const Vector<double> x = X.row(0).transpose(), y = X.row(1).transpose();
  const double theory =
      std::exp(-2 * inner(y, x, antisymmetric_part(B)) + logZ(1) - logZ(0));
  // a few dozen roundings of numbers of order one: heuristic
  verify(std::abs(A(0, 1) / A(1, 0) / theory - 1), 200 * 0x1p-53);
}
BOOST_AUTO_TEST_CASE(answer_orthonormal_basis) {
  const auto g = metrics<quad>(5, 3).back();
  const Matrix<quad> L = cholesky(g.dense());
  const Matrix<quad> Q = gaussian<quad>(4, 5, 1, "Q");
  const Matrix<quad> K = gaussian<quad>(6, 5, 1, "K");
  const Matrix<quad> V = gaussian<quad>(6, 2, 1, "V");
  const auto one = Metric<quad>::identity(5);
  verify(distance(attention(Q, K, V, g).O,
                  attention(Q * L, K * L, V, one).O), agreement);
}
BOOST_AUTO_TEST_CASE(answer_units) {
  Matrix<quad> Q = gaussian<quad>(4, 3, 1, "Q");
  Matrix<quad> K = gaussian<quad>(5, 3, 1, "K");
  const Matrix<quad> before = scores(Q, K, Metric<quad>::identity(3));
  Q.col(0) *= quad(1000);
  K.col(0) *= quad(1000);
  const auto g = Metric<quad>::diagonal(
      Vector<quad>{{quad(1) / quad(1000000), quad(1), quad(1)}});
  verify(distance(scores(Q, K, g), before), agreement);
}
BOOST_AUTO_TEST_CASE(answer_laplace_scores) {
  const auto scores_of = [](double b, Index n) {
    const Matrix<double> x = uniform<double>(60, n, 17);
    return Matrix<double>(x.unaryExpr([b](double t) {
      return std::copysign(-std::log1p(-std::abs(t)) / b, t);
    }));
  };
  const double b = 4, limit = 2 / (b * b - 1) + std::log1p(-1 / (b * b));
  within_four_errors(deficits(scores_of(b, 16384)), limit, 1e-4);
  const double few = deficits(scores_of(0.5, 256)).mean();
  const double many = deficits(scores_of(0.5, 16384)).mean();
  verify(worse(0, few + 2 - many), 0);
}
BOOST_AUTO_TEST_CASE(answer_lipschitz_in_query) {
  const auto range = [](const auto& x) { return x.maxCoeff() - x.minCoeff(); };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto x = draw_layer<double>(seed);
    const Index d = x.Q.cols();
    const Matrix<double> p = x.Q.row(0);
    const Matrix<double> q = p + gaussian<double>(1, d, seed, "step");
    const double step = range(scores(q - p, x.K).row(0).eval());
    const Matrix<double> move =
        attention(q, x.K, x.V).O - attention(p, x.K, x.V).O;
    for (Index c = 0; c < x.V.cols(); ++c)
      verify(std::abs(move(0, c)),
             range(x.V.col(c)) * step / 4 +
                 2 * attention_bound(q, x.K, x.V).O(0, c) +
                 2 * attention_bound(p, x.K, x.V).O(0, c));
  }
}
BOOST_AUTO_TEST_SUITE_END()
