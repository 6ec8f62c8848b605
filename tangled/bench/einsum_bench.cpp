// bench/einsum_bench.cpp: tangled from chapters/90-equations-checks.nw; edit that file, not this one.
#include <benchmark/benchmark.h>

#include "attn/einsum.hpp"
#include "attn/random.hpp"
using namespace attn;
namespace {
// set up a score to time
struct Problem {
  Tensor<double, up, up> Q, K;
  Tensor<double, dn, dn> g;
  Problem(Index n, bool square)
      : Q(gaussian<double>(n, square ? n : 64, 1)),
        K(gaussian<double>(n, square ? n : 64, 2)),
        g(gaussian<double>(square ? n : 64, square ? n : 64, 3)) {}
};

// time the score
template <bool square>
void score_eq(benchmark::State& state) {
  const Problem p(state.range(0), square);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(p.Q, p.g, p.K));
}
template <bool square>
void score_eigen(benchmark::State& state) {
  const Problem p(state.range(0), square);
  for (auto _ : state) {
    const Matrix<double> S = p.Q.mat() * p.g.mat() * p.K.mat().transpose();
    benchmark::DoNotOptimize(S.data());
  }
}
template <bool square>
void score_into(benchmark::State& state) {
  const Problem p(state.range(0), square);
  Tensor<double, up, up> S;
  for (auto _ : state) {
    eq_into<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(S, p.Q, p.g, p.K);
    benchmark::DoNotOptimize(S.values.data());
  }
}
template <bool square>
void score_noalias(benchmark::State& state) {
  const Problem p(state.range(0), square);
  Matrix<double> S(state.range(0), state.range(0));
  for (auto _ : state) {
    S.noalias() = p.Q.mat() * p.g.mat() * p.K.mat().transpose();
    benchmark::DoNotOptimize(S.data());
  }
}

// register the timings of the score
const bool registered = [] {
  const auto add = [](const char* name, void (*run)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, run)->Arg(256)->Arg(1024);
  };
  add("einsum/eq", score_eq<false>);
  add("einsum/eigen", score_eigen<false>);
  add("einsum/into", score_into<false>);
  add("einsum/noalias", score_noalias<false>);
  add("einsum/square_eq", score_eq<true>);
  add("einsum/square_eigen", score_eigen<true>);
  return true;
}();
}  // namespace
