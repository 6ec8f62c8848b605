// tests/quality.hpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#pragma once
#include "attn/attention.hpp"
#include "attn/lowrank.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <string>
#include <vector>

namespace attn {
// measure the quality of features
inline double relative(const Matrix<double>& O, const Matrix<double>& truth) {
  return (O - truth).norm() / truth.norm();
}
inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}
/// Queries, keys and values of unit variance at temperature T.
struct Layer {
  Matrix<double> Q, K, V, O;
  explicit Layer(Index n, Index d, double T = 1)
      : Q(gaussian<double>(n, d, 1) / std::sqrt(T)),
        K(gaussian<double>(n, d, 2) / std::sqrt(T)),
        V(gaussian<double>(n, d, 3)), O(attention(Q, K, V).O) {}

  // take the median over draws of directions
  /// Median error over five draws of directions.
  template <class F>
  double median_error(F approximate) const {
    std::vector<double> errors;
    for (std::uint64_t seed = 10; seed < 15; ++seed)
      errors.push_back(relative(approximate(seed), O));
    return median(errors);
  }
  double positive(Index m) const {
    return median_error([&](std::uint64_t seed) {
      return performer(Q, K, V, gaussian<double>(m, Q.cols(), seed));
    });
  }
  double orthogonal(Index m) const {
    return median_error([&](std::uint64_t seed) {
      return performer(Q, K, V,
                       orthogonal_directions<double>(m, Q.cols(), seed));
    });
  }
  double mean() const {
    const Matrix<double> same = V.colwise().mean().replicate(O.rows(), 1);
    return relative(same, O);
  }

  // measure the error of waves
  double waves(Index m) const {
    return median_error([&](std::uint64_t seed) {
      const Matrix<double> W = gaussian<double>(m, Q.cols(), seed);
      return linear_attention(
          trigonometric_features(kernel_coordinates(Q), W),
          trigonometric_features(kernel_coordinates(K), W), V);
    });
  }
  double landmarks(Index m) const {
    return relative(nystroem_attention(Q, K, V, m), O);
  }
};
}  // namespace attn
