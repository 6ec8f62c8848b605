// tests/backward_test.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/form.hpp"
#include "attn/thermodynamics.hpp"
#include "attn/verify_gradients.hpp"
#include "gradients.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(backward)

// draw weights as free symbols
/// w_ij / sum_k w_ik for uniformly random w in the field.
Matrix<Fp> symbolic_weights(Index n, Index m, std::uint64_t seed) {
  Matrix<Fp> w = uniform<Fp>(n, m, seed);
  for (Index i = 0; i < n; ++i) {
    Fp Z(0);
    for (Index j = 0; j < m; ++j) Z += w(i, j);
    for (Index j = 0; j < m; ++j) w(i, j) /= Z;
  }
  return w;
}

// draw inputs as free symbols
AttentionInputs<Fp> symbolic_inputs(Size z, std::uint64_t seed) {
  AttentionInputs<Fp> x = random_inputs<Fp>(z, seed);
  x.bias = uniform<Fp>(z.n_q, z.n_k, seed + 4000);
  x.T = uniform<Fp>(1, 1, seed + 5000)(0, 0);
  return x;
}

// check the Jacobians one by one
BOOST_AUTO_TEST_CASE(jacobian_of_output) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Index n = 2, m = Index(1 + seed % 4), d = 3;
    const Matrix<quad> A = gaussian<quad>(n, m, seed);
    const Matrix<quad> V = gaussian<quad>(m, d, seed + 50);
    each_entry(A, [&](Index p, Index q, const auto& dual) {
      const Matrix<quad> d1 = infinitesimal(dual, V, 'A');
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c)
          verify(distance(d1(i, c), i == p ? V(q, c) : quad(0)), 1e-32);
    });
    each_entry(V, [&](Index p, Index q, const auto& dual) {
      const Matrix<quad> d1 = infinitesimal(dual, A, 'V');
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c)
          verify(distance(d1(i, c), c == q ? A(i, p) : quad(0)), 1e-32);
    });
  }
}
BOOST_AUTO_TEST_CASE(jacobian_of_softmax) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const quad T = quad(double(seed)) / 4;
    const Matrix<quad> S = gaussian<quad>(2, Index(1 + seed % 5), seed);
    const Matrix<quad> A = gibbs(S, T);
    each_entry(S, [&](Index p, Index q, const auto& dual) {
      const Matrix<Dual<quad>> y = gibbs(dual, Dual<quad>(T));
      for (Index m = 0; m < 2; ++m)
        for (Index n = 0; n < S.cols(); ++n) {
          const quad closed =
              A(m, n) * (quad(n == q ? 1 : 0) - A(m, q)) / T;
          verify(distance(y(m, n).d, m == p ? closed : quad(0)), 1e-31);
        }
    });
  }
}
BOOST_AUTO_TEST_CASE(jacobian_of_scores) {
  const Matrix<quad> Q = gaussian<quad>(3, 2, 1), M = gaussian<quad>(2, 4, 2),
                     K = gaussian<quad>(2, 4, 3);
  const auto S = [](const auto& q, const auto& m, const auto& k) {
    using D = typename std::decay_t<decltype(q)>::Scalar;
    return Matrix<D>(times(times(q, m), k.transpose()));
  };
  const auto D = [](const Matrix<quad>& x) { return lift<Dual<quad>>(x); };
  for (Index p = 0; p < 3; ++p)
    for (Index q = 0; q < 2; ++q) {
      each_entry(Q, [&](Index k, Index a, const auto& dual) {
        verify(distance(S(dual, D(M), D(K))(p, q).d,
                   p == k ? times(M, K.transpose())(a, q) : quad(0)), 1e-31);
      });
      each_entry(K, [&](Index l, Index b, const auto& dual) {
        verify(distance(S(D(Q), D(M), dual)(p, q).d,
                   q == l ? times(Q, M)(p, b) : quad(0)), 1e-31);
      });
      each_entry(M, [&](Index a, Index b, const auto& dual) {
        verify(distance(S(D(Q), dual, D(K))(p, q).d, Q(p, a) * K(q, b)), 1e-31);
      });
    }
}

// check the chain of dense Jacobians
BOOST_AUTO_TEST_CASE(chain_of_dense_jacobians) {
  const Index n = 2, m = 3, d = 2;
  const auto x = random_inputs<quad>({n, m, d, d, 2}, 5);
  const Matrix<quad> MK = times(*x.M, x.K.transpose());
  const Matrix<quad> A = gibbs(times(x.Q, MK));
  const Matrix<quad> C = gaussian<quad>(n, 2, 9);
  Tensor<quad, up, up, up, dn> DO(n, 2, m, n);
  Tensor<quad, up, dn, dn, dn> DA(n, m, n, m);
  Tensor<quad, up, up, dn, dn> DS(n, m, n, d);

  // fill the dense Jacobians
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      for (Index c = 0; c < 2; ++c) DO(i, c, j, i) = x.V(j, c);
      for (Index q = 0; q < m; ++q)
        DA(i, j, i, q) = A(i, j) * (quad(j == q ? 1 : 0) - A(i, q));
      for (Index a = 0; a < d; ++a) DS(i, j, i, a) = MK(a, j);
    }
  const auto dQ =
  eq<R"(\bar Q_{ka} = \bar O_{ic} D^{icn}{}_m F^m{}_{npq} E^{pq}{}_{ka})">(
      view<dn, dn>(C), DO, DA, DS);
  const auto g = attention_vjp(x, {C});
  for (Index k = 0; k < n; ++k)
    for (Index a = 0; a < d; ++a) verify(distance(dQ(k, a), g.Q(k, a)), 1e-31);
}

// check that the softmax lowers an index
BOOST_AUTO_TEST_CASE(lowering_is_fisher) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = 3, m = Index(1 + seed % 6);
    const Matrix<quad> A = gibbs(gaussian<quad>(n, m, seed));
    const Matrix<quad> X = gaussian<quad>(n, m, seed + 20);
    Tensor<quad, dn, dn, dn> F(n, m, m);
    for (Index i = 0; i < n; ++i)
      for (Index q = 0; q < m; ++q)
        for (Index r = 0; r < m; ++r)
          F(i, q, r) = A(i, q) * (quad(q == r ? 1 : 0) - A(i, r));
    const auto dS =
        eq<R"(\bar S_{(i)q} = F_{(i)qn} \bar A_{(i)}{}^n)">(  // eq:lowering
            F, view<dn, up>(X));
    verify(distance(dS.mat(), fisher_lower(A, X)), 1e-32);
    verify(distance(dS.mat(), softmax_vjp(A, X)), 1e-32);
  }
}
BOOST_AUTO_TEST_CASE(lowering_by_hand) {
  const Matrix<double> A{{2, 1}, {1, 3}}, X{{5, 7}, {1, 4}};
  verify(distance(fisher_lower(A, X), Matrix<double>{{-4, 0}, {0, 9}}), 0);
  const Matrix<double> tie{{1, 3, 3}};
  BOOST_TEST(heaviest_key(tie, 0) == 1);
  BOOST_TEST(heaviest_key(lift<quad>(tie), 0) == 1);
  BOOST_TEST(heaviest_key(Matrix<double>(1, 0), 0) == -1);
}
BOOST_AUTO_TEST_CASE(gauge_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index m = Index(1 + seed % 7);
    const Matrix<Fp> A = symbolic_weights(2, m, seed);
    const Matrix<Fp> X = uniform<Fp>(2, m, seed + 40);
    const Matrix<Fp> c = uniform<Fp>(2, 1, seed + 80);
    const Matrix<Fp> shifted = X.colwise() + c.col(0);
    verify_exact(fisher_lower(A, shifted), fisher_lower(A, X), 4 * m);
    verify_exact(fisher_lower(A, X), softmax_vjp(A, X), 4 * m);
  }
}
BOOST_AUTO_TEST_CASE(rows_of_dS_vanish) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<Fp> A = symbolic_weights(3, 5, seed);
    const Matrix<Fp> Y = fisher_lower(A, uniform<Fp>(3, 5, seed + 40));
    verify_exact(Vector<Fp>(Y.rowwise().sum()),
                 Vector<Fp>(Vector<Fp>::Zero(3)), 20);
    const Matrix<quad> a = gibbs(gaussian<quad>(1, 5, seed));
    const Matrix<quad> x = gaussian<quad>(1, 5, seed + 9);
    const quad mean = a.row(0).dot(x.row(0));
    const quad form = fisher_lower(a, x).row(0).dot(x.row(0));
    quad variance(0);
    for (Index j = 0; j < 5; ++j)
      variance += a(j) * (x(j) - mean) * (x(j) - mean);
    verify(distance(form, variance), 1e-31);
  }
}

// check all gradients against reverse mode
BOOST_AUTO_TEST_CASE(all_inputs_in_quad) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Size z{Index(1 + seed % 4), Index(1 + seed % 5),
                 Index(1 + seed % 3), Index(1 + seed % 2),
                 Index(seed % 4)};
    const auto x = random_problem<quad>(z, seed);
    auto bar = random_outputs<quad>(z, seed);
    for (Index i = 0; i < z.n_q; ++i)
      if (!x.mask->row(i).any()) bar.logZ(i) = 0;
    const AttentionParts<quad> hand = attention_vjp(x, bar);
    const AttentionParts<quad> tape = reverse_gradient(x, bar);
    verify_parts(hand, tape, 1e-30);
  }
}

// check the gradients of metrics
BOOST_AUTO_TEST_CASE(raised_gradient) {
  const Size z{4, 6, 3, 3, 2};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto x = random_inputs<quad>(z, seed);
    const Matrix<quad> W = *x.M;
    x.M = times(W.transpose(), W);
    const auto w = random_outputs<quad>(z, seed);
    const Matrix<quad> raised = times(attention_vjp(x, w).bias, x.K);
    verify(distance(times(raised, *x.M), reverse_gradient(x, w).Q), 1e-29);
  }
}
BOOST_AUTO_TEST_CASE(latent_metric) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Size z{3, 4, 3, 3, 2};
    auto x = random_inputs<quad>(z, seed);
    const Matrix<quad> W = gaussian<quad>(Index(1 + seed % 4), 3, seed + 20);
    const auto w = random_outputs<quad>(z, seed);
    const auto pull = [](const auto& m) {
      using M = std::decay_t<decltype(m)>;
      return M(times(m.transpose(), m));
    };
    x.M = pull(W);
    const Matrix<quad> dW = pullback_vjp(W, attention_vjp(x, w).M);
    const Matrix<quad> tape = gradient(
        [&](const Matrix<Var<quad>>& V) {
          auto y = lift<Var<quad>>(x);
          y.M = pull(V);
          return cotangent_loss(attention_forward(y), lift<Var<quad>>(w));
        }, W);
    verify(distance(dW, tape), 1e-29);
  }
}
BOOST_AUTO_TEST_CASE(metrics_stay_structured) {
  const Size z{3, 4, 3, 3, 2};
  auto x = random_problem<quad>(z, 3);
  const Vector<quad> D = x.K.row(0).cwiseAbs().transpose();
  const Matrix<quad> dense = x.M->transpose() * *x.M;
  const auto w = random_outputs<quad>(z, 3);
  for (const auto& g : {Metric<quad>::scaled(3), Metric<quad>::diagonal(D),
                        Metric<quad>::low_rank(D, x.V.transpose().leftCols(3)),
                        Metric<quad>::full(dense)}) {
    x.M = g.dense();
    const auto matrix = attention_vjp(x, w);
    x.M.reset();
    auto metric = attention_vjp(x, attention_forward(x, g), w);
    metric.M = form_vjp(x.Q, metric.bias, x.K);
    verify_parts(metric, matrix, 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(symmetric_part_acts) {
  const Size z{3, 4, 3, 3, 2};
  const auto x = random_inputs<quad>(z, 6);
  const auto w = random_outputs<quad>(z, 6);
  const auto g = attention_vjp(x, w);
  const Matrix<quad> a = gaussian<quad>(3, 3, 7);
  for (const int sign : {1, -1}) {
    AttentionParts<quad> u{0 * g.Q, 0 * g.K, 0 * g.V};
    u.M = a + quad(sign) * a.transpose();
    const Matrix<quad> part = (g.M + quad(sign) * g.M.transpose()) / quad(2);
    const auto slope = difference_along(x, w, u);
    verify(distance(slope.value, duality(part, u.M)), slope.bound);
    verify(slope.bound, 1e-14);
  }
}
BOOST_AUTO_TEST_CASE(mean_cotangent_is_output_times_cotangent) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Size z{3, Index(1 + seed % 5), 2, 2, 4};
    const auto x = random_problem<quad>(z, seed);
    const auto w = random_outputs<quad>(z, seed);
    const auto f = attention_forward(x);
    const Matrix<quad> dA = output_vjp(f.weights, x.V, w.O).A;
    for (Index i = 0; i < 3; ++i)
      verify(distance(f.weights.row(i).dot(dA.row(i)),
                      w.O.row(i).dot(f.O.row(i))),
             1e-31);
  }
}

// check the symmetries of the gradient
BOOST_AUTO_TEST_CASE(gradient_is_equivariant) {
  const Size z{3, 6, 2, 2, 2};
  const auto x = random_inputs<quad>(z, 2);
  const auto w = random_outputs<quad>(z, 2);
  const auto g = attention_vjp(x, w);
  const auto pi = permutation(6, 5);
  auto y = x;
  for (Index j = 0; j < 6; ++j) {
    y.K.row(j) = x.K.row(pi[std::size_t(j)]);
    y.V.row(j) = x.V.row(pi[std::size_t(j)]);
  }
  const auto h = attention_vjp(y, w);
  verify(distance(g.Q, h.Q), 1e-31);
  for (Index j = 0; j < 6; ++j) {
    verify(distance(g.K.row(pi[std::size_t(j)]), h.K.row(j)), 1e-31);
    verify(distance(g.V.row(pi[std::size_t(j)]), h.V.row(j)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(euler_identity) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Size z{3, Index(1 + seed % 6), 2, 3, 2};
    auto x = random_inputs<quad>(z, seed);
    x.T = quad(int(seed)) / 3;
    const auto w = random_outputs<quad>(z, seed);
    const auto g = attention_vjp(x, OutputParts<quad>{w.O});
    verify(distance(duality(g.M, *x.M), -x.T * g.T), 1e-29);
    verify(distance(duality(g.Q, x.Q), duality(g.K, x.K)), 1e-29);
    verify(distance(duality(g.Q, x.Q), duality(g.M, *x.M)), 1e-29);
  }
}
BOOST_AUTO_TEST_CASE(shift_is_felt_by_log_partition) {
  const Size z{3, 4, 2, 2, 2};
  auto x = random_problem<quad>(z, 5);
  x.mask.reset();
  const auto w = random_outputs<quad>(z, 5);
  const auto g = attention_vjp(x, w);
  for (Index i = 0; i < 3; ++i)
    verify(distance(g.bias.row(i).sum(), w.logZ(i) / x.T), 1e-31);
}

// check the adjoint identity exactly
BOOST_AUTO_TEST_CASE(adjoint_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Size z{Index(1 + seed % 4), Index(1 + seed % 5),
                 Index(1 + seed % 3), Index(1 + seed % 4),
                 Index(1 + seed % 2)};
    const auto x = symbolic_inputs(z, seed);
    AttentionForward<Fp> f;
    f.Q_low = times(x.Q, *x.M);
    f.K_low = times(x.K, x.M->transpose());
    f.scores = times(f.Q_low, x.K.transpose()) + *x.bias;
    f.weights = symbolic_weights(z.n_q, z.n_k, seed);
    const auto u = random_direction<Fp>(z, seed);
    const auto w = random_outputs<Fp>(z, seed);
    verify_exact(duality(w, attention_jvp(x, f, u)),
                 duality(attention_vjp(x, f, w), u), 4 * z.n_k + 8);
  }
}

// check tangents against dual numbers
BOOST_AUTO_TEST_CASE(tangents_are_dual_numbers) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Size z{Index(1 + seed % 4), Index(1 + seed % 5),
                 Index(1 + seed % 3), Index(1 + seed % 2),
                 Index(1 + seed % 4)};
    const auto x = random_problem<quad>(z, seed);
    const auto u = random_direction<quad>(z, seed);
    const auto y = attention_jvp(x, u);
    const auto f = attention_forward(dual_inputs(x, u));
    for (Index i = 0; i < z.n_q; ++i) {
      for (Index c = 0; c < z.d_v; ++c)
        verify(distance(y.O(i, c), f.O(i, c).d), 1e-30);
      const quad slope = x.mask->row(i).any() ? f.logZ(i).d : quad(0);
      verify(distance(y.logZ(i), slope), 1e-30);
    }
  }
}
BOOST_AUTO_TEST_CASE(adjoint_in_quad) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Size z{4, 5, 3, 2, 3};
    const auto x = random_problem<quad>(z, seed);
    const auto u = random_direction<quad>(z, seed);
    const auto w = random_outputs<quad>(z, seed);
    verify(distance(duality(w, attention_jvp(x, u)),
               duality(attention_vjp(x, w), u)), 1e-29);
  }
}

// check Hessian-vector products
BOOST_AUTO_TEST_CASE(hessian_is_symmetric) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Size z{3, Index(1 + seed % 4), 2, 3, 2};
    const auto x = random_problem<quad>(z, seed);
    const auto u = random_direction<quad>(z, seed);
    const auto v = random_direction<quad>(z, seed + 77);
    const auto w = random_outputs<quad>(z, seed);
    verify(distance(duality(v, attention_hvp(x, u, w)),
               duality(u, attention_hvp(x, v, w))), 1e-28);
  }
}
BOOST_AUTO_TEST_CASE(hessian_by_differences) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Size z{2, Index(1 + seed % 4), 2, 2, 2};
    const auto x = random_problem<quad>(z, seed);
    const auto u = random_direction<quad>(z, seed);
    const auto v = random_direction<quad>(z, seed + 77);
    const auto w = random_outputs<quad>(z, seed);
    const LineDerivative slope = line_derivative(
        [&](const quad& t) {
          return duality(v, attention_vjp(moved_inputs(x, u, t), w));
        },
        quad(0x1p-20));
    verify(distance(duality(v, attention_hvp(x, u, w)), slope.value),
           slope.bound);
    verify(slope.bound, 1e-14);
  }
}
BOOST_AUTO_TEST_CASE(hessian_of_a_quadratic_loss) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Size z{2, Index(2 + seed % 3), 2, 3, 2};
    auto x = random_problem<quad>(z, seed);
    x.mask.reset();
    const auto u = random_direction<quad>(z, seed);
    const auto v = random_direction<quad>(z, seed + 77);
    const auto slope_along_v = [&](const quad& t) {
      const auto y = moved_inputs(x, u, t);
      const auto f = attention_forward(y);
      return duality(v, attention_vjp(y, f, {f.O, f.logZ}));
    };
    const auto slope = line_derivative(slope_along_v, quad(0x1p-20));
    const auto f = attention_forward(x);
    const auto Hu =
        attention_hvp(x, u, {f.O, f.logZ}, attention_jvp(x, f, u));
    verify(distance(duality(v, Hu), slope.value), slope.bound);
    verify(slope.bound, 1e-14);
  }
}

// check the Hessian of the partition function
BOOST_AUTO_TEST_CASE(hessian_of_log_partition) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Index m = Index(1 + seed % 6);
    const quad T = quad(double(seed)) / 3;
    const Vector<quad> s = gaussian<quad>(m, 1, seed).col(0);
    const Matrix<quad> H = hessian(
        [&](const auto& z) {
          using D = typename std::decay_t<decltype(z)>::Scalar;
          return D(log_partition(z.transpose(), D(T))(0));
        }, s);
    const Matrix<quad> A = gibbs(Matrix<quad>(s.transpose()), T);
    for (Index j = 0; j < m; ++j)
      for (Index n = 0; n < m; ++n)
        verify(distance(H(j, n),
                        A(j) * (quad(j == n ? 1 : 0) - A(n)) / (T * T)),
               1e-30);
  }
}
BOOST_AUTO_TEST_CASE(hessian_of_loss_with_logz) {
  const Size z{1, 5, 3, 2, 1};
  const auto x = random_inputs<quad>(z, 3);
  const auto f = attention_forward(x);
  const Matrix<quad> mean = times(f.weights, f.K_low);
  for (Index a = 0; a < 3; ++a) {
    auto u = random_direction<quad>(z, 1);
    u = {Matrix<quad>::Zero(1, 3), 0 * u.K, 0 * u.V, 0 * u.M, {}, quad(0)};
    u.Q(0, a) = 1;
    const auto H = attention_hvp(
        x, u, {Matrix<quad>::Zero(1, 1), Vector<quad>::Ones(1)});
    for (Index b = 0; b < 3; ++b) {
      quad cov(0);
      for (Index j = 0; j < 5; ++j)
        cov += f.weights(j) * (f.K_low(j, a) - mean(a)) *
               (f.K_low(j, b) - mean(b));
      verify(distance(H.Q(0, b), cov), 1e-31);
    }
  }
}

// check saturation
BOOST_AUTO_TEST_CASE(saturation_bound) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Index n = Index(1 + seed % 9);
    const double scale = std::pow(10.0, double(seed % 5) - 2);
    const Matrix<double> A =
        gibbs(Matrix<double>(scale * gaussian<double>(1, n, seed)));
    const Matrix<double> X = gaussian<double>(1, n, seed + 500);
    const double bound = (2 * A.array() * (1 - A.array())).maxCoeff();
    verify(fisher_lower(A, X).norm(),
           bound * X.norm() * (1 + 1e-13) + 1e-15 * X.norm());
  }
  const Matrix<double> half{{0.5, 0.5}}, X{{1, -1}};
  verify(std::abs(fisher_lower(half, X).norm() / X.norm() - 0.5), 0x1p-52);
}
BOOST_AUTO_TEST_CASE(norm_over_temperature) {
  const RowVector<double> rows[] = {RowVector<double>{{2, 1, 0}},
                                    RowVector<double>{{2, 1, 1, 0}},
                                    RowVector<double>{{3, 1, 1, 1, -2}}};
  for (int r = 1; r <= 3; ++r) {
    const RowVector<quad> s = lift<quad>(rows[r - 1]);
    const double gap = to_double(quad(s(0) - s(1))), n = double(s.size());
    const auto norm = [&](double T) {
      const Matrix<quad> J = softmax_jacobian(gibbs(s, quad(T)), quad(T));
      return to_double(quad(J.norm()));
    };
    for (const double T : {0.05, 0.1, 0.2}) {
      const double cold = std::sqrt(r * (r + 3.0)) * std::exp(-gap / T) / T;
      verify(std::abs(norm(T) / cold - 1),
             10 * std::exp(-gap / T) + (gap / T + 10) * 0x1p-53);
    }
    for (const double T : {1e2, 1e3, 1e4})
      verify(std::abs(norm(T) * n * T / std::sqrt(n - 1) - 1), 2 / T);
  }
}
BOOST_AUTO_TEST_CASE(hotter_is_not_better) {
  const RowVector<double> s{{2, 1, 0}};
  const auto norm = [&](double T) {
    return softmax_jacobian(gibbs(s, T), T).norm();
  };
  double at = 0.1;
  for (double T = 0.1; T < 5; T += 0.0005)
    if (norm(T) > norm(at)) at = T;
  fact("at", at);
  fact("peak", norm(at));
  fact("ten", norm(10));
  fact("fifty", norm(50));
  refute(norm(at) / norm(10), 2);
  refute(norm(10) / norm(50), 2);
  verify(std::abs(norm(50) * 150 / std::sqrt(2.0) - 1), 2.0 / 50);
}

// check the answers on the backward pass
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
             1e-31);
    }
}
template <class S>
Matrix<S> capped(const Matrix<S>& X, double c) {
  using std::tanh;
  return X.unaryExpr([c](const S& x) { return S(S(c) * tanh(S(x / S(c)))); });
}
BOOST_AUTO_TEST_CASE(answer_softcap) {
  const auto Q = gaussian<quad>(3, 2, 1), K = gaussian<quad>(4, 2, 2),
             V = gaussian<quad>(4, 2, 3), dO = gaussian<quad>(3, 2, 4);
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
  verify(distance(times(dX, K), tape), 1e-31);
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
  verify(distance(fisher_lower(A, X).col(4).sum(), tape(0, 0)), 1e-31);
  verify(distance(closed, tape(0, 0)), 1e-31);
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
  verify(distance(gibbs(S) - Y, tape), 1e-32);
}
BOOST_AUTO_TEST_CASE(answer_any_gauge) {
  double worst[3] = {};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    // measure three gauges on one row
    const Matrix<double> A =
        gibbs(Matrix<double>(10 * gaussian<double>(1, 8, seed)));
    const Matrix<double> X = gaussian<double>(1, 8, seed + 300);
    const Index top = heaviest_key(A, 0);
    Matrix<double> B = A;
    B(top) = 0;
    const double c[3] = {X(top), X(heaviest_key(B, 0)), X.mean()};
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
  verify(distance(mean, t), 1e-30);
}
BOOST_AUTO_TEST_CASE(answer_zero_weight) {
  const Matrix<double> S{{0, -800, -1}}, X{{1, -3, 2}};
  const Matrix<double> Y = fisher_lower(gibbs(S), X);
  const Matrix<quad> truth =
      fisher_lower(gibbs(lift<quad>(S)), lift<quad>(X));
  verify(std::abs(Y(1)), 0);
  verify(distance(Y(1), truth(1)), 6 * smallest_subnormal<double>());
}
BOOST_AUTO_TEST_SUITE_END()
