// tests/proving_test.cpp: tangled from chapters/92-proving-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/rounding.hpp"
#include <cmath>
using namespace attn;

BOOST_AUTO_TEST_SUITE(proving)

// check the tangent of the logarithm
BOOST_AUTO_TEST_CASE(logarithm_below_its_tangent) {
  const double u = unit_roundoff<double>();
  for (double x = 0x1p-1022; x < 0x1p1022; x *= 1.01) {
    const double log = std::log(x);
    verify(std::max(log - (x - 1), 0.0),
           2 * u * (std::abs(log) + std::abs(x - 1)));
  }
  verify(std::abs(std::log(1.0) - (1.0 - 1)), 0);
}
BOOST_AUTO_TEST_SUITE_END()
