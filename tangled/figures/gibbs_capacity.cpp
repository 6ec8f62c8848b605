// figures/gibbs_capacity.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/thermodynamics.hpp"
#include <iostream>
using namespace attn;

int main() {
  Matrix<double> s = Matrix<double>::Constant(4, 65, -HUGE_VAL);
  s.row(0).head(2) << 1, 0;
  s.row(1).head(3) << 2, 1, 0;
  s.row(2) << 1, RowVector<double>::Zero(64);
  s.row(3).head(64) = gaussian<double>(1, 64, 7).row(0);
  const double keys[] = {2, 3, 65, 64};
  std::cout << "T,two,three,one,normal\n";
  for (int k = 0; k <= 200; ++k) {
    const double T = std::pow(10.0, -1.5 + 3.0 * k / 200);
    const Vector<double> C = heat_capacity(s, T);
    std::cout << T;
    for (Index i = 0; i < 4; ++i) std::cout << ',' << C(i) / std::log(keys[i]);
    std::cout << '\n';
  }
}
