// include/attn/sparsemax.hpp: tangled from chapters/06a-weights.nw; edit that file, not this one.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attn/thermodynamics.hpp"

namespace attn {
namespace detail {
// what other weights are made of

// refuse an exponent that is none
/// Throws std::domain_error unless 1 <= alpha <= 2.
template <class S>
void require_alpha(std::string_view who, const S& alpha) {
  require_domain(S(1) <= alpha && alpha <= S(2), who, ": alpha = ",
                 to_double(value(alpha)), " is not in [1, 2]");
}

// raise the lead of a key to a power
/// x^(q-1) and x^q for the lead x = z - tau of a key, given as x itself
/// for q <= 2 and as x - 1 for q > 2.
template <class S>
std::array<S, 2> lead_powers(const S& lead, const S& q) {
  using std::exp, std::log1p, std::pow;
  if (q == S(1)) return {S(1), lead};
  if (q == S(2)) return {lead, S(lead * lead)};
  if (q < S(2)) {
    const S power = pow(lead, S(q - S(1)));
    return {power, S(lead * power)};
  }
  const S log_x = log1p(lead);
  return {S(exp(S((q - S(1)) * log_x))), S(exp(S(q * log_x)))};
}

// find the threshold by Newton
/// The threshold t of sum_j [z_j - tau]_+^q = 1, which is tau for
/// 1 <= q <= 2 and tau + 1 for q > 2; for z <= 0 with maximum 0.  Entries
/// of -inf count for nothing (prop. entmax-newton).
template <class S>
S entmax_threshold(std::span<const S> z, const S& q) {
  const S least(S(2) < q ? -1 : 0);
  S t = S(-1) - least;
  for (int step = 0; step < 1000; ++step) {
    // evaluate the excess and its slope
    S f(-1), lost(0), slope(0);
    for (const S& zj : z) {
      const S lead = zj - t;
      if (!(least < lead)) continue;
      const auto [power, term] = lead_powers(lead, q);
      const S sum = f + term, added = sum - f;
      lost += (f - (sum - added)) + (term - added);
      f = sum, slope += q * power;
    }
    f += lost;
    const S next = t + f / slope;
    if (!(t < next)) return S(t + (f - S(value(f))) / slope);
    t = next;
  }
  return t;
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

// weigh a key for the mean
/// The w of thm. entmax-jacobian for a weight p that is not zero.
template <class S>
S pull(const S& p, const S& alpha) {
  using std::pow;
  if (alpha == S(1) || p != p) return p;
  return alpha == S(2) ? S(1) : S(pow(p, S(S(2) - alpha)));
}

// solve the equations of a graph
/// A b with sum_l w_jl (b_j - b_l) = sum_l c_jl, for w = w^T >= 0 and
/// c = -c^T; b is 0 for the last key of each part of the graph.
template <class S>
Vector<S> solve_graph(Matrix<S> w, Matrix<S> c) {
  const Index n = w.rows();
  Vector<S> b = Vector<S>::Constant(n, S(0)), degree = b;
  for (Index k = 0; k < n; ++k) {
    // eliminate one key from the graph
    for (Index l = k + 1; l < n; ++l) degree(k) += w(k, l);
    if (!(S(0) < degree(k))) continue;
    for (Index j = k + 1; j < n; ++j) {
      const S share = w(j, k) / degree(k), flow = c(j, k) / degree(k);
      for (Index l = k + 1; l < n; ++l) {
        w(j, l) += share * w(k, l);
        c(j, l) += share * c(k, l) + flow * w(k, l);
      }
    }
  }
  for (Index k = n; k-- > 0;) {
    S sum(0);
    for (Index l = k + 1; l < n; ++l) sum += c(k, l) + w(k, l) * b(l);
    if (S(0) < degree(k)) b(k) = sum / degree(k);
  }
  return b;
}

// guard a step by its bracket
/// Newton's step if it stays between low and high, otherwise `else_`.
template <class S>
S guarded(const S& newton, const S& low, const S& high, const S& else_) {
  return low < newton && newton < high ? newton : else_;
}
}  // namespace detail

// compute sparse weights
/// Weights of thm. entmax, n_q x n_k; alpha = 1 is gibbs.  In derivatives
/// alpha counts as a constant.  Throws std::domain_error unless
/// 1 <= alpha <= 2 and 0 < T < infinity.
template <class D>
Matrix<ScalarOf<D>> entmax(const Expr<D>& scores,
                           const ScalarOf<D>& alpha,
                           const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  require_temperature("entmax", T);
  detail::require_alpha("entmax", alpha);
  if (alpha == S(1)) return gibbs(scores, T);

  // compute all sparse rows
  const ScoreRows<S> rows(scores);
  const S over = S(value(alpha)) - S(1), q = S(1) / over;
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
           : zero ? S(0) : S(over * (sj - m) / T);
      if (zj != zj) taint = zj;
    }

    // compute one sparse row
    if (is_forbidden(m) && taint == taint) continue;
    const S least(S(2) < q ? -1 : 0);
    const S t = taint == taint ? detail::entmax_threshold<S>(z, q) : taint;
    for (Index j = 0; j < p.cols(); ++j) {
      const S lead = z[std::size_t(j)] - t;
      p(i, j) = taint != taint ? taint
                : least < lead ? detail::lead_powers(lead, q)[1]
                               : S(0);
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
/// It is 0 for an empty row and NaN for a row with a NaN.  Throws
/// std::domain_error unless 1 <= alpha < infinity.
template <class S>
Vector<S> tsallis_entropy(const Matrix<S>& p,
                          const std::type_identity_t<S>& alpha) {
  using std::expm1, std::log;
  require_domain(S(1) <= alpha && !(alpha == alpha + alpha),
                 "tsallis_entropy: alpha = ", to_double(value(alpha)),
                 " is not in [1, infinity)");
  Vector<S> H = Vector<S>::Constant(p.rows(), S(0));
  for (Index i = 0; i < p.rows(); ++i)
    for (Index j = 0; j < p.cols(); ++j)
      if (!(p(i, j) == S(0))) {
        // add the entropy of one weight
        const S& w = p(i, j);
        const S over = alpha - S(1), log_w = log(w);
        H(i) -= over == S(0) ? S(w * log_w)
                             : S(w * expm1(S(over * log_w)) / (alpha * over));
      }
  return H;
}

// pull back through sparse weights
/// Cotangent of the scores from that of p = entmax(scores, alpha, T)
/// (thm. entmax-jacobian), n_q x n_k.  Throws std::invalid_argument on
/// shapes and std::domain_error unless 1 <= alpha <= 2 and
/// 0 < T < infinity.
template <class S>
Matrix<S> entmax_vjp(const Matrix<S>& p,
                     const std::type_identity_t<Matrix<S>>& dp,
                     const std::type_identity_t<S>& alpha,
                     const std::type_identity_t<S>& T = S(1)) {
  require_temperature("entmax_vjp", T);
  detail::require_alpha("entmax_vjp", alpha);
  require(p.rows() == dp.rows() && p.cols() == dp.cols(),
          "entmax_vjp: p is ", shape(p), " but dp is ", shape(dp));
  Matrix<S> dS = Matrix<S>::Zero(p.rows(), p.cols()), w = dS;
  for (Index i = 0; i < p.rows(); ++i) {
    // pull back through one sparse row
    const Index top = detail::heaviest_weight(p, i);
    S total(0), sum(0);
    for (Index j = 0; j < p.cols(); ++j)
      if (!(p(i, j) == S(0))) {
        w(i, j) = detail::pull(p(i, j), alpha);
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
  bool converged = false;  // was that no more than the tolerance?
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
namespace detail {
/// The best score of each row; n_q entries, -infinity if there are no keys.
template <class S>
Vector<S> best_scores(const Matrix<S>& scores) {
  Vector<S> best(scores.rows());
  for (Index i = 0; i < best.size(); ++i)
    best(i) = ground_state(row_span<S>(scores, i)).m;
  return best;
}
}  // namespace detail
/// At most `rounds` rounds, fewer if g moves by no more than tolerance.
/// Throws std::domain_error unless all scores are finite, also if they are
/// measured from the best of their row, in units of T.
template <class S>
Sinkhorn<S> sinkhorn(const Matrix<S>& scores,
                     const std::type_identity_t<S>& T, int rounds = 1000,
                     const std::type_identity_t<S>& tolerance = S(0)) {
  using std::log;
  require_temperature("sinkhorn", T);
  const Index n = scores.rows(), m = scores.cols();
  detail::require_finite("sinkhorn", "score", scores);
  const Vector<S> best = detail::best_scores(scores);
  const Matrix<S> L = (scores.colwise() - best) / T;
  detail::require_finite("sinkhorn", "score in units of T,", L);
  Sinkhorn<S> k{Matrix<S>(n, m), Vector<S>::Constant(n, S(0)),
                Vector<S>::Constant(m, S(0))};

  // alternate until the potentials rest
  const auto rows = [&] {
    k.f = log_partition(Matrix<S>(L.rowwise() - k.g.transpose()));
  };
  bool moving = n > 0 && m > 0;
  for (; moving && k.rounds < rounds; ++k.rounds) {
    rows();
    const Vector<S> old = k.g;
    k.g = log_partition(Matrix<S>(L.transpose().rowwise() - k.f.transpose()));
    k.g.array() -= S(log(S(double(n)) / S(double(m))));
    const Vector<S> step = k.g - old;
    k.residual = step.maxCoeff() - step.minCoeff();
    moving = tolerance < k.residual;
  }
  k.converged = !moving;

  // normalise rows once more and exponentiate
  rows();
  k.P = gibbs(Matrix<S>(L.rowwise() - k.g.transpose()));
  k.f += best / T;
  return k;
}

// pull back through both normalisations
/// Cotangent of the scores from that of the converged P (eq.
/// sinkhorn-vjp), n_q x n_k.  Throws std::invalid_argument on shapes and
/// std::domain_error unless 0 < T < infinity.
template <class S>
Matrix<S> sinkhorn_vjp(const Matrix<S>& P,
                       const std::type_identity_t<Matrix<S>>& dP,
                       const std::type_identity_t<S>& T) {
  require_temperature("sinkhorn_vjp", T);
  require(dP.rows() == P.rows() && dP.cols() == P.cols(),
          "sinkhorn_vjp: P is ", shape(P), " but dP is ", shape(dP));
  Matrix<S> y = dP;
  for (Index i = 0; i < y.rows() && y.cols() > 0; ++i)
    y.row(i).array() -= S(dP(i, detail::heaviest_weight(P, i)));
  const Matrix<S> C = P.cwiseProduct(y).transpose() * P;
  const Vector<S> b =
      detail::solve_graph<S>(P.transpose() * P, C - C.transpose());
  return entmax_vjp(P, Matrix<S>(y.rowwise() - b.transpose()), S(1), T);
}

// control the temperature
/// The T at which the mean entropy of the rows is `target` nats.  Throws
/// std::domain_error unless the target lies strictly between the means of
/// log(number of best keys) and log(number of allowed keys), if a score is
/// NaN, and if T would not be well within the range of S.
template <class S>
S temperature_of_entropy(const Matrix<S>& scores,
                         const std::type_identity_t<S>& target) {
  using std::exp, std::log;
  S cold(0), hot(0), range(0);

  // find the range of the mean entropy
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0, allowed = 0;
    const S m = scores.cols() > 0 ? scores.row(i).maxCoeff() : S(0);
    for (Index j = 0; j < scores.cols(); ++j) {
      require_domain(scores(i, j) == scores(i, j),
                     "temperature_of_entropy: score ", i, ",", j, " is NaN");
      if (is_forbidden(scores(i, j))) continue;
      ++allowed, best += scores(i, j) == m;
      if (range < m - scores(i, j)) range = m - scores(i, j);
    }
    if (allowed == 0) continue;
    cold += log(S(double(best))) / S(double(scores.rows()));
    hot += log(S(double(allowed))) / S(double(scores.rows()));
  }
  require_domain(cold < target && target < hot, "temperature_of_entropy: ",
                 "target ", to_double(target), " is not between ",
                 to_double(cold), " and ", to_double(hot));

  // search the logarithm of the temperature
  const S least = log(std::numeric_limits<S>::min()) + S(1),
          most = log(std::numeric_limits<S>::max()) - S(1);
  S low = least, high = most;
  S t = detail::guarded(S(log(range)), low, high, S((low + high) / S(2)));
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
  require_domain(least + S(1) < t && t < most - S(1),
                 "temperature_of_entropy: no number is that temperature");
  return exp(t);
}
/// The T whose Gibbs weights are nearest to q (n_q x n_k, rows sum to 1)
/// in relative entropy; 0 if q has best keys only, infinity if it has no
/// preference for high scores.  Throws std::invalid_argument on shapes,
/// and std::domain_error unless scores and their differences are finite
/// and rows of q are distributions.
template <class S>
S learn_temperature(const Matrix<S>& scores,
                    const std::type_identity_t<Matrix<S>>& q) {
  require(scores.rows() == q.rows() && scores.cols() == q.cols(),
          "learn_temperature: scores are ", shape(scores), " but q is ",
          shape(q));

  // measure scores from the best that weights can have
  detail::require_finite("learn_temperature", "score", scores);
  detail::require_finite("learn_temperature", "weight", q);
  for (Index i = 0; i < q.rows() && q.cols() > 0; ++i)
    require_domain(is_distribution<S>(q, i, S(1)), "learn_temperature: row ",
                   i, " of q must have entries >= 0 that sum to 1");
  const Matrix<S> s = scores.colwise() - detail::best_scores(scores);
  detail::require_finite("learn_temperature", "score below the best,", s);

  // answer at once where there is no minimum
  const S range = s.size() > 0 ? S(-s.minCoeff()) : S(0);
  if (range == S(0)) return S(1);
  const S observed = q.cwiseProduct(s).sum();
  if (observed == S(0)) return S(0);
  if (!(s.sum() / S(double(s.cols())) < observed)) return S(HUGE_VAL);

  // descend in the inverse temperature
  S beta = S(1) / range, low(0), high(-1);  // high < 0: none is known yet
  for (int k = 0; k < 200; ++k) {
    // find slope and curvature in the inverse temperature
    const Matrix<S> A = gibbs(Matrix<S>(beta * s));
    const Vector<S> mean = A.cwiseProduct(s).rowwise().sum();
    const Matrix<S> off = s.colwise() - mean;
    const S curve = A.cwiseProduct(off.cwiseProduct(off)).sum();
    const S slope = mean.sum() - observed;
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
