// tests/memories.hpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#pragma once
#include "attn/hopfield.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

namespace attn {
// allow update and energy their roundings
/// Errors allowed to the update (1 x d) and the energy of one state, and
/// the largest relative error of a weight.
struct Allowed {
  Matrix<double> x;
  double E, A;
};
/// n roundings in quad.
inline double roundings(double n) { return n * 0x1p-113; }
template <class S>
Allowed allowed(const Matrix<double>& s, double big, double terms,
                double half, const Matrix<double>& K, double b) {
  const double u = unit_roundoff<S>(), M = double(K.rows());
  const double up = u / (1 - u), B = b / (1 - u);
  const double e = gamma(Index(terms), u) * big;
  const Matrix<double> A = attn::gibbs(s, 1 / b);
  const Matrix<double> X = b * (s.maxCoeff() - s.array());
  const Matrix<double> h = (up * X.array() + B * e).expm1();  // e^h - 1
  const Matrix<double> wide = X.array() / (1 - u) + 2 * B * e;  // x'_j
  const double Y = A.cwiseProduct(h).sum();  // less one
  const double mean = (1 + Y) * (A.array() * (1 + h.array()) *
                                 wide.array()).sum();

  // find what products of roundings amount to
  const double last =
      -std::log(to_double(std::numeric_limits<S>::denorm_min()));
  const double kappa =
      2 * u * (std::min(wide.maxCoeff(), last) + mean + M + 4);
  BOOST_REQUIRE(kappa < 1);
  const double v = u / (1 - kappa);

  // multiply what weights are off by
  const double g = gamma(K.rows(), u), all = Y + g + Y * g;
  const Matrix<double> w = v * (2 * wide.array() + 2 * mean + M + 6);
  Matrix<double> r = h.array() + w.array() + h.array() * w.array();
  r = ((1 + all) * r.array() + all).matrix().eval();

  // bound the energy of a state
  const double L = -std::log(A.maxCoeff());
  const double y =
      std::log1p((A.array() * (up * X.array()).expm1()).sum());
  const double most = L + y + 2 * B * e, off = v * (2 * mean + 2 * most + M);
  const double T = (1 + u) / b, TL = T * (most + off);
  const double F = std::abs(s.maxCoeff()) + e + (1 + u) * TL;
  const double square = gamma(Index(terms) + 2, u) * half;
  const double E = e + (T * y + u * L / b) + T * off + u * TL + u * F +
                   square + u * ((1 + u) * F + half + square);
  return {A.cwiseProduct(r) * K.cwiseAbs(), E, r.maxCoeff()};
}
template <class S>
Allowed allowed(const Matrix<double>& x, const Matrix<double>& K, double b) {
  const double d = double(K.cols());
  const double big =
      (x.cwiseAbs() * K.cwiseAbs().transpose()).maxCoeff();
  return allowed<S>(x * K.transpose(), big, d, x.squaredNorm() / 2, K, b);
}
inline Allowed allowed(const Matrix<quad>& x, const Matrix<quad>& K,
                       const Metric<quad>& g, const Matrix<double>& G,
                       const quad& beta) {
  const Matrix<double> a = lift<double>(x).cwiseAbs();
  const Matrix<double> k = lift<double>(K);
  const double big = (a * G * k.cwiseAbs().transpose()).maxCoeff();
  return allowed<quad>(lift<double>(scores(x, K, g)), big,
                       double(3 * K.cols() + 2),
                       (a * G * a.transpose())(0) / 2, k, to_double(beta));
}
/// Errors of the energy of one state, and of its update, in quad.
inline double energy_error(const Matrix<quad>& x, const Matrix<quad>& K,
                           const quad& beta) {
  return allowed<quad>(lift<double>(x), lift<double>(K),
                       to_double(beta)).E;
}
inline double update_error(const Matrix<quad>& x, const Matrix<quad>& K,
                           const quad& beta) {
  return allowed<quad>(lift<double>(x), lift<double>(K),
                       to_double(beta)).x.norm();
}

// draw patterns and count the stable
/// M patterns of d fair coins.
inline Matrix<double> signs(Index M, Index d, std::uint64_t seed,
                            std::string_view name = "signs") {
  return uniform<double>(M, d, seed, name).unaryExpr(
      [](double x) { return x < 0 ? -1.0 : 1.0; });
}

/// Fraction of the patterns that are exact fixed points.
inline double stable_fraction(const Matrix<double>& K) {
  const Matrix<double> h = K * hebb_sums(K);
  Index stable = 0;
  for (Index j = 0; j < K.rows(); ++j)
    stable += (h.row(j).cwiseProduct(K.row(j)).array() >= 0).all();
  return double(stable) / double(K.rows());
}
/// Overlaps with the first patterns after settling from them.
inline Vector<double> settled_overlaps(const Matrix<double>& K,
                                       Index tries) {
  const Matrix<double> W = hebb_sums(K);
  Vector<double> m(tries);
  for (Index j = 0; j < tries; ++j) {
    const Vector<double> k = K.row(j).transpose();
    m(j) = settle(W, k, std::uint64_t(j + 1), 30).x.dot(k);
  }
  return m / double(K.cols());
}

// compute where the memory breaks
/// The load alpha at which eq. replica has the solution y > 0.
inline double replica_load(double y) {
  const double root = std::erf(y) / y -
                      2 / std::sqrt(std::numbers::pi) * std::exp(-y * y);
  return root * root / 2;
}

// draw odds against retrieval
/// One draw of the odds: M - 1 normal scores of variance r2, drawn as a
/// stream, so that any M can be afforded; only scores below `most` count.
inline double draw_odds(double M, double r2, double beta,
                        std::uint64_t seed, double most = HUGE_VAL) {
  auto bits = detail::stream(seed, "odds");
  std::normal_distribution<double> normal(0, std::sqrt(r2));
  double odds = 0;
  for (double j = 1; j < M; ++j)
    if (const double h = normal(bits); h < most)
      odds += std::exp(beta * (h - r2));
  return odds;
}

// measure the diameter of a memory
/// Square of the largest distance between two rows.
template <class S>
S square_diameter(const Matrix<S>& K) {
  S most(0);
  for (Index i = 0; i < K.rows(); ++i)
    for (Index j = 0; j < i; ++j)
      most = std::max(most, S((K.row(i) - K.row(j)).squaredNorm()));
  return most;
}
}  // namespace attn
