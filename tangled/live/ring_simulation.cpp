// live/ring_simulation.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "attn/ring_cost.hpp"
#include "port.hpp"
using namespace attn;

extern "C" int live_speed(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const LayerExtents layer{in.number(), 32, 8, 128, 2};
  const double flops = in.number(), bandwidth = in.number();
  const double alpha = in.number();
  const Machine f{flops, {alpha, bandwidth}, {alpha, 9 * bandwidth}, 8};
  for (int p = 2; p <= 512; p *= 2)
    for (const bool back : {false, true}) {
      for (const Placement w : {Placement::contiguous, Placement::zigzag})
        out(grid_speed(layer, f, w, p, 1, back));
      const int columns = p > 2 ? best_columns(layer, f, p, back) : 1;
      out(grid_speed(layer, f, Placement::zigzag, p, columns, back));
    }
  return out.count;
}
