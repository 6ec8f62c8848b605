// include/attn/backward.hpp: tangled from chapters/04-backward.nw; edit that file, not this one.
#pragma once

// include what the passes need
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "attn/argument.hpp"
#include "attn/autodiff.hpp"
#include "attn/einsum.hpp"
#include "attn/form.hpp"
#include "attn/form_gradient.hpp"
#include "attn/gibbs.hpp"
#include "attn/tensor.hpp"

namespace attn {
namespace detail {
// what all passes use

// recognise what is not finite
template <class D>
bool all_finite(const Eigen::MatrixBase<D>& row) {
  if constexpr (std::is_arithmetic_v<typename D::Scalar>)
    return row.allFinite();
  else
    for (Index k = 0; k < row.size(); ++k)
      if (const auto zero = value(row(k)) - value(row(k)); zero != zero)
        return false;
  return true;
}
template <class R>
std::vector<Index> spoilt_rows(const Eigen::MatrixBase<R>& Y) {
  std::vector<Index> rows;
  for (Index j = 0; j < Y.rows(); ++j)
    if (!all_finite(Y.row(j))) rows.push_back(j);
  return rows;
}

// sum over the pairs that may meet
template <class D, class W, class R, class F>
Matrix<ScalarOf<R>> sum_seen(const Eigen::MatrixBase<D>& scores,
                             const Eigen::MatrixBase<W>& w,
                             const Eigen::MatrixBase<R>& Y, F product) {
  using S = ScalarOf<R>;
  const std::vector<Index> spoilt = spoilt_rows(Y);
  if (spoilt.empty()) return product(Y.derived());

  // keep spoilt rows from those who may not see them
  Matrix<S> rest = Y;
  for (const Index j : spoilt) rest.row(j).setConstant(S(0));
  Matrix<S> Z = product(rest);
  for (const Index j : spoilt)
    for (Index i = 0; i < Z.rows(); ++i)
      if (!is_forbidden(scores(i, j))) Z.row(i) += w(i, j) * Y.row(j);
  return Z;
}
template <class S>
void keep_zeros(const Matrix<S>& scores, Matrix<S>& W) {
  for (const Index i : spoilt_rows(W))
    for (Index j = 0; j < W.cols(); ++j)
      if (is_forbidden(scores(i, j))) W(i, j) = S(0);
}
template <class D, class S>
const Matrix<S>& only_seen(const Eigen::MatrixBase<D>& scores,
                           const Matrix<S>& Y, Matrix<S>& copy) {
  const std::vector<Index> spoilt = spoilt_rows(Y);
  if (spoilt.empty()) return Y;
  copy = Y;
  for (const Index j : spoilt) {
    bool seen = false;
    for (Index i = 0; i < scores.rows(); ++i)
      seen = seen || !is_forbidden(scores(i, j));
    if (!seen) copy.row(j).setConstant(S(0));
  }
  return copy;
}

// multiply weights with what they weigh
template <class D, class R>
Matrix<ScalarOf<D>> weight_cotangent(const D& dO, const R& V) {
  return eq<R"(\bar A_i{}^j = \bar O_{ic} V^{jc})">(  // eq:da
      view<dn, dn>(dO), view<up, up>(V)).mat();
}
template <class S, class D>
Matrix<S> value_cotangent(const Matrix<S>& A, const D& dO) {
  return eq<R"(\bar V_{jc} = A^i{}_j \bar O_{ic})">(  // eq:dv
      view<up, dn>(A), view<dn, dn>(dO)).mat();
}
template <class S>
Matrix<S> weighted(const Matrix<S>& A, const Matrix<S>& V) {
  return eq<"O^{ic} = A^i{}_j V^{jc}">(view<up, dn>(A),
                                      view<up, up>(V)).mat();
}

// multiply cotangents of scores with keys and queries
template <class S, class R>
Matrix<S> query_cotangent(const Matrix<S>& dS, const R& K_low) {
  return eq<R"(\bar Q_{ia} = \bar S_{ij} K^j{}_a)">(  // eq:dq
      view<dn, dn>(dS), view<up, dn>(K_low)).mat();
}
template <class S, class R>
Matrix<S> key_cotangent(const Matrix<S>& dS, const R& Q_low) {
  return eq<R"(\bar K_{jb} = \bar S_{ij} Q^i{}_b)">(  // eq:dk
      view<dn, dn>(dS), view<up, dn>(Q_low)).mat();
}

// find the heaviest key of a row
template <class D>
Index heaviest_key(const Eigen::MatrixBase<D>& A, Index i) {
  if (A.cols() == 0) return -1;
  Index at = 0;
  if constexpr (std::is_arithmetic_v<typename D::Scalar>) {
    const auto top = A.row(i).maxCoeff();
    while (at + 1 < A.cols() && A(i, at) < top) ++at;
  } else {
    // look at one weight after the other
    for (Index j = 1; j < A.cols(); ++j)
      if (A(i, at) < A(i, j)) at = j;
  }
  return at;
}

// find the largest score of a row
template <class S>
std::optional<S> row_maximum(const Matrix<S>& scores, Index i) {
  std::optional<S> m;
  for (Index j = 0; j < scores.cols(); ++j)
    if (!is_forbidden(scores(i, j)) && (!m || *m < scores(i, j)))
      m = scores(i, j);
  return m;
}

// scale attention without a form
template <class S>
S default_scale(Index d) {
  using std::sqrt;
  return S(1) / S(sqrt(S(int(d))));
}
}  // namespace detail

// the passes of first order

// pull back through the values
/// Cotangents of the factors of O = A V.
template <class S>
struct OutputGradient {
  Matrix<S> A, V;
};
/// Cotangents of weights and values for the cotangent dO of O = A V (eqs.
/// dv, da).  Shapes: A n_q x n_k, V n_k x d_v, dO n_q x d_v.
/// Throws std::invalid_argument if they do not fit.
template <class S>
OutputGradient<S> output_vjp(const Matrix<S>& A, const Matrix<S>& V,
                             const Matrix<S>& dO) {
  require(A.cols() == V.rows(), "output_vjp: A is ", shape(A), " but V is ",
          shape(V));
  require(dO.rows() == A.rows() && dO.cols() == V.cols(),
          "output_vjp: dO is ", shape(dO), ", expected ", A.rows(), "x",
          V.cols());
  return {detail::weight_cotangent(dO, V), detail::value_cotangent(A, dO)};
}

// pull back through the scores
/// Cotangents of queries and keys.
template <class S>
struct ScoreGradient {
  Matrix<S> Q, K;
};
/// Cotangents of queries and keys for the cotangent dS of the scores (eqs.
/// dq, dk).  Shapes: dS n_q x n_k, lowered queries n_q x d_k, lowered keys
/// n_k x d_q.  Throws std::invalid_argument if they do not fit.
template <class S>
ScoreGradient<S> scores_vjp(const Matrix<S>& dS, const Matrix<S>& Q_low,
                            const Matrix<S>& K_low) {
  require(dS.rows() == Q_low.rows() && dS.cols() == K_low.rows(),
          "scores_vjp: dS is ", shape(dS), ", Q_low ", shape(Q_low),
          ", K_low ", shape(K_low));
  return {detail::query_cotangent(dS, K_low),
          detail::key_cotangent(dS, Q_low)};
}

// lower a row index with the Fisher metric
/// F X per row, F = diag(A_i) - A_i A_i^T, gauge-fixed at the heaviest
/// key (eq. gauge-fixed): cotangents of weights to cotangents of scores/T,
/// tangents of scores/T to tangents of weights.  A, X and result n_q x n_k;
/// X is not read where A is 0.  Throws std::invalid_argument for unequal
/// shapes.
template <class S>
Matrix<S> fisher_lower(const Matrix<S>& A, const Matrix<S>& X) {
  require(A.rows() == X.rows() && A.cols() == X.cols(),
          "fisher_lower: A is ", shape(A), " but X is ", shape(X));
  Matrix<S> Y(A.rows(), A.cols());
  for (Index i = 0; i < A.rows() && A.cols() > 0; ++i) {
    // lower one row, fixing its gauge
    const S* a = A.data() + i * A.cols();
    const S* x = X.data() + i * A.cols();
    S* y = Y.data() + i * A.cols();
    const S c = x[detail::heaviest_key(A, i)];
    for (Index j = 0; j < A.cols(); ++j)
      y[j] = a[j] == S(0) ? S(0) : S(x[j] - c);
    const S mean = A.row(i).dot(Y.row(i));
    for (Index j = 0; j < A.cols(); ++j) y[j] = a[j] * (y[j] - mean);
  }
  return Y;
}

// say what attention is computed from
/// Which pairs (i, j) may meet: n_q x n_k, true where allowed.
using Allowed = Matrix<bool>;

/// What attention is computed from.  Shapes: Q n_q x d_q, K n_k x d_k,
/// V n_k x d_v, M d_q x d_k (absent: identity/sqrt(d_k)), bias (-infinity
/// forbids a pair) and mask n_q x n_k (absent: none); temperature T in
/// units of the scores.
template <class S>
struct AttentionInputs {
  using scalar = S;
  Matrix<S> Q, K, V;
  std::optional<Matrix<S>> M = std::nullopt;
  std::optional<Matrix<S>> bias = std::nullopt;
  std::optional<Allowed> mask = std::nullopt;
  S T = S(1);
};
/// One number for each number that attention reads: a gradient, or a
/// direction.  M is 0 x 0 if the inputs have none; bias is n_q x n_k.
template <class S>
struct AttentionParts {
  Matrix<S> Q, K, V, M{}, bias{};
  S T = S(0);
};
/// One number for each number that attention returns: a cotangent, or a
/// tangent.  Shapes: O n_q x d_v; logZ n_q, or empty if not used.
template <class S>
struct OutputParts {
  Matrix<S> O;
  Vector<S> logZ{};
};
/// What the backward pass needs of the forward pass: lowered queries
/// Q^i_b (n_q x d_k) and keys K^j_a (n_k x d_q), scores and weights
/// (n_q x n_k), outputs O (n_q x d_v) and logZ (n_q).
template <class S>
struct AttentionForward {
  Matrix<S> Q_low, K_low, scores, weights, O;
  Vector<S> logZ;
};
namespace detail {
// demand inputs that fit
template <class S>
void require_inputs(const char* who, const AttentionInputs<S>& x) {
  const Index n = x.Q.rows(), m = x.K.rows();
  require(x.V.rows() == m, who, ": K is ", shape(x.K), " but V is ",
          shape(x.V));

  // demand a form that fits
  if (x.M)
    require(x.M->rows() == x.Q.cols() && x.M->cols() == x.K.cols(), who,
            ": M is ", shape(*x.M), ", expected ", x.Q.cols(), "x",
            x.K.cols());
  else
    require(x.Q.cols() == x.K.cols() && x.K.cols() > 0, who, ": Q is ",
            shape(x.Q), " and K is ", shape(x.K),
            ", which without M must have equally many columns, not none");
  if (x.bias)
    require(x.bias->rows() == n && x.bias->cols() == m, who, ": bias is ",
            shape(*x.bias), ", expected ", n, "x", m);
  if (x.mask)
    require(x.mask->rows() == n && x.mask->cols() == m, who, ": mask is ",
            shape(*x.mask), ", expected ", n, "x", m);
}

// demand outputs that fit
template <class S>
void require_outputs(const char* who, const AttentionInputs<S>& x,
                     const OutputParts<S>& y) {
  require(y.O.rows() == x.Q.rows() && y.O.cols() == x.V.cols(), who,
          " of O is ", shape(y.O), ", expected ", x.Q.rows(), "x",
          x.V.cols());
  require(y.logZ.size() == 0 || y.logZ.size() == x.Q.rows(), who,
          " of logZ has ", y.logZ.size(), " entries, expected ",
          x.Q.rows());
}

// demand the forward pass of these inputs
template <class S>
void require_forward(const char* who, const AttentionInputs<S>& x,
                     const AttentionForward<S>& f) {
  const auto is = [&](const char* name, const Matrix<S>& a, Index n,
                      Index m) {
    require(a.rows() == n && a.cols() == m, who, ": the forward pass has ",
            name, " ", shape(a), ", expected ", n, "x", m);
  };
  is("Q_low", f.Q_low, x.Q.rows(), x.K.cols());
  is("K_low", f.K_low, x.K.rows(), x.Q.cols());
  is("scores", f.scores, x.Q.rows(), x.K.rows());
  is("weights", f.weights, x.Q.rows(), x.K.rows());
}

// demand a direction that fits
template <class S>
void require_direction(const char* who, const AttentionInputs<S>& x,
                       const AttentionParts<S>& u) {
  const auto like = [&](const char* name, const Matrix<S>& a, Index n,
                        Index m, bool optional) {
    require((optional && a.size() == 0) || (a.rows() == n && a.cols() == m),
            who, " of ", name, " is ", shape(a), ", expected ", n, "x", m);
  };
  like("Q", u.Q, x.Q.rows(), x.Q.cols(), false);
  like("K", u.K, x.K.rows(), x.K.cols(), false);
  like("V", u.V, x.V.rows(), x.V.cols(), false);
  like("M", u.M, x.Q.cols(), x.K.cols(), true);
  like("bias", u.bias, x.Q.rows(), x.K.rows(), true);
}

// score, weigh and sum up
template <class S>
void attend(const AttentionInputs<S>& x, AttentionForward<S>& f) {
  // score and forbid
  f.scores = eq<"S^{ij} = Q^{ia} K^j{}_a">(  // eq:lowered-score
      view<up, up>(x.Q), view<up, dn>(f.K_low)).mat();
  const S never(-std::numeric_limits<double>::infinity());
  if (x.bias)
    f.scores = x.bias->binaryExpr(f.scores, [&](const S& b, const S& s) {
      return is_forbidden(b) ? never : S(s + b);
    }).eval();
  if (x.mask) f.scores = x.mask->select(f.scores, never).eval();
  f.weights = gibbs(f.scores, x.T);
  keep_zeros(f.scores, f.weights);

  // sum up the rows that are not empty
  f.logZ = Vector<S>::Constant(f.scores.rows(), never);
  for (Index i = 0; i < f.scores.rows(); ++i)
    if (row_maximum(f.scores, i))
      f.logZ(i) = log_partition(f.scores.row(i), x.T)(0);
  f.O = sum_seen(f.scores, f.weights, x.V, [&](const Matrix<S>& V) {
    return weighted(f.weights, V);
  });
}

// pull back to scores and temperature
template <class S>
Matrix<S> scores_cotangent(const S& T, const AttentionForward<S>& f,
                           const Matrix<S>& dA, const Vector<S>& dlogZ) {
  Matrix<S> dS = fisher_lower(f.weights, dA);
  for (Index i = 0; i < dlogZ.size(); ++i)
    for (Index j = 0; j < dS.cols(); ++j)
      if (const S& a = f.weights(i, j); !(a == S(0)))
        dS(i, j) += a * dlogZ(i);
  dS /= T;
  keep_zeros(f.scores, dS);
  return dS;
}
template <class S>
S temperature_cotangent(const S& T, const AttentionForward<S>& f,
                        const Matrix<S>& dS, const Vector<S>& dlogZ) {
  S total(0);
  for (Index i = 0; i < dS.rows(); ++i)
    if (const auto m = row_maximum(f.scores, i)) {
      S sum(0);
      for (Index j = 0; j < dS.cols(); ++j)
        if (!(f.weights(i, j) == S(0)))
          sum += dS(i, j) * (f.scores(i, j) - *m);
      if (dlogZ.size() > 0) sum += *m * dlogZ(i) / T;
      total += sum;
    }
  return -total / T;
}
}  // namespace detail

// run attention and keep what is needed
/// Attention with everything it can have (eq. full).  An empty row has
/// O = 0, logZ = -infinity; what a query may not see it does not read
/// (prop. unseen).  Throws std::invalid_argument for shapes that do not
/// fit, std::domain_error unless 0 < T < infinity.
template <class S>
AttentionForward<S> attention_forward(const AttentionInputs<S>& x) {
  detail::require_inputs("attention_forward", x);
  AttentionForward<S> f;

  // lower queries and keys with the form
  if (x.M) {
    const auto M = view<dn, dn>(*x.M);
    f.Q_low = eq<"Q^i{}_b = Q^{ia} M_{ab}">(  // eq:lower-query
        view<up, up>(x.Q), M).mat();
    f.K_low = eq<"K^j{}_a = M_{ab} K^{jb}">(  // eq:lower-key
        M, view<up, up>(x.K)).mat();
  } else {
    const S scale = detail::default_scale<S>(x.K.cols());
    f.Q_low = x.Q * scale;
    f.K_low = x.K * scale;
  }
  detail::attend(x, f);
  return f;
}
/// The same with scores by a metric g, which stays structured; pass the
/// result to attention_vjp or attention_jvp, and use form_vjp for the
/// cotangent of g.  Throws as above, and if x has a form already.
template <class S>
AttentionForward<S> attention_forward(const AttentionInputs<S>& x,
                                      const Metric<S>& g) {
  require(!x.M, "attention_forward: both M and a metric are given");
  detail::require_inputs("attention_forward", x);
  AttentionForward<S> f;
  f.Q_low = g.lower(x.Q);
  f.K_low = g.lower(x.K);
  detail::attend(x, f);
  return f;
}

// pull cotangents back through attention
/// Gradient of <bar.O, O> + <bar.logZ, logZ> with respect to everything
/// attention reads (eqs. dv to dt), given its forward pass f.
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
AttentionParts<S> attention_vjp(const AttentionInputs<S>& x,
                                const AttentionForward<S>& f,
                                const OutputParts<S>& bar) {
  // demand that all three belong together
  detail::require_inputs("attention_vjp", x);
  detail::require_forward("attention_vjp", x, f);
  detail::require_outputs("attention_vjp: cotangent", x, bar);
  AttentionParts<S> g;

  // pull back through values and weights
  g.V = detail::sum_seen(
      f.scores.transpose(), f.weights.transpose(), bar.O,
      [&](const Matrix<S>& w) {
        return detail::value_cotangent(f.weights, w);
      });
  g.bias = detail::scores_cotangent(
      x.T, f, detail::weight_cotangent(bar.O, x.V), bar.logZ);

  // pull back through the form
  const Matrix<S>& dS = g.bias;
  const auto pairs = f.scores.transpose();
  g.Q = detail::sum_seen(f.scores, dS, f.K_low, [&](const Matrix<S>& K) {
    return detail::query_cotangent(dS, K);
  });
  g.K = detail::sum_seen(
      pairs, dS.transpose(), f.Q_low, [&](const Matrix<S>& Q) {
        return detail::key_cotangent(dS, Q);
      });
  if (Matrix<S> q, k; x.M)
    g.M = form_vjp(detail::only_seen(pairs, x.Q, q), dS,
                   detail::only_seen(f.scores, x.K, k));
  g.T = detail::temperature_cotangent(x.T, f, g.bias, bar.logZ);
  return g;
}
/// The same, forward pass included.
template <class S>
AttentionParts<S> attention_vjp(const AttentionInputs<S>& x,
                                const OutputParts<S>& bar) {
  return attention_vjp(x, attention_forward(x), bar);
}

// push a direction through attention
/// Tangent of O and logZ along a direction u in the inputs, given the
/// forward pass f; u.M and u.bias may be empty.  If f was run with a
/// metric, u.M is a direction of the metric.
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
OutputParts<S> attention_jvp(const AttentionInputs<S>& x,
                             const AttentionForward<S>& f,
                             const AttentionParts<S>& u) {
  detail::require_inputs("attention_jvp", x);
  detail::require_forward("attention_jvp", x, f);
  detail::require_direction("attention_jvp: direction", x, u);

  // move the scores along a direction
  Matrix<S> dY =
  eq<R"(\dot S^{ij} = \dot Q^{ia} K^j{}_a + Q^i{}_b \dot K^{jb})">(  // eq:none
          view<up, up>(u.Q), view<up, dn>(f.K_low), view<up, dn>(f.Q_low),
          view<up, up>(u.K)).mat();
  if (u.M.size() > 0)
    dY += eq<R"(\dot S^{ij} = Q^{ia} \dot M_{ab} K^{jb})">(  // eq:none
        view<up, up>(x.Q), view<dn, dn>(u.M), view<up, up>(x.K)).mat();
  if (u.bias.size() > 0) dY += u.bias;
  dY /= x.T;
  OutputParts<S> y;

  // turn tangents of scores into tangents of weights
  const S speed = u.T / (x.T * x.T);
  y.logZ = Vector<S>::Zero(dY.rows());
  for (Index i = 0; i < dY.rows(); ++i)
    if (const auto m = detail::row_maximum(f.scores, i)) {
      for (Index j = 0; j < dY.cols(); ++j)
        if (!(f.weights(i, j) == S(0))) {
          dY(i, j) -= (f.scores(i, j) - *m) * speed;
          y.logZ(i) += f.weights(i, j) * dY(i, j);
        }
      y.logZ(i) -= *m * speed;
    }
  Matrix<S> dA = fisher_lower(f.weights, dY);
  detail::keep_zeros(f.scores, dA);

  // move the outputs with weights and values
  const auto moved = [&](const Matrix<S>& A, const Matrix<S>& V) {
    return detail::sum_seen(f.scores, A, V, [&](const Matrix<S>& v) {
      return detail::weighted(A, v);
    });
  };
  y.O = moved(dA, x.V) + moved(f.weights, u.V);
  return y;
}
/// The same, forward pass included.
template <class S>
OutputParts<S> attention_jvp(const AttentionInputs<S>& x,
                             const AttentionParts<S>& u) {
  return attention_jvp(x, attention_forward(x), u);
}

// pair cotangents with tangents
/// <a, b>: sum of products of entries; a part that one lacks counts 0.
/// Throws std::invalid_argument for parts of different shapes.
template <class S>
S duality(const Matrix<S>& a, const Matrix<S>& b) {
  S sum(0);
  if (a.size() == 0 || b.size() == 0) return sum;
  require(a.rows() == b.rows() && a.cols() == b.cols(), "duality: ",
          shape(a), " with ", shape(b));
  for (Index k = 0; k < a.size(); ++k) sum += a.data()[k] * b.data()[k];
  return sum;
}
template <class S>
S duality(const AttentionParts<S>& a, const AttentionParts<S>& b) {
  return duality(a.Q, b.Q) + duality(a.K, b.K) + duality(a.V, b.V) +
         duality(a.M, b.M) + duality(a.bias, b.bias) + a.T * b.T;
}
template <class S>
S duality(const OutputParts<S>& a, const OutputParts<S>& b) {
  return duality(a.O, b.O) +
         duality<S>(Matrix<S>(a.logZ), Matrix<S>(b.logZ));
}

// convert structures to another scalar
/// The same in another scalar type, entry by entry.
template <class R, class S>
AttentionParts<R> lift(const AttentionParts<S>& a) {
  return {lift<R>(a.Q), lift<R>(a.K),    lift<R>(a.V),
          lift<R>(a.M), lift<R>(a.bias), static_cast<R>(a.T)};
}
template <class R, class S>
OutputParts<R> lift(const OutputParts<S>& y) {
  return {lift<R>(y.O), lift<R>(y.logZ)};
}
template <class R, class S>
AttentionInputs<R> lift(const AttentionInputs<S>& x) {
  AttentionInputs<R> y{lift<R>(x.Q), lift<R>(x.K), lift<R>(x.V)};
  if (x.M) y.M = lift<R>(*x.M);
  if (x.bias) y.bias = lift<R>(*x.bias);
  y.mask = x.mask;
  y.T = static_cast<R>(x.T);
  return y;
}
namespace detail {
// move inputs by dual numbers
template <class S>
Matrix<Dual<S>> dual(const Matrix<S>& a, const Matrix<S>& b) {
  Matrix<Dual<S>> z = lift<Dual<S>>(a);
  for (Index k = 0; k < b.size(); ++k) z.data()[k].d = b.data()[k];
  return z;
}
template <class S>
Matrix<S> bias_or_zero(const AttentionInputs<S>& x) {
  return x.bias ? *x.bias : Matrix<S>(Matrix<S>::Zero(x.Q.rows(),
                                                      x.K.rows()));
}
template <class S>
AttentionInputs<Dual<S>> dual_inputs(const AttentionInputs<S>& x,
                                     const AttentionParts<S>& u) {
  AttentionInputs<Dual<S>> z{dual(x.Q, u.Q), dual(x.K, u.K),
                             dual(x.V, u.V)};
  if (x.M) z.M = dual(*x.M, u.M);
  if (x.bias || u.bias.size() > 0)
    z.bias = dual(bias_or_zero(x), u.bias);
  z.mask = x.mask;
  z.T = Dual<S>(x.T, u.T);
  return z;
}
template <class S>
OutputParts<Dual<S>> dual_outputs(const OutputParts<S>& bar,
                                  const OutputParts<S>& bar_dot) {
  return {dual<S>(bar.O, bar_dot.O),
          Vector<Dual<S>>(dual<S>(bar.logZ, bar_dot.logZ))};
}
}  // namespace detail

// multiply the Hessian by a direction
/// Derivative along u of the gradient attention_vjp(x, bar): a product
/// with the Hessian of <bar.O, O> + <bar.logZ, logZ>; bar_dot is the
/// derivative of bar along u if the cotangents depend on the inputs.
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
AttentionParts<S> attention_hvp(const AttentionInputs<S>& x,
                                const AttentionParts<S>& u,
                                const OutputParts<S>& bar,
                                const OutputParts<S>& bar_dot = {}) {
  // demand a direction and cotangents that fit
  detail::require_inputs("attention_hvp", x);
  detail::require_direction("attention_hvp: direction", x, u);
  require(x.M || u.M.size() == 0,
          "attention_hvp: direction of M, but the inputs have none");
  detail::require_outputs("attention_hvp: cotangent", x, bar);
  require(bar_dot.O.size() == 0 || (bar_dot.O.rows() == bar.O.rows() &&
                                    bar_dot.O.cols() == bar.O.cols()),
          "attention_hvp: bar_dot of O is ", shape(bar_dot.O));
  require(bar_dot.logZ.size() == 0 ||
              bar_dot.logZ.size() == bar.logZ.size(),
          "attention_hvp: bar_dot of logZ has ", bar_dot.logZ.size(),
          " entries");
  const auto g = attention_vjp(detail::dual_inputs(x, u),
                               detail::dual_outputs(bar, bar_dot));
  const auto d = [](const Matrix<Dual<S>>& m) {
    return Matrix<S>(m.unaryExpr([](const Dual<S>& t) { return t.d; }));
  };
  return {d(g.Q), d(g.K), d(g.V), d(g.M), d(g.bias), g.T.d};
}

// measure the flow of a gradient
/// Frobenius norms along one layer: forward S, A, O, backward dO, dA, dS,
/// dQ, dK, dV.
struct GradientFlow {
  double S, A, O, dO, dA, dS, dQ, dK, dV;
};
/// Norms of what flows forward and back through attention at x.
/// Forbidden scores do not count.  Throws as attention_vjp.
template <class S>
GradientFlow gradient_flow(const AttentionInputs<S>& x,
                           const OutputParts<S>& bar) {
  const auto f = attention_forward(x);
  const auto g = attention_vjp(x, f, bar);
  const auto dA = output_vjp(f.weights, x.V, bar.O).A;
  const auto norm = [](const Matrix<S>& m) {
    return lift<double>(m).unaryExpr([](double s) {
      return is_forbidden(s) ? 0 : s;
    }).norm();
  };
  return {norm(f.scores), norm(f.weights), norm(f.O),
          norm(bar.O),    norm(dA),        norm(g.bias),
          norm(g.Q),      norm(g.K),       norm(g.V)};
}
}  // namespace attn
