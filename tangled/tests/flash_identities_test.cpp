// tests/flash_identities_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_case.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)
using attn::flash;

// compare outputs bit by bit
template <class T>
void verify_same_bits(const FlashOutput<T>& a, const FlashOutput<T>& b) {
  verify(distance(a.O, b.O), 0);
  BOOST_TEST((a.logZ.array() == b.logZ.array()).all());
}

// check identities that hold bit by bit
template <class F>
void on_cases(F f) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    f(plain_case<float>(roll, 10 * seed));
  }
}
BOOST_AUTO_TEST_CASE(any_number_of_groups) {
  on_cases([](const Case<float>& c) {
    FlashRule<float> rule = c.plain;
    for (const Index left : {1, 6, 100}) {
      rule.right = 1, rule.left = left;
      const auto y = flash(c.Q, c.K, c.V, rule);
      for (const Index n : {Index(1), Index(2), Index(3), Index(5),
                            std::numeric_limits<Index>::max()}) {
        rule.groups = n;
        verify_same_bits(flash(c.Q, c.K, c.V, rule), y);
      }
    }
  });
}
BOOST_AUTO_TEST_CASE(wide_window_is_no_window) {
  on_cases([](const Case<float>& c) {
    FlashRule<float> rule = c.plain;
    const auto y = flash(c.Q, c.K, c.V, rule);
    rule.left = rule.right = 100;
    verify_same_bits(flash(c.Q, c.K, c.V, rule), y);
    rule.left = rule.right = std::numeric_limits<Index>::max();
    verify_same_bits(flash(c.Q, c.K, c.V, rule), y);
  });
}
BOOST_AUTO_TEST_CASE(causal_is_a_triangular_mask) {
  on_cases([](const Case<float>& c) {
    FlashRule<float> rule = c.plain;
    Matrix<bool> keep(c.Q.rows(), c.K.rows());
    for (Index i = 0; i < keep.rows(); ++i)
      for (Index j = 0; j < keep.cols(); ++j)
        keep(i, j) = j <= i + keep.cols() - keep.rows();
    rule.keep = &keep;
    const auto y = flash(c.Q, c.K, c.V, rule);
    rule.keep = nullptr, rule.right = 0;
    verify_same_bits(flash(c.Q, c.K, c.V, rule), y);
  });
}
BOOST_AUTO_TEST_CASE(blocks_are_a_mask_of_pairs) {
  on_cases([](const Case<float>& c) {
    FlashRule<float> rule = c.plain;
    rule.keep = &c.keep, rule.keep_q = 3, rule.keep_k = 4;
    const auto y = flash(c.Q, c.K, c.V, rule);
    Matrix<bool> pairs(c.Q.rows(), c.K.rows());
    for (Index i = 0; i < pairs.rows(); ++i)
      for (Index j = 0; j < pairs.cols(); ++j)
        pairs(i, j) = c.keep(i / 3, j / 4);
    rule.keep = &pairs, rule.keep_q = rule.keep_k = 1;
    verify_same_bits(flash(c.Q, c.K, c.V, rule), y);
    const Matrix<float> bias = pairs.select(
        Matrix<float>::Zero(pairs.rows(), pairs.cols()), -float(inf));
    rule.keep = nullptr, rule.bias = &bias;
    verify_same_bits(flash(c.Q, c.K, c.V, rule), y);
  });
}
BOOST_AUTO_TEST_CASE(powers_of_two_commute) {
  on_cases([](const Case<float>& c) {
    FlashRule<float> rule = c.plain;
    rule.scale = 0.3f;
    auto y = flash(c.Q, c.K, c.V, rule);
    verify(distance(flash(c.Q, c.K, 4 * c.V, rule).O, 4 * y.O), 0);
    rule.scale = 0.15f;
    verify_same_bits(flash(2 * c.Q, c.K, c.V, rule), y);
  });
}
BOOST_AUTO_TEST_CASE(company_of_a_row_leaves_its_bits) {
  on_cases([](const Case<float>& c) {
    if (c.Q.rows() == 0) return;
    for (const Index n : {detail::lanes<float> / 2, detail::lanes<float>}) {
      const Matrix<float> Q = c.Q.replicate(n, 1).topRows(n);
      const auto y = flash(Q, c.K, c.V, c.plain);
      for (Index i = 0; i < n; i += 1 + n / 8) {
        Matrix<float> mixed = -Q.colwise().reverse();
        mixed.row(n / 3) = Q.row(i);
        const auto x = flash(mixed, c.K, c.V, c.plain);
        verify(distance(x.O.row(n / 3), y.O.row(i)), 0);
        BOOST_TEST((x.logZ(n / 3) == y.logZ(i)));
      }
    }
  });
}
BOOST_AUTO_TEST_CASE(number_of_few_rows_leaves_their_bits) {
  on_cases([](const Case<float>& c) {
    const Index n = std::min<Index>(c.Q.rows(), detail::lanes<float> / 2);
    const auto y = flash(c.Q.topRows(n), c.K, c.V, c.plain);
    for (Index i = 0; i < n; ++i) {
      const auto x = flash(c.Q.row(i), c.K, c.V, c.plain);
      verify(distance(x.O, y.O.row(i)), 0);
      BOOST_TEST((x.logZ(0) == y.logZ(i)));
    }
  });
}
BOOST_AUTO_TEST_CASE(windows_leave_few_rows_their_bits) {
  const Matrix<float> Q = 3 * gaussian<float>(1, 8, 1);
  const auto K = gaussian<float>(330, 8, 2), V = gaussian<float>(330, 3, 3);
  for (Index left = 1; left < 330; left += 23) {
    Matrix<float> bias = Matrix<float>::Zero(1, 330);
    bias.leftCols(329 - left).setConstant(-float(inf));
    FlashRule<float> window, rule;
    window.key_block = rule.key_block = 16;
    window.right = 0, window.left = left, rule.bias = &bias;
    verify_same_bits(flash(Q, K, V, rule), flash(Q, K, V, window));
  }
}
void heads_as_alone(Index n, const std::array<FlashRule<float>, 2>& rules) {
  const auto K = gaussian<float>(300, 8, 2), V = gaussian<float>(300, 3, 3);
  const std::array Q{gaussian<float>(n, 8, 4), gaussian<float>(n, 8, 5)};
  std::array<FlashOutput<float>, 2> y;
  std::vector<FlashHead<float>> heads;
  for (std::size_t h = 0; h < 2; ++h) {
    y[h] = {Matrix<float>(n, 3), Vector<float>(n)};
    heads.push_back({view_in<float>(Q[h]), view_in<float>(K),
                     view_in<float>(V), view_out(y[h].O), y[h].logZ.data(),
                     rules[h]});
  }
  flash_forward<float>(heads);
  for (std::size_t h = 0; h < 2; ++h)
    verify_same_bits(flash(Q[h], K, V, rules[h]), y[h]);
}
BOOST_AUTO_TEST_CASE(heads_that_only_share_keys) {
  auto small = causal_rule<float>(), large = small, pairs = small;
  small.key_block = 16, large.key_block = 64, pairs.share = 2;
  for (const Index n : {2, 4, 2 * int(detail::lanes<float>) - 2}) {
    heads_as_alone(n, {small, large});
    heads_as_alone(n, {pairs, pairs});
  }
}
BOOST_AUTO_TEST_CASE(one_key_gives_its_value) {
  const auto Q = gaussian<double>(11, 3, 1), K = gaussian<double>(1, 3, 2);
  const auto V = gaussian<double>(1, 5, 3);
  verify(distance(flash(Q, K, V).O, V.replicate(11, 1)), 0);
}

// check identities that hold to rounding
void verify_same_row(const Case<double>& a, const Case<double>& b) {
  const auto x = flash(a.Q, a.K, a.V, a.rule());
  const auto y = flash(b.Q, b.K, b.V, b.rule());
  const Bounds<double> f(a, forward_truth(a)), g(b, forward_truth(b));
  verify(x.O, lift<quad>(y.O), f.dO_bound + g.dO_bound);
  for (Index i = 0; i < x.logZ.size(); ++i)
    if (x.logZ(i) > -inf)
      verify(distance(x.logZ(i), y.logZ(i)), f.dL(i) + g.dL(i));
    else BOOST_TEST(y.logZ(i) == -inf);
}
BOOST_AUTO_TEST_CASE(keys_in_any_order) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    const Case<double> c = plain_case<double>(roll, 10 * seed);
    Case<double> p = c;
    const auto order = permutation(c.K.rows(), seed);
    for (Index j = 0; j < c.K.rows(); ++j) {
      const Index from = order[std::size_t(j)];
      p.K.row(j) = c.K.row(from), p.V.row(j) = c.V.row(from);
    }
    verify_same_row(c, p);
  }
}
BOOST_AUTO_TEST_CASE(rows_are_independent) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    Case<double> c = plain_case<double>(roll, 10 * seed);
    c.Q = Matrix<double>(c.Q.replicate(detail::lanes<double>, 1));
    const Bounds<double> f(c, forward_truth(c));
    const auto y = flash(c.Q, c.K, c.V, c.plain);
    for (Index i = 0; i < c.Q.rows(); i += 5) {
      const auto x = flash(c.Q.row(i), c.K, c.V, c.plain);
      verify(x.O, lift<quad>(y.O.row(i)), 2 * f.dO_bound.row(i));
      if (y.logZ(i) > -inf) verify(distance(x.logZ(0), y.logZ(i)), 2 * f.dL(i));
      else BOOST_TEST(x.logZ(0) == -inf);
    }
  }
}
BOOST_AUTO_TEST_CASE(slope_is_a_bias) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    Case<double> c = plain_case<double>(roll, 10 * seed);
    c.plain.slope = 0.3;
    Case<double> b = c;
    b.plain.slope = 0, b.biased = true;
    for (Index i = 0; i < c.Q.rows(); ++i)
      for (Index j = 0; j < c.K.rows(); ++j)
        b.bias(i, j) = -0.3 * c.away(i, j);
    verify_same_row(c, b);
  }
}
BOOST_AUTO_TEST_CASE(sink_is_a_key_without_value) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    Case<double> c = plain_case<double>(roll, 10 * seed), k = c;
    c.plain.sink = 0;
    resize(k, c.Q.rows(), c.K.rows() + 1);
    k.K.bottomRows(1).setZero(), k.V.bottomRows(1).setZero();
    verify_same_row(c, k);
  }
}
BOOST_AUTO_TEST_CASE(outputs_lie_between_values) {
  on_cases([](const Case<float>& c) {
    if (c.K.rows() == 0 || c.V.cols() == 0) return;
    const auto y = flash(c.Q, c.K, c.V, c.plain);
    const Bounds<float> bound(c, forward_truth(c));
    for (Index k = 0; k < y.O.cols(); ++k)
      for (Index i = 0; i < y.O.rows(); ++i) {
        const float o = y.O(i, k), top = c.V.col(k).maxCoeff();
        const float low = c.V.col(k).minCoeff();
        verify(std::max({0.0, double(o) - top, double(low) - o}),
               bound.dO_bound(i, k));
      }
  });
}
BOOST_AUTO_TEST_CASE(property_of_all_variants) {
  for_all([] {
    check_forward(random_case<double>(std::uint64_t(draw(1, 1000000000))));
    check_forward(random_case<float>(std::uint64_t(draw(1, 1000000000))));
  });
}

// check the tiles that are visited
struct Visits {
  Matrix<int> pairs;
  Index tiles = 0;
};
template <class T>
Visits visits(Index n, Index m, const FlashRule<T>& rule) {
  const Matrix<T> Q(n, 1), K(m, 1), V(m, 1);
  Matrix<T> O(n, 1);
  const FlashHead<T> h{view_in<T>(Q), view_in<T>(K), view_in<T>(V),
                       view_out(O), nullptr, rule};
  const detail::Plan<T> plan("visits", h);
  Visits v{Matrix<int>::Zero(n, m)};
  const Index sweep = rule.groups * detail::lanes<T>;
  for (Index q = 0; q < plan.queries; q += sweep) {
    const Index end = std::min(q + sweep, plan.queries);
    detail::visit_tiles(plan, q, end, [&](Index g, Index j, Index b) {
      const Index at = q + g * detail::lanes<T>;
      const Index rows = std::min<Index>(detail::lanes<T>, end - at);
      v.pairs.block(at, j, rows, b).array() += 1;
      ++v.tiles;
    });
  }
  return v;
}
BOOST_AUTO_TEST_CASE(each_pair_lies_in_one_tile) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Case<double> c = random_case<double>(seed);
    c.biased = false;
    const Visits v = visits<double>(c.Q.rows(), c.K.rows(), c.rule());
    int wrong = 0;
    for (Index i = 0; i < c.Q.rows(); ++i)
      for (Index j = 0; j < c.K.rows(); ++j)
        wrong += v.pairs(i, j) > 1 || v.pairs(i, j) < meets(c, i, j);
    verify(wrong, 0);
  }
}
BOOST_AUTO_TEST_CASE(skipped_tiles_are_counted) {
  const Index lane = detail::lanes<float>, n = 16 * lane, b = lane / 2;
  FlashRule<float> rule = causal_rule<float>();
  rule.key_block = b;
  verify(std::abs(double(visits(n, n, rule).tiles - 16 * 17 / 2 * 2)), 0);
  rule.left = 2 * lane, rule.groups = 1;  // 3 lane keys each, fewer at first
  verify(std::abs(double(visits(n, n, rule).tiles - (2 + 4 + 14 * 6))), 0);
  const Index one = visits(n, n, rule).tiles;
  const Index two = visits(2 * n, 2 * n, rule).tiles;
  const Index four = visits(4 * n, 4 * n, rule).tiles;
  verify(double(std::abs(four - two - 2 * (two - one))), 0);
  BOOST_TEST(four < 5 * one);
}
BOOST_AUTO_TEST_CASE(masked_blocks_are_counted) {
  const Index lane = detail::lanes<float>;
  Matrix<bool> keep(8, 8);
  Dice roll{7};
  for (Index i = 0; i < keep.size(); ++i) keep.data()[i] = roll(3) == 0;
  FlashRule<float> rule;
  rule.keep = &keep, rule.keep_q = rule.keep_k = rule.key_block = lane;
  const Visits v = visits(8 * lane, 8 * lane, rule);
  verify(std::abs(double(v.tiles - keep.count())), 0);
  keep.setConstant(false);
  verify(double(visits(8 * lane, 8 * lane, rule).tiles), 0);
}

// check the product of rows by lanes
template <class T>
void check_products() {
  using detail::Lane, detail::Lanes, detail::lanes;
  for (Index rows = 0; rows <= 20; ++rows)
    for (const Index k : {0, 1, 5}) {
      const auto whole = [](Index n, Index m, std::uint64_t seed) {
        return Matrix<T>((T(9) * uniform<T>(n, m, seed)).array().round());
      };
      const Matrix<T> a = whole(rows, k, 1);
      const Matrix<T> x = whole(k, lanes<T>, 2), y = whole(rows, lanes<T>, 3);
      Lanes<T> X(std::size_t(k) + 1), Y(std::size_t(rows) + 1);
      const auto fill = [](Lanes<T>& v, const Matrix<T>& m) {
        for (Index i = 0; i < m.rows(); ++i)
          v[std::size_t(i)] = m.row(i).transpose().array();
      };
      fill(X, x), fill(Y, y);
      const Matrix<T> truth = y + a * x, none = a * x;

      // compare three ways of multiplying
      const auto at = [](Lanes<T>& v) {
        return [&v](Index i) -> Lane<T>& { return v[std::size_t(i)]; };
      };
      const auto verify_rows = [&](const Matrix<T>& want) {
        for (Index i = 0; i < rows; ++i)
          verify(distance(Y[std::size_t(i)].matrix(), want.row(i).transpose()), 0);
      };
      detail::product<Lane<T>>(a, at(X), at(Y), detail::onwards);
      verify_rows(truth);
      detail::product<Lane<T>>(a, at(X), at(Y), detail::from_zero);
      verify_rows(none);
      fill(Y, y);
      detail::product_of_weighted<Lane<T>>(
          a, at(X), at(Y), [](T, T) { return true; }, detail::onwards);
      verify_rows(truth);
    }
}
BOOST_AUTO_TEST_CASE(products_of_whole_numbers) {
  check_products<float>();
  check_products<double>();
}
BOOST_AUTO_TEST_CASE(products_by_columns) {
  for (Index d = 0; d <= 3 * detail::lanes<float>; ++d) {
    const Index b = 7, n = 5;
    const Matrix<float> w = (9 * uniform<float>(b, n, 1)).array().round();
    Matrix<float> x = (9 * uniform<float>(n, d, 2)).array().round();
    const detail::Tile<float> tile(w.data(), b, n,
                                   Eigen::OuterStride<>(n));
    Matrix<float> y = Matrix<float>::Ones(b, d);
    detail::add_product<float>(tile, view_in<float>(x), view_out(y), false);
    const Matrix<float> once = w * x;
    verify(distance(y, (once.array() + 1).matrix()), 0);
    detail::add_product<float>(tile, view_in<float>(x), view_out(y), true);
    verify(distance(y, (2 * once.array() + 1).matrix()), 0);
  }
}
BOOST_AUTO_TEST_SUITE_END()
