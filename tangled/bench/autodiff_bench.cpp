// bench/autodiff_bench.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "attn/autodiff.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include <array>
#include <benchmark/benchmark.h>
#include <unsupported/Eigen/AutoDiff>
#include "layer.hpp"
using namespace attn;

// measure the cost of derivatives
struct Inputs {
  Matrix<double> Q = gaussian<double>(16, 8, 1);
  Matrix<double> K = gaussian<double>(16, 8, 2);
  Matrix<double> V = gaussian<double>(16, 8, 3);
  Matrix<double> W = gaussian<double>(16, 8, 4);
};
static void function(benchmark::State& state) {
  const Inputs x;
  for (auto _ : state)
    benchmark::DoNotOptimize(layer(x.Q, x.K, x.V, x.W));
}
static void hand(benchmark::State& state) {
  const Inputs x;
  for (auto _ : state)
    benchmark::DoNotOptimize(layer_gradient(x.Q, x.K, x.V, x.W));
}
BENCHMARK(function)->Name("autodiff/function")->Unit(benchmark::kMicrosecond);
BENCHMARK(hand)->Name("autodiff/hand")->Unit(benchmark::kMicrosecond);
static void forward(benchmark::State& state) {
  using D = Dual<double>;
  const Inputs x;
  Matrix<D> Q = lift<D>(x.Q);
  Q(3, 2).d = 1;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        layer(Q, lift<D>(x.K), lift<D>(x.V), lift<D>(x.W)));
}
template <class S>
static void reverse(benchmark::State& state) {
  const Inputs x;
  const Matrix<Var<S>> W = lift<Var<S>>(x.W);
  for (auto _ : state)
    benchmark::DoNotOptimize(gradient(
        [&](const auto& q, const auto& k, const auto& v) {
          return layer<Var<S>>(q, k, v, W);
        }, lift<S>(x.Q), lift<S>(x.K), lift<S>(x.V)));
}
BENCHMARK(forward)->Name("autodiff/forward")->Unit(benchmark::kMicrosecond);
BENCHMARK(reverse<double>)->Name("autodiff/reverse")->Unit(
    benchmark::kMicrosecond);
BENCHMARK(reverse<quad>)->Name("autodiff/reverse_quad")->Unit(
    benchmark::kMicrosecond);
static void referee(benchmark::State& state) {
  using Direction = Eigen::Matrix<double, 8, 1>;
  using A = Eigen::AutoDiffScalar<Direction>;
  const Inputs x;
  const auto seed = [](const Matrix<double>& m, Index first, Index base) {
    Matrix<A> z(m.rows(), m.cols());
    for (Index i = 0; i < m.size(); ++i) {
      const Index k = base + i - first;
      z.data()[i] = A(m.data()[i], Direction::Zero());
      if (k >= 0 && k < 8) z.data()[i].derivatives()(k) = 1;
    }
    return z;
  };
  for (auto _ : state)
    for (Index first = 0; first < 384; first += 8)
      benchmark::DoNotOptimize(
          layer(seed(x.Q, first, 0), seed(x.K, first, 128),
                seed(x.V, first, 256), seed(x.W, first, 384)));
}
BENCHMARK(referee)->Name("autodiff/referee")->Unit(benchmark::kMicrosecond);

// measure the cost of quad
template <class S>
static void product(benchmark::State& state) {
  const Matrix<S> A = lift<S>(gaussian<double>(32, 32, 1));
  const Matrix<S> B = lift<S>(gaussian<double>(32, 32, 2));
  Matrix<S> C(32, 32);
  for (auto _ : state) {
    C.noalias() = A * B;
    benchmark::DoNotOptimize(C.data());
  }
}
BENCHMARK(product<double>)->Name("autodiff/product_double");
BENCHMARK(product<quad>)->Name("autodiff/product_quad");
