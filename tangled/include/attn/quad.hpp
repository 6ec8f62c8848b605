// include/attn/quad.hpp: tangled from chapters/00-notation.nw; edit that file, not this one.
#pragma once
#include <Eigen/Core>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>

namespace attn {
// the type quad and its way back to double
/// IEEE binary128 in software: 113 bits, 33 digits.
using quad = boost::multiprecision::cpp_bin_float_quad;

/// The nearest double.
template <class S>
double to_double(const S& x) {
  return static_cast<double>(x);
}
}  // namespace attn

namespace Eigen {
// tell Eigen what a quad costs
template <>
struct NumTraits<attn::quad> : GenericNumTraits<attn::quad> {
  enum { RequireInitialization = 1, ReadCost = 4, AddCost = 16,
         MulCost = 16 };
  static int digits10() {
    return std::numeric_limits<attn::quad>::digits10;
  }
  static attn::quad dummy_precision() { return 1000 * epsilon(); }
};
}  // namespace Eigen
