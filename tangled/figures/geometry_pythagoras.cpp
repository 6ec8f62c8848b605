// figures/geometry_pythagoras.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
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

static const Vector<double> keys{{-1.0, 0.4, 1.0}};
static Vector<double> weights(double q) {
  return gibbs(RowVector<double>(q * keys.transpose())).transpose();
}
int main() {
  // a change of weights that moves neither their sum nor the mean key
  const Vector<double> u{{keys(2) - keys(1), keys(0) - keys(2),
                          keys(1) - keys(0)}};
  std::cout << "what,x,y,X,Y\n";

  // print the curve of the queries
  for (int k = -90; k <= 90; ++k) {
    std::cout << 0;
    place(weights(k / 10.0));
    std::cout << '\n';
  }

  // print the lines of one mean key
  for (const double q : {-3.0, -1.4, -0.6, 0.0, 0.6, 1.4, 3.0}) {
    const Vector<double> A = weights(q);
    const double high = -A(1) / u(1);
    const double low = -std::min(A(0) / u(0), A(2) / u(2));
    for (int k = 0; k <= 40; ++k) {
      const double t = low + (high - low) * k / 40.0;
      std::cout << 1;
      place((A + t * u).cwiseMax(0.0));
      std::cout << '\n';
    }
    std::cout << "1,nan,nan,nan,nan\n";
  }

  // print a point, its projection and another query
  const Vector<double> nearest = weights(-0.6);
  for (const Vector<double>& p :
       {Vector<double>(nearest - 0.1 * u), nearest, weights(1.4)}) {
    std::cout << 2;
    place(p);
    std::cout << '\n';
  }
}
