// bench/flash_probe.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "flash_peak.hpp"
#include <benchmark/benchmark.h>
#include <limits>
#include <malloc.h>

// measure a fraction of the peak
template <class T, class F>
void run(benchmark::State& state, double operations, F f) {
  double fraction = 0, seconds = 0;
  for (auto _ : state) {
    const double before = peak<T>(), start = thread_seconds();
    f();
    const double t = thread_seconds() - start;
    fraction += operations / t / std::max(before, peak<T>());
    seconds += t;
  }
  using benchmark::Counter;
  state.counters["of_peak"] = Counter(fraction, Counter::kAvgIterations);
  state.counters["ms"] = Counter(1e3 * seconds, Counter::kAvgIterations);
}
inline double pairs(double n, bool causal) {
  return causal ? n * (n + 1) / 2 : n * n;
}
/// Freed memory stays with the program, whosever it was: what is timed is
/// arithmetic, not page faults.
inline void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

// time a peer
template <class A, class B>
bool near(const A& a, const B& b) {
  return ((a - b).cwiseAbs().array() < 2e-4f).all();  // NaN is not near
}
template <class F>
void peer(benchmark::State& state, Index H, Index n, bool causal, F f) {
  const Index d = 64;
  Ours<float> x(H, n, d, masked<float>(causal));
  x.forward();
  std::vector<Matrix<float>> O(x.p.size(), Matrix<float>(n, d));
  const auto all = [&] {
    for (std::size_t h = 0; h < O.size(); ++h) f(x.p[h], causal, O[h]);
  };
  all();
  for (std::size_t h = 0; h < O.size(); ++h)
    if (!near(O[h], x.p[h].O)) return state.SkipWithError("wrong output");
  run<float>(state, 4 * double(H * d) * pairs(double(n), causal), all);
}
