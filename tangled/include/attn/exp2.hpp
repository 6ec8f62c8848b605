// include/attn/exp2.hpp: tangled from chapters/09-flash.nw; edit that file, not this one.
#pragma once

// refuse to be compiled with fast math
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    __FINITE_MATH_ONLY__ + 0 != 0
#error "attn/exp2.hpp: -ffast-math breaks the exponential; remove it"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && \
    __FLT_EVAL_METHOD__ != 16
#error "attn/exp2.hpp: sums must be rounded to their type (-mfpmath=sse)"
#endif
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace attn {
namespace detail {
// list the coefficients of the exponential
template <class T>
struct Exp2;
template <>
struct Exp2<float> {
  using Bits = std::uint32_t;
  static constexpr std::array r{6.93147202855e-1f, 2.40226479136e-1f,
                                5.55033247119e-2f, 9.61843735696e-3f,
                                1.33988743934e-3f, 1.53533620689e-4f};
};
template <>
struct Exp2<double> {
  using Bits = std::uint64_t;
  static constexpr std::array r{
      6.9314718055994532581e-1, 2.4022650695910131260e-1,
      5.5504108664820083227e-2, 9.6181291075941200896e-3,
      1.3333558146774620517e-3, 1.5403530457112090860e-4,
      1.5252733493127489347e-5, 1.3215435282308487999e-6,
      1.0178199571842137974e-7, 7.0737832485031332991e-9,
      4.4347712982003767083e-10};
};
template <class T>
inline constexpr T exp2_shift =
    T(1.5) * T(typename Exp2<T>::Bits(1)
               << (std::numeric_limits<T>::digits - 1)) +
    T(std::numeric_limits<T>::max_exponent - 1);
template <class T>
inline constexpr T exp2_lowest =
    std::numeric_limits<T>::min_exponent - 1;

// multiply by a power of two
/// p 2^k, where k is the integer nearest to x and i = x + exp2_shift, whose
/// last bits are those of k and the bias; 0 if x is below the normal range.
template <class T>
inline T times_power(T x, T i, T p) {
  using Word = typename Exp2<T>::Bits;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  p *= std::bit_cast<T>(Word(std::bit_cast<Word>(i) << mantissa));
  const Word kept = x < exp2_lowest<T> ? Word(0) : ~Word(0);
  return std::bit_cast<T>(Word(std::bit_cast<Word>(p) & kept));
}
/// 2^f by the polynomial, of a number f of type T or of an array of them.
template <class T, class X>
inline X power_of_rest(const X& f) {
  constexpr auto& r = Exp2<T>::r;
  X p = f * r.back() + r[r.size() - 2];
#pragma GCC unroll 16
  for (int a = int(r.size()) - 3; a >= 0; --a)
    p = p * f + r[std::size_t(a)];
  p = p * f + T(1);
  return p;
}
}  // namespace detail

// compute a power of two
/// 2^x for x <= 127 (float) or 1023 (double), to 1.3 units in the last
/// place (in float for all x; in double as far as tried); exactly 1 at 0,
/// and exactly 0 below the normal range.  NaN stays NaN.  Written so that a
/// loop over it becomes vector code.
template <class T>
inline T exp2(T x) {
  constexpr T shift = detail::exp2_shift<T>;
  const T i = x + shift, f = x - (i - shift);
  return detail::times_power(x, i, detail::power_of_rest<T>(f));
}
}  // namespace attn
