// tests/hopfield_modern_test.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/autodiff.hpp"
#include "attn/hopfield.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(hopfield)

// check the descent
BOOST_AUTO_TEST_CASE(descent_of_twenty_thousand_steps) {
  int rises = 0, steps = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const quad beta = quad(std::pow(2.0, double(seed % 8) - 2));
    const Matrix<quad> K = gaussian<quad>(5, 3, seed);
    const Matrix<quad> X = quad(2) * gaussian<quad>(100, 3, seed + 300);
    const Matrix<quad> Y = hopfield_update(X, K, beta);
    const Vector<quad> E = hopfield_energy(X, K, beta);
    const Vector<quad> F = hopfield_energy(Y, K, beta);
    for (Index i = 0; i < X.rows(); ++i) {
      const quad half = (Y.row(i) - X.row(i)).squaredNorm() / 2;
      verify(worse(0, to_double(half - (E(i) - F(i)))), 1e-30);
      const quad x = X.row(i).squaredNorm() / 2;
      const quad y = Y.row(i).squaredNorm() / 2;
      rises += beta * (F(i) - y) + y > beta * (E(i) - x) + x;
      ++steps;
    }
  }
  fact("rises", rises);
  fact("steps", steps);
  refute(double(rises) / double(steps), 0.05);
}
BOOST_AUTO_TEST_CASE(descent_identity) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Index d = Index(1 + seed % 4), M = Index(1 + seed % 6);
    const Matrix<quad> K = gaussian<quad>(M, d, seed);
    const Matrix<quad> X = quad(1.5) * gaussian<quad>(20, d, seed + 100);
    const Matrix<quad> L = gaussian<quad>(d, d, seed + 200);
    const auto g = Metric<quad>::full(
        L * L.transpose() + Matrix<quad>::Identity(d, d));
    const quad beta = quad(double(1 + seed % 8)) / 4, T = 1 / beta;
    const Matrix<quad> Y = hopfield_update(X, K, beta, g);
    const Matrix<quad> step = Y - X, low = g.lower(step);
    const Vector<quad> fall = hopfield_energy(X, K, beta, g) -
                              hopfield_energy(Y, K, beta, g);
    const Vector<quad> D = kl(attn::gibbs(scores(X, K, g), T),
                              attn::gibbs(scores(Y, K, g), T));
    for (Index i = 0; i < X.rows(); ++i) {
      const quad half = step.row(i).dot(low.row(i)) / 2;
      verify(distance(fall(i), half + T * D(i)), 1e-30 * (1 + to_double(half)));
    }
  }
}

// check update and gradient
BOOST_AUTO_TEST_CASE(update_is_attention) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 5), M = Index(seed % 7);
    const Matrix<quad> K = gaussian<quad>(M, d, seed);
    const Matrix<quad> X = gaussian<quad>(Index(seed % 4), d, seed + 50);
    const quad beta = quad(double(seed)) / 5;
    const Matrix<quad> O =
        attention(X, K, K, Metric<quad>::scaled(d, beta)).O;
    const Matrix<quad> Y = hopfield_update(X, K, beta);
    BOOST_TEST((Y.rows() == X.rows() && Y.cols() == d));
    if (Y.size() > 0) verify(distance(Y, O), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(metric_changes_coordinates) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 4), M = Index(1 + seed % 6);
    const Matrix<quad> K = gaussian<quad>(M, d, seed);
    const Matrix<quad> X = gaussian<quad>(3, d, seed + 50);
    Matrix<quad> L = gaussian<quad>(d, d, seed + 90);
    for (Index a = 0; a < d; ++a) {
      L(a, a) = quad(3 + double(a));
      for (Index b = 0; b < a; ++b) L(b, a) = quad(0);
    }
    const auto g = Metric<quad>::from_factor(L);
    const quad beta = quad(double(1 + seed % 8)) / 8;
    const Matrix<quad> XL = times(X, L), KL = times(K, L);
    verify(distance(times(hopfield_update(X, K, beta, g), L),
                    hopfield_update(XL, KL, beta)), 1e-30);
    verify(distance(hopfield_energy(X, K, beta, g),
                    hopfield_energy(XL, KL, beta)), 1e-30);
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
    const Matrix<quad> K = gaussian<quad>(5, d, seed);
    const Matrix<quad> x = gaussian<quad>(1, d, seed + 50);
    const Matrix<quad> v = gaussian<quad>(1, d, seed + 90);
    const Vector<quad> diagonal =
        uniform<quad>(d, 1, seed, "g").array() + quad(2);
    const auto g = Metric<quad>::diagonal(diagonal);
    const quad beta = quad(double(seed)) / 3;
    std::vector<Dual<quad>> dual;
    for (Index a = 0; a < d; ++a)
      dual.push_back(Dual<quad>(x(a), v(a)));
    const Dual<quad> E = literal_energy(dual, K, diagonal, beta);
    verify(distance(value(E), hopfield_energy(x, K, beta, g)(0)), 1e-30);
    const Matrix<quad> step = x - hopfield_update(x, K, beta, g);
    verify(distance(E.d, g.lower(step).row(0).dot(v.row(0))), 1e-30);
  }
}
BOOST_AUTO_TEST_SUITE_END()
