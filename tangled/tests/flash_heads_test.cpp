// tests/flash_heads_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/mask.hpp"
#include "attn/multihead.hpp"
#include "attn/softmax.hpp"
#include "flash_widths.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)
using attn::flash;

// check heads side by side
BOOST_AUTO_TEST_CASE(refuses_results_in_one_place) {
  const auto Q = gaussian<double>(2, 3, 1), K = gaussian<double>(4, 3, 2);
  const Matrix<double> V = gaussian<double>(4, 3, 3), B = V * Q.transpose();
  const Matrix<double> bias = B.transpose();
  std::vector<Matrix<double>> O(2, Q), dQ(2, Q), dK(2, K), dV(2, V), dB(2);
  std::vector<Vector<double>> L(2, Vector<double>::Zero(2));
  std::vector<double> sinks(2);
  FlashRule<double> rule;
  rule.bias = &bias, rule.sink = 1;

  // refuse results in one place
  const auto pass = [&](std::size_t o, std::size_t q, std::size_t b,
                        std::size_t s) {
    std::vector<FlashHead<double>> heads;
    std::vector<FlashCotangent<double>> bars;
    for (const std::size_t h : {0, 1}) {
      heads.push_back({view_in<double>(Q), view_in<double>(K),
                       view_in<double>(V), view_out(O[h * o]), L[h].data(),
                       rule});
      bars.push_back({view_in<double>(Q), nullptr, view_out(dQ[h * q]),
                      view_out(dK[h]), view_out(dV[h]), &sinks[h * s],
                      &dB[h * b]});
    }
    flash_forward<double>(heads);
    flash_backward<double>(heads, bars);
  };
  const auto refused = [&](auto f, const char* words) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  pass(1, 1, 1, 1);

  // refuse results in other places
  const FlashHead<double> one{view_in<double>(Q), view_in<double>(K),
                              view_in<double>(V), view_out(O[0]), L[0].data()};
  FlashHead<double> two = one;
  new (&two.O) Out<double>(view_out(O[1]));
  refused([&] { flash_forward<double>(std::array{one, two}); }, "logZ of head 1");
  for (std::size_t k = 0; k < 6; ++k) {
    std::vector<Matrix<double>> x(8, K);  // of Q, K, V, O, dO, dQ, dK, dV
    std::array<std::size_t, 3> at{5, 6, 7};
    at[k % 3] = std::array<std::size_t, 6>{0, 1, 2, 1, 3, 4}[k];
    const auto out = [&x](std::size_t a, Index n) {
      return Out<double>(x[a].data(), n, 3, Eigen::OuterStride<>(3));
    };
    const auto in = [&x](std::size_t a, Index n) {
      return In<double>(x[a].data(), n, 3, Eigen::OuterStride<>(3));
    };
    const FlashHead<double> h{in(0, 2), in(1, 4), in(2, 4), out(3, 2),
                              L[0].data()};
    const FlashCotangent<double> c{in(4, 2), nullptr, out(at[0], 2),
                                   out(at[1], 4), out(at[2], 4)};
    refused([&] { flash_backward<double>({&h, 1}, {&c, 1}); },
            "is its Q, K, V, O or dO");
  }
  FlashHead<double> bent = one;
  Matrix<double> mine = bias;
  bent.rule.bias = &mine;
  const FlashCotangent<double> its{view_in<double>(Q), nullptr,
                                   view_out(dQ[0]), view_out(dK[0]),
                                   view_out(dV[0]), nullptr, &mine};
  refused([&] { flash_backward<double>({&bent, 1}, {&its, 1}); },
          "dbias of head 0 is its bias");
  refused([&] { pass(0, 1, 1, 1); }, "heads 0 and 1 have one O");
  refused([&] { pass(1, 0, 1, 1); }, "have one place for dQ and dQ");
  refused([&] { pass(1, 1, 0, 1); }, "have one place for dbias and dbias");
  refused([&] { pass(1, 1, 1, 0); }, "have one place for dsink and dsink");
}
BOOST_AUTO_TEST_CASE(refuses_an_output_over_its_keys) {
  Matrix<double> K = gaussian<double>(4, 3, 2), V = gaussian<double>(4, 3, 3);
  for (Matrix<double>* O : {&K, &V}) {
    const FlashHead<double> h{view_in<double>(K), view_in<double>(K),
                              view_in<double>(V), view_out(*O)};
    BOOST_CHECK_EXCEPTION(flash_forward<double>({&h, 1}),
                          std::invalid_argument, says("is its K or V"));
  }
}
void check_side_by_side(Index n, Index kv) {
  const Index H = 4, d = 5, e = 3;
  const auto Q = gaussian<double>(n, H * d, 1);
  const auto K = gaussian<double>(n, kv * d, 2);
  const auto V = gaussian<double>(n, kv * e, 3);
  const auto dO = gaussian<double>(n, H * e, 4);
  const FlashHeads<double> many{
      H, kv, causal_rule<double>(), {0.5, 0.25, 0.1, 0}, {0, 1, -1, 2}};
  const auto y = flash(Q, K, V, many);
  const auto g = flash_vjp(Q, K, V, y, dO, many);
  Matrix<double> dK = Matrix<double>::Zero(n, kv * d);
  Matrix<double> dV = Matrix<double>::Zero(n, kv * e);
  for (Index h = 0; h < H; ++h) {
    // compare one head with the whole
    const Matrix<double> q = Q.middleCols(h * d, d);
    const Matrix<double> k = K.middleCols(h * kv / H * d, d);
    const Matrix<double> v = V.middleCols(h * kv / H * e, e);
    const auto one = flash(q, k, v, many.rule_of(h));
    verify((one.O - y.O.middleCols(h * e, e)).norm(), 0);
    verify((one.logZ.transpose() - y.logZ.row(h)).norm(), 0);
    const auto back = flash_vjp<double>(q, k, v, one, dO.middleCols(h * e, e),
                                        many.rule_of(h));
    verify((back.Q - g.Q.middleCols(h * d, d)).norm(), 0);
    verify(std::abs(back.sink - g.sinks[std::size_t(h)]), 0);
    dK.middleCols(h * kv / H * d, d) += back.K;
    dV.middleCols(h * kv / H * e, e) += back.V;
  }
  verify(distance(g.K, dK) + distance(g.V, dV), 0);
}
BOOST_AUTO_TEST_CASE(heads_side_by_side) {
  const Index from = detail::stack_from;
  for (const Index n : {Index(19), from - 1, from, from + 65})
    for (const Index kv : {1, 2, 4}) check_side_by_side(n, kv);
}
MultiHead<quad> selecting(Index H, Index kv, Index d, Index e) {
  const auto part = [](Index rows, Index first, Index n) {
    Matrix<quad> W = Matrix<quad>::Zero(rows, n);
    for (Index a = 0; a < n; ++a) W(first + a, a) = 1;
    return W;
  };
  MultiHead<quad> m;
  m.heads = H, m.kv_heads = kv;
  m.W_Q = part(H * d, 0, H * d);
  m.W_K = part(kv * (d + e), 0, kv * d);
  m.W_V = part(kv * (d + e), kv * d, kv * e);
  m.W_O = part(H * e, 0, H * e);
  return m;
}
void check_grouped(Index kv, bool causal) {
  const Index H = 6, d = 4, e = 3, n = 9, m = 11;
  const auto Q = gaussian<double>(n, H * d, 1);
  const auto K = gaussian<double>(m, kv * d, 2);
  const auto V = gaussian<double>(m, kv * e, 3);
  Matrix<quad> context(m, kv * (d + e));
  context << lift<quad>(K), lift<quad>(V);
  const Matrix<quad> truth =
      attend(selecting(H, kv, d, e), Matrix<quad>(lift<quad>(Q)), context,
             causal ? bias_of<quad>(attn::causal(n, m)) : Matrix<quad>());
  FlashHeads<double> many{H, kv};
  if (causal) many.rule.right = 0;
  const auto y = flash(Q, K, V, many);
  for (Index h = 0; h < H; ++h) {
    const Index g = h / (H / kv);
    const Case<double> c{Q.middleCols(h * d, d), K.middleCols(g * d, d),
                         V.middleCols(g * e, e), {}, {}, {}, {}, many.rule};
    const Bounds<double> bound(c, forward_truth(c));
    verify(y.O.middleCols(h * e, e), truth.middleCols(h * e, e),
           bound.dO_bound);
  }
}
BOOST_AUTO_TEST_CASE(grouped_heads_of_the_equations) {
  for (const Index kv : {1, 2, 3, 6}) check_grouped(kv, false);
}
BOOST_AUTO_TEST_CASE(grouped_causal_heads_of_the_equations) {
  for (const Index kv : {1, 2, 3, 6}) check_grouped(kv, true);
}
BOOST_AUTO_TEST_CASE(one_head_is_plain) {
  const auto Q = gaussian<float>(3, 4, 1), K = gaussian<float>(5, 4, 2);
  const auto V = gaussian<float>(5, 2, 3);
  const FlashHeads<float> one{};
  const auto y = flash(Q, K, V, one);
  verify(distance(y.O, flash(Q, K, V).O), 0);
  const auto g = flash_vjp(Q, K, V, y, gaussian<float>(3, 2, 4), one);
  BOOST_TEST(shape(g.Q) == shape(Q));
  BOOST_TEST(shape(g.K) == shape(K));
  BOOST_TEST(shape(g.V) == shape(V));
}
BOOST_AUTO_TEST_CASE(refuses_groups_going_back) {
  const auto Q = gaussian<double>(2, 3, 1), K = gaussian<double>(4, 3, 2);
  const auto V = gaussian<double>(4, 2, 3);
  Matrix<double> O = gaussian<double>(2, 2, 4), dQ = Q, dK = K, dV = V;
  Vector<double> L = Vector<double>::Zero(2);
  FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                      view_in<double>(V), view_out(O), L.data(), {}};
  const FlashCotangent<double> bar{view_in<double>(O), nullptr, view_out(dQ),
                                   view_out(dK), view_out(dV)};
  for (const Index shared : {-1, 0, 2})
    BOOST_CHECK_EXCEPTION(flash_backward<double>({&h, 1}, {&bar, 1}, shared),
                          std::invalid_argument, says("sharing keys"));
  h.rule.share = 2;
  BOOST_CHECK_EXCEPTION(flash_backward<double>({&h, 1}, {&bar, 1}),
                        std::invalid_argument, says("2 heads in one"));
}
BOOST_AUTO_TEST_CASE(refuses_heads_that_share_other_keys) {
  const auto Q = gaussian<double>(2, 3, 1), K = gaussian<double>(4, 3, 2);
  const auto V = gaussian<double>(4, 2, 3);
  const Matrix<double> other_K = K, other_V = V;
  Matrix<double> O = gaussian<double>(2, 2, 4), dQ = Q, dK = K, dV = V;
  Matrix<double> far_K = K, far_V = V;
  Vector<double> L = Vector<double>::Constant(2, 9);
  const auto refused = [&](const auto& k, const auto& v, auto& dk, auto& dv) {
    const FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                              view_in<double>(V), view_out(O), L.data(), {}},
        g{view_in<double>(Q), view_in<double>(k), view_in<double>(v),
          view_out(O), L.data(), {}};
    const auto y = view_in<double>(O);
    const FlashCotangent<double> a{y, nullptr, view_out(dQ), view_out(dK),
                                   view_out(dV)},
        b{y, nullptr, view_out(dQ), view_out(dk), view_out(dv)};
    const std::array heads{h, g};
    const std::array bars{a, b};
    BOOST_CHECK_EXCEPTION(flash_backward<double>(heads, bars, 2),
                          std::invalid_argument, says("head 1 shares"));
  };
  refused(other_K, V, dK, dV), refused(K, other_V, dK, dV);
  refused(K, V, far_K, dV), refused(K, V, dK, far_V);
  verify(largest(dK - K) + largest(dV - V), 0);
}
BOOST_AUTO_TEST_CASE(refuses_sums_in_one_place) {
  const auto Q = gaussian<double>(2, 3, 1), K = gaussian<double>(4, 3, 2);
  const auto V = gaussian<double>(4, 2, 3);
  const Matrix<double> other = K;
  Matrix<double> O = gaussian<double>(2, 2, 4);
  Vector<double> L = Vector<double>::Constant(2, 9);
  Matrix<double> room = Matrix<double>::Constant(8, 8, 7);
  const auto at = [&](Index first, Index cols, Index apart) {
    return Out<double>(room.data() + first, 4, cols,
                       Eigen::OuterStride<>(apart));
  };
  const auto a = at(0, 3, 3), far_a = at(0, 3, 4), b = at(30, 3, 3);
  const auto c = at(20, 2, 2), far_c = at(20, 2, 3), d = at(50, 2, 2);
  const auto e = at(42, 2, 2), f = at(12, 2, 2);
  using Sums = std::vector<std::pair<Out<double>, Out<double>>>;
  const auto back = [&](const Sums& sums, Index shared) {
    // go back with sums in these places
    std::vector<FlashHead<double>> heads;
    std::vector<FlashCotangent<double>> bars;
    std::vector<Matrix<double>> dQ(sums.size(), Q);
    for (std::size_t h = 0; h < sums.size(); ++h) {
      const bool odd = Index(h) / shared % 2;
      heads.push_back({view_in<double>(Q), view_in<double>(odd ? other : K),
                       view_in<double>(V), view_out(O), L.data(), {}});
      bars.push_back({view_in<double>(O), nullptr, view_out(dQ[h]),
                      sums[h].first, sums[h].second});
    }
    flash_backward<double>(heads, bars, shared);
  };

  // refuse places that two heads have
  const auto refused = [&](const Sums& sums, Index shared, std::string words) {
    BOOST_CHECK_EXCEPTION(back(sums, shared), std::invalid_argument,
                          says(words));
    verify((room.array() - 7).abs().sum(), 0);
  };
  refused({{a, c}, {far_a, c}}, 2, "head 1 shares");
  refused({{a, c}, {a, far_c}}, 2, "head 1 shares");
  const auto words = [](int h, int g, const char* one, const char* two) {
    return "heads " + std::to_string(h) + " and " + std::to_string(g) +
           " have one place for " + one + " and " + two + ";";
  };
  const auto dK = words(0, 1, "dK", "dK"), dV = words(0, 1, "dV", "dV");
  refused({{a, c}, {a, d}}, 1, dK), refused({{a, c}, {b, c}}, 1, dV);
  refused({{a, c}, {far_a, d}}, 1, dK);
  refused({{a, c}, {b, d}, {a, e}}, 1, words(0, 2, "dK", "dK"));
  refused({{a, c}, {b, d}, {b, e}}, 1, words(1, 2, "dK", "dK"));
  refused({{a, c}, {b, f}, {far_a, f}}, 1, words(0, 2, "dK", "dK"));
  refused({{a, c}, {a, c}, {a, d}, {a, d}}, 2, words(0, 2, "dK", "dK"));
  refused({{a, c}, {a, c}, {b, c}, {b, c}}, 2, words(0, 2, "dV", "dV"));
  back({{a, c}, {b, d}}, 1);
  BOOST_TEST((room.array() != 7).any());
}
BOOST_AUTO_TEST_CASE(refuses_heads_that_do_not_divide) {
  const Matrix<double> Q(3, 8), K(5, 6), V(5, 6);
  BOOST_CHECK_EXCEPTION(flash(Q, K, V, FlashHeads<double>{4, 3}),
                        std::invalid_argument, says("4 heads on 3"));
  BOOST_CHECK_EXCEPTION(flash(Q, K, V, FlashHeads<double>{2, 2, {}, {1.0}}),
                        std::invalid_argument, says("1 slopes or sinks"));
  const Matrix<double> wide(5, 8);
  BOOST_CHECK_EXCEPTION(flash(Q, wide, V, FlashHeads<double>{4, 2}),
                        std::invalid_argument, says("Q is 3x2 but K is 5x4"));
  for (const auto& [k, v] : {std::pair<Index, Index>{5, 6}, {6, 5}})
    BOOST_CHECK_EXCEPTION(
        flash(Q, Matrix<double>(5, k), Matrix<double>(5, v),
              FlashHeads<double>{4, 2}),
        std::invalid_argument, says("flash: 4 heads on 2 of keys"));
}
BOOST_AUTO_TEST_CASE(refuses_cotangents_of_other_heads) {
  const Matrix<double> Q(3, 8), K(5, 8), V(5, 6);
  const FlashHeads<double> many{2, 2};
  const auto y = flash(Q, K, V, many);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{3, 5}, {2, 6}})
    BOOST_CHECK_EXCEPTION(
        flash_vjp(Q, K, V, y, Matrix<double>(rows, cols), many),
        std::invalid_argument, says("expected 3x6"));
}
BOOST_AUTO_TEST_CASE(refuses_outputs_of_other_heads) {
  const Matrix<double> Q(3, 8), K(5, 8), V(5, 8);
  const auto refused = [&](Index O_rows, Index O_cols, Index rows, Index cols,
                           const char* words) {
    const HeadsOutput<double> y{Matrix<double>(O_rows, O_cols),
                                Matrix<double>(rows, cols)};
    BOOST_CHECK_EXCEPTION(flash_vjp(Q, K, V, y, Matrix<double>(3, 8),
                                    FlashHeads<double>{4, 4}),
                          std::invalid_argument, says(words));
  };
  refused(3, 8, 2, 3, "flash_vjp: logZ is 2x3, expected 4x3");
  refused(3, 8, 4, 2, "flash_vjp: logZ is 4x2, expected 4x3");
  refused(3, 4, 4, 3, "flash_vjp: O is 3x4, expected 3x8");
  refused(2, 8, 4, 3, "flash_vjp: O is 2x8, expected 3x8");
}

// check decoding from pages
/// What bringing maxima from base two to base e adds to the scores of row i.
template <class T>
double rebased(const Truth& t, Index i) {
  double size = 0;
  for (Index j = 0; j < t.S.cols(); ++j)
    if (t.S(i, j) > quad(-inf))
      size = std::max(size, std::abs(to_double(t.S(i, j))));
  return 2 * unit_roundoff<T>() * size;
}
BOOST_AUTO_TEST_CASE(decode_any_pages) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    const bool is_long = seed % 4 == 0;
    const Index n = (is_long ? 8192 : 1) + roll(600);
    const Index d = 1 + roll(9), e = roll(7);
    const auto K = gaussian<float>(n, d, seed);
    const auto V = gaussian<float>(n, e, seed + 1);
    const Matrix<float> q = 2 * gaussian<float>(1 + roll(9), d, seed + 2);
    std::vector<Page<float>> pages;
    for (Index j = 0; j < n;) {
      const Index one = is_long && roll(3) == 0 ? 8192 : 0;
      const Index b = std::min(n - j, std::abs(one - roll(90)));
      pages.push_back({view_in<float>(K.middleRows(j, b)),
                       view_in<float>(V.middleRows(j, b))});
      j += b;
    }
    Case<float> c{q, K, V, {}, {}, {}, {}};
    if (roll(2)) c.plain.right = 0;
    if (roll(2)) c.plain.sink = 8.0f;
    verify_few(c, pages);

    // hold a cache to the bound of single keys
    const auto states = decode<float>(c.Q, pages, c.rule());
    c.plain.key_block = 1;
    const Truth t = forward_truth(c);
    for (Index i = 0; i < q.rows(); ++i) {
      const Bounds<float> bound(c, t, rebased<float>(t, i));
      const auto& x = states[std::size_t(i)];
      verify(x.output(), t.O.row(i), bound.dO_bound.row(i));
      if (t.L(i) == quad(-inf)) BOOST_TEST(x.logZ() == -float(inf));
      else verify(distance(x.logZ(), t.L(i)), bound.dL(i));
    }
  }
}
BOOST_AUTO_TEST_CASE(decode_by_the_longest_block) {
  Case<double> c{gaussian<double>(3, 4, 1), gaussian<double>(100, 4, 2),
                 gaussian<double>(100, 2, 3), {}, {}, {}, {}};
  c.plain.key_block = std::numeric_limits<Index>::max();
  const auto half = [&](const auto& x, Index j) {
    return view_in<double>(x.middleRows(j, 50));
  };
  verify_few(c, {{half(c.K, 0), half(c.V, 0)},
                 {half(c.K, 50), half(c.V, 50)}});
  check_forward(c);
}
BOOST_AUTO_TEST_CASE(few_queries_of_a_group) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Dice roll{seed};
    const Index share = 1 + roll(5), n = share * (1 + roll(4));
    const Index m = 1 + roll(200), d = 1 + roll(9), e = roll(7);
    Case<float> c{gaussian<float>(n, d, seed, "Q"),
                  gaussian<float>(m, d, seed, "K"),
                  gaussian<float>(m, e, seed, "V"), {}, {}, {}, {}};
    std::vector<float> own;
    for (Index h = 0; h < share; ++h) own.push_back(0.25f * float(roll(9)));
    c.plain.share = share;

    // draw a rule for few queries
    FlashRule<float>& r = c.plain;
    r.key_block = 1 + roll(9), r.groups = 1 + roll(3);
    if (roll(2)) r.right = roll(4);
    if (roll(2)) r.left = roll(90);
    if (roll(3) == 0) r.offset = roll(20) - 10;
    if (roll(3) == 0) r.softcap = 1.5f;
    if (roll(3) == 0) r.slopes = own;
    if (roll(3) == 0) r.sinks = own;
    if (roll(4) == 0) r.slope = 0.5f, r.slopes = {};
    verify_few(c, paged(c.K, c.V, 1 + roll(90)));
    check_forward(c);
  }
}
BOOST_AUTO_TEST_CASE(few_queries_on_a_long_cache) {
  Case<double> c{gaussian<double>(3, 5, 1, "Q"),
                 gaussian<double>(16385, 5, 1, "K"),
                 gaussian<double>(16385, 2, 1, "V"), {}, {}, {}, {}};
  const std::vector<double> sinks{0, 8, 9};
  c.plain.share = 3, c.plain.slope = 0.0001, c.plain.sinks = sinks;
  verify_few(c, paged(c.K, c.V, 16385));
  c.plain.left = 100, c.plain.right = 0;
  verify_few(c, paged(c.K, c.V, 16385));
  const auto clean = decode<double>(c.Q, paged(c.K, c.V, 5000), c.plain);
  c.K.topRows(8000).setConstant(NaN), c.V.topRows(8000).setConstant(NaN);
  const auto y = decode<double>(c.Q, paged(c.K, c.V, 5000), c.plain);
  for (std::size_t i = 0; i < 3; ++i)
    verify(distance(y[i].o, clean[i].o) + distance(y[i].l, clean[i].l), 0);
}
/// The error of one query on a cache of pages of so many keys, and its
/// bound with M and P counted so often.
std::pair<double, double> plain_decoding(
    const Matrix<float>& K, const Matrix<float>& V,
    const Matrix<bool>& keep, Index page, Index block,
    double count_M, double count_P) {
  FlashRule<float> rule;
  rule.scale = 1.0f, rule.key_block = block;
  rule.keep = &keep, rule.keep_q = rule.keep_k = 1;
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  const auto y = decode<float>(one, paged(K, V, page), rule)[0];
  const double P = std::ceil(double(K.rows()) / double(page)) *
                   std::ceil(double(page) / 8192);

  // find the truth of plain decoding
  std::vector<quad> S, A;
  std::vector<double> v;
  quad m = quad(-inf), Z = 0, O = 0;
  for (Index j = 0; j < K.rows(); ++j) {
    if (!keep(0, j)) continue;
    S.push_back(log(quad(2)) * quad(K(j) * std::numbers::log2e_v<float>));
    v.push_back(double(V(j)));
    if (m < S.back()) m = S.back();
  }
  for (const quad& s : S) A.push_back(exp(s - m)), Z += A.back();
  const quad L = m + log(Z);
  for (std::size_t k = 0; k < S.size(); ++k)
    O += (A[k] /= Z) * quad(v[k]);

  // bound plain decoding
  const double u = 0x1p-24, b = double(std::min(block, K.rows()));
  const double D = std::ceil(double(K.rows()) / b);
  double M = std::abs(to_double(L)), mean = 0, most = 0, bound = 0;
  for (const quad& s : S) M = std::max(M, std::abs(to_double(s)));
  const auto rho = [&](std::size_t k) {
    return u * (to_double(m - S[k]) + b + 3 + 6 * (D + 1) + count_M * M +
                count_P * P);
  };
  for (std::size_t k = 0; k < S.size(); ++k)
    mean += to_double(A[k]) * rho(k), most = std::max(most, rho(k));
  for (std::size_t k = 0; k < S.size(); ++k)
    bound += to_double(A[k]) * std::abs(v[k]) * (rho(k) + mean);
  bound /= 1 - 3 * most;
  return {distance(y.output()(0), O), bound};
}
BOOST_AUTO_TEST_CASE(maxima_are_rounded) {
  const auto gain = [](float k) {
    const float x = k * std::numbers::log2e_v<float>;
    const float L = x * std::numbers::ln2_v<float>;
    return double(L) - double(x) * std::numbers::ln2;
  };
  float low = 70000, high = low;
  for (int i = 0; i < 2000; ++i) {
    const float k = 70000 + float(i) / 128;
    if (gain(k) < gain(low)) low = k;
    if (gain(k) > gain(high)) high = k;
  }
  Matrix<float> K = Matrix<float>::Zero(8193, 1), V = K;
  K(0) = low, K(8192) = high, V(0) = 1, V(8192) = -1;
  Matrix<bool> keep = Matrix<bool>::Zero(1, 8193);
  keep(0) = keep(8192) = true;
  const auto [error, bound] = plain_decoding(K, V, keep, 8192, 128, 2, 10);
  verify(error, bound);
  refute(error, plain_decoding(K, V, keep, 8192, 128, 0, 10).second);
}
BOOST_AUTO_TEST_CASE(pages_are_added) {
  const Index n = 8000;
  const Matrix<float> K = Matrix<float>::Constant(
      n, 1, -std::log(float(n)) / 2);
  Matrix<float> V = Matrix<float>::Constant(n, 1, 1.5f);
  float sum = 0;
  for (Index j = 0; j < n; ++j) {
    float& v = V(j);
    const float half = std::ldexp(1.0f, std::ilogb(sum + 1.5f) - 24);
    if (half >= 0x1p-23f) v += half + 0x1p-23f;
    sum += v;
  }
  const Matrix<bool> keep = Matrix<bool>::Ones(1, n);
  const auto [error, bound] = plain_decoding(K, V, keep, 1, 219, 2, 10);
  verify(error, bound);
  refute(error, plain_decoding(K, V, keep, 1, 219, 2, 0).second);
}
BOOST_AUTO_TEST_CASE(few_queries_at_every_boundary) {
  check_few_shapes<float, double>(120);
  check_few_shapes<double, quad>(20);
}
BOOST_AUTO_TEST_CASE(few_queries_of_several_heads) {
  check_turns<float, double>(40);
  check_turns<double, quad>(8);
}
BOOST_AUTO_TEST_CASE(few_queries_fill_lanes_together) {
  check_together<float, double>(400);
  check_together<double, quad>(30);
}
BOOST_AUTO_TEST_CASE(few_queries_after_others) {
  const Index d = 2 * detail::width<float>;
  const Matrix<float> bad = Matrix<float>::Constant(2, d, float(NaN));
  const auto Q = gaussian<float>(2, d - 3, 1, "Q");
  const auto K = gaussian<float>(40, d - 3, 1, "K");
  const auto V = gaussian<float>(40, 3, 1, "V");
  const auto wide = gaussian<float>(40, d, 1, "wide");
  Matrix<float> O(2, 3), before(2, 3), after(2, 3);
  const auto head = [&](const auto& q, const auto& k, auto& o) {
    return FlashHead<float>{view_in<float>(q), view_in<float>(k),
                            view_in<float>(V), view_out(o)};
  };
  const std::vector heads{head(bad, wide, before), head(Q, K, O),
                          head(bad, wide, after)};
  flash_forward<float>(heads);
  BOOST_TEST((before.hasNaN() && after.hasNaN()));
  verify(distance(O, flash(Q, K, V).O), 0);
}
BOOST_AUTO_TEST_CASE(few_queries_refused) {
  const auto K = gaussian<float>(4, 3, 1, "K");
  const auto Q = gaussian<float>(4, 3, 1, "Q");
  const auto pages = paged(K, K, 2);
  const auto refused = [&](auto change, const char* words) {
    FlashRule<float> rule;
    change(rule);
    BOOST_CHECK_EXCEPTION(decode<float>(Q, pages, rule), std::exception,
                          says(words));
  };
  const std::vector<float> two{1, 2}, bad{1, float(inf)};
  refused([&](auto& r) { r.bias = &K; }, "bias is 4x3, expected 4x4");
  refused([](auto& r) { r.keys = 5; }, "lengths 4 and 5");
  refused([](auto& r) { r.share = 3; }, "4 queries of 3 heads");
  refused([](auto& r) { r.share = 0; }, "4 queries of 0 heads");
  refused([&](auto& r) { r.slopes = two; }, "2 slopes or sinks for 1");
  refused([&](auto& r) { r.sinks = bad, r.share = 2; }, "sink must be");
  refused([&](auto& r) { r.slopes = bad, r.share = 2; }, "slope and scale");
}
BOOST_AUTO_TEST_CASE(few_queries_refuse_bad_pages) {
  const auto K = gaussian<float>(4, 3, 1, "K");
  const auto pages = paged(K, K, 2);
  BOOST_CHECK_EXCEPTION(decode<float>(gaussian<float>(1, 2, 1, "q"), pages,
                                      FlashRule<float>{}),
                        std::invalid_argument, says("Q is 1x2, but a page"));
  const std::vector<Page<float>> none;
  BOOST_CHECK_EXCEPTION(decode<float>(K, none, FlashRule<float>{}),
                        std::invalid_argument, says("decode: no pages"));
}
BOOST_AUTO_TEST_CASE(decode_pages_in_any_order) {
  const Index n = 500, d = 6, e = 5;
  Case<double> c{gaussian<double>(1, d, 1), gaussian<double>(n, d, 2),
                 gaussian<double>(n, e, 3), {}, {}, {}, {}};
  c.plain.key_block = 1, c.plain.scale = 1.25;
  const RowVector<double> q = c.Q.row(0);
  const Truth t = forward_truth(c);
  const Bounds<double> bound(c, t, rebased<double>(t, 0));
  for (const Index b : {1, 7, 128, 500}) {
    const auto parts = paged(c.K, c.V, b);
    const std::vector<Page<double>> pages(parts.rbegin(), parts.rend());
    const auto y = decode<double>(q, pages, 1.25);
    verify(y.output(), t.O, bound.dO_bound);
    verify(distance(y.logZ(), t.L(0)), bound.dL(0));
  }
}
BOOST_AUTO_TEST_CASE(decode_is_flash) {
  const Index n = 9001, d = 8;
  Case<float> c{gaussian<float>(1, d, 1), gaussian<float>(n, d, 2),
                gaussian<float>(n, d, 3), {}, {}, {}, {}};
  const RowVector<float> q = c.Q.row(0);
  const auto pages = paged(c.K, c.V, n);
  const auto x = decode<float>(q, pages);
  const auto y = decode<float>(c.Q, pages, c.rule())[0];
  verify(distance(x.o, y.o) + distance(x.l, y.l) + distance(x.m, y.m), 0);
  verify_few(c, pages);
  c.Q = c.Q.replicate(detail::lanes<float>, 1).eval();
  check_forward(c);
}
BOOST_AUTO_TEST_CASE(decode_of_single_keys) {
  const Matrix<float> K = gaussian<float>(1, 3, 1);
  const Matrix<float> V = gaussian<float>(1, 2, 2);
  const RowVector<float> q = gaussian<float>(1, 3, 3);
  verify(distance(decode<float>(q, paged(K, V, 1)).output(), V.row(0)), 0);
  const Case<float> c{gaussian<float>(3, 6, 1), gaussian<float>(900, 6, 2),
                      gaussian<float>(900, 5, 3), {}, {}, {}, {}};
  verify_few(c, paged(c.K, c.V, 1));  // of seven blocks, 128 pages each
}
BOOST_AUTO_TEST_CASE(decode_sees_nan_in_any_page) {
  Matrix<float> K = gaussian<float>(300, 3, 1), V = gaussian<float>(300, 2, 2);
  K(150, 1) = float(NaN);
  for (const Index b : {1, 64, 151, 300}) {  // 1: alone in its page
    const auto y = decode<float>(gaussian<float>(1, 3, 3), paged(K, V, b));
    BOOST_TEST(std::isnan(y.output()(0)));
    BOOST_TEST(std::isnan(y.output()(1)));
    BOOST_TEST(std::isnan(y.logZ()));
  }
}
BOOST_AUTO_TEST_CASE(decode_of_forbidden_keys) {
  const RowVector<float> q = RowVector<float>::Ones(3);
  const auto V = gaussian<float>(4, 2, 2);
  Matrix<float> K = Matrix<float>::Constant(4, 3, -float(inf));
  const auto y = decode<float>(q, paged(K, V, 4));
  BOOST_TEST((y.output().size() == 2 && y.logZ() == -float(inf)));
  verify(y.output().norm(), 0);
  K.row(3).setOnes();
  for (const Index b : {1, 2})
    verify(distance(decode<float>(q, paged(K, V, b)).output(), V.row(3)), 0);
  FlashRule<float> before;
  before.right = 0, before.offset = -1;
  for (const auto& x : decode<float>(Matrix<float>(q), paged(K, V, 4), before))
    BOOST_TEST((x.l == 0 && x.m == -float(inf) && x.o.isZero(0)));
}
BOOST_AUTO_TEST_CASE(decode_edges) {
  const Matrix<float> none(0, 4), K = gaussian<float>(3, 4, 1);
  const RowVector<float> q = gaussian<float>(1, 4, 2);
  const auto nothing = view_in<float>(none), keys = view_in<float>(K);
  const std::vector<Page<float>> empty{{nothing, nothing}};
  verify(decode<float>(q, empty).output().norm(), 0);
  BOOST_TEST(decode<float>(q, empty).logZ() == -float(inf));
  const Matrix<float> bare(3, 0);
  const std::vector<Page<float>> odd{{keys, nothing}},
      flat{{view_in<float>(bare), keys}};
  BOOST_CHECK_EXCEPTION(decode<float>(q, odd), std::invalid_argument,
                        says("a page has K 3x4 and V 0x4"));
  BOOST_CHECK_EXCEPTION(decode<float>(q, {}), std::invalid_argument,
                        says("decode: no pages"));
  BOOST_CHECK_EXCEPTION(decode<float>(RowVector<float>(0), flat),
                        std::invalid_argument, says("an explicit scale"));
}

// check errata of flash attention
BOOST_AUTO_TEST_CASE(unguarded_recurrence) {
  int lost = 0;
  for (Index i = 0; i < 12; ++i) {
    RowVector<double> s = gaussian<double>(1, 8, std::uint64_t(i) + 1);
    if (i % 3 != 0) s.head(4).setConstant(-inf);
    double m = -inf, l = 0;
    for (Index j = 0; j < 8; j += 4) {
      const double top = std::max(m, s.segment(j, 4).maxCoeff());
      l = l * std::exp(m - top) + (s.segment(j, 4).array() - top).exp().sum();
      m = top;
    }
    lost += std::isnan(l);
    const Matrix<double> V = gaussian<double>(8, 2, std::uint64_t(i) + 20);
    const Matrix<quad> A = softmax(RowVector<quad>(lift<quad>(s)));
    verify(online_row(s, V, 4).output(), times(A, lift<quad>(V)),
           merged_bound(s, V, 4, 2));
  }
  fact("lost", lost);
  refute(lost, 8);
}
BOOST_AUTO_TEST_CASE(output_alone_is_not_enough) {
  Dice roll{3};
  Case<double> c = plain_case<double>(roll, 40);
  c.Q = gaussian<double>(6, 4, 1), c.K = gaussian<double>(8, 4, 2);
  c.V = gaussian<double>(8, 3, 3), c.dO = gaussian<double>(6, 3, 4);
  c.dL = Vector<double>::Zero(6);
  const auto g = check_backward(c);
  const Matrix<double> S = c.Q * c.K.transpose() / 2;
  Matrix<double> dV(8, 3);
  for (const Index j : {0, 4})
    dV.middleRows(j, 4) = softmax(S.middleCols(j, 4)).transpose() * c.dO;
  const double off = (dV - g.V).norm() / g.V.norm();
  fact("off", off);
  refute(off, 0.1);
}
BOOST_AUTO_TEST_CASE(printed_pseudocode) {
  const RowVector<double> s = gaussian<double>(1, 7, 1);
  const Matrix<double> V = gaussian<double>(7, 2, 2);
  const auto all = online_row(s, V, 4);
  const auto full_blocks = block_state(s, V, 0, 4);
  const double lost = (all.output() - full_blocks.output()).norm();
  fact("lost", lost);
  refute(lost, 0.1);
  Online<double> printed{-inf, -inf, RowVector<double>::Zero(2)};
  for (const Index j : {0, 4}) {
    const auto b = block_state(s, V, j, std::min<Index>(4, 7 - j));
    const double m = std::max(printed.m, b.m);
    const double p = std::exp(printed.m - m), q = std::exp(b.m - m);
    printed = {m, p * printed.l + q * b.l, p * printed.o + q * b.o};
  }
  const RowVector<double> y = printed.o / printed.l;
  refute(double((y.array() == 0 || y.array().isNaN()).all()), 1);
  const Matrix<quad> A = softmax(RowVector<quad>(lift<quad>(s)));
  verify(all.output(), times(A, lift<quad>(V)), merged_bound(s, V, 4, 2));
}

// check the answers of the flash chapter
BOOST_AUTO_TEST_CASE(answer_ring) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Dice roll{seed};
    Case<double> c = plain_case<double>(roll, 10 * seed);
    const Index m = c.K.rows(), half = m / 2;
    const auto a = flash(c.Q, c.K.topRows(half), c.V.topRows(half));
    const auto b = flash(c.Q, c.K.bottomRows(m - half),
                         c.V.bottomRows(m - half));
    const Truth t = forward_truth(c);
    c.plain.key_block = 1;
    const Bounds<double> bound(c, t);
    for (Index i = 0; i < c.Q.rows(); ++i) {
      const auto x = merge(Online<double>{a.logZ(i), 1, a.O.row(i)},
                           Online<double>{b.logZ(i), 1, b.O.row(i)});
      verify(x.output(), t.O.row(i), 2 * bound.dO_bound.row(i));
    }
  }
}
struct WithEntropy { quad m, l, f; };
WithEntropy unite(const WithEntropy& a, const WithEntropy& b) {
  const quad m = a.m < b.m ? b.m : a.m;
  const quad p = decay(a.m, m), q = decay(b.m, m);
  const quad up_a = p == quad(0) ? quad(0) : quad(m - a.m);
  const quad up_b = q == quad(0) ? quad(0) : quad(m - b.m);
  return {m, p * a.l + q * b.l,
          p * (a.f + up_a * a.l) + q * (b.f + up_b * b.l)};
}
BOOST_AUTO_TEST_CASE(answer_entropy) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index n = Index(1 + seed % 9);
    const RowVector<quad> s = 3 * gaussian<quad>(1, n, seed);
    WithEntropy x{quad(-inf), 0, 0};
    for (Index j = 0; j < n; ++j) x = unite(x, {s(j), 1, 0});
    // each of the two forms rounds a term at most 15 n + 30 times
    const double H = to_double(gibbs_entropy(s)(0)), roundings = 15 * 9 + 30;
    verify(distance(log(x.l) + x.f / x.l, gibbs_entropy(s)(0)),
           2 * roundings * unit_roundoff<quad>() * (1 + H + std::log(9)));
  }
}
BOOST_AUTO_TEST_CASE(answer_sentinel) {
  const Matrix<double> Q{{1}}, K{{-20000}, {0}}, V{{1}, {2}};
  Matrix<double> added{{0, -1e4}};
  FlashRule<double> rule;
  rule.bias = &added;
  refute(flash(Q, K, V, rule).O(0) - 1, 0.5);
  Matrix<bool> keep{{true, false}};
  rule.bias = nullptr, rule.keep = &keep;
  verify(std::abs(flash(Q, K, V, rule).O(0) - 1), 0);
}
BOOST_AUTO_TEST_CASE(answer_window) {
  const Index group = detail::lanes<double>, n = 8 * group, w = 5;
  const auto Q = gaussian<double>(n, 3, 1);
  Matrix<double> K = gaussian<double>(n, 3, 2), V = gaussian<double>(n, 3, 3);
  auto rule = causal_rule<double>();
  rule.left = w, rule.groups = 1;
  const auto y = flash(Q, K, V, rule);
  const Index q = 4 * group;
  for (Index j = 0; j < n; ++j)
    if (j < q - w || j >= q + group) K.row(j).setConstant(NaN);
  const auto z = flash(Q, K, V, rule);
  verify((y.O - z.O).middleRows(q, group).norm(), 0);

  // count the tiles of a window
  for (const Index b : {3, 8, 11})
    for (const Index left : {Index(0), w, 3 * group + 1}) {
      rule.key_block = b, rule.left = left;
      Matrix<double> O(n, 3);
      const FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                                view_in<double>(V), view_out(O), nullptr, rule};
      const detail::Plan<double> plan("answer_window", h);
      const Index least = (left + group + b - 1) / b;
      for (Index at = 4 * group; at < n; at += group) {
        Index tiles = 0;
        detail::visit_tiles(plan, at, at + group,
                            [&](Index, Index, Index) { ++tiles; });
        verify(std::abs(2 * double(tiles - least) - 1), 1);
      }
    }
}
BOOST_AUTO_TEST_CASE(answer_shift) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Dice roll{seed};
    Case<double> c = plain_case<double>(roll, 10 * seed);
    c.plain.right = seed % 2 == 0 ? 100 : 0;
    resize(c, c.Q.rows(), c.Q.rows() + 1);
    c.K = gaussian<double>(c.K.rows(), c.K.cols(), seed, "K");
    c.V = gaussian<double>(c.V.rows(), c.V.cols(), seed, "V");
    const auto g = check_backward(c);
    auto t = forward_truth(c);
    backward_truth(c, t);
    const Bounds<double> f(c, t);
    const BackBounds<double> b(c, t, f);
    const Matrix<quad> due =
        t.scale * times(lift<quad>(c.dL).transpose(), lift<quad>(c.Q));
    verify(lift<quad>(g.K).colwise().sum(), due, b.dK.colwise().sum());
  }
}
BOOST_AUTO_TEST_CASE(answer_rises) {
  std::array<int, 5> order{1, 2, 3, 4, 5};
  int never = 0, all = 0, sum = 0, squares = 0, worst = 0;
  do {
    int rises = 0, top = order[0];
    for (const int m : order)
      if (m > top) top = m, ++rises;
    ++all, never += rises == 0, sum += rises, squares += rises * rises;
    worst = std::max(worst, rises);
  } while (std::next_permutation(order.begin(), order.end()));
  verify(std::abs(5 * never - all), 0);
  verify(std::abs(worst - 4), 0);
  // times 60: the mean is 1/2 + 1/3 + 1/4 + 1/5 = 77/60
  verify(std::abs(60 * sum - 77 * all), 0);
  // times 3600: the variance is 1/4 + 2/9 + 3/16 + 4/25 = 2951/3600
  verify(std::abs(3600 * (squares * all - sum * sum) - 2951 * all * all), 0);
}
BOOST_AUTO_TEST_CASE(answer_shifting) {
  const auto nearest = [](float x, float shift) {
    volatile float sum = x + shift;
    return sum - shift;
  };
  refute(std::abs(nearest(-0.5f, 0x1p23f) - std::round(-0.5f)), 0.5);
  for (int k = -8000; k <= 8000; ++k) {
    const float x = float(k) / 16;
    verify(std::abs(nearest(x, 0x1.8p23f) - std::nearbyint(x)), 0);
  }
}
void check_half(Index n) {  // n times the same query
  const auto q = gaussian<double>(1, 4, 1, "Q");
  const auto K = gaussian<double>(9, 4, 1, "K");
  const auto V = gaussian<double>(9, 3, 1, "V");
  Case<double> c{q.replicate(n, 1), K, V, {}, {}, {}, {}};
  const auto y = flash(c.Q, K, V);
  const Bounds<double> before(c, forward_truth(c));
  c.plain.sink = y.logZ(0);
  const auto z = flash(c.Q, K, V, c.plain);
  const Bounds<double> after(c, forward_truth(c));
  // the sink is itself off by dL, and so are the halves
  const double off = before.dL(0);
  const RowVector<double> most = V.cwiseAbs().colwise().maxCoeff();
  verify(2 * z.O, lift<quad>(y.O), before.dO_bound + 2 * after.dO_bound +
                                       off * most.replicate(n, 1));
  for (Index i = 0; i < n; ++i)
    verify(std::abs(z.logZ(i) - y.logZ(i) - std::log(2)),
           off + before.dL(i) + after.dL(i));
}
BOOST_AUTO_TEST_CASE(answer_half) {
  check_half(1), check_half(detail::lanes<double>);
}
std::vector<Page<float>> look_up(const Matrix<float>& K,
                                 const Matrix<float>& V,
                                 const std::vector<Index>& blocks,
                                 Index keys) {
  std::vector<Page<float>> pages;
  for (const Index k : blocks) {
    const Index n = std::min<Index>(16, keys);
    pages.push_back({view_in<float>(K.middleRows(16 * k, n)),
                     view_in<float>(V.middleRows(16 * k, n))});
    keys -= n;
  }
  return pages;
}
BOOST_AUTO_TEST_CASE(answer_pool) {
  const auto K = gaussian<float>(160, 8, 1, "K");
  const auto V = gaussian<float>(160, 5, 1, "V");
  Case<float> c{gaussian<float>(2, 8, 1, "Q"), Matrix<float>(37, 8),
                Matrix<float>(37, 5), {}, {}, {}, {}};
  c.K << K.middleRows(112, 16), K.middleRows(32, 16), K.middleRows(80, 5);
  c.V << V.middleRows(112, 16), V.middleRows(32, 16), V.middleRows(80, 5);
  c.plain.right = 0;
  verify_few(c, look_up(K, V, {7, 2, 5}, 37));
}
BOOST_AUTO_TEST_CASE(answer_short_cache) {
  const auto Q = gaussian<double>(8, 16, 1, "Q");
  const auto K = gaussian<double>(200, 16, 1, "K");
  const auto V = gaussian<double>(200, 4, 1, "V");
  const auto shorten = [](const Matrix<double>& m) {
    return Matrix<double>(m.cast<Eigen::bfloat16>().cast<double>());
  };
  const auto attend = [&](const Matrix<double>& k,
                          const Matrix<double>& v) {
    const Matrix<quad> S = times(lift<quad>(Q), lift<quad>(k).transpose());
    return times(softmax(Matrix<quad>(S / quad(4))), lift<quad>(v));
  };
  const Matrix<double> A = softmax(Matrix<double>(Q * K.transpose() / 4));
  const Matrix<double> delta =
      0x1p-8 * (Q.cwiseAbs() * K.cwiseAbs().transpose() / 4);
  const Vector<double> mean = A.cwiseProduct(delta).rowwise().sum();
  Matrix<double> off =
      A.array() * ((delta.colwise() + mean).array() + 0x1p-8);
  for (Index i = 0; i < off.rows(); ++i)
    off.row(i) /= 1 - 3 * std::max(0x1p-8, delta.row(i).maxCoeff());
  verify(lift<double>(attend(shorten(K), shorten(V))), attend(K, V),
         off * V.cwiseAbs());
  const Matrix<double> tie = Matrix<double>::Constant(1, 1, 1 + 0x1p-8);
  refute(double((tie - shorten(tie))(0, 0)), 1.9 * 0x1p-9);
}
BOOST_AUTO_TEST_CASE(answer_order) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index n = 200, b = 10;
    RowVector<float> s = 2 * gaussian<float>(1, n, seed);
    std::sort(s.data(), s.data() + n, std::greater<float>());
    const Matrix<float> V = gaussian<float>(n, 1, seed + 9);
    const Matrix<quad> A = softmax(RowVector<quad>(lift<quad>(s)));
    verify(online_row(s, V, b).output(), times(A, lift<quad>(V)),
           merged_bound(s, V, b, n / b, 1));
  }
}
BOOST_AUTO_TEST_SUITE_END()
