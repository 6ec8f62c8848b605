// examples/decoding.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
// Decoding with a cache: six positions are read in one piece, then one
// at a time; each query meets the last four keys only.
#include "attn/cache.hpp"
#include "attn/random.hpp"
#include <iostream>

int main() {
  using namespace attn;
  const Index n = 12, prompt = 6, d = 4, width = 4;
  const VariantParts<double> x{gaussian<double>(n, d, 1),
                               gaussian<double>(n, d, 2),
                               gaussian<double>(n, d, 3)};
  const VariantRules rules{window(n, n, width - 1, 0)};
  const auto whole = variant_forward(x, rules);
  KeyValueCache<double> cache(d, d);
  double off = 0;
  for (Index end = prompt; end <= n; ++end) {
    // decode what is new and forget
    const Index fresh = end == prompt ? prompt : 1, start = end - fresh;
    cache.append(x.K.middleRows(start, fresh), x.V.middleRows(start, fresh));
    VariantParts<double> now = x;
    now.Q = x.Q.middleRows(start, fresh);
    const Matrix<double> O = decode(now, rules, cache).O;
    off = std::max(off, (O - whole.O.middleRows(start, fresh)).norm());
    cache.forget_before(end - width);
    std::cout << "read up to " << end << ": the cache holds "
              << cache.first() << " to " << cache.end() - 1 << '\n';
  }
  std::cout << "largest difference to one piece: " << off << '\n';
  return off < 1e-14 ? 0 : 1;
}
