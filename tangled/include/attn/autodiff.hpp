// include/attn/autodiff.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#pragma once

// include what differentiation needs
#include "attn/argument.hpp"
#include "attn/product.hpp"
#include "attn/tensor.hpp"
#include <cmath>
#include <compare>
#include <concepts>
#include <limits>
#include <ostream>
#include <tuple>
#include <type_traits>
#include <vector>

namespace attn {
// the numbers that differentiate
namespace detail {
// order two values of any scalar type
template <class T>
std::partial_ordering order(const T& a, const T& b) {
  if (a < b) return std::partial_ordering::less;
  if (b < a) return std::partial_ordering::greater;
  return a == b ? std::partial_ordering::equivalent
                : std::partial_ordering::unordered;
}

// the shape of one matrix with another scalar
template <class S, class X>
using With = Eigen::Matrix<S, X::RowsAtCompileTime, X::ColsAtCompileTime,
                           X::PlainObject::Options>;
}  // namespace detail

// the dual numbers $v + d\varepsilon$
/// Dual number v + d eps, eps^2 = 0: a value and its derivative.
template <class T>
struct Dual {
  T v{0}, d{0};

  Dual() = default;
  Dual(const T& value, const T& derivative)
      : v(value), d(derivative) {}
  template <std::convertible_to<T> U>
  Dual(const U& constant) : v(T(constant)) {}

  // calculate with dual numbers
  friend Dual operator-(const Dual& a) { return {-a.v, -a.d}; }
  friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.v + b.v, a.d + b.d};
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return {a.v - b.v, a.d - b.d};
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.v * b.v, a.d * b.v + a.v * b.d};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const T q = a.v / b.v;
    return {q, (a.d - q * b.d) / b.v};
  }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  Dual& operator/=(const Dual& b) { return *this = *this / b; }

  // compare dual numbers by their values
  friend std::partial_ordering operator<=>(const Dual& a, const Dual& b) {
    return detail::order(a.v, b.v);
  }
  friend bool operator==(const Dual& a, const Dual& b) {
    return a.v == b.v;
  }
};

// the tape of elementary steps
/// The steps of type T recorded so far by this thread: each knows its
/// one or two arguments (-1: none) and the partial derivatives by them.
template <class T>
struct Tape {
  struct Step {
    Index a, b;
    T da, db;
  };

  // the steps of this thread, and one more
  static std::vector<Step>& steps() {
    static thread_local std::vector<Step> recorded;
    return recorded;
  }
  static Index push(Index a, const T& da, Index b, const T& db) {
    steps().push_back({a, b, da, db});
    return Index(steps().size()) - 1;
  }
};

// a variable whose history is on the tape
/// A number that remembers on the tape how it was computed.
template <class T>
struct Var {
  T v{0};
  Index id = -1;  // its step on the tape; -1: a constant

  Var() = default;
  Var(const T& value, Index step) : v(value), id(step) {}
  template <std::convertible_to<T> U>
  Var(const U& constant) : v(T(constant)) {}

  // calculate and write the steps on the tape
  friend Var operator-(const Var& a) { return chain(a, -a.v, T(-1)); }
  friend Var operator+(const Var& a, const Var& b) {
    return chain(a, b, a.v + b.v, T(1), T(1));
  }
  friend Var operator-(const Var& a, const Var& b) {
    return chain(a, b, a.v - b.v, T(1), T(-1));
  }
  friend Var operator*(const Var& a, const Var& b) {
    return chain(a, b, a.v * b.v, b.v, a.v);
  }
  friend Var operator/(const Var& a, const Var& b) {
    const T q = a.v / b.v;
    return chain(a, b, q, T(1) / b.v, -q / b.v);
  }
  Var& operator+=(const Var& b) { return *this = *this + b; }
  Var& operator-=(const Var& b) { return *this = *this - b; }
  Var& operator*=(const Var& b) { return *this = *this * b; }
  Var& operator/=(const Var& b) { return *this = *this / b; }

  // compare variables by their values
  friend std::partial_ordering operator<=>(const Var& a, const Var& b) {
    return detail::order(a.v, b.v);
  }
  friend bool operator==(const Var& a, const Var& b) {
    return a.v == b.v;
  }
};

// recognise the types that differentiate
/// True for Dual<T> and Var<T>.
template <class X>
inline constexpr bool is_active = false;
template <class T>
inline constexpr bool is_active<Dual<T>> = true;
template <class T>
inline constexpr bool is_active<Var<T>> = true;
/// Dual<T> or Var<T>.
template <class X>
concept Active = is_active<X>;
/// The number underneath all derivatives.
template <class T>
const T& value(const T& x) { return x; }
/// The same, one level further down.
template <Active X>
const auto& value(const X& x) { return value(x.v); }

// say how such numbers are multiplied
template <class T>
inline constexpr bool by_coefficient<Var<T>> = true;
template <class T>
inline constexpr bool by_coefficient<Dual<T>> = by_coefficient<T>;

// the chain rule of dual numbers
/// f(x) for known value f and derivative f'.
template <class T>
Dual<T> chain(const Dual<T>& x, const std::type_identity_t<T>& f,
              const std::type_identity_t<T>& df) {
  return {f, df * x.d};
}
/// f(x, y) for known value and partial derivatives.
template <class T>
Dual<T> chain(const Dual<T>& x, const Dual<T>& y,
              const std::type_identity_t<T>& f,
              const std::type_identity_t<T>& fx,
              const std::type_identity_t<T>& fy) {
  return {f, fx * x.d + fy * y.d};
}

// the chain rule of recorded variables
/// f(x) for known value f and derivative f', recorded on the tape.
template <class T>
Var<T> chain(const Var<T>& x, const std::type_identity_t<T>& f,
             const std::type_identity_t<T>& df) {
  if (x.id < 0) return {f, -1};
  return {f, Tape<T>::push(x.id, df, -1, T(0))};
}
/// f(x, y) for known value and partial derivatives, recorded.
template <class T>
Var<T> chain(const Var<T>& x, const Var<T>& y,
             const std::type_identity_t<T>& f,
             const std::type_identity_t<T>& fx,
             const std::type_identity_t<T>& fy) {
  if (x.id < 0 && y.id < 0) return {f, -1};
  return {f, Tape<T>::push(x.id, fx, y.id, fy)};
}

// differentiate the elementary functions

// differentiate exponentials and logarithms
/// e^x, its own derivative.
template <Active X> X exp(const X& x) {
  using std::exp;
  const auto e = exp(x.v);
  return chain(x, e, e);
}
/// e^x - 1, accurate near zero.
template <Active X> X expm1(const X& x) {
  using std::exp, std::expm1;
  return chain(x, expm1(x.v), exp(x.v));
}
/// The natural logarithm.
template <Active X> X log(const X& x) {
  using std::log;
  return chain(x, log(x.v), 1 / x.v);
}
/// log(1 + x), accurate near zero.
template <Active X> X log1p(const X& x) {
  using std::log1p;
  return chain(x, log1p(x.v), 1 / (1 + x.v));
}
/// The square root.
template <Active X> X sqrt(const X& x) {
  using std::sqrt;
  const auto s = sqrt(x.v);
  return chain(x, s, 1 / (s + s));
}

// differentiate circular functions
/// The sine.
template <Active X> X sin(const X& x) {
  using std::sin, std::cos;
  return chain(x, sin(x.v), cos(x.v));
}
/// The cosine.
template <Active X> X cos(const X& x) {
  using std::sin, std::cos;
  return chain(x, cos(x.v), -sin(x.v));
}
/// The tangent.
template <Active X> X tan(const X& x) {
  using std::tan;
  const auto t = tan(x.v);
  return chain(x, t, 1 + t * t);
}

// differentiate hyperbolic functions
/// The hyperbolic sine.
template <Active X> X sinh(const X& x) {
  using std::sinh, std::cosh;
  return chain(x, sinh(x.v), cosh(x.v));
}
/// The hyperbolic cosine.
template <Active X> X cosh(const X& x) {
  using std::sinh, std::cosh;
  return chain(x, cosh(x.v), sinh(x.v));
}
/// The hyperbolic tangent, saturated or not.
template <Active X> X tanh(const X& x) {
  using std::tanh, std::cosh;
  const auto c = cosh(x.v);
  return chain(x, tanh(x.v), 1 / c / c);
}

// differentiate inverse circular functions
/// The inverse sine.
template <Active X> X asin(const X& x) {
  using std::asin, std::sqrt;
  return chain(x, asin(x.v), 1 / sqrt((1 - x.v) * (1 + x.v)));
}
/// The inverse cosine.
template <Active X> X acos(const X& x) {
  using std::acos, std::sqrt;
  return chain(x, acos(x.v), -1 / sqrt((1 - x.v) * (1 + x.v)));
}
/// The inverse tangent.
template <Active X> X atan(const X& x) {
  using std::atan;
  return chain(x, atan(x.v), 1 / (1 + x.v * x.v));
}
/// The angle of the point (x, y).
template <Active X> X atan2(const X& y, const X& x) {
  using std::atan2;
  const auto r = x.v * x.v + y.v * y.v;
  return chain(y, x, atan2(y.v, x.v), x.v / r, -y.v / r);
}

// differentiate powers
/// x^p for a constant exponent; x may be negative if p is an integer.
template <Active X, class P>
  requires(!Active<P>)
X pow(const X& x, const P& p) {
  using std::pow;
  if (p == P(0)) return X(1);
  return chain(x, pow(x.v, p), p * pow(x.v, P(p - P(1))));
}
/// x^y for positive x.
template <Active X> X pow(const X& x, const X& y) {
  using std::pow, std::log;
  const auto f = pow(x.v, y.v);
  return chain(x, y, f, y.v * pow(x.v, y.v - 1), f * log(x.v));
}
/// b^y for a positive constant b.
template <class B, Active X>
  requires(!Active<B>)
X pow(const B& b, const X& y) { return pow(X(b), y); }

// differentiate what has corners
/// |x|; at the corner the derivative is that of the branch taken.
template <Active X> X abs(const X& x) { return x < 0 ? -x : x; }
/// The larger of two, with its derivative; of equal ones the first.
template <Active X> X max(const X& x, const X& y) {
  return x < y ? y : x;
}
/// The smaller of two, with its derivative; of equal ones the first.
template <Active X> X min(const X& x, const X& y) {
  return y < x ? y : x;
}
/// True unless the value is infinite or NaN.
template <Active X> bool isfinite(const X& x) {
  using std::isfinite;
  return isfinite(x.v);
}
/// True for a NaN, which alone differs from itself.
template <Active X> bool isnan(const X& x) { return !(x == x); }
/// True for an infinite value.
template <Active X> bool isinf(const X& x) {
  return !isfinite(x) && !isnan(x);
}

// print a value and hide its derivative
template <Active X>
std::ostream& operator<<(std::ostream& out, const X& x) {
  return out << x.v;
}
}  // namespace attn

namespace Eigen {
// tell Eigen about numbers that differentiate
template <attn::Active X>
struct NumTraits<X> : NumTraits<std::decay_t<decltype(X::v)>> {
  using Real = X;
  using NonInteger = X;
  using Nested = X;
  using Literal = X;
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1,
         RequireInitialization = 1, ReadCost = 2, AddCost = 4,
         MulCost = 6 };
};
}  // namespace Eigen

// tell the standard library their limits
template <attn::Active X>
struct std::numeric_limits<X>
    : std::numeric_limits<std::decay_t<decltype(X::v)>> {};

namespace attn {
// the derivatives of whole functions

// record a stretch of tape and erase it
/// One evaluation's stretch of tape, erased when it goes out of scope.
template <class T>
struct Recording {
  Index begin = Index(Tape<T>::steps().size());

  Recording() = default;
  Recording(const Recording&) = delete;
  ~Recording() {
    auto& steps = Tape<T>::steps();
    steps.erase(steps.begin() + begin, steps.end());
  }

  // make the inputs of a recording
  template <class X>
  auto inputs(const Eigen::MatrixBase<X>& x) const {
    detail::With<Var<T>, X> result(x.rows(), x.cols());
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        result(i, j) = {x(i, j), Tape<T>::push(-1, T(0), -1, T(0))};
    return result;
  }

  // pull a covector back along the tape
  std::vector<T> adjoints(const Var<T>& y) const {
    const auto& steps = Tape<T>::steps();
    const Index n = Index(steps.size()) - begin;
    std::vector<T> bar(std::size_t(n), T(0));
    const auto at = [&](Index k) -> T& {
      return bar[std::size_t(k - begin)];
    };
    if (y.id >= begin) at(y.id) = T(1);
    for (Index k = y.id; k >= begin; --k) {
      const auto step = steps[std::size_t(k)];
      if (step.a >= begin) at(step.a) += at(k) * step.da;
      if (step.b >= begin) at(step.b) += at(k) * step.db;
    }
    return bar;
  }
};
namespace detail {
// read the gradient off the inputs
template <class T, class X>
auto read(const X& inputs, const std::vector<T>& bar, Index begin) {
  With<T, X> g(inputs.rows(), inputs.cols());
  for (Index i = 0; i < g.rows(); ++i)
    for (Index j = 0; j < g.cols(); ++j)
      g(i, j) = bar[std::size_t(inputs(i, j).id - begin)];
  return g;
}

// take the infinitesimal part of a matrix
template <class T, class Y>
auto infinitesimal(const Eigen::MatrixBase<Y>& y) {
  const typename Y::PlainObject evaluated = y;
  With<T, Y> d(y.rows(), y.cols());
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) d(i, j) = evaluated(i, j).d;
  return d;
}
}  // namespace detail

// the gradient of a scalar function
/// Gradient of f(X, Y, ...), by one reverse sweep (thm. reverse).  f takes
/// matrices or vectors of Var<T> and returns a Var<T>.  Shapes: a matrix
/// of T as large as X, or a tuple of such if there are several.
template <class F, class X, class... Y>
auto gradient(F&& f, const Eigen::MatrixBase<X>& x,
              const Eigen::MatrixBase<Y>&... y) {
  using T = typename X::Scalar;
  const Recording<T> tape;
  const std::tuple inputs{tape.inputs(x), tape.inputs(y)...};
  const Var<T> result = std::apply(f, inputs);
  const std::vector<T> bar = tape.adjoints(result);
  if constexpr (sizeof...(Y) == 0)
    return detail::read<T>(std::get<0>(inputs), bar, tape.begin);
  else
    return std::apply([&](const auto&... in) {
      return std::tuple{detail::read<T>(in, bar, tape.begin)...};
    }, inputs);
}

// the derivative of a function of one number
/// f'(x) for f : Dual<T> -> Dual<T> (thm. dual).
template <class F, class T>
T derivative(F&& f, const T& x) {
  return Dual<T>(f(Dual<T>(x, T(1)))).d;
}

// the derivative along a direction
/// Derivative of f at X along dX: a T if f returns a scalar, else a
/// matrix.  Shapes: X and dX alike, else throws std::invalid_argument.
template <class F, class X, class D>
auto directional(F&& f, const Eigen::MatrixBase<X>& x,
                 const Eigen::MatrixBase<D>& dx) {
  using T = typename X::Scalar;

  // lift X and its direction to dual numbers
  require(x.rows() == dx.rows() && x.cols() == dx.cols(),
          "directional: X is ", shape(x), " but dX is ", shape(dx));
  detail::With<Dual<T>, X> z(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      z(i, j) = Dual<T>(x(i, j), T(dx(i, j)));
  const auto y = f(z);
  if constexpr (std::is_same_v<std::decay_t<decltype(y)>, Dual<T>>)
    return T(y.d);
  else
    return detail::infinitesimal<T>(y);
}

// the matrix of second derivatives
/// Hessian of f at the vector x: the gradient, differentiated along
/// each axis.  f takes Vector<Var<Dual<T>>>, returns Var<Dual<T>>.
/// Shapes: x of n components; the result n x n.
template <class F, class X>
auto hessian(F&& f, const Eigen::MatrixBase<X>& x) {
  using T = typename X::Scalar;
  Matrix<T> H(x.size(), x.size());
  for (Index k = 0; k < x.size(); ++k) {
    Vector<Dual<T>> z(x.size());
    for (Index i = 0; i < x.size(); ++i) z(i) = {x(i), T(i == k)};
    const Vector<Dual<T>> g = gradient(f, z);
    for (Index i = 0; i < x.size(); ++i) H(i, k) = g(i).d;
  }
  return H;
}
}  // namespace attn
