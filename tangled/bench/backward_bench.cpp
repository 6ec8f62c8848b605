// bench/backward_bench.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "attn/backward.hpp"
#include "attn/random.hpp"
#include <benchmark/benchmark.h>
using namespace attn;

// set up the problems to be timed
static const AttentionInputs<double>& problem() {
  static const AttentionInputs<double> x{gaussian<double>(512, 64, 1, "Q"),
                                         gaussian<double>(512, 64, 1, "K"),
                                         gaussian<double>(512, 64, 1, "V")};
  return x;
}
static const OutputParts<double>& cotangent() {
  static const OutputParts<double> w{gaussian<double>(512, 64, 1, "dO")};
  return w;
}
static AttentionParts<double> direction() {
  AttentionParts<double> u;
  u.Q = gaussian<double>(512, 64, 1, "dQ");
  u.K = gaussian<double>(512, 64, 1, "dK");
  u.V = gaussian<double>(512, 64, 1, "dV");
  return u;
}

// time each pass
static void forward(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(attention_forward(problem()).O.sum());
}
static void vjp(benchmark::State& state) {
  const auto f = attention_forward(problem());
  for (auto _ : state)
    benchmark::DoNotOptimize(attention_vjp(problem(), f, cotangent()).T);
}
static void jvp(benchmark::State& state) {
  const auto u = direction();
  for (auto _ : state)
    benchmark::DoNotOptimize(attention_jvp(problem(), u).O.sum());
}
static void hvp(benchmark::State& state) {
  const auto u = direction();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        attention_hvp(problem(), u, cotangent()).Q.sum());
}
static void lower(benchmark::State& state, auto f) {
  const Matrix<double> A = gibbs(gaussian<double>(512, 512, 1, "S"));
  const Matrix<double> X = gaussian<double>(512, 512, 1, "X");
  for (auto _ : state) benchmark::DoNotOptimize(f(A, X).sum());
}
static void gauge(benchmark::State& state) {
  lower(state, [](const auto& A, const auto& X) {
    return fisher_lower(A, X);
  });
}
/// The textbook form, written like fisher_lower.
static Matrix<double> without_gauge(const Matrix<double>& A,
                                    const Matrix<double>& X) {
  Matrix<double> Y(A.rows(), A.cols());
  for (Index i = 0; i < A.rows(); ++i) {
    const double mean = A.row(i).dot(X.row(i));
    for (Index j = 0; j < A.cols(); ++j)
      Y(i, j) = A(i, j) * (X(i, j) - mean);
  }
  return Y;
}
static void textbook(benchmark::State& state) {
  lower(state, [](const auto& A, const auto& X) {
    return without_gauge(A, X);
  });
}

BENCHMARK(forward)->Name("backward/forward");
BENCHMARK(vjp)->Name("backward/vjp");
BENCHMARK(jvp)->Name("backward/jvp");
BENCHMARK(hvp)->Name("backward/hvp");
BENCHMARK(gauge)->Name("backward/gauge");
BENCHMARK(textbook)->Name("backward/textbook");
