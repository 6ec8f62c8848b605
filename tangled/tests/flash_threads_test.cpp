// tests/flash_threads_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -fopenmp
#include "prelude.hpp"
#include "verify.hpp"

#include <atomic>
#include <omp.h>

#include "flash_case.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)
using attn::flash;

// check that threads change no bit
template <class F>
void on_threads(F f) {
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    f(threads);
  }
  omp_set_num_threads(1);
}
BOOST_AUTO_TEST_CASE(each_thread_has_its_workspace) {
  on_threads([](int threads) {
    std::atomic<int> made = 0;
    std::vector<int> visits(50);
    const auto make = [&] { return ++made; };
    detail::in_parallel(50, make, [&](Index i, int) {
      ++visits[std::size_t(i)];
    });
    verify(std::abs(made - threads), 0);
    for (const int n : visits) verify(std::abs(n - 1), 0);
  });
}
template <class T>
void check_threads() {
  const Index n = 9 * 4 * detail::lanes<T> + 3, d = 8;
  const auto Q = gaussian<T>(n, 4 * d, 1), dO = gaussian<T>(n, 4 * d, 4);
  const auto K = gaussian<T>(n, 2 * d, 2), V = gaussian<T>(n, 2 * d, 3);
  const FlashHeads<T> many{4, 2, causal<T>(), {}, {0, 1, 2, 3}};
  HeadsOutput<T> y;
  HeadsGradient<T> g;
  on_threads([&](int threads) {
    const auto z = flash(Q, K, V, many);
    const auto h = flash_vjp(Q, K, V, z, dO, many);
    if (threads == 1) y = z, g = h;
    verify(distance(y.O, z.O) + distance(y.logZ, z.logZ), 0);
    verify(distance(g.Q, h.Q) + distance(g.K, h.K) + distance(g.V, h.V), 0);
    BOOST_TEST((g.sinks == h.sinks));
  });
}
BOOST_AUTO_TEST_CASE(threads_in_float) { check_threads<float>(); }
BOOST_AUTO_TEST_CASE(threads_in_double) { check_threads<double>(); }
BOOST_AUTO_TEST_CASE(threads_decoding) {
  const auto K = gaussian<float>(20000, 8, 1), V = gaussian<float>(20000, 4, 2);
  const RowVector<float> q = gaussian<float>(1, 8, 3);
  const std::vector<Page<float>> pages{{view_in<float>(K), view_in<float>(V)}};
  const auto y = decode<float>(q, pages);
  on_threads([&](int) {
    const auto z = decode<float>(q, pages);
    verify(distance(y.o, z.o) + distance(y.l, z.l) + distance(y.m, z.m), 0);
  });
}
BOOST_AUTO_TEST_CASE(threads_with_all_variants) {
  on_threads([](int) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
      check_backward(random_case<float>(seed));
  });
}
BOOST_AUTO_TEST_SUITE_END()
