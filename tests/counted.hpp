// A number that counts what rounding may do to it.
//
// v is the exact value (in quad).  A computed number is a sum of products of
// atoms: inputs, constants, and values of elementary functions.  An atom with
// the value a is known up to some error e_a; each product takes part in at most
// k roundings, the longest chain of operations, whatever the order in which the
// sums are formed and whether or not operations are fused.  Let size be the sum
// of products with |a| for a, and size + moved the same with |a| + e_a.  Then
//     |computed - v| <= moved + gamma_k (size + moved)
// (Higham 2002, sections 3.1 and 3.4).  So no bound need be derived by hand for
// a function of the library: called with Counted numbers, it derives its own.
#pragma once
#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <ostream>

#include <Eigen/Core>

#include "attn/quad.hpp"
#include "attn/rounding.hpp"
#include "attn/tensor.hpp"

namespace attn {
struct Counted {
  static constexpr double u = 0x1p-53;
  // exp, log, sin, ... of the C library, of Eigen and of XLA are taken to be
  // right to four units in the last place, which is eight roundings; the
  // generator of the reference data has XLA's tested against mpmath.
  static constexpr double library = 8;

  quad v = 0;
  double size = 0, moved = 0, k = 0;

  Counted() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Counted(T x) : Counted(quad(x)) {}
  Counted(quad x) : Counted(x, std::abs(to_double(x)), 0, 0) {}
  Counted(quad x, double s, double e, double n)
      : v(x), size(s), moved(e), k(n) {
    if (!isfinite(v)) size = moved = k = 0;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit operator T() const { return T(v); }
  explicit operator quad() const { return v; }

  // The bound for a program of unit roundoff w <= u: moved shrinks at least as
  // w does.  (size and moved are themselves computed in double, hence the
  // first factor.)
  double error(double w = u) const {
    const double gamma = k * w / (1 - k * w), e = moved * (w / u);
    return (1 + 0x1p-20) * (e + gamma * (size + e));
  }
  // The atom y = f(x), where the error of x moves f by at most e.
  static Counted atom(quad y, double e, double roundings = library) {
    return {y, std::abs(to_double(y)), e, roundings};
  }

  friend Counted operator-(const Counted& a) {
    return {-a.v, a.size, a.moved, a.k};
  }
  friend Counted operator+(const Counted& a, const Counted& b) {
    return {a.v + b.v, a.size + b.size, a.moved + b.moved,
            std::max(a.k, b.k) + 1};
  }
  friend Counted operator-(const Counted& a, const Counted& b) {
    return a + -b;
  }
  friend Counted operator*(const Counted& a, const Counted& b) {
    return {a.v * b.v, a.size * b.size,
            a.moved * (b.size + b.moved) + a.size * b.moved, a.k + b.k + 1};
  }
  friend Counted operator/(const Counted& a, const Counted& b) {
    const double y = 1 / std::abs(to_double(b.v)), e = b.error() * y;
    return a * atom(1 / b.v, y * e / (1 - e), 0);
  }
  Counted& operator+=(const Counted& b) { return *this = *this + b; }
  Counted& operator-=(const Counted& b) { return *this = *this - b; }
  Counted& operator*=(const Counted& b) { return *this = *this * b; }
  Counted& operator/=(const Counted& b) { return *this = *this / b; }
  friend bool operator==(const Counted& a, const Counted& b) {
    return a.v == b.v;
  }
  friend auto operator<=>(const Counted& a, const Counted& b) {
    return a.v <=> b.v;
  }

  friend Counted exp(const Counted& x) {
    const quad y = exp(x.v);
    return atom(y, to_double(y) * std::expm1(x.error()));
  }
  friend Counted expm1(const Counted& x) {
    const double e = std::exp(to_double(x.v)) * std::expm1(x.error());
    return atom(expm1(x.v), e);
  }
  friend Counted log(const Counted& x) {
    return atom(log(x.v), -std::log1p(-x.error() / to_double(x.v)));
  }
  friend Counted log1p(const Counted& x) {
    return atom(log1p(x.v), -std::log1p(-x.error() / (1 + to_double(x.v))));
  }
  friend Counted sqrt(const Counted& x) {
    const quad y = sqrt(x.v);
    return atom(y, x.error() == 0 ? 0 : x.error() / to_double(y), 1);
  }
  friend Counted sin(const Counted& x) { return atom(sin(x.v), x.error()); }
  friend Counted cos(const Counted& x) { return atom(cos(x.v), x.error()); }
  friend Counted tanh(const Counted& x) { return atom(tanh(x.v), x.error()); }
  friend Counted cosh(const Counted& x) {
    const double far = std::abs(to_double(x.v)) + x.error();
    return atom(cosh(x.v), x.error() * std::sinh(far));
  }
  friend Counted asin(const Counted& x) {
    const double far = std::abs(to_double(x.v)) + x.error();
    return atom(asin(x.v), x.error() / std::sqrt((1 - far) * (1 + far)));
  }
  friend Counted pow(const Counted& x, const Counted& y) {
    return x == 0 ? Counted(pow(x.v, y.v)) : exp(y * log(x));
  }
  friend Counted abs(const Counted& x) {
    return {abs(x.v), x.size, x.moved, x.k};
  }
  friend bool isfinite(const Counted& x) { return isfinite(x.v); }
  friend std::ostream& operator<<(std::ostream& out, const Counted& x) {
    return out << x.v << " +- " << x.error();
  }
};

// The exact values, and the bounds for a program of unit roundoff w.
template <class D>
Matrix<quad> exact(const Eigen::MatrixBase<D>& m) { return lift<quad>(m); }
template <class D>
Matrix<double> bound(const Eigen::MatrixBase<D>& m, double w = Counted::u) {
  Matrix<double> b(m.rows(), m.cols());
  for (Index i = 0; i < b.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) b(i, j) = m(i, j).error(w);
  return b;
}
}  // namespace attn
template <>
struct std::numeric_limits<attn::Counted> : std::numeric_limits<double> {};
namespace Eigen {
template <>
struct NumTraits<attn::Counted> : GenericNumTraits<attn::Counted> {
  enum { RequireInitialization = 1, ReadCost = 4, AddCost = 32,
         MulCost = 32 };
  static int digits10() { return 15; }
};
}  // namespace Eigen
