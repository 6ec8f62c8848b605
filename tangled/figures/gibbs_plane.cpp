// figures/gibbs_plane.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/thermodynamics.hpp"
#include <iostream>
using namespace attn;

int main() {
  const RowVector<double> s{{2, 1, 0}};
  const auto point = [&](const Matrix<double>& q) {
    std::cout << -q.row(0).dot(s) << ',' << entropy(q)(0);
  };
  std::cout << "U,H,Uminus,Hminus,Uq,Hq\n";
  for (int k = 0; k <= 200; ++k) {
    const double beta = 8 * std::pow(k / 200.0, 2);
    point(gibbs(beta * s));
    std::cout << ',';
    point(gibbs(-beta * s));
    std::cout << ',';
    point(gibbs(gaussian<double>(1, 3, std::uint64_t(k)), 0.5));
    std::cout << '\n';
  }
}
