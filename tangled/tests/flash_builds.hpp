// tests/flash_builds.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "flash_case.hpp"

namespace attn {
// draw a case wider than two groups
template <class T>
void check_wide(std::uint64_t seed) {
  const Index n = 2 * lanes<T> + 5, m = n + 150, d = 64, e = 80;
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
