// figures/kernel_rate.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "lattice.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "d,nu,measured,theory\n";
  for (const Index d : {1, 2, 3})
    for (int k = 0; k < 8; ++k) {
      const double D = double(d), b = D * std::sin(1.0);
      const double grow = d == 1 ? 2 : d == 2 ? 1.35 : 1.16;
      const Index s = Index(24 * std::pow(grow, k));
      const double nu = std::pow(double(s) / 6, D);
      const double c = 0.04 / nu / std::pow(2 * std::sqrt(M_PI), D);
      const double h = std::pow(D * c / (b * b), 1 / (D + 4));
      const Risk r = risk(lattice(s, d), h);
      std::cout << d << ',' << nu << ','
                << r.bias * r.bias + 0.04 * r.variance << ','
                << (0.25 + 1 / D) * b * b * std::pow(h, 4) << '\n';
    }
}
