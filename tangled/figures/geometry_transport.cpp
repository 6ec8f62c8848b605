// figures/geometry_transport.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "zoo.hpp"
#include <iostream>
using namespace geometry;

template <class G>
void carry(const G& g, double radius, double drawn, int which) {
  const auto circle = [=](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    return Vector<S>{{S(radius), t}};
  };
  Vector<double> w{{0.55, 0}};  // outwards
  for (int k = 0; k <= 16; ++k) {
    const double t = 2 * M_PI * k / 16, next = 2 * M_PI * (k + 1) / 16;
    const Matrix<double> m = g(Vector<double>{{radius, t}});
    const double out = w(0), along = w(1) * std::sqrt(m(1, 1));
    std::cout << which << ',' << k << ',' << drawn * std::cos(t) << ','
              << drawn * std::sin(t) << ','
              << out * std::cos(t) - along * std::sin(t) << ','
              << out * std::sin(t) + along * std::cos(t) << '\n';
    w = parallel_transport(g, circle, w, t, next, 50);
  }
}
int main() {
  std::cout << "which,k,x,y,u,v\n";
  carry(polar, 1, 1, 0);
  carry(sphere(1), 1, 2 * std::tan(0.5), 1);
}
