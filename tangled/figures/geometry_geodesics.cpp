// figures/geometry_geodesics.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Vector<double> p{{0.85, 0.10, 0.05}}, q{{0.02, 0.18, 0.80}};
  const RowVector<double> s{{2, 1, 0}};
  std::cout << "t,rx,ry,ex,ey,mx,my,ax,ay\n";
  const auto corner = [](const Vector<double>& w) {
    std::cout << ',' << w(0) + w(1) / 2 << ',' << w(1) * std::sqrt(0.75);
  };
  for (int k = 0; k <= 100; ++k) {
    const double t = k / 100.0;
    std::cout << t;
    corner(fisher_rao_geodesic(p, q, t));
    corner(e_geodesic(p, q, t));
    corner(m_geodesic(p, q, t));
    corner(gibbs(s * (8 * t * t)).transpose());
    std::cout << '\n';
  }
}
