// figures/multihead_patterns.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "attn/block.hpp"
#include <iostream>
using namespace attn;

int main() {
  auto m = draw_model({10, 16, 16, 1, 2, 32}, 2);
  const auto make = [](std::mt19937_64& bits) {
    return induction(10, 16, bits);
  };
  train(m, 400, make, 2);
  std::mt19937_64 bits(100);
  std::vector<BlockTrace<double>> t;
  const Example e = make(bits);
  model_loss<double>(m, e, 1, nullptr, &t);
  std::cout << "i,j,first,second,answer,token\n";
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j)
      std::cout << i << ',' << j << ',' << stacked(t[0].heads.A)(i, j) << ','
                << stacked(t[1].heads.A)(i, j) << ','
                << (j < i && e.targets[std::size_t(i)] ==
                                 e.tokens[std::size_t(j)])
                << ',' << char('a' + e.tokens[std::size_t(j)]) << '\n';
}
