// bench/hopfield_bench.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/attention.hpp"
#include "attn/hopfield.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
#include <map>
using namespace attn;

// probe a memory of real size
static const Matrix<float>& memory(Index M, Index d) {
  static std::map<std::pair<Index, Index>, Matrix<float>> made;
  auto& K = made[{M, d}];
  if (K.size() == 0) K = gaussian<float>(M, d, 1, "K");
  return K;
}
static void probe(benchmark::State& state, double most, float T) {
  const Matrix<float>& K = memory(Index(most), state.range(0));
  const Matrix<float> Q = K.topRows(64);
  double kept = 0;
  for (auto _ : state) {
    const Matrix<float> A = gibbs(Q * K.transpose(), T);
    kept = 0;
    for (Index i = 0; i < 64; ++i) kept += A(i, i) > 0.5f;
  }
  state.counters["kept"] = kept / 64;
  state.counters["patterns"] = double(K.rows());
}
static void head(benchmark::State& state) {
  const double d = double(state.range(0));
  probe(state, std::exp(head_log_capacity(d)), float(std::sqrt(d)));
}
static void quarter(benchmark::State& state) {
  const double d = double(state.range(0));
  probe(state, std::exp(head_log_capacity(d)) / 4, float(std::sqrt(d)));
}
static void cold(benchmark::State& state) {
  probe(state, std::exp(double(state.range(0)) / 2), 1);
}

BENCHMARK(head)->Name("hopfield/head")->Arg(64)->Arg(144);
BENCHMARK(quarter)->Name("hopfield/quarter")->Arg(64)->Arg(144);
BENCHMARK(cold)->Name("hopfield/cold")->Arg(16)->Arg(24);
