// live/gibbs_weights.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/thermodynamics.hpp"
#include "port.hpp"
using namespace attn;

extern "C" int live_weights(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const RowVector<double> s = in.matrix(1, 3);
  const double T = in.number();
  out(gibbs(s, T));
  out(gibbs_entropy(s, T)), out(expected_energy(s, T));
  out(free_energy(s, T)), out(heat_capacity(s, T));
  return out.count;
}
