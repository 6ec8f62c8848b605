// tests/lattice.hpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#pragma once
#include "attn/regression.hpp"

namespace attn {
// measure bias and variance on a lattice
/// Keys at the centres of s^d cells that fill [-3, 3]^d.
inline Matrix<double> lattice(Index s, Index d) {
  Index n = 1;
  for (Index a = 0; a < d; ++a) n *= s;
  Matrix<double> K(n, d);
  for (Index j = 0; j < n; ++j)
    for (Index a = 0, rest = j; a < d; ++a, rest /= s)
      K(j, a) = 6 * (double(rest % s) + 0.5) / double(s) - 3;
  return K;
}
/// Squared bias and variance per sigma^2 at 0 for m = sin(sum x + 1).
struct Risk {
  double bias, variance;
};
inline Risk risk(const Matrix<double>& K, double h) {
  const Matrix<double> q = Matrix<double>::Zero(1, K.cols());
  const Matrix<double> m = (K.rowwise().sum().array() + 1).sin();
  const auto fit = nadaraya_watson(q, K, m, h);
  return {fit.O(0) - std::sin(1.0), fit.A.squaredNorm()};
}
}  // namespace attn
