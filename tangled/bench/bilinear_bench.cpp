// bench/bilinear_bench.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <string>

#include <benchmark/benchmark.h>

#include "attn/attention.hpp"
#include "attn/random.hpp"

namespace {
// time lowering and scoring
using attn::Metric, attn::Matrix, attn::Vector, attn::gaussian;
constexpr attn::Index n = 512, d = 512, r = 8;

Metric<double> metric_of(const std::string& kind) {
  const Vector<double> D = Vector<double>::Constant(d, 0.5);
  const Matrix<double> U = gaussian<double>(r, d, 1);
  if (kind == "scaled") return Metric<double>::scaled(d);
  if (kind == "diagonal") return Metric<double>::diagonal(D);
  const auto g = Metric<double>::low_rank(D, U);
  return kind == "full" ? Metric<double>::full(g.dense()) : g;
}
void time_one(benchmark::State& state, bool score, const std::string& kind) {
  const auto g = metric_of(kind);
  const auto Q = gaussian<double>(n, d, 2), K = gaussian<double>(n, d, 3);
  for (auto _ : state)
    benchmark::DoNotOptimize(score ? attn::scores(Q, K, g) : g.lower(K));
  state.counters["n"] = double(n);
  state.counters["d"] = double(d);
  state.counters["r"] = double(r);
}
[[maybe_unused]] const bool registered = [] {
  for (const std::string kind : {"scaled", "diagonal", "low_rank", "full"})
    for (const bool score : {false, true})
      benchmark::RegisterBenchmark(
          ("bilinear/" + std::string(score ? "scores/" : "lower/") + kind)
              .c_str(),
          [=](benchmark::State& s) { time_one(s, score, kind); });
  return true;
}();
}  // namespace
