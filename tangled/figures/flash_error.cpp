// figures/flash_error.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "attn/online.hpp"
#include "attn/random.hpp"
#include <array>
#include <iostream>
using namespace attn;

// halve a row until it is short
Online<float> tree(const RowVector<float>& s, const Matrix<float>& V,
                   Index first, Index n) {
  if (n <= 16) return block_state(s, V, first, n);
  return merge(tree(s, V, first, n / 2), tree(s, V, first + n / 2, n - n / 2));
}

int main() {
  std::cout << "n,naive,online,blocks,tree\n";
  for (const Index n : {64, 256, 1024, 4096, 16384, 65536}) {
    const Index rows = std::max<Index>(4, std::min<Index>(200, 400000 / n));
    std::array<double, 4> sum{};
    for (Index i = 0; i < rows; ++i)

      // add the errors of one row
      {
        const auto seed = std::uint64_t(1000 * n + i);
        const RowVector<float> s = gaussian<float>(1, n, seed);
        const Matrix<float> V = gaussian<float>(n, 1, seed + 500).array() + 1;
        const auto truth = online_row<double>(s.cast<double>(), V.cast<double>(), 64);
        const std::array<Online<float>, 4> x{
            online_row(s, V, n), online_row(s, V, 1), online_row(s, V, 64),
            tree(s, V, 0, n)};
        for (std::size_t k = 0; k < 4; ++k)
          sum[k] += std::abs(double(x[k].output()(0)) - truth.output()(0));
      }
    std::cout << n;
    for (const double x : sum) std::cout << ',' << x * 0x1p24 / double(rows);
    std::cout << '\n';
  }
}
