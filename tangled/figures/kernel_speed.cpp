// figures/kernel_speed.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "attn/attention.hpp"
#include "attn/linear.hpp"
#include <chrono>
#include <iostream>
using namespace attn;

// take the fastest of several runs
template <class F>
double fastest(const F& f) {
  using clock = std::chrono::steady_clock;
  double best = 1e30;
  volatile float sink = 0;
  for (int round = 0; round < 5; ++round) {
    const auto start = clock::now();
    int runs = 0;
    double spent = 0;
    do {
      sink = f();
      ++runs;
      spent = std::chrono::duration<double, std::micro>(clock::now() - start)
                  .count();
    } while (spent < 2000);
    best = std::min(best, spent / runs);
  }
  (void)sink;
  return best;
}

int main() {
  std::cout << "n,exact,linear,causal,token\n";
  for (Index n = 16; n <= 4096; n *= 2) {
    const Matrix<float> Q = gaussian<float>(n, 64, 1, "Q");
    const Matrix<float> K = gaussian<float>(n, 64, 1, "K");
    const Matrix<float> V = gaussian<float>(n, 64, 1, "V");

    // time four ways at one length
    const auto F = [&] { return elu_features(Q); };
    const auto P = [&] { return elu_features(K); };
    std::cout << n << ','
              << fastest([&] { return attention(Q, K, V).O.sum(); }) << ','
              << fastest([&] { return linear_attention(F(), P(), V).sum(); })
              << ',' << fastest([&] {
                   return causal_linear_attention(F(), P(), V).sum();
                 }) << ',' << fastest([&] {
                   return recurrence(F(), P(), append_ones(V),
                                     additive<float>(n)).O.sum();
                 }) << '\n';
  }
}
