// tests/flash_variants_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_case.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)

// take a variant through its instances
enum class Way { forward, back };
template <Way way, class T, class Change>
void check_instance(std::uint64_t seed, Change change) {
  Dice roll{seed};
  Case<T> c = plain_case<T>(roll, 10 * seed);
  change(c, roll);
  if constexpr (way == Way::forward) check_forward(c);
  else check_backward(c);
}
template <Way way, class Change>
void check_variant(Change change) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    check_instance<way, double>(seed, change);
    check_instance<way, float>(seed + 1000, change);
  }
}

// check the variants one by one
template <class Change>
void outputs(Change change) { check_variant<Way::forward>(change); }
template <class Change>
void gradients(Change change) { check_variant<Way::back>(change); }

BOOST_AUTO_TEST_CASE(outputs_with_causal) { outputs(with_causal); }
BOOST_AUTO_TEST_CASE(outputs_with_offset) { outputs(with_offset); }
BOOST_AUTO_TEST_CASE(outputs_with_window) { outputs(with_window); }
BOOST_AUTO_TEST_CASE(outputs_with_blocks) { outputs(with_blocks); }
BOOST_AUTO_TEST_CASE(outputs_with_bias) { outputs(with_bias); }
BOOST_AUTO_TEST_CASE(outputs_with_slope) { outputs(with_slope); }
BOOST_AUTO_TEST_CASE(outputs_with_softcap) { outputs(with_softcap); }
BOOST_AUTO_TEST_CASE(outputs_with_sink) { outputs(with_sink); }
BOOST_AUTO_TEST_CASE(outputs_with_lengths) { outputs(with_lengths); }
BOOST_AUTO_TEST_CASE(outputs_with_scale) { outputs(with_scale); }
BOOST_AUTO_TEST_CASE(outputs_with_tiny_tiles) {
  outputs(with_tiny_tiles);
}
BOOST_AUTO_TEST_CASE(outputs_with_one_query) {
  outputs(with_one_query);
}
BOOST_AUTO_TEST_CASE(outputs_with_one_key) { outputs(with_one_key); }
BOOST_AUTO_TEST_CASE(outputs_with_empty_rows) {
  outputs(with_empty_rows);
}
BOOST_AUTO_TEST_CASE(outputs_with_sharp_rows) {
  outputs(with_sharp_rows);
}
BOOST_AUTO_TEST_CASE(outputs_with_wide_features) {
  outputs(with_wide_features);
}
BOOST_AUTO_TEST_CASE(gradients_with_causal) { gradients(with_causal); }
BOOST_AUTO_TEST_CASE(gradients_with_offset) { gradients(with_offset); }
BOOST_AUTO_TEST_CASE(gradients_with_window) { gradients(with_window); }
BOOST_AUTO_TEST_CASE(gradients_with_blocks) { gradients(with_blocks); }
BOOST_AUTO_TEST_CASE(gradients_with_bias) { gradients(with_bias); }
BOOST_AUTO_TEST_CASE(gradients_with_slope) { gradients(with_slope); }
BOOST_AUTO_TEST_CASE(gradients_with_softcap) {
  gradients(with_softcap);
}
BOOST_AUTO_TEST_CASE(gradients_with_sink) { gradients(with_sink); }
BOOST_AUTO_TEST_CASE(gradients_with_lengths) {
  gradients(with_lengths);
}
BOOST_AUTO_TEST_CASE(gradients_with_scale) { gradients(with_scale); }
BOOST_AUTO_TEST_CASE(gradients_with_tiny_tiles) {
  gradients(with_tiny_tiles);
}
BOOST_AUTO_TEST_CASE(gradients_with_one_query) {
  gradients(with_one_query);
}
BOOST_AUTO_TEST_CASE(gradients_with_one_key) {
  gradients(with_one_key);
}
BOOST_AUTO_TEST_CASE(gradients_with_empty_rows) {
  gradients(with_empty_rows);
}
BOOST_AUTO_TEST_CASE(gradients_with_sharp_rows) {
  gradients(with_sharp_rows);
}
BOOST_AUTO_TEST_CASE(gradients_with_wide_features) {
  gradients(with_wide_features);
}
BOOST_AUTO_TEST_SUITE_END()
