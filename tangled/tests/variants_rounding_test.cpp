// tests/variants_rounding_test.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "tracked_variant.hpp"

BOOST_AUTO_TEST_SUITE(variants)

// check the rounding of variants
template <class T, class F>
void hold_variant(F compare) {
  unsigned bits = 1;
  for (const double size : {1e-3, 1.0, 30.0})
    for (const auto& [n, m] : {std::pair<Index, Index>{6, 6}, {5, 17},
                               {9, 4}, {1, 33}})
      for (const Mask& mask : zoo(n, m)) {
        bits = (bits + 389) & last_variant;
        VariantParts<T> x{{}, {}, {}};
        QuadParts q = draw_parts(n, m, 5, 3, bits, bits), truth = q;
        q.Q *= quad(size);
        each_part([](auto, const auto& from, auto& to, auto& back) {
          to = lift<T>(from), back = lift<quad>(to);
        }, q, x, truth);
        compare(x, truth, draw_rules(mask, bits));
      }
}
template <class T>
Matrix<double> bound_of_output(const VariantParts<T>& x,
                               const VariantRules& r) {
  return tracked_variant(x, r).O.error;
}
BOOST_AUTO_TEST_CASE(variant_in_double) {
  hold_variant<double>([](auto& x, auto& truth, const VariantRules& r) {
    verify(variant_forward(x, r).O, literal(truth, r).O,
           bound_of_output(x, r));
  });
}
BOOST_AUTO_TEST_CASE(variant_in_float) {
  hold_variant<float>([](auto& x, auto& truth, const VariantRules& r) {
    verify(variant_forward(x, r).O, literal(truth, r).O,
           bound_of_output(x, r));
  });
}
template <class T>
void hold_gradients() {
  hold_variant<T>([](auto& x, auto& truth, const VariantRules& r) {
    const Matrix<T> dO = gaussian<T>(r.mask.n_q(), 3, 5);
    const Vector<T> dl = gaussian<T>(r.mask.n_q(), 1, 6);
    const QuadParts exact =
        variant_vjp<quad>(truth, r, variant_forward(truth, r),
                          lift<quad>(dO), lift<quad>(dl));
    const VariantParts<T> g =
        variant_vjp<T>(x, r, variant_forward(x, r), dO, dl);
    const VariantBounds b = variant_errors<T>(x, r, dO, dl);
    each_part([](auto, const auto& ours, const auto& theirs,
                 const auto& bound) {
      if (ours.size() > 0) verify(ours, theirs, bound);
    }, g, exact, b.g);
  });
}
BOOST_AUTO_TEST_CASE(gradients_in_double) { hold_gradients<double>(); }
BOOST_AUTO_TEST_CASE(gradients_in_float) { hold_gradients<float>(); }
BOOST_AUTO_TEST_CASE(capped_scores_underflow) {
  const double eta = smallest_subnormal<float>(), u = 0x1p-24;
  const VariantParts<float> none{{}, {}, {}};
  VariantRules r{everything(1, 1)};
  r.softcap = 64;
  const double score = detail::modify(float(20 * eta), none, r, 0, 0);
  verify(20 * eta - score, (3 * 64 + 1) * eta);
  refute(20 * eta - score, 4 * eta);
  const double exact = 1e-30 / std::pow(std::cosh(20.0), 2);
  const double off = std::abs(detail::uncapped(1e-30F, 20.0F, 1) - exact);
  verify(off, 2 * eta);
  refute(off, (std::expm1(8 * u * 20) + gamma(12, u)) * exact);
}
BOOST_AUTO_TEST_CASE(tiles_in_double) {
  hold_variant<double>([](auto& x, auto& truth, const VariantRules& r) {
    verify(variant_in_tiles(x, r, 3).O, literal(truth, r).O,
           bound_of_output(x, r));
  });
}
BOOST_AUTO_TEST_CASE(tiles_skip_what_is_masked) {
  const Index n = 64, b = 8;
  const VariantParts<double> x{gaussian<double>(n, 4, 1),
                               gaussian<double>(n, 4, 2),
                               gaussian<double>(n, 2, 3)};
  for (const Mask& mask : {causal(n, n), window(n, n, 7, 0),
                           random_tiles(n, n, b, 2, 1), !everything(n, n)}) {
    const auto t = variant_in_tiles(x, {mask}, b);
    const Census c = census(mask, b);
    verify(std::abs(double(t.pairs - (c.some + c.all) * b * b)), 0);
    const auto f = variant_forward(x, {mask});
    verify(t.O, lift<quad>(f.O), 2 * bound_of_output(x, {mask}));
    verify(double((t.logZ.array().isInf() !=
                   f.logZ.array().isInf()).count()), 0);
  }
}
BOOST_AUTO_TEST_CASE(future_is_not_read) {
  const Index n = 12, m = 15;
  for (const double future : {1e3, 1e300, inf, nan})
    for (const Index j : {m - 1, m - 4}) {
      VariantParts<double> x{gaussian<double>(n, 4, 1),
                             gaussian<double>(m, 4, 2),
                             gaussian<double>(m, 3, 3)};
      const auto before = variant_forward(x, {causal(n, m)}).O;
      x.K.row(j).setConstant(future);
      x.V.row(j).setConstant(future);
      const auto after = variant_forward(x, {causal(n, m)}).O;
      const Index past = j - (m - n);
      verify(largest((after - before).topRows(past)), 0);
    }
}
BOOST_AUTO_TEST_CASE(causal_breaks_equivariance) {
  const Index n = 8;
  const auto pi = permutation(n, 3);
  QuadParts x{gaussian<quad>(n, 4, 1), gaussian<quad>(n, 4, 2),
              gaussian<quad>(n, 3, 3)}, y = x;
  for (Index i = 0; i < n; ++i) {
    const Index k = pi[std::size_t(i)];
    y.Q.row(i) = x.Q.row(k), y.K.row(i) = x.K.row(k), y.V.row(i) = x.V.row(k);
  }
  double gap[2] = {0, 0};
  for (const bool c : {false, true}) {
    const VariantRules r{c ? causal(n, n) : everything(n, n)};
    const auto f = variant_forward(x, r), g = variant_forward(y, r);
    for (Index i = 0; i < n; ++i)
      gap[c] = std::max(gap[c], distance(g.O.row(i),
                                       f.O.row(pi[std::size_t(i)])));
  }
  verify(gap[0], 1e-31);
  fact("off", gap[1]);
  refute(gap[1], 0.1);
}
BOOST_AUTO_TEST_CASE(softcap_after_mask_leaks) {
  const double kept = std::tanh(0.5), masked = std::tanh(-inf);
  const double weight = std::exp(masked) / (std::exp(masked) +
                                            std::exp(kept));
  fact("weight", weight);
  refute(weight, 0.1);
  VariantParts<double> x{Matrix<double>{{1}}, Matrix<double>{{0.5}, {0.3}},
                         Matrix<double>{{1}, {2}}};
  VariantRules r{causal(1, 2, 0)};
  r.softcap = 1;
  verify(std::abs(variant_forward(x, r).A(0, 1)), 0);
  verify(std::abs(variant_forward(x, r).O(0, 0) - 1), 0);
}
BOOST_AUTO_TEST_CASE(variants_refuse_what_does_not_fit) {
  VariantParts<double> x{gaussian<double>(2, 3, 1), gaussian<double>(4, 3, 2),
                         gaussian<double>(4, 2, 3)};
  const auto fails = [&](auto change, auto wrong, const std::string& words) {
    VariantParts<double> y = x;
    VariantRules r{causal(2, 4)};
    change(y, r);
    using E = decltype(wrong);
    BOOST_CHECK_EXCEPTION(variant_forward(y, r), E, says(words));
  };
  const std::invalid_argument shape("");
  const std::domain_error value("");

  // list variants that must be refused
  fails([](auto& y, auto&) { y.Q = y.K; }, shape,
        "the mask is for 2 queries and 4 keys, but Q is 4x3 and K 4x3");
  fails([](auto& y, auto&) { y.V = y.Q; }, shape, "V is 2x3, expected 4x3");
  fails([](auto& y, auto&) { y.u = y.V; }, shape, "u is 4x2, expected 1x3");
  fails([](auto& y, auto&) { y.rel_keys = y.K; }, shape, "rel_keys is 4x3");
  fails([](auto& y, auto&) { y.table = y.u = y.Q.row(0); }, shape,
        "table is 1x3, expected 1x32");
  fails([](auto& y, auto&) { y.bias = y.K; }, shape, "bias is 4x3");
  fails([](auto& y, auto&) { y.sink = y.K; }, shape, "sink is 4x3");
  fails([](auto& y, auto&) { y.K = y.Q; }, shape, "K 2x3");
  fails([](auto& y, auto&) { y.w = y.V; }, shape, "w is 4x2, expected 1x3");
  fails([](auto& y, auto&) { y.rel_keys = y.V.topRows(3); }, shape,
        "rel_keys is 3x2, expected 3x3");
  fails([](auto& y, auto&) { y.rel_values = y.V; }, shape, "rel_values is 4x2");
  fails([](auto& y, auto&) { y.rel_values = y.K.topRows(3); }, shape,
        "rel_values is 3x3, expected 3x2");
  fails([](auto& y, auto&) { y.scale = y.K; }, shape, "scale is 4x3");
  fails([](auto& y, auto&) { y.slope = y.K; }, shape, "slope is 4x3");
  fails([](auto& y, auto&) { y.Q.resize(2, 2); }, shape,
        "Q is 2x2, expected 2x3");
  fails([](auto& y, auto&) { y.u.resize(2, 3); }, shape, "u is 2x3");
  fails([](auto& y, auto&) { y.scale.resize(2, 1); }, shape, "scale is 2x1");
  fails([](auto& y, auto&) { y.scale.resize(1, 2); }, shape, "scale is 1x2");
  fails([](auto& y, auto&) { y.slope.resize(2, 1); }, shape, "slope is 2x1");
  fails([](auto& y, auto&) { y.sink.resize(1, 2); }, shape, "sink is 1x2");
  fails([](auto& y, auto&) { y.table.resize(2, 32); }, shape, "table is 2x32");
  fails([](auto& y, auto&) { y.bias.resize(2, 3); }, shape, "expected 2x4");
  fails([](auto& y, auto&) { y.bias.resize(3, 4); }, shape, "expected 2x4");
  fails([](auto&, auto& r) { r.softcap = inf; }, value, "softcap");
  fails([](auto&, auto& r) { r.softcap = nan; }, value, "softcap");
  fails([](auto&, auto& r) { r.dropout.p = -0.5; }, value, "dropout -0.5");
  fails([](auto&, auto& r) { r.dropout.p = nan; }, value, "dropout");
  fails([](auto&, auto& r) { r.softcap = 0; }, value, "softcap");
  fails([](auto&, auto& r) { r.dropout.p = 1; }, value, "dropout 1");
  fails([](auto& y, auto&) { y.Q.resize(2, 0), y.K.resize(4, 0); }, shape,
        "K has no columns");
}
BOOST_AUTO_TEST_SUITE_END()
