// The worked example of the README in any scalar: the first number of O, less what
// two exponentials and a division say it is.
#pragma once
#include <attn/attn.hpp>

template <class S>
double worked_example() {
  attn::Matrix<S> Q(2, 2), K(3, 2), V(3, 2);
  Q << 1, 0, 0, 1;
  K << 1, 0, 0, 1, 1, 1;
  V << 2, 0, 0, 2, 1, 1;
  const auto g = attn::Metric<S>::scaled(2);
  const double e = std::exp(std::sqrt(0.5));
  return std::abs(double(attn::attention(Q, K, V, g).O(0, 0)) - 3 * e / (2 * e + 1));
}
