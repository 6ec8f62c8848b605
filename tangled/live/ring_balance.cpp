// live/ring_balance.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "attn/ring_cost.hpp"
#include "port.hpp"
using namespace attn;

extern "C" int live_ring(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Placement where[] = {Placement::contiguous, Placement::zigzag,
                             Placement::striped};
  const int p = int(in.whole());
  const Placement chosen = where[in.whole()];
  const double m = 16, message = in.number();
  const auto work = [&](int r, int t) {
    return causal_pairs(chosen, r, t, m) / (m * m);
  };
  const RingTime time = ring_time(p, work, message);
  out(time.total), out(time.busiest);
  for (int r = 0; r < p; ++r)
    for (int t = 0; t < p; ++t) out(work(r, t));
  return out.count;
}
