// figures/gibbs_entropy_error.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "printed.hpp"
#include <iostream>

int main() {
  std::cout << "T,ours,plain,eps\n";
  for (int k = 0; k <= 120; ++k) {
    const double T = std::pow(10.0, 1 - 3.0 * k / 120);
    const gibbs::Entropies h = gibbs::entropies(T);
    std::cout << T;
    for (const double x : {h.ours, h.plain, h.eps})
      std::cout << ',' << std::max(1e-17, std::abs(x / h.truth - 1));
    std::cout << '\n';
  }
}
