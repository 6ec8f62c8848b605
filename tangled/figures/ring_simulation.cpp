// figures/ring_simulation.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "attn/ring_cost.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Network net{5e-6, 5e10};
  const double F = 4e14, H = 32, d = 256, s = 2;
  std::cout << "p,own,shared,contiguous,short\n";
  for (int p = 1; p <= 1024; p *= 2) {
    const auto share = [&](double n, double H_k, bool contiguous) {
      const double m = n / p, tile = 2 * m * m * H * d / F;
      const auto work = [&](int r, int t) {
        if (!contiguous || t == 0) return tile / 2;
        return t <= r ? tile : 0.0;
      };
      const double message = net.seconds(s * m * H_k * d);
      return p * tile / 2 / ring_time(p, work, message).total;
    };
    std::cout << p << ',' << share(1e7, 32, false) << ','
              << share(1e7, 8, false) << ',' << share(1e7, 8, true) << ','
              << share(1e6, 8, false) << '\n';
  }
}
