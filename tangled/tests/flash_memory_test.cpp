// tests/flash_memory_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/flash.hpp"
#include "attn/random.hpp"
#include <sys/mman.h>

#include "allocations.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)

// check the count of transfers
/// A fast memory of M numbers that evicts what was used least recently.
struct Fast {
  Index M, used = 0, moved = 0;
  std::vector<std::pair<std::string, Index>> held{};  // last used last
  void touch(const std::string& name, Index size) {
    const auto at = std::find_if(held.begin(), held.end(), [&](auto& x) {
      return x.first == name;
    });
    if (at != held.end()) held.erase(at);
    else moved += size, used += size;
    held.emplace_back(name, size);
    while (used > M) used -= held.front().second, held.erase(held.begin());
  }
};
Index transfers(Index n, Index m, const FlashRule<double>& rule, Index d,
                Index e, Index M) {
  const Matrix<double> Q(n, d), K(m, d), V(m, e);
  Matrix<double> O(n, e);
  const FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                            view_in<double>(V), view_out(O), nullptr, rule};
  const detail::Plan<double> plan("transfers", h);
  Fast fast{M};
  const Index sweep = rule.groups * detail::lanes<double>;
  for (Index q = 0; q < n; q += sweep)
    detail::visit_tiles(plan, q, std::min(q + sweep, n),
                        [&](Index g, Index j, Index b) {
      const Index at = q + g * detail::lanes<double>;
      for (Index i = at; i < std::min(n, at + detail::lanes<double>); ++i)
        fast.touch("qo" + std::to_string(i), d + e + 1);
      for (Index k = j; k < j + b; ++k)
        fast.touch("kv" + std::to_string(k), d + e);
    });
  return fast.moved;
}
BOOST_AUTO_TEST_CASE(counted_transfers) {
  const Index d = 6, e = 3;
  for (const Index n : {8, 24, 60})
    for (const Index groups : {1, 2, 4})
      for (const Index b : {1, 5}) {
        FlashRule<double> rule;
        rule.groups = groups, rule.key_block = b;
        const Index B = groups * detail::lanes<double>, m = n + 5;
        const Index M = (B + 2 * b) * (d + e) + B, sweeps = (n + B - 1) / B;
        const Index moved = transfers(n, m, rule, d, e, M);
        const Index formula = n * d + sweeps * m * (d + e) + n * (e + 1);
        verify(double(std::max<Index>(0, moved - formula)), 0);
        verify(double(formula - moved), double((sweeps - 1) * M));
        if (groups == 1 && n == 60)
          refute(4.0 * double(n * m), double(formula));
      }
}
BOOST_AUTO_TEST_CASE(printed_traffic) {
  fact("printed", 4096.0 * 4096 * 64 / 51200);
  fact("compulsory", 4.0 * 4096 * 64);
  refute(4.0 * 4096 * 64 - 4096.0 * 4096 * 64 / 51200, 4096.0 * 64);
  const Index n = 256, lane = detail::lanes<double>;
  double keys[2], slack = 0;
  for (const int k : {0, 1}) {
    const Index d = 6 * (k + 1), groups = 4 / (k + 1), B = groups * lane;
    FlashRule<double> rule;
    rule.groups = groups, rule.key_block = 1;
    const Index M = (4 * lane + 4) * 12 + 4 * lane, sweeps = n / B;
    keys[k] = double(transfers(n, n, rule, d, d, M) - n * (2 * d + 1));
    slack += 4 * double(sweeps * M) / double(sweeps * n * 2 * d);
  }
  verify(std::abs(keys[1] / keys[0] - 4), slack);
  refute(keys[1] / keys[0] - 2, 1);
}

// check that the workspace does not grow
BOOST_AUTO_TEST_CASE(workspace_does_not_grow) {
  auto rule = causal_rule<float>();
  rule.left = 8;
  const Held small = held(1024, 64, rule), large = held(65536, 64, rule);
  fact("forward", small.forward);
  fact("both", small.both);
  verify(double(std::abs(small.forward - large.forward)), 0);
  verify(double(std::abs(small.both - large.both)), 0);
  verify(double(std::abs(small.calls - large.calls)), 0);
  verify(double(large.both), 1 << 20);
  BOOST_TEST(small.forward > 0);
}
BOOST_AUTO_TEST_CASE(printed_memory) {
  auto rule = causal_rule<float>();
  rule.left = 8;
  const Held narrow = held(1024, 32, rule), small = held(1024, 64, rule);
  const Held large = held(65536, 64, rule);
  const double wider = double(small.data) / double(narrow.data);
  const double longer = double(large.both) / double(small.both);
  fact("wider", wider, 3);
  fact("longer", longer, 3);
  refute(wider - 1, 0.9);
  refute(64 - longer, 62);
  for (const auto& [x, n, d] : {std::tuple{narrow, 1024, 32},
                                {small, 1024, 64}, {large, 65536, 64}})
    verify(std::abs(double(x.data) - 4.0 * n * (8 * d + 1)), 9 * 64);
}
BOOST_AUTO_TEST_CASE(workspace_at_every_length) {
  auto rule = causal_rule<float>();
  rule.left = 8;
  const Held first = held(512, 64, rule);
  for (const Index n : {700, 1024, 3000, 8192, 20000}) {
    const Held now = held(n, 64, rule);
    verify(double(std::abs(now.forward - first.forward)), 0);
    verify(double(std::abs(now.both - first.both)), 0);
    verify(double(std::abs(now.calls - first.calls)), 0);
  }
}
BOOST_AUTO_TEST_CASE(workspace_of_few_queries) {
  FlashRule<float> rule;
  rule.queries = 3;
  const Held small = held(1024, 16, rule), large = held(9000, 16, rule);
  verify(double(std::abs(small.forward - large.forward)), 0);
  verify(double(std::abs(small.both - large.both)), 0);
  verify(double(std::abs(small.calls - large.calls)), 0);
}
BOOST_AUTO_TEST_CASE(workspace_of_fewer_blocks) {
  FlashRule<float> rule;
  rule.queries = 3;
  const Held eight = held(8 * 128, 16, rule), one = held(128, 16, rule);
  const Held less = held(127, 16, rule);
  verify(std::abs(double(eight.forward - one.forward) - 4.0 * 3 * 7 * 128),
         7 * 64);  // and an address for each
  verify(double(std::abs(less.forward - one.forward)), 0);
}
BOOST_AUTO_TEST_CASE(workspace_of_one_long_block) {
  FlashRule<float> rule;
  rule.queries = 3, rule.key_block = std::numeric_limits<Index>::max();
  const Held one = held(9000, 16, rule), two = held(18000, 16, rule);
  verify(std::abs(double(two.forward - one.forward) - 4.0 * 3 * 9000), 500);
}
BOOST_AUTO_TEST_CASE(workspace_of_a_full_row) {
  const Held small = held(300, 16, {}), large = held(2400, 16, {});
  verify(double(std::abs(small.forward - large.forward)), 0);
  verify(double(std::abs(small.both - large.both)), 0);
}
BOOST_AUTO_TEST_CASE(workspace_of_groups) {
  const Index d = 16, lane = detail::lanes<float>;
  const auto take = [](Index n, Index groups) {
    FlashRule<float> rule;
    rule.groups = groups;
    return held(n, d, rule);
  };
  for (const Index G : {1, 2, 5})
    for (const Index more : {1, 2, 100}) {
      const Held all = take(G * lane, G), some = take(G * lane, G * more);
      verify(double(std::abs(all.forward - some.forward)), 0);
      verify(double(std::abs(all.both - some.both)), 0);
    }
  const Held one = take(6 * lane, 1);
  for (const Index G : {2, 3, 6}) {
    const Held now = take(6 * lane, G);
    const double added = double((G - 1) * lane), slack = 128 * double(G - 1);
    verify(std::abs(double(now.forward - one.forward) -
                    4 * added * (2 * d + 2)), slack);
    verify(std::abs(double(now.both - one.both) -
                    added * (4 * (3 * d + 5) + 8)), slack);
  }
}
template <class T>
Held held_by_variants(Index n) {
  const Matrix<T> bias = Matrix<T>::Zero(n, n);
  const Matrix<bool> keep = Matrix<bool>::Constant(n / 8, n / 8, true);
  auto rule = causal_rule<T>();
  rule.softcap = T(2), rule.slope = T(0.1), rule.sink = T(1);
  rule.bias = &bias, rule.keep = &keep, rule.keep_q = rule.keep_k = 8;
  Matrix<T> dbias;
  return held<T>(n, 24, rule, &dbias);
}
template <class T>
void check_held_by_variants() {
  const Held small = held_by_variants<T>(400), large = held_by_variants<T>(600);
  verify(double(std::abs(small.forward - large.forward)), 0);
  verify(double(std::abs(small.calls - large.calls)), 0);
  verify(std::abs(double(large.both - small.both) -
                  sizeof(T) * (600.0 * 600 - 400.0 * 400)), 0);
}
BOOST_AUTO_TEST_CASE(workspace_of_all_variants) {
  check_held_by_variants<float>();
  check_held_by_variants<double>();
}
Held held_together(Index n) {
  const Index q = detail::lanes<float> / 2 + 1, d = 24;
  const auto Q = gaussian<float>(8 * q, d, 1);
  const auto K = gaussian<float>(n, d, 2), V = gaussian<float>(n, d, 3);
  Matrix<float> O(8 * q, d);
  std::vector<FlashHead<float>> heads;
  for (Index h = 0; h < 8; ++h) {
    heads.push_back({detail::some_rows(view_in<float>(Q), h * q, q),
                     view_in<float>(K), view_in<float>(V),
                     detail::some_rows(view_out(O), h * q, q), nullptr, {}});
    heads.back().rule.slope = 0.125f * float(h + 1);
    heads.back().rule.sink = float(h);
  }
  counting = true;
  const long before = live, first = calls;
  most = live;
  flash_forward<float>(heads);
  return {most - before, most - before, calls - first, 0};
}
BOOST_AUTO_TEST_CASE(workspace_of_heads_together) {
  const Held small = held_together(300), large = held_together(9000);
  verify(double(std::abs(small.forward - large.forward)), 0);
  verify(double(std::abs(small.calls - large.calls)), 0);
  BOOST_TEST(small.forward > 0);
}
long held_by_sharing(Index n) {
  const Matrix<float> Q = Matrix<float>::Ones(70, 24), dO = Q.leftCols(7);
  const Matrix<float> K = Matrix<float>::Ones(n, 24), V = K.leftCols(7);
  Matrix<float> O = dO, dQ = Q, other = Q, dK = K, dV = V;
  Vector<float> logZ = Vector<float>::Constant(70, 9);
  const auto x = view_in<float>(dO);
  const FlashHead<float> head{view_in<float>(Q), view_in<float>(K),
                              view_in<float>(V), view_out(O), logZ.data(), {}};
  const std::array heads{head, head};
  const std::array bars{
      FlashCotangent<float>{x, nullptr, view_out(dQ), view_out(dK),
                            view_out(dV)},
      FlashCotangent<float>{x, nullptr, view_out(other), view_out(dK),
                            view_out(dV)}};
  counting = true;
  const long before = live;
  most = live;
  flash_backward<float>(heads, bars, 2);
  return most - before;
}
BOOST_AUTO_TEST_CASE(workspace_of_shared_keys) {
  const long one = held_by_sharing(200), two = held_by_sharing(400);
  verify(std::abs(double(two - one) - 4.0 * 200 * (24 + 7)), 0);
}
/// 24 blocks of 128 rows, of which only two can be read once it is closed.
struct Guarded {
  static constexpr Index block = 128, rows = 24 * block, d = 128;
  static constexpr std::size_t bytes = rows * d * sizeof(float);
  float* data = static_cast<float*>(mmap(
      nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
      -1, 0));
  explicit Guarded(const Matrix<float>& X) {
    if (data == MAP_FAILED) throw std::bad_alloc();
    std::copy_n(X.data(), X.size(), data);
  }
  void close() {
    const auto allow = [](float* at, std::size_t n, int what) {
      if (mprotect(at, n, what) != 0) throw std::runtime_error("mprotect");
    };
    allow(data, bytes, PROT_NONE);
    for (const Index k : {1, 9})
      allow(data + k * block * d, block * d * sizeof(float), PROT_READ);
  }
  ~Guarded() { munmap(data, bytes); }
  In<float> view() const { return {data, rows, d, Eigen::OuterStride<>(d)}; }
};
void read_what_is_seen(Index n, FlashRule<float> rule) {
  using G = Guarded;
  const auto Q = gaussian<float>(n, G::d, 1), dO = gaussian<float>(n, G::d, 4);
  Guarded K(gaussian<float>(G::rows, G::d, 2));
  Guarded V(gaussian<float>(G::rows, G::d, 3));
  const auto run = [&] {
    FlashOutput<float> y{Matrix<float>(n, G::d), Vector<float>(n)};
    std::array<Matrix<float>, 3> g{Q, Matrix<float>(G::rows, G::d),
                                   Matrix<float>(G::rows, G::d)};
    const FlashHead<float> head{view_in<float>(Q), K.view(), V.view(),
                                view_out(y.O), y.logZ.data(), rule};
    const FlashCotangent<float> bar{view_in<float>(dO), nullptr,
                                    view_out(g[0]), view_out(g[1]),
                                    view_out(g[2])};
    flash_forward<float>({&head, 1});
    flash_backward<float>({&head, 1}, {&bar, 1});
    return std::pair(y, g);
  };
  const auto [y, g] = run();
  K.close(), V.close();

  // compare what is had of the rest
  const auto [z, f] = run();
  verify(distance(z.O, y.O), 0);
  verify(distance(z.logZ, y.logZ), 0);
  for (std::size_t k = 0; k < 3; ++k) verify(distance(f[k], g[k]), 0);
  BOOST_TEST(y.O.cwiseAbs().minCoeff() > 0);
}
BOOST_AUTO_TEST_CASE(what_nobody_sees_is_not_read) {
  Matrix<bool> keep = Matrix<bool>::Constant(1, 24, false);
  keep(0, 1) = keep(0, 9) = true;
  for (const Index n : {1, 3, int(detail::lanes<float>) + 1}) {
    FlashRule<float> mask, window;
    mask.keep = &keep, mask.keep_q = n, mask.keep_k = Guarded::block;
    read_what_is_seen(n, mask);
    window.left = Guarded::block - n, window.right = 0;
    window.offset = 10 * Guarded::block - n;
    read_what_is_seen(n, window);
  }
}
BOOST_AUTO_TEST_SUITE_END()
