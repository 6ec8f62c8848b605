// figures/geometry_curvature.cpp: tangled from chapters/03-geometry.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include <iostream>
using namespace attn;

int main() {
  Matrix<double> five(5, 2), six{{1, 0}, {0, 1}, {-1, 0.5},
                                 {0.3, -1}, {2, 1}, {-0.5, -0.5}};
  for (Index j = 0; j < 5; ++j)
    five.row(j) << std::cos(0.4 * M_PI * double(j)),
        std::sin(0.4 * M_PI * double(j));
  const auto squeezed = [](const Matrix<double>& k, const Vector<double>& q) {
    const double K = gauss_curvature(QueryMetric<double>{k}, q);
    return K / (std::abs(K) + 0.25);
  };
  std::cout << "x,y,five,six\n";
  for (int j = 0; j <= 60; ++j)
    for (int i = 0; i <= 60; ++i) {
      const Vector<double> q{{-6 + 0.2 * i, -6 + 0.2 * j}};
      std::cout << q(0) << ',' << q(1) << ',' << squeezed(five, q) << ','
                << squeezed(six, q) << '\n';
    }
}
