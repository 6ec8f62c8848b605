// tests/variants.hpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <utility>
#include <vector>
#include "attn/mask.hpp"

namespace variants {
using namespace attn;
inline constexpr double inf = HUGE_VAL, nan = NAN;
inline const std::vector<std::pair<Index, Index>> extents{
    {5, 5}, {4, 7}, {7, 4}, {1, 6}, {6, 1}, {1, 1}};

// list masks of every kind
/// Masks of every kind on n x m, empty rows among them.
inline std::vector<Mask> zoo(Index n, Index m) {
  std::vector<Index> q, k;
  for (Index i = 0; i < n; ++i) q.push_back(i / 2);
  for (Index j = 0; j < m; ++j) k.push_back((j + 1) / 3);
  const Mask prime = where(n, m, [](Index i, Index j) {
    return (i * 5 + j * 3) % 7 < 3;
  });
  return {everything(n, m), causal(n, m), causal(n, m, 0),
          window(n, m, 1, 0), window(n, m, 1, 2, 0),
          padding(n, m, n / 2, m - m / 3), strided(n, m, 3),
          segments(q, k), random_tiles(n, m, 2, 1, 5), prime,
          window(n, m, 1, 1) | global_tokens(n, m, 1),
          causal(n, m) & (!segments(q, k)), !everything(n, m)};
}
}  // namespace variants
