// examples/one_layer.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
// One layer with grouped heads, rotations and a window: a prompt is read
// in one piece, then rows one at a time, from a cache that forgets.
#include "attn/layer.hpp"
#include "attn/random.hpp"
#include <iostream>

int main() {
  using namespace attn;
  Layer<double> layer{xavier<double>({32, 4, 2}, 1)};  // D, H, G
  layer.rotary = Rotary<double>{frequencies<double>(8), Pairs::halves};
  layer.rules.mask = window(unlimited, unlimited, 9, 0);
  const auto X = gaussian<double>(40, 32, 1, "X");
  const auto whole = layer_forward(layer, X).Y;
  auto cache = empty_cache(layer);
  double off = 0;
  for (Index i = 0, rows = 20; i < 40; i += rows, rows = 1) {
    const auto Y = decode(layer, X.middleRows(i, rows), cache);
    off = std::max(off, (Y - whole.middleRows(i, rows)).norm());
  }
  std::cout << "the cache holds " << cache.first() << " to "
            << cache.end() - 1 << "; largest difference " << off << '\n';
  return off < 1e-13 ? 0 : 1;
}
