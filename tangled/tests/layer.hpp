// tests/layer.hpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#pragma once
#include <array>
#include <cmath>
#include "attn/tensor.hpp"

namespace attn {
// softmax of each row, by its recipe
template <class S>
Matrix<S> softmax(const Matrix<S>& scores) {
  using std::exp;
  Matrix<S> A = scores;
  for (Index i = 0; i < A.rows(); ++i) {
    S m = A(i, 0), Z(0);
    for (Index j = 1; j < A.cols(); ++j)
      if (m < A(i, j)) m = A(i, j);
    for (Index j = 0; j < A.cols(); ++j) {
      A(i, j) = exp(S(A(i, j) - m));
      Z += A(i, j);
    }
    for (Index j = 0; j < A.cols(); ++j) A(i, j) /= Z;
  }
  return A;
}

// a layer of attention reduced to a number
template <class S>
S layer(const Matrix<S>& Q, const Matrix<S>& K, const Matrix<S>& V,
        const Matrix<S>& W) {
  const Matrix<S> scores = Q * K.transpose();
  const Matrix<S> A = softmax(scores);
  const Matrix<S> O = A * V;
  return S(O.cwiseProduct(W).sum());
}

// its gradient by hand
template <class S>
std::array<Matrix<S>, 3> layer_gradient(
    const Matrix<S>& Q, const Matrix<S>& K, const Matrix<S>& V,
    const Matrix<S>& W) {
  const Matrix<S> scores = Q * K.transpose(), A = softmax(scores);
  const Matrix<S> dA = W * V.transpose();
  Matrix<S> dS = A.cwiseProduct(dA);
  for (Index i = 0; i < A.rows(); ++i) {
    const S mean = dS.row(i).sum();
    dS.row(i) -= mean * A.row(i);
  }
  return {dS * K, dS.transpose() * Q, A.transpose() * W};
}
}  // namespace attn
