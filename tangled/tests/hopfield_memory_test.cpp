// tests/hopfield_memory_test.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "memories.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(hopfield)

// check update and energy in floating point
/// Errors allowed to the update and to the energy of one state (1 x d).
struct Allowed {
  Matrix<double> x;
  double E;
};
template <class S>
Allowed allowed(const Matrix<double>& x, const Matrix<double>& K, double b) {
  const double u = 1.01 * unit_roundoff<S>(), M = double(K.rows());
  const double d = double(K.cols());
  const Matrix<double> s = x * K.transpose();
  const double big = (x.cwiseAbs() * K.cwiseAbs().transpose()).maxCoeff();
  const double e = (d + 1) * u * big, m = std::abs(s.maxCoeff());
  const Matrix<double> A = attn::gibbs(s, 1 / b);
  const Matrix<double> X = b * (s.maxCoeff() - s.array());
  const double mean = A.cwiseProduct(X).sum(), L = -std::log(A.maxCoeff());
  const Matrix<double> r = A.array() * (u * (3 * X.array() + 3 * mean +
                                             2 * M + 6) + 2.02 * b * e);
  const double half = x.squaredNorm() / 2, F = m + L / b;
  return {r * K.cwiseAbs(),
          e + u * (2 * m + 4 * F + (3 * mean + 3 * L + M) / b +
                   (d + 3) * half + F + half)};
}
template <class S>
void states_within_bound(bool energy) {
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const Index d = Index(1 + seed % 20), M = Index(1 + seed % 31);
    const double size = std::pow(2.0, double(seed % 5) - 2);
    const double beta = std::pow(2.0, double(seed % 7) - 3);
    const Matrix<S> K =
        (size * gaussian<double>(M, d, seed)).template cast<S>();
    const Matrix<S> x =
        (size * gaussian<double>(1, d, seed + 999)).template cast<S>();
    const auto may = allowed<S>(lift<double>(x), lift<double>(K), beta);
    const Matrix<quad> xq = lift<quad>(x), Kq = lift<quad>(K);
    if (energy)
      verify(distance(quad(hopfield_energy(x, K, S(beta))(0)),
                 hopfield_energy(xq, Kq, quad(beta))(0)), may.E);
    else
      verify(hopfield_update(x, K, S(beta)),
             hopfield_update(xq, Kq, quad(beta)), may.x);
  }
}
BOOST_AUTO_TEST_CASE(update_in_double) { states_within_bound<double>(false); }
BOOST_AUTO_TEST_CASE(update_in_float) { states_within_bound<float>(false); }
BOOST_AUTO_TEST_CASE(energy_in_double) { states_within_bound<double>(true); }
BOOST_AUTO_TEST_CASE(energy_in_float) { states_within_bound<float>(true); }

// check the convergence
BOOST_AUTO_TEST_CASE(steps_are_summable) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<quad> K = gaussian<quad>(6, 3, seed);
    const quad beta = quad(double(1 + seed % 6)) / 2;
    Matrix<quad> x = quad(3) * gaussian<quad>(1, 3, seed + 70);
    const quad start = hopfield_energy(x, K, beta)(0);
    quad sum(0);
    for (int t = 0; t < 60; ++t) {
      const Matrix<quad> y = hopfield_update(x, K, beta);
      sum += (y - x).squaredNorm();
      x = y;
    }
    const quad fall = start - hopfield_energy(x, K, beta)(0);
    verify(worse(0, to_double(sum - 2 * fall)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(trajectories_converge) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<double> K = gaussian<double>(5, 3, seed);
    const Matrix<double> X = 3 * gaussian<double>(10, 3, seed + 70);
    const double beta = std::pow(2.0, double(seed % 6) - 2);
    const Matrix<double> first = hopfield_update(X, K, beta);
    const Matrix<double> way = gaussian<double>(3, 50, seed + 140);
    const Matrix<double> reach = K * way, ours = first * way;
    const double slack = gamma(20, 0x1p-53) * (1 + K.norm()) * way.norm();
    for (Index v = 0; v < 50; ++v)
      verify(worse(0, ours.col(v).maxCoeff() - reach.col(v).maxCoeff()),
             slack);
    const auto end = hopfield_retrieve(X, K, beta, 100000);
    BOOST_TEST(end.converged);
    const double lipschitz = 1 + beta * square_diameter(K) / 4;
    verify((hopfield_update(end.X, K, beta) - end.X).norm(),
           lipschitz * (std::sqrt(30.0) * 1e-12 + slack));
  }
}
BOOST_AUTO_TEST_CASE(energy_is_bounded_below) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index M = Index(1 + seed % 5);
    const Matrix<quad> K = gaussian<quad>(M, 2, seed);
    const quad beta = quad(double(1 + seed % 9)) / 2;
    const quad R2 = K.rowwise().squaredNorm().maxCoeff();
    const quad floor = -R2 / 2 - log(quad(double(M))) / beta;
    const Matrix<quad> X = hopfield_retrieve(K, K, beta, 40).X;
    const quad least = hopfield_energy(X, K, beta).minCoeff();
    verify(worse(0, to_double(floor - least)), 1e-30);
  }
}

// check what is remembered
BOOST_AUTO_TEST_CASE(contraction_when_hot) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = Index(1 + seed % 3), M = Index(2 + seed % 4);
    const Matrix<quad> K = gaussian<quad>(M, d, seed);
    const quad beta = quad(double(1 + seed % 5)) / 2;
    const quad D2 = square_diameter(K);
    const Matrix<quad> middle = hopfield_update(K, K, beta).row(0);
    const Matrix<quad> X = middle + quad(0.2) * gaussian<quad>(1, d, seed + 5);
    const Matrix<quad> Y = X + quad(0.01) * gaussian<quad>(1, d, seed + 9);
    const quad moved =
        (hopfield_update(X, K, beta) - hopfield_update(Y, K, beta)).norm();
    verify(to_double(moved), to_double(beta * D2 / 4 * (X - Y).norm()));
    const quad cool = quad(2) / D2;
    const Matrix<quad> ends =
        hopfield_retrieve(Matrix<quad>(quad(2) * K), K, cool).X;
    for (Index i = 1; i < M; ++i)
      verify(to_double((ends.row(i) - ends.row(0)).norm()), 4e-12);
  }
}
BOOST_AUTO_TEST_CASE(potts_transition) {
  for (Index M = 3; M <= 9; ++M) {
    const quad m = quad(double(M)), beta = 2 * (m - 1) / (m - 2) * log(m - 1);
    const Matrix<quad> K = Matrix<quad>::Identity(M, M);
    Matrix<quad> X = Matrix<quad>::Constant(2, M, 1 / m);
    X.row(1).setConstant(1 / (m * (m - 1)));
    X(1, 0) = 1 - 1 / m;
    verify(distance(hopfield_update(X, K, beta), X), 1e-32);
    const Vector<quad> E = hopfield_energy(X, K, beta);
    verify(distance(E(0), E(1)), 1e-31);
    const RowVector<quad> from = X.row(0), to = X.row(1);
    const Vector<quad> line = energy_along(from, to, 3, K, beta);
    verify(distance(line(0), E(0)) + distance(line(2), E(1)), 1e-31);
    BOOST_TEST(line(1) > line(0));  // the barrier between them
    const Vector<quad> cold = energy_along(from, to, 2, K, quad(2 * beta));
    verify(distance(cold, hopfield_energy(X, K, quad(2 * beta))), 1e-31);
    const quad potts = -X.row(1).squaredNorm() / 2 -
                       entropy(X)(1) / beta;
    verify(distance(E(1), potts), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(potts_stability) {
  for (Index M = 3; M <= 6; ++M)
    for (const double ratio : {0.25, 0.9, 1.0, 1.1, 3.0}) {
      const quad beta = quad(ratio) * quad(double(M)), h = 1e-12;
      const Matrix<quad> K = Matrix<quad>::Identity(M, M);
      Matrix<quad> x = Matrix<quad>::Constant(1, M, 1 / quad(double(M)));
      x(0) += h;
      x(1) -= h;
      const Matrix<quad> y = hopfield_update(x, K, beta);
      const double off = to_double(beta * h), rounding = 0x1p-106;
      verify(distance((y(0) - y(1)) / (2 * h), quad(ratio)),
             off * off + rounding / 1e-12);
    }
}
BOOST_AUTO_TEST_CASE(retrieval_error) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Index d = Index(2 + seed % 9), M = Index(1 + seed % 6);
    const Matrix<quad> K = gaussian<quad>(M, d, seed);
    const Matrix<quad> x =
        K.row(0) + quad(0.3) * gaussian<quad>(1, d, seed + 31);
    const quad beta = quad(double(1 + seed % 7)) / 2;
    const Matrix<quad> s = x * K.transpose();
    quad delta = 1e4, reach(0);
    for (Index j = 1; j < M; ++j) {
      delta = std::min(delta, s(0) - s(j));
      reach = std::max(reach, quad((K.row(j) - K.row(0)).norm()));
    }
    const quad other = quad(double(M - 1)) * exp(-beta * delta);
    const Matrix<quad> y = hopfield_update(x, K, beta);
    const quad A = attn::gibbs(s, quad(1) / beta)(0);
    const double slack = 1e-32 * to_double(1 + K.norm());
    verify(to_double(1 - A), to_double(other) + slack);
    verify(to_double((y - K.row(0)).norm()),
           to_double(reach * other) + slack);
  }
}
BOOST_AUTO_TEST_CASE(certificate_by_hand) {
  const Matrix<double> K{{0, 3}, {3, 0}, {-2, 0}};
  const double u = unit_roundoff<double>();
  for (const double beta : {0.25, 1.0, 2.0}) {
    const Basin b = basin(K, 1, beta);
    const double q = beta * 50 * std::exp(1 - 9 * beta);
    verify(std::abs(b.separation - 9), 0);
    verify(std::abs(b.reach - 5), 0);
    verify(std::abs(b.radius * beta * 5 - 1), 4 * u);
    verify(std::abs(b.rate - q), 12 * u * q);
    BOOST_TEST(b.kept() == (beta > 0.3));
  }
}
BOOST_AUTO_TEST_CASE(basins_are_kept) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Index d = Index(6 + seed % 9), M = Index(2 + seed % 5);
    const Matrix<double> K = gaussian<double>(M, d, seed);
    double beta = 0.1;
    while (!basin(K, 0, beta).kept() && beta < 100) beta *= 1.1;
    const Basin b = basin(K, 0, beta);
    if (!b.kept()) continue;  // a pattern inside the hull of the others
    ++tried;

    // draw two cues on the surface of the ball
    const auto surface = [&](std::uint64_t more) {
      const RowVector<double> v = gaussian<double>(1, d, seed + more);
      return Matrix<double>(K.row(0) + b.radius * v / v.norm());
    };
    const Matrix<double> x = surface(500), y = surface(900);
    const Matrix<double> fx = hopfield_update(x, K, beta);
    const Matrix<double> fy = hopfield_update(y, K, beta);
    const double slack = allowed<double>(x, K, beta).x.norm() +
                         allowed<double>(y, K, beta).x.norm();
    verify((fx - K.row(0)).norm(), b.rate * b.radius + slack);
    verify((fx - fy).norm(), b.rate * (x - y).norm() + slack);
    const Matrix<double> end = hopfield_retrieve(x, K, beta, 9000).X;
    verify((end - K.row(0)).norm(), b.rate * b.radius + slack);
  }
  BOOST_TEST(tried > 100);
}
BOOST_AUTO_TEST_CASE(reach_of_a_memory) {
  const Matrix<double> K = gaussian<double>(8, 32, 3);
  const Basin b = basin(K, 0, 1.0);
  fact("norm", K.row(0).norm());
  fact("radius", b.radius);
  BOOST_TEST(b.kept());
  verify(1 - retrieved_fraction(K, 0, b.radius, 1.0), 0);
  double half = 1;
  while (half < 1e3 && retrieved_fraction(K, 0, half, 1.0) > 0.5)
    half *= 1.1;
  BOOST_TEST(half < 1e3);
  fact("half", half, 2);
  BOOST_CHECK_EXCEPTION(retrieved_fraction(K, 8, 1, 1), std::invalid_argument,
                        says("retrieved_fraction: row 8 of 8x32"));
}
BOOST_AUTO_TEST_CASE(groups_act_alone) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = 6, g = Index(1 + seed % 3), M = g + Index(1 + seed % 4);
    const Matrix<quad> c = quad(2) * gaussian<quad>(1, d, seed);
    Matrix<quad> K = gaussian<quad>(M, d, seed + 33);
    K.topRows(g) = (quad(0.1) * K.topRows(g)).rowwise() + c.row(0);
    const quad beta = quad(double(1 + seed % 3)) / 2;
    const Matrix<quad> s = c * K.transpose();
    const quad delta =
        s.leftCols(g).minCoeff() - s.rightCols(M - g).maxCoeff();
    const quad most = quad(double(M - g)) / quad(double(g)) *
                      exp(-beta * delta);
    const Matrix<quad> A = attn::gibbs(s, 1 / beta);
    const quad rho = A.rightCols(M - g).sum();
    verify(to_double(rho), to_double(most));
    const Matrix<quad> whole = hopfield_update(c, K, beta);
    const Matrix<quad> split =
        (1 - rho) * hopfield_update(c, K.topRows(g), beta) +
        rho * hopfield_update(c, K.bottomRows(M - g), beta);
    verify(distance(whole, split), 1e-31);
  }
}

// check other values
BOOST_AUTO_TEST_CASE(other_values_cycle) {
  const Matrix<double> K{{3, 0}, {0, 3}}, V{{0, 3}, {3, 0}};
  const auto g = Metric<double>::identity(2);
  Matrix<double> x{{3, 0}};
  for (int t = 0; t < 200; ++t) x = attention(x, K, V, g).O;
  const Matrix<double> y = attention(x, K, V, g).O;
  const Matrix<double> z = attention(y, K, V, g).O;
  fact("away", (x - Matrix<double>{{3, 0}}).norm());
  verify((z - x).norm(), 0);
  verify((y.rowwise().reverse() - x).norm(), 0);
  refute((y - x).norm(), 4);
  const Matrix<double> end = hopfield_retrieve(K, K, 1.0).X;
  verify((end - hopfield_update(end, K, 1.0)).norm(),
         basin(K, 0, 1.0).rate * 2 * 1e-12);
}

// check answers on the modern network
BOOST_AUTO_TEST_CASE(answer_learn) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<quad> K = gaussian<quad>(5, 3, seed);
    const Matrix<quad> x = gaussian<quad>(1, 3, seed + 40);
    const quad beta = quad(double(1 + seed % 5));
    const quad last = attn::gibbs(scores(x, K, Metric<quad>::identity(3)),
                                  1 / beta)(4);
    const quad change = hopfield_energy(x, K, beta)(0) -
                        hopfield_energy(x, K.topRows(4), beta)(0);
    verify(distance(change, log1p(-last) / beta), 1e-30);
    const Matrix<quad> old = hopfield_update(x, K.topRows(4), beta);
    verify(distance(hopfield_update(x, K, beta) - old,
                  last * (K.row(4) - old)), 1e-30);
  }
}
double next_projection(double m, double M, double d) {
  const double root = std::sqrt(d);
  const double A = 1 / (1 + (M - 1) * std::exp(m * m / 2 - m * root));
  return A + (1 - A) * m / root;
}
BOOST_AUTO_TEST_CASE(answer_two_steps) {
  const Index d = 64, M = 300;
  Matrix<double> K = gaussian<double>(M, d, 5);
  K.topRows(16).rowwise().normalize();
  K.topRows(16) *= 8;
  Matrix<double> X = K.topRows(16);
  double m = 1;
  for (int t = 0; t < 2; ++t) {
    X = hopfield_update(X, K, 1 / 8.0);
    m = next_projection(m, double(M), 64);
  }
  const Vector<double> p =
      X.cwiseProduct(K.topRows(16)).rowwise().sum() / 64;
  fact("measured", p.mean());
  fact("map", m);
  const double spread = (p.array() - p.mean()).square().sum() / 15;
  verify(std::abs(p.mean() - m), 4 * std::sqrt(spread / 16));
  double most = 2;
  for (double x = 1; x > 0.5; most *= 1.01) {
    x = 1;
    for (int t = 0; t < 5000; ++t) x = next_projection(x, most, 64);
  }
  fact("fixed", std::round(most));
  fact("once", std::round(std::exp(head_log_capacity(64))));
}
BOOST_AUTO_TEST_CASE(answer_ramsauer_constant) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index M = Index(1 + seed % 4);
    const Matrix<quad> K = gaussian<quad>(M, 3, seed);
    const Matrix<quad> x = quad(2) * gaussian<quad>(1, 3, seed + 7);
    const quad beta = quad(double(seed)) / 9;
    const quad R = K.rowwise().norm().maxCoeff(), off = R - quad(x.norm());
    const quad E = hopfield_energy(x, K, beta)(0) +
                   log(quad(double(M))) / beta + R * R / 2;
    verify(worse(0, to_double(off * off / 2 - E)), 1e-30);
  }
}
BOOST_AUTO_TEST_SUITE_END()
