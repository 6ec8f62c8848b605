// figures/geometry_invariance.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include <cmath>
#include <iostream>

int main() {
  const double p = 0.2, slope = 2 * (p - 0.9), f = 1 / (p * (1 - p));
  const auto logit = [&](double step) {
    return 1 / (1 + (1 - p) / p * std::exp(step)) - p;
  };
  std::cout << "eta,natural,plain\n";
  for (double e = -4; e <= 0.01; e += 0.125) {
    const double eta = std::pow(10, e);
    const double n = -eta * slope / f, g = -eta * slope;
    std::cout << eta << ',' << std::abs((n - logit(eta * slope)) / n) << ','
              << std::abs((g - logit(eta * slope / f)) / g) << '\n';
  }
}
