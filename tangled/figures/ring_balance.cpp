// figures/ring_balance.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "attn/shards.hpp"
#include <iostream>
using namespace attn;

int main() {
  const int p = 8;
  const Index m = 16;
  std::cout << "step,rank,contiguous,zigzag,striped\n";
  for (int r = 0; r < p; ++r)
    for (int t = 0; t < p; ++t) {
      std::cout << t << ',' << r;
      for (const Shards& x : {contiguous(p * m, p), zigzag(p * m, p),
                              striped(p * m, p)})
        std::cout << ',' << double(count_pairs(causal_rule<double>(), x, x, r,
                                         (r - t + p) % p)) / double(m * m);
      std::cout << '\n';
    }
}
