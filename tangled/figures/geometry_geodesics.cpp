// figures/geometry_geodesics.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include <iostream>
using namespace attn;

// draw weights in the triangle and on the octant
// columns: the place in the triangle; the stereographic image
inline void place(const Vector<double>& p) {
  const Vector<double> s = p.cwiseSqrt();
  const double height = s.sum() / std::sqrt(3.0), k = 2 / (1 + height);
  std::cout << ',' << p(0) + p(1) / 2 << ',' << p(1) * std::sqrt(0.75) << ','
            << k * (s(0) - s(2)) / std::sqrt(2.0) << ','
            << k * (2 * s(1) - s(0) - s(2)) / std::sqrt(6.0);
}

int main() {
  const Vector<double> p{{0.85, 0.10, 0.05}}, q{{0.02, 0.18, 0.80}};
  const RowVector<double> s{{2, 1, 0}};
  std::cout << "t,rx,ry,rX,rY,ex,ey,eX,eY,mx,my,mX,mY,ax,ay,aX,aY\n";
  for (int k = 0; k <= 100; ++k) {
    const double t = k / 100.0;
    std::cout << t;
    place(fisher_rao_geodesic(p, q, t));
    place(e_geodesic(p, q, t));
    place(m_geodesic(p, q, t));
    place(gibbs(s * (8 * t * t)).transpose());
    std::cout << '\n';
  }
}
