// tests/elu_native_test.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
// flags: -march=native -Wno-uninitialized
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/linear.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(kernel)

// hold elu to its units
/// elu_features to 2 + slope |x| units in the last place.
template <class T>
void check_elu(double slope) {
  const T lowest = std::log(std::numeric_limits<T>::min());
  Matrix<T> x = lowest * uniform<T>(1, 40000, 1, "x").cwiseAbs();
  x.leftCols(20000) /= 40;
  const Matrix<T> y = elu_features(x);
  for (Index i = 0; i < x.size(); ++i) {
    const long double truth = std::exp((long double)x(i));
    const long double unit = std::ldexp(
        1.0L, std::ilogb(truth) + 1 - std::numeric_limits<T>::digits);
    verify(double(std::abs(y(i) - truth) / unit),
           2 + slope * std::abs(double(x(i))));
  }

  // check elu where it is zero, and of NaN
  for (const T far : {std::nextafter(lowest, 2 * lowest), 2 * lowest,
                      -std::numeric_limits<T>::infinity()}) {
    x.setConstant(far);
    verify(largest(elu_features(x)), 0);
  }
  for (Index i = 0; i < 40; ++i) {
    x.setConstant(T(-1));
    x(i) = std::numeric_limits<T>::quiet_NaN();
    const Matrix<T> taint = elu_features(x);
    BOOST_TEST((std::isnan(taint(i)) && !std::isnan(taint(39 - i))));
  }
}
BOOST_AUTO_TEST_CASE(elu_features_of_this_processor) {
  check_elu<float>(0x1p-4);
  check_elu<double>(0);
}
BOOST_AUTO_TEST_SUITE_END()
