// include/attn/rounding.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/quad.hpp"
#include "attn/tensor.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
namespace detail {
// take absolute values in double
template <class A>
Matrix<double> magnitudes(const A& a) {
  return a.unaryExpr([](const auto& x) { return to_double(x); })
      .cwiseAbs();
}
}  // namespace detail

// the unit roundoff $u$ and $\gamma_n$
/// u: half the distance from 1 to the next number of type S.
template <class S>
double unit_roundoff() {
  return to_double(std::numeric_limits<S>::epsilon()) / 2;
}
/// 2^-11; Eigen 3.4 gives its half an epsilon of 2^-13 instead of 2^-10.
template <>
inline double unit_roundoff<Eigen::half>() { return 0x1p-11; }
/// gamma_n = n u / (1 - n u); throws std::domain_error unless
/// 0 <= n u < 1.
/// Source: Higham 2002, Lemma 3.1.
inline double gamma(Index n, double u) {
  const double nu = double(n) * u;
  require_domain(n >= 0 && nu >= 0 && nu < 1, "gamma: n u = ", nu,
                 " is not in [0, 1)");
  return nu / (1 - nu);
}

// bound the error of a product of matrices
/// The componentwise error of a product of matrices computed in S from
/// the left (thm. product-bound): gamma_k |A||B|..., k the sum of the
/// inner extents, and what underflow may lose.
/// Shapes must chain; throws std::invalid_argument if they do not.
/// Source: Higham 2002, eq. 3.13.
template <class S = double, class A, class... B>
Matrix<double> product_bound(const A& first, const B&... rest) {
  const double tiny = to_double(std::numeric_limits<S>::denorm_min());
  auto size = detail::magnitudes(first);
  Matrix<double> lost = Matrix<double>::Zero(first.rows(), first.cols());
  Index k = 0;

  // fold in one more factor of the product
  const auto fold = [&](const auto& b) {
    require(size.cols() == b.rows(), "product_bound: ", shape(size),
            " times ", shape(b));
    k += b.rows();
    lost = (lost * b).eval();
    lost.array() += double(b.rows()) * tiny;
    size = (size * b).eval();
  };
  (fold(detail::magnitudes(rest)), ...);

  // add both terms of the product's bound
  const double g = gamma(k, unit_roundoff<S>());
  const double ours = gamma(2 * k + 12, unit_roundoff<double>());
  return (1 + ours) * (g * size + (1 + g) * lost);
}

// bound the error of softmax
/// Componentwise bound on the error of the softmax of each row, computed
/// in T from scores S that are known up to dS (prop. softmax-bound);
/// infinite where dS is so large that the proposition says nothing, and
/// in rows with a score that is +inf or NaN.
/// Shapes: S and dS n x m; throws std::invalid_argument if they differ.
template <class T = double>
Matrix<double> softmax_bound(const Matrix<double>& S,
                             const Matrix<double>& dS) {
  require(S.rows() == dS.rows() && S.cols() == dS.cols(),
          "softmax_bound: S is ", shape(S), " but dS is ", shape(dS));
  const Index n = S.cols();
  const double u = unit_roundoff<T>();
  const double tiny = to_double(std::numeric_limits<T>::denorm_min());
  const double rest = gamma(n, u) + double(n) * tiny;
  Matrix<double> bound = Matrix<double>::Zero(S.rows(), S.cols());
  for (Index i = 0; i < S.rows(); ++i) {
    // bound the errors of one softmax row
    if (!(S.row(i).array() < HUGE_VAL).all()) {
      bound.row(i).setConstant(HUGE_VAL);
      continue;
    }
    const double m = n > 0 ? S.row(i).maxCoeff() : -HUGE_VAL;
    if (m == -HUGE_VAL) continue;  // an empty row: zeros, exactly
    Vector<double> w(n), r(n);
    for (Index j = 0; j < n; ++j) {
      const bool masked = S(i, j) == -HUGE_VAL;
      w(j) = masked ? 0 : std::exp(S(i, j) - m) + 0x1p-1074;
      r(j) = masked ? 0 : dS(i, j) + u * (m - S(i, j)) + gamma(2, u);
    }
    const double most = r.maxCoeff();
    w *= std::min(std::exp(2 * most), 0x1p1000) / w.sum();
    const auto deviation = [&](double sign) {
      double sum = 0;
      for (Index j = 0; j < n; ++j) sum += w(j) * std::expm1(sign * r(j));
      return sum < -0.37 ? -HUGE_VAL : std::log1p(sum);
    };
    const double over = deviation(1), under = deviation(-1);

    // say how much the softmax bound loses itself
    const double more = std::min(0.75 + most + rest, 1000.0);
    const double count = double(5 * n + 4200) * std::max(1.0, more);
    const double own =
        1 + gamma(Index(std::ceil(count)), unit_roundoff<double>());
    for (Index j = 0; j < n; ++j) {
      const double up = std::expm1(r(j) + rest - under);
      const double down = -std::expm1(-r(j) - rest - over);
      const double change = w(j) == 0 ? 0 : w(j) * std::max(up, down);
      bound(i, j) = own * (change + 4 * tiny);
    }
  }
  return bound;
}
}  // namespace attn
