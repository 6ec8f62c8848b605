// figures/bilinear_entropy.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <cmath>
#include <iostream>

#include "attn/random.hpp"
#include "attn/softmax.hpp"

int main() {
  using namespace attn;
  std::cout << "n,s05,s1,s2,s4,t05,t1,t2,logn\n";
  for (Index n = 4; n <= 65536; n *= 2) {
    const double N = double(n);
    std::cout << n;
    for (const double sigma : {0.5, 1.0, 2.0, 4.0}) {
      const Matrix<double> S =
          sigma * gaussian<double>(std::max<Index>(8, (1 << 18) / n), n, 5);
      const auto [A, logZ] = weigh(S);
      const double H =
          (logZ - A.cwiseProduct(S).rowwise().sum()).mean();
      std::cout << ',' << std::log(N) - H;
    }
    for (const double v : {0.25, 1.0, 4.0})
      std::cout << ',' << v / 2 - ((v - 0.5) * std::exp(v) + 0.5) / N;
    std::cout << ',' << std::log(N) << '\n';
  }
}
