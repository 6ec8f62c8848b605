// tests/curvature_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/fisher.hpp"
#include "attn/random.hpp"
#include "zoo.hpp"
#include <algorithm>
#include <bit>
#include <numeric>
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// decide ranks over the field
Fp leibniz(const Matrix<Fp>& M) {
  std::vector<Index> p(static_cast<std::size_t>(M.rows()));
  std::iota(p.begin(), p.end(), Index(0));
  Fp sum(0);
  do {
    Fp term(1);
    for (Index a = 0; a < M.rows(); ++a) {
      term *= M(a, p[std::size_t(a)]);
      for (Index b = 0; b < a; ++b)
        if (p[std::size_t(b)] > p[std::size_t(a)]) term = Fp(0) - term;
    }
    sum += term;
  } while (std::next_permutation(p.begin(), p.end()));
  return sum;
}
Index rank_over_field(Matrix<Fp> M) {
  Index rank = 0;
  for (Index c = 0; c < M.cols() && rank < M.rows(); ++c) {
    Index r = rank;
    while (r < M.rows() && M(r, c) == Fp(0)) ++r;
    if (r == M.rows()) continue;
    M.row(r).swap(M.row(rank));
    for (Index i = rank + 1; i < M.rows(); ++i) {
      const Fp factor = M(i, c) / M(rank, c);
      M.row(i) -= factor * M.row(rank);
    }
    ++rank;
  }
  return rank;
}

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
    const Matrix<Fp> r = uniform<Fp>(3, 3, seed, "point and plane");
    const Matrix<Fp> c = uniform<Fp>(2, 2, seed, "basis");
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
    const Matrix<double> q = gaussian<double>(1, 8, std::uint64_t(i), "q");
    const Matrix<double> K = gaussian<double>(20, 8, std::uint64_t(i), "K");
    Index best = 0, nearest = 0;
    (K * q.transpose()).col(0).maxCoeff(&best);
    (K.rowwise() - q.row(0)).rowwise().squaredNorm().minCoeff(&nearest);
    missed += best != nearest;
  }
  fact("percent", int(std::lround(100.0 * double(missed) / double(rows))));
  refute(double(missed) / double(rows), 0.5);
  for (Index d = 1; d <= 5; ++d) {
    const Matrix<Fp> W = uniform<Fp>(d, d, std::uint64_t(d), "g");
    const Matrix<Fp> g = W + W.transpose();
    const Vector<Fp> q = uniform<Fp>(d, 1, std::uint64_t(d), "q");
    const Vector<Fp> k = uniform<Fp>(d, 1, std::uint64_t(d), "k"), e = q - k;
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
BOOST_AUTO_TEST_CASE(answer_count) {
  for (const Index d : {2, 3, 4}) {
    const Index n = d * d * (d * d - 1) / 12;
    Matrix<Fp> rows(n + 2, d * d * d * d);
    for (Index i = 0; i < n + 2; ++i) {
      const Vector<Fp> x = uniform<Fp>(d, 1, std::uint64_t(i), "points");
      rows.row(i) = riemann_lowered(crooked, x).values.transpose();
    }
    BOOST_TEST(rank_over_field(rows) == n);
  }
}
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

// fit the bending of the queries
double condition(const Tensor<quad, dn, dn>& g) {
  const Matrix<quad> inverse = inverse_metric(g).g.mat();
  return to_double(g.mat().norm()) * to_double(inverse.norm());
}
Tensor<quad, dn, dn, dn, dn> bending(const Matrix<quad>& k,
                                     const Vector<quad>& q) {
  const Index n = k.rows(), d = k.cols();
  const Vector<quad> A =
      attn::gibbs(RowVector<quad>((k * q).transpose())).transpose();
  Matrix<quad> M(n, d + 1), f(n, d * d);
  M << Vector<quad>::Ones(n), k;
  const RowVector<quad> mean = A.transpose() * k;
  for (Index a = 0; a < d; ++a)
    for (Index b = 0; b < d; ++b)
      f.col(a * d + b) = (k.col(a).array() - mean(a)) *
                         (k.col(b).array() - mean(b)) / 2;
  const Matrix<quad> W = A.asDiagonal(), gram = M.transpose() * W * M;
  const auto inverse = inverse_metric(Tensor<quad, dn, dn>(gram)).g;
  const Matrix<quad> slope = inverse.mat() * (M.transpose() * W * f);
  const Matrix<quad> nu = f - M * slope, N = nu.transpose() * W * nu;
  Tensor<quad, dn, dn, dn, dn> bend(d, d, d, d);
  bend.values = N.reshaped<Eigen::RowMajor>();
  return bend;
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
Matrix<double> random_simplex(Index d, std::uint64_t seed) {
  for (std::uint64_t tries = 0;; ++tries) {
    const Matrix<double> r =
        uniform<double>(d + 1, d, 100 * seed + tries, "corners");
    Matrix<double> k = ((r.array() + 1) * 2).floor();  // 0, 1, 2 or 3
    const Matrix<double> edges =
        k.bottomRows(d).rowwise() - k.row(0);
    if (std::abs(edges.determinant()) > 0.5) return k;
  }
}
Matrix<double> corners(const Matrix<double>& simplex) {
  const Index d = simplex.cols();
  Matrix<double> k(Index(1) << d, d);
  for (Index j = 0; j < k.rows(); ++j) {
    k.row(j) = 3 * RowVector<double>::Ones(d) * double(d);
    for (Index a = 0; a < d; ++a)
      if (j >> a & 1) k.row(j) += simplex.row(a + 1) - simplex.row(0);
  }
  return k;
}
BOOST_AUTO_TEST_CASE(octant_and_cube_exactly) {
  for (Index d = 2; d <= 4; ++d)
    for (std::uint64_t seed = 1; seed <= (d < 4 ? 5 : 1); ++seed) {
      const Matrix<double> k = random_simplex(d, seed);
      const Matrix<Fp> r = uniform<Fp>(d, 3, seed, "point and plane");
      const Vector<Fp> q = r.col(0), u = r.col(1), v = r.col(2);
      verify_exact(sectional_curvature(monomials(k), q, u, v),
                   Fp(1) / 4, 4000);
      if (d < 4)
        verify_exact(sectional_curvature(monomials(corners(k)), q, u, v),
                     Fp(0), 4000);
    }
}
BOOST_AUTO_TEST_CASE(octant_and_cube_are_covered) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Index d = Index(1 + seed % 4);
    const Matrix<quad> b = gaussian<quad>(d, d, seed, "half-edges");
    const Vector<quad> q = gaussian<quad>(d, 1, seed, "query");
    Matrix<quad> k(Index(1) << d, d), G = Matrix<quad>::Zero(d, d);
    for (Index j = 0; j < k.rows(); ++j) {
      k.row(j).setZero();
      for (Index a = 0; a < d; ++a)
        k.row(j) += (j >> a & 1 ? 1 : -1) * b.row(a);
    }
    for (Index a = 0; a < d; ++a) {
      const quad c = cosh(quad(b.row(a) * q));
      G += b.row(a).transpose() * b.row(a) / (c * c);
    }
    verify(distance(QueryMetric<quad>{k}(q), G),
           roundings(1e4) * (1 + largest(G)));

    // reach random weights by a query
    const Matrix<quad> s = gaussian<quad>(d + 1, d, seed, "simplex");
    const Vector<quad> p =
        attn::gibbs(gaussian<quad>(1, d + 1, seed, "target")).transpose();
    const Matrix<quad> E = s.topRows(d).rowwise() - s.row(d);
    const Vector<quad> l = p.array().log();
    const Matrix<quad> gram = E.transpose() * E;
    const Vector<quad> r = l.head(d).array() - l(d);
    const auto inverse = inverse_metric(Tensor<quad, dn, dn>(gram)).g;
    const Vector<quad> x = inverse.mat() * (E.transpose() * r);
    const RowVector<quad> A =
        attn::gibbs(RowVector<quad>((s * x).transpose()));
    const double loss = condition(Tensor<quad, dn, dn>(gram));
    verify(distance(A, RowVector<quad>(p.transpose())),
           roundings(1e4) * loss * (1 + largest(l)));
    const auto psi = [&](const auto& y) {
      using S = typename std::decay_t<decltype(y)>::Scalar;
      const RowVector<S> w = attn::gibbs(
          RowVector<S>(times(lift<S>(s), y).transpose()));
      return Vector<S>(S(2) * w.transpose().cwiseSqrt());
    };
    const auto flat = [](const auto& y) {
      using S = typename std::decay_t<decltype(y)>::Scalar;
      return Matrix<S>(Matrix<S>::Identity(y.size(), y.size()));
    };
    const Matrix<quad> pulled = Induced{flat, psi}(x);
    verify(distance(pulled, QueryMetric<quad>{s}(x)),
           roundings(1e4) * (1 + largest(pulled)));
  }
}
Fp simplex_volumes(const Matrix<Fp>& k, const Vector<Fp>& A) {
  const Index n = k.rows(), d = k.cols();
  Fp sum(0);
  for (Index J = 0; J < Index(1) << n; ++J) {
    if (std::popcount(std::size_t(J)) != int(d + 1)) continue;
    Matrix<Fp> M(d + 1, d + 1);
    Fp product(1);
    for (Index j = 0, row = 0; j < n; ++j)
      if (J >> j & 1) {
        M.row(row) << Fp(1), k.row(j);
        product *= A(j);
        ++row;
      }
    const Fp volume = leibniz(M);
    sum += product * volume * volume;
  }
  return sum;
}
BOOST_AUTO_TEST_CASE(definite_if_keys_span) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Index d = Index(1 + seed % 3), n = d + 1 + Index(seed % 4);
    Matrix<Fp> k = uniform<Fp>(n, d, seed, "keys");
    Vector<Fp> A = uniform<Fp>(n, 1, seed, "weights");
    A(n - 1) += Fp(1) - A.sum();
    const auto det = [&] {
      return leibniz(Matrix<Fp>(k.transpose() * fisher(A) * k));
    };
    verify_exact(det(), simplex_volumes(k, A), long(4 * n));
    BOOST_TEST(!same(det(), Fp(0)));

    // press keys of positive weight into a hyperplane
    for (Index j = 1; j < n; ++j) {
      k(j, 0) = Fp(7);
      for (Index a = 1; a < d; ++a) k(j, 0) += Fp(int(a + 2)) * k(j, a);
    }
    A(1) += A(0);
    A(0) = Fp(0);
    verify_exact(det(), Fp(0), long(4 * n));
  }
}
BOOST_AUTO_TEST_CASE(query_metric_is_pulled_back) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = Index(1 + seed % 6), d = Index(1 + seed % 3);
    const Matrix<quad> k = gaussian<quad>(n, d, seed, "k");
    const Vector<quad> q = gaussian<quad>(d, 1, seed, "q");
    const quad T(0.6);
    const RowVector<quad> s = (k * q).transpose();
    const Vector<quad> p = attn::gibbs(s, T).transpose();
    const Matrix<quad> F = fisher(p, T);
    const auto G = eq<"G_{ab} = k^j{}_a F_{jl} k^l{}_b">(  // eq:none
        view<up, dn>(k), view<dn, dn>(F), view<up, dn>(k));
    const QueryMetric<quad> metric{k, T};
    verify(distance(metric(q), G.mat()), roundings(1000));
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
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<double> k = gaussian<double>(3, 2, seed, "keys");
    const Vector<double> q = gaussian<double>(2, 1, seed, "query");
    const auto G = metric_at(QueryMetric<double>{k}, lift<quad>(q));
    verify(distance(curvature_from_cumulants(k, q), 0.25),
           roundings(1000) * condition(G));
  }
}

// check the equation of Gauss
BOOST_AUTO_TEST_CASE(gauss_equation) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Index d = Index(2 + seed % 2), n = d + 1 + Index(seed % 4);
    const Matrix<quad> k = gaussian<quad>(n, d, seed, "keys");
    const Vector<quad> q = gaussian<quad>(d, 1, seed, "query");
    const QueryMetric<quad> G{k};
    const auto R = riemann_lowered(G, q);
    const auto g = metric_at(G, q);
    const auto N = bending(k, q);  // sum_j A_j nu_ab nu_cd
    const auto round = eq<"R_{abcd} = g_{ac} g_{bd}">(g, g);  // eq:none
    const auto C = quad(0.25) * round +
                   eq<"R_{abcd} = N_{acbd}">(N);  // eq:none
    const auto gauss = eq<"R_{abcd} = C_{abcd} - C_{abdc}">(C, C);  // eq:none
    verify(distance(R.values, gauss.values),
           roundings(1e4) * condition(g) * largest(R.values));
  }
}

// check the answers on queries
BOOST_AUTO_TEST_CASE(answer_corner) {
  for (const int n : {2, 3, 10, 100}) {
    Matrix<double> s = Matrix<double>::Zero(n, 1);
    s(0) = 1;
    const double arc = 2 * std::acos(1 / std::sqrt(double(n)));
    const auto length = [&](const Matrix<double>& keys) {
      return curve_length(QueryMetric<double>{keys}, real_line, 0.0, 40.0,
                          2000);
    };
    // what is left from beta = 40 on is below 2 e^-20 sqrt(n - 1)
    verify(std::abs(length(s) - arc), 1e-7);
    s(n - 1) -= 2;
    if (n > 2) verify(arc, length(s) - 1e-3);
  }
}
BOOST_AUTO_TEST_CASE(answer_schedule) {
  const double gap = 1.7;
  const QueryMetric<double> G{Matrix<double>{{gap}, {0.0}}};
  const auto beta = [&](double tau) {
    return 4 / gap * std::atanh(std::tan(M_PI * tau / 4));
  };
  const auto times = equal_parts(G, real_line, 0.0, beta(0.9), 90);
  const auto fine = equal_parts(G, real_line, 0.0, beta(0.9), 180);
  BOOST_TEST(times.size() == 91U);
  BOOST_TEST(times.back() == beta(0.9));
  for (std::size_t k = 0; k <= 90; ++k)
    verify(std::abs(fine[2 * k] - beta(0.01 * double(k))),
           std::abs(fine[2 * k] - times[k]) + 1e-13);
}
BOOST_AUTO_TEST_CASE(answer_product) {
  Matrix<double> grid(9, 2), prism(6, 3);
  const Matrix<double> triangle{{0, 0}, {2, 1}, {1, 3}};
  for (Index i = 0; i < 3; ++i)
    for (Index l = 0; l < 3; ++l) {
      grid.row(3 * i + l) << double(i * i), double(l * l + l);
      if (l < 2) prism.row(2 * i + l) << triangle.row(i), double(l);
    }
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Vector<Fp> z = uniform<Fp>(2, 1, seed, "grid");
    verify_exact(gauss_curvature(monomials(grid), z), Fp(0), 900);
    const Vector<Fp> q = uniform<Fp>(3, 1, seed, "prism");
    const Vector<Fp> x = Vector<Fp>::Unit(3, 0), y = Vector<Fp>::Unit(3, 1);
    const Vector<Fp> up = Vector<Fp>::Unit(3, 2);
    const auto K = [&](const Vector<Fp>& u, const Vector<Fp>& v) {
      return sectional_curvature(monomials(prism), q, u, v);
    };
    verify_exact(K(x, y), Fp(1) / 4, 900);
    verify_exact(K(x, up), Fp(0), 900);
  }
}
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
