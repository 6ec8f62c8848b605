// figures/einsum_speed.cpp: tangled from chapters/90-equations-checks.nw; edit that file, not this one.
#include <chrono>
#include <cstdio>

#include "attn/einsum.hpp"
#include "attn/random.hpp"
using namespace attn;

// take the fastest of many runs
template <class F>
double microseconds(const F& f) {
  using clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    const auto start = clock::now();
    int runs = 0;
    std::chrono::duration<double, std::micro> spent{};
    do f(), ++runs, spent = clock::now() - start;
    while (spent.count() < 500);
    best = std::min(best, spent.count() / runs);
  }
  return best;
}
int main() {
  std::printf("n,eq,eigen\n");
  for (Index n = 2; n <= 512; n *= 2) {
    // time one size both ways
    const Tensor<double, up, up> Q = gaussian<double>(n, 64, 1);
    const Tensor<double, up, dn> K = gaussian<double>(n, 64, 2);
    Tensor<double, up, up> S(n, n);
    const double a = microseconds(
        [&] { eq_into<"S^{ij} = Q^{ia} K^j{}_a">(S, Q, K); });
    const double b = microseconds(
        [&] { S.mat().noalias() = Q.mat() * K.mat().transpose(); });
    std::printf("%td,%g,%g\n", n, a, b);
  }
}
