// tests/doors_views_test.cpp: tangled from chapters/10a-doors-checks.nw; edit that file, not this one.
// flags: -Ibuild/src/c
#include "prelude.hpp"
#include "verify.hpp"
#include "views.hpp"
#include <algorithm>
#include <iterator>
#include <set>

namespace attn::door {
// throw dice of known numbers
struct Dice {
  std::uint64_t k;
  Index operator()(Index n) {
    k = k * 6364136223846793005u + 1442695040888963407u;
    return Index((k >> 33) % std::uint64_t(n));
  }
};
BOOST_AUTO_TEST_SUITE(doors_views)

// check what a view says
static attn_view random_view(Dice& roll, std::vector<double>& room) {
  attn_view v{room.data() + 2000, ATTN_F64, 2 + int(roll(3)), {}, {}};
  for (int k = 0; k < v.rank; ++k)
    v.extent[k] = roll(4), v.stride[k] = roll(31) - 15;
  return v;
}
BOOST_AUTO_TEST_CASE(addresses_are_the_definition) {
  std::vector<double> room(4000);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice roll{seed};
    const attn_view v = random_view(roll, room);
    const Array a = examined("check", "v", &v, 2, 4);
    Index k[4];
    for (k[0] = 0; k[0] < a.n[0]; ++k[0])
      for (k[1] = 0; k[1] < a.n[1]; ++k[1])
        for (k[2] = 0; k[2] < a.n[2]; ++k[2])
          for (k[3] = 0; k[3] < a.n[3]; ++k[3]) {
            // compare an address with its definition
            const double* p = static_cast<double*>(v.data);
            for (int l = 0; l < v.rank; ++l)
              p += v.stride[l] * k[4 - v.rank + l];
            verify(double(std::abs(
                       reinterpret_cast<std::intptr_t>(p) -
                       reinterpret_cast<std::intptr_t>(a.at(k[0], k[1], k[2], k[3])))),
                   0);
          }
  }
}
static std::multiset<std::intptr_t> addresses(const Array& a) {
  std::multiset<std::intptr_t> all;
  for (Index b = 0; b < a.n[0]; ++b)
    for (Index h = 0; h < a.n[1]; ++h)
      for (Index i = 0; i < a.n[2]; ++i)
        for (Index j = 0; j < a.n[3]; ++j)
          for (Index byte = 0; byte < a.bytes(); ++byte)
            all.insert(reinterpret_cast<std::intptr_t>(a.at(b, h, i, j)) +
                       byte);
  return all;
}
static bool injective(const std::multiset<std::intptr_t>& all) {
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}
BOOST_AUTO_TEST_CASE(nested_arrays_are_disjoint) {
  std::vector<double> room(4000);
  long yes = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Dice roll{seed};
    const attn_view v = random_view(roll, room);
    const Array a = examined("check", "v", &v, 2, 4);
    verify(nested(a) && !injective(addresses(a)), 0);
    BOOST_TEST((a.size() > 0 || nested(a)));
    yes += a.size() > 0 && nested(a);

    // cut a contiguous array and ask again
    attn_view w{room.data(), ATTN_F64, 4, {}, {}};
    Index step = 1;
    double* at = room.data();
    for (int k = 0; k < 4; ++k) {
      const Index n = 1 + roll(5), first = roll(n), c = 1 + roll(3);
      w.extent[k] = (n - first + c - 1) / c, w.stride[k] = c * step;
      at += first * step;
      if (roll(2)) {
        at += (w.extent[k] - 1) * w.stride[k];
        w.stride[k] = -w.stride[k];
      }
      step *= n;
    }
    w.data = at;
    for (int k = 3; k > 0; --k) {
      const auto l = roll(k + 1);
      std::swap(w.extent[k], w.extent[l]), std::swap(w.stride[k], w.stride[l]);
    }
    verify(!nested(examined("check", "w", &w, 4, 4)), 0);
  }
  fact("nested", yes);
  BOOST_TEST(yes > 100);
  const attn_view odd{room.data(), ATTN_F64, 2, {3, 2}, {2, 3}};
  const Array a = examined("check", "odd", &odd, 2, 4);
  BOOST_TEST(injective(addresses(a)));
  BOOST_TEST(!nested(a));
}
BOOST_AUTO_TEST_CASE(disjoint_arrays_are_disjoint) {
  std::vector<double> room(4000);
  long yes = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Dice roll{seed};
    attn_view v = random_view(roll, room), w = random_view(roll, room);
    if (roll(2)) {
      w.rank = v.rank;
      std::copy(v.stride, v.stride + 4, w.stride);
      v.stride[0] = w.stride[0] = 15 + roll(30);
    }
    w.data = room.data() + 1980 + roll(41);
    const Array a = examined("check", "v", &v, 2, 4);
    const Array b = examined("check", "w", &w, 2, 4);
    if (!disjoint(a, b)) continue;

    // demand that no address is in both
    const auto p = addresses(a), q = addresses(b);
    std::vector<std::intptr_t> both;
    std::set_intersection(p.begin(), p.end(), q.begin(), q.end(),
                          std::back_inserter(both));
    verify(double(both.size()), 0);
    const Span s = span_of(a), t = span_of(b);
    const bool far = a.size() == 0 || b.size() == 0 || s.hi <= t.lo ||
                     t.hi <= s.lo;
    if (far) continue;
    ++yes;
  }
  fact("disjoint", yes);

  // take a packed array apart
  const Index d = 5, row = 12 * d;
  const auto packed = [&](Index from, Index heads) {
    const attn_view v{room.data() + from * d, ATTN_F64, 3, {heads, 6, d},
                      {d, row, 1}};
    return examined("check", "packed", &v, 3, 3);
  };
  const Array Q = packed(0, 8), K = packed(8, 2), V = packed(10, 2);
  BOOST_TEST((disjoint(Q, K) || disjoint(K, Q)));
  BOOST_TEST((disjoint(Q, V) || disjoint(V, Q)));
  BOOST_TEST((disjoint(K, V) || disjoint(V, K)));
  const Array more = packed(0, 9);
  BOOST_TEST(!disjoint(more, K));
  BOOST_TEST(!disjoint(K, more));

  // judge arrays at the ends of memory
  for (const std::uintptr_t p : {~std::uintptr_t(7), std::uintptr_t(8),
                                 ~std::uintptr_t(7) >> 1 & ~std::uintptr_t(7)})
    for (const std::int64_t t : {1L << 56, -(1L << 56), (1L << 57) - 2}) {
      const attn_view v{reinterpret_cast<void*>(p), ATTN_F64, 3, {2, 1, 1},
                        {t, -t, 1}};
      const attn_view w{room.data(), ATTN_F64, 3, {2, 2, 1}, {-t, 1, 1}};
      const Array x = examined("f", "v", &v, 3, 3);
      const Array y = examined("f", "w", &w, 3, 3);
      BOOST_TEST((nested(x) && nested(y)));
      BOOST_TEST((!disjoint(x, x) && !disjoint(y, y)));
      BOOST_TEST((disjoint(x, y) || disjoint(y, x)));
    }
  const attn_view nothing{nullptr, ATTN_F64, 3, {4, 0, 3}, {9, 3, 1}};
  const Array none = examined("f", "none", &nothing, 3, 3);
  BOOST_TEST((none.at(0, 3, 0, 2) == nullptr));
  BOOST_TEST(yes > 50);
}
BOOST_AUTO_TEST_CASE(lies_are_refused) {
  alignas(8) static char bytes[800];
  const attn_view good{bytes, ATTN_F64, 2, {4, 5}, {5, 1}};
  BOOST_CHECK_NO_THROW(examined("f", "X", &good, 2, 4));
  const attn_view most{bytes, ATTN_F64, 2, {2, 5},
                       {(std::int64_t(1) << 57) - 5, 1}};
  BOOST_CHECK_NO_THROW(examined("f", "X", &most, 2, 4));
  const auto refused = [&](auto lie) {
    attn_view v = good;
    lie(v);
    try {
      examined("f", "X", &v, 2, 4);
      BOOST_TEST(false, "not refused");
    } catch (const std::invalid_argument& e) {
      BOOST_TEST(std::string(e.what()).find("f: X ") == 0U);
    }
  };

  // tell every lie that can be seen
  constexpr std::int64_t huge = std::int64_t(1) << 62;
  refused([](auto& v) { v.rank = 1; });
  refused([](auto& v) { v.rank = 5; });
  refused([](auto& v) { v.rank = -1; });
  refused([](auto& v) { v.type = 0; });
  refused([](auto& v) { v.type = 6; });
  refused([](auto& v) { v.extent[0] = -1; });
  refused([](auto& v) { v.extent[0] = huge; });
  refused([](auto& v) { v.extent[0] = huge, v.extent[1] = 0; });
  refused([](auto& v) { v.stride[0] = huge; });
  refused([](auto& v) { v.stride[1] = -huge; });
  refused([](auto& v) { v.stride[0] = INT64_MIN; });
  refused([](auto& v) { v.extent[0] = 1, v.stride[0] = huge / 32; });
  refused([](auto& v) { v.extent[0] = 1, v.stride[0] = -huge / 32; });
  refused([](auto& v) { v.extent[0] = 2, v.stride[0] = huge / 32 - 4; });
  refused([](auto& v) { v.data = nullptr; });
  refused([](auto& v) { v.data = bytes + 4; });
}
BOOST_AUTO_TEST_SUITE_END()
}  // namespace attn::door
