// include/attn/form.hpp: tangled from chapters/01-bilinear.nw; edit that file, not this one.
#pragma once

// include what forms and metrics need
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Cholesky>

#include "attn/argument.hpp"
#include "attn/einsum.hpp"
#include "attn/tensor.hpp"

namespace attn {
// a bilinear form is any matrix
/// Rows of numbers, one vector each; copies only what is not contiguous.
template <class S>
using Rows = Eigen::Ref<const Matrix<S>>;

/// B(u, w) = u^a M_ab w^b for any d_u x d_w matrix M (def. form).
template <class S>
struct Bilinear {
  using scalar = S;
  Matrix<S> M;
  Index rows() const { return M.rows(); }
  Index cols() const { return M.cols(); }

  // lower the second argument
  /// n x d_w rows K^jb  ->  n x d_u rows K^j_a.
  Matrix<S> lower(const Rows<S>& K) const {
    return eq<"K^j{}_a = M_{ab} K^{jb}">(view<dn, dn>(M),  // eq:bilinear-lower
                                         view<up, up>(K)).mat();
  }
};

// what every form can do
/// A form on R^rows x R^cols that lowers rows of its second argument.
template <class F>
concept Form = requires(const F& f, const Matrix<typename F::scalar>& K) {
  { f.rows() } -> std::convertible_to<Index>;
  { f.cols() } -> std::convertible_to<Index>;
  { f.lower(K) } -> std::convertible_to<Matrix<typename F::scalar>>;
};
/// B(u, w) for two vectors, as the pairing of u with w lowered.
/// Throws std::invalid_argument unless u has f.rows(), w f.cols() entries.
template <Form F>
typename F::scalar inner(const Vector<typename F::scalar>& u,
                         const Vector<typename F::scalar>& w, const F& f) {
  require(u.size() == f.rows() && w.size() == f.cols(), "inner: u has ",
          u.size(), " and w ", w.size(), " entries but the form is ",
          shape(f));
  const Vector<typename F::scalar> low = f.lower(w.transpose()).transpose();
  return eq<"s = w_a u^a">(view<dn>(low), view<up>(u));
}

// take a form apart
/// G = (M + M^T) / 2: the self-scores, and what is mutual (prop. parts).
/// Throws std::invalid_argument unless B is square.
template <class S>
Bilinear<S> symmetric_part(const Bilinear<S>& B) {
  require(B.rows() == B.cols(), "symmetric_part: the form is ", shape(B));
  return {(B.M + B.M.transpose()) / S(2)};
}
/// (M - M^T) / 2: what u finds in v more than v in u (prop. parts).
/// Throws std::invalid_argument unless B is square.
template <class S>
Bilinear<S> antisymmetric_part(const Bilinear<S>& B) {
  require(B.rows() == B.cols(), "antisymmetric_part: the form is ", shape(B));
  return {(B.M - B.M.transpose()) / S(2)};
}

// count the squares of each sign
/// Numbers of positive, negative and missing squares (thm. sylvester).
struct Signature {
  Index positive = 0, negative = 0, null = 0;
  bool operator==(const Signature&) const = default;
};
/// Signature of the symmetric part of B; squares that are smaller than
/// 8 D epsilon times its largest entry count as null.  Throws
/// std::invalid_argument unless B is square, std::domain_error unless
/// finite.  Source: thm. sylvester.
template <class S>
Signature signature(const Bilinear<S>& B) {
  Matrix<S> H = symmetric_part(B).M;
  const S size = H.template lpNorm<Eigen::Infinity>();
  require_domain(((H - H).array() == S(0)).all(),
                 "signature: the form is not finite");
  const S least =
      S(double(8 * H.rows())) * std::numeric_limits<S>::epsilon() * size;
  Signature found{0, 0, H.rows()};
  for (; found.null > 0; --found.null) {
    // choose a vector with a large square
    Index a = 0, b = 0;
    const S top = H.cwiseAbs().maxCoeff(&a, &b);
    if (!(least < top)) break;
    if (a != b) {
      const bool same = (S(0) < H(a, b)) == (S(0) < H(a, a) + H(b, b));
      const S sign(same ? 1 : -1);
      H.row(a) += sign * H.row(b);
      H.col(a) += sign * H.col(b);
    }

    // complete its square and count it
    ++(S(0) < H(a, a) ? found.positive : found.negative);
    const Vector<S> h = H.col(a), scaled = h / H(a, a);
    H -= h * scaled.transpose();
    H.row(a).setZero();
    H.col(a).setZero();
  }
  return found;
}

// keep the form of a head in factors
/// x^m W_m^a delta_ab U_n^b y^n with W = W_Q (D_q x d) and U = W_K
/// (D_k x d), of rank at most d (thm. one-head).
template <class S>
struct HeadForm {
  using scalar = S;
  Matrix<S> W_Q, W_K;
  Index rows() const { return W_Q.rows(); }
  Index cols() const { return W_K.rows(); }

  // lower through keys
  Matrix<S> lower(const Rows<S>& Y) const {
    const auto k = eq<"k^{ja} = Y^{jn} U_n{}^a">(  // eq:head-key
        view<up, up>(Y), view<dn, up>(W_K));
    return eq<"Y^j{}_m = k^{ja} W_{ma}">(  // eq:head-lower
               k, view<dn, dn>(W_Q)).mat();
  }
  /// The D_q x D_k matrix W_Q W_K^T.
  Bilinear<S> dense() const { return {W_Q * W_K.transpose()}; }
};

// pull a dot product back
/// W^r_a delta_rs W^s_b for W of shape r x d: positive semidefinite, and
/// a metric only if W has rank d (prop. pullback).
template <class S>
struct Pullback {
  using scalar = S;
  Matrix<S> W;
  Index rows() const { return W.cols(); }
  Index cols() const { return W.cols(); }
  Matrix<S> lower(const Rows<S>& K) const {
    const Matrix<S> images = K * W.transpose();
    return images * W;
  }
};

// factor once and solve often
/// Lower triangular L with positive diagonal and L L^T = g, d x d.
/// Throws std::domain_error if the factorisation breaks down.
template <class S>
Matrix<S> cholesky(const Matrix<S>& g) {
  if (g.size() == 0) return g;
  const Eigen::LLT<Matrix<S>> llt(g);
  require_domain(llt.info() == Eigen::Success,
                 "cholesky: the matrix is not positive definite");
  return llt.matrixL();
}
/// Rows x_i with L L^T x_i = v_i; v is n x d, L is d x d.
template <class S>
Matrix<S> solve_rows(const Matrix<S>& L,
                     const std::type_identity_t<Rows<S>>& v) {
  if (v.size() == 0) return v;
  Matrix<S> x = v.transpose();
  L.template triangularView<Eigen::Lower>().solveInPlace(x);
  L.transpose().template triangularView<Eigen::Upper>().solveInPlace(x);
  return x.transpose();
}

// the kinds of metric
/// c delta_ab on dimension d: one number, whatever d is.
template <class S>
struct ScaledMetric {
  Index d;
  S c;
  Index dim() const { return d; }
  Matrix<S> lower(const Rows<S>& v) const { return v * c; }
  Matrix<S> raise(const Rows<S>& v) const { return v / c; }
  S log_det() const { using std::log; return S(double(d)) * log(c); }
};
/// diag(D_1, ..., D_d), all D_a > 0.
template <class S>
struct DiagonalMetric {
  Vector<S> D;
  Index dim() const { return D.size(); }
  Matrix<S> lower(const Rows<S>& v) const { return v * D.asDiagonal(); }
  Matrix<S> raise(const Rows<S>& v) const {
    return v * D.cwiseInverse().asDiagonal();
  }
  S log_det() const { return D.array().log().sum(); }
};
/// diag(D) + U^T U: D_a > 0, U of shape r x d; keeps the Cholesky factor
/// L of C = 1 + U D^-1 U^T (thm. woodbury).
template <class S>
struct LowRankMetric {
  Vector<S> D;
  Matrix<S> U, L;
  Index dim() const { return D.size(); }

  // lower through the learned directions
  Matrix<S> lower(const Rows<S>& v) const {
    const auto w = eq<"w^{jr} = U^r{}_a K^{ja}">(view<up, dn>(U),
                                                 view<up, up>(v));
    return v * D.asDiagonal() +
           eq<"K^j{}_a = w^{jr} U_{ra}">(w, view<dn, dn>(U)).mat();
  }

  // raise by Woodbury's formula
  Matrix<S> raise(const Rows<S>& v) const {
    const Matrix<S> y = v * D.cwiseInverse().asDiagonal();
    const Matrix<S> z = solve_rows(L, Matrix<S>(y * U.transpose()));
    return y - Matrix<S>(z * U) * D.cwiseInverse().asDiagonal();
  }
  S log_det() const {
    return D.array().log().sum() + S(2) * L.diagonal().array().log().sum();
  }
};
/// A full matrix g = L L^T with its Cholesky factor L.
template <class S>
struct FullMetric {
  Matrix<S> g, L;
  Index dim() const { return g.rows(); }
  Matrix<S> lower(const Rows<S>& v) const {
    return eq<"K^j{}_a = g_{ab} K^{jb}">(view<dn, dn>(g),
                                         view<up, up>(v)).mat();
  }
  Matrix<S> raise(const Rows<S>& v) const { return solve_rows(L, v); }
  S log_det() const { return S(2) * L.diagonal().array().log().sum(); }
};

// what keeps a matrix from being a metric
/// Why a square matrix is, or is not, a metric.
template <class S>
struct Diagnosis {
  bool symmetric = true;
  Index row = 0, col = 0;  // the pair that differs most
  S asymmetry{0};          // |g_ab - g_ba| there
  Index pivot = -1;        // first feature whose pivot fails; -1: none
  S remainder{1};          // that pivot, or else the smallest one
  bool positive() const { return pivot < 0; }
};
/// Symmetry and positive definiteness of g (d x d), up to rounding and
/// independent of units.  Throws std::invalid_argument if not square.
template <class S>
Diagnosis<S> diagnose(const Matrix<S>& g) {
  using std::abs, std::sqrt;
  require(g.rows() == g.cols(), "diagnose: g is ", shape(g));
  const Index d = g.rows();
  const S tolerance =
      S(double(8 * d)) * std::numeric_limits<S>::epsilon();
  Diagnosis<S> found;

  // find the worst pair of mirrored entries
  for (Index a = 0; a < d; ++a)
    for (Index b = 0; b < a; ++b) {
      const S gap = abs(S(g(a, b) - g(b, a)));
      const S scale = sqrt(abs(S(g(a, a)))) * sqrt(abs(S(g(b, b))));
      if (!(gap <= tolerance * scale)) found.symmetric = false;
      if (found.asymmetry == found.asymmetry && !(gap <= found.asymmetry))
        found.row = a, found.col = b, found.asymmetry = gap;
    }

  // find a square that is not positive
  for (Index a = 0; a < d && found.positive(); ++a)
    if (!(S(0) < g(a, a) && g(a, a) - g(a, a) == S(0)))
      found.pivot = a, found.remainder = g(a, a);
  if (!found.positive()) return found;

  // scale the form to unit diagonal
  const Vector<S> unit = g.diagonal().cwiseSqrt().cwiseInverse();
  Matrix<S> H = unit.asDiagonal() * g;
  H = (H * unit.asDiagonal()).eval();
  H.diagonal().setOnes();

  // eliminate features, the largest pivot first
  std::vector<Index> left(static_cast<std::size_t>(d));
  std::iota(left.begin(), left.end(), Index(0));
  while (!left.empty()) {
    const auto top = std::max_element(
        left.begin(), left.end(),
        [&](Index a, Index b) { return H(a, a) < H(b, b); });
    const Index p = *top;
    left.erase(top);
    found.remainder = H(p, p);
    if (!(tolerance < H(p, p))) {
      found.pivot = p;
      break;
    }
    for (const Index a : left) {
      const S f = H(a, p) / H(p, p);
      for (const Index b : left) H(a, b) -= f * H(p, b);
    }
  }
  return found;
}

// a metric proves that it is one
/// A symmetric positive definite form; structured ones stay structured.
template <class S>
class Metric {
 public:
  using scalar = S;

  // make a metric of each kind
  /// delta_ab on dimension d.
  static Metric identity(Index d) { return scaled(d, S(1)); }
  /// c delta_ab; throws std::domain_error unless 0 < c < infinity, and
  /// std::invalid_argument if d < 0.
  static Metric scaled(Index d, const S& c) {
    require(d >= 0, "Metric::scaled: dimension ", d);
    require_domain(S(0) < c && S(0) == c - c,
                   "Metric::scaled: factor ", c, " is not positive and finite");
    return Metric(ScaledMetric<S>{d, c});
  }
  /// delta_ab / sqrt(d); throws std::invalid_argument if d < 1.
  static Metric scaled(Index d) {
    using std::sqrt;
    require(d > 0, "Metric::scaled: 1/sqrt(d) needs d >= 1, not ", d);
    return scaled(d, S(1) / S(sqrt(S(double(d)))));
  }
  /// diag(D); throws std::domain_error naming an entry that is not > 0.
  static Metric diagonal(const Vector<S>& D) {
    for (Index a = 0; a < D.size(); ++a)
      require_domain(S(0) < D(a) && S(0) == D(a) - D(a),
                     "Metric::diagonal: entry ", a, " is ", D(a));
    return Metric(DiagonalMetric<S>{D});
  }
  /// diag(D) + U^T U for D as in diagonal and U of shape r x d.  Throws
  /// std::invalid_argument if they do not match, std::domain_error unless
  /// U is finite.
  static Metric low_rank(const Vector<S>& D, const Matrix<S>& U) {
    require(U.cols() == D.size(), "Metric::low_rank: U is ", shape(U),
            " but D has ", D.size(), " entries");
    require_domain(((U - U).array() == S(0)).all(),
                   "Metric::low_rank: U is not finite");
    diagonal(D);
    const Matrix<S> Y = U * D.cwiseInverse().asDiagonal();
    Matrix<S> C = Y * U.transpose();
    C.diagonal().array() += S(1);
    return Metric(LowRankMetric<S>{D, U, cholesky(C)});
  }
  /// A full matrix g; throws std::domain_error if it is not symmetric
  /// (naming the worst pair) or not positive definite (naming the pivot),
  /// std::invalid_argument if it is not square.
  static Metric full(const Matrix<S>& g) {
    const Diagnosis<S> why = diagnose(g);
    require_domain(why.symmetric, "Metric::full: g is not symmetric, (",
                   why.row, ",", why.col, ") and its mirror differ by ",
                   why.asymmetry);
    require_domain(why.positive(), "Metric::full: g is not positive ",
                   "definite, pivot ", why.pivot, " is ", why.remainder);
    const Matrix<S> s = (g + g.transpose()) / S(2);
    return Metric(FullMetric<S>{s, cholesky(s)});
  }
  /// L L^T; throws std::domain_error unless L is finite, lower, L_aa > 0,
  /// and the diagonal of L L^T neither vanishes nor overflows.
  static Metric from_factor(const Matrix<S>& L) {
    require(L.rows() == L.cols(), "Metric::from_factor: L is ", shape(L));
    for (Index a = 0; a < L.rows(); ++a) {
      // refuse a row that is no row of a factor
      require_domain(S(0) < L(a, a), "Metric::from_factor: L(", a, ",", a,
                     ") is ", L(a, a));
      for (Index b = 0; b < L.cols(); ++b)
        require_domain((b > a ? L(a, b) : L(a, b) - L(a, b)) == S(0),
                       "Metric::from_factor: L(", a, ",", b, ") is ", L(a, b));
      const S square = L.row(a).squaredNorm();
      require_domain(S(0) < square && square - square == S(0),
                     "Metric::from_factor: row ", a, " has the square ", square);
    }
    return Metric(FullMetric<S>{L * L.transpose(), L});
  }

  // what a metric can do
  Index dim() const {
    return std::visit([](const auto& g) { return g.dim(); }, kind);
  }
  Index rows() const { return dim(); }
  Index cols() const { return dim(); }
  /// n x d rows v^a -> v_a = g_ab v^b.  Throws std::invalid_argument
  /// unless d is the metric's dimension.
  Matrix<S> lower(const Rows<S>& v) const {
    fits("lower", v);
    return std::visit([&](const auto& g) { return g.lower(v); }, kind);
  }
  /// n x d rows v_a -> v^a = g^ab v_b.  Throws like lower.
  Matrix<S> raise(const Rows<S>& v) const {
    fits("raise", v);
    return std::visit([&](const auto& g) { return g.raise(v); }, kind);
  }
  /// log det g.
  S log_det() const {
    return std::visit([](const auto& g) { return g.log_det(); }, kind);
  }
  /// g_ab and g^ab as d x d matrices, for tests and small d.
  Matrix<S> dense() const { return lower(Matrix<S>::Identity(dim(), dim())); }
  Tensor<S, dn, dn> tensor() const { return dense(); }  // as eq sees it
  Matrix<S> inverse() const {
    return raise(Matrix<S>::Identity(dim(), dim()));
  }
  /// Throws std::invalid_argument unless rows of v have dim() components.
  void fits(const char* what, const Rows<S>& v) const {
    require(v.cols() == dim(), "Metric::", what, ": vectors have ", v.cols(),
            " components but the metric has dimension ", dim());
  }

 private:
  using Kind = std::variant<ScaledMetric<S>, DiagonalMetric<S>,
                            LowRankMetric<S>, FullMetric<S>>;
  explicit Metric(Kind k) : kind(std::move(k)) {}
  Kind kind;
};

// measure lengths and angles
/// Length sqrt(v^a g_ab v^b); 0 where rounding makes the square negative.
template <class S>
S norm(const Vector<S>& v, const Metric<S>& g) {
  using std::sqrt;
  const S square = inner(v, v, g);
  return square < S(0) ? S(0) : S(sqrt(square));
}
/// g(u, v) / (|u| |v|); throws std::domain_error if a length is zero.
template <class S>
S cosine(const Vector<S>& u, const Vector<S>& v, const Metric<S>& g) {
  const S nu = norm(u, g), nv = norm(v, g);
  require_domain(S(0) < nu && S(0) < nv,
                 "cosine: a vector of length zero has no direction");
  return inner(u, v, g) / nu / nv;
}
/// Angle in [0, pi] (eq. kahan-angle), as good for small angles as for
/// large; what a nearly degenerate g costs is in prop. angle-error.
/// Throws std::domain_error if a length is zero.
template <class S>
S angle(const Vector<S>& v, const Vector<S>& w, const Metric<S>& g) {
  using std::atan2;
  const S nv = norm(v, g), nw = norm(w, g);
  require_domain(S(0) < nv && S(0) < nw,
                 "angle: a vector of length zero has no direction");
  const Vector<S> a = v / nv, b = w / nw;
  return S(2) * atan2(norm<S>(a - b, g), norm<S>(a + b, g));
}

// parametrise metrics without constraints
/// L(Theta): the lower triangle of Theta (d x d) with exp on its diagonal.
/// Throws std::invalid_argument if Theta is not square.
template <class S>
Matrix<S> factor_from_parameters(const Matrix<S>& Theta) {
  using std::exp;
  require(Theta.rows() == Theta.cols(),
          "factor_from_parameters: Theta is ", shape(Theta));
  Matrix<S> L = Theta.template triangularView<Eigen::StrictlyLower>();
  for (Index a = 0; a < L.rows(); ++a) L(a, a) = exp(Theta(a, a));
  return L;
}
/// The parameters of the metric g (d x d): inverse of the above.
/// Throws std::domain_error if g is not positive definite.
template <class S>
Matrix<S> parameters_of(const Matrix<S>& g) {
  using std::log;
  Matrix<S> Theta = cholesky(g);
  for (Index a = 0; a < g.rows(); ++a) Theta(a, a) = log(Theta(a, a));
  return Theta;
}

// differentiate a pulled-back form
/// Cotangent of W (r x d) for g = W^T W, from that of g (d x d).
/// Throws std::invalid_argument on shapes (prop. learned-gradient).
template <class S>
Matrix<S> pullback_vjp(const Matrix<S>& W, const Matrix<S>& dg) {
  require(dg.rows() == W.cols() && dg.cols() == W.cols(),
          "pullback_vjp: dg is ", shape(dg), " but W is ", shape(W));
  const Matrix<S> h = Matrix<S>::Identity(W.rows(), W.rows());
  const Matrix<S> H = dg + dg.transpose();
  const auto w = view<up, dn>(W);
  const auto lat = view<dn, dn>(h);
  return eq<R"(\bar W_r{}^a = h_{rs} W^s{}_b H^{ab})">(  // eq:pullback-vjp
      lat, w, view<up, up>(H)).mat();
}
/// Cotangent of Theta (d x d) for g = L L^T, from that of g (d x d).
/// Throws std::invalid_argument on shapes (prop. learned-gradient).
template <class S>
Matrix<S> parameters_vjp(const Matrix<S>& Theta, const Matrix<S>& dg) {
  const Matrix<S> L = factor_from_parameters(Theta);
  Matrix<S> dT = pullback_vjp<S>(L.transpose(), dg).transpose();
  dT.diagonal().array() *= L.diagonal().array();
  return dT.template triangularView<Eigen::Lower>();
}
}  // namespace attn
