// figures/bilinear_bound.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <algorithm>
#include <iostream>

#include "attn/attention.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"

int main() {
  using namespace attn;
  std::cout << "n,small,medium,large\n";
  for (Index n = 1; n <= 512; n *= 2) {
    std::cout << n;
    for (const float size : {0.3f, 1.0f, 3.0f}) {
      double worst = 0;
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        // measure one layer against its bound
        const Matrix<float> Q = size * gaussian<float>(4, 16, seed, "Q");
        const Matrix<float> K = size * gaussian<float>(n, 16, seed, "K");
        const Matrix<float> V = gaussian<float>(n, 8, seed, "V");
        const Matrix<double> truth =
            attention(lift<double>(Q), lift<double>(K), lift<double>(V)).O;
        const Matrix<double> error =
            (lift<double>(attention(Q, K, V).O) - truth).cwiseAbs();
        worst = std::max(
            worst, error.cwiseQuotient(attention_bound(Q, K, V).O).maxCoeff());
      }
      std::cout << ',' << worst;
    }
    std::cout << '\n';
  }
}
