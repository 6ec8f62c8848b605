// figures/geometry_octant.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include <iostream>
using namespace attn;

static void point(double x, double y) {
  const Matrix<double> three{{1, 0}, {0, 1}, {-1, 0.5}};
  const Vector<double> q{{x, y}};
  const RowVector<double> p = gibbs(RowVector<double>((three * q).transpose()));
  const RowVector<double> s = 2 * p.cwiseSqrt();
  const auto side = [](double t) {  // arc length of a two-point family
    return 2 * std::atan(std::exp(t)) - M_PI / 2;
  };
  std::cout << (s(1) - s(0)) / std::sqrt(2) << ','
            << (2 * s(2) - s(0) - s(1)) / std::sqrt(6) << ','
            << side((x + y) / 2) << ',' << side((x - y) / 2) << '\n';
}
int main() {
  std::cout << "ox,oy,sx,sy\n";
  for (int line = -12; line <= 12; ++line)
    for (const bool swap : {false, true}) {
      for (double t = -12; t <= 12.01; t += 0.25)
        swap ? point(t, line) : point(line, t);
      std::cout << "nan,nan,nan,nan\n";
    }
}
