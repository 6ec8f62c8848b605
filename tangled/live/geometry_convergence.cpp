// live/geometry_convergence.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include "port.hpp"
using namespace attn;

// hold weights by two scores
static Vector<double> held(double s, double t) {
  return gibbs(RowVector<double>{{s, t, 0}}).transpose();
}
extern "C" int live_grasp(const double* x, double* y) {
  live::Out out{y};
  const double top = x[1] / std::sqrt(0.75), left = x[0] - top / 2;
  const Vector<double> p =
      Vector<double>{{left, top, 1 - left - top}}.cwiseMax(0.004);
  out(std::log(p(0) / p(2))), out(std::log(p(1) / p(2)));
  return out.count;
}

// follow a descent in the triangle
static void descent(const Matrix<double>& k, const Vector<double>& p,
                    Steps how, live::Out& out) {
  const Index most = 40;
  const auto loss = fit_query(k, p, how, 1e-6, most).loss;
  out(double(loss.size() - 1));
  for (Index n = 0; n <= most; ++n) {
    const Vector<double> q = fit_query(k, p, how, 1e-6, n).at;
    const RowVector<double> A = gibbs(RowVector<double>((k * q).transpose()));
    out(A(0) + A(1) / 2), out(A(1) * std::sqrt(0.75));
    out(loss[std::min(std::size_t(n), loss.size() - 1)]);
  }
}
extern "C" int live_descent(const double* x, double* y) {
  live::Out out{y};
  const Vector<double> p = held(x[0], x[1]);
  const Matrix<double> k{{1, 0}, {0, 1 / x[2]}, {-1, -1 / x[2]}};
  out(p), out(p(0) + p(1) / 2), out(p(1) * std::sqrt(0.75));
  for (const Steps how : {Steps::natural, Steps::plain})
    descent(k, p, how, out);
  return out.count;
}
