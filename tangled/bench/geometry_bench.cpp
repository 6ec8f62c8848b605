// bench/geometry_bench.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
// include what the measurement needs
#include "attn/fisher.hpp"
#include "attn/random.hpp"
#include <Eigen/Dense>
#include <benchmark/benchmark.h>
using namespace attn;

static void natural(benchmark::State& state) {
  const Matrix<double> A = gibbs(gaussian<double>(1, 64, 1));
  const Matrix<double> dA = gaussian<double>(1, 64, 2);
  for (auto _ : state) benchmark::DoNotOptimize(natural_gradient(A, dA));
  state.counters["n"] = 64;
}
static void dense(benchmark::State& state) {
  const Vector<double> p = gibbs(gaussian<double>(1, 64, 1)).transpose();
  const Vector<double> dA = gaussian<double>(64, 1, 2);
  const Vector<double> dS = fisher_times(p, dA);
  for (auto _ : state) {
    const Vector<double> x =
        fisher(p).completeOrthogonalDecomposition().solve(dS);
    benchmark::DoNotOptimize(x.data());
  }
}
static void curvature(benchmark::State& state) {
  const QueryMetric<double> G{gaussian<double>(6, 2, 1)};
  const Vector<double> q{{0.3, -0.2}};
  for (auto _ : state) benchmark::DoNotOptimize(gauss_curvature(G, q));
}
BENCHMARK(natural)->Name("geometry/natural");
BENCHMARK(dense)->Name("geometry/dense");
BENCHMARK(curvature)->Name("geometry/curvature");
