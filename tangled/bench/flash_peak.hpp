// bench/flash_peak.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "attn/flash.hpp"
#include "attn/random.hpp"
#include <ctime>
using namespace attn;

// measure what the processor can do
inline double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
/// Tells the compiler that somebody will look at this.
inline void keep(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

/// Operations per second of independent multiply-adds in T.
template <class T>
[[gnu::noinline]] double peak() {
  using detail::Lane, detail::tile_rows;
  Lane<T> c[tile_rows], x = Lane<T>::Constant(T(1e-3));
  for (int i = 0; i < tile_rows; ++i)  // different, or they become one
    c[i].setLinSpaced(T(i), T(i + 1)), keep(&c[i]);
  const T a = T(0.999);
  const int rounds = 30000;
  const double start = thread_seconds();
  for (int k = 0; k < rounds; ++k)
#pragma GCC unroll 8
    for (int i = 0; i < tile_rows; ++i) c[i] = c[i] * a + x;
  const double seconds = thread_seconds() - start;
  for (auto& y : c) keep(&y);
  return 2.0 * rounds * tile_rows * detail::lanes<T> / seconds;
}
/// Exponentials per second, with maximum, sum and store.
[[gnu::noinline]] inline double exp_rate() {
  using Lane = detail::Lane<float>;
  std::vector<Lane> s(128, Lane::LinSpaced(-20, 0));
  Lane top = s[0], l = s[0];
  const double start = thread_seconds();
  for (int round = 0; round < 200; ++round) {
    for (const auto& x : s) top = top.max(x);
    detail::exp2_lanes(s.data(), 128, top);
    for (const auto& x : s) l += x;
    keep(s.data());
  }
  keep(&l);
  return 200 * 128 * detail::lanes<float> / (thread_seconds() - start);
}
/// Bytes per second of reading x.
[[gnu::noinline]] inline double read_rate(const Matrix<float>& x) {
  const double start = thread_seconds();
  const float sum = x.sum();
  keep(&sum);
  return 4.0 * double(x.size()) / (thread_seconds() - start);
}
/// The sum of n numbers, from two places at once.
[[gnu::noinline]] inline float total(const float* x, Index n) {
  using R = detail::Register<float>;
  constexpr Index w = detail::width<float>;
  R::Full sum[8] = {};
  const float* y = x + n / 2;
  for (Index i = 0; i + 4 * w <= n / 2; i += 4 * w)
    for (int k = 0; k < 4; ++k) {
      sum[k] += R::load(x + i + k * w);
      sum[4 + k] += R::load(y + i + k * w);
    }
  for (int k = 1; k < 8; ++k) sum[0] += sum[k];
  return sum[0][0];
}

// pose the problem to contestants
template <class T>
struct Problem {
  Matrix<T> Q, K, V, dO, O, dQ, dK, dV;
  Vector<T> logZ;
  Problem(Index n, Index d, std::uint64_t seed)
      : Q(gaussian<T>(n, d, seed)), K(gaussian<T>(n, d, seed + 1)),
        V(gaussian<T>(n, d, seed + 2)), dO(gaussian<T>(n, d, seed + 3)),
        O(n, d), dQ(n, d), dK(n, d), dV(n, d), logZ(n) {}
  /// Queries on a cache.
  Problem(const Matrix<T>& q, const Matrix<T>& keys, const Matrix<T>& values)
      : Q(q), K(keys), V(values),
        dO(Matrix<T>::Zero(q.rows(), values.cols())) {}
};

// time the kernel
template <class T>
struct Ours {
  std::vector<Problem<T>> p;
  std::vector<FlashHead<T>> heads;
  std::vector<FlashCotangent<T>> bars;
  Ours(Index H, Index n, Index d, const FlashRule<T>& rule) {
    for (Index h = 0; h < H; ++h) p.emplace_back(n, d, 4 * h + 1);
    for (auto& x : p) {
      heads.push_back({view_in<T>(x.Q), view_in<T>(x.K), view_in<T>(x.V),
                       view_out(x.O), x.logZ.data(), rule});
      bars.push_back({view_in<T>(x.dO), nullptr, view_out(x.dQ),
                      view_out(x.dK), view_out(x.dV)});
    }
  }
  void forward() { flash_forward<T>(heads); }
  void backward() { flash_backward<T>(heads, bars); }
};
template <class T>
FlashRule<T> masked(bool is_causal) {
  return is_causal ? causal_rule<T>() : FlashRule<T>{};
}
