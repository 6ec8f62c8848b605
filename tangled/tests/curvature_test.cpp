// tests/curvature_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/fisher.hpp"
#include "attn/random.hpp"
#include "zoo.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// check curvature
BOOST_AUTO_TEST_CASE(riemann_symmetries) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Vector<Fp> x = uniform<Fp>(3, 1, seed);
    const auto R = riemann_lowered(crooked, x);
    const auto swap = eq<"R_{abcd} = R_{cdab}">(R);  // eq:none
    const auto turn = eq<"R_{abcd} = -R_{bacd}">(R);  // eq:none
    const auto last = eq<"R_{abcd} = -R_{abdc}">(R);  // eq:none
    const auto sum =
        eq<"B_{abcd} = R_{abcd} + R_{acdb} + R_{adbc}">(R, R, R);
    const Tensor<Fp, dn, dn, dn, dn> zero(3, 3, 3, 3);
    verify_exact(R, swap, 80);
    verify_exact(R, turn, 80);
    verify_exact(R, last, 80);
    verify_exact(sum, zero, 80);
    BOOST_TEST(!same(R, zero));
  }
}
BOOST_AUTO_TEST_CASE(curvature_is_invariant) {
  const auto map = [](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    return Vector<S>{{y(0) + S(3) * y(1) * y(1), y(1) * (S(2) - y(0))}};
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> y = uniform<Fp>(2, 1, seed), x = map(y);
    verify_exact(scalar_curvature(Induced{crooked, map}, y),
                 scalar_curvature(crooked, x), 200);
  }
}
BOOST_AUTO_TEST_CASE(curvature_of_a_plane) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<Fp> r = uniform<Fp>(3, 3, seed);
    const Matrix<Fp> c = uniform<Fp>(2, 2, seed + 20);
    const Vector<Fp> x = r.col(0), u = r.col(1), v = r.col(2);
    const Vector<Fp> s = c(0, 0) * u + c(0, 1) * v;
    const Vector<Fp> t = c(1, 0) * u + c(1, 1) * v;
    verify_exact(sectional_curvature(crooked, x, u, v),
                 sectional_curvature(crooked, x, s, t), 150);
  }
}
BOOST_AUTO_TEST_CASE(curvature_of_the_zoo) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> x = uniform<Fp>(2, 1, seed);
    verify_exact(gauss_curvature(polar, x), Fp(0), 20);
    verify_exact(gauss_curvature(half_plane, x), Fp(-1), 20);
    verify_exact(gauss_curvature(Zoo{Zoo::normal}, x), Fp(-1) / 2, 20);
    verify_exact(gauss_curvature(stereographic(3), x), Fp(1) / 9, 40);
  }
}
BOOST_AUTO_TEST_CASE(ricci_of_spheres) {
  for (Index d = 1; d <= 4; ++d) {
    const Vector<Fp> x = uniform<Fp>(d, 1, std::uint64_t(d));
    const auto g = stereographic(2);
    const Matrix<Fp> scaled = Fp(int(d - 1)) / 4 * g(x);
    verify_exact(Matrix<Fp>(ricci(g, x).mat()), scaled, 100);
    verify_exact(scalar_curvature(g, x), Fp(int(d * (d - 1))) / 4, 100);
  }
  const Vector<double> x{{0.1, 0.2, 0.3}};
  BOOST_CHECK_EXCEPTION(gauss_curvature(stereographic(1), x),
                        std::invalid_argument,
                        says("gauss_curvature: x has 3"));
}

// check the errata about coordinates
BOOST_AUTO_TEST_CASE(score_is_no_distance) {
  Index missed = 0;
  const Index rows = 2000;
  for (Index i = 0; i < rows; ++i) {
    const Matrix<double> q = gaussian<double>(1, 8, std::uint64_t(2 * i));
    const Matrix<double> K = gaussian<double>(20, 8, std::uint64_t(2 * i + 1));
    Index best = 0, nearest = 0;
    (K * q.transpose()).col(0).maxCoeff(&best);
    (K.rowwise() - q.row(0)).rowwise().squaredNorm().minCoeff(&nearest);
    missed += best != nearest;
  }
  fact("percent", int(std::lround(100.0 * double(missed) / double(rows))));
  refute(double(missed) / double(rows), 0.5);
  for (Index d = 1; d <= 5; ++d) {
    const Matrix<Fp> W = uniform<Fp>(d, d, std::uint64_t(d));
    const Matrix<Fp> g = W + W.transpose();
    const Vector<Fp> q = uniform<Fp>(d, 1, std::uint64_t(d + 10));
    const Vector<Fp> k = uniform<Fp>(d, 1, std::uint64_t(d + 20)), e = q - k;
    verify_exact(e.dot(g * e),
                 q.dot(g * q) + k.dot(g * k) - 2 * q.dot(g * k), 3);
  }
}
BOOST_AUTO_TEST_CASE(flat_does_not_mean_constant) {
  for (const double r : {0.5, 2.0}) {
    const Vector<double> x{{r, 0.3}};
    refute(christoffel(polar, x).values.cwiseAbs().maxCoeff(), 0.5);
    verify(christoffel(scaled_identity(2), x).values.norm(), 0);
  }
  const Vector<Fp> x = uniform<Fp>(2, 1, 1);
  verify_exact(riemann(polar, x), Tensor<Fp, up, dn, dn, dn>(2, 2, 2, 2), 20);
}

// check the answers on surfaces
BOOST_AUTO_TEST_CASE(answer_conformal) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> z = uniform<Fp>(2, 1, seed);
    const Fp x = z(0), y = z(1), w = 1 + x + 3 * x * x * y + y * y;
    const Fp wx = 1 + 6 * x * y, wy = 3 * x * x + 2 * y;
    const Fp laplace = 6 * y + 2;
    verify_exact(gauss_curvature(Zoo{Zoo::conformal}, z),
                 (wx * wx + wy * wy - w * laplace) / (w * w * w * w), 60);
  }
}

// compute a curvature from cumulants
quad curvature_from_cumulants(const Matrix<double>& keys,
                              const Vector<double>& q) {
  const Matrix<quad> k = lift<quad>(keys);
  const RowVector<quad> s = times(k, lift<quad>(q)).transpose();
  const Vector<quad> A = attn::gibbs(s).transpose();
  const RowVector<quad> mean = times(A.transpose(), k);
  const Matrix<quad> c = k.rowwise() - mean;
  Tensor<quad, dn, dn> G(2, 2);
  Tensor<quad, dn, dn, dn> kappa(2, 2, 2);
  for (Index j = 0; j < k.rows(); ++j) {
    const Vector<quad> cj = c.row(j).transpose();
    const auto x = view<dn>(cj);
    G = G + A(j) * eq<"G_{ab} = x_a x_b">(x, x);  // eq:none
    kappa = kappa + A(j) * eq<"k_{abc} = x_a x_b x_c">(x, x, x);  // eq:none
  }
  const auto inverse = inverse_metric(G);
  const auto C = eq<R"(C_{abcd} = G^{ef} \kappa_{ade} \kappa_{bcf})">(
      inverse.g, kappa, kappa);
  return (C(0, 1, 0, 1) - C(0, 1, 1, 0)) / (4 * inverse.det);
}

// check the space of queries
const Matrix<double> three_keys{{1, 0}, {0, 1}, {-1, 0.5}};
const Matrix<double> four_keys{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
double area(const Matrix<double>& k, Index steps) {
  const QueryMetric<double> G{k};
  const double h = 54 / double(steps);
  quad sum = 0;
  for (Index i = -steps; i <= steps; ++i)
    for (Index j = -steps; j <= steps; ++j) {
      const Matrix<quad> g = G(Vector<quad>{{h * double(i), h * double(j)}});
      const quad det = g(0, 0) * g(1, 1) - g(0, 1) * g(1, 0);
      if (0 < det) sum += sqrt(det);
    }
  return to_double(sum) * h * h;
}
BOOST_AUTO_TEST_CASE(octant_has_area) {
  const auto sum = [](Index steps) { return area(three_keys, steps); };
  fact("area", sum(120), 6);
  verify_limit(sum, 60, 2, 2 * M_PI);
}
BOOST_AUTO_TEST_CASE(square_has_area) {
  const auto sum = [](Index steps) { return area(four_keys, steps); };
  fact("area", sum(120), 6);
  verify_limit(sum, 60, 2, M_PI * M_PI);
}
const auto monomials = [](const Matrix<double>& k) {
  return [=](const auto& z) {
    using S = typename std::decay_t<decltype(z)>::Scalar;
    const Index n = k.rows(), d = k.cols();
    Vector<S> p = Vector<S>::Constant(n, S(1));
    for (Index j = 0; j < n; ++j)
      for (Index a = 0; a < d; ++a)
        for (int e = 0; e < int(k(j, a)); ++e) p(j) *= z(a);
    p /= S(p.sum());
    Matrix<S> keys(n, d);
    for (Index j = 0; j < n; ++j)
      for (Index a = 0; a < d; ++a) keys(j, a) = S(int(k(j, a)));
    const RowVector<S> mean = p.transpose() * keys;
    const Matrix<S> c =
        (keys.rowwise() - mean) * z.cwiseInverse().asDiagonal();
    return Matrix<S>(c.transpose() * p.asDiagonal() * c);
  };
};
BOOST_AUTO_TEST_CASE(octant_and_square_exactly) {
  const Matrix<double> square{{2, 1}, {1, 2}, {0, 1}, {1, 0}};
  using M = Matrix<double>;
  const M triangles[] = {M{{0, 0}, {2, 1}, {1, 3}},
                         M{{3, 0}, {0, 1}, {1, 1}},
                         M{{1, 0}, {0, 2}, {2, 3}}};
  const Matrix<double> corner{{0, 0, 0}, {2, 1, 0}, {1, 0, 2}, {0, 1, 1}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> z = uniform<Fp>(2, 1, seed);
    for (const auto& k : triangles)
      verify_exact(gauss_curvature(monomials(k), z), Fp(1) / 4, 400);
    verify_exact(gauss_curvature(monomials(square), z), Fp(0), 400);
    const Matrix<Fp> r = uniform<Fp>(3, 3, seed + 20);
    const Vector<Fp> q = r.col(0), u = r.col(1), v = r.col(2);
    verify_exact(sectional_curvature(monomials(corner), q, u, v),
                 Fp(1) / 4, 400);
  }
}
BOOST_AUTO_TEST_CASE(query_metric_is_pulled_back) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = Index(1 + seed % 6), d = Index(1 + seed % 3);
    const Matrix<quad> k = gaussian<quad>(n, d, seed);
    const Vector<quad> q = gaussian<quad>(d, 1, seed + 9);
    const quad T(0.6);
    const RowVector<quad> s = (k * q).transpose();
    const Vector<quad> p = attn::gibbs(s, T).transpose();
    const Matrix<quad> F = fisher(p, T);
    const auto G = eq<"G_{ab} = k^j{}_a F_{jl} k^l{}_b">(  // eq:none
        view<up, dn>(k), view<dn, dn>(F), view<up, dn>(k));
    const QueryMetric<quad> metric{k, T};
    verify(distance(metric(q), G.mat()), 1e-31);
  }
  BOOST_CHECK_EXCEPTION(QueryMetric<double>{three_keys}(Vector<double>(3)),
                        std::invalid_argument, says("QueryMetric: q has 3"));
}
double curvature_bound(const Matrix<double>& k, const Vector<double>& q) {
  const RowVector<double> A = attn::gibbs((k * q).transpose());
  const RowVector<double> mean = A * k;
  const Matrix<double> c = k.rowwise() - mean;
  const Vector<double> r = c.rowwise().norm();
  const Matrix<double> G = c.transpose() * A.asDiagonal() * c;
  const double det = G.determinant(), inverse = G.norm() / det;
  const double m3 = A * r.array().pow(3).matrix();
  const double m4 = A * r.array().pow(4).matrix();
  return 10 * 0x1p-53 * G.norm() * inverse * (m4 + m3 * m3 * inverse) / det;
}
BOOST_AUTO_TEST_CASE(curvature_has_any_sign) {
  for (const bool six : {false, true}) {
    const Matrix<double> k = six ? six_keys : pentagon();
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i <= 40; ++i)
      for (int j = 0; j <= 40; ++j) {
        const Vector<double> q{{-6 + 0.3 * i, -6 + 0.3 * j}};
        const double K = gauss_curvature(QueryMetric<double>{k}, q);
        low = std::min(low, K), high = std::max(high, K);
        verify(distance(K, curvature_from_cumulants(k, q)),
               curvature_bound(k, q));
      }
    fact(six ? "six_low" : "pentagon_low", low);
    fact(six ? "six_high" : "pentagon_high", high);
    refute(-low, 0.3);                // not: K >= 0
    if (six) refute(high - 0.25, 1);  // not: K <= 1/4
  }
}
BOOST_AUTO_TEST_CASE(curvature_of_three_keys) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    verify(distance(curvature_from_cumulants(gaussian<double>(3, 2, seed),
                                             gaussian<double>(2, 1, seed + 9)),
                    0.25), 1e-29);
}

// check the answers on queries
BOOST_AUTO_TEST_CASE(answer_random_keys) {
  double before = HUGE_VAL;
  for (const int n : {4, 6, 20, 200}) {
    int negative = 0;
    std::vector<double> size;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const QueryMetric<double> G{gaussian<double>(n, 2, seed)};
      const Vector<double> origin = Vector<double>::Zero(2);
      const double K = gauss_curvature(G, origin);
      negative += K < 0;
      size.push_back(std::abs(K));
    }
    std::sort(size.begin(), size.end());
    fact("n_" + std::to_string(n), negative / 2);
    if (n == 200) verify(size[100], 0.2 * before);
    if (n == 20) before = size[100];
  }
  const Matrix<double> k = gaussian<double>(3, 2, 1);
  const Vector<double> zero = Vector<double>::Zero(2);
  verify(std::abs(gauss_curvature(QueryMetric<double>{k}, zero) - 0.25),
         curvature_bound(k, zero));
}
BOOST_AUTO_TEST_SUITE_END()
