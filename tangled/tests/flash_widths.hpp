// tests/flash_widths.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "flash_case.hpp"

namespace attn {
// list the boundaries of the kernel
template <class T>
Case<T> boundary_case(Index k) {
  const Index w = detail::lanes<T>, b = k % 3 == 0 ? 128 : 32;
  const std::array rows{Index(1), w - 1,     w,         w + 1, 2 * w - 1,
                        2 * w,    2 * w + 1, 4 * w - 1, 4 * w, 4 * w + 1};
  const std::array<Index, 7> keys{1, b - 1, b, b + 1, 2 * b - 1, 2 * b,
                                  2 * b + 1};
  const std::array<Index, 8> widths{1, 15, 16, 17, 64, 80, 128, 256};
  const auto at = [](const auto& list, Index i) {
    return list[std::size_t(i) % list.size()];
  };
  const Index n = at(rows, k), m = at(keys, 3 * k + k / 7);
  const Index d = at(widths, k + k / 10), e = at(widths, 3 * k + 5);
  const auto seed = std::uint64_t(100 * k + 7);
  Case<T> c{gaussian<T>(n, d, seed), gaussian<T>(m, d, seed + 1),
            gaussian<T>(m, e, seed + 2), gaussian<T>(n, m, seed + 3),
            gaussian<T>(n, e, seed + 4), gaussian<T>(n, 1, seed + 5),
            Matrix<bool>(n / 3 + 1, m / 4 + 1)};
  c.plain.key_block = b;
  c.plain.groups = n > 2 * w + 1 ? 4 : 1 + k % 2;
  return c;
}

// give a case one of ten rules
template <class T>
void give_rule(Case<T>& c, Index k) {
  Dice roll{std::uint64_t(k) + 1};
  for (Index i = 0; i < c.keep.size(); ++i) c.keep.data()[i] = roll(3) > 0;
  for (Index i = 0; i < c.bias.size(); ++i)
    if (roll(9) == 0) c.bias.data()[i] = -T(inf);
  FlashRule<T>& r = c.plain;
  const Index n = c.Q.rows(), m = c.K.rows();
  switch (k % 10) {
    case 1: r.right = 0; break;
    case 2: r.right = 3, r.left = detail::lanes<T>; break;
    case 3: r.right = 0, r.offset = 2; break;
    case 4: c.masked = true; break;
    case 5: c.biased = true; break;
    case 6: r.slope = T(0.125); break;
    case 7: r.softcap = T(1.5); break;
    case 8: r.sink = T(0.5); break;
    case 9: r.queries = n - n / 3, r.keys = m - m / 4; break;
  }
}

// check shapes around every boundary
template <class T, class R>
void check_shapes(Index first, Index last) {
  for (Index k = first; k < last; ++k) {
    Case<T> c = boundary_case<T>(k);
    give_rule(c, k + k / 10);
    check_forward<R>(c);
    check_backward<R>(c);
  }
}
template <class T, class R>
void check_variants(std::uint64_t seed) {
  for (std::uint64_t k = seed; k < seed + 40; ++k) {
    const auto c = random_case<T>(k, Index(k % 4) * detail::lanes<T>);
    check_forward<R>(c);
    check_backward<R>(c);
  }
}

// check heads that share keys at this width
template <class T, class R>
void check_shared() {
  const Index H = 4, d = 16, e = 17, n = detail::lanes<T> + 1, m = 129;
  const auto Q = gaussian<T>(n, H * d, 1, "Q");
  const auto K = gaussian<T>(m, 2 * d, 1, "K");
  const auto V = gaussian<T>(m, 2 * e, 1, "V");
  const auto dO = gaussian<T>(n, H * e, 1, "dO");
  const FlashHeads<T> many{H, 2, causal_rule<T>()};
  const auto y = flash(Q, K, V, many);
  const auto g = flash_vjp(Q, K, V, y, dO, many);
  Matrix<R> dK = Matrix<R>::Zero(m, 2 * d), dV = Matrix<R>::Zero(m, 2 * e);
  Matrix<double> keys = Matrix<double>::Zero(m, 2 * d);
  Matrix<double> values = Matrix<double>::Zero(m, 2 * e);
  for (Index h = 0; h < H; ++h)

    // compare one head that shares keys
    {
      const Index k = h / 2 * d, v = h / 2 * e;
      const Case<T> c{Q.middleCols(h * d, d), K.middleCols(k, d),
                      V.middleCols(v, e), {}, dO.middleCols(h * e, e),
                      Vector<T>::Zero(n), {}, many.rule};
      auto t = forward_truth<R>(c);
      backward_truth(c, t);
      const Bounds<T> f(c, t);
      const BackBounds<T> b(c, t, f);
      verify(y.O.middleCols(h * e, e), t.O, f.dO_bound);
      verify(g.Q.middleCols(h * d, d), t.dQ, b.dQ);
      dK.middleCols(k, d) += t.dK, dV.middleCols(v, e) += t.dV;
      keys.middleCols(k, d) +=
          (1 + f.u) * b.dK + f.u * lift<double>(t.dK).cwiseAbs();
      values.middleCols(v, e) +=
          (1 + f.u) * b.dV + f.u * lift<double>(t.dV).cwiseAbs();
    }
  verify(g.K, dK, keys);
  verify(g.V, dV, values);
}

// check decoding at this width
template <class T, class R>
void check_few(Index share, Index positions, Index k) {
  const Index n = share * positions, m = 300, d = 17, e = 15;
  Case<T> c{gaussian<T>(n, d, 1, "Q"), gaussian<T>(m, d, 1, "K"),
            gaussian<T>(m, e, 1, "V"), {}, {}, {}, {}};
  c.plain.share = share, c.plain.key_block = 32;
  std::vector<T> own(std::size_t(share), T(0.25));
  own.back() = T(1.5);
  if (k % 4 == 0) c.plain.right = 0, c.plain.left = 150;
  if (k % 4 == 1) c.plain.slopes = own, c.plain.right = 1;
  if (k % 4 == 2) c.plain.sinks = own;
  if (k % 4 == 3) c.plain.softcap = T(2), c.plain.slope = T(0.1);
  verify_few<R>(c, paged(c.K, c.V, 97));
}
template <class T, class R>
void check_decoding() {
  const Index w = detail::width<T>;
  Index k = 0;
  for (const Index share : {Index(1), w - 1, w, w + 1})
    for (const Index positions : {1, 2})
      for (int rule = 0; rule < 4; ++rule)
        check_few<T, R>(share, positions, k++);
}
template <class T>
Case<T> few_case(Index k) {
  const auto one_of = [](std::initializer_list<Index> list, Index i) {
    return list.begin()[i % std::ssize(list)];
  };

  // choose sizes for few queries
  const Index w = detail::width<T>, h = detail::lanes<T> / 2;
  const Index b = 32, share = one_of({1, 2, 4, 8, 9}, k);
  const Index n = share > 1 ? share * (1 + k % 2)
                            : one_of({1, 3, w - 1, w, w + 1, h, h + 1}, k / 5);
  const Index m = one_of({1, w - 1, w, w + 1, b - 1, b + 1, 8 * b - 1, 8 * b,
                          8 * b + 1, 9 * b}, k + k / 10);
  const Index d = one_of({1, 15, 16, 17, 64, 80, 128}, k);
  const Index e = one_of({16, 1, 128, 17, 15, 64, 80, 65}, k);
  const auto seed = std::uint64_t(k);
  Case<T> c{gaussian<T>(n, d, seed, "Q"), gaussian<T>(m, d, seed, "K"),
            gaussian<T>(m, e, seed, "V"), gaussian<T>(n, m, seed, "bias"),
            {}, {}, Matrix<bool>(n / 3 + 1, m / 4 + 1)};
  give_rule(c, k + k / 10);
  c.plain.share = share, c.plain.key_block = b;
  if (c.plain.queries) c.plain.queries = n - share;
  return c;
}
template <class T, class R>
void check_few_shapes(Index last) {
  for (Index k = 0; k < last; ++k) {
    const auto c = few_case<T>(k);
    const Index page = k % 3 == 0 ? c.K.rows() : k % 3 == 1 ? 16 : 97;
    verify_few<R>(c, paged(c.K, c.V, page));
    check_forward<R>(c);
  }
}

// check heads that take a turn together
template <class T>
In<T> changed_rows(const Matrix<T>& m, Index rows, bool elsewhere,
                   bool apart, bool narrow) {
  return {m.data() + (elsewhere ? 8 : 0), rows, 8 - Index(narrow),
          Eigen::OuterStride<>(apart ? 32 : 16)};
}
template <class T>
struct TurnHead {
  In<T> K, V;
  Case<T> c;
  Matrix<T> O;
  Vector<T> logZ;
};
template <class T>
TurnHead<T> turn_head(const Matrix<T>& K, const Matrix<T>& V, Dice& roll) {
  const Index h = detail::lanes<T> / 2;
  const Index change = std::max<Index>(0, roll(24) - 15);
  const Index rows = 70 - (change == 7), seed = roll(10000);
  const std::array<Index, 7> some{1, 2, 3, 5, h - 1, h, h + 1};
  const Index n = some[std::size_t(roll(7))];
  TurnHead<T> x{
      changed_rows(K, rows, change == 1, change == 2, change == 3),
      changed_rows(V, rows, change == 4, change == 5, change == 6),
      {}, {}, {}};
  x.c = {gaussian<T>(n, x.K.cols(), std::uint64_t(seed), "Q"), x.K, x.V,
         gaussian<T>(n, rows, std::uint64_t(seed), "bias"), {}, {},
         Matrix<bool>(n / 3 + 1, rows / 4 + 1)};
  give_rule(x.c, roll(10));
  x.c.plain.key_block = change == 8 ? 16 : 32;
  x.O.resize(n, x.V.cols()), x.logZ.resize(n);
  return x;
}
template <class T, class R>
void check_turns(std::uint64_t last) {
  const auto K = gaussian<T>(140, 16, 1, "K"), V = gaussian<T>(140, 16, 1, "V");
  for (std::uint64_t k = 1; k <= last; ++k) {
    Dice roll{k};
    std::vector<TurnHead<T>> list;
    for (Index h = 2 + roll(11); h > 0; --h)
      list.push_back(turn_head(K, V, roll));
    std::vector<FlashHead<T>> heads;
    for (auto& x : list)
      heads.push_back({view_in<T>(x.c.Q), x.K, x.V, view_out(x.O),
                       roll(5) > 0 ? x.logZ.data() : nullptr, x.c.rule()});
    flash_forward<T>(heads);
    for (std::size_t h = 0; h < list.size(); ++h) {
      if (!heads[h].logZ) list[h].logZ.resize(0);
      verify_forward<R>(list[h].c, list[h].O, list[h].logZ);
    }
  }
}

// check heads that fill lanes together
template <class T>
void change_one_word(Case<T>& c, Index which) {
  FlashRule<T>& r = c.plain;
  switch (which) {
    case 0: r.scale = T(0.5); break;
    case 1: r.softcap = T(0.7); break;
    case 2: r.offset = 3; break;
    case 3: r.left = 5; break;
    case 4: r.right = 1; break;
    case 5: r.queries = c.Q.rows() / 2; break;
    case 6: r.keys = 41; break;
    case 7: r.groups = 2; break;
    case 8: r.sink = r.sink ? std::optional<T>() : T(1); break;
    case 9: r.slope = r.slope != 0 ? T(0) : T(0.25); break;
    case 10: c.biased = true; break;
    case 11: c.masked = true; break;
    case 12: r.key_block = 16; break;
    case 13: r.share = (c.Q.rows() | r.queries.value_or(0)) % 2 ? 1 : 2;
  }
}
template <class T>
FlashRule<T> common_rule(Dice& roll, Index n) {
  FlashRule<T> r;
  r.key_block = 32, r.groups = 1 + roll(4);
  if (roll(2)) r.right = roll(3);
  if (roll(2)) r.left = 20 + roll(60);
  if (roll(4) == 0) r.softcap = T(1.5);
  if (roll(4) == 0) r.offset = roll(90) - 10;
  if (roll(4) == 0) r.queries = n - n / 3;
  if (roll(4) == 0) r.keys = 50;
  return r;
}
template <class T>
std::vector<Case<T>> heads_alike(Dice& roll, const Matrix<T>& K,
                                 const Matrix<T>& V) {
  const Index lane = detail::lanes<T>, share = 2 + roll(8);
  const Index n = std::array{Index(1), Index(2), lane / 2, lane / 2 + 1,
                             lane - 1, lane + 1, 2 * lane}[roll(7)];
  const auto rule = common_rule<T>(roll, n);
  const bool slopes = roll(2), sinks = roll(2);
  const Index odd = roll(2) ? roll(share) : -1, which = roll(14);
  std::vector<Case<T>> list;
  for (Index h = 0; h < share; ++h) {
    const auto seed = std::uint64_t(100 * h + 7);
    Case<T> c{gaussian<T>(n, K.cols(), seed, "Q"), K, V,
              gaussian<T>(n, K.rows(), seed, "bias"), {}, {},
              uniform<T>(n / 3 + 1, K.rows() / 4 + 1, seed).array() > 0, rule};
    if (slopes) c.plain.slope = T(0.125) * T(h + 1);
    if (sinks) c.plain.sink = T(0.5) * T(h) - 1;
    if (h == odd) change_one_word(c, which);
    list.push_back(std::move(c));
  }
  return list;
}
template <class T, class R>
void check_together(std::uint64_t last) {
  const auto K = gaussian<T>(70, 9, 1, "K"), V = gaussian<T>(70, 17, 1, "V");
  for (std::uint64_t k = 1; k <= last; ++k) {
    Dice roll{k};
    const auto list = heads_alike<T>(roll, K, V);
    std::vector<FlashOutput<T>> y;
    for (const auto& c : list)
      y.push_back({Matrix<T>::Constant(c.Q.rows(), 17, NaN),
                   Vector<T>::Constant(c.Q.rows(), NaN)});
    std::vector<FlashHead<T>> heads;
    for (std::size_t h = 0; h < list.size(); ++h)
      heads.push_back({view_in<T>(list[h].Q), view_in<T>(K), view_in<T>(V),
                       view_out(y[h].O), y[h].logZ.data(), list[h].rule()});
    flash_forward<T>(heads);
    for (std::size_t h = 0; h < list.size(); ++h)
      verify_forward<R>(list[h], y[h].O, y[h].logZ);

    // compare with each head's sweeps alone
    const auto in_lanes = [&](const Case<T>& c, FlashOutput<T> alone) {
      const FlashHead<T> head{view_in<T>(c.Q), view_in<T>(K), view_in<T>(V),
                              view_out(alone.O), alone.logZ.data(), c.rule()};
      const detail::Plan<T> plan("flash", head);
      detail::ForwardWork<T> work(plan.groups(), 32, K.cols(), V.cols());
      for (Index q = 0; q < plan.queries; q += plan.sweep())
        detail::forward_sweep<T>({&head, 1}, plan, q, work);
      return alone;
    };

    // count the queries of heads that agree
    Index queries = 0;
    for (const auto& c : list) {
      const detail::Plan<T> plan("flash", heads[std::size_t(&c - list.data())]);
      const detail::Plan<T> first("flash", heads[0]);
      if (!detail::alike(first, plan)) { queries = 0; break; }
      queries += plan.queries;
    }
    if (2 * queries > detail::lanes<T>)
      for (std::size_t h = 0; h < list.size(); ++h) {
        const auto alone = in_lanes(list[h], y[h]);
        verify(distance(alone.O, y[h].O), 0);
        verify(distance(alone.logZ.array().max(T(-1e9)).matrix(),
                        y[h].logZ.array().max(T(-1e9)).matrix()), 0);
      }
  }
}

// check that poison stays at this width
template <class T, class R>
void check_poison(Index n) {
  const Index at = n / 2, own = n / 4;
  Case<T> c{gaussian<T>(n, 17, 1, "Q"), gaussian<T>(n, 17, 1, "K"),
            gaussian<T>(n, 18, 1, "V"), {}, {}, {}, {}, causal_rule<T>()};
  c.plain.key_block = 32, c.plain.softcap = T(2);
  const Bounds<T> f(c, forward_truth<R>(c));
  const auto clean = flash(c.Q, c.K, c.V, c.plain);
  c.K(at, 3) = T(NaN), c.V(std::min(at + 1, n - 1), 2) = T(inf);
  c.Q(own, 1) = T(NaN);
  const auto y = flash(c.Q, c.K, c.V, c.plain);
  for (Index i = 0; i < n; ++i)
    if (i == own || i >= at)
      BOOST_TEST((std::isnan(y.O(i, 0)) && std::isnan(y.logZ(i))));
    else
      verify(y.O.row(i), lift<R>(clean.O.row(i)), 2 * f.dO_bound.row(i));
}

// check that windows change no bit at this width
template <class T>
void check_windows() {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const Index n : {1, 3, 8}) {
      const Index m = 150 + Index(seed), left = Index(seed * 37 % 139);
      const auto Q = gaussian<T>(n, 16, seed, "Q");
      const auto K = gaussian<T>(m, 16, seed, "K");
      const auto V = gaussian<T>(m, 5, seed, "V");
      FlashRule<T> window = causal_rule<T>(), pairs;
      window.left = left;
      Matrix<bool> keep(n, m);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j)
          keep(i, j) = i + m - n - left <= j && j <= i + m - n;
      pairs.keep = &keep;
      const auto y = flash(Q, K, V, window), z = flash(Q, K, V, pairs);
      verify(distance(y.O, z.O), 0);
      BOOST_TEST((y.logZ.array() == z.logZ.array()).all());
    }
}

// check that the lowest bias forbids
template <class T>
void check_lowest_bias(Index n) {
  const auto Q = gaussian<T>(n, 3, 1), K = gaussian<T>(6, 3, 2);
  Matrix<T> V = gaussian<T>(6, 2, 3), B = gaussian<T>(n, 6, 4);
  Matrix<T> bad = K;
  bad.row(3).setConstant(T(NaN));
  FlashRule<T> rule;
  rule.bias = &B;
  const T edge = std::numeric_limits<T>::max() / std::numbers::log2e_v<T>;

  // forbid by the lowest numbers
  const auto forbidden = [&](T x) {
    B.col(3).setConstant(x), B.row(0).setConstant(x);
    auto y = flash(Q, bad, V, rule);
    const auto g = flash_vjp(Q, bad, V, y, y.O, rule);
    BOOST_TEST((g.Q.allFinite() && g.K.allFinite() && g.V.allFinite()));
    verify(double(y.O.row(0).norm() + g.Q.row(0).norm()), 0);
    return y;
  };
  const auto y = forbidden(-T(inf));
  for (const T x : {std::numeric_limits<T>::lowest(), -edge * T(1.0001)}) {
    const auto z = forbidden(x);
    verify(distance(z.O, y.O), 0);
    for (Index i = 0; i < n; ++i) BOOST_TEST((z.logZ(i) == y.logZ(i)));
  }

  // keep what is above the lowest numbers
  B.row(0).setConstant(-edge * T(0.9999));
  const auto z = flash(Q, K, V, rule);
  for (Index c = 0; c < 2; ++c)
    verify(double(std::abs(z.O(0, c) - V.col(c).mean())),
           16 * double(std::numeric_limits<T>::epsilon()) *
               double(V.col(c).cwiseAbs().maxCoeff()));
}

// measure the exponential of a build
template <class T>
double units_of(T x, T y) {
  const long double truth = std::exp2((long double)x);
  int e = 0;
  std::frexp(truth, &e);
  return double(std::abs(y - truth) *
                std::ldexp(1.0L, std::numeric_limits<T>::digits - e));
}
template <class T>
detail::Lane<T> powers_of(detail::Lane<T> x) {
  detail::exp2_lanes(&x, 1, detail::Lane<T>(detail::Lane<T>::Zero()));
  return x;
}
template <class T>
double units_of_build(double factor) {
  double worst = 0;
  const auto last = std::bit_cast<std::uint32_t>(1.0f);
  detail::Lane<T> x;
  for (auto bits = std::bit_cast<std::uint32_t>(0x1p-25f); bits < last;) {
    for (T& xi : x)
      xi = T(-factor * std::bit_cast<float>(bits)), bits += 101;
    const detail::Lane<T> y = powers_of<T>(x);
    for (Index i = 0; i < x.size(); ++i)
      worst = std::max({worst, units_of(x[i], y[i]),
                        units_of(x[i], attn::exp2(x[i]))});
  }
  return worst;
}
template <class T>
void check_edges_in_lanes() {
  using limit = std::numeric_limits<T>;
  const T low = limit::min_exponent - 1;
  const T infinite = limit::infinity(), nan = limit::quiet_NaN();
  const T below = std::nextafter(low, -infinite);
  for (const T x : {-infinite, limit::lowest(), below, low, T(0), nan}) {
    const T power = x < low ? T(0) : x == low ? limit::min() : T(1);
    for (const T y : powers_of<T>(detail::Lane<T>::Constant(x)))
      BOOST_TEST((std::isnan(x) ? std::isnan(y) : y == power));
  }
}
inline void check_exp2_of_build() {
  const double single = units_of_build<float>(1);
  const double twice = units_of_build<double>(1 - 0x1p-30);
  fact("float", single);
  fact("double", twice);
  verify(single, 1.3);
  verify(twice, 1.3);
  check_edges_in_lanes<float>(), check_edges_in_lanes<double>();
  verify(tangent_off<float>(), 7);
  verify(tangent_off<double>(), 7);
}

// check the kernel at this width
inline void check_width(std::uint64_t seed) {
  fact("bytes", detail::width<float> * 4);
  fact("lanes", detail::lanes<float>);
  check_shapes<float, double>(0, 80);
  check_shapes<double, quad>(0, 10);
  check_variants<float, double>(seed);
  check_variants<double, quad>(seed);
  check_shared<float, double>();
  check_shared<double, quad>();
  check_decoding<float, double>();
  check_decoding<double, quad>();
  check_few_shapes<float, double>(120);
  check_few_shapes<double, quad>(40);
  check_turns<float, double>(40);
  check_turns<double, quad>(8);
  check_together<float, double>(150);
  check_together<double, quad>(30);
  check_poison<float, double>(2 * detail::lanes<float> + 3);
  check_poison<float, double>(detail::lanes<float> / 2);
  check_poison<double, quad>(2 * detail::lanes<double> + 3);
  check_poison<double, quad>(detail::lanes<double> / 2);
  check_windows<float>(), check_windows<double>();
  for (const Index n : {1, 5, 40})
    check_lowest_bias<float>(n), check_lowest_bias<double>(n);
}
}  // namespace attn
