// c/alone.hpp: tangled from chapters/10a-doors-checks.nw; edit that file, not this one.
// What the checks of hostile calls need of Boost and of the ledger.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

using Index = std::ptrdiff_t;
inline long wrong_in_all = 0;
inline std::map<std::string, std::function<void()>>& cases() {
  static std::map<std::string, std::function<void()>> all;
  return all;
}

// judge without a framework
inline void judge(bool good, const char* what, int line) {
  if (!good && ++wrong_in_all < 20) std::printf("%d: %s\n", line, what);
}
inline void verify(double error, double bound) {
  judge(error >= 0 && error <= bound, "beyond its bound", __LINE__);
}
inline void refute(double error, double bound) {
  judge(error >= bound, "within its bound", __LINE__);
}
inline void fact(const char* name, double x) {
  std::printf("  %s %.10g\n", name, x);
}
#define BOOST_TEST(what, ...) judge(bool(what), #what, __LINE__)
#define BOOST_TEST_REQUIRE(what) BOOST_TEST(what)
#define BOOST_AUTO_TEST_SUITE(name)
#define BOOST_AUTO_TEST_SUITE_END()
#define BOOST_AUTO_TEST_CASE(name)                           \
  static void name();                                        \
  static const bool name##_is_known =                        \
      cases().emplace(#name, name).second;                   \
  static void name()

// run all cases
int main() {
  for (const auto& [name, run] : cases()) {
    const long before = wrong_in_all;
    run();
    std::printf("%-24s %s\n", name.c_str(),
                wrong_in_all == before ? "passed" : "FAILED");
  }
  return wrong_in_all == 0 ? 0 : 1;
}
