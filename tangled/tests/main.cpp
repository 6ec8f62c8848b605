// tests/main.cpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <cstdlib>
#include <fstream>
#include <iostream>
namespace test = boost::unit_test;

// observe each case and write the ledger
struct Observer : test::test_observer {
  std::ofstream out;
  bool aborted = false;

  int priority() override { return 9; }  // after Boost's own collector
  void test_unit_start(const test::test_unit& unit) override {
    if (unit.p_type == test::TUT_CASE) attn::record() = {};
  }

  // write what a finished case measured
  void test_unit_finish(const test::test_unit& unit,
                        unsigned long microseconds) override {
    if (unit.p_type != test::TUT_CASE) return;
    const std::string name = unit.full_name();
    const bool passed =
        test::results_collector.results(unit.p_id).passed();
    out << "case\t" << name << '\t' << (passed ? "passed" : "failed")
        << '\t' << unit.p_file_name << ':' << unit.p_line_num << '\t'
        << double(microseconds) * 1e-6 << '\n';

    // write the worst of each kind and the facts
    const char* kind[] = {"bound", "exact", "refuted"};
    for (std::size_t k = 0; k < 3; ++k) {
      const attn::Tally& t = attn::record().tally[k];
      if (t.instances > 0)
        out << "verify\t" << name << '\t' << kind[k] << '\t'
            << t.instances << '\t' << t.error << '\t' << t.bound
            << '\t' << t.ratio << '\n';
    }
    out << attn::record().facts.str() << std::flush;

    // say how many failures were not told
    if (const long more = attn::record().failures - 3; more > 0)
      std::cout << unit.p_file_name << '(' << unit.p_line_num
                << "): error: in \"" << name << "\": " << more
                << " more failures\n" << std::flush;
  }
  void test_aborted() override { aborted = true; }
  void test_finish() override {
    if (!aborted) out << "end" << std::endl;
  }
};

// start the observer and the checks
static Observer observer;

static bool begin() {
  if (const char* name = std::getenv("ATTN_LEDGER")) {
    observer.out.open(name);
    observer.out.precision(17);
  }
  test::framework::register_observer(observer);
  return true;
}
int main(int argc, char** argv) {
  setenv("RC_PARAMS", "seed=1", 0);
  return test::unit_test_main(begin, argc, argv);
}
