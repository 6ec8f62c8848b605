// tests/layer_memory_test.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/layer.hpp"
#include "attn/random.hpp"

#include "allocations.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(layer)

// check that inputs are not copied
template <class F>
long peak_of(F f) {
  counting = true;
  const long before = live;
  most = live;
  f();
  counting = false;
  return most - before;
}
struct HeldByHeads { long there, back; };
HeldByHeads held_by_heads(Index H, Index d, const HeadParts<double>& p,
                          Index n, bool by_definition = true, Index R = 1) {
  const Index G = H / R, m = n + R - 1;
  const auto Q = gaussian<double>(n, H * d, 1, "Q");
  const auto K = gaussian<double>(m, G * d, 1, "K");
  const auto V = gaussian<double>(m, G * 3, 1, "V");
  Matrix<double> O(n, H * 3);
  Vector<double> logZ(H * n);
  HeadRules r{causal(n, m)};
  r.by_definition = by_definition;
  const HeadsView<double> v{view_in<double>(Q), view_in<double>(K),
                            view_in<double>(V), view_out(O), logZ.data()};

  // hold the cotangents of heads
  const auto dO = gaussian<double>(n, H * 3, 1, "dO");
  Matrix<double> dQ = Q, dK = K, dV = V;
  const HeadsCotangent<double> bar{view_in<double>(dO), view_out(dQ),
                                   view_out(dK), view_out(dV)};
  auto sum = zeros_like(p);
  return {peak_of([&] {
            heads_forward<double>({H, G}, p, r, std::span(&v, 1));
          }),
          peak_of([&] {
            heads_vjp<double>({H, G}, p, r, {&v, 1}, {&bar, 1}, sum);
          })};
}
HeadParts<double> biases(Index n, Index many) {
  HeadParts<double> p;
  for (Index h = 0; h < many; ++h)
    p.bias.push_back(gaussian<double>(n, n, std::uint64_t(h), "B"));
  return p;
}
BOOST_AUTO_TEST_CASE(heads_are_not_copied) {
  for (const Index n : {24, 48}) {
    const long one = held_by_heads(1, 8, {}, n).there;
    for (const Index d : {8, 64})
      for (const Index many : {0, 1})

        // compare what one head and four heads hold
        {
          const HeldByHeads single = held_by_heads(1, d, biases(n, many), n);
          const HeldByHeads four = held_by_heads(4, d, biases(n, many), n);
          verify(std::abs(double(single.there - one)), 0);
          verify(std::abs(double(four.there - one)), 0);
          verify(std::abs(double(four.back - single.back)), 0);
          const Index pairs = n * n * (8 + many), rows = n * (4 * d + 2 * 3 + 4);
          verify(double(single.back), 8.0 * double(pairs + rows) + 4096);
          refute(double(single.back), 8.0 * double(pairs));
        }
    const double pairs = 8.0 * double(n * (4 * n + 3) + 2 * n * 3);
    verify(double(one), pairs + 4096);
    refute(double(one), 8.0 * double(n * 4 * n));
  }
}
BOOST_AUTO_TEST_CASE(biases_are_not_copied) {
  const Index n = 48;
  const auto held = [&](Index many, bool scaled) {
    auto p = biases(n, many);
    if (scaled) p.scale.setConstant(1, 0.5);
    return held_by_heads(4, 8, p, n, false);
  };
  const HeldByHeads one = held(1, false), four = held(4, false);
  verify(std::abs(double(four.there - one.there)), 0);
  verify(std::abs(double(four.back - one.back)), 0);
  verify(std::abs(double(held(1, true).back - one.back) - 8. * n * 4 * 8), 0);
}
BOOST_AUTO_TEST_CASE(stacks_are_what_is_copied) {
  const Index n = detail::stack_from, H = 6, G = 2, d = 8, e = 3;
  const auto less = held_by_heads(H, d, {}, n - 1, false, H / G);
  const auto more = held_by_heads(H, d, {}, n, false, H / G);
  const auto one = held_by_heads(1, d, {}, n, false);
  const Index m = n + H / G - 1, back = 2 * (n * H + m * G) * (d + e);
  const Index there = n * H * d + m * G * (d + e);
  verify(std::abs(double(more.there - less.there) - 8.0 * double(there)),
         4096);
  verify(std::abs(double(more.back - less.back) - 8.0 * double(back)), 4096);
  verify(double(one.there), double(less.there) + 4096);
  verify(double(one.back), double(less.back) + 4096);
}
enum class Stored { rows, columns, block, gaps, nowhere };
template <class F>
long held_by_rows(Stored how, Index D, F pass) {
  const Index n = 16;
  const Matrix<double> X = gaussian<double>(n, D, 1, "X");
  const Eigen::MatrixXd columns = X;
  Matrix<double> wide(n + 2, 2 * D);
  wide.middleRows(1, n) << X, X;
  const detail::Strided<double> gaps(wide.data(), n, D, {2 * D, 2});
  switch (how) {
    case Stored::columns: return peak_of([&] { pass(columns); });
    case Stored::block: return peak_of([&] { pass(wide.block(1, 2, n, D)); });
    case Stored::gaps: return peak_of([&] { pass(gaps); });
    case Stored::nowhere: return peak_of([&] { pass(2 * X); });
    default: return peak_of([&] { pass(X); });
  }
}
template <class Make>
void hold_rows(Make make) {
  const auto at = [&](Stored how, Index D) {
    const auto m = make(xavier<double>({D, 2, 2, 8, 8, D, 5}, 1));
    return held_by_rows(how, D, [&](const auto& X) { attend(m, X); });
  };
  const long least = at(Stored::rows, 32);
  for (const auto how : {Stored::rows, Stored::columns, Stored::block,
                         Stored::gaps})
    for (const Index D : {32, 256})
      verify(std::abs(double(at(how, D) - least)), 0);
  verify(std::abs(double(at(Stored::nowhere, 256) - least) - 8. * 16 * 256),
         0);
}
BOOST_AUTO_TEST_CASE(rows_are_not_copied) {
  hold_rows([](const MultiHead<double>& m) { return m; });
  hold_rows([](const MultiHead<double>& m) {
    Layer<double> L{m};
    L.rules.by_definition = true;
    return L;
  });
}
long held_by_decoding(Index d) {
  const Index n = 40;
  KeyValueCache<double> cache(d, 3);
  cache.append(gaussian<double>(n, d, 1, "K"), gaussian<double>(n, 3, 1, "V"));
  const VariantRules r{causal(n, n)};
  VariantParts<double> x{gaussian<double>(1, d, 1, "q"), {}, {}};
  x.bias = gaussian<double>(n, n, 1, "B");
  return peak_of([&] { decode(x, r, cache); });
}
BOOST_AUTO_TEST_CASE(caches_are_not_copied) {
  const long held = held_by_decoding(8);
  verify(std::abs(double(held_by_decoding(256) - held)), 0);
  verify(double(held), 8.0 * (4 * 40 + 3 + 6) + 4096);
}

// check that stacks change no bit
struct FourHeads {
  Matrix<double> Q, K, V, O, dO, dQ, dK, dV, bias;
  Vector<double> logZ;
  explicit FourHeads(Index n)
      : Q(gaussian<double>(n, 4 * 5, 1, "Q")),
        K(gaussian<double>(n + 3, 2 * 5, 1, "K")),
        V(gaussian<double>(n + 3, 2 * 3, 1, "V")), O(n, 4 * 3),
        dO(gaussian<double>(n, 4 * 3, 1, "dO")), dQ(Q), dK(K), dV(V),
        bias(gaussian<double>(n, n + 3, 1, "B")), logZ(4 * n) {}
  HeadsView<double> view() {
    return {view_in<double>(Q), view_in<double>(K), view_in<double>(V),
            view_out(O), logZ.data()};
  }
};
void attend_in_columns(FourHeads& x, FlashRule<double> rule) {
  std::vector<FlashHead<double>> heads;
  std::vector<FlashCotangent<double>> bars;
  for (Index h = 0; h < 4; ++h) {
    using detail::head_of;
    heads.push_back({head_of(view_in<double>(x.Q), h, 5),
                     head_of(view_in<double>(x.K), h / 2, 5),
                     head_of(view_in<double>(x.V), h / 2, 3),
                     head_of(view_out(x.O), h, 3),
                     x.logZ.data() + h * x.Q.rows(), rule});
    bars.push_back({head_of(view_in<double>(x.dO), h, 3), nullptr,
                    head_of(view_out(x.dQ), h, 5),
                    head_of(view_out(x.dK), h / 2, 5),
                    head_of(view_out(x.dV), h / 2, 3)});
  }
  flash_forward<double>(heads);
  flash_backward<double>(heads, bars, 2);
}
void compare_with_columns(Index n, bool special) {
  FourHeads x(n), y(n);
  FlashRule<double> rule = causal_rule<double>();
  HeadParts<double> p;
  if (special) p.bias.push_back(y.bias), p.scale.setConstant(4, 0.25);
  if (special) rule.bias = &x.bias, rule.scale = 0.25;
  attend_in_columns(x, rule);
  HeadRules r{causal(n, n + 3)};
  const auto v = y.view();
  heads_forward<double>({4, 2}, p, r, std::span(&v, 1));
  BOOST_TEST((x.O == y.O && x.logZ == y.logZ));
  const HeadsCotangent<double> bar{view_in<double>(y.dO), view_out(y.dQ),
                                   view_out(y.dK), view_out(y.dV)};
  auto sum = zeros_like(p);
  heads_vjp<double>({4, 2}, p, r, {&v, 1}, {&bar, 1}, sum);
  BOOST_TEST((x.dQ == y.dQ && x.dK == y.dK && x.dV == y.dV));
  for (Index h = 0; special && h < 4; ++h)

    // compare the cotangent of a scale
    {
      const auto q = detail::head_of(view_in<double>(x.Q), h, 5);
      const auto dq = detail::head_of(view_in<double>(x.dQ), h, 5);
      verify(std::abs(sum.scale(h) - 4 * q.cwiseProduct(dq).sum()), 0);
    }
}
BOOST_AUTO_TEST_CASE(stacks_change_no_bit) {
  const Index from = detail::stack_from;
  for (const Index n : {from - 1, from, from + 65})
    for (const bool special : {false, true}) compare_with_columns(n, special);
}
BOOST_AUTO_TEST_SUITE_END()
