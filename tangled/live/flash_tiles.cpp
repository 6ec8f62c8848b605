// live/flash_tiles.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "attn/online.hpp"
#include "attn/random.hpp"
#include "port.hpp"
using namespace attn;

// show a state
static void show(const Online<double>& state, live::Out& out) {
  out(state.m), out(state.l), out(state.output()(0)), out(state.logZ());
}
extern "C" int live_online(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Index n = 12, seed = in.whole(), block = in.whole();
  const Index last = std::min(n, in.whole() * block);
  const RowVector<double> s = in.number() * gaussian<double>(1, n, seed, "s");
  const Matrix<double> V = uniform<double>(n, 1, seed, "V");
  const Index from = std::max<Index>(0, last - block);
  const auto before = block_state<double>(s, V, 0, from);
  const auto tile = block_state<double>(s, V, from, last - from);
  const auto now = merge(before, tile);
  show(before, out), show(tile, out), show(now, out);
  out(decay(before.m, now.m)), out(decay(tile.m, now.m));
  show(online_row(s, V, block), out);
  out(s), out(V), out(gibbs(s));
  for (Index j = 0; j < n; ++j) out(j < last ? decay(s(j), now.m) : 0);
  return out.count;
}
