// include/attn/quad.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#pragma once
#include "attn/product.hpp"
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <type_traits>

// show clang the quad functions
#ifdef __clang__
using _Float128 = __float128;
extern "C" {
_Float128 expf128(_Float128) noexcept, expm1f128(_Float128) noexcept,
    logf128(_Float128) noexcept, log1pf128(_Float128) noexcept,
    log2f128(_Float128) noexcept, powf128(_Float128, _Float128) noexcept,
    sqrtf128(_Float128) noexcept, sinf128(_Float128) noexcept,
    cosf128(_Float128) noexcept, tanf128(_Float128) noexcept,
    asinf128(_Float128) noexcept, acosf128(_Float128) noexcept,
    atanf128(_Float128) noexcept,
    atan2f128(_Float128, _Float128) noexcept,
    sinhf128(_Float128) noexcept, coshf128(_Float128) noexcept,
    tanhf128(_Float128) noexcept, erff128(_Float128) noexcept,
    lgammaf128(_Float128) noexcept, fabsf128(_Float128) noexcept,
    floorf128(_Float128) noexcept, ceilf128(_Float128) noexcept,
    ldexpf128(_Float128, int) noexcept;
int strfromf128(char*, std::size_t, const char*, _Float128) noexcept;
}
#endif
namespace attn {
// the type quad and its way back to double
/// IEEE binary128 in software: 113 bits, 33 digits.
struct quad {
  _Float128 x = 0;

  quad() = default;
  constexpr quad(_Float128 value) : x(value) {}

  // convert numbers to quads and back
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr quad(T value) : x(value) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr explicit operator T() const { return static_cast<T>(x); }

  // calculate with quads
  friend constexpr quad operator+(quad a, quad b) { return a.x + b.x; }
  friend constexpr quad operator-(quad a, quad b) { return a.x - b.x; }
  friend constexpr quad operator*(quad a, quad b) { return a.x * b.x; }
  friend constexpr quad operator/(quad a, quad b) { return a.x / b.x; }
  friend constexpr quad operator+(quad a) { return a; }
  friend constexpr quad operator-(quad a) { return -a.x; }
  constexpr quad& operator+=(quad b) { return *this = *this + b; }
  constexpr quad& operator-=(quad b) { return *this = *this - b; }
  constexpr quad& operator*=(quad b) { return *this = *this * b; }
  constexpr quad& operator/=(quad b) { return *this = *this / b; }
  friend constexpr bool operator==(quad a, quad b) { return a.x == b.x; }
  friend constexpr auto operator<=>(quad a, quad b) { return a.x <=> b.x; }

  // call the quad functions of the C library
  friend quad exp(quad a) { return ::expf128(a.x); }
  friend quad expm1(quad a) { return ::expm1f128(a.x); }
  friend quad log(quad a) { return ::logf128(a.x); }
  friend quad log1p(quad a) { return ::log1pf128(a.x); }
  friend quad log2(quad a) { return ::log2f128(a.x); }
  friend quad pow(quad a, quad b) { return ::powf128(a.x, b.x); }
  friend quad sqrt(quad a) { return ::sqrtf128(a.x); }
  friend quad sin(quad a) { return ::sinf128(a.x); }
  friend quad cos(quad a) { return ::cosf128(a.x); }
  friend quad tan(quad a) { return ::tanf128(a.x); }
  friend quad asin(quad a) { return ::asinf128(a.x); }
  friend quad acos(quad a) { return ::acosf128(a.x); }
  friend quad atan(quad a) { return ::atanf128(a.x); }
  friend quad atan2(quad a, quad b) { return ::atan2f128(a.x, b.x); }
  friend quad sinh(quad a) { return ::sinhf128(a.x); }
  friend quad cosh(quad a) { return ::coshf128(a.x); }
  friend quad tanh(quad a) { return ::tanhf128(a.x); }
  friend quad erf(quad a) { return ::erff128(a.x); }
  friend quad lgamma(quad a) { return ::lgammaf128(a.x); }
  friend quad abs(quad a) { return ::fabsf128(a.x); }
  friend quad floor(quad a) { return ::floorf128(a.x); }
  friend quad ceil(quad a) { return ::ceilf128(a.x); }
  friend quad ldexp(quad a, int n) { return ::ldexpf128(a.x, n); }
  friend bool isnan(quad a) { return a.x != a.x; }
  friend bool isinf(quad a) { return __builtin_isinf(a.x); }
  friend bool isfinite(quad a) { return __builtin_isfinite(a.x); }
  friend std::ostream& operator<<(std::ostream& out, quad a) {
    std::array<char, 64> text;
    ::strfromf128(text.data(), text.size(), "%.36g", a.x);
    return out << text.data();
  }
};
/// The nearest double.
template <class S>
double to_double(const S& x) {
  return static_cast<double>(x);
}

// say how a quad is multiplied
template <>
inline constexpr bool by_coefficient<quad> = true;
}  // namespace attn

// the limits of a quad
template <>
struct std::numeric_limits<attn::quad> : std::numeric_limits<double> {
  using quad = attn::quad;
  static constexpr int digits = 113, digits10 = 33, max_digits10 = 36,
                       min_exponent = -16381, max_exponent = 16384,
                       min_exponent10 = -4931, max_exponent10 = 4932;

  // raise two to a power at compile time
  static consteval quad power_of_two(int n) {
    if (n == 0) return 1;
    const quad half = power_of_two(n / 2);
    return half * half * (n % 2 == 0 ? 1 : n > 0 ? 2 : 0.5);
  }

  // the ends of the range of a quad
  static constexpr quad epsilon() { return power_of_two(-112); }
  static constexpr quad round_error() { return 0.5; }
  static constexpr quad min() { return power_of_two(-16382); }
  static constexpr quad denorm_min() { return power_of_two(-16494); }
  static constexpr quad max() {
    return (2 - epsilon()) * power_of_two(16383);
  }
  static constexpr quad lowest() { return -max(); }
  static constexpr quad infinity() { return HUGE_VAL; }
  static constexpr quad quiet_NaN() { return NAN; }
};
namespace Eigen {
// tell Eigen what a quad costs
template <>
struct NumTraits<attn::quad> : GenericNumTraits<attn::quad> {
  enum { RequireInitialization = 1, ReadCost = 2, AddCost = 16,
         MulCost = 16 };
  static int digits10() {
    return std::numeric_limits<attn::quad>::digits10;
  }
  static attn::quad dummy_precision() { return 1000 * epsilon(); }
};
}  // namespace Eigen
