// figures/backward_saturation.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/thermodynamics.hpp"
#include <algorithm>
#include <iostream>
#include <vector>
using namespace attn;

// take norms of Jacobians
static double norm(const RowVector<double>& s, double T) {
  return softmax_jacobian(gibbs(s, T), T).norm();
}
static double median(Index n, double T) {
  std::vector<double> x;
  for (std::uint64_t seed = 1; seed <= 41; ++seed)
    x.push_back(norm(gaussian<double>(1, n, seed).row(0), T));
  std::nth_element(x.begin(), x.begin() + 20, x.end());
  return x[20];
}
int main() {
  const RowVector<double> s{{2, 1, 0}};
  std::cout << "T,row,cold,hot,n8,n64,n256\n";
  for (int k = -26; k <= 40; ++k) {
    const double T = std::pow(10.0, k / 20.0);
    std::cout << T << ',' << norm(s, T) << ',' << 2 / T * std::exp(-1 / T)
              << ',' << std::sqrt(2.0) / 3 / T << ',' << median(8, T)
              << ',' << median(64, T) << ',' << median(256, T) << '\n';
  }
}
