// include/attn/hopfield.hpp: tangled from chapters/08-hopfield.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/attention.hpp"
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "attn/thermodynamics.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attn {
// remember with a quadratic form

// wire neurons by Hebb's rule
/// Is the diagonal M/d of the Hebbian form kept or set to zero?
enum class Diagonal { zero, kept };

/// d times the Hebbian form of patterns K (M x d): sum_j K_ja K_jb, d x d,
/// whole numbers for patterns of signs.
template <class D>
Matrix<ScalarOf<D>> hebb_sums(const Expr<D>& patterns,
                              Diagonal diagonal = Diagonal::zero) {
  using S = ScalarOf<D>;
  const Rows<S> K(patterns);
  Matrix<S> W = eq<"W_{ab} = K^j{}_a K_{jb}">(  // eq:hebb
      view<up, dn>(K), view<dn, dn>(K)).mat();
  if (diagonal == Diagonal::zero) W.diagonal().setZero();
  return W;
}
/// Hebbian form W_ab = (1/d) sum_j K_ja K_jb of patterns K (M x d), d x d
/// (def. hebb).  Throws std::invalid_argument if there are no neurons.
template <class D>
Matrix<ScalarOf<D>> hebb(const Expr<D>& patterns,
                         Diagonal diagonal = Diagonal::zero) {
  using S = ScalarOf<D>;
  require(patterns.cols() > 0, "hebb: patterns are ", shape(patterns));
  return hebb_sums(patterns, diagonal) / static_cast<S>(patterns.cols());
}

// measure the energy of a state
namespace detail {
/// Throws unless W is d x d and x has d entries.
template <class S>
void require_network(const char* function, const Matrix<S>& W,
                     const Vector<S>& x) {
  require(W.rows() == W.cols() && W.rows() == x.size(), function, ": W is ",
          shape(W), " but x has ", x.size(), " entries");
}
}  // namespace detail

/// Energy of the state x in the network W (eq. quadratic-energy).  Throws
/// std::invalid_argument unless W is d x d and x has d entries.
template <class S>
S classical_energy(const Matrix<S>& W, const Vector<S>& x) {
  detail::require_network("classical_energy", W, x);
  return eq<R"(E = -\tfrac{1}{2} x^a W_{ab} x^b)">(  // eq:quadratic-energy
      view<up>(x), view<dn, dn>(W), view<up>(x));
}

// let neurons follow their fields
namespace detail {
/// The sign of the field h; the present state x if h is zero, NaN if NaN.
template <class S>
S follow(const S& h, const S& x) {
  return S(0) < h ? S(1) : h < S(0) ? S(-1) : h == S(0) ? x : h;
}
}  // namespace detail

/// All d neurons at once: x_a <- sgn(W_ab x^b), unchanged where the field is
/// zero; W may have any positive factor, and no field is rounded if it is
/// of whole numbers (hebb_sums).  Throws std::invalid_argument unless W is
/// d x d, x has d entries.
template <class S>
Vector<S> synchronous_update(const Matrix<S>& W, const Vector<S>& x) {
  detail::require_network("synchronous_update", W, x);
  Vector<S> y = W * x;
  for (Index a = 0; a < y.size(); ++a) y(a) = detail::follow(y(a), x(a));
  return y;
}
namespace detail {
/// One neuron after the other in the given order; x and its field h = W x
/// (d entries each) change in place.  Returns the number of flips.
template <class S>
Index sweep(const Matrix<S>& W, const std::vector<Index>& order,
            Vector<S>& x, Vector<S>& h) {
  Index flips = 0;
  for (const Index a : order) {
    // turn neuron $a$ towards its field
    const S next = follow(h(a), x(a));
    if (next == x(a)) continue;
    h += W.col(a) * (next - x(a));
    x(a) = next;
    ++flips;
  }
  return flips;
}
}  // namespace detail
/// Where the sequential dynamics came to rest, and after how many sweeps;
/// fixed if the last turned no neuron, by fields that are exact for whole
/// numbers (hebb_sums) and else have the roundings of all flips.
template <class S>
struct Settled {
  Vector<S> x;
  Index sweeps = 0;
  bool fixed = false;
};

/// Sequential dynamics from x until nothing changes (prop. sequential), or
/// for max_sweeps.  W and throws as synchronous_update.
template <class S>
Settled<S> settle(const Matrix<S>& W, const Vector<S>& x,
                  std::uint64_t seed = 1, Index max_sweeps = 1000) {
  detail::require_network("settle", W, x);
  Settled<S> run{x};
  Vector<S> h = W * x;
  while (!run.fixed && run.sweeps < max_sweeps) {
    // sweep in an order of its own
    const std::string name = "sweep " + std::to_string(run.sweeps++);
    const auto order = permutation(x.size(), seed, name);
    run.fixed = detail::sweep(W, order, run.x, h) == 0;
  }
  return run;
}

// predict errors from crosstalk
/// Probability that one of d neurons leaves one of M random patterns at the
/// first step, exactly (thm. crosstalk).  Throws std::invalid_argument
/// unless M >= 1 and d >= 1.
inline double hebb_bit_error(Index d, Index M) {
  require(d >= 1 && M >= 1, "hebb_bit_error: d = ", d, ", M = ", M);
  const double n = double(M - 1) * double(d - 1);
  double tail = 0;

  // add the chances of too many negative signs
  const double first = std::floor((n + double(d) - 1) / 2) + 1;
  double before = -1;
  for (double minus = first; minus <= n && tail != before; ++minus) {
    before = tail;
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(minus + 1) -
                     std::lgamma(n - minus + 1) - n * std::log(2.0));
  }
  return tail;
}
/// Patterns up to which a given one is a fixed point, d/(2 ln d).
/// Throws std::invalid_argument unless d >= 2.  Source: McEliece 1987.
inline double hebb_capacity(Index d) {
  require(d >= 2, "hebb_capacity: d = ", d);
  return double(d) / (2 * std::log(double(d)));
}

// update states by attention
namespace detail {
/// Throws unless 0 < beta < infinity.
template <class S>
void require_beta(const char* function, const S& beta) {
  require_domain(S(0) < beta && !(beta == beta + beta), function,
                 ": beta must be positive and finite");
}
/// Throws unless beta is one with a finite 1/beta, and states X and
/// patterns K are as wide.
template <class S>
void require_memory(const char* function, const Rows<S>& X,
                    const Rows<S>& K, const S& beta) {
  require_beta(function, beta);
  const S T = S(1) / beta;
  require_domain(!(T == T + T), function, ": 1/beta must be finite");
  require(X.cols() == K.cols(), function, ": states are ", shape(X),
          " but patterns are ", shape(K));
}
}  // namespace detail

/// One step x+ = sum_j A_j K_j of the modern network for each row of X
/// (n x d), with patterns K (M x d), in the metric g; n x d (eq. update).
/// Without patterns, zero.  Throws std::invalid_argument for shapes that do
/// not fit, std::domain_error unless 0 < beta, 1/beta < infinity.
template <class DX, class DK>
Matrix<ScalarOf<DX>> hopfield_update(const Expr<DX>& X, const Expr<DK>& K,
                                     const ScalarOf<DX>& beta,
                                     const Metric<ScalarOf<DX>>& g) {
  using S = ScalarOf<DX>;
  const Rows<S> x(X), k(K);
  detail::require_memory<S>("hopfield_update", x, k, beta);
  return average(gibbs(scores(x, k, g), S(1) / beta), k);
}
/// Energy per row of X (eq. modern-energy), n entries; +infinity if there
/// are no patterns.  Shapes and throws as hopfield_update.
template <class DX, class DK>
Vector<ScalarOf<DX>> hopfield_energy(const Expr<DX>& X, const Expr<DK>& K,
                                     const ScalarOf<DX>& beta,
                                     const Metric<ScalarOf<DX>>& g) {
  using S = ScalarOf<DX>;
  const Rows<S> x(X), k(K);
  detail::require_memory<S>("hopfield_energy", x, k, beta);
  Vector<S> E = free_energy(scores(x, k, g), S(1) / beta);

  // add the parabola to the free energy
  const Matrix<S> low = g.lower(x);
  for (Index i = 0; i < E.size(); ++i)
    E(i) += x.row(i).dot(low.row(i)) / S(2);
  return E;
}
/// hopfield_update in the metric delta.
template <class DX, class DK>
Matrix<ScalarOf<DX>> hopfield_update(const Expr<DX>& X, const Expr<DK>& K,
                                     const ScalarOf<DX>& beta) {
  return hopfield_update(X, K, beta,
                         Metric<ScalarOf<DX>>::identity(X.cols()));
}

/// hopfield_energy in the metric delta.
template <class DX, class DK>
Vector<ScalarOf<DX>> hopfield_energy(const Expr<DX>& X, const Expr<DK>& K,
                                     const ScalarOf<DX>& beta) {
  return hopfield_energy(X, K, beta,
                         Metric<ScalarOf<DX>>::identity(X.cols()));
}
/// Energies at n equally spaced points from x to y (1 x d each), n entries.
/// Throws as hopfield_energy, and std::invalid_argument unless n >= 2.
template <class S>
Vector<S> energy_along(const RowVector<S>& x, const RowVector<S>& y, Index n,
                       const Matrix<S>& K, const S& beta) {
  require(n >= 2 && x.size() == y.size(), "energy_along: ", n,
          " points between ", shape(x), " and ", shape(y));
  Matrix<S> X(n, x.size());

  // divide the line from x to y
  for (Index k = 0; k < n; ++k) {
    const S t = static_cast<S>(double(k) / double(n - 1));
    X.row(k) = (S(1) - t) * x + t * y;
  }
  return hopfield_energy(X, K, beta);
}

// iterate to a fixed point
/// States (n x d) where the iteration stopped, after how many steps, and by
/// which tolerance; rest(i) is the step since which no entry of row i has
/// moved by more, or 0 if the last one was longer.
template <class S>
struct Retrieved {
  Matrix<S> X;
  Index steps = 0;
  bool converged = false;  // all rows rest
  S tolerance{};
  Vector<Index> rest;
};

/// Iterates hopfield_update in the metric g from X until no entry of any row
/// moves by more than tol, or for max_steps; a row that has rested may move
/// again while it waits for the others.  Throws as hopfield_update.
template <class DX, class DK>
Retrieved<ScalarOf<DX>> hopfield_retrieve(
    const Expr<DX>& X, const Expr<DK>& K, const ScalarOf<DX>& beta,
    const Metric<ScalarOf<DX>>& g, Index max_steps,
    const ScalarOf<DX>& tol) {
  using S = ScalarOf<DX>;
  const Rows<S> k(K);
  Retrieved<S> run{X, 0, false, tol, Vector<Index>::Zero(X.rows())};
  detail::require_memory<S>("hopfield_retrieve", run.X, k, beta);
  while (!run.converged && run.steps < max_steps) {
    // take one step and see what has moved
    Matrix<S> next = hopfield_update(run.X, k, beta, g);
    ++run.steps;
    for (Index i = 0; i < next.rows(); ++i) {
      bool rests = true;
      for (Index a = 0; a < next.cols(); ++a) {
        const S moved = next(i, a) - run.X(i, a);
        if (!(moved <= tol && -moved <= tol)) rests = false;
      }
      if (!rests) run.rest(i) = 0;
      else if (run.rest(i) == 0) run.rest(i) = run.steps;
    }
    run.converged = (run.rest.array() > 0).all();
    run.X = std::move(next);
  }
  return run;
}
/// hopfield_retrieve in the metric delta.
template <class DX, class DK>
Retrieved<ScalarOf<DX>> hopfield_retrieve(
    const Expr<DX>& X, const Expr<DK>& K, const ScalarOf<DX>& beta,
    Index max_steps, const ScalarOf<DX>& tol) {
  return hopfield_retrieve(X, K, beta,
                           Metric<ScalarOf<DX>>::identity(X.cols()),
                           max_steps, tol);
}
namespace detail {
/// Error eta of one update among the patterns K (M x d), eq. update-error.
template <class D>
double update_error(const Expr<D>& patterns, double beta) {
  const Matrix<double> K = lift<double>(patterns.eval());
  if (K.rows() == 0) return 0;
  const double R = K.rowwise().stableNorm().maxCoeff();
  const double M = double(K.rows()), terms = double(K.cols() + 1);
  return unit_roundoff<ScalarOf<D>>() * R *
         (2 * M + 6 + 6 * std::log(M) + 2 * beta * terms * R * R);
}
}  // namespace detail
/// hopfield_retrieve in the metric delta, to 5 eta of eq. update-error; all
/// steps, and no claim of rest, where that is no small part of the memory.
template <class DX, class DK>
Retrieved<ScalarOf<DX>> hopfield_retrieve(
    const Expr<DX>& X, const Expr<DK>& K, const ScalarOf<DX>& beta,
    Index max_steps = 100) {
  using S = ScalarOf<DX>;
  const S tol = static_cast<S>(5 * detail::update_error(K, to_double(beta)));

  // measure the memory from its first pattern
  const Matrix<S> k = K;
  S reach(0);
  for (Index j = 1; j < k.rows(); ++j) {
    const S away = (k.row(j) - k.row(0)).stableNorm();
    if (!(away <= reach)) reach = away;
  }
  const bool small = tol <= reach / S(100) || reach == S(0);
  auto run = hopfield_retrieve(X, K, beta, max_steps, small ? tol : S(-1));
  run.tolerance = tol;
  return run;
}

// certify that a pattern is kept
/// What thm. basin says of one pattern.
struct Basin {
  double separation, reach;  // Delta_i and D_i
  double radius, rate;       // r = 1/(beta D_i) and q
  /// Is q < 1, and beta Delta_i >= 1 or D_i = 0?
  bool kept() const { return rate < 1 && !(separation < radius * reach); }
};

/// Certificate of pattern i among the patterns K (M x d), for the metric
/// delta, up to roundings in double; all NaN, and nothing kept, unless K is
/// finite.  Throws std::invalid_argument unless 0 <= i < M,
/// std::domain_error unless 0 < beta < infinity.
template <class D>
Basin basin(const Expr<D>& patterns, Index i, double beta) {
  detail::require_beta("basin", beta);
  const Matrix<double> K = lift<double>(patterns.eval());
  require(0 <= i && i < K.rows(), "basin: no row ", i, " in ", shape(K));
  Basin b{HUGE_VAL, 0, 0, 0};

  // measure separation and reach of pattern $i$
  for (Index j = 0; j < K.rows(); ++j) {
    if (j == i) continue;
    const RowVector<double> away = K.row(i) - K.row(j);
    b.separation = std::min(b.separation, away.dot(K.row(i)));
    b.reach = std::max(b.reach, away.stableNorm());
  }
  if (!K.allFinite()) b.separation = b.reach = NAN;
  b.radius = 1 / (beta * b.reach);
  b.rate = beta * b.reach * b.reach * double(K.rows() - 1) *
           std::exp(1 - beta * b.separation);
  return b;
}

// measure the reach of a memory
/// Fraction of cues k_i + radius v, with v uniform on the unit sphere, that
/// the iteration brings nearer to pattern i than to any other (M x d); NaN
/// if a state has become one.  Throws std::invalid_argument unless
/// 0 <= i < M and tries > 0, and as hopfield_retrieve.
template <std::same_as<double> S>
double retrieved_fraction(const Matrix<S>& K, Index i,
                          double radius, double beta,
                          Index tries = 100, std::uint64_t seed = 1) {
  require(0 <= i && i < K.rows() && tries > 0, "retrieved_fraction: row ",
          i, " of ", shape(K), ", ", tries, " tries");
  Matrix<S> X = gaussian<S>(tries, K.cols(), seed, "cues");
  X.rowwise().normalize();
  X = ((radius * X).rowwise() + K.row(i)).eval();
  X = hopfield_retrieve(X, K, beta).X;
  double good = 0;

  // count the states that are nearest to pattern $i$
  for (Index t = 0; t < tries; ++t) {
    Vector<S> away = (K.rowwise() - X.row(t)).rowwise().squaredNorm();
    const S own = std::exchange(away(i), S(HUGE_VAL));
    good += X.row(t).allFinite() ? double(own < away.minCoeff()) : NAN;
  }
  return good / double(tries);
}

// recall binary patterns
/// The network with energy -sum_j exp(d m_j): all neurons of x (d) at once
/// take the signs of eq. dense-update for binary patterns K (M x d); at a
/// tie they stay.  Throws std::invalid_argument unless x has d entries,
/// std::domain_error unless those of K and x are 1 or -1.
template <class = void>
Vector<double> exponential_update(const Matrix<double>& K,
                                  const Vector<double>& x) {
  const Index d = x.size();
  require(K.cols() == d, "exponential_update: K is ", shape(K),
          " but x has ", d, " entries");
  require_domain((K.array().abs() == 1).all() && (x.array().abs() == 1).all(),
                 "exponential_update: an entry is no sign");
  const Vector<double> o = K * x;
  Vector<double> y(d);
  for (Index a = 0; a < d; ++a) {
    // let the other neurons vote on neuron $a$
    Vector<double> votes = Vector<double>::Zero(d);
    for (Index j = 0; j < K.rows(); ++j) {
      const double h = o(j) - K(j, a) * x(a);
      votes(Index((double(d - 1) - h) / 2)) += K(j, a);
    }

    // weigh the votes from the weakest on
    double sum = 0, field = 0;
    for (Index k = d - 1; k >= 0; --k) {
      sum = votes(k) + std::exp(-2.0) * sum;
      if (votes(k) != 0) field = sum;
    }
    y(a) = detail::follow(field, x(a));
  }
  return y;
}

// evaluate what has been proved
/// w >= 0 with w e^w = x, for 0 <= x < infinity (Newton's method; Corless
/// 1996).  Throws std::domain_error.
inline double lambert_w(double x) {
  require_domain(x >= 0 && x < HUGE_VAL, "lambert_w: x = ", x,
                 " is negative or not finite");
  double w = std::log1p(x);
  for (int k = 0; k < 60; ++k)
    w -= (w - x * std::exp(-w)) / (w + 1);
  return w;
}
/// The base c of eq. ramsauer for patterns of length kappa sqrt(d - 1);
/// throws std::domain_error unless d > 1, beta, kappa > 0, 0 < p <= 1.
inline double ramsauer_base(double d, double kappa, double beta, double p) {
  require_domain(d > 1 && kappa > 0 && beta > 0 && p > 0 && p <= 1,
                 "ramsauer_base: d = ", d, ", kappa = ", kappa, ", beta = ",
                 beta, ", p = ", p);
  const double k2 = kappa * kappa, b = 2 * k2 * beta / 5;
  const double a = 2 / (d - 1) * (1 + std::log(2 * beta * k2 * p * (d - 1)));
  return b / lambert_w(b * std::exp(a));
}
/// Number of patterns sqrt(p) c^((d-1)/4) of eq. ramsauer; 0 where that is
/// less than two, of which the theorem says nothing.  Throws as
/// ramsauer_base.
inline double ramsauer_guarantee(double d, double kappa, double beta,
                                 double p) {
  const double most =
      std::sqrt(p) * std::pow(ramsauer_base(d, kappa, beta, p), (d - 1) / 4);
  return most >= 2 ? most : 0;
}

// estimate capacities of random patterns
/// Rate gamma with capacity e^(gamma d) for Gaussian patterns of norm
/// sqrt(d): beta - beta^2/2, or 1/2 from beta = 1 on (thm. cold).  Throws
/// std::domain_error unless 0 < beta < infinity.
inline double gaussian_capacity_rate(double beta) {
  detail::require_beta("gaussian_capacity_rate", beta);
  return beta < 1 ? beta - beta * beta / 2 : 0.5;
}
/// The same for patterns on the sphere of radius sqrt(d) (prop. sphere);
/// throws as gaussian_capacity_rate.
inline double spherical_capacity_rate(double beta) {
  detail::require_beta("spherical_capacity_rate", beta);
  const double t = beta / (0.5 + std::hypot(0.5, beta));
  return t / (1 + t) + std::log1p(beta * t) / 2;
}
/// log M_c = sqrt(d) - 1/2: keys among which a unit-variance key of
/// dimension d keeps half its weight in standard attention (eq.
/// head-capacity).  Throws std::domain_error unless d >= 1.
inline double head_log_capacity(double d) {
  require_domain(d >= 1, "head_log_capacity: d = ", d);
  return std::sqrt(d) - 0.5;
}
}  // namespace attn
