// tests/variants_mask_test.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <memory>
#include "variants.hpp"

BOOST_AUTO_TEST_SUITE(variants)

// check masks by their definitions
BOOST_AUTO_TEST_CASE(cover_is_sound) {
  Index open = 0;
  for (const auto& [n, m] : extents)
    for (const Mask& mask : zoo(n, m))
      for (Index i0 = 0; i0 < n; ++i0)
        for (Index i1 = i0 + 1; i1 <= n; ++i1)
          for (Index j0 = 0; j0 < m; ++j0)
            for (Index j1 = j0 + 1; j1 <= m; ++j1) {
              const Block b{i0, i1, j0, j1};
              Index allowed = 0;
              for (Index i = i0; i < i1; ++i)
                for (Index j = j0; j < j1; ++j) allowed += mask.allows(i, j);
              const Cover c = mask.covers(b);
              if (c == Cover::none) verify(double(allowed), 0);
              if (c == Cover::all) verify(double(b.pairs() - allowed), 0);
              open += c == Cover::some &&
                      (allowed == 0 || allowed == b.pairs());
            }
  fact("open", int(open));
}
BOOST_AUTO_TEST_CASE(masks_by_their_definitions) {
  for (const auto& [n, m] : extents) {
    const auto all = zoo(n, m);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j) {
        const Index t = j - i - (m - n), s = j - i;
        const bool same = i / 2 == (j + 1) / 3;
        const std::vector<bool> truth{
            true, t <= 0, s <= 0, t == 0 || t == -1, -1 <= s && s <= 2,
            i < n / 2 && j < m - m / 3, t % 3 == 0, same};
        for (std::size_t k = 0; k < truth.size(); ++k)
          verify(all[k].allows(i, j) == truth[k] ? 0 : 1, 0);
        const bool global = (t >= -1 && t <= 1) || j < 1 || i + m - n == 0;
        verify(all[10].allows(i, j) == global ? 0 : 1, 0);
        verify(all[11].allows(i, j) == (t <= 0 && !same) ? 0 : 1, 0);
        verify(all[12].allows(i, j), 0);
      }
  }
}
BOOST_AUTO_TEST_CASE(bands_and_strides_are_sharp) {
  const Index n = 9, m = 12;
  for (const Mask& mask :
       {causal(n, m), window(n, m, 2, 1), strided(n, m, 4),
        strided(n, m, 1), padding(n, m, 4, 7), padding(n, m, n, m),
        global_tokens(n, m, 5), global_tokens(n, m, 2, -4),
        global_tokens(n, m, 0, -4), random_tiles(n, m, 2, 1, 5)})
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j)
        for (const Index e : {1, 2, 3}) {
          const Block b{i, std::min(i + e, n), j, std::min(j + e, m)};
          const Index allowed = dense(mask).block(
              i, j, b.i1 - i, b.j1 - j).count();
          verify((allowed == 0) != (mask.covers(b) == Cover::none), 0);
          verify((allowed == b.pairs()) != (mask.covers(b) == Cover::all), 0);
        }
  const std::vector<Index> low{0, 0}, high{1, 1};
  const Block two{0, 2, 0, 2};
  BOOST_TEST((segments(low, high).covers(two) == Cover::none));
  BOOST_TEST((segments(high, low).covers(two) == Cover::none));
  BOOST_TEST((segments(low, low).covers(two) == Cover::all));
  BOOST_TEST(((!everything(2, 2)).covers(two) == Cover::none));
  BOOST_TEST(((!!everything(2, 2)).covers(two) == Cover::all));
}
BOOST_AUTO_TEST_CASE(masks_of_given_positions) {
  const std::vector<Index> q{0, 1, 2, 0, 1, -7, 40}, k{0, 1, 2, 3, 0, 1, 9, 2};
  const Positions at{Places(q), Places(k)};
  const Mask masks[] = {causal(at), window(at, 2, 1), strided(at, 3),
                        global_tokens(at, 2), everything(at)};
  for (Index i = 0; i < std::ssize(q); ++i)
    for (Index j = 0; j < std::ssize(k); ++j) {
      const Index p = q[std::size_t(i)], r = k[std::size_t(j)], t = r - p;
      verify(std::abs(double(at.offset(i, j) - t)), 0);
      const bool truth[] = {t <= 0, -2 <= t && t <= 1, t % 3 == 0,
                            r < 2 || (0 <= p && p < 2), true};
      for (int m = 0; m < 5; ++m)
        verify(masks[m].allows(i, j) == truth[m] ? 0 : 1, 0);
    }

  // check the answers of masks for all rectangles
  for (const Mask& m : masks)
    for (Index i0 = 0; i0 < m.n_q(); ++i0)
      for (Index i1 = i0; i1 <= m.n_q(); ++i1)
        for (Index j0 = 0; j0 < m.n_k(); ++j0)
          for (Index j1 = j0; j1 <= m.n_k(); ++j1) {
            const Block b{i0, i1, j0, j1};
            const Index in = dense(m).block(i0, j0, i1 - i0, j1 - j0).count();
            const Cover c = m.covers(b);
            verify(c == Cover::none && in > 0, 0);
            verify(c == Cover::all && in < b.pairs(), 0);
          }
}
BOOST_AUTO_TEST_CASE(positions_of_masks_agree) {
  const Mask early = causal(2, 4, 0), late = causal(2, 4);
  BOOST_CHECK_EXCEPTION(early & late, std::invalid_argument,
                        says("place queries and keys differently"));
  BOOST_CHECK_EXCEPTION(early | late, std::invalid_argument,
                        says("place queries and keys differently"));
  const Mask pad = padding(2, 4, 2, 3);
  for (const Mask& m : {early & pad, pad & early, !(pad | early)}) {
    verify(m.placed() && m.at() == early.at() ? 0 : 1, 0);
    const Mask cut = part(transposed(m), {1, 4, 1, 2});
    verify(std::abs(double(cut.at().offset(2, 0) + 2)), 0);
    verify(double(dense(cut) != dense(m).block(1, 1, 1, 3).transpose()), 0);
  }
  verify(pad.placed() || (pad & pad).placed(), 0);
  verify(placed_at(early, late.at()).at() == late.at() ? 0 : 1, 0);
  BOOST_TEST((Places(3, 5) == Places(std::vector<Index>{5, 6, 7})));
  BOOST_TEST((Places(3, 5) != Places(3, 4) && Places(3) != Places(2)));
}
struct Counting {
  std::shared_ptr<int> copies;
  explicit Counting(std::shared_ptr<int> c) : copies(std::move(c)) {}
  Counting(const Counting& o) : copies(o.copies) { ++*copies; }
  Counting(Counting&& o) noexcept : copies(std::move(o.copies)) {}
  bool operator()(Index i, Index j) const { return (i + j) % 2 == 0; }
};
BOOST_AUTO_TEST_CASE(masks_share_their_tables) {
  const auto copies = std::make_shared<int>(0);
  const Mask a = where(6, 6, Counting(copies));
  const int made = *copies;
  Mask m = a;
  for (int k = 0; k < 10; ++k) m = (m | causal(6, 6)) & !((!a) & m);
  const Mask cut = part(transposed(m), {1, 4, 2, 6});
  verify(double(count(cut) < 0) + double(*copies - made), 0);
}
BOOST_AUTO_TEST_CASE(masks_are_sets) {
  for (const auto& [n, m] : extents) {
    auto all = zoo(n, m);
    for (Mask& a : all) a = placed_at(a, aligned(n, m));
    for (const Mask& a : all)
      for (const Mask& b : all) {
        const Matrix<bool> x = dense(a), y = dense(b);
        const auto differ = [](const Matrix<bool>& p, const Matrix<bool>& q) {
          return double((p.array() != q.array()).count());
        };
        verify(differ(dense(a & b), x.array() && y.array()), 0);
        verify(differ(dense(a | b), x.array() || y.array()), 0);
        verify(differ(dense(!(a | b)), dense((!a) & (!b))), 0);
        verify(std::abs(double(count(a | b) + count(a & b) - count(a) -
                               count(b))), 0);
      }
    for (const Mask& a : all) {
      verify(double(dense(transposed(a)).transpose() != dense(a)), 0);
      verify(std::abs(double(count(transposed(a)) - count(a))), 0);
      verify(double(dense(from_matrix(dense(a))) != dense(a)), 0);
    }
  }
}
BOOST_AUTO_TEST_CASE(intersections_know_what_their_parts_know) {
  const Index n = 8, m = 9;
  auto all = zoo(n, m);
  for (Mask& a : all) a = placed_at(a, aligned(n, m));
  for (const Mask& a : all)
    for (const Mask& b : all)
      for (Index i = 0; i < n; i += 2)
        for (Index j = 0; j < m; j += 3) {
          const Block x{i, i + 2, j, j + 3};
          const Cover one = a.covers(x), two = b.covers(x);
          const bool none = one == Cover::none || two == Cover::none;
          const bool full = one == Cover::all && two == Cover::all;
          const Cover expected =
              none ? Cover::none : full ? Cover::all : Cover::some;
          verify((a & b).covers(x) == expected ? 0 : 1, 0);
        }
}
BOOST_AUTO_TEST_CASE(causal_count) {
  for (Index n = 0; n < 40; ++n)
    for (const Index m : {n, n + 1, n + 7, 2 * n})
      verify(std::abs(double(count(causal(n, m)) -
                             (n * m - n * (n - 1) / 2))), 0);
  const Index large = Index(1) << 20;
  verify(std::abs(double(count(causal(large, large)) -
                         large / 2 * (large + 1))), 0);
}
BOOST_AUTO_TEST_CASE(counting_follows_the_edge) {
  for (Index n = 1; n <= 1024; n *= 2) {
    const Mask m = causal(n, n);
    const auto asked = std::make_shared<Index>(0);
    const Mask counted(m.at(), true,
                       [=](Index i, Index j) { return m.allows(i, j); },
                       [=](const Block& b) { return ++*asked, m.covers(b); });
    verify(std::abs(double(count(counted) - n * (n + 1) / 2)), 0);
    verify(std::abs(double(*asked - (4 * (n - 1) + 1))), 0);
  }
}
BOOST_AUTO_TEST_CASE(printed_densities) {
  const Index n = 12;
  std::vector<Index> four;
  for (Index i = 0; i < n; ++i) four.push_back(i / 4);
  const auto off = [&](const Mask& m, double printed) {
    return std::abs(double(count(m)) / double(n * n) - printed);
  };
  verify(off(window(n, n, 2, 2), 0.375), 0);
  verify(off(strided(n, n, 3), 0.333), 5e-4);
  verify(off(segments(four, four), 0.333), 5e-4);
  verify(off(global_tokens(n, n, 2) | window(n, n, 1, 1), 0.5), 0);
}
BOOST_AUTO_TEST_CASE(work_saved) {
  const Index n = 4096, b = 64, all = (n / b) * (n / b);
  const auto skipped = [&](const Mask& m) {
    return 100.0 * double(census(m, b).none) / double(all);
  };
  const Mask c = causal(n, n), w = window(n, n, 255, 0);
  fact("causal", skipped(c));
  fact("edge", 100.0 * double(census(c, b).some) / double(all));
  fact("window", skipped(c & w));
  fact("bird", skipped(window(n, n, 64, 64) | global_tokens(n, n, 1) |
                       random_tiles(n, n, b, 1, 3)));
  fact("strided", 100.0 * double(count(strided(n, n, 8))) / double(n * n));
  verify(std::abs(double(census(c, b).none - (n / b) * (n / b - 1) / 2)), 0);
  verify(std::abs(double(census(c, b).some - n / b)), 0);
  verify(skipped(strided(n, n, 8)), 0);
  verify(std::abs(double(census(w, b).all + census(w, b).some -
                         (5 * (n / b) - 10))), 0);
}
BOOST_AUTO_TEST_CASE(parts_and_pictures) {
  BOOST_TEST(picture(causal(3, 3)) == "#..\n##.\n###\n");
  BOOST_TEST(picture(causal(2, 4)) == "###.\n####\n");
  BOOST_TEST(picture(causal(3, 2)) == "..\n#.\n##\n");
  BOOST_TEST(picture(strided(2, 5, 3, 0)) == "#..#.\n.#..#\n");
  for (const Mask& m : zoo(7, 9)) {
    const Mask p = part(m, {2, 6, 1, 8});
    verify(double((dense(p).array() !=
                   dense(m).block(2, 1, 4, 7).array()).count()), 0);
    verify(std::abs(double(count(p) - count(m, {2, 6, 1, 8}))), 0);
  }
  const Mask a = random_tiles(40, 40, 4, 3, 7);
  verify(std::abs(double(count(a) - 10 * 3 * 16)), 0);
  BOOST_TEST(picture(a) == picture(random_tiles(40, 40, 4, 3, 7)));
  BOOST_TEST(picture(a) != picture(random_tiles(40, 40, 4, 3, 8)));
  BOOST_TEST(count(random_tiles(4, 4, 2, 9, 1)) == 16);
  const Census c = census(causal(5, 7), 2);
  BOOST_TEST((c.none == 3 && c.some == 2 && c.all == 7));
}
BOOST_AUTO_TEST_CASE(masks_refuse_bad_extents) {
  using bad = std::invalid_argument;
  BOOST_CHECK_EXCEPTION(window(3, 3, -1, 0), bad, says("window: left -1"));
  BOOST_CHECK_EXCEPTION(padding(3, 3, 4, 0), bad, says("padding: lengths"));
  BOOST_CHECK_EXCEPTION(strided(3, 3, 0), bad, says("strided: stride 0"));
  BOOST_CHECK_EXCEPTION(causal(3, 3) & causal(3, 4), bad,
                        says("extents 3x3 and 3x4"));
  BOOST_CHECK_EXCEPTION(part(causal(3, 3), {0, 4, 0, 3}), bad,
                        says("part: block"));
  BOOST_CHECK_EXCEPTION(block_sparse(5, 5, 2, Matrix<bool>(2, 2)), bad,
                        says("layout 2x2"));
  BOOST_CHECK_EXCEPTION(global_tokens(5, 5, -1), bad, says("tokens -1"));
  BOOST_CHECK_EXCEPTION(random_tiles(5, 5, 0, 1, 1), bad, says("tile 0"));
}
BOOST_AUTO_TEST_CASE(masks_refuse_one_bad_number) {
  using bad = std::invalid_argument;
  const Mask m = causal(3, 4);
  BOOST_CHECK_EXCEPTION(window(3, 3, 0, -1), bad, says("right -1"));
  BOOST_CHECK_EXCEPTION(window(-1, 3, 0, 0), bad, says("extents -1x3"));
  BOOST_CHECK_EXCEPTION(window(3, -1, 0, 0), bad, says("extents 3x-1"));
  BOOST_CHECK_EXCEPTION(Places(-1), bad, says("Places: extent -1"));
  BOOST_CHECK_EXCEPTION(placed_at(m, aligned(3, 3)), bad,
                        says("positions 3x3 for a mask 3x4"));
  for (const auto& [q, k] : {std::pair<Index, Index>{-1, 0}, {0, -1}, {0, 4}})
    BOOST_CHECK_EXCEPTION(padding(3, 3, q, k), bad, says("padding: lengths"));
  BOOST_CHECK_EXCEPTION(m & causal(2, 4), bad, says("extents 3x4 and 2x4"));
  for (const Block& b : {Block{-1, 2, 0, 2}, {2, 1, 0, 2}, {0, 2, -1, 2},
                         {0, 2, 3, 2}, {0, 2, 0, 5}})
    BOOST_CHECK_EXCEPTION(part(m, b), bad, says("part: block"));
  for (const auto& [r, c] : {std::pair<Index, Index>{2, 3}, {3, 2}})
    BOOST_CHECK_EXCEPTION(block_sparse(5, 5, 2, Matrix<bool>(r, c)), bad,
                          says("block_sparse: tile 2"));
  BOOST_CHECK_EXCEPTION(block_sparse(5, 5, 0, Matrix<bool>(3, 3)), bad,
                        says("block_sparse: tile 0"));
  BOOST_CHECK_EXCEPTION(random_tiles(5, 5, 1, -1, 1), bad, says("row -1"));
  BOOST_CHECK_EXCEPTION(census(m, 0), bad, says("each_tile: tile 0"));
}
BOOST_AUTO_TEST_CASE(places_refuse_other_rows) {
  for (const auto& [from, to] : {std::pair<Index, Index>{-1, 2}, {2, 1},
                                 {1, 4}})
    BOOST_CHECK_EXCEPTION(Places(3).part(from, to), std::invalid_argument,
                          says("Places: rows"));
}

// check answers about masks
BOOST_AUTO_TEST_CASE(answer_xor) {
  const Mask a = random_tiles(6, 8, 2, 2, 1), b = strided(6, 8, 3);
  const Mask one = (a | b) & !(a & b);
  verify(double((dense(one).array() !=
                 (dense(a).array() != dense(b).array())).count()), 0);
}
BOOST_AUTO_TEST_CASE(answer_two_layers) {
  const Index n = 23, s = 5;
  const Mask first = window(n, n, s - 1, 0);
  const Mask second = causal(n, n) & strided(n, n, s);
  const Eigen::MatrixXi heard =
      dense(second).cast<int>() * dense(first).cast<int>();
  verify(double(((heard.array() > 0) != dense(causal(n, n)).array())
                    .count()), 0);
  verify(double(count(first)), double(n * s));
  verify(double(count(second)), double(n * (n / s + 1)));
}
BOOST_AUTO_TEST_CASE(answer_waste) {
  const Index n = 2048;
  for (const auto& [w, b] : {std::pair<Index, Index>{256, 64}, {256, 128},
                             {100, 32}, {1, 16}, {33, 32}}) {
    Index visited = 0;
    each_tile(window(n, n, w - 1, 0), {n - b, n, 0, n}, b,
              [&](const Block&, Cover) { ++visited; });
    verify(std::abs(double(visited - ((w - 1 + b - 1) / b + 1))), 0);
  }
}
BOOST_AUTO_TEST_CASE(answer_cover_count) {
  const auto asked = std::make_shared<Index>(0);
  for (Index w = 2; w <= 64; w *= 2)
    for (Index j = 0, n = w; n <= 256; n *= 2, ++j) {
      const Mask near = window(n, n, w - 1, 0);
      const Mask spy(near.at(), true,
                     [=](Index i, Index k) { return near.allows(i, k); },
                     [=](const Block& b) { return ++*asked, near.covers(b); });
      *asked = 0;
      verify(std::abs(double(count(spy) - (n * w - w * (w - 1) / 2))), 0);
      verify(std::abs(double(*asked - (8 * n - 4 * w - 4 * j - 3))), 0);
    }
}
BOOST_AUTO_TEST_SUITE_END()
