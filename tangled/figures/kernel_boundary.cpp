// figures/kernel_boundary.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/regression.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index n = 300;
  const Matrix<double> K = (uniform<double>(n, 1, 1, "K").array() + 1) / 2;
  const auto m = [](double x) { return 8 * std::pow(x - 0.5, 3); };
  Matrix<double> V = 0.15 * gaussian<double>(n, 1, 1, "V");
  for (Index j = 0; j < n; ++j) V(j) += m(K(j));
  std::cout << "k,v,x,truth,mean,line\n";
  for (Index i = 0; i < n; ++i) {
    const double x = double(i) / double(n - 1);
    const Matrix<double> q{{x}};
    const auto fit = nadaraya_watson(q, K, V, 0.08);
    std::cout << K(i) << ',' << V(i) << ',' << x << ',' << m(x) << ','
              << fit.O(0) << ',' << local_linear(fit.A, q, K, V)(0) << '\n';
  }
}
