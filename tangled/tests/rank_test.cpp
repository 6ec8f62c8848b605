// tests/rank_test.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/lowrank.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(kernel)

// bound the roundings of rotations
/// Relative error of a decomposition of an n x m matrix by rotations.
template <class S = double>
double rounding(Index n, Index m) {
  return double(m) * gamma(72 * m + 3 * n, unit_roundoff<S>());
}

// check the spectrum of self-attention
BOOST_AUTO_TEST_CASE(spectrum_of_self_attention) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index n = Index(2 + seed % 30);
    const Matrix<double> K = 1.5 * gaussian<double>(n, 4, seed, "K");
    const Matrix<double> S = scores(K, K);
    const Matrix<double> E = S.array().exp();
    const Vector<double> root = E.rowwise().sum().cwiseSqrt();
    const Matrix<double> H = E.cwiseQuotient(root * root.transpose());
    const Vector<double> sigma = singular_values(H);
    const double slack = rounding(n, n) + gamma(n + 6, 0x1p-53) +
                         2 * gamma(6, 0x1p-53) * S.maxCoeff();
    verify(std::abs(sigma(0) - 1), slack);
    verify(std::abs(softmax(S).trace() - sigma.sum()), double(n) * slack);
  }
}

// check the yardstick
BOOST_AUTO_TEST_CASE(decomposition_by_rotations) {
  for (const Index n : {1, 2, 5, 30})
    for (const Index m : {1, 2, 5})
      if (m <= n) {
        const Matrix<double> A =
            gaussian<double>(n, m, std::uint64_t(n + m), "A");
        const auto d = decompose(A);
        const Matrix<double> I = Matrix<double>::Identity(m, m);
        verify((d.V.transpose() * d.V - I).norm(), rounding(n, m));
        verify((d.U.transpose() * d.U - I).norm(), rounding(n, m));
        const Matrix<double> us = d.U * d.sigma.asDiagonal();
        verify((us * d.V.transpose() - A).norm(),
               rounding(n, m) * A.norm());
        verify(std::abs(d.sigma.squaredNorm() - A.squaredNorm()),
               rounding(n, m) * A.squaredNorm());
      }
  BOOST_CHECK_EXCEPTION(decompose(Matrix<double>(2, 3)),
                        std::invalid_argument, says("decompose: A is 2x3"));
}
BOOST_AUTO_TEST_CASE(what_cannot_be_decomposed) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Matrix<double> A = gaussian<double>(4, 3, 1, "A");
    A(2, 1) = bad;
    BOOST_CHECK_EXCEPTION(decompose(A), std::domain_error,
                          says("decompose: A is not finite"));
    BOOST_CHECK_EXCEPTION(singular_values(A), std::domain_error,
                          says("decompose: A is not finite"));
  }
  const auto d = decompose(Matrix<double>{{1, 1e-200}, {1, 0}});
  verify(std::abs(d.sigma(0) - std::sqrt(2.0)), 4 * 0x1p-52);
  verify(d.sigma(1), 0);
  BOOST_TEST(decompose(Matrix<double>(0, 0)).sigma.size() == 0);
  const auto vast = decompose(Matrix<double>{{1.7e308}, {1.7e308}});
  BOOST_TEST((vast.sigma(0) == HUGE_VAL && vast.V(0) == 1));
  verify(std::abs(vast.U.norm() - 1), rounding(2, 1));
}
template <class S>
void turn_columns(S shorter, S across) {
  Matrix<S> A{{S(1), shorter * across}, {S(0), shorter}};
  const Matrix<S> U = decompose(A).U;
  verify(std::abs(double(U.col(0).dot(U.col(1)))),
         gamma(4 * 2 + 2, unit_roundoff<S>()));
}
BOOST_AUTO_TEST_CASE(columns_of_unlike_length) {
  turn_columns(0x1p-50f, 0x1p-16f);
  turn_columns(0x1p-45f, 0x1p-20f);
  turn_columns(0x1p-484, 0x1p-32);
}
BOOST_AUTO_TEST_CASE(shortest_direction) {
  const double h = 0x1p-485, golden = (1 + std::sqrt(5.0)) / 2;
  using M = Matrix<double>;
  for (const double top : {2.0, 3.0})
    verify(decompose(M{{top, 0}, {0, 2 * h}}).sigma(1) - 2 * h, 0);
  verify(decompose(M{{2, 0}, {0, 1.5 * h}}).sigma(1), 0);
  const double s = 1.8 * h;  // two such columns: 2.55 h, and yet zero
  verify(decompose(M{{2, 0, 0}, {0, s, s}, {0, 0, 0}}).sigma(1), 0);
  for (const M& last : {M{{2 * h, 0}}, M{{0, 2 * h}}}) {
    M A{{2, 0, 0}, {0, 2 * h, 2 * h}, {0, 0, 0}};
    A.bottomRightCorner(1, 2) = last;
    const auto turned = decompose(A).sigma;
    verify(std::abs(turned(1) / (2 * h) - golden), 8 * 0x1p-53);
    verify(turned(2), 0);
  }
}
template <class S>
void decompose_cold_attention(const S& T) {
  const Matrix<S> Q = gaussian<S>(24, 16, 1, "Q");
  const Matrix<S> K = gaussian<S>(24, 16, 1, "K");
  const Matrix<S> A = softmax(Matrix<S>(scores(Q, K) / T));
  const auto d = decompose(A);
  const Matrix<S> us = d.U * d.sigma.asDiagonal();
  const Matrix<S> again = us * d.V.transpose();
  verify(double((again - A).norm()), rounding<S>(24, 24) * double(A.norm()));
}
BOOST_AUTO_TEST_CASE(decomposition_at_every_scale) {
  const Matrix<double> G = gaussian<double>(6, 4, 1, "G");
  const auto one = decompose(G);
  for (const double scale : {0x1p-900, 0x1p-560, 0x1p560, 0x1p1000}) {
    const auto d = decompose(Matrix<double>(scale * G));
    verify(distance(d.sigma / scale, one.sigma), 0);
    verify(distance(d.U, one.U) + distance(d.V, one.V), 0);
  }
  for (const double T : {1.0, 0.05, 0.005}) decompose_cold_attention(T);
  for (const float T : {1.0f, 0.05f, 0.005f}) decompose_cold_attention(T);
}
BOOST_AUTO_TEST_CASE(best_rank_attains) {
  const auto vast = Matrix<double>::Constant(2, 2, 0x1p1023);
  verify(distance(best_rank(vast, 1) * 0x1p-1023, vast * 0x1p-1023),
         rounding(2, 2) * 2);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Matrix<double> A = softmax(gaussian<double>(12, 9, seed, "A"));
    const Vector<double> sigma = singular_values(A);
    for (Index m = 0; m <= 10; m += 2) {
      const auto least = eckart_young(sigma, m);
      const Matrix<double> gap = A - best_rank(A, m);
      const double most = rounding(12, 9) * A.norm();
      verify(std::abs(gap.norm() - least.frobenius), most);
      verify(std::abs(singular_values(gap)(0) - least.spectral), most);
      if (m == 0) continue;
      const Matrix<double> B = gaussian<double>(12, m, seed, "B") *
                               gaussian<double>(m, 9, seed, "C") / 30;
      verify(least.frobenius, (A - B).norm());
      verify(least.spectral, singular_values(A - B)(0));
    }
  }
}
BOOST_AUTO_TEST_CASE(features_respect_the_yardstick) {
  const Index n = 40, d = 6;
  const Matrix<double> I = Matrix<double>::Identity(n, n);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Matrix<double> Q = gaussian<double>(n, d, seed, "Q");
    const Matrix<double> K = gaussian<double>(n, d, seed, "K");
    const Matrix<double> A = softmax(scores(Q, K));
    const Vector<double> sigma = singular_values(A);
    const auto above = [&](const Matrix<double>& B, Index m, double size) {
      verify(eckart_young(sigma, m).frobenius, (A - B).norm());
      verify(singular_values(B)(m), gamma(6400, 0x1p-53) * (B.norm() + size));
    };

    // hold each kind of features to its rank
    const auto weights = [&](const Matrix<double>& F, const Matrix<double>& P) {
      const Matrix<double> size = F.cwiseAbs() * P.cwiseAbs().transpose();
      const Vector<double> Z = (F * P.transpose()).rowwise().sum().cwiseAbs()
          .cwiseMax(std::numeric_limits<double>::min());  // where it is 0, so is F
      above(linear_attention(F, P, I), F.cols(),
            size.cwiseQuotient(Z.replicate(1, n)).norm());
      above(F * P.transpose() / double(n), F.cols(), size.norm());
    };
    const Matrix<double> x = kernel_coordinates(Q), y = kernel_coordinates(K);
    weights(elu_features(Q), elu_features(K));
    weights(relu_features(Q), relu_features(K));
    for (const Index m : {4, 16}) {
      const Matrix<double> W = gaussian<double>(m, d, seed, "W");
      const auto V = orthogonal_directions<double>(m, d, seed);
      for (const auto& directions : {W, V}) {
        above(performer(Q, K, I, directions), m, 0);
        weights(positive_features(x, directions), positive_features(y, directions));
        weights(trigonometric_features(x, directions),
                trigonometric_features(y, directions));
      }
      const auto f = detail::landmark_features<double>(Q, K, m);
      weights(f.phi, f.psi);
    }
  }
}
BOOST_AUTO_TEST_CASE(rank_of_attention) {
  const Matrix<double> Q = gaussian<double>(128, 16, 1, "Q");
  const Matrix<double> K = gaussian<double>(128, 16, 1, "K");
  const Matrix<double> S = scores(Q, K);
  const auto spectrum = [&](double T) {
    return singular_values(softmax(Matrix<double>(S / T)));
  };
  const auto rank = [&](double T) {
    return numerical_rank(spectrum(T), 0.01);
  };
  const Index hot = rank(4), unit = rank(1), cold = rank(0.25);
  fact("hot", hot);
  fact("unit", unit);
  fact("cold", cold);
  verify(double(hot), double(unit));
  verify(double(unit), double(cold));
  std::set<Index> best;
  for (Index i = 0, j; i < 128; ++i) S.row(i).maxCoeff(&j), best.insert(j);
  verify(std::abs(double(rank(1e-7) - std::ssize(best))), 0);
  const Vector<double> sigma = spectrum(1e6);
  const double most = std::expm1(2 * S.cwiseAbs().maxCoeff() / 1e6);
  verify(sigma(1), most);
  verify(std::abs(sigma(0) - 1), most);
}

// check the landmarks
/// Absolute error of the kernel between features of landmarks.
double landmark_error(const Matrix<double>& R) {
  const Index m = R.rows();
  const Matrix<double> I = Matrix<double>::Identity(m, m);
  const Matrix<double> inverse =
      R.triangularView<Eigen::Lower>().solve(I);
  return 4 * gamma(m * m + 10, 0x1p-53) * inverse.squaredNorm();
}
BOOST_AUTO_TEST_CASE(landmarks_are_exact) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<double> X = gaussian<double>(9, 3, seed, "X");
    const Matrix<double> L = 2 * gaussian<double>(5, 3, seed, "L");
    const auto map = nystroem(L);
    const Matrix<double> F = map.features(X), G = map.features(L);
    verify(distance(F * G.transpose(), gaussian_kernel(X, L)),
           landmark_error(map.R));
  }
}
BOOST_AUTO_TEST_CASE(all_keys_as_landmarks) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<double> K = 2 * gaussian<double>(12, 3, seed, "K");
    const Matrix<double> Q = gaussian<double>(4, 3, seed, "Q");
    const Matrix<double> V = gaussian<double>(12, 2, seed, "V");
    const Matrix<double> y = kernel_coordinates(K);
    const Vector<double> pi =
        key_prior(y, Metric<double>::identity(3)).array().exp();
    const Matrix<double> kappa = gaussian_kernel(kernel_coordinates(Q), y);
    const Vector<double> Z = kappa * pi;
    verify(distance(nystroem_attention(Q, K, V, 12), attention(Q, K, V).O),
           2 * landmark_error(nystroem(y).R) * pi.sum() / Z.minCoeff() *
               V.cwiseAbs().maxCoeff());
  }
}
BOOST_AUTO_TEST_CASE(landmarks_are_chosen_greedily) {
  Matrix<double> K(14, 2);
  K.topRows(7) = 3 * gaussian<double>(7, 2, 1, "K");
  K.bottomRows(7) = K.topRows(7);
  const std::vector<Index> chosen = choose_landmarks(K, 14);
  BOOST_TEST(chosen.size() == 7u);
  double before = 1;
  for (std::size_t m = 1; m < chosen.size(); ++m) {
    Matrix<double> L(Index(m), 2);
    for (Index r = 0; r < L.rows(); ++r)
      L.row(r) = K.row(chosen[std::size_t(r)]);
    const auto map = nystroem(L);
    const Vector<double> rest =
        1 - map.features(K).rowwise().squaredNorm().array();
    verify(rest.maxCoeff() - rest(chosen[m]), landmark_error(map.R));
    verify(rest.maxCoeff(), before + landmark_error(map.R));
    before = rest.maxCoeff();
  }
}
BOOST_AUTO_TEST_CASE(landmarks_far_away) {
  const Matrix<double> far{{100, 0, 0}}, at{{0, 0, 0}}, v{{3, 4}};
  verify(distance(nystroem_attention(far, at, v, 1), v), 0);
  verify(distance(nystroem_attention(at, far, v, 1), v), 0);
  const Matrix<double> two{{0, 0, 0}, {100, 0, 0}}, V{{3, 4}, {5, 8}};
  verify(distance(nystroem_attention(at, two, V, 1),
                  Matrix<double>{{4, 6}}), 0);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<double> Q = 60 * gaussian<double>(4, 3, seed, "Q");
    const Matrix<double> K = 2 * gaussian<double>(5, 3, seed, "K");
    const Matrix<double> W = gaussian<double>(5, 2, seed, "V");

    // bound the answers to far queries
    const Matrix<double> x = kernel_coordinates(Q), y = kernel_coordinates(K);
    Matrix<double> G = gaussian_scores(x, y, Metric<double>::identity(3));
    const double size = 2 * (G.cwiseAbs().maxCoeff() + y.squaredNorm());
    G.colwise() -= G.rowwise().maxCoeff().eval();
    const Vector<double> pi = (y.rowwise().squaredNorm() / 2).array().exp();
    const Vector<double> Z = Matrix<double>(G.array().exp()) * pi;
    const Matrix<double> R = nystroem(y).R;
    const double inverse = solve_rows(R, Matrix<double>::Identity(5, 5)).norm();
    const double most = (4 * gamma(9, 0x1p-53) * size +
                         2 * std::sqrt(5.0) * inverse * landmark_error(R) *
                             pi.sum() / Z.minCoeff()) * W.cwiseAbs().maxCoeff();
    verify(distance(nystroem_attention(Q, K, W, 5), attention(Q, K, W).O),
           most);
  }
}
BOOST_AUTO_TEST_CASE(landmarks_of_unlike_keys) {
  const Matrix<double> two{{0, 30}, {60, 0}}, v{{1}, {2}};
  for (const double up : {30.0, 60.0})
    BOOST_CHECK_EXCEPTION(
        nystroem_attention(Matrix<double>{{0, up}}, two, v, 2),
        std::domain_error, says("nystroem_attention: rounding leaves query 0"));
  verify(std::abs(nystroem_attention(two.bottomRows(1), two, v, 2)(0) - 2), 0);
  const Matrix<float> many = Matrix<float>::Zero(1 << 20, 1);
  BOOST_CHECK_EXCEPTION(nystroem_attention(many.topRows(1), many, many, 1),
                        std::domain_error, says("too many keys"));
  const auto half = [&](Index less) {
    const Matrix<float> some = many.topRows((1 << 19) - less);
    return nystroem_attention(many.topRows(1), some, some, 1)(0);
  };
  verify(std::abs(double(half(16))), 0);
  BOOST_CHECK_EXCEPTION(half(0), std::domain_error, says("no normaliser"));
  BOOST_CHECK_THROW(nystroem(Matrix<double>{{1, 2}, {1, 2}}),
                    std::domain_error);
  const Matrix<double> far{{1e9}};
  BOOST_CHECK_EXCEPTION(
      nystroem_attention(far, far, v.topRows(1), 1), std::domain_error,
      says("nystroem_attention: rounding leaves query 0"));
}
/// Sums of kernel times prior, less the maxima that the features leave out.
Vector<quad> normalisers(const Matrix<quad>& Q, const Matrix<quad>& K) {
  const auto g = Metric<quad>::identity(K.cols());
  const Matrix<quad> y = kernel_coordinates(K);
  Matrix<quad> G = gaussian_scores(kernel_coordinates(Q), y, g);
  Matrix<quad> P = gaussian_scores(y, y, g);
  const RowVector<quad> prior = key_prior(y, g).transpose();
  P.rowwise() += prior;
  G.colwise() -= G.rowwise().maxCoeff().eval();
  G.rowwise() += prior;
  G.array() -= P.maxCoeff();
  return detail::exponential(G).rowwise().sum();
}
BOOST_AUTO_TEST_CASE(normalisers_of_landmarks) {
  double share = 0;
  for (const double s : {1.0, 3.0, 6.0, 10.0, 20.0})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Matrix<double> Q = s * gaussian<double>(20, 3, seed, "Q");
      const Matrix<double> K = s * gaussian<double>(20, 3, seed, "K");
      const Matrix<double> V = gaussian<double>(20, 1, seed, "V");
      Index refused = 0;

      // hold the normalisers to what rounding may do
      const auto f = detail::landmark_features<double>(Q, K, 20);
      BOOST_TEST(f.phi.cols() == 20);
      const Vector<double> Z = times(f.phi, f.psi.colwise().sum().transpose());
      const Vector<quad> truth = normalisers(lift<quad>(Q), lift<quad>(K));
      for (Index i = 0; i < 20; ++i) {
        const double error = to_double(abs(Z(i) - truth(i)));
        share = std::max(share, error / f.lost(i));
        verify(error, f.lost(i));
      }

      // ask for one query after the other
      const double size = Q.squaredNorm() + K.squaredNorm();
      for (Index i = 0; i < 20; ++i) {
        const Matrix<double> q = Q.row(i);
        try {
          verify(distance(nystroem_attention(q, K, V, 20), attention(q, K, V).O),
                 (0.125 + 4 * gamma(9, 0x1p-53) * size) *
                     V.cwiseAbs().maxCoeff());
        } catch (const std::domain_error&) {
          ++refused;
        }
      }
      BOOST_TEST((s > 3 || refused == 0));
      BOOST_TEST((s < 10 || refused > 0));
    }
  fact("share", share, 1);
}
BOOST_AUTO_TEST_CASE(residual_is_positive) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<double> X = gaussian<double>(25, 2, seed, "X");
    const auto map = nystroem(X.topRows(6));
    const Matrix<double> F = map.features(X);
    const Matrix<double> R = gaussian_kernel(X, X) - F * F.transpose();
    const double slack = 25 * landmark_error(map.R);
    const Matrix<double> lifted =
        R + slack * Matrix<double>::Identity(25, 25);
    const Matrix<double> factor = cholesky(lifted);
    const Matrix<double> size =
        factor.cwiseAbs() * factor.cwiseAbs().transpose();
    verify(factor * factor.transpose(), lift<quad>(lifted),
           Matrix<double>(2 * gamma(27, 0x1p-53) * size));
    BOOST_TEST(R.diagonal().maxCoeff() > 1e-3);
  }
}
BOOST_AUTO_TEST_CASE(rank_refusals) {
  const Matrix<double> A = gaussian<double>(4, 3, 1, "A");
  const Vector<double> sigma = singular_values(A);
  const auto refused = [](auto f, const char* words) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  refused([&] { eckart_young(sigma, -1); }, "eckart_young: rank -1");
  refused([&] { best_rank(A, -1); }, "best_rank: rank -1");
  refused([&] { choose_landmarks(A, -1); }, "choose_landmarks: m is -1");
  refused([&] { nystroem_attention(A, A, A.topRows(2), 2); },
          "nystroem_attention: Q is 4x3, K 4x3, V 2x3");
  refused([&] { nystroem(A).features(Matrix<double>(2, 2)); },
          "gaussian_scores: Q is 4x3");
  refused([&] { nystroem_attention(A.leftCols(2), A, A, 2); },
          "nystroem_attention: Q is 4x2");
  refused([&] { orthogonal_directions<double>(-1, 2, 1); },
          "orthogonal_directions: -1x2");
  refused([&] { orthogonal_directions<double>(2, -1, 1); },
          "orthogonal_directions: 2x-1");
  BOOST_TEST(numerical_rank(Vector<double>(0), 0.1) == 0);
  const Vector<double> four{{4, 2, 1, 0.5}};
  BOOST_TEST(numerical_rank(four, 0.25) == 2);
  BOOST_TEST(numerical_rank(four, 0.0) == 4);
  BOOST_CHECK_EXCEPTION(
      numerical_rank(Vector<double>{{HUGE_VAL, 1.0}}, 0.01),
      std::domain_error, says("numerical_rank: the largest singular value"));
  verify(eckart_young(sigma, 3).frobenius, 0);
  verify(eckart_young(sigma, 3).spectral, 0);
  const Matrix<double> wide = A.transpose();
  verify(distance(singular_values(wide), sigma), 0);
  verify(distance(best_rank(wide, 2), best_rank(A, 2).transpose()), 0);
  Eigen::MatrixX<double> B{{1, 1e-20}, {0, 1e-20}}, V = B;  // small, oblique
  BOOST_TEST(detail::rotate(B, V, 0, 1));
  BOOST_TEST(!detail::rotate(B, V, 0, 1));
  const Matrix<double> far{{100, 0, 0}}, v{{3, 4}};
  verify(distance(nystroem_attention(far, far, v, 1), v), 0);
  verify(nystroem_attention(A, A.topRows(0), A.topRows(0), 2).norm(), 0);
}
BOOST_AUTO_TEST_SUITE_END()
