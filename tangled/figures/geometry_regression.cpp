// figures/geometry_regression.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Index n = 11;
  Matrix<double> k(n, 1);
  Vector<double> dA(n);
  for (Index j = 0; j < n; ++j) {
    k(j, 0) = -2 + 0.4 * double(j);
    const double x = k(j, 0);
    dA(j) = 0.6 * x * x - 0.5 * x + 0.3 * std::sin(7 * x);
  }
  const RowVector<double> s = 1.2 * k.transpose();
  const Vector<double> p = gibbs(s).transpose();
  const Vector<double> even = Vector<double>::Constant(n, 1 / double(n));
  const auto line = [&](const Vector<double>& w, double x) {
    const double slope = natural_query_gradient(k, w, dA)(0);
    return w.dot(dA) + slope * (x - w.dot(k.col(0)));
  };
  std::cout << "k,dA,size,fit,even\n";
  for (Index j = 0; j < n; ++j)
    std::cout << k(j, 0) << ',' << dA(j) << ',' << 14 * std::sqrt(p(j)) << ','
              << line(p, k(j, 0)) << ',' << line(even, k(j, 0)) << '\n';
}
