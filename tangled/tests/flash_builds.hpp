// tests/flash_builds.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "flash_case.hpp"

namespace attn {
inline void check_build(std::uint64_t seed) {
  for (std::uint64_t k = seed; k < seed + 40; ++k) {
    check_forward(random_case<double>(k));
    check_forward(random_case<float>(k));
    check_backward(random_case<double>(k));
    check_backward(random_case<float>(k));
  }
}
}  // namespace attn
