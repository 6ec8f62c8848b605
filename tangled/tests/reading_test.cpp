// tests/reading_test.cpp: tangled from chapters/00-reading-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <numbers>
#include "attn/einsum.hpp"
#include "attn/field.hpp"
#include "attn/form.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
using namespace attn;

// attend, from scores to outputs
template <class T, class Form>
auto attend(const Matrix<T>& Q, const Form& g, const Matrix<T>& K,
            const Matrix<T>& V) {
  const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);  // eq:score

  // weigh by the exponentials of the scores
  Tensor<T, up, dn> A = Matrix<T>(
      S.mat().unaryExpr([](T s) { return std::exp(s); }));
  for (Index i = 0; i < Q.rows(); ++i)
    A.mat().row(i) /= A.mat().row(i).sum();
  return eq<"O^{ic} = A^i{}_j V^{jc}">(A, V);
}

BOOST_AUTO_TEST_SUITE(reading)

// check that scores need no coordinates
BOOST_AUTO_TEST_CASE(scores_need_no_coordinates) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<Fp> Q = uniform<Fp>(4, 3, seed, "Q");
    const Matrix<Fp> K = uniform<Fp>(5, 3, seed, "K");
    const Tensor<Fp, up, dn> M = uniform<Fp>(3, 3, seed, "M");
    const Tensor<Fp, dn, dn> h = uniform<Fp>(3, 3, seed, "g'");
    const auto g = eq<"g_{ab} = M^c{}_a g'_{cd} M^d{}_b">(M, h, M);
    const auto Q2 = eq<"Q'^{ia} = M^a{}_b Q^{ib}">(M, Q);
    const auto K2 = eq<"K'^{ja} = M^a{}_b K^{jb}">(M, K);
    const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);  // eq:none
    const auto S2 =
        eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q2, h, K2);  // eq:none
    verify_exact(S2, S, 5);
  }
}

// check that bare products need orthogonal coordinates
BOOST_AUTO_TEST_CASE(bare_products_need_orthogonal_ones) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<Fp> Q = uniform<Fp>(4, 3, seed, "Q");
    const Matrix<Fp> K = uniform<Fp>(5, 3, seed, "K");
    Matrix<Fp> M = Matrix<Fp>::Identity(3, 3);
    for (const auto name : {"w", "x"}) {
      const Matrix<Fp> w = uniform<Fp>(3, 1, seed, name);
      const Fp twice = Fp(2) / times(w.transpose(), w)(0, 0);
      M = Matrix<Fp>(M - times(w * twice, times(w.transpose(), M)));
    }
    const auto bare = [](const Matrix<Fp>& q, const Matrix<Fp>& k,
                         const Matrix<Fp>& m) {
      return times(times(q, m.transpose()), times(m, k.transpose()));
    };
    verify_exact(bare(Q, K, M), times(Q, K.transpose()), 10);

    // look at other coordinates through unit vectors
    const Matrix<Fp> one = Matrix<Fp>::Identity(3, 3);
    const Fp t = uniform<Fp>(1, 1, seed, "t")(0);
    Matrix<Fp> shear = one, products = one;
    shear(0, 1) = products(0, 1) = products(1, 0) = t;
    products(1, 1) += t * t;
    const Matrix<Fp> sheared = times(M, shear);
    verify_exact(bare(one, one, sheared), products, 10);
    BOOST_TEST(!(bare(Q, K, sheared) == times(Q, K.transpose())));
  }
}

// check that a gradient is a covector
BOOST_AUTO_TEST_CASE(gradient_is_a_covector) {
  const Matrix<Fp> W = uniform<Fp>(5, 5, 1, "inverse of M");
  const Matrix<Fp> r = uniform<Fp>(5, 5, 1, "r");
  const Tensor<Fp, dn, dn> g = Matrix<Fp>(r + r.transpose());
  const Matrix<Fp> w = uniform<Fp>(5, 1, 1, "w");  // new coordinates
  const auto old = [&](const Matrix<Fp>& x) {
    return Tensor<Fp, up>(Vector<Fp>(times(W, x)));
  };
  const auto f = [&](const Matrix<Fp>& x) {
    return Fp(eq<R"(f = \tfrac{1}{2} v^a g_{ab} v^b)">(old(x), g, old(x)));
  };
  const auto dv = eq<R"(\bar v_a = g_{ab} v^b)">(g, old(w));
  const auto rule =
      eq<R"(\bar v'_a = \bar v_b W^b{}_a)">(dv, view<up, dn>(W));
  for (Index a = 0; a < 5; ++a) {
    Matrix<Fp> e = Matrix<Fp>::Zero(5, 1);
    e(a) = Fp(1);
    verify_exact((f(w + e) - f(w - e)) / Fp(2), rule(a), 4);
  }
}

// check that positions are only renumbered
BOOST_AUTO_TEST_CASE(positions_are_only_renumbered) {
  const Index n = 7;
  const auto Z = [](const Vector<double>& s) {
    return s.unaryExpr([](double x) { return std::exp(x); }).sum();
  };
  Matrix<double> P = Matrix<double>::Zero(n, n);
  const auto order = permutation(n, 1, "P");
  for (Index j = 0; j < n; ++j) P(j, order[std::size_t(j)]) = 1;

  // list matrices that resemble permutations
  const Matrix<double> ones = Matrix<double>::Constant(n, n, 1.0 / n);
  Matrix<double> bent = P;
  bent(2, 3) += 1e-3;
  Matrix<double> doubled = P;  // each row a unit vector, one of them twice
  doubled.row(0) = doubled.row(1);
  const std::vector<Matrix<double>> wrong{
      Matrix<double>(P - 2 * ones), ones, Matrix<double>(-P), bent, doubled};
  std::vector<double> gap(wrong.size(), 0);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Vector<double> s = gaussian<double>(n, 1, seed, "s");
    verify(std::abs(Z(P * s) - Z(s)),
           2 * gamma(n, unit_roundoff<double>()) * Z(s));
    for (std::size_t k = 0; k < wrong.size(); ++k)
      gap[k] = std::max(gap[k], std::abs(Z(wrong[k] * s) / Z(s) - 1));
  }
  for (const double x : gap) BOOST_TEST(x > 1e-5);
}

// check attention against fractions
template <class T>
double attention_in(Index roundings) {
  // set up two queries, three keys, three values
  const Matrix<T> Q{{1, 0}, {1, 2}};
  const Matrix<T> K{{1, 0}, {0, 1}, {1, 1}};
  const Matrix<T> V{{3, 0}, {0, 2}, {1, 1}};
  const auto g = Metric<T>::scaled(2, std::numbers::ln2_v<T>);
  const auto O = attend(Q, g, K, V);
  const Matrix<quad> truth{{quad(8) / 5, quad(4) / 5},
                           {quad(1), quad(8) / 7}};
  const double bound = gamma(roundings, unit_roundoff<T>());
  verify(O.mat(), truth, bound * truth.cast<double>());
  return double(O(1, 1));
}
BOOST_AUTO_TEST_CASE(attention_in_fractions) {
  fact("corner", attention_in<double>(22), 17);
  attention_in<float>(22);
}

// check that a forgotten metric is noticed
BOOST_AUTO_TEST_CASE(a_forgotten_metric_is_noticed) {
  using T = double;

  // set up two queries, three keys, three values
  const Matrix<T> Q{{1, 0}, {1, 2}};
  const Matrix<T> K{{1, 0}, {0, 1}, {1, 1}};
  const Matrix<T> V{{3, 0}, {0, 2}, {1, 1}};
  const auto g = Metric<T>::scaled(2, std::numbers::ln2_v<T>);
  const auto wrong = attend(Q, Metric<T>::identity(2), K, V);
  const double off = std::abs(wrong(0, 1) / 0.8 - 1);
  refute(off, 0.05);
  fact("ratio", off / gamma(22, unit_roundoff<T>()), 2);
}

// check the answers on reading
BOOST_AUTO_TEST_CASE(answer_third_query) {
  const Matrix<double> Q{{1, 0}, {1, 2}, {0, 2}};
  const Matrix<double> K{{1, 0}, {0, 1}, {1, 1}, {1, 1}};
  const Matrix<double> V{{3, 0}, {0, 2}, {1, 1}, {1, 1}};
  const auto g = Metric<double>::scaled(2, std::numbers::ln2);
  const auto O = attend<double>(Q, g, K, V);
  const auto three = attend<double>(Q.bottomRows(1), g, K.topRows(3),
                                    V.topRows(3));
  const Matrix<quad> truth{{quad(10) / 7, quad(6) / 7},
                           {quad(1), quad(12) / 11},
                           {quad(11) / 13, quad(16) / 13}};
  const Matrix<quad> alone{{quad(7) / 9, quad(4) / 3}};
  const double bound = gamma(24, unit_roundoff<double>());
  verify(O.mat(), truth, bound * truth.cast<double>());
  verify(three.mat(), alone, bound * alone.cast<double>());
}
BOOST_AUTO_TEST_CASE(answer_cotangent_of_the_keys) {
  const Matrix<Fp> Q = uniform<Fp>(4, 3, 1, "Q");
  const Matrix<Fp> change = uniform<Fp>(5, 3, 1, "change of K");
  const Tensor<Fp, dn, dn> g = uniform<Fp>(3, 3, 1, "g");
  const Tensor<Fp, dn, dn> dS = uniform<Fp>(4, 5, 1, "dS");
  const auto dK = eq<
      R"(\bar K_{jb} = \bar S_{ij} Q^{ia} g_{ab})">(dS, Q, g);
  const auto moved = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, change);
  verify_exact(Fp(eq<R"(s = \bar S_{ij} X^{ij})">(dS, moved)),
               Fp(eq<R"(s = \bar K_{jb} X^{jb})">(dK, change)), 4);
}
BOOST_AUTO_TEST_CASE(answer_trace_of_the_metric) {
  const Matrix<double> R{{1, 0, 0}, {2, 1, 0}, {-1, 3, 1}};
  const Matrix<double> W{{1, 0, 0}, {-2, 1, 0}, {7, -3, 1}};
  BOOST_TEST((R * W == Matrix<double>::Identity(3, 3)));
  const Tensor<double, dn, dn> g = R * R.transpose();
  const Tensor<double, up, up> inverse = W.transpose() * W;
  verify(std::abs(eq<"d = g^{ab} g_{ab}">(inverse, g) - 3), 0);
}
BOOST_AUTO_TEST_CASE(answer_antisymmetric_part) {
  const Matrix<Fp> r = uniform<Fp>(4, 4, 1, "r");
  const Tensor<Fp, dn, dn> F = Matrix<Fp>(r - r.transpose());
  const Matrix<Fp> Q = uniform<Fp>(3, 4, 1, "Q");
  const Matrix<Fp> K = uniform<Fp>(3, 4, 1, "K");
  const auto own = eq<"s^{(i)} = Q^{(i)a} F_{ab} Q^{(i)b}">(Q, F, Q);
  verify_exact(Matrix<Fp>(own.vec()), Matrix<Fp>::Zero(3, 1).eval(), 3);
  const auto S = eq<"S^{ij} = Q^{ia} F_{ab} K^{jb}">(Q, F, K);
  BOOST_TEST(!(S(0, 0) == Fp(0)));
}
BOOST_AUTO_TEST_CASE(answer_planted_error) {
  using T = double;

  // set up two queries, three keys, three values
  const Matrix<T> Q{{1, 0}, {1, 2}};
  const Matrix<T> K{{1, 0}, {0, 1}, {1, 1}};
  const Matrix<T> V{{3, 0}, {0, 2}, {1, 1}};
  const auto g = Metric<T>::scaled(2, std::numbers::ln2_v<T>);
  const double bound = gamma(22, unit_roundoff<T>());
  const auto off = [&](double epsilon) {
    const double wrong = std::numbers::ln2 * (1 + epsilon);
    const auto O = attend(Q, Metric<T>::scaled(2, wrong), K, V);
    return std::abs(O(0, 1) / 0.8 - 1);
  };
  BOOST_TEST(off(0x1p-42) > bound);
  BOOST_TEST(off(0x1p-50) < bound);
  verify(std::abs(off(0x1p-20) * 0x1p20 - 0.3 * std::numbers::ln2),
         0x1p-18);
}
BOOST_AUTO_TEST_CASE(answer_other_bases) {
  using T = double;

  // set up two queries, three keys, three values
  const Matrix<T> Q{{1, 0}, {1, 2}};
  const Matrix<T> K{{1, 0}, {0, 1}, {1, 1}};
  const Matrix<T> V{{3, 0}, {0, 2}, {1, 1}};
  const auto g = Metric<T>::scaled(2, std::numbers::ln2_v<T>);
  const auto base = [&](double log_b) {
    const Matrix<double> one = Matrix<double>::Identity(2, 2);
    return attend(Q, Tensor<double, dn, dn>(log_b * one), K, V);
  };
  const double far = 4 * std::exp(-100) + 0x1p-50;
  const Matrix<double> best{{2, 0.5}, {1, 1}}, worst{{0, 2}, {3, 0}};
  const Matrix<double> flat{{4. / 3, 1}, {4. / 3, 1}};
  verify(largest(base(100).mat() - best), far);
  verify(largest(base(-100).mat() - worst), far);
  verify(largest(base(0).mat() - flat), 0x1p-50);
  BOOST_CHECK_THROW(Metric<T>::scaled(2, -100.), std::domain_error);
  BOOST_TEST(std::isfinite(base(1024 * std::numbers::ln2 / 3.001)(1, 0)));
  BOOST_TEST(std::isnan(base(1024 * std::numbers::ln2 / 2.999)(1, 0)));
}
BOOST_AUTO_TEST_SUITE_END()
