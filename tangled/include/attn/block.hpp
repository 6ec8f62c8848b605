// include/attn/block.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/multihead.hpp"

namespace attn {
// the parts of a block

// normalise rows
/// Normalised rows and their divisors s; less their means if centred.
template <class S>
struct Normalised {
  Matrix<S> x;
  Vector<S> s;
  bool centred;
};

namespace detail {
template <class S>
Normalised<S> normalised(Normalised<S> n, double epsilon) {
  using std::sqrt;
  for (Index i = 0; i < n.x.rows(); ++i) {
    if (n.centred) n.x.row(i).array() -= S(n.x.row(i).mean());
    const S square = n.x.row(i).squaredNorm() / S(double(n.x.cols()));
    n.s(i) = sqrt(S(square + S(epsilon)));
    n.x.row(i) /= n.s(i);
  }
  return n;
}
}  // namespace detail

/// Each row of X, n x d, less its mean and divided by its s, the root of
/// variance + epsilon (prop. layer-norm).
template <class D>
Normalised<typename D::Scalar> layer_norm(const Eigen::MatrixBase<D>& X,
                                          double epsilon = 1e-5) {
  using S = typename D::Scalar;
  return detail::normalised<S>({X, Vector<S>(X.rows()), true}, epsilon);
}

/// Each row of X, n x d, divided by its s, the root of mean square +
/// epsilon (prop. layer-norm).  Source: Zhang and Sennrich 2019.
template <class D>
Normalised<typename D::Scalar> rms_norm(const Eigen::MatrixBase<D>& X,
                                        double epsilon = 1e-5) {
  using S = typename D::Scalar;
  return detail::normalised<S>({X, Vector<S>(X.rows()), false}, epsilon);
}

// pull back through normalised rows
/// Cotangent of X for that of n.x, either norm (prop. layer-norm).
/// Throws std::invalid_argument for another shape.
template <class S, class D>
Matrix<S> norm_vjp(const Normalised<S>& n, const Eigen::MatrixBase<D>& dY) {
  require(dY.rows() == n.x.rows() && dY.cols() == n.x.cols(),
          "norm_vjp: dY is ", shape(dY), " but the rows are ", shape(n.x));
  Matrix<S> dX = dY;
  for (Index i = 0; i < dX.rows(); ++i) {
    const S along = n.x.row(i).dot(dX.row(i)) / S(double(dX.cols()));
    if (n.centred) dX.row(i).array() -= S(dX.row(i).mean());
    dX.row(i) = (dX.row(i) - along * n.x.row(i)) / n.s(i);
  }
  return dX;
}

// give normalised rows a gain
/// x with column m times gain(m), plus shift(m); empty: 1, 0.
/// Throws std::invalid_argument if they have another length.
template <class S>
Matrix<S> with_gain(Matrix<S> x, const Vector<S>& gain,
                    const Vector<S>& shift) {
  for (const Index d : {gain.size(), shift.size()})
    require(d == 0 || d == x.cols(), "with_gain: ", d,
            " numbers for rows of ", x.cols());
  for (Index m = 0; m < gain.size(); ++m) x.col(m) *= gain(m);
  for (Index m = 0; m < shift.size(); ++m) x.col(m).array() += shift(m);
  return x;
}
/// Cotangents of with_gain's inputs; gain and shift are empty if they were.
template <class S>
struct GainGradient {
  Matrix<S> x;
  Vector<S> gain, shift;
};

/// The cotangents for dY; x n x d.  Throws std::invalid_argument.
template <class S>
GainGradient<S> with_gain_vjp(const Matrix<S>& x, const Vector<S>& gain,
                              const Vector<S>& shift, const Matrix<S>& dY) {
  require(dY.rows() == x.rows() && dY.cols() == x.cols(),
          "with_gain_vjp: dY is ", shape(dY), " but x is ", shape(x));
  GainGradient<S> g{with_gain(dY, gain, Vector<S>()), {}, {}};
  if (gain.size() > 0) g.gain = x.cwiseProduct(dY).colwise().sum();
  if (shift.size() > 0) g.shift = dY.colwise().sum();
  return g;
}

// bend numbers and pull back
/// x/(1 + exp(-x)), entry by entry.  Source: Elfwing et al. 2018.
template <class D>
Matrix<typename D::Scalar> silu(const Eigen::MatrixBase<D>& x) {
  using S = typename D::Scalar;
  return x.array() / (S(1) + (-x.array()).exp());
}

/// Cotangent of x for the cotangent dY of silu(x).
/// Throws std::invalid_argument for another shape.
template <class S>
Matrix<S> silu_vjp(const Matrix<S>& x, const Matrix<S>& dY) {
  require(dY.rows() == x.rows() && dY.cols() == x.cols(),
          "silu_vjp: dY is ", shape(dY), " but x is ", shape(x));
  const Matrix<S> sigma = (S(1) + (-x.array()).exp()).inverse();
  return dY.array() * sigma.array() *
         (S(1) + x.array() * (S(1) - sigma.array()));
}

// hold the weights of a block
/// A transformer block: causal self-attention and a network per position,
/// each behind a norm.  W_1 is D x F, W_2 F x D, the gate W_3 D x F or
/// empty; gains are D or empty.
template <class S>
struct TransformerBlock {
  MultiHead<S> attention;
  Matrix<S> W_1, W_2;
  Vector<S> b_1, b_2;
  Matrix<S> W_3{};
  Vector<S> gain_1{}, gain_2{};
  bool rms = false;
  double epsilon = 1e-5;
};

/// Calls f(name, weight, ...) for each weight of the block m and those of n.
template <class F, class M, class... N>
  requires requires(M m) { m.W_1; }
void for_each_weight(F&& f, M&& m, N&&... n) {
  for_each_weight(f, m.attention, n.attention...);
  f("W_1", m.W_1, n.W_1...);
  f("b_1", m.b_1, n.b_1...);
  f("W_2", m.W_2, n.W_2...);
  f("b_2", m.b_2, n.b_2...);
  f("W_3", m.W_3, n.W_3...);
  f("gain_1", m.gain_1, n.gain_1...);
  f("gain_2", m.gain_2, n.gain_2...);
}

// keep what a block computes
/// Rows behind a norm: before the gain, and after it.
template <class S>
struct NormTrace {
  Normalised<S> rows;
  Matrix<S> x;
};

/// What a block computes on its way; gate is empty if W_3 is.
template <class S>
struct BlockTrace {
  NormTrace<S> first, second;
  HeadTrace<S> heads;
  Matrix<S> hidden, gate, bent, Y;
};

// run a block forward
namespace detail {
template <class S>
NormTrace<S> behind_norm(const TransformerBlock<S>& b, const Matrix<S>& X,
                         const Vector<S>& gain) {
  NormTrace<S> t{b.rms ? rms_norm(X, b.epsilon) : layer_norm(X, b.epsilon),
                 {}};
  t.x = with_gain(t.rows.x, gain, Vector<S>());
  return t;
}
}  // namespace detail

/// X + attention(norm(X)), then the same with the network; X is n x D.
template <class S>
BlockTrace<S> block_forward(const TransformerBlock<S>& b,
                            const std::type_identity_t<Matrix<S>>& X) {
  BlockTrace<S> t;

  // forbid what comes later
  const Matrix<S> past =
      Matrix<S>::Constant(X.rows(), X.rows(), S(-HUGE_VAL))
          .template triangularView<Eigen::StrictlyUpper>();
  t.first = detail::behind_norm(b, X, b.gain_1);
  t.heads = multihead_forward(b.attention, t.first.x, t.first.x, past);
  const Matrix<S> middle = X + t.heads.Y;
  t.second = detail::behind_norm(b, middle, b.gain_2);

  // run the network of each position
  t.hidden = project<S>(t.second.x, b.W_1, b.b_1).mat();
  t.bent = silu(t.hidden);
  if (b.W_3.size() > 0) {
    t.gate = project<S>(t.second.x, b.W_3, Vector<S>()).mat();
    t.bent.array() *= t.gate.array();
  }
  t.Y = middle + project<S>(t.bent, b.W_2, b.b_2).mat();
  return t;
}

// run a block backward
/// Gradient of <dY, Y> with respect to the weights, added to `sum`, and to
/// X, returned.
template <class S>
Matrix<S> block_vjp(const TransformerBlock<S>& b, const BlockTrace<S>& t,
                    const std::type_identity_t<Matrix<S>>& dY,
                    TransformerBlock<S>& sum) {
  TransformerBlock<S> g;

  // pull back through the network of each position
  auto two = project_vjp<S>(t.bent, b.W_2, b.b_2, view<dn, dn>(dY));
  Matrix<S> bent = two.X.mat(), dx;
  if (b.W_3.size() > 0) {
    const Matrix<S> gate = bent.cwiseProduct(silu(t.hidden));
    auto three = project_vjp<S>(t.second.x, b.W_3, Vector<S>(),
                                view<dn, dn>(gate));
    g.W_3 = std::move(three.W);
    dx = three.X.mat();
    bent.array() *= t.gate.array();
  }
  const Matrix<S> hidden = silu_vjp<S>(t.hidden, bent);
  auto one = project_vjp<S>(t.second.x, b.W_1, b.b_1, view<dn, dn>(hidden));
  dx = dx.size() > 0 ? Matrix<S>(dx + one.X.mat()) : Matrix<S>(one.X.mat());
  g.W_1 = std::move(one.W), g.b_1 = std::move(one.b);
  g.W_2 = std::move(two.W), g.b_2 = std::move(two.b);

  // pull back through a norm and its gain
  const auto behind = [](const NormTrace<S>& n, const Vector<S>& gain,
                         const Matrix<S>& d, Vector<S>& dgain) {
    const auto k = with_gain_vjp<S>(n.rows.x, gain, Vector<S>(), d);
    dgain = k.gain;
    return norm_vjp(n.rows, k.x);
  };
  const Matrix<S> dM = dY + behind(t.second, b.gain_2, dx, g.gain_2);
  auto heads = multihead_vjp(b.attention, t.first.x, t.heads, dM);
  g.attention = std::move(heads.weights);
  const Matrix<S> dX = dM + behind(t.first, b.gain_1, heads.X, g.gain_1);
  for_each_weight([](auto, auto& total, const auto& w) { total += w; }, sum,
                  g);
  return dX;
}

// the model and its training

// hold the weights of a language model
/// Token vectors E (vocabulary x D), position vectors P (n x D), blocks,
/// and the read-out U (D x vocabulary).
template <class S>
struct LanguageModel {
  Matrix<S> E, P, U;
  std::vector<TransformerBlock<S>> blocks;
};

/// The same for all weights of a language model.
template <class F, class M, class... N>
  requires requires(M m) { m.blocks; }
void for_each_weight(F&& f, M&& m, N&&... n) {
  f("E", m.E, n.E...);
  f("P", m.P, n.P...);
  for (std::size_t l = 0; l < m.blocks.size(); ++l)
    for_each_weight(f, m.blocks[l], n.blocks[l]...);
  f("U", m.U, n.U...);
}

// draw a language model
/// What a model consists of; F is the width of the network per position.
struct ModelShape {
  Index vocabulary, length, d_model, heads, blocks, F;
};

/// A model of shape s with Gaussian weights; equal seeds give equal models.
template <class = void>
LanguageModel<double> draw_model(const ModelShape& s, std::uint64_t seed) {
  const auto draw = [&](Index n, Index d, double sigma,
                        const std::string& name) {
    return Matrix<double>(sigma * gaussian<double>(n, d, seed, name));
  };
  LanguageModel<double> m;
  m.E = draw(s.vocabulary, s.d_model, 0.5, "E");
  m.P = draw(s.length, s.d_model, 0.5, "P");
  m.U = draw(s.d_model, s.vocabulary, 1 / std::sqrt(double(s.d_model)), "U");

  // draw the blocks
  const double root = std::sqrt(2 / double(s.d_model + s.F));
  for (Index l = 0; l < s.blocks; ++l) {
    const std::string name = std::to_string(l) + ".";
    m.blocks.push_back({xavier<double>({s.d_model, s.heads}, seed, name),
                        draw(s.d_model, s.F, root, name + "W_1"),
                        draw(s.F, s.d_model, root, name + "W_2"),
                        Vector<double>::Zero(s.F),
                        Vector<double>::Zero(s.d_model)});
  }
  return m;
}

// say what an example is
/// Tokens of one sequence, and for each the right next one (-1: none).
struct Example {
  std::vector<Index> tokens, targets;
};

// run a model forward and backward
/// Loss of one example: -sum log p(target), times weight.  Adds its
/// gradient to *sum unless that is null; the blocks' traces go to *traces.
/// Throws std::invalid_argument for tokens out of range or too many.
template <class S>
S model_loss(const LanguageModel<S>& m, const Example& e, const S& weight,
             LanguageModel<S>* sum,
             std::vector<BlockTrace<S>>* traces = nullptr) {
  // look up tokens and positions
  const Index n = Index(e.tokens.size());
  require(n <= m.P.rows() && e.targets.size() == e.tokens.size(),
          "model_loss: ", n, " tokens and ", e.targets.size(),
          " targets for ", m.P.rows(), " positions");
  Matrix<S> X = m.P.topRows(n);
  for (Index i = 0; i < n; ++i) {
    const Index token = e.tokens[std::size_t(i)];
    require(0 <= token && token < m.E.rows(), "model_loss: token ", token,
            " of ", m.E.rows());
    X.row(i) += m.E.row(token);
  }
  std::vector<BlockTrace<S>> own;
  auto& t = traces ? *traces : own;
  t.clear();
  for (const TransformerBlock<S>& b : m.blocks) {
    t.push_back(block_forward(b, X));
    X = t.back().Y;
  }

  // score the next tokens
  const Matrix<S> logits = project<S>(X, m.U, Vector<S>()).mat();
  const Matrix<S> logp = log_softmax(logits);
  Matrix<S> dlogits = Matrix<S>::Zero(n, m.U.cols());
  S loss(0);
  for (Index i = 0; i < n; ++i) {
    const Index target = e.targets[std::size_t(i)];
    if (target < 0) continue;
    require(target < m.U.cols(), "model_loss: target ", target, " of ",
            m.U.cols());
    loss -= weight * logp(i, target);
    dlogits.row(i) = weight * logp.row(i).array().exp();
    dlogits(i, target) -= weight;
  }
  if (sum == nullptr) return loss;

  // pull the loss back through the model
  const auto read_out =
      project_vjp<S>(X, m.U, Vector<S>(), view<dn, dn>(dlogits));
  sum->U += read_out.W;
  Matrix<S> dX = read_out.X.mat();
  for (std::size_t l = m.blocks.size(); l-- > 0;)
    dX = block_vjp(m.blocks[l], t[l], dX, sum->blocks[l]);
  for (Index i = 0; i < n; ++i) {
    sum->E.row(e.tokens[std::size_t(i)]) += dX.row(i);
    sum->P.row(i) += dX.row(i);
  }
  return loss;
}

// make sequences with known answers
/// Random tokens; the target at i is the token at i - 1.
inline Example previous_token(Index vocabulary, Index length,
                              std::mt19937_64& bits) {
  Example e;
  for (Index i = 0; i < length; ++i) {
    e.targets.push_back(i == 0 ? -1 : e.tokens.back());
    e.tokens.push_back(Index(bits() % std::uint64_t(vocabulary)));
  }
  return e;
}
/// p different tokens, over and over; the target at i >= p is the next one.
/// Throws std::invalid_argument for a length below 3, or if p tokens may
/// exceed the vocabulary.
inline Example induction(Index vocabulary, Index length,
                         std::mt19937_64& bits) {
  const Index third = length / 3;
  require(third > 0 && 2 * third - 1 <= vocabulary, "induction: length ",
          length, " needs ", 2 * third - 1, " tokens of ", vocabulary);
  const Index p = third + Index(bits() % std::uint64_t(third));
  const auto order = permutation(vocabulary, bits());
  Example e;
  for (Index i = 0; i < length; ++i) {
    e.tokens.push_back(order[std::size_t(i % p)]);
    e.targets.push_back(i < p ? -1 : order[std::size_t((i + 1) % p)]);
  }
  return e;
}

// descend with two moments
/// Adam: moments of the gradient, and the number of steps made.
template <class M>
struct Adam {
  M first, second;
  double rate = 0.01;
  int steps = 0;

  explicit Adam(const M& m) : first(zeros_like(m)), second(first) {}

  // take a step against the gradient
  void step(M& m, const M& gradient) {
    ++steps;
    const double c1 = 1 - std::pow(0.9, steps), c2 = 1 - std::pow(0.98, steps);
    for_each_weight([&](auto, auto& w, const auto& g, auto& a, auto& b) {
      a = 0.9 * a + 0.1 * g;
      b = 0.98 * b + 0.02 * g.cwiseProduct(g);
      w.array() -= rate / c1 * a.array() / ((b.array() / c2).sqrt() + 1e-9);
    }, m, gradient, first, second);
  }
};

// train on one batch
/// One step on a batch of examples; returns their mean loss per target.
template <class = void>
double train_step(LanguageModel<double>& m, Adam<LanguageModel<double>>& adam,
                  const std::vector<Example>& batch) {
  Index targets = 0;
  for (const Example& e : batch)
    targets += std::count_if(e.targets.begin(), e.targets.end(),
                             [](Index t) { return t >= 0; });
  auto gradient = zeros_like(m);
  double loss = 0;
  for (const Example& e : batch)
    loss += model_loss(m, e, 1 / double(targets), &gradient);
  adam.step(m, gradient);
  return loss;
}
/// Trains on `steps` batches of 16 examples make(bits); returns the losses.
template <class Make>
std::vector<double> train(LanguageModel<double>& m, int steps, Make make,
                          std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  Adam<LanguageModel<double>> adam(m);
  std::vector<double> losses;
  for (int k = 0; k < steps; ++k) {
    std::vector<Example> batch;
    while (batch.size() < 16) batch.push_back(make(bits));
    losses.push_back(train_step(m, adam, batch));
  }
  return losses;
}
}  // namespace attn
