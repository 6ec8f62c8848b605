// figures/backward_ratio.cpp: tangled from chapters/04-backward.nw; edit that file, not this one.
#include "attn/verify_gradients.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <array>
#include <iostream>
using namespace attn;

// draw a problem with everything in it
struct Size {
  Index n_q, n_k, d_q, d_k, d_v;
};

/// Random inputs with form, bias, and T; a mask if asked for.
template <class S>
AttentionInputs<S> random_inputs(Size z, std::uint64_t seed) {
  AttentionInputs<S> x{gaussian<S>(z.n_q, z.d_q, seed),
                       gaussian<S>(z.n_k, z.d_k, seed + 1000),
                       gaussian<S>(z.n_k, z.d_v, seed + 2000)};
  x.M = gaussian<S>(z.d_q, z.d_k, seed + 3000);
  return x;
}
template <class S>
AttentionInputs<S> random_problem(Size z, std::uint64_t seed) {
  AttentionInputs<S> x = random_inputs<S>(z, seed);
  x.bias = gaussian<S>(z.n_q, z.n_k, seed + 4000);
  const Matrix<double> coin = uniform<double>(z.n_q, z.n_k, seed + 5000);
  x.mask = (coin.array() < 0.6).matrix();
  x.T = S(int(2 + seed % 3)) / S(3);
  return x;
}
// draw cotangents and directions
template <class S>
OutputParts<S> random_outputs(Size z, std::uint64_t seed) {
  return {gaussian<S>(z.n_q, z.d_v, seed + 6000),
          Vector<S>(gaussian<S>(z.n_q, 1, seed + 7000).col(0))};
}
template <class S>
AttentionParts<S> random_direction(Size z, std::uint64_t seed) {
  return {gaussian<S>(z.n_q, z.d_q, seed + 8000),
          gaussian<S>(z.n_k, z.d_k, seed + 9000),
          gaussian<S>(z.n_k, z.d_v, seed + 10000),
          gaussian<S>(z.d_q, z.d_k, seed + 11000),
          gaussian<S>(z.n_q, z.n_k, seed + 12000),
          gaussian<S>(1, 1, seed + 13000)(0, 0)};
}
// draw a random problem of random shape
/// Extents 1..most (d_v from 0), score scale 10^-1..10, options at random.
template <class S>
AttentionInputs<S> any_problem(std::uint64_t seed, Index most, Size& z) {
  const Matrix<double> r = uniform<double>(8, 1, seed * 31 + 7);
  const auto extent = [&](Index k, Index lo) {
    return lo + Index((r(k, 0) + 1) / 2 * double(most + 1 - lo));
  };
  z = {extent(0, 1), extent(1, 1), extent(2, 1), extent(3, 1),
       extent(4, 0)};
  auto x = random_problem<double>(z, seed);
  const double scale = std::pow(10.0, r(5, 0));
  x.Q *= scale;
  if (r(6, 0) > 0) x.mask.reset();
  if (r(7, 0) > 0) x.bias.reset();
  if (seed % 3 == 0) {
    x.M.reset();
    x.K = gaussian<double>(z.n_k, z.d_q, seed + 1);
    z.d_k = z.d_q;
  }
  return lift<S>(x);
}
// find the worst ratio of each part
double worst_ratio(const Matrix<float>& a, const Matrix<double>& t,
                   const Matrix<double>& bound) {
  double worst = 0;
  for (Index k = 0; k < a.size(); ++k)
    worst = std::max(worst, std::abs(double(a.data()[k]) - t.data()[k]) /
                                bound.data()[k]);
  return worst;
}
std::array<double, 5> worst_ratios(std::uint64_t seed) {
  Size z{};
  const auto x = any_problem<float>(seed, 24, z);
  const auto w = lift<float>(random_outputs<double>(z, seed));
  const auto e = attention_errors(x, w).gradient;
  const auto g = attention_vjp(x, w);
  const auto t = attention_vjp(lift<double>(x), lift<double>(w));
  return {worst_ratio(g.Q, t.Q, e.Q), worst_ratio(g.K, t.K, e.K),
          worst_ratio(g.V, t.V, e.V), worst_ratio(g.bias, t.bias, e.bias),
          std::abs(double(g.T) - t.T) / e.T};
}

// print the sorted ratios
void print_sorted(const std::array<std::vector<double>, 5>& r) {
  const std::size_t N = r[0].size();
  std::cout << "share,Q,K,V,bias,T\n";
  for (std::size_t i = 0; i < N; i += i < 20 || i > N - 22 ? 1 : 10) {
    std::cout << double(i + 1) / double(N);
    for (const auto& part : r) std::cout << ',' << std::max(part[i], 1e-6);
    std::cout << '\n';
  }
}
int main() {
  const std::size_t N = 2000;
  std::array<std::vector<double>, 5> r;
  for (std::uint64_t seed = 1; seed <= N; ++seed) {
    const auto w = worst_ratios(seed);
    for (std::size_t k = 0; k < 5; ++k) r[k].push_back(w[k]);
  }
  for (auto& part : r) std::sort(part.begin(), part.end());
  print_sorted(r);
}
