// tests/layer_roads_test.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "flash_case.hpp"
#include "layer_case.hpp"
using namespace layers;

BOOST_AUTO_TEST_SUITE(layer)

// ask for the road of a call
template <class S>
struct Roads {
  Matrix<S> Q{6, 8}, K{9, 4}, V{9, 4}, O{6, 8};
  template <class F>
  Route of(F change, Index queries = 6,
           std::optional<Positions> at = {}) const {
    HeadParts<S> p;
    HeadRules r;
    r.mask = causal(unlimited, unlimited);
    change(p, r);
    const auto in = [](const Matrix<S>& m, Index n) {
      return In<S>(m.data(), n, m.cols(), Eigen::OuterStride<>(m.cols()));
    };
    return route<S>(p, r, {in(Q, queries), in(K, 9), in(V, 9),
                           Out<S>(const_cast<S*>(O.data()), queries, 8,
                                  Eigen::OuterStride<>(8)),
                           nullptr, 9 - queries, 0, at});
  }
};

// check the table of roads
BOOST_AUTO_TEST_CASE(table_of_roads) {
  const auto far = causal(unlimited, unlimited);
  const auto band = window(unlimited, unlimited, 3, 0);
  const auto odd = where(9, 9, [](Index i, Index j) {
    return (i + j) % 2 == 0;
  });
  const Roads<double> d;
  BOOST_TEST((d.of([](auto&, auto&) {}) == Route::tiles));
  BOOST_TEST((Roads<float>().of([](auto&, auto&) {}) == Route::tiles));
  BOOST_TEST((Roads<quad>().of([](auto&, auto&) {}) == Route::definition));

  // check the rows about modifiers
  BOOST_TEST((d.of([](auto& p, auto& r) {
    p.scale.setOnes(4), p.sink.setOnes(4);
    p.gain_q.setOnes(2), p.gain_k.setOnes(2);
    r.softcap = 2;
  }) == Route::tiles));
  BOOST_TEST((d.of([](auto&, auto& r) { r.slopes = {1, 1, 1, 1}; }) ==
              Route::tiles));
  BOOST_TEST((d.of([](auto&, auto& r) { r.dropout.p = 0.5; }) ==
              Route::definition));
  BOOST_TEST((d.of([](auto&, auto& r) { r.empty = Empty::refuse; }) ==
              Route::definition));
  BOOST_TEST((d.of([](auto&, auto& r) { r.by_definition = true; }) ==
              Route::definition));

  // check the rows about masks
  BOOST_TEST((d.of([&](auto&, auto& r) { r.mask = band; }) == Route::tiles));
  BOOST_TEST((d.of([&](auto&, auto& r) {
    r.mask = causal(9, 9) & padding(9, 9, 8, 7);
  }) == Route::tiles));
  BOOST_TEST((d.of([&](auto&, auto& r) { r.mask = odd; }) == Route::pairs));
  BOOST_TEST((d.of([&](auto&, auto& r) {
    r.mask = causal(unlimited, unlimited, -1), r.slopes = {1, 1, 1, 1};
  }) == Route::tiles));
  BOOST_TEST((d.of([&](auto&, auto& r) {
    r.mask = where(9, 9, [](Index i, Index j) { return j < i; });
    r.slopes = {1, 1, 1, 1};
  }) == Route::pairs));

  // check the rows about pairs and one query
  BOOST_TEST((d.of([](auto& p, auto&) {
    p.bias.push_back(Matrix<double>::Zero(9, 9));
  }) == Route::pairs));
  BOOST_TEST((d.of([](auto& p, auto& r) {
    p.table = Matrix<double>::Zero(4, r.buckets.size());
  }) == Route::pairs));
  const Positions gap{Places(6, 3),
                      Places(std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 9})};
  BOOST_TEST((d.of([](auto&, auto& r) { r.slopes = {1, 1, 1, 1}; }, 6, gap) ==
              Route::pairs));
  BOOST_TEST((d.of([](auto&, auto&) {}, 6, gap) == Route::tiles));
  BOOST_TEST((d.of([](auto&, auto&) {}, 1) == Route::pages));
  BOOST_TEST((d.of([&](auto&, auto& r) { r.mask = odd; }, 1) ==
              Route::pairs));
  BOOST_TEST((d.of([&](auto&, auto& r) { r.mask = far; }, 1) ==
              Route::pages));
}

// check the diagonal of equal positions
BOOST_AUTO_TEST_CASE(diagonal_of_equal_positions) {
  const std::vector<Places> runs{Places(1), Places(1, 7), Places(4),
                                 Places(3, -5),
                                 Places(std::vector<Index>{2, 3, 5}),
                                 Places(std::vector<Index>{6, 7})};
  for (const Places& q : runs)
    for (const Places& k : runs) {
      const Mask mask = everything(Positions{q, k});
      std::optional<Index> zero;
      for (Index t = -20; t <= 20; ++t) {
        bool all = true;
        for (Index i = 0; i < q.size(); ++i)
          for (Index j = 0; j < k.size(); ++j)
            all = all && k[j] - q[i] == j - i - t;
        if (all) zero = t;
      }
      BOOST_TEST((detail::zero_diagonal(mask) == zero));
    }
  BOOST_TEST((Roads<double>().of([](auto&, auto& r) {
    r.slopes = {1, 1, 1, 1};
  }, 0) == Route::tiles));
}

// check the hulls of masks
BOOST_AUTO_TEST_CASE(hull_of_a_mask) {
  using detail::Hull;
  for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{
           {1, 1}, {5, 9}, {9, 5}, {8, 8}, {1, 13}, {13, 1}, {0, 3}})
    for (const Mask& mask :
         {causal(n, m), causal(n, m, 0), window(n, m, 2, 0),
          window(n, m, 1, 3, 0), everything(n, m), !everything(n, m),
          padding(n, m, n / 2, m / 2), causal(n, m) & padding(n, m, n, m / 2),
          strided(n, m, 2), where(n, m, [](Index i, Index j) {
            return j < i;
          }), random_tiles(n, m, 2, 1, 5), random_tiles(n, m, 1, 2, 6),
          window(n, m, 2, 1, 0) & padding(n, m, n - n / 4, m - m / 3),
          from_matrix(dense(window(n, m, 3, 0, 1) &
                            padding(n, m, n - n / 3, m - m / 4)))}) {
      const Hull hull = detail::hull_of(mask);

      // search for the hull of a mask
      Hull all;
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j)
          if (mask.allows(i, j)) {
            all.queries = std::max(all.queries, i + 1);
            all.keys = std::max(all.keys, j + 1);
            all.low = std::min(all.low, j - i);
            all.high = std::max(all.high, j - i);
          }
      if (all.queries == 0) all.low = all.high = 0;
      BOOST_TEST((hull.queries == all.queries && hull.keys == all.keys &&
                  hull.low == all.low && hull.high == all.high));
      bool filled = true;
      for (Index i = 0; i < all.queries; ++i)
        for (Index j = 0; j < all.keys; ++j)
          if (all.low <= j - i && j - i <= all.high)
            filled = filled && mask.allows(i, j);
      BOOST_TEST(detail::fills(hull, mask, mask.whole()) == filled);
    }

  // compare all small hulls with all small blocks
  const Index some[] = {0, 1, 2, 4};
  for (const Index n : some)
    for (const Index m : some)
      for (Index low = -4; low <= 4; ++low)
        for (Index high = low; high <= 4; ++high)
          for (const Index i0 : some)
            for (const Index j0 : some)
              for (const Index rows : {1, 2, 3})
                for (const Index cols : {1, 2, 3}) {
                  const Hull hull{n, m, low, high};
                  const Block b{i0, i0 + rows, j0, j0 + cols};

                  // compare a hull with a block pair by pair
                  bool all = true, diagonal = false, length = false;
                  for (Index i = b.i0; i < b.i1; ++i)
                    for (Index j = b.j0; j < b.j1; ++j) {
                      const bool between = low <= j - i && j - i <= high;
                      diagonal = diagonal || between, length = length || (i < n && j < m);
                      all = all && between && i < n && j < m;
                    }
                  if (hull.holds(b) != all || hull.meets(b) != (diagonal && length))
                    BOOST_ERROR("a hull and a block");
                }

  // count the questions to a mask
  Index asked = 0;
  const auto counting = [&](const Mask& m) {
    return Mask(m.at(), true, [&asked, m](Index i, Index j) {
      return ++asked, m.allows(i, j);
    }, [&asked, m](const Block& b) { return ++asked, m.covers(b); });
  };
  const auto questions = [&](const Mask& m) {
    asked = 0;
    const Mask x = counting(m);
    const Hull hull = detail::hull_of(x);
    BOOST_TEST(detail::fills(hull, x, x.whole()));
    return double(asked);
  };

  // ask for what is known
  Hull known{5, 9, -4, 8};
  detail::widen(known, counting(everything(5, 9)), {0, 5, 0, 9});
  BOOST_TEST(asked == 0);
  for (const Index n : {16, 64, 250, 1000, 2048}) {
    verify(questions(causal(n, n)), 64 * double(n));
    verify(questions(window(n, n, n / 7, n / 5)), 64 * double(n));
  }
  fact("asked", questions(causal(2048, 2048)));
  fact("step", questions(part(window(2048, 2048, 511, 0),
                              {2047, 2048, 0, 2048})));

  // ask a mask that is never sure
  asked = 0;
  const Mask unsure = counting(where(64, 64, [](Index i, Index j) {
    return i != j;
  }));
  detail::fills(detail::hull_of(unsure), unsure, unsure.whole());
  verify(double(asked), 64 * 64 * 14.0 / 3);
}

// cut a sequence for the heads
/// Rows of one sequence as heads see them, cut out of a trace.
struct CutHeads {
  Index i0, j0;
  Matrix<double> Q, K, V, O;
  Vector<double> logZ;
  CutHeads(const LayerTrace<double>& t, Index first, Index key)
      : i0(first), j0(key), Q(t.Q.bottomRows(t.Q.rows() - first)),
        K(t.K.bottomRows(t.K.rows() - key)),
        V(t.V.bottomRows(t.V.rows() - key)), O(Q.rows(), t.O.cols()),
        logZ(Q.rows() * 4) {}
  HeadsView<double> view() {
    return {view_in<double>(Q), view_in<double>(K), view_in<double>(V),
            view_out(O), logZ.data(), i0, j0};
  }
};

// check one query among all keys
BOOST_AUTO_TEST_CASE(one_query_among_all_keys) {
  const Index n = 20;
  for (const int bits : {0 + sloped, sloped | sinks | scales, turned | capped,
                         unscaled | sinks, sinks | scales, tables | biased})
    for (int kind = 0; kind < 6; ++kind) {
      const auto L = draw_layer<double>(bits, mask_of_kind(kind, n), n, 5);
      const auto X = gaussian<double>(n, 5, 5, "X");
      const auto truth = literal_layer(L, X, X);
      const auto t = layer_forward(L, X);
      for (const Index i : {0, 1, 9, 14, 19})

        // attend with one query of a trace
        {
          CutHeads cut(t, i, 0);
          cut.Q = t.Q.row(i), cut.O.resize(1, 12), cut.logZ.resize(4);
          const HeadsView<double> view = cut.view();
          heads_forward<double>({4, 2}, L.parts, L.rules, {&view, 1});
          verify(cut.O, truth.O.row(i), truth.O_error.row(i));
          LiteralLayer row;
          row.L = truth.L.row(i), row.L_error = truth.L_error.row(i);
          verify_logZ<double>(cut.logZ, row);

          // give each head its keys alone
          CutHeads alone = cut;
          alone.K.resize(cut.K.rows(), 24), alone.V.resize(cut.V.rows(), 12);
          for (Index h = 0; h < 4; ++h) {
            alone.K.middleCols(6 * h, 6) = cut.K.middleCols(6 * (h / 2), 6);
            alone.V.middleCols(3 * h, 3) = cut.V.middleCols(3 * (h / 2), 3);
          }
          const HeadsView<double> apart = alone.view();
          heads_forward<double>({4, 4}, L.parts, L.rules, {&apart, 1});
          verify(alone.O, truth.O.row(i), truth.O_error.row(i));
          verify_logZ<double>(alone.logZ, row);
          const bool added = (bits & (tables | biased)) || (kind == 3 && i > 1) ||
                             ((bits & sloped) && !L.rules.mask.allows(i, i));
          BOOST_TEST((route(L.parts, L.rules, view) ==
                      (added ? Route::pairs : Route::pages)));
        }
    }
}

// check heads going back once
inline void check_heads_back(const Layer<double>& L, Index n,
                             std::uint64_t seed) {
  const Index H = 4, G = 2, d = 6, e = 3;
  const double u = unit_roundoff<double>();

  // take a cut sequence forward and back
  CutHeads t(layer_forward(L, gaussian<double>(n, 5, seed, "X")), n / 3,
             n / 5);
  const HeadsView<double> view = t.view();
  heads_forward<double>({H, G}, L.parts, L.rules, {&view, 1});
  const auto dO = gaussian<double>(t.O.rows(), H * e, seed, "dO");
  Matrix<double> dQ = t.Q, dK = t.K, dV = t.V;
  const HeadsCotangent<double> bar{view_in<double>(dO), view_out(dQ),
                                   view_out(dK), view_out(dV)};
  auto sum = zeros_like(L.parts), allowed = sum;
  auto wanted = zeros_like(lifted_layer<quad>(L).parts);
  heads_vjp<double>({H, G}, L.parts, L.rules, {&view, 1}, {&bar, 1}, sum);
  Matrix<double> eK = 0 * dK, eV = 0 * dV;
  Matrix<quad> tK = lift<quad>(eK), tV = lift<quad>(eV);
  for (Index h = 0; h < H; ++h)

    // judge one head going back
    {
      const Index g = h / (H / G), N = t.Q.rows(), M = t.K.rows();
      Case<double> c{t.Q.middleCols(h * d, d), t.K.middleCols(g * d, d),
                     t.V.middleCols(g * e, e), Matrix<double>::Zero(N, M),
                     dO.middleCols(h * e, e), Vector<double>::Zero(N),
                     Matrix<bool>()};

      // write one head as a case of flash attention
      const detail::CallPlan plan = detail::plan_call(L.parts, L.rules, view);
      c.biased = true;
      c.plain.scale = detail::entry(L.parts.scale, h);
      c.plain.softcap = L.rules.softcap;
      c.plain.sink = detail::entry(L.parts.sink, h);
      c.plain.offset = t.i0 - t.j0;
      if (plan.sloped) c.plain.slope = L.rules.slopes[std::size_t(h)];
      c.bias = detail::bias_of_head(plan, L.parts, L.rules, view, h);
      for (Index i = 0; i < N; ++i)
        for (Index j = 0; j < M; ++j)
          if (!L.rules.mask.allows(t.i0 + i, t.j0 + j)) c.bias(i, j) = -inf;
      Truth truth = forward_truth(c);
      backward_truth(c, truth);
      const Bounds<double> f(c, truth);
      const BackBounds<double> bound(c, truth, f);
      verify(dQ.middleCols(h * d, d), truth.dQ, bound.dQ);
      tK.middleCols(g * d, d) += truth.dK, tV.middleCols(g * e, e) += truth.dV;
      eK.middleCols(g * d, d) +=
          (1 + u) * bound.dK + u * lift<double>(truth.dK).cwiseAbs();
      eV.middleCols(g * e, e) +=
          (1 + u) * bound.dV + u * lift<double>(truth.dV).cwiseAbs();

      // collect the numbers of one head
      if (const auto scale = detail::entry(L.parts.scale, h)) {
        const auto P = times(lift<quad>(c.Q), lift<quad>(c.K).transpose());
        const Matrix<double> Q = c.Q.cwiseAbs() / std::abs(*scale);
        const Matrix<double> size = lift<double>(truth.dQ).cwiseAbs();
        detail::of_head(wanted.scale, h) += truth.dX.cwiseProduct(P).sum();
        detail::of_head(allowed.scale, h) +=
            Q.cwiseProduct(bound.dQ + gamma(N * d + H, u) * (size + bound.dQ))
                .sum();
      }
      if (L.parts.sink.size() > 0) {
        wanted.sink(h) = truth.dsink;
        allowed.sink(h) = bound.dsink + f.tiny;
      }

      // collect the bias and the table of one head
      for (Index i = 0; i < N; ++i)
        for (Index j = 0; j < M; ++j) {
          const Index p = t.i0 + i, q = t.j0 + j, b = L.rules.buckets(q - p);
          const quad dS = truth.dS(i, j);
          const double own = bound.dS(i, j) + f.tiny;
          const double error =
              own + gamma(std::max(N * M, H), u) * (to_double(abs(dS)) + own);
          if (L.parts.table.size() > 0)
            wanted.table(h, b) += dS, allowed.table(h, b) += error;
          if (L.parts.bias.size() > 0) {
            detail::of_head(wanted.bias, h)(p, q) += dS;
            detail::of_head(allowed.bias, h)(p, q) += error;
          }
        }
    }
  verify(dK, tK, eK);
  verify(dV, tV, eV);
  for_each_weight([](auto, const auto& x, const auto& y, const auto& z) {
    verify(x, y, z);
  }, sum, wanted, allowed);
}

// check heads going back
BOOST_AUTO_TEST_CASE(heads_backward) {
  int bits = 0;
  for (const Index n : {1, 7, 16, 33, 130})
    for (int kind = 0; kind < 6; ++kind) {
      bits = (bits + 73) % (last_bits + 1);
      const auto seed = std::uint64_t(n * 10 + kind);
      check_heads_back(
          draw_layer<double>(bits, mask_of_kind(kind, n), n, seed), n, seed);
    }
}

// check the way back through the rows
BOOST_AUTO_TEST_CASE(pulls_back) {
  const double u = unit_roundoff<double>();
  for (const Index n : {1, 6, 40}) {
    const auto L = draw_layer<double>(turned, causal(n, n), n, 4);
    const auto X = gaussian<double>(n, 5, 4, "X");
    const auto dY = gaussian<double>(n, 5, 4, "dY");
    const auto t = layer_forward(L, X);
    const auto spans = detail::spans_of("check", {}, n, n);
    LayerTrace<double> bar;
    bar.Q = gaussian<double>(n, 24, 4, "q");
    bar.K = gaussian<double>(n, 12, 4, "k");
    bar.V = gaussian<double>(n, 6, 4, "v");
    const Matrix<double> size = Matrix<double>::Constant(
        n, 24, 2 * bar.Q.cwiseAbs().maxCoeff());
    const Matrix<double> values = bar.V.cwiseAbs(),
                         keys = Matrix<double>::Constant(
                             n, 12, 2 * bar.K.cwiseAbs().maxCoeff());

    // pull back in double and in quad
    const auto Lq = lifted_layer<quad>(L);
    LayerTrace<quad> barq, tq;
    barq.Q = lift<quad>(bar.Q), barq.K = lift<quad>(bar.K);
    barq.V = lift<quad>(bar.V);
    LayerGradient<double> g{L.weights, zeros_like(L.parts), {}, {}};
    LayerGradient<quad> truth{Lq.weights, zeros_like(Lq.parts), {}, {}};
    const Matrix<quad> Xq = lift<quad>(X);
    detail::pull_back<double>(L, X, X, t, spans, bar, g);
    detail::pull_back<quad>(Lq, Xq, Xq, tq, spans, barq, truth);

    // judge what was pulled back
    const double turn = compound(compound(u * double(n), gamma(5, u)),
                                 gamma(std::max<Index>(n, 24), u));
    verify(g.weights.W_Q, truth.weights.W_Q,
           turn * X.cwiseAbs().transpose() * size);
    verify(g.X, truth.X, turn * size * L.weights.W_Q.cwiseAbs().transpose());

    // judge what keys and values give back
    const Matrix<double> x = X.cwiseAbs().transpose();
    verify(g.weights.W_K, truth.weights.W_K, turn * x * keys);
    verify(g.weights.W_V, truth.weights.W_V, turn * x * values);
    verify(g.C, truth.C,
           turn * (keys * L.weights.W_K.cwiseAbs().transpose() +
                   values * L.weights.W_V.cwiseAbs().transpose()));
    const auto sums = [&](const Matrix<double>& rows) {
      return Vector<double>(turn * rows.colwise().sum().transpose());
    };
    verify(g.weights.b_Q, truth.weights.b_Q, sums(size));
    verify(g.weights.b_K, truth.weights.b_K, sums(keys));
    verify(g.weights.b_V, truth.weights.b_V, sums(values));
    const auto out = layer_vjp(L, X, t, dY);
    verify(out.weights.W_O,
           times(lift<quad>(t.O).transpose(), lift<quad>(dY)),
           product_bound(Matrix<double>(t.O.transpose()), dY));
  }
}

// check a batch against its sequences
BOOST_AUTO_TEST_CASE(batch_is_each_alone) {
  const std::vector<Index> lengths{5, 1, 0, 9};
  auto L = draw_layer<double>(turned | sloped | sinks | gains, causal(
      unlimited, unlimited), 9, 6);
  const auto X = gaussian<double>(15, 5, 6, "X");
  const auto dY = gaussian<double>(15, 5, 6, "dY");
  const Sequences s{lengths};
  for (const bool plain : {false, true}) {
    L.rules.by_definition = plain;
    const auto t = layer_forward(L, X, s);
    const auto g = layer_vjp(L, X, t, dY, s);
    const auto paths = layer_vjp(L, X, X, t, dY, s);
    BOOST_TEST((g.C.size() == 0 && g.X == paths.X + paths.C));

    // compare a batch with each of its sequences
    Matrix<double> W = Matrix<double>::Zero(5, 24);
    Index first = 0;
    for (const Index n : lengths) {
      const Matrix<double> x = X.middleRows(first, n);
      const auto truth = literal_layer(L, x, x);
      verify(t.Y.middleRows(first, n), truth.Y, truth.Y_error);
      const auto one = layer_forward(L, x);
      W += layer_vjp(L, x, one, dY.middleRows(first, n)).weights.W_Q;
      first += n;
    }
    // an estimate: products of other lengths round differently
    verify(distance(W, g.weights.W_Q),
           1e4 * unit_roundoff<double>() * W.cwiseAbs().maxCoeff());
  }
}
BOOST_AUTO_TEST_CASE(who_sees_nothing) {
  const auto X = gaussian<double>(4, 5, 6, "X");
  for (const Index keys : {0, 7})
    for (const int bits : {0 + turned, sinks | capped, sloped | tables})
      for (const bool plain : {false, true}) {
        auto L = draw_layer<double>(bits, !everything(7, 7), 7, 6);
        L.rules.by_definition = plain;
        const auto C = gaussian<double>(keys, 5, 6, "C");
        const auto t = layer_forward(L, X, C);
        const Matrix<double> b = L.weights.b_O.transpose();
        BOOST_TEST((t.O == 0 * t.O && t.Y == b.replicate(4, 1)));
        verify_logZ<double>(t.logZ, literal_layer(L, X, C));
        const auto g = layer_vjp(L, X, C, t, t.Y);
        BOOST_TEST((g.X == 0 * X && g.C == 0 * C));
      }
}
BOOST_AUTO_TEST_CASE(dropout_of_a_batch) {
  auto L = draw_layer<double>(turned, causal(unlimited, unlimited), 9, 6);
  L.rules.dropout.p = 0.5;
  const Matrix<double> X = gaussian<double>(9, 5, 6, "X");
  const Matrix<double> two = X.replicate(2, 1);
  const auto Y = layer_forward(L, two, Sequences{{9, 9}}).Y;
  refute(distance(Y.topRows(9), Y.bottomRows(9)), 1e-3);

  // compare the weights that two heads leave out
  auto M = L;
  M.weights.W_Q.middleCols(6, 6) = L.weights.W_Q.leftCols(6);
  M.weights.b_Q.segment(6, 6) = L.weights.b_Q.head(6);
  for (const double p : {0.5, 0.0}) {
    M.rules.dropout.p = p;
    const Matrix<double> O = layer_forward(M, X).O;
    const double apart = distance(O.leftCols(3), O.middleCols(3, 3));
    if (p > 0)
      refute(apart, 1e-3);
    else
      verify(apart, 0);
  }
  L.rules.dropout.batch = 1;
  const auto alone = layer_forward(L, X).Y;
  // an estimate: products of other lengths round differently
  verify(distance(alone, Y.bottomRows(9)),
         1e4 * unit_roundoff<double>() * alone.cwiseAbs().maxCoeff());
}
BOOST_AUTO_TEST_CASE(packing_is_a_mask) {
  const std::vector<Index> lengths{3, 4, 2};
  std::vector<Index> labels, ids;
  for (std::size_t b = 0; b < 3; ++b)
    for (Index i = 0; i < lengths[b]; ++i)
      labels.push_back(Index(b)), ids.push_back(i);
  for (const int bits : {turned | sloped, turned | tables | sinks, 0 + gains,
                         turned | biased | capped})
    for (const Mask& own : {causal(9, 9), window(9, 9, 1, 0)}) {
      auto L = draw_layer<double>(bits, own, 9, 6);
      const auto X = gaussian<double>(9, 5, 6, "X");

      // pack the sequences of a layer
      auto packed = L;
      packed.rules.mask = own & segments(labels, labels);
      for (auto& B : packed.parts.bias)
        for (Index i = 0; i < 9; ++i)
          for (Index j = 0; j < 9; ++j)
            B(i, j) = labels[std::size_t(i)] == labels[std::size_t(j)]
                          ? L.parts.bias[std::size_t(&B - &packed.parts.bias[0])](
                                ids[std::size_t(i)], ids[std::size_t(j)])
                          : 1e3;
      const Places at(ids);
      const auto Y = layer_forward(packed, X, Sequences{{9}, {9}, {{at, at}}}).Y;
      Index first = 0;
      for (const Index n : lengths) {
        const Matrix<double> x = X.middleRows(first, n);
        const auto truth = literal_layer(L, x, x);
        verify(Y.middleRows(first, n), truth.Y, truth.Y_error);
        first += n;
      }
    }
}

// check what a layer refuses
BOOST_AUTO_TEST_CASE(refuses_by_name) {
  const struct {
    const char* words;
    void (*change)(Layer<double>&, Sequences&);
  } faults[] = {
    // list what a layer may have wrong
    {"a gain has 5 entries, expected 6",
     [](auto& L, auto&) { L.parts.gain_q.setOnes(5); }},
    {"a gain has 7 entries", [](auto& L, auto&) { L.parts.gain_k.setOnes(7); }},
    {"rotary turns 2 planes", [](auto& L, auto&) {
       L.rotary = Rotary<double>{frequencies<double>(4)};
     }},
    {"and leaves 1 columns of 6", [](auto& L, auto&) {
       L.rotary = Rotary<double>{frequencies<double>(4), Pairs::halves, 1};
     }},
    {"epsilon", [](auto& L, auto&) { L.rules.epsilon = 0; }},
    {"2 lengths of queries, 1 of keys", [](auto&, auto& s) {
       s.queries = {3, 1}, s.keys = {6};
     }},
    {"2 lists of positions", [](auto&, auto& s) {
       s.at.assign(2, {Places(4), Places(6)});
     }},

    // list lengths that do not fit
    {"negative", [](auto&, auto& s) { s.queries = {-1, 5}, s.keys = {0, 6}; }},
    {"negative", [](auto&, auto& s) { s.queries = {0, 4}, s.keys = {-1, 7}; }},
    {"lengths add up to 5 and 6", [](auto&, auto& s) {
       s.queries = {3, 2}, s.keys = {3, 3};
     }},
    {"lengths add up to 4 and 5", [](auto&, auto& s) {
       s.queries = {3, 1}, s.keys = {3, 2};
     }}
  };
  const auto X = gaussian<double>(4, 5, 1, "X");
  const auto C = gaussian<double>(6, 5, 1, "C");
  for (const auto& fault : faults) {
    auto L = draw_layer<double>(0, causal(unlimited, unlimited), 4, 1);
    Sequences s;
    fault.change(L, s);
    BOOST_CHECK_EXCEPTION(layer_forward(L, X, C, s), std::exception,
                          says(fault.words));
  }
}
struct AskedHeads {
  using M = Matrix<double>;
  HeadCount H{4, 2};
  Index n = 5, m = 7;
  HeadParts<double> p{};
  HeadRules r{};
  std::optional<Positions> at{};
  bool keeps = true;  // logZ
  M Q = M::Ones(n, 6 * H.heads), K = M::Ones(m, 6 * H.kv_heads);
  M V = M::Ones(m, 3 * H.kv_heads), O = M::Ones(n, 3 * H.heads);
  M dQ = Q, dK = K, dV = V, dO = O, logZ = M::Zero(H.heads, n);
  HeadsView<double> view() {
    return {view_in<double>(Q), view_in<double>(K), view_in<double>(V),
            view_out(O), keeps ? logZ.data() : nullptr, 0, 0, at};
  }
};
inline void ask(AskedHeads a, std::size_t cotangents = 1,
                const HeadParts<double>* into = nullptr) {
  const HeadsView<double> v = a.view();
  const HeadsCotangent<double> bar{view_in<double>(a.dO), view_out(a.dQ),
                                   view_out(a.dK), view_out(a.dV)};
  auto sum = zeros_like(into ? *into : a.p);
  heads_forward<double>(a.H, a.p, a.r, {&v, 1});
  heads_vjp<double>(a.H, a.p, a.r, {&v, 1}, {&bar, cotangents}, sum);
}
BOOST_AUTO_TEST_CASE(refuses_heads_by_name) {
  const struct {
    const char* words;
    void (*change)(AskedHeads&);
  } faults[] = {
    // list what heads may have wrong
    {"heads_forward: 0 heads on 2", [](auto& a) { a.H.heads = 0; }},
    {"heads_forward: 4 heads on 0", [](auto& a) { a.H.kv_heads = 0; }},
    {"heads_forward: 4 heads on 3", [](auto& a) { a.H.kv_heads = 3; }},
    {"Q is 5x25", [](auto& a) { a.Q.setOnes(5, 25); }},
    {"K is 7x13", [](auto& a) { a.K.setOnes(7, 13); }},
    {"Q is 5x28", [](auto& a) { a.Q.setOnes(5, 28); }},
    {"V is 7x7", [](auto& a) { a.V.setOnes(7, 7); }},
    {"V is 8x6", [](auto& a) { a.V.setOnes(8, 6); }},
    {"O is 6x12", [](auto& a) { a.O.setOnes(6, 12); }},
    {"O is 5x13", [](auto& a) { a.O.setOnes(5, 13); }},
    {"O is 5x12", [](auto& a) { a.keeps = false; }},

    // list numbers that heads may have wrong
    {"scale has 3 entries, expected 4", [](auto& a) { a.p.scale.setOnes(3); }},
    {"sink has 3", [](auto& a) { a.p.sink.setOnes(3); }},
    {"slopes has 1", [](auto& a) { a.r.slopes = {1}; }},
    {"bias has 2", [](auto& a) { a.p.bias.resize(2, a.Q); }},
    {"table is 3x", [](auto& a) { a.p.table.setOnes(3, a.r.buckets.size()); }},
    {"table is 4x3", [](auto& a) { a.p.table.setOnes(4, 3); }},
    {"heads_forward: softcap", [](auto& a) { a.r.softcap = 0; }},
    {"heads_forward: softcap", [](auto& a) { a.r.softcap = inf; }},
    {"heads_forward: sinks", [](auto& a) { a.p.sink.setConstant(4, inf); }},
    {"heads_forward: sinks", [](auto& a) { a.p.scale.setConstant(1, NaN); }},
    {"heads_forward: slopes", [](auto& a) { a.r.slopes = {1, 1, 1, inf}; }},
    {"heads_forward: dropout 1 is", [](auto& a) { a.r.dropout.p = 1; }},
    {"heads_forward: dropout -0.5", [](auto& a) { a.r.dropout.p = -0.5; }},

    // list extents that heads may have wrong
    {"bias is 4x7", [](auto& a) { a.p.bias.resize(1, Matrix<double>(4, 7)); }},
    {"bias is 5x6", [](auto& a) { a.p.bias.resize(1, Matrix<double>(5, 6)); }},
    {"mask is 4x9, but the places go to 5x7",
     [](auto& a) { a.r.mask = everything(4, 9); }},
    {"mask is 9x6", [](auto& a) { a.r.mask = everything(9, 6); }},
    {"positions of 4", [](auto& a) { a.at = {Places(4), Places(7)}; }},
    {"and 6 keys", [](auto& a) { a.at = {Places(5), Places(6)}; }},
    {"dO is 4x12", [](auto& a) { a.dO.setOnes(4, 12); }},
    {"dO is 5x11", [](auto& a) { a.dO.setOnes(5, 11); }},
    {"dQ is 5x23", [](auto& a) { a.dQ.setOnes(5, 23); }},
    {"dK is 7x11", [](auto& a) { a.dK.setOnes(7, 11); }},
    {"dV is 7x5", [](auto& a) { a.dV.setOnes(7, 5); }}
  };
  for (const auto& fault : faults) {
    AskedHeads a;
    fault.change(a);
    BOOST_CHECK_EXCEPTION(ask(a), std::exception, says(fault.words));
  }

  // take what fits
  AskedHeads tight, none{{4, 2}, 0};
  tight.p.bias.push_back(Matrix<double>::Zero(5, 7));
  tight.r.mask = everything(5, 7), tight.at = {Places(5), Places(7)};
  none.keeps = false;
  for (const AskedHeads& a : {AskedHeads{{1, 1}}, AskedHeads{{4, 1}}, tight,
                              none})
    BOOST_CHECK_NO_THROW(ask(a));
  BOOST_CHECK_EXCEPTION(ask(tight, 0), std::invalid_argument,
                        says("1 sequences, 0 cotangents"));
  auto sum = tight.p;
  sum.bias.clear();
  BOOST_CHECK_EXCEPTION(ask(tight, 1, &sum), std::invalid_argument,
                        says("sum has 0 biases, expected 1"));
  sum = tight.p, sum.sink.setOnes(4);
  BOOST_CHECK_EXCEPTION(ask(tight, 1, &sum), std::invalid_argument,
                        says("sum.sink is 4x1, expected 0x1"));
}
BOOST_AUTO_TEST_CASE(refuses_a_foreign_trace) {
  using T = LayerTrace<double>;
  const auto L = draw_layer<double>(0, causal(6, 6), 6, 1);
  const auto X = gaussian<double>(4, 5, 1, "X");
  const auto C = gaussian<double>(6, 5, 1, "C");
  const auto t = layer_forward(L, X, C);
  BOOST_CHECK_NO_THROW(layer_vjp(L, X, C, t, t.Y));
  void (*const faults[])(T&) = {
      [](T& x) { x.Q.resize(5, 24); }, [](T& x) { x.Q.resize(4, 23); },
      [](T& x) { x.K.resize(7, 12); }, [](T& x) { x.K.resize(6, 11); },
      [](T& x) { x.V.resize(7, 6); },  [](T& x) { x.V.resize(6, 5); },
      [](T& x) { x.O.resize(5, 12); }, [](T& x) { x.O.resize(4, 11); },
      [](T& x) { x.logZ.resize(15); }};
  for (const auto& fault : faults) {
    T other = t;
    fault(other);
    BOOST_CHECK_EXCEPTION(layer_vjp(L, X, C, other, t.Y),
                          std::invalid_argument, says("the trace has Q"));
  }
  for (const Matrix<double>& dY : {Matrix<double>(5, 5), Matrix<double>(4, 6)})
    BOOST_CHECK_EXCEPTION(layer_vjp(L, X, C, t, dY), std::invalid_argument,
                          says("dY is " + shape(dY)));
}
BOOST_AUTO_TEST_CASE(takes_any_storage) {
  const auto L = draw_layer<double>(turned, causal(7, 7), 7, 1);
  const Matrix<double> X = gaussian<double>(7, 5, 1, "X");
  const Eigen::MatrixXd by_columns = X / 2;
  const auto t = layer_forward(L, X), s = layer_forward(L, by_columns +
                                                               by_columns);
  BOOST_TEST((t.Y == s.Y));
  const Eigen::MatrixXd dY = t.Y;
  BOOST_TEST((layer_vjp(L, X, t, dY).X == layer_vjp(L, X, t, t.Y).X));
}

// check decoding in any pieces
BOOST_AUTO_TEST_CASE(decodes_in_any_pieces) {
  const Index n = 23;
  int bits = 0;
  for (const int kind : {0, 1, 3})
    for (const Index piece : {1, 2, 7, 23})
      for (int k = 0; k < 3; ++k) {
        bits = (bits + 73) % (last_bits + 1);
        const auto seed = std::uint64_t(bits);
        const auto L =
            draw_layer<double>(bits, mask_of_kind(kind, n), n, seed);
        const auto X = gaussian<double>(n, 5, seed, "X");
        const auto truth = literal_layer(L, X, X);
        auto cache = empty_cache(L);
        for (Index i = 0; i < n; i += piece) {
          const Index rows = std::min(piece, n - i);
          verify(decode(L, X.middleRows(i, rows), cache),
                 truth.Y.middleRows(i, rows),
                 truth.Y_error.middleRows(i, rows));
          BOOST_TEST(cache.end() == i + rows);
        }
      }
}
BOOST_AUTO_TEST_CASE(caches_form_a_monoid) {
  const auto L = draw_layer<double>(turned | partly,
                                    causal(unlimited, unlimited), 0, 4);
  const auto X = gaussian<double>(9, 5, 4, "X");
  auto first = empty_cache(L), second = first, both = first;
  decode(L, X.topRows(5), first);
  decode(L, X.bottomRows(4), second);
  decode(L, X, both);
  Matrix<double> K = second.keys();
  turn_heads<double>(K, *L.rotary, Places(std::vector<Index>(4, 5)));
  Matrix<double> size = X.cwiseAbs() * L.weights.W_K.cwiseAbs();
  size.rowwise() += L.weights.b_K.cwiseAbs().transpose();
  const double bound = 2 * size.maxCoeff() * (2 * 7 + 3 * (9 + 7)) *
                       unit_roundoff<double>();
  verify(distance(both.keys().topRows(5), first.keys()), bound);
  verify(distance(both.keys().bottomRows(4), K), bound);
  verify(distance(both.values().bottomRows(4), second.values()), bound);
  refute(distance(both.keys().bottomRows(4), second.keys()), 1e-3);
}

// check that a window forgets
BOOST_AUTO_TEST_CASE(window_forgets) {
  const auto L = draw_layer<double>(0, mask_of_kind(1, 0), 0, 3);
  const auto X = gaussian<double>(40, 5, 3, "X");
  auto cache = empty_cache(L);
  for (Index i = 0; i < 40; i += 4) {
    decode(L, X.middleRows(i, 4), cache);
    const Index kept = cache.end() - cache.first();
    verify(double(std::abs(kept - std::min<Index>(i + 4, 5))), 0);
  }

  // refuse a chunk before the cache grows
  for (const int fault : {0, 1, 2, 3}) {
    auto bad = L;
    Sequences s{{2}};
    if (fault == 0) bad.rules.softcap = -1;
    if (fault == 1) bad.parts.bias.push_back(Matrix<double>::Zero(42, 41));
    if (fault == 2) s.at = {Positions{Places(2, 0), Places(2, 0)}};
    if (fault == 3) bad.rules.dropout.p = 1;
    BOOST_CHECK_THROW(decode<double>(bad, X.topRows(2), {&cache, 1}, s),
                      std::exception);
    BOOST_TEST(cache.end() == 40);
  }
  cache.forget_before(38);
  BOOST_CHECK_EXCEPTION(decode(L, X.topRows(1), cache),
                        std::invalid_argument, says("were forgotten"));
  BOOST_TEST(cache.end() == 40);
  const auto all = draw_layer<double>(0, everything(50, 50), 50, 3);
  auto other = empty_cache(all);
  decode(all, X.topRows(9), other);
  BOOST_TEST(other.first() == 0);

  // refuse caches by name
  const auto refused = [&](const Mask& mask, KeyValueCache<double> c,
                           std::size_t caches, const char* words) {
    auto M = all;
    M.rules.mask = mask;
    const Index end = c.end();
    BOOST_CHECK_EXCEPTION(decode<double>(M, X.topRows(3), {&c, caches},
                                               Sequences{}),
                          std::invalid_argument, says(words));
    BOOST_TEST(c.end() == end);
  };
  auto lacking = other;
  lacking.forget_before(1);
  refused(all.rules.mask, lacking, 1, "before place 1 of sequence 0");
  refused(all.rules.mask, other, 0, "0 caches for 1");
  refused(everything(11, 50), other, 1, "place 12 of a mask 11x50");
  refused(everything(50, 11), other, 1, "place 12 of a mask 50x11");
  refused(all.rules.mask, KeyValueCache<double>(11, 6), 1, "has 11 and 6");
  refused(all.rules.mask, KeyValueCache<double>(12, 5), 1, "has 12 and 5");
  auto last = all;
  last.rules.mask = everything(12, 12);
  decode(last, X.topRows(3), other);
  BOOST_TEST((other.first() == 12 && other.end() == 12));
}

// check decoding a batch
BOOST_AUTO_TEST_CASE(decodes_a_batch) {
  const auto L = draw_layer<double>(turned | sinks | sloped | scales,
                                    mask_of_kind(1, 0), 0, 3);
  const Index n = 12;
  std::vector<Matrix<double>> X;
  std::vector<LiteralLayer> truth;
  std::vector<KeyValueCache<double>> caches;
  for (std::uint64_t b = 0; b < 3; ++b) {
    X.push_back(gaussian<double>(n, 5, b, "X"));
    truth.push_back(literal_layer(L, X.back(), X.back()));
    caches.push_back(empty_cache(L));
  }
  for (const auto& step : std::vector<std::vector<Index>>{
           {5, 1, 9}, {1, 1, 1}, {2, 0, 1}, {1, 1, 0}})

    // decode one step of a batch
    {
      Matrix<double> rows(step[0] + step[1] + step[2], 5);
      std::vector<Index> at;
      for (std::size_t b = 0; b < 3; ++b) at.push_back(caches[b].end());
      Index first = 0;
      for (std::size_t b = 0; b < 3; first += step[b++])
        rows.middleRows(first, step[b]) = X[b].middleRows(at[b], step[b]);
      const auto Y = decode<double>(L, rows, caches, {step});
      first = 0;
      for (std::size_t b = 0; b < 3; first += step[b++])
        verify(Y.middleRows(first, step[b]),
               truth[b].Y.middleRows(at[b], step[b]),
               truth[b].Y_error.middleRows(at[b], step[b]));
    }
  BOOST_CHECK_EXCEPTION(
      decode<double>(L, X[0].topRows(3), caches, {{2, 1, 0}, {1, 2, 0}}),
      std::invalid_argument, says("sequence 0 has 2 new queries and 1 new"));
}

// check the answers of the layer chapter
BOOST_AUTO_TEST_CASE(answer_scale) {
  auto L = draw_layer<quad>(gains | turned, causal(6, 6), 6, 2);
  L.weights.b_Q.resize(0);
  L.rules.epsilon = 1e-300;
  const auto X = gaussian<quad>(6, 5, 2, "X");
  const auto dY = gaussian<quad>(6, 5, 2, "dY");
  const auto g = layer_vjp(L, X, layer_forward(L, X), dY);
  for (Index h = 0; h < 4; ++h) {
    const auto P = L.weights.W_Q.middleCols(6 * h, 6).cwiseProduct(
        g.weights.W_Q.middleCols(6 * h, 6));
    verify(to_double(abs(P.sum())), 1e5 * unit_roundoff<quad>() *
                                        to_double(P.cwiseAbs().sum()));
  }
}
BOOST_AUTO_TEST_CASE(answer_cap) {
  const double c = 5, s = c * std::tanh(-inf / c);
  const Matrix<double> A = softmax(Matrix<double>{{0, s}});
  verify(std::abs(A(0, 1) / A(0, 0) - std::exp(-5.0)),
         8 * unit_roundoff<double>() * std::exp(-5.0));
  refute(A(0, 1), 0.006);
}
BOOST_AUTO_TEST_CASE(answer_bytes) {
  const auto c = empty_cache(Layer<double>{xavier<double>({48, 8, 2}, 1)});
  BOOST_TEST(c.keys().cols() + c.values().cols() == 2 * (6 + 6));
}
BOOST_AUTO_TEST_CASE(answer_values) {
  const auto L = draw_layer<quad>(turned, causal(7, 7), 7, 3);
  Matrix<quad> N = Matrix<quad>::Identity(3, 3), I = N;
  N(0, 2) = 0.75, I(0, 2) = -0.75, N(1, 2) = -2, I(1, 2) = 2;
  Layer<quad> M = L;
  auto& w = M.weights;
  w.W_V.leftCols(3) = times(L.weights.W_V.leftCols(3), N);
  w.b_V.head(3) = times(N.transpose(), L.weights.b_V.head(3));
  for (Index h = 0; h < 2; ++h)
    w.W_O.middleRows(3 * h, 3) = times(I, L.weights.W_O.middleRows(3 * h, 3));
  const auto X = gaussian<quad>(7, 5, 3, "X");
  verify(layer_forward(M, X).Y, layer_forward(L, X).Y,
         literal_layer(L, X, X).Y_error + literal_layer(M, X, X).Y_error);
}
BOOST_AUTO_TEST_CASE(answer_prefix) {
  const Index n = 9, p = 4;
  const auto L = draw_layer<double>(turned, where(n, n, [](Index i, Index j) {
    return j <= i || j < p;
  }), n, 3);
  const auto X = gaussian<double>(n, 5, 3, "X");
  const auto truth = literal_layer(L, X, X);
  for (const Index first : {1, 3, 4, 6}) {
    auto cache = empty_cache(L);
    const auto Y = decode(L, X.topRows(first), cache);
    const auto Z = decode(L, X.bottomRows(n - first), cache);
    if (first < p)
      refute(distance(Y, truth.Y.topRows(first)), 1e-3);
    else
      verify(Y, truth.Y.topRows(first), truth.Y_error.topRows(first));
    verify(Z, truth.Y.bottomRows(n - first),
           truth.Y_error.bottomRows(n - first));
  }
}
template <class S>
Matrix<S> halves_from_neighbours(const Matrix<S>& W, Index d) {
  Matrix<S> M(W.rows(), W.cols());
  for (Index h = 0; h < W.cols(); h += d)
    for (Index a = 0; a < d; ++a)
      M.col(h + a / 2 + (a % 2) * d / 2) = W.col(h + a);
  return M;
}
BOOST_AUTO_TEST_CASE(answer_pairs) {
  auto L = draw_layer<double>(turned, causal(8, 8), 8, 3);
  const auto X = gaussian<double>(8, 5, 3, "X");
  const auto truth = literal_layer(L, X, X);
  auto& w = L.weights;
  const auto row = [](const Vector<double>& b) {
    return Matrix<double>(b.transpose());
  };
  w.W_Q = halves_from_neighbours(w.W_Q, 6);
  w.W_K = halves_from_neighbours(w.W_K, 6);
  w.b_Q = halves_from_neighbours(row(w.b_Q), 6).transpose();
  w.b_K = halves_from_neighbours(row(w.b_K), 6).transpose();
  L.rotary->pairs = Pairs::halves;
  verify(layer_forward(L, X).Y, truth.Y, truth.Y_error);
}
BOOST_AUTO_TEST_SUITE_END()
