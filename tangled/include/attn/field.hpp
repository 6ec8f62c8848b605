// include/attn/field.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#pragma once
#include "attn/product.hpp"
#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <stdexcept>

namespace attn {
// the numbers modulo a Mersenne prime
/// The field of integers modulo the Mersenne prime 2^Q - 1.
template <int Q>
struct Mersenne {
  static_assert(Q == 2 || Q == 3 || Q == 5 || Q == 7 || Q == 13 ||
                Q == 17 || Q == 19 || Q == 31 || Q == 61);
  using Word = std::uint64_t;
  static constexpr Word modulus = (Word(1) << Q) - 1;
  Word n = 0;  // the representative in 0 .. modulus - 1

  constexpr Mersenne() = default;

  // take an integer modulo $p$
  template <std::integral I>
  constexpr Mersenne(I k) {
    if constexpr (std::is_signed_v<I>) {
      const auto p = std::int64_t(modulus), r = std::int64_t(k) % p;
      n = Word(r < 0 ? r + p : r);
    } else {
      n = Word(k) % modulus;
    }
  }
  Mersenne(double) = delete;

  // add and subtract modulo $p$
  constexpr Mersenne& operator+=(Mersenne b) {
    n += b.n;
    if (n >= modulus) n -= modulus;
    return *this;
  }
  constexpr Mersenne& operator-=(Mersenne b) {
    n += modulus - b.n;
    if (n >= modulus) n -= modulus;
    return *this;
  }

  // multiply by folding the high half
  __extension__ using Wide = unsigned __int128;
  constexpr Mersenne& operator*=(Mersenne b) {
    const Wide x = Wide(n) * b.n;
    n = (Word(x) & modulus) + Word(x >> Q);
    if (n >= modulus) n -= modulus;  // never equal, since p is prime
    return *this;
  }

  // divide by Fermat's little theorem
  /// The inverse; throws std::domain_error for 0.
  constexpr Mersenne inverse() const {
    if (n == 0) throw std::domain_error("Mersenne: division by zero");
    Mersenne result(1), square(*this);
    for (Word e = modulus - 2; e > 0; e >>= 1) {
      if (e & 1) result *= square;
      square *= square;
    }
    return result;
  }
  constexpr Mersenne& operator/=(Mersenne b) {
    return *this *= b.inverse();
  }

  // draw an element from a random word
  static constexpr Mersenne random(Word word) {
    return Mersenne(word);
  }
  // no element is more probable than this
  static constexpr double likeliest =
      double(~Word(0) / modulus + 1) * 0x1p-64;

  // complete the operators of the field
  friend constexpr Mersenne operator+(Mersenne a, Mersenne b) {
    return a += b;
  }
  friend constexpr Mersenne operator-(Mersenne a, Mersenne b) {
    return a -= b;
  }
  friend constexpr Mersenne operator*(Mersenne a, Mersenne b) {
    return a *= b;
  }
  friend constexpr Mersenne operator/(Mersenne a, Mersenne b) {
    return a /= b;
  }
  friend constexpr Mersenne operator-(Mersenne a) {
    return Mersenne() - a;
  }
  friend constexpr auto operator<=>(Mersenne, Mersenne) = default;
  friend constexpr Mersenne abs(Mersenne a) { return a; }
  friend std::ostream& operator<<(std::ostream& out, Mersenne a) {
    return out << a.n;
  }
};
/// The field in which exact stamps are tried.
using Fp = Mersenne<61>;

// say how an element is multiplied
template <int Q>
inline constexpr bool by_coefficient<Mersenne<Q>> = true;
}  // namespace attn

namespace Eigen {
// tell Eigen about the field
template <int Q>
struct NumTraits<attn::Mersenne<Q>>
    : GenericNumTraits<attn::Mersenne<Q>> {
  using F = attn::Mersenne<Q>;
  using Real = F;
  using NonInteger = F;
  using Nested = F;
  using Literal = F;
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 0,
         RequireInitialization = 1, ReadCost = 1, AddCost = 2,
         MulCost = 6 };
};
}  // namespace Eigen
