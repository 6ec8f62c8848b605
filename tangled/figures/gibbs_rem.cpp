// figures/gibbs_rem.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "printed.hpp"
#include <iostream>

int main() {
  std::cout << "f,n16,n256,n4096,n65536\n";
  for (int k = 0; k <= 40; ++k) {
    std::cout << k / 20.0;
    for (const int n : {16, 256, 4096, 65536}) {
      const double log_n = std::log(n);
      const double sigma = k / 20.0 * std::sqrt(2 * log_n);
      std::cout << ',' << gibbs::many_keys(log_n, sigma).H / log_n;
    }
    std::cout << '\n';
  }
}
