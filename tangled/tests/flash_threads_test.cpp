// tests/flash_threads_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -fopenmp -Wno-mismatched-new-delete
#include "prelude.hpp"
#include "verify.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>
#include <omp.h>

#include "flash_case.hpp"
using namespace attn;

// let memory run out
static std::atomic<long> allowed = -1;  // allocations left, or no limit
static void* granted(std::size_t n, std::size_t align) {
  long left = allowed;
  while (left > 0 && !allowed.compare_exchange_weak(left, left - 1)) {}
  void* p = left == 0 ? nullptr
                      : std::aligned_alloc(align, (n / align + 1) * align);
  if (!p) throw std::bad_alloc{};
  return p;
}
void* operator new(std::size_t n) { return granted(n, 16); }
void* operator new(std::size_t n, std::align_val_t a) {
  return granted(n, std::size_t(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

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
  const Index least = detail::stack_from, d = 8;
  const Index n = std::max<Index>(9 * 4 * detail::lanes<T>, least) + 3;
  const auto Q = gaussian<T>(n, 4 * d, 1), dO = gaussian<T>(n, 4 * d, 4);
  const auto K = gaussian<T>(n, 2 * d, 2), V = gaussian<T>(n, 2 * d, 3);
  const FlashHeads<T> many{4, 2, causal_rule<T>(), {}, {0, 1, 2, 3}};
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
  const auto q = gaussian<float>(5, 8, 3);
  const std::vector<Page<float>> pages{{view_in<float>(K), view_in<float>(V)}};
  const auto y = decode<float>(q, pages, FlashRule<float>{});
  on_threads([&](int) {
    const auto z = decode<float>(q, pages, FlashRule<float>{});
    for (std::size_t i = 0; i < 5; ++i)
      verify(distance(y[i].o, z[i].o) + distance(y[i].l, z[i].l) +
                 distance(y[i].m, z[i].m), 0);
  });
}
BOOST_AUTO_TEST_CASE(threads_with_few_queries) {
  const Index n = 3, m = 700, d = 5;
  const auto Q = gaussian<float>(n, 40 * d, 1);
  const auto K = gaussian<float>(m, 5 * d, 2), V = gaussian<float>(m, 5 * d, 3);
  const FlashHeads<float> many{40, 5};
  const auto y = flash(Q, K, V, many);
  on_threads([&](int) {
    const auto z = flash(Q, K, V, many);
    verify(distance(y.O, z.O) + distance(y.logZ, z.logZ), 0);
  });
}
BOOST_AUTO_TEST_CASE(threads_with_all_variants) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto c = random_case<float>(seed, 3 * detail::lanes<float>);
    const auto g = check_backward<double>(c);
    on_threads([&](int) {
      const auto h = check_backward<double>(c);
      verify(distance(g.Q, h.Q) + distance(g.K, h.K) + distance(g.V, h.V), 0);
      verify(distance(g.bias, h.bias) + distance(g.sink, h.sink), 0);
    });
  }
}

// check that exceptions come home
void fail_at_five(Index i, int) {
  if (i == 5) throw std::domain_error("the fifth");
}
template <class F>
long failures(F f) {
  for (long k = 0; k < 1000; ++k) {
    allowed = k;
    try {
      f();
      allowed = -1;
      return k;
    } catch (const std::bad_alloc&) {
      allowed = -1;
    }
  }
  return -1;
}
BOOST_AUTO_TEST_CASE(memory_that_runs_out_is_told) {
  const Index n = 3 * 4 * detail::lanes<float> + 3;
  const auto Q = gaussian<float>(n, 16, 1, "Q");
  const auto K = gaussian<float>(n, 4, 1, "K");
  const FlashHeads<float> many{4, 1, causal_rule<float>()};
  const auto y = flash(Q, K, K, many);
  const auto g = flash_vjp(Q, K, K, y, Q, many);
  const auto pages = paged(K, K, 9);
  const Matrix<float> few = K.topRows(3);
  const FlashRule<float> rule;
  on_threads([&](int threads) {
    HeadsOutput<float> z;
    HeadsGradient<float> h;
    BOOST_TEST(failures([&] { z = flash(Q, K, K, many); }) >= threads);
    const auto back = [&] { h = flash_vjp(Q, K, K, y, Q, many); };
    BOOST_TEST(failures(back) >= threads);
    verify(distance(z.O, y.O) + distance(h.Q, g.Q) + distance(h.K, g.K), 0);
    BOOST_TEST(failures([&] { decode<float>(few, pages, rule); }) >= threads);
  });
}
BOOST_AUTO_TEST_CASE(exceptions_come_home) {
  on_threads([](int) {
    const auto one = [] { return 1; };
    std::atomic<int> begun = 0;
    const auto fail_at = [&](Index task) {
      return [&begun, task](Index i, int) {
        ++begun;
        if (i == task) throw std::domain_error("the fortieth");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      };
    };
    const auto nothing = [](Index, int) {};
    BOOST_CHECK_EXCEPTION(detail::in_parallel(1000, one, fail_at(960)),
                          std::domain_error, says("the fortieth"));
    BOOST_TEST(begun.exchange(0) < 500);
    BOOST_CHECK_EXCEPTION(detail::in_turn(1000, one, fail_at(39), nothing),
                          std::domain_error, says("the fortieth"));
    BOOST_TEST(begun < 500);
    BOOST_CHECK_EXCEPTION(detail::in_turn(9, one, nothing, fail_at_five),
                          std::domain_error, says("the fifth"));
  });
}
BOOST_AUTO_TEST_CASE(turns_are_in_order) {
  on_threads([](int) {
    std::vector<Index> order;
    detail::in_turn(50, [] { return 1; }, [](Index, int) {},
                    [&](Index i, int) { order.push_back(i); });
    for (std::size_t i = 0; i < 50; ++i)
      verify(std::abs(double(order[i]) - double(i)), 0);
  });
}
BOOST_AUTO_TEST_SUITE_END()
