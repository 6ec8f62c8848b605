// figures/hopfield_threshold.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "memories.hpp"
#include <iostream>
using namespace attn;

// find the load that half survive
/// Smallest load at which f(K), averaged over networks, falls below 1/2.
template <class F>
double half_load(Index d, double from, F f) {
  const std::uint64_t networks = d < 200 ? 24 : 12;
  for (double alpha = from;; alpha *= 1.04) {
    double mean = 0;
    for (std::uint64_t seed = 1; seed <= networks; ++seed)
      mean += f(signs(Index(std::lround(alpha * double(d))), d, seed));
    if (mean < 0.5 * double(networks)) return alpha;
  }
}
/// Load at which (1 - p)^d = 1/2, p the exact error of one neuron.
double half_fixed(Index d) {
  Index M = 2;
  while (double(d) * std::log1p(-hebb_bit_error(d, M)) > -std::log(2.0)) ++M;
  return double(M) / double(d);
}

int main() {
  std::cout << "d,fixed,kept,theory,exact\n";
  for (const Index d : {64, 128, 256, 512, 1024}) {
    const double fixed = half_load(d, 0.05, stable_fraction);
    const double kept = half_load(d, 0.13, [](const Matrix<double>& K) {
      return double((settled_overlaps(K, 6).array() > 0.9).count()) / 6;
    });
    std::cout << d << ',' << fixed << ',' << kept << ','
              << hebb_capacity(d) / double(d) << ',' << half_fixed(d)
              << '\n';
  }
}
