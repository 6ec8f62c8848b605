// bench/kernel_bench.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "attn/attention.hpp"
#include "attn/linear.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
#include <chrono>

namespace {
// time exact and linear attention
using attn::Matrix, attn::Index;

struct Inputs {
  Matrix<float> Q, K, V;
  explicit Inputs(Index n)
      : Q(attn::gaussian<float>(n, 64, 1, "Q")),
        K(attn::gaussian<float>(n, 64, 1, "K")),
        V(attn::gaussian<float>(n, 64, 1, "V")) {}
};
enum class Way { exact, linear, causal, composed, token };
float attend(Way way, const Inputs& x) {
  using namespace attn;
  if (way == Way::exact) return attention(x.Q, x.K, x.V).O.sum();
  const Matrix<float> F = elu_features(x.Q), P = elu_features(x.K);
  if (way == Way::linear) return linear_attention(F, P, x.V).sum();
  if (way == Way::causal) return causal_linear_attention(F, P, x.V).sum();
  if (way == Way::composed)
    return normalise(chunked(F, P, append_ones(x.V),
                             additive<float>(x.V.rows())).O).sum();
  return normalise(recurrence(F, P, append_ones(x.V),
                              additive<float>(x.V.rows())).O).sum();
}
void timed(benchmark::State& state, Way way) {
  const Inputs x(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(attend(way, x));
}
double seconds(Way way, const Inputs& x) {
  using clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int k = 0; k < (x.Q.rows() < 256 ? 15 : 3); ++k) {
    const auto start = clock::now();
    benchmark::DoNotOptimize(attend(way, x));
    best = std::min(best, std::chrono::duration<double>(clock::now() - start)
                              .count());
  }
  return best;
}
/// Slope of log time against log n between n and 4 n.
double exponent(Way way, Index n) {
  const double a = seconds(way, Inputs(n)), b = seconds(way, Inputs(4 * n));
  return std::log2(b / a) / 2;
}
/// Length at which exact and linear attention take the same time,
/// interpolated between powers of two.
double crossover() {
  double before = 0;
  for (Index n = 16; n <= 4096; n *= 2) {
    const Inputs x(n);
    const double now =
        std::log2(seconds(Way::exact, x) / seconds(Way::linear, x));
    if (now > 0) return double(n) * std::exp2(-now / (now - before));
    before = now;
  }
  return HUGE_VAL;
}
void fit(benchmark::State& state) {
  for (auto _ : state) {
    state.counters["exact"] = exponent(Way::exact, 128);
    state.counters["linear"] = exponent(Way::linear, 512);
    state.counters["causal"] = exponent(Way::causal, 512);
    state.counters["spilled"] = exponent(Way::exact, 512);
    state.counters["crossover"] = crossover();
  }
}
const bool registered = [] {
  const auto add = [](const char* name, Way way) {
    benchmark::RegisterBenchmark(name, timed, way)
        ->Arg(64)->Arg(512)->Arg(4096);
  };
  add("kernel/exact", Way::exact);
  add("kernel/linear", Way::linear);
  add("kernel/causal", Way::causal);
  add("kernel/composed", Way::composed);
  add("kernel/token", Way::token);
  benchmark::RegisterBenchmark("kernel/fit", fit);
  return true;
}();
}  // namespace
