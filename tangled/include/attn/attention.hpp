// include/attn/attention.hpp: tangled from chapters/01-bilinear.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <limits>
#include <utility>

#include "attn/argument.hpp"
#include "attn/einsum.hpp"
#include "attn/form.hpp"
#include "attn/rounding.hpp"
#include "attn/softmax.hpp"
#include "attn/tensor.hpp"

namespace attn {
// compute the scores of a form
/// S^ij = Q^ia g_ab K^jb: Q is n_q x rows, K is n_k x cols of the form;
/// returns n_q x n_k.  Throws std::invalid_argument (eq. score-matrix).
template <class DQ, class DK, Form F>
Matrix<typename F::scalar> scores(const Eigen::MatrixBase<DQ>& Q,
                                  const Eigen::MatrixBase<DK>& K,
                                  const F& g) {
  using S = typename F::scalar;
  require(Q.cols() == g.rows() && K.cols() == g.cols(), "scores: Q is ",
          shape(Q), " and K is ", shape(K), " but the form is ", shape(g));
  const Rows<S> q(Q), k(K);
  const Matrix<S> low = g.lower(k);
  return eq<"S^{ij} = Q^{ia} K^j{}_a">(view<up, up>(q),  // eq:scores
                                       view<up, dn>(low)).mat();
}
/// Standard scores, with the metric delta/sqrt(d); Q and K have d columns.
/// Throws std::invalid_argument.
template <class DQ, class DK>
Matrix<typename DQ::Scalar> scores(const Eigen::MatrixBase<DQ>& Q,
                                   const Eigen::MatrixBase<DK>& K) {
  require(Q.cols() == K.cols(), "scores: Q is ", shape(Q), " but K is ",
          shape(K));
  return scores(Q, K, Metric<typename DQ::Scalar>::scaled(K.cols()));
}

// attend with a bilinear form
/// What an attention layer computes, by the names of eq. score-matrix.
template <class T>
struct Attention {
  Matrix<T> O, A, S;
  Vector<T> logZ;
};
/// O^ic = A^i_j V^jc: weights n_q x n_k, values n_k x d_v -> n_q x d_v.
/// Throws std::invalid_argument if A and V do not match.
template <class DA, class DV>
Matrix<typename DA::Scalar> average(const Eigen::MatrixBase<DA>& A,
                                    const Eigen::MatrixBase<DV>& V) {
  require(A.cols() == V.rows(), "average: A is ", shape(A), " but V is ",
          shape(V));
  const Rows<typename DA::Scalar> a(A), v(V);
  return eq<"O^{ic} = A^i{}_j V^{jc}">(view<up, dn>(a),  // eq:output
                                       view<up, up>(v)).mat();
}
/// Attention with the form g; shapes as for scores, V is n_k x d_v.
/// Throws std::invalid_argument naming the shapes that do not fit.
template <class DQ, class DK, class DV, Form F>
Attention<typename F::scalar> attention(const Eigen::MatrixBase<DQ>& Q,
                                        const Eigen::MatrixBase<DK>& K,
                                        const Eigen::MatrixBase<DV>& V,
                                        const F& g) {
  require(V.rows() == K.rows(), "attention: K is ", shape(K),
          " but V is ", shape(V));
  auto S = scores(Q, K, g);
  auto [A, logZ] = weigh(S);
  auto O = average(A, V);
  return {std::move(O), std::move(A), std::move(S), std::move(logZ)};
}
/// Standard attention: softmax(Q K^T / sqrt(d)) V and what leads to it.
/// Throws std::invalid_argument.
template <class DQ, class DK, class DV>
Attention<typename DQ::Scalar> attention(const Eigen::MatrixBase<DQ>& Q,
                                         const Eigen::MatrixBase<DK>& K,
                                         const Eigen::MatrixBase<DV>& V) {
  require(Q.cols() == K.cols(), "attention: Q is ", shape(Q),
          " but K is ", shape(K));
  return attention(Q, K, V, Metric<typename DQ::Scalar>::scaled(K.cols()));
}

// bound the error of attention beforehand
/// Componentwise bounds on the errors of scores, weights, and outputs.
struct AttentionBound {
  Matrix<double> S, A, O;
};
/// A-priori bound for attention(Q, K, V) in the arithmetic of Q's scalar
/// (thm. forward-error); shapes as for attention, d >= 1.  Throws
/// std::invalid_argument naming the shapes that do not fit.
template <class DQ, class DK, class DV>
AttentionBound attention_bound(const Eigen::MatrixBase<DQ>& Q,
                               const Eigen::MatrixBase<DK>& K,
                               const Eigen::MatrixBase<DV>& V) {
  using T = typename DQ::Scalar;
  require(Q.cols() == K.cols() && K.rows() == V.rows(), "attention_bound: ",
          "Q is ", shape(Q), ", K ", shape(K), ", V ", shape(V));
  const double u = unit_roundoff<T>(), d = double(Q.cols());
  const double tiny = to_double(std::numeric_limits<T>::denorm_min());
  const auto q = lift<double>(Q), k = lift<double>(K);
  AttentionBound b;

  // bound the error of the scores
  const auto size = (q.cwiseAbs() * k.cwiseAbs().transpose()).eval();
  b.S = gamma(Q.cols() + 4, u) / std::sqrt(d) * size;
  b.S.array() += 2 * d * tiny;

  // bound the errors of weights and outputs
  Matrix<double> dS = (1 + u) * b.S;
  if (K.rows() > 0) dS.colwise() += u * b.S.rowwise().maxCoeff();
  const auto S = scores(q, k), A = softmax(S);
  b.A = softmax_bound<T>(S, dS);
  const Matrix<double> share = b.A + gamma(K.rows() + 1, u) * (A + b.A);
  b.O = share * lift<double>(V).cwiseAbs();
  b.O.array() += double(K.rows()) * tiny;
  return b;
}
}  // namespace attn
