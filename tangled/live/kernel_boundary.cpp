// live/kernel_boundary.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/regression.hpp"
#include "port.hpp"
using namespace attn;

// measure a cubic with noise
struct Measured {
  Matrix<double> K, V;
  static double truth(double x) { return 8 * std::pow(x - 0.5, 3); }
  explicit Measured(double noise)
      : K((uniform<double>(150, 1, 1, "K").array() + 1) / 2),
        V(noise * gaussian<double>(150, 1, 1, "V")) {
    for (Index j = 0; j < K.rows(); ++j) V(j) += truth(K(j));
  }
};
extern "C" int live_regression(const double* x, double* y) {
  live::Out out{y};
  const double h = x[0];
  const Measured data(x[1]);
  const auto& [K, V] = data;
  const auto g = Metric<double>::scaled(1, 1 / (h * h));
  const Matrix<double> others = leave_one_out(gaussian_scores(K, K, g), V);
  out((others - V).squaredNorm() / double(K.rows()));
  const Vector<double> at = Vector<double>::LinSpaced(101, 0, 1);
  const auto fit = nadaraya_watson(at, K, V, h);
  const Matrix<double> line = local_linear(fit.A, at, K, V);
  for (Index i = 0; i < at.size(); ++i)
    out(Measured::truth(at(i))), out(fit.O(i)), out(line(i));
  out(K), out(V);
  return out.count;
}
