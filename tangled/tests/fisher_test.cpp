// tests/fisher_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/fisher.hpp"
#include "attn/random.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// check the Fisher matrix
template <class S>
Vector<S> random_weights(Index n, std::uint64_t seed) {
  if constexpr (std::is_same_v<S, Fp>) {
    Vector<S> p = uniform<S>(n, 1, seed);
    p(n - 1) += S(1) - p.sum();
    return p;
  } else {
    return attn::gibbs(gaussian<S>(1, n, seed)).transpose();
  }
}
BOOST_AUTO_TEST_CASE(penrose_equations) {
  for (Index n = 1; n <= 7; ++n) {
    const Vector<Fp> p = random_weights<Fp>(n, std::uint64_t(n));
    const Matrix<Fp> F = fisher(p, Fp(3)), one = Matrix<Fp>::Identity(n, n);
    Matrix<Fp> X(n, n);
    for (Index j = 0; j < n; ++j)
      X.col(j) = fisher_solve(p, Vector<Fp>(one.col(j)), Fp(3));
    const Matrix<Fp> FX = F * X, XF = X * F;
    verify_exact(Matrix<Fp>(FX * F), F, long(2 * n + 3));
    verify_exact(Matrix<Fp>(XF * X), X, long(2 * n + 3));
    verify_exact(FX, Matrix<Fp>(FX.transpose()), long(n + 2));
    verify_exact(XF, Matrix<Fp>(XF.transpose()), long(n + 2));
  }
}
BOOST_AUTO_TEST_CASE(gauge_inverse) {
  for (Index n = 2; n <= 7; ++n) {
    const Vector<Fp> p = random_weights<Fp>(n, std::uint64_t(n));
    const Vector<Fp> a = p.head(n - 1), r = a.cwiseInverse();
    const Matrix<Fp> F = fisher(p, Fp(5)).topLeftCorner(n - 1, n - 1);
    const auto inverse = inverse_metric(Tensor<Fp, dn, dn>(F));
    Matrix<Fp> block = Matrix<Fp>::Constant(n - 1, n - 1, 1 / p(n - 1));
    block.diagonal() += r;
    verify_exact(Matrix<Fp>(inverse.g.mat()), Matrix<Fp>(25 * block),
                 long(2 * n));
    Fp det = p.prod();
    for (Index j = 1; j < n; ++j) det /= 25;
    verify_exact(inverse.det, det, long(2 * n));
  }
}
const auto log_weights = [](double T) {
  return [=](const auto& s) {
    using S = typename std::decay_t<decltype(s)>::Scalar;
    const RowVector<S> row = s.transpose();
    return Vector<S>(log_softmax(row, S(T)).transpose());
  };
};
BOOST_AUTO_TEST_CASE(fisher_is_covariance) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const double T = 0.25 * double(1 + seed % 5);
    const Vector<quad> s = gaussian<quad>(Index(1 + seed % 6), 1, seed);
    const Vector<quad> p = log_weights(T)(s).array().exp();
    const Matrix<quad> F = fisher_information(log_weights(T), s).mat();
    verify(distance(F, fisher(p, quad(T))), 1e-31);
    const Matrix<quad> J = softmax_jacobian(p.transpose(), quad(T));
    verify(distance(Matrix<quad>(J / quad(T)), F), 1e-31);
    const auto logZ = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      return S(log_partition(RowVector<S>(x.transpose()), S(T))(0));
    };
    verify(distance(hessian(logZ, s), F), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(fisher_in_two_forms) {
  const Matrix<quad> K = gaussian<quad>(5, 2, 3);
  const auto family = [&](const auto& x) {  // curved: not exponential
    using S = typename std::decay_t<decltype(x)>::Scalar;
    const Vector<S> s = lift<S>(K) * x;
    return log_weights(1)(Vector<S>(s.array() * s.array() + s.array()));
  };
  const Vector<quad> x = gaussian<quad>(2, 1, 4);
  const Matrix<quad> F = fisher_information(family, x).mat();
  Matrix<quad> mean = Matrix<quad>::Zero(2, 2);
  for (Index j = 0; j < 5; ++j)
    mean -= exp(family(x)(j)) *
            hessian([&](const auto& y) { return family(y)(j); }, x);
  verify(distance(F, mean), 1e-30);
}
BOOST_AUTO_TEST_CASE(null_direction) {
  for (Index n = 1; n <= 9; ++n) {
    const Vector<double> p = random_weights<double>(n, std::uint64_t(n));
    const Vector<double> v = gaussian<double>(n, 1, std::uint64_t(n + 9));
    const Vector<double> one = Vector<double>::Ones(n);
    verify(fisher_times(p, one, 2.0).norm(), gamma(n + 2, 0x1p-53));
    verify((fisher_times(p, v, 2.0) - fisher(p, 2.0) * v).norm(),
           2 * gamma(n + 6, 0x1p-53) * v.norm());
    verify(std::abs(fisher_solve(p, v).sum()),
           gamma(3 * n + 6, 0x1p-53) * p.cwiseInverse().sum() * v.norm());
  }
}
BOOST_AUTO_TEST_CASE(forbidden_keys_stay_out) {
  const Vector<double> p{{0.25, 0, 0.75}}, w{{1, 100, -3}};
  const Vector<double> p2{{0.25, 0.75}}, w2{{1, -3}};
  const Vector<double> x = fisher_solve(p, w), x2 = fisher_solve(p2, w2);
  verify(std::abs(x(0) - x2(0)) + std::abs(x(1)) + std::abs(x(2) - x2(1)), 0);
  BOOST_CHECK_EXCEPTION(fisher_solve(p, w2), std::invalid_argument,
                        says("centred: p has 3"));
  BOOST_CHECK_EXCEPTION(fisher_times(p, w2), std::invalid_argument,
                        says("fisher_times: p has 3"));
  BOOST_CHECK_EXCEPTION(fisher(p, 0.0), std::domain_error,
                        says("fisher: temperature"));
}
BOOST_AUTO_TEST_CASE(divergence_is_half_squared) {
  const RowVector<quad> s = gaussian<quad>(1, 5, 1);
  const RowVector<quad> v = gaussian<quad>(1, 5, 2);
  const Matrix<quad> A = attn::gibbs(s);
  const Vector<quad> p = A.transpose(), w = v.transpose();
  const auto excess = [&](double e) {
    const RowVector<quad> moved = s + quad(e) * v;
    const quad half = quad(e * e) / 2 * w.dot(fisher_times(p, w));
    return to_double(kl(A, attn::gibbs(moved))(0) - half);
  };
  verify(std::abs(excess(0x1p-20) / excess(0x1p-21) - 8), 0x1p-14);
}

// check the curvature of weights
BOOST_AUTO_TEST_CASE(simplex_is_exactly_a_sphere) {
  for (Index d = 2; d <= 5; ++d) {
    const Matrix<Fp> r = uniform<Fp>(d, 3, std::uint64_t(d));
    const Vector<Fp> x = r.col(0), u = r.col(1), v = r.col(2);
    verify_exact(sectional_curvature(MixtureChart{}, x, u, v), Fp(1) / 4, 100);
    verify_exact(scalar_curvature(MixtureChart{}, x),
                 Fp(int(d * (d - 1))) / 4, 100);
  }
}
BOOST_AUTO_TEST_CASE(simplex_is_a_sphere) {
  double worst = 0;
  for (Index d = 2; d <= 4; ++d) {
    const Matrix<quad> r = gaussian<quad>(d, 3, std::uint64_t(d));
    const Vector<quad> x = r.col(0), u = r.col(1), v = r.col(2);
    const double off =
        distance(sectional_curvature(NaturalChart{}, x, u, v), quad(0.25));
    worst = std::max(worst, off);
    verify(off, 1e-30);
  }
  fact("off", worst);
}
BOOST_AUTO_TEST_CASE(connection_is_half_a_cumulant) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Vector<quad> x = gaussian<quad>(3, 1, seed);
    const auto g = metric_at(NaturalChart{}, x);
    const auto Ga = christoffel(NaturalChart{}, x);
    const auto lowered =
        eq<R"(\Gamma_{cab} = g_{cd} \Gamma^d_{ab})">(g, Ga);  // eq:none
    const auto third = partial([](const auto& y) {
      return metric_at(NaturalChart{}, y);
    }, x);
    verify(distance(lowered.values, third.values / quad(2)), 1e-31);
    const auto mu = attn::gibbs(RowVector<quad>{{x(0), x(1), x(2), 0}});
    const quad skew = mu(0) * (1 - mu(0)) * (1 - 2 * mu(0));
    verify(distance(third(0, 0, 0), skew), 1e-31);
  }
}

// check distances of weights
const auto with_last = [](const Vector<double>& theta) {
  RowVector<double> s = RowVector<double>::Zero(theta.size() + 1);
  s.head(theta.size()) = theta.transpose();
  return Vector<double>(attn::gibbs(s).transpose());
};
BOOST_AUTO_TEST_CASE(distance_is_length) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<double> x = gaussian<double>(3, 1, seed);
    const Vector<double> v = gaussian<double>(3, 1, seed + 50);
    verify_limit([&](Index steps) {
      const auto path = geodesic(NaturalChart{}, x, v, 1.0, steps);
      return fisher_rao_distance(with_last(x), with_last(path.back().x));
    }, 50, 4, std::sqrt(inner(NaturalChart{}, x, v, v)));
  }
}
BOOST_AUTO_TEST_CASE(great_circles_of_weights) {
  const Vector<double> x{{0.3, -0.7, 1.1}}, v{{0.5, 0.4, -0.9}};
  const Vector<double> p = with_last(x);
  for (const Index k : {0, 2, 3, 7, 8})
    verify_limit([&](Index steps) {
      const auto path = geodesic(NaturalChart{}, x, v, 1.0, steps);
      const Vector<double> q = with_last(path.back().x);
      const Vector<double> on = fisher_rao_geodesic(p, q, double(k) / 8);
      verify(std::abs(on.sum() - 1), 0x1p-50);
      return Vector<double>(
          on - with_last(path[std::size_t(k * steps / 8)].x));
    }, 48, 4, Vector<double>(0 * p));
}
BOOST_AUTO_TEST_CASE(distance_in_double) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Index n = Index(1 + seed % 40);
    const double near = std::pow(10.0, -double(seed % 13));
    const Vector<double> s = 3 * gaussian<double>(n, 1, seed);
    const Vector<double> t = s + near * gaussian<double>(n, 1, seed + 999);
    const Vector<double> p = attn::gibbs(s.transpose()).transpose();
    const Vector<double> q = attn::gibbs(t.transpose()).transpose();
    const Vector<quad> chord =
        lift<quad>(p).cwiseSqrt() - lift<quad>(q).cwiseSqrt();
    const quad d = 4 * asin(quad(chord.norm() / 2));
    verify(distance(fisher_rao_distance(p, q), d),
           double(n + 16) * 0x1p-53 * to_double(d));
  }
}
BOOST_AUTO_TEST_CASE(distance_is_a_metric) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index n = Index(2 + seed % 6);
    const Vector<double> p = random_weights<double>(n, seed);
    const Vector<double> q = random_weights<double>(n, seed + 200);
    const Vector<double> r = random_weights<double>(n, seed + 400);
    const double pq = fisher_rao_distance(p, q);
    verify(std::abs(pq - fisher_rao_distance(q, p)), 0);
    verify(worse(0, fisher_rao_distance(p, r) - pq -
                             fisher_rao_distance(q, r)), 1e-14);
  }
  const Vector<double> a{{1, 0, 0}}, b{{0, 0, 1}}, bad{{0.5, 0.6, 0}};
  verify(std::abs(fisher_rao_distance(a, b) - M_PI), 0x1p-50);
  verify(fisher_rao_distance(a, a), 0);
  BOOST_CHECK_EXCEPTION(fisher_rao_distance(a, bad), std::domain_error,
                        says("fisher_rao_distance: row 0"));
  BOOST_CHECK_EXCEPTION(m_geodesic(a, Vector<double>(2), 0.1),
                        std::invalid_argument, says("m_geodesic: p has 3"));
}
BOOST_AUTO_TEST_CASE(three_ways_to_go) {
  const Vector<double> p{{0.85, 0.10, 0.05}}, q{{0.02, 0.18, 0.80}};
  const double d = fisher_rao_distance(p, q);
  const auto length = [&](const auto& path) {
    double sum = 0;
    for (int k = 0; k < 2000; ++k)
      sum += fisher_rao_distance<double>(path(p, q, k / 2000.0),
                                         path(p, q, (k + 1) / 2000.0));
    return sum;
  };
  const double arc = length(fisher_rao_geodesic<double>);
  const double m = length(m_geodesic<double>), e = length(e_geodesic<double>);
  fact("arc", arc, 5);
  fact("m", m, 5);
  fact("e", e, 5);
  verify(std::abs(arc - d), 2000 * 16 * 0x1p-53);  // 16 roundings a step
  verify(d, std::min(m, e));
  for (const auto& path : {fisher_rao_geodesic<double>, m_geodesic<double>,
                           e_geodesic<double>})
    verify((path(p, q, 0.0) - p).norm() + (path(p, q, 1.0) - q).norm() +
           (path(p, q, 0.25) - path(q, p, 0.75)).norm(), 1e-15);
}
BOOST_AUTO_TEST_CASE(annealing_is_an_e_geodesic) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 5, seed);
    const Vector<quad> cold = attn::gibbs(s, quad(0.3)).transpose();
    const Vector<quad> hot = Vector<quad>::Constant(5, quad(1) / 5);
    const quad t = quad(double(seed)) / 21;
    const Vector<quad> A = attn::gibbs(s, quad(quad(0.3) / t)).transpose();
    verify(distance(e_geodesic(hot, cold, t), A), 1e-31);
  }
  const RowVector<double> s{{2, 1, 0}};
  verify_limit([&](Index steps) {
    const auto weights = [&](double k) {
      return Vector<double>(
          attn::gibbs(s * (2 * k / double(steps))).transpose());
    };
    double off = 0;  // chords less the midpoint rule for sqrt(variance)
    for (Index k = 0; k < steps; ++k) {
      const double at = double(k), T = double(steps) / (2 * at + 1);
      off += fisher_rao_distance(weights(at), weights(at + 1)) -
             2 * std::sqrt(heat_capacity(s, T)(0)) * T / double(steps);
    }
    return off;
  }, 500, 2, 0.0);
}

// check the classical methods
BOOST_AUTO_TEST_CASE(mirror_step_is_natural) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(2 + seed % 5);
    const Vector<quad> p = random_weights<quad>(n, seed);
    const Vector<quad> g = gaussian<quad>(n, 1, seed + 30);
    const quad eta = quad(double(seed)) / 5;
    const Vector<quad> step = fisher_solve(p, fisher_times(p, g));
    const RowVector<quad> s =
        (p.array().log().matrix() - eta * step).transpose();
    Vector<quad> mirror = p.array() * (-eta * g).array().exp();
    mirror /= mirror.sum();
    verify(distance(Vector<quad>(attn::gibbs(s).transpose()), mirror), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(newton_is_natural) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<quad> k = gaussian<quad>(6, 3, seed);
    const Vector<quad> p = random_weights<quad>(6, seed + 40);
    const Vector<quad> q = gaussian<quad>(3, 1, seed + 8);
    const auto loss = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      const Vector<S> s = lift<S>(k) * x;
      return S(-lift<S>(p).dot(log_weights(0.7)(s)));
    };
    const QueryMetric<quad> G{k, quad(0.7)};
    verify(distance(hessian(loss, q), G(q)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(newton_converges_quadratically) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<quad> k = gaussian<quad>(6, 3, seed);
    const Vector<quad> q = gaussian<quad>(3, 1, seed + 8);
    const Vector<quad> v = gaussian<quad>(3, 1, seed + 16);
    const auto weights = [&](const Vector<quad>& x) {
      const RowVector<quad> s = (k * x).transpose();
      return Vector<quad>(attn::gibbs(s).transpose());
    };
    const Vector<quad> p = weights(q);
    const auto left = [&](double e) {  // distance after one step
      const Vector<quad> x = q + quad(e) * v, A = weights(x);
      const Vector<quad> dA = -p.cwiseQuotient(A);
      const Vector<quad> y = x - natural_query_gradient(k, A, dA);
      return to_double((y - q).norm());
    };
    verify(std::abs(left(0x1p-20) / left(0x1p-21) - 4), 0x1p-14);
  }
}

// check the answers on weights
BOOST_AUTO_TEST_CASE(answer_pythagoras) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Vector<quad> p = random_weights<quad>(5, seed);
    const Vector<quad> q = random_weights<quad>(5, seed + 30);
    const Vector<quad> v = gaussian<quad>(5, 1, seed + 60), u = p - q;
    const Vector<quad> right = v - (u.dot(v) / u.dot(u)) * u;
    const RowVector<quad> s = (q.array().log().matrix() + right).transpose();
    const RowVector<quad> P = p.transpose(), Q = q.transpose();
    const RowVector<quad> R = attn::gibbs(s);
    verify(distance(kl(P, R)(0), kl(P, Q)(0) + kl(Q, R)(0)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(answer_thermometer) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 6, seed);
    const auto family = [&](const auto& T) {
      using S = typename std::decay_t<decltype(T)>::Scalar;
      return Vector<S>(log_softmax(lift<S>(s), S(T(0))).transpose());
    };
    const Vector<quad> T{{quad(double(seed)) / 4}};
    const Matrix<quad> F = fisher_information(family, T).mat();
    verify(distance(F(0, 0) * T(0) * T(0), heat_capacity(s, T(0))(0)), 1e-30);
  }
}
BOOST_AUTO_TEST_SUITE_END()
