// tests/hopfield_memory_test.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "memories.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(hopfield)

// check update and energy in floating point
template <class S>
void states_within_bound(bool energy) {
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const Index d = Index(1 + seed % 20), M = Index(1 + seed % 31);
    const double size = std::pow(2.0, double(seed % 5) - 2);
    const double beta = std::pow(2.0, double(seed % 7) - 3);
    const Matrix<S> K =
        (size * gaussian<double>(M, d, seed, "K")).template cast<S>();
    const Matrix<S> x =
        (size * gaussian<double>(1, d, seed, "x")).template cast<S>();
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

// check rest in floating point
template <class S>
void updates_within_eta() {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = Index(1 + seed % 20), M = Index(1 + seed % 31);
    const double size = std::pow(2.0, double(seed % 5) - 2);
    const Matrix<S> K =
        (size * gaussian<double>(M, d, seed, "K")).template cast<S>();
    const Matrix<S> mix =
        attn::gibbs(gaussian<S>(1, M, seed, "mix"), S(0.5));
    const double R = lift<double>(K).rowwise().norm().maxCoeff();
    double beta = std::pow(2.0, double(seed % 7) - 3);
    while (2.5 * beta * R * R > 60) beta /= 2;
    const double eta = detail::update_error(K, beta);
    BOOST_TEST(20 * eta <= R);
    BOOST_TEST(8 * double(d + 1) * unit_roundoff<S>() <= 1);
    Matrix<S> x(2, d);
    x.row(0) = mix * K;
    x.row(1) = x.row(0) * S(1.2499 * R / double(x.row(0).norm()));

    // compare updates with the truth
    const Matrix<quad> off =
        lift<quad>(hopfield_update(x, K, S(beta))) -
        hopfield_update(lift<quad>(x), lift<quad>(K), quad(beta));
    for (Index i = 0; i < 2; ++i)
      verify(to_double(off.row(i).norm()), eta / (1 - 2 * eta / R));
  }
}
/// The largest error, in units of uR, of an update between two patterns.
template <class S>
double error_between_two(double beta_R2) {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Matrix<S> K = gaussian<S>(1, 40, seed, "K").replicate(2, 1);
    K.row(1).tail(20) *= S(-1);
    Matrix<S> x = K.row(0);
    x.rightCols(20) *= S(1e-4);
    const double R = lift<double>(K).row(0).norm();
    const S beta = S(beta_R2 / (R * R));
    const Matrix<quad> off =
        lift<quad>(hopfield_update(x, K, beta)) -
        hopfield_update(lift<quad>(x), lift<quad>(K), quad(beta));
    worst = std::max(worst, to_double(off.norm()) /
                                (unit_roundoff<S>() * R));
  }
  return worst;
}
BOOST_AUTO_TEST_CASE(errors_of_an_update) {
  updates_within_eta<float>();
  updates_within_eta<double>();
  refute(error_between_two<float>(300), 14.2);
  refute(error_between_two<double>(3000), 14.2);
  const Matrix<float> K = gaussian<float>(1000, 64, 1, "K");
  fact("thousand", 5 * detail::update_error(K, 0.125), 2);
}
template <class S>
bool rests(std::uint64_t seed, const S& tol) {
  const Index d = Index(2 + seed % 30), M = Index(2 + seed % 17);
  const double size = std::pow(10.0, double(seed % 7) - 3);
  const Matrix<S> K =
      (size * gaussian<double>(M, d, seed, "K")).template cast<S>();
  const double R = lift<double>(K).rowwise().norm().maxCoeff();
  Matrix<double> begin = size * gaussian<double>(8, d, seed, "X");
  for (Index i = 0; i < 8; ++i)
    begin.row(i) *= std::min(1.0, 1.2499 * R / begin.row(i).norm());
  const Matrix<S> X = begin.template cast<S>();
  const S beta = S(2) / S(square_diameter(lift<double>(K)));
  if (S(0) < tol) return hopfield_retrieve(X, K, beta, 1000, tol).converged;
  const double eta = detail::update_error(K, double(beta));

  // count the steps until rest
  BOOST_TEST(20 * eta <= R);
  BOOST_TEST(8 * double(d + 1) * unit_roundoff<S>() <= 1);
  BOOST_TEST(lift<double>(X).rowwise().norm().maxCoeff() <= 1.25 * R);
  const double first = 2.5 * R;
  const Index steps =
      1 + Index(std::ceil(std::log2(first / (5 * eta / 9))));
  return hopfield_retrieve(X, K, beta, steps).converged;
}
BOOST_AUTO_TEST_CASE(runs_come_to_rest) {
  int restless = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 70; ++seed, ++tried) {
    verify(rests<float>(seed, 0) ? 0 : 1, 0);
    verify(rests<double>(seed, 0) ? 0 : 1, 0);
    restless += !rests<float>(seed, 1e-12f);
  }
  fact("tried", tried);
  fact("restless", restless);
  refute(restless, 1);
}
BOOST_AUTO_TEST_CASE(tolerances_are_told) {
  const Matrix<float> K = gaussian<float>(1000, 64, 1, "K");
  const Matrix<float> X = 0.25f * (K.topRows(6) + K.middleRows(6, 6));
  const auto cold = hopfield_retrieve(X, K, 100.0f, 9);
  fact("cold", cold.tolerance, 2);
  fact("diameter", std::sqrt(square_diameter(K)), 2);
  BOOST_TEST((!cold.converged && cold.steps == 9 && cold.rest.isZero()));
  const auto fine = hopfield_retrieve(X.cast<double>().eval(),
                                      K.cast<double>().eval(), 100.0, 99);
  verify(std::abs(fine.tolerance /
                  (5 * detail::update_error(K.cast<double>(), 100)) - 1), 0);
  BOOST_TEST((fine.converged && fine.rest.maxCoeff() == fine.steps));
  const Matrix<float> same = K.topRows<1>().replicate(5, 1);
  BOOST_TEST(hopfield_retrieve(X, same, 1.0f).converged);

  // tell the tolerance of memories of one and of two
  const double one = detail::update_error(Matrix<double>{{1, 0}}, 0.5);
  verify(one / unit_roundoff<double>() - (2 + 6 + 2 * 0.5 * 3), 0);
  const Matrix<float> apart{{1}, {-1}};
  for (const double part : {0.995, 1.005}) {
    const double terms = part * 0.02 / (5 * unit_roundoff<float>());
    const float chill = float((terms - 4 - 6 - 6 * std::log(2.0)) / 4);
    const auto told = hopfield_retrieve(apart, apart, chill, 9);
    verify(std::abs(told.tolerance / (part * 0.02) - 1), 0x1p-20);
    BOOST_TEST(told.converged == (part < 1));
  }
  for (const double size : {1.0, 0x1p-600}) {
    const Matrix<double> near{{size}, {size * (1 + 0x1p-50)}};
    const auto told = hopfield_retrieve(near, near, 1.0, 7);
    BOOST_TEST((!told.converged && told.steps == 7 && told.tolerance > 0));
  }
  for (const float size : {1.0f, 0x1p-57f}) {
    const Matrix<float> near{{size}, {size * (1.0f + 0x1p-20f)}};
    const auto told = hopfield_retrieve(near, near, 1.0f, 7);
    BOOST_TEST((!told.converged && told.steps == 7 && told.tolerance > 0));
  }

  // let states stop one by one
  const Matrix<double> two{{3, 0}, {0, 3}};
  const Matrix<double> x{{3, 0}, {1.501, 1.5}, {0, 2}};
  const auto all = hopfield_retrieve(x, two, 1.0, 100, 1e-9);
  BOOST_TEST(all.tolerance == 1e-9);
  for (Index i = 0; i < 3; ++i)
    verify(std::abs(double(
        hopfield_retrieve(x.row(i), two, 1.0, 100, 1e-9).steps -
        all.rest(i))), 0);
  BOOST_TEST((all.rest(0) < all.rest(1) && all.rest(1) == all.steps));
  const auto brief = hopfield_retrieve(x, two, 1.0, all.steps - 1, 1e-9);
  BOOST_TEST((!brief.converged && brief.rest(1) == 0 && brief.rest(0) > 0));
  const Matrix<double> I = Matrix<double>::Identity(3, 3);
  Matrix<double> mean = Matrix<double>::Constant(2, 3, 1 / 3.0);
  mean.row(0) += RowVector<double>{{1e-11, 0, -1e-11}};
  mean.row(1) += RowVector<double>{{1e-3, 0, -1e-3}};
  const auto alone = hopfield_retrieve(mean.topRows(1), I, 4.0, 999, 1e-9);
  const auto both = hopfield_retrieve(mean, I, 4.0, 999, 1e-9);
  BOOST_TEST((alone.steps == 1 && both.converged && both.rest(0) > 1));
  refute(distance(alone.X, both.X.topRows(1)), 0.5);
}

// check the convergence
BOOST_AUTO_TEST_CASE(steps_are_summable) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<quad> K = gaussian<quad>(6, 3, seed, "K");
    const quad beta = quad(double(1 + seed % 6)) / 2;
    Matrix<quad> x = quad(3) * gaussian<quad>(1, 3, seed, "x");
    const quad start = hopfield_energy(x, K, beta)(0);
    double slack = 2 * energy_error(x, K, beta);
    const double wide = to_double(x.norm() + K.rowwise().norm().maxCoeff());
    quad sum(0);
    for (int t = 0; t < 60; ++t) {
      const Matrix<quad> y = hopfield_update(x, K, beta);
      sum += (y - x).squaredNorm();
      slack += 4 * wide * update_error(x, K, beta);
      x = y;
    }
    const quad fall = start - hopfield_energy(x, K, beta)(0);
    slack += 2 * energy_error(x, K, beta) + roundings(70) * to_double(sum);
    verify(worse(0, to_double(sum - 2 * fall)), slack);
  }
}
BOOST_AUTO_TEST_CASE(trajectories_converge) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<double> K = gaussian<double>(5, 3, seed, "K");
    const Matrix<double> X = 3 * gaussian<double>(10, 3, seed, "X");
    const double beta = std::pow(2.0, double(seed % 6) - 2);
    const Matrix<double> first = hopfield_update(X, K, beta);
    const Matrix<double> way = gaussian<double>(3, 50, seed, "way");
    const Matrix<double> reach = K * way, ours = first * way;
    const double slack = gamma(20, 0x1p-53) * (1 + K.norm()) * way.norm();
    for (Index v = 0; v < 50; ++v)
      verify(worse(0, ours.col(v).maxCoeff() - reach.col(v).maxCoeff()),
             slack);
    const double tol = 1e-12;
    const auto end = hopfield_retrieve(X, K, beta, 100000, tol);
    BOOST_TEST(end.converged);
    const double lipschitz = 1 + beta * square_diameter(K) / 4;
    verify((hopfield_update(end.X, K, beta) - end.X).norm(),
           lipschitz * (std::sqrt(30.0) * tol + slack));
  }
}
BOOST_AUTO_TEST_CASE(energy_is_bounded_below) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index M = Index(1 + seed % 5);
    const Matrix<quad> K = gaussian<quad>(M, 2, seed, "K");
    const quad beta = quad(double(1 + seed % 9)) / 2;
    const quad R2 = K.rowwise().squaredNorm().maxCoeff();
    const quad floor = -R2 / 2 - log(quad(double(M))) / beta;
    const Matrix<quad> X = hopfield_retrieve(K, K, beta, 40).X;
    for (Index i = 0; i < M; ++i)
      verify(worse(0, to_double(floor - hopfield_energy(X, K, beta)(i))),
             energy_error(X.row(i), K, beta) +
                 roundings(8) * std::abs(to_double(floor)));
  }
}

// check what is remembered
BOOST_AUTO_TEST_CASE(basins_are_kept) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Index d = Index(6 + seed % 9), M = Index(2 + seed % 5);
    const Matrix<double> K = gaussian<double>(M, d, seed, "K");
    double beta = 0.1;
    while (!basin(K, 0, beta).kept() && beta < 100) beta *= 1.1;
    const Basin b = basin(K, 0, beta);
    if (!b.kept()) continue;  // another scores as high at it, or nearly
    ++tried;

    // draw two cues on the surface of the ball
    const auto surface = [&](std::uint64_t more) {
      const RowVector<double> v = gaussian<double>(1, d, seed + more, "v");
      return Matrix<double>(K.row(0) + b.radius * v / v.norm());
    };
    const Matrix<double> y = surface(900);
    const RowVector<double> other = K.row(1) - K.row(0);
    const Matrix<double> x = K.row(0) + b.radius * other.normalized();

    // hold the certificate to its promises
    const Matrix<double> fx = hopfield_update(x, K, beta);
    const Matrix<double> fy = hopfield_update(y, K, beta);
    const double slack = allowed<double>(x, K, beta).x.norm() +
                         allowed<double>(y, K, beta).x.norm();
    verify((fx - K.row(0)).norm(), b.rate * b.radius + slack);
    verify((fx - fy).norm(), b.rate * (x - y).norm() + slack);
    const Matrix<double> end = hopfield_retrieve(x, K, beta, 9000).X;
    verify((end - K.row(0)).norm(), b.rate * b.radius + slack);
    Index best = -1;
    Vector<double>(K * end.transpose()).maxCoeff(&best);
    verify(double(best), 0);

    // compare the separation with the exact one
    const Matrix<quad> Kq = lift<quad>(K);
    quad least = HUGE_VAL;
    for (Index j = 1; j < M; ++j)
      least = std::min(least, quad((Kq.row(0) - Kq.row(j)).dot(Kq.row(0))));
    verify(distance(quad(b.separation), least),
           gamma(d + 2, 0x1p-53) * K.row(0).norm() * b.reach);
  }
  BOOST_TEST(tried > 100);
}
BOOST_AUTO_TEST_CASE(contraction_when_hot) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = Index(1 + seed % 3), M = Index(2 + seed % 4);
    const Matrix<quad> K = gaussian<quad>(M, d, seed, "K");
    const quad beta = quad(double(1 + seed % 5)) / 2;
    const quad D2 = square_diameter(K);
    const Matrix<quad> middle = hopfield_update(K, K, beta).row(0);
    const Matrix<quad> X = middle + quad(0.2) * gaussian<quad>(1, d, seed, "X");
    const Matrix<quad> Y = X + quad(0.01) * gaussian<quad>(1, d, seed, "Y");
    const quad moved =
        (hopfield_update(X, K, beta) - hopfield_update(Y, K, beta)).norm();
    verify(to_double(moved), to_double(beta * D2 / 4 * (X - Y).norm()));
    const quad cool = quad(2) / D2;
    const Matrix<quad> ends =
        hopfield_retrieve(Matrix<quad>(quad(2) * K), K, cool, 200, 1e-12)
            .X;
    for (Index i = 1; i < M; ++i)
      verify(to_double((ends.row(i) - ends.row(0)).norm()), 4e-12);
  }
}
BOOST_AUTO_TEST_CASE(contraction_is_sharp) {
  for (const double beta : {0.1, 1.0, 3.0})
    for (const double k : {0.5, 2.0}) {
      const Matrix<double> K{{k}, {-k}};
      const double x = 0x1p-20, a = beta * k * k;
      const Matrix<double> X{{k * x}, {-k * x}};
      const Matrix<double> Y = hopfield_update(X, K, beta);
      verify(std::abs((Y(0) - Y(1)) / (2 * k * x) / a - 1),
             a * a * x * x / 3 + 0x1p-50 * (1 / x) / a);
    }
}
BOOST_AUTO_TEST_CASE(potts_transition) {
  for (Index M = 3; M <= 9; ++M) {
    const quad m = quad(double(M)), beta = 2 * (m - 1) / (m - 2) * log(m - 1);
    const Matrix<quad> K = Matrix<quad>::Identity(M, M);
    Matrix<quad> X = Matrix<quad>::Constant(2, M, 1 / m);
    X.row(1).setConstant(1 / (m * (m - 1)));
    X(1, 0) = 1 - 1 / m;

    // compare the two phases at equal energies
    const double b = to_double(beta), u = roundings(1);
    const auto mean = allowed<quad>(lift<double>(X.row(0)), lift<double>(K), b);
    const auto near = allowed<quad>(lift<double>(X.row(1)), lift<double>(K), b);
    const Matrix<quad> Y = hopfield_update(X, K, beta);
    const double moved = u * (12 * b + 2);
    verify(distance(Y.row(0), X.row(0)), mean.x.maxCoeff() + moved);
    verify(distance(Y.row(1), X.row(1)), near.x.maxCoeff() + moved);
    const Vector<quad> E = hopfield_energy(X, K, beta);
    const double slack = mean.E + near.E + 10 * u * std::log(double(M)) / b;
    verify(distance(E(0), E(1)), slack);
    const quad potts = -X.row(1).squaredNorm() / 2 - entropy(X)(1) / beta;
    verify(distance(E(1), potts), slack + roundings(double(4 * M)));

    // measure how both phases are curved
    Vector<quad> along = Vector<quad>::Constant(M, -1), across(M);
    along(0) = m - 1;
    across.setZero();
    across(1) = 1, across(2) = -1;
    const quad flat = 2 * log(m - 1) / (m * (m - 2));
    for (const Index phase : {0, 1}) {
      const Vector<quad> A = X.row(phase).transpose();
      const auto stretched = [&](const Vector<quad>& v) {
        return Vector<quad>(beta * (A.cwiseProduct(v) - A * A.dot(v)));
      };
      const double off = b * b * u * double(40 * M * M);
      verify(distance(stretched(along), Vector<quad>(beta / m * along)), off);
      const quad side = phase == 0 ? quad(beta / m) : flat;
      verify(distance(stretched(across), Vector<quad>(side * across)), off);
      verify(to_double(beta / m), 1 - 0x1p-10);
      verify(to_double(side), 1 - 0x1p-10);
    }

    // look at the barrier and to both sides of the transition
    const RowVector<quad> from = X.row(0), to = X.row(1);
    const Vector<quad> line = energy_along(from, to, 5, K, beta);
    for (int k = 0; k < 5; ++k)
      verify(distance(line(k), hopfield_energy(
                 Matrix<quad>(quad(1 - k / 4.0) * from + quad(k / 4.0) * to), K,
                 beta)(0)), slack);
    BOOST_TEST(line(2) > line(0));
    for (const double ratio : {0.995, 1.005}) {
      const quad other = quad(ratio) * beta;
      const Matrix<quad> start = K.topRows(1);
      Matrix<quad> both = X;
      both.row(1) = hopfield_retrieve(start, K, other, 3000, 1e-12).X.row(0);
      const Vector<quad> F = hopfield_energy(both, K, other);
      refute(to_double(both(1, 0)), 0.5);
      refute((ratio < 1 ? 1 : -1) * to_double(F(1) - F(0)), 3e-4);
    }
  }
}
BOOST_AUTO_TEST_CASE(potts_branches) {
  double spinodal = HUGE_VAL;
  const Matrix<double> K = Matrix<double>::Identity(3, 3);
  for (double w = 0.0005; w < 1; w += 0.001) {
    const double v = (1 - w) / 2, beta = std::log(w / v) / (w - v);
    spinodal = std::min(spinodal, beta);
    const Matrix<double> x{{w, v, v}};
    verify(hopfield_update(x, K, beta), x,
           (allowed<double>(x, K, beta).x.array() +
            0x1p-53 * (2 + 40 * beta)).matrix());
  }
  fact("spinodal", spinodal, 4);
  refute(spinodal, 2);

  // start at a pattern, and near the mean
  const auto ends_at = [&](const Matrix<double>& x, double beta) {
    return hopfield_retrieve(x, K, beta, 200000, 1e-13).X.maxCoeff();
  };
  const double Tc = 4 * std::numbers::ln2;
  const Matrix<double> near{{0.35, 0.33, 0.32}};
  verify(std::abs(ends_at(K.topRows(1), 0.999 * spinodal) - 1 / 3.0), 1e-9);
  for (const double beta : {1.001 * spinodal, 0.999 * Tc, 1.001 * Tc, 3.1})
    refute(ends_at(K.topRows(1), beta), 0.5);
  for (const double beta : {1.001 * spinodal, 0.999 * Tc, 1.001 * Tc, 2.95})
    verify(std::abs(ends_at(near, beta) - 1 / 3.0), 1e-9);
  refute(ends_at(near, 3.05), 0.5);
  for (const double beta : {1.0, 2.0, 2.7})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Matrix<double> x = 2 * gaussian<double>(1, 3, seed, "x");
      const auto end = hopfield_retrieve(x, K, beta, 100000, 1e-13);
      verify((end.X.array() - 1 / 3.0).matrix().norm(), 1e-10);
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
    const Matrix<quad> K = gaussian<quad>(M, d, seed, "K");
    const Matrix<quad> x =
        K.row(0) + quad(0.3) * gaussian<quad>(1, d, seed, "x");
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
    const double slack =
        allowed<quad>(lift<double>(x), lift<double>(K), to_double(beta)).A *
        to_double((1 + other) * (1 + reach));
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
BOOST_AUTO_TEST_CASE(hot_memories_are_not_kept) {
  const Matrix<double> I = Matrix<double>::Identity(3, 3);
  fact("rate", basin(I, 0, 0.05).rate, 2);
  for (const double beta : {0.01, 0.05, 0.09}) {
    const Basin b = basin(I, 0, beta);
    BOOST_TEST((b.rate < 1 && !b.kept()));
    const auto X = hopfield_retrieve(I, I, beta, 1000, 1e-14).X;
    verify((X.array() - 1 / 3.0).abs().maxCoeff(), 1e-13);
  }
  const Matrix<double> K{{0, 3}, {3, 0}, {-2, 0}};
  BOOST_TEST((basin(K, 1, 0.001).rate < 1 && !basin(K, 1, 0.001).kept()));
  BOOST_TEST(!basin(Matrix<double>{{0x1p-565}, {-0x1p-565}}, 0, 1.0).kept());
  double cold = 1;
  while (cold < 9 && !basin(I, 0, cold).kept()) cold += 0.001;
  fact("cold", cold, 3);
  for (double beta = cold; beta < 40; beta *= 1.1) {
    BOOST_TEST(basin(I, 0, beta).kept());
    refute(hopfield_retrieve(I.topRows(1), I, beta, 1000, 1e-14).X(0), 0.5);
  }
}
BOOST_AUTO_TEST_CASE(reach_of_a_memory) {
  const Matrix<double> K = gaussian<double>(8, 32, 1, "K");
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
  half /= 1.1;
  verify(retrieved_fraction(K, 0, half, 1.0) -
             retrieved_fraction(K, 0, half, 1.0, 100, 1), 0);
  for (const Index i : {-1, 8})
    BOOST_CHECK_EXCEPTION(
        retrieved_fraction(K, i, 1, 1), std::invalid_argument,
        says("retrieved_fraction: row " + std::to_string(i) + " of 8x32"));
  BOOST_CHECK_EXCEPTION(retrieved_fraction(K, 0, 1, 1, 0),
                        std::invalid_argument, says("0 tries"));
}
BOOST_AUTO_TEST_CASE(no_certificate_without_numbers) {
  for (const Index bad : {0, 1, 3}) {
    Matrix<double> K = gaussian<double>(4, 6, 1, "K");
    K(bad, 2) = bad == 3 ? HUGE_VAL : std::nan("");
    const Basin b = basin(K, 1, 3.0);
    BOOST_TEST((std::isnan(b.separation) && std::isnan(b.reach)));
    BOOST_TEST((std::isnan(b.radius) && !b.kept()));
    BOOST_TEST(std::isnan(retrieved_fraction(K, 0, 1.0, 3.0, 5)));
  }
  const Matrix<double> K = gaussian<double>(4, 6, 1, "K");
  BOOST_TEST(std::isnan(retrieved_fraction(K, 0, std::nan(""), 3.0, 5)));
  verify(1 - retrieved_fraction(K, 0, 0.0, 3.0, 5), 0);
  verify(1 - retrieved_fraction(K.topRows(1).eval(), 0, 9.0, 3.0, 5), 0);
  const Matrix<double> twice{{1, 0}, {1, 0}, {-1, 0}};
  for (const Index i : {0, 1})
    verify(retrieved_fraction(twice, i, 0.01, 5.0), 0);
  verify(1 - retrieved_fraction(twice, 2, 0.01, 5.0), 0);
  BOOST_CHECK_EXCEPTION(retrieved_fraction(K, 0, 1.0, -1.0),
                        std::domain_error, says("beta must be positive"));
}
BOOST_AUTO_TEST_CASE(groups_act_alone) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = 6, g = Index(1 + seed % 3), M = g + Index(1 + seed % 4);
    const Matrix<quad> c = quad(2) * gaussian<quad>(1, d, seed, "c");
    Matrix<quad> K = gaussian<quad>(M, d, seed, "K");
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

    // compare the split update with the whole
    const Matrix<double> slack =
        4 * allowed<quad>(lift<double>(c), lift<double>(K),
                          to_double(beta)).x.array() +
        roundings(double(M + 8)) * to_double(K.cwiseAbs().maxCoeff());
    const Matrix<quad> whole = hopfield_update(c, K, beta);
    const Matrix<quad> split =
        (1 - rho) * hopfield_update(c, K.topRows(g), beta) +
        rho * hopfield_update(c, K.bottomRows(M - g), beta);
    verify(whole, split, slack);
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
         basin(K, 0, 1.0).rate * 2 * 5 * detail::update_error(K, 1));
}

// check answers on the modern network
BOOST_AUTO_TEST_CASE(answer_two_values) {
  const Matrix<double> K = Matrix<double>::Identity(5, 5);
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const double beta : {3.0, 4.5, 8.0}) {
      const Matrix<double> x = 2 * gaussian<double>(1, 5, seed, "x");
      const auto end = hopfield_retrieve(x, K, beta, 100000, 1e-13);
      const double lo = end.X.minCoeff(), hi = end.X.maxCoeff();
      for (Index j = 0; j < 5; ++j)
        verify(std::min(end.X(j) - lo, hi - end.X(j)), 2e-12);
    }
  const Matrix<double> saddle =
      hopfield_retrieve(Matrix<double>{{1, 1, 0, 0, 0}}, K, 8.0, 1000, 1e-13).X;
  for (Index j = 0; j < 5; ++j)
    verify(std::abs(saddle(j) - saddle(j < 2 ? 0 : 2)), 2e-12);
  refute(saddle(1), 0.48), verify(saddle(2), 0.02);
}
BOOST_AUTO_TEST_CASE(answer_scale) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<double> K = gaussian<double>(5, 3, seed, "K");
    const Matrix<double> x = gaussian<double>(1, 3, seed, "x");
    const double beta = double(1 + seed % 7) / 3;
    verify(distance(hopfield_update(4 * x, 4 * K, beta / 16),
                    4 * hopfield_update(x, K, beta)), 0);
    const Basin one = basin(K, 0, beta), four = basin(4 * K, 0, beta / 16);
    verify(std::abs(four.separation - 16 * one.separation), 0);
    verify(std::abs(four.rate - one.rate), 0);
    verify(distance(hopfield_energy(4 * x, 4 * K, beta / 16),
                    16 * hopfield_energy(x, K, beta)), 0);
  }
}
BOOST_AUTO_TEST_CASE(answer_magnet) {
  const Matrix<double> K{{1, 0}, {-1, 0}};
  for (const double epsilon : {-0.01, 0.0004, 0.001, 0.01}) {
    const auto end =
        hopfield_retrieve(K.topRows(1), K, 1 + epsilon, 200000, 1e-14);
    BOOST_TEST(end.converged);
    const double m = std::sqrt(std::max(0.0, 3 * epsilon));
    verify(std::abs(end.X(0) - m), epsilon * m + 1e-10);
  }
}
BOOST_AUTO_TEST_CASE(answer_learn) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<quad> K = gaussian<quad>(5, 3, seed, "K");
    const Matrix<quad> x = gaussian<quad>(1, 3, seed, "x");
    const quad beta = quad(double(1 + seed % 5));
    const quad last = attn::gibbs(scores(x, K, Metric<quad>::identity(3)),
                                  1 / beta)(4);
    const quad change = hopfield_energy(x, K, beta)(0) -
                        hopfield_energy(x, K.topRows(4), beta)(0);
    const auto may = allowed<quad>(lift<double>(x), lift<double>(K),
                                   to_double(beta));
    const double rest = to_double(1 - last), b = to_double(beta);
    verify(distance(change, log1p(-last) / beta),
           2 * may.E / rest + (may.A + roundings(8)) / rest / b);
    const Matrix<quad> old = hopfield_update(x, K.topRows(4), beta);
    const Matrix<quad> change_of_x = last * (K.row(4) - old);
    verify(hopfield_update(x, K, beta) - old, change_of_x,
           (4 / rest * may.x.array() +
            roundings(8) * to_double(K.cwiseAbs().maxCoeff())).matrix());
  }
}
BOOST_AUTO_TEST_CASE(answer_ramsauer_constant) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index M = Index(1 + seed % 4);
    const Matrix<quad> K = gaussian<quad>(M, 3, seed, "K");
    const Matrix<quad> x = quad(2) * gaussian<quad>(1, 3, seed, "x");
    const quad beta = quad(double(seed)) / 9;
    const quad R = K.rowwise().norm().maxCoeff(), off = R - quad(x.norm());
    const quad E = hopfield_energy(x, K, beta)(0) +
                   log(quad(double(M))) / beta + R * R / 2;
    verify(worse(0, to_double(off * off / 2 - E)),
           energy_error(x, K, beta) +
               roundings(8) * to_double(log(quad(double(M))) / beta +
                                        R * R + off * off));
  }
}
BOOST_AUTO_TEST_CASE(answer_steps) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const double eta : {0.1, 0.5, 1.5, 1.9, 2.1}) {
      const Index M = eta > 2 ? 1 : Index(1 + seed % 5);
      const Matrix<quad> K = gaussian<quad>(M, 3, seed, "K");
      const Matrix<quad> x = quad(2) * gaussian<quad>(1, 3, seed, "x");
      const quad beta = quad(double(1 + seed % 6)), part(eta);
      const Matrix<quad> s = hopfield_update(x, K, beta) - x;
      const Matrix<quad> y = x + part * s;

      // compare a partial step with its promise
      const quad rise = hopfield_energy(y, K, beta)(0) -
                        hopfield_energy(x, K, beta)(0);
      const quad most = -part * (1 - part / 2) * s.squaredNorm();
      const double slack =
          energy_error(x, K, beta) + energy_error(y, K, beta) +
          (2 * update_error(x, K, beta) + roundings(12) * to_double(s.norm())) *
              to_double(s.norm() + y.norm());
      verify(worse(0, to_double(rise - most)), slack);
      if (M == 1) verify(distance(rise, most), slack);
    }
}
BOOST_AUTO_TEST_CASE(answer_norms) {
  const double d = 64, u = 0x1p-53;
  for (const double s2 : {1.0, 2.0, 5.0, 8.0}) {
    const double formula = s2 * std::sqrt(d) - s2 * s2 / 2;
    verify(std::abs(d * gaussian_capacity_rate(s2 / std::sqrt(d)) -
                    formula), 64 * u * formula);
    verify(formula, d / 2);
  }
}
double next_projection(double m, double M, double d) {
  const double root = std::sqrt(d);
  const double A = 1 / (1 + (M - 1) * std::exp(m * m / 2 - m * root));
  return A + (1 - A) * m / root;
}
BOOST_AUTO_TEST_CASE(answer_two_steps) {
  const Index d = 64, M = 300;
  Matrix<double> K = gaussian<double>(M, d, 1, "K");
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

  // look for the first memory without a fixed point
  const auto stays = [](double patterns) {
    double x = 1;
    for (int t = 0; t < 5000; ++t) x = next_projection(x, patterns, 64);
    return x > 0.5;
  };
  double first = 2, most = 0;
  while (stays(first)) ++first;
  for (double x = 0.5; x < 1; x += 0x1p-12)
    most = std::max(most, std::exp(8 * x - x * x / 2) * (1 - x) / x / 0.875);
  fact("fixed", first);
  refute(first - 1, most);
  verify(first - 2, most);
  fact("once", std::round(std::exp(head_log_capacity(64))));
}
BOOST_AUTO_TEST_SUITE_END()
