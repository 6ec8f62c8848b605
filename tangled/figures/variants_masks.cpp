// figures/variants_masks.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "attn/mask.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index n = 24;
  const Mask w = window(n, n, 2, 2), g = global_tokens(n, n, 2);
  std::vector<Index> document;
  for (Index i = 0; i < n; ++i) document.push_back(i < 7 ? 0 : i < 17 ? 1 : 2);
  const Mask bird = w | g | random_tiles(n, n, 2, 2, 4);
  const Mask masks[] = {causal(n, n), causal(n, n) & window(n, n, 4, 0),
                        strided(n, n, 4), w | g,
                        segments(document, document) & causal(n, n),
                        padding(n, n, 20, 16), bird, bird & causal(n, n)};
  std::cout << "panel,i,j\n";
  for (int p = 0; p < 8; ++p)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (masks[p].allows(i, j))
          std::cout << p << ',' << i << ',' << j << '\n';
}
