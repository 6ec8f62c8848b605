// figures/variants_rotary.cpp: tangled from chapters/05a-positions-checks.nw; edit that file, not this one.
#include "attn/positions.hpp"
#include "attn/random.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index d = 8;
  const Rotary<double> R{frequencies<double>(d)};
  const Matrix<double> q = gaussian<double>(1, d, 1),
                       k = gaussian<double>(1, d, 2),
                       W = gaussian<double>(d, d, 3) / std::sqrt(8.0);
  const Matrix<double> I = Matrix<double>::Identity(d, d);
  Matrix<double> planes = I;
  for (Index a = 0; a < d; ++a) planes(a, a) = 8.0 / double(1 + a / 2);
  const auto score = [&](const Matrix<double>& before,
                         const Matrix<double>& g, Index p) {
    return (rotate<double>(q * before, R, p) * g *
            rotate<double>(k * before, R, p + 5).transpose())(0, 0);
  };
  std::cout << "p,euclid,planes,full,first\n";
  for (Index p = 0; p <= 60; ++p)
    std::cout << p << ',' << score(I, I, p) << ',' << score(I, planes, p)
              << ',' << score(I, W.transpose() * W, p) << ','
              << score(W.transpose(), I, p) << '\n';
}
