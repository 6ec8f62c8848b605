// include/attn/softmax.hpp: tangled from chapters/01-bilinear.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <limits>

#include "attn/tensor.hpp"

namespace attn {
// weigh one row of scores
/// Writes the softmax of s_0..s_{n-1} to a; returns log sum exp(s).
template <class S>
S softmax_row(const S* s, S* a, Index n) {
  using std::exp, std::log1p;
  const S empty(-std::numeric_limits<double>::infinity());
  Index top = 0;
  for (Index j = 1; j < n; ++j)
    if (s[top] < s[j]) top = j;
  if (n == 0) return empty;

  // weigh each key against the largest
  S rest = s[top] == s[top] ? S(0) : s[top];  // a NaN in front
  for (Index j = 0; j < n; ++j) {
    a[j] = s[j] == empty ? S(0) : j == top ? S(1) : S(exp(s[j] - s[top]));
    if (j != top) rest += a[j];
  }
  if (s[top] == empty && rest == S(0)) return empty;
  for (Index j = 0; j < n; ++j) a[j] /= S(1) + rest;
  return s[top] + log1p(rest);
}

// weigh all rows of scores
/// Weights A (n_q x n_k) and log Z (n_q), Z the sum of exponentials.
template <class S>
struct Weights {
  Matrix<S> A;
  Vector<S> logZ;
};
/// Row-wise softmax with its partition functions.  -inf: weight 0; rows
/// of -inf: zeros, log Z = -inf; NaN, or two +inf: the row is NaN.
template <class D>
Weights<typename D::Scalar> weigh(const Eigen::MatrixBase<D>& scores) {
  using S = typename D::Scalar;
  const Eigen::Ref<const Matrix<S>> s(scores);
  Weights<S> w{Matrix<S>(s.rows(), s.cols()), Vector<S>(s.rows())};
  for (Index i = 0; i < s.rows(); ++i)
    w.logZ(i) = softmax_row(s.data() + i * s.outerStride(),
                            w.A.data() + i * s.cols(), s.cols());
  return w;
}
/// Row-wise softmax: A^i_j = exp(S^ij) / sum_k exp(S^ik); n_q x n_k.
template <class D>
Matrix<typename D::Scalar> softmax(const Eigen::MatrixBase<D>& scores) {
  return weigh(scores).A;
}
}  // namespace attn
