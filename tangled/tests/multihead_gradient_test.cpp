// tests/multihead_gradient_test.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/autodiff.hpp"
#include "attn/multihead.hpp"
#include "modules.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(multihead)

// check the gradients of all weights
/// <gradient, direction> over inputs and weights.
template <class S>
S along(const HeadGradient<S>& g, const MultiHead<S>& dm,
        const Matrix<S>& dX, const Matrix<S>& dC) {
  S sum = g.X.cwiseProduct(dX).sum() + g.C.cwiseProduct(dC).sum();
  for_each_weight([&](auto, const auto& a, const auto& b) {
    if (a.size() > 0) sum += a.cwiseProduct(b).sum();
  }, g.weights, dm);
  return sum;
}
BOOST_AUTO_TEST_CASE(central_differences) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto s = setting<quad>(seed), d = setting<quad>(seed + 60);
    const auto t = multihead_forward(s.m, s.X, s.C, s.bias);
    const Matrix<quad> dY = gaussian<quad>(t.Y.rows(), t.Y.cols(), seed);
    const Matrix<quad> dX = gaussian<quad>(s.X.rows(), s.X.cols(), 31);
    const Matrix<quad> dC = gaussian<quad>(s.C.rows(), s.C.cols(), 32);
    const auto at = [&](quad h) {
      auto m = s.m;
      for_each_weight([&](auto, auto& w, const auto& v) { w += h * v; }, m,
                      d.m);
      return quad(attend(m, s.X + h * dX, s.C + h * dC, s.bias)
                      .cwiseProduct(dY).sum());
    };
    const quad h(0x1p-37), slope = (at(h) - at(-h)) / (h + h);
    verify(to_double(abs(slope - along(multihead_vjp(s.m, s.X, s.C, t, dY),
                                       d.m, dX, dC))), 1e-18);
  }
}
BOOST_AUTO_TEST_CASE(adjoint_at_size) {
  for (const Index G : {8, 2, 1}) {
    const auto m = xavier<double>({64, 8, G, 0, 0, 0, 0, true}, 1);
    const auto dm = xavier<double>({64, 8, G, 0, 0, 0, 0, true}, 7);
    const Matrix<double> X = gaussian<double>(96, 64, 12);
    const Matrix<double> dX = gaussian<double>(96, 64, 13);
    const Matrix<double> dY = gaussian<double>(96, 64, 14);
    const Matrix<double> B = past_bias<double>(96, 96);
    auto dual = lifted<Dual<double>>(m);
    for_each_weight([](auto, auto& w, const auto& v) {
      for (Index k = 0; k < w.size(); ++k) w.data()[k].d = v.data()[k];
    }, dual, dm);
    Matrix<Dual<double>> x = lift<Dual<double>>(X);
    for (Index k = 0; k < x.size(); ++k) x.data()[k].d = dX.data()[k];
    const auto Y = attend(dual, x, x, lift<Dual<double>>(B));
    double left = 0;
    for (Index k = 0; k < Y.size(); ++k) left += Y.data()[k].d * dY.data()[k];
    const auto t = multihead_forward(m, X, X, B);
    const auto g = multihead_vjp(m, X, t, dY);
    const Matrix<double> none;
    double scale = g.X.cwiseProduct(dX).cwiseAbs().sum();

    // hold both sides of the identity together
    for_each_weight([&](auto, const auto& a, const auto& b) {
      scale += a.cwiseProduct(b).cwiseAbs().sum();
    }, g.weights, dm);
    HeadGradient<double> self = g;
    self.C = none;
    verify(std::abs(left - along(self, dm, dX, none)), 0x1p-43 * scale);
  }
}

// check the gradients of the heads
BOOST_AUTO_TEST_CASE(three_paths) {
  const auto m = xavier<quad>({6, 2}, 3);
  const Matrix<quad> X = gaussian<quad>(4, 6, 1), dY = gaussian<quad>(4, 6, 2);
  const auto t = multihead_forward(m, X, X);
  const auto g = multihead_vjp(m, X, t, dY);
  const auto f = [&](const Matrix<quad>& x) {
    return quad(attend(m, x).cwiseProduct(dY).sum());
  };
  Matrix<quad> slope(4, 6);
  for (Index k = 0; k < 24; ++k) {
    Matrix<quad> E = Matrix<quad>::Zero(4, 6);
    E.data()[k] = quad(0x1p-37);
    slope.data()[k] = (f(X + E) - f(X - E)) / quad(0x1p-36);
  }
  verify(distance(g.X, slope), 1e-20);
  const auto parts = multihead_vjp(m, X, X, t, dY);
  refute(distance(parts.X, slope), 0.1);  // queries only
  refute(distance(parts.C, slope), 0.1);  // keys and values only

  // measure the three paths
  auto deaf = m, mute = m;
  deaf.W_K.setZero(), mute.W_V.setZero();
  const Matrix<quad> values = multihead_vjp(deaf, X, X, t, dY).C,
                     keys = multihead_vjp(mute, X, X, t, dY).C;
  const double all = to_double(slope.norm());
  fact("queries", to_double(parts.X.norm()) / all, 2);
  fact("keys", to_double(keys.norm()) / all, 2);
  fact("values", to_double(values.norm()) / all, 2);
  const double cosine = to_double(
      quad(values.cwiseProduct(slope).sum() / (values.norm() * slope.norm())));
  fact("cosine", cosine, 2);
  refute(cosine, 0.1);
  verify(distance(parts.X + keys + values, slope), 1e-20);
}
BOOST_AUTO_TEST_CASE(sums_over_the_group) {
  constexpr auto kept = attn::detail::parsed<
      R"(\bar V_{j(s)c} = A^{(sr)i}{}_j \bar O_{i(sr)c})">;
  static_assert(kept.fault == attn::detail::Fault::label_summed);
  for (const Index G : {1, 2, 4}) {
    const auto m = xavier<quad>({8, 4, G, 3, 2}, 5);
    const Matrix<quad> X = gaussian<quad>(5, 8, 16);
    const Matrix<quad> dY = gaussian<quad>(5, 8, 17);
    const auto r = repeated(m, [&](Index h) { return h / m.group(); });
    const auto g = multihead_vjp(m, X, multihead_forward(m, X, X), dY);
    const auto s = multihead_vjp(r, X, multihead_forward(r, X, X), dY);
    Matrix<quad> W = Matrix<quad>::Zero(8, 3 * G), U(8, 2 * G);
    U.setZero();
    for (Index h = 0; h < 4; ++h) {
      const Index k = h / m.group();
      W.middleCols(3 * k, 3) += s.weights.W_K.middleCols(3 * h, 3);
      U.middleCols(2 * k, 2) += s.weights.W_V.middleCols(2 * h, 2);
    }
    verify(distance(g.weights.W_K, W) + distance(g.weights.W_V, U), 1e-30);
    verify(distance(g.X, s.X) + distance(g.weights.W_Q, s.weights.W_Q), 1e-30);
  }
}
/// a^T c for d columns of two matrices, with a row of biases.
Matrix<quad> paired(const Matrix<quad>& a, const Vector<quad>& p,
                    const Matrix<quad>& c, const Vector<quad>& q, Index from,
                    Index d) {
  return times(a.middleCols(from, d).transpose(), c.middleCols(from, d)) +
         times(p.segment(from, d), q.segment(from, d).transpose());
}
BOOST_AUTO_TEST_CASE(conserved_by_gauge_freedom) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto [m, X, C, B] = setting<quad>(6 * seed + 2);  // H = 4, G = 2
    const Matrix<quad> dY = gaussian<quad>(X.rows(), 3, seed, "dY");
    const auto w =
        multihead_vjp(m, X, C, multihead_forward(m, X, C), dY).weights;
    for (Index s = 0; s < 2; ++s) {
      Matrix<quad> Q = Matrix<quad>::Zero(3, 3), O = Matrix<quad>::Zero(5, 5);
      for (const Index h : {2 * s, 2 * s + 1}) {
        Q += paired(m.W_Q, m.b_Q, w.W_Q, w.b_Q, 3 * h, 3);
        O += times(m.W_O.middleRows(5 * h, 5),
                   w.W_O.middleRows(5 * h, 5).transpose());
      }
      const Matrix<quad> K = paired(w.W_K, w.b_K, m.W_K, m.b_K, 3 * s, 3);
      verify(distance(Q, K), 1e-29);
      verify(distance(paired(w.W_V, w.b_V, m.W_V, m.b_V, 5 * s, 5), O), 1e-29);
      refute(distance(paired(m.W_Q, m.b_Q, w.W_Q, w.b_Q, 6 * s, 3), K), 1e-6);
    }
  }
}
BOOST_AUTO_TEST_CASE(each_head_as_alone) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto s = setting<quad>(seed);
    const auto t = multihead_forward(s.m, s.X, s.C, s.bias);
    const Index n = s.X.rows(), d = s.m.d_k(), v = s.m.d_v();
    const Matrix<quad> dY = gaussian<quad>(n, t.Y.cols(), seed);
    const Matrix<quad> dO = times(dY, s.m.W_O.transpose());
    const auto g = multihead_vjp(s.m, s.X, s.C, t, dY);
    const Matrix<quad> Q = project<quad>(s.X, s.m.W_Q, s.m.b_Q).mat();
    const Matrix<quad> K = project<quad>(s.C, s.m.W_K, s.m.b_K).mat();
    const Matrix<quad> V = project<quad>(s.C, s.m.W_V, s.m.b_V).mat();
    for (Index h = 0; h < s.m.heads; ++h) {
      const Index k = h / s.m.group();
      AttentionInputs<quad> x{Q.middleCols(h * d, d), K.middleCols(k * d, d),
                              V.middleCols(k * v, v)};
      if (s.bias.size()) x.bias = s.bias;
      const auto one = attention_vjp(x, {dO.middleCols(h * v, v)});
      verify(distance(stacked(g.scores).middleRows(h * n, n), one.bias), 1e-30);
      verify(distance(times(s.X.transpose(), one.Q),
                    g.weights.W_Q.middleCols(h * d, d)), 1e-29);
    }
  }
}

// check the edges of the gradients
BOOST_AUTO_TEST_CASE(future_gets_no_gradient) {
  const auto m = xavier<double>({6, 3}, 1);
  const Matrix<double> X = gaussian<double>(7, 6, 13);
  const auto t = multihead_forward(m, X, X, past_bias<double>(7, 7));
  for (Index n = 0; n <= 7; ++n) {
    Matrix<double> dY = gaussian<double>(7, 6, 14);
    dY.bottomRows(7 - n).setZero();
    const auto g = multihead_vjp(m, X, t, dY);
    verify(g.X.bottomRows(7 - n).cwiseAbs().sum(), 0);
  }
}
BOOST_AUTO_TEST_CASE(nothing_seen_nothing_learned) {
  const auto m = xavier<double>({6, 3, 0, 0, 0, 0, 0, true}, 1);
  const Matrix<double> X = gaussian<double>(3, 6, 13), C(0, 6);
  const auto t = multihead_forward(m, X, C);
  const Matrix<double> dY = gaussian<double>(3, 6, 14);
  const auto g = multihead_vjp(m, X, C, t, dY);
  verify(g.X.cwiseAbs().sum() + g.weights.W_Q.cwiseAbs().sum() +
             g.weights.W_O.cwiseAbs().sum(), 0);
  verify((g.weights.b_O - dY.colwise().sum().transpose()).norm(), 0x1p-51);
  BOOST_TEST(g.C.rows() == 0);
}
BOOST_AUTO_TEST_CASE(refuses_foreign_cotangents) {
  const auto m = xavier<double>({4, 2}, 1);
  const Matrix<double> X = gaussian<double>(3, 4, 1), Z = X.topRows(2);
  const auto t = multihead_forward(m, X, X);
  BOOST_CHECK_EXCEPTION(multihead_vjp(m, X, t, Z), std::invalid_argument,
                        says("multihead_vjp: dY is 2x4 but Y is 3x4"));
  BOOST_CHECK_EXCEPTION(multihead_vjp(m, X, t, X.leftCols(2)),
                        std::invalid_argument, says("dY is 3x2"));
  BOOST_CHECK_EXCEPTION(multihead_vjp(m, Z, t, Z), std::invalid_argument,
                        says("trace has weights 2x1x3x3"));
  for (const HeadShape& other : {HeadShape{4, 2, 2, 3}, {4, 2, 2, 2, 3}}) {
    const auto foreign = multihead_forward(xavier<double>(other, 1), X, X);
    BOOST_CHECK_EXCEPTION(multihead_vjp(m, X, foreign, X),
                          std::invalid_argument, says("not of this module"));
  }
  BOOST_CHECK_EXCEPTION(multihead_vjp(m, X.leftCols(3), t, X),
                        std::invalid_argument, says("multihead_vjp: X is 3x3"));
  using bad = std::invalid_argument;
  const Tensor<double, up, up> six(2, 3);
  BOOST_CHECK_EXCEPTION((regroup<up, up>(six, {2, 2})), bad,
                        says("regroup: 6 numbers for 4 places"));
}

// check the answers about heads
BOOST_AUTO_TEST_CASE(answer_key_bias) {
  auto m = xavier<quad>({6, 3, 0, 0, 0, 0, 0, true}, 1);
  const Matrix<quad> X = gaussian<quad>(5, 6, 12);
  const Matrix<quad> Y = attend(m, X);
  m.b_K = gaussian<quad>(6, 1, 13);
  verify(distance(attend(m, X), Y), 1e-31);
  m.b_V = gaussian<quad>(6, 1, 14);
  const auto g = multihead_vjp(m, X, multihead_forward(m, X, X), Y).weights;
  verify(distance(g.b_K, Matrix<quad>::Zero(6, 1)), 1e-31);
  const Matrix<quad> e = Matrix<quad>::Ones(5, 1);
  verify(distance(g.b_V, times(m.W_O, times(Y.transpose(), e))), 1e-30);
  auto n = m;
  n.b_O += times(m.W_O.transpose(), m.b_V);
  n.b_V.setZero();
  verify(distance(attend(n, X), attend(m, X)), 1e-31);
}
BOOST_AUTO_TEST_CASE(answer_cache) {
  const auto m = xavier<quad>({8, 4, 1}, 1);
  const Matrix<quad> X = gaussian<quad>(6, 8, 12);
  const auto t = multihead_forward(m, X, X, past_bias<quad>(6, 6));
  verify(double(std::abs((t.K.values.size() + t.V.values.size()) / 6 - 4)), 0);
  for (Index n = 1; n <= 6; ++n)
    verify(distance(attend(m, X.row(n - 1), X.topRows(n)), t.Y.row(n - 1)),
           1e-31);
}
BOOST_AUTO_TEST_CASE(answer_bias_gradient) {
  const auto m = xavier<quad>({4, 4, 2}, 1);
  const Matrix<quad> X = gaussian<quad>(4, 4, 12),
                     dY = gaussian<quad>(4, 4, 13),
                     B = gaussian<quad>(4, 4, 14), D = gaussian<quad>(4, 4, 15);
  const auto g = multihead_vjp(m, X, multihead_forward(m, X, X, B), dY);
  Tensor<quad, up, up> e(2, 2);
  e.values.setOnes();
  const Matrix<quad> dB =
      eq<R"(\bar B_{ij} = \bar S_{srij} e^{sr})">(g.scores, e).mat();
  const auto f = [&](const Matrix<quad>& b) {
    return quad(attend(m, X, X, b).cwiseProduct(dY).sum());
  };
  const quad h(0x1p-37);
  const quad slope = (f(B + h * D) - f(B - h * D)) / (h + h);
  verify(to_double(abs(slope - dB.cwiseProduct(D).sum())), 1e-19);
}
BOOST_AUTO_TEST_CASE(answer_gradient_flow) {
  const auto m = xavier<quad>({5, 1}, 1);
  const Matrix<quad> X = gaussian<quad>(4, 5, 12),
                     dY = gaussian<quad>(4, 5, 13);
  const auto g = multihead_vjp(m, X, multihead_forward(m, X, X), dY).weights;
  const auto charge = [](const Matrix<quad>& Q, const Matrix<quad>& K) {
    return Matrix<quad>(times(Q.transpose(), Q) - times(K.transpose(), K));
  };
  for (const double step : {1.0, 0.1, 1e-3}) {
    const quad eta(step);
    const Matrix<quad> change = charge(m.W_Q - eta * g.W_Q, m.W_K - eta * g.W_K)
                                - charge(m.W_Q, m.W_K);
    verify(distance(change, eta * eta * charge(g.W_Q, g.W_K)), 1e-29);
  }
}
/// Heads from..from + k - 1 of m, which has G = H and no biases.
MultiHead<quad> cut(const MultiHead<quad>& m, Index from, Index k) {
  const Index d = m.d_k(), v = m.d_v();
  MultiHead<quad> c{k, k, {}, {}, {}, {}, {}, {}, {}, {}};
  c.W_Q = m.W_Q.middleCols(from * d, k * d);
  c.W_K = m.W_K.middleCols(from * d, k * d);
  c.W_V = m.W_V.middleCols(from * v, k * v);
  c.W_O = m.W_O.middleRows(from * v, k * v);
  return c;
}
BOOST_AUTO_TEST_CASE(answer_pruning) {
  const auto m = xavier<quad>({8, 4, 4, 2, 3}, 1);
  const Matrix<quad> X = gaussian<quad>(5, 8, 12);
  for (Index k = 1; k < 4; ++k)
    verify(distance(attend(cut(m, 0, k), X) + attend(cut(m, k, 4 - k), X),
                  attend(m, X)), 1e-31);
}
BOOST_AUTO_TEST_CASE(answer_pooling) {
  const auto pooled = [](MultiHead<double> m) {
    m.W_K = ((m.W_K.leftCols(2) + m.W_K.rightCols(2)) / 2).eval();
    m.W_V = ((m.W_V.leftCols(2) + m.W_V.rightCols(2)) / 2).eval();
    m.kv_heads = 1;
    return m;
  };
  auto same = xavier<double>({4, 2}, 1);
  same.W_K.rightCols(2) = same.W_K.leftCols(2).eval();
  same.W_V.rightCols(2) = same.W_V.leftCols(2).eval();
  auto turned = same;
  turned.W_Q.rightCols(2) *= -1;
  turned.W_K.rightCols(2) *= -1;
  const Matrix<double> X = gaussian<double>(5, 4, 1, "X");
  verify(distance(attend(turned, X), attend(same, X)), 0);
  verify(distance(attend(pooled(same), X), attend(same, X)), 0);
  verify(largest(pooled(turned).W_K), 0);
  const Matrix<double> Y = attend(pooled(turned), X);
  verify(largest(Y.rowwise() - Y.row(0)), 0);
  refute(distance(Y, attend(same, X)), 0.1);
}
BOOST_AUTO_TEST_SUITE_END()
