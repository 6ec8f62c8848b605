// figures/kernel_rank.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "attn/lowrank.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index n = 128;
  const Matrix<double> Q = gaussian<double>(n, 16, 1, "Q");
  const Matrix<double> K = gaussian<double>(n, 16, 1, "K");
  const Matrix<double> S = scores(Q, K), A = softmax(S);
  const Matrix<double> I = Matrix<double>::Identity(n, n);

  // decompose attention at four temperatures
  Matrix<double> sigma(n, 4);
  const double T[] = {0.25, 0.5, 1, 4};
  for (Index k = 0; k < 4; ++k)
    sigma.col(k) = singular_values(softmax(S / T[k]));
  const auto error = [&](const Matrix<double>& B) {
    return (B - A).norm() / A.norm();
  };
  std::cout << "r,s025,s05,s1,s4,best,landmarks,random\n";
  for (Index r = 1; r <= n; ++r) {
    std::cout << r;
    for (Index k = 0; k < 4; ++k) std::cout << ',' << sigma(r - 1, k);
    const auto least = eckart_young<double>(sigma.col(2), r);
    std::cout << ',' << least.frobenius / A.norm() << ','
              << error(nystroem_attention(Q, K, I, r)) << ','
              << error(performer(Q, K, I, gaussian<double>(r, 16, 1, "W")))
              << '\n';
  }
}
