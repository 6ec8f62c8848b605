// figures/multihead_loss.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "attn/block.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::vector<std::vector<double>> curves;
  for (const Index layers : {2, 1})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      auto m = draw_model({10, 16, 16, 1, layers, 32}, seed);
      curves.push_back(train(m, 400, [](std::mt19937_64& bits) {
        return induction(10, 16, bits);
      }, seed));
    }
  std::cout << "step,a1,a2,a3,a4,a5,b1,b2,b3,b4,b5\n";
  for (std::size_t k = 4; k + 4 < 400; k += 3) {
    std::cout << k + 1;
    for (const auto& c : curves) {
      double sum = 0;
      for (std::size_t s = k - 4; s <= k + 4; ++s) sum += c[s];
      std::cout << ',' << sum / 9;
    }
    std::cout << '\n';
  }
}
