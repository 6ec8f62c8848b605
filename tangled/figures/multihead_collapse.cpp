// figures/multihead_collapse.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "attn/heads.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "before,plain,bound,shortcut\n";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto m = xavier<double>({32, 4}, 100 * seed);
    const Matrix<double> X = gaussian<double>(16, 32, seed);
    for (int k = -12; k <= 12; ++k) {
      const double delta = std::pow(10.0, k / 4.0);
      const Matrix<double> x = delta / diameter(X) * X, y = attend(m, x);
      std::cout << delta << ',' << diameter(y) << ','
                << collapse_bound(m, delta) << ',' << diameter(x + y) << '\n';
    }
    std::cout << "nan,nan,nan,nan\n";
  }
}
