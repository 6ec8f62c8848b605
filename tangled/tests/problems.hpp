// tests/problems.hpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <vector>
#include "attn/backward.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/thermodynamics.hpp"

namespace backward {
using namespace attn;

// count quad roundings of this chapter
/// n roundings in quad, of numbers of order one.
inline double roundings(double n) { return n * 0x1p-113; }

// draw a small problem
inline AttentionInputs<double> small_problem(double scale) {
  return {Matrix<double>(scale * gaussian<double>(4, 3, 1, "Q")),
          gaussian<double>(5, 3, 1, "K"), gaussian<double>(5, 3, 1, "V")};
}

// draw a problem with everything in it
struct Size {
  Index n_q, n_k, d_q, d_k, d_v;
};

/// Random inputs with form, bias, and T; a mask if asked for.
template <class S>
AttentionInputs<S> random_inputs(Size z, std::uint64_t seed) {
  AttentionInputs<S> x{gaussian<S>(z.n_q, z.d_q, seed, "Q"),
                       gaussian<S>(z.n_k, z.d_k, seed, "K"),
                       gaussian<S>(z.n_k, z.d_v, seed, "V")};
  x.M = gaussian<S>(z.d_q, z.d_k, seed, "M");
  return x;
}
template <class S>
AttentionInputs<S> random_problem(Size z, std::uint64_t seed) {
  AttentionInputs<S> x = random_inputs<S>(z, seed);
  x.bias = gaussian<S>(z.n_q, z.n_k, seed, "bias");
  const Matrix<double> coin =
      uniform<double>(z.n_q, z.n_k, seed, "coin");
  x.mask = (coin.array() < 0.6).matrix();
  x.T = S(int(2 + seed % 3)) / S(3);
  return x;
}

// draw cotangents and directions
template <class S>
OutputParts<S> random_outputs(Size z, std::uint64_t seed) {
  return {gaussian<S>(z.n_q, z.d_v, seed, "dO"),
          Vector<S>(gaussian<S>(z.n_q, 1, seed, "dlogZ").col(0))};
}
template <class S>
AttentionParts<S> random_direction(Size z, std::uint64_t seed) {
  return {gaussian<S>(z.n_q, z.d_q, seed, "uQ"),
          gaussian<S>(z.n_k, z.d_k, seed, "uK"),
          gaussian<S>(z.n_k, z.d_v, seed, "uV"),
          gaussian<S>(z.d_q, z.d_k, seed, "uM"),
          gaussian<S>(z.n_q, z.n_k, seed, "uB"),
          gaussian<S>(1, 1, seed, "uT")(0, 0)};
}

// draw a random problem of random shape
/// Extents 1..most (d_v from 0), score scale 10^-1..10, options at random.
template <class S>
AttentionInputs<S> any_problem(std::uint64_t seed, Index most, Size& z) {
  const Matrix<double> r = uniform<double>(8, 1, seed, "shape");
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
    x.K = gaussian<double>(z.n_k, z.d_q, seed, "K without M");
    z.d_k = z.d_q;
  }
  return lift<S>(x);
}

// compute the gradient of queries in three ways
struct ThreeWays {
  double scale, gauge, textbook, fused, exponent;
};
template <class S>
AttentionInputs<S> scaled_problem(double scale, std::uint64_t seed) {
  AttentionInputs<S> x{gaussian<S>(32, 16, seed, "Q"),
                       gaussian<S>(32, 16, seed, "K"),
                       gaussian<S>(32, 16, seed, "V")};
  for (Index k = 0; k < x.Q.size(); ++k)
    x.Q.data()[k] = S(scale) * x.Q.data()[k];
  return x;
}
/// Worst row error of B, relative to the row's largest entry, in u.
inline double worst_row(const Matrix<double>& B, const Matrix<quad>& truth) {
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
inline ThreeWays compare_three_ways(double scale, std::uint64_t seed) {
  const auto x = scaled_problem<double>(scale, seed);
  const OutputParts<double> bar{gaussian<double>(32, 16, seed, "dO")};
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

// stack attention layers
/// Norm of the cotangent of X_l for l = depth, ..., 0, through layers
/// X <- attention(beta X, X, X) or X + attention(beta X, X, X).
inline std::vector<double> cotangent_norms(
    Matrix<double> X, double beta, int depth, bool residual) {
  std::vector<AttentionInputs<double>> layer;
  for (int l = 0; l < depth; ++l) {
    layer.push_back({Matrix<double>(beta * X), X, X});
    const Matrix<double> O = attention_forward(layer.back()).O;
    X = residual ? Matrix<double>(X + O) : O;
  }
  Matrix<double> dX = gaussian<double>(X.rows(), X.cols(), 77);
  std::vector<double> norm{dX.norm()};
  for (int l = depth; l-- > 0;) {
    const auto g = attention_vjp(layer[std::size_t(l)],
                                 OutputParts<double>{dX});
    dX = beta * g.Q + g.K + g.V + (residual ? dX : Matrix<double>(0 * dX));
    norm.push_back(dX.norm());
  }
  return norm;
}
}  // namespace backward
