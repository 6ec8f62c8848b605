// figures/backward_gauge.cpp: tangled from chapters/04-backward.nw; edit that file, not this one.
#include "attn/thermodynamics.hpp"
#include "attn/verify_gradients.hpp"
#include "attn/random.hpp"
#include <iostream>
using namespace attn;

// compute the gradient of queries in three ways
struct ThreeWays {
  double scale, gauge, textbook, fused, exponent;
};
template <class S>
AttentionInputs<S> scaled_problem(double scale, std::uint64_t seed) {
  AttentionInputs<S> x{gaussian<S>(32, 16, seed),
                       gaussian<S>(32, 16, seed + 100),
                       gaussian<S>(32, 16, seed + 200)};
  for (Index k = 0; k < x.Q.size(); ++k)
    x.Q.data()[k] = S(scale) * x.Q.data()[k];
  return x;
}
/// Worst row error of B, relative to the row's largest entry, in u.
double worst_row(const Matrix<double>& B, const Matrix<quad>& truth) {
  double worst = 0;
  for (Index i = 0; i < B.rows(); ++i) {
    const double size = to_double(truth.row(i).cwiseAbs().maxCoeff());
    if (size < 1e-280) continue;
    const double off = to_double(
        (lift<quad>(B.row(i)) - truth.row(i)).cwiseAbs().maxCoeff());
    worst = std::max(worst, off / size * 0x1p53);
  }
  return worst;
}
// compute the gradient of queries in three ways
ThreeWays compare_three_ways(double scale, std::uint64_t seed) {
  const auto x = scaled_problem<double>(scale, seed);
  const OutputParts<double> bar{gaussian<double>(32, 16, seed + 300)};
  const auto f = attention_forward(x);
  const Matrix<quad> truth =
      attention_vjp(lift<quad>(x), lift<quad>(bar)).Q;
  const Matrix<double> dA = output_vjp(f.weights, x.V, bar.O).A;
  const Vector<double> D = bar.O.cwiseProduct(f.O).rowwise().sum();
  const Matrix<double> fused =
      f.weights.cwiseProduct(dA.colwise() - D) * f.K_low;
  const Matrix<double> textbook = softmax_vjp(f.weights, dA) * f.K_low;
  const Matrix<double> gauge = attention_vjp(x, f, bar).Q;
  return {scale, worst_row(gauge, truth), worst_row(textbook, truth),
          worst_row(fused, truth), f.scores.cwiseAbs().maxCoeff()};
}

int main() {
  std::cout << "scale,gauge,textbook,fused,exponent\n";
  for (int k = -16; k <= 8; ++k) {
    ThreeWays w{std::pow(10.0, k / 2.0), 0, 0, 0, 0};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const ThreeWays t = compare_three_ways(w.scale, seed);
      w.gauge = std::max(w.gauge, t.gauge);
      w.textbook = std::max(w.textbook, t.textbook);
      w.fused = std::max(w.fused, t.fused);
      w.exponent = std::max(w.exponent, t.exponent);
    }
    std::cout << w.scale << ',' << w.gauge << ',' << w.textbook << ','
              << w.fused << ',' << std::max(w.exponent, 1.0) << '\n';
  }
}
