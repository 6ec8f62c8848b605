// tests/metric_test.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/form.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "metrics.hpp"
using namespace attn;
BOOST_AUTO_TEST_SUITE(bilinear)

// check lowering and raising
BOOST_AUTO_TEST_CASE(raise_undoes_lower) {
  for (const Index d : {1, 2, 3, 7, 12})
    for (const auto& g : metrics<quad>(d, std::uint64_t(d))) {
      const Matrix<quad> v = gaussian<quad>(3, d, 5);
      verify(distance(g.raise(g.lower(v)), v), agreement);
      verify(distance(g.lower(g.raise(v)), v), agreement);
      const Matrix<quad> one = Matrix<quad>::Identity(d, d);
      verify(distance(g.inverse() * g.dense(), one), agreement);
    }
}
BOOST_AUTO_TEST_CASE(lowering_loses_what_was_counted) {
  for (const Index d : {1, 4, 9}) {
    const Index r = 1 + d / 3;
    const Matrix<double> v = gaussian<double>(5, d, 6, "v");
    const Matrix<double> U = gaussian<double>(r, d, 6, "U");
    const Vector<double> D = gaussian<double>(d, 1, 6, "D").array().exp();
    const Matrix<double> diag = D.asDiagonal();
    const Matrix<double> G = metrics<double>(d, 40).back().dense();
    const auto check = [&](const Metric<double>& g, const Matrix<quad>& exact,
                           const Matrix<double>& size, Index roundings) {
      const Matrix<double> low = g.lower(v);
      verify(low, lift<quad>(v) * exact,
             gamma(roundings, 0x1p-53) * v.cwiseAbs() * size);
    };
    const Matrix<double> one = Matrix<double>::Identity(d, d), a = U.cwiseAbs();
    check(Metric<double>::scaled(d, 0.3), lift<quad>(0.3 * one), 0.3 * one, 1);
    check(Metric<double>::diagonal(D), lift<quad>(diag), diag, 1);
    check(Metric<double>::low_rank(D, U), lift<quad>(diag) +
          lift<quad>(U).transpose() * lift<quad>(U),
          diag + a.transpose() * a, d + r + 1);
    check(Metric<double>::full(G), lift<quad>(G), G.cwiseAbs(), d);
  }
}
BOOST_AUTO_TEST_CASE(cholesky_residual) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index d = Index(1 + seed % 24);
    const Matrix<double> W = gaussian<double>(d + 1, d, seed, "W");
    const Matrix<double> g = W.transpose() * W;
    const Matrix<double> v = gaussian<double>(1, d, seed, "v");
    verify(diagnose(g).positive() ? 0 : 1, 0);
    const Matrix<double> L = cholesky<double>((g + g.transpose()) / 2);
    const Matrix<double> x = solve_rows<double>(L, v), aL = L.cwiseAbs();
    const Matrix<quad> gx = lift<quad>(x) * lift<quad>(g);
    const Matrix<double> size = x.cwiseAbs() * aL * aL.transpose();
    verify(Matrix<quad>(gx), lift<quad>(v),
           Matrix<double>(gamma(3 * d + 3, 0x1p-53) * size));
  }
}
BOOST_AUTO_TEST_CASE(woodbury_cancels) {
  const auto loss = [](auto s) {
    using S = decltype(s);
    const Vector<S> D = Vector<S>::Constant(12, S(1e-8));
    const auto g = Metric<S>::low_rank(D, gaussian<S>(3, 12, 1, "U"));
    const Matrix<S> v = gaussian<S>(1, 12, 1, "v"), w = g.raise(g.lower(v));
    return to_double(S((w - v).norm() / v.norm()));
  };
  fact("loss", loss(double()), 2);
  fact("quad", loss(quad()), 2);
  verify(loss(quad()), 100 * 0x1p-60 * loss(double()));
}

// check determinants and Woodbury
BOOST_AUTO_TEST_CASE(woodbury_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 7), r = Index(1 + seed % 3);
    const Vector<Fp> D = gaussian<Fp>(d, 1, seed, "D");
    const Matrix<Fp> U = gaussian<Fp>(r, d, seed, "U"), Ut = U.transpose();
    const Matrix<Fp> one = Matrix<Fp>::Identity(r, r);
    const Matrix<Fp> Di = D.cwiseInverse().asDiagonal();
    const Matrix<Fp> C = one + U * Di * Ut;
    const Matrix<Fp> g = Matrix<Fp>(D.asDiagonal()) + Ut * U;
    const Matrix<Fp> inv = Di - Di * Ut * C.inverse() * U * Di;
    verify_exact(Matrix<Fp>(g * inv), Matrix<Fp>(Matrix<Fp>::Identity(d, d)),
                 2 * d + 4);
    verify_exact(g.partialPivLu().determinant(),
                 Fp(D.prod() * C.partialPivLu().determinant()), 2 * d);
  }
}
BOOST_AUTO_TEST_CASE(log_det_of_each_kind) {
  for (const Index d : {1, 2, 5, 11})
    for (const auto& g : metrics<quad>(d, 60)) {
      const quad det = g.dense().partialPivLu().determinant();
      verify(distance(g.log_det(), log(det)), agreement);
    }
  verify(std::abs(Metric<double>::scaled(4096, 1e-9).log_det() +
                  4096 * 9 * std::log(10.0)),
         4096 * 9 * std::log(10.0) * gamma(6, 0x1p-53));
}

// check that only metrics are metrics
BOOST_AUTO_TEST_CASE(refuses_what_is_no_metric) {
  using M = Metric<double>;
  const Matrix<double> zero = Matrix<double>::Zero(3, 3);
  const Matrix<double> one = Matrix<double>::Identity(3, 3);
  const Matrix<double> mixed{{1e-8, 0}, {0, -1e-8}};
  const Matrix<double> nan{{1, NAN}, {NAN, 1}}, skew{{1, 2, 0}, {2, 9, 1},
                                                     {0, 1.5, 9}};
  int refused = 0;
  for (const Matrix<double>& g : {zero, Matrix<double>(-1e-7 * one), mixed,
                                  nan, skew}) {
    try { M::full(g); } catch (const std::domain_error&) { ++refused; }
  }
  verify(std::abs(refused - 5), 0);
  BOOST_CHECK_EXCEPTION(M::full(skew), std::domain_error,
                        says("(2,1) and its mirror differ by 0.5"));
  BOOST_CHECK_EXCEPTION(M::full(mixed), std::domain_error,
                        says("pivot 1 is -1e-08"));
  BOOST_CHECK_EXCEPTION(M::full(gaussian<double>(2, 3, 1)),
                        std::invalid_argument, says("g is 2x3"));
}
BOOST_AUTO_TEST_CASE(names_the_first_pivot) {
  const auto refused = [](const Matrix<double>& g, const std::string& why) {
    BOOST_CHECK_EXCEPTION(Metric<double>::full(g), std::domain_error,
                          says("definite, pivot " + why));
  };
  refused(Matrix<double>::Ones(2, 2), "1 is 0");
  refused(Matrix<double>::Ones(3, 3), "1 is 0");
  refused(Matrix<double>{{-1, 0}, {0, 1}}, "0 is -1");
  refused(Matrix<double>{{1, 0}, {0, HUGE_VAL}}, "1 is inf");
}
BOOST_AUTO_TEST_CASE(every_deficient_rank_is_refused) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Index d = Index(2 + seed % 15), r = 1 + Index(seed / 15) % (d - 1);
    const Matrix<double> W = gaussian<double>(r, d, seed);
    wrong += diagnose<double>(W.transpose() * W).positive();
  }
  verify(wrong, 0);
}
BOOST_AUTO_TEST_CASE(units_do_not_matter) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index d = Index(1 + seed % 10);
    const Matrix<double> G = metrics<double>(d, seed).back().dense();
    Vector<double> unit = 10 * uniform<double>(d, 1, seed, "units");
    unit = (unit.array() * std::log(10.0)).exp();
    const Matrix<double> h = unit.asDiagonal() * G * unit.asDiagonal();
    const auto a = diagnose(G), b = diagnose(h);
    BOOST_TEST((b.positive() && b.symmetric));
    verify(std::abs(a.remainder - b.remainder), 1e-13);  // heuristic
  }
}
BOOST_AUTO_TEST_CASE(refuses_bad_structure) {
  using M = Metric<double>;
  const Vector<double> D{{1, -1, 2}}, one = Vector<double>::Ones(3);
  BOOST_CHECK_EXCEPTION(M::diagonal(D), std::domain_error, says("entry 1"));
  BOOST_CHECK_EXCEPTION(M::diagonal(0 * one), std::domain_error,
                        says("entry 0 is 0"));
  BOOST_CHECK_EXCEPTION(M::scaled(0), std::invalid_argument, says("d >= 1"));
  BOOST_CHECK_EXCEPTION(M::scaled(2, 0.0), std::domain_error, says("factor"));
  BOOST_CHECK_EXCEPTION(M::scaled(2, HUGE_VAL), std::domain_error, says("inf"));
  BOOST_CHECK_EXCEPTION(M::low_rank(one, Matrix<double>::Zero(1, 2)),
                        std::invalid_argument, says("U is 1x2"));
  BOOST_CHECK_EXCEPTION(M::low_rank(one, Matrix<double>{{0, NAN, 1}}),
                        std::domain_error, says("U is not finite"));
  BOOST_CHECK_EXCEPTION(M::identity(3).lower(Matrix<double>::Zero(2, 4)),
                        std::invalid_argument, says("lower: vectors have 4"));
}
BOOST_AUTO_TEST_CASE(refuses_bad_factors) {
  using M = Metric<double>;
  BOOST_CHECK_EXCEPTION(M::from_factor(Matrix<double>{{1, 0}, {NAN, 1}}),
                        std::domain_error, says("L(1,0)"));
  BOOST_CHECK_EXCEPTION(M::from_factor(Matrix<double>{{HUGE_VAL, 0}, {0, 1}}),
                        std::domain_error, says("L(0,0) is inf"));
  BOOST_CHECK_EXCEPTION(M::from_factor(Matrix<double>{{1, 2}, {0, 1}}),
                        std::domain_error, says("L(0,1)"));
  BOOST_CHECK_EXCEPTION(M::from_factor(Matrix<double>{{1, 0}, {3, 0}}),
                        std::domain_error, says("L(1,1) is 0"));
  BOOST_CHECK_EXCEPTION(M::from_factor(Matrix<double>::Ones(1, 2)),
                        std::invalid_argument, says("L is 1x2"));
}

// check lengths and angles
BOOST_AUTO_TEST_CASE(gram_determinant_is_a_square) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6);
    const auto g = symmetric_part<Fp>({gaussian<Fp>(d, d, seed, "g")});
    const Vector<Fp> u = gaussian<Fp>(d, 1, seed, "u");
    const Vector<Fp> v = gaussian<Fp>(d, 1, seed, "v");
    const Fp uu = inner(u, u, g), vv = inner(v, v, g), uv = inner(u, v, g);
    const Vector<Fp> w = vv * u - uv * v;  // g(v,v) (u - t v)
    verify_exact(vv * (uu * vv - uv * uv), inner(w, w, g), 9);
  }
}
BOOST_AUTO_TEST_CASE(cauchy_schwarz) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const auto& g : metrics<quad>(Index(2 + seed % 6), seed)) {
      const Vector<quad> u = gaussian<quad>(g.dim(), 1, seed, "u");
      const Vector<quad> v = gaussian<quad>(g.dim(), 1, seed, "v");
      verify(worse(0, to_double(abs(cosine(u, v, g))) - 1), agreement);
      Vector<quad> w = v - (inner(u, v, g) / inner(u, u, g)) * u;
      w *= norm(u, g) / norm(w, g);
      for (const quad t : {quad(0), quad(1e-6), quad(0.1), quad(3)})
        for (const quad sign : {quad(1), quad(-1)}) {
          const Vector<quad> x = sign * (u + t * w);
          verify(distance(cosine(u, x, g), sign / sqrt(1 + t * t)), agreement);
          verify(distance(cos(angle(u, x, g)), cosine(u, x, g)), agreement);
        }
    }
}
struct Angled {
  double error, bound;
};
Angled measure_angle(const Metric<double>& g, const Vector<double>& v,
                     const Vector<double>& w) {
  const Matrix<quad> G = lift<quad>(g.dense()), size = G.cwiseAbs();
  const Vector<double> a = v / norm(v, g), b = w / norm(w, g);
  double most = 0;

  // measure the cancellation in a length
  const auto mu = [&](const Vector<double>& x) {
    const Vector<quad> X = lift<quad>(x), y = X.cwiseAbs();
    const quad m = x.isZero(0) ? quad(0) : quad(y.dot(size * y) / X.dot(G * X));
    most = worse(most, to_double(m));
    return m;
  };
  const quad truth = angle<quad>(lift<quad>(v), lift<quad>(w),
                                 Metric<quad>::full(G));
  const quad sum = mu(v) + mu(w) + sin(truth / 2) * mu(a - b) +
                   cos(truth / 2) * mu(a + b);
  const double d = double(v.size()), u = 0x1p-53;
  BOOST_TEST(2 * d * u * most <= 0.1);  // the hypothesis
  return {distance(angle(v, w, g), truth), (3 * d + 11) * u * to_double(sum)};
}
BOOST_AUTO_TEST_CASE(angles_in_any_metric) {
  double generic = 0, weak = 0;
  for (const double e : {1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12})
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const auto g = Metric<double>::full(
          Matrix<double>{{1, 1 - e}, {1 - e, 1}});
      const Vector<double> u = gaussian<double>(2, 1, seed, "u");
      const Vector<double> v = gaussian<double>(2, 1, seed, "v");
      const Vector<double> w{{1, -1 + 1e-3 * u(0)}}, near = u + 1e-5 * v;
      const auto apart = measure_angle(g, u, v), thin = measure_angle(g, w, v),
                 close = measure_angle(g, u, near);
      for (const auto& x : {apart, thin, close}) verify(x.error, x.bound);
      if (e > 1e-12) continue;
      generic = std::max(generic, apart.error * 0x1p53);
      weak = std::max(weak, thin.error * 0x1p53);
    }
  fact("generic", generic, 2), fact("weak", weak, 2);
}
BOOST_AUTO_TEST_CASE(angles_in_random_metrics) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = Index(2 + seed % 8);
    const Matrix<double> X = gaussian<double>(d, d, seed, "basis");
    Vector<double> s(d);
    for (Index a = 0; a < d; ++a)
      s(a) = std::pow(10, -double(seed % 12) * double(a) / double(d - 1));
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(X);
    const Eigen::MatrixXd T = qr.householderQ();
    const Matrix<double> g = T * s.asDiagonal() * T.transpose();
    const auto x = measure_angle(
        Metric<double>::full((g + g.transpose()) / 2),
        gaussian<double>(d, 1, seed, "u"), gaussian<double>(d, 1, seed, "v"));
    verify(x.error, x.bound);
  }
}
BOOST_AUTO_TEST_CASE(small_angles) {
  double worst = 0, naive = 0;
  const auto g = Metric<double>::diagonal(Vector<double>{{4, 1, 0.25}});
  const auto h = Metric<quad>::diagonal(Vector<quad>{{4, 1, 0.25}});
  for (const double t : {1.0, 1e-3, 1e-6, 1e-8, 1e-9}) {
    const Vector<double> u{{1, 2, 3}}, v{{1, 2 + t, 3}};
    const quad truth = angle<quad>(lift<quad>(u), lift<quad>(v), h);
    const auto off = [&](double x) { return to_double(abs(quad(x) - truth)); };
    naive = std::max(naive, off(std::acos(std::min(1.0, cosine(u, v, g)))));
    worst = std::max(worst, off(angle(u, v, g)));
    verify(off(angle(u, v, g)), 20 * (2 + std::sqrt(2.0)) * 0x1p-53);
  }
  fact("acos", naive, 2);
  fact("kahan", worst, 2);
  const Vector<double> zero = Vector<double>::Zero(3), one{{1, 1, 1}};
  for (const auto& [u, v] : {std::pair(zero, one), std::pair(one, zero)}) {
    BOOST_CHECK_EXCEPTION(angle(u, v, g), std::domain_error,
                          says("angle: a vector of length zero"));
    BOOST_CHECK_EXCEPTION(cosine(u, v, g), std::domain_error,
                          says("cosine: a vector of length zero"));
  }
}
BOOST_AUTO_TEST_SUITE_END()
