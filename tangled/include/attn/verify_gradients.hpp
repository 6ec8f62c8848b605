// include/attn/verify_gradients.hpp: tangled from chapters/04-backward.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

#include "attn/backward.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"

namespace attn {
// rules of running error analysis

// pair a value with a bound on its error
/// A matrix and a componentwise bound on the error of computing it.
struct Tracked {
  Matrix<double> value, error;
  /// Bounds the magnitude of exact and computed values alike.
  Matrix<double> size() const { return value.cwiseAbs() + 2 * error; }
};
/// Exactly known numbers.
template <class D>
Tracked tracked_exactly(const Eigen::MatrixBase<D>& m) {
  return {lift<double>(m), Matrix<double>::Zero(m.rows(), m.cols())};
}
/// The transpose, error and all.
template <class = void>
Tracked tracked_transpose(const Tracked& a) {
  return {a.value.transpose(), a.error.transpose()};
}
/// Smallest subnormal number of a format.
template <class S>
double smallest_subnormal() {
  return to_double(std::numeric_limits<S>::denorm_min());
}
namespace detail {
// round a bound up
inline Matrix<double> rounded_up(const Matrix<double>& x, Index r) {
  return (1 + gamma(r + 4, unit_roundoff<double>())) * x;
}
template <class S>
void require_extent(Index k) {
  require_domain(2 * double(k) * unit_roundoff<S>() <= 1, "sums of ", k,
                 " terms are too long for a format with u = ",
                 unit_roundoff<S>());
}
}  // namespace detail

// track products, sums and multiples
/// a b, computed in the format S in any order (lem. product-rule).
/// Throws std::domain_error if 2 k u > 1 for the inner extent k.
template <class S>
Tracked tracked_product(const Tracked& a, const Tracked& b) {
  const Index k = a.value.cols();
  detail::require_extent<S>(k);
  const Matrix<double> A = a.size(), B = b.size();
  Matrix<double> e = a.error * B + A * b.error +
                     gamma(k, unit_roundoff<S>()) * (A * B);
  e.array() += 3 * double(k) * smallest_subnormal<S>();
  return {a.value * b.value, detail::rounded_up(e, k + 9)};
}
/// a_ij b_ij, entry by entry (lem. rules).
template <class S>
Tracked tracked_entries(const Tracked& a, const Tracked& b) {
  const Matrix<double> A = a.size(), B = b.size();
  Matrix<double> e = a.error.cwiseProduct(B) + A.cwiseProduct(b.error) +
                     unit_roundoff<S>() * A.cwiseProduct(B);
  e.array() += 3 * smallest_subnormal<S>();
  return {a.value.cwiseProduct(b.value), detail::rounded_up(e, 9)};
}
/// a + b, entry by entry (lem. rules).
template <class S>
Tracked tracked_sum(const Tracked& a, const Tracked& b) {
  Tracked c{a.value + b.value, a.error + b.error};
  c.error += unit_roundoff<S>() * c.size();
  c.error = detail::rounded_up(c.error, 5);
  return c;
}
/// c a with a factor c known up to k roundings, or a/c with k = 1 for 1/c
/// (lem. rules).
template <class S>
Tracked tracked_multiple(double c, const Tracked& a, Index k) {
  const double size = std::abs(c);
  Matrix<double> e = size * a.error +
                     gamma(k + 1, unit_roundoff<S>()) * size * a.size();
  e.array() += 3 * smallest_subnormal<S>();
  return {c * a.value, detail::rounded_up(e, k + 9)};
}
/// sum_j a_ij for each row: one column (lem. rules).  Throws as
/// tracked_product.
template <class S>
Tracked tracked_row_sums(const Tracked& a) {
  const Index k = a.value.cols();
  detail::require_extent<S>(k);
  const double g = gamma(std::max<Index>(k - 1, 0), unit_roundoff<S>());
  const Matrix<double> e = (a.error + g * a.size()).rowwise().sum();
  return {a.value.rowwise().sum(), detail::rounded_up(e, k + 7)};
}
namespace detail {
// track exponents
template <class S>
Tracked tracked_exponents(const Tracked& s, double T) {
  Tracked y{s.value, Matrix<double>::Zero(s.value.rows(), s.value.cols())};
  for (Index i = 0; i < s.value.rows(); ++i)
    if (const auto m = row_maximum(s.value, i)) {
      const double E = s.error.row(i).maxCoeff();

      // track the exponents of one row
      for (Index j = 0; j < s.value.cols(); ++j)
        if (!is_forbidden(s.value(i, j))) {
          const double x = *m - s.value(i, j), e = s.error(i, j);
          y.value(i, j) = -x / T;
          y.error(i, j) =
              (e + gamma(2, unit_roundoff<S>()) * (x + 2 * e + 2 * E)) / T +
              smallest_subnormal<S>();
        }
    }
  y.error = rounded_up(y.error, 12);
  return y;
}

// track the shift of a row
template <class S>
Tracked tracked_shift(const Tracked& X, const std::vector<Index>& key) {
  Tracked Z = X;
  for (Index i = 0; i < X.value.rows(); ++i)
    if (const Index at = key[std::size_t(i)]; at >= 0) {
      const Index n = X.value.cols();
      const Tracked c{Matrix<double>::Constant(1, n, -X.value(i, at)),
                      Matrix<double>::Constant(1, n, X.error(i, at))};
      const Tracked z =
          tracked_sum<S>({X.value.row(i), X.error.row(i)}, c);
      Z.value.row(i) = z.value;
      Z.error.row(i) = z.error;
      Z.error(i, at) = 0;
    }
  return Z;
}

// track the mean and the product
template <class S>
Tracked tracked_dots(const Tracked& a, const Tracked& b) {
  return tracked_row_sums<S>(tracked_entries<S>(a, b));
}
template <class S>
Tracked tracked_centred(const Tracked& A, const Tracked& z,
                        const Tracked& D) {
  const Index n = z.value.cols();
  return tracked_entries<S>(
      A, tracked_sum<S>(z, {-D.value.replicate(1, n),
                            D.error.replicate(1, n)}));
}
}  // namespace detail

// track the softmax
/// Gibbs weights of tracked scores at an exactly known temperature,
/// computed in S (prop. softmax-bound); forbidden scores are -infinity,
/// error 0.
template <class S>
Tracked tracked_gibbs(const Tracked& s, double T) {
  const Tracked y = detail::tracked_exponents<S>(s, T);
  const double most = 1 + 2 * unit_roundoff<S>();
  return {gibbs(y.value),
          softmax_bound<S>(y.value, y.error).unaryExpr([most](double b) {
            return b <= most ? b : most;  // also where b is NaN
          })};
}
/// log Z of tracked scores at an exactly known temperature, computed in S:
/// one column.
template <class S>
Tracked tracked_log_partition(const Tracked& s, double T) {
  const Tracked y = detail::tracked_exponents<S>(s, T);
  const double u = unit_roundoff<S>(), n = double(s.value.cols());
  Tracked z{log_partition(s.value, T), Vector<double>::Zero(y.value.rows())};
  for (Index i = 0; i < y.value.rows(); ++i)
    if (const auto m = detail::row_maximum(s.value, i)) {
      const double M = std::abs(*m) + 2 * s.error.row(i).maxCoeff();
      z.error(i) = y.error.row(i).maxCoeff() + gamma(Index(n) + 2, u) +
                   gamma(2, u) * M / T + gamma(3, u) * (std::log(n) + 1) +
                   (n + 1) * smallest_subnormal<S>();
    }
  z.error = detail::rounded_up(z.error, 16);
  return z;
}

// track the lowering of a row index
/// fisher_lower of tracked weights and cotangents in S, with the gauge
/// fixed at the given key of each row (-1: not fixed, the textbook form).
template <class S>
Tracked tracked_lower(const Tracked& A, const Tracked& X,
                      const std::vector<Index>& key) {
  const Tracked z = detail::tracked_shift<S>(X, key);
  return detail::tracked_centred<S>(A, z, detail::tracked_dots<S>(A, z));
}

// list the heaviest keys
/// The first key of largest weight, for every row; -1 without keys.
template <class S>
std::vector<Index> heaviest_keys(const Matrix<S>& A) {
  std::vector<Index> key;
  for (Index i = 0; i < A.rows(); ++i)
    key.push_back(detail::heaviest_key(A, i));
  return key;
}

// track the scores
/// Scores Q K_low^T + bias, computed in S; bias may be 0 x 0, and
/// -infinity in it forbids a pair, whose score is then exact.
template <class S>
Tracked tracked_scores(const Tracked& Q, const Tracked& K_low,
                       const Matrix<double>& bias) {
  Tracked X = tracked_product<S>(Q, tracked_transpose(K_low));
  if (bias.size() == 0) return X;
  X = tracked_sum<S>(X, tracked_exactly(bias));
  for (Index k = 0; k < X.value.size(); ++k)
    if (is_forbidden(bias.data()[k]))
      X.value.data()[k] = -HUGE_VAL, X.error.data()[k] = 0;
  return X;
}

// bounds of running error analysis

// collect the errors of attention's gradient
/// Componentwise error bounds for one evaluation in the format S.
struct AttentionErrors {
  AttentionParts<double> gradient;
  Matrix<double> O;
  Vector<double> logZ;
};

// name the forms of the softmax's gradient
/// How the softmax is pulled back: by fisher_lower; without its gauge; or
/// with the mean as sum_c dO_c O_c, as fused kernels have it.
enum class SoftmaxPullback { gauge_fixed, textbook, fused };
namespace detail {
// join bias and mask
template <class S>
Matrix<double> bias_and_mask(const AttentionInputs<S>& x) {
  if (!x.bias && !x.mask) return {};
  Matrix<double> B = x.bias ? lift<double>(*x.bias)
                            : Matrix<double>::Zero(x.Q.rows(), x.K.rows());
  if (x.mask) B = x.mask->select(B, -HUGE_VAL).eval();
  return B;
}

// leave out what nobody sees
template <class S>
AttentionInputs<S> without_unseen(AttentionInputs<S> x) {
  const Matrix<double> B = bias_and_mask(x);
  const Allowed never = (B.array() == -HUGE_VAL).matrix();
  for (Index j = 0; j < never.cols(); ++j)
    if (never.col(j).all()) {
      x.K.row(j).setConstant(S(0));
      x.V.row(j).setConstant(S(0));
    }
  for (Index i = 0; i < never.rows(); ++i)
    if (never.row(i).all()) x.Q.row(i).setConstant(S(0));
  return x;
}
template <class S>
OutputParts<S> without_unseen(const AttentionInputs<S>& x,
                              OutputParts<S> bar) {
  const Matrix<double> B = bias_and_mask(x);
  for (Index i = 0; i < B.rows(); ++i)
    if ((B.row(i).array() == -HUGE_VAL).all()) {
      bar.O.row(i).setConstant(S(0));
      if (bar.logZ.size() > 0) bar.logZ(i) = S(0);
    }
  return bar;
}

// track the forward pass
struct TrackedForward {
  Tracked Q, K, V, Q_low, K_low, scores, weights, O, logZ;
};
template <class S>
TrackedForward tracked_forward(const AttentionInputs<S>& x) {
  TrackedForward f{tracked_exactly(x.Q), tracked_exactly(x.K),
                   tracked_exactly(x.V), {}, {}, {}, {}, {}, {}};
  const double T = to_double(x.T);

  // track lowered queries and keys
  if (x.M) {
    const Tracked M = tracked_exactly(*x.M);
    f.K_low = tracked_product<S>(f.K, tracked_transpose(M));
    f.Q_low = tracked_product<S>(f.Q, M);
  } else {
    const double scale = 1 / std::sqrt(double(x.K.cols()));
    f.K_low = tracked_multiple<S>(scale, f.K, 2);
    f.Q_low = tracked_multiple<S>(scale, f.Q, 2);
  }
  f.scores = tracked_scores<S>(f.Q, f.K_low, bias_and_mask(x));
  f.weights = tracked_gibbs<S>(f.scores, T);
  f.logZ = tracked_log_partition<S>(f.scores, T);
  f.O = tracked_product<S>(f.weights, f.V);
  return f;
}

// track the cotangent of the scores
template <class S>
Tracked tracked_cotangent(const AttentionInputs<S>& x,
                          const TrackedForward& f, const OutputParts<S>& w,
                          SoftmaxPullback how) {
  const Tracked dO = tracked_exactly(w.O);
  std::vector<Index> key(std::size_t(x.Q.rows()), -1);
  if (how == SoftmaxPullback::gauge_fixed)
    key = heaviest_keys(attention_forward(x).weights);
  const Tracked z = tracked_shift<S>(
      tracked_product<S>(dO, tracked_transpose(f.V)), key);
  Tracked dS = tracked_centred<S>(
      f.weights, z, how == SoftmaxPullback::fused
                        ? tracked_dots<S>(dO, f.O)
                        : tracked_dots<S>(f.weights, z));

  // track the cotangent of the partition function
  if (w.logZ.size() > 0)
    dS = tracked_sum<S>(
        dS, tracked_entries<S>(
                f.weights, tracked_exactly(
                               w.logZ.replicate(1, x.K.rows()).eval())));
  return tracked_multiple<S>(1 / to_double(x.T), dS, 1);
}

// track the temperature
template <class S>
double temperature_error(const TrackedForward& f, const Tracked& dS,
                         const OutputParts<S>& w, double T) {
  const Index n = f.scores.value.rows(), k = f.scores.value.cols();

  // track the largest scores
  Tracked m = tracked_exactly(Matrix<double>::Zero(n, 1));
  for (Index i = 0; i < n; ++i)
    if (const auto top = row_maximum(f.scores.value, i)) {
      m.value(i) = *top;
      m.error(i) = f.scores.error.row(i).maxCoeff();
    }
  Tracked x = tracked_sum<S>(f.scores, {-m.value.replicate(1, k),
                                        m.error.replicate(1, k)});
  for (Index e = 0; e < n * k; ++e)
    if (is_forbidden(f.scores.value.data()[e]))
      x.value.data()[e] = x.error.data()[e] = 0;
  Tracked r = tracked_dots<S>(dS, x);

  // pay for the largest scores
  if (w.logZ.size() > 0)
    r = tracked_sum<S>(
        r, tracked_multiple<S>(
               1 / T, tracked_entries<S>(m, tracked_exactly(w.logZ)), 1));
  const Tracked sum = tracked_row_sums<S>(tracked_transpose(r));
  return tracked_multiple<S>(-1 / T, sum, 1).error(0);
}
}  // namespace detail

// bound the errors of attention's gradient
/// Bounds the errors of attention_forward and attention_vjp computed in
/// S (thm. backward-rounding), S no wider than double; or those of another
/// form of the softmax's gradient.  Throws as attention_forward, and
/// std::domain_error if an extent is too large for S.
template <class S>
AttentionErrors attention_errors(
    const AttentionInputs<S>& given, const OutputParts<S>& bar,
    SoftmaxPullback how = SoftmaxPullback::gauge_fixed) {
  detail::require_inputs("attention_errors", given);
  detail::require_outputs("attention_errors: cotangent", given, bar);
  const AttentionInputs<S> x = detail::without_unseen(given);
  const OutputParts<S> w = detail::without_unseen(x, bar);
  const detail::TrackedForward f = detail::tracked_forward(x);
  const Tracked dS = detail::tracked_cotangent(x, f, w, how);
  AttentionErrors e{{}, f.O.error, f.logZ.error.col(0)};

  // bound the errors of each part
  const auto dS_t = tracked_transpose(dS), A_t = tracked_transpose(f.weights);
  e.gradient.bias = dS.error;
  e.gradient.Q = tracked_product<S>(dS, f.K_low).error;
  e.gradient.K = tracked_product<S>(dS_t, f.Q_low).error;
  e.gradient.V = tracked_product<S>(A_t, tracked_exactly(w.O)).error;
  if (x.M)
    e.gradient.M = tracked_product<S>(
        tracked_product<S>(tracked_transpose(f.Q), dS), f.K).error;
  e.gradient.T = detail::temperature_error(f, dS, w, to_double(x.T));
  return e;
}

// bound the errors of a tangent
/// Componentwise bound on the error of attention_jvp(x, u).O computed in
/// S.  Throws as attention_errors and attention_jvp, and std::domain_error
/// unless u.T = 0.
template <class S>
Matrix<double> tangent_errors(const AttentionInputs<S>& given,
                              const AttentionParts<S>& u) {
  detail::require_inputs("tangent_errors", given);
  detail::require_direction("tangent_errors: direction", given, u);
  require_domain(u.T == S(0), "tangent_errors: the temperature moves");
  const AttentionInputs<S> x = detail::without_unseen(given);
  const detail::TrackedForward f = detail::tracked_forward(x);

  // track the tangent of the scores
  Tracked dY = tracked_sum<S>(
      tracked_product<S>(tracked_exactly(u.Q), tracked_transpose(f.K_low)),
      tracked_product<S>(f.Q_low, tracked_transpose(tracked_exactly(u.K))));
  if (u.M.size() > 0)
    dY = tracked_sum<S>(
        dY, tracked_product<S>(
                tracked_product<S>(f.Q, tracked_exactly(u.M)),
                tracked_transpose(f.K)));
  if (u.bias.size() > 0) dY = tracked_sum<S>(dY, tracked_exactly(u.bias));
  dY = tracked_multiple<S>(1 / to_double(x.T), dY, 1);
  const Tracked dA = tracked_lower<S>(
      f.weights, dY, heaviest_keys(attention_forward(x).weights));
  return tracked_sum<S>(tracked_product<S>(dA, f.V),
                        tracked_product<S>(f.weights, tracked_exactly(u.V)))
      .error;
}

// derivatives by other means

// make a loss of a cotangent
/// <bar.O, O> + <bar.logZ, logZ> over the rows that are not empty.
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
S cotangent_loss(const AttentionForward<S>& f, const OutputParts<S>& bar) {
  // demand cotangents of these outputs
  require(bar.O.rows() == f.O.rows() && bar.O.cols() == f.O.cols(),
          "cotangent_loss: O is ", shape(f.O), " but its cotangent ",
          shape(bar.O));
  require(bar.logZ.size() == 0 || bar.logZ.size() == f.logZ.size(),
          "cotangent_loss: ", f.logZ.size(), " rows but ", bar.logZ.size(),
          " cotangents of logZ");
  S L(0);
  for (Index i = 0; i < f.logZ.size(); ++i)
    if (!is_forbidden(f.logZ(i))) {
      for (Index c = 0; c < f.O.cols(); ++c) L += bar.O(i, c) * f.O(i, c);
      if (bar.logZ.size() > 0) L += bar.logZ(i) * f.logZ(i);
    }
  return L;
}

// differentiate attention in reverse mode
/// Gradient of cotangent_loss by the tape: no formula of this chapter.
/// bias and M are 0 x 0 if the inputs have none.  Throws as attention_forward
/// and cotangent_loss.
template <class S>
AttentionParts<S> reverse_gradient(const AttentionInputs<S>& x,
                                   const OutputParts<S>& bar) {
  const OutputParts<Var<S>> w{lift<Var<S>>(bar.O),
                              lift<Var<S>>(bar.logZ)};
  const Matrix<S> none(0, 0);
  const auto [Q, K, V, M, B, T] = gradient(
      [&](const auto& q, const auto& k, const auto& v, const auto& m,
          const auto& b, const auto& t) {
        // run attention on recorded variables
        AttentionInputs<Var<S>> y{q, k, v};
        if (x.M) y.M = m;
        if (x.bias) y.bias = b;
        y.mask = x.mask;
        y.T = t(0, 0);
        return cotangent_loss(attention_forward(y), w);
      },
      x.Q, x.K, x.V, x.M.value_or(none), x.bias.value_or(none),
      Matrix<S>(Matrix<S>::Constant(1, 1, x.T)));
  return {Q, K, V, M, B, T(0, 0)};
}

// differentiate along a line by differences
/// A derivative and a (heuristic) bound on its error.
struct LineDerivative {
  quad value;
  double bound;
};
/// phi'(0) by the sixth-order central formula with step h; the bound is
/// its distance to the fourth-order one, plus rounding.
template <class F>
LineDerivative line_derivative(F&& phi, const quad& h) {
  quad delta[3], size(0);
  for (int k = 0; k < 3; ++k) {
    const quad a = phi(quad(h * (k + 1))), b = phi(quad(-h * (k + 1)));
    delta[k] = a - b;
    size += abs(a) + abs(b);
  }
  const quad sixth =
      (45 * delta[0] - 9 * delta[1] + delta[2]) / (60 * h);
  const quad fourth = (8 * delta[0] - delta[1]) / (12 * h);
  const double rounding =
      to_double(size / h) * 1e3 * unit_roundoff<quad>();
  return {sixth, to_double(abs(sixth - fourth)) + rounding};
}
namespace detail {
// move inputs along a line
template <class S>
AttentionInputs<S> moved_inputs(AttentionInputs<S> x,
                                const AttentionParts<S>& u, const S& t) {
  x.Q += t * u.Q;
  x.K += t * u.K;
  x.V += t * u.V;
  if (x.M && u.M.size() > 0) *x.M += t * u.M;
  if (u.bias.size() > 0) x.bias = bias_or_zero(x) + t * u.bias;
  x.T += t * u.T;
  return x;
}
template <class S>
double fastest_rate(const AttentionForward<Dual<S>>& f, const Dual<S>& T) {
  double rate = std::max(1.0, std::abs(to_double(S(T.d / T.v))));
  for (Index k = 0; k < f.scores.size(); ++k)
    if (const Dual<S>& s = f.scores.data()[k]; !is_forbidden(s))
      rate = std::max(rate, std::abs(to_double((s / T).d)));
  return rate;
}

// bound the rounding of the loss
template <class = void>
double loss_rounding(const AttentionErrors& e,
                     const OutputParts<quad>& bar) {
  double sum = 0;
  for (Index k = 0; k < e.O.size(); ++k)
    sum += std::abs(to_double(bar.O.data()[k])) * e.O.data()[k];
  for (Index i = 0; i < bar.logZ.size(); ++i)
    sum += std::abs(to_double(bar.logZ(i))) * e.logZ(i);
  return sum * unit_roundoff<quad>() / unit_roundoff<double>();
}

// differentiate attention by differences
template <class = void>
LineDerivative difference_along(const AttentionInputs<quad>& x,
                                const OutputParts<quad>& bar,
                                const AttentionParts<quad>& u) {
  const auto y = dual_inputs(x, u);
  const double h = 0x1p-20 / fastest_rate(attention_forward(y), y.T);
  LineDerivative d = line_derivative(
      [&](const quad& t) {
        return cotangent_loss(attention_forward(moved_inputs(x, u, t)), bar);
      }, quad(h));
  const auto e = attention_errors(lift<double>(x), lift<double>(bar));
  d.bound += 2 * loss_rounding(e, bar) / h;
  return d;
}
}  // namespace detail

// reports on a gradient

// report measured errors and bounds
/// One comparison: what was measured, by how much it was off, and how
/// much the arithmetic explains.
struct GradientCheck {
  std::string what;
  double error, bound;
  /// error/bound: at most 1 if all is well; infinite for NaN and where
  /// nothing is bounded.
  double ratio() const {
    if (!(bound < HUGE_VAL)) return HUGE_VAL;
    if (error == 0) return 0;
    return error / bound >= 0 ? error / bound : HUGE_VAL;
  }
};
/// What verify_gradients found.
struct GradientReport {
  std::vector<GradientCheck> checks;
  /// Largest ratio of error to bound.
  double worst() const {
    double w = 0;
    for (const GradientCheck& c : checks) w = std::max(w, c.ratio());
    return w;
  }
  /// Nothing compared is nothing passed.
  bool passed() const { return !checks.empty() && worst() <= 1; }
};
/// Prints one line per comparison.
inline std::ostream& operator<<(std::ostream& out,
                                const GradientReport& r) {
  for (const GradientCheck& c : r.checks)
    out << std::left << std::setw(24) << c.what << " error "
        << std::setw(11) << c.error << " bound " << std::setw(11)
        << c.bound << " ratio " << c.ratio() << '\n';
  return out << (r.passed() ? "passed" : "FAILED") << ", worst ratio "
             << r.worst() << '\n';
}
namespace detail {
// compare two gradients part by part
template <class = void>
GradientCheck compare_parts(const std::string& what,
                            const Matrix<quad>& a, const Matrix<quad>& b,
                            const Matrix<double>& bound) {
  GradientCheck worst{what, 0, 0};
  for (Index k = 0; k < bound.size(); ++k) {
    const quad off = abs(a.data()[k] - b.data()[k]);
    const GradientCheck c{what, to_double(off), bound.data()[k]};
    if (k == 0 || !(c.ratio() <= worst.ratio())) worst = c;
  }
  return worst;
}
template <class = void>
void compare_parts(std::vector<GradientCheck>& out,
                   const std::string& how, const AttentionParts<quad>& a,
                   const AttentionParts<quad>& b,
                   const AttentionParts<double>& bound, bool bias) {
  out.push_back(compare_parts("Q, " + how, a.Q, b.Q, bound.Q));
  out.push_back(compare_parts("K, " + how, a.K, b.K, bound.K));
  out.push_back(compare_parts("V, " + how, a.V, b.V, bound.V));
  if (bound.M.size() > 0)
    out.push_back(compare_parts("M, " + how, a.M, b.M, bound.M));
  if (bias)
    out.push_back(
        compare_parts("bias, " + how, a.bias, b.bias, bound.bias));
  out.push_back({"T, " + how, to_double(quad(abs(a.T - b.T))), bound.T});
}

// map the parts of a gradient
template <class R, class S, class F>
AttentionParts<R> map_parts(const AttentionParts<S>& a, F f) {
  return {f(a.Q), f(a.K), f(a.V), f(a.M), f(a.bias),
          f(Matrix<S>(Matrix<S>::Constant(1, 1, a.T)))(0, 0)};
}
template <class = void>
AttentionParts<double> scaled_parts(const AttentionParts<double>& a,
                                    double c) {
  return map_parts<double>(
      a, [c](const auto& m) { return Matrix<double>(c * m); });
}
template <class S>
AttentionParts<S> absolute_parts(const AttentionParts<S>& a) {
  return map_parts<S>(
      a, [](const auto& m) { return Matrix<S>(m.cwiseAbs()); });
}

// take the widest of three bounds
inline AttentionParts<double> widest(const AttentionParts<double>& a,
                                     const AttentionParts<double>& b) {
  return {a.Q.cwiseMax(b.Q), a.K.cwiseMax(b.K),       a.V.cwiseMax(b.V),
          a.M.cwiseMax(b.M), a.bias.cwiseMax(b.bias), std::max(a.T, b.T)};
}
template <class S>
AttentionParts<double> errors_of_any_form(const AttentionInputs<S>& x,
                                          const OutputParts<S>& bar) {
  using enum SoftmaxPullback;
  return widest(attention_errors(x, bar, gauge_fixed).gradient,
                widest(attention_errors(x, bar, textbook).gradient,
                       attention_errors(x, bar, fused).gradient));
}

// draw a direction like the inputs
template <class S>
AttentionParts<double> direction_like(const AttentionInputs<S>& x,
                                      std::uint64_t seed) {
  const auto like = [&](const Matrix<S>& m, const char* name) {
    return gaussian<double>(m.rows(), m.cols(), seed, name);
  };
  AttentionParts<double> u{like(x.Q, "dQ"), like(x.K, "dK"),
                           like(x.V, "dV")};
  if (x.M) u.M = like(*x.M, "dM");
  if (x.bias) u.bias = like(*x.bias, "dB");
  u.T = to_double(x.T) * gaussian<double>(1, 1, seed, "dT")(0, 0);
  return u;
}

// demand a gradient that is complete
template <class S>
void require_gradient(const char* who, const AttentionInputs<S>& x,
                      const AttentionParts<S>& g) {
  require_direction(who, x, g);
  require(!x.M || g.M.size() == x.M->size(), who, " of M is ", shape(g.M),
          ", expected ", x.Q.cols(), "x", x.K.cols());
  require(!x.bias || g.bias.size() == x.bias->size(), who,
          " of bias is ", shape(g.bias), ", expected ", x.Q.rows(), "x",
          x.K.rows());
}

// verify a gradient against given bounds
template <class S>
GradientReport examined(const AttentionInputs<S>& given,
                        const OutputParts<S>& cotangent,
                        const AttentionParts<S>& g,
                        const AttentionParts<double>& bounds,
                        std::uint64_t seed) {
  const auto x = lift<double>(without_unseen(given));
  const auto bar = lift<double>(without_unseen(given, cotangent));
  const auto xq = lift<quad>(x);
  const auto wq = lift<quad>(bar);
  const AttentionParts<quad> truth = attention_vjp(xq, wq);
  GradientReport report;
  compare_parts(report.checks, "arithmetic", lift<quad>(lift<double>(g)),
                truth, bounds, x.bias.has_value());

  // bound the algebra in quad
  const AttentionParts<double> loose = scaled_parts(
      errors_of_any_form(x, bar),
      4 * unit_roundoff<quad>() / unit_roundoff<double>());

  // verify the truth in reverse mode
  const Index work = x.Q.rows() * x.K.rows() * (x.Q.cols() + x.V.cols());
  if (work <= Index(1) << 16)
    compare_parts(report.checks, "reverse mode", truth,
                  reverse_gradient(xq, wq), loose, x.bias.has_value());

  // verify the truth along a random direction
  const AttentionParts<quad> u = lift<quad>(direction_like(x, seed));
  const quad slope = duality(truth, u);
  const double bound =
      to_double(duality(absolute_parts(u), lift<quad>(loose)));
  const auto f = attention_forward(dual_inputs(xq, u));
  const quad forward = cotangent_loss(f, dual_outputs<quad>(wq, {})).d;
  report.checks.push_back({"all, forward mode",
                           to_double(quad(abs(forward - slope))), 2 * bound});
  const LineDerivative m = difference_along(xq, wq, u);
  report.checks.push_back({"all, differences",
                           to_double(quad(abs(m.value - slope))),
                           m.bound + bound});
  return report;
}
}  // namespace detail

// test a gradient by the adjoint identity
/// Compares <bar.O, J u> with <g, u> for the gradient g of <bar.O, O> and
/// a direction u, both computed in S; any size.  bar.logZ and u.T are not
/// used.  Throws as verify_gradients.
template <class S>
GradientCheck adjoint_test(const AttentionInputs<S>& x,
                           const OutputParts<S>& bar,
                           const AttentionParts<S>& g, AttentionParts<S> u) {
  detail::require_inputs("adjoint_test", x);
  detail::require_gradient("adjoint_test: gradient", x, g);
  u.T = S(0);
  const Matrix<double> w = lift<double>(bar.O);
  const Matrix<double> y = lift<double>(attention_jvp(x, u).O);
  const auto gd = lift<double>(g), ud = lift<double>(u);

  // bound the difference of both sides
  const auto e = attention_errors(x, OutputParts<S>{bar.O}).gradient;
  const auto U = detail::absolute_parts(ud), G = detail::absolute_parts(gd);
  const Matrix<double> W = w.cwiseAbs(), Y = y.cwiseAbs();
  const Index terms = x.Q.size() + x.K.size() + x.V.size() + u.M.size() +
                      u.bias.size() + y.size() + 16;
  const double bound =
      duality(W, tangent_errors(x, u)) + duality(e, U) +
      gamma(terms, unit_roundoff<double>()) * (duality(W, Y) + duality(G, U));
  return {"adjoint identity", std::abs(duality(w, y) - duality(gd, ud)),
          bound};
}

// verify a gradient on given inputs
/// Verifies a candidate gradient g of <bar.O, O> + <bar.logZ, logZ> at x:
/// entry by entry against quad within thm. backward-rounding for the
/// widest of three forms; the truth itself against reverse mode, forward
/// mode and differences in quad (reverse mode only while
/// n_q n_k (d_q + d_v) <= 2^16).  Throws std::invalid_argument for shapes
/// that do not fit, std::domain_error as attention_errors.
template <class S>
GradientReport verify_gradients(const AttentionInputs<S>& x,
                                const OutputParts<S>& bar,
                                const AttentionParts<S>& g,
                                std::uint64_t seed = 0x5eed) {
  detail::require_inputs("verify_gradients", x);
  detail::require_gradient("verify_gradients: gradient", x, g);
  return detail::examined(x, bar, g, detail::errors_of_any_form(x, bar),
                          seed);
}
/// The same for the book's own gradient, held to its own bound.
template <class S>
GradientReport verify_gradients(const AttentionInputs<S>& x,
                                const OutputParts<S>& bar,
                                std::uint64_t seed = 0x5eed) {
  return detail::examined(x, bar, attention_vjp(x, bar),
                          attention_errors(x, bar).gradient, seed);
}
}  // namespace attn
