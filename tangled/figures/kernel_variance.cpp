// figures/kernel_variance.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "attn/linear.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index m = 4000;
  const double a = 1.2;
  const Matrix<double> W = gaussian<double>(m, 2, 1, "W");
  std::cout << "angle,positive,waves,positive_sample,waves_sample\n";
  for (int k = 0; k <= 36; ++k) {
    const double t = M_PI * k / 36;
    const Matrix<double> X{{a, 0}, {a * std::cos(t), a * std::sin(t)}};
    const double kappa = std::exp(X.row(0).dot(X.row(1)));
    const double plus = (X.row(0) + X.row(1)).squaredNorm();
    const double minus = (X.row(0) - X.row(1)).squaredNorm();
    const Matrix<double> F = positive_features(X, W);
    const Matrix<double> G = trigonometric_features(X, W);

    // average squared deviations over the samples
    double p = 0, w = 0;
    for (Index r = 0; r < m; ++r) {
      const double f = double(m) * F(0, r) * F(1, r) / kappa - 1;
      const double g = double(m) / kappa *
          (G(0, r) * G(1, r) + G(0, m + r) * G(1, m + r)) - 1;
      p += f * f / double(m), w += g * g / double(m);
    }
    std::cout << 5 * k << ',' << std::sqrt(std::expm1(plus)) << ','
              << std::sqrt(2.0) * std::sinh(minus / 2) << ',';
    if (k % 3) std::cout << "nan,nan\n";
    else std::cout << std::sqrt(p) << ',' << std::sqrt(w) << '\n';
  }
}
