// figures/hopfield_load.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "memories.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "alpha,m1024,m256,stable,replica,m\n";
  for (int k = 0; k <= 23; ++k) {
    const double alpha = 0.02 + 0.008 * k, y = 5.2 - 0.1604 * k;
    double m[2] = {0, 0}, stable = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      for (const Index d : {1024, 256}) {
        const Matrix<double> K = signs(Index(alpha * double(d)), d, seed);
        m[d == 256] += settled_overlaps(K, 5).mean() / 4;
        if (d == 1024) stable += stable_fraction(K) / 4;
      }
    std::cout << alpha << ',' << m[0] << ',' << m[1] << ',' << stable << ','
              << replica_load(y) << ',' << std::erf(y) << '\n';
  }
}
