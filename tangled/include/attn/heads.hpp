// include/attn/heads.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once
#include <cmath>

#include <Eigen/SVD>

#include "attn/argument.hpp"
#include "attn/gibbs.hpp"
#include "attn/multihead.hpp"
#include "attn/tensor.hpp"

namespace attn {
namespace detail {
// refuse weights that are no heads
template <class S>
Index queries_per_head(const char* f, const ScoreRows<S>& A, Index heads) {
  require(heads > 0 && A.rows() % heads == 0, f, ": A has ", A.rows(),
          " rows, not a multiple of ", heads, " heads");
  require_distributions<S>(f, A);
  return A.rows() / heads;
}

// measure how far one head is from the mean
template <class S>
S js_term(const S& a, const S& m) {
  using std::log, std::log1p;
  if (a == S(0) || m == S(0)) return m;
  const S near = a + a < m ? S(log(S(a / m))) : S(log1p(S((a - m) / m)));
  return S(a * near) - (a - m);
}

// take the larger of two, or what is no number
/// The larger of two numbers; NaN if either is.
template <class S>
S wider(const S& w, const S& d) {
  return w == w && !(d < w) ? d : w;
}
}  // namespace detail

// compare the heads' weights
/// Jensen-Shannon diversity of heads in nats (def. js), mean over the
/// queries that see a key.  A: weights of all heads, head after head,
/// (H n_q) x n_k.  In [0, log H]; 0 for one head or no query.
/// Throws std::invalid_argument unless heads divides the rows of A, and
/// std::domain_error unless rows are distributions, or zero in all heads.
template <class D>
typename D::Scalar head_diversity(const Eigen::MatrixBase<D>& weights,
                                  Index heads) {
  using S = typename D::Scalar;
  const ScoreRows<S> A(weights);
  const Index n = detail::queries_per_head("head_diversity", A, heads);
  S sum(0);
  Index seen = 0;
  for (Index i = 0; i < n; ++i) {
    // average the heads at one query
    RowVector<S> mean = RowVector<S>::Zero(A.cols());
    Index empty = 0;
    for (Index h = 0; h < heads; ++h) {
      mean += A.row(h * n + i);
      empty += A.row(h * n + i).isZero(S(0));
    }
    if (empty == heads) continue;
    require_domain(empty == 0, "head_diversity: query ", i, " sees keys in ",
                   heads - empty, " of ", heads, " heads");

    // add how far each head is from the average
    ++seen;
    mean /= S(double(heads));
    for (Index h = 0; h < heads; ++h)
      for (Index j = 0; j < A.cols(); ++j)
        sum += detail::js_term(S(A(h * n + i, j)), mean(j));
  }
  return seen == 0 ? S(0) : S(sum / S(double(seen * heads)));
}
/// 1 - mean cosine of pairs of heads, each flattened; the sources' measure.
/// Throws std::invalid_argument for fewer than two heads, and
/// std::domain_error if a head's weights are all zero.
template <class D>
typename D::Scalar cosine_diversity(const Eigen::MatrixBase<D>& weights,
                                    Index heads) {
  using S = typename D::Scalar;
  const Matrix<S> A = weights;  // contiguous, whatever it was
  const Index n = detail::queries_per_head<S>("cosine_diversity", A, heads);
  require(heads > 1, "cosine_diversity: one head has no pair");

  // make unit vectors of the heads
  Matrix<S> unit =
      Eigen::Map<const Matrix<S>>(A.data(), heads, n * A.cols());
  for (Index h = 0; h < heads; ++h) {
    const S norm = unit.row(h).norm();
    require_domain(!(norm == S(0)), "cosine_diversity: head ", h, " is zero");
    unit.row(h) /= norm;
  }
  const S pairs = unit.colwise().sum().squaredNorm() - S(double(heads));
  return S(1) - pairs / S(double(heads * (heads - 1)));
}
/// Entropy of each head in nats, mean over queries; H entries.
/// Throws as head_diversity.
template <class D>
Vector<typename D::Scalar> head_entropy(const Eigen::MatrixBase<D>& weights,
                                        Index heads) {
  using S = typename D::Scalar;
  const Index n =
      detail::queries_per_head<S>("head_entropy", weights, heads);
  const Vector<S> H = entropy(weights);
  Vector<S> mean = Vector<S>::Zero(heads);
  for (Index h = 0; h < heads && n > 0; ++h)
    mean(h) = H.segment(h * n, n).mean();
  return mean;
}

// measure how much an average forgets
/// Dobrushin's coefficient: half the largest l1 distance of two rows of A
/// (def. dobrushin), in [0, 1]; 0 for fewer than two rows.
/// Throws std::domain_error unless rows are distributions or zero.
template <class D>
typename D::Scalar dobrushin(const Eigen::MatrixBase<D>& weights) {
  using S = typename D::Scalar;
  const ScoreRows<S> A(weights);
  require_distributions<S>("dobrushin", A);
  S widest(0);
  for (Index i = 0; i < A.rows(); ++i)
    for (Index k = 0; k < i; ++k) {
      const S d = (A.row(i) - A.row(k)).cwiseAbs().sum() / S(2);
      widest = detail::wider(widest, d);
    }
  return widest;
}
/// Largest Euclidean distance of two rows of X; 0 for fewer than two, NaN
/// if two of them have none.
template <class D>
typename D::Scalar diameter(const Eigen::MatrixBase<D>& points) {
  using S = typename D::Scalar;
  const ScoreRows<S> X(points);
  S widest(0);
  for (Index i = 0; i < X.rows(); ++i)
    for (Index k = 0; k < i; ++k) {
      const S d = (X.row(i) - X.row(k)).norm();
      widest = detail::wider(widest, d);
    }
  return widest;
}

// bound the diameter after one layer
/// Bound on diameter(attend(m, X)) from delta = diameter(X), without masks
/// (thm. collapse).  Throws std::invalid_argument for bad weights.
template <class = void>
double collapse_bound(const MultiHead<double>& m, double delta) {
  detail::require_weights("collapse_bound", m);
  const auto norm = [](const Matrix<double>& M) {
    return Eigen::JacobiSVD<Eigen::MatrixXd>(M).singularValues()(0);
  };
  double c = 0;
  const Index v = m.d_v();
  for (Index h = 0; h < m.heads; ++h) {
    const Matrix<double> N = m.W_V.middleCols(h / m.group() * v, v) *
                             m.W_O.middleRows(h * v, v);
    c += norm(N) * std::tanh(norm(implicit_form(m, h)) * delta * delta / 4);
  }
  return c * delta;
}
}  // namespace attn
