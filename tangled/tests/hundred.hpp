// tests/hundred.hpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#pragma once
#include "attn/quad.hpp"
#include <boost/multiprecision/cpp_bin_float.hpp>

/// A hundred decimal digits.
using big = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<100>,
    boost::multiprecision::et_off>;

/// The same number in another type, carried in three doubles.
template <class To, class From>
To carry(From x) {
  const double size = std::abs(attn::to_double(x));
  const int e = size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
  x = ldexp(x, -e);
  To sum = 0;
  for (int part = 0; part < 3; ++part) {
    const double d = attn::to_double(x);
    sum += d;
    x -= d;
  }
  return ldexp(sum, e);
}
