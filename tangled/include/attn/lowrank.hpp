// include/attn/lowrank.hpp: tangled from chapters/07-kernel.nw; edit that file, not this one.
#pragma once
#include "attn/linear.hpp"
#include "attn/regression.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace attn {
// decompose by rotations of columns
/// A = U diag(sigma) V^T for n x m, n >= m: U is n x m, V is m x m.
template <class S>
struct Decomposition {
  Matrix<S> U;
  Vector<S> sigma;  // decreasing
  Matrix<S> V;
};
namespace detail {
/// Squared length below which a column of numbers near one is zero.
template <class S>
S vanishing() {
  return std::numeric_limits<S>::min() / std::numeric_limits<S>::epsilon();
}
/// Rotates columns p and q of B by the angle that makes them orthogonal,
/// and those of V; false if they were, to working precision.
template <class S>
bool rotate(Eigen::MatrixX<S>& B, Eigen::MatrixX<S>& V, Index p, Index q) {
  using std::abs, std::sqrt;

  // measure two columns, and stop if they are orthogonal
  const S a = B.col(p).squaredNorm(), b = B.col(q).squaredNorm();
  const S g = B.col(p).dot(B.col(q));
  const S noise = S(double(B.rows())) * std::numeric_limits<S>::epsilon();
  if (a < vanishing<S>() || b < vanishing<S>()) return false;
  if (!(abs(g) > noise * S(sqrt(a)) * S(sqrt(b)))) return false;

  // find the smaller of two angles
  const S zeta = (b - a) / (g + g), size = abs(zeta);
  const S part = size < S(1) ? size : S(1) / size;
  const S root = sqrt(S(S(1) + part * part)) * (size < S(1) ? S(1) : size);
  const S t = (zeta < S(0) ? S(-1) : S(1)) / (size + root);
  const S c = S(1) / sqrt(S(S(1) + t * t));
  for (auto* X : {&B, &V}) {
    const Vector<S> x = X->col(p), y = X->col(q);
    X->col(p) = c * (x - t * y);
    X->col(q) = c * (y + t * x);
  }
  return true;
}
}  // namespace detail
namespace detail {
/// Rotates all pairs of columns once; false if all were orthogonal.
template <class S>
bool sweep(Eigen::MatrixX<S>& B, Eigen::MatrixX<S>& V) {
  bool turned = false;
  for (Index q = 1; q < B.cols(); ++q)
    for (Index p = 0; p < q; ++p) turned |= rotate(B, V, p, q);
  return turned;
}
}  // namespace detail
/// Singular value decomposition of A, n x m with n >= m, by rotations;
/// zero are singular values below 2^-485 (in double) of the greatest power
/// of two that the largest entry reaches, and may be those below sqrt(m)
/// times as much; infinite are those beyond the format.
/// Throws std::invalid_argument on shapes, std::domain_error if A is not
/// finite or the rotations do not come to an end.  Not for numbers of
/// sixteen bits.
template <class D>
  requires(sizeof(ScalarOf<D>) >= 4)
Decomposition<ScalarOf<D>> decompose(const Expr<D>& A) {
  using std::sqrt;
  using S = ScalarOf<D>;
  require(A.rows() >= A.cols(), "decompose: A is ", shape(A));
  Eigen::MatrixX<S> B = A;
  const Index m = B.cols();
  Eigen::MatrixX<S> V = Eigen::MatrixX<S>::Identity(m, m);

  // divide by a power of two
  require_domain((B - B).squaredNorm() == S(0), "decompose: A is not finite");
  S unit(1);
  if (B.size() > 0) {
    const S top = B.cwiseAbs().maxCoeff();
    while (unit <= top / S(2)) unit *= S(2);
    while (S(0) < top && top < unit) unit /= S(2);
    B /= unit;
  }

  // sweep until nothing turns
  for (int sweeps = 0; detail::sweep(B, V); ++sweeps)
    require_domain(sweeps < 60, "decompose: no end after 60 sweeps");

  // sort the columns by length
  std::vector<Index> order(static_cast<std::size_t>(m));
  std::iota(order.begin(), order.end(), Index(0));
  const Vector<S> square = B.colwise().squaredNorm().transpose();
  std::stable_sort(order.begin(), order.end(),
                   [&](Index p, Index q) { return square(q) < square(p); });

  // divide each column by its length
  Decomposition<S> d{Matrix<S>::Zero(B.rows(), m), Vector<S>(m),
                     Matrix<S>(m, m)};
  for (Index r = 0; r < m; ++r) {
    const Index p = order[std::size_t(r)];
    const bool gone = square(p) < detail::vanishing<S>();
    const S length = gone ? S(0) : S(sqrt(S(square(p))));
    d.sigma(r) = length * unit;
    d.V.col(r) = V.col(p);
    if (!gone) d.U.col(r) = B.col(p) / length;
  }
  return d;
}

// bound what a rank can do
/// Singular values in decreasing order, as many as the shorter side.
/// Throws std::domain_error as decompose.
template <class D>
Vector<ScalarOf<D>> singular_values(const Expr<D>& A) {
  const Matrix<ScalarOf<D>> B = A;
  if (B.rows() >= B.cols()) return decompose(B).sigma;
  return decompose(Matrix<ScalarOf<D>>(B.transpose())).sigma;
}
/// Least possible errors of an approximation of rank m.
template <class S>
struct Yardstick {
  S frobenius, spectral;
};
/// The two bounds of thm. eckart-young, from singular values.
/// Throws std::invalid_argument.
template <class S>
Yardstick<S> eckart_young(const Vector<S>& sigma, Index m) {
  require(m >= 0, "eckart_young: rank ", m);
  if (m >= sigma.size()) return {S(0), S(0)};
  return {sigma.tail(sigma.size() - m).norm(), sigma(m)};
}
/// How many singular values exceed tolerance times the largest.  Throws
/// std::domain_error if that is infinite.
template <class S>
Index numerical_rank(const Vector<S>& sigma,
                     const std::type_identity_t<S>& tolerance) {
  const S top = sigma.size() > 0 ? sigma(0) : S(0);
  require_domain(top - top == S(0),
                 "numerical_rank: the largest singular value is ", top);
  Index r = 0;
  while (r < sigma.size() && sigma(r) > tolerance * top) ++r;
  return r;
}
/// The matrix of rank at most m nearest to A.  Throws
/// std::invalid_argument if m is negative, and as decompose.
template <class D>
Matrix<ScalarOf<D>> best_rank(const Expr<D>& A, Index m) {
  using S = ScalarOf<D>;
  Matrix<S> B = A;
  require(m >= 0, "best_rank: rank ", m);
  if (B.rows() < B.cols())
    return best_rank(Matrix<S>(B.transpose()), m).transpose();

  // divide by a power of two
  require_domain((B - B).squaredNorm() == S(0), "decompose: A is not finite");
  S unit(1);
  if (B.size() > 0) {
    const S top = B.cwiseAbs().maxCoeff();
    while (unit <= top / S(2)) unit *= S(2);
    while (S(0) < top && top < unit) unit /= S(2);
    B /= unit;
  }
  const auto d = decompose(B);
  const Index r = std::min(m, d.sigma.size());

  // keep the longest columns
  const Matrix<S> long_columns =
      d.U.leftCols(r) * d.sigma.head(r).asDiagonal();
  const Matrix<S> best = long_columns * d.V.leftCols(r).transpose();
  return best * unit;
}

// approximate by landmarks, in order

// compare points by the Gaussian kernel
/// Gaussian kernel exp(-|x - y|^2/2) between the rows of X and Y.
template <class D>
Matrix<ScalarOf<D>> gaussian_kernel(
    const Expr<D>& X, const Rows<ScalarOf<D>>& Y) {
  using S = ScalarOf<D>;
  return detail::exponential(
      gaussian_scores(X, Y, Metric<S>::identity(X.cols())));
}

// choose landmarks greedily
/// Indices of up to m rows of K, each the one that the Gaussian kernel of
/// those before explains least; stops early when all are explained.
/// Throws std::invalid_argument.
template <class D>
std::vector<Index> choose_landmarks(const Expr<D>& K, Index m) {
  using std::sqrt;
  using S = ScalarOf<D>;
  require(m >= 0, "choose_landmarks: m is ", m);
  const Matrix<S> k = K;

  // begin with nothing explained
  const S least = S(double(8 * k.rows())) * std::numeric_limits<S>::epsilon();
  Matrix<S> F = Matrix<S>::Zero(k.rows(), std::min(m, k.rows()));
  Vector<S> rest = Vector<S>::Ones(k.rows());
  std::vector<Index> chosen;
  for (Index r = 0; r < F.cols(); ++r) {
    Index p = 0;
    if (!(rest.maxCoeff(&p) > least)) break;

    // explain all keys by landmark p
    const Vector<S> known = F.leftCols(r) * F.row(p).head(r).transpose();
    const Vector<S> row = gaussian_kernel(k, k.row(p));
    F.col(r) = (row - known) / S(sqrt(rest(p)));
    rest -= F.col(r).cwiseAbs2();
    chosen.push_back(p);
  }
  return chosen;
}

// approximate by landmarks
/// Features phi(x) = R^-1 k(L, x) of the Gaussian kernel (thm. nystroem).
template <class S>
struct Nystroem {
  Matrix<S> L, R;  // landmarks m x d, Cholesky factor m x m
  Matrix<S> features(const Rows<S>& X) const {
    return from_kernel(gaussian_kernel(L, X));
  }
  /// Features of n points, from the kernel with the landmarks, m x n.
  Matrix<S> from_kernel(Matrix<S> F) const {
    if (F.size() > 0)
      R.template triangularView<Eigen::Lower>().solveInPlace(F);
    return F.transpose();
  }
};
/// Throws std::domain_error if two landmarks (almost) coincide.
template <class D>
Nystroem<ScalarOf<D>> nystroem(const Expr<D>& landmarks) {
  const Matrix<ScalarOf<D>> L = landmarks;
  return {L, cholesky(gaussian_kernel(L, L))};
}
namespace detail {
/// Features of queries Q (n_q x m) and of keys K, times their priors (n_k
/// x m), by at most m landmarks, up to a factor for each query; lost: a
/// bound on the error of each query's normaliser.
template <class S>
struct LandmarkFeatures { Matrix<S> phi, psi; Vector<S> lost; };

template <class S>
LandmarkFeatures<S> landmark_features(const Rows<S>& Q, const Rows<S>& K,
                                      Index m) {
  const Matrix<S> y = kernel_coordinates(K);

  // pick the landmarks among the keys
  const std::vector<Index> chosen = choose_landmarks(y, m);
  Matrix<S> L(Index(chosen.size()), y.cols());
  for (Index r = 0; r < L.rows(); ++r)
    L.row(r) = y.row(chosen[std::size_t(r)]);
  require_domain(L.rows() > 0 || m == 0 || K.rows() == 0,
                 "nystroem_attention: too many keys for the format");
  const auto map = nystroem(L);

  // give the keys their prior back
  const auto g = Metric<S>::identity(y.cols());
  Matrix<S> F = gaussian_scores(L, kernel_coordinates(Q), g);
  Matrix<S> P = gaussian_scores(L, y, g);
  const Vector<S> prior = key_prior(y, g);
  const auto greatest = [](const auto& X) {
    return X.size() > 0 ? S(X.cwiseAbs().maxCoeff()) : S(0);
  };
  const S size = greatest(F) + greatest(P) + greatest(prior);
  P.rowwise() += prior.transpose();

  // take the largest exponents of landmarks out
  for (Index i = 0; i < F.cols() && F.rows() > 0; ++i)
    F.col(i).array() -= S(F.col(i).maxCoeff());
  if (P.size() > 0) P.array() -= S(P.maxCoeff());
  const Matrix<S> phi = map.from_kernel(exponential(F));
  const Matrix<S> psi = map.from_kernel(exponential(P));
  if (phi.size() == 0) return {phi, psi, Vector<S>::Zero(phi.rows())};

  // bound what rounding does to the normalisers
  const auto solved = [&](Matrix<S> X) {
    const auto upper = map.R.template triangularView<Eigen::Lower>();
    upper.transpose().solveInPlace(X);
    return Matrix<S>(X.cwiseAbs().array() + vanishing<S>());
  };
  const Matrix<S> r = map.R.cwiseAbs();
  const Vector<S> beta = solved(psi.transpose()).rowwise().sum();
  const Vector<S> terms = times(r, times(r.transpose(), beta));
  const S roundings =
      S(double(2 * L.rows() + psi.rows() + 8)) + S(double(y.cols() + 6)) * size;
  const Vector<S> lost = std::numeric_limits<S>::epsilon() * roundings *
                         times(solved(phi.transpose()).transpose(), terms);
  return {phi, psi, lost};
}
}  // namespace detail
/// Attention by m greedily chosen landmarks among the keys: Q n_q x d, K
/// n_k x d, V n_k x d_v -> n_q x d_v.  Throws on shapes, and
/// std::domain_error if the normaliser of a query is not known to one part
/// in 16, as happens where keys are of very unlike lengths, and in float
/// from 2^19 keys on.
template <class D>
Matrix<ScalarOf<D>> nystroem_attention(
    const Expr<D>& Q, const Rows<ScalarOf<D>>& K,
    const Rows<ScalarOf<D>>& V, Index m) {
  using S = ScalarOf<D>;

  // refuse arguments that attention would refuse
  require(Q.cols() == K.cols() && K.rows() == V.rows(),
          "nystroem_attention: Q is ", shape(Q), ", K ", shape(K), ", V ",
          shape(V));
  const auto [phi, psi, lost] =
      detail::landmark_features<S>(Q.eval(), K, m);
  if (phi.size() > 0) {
    // refuse a query whose normaliser is lost
    using std::abs;
    const Vector<S> z = psi.colwise().sum().transpose(), Z = times(phi, z);
    for (Index i = 0; i < Z.size(); ++i)
      require_domain(!(S(16) * lost(i) >= S(abs(Z(i)))),
                     "nystroem_attention: rounding leaves query ", i,
                     " no normaliser");
  }
  return linear_attention(phi, psi, V);
}
}  // namespace attn
