// figures/kernel_quality.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "quality.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "m,p4,p16,p64,w4,w16\n";
  const auto a = layers(256, 4, 1, 7), b = layers(256, 16, 1, 7),
             c = layers(256, 64, 1, 7);
  for (Index m = 8; m <= 4096; m *= 2) {
    const auto positive = [m](const Layer& x) { return x.positive(m); };
    const auto waves = [m](const Layer& x) { return x.waves(m); };
    std::cout << m << ',' << median(over(a, positive)) << ','
              << median(over(b, positive)) << ','
              << median(over(c, positive)) << ',' << median(over(a, waves))
              << ',' << median(over(b, waves)) << '\n';
  }
}
