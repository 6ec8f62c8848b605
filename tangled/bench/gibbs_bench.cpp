// bench/gibbs_bench.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
using attn::Matrix;

static void run(benchmark::State& state, auto f) {
  const Matrix<float> S = attn::gaussian<float>(64, 1024, 1);
  for (auto _ : state) benchmark::DoNotOptimize(f(S).sum());
}
static void naive(benchmark::State& state) {
  run(state, [](const Matrix<float>& S) {
    Matrix<float> A = S.array().exp();
    A.array().colwise() /= A.rowwise().sum().array().eval();
    return A;
  });
}
static void rows(benchmark::State& state) {
  run(state, [](const Matrix<float>& S) { return attn::gibbs(S); });
}
static void entropies(benchmark::State& state) {
  run(state, [](const Matrix<float>& S) { return attn::gibbs_entropy(S); });
}
BENCHMARK(naive)->Name("gibbs/naive");
BENCHMARK(rows)->Name("gibbs/rows");
BENCHMARK(entropies)->Name("gibbs/entropy");
