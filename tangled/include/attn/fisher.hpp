// include/attn/fisher.hpp: tangled from chapters/03-geometry.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/autodiff.hpp"
#include "attn/einsum.hpp"
#include "attn/form.hpp"
#include "attn/geometry.hpp"
#include "attn/tensor.hpp"
#include "attn/thermodynamics.hpp"
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace attn {
// measure weights with the Fisher metric

// compute the Fisher information
/// Fisher information at theta (def. fisher) of the family whose
/// log-probabilities log_p returns; all of them must be finite.
template <class F, class S>
Tensor<S, dn, dn> fisher_information(const F& log_p,
                                     const Vector<S>& theta) {
  // differentiate the logarithms of a family
  const auto dl = partial([&](const auto& y) {
    using T = typename std::decay_t<decltype(y)>::Scalar;
    return Tensor<T, dn>(Vector<T>(log_p(y)));
  }, theta);
  const Vector<S> p = Vector<S>(log_p(theta)).array().exp();
  const Tensor<S, up, up> P(Matrix<S>(p.asDiagonal()));
  return eq<R"(F_{ab} = P^{jk} \partial_a \ell_j \partial_b \ell_k)">(
      P, dl, dl);
}

// apply the Fisher matrix and its inverse
/// Fisher matrix (diag p - p p^T)/T^2 of scores with the weights p (thm.
/// geometry-softmax-fisher).
/// Throws std::domain_error unless 0 < T < infinity.
template <class S>
Matrix<S> fisher(const Vector<S>& p, const S& T = S(1)) {
  require_temperature("fisher", T);
  return (Matrix<S>(p.asDiagonal()) - p * p.transpose()) / (T * T);
}
/// Fisher matrix times v in O(n): p (v - <p, v>)/T^2.
/// Throws std::invalid_argument unless p and v have one size,
/// std::domain_error unless 0 < T < infinity.
template <class S>
Vector<S> fisher_times(const Vector<S>& p, const Vector<S>& v,
                       const S& T = S(1)) {
  require(p.size() == v.size(), "fisher_times: p has ", p.size(),
          " entries but v has ", v.size());
  require_temperature("fisher_times", T);
  const S mean = p.dot(v);
  return p.cwiseProduct(Vector<S>(v.array() - mean)) / (T * T);
}
/// v minus its mean over the keys of nonzero weight; 0 at the others.
/// Throws std::invalid_argument unless p and v have one size.
template <class S>
Vector<S> centred(const Vector<S>& p, const Vector<S>& v) {
  require(p.size() == v.size(), "centred: p has ", p.size(),
          " entries but v has ", v.size());
  S sum(0), n(0);
  for (Index j = 0; j < p.size(); ++j)
    if (!(p(j) == S(0))) sum += v(j), n += S(1);
  Vector<S> c = Vector<S>::Zero(p.size());
  for (Index j = 0; j < p.size(); ++j)
    if (!(p(j) == S(0))) c(j) = v(j) - sum / n;
  return c;
}
/// Pseudo-inverse of the Fisher matrix times w, in O(n)
/// (thm. geometry-pinv, with the plain mean for z).
/// Throws std::invalid_argument unless p and w have one size,
/// std::domain_error unless 0 < T < infinity.
template <class S>
Vector<S> fisher_solve(const Vector<S>& p, const Vector<S>& w,
                       const S& T = S(1)) {
  require_temperature("fisher_solve", T);
  Vector<S> x = centred(p, w);
  for (Index j = 0; j < p.size(); ++j)
    if (!(p(j) == S(0))) x(j) /= p(j);
  return T * T * centred(p, x);
}

// demand a pair of distributions
namespace detail {
template <class S>
void require_pair(const char* function, const Vector<S>& p,
                  const Vector<S>& q) {
  require(p.size() == q.size(), function, ": p has ", p.size(),
          " entries but q has ", q.size());
  require_distributions<S>(function, Matrix<S>(p.transpose()));
  require_distributions<S>(function, Matrix<S>(q.transpose()));
}
}  // namespace detail

// measure the distance of two distributions
/// Fisher-Rao distance in [0, pi] (thm. geometry-sphere).  Throws
/// std::domain_error unless p and q are distributions, and
/// std::invalid_argument for unequal sizes.
template <class S>
S fisher_rao_distance(const Vector<S>& p, const Vector<S>& q) {
  using std::asin, std::sqrt;
  detail::require_pair("fisher_rao_distance", p, q);
  S chord(0);
  for (Index j = 0; j < p.size(); ++j) {
    if (p(j) == q(j)) continue;
    const S d = (p(j) - q(j)) / (sqrt(p(j)) + sqrt(q(j)));
    chord += d * d;
  }
  return S(4) * asin(sqrt(chord) / S(2));
}

// walk from one distribution to another
/// Point at t of the great arc from p (t = 0) to q (t = 1), 0 <= t <= 1.
/// Throws as fisher_rao_distance.
template <class S>
Vector<S> fisher_rao_geodesic(const Vector<S>& p, const Vector<S>& q,
                              const S& t) {
  using std::sin;
  const S phi = fisher_rao_distance(p, q) / S(2);
  if (phi == S(0)) return p;
  const S a = sin((S(1) - t) * phi) / sin(phi), b = sin(t * phi) / sin(phi);
  const Vector<S> root = a * p.cwiseSqrt() + b * q.cwiseSqrt();
  return root.cwiseProduct(root);
}
/// Point at t of the m-geodesic: (1 - t) p + t q.
/// Throws as fisher_rao_distance.
template <class S>
Vector<S> m_geodesic(const Vector<S>& p, const Vector<S>& q, const S& t) {
  detail::require_pair("m_geodesic", p, q);
  return (S(1) - t) * p + t * q;
}
/// Point at t of the e-geodesic: p^(1-t) q^t, normalised; 0 < t < 1 unless
/// all weights are positive.  All zeros between two distributions that
/// share no key.  Throws as fisher_rao_distance.
template <class S>
Vector<S> e_geodesic(const Vector<S>& p, const Vector<S>& q, const S& t) {
  detail::require_pair("e_geodesic", p, q);
  if (t == S(0)) return p;
  if (t == S(1)) return q;
  const Vector<S> log_p = p.array().log(), log_q = q.array().log();
  const Vector<S> x = (S(1) - t) * log_p + t * log_q;
  return gibbs(RowVector<S>(x.transpose())).transpose();
}

// write the Fisher metric in two charts
/// Fisher metric of n weights in n - 1 scores, the last one being 0.
struct NaturalChart {
  /// diag(a) - a a^T for the first n - 1 weights a.
  template <class S>
  Matrix<S> operator()(const Vector<S>& theta) const {
    RowVector<S> s = RowVector<S>::Zero(theta.size() + 1);
    s.head(theta.size()) = theta.transpose();
    const Vector<S> p = gibbs(s).transpose();
    return fisher(Vector<S>(p.head(theta.size())));
  }
};
/// Fisher metric of n weights in the first n - 1 of them.
struct MixtureChart {
  /// diag(1/a) + 1/p_n for the first n - 1 weights a.
  template <class S>
  Matrix<S> operator()(const Vector<S>& a) const {
    const S last = S(1) / (S(1) - a.sum());
    Matrix<S> g = Matrix<S>::Constant(a.size(), a.size(), last);
    for (Index j = 0; j < a.size(); ++j) g(j, j) += S(1) / a(j);
    return g;
  }
};

// mix straight scores with straight weights
/// The alpha-connection (def. alpha) of a metric g that is the Hessian of
/// a function in these coordinates: 1 straight scores, 0 the metric's,
/// -1 straight weights.
template <class G>
struct AlphaConnection {
  G g;
  double alpha;
  /// Symbols at x, slots (c; a, b).
  template <class S>
  Tensor<S, up, dn, dn> operator()(const Vector<S>& x) const {
    return static_cast<S>(1 - alpha) * christoffel(g, x);
  }
};
template <class G>
AlphaConnection(G, double) -> AlphaConnection<G>;

// give queries the metric of their weights
/// Fisher metric of a query q (d entries) whose scores are k q / T (thm.
/// geometry-query): the covariance of the rows of k (n x d), over T^2.
template <class R>
struct QueryMetric {
  Matrix<R> k;
  R T = R(1);
  /// G_ab at q; d x d.  Throws std::invalid_argument for a wrong size.
  template <class S>
  Matrix<S> operator()(const Vector<S>& q) const {
    require(q.size() == k.cols(), "QueryMetric: q has ", q.size(),
            " entries but keys have ", k.cols());

    // take the covariance of the keys
    const Matrix<S> keys = lift<S>(k);
    const RowVector<S> s = times(keys, q).transpose();
    const RowVector<S> A = gibbs(s, static_cast<S>(T));
    const RowVector<S> mean = times(A, keys);
    const Matrix<S> c = keys.rowwise() - mean, Ac = A.asDiagonal() * c;
    return times(c.transpose(), Ac) / static_cast<S>(T * T);
  }
};

// divide a curve into equal lengths
/// The n + 1 times from s to t that divide a curve, on which it never
/// stands still, into parts of equal length.
/// Throws std::invalid_argument unless n > 0.
template <class G, class C, class S>
std::vector<S> equal_parts(const G& g, const C& curve, const S& s,
                           const S& t, Index n) {
  require(n > 0, "equal_parts: n is ", n);
  const S length = curve_length(g, curve, s, t, 8 * n);
  const auto pace = [&](const S&, const Vector<S>& at) {
    return Vector<S>(Vector<S>::Constant(1, S(1) / speed(g, curve, at(0))));
  };

  // walk with unit speed and mark the times
  const S h = length / S(double(8 * n));
  Vector<S> at = Vector<S>::Constant(1, s);
  std::vector<S> times{s};
  for (Index k = 1; k < 8 * n; ++k) {
    at = runge_kutta_step(pace, S(0), at, h);
    if (k % 8 == 0) times.push_back(at(0));
  }
  times.push_back(t);
  return times;
}

// descend with the Fisher metric

// solve least squares by orthogonalisation
namespace detail {
template <class S>
Vector<S> least_squares(Matrix<S> X, Vector<S> y) {
  const Index d = X.cols();
  Matrix<S> R = Matrix<S>::Zero(d, d);
  Vector<S> z = Vector<S>::Zero(d), b = z;
  const RowVector<S> before = X.colwise().squaredNorm();
  for (Index a = 0; a < d; ++a) {
    const S rest = X.col(a).squaredNorm();

    // skip a column of which nothing is left
    const S eps(std::numeric_limits<S>::epsilon());
    if (!(S(double(X.rows() * d)) * eps * eps * before(a) < rest)) continue;
    R(a, a) = S(1);
    z(a) = X.col(a).dot(y) / rest;
    y -= z(a) * X.col(a);

    // remove the column from those behind it
    for (Index c = a + 1; c < d; ++c) {
      R(a, c) = X.col(a).dot(X.col(c)) / rest;
      X.col(c) -= R(a, c) * X.col(a);
    }
  }

  // substitute back
  for (Index a = d - 1; a >= 0; --a)
    if (R(a, a) == S(1))
      b(a) = z(a) - R.row(a).tail(d - 1 - a).dot(b.tail(d - 1 - a));
  return b;
}
}  // namespace detail

// refuse keys and weights that do not match
namespace detail {
template <class S>
void require_keys(const char* function, const Matrix<S>& k,
                  const Vector<S>& p, const Vector<S>& dA) {
  require(k.rows() == p.size() && p.size() == dA.size(), function, ": ",
          k.rows(), " keys, ", p.size(), " weights and ", dA.size(),
          " cotangents");
}
}  // namespace detail

// raise the index of a gradient
/// Natural gradient of the scores, T times the centred cotangent dA of
/// the weights (thm. geometry-natural): A, dA and the result are n_q x n_k;
/// 0 where A is.  Throws std::invalid_argument for unequal shapes,
/// std::domain_error unless 0 < T < infinity.
template <class S>
Matrix<S> natural_gradient(const Matrix<S>& A, const Matrix<S>& dA,
                           const S& T = S(1)) {
  require(A.rows() == dA.rows() && A.cols() == dA.cols(),
          "natural_gradient: A is ", shape(A), " but dA is ", shape(dA));
  require_temperature("natural_gradient", T);
  Matrix<S> N(A.rows(), A.cols());
  for (Index i = 0; i < A.rows(); ++i)
    N.row(i) = T * centred(Vector<S>(A.row(i).transpose()),
                           Vector<S>(dA.row(i).transpose())).transpose();
  return N;
}
/// Gradient of a query (d entries) from the cotangents dA of its weights
/// p, both n, for keys k (n x d): k^T S-bar.
/// Throws as natural_query_gradient.
template <class S>
Vector<S> query_gradient(const Matrix<S>& k, const Vector<S>& p,
                         const Vector<S>& dA, const S& T = S(1)) {
  detail::require_keys("query_gradient", k, p, dA);
  return T * (k.transpose() * fisher_times(p, dA, T));
}
/// Natural gradient of a query (thm. geometry-regression): a solution;
/// a feature that is a combination of those before it gets none.
/// Shapes as query_gradient.  Throws std::invalid_argument unless k, p
/// and dA have n rows, std::domain_error unless 0 < T < infinity.
template <class S>
Vector<S> natural_query_gradient(const Matrix<S>& k, const Vector<S>& p,
                                 const Vector<S>& dA, const S& T = S(1)) {
  detail::require_keys("natural_query_gradient", k, p, dA);
  require_temperature("natural_query_gradient", T);
  const Vector<S> w = p.cwiseSqrt();
  const RowVector<S> mean = p.transpose() * k;
  const Matrix<S> X = w.asDiagonal() * (k.rowwise() - mean);
  const Vector<S> y = w.cwiseProduct(Vector<S>(dA.array() - p.dot(dA)));
  return T * detail::least_squares(X, y);
}

// descend with backtracking
/// Where a descent arrived, and the losses on its way.
template <class X>
struct Descent {
  X at;
  std::vector<double> loss;
};
/// Descent with backtracking from x: propose(x) returns the pair of the
/// rate of decrease and the curve t -> point along which to move.  Stops
/// at a loss of at most the tolerance, after `most` steps, or when stuck.
template <class X, class Loss, class Propose>
Descent<X> descend(const X& x, const Loss& loss, const Propose& propose,
                   double tolerance, Index most) {
  Descent<X> path{x, {loss(x)}};
  for (Index k = 0; k < most && path.loss.back() > tolerance; ++k) {
    const auto [rate, curve] = propose(path.at);

    // backtrack until the loss has fallen enough
    double t = 1;
    X y = curve(t);
    double next = loss(y);
    while (!(next <= path.loss.back() - 1e-4 * t * rate) && t > 1e-12) {
      t /= 2;
      y = curve(t);
      next = loss(y);
    }
    if (t <= 1e-12) break;
    path.at = y;
    path.loss.push_back(next);
  }
  return path;
}

// fit a query to given weights

// estimate the largest eigenvalue
namespace detail {
template <class S = double>
double largest_eigenvalue(const Matrix<double>& k) {  // of k^T k
  Vector<S> v(k.cols());
  for (Index a = 0; a < v.size(); ++a) v(a) = std::sin(double(a + 1));
  double lambda = 0;
  for (int step = 0; step < 200; ++step) {
    v = k.transpose() * (k * v);
    lambda = v.norm();
    if (lambda == 0) return 0;
    v /= lambda;
  }
  return lambda;
}
}  // namespace detail

/// Which covector-to-vector map a descent uses.
enum class Steps { plain, natural };
/// Minimises KL(p || A(q)) from q = 0 for keys k (n x d) at T = 1 by
/// descend with the given steps.  Throws as kl for a bad p.
template <class S = double>
Descent<Vector<double>> fit_query(const Matrix<double>& k,
                                  const Vector<double>& p,
                                  Steps steps, double tolerance, Index most) {
  // evaluate weights and loss of a query
  const RowVector<S> target = p.transpose();
  const auto weights = [&](const Vector<S>& q) {
    return RowVector<S>(gibbs(RowVector<S>((k * q).transpose())));
  };
  const auto loss = [&](const Vector<S>& q) {
    return (k * q).allFinite() ? kl(target, weights(q))(0) : HUGE_VAL;
  };
  const double bound = detail::largest_eigenvalue(k) / 2;
  const auto propose = [&](const Vector<S>& q) {
    // propose a plain or a natural step
    const Vector<S> A = weights(q).transpose();
    const Vector<S> gradient = k.transpose() * (A - p);
    Vector<S> v = gradient / bound;
    if (steps == Steps::natural) {
      Vector<S> dA = Vector<S>::Zero(A.size());
      for (Index j = 0; j < A.size(); ++j)
        if (A(j) > 0) dA(j) = -p(j) / A(j);
      v = natural_query_gradient(k, A, dA);
    }
    const auto curve = [q, v](double t) { return Vector<S>(q - t * v); };
    return std::pair(gradient.dot(v), curve);
  };
  const Vector<S> start = Vector<S>::Zero(k.cols());
  return descend(start, loss, propose, tolerance, most);
}

// pull coefficients back through a map
namespace detail {
// the gradient at X of the sum of w_ij f(X)_ij
template <class F, class S>
Matrix<S> pulled_back(const F& f, const Matrix<S>& X, const Matrix<S>& w) {
  return gradient([&](const auto& Y) {
    const Matrix<Var<S>> y = f(Y);
    Var<S> sum(0);
    for (Index i = 0; i < y.rows(); ++i)
      for (Index j = 0; j < y.cols(); ++j) sum += w(i, j) * y(i, j);
    return sum;
  }, X);
}
}  // namespace detail

// multiply by the Fisher matrix of parameters
/// Fisher matrix times V (prop. geometry-products), for parameters X of
/// the scores: scores(X) is n_q x n_k for matrices X of S and of scalars
/// that differentiate.  Summed over queries; shaped like X.
template <class F, class S>
Matrix<S> fisher_vector(const F& scores, const Matrix<S>& X,
                        const Matrix<S>& V, const S& T = S(1)) {
  const Matrix<S> A = gibbs(Matrix<S>(scores(X)), T);
  const Matrix<S> ds = directional(scores, X, V);
  return detail::pulled_back(scores, X,
                             Matrix<S>(softmax_vjp(A, ds, T) / T));
}

// solve by conjugate gradients
/// Solution of apply(x) = b, the number of steps, and the norm of the
/// residual as it was updated, not recomputed.
template <class S>
struct Solved {
  Matrix<S> x;
  Index steps;
  S residual;
};
/// Conjugate gradients for a symmetric positive definite map apply, until
/// the residual is below tolerance times that of x = 0.
template <class A, class S>
Solved<S> conjugate_gradients(const A& apply, const Matrix<S>& b,
                              const S& tolerance, Index most) {
  using std::sqrt;
  Matrix<S> x = Matrix<S>::Zero(b.rows(), b.cols()), r = b, p = b;
  S rr = r.squaredNorm();
  const S stop = tolerance * tolerance * rr;
  Index k = 0;
  for (; k < most && stop < rr; ++k) {
    // go to the minimum along one direction
    const Matrix<S> Ap = apply(p);
    const S alpha = rr / p.cwiseProduct(Ap).sum();
    x += alpha * p;
    r -= alpha * Ap;
    const S next = r.squaredNorm();
    p = r + (next / rr) * p;
    rr = next;
  }
  return {x, k, S(sqrt(rr))};
}

// factorise the Fisher matrix of a projection
namespace detail {
template <class S>
void require_factors(const char* function, const Matrix<S>& G,
                     const Matrix<S>& X, const Matrix<S>& V) {
  require(V.rows() == G.rows() && V.cols() == X.rows(), function, ": V is ",
          shape(V), ", expected ", G.rows(), "x", X.rows());
}
}  // namespace detail
/// Means of G(q_i) and of x_i x_i^T over n tokens.  Both functions throw
/// std::invalid_argument unless their argument is d x m.
template <class S>
struct KroneckerFactors {
  Matrix<S> G, X;
  Index n;
  /// n G V X, the approximate Fisher matrix of W times V (d x m).
  Matrix<S> times(const Matrix<S>& V) const {
    detail::require_factors("KroneckerFactors::times", G, X, V);
    return S(double(n)) * (G * V * X);
  }

  // solve with both Kronecker factors
  /// The V with n (G + a) V (X + a) = U, for damping a > 0.
  Matrix<S> solve(const Matrix<S>& U, const S& a) const {
    detail::require_factors("KroneckerFactors::solve", G, X, U);
    const Matrix<S> g = G + a * Matrix<S>::Identity(G.rows(), G.rows());
    const Matrix<S> x = X + a * Matrix<S>::Identity(X.rows(), X.rows());
    const Matrix<S> half = solve_rows<S>(cholesky(g), U.transpose());
    return solve_rows<S>(cholesky(x), half.transpose()) / S(double(n));
  }
};
/// Factors for keys k (n_k x d), tokens x (n x m) and W (d x m).
/// Throws std::invalid_argument unless the shapes chain.
template <class S>
KroneckerFactors<S> kronecker_factors(const Matrix<S>& k, const Matrix<S>& x,
                                      const Matrix<S>& W) {
  require(k.cols() == W.rows() && x.cols() == W.cols() && x.rows() > 0,
          "kronecker_factors: keys ", shape(k), ", tokens ", shape(x),
          ", W ", shape(W));
  const QueryMetric<S> G{k};
  const S n(double(x.rows()));
  Matrix<S> mean = Matrix<S>::Zero(W.rows(), W.rows());
  for (Index i = 0; i < x.rows(); ++i)
    mean += G(Vector<S>(W * x.row(i).transpose())) / n;
  return {mean, x.transpose() * x / n, x.rows()};
}
}  // namespace attn
