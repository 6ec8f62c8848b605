// figures/backward_gauge.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "attn/thermodynamics.hpp"
#include "attn/verify_gradients.hpp"
#include "attn/random.hpp"
#include <iostream>
#include "problems.hpp"
using namespace backward;

int main() {
  std::cout << "scale,gauge,textbook,fused,exponent\n";
  for (int k = -16; k <= 8; ++k) {
    ThreeWays w{std::pow(10.0, k / 2.0), 0, 0, 0, 0};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const ThreeWays t = compare_three_ways(w.scale, seed);
      w.gauge = std::max(w.gauge, t.gauge);
      w.textbook = std::max(w.textbook, t.textbook);
      w.fused = std::max(w.fused, t.fused);
      w.exponent = std::max(w.exponent, t.exponent);
    }
    std::cout << w.scale << ',' << w.gauge << ',' << w.textbook << ','
              << w.fused << ',' << std::max(w.exponent, 1.0) << '\n';
  }
}
