// include/attn/learned.hpp: tangled from chapters/03-geometry.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/fisher.hpp"
#include "attn/form.hpp"
#include "attn/form_gradient.hpp"
#include "attn/random.hpp"
#include <Eigen/Eigenvalues>
#include <functional>

namespace attn {
// walk in the cone of metrics
/// f of a symmetric matrix, through its eigenvalues.
/// Throws std::invalid_argument unless M is square.
template <class F>
Matrix<double> symmetric_function(const Matrix<double>& M, const F& f) {
  using S = decltype(f(M(0, 0)));
  require(M.rows() == M.cols(), "symmetric_function: M is ", shape(M));
  if (M.size() == 0) return M;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixX<S>> e(M);
  const Vector<S> y = e.eigenvalues().unaryExpr(f);
  return e.eigenvectors() * y.asDiagonal() * e.eigenvectors().transpose();
}
namespace detail {
// L^{-1} X L^{-T}, symmetrised, for a Cholesky factor L
template <class S>
Matrix<S> seen_from(const char* who, const Matrix<S>& L,
                    const Matrix<S>& X) {
  require(X.rows() == L.rows() && X.cols() == L.rows(), who,
          ": the metric is ", shape(L), " but the other matrix ", shape(X));
  const auto low = L.template triangularView<Eigen::Lower>();
  const Matrix<S> Y = low.solve(low.solve(X).transpose());
  return (Y + Y.transpose()) / 2;
}
}  // namespace detail
/// The geodesic from the metric g in the symmetric direction X at time 1
/// (thm. geometry-cone).  Throws std::domain_error unless g is positive
/// definite, std::invalid_argument unless X has its shape.
template <class S = double>
Matrix<double> spd_exp(const Matrix<double>& g, const Matrix<double>& X) {
  const Matrix<S> L = cholesky(g);
  const Matrix<S> E = symmetric_function(
      detail::seen_from<S>("spd_exp", L, X),
      [](double x) { return std::exp(x); });
  const Matrix<S> h = L * E * L.transpose();
  return (h + h.transpose()) / 2;
}
/// Affine-invariant distance of two metrics; not finite unless h is one.
/// Throws as spd_exp.
template <class S = double>
double spd_distance(const Matrix<double>& g, const Matrix<double>& h) {
  return symmetric_function(
             detail::seen_from<S>("spd_distance", cholesky(g), h),
             [](double x) { return std::log(x); }).norm();
}
/// The positive semidefinite matrix nearest to the symmetric part of M in
/// Frobenius norm.  Throws std::invalid_argument unless M is square.
template <class = void>
Matrix<double> nearest_psd(const Matrix<double>& M) {
  require(M.rows() == M.cols(), "nearest_psd: M is ", shape(M));
  return symmetric_function((M + M.transpose()) / 2, [](double x) {
    return std::max(x, 0.0);
  });
}

// plant a metric
/// Attention with a hidden metric g (d x d): inputs Q, K, V (n x d) and
/// the outputs O that it produced.
struct Planted {
  Matrix<double> Q, K, V, g, O;

  // attend with a metric that is tried
  /// Attention's output (n x d) for another metric, in any scalar.
  template <class S>
  Matrix<S> output(const Matrix<S>& h) const {
    const Matrix<S> low = times(h, lift<S>(K).transpose());
    const Matrix<S> s = times(lift<S>(Q), low);
    return times(gibbs(s), lift<S>(V));
  }
  /// The pupil's loss, |O(h) - O|^2 / 2n.
  template <class S>
  S loss(const Matrix<S>& h) const {
    return (output(h) - O).squaredNorm() / S(2 * Q.rows());
  }

  // differentiate the loss of a metric
  /// Cotangent of the scores (n x n) for the metric h.
  template <class S>
  Matrix<S> score_gradient(const Matrix<S>& h) const {
    const Matrix<S> s = Q * h * K.transpose(), A = gibbs(s);
    const Matrix<S> dO = (A * V - O) / S(Q.rows());
    return softmax_vjp(A, Matrix<S>(dO * V.transpose()));
  }
};
/// A random teacher with n positions and a metric of dimension d.
template <class S = double>
Planted planted_task(Index n, Index d, std::uint64_t seed) {
  Planted t{gaussian<double>(n, d, seed, "Q"),
            gaussian<double>(n, d, seed, "K"),
            gaussian<double>(n, d, seed, "V"), {}, {}};
  const Matrix<S> W =
      gaussian<S>(d, d, seed, "teacher") / std::sqrt(double(d));
  t.g = W.transpose() * W + 0.1 * Matrix<S>::Identity(d, d);
  t.O = t.output(t.g);
  return t;
}

// learn the planted metric
/// J^T J V for the Jacobian J of a matrix function f at X: the Fisher
/// matrix of a normal family with mean f(X) and unit variance.
template <class F>
Matrix<double> normal_fisher_vector(const F& f, const Matrix<double>& X,
                                    const Matrix<double>& V) {
  return detail::pulled_back(f, X, Matrix<double>(directional(f, X, V)));
}
/// How a metric descends: g - t dg; affine-invariant geodesics; the
/// Cholesky parameters; natural gradient of the normal family.
enum class Cone { plain, affine, cholesky, natural };
namespace detail {
using Curve = std::function<Matrix<double>(double)>;

template <class S>
std::pair<double, Curve> cone_step(const Planted& task, Cone how,
                                   const Matrix<S>& g) {
  const auto raw = form_vjp(task.Q, task.score_gradient(g), task.K);
  const Matrix<S> dg = (raw + raw.transpose()) / 2;

  // propose a curve that cannot leave the cone
  if (how == Cone::affine) {
    const Matrix<S> N = g * dg * g;
    return {dg.cwiseProduct(N).sum(),
            [=](double t) { return spd_exp(g, -t * N); }};
  }
  if (how == Cone::cholesky) {
    const Matrix<S> Theta = parameters_of(g);
    const Matrix<S> dT = parameters_vjp(Theta, raw);
    return {dT.squaredNorm(), [=](double t) {
      const Matrix<S> L = factor_from_parameters(Matrix<S>(Theta - t * dT));
      return Matrix<S>(L * L.transpose());
    }};
  }

  // propose a straight step in the cone
  Matrix<S> N = dg;
  if (how == Cone::natural) {
    const auto f = [&](const auto& h) { return task.output(h); };
    const auto apply = [&](const Matrix<S>& X) {
      const Matrix<S> Y =
          normal_fisher_vector(f, g, X) / double(task.Q.rows());
      return Matrix<S>((Y + Y.transpose()) / 2 + 1e-12 * X);
    };
    N = conjugate_gradients(apply, dg, 1e-10, 4 * g.size()).x;
  }
  return {dg.cwiseProduct(N).sum(),
          [=](double t) { return Matrix<S>(g - t * N); }};
}
}  // namespace detail
/// The metric found, and loss and distance to the planted metric from
/// the start g = 1 on, one entry per step.
struct LearnedMetric {
  Matrix<double> g;
  std::vector<double> loss, distance;
};
/// Recovers the planted metric by descent from g = 1, until the loss is
/// below the tolerance, for at most `most` steps.
template <class = void>
LearnedMetric learn_metric(const Planted& task, Cone how,
                           double tolerance, Index most) {
  const Index d = task.Q.cols();

  // state the loss and the proposals of the pupil
  const auto loss = [&](const Matrix<double>& g) {
    return diagnose(g).positive() ? task.loss(g) : HUGE_VAL;
  };
  const auto propose = [&](const Matrix<double>& g) {
    return detail::cone_step(task, how, g);
  };
  LearnedMetric path{Matrix<double>::Identity(d, d), {}, {}};
  for (Index k = 0; k <= most; ++k) {
    path.loss.push_back(loss(path.g));
    path.distance.push_back(spd_distance(task.g, path.g));
    const auto next = descend(path.g, loss, propose, tolerance, 1);
    if (next.loss.size() < 2) break;
    path.g = next.at;
  }
  return path;
}
}  // namespace attn
