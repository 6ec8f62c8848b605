// figures/kernel_quality.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "quality.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "m,p4,p16,p64,w4,w16\n";
  const Layer a(256, 4), b(256, 16), c(256, 64);
  for (Index m = 8; m <= 4096; m *= 2)
    std::cout << m << ',' << a.positive(m) << ',' << b.positive(m) << ','
              << c.positive(m) << ',' << a.waves(m) << ',' << b.waves(m)
              << '\n';
}
