// live/variants_masks.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "attn/mask.hpp"
#include "port.hpp"
using namespace attn;

// compose a mask from choices
static Mask composed(live::In& in, Index n) {
  const Index width = in.whole(), tokens = in.whole(), stride = in.whole();
  const Index tiles = in.whole(), seed = in.whole();
  std::optional<Mask> sum;
  const auto add = [&](bool wanted, const auto& make) {
    if (wanted) sum = sum ? *sum | make() : make();
  };
  add(width >= 0, [&] { return window(n, n, width, width); });
  add(tokens > 0, [&] { return global_tokens(n, n, tokens); });
  add(stride > 0, [&] { return strided(n, n, stride); });
  add(tiles > 0, [&] {
    return random_tiles(n, n, 2, tiles, std::uint64_t(seed));
  });
  return sum ? *sum : everything(n, n);
}
static Mask restricted(Mask m, live::In& in, Index n) {
  const bool is_causal = in.whole(), documents = in.whole();
  std::vector<Index> of;
  for (Index i = 0; i < n; ++i) of.push_back(i < 7 ? 0 : i < 17 ? 1 : 2);
  if (is_causal) m = m & causal(n, n);
  if (documents) m = m & segments(of, of);
  const Index length = in.whole();
  return m & padding(n, n, length, length);
}
extern "C" int live_mask(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Index n = 24;
  const Mask sum = composed(in, n), m = restricted(sum, in, n);
  const Index tile = in.whole();
  const Census c = census(m, tile);
  out(double(count(m)));
  for (const Index of : {c.none, c.some, c.all}) out(double(of));
  out(dense(m));
  for (Index i = 0; i < n; i += tile)
    for (Index j = 0; j < n; j += tile)
      out(double(m.covers({i, i + tile, j, j + tile})));
  return out.count;
}
