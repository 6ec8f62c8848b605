// figures/backward_ratio.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "attn/verify_gradients.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <array>
#include <iostream>
#include "problems.hpp"
using namespace backward;

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
