// tests/fisher_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/fisher.hpp"
#include "attn/random.hpp"
#include "zoo.hpp"
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <numeric>
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// check the Fisher matrix
template <class S>
Vector<S> random_weights(Index n, std::uint64_t seed) {
  if constexpr (std::is_same_v<S, Fp>) {
    Vector<S> p = uniform<S>(n, 1, seed, "weights");
    p(n - 1) += S(1) - p.sum();
    return p;
  } else {
    return attn::gibbs(gaussian<S>(1, n, seed, "weights")).transpose();
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
BOOST_AUTO_TEST_CASE(each_centring_is_needed) {
  for (Index n = 3; n <= 6; ++n) {
    const Vector<Fp> p = random_weights<Fp>(n, std::uint64_t(n));
    const Matrix<Fp> F = fisher(p), D = p.cwiseInverse().asDiagonal();
    const Matrix<Fp> Pi = Matrix<Fp>::Identity(n, n) -
                          Matrix<Fp>::Constant(n, n, Fp(1) / Fp(int(n)));
    const auto symmetric = [](const Matrix<Fp>& M) {
      return same(M, Matrix<Fp>(M.transpose()));
    };
    const Matrix<Fp> right = D * Pi, left = Pi * D;
    verify_exact(Matrix<Fp>(right * F * right), right, long(3 * n + 3));
    verify_exact(Matrix<Fp>(left * F * left), left, long(3 * n + 3));
    BOOST_TEST((symmetric(F * right) && !symmetric(right * F)));
    BOOST_TEST((!symmetric(F * left) && symmetric(left * F)));
    BOOST_TEST(!same(Matrix<Fp>(D * F * D), D));
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
    verify(distance(F, fisher(p, quad(T))), roundings(1000));
    const Matrix<quad> J = softmax_jacobian(p.transpose(), quad(T));
    verify(distance(Matrix<quad>(J / quad(T)), F), roundings(1000));
    const auto logZ = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      return S(log_partition(RowVector<S>(x.transpose()), S(T))(0));
    };
    verify(distance(hessian(logZ, s), F), roundings(1000));
  }
}
const auto curved = [](const auto& x) {  // not an exponential family
  using S = typename std::decay_t<decltype(x)>::Scalar;
  const Vector<S> s = lift<S>(gaussian<quad>(5, 2, 3, "K")) * x;
  return log_weights(1)(Vector<S>(s.array() * s.array() + s.array()));
};
BOOST_AUTO_TEST_CASE(fisher_in_two_forms) {
  const Vector<quad> x = gaussian<quad>(2, 1, 3, "x");
  const Matrix<quad> F = fisher_information(curved, x).mat();
  Matrix<quad> mean = Matrix<quad>::Zero(2, 2);
  for (Index j = 0; j < 5; ++j)
    mean -= exp(curved(x)(j)) *
            hessian([&](const auto& y) { return curved(y)(j); }, x);
  verify(distance(F, mean), roundings(1e4));
}
BOOST_AUTO_TEST_CASE(null_direction) {
  for (Index n = 1; n <= 9; ++n) {
    const Vector<double> p = random_weights<double>(n, std::uint64_t(n));
    const Vector<double> v = gaussian<double>(n, 1, std::uint64_t(n), "v");
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
  BOOST_CHECK_EXCEPTION(fisher_times(p, w, 0.0), std::domain_error,
                        says("fisher_times: temperature"));
}
BOOST_AUTO_TEST_CASE(divergence_is_half_squared) {
  const RowVector<quad> s = gaussian<quad>(1, 5, 1, "s");
  const RowVector<quad> v = gaussian<quad>(1, 5, 1, "v");
  const Matrix<quad> A = attn::gibbs(s);
  const Vector<quad> p = A.transpose(), w = v.transpose();
  const auto excess = [&](double e) {
    const RowVector<quad> moved = s + quad(e) * v;
    const quad half = quad(e * e) / 2 * w.dot(fisher_times(p, w));
    return to_double(kl(A, attn::gibbs(moved))(0) - half);
  };
  verify(std::abs(excess(0x1p-20) / excess(0x1p-21) - 8), 0x1p-14);

  // expand the relative entropy of a curved family
  const Vector<quad> x = gaussian<quad>(2, 1, 3, "x");
  const Vector<quad> to = gaussian<quad>(2, 1, 3, "v");
  const Matrix<quad> F = fisher_information(curved, x).mat();
  const Vector<quad> l = curved(x), a = l.array().exp();
  const auto rest = [&](double e) {
    const Vector<quad> moved = curved(Vector<quad>(x + quad(e) * to));
    return to_double(a.dot(l - moved) - quad(e * e) / 2 * to.dot(F * to));
  };
  verify(std::abs(rest(0x1p-20) / rest(0x1p-21) - 8), 0x1p-14);
}

// check that every gauge has its metric
BOOST_AUTO_TEST_CASE(every_gauge_is_shortest) {
  for (Index n = 1; n <= 6; ++n) {
    // draw weights, a gauge and its metric
    const Vector<Fp> p = random_weights<Fp>(n, std::uint64_t(n));
    const Vector<Fp> one = Vector<Fp>::Ones(n);
    Vector<Fp> z = uniform<Fp>(n, 1, std::uint64_t(n), "gauge");
    z(n - 1) += Fp(1) - z.sum();
    const Matrix<Fp> F = fisher(p, Fp(3)), id = Matrix<Fp>::Identity(n, n);
    const Matrix<Fp> P = id - one * z.transpose();
    const Matrix<Fp> D = p.cwiseInverse().asDiagonal();
    const Matrix<Fp> X = Fp(9) * (P * D * P.transpose());
    const Matrix<Fp> h = z * z.transpose() + P.transpose() * P;
    const Matrix<Fp> hinv = inverse_metric(Tensor<Fp, dn, dn>(h)).g.mat();
    const Matrix<Fp> XF = X * F, FX = F * X;
    verify_exact(XF, P, long(2 * n + 3));
    verify_exact(Matrix<Fp>(X * F * X), X, long(4 * n + 3));
    const Vector<Fp> w = F * uniform<Fp>(n, 1, std::uint64_t(n), "y");
    verify_exact(Vector<Fp>(F * X * w), w, long(n + 6));
    const Matrix<Fp> low = h * XF, high = hinv * FX;
    verify_exact(low, Matrix<Fp>(low.transpose()), long(n + 5));
    verify_exact(high, Matrix<Fp>(high.transpose()), long(3 * n + 1));
    verify_exact(Fp(one.dot(h * X * w)), Fp(0), long(n + 6));
  }
}

// check that copies keep distances
template <std::size_t n>
Matrix<Fp> splitting(const std::array<int, n>& copies) {
  Matrix<Fp> J = Matrix<Fp>::Zero(0, Index(n));
  for (std::size_t j = 0; j < n; ++j)
    for (int c = 0; c < copies[j]; ++c) {
      J.conservativeResize(J.rows() + 1, Index(n));
      J.row(J.rows() - 1).setZero();
      J(J.rows() - 1, Index(j)) = Fp(1) / Fp(copies[j]);
    }
  return J;
}
BOOST_AUTO_TEST_CASE(copies_keep_distances) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(2 + seed % 4), m = n + Index(seed % 3);
    Matrix<Fp> J = Matrix<Fp>::Zero(m, n);  // key k is a copy of k mod n
    const Vector<Fp> r = uniform<Fp>(m, 1, seed, "shares");
    for (Index k = 0; k < m; ++k) J(k, k % n) = r(k);
    for (Index j = 0; j < n; ++j) J.col(j) /= J.col(j).sum();
    const Vector<Fp> p = random_weights<Fp>(n, seed), q = J * p;
    const Matrix<Fp> g = p.cwiseInverse().asDiagonal();
    const Matrix<Fp> h = q.cwiseInverse().asDiagonal();
    verify_exact(Matrix<Fp>(J.transpose() * h * J), g, long(3 * m));

    // split the keys of two rows and measure again
    const Vector<double> a = random_weights<double>(n, seed);
    const Vector<double> b = random_weights<double>(n, seed + 100);
    Vector<double> a3(3 * n), b3(3 * n);
    a3 << a / 2, a / 4, a / 4;
    b3 << b / 2, b / 4, b / 4;
    const double d = fisher_rao_distance(a, b);
    verify(std::abs(fisher_rao_distance(a3, b3) - d),
           (8 * double(n) / 3 + 18) * 0x1p-53 * d);
    const double variation = (a - b).lpNorm<1>();
    verify(std::abs((a3 - b3).lpNorm<1>() - variation),
           gamma(4 * n, 0x1p-53) * variation);
  }
}
BOOST_AUTO_TEST_CASE(symmetric_at_the_centre) {
  for (Index m = 2; m <= 6; ++m) {
    const Matrix<Fp> W = uniform<Fp>(m, m, std::uint64_t(m));
    Matrix<Fp> g = Matrix<Fp>::Zero(m, m);
    std::vector<Index> order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), Index(0));
    do {
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < m; ++j)
          g(i, j) += W(order[std::size_t(i)], order[std::size_t(j)]) +
                     W(order[std::size_t(j)], order[std::size_t(i)]);
    } while (std::next_permutation(order.begin(), order.end()));
    const auto on = [&](Index i, Index j) {  // g(e_im, e_jm)
      const Index l = m - 1;
      return g(i, j) - g(i, l) - g(l, j) + g(l, l);
    };
    for (Index i = 0; i + 1 < m; ++i)
      for (Index j = 0; j + 1 < m; ++j)
        verify_exact(on(i, j), on(0, 0) / 2 * Fp(i == j ? 2 : 1), 1);
  }
}
BOOST_AUTO_TEST_CASE(other_metrics_count_copies) {
  const Vector<double> p = random_weights<double>(4, 1);
  const Vector<double> q = random_weights<double>(4, 2);
  Vector<double> p2(8), q2(8);
  p2 << p / 2, p / 2;
  q2 << q / 2, q / 2;
  const auto scores = [](const Vector<double>& a) {
    const Vector<double> s = a.array().log();
    return Vector<double>(s.array() - s.mean());
  };
  const double euclid = (p2 - q2).norm() / (p - q).norm();
  const double delta =
      (scores(p2) - scores(q2)).norm() / (scores(p) - scores(q)).norm();
  verify(std::abs(euclid * std::sqrt(2) - 1), gamma(16, 0x1p-53));
  verify(std::abs(delta / std::sqrt(2) - 1), 0x1p-45);
  refute(1 - euclid, 0.2);
  refute(delta - 1, 0.2);
}

// check the metric at rational points
BOOST_AUTO_TEST_CASE(metric_at_rational_points) {
  for (int m = 3; m <= 10; ++m)
    for (int a = 1; a < m - 1; ++a)
      for (int b = 1; a + b < m; ++b) {
        const std::array<int, 3> copies{a, b, m - a - b};
        const Matrix<Fp> J = splitting(copies);  // m x 3
        const Vector<Fp> k{{Fp(a), Fp(b), Fp(m - a - b)}};
        const Vector<Fp> p = k / Fp(m), centre = J * p;
        const Vector<Fp> even = Vector<Fp>::Constant(m, Fp(1) / Fp(m));
        verify_exact(centre, even, 2);
        const Matrix<Fp> pulled = Fp(m) * (J.transpose() * J);
        verify_exact(pulled, Matrix<Fp>(p.cwiseInverse().asDiagonal()), 3);
      }
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
    verify(off, roundings(1e4));
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
    verify(distance(lowered.values, third.values / quad(2)), roundings(1000));
    const auto mu = attn::gibbs(RowVector<quad>{{x(0), x(1), x(2), 0}});
    const quad skew = mu(0) * (1 - mu(0)) * (1 - 2 * mu(0));
    verify(distance(third(0, 0, 0), skew), roundings(1000));
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
    const Vector<double> x = gaussian<double>(3, 1, seed, "x");
    const Vector<double> v = gaussian<double>(3, 1, seed, "v");
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
template <class S>
void distances_within(double off) {
  const double u = unit_roundoff<S>();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Index n = Index(1 + seed % 40);
    const double near = std::pow(10.0, 1 - double(seed % 14));
    const Vector<double> s = 3 * gaussian<double>(n, 1, seed, "s");
    const Vector<double> t = s + near * gaussian<double>(n, 1, seed, "t");

    // draw two rows that nearly sum to one
    const double more = seed % 4 < 2 ? 0 : off;
    const double less = seed % 4 == 2 ? off : -more;
    const Vector<S> p = ((1 + more) * attn::gibbs(s.transpose()).transpose())
                            .template cast<S>();
    const Vector<S> q = ((1 + less) * attn::gibbs(t.transpose()).transpose())
                            .template cast<S>();
    BOOST_TEST((double(n) + 10) * u <= 0.02);
    BOOST_TEST(lift<double>(p).sum() <= 1 + 1e-4);
    BOOST_TEST(lift<double>(q).sum() <= 1 + 1e-4);
    const Vector<quad> chord =
        lift<quad>(p).cwiseSqrt() - lift<quad>(q).cwiseSqrt();
    const quad d = 4 * asin(quad(chord.norm() / 2));
    verify(distance(fisher_rao_distance(p, q), d),
           (2 * double(n) / 3 + 9) * u * to_double(d));
  }
}
BOOST_AUTO_TEST_CASE(distance_in_double) { distances_within<double>(1e-8); }
BOOST_AUTO_TEST_CASE(distance_in_float) { distances_within<float>(9.9e-5); }
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
  verify(e_geodesic(a, b, 0.5).norm(), 0);  // no key in common
  const Vector<double> half{{0.5, 0.5, 0}}, other{{0, 0.5, 0.5}};
  verify((e_geodesic(half, other, 0.25) - Vector<double>{{0, 1, 0}}).norm(), 0);
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

// check dual connections
BOOST_AUTO_TEST_CASE(alpha_connections_are_dual) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const double alpha : {-1.0, 0.0, 0.5, 2.0}) {
      const Vector<quad> x = gaussian<quad>(3, 1, seed);
      const auto g = metric_at(NaturalChart{}, x);
      const auto third = partial([](const auto& y) {
        return metric_at(NaturalChart{}, y);
      }, x);
      const auto a = AlphaConnection{NaturalChart{}, alpha}(x);
      const auto b = AlphaConnection{NaturalChart{}, -alpha}(x);
      const auto lowered =
          eq<R"(D_{cab} = g_{bd} a^d_{ca} + g_{ad} b^d_{cb})">(  // eq:none
              g, a, g, b);
      verify(distance(lowered.values, third.values), roundings(1000));
      const quad half = quad(1 - alpha) / 2;
      const auto first = eq<R"(D_{bca} = g_{bd} a^d_{ca})">(g, a);  // eq:none
      verify(distance(first.values, Vector<quad>(half * third.values)),
             roundings(1000));
    }
}
BOOST_AUTO_TEST_CASE(alpha_curvature) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    for (const double alpha : {-1.0, -0.5, 0.0, 1.0, 1.5}) {
      const Vector<quad> x = gaussian<quad>(3, 1, seed);
      const auto g = metric_at(NaturalChart{}, x);
      const auto k = partial([](const auto& y) {
        return metric_at(NaturalChart{}, y);
      }, x);
      const auto inverse = inverse_metric(g).g;
      const auto C =
          eq<"C_{abcd} = g^{ef} k_{ade} k_{bcf}">(inverse, k, k);  // eq:none
      const auto D = eq<"D_{abcd} = C_{abcd} - C_{abdc}">(C, C);  // eq:none
      const AlphaConnection connection{NaturalChart{}, alpha};
      const auto R = eq<"R_{abcd} = g_{ae} R^e{}_{bcd}">(  // eq:none
          g, connection_curvature(connection, x));
      const quad factor = quad(1 - alpha * alpha) / 4;
      verify(distance(R.values, Vector<quad>(factor * D.values)),
             roundings(1e4));
      BOOST_TEST(largest(D.values) > 0.001);
    }
}
BOOST_AUTO_TEST_CASE(three_straight_lines) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<double> p = random_weights<double>(4, seed);
    const Vector<double> q = random_weights<double>(4, seed + 50);
    const Vector<double> u = (q - p).cwiseQuotient(p);
    const Vector<double> r = q.array().log() - p.array().log();
    const auto in_chart = [](const Vector<double>& s) {
      return Vector<double>(s.head(3).array() - s(3));
    };
    const Vector<double> x = in_chart(Vector<double>(p.array().log()));
    for (const auto& [alpha, v] : {std::pair(-1.0, in_chart(u)),
                                   std::pair(1.0, in_chart(r))}) {
      const AlphaConnection straight{NaturalChart{}, alpha};
      const Vector<double> middle =
          alpha < 0 ? m_geodesic(p, q, 0.5) : e_geodesic(p, q, 0.5);
      verify_limit([&](Index steps) {
        const auto path = autoparallel(straight, x, v, 0.5, steps);
        return with_last(path.back().x);
      }, 50, 4, middle);
    }

    // go straight for the scores in the mixture chart
    const Vector<double> start = p.head(3), away = r.array() - p.dot(r);
    const Vector<double> leave = p.cwiseProduct(away).head(3);
    verify_limit([&](Index steps) {
      return autoparallel(AlphaConnection{MixtureChart{}, -1.0}, start, leave,
                          0.5, steps).back().x;
    }, 50, 4, Vector<double>(e_geodesic(p, q, 0.5).head(3)));
  }
}
BOOST_AUTO_TEST_CASE(law_of_cosines) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Vector<quad> p = random_weights<quad>(5, seed);
    if (seed % 2 == 0) p(0) = 0, p /= quad(p.sum());
    const Vector<quad> q = random_weights<quad>(5, seed + 30);
    const Vector<quad> w = gaussian<quad>(5, 1, seed, "scores"), u = p - q;
    const Vector<quad> right = w - (u.dot(w) / u.dot(u)) * u;
    for (const Vector<quad>& v : {w, right}) {
      const RowVector<quad> s = (q.array().log().matrix() + v).transpose();
      const RowVector<quad> P = p.transpose(), Q = q.transpose();
      const RowVector<quad> R = attn::gibbs(s);
      const quad cosine = kl(P, Q)(0) + kl(Q, R)(0) - u.dot(v);
      verify(distance(kl(P, R)(0), cosine), roundings(1000));

      // measure the angle in the metric of the weights
      const Vector<quad> moved = fisher_times(q, v);
      const quad product = u.cwiseProduct(moved).cwiseQuotient(q).sum();
      verify(distance(product, u.dot(v)), roundings(1000));
    }
    verify(std::abs(to_double(u.dot(right))), roundings(100));
  }
}

// check thermodynamic length
BOOST_AUTO_TEST_CASE(annealing_is_an_e_geodesic) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 5, seed);
    const Vector<quad> cold = attn::gibbs(s, quad(0.3)).transpose();
    const Vector<quad> hot = Vector<quad>::Constant(5, quad(1) / 5);
    const quad t = quad(double(seed)) / 21;
    const Vector<quad> A = attn::gibbs(s, quad(quad(0.3) / t)).transpose();
    verify(distance(e_geodesic(hot, cold, t), A), roundings(1000));
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
BOOST_AUTO_TEST_CASE(annealing_length) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 7, seed);
    const QueryMetric<quad> G{s.transpose()};
    const Vector<quad> beta{{quad(double(seed)) / 3}};
    const quad T = 1 / beta(0), C = heat_capacity(s, T)(0);
    verify(distance(G(beta)(0), C * T * T),
           roundings(1000) * to_double(1 + C * T * T));
  }
}
BOOST_AUTO_TEST_CASE(a_step_produces_entropy) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 6, seed);
    const quad bath(0.7);
    const Matrix<quad> A = attn::gibbs(s, quad(double(seed)) / 4);
    const Matrix<quad> B = attn::gibbs(s, bath);
    const quad heat = (A - B).row(0).dot(s.row(0));  // U is minus the score
    verify(distance(entropy(B)(0) - entropy(A)(0) - heat / bath, kl(A, B)(0)),
           roundings(1000));
  }
}
double price(const std::vector<double>& beta) {
  const RowVector<double> s{{2, 1, 0}};
  double sum = 0;
  for (std::size_t k = 0; k + 1 < beta.size(); ++k)
    sum += kl(attn::gibbs(s, 1 / beta[k]), attn::gibbs(s, 1 / beta[k + 1]))(0);
  return sum * double(beta.size() - 1);
}
std::vector<double> schedule(const std::string& how, Index n) {
  const double hot = 0.1, cold = 10;  // inverse temperatures
  if (how == "length")
    return equal_parts(QueryMetric<double>{Matrix<double>{{2.}, {1.}, {0.}}},
                       real_line, hot, cold, n);
  std::vector<double> beta;
  for (Index k = 0; k <= n; ++k) {
    const double t = double(k) / double(n);
    beta.push_back(how == "T"      ? 1 / ((1 - t) / hot + t / cold)
                   : how == "beta" ? (1 - t) * hot + t * cold
                                   : hot * std::pow(cold / hot, t));
  }
  return beta;
}
BOOST_AUTO_TEST_CASE(steps_cost_length) {
  const QueryMetric<double> G{Matrix<double>{{2.}, {1.}, {0.}}};
  const double L = curve_length(G, real_line, 0.1, 10.0, 4000);
  fact("length", L, 4);
  fact("half", L * L / 2, 4);
  for (const int n : {10, 100, 1000})
    for (const char* how : {"T", "beta", "ratio", "length"}) {
      const double cost = price(schedule(how, n));
      fact(std::string(how) + "_" + std::to_string(n), cost, 4);
      verify(price(schedule("length", n)), cost);
      verify(cost, price(schedule("T", n)));
    }
  for (const Index n : {50, 200})
    verify_limit([&](Index k) { return price(schedule("length", k)); }, n, 1,
                 L * L / 2);
  const auto parts = schedule("length", 20);
  for (std::size_t k = 0; k < 20; ++k)
    verify(std::abs(curve_length(G, real_line, parts[k], parts[k + 1], 50) -
                    L / 20), 1e-5);
  BOOST_CHECK_EXCEPTION(schedule("length", 0), std::invalid_argument,
                        says("equal_parts: n is 0"));
}
BOOST_AUTO_TEST_CASE(every_path_pays_distance) {
  const QueryMetric<double> G{Matrix<double>{{2.}, {1.}, {0.}}};
  double energy = 0;  // midpoint rule for the squared speed in beta
  for (int k = 0; k < 20000; ++k) {
    const Vector<double> beta{{0.1 + 9.9 * (k + 0.5) / 20000}};
    energy += G(beta)(0) * 9.9 * 9.9 / 20000;
  }
  verify_limit([&](Index n) { return price(schedule("beta", n)); }, 500, 1,
               energy / 2);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index n = Index(2 + seed % 4), steps = Index(1 + seed % 5);
    const Matrix<double> A = attn::gibbs(Matrix<double>(
        (seed % 3 == 0 ? 0.1 : 2.0) * gaussian<double>(steps + 1, n, seed)));
    double sum = 0;
    for (Index k = 0; k < steps; ++k)
      sum += double(steps) * kl(A.row(k), A.row(k + 1))(0);
    const double d = fisher_rao_distance(
        Vector<double>(A.row(0).transpose()),
        Vector<double>(A.row(steps).transpose()));
    verify(d * d / 4, sum);
  }
}
BOOST_AUTO_TEST_CASE(quarter_is_best) {
  const double e = 0x1p-20;  // a key of this weight is forbidden
  const Vector<double> cut{{0, 1}}, whole{{e, 1 - e}};
  const double d = fisher_rao_distance(cut, whole);
  const double cost = kl(RowVector<double>(cut.transpose()),
                         RowVector<double>(whole.transpose()))(0);
  verify(std::abs(cost / (d * d / 4) - 1), (1 + 0x1p-7) * e / 6);
}

// check the classical methods
BOOST_AUTO_TEST_CASE(mirror_step_is_natural) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(2 + seed % 5);
    const Vector<quad> p = random_weights<quad>(n, seed);
    const Vector<quad> g = gaussian<quad>(n, 1, seed, "g");
    const quad eta = quad(double(seed)) / 5;
    const Vector<quad> step = fisher_solve(p, fisher_times(p, g));
    const RowVector<quad> s =
        (p.array().log().matrix() - eta * step).transpose();
    Vector<quad> mirror = p.array() * (-eta * g).array().exp();
    mirror /= mirror.sum();
    const Vector<quad> moved = attn::gibbs(s).transpose();
    verify(distance(moved, mirror), roundings(1000));
  }
}
BOOST_AUTO_TEST_CASE(newton_is_natural) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<quad> k = gaussian<quad>(6, 3, seed, "k");
    const Vector<quad> p = random_weights<quad>(6, seed);
    const Vector<quad> q = gaussian<quad>(3, 1, seed, "q");
    const auto loss = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      const Vector<S> s = lift<S>(k) * x;
      return S(-lift<S>(p).dot(log_weights(0.7)(s)));
    };
    const QueryMetric<quad> G{k, quad(0.7)};
    verify(distance(hessian(loss, q), G(q)), roundings(1000));
  }
}
BOOST_AUTO_TEST_CASE(newton_converges_quadratically) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<quad> k = gaussian<quad>(6, 3, seed, "k");
    const Vector<quad> q = gaussian<quad>(3, 1, seed, "q");
    const Vector<quad> v = gaussian<quad>(3, 1, seed, "v");
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
BOOST_AUTO_TEST_CASE(answer_thermometer) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 6, seed);
    const auto family = [&](const auto& T) {
      using S = typename std::decay_t<decltype(T)>::Scalar;
      return Vector<S>(log_softmax(lift<S>(s), S(T(0))).transpose());
    };
    const Vector<quad> T{{quad(double(seed)) / 4}};
    const Matrix<quad> F = fisher_information(family, T).mat();
    const quad C = heat_capacity(s, T(0))(0);
    verify(distance(F(0, 0) * T(0) * T(0), C),
           roundings(1000) * (1 + to_double(C)));
  }
}
BOOST_AUTO_TEST_CASE(answer_divergences) {
  const auto entropy = [](const quad& t) { return quad(-log(t)); };
  const auto hellinger = [](const quad& t) { return quad(4 - 4 * sqrt(t)); };
  const auto pearson = [](const quad& t) { return (t - 1) * (t - 1) / 2; };
  const Vector<quad> p = random_weights<quad>(5, 1);
  const Vector<quad> u = random_weights<quad>(5, 2) - p;
  const quad half = u.cwiseProduct(u).cwiseQuotient(p).sum() / 2;
  const auto off = [&](const auto& f, double e) {
    quad D = 0;
    for (Index j = 0; j < 5; ++j)
      D += p(j) * f(quad(1 + quad(e) * u(j) / p(j)));
    return to_double(D - quad(e * e) * half);
  };
  const auto cubic = [&](const auto& f) {
    verify(std::abs(off(f, 0x1p-20) / off(f, 0x1p-21) - 8), 0x1p-10);
  };
  cubic(entropy);
  cubic(hellinger);
  verify(std::abs(off(pearson, 0x1p-10)), 0x1p-20 * roundings(100));
}
BOOST_AUTO_TEST_CASE(answer_alpha) {
  for (const double alpha : {-1.5, -1.0, -0.4, 0.0, 0.5, 0.75}) {
    const Vector<double> x{{0.3, -0.2}}, v{{0.5, 0.9}};
    const AlphaConnection straight{NaturalChart{}, alpha};
    verify_limit([&](Index steps) {
      const auto path = autoparallel(straight, x, v, 1.0, steps);
      Eigen::Matrix3d points;
      for (const int k : {0, 1, 2})
        points.row(k) =
            with_last(path[std::size_t(k * steps / 2)].x)
                .array().pow((1 - alpha) / 2).matrix().transpose();
      return points.determinant();
    }, 40, 4, 0.0);
  }
}
BOOST_AUTO_TEST_SUITE_END()
