// figures/hopfield_capacity.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/hopfield.hpp"
#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

// measure when a pattern is lost
/// Patterns at which one Gaussian pattern of dimension d has lost half its
/// weight: the first M with odds of at least 1.
inline double loss(double d, double beta, std::mt19937_64& bits) {
  const double r2 = std::gamma_distribution<double>(d / 2, 2)(bits);
  std::normal_distribution<double> normal(0, std::sqrt(r2));
  double odds = 0, M = 1;
  for (; odds < 1 && M < 1e6; ++M)
    odds += std::exp(beta * (normal(bits) - r2));
  return M;
}
inline double median_loss(double d, double beta) {
  std::mt19937_64 bits{static_cast<std::uint64_t>(d)};
  std::vector<double> M(201);
  for (double& m : M) m = loss(d, beta, bits);
  std::nth_element(M.begin(), M.begin() + 100, M.end());
  return M[100];
}

int main() {
  std::cout << "d,cold,head,proved\n";
  for (const int d : {4, 8, 12, 16, 20, 25, 36, 50, 64, 81, 100, 121, 144}) {
    std::cout << d << ',';
    if (d <= 20) std::cout << median_loss(d, 1.0);
    else std::cout << "nan";
    const double proved = attn::ramsauer_guarantee(d, 1, 1, 1e-3);
    std::cout << ',' << median_loss(d, 1 / std::sqrt(double(d))) << ','
              << (proved > 0 ? proved : std::nan("")) << '\n';
  }
}
