// tests/flash_online_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/softmax.hpp"
#include "flash_case.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)

// draw rows with forbidden keys
RowVector<quad> row_of_scores(Index n, std::uint64_t seed) {
  RowVector<quad> s = gaussian<quad>(1, n, seed);
  if (seed % 3 == 1) s.array() += quad(seed % 2 == 0 ? 1e4 : -1e4);
  for (Index j = 0; j < n; ++j)
    if ((seed * 7 + std::uint64_t(j) * j) % 5 == 0) s(j) = quad(-inf);
  if (seed % 10 == 0) s.setConstant(quad(-inf));
  return s;
}

// check the states of sets of keys
BOOST_AUTO_TEST_CASE(state_of_keys) {
  const double u = unit_roundoff<quad>();
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = Index(seed % 12), d = Index(seed % 4);
    const RowVector<quad> s = row_of_scores(n, seed);
    const Matrix<quad> V = gaussian<quad>(n, d, seed + 500);
    const auto w = weigh(s);
    for (const Index block : {1, 3, 5, 100}) {
      const auto x = online_row(s, V, block);
      quad top = quad(-inf);
      for (Index j = 0; j < n; ++j) top = top < s(j) ? s(j) : top;
      BOOST_TEST((x.m == top));
      verify(x.output(), times(w.A, V), 2 * merged_bound(s, V, block, n));
      if (n == 0 || is_forbidden(w.logZ(0)))
        BOOST_TEST(is_forbidden(x.logZ()));
      else  // a chain of 5 n + 100 roundings, and one of the shift
        verify(distance(x.logZ(), w.logZ(0)),
               u * (double(10 * n + 100) + 4 * std::abs(to_double(x.m))));
    }
  }
}

// check the laws of the monoid
template <class S>
Online<S> random_state(std::uint64_t seed) {
  if (seed % 11 == 0) return Online<S>::nothing(2);
  const Matrix<S> x = gaussian<S>(1, 4, seed);
  return {S(20) * x(0), S(1) + x(1) * x(1), x.rightCols(2)};
}
template <class S>
double apart(const Online<S>& a, const Online<S>& b) {
  const double m = a.m == b.m ? 0 : inf;
  return m + std::max(distance(a.l, b.l), distance(a.o, b.o));
}
template <class S>
double off(const Online<S>& x, const Online<S>& y, const Online<S>& z) {
  double size = 0, spread = 0;
  for (const auto* a : {&x, &y, &z}) {
    size += to_double(a->l) + distance(a->o, 0 * a->o);
    if (is_forbidden(a->m)) continue;
    spread = std::max(spread, 2 * std::abs(to_double(a->m)));
  }
  const double u = unit_roundoff<S>();
  return 2 * std::expm1((8 + spread) * u / (1 - 2 * u)) * size;
}
BOOST_AUTO_TEST_CASE(monoid_laws) {
  int unequal = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const auto x = random_state<quad>(seed), y = random_state<quad>(2 * seed);
    const auto z = random_state<quad>(3 * seed + 1);
    verify(apart(merge(merge(x, y), z), merge(x, merge(y, z))), off(x, y, z));
    verify(apart(merge(x, y), merge(y, x)), 0);
    const auto a = random_state<double>(seed);
    const auto b = random_state<double>(2 * seed);
    const auto c = random_state<double>(3 * seed + 1);
    unequal += apart(merge(merge(a, b), c), merge(a, merge(b, c))) != 0;
    verify(apart(merge(a, b), merge(b, a)), 0);
    verify(apart(merge(a, Online<double>::nothing(2)), a), 0);
  }
  fact("unequal", unequal);
  BOOST_TEST(unequal > 0);
}
BOOST_AUTO_TEST_CASE(any_split_any_order) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index n = Index(1 + seed % 15);
    const RowVector<quad> s = row_of_scores(n, seed);
    const Matrix<quad> V = gaussian<quad>(n, 3, seed);
    std::vector<Online<quad>> parts;
    for (const Index j : permutation(n, seed))
      parts.push_back(one_key(s(j), V.row(j)));
    for (std::uint64_t k = seed; parts.size() > 1; k = 5 * k + 3) {
      const std::size_t at = k % (parts.size() - 1);
      parts[at] = merge(parts[at], parts[at + 1]);
      parts.erase(parts.begin() + Index(at) + 1);
    }
    const auto whole = online_row(s, V, n);
    verify(parts[0].output(), whole.output(),
           merged_bound(s, V, 1, n) + merged_bound(s, V, n, 1));
    BOOST_TEST((parts[0].m == whole.m));
  }
}

// check the guards of the monoid
BOOST_AUTO_TEST_CASE(nothing_and_nothing) {
  const auto none = Online<float>::nothing(3), both = merge(none, none);
  BOOST_TEST(both.m == -float(inf));
  verify(double(both.l) + double(both.o.norm()), 0);
  verify(double(both.output().norm()), 0);
  BOOST_TEST(both.logZ() == -float(inf));
}
BOOST_AUTO_TEST_CASE(forbidden_value_is_not_read) {
  const RowVector<double> v{{NaN, inf}};
  const auto x = one_key(-inf, v);
  verify(x.l + x.o.norm(), 0);
  const RowVector<double> s{{0, -inf}};
  const Matrix<double> V{{1, 2}, {NaN, inf}};
  for (const Index block : {1, 2})
    verify(distance(online_row(s, V, block).output(), V.row(0)), 0);
}
BOOST_AUTO_TEST_CASE(forbidden_blocks_anywhere) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RowVector<float> s = gaussian<float>(1, 4, seed);
    const Matrix<float> V = gaussian<float>(4, 2, seed + 40);
    const auto plain = online_row(s, V, 2);
    RowVector<float> holes = RowVector<float>::Constant(10, -float(inf));
    Matrix<float> W = Matrix<float>::Constant(10, 2, float(NaN));
    for (const Index j : {0, 1, 2, 3})  // blocks 1 and 3 of five
      holes(2 + j + j / 2 * 2) = s(j), W.row(2 + j + j / 2 * 2) = V.row(j);
    verify(apart(online_row(holes, W, 2), plain), 0);
  }
}
BOOST_AUTO_TEST_CASE(nan_score_spoils_the_row) {
  for (const Index at : {0, 3, 6}) {
    RowVector<double> s = gaussian<double>(1, 7, 5);
    s(at) = NaN;
    const Matrix<double> V = Matrix<double>::Ones(7, 1);
    for (const Index block : {1, 2, 7}) {
      const auto x = online_row(s, V, block);
      BOOST_TEST(std::isnan(x.output()(0)));
      BOOST_TEST(std::isnan(x.logZ()));
    }
  }
}
BOOST_AUTO_TEST_CASE(refuses_states_that_do_not_fit) {
  const auto a = Online<double>::nothing(2), b = Online<double>::nothing(3);
  BOOST_CHECK_EXCEPTION(merge(a, b), std::invalid_argument,
                        says("merge: values of 2 and 3 numbers"));
  const RowVector<double> s = RowVector<double>::Zero(4);
  const Matrix<double> V(3, 2);
  BOOST_CHECK_EXCEPTION(online_row(s, V, 2), std::invalid_argument,
                        says("online_row: 4 scores, V is 3x2"));
  BOOST_CHECK_EXCEPTION(online_row(s, Matrix<double>(4, 2), 0),
                        std::invalid_argument, says("blocks of 0"));
}
BOOST_AUTO_TEST_CASE(commutes_in_every_precision) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const auto x = random_state<float>(seed);
    const auto y = random_state<float>(3 * seed + 2);
    verify(apart(merge(x, y), merge(y, x)), 0);
    verify(apart(merge(Online<float>::nothing(2), x), x), 0);
    const auto z = random_state<float>(5 * seed + 1);
    verify(apart(merge(merge(x, y), z), merge(x, merge(y, z))), off(x, y, z));
  }
}

// check merged rows against their bound
template <class S>
void state_within_bound(const Online<S>& x, const RowVector<S>& scores,
                        const Matrix<S>& V, Index b, Index D) {
  const RowVector<double> s = lift<double>(scores);
  const auto t = online_row(RowVector<quad>(lift<quad>(scores)),
                            lift<quad>(V), s.size());
  const auto e = merged_exponents<S>(s, b, D, D);
  const RowVector<double> w = (s.array() - s.maxCoeff()).exp()
      * e.array().unaryExpr([](double y) { return std::expm1(y); });
  verify(distance(quad(x.l), t.l), w.sum());
  verify(x.o, t.o, w * lift<double>(V).cwiseAbs());
}
template <class S>
void merged_row_within_bound() {
  const S large = S(std::numeric_limits<S>::max_exponent10 / 5);
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const Index n = Index(1 + 7 * (seed % 40)), b = Index(1 + seed % 33);
    const RowVector<S> s =
        (seed % 4 == 0 ? large : S(1)) * gaussian<S>(1, n, seed);
    const Matrix<S> V = gaussian<S>(n, 2, seed + 77);
    const Matrix<quad> A = softmax(RowVector<quad>(lift<quad>(s)));
    const Index D = (n + b - 1) / b;
    const auto x = online_row(s, V, b);
    state_within_bound(x, s, V, b, D);
    verify(x.output(), times(A, lift<quad>(V)), merged_bound<S>(s, V, b, D));
  }
}
BOOST_AUTO_TEST_CASE(merged_row_in_double) {
  merged_row_within_bound<double>();
}
BOOST_AUTO_TEST_CASE(merged_row_in_float) {
  merged_row_within_bound<float>();
}

// check how often the maximum rises
BOOST_AUTO_TEST_CASE(rises_are_harmonic) {
  const Index blocks = 32, rows = 4000;
  const Matrix<double> m = gaussian<double>(rows, blocks, 3);
  double rises = 0, mean = 0, variance = 0;
  for (Index i = 0; i < rows; ++i) {
    double top = m(i, 0);
    for (Index t = 1; t < blocks; ++t)
      if (m(i, t) > top) top = m(i, t), ++rises;
  }
  for (Index t = 2; t <= blocks; ++t)
    mean += 1 / double(t), variance += double(t - 1) / double(t * t);
  fact("mean", rises / double(rows));
  verify(std::abs(rises / double(rows) - mean),
         4 * std::sqrt(variance / double(rows)));
}

// find the best polynomial by exchange
struct Minimax {
  Vector<quad> r;  // p(f) = 1 + f (r_0 + r_1 f + ...)
  quad E;
};
Minimax minimax(int n, const std::vector<quad>& points) {
  Matrix<quad> A(n + 1, n + 1);
  Vector<quad> g(n + 1);
  for (int k = 0; k <= n; ++k) {
    const quad f = points[std::size_t(k)], w = exp(f * log(quad(2)));
    quad power = 1;
    for (int a = 0; a < n; ++a, power *= f) A(k, a) = power;
    A(k, n) = quad(k % 2 == 0 ? 1 : -1) * w / abs(f);
    g(k) = (w - quad(1)) / f;
  }
  const Vector<quad> x = A.partialPivLu().solve(g);
  return {x.head(n), x(n)};
}
quad relative_error(const Minimax& p, const quad& f) {
  quad r = 0;
  for (Index a = p.r.size(); a-- > 0;) r = r * f + p.r(a);
  return (quad(1) + f * r) / exp(f * log(quad(2))) - quad(1);
}
std::vector<quad> extrema(const Minimax& p, int grid) {
  std::vector<quad> at;
  quad last = 0;
  for (int k = -grid; k <= grid; ++k) {
    const quad f = quad(k) / quad(2 * grid);
    const quad e = relative_error(p, f) * quad(k < 0 ? -1 : 1);
    if (k == 0) continue;
    if (at.empty() || (e < 0) != (last < 0)) at.push_back(f), last = e;
    else if (abs(last) < abs(e)) at.back() = f, last = e;
  }
  return at;
}
Minimax exchange(int n, int grid) {
  std::vector<quad> points;
  for (int k = 0; k <= n; ++k)
    points.push_back(quad(0.003) -
                     quad(std::cos(M_PI * (2 * k + 1) / (2 * n + 2)) / 2));
  Minimax p = minimax(n, points);
  for (int round = 0; round < 6; ++round) {
    const auto next = extrema(p, grid);
    if (std::ssize(next) != n + 1) break;
    p = minimax(n, next);
  }
  return p;
}

// check the polynomial of the exponential
template <class T>
void check_minimax() {
  const auto& r = detail::Exp2<T>::r;
  const int n = int(r.size());
  const Minimax p = exchange(n, 1500);
  fact("E", to_double(abs(p.E)));
  fact("shorter", to_double(abs(exchange(n - 1, 1500).E)));
  verify(to_double(abs(p.E)), unit_roundoff<T>() / 30);
  const auto at = extrema(p, 1500);
  BOOST_TEST(std::ssize(at) == n + 1);
  for (const quad& f : at)
    verify(distance(abs(relative_error(p, f)), abs(p.E)),
           std::pow(M_PI * (n + 1) / 3000, 2) * to_double(abs(p.E)));
  double off = 0;
  for (int a = 0; a < n; ++a)
    off += distance(p.r(a), quad(r[std::size_t(a)])) * std::pow(0.5, a + 1);
  verify(off, unit_roundoff<T>() / 3);
}
BOOST_AUTO_TEST_CASE(minimax_float) { check_minimax<float>(); }
BOOST_AUTO_TEST_CASE(minimax_double) { check_minimax<double>(); }

// check the exponential on every float
template <class T, class R>
double units_off(T x, R truth) {
  int e = 0;
  std::frexp(truth, &e);
  return double(std::abs(R(attn::exp2(x)) - truth) *
                std::ldexp(R(1), std::numeric_limits<T>::digits - e));
}
BOOST_AUTO_TEST_CASE(exp2_of_every_float) {
  double worst = 0;
  const auto first = std::bit_cast<std::uint32_t>(0x1p-25f);
  const auto last = std::bit_cast<std::uint32_t>(1.0f);
  for (std::uint32_t bits = first; bits <= last; ++bits) {
    const float x = -std::bit_cast<float>(bits);
    const double t = attn::exp2(double(x)), y = attn::exp2(x);
    // t in [1/2, 1]: a unit in the last place is 2^-24, but 2^-23 at 1
    const double off = std::abs(y - t) * (t < 1 ? 0x1p24 : 0x1p23);
    worst = off > worst ? off : worst;
  }
  // the tie at -1/2 has f = 1/2; f = -1/2 is that of -3/2
  worst = worse(worst, units_off(-1.5f, std::exp2(-1.5)));
  fact("count", long(last - first + 2));
  fact("ulp", worst);
  verify(worst, 1.3);
}
BOOST_AUTO_TEST_CASE(exp2_of_many_doubles) {
  double worst = 0;
  const long count = 10'000'000;
  std::uint64_t bits = 1;
  for (long k = 0; k < count; ++k) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const double unit = double(bits >> 11) * 0x1p-53;
    const double x = unit * std::array{-1, -1022, 1023}[std::size_t(k % 3)];
    worst = worse(worst, units_off(x, std::exp2((long double)x)));
  }
  fact("count", count);
  fact("ulp", worst);
  verify(worst, 1.3);
}
BOOST_AUTO_TEST_CASE(exp2_over_the_whole_range) {
  for (int k = -126 * 512; k <= 127 * 512; ++k) {
    const float x = float(k) / 512 + (k % 7 == 0 ? 0 : 0x1p-12f);
    if (x >= -126) verify(units_off(x, std::exp2(double(x))), 1.3);
    if (k % 512 == 0)
      verify(std::abs(attn::exp2(float(k / 512)) -
                      std::ldexp(1.0f, k / 512)), 0);
  }
}
template <class T>
void check_exp2_edges() {
  const T low = std::numeric_limits<T>::min_exponent - 1;
  const T infinite = std::numeric_limits<T>::infinity();
  verify(double(attn::exp2(-infinite)), 0);
  verify(double(attn::exp2(std::nextafter(low, -infinite))), 0);
  verify(double(attn::exp2(T(-1e30))), 0);
  verify(std::abs(double(attn::exp2(low) /
                         std::numeric_limits<T>::min() - 1)), 0);
  verify(std::abs(double(attn::exp2(T(0)) - 1)), 0);
  for (const T x : {std::numeric_limits<T>::quiet_NaN(),
                    -std::numeric_limits<T>::quiet_NaN(),
                    T(std::nan("12345")), T(std::nan("1"))})
    BOOST_TEST(std::isnan(attn::exp2(x)));
}
BOOST_AUTO_TEST_CASE(exp2_edges) {
  check_exp2_edges<float>();
  check_exp2_edges<double>();
}
BOOST_AUTO_TEST_SUITE_END()
