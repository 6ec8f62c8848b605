// tests/variants_position_test.cpp: tangled from chapters/05a-positions-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <numbers>
#include "attn/autodiff.hpp"
#include "attn/gibbs.hpp"
#include "attn/positions.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(variants)
constexpr double nan = NAN;
/// The least eigenvalue of a symmetric matrix.
inline double kernel_edge(const Matrix<double>& m) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m)
      .eigenvalues()(0);
}

// check positions
BOOST_AUTO_TEST_CASE(places_by_hand) {
  using Range = std::pair<Index, Index>;
  const Places ids(std::vector<Index>{7, 3, 4, 5}), run(3, 3);
  const Places last = ids.part(1, 4);
  BOOST_TEST((ids[0] == 7 && ids[3] == 5 && run[2] == 5));
  BOOST_TEST((ids.range(0, 2) == Range{3, 7}));
  BOOST_TEST((run.range(1, 3) == Range{4, 5}));
  BOOST_TEST((last.range(1, 3) == Range{4, 5}));
  BOOST_TEST((last == run && !(last == ids) && !(run == Places(3))));
  const Positions at{run, Places(4)};
  BOOST_TEST((at.offsets({0, 2, 1, 3}) == Range{-3, -1}));
}
BOOST_AUTO_TEST_CASE(sinusoidal_shift) {
  const Index d = 12;
  const auto theta = frequencies<quad>(d);
  const auto map = [&](Index k) {
    Matrix<quad> M = Matrix<quad>::Zero(d, d);
    for (Index a = 0; a < d / 2; ++a) {
      const quad phi = quad(double(k)) * theta(a);
      M(2 * a, 2 * a) = M(2 * a + 1, 2 * a + 1) = cos(phi);
      M(2 * a + 1, 2 * a) = sin(phi), M(2 * a, 2 * a + 1) = -sin(phi);
    }
    return M;
  };
  const auto P = [&](Index p) { return sinusoidal<quad>(3, d, p); };
  for (const Index k : {0, 1, 17, 1000})
    for (const Index p : {0, 5, 900}) {
      verify(distance(P(p + k), P(p) * map(k)), 1e-29);
      verify(distance(map(p + k), map(p) * map(k)), 1e-29);
      quad sum = 0;
      for (Index a = 0; a < d / 2; ++a)
        sum += cos(quad(double(k)) * theta(a));
      const quad dot = P(p).row(0).dot(P(p + k).row(0));
      verify(to_double(abs(dot - sum)), 1e-29);
    }
}
BOOST_AUTO_TEST_CASE(sinusoids_in_float) {
  const Index p = 1000000;
  verify(sinusoidal<float>(4, 64, p), sinusoidal<quad>(4, 64, p),
         Matrix<double>::Constant(4, 64, 0x1p-24 + 0x1p-52 +
                                             0x1p-51 * double(p + 3)));
  BOOST_CHECK_EXCEPTION(sinusoidal<double>(-1, 4), std::invalid_argument,
                        says("sinusoidal: n = -1"));
}
BOOST_AUTO_TEST_CASE(rotary_is_an_isometry) {
  for (const Pairs pairs : {Pairs::neighbours, Pairs::halves})
    for (const Index p : {0, 3, 4096}) {
      const Rotary<quad> R{frequencies<quad>(8), pairs};
      const Matrix<quad> q = gaussian<quad>(5, 8, 1);
      const Matrix<quad> k = gaussian<quad>(5, 8, 2);
      const Matrix<quad> S = rotate(q, R) * rotate(k, R).transpose();
      verify(distance(rotate(q, R, p) * rotate(k, R, p).transpose(), S), 1e-28);
      verify(distance(rotate(rotate(q, R, p), R, p, true), q), 1e-31);
      const quad off = rotate(q, R, p).squaredNorm() - q.squaredNorm();
      verify(to_double(abs(off)), 1e-30);
    }
}
BOOST_AUTO_TEST_CASE(a_form_for_each_distance) {
  const Index d = 6, n = 12;
  const auto theta = frequencies<quad>(d, 50);
  const Rotary<quad> R{theta};
  const Matrix<quad> q = gaussian<quad>(1, d, 1, "q"),
                     k = gaussian<quad>(1, d, 1, "k");
  const auto M = [&](Index t) {
    Matrix<quad> m = Matrix<quad>::Zero(d, d);
    for (Index a = 0; a < d / 2; ++a) {
      const quad phi = quad(double(t)) * theta(a);
      m(2 * a, 2 * a) = m(2 * a + 1, 2 * a + 1) = cos(phi);
      m(2 * a + 1, 2 * a) = sin(phi), m(2 * a, 2 * a + 1) = -sin(phi);
    }
    return m;
  };

  // read the form off the rotated unit vectors
  const Matrix<quad> unit = Matrix<quad>::Identity(d, d);
  const auto turned = [&](Index p) {
    return rotate(unit, R, Places(std::vector<Index>(std::size_t(d), p)));
  };
  const auto form = [&](Index i, Index j) {
    return Matrix<quad>(turned(i) * turned(j).transpose());
  };
  const double off = 360 * 0x1p-113;
  Matrix<double> G(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      // compare the score of a pair with the form of its distance
      const auto score = [&](const Matrix<quad>& x, const Matrix<quad>& y) {
        return quad((rotate(x, R, i) * rotate(y, R, j).transpose())(0, 0));
      };
      verify(distance(score(q, k), quad((q * M(j - i) * k.transpose())(0, 0))),
             1e-30);
      verify(distance(form(i, j), M(j - i)), off);
      verify(distance(form(j + 3, i + 3), form(i, j).transpose()), off);
      const quad self = score(q, q);
      verify(worse(0, to_double(self - q.squaredNorm())), 1e-30);
      G(i, j) = to_double(self);
    }
  verify(worse(0, -kernel_edge(G)), double(n) * n * 0x1p-53 * G.trace());
}
BOOST_AUTO_TEST_CASE(pairings_are_permutations) {
  const Index d = 8;
  const Vector<double> theta = frequencies<double>(d);
  const Rotary<double> near{theta}, far{theta, Pairs::halves};
  const Matrix<double> X = gaussian<double>(5, d, 1);
  const auto moved = [&](const Matrix<double>& x) {
    Matrix<double> y(x.rows(), d);
    for (Index a = 0; a < d / 2; ++a)
      y.col(a) = x.col(2 * a), y.col(a + d / 2) = x.col(2 * a + 1);
    return y;
  };
  for (const Index p : {0, 1, 77})
    verify(distance(rotate(moved(X), far, p), moved(rotate(X, near, p))), 0);
}
BOOST_AUTO_TEST_CASE(printed_rotary_example) {
  const Rotary<double> R{frequencies<double>(4, 100)};
  const Matrix<double> printed{{-.416, .909, .980, .199}};
  verify(distance(rotate(Matrix<double>{{1, 0, 1, 0}}, R, 2), printed),
         5e-4 + 0x1p-50);
}
double kernel(const Matrix<double>& m) {
  const Eigen::VectorXd sv = m.jacobiSvd().singularValues();
  const double noise = 64 * double(m.rows()) * 0x1p-53;
  return double((sv.array() < noise * sv(0)).count());
}
/// Dimensions of the forms, and of the symmetric ones, that commute with
/// a rotation by one position.
std::pair<double, double> commuting_forms(const Rotary<double>& R, Index d) {
  const Matrix<double> I = Matrix<double>::Identity(d, d);
  const Matrix<double> R1 =
      rotate(I, R, Places(std::vector<Index>(std::size_t(d), 1))).transpose();
  Matrix<double> all(d * d, d * d), sym(d * d, d * (d + 1) / 2);
  Index s = 0;
  for (Index a = 0; a < d; ++a)
    for (Index b = 0; b < d; ++b) {
      Matrix<double> E = Matrix<double>::Zero(d, d);
      E(a, b) = 1;
      all.col(a * d + b) = (E * R1 - R1 * E).eval().reshaped();
      E(b, a) = 1;
      if (a <= b) sym.col(s++) = (E * R1 - R1 * E).eval().reshaped();
    }
  return {kernel(all), kernel(sym)};
}
BOOST_AUTO_TEST_CASE(rotary_commutant) {
  for (const Index d : {2, 4, 6}) {
    const auto [all, sym] =
        commuting_forms({frequencies<double>(d)}, d);
    verify(std::abs(all - double(d)), 0);
    verify(std::abs(sym - double(d / 2)), 0);
  }
}
BOOST_AUTO_TEST_CASE(rotary_and_learned_metric) {
  const Index d = 8;
  const Rotary<double> R{frequencies<double>(d)};
  const auto q = gaussian<double>(1, d, 1), k = gaussian<double>(1, d, 2);
  const Matrix<double> W = gaussian<double>(d, d, 3) / std::sqrt(8.0),
                       I = Matrix<double>::Identity(d, d);
  Matrix<double> planes = I;
  for (Index a = 0; a < d; ++a) planes(a, a) = double(1 + a / 2);

  // bound the spread of a score
  const double turn =
      std::sqrt(2.0) * (4 * 69 * 0x1p-53 + gamma(4, 0x1p-53));
  const double one = (2 * turn + 2 * gamma(d, 0x1p-53)) * (1 + 1e-9) *
                     q.norm() * k.norm();
  const double lost = 1 + gamma(d, 0x1p-53) / turn;
  const auto spread = [&](const Matrix<double>& before,
                          const Matrix<double>& g) {
    Eigen::ArrayXd s(64);
    for (Index p = 0; p < 64; ++p)
      s(p) = (rotate<double>(q * before, R, p) * g *
              rotate<double>(k * before, R, p + 5).transpose())(0, 0);
    return s.maxCoeff() - s.minCoeff();
  };
  fact("spread", spread(I, W.transpose() * W));
  fact("euclid", spread(I, I));
  verify(spread(I, I), 2 * one);
  verify(spread(I, planes), 2 * one * 4);
  verify(spread(W.transpose(), I), 2 * one * lost * W.squaredNorm());
  refute(spread(I, W.transpose() * W), 1);
}
template <class S>
void hold_rotation() {
  const Index d = 6;
  const Rotary<quad> exact{frequencies<quad>(d)};
  const Rotary<S> R{frequencies<Angle<S>>(d)};
  const double u = unit_roundoff<S>(), v = unit_roundoff<Angle<S>>();
  for (const Index p : {0, 1, 100, 10000, 1000000})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Matrix<S> X = gaussian<S>(4, d, seed);
      Matrix<double> bound(4, d);
      for (Index i = 0; i < 4; ++i)
        for (Index a = 0; a < d; ++a) {
          const double theta = to_double(exact.theta(a / 2));
          const Index b = a - a % 2;
          bound(i, a) = (std::abs(double(X(i, b))) +
                         std::abs(double(X(i, b + 1)))) *
                        ((4 - std::log(theta)) * v * double(p + i) * theta +
                         gamma(4, u));
        }
      verify(rotate(X, R, p), rotate(lift<quad>(X), exact, p), bound);
    }
}
BOOST_AUTO_TEST_CASE(rotary_in_double) { hold_rotation<double>(); }
BOOST_AUTO_TEST_CASE(rotary_in_float) { hold_rotation<float>(); }
BOOST_AUTO_TEST_CASE(rotary_in_half) { hold_rotation<Eigen::half>(); }
BOOST_AUTO_TEST_CASE(rotary_in_bfloat16) { hold_rotation<Eigen::bfloat16>(); }
BOOST_AUTO_TEST_CASE(float_angles_drift) {
  const Index d = 64, p = 1000000;
  const auto theta = frequencies<quad>(d);
  const auto narrow = frequencies<float>(d);
  double off = 0, ours = 0;
  for (Index a = 0; a < d / 2; ++a) {
    const quad phi = quad(double(p)) * theta(a);
    const float turned = float(p) * narrow(a);
    off = std::max(off, std::hypot(
        double(std::cos(turned)) - to_double(cos(phi)),
        double(std::sin(turned)) - to_double(sin(phi))));
    const Rotary<float> one{frequencies<double>(d).segment(a, 1)};
    const Matrix<float> r = rotate<float>(Matrix<float>{{1, 0}}, one, p);
    ours = std::max(ours, std::hypot(double(r(0)) - to_double(cos(phi)),
                                     double(r(1)) - to_double(sin(phi))));
  }
  fact("off", off);
  fact("ours", ours);
  refute(off, 1e-2);
  verify(ours, 4 * 0x1p-24 + 4 * 0x1p-53 * double(p));
}
BOOST_AUTO_TEST_CASE(partial_rotations) {
  const Matrix<double> X = gaussian<double>(4, 7, 1, "X");
  for (const Pairs pairs : {Pairs::neighbours, Pairs::halves}) {
    const Rotary<double> R{frequencies<double>(4), pairs},
        P{frequencies<double>(4), pairs, 3}, G{R.theta, pairs, 0, 2};
    const Places at(std::vector<Index>{5, 0, 2, 5});
    const Matrix<double> Y = rotate(X, P, at);
    verify(distance(Y.rightCols(3), X.rightCols(3)), 0);
    for (Index i = 0; i < 4; ++i)
      verify(distance(rotate(X.row(i).leftCols(4), R, at[i]),
                      Y.row(i).leftCols(4)), 0);
    const Eigen::MatrixXd Z = X.leftCols(4);
    verify(distance(rotate(Z, G, 3), rotate(2 * Z, R, 3)), 0);
    verify(distance(rotate(Z, R, Places(4, 3)), rotate(Z, R, 3)), 0);
  }
}
BOOST_AUTO_TEST_CASE(rotations_may_be_kept) {
  const Vector<double> theta = frequencies<double>(8);
  const Rotary<double> R{theta, Pairs::neighbours, 1, 1.5};
  const Places p(std::vector<Index>{5, 0, 2}), q(std::vector<Index>{1, 7, 7});
  const Matrix<double> X = gaussian<double>(3, 9, 1, "X");
  auto t = rotations(R, p);
  verify(distance(rotate(X, t), rotate(X, R, p)), 0);
  verify(distance(rotate(X, t, true), rotate(X, R, p, true)), 0);
  const auto other = rotations(R, q);
  t.cos.rightCols(2) = other.cos.rightCols(2);
  t.sin.rightCols(2) = other.sin.rightCols(2);
  const Rotary<double> first{theta.head(2), Pairs::neighbours, 0, 1.5},
      last{theta.tail(2), Pairs::neighbours, 1, 1.5};
  const Matrix<double> Y = rotate(X, t);
  verify(distance(Y.leftCols(4), rotate(X.leftCols(4), first, p)), 0);
  verify(distance(Y.rightCols(5), rotate(X.rightCols(5), last, q)), 0);
  t.sin.resize(2, 4);
  BOOST_CHECK_EXCEPTION(rotate(X, t), std::invalid_argument,
                        says("rotate: cosines are 3x4 but sines 2x4"));
}
struct Stretched {
  Vector<double> before, after;
  double factor, length;
};
std::vector<Stretched> stretched_models() {
  std::vector<Stretched> all;
  for (const double s : {8.0, 32.0})
    all.push_back({frequencies<double>(128, 5e5),
                   llama3_frequencies<double>(128, {s, 8192}), s, 8192});
  for (const double s : {16.0, 32.0})
    all.push_back({frequencies<double>(128), yarn_frequencies<double>(
                       128, {s, 4096, 1, 32}), s, 4096});
  all.push_back({frequencies<double>(64, 150000), yarn_frequencies<double>(
                     64, {32, 4096, 1, 32}, 150000, false), 32, 4096});
  all.push_back({frequencies<double>(8), yarn_frequencies<double>(
                     8, {4, 64, 3, 3.5}), 4, 64});
  return all;
}
/// How far clock a gets beyond what it has shown, relative to that.
double new_angles(const Stretched& x, double after, Index a) {
  const double shown = x.length * x.before(a) / (2 * std::numbers::pi);
  if (shown >= 1) return 0;
  return x.factor * x.length * after / (2 * std::numbers::pi) / shown - 1;
}
BOOST_AUTO_TEST_CASE(no_new_angles) {
  for (const Stretched& x : stretched_models())
    for (Index a = 0; a < x.before.size(); ++a) {
      const double part = x.after(a) / x.before(a), u = 0x1p-53;
      verify(worse(0, new_angles(x, x.after(a), a)), 6 * u);
      verify(worse(0, new_angles(x, x.before(a) / x.factor, a)), 6 * u);
      verify(worse(0, part - 1) + worse(0, 1 / x.factor - part), 4 * u);
      if (a > 0) verify(x.after(a) < x.after(a - 1) ? 0 : 1, 0);
      const Index last = x.before.size() - 1;
      const double ntk = x.before(a) *
          std::pow(x.factor, -double(a) / double(last));
      if (0 < a && a < last && new_angles(x, x.before(a), a) > 0)
        refute(new_angles(x, ntk, a), 1e-3);
    }
}
template <class S>
Vector<S> llama_by_wavelength(Index d, double s, double L, double base) {
  Vector<S> theta = frequencies<S>(d, base);
  for (S& f : theta) {
    const S wave = 8 * atan(S(1)) / f;
    if (wave < S(L) / 4) continue;
    if (wave > S(L)) { f /= S(s); continue; }
    const S smooth = (S(L) / wave - 1) / (S(4) - 1);
    f = (1 - smooth) * f / S(s) + smooth * f;
  }
  return theta;
}
template <class S>
Vector<S> yarn_by_mask(Index d, double s, Index low, Index high, double base) {
  Vector<S> theta = frequencies<S>(d, base);
  for (Index a = 0; a < d / 2; ++a) {
    const double ramp = std::clamp(double(a - low) / double(high - low),
                                   0.0, 1.0);
    theta(a) = theta(a) / S(s) * S(ramp) + theta(a) * S(1 - ramp);
  }
  return theta;
}
BOOST_AUTO_TEST_CASE(stretched_frequencies_by_wavelength) {
  for (const double s : {1.0, 8.0, 32.0}) {
    const Vector<quad> ours = llama3_frequencies<quad>(128, {s, 8192});
    const auto llama = llama_by_wavelength<quad>(128, s, 8192, 5e5);
    for (Index a = 0; a < 64; ++a)
      verify(to_double(abs(ours(a) / llama(a) - 1)), 1e-31);
    const auto is = [&](Index d, const Stretch& x, Index low, Index high) {
      const Vector<quad> yarn = yarn_frequencies<quad>(d, x);
      const auto mask = yarn_by_mask<quad>(d, s, low, high, 1e4);
      for (Index a = 0; a < d / 2; ++a)
        verify(to_double(abs(yarn(a) / mask(a) - 1)), s * 0x1p-52);
    };
    is(128, {s, 4096, 1, 32}, 20, 46);
    is(8, {s, 3e8, 1, 1e6}, 1, 7), is(8, {s, 100, 1, 32}, 0, 2);
  }
}
BOOST_AUTO_TEST_CASE(ramps_need_a_clock_that_turns) {
  const auto theta = frequencies<double>(8);
  const auto yarn = yarn_frequencies<double>(8, {4, 6});
  refute(new_angles({theta, yarn, 4, 6}, yarn(0), 0), 2.9);
  const auto just = yarn_frequencies<double>(8, {4, 6.3});
  for (Index a = 0; a < 4; ++a)
    verify(worse(0, new_angles({theta, just, 4, 6.3}, just(a), a)),
           6 * 0x1p-53);
}
BOOST_AUTO_TEST_CASE(yarn_is_not_its_formula) {
  const Stretch x{16, 4096, 1, 32};
  const auto program = yarn_frequencies<double>(128, x);
  const auto formula = llama3_frequencies<double>(128, x, 10000);
  const double off = (program.array() / formula.array() - 1).maxCoeff();
  fact("off", off);
  refute(off, 1);
  int faster = 0, slower = 0;
  for (Index a = 0; a < 64; ++a)
    faster += program(a) > formula(a), slower += program(a) < formula(a);
  fact("faster", faster), fact("slower", slower);
  BOOST_TEST(faster > 20 * slower);
  verify(std::abs(yarn_gain(std::exp(10.0)) - 2), 0x1p-51);
  verify(std::abs(yarn_gain(1) - 1), 0);
}
BOOST_AUTO_TEST_CASE(slope_is_a_prior) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = 7;
    const quad m = quad(double(seed)) / 10;
    const Matrix<quad> s = gaussian<quad>(1, n, seed);
    Matrix<quad> far(1, n);
    for (Index j = 0; j < n; ++j) far(j) = quad(double(n - 1 - j));
    const Matrix<quad> pi = attn::gibbs(Matrix<quad>(-m * far));
    const Matrix<quad> A = attn::gibbs(Matrix<quad>(s - m * far));
    const auto cost = [&](const Matrix<quad>& q) {
      quad c = 0;
      for (Index j = 0; j < n; ++j)
        c += q(j) * (log(q(j) / pi(j)) - s(j));
      return c;
    };
    const Matrix<quad> q = attn::gibbs(gaussian<quad>(1, n, seed + 99));
    quad kl = 0;
    for (Index j = 0; j < n; ++j) kl += q(j) * log(q(j) / A(j));
    verify(to_double(abs(cost(q) - cost(A) - kl)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(alibi_horizon) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = 40;
    const double m = 0.05 * double(1 + seed % 20);
    const Matrix<double> s = uniform<double>(1, n, seed);
    const double rho = s.maxCoeff() - s.minCoeff();
    Matrix<double> with = s;
    for (Index t = 0; t < n; ++t) with(n - 1 - t) -= m * double(t);
    const Matrix<double> A = softmax(with);
    for (Index r = 0; r + 1 < n; ++r)
      verify(A.leftCols(n - 1 - r).sum(),
             std::exp(rho - m * double(r + 1)) * (1 + 200 * 0x1p-53));
  }
}
BOOST_AUTO_TEST_CASE(slopes_of_heads) {
  const auto eight = alibi_slopes(8), twelve = alibi_slopes(12);
  for (std::size_t h = 0; h < 8; ++h) {
    verify(std::abs(eight[h] - std::ldexp(1, -int(h) - 1)), 0);
    verify(std::abs(twelve[h] - eight[h]), 0);
  }
  for (int k = 0; k < 4; ++k)
    verify(std::abs(twelve[std::size_t(8 + k)] - std::exp2(-0.5 - k)), 0);
  verify(double(twelve.size() != 12), 0);
}
BOOST_AUTO_TEST_CASE(positions_refuse_what_does_not_fit) {
  using bad = std::invalid_argument;
  const Rotary<double> R{frequencies<double>(4)};
  const Matrix<double> X = gaussian<double>(2, 3, 1);
  BOOST_TEST(frequencies<double>(0).size() == 0);
  BOOST_CHECK_EXCEPTION(frequencies<double>(5), bad, says("d = 5"));
  BOOST_CHECK_EXCEPTION(frequencies<double>(-2), bad, says("d = -2"));
  BOOST_CHECK_EXCEPTION(frequencies<double>(4, 0), std::domain_error,
                        says("frequencies: base 0"));

  // refuse rotations that do not fit
  BOOST_CHECK_EXCEPTION(rotate(X, R), bad,
                        says("rotate: X is 2x3 but R has 2 planes"));
  BOOST_CHECK_EXCEPTION(rotate(X.leftCols(2), R), bad, says("X is 2x2"));
  BOOST_CHECK_EXCEPTION(rotate(Matrix<double>(2, 4), R, Places(3)), bad,
                        says("rotate: X is 2x4 but has 3 places"));
  const Rotations<double> t = rotations(R, Places(2));
  Rotations<double> thin = t, low = t;
  thin.sin.resize(2, 1), low.sin.resize(1, 2);
  BOOST_CHECK_EXCEPTION(rotate(Matrix<double>(2, 4), thin), bad,
                        says("rotate: cosines are 2x2 but sines 2x1"));
  BOOST_CHECK_EXCEPTION(rotate(Matrix<double>(2, 4), low), bad,
                        says("rotate: cosines are 2x2 but sines 1x2"));
  for (const Stretch& x : {Stretch{0.5, 10}, {2, 0}, {2, 10, 0, 4},
                           {2, 10, 4, 4}, {nan, 10}, {2, nan}}) {
    BOOST_CHECK_EXCEPTION(llama3_frequencies<double>(4, x), std::domain_error,
                          says("llama3_frequencies: "));
    BOOST_CHECK_EXCEPTION(yarn_frequencies<double>(4, x), std::domain_error,
                          says("yarn_frequencies: "));
  }
  BOOST_CHECK_EXCEPTION(yarn_gain(0.5), std::domain_error, says("factor 0.5"));
  for (const double base : {1.0, 0.5, nan})
    BOOST_CHECK_EXCEPTION(yarn_frequencies<double>(4, {2, 10}, base),
                          std::domain_error, says("yarn_frequencies: base "));
  BOOST_TEST(yarn_frequencies<double>(4, {2, 10}, 1.5).allFinite());
  BOOST_CHECK_EXCEPTION(alibi_slopes(0), bad, says("H = 0"));
}
BOOST_AUTO_TEST_CASE(positions_start_at_zero) {
  const Matrix<double> X = gaussian<double>(2, 4, 1);
  const Rotary<double> R{frequencies<double>(4)};
  verify(distance(rotate(X, R).row(0), X.row(0)), 0);
  verify(distance(rotate(X, R), rotate(X, R, 0)), 0);
  BOOST_TEST(rotate(Matrix<double>(0, 4), R).rows() == 0);
  verify(distance(sinusoidal<double>(1, 4), Matrix<double>{{0, 1, 0, 1}}), 0);
  verify(distance(sinusoidal<double>(3, 4), sinusoidal<double>(3, 4, 0, 1e4)),
         0);
}

// check errata about positions
BOOST_AUTO_TEST_CASE(answer_ntk) {
  for (const Index d : {4, 8, 64})
    for (const double s : {2.0, 4.0}) {
      const double e = double(d) / double(d - 2);
      const auto slow = frequencies<double>(d, 1e4 * std::pow(s, e));
      const auto fast = frequencies<double>(d);
      for (Index a = 0; a < d / 2; ++a) {
        const double part = 2 * double(a) / double(d - 2);
        verify(std::abs(slow(a) * std::pow(s, part) / fast(a) - 1), 0x1p-47);
      }
    }
}
BOOST_AUTO_TEST_CASE(answer_partial) {
  for (const auto& [d, f] : {std::pair<Index, Index>{2, 1}, {2, 3}, {4, 2}}) {
    const Rotary<double> R{frequencies<double>(d), Pairs::halves, f};
    const auto [all, sym] = commuting_forms(R, d + f);
    verify(std::abs(all - double(d + f * f)), 0);
    verify(std::abs(sym - double(d / 2 + f * (f + 1) / 2)), 0);
  }
}
BOOST_AUTO_TEST_CASE(answer_llama) {
  const auto theta = frequencies<double>(128, 5e5);
  const auto slow = llama3_frequencies<double>(128, {8, 8192});
  int alone = 0, slowed = 0;
  for (Index a = 0; a < 64; ++a) {
    alone += theta(a) == slow(a);
    slowed += theta(a) / 8 == slow(a);
  }
  BOOST_TEST((alone == 29 && slowed == 29));
}
BOOST_AUTO_TEST_CASE(answer_left_padding) {
  const Rotary<double> R{frequencies<double>(6)};
  const Matrix<double> X = gaussian<double>(8, 6, 1, "X");
  for (const Index l : {0, 1, 5, 8})
    verify(distance(rotate(X, R, Places(8, l - 8)).bottomRows(l),
                    rotate(X.bottomRows(l), R)), 0);
}
BOOST_AUTO_TEST_CASE(answer_rotated_values) {
  const Index n = 5, d = 4;
  const Rotary<quad> R{frequencies<quad>(d)};
  const Matrix<quad> A = attn::gibbs(gaussian<quad>(n, n, 1, "S")),
                     V = gaussian<quad>(n, d, 1, "V");
  const auto mixed = [&](Index first, bool back) {
    const Matrix<quad> O = A * rotate(V, R, first);
    return back ? rotate(O, R, first, true) : O;
  };
  const double turn = std::sqrt(2.0) * (4 * 1010 + 4) * 0x1p-113;
  const double bound = 4 * turn * to_double(sqrt(V.squaredNorm()));
  verify(distance(mixed(0, true), mixed(1000, true)), bound);
  refute(distance(mixed(0, false), mixed(1000, false)), 0.1);
  Matrix<quad> one = Matrix<quad>::Zero(1, d);
  for (Index j = 0; j < n; ++j) one += A(2, j) * rotate(V.row(j), R, j - 2);
  verify(distance(one, mixed(0, true).row(2)), bound);
}
BOOST_AUTO_TEST_CASE(answer_agreement) {
  Index half[2], zero[2];
  for (int k = 0; k < 2; ++k) {
    const auto theta = frequencies<double>(64, k == 0 ? 1e4 : 5e5);
    const auto first_below = [&](double level) {
      Index t = 0;
      while ((double(t) * theta.array()).cos().mean() >= level) ++t;
      return t;
    };
    half[k] = first_below(0.5), zero[k] = first_below(0);
    fact("half_" + std::to_string(k + 1), half[k]);
    fact("zero_" + std::to_string(k + 1), zero[k]);
  }
  for (int k = 0; k < 2; ++k)
    BOOST_TEST(double(half[k]) < 0.57 * std::sqrt(k == 0 ? 1e4 : 5e5));
  BOOST_TEST((half[0] < half[1] && zero[0] < zero[1]));
}
BOOST_AUTO_TEST_CASE(gradient_of_a_rotation) {
  const Rotary<quad> R{frequencies<quad>(4)};
  const Rotary<Dual<quad>> RD{lift<Dual<quad>>(R.theta)};
  const Matrix<quad> q = gaussian<quad>(3, 4, 1), G = gaussian<quad>(3, 4, 2);
  const Matrix<quad> printed = rotate(G, R), ours = rotate(G, R, 0, true);
  Matrix<quad> truth(3, 4);
  for (Index k = 0; k < 12; ++k) {
    Matrix<Dual<quad>> z = lift<Dual<quad>>(q);
    z.data()[k].d = 1;
    const auto y = rotate(z, RD);
    quad sum = 0;
    for (Index l = 0; l < 12; ++l) sum += y.data()[l].d * G.data()[l];
    truth.data()[k] = sum;
  }
  fact("off", distance(printed, truth));
  fact("ours", distance(ours, truth));
  refute(distance(printed, truth), 0.1);
  verify(distance(ours, truth), 1e-31);
}
BOOST_AUTO_TEST_SUITE_END()
