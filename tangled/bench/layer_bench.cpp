// bench/layer_bench.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
// quick: --benchmark_repetitions=3
#include "attn/layer.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
#include <array>
#include <ctime>
#include <map>
#include <string>
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

// time heads that lie side by side
struct SideBySide {
  Index n, H;
  bool same = false;
  Matrix<float> Q, K, V, O, dO, dQ, dK, dV;
  Vector<float> logZ;
  SideBySide(Index rows, Index heads)
      : n(rows), H(heads), Q(gaussian<float>(n, 64 * H, 1, "Q")),
        K(gaussian<float>(n, 64 * H, 1, "K")),
        V(gaussian<float>(n, 64 * H, 1, "V")), O(V),
        dO(gaussian<float>(n, 64 * H, 1, "dO")), dQ(Q), dK(K), dV(V),
        logZ(H * n) {}

  // pass through heads that lie side by side
  void pass(bool stacked, bool back) {
    using namespace detail;
    Heads<float> x{cut(view_in<float>(Q), H), cut(view_in<float>(K), H),
                   cut(view_in<float>(V), H), cut(view_out(O), H)};
    HeadBars<float> y{cut(view_in<float>(dO), H), cut(view_out(dQ), H),
                      cut(view_out(dK), H), cut(view_out(dV), H)};
    if (stacked && back) y.stack(x);
    if (stacked && !back) x.stack();

    // show the kernel heads that were laid out
    std::vector<FlashHead<float>> heads;
    std::vector<FlashCotangent<float>> bars;
    for (Index h = 0; h < H; ++h)
      heads.push_back(x(h, &logZ(h * n), {})), bars.push_back(y(h));
    if (!back) return flash_forward<float>(heads);
    flash_backward<float>(heads, bars);
    y.put_back();
  }
};
static bool same_bits(SideBySide& x) {
  x.pass(false, false), x.pass(false, true);
  const SideBySide columns = x;
  x.O.setZero(), x.dQ.setZero(), x.dK.setZero(), x.dV.setZero();
  x.logZ.setZero();
  x.pass(true, false), x.pass(true, true);
  return x.O == columns.O && x.logZ == columns.logZ && x.dQ == columns.dQ &&
         x.dK == columns.dK && x.dV == columns.dV;
}
static void side_by_side(benchmark::State& state, Index n, Index heads,
                         bool back) {
  static std::map<std::pair<Index, Index>, SideBySide> all;
  const auto [at, added] =
      all.try_emplace(std::pair(n, heads), n, heads);
  SideBySide& x = at->second;
  if (added) x.same = same_bits(x);
  if (!x.same) return state.SkipWithError("other bits");
  std::array<double, 2> ms{};
  for (auto _ : state)
    for (const bool stacked : {false, true}) {
      const double start = thread_seconds();
      x.pass(stacked, back);
      ms[stacked] += 1e3 * (thread_seconds() - start);
    }
  using benchmark::Counter;
  state.counters["columns"] = Counter(ms[0], Counter::kAvgIterations);
  state.counters["stacks"] = Counter(ms[1], Counter::kAvgIterations);
  state.counters["times"] = ms[0] / ms[1];
}
static const bool registered = [] {
  for (const auto& [n, heads] : {std::pair<Index, Index>(256, 12),
                                 {512, 12}, {2048, 12}, {1024, 32}})
    for (const bool back : {false, true})
      benchmark::RegisterBenchmark(
          ("heads/" + std::string(back ? "back/" : "there/") +
           std::to_string(n) + "x" + std::to_string(heads)).c_str(),
          side_by_side, n, heads, back);
  return true;
}();
