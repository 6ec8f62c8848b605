// tests/flash_avx2_x86_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O3 -mavx2 -mfma -Wno-uninitialized
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_builds.hpp"

BOOST_AUTO_TEST_SUITE(flash)
BOOST_AUTO_TEST_CASE(compiled_at_o3_for_avx2) {
  if (!__builtin_cpu_supports("avx2")) return;
  attn::check_build(5000);
}
BOOST_AUTO_TEST_CASE(exponential_at_o3_for_avx2) {
  if (!__builtin_cpu_supports("avx2")) return;
  attn::check_exp2_of_build();
}
BOOST_AUTO_TEST_SUITE_END()
