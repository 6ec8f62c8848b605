// tests/flash_avx512_x86_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O2 -march=skylake-avx512 -Wno-uninitialized
// needs: avx512f avx512dq avx512bw avx512vl

// include what each width checks
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_widths.hpp"

BOOST_AUTO_TEST_SUITE(flash)
BOOST_AUTO_TEST_CASE(kernel_for_avx512) {
  BOOST_TEST(attn::detail::width<float> == 16);
  attn::check_width(4000);
}
BOOST_AUTO_TEST_CASE(exponential_for_avx512) {
  attn::check_exp2_of_build();
}
BOOST_AUTO_TEST_SUITE_END()
