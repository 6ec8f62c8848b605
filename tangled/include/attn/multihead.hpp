// include/attn/multihead.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// include what the heads need
#include "attn/argument.hpp"
#include "attn/autodiff.hpp"
#include "attn/backward.hpp"
#include "attn/einsum.hpp"
#include "attn/gibbs.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/tensor.hpp"

namespace attn {
// declare shapes and weights of the heads

// state the extents of the heads
/// Extents of a multi-head attention; a zero stands for the usual value.
struct HeadShape {
  Index d_model, heads;
  Index kv_heads = 0;              // heads; 1 is multi-query attention
  Index d_k = 0, d_v = 0;          // d_model / heads, and d_k
  Index d_context = 0, d_out = 0;  // d_model, both
  bool bias = false;
};

/// The shape with its zeros replaced by the usual values.
/// Throws std::invalid_argument unless d_model and heads are positive, if
/// an extent is negative, if kv_heads does not divide heads, or if d_k is
/// wanted and heads does not divide d_model.
inline HeadShape completed(HeadShape s) {
  // refuse heads that do not come out even
  require(s.d_model > 0 && s.heads > 0, "HeadShape: d_model = ", s.d_model,
          " and heads = ", s.heads, " must be positive");
  require(std::min({s.kv_heads, s.d_k, s.d_v, s.d_context, s.d_out}) >= 0,
          "HeadShape: a negative extent");
  require(s.kv_heads == 0 || s.heads % s.kv_heads == 0, "HeadShape: ",
          s.kv_heads, " kv_heads do not divide ", s.heads, " heads");
  require(s.d_k > 0 || s.d_model % s.heads == 0, "HeadShape: ", s.heads,
          " heads do not divide d_model = ", s.d_model, "; give d_k");
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.d_k == 0) s.d_k = s.d_model / s.heads;
  if (s.d_v == 0) s.d_v = s.d_k;
  if (s.d_context == 0) s.d_context = s.d_model;
  if (s.d_out == 0) s.d_out = s.d_model;
  return s;
}

// hold the weights of all heads
/// Weights of multi-head attention (def. multihead), fused: W_Q is
/// D x H d_k, W_K D_c x G d_k, W_V D_c x G d_v, W_O H d_v x D_o; biases are
/// as long as their matrix has columns, or empty.
template <class S>
struct MultiHead {
  Index heads = 0, kv_heads = 0;
  Matrix<S> W_Q, W_K, W_V, W_O;
  Vector<S> b_Q, b_K, b_V, b_O;

  Index group() const { return kv_heads == 0 ? 0 : heads / kv_heads; }
  Index d_k() const { return heads == 0 ? 0 : W_Q.cols() / heads; }
  Index d_v() const { return kv_heads == 0 ? 0 : W_V.cols() / kv_heads; }
};

// visit the weights of several at once
/// f(name, field of m, same field of n...) for each weight and bias.
template <class F, class M, class... N>
  requires requires(M m) { m.W_Q; }
void for_each_weight(F&& f, M&& m, N&&... n) {
  f("W_Q", m.W_Q, n.W_Q...);
  f("W_K", m.W_K, n.W_K...);
  f("W_V", m.W_V, n.W_V...);
  f("W_O", m.W_O, n.W_O...);
  f("b_Q", m.b_Q, n.b_Q...);
  f("b_K", m.b_K, n.b_K...);
  f("b_V", m.b_V, n.b_V...);
  f("b_O", m.b_O, n.b_O...);
}

/// Number of weights and biases (prop. multihead-count).
template <class M>
Index parameter_count(const M& m) {
  Index n = 0;
  for_each_weight([&](auto, const auto& w) { n += w.size(); }, m);
  return n;
}

// give the module biases of zero
/// Gives m biases, all zero.
template <class S>
void set_biases(MultiHead<S>& m) {
  m.b_Q = Vector<S>::Zero(m.W_Q.cols());
  m.b_K = Vector<S>::Zero(m.W_K.cols());
  m.b_V = Vector<S>::Zero(m.W_V.cols());
  m.b_O = Vector<S>::Zero(m.W_O.cols());
}

/// The same weights in another scalar type.
template <class R, class S>
MultiHead<R> lifted(const MultiHead<S>& m) {
  MultiHead<R> out{m.heads, m.kv_heads, {}, {}, {}, {}, {}, {}, {}, {}};
  for_each_weight([](auto, const auto& w, auto& v) { v = lift<R>(w); }, m,
                  out);
  return out;
}

// draw initial weights
/// Weights drawn by Glorot and Bengio's rule for the fused maps; biases 0.
/// Every scalar type gets the same numbers, rounded.  Throws as completed.
template <class S>
MultiHead<S> xavier(const HeadShape& shape, std::uint64_t seed) {
  const HeadShape s = completed(shape);
  const auto draw = [&](Index in, Index out, Index used) {
    const double sigma = std::sqrt(2.0 / double(in + used));
    return lift<S>(Matrix<double>(sigma * gaussian<double>(in, out, seed++)));
  };
  const Index Hk = s.heads * s.d_k, Hv = s.heads * s.d_v;
  MultiHead<S> m{s.heads, s.kv_heads, {}, {}, {}, {}, {}, {}, {}, {}};
  m.W_Q = draw(s.d_model, Hk, Hk);
  m.W_K = draw(s.d_context, s.kv_heads * s.d_k, Hk);
  m.W_V = draw(s.d_context, s.kv_heads * s.d_v, Hv);
  m.W_O = draw(Hv, s.d_out, s.d_out);
  if (s.bias) set_biases(m);
  return m;
}
namespace detail {
// refuse weights that contradict each other
/// Throws std::invalid_argument, in the name of f, unless the weights' own
/// shapes fit each other.
template <class S>
void require_weights(const char* f, const MultiHead<S>& m) {
  require(m.heads > 0 && m.kv_heads > 0 && m.heads % m.kv_heads == 0, f,
          ": ", m.heads, " heads and ", m.kv_heads, " kv_heads");
  require(m.d_k() > 0 && m.W_Q.cols() == m.heads * m.d_k() &&
              m.W_K.cols() == m.kv_heads * m.d_k(),
          f, ": W_Q is ", shape(m.W_Q), " and W_K is ", shape(m.W_K),
          " for ", m.heads, " and ", m.kv_heads, " heads");
  require(m.W_V.rows() == m.W_K.rows() &&
              m.W_V.cols() == m.kv_heads * m.d_v() &&
              m.W_O.rows() == m.heads * m.d_v(),
          f, ": W_K is ", shape(m.W_K), ", W_V is ", shape(m.W_V),
          ", W_O is ", shape(m.W_O));
  const auto fits = [](const Vector<S>& b, const Matrix<S>& W) {
    return b.size() == 0 || b.size() == W.cols();
  };
  require(fits(m.b_Q, m.W_Q) && fits(m.b_K, m.W_K) && fits(m.b_V, m.W_V) &&
              fits(m.b_O, m.W_O),
          f, ": a bias is not as long as its matrix has columns");
}
}  // namespace detail

// the forward pass of all heads

// project the inputs of all heads at once
/// Rows of features, in whatever type they come; S is not deduced here.
template <class S>
using Input = std::type_identity_t<ScoreRows<S>>;

/// X W, plus b in every row unless b is empty (eq. mh-project).
template <class S>
Tensor<S, up, up> project(const ScoreRows<S>& X, const Matrix<S>& W,
                          const Vector<S>& b) {
  const auto x = view<up, up>(X);
  const auto w = view<dn, up>(W);
  if (b.size() == 0)
    return eq<R"(Q^{i\alpha} = X^{im} W_m{}^\alpha)">(x, w);
  const Vector<S> e = Vector<S>::Ones(X.rows());
  return eq<R"(Q^{i\alpha} = X^{im} W_m{}^\alpha + e^i b^\alpha)">(
      x, w, view<up>(e), view<up>(b));
}

// read the same numbers with other indices
/// The numbers of x under other extents and heights; nothing is copied if
/// x is a temporary.  Throws std::invalid_argument if their number differs.
template <Height... H, class S, Height... G>
Tensor<S, H...> regroup(Tensor<S, G...> x,
                        std::array<Index, sizeof...(H)> dim) {
  Tensor<S, H...> y;
  Index size = 1;
  for (const Index n : dim) size *= n;
  require(size == x.values.size(), "regroup: ", x.values.size(),
          " numbers for ", size, " places");
  y.dim = dim;
  y.values = std::move(x.values);
  return y;
}

/// A tensor as a matrix: its last index across, all others down.
template <class T>
auto stacked(T& x) {
  using S = typename T::scalar;
  using M = std::conditional_t<std::is_const_v<T>, const Matrix<S>, Matrix<S>>;
  Index rows = 1;
  for (std::size_t k = 0; k + 1 < x.dim.size(); ++k) rows *= x.dim[k];
  return Eigen::Map<M>(x.values.data(), rows, x.dim.back());
}

// forbid and favour pairs of positions
/// Zero where key j is not after query i, the last of each aligned;
/// minus infinity elsewhere.  n_q x n_k.
/// Throws std::invalid_argument.
template <class S>
Matrix<S> causal_bias(Index n_q, Index n_k) {
  require(n_q >= 0 && n_k >= 0, "causal_bias: extents ", n_q, "x", n_k);
  Matrix<S> B = Matrix<S>::Zero(n_q, n_k);
  for (Index i = 0; i < n_q; ++i)
    for (Index j = std::max(Index(0), i + n_k - n_q + 1); j < n_k; ++j)
      B(i, j) = S(-std::numeric_limits<double>::infinity());
  return B;
}
namespace detail {
// refuse inputs that do not fit the weights
/// Throws std::invalid_argument, in the name of f, unless X (n_q x D), the
/// context C and the bias fit the weights.
template <class S>
void require_multihead(const char* f, const MultiHead<S>& m,
                       const ScoreRows<S>& X, const ScoreRows<S>& C,
                       const Matrix<S>& bias) {
  require_weights(f, m);
  require(X.cols() == m.W_Q.rows(), f, ": X is ", shape(X),
          " but W_Q is ", shape(m.W_Q));
  require(C.cols() == m.W_K.rows(), f, ": context is ", shape(C),
          " but W_K is ", shape(m.W_K));
  require(bias.size() == 0 ||
              (bias.rows() == X.rows() && bias.cols() == C.rows()),
          f, ": bias is ", shape(bias), " but scores are ", X.rows(), "x",
          C.rows());
}

// add a bias to the scores of all heads
/// Adds B to the scores of every head; what B forbids becomes forbidden.
template <class S>
void add_bias(Tensor<S, up, up, up, up>& scores, const Matrix<S>& B) {
  if (B.size() == 0) return;
  auto rows = stacked(scores);
  for (Index k = 0; k < rows.rows(); ++k)
    for (Index j = 0; j < rows.cols(); ++j) {
      const S& b = B(k % B.rows(), j);
      rows(k, j) = is_forbidden(b) ? b : S(rows(k, j) + b);
    }
}
}  // namespace detail

// keep what the forward pass computed
/// All that multi-head attention computes on its way, by name.  Shapes:
/// Q (n_q, G, R, d_k), lowered by the metric; K, V (n_k, G, d);
/// scores, A (G, R, n_q, n_k); O (n_q, H d_v); Y n_q x D_o.
template <class S>
struct HeadTrace {
  Tensor<S, up, up, up, dn> Q;
  Tensor<S, up, up, up> K, V;
  Tensor<S, up, up, up, up> scores;
  Tensor<S, up, up, up, dn> A;
  Tensor<S, up, up> O;
  Matrix<S> Y;
};

// attend with all heads
/// Multi-head attention of X (n_q x D) to the context C (n_k x D_c), with
/// everything computed on the way.  bias (n_q x n_k or empty) is added to
/// the scores of every head; minus infinity in it forbids a pair.
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
HeadTrace<S> multihead_forward(
    const MultiHead<S>& m, const Input<S>& X, const Input<S>& C,
    const std::type_identity_t<Matrix<S>>& bias = {}) {
  detail::require_multihead("multihead_forward", m, X, C, bias);
  using std::sqrt;
  const Index n = X.rows(), G = m.kv_heads, R = m.group();
  const S metric = S(1) / S(sqrt(S(double(m.d_k()))));
  HeadTrace<S> t;
  t.Q = regroup<up, up, up, dn>(metric * project<S>(X, m.W_Q, m.b_Q),
                                {n, G, R, m.d_k()});
  t.K = regroup<up, up, up>(project<S>(C, m.W_K, m.b_K),
                            {C.rows(), G, m.d_k()});
  t.V = regroup<up, up, up>(project<S>(C, m.W_V, m.b_V),
                            {C.rows(), G, m.d_v()});

  // score, weigh and mix per head
  t.scores = eq<R"(S^{(sr)ij} = Q^{i(sr)}{}_a K^{j(s)a})">(t.Q, t.K);
  detail::add_bias(t.scores, bias);
  t.A = Tensor<S, up, up, up, dn>(G, R, n, C.rows());
  stacked(t.A) = gibbs(stacked(t.scores));
  t.O = regroup<up, up>(
      eq<R"(O^{i(sr)c} = A^{(sr)i}{}_j V^{j(s)c})">(t.A, t.V),
      {n, m.heads * m.d_v()});
  t.Y = project<S>(t.O.mat(), m.W_O, m.b_O).mat();
  return t;
}

// attend and return the result
/// Multi-head attention of X to a context; arguments as multihead_forward.
template <class S>
Matrix<S> attend(const MultiHead<S>& m, const Input<S>& X,
                 const Input<S>& C,
                 const std::type_identity_t<Matrix<S>>& bias = {}) {
  return multihead_forward(m, X, C, bias).Y;
}
/// Multi-head self-attention of X.
template <class S>
Matrix<S> attend(const MultiHead<S>& m, const Input<S>& X) {
  return multihead_forward(m, X, X).Y;
}
/// Multi-head self-attention of each sequence; causal or not.
template <class S>
std::vector<Matrix<S>> multihead_batch(const MultiHead<S>& m,
                                       const std::vector<Matrix<S>>& X,
                                       bool causal = false) {
  std::vector<Matrix<S>> Y;
  for (const Matrix<S>& x : X)
    Y.push_back(attend(m, x, x, causal ? causal_bias<S>(x.rows(), x.rows())
                                          : Matrix<S>()));
  return Y;
}

// pull the metric of a head back
/// The bilinear form of head h on inputs and context, W_Q g W_K^T with
/// g = 1/sqrt(d_k) (eq. mh-form); D x D_c, of rank at most d_k.
/// Throws std::invalid_argument unless 0 <= h < heads.
template <class S>
Matrix<S> implicit_form(const MultiHead<S>& m, Index h) {
  detail::require_weights("implicit_form", m);
  require(0 <= h && h < m.heads, "implicit_form: no head ", h, " of ",
          m.heads);
  using std::sqrt;
  const Index d = m.d_k(), k = h / m.group();
  Tensor<S, dn, dn> g(d, d);
  for (Index a = 0; a < d; ++a) g(a, a) = S(1) / S(sqrt(S(double(d))));
  return eq<"M_{mn} = W_m{}^a g_{ab} U_n{}^b">(  // eq:mh-form
             view<dn, up>(m.W_Q.middleCols(h * d, d)), g,
             view<dn, up>(m.W_K.middleCols(k * d, d)))
      .mat();
}

// the backward pass of all heads

// start sums and refuse foreign traces
/// Weights of the same shapes, all zero.
template <class M>
M zeros_like(M m) {
  for_each_weight([](auto, auto& w) { w.setZero(); }, m);
  return m;
}
namespace detail {
/// Throws std::invalid_argument, in the name of f, unless the trace t
/// belongs to these inputs and dY has the shape of the output.
template <class S>
void require_cotangent(const char* f, const MultiHead<S>& m,
                       const ScoreRows<S>& X, const ScoreRows<S>& C,
                       const HeadTrace<S>& t, const ScoreRows<S>& dY) {
  require_multihead(f, m, X, C, Matrix<S>());
  require(t.A.dim == std::array<Index, 4>{m.kv_heads, m.group(), X.rows(),
                                          C.rows()},
          f, ": the trace has weights ", shape(t.A), ", not of this input");
  using Sizes = std::array<Index, 3>;
  require(t.Q.dim[3] == m.d_k() && t.Q.values.size() ==
                                       X.rows() * m.W_Q.cols() &&
              t.K.dim == Sizes{C.rows(), m.kv_heads, m.d_k()} &&
              t.V.dim == Sizes{C.rows(), m.kv_heads, m.d_v()},
          f, ": the trace has keys ", shape(t.K), " and values ",
          shape(t.V), ", not of this module");
  require(dY.rows() == X.rows() && dY.cols() == m.W_O.cols(), f,
          ": dY is ", shape(dY), " but Y is ", shape(t.Y));
}
}  // namespace detail

// pull a cotangent back through a projection
/// Cotangents of the three inputs of project; that of b is empty if b is.
template <class S>
struct ProjectionGradient {
  Tensor<S, dn, dn> X;
  Matrix<S> W;
  Vector<S> b;
};
/// The cotangents for dY, that of project's result (eqs. mh-pull-w to
/// mh-pull-x).
template <class S>
ProjectionGradient<S> project_vjp(const ScoreRows<S>& X, const Matrix<S>& W,
                                  const Vector<S>& b,
                                  const Tensor<S, dn, dn>& dY) {
  ProjectionGradient<S> g;
  const auto x = view<up, up>(X);
  const Vector<S> e = Vector<S>::Ones(X.rows());
  g.W = eq<R"(\bar W^m{}_\alpha = X^{im} \bar Q_{i\alpha})">(  // eq:mh-pull-w
            x, dY).mat();
  if (b.size() > 0)
    g.b = eq<R"(\bar b_\alpha = e^i \bar Q_{i\alpha})">(  // eq:mh-pull-b
              view<up>(e), dY).vec();
  g.X = eq<R"(\bar X_{im} = \bar Q_{i\alpha} W_m{}^\alpha)">(  // eq:mh-pull-x
      dY, view<dn, up>(W));
  return g;
}

// pull back through all of multi-head attention
/// Gradient of multi-head attention.  Shapes: those of weights, X, context
/// and scores; for self-attention X holds all three paths, C is empty.
template <class S>
struct HeadGradient {
  MultiHead<S> weights;
  Matrix<S> X, C;
  Tensor<S, dn, dn, dn, dn> scores;
};
/// Gradient of <dY, Y> with respect to weights, X and context C, given the
/// forward pass t of multihead_forward(m, X, C, bias); dY n_q x D_o.
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
HeadGradient<S> multihead_vjp(const MultiHead<S>& m, const Input<S>& X,
                              const Input<S>& C, const HeadTrace<S>& t,
                              const Input<S>& dY) {
  detail::require_cotangent("multihead_vjp", m, X, C, t, dY);
  const Index n = X.rows(), G = m.kv_heads, R = m.group();
  HeadGradient<S> grad;
  auto output = project_vjp<S>(t.O.mat(), m.W_O, m.b_O, Tensor<S, dn, dn>(dY));
  const auto dO = regroup<dn, dn, dn, dn>(std::move(output.X),
                                          {n, G, R, m.d_v()});

  // pull back through all heads
  const auto dA = eq<R"(\bar A_{(sr)i}{}^j = \bar O_{i(sr)c} V^{j(s)c})">(
      dO, t.V);
  auto dV = eq<R"(\bar V_{j(s)c} = A^{(s)ri}{}_j \bar O_{i(s)rc})">(
      t.A, dO);
  grad.scores = Tensor<S, dn, dn, dn, dn>(G, R, n, C.rows());
  stacked(grad.scores) = fisher_lower<S>(stacked(t.A), stacked(dA));
  auto dQ = eq<R"(\bar Q_{i(sr)}{}^a = \bar S_{(sr)ij} K^{j(s)a})">(
      grad.scores, t.K);
  auto dK = eq<R"(\bar K_{j(s)a} = \bar S_{(s)rij} Q^{i(s)r}{}_a)">(
      grad.scores, t.Q);

  // pull back through the three projections
  using std::sqrt;
  const S metric = S(1) / S(sqrt(S(double(m.d_k()))));
  const auto fused = [](auto& x, Index rows, Index cols) {
    return regroup<dn, dn>(std::move(x), {rows, cols});
  };
  auto q = project_vjp<S>(X, m.W_Q, m.b_Q,
                          metric * fused(dQ, n, m.W_Q.cols()));
  auto k = project_vjp<S>(C, m.W_K, m.b_K, fused(dK, C.rows(), m.W_K.cols()));
  auto v = project_vjp<S>(C, m.W_V, m.b_V, fused(dV, C.rows(), m.W_V.cols()));
  grad.X = q.X.mat();
  grad.C = (k.X + v.X).mat();
  grad.weights = {m.heads, m.kv_heads, q.W, k.W, v.W, output.W,
                  q.b, k.b, v.b, output.b};
  return grad;
}

// pull back for self-attention and batches
/// The same for self-attention: X receives all three paths.
template <class S>
HeadGradient<S> multihead_vjp(const MultiHead<S>& m, const Input<S>& X,
                              const HeadTrace<S>& t, const Input<S>& dY) {
  HeadGradient<S> g = multihead_vjp(m, X, X, t, dY);
  g.X += g.C;
  g.C.resize(0, 0);
  return g;
}

/// Gradient of the sum of <dY_b, Y_b> over a batch, Y as multihead_batch
/// computes it: of the weights, and of each X_b.
/// Throws std::invalid_argument.
template <class S>
std::pair<MultiHead<S>, std::vector<Matrix<S>>> multihead_batch_vjp(
    const MultiHead<S>& m, const std::vector<Matrix<S>>& X,
    const std::vector<Matrix<S>>& dY, bool causal = false) {
  require(X.size() == dY.size(), "multihead_batch_vjp: ", X.size(),
          " sequences but ", dY.size(), " cotangents");
  std::pair<MultiHead<S>, std::vector<Matrix<S>>> sum{zeros_like(m), {}};

  // add up the gradients of a batch
  for (std::size_t b = 0; b < X.size(); ++b) {
    const Index n = X[b].rows();
    const Matrix<S> bias = causal ? causal_bias<S>(n, n) : Matrix<S>();
    const auto g = multihead_vjp(
        m, X[b], multihead_forward(m, X[b], X[b], bias), dY[b]);
    for_each_weight([](auto, auto& total, const auto& one) { total += one; },
                    sum.first, g.weights);
    sum.second.push_back(g.X);
  }
  return sum;
}
namespace detail {
// differentiate multi-head attention automatically
/// Gradient of <dY, Y> by reverse-mode autodiff, forward pass included.
template <class T>
HeadGradient<T> autodiff_gradient(const MultiHead<T>& m, const Matrix<T>& X,
                                  const Matrix<T>& C, const Matrix<T>& bias,
                                  const Matrix<T>& dY) {
  const auto loss = [&](const auto& x, const auto& c, const auto&... w) {
    const MultiHead<Var<T>> v{m.heads, m.kv_heads, w...};
    const Matrix<Var<T>> Y = attend(v, x, c, lift<Var<T>>(bias));
    Var<T> sum(T(0));
    for (Index i = 0; i < Y.rows(); ++i)
      for (Index j = 0; j < Y.cols(); ++j) sum += Y(i, j) * dY(i, j);
    return sum;
  };
  HeadGradient<T> g;
  auto& w = g.weights;
  std::tie(g.X, g.C, w.W_Q, w.W_K, w.W_V, w.W_O, w.b_Q, w.b_K, w.b_V, w.b_O) =
      gradient(loss, X, C, m.W_Q, m.W_K, m.W_V, m.W_O, m.b_Q, m.b_K, m.b_V,
               m.b_O);
  return g;
}
}  // namespace detail

// verify gradients on the user's own module
/// One row of a report: the largest difference between the gradient that
/// was returned and the true one, and the largest entry of the latter.
struct GradientError {
  std::string name;
  double error, size;
};

/// Compares multihead_vjp(m, X, C) for a random cotangent with reverse-mode
/// differentiation in quad precision; one row for each of X, C and the
/// weights that are not empty.  Shapes and throws as multihead_forward.
template <class S>
std::vector<GradientError> verify_multihead(
    const MultiHead<S>& m, const Input<S>& X, const Input<S>& C,
    const std::type_identity_t<Matrix<S>>& bias = {},
    std::uint64_t seed = 0x5eed) {
  const auto trace = multihead_forward(m, X, C, bias);
  const Matrix<S> dY = gaussian<S>(trace.Y.rows(), trace.Y.cols(), seed);
  auto ours = multihead_vjp(m, X, C, trace, dY);
  const auto truth = detail::autodiff_gradient(
      lifted<quad>(m), lift<quad>(X), lift<quad>(C), lift<quad>(bias),
      lift<quad>(dY));

  // compare gradients field by field
  std::vector<GradientError> report;
  const auto compare = [&](std::string name, const auto& g, const auto& t) {
    if (t.size() > 0)
      report.push_back({name, to_double((lift<quad>(g) - t).cwiseAbs()
                                            .maxCoeff()),
                        to_double(t.cwiseAbs().maxCoeff())});
  };
  compare("X", ours.X, truth.X);
  compare("C", ours.C, truth.C);
  for_each_weight(compare, ours.weights, truth.weights);
  return report;
}
}  // namespace attn
