// tests/thermodynamics_test.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/field.hpp"
#include "printed.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(gibbs)

// check energies against their definition
BOOST_AUTO_TEST_CASE(free_energy_splits) {
  const double u = unit_roundoff<quad>();
  for_rows(3, [&](const Matrix<double>& S, double T) {
    const double x = S.cwiseAbs().maxCoeff() / T;
    if (x > 5000) return;
    const Matrix<quad> s = lift<quad>(S.row(0));
    const Printed p = printed(s, T);
    const double n = double(s.cols());
    const double bound = u * T * (1 + x) * (8 * x + 4 * n + 16);
    verify(distance(free_energy(s, quad(T))(0), p.U - T * p.H), bound);
    verify(distance(free_energy(s, quad(T))(0), -T * p.logZ), bound);
    verify(distance(expected_energy(s, quad(T))(0), p.U), bound);
  });
}
BOOST_AUTO_TEST_CASE(mean_score_as_equation) {
  const Matrix<quad> S = gaussian<quad>(4, 6, 3), A = attn::gibbs(S, quad(2));
  const auto M = eq<R"(M^{(i)} = A^{(i)}{}_j S^{(i)j})">(  // eq:mean-score
      view<up, dn>(A), view<up, up>(S));
  for (Index i = 0; i < 4; ++i)
    verify(distance(-M(i), expected_energy(S, quad(2))(i)), 1e-32);
  verify(distance(expected_energy(S), expected_energy(S, quad(1))), 0);
}

// check the variational principle
BOOST_AUTO_TEST_CASE(variational_identity) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index n = Index(1 + seed % 8);
    const quad T = quad(double(1 + seed % 5)) / 3;
    const Matrix<quad> s = gaussian<quad>(1, n, seed);
    const Matrix<quad> q =
        attn::gibbs(gaussian<quad>(1, n, seed + 1000), quad(0.5));
    const quad excess = T * kl(q, attn::gibbs(s, T))(0);
    verify(distance(free_energy_of(q, s, T) - free_energy(s, T)(0), excess),
           1e-31);
    if (n > 1) BOOST_TEST(excess > 0);
  }
}
BOOST_AUTO_TEST_CASE(kl_is_positive) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Matrix<double> S = gaussian<double>(2, 5, seed);
    const Matrix<double> p = attn::gibbs(S);
    const Matrix<double> q = attn::gibbs(S + 1e-6 * S.cwiseProduct(S));
    verify(std::max(-kl(q, p).minCoeff(), 0.0), 2 * unit_roundoff<double>());
    verify(largest(kl(p, p)), 0);
    const Matrix<quad> s = lift<quad>(S), t = lift<quad>(q).array().log();
    BOOST_TEST(kl(attn::gibbs(t), attn::gibbs(s))(0) > 0);
  }
  const RowVector<double> p{{1, 0}}, q{{0.5, 0.5}};
  BOOST_TEST(kl(q, p)(0) == std::numeric_limits<double>::infinity());
  verify(std::abs(kl(p, q)(0) - std::log(2.0)), 0x1p-52);
  verify(std::abs(kl(RowVector<double>(0 * q), q)(0) - 1), 0);
  BOOST_CHECK_EXCEPTION(kl(p, Matrix<double>(2, 2)), std::invalid_argument,
                        says("kl: q is 1x2 but p is 2x2"));
  BOOST_CHECK_EXCEPTION(kl(p, RowVector<double>(3)), std::invalid_argument,
                        says("kl: q is 1x2 but p is 1x3"));
  BOOST_TEST(kl(p, q).size() == 1);
}
BOOST_AUTO_TEST_CASE(kl_in_double) {
  for_rows(3, [](const Matrix<double>& S, double T) {
    const Matrix<double> q = attn::gibbs(S.row(0), T);
    const Matrix<double> p = attn::gibbs(S.row(1), 10 * T);
    if (!(p.minCoeff() > 1e-290)) return;
    quad truth(0);
    double bound = 0;
    for (Index j = 0; j < q.size(); ++j) {
      const quad qj(q(j)), pj(p(j));
      truth += xlogx(qj) - qj * log(pj) + pj - qj;
      const double l = q(j) > 0 ? std::abs(std::log(q(j) / p(j))) : 0;
      const double d = std::abs(p(j) - q(j));
      bound += q(j) * (1 + 4 * l) + 2 * d + double(q.size()) * (q(j) * l + d);
    }
    verify(distance(kl(q, p)(0), truth),
           1.01 * unit_roundoff<double>() * bound);
  });
}

// check the duality
BOOST_AUTO_TEST_CASE(gradient_of_the_potential) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(2, Index(1 + seed % 6), seed);
    const double T = 0.3 * double(1 + seed % 4);
    const Matrix<quad> A = gradient(
        [&](const auto& X) {
          using S = typename std::decay_t<decltype(X)>::Scalar;
          const Vector<S> F = free_energy(X, S(T));
          return S(-(F(0) + F(1)));
        },
        s);
    verify(distance(A, attn::gibbs(s, quad(T))), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(fenchel_young_gap) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 5, seed);
    const Matrix<quad> q = attn::gibbs(gaussian<quad>(1, 5, seed + 99));
    const quad T = quad(double(seed)) / 10, psi = T * log_partition(s, T)(0);
    const quad gap3 = psi + legendre_dual(q, T)(0) -
                      quad((q.array() * s.array()).sum());
    verify(distance(fenchel_young(s, q, T)(0), gap3), 1e-31);
    verify(distance(gap3, T * kl(q, attn::gibbs(s, T))(0)), 1e-31);
    verify(distance(fenchel_young(s, attn::gibbs(s, T), T)(0), quad(0)), 1e-31);
  }
  const RowVector<double> far{{0, -2000}}, q{{0, 1}};
  verify(std::abs(fenchel_young(far, q)(0) - 2000), 0);
  BOOST_TEST(legendre_dual(RowVector<double>{{0.7, 0.7}})(0) == HUGE_VAL);
  const RowVector<double> half{{0.5, 0.5}};
  verify(std::abs(legendre_dual(half)(0) + std::log(2.0)), 0x1p-53);
  BOOST_CHECK_EXCEPTION(legendre_dual(half, 0.0), std::domain_error,
                        says("legendre_dual"));
  BOOST_CHECK_EXCEPTION(fenchel_young(Matrix<double>(1, 3), half),
                        std::invalid_argument, says("1x3 but q is 1x2"));
}

// check the response of weights
BOOST_AUTO_TEST_CASE(jacobian_is_covariance) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Index n = Index(1 + seed % 6);
    const Matrix<quad> s = gaussian<quad>(1, n, seed);
    const quad T = quad(double(seed)) / 6;
    const Matrix<quad> A = attn::gibbs(s, T), J = softmax_jacobian(A, T);
    for (Index k = 0; k < n; ++k) {
      Matrix<Dual<quad>> x = lift<Dual<quad>>(s);
      x(k) = Dual<quad>(s(k), quad(1));
      const Matrix<Dual<quad>> y = attn::gibbs(x, Dual<quad>(T));
      for (Index j = 0; j < n; ++j) verify(distance(y(j).d, J(j, k)), 1e-31);
    }
    const Vector<quad> dA = gaussian<quad>(n, 1, seed + 50);
    const auto dS = eq<R"(\bar S_j = J_{jk} \bar A^k)">(  // eq:vjp
        view<dn, dn>(J), view<up>(dA));
    const Matrix<quad> fast = softmax_vjp(A, dA.transpose(), T);
    for (Index j = 0; j < n; ++j) verify(distance(dS(j), fast(j)), 1e-31);
    verify(distance(fast.sum(), quad(0)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(jacobian_over_a_field) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<Fp> raw = uniform<Fp>(2, 7, seed);
    const Matrix<Fp> a = raw.row(0) / raw.row(0).sum(), dA = raw.row(1);
    const Fp T = uniform<Fp>(1, 1, seed + 9)(0);
    const Matrix<Fp> J = softmax_jacobian(a, T);
    verify_exact(Matrix<Fp>(dA * J), softmax_vjp(a, dA, T), 3);
    verify_exact(J, Matrix<Fp>(J.transpose()), 2);
    verify_exact(Vector<Fp>(J.rowwise().sum()), Vector<Fp>(Vector<Fp>::Zero(7)),
                 2);
  }
}
BOOST_AUTO_TEST_CASE(refuses_what_has_no_response) {
  const Matrix<double> A{{1, 0}, {0, 1}}, row{{1, 0}};
  using shapes = std::invalid_argument;
  BOOST_CHECK_EXCEPTION(softmax_jacobian(A), shapes, says("A is 2x2, not one"));
  BOOST_CHECK_EXCEPTION(softmax_vjp(A, row), shapes, says("2x2 but dA is 1x2"));
  BOOST_CHECK_EXCEPTION(softmax_jacobian(row, 0.0), std::domain_error,
                        says("softmax_jacobian"));
  BOOST_CHECK_EXCEPTION(softmax_vjp(A, A, -1.0), std::domain_error,
                        says("softmax_vjp"));
}
BOOST_AUTO_TEST_CASE(response_to_temperature) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, Index(1 + seed % 7), seed);
    const quad T = quad(double(seed)) / 8, C = heat_capacity(s, T)(0);
    const Matrix<Dual<quad>> x = lift<Dual<quad>>(s);
    const Dual<quad> t(T, quad(1));
    verify(distance(expected_energy(x, t)(0).d, C), 1e-30);
    verify(distance(gibbs_entropy(x, t)(0).d, C / T), 1e-30);
    verify(distance(free_energy(x, t)(0).d, -gibbs_entropy(s, T)(0)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(response_of_entropy) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 5, seed);
    const quad T = quad(double(seed)) / 5, mean = -expected_energy(s, T)(0);
    const Matrix<quad> dH = gradient(
        [&](const auto& X) {
          using S = typename std::decay_t<decltype(X)>::Scalar;
          return S(gibbs_entropy(X, S(T))(0));
        },
        s);
    const Matrix<quad> A = attn::gibbs(s, T);
    const Matrix<quad> formula =
        -A.array() * (s.array() - mean) / (T * T);
    verify(distance(dH, formula), 1e-28);
  }
}

// check the heat capacity
BOOST_AUTO_TEST_CASE(schottky_peak) {
  const Matrix<quad> s = lift<quad>(Matrix<double>{{2, 1, 0}});
  const auto slope = [&](const quad& T) {
    return derivative(
        [&](const auto& t) {
          using S = std::decay_t<decltype(t)>;
          return S(heat_capacity(lift<S>(s), t)(0));
        },
        T);
  };
  quad low(0.3), high(1);
  for (int k = 0; k < 110; ++k)
    (slope((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
  verify(distance(slope(low), quad(0)), 1e-30);
  fact("T", to_double(low));
  fact("C", to_double(heat_capacity(s, low)(0)), 4);
  quad area(0);
  const double h = 0.05;
  for (double t = -6; t <= 16; t += h)
    area += h * heat_capacity(s, quad(std::exp(t)))(0);
  verify(distance(area, log(quad(3))), 1e-13);
}
BOOST_AUTO_TEST_CASE(heat_capacity_in_double) {
  for_rows(5, [](const Matrix<double>& S, double T) {
    const Matrix<quad> s = lift<quad>(S.row(0));
    const RowVector<double> A = lift<double>(attn::gibbs(s, quad(T)));
    const RowVector<double> x = (S.row(0).maxCoeff() - S.row(0).array()) / T;
    const double mean = A.dot(x), second = A.dot(x.cwiseProduct(x));
    const double n = double(s.cols());
    const double slip = 2 * second + 2 * mean * mean + (n + 6) * mean + 2;
    double bound = n * 1e9 * std::numeric_limits<double>::denorm_min();
    for (Index j = 0; j < x.size(); ++j) {
      const double y = std::abs(x(j) - mean);
      if (A(j) == 0) continue;
      bound += 0x1.03p-53 * A(j) * (y * y * (2 * x(j) + 2 * mean + 2 * n + 12) +
                                2 * y * (2 * x(j) + slip + y));
    }
    verify(distance(heat_capacity(S, T)(0), heat_capacity(s, quad(T))(0)),
           bound);
  });
}

// check the Lipschitz constant
BOOST_AUTO_TEST_CASE(half_lipschitz) {
  double largest = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const double width = 0.01 * double(1 + seed % 40);
    Matrix<double> s =
        -30 * width * uniform<double>(1, Index(2 + seed % 5), seed).cwiseAbs();
    s(0) = s(1) = 0;
    const Matrix<double> F = softmax_jacobian(attn::gibbs(s));
    const double lambda = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(F)
                              .eigenvalues()
                              .maxCoeff();
    largest = std::max(largest, lambda);
    verify(lambda, 0.5 + 40 * unit_roundoff<double>());
  }
  fact("largest", largest, 6);
}
BOOST_AUTO_TEST_CASE(finite_steps_contract) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double step = std::pow(10.0, -double(seed % 6)), T = 0.3;
    const Matrix<quad> s = gaussian<quad>(1, 4, seed);
    const Matrix<quad> t = s + quad(step) * gaussian<quad>(1, 4, seed + 777);
    const Matrix<quad> d = attn::gibbs(s, quad(T)) - attn::gibbs(t, quad(T));
    verify(to_double(d.norm()),
           to_double((s - t).norm()) / (2 * T));
  }
}

// check cumulants against moments
BOOST_AUTO_TEST_CASE(cumulants_are_moments) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, Index(1 + seed % 6), seed);
    const quad beta = quad(double(seed)) / 7;
    const auto kappa = cumulants<5>(s, beta);
    const Matrix<quad> A = attn::gibbs(s, quad(1 / beta));
    const auto mu = [&](int k) {
      const Matrix<quad> c = s.array() - quad((A.array() * s.array()).sum());
      return quad((A.array() * c.array().pow(k)).sum());
    };
    verify(distance(kappa[0], log_partition(s, quad(1 / beta))(0)), 1e-30);
    verify(distance(kappa[1], -expected_energy(s, quad(1 / beta))(0)), 1e-30);
    verify(distance(kappa[2], mu(2)), 1e-29);
    verify(distance(kappa[3], mu(3)), 1e-29);
    verify(distance(kappa[4], mu(4) - 3 * mu(2) * mu(2)), 1e-29);
    verify(distance(kappa[5], mu(5) - 10 * mu(3) * mu(2)), 1e-28);
  }
  const auto even = cumulants<2>(RowVector<double>{{1, -1}}, 0.0);
  verify(std::abs(even[0] - std::log(2.0)) + std::abs(even[1]) +
             std::abs(even[2] - 1), 0x1p-51);
}
BOOST_AUTO_TEST_CASE(cumulants_need_a_score) {
  using M = Matrix<double>;
  for (const M& s : {M(1, 0), M{{-inf, -inf}}, M{{1, 2}, {3, 4}}})
    BOOST_CHECK_EXCEPTION(cumulants<1>(s, 1.0), std::invalid_argument,
                          says("cumulants: s is " + shape(s)));
  BOOST_TEST(cumulants<1>(M{{-inf, 3}}, 2.0)[0] == 6);
}

// check the layout of a sweep
BOOST_AUTO_TEST_CASE(sweep_has_its_layout) {
  const Matrix<double> S = gaussian<double>(3, 5, 1);
  const auto y = temperature_sweep(S, {0.5, 2.0});
  BOOST_TEST(y.A.size() == 2u);
  verify((y.A[1] - attn::gibbs(S, 2.0)).norm(), 0);
  verify(std::abs(y.C(0, 2) - heat_capacity(S, 0.5)(2)), 0);
  verify((y.F.row(1) - free_energy(S, 2.0).transpose()).norm(), 0);
  verify(largest(y.U - y.F - Vector<double>{{0.5, 2}}.asDiagonal() * y.H),
         32 * unit_roundoff<double>());
  BOOST_CHECK_THROW(temperature_sweep(S, {1.0, 0.0}), std::domain_error);
}

// check what a layer knows
BOOST_AUTO_TEST_CASE(mutual_information_two_ways) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index nq = Index(1 + seed % 5), nk = Index(1 + seed % 7);
    const Matrix<quad> A = attn::gibbs(gaussian<quad>(nq, nk, seed));
    const quad I = mutual_information(A);
    const quad split = entropy(A.colwise().mean())(0) - entropy(A).mean();
    verify(distance(I, split), 1e-31);
    const double most = std::log(double(std::min(nq, nk)));
    verify(worse(0, to_double(I) - most), 1e-15);
    verify(worse(0, -to_double(I)), 1e-32);
  }
}
BOOST_AUTO_TEST_CASE(mutual_information_extremes) {
  const Matrix<double> one = attn::gibbs(gaussian<double>(1, 5, 3));
  verify(std::abs(mutual_information(one.replicate(4, 1))), 0x1p-51);
  verify(std::abs(mutual_information(Matrix<double>::Identity(6, 6)) -
                  std::log(6.0)), 0x1p-50);
  verify(std::abs(mutual_information(Matrix<double>::Zero(3, 2))), 0);
  Matrix<double> padded = Matrix<double>::Identity(6, 6);
  padded.row(5).setZero();
  verify(std::abs(mutual_information(padded) - std::log(5.0)), 0x1p-50);
}

// check many keys at random
BOOST_AUTO_TEST_CASE(annealed_bounds) {
  for (const Index n : {16, 256})
    for (const double f : {0.1, 0.3, 0.6, 1.0, 1.5, 2.5}) {
      const double sc = std::sqrt(2 * std::log(double(n))), sigma = f * sc;
      const Vector<double> logZ = log_partition(
          sigma * gaussian<double>(400, n, std::uint64_t(1000 * f)));
      const double mean = logZ.mean();
      const double error =
          std::sqrt((logZ.array() - mean).square().sum() / 399 / 400);
      const double most = f < 1 ? std::log(double(n)) + sigma * sigma / 2
                                : sigma * sc;
      verify(worse(0, mean - most), 4 * error);
      if (f < 0.2)
        verify(std::abs(most - mean),
               std::expm1(sigma * sigma) / double(n) + 4 * error);
    }
}
BOOST_AUTO_TEST_CASE(random_energies) {
  const double log_n = std::log(4096.0), sc = std::sqrt(2 * log_n);
  const Matrix<double> z = gaussian<double>(100, 4096, 8);
  const auto ratio = [&](double f) {
    return gibbs_entropy(f * sc * z).mean() / log_n;
  };
  fact("quarter", ratio(0.25));
  fact("half", ratio(0.5));
  fact("critical", ratio(1.0));
  verify(std::abs(ratio(0.25) - (1 - 0.0625)), 0.01);
  verify(std::abs(ratio(0.5) - (1 - 0.25)), 0.02);
  verify(ratio(2.0), ratio(1.0));
}
BOOST_AUTO_TEST_SUITE_END()
