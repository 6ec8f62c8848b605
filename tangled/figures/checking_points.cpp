// figures/checking_points.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "attn/field.hpp"
#include <array>
#include <cmath>
#include <iostream>
#include <random>
using namespace attn;

// count how often a false identity survives
template <int Q>
void survive() {
  using F = Mersenne<Q>;
  std::mt19937_64 generator(Q);
  std::array<double, 7> cubic{}, sign{};
  const int trials = 1000000;
  for (int t = 0; t < trials; ++t) {
    const auto draw = [&] { return F::random(generator()); };

    // let both identities survive as long as they can
    for (std::size_t N = 1; N <= 6; ++N) {
      const F x = draw();
      if ((x - F(1)) * (x - F(2)) * (x - F(3)) != F(0)) break;
      ++cubic[N];
    }
    for (std::size_t N = 1; N <= 6; ++N) {
      const F x = draw(), y = draw();
      if ((x + y) * (x - y) != x * x + y * y) break;
      ++sign[N];
    }
  }
  const double p = double(F::modulus);
  const auto shown = [&](double c) { return c < 5 ? NAN : c / trials; };
  for (std::size_t N = 1; N <= 6; ++N)
    std::cout << p << ',' << N << ',' << shown(cubic[N]) << ','
              << std::pow(3 / p, N) << ',' << shown(sign[N]) << ','
              << std::pow(2 / p, N) << '\n';
}

int main() {
  std::cout << "p,N,cubic,cubicbound,sign,signbound\n";
  survive<3>();
  survive<5>();
  survive<7>();
}
