// figures/ring_simulation.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "attn/ring_cost.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Machine f{4e14, {5e-6, 5e10}, {5e-6, 4.5e11}, 8};
  std::cout << "p";
  for (const char* n : {"short", "long"})
    for (const char* what : {"contiguous", "zigzag", "grid"})
      std::cout << ',' << n << what << ',' << n << what << "back";
  std::cout << '\n';
  for (int p = 2; p <= 4096; p *= 2) {
    std::cout << p;
    for (const double n : {1e6, 1e7})

      // print the speeds of all schemes
      {
        const LayerExtents x{n, 32, 8, 128, 2};
        for (const Placement where : {Placement::contiguous, Placement::zigzag})
          for (const bool back : {false, true})
            std::cout << ',' << grid_speed(x, f, where, p, 1, back);
        for (const bool back : {false, true})
          std::cout << ',' << grid_speed(x, f, Placement::zigzag, p,
                                         best_columns(x, f, p, back), back);
      }
    std::cout << '\n';
  }
}
