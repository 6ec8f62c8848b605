// figures/geometry_curvature.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include "zoo.hpp"
#include <iostream>
using namespace geometry;

int main() {
  const Matrix<double> five = pentagon(), six = six_keys;
  const auto squeezed = [](const Matrix<double>& k, const Vector<double>& q) {
    const double K = gauss_curvature(QueryMetric<double>{k}, q);
    return K / (std::abs(K) + 0.25);
  };

  // print a key, the last one again and again
  const auto key = [](const Matrix<double>& k, double scale, Index row) {
    const Vector<double> x =
        scale * k.row(std::min(row, k.rows() - 1)).transpose();
    std::cout << ',' << x(0) << ',' << x(1);
  };
  std::cout << "x,y,five,six,fivex,fivey,sixx,sixy\n";
  for (Index j = 0; j <= 60; ++j)
    for (Index i = 0; i <= 60; ++i) {
      const Vector<double> q{{-6 + 0.2 * double(i), -6 + 0.2 * double(j)}};
      std::cout << q(0) << ',' << q(1) << ',' << squeezed(five, q) << ','
                << squeezed(six, q);
      key(five, 3, 61 * j + i);
      key(six, 2.5, 61 * j + i);
      std::cout << '\n';
    }
}
