// live/bilinear_metrics.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <Eigen/LU>
#include "attn/attention.hpp"
#include "port.hpp"
using namespace attn;

// turn half axes into a metric
static Metric<double> ruler(double a, double b, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const Matrix<double> u{{c / a, s / a}}, v{{-s / b, c / b}};
  return Metric<double>::full(u.transpose() * u + v.transpose() * v);
}
extern "C" int live_ruler(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Matrix<double> q = in.matrix(1, 2), keys = in.matrix(6, 2);
  const double a = in.number(), b = in.number();
  const auto g = ruler(a, b, in.number());
  const Matrix<double> S = scores(q, keys, g), low = g.lower(q);
  out(S), out(softmax(S)), out(g.dense()), out(low);
  out(std::sqrt(scores(q, q, g)(0, 0)));
  const Matrix<double> back = cholesky(g.dense()).inverse();
  for (int t = 0; t <= 90; ++t) {
    const double angle = t * M_PI / 45;
    out(Matrix<double>{{std::cos(angle), std::sin(angle)}} * back);
  }
  return out.count;
}
