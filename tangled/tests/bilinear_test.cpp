// tests/bilinear_test.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/attention.hpp"
#include "attn/autodiff.hpp"
#include "attn/form.hpp"
#include "attn/random.hpp"
#include "metrics.hpp"
#include <algorithm>
#include <numeric>
using namespace attn;
BOOST_AUTO_TEST_SUITE(bilinear)

// check that the pairing needs no basis
BOOST_AUTO_TEST_CASE(pairing_is_invariant) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 8);
    const Basis<Fp> b(gaussian<Fp>(d, d, seed, "P"));
    const Tensor<Fp, dn> u(gaussian<Fp>(d, 1, seed, "u").col(0));
    const Tensor<Fp, up> v(gaussian<Fp>(d, 1, seed, "v").col(0));
    const Fp before = eq<"s = u_a v^a">(u, v);  // eq:pairing
    const Fp after = eq<"s = u_a v^a">(b.covector(u), b.vector(v));
    verify_exact(before, after, d + 2);
  }
}

// check bilinearity in both slots
BOOST_AUTO_TEST_CASE(linear_in_both_slots) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index m = Index(1 + seed % 5), n = Index(1 + seed % 7);
    const Bilinear<Fp> B{gaussian<Fp>(m, n, seed, "B")};
    const Matrix<Fp> U = gaussian<Fp>(m, 2, seed, "U");
    const Matrix<Fp> W = gaussian<Fp>(n, 2, seed, "W");
    const Vector<Fp> c = gaussian<Fp>(2, 1, seed, "c");
    const auto b = [&](Index i, Index j) {
      return inner<Bilinear<Fp>>(U.col(i), W.col(j), B);
    };
    verify_exact(inner<Bilinear<Fp>>(U * c, W.col(0), B),
                 c(0) * b(0, 0) + c(1) * b(1, 0), 4);
    verify_exact(inner<Bilinear<Fp>>(U.col(0), W * c, B),
                 c(0) * b(0, 0) + c(1) * b(0, 1), 4);
  }
}
BOOST_AUTO_TEST_CASE(loops_agree_with_gemm) {
  for (const auto& [m, n] : {std::pair{3, 5}, {5, 3}, {1, 4}, {4, 4}}) {
    const Bilinear<Fp> B{gaussian<Fp>(m, n, 7)};
    const Vector<Fp> u = gaussian<Fp>(m, 1, 8), w = gaussian<Fp>(n, 1, 9);
    Fp sum(0);
    for (Index a = 0; a < m; ++a)
      for (Index b = 0; b < n; ++b) sum += u(a) * B.M(a, b) * w(b);
    verify_exact(inner(u, w, B), sum, 3);
  }
}

// check the change of basis
BOOST_AUTO_TEST_CASE(scores_are_invariant) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 8);
    const Basis<Fp> b(gaussian<Fp>(d, d, seed, "P"));
    const Tensor<Fp, dn, dn> g(gaussian<Fp>(d, d, seed, "g"));
    const Tensor<Fp, up> u(gaussian<Fp>(d, 1, seed, "u").col(0));
    const Tensor<Fp, up> v(gaussian<Fp>(d, 1, seed, "v").col(0));
    const auto score = [](const auto& x, const auto& f, const auto& y) {
      return Fp(eq<"s = u^a g_{ab} v^b">(x, f, y));
    };
    verify_exact(score(u, g, v),
                 score(b.vector(u), b.form(g), b.vector(v)), 2 * d + 3);
  }
}
BOOST_AUTO_TEST_CASE(scores_determine_the_form) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 6);
    const Basis<Fp> b(gaussian<Fp>(d, d, seed, "P"));
    const Bilinear<Fp> old{gaussian<Fp>(d, d, seed, "g")};
    const Matrix<Fp> moved = b.form({old.M}).mat();
    for (Index a = 0; a < d; ++a)
      for (Index c = 0; c < d; ++c)
        verify_exact(moved(a, c), inner<Bilinear<Fp>>(b.P.col(a), b.P.col(c),
                                                      old), 3);
  }
}
BOOST_AUTO_TEST_CASE(congruence_keeps_metrics) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6);
    const auto g = metrics<quad>(d, seed).back();
    const Basis<quad> b(gaussian<quad>(d, d, seed, "P"));
    const auto h = Metric<quad>::full(b.form({g.dense()}).mat());
    const quad volume = abs(b.P.partialPivLu().determinant());
    verify(distance(h.log_det(), g.log_det() + 2 * log(volume)), agreement);
    const Matrix<quad> inv = b.R * g.inverse() * b.R.transpose();
    verify(distance(h.inverse(), inv) / largest(inv), agreement);
    const Vector<quad> v = gaussian<quad>(d, 1, seed, "v");
    const Vector<quad> low = g.dense() * v;
    const Matrix<quad> bent =
        g.dense() - (quad(2) / v.dot(low) * low) * low.transpose();
    verify(diagnose<quad>(b.form({bent}).mat()).positive() ? 1 : 0, 0);
  }
}

// check the gradients of learned forms
template <class S>
Matrix<S> pullback_gradient_by_tape(const Matrix<S>& W, const Matrix<S>& dg) {
  return gradient([&](const Matrix<Var<S>>& w) {
    Var<S> loss(S(0));
    for (Index a = 0; a < dg.rows(); ++a)
      for (Index b = 0; b < dg.cols(); ++b)
        for (Index r = 0; r < w.rows(); ++r)
          loss += Var<S>(dg(a, b)) * w(r, a) * w(r, b);
    return loss;
  }, W);
}
BOOST_AUTO_TEST_CASE(gradient_of_pullback) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6), r = Index(1 + seed % 4);
    const Matrix<quad> W = gaussian<quad>(r, d, seed, "W");
    const Matrix<quad> dg = gaussian<quad>(d, d, seed, "dg");
    const Matrix<quad> dW = pullback_vjp(W, dg);
    verify(distance(dW, pullback_gradient_by_tape(W, dg)), agreement);
  }
}
BOOST_AUTO_TEST_CASE(pullback_vjp_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 6), r = Index(1 + seed % 4);
    const Matrix<Fp> W = gaussian<Fp>(r, d, seed, "W");
    const Matrix<Fp> dg = gaussian<Fp>(d, d, seed, "dg");
    verify_exact(pullback_vjp(W, dg), pullback_gradient_by_tape(W, dg), 2);
  }
  const Matrix<double> W(1, 2);
  for (const auto& dg : {Matrix<double>(2, 3), Matrix<double>(3, 2)})
    BOOST_CHECK_EXCEPTION(pullback_vjp(W, dg), std::invalid_argument,
                          says("but W is 1x2"));
}
BOOST_AUTO_TEST_CASE(gradient_of_parameters) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 4);
    const Matrix<quad> Q = gaussian<quad>(3, d, seed, "Q");
    const Matrix<quad> K = gaussian<quad>(2, d, seed, "K");
    const Matrix<quad> dS = gaussian<quad>(3, 2, seed, "dS");
    const Matrix<quad> T = gaussian<quad>(d, d, seed, "Theta");
    const Matrix<quad> dT = gradient([&](const Matrix<Var<quad>>& t) {
      using V = Var<quad>;
      const Matrix<V> L = factor_from_parameters(t);
      const Bilinear<V> g{L * L.transpose()};
      const Matrix<V> S = scores(Q.cast<V>(), K.cast<V>(), g);
      return V(S.cwiseProduct(dS.cast<V>()).sum());
    }, T);
    const Matrix<quad> dg =
        eq<R"(\bar g^{ab} = Q^{ia} \bar S_{ij} K^{jb})">(  // eq:metric-gradient
            view<up, up>(Q), view<dn, dn>(dS), view<up, up>(K)).mat();
    verify(distance(dT, parameters_vjp(T, dg)) / largest(dT), agreement);
  }
}
BOOST_AUTO_TEST_CASE(parameters_are_a_chart) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 7);
    const Matrix<quad> T =
        gaussian<quad>(d, d, seed).triangularView<Eigen::Lower>();
    const Matrix<quad> L = factor_from_parameters(T);
    const Matrix<quad> g = L * L.transpose();
    verify(distance(parameters_of(g), T), agreement);
    const auto made = Metric<quad>::from_factor(L);
    verify(distance(made.log_det(), 2 * T.diagonal().sum()), agreement);
    verify(distance(made.lower(made.raise(L)), L) / largest(L), agreement);
  }
  BOOST_CHECK_EXCEPTION(factor_from_parameters(gaussian<double>(2, 3, 1)),
                        std::invalid_argument, says("Theta is 2x3"));
}
BOOST_AUTO_TEST_CASE(every_metric_has_parameters) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const auto& drawn : metrics<quad>(Index(1 + seed % 7), seed)) {
      const Matrix<quad> g = drawn.dense(), T = parameters_of(g);
      const Matrix<quad> upper = T.triangularView<Eigen::StrictlyUpper>();
      verify(largest(upper), 0);
      const Matrix<quad> L = factor_from_parameters(T);
      verify(distance(L * L.transpose(), g) / largest(g), agreement);
    }
}

// check the pull-back
BOOST_AUTO_TEST_CASE(pullback_measures_images) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6), r = Index(1 + seed % 4);
    const Matrix<Fp> W = gaussian<Fp>(r, d, seed, "W");
    const Matrix<Fp> one = Matrix<Fp>::Identity(r, r);
    const Vector<Fp> u = gaussian<Fp>(d, 1, seed, "u");
    const Vector<Fp> v = gaussian<Fp>(d, 1, seed, "v");
    const auto w = view<up, dn>(W);
    const auto g = eq<"g_{ab} = W^r{}_a h_{rs} W^s{}_b">(  // eq:pullback
        w, view<dn, dn>(one), w);
    const Fp images = (W * u).dot(W * v);
    verify_exact(inner(u, v, Pullback<Fp>{W}), images, 4);
    verify_exact(inner(u, v, Bilinear<Fp>{g.mat()}), images, 4);
  }
}
BOOST_AUTO_TEST_CASE(pullback_is_only_semidefinite) {
  const Matrix<double> W = gaussian<double>(2, 4, 1);
  const Matrix<double> g = W.transpose() * W, inv = g.inverse();
  const Matrix<double> v = gaussian<double>(1, 4, 2);
  fact("entry", inv.cwiseAbs().maxCoeff(), 2);
  fact("raised", (v * g * inv - v).norm() / v.norm(), 2);
  refute(diagnose(g).positive() ? 0 : HUGE_VAL, 1);
  refute((v * g * inv - v).norm() / v.norm(), 0.01);
  const auto h = Metric<quad>::low_rank(Vector<quad>::Constant(4, quad(0.01)),
                                        lift<quad>(W));
  const Matrix<quad> w = lift<quad>(v);
  verify(distance(h.raise(h.lower(w)), w), agreement);
  const auto wide = gaussian<double>(4, 4, 3);
  verify(diagnose<double>(wide.transpose() * wide).positive() ? 0 : 1, 0);
}

// check the errata on forms
BOOST_AUTO_TEST_CASE(erratum_01) {
  const Matrix<quad> two = 2 * Matrix<quad>::Identity(3, 3);
  const Basis<quad> b(two + gaussian<quad>(3, 3, 1, "P"));
  const Matrix<quad> X = gaussian<quad>(3, 2, 1, "vectors");
  const Tensor<quad, up> u(X.col(0)), v(X.col(1));
  const Tensor<quad, dn> w(X.col(0));
  const auto sum = [](const auto& x, const auto& y) {
    return to_double(x.vec().dot(y.vec()));
  };
  const double moved =
      std::abs(sum(b.vector(u), b.vector(v)) - sum(u, v));
  fact("moved", moved, 3);
  refute(moved, 0.1);
  verify(std::abs(sum(b.covector(w), b.vector(v)) - sum(w, v)), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_02) {
  const Matrix<quad> two = 2 * Matrix<quad>::Identity(3, 3);
  const Basis<quad> onV(two + gaussian<quad>(3, 3, 1, "basis of V")),
      onW(two + gaussian<quad>(3, 3, 1, "basis of W"));
  const Matrix<quad> B = gaussian<quad>(3, 3, 1, "B");
  const Matrix<quad> moved = onV.P.transpose() * B * onW.P;
  const Matrix<quad> v = gaussian<quad>(3, 2, 1, "in V");
  const Matrix<quad> w = gaussian<quad>(3, 2, 1, "in W");
  const Matrix<quad> v2 = onV.R * v, w2 = onW.R * w;
  const auto at = [](const Matrix<quad>& M, const Vector<quad>& x,
                     const Vector<quad>& y) {
    return inner<Bilinear<quad>>(x, y, {M});
  };
  const double gap =
      distance(at(B, v.col(0), 2 * v.col(1) + 3 * w.col(1)),
               at(moved, v2.col(0), 2 * v2.col(1) + 3 * w2.col(1)));
  fact("moved", gap, 3);
  refute(gap, 0.1);
  const quad sum = at(B, v.col(0), 2 * w.col(0) + 3 * w.col(1));
  verify(distance(sum, at(moved, v2.col(0), 2 * w2.col(0) + 3 * w2.col(1))),
         agreement);
  verify(distance(sum, 2 * at(B, v.col(0), w.col(0)) +
                           3 * at(B, v.col(0), w.col(1))), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_02b) {
  const Matrix<quad> U = gaussian<quad>(8, 4, 1, "U");
  const Matrix<quad> W = gaussian<quad>(8, 4, 1, "W");
  const Vector<quad> x = gaussian<quad>(8, 1, 3);
  const Vector<quad> q = gaussian<quad>(4, 1, 4), k = gaussian<quad>(4, 1, 5);
  const auto additive = [&](const Vector<quad>& a) {
    const Vector<quad> h = U * a + W * k;
    return to_double(x.dot(h.unaryExpr([](const quad& t) {
      return quad(tanh(t)); })));
  };
  const double one = additive(q), two = additive(2 * q);
  fact("defect", std::abs(two - 2 * one) / std::abs(2 * one), 2);
  refute(std::abs(two - 2 * one) / std::abs(2 * one), 0.1);
  const Bilinear<quad> general{gaussian<quad>(4, 4, 6)};
  verify(to_double(abs(inner<Bilinear<quad>>(2 * q, k, general) -
                       2 * inner(q, k, general))), agreement);
}
BOOST_AUTO_TEST_CASE(erratum_04) {
  const Matrix<quad> W = gaussian<quad>(4, 4, 1);
  const Matrix<quad> one = Matrix<quad>::Identity(4, 4);
  const auto printed = eq<"g_{ab} = W_a{}^c W_{cb}">(  // eq:none
      view<dn, up>(W), view<dn, dn>(W));
  const Matrix<quad> p = printed.mat(), pt = p.transpose();
  const double skew = to_double((p - pt).norm() / p.norm());
  fact("skew", skew, 2);
  refute(skew, 0.01);
  const auto g = eq<"g_{ab} = W^r{}_a h_{rs} W^s{}_b">(
      view<up, dn>(W), view<dn, dn>(one), view<up, dn>(W));
  verify(to_double((g.mat() - W.transpose() * W).norm()), agreement);
}

// check the answers on forms
BOOST_AUTO_TEST_CASE(answer_scaled_metric) {
  const auto g = Metric<double>::scaled(3, 2), h = Metric<double>::scaled(3, 8);
  const Vector<double> u = gaussian<double>(3, 1, 1, "u");
  const Vector<double> v = gaussian<double>(3, 1, 1, "v");
  verify(std::abs(angle(u, v, g) - angle(u, v, h)), 0);
  verify(std::abs(norm(u, h) - 2 * norm(u, g)), 0);
}
BOOST_AUTO_TEST_CASE(answer_odd_dimension) {
  for (const Index d : {1, 3, 5, 7}) {
    const Bilinear<Fp> B{gaussian<Fp>(d, d, 1)};
    const Matrix<Fp> W = antisymmetric_part(B).M;
    Fp sum(0);  // Leibniz's formula: no pivots to divide by
    std::vector<Index> p(static_cast<std::size_t>(d));
    std::iota(p.begin(), p.end(), Index(0));
    do {
      Fp term(1);
      for (Index a = 0; a < d; ++a) {
        const Index pa = p[std::size_t(a)];
        term *= W(a, pa);
        for (Index b = 0; b < a; ++b)
          if (p[std::size_t(b)] > pa) term = Fp(0) - term;
      }
      sum += term;
    } while (std::ranges::next_permutation(p).found);
    verify_exact(sum, Fp(0), d);
  }
}
BOOST_AUTO_TEST_CASE(answer_dimension_of_pullbacks) {
  for (const auto& [r, d] : {std::pair{1, 4}, {2, 4}, {3, 5}, {4, 4}}) {
    const Matrix<double> W = gaussian<double>(r, d, 5);
    Matrix<double> J(r * d, d * d);  // dg for each entry of W
    for (Index k = 0; k < r * d; ++k) {
      Matrix<double> dW = Matrix<double>::Zero(r, d);
      dW(k / d, k % d) = 1;
      const Matrix<double> dg = dW.transpose() * W + W.transpose() * dW;
      J.row(k) = dg.reshaped<Eigen::RowMajor>().transpose();
    }
    const Index rank = Eigen::FullPivLU<Matrix<double>>(J).rank();
    verify(std::abs(double(rank - (r * d - r * (r - 1) / 2))), 0);
    const Matrix<quad> w = lift<quad>(W), kernel = w.fullPivLu().kernel();
    if (r < d) verify(largest(w * kernel), agreement);
  }
}
BOOST_AUTO_TEST_CASE(answer_count_of_forms) {
  for (const auto& [D, d] : {std::pair{4, 1}, {5, 2}, {4, 3}, {3, 3}}) {
    const Matrix<double> U = gaussian<double>(D, d, 1, "U");
    const Matrix<double> V = gaussian<double>(D, d, 1, "V");
    Matrix<double> J(2 * D * d, D * D);  // d(U V^T) for each entry
    for (Index k = 0; k < D * d; ++k) {
      Matrix<double> e = Matrix<double>::Zero(D, d);
      e(k / d, k % d) = 1;
      const Matrix<double> left = e * V.transpose(), right = U * e.transpose();
      J.row(k) = left.reshaped<Eigen::RowMajor>().transpose();
      J.row(D * d + k) = right.reshaped<Eigen::RowMajor>().transpose();
    }
    const Index rank = Eigen::FullPivLU<Matrix<double>>(J).rank();
    verify(std::abs(double(rank - (2 * D * d - d * d))), 0);
  }
}
BOOST_AUTO_TEST_CASE(answer_polarisation) {
  const Matrix<Fp> M = gaussian<Fp>(4, 4, 1, "M"), Mt = M.transpose();
  const Vector<Fp> u = gaussian<Fp>(4, 1, 1, "u");
  const Vector<Fp> v = gaussian<Fp>(4, 1, 1, "v");
  const auto q = [&](const Vector<Fp>& x) {
    return inner<Bilinear<Fp>>(x, x, {M});
  };
  verify_exact(q(u) + q(v) - q(u - v), inner<Bilinear<Fp>>(u, v, {M + Mt}), 3);
}
BOOST_AUTO_TEST_CASE(answer_wide_heads) {
  const std::uint64_t draws = 2000;
  const auto positive = [](Index D, Index d, std::uint64_t seed) {
    const HeadForm<double> h{gaussian<double>(D, d, seed, "W_Q"),
                             gaussian<double>(D, d, seed, "W_K")};
    return signature(h.dense()).positive;
  };
  int two = 0, even = 0, three = 0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    two += positive(3, 2, seed) == 2;
    even += positive(4, 3, seed) == 2;
    three += positive(4, 3, seed) == 3;
  }
  const double n = double(draws), error = 4 * std::sqrt(0.25 / n);
  verify(std::abs(two / n - 0.5), error);
  verify(std::abs(three / n - (1 - even / n) / 2), error);
  fact("even", even / n, 2);
}
BOOST_AUTO_TEST_CASE(answer_balanced_gauge) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<double> U = gaussian<double>(6, 3, seed, "U");
    const Matrix<double> V = gaussian<double>(6, 3, seed, "V");
    const Matrix<double> M = U * V.transpose();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(
        M, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Vector<double> s = svd.singularValues().head(3);
    const Matrix<double> root = s.cwiseSqrt().asDiagonal();
    const Matrix<double> X = svd.matrixU().leftCols(3) * root;
    const Matrix<double> Y = svd.matrixV().leftCols(3) * root;
    const double least = (X.squaredNorm() + Y.squaredNorm()) / 2;
    const double tolerance = 1000 * 0x1p-53 * s.sum();  // heuristic
    verify(largest(X * Y.transpose() - M), tolerance);
    verify(largest(X.transpose() * X - Y.transpose() * Y), tolerance);
    verify(std::abs(least - s.sum()), tolerance);
    refute((U.squaredNorm() + V.squaredNorm()) / 2 - least, tolerance);
  }
}
BOOST_AUTO_TEST_CASE(answer_no_smaller_gauge) {
  const Vector<double> s{{1, std::sqrt(2.0), std::sqrt(3.0)}};
  const Matrix<double> root = s.asDiagonal();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const double e = std::pow(10, -double(seed % 4));
    const Matrix<double> N = Matrix<double>::Identity(3, 3) +
                             e * gaussian<double>(3, 3, seed, "N");
    const double sum = (root * N).squaredNorm() +
                       (root * N.inverse().transpose()).squaredNorm();
    verify(worse(0, 6 - sum / 2), 1000 * 0x1p-53);  // heuristic
  }
}
struct OnesMetric {
  using scalar = quad;
  Index d;
  quad alpha;
  Index rows() const { return d; }
  Index cols() const { return d; }
  Matrix<quad> add(const Matrix<quad>& v, const quad& c) const {
    const Vector<quad> s = c * v.rowwise().sum();
    return v + s * Matrix<quad>::Ones(1, d);
  }
  Matrix<quad> lower(const Rows<quad>& v) const { return add(v, alpha); }
  Matrix<quad> raise(const Rows<quad>& v) const {
    return add(v, -alpha / (1 + alpha * quad(d)));
  }
};
BOOST_AUTO_TEST_CASE(answer_ones_metric) {
  static_assert(Form<OnesMetric>);
  const OnesMetric g{6, quad(-0.1)};
  const Matrix<quad> v = gaussian<quad>(2, 6, 1);
  verify(distance(g.raise(g.lower(v)), v), agreement);
  const Matrix<quad> one = Matrix<quad>::Identity(6, 6);
  BOOST_TEST(diagnose<quad>(g.lower(one)).positive());
  const Matrix<quad> h = OnesMetric{6, quad(-0.2)}.lower(one);
  BOOST_TEST(!diagnose<quad>(h).positive());
  verify(signature(Bilinear<quad>{h}) == Signature{5, 1, 0} ? 0 : 1, 0);
}
BOOST_AUTO_TEST_SUITE_END()
