// tests/parts_test.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/attention.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "metrics.hpp"
using namespace attn;
BOOST_AUTO_TEST_SUITE(bilinear)

// check the first scores
BOOST_AUTO_TEST_CASE(first_scores) {
  const Vector<double> q{{1, 0}}, k{{0, 1}}, both{{1, 1}};
  const double root = 1 / std::sqrt(2.0);
  const Bilinear<double> standard{Matrix<double>{{root, 0}, {0, root}}};
  const Bilinear<double> turning{Matrix<double>{{1, 1}, {-1, 1}}};
  for (const auto& [w, s, t] : {std::tuple(q, root, 1.0), {k, 0.0, 1.0},
                                {both, root, 2.0}}) {
    verify(std::abs(inner(q, w, standard) - s), 0);
    verify(std::abs(inner(q, w, turning) - t), 0);
  }
  verify(std::abs(inner(k, q, turning) + 1), 0);
}

// check the normal form
struct Bases {
  Matrix<Fp> left, right;  // P^T and P'
};
Bases normal_bases(const Matrix<Fp>& M, Index r, std::uint64_t seed) {
  Matrix<Fp> C = gaussian<Fp>(M.rows(), M.rows(), seed, "rest of C");
  Matrix<Fp> R = gaussian<Fp>(M.cols(), M.cols(), seed, "rest of R");
  if (r > 0) {
    const Matrix<Fp> corner = M.topLeftCorner(r, r);
    C.leftCols(r) = M.leftCols(r);
    R.topRows(r) = corner.inverse() * M.topRows(r);
  }
  return {C.inverse(), R.inverse()};
}
Matrix<Fp> of_rank(Index r, Index m, Index n, std::uint64_t seed) {
  return gaussian<Fp>(m, r, seed, "left of M") *
         gaussian<Fp>(r, n, seed, "right of M");
}
BOOST_AUTO_TEST_CASE(rank_normal_form) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index m = Index(1 + seed % 5), n = Index(1 + seed % 7);
    const Index r = Index(seed % 11) % (std::min(m, n) + 1);
    const Matrix<Fp> M = of_rank(r, m, n, seed);
    const auto [left, right] = normal_bases(M, r, seed);
    Matrix<Fp> normal = Matrix<Fp>::Zero(m, n);
    normal.topLeftCorner(r, r).setIdentity();
    verify_exact(Matrix<Fp>(left * M * right), normal,
                 2 * (m + n + 1) * (r + 1));
  }
}
BOOST_AUTO_TEST_CASE(bases_keep_the_rank) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index m = Index(2 + seed % 5), n = Index(2 + seed % 6);
    const Index r = 1 + Index(seed % 11) % (std::min(m, n) - 1);
    const Matrix<Fp> moved = gaussian<Fp>(m, m, seed, "P transposed") *
                             of_rank(r, m, n, seed) *
                             gaussian<Fp>(n, n, seed, "P'");
    const auto minor = [&](Index k) {
      const Matrix<Fp> corner = moved.topLeftCorner(k, k);
      return Fp(corner.partialPivLu().determinant());
    };
    verify(minor(r) == Fp(0) ? 1 : 0, 0);
    verify_exact(minor(r + 1), Fp(0), 4 * (r + 1));
  }
}

// check the parts of a form
BOOST_AUTO_TEST_CASE(parts_of_a_form) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 6);
    const Bilinear<Fp> B{gaussian<Fp>(d, d, seed, "B")};
    const auto G = symmetric_part(B), W = antisymmetric_part(B);
    const Vector<Fp> u = gaussian<Fp>(d, 1, seed, "u");
    const Vector<Fp> v = gaussian<Fp>(d, 1, seed, "v"), w = u + v;
    verify_exact(Matrix<Fp>(G.M + W.M), B.M, 1);
    verify_exact(Matrix<Fp>(G.M.transpose()), G.M, 1);
    verify_exact(Matrix<Fp>(W.M.transpose()), Matrix<Fp>(-W.M), 1);
    verify_exact(symmetric_part(G).M, G.M, 1);
    verify_exact(symmetric_part(W).M, Matrix<Fp>(0 * W.M), 1);
    verify_exact(inner(v, v, B), inner(v, v, G), 3);
    verify_exact(inner(u, v, B) - inner(v, u, B), 2 * inner(u, v, W), 3);
    verify_exact(inner(w, w, B) - inner(u, u, B) - inner(v, v, B),
                 2 * inner(u, v, G), 3);
  }
}
BOOST_AUTO_TEST_CASE(parts_keep_apart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 6);
    const Bilinear<Fp> B{gaussian<Fp>(d, d, seed, "B")};
    const Matrix<Fp> P = gaussian<Fp>(d, d, seed, "P"), Pt = P.transpose();
    const Bilinear<Fp> moved{Pt * B.M * P};
    verify_exact(symmetric_part(moved).M,
                 Matrix<Fp>(Pt * symmetric_part(B).M * P), 3);
    verify_exact(antisymmetric_part(moved).M,
                 Matrix<Fp>(Pt * antisymmetric_part(B).M * P), 3);
  }
  const Bilinear<double> wide{Matrix<double>::Zero(2, 3)};
  for (const auto& part : {symmetric_part<double>, antisymmetric_part<double>})
    BOOST_CHECK_EXCEPTION(part(wide), std::invalid_argument,
                          says("symmetric_part: the form is 2x3"));
}

// check the round trips
const Bilinear<quad> tiny_head =
    HeadForm<quad>{Matrix<quad>{{1}, {0.2}}, Matrix<quad>{{-0.3}, {1}}}.dense();
const Matrix<quad> tiny_tokens{{1.2, 0.3}, {-0.4, 1.1}, {-0.7, -0.9}};

void all_round_trips(const Matrix<quad>& X, const Bilinear<quad>& B) {
  const Matrix<double> S = scores(X, X, B).cast<double>();
  const Matrix<double> A = softmax(S);
  const Matrix<double> b = softmax_bound(S, 0x1p-53 * S.cwiseAbs());
  const auto W = antisymmetric_part(B);
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < X.rows(); ++j)
      for (Index k = 0; k < X.rows(); ++k) {
        if (i == j || j == k || k == i) continue;

        // go around the triangle both ways
        quad found = 0;
        double bound = 0;
        for (const auto& [p, q, sign] : {std::tuple(i, j, 1), {j, k, 1}, {k, i, 1},
                                         {i, k, -1}, {k, j, -1}, {j, i, -1}}) {
          found += quad(sign) * log(quad(A(p, q)));
          bound -= std::log1p(-b(p, q) / A(p, q));
        }
        const Vector<quad> y = (X.row(j) - X.row(i)).transpose(),
                           z = (X.row(k) - X.row(i)).transpose();
        verify(distance(found, 2 * inner(y, z, W)), bound);
      }
}
BOOST_AUTO_TEST_CASE(round_trips) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index d = Index(1 + seed % 6);
    all_round_trips(gaussian<quad>(Index(3 + seed % 4), d, seed, "X"),
                    {gaussian<quad>(d, d, seed, "B")});
  }
  all_round_trips(tiny_tokens, tiny_head);
  const Vector<quad> y = (tiny_tokens.row(1) - tiny_tokens.row(0)).transpose(),
                     z = (tiny_tokens.row(2) - tiny_tokens.row(0)).transpose();
  const quad area = 2 * inner(y, z, antisymmetric_part(tiny_head));
  fact("quotient", to_double(exp(area)), 2);
}
double imbalance(const Matrix<quad>& X, const Bilinear<quad>& B) {
  const auto W = antisymmetric_part(B);
  const auto [A, logZ] = weigh(scores(X, X, B));
  const Matrix<quad> area = scores(X, X, W);
  Matrix<quad> flow = A;
  for (Index i = 0; i < A.rows(); ++i)
    flow.row(i) *= exp(logZ(i) - 2 * area(i, 0));
  return distance(flow, flow.transpose()) / largest(flow);
}
BOOST_AUTO_TEST_CASE(reversible_attention) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(3 + seed % 4);
    Matrix<quad> X = gaussian<quad>(5, d, seed, "X");
    X.col(0).setOnes();
    const Matrix<quad> M = gaussian<quad>(d, d, seed, "M");
    Matrix<quad> popular = M + M.transpose();
    popular.row(0).tail(d - 1) += M.row(0).tail(d - 1);
    popular.col(0).tail(d - 1) -= M.row(0).tail(d - 1).transpose();
    refute(largest(antisymmetric_part<quad>({popular}).M), 0.01);
    verify(imbalance(X, {popular}), agreement);
    verify(imbalance(X, {M + M.transpose()}), agreement);
    refute(imbalance(X, {M}), 1e-6);
  }
}

// check the signature of forms
struct Planted {
  Matrix<double> G, P;
};
Planted planted(Index p, Index q, Index z, std::uint64_t seed) {
  const Index d = p + q + z;
  Vector<double> signs = Vector<double>::Zero(d);
  signs.head(p).setOnes();
  signs.segment(p, q).setConstant(-1);
  const Matrix<double> P = gaussian<double>(d, d, seed, "planted");
  const Matrix<double> G = P.transpose() * signs.asDiagonal() * P;
  return {(G + G.transpose()) / 2, P};
}
void check_subspaces(const Planted& form, Index p, Index q,
                     std::uint64_t seed) {
  const Index d = form.G.rows();
  const Matrix<double> basis = form.P.inverse();
  const auto within = [&](const Matrix<double>& E) {
    return signature(Bilinear<double>{E.transpose() * form.G * E});
  };
  const auto random = [&](Index k) {
    return within(gaussian<double>(d, k, seed, "subspace"));
  };
  verify(within(basis.leftCols(p)) == Signature{p, 0, 0} ? 0 : 1, 0);
  verify(within(basis.middleCols(p, q)) == Signature{0, q, 0} ? 0 : 1, 0);
  if (p < d) verify(random(p + 1).positive <= p ? 0 : 1, 0);
  if (q < d) verify(random(q + 1).negative <= q ? 0 : 1, 0);
}
BOOST_AUTO_TEST_CASE(signature_of_planted_squares) {
  for (Index p = 0; p <= 4; ++p)
    for (Index q = 0; q <= 4; ++q)
      for (Index z = 0; z <= 4; ++z) {
        const Index d = p + q + z;
        const auto seed = std::uint64_t(25 * p + 5 * q + z + 1);
        const auto form = planted(p, q, z, seed);
        const Matrix<double> skew = gaussian<double>(d, d, seed, "skew");
        const Bilinear<double> B{form.G + skew - skew.transpose()};
        verify(signature(B) == Signature{p, q, z} ? 0 : 1, 0);
        if (d > 0) check_subspaces(form, p, q, seed);
      }
}
BOOST_AUTO_TEST_CASE(signature_is_invariant) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index d = Index(1 + seed % 12);
    const Matrix<double> X = gaussian<double>(d, d, seed, "X");
    const Matrix<double> P = gaussian<double>(d, d, seed, "P");
    Matrix<double> G = X + X.transpose();
    if (seed % 3 == 0 && d % 2 == 0) G.diagonal().setZero();
    const auto found = signature(Bilinear<double>{G});
    const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(G);
    const Index p = (eigen.eigenvalues().array() > 0).count();
    verify(found == Signature{p, d - p, 0} ? 0 : 1, 0);
    const Bilinear<double> moved{P.transpose() * G * P};
    verify(signature(moved) == found ? 0 : 1, 0);
  }
}
BOOST_AUTO_TEST_CASE(signature_at_its_edges) {
  const auto of = [](const Matrix<double>& M) {
    return signature(Bilinear<double>{M});
  };
  verify(of(Matrix<double>{{0, 1}, {1, 0}}) == Signature{1, 1, 0} ? 0 : 1, 0);
  verify(of(Matrix<double>{{0, 1}, {-1, 0}}) == Signature{0, 0, 2} ? 0 : 1, 0);
  verify(of(Matrix<double>(0, 0)) == Signature{} ? 0 : 1, 0);
  const Matrix<double> weak{{1e-9, 0}, {0, -1}}, lost{{1e-20, 0}, {0, -1}};
  verify(of(weak) == Signature{1, 1, 0} ? 0 : 1, 0);
  verify(of(lost) == Signature{0, 1, 1} ? 0 : 1, 0);
  BOOST_CHECK_EXCEPTION(of(Matrix<double>{{1, NAN}, {0, 1}}),
                        std::domain_error, says("signature: the form is not"));
  BOOST_CHECK_EXCEPTION(of(Matrix<double>(2, 3)), std::invalid_argument,
                        says("the form is 2x3"));
}

// check the form of one head
BOOST_AUTO_TEST_CASE(factors_lower_as_their_product) {
  for (const auto& [D, E, d] : {std::array{5, 5, 2}, {4, 7, 3}, {1, 1, 1},
                                {3, 2, 6}}) {
    const HeadForm<Fp> h{gaussian<Fp>(D, d, 1, "W_Q"),
                         gaussian<Fp>(E, d, 1, "W_K")};
    const Matrix<Fp> Y = gaussian<Fp>(4, E, 1, "Y");
    verify_exact(h.lower(Y), h.dense().lower(Y), 3);
    const Vector<Fp> x = gaussian<Fp>(D, 1, 1, "x"), y = Y.row(0).transpose();
    verify_exact(inner(x, y, h),
                 Fp((h.W_Q.transpose() * x).dot(h.W_K.transpose() * y)), 4);
  }
}
Index rank_of(const Matrix<double>& M) {
  return Eigen::FullPivLU<Matrix<double>>(M).rank();
}
BOOST_AUTO_TEST_CASE(rank_of_a_head) {
  const Index D = 9, d = 4;
  for (Index r = 1; r <= d; ++r)
    for (Index s = 1; s <= d; ++s) {
      const auto seed = std::uint64_t(10 * r + s);
      const Matrix<double> U = gaussian<double>(D, r, seed, "U") *
                               gaussian<double>(r, d, seed, "U right");
      const Matrix<double> V = gaussian<double>(D, s, seed, "V") *
                               gaussian<double>(s, d, seed, "V right");
      const Index rank = rank_of(HeadForm<double>{U, V}.dense().M);
      verify(double(std::abs(rank - std::min(r, s))), 0);
    }
}
BOOST_AUTO_TEST_CASE(signature_of_one_head) {
  for (const auto& [D, d] : {std::pair<Index, Index>{2, 1}, {7, 2}, {8, 4},
                             {24, 5}, {64, 16}})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Matrix<double> U = gaussian<double>(D, d, seed, "U");
      const auto B =
          HeadForm<double>{U, gaussian<double>(D, d, seed, "V")}.dense();
      verify(signature(B) == Signature{d, d, D - 2 * d} ? 0 : 1, 0);
      const Index rank = rank_of(antisymmetric_part(B).M);
      verify(double(std::abs(rank - 2 * d)), 0);
      const auto tied = signature(HeadForm<double>{U, U}.dense());
      verify(tied == Signature{d, 0, D - d} ? 0 : 1, 0);
    }
}
BOOST_AUTO_TEST_CASE(signature_of_dependent_factors) {
  for (const auto& [D, d] : {std::pair<Index, Index>{7, 2}, {9, 4}, {24, 5}})
    for (Index k = 1; k < d; ++k)
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Matrix<double> U = gaussian<double>(D, d, seed, "U");
        Matrix<double> V = gaussian<double>(D, d, seed, "V");
        V.leftCols(k) = U.leftCols(k);
        const auto B = HeadForm<double>{U, V}.dense();
        const Signature expected{d, d - k, D - 2 * d + k};
        verify(signature(B) == expected ? 0 : 1, 0);
        const Index rank = rank_of(antisymmetric_part(B).M);
        verify(double(std::abs(rank - 2 * (d - k))), 0);
      }
}
BOOST_AUTO_TEST_CASE(signature_of_a_wide_head) {
  for (const auto& [D, d] : {std::pair<Index, Index>{3, 2}, {4, 3}, {5, 5},
                             {7, 4}, {8, 4}, {3, 6}})
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const Matrix<double> U = gaussian<double>(D, d, seed, "U");
      Matrix<double> V = gaussian<double>(D, d, seed, "V");
      const auto [p, q, z] = signature(HeadForm<double>{U, V}.dense());
      verify(double(z + std::max<Index>({0, p - d, q - d})), 0);
      V.leftCols(d / 2) = U.leftCols(d / 2);
      const auto shared = signature(HeadForm<double>{U, V}.dense());
      verify(shared.positive <= d && shared.negative <= d ? 0 : 1, 0);
    }
}
BOOST_AUTO_TEST_CASE(self_scores_of_a_head) {
  const std::uint64_t tokens = 4000;
  int negative = 0;
  for (std::uint64_t seed = 1; seed <= tokens; ++seed) {
    const HeadForm<double> h{gaussian<double>(8, 2, seed, "W_Q"),
                             gaussian<double>(8, 2, seed, "W_K")};
    const Vector<double> x = gaussian<double>(8, 1, seed, "token");
    negative += inner(x, x, h) < 0;
  }
  const double n = double(tokens);
  verify(std::abs(negative / n - 0.5), 4 * std::sqrt(0.25 / n));
  fact("tokens", tokens), fact("negative", negative);
}

// check the gauge of one head
BOOST_AUTO_TEST_CASE(gauge_keeps_the_form) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index D = Index(2 + seed % 6), d = Index(1 + seed % 4);
    const Matrix<Fp> U = gaussian<Fp>(D, d, seed, "U");
    const Matrix<Fp> V = gaussian<Fp>(D, d, seed, "V");
    const Matrix<Fp> N = gaussian<Fp>(d, d, seed, "N");
    const HeadForm<Fp> h{U, V}, turned{U * N, V * N.inverse().transpose()};
    verify_exact(turned.dense().M, h.dense().M, d + 3);
  }
}
BOOST_AUTO_TEST_CASE(factors_differ_by_a_gauge) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 4), D = d + Index(seed % 5);
    const Matrix<Fp> U = gaussian<Fp>(D, d, seed, "U");
    const Matrix<Fp> V = gaussian<Fp>(D, d, seed, "V");
    const Matrix<Fp> M = U * V.transpose();
    const Matrix<Fp> corner = M.topLeftCorner(d, d);
    const Matrix<Fp> left = M.leftCols(d);
    const Matrix<Fp> right = (corner.inverse() * M.topRows(d)).transpose();
    verify_exact(HeadForm<Fp>{left, right}.dense().M, M, 2 * d + 4);
    const Matrix<Fp> N = V.topRows(d).transpose();
    verify_exact(left, Matrix<Fp>(U * N), 3);
    verify_exact(right, Matrix<Fp>(V * N.inverse().transpose()), 2 * d + 4);
  }
}
double score_error(const Matrix<quad>& U, const Matrix<quad>& V) {
  const Matrix<double> X = gaussian<double>(8, U.rows(), 1, "tokens");
  const HeadForm<double> rounded{U.cast<double>(), V.cast<double>()};
  const Matrix<quad> x = lift<quad>(X), truth = x * U * V.transpose() *
                                                x.transpose();
  return distance(scores(X, X, rounded), truth) / largest(truth);
}
BOOST_AUTO_TEST_CASE(gauge_costs_digits) {
  const Index D = 64, d = 16;
  const Matrix<quad> U = gaussian<quad>(D, d, 1, "U");
  const Matrix<quad> V = gaussian<quad>(D, d, 1, "V");
  const auto turn = [&](const char* name) {
    const Matrix<quad> X = gaussian<quad>(d, d, 1, name);
    const Matrix<quad> W = X - X.transpose();
    const Matrix<quad> one = Matrix<quad>::Identity(d, d);
    return Matrix<quad>((one - W) * (one + W).inverse());  // orthogonal
  };
  Vector<quad> s(d);
  for (Index a = 0; a < d; ++a)
    s(a) = pow(quad(10), quad(-8) * quad(double(a)) / quad(double(d - 1)));
  const Matrix<quad> N = turn("left") * s.asDiagonal() * turn("right");
  const double balanced = score_error(U, V);
  const double skewed = score_error(U * N, V * N.inverse().transpose());
  fact("balanced", balanced, 2), fact("skewed", skewed, 2);
  refute(skewed / balanced, 1e4);
}
BOOST_AUTO_TEST_SUITE_END()
