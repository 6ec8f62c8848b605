// tests/memories.hpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#pragma once
#include "attn/hopfield.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace attn {
// draw patterns and count the stable
/// M patterns of d fair coins.
inline Matrix<double> signs(Index M, Index d, std::uint64_t seed) {
  return uniform<double>(M, d, seed).unaryExpr(
      [](double x) { return x < 0 ? -1.0 : 1.0; });
}

/// Fraction of the patterns that are exact fixed points.
inline double stable_fraction(const Matrix<double>& K) {
  const Matrix<double> h = K * hebb(K);
  Index stable = 0;
  for (Index j = 0; j < K.rows(); ++j)
    stable += (h.row(j).cwiseProduct(K.row(j)).array() >= 0).all();
  return double(stable) / double(K.rows());
}
/// Overlaps with the first patterns after settling from them.
inline Vector<double> settled_overlaps(const Matrix<double>& K,
                                       Index tries) {
  const Matrix<double> W = hebb(K);
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
/// stream, so that any M can be afforded.
inline double draw_odds(double M, double r2, double beta,
                        std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal(0, std::sqrt(r2));
  double odds = 0;
  for (double j = 1; j < M; ++j)
    odds += std::exp(beta * (normal(bits) - r2));
  return odds;
}

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
