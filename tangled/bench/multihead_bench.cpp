// bench/multihead_bench.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "attn/multihead.hpp"
#include <benchmark/benchmark.h>
using namespace attn;

const auto many = xavier<double>({256, 8}, 1);
const auto shared = xavier<double>({256, 8, 1}, 1);
const Matrix<double> X = gaussian<double>(256, 256, 12);

// time the two forms of a projection
static void fused(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(project<double>(X, many.W_Q, many.b_Q));
}
BENCHMARK(fused)->Name("multihead/fused");

static void per_head(benchmark::State& state) {
  const auto w = regroup<dn, up, up>(Tensor<double, dn, up>(many.W_Q),
                                     {256, 8, 32});
  for (auto _ : state)
    benchmark::DoNotOptimize(
        eq<"Q^{i(h)a} = X^{im} W_m{}^{(h)a}">(  // eq:none
            view<up, up>(X), w));
}
BENCHMARK(per_head)->Name("multihead/per_head");

// time the passes of all heads
static void forward(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(attend(many, X));
}
BENCHMARK(forward)->Name("multihead/forward");

static void multi_query(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(attend(shared, X));
}
BENCHMARK(multi_query)->Name("multihead/multi_query");

static void backward(benchmark::State& state) {
  const auto t = multihead_forward(many, X, X);
  for (auto _ : state)
    benchmark::DoNotOptimize(multihead_vjp(many, X, t, X));
}
BENCHMARK(backward)->Name("multihead/backward");
