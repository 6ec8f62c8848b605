// tests/flash_avx2_x86_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O3 -mavx2 -mfma -Wno-uninitialized
// needs: avx2 fma

// include what each width checks
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_widths.hpp"

BOOST_AUTO_TEST_SUITE(flash)
BOOST_AUTO_TEST_CASE(kernel_for_avx2) {
  BOOST_TEST(attn::detail::width<float> == 8);
  attn::check_width(5000);
}
BOOST_AUTO_TEST_CASE(exponential_for_avx2) {
  attn::check_exp2_of_build();
}
BOOST_AUTO_TEST_SUITE_END()
