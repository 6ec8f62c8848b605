// bench/variants_bench.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "attn/modifiers.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
using namespace attn;

static void run(benchmark::State& state, const Mask& mask) {
  const Index n = mask.n_q();
  const VariantParts<float> x{gaussian<float>(n, 64, 1),
                              gaussian<float>(n, 64, 2),
                              gaussian<float>(n, 64, 3)};
  for (auto _ : state)
    benchmark::DoNotOptimize(variant_in_tiles(x, {mask}, 64).O.sum());
}
static void all(benchmark::State& s) { run(s, everything(1024, 1024)); }
static void past(benchmark::State& s) { run(s, causal(1024, 1024)); }
static void near(benchmark::State& s) { run(s, window(1024, 1024, 127, 0)); }
BENCHMARK(all)->Name("variants/everything");
BENCHMARK(past)->Name("variants/causal");
BENCHMARK(near)->Name("variants/window");
