// bench/flash_shared.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "flash_peak.hpp"

// lend the kernel to other languages
/// Forward if dO is null, else backward; H heads of n x d, contiguous.
/// 0, or 1 if it threw.
extern "C" int flash_heads(Index H, Index n, Index d, int causal,
                            const float* Q, const float* K, const float* V,
                            float* O, float* L, const float* dO, float* dQ,
                            float* dK, float* dV) try {
  // view the arrays of another language
  std::vector<FlashHead<float>> heads;
  std::vector<FlashCotangent<float>> bars;
  const Eigen::OuterStride<> step(d);
  FlashRule<float> rule;
  if (causal) rule.right = 0;
  for (Index h = 0; h < H; ++h) {
    const Index at = h * n * d;
    heads.push_back({{Q + at, n, d, step}, {K + at, n, d, step},
                     {V + at, n, d, step}, {O + at, n, d, step},
                     L + h * n, rule});
    if (dO)
      bars.push_back({{dO + at, n, d, step}, nullptr, {dQ + at, n, d, step},
                      {dK + at, n, d, step}, {dV + at, n, d, step}});
  }
  if (dO) flash_backward<float>(heads, bars);
  else flash_forward<float>(heads);
  return 0;
} catch (...) {
  return 1;  // nothing may leave a function of C by throwing
}
extern "C" double flash_peak() { return peak<float>(); }
