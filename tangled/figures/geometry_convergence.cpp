// figures/geometry_convergence.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include "attn/random.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "kappa,natural,step,loss\n";
  for (const int kappa : {1, 3, 10}) {
    Matrix<double> k = gaussian<double>(12, 4, 3);
    const Matrix<double> s = (k * gaussian<double>(4, 1, 103)).transpose();
    const Vector<double> p = gibbs(s).transpose();
    for (Index a = 0; a < 4; ++a) k.col(a) *= std::pow(kappa, -double(a) / 3);
    for (const Steps how : {Steps::natural, Steps::plain}) {
      const auto loss = fit_query(k, p, how, 1e-12, 60000).loss;
      double shown = 0;
      for (std::size_t i = 1; i < loss.size(); ++i)
        if (double(i) >= 1.1 * shown || i + 1 == loss.size()) {
          shown = double(i);
          std::cout << kappa << ',' << (how == Steps::natural) << ','
                    << i << ',' << std::max(loss[i], 1e-16) << '\n';
        }
    }
  }
}
