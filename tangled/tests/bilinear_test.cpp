// tests/bilinear_test.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/attention.hpp"
#include "attn/autodiff.hpp"
#include "attn/form.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "metrics.hpp"
#include <algorithm>
#include <numeric>
using namespace attn;
BOOST_AUTO_TEST_SUITE(bilinear)

// check that the pairing needs no basis
BOOST_AUTO_TEST_CASE(pairing_is_invariant) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 8);
    const Basis<Fp> b(gaussian<Fp>(d, d, seed, "P"));
    const Tensor<Fp, dn> u(gaussian<Fp>(d, 1, seed, "u").col(0));
    const Tensor<Fp, up> v(gaussian<Fp>(d, 1, seed, "v").col(0));
    const Fp before = eq<"s = u_a v^a">(u, v);  // eq:pairing
    const Fp after = eq<"s = u_a v^a">(b.covector(u), b.vector(v));
    verify_exact(before, after, d + 2);
  }
}

// check bilinearity in both slots
BOOST_AUTO_TEST_CASE(linear_in_both_slots) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index m = Index(1 + seed % 5), n = Index(1 + seed % 7);
    const Bilinear<Fp> B{gaussian<Fp>(m, n, seed, "B")};
    const Matrix<Fp> U = gaussian<Fp>(m, 2, seed, "U");
    const Matrix<Fp> W = gaussian<Fp>(n, 2, seed, "W");
    const Vector<Fp> c = gaussian<Fp>(2, 1, seed, "c");
    const auto b = [&](Index i, Index j) {
      return inner<Bilinear<Fp>>(U.col(i), W.col(j), B);
    };
    verify_exact(inner<Bilinear<Fp>>(U * c, W.col(0), B),
                 c(0) * b(0, 0) + c(1) * b(1, 0), 4);
    verify_exact(inner<Bilinear<Fp>>(U.col(0), W * c, B),
                 c(0) * b(0, 0) + c(1) * b(0, 1), 4);
  }
}
BOOST_AUTO_TEST_CASE(loops_agree_with_gemm) {
  for (const auto& [m, n] : {std::pair{3, 5}, {5, 3}, {1, 4}, {4, 4}}) {
    const Bilinear<Fp> B{gaussian<Fp>(m, n, 7)};
    const Vector<Fp> u = gaussian<Fp>(m, 1, 8), w = gaussian<Fp>(n, 1, 9);
    Fp sum(0);
    for (Index a = 0; a < m; ++a)
      for (Index b = 0; b < n; ++b) sum += u(a) * B.M(a, b) * w(b);
    verify_exact(inner(u, w, B), sum, 3);
  }
}

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
Angled measure_angle(const Metric<double>& g, const Vector<double>& u,
                     const Vector<double>& v) {
  const Matrix<quad> G = lift<quad>(g.dense()), size = G.cwiseAbs();
  const auto h = Metric<quad>::full(G);
  const Vector<quad> U = lift<quad>(u), V = lift<quad>(v);
  const quad truth = angle(U, V, h);
  const Vector<quad> a = U / norm(U, h), b = V / norm(V, h);
  double most = 0;
  const auto mu = [&](const Vector<quad>& x) {
    const Vector<quad> y = x.cwiseAbs();
    const quad m = y.dot(size * y) / x.dot(G * x);
    most = worse(most, to_double(m));
    return m;
  };
  const quad sum = mu(a) + mu(b) + sin(truth / 2) * mu(a - b) +
                   cos(truth / 2) * mu(a + b);
  const double d = double(u.size()), unit = 0x1p-53;
  verify(2 * d * unit * most, 0.1);  // the hypothesis
  return {distance(angle(u, v, g), truth),
          (3 * d + 8) * unit * to_double(sum)};
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
    verify(off(angle(u, v, g)), 17 * (2 + std::sqrt(2.0)) * 0x1p-53);
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

// check the change of basis
BOOST_AUTO_TEST_CASE(scores_are_invariant) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 8);
    const Basis<Fp> b(gaussian<Fp>(d, d, seed, "P"));
    const Tensor<Fp, dn, dn> g(gaussian<Fp>(d, d, seed, "g"));
    const Tensor<Fp, up> u(gaussian<Fp>(d, 1, seed, "u").col(0));
    const Tensor<Fp, up> v(gaussian<Fp>(d, 1, seed, "v").col(0));
    const auto score = [](const auto& x, const auto& f, const auto& y) {
      return Fp(eq<"s = u^a g_{ab} v^b">(x, f, y));
    };
    verify_exact(score(u, g, v),
                 score(b.vector(u), b.form(g), b.vector(v)), 2 * d + 3);
  }
}
BOOST_AUTO_TEST_CASE(congruence_keeps_metrics) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6);
    const auto g = metrics<quad>(d, seed).back();
    const Basis<quad> b(gaussian<quad>(d, d, seed, "P"));
    const auto h = Metric<quad>::full(b.form({g.dense()}).mat());
    const quad volume = abs(b.P.partialPivLu().determinant());
    verify(distance(h.log_det(), g.log_det() + 2 * log(volume)), agreement);
    const Matrix<quad> inv = b.R * g.inverse() * b.R.transpose();
    verify(distance(h.inverse(), inv) / largest(inv), agreement);
  }
}

// check the gradients of learned forms
template <class S>
Matrix<S> pullback_gradient_by_tape(const Matrix<S>& W, const Matrix<S>& dg) {
  return gradient([&](const Matrix<Var<S>>& w) {
    Var<S> loss(S(0));
    for (Index a = 0; a < dg.rows(); ++a)
      for (Index b = 0; b < dg.cols(); ++b)
        for (Index r = 0; r < w.rows(); ++r)
          loss += Var<S>(dg(a, b)) * w(r, a) * w(r, b);
    return loss;
  }, W);
}
BOOST_AUTO_TEST_CASE(gradient_of_pullback) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6), r = Index(1 + seed % 4);
    const Matrix<quad> W = gaussian<quad>(r, d, seed, "W");
    const Matrix<quad> dg = gaussian<quad>(d, d, seed, "dg");
    const Matrix<quad> dW = pullback_vjp(W, dg);
    verify(distance(dW, pullback_gradient_by_tape(W, dg)), agreement);
  }
}
BOOST_AUTO_TEST_CASE(pullback_vjp_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 6), r = Index(1 + seed % 4);
    const Matrix<Fp> W = gaussian<Fp>(r, d, seed, "W");
    const Matrix<Fp> dg = gaussian<Fp>(d, d, seed, "dg");
    verify_exact(pullback_vjp(W, dg), pullback_gradient_by_tape(W, dg), 2);
  }
  const Matrix<double> W(1, 2);
  for (const auto& dg : {Matrix<double>(2, 3), Matrix<double>(3, 2)})
    BOOST_CHECK_EXCEPTION(pullback_vjp(W, dg), std::invalid_argument,
                          says("but W is 1x2"));
}
BOOST_AUTO_TEST_CASE(gradient_of_parameters) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 4);
    const Matrix<quad> Q = gaussian<quad>(3, d, seed, "Q");
    const Matrix<quad> K = gaussian<quad>(2, d, seed, "K");
    const Matrix<quad> dS = gaussian<quad>(3, 2, seed, "dS");
    const Matrix<quad> T = gaussian<quad>(d, d, seed, "Theta");
    const Matrix<quad> dT = gradient([&](const Matrix<Var<quad>>& t) {
      using V = Var<quad>;
      const Matrix<V> L = factor_from_parameters(t);
      const Bilinear<V> g{L * L.transpose()};
      const Matrix<V> S = scores(Q.cast<V>(), K.cast<V>(), g);
      return V(S.cwiseProduct(dS.cast<V>()).sum());
    }, T);
    const Matrix<quad> dg =
        eq<R"(\bar g^{ab} = Q^{ia} \bar S_{ij} K^{jb})">(  // eq:metric-gradient
            view<up, up>(Q), view<dn, dn>(dS), view<up, up>(K)).mat();
    verify(distance(dT, parameters_vjp(T, dg)) / largest(dT), agreement);
  }
}
BOOST_AUTO_TEST_CASE(parameters_are_a_chart) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 7);
    const Matrix<quad> T =
        gaussian<quad>(d, d, seed).triangularView<Eigen::Lower>();
    const Matrix<quad> L = factor_from_parameters(T);
    const Matrix<quad> g = L * L.transpose();
    verify(distance(parameters_of(g), T), agreement);
    const auto made = Metric<quad>::from_factor(L);
    verify(distance(made.log_det(), 2 * T.diagonal().sum()), agreement);
    verify(distance(made.lower(made.raise(L)), L) / largest(L), agreement);
  }
  BOOST_CHECK_EXCEPTION(factor_from_parameters(gaussian<double>(2, 3, 1)),
                        std::invalid_argument, says("Theta is 2x3"));
}
BOOST_AUTO_TEST_CASE(every_metric_has_parameters) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const auto& drawn : metrics<quad>(Index(1 + seed % 7), seed)) {
      const Matrix<quad> g = drawn.dense(), T = parameters_of(g);
      const Matrix<quad> upper = T.triangularView<Eigen::StrictlyUpper>();
      verify(largest(upper), 0);
      const Matrix<quad> L = factor_from_parameters(T);
      verify(distance(L * L.transpose(), g) / largest(g), agreement);
    }
}

// check the pull-back
BOOST_AUTO_TEST_CASE(pullback_measures_images) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6), r = Index(1 + seed % 4);
    const Matrix<Fp> W = gaussian<Fp>(r, d, seed, "W");
    const Matrix<Fp> one = Matrix<Fp>::Identity(r, r);
    const Vector<Fp> u = gaussian<Fp>(d, 1, seed, "u");
    const Vector<Fp> v = gaussian<Fp>(d, 1, seed, "v");
    const auto w = view<up, dn>(W);
    const auto g = eq<"g_{ab} = W^r{}_a h_{rs} W^s{}_b">(  // eq:pullback
        w, view<dn, dn>(one), w);
    const Fp images = (W * u).dot(W * v);
    verify_exact(inner(u, v, Pullback<Fp>{W}), images, 4);
    verify_exact(inner(u, v, Bilinear<Fp>{g.mat()}), images, 4);
  }
}
BOOST_AUTO_TEST_CASE(pullback_is_only_semidefinite) {
  const Matrix<double> W = gaussian<double>(2, 4, 1);
  const Matrix<double> g = W.transpose() * W, inv = g.inverse();
  const Matrix<double> v = gaussian<double>(1, 4, 2);
  fact("entry", inv.cwiseAbs().maxCoeff(), 2);
  fact("raised", (v * g * inv - v).norm() / v.norm(), 2);
  refute(diagnose(g).positive() ? 0 : HUGE_VAL, 1);
  refute((v * g * inv - v).norm() / v.norm(), 0.01);
  const auto h = Metric<quad>::low_rank(Vector<quad>::Constant(4, quad(0.01)),
                                        lift<quad>(W));
  const Matrix<quad> w = lift<quad>(v);
  verify(distance(h.raise(h.lower(w)), w), agreement);
  const auto wide = gaussian<double>(4, 4, 3);
  verify(diagnose<double>(wide.transpose() * wide).positive() ? 0 : 1, 0);
}

// check the errata on forms
BOOST_AUTO_TEST_CASE(erratum_01) {
  const Matrix<quad> two = 2 * Matrix<quad>::Identity(3, 3);
  const Basis<quad> b(two + gaussian<quad>(3, 3, 1, "P"));
  const Matrix<quad> X = gaussian<quad>(3, 2, 1, "vectors");
  const Tensor<quad, up> u(X.col(0)), v(X.col(1));
  const Tensor<quad, dn> w(X.col(0));
  const auto sum = [](const auto& x, const auto& y) {
    return to_double(x.vec().dot(y.vec()));
  };
  const double moved =
      std::abs(sum(b.vector(u), b.vector(v)) - sum(u, v));
  fact("moved", moved, 3);
  refute(moved, 0.1);
  verify(std::abs(sum(b.covector(w), b.vector(v)) - sum(w, v)), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_02) {
  const Matrix<quad> two = 2 * Matrix<quad>::Identity(3, 3);
  const Basis<quad> onV(two + gaussian<quad>(3, 3, 1, "basis of V")),
      onW(two + gaussian<quad>(3, 3, 1, "basis of W"));
  const Matrix<quad> B = gaussian<quad>(3, 3, 1, "B");
  const Matrix<quad> moved = onV.P.transpose() * B * onW.P;
  const Matrix<quad> v = gaussian<quad>(3, 2, 1, "in V");
  const Matrix<quad> w = gaussian<quad>(3, 2, 1, "in W");
  const Matrix<quad> v2 = onV.R * v, w2 = onW.R * w;
  const auto at = [](const Matrix<quad>& M, const Vector<quad>& x,
                     const Vector<quad>& y) {
    return inner<Bilinear<quad>>(x, y, {M});
  };
  const double gap =
      distance(at(B, v.col(0), 2 * v.col(1) + 3 * w.col(1)),
               at(moved, v2.col(0), 2 * v2.col(1) + 3 * w2.col(1)));
  fact("moved", gap, 3);
  refute(gap, 0.1);
  const quad sum = at(B, v.col(0), 2 * w.col(0) + 3 * w.col(1));
  verify(distance(sum, at(moved, v2.col(0), 2 * w2.col(0) + 3 * w2.col(1))),
         agreement);
  verify(distance(sum, 2 * at(B, v.col(0), w.col(0)) +
                           3 * at(B, v.col(0), w.col(1))), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_02b) {
  const Matrix<quad> U = gaussian<quad>(8, 4, 1, "U");
  const Matrix<quad> W = gaussian<quad>(8, 4, 1, "W");
  const Vector<quad> x = gaussian<quad>(8, 1, 3);
  const Vector<quad> q = gaussian<quad>(4, 1, 4), k = gaussian<quad>(4, 1, 5);
  const auto additive = [&](const Vector<quad>& a) {
    const Vector<quad> h = U * a + W * k;
    return to_double(x.dot(h.unaryExpr([](const quad& t) {
      return quad(tanh(t)); })));
  };
  const double one = additive(q), two = additive(2 * q);
  fact("defect", std::abs(two - 2 * one) / std::abs(2 * one), 2);
  refute(std::abs(two - 2 * one) / std::abs(2 * one), 0.1);
  const Bilinear<quad> general{gaussian<quad>(4, 4, 6)};
  verify(to_double(abs(inner<Bilinear<quad>>(2 * q, k, general) -
                       2 * inner(q, k, general))), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_04) {
  const Matrix<quad> W = gaussian<quad>(4, 4, 1);
  const Matrix<quad> one = Matrix<quad>::Identity(4, 4);
  const auto printed = eq<"g_{ab} = W_a{}^c W_{cb}">(  // eq:none
      view<dn, up>(W), view<dn, dn>(W));
  const Matrix<quad> p = printed.mat(), pt = p.transpose();
  const double skew = to_double((p - pt).norm() / p.norm());
  fact("skew", skew, 2);
  refute(skew, 0.01);
  const auto g = eq<"g_{ab} = W^r{}_a h_{rs} W^s{}_b">(
      view<up, dn>(W), view<dn, dn>(one), view<up, dn>(W));
  verify(to_double((g.mat() - W.transpose() * W).norm()), agreement);
}

// check the answers on forms
BOOST_AUTO_TEST_CASE(answer_scaled_metric) {
  const auto g = Metric<double>::scaled(3, 2), h = Metric<double>::scaled(3, 8);
  const Vector<double> u = gaussian<double>(3, 1, 1, "u");
  const Vector<double> v = gaussian<double>(3, 1, 1, "v");
  verify(std::abs(angle(u, v, g) - angle(u, v, h)), 0);
  verify(std::abs(norm(u, h) - 2 * norm(u, g)), 0);
}
BOOST_AUTO_TEST_CASE(answer_odd_dimension) {
  for (const Index d : {1, 3, 5, 7}) {
    const Bilinear<Fp> B{gaussian<Fp>(d, d, 1)};
    const Matrix<Fp> W = antisymmetric_part(B).M;
    Fp sum(0);  // Leibniz's formula: no pivots to divide by
    std::vector<Index> p(static_cast<std::size_t>(d));
    std::iota(p.begin(), p.end(), Index(0));
    do {
      Fp term(1);
      for (Index a = 0; a < d; ++a) {
        const Index pa = p[std::size_t(a)];
        term *= W(a, pa);
        for (Index b = 0; b < a; ++b)
          if (p[std::size_t(b)] > pa) term = Fp(0) - term;
      }
      sum += term;
    } while (std::ranges::next_permutation(p).found);
    verify_exact(sum, Fp(0), d);
  }
}
BOOST_AUTO_TEST_CASE(answer_dimension_of_pullbacks) {
  for (const auto& [r, d] : {std::pair{1, 4}, {2, 4}, {3, 5}, {4, 4}}) {
    const Matrix<double> W = gaussian<double>(r, d, 5);
    Matrix<double> J(r * d, d * d);  // dg for each entry of W
    for (Index k = 0; k < r * d; ++k) {
      Matrix<double> dW = Matrix<double>::Zero(r, d);
      dW(k / d, k % d) = 1;
      const Matrix<double> dg = dW.transpose() * W + W.transpose() * dW;
      J.row(k) = dg.reshaped<Eigen::RowMajor>().transpose();
    }
    const Index rank = Eigen::FullPivLU<Matrix<double>>(J).rank();
    verify(std::abs(double(rank - (r * d - r * (r - 1) / 2))), 0);
    const Matrix<quad> w = lift<quad>(W), kernel = w.fullPivLu().kernel();
    if (r < d) verify(largest(w * kernel), agreement);
  }
}
BOOST_AUTO_TEST_CASE(answer_count_of_forms) {
  for (const auto& [D, d] : {std::pair{4, 1}, {5, 2}, {4, 3}, {3, 3}}) {
    const Matrix<double> U = gaussian<double>(D, d, 1, "U");
    const Matrix<double> V = gaussian<double>(D, d, 1, "V");
    Matrix<double> J(2 * D * d, D * D);  // d(U V^T) for each entry
    for (Index k = 0; k < D * d; ++k) {
      Matrix<double> e = Matrix<double>::Zero(D, d);
      e(k / d, k % d) = 1;
      const Matrix<double> left = e * V.transpose(), right = U * e.transpose();
      J.row(k) = left.reshaped<Eigen::RowMajor>().transpose();
      J.row(D * d + k) = right.reshaped<Eigen::RowMajor>().transpose();
    }
    const Index rank = Eigen::FullPivLU<Matrix<double>>(J).rank();
    verify(std::abs(double(rank - (2 * D * d - d * d))), 0);
  }
}
BOOST_AUTO_TEST_CASE(answer_polarisation) {
  const Matrix<Fp> M = gaussian<Fp>(4, 4, 1, "M"), Mt = M.transpose();
  const Vector<Fp> u = gaussian<Fp>(4, 1, 1, "u");
  const Vector<Fp> v = gaussian<Fp>(4, 1, 1, "v");
  const auto q = [&](const Vector<Fp>& x) {
    return inner<Bilinear<Fp>>(x, x, {M});
  };
  verify_exact(q(u) + q(v) - q(u - v), inner<Bilinear<Fp>>(u, v, {M + Mt}), 3);
}
BOOST_AUTO_TEST_CASE(answer_wide_heads) {
  const std::uint64_t draws = 2000;
  const auto positive = [](Index D, Index d, std::uint64_t seed) {
    const HeadForm<double> h{gaussian<double>(D, d, seed, "W_Q"),
                             gaussian<double>(D, d, seed, "W_K")};
    return signature(h.dense()).positive;
  };
  int two = 0, even = 0, three = 0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    two += positive(3, 2, seed) == 2;
    even += positive(4, 3, seed) == 2;
    three += positive(4, 3, seed) == 3;
  }
  const double n = double(draws), error = 4 * std::sqrt(0.25 / n);
  verify(std::abs(two / n - 0.5), error);
  verify(std::abs(three / n - (1 - even / n) / 2), error);
  fact("even", even / n, 2);
}
BOOST_AUTO_TEST_CASE(answer_balanced_gauge) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<double> U = gaussian<double>(6, 3, seed, "U");
    const Matrix<double> V = gaussian<double>(6, 3, seed, "V");
    const Matrix<double> M = U * V.transpose();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(
        M, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Vector<double> s = svd.singularValues().head(3);
    const Matrix<double> root = s.cwiseSqrt().asDiagonal();
    const Matrix<double> X = svd.matrixU().leftCols(3) * root;
    const Matrix<double> Y = svd.matrixV().leftCols(3) * root;
    const double least = (X.squaredNorm() + Y.squaredNorm()) / 2;
    const double tolerance = 1000 * 0x1p-53 * s.sum();  // heuristic
    verify(largest(X * Y.transpose() - M), tolerance);
    verify(largest(X.transpose() * X - Y.transpose() * Y), tolerance);
    verify(std::abs(least - s.sum()), tolerance);
    refute((U.squaredNorm() + V.squaredNorm()) / 2 - least, tolerance);
  }
}
struct OnesMetric {
  using scalar = quad;
  Index d;
  quad alpha;
  Index rows() const { return d; }
  Index cols() const { return d; }
  Matrix<quad> add(const Matrix<quad>& v, const quad& c) const {
    const Vector<quad> s = c * v.rowwise().sum();
    return v + s * Matrix<quad>::Ones(1, d);
  }
  Matrix<quad> lower(const Rows<quad>& v) const { return add(v, alpha); }
  Matrix<quad> raise(const Rows<quad>& v) const {
    return add(v, -alpha / (1 + alpha * quad(d)));
  }
};
BOOST_AUTO_TEST_CASE(answer_ones_metric) {
  static_assert(Form<OnesMetric>);
  const OnesMetric g{6, quad(-0.1)};
  const Matrix<quad> v = gaussian<quad>(2, 6, 1);
  verify(distance(g.raise(g.lower(v)), v), agreement);
  const Matrix<quad> one = Matrix<quad>::Identity(6, 6);
  BOOST_TEST(diagnose<quad>(g.lower(one)).positive());
  const Matrix<quad> h = OnesMetric{6, quad(-0.2)}.lower(one);
  BOOST_TEST(!diagnose<quad>(h).positive());
  verify(signature(Bilinear<quad>{h}) == Signature{5, 1, 0} ? 0 : 1, 0);
}
BOOST_AUTO_TEST_SUITE_END()
