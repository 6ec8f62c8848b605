// include/attn/multihead.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once

// include what the heads need
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/backward.hpp"
#include "attn/einsum.hpp"
#include "attn/gibbs.hpp"
#include "attn/input.hpp"
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
/// D x H d_k, W_K D_c x G d_k, W_V D_c x G d_v, W_O H d_v x D_o; biases
/// are as long as their matrix has columns, or empty.
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
/// Every scalar type gets the same numbers, rounded; each matrix has a
/// stream of its own, named by name and field.  Throws as completed.
template <class S>
MultiHead<S> xavier(const HeadShape& shape, std::uint64_t seed,
                    const std::string& name = "") {
  const HeadShape s = completed(shape);
  const auto draw = [&](const char* field, Index in, Index out,
                        Index used) {
    const double sigma = std::sqrt(2.0 / double(in + used));
    return lift<S>(Matrix<double>(
        sigma * gaussian<double>(in, out, seed, name + field)));
  };

  // draw the four matrices
  const Index Hk = s.heads * s.d_k, Hv = s.heads * s.d_v, G = s.kv_heads;
  MultiHead<S> m{s.heads, G, {}, {}, {}, {}, {}, {}, {}, {}};
  m.W_Q = draw("W_Q", s.d_model, Hk, Hk);
  m.W_K = draw("W_K", s.d_context, G * s.d_k, Hk);
  m.W_V = draw("W_V", s.d_context, G * s.d_v, Hv);
  m.W_O = draw("W_O", Hv, s.d_out, s.d_out);
  if (s.bias) set_biases(m);
  return m;
}
namespace detail {
// refuse weights that contradict each other
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

  // refuse biases of another length
  const auto fits = [](const Vector<S>& b, const Matrix<S>& W) {
    return b.size() == 0 || b.size() == W.cols();
  };
  require(fits(m.b_Q, m.W_Q) && fits(m.b_K, m.W_K) && fits(m.b_V, m.W_V) &&
              fits(m.b_O, m.W_O),
          f, ": a bias is not as long as its matrix has columns");
}

// refuse inputs that do not fit the weights
template <class S>
void require_multihead(const char* f, const MultiHead<S>& m,
                       const Input<S>& X, const Input<S>& C,
                       const Input<S>& bias) {
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

}  // namespace detail

// the forward pass of all heads

// project the inputs of all heads at once
/// X W, plus b in every row unless b is empty (eq. mh-project).
template <class S>
Tensor<S, up, up> project(const Input<S>& X, const Matrix<S>& W,
                          const Vector<S>& b) {
  const auto x = view<up, up>(X);
  const auto w = view<dn, up>(W);

  // project with a bias in every row
  if (b.size() > 0) {
    const Vector<S> e = Vector<S>::Ones(X.rows());
    return eq<R"(Q^{i\alpha} = X^{im} W_m{}^\alpha + e^i b^\alpha)">(
        x, w, view<up>(e), view<up>(b));
  }
  return eq<R"(Q^{i\alpha} = X^{im} W_m{}^\alpha)">(x, w);
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
  using M = std::conditional_t<std::is_const_v<T>, const Matrix<S>,
                               Matrix<S>>;
  Index rows = 1;
  for (std::size_t k = 0; k + 1 < x.dim.size(); ++k) rows *= x.dim[k];
  return Eigen::Map<M>(x.values.data(), rows, x.dim.back());
}
namespace detail {
// add a bias to the scores of all heads
template <class S>
void add_bias(Tensor<S, up, up, up, up>& scores, const Input<S>& B) {
  if (B.size() == 0) return;
  auto rows = stacked(scores);
  for (Index k = 0; k < rows.rows(); ++k)
    for (Index j = 0; j < rows.cols(); ++j) {
      const S& b = B(k % B.rows(), j);
      rows(k, j) = is_forbidden(b) ? b : S(rows(k, j) + b);
    }
}

// keep forbidden pairs at zero
template <class D, class W>
void keep_forbidden_zero(const Eigen::MatrixBase<D>& scores, W&& w) {
  using S = typename D::Scalar;
  for (Index k = 0; k < w.rows(); ++k)
    if (!all_finite(w.row(k)))
      for (Index j = 0; j < w.cols(); ++j)
        if (is_forbidden(scores(k, j))) w(k, j) = S(0);
}

// name the two sides of a pair
enum class Onto { queries, keys };

// sum over the pairs of all heads
/// product(y), a sum over pairs with factors w; rows of y that are not
/// finite reach those only whose pair is not forbidden.
template <Onto side, class P, class W, class Y, class F>
auto sum_pairs(const P& scores, const W& w, const Y& y, F product) {
  const std::vector<Index> bad = spoilt_rows(stacked(y));
  if (bad.empty()) return product(y);
  Y rest = y;
  for (const Index k : bad)
    stacked(rest).row(k).setConstant(typename Y::scalar(0));
  auto z = product(rest);

  // add what is spoilt to those who may see it
  const auto [G, R, n, m] = scores.dim;
  auto to = stacked(z);
  for (Index k = 0; k < G * R * n; ++k)
    for (Index j = 0; j < m; ++j) {
      const Index h = k / n, i = k % n, q = i * G * R + h, s = j * G + h / R;
      const Index from = side == Onto::queries ? s : q;
      if (std::binary_search(bad.begin(), bad.end(), from) &&
          !is_forbidden(stacked(scores)(k, j)))
        to.row(side == Onto::queries ? q : s) +=
            stacked(w)(k, j) * stacked(y).row(from);
    }
  return z;
}

template <class S>
GivenRows<S> finite_rows(const Input<S>& X, Matrix<S>& copy) {
  const std::vector<Index> bad = spoilt_rows(X);
  if (bad.empty()) return X;
  copy = X;
  for (const Index k : bad) copy.row(k).setConstant(S(0));
  return copy;
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
/// the scores of every head; minus infinity in it forbids a pair, of which
/// nothing is read then (prop. mh-unseen).
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
HeadTrace<S> multihead_forward(const MultiHead<S>& m, const Input<S>& X,
                               const Input<S>& C,
                               const Input<S>& bias = Matrix<S>()) {
  detail::require_multihead("multihead_forward", m, X, C, bias);
  const Index n = X.rows(), G = m.kv_heads, R = m.group();
  HeadTrace<S> t;

  // make queries, keys and values
  const S metric = detail::default_scale<S>(m.d_k());
  t.Q = regroup<up, up, up, dn>(metric * project<S>(X, m.W_Q, m.b_Q),
                                {n, G, R, m.d_k()});
  t.K = regroup<up, up, up>(project<S>(C, m.W_K, m.b_K),
                            {C.rows(), G, m.d_k()});
  t.V = regroup<up, up, up>(project<S>(C, m.W_V, m.b_V),
                            {C.rows(), G, m.d_v()});

  // score and weigh per head
  t.scores = eq<R"(S^{(sr)ij} = Q^{i(sr)}{}_a K^{j(s)a})">(t.Q, t.K);
  detail::add_bias<S>(t.scores, bias);
  t.A = Tensor<S, up, up, up, dn>(G, R, n, C.rows());
  stacked(t.A) = gibbs(stacked(t.scores));
  detail::keep_forbidden_zero(stacked(t.scores), stacked(t.A));

  // mix the values per head
  t.O = regroup<up, up>(
      detail::sum_pairs<detail::Onto::queries>(
          t.scores, t.A, t.V, [&](const auto& V) {
            return eq<R"(O^{i(sr)c} = A^{(sr)i}{}_j V^{j(s)c})">(t.A, V);
          }),
      {n, m.heads * m.d_v()});
  t.Y = project<S>(t.O.mat(), m.W_O, m.b_O).mat();
  return t;
}

// attend and return the result
/// Multi-head attention of X to a context; arguments as multihead_forward.
template <class S>
Matrix<S> attend(const MultiHead<S>& m, const Input<S>& X,
                 const Input<S>& C, const Input<S>& bias = Matrix<S>()) {
  return multihead_forward(m, X, C, bias).Y;
}

/// Multi-head self-attention of X.
template <class S>
Matrix<S> attend(const MultiHead<S>& m, const Input<S>& X) {
  return multihead_forward(m, X, X).Y;
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
  const Index d = m.d_k(), k = h / m.group();
  Tensor<S, dn, dn> g(d, d);
  for (Index a = 0; a < d; ++a) g(a, a) = detail::default_scale<S>(d);
  return eq<"M_{mn} = W_m{}^a g_{ab} U_n{}^b">(  // eq:mh-form
             view<dn, up>(m.W_Q.middleCols(h * d, d)), g,
             view<dn, up>(m.W_K.middleCols(k * d, d)))
      .mat();
}

// the backward pass of all heads
namespace detail {
// refuse foreign traces
template <class S>
void require_cotangent(const char* f, const MultiHead<S>& m,
                       const Input<S>& X, const Input<S>& C,
                       const HeadTrace<S>& t, const Input<S>& dY) {
  require_multihead<S>(f, m, X, C, Matrix<S>());
  const Index n = X.rows(), k = C.rows(), G = m.kv_heads;
  using Four = std::array<Index, 4>;
  require(t.A.dim == Four{G, m.group(), n, k} && t.scores.dim == t.A.dim, f,
          ": the trace has weights ", shape(t.A), ", not of this input");

  // refuse the trace of another module
  using Three = std::array<Index, 3>;
  require(t.Q.dim == Four{n, G, m.group(), m.d_k()} &&
              t.K.dim == Three{k, G, m.d_k()} &&
              t.V.dim == Three{k, G, m.d_v()} &&
              t.O.values.size() == n * m.W_O.rows(),
          f, ": the trace has queries ", shape(t.Q), ", keys ", shape(t.K),
          " and values ", shape(t.V), ", not of this module");
  require(dY.rows() == n && dY.cols() == m.W_O.cols(), f, ": dY is ",
          shape(dY), " but Y is ", shape(t.Y));
}
}  // namespace detail

// start sums with zeros
/// Weights of the same shapes, all zero.
template <class M>
M zeros_like(M m) {
  for_each_weight([](auto, auto& w) { w.setZero(); }, m);
  return m;
}

// pull a cotangent back through a projection
/// Cotangents of the three inputs of project; that of b is empty if b is.
template <class S>
struct ProjectionGradient {
  Tensor<S, dn, dn> X;
  Matrix<S> W;
  Vector<S> b;
};

/// The cotangents for dY, that of project's result, a tensor or a view
/// (eqs. mh-pull-w to mh-pull-x).  Throws std::invalid_argument if shapes
/// do not fit.
template <class S, class D>
ProjectionGradient<S> project_vjp(const Input<S>& X, const Matrix<S>& W,
                                  const Vector<S>& b, const D& dY) {
  ProjectionGradient<S> g;
  const auto x = view<up, up>(X);
  g.W = eq<R"(\bar W^m{}_\alpha = X^{im} \bar Q_{i\alpha})">(  // eq:mh-pull-w
            x, dY).mat();

  // sum the cotangent over positions for the bias
  if (b.size() > 0) {
    const Vector<S> e = Vector<S>::Ones(X.rows());
    g.b = eq<R"(\bar b_\alpha = e^i \bar Q_{i\alpha})">(  // eq:mh-pull-b
              view<up>(e), dY).vec();
  }
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

  // pull back through the output projection
  auto output = project_vjp<S>(t.O.mat(), m.W_O, m.b_O, view<dn, dn>(dY));
  const auto dO = regroup<dn, dn, dn, dn>(std::move(output.X),
                                          {n, G, R, m.d_v()});

  // pull back through the values of all heads
  const auto dA = eq<R"(\bar A_{(sr)i}{}^j = \bar O_{i(sr)c} V^{j(s)c})">(
      dO, t.V);
  auto dV = detail::sum_pairs<detail::Onto::keys>(
      t.scores, t.A, dO, [&](const auto& w) {
        return eq<R"(\bar V_{j(s)c} = A^{(s)ri}{}_j \bar O_{i(s)rc})">(t.A, w);
      });

  // pull back through the softmax of all heads
  grad.scores = Tensor<S, dn, dn, dn, dn>(G, R, n, C.rows());
  stacked(grad.scores) = fisher_lower<S>(stacked(t.A), stacked(dA));
  detail::keep_forbidden_zero(stacked(t.scores), stacked(grad.scores));

  // pull back through the scores of all heads
  auto dQ = detail::sum_pairs<detail::Onto::queries>(
      t.scores, grad.scores, t.K, [&](const auto& K) {
        return eq<R"(\bar Q_{i(sr)}{}^a = \bar S_{(sr)ij} K^{j(s)a})">(
            grad.scores, K);
      });
  auto dK = detail::sum_pairs<detail::Onto::keys>(
      t.scores, grad.scores, t.Q, [&](const auto& Q) {
        return eq<R"(\bar K_{j(s)a} = \bar S_{(s)rij} Q^{i(s)r}{}_a)">(
            grad.scores, Q);
      });

  // pull back through the three projections
  const S metric = detail::default_scale<S>(m.d_k());
  const auto fused = [](auto& x, Index rows, Index cols) {
    return regroup<dn, dn>(std::move(x), {rows, cols});
  };
  Matrix<S> own_x, own_c;
  const auto x =
      detail::finite_rows<S>(X, own_x);
  const auto c =
      detail::finite_rows<S>(C, own_c);
  auto q = project_vjp<S>(x, m.W_Q, m.b_Q,
                          metric * fused(dQ, n, m.W_Q.cols()));
  auto k = project_vjp<S>(c, m.W_K, m.b_K, fused(dK, C.rows(), m.W_K.cols()));
  auto v = project_vjp<S>(c, m.W_V, m.b_V, fused(dV, C.rows(), m.W_V.cols()));
  grad.X = q.X.mat();
  grad.C = (k.X + v.X).mat();
  grad.weights = {m.heads, m.kv_heads, q.W, k.W, v.W, output.W,
                  q.b, k.b, v.b, output.b};
  return grad;
}

/// The same for self-attention: X receives all three paths.
template <class S>
HeadGradient<S> multihead_vjp(const MultiHead<S>& m, const Input<S>& X,
                              const HeadTrace<S>& t, const Input<S>& dY) {
  HeadGradient<S> g = multihead_vjp(m, X, X, t, dY);
  g.X += g.C;
  g.C.resize(0, 0);
  return g;
}
}  // namespace attn
