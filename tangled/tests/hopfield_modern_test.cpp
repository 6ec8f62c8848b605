// tests/hopfield_modern_test.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "memories.hpp"
#include "attn/autodiff.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(hopfield)

// check the descent
BOOST_AUTO_TEST_CASE(descent_of_twenty_thousand_steps) {
  int rises = 0, steps = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const quad beta = quad(std::pow(2.0, double(seed % 8) - 2));
    const Matrix<quad> K = gaussian<quad>(5, 3, seed, "K");
    const Matrix<quad> X = quad(2) * gaussian<quad>(100, 3, seed, "X");
    const Matrix<quad> Y = hopfield_update(X, K, beta);
    const Vector<quad> E = hopfield_energy(X, K, beta);
    const Vector<quad> F = hopfield_energy(Y, K, beta);
    for (Index i = 0; i < X.rows(); ++i, ++steps) {
      // compare a fall with half the squared step
      const quad half = (Y.row(i) - X.row(i)).squaredNorm() / 2;
      verify(worse(0, to_double(half - (E(i) - F(i)))),
             energy_error(X.row(i), K, beta) + energy_error(Y.row(i), K, beta) +
                 roundings(8) * to_double(half));
      const quad x = X.row(i).squaredNorm() / 2;
      const quad y = Y.row(i).squaredNorm() / 2;
      rises += beta * (F(i) - y) + y > beta * (E(i) - x) + x;
    }
  }
  fact("rises", rises);
  fact("steps", steps);
  refute(double(rises) / double(steps), 0.05);
}
BOOST_AUTO_TEST_CASE(descent_identity) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Index d = Index(1 + seed % 4), M = Index(1 + seed % 6);
    const Matrix<quad> K = gaussian<quad>(M, d, seed, "K");
    const Matrix<quad> X = quad(1.5) * gaussian<quad>(20, d, seed, "X");
    const Matrix<quad> L = gaussian<quad>(d, d, seed, "L");
    const Matrix<quad> gram =
        L * L.transpose() + Matrix<quad>::Identity(d, d);
    const auto g = Metric<quad>::full(gram);
    const Vector<double> root =
        lift<double>(gram).diagonal().cwiseSqrt();
    const Matrix<double> G = root * root.transpose();
    const quad beta = quad(double(1 + seed % 8)) / 4, T = 1 / beta;
    const Matrix<quad> Y = hopfield_update(X, K, beta, g);
    const Matrix<quad> step = Y - X, low = g.lower(step);
    const Vector<quad> fall = hopfield_energy(X, K, beta, g) -
                              hopfield_energy(Y, K, beta, g);
    const Vector<quad> D = kl(attn::gibbs(scores(X, K, g), T),
                              attn::gibbs(scores(Y, K, g), T));
    for (Index i = 0; i < X.rows(); ++i) {
      // compare a fall with its two parts
      const quad half = step.row(i).dot(low.row(i)) / 2;
      const double f = to_double(half + T * D(i));
      const auto x = allowed(X.row(i), K, g, G, beta);
      const auto y = allowed(Y.row(i), K, g, G, beta);
      verify(distance(fall(i), half + T * D(i)),
             x.E + y.E + roundings(double(6 * d + 4)) * f +
                 (2 * (x.A + y.A) + roundings(double(M + 8))) *
                     (2 * to_double(T) + f));
    }
  }
}

// check update and gradient
BOOST_AUTO_TEST_CASE(update_is_attention) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 5), M = Index(seed % 7);
    const Matrix<quad> K = gaussian<quad>(M, d, seed, "K");
    const Matrix<quad> X = gaussian<quad>(Index(seed % 4), d, seed, "X");
    const quad beta = quad(double(seed)) / 5;
    const Matrix<quad> O =
        attention(X, K, K, Metric<quad>::scaled(d, beta)).O;
    const Matrix<quad> Y = hopfield_update(X, K, beta);
    BOOST_TEST((Y.rows() == X.rows() && Y.cols() == d));
    if (M == 0) verify(Y.cwiseAbs().sum() == 0 ? 0 : 1, 0);
    for (Index i = 0; M > 0 && i < X.rows(); ++i)
      verify(Y.row(i), O.row(i),
             2 * allowed<quad>(lift<double>(X.row(i)), lift<double>(K),
                               to_double(beta)).x);
  }
}
BOOST_AUTO_TEST_CASE(metric_changes_coordinates) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 4), M = Index(1 + seed % 6);
    const Matrix<quad> K = gaussian<quad>(M, d, seed, "K");
    const Matrix<quad> X = gaussian<quad>(3, d, seed, "X");
    Matrix<quad> L = gaussian<quad>(d, d, seed, "L");
    for (Index a = 0; a < d; ++a) {
      L(a, a) = quad(3 + double(a));
      for (Index b = 0; b < a; ++b) L(b, a) = quad(0);
    }
    const auto g = Metric<quad>::from_factor(L);
    const quad beta = quad(double(1 + seed % 8)) / 8;

    // compare a metric with its coordinates
    const Matrix<quad> XL = times(X, L), KL = times(K, L);
    const Matrix<quad> Y = times(hopfield_update(X, K, beta, g), L);
    const Matrix<quad> YL = hopfield_update(XL, KL, beta);
    const Vector<quad> E = hopfield_energy(X, K, beta, g);
    const Vector<quad> EL = hopfield_energy(XL, KL, beta);
    const Matrix<double> absL = lift<double>(L).cwiseAbs();
    const Matrix<double> G = absL * absL.transpose();
    const Matrix<double> most =
        (lift<double>(K).cwiseAbs() * absL).colwise().maxCoeff();
    for (Index i = 0; i < 3; ++i) {
      const auto may = allowed(X.row(i), K, g, G, beta);
      verify(Y.row(i), YL.row(i),
             2 * may.x * absL + roundings(double(4 * d)) * most);
      verify(distance(E(i), EL(i)), 2 * may.E);
    }
  }
}
template <class S>
S literal_energy(const std::vector<S>& x, const Matrix<quad>& K,
                 const Vector<quad>& g, const quad& beta) {
  S Z(0), square(0);
  for (Index j = 0; j < K.rows(); ++j) {
    S s(0);
    for (Index a = 0; a < g.size(); ++a)
      s += S(K(j, a) * g(a)) * x[std::size_t(a)];
    Z += exp(S(beta) * s);
  }
  for (Index a = 0; a < g.size(); ++a)
    square += S(g(a)) * x[std::size_t(a)] * x[std::size_t(a)];
  return square / S(2) - log(Z) / S(beta);
}
BOOST_AUTO_TEST_CASE(gradient_of_the_energy) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 4);
    const Matrix<quad> K = gaussian<quad>(5, d, seed, "K");
    const Matrix<quad> x = gaussian<quad>(1, d, seed, "x");
    const Matrix<quad> v = gaussian<quad>(1, d, seed, "v");
    const Vector<quad> diagonal =
        uniform<quad>(d, 1, seed, "g").array() + quad(2);
    const auto g = Metric<quad>::diagonal(diagonal);
    const quad beta = quad(double(seed)) / 3;
    std::vector<Dual<quad>> dual;
    for (Index a = 0; a < d; ++a)
      dual.push_back(Dual<quad>(x(a), v(a)));
    const Dual<quad> E = literal_energy(dual, K, diagonal, beta);
    const Matrix<quad> step = x - hopfield_update(x, K, beta, g);

    // compare energy and slope with the literal ones
    const Matrix<double> G = lift<double>(diagonal).asDiagonal();
    const auto may = allowed(x, K, g, G, beta);
    verify(distance(value(E), hopfield_energy(x, K, beta, g)(0)), 4 * may.E);
    const Matrix<double> size =
        lift<double>(x).cwiseAbs() +
        lift<double>(K).cwiseAbs().colwise().maxCoeff();
    verify(distance(E.d, g.lower(step).row(0).dot(v.row(0))),
           4 * (may.A + roundings(double(d))) *
               (size * G * lift<double>(v).cwiseAbs().transpose())(0));
  }
}
BOOST_AUTO_TEST_SUITE_END()
