// figures/hopfield_potts.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/hopfield.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Matrix<double> K = Matrix<double>::Identity(3, 3);
  const Matrix<double> mean = Matrix<double>::Constant(1, 3, 1 / 3.0);
  std::cout << "w,hot,critical,cold,beta\n";
  for (int k = 0; k <= 120; ++k) {
    const double w = 0.2 + 0.0066 * k;
    const Matrix<double> x{{w, (1 - w) / 2, (1 - w) / 2}};
    std::cout << w;
    for (const double beta : {2.65, 4 * std::log(2.0), 2.9})
      std::cout << ',' << hopfield_energy(x, K, beta)(0) -
                              hopfield_energy(mean, K, beta)(0);
    std::cout << ',' << std::log(2 * w / (1 - w)) / (w - (1 - w) / 2)
              << '\n';
  }
}
