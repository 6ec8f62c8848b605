// figures/variants_entmax.cpp: tangled from chapters/06a-weights-checks.nw; edit that file, not this one.
#include "attn/sparsemax.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "t,g1,g2,g3,e1,e2,e3,s1,s2,s3\n";
  for (int k = 0; k <= 240; ++k) {
    const double t = -3 + k / 40.0;
    const RowVector<double> s{{t, 0, -0.5}};
    std::cout << t;
    for (const double alpha : {1.0, 1.5, 2.0}) {
      const Matrix<double> p = entmax(s, alpha);
      for (Index j = 0; j < 3; ++j) std::cout << ',' << p(j);
    }
    std::cout << '\n';
  }
}
