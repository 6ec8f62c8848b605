// tests/flash_avx512_x86_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O2 -march=skylake-avx512 -Wno-uninitialized

// skip what the processor cannot run
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_widths.hpp"
namespace test = boost::unit_test;
static bool there() {
  return bool(__builtin_cpu_supports("avx512f")) &&
         bool(__builtin_cpu_supports("avx512dq")) &&
         bool(__builtin_cpu_supports("avx512bw")) &&
         bool(__builtin_cpu_supports("avx512vl"));
}
static test::assertion_result can_run(test::test_unit_id) {
  return test::assertion_result(there());
}

BOOST_AUTO_TEST_SUITE(flash)
BOOST_AUTO_TEST_CASE(avx512_is_there) {
  BOOST_TEST(attn::detail::width<float> == 16);
  attn::fact("ran", there() ? "ran" : "was not run");
}
BOOST_AUTO_TEST_CASE(kernel_for_avx512, *test::precondition(can_run)) {
  attn::check_width(4000);
}
BOOST_AUTO_TEST_CASE(exponential_for_avx512, *test::precondition(can_run)) {
  attn::check_exp2_of_build();
}
BOOST_AUTO_TEST_SUITE_END()
