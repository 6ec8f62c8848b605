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
struct Road {
  Layer<float> L;
  LayerTrace<float> t;
  Matrix<float> dX;
};
static const auto X = gaussian<float>(2048, 768, 1, "X");
static const auto dY = gaussian<float>(2048, 768, 1, "dY");
static const Road& road(bool by_definition) {
  const auto go = [](bool defined) {
    Road r{twelve_heads(defined), {}, {}};
    r.t = layer_forward(r.L, X);
    r.dX = layer_vjp(r.L, X, r.t, dY).X;
    return r;
  };
  static const Road roads[]{go(false), go(true)};
  return roads[by_definition];
}
static bool near(const Matrix<float>& a, const Matrix<float>& b) {
  return ((a - b).cwiseAbs().array() < 1e-3f * b.cwiseAbs().maxCoeff())
      .all();
}
static bool roads_agree() {
  static const bool agree = near(road(false).t.Y, road(true).t.Y) &&
                            near(road(false).dX, road(true).dX);
  return agree;
}
static void forward(benchmark::State& state, bool by_definition) {
  if (!roads_agree()) return state.SkipWithError("wrong output");
  const Layer<float>& L = road(by_definition).L;
  measure(state, [&] { return layer_forward(L, X).Y.sum(); });
}
static void gradient(benchmark::State& state, bool by_definition) {
  if (!roads_agree()) return state.SkipWithError("wrong gradient");
  const Road& r = road(by_definition);
  measure(state, [&] { return layer_vjp(r.L, X, r.t, dY).X.sum(); });
}
static void decoding(benchmark::State& state) {
  const Layer<float>& L = road(false).L;
  auto cache = empty_cache(L);
  decode(L, X.topRows(2047), cache);
  if (!roads_agree() || !near(decode(L, X.bottomRows(1), cache),
                              road(true).t.Y.bottomRows(1)))
    return state.SkipWithError("wrong output");
  measure(state, [&] { return decode(L, X.topRows(1), cache).sum(); });
}
BENCHMARK_CAPTURE(forward, kernel, false)->Name("layer/kernel/forward/2048");
BENCHMARK_CAPTURE(gradient, kernel, false)
    ->Name("layer/kernel/gradient/2048");
BENCHMARK_CAPTURE(forward, definition, true)
    ->Name("layer/definition/forward/2048");
BENCHMARK_CAPTURE(gradient, definition, true)
    ->Name("layer/definition/gradient/2048");
BENCHMARK(decoding)->Name("layer/kernel/decode/2048");
