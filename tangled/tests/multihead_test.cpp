// tests/multihead_test.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/multihead.hpp"
#include "modules.hpp"
using namespace attn;

// write multi-head attention head by head
/// Y of the definition, one head after the other; KV head h / R.
Matrix<quad> printed(const MultiHead<quad>& m, const Matrix<quad>& X,
                     const Matrix<quad>& C, const Matrix<quad>& bias) {
  Matrix<quad> Y = Matrix<quad>::Zero(X.rows(), m.W_O.cols());
  for (Index h = 0; h < m.heads; ++h) {
    const Index s = h * m.kv_heads / m.heads, k = m.d_k(), v = m.d_v();
    Matrix<quad> Q = times(X, m.W_Q.middleCols(h * k, k));
    Matrix<quad> K = times(C, m.W_K.middleCols(s * k, k));
    Matrix<quad> V = times(C, m.W_V.middleCols(s * v, v));
    if (m.b_Q.size()) Q.rowwise() += m.b_Q.segment(h * k, k).transpose();
    if (m.b_K.size()) K.rowwise() += m.b_K.segment(s * k, k).transpose();
    if (m.b_V.size()) V.rowwise() += m.b_V.segment(s * v, v).transpose();
    Matrix<quad> w = times(Q, K.transpose()) / sqrt(quad(double(k)));
    if (bias.size()) w += bias;
    w = w.array().exp();
    for (Index i = 0; i < w.rows(); ++i)
      if (const quad Z = w.row(i).sum(); Z > quad(0)) w.row(i) /= Z;
    Y += times(times(w, V), m.W_O.middleRows(h * v, v));
  }
  if (m.b_O.size()) Y.rowwise() += m.b_O.transpose();
  return Y;
}
BOOST_AUTO_TEST_SUITE(multihead)

// check the forward pass
BOOST_AUTO_TEST_CASE(printed_definition) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto s = setting<quad>(seed);
    verify(distance(attend(s.m, s.X, s.C, s.bias),
                    printed(s.m, s.X, s.C, s.bias)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(one_head_is_attention) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(1 + seed % 4), d = 3;
    MultiHead<quad> m = xavier<quad>({d, 1}, seed);
    for_each_weight([](std::string name, auto& w) {
      if (name[0] == 'W') w.setIdentity();
    }, m);
    const Matrix<quad> X = gaussian<quad>(n, d, seed);
    const Matrix<quad> C = gaussian<quad>(5, d, seed + 50);
    const Matrix<quad> S = times(X, C.transpose()) / sqrt(quad(3));
    verify(distance(attend(m, X, C), times(attn::gibbs(S), C)), 1e-31);
  }
}

// check the fused forms exactly
BOOST_AUTO_TEST_CASE(fused_equals_per_head) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(seed % 4), H = Index(1 + seed % 3);
    const Matrix<Fp> X = gaussian<Fp>(n, 5, seed);
    const Matrix<Fp> W = gaussian<Fp>(5, H * 2, seed + 30);
    const auto w = regroup<dn, up, up>(Tensor<Fp, dn, up>(W), {5, H, 2});
    const auto Q = eq<"Q^{i(h)a} = X^{im} W_m{}^{(h)a}">(  // eq:none
        view<up, up>(X), w);
    verify_exact(project<Fp>(X, W, Vector<Fp>()),
                 regroup<up, up>(Q, {n, H * 2}), 2);
  }
}
BOOST_AUTO_TEST_CASE(concatenation_is_a_sum) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(seed % 4), H = Index(1 + seed % 3);
    const Matrix<Fp> O = gaussian<Fp>(n, H * 4, seed);
    const Matrix<Fp> W = gaussian<Fp>(H * 4, 5, seed + 30);
    const auto Y = eq<"Y^{in} = O^{ihc} W_{hc}{}^n">(
        regroup<up, up, up>(Tensor<Fp, up, up>(O), {n, H, 4}),
        regroup<dn, dn, up>(Tensor<Fp, dn, up>(W), {H, 4, 5}));
    verify_exact(project<Fp>(O, W, Vector<Fp>()), Y, 2);
  }
}

// check shared keys against repeated ones
BOOST_AUTO_TEST_CASE(grouped_is_repeated) {
  for (const Index G : {1, 2, 4, 8}) {
    const auto m = xavier<quad>({16, 8, G, 3, 2}, 5);
    const Matrix<quad> X = gaussian<quad>(5, 16, 16);
    const Matrix<quad> Y = attend(m, X);
    const auto block = repeated(m, [&](Index h) { return h / (8 / G); });
    const auto tile = repeated(m, [&](Index h) { return h % G; });
    verify(distance(Y, attend(block, X)), 1e-31);
    if (1 < G && G < 8) refute(distance(Y, attend(tile, X)), 0.1);
  }
}

// check the symmetries of the heads
BOOST_AUTO_TEST_CASE(heads_may_be_renumbered) {
  const auto m = xavier<quad>({6, 3}, 1);
  const Matrix<quad> X = gaussian<quad>(4, 6, 12);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto pi = permutation(3, seed);
    MultiHead<quad> p = m;
    for (Index h = 0; h < 3; ++h) {
      const Index from = 2 * pi[std::size_t(h)];
      p.W_Q.middleCols(2 * h, 2) = m.W_Q.middleCols(from, 2);
      p.W_K.middleCols(2 * h, 2) = m.W_K.middleCols(from, 2);
      p.W_V.middleCols(2 * h, 2) = m.W_V.middleCols(from, 2);
      p.W_O.middleRows(2 * h, 2) = m.W_O.middleRows(from, 2);
    }
    verify(distance(attend(p, X), attend(m, X)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(sets_may_be_renumbered) {
  const auto m = xavier<quad>({6, 4, 2, 2, 3}, 1);
  const Matrix<quad> X = gaussian<quad>(4, 6, 1, "X");
  const Matrix<quad> Y = attend(m, X);
  const auto moved = [&](std::array<Index, 4> heads, bool sets) {
    MultiHead<quad> p = m;
    for (Index h = 0; h < 4; ++h) {
      const Index from = heads[std::size_t(h)];
      p.W_Q.middleCols(2 * h, 2) = m.W_Q.middleCols(2 * from, 2);
      p.W_O.middleRows(3 * h, 3) = m.W_O.middleRows(3 * from, 3);
    }
    if (sets) {
      p.W_K << m.W_K.rightCols(2), m.W_K.leftCols(2);
      p.W_V << m.W_V.rightCols(3), m.W_V.leftCols(3);
    }
    return distance(attend(p, X), Y);
  };
  verify(moved({1, 0, 3, 2}, false), 1e-31);
  verify(moved({2, 3, 0, 1}, true), 1e-31);
  refute(moved({2, 3, 0, 1}, false), 0.1);
}
BOOST_AUTO_TEST_CASE(positions_may_be_permuted) {
  const auto m = xavier<quad>({6, 3}, 1);
  const Matrix<quad> X = gaussian<quad>(5, 6, 12);
  const Matrix<quad> Y = attend(m, X);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto pi = permutation(5, seed);
    Matrix<quad> P = Matrix<quad>::Zero(5, 5);
    for (Index i = 0; i < 5; ++i) P(i, pi[std::size_t(i)]) = quad(1);
    const Matrix<quad> PX = times(P, X);
    verify(distance(attend(m, X, PX), Y), 1e-31);
    verify(distance(attend(m, PX), times(P, Y)), 1e-31);
  }
}

// check the causal bias
BOOST_AUTO_TEST_CASE(future_is_not_seen) {
  const auto m = xavier<double>({6, 3}, 1);
  const Matrix<double> B = past_bias<double>(7, 7);
  const Matrix<double> X = gaussian<double>(7, 6, 13);
  const Matrix<double> Y = attend(m, X, X, B);
  for (Index t = 1; t < 7; ++t) {
    Matrix<double> Z = X;
    Z.bottomRows(7 - t).setConstant(std::nan(""));
    verify(largest((attend(m, Z, Z, B) - Y).topRows(t)), 0);
  }
}
BOOST_AUTO_TEST_CASE(last_queries_see_the_cache) {
  const auto m = xavier<quad>({6, 3}, 1);
  const Matrix<quad> X = gaussian<quad>(7, 6, 13);
  const Matrix<quad> Y = attend(m, X, X, past_bias<quad>(7, 7));
  for (Index n = 0; n <= 7; ++n)
    verify(distance(attend(m, X.bottomRows(n), X, past_bias<quad>(n, 7)),
                  Y.bottomRows(n)), 1e-31);
}
BOOST_AUTO_TEST_CASE(queries_that_see_nothing) {
  auto m = xavier<double>({6, 3, 0, 0, 0, 0, 0, true}, 1);
  m.b_O.setLinSpaced(1, 6);
  const Matrix<double> X = gaussian<double>(5, 6, 13);
  const Matrix<double> Y =
      attend(m, X, X.topRows(2), past_bias<double>(5, 2));
  for (Index i = 0; i < 3; ++i)
    verify(largest(Y.row(i) - m.b_O.transpose()), 0);
  BOOST_TEST(!Y.hasNaN());
  verify((attend(m, X, X.topRows(0)).rowwise() - m.b_O.transpose()).norm(),
         0);
}

// check the edges of the forward pass
BOOST_AUTO_TEST_CASE(takes_any_rows) {
  const auto m = xavier<double>({4, 2}, 1);
  const Matrix<double> X = gaussian<double>(9, 8, 13);
  const Matrix<double> part = X.block(2, 3, 5, 4);
  const Eigen::MatrixXd columns = part;
  const Matrix<double> Y = attend(m, part);
  verify((attend(m, X.block(2, 3, 5, 4)) - Y).norm(), 0);
  verify((attend(m, columns) - Y).norm(), 0);
  verify((attend(m, 2 * part) - attend(m, part + part)).norm(), 0);
  const Eigen::MatrixXd bias = past_bias<double>(9, 9);
  const Matrix<double> Z = attend(m, part, columns, past_bias<double>(5, 5));
  verify((attend(m, part, columns, bias.topLeftCorner(5, 5)) - Z).norm(), 0);
  const auto t = multihead_forward(m, columns, part + 0 * part);
  verify((multihead_vjp(m, columns, part, t, 2 * columns).X -
          multihead_vjp(m, part, part, t, part + part).X).norm(), 0);
  BOOST_TEST(attend(m, X.topLeftCorner(0, 4)).rows() == 0);
}
BOOST_AUTO_TEST_CASE(nan_stays_where_it_is_seen) {
  const auto m = xavier<double>({4, 2}, 1);
  Matrix<double> X = gaussian<double>(4, 4, 13);
  const Matrix<double> Y = attend(m, X);
  const Matrix<double> C = X;
  X(2, 1) = std::numeric_limits<double>::quiet_NaN();
  const Matrix<double> Z = attend(m, X, C);
  BOOST_TEST(Z.row(2).array().isNaN().all());
  verify((Z - Y).topRows(2).norm() + (Z - Y).row(3).norm(), 0);
  Matrix<double> B = Matrix<double>::Zero(4, 4);
  B.row(2).setConstant(-std::numeric_limits<double>::infinity());
  verify(attend(m, X, C, B).row(2).norm(), 0);
}
BOOST_AUTO_TEST_CASE(layer_without_weights) {
  const MultiHead<double> none{};
  BOOST_TEST((none.heads == 0 && none.kv_heads == 0 && none.group() == 0 &&
              none.d_k() == 0 && none.d_v() == 0));
}

// check that nothing leaks through heads
struct Patchy {
  MultiHead<double> m = xavier<double>({6, 4, 2, 2, 3, 6, 5, true}, 1);
  Matrix<double> X = gaussian<double>(5, 6, 1, "X"),
                 C = gaussian<double>(7, 6, 1, "C"),
                 dY = gaussian<double>(5, 5, 1, "dY"),
                 B = gaussian<double>(5, 7, 1, "B");
  Patchy() {
    B = (B.array() > 0.3).select(-HUGE_VAL, B).eval();
    B.row(2).setConstant(-HUGE_VAL);
    B.col(3).setConstant(-HUGE_VAL);
  }
  bool sees(Index i, Index j) const { return B(i, j) != -HUGE_VAL; }
  HeadTrace<double> forward() const { return multihead_forward(m, X, C, B); }
  HeadGradient<double> back() const {
    return multihead_vjp(m, X, C, forward(), dY);
  }
};
const double poisons[] = {std::nan(""), HUGE_VAL, -HUGE_VAL};
BOOST_AUTO_TEST_CASE(queries_read_what_they_see) {
  const Patchy good;
  for (const double poison : poisons)
    for (Index i = 0; i < 5; ++i) {
      Patchy bad = good;
      for (Index k = 0; k < 5; ++k)
        if (k != i)
          bad.X.row(k).setConstant(poison), bad.dY.row(k).setConstant(poison);
      for (Index j = 0; j < 7; ++j)
        if (!good.sees(i, j)) bad.C.row(j).setConstant(poison);
      verify(distance(bad.forward().Y.row(i), good.forward().Y.row(i)), 0);
      verify(distance(bad.back().X.row(i), good.back().X.row(i)), 0);
    }
}
BOOST_AUTO_TEST_CASE(keys_read_who_sees_them) {
  const Patchy good;
  for (const double poison : poisons)
    for (Index j = 0; j < 7; ++j) {
      Patchy bad = good;
      for (Index i = 0; i < 5; ++i)
        if (!good.sees(i, j)) bad.X.row(i).setConstant(poison);
      verify(distance(bad.back().C.row(j), good.back().C.row(j)), 0);
      for (Index i = 0; i < 5; ++i)
        if (!good.sees(i, j)) bad.dY.row(i).setConstant(poison);
      verify(distance(bad.back().C.row(j), good.back().C.row(j)), 0);
    }
}
BOOST_AUTO_TEST_CASE(weights_read_what_is_in_a_pair) {
  const Patchy good;
  const auto g = good.back().weights;
  for (const double poison : poisons) {
    Patchy bad = good;
    bad.X.row(2).setConstant(poison);
    bad.dY.row(2).setConstant(poison);
    bad.C.row(3).setConstant(poison);
    const auto w = bad.back().weights;
    verify(distance(w.W_Q, g.W_Q) + distance(w.b_Q, g.b_Q), 0);
    verify(distance(w.W_K, g.W_K) + distance(w.b_K, g.b_K), 0);
    verify(distance(w.W_V, g.W_V) + distance(w.b_V, g.b_V), 0);
  }
  Patchy seen = good;
  seen.C.row(0).setConstant(std::nan(""));
  const auto Y = seen.forward().Y;
  for (Index i = 0; i < 5; ++i)
    BOOST_TEST(Y.row(i).array().isNaN().all() == good.sees(i, 0));
  BOOST_TEST(seen.back().weights.W_V.array().isNaN().all());
}
BOOST_AUTO_TEST_CASE(weights_notice_what_is_in_a_pair) {
  for (const double poison : poisons)
    for (Index entry = 0; entry < Patchy().X.cols(); ++entry) {
      Patchy asks;
      asks.X(0, entry) = poison;
      BOOST_TEST(asks.back().weights.W_Q.array().isNaN().all());
      Patchy seen;
      seen.C(0, entry) = poison;
      const auto w = seen.back().weights;
      BOOST_TEST(w.W_K.array().isNaN().all());
      BOOST_TEST(w.W_V.array().isNaN().all());
    }
}
BOOST_AUTO_TEST_CASE(weights_do_not_read_a_first_key_unseen) {
  Patchy first;
  first.B.col(0).setConstant(-HUGE_VAL);
  const Matrix<double> W_K = first.back().weights.W_K;
  first.C.row(0).setConstant(std::nan(""));
  verify(distance(first.back().weights.W_K, W_K), 0);
}
BOOST_AUTO_TEST_CASE(the_last_head_and_the_last_query_see) {
  Patchy late;
  late.m.W_V.rightCols(3).setConstant(std::nan(""));
  const auto Y = late.forward().Y;
  for (Index i = 0; i < 5; ++i) {
    BOOST_TEST(Y.row(i).array().isNaN().all() == (i != 2));
    BOOST_TEST(Y.row(i).array().isFinite().all() == (i == 2));
  }
  Patchy last;
  last.C = last.C.topRows(3).eval();
  last.B = Matrix<double>::Zero(5, 3);
  last.B.col(1).head(4).setConstant(-HUGE_VAL);
  last.C.row(1).setConstant(std::nan(""));
  const auto w = last.back().weights;
  BOOST_TEST(w.W_K.array().isNaN().all());
  BOOST_TEST(w.W_V.array().isNaN().all());
}

// check what the heads refuse
BOOST_AUTO_TEST_CASE(refuses_odd_heads) {
  const auto bad = [](const HeadShape& s, const char* words) {
    BOOST_CHECK_EXCEPTION(xavier<double>(s, 1), std::invalid_argument,
                          says(words));
  };
  bad({10, 3}, "3 heads do not divide d_model = 10");
  bad({8, 4, 3}, "3 kv_heads do not divide 4 heads");
  bad({0, 1}, "must be positive");
  bad({4, 0}, "must be positive");
  bad({4, 2, 1, -1}, "negative");
  BOOST_TEST(xavier<double>({10, 3, 0, 4}, 1).W_Q.cols() == 12);
}
BOOST_AUTO_TEST_CASE(refuses_weights_that_contradict) {
  const auto bad = [](auto change, const char* words) {
    auto m = xavier<double>({4, 2}, 1);
    change(m);
    BOOST_CHECK_EXCEPTION(detail::require_weights("f", m),
                          std::invalid_argument, says(words));
  };
  bad([](auto& m) { m.heads = 0; }, "f: 0 heads and 2 kv_heads");
  bad([](auto& m) { m.kv_heads = 0; }, "f: 2 heads and 0 kv_heads");
  bad([](auto& m) { m.heads = 3; }, "f: 3 heads and 2 kv_heads");
  bad([](auto& m) { m.W_Q.resize(4, 5); }, "W_Q is 4x5 and W_K is 4x4");
  bad([](auto& m) { m.W_K.resize(4, 5); }, "W_Q is 4x4 and W_K is 4x5");
  bad([](auto& m) { m.W_Q.resize(4, 0), m.W_K.resize(4, 0); }, "W_Q is 4x0");
  bad([](auto& m) { m.W_V.resize(3, 4); }, "W_V is 3x4");
  bad([](auto& m) { m.W_V.resize(4, 5); }, "W_V is 4x5");
  bad([](auto& m) { m.W_O.resize(5, 4); }, "W_O is 5x4");
}
BOOST_AUTO_TEST_CASE(refuses_shapes_that_do_not_fit) {
  const auto m = xavier<double>({4, 2}, 1);
  const Matrix<double> X = gaussian<double>(3, 4, 1), W = X.leftCols(2);
  const auto bad = [&](const MultiHead<double>& w, const Matrix<double>& x,
                       const Matrix<double>& c, const Matrix<double>& b,
                       const char* words) {
    BOOST_CHECK_EXCEPTION(attend(w, x, c, b), std::invalid_argument,
                          says(words));
  };
  bad(m, W, X, {}, "multihead_forward: X is 3x2 but W_Q is 4x4");
  bad(m, X, W, {}, "context is 3x2 but W_K is 4x4");
  bad(m, X, X, W, "bias is 3x2 but scores are 3x3");
  bad(m, X.topRows(2), X, X.leftCols(3), "bias is 3x3 but scores are 2x3");
  MultiHead<double> n = m;
  n.W_O = W;
  bad(n, X, X, {}, "W_O is 3x2");
  using M = MultiHead<double>;
  for (const auto b : {&M::b_Q, &M::b_K, &M::b_V, &M::b_O}) {
    n = m, n.*b = Vector<double>::Zero(3);
    bad(n, X, X, {}, "bias is not as long");
  }
  n = m, n.kv_heads = 1;
  bad(n, X, X, {}, "for 2 and 1 heads");
}

// check the counts and the draws
BOOST_AUTO_TEST_CASE(parameter_count) {
  const auto gap = [](const HeadShape& shape, Index formula) {
    const auto m = xavier<double>(shape, 1);
    verify(double(std::abs(attn::parameter_count(m) - formula)), 0);
  };
  for (const Index H : {1, 2, 4, 8, 16}) gap({64, H}, 4 * 64 * 64);
  gap({64, 8, 1}, 2 * 64 * 64 + 2 * 64 * 8);
  gap({5, 3, 1, 2, 4, 7, 6, true}, 5 * 6 + 7 * (2 + 4) + 12 * 6 + 6 + 6 + 6);
  gap({6, 4, 2, 3, 1}, 6 * 12 + 6 * 2 * (3 + 1) + 4 * 1 * 6);
}
BOOST_AUTO_TEST_CASE(xavier_variance) {
  const auto m = xavier<double>({64, 4, 2, 12, 8, 32, 16}, 3);
  const auto off = [](const Matrix<double>& W, double fans) {
    const double N = double(W.size());
    verify(std::abs(W.squaredNorm() / N * fans / 2 - 1), 5 * std::sqrt(2 / N));
    verify(std::abs(W.mean()), 5 * std::sqrt(2 / fans / N));
  };
  off(m.W_Q, 64 + 48);
  off(m.W_K, 32 + 48);
  off(m.W_V, 32 + 32);
  off(m.W_O, 32 + 16);
}
BOOST_AUTO_TEST_CASE(xavier_is_one_draw_for_all) {
  const HeadShape s{8, 2, 1};
  const auto a = xavier<double>(s, 4), b = xavier<double>(s, 5);
  for_each_weight([](auto, const auto& x, const auto& f, const auto& q) {
    verify(double((x.template cast<float>() - f).norm()), 0);
    verify(to_double((lift<quad>(x) - q).norm()), 0);
  }, a, xavier<float>(s, 4), xavier<quad>(s, 4));
  refute((a.W_Q - b.W_Q).norm(), 1);
  refute((a.W_Q - a.W_K.replicate(1, 2)).norm(), 1);
}
BOOST_AUTO_TEST_CASE(xavier_scores) {
  auto m = xavier<double>({64, 8}, 3);
  const Matrix<double> X = gaussian<double>(200, 64, 14);
  const auto spread = [&] {
    const auto t = multihead_forward(m, X, X);
    return std::sqrt(t.scores.values.squaredNorm() /
                     double(t.scores.values.size()));
  };
  const double fused = spread();
  fact("fused", fused);
  m.W_Q *= std::sqrt(128.0 / 72);
  m.W_K *= std::sqrt(128.0 / 72);
  fact("per_head", spread());
  verify(std::abs(fused - 1), 0.1);
  refute(spread() - 1, 0.6);
}

// check the form of a head
BOOST_AUTO_TEST_CASE(antisymmetric_share) {
  const Index draws = 200, D = 12, d = 3;
  Vector<double> whole(draws), anti(draws);
  for (Index k = 0; k < draws; ++k) {
    const Matrix<double> M =
        gaussian<double>(D, d, std::uint64_t(2 * k)) *
        gaussian<double>(D, d, std::uint64_t(2 * k + 1)).transpose();
    whole(k) = M.squaredNorm();
    anti(k) = (M - M.transpose()).squaredNorm() / 4;
  }
  const auto within = [&](const Vector<double>& x, double mean) {
    const double var = (x.array() - x.mean()).square().sum() / 199;
    verify(std::abs(x.mean() / mean - 1),
           5 * std::sqrt(var / double(draws)) / mean);
  };
  within(whole, 12 * 12 * 3);
  within(anti, 12 * 11 * 3 / 2.0);
}
BOOST_AUTO_TEST_CASE(form_gives_the_scores) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto s = setting<quad>(seed);
    s.m.b_Q.setZero(), s.m.b_K.setZero();
    const auto t = multihead_forward(s.m, s.X, s.C);
    for (Index h = 0; h < s.m.heads; ++h)
      verify(distance(stacked(t.scores).middleRows(h * s.X.rows(), s.X.rows()),
                    times(times(s.X, implicit_form(s.m, h)),
                          s.C.transpose())), 1e-30);
  }
  BOOST_CHECK_EXCEPTION(implicit_form(xavier<double>({4, 2}, 1), 2),
                        std::invalid_argument, says("no head 2 of 2"));
  BOOST_CHECK_EXCEPTION(implicit_form(xavier<double>({4, 2}, 1), -1),
                        std::invalid_argument, says("no head -1 of 2"));
  auto m = xavier<double>({4, 2}, 1);
  m.heads = 3;
  BOOST_CHECK_EXCEPTION(implicit_form(m, 0), std::invalid_argument,
                        says("implicit_form: 3 heads"));
}
BOOST_AUTO_TEST_CASE(two_features_see_themselves) {
  for (const Index n : {1, 2, 3, 5, 16, 64}) {
    const auto pi = permutation(n, std::uint64_t(n));
    Vector<double> angle(n);
    for (Index i = 0; i < n; ++i)
      angle(i) = 2 * std::numbers::pi * double(i) / double(n);
    const double gap =
        n == 1 ? 2 : 1 - std::cos(2 * std::numbers::pi / double(n));
    const double beta = std::log(1e3 * double(n)) / gap;
    Matrix<double> Q(n, 2), K(n, 2);
    for (Index i = 0; i < n; ++i) {
      Q.row(i) << std::cos(angle(i)), std::sin(angle(i));
      K.row(pi[std::size_t(i)]) = Q.row(i);
    }
    const Matrix<double> A =
        attn::gibbs(Matrix<double>(beta * Q * K.transpose()));
    for (Index i = 0; i < n; ++i)
      verify(1 - A(i, pi[std::size_t(i)]),
             double(n - 1) * std::exp(-beta * gap) * (1 + 1e-9));
  }
}
Matrix<quad> map_of(const MultiHead<quad>& m, Index h) {
  const Index v = m.d_v();
  return times(m.W_V.middleCols(h / m.group() * v, v),
               m.W_O.middleRows(h * v, v));
}
BOOST_AUTO_TEST_CASE(layers_compose) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto first = xavier<quad>({6, 2}, seed, "first "),
               second = xavier<quad>({6, 1, 1, 2}, seed, "second ");
    const Matrix<quad> X = gaussian<quad>(5, 6, seed, "X");
    const auto t = multihead_forward(first, X, X);
    const Matrix<quad> Z = X + t.Y, M = implicit_form(second, 0);
    Matrix<quad> S = times(times(X, M), X.transpose());
    Matrix<quad> moved[2];
    for (Index h = 0; h < 2; ++h)
      moved[h] = times(times(stacked(t.A).middleRows(5 * h, 5), X),
                       map_of(first, h));

    // add the terms of two layers
    for (const auto& a : moved) {
      S += times(times(X, M), a.transpose()) + times(times(a, M), X.transpose());
      for (const auto& b : moved) S += times(times(a, M), b.transpose());
    }
    const auto u = multihead_forward(second, Z, Z);
    verify(distance(S, stacked(u.scores)), 1e-30);
    verify(distance(t.Y, moved[0] + moved[1]), 1e-30);
  }
}

// repeat a bias for all heads
/// One part of b for each of G sets, written R times each.
Vector<quad> repeat_groups(const Vector<quad>& b, Index G, Index R) {
  const Index d = b.size() / G;
  Vector<quad> all(b.size() * R);
  for (Index h = 0; h < G * R; ++h)
    all.segment(h * d, d) = b.segment(h / R * d, d);
  return all;
}

// check what weights cannot be told apart
BOOST_AUTO_TEST_CASE(gauge_of_a_group) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto m = setting<quad>(6 * seed + 2).m;  // H = 4, G = 2, biases
    auto w = m;
    for (Index s = 0; s < 2; ++s) {
      // turn the weights of one set
      const Matrix<quad> P = gaussian<quad>(3, 3, 2 * seed + std::uint64_t(s), "P"),
                         N = gaussian<quad>(5, 5, 2 * seed + std::uint64_t(s), "N");
      w.W_K.middleCols(3 * s, 3) =
          times(m.W_K.middleCols(3 * s, 3), P.inverse().transpose());
      w.W_V.middleCols(5 * s, 5) = times(m.W_V.middleCols(5 * s, 5), N);
      w.b_V.segment(5 * s, 5) = times(N.transpose(), m.b_V.segment(5 * s, 5));
      for (const Index h : {2 * s, 2 * s + 1}) {
        w.W_Q.middleCols(3 * h, 3) = times(m.W_Q.middleCols(3 * h, 3), P);
        w.b_Q.segment(3 * h, 3) = times(P.transpose(), m.b_Q.segment(3 * h, 3));
        w.W_O.middleRows(5 * h, 5) =
            times(N.inverse(), m.W_O.middleRows(5 * h, 5));
      }
    }
    w.b_K = gaussian<quad>(6, 1, seed, "b_K");
    w.b_O += times(w.W_O.transpose(), repeat_groups(w.b_V, 2, 2));
    w.b_V.setZero();
    const Matrix<quad> X = gaussian<quad>(5, 8, seed, "X"),
                       C = gaussian<quad>(4, 6, seed, "C");
    verify(distance(attend(w, X, C), attend(m, X, C)), 1e-27);
  }
}

// check errata about the heads
BOOST_AUTO_TEST_CASE(projections_of_one_symbol) {
  constexpr auto as_printed = attn::detail::parsed<"Q^{hia} = Q^{ib} W^{hba}">;
  constexpr auto ours = attn::detail::parsed<"Q^{i(h)a} = X^{im} W_m{}^{(h)a}">;
  using Fault = attn::detail::Fault;
  static_assert(as_printed.fault != Fault::none && ours.fault == Fault::none);
  const Index d = 4;  // D = d_k, or the printed form has no meaning at all
  const Matrix<quad> X = gaussian<quad>(3, d, 1);
  const Matrix<quad> W = gaussian<quad>(d, 2 * d, 2);
  Matrix<quad> Q = X;
  for (Index h = 0; h < 2; ++h) Q = times(Q, W.middleCols(h * d, d));
  const Matrix<quad> truth = project<quad>(X, W, Vector<quad>()).mat();
  refute(distance(Q, truth.rightCols(d)), 0.1);
  verify(distance(times(X, W.rightCols(d)), truth.rightCols(d)), 1e-31);
}
BOOST_AUTO_TEST_CASE(count_of_the_table) {
  const auto m = xavier<double>({10, 3, 3, 3, 3}, 1);
  const Index printed = 4 * 10 * 10, actual = attn::parameter_count(m);
  fact("printed", printed);
  fact("true", actual);
  refute(double(printed - actual), 1);
  verify(double(std::abs(actual - (2 * 10 * 3 * 3 + 2 * 10 * 3 * 3))), 0);
}
BOOST_AUTO_TEST_CASE(form_is_no_metric) {
  const auto m = xavier<double>({64, 4}, 1);
  const Matrix<double> M = implicit_form(m, 0);
  const Matrix<double> sym = (M + M.transpose()) / 2, anti = M - sym;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(sym);
  const auto& v = eigen.eigenvalues();
  fact("negative", (v.array() < -1e-10).count());
  fact("share", anti.norm() / M.norm());
  refute(-v(0), 0.1);                 // not positive
  refute(anti.norm() / M.norm(), 0.6);  // not symmetric
  const double zero = largest(v.segment(16, 32));
  verify(zero, 1e-13 * v(63));        // rank 32 of 64
}
BOOST_AUTO_TEST_SUITE_END()
