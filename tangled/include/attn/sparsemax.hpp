// include/attn/sparsemax.hpp: tangled from chapters/06a-weights.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attn/form.hpp"
#include "attn/thermodynamics.hpp"

namespace attn {
namespace detail {
// find the threshold by Newton
/// tau with sum_j [z_j - tau]_+^q = 1, for z <= 0 with maximum 0, q >= 1;
/// -inf entries count for nothing (prop. entmax-newton).
template <class S>
S entmax_threshold(std::span<const S> z, const S& q) {
  using std::pow;
  S tau(-1);
  for (int step = 0; step < 1000; ++step) {
    // evaluate the excess and its slope
    S f(-1), lost(0), slope(0);
    for (const S& zj : z)
      if (tau < zj) {
        const S x = zj - tau, power = pow(x, S(q - S(1))), term = x * power;
        const S sum = f + term, added = sum - f;
        lost += (f - (sum - added)) + (term - added);
        f = sum, slope += q * power;
      }
    f += lost;
    const S next = tau + f / slope;
    if (!(tau < next)) return S(tau + (f - S(value(f))) / slope);
    tau = next;
  }
  return tau;
}

// find the heaviest weight
/// The first key of the largest weight in row i; 0 if there are none.
template <class S>
Index heaviest_weight(const Matrix<S>& p, Index i) {
  Index top = 0;
  for (Index j = 1; j < p.cols(); ++j)
    if (p(i, top) < p(i, j)) top = j;
  return top;
}

// guard a step by its bracket
/// Newton's step if it stays between low and high, otherwise `else_`.
template <class S>
S guarded(const S& newton, const S& low, const S& high, const S& else_) {
  return low < newton && newton < high ? newton : else_;
}
}  // namespace detail

// compute sparse weights
/// Weights of thm. entmax, n_q x n_k; alpha = 1 is gibbs.  Throws
/// std::domain_error unless 1 <= alpha <= 2 and 0 < T < infinity.
template <class D>
Matrix<ScalarOf<D>> entmax(const Expr<D>& scores,
                           const ScalarOf<D>& alpha,
                           const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  using std::pow;
  require_temperature("entmax", T);
  require_domain(S(1) <= alpha && alpha <= S(2), "entmax: alpha = ",
                 to_double(value(alpha)), " is not in [1, 2]");
  if (alpha == S(1)) return gibbs(scores, T);

  // compute all sparse rows
  const ScoreRows<S> rows(scores);
  const S q = S(1) / (alpha - S(1));
  Matrix<S> p = Matrix<S>::Zero(rows.rows(), rows.cols());
  std::vector<S> z(std::size_t(rows.cols()));
  for (Index i = 0; i < p.rows(); ++i) {
    // measure a row from its best key
    const auto [m, top] = ground_state(row_span(rows, i));
    S taint(0);
    for (Index j = 0; j < p.cols(); ++j) {
      const S& sj = row_span(rows, i)[std::size_t(j)];
      const bool zero = j == top && m == m;  // unless it is NaN
      S& zj = z[std::size_t(j)];
      zj = is_forbidden(sj) ? sj
           : zero ? S(0) : S((alpha - S(1)) * (sj - m) / T);
      if (zj != zj) taint = zj;
    }

    // compute one sparse row
    if (is_forbidden(m) && taint == taint) continue;
    const S tau = taint == taint ? detail::entmax_threshold<S>(z, q) : taint;
    for (Index j = 0; j < p.cols(); ++j) {
      const S& zj = z[std::size_t(j)];
      p(i, j) = taint != taint ? taint : tau < zj ? S(pow(S(zj - tau), q)) : S(0);
    }
  }
  return p;
}
/// The nearest point of the simplex, row by row (Martins 2016).
template <class D>
Matrix<ScalarOf<D>> sparsemax(const Expr<D>& scores) {
  return entmax(scores, ScalarOf<D>(2));
}
/// Tsallis entropy H_alpha per row (eq. tsallis); Shannon's if alpha = 1.
/// A row with a NaN has no entropy but NaN.
template <class S>
Vector<S> tsallis_entropy(const Matrix<S>& p, const S& alpha) {
  using std::log, std::pow;
  Vector<S> H = Vector<S>::Constant(p.rows(), S(0));
  for (Index i = 0; i < p.rows(); ++i)
    for (Index j = 0; j < p.cols(); ++j)
      if (!(p(i, j) == S(0)))
        H(i) += alpha == S(1)
                    ? S(-p(i, j) * log(p(i, j)))
                    : S(p(i, j) * (S(1) - pow(p(i, j), S(alpha - S(1)))) /
                        (alpha * (alpha - S(1))));
  return H;
}

// pull back through sparse weights
/// Cotangent of the scores from that of p = entmax(scores, alpha, T)
/// (thm. entmax-jacobian).  Throws std::invalid_argument on shapes and
/// std::domain_error unless 0 < T < infinity.
template <class S>
Matrix<S> entmax_vjp(const Matrix<S>& p,
                     const std::type_identity_t<Matrix<S>>& dp,
                     const std::type_identity_t<S>& alpha,
                     const std::type_identity_t<S>& T = S(1)) {
  using std::pow;
  require_temperature("entmax_vjp", T);
  require(p.rows() == dp.rows() && p.cols() == dp.cols(),
          "entmax_vjp: p is ", shape(p), " but dp is ", shape(dp));
  Matrix<S> dS = Matrix<S>::Zero(p.rows(), p.cols()), w = dS;
  for (Index i = 0; i < p.rows(); ++i) {
    // pull back through one sparse row
    const Index top = detail::heaviest_weight(p, i);
    S total(0), sum(0);
    for (Index j = 0; j < p.cols(); ++j)
      if (!(p(i, j) == S(0))) {
        w(i, j) = p(i, j) == p(i, j) ? S(pow(p(i, j), S(S(2) - alpha))) : p(i, j);
        dS(i, j) = dp(i, j) - dp(i, top);
        total += w(i, j), sum += w(i, j) * dS(i, j);
      }
    for (Index j = 0; j < p.cols(); ++j)
      if (!(p(i, j) == S(0))) dS(i, j) = w(i, j) * (dS(i, j) - sum / total) / T;
  }
  return dS;
}

// normalise rows and columns
/// Doubly stochastic weights and their potentials (thm. sinkhorn).
template <class S>
struct Sinkhorn {
  Matrix<S> P;
  Vector<S> f, g;
  int rounds = 0;
  S residual{0};  // how much g moved in the last round
};
namespace detail {
/// Throws std::domain_error naming the first entry that is not finite.
template <class S>
void require_finite(std::string_view who, std::string_view what,
                    const Matrix<S>& x) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      require_domain(x(i, j) - x(i, j) == S(0), who, ": ", what, " ", i, ",",
                     j, " is not finite");
}
}  // namespace detail
/// At most `rounds` rounds, fewer if g moves by no more than tolerance.
/// Throws std::domain_error unless all scores are finite.
template <class S>
Sinkhorn<S> sinkhorn(const Matrix<S>& scores,
                     const std::type_identity_t<S>& T, int rounds = 1000,
                     const std::type_identity_t<S>& tolerance = S(0)) {
  using std::exp, std::log;
  require_temperature("sinkhorn", T);
  const Index n = scores.rows(), m = scores.cols();
  detail::require_finite("sinkhorn", "score", scores);
  const Matrix<S> L = scores / T;
  Sinkhorn<S> k{Matrix<S>(n, m), Vector<S>::Constant(n, S(0)),
                Vector<S>::Constant(m, S(0))};

  // alternate until the potentials rest
  const auto rows = [&] {
    k.f = log_partition(Matrix<S>(L.rowwise() - k.g.transpose()));
  };
  for (bool moving = n > 0 && m > 0; moving && k.rounds < rounds;
       ++k.rounds) {
    rows();
    const Vector<S> old = k.g;
    k.g = log_partition(Matrix<S>(L.transpose().rowwise() - k.f.transpose()));
    k.g.array() -= S(log(S(double(n)) / S(double(m))));
    const Vector<S> step = k.g - old;
    k.residual = step.maxCoeff() - step.minCoeff();
    moving = tolerance < k.residual;
  }

  // normalise rows once more and exponentiate
  rows();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j)
      k.P(i, j) = exp(S(L(i, j) - k.f(i) - k.g(j)));
  return k;
}

// pull back through both normalisations
/// Cotangent of the scores from that of the converged P (eq.
/// sinkhorn-vjp).  Throws std::invalid_argument on shapes and
/// std::domain_error unless 0 < T < infinity.
template <class S>
Matrix<S> sinkhorn_vjp(const Matrix<S>& P,
                       const std::type_identity_t<Matrix<S>>& dP,
                       const std::type_identity_t<S>& T) {
  const Index n = P.rows(), m = P.cols();
  require_temperature("sinkhorn_vjp", T);
  require(dP.rows() == n && dP.cols() == m, "sinkhorn_vjp: P is ", shape(P),
          " but dP is ", shape(dP));
  const Matrix<S> G = P.cwiseProduct(dP);
  const Vector<S> r = G.rowwise().sum(), v = G.colwise().sum();

  // solve for the potentials of the cotangent
  Matrix<S> C = Matrix<S>::Constant(m, m, S(1)) - P.transpose() * P;
  C.diagonal().array() += S(double(n)) / S(double(m));
  const Matrix<S> right = (v - P.transpose() * r).transpose();
  const Vector<S> b = solve_rows(cholesky(C), right).transpose();
  const Vector<S> a = r - P * b;
  return (G - P.cwiseProduct((a * Vector<S>::Constant(m, S(1)).transpose()) +
                             Vector<S>::Constant(n, S(1)) *
                                 b.transpose())) / T;
}

// control the temperature
/// The T, between exp(-60) and exp(60), at which the mean entropy of the
/// rows is `target` nats.  Throws std::domain_error unless the target lies
/// strictly between the means of log(number of best keys) and log(number
/// of allowed keys), and if a score is NaN.
template <class S>
S temperature_of_entropy(const Matrix<S>& scores,
                         const std::type_identity_t<S>& target) {
  using std::exp, std::log;
  S cold(0), hot(0);

  // find the range of the mean entropy
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0, allowed = 0;
    const S m = scores.cols() > 0 ? scores.row(i).maxCoeff() : S(0);
    for (Index j = 0; j < scores.cols(); ++j) {
      require_domain(scores(i, j) == scores(i, j),
                     "temperature_of_entropy: score ", i, ",", j, " is NaN");
      allowed += !is_forbidden(scores(i, j));
      best += scores(i, j) == m;
    }
    if (allowed == 0) continue;
    cold += log(S(double(best))) / S(double(scores.rows()));
    hot += log(S(double(allowed))) / S(double(scores.rows()));
  }
  require_domain(cold < target && target < hot, "temperature_of_entropy: ",
                 "target ", to_double(target), " is not between ",
                 to_double(cold), " and ", to_double(hot));
  S low(-60), high(60), t(0);
  for (int k = 0; k < 300; ++k) {
    // move the temperature towards the target
    const S T = exp(t), miss = target - gibbs_entropy(scores, T).mean();
    if (miss == S(0)) break;
    (S(0) < miss ? low : high) = t;
    const S newton = t + miss / S(heat_capacity(scores, T).mean());
    const S next =
        detail::guarded(newton, low, high, S((low + high) / S(2)));
    if (next == t) break;
    t = next;
  }
  return exp(t);
}
/// The T whose Gibbs weights are nearest to q (n_q x n_k, rows sum to 1)
/// in relative entropy.  Throws std::invalid_argument on shapes, and
/// std::domain_error unless all scores and weights are finite.
template <class S>
S learn_temperature(const Matrix<S>& scores,
                    const std::type_identity_t<Matrix<S>>& q) {
  require(scores.rows() == q.rows() && scores.cols() == q.cols(),
          "learn_temperature: scores are ", shape(scores), " but q is ",
          shape(q));
  detail::require_finite("learn_temperature", "score", scores);
  detail::require_finite("learn_temperature", "weight", q);

  // descend in the inverse temperature
  S beta(1), low(0), high(-1);  // high < 0: none is known yet

  // start at the inverse range of the scores
  S range(0);
  for (Index i = 0; i < scores.rows() && scores.cols() > 0; ++i) {
    const S r = scores.row(i).maxCoeff() - scores.row(i).minCoeff();
    if (range < r) range = r;
  }
  if (S(0) < range) beta = S(1) / range;
  for (int k = 0; k < 200; ++k) {
    // find slope and curvature in the inverse temperature
    const Matrix<S> A = gibbs(Matrix<S>(beta * scores));
    const Vector<S> mean = A.cwiseProduct(scores).rowwise().sum();
    const Matrix<S> off = scores.colwise() - mean;
    const S curve = A.cwiseProduct(off.cwiseProduct(off)).sum();
    const S slope = mean.sum() - q.cwiseProduct(scores).sum();
    if (slope == S(0) || slope != slope) break;

    // step to the next inverse temperature
    (slope < S(0) ? low : high) = beta;
    const S end = S(0) < high ? high : S(S(2) * beta);
    const S next =
        detail::guarded(S(beta - slope / curve), low, end,
                        S(0) < high ? S((low + high) / S(2)) : end);
    if (next == beta) break;
    beta = next;
  }
  return S(1) / beta;
}
}  // namespace attn
