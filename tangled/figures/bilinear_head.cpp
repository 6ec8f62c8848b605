// figures/bilinear_head.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <cmath>
#include <iostream>
#include <limits>
#include <Eigen/LU>
#include "attn/attention.hpp"

using attn::Matrix, attn::Index;

// describe the smallest head
const Matrix<double> w_Q{{1}, {0.2}}, w_K{{-0.3}, {1}};
Matrix<double> level_curves() {
  Matrix<double> both(2, 2), points(161, 4);
  both << w_Q.transpose(), w_K.transpose();
  for (Index i = 0; i < 161; ++i) {
    const double s = double(i % 80) / 79 * 4 - 2;  // log |t|
    const double t = i < 80 ? std::exp(s) : i > 80 ? -std::exp(s) : NAN;
    const Matrix<double> plus{{t}, {1 / t}}, minus{{t}, {-1 / t}};
    points.row(i) << (both.inverse() * plus).transpose(),
        (both.inverse() * minus).transpose();
  }
  return points;
}
Matrix<double> weight_arrows() {
  const Matrix<double> X{{1.2, 0.3}, {-0.4, 1.1}, {-0.7, -0.9}};
  const Matrix<double> A =
      attn::softmax(attn::scores(X, X, attn::HeadForm<double>{w_Q, w_K}));
  Matrix<double> arrows(6, 5);
  Index row = 0;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) {
      if (i == j) continue;
      const double dx = X(j, 0) - X(i, 0), dy = X(j, 1) - X(i, 1);
      const double side = 0.06 / std::hypot(dx, dy);
      arrows.row(row++) << X(i, 0) + 0.12 * dx - side * dy,
          X(i, 1) + 0.12 * dy + side * dx, 0.76 * dx, 0.76 * dy, A(i, j);
    }
  return arrows;
}

int main() {
  const auto curves = level_curves();
  const auto arrows = weight_arrows();
  std::cout << "x,y,u,v,fx,fy,dx,dy,w\n";
  for (Index t = 0; t < curves.rows(); ++t) {
    for (const auto* m : {&curves, &arrows})
      for (Index c = 0; c < m->cols(); ++c)
        std::cout << (m == &arrows || c > 0 ? "," : "")
                  << (t < m->rows() ? (*m)(t, c)
                                    : std::numeric_limits<double>::quiet_NaN());
    std::cout << '\n';
  }
}
