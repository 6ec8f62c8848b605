// include/attn/form_gradient.hpp: tangled from chapters/03-geometry.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/einsum.hpp"
#include "attn/tensor.hpp"

namespace attn {
// pull cotangents back to a form
/// Cotangent M-bar^{ab} of a form or metric from the cotangent dS of the
/// scores.  Shapes: Q n_q x d_q, dS n_q x n_k, K n_k x d_k, result
/// d_q x d_k.  Throws std::invalid_argument unless they chain.
template <class S>
Matrix<S> form_vjp(const Matrix<S>& Q, const Matrix<S>& dS,
                   const Matrix<S>& K) {
  return eq<R"(\bar M^{ab} = Q^{ia} \bar S_{ij} K^{jb})">(
      view<up, up>(Q), view<dn, dn>(dS), view<up, up>(K)).mat();
}
/// Cotangents of W (r x d) and D (d) for g = W^T W + diag(D).
template <class S>
struct FactorGradient {
  Matrix<S> W;
  Vector<S> D;
};
/// Cotangents of a low-rank metric without forming g-bar.
/// Throws std::invalid_argument unless the shapes chain.
template <class S>
FactorGradient<S> factor_gradient(const Matrix<S>& W, const Matrix<S>& Q,
                                  const Matrix<S>& dS, const Matrix<S>& K) {
  require(Q.rows() == dS.rows() && K.rows() == dS.cols() &&
              Q.cols() == W.cols() && K.cols() == W.cols(),
          "factor_gradient: W ", shape(W), ", Q ", shape(Q), ", dS ",
          shape(dS), ", K ", shape(K));
  const Matrix<S> SK = dS * K, SQ = dS.transpose() * Q;
  const Matrix<S> dW = (W * Q.transpose()) * SK + (W * K.transpose()) * SQ;
  return {dW, Q.cwiseProduct(SK).colwise().sum().transpose()};
}
}  // namespace attn
