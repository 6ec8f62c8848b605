// include/attn/gibbs.hpp: tangled from chapters/02-gibbs.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/rounding.hpp"
#include "attn/softmax.hpp"
#include <cmath>
#include <span>

namespace attn {
// see scores as contiguous rows
/// Any matrix expression.
template <class D>
using Expr = Eigen::MatrixBase<D>;
/// The type of an expression's entries.
template <class D>
using ScalarOf = typename D::Scalar;
/// Scores, one row per query; copies only what is not stored by rows.
template <class S>
using ScoreRows = Eigen::Ref<const Matrix<S>>;

/// Row i of M as a span of its n_k numbers.
template <class S>
std::span<const S> row_span(const ScoreRows<S>& M, Index i) {
  return {M.data() + i * M.outerStride(), std::size_t(M.cols())};
}

// recognise a forbidden key
/// Is s minus infinity, the score of a key that may not be attended to?
template <class S>
bool is_forbidden(const S& s) {
  return s < S(0) && s == s + s;
}
/// exp(-x) = exp((s - m)/T), exactly 0 for a forbidden key.
template <class S>
S boltzmann_factor(const S& s, const S& m, const S& T) {
  using std::exp;
  return is_forbidden(s) ? S(0) : S(exp((s - m) / T));
}

// find the ground state of a row
/// The largest score m and the first key that attains it (at = -1: no key).
template <class S>
struct Ground {
  S m;
  Index at;
};
/// Ground state of one row of scores.
template <class S>
Ground<S> ground_state(std::span<const S> s) {
  Ground<S> g{S(-std::numeric_limits<double>::infinity()), -1};
  for (Index j = 0; j < std::ssize(s); ++j)
    if (g.at < 0 || g.m < s[std::size_t(j)]) g = {s[std::size_t(j)], j};
  return g;
}

// reduce a row to its ensemble
/// What thermodynamics needs to know of a row: the largest score m, and the
/// sums of exp(-x) and of x exp(-x) over all keys but the one attaining m.
template <class S>
struct Ensemble {
  S m, rest, first;
  /// Mean reduced excitation, sum_j A_j x_j.
  S mean() const { return first / (S(1) + rest); }
};

/// Ensemble of one row of scores at temperature T (eq. excitation).
template <class S>
Ensemble<S> ensemble(std::span<const S> s, const S& T) {
  const auto [m, top] = ground_state(s);
  Ensemble<S> e{m, m == m ? S(0) : m, S(0)};  // a NaN in front
  for (Index j = 0; j < std::ssize(s); ++j) {
    // add the factor of one key to both sums
    const S& sj = s[std::size_t(j)];
    const S w = j == top ? S(0) : boltzmann_factor(sj, m, T);
    if (w == S(0)) continue;
    e.rest += w;
    e.first += (m - sj) / T * w;
  }
  return e;
}

// turn a row into Gibbs weights
/// a_j <- exp(-x_j)/(1 + r) for one row of scores (eq. excitation), with
/// room for as many numbers at x.
template <class S>
void gibbs_row(std::span<const S> s, const S& T, S* x, S* a) {
  const auto [m, top] = ground_state(s);
  for (Index j = 0; j < std::ssize(s); ++j) {
    const S& sj = s[std::size_t(j)];
    const bool zero = j == top && m == m;  // unless it is NaN
    x[j] = is_forbidden(sj) ? sj : zero ? S(0) : S((sj - m) / T);
  }
  softmax_row(x, a, std::ssize(s));
}

// refuse a temperature that is none
/// Throws std::domain_error unless 0 < T < infinity.
template <class S>
void require_temperature(const char* function, const S& T) {
  require_domain(S(0) < T && !(T == T + T), function,
                 ": temperature must be positive and finite");
}

// map a function over the rows
/// Refuses to compile for a column vector, which is not rows of scores.
template <class D>
constexpr void require_rows() {
  static_assert(D::ColsAtCompileTime != 1 || D::RowsAtCompileTime == 1,
                "scores are rows, one per query: transpose the column");
}
/// The vector of f(ensemble of row i, row i), one entry per query.
template <class D, class F>
Vector<ScalarOf<D>> each_row(
    const char* function, const Expr<D>& scores,
    const ScalarOf<D>& T, F f) {
  require_temperature(function, T);
  require_rows<D>();
  const ScoreRows<ScalarOf<D>> S(scores);
  Vector<ScalarOf<D>> y(S.rows());
  for (Index i = 0; i < S.rows(); ++i)
    y(i) = f(ensemble(row_span(S, i), T), row_span(S, i));
  return y;
}

// compute weights and partition functions
/// Gibbs weights A of scores (n_q x n_k) at temperature T (eq. gibbs).
/// Returns n_q x n_k; rows sum to 1, or to 0 if every key is forbidden.
/// Throws std::domain_error unless 0 < T < infinity; NaN propagates.
template <class D>
Matrix<ScalarOf<D>> gibbs(
    const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  require_temperature("gibbs", T);
  require_rows<D>();
  const ScoreRows<ScalarOf<D>> S(scores);
  Matrix<ScalarOf<D>> A(S.rows(), S.cols());
  Vector<ScalarOf<D>> x(S.cols());
  for (Index i = 0; i < S.rows(); ++i)
    gibbs_row(row_span(S, i), T, x.data(), A.data() + i * A.cols());
  return A;
}
/// log Z per query, the log-sum-exp of S/T (eq. excitation); n_q entries,
/// -infinity for an empty row.  Throws std::domain_error for a bad T.
template <class D>
auto log_partition(const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  return each_row("log_partition", scores, T, [&](const auto& e, auto) {
    using std::log1p;
    return ScalarOf<D>(e.m / T + log1p(e.rest));
  });
}

/// Z per query (eq. gibbs); overflows to infinity for large S/T, which
/// log_partition does not.  Throws std::domain_error for a bad T.
template <class D>
Vector<ScalarOf<D>> partition_function(
    const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  return log_partition(scores, T).array().exp();
}
/// log A per entry: -x_j - log(1 + r); -infinity for forbidden keys and for
/// empty rows.  Shapes and throws as gibbs.
template <class D>
Matrix<ScalarOf<D>> log_softmax(
    const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  const ScoreRows<S> rows(scores);
  Matrix<S> y(rows.rows(), rows.cols());
  Index i = 0;
  each_row("log_softmax", rows, T, [&](const auto& e, auto s) {
    // subtract the free energy from a row
    using std::log1p;
    for (Index j = 0; j < y.cols(); ++j) {
      const S& sj = s[std::size_t(j)];
      y(i, j) = is_forbidden(sj) ? sj
                                 : S((sj - e.m) / T - log1p(e.rest));
    }
    ++i;
    return S(0);
  });
  return y;
}

// share the weight among the best keys
/// The limit T -> 0 of gibbs: uniform on each row's best keys, zero
/// elsewhere; empty rows are zero, a NaN makes its row NaN.  n_q x n_k.
template <class D>
Matrix<ScalarOf<D>> hard_attention(const Expr<D>& scores) {
  using S = ScalarOf<D>;
  require_rows<D>();
  const ScoreRows<S> rows(scores);
  Matrix<S> A = Matrix<S>::Zero(rows.rows(), rows.cols());
  for (Index i = 0; i < A.rows(); ++i) {
    const S m = ground_state(row_span(rows, i)).m;
    if (is_forbidden(m)) continue;

    // mark the best keys and share among them
    for (Index j = 0; j < A.cols(); ++j) {
      const S& s = rows(i, j);
      A(i, j) = s != s ? s : S(s == m);
    }
    A.row(i) /= S(A.row(i).sum());
  }
  return A;
}

// compute entropies from scores
/// Entropy of the Gibbs weights per query, in nats, from the scores
/// (eq. cold-entropy): accurate at any temperature; 0 for an empty row.
/// Throws std::domain_error for a bad T.
template <class D>
auto gibbs_entropy(const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  return each_row("gibbs_entropy", scores, T, [](const auto& e, auto) {
    using std::log1p;
    return ScalarOf<D>(log1p(e.rest) + e.mean());
  });
}

// demand weights that are distributions
/// Are the entries of row i none of them negative, with the given sum?
/// NaN counts as yes: it is for the result to tell.
template <class S>
bool is_distribution(const ScoreRows<S>& A, Index i, const S& total) {
  using std::abs;
  const S slack = static_cast<S>(std::sqrt(unit_roundoff<S>()));
  S sum(0);
  for (Index j = 0; j < A.cols(); ++j) {
    if (A(i, j) < S(0)) return false;
    sum += A(i, j);
  }
  return !(slack < abs(S(sum - total)));
}

/// Throws std::domain_error unless each row is a distribution or zero.
template <class S>
void require_distributions(const char* name, const ScoreRows<S>& A) {
  for (Index i = 0; i < A.rows(); ++i)
    require_domain(A.row(i).isZero(S(0)) || is_distribution(A, i, S(1)),
                   name, ": row ", i,
                   " must have entries >= 0 that sum to 1");
}

// compute entropies from weights
/// p log p, continuous at 0.
template <class S>
S xlogx(const S& p) {
  using std::log;
  return p == S(0) ? S(0) : S(p * log(p));
}

/// Entropy of given weights per row, in nats (def. entropy).  n_q entries.
/// Throws std::domain_error unless rows are distributions or zero.
template <class D>
Vector<ScalarOf<D>> entropy(const Expr<D>& weights) {
  using S = ScalarOf<D>;
  require_rows<D>();
  const ScoreRows<S> A(weights);
  require_distributions<S>("entropy", A);
  Vector<S> H = Vector<S>::Zero(A.rows());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j) H(i) -= xlogx(S(A(i, j)));
  return H;
}
/// Largest entropy of n keys, log n, in nats; 0 for n = 0.
/// Throws std::invalid_argument.
inline double max_entropy(Index n) {
  require(n >= 0, "max_entropy: n = ", n, " is negative");
  return n == 0 ? 0.0 : std::log(double(n));
}

/// H / log n in [0, 1] per row, n the number of keys; 0 if n < 2.
/// Throws as entropy.
template <class D>
Vector<ScalarOf<D>> normalised_entropy(const Expr<D>& weights) {
  using S = ScalarOf<D>;
  using std::log;
  const Vector<S> H = entropy(weights);
  if (weights.cols() < 2) return Vector<S>::Zero(H.size());
  return H / S(log(S(double(weights.cols()))));
}
/// Effective number of keys exp(H) per row; 0 for an empty row.
/// Throws as entropy.
template <class D>
Vector<ScalarOf<D>> effective_states(const Expr<D>& weights) {
  using S = ScalarOf<D>;
  Vector<S> n = entropy(weights).array().exp();
  for (Index i = 0; i < n.size(); ++i)
    if (S(weights.row(i).sum()) == S(0)) n(i) = S(0);
  return n;
}
}  // namespace attn
