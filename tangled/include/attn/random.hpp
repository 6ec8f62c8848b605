// include/attn/random.hpp: tangled from chapters/90-equations.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "attn/argument.hpp"
#include "attn/tensor.hpp"

namespace attn {
namespace detail {
// fill a matrix with random numbers
using Bits = std::mt19937_64;

inline double unit_interval(Bits& bits) {
  return double(bits() >> 11) * 0x1p-53;
}

template <class S, class Draw>
Matrix<S> random_matrix(Index n, Index d, std::uint64_t seed, Draw draw) {
  Bits bits(seed);
  Matrix<S> m(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      if constexpr (requires { S::random(bits()); })
        m(i, j) = S::random(bits());
      else
        m(i, j) = static_cast<S>(draw(bits));
  return m;
}
}  // namespace detail

// draw Gaussian and uniform matrices
/// Matrix of independent standard normal numbers, drawn in double and
/// converted; uniformly random elements if S is a finite field.
/// Shapes: n x d.  Throws std::invalid_argument if n or d is negative.
template <class S>
Matrix<S> gaussian(Index n, Index d, std::uint64_t seed) {
  require(n >= 0 && d >= 0, "gaussian: extents ", n, "x", d);
  return detail::random_matrix<S>(n, d, seed, [](detail::Bits& bits) {
    const double radius =
        std::sqrt(-2 * std::log(1 - detail::unit_interval(bits)));
    return radius *
           std::cos(2 * std::numbers::pi * detail::unit_interval(bits));
  });
}
/// Matrix of independent numbers uniform in [-1, 1), drawn like gaussian.
/// Shapes: n x d.  Throws std::invalid_argument if n or d is negative.
template <class S>
Matrix<S> uniform(Index n, Index d, std::uint64_t seed) {
  require(n >= 0 && d >= 0, "uniform: extents ", n, "x", d);
  return detail::random_matrix<S>(n, d, seed, [](detail::Bits& bits) {
    return 2 * detail::unit_interval(bits) - 1;
  });
}

// shuffle the first integers
/// Uniformly random order of 0, ..., n-1 (Fisher and Yates).
/// Throws std::invalid_argument if n is negative.
inline std::vector<Index> permutation(Index n, std::uint64_t seed) {
  require(n >= 0, "permutation: n is ", n);
  detail::Bits bits(seed);
  std::vector<Index> p(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t j = bits() % (i + 1);
    p[i] = p[j];
    p[j] = Index(i);
  }
  return p;
}
}  // namespace attn
