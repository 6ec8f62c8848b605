// tests/kernel_test.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/regression.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(kernel)

// bound the distance of two softmaxes
const double uq = unit_roundoff<quad>();

/// Bound on the distance of two softmaxes in quad, whose exponents are
/// sums of up to 4 d^2 terms x^a g_ab y^b, x and y rows of Q or K.
template <class F>
double weight_bound(const Matrix<quad>& Q, const Matrix<quad>& K,
                    const F& g) {
  const auto largest = [](const Matrix<quad>& X) {
    return to_double(X.cwiseAbs().maxCoeff());
  };
  const Index d = Q.cols();
  const double x = std::max(largest(Q), largest(K));
  const double size = double(4 * d * d) * x * x *
      largest(g.lower(Matrix<quad>::Identity(d, d)));
  return 4 * gamma(2 * d + 5, uq) * size + 2 * gamma(K.rows() + 5, uq);
}

// check attention as a weighted regression
template <class F>
void same_as_attention(const Matrix<quad>& Q, const Matrix<quad>& K,
                       const F& g) {
  Matrix<quad> G = gaussian_scores(Q, K, g);
  G.rowwise() += key_prior(K, g).transpose();
  const Matrix<quad> S = scores(Q, K, g);
  verify(distance(softmax(S), softmax(G)), weight_bound(Q, K, g));
}
BOOST_AUTO_TEST_CASE(attention_is_weighted_regression) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Index d = Index(1 + seed % 5), n = Index(seed);
    const Matrix<quad> Q = gaussian<quad>(3, d, seed, "Q");
    const Matrix<quad> K = gaussian<quad>(n, d, seed, "K");
    const Matrix<quad> W = gaussian<quad>(d + 2, d, seed, "W");
    same_as_attention(Q, K, Metric<quad>::scaled(d));
    const Vector<quad> w = W.row(0).cwiseAbs().transpose();
    same_as_attention(Q, K, Metric<quad>::diagonal(w));
    same_as_attention(Q, K, Metric<quad>::full(times(W.transpose(), W)));
  }
}
BOOST_AUTO_TEST_CASE(equal_norms_and_only_those) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> Q = gaussian<quad>(2, 6, seed, "Q");
    Matrix<quad> K = gaussian<quad>(7, 6, seed, "K");
    const auto g = Metric<quad>::scaled(6);
    const Matrix<quad> A = softmax(scores(Q, K, g));
    const Matrix<quad> G = softmax(gaussian_scores(Q, K, g));
    const Vector<quad> p = key_prior(K, g);
    for (Index j = 1; j < 7; ++j) {
      const quad odds = A(0, j) / A(0, 0) * G(0, 0) / G(0, j);
      verify(distance(odds * exp(p(0) - p(j)), 1),
             2 * weight_bound(Q, K, g));
    }

    // lay the keys on a sphere of one more dimension
    Matrix<quad> far = Matrix<quad>::Zero(2, 7), places(7, 7);
    far.leftCols(6) = Q;
    places.leftCols(6) = K;
    const Vector<quad> square = K.rowwise().squaredNorm();
    places.col(6) = (square.maxCoeff() - square.array()).sqrt();
    const auto wide = Metric<quad>::scaled(
        7, g.lower(Matrix<quad>::Identity(6, 6))(0, 0));
    verify(distance(softmax(gaussian_scores(far, places, wide)), A),
           2 * weight_bound(far, places, wide));
    K.rowwise().normalize();
    verify(distance(softmax(scores(Q, K, g)),
                    softmax(gaussian_scores(Q, K, g))),
           weight_bound(Q, K, g));
  }
}

// check the rounding of distances
BOOST_AUTO_TEST_CASE(distances_within_bound) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index d = Index(1 + seed % 17);
    const double far = seed % 3 == 0 ? 1e6 : 0;
    const Matrix<double> Q =
        gaussian<double>(4, d, seed, "Q").array() + far;
    const Matrix<double> K =
        gaussian<double>(5, d, seed, "K").array() + far;
    const auto g = Metric<double>::scaled(d);
    const quad c = quad(g.lower(Matrix<double>::Identity(d, d))(0, 0));
    const Matrix<quad> G = gaussian_scores(
        lift<quad>(Q), lift<quad>(K), Metric<quad>::scaled(d, c));
    const double most = gamma(d + 3, 0x1p-53);
    verify(gaussian_scores(Q, K, g), G,
           Matrix<double>(most * lift<double>(G).cwiseAbs()));
  }
}
BOOST_AUTO_TEST_CASE(expanded_distances_cancel) {
  const RowVector<double> q{{1e4 + 0.1, 1e4}}, k{{1e4 + 1.1, 1e4}};
  const double expanded = q.dot(k) - q.dot(q) / 2 - k.dot(k) / 2;
  const auto g = Metric<double>::identity(2);
  const quad truth = gaussian_scores(lift<quad>(q), lift<quad>(k),
                                     Metric<quad>::identity(2))(0);
  fact("error", distance(expanded, truth));
  refute(distance(expanded, truth), 1e-10);
  verify(distance(gaussian_scores(q, k, g)(0), truth), gamma(5, 0x1p-53));
}
BOOST_AUTO_TEST_CASE(common_vector_costs_digits) {
  const Matrix<double> Q{{1e4 + 0.1, 1e4}};
  const Matrix<double> K{{1e4 + 1, 1e4}, {1e4, 1e4 + 1}};
  const auto gap = [](const auto& S) { return S(0) - S(1); };
  const quad truth = gap(scores(lift<quad>(Q), lift<quad>(K)));
  const double off = distance(gap(scores(Q, K)), truth);
  const double size = Q.norm() / std::sqrt(2.0);
  fact("double", off, 2);
  verify(off, 2 * gamma(4, 0x1p-53) * size * K.row(0).norm());
  refute(off, 1e-9);
  const Matrix<double> C = K.rowwise() - K.colwise().mean();
  const double centred = distance(gap(scores(Q, C)), truth);
  fact("centred", centred, 2);
  verify(centred, 2 * gamma(4, 0x1p-53) * size * C.row(0).norm());

  // lose the weights of two keys in float
  const Matrix<float> q = Q.cast<float>(), k = K.cast<float>();
  const Matrix<float> c = k.rowwise() - k.colwise().mean();
  const auto first = [](const auto& S) { return softmax(S)(0); };
  const quad weight = first(scores(lift<quad>(q), lift<quad>(k)));
  fact("float", double(first(scores(q, k))));
  fact("truth", to_double(weight), 4);
  refute(distance(first(scores(q, k)), weight), 0.01);
  verify(distance(first(scores(q, c)), weight),
         gamma(4, 0x1p-24) * size * C.row(0).norm() / 2 + gamma(8, 0x1p-24));
}
BOOST_AUTO_TEST_CASE(regression_within_bound) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index d = Index(1 + seed % 5), n = Index(1 + seed % 19);
    const Matrix<double> Q = 3 * gaussian<double>(3, d, seed, "Q");
    const Matrix<double> K = 3 * gaussian<double>(n, d, seed, "K");
    const Matrix<double> V = gaussian<double>(n, 2, seed, "V");
    const double h = 0.25 * double(1 + seed % 4), u = 0x1p-53;
    const auto ours = nadaraya_watson(Q, K, V, h);
    const auto g = Metric<quad>::scaled(d, quad(1 / (h * h)));
    const auto truth =
        nadaraya_watson(lift<quad>(Q), lift<quad>(K), lift<quad>(V), g);
    const Matrix<double> G = lift<double>(truth.S);
    const Matrix<double> dA =
        softmax_bound(G, gamma(d + 3, u) * G.cwiseAbs());
    const Matrix<double> share =
        dA + gamma(n + 1, u) * (lift<double>(truth.A) + dA);
    verify(ours.A, truth.A, dA);
    verify(ours.O, truth.O, Matrix<double>(share * V.cwiseAbs()));
  }
}

// check the kernel matrix
BOOST_AUTO_TEST_CASE(gram_is_positive) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(2 + seed % 8), d = Index(1 + seed % 3);
    const Matrix<quad> K = quad(2) * gaussian<quad>(n, d, seed, "K");
    const Matrix<quad> E = scores(K, K).array().exp();
    const Matrix<quad> L = cholesky(E);
    const double size = to_double(E.cwiseAbs().maxCoeff());
    verify(distance(times(L, L.transpose()), E),
           2 * gamma(n + 1, uq) * size);
    BOOST_TEST(to_double(L.diagonal().minCoeff()) > 0);
  }
}
BOOST_AUTO_TEST_SUITE_END()
