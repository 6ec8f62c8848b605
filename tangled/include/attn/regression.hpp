// include/attn/regression.hpp: tangled from chapters/07-kernel.nw; edit that file, not this one.
#pragma once
#include "attn/attention.hpp"
#include "attn/gibbs.hpp"
#include <limits>
#include <utility>

namespace attn {
// measure distances between queries and keys
/// -|q_i - k_j|^2 / 2 in the metric g: n_q x n_k scores of Gaussian
/// regression (eq. fugacity).  Throws std::invalid_argument on shapes, that
/// of a form which is not square included.
template <class D, Form F>
Matrix<ScalarOf<D>> gaussian_scores(
    const Expr<D>& Q, const Rows<ScalarOf<D>>& K, const F& g) {
  using S = ScalarOf<D>;

  // refuse rows that the form cannot compare
  require(g.rows() == g.cols() && Q.cols() == g.rows() &&
              K.cols() == g.cols(),
          "gaussian_scores: Q is ", shape(Q), " and K is ", shape(K),
          " but the form is ", shape(g));
  const Rows<S> q(Q);
  Matrix<S> G(Q.rows(), K.rows());
  for (Index i = 0; i < Q.rows(); ++i) {
    // square the differences from one query
    const Matrix<S> delta = K.rowwise() - q.row(i);
    const Matrix<S> low = g.lower(delta);
    G.row(i) = S(-0.5) * delta.cwiseProduct(low).rowwise().sum().transpose();
  }
  return G;
}

// weigh keys by their length
/// |k_j|^2 / 2 in the metric g, the log of a key's weight pi_j in
/// attention (eq. fugacity); n_k entries.  Throws std::invalid_argument
/// unless g is square and K as wide.
template <class D, Form F>
Vector<ScalarOf<D>> key_prior(const Expr<D>& K, const F& g) {
  using S = ScalarOf<D>;
  require(g.rows() == g.cols() && K.cols() == g.cols(), "key_prior: K is ",
          shape(K), " but the form is ", shape(g));
  const Rows<S> k(K);
  const Matrix<S> low = g.lower(k);
  return S(0.5) * k.cwiseProduct(low).rowwise().sum();
}

// estimate by a weighted mean
/// Gaussian kernel regression in the metric g: V is n_k x d_v; O, A, S and
/// logZ as for attention (eq. nw).  Throws std::invalid_argument.
template <class D, Form F>
Attention<ScalarOf<D>> nadaraya_watson(
    const Expr<D>& Q, const Rows<ScalarOf<D>>& K,
    const Rows<ScalarOf<D>>& V, const F& g) {
  require(V.rows() == K.rows(), "nadaraya_watson: K is ", shape(K),
          " but V is ", shape(V));
  Matrix<ScalarOf<D>> G = gaussian_scores(Q, K, g);
  auto [A, logZ] = weigh(G);
  Matrix<ScalarOf<D>> O = average(A, V);
  return {std::move(O), std::move(A), std::move(G), std::move(logZ)};
}
/// The same with bandwidth h in every direction; throws
/// std::domain_error unless h > 0 and h^2 and its inverse are finite, as
/// computed.
template <class D>
Attention<ScalarOf<D>> nadaraya_watson(
    const Expr<D>& Q, const Rows<ScalarOf<D>>& K,
    const Rows<ScalarOf<D>>& V, const ScalarOf<D>& h) {
  using S = ScalarOf<D>;
  const S g = S(1) / (h * h);
  require_domain(S(0) < h && S(0) < g && g - g == S(0),
                 "nadaraya_watson: bandwidth ", h);
  return nadaraya_watson(Q, K, V, Metric<S>::scaled(Q.cols(), g));
}

// predict each value from the others
/// Predictions of V (n x d_v) by attention with scores (n x n) in which no
/// position sees itself (prop. leave-one-out).  Throws on shapes.
template <class D>
Matrix<ScalarOf<D>> leave_one_out(
    const Expr<D>& scores, const Rows<ScalarOf<D>>& V) {
  using S = ScalarOf<D>;

  // refuse scores that are not square
  require(scores.rows() == scores.cols() && V.rows() == scores.rows(),
          "leave_one_out: the scores are ", shape(scores), " but V is ",
          shape(V));
  Matrix<S> masked = scores;
  masked.diagonal().setConstant(
      S(-std::numeric_limits<double>::infinity()));
  return average(softmax(masked), V);
}

// fit a weighted line
namespace detail {
/// Value at q of the weighted line through (K, V), weights a (sum 1).
/// NaN if a moment of the keys is not finite.  Throws std::domain_error.
template <class S>
RowVector<S> line_at(const RowVector<S>& q, const RowVector<S>& a,
                     const Rows<S>& K, const Rows<S>& V, const S& ridge,
                     Index query) {
  // take the moments of keys and values
  const RowVector<S> k = a * K, o = a * V;
  const Matrix<S> X = K.rowwise() - k, Y = V.rowwise() - o;
  const Matrix<S> W = a.transpose().asDiagonal() * X;
  Matrix<S> G = eq<"G^{ab} = W_j{}^a X^{jb}">(  // eq:key-covariance
      view<dn, up>(W), view<up, up>(X)).mat();
  const Matrix<S> C = eq<"C^{ac} = W_j{}^a Y^{jc}">(  // eq:key-value
      view<dn, up>(W), view<up, up>(Y)).mat();
  G.diagonal().array() += ridge;

  // refuse keys that determine no slope
  const S nothing = (G - G).sum();
  if (!(nothing == S(0))) return RowVector<S>::Constant(V.cols(), nothing);
  const auto why = diagnose(G);
  require_domain(why.positive(), "local_linear: the keys that query ", query,
                 " sees leave a direction undetermined (pivot ", why.pivot,
                 "); add a ridge");
  const Matrix<S> step = q - k;
  return o + solve_rows(cholesky(G), step) * C;
}
}  // namespace detail
/// Local linear attention: weights A (n_q x n_k, rows sum to 1 or are
/// empty), Q n_q x d, K n_k x d, V n_k x d_v -> n_q x d_v (eq.
/// local-linear).  Throws std::invalid_argument on shapes,
/// std::domain_error for ridge < 0, a negative weight, other sums or a
/// singular row.  A NaN weight makes its row NaN; a key that is not
/// finite, or moments that overflow, every row that is not empty.
template <class D>
Matrix<ScalarOf<D>> local_linear(
    const Expr<D>& A, const Rows<ScalarOf<D>>& Q,
    const Rows<ScalarOf<D>>& K, const Rows<ScalarOf<D>>& V,
    const std::type_identity_t<ScalarOf<D>>& ridge = 0) {
  using S = ScalarOf<D>;

  // refuse weights that do not fit, or a negative ridge
  require(A.rows() == Q.rows() && A.cols() == K.rows() &&
              V.rows() == K.rows() && Q.cols() == K.cols(),
          "local_linear: A is ", shape(A), ", Q ", shape(Q), ", K ",
          shape(K), ", V ", shape(V));
  require_domain(!(ridge < S(0)), "local_linear: ridge ", ridge);

  // allow weights their roundings
  const S slack = S(double(A.cols() + 8)) * std::numeric_limits<S>::epsilon();
  Matrix<S> O = Matrix<S>::Zero(Q.rows(), V.cols());
  for (Index i = 0; i < Q.rows(); ++i) {
    // answer one query by its line
    const RowVector<S> a = A.row(i), q = Q.row(i);
    if ((a.array() == S(0)).all()) continue;
    require_domain(!(a.array() < S(0)).any(),
                   "local_linear: a weight of query ", i, " is negative");
    const S sum = a.sum(), off = S(1) < sum ? sum - S(1) : S(1) - sum;
    require_domain(!(off > slack), "local_linear: the weights of query ", i,
                   " add up to ", sum);
    O.row(i) = detail::line_at<S>(q, a, K, V, ridge, i);
  }
  return O;
}
}  // namespace attn
