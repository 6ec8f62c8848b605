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

// compare with the definition in double
struct Row {
  RowVector<double> O, dQ;
  double L;
};
/// Rows from .. to - 1 in double.
template <class M>
Matrix<double> part(const M& m, Index from, Index to) {
  return m.middleRows(from, to - from).template cast<double>();
}
template <class T>
Row row_truth(const Problem<T>& p, const FlashRule<T>& rule, Index i) {
  const Index n = p.K.rows();
  const Index from = rule.left ? std::max<Index>(0, i - *rule.left) : 0;
  const Index to = rule.right ? std::min(n, i + *rule.right + 1) : n;
  const double scale = 1 / std::sqrt(double(p.Q.cols()));
  const Matrix<double> K = part(p.K, from, to), V = part(p.V, from, to);
  const RowVector<double> g = part(p.dO, i, i + 1);
  const Vector<double> s = scale * K * part(p.Q, i, i + 1).transpose();
  Vector<double> A = (s.array() - s.maxCoeff()).exp();
  const double Z = A.sum();
  A /= Z;
  const Vector<double> dA = V * g.transpose();
  const Vector<double> dS = A.array() * (dA.array() - A.dot(dA));
  return {A.transpose() * V, scale * dS.transpose() * K,
          s.maxCoeff() + std::log(Z)};
}
struct Column { RowVector<double> dK, dV; };
template <class T>
Column key_truth(const Problem<T>& p, const FlashRule<T>& rule, Index j) {
  const Index n = p.Q.rows();
  const double scale = 1 / std::sqrt(double(p.Q.cols()));
  const RowVector<double> k = part(p.K, j, j + 1), v = part(p.V, j, j + 1);
  Column x{0 * k, 0 * v};
  for (Index i = 0; i < n; ++i) {
    if ((rule.right && j > i + *rule.right) ||
        (rule.left && j < i - *rule.left)) continue;
    const RowVector<double> q = part(p.Q, i, i + 1);
    const RowVector<double> g = part(p.dO, i, i + 1);
    const double A = std::exp(scale * q.dot(k) - double(p.logZ(i)));
    const double D = g.dot(p.O.row(i).template cast<double>());
    x.dV += A * g;
    x.dK += scale * A * (g.dot(v) - D) * q;
  }
  return x;
}
template <class T>
  requires std::is_floating_point_v<T>
bool near(T a, double b) {
  return std::abs(double(a) - b) <
         2000 * double(std::numeric_limits<T>::epsilon());
}
template <class A>
bool near(const A& a, const Matrix<double>& b) {
  for (Index i = 0; i < b.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      if (!near(a(i, j), b(i, j))) return false;
  return true;
}
inline std::vector<Index> some_of(Index n) {
  return {0, n / 3, n / 2 + 1, n - 1};
}
template <class T>
bool outputs_right(const Problem<T>& p, const FlashRule<T>& rule,
                   const Matrix<T>& O, bool and_logZ = true) {
  for (const Index i : some_of(p.Q.rows())) {
    const Row t = row_truth(p, rule, i);
    if (!near(O.row(i), t.O) || (and_logZ && !near(p.logZ(i), t.L)))
      return false;
  }
  return true;
}
template <class T>
bool cotangents_right(const Problem<T>& p, const FlashRule<T>& rule) {
  for (const Index i : some_of(p.Q.rows())) {
    const Row t = row_truth(p, rule, i);
    const Column k = key_truth(p, rule, i);
    if (!near(p.dQ.row(i), t.dQ) || !near(p.dK.row(i), k.dK) ||
        !near(p.dV.row(i), k.dV))
      return false;
  }
  return true;
}

// time a peer
static bool first_time = true;
template <class F>
void peer(benchmark::State& state, Index H, Index n, bool causal, F f) {
  const Index d = 64;
  const auto rule = masked<float>(causal);
  const Ours<float> x(H, n, d, rule);
  std::vector<Matrix<float>> O(x.p.size(), Matrix<float>(n, d));
  const auto all = [&] {
    for (std::size_t h = 0; h < O.size(); ++h) f(x.p[h], causal, O[h]);
  };
  all();
  for (std::size_t h = 0; h < O.size(); ++h)
    if (first_time && !outputs_right(x.p[h], rule, O[h], false))
      return state.SkipWithError("wrong output");
  run<float>(state, 4 * double(H * d) * pairs(double(n), causal), all);
}
