// figures/multihead_diversity.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "attn/heads.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Matrix<double> s = gaussian<double>(8 * 64, 64, 1);
  const Matrix<double> past = Matrix<double>::Constant(64, 64, -HUGE_VAL)
                                  .triangularView<Eigen::StrictlyUpper>();
  const Matrix<double> mask = past.replicate(8, 1);
  std::cout << "sigma,cos,causal_cos,js,causal_js,limit\n";
  for (int k = 1; k <= 50; ++k) {
    const double sigma = 0.1 * k;
    const Matrix<double> A = gibbs(sigma * s), B = gibbs(sigma * s + mask);
    std::cout << sigma << ',' << cosine_diversity(A, 8) << ','
              << cosine_diversity(B, 8) << ','
              << head_diversity(A, 8) / std::log(8.0) << ','
              << head_diversity(B, 8) / std::log(8.0) << ','
              << 1 - std::exp(-sigma * sigma) << '\n';
  }
}
