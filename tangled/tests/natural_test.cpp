// tests/natural_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/fisher.hpp"
#include "attn/random.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// define losses and medians for the checks
Vector<double> weights_of(const Matrix<double>& k, const Vector<double>& q) {
  return attn::gibbs((k * q).transpose()).transpose();
}
double divergence(const Vector<double>& p, const Vector<double>& q) {
  return kl(RowVector<double>(p.transpose()),
            RowVector<double>(q.transpose()))(0);
}
Vector<double> polished(const Matrix<double>& k, const Vector<double>& p) {
  Vector<double> q = fit_query(k, p, Steps::natural, 0, 60).at;
  for (int step = 0; step < 3; ++step) {
    const Vector<double> A = weights_of(k, q);
    q -= natural_query_gradient<double>(k, A, -p.cwiseQuotient(A));
  }
  return q;
}
double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}
Vector<double> normal_step(const Matrix<double>& k, const Vector<double>& p,
                           const Matrix<double>& V,
                           const Vector<double>& target) {
  const RowVector<double> mean = p.transpose() * k;
  const Matrix<double> J =
      V.transpose() * p.asDiagonal() * (k.rowwise() - mean);
  return detail::least_squares<double>(J, V.transpose() * p - target);
}
Index fit_output(const Matrix<double>& k, const Matrix<double>& V,
                 const Vector<double>& target, int how, Index most) {
  const auto A = [&](const Vector<double>& q) {
    return Vector<double>(attn::gibbs((k * q).transpose()).transpose());
  };
  const auto loss = [&](const Vector<double>& q) {
    return 0.5 * (V.transpose() * A(q) - target).squaredNorm();
  };
  const auto propose = [&](const Vector<double>& q) {
    const Vector<double> p = A(q), dA = V * (V.transpose() * p - target);
    const Vector<double> gradient = query_gradient(k, p, dA);
    Vector<double> v = 4 * gradient;
    if (how == 1) v = natural_query_gradient(k, p, dA);
    if (how == 2) v = normal_step(k, p, V, target);
    const auto curve = [q, v](double t) { return Vector<double>(q - t * v); };
    return std::pair(gradient.dot(v), curve);
  };
  const Vector<double> zero = Vector<double>::Zero(k.cols());
  return Index(descend(zero, loss, propose, 1e-12, most).loss.size()) - 1;
}
Vector<double> weights(Index n, std::uint64_t seed) {
  return attn::gibbs(gaussian<double>(1, n, seed, "weights")).transpose();
}
Vector<Fp> field_weights(Index n, std::uint64_t seed) {
  Vector<Fp> p = uniform<Fp>(n, 1, seed, "weights");
  p(n - 1) += Fp(1) - p.sum();
  return p;
}
std::pair<Vector<quad>, double> slope_in_quad(const Matrix<double>& k_,
                                              const Vector<double>& p_,
                                              const Vector<double>& dA_,
                                              double T) {
  const Matrix<quad> k = lift<quad>(k_);
  const Vector<quad> p = lift<quad>(p_), dA = lift<quad>(dA_);
  const RowVector<quad> mean = p.transpose() * k;
  const Matrix<quad> c = k.rowwise() - mean;
  const Vector<quad> y = dA.array() - p.dot(dA);
  const Matrix<quad> G = c.transpose() * p.asDiagonal() * c;
  const Vector<quad> Ty = c.transpose() * p.asDiagonal() * y;
  const auto inverse = inverse_metric(Tensor<quad, dn, dn>(G)).g;
  const Vector<quad> beta = inverse.mat() * Ty;
  const Vector<quad> miss = y - c * beta;
  const Vector<quad> rest = p.cwiseSqrt().cwiseProduct(miss);
  const double sigma = std::sqrt(to_double(G.norm()));
  const double cond = sigma * std::sqrt(to_double(inverse.mat().norm()));
  const double size = cond * (to_double(beta.norm()) +
                              (cond + 1) * to_double(rest.norm()) / sigma);
  return {quad(T) * beta, T * size};
}

// check the natural gradient
BOOST_AUTO_TEST_CASE(natural_is_centred) {
  for (Index n = 1; n <= 8; ++n) {
    const Vector<Fp> A = field_weights(n, std::uint64_t(n));
    const Vector<Fp> dA = uniform<Fp>(n, 1, std::uint64_t(n), "dA");
    const Fp T(7);
    const Vector<Fp> dS = T * fisher_times(A, dA, T);
    const Matrix<Fp> N = natural_gradient(
        Matrix<Fp>(A.transpose()), Matrix<Fp>(dA.transpose()), T);
    verify_exact(Vector<Fp>(N.transpose()), fisher_solve(A, dS, T),
                 long(2 * n + 4));
  }
  BOOST_CHECK_EXCEPTION(
      natural_gradient(Matrix<double>(2, 3), Matrix<double>(2, 4)),
      std::invalid_argument, says("A is 2x3 but dA is 2x4"));
}
BOOST_AUTO_TEST_CASE(gauges_agree) {
  for (Index n = 2; n <= 8; ++n) {
    const Vector<Fp> A = field_weights(n, std::uint64_t(n));
    const Vector<Fp> dA = uniform<Fp>(n, 1, std::uint64_t(n), "dA");
    const Matrix<Fp> F = fisher(A).topLeftCorner(n - 1, n - 1);
    const Matrix<Fp> inverse = inverse_metric(Tensor<Fp, dn, dn>(F)).g.mat();
    Vector<Fp> x = Vector<Fp>::Zero(n);
    x.head(n - 1) = inverse * fisher_times(A, dA).head(n - 1);
    const Vector<Fp> N = fisher_solve(A, fisher_times(A, dA));
    const Fp shift = N(n - 1) - x(n - 1);
    verify_exact(Vector<Fp>(x.array() + shift), N, long(3 * n));
  }
}
BOOST_AUTO_TEST_CASE(natural_query_is_a_slope) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 4), n = d + 1 + Index(seed % 5);
    const Matrix<double> k = gaussian<double>(n, d, seed, "k");
    const Vector<double> p = weights(n, seed);
    const Vector<double> dA = gaussian<double>(n, 1, seed, "dA");
    const double T = 0.5 + 0.1 * double(seed % 7);
    const Vector<double> beta = natural_query_gradient(k, p, dA, T);
    const auto [truth, size] = slope_in_quad(k, p, dA, T);
    verify(to_double((lift<quad>(beta) - truth).norm()), 100 * 0x1p-53 * size);

    // give one of the features twice
    if (d > 1) {
      Matrix<double> more(n, d + 1);
      more << k.col(0) - k.col(1), k;
      const Vector<double> slope = natural_query_gradient(more, p, dA, T);
      verify((more * slope - k * beta).norm(),
             200 * 0x1p-53 * size * more.norm());
    }
    const Vector<double> dS =
        softmax_vjp(p.transpose(), dA.transpose(), T).transpose();
    verify((query_gradient(k, p, dA, T) - k.transpose() * dS).norm(),
           2 * gamma(2 * n + 8, 0x1p-53) * k.norm() * dA.norm() / T);
  }
}
BOOST_AUTO_TEST_CASE(regression_keeps_digits) {
  Matrix<double> k = gaussian<double>(12, 3, 1);
  k.col(2) = k.col(1) + 1e-6 * k.col(2);
  const Vector<double> p = weights(12, 2), slope{{1, -2, 3}};
  const Vector<double> dA = k * slope;  // no residual: the slope is known
  const RowVector<double> mean = p.transpose() * k;
  const Matrix<double> c = k.rowwise() - mean;
  const Matrix<double> G = c.transpose() * p.asDiagonal() * c;
  const Vector<double> normal =
      inverse_metric(Tensor<double, dn, dn>(G)).g.mat() *
      query_gradient(k, p, dA);
  const Vector<double> beta = natural_query_gradient(k, p, dA);
  const double good = (beta - slope).norm();
  fact("regression", good);
  fact("normal", (normal - slope).norm());
  const auto [truth, size] = slope_in_quad(k, p, dA, 1);
  verify(to_double((lift<quad>(beta) - truth).norm()), 100 * 0x1p-53 * size);
  refute((normal - slope).norm(), 100 * good);
  const Matrix<double> one = k.topRows(1);  // a single key: nothing to learn
  verify(natural_query_gradient(one, weights(1, 1),
                                Vector<double>(dA.head(1))).norm(), 0);
}
BOOST_AUTO_TEST_CASE(gradients_of_two_keys) {
  const Matrix<double> k{{1.0}, {-1.0}};
  const Vector<double> p{{0.5, 0.5}}, dA{{1, 0}}, one = Vector<double>::Ones(1);
  BOOST_TEST(query_gradient(k, p, dA, 2.0)(0) == 0.25);
  verify(std::abs(natural_query_gradient(k, p, dA, 2.0)(0) - 1), 0x1p-50);
  BOOST_CHECK_EXCEPTION(query_gradient(k, one, one), std::invalid_argument,
                        says("query_gradient: 2 keys, 1 weights"));
  for (const auto& [w, v] : {std::pair(one, one), std::pair(p, one)})
    BOOST_CHECK_EXCEPTION(natural_query_gradient(k, w, v),
                          std::invalid_argument, says("gradient: 2 keys, "));
  BOOST_CHECK_EXCEPTION(natural_query_gradient(k, p, dA, 0.0),
                        std::domain_error, says("natural_query_gradient"));
}
BOOST_AUTO_TEST_CASE(fisher_has_no_inverse) {
  double least = HUGE_VAL;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Vector<double> p = weights(5, seed);
    const Vector<double> dA = gaussian<double>(5, 1, seed, "dA");
    const Matrix<double> F = fisher(p);
    try {
      const Matrix<double> X =
          inverse_metric(Tensor<double, dn, dn>(F)).g.mat();
      const double gap = (F * X - Matrix<double>::Identity(5, 5)).norm();
      least = std::min(least, std::isfinite(gap) ? gap : HUGE_VAL);
    } catch (const std::domain_error&) {}  // a pivot was not positive
    const Vector<double> dS = fisher_times(p, dA);
    verify((F * fisher_solve(p, dS) - dS).norm(),
           gamma(16, 0x1p-53) * dA.norm());
  }
  fact("off", least);
  refute(least, 0.1);
}

// check what is invariant
struct Coin {  // loss (p - 0.9)^2 at p, coordinates p or logit
  double p, slope = 2 * (p - 0.9), fisher = 1 / (p * (1 - p));
  double by_p(double step) const { return p - step; }
  double by_logit(double step) const {
    return 1 / (1 + (1 - p) / p * std::exp(step));
  }
};
BOOST_AUTO_TEST_CASE(steps_agree_to_first_order) {
  const Coin c{0.2};
  const auto off = [&](double a, double b) {
    return std::abs((a - b) / (a - c.p));
  };
  const auto natural = [&](double eta) {
    return off(c.by_p(eta * c.slope / c.fisher), c.by_logit(eta * c.slope));
  };
  const auto plain = [&](double eta) {
    return off(c.by_p(eta * c.slope), c.by_logit(eta * c.slope / c.fisher));
  };
  fact("at_tenth", natural(0.1));
  fact("plain", plain(0.1));
  const double predicted = 0.5 * (1 - 2 * c.p) * std::abs(c.slope);
  refute(natural(0.1), 0.1 * predicted / 2);  // not: invariant
  for (const Index n : {100, 1000}) {
    verify_limit([&](Index k) { return natural(1.0 / double(k)) * double(k); },
                 n, 1, predicted);
    verify_limit([&](Index k) { return plain(1.0 / double(k)); }, n, 1,
                 1 - 1 / (c.fisher * c.fisher));
  }
}
BOOST_AUTO_TEST_CASE(natural_gradient_is_a_vector) {
  for (Index d = 1; d <= 6; ++d) {
    const Matrix<Fp> W = uniform<Fp>(d, d, std::uint64_t(d), "W");
    const Matrix<Fp> J = uniform<Fp>(d, d, std::uint64_t(d), "J");
    const Vector<Fp> dL = uniform<Fp>(d, 1, std::uint64_t(d), "dL");
    const Matrix<Fp> F = W.transpose() * W, Fx = J.transpose() * F * J;
    const auto natural = [](const Matrix<Fp>& g, const Vector<Fp>& x) {
      return Vector<Fp>(inverse_metric(Tensor<Fp, dn, dn>(g)).g.mat() * x);
    };
    verify_exact(Vector<Fp>(J * natural(Fx, J.transpose() * dL)),
                 natural(F, dL), long(8 * d));
  }
}
const auto plane = [](const auto& x) {
  using S = typename std::decay_t<decltype(x)>::Scalar;
  return Vector<S>{{x(0) + x(1) * x(1), x(1) + x(0) * x(1) / S(2)}};
};
template <class F>
Vector<double> natural_of(const F& theta, const Vector<double>& x) {
  const auto family = [&](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    const Vector<S> t = theta(y);
    return Vector<S>(
        log_softmax(RowVector<S>{{t(0), t(1), S(0)}}).transpose());
  };
  const auto dL = partial([&](const auto& y) {  // of the loss p0^2 - p1
    using S = typename std::decay_t<decltype(y)>::Scalar;
    const Vector<S> p = Vector<S>(family(y)).array().exp();
    return Tensor<S>(S(p(0) * p(0) - p(1)));
  }, x);
  return inverse_metric(fisher_information(family, x)).g.mat() * dL.vec();
}
BOOST_AUTO_TEST_CASE(steps_differ_at_second_order) {
  const auto same = [](const auto& y) { return y; };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<double> x = 0.3 * gaussian<double>(2, 1, seed, "point");
    const Vector<double> t = plane(x), v = natural_of(plane, x);
    const Vector<double> w = natural_of(same, t);
    const Matrix<double> J{{1, 2 * x(1)}, {x(1) / 2, 1 + x(0) / 2}};
    const double size = 0x1p-44 * J.norm() * v.norm();
    verify((w - J * v).norm(), size);
    for (const double eta : {0.5, 0.1, 0.01}) {
      const Vector<double> off = plane(Vector<double>(x - eta * v)) -
                                 (t - eta * w);
      const Vector<double> second{{v(1) * v(1), v(0) * v(1) / 2}};
      verify((off - eta * eta * second).norm(),
             eta * size + 0x1p-50 * (1 + t.norm()));
    }
  }
}
BOOST_AUTO_TEST_CASE(natural_flow_is_invariant) {
  const auto in_p = [](double, const Vector<double>& y) {
    return Vector<double>{{-2 * (y(0) - 0.9) * y(0) * (1 - y(0))}};
  };
  const auto in_logit = [](double, const Vector<double>& y) {
    return Vector<double>{{-2 * (1 / (1 + std::exp(-y(0))) - 0.9)}};
  };
  for (const double time : {0.5, 2.0, 5.0})
    verify_limit([&](Index steps) {
      const double h = time / double(steps);
      Vector<double> p{{0.2}}, l{{std::log(0.25)}};
      for (Index k = 0; k < steps; ++k) {
        p = runge_kutta_step(in_p, 0.0, p, h);
        l = runge_kutta_step(in_logit, 0.0, l, h);
      }
      return p(0) - 1 / (1 + std::exp(-l(0)));
    }, 50, 4, 0.0);
}

// check convergence
Matrix<double> stretched_keys(double kappa, std::uint64_t seed) {
  Matrix<double> k = gaussian<double>(12, 4, seed);
  for (Index a = 0; a < 4; ++a) k.col(a) *= std::pow(kappa, -double(a) / 3);
  return k;
}
Vector<double> target_weights(std::uint64_t seed) {
  const Matrix<double> k = stretched_keys(1, seed);
  return attn::gibbs((k * gaussian<double>(4, 1, seed + 100)).transpose())
      .transpose();
}
BOOST_AUTO_TEST_CASE(natural_beats_plain) {
  const Index most = 60000;
  std::vector<double> unshrunk;
  for (const int kappa : {1, 3, 10}) {
    std::vector<double> plain, natural;
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
      const Matrix<double> k = stretched_keys(kappa, seed);
      const Vector<double> p = target_weights(seed);
      const auto n = fit_query(k, p, Steps::natural, 1e-12, 100);
      const auto g = fit_query(k, p, Steps::plain, 1e-12, most);
      natural.push_back(double(n.loss.size() - 1));
      plain.push_back(double(g.loss.size() - 1));
      verify(std::abs(n.loss.back()), 1e-12);
      verify(natural.back(), 12);
      verify(20 * natural.back(), plain.back());
    }
    if (kappa == 1) unshrunk = natural;
    BOOST_TEST(natural == unshrunk);
    const int middle = int(median(plain));
    fact("natural_" + std::to_string(kappa), int(median(natural)));
    fact("plain_" + std::to_string(kappa),
         (middle == most ? "over " : "") + std::to_string(middle));
  }
}
BOOST_AUTO_TEST_CASE(squared_output_loss) {
  const Index most = 20000;
  double unshrunk[3] = {};
  for (const int kappa : {1, 3, 10}) {
    std::vector<double> count[3];
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
      const Matrix<double> k = stretched_keys(kappa, seed);
      const Matrix<double> V = gaussian<double>(12, 4, seed, "values");
      const Vector<double> target = V.transpose() * target_weights(seed);
      for (const int how : {0, 1, 2})
        count[how].push_back(double(fit_output(k, V, target, how, most)));
    }
    verify(10 * median(count[2]), median(count[0]));
    for (const int how : {0, 1, 2}) {
      const int middle = int(median(count[how]));
      if (kappa == 1) unshrunk[how] = middle;
      if (how > 0) BOOST_TEST(middle == unshrunk[how]);
      const char* name[] = {"plain_", "weights_", "normal_"};
      fact(name[how] + std::to_string(kappa),
           (middle == most ? "over " : "") + std::to_string(middle));
    }
  }
}
BOOST_AUTO_TEST_CASE(descent_demands_descent) {
  const auto loss = [](double x) { return x < 0 ? NAN : x * x; };
  for (const double speed : {0.0, -1.0, 1e-6, 1e6}) {
    const auto propose = [=](double x) {
      return std::pair(1.0, [=](double t) { return x - speed * t; });
    };
    const auto path = descend(1.0, loss, propose, 0.0, 3);
    const double steps = double(path.loss.size() - 1);
    verify(std::abs(steps - (speed == 1e6 ? 3 : 0)), 0);
    BOOST_TEST(descend(1.0, loss, propose, 1.0, 3).loss.size() == 1);
  }
  const auto far = [](double x) {
    return std::pair(1.0, [=](double t) { return x - 8 * t; });
  };
  verify(std::abs(descend(1.0, loss, far, 0.0, 1).at), 0);
}
BOOST_AUTO_TEST_CASE(largest_eigenvalue_of_two) {
  const Matrix<double> k{{0, 1}, {3, 0}, {0, 0}};
  BOOST_TEST(detail::largest_eigenvalue(k) == 9);
  BOOST_TEST(detail::largest_eigenvalue(Matrix<double>(0 * k)) == 0);
}
BOOST_AUTO_TEST_CASE(features_may_sum_to_zero) {
  const Matrix<double> k{{1, -1}, {-2, 2}};
  verify(std::abs(detail::largest_eigenvalue(k) - 10), 0x1p-46);
  const auto path = fit_query(k, Vector<double>{{0.75, 0.25}}, Steps::plain,
                              1e-12, 200);
  verify(std::abs(path.loss.back()), 1e-12);
}
BOOST_AUTO_TEST_CASE(first_plain_step_by_hand) {
  const auto path = fit_query(Matrix<double>{{2}, {0}},
                              Vector<double>{{0.75, 0.25}}, Steps::plain, 0, 1);
  verify(std::abs(path.at(0) - 0.25), 0);
}
BOOST_AUTO_TEST_CASE(full_steps_diverge) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Matrix<double> k = stretched_keys(1, seed);
    const Vector<double> p = target_weights(seed);
    Vector<double> q = Vector<double>::Zero(4);
    for (int step = 0; step < 30 && q.allFinite(); ++step) {
      const Vector<double> A = attn::gibbs((k * q).transpose()).transpose();
      q -= natural_query_gradient<double>(k, A, -p.cwiseQuotient(A));
    }
    const bool finite = q.allFinite() && (k * q).norm() < 1e6;
    if (!finite) q.setZero();
    const Matrix<double> s = (k * q).transpose();
    const Vector<double> A = attn::gibbs(s).transpose();
    lost += !finite || fisher_rao_distance(A, p) > 1e-6;
    const auto safe = fit_query(k, p, Steps::natural, 1e-12, 100);
    verify(std::abs(safe.loss.back()), 1e-12);
  }
  fact("lost", lost);
  fact("runs", 100);
  refute(lost, 1);
}

// check the projection on the queries
BOOST_AUTO_TEST_CASE(projection_on_queries) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index d = Index(1 + seed % 3);
    const Matrix<double> k = gaussian<double>(d + 3, d, seed, "keys");
    Vector<double> p = weights(d + 3, seed);
    if (seed % 2 == 0) p(0) = 0, p /= p.sum();
    const Vector<double> best = polished(k, p);
    const Vector<double> A = weights_of(k, best);
    verify((k.transpose() * (A - p)).norm(), 0x1p-46 * k.norm());
    for (const double far : {0.1, 1.0, 3.0}) {
      const Vector<double> q =
          best + far * gaussian<double>(d, 1, seed, "elsewhere");
      const Vector<double> B = weights_of(k, q);
      verify(std::abs(divergence(p, B) - divergence(p, A) -
                      divergence(A, B)), 0x1p-44 * (1 + (k * q).norm()));
    }
  }
}

// check the answers on descent
BOOST_AUTO_TEST_CASE(answer_copies) {
  const Vector<Fp> A = field_weights(4, 1), dA = uniform<Fp>(4, 1, 1, "dA");
  Vector<Fp> B(5), dB(5);
  B << A.head(3), A(3) / 3, A(3) * 2 / 3;
  dB << dA, dA(3);
  const auto step = [](const Vector<Fp>& p, const Vector<Fp>& w) {
    return fisher_solve(p, fisher_times(p, w));
  };
  const Vector<Fp> before = step(A, dA), all = step(B, dB);
  const Vector<Fp> after = all.head(4), held = before.array() - before(3);
  BOOST_TEST(!same(before, after));
  const Vector<Fp> off = before - after;
  verify_exact(off, Vector<Fp>(Vector<Fp>::Constant(4, off(0))), 12);
  for (const Index copy : {3, 4})
    verify_exact(held, Vector<Fp>(after.array() - all(copy)), 12);
  verify_exact(Vector<Fp>(dA.array() - A.dot(dA)),
               Vector<Fp>(dB.head(4).array() - B.dot(dB)), 4);
}
BOOST_AUTO_TEST_CASE(answer_reverse) {
  const Matrix<double> k{{-1.0}, {0.0}, {1.0}};
  const Vector<double> p{{0.49, 0.02, 0.49}};
  const auto at = [&](double q) {
    return weights_of(k, Vector<double>::Constant(1, q));
  };
  fact("at_zero", divergence(at(0), p), 4);
  fact("at_two", divergence(at(2), p), 4);
  refute(divergence(at(0), p) - divergence(at(2), p), 0.01);
  refute(divergence(at(30), p) - divergence(at(2), p), 0.01);
  verify(std::abs(divergence(at(2), p) - divergence(at(-2), p)), 0x1p-50);
  verify(std::abs(k.col(0).dot(at(0) - p)), 0x1p-50);
  for (double q = 0; q < 5; q += 0.25)
    verify(divergence(p, at(q)), divergence(p, at(q + 0.25)));
}
BOOST_AUTO_TEST_SUITE_END()
