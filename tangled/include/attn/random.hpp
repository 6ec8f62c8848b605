// include/attn/random.hpp: tangled from chapters/90-equations.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string_view>
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
Matrix<S> random_matrix(Index n, Index d, Bits bits, Draw draw) {
  Matrix<S> m(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      if constexpr (requires { S::random(bits()); })
        m(i, j) = S::random(bits());
      else
        m(i, j) = static_cast<S>(draw(bits));
  return m;
}

// find the stream of a seed and a name
constexpr std::uint64_t hashed(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : name)
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}
inline Bits stream(std::uint64_t seed, std::string_view name) {
  if (name.empty()) return Bits(seed);
  std::uint64_t z = hashed(name) + 0x9e3779b97f4a7c15 * seed;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return Bits(z ^ (z >> 31));
}

// put each number at a random place
template <class Below>
std::vector<Index> shuffled(Index n, const Below& below) {
  std::vector<Index> p(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t j = below(i + 1);
    p[i] = p[j];
    p[j] = Index(i);
  }
  return p;
}
}  // namespace detail

// draw Gaussian and uniform matrices
/// Matrix of independent standard normal numbers, drawn in double and
/// converted; uniformly random elements if S is a finite field.
/// A name gives the draw a stream of its own under the same seed.
/// Shapes: n x d.  Throws std::invalid_argument if n or d is negative.
template <class S>
Matrix<S> gaussian(Index n, Index d, std::uint64_t seed,
                   std::string_view name = {}) {
  require(n >= 0 && d >= 0, "gaussian: extents ", n, "x", d);
  const auto draw = [](detail::Bits& bits) {
    const double u = detail::unit_interval(bits);
    const double turn = detail::unit_interval(bits);
    return std::sqrt(-2 * std::log(1 - u)) *
           std::cos(2 * std::numbers::pi * turn);
  };
  return detail::random_matrix<S>(n, d, detail::stream(seed, name), draw);
}
/// Matrix of independent numbers uniform in [-1, 1), drawn like gaussian.
/// A name gives the draw a stream of its own under the same seed.
/// Shapes: n x d.  Throws std::invalid_argument if n or d is negative.
template <class S>
Matrix<S> uniform(Index n, Index d, std::uint64_t seed,
                  std::string_view name = {}) {
  require(n >= 0 && d >= 0, "uniform: extents ", n, "x", d);
  const auto draw = [](detail::Bits& bits) {
    return 2 * detail::unit_interval(bits) - 1;
  };
  return detail::random_matrix<S>(n, d, detail::stream(seed, name), draw);
}

// shuffle the first integers
/// Uniformly random order of 0, ..., n-1 (Fisher and Yates), from the
/// stream of seed and name.  Throws std::invalid_argument if n is negative.
inline std::vector<Index> permutation(Index n, std::uint64_t seed,
                                      std::string_view name = {}) {
  require(n >= 0, "permutation: n is ", n);
  detail::Bits bits = detail::stream(seed, name);
  return detail::shuffled(
      n, [&](std::size_t k) { return std::size_t(bits() % k); });
}
}  // namespace attn
