// tests/learned_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/learned.hpp"
#include "attn/random.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// check the cone of metrics
Matrix<double> inverse(const Matrix<double>& g) {
  return inverse_metric(Tensor<double, dn, dn>(g)).g.mat();
}
double cond(const Matrix<double>& g) { return g.norm() * inverse(g).norm(); }
Matrix<double> random_metric(Index d, std::uint64_t seed) {
  const Matrix<double> W = gaussian<double>(d, d, seed, "metric");
  return W.transpose() * W + 0.1 * Matrix<double>::Identity(d, d);
}
/// An orthogonal matrix.
Matrix<double> random_turn(Index d, std::uint64_t seed) {
  const Eigen::MatrixXd W = gaussian<double>(d, d, seed, "turn");
  return Eigen::HouseholderQR<Eigen::MatrixXd>(W).householderQ() *
         Eigen::MatrixXd::Identity(d, d);
}
BOOST_AUTO_TEST_CASE(spd_distance_is_invariant) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 5);
    const Matrix<double> g = random_metric(d, seed);
    const Matrix<double> h = random_metric(d, seed + 50);
    const Matrix<double> M = random_metric(d, seed + 90);
    const Matrix<double> P = M * random_turn(d, seed), Pt = P.transpose();
    const double D = spd_distance(g, h);
    const double slack = 0x1p-50 * cond(g) * cond(h);
    verify(std::abs(spd_distance(Pt * g * P, Pt * h * P) - D),
           cond(M) * cond(M) * slack);
    verify(std::abs(spd_distance(inverse(g), inverse(h)) - D), slack);
    verify(std::abs(spd_distance(h, g) - D), slack);
    const double scaled = std::sqrt(double(d)) * std::log(2);
    verify(std::abs(spd_distance(g, 2 * g) - scaled), 0x1p-50 * cond(g));
  }
}
BOOST_AUTO_TEST_CASE(spd_geodesics) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 4);
    const Matrix<double> g = random_metric(d, seed);
    const Matrix<double> W = gaussian<double>(d, d, seed, "direction");
    const Matrix<double> X = W + W.transpose(), A = inverse(g) * X;
    const double length = std::sqrt((A * A).trace());
    for (const double t : {0.01, 0.1})
      verify(std::abs(spd_distance(g, spd_exp(g, t * X)) - t * length),
             0x1p-50 * cond(g) * std::exp(2 * t * length));
    const double h = 1e-4;  // the retraction property, by a difference
    const Matrix<double> slope =
        (spd_exp(g, h * X) - spd_exp(g, -h * X)) / (2 * h);
    verify((slope - X).norm(),
           g.norm() * (h * h * std::pow(length, 3) / 6 *
                           std::cosh(h * length) +
                       0x1p-50 * cond(g) / h));

    // compare with the symmetric root
    const auto power = [](double p) {
      return [=](double x) { return std::pow(x, p); };
    };
    const Matrix<double> R = symmetric_function(g, power(0.5));
    const Matrix<double> I = symmetric_function(g, power(-0.5));
    const Matrix<double> E =
        symmetric_function(0.1 * I * X * I, [](double x) {
          return std::exp(x);
        });
    const Matrix<double> root = R * E * R;
    verify((root - spd_exp(g, 0.1 * X)).norm(),
           0x1p-50 * cond(g) * std::exp(0.2 * length) * root.norm());
  }
}
BOOST_AUTO_TEST_CASE(nearest_psd_is_nearest) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<double> W = gaussian<double>(4, 4, seed);
    const Matrix<double> M = W + W.transpose(), P = nearest_psd(M);
    const double roundings = 4 * 0x1p-50 * M.norm();
    verify((nearest_psd(P) - P).norm(), roundings);
    const Matrix<double> other = P + 0.05 * random_metric(4, seed + 9);
    verify((M - P).norm(), (M - other).norm());
    verify(std::abs(P.cwiseProduct(M - P).sum()), roundings * M.norm());
    const Matrix<double> negative = symmetric_function(P, [](double x) {
      return std::max(-x, 0.0);
    });
    verify(negative.norm(), roundings);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> left(M - P);
    verify(std::max(left.eigenvalues().maxCoeff(), 0.0), roundings);
  }
}
BOOST_AUTO_TEST_CASE(the_cone_refuses_what_does_not_fit) {
  const Matrix<double> g = random_metric(2, 1), h = random_metric(3, 1);
  const Matrix<double> thin(3, 2), wide(2, 3);
  for (const Matrix<double>& X : {h, thin, wide}) {
    BOOST_CHECK_EXCEPTION(spd_exp(g, X), std::invalid_argument,
                          says("spd_exp: the metric is 2x2"));
    BOOST_CHECK_EXCEPTION(spd_distance(g, X), std::invalid_argument,
                          says("spd_distance: the metric is 2x2"));
  }
  const auto same = [](double x) { return x; };
  BOOST_CHECK_EXCEPTION(symmetric_function(thin, same), std::invalid_argument,
                        says("symmetric_function: M is 3x2"));
  BOOST_CHECK_EXCEPTION(nearest_psd(wide), std::invalid_argument,
                        says("nearest_psd: M is 2x3"));
  const Matrix<double> none(0, 0);
  verify(spd_distance(none, none), 0);
}

// check many parameters
struct Layer {
  Matrix<double> k = gaussian<double>(7, 3, 1, "k");
  Matrix<double> x = gaussian<double>(64, 4, 1, "x");
  Matrix<double> W = 0.3 * gaussian<double>(3, 4, 1, "W");
  Matrix<double> V = gaussian<double>(3, 4, 1, "V");
  auto scores() const {
    return [this](const auto& Y) {
      using S = typename std::decay_t<decltype(Y)>::Scalar;
      const Matrix<S> q = times(lift<S>(x), Y.transpose());
      return times(q, lift<S>(k).transpose());
    };
  }
};
Matrix<double> projection_fisher(const Matrix<double>& k,
                                 const Matrix<double>& x,
                                 const Matrix<double>& W,
                                 const Matrix<double>& V) {
  Matrix<double> sum = Matrix<double>::Zero(W.rows(), W.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Vector<double> xi = x.row(i).transpose();
    const Matrix<double> G =
        QueryMetric<double>{k}(Vector<double>(W * xi));
    const auto X = view<up>(xi);
    sum += eq<"U_a{}^m = G_{ab} V^b{}_n x^n x^m">(
        view<dn, dn>(G), view<up, dn>(V), X, X).mat();
  }
  return sum;
}
BOOST_AUTO_TEST_CASE(fisher_vector_three_ways) {
  const Layer l;
  const Matrix<double> F = fisher_vector(l.scores(), l.W, l.V);
  const double size = 1e-14 * F.norm();
  verify((F - projection_fisher(l.k, l.x, l.W, l.V)).norm(), size);
  const Matrix<double> logA0 = log_softmax(l.scores()(l.W));
  const auto divergence = [&](const auto& Y) {
    using S = typename std::decay_t<decltype(Y)>::Scalar;
    const Matrix<S> logA = log_softmax(l.scores()(Y));
    S sum(0);
    for (Index i = 0; i < logA.rows(); ++i)
      for (Index j = 0; j < logA.cols(); ++j)
        sum -= S(std::exp(logA0(i, j))) * logA(i, j);
    return sum;
  };
  Matrix<Dual<double>> Y(3, 4);
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 4; ++b) Y(a, b) = {l.W(a, b), l.V(a, b)};
  const Matrix<Dual<double>> g = gradient(divergence, Y);
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 4; ++b)
      verify(std::abs(g(a, b).d - F(a, b)), size);
}
BOOST_AUTO_TEST_CASE(fisher_vector_at_a_temperature) {
  const Layer l;
  const auto halved = [&](const auto& Y) {
    using S = typename std::decay_t<decltype(Y)>::Scalar;
    return Matrix<S>(l.scores()(Y) / S(2));
  };
  const Matrix<double> F = fisher_vector(halved, l.W, l.V);
  verify((fisher_vector(l.scores(), l.W, l.V, 2.0) - F).norm(), 0);
}
BOOST_AUTO_TEST_CASE(conjugate_gradients_solve) {
  const Layer l;
  const auto damped = [&](const Matrix<double>& V) {
    return Matrix<double>(fisher_vector(l.scores(), l.W, V) + 1e-3 * V);
  };
  const double tolerance = 1e-10;
  const auto s = conjugate_gradients(damped, l.V, tolerance, Index(40));
  const double roundings = 40 * 0x1p-53 * s.x.norm() / l.V.norm();
  verify((damped(s.x) - l.V).norm(), (tolerance + roundings) * l.V.norm());
  verify(double(s.steps), 15);
  const Matrix<double> zero = Matrix<double>::Zero(3, 4);
  verify(conjugate_gradients(damped, zero, 1e-10, Index(40)).x.norm(), 0);
}
BOOST_AUTO_TEST_CASE(kfac_is_exact_for_one_token) {
  const Layer l;
  for (Index i = 0; i < 10; ++i) {
    const Matrix<double> x = l.x.row(i);
    const Matrix<double> F = projection_fisher(l.k, x, l.W, l.V);
    const auto K = kronecker_factors(l.k, x, l.W);
    verify((K.times(l.V) - F).norm(), gamma(64, 0x1p-53) * F.norm());
  }
  using M = Matrix<double>;
  for (const auto& [k, x] : {std::pair(M(l.k.leftCols(2)), l.x),
                             std::pair(l.k, M(l.x.leftCols(3))),
                             std::pair(l.k, M(l.x.topRows(0)))})
    BOOST_CHECK_EXCEPTION(kronecker_factors(k, x, l.W), std::invalid_argument,
                          says("kronecker_factors: keys " + shape(k)));
}
BOOST_AUTO_TEST_CASE(kfac_is_an_approximation) {
  const Layer l;
  using M = Matrix<double>;
  const auto K = kronecker_factors(l.k, l.x, l.W);
  double off = 0, all = 0;
  for (Index a = 0; a < 12; ++a) {
    Matrix<double> E = Matrix<double>::Zero(3, 4);
    E(a / 4, a % 4) = 1;
    const Matrix<double> F = projection_fisher(l.k, l.x, l.W, E);
    off += (K.times(E) - F).squaredNorm();
    all += F.squaredNorm();
  }
  fact("error", std::sqrt(off / all));
  refute(std::sqrt(off / all), 0.02);
  const double size = inverse(K.G).norm() + inverse(K.X).norm();
  verify((K.solve(K.times(l.V), 1e-12) - l.V).norm(),
         (1e-12 * size + 0x1p-50 * cond(K.G) * cond(K.X)) * l.V.norm());
  const KroneckerFactors<double> one{M{{3}}, M{{2}}, 1};
  verify(std::abs(one.solve(M{{24}}, 1)(0) - 2), 0x1p-50);
}
BOOST_AUTO_TEST_CASE(kfac_refuses_what_does_not_fit) {
  const Layer l;
  using M = Matrix<double>;
  const auto K = kronecker_factors(l.k, l.x, l.W);
  for (const M& V : {M(4, 3), M(3, 3), M(4, 4)}) {
    BOOST_CHECK_EXCEPTION(K.times(V), std::invalid_argument,
                          says("KroneckerFactors::times: V is " + shape(V)));
    BOOST_CHECK_EXCEPTION(K.solve(V, 1), std::invalid_argument,
                          says("::solve: V is " + shape(V) + ", expected 3x4"));
  }
}

// check the cotangents of metrics
BOOST_AUTO_TEST_CASE(factor_gradients_exactly) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Index d = Index(1 + seed % 4), r = Index(1 + seed % 2);
    const Matrix<Fp> W = uniform<Fp>(r, d, seed, "W");
    const Matrix<Fp> Q = uniform<Fp>(5, d, seed, "Q");
    const Matrix<Fp> K = uniform<Fp>(3, d, seed, "K");
    const Matrix<Fp> dS = uniform<Fp>(5, 3, seed, "dS");
    const Matrix<Fp> dg = form_vjp(Q, dS, K);
    const auto f = factor_gradient(W, Q, dS, K);
    verify_exact(f.W, pullback_vjp(W, dg), 4);
    verify_exact(f.D, Vector<Fp>(dg.diagonal()), 3);
    const Matrix<Fp> wide = uniform<Fp>(3, d + 1, seed, "wide");
    for (const auto& bad : {Q, wide})
      BOOST_CHECK_EXCEPTION(factor_gradient(W, Q, dS, bad),
                            std::invalid_argument,
                            says("factor_gradient: W"));
  }
}
BOOST_AUTO_TEST_CASE(metric_gradients_by_autodiff) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<double> W = gaussian<double>(2, 3, seed, "W");
    const Planted task = planted_task(6, 3, seed);
    const auto loss = [&](const auto& Y) {
      using S = typename std::decay_t<decltype(Y)>::Scalar;
      const Matrix<S> g = times(Y.transpose(), Y);
      const Matrix<S> o = task.output(g) - lift<S>(task.O);
      return S(o.squaredNorm() / S(12.0));
    };
    const auto f = factor_gradient(W, task.Q, task.score_gradient(
        Matrix<double>(W.transpose() * W)), task.K);
    verify((f.W - gradient(loss, W)).norm(), 1e-13 * (1 + f.W.norm()));
  }
}

// check the planted metric
BOOST_AUTO_TEST_CASE(a_planted_loss_by_hand) {
  const Matrix<double> one{{1}}, zero{{0}, {0}}, V{{1}, {3}};
  Planted task{zero, zero, V, one, Matrix<double>{{1}, {4}}};
  verify(std::abs(task.loss(one) - 1.25), 0);
  task.O = task.output(one);
  const auto path = learn_metric(task, Cone::plain, 0, 5);
  BOOST_TEST((path.loss.size() == 1 && path.distance.size() == 1));
}
BOOST_AUTO_TEST_CASE(planted_metric_is_recovered) {
  const Planted task = planted_task(32, 4, 7);
  const auto natural = learn_metric(task, Cone::natural, 1e-26, 60);
  fact("natural", int(natural.loss.size() - 1));
  fact("natural_distance", natural.distance.back());

  // bound the metric's error by that of the outputs
  Matrix<double> J(task.O.size(), 10);
  for (Index a = 0, k = 0; a < 4; ++a)
    for (Index b = 0; b <= a; ++b, ++k) {
      Matrix<double> E = Matrix<double>::Zero(4, 4);
      E(a, b) = E(b, a) = a == b ? 1 : std::sqrt(0.5);
      J.col(k) = directional([&](const auto& h) { return task.output(h); },
                             task.g, E).reshaped();
    }
  const double sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(J)
                           .singularValues().minCoeff();
  const double r = (task.output(natural.g) - task.O).norm();
  const double bound = 2 * (r + 0x1p-50 * task.O.norm()) / sigma;
  verify((natural.g - task.g).norm(), bound);
  verify(natural.distance.back(), inverse(task.g).norm() * bound);
  const Index most = 200;
  fact("most", int(most));
  for (const auto& [how, name] :
       {std::pair(Cone::plain, "plain"), std::pair(Cone::affine, "affine"),
        std::pair(Cone::cholesky, "cholesky")}) {
    const auto path = learn_metric(task, how, 1e-26, most);
    fact(std::string(name) + "_distance", path.distance.back());
    verify(path.distance.back(), 0.5 * path.distance.front());
  }
}
BOOST_AUTO_TEST_CASE(one_planted_position) {
  const Planted t = planted_task(1, 1, 5);
  const double w = gaussian<double>(1, 1, 5, "teacher")(0);
  BOOST_TEST(t.g(0) == w * w + 0.1);
  BOOST_TEST((t.O == t.V && t.V == gaussian<double>(1, 1, 5, "V")));
  BOOST_TEST(t.loss(t.g) == 0);
}
BOOST_AUTO_TEST_CASE(planted_is_stationary) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Planted task = planted_task(9, 3, seed);
    verify(task.score_gradient(task.g).norm(),
           gamma(16, 0x1p-53) * task.O.norm() * task.V.norm());
    const auto f = [&](const auto& h) { return task.output(h); };
    const Matrix<double> V = gaussian<double>(3, 3, seed, "direction");
    const Matrix<double> J = directional(f, task.g, V);
    const double vFv = V.cwiseProduct(normal_fisher_vector(f, task.g, V)).sum();
    verify(std::abs(vFv / J.squaredNorm() - 1), gamma(1000, 0x1p-53));
  }
}
BOOST_AUTO_TEST_CASE(natural_step_is_gauss_newton) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Planted task = planted_task(32, 4, seed);
    const Matrix<double> X = gaussian<double>(4, 4, seed, "direction");
    const Matrix<double> E = X + X.transpose();
    const auto left = [&](double e) {
      const Matrix<double> g = task.g + e * E;
      const auto step = detail::cone_step(task, Cone::natural, g).second;
      return (step(1) - task.g).norm();
    };
    verify(std::abs(left(0x1p-10) / left(0x1p-11) - 4), 0x1p-3);
  }
}
BOOST_AUTO_TEST_CASE(affine_steps_ignore_the_basis) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Planted task = planted_task(8, 3, seed);
    const Matrix<double> M = random_metric(3, seed + 5);
    const Matrix<double> R = random_turn(3, seed), P = M * R;
    const Matrix<double> I = R.transpose() * inverse(M);
    Planted other = task;
    other.Q = task.Q * P.transpose();
    other.K = task.K * P.transpose();
    const Matrix<double> g = random_metric(3, seed + 50);
    const Matrix<double> h = I.transpose() * g * I;
    const auto moved = [&](Cone how) {
      const Matrix<double> a = detail::cone_step(task, how, g).second(0.5);
      const Matrix<double> b = detail::cone_step(other, how, h).second(0.5);
      const Matrix<double> c = P.transpose() * b * P;
      return (c - a).norm() / (a - g).norm();
    };
    verify(moved(Cone::affine), 0x1p-50 * cond(M) * cond(M) * cond(g));
    BOOST_TEST(moved(Cone::plain) > 0.05);
  }
}
BOOST_AUTO_TEST_SUITE_END()
