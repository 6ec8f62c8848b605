// live/port.hpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#pragma once
#include "attn/tensor.hpp"

namespace live {
using namespace attn;

// read and write numbers in a row
/// Numbers that a page has written.
struct In {
  const double* at;
  double number() { return *at++; }
  Index whole() { return Index(number()); }
  Matrix<double> matrix(Index n, Index d) {
    at += n * d;
    return Eigen::Map<const Matrix<double>>(at - n * d, n, d);
  }
};
/// Numbers for a page, and how many there are by now.
struct Out {
  double* at;
  int count = 0;
  void operator()(double x) { at[count++] = x; }
  template <class D>
  void operator()(const Eigen::MatrixBase<D>& m) {
    for (Index i = 0; i < m.rows(); ++i)
      for (Index j = 0; j < m.cols(); ++j) (*this)(double(m(i, j)));
  }
};
}  // namespace live
