// tests/backward_answers_test.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/thermodynamics.hpp"
#include "attn/verify_gradients.hpp"
#include "gradients.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(backward)

// check the answers on the backward pass
BOOST_AUTO_TEST_CASE(answer_two_keys) {
  const Matrix<double> X{{0.7, -1.9}};
  const quad z = lift<quad>(X)(0) - lift<quad>(X)(1);
  for (const double gap : {0.1, 1.0, 10.0, 46.0, 300.0}) {
    const Matrix<double> A = gibbs(Matrix<double>{{gap, 0}});
    const Matrix<double> Y = fisher_lower(A, X);
    const quad closed = quad(A(0)) * quad(A(1)) * z;
    const double u = unit_roundoff<double>();
    verify(distance(Y(0), closed), gamma(3, u) * to_double(closed));
    verify(distance(Y(1), -closed), gamma(9, u) * to_double(closed));
  }
}
BOOST_AUTO_TEST_CASE(answer_quadratic_loss) {
  const Size z{3, 4, 2, 2, 3};
  auto x = random_inputs<quad>(z, 8);
  x.T = quad(1) / 3;
  const auto f = attention_forward(x);
  const auto g = attention_vjp(x, {f.O});
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) {
      const RowVector<quad> step = x.V.row(j) - f.O.row(i);
      verify(distance(g.bias(i, j),
                      f.weights(i, j) * f.O.row(i).dot(step) / x.T),
             roundings(1e3));
    }
}
BOOST_AUTO_TEST_CASE(answer_euler) {
  const Size z{3, 5, 2, 3, 2};
  const auto x = random_inputs<quad>(z, 4);
  const auto w = random_outputs<quad>(z, 4);
  const auto f = attention_forward(x);
  const Matrix<quad> wrong = gaussian<quad>(3, 5, 4, "wrong");
  const auto g = scores_vjp(wrong, f.Q_low, f.K_low);
  const quad m = duality(form_vjp(x.Q, wrong, x.K), *x.M);
  verify(distance(duality(g.Q, x.Q), m), roundings(1e4));
  verify(distance(duality(g.K, x.K), m), roundings(1e4));
  const auto right = attention_vjp(x, f, OutputParts<quad>{w.O});
  refute(distance(wrong, right.bias), 0.1);
}
BOOST_AUTO_TEST_CASE(answer_cross_entropy) {
  const Matrix<quad> S = gaussian<quad>(3, 4, 5);
  const Matrix<quad> tape = gradient(
      [](const Matrix<Var<quad>>& s) {
        const Matrix<Var<quad>> L = log_softmax(s);
        return -(L(0, 1) + L(1, 3) + L(2, 0));
      }, S);
  Matrix<quad> Y = Matrix<quad>::Zero(3, 4);
  Y(0, 1) = Y(1, 3) = Y(2, 0) = 1;
  verify(distance(gibbs(S) - Y, tape), roundings(100));
}
BOOST_AUTO_TEST_CASE(answer_zero_weight) {
  const Matrix<double> S{{0, -745.2, -1}}, X{{1, -3, 2}};
  const Matrix<double> Y = fisher_lower(gibbs(S), X);
  const Matrix<quad> truth =
      fisher_lower(gibbs(lift<quad>(S)), lift<quad>(X));
  verify(std::abs(Y(1)), 0);
  const double lost = distance(Y(1), truth(1));
  verify(lost, 6 * smallest_subnormal<double>());
  refute(lost, smallest_subnormal<double>());
}
BOOST_AUTO_TEST_CASE(answer_walk) {
  const double u = unit_roundoff<double>();
  const Tracked A = tracked_gibbs<double>(
      tracked_exactly(Matrix<double>{{46, 0}}), 1);
  const Tracked X{Matrix<double>{{5, 1}}, Matrix<double>{{5 * u, u}}};
  const double fixed = tracked_lower<double>(A, X, {0}).error(0);
  const double plain = tracked_lower<double>(A, X, {-1}).error(0);
  verify(std::abs(fixed / (4 * A.value(1) * u) - 156.5), 0x1p-30);
  verify(std::abs(plain / u - 50), 0x1p-30);
}
BOOST_AUTO_TEST_CASE(answer_invisible) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix<Fp> w = uniform<Fp>(1, 6, seed, "w");
    const Index s = Index(1 + seed % 6);
    w.rightCols(6 - s).setConstant(Fp(0));
    const Matrix<Fp> A = w / Fp(w.sum());
    Matrix<Fp> X = uniform<Fp>(1, 6, seed, "X");
    X.leftCols(s).setConstant(Fp(X(0)));
    const Matrix<Fp> zero = Matrix<Fp>::Zero(1, 6);
    verify_exact(fisher_lower(A, X), zero, 4 * 6);
    X(0) += Fp(1);
    BOOST_TEST(same(fisher_lower(A, X), zero) == (s == 1));
  }
}
BOOST_AUTO_TEST_CASE(answer_warmest) {
  double y = 0.8;
  for (int k = 0; k < 200; ++k) y = (y + 0.5 / std::tanh(y)) / 2;
  verify(std::abs(2 * y * std::tanh(y) - 1), 0x1p-50);
  const auto norm = [](double T) {
    const RowVector<double> s{{1, 0}};
    return softmax_jacobian(gibbs(s, T), T).norm();
  };
  const double T = 1 / (2 * y);
  verify(std::max(norm(0.99 * T), norm(1.01 * T)), norm(T));
  verify(std::abs(norm(T) - y / std::pow(std::cosh(y), 2)), 0x1p-49);
  fact("T", T, 4);
  fact("A", 1 / (1 + std::exp(-2 * y)), 3);
  fact("factor", norm(T) / norm(10 * T), 3);
}
BOOST_AUTO_TEST_CASE(answer_second_lowering) {
  const Vector<quad> s = gaussian<quad>(5, 1, 3, "s").col(0);
  const Matrix<quad> X = gaussian<quad>(1, 5, 3, "X");
  const Matrix<quad> H = hessian(
      [&](const auto& z) {
        using D = typename std::decay_t<decltype(z)>::Scalar;
        const Matrix<D> A = gibbs(Matrix<D>(z.transpose()));
        return duality<D>(A, lift<D>(X));
      }, s);
  const Matrix<quad> A = gibbs(Matrix<quad>(s.transpose()));
  const Matrix<quad> y = fisher_lower(A, X);
  for (Index q = 0; q < 5; ++q)
    for (Index r = 0; r < 5; ++r)
      verify(distance(H(q, r), (q == r ? y(q) : quad(0)) - A(r) * y(q) -
                                   A(q) * y(r)), roundings(1e3));
}
BOOST_AUTO_TEST_CASE(answer_leak) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(std::isnan(0 * nan));
  const Matrix<double> S{{0, -HUGE_VAL}, {0, 0}}, A = gibbs(S);
  const Matrix<double> V{{1}, {nan}}, blank{{1}, {0}};
  const Matrix<double> plain = A * V, blanked = A * blank;
  BOOST_TEST((std::isnan(plain(0)) && !std::isnan(blanked(1))));
  const Matrix<double> O = attn::detail::sum_seen(
      S, A, V, [&](const Matrix<double>& v) { return Matrix<double>(A * v); });
  verify(std::abs(O(0) - 1), 0);
  BOOST_TEST(std::isnan(O(1)));
}
template <class S>
Matrix<S> capped(const Matrix<S>& X, double c) {
  using std::tanh;
  return X.unaryExpr([c](const S& x) { return S(S(c) * tanh(S(x / S(c)))); });
}
BOOST_AUTO_TEST_CASE(answer_softcap) {
  const Matrix<quad> Q = gaussian<quad>(3, 2, 1, "Q"),
                     K = gaussian<quad>(4, 2, 1, "K"),
                     V = gaussian<quad>(4, 2, 1, "V"),
                     dO = gaussian<quad>(3, 2, 1, "dO");
  const double c = 1.5;
  const Matrix<quad> S = capped<quad>(times(Q, K.transpose()), c);
  const Matrix<quad> A = gibbs(S);
  Matrix<quad> dX = fisher_lower(A, output_vjp(A, V, dO).A);
  dX.array() *= 1 - (S.array() / c).square();
  const Matrix<quad> tape = gradient(
      [&](const Matrix<Var<quad>>& q) {
        using R = Var<quad>;
        const Matrix<R> k = lift<R>(K), v = lift<R>(V);
        const Matrix<R> a = gibbs(capped<R>(times(q, k.transpose()), c));
        return duality(lift<R>(dO), times(a, v));
      }, Q);
  verify(distance(times(dX, K), tape), roundings(1e3));
}
BOOST_AUTO_TEST_CASE(answer_sink) {
  const quad sigma = quad(1) / 4;
  const Matrix<quad> scores = gaussian<quad>(3, 4, 1),
                     V = gaussian<quad>(4, 2, 2), dO = gaussian<quad>(3, 2, 3);
  const auto weights = [&](const auto& t) {
    using R = typename std::decay_t<decltype(t)>::Scalar;
    Matrix<R> s(3, 5);
    s << lift<R>(scores), Matrix<R>::Constant(3, 1, t(0, 0));
    return gibbs(s);
  };
  const Matrix<quad> at = Matrix<quad>::Constant(1, 1, sigma);
  const Matrix<quad> A = weights(at);
  Matrix<quad> X(3, 5);
  X << times(dO, V.transpose()), Matrix<quad>::Zero(3, 1);
  quad closed(0);
  for (Index i = 0; i < 3; ++i)
    closed -= A(i, 4) * A.row(i).dot(X.row(i));

  // differentiate by the sink
  const Matrix<quad> tape = gradient(
      [&](const Matrix<Var<quad>>& t) {
        using R = Var<quad>;
        const Matrix<R> kept = weights(t).leftCols(4);
        return duality(lift<R>(dO), times(kept, lift<R>(V)));
      }, at);
  verify(distance(fisher_lower(A, X).col(4).sum(), tape(0, 0)), roundings(1e3));
  verify(distance(closed, tape(0, 0)), roundings(1e3));
}
BOOST_AUTO_TEST_CASE(answer_any_gauge) {
  double worst[3] = {};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    // measure three gauges on one row
    const Matrix<double> A =
        gibbs(Matrix<double>(10 * gaussian<double>(1, 8, seed)));
    const Matrix<double> X = gaussian<double>(1, 8, seed + 300);
    const Index top = attn::detail::heaviest_key(A, 0);
    Matrix<double> B = A;
    B(top) = 0;
    const double c[3] = {X(top), X(attn::detail::heaviest_key(B, 0)), X.mean()};
    double P = 0;
    for (Index k = 0; k < 8; ++k) P += A(k) * std::abs(X(top) - X(k));
    const quad truth = fisher_lower(lift<quad>(A), lift<quad>(X))(top);
    for (int k = 0; k < 3; ++k) {
      const Matrix<double> z = X.array() - c[k];
      const double y = A(top) * (z(top) - A.row(0).dot(z.row(0)));
      worst[k] = std::max(
          worst[k], distance(y, truth) / (A(top) * P) * 0x1p53);
    }
  }
  fact("best", worst[0]);
  fact("second", worst[1]);
  fact("mean", worst[2]);
  verify(worst[0], 2 * (8 + 3));
  refute(worst[1] / worst[0], 100);
}
BOOST_AUTO_TEST_CASE(answer_recompute) {
  const AttentionInputs<quad> x{gaussian<quad>(4, 3, 1, "Q"),
                                gaussian<quad>(6, 3, 1, "K"),
                                gaussian<quad>(6, 2, 1, "V")};
  const OutputParts<quad> w{gaussian<quad>(4, 2, 1, "dO")};
  const auto f = attention_forward(x);
  Matrix<quad> dQ(4, 3), dK = 0 * x.K, dV = 0 * x.V;
  for (Index i = 0; i < 4; ++i) {
    // pull back through one row
    const Matrix<quad> q = f.Q_low.row(i), w_i = w.O.row(i);
    const Matrix<quad> s = times(x.Q.row(i), f.K_low.transpose());
    const Matrix<quad> A = (s.array() - f.logZ(i)).exp();
    const Matrix<quad> dA = times(w_i, x.V.transpose());
    const Matrix<quad> dS = fisher_lower(A, dA);
    dQ.row(i) = times(dS, f.K_low);
    dK += times(dS.transpose(), q);
    dV += times(A.transpose(), w_i);
  }
  const auto g = attention_vjp(x, f, w);
  verify(distance(dQ, g.Q), roundings(1e4));
  verify(distance(dK, g.K), roundings(1e4));
  verify(distance(dV, g.V), roundings(1e4));
}
BOOST_AUTO_TEST_CASE(answer_newton_query) {
  const Matrix<quad> K = gaussian<quad>(7, 2, 1);
  const RowVector<quad> t = K.colwise().mean() / quad(2);
  AttentionInputs<quad> x{Matrix<quad>::Zero(1, 2), K, K};
  x.M = Matrix<quad>::Identity(2, 2);
  const OutputParts<quad> w{Matrix<quad>::Zero(1, 2), Vector<quad>::Ones(1)};
  for (int step = 0; step < 8; ++step) {
    const RowVector<quad> g = attention_vjp(x, w).Q - t;
    Eigen::Matrix<quad, 2, 2> H;
    for (Index a = 0; a < 2; ++a) {
      AttentionParts<quad> u{0 * x.Q, 0 * K, 0 * K, 0 * *x.M, {}, quad(0)};
      u.Q(0, a) = 1;
      H.row(a) = attention_hvp(x, u, w).Q;
    }
    x.Q -= times(g, H.inverse());
  }
  const RowVector<quad> mean = times(attention_forward(x).weights, K);
  verify(distance(mean, t), roundings(1e4));
}
BOOST_AUTO_TEST_CASE(answer_best_step) {
  const auto x = lift<float>(small_problem(1));
  const auto u = lift<float>(attn::detail::direction_like(x, 5));
  const OutputParts<float> w{gaussian<float>(4, 3, 4, "dO")};
  const auto along = [&](const auto& g) {
    return to_double(duality(lift<quad>(g), lift<quad>(u)));
  };
  const double truth =
      along(attention_vjp(lift<quad>(x), lift<quad>(w)));
  const auto loss = [&](float t) {
    return double(cotangent_loss(
        attention_forward(attn::detail::moved_inputs(x, u, t)), w));
  };

  // look for the best step in float
  double central = 1, sixth = 1;
  for (float h = 0.25F; h > 1e-6F; h /= 2) {
    double d[4] = {};
    for (int k = 1; k < 4; ++k)
      d[k] = loss(float(k) * h) - loss(-float(k) * h);
    const double s = (45 * d[1] - 9 * d[2] + d[3]) / (60 * h);
    central = std::min(central, std::abs(d[1] / (2 * h) - truth));
    sixth = std::min(sixth, std::abs(s - truth));
  }

  // compare the best steps with the formula
  const double u0 = unit_roundoff<float>();
  const auto g = attention_vjp(x, w);
  const double formula = std::abs(along(g) - truth);
  fact("central", central, 2);
  fact("sixth", sixth, 2);
  fact("two_thirds", std::pow(u0, 2 / 3.0), 2);
  fact("six_sevenths", std::pow(u0, 6 / 7.0), 2);
  fact("formula", formula, 2);
  verify(formula, duality(attention_errors(x, w).gradient,
                          attn::detail::absolute_parts(lift<double>(u))));
  verify(central, 10 * std::pow(u0, 2 / 3.0));
  verify(sixth, 10 * std::pow(u0, 6 / 7.0));
}
BOOST_AUTO_TEST_SUITE_END()
