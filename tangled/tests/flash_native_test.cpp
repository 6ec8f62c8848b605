// tests/flash_native_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O3 -march=native -DNDEBUG -fopenmp -Wno-uninitialized

// include what each width checks
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_widths.hpp"

BOOST_AUTO_TEST_SUITE(flash)
BOOST_AUTO_TEST_CASE(kernel_for_this_processor) {
  attn::check_width(3000);
}
BOOST_AUTO_TEST_CASE(exponential_for_this_processor) {
  attn::check_exp2_of_build();
}
BOOST_AUTO_TEST_SUITE_END()
