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
    verify(distance(-M(i), expected_energy(S, quad(2))(i)),
           bounds<quad>(S.row(i), 2).U + roundings(6 * 20 * 4));
  const Matrix<quad> first = S.row(0);  // at T = 1, if none is given
  verify(distance(expected_energy(S)(0), printed(first, quad(1)).U),
         bounds<quad>(first, 1).U + roundings(6 * 20 * 4));
}

// check energies against their rounding bound
BOOST_AUTO_TEST_CASE(energies_in_both) {
  const auto f = [](auto s, auto T, auto sq, auto Tq, const Bounds& b) {
    verify(distance(free_energy(s, T)(0), free_energy(sq, Tq)(0)), b.F);
    verify(distance(expected_energy(s, T)(0), expected_energy(sq, Tq)(0)),
           b.U);
  };
  rows_within_bound<double>(5, f);
  rows_within_bound<float>(5, f);
}

// check the variational principle
BOOST_AUTO_TEST_CASE(variational_identity) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index n = Index(1 + seed % 8);
    const quad T = quad(double(1 + seed % 5)) / 3;
    Matrix<quad> s = gaussian<quad>(1, n, seed, "scores");
    Matrix<quad> r = gaussian<quad>(1, n, seed, "others");
    if (n > 1 && seed % 3 == 0) s(n - 1) = r(n - 1) = quad(-inf);
    if (n > 2 && seed % 2 == 0) r(0) = quad(-inf);
    const Matrix<quad> q = attn::gibbs(r, quad(0.5));
    const Matrix<quad> A = attn::gibbs(s, T);
    const quad F = free_energy(s, T)(0), excess = T * kl(q, A)(0);
    verify(distance(free_energy_of(q, s, T) - F, excess),
           roundings(24 * 10 * 100));
    verify(distance(free_energy_of(A, s, T), F), roundings(24 * 10 * 100));
    if ((A.array() > 0).count() > 1) BOOST_TEST(excess > 0);
  }
}
BOOST_AUTO_TEST_CASE(kl_is_positive) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    for (const double step : {1e-6, 1e-9, 1e-12}) {
      const Matrix<double> S = gaussian<double>(2, 5, seed);
      const Matrix<double> p = attn::gibbs(S);
      const Matrix<double> q = attn::gibbs(S + step * S.cwiseProduct(S));
      Vector<quad> truth = Vector<quad>::Zero(2);

      // sum the power series of each term
      for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 5; ++j) {
          const quad pj(p(i, j)), d = (quad(q(i, j)) - pj) / pj;
          quad power = -d;
          for (int k = 2; k <= 7; ++k) {
            power *= -d;
            truth(i) += pj * power / quad(double(k * (k - 1)));
          }
        }
      for (Index i = 0; i < 2; ++i)
        verify(distance(kl(q, p)(i), truth(i)),
               gamma(16, 0x1p-53) * to_double(truth(i)));
      verify(largest(kl(p, p)), 0);
    }

  // compare distributions that share no key
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
BOOST_AUTO_TEST_CASE(kl_of_subnormal_weights) {
  const RowVector<double> s{{0, -712}}, q{{0.5, 0.5}};
  verify(std::abs(kl(q, attn::gibbs(s))(0) - fenchel_young(s, q)(0)), 1e-12);
  const RowVector<float> t{{0, -92}}, r{{0.5f, 0.5f}};
  verify(std::abs(kl(r, attn::gibbs(t))(0) - fenchel_young(t, r)(0)), 2e-3);
}
BOOST_AUTO_TEST_CASE(kl_in_double) {
  for_rows(3, [](const Matrix<double>& S, double T) {
    const Matrix<double> q = attn::gibbs(S.row(0), T);
    const Matrix<double> p = attn::gibbs(S.row(1), 10 * T);
    if (!(p.minCoeff() > 0)) return;  // infinite
    quad truth(0);
    double bound = 0;
    for (Index j = 0; j < q.size(); ++j) {
      const quad qj(q(j)), pj(p(j));
      truth += xlogx(qj) - qj * log(pj) + pj - qj;
      const double l =
          q(j) > 0 ? std::abs(std::log(q(j)) - std::log(p(j))) : 0;
      const double d = std::abs(p(j) - q(j));
      bound += q(j) * (1 + 6 * l) + 2 * d + double(q.size()) * (q(j) * l + d);
    }
    verify(distance(kl(q, p)(0), truth),
           bound * 0x1p-53 / (1 - double(q.size() + 7) * 0x1p-53));
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
    verify(distance(A, attn::gibbs(s, quad(T))), roundings(1000));
  }
}
BOOST_AUTO_TEST_CASE(fenchel_young_gap) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 5, seed);
    const Matrix<quad> q = attn::gibbs(gaussian<quad>(1, 5, seed + 99));
    const quad T = quad(double(seed)) / 10, psi = T * log_partition(s, T)(0);
    const quad gap3 = psi + legendre_dual(q, T)(0) -
                      quad((q.array() * s.array()).sum());
    const double most = roundings(3000) * (1 + 1 / to_double(T));
    verify(distance(fenchel_young(s, q, T)(0), gap3), most);
    verify(distance(gap3, T * kl(q, attn::gibbs(s, T))(0)), most);
    verify(distance(fenchel_young(s, attn::gibbs(s, T), T)(0), quad(0)),
           most);
    BOOST_TEST(gap3 > 0);
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

// check the entropy as a function of energy
BOOST_AUTO_TEST_CASE(tangent_lies_above_by_a_divergence) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = Index(2 + seed % 6);
    const RowVector<quad> s = gaussian<quad>(1, n, seed);
    const Matrix<quad> q = attn::gibbs(gaussian<quad>(2, n, seed + 100));
    const quad U = -q.row(0).dot(s), V = -q.row(1).dot(s);
    const quad beta = inverse_temperature(s, U);
    const quad other = inverse_temperature(s, V);
    const quad gap = entropy_of_energy(s, U) + beta * (V - U) -
                     entropy_of_energy(s, V);
    const RowVector<quad> A = weights_at(s, beta), B = weights_at(s, other);
    verify(distance(gap, kl(B, A)(0)),
           roundings(5000) * (1 + to_double(abs(beta) + abs(other))));
    BOOST_TEST(gap > 0);
  }
}
BOOST_AUTO_TEST_CASE(entropy_is_the_least_of_duals) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 5, seed);
    const quad beta = quad(double(seed) - 10.5) / 4;
    const RowVector<quad> A = weights_at(s, beta);
    const quad U = -A.dot(s), S = entropy_of_energy(s, U);
    verify(distance(S, entropy(A)(0)), roundings(3000));
    for (const double b : {-6.0, -1.0, -0.1, 0.2, 1.5, 5.0}) {
      const auto dual = cumulants<1>(s, quad(b));
      BOOST_TEST(dual[0] + quad(b) * U > S);
      const quad V = -dual[1];
      BOOST_TEST(entropy_of_energy(s, V) - beta * V < S - beta * U);
    }
  }
}
BOOST_AUTO_TEST_CASE(curvature_of_the_entropy) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 6, seed);
    const quad beta = quad(double(seed) - 5.5) / 2;
    const auto kappa = cumulants<2>(s, beta);
    const quad U = -kappa[1];
    const auto curvature = [&](const quad& h) {
      const quad gap = entropy_of_energy(s, U) + beta * h -
                       entropy_of_energy(s, quad(U + h));
      return quad(2 * gap * kappa[2] / (h * h));
    };
    const quad h = kappa[2] * quad(0x1p-20);
    const quad one = curvature(h) - 1, two = curvature(h / 2) - 1;
    verify(to_double(abs(one)), 0x1p-14);
    verify(std::abs(to_double(one / two) - 2), 0x1p-10);
  }
}

// check the response of weights
BOOST_AUTO_TEST_CASE(response_of_any_mean) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(1 + seed % 7);
    const Matrix<quad> X = gaussian<quad>(3, n, seed);
    const quad T = quad(double(2 + seed)) / 9;
    Matrix<Dual<quad>> s = lift<Dual<quad>>(Matrix<quad>(X.row(0)));
    for (Index j = 0; j < n; ++j) s(j).d = X(1, j);
    const Matrix<Dual<quad>> y = attn::gibbs(s, Dual<quad>(T));
    Dual<quad> mean(quad(0));
    for (Index j = 0; j < n; ++j) mean += y(j) * Dual<quad>(X(2, j));
    const RowVector<quad> A = attn::gibbs(X.row(0), T);
    const RowVector<quad> h = X.row(1), f = X.row(2);
    const quad both = A.dot(f.cwiseProduct(h)) - A.dot(f) * A.dot(h);
    verify(distance(mean.d, both / T), roundings(3000));
  }
}
BOOST_AUTO_TEST_CASE(finite_pushes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<quad> X = gaussian<quad>(2, 5, seed);
    const quad T = quad(double(2 + seed)) / 9;
    const quad size(std::pow(10.0, double(seed % 5) - 3));
    const RowVector<quad> s = X.row(0), h = size * X.row(1);
    const RowVector<quad> A = attn::gibbs(s, T), B = attn::gibbs(s + h, T);
    const quad rise =
        T * (log_partition(s + h, T)(0) - log_partition(s, T)(0));
    const double most = roundings(1000) * (1 + 10 * to_double(size / T));
    const quad ratio = (A.array() * (h / T).array().exp()).sum();
    verify(distance(rise, T * log(ratio)), most);
    verify(distance(rise, A.dot(h) + T * kl(A, B)(0)), most);
    verify(distance(rise, B.dot(h) - T * kl(B, A)(0)), most);
    BOOST_TEST((A.dot(h) < rise && rise < B.dot(h)));
  }
}
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
      for (Index j = 0; j < n; ++j)
        verify(distance(y(j).d, J(j, k)), roundings(3000));
    }
    const Vector<quad> dA = gaussian<quad>(n, 1, seed + 50);
    const auto dS = eq<R"(\bar S_j = J_{jk} \bar A^k)">(  // eq:vjp
        view<dn, dn>(J), view<up>(dA));
    const Matrix<quad> fast = softmax_vjp(A, dA.transpose(), T);
    for (Index j = 0; j < n; ++j)
      verify(distance(dS(j), fast(j)), roundings(3000));
    verify(distance(fast.sum(), quad(0)), roundings(3000));
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
    const double most = roundings(2000) / to_double(T * T);
    verify(distance(expected_energy(x, t)(0).d, C), most);
    verify(distance(gibbs_entropy(x, t)(0).d, C / T), most);
    verify(distance(free_energy(x, t)(0).d, -gibbs_entropy(s, T)(0)), most);
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
    verify(distance(dH, formula), roundings(2000) / to_double(T * T));
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
  verify(distance(slope(low), quad(0)), roundings(1000));
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
  const double u = unit_roundoff<double>();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const double width = 0.01 * double(1 + seed % 40);
    Matrix<double> s =
        -30 * width * uniform<double>(1, Index(2 + seed % 5), seed).cwiseAbs();
    if (seed % 2 == 0) s(0) = s(1) = 0;
    const Matrix<double> Sigma = softmax_jacobian(attn::gibbs(s));
    const double lambda =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(Sigma)
            .eigenvalues().maxCoeff();
    largest = std::max(largest, lambda);
    verify(lambda, 0.5 + 40 * u);
    verify(Sigma.cwiseAbs().rowwise().sum().maxCoeff(), 0.5 + 40 * u);
  }
  fact("largest", largest, 6);
}
BOOST_AUTO_TEST_CASE(half_is_attained) {
  for (const double T : {0.2, 1.0, 5.0})
    for (const double h : {0x1p-4, 0x1p-8, 0x1p-12}) {
      const RowVector<double> s{{h * T, -h * T}};
      const RowVector<double> d = attn::gibbs(s, T) - attn::gibbs(-s, T);
      const RowVector<double> ds = 2 * s;
      const double ratio[] = {d.lpNorm<1>() / ds.lpNorm<1>(),
                              d.norm() / ds.norm(),
                              d.lpNorm<Eigen::Infinity>() /
                                  ds.lpNorm<Eigen::Infinity>()};
      for (const double r : ratio)
        verify(std::abs(1 - 2 * T * r), h * h / 3 + 8 * 0x1p-53 / h);
    }
}
BOOST_AUTO_TEST_CASE(finite_steps_contract) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double step = std::pow(10.0, -double(seed % 6)), T = 0.3;
    const Matrix<quad> s = gaussian<quad>(1, 4, seed);
    const Matrix<quad> t = s + quad(step) * gaussian<quad>(1, 4, seed + 777);
    const Matrix<quad> d = attn::gibbs(s, quad(T)) - attn::gibbs(t, quad(T));
    const Matrix<quad> ds = s - t;
    verify(to_double(d.norm()), to_double(ds.norm()) / (2 * T));
    verify(to_double(d.cwiseAbs().sum()),
           to_double(ds.cwiseAbs().sum()) / (2 * T));
    verify(largest(d), largest(ds) / (2 * T));
  }
}
BOOST_AUTO_TEST_CASE(attention_is_not_lipschitz) {
  for (const double t : {0.0, 1.0, 10.0, 1000.0}) {
    RowVector<Dual<double>> x = lift<Dual<double>>(
        RowVector<double>{{0, t, -t}});
    x(0).d = 1;
    const RowVector<Dual<double>> A = attn::gibbs(
        RowVector<Dual<double>>(x(0) * x));
    Dual<double> out(0.0);
    for (Index j = 0; j < 3; ++j) out += A(j) * x(j);
    const double truth = 1 / 3.0 + 2 / 3.0 * t * t;
    verify(std::abs(out.d - truth), 16 * 0x1p-53 * truth);
  }
}

// check cumulants against moments
BOOST_AUTO_TEST_CASE(cumulants_are_moments) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, Index(1 + seed % 6), seed);
    const quad beta = quad(double(seed)) * (seed % 3 == 0 ? -1 : 1) / 7;
    const auto kappa = cumulants<5>(s, beta);
    const Matrix<quad> A = weights_at(s, beta);
    const auto mu = [&](int k) {
      const Matrix<quad> c = s.array() - quad((A.array() * s.array()).sum());
      return quad((A.array() * c.array().pow(k)).sum());
    };
    const double most = roundings(2e5);
    const quad Z = (beta * s.array()).exp().sum();
    verify(distance(kappa[0], log(Z)), most);
    verify(distance(kappa[1], (A.array() * s.array()).sum()), most);
    verify(distance(kappa[2], mu(2)), most);
    verify(distance(kappa[3], mu(3)), most);
    verify(distance(kappa[4], mu(4) - 3 * mu(2) * mu(2)), most);
    verify(distance(kappa[5], mu(5) - 10 * mu(3) * mu(2)), most);
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
  BOOST_TEST(cumulants<1>(M{{9, -3, -inf}}, -1e6)[0] == 3e6);
  BOOST_TEST(cumulants<1>(M{{9, -3, -inf}}, -1e6)[1] == -3);
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
    verify(distance(I, split), roundings(2000));
    const double most = std::log(double(std::min(nq, nk)));
    verify(worse(0, to_double(I) - most), 4 * 0x1p-53);
    verify(worse(0, -to_double(I)), roundings(2000));
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

// bound the free energy from below
/// The right-hand side of the second-moment bound at its best a.
inline double least_free_energy(double log_n, double sigma) {
  const double f = sigma / std::sqrt(2 * log_n);
  double best = -sigma * std::exp(-log_n / 2);
  for (int k = 1; k <= 8000; ++k) {
    const double a = k == 8000 && f < 1 ? f : -std::expm1(-0.0025 * k);
    const double t = a * std::sqrt(2 * log_n);
    const double log_m = (1 - a * a) * log_n +
                         std::log(t / (1 + t * t) / std::sqrt(2 * M_PI));
    const double inner = log_m - std::log(2.0) + sigma * t;
    if (inner < 0) continue;
    const double chance = 1 / (1 + 4 * std::exp(-log_m));
    best = std::max(best, chance * inner - sigma * std::exp(-log_n / 2));
  }
  return best;
}

// check many keys at random
BOOST_AUTO_TEST_CASE(integral_for_one_and_two_keys) {
  for (const double sigma : {0.5, 1.0, 2.0, 6.0}) {
    verify(std::abs(many_keys(0, sigma).logZ), 1e-12);
    verify(std::abs(many_keys(0, sigma).H), 1e-12);
    double direct = 0;
    for (int k = -2400; k <= 2400; ++k) {
      const double z = k / 200.0, x = std::abs(sigma * z) / std::sqrt(2.0);
      direct += (x + std::log1p(std::exp(-2 * x))) / 200 *
                std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    }
    verify(std::abs(many_keys(std::log(2.0), sigma).logZ - direct), 1e-12);
  }
}
BOOST_AUTO_TEST_CASE(integral_agrees_with_rows) {
  for (const Index n : {16, 256})
    for (const double f : {0.3, 0.8, 1.5}) {
      const double log_n = std::log(double(n));
      const double sigma = f * std::sqrt(2 * log_n);
      const Matrix<double> s =
          sigma * gaussian<double>(1000, n, std::uint64_t(100 * f));
      const ManyKeys exact = many_keys(log_n, sigma);
      const auto [logZ, its_error] = estimate(log_partition(s));
      const auto [H, error] = estimate(gibbs_entropy(s));
      verify(std::abs(logZ - exact.logZ), 4 * its_error);
      verify(std::abs(H - exact.H), 4 * error);
    }
}
BOOST_AUTO_TEST_CASE(annealed_bounds) {
  for (const double log_n : {1.0, 3.0, 10.0, 30.0}) {
    const double sc = std::sqrt(2 * log_n);
    for (const double f : {0.1, 0.3, 0.6, 1.0})
      BOOST_TEST(many_keys(log_n, f * sc).gap > 0);
    for (const double f : {1.0, 1.5, 2.5})
      verify(many_keys(log_n, f * sc).logZ, f * sc * sc);
  }
}
BOOST_AUTO_TEST_CASE(gap_of_the_annealed_value) {
  const auto keys = [](double log_n, double f) {
    return many_keys(log_n, f * std::sqrt(2 * log_n));
  };
  const auto ratio = [&](double log_n, double f) {
    return keys(log_n, f).gap * 2 * std::exp(log_n) /
           std::expm1(2 * f * f * log_n);
  };
  const double log_n = std::log(4096.0), third = 1 / std::sqrt(3.0);
  const double root = std::sqrt(0.5);

  // note the gaps at two sizes
  for (const auto& [name, f] : {std::pair{"half", 0.5}, {"third", third},
                                {"root", root}}) {
    fact(name + std::string("8"), ratio(log_n, f), 2);
    fact(name + std::string("30"), ratio(30, f), 2);
  }
  fact("gap8", keys(log_n, root).gap, 2);
  verify(std::abs(ratio(30, 0.4) - 1), 0.001);
  verify(std::abs(ratio(20, 0.4) - 1), std::abs(ratio(10, 0.4) - 1) / 4);
  verify(ratio(30, 0.65), ratio(log_n, 0.65) / 3);
  for (const double l : {10.0, 20.0, 40.0})
    verify(keys(2 * l, 0.8).gap, keys(l, 0.8).gap / 2);
}
BOOST_AUTO_TEST_CASE(second_moment_bound) {
  for (const double log_n : {3.0, 10.0, 30.0})
    for (const double f : {0.2, 0.5, 0.8, 1.0, 1.5, 2.5}) {
      const double sigma = f * std::sqrt(2 * log_n);
      verify(least_free_energy(log_n, sigma), many_keys(log_n, sigma).logZ);
    }
}
BOOST_AUTO_TEST_CASE(bounds_meet_for_many_keys) {
  for (const double f : {0.3, 0.7, 1.0, 1.5, 3.0}) {
    const auto distance = [&](double log_n) {
      const double sigma = f * std::sqrt(2 * log_n);
      const double upper = (f < 1 ? 1 + f * f : 2 * f) * log_n;
      return upper - least_free_energy(log_n, sigma);
    };
    const double c = f < 1 ? 0.5 : 1.5 * f - 1;
    const double slope = (distance(1e6) - distance(1e4)) / std::log(100.0);
    BOOST_TEST(distance(1e2) >= 0);
    verify(std::abs(slope / c - 1), 0.02);
  }
}
BOOST_AUTO_TEST_CASE(random_energies) {
  const double log_n = std::log(4096.0);
  const auto ratio = [](double l, double f) {
    return many_keys(l, f * std::sqrt(2 * l)).H / l;
  };
  fact("quarter", ratio(log_n, 0.25));
  fact("half", ratio(log_n, 0.5));
  fact("critical", ratio(log_n, 1));
  for (const auto& [f, part] : {std::pair{0.25, 0.01}, {0.5, 0.5}}) {
    const double square = 2 * f * f * log_n;
    const double correction =
        ((square - 0.5) * std::exp(square) + 0.5) / (4096 * log_n);
    verify(std::abs(ratio(log_n, f) - (1 - f * f) - correction),
           part * correction);
  }
  for (const double l : {5.0, 10.0, 20.0, 40.0})
    verify(ratio(2 * l, 1), 0.8 * ratio(l, 1));
}
BOOST_AUTO_TEST_CASE(condensed_entropy) {
  const double third = 1.5 * std::log(3.0) + M_PI / std::sqrt(12.0);
  for (const auto& [f, limit] : {std::pair{1.5, third},
                                 std::pair{2.0, 2 * std::log(2.0)}}) {
    const auto missing = [f = f, limit = limit](double log_n) {
      return limit - many_keys(log_n, f * std::sqrt(2 * log_n)).H;
    };
    for (const double log_n : {5.0, 10.0, 20.0}) {
      BOOST_TEST(missing(2 * log_n) > 0);
      verify(missing(2 * log_n), 0.75 * missing(log_n));
    }
  }
}
BOOST_AUTO_TEST_CASE(relative_variance) {
  const Index n = 64;
  for (const double sigma : {0.5, 1.0}) {
    const Matrix<double> s = sigma * gaussian<double>(20000, n, 31);
    const Vector<double> Z =
        partition_function(s) / (double(n) * std::exp(sigma * sigma / 2));
    const auto [mean, error] = estimate(Z);
    verify(std::abs(mean - 1), 4 * error);
    const Vector<double> square = (Z.array() - 1).square();
    const auto [variance, its_error] = estimate(square);
    verify(std::abs(variance - std::expm1(sigma * sigma) / double(n)),
           4 * its_error);
  }
}
BOOST_AUTO_TEST_CASE(one_good_key) {
  const Index n = 4096;
  RowVector<double> s = RowVector<double>::Zero(n);
  s(0) = 3 + std::log(double(n));
  const double weight = attn::gibbs(s)(0);
  fact("weight", weight);
  fact("deviation", std::sqrt((s.array() - s.mean()).square().mean()));
  const double truth = 1 / (1 + std::exp(-3.0) * (1 - 1 / double(n)));
  verify(std::abs(weight - truth),
         0x1p-53 * (2 * s(0) + double(n) + 20));
}
BOOST_AUTO_TEST_SUITE_END()
