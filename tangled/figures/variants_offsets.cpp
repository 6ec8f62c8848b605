// figures/variants_offsets.cpp: tangled from chapters/05a-positions-checks.nw; edit that file, not this one.
#include "attn/modifiers.hpp"
#include "attn/positions.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index n = 257, d = 64;
  const Matrix<double> P = sinusoidal<double>(n, d);
  const auto m = alibi_slopes(8);
  const Buckets one(false), both;
  std::cout << "t,sin,m1,m4,m8,one,both\n";
  for (Index t = 0; t < n; ++t) {
    std::cout << t << ',' << P.row(0).dot(P.row(t)) / P.row(0).squaredNorm();
    for (const std::size_t h : {0, 3, 7})
      std::cout << ',' << std::exp(-m[h] * double(t));
    std::cout << ',' << one(-t) << ',' << both(-t) << '\n';
  }
}
