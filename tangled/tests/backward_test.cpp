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
  Matrix<Fp> w = uniform<Fp>(n, m, seed, "w");
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
  x.bias = uniform<Fp>(z.n_q, z.n_k, seed, "bias");
  x.T = uniform<Fp>(1, 1, seed, "T")(0, 0);
  return x;
}
AttentionForward<Fp> symbolic_forward(const AttentionInputs<Fp>& x,
                                      std::uint64_t seed) {
  AttentionForward<Fp> f;
  f.Q_low = times(x.Q, *x.M);
  f.K_low = times(x.K, x.M->transpose());
  f.scores = times(f.Q_low, x.K.transpose()) + *x.bias;
  f.weights = symbolic_weights(x.Q.rows(), x.K.rows(), seed);
  return f;
}

// multiply the Hessian by a unit vector
Matrix<quad> hessian_row(const AttentionInputs<quad>& x, Index a) {
  const auto zero = [](const Matrix<quad>& m) { return Matrix<quad>(0 * m); };
  AttentionParts<quad> u{zero(x.Q), zero(x.K), zero(x.V), zero(*x.M)};
  u.Q(0, a) = 1;
  return attention_hvp(x, u, {Matrix<quad>::Zero(1, x.V.cols()),
                              Vector<quad>::Ones(1)}).Q;
}

// check the Jacobians one by one
BOOST_AUTO_TEST_CASE(jacobian_of_output) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Index n = 2, m = Index(1 + seed % 4), d = 3;
    const Matrix<quad> A = gaussian<quad>(n, m, seed, "A");
    const Matrix<quad> V = gaussian<quad>(m, d, seed, "V");
    each_entry(A, [&](Index p, Index q, const auto& dual) {
      const Matrix<quad> d1 = infinitesimal(dual, V, 'A');
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c)
          verify(distance(d1(i, c), i == p ? V(q, c) : quad(0)),
                 roundings(100));
    });
    each_entry(V, [&](Index p, Index q, const auto& dual) {
      const Matrix<quad> d1 = infinitesimal(dual, A, 'V');
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c)
          verify(distance(d1(i, c), c == q ? A(i, p) : quad(0)),
                 roundings(100));
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
          verify(distance(y(m, n).d, m == p ? closed : quad(0)),
                 roundings(1e3));
        }
    });
  }
}
BOOST_AUTO_TEST_CASE(jacobian_of_scores) {
  const Matrix<quad> Q = gaussian<quad>(3, 2, 1, "Q"),
                     M = gaussian<quad>(2, 4, 1, "M"),
                     K = gaussian<quad>(2, 4, 1, "K");
  const Matrix<quad> MK = times(M, K.transpose()), QM = times(Q, M);
  const auto S = [](const auto& q, const auto& m, const auto& k) {
    using D = typename std::decay_t<decltype(q)>::Scalar;
    return Matrix<D>(times(times(q, m), k.transpose()));
  };
  const auto D = [](const Matrix<quad>& x) { return lift<Dual<quad>>(x); };
  const auto is = [](const Dual<quad>& s, const quad& slope) {
    verify(distance(s.d, slope), roundings(1e3));
  };
  for (Index p = 0; p < 3; ++p)
    for (Index q = 0; q < 2; ++q) {
      // compare the derivatives of one score
      each_entry(Q, [&](Index k, Index a, const auto& dual) {
        is(S(dual, D(M), D(K))(p, q), p == k ? MK(a, q) : quad(0));
      });
      each_entry(K, [&](Index l, Index b, const auto& dual) {
        is(S(D(Q), D(M), dual)(p, q), q == l ? QM(p, b) : quad(0));
      });
      each_entry(M, [&](Index a, Index b, const auto& dual) {
        is(S(D(Q), dual, D(K))(p, q), Q(p, a) * K(q, b));
      });
    }
}
BOOST_AUTO_TEST_CASE(parts_by_hand) {
  const Matrix<double> A{{0.25, 0.75}}, V{{1}, {3}}, dO{{2}};
  const auto o = output_vjp(A, V, dO);
  verify(distance(o.A, Matrix<double>{{2, 6}}), 0);
  verify(distance(o.V, Matrix<double>{{0.5}, {1.5}}), 0);
  const Matrix<double> dS{{2, -1}}, Q{{3, 4}}, K{{5, 1}, {7, 2}};
  const auto s = scores_vjp(dS, Q, K);
  verify(distance(s.Q, Matrix<double>{{3, 0}}), 0);
  verify(distance(s.K, Matrix<double>{{6, 8}, {-3, -4}}), 0);
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
    for (Index a = 0; a < d; ++a) verify(distance(dQ(k, a), g.Q(k, a)),
                                         roundings(1e3));
}

// check that the softmax lowers an index
BOOST_AUTO_TEST_CASE(lowering_is_fisher) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = 3, m = Index(1 + seed % 6);
    const Matrix<quad> A = gibbs(gaussian<quad>(n, m, seed));
    const Matrix<quad> X = gaussian<quad>(n, m, seed, "X");
    Tensor<quad, dn, dn, dn> F(n, m, m);
    for (Index i = 0; i < n; ++i)
      for (Index q = 0; q < m; ++q)
        for (Index r = 0; r < m; ++r)
          F(i, q, r) = A(i, q) * (quad(q == r ? 1 : 0) - A(i, r));
    const auto dS =
        eq<R"(\bar S_{(i)q} = F_{(i)qn} \bar A_{(i)}{}^n)">(  // eq:lowering
            F, view<dn, up>(X));
    verify(distance(dS.mat(), fisher_lower(A, X)), roundings(100));
    verify(distance(dS.mat(), softmax_vjp(A, X)), roundings(100));
  }
}
BOOST_AUTO_TEST_CASE(lowering_at_any_temperature) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = 3, m = Index(1 + seed % 6);
    const quad T = quad(double(seed)) / 4;
    const Matrix<quad> S = gaussian<quad>(n, m, seed, "S");
    const Matrix<quad> X = gaussian<quad>(n, m, seed, "X");
    const Matrix<quad> tape = gradient(
        [&](const Matrix<Var<quad>>& s) {
          return duality(gibbs(s, Var<quad>(T)), lift<Var<quad>>(X));
        }, S);
    verify(distance(fisher_lower(gibbs(S, T), X) / T, tape),
           roundings(1e3));
  }
}
BOOST_AUTO_TEST_CASE(forward_map_has_the_same_matrix) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = 3, m = Index(1 + seed % 6);
    const quad T = quad(double(seed)) / 4;
    const Matrix<quad> S = gaussian<quad>(n, m, seed, "S");
    const Matrix<quad> dS = gaussian<quad>(n, m, seed, "dS");
    const Matrix<Dual<quad>> A =
        gibbs(attn::detail::dual(S, dS), Dual<quad>(T));
    const Matrix<quad> dA = fisher_lower(gibbs(S, T), dS) / T;
    for (Index k = 0; k < dA.size(); ++k)
      verify(distance(A.data()[k].d, dA.data()[k]), roundings(1e3));
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
    const Matrix<Fp> X = uniform<Fp>(2, m, seed, "X");
    const Matrix<Fp> c = uniform<Fp>(2, 1, seed, "c");
    const Matrix<Fp> shifted = X.colwise() + c.col(0);
    verify_exact(fisher_lower(A, shifted), fisher_lower(A, X), 4 * m);
    verify_exact(fisher_lower(A, X), softmax_vjp(A, X), 4 * m);
  }
}
BOOST_AUTO_TEST_CASE(rows_of_dS_vanish) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<Fp> A = symbolic_weights(3, 5, seed);
    const Matrix<Fp> Y = fisher_lower(A, uniform<Fp>(3, 5, seed, "X"));
    verify_exact(Vector<Fp>(Y.rowwise().sum()),
                 Vector<Fp>(Vector<Fp>::Zero(3)), 20);
  }
}
BOOST_AUTO_TEST_CASE(variance_and_its_zeros) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Matrix<quad> s = gaussian<quad>(1, 6, seed, "s");
    s(Index(seed % 6)) = -HUGE_VAL;
    const quad T = quad(double(seed)) / 5;
    const Matrix<quad> A = gibbs(s, T);
    const auto form = [&](const Matrix<quad>& x) {
      const Matrix<quad> y = fisher_lower(A, x) / T;
      return quad(y.row(0).dot(x.row(0)));
    };
    Matrix<quad> x = gaussian<quad>(1, 6, seed, "x");

    // compare the quadratic form with the variance
    quad variance(0);
    for (Index n = 0; n < 6; ++n)
      for (Index q = 0; q < n; ++q)
        variance += A(n) * A(q) * (x(n) - x(q)) * (x(n) - x(q)) / T;
    verify(distance(form(x), variance), roundings(1e3));
    const quad odd = x(Index(seed % 6));
    x.setConstant(quad(2));
    x(Index(seed % 6)) = odd;
    verify(to_double(form(x)), 0);
    const Index q = Index((seed + 1) % 6), n = Index((seed + 2) % 6);
    x(q) = 3;
    refute(to_double(form(x)), to_double(quad(A(q) * A(n) / (2 * T))));
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
    verify_parts(hand, tape, roundings(1e4));
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
    verify(distance(times(raised, *x.M), reverse_gradient(x, w).Q),
           roundings(1e5));
  }
}
BOOST_AUTO_TEST_CASE(latent_metric) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Size z{3, 4, 3, 3, 2};
    auto x = random_inputs<quad>(z, seed);
    const Matrix<quad> W = gaussian<quad>(Index(1 + seed % 4), 3, seed, "W");
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
    verify(distance(dW, tape), roundings(1e5));
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
    verify_parts(metric, matrix, roundings(1e4));
  }
}
BOOST_AUTO_TEST_CASE(symmetric_part_acts) {
  const Size z{3, 4, 3, 3, 2};
  const auto x = random_inputs<quad>(z, 6);
  const auto w = random_outputs<quad>(z, 6);
  const auto g = attention_vjp(x, w);
  const Matrix<quad> a = gaussian<quad>(3, 3, 6, "a");
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
             roundings(1e3));
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
  verify(distance(g.Q, h.Q), roundings(1e3));
  for (Index j = 0; j < 6; ++j) {
    verify(distance(g.K.row(pi[std::size_t(j)]), h.K.row(j)), roundings(1e3));
    verify(distance(g.V.row(pi[std::size_t(j)]), h.V.row(j)), roundings(1e3));
  }
}
BOOST_AUTO_TEST_CASE(euler_identity) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Size z{3, Index(1 + seed % 6), 2, 3, 2};
    auto x = random_inputs<quad>(z, seed);
    x.T = quad(int(seed)) / 3;
    const auto w = random_outputs<quad>(z, seed);
    const auto g = attention_vjp(x, OutputParts<quad>{w.O});
    verify(distance(duality(g.M, *x.M), -x.T * g.T), roundings(1e5));
    verify(distance(duality(g.Q, x.Q), duality(g.K, x.K)), roundings(1e5));
    verify(distance(duality(g.Q, x.Q), duality(g.M, *x.M)), roundings(1e5));
  }
}
BOOST_AUTO_TEST_CASE(shift_is_felt_by_log_partition) {
  const Size z{3, 4, 2, 2, 2};
  auto x = random_problem<quad>(z, 5);
  x.mask.reset();
  const auto w = random_outputs<quad>(z, 5);
  const auto g = attention_vjp(x, w);
  for (Index i = 0; i < 3; ++i)
    verify(distance(g.bias.row(i).sum(), w.logZ(i) / x.T), roundings(1e3));
}

// check the adjoint identity exactly
BOOST_AUTO_TEST_CASE(adjoint_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Size z{Index(1 + seed % 4), Index(1 + seed % 5),
                 Index(1 + seed % 3), Index(1 + seed % 4),
                 Index(1 + seed % 2)};
    const auto x = symbolic_inputs(z, seed);
    const auto f = symbolic_forward(x, seed);
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
        verify(distance(y.O(i, c), f.O(i, c).d), roundings(1e4));
      const quad slope = x.mask->row(i).any() ? f.logZ(i).d : quad(0);
      verify(distance(y.logZ(i), slope), roundings(1e4));
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
               duality(attention_vjp(x, w), u)), roundings(1e5));
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
               duality(u, attention_hvp(x, v, w))), roundings(1e6));
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
BOOST_AUTO_TEST_CASE(hessian_along_an_absent_bias) {
  const Size z{2, 3, 2, 2, 2};
  auto x = random_inputs<quad>(z, 7);
  const auto u = random_direction<quad>(z, 7);
  const auto w = random_outputs<quad>(z, 7);
  const auto bare = attention_hvp(x, u, w);
  x.bias = Matrix<quad>::Zero(2, 3);
  const auto full = attention_hvp(x, u, w);
  verify_parts(bare, full, 0);
  auto still = u;
  still.bias.setZero();
  refute(largest(full.Q - attention_hvp(x, still, w).Q), 0.01);
  x.M.reset();
  BOOST_CHECK_EXCEPTION(attention_hvp(x, u, w), std::invalid_argument,
                        says("direction of M, but the inputs have none"));
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
               roundings(1e4));
  }
}
BOOST_AUTO_TEST_CASE(hessian_of_loss_with_logz) {
  const Size z{1, 5, 3, 2, 1};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto x = random_inputs<quad>(z, seed);
    x.T = quad(double(seed)) / 3;
    const auto f = attention_forward(x);
    const Matrix<quad> mean = times(f.weights, f.K_low);
    for (Index a = 0; a < 3; ++a) {
      const Matrix<quad> H = hessian_row(x, a);
      for (Index b = 0; b < 3; ++b) {
        quad cov(0);
        for (Index j = 0; j < 5; ++j)
          cov += f.weights(j) * (f.K_low(j, a) - mean(a)) *
                 (f.K_low(j, b) - mean(b));
        verify(distance(H(0, b), cov / (x.T * x.T)), roundings(1e3));
      }
    }
  }
}
BOOST_AUTO_TEST_CASE(hessian_of_logz_is_a_variance) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto x = random_inputs<quad>({1, 5, 3, 2, 1}, seed);
    x.T = quad(double(seed)) / 3;
    const auto f = attention_forward(x);
    const Matrix<quad> v = gaussian<quad>(1, 3, seed, "v");
    quad along(0);
    for (Index a = 0; a < 3; ++a)
      along += v(a) * hessian_row(x, a).row(0).dot(v.row(0));
    const Matrix<quad> moved = times(v, f.K_low.transpose());
    quad squares(0);
    for (Index j = 0; j < 5; ++j)
      for (Index n = 0; n < j; ++n)
        squares += f.weights(j) * f.weights(n) *
                   (moved(j) - moved(n)) * (moved(j) - moved(n));
    verify(distance(along, squares / (x.T * x.T)), roundings(1e4));
    const quad F = fisher_lower(f.weights, moved).row(0).dot(moved.row(0));
    verify(distance(F, squares), roundings(1e4));
  }
}

// check saturation
BOOST_AUTO_TEST_CASE(saturation_bound) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Index n = Index(1 + seed % 9);
    const double scale = std::pow(10.0, double(seed % 5) - 2);
    const Matrix<quad> A =
        gibbs(quad(scale) * gaussian<quad>(1, n, seed, "S"));
    const Matrix<quad> X = gaussian<quad>(1, n, seed, "X");
    const quad bound = (2 * A.array() * (1 - A.array())).maxCoeff();
    const quad size = bound * X.norm();
    const double excess = to_double(quad(fisher_lower(A, X).norm() - size));
    verify(std::max(excess, 0.0), roundings(100));
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

// check what rounded weights do
BOOST_AUTO_TEST_CASE(rounded_weights) {
  double lost = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Matrix<quad> A = gibbs(quad(30) * gaussian<quad>(1, 8, seed, "S"));
    const Matrix<quad> X = gaussian<quad>(1, 8, seed, "X");
    const Matrix<quad> stored = lift<quad>(lift<double>(A));
    const Matrix<quad> truth = fisher_lower(A, X);
    const Matrix<quad> fixed = fisher_lower(stored, X);
    const Matrix<quad> textbook = softmax_vjp(stored, X);

    // compare both forms on rounded weights
    const quad top = A.maxCoeff(), d(0x1p-53);
    for (Index q = 0; q < 8; ++q) {
      quad P(0);
      for (Index n = 0; n < 8; ++n) P += A(n) * abs(X(q) - X(n));
      const quad scale = A(q) * P;
      verify(to_double(quad(abs(fixed(q) - truth(q)) / scale)),
             to_double(quad(d * (1 + (1 + d) * (1 + 1 / top)))) + roundings(1000));
      lost = std::max(
          lost, to_double(quad(abs(textbook(q) - truth(q)) / scale)));
    }
  }
  fact("textbook", lost);
  refute(lost, 0.5);
}
BOOST_AUTO_TEST_SUITE_END()
