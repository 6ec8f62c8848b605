// include/attn/verify_gradients.hpp: tangled from chapters/04-backward.nw; edit that file, not this one.
#pragma once
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
// bounds of running error analysis

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

/// Smallest subnormal number of a format.
template <class S>
double smallest_subnormal() {
  return to_double(std::numeric_limits<S>::denorm_min());
}

// track products, sums and multiples
/// a b, computed in the format S in any order (lem. product-rule).
template <class S>
Tracked tracked_product(const Tracked& a, const Tracked& b) {
  const Matrix<double> A = a.size(), B = b.size();
  const double k = double(A.cols());
  Tracked c{a.value * b.value,
            a.error * B + A * b.error +
                gamma(A.cols(), unit_roundoff<S>()) * (A * B)};
  c.error.array() += k * smallest_subnormal<S>();
  return c;
}

/// c a with a factor c known up to k roundings, or a/c.
template <class S>
Tracked tracked_multiple(double c, const Tracked& a, Index k) {
  Tracked b{c * a.value, std::abs(c) * a.error +
                             gamma(k + 1, unit_roundoff<S>()) *
                                 std::abs(c) * a.size()};
  b.error.array() += smallest_subnormal<S>();
  return b;
}

/// a + b, entry by entry.
template <class S>
Tracked tracked_sum(const Tracked& a, const Tracked& b) {
  return {a.value + b.value,
          a.error + b.error +
              unit_roundoff<S>() * (a.size() + b.size())};
}

/// The transpose, error and all.
template <class = void>
Tracked tracked_transpose(const Tracked& a) {
  return {a.value.transpose(), a.error.transpose()};
}

// track the softmax
/// Gibbs weights of tracked scores at an exactly known temperature,
/// computed in S (eq. rho); forbidden scores are -infinity, error 0.
template <class S>
Tracked tracked_gibbs(const Tracked& s, double T) {
  const double u = unit_roundoff<S>();
  Matrix<double> dY = Matrix<double>::Zero(s.value.rows(), s.value.cols());
  for (Index i = 0; i < dY.rows(); ++i) {
    const Index top = heaviest_key(s.value, i);
    const double E = top < 0 ? 0 : s.error.row(i).maxCoeff();
    for (Index j = 0; j < dY.cols(); ++j) {
      if (is_forbidden(s.value(i, j))) continue;
      const double e = s.error(i, j);
      const double x = s.value(i, top) - s.value(i, j);
      dY(i, j) = (e + gamma(2, u) * (x + e + E)) / T;
    }
  }
  const Matrix<double> Y = s.value / T;
  return {gibbs(Y), softmax_bound<S>(Y, dY).unaryExpr([u](double b) {
            return b <= 1 + 2 * u ? b : 1 + 2 * u;  // also where b is NaN
          })};
}

// track the lowering of a row index
/// fisher_lower of tracked weights and cotangents in S, with the gauge
/// fixed at the given key of each row (-1: not fixed, the textbook form).
template <class S, class R = double>
Tracked tracked_lower(const Tracked& A, const Tracked& X,
                      const std::vector<Index>& key) {
  const double u = unit_roundoff<S>(), tiny = smallest_subnormal<S>();
  const Index n = A.value.cols();
  Tracked Y = X;
  const Matrix<R> W = A.size();
  for (Index i = 0; i < W.rows() && n > 0; ++i) {
    // track the shifted row
    RowVector<R> z = X.value.row(i), e = X.error.row(i);
    if (const Index at = key[std::size_t(i)]; at >= 0) {
      const double c = z(at), ec = e(at);
      z.array() -= c;
      e = (e.array() + ec + u * (z.array().abs() + e.array() + ec)).eval();
      z(at) = e(at) = 0;
    }

    // track the mean and the product
    const RowVector<R> size = z.cwiseAbs() + 2 * e;
    const double mean = A.value.row(i).dot(z);
    const double off = A.error.row(i).dot(size) + W.row(i).dot(e) +
                       gamma(n, u) * W.row(i).dot(size) + double(n) * tiny;
    z.array() -= mean;
    e = (e.array() + off + u * (z.array().abs() + e.array() + off)).eval();
    const RowVector<R> w = z.cwiseAbs() + 2 * e;
    Y.value.row(i) = A.value.row(i).cwiseProduct(z);
    Y.error.row(i) =
        A.error.row(i).cwiseProduct(w) + W.row(i).cwiseProduct(e) +
        u * W.row(i).cwiseProduct(w);
    Y.error.row(i).array() += tiny;
  }
  return Y;
}

// collect the errors of attention's gradient
/// Componentwise error bounds for one evaluation in the format S.
struct AttentionErrors {
  AttentionParts<double> gradient;
  Matrix<double> O;
};

// list the heaviest keys
/// heaviest_key of every row.
template <class S>
std::vector<Index> heaviest_keys(const Matrix<S>& A) {
  std::vector<Index> key;
  for (Index i = 0; i < A.rows(); ++i) key.push_back(heaviest_key(A, i));
  return key;
}

// track the scores
/// Scores Q K_low^T + bias, computed in S; bias may be 0 x 0, and
/// -infinity in it forbids a pair, whose score is then exact.
template <class S>
Tracked tracked_scores(const Tracked& Q, const Tracked& K_low,
                       const Matrix<double>& bias) {
  Tracked X = tracked_product<S>(Q, tracked_transpose(K_low));
  if (bias.size() > 0) X = tracked_sum<S>(X, tracked_exactly(bias));
  for (Index k = 0; k < X.value.size(); ++k)
    if (is_forbidden(X.value.data()[k])) X.error.data()[k] = 0;
  return X;
}

// join bias and mask
/// The bias with -infinity where the mask forbids; 0 x 0 without either.
template <class S>
Matrix<double> bias_and_mask(const AttentionInputs<S>& x) {
  if (!x.bias && !x.mask) return {};
  Matrix<double> B = x.bias ? lift<double>(*x.bias)
                            : Matrix<double>::Zero(x.Q.rows(), x.K.rows());
  if (x.mask)
    B = x.mask->select(B, Matrix<double>::Constant(B.rows(), B.cols(),
                                                   -HUGE_VAL)).eval();
  return B;
}

// track the forward pass
/// The results of attention_forward's steps, each with its errors.
struct TrackedForward {
  Tracked Q, K, V, Q_low, K_low, scores, weights, O;
};
/// Runs the steps of attention_forward in S and bounds their errors.
template <class S>
TrackedForward tracked_forward(const AttentionInputs<S>& x) {
  TrackedForward f{tracked_exactly(x.Q), tracked_exactly(x.K),
                   tracked_exactly(x.V), {}, {}, {}, {}, {}};

  // track lowered queries and keys
  if (x.M) {
    const Tracked M = tracked_exactly(*x.M);
    f.K_low = tracked_product<S>(f.K, tracked_transpose(M));
    f.Q_low = tracked_product<S>(f.Q, M);
  } else {
    const double scale = 1 / std::sqrt(double(x.K.cols()));
    f.K_low = tracked_multiple<S>(scale, f.K, 3);
    f.Q_low = tracked_multiple<S>(scale, f.Q, 3);
  }
  f.scores = tracked_scores<S>(f.Q, f.K_low, bias_and_mask(x));
  f.weights = tracked_gibbs<S>(f.scores, to_double(x.T));
  f.O = tracked_product<S>(f.weights, f.V);
  return f;
}

// bound the errors of attention's gradient
/// Bounds the errors of attention_forward and attention_vjp computed in
/// S (thm. backward-rounding), S no wider than double.  If not fixed, of
/// the textbook form without a gauge.  Throws as attention_vjp, and
/// std::domain_error if an extent is too large for S.
template <class S>
AttentionErrors attention_errors(const AttentionInputs<S>& given,
                                 const OutputParts<S>& bar,
                                 bool fixed = true) {
  const AttentionInputs<S> x = readable_inputs(given, "attention_errors");
  const auto [Q, K, V, Q_low, K_low, X, A, O] = tracked_forward(x);
  const Tracked dO = tracked_exactly(bar.O);
  const double T = to_double(x.T);

  // track the cotangent of the scores
  std::vector<Index> key(std::size_t(x.Q.rows()), -1);
  if (fixed) key = heaviest_keys(attention_forward(x).weights);
  Tracked dS = tracked_lower<S>(
      A, tracked_product<S>(dO, tracked_transpose(V)), key);
  if (bar.logZ.size() > 0) {
    const Vector<double> l = lift<double>(bar.logZ);
    const Vector<double> m = l.cwiseAbs();
    Tracked A_l{l.asDiagonal() * A.value, m.asDiagonal() * A.error};
    A_l.error += unit_roundoff<S>() * (m.asDiagonal() * A.size());
    A_l.error.array() += smallest_subnormal<S>();
    dS = tracked_sum<S>(dS, A_l);
  }
  dS = tracked_multiple<S>(1 / T, dS, 0);
  AttentionErrors e;
  e.O = O.error;
  e.gradient.V = tracked_product<S>(tracked_transpose(A), dO).error;
  e.gradient.bias = dS.error;
  e.gradient.Q = tracked_product<S>(dS, K_low).error;
  e.gradient.K = tracked_product<S>(tracked_transpose(dS), Q_low).error;
  if (x.M)
    e.gradient.M = tracked_product<S>(
        tracked_product<S>(tracked_transpose(Q), dS), K).error;

  // track the temperature
  const double u = unit_roundoff<S>();
  const Matrix<double> dS_size = dS.size();
  double value = 0, error = 0;
  for (Index i = 0; i < A.value.rows(); ++i) {
    const Index top = heaviest_key(X.value, i);
    if (top < 0 || is_forbidden(X.value(i, top))) continue;
    const double E = X.error.row(i).maxCoeff();
    for (Index j = 0; j < A.value.cols(); ++j) {
      if (is_forbidden(X.value(i, j))) continue;
      const double x0 = X.value(i, top) - X.value(i, j);
      const double ex = X.error(i, j) + u * (x0 + 4 * E);
      const double size = x0 + 4 * E, s = dS_size(i, j);
      value += s * size;
      error += dS.error(i, j) * size + s * ex + smallest_subnormal<S>();
    }

    // account for the maximum's own term
    if (bar.logZ.size() > 0) {
      const double m = std::abs(X.value(i, top)) + 2 * E;
      value += m * std::abs(to_double(bar.logZ(i))) / T;
      error += 2 * u * m * std::abs(to_double(bar.logZ(i))) / T;
    }
  }
  const Index terms = A.value.size() + A.value.rows() + 4;
  e.gradient.T = (error + gamma(terms, u) * value) / T + smallest_subnormal<S>();
  return e;
}

// bound the errors of a tangent
/// Componentwise bound on the error of attention_jvp(x, u).O computed in
/// S, for u.T = 0.  Throws as attention_jvp.
template <class S>
Matrix<double> tangent_errors(const AttentionInputs<S>& given,
                              const AttentionParts<S>& u) {
  const AttentionInputs<S> x = readable_inputs(given, "tangent_errors");
  const TrackedForward f = tracked_forward(x);

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
  dY = tracked_multiple<S>(1 / to_double(x.T), dY, 0);
  const Tracked dA = tracked_lower<S>(
      f.weights, dY, heaviest_keys(attention_forward(x).weights));
  return tracked_sum<S>(tracked_product<S>(dA, f.V),
                        tracked_product<S>(f.weights, tracked_exactly(u.V)))
      .error;
}

// make a loss of a cotangent
/// <bar.O, O> + <bar.logZ, logZ>, empty rows left out of the latter.
template <class S>
S cotangent_loss(const AttentionForward<S>& f, const OutputParts<S>& bar) {
  S L = duality(bar.O, f.O);
  for (Index i = 0; i < bar.logZ.size(); ++i)
    if (!is_forbidden(f.logZ(i))) L += bar.logZ(i) * f.logZ(i);
  return L;
}

// differentiate by tape and by differences

// differentiate attention in reverse mode
/// Gradient of cotangent_loss by the tape: no formula of this chapter.
/// bias and M are 0 x 0 if the inputs have none.
template <class S>
AttentionParts<S> reverse_gradient(const AttentionInputs<S>& x,
                                   const OutputParts<S>& bar) {
  const OutputParts<Var<S>> w{lift<Var<S>>(bar.O),
                              lift<Var<S>>(bar.logZ)};
  const Matrix<S> none(0, 0);
  const auto [Q, K, V, M, B, T] = gradient(
      [&](const auto& q, const auto& k, const auto& v, const auto& m,
          const auto& b, const auto& t) {
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
/// A derivative and a bound on its error.
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

// differentiate attention by differences
/// x + t u, input by input.
template <class S>
AttentionInputs<S> moved_inputs(AttentionInputs<S> x,
                                const AttentionParts<S>& u, const S& t) {
  x.Q += t * u.Q;
  x.K += t * u.K;
  x.V += t * u.V;
  if (x.M) *x.M += t * u.M;
  if (x.bias) *x.bias += t * u.bias;
  x.T += t * u.T;
  return x;
}

/// Derivative of cotangent_loss along u by differences in quad.
template <class = void>
LineDerivative difference_along(const AttentionInputs<quad>& x,
                                 const OutputParts<quad>& bar,
                                 const AttentionParts<quad>& u) {
  return line_derivative(
      [&](const quad& t) {
        return cotangent_loss(attention_forward(moved_inputs(x, u, t)), bar);
      },
      quad(0x1p-20));
}

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
  bool passed() const { return worst() <= 1; }
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

// compare two gradients part by part
/// The worst entry of |a - b| against its bound.
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

/// All parts of two gradients; bias only if asked for.
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
/// Applies f to each matrix of the parts, and to T as a 1 x 1 matrix.
template <class R, class S, class F>
AttentionParts<R> map_parts(const AttentionParts<S>& a, F f) {
  return {f(a.Q), f(a.K), f(a.V), f(a.M), f(a.bias),
          f(Matrix<S>(Matrix<S>::Constant(1, 1, a.T)))(0, 0)};
}
/// All parts of a gradient times c.
template <class = void>
AttentionParts<double> scaled_parts(const AttentionParts<double>& a,
                                     double c) {
  return map_parts<double>(
      a, [c](const auto& m) { return Matrix<double>(c * m); });
}
/// Absolute values of all parts of a gradient.
template <class = void>
AttentionParts<quad> absolute_parts(const AttentionParts<quad>& a) {
  return map_parts<quad>(
      a, [](const auto& m) { return Matrix<quad>(m.cwiseAbs()); });
}

// draw a direction like the inputs
/// Gaussian direction at x, of the shapes that x has.
template <class S>
AttentionParts<double> direction_like(const AttentionInputs<S>& x,
                                      std::uint64_t seed) {
  AttentionParts<double> u;
  u.Q = gaussian<double>(x.Q.rows(), x.Q.cols(), seed);
  u.K = gaussian<double>(x.K.rows(), x.K.cols(), seed + 1);
  u.V = gaussian<double>(x.V.rows(), x.V.cols(), seed + 2);
  if (x.M) u.M = gaussian<double>(x.M->rows(), x.M->cols(), seed + 3);
  if (x.bias)
    u.bias = gaussian<double>(x.bias->rows(), x.bias->cols(), seed + 4);
  u.T = gaussian<double>(1, 1, seed + 5)(0, 0);
  return u;
}

/// Throws std::invalid_argument unless g is a gradient at x.
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

// test a gradient by the adjoint identity
/// Compares <bar.O, J u> with <g, u> for the gradient g of <bar.O, O> and
/// a direction u, both computed in S; any size.  bar.logZ and u.T are not
/// used.  Throws std::invalid_argument for shapes that do not fit.
template <class S>
GradientCheck adjoint_test(const AttentionInputs<S>& x,
                           const OutputParts<S>& bar,
                           const AttentionParts<S>& g, AttentionParts<S> u) {
  u.T = S(0);
  const OutputParts<double> w = lift<double>(OutputParts<S>{bar.O});
  const auto y = lift<double>(OutputParts<S>{attention_jvp(x, u).O});
  const auto gd = lift<double>(g), ud = lift<double>(u);
  const auto size = [](const Matrix<double>& m) {
    return Matrix<double>(m.cwiseAbs());
  };
  const auto e = attention_errors(x, OutputParts<S>{bar.O}).gradient;
  const auto U = map_parts<double>(ud, size), G = map_parts<double>(gd, size);
  const Matrix<double> W = w.O.cwiseAbs(), Y = y.O.cwiseAbs();
  const Index terms = x.Q.size() + x.K.size() + x.V.size() + u.M.size() +
                      u.bias.size() + y.O.size() + 16;
  const double bound =
      duality(W, tangent_errors(x, u)) + duality(e, U) +
      gamma(terms, unit_roundoff<double>()) * (duality(W, Y) + duality(G, U));
  return {"adjoint identity",
          std::abs(duality(w.O, y.O) - duality(gd, ud)), bound};
}

// verify a gradient on given inputs
/// Verifies a candidate gradient g of <bar.O, O> + <bar.logZ, logZ> at x:
/// entry by entry against quad within thm. backward-rounding; the truth
/// itself against reverse mode, forward mode and differences in quad
/// (reverse mode only while n_q n_k (d_q + d_v) <= 2^16).
/// Throws std::invalid_argument for shapes that do not fit.
template <class S>
GradientReport verify_gradients(const AttentionInputs<S>& x,
                                const OutputParts<S>& bar,
                                const AttentionParts<S>& g,
                                std::uint64_t seed = 0x5eed) {
  require_gradient("verify_gradients: gradient", x, g);
  const auto xq = lift<quad>(lift<double>(x));
  const auto wq = lift<quad>(lift<double>(bar));
  const AttentionParts<quad> truth = attention_vjp(xq, wq);
  GradientReport report;
  compare_parts(report.checks, "arithmetic", lift<quad>(lift<double>(g)), truth,
          attention_errors(x, bar).gradient, x.bias.has_value());

  // bound the algebra in quad
  const double ratio =
      4 * unit_roundoff<quad>() / unit_roundoff<double>();
  const AttentionParts<double> loose = scaled_parts(
      attention_errors(lift<double>(x), lift<double>(bar), false).gradient,
      ratio);

  // verify the truth in reverse mode
  const Index work = x.Q.rows() * x.K.rows() * (x.Q.cols() + x.V.cols());
  if (work <= Index(1) << 16)
    compare_parts(report.checks, "reverse mode", truth, reverse_gradient(xq, wq),
            loose, x.bias.has_value());

  // verify the truth along a random direction
  const AttentionParts<quad> u = lift<quad>(direction_like(x, seed));
  const quad slope = duality(truth, u);
  const auto f = attention_forward(dual_inputs(xq, u));
  const OutputParts<Dual<quad>> w{lift<Dual<quad>>(wq.O),
                                  lift<Dual<quad>>(wq.logZ)};
  const double bound =
      to_double(duality(absolute_parts(u), lift<quad>(loose)));
  report.checks.push_back(
      {"all, forward mode",
       to_double(quad(abs(cotangent_loss(f, w).d - slope))), 2 * bound});
  const LineDerivative m = difference_along(xq, wq, u);
  report.checks.push_back({"all, differences",
                           to_double(quad(abs(m.value - slope))),
                           m.bound + bound});
  return report;
}

/// The same for the book's own gradient.
template <class S>
GradientReport verify_gradients(const AttentionInputs<S>& x,
                                const OutputParts<S>& bar,
                                std::uint64_t seed = 0x5eed) {
  return verify_gradients(x, bar, attention_vjp(x, bar), seed);
}
}  // namespace attn
