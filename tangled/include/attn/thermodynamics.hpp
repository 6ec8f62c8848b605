// include/attn/thermodynamics.hpp: tangled from chapters/02-gibbs.nw; edit that file, not this one.
#pragma once
#include "attn/autodiff.hpp"
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <array>
#include <vector>

namespace attn {
// compare two sets of weights
/// q log(q/p) + p - q for q and p that differ by less than a third (eq.
/// surprise), to a few roundings of itself.
template <class S>
S small_surprise(const S& q, const S& p) {
  const S sum = q + p, y = (q - p) / sum;
  S odd(0);  // y^2/3 + y^4/5 + ...
  for (int k = 39; k >= 3; k -= 2)
    odd = y * y * (odd + S(1) / S(double(k)));
  return sum * (y * y + (S(1) + y) * y * odd);
}
/// q log(q/p) + p - q >= 0, the term of the relative entropy; infinite for
/// q > 0 = p.
template <class S>
S relative_surprise(const S& q, const S& p) {
  using std::abs, std::log;
  if (q == S(0)) return p;
  if (S(7) * abs(q - p) < q + p) return small_surprise(q, p);
  const S ratio = q / p;
  const bool overflow = ratio == ratio + ratio;
  return q * (overflow ? S(log(q) - log(p)) : S(log(ratio))) + (p - q);
}
/// Relative entropy KL(q_i || p_i) per row (def. kl), both n_q x n_k; of a
/// row of zeros, the mass of p_i.  Throws std::invalid_argument for unequal
/// shapes and std::domain_error unless rows are distributions or zero.
template <class Dq, class Dp>
Vector<ScalarOf<Dq>> kl(const Expr<Dq>& q_, const Expr<Dp>& p_) {
  using S = ScalarOf<Dq>;
  require_rows<Dq>();
  const ScoreRows<S> q(q_), p(p_);

  // refuse what cannot be compared
  require(q.rows() == p.rows() && q.cols() == p.cols(),
          "kl: q is ", shape(q), " but p is ", shape(p));
  require_distributions<S>("kl: q", q);
  require_distributions<S>("kl: p", p);
  Vector<S> y = Vector<S>::Zero(q.rows());
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < q.cols(); ++j)
      y(i) += relative_surprise(S(q(i, j)), S(p(i, j)));
  return y;
}

// compute energies of a row
/// Free energy F = -T log Z per query (eq. free-energy), in units of the
/// scores; +infinity for an empty row.  Throws std::domain_error for a bad T.
template <class D>
auto free_energy(const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  return each_row("free_energy", scores, T, [&](const auto& e, auto) {
    using std::log1p;
    return ScalarOf<D>(-e.m - T * log1p(e.rest));
  });
}

/// Mean energy U = -<S> per query (eq. free-energy), in units of the scores;
/// +infinity for an empty row.  Throws std::domain_error for a bad T.
template <class D>
auto expected_energy(const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  return each_row("expected_energy", scores, T, [&](const auto& e, auto) {
    return ScalarOf<D>(-e.m + T * e.mean());
  });
}
/// Heat capacity C = dU/dT = Var(S)/T^2 per query (thm. response), a pure
/// number; 0 for an empty row.  Throws std::domain_error for a bad T.
template <class D>
auto heat_capacity(const Expr<D>& scores, const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  return each_row("heat_capacity", scores, T, [&](const auto& e, auto s) {
    S C(0);
    for (const S& sj : s) {
      // add the squared deviation of one key
      const S w = boltzmann_factor(sj, e.m, T);
      if (w == S(0)) continue;
      const S x = (e.m - sj) / T - e.mean();
      C += w * x * x;
    }
    return S(C / (S(1) + e.rest));
  });
}

// draw keys by Gumbel's noise
/// Matrix of independent standard Gumbel numbers, P(G <= g) =
/// exp(-exp(-g)) (thm. gumbel), drawn in double and converted; all lie
/// between -3.7 and 37.5.  Shapes: n x d.  Throws std::invalid_argument if
/// n or d is negative.
template <class S>
Matrix<S> gumbel(Index n, Index d, std::uint64_t seed) {
  return uniform<double>(n, d, seed).unaryExpr([](double x) {
    const double exponential = -std::log((1 - x) / 2);
    return static_cast<S>(-std::log(std::max(exponential, 0x1p-54)));
  });
}
/// The key with the largest G_j - x_j in one row, the first of equals; -1
/// for an empty row.  Throws std::domain_error for a NaN among the scores.
template <class S>
Index largest_noisy_score(std::span<const S> s, const S* G, const S& T) {
  const auto [m, top] = ground_state(s);
  Index best = -1;
  S most(0);
  for (Index j = 0; j < std::ssize(s); ++j) {
    // let one key try to be the largest
    const S& sj = s[std::size_t(j)];
    require_domain(sj == sj, "draw_keys: the score of key ", j, " is NaN");
    if (is_forbidden(sj)) continue;
    const S y = j == top ? G[j] : S(G[j] - (m - sj) / T);
    if (best < 0 || most < y) best = j, most = y;
  }
  return best;
}
/// One key per query, drawn from the weights gibbs(scores, T) by Gumbel's
/// noise (thm. gumbel); n_q indices, -1 for an empty row.  Throws
/// std::domain_error for a bad T or a NaN among the scores.
template <class D>
Vector<Index> draw_keys(const Expr<D>& scores, std::uint64_t seed,
                        const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  require_temperature("draw_keys", T);
  require_rows<D>();
  const ScoreRows<S> rows(scores);
  const Matrix<S> G = gumbel<S>(rows.rows(), rows.cols(), seed);
  Vector<Index> J(rows.rows());
  for (Index i = 0; i < J.size(); ++i)
    J(i) = largest_noisy_score(row_span(rows, i),
                               G.data() + i * G.cols(), T);
  return J;
}

// measure the gap of duality
/// The conjugate -T H(q) of T log Z per row; +infinity where q is not a
/// distribution.  Throws std::domain_error for a bad T.
template <class D>
Vector<ScalarOf<D>> legendre_dual(
    const Expr<D>& q, const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  require_temperature("legendre_dual", T);
  require_rows<D>();
  const ScoreRows<S> rows(q);
  Vector<S> y(q.rows());
  for (Index i = 0; i < y.size(); ++i)
    y(i) = is_distribution(rows, i, S(1)) ? S(-T * entropy(rows.row(i))(0))
                                          : S(HUGE_VAL);
  return y;
}
/// Fenchel-Young gap T KL(q_i || A(s_i)) >= 0 per row (eq. fenchel-young),
/// in units of the scores; scores and q are n_q x n_k.  Throws
/// std::invalid_argument for unequal shapes, std::domain_error for a bad T
/// or rows of q that are not distributions.
template <class D, class Dq>
Vector<ScalarOf<D>> fenchel_young(
    const Expr<D>& scores, const Expr<Dq>& q_,
    const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  const ScoreRows<S> q(q_);
  require(q.rows() == scores.rows() && q.cols() == scores.cols(),
          "fenchel_young: scores are ", shape(scores), " but q is ", shape(q));

  // sum the surprise over the support of $q$
  Vector<S> y = -entropy(q);
  const Matrix<S> logA = log_softmax(scores, T);
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < q.cols(); ++j)
      if (!(q(i, j) == S(0))) y(i) -= q(i, j) * logA(i, j);
  return T * y;
}

// differentiate the weights
/// Jacobian dA_j/ds_k = (delta_jk A_j - A_j A_k)/T of one row (thm.
/// response); n x n.  Throws std::domain_error for a bad T,
/// std::invalid_argument unless A is one row.
template <class D>
Matrix<ScalarOf<D>> softmax_jacobian(
    const Expr<D>& A, const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  require(A.rows() == 1, "softmax_jacobian: A is ", shape(A), ", not one row");
  require_temperature("softmax_jacobian", T);
  const RowVector<S> p = A.row(0);
  Matrix<S> J = -p.transpose() * p;
  J.diagonal() += p.transpose();
  return J / T;
}
/// Cotangent of the scores, A (dA - sum_k A_k dA_k)/T per row; all n_q x n_k.
/// Throws std::invalid_argument for unequal shapes, std::domain_error for a
/// bad T.
template <class D, class Dd>
Matrix<ScalarOf<D>> softmax_vjp(
    const Expr<D>& A_, const Expr<Dd>& dA_,
    const ScalarOf<D>& T = 1) {
  using S = ScalarOf<D>;
  require_temperature("softmax_vjp", T);
  require(A_.rows() == dA_.rows() && A_.cols() == dA_.cols(),
          "softmax_vjp: A is ", shape(A_), " but dA is ", shape(dA_));
  const Matrix<S> A = A_, dA = dA_;
  const Vector<S> mean = A.cwiseProduct(dA).rowwise().sum();
  return A.cwiseProduct(dA.colwise() - mean) / T;
}

// nest dual numbers to order $n$
/// Dual<Dual<...<S>>>, n times.
template <class S, int n>
struct Nested {
  using type = Dual<typename Nested<S, n - 1>::type>;
};
template <class S>
struct Nested<S, 0> {
  using type = S;
};

/// x + e_1 + ... + e_n, the seed of n successive derivatives.
template <int n, class S>
typename Nested<S, n>::type seeded(const S& x) {
  if constexpr (n == 0) return x;
  else return {seeded<n - 1>(x), typename Nested<S, n - 1>::type(1.0)};
}
/// The k-th derivative out of an n-fold dual number.
template <int n, class S>
S derivative_part(const typename Nested<S, n>::type& y, int k) {
  if constexpr (n == 0) return y;
  else return derivative_part<n - 1, S>(k > 0 ? y.d : y.v, k - 1);
}

// compute cumulants by differentiation
/// The allowed key with the largest weight at inverse temperature beta of
/// any sign: the smallest score if beta < 0 (at = -1: no such key).
template <class S, class B>
Ground<S> heaviest(std::span<const S> s, const B& beta) {
  Ground<S> g{S(-std::numeric_limits<double>::infinity()), -1};
  for (Index j = 0; j < std::ssize(s); ++j) {
    const S& x = s[std::size_t(j)];
    if (is_forbidden(x)) continue;
    if (g.at < 0 || (beta < B(0.0) ? x < g.m : g.m < x)) g = {x, j};
  }
  return g;
}
/// log Z of one row at inverse temperature beta, any sign and any scalar.
template <class S, class B>
B log_partition_at(std::span<const S> s, const B& beta) {
  using std::exp, std::log1p;
  const auto [m, top] = heaviest(s, beta);
  B rest(0.0);
  for (Index j = 0; j < std::ssize(s); ++j) {
    const S& sj = s[std::size_t(j)];
    if (j != top && !is_forbidden(sj)) rest += exp(beta * B(sj - m));
  }
  return beta * B(m) + log1p(rest);
}
/// log Z and the cumulants kappa_1..kappa_n of one row of scores at inverse
/// temperature beta (any sign): result[k] is the k-th derivative of log Z.
/// Throws std::invalid_argument unless s is one row with a finite score.
template <int n, class D>
auto cumulants(const Expr<D>& s, const ScalarOf<D>& beta) {
  using S = ScalarOf<D>;
  const ScoreRows<S> rows(s);
  require(s.rows() == 1 && !is_forbidden(ground_state(row_span(rows, 0)).m),
          "cumulants: s is ", shape(s), ", not a row with a finite score");
  const auto logZ = log_partition_at(row_span(rows, 0), seeded<n>(beta));
  std::array<S, n + 1> kappa;
  for (int k = 0; k <= n; ++k)
    kappa[std::size_t(k)] = derivative_part<n, S>(logZ, k);
  return kappa;
}

// see a row from its nearer end
/// One row of scores less its extreme score nearer to -U, and U moved with
/// it; range is the distance of the extreme scores.
template <class S>
struct FromTheEnd {
  RowVector<S> s;
  S U, range;
};
/// The row as seen from its nearer end.  Throws std::invalid_argument
/// unless scores are one row, std::domain_error for a score that is NaN or
/// +infinity and unless -max < U < -min.
template <class D>
FromTheEnd<ScalarOf<D>> from_the_end(
    const char* function, const Expr<D>& scores, const ScalarOf<D>& U) {
  using S = ScalarOf<D>;
  const ScoreRows<S> s(scores);

  // refuse an energy that no weights have
  require(s.rows() == 1, function, ": scores are ", shape(s), ", not one row");
  for (Index j = 0; j < s.cols(); ++j)
    require_domain(s(0, j) < S(HUGE_VAL), function, ": the score of key ", j,
                   " is NaN or infinite");
  const S best = heaviest(row_span(s, 0), S(1)).m;
  const S worst = heaviest(row_span(s, 0), S(-1)).m;
  require_domain(-best < U && U < -worst, function, ": U = ",
                 to_double(U), " is not between ", to_double(S(-best)),
                 " and ", to_double(S(-worst)));
  const S end = U + best < -worst - U ? best : worst;
  return {s.row(0).array() - end, U + end, best - worst};
}

// find the root of the energy
/// The root beta of kappa_1(beta) + U.
template <class S>
S root_of_energy(const FromTheEnd<S>& e) {
  using std::abs;

  // bracket the inverse temperature
  const auto miss = [&](const S& b) {
    return S(cumulants<1>(e.s, b)[1] + e.U);
  };
  S low = S(-1) / e.range, high = -low;
  while (miss(high) < S(0)) high = S(2) * high;
  while (S(0) < miss(low)) low = S(2) * low;
  S beta(0), step = high - low;
  for (bool done = false; !done; beta += step) {
    const auto kappa = cumulants<2>(e.s, beta);
    const S off = kappa[1] + e.U, newton = -off / kappa[2];
    (off < S(0) ? low : high) = beta;

    // step by Newton's rule or to the middle
    const S next = beta + newton;
    const bool fast = low <= next && next <= high &&
                      S(2) * abs(newton) < abs(step);
    step = fast ? newton : S((low + high) / S(2) - beta);
    const S least = S(unit_roundoff<S>()) * (abs(beta) + S(1) / e.range);
    done = abs(step) <= least || (fast && step * step * e.range <= least);
  }
  return beta;
}

// find the temperature of a given energy
/// The beta = 1/T, of any sign, at which one row of scores has the mean
/// energy U = -<s> (thm. maximum-entropy).  Throws std::invalid_argument
/// unless scores are one row, std::domain_error for a score that is NaN or
/// +infinity, and unless U lies strictly between minus the largest and
/// minus the smallest finite score.
template <class D>
ScalarOf<D> inverse_temperature(
    const Expr<D>& scores, const ScalarOf<D>& U) {
  return root_of_energy(from_the_end("inverse_temperature", scores, U));
}
/// Largest entropy S(U), in nats, of all distributions over the keys of
/// one row that have mean energy U (thm. entropy-of-energy).  Throws
/// std::invalid_argument and std::domain_error as inverse_temperature.
template <class D>
ScalarOf<D> entropy_of_energy(
    const Expr<D>& scores, const ScalarOf<D>& U) {
  const auto e = from_the_end("entropy_of_energy", scores, U);
  const ScalarOf<D> beta = root_of_energy(e);
  return cumulants<0>(e.s, beta)[0] + beta * e.U;
}

// sweep over temperatures
/// Thermodynamics of scores at several temperatures: A[t] is n_q x n_k;
/// F, U, H, C have one row per temperature and one column per query.
template <class S>
struct Sweep {
  std::vector<S> T;
  std::vector<Matrix<S>> A;
  Matrix<S> F, U, H, C;
};
/// Weights, free energy, mean energy, entropy and heat capacity of scores
/// (n_q x n_k) at each temperature.  Throws std::domain_error for a bad T.
template <class D>
auto temperature_sweep(const Expr<D>& scores_,
                       const std::vector<ScalarOf<D>>& temperatures) {
  using S = ScalarOf<D>;
  const Matrix<S> scores = scores_;
  const Index n = std::ssize(temperatures);
  const Matrix<S> none = Matrix<S>::Zero(n, scores.rows());
  Sweep<S> y{temperatures, {}, none, none, none, none};
  for (Index t = 0; t < n; ++t) {
    const S& T = temperatures[std::size_t(t)];

    // fill in what is known at one temperature
    y.A.push_back(gibbs(scores, T));
    y.F.row(t) = free_energy(scores, T).transpose();
    y.U.row(t) = expected_energy(scores, T).transpose();
    y.H.row(t) = gibbs_entropy(scores, T).transpose();
    y.C.row(t) = heat_capacity(scores, T).transpose();
  }
  return y;
}

// measure what a layer knows
/// Mutual information of query and key for weights A (n_q x n_k), queries
/// uniform, in nats (prop. mutual); empty rows are left out, 0 if all are.
/// Throws std::domain_error unless rows are distributions or zero.
template <class D>
ScalarOf<D> mutual_information(const Expr<D>& weights) {
  using S = ScalarOf<D>;
  require_rows<D>();
  const ScoreRows<S> A(weights);
  require_distributions<S>("mutual_information", A);

  // average the rows that attend
  RowVector<S> mean = RowVector<S>::Zero(A.cols());
  S rows(0);
  for (Index i = 0; i < A.rows(); ++i)
    if (!A.row(i).isZero(S(0))) mean += A.row(i), rows += S(1);
  mean /= rows;
  if (rows == S(0)) return rows;
  S I(0);
  for (Index i = 0; i < A.rows(); ++i)
    if (!A.row(i).isZero(S(0))) I += kl(A.row(i), mean)(0);
  return I / rows;
}
}  // namespace attn
