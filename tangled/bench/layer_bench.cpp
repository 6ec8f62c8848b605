// bench/layer_bench.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#include "attn/layer.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
#include <ctime>
using namespace attn;

// make a layer of twelve heads
static Layer<float> twelve_heads(bool by_definition) {
  Layer<float> L{xavier<float>({768, 12}, 1)};
  L.rules.mask = causal(unlimited, unlimited);
  L.rules.by_definition = by_definition;
  L.rotary = Rotary<float>{frequencies<double>(64), Pairs::halves};
  return L;
}

// time a layer
static double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
template <class F>
void measure(benchmark::State& state, F f) {
  double seconds = 0;
  for (auto _ : state) {
    const double start = thread_seconds();
    benchmark::DoNotOptimize(f());
    seconds += thread_seconds() - start;
  }
  state.counters["ms"] =
      benchmark::Counter(1e3 * seconds, benchmark::Counter::kAvgIterations);
}
static bool near(const Matrix<float>& a, const Matrix<float>& b) {
  return ((a - b).cwiseAbs().array() < 1e-3f * b.cwiseAbs().maxCoeff())
      .all();
}
static const Matrix<float>& output_by_definition() {
  static const Matrix<float> Y =
      layer_forward(twelve_heads(true), gaussian<float>(2048, 768, 1, "X")).Y;
  return Y;
}
static void forward(benchmark::State& state, bool by_definition) {
  const auto L = twelve_heads(by_definition);
  const auto X = gaussian<float>(2048, 768, 1, "X");
  if (!near(layer_forward(L, X).Y, output_by_definition()))
    return state.SkipWithError("wrong output");
  measure(state, [&] { return layer_forward(L, X).Y.sum(); });
}
static void gradient(benchmark::State& state, bool by_definition) {
  const auto L = twelve_heads(by_definition);
  const auto X = gaussian<float>(2048, 768, 1, "X");
  const auto dY = gaussian<float>(2048, 768, 1, "dY");
  const auto t = layer_forward(L, X);
  const auto M = twelve_heads(!by_definition);
  if (!near(layer_vjp(L, X, t, dY).X, layer_vjp(M, X, t, dY).X))
    return state.SkipWithError("wrong gradient");
  measure(state, [&] { return layer_vjp(L, X, t, dY).X.sum(); });
}
static void decoding(benchmark::State& state) {
  const auto L = twelve_heads(false);
  const auto X = gaussian<float>(2048, 768, 1, "X");
  auto cache = empty_cache(L);
  layer_decode(L, X.topRows(2047), cache);
  if (!near(layer_decode(L, X.bottomRows(1), cache),
            output_by_definition().bottomRows(1)))
    return state.SkipWithError("wrong output");
  measure(state, [&] { return layer_decode(L, X.topRows(1), cache).sum(); });
}
BENCHMARK_CAPTURE(forward, kernel, false)->Name("layer/kernel/forward/2048");
BENCHMARK_CAPTURE(gradient, kernel, false)
    ->Name("layer/kernel/gradient/2048");
BENCHMARK_CAPTURE(forward, definition, true)
    ->Name("layer/definition/forward/2048");
BENCHMARK_CAPTURE(gradient, definition, true)
    ->Name("layer/definition/gradient/2048");
BENCHMARK(decoding)->Name("layer/kernel/decode/2048");
