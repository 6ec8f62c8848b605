// tests/flash_builds.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "flash_case.hpp"

namespace attn {
// draw a case wider than two groups
template <class T>
void check_wide(std::uint64_t seed) {
  const Index n = 2 * detail::lanes<T> + 5, m = n + 150, d = 64, e = 80;
  Case<T> c{gaussian<T>(n, d, seed),     gaussian<T>(m, d, seed + 1),
            gaussian<T>(m, e, seed + 2), Matrix<T>::Zero(n, m),
            gaussian<T>(n, e, seed + 4), gaussian<T>(n, 1, seed + 5),
            Matrix<bool>()};
  for (c.plain.groups = 1; c.plain.groups <= 2; ++c.plain.groups) {
    check_forward(c);
    check_backward(c);
    c.plain.right = 0;
  }
}

// measure the exponential of a build
template <class T>
double units_of(T x) {
  const long double truth = std::exp2((long double)x);
  int e = 0;
  std::frexp(truth, &e);
  return double(std::abs(attn::exp2(x) - truth) *
                std::ldexp(1.0L, std::numeric_limits<T>::digits - e));
}
inline void check_exp2_of_build() {
  double single = 0, twice = 0;
  const auto last = std::bit_cast<std::uint32_t>(1.0f);
  for (auto bits = std::bit_cast<std::uint32_t>(0x1p-25f); bits < last;
       bits += 101) {
    const float x = -std::bit_cast<float>(bits);
    single = std::max(single, units_of(x));
    twice = std::max(twice, units_of(double(x) * (1 - 0x1p-30)));
  }
  verify(single, 1.3);
  verify(twice, 1.3);
}
inline void check_build(std::uint64_t seed) {
  for (std::uint64_t k = seed; k < seed + 40; ++k) {
    check_forward(random_case<double>(k));
    check_forward(random_case<float>(k));
    check_backward(random_case<double>(k));
    check_backward(random_case<float>(k));
  }
  check_wide<double>(seed);
  check_wide<float>(seed);
}
}  // namespace attn
