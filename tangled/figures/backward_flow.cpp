// figures/backward_flow.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "attn/backward.hpp"
#include "attn/random.hpp"
#include <iostream>
#include <vector>
#include "problems.hpp"
using namespace backward;

int main() {
  const double beta[4] = {0, 1, 4, 16};
  std::vector<double> plain[4], residual[4];
  const Matrix<double> X = gaussian<double>(32, 16, 1);
  for (int b = 0; b < 4; ++b) {
    plain[b] = cotangent_norms(X, beta[b], 24, false);
    residual[b] = cotangent_norms(X, beta[b], 24, true);
  }
  std::cout << "l,p0,p1,p2,p3,r0,r1,r2,r3\n";
  for (std::size_t l = 0; l <= 24; ++l) {
    std::cout << l;
    for (const auto& p : plain) std::cout << ',' << p[l] / p[0];
    for (const auto& r : residual) std::cout << ',' << r[l] / r[0];
    std::cout << '\n';
  }
}
