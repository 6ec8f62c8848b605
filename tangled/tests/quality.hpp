// tests/quality.hpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#pragma once
#include "attn/attention.hpp"
#include "attn/lowrank.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <cstdint>
#include <map>
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
  std::uint64_t seed;
  Matrix<double> Q, K, V, O;
  Layer(Index n, Index d, double T = 1, std::uint64_t number = 1)
      : seed(number), Q(gaussian<double>(n, d, seed, "Q") / std::sqrt(T)),
        K(gaussian<double>(n, d, seed, "K") / std::sqrt(T)),
        V(gaussian<double>(n, d, seed, "V")), O(attention(Q, K, V).O) {}

  // measure the error of one approximation
  double positive(Index m) const {
    const Matrix<double> W = gaussian<double>(m, Q.cols(), seed, "W");
    return relative(performer(Q, K, V, W), O);
  }
  double orthogonal(Index m) const {
    const Matrix<double> W =
        orthogonal_directions<double>(m, Q.cols(), seed);
    return relative(performer(Q, K, V, W), O);
  }
  double elu() const {
    return relative(
        linear_attention(elu_features(Q), elu_features(K), V), O);
  }
  double mean() const {
    const Matrix<double> same = V.colwise().mean().replicate(O.rows(), 1);
    return relative(same, O);
  }
  double waves(Index m) const {
    const Matrix<double> W = gaussian<double>(m, Q.cols(), seed, "W");
    return relative(linear_attention(
        trigonometric_features(kernel_coordinates(Q), W),
        trigonometric_features(kernel_coordinates(K), W), V), O);
  }
  double landmarks(Index m) const {
    return relative(nystroem_attention(Q, K, V, m), O);
  }
};

// compare over layers
/// Layers of one kind, numbered from 1.
inline std::vector<Layer> layers(Index n, Index d, double T = 1,
                                 std::uint64_t count = 15) {
  std::vector<Layer> all;
  for (std::uint64_t k = 1; k <= count; ++k) all.emplace_back(n, d, T, k);
  return all;
}
/// What f says of each layer.
template <class F>
std::vector<double> over(const std::vector<Layer>& all, F f) {
  std::vector<double> x;
  for (const Layer& layer : all) x.push_back(f(layer));
  return x;
}
/// Distance of the quartiles, in units of the median.
inline double scatter(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[3 * x.size() / 4] - x[x.size() / 4]) / x[x.size() / 2];
}
/// In how many layers the error a is less than b.
inline Index wins(const std::vector<double>& a,
                  const std::vector<double>& b) {
  Index n = 0;
  for (std::size_t k = 0; k < a.size(); ++k) n += a[k] < b[k];
  return n;
}
}  // namespace attn
