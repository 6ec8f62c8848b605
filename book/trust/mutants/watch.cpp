// watch.cpp: linked with the checks, it renders two services besides.  ATTN_MUTANT=k
// makes mutant k active and ends the program at the first complaint.  ATTN_PASSED=file
// lists for each case how long it took and which mutants it could notice.
#include "mutant.hpp"
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

struct Watcher : boost::unit_test::test_observer {
  std::ofstream passed;
  int priority() override { return 8; }
  static void caught() { if (mutant::active > 0) std::_Exit(1); }
  void test_unit_start(const boost::unit_test::test_unit&) override {
    for (auto& p : mutant::passed) p = 0;
  }
  void test_unit_finish(const boost::unit_test::test_unit& unit, unsigned long us) override {
    if (!mutant::recording || unit.p_type != boost::unit_test::TUT_CASE) return;
    passed << unit.full_name() << '\t' << double(us) * 1e-6 << '\t'
           << boost::unit_test::results_collector.results(unit.p_id).passed();
    for (std::size_t k = 1; k < std::size(mutant::passed); ++k)
      if (mutant::passed[k]) passed << '\t' << (mutant::able[k] ? int(k) : -int(k));
    passed << std::endl;
  }
  void assertion_result(boost::unit_test::assertion_result r) override {
    if (r == boost::unit_test::AR_FAILED) caught();
  }
  void exception_caught(const boost::execution_exception&) override { caught(); }
  void test_aborted() override { caught(); }
};
static Watcher watcher;
static const bool watching = [] {
  if (const char* k = std::getenv("ATTN_MUTANT")) mutant::active = std::atoi(k);
  if (const char* f = std::getenv("ATTN_PASSED")) {   // one file for each rank
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    watcher.passed.open(rank ? std::string(f) + '.' + rank + ".passed" : f);
    mutant::recording = true;
  }
  return true;
}();
struct Watched {
  Watched() { boost::unit_test::framework::register_observer(watcher); }
};
BOOST_TEST_GLOBAL_FIXTURE(Watched);
