// tests/flash_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/attention.hpp"
#include "flash_case.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)
using attn::flash;

// check that the truth is attention
BOOST_AUTO_TEST_CASE(truth_is_attention) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    Case<quad> c = plain_case<quad>(roll, 10 * seed);
    if (c.K.rows() == 0) continue;
    c.plain.key_block = c.K.rows();
    const Truth t = forward_truth(c);
    const Bounds<quad> bound(c, t);
    const auto a = attention(c.Q, c.K, c.V);
    verify(t.O, a.O, 2 * bound.dO_bound);
    for (Index i = 0; i < t.L.size(); ++i)
      verify(distance(t.L(i), a.logZ(i)), 2 * bound.dL(i));
  }
}

// check flash attention against its bound
template <class T>
void check_plain() {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Dice roll{seed};
    check_forward(plain_case<T>(roll, 10 * seed));
  }
}
BOOST_AUTO_TEST_CASE(forward_in_double) { check_plain<double>(); }
BOOST_AUTO_TEST_CASE(forward_in_float) { check_plain<float>(); }
BOOST_AUTO_TEST_CASE(all_variants_at_once) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    check_forward(random_case<double>(seed));
    check_forward(random_case<float>(seed + 1000));
  }
}
BOOST_AUTO_TEST_CASE(tangent_of_the_cap) {
  const double off = tangent_off<float>(), twice = tangent_off<double>();
  fact("off", off, 2);
  fact("double", twice, 2);
  verify(off, 7);
  verify(twice, 7);
}
BOOST_AUTO_TEST_CASE(long_row) {
  const Index n = 65536;
  const Matrix<float> V = Matrix<float>::Constant(n, 1, 0.1f);
  float chain = 0;
  for (Index j = 0; j < n; ++j) chain += V(j);
  const double naive = distance(chain / float(n), V(0)) / 0.1;
  for (const float low : {0.0f, -2.3f}) {
    Matrix<float> K = Matrix<float>::Constant(n, 1, low);
    K(0) = 0;
    const double r = 0x1p-24 * (128 + 3 + 6 * (n / 128 + 1) - 7 * low);
    const double L = std::log1p(double(n - 1) * std::exp(double(low)));
    for (const Index q : {Index(1), Index(detail::lanes<float>)}) {
      const auto y = flash(Matrix<float>(Matrix<float>::Ones(q, 1)), K, V);
      const double off = distance(y.O, V.topRows(q)) / 0.1;
      if (low == 0) fact(q == 1 ? "by_rows" : "blocks", 0x1p24 * off);
      verify(off, 2 * r);
      for (Index i = 0; i < q; ++i)
        verify(distance(y.logZ(i), L), r + 5 * 0x1p-24 * L);
    }
    BOOST_TEST(naive > 2 * r);
  }
  fact("chain", 0x1p24 * naive);
}

// check the edges of flash attention
BOOST_AUTO_TEST_CASE(rows_without_keys) {
  const auto Q = gaussian<double>(7, 3, 1), K = gaussian<double>(4, 3, 2);
  const auto V = gaussian<double>(4, 2, 3);
  auto rule = causal_rule<double>();
  auto y = flash(Q, K, V, rule);
  verify(y.O.topRows(3).cwiseAbs().sum(), 0);
  for (Index i = 0; i < 3; ++i) BOOST_TEST(y.logZ(i) == -inf);
  verify(distance(y.O.row(3), V.row(0)), 0);
  rule.sink = 2.5;
  y = flash(Q, K, V, rule);
  verify(y.O.topRows(3).cwiseAbs().sum(), 0);
  verify(std::abs(y.logZ(1) - 2.5), 5 * 2.5 * 0x1p-53);
  const Matrix<double> none(0, 3), no_values(0, 2);
  BOOST_TEST(flash(none, K, V).O.rows() == 0);
  y = flash(Q, none, no_values);
  verify(y.O.cwiseAbs().sum(), 0);
  BOOST_TEST(y.logZ(6) == -inf);
}
BOOST_AUTO_TEST_CASE(alignment_of_causal_masks) {
  for (const Index n : {3, detail::lanes<double>}) {
    const auto Q = gaussian<double>(n, 4, 1), K = gaussian<double>(n + 5, 4, 2);
    const auto V = gaussian<double>(n + 5, 4, 3);
    auto rule = causal_rule<double>();
    const auto end = flash(Q, K, V, rule);
    rule.offset = 0;
    const auto start = flash(Q, K, V, rule);
    for (Index i = 0; i < n; ++i) {
      const auto a = flash(Q, K.topRows(i + 6), V.topRows(i + 6));
      const auto b = flash(Q, K.topRows(i + 1), V.topRows(i + 1));
      verify(distance(end.O.row(i), a.O.row(i)), 0);
      verify(distance(start.O.row(i), b.O.row(i)), 0);
    }
  }
}
BOOST_AUTO_TEST_CASE(forbidden_keys_are_not_read) {
  const auto Q = gaussian<float>(9, 3, 1);
  Matrix<float> K = gaussian<float>(9, 3, 2), V = gaussian<float>(9, 2, 3);
  auto rule = causal_rule<float>();
  const auto clean = flash(Q, K, V, rule);
  K(5, 1) = V(5, 0) = V(6, 1) = float(NaN);
  const auto y = flash(Q, K, V, rule);
  verify(largest(y.O.topRows(5) - clean.O.topRows(5)), 0);
  for (Index i = 5; i < 9; ++i) BOOST_TEST(std::isnan(y.O(i, 0)));
  BOOST_TEST(std::isnan(y.logZ(7)));
  rule.keys = 5;
  rule.right.reset();
  const auto cut = flash(Q, K, V, rule);
  BOOST_TEST(cut.O.allFinite());
  const auto same = flash(Q, K.topRows(5), V.topRows(5));
  verify(largest(cut.O - same.O), 0);
}
BOOST_AUTO_TEST_CASE(underflow_hides_where_tiles_are_partial) {
  for (const int n : {6, 2 * detail::lanes<float> + 8}) {
    const Matrix<float> Q = Matrix<float>::Ones(n, 1);
    Matrix<float> K = Matrix<float>::Zero(n, 1), V = Q;
    K(0) = -1000, V(0) = float(NaN);
    FlashRule<float> rule;
    rule.scale = 1.0f;
    BOOST_TEST(std::isnan(flash(Q, K, V, rule).O(n - 1)));
    rule.right = 0;
    const auto y = flash(Q, K, V, rule);
    BOOST_TEST(std::isnan(y.O(0)));
    BOOST_TEST(y.O(n - 1) == 1);
  }
}
BOOST_AUTO_TEST_CASE(each_key_spoils_its_window) {
  auto rule = causal_rule<float>();
  rule.left = rule.right = 1, rule.key_block = 4;
  for (const Index n : {5, 2 * detail::lanes<float> + 1}) {
    const auto Q = gaussian<float>(n, 3, 1), K = gaussian<float>(n, 3, 2);
    const auto V = gaussian<float>(n, 2, 3);
    const auto clean = flash(Q, K, V, rule);
    for (Index j = 0; j < n; ++j) {
      Matrix<float> bad = V;
      bad(j, 1) = float(inf);
      const auto y = flash(Q, K, bad, rule);
      for (Index i = 0; i < n; ++i)
        if (std::abs(i - j) <= 1) BOOST_TEST(y.O(i, 1) == float(inf));
        else verify(distance(y.O.row(i), clean.O.row(i)), 0);
    }
  }
}
BOOST_AUTO_TEST_CASE(nan_stays_in_its_lane) {
  Matrix<float> Q = gaussian<float>(5, 3, 1);
  const auto K = gaussian<float>(9, 3, 2), V = gaussian<float>(9, 2, 3);
  const auto clean = flash(Q, K, V);
  Q(2, 0) = float(NaN);
  const auto y = flash(Q, K, V);
  for (Index i = 0; i < 5; ++i)
    if (i == 2) BOOST_TEST(std::isnan(y.O(i, 0) + y.logZ(i)));
    else verify((y.O.row(i) - clean.O.row(i)).norm(), 0);
}
BOOST_AUTO_TEST_CASE(bias_of_minus_infinity_forbids) {
  const auto Q = gaussian<double>(4, 3, 1), K = gaussian<double>(6, 3, 2);
  Matrix<double> V = gaussian<double>(6, 2, 3), B(4, 6);
  B.setZero();
  B.col(3).setConstant(-inf), B.row(1).setConstant(-inf);
  V.row(3).setConstant(NaN);
  FlashRule<double> rule;
  rule.bias = &B;
  const auto y = flash(Q, K, V, rule);
  BOOST_TEST(y.O.allFinite());
  verify(y.O.row(1).norm(), 0);

  // poison a key under the bias
  const Matrix<double> dO = gaussian<double>(4, 2, 4);
  const auto clean = flash_vjp(Q, K, V, y, dO, rule);
  for (const double x : {NaN, inf, -inf}) {
    Matrix<double> bad = K;
    bad.row(3).setConstant(x);
    const auto z = flash(Q, bad, V, rule);
    verify(distance(z.O, y.O), 0);
    const auto g = flash_vjp(Q, bad, V, z, dO, rule);
    verify(distance(g.Q, clean.Q) + distance(g.K, clean.K) +
               distance(g.V, clean.V), 0);
  }
}
BOOST_AUTO_TEST_CASE(masked_keys_are_not_read) {
  const auto Q = gaussian<float>(64, 4, 1);
  Matrix<float> K = gaussian<float>(64, 4, 2), V = gaussian<float>(64, 4, 3);
  Matrix<bool> keep = Matrix<bool>::Constant(4, 4, true);
  keep.col(2).setConstant(false);
  FlashRule<float> rule;
  rule.keep = &keep, rule.keep_q = rule.keep_k = 16, rule.key_block = 16;
  const auto before = flash(Q, K, V, rule);
  K.middleRows(32, 16).setConstant(float(NaN));
  V.middleRows(32, 16).setConstant(float(NaN));
  const auto after = flash(Q, K, V, rule);
  verify(largest(before.O - after.O), 0);
}
BOOST_AUTO_TEST_CASE(nan_stays_in_its_column) {
  const auto Q = gaussian<float>(9, 3, 1), K = gaussian<float>(14, 3, 2);
  Matrix<float> V = gaussian<float>(14, 4, 3);
  const auto clean = flash(Q, K, V);
  V(6, 2) = float(NaN), V(3, 1) = float(inf);
  const auto y = flash(Q, K, V);
  for (Index i = 0; i < 9; ++i) {
    BOOST_TEST(std::isnan(y.O(i, 2)));
    BOOST_TEST(std::isinf(y.O(i, 1)));
  }
  verify(distance(y.O.col(0), clean.O.col(0)), 0);
  verify(distance(y.O.col(3), clean.O.col(3)), 0);
}
BOOST_AUTO_TEST_CASE(scores_near_the_largest_number) {
  const Matrix<float> two{{1}, {-1}}, K{{-3e38f}, {3e38f}, {0}};
  const Matrix<float> V{{1}, {2}, {4}}, one{{2}, {1}};
  for (const int copies : {1, detail::lanes<float> / 2}) {
    const Matrix<float> Q = two.replicate(copies, 1);
    Matrix<float> O = one.replicate(copies, 1);
    FlashRule<float> rule;
    rule.scale = 0.5f;
    verify(distance(flash(Q, K, V, rule).O, O), 0);
    rule.right = 0, rule.offset = 0;  // the first row sees one far key only
    O(0) = 1;
    verify(distance(flash(Q, K, V, rule).O, O), 0);
  }
}
BOOST_AUTO_TEST_CASE(ragged_heads_in_one_call) {
  std::vector<Case<float>> cases;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    Dice roll{seed};
    cases.push_back(plain_case<float>(roll, seed));
  }
  std::vector<Matrix<float>> O;
  for (const auto& c : cases)
    O.push_back(Matrix<float>::Constant(c.Q.rows() + 1, c.V.cols() + 2, 7));
  std::vector<FlashHead<float>> heads;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& c = cases[i];
    heads.push_back({view_in<float>(c.Q), view_in<float>(c.K),
                     view_in<float>(c.V),
                     Out<float>(O[i].data() + 1, c.Q.rows(), c.V.cols(),
                                Eigen::OuterStride<>(O[i].outerStride())),
                     nullptr, c.plain});
  }
  flash_forward<float>(heads);

  // compare ragged heads one by one
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& c = cases[i];
    const Matrix<float> alone = flash(c.Q, c.K, c.V, c.plain).O;
    const Index n = alone.rows(), d = alone.cols();
    verify(distance(O[i].block(0, 1, n, d), alone), 0);
    const Matrix<float> frame = Matrix<float>::Constant(n + 1, d + 2, 7);
    O[i].block(0, 1, n, d).setConstant(7);
    verify(distance(O[i], frame), 0);
  }
}
BOOST_AUTO_TEST_CASE(no_heads_at_all) {
  flash_forward<double>({});
  flash_backward<double>({}, {});
  verify(flash(Matrix<double>(0, 1), Matrix<double>(0, 1),
               Matrix<double>(0, 0)).O.norm(), 0);
}
BOOST_AUTO_TEST_CASE(large_scores) {
  Matrix<double> Q = gaussian<double>(6, 4, 1), K = gaussian<double>(20, 4, 2);
  Q.col(0).setConstant(200), K.col(0).array() = 100 + K.col(1).array();
  for (Index j = 1; j < 20; j += 2)
    K.row(j) = K.row(j - 1), K(j, 0) += 1 / 512.0;
  const auto V = gaussian<double>(20, 3, 3);
  const auto a = attention(lift<quad>(Q), lift<quad>(K), lift<quad>(V));
  for (const Index b : {1, 3, 5, 12, 100}) {
    FlashRule<double> rule;
    rule.key_block = b;
    const auto y = flash(Q, K, V, rule);
    const double r = 0x1p-53 * (8 * 10500 + 20 + 6 * 22);
    verify(y.O, a.O, Matrix<double>::Constant(
        6, 3, 2 * r * V.cwiseAbs().maxCoeff()));
    for (Index i = 0; i < 6; ++i)
      verify(distance(y.logZ(i), a.logZ(i)), r + 0x1p-53 * 7 * 10500);
  }
}
BOOST_AUTO_TEST_CASE(strides_and_expressions) {
  const auto big = gaussian<float>(20, 30, 1);
  const auto Q = big.block(1, 2, 7, 5), K = big.block(3, 8, 11, 5);
  const auto V = big.block(4, 14, 11, 6);
  const auto y = flash(Q, K, V);
  const auto z = flash(Matrix<float>(Q), Matrix<float>(K), Matrix<float>(V));
  const Eigen::MatrixXf columns = K;
  verify(largest(y.O - z.O), 0);
  verify(largest(flash(Q, columns, V).O - z.O), 0);
  verify(largest(flash(2 * Q - Q, K, V).O - z.O), 0);
}
BOOST_AUTO_TEST_CASE(one_column_of_values) {
  for (const int n : {2, detail::lanes<double>}) {
    const Matrix<double> Q = Matrix<double>::Zero(n, 1);
    Matrix<double> V = Q;
    V(0) = 3, V(1) = inf;
    const auto y = flash(Q, Q, V, causal_rule<double>());
    verify(std::abs(y.O(0) - 3), 0);
    BOOST_TEST((y.O.bottomRows(n - 1).array() == inf).all());
  }
}
template <class M>
constexpr bool can_be_seen =
    requires(const M& m) { view_in<double>(m); };
BOOST_AUTO_TEST_CASE(views_are_of_rows_in_memory) {
  const Matrix<double> m = gaussian<double>(5, 7, 1);
  const auto part = m.block(1, 2, 3, 4);
  static_assert(can_be_seen<Matrix<double>> &&
                can_be_seen<RowVector<double>> &&
                can_be_seen<decltype(part)>);
  static_assert(!can_be_seen<decltype(m.transpose())> &&
                !can_be_seen<decltype(2 * m)> &&
                !can_be_seen<decltype(m.col(1))> &&
                !can_be_seen<Eigen::MatrixXd> &&
                !can_be_seen<Matrix<float>>);
  const auto y = view_in<double>(part);
  BOOST_TEST((y.data() == &m(1, 2) && y.outerStride() == 7));
  verify(largest(y - part), 0);
}
BOOST_AUTO_TEST_CASE(refuses_bad_arguments) {
  const Matrix<double> Q(3, 4), K(5, 4), V(5, 2), B(3, 4);
  const auto refused = [&](auto change, const char* words) {
    FlashRule<double> rule;
    change(rule);
    BOOST_CHECK_EXCEPTION(flash(Q, K, V, rule), std::exception, says(words));
  };
  BOOST_CHECK_EXCEPTION(flash(Q, V, V), std::invalid_argument,
                        says("flash: Q is 3x4 but K is 5x2"));
  BOOST_CHECK_EXCEPTION(flash(Q, K, Q), std::invalid_argument,
                        says("flash: K is 5x4 but V is 3x4"));
  BOOST_CHECK_EXCEPTION(flash(Matrix<double>(3, 0), Matrix<double>(5, 0), V),
                        std::invalid_argument, says("explicit scale"));
  refused([&](auto& r) { r.bias = &B; }, "bias is 3x4, expected 3x5");
  refused([](auto& r) { r.left = -1; }, "window of -1");
  refused([](auto& r) { r.key_block = 0; }, "blocks of 0 keys");
  refused([](auto& r) { r.keys = 6; }, "3 and 6 of 3 queries and 5 keys");
  refused([](auto& r) { r.softcap = 0.0; }, "softcap must be positive");
  refused([](auto& r) { r.sink = inf; }, "sink must be finite");
  refused([](auto& r) { r.slope = NaN; }, "slope and scale");
  const Matrix<bool> narrow = Matrix<bool>::Constant(3, 4, true), low(2, 5);
  refused([&](auto& r) { r.keep = &narrow; }, "keep is 3x4 blocks of 1x1");
  refused([&](auto& r) { r.keep = &low; }, "keep is 2x5 blocks of 1x1");
}
template <class T>
void check_overflow_in_base_two(Index n) {
  const auto Q = gaussian<T>(n, 4, 1), K = gaussian<T>(5, 4, 2);
  const Matrix<T> V = gaussian<T>(5, 2, 3);
  constexpr T most = std::numeric_limits<T>::max();
  const T large = T(0.9) * most, fits = T(0.6) * most;
  const std::vector<T> bad{0, large};
  const auto refused = [&](auto change, const char* words) {
    // refuse a rule in all functions
    FlashRule<T> rule;
    change(rule);
    FlashOutput<T> y{Matrix<T>::Zero(n, 2), Vector<T>::Zero(n)};
    BOOST_CHECK_EXCEPTION(flash(Q, K, V, rule), std::domain_error, says(words));
    BOOST_CHECK_EXCEPTION(decode<T>(Q, paged(K, V, 3), rule), std::domain_error,
                          says(words));
    if (rule.share == 1)
      BOOST_CHECK_EXCEPTION(flash_vjp(Q, K, V, y, y.O, rule), std::domain_error,
                            says(words));
  };
  refused([&](auto& r) { r.sink = large; }, "sink must be finite");
  refused([&](auto& r) { r.slope = -large; }, "slope and scale");
  refused([&](auto& r) { r.softcap = large; }, "softcap and scale");
  refused([&](auto& r) { r.scale = large; }, "scale must be finite");
  refused([&](auto& r) { r.scale = fits, r.softcap = T(0.5); }, "/ softcap");
  refused([&](auto& r) { r.sinks = bad, r.share = 2; }, "sink must be");
  refused([&](auto& r) { r.slopes = bad, r.share = 2; }, "slope and");
  FlashRule<T> rule;
  rule.sink = fits;
  verify(double(flash(Q, K, V, rule).O.norm()), 0);
  BOOST_TEST(flash(Q, K, V, rule).logZ.allFinite());
  rule = {}, rule.softcap = fits, rule.slope = T(0.001) * fits;
  BOOST_TEST(flash(Q, K, V, rule).O.allFinite());
}
BOOST_AUTO_TEST_CASE(overflow_in_base_two_is_refused) {
  check_overflow_in_base_two<float>(2);
  check_overflow_in_base_two<float>(detail::lanes<float>);
  check_overflow_in_base_two<double>(2);
  check_overflow_in_base_two<double>(detail::lanes<double>);
}
BOOST_AUTO_TEST_CASE(blocks_of_any_size) {
  const auto Q = gaussian<float>(3, 4, 1), K = gaussian<float>(5, 4, 2);
  const Matrix<float> V = gaussian<float>(5, 2, 3);
  const auto y = flash(Q, K, V);
  const Matrix<bool> keep = Matrix<bool>::Constant(2, 2, true);
  FlashRule<float> rule;
  rule.keep = &keep;
  rule.keep_q = rule.keep_k = std::numeric_limits<Index>::max();
  verify(distance(flash(Q, K, V, rule).O, y.O), 0);
  rule = {}, rule.key_block = std::numeric_limits<Index>::max();
  verify(distance(flash(Q, K, V, rule).O, y.O), 0);
  const Index far = (Index(1) << 24) + 1;
  const In<float> many(nullptr, far, 4, Eigen::OuterStride<>(4));
  Matrix<float> O(3, 4);
  const FlashHead<float> h{view_in<float>(Q), many, many, view_out(O),
                           nullptr, rule};
  BOOST_CHECK_EXCEPTION(flash_forward<float>({&h, 1}), std::invalid_argument,
                        says("keys of 16777217, at most 16777216"));
}
BOOST_AUTO_TEST_CASE(refuses_either_of_two) {
  const Matrix<double> Q(3, 4), K(5, 4), V(5, 2);
  const Matrix<bool> keep = Matrix<bool>::Constant(3, 5, true);
  const auto refused = [&](auto change, const char* words) {
    FlashRule<double> rule;
    change(rule);
    BOOST_CHECK_EXCEPTION(flash(Q, K, V, rule), std::invalid_argument,
                          says(words));
  };
  refused([](auto& r) { r.queries = -1; }, "lengths -1 and 5");
  refused([](auto& r) { r.queries = 4; }, "lengths 4 and 5");
  refused([](auto& r) { r.keys = -1; }, "lengths 3 and -1");
  refused([](auto& r) { r.right = -1; }, "window of 0 and -1");
  refused([](auto& r) { r.groups = 0; }, "0 groups");
  using Limits = std::numeric_limits<Index>;
  for (const Index far : {Limits::min(), -Limits::max() / 4 - 1,
                          Limits::max() / 4 + 1, Limits::max()})
    refused([&](auto& r) { r.offset = far; }, "an offset of");
  refused([&](auto& r) { r.keep = &keep, r.keep_q = 0; }, "blocks of 0x1");
  refused([&](auto& r) { r.keep = &keep, r.keep_k = 0; }, "blocks of 1x0");
}
BOOST_AUTO_TEST_CASE(refuses_outputs_that_do_not_fit) {
  const Matrix<double> Q(3, 4), K(5, 4), V(5, 2);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{3, 1}, {2, 2}}) {
    Matrix<double> O(rows, cols);
    const FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                              view_in<double>(V), view_out(O), nullptr, {}};
    BOOST_CHECK_EXCEPTION(flash_forward<double>({&h, 1}),
                          std::invalid_argument, says("expected 3x2"));
  }
}
BOOST_AUTO_TEST_SUITE_END()
