// include/attn/positions.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/argument.hpp"
#include "attn/tensor.hpp"

namespace attn {
// encode positions by sinusoids
/// Angles are at least double, even where the vectors are float.
template <class S>
using Angle = std::conditional_t<std::is_same_v<S, float>, double, S>;

/// theta_a = base^(-2a/d), a = 0, ..., d/2 - 1.  Throws
/// std::invalid_argument for odd d, std::domain_error unless base > 0.
template <class S>
Vector<S> frequencies(Index d, double base = 10000) {
  using std::pow;
  require(d >= 0 && d % 2 == 0, "frequencies: d = ", d, " is not even");
  require_domain(base > 0, "frequencies: base ", base);
  Vector<S> theta(d / 2);
  for (Index a = 0; a < d / 2; ++a)
    theta(a) = pow(S(base), S(-2.0 * double(a)) / S(double(d)));
  return theta;
}
/// P of eq. sinusoidal for positions first, ..., first + n - 1; n x d.
template <class S>
Matrix<S> sinusoidal(Index n, Index d, Index first = 0,
                     double base = 10000) {
  using std::cos, std::sin;
  const Vector<S> theta = frequencies<S>(d, base);
  Matrix<S> P(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < d / 2; ++a) {
      const S phi = S(double(first + i)) * theta(a);
      P(i, 2 * a) = sin(phi), P(i, 2 * a + 1) = cos(phi);
    }
  return P;
}

// rotate by positions
/// Which coordinates form a plane: (2a, 2a+1), or (a, a + d/2).
enum class Pairs { neighbours, halves };

/// Rotation of plane a by theta_a per position (Su 2021).
template <class S>
struct Rotary {
  Vector<Angle<S>> theta;
  Pairs pairs = Pairs::neighbours;
};

/// Rows x_i -> R_p x_i, or R_p^T x_i if back, with p = first + i; n x d.
/// The vjp of one is the other.  Throws std::invalid_argument.
template <class S>
Matrix<S> rotate(Matrix<S> X, const Rotary<S>& R, Index first = 0,
                 bool back = false) {
  using std::cos, std::sin;
  const Index planes = R.theta.size();
  require(X.cols() == 2 * planes, "rotate: X is ", shape(X), " but R has ",
          planes, " planes");
  const bool near = R.pairs == Pairs::neighbours;
  for (Index i = 0; i < X.rows(); ++i)
    for (Index a = 0; a < planes; ++a) {
      const Angle<S> phi =
          Angle<S>(double(back ? -first - i : first + i)) * R.theta(a);
      const S c = S(cos(phi)), s = S(sin(phi));
      S& x = X(i, near ? 2 * a : a);
      S& y = X(i, near ? 2 * a + 1 : a + planes);
      const S turned = s * x + c * y;
      x = c * x - s * y, y = turned;
    }
  return X;
}

// choose the slopes of heads
/// ALiBi's slopes for H heads (Press 2022).  Throws for H < 1.
template <class S = double>
std::vector<S> alibi_slopes(Index H) {
  require(H >= 1, "alibi_slopes: H = ", H);
  const Index low = Index(std::bit_floor(std::uint64_t(H)));
  std::vector<S> m;
  for (Index h = 1; h <= low; ++h)
    m.push_back(S(std::exp2(-8.0 * double(h) / double(low))));
  for (Index h = 1; std::ssize(m) < H; h += 2)
    m.push_back(S(std::exp2(-4.0 * double(h) / double(low))));
  return m;
}

// score additively
/// Parameters of eq. additive: U r x d_q, W r x d_k, x r; also the type
/// of their gradient.
template <class S>
struct AdditiveParts {
  Matrix<S> Q, K, U, W;
  Vector<S> x;
};
/// S^ij of eq. additive, n_q x n_k.  Throws std::invalid_argument.
template <class S>
Matrix<S> additive_scores(const AdditiveParts<S>& p) {
  using std::tanh;
  require(p.U.cols() == p.Q.cols() && p.W.cols() == p.K.cols() &&
              p.U.rows() == p.x.size() && p.W.rows() == p.x.size(),
          "additive_scores: U is ", shape(p.U), ", W ", shape(p.W), ", x ",
          shape(p.x), ", Q ", shape(p.Q), ", K ", shape(p.K));
  const Matrix<S> q = p.Q * p.U.transpose(), k = p.K * p.W.transpose();
  Matrix<S> Y = Matrix<S>::Constant(q.rows(), k.rows(), S(0));
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < k.rows(); ++j)
      for (Index r = 0; r < p.x.size(); ++r)
        Y(i, j) += p.x(r) * tanh(S(q(i, r) + k(j, r)));
  return Y;
}
/// Gradient of sum dS S with respect to all parts.
/// Throws std::invalid_argument.
template <class S>
AdditiveParts<S> additive_vjp(const AdditiveParts<S>& p,
                              const Matrix<S>& dS) {
  using std::cosh, std::tanh;
  const Matrix<S> q = p.Q * p.U.transpose(), k = p.K * p.W.transpose();
  require(dS.rows() == q.rows() && dS.cols() == k.rows(),
          "additive_vjp: dS is ", shape(dS));
  Matrix<S> dq = Matrix<S>::Constant(q.rows(), q.cols(), S(0));
  Matrix<S> dk = Matrix<S>::Constant(k.rows(), k.cols(), S(0));
  Vector<S> dx = Vector<S>::Constant(p.x.size(), S(0));
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < k.rows(); ++j)
      for (Index r = 0; r < p.x.size(); ++r) {
        const S y = q(i, r) + k(j, r), c = cosh(y);
        const S z = dS(i, j) * p.x(r) / c / c;
        dx(r) += dS(i, j) * tanh(y), dq(i, r) += z, dk(j, r) += z;
      }
  return {dq * p.U, dk * p.W, dq.transpose() * p.Q, dk.transpose() * p.K,
          dx};
}
}  // namespace attn
