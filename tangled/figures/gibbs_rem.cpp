// figures/gibbs_rem.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "f,n16,n256,n4096,n65536\n";
  for (int k = 0; k <= 40; ++k) {
    std::cout << k / 20.0;
    for (const auto& [n, rows] : {std::pair{16, 1000}, {256, 200},
                                  {4096, 40}, {65536, 6}}) {
      const double log_n = std::log(n);
      const Matrix<double> z = gaussian<double>(rows, n, 5);
      const double sigma = k / 20.0 * std::sqrt(2 * log_n);
      std::cout << ',' << gibbs_entropy(sigma * z).mean() / log_n;
    }
    std::cout << '\n';
  }
}
