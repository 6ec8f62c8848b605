// figures/multihead_spectrum.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "attn/multihead.hpp"
#include <Eigen/Eigenvalues>
#include <iostream>
using namespace attn;

int main() {
  auto m = xavier<double>({64, 4}, 1);
  const auto spectrum = [&] {
    const Matrix<double> M = implicit_form(m, 0);
    const Eigen::MatrixXd sym = (M + M.transpose()) / 2;
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(sym).eigenvalues()
        .eval();
  };
  const auto untied = spectrum();
  m.W_K = m.W_Q;
  const auto tied = spectrum();
  std::cout << "k,untied,tied\n";
  for (Index k = 0; k < 64; ++k)
    std::cout << k + 1 << ',' << untied(k) << ',' << tied(k) << '\n';
}
