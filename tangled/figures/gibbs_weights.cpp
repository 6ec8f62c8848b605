// figures/gibbs_weights.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/gibbs.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "T,a1,a2,a3\n";
  for (int k = 0; k <= 150; ++k) {
    const double T = std::pow(10.0, -1 + 2.5 * k / 150);
    const Matrix<double> A = gibbs(RowVector<double>{{2, 1, 0}}, T);
    std::cout << T << ',' << A(0) << ',' << A(1) << ',' << A(2) << '\n';
  }
}
