// live/gibbs_simplex.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/thermodynamics.hpp"
#include "port.hpp"
#include <Eigen/Cholesky>
using namespace attn;

// place weights in a triangle
using Point = Eigen::Vector2d;
const double height = std::sqrt(0.75);
const Eigen::Matrix<double, 2, 3> corners{{0, 1, 0.5}, {0, 0, height}};

inline Point place(const RowVector<double>& p) {
  return corners * p.transpose();
}
/// The ellipse of the covariance of a one-hot draw, at angle t.
inline Point ellipse(const RowVector<double>& p, double t) {
  const Eigen::Matrix2d cov =
      corners * softmax_jacobian(p) * corners.transpose();
  const Eigen::Matrix2d L = cov.llt().matrixL();
  return place(p) + 0.25 * (L * Point(std::cos(t), std::sin(t)));
}
/// The point in direction t from A at which KL(q || A) equals level.
inline Point level_point(const RowVector<double>& A, double t, double level) {
  const double y = std::sin(t) / height, x = std::cos(t) - y / 2;
  const RowVector<double> d{{-x - y, x, y}};
  double low = 0, high = 2;
  for (int k = 0; k < 50; ++k) {
    const double r = (low + high) / 2;
    const RowVector<double> q = A + r * d;
    (q.minCoeff() < 0 || kl(q, A)(0) > level ? high : low) = r;
  }
  const RowVector<double> q = A + low * d;
  return kl(q, A)(0) > 0.999 * level ? place(q) : Point::Constant(NAN);
}

extern "C" int live_simplex(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const RowVector<double> s = in.matrix(1, 3);
  const RowVector<double> A = gibbs(s, in.number());
  out(A), out(place(A));
  for (int k = 0; k <= 90; ++k) {
    const double beta = 9 * std::pow(k / 90.0, 2), t = k * M_PI / 45;
    out(place(gibbs(beta * s))), out(ellipse(A, t));
    for (const double level : {0.02, 0.1, 0.3, 0.8})
      out(level_point(A, t, level));
  }
  return out.count;
}
