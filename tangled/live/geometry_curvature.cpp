// live/geometry_curvature.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include "port.hpp"
using namespace attn;

extern "C" int live_curvature(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const QueryMetric<double> G{in.matrix(5, 2)};
  const double q2 = in.number(), range = in.number();
  const Index pixels = in.whole();
  for (Index i = 0; i < pixels; ++i) {
    const double q1 = range * (2 * double(i) / double(pixels - 1) - 1);
    const double K = gauss_curvature(G, Vector<double>{{q1, q2}});
    out(K), out(K / (std::abs(K) + 0.25));
  }
  return out.count;
}
