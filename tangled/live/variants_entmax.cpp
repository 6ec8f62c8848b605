// live/variants_entmax.cpp: tangled from chapters/06a-weights-checks.nw; edit that file, not this one.
#include "attn/sparsemax.hpp"
#include "port.hpp"
using namespace attn;

extern "C" int live_entmax(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const double t = in.number(), alpha = in.number();
  const Matrix<double> p = entmax(RowVector<double>{{t, 0, -0.5}}, alpha);
  out(p), out(double((p.array() > 0).count()));
  out(tsallis_entropy(p, alpha));
  return out.count;
}
