// tests/variants_modifier_test.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <bit>
#include "literal_variant.hpp"

BOOST_AUTO_TEST_SUITE(variants)

// check variants against their definition
BOOST_AUTO_TEST_CASE(literal_definition) {
  unsigned bits = 0;
  for (const auto& [n, m] : extents)
    for (const Mask& mask : zoo(n, m))
      for (int k = 0; k < 24; ++k, bits = (bits + 389) & last_variant) {
        const QuadParts x = draw_parts(n, m, 1 + k % 3, k % 4, bits, bits);
        const VariantRules r = draw_rules(mask, bits);
        const auto f = variant_forward(x, r);
        const auto t = variant_in_tiles(x, r, 1 + k % 4);
        const Literal truth = literal(x, r);
        verify(distance(f.O, truth.O), 1e-30);
        verify(distance(t.O, truth.O), 1e-30);
        verify(distance(f.A.leftCols(m), truth.A), 1e-31);
        for (Index i = 0; i < n; ++i)
          for (const quad& ours : {f.logZ(i), t.logZ(i)})
            verify(ours == truth.logZ(i) ? 0 : distance(ours, truth.logZ(i)),
                   1e-30);
      }
}
BOOST_AUTO_TEST_CASE(masked_nan_is_not_read) {
  const Index n = 5, m = 7;
  for (unsigned bits = 0; bits <= last_variant; bits += 11) {
    VariantParts<quad> x = draw_parts(n, m, 2, 3, bits, bits + 1);
    const VariantRules r = draw_rules(causal(n, m), bits);
    const auto f = variant_forward(x, r);
    const Matrix<quad> dO = gaussian<quad>(n, 3, bits);
    x.K.row(m - 1).setConstant(quad(nan));
    x.V.row(m - 1).setConstant(quad(nan));
    const auto g = variant_forward(x, r);
    verify(distance(f.O.topRows(n - 1), g.O.topRows(n - 1)), 1e-31);
    BOOST_TEST(isnan(g.O(n - 1, 0)));
    const auto back = variant_vjp<quad>(x, r, g, dO);
    for (Index i = 0; i + 1 < n; ++i)
      verify(isnan(quad(back.Q.row(i).sum())) ? 1 : 0, 0);
  }
}
/// The parts, with the poison in all that query i may not read.
inline VariantParts<double> poisoned(VariantParts<double> x,
                                     const VariantRules& r, Index i,
                                     double poison) {
  Matrix<bool> sees = dense(r.mask).row(i);
  for (Index j = 0; j < sees.cols(); ++j)
    if (sees(j) && detail::barred(x, r, i, j)) sees(j) = false;
  const auto blank = [&](Matrix<double>& table) {
    for (Index k = 0; k < table.rows(); ++k) {
      bool read = false;
      for (Index j = 0; j < sees.cols(); ++j)
        read |= sees(j) && detail::offset_row(r.offset(i, j),
                                              table.rows()) == k;
      if (!read) table.row(k).setConstant(poison);
    }
  };
  blank(x.rel_keys), blank(x.rel_values);

  // poison the rows and entries that a query may not read
  for (Index j = 0; j < sees.cols(); ++j) {
    if (!sees(j)) x.K.row(j).setConstant(poison);
    if (!sees(j)) x.V.row(j).setConstant(poison);
    if (!sees(j) && x.bias.cols() > 1 && x.bias.rows() > 1 &&
        !r.mask.allows(i, j)) x.bias(i, j) = poison;
  }
  for (Index k = 0; k < x.Q.rows(); ++k)
    if (k != i) x.Q.row(k).setConstant(poison);
  for (Index b = 0; b < x.table.cols(); ++b) {
    bool read = false;
    for (Index j = 0; j < sees.cols(); ++j)
      read |= r.mask.allows(i, j) && r.buckets(r.offset(i, j)) == b;
    if (!read) x.table(b) = poison;
  }
  return x;
}
BOOST_AUTO_TEST_CASE(unseen_is_not_read) {
  const Index n = 4, m = 6;
  const auto same = [](const auto& a, const auto& b) {
    for (Index k = 0; k < a.size(); ++k)
      if (std::bit_cast<std::uint64_t>(double(a(k))) !=
          std::bit_cast<std::uint64_t>(double(b(k)))) return false;
    return true;
  };
  for (const Mask& mask : zoo(n, m))
    for (unsigned bits = 0; bits <= last_variant; bits += 37) {
      const QuadParts drawn = draw_parts(n, m, 3, 2, bits | 16, bits);
      VariantParts<double> x{{}, {}, {}};
      each_part([](auto, const auto& from, auto& to) {
        to = lift<double>(from);
      }, drawn, x);
      x.bias = gaussian<double>(n, m, bits, "bias");
      x.bias(1, 2) = x.bias(3, 3) = -inf;
      const VariantRules r = draw_rules(mask, bits);

      // compare the bits of each query and of each key
      const auto f = variant_forward(x, r);
      const Matrix<double> dO = gaussian<double>(n, 2, bits, "dO");
      const auto g = variant_vjp(x, r, f, dO);
      for (const double poison : {nan, inf, -inf}) {
        for (Index i = 0; i < n; ++i) {
          const auto y = poisoned(x, r, i, poison);
          Matrix<double> bar = Matrix<double>::Constant(n, 2, poison);
          bar.row(i) = dO.row(i);
          const auto h = variant_forward(y, r);
          const auto t = variant_in_tiles(y, r, 2);
          verify(same(h.O.row(i), f.O.row(i)) && h.logZ(i) == f.logZ(i) ? 0 : 1, 0);
          verify(same(t.O.row(i), variant_in_tiles(x, r, 2).O.row(i)) ? 0 : 1, 0);
          verify(same(variant_vjp(y, r, h, bar).Q.row(i), g.Q.row(i)) ? 0 : 1, 0);
        }

        // poison all queries that do not see a key
        for (Index j = 0; j < m; ++j) {
          auto y = x;
          Matrix<double> bar = dO;
          for (Index i = 0; i < n; ++i)
            if (is_forbidden(f.scores(i, j))) {
              y.Q.row(i).setConstant(poison);
              bar.row(i).setConstant(poison);
            }
          const auto h = variant_vjp(y, r, variant_forward(y, r), bar);
          verify(same(h.K.row(j), g.K.row(j)) && same(h.V.row(j), g.V.row(j)) ? 0 : 1,
                 0);
        }

        // poison all queries that do not read a row of a table
        for (const auto part : {&VariantParts<double>::rel_keys,
                                &VariantParts<double>::rel_values})
          for (Index k = 0; k < (x.*part).rows(); ++k) {
            auto y = x;
            Matrix<double> bar = dO;

            // poison those that do not read row k
            for (Index i = 0; i < n; ++i) {
              bool reads = false;
              for (Index j = 0; j < m; ++j)
                reads |= !is_forbidden(f.scores(i, j)) &&
                         detail::offset_row(r.offset(i, j), (x.*part).rows()) == k;
              if (reads) continue;
              y.Q.row(i).setConstant(poison);
              bar.row(i).setConstant(poison);
            }
            const auto h = variant_vjp(y, r, variant_forward(y, r), bar);
            verify((h.*part).row(k) == (g.*part).row(k) ? 0 : 1, 0);
          }
      }
    }
}
BOOST_AUTO_TEST_CASE(bias_as_mask) {
  unsigned bits = 0;
  for (const Mask& mask : zoo(4, 5)) {
    const VariantRules free{everything(4, 5)}, r{mask};
    QuadParts x = draw_parts(4, 5, 2, 2, bits ^= 128, 7), y = x;
    y.bias = bias_of<quad>(mask);
    const auto f = variant_forward(x, r), g = variant_forward(y, free);
    verify(distance(f.A, g.A), 1e-33);
    const Matrix<quad> dO = gaussian<quad>(4, 2, 3);
    const QuadParts one = variant_vjp(x, r, f, dO);
    const QuadParts two = variant_vjp(y, free, g, dO);
    verify(distance(one.K, two.K) + distance(one.V, two.V), 1e-31);
    y.bias.row(1).setConstant(quad(nan));
    const auto h = variant_forward(y, free);
    for (Index i = 0; i < 4; ++i)
      if (i == 1) BOOST_TEST(isnan(h.O(i, 0)));
      else verify(distance(h.O.row(i), g.O.row(i)), 0);
  }
}
BOOST_AUTO_TEST_CASE(empty_rows_are_refused) {
  using error = std::domain_error;
  const QuadParts x = draw_parts(5, 3, 2, 2, 0, 1);
  QuadParts sunk = draw_parts(5, 3, 2, 2, 128, 1);
  VariantRules r{causal(5, 3)};
  verify(to_double(quad(variant_forward(x, r).O.topRows(2)
                            .cwiseAbs().sum())), 0);
  r.empty = Empty::refuse;
  BOOST_CHECK_EXCEPTION(variant_forward(x, r), error,
                        says("variant_forward: query 0 has no key"));
  r.mask = where(5, 3, [](Index i, Index j) { return i != 3 && j == 1; });
  BOOST_CHECK_EXCEPTION(variant_in_tiles(x, r, 2), error,
                        says("variant_in_tiles: query 3 has no key"));
  verify(to_double(quad(variant_forward(sunk, r).O.row(3)
                            .cwiseAbs().sum())), 0);
  BOOST_CHECK_EXCEPTION(variant_in_tiles(x, r, 0), std::invalid_argument,
                        says("variant_in_tiles: tile 0"));
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(x, {causal(5, 3)}, variant_forward(sunk, r), x.K),
      std::invalid_argument, says("variant_vjp: dO is 3x2"));
}
BOOST_AUTO_TEST_CASE(foreign_cotangents_are_refused) {
  const QuadParts x = draw_parts(5, 3, 2, 2, 0, 1);
  const auto f = variant_forward(x, {causal(5, 3)});
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(x, {causal(5, 3)}, f, f.O.leftCols(1)),
      std::invalid_argument, says("variant_vjp: dO is 5x1"));
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(x, {causal(5, 3)}, f, f.O, f.logZ.head(4)),
      std::invalid_argument, says("dlogZ has 4 entries"));
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(x, {causal(4, 3)}, f, f.O), std::invalid_argument,
      says("the mask is for 4 queries and 3 keys, but Q is 5x2"));
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(draw_parts(5, 2, 2, 2, 0, 1), {causal(5, 2)}, f, f.O),
      std::invalid_argument, says("the forward pass has scores 5x3"));
  auto less = f;
  less.O = f.O.topRows(4).eval();
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(x, {causal(5, 3)}, less, less.O),
      std::invalid_argument, says("has scores 5x3 and O 4x2"));
  auto narrow = f;
  narrow.O = f.O.leftCols(1).eval();
  BOOST_CHECK_EXCEPTION(
      variant_vjp<quad>(x, {causal(5, 3)}, narrow, narrow.O),
      std::invalid_argument, says("has scores 5x3 and O 5x1"));
  QuadParts y = x;
  y.K = y.V.topRows(2);
  BOOST_CHECK_EXCEPTION(variant_in_tiles(y, {causal(5, 3)}, 2),
                        std::invalid_argument,
                        says("variant_in_tiles: the mask is for 5 queries"));
}
BOOST_AUTO_TEST_CASE(one_relative_value) {
  const Matrix<quad> one = lift<quad>(Matrix<double>{{1}});
  QuadParts x{one, one, one};
  x.rel_values = 3 * one, x.rel_keys = 2 * one;
  const VariantRules r{everything(1, 1)};
  const auto f = variant_forward(x, r);
  verify(distance(f.O, 4 * one), 0);
  const auto g = variant_vjp(x, r, f, one, Vector<quad>::Ones(1));
  verify(distance(g.rel_values, one) + distance(g.rel_keys, one), 0);
  verify(distance(g.Q, 3 * one), 0);
}
BOOST_AUTO_TEST_CASE(gather_and_scatter) {
  for (const auto& [n, m] : extents)
    for (const Index reach : {0, 1, 3, 12}) {
      const VariantRules r{causal(n, m)};
      const Index rows = 2 * reach + 1;
      const Matrix<Fp> P = uniform<Fp>(n, rows, 1), Y = uniform<Fp>(n, m, 2);
      Matrix<Fp> G = Matrix<Fp>::Constant(n, m, Fp(0));
      detail::gather(P, r, r.mask.whole(), G);
      const Matrix<Fp> T = detail::scatter(Y, r, r.mask.whole(), rows);
      Fp one(0), two(0);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < m; ++j) one += G(i, j) * Y(i, j);
        for (Index k = 0; k < rows; ++k) two += P(i, k) * T(i, k);
      }
      verify_exact(one, two, 2);
    }
}
BOOST_AUTO_TEST_CASE(relative_shift_invariance) {
  for (unsigned bits = 0; bits < 512; bits += 7) {
    const QuadParts x = draw_parts(4, 6, 2, 2, bits, bits);
    VariantRules r = draw_rules(causal(4, 6), bits);
    const auto f = variant_forward(x, r);
    const auto move = [&](Index queries, Index keys) {
      r.mask = placed_at(r.mask, {Places(4, queries), Places(6, keys)});
    };
    move(1002, 1000);
    verify(distance(variant_forward(x, r).O, f.O), 0);
    move(1002, 1001);
    if (bits & 64) refute(distance(variant_forward(x, r).O, f.O), 1e-6);
  }
}
BOOST_AUTO_TEST_CASE(rows_of_a_table_that_are_read) {
  const Index n = 4, m = 6, reach = 8;
  QuadParts x = draw_parts(n, m, 2, 2, 0, 1);
  x.rel_keys = gaussian<quad>(2 * reach + 1, 2, 5);
  for (const Index o : {0, 2, -1}) {
    const VariantRules r{everything(aligned(n, m, o))};
    for (Index t = -reach; t <= reach; ++t) {
      QuadParts y = x;
      y.rel_keys.row(reach + t).setConstant(quad(nan));
      const Matrix<quad> X = variant_forward(y, r).P;
      const bool read = (X.array() != X.array()).any();
      verify(read == (-(n - 1) - o <= t && t <= m - 1 - o) ? 0 : 1, 0);
    }
  }
}
BOOST_AUTO_TEST_CASE(sink_is_a_key) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    QuadParts x = draw_parts(3, 5, 2, 2, 128, seed), y = x;
    y.K.conservativeResize(6, 2), y.V.conservativeResize(6, 2);
    y.K.row(5).setConstant(quad(0)), y.V.row(5).setConstant(quad(0));
    y.bias = Matrix<quad>::Zero(1, 6);
    y.bias(0, 5) = x.sink(0);
    y.sink.resize(0, 0);
    const VariantRules rx{everything(3, 5)}, ry{everything(3, 6)};
    const auto f = variant_forward(x, rx), g = variant_forward(y, ry);
    verify(distance(f.O, g.O), 1e-31);
    verify(distance(f.A, g.A.leftCols(6)), 1e-31);
    x.sink.resize(0, 0);
    const auto plain = variant_forward(x, rx);
    for (Index i = 0; i < 3; ++i) {
      const Matrix<quad> less = plain.A.row(i).head(5) * (1 - f.A(i, 5));
      verify(distance(f.A.row(i).head(5), less), 1e-31);
      const quad total = f.A.row(i).head(5).sum();
      verify(to_double(abs(1 - exp(y.bias(5) - f.logZ(i)) - total)), 1e-31);
    }
  }
}
BOOST_AUTO_TEST_CASE(empty_rows_with_a_sink) {
  const QuadParts x = draw_parts(2, 3, 2, 2, 128, 9);
  const auto f = variant_forward(x, {!everything(2, 3)});
  verify(to_double(quad(f.O.cwiseAbs().sum())), 0);
  verify(distance(f.logZ, Vector<quad>::Constant(2, x.sink(0))), 0);
}
BOOST_AUTO_TEST_CASE(additive_is_not_bilinear) {
  const auto draw = [](Index n, Index d, const char* name) {
    return gaussian<quad>(n, d, 1, name);
  };
  const Matrix<quad> q = draw(1, 3, "q"), k = draw(1, 4, "k"),
                     U = draw(5, 3, "U"), W = draw(5, 4, "W"),
                     x = draw(5, 1, "x");
  const auto score = [&](const quad& size) {
    const Matrix<quad> y = U * q.transpose() + size * (W * k.transpose());
    quad sum = 0;
    for (Index r = 0; r < 5; ++r) sum += x(r) * tanh(y(r));
    return sum;
  };
  const quad limit = 2 * quad(x.cwiseAbs().sum());
  const quad form = (q * U.transpose() * W * k.transpose())(0, 0);
  for (const double size : {1.0, 10.0, 1e3, 1e6})
    verify(to_double(abs(score(size) - score(0))), to_double(limit));
  const double times = 1e6 * to_double(abs(form) / limit);
  fact("times", times);
  refute(times, 1e3);
}

// check gradients of variants
using DualParts = VariantParts<Dual<quad>>;

/// The parts, moving along a direction in one of them.
DualParts moving(const QuadParts& x, const std::string& which,
                 const Matrix<quad>& direction) {
  DualParts z{{}, {}, {}};
  each_part([&](const std::string& name, const Matrix<quad>& a, auto& b) {
    b = lift<Dual<quad>>(a);
    if (name == which)
      for (Index k = 0; k < a.size(); ++k)
        b.data()[k].d = direction.data()[k];
  }, x, z);
  return z;
}
/// d/dt of <dO, O> + <dlogZ, log Z>; empty rows are constant.
quad slope_along(const DualParts& z, const VariantRules& r,
                 const Matrix<quad>& dO, const Vector<quad>& dlogZ) {
  const auto f = variant_forward(z, r);
  quad s = 0;
  for (Index k = 0; k < dO.size(); ++k)
    s += dO.data()[k] * f.O.data()[k].d;
  for (Index i = 0; i < dlogZ.size(); ++i) s += dlogZ(i) * f.logZ(i).d;
  return s;
}
void compare_gradients(const QuadParts& x, const VariantRules& r,
                       std::uint64_t seed) {
  const auto f = variant_forward(x, r);
  const Matrix<quad> dO = gaussian<quad>(f.O.rows(), f.O.cols(), seed, "dO");
  const Vector<quad> dlogZ = gaussian<quad>(f.O.rows(), 1, seed, "dlogZ");
  const QuadParts g = variant_vjp(x, r, f, dO, dlogZ);
  each_part([&](const std::string& name, const auto& a, const auto& b) {
    if (a.size() == 0) return;
    const Matrix<quad> D =
        gaussian<quad>(a.rows(), a.cols(), seed, "moving " + name);
    quad product = 0;
    for (Index k = 0; k < D.size(); ++k)
      product += D.data()[k] * b.data()[k];
    const quad along = slope_along(moving(x, name, D), r, dO, dlogZ);
    verify(to_double(abs(product - along)),
           1e-30 * (1 + to_double(abs(along))));
  }, x, g);
}

BOOST_AUTO_TEST_CASE(gradients_in_quad) {
  unsigned bits = 0;
  for (const auto& [n, m] : {std::pair<Index, Index>{3, 4}, {4, 3}, {1, 5},
                             {3, 1}})
    for (const Mask& mask : zoo(n, m))
      for (int k = 0; k < 20; ++k, bits = (bits + 389) & last_variant)
        compare_gradients(draw_parts(n, m, 2, 2, bits, bits),
                          draw_rules(mask, bits), bits + 5);
}
BOOST_AUTO_TEST_CASE(gradients_of_empty_rows) {
  for (unsigned bits = 0; bits <= last_variant; bits += 3) {
    if (bits & 128) continue;  // a sink is never empty
    const QuadParts x = draw_parts(4, 3, 2, 2, bits, bits);
    const VariantRules r = draw_rules(!everything(4, 3), bits);
    const auto f = variant_forward(x, r);
    verify(to_double(f.O.cwiseAbs().sum() + f.A.cwiseAbs().sum()), 0);
    BOOST_TEST((f.logZ.array() == quad(-inf)).all());
    const QuadParts g = variant_vjp<quad>(
        x, r, f, Matrix<quad>::Constant(4, 2, quad(1)),
        Vector<quad>::Constant(4, quad(1)));
    each_part([](auto, const Matrix<quad>& a) {
      verify(to_double(quad(a.cwiseAbs().sum())), 0);
    }, g);
  }
}
BOOST_AUTO_TEST_CASE(a_sink_breaks_the_gauge) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    QuadParts x = draw_parts(1, 5, 2, 2, 128, seed);
    x.bias = gaussian<quad>(1, 1, seed, "bias");
    const VariantRules r{everything(1, 5)};
    const Matrix<quad> dO = gaussian<quad>(1, 2, seed, "dO");
    const Vector<quad> dl = gaussian<quad>(1, 1, seed, "dlogZ");
    const QuadParts g = variant_vjp(x, r, variant_forward(x, r), dO, dl);
    verify(distance(g.bias(0), dl(0) - g.sink(0)), 1e-31);
    refute(distance(g.bias(0), dl(0)), 1e-6);
  }
}
BOOST_AUTO_TEST_CASE(a_scale_of_zero) {
  for (unsigned bits = 1; bits <= last_variant; bits += 22) {
    QuadParts x = draw_parts(3, 4, 2, 2, bits | 1, bits);
    x.scale(0) = 0;
    compare_gradients(x, draw_rules(causal(3, 4), bits), bits);
  }
}
BOOST_AUTO_TEST_CASE(expressions_and_columns) {
  const Eigen::MatrixXd Q = gaussian<double>(3, 2, 1, "Q"),
                        K = gaussian<double>(4, 2, 1, "K"),
                        V = gaussian<double>(4, 2, 1, "V"),
                        G = gaussian<double>(3, 2, 1, "dO");
  const VariantRules r{causal(3, 4)};
  const VariantParts<double> x{Q, K, V}, y{2 * (Q / 2), K.topRows(4), V};
  const auto f = variant_forward(x, r);
  verify(distance(variant_forward(y, r).O, f.O), 0);
  const auto one = variant_vjp(x, r, f, Matrix<double>(2 * G));
  const auto two = variant_vjp(x, r, f, 2 * G, 0 * G.col(0));
  verify(distance(one.Q, two.Q) + distance(one.K, two.K), 0);
}
BOOST_AUTO_TEST_CASE(gradients_in_tangents) {
  const Index n = 40, m = 56;
  const QuadParts x = draw_parts(n, m, 8, 8, last_variant, 3);
  compare_gradients(x, draw_rules(causal(n, m) & window(n, m, 9, 0),
                                  last_variant), 4);
}
BOOST_AUTO_TEST_CASE(learned_form_lowers_keys) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    QuadParts x = draw_parts(3, 5, 2, 2, 1, seed);
    x.scale(0) = 1;
    const Matrix<quad> K = x.K, M = gaussian<quad>(2, 2, seed + 9);
    x.K = K * M.transpose();
    const VariantRules r{causal(3, 5)};
    const auto f = variant_forward(x, r);
    verify(distance(f.P, eq<"S^{ij} = Q^{ia} M_{ab} K^{jb}">(  // eq:none
        view<up, up>(x.Q), view<dn, dn>(M), view<up, up>(K)).mat()), 1e-31);
    const Matrix<quad> dO = gaussian<quad>(3, 2, seed + 1);
    const Matrix<quad> D = gaussian<quad>(2, 2, seed + 2);
    const Matrix<quad> dM =
        variant_vjp(x, r, f, dO).K.transpose() * K;
    const quad along =
        slope_along(moving(x, "K", K * D.transpose()), r, dO, {});
    verify(to_double(abs(along - quad(dM.cwiseProduct(D).sum()))), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(a_row_by_hand) {
  VariantParts<double> x{Matrix<double>{{1}}, Matrix<double>{{4}, {1}, {2}},
                         Matrix<double>{{1}, {0}, {-1}}};
  x.scale = Matrix<double>{{1}}, x.slope = Matrix<double>{{0.5}};
  x.sink = Matrix<double>{{0}};
  VariantRules r{causal(1, 3)};
  verify(std::abs(variant_forward(x, r).A(0) - 0.667), 5e-4);
  r.softcap = 2;
  const auto f = variant_forward(x, r);
  verify(distance(f.scores, Matrix<double>{{0.928, 0.424, 1.523}}), 5e-4);
  verify(distance(f.A, Matrix<double>{{0.262, 0.158, 0.476, 0.104}}), 5e-4);
  verify(std::abs(f.O(0) + 0.213), 5e-4);
  x.bias = Matrix<double>::Zero(1, 3);
  const auto g = variant_vjp(x, r, variant_forward(x, r),
                             Matrix<double>{{1}});
  verify(distance(g.bias, Matrix<double>{{0.318, 0.034, -0.374}}), 5e-4);
  verify(distance(g.sink, Matrix<double>{{0.022}}), 5e-4);
  verify(std::abs(g.K(0) - 0.022), 5e-4);
  verify(distance(g.slope, Matrix<double>{{-0.670}}), 5e-4);
}

// check every combination of variants
BOOST_AUTO_TEST_CASE(every_combination) {
  for (const Mask& mask : zoo(3, 4))
    for (unsigned bits = 0; bits <= last_variant; ++bits) {
      const QuadParts x = draw_parts(3, 4, 2, 2, bits, bits);
      const VariantRules r = draw_rules(mask, bits);
      const auto f = variant_forward(x, r);
      verify(distance(f.O, literal(x, r).O), 1e-30);
      const Matrix<quad> dO = gaussian<quad>(3, 2, bits, "dO");
      const Vector<quad> dl = gaussian<quad>(3, 1, bits, "dlogZ");
      const QuadParts g = variant_vjp(x, r, f, dO, dl);

      // move all parts at once and compare the slopes
      DualParts z{{}, {}, {}};
      quad product = 0;
      each_part([&](auto, const auto& a, const auto& da, auto& moving) {
        moving = lift<Dual<quad>>(a);
        for (Index k = 0; k < a.size(); ++k) {
          moving.data()[k].d = quad(double((k * 7 + bits) % 5) - 1.5);
          product += moving.data()[k].d * da.data()[k];
        }
      }, x, g, z);
      const quad along = slope_along(z, r, dO, dl);
      verify(to_double(abs(product - along)),
             1e-30 * (1 + to_double(abs(along))));
    }
}
BOOST_AUTO_TEST_SUITE_END()
