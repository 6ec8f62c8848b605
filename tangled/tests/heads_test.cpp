// tests/heads_test.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/heads.hpp"
#include "attn/rounding.hpp"
#include "modules.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(multihead)

// check the diversity of heads
/// Weights of H heads for n queries and m keys, head after head.
Matrix<quad> heads_like(Index H, Index n, Index m, double scale,
                        std::uint64_t seed) {
  return attn::gibbs(Matrix<quad>(quad(scale) *
                                  gaussian<quad>(H * n, m, seed)));
}
BOOST_AUTO_TEST_CASE(js_is_printed_definition) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index H = Index(1 + seed % 5), n = Index(1 + seed % 3);
    const Matrix<quad> A = heads_like(H, n, 6, 2, seed);
    Matrix<quad> mean = Matrix<quad>::Zero(n, 6);
    for (Index h = 0; h < H; ++h) mean += A.middleRows(h * n, n);
    mean /= quad(double(H));
    const quad js = entropy(mean).mean() - entropy(A).mean();
    verify(to_double(abs(js - head_diversity(A, H))), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(js_is_information) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index H = Index(1 + seed % 5);
    const Matrix<quad> A = heads_like(H, 1, 6, 2, seed);
    quad information(0);
    for (Index h = 0; h < H; ++h)
      for (Index j = 0; j < 6; ++j) {
        const quad joint = A(h, j) / quad(double(H));
        const quad key = A.col(j).sum() / quad(double(H));
        information += joint * log(joint * quad(double(H)) / key);
      }
    verify(to_double(abs(information - head_diversity(A, H))), 1e-31);
  }
}
/// Mean over queries and heads of sum_j A log(A/mean) + mean - A, in quad.
quad js_of(const Matrix<quad>& A, Index H) {
  const Index n = A.rows() / H;
  quad sum(0);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < A.cols(); ++j) {
      quad m(0);
      for (Index h = 0; h < H; ++h) m += A(h * n + i, j) / quad(double(H));
      for (Index h = 0; h < H; ++h) {
        const quad a = A(h * n + i, j);
        sum += a * log(a / m) + (m - a);
      }
    }
  return sum / quad(double(H * n));
}
BOOST_AUTO_TEST_CASE(js_in_double) {
  const double u = unit_roundoff<double>();
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index H = Index(2 + seed % 6), n = 2, m = 9;
    const double apart = std::pow(10.0, -double(seed % 12));
    Matrix<double> A(H * n, m);
    const Matrix<double> one = gaussian<double>(n, m, seed);
    for (Index h = 0; h < H; ++h)
      A.middleRows(h * n, n) = attn::gibbs(Matrix<double>(
          one + apart * gaussian<double>(n, m, seed * 100 + std::uint64_t(h))));
    const quad truth = js_of(lift<quad>(A), H);
    Matrix<double> mean = Matrix<double>::Zero(n, m);
    for (Index h = 0; h < H; ++h) mean += A.middleRows(h * n, n) / double(H);
    const double away =
        (A - mean.replicate(H, 1)).cwiseAbs().sum() / double(H * n);
    const double terms = double(H * n * m + 6), js = to_double(truth);
    const double error = to_double(abs(quad(head_diversity(A, H)) - truth));
    verify(error, u / (1 - (terms + double(H) + 8) * u) *
                      (double(H + 6) * (away + double(m) * u) + terms * js));
    if (seed == 9) {  // heads apart by 1e-9
      fact("ours", error / js);
      fact("plain", std::abs(entropy(mean).mean() - entropy(A).mean() - js));
    }
  }
}
BOOST_AUTO_TEST_CASE(js_zero_and_maximum) {
  for (const Index H : {1, 2, 3, 5, 7, 8}) {
    const Matrix<double> one = attn::gibbs(gaussian<double>(4, 9, 1));
    verify(std::abs(head_diversity(one.replicate(H, 1), H)), 0x1p-96);
    Matrix<double> apart = Matrix<double>::Zero(H, 3 * H);
    for (Index h = 0; h < H; ++h)
      apart.block(h, 3 * h, 1, 3) = RowVector<double>{{0.5, 0.125, 0.375}};
    verify(std::abs(head_diversity(apart, H) - std::log(double(H))), 0x1p-49);
  }
  const Matrix<double> few{{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  verify(std::abs(head_diversity(few, 4) - std::log(2.0)), 0x1p-51);

  // leave both ends by a little
  const double e = 0x1p-20;
  const Matrix<double> nearly{{1, 0, 0}, {e, 1 - e, 0}, {0, 0, 1}};
  refute(std::log(3.0) - head_diversity(nearly, 3), 1e-7);
  const Matrix<double> alike{{0.5, 0.5}, {0.5, 0.5}, {0.5 + e, 0.5 - e}};
  refute(head_diversity(alike, 3), 1e-14);
  Matrix<double> tiny{{1, 0}, {1, 0}, {1, 0}, {1, 0}};
  tiny(2, 1) = 0x1p-1074;
  verify(std::abs(head_diversity(tiny, 4)), 0x1p-1000);
}
BOOST_AUTO_TEST_CASE(js_within_range) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Index H = Index(2 + seed % 6), m = Index(1 + seed % 4);
    const Matrix<quad> A = heads_like(H, 2, m, 0.5 * double(seed), seed);
    const double js = to_double(head_diversity(A, H));
    verify(std::max(-js, 0.0), 1e-33);
    verify(js, std::min(std::log(double(H)), max_entropy(m)) + 1e-15);
    Matrix<quad> B(2 * H, m);
    for (Index h = 0; h < H; ++h)
      B.middleRows(2 * h, 2) = A.middleRows(2 * (H - 1 - h), 2);
    verify(to_double(abs(head_diversity(B, H) - head_diversity(A, H))), 1e-32);
  }
}
BOOST_AUTO_TEST_CASE(averages_are_independent) {
  for (Index r = 1; r <= 4; ++r)
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Matrix<double> P = attn::gibbs(gaussian<double>(r, 7, seed, "p")),
                           M = attn::gibbs(gaussian<double>(5, r, seed, "m")),
                           A = M * P, V = gaussian<double>(7, 2, seed, "V");
      const Eigen::JacobiSVD<Eigen::MatrixXd> svd(A, Eigen::ComputeFullV);
      const Matrix<double> kernel = svd.matrixV().rightCols(7 - r);
      const Matrix<double> W = kernel * gaussian<double>(7 - r, 2, seed, "W");
      verify(distance(A * (V + W), A * V), 0x1p-47);
      refute(svd.singularValues()(r - 1), 1e-6);
      if (r == 1) verify(head_diversity(A, 5), 0x1p-90);
      else refute(head_diversity(A, 5), 1e-6);
    }
}
BOOST_AUTO_TEST_CASE(diversity_of_masked_heads) {
  Matrix<double> A{{0, 0, 0}, {0.5, 0.5, 0}, {0, 0, 0}, {0, 0, 1}};
  verify(std::abs(head_diversity(A, 2) - std::log(2.0)), 0x1p-51);
  BOOST_TEST(head_diversity(Matrix<double>(0, 3), 2) == 0);
  BOOST_CHECK_EXCEPTION(head_diversity(A, 4), std::domain_error,
                        says("query 0 sees keys in 2 of 4 heads"));
  BOOST_CHECK_EXCEPTION(head_diversity(A, 3), std::invalid_argument,
                        says("4 rows, not a multiple of 3"));
  BOOST_CHECK_EXCEPTION(head_diversity(A, 0), std::invalid_argument,
                        says("not a multiple of 0 heads"));
  BOOST_CHECK_EXCEPTION(cosine_diversity(A, 4), std::domain_error,
                        says("cosine_diversity: head 0 is zero"));
  A(1, 1) = 0.6;
  BOOST_CHECK_EXCEPTION(head_entropy(A, 2), std::domain_error,
                        says("head_entropy: row 1"));
}
BOOST_AUTO_TEST_CASE(diversity_of_heads_unlike) {
  const Matrix<double> A{{1, 0}, {0, 1}, {0, 0}, {0, 1}};
  BOOST_CHECK_EXCEPTION(head_diversity(A, 2), std::domain_error,
                        says("query 0 sees keys in 1 of 2 heads"));
}
BOOST_AUTO_TEST_CASE(entropy_per_head) {
  const Matrix<double> A{{1, 0}, {0.5, 0.5}, {0, 1}, {1, 0}};
  const Vector<double> H = head_entropy(A, 2);
  verify(std::abs(H(0) - std::log(2.0) / 2) + std::abs(H(1)), 0x1p-52);
  verify(std::abs(head_entropy(A, 4)(1) - std::log(2.0)), 0x1p-52);
  verify(head_entropy(Matrix<double>(0, 2), 3).norm(), 0);
}
Matrix<double> random_heads(Index H, Index n, double sigma, bool causal,
                            std::uint64_t seed) {
  Matrix<double> s = sigma * gaussian<double>(H * n, n, seed);
  if (causal) s += past_bias<double>(n, n).replicate(H, 1);
  return attn::gibbs(s);
}
BOOST_AUTO_TEST_CASE(cosine_of_unrelated_heads) {
  const double sigmas[] = {0.3, 1, 3};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string number = std::to_string(k + 1);
    const auto A = random_heads(8, 128, sigmas[k], false, k + 1);
    const auto B = random_heads(8, 128, sigmas[k], true, k + 9);
    fact("cos" + number, cosine_diversity(A, 8));
    fact("causal" + number, cosine_diversity(B, 8));
    fact("js" + number, head_diversity(A, 8) / std::log(8.0));
  }
  for (const double sigma : {0.3, 0.6, 1.0}) {
    Vector<double> c(12);
    for (Index k = 0; k < 12; ++k) {
      const Matrix<double> s =
          sigma * gaussian<double>(2 * 32, 1024, std::uint64_t(k + 40));
      c(k) = 1 - cosine_diversity(attn::gibbs(s), 2);
    }
    const double var = (c.array() - c.mean()).square().sum() / 11;
    verify(std::abs(c.mean() - std::exp(-sigma * sigma)),
           5 * std::sqrt(var / 12) + std::exp(4 * sigma * sigma) / 1024);
    refute(c.mean(), 0.3);  // unrelated heads should have had zero
  }
  BOOST_CHECK_EXCEPTION(cosine_diversity(Matrix<double>{{1.0}}, 1),
                        std::invalid_argument, says("one head has no pair"));
}
BOOST_AUTO_TEST_CASE(cosine_at_its_ends) {
  const double u = unit_roundoff<double>();
  for (const Index H : {2, 3, 8}) {
    const Matrix<double> one = random_heads(1, 6, 1, H == 3, 5);
    const Matrix<double> A = random_heads(H, 6, 1, false, 6);
    verify(std::abs(cosine_diversity(one.replicate(H, 1), H)), 60 * u);
    const Matrix<double> apart = Matrix<double>::Identity(H, H);
    verify(std::abs(cosine_diversity(apart, H) - 1), 0);
    Matrix<double> B(6 * H, 6);
    for (Index h = 0; h < H; ++h)
      B.middleRows(6 * h, 6) = A.middleRows(6 * (H - 1 - h), 6);
    verify(std::abs(cosine_diversity(A, H) - cosine_diversity(B, H)), 60 * u);
  }
}

// check the loss of rank
BOOST_AUTO_TEST_CASE(dobrushin_by_hand) {
  const Matrix<double> A{{1, 0, 0}, {0.5, 0.5, 0}, {0, 0.25, 0.75}};
  verify(std::abs(dobrushin(A) - 1), 0);
  verify(std::abs(dobrushin(A.topRows(2)) - 0.5), 0);
  verify(std::abs(dobrushin(A.bottomRows(2)) - 0.75), 0);
  verify(dobrushin(A.topRows(1)) + dobrushin(A.row(1).replicate(3, 1)), 0);
  const Matrix<double> points{{0, 0}, {3, 4}, {3, 0}};
  verify(std::abs(diameter(points) - 5), 0);
  for (Index i = 0; i < 3; ++i) {
    Matrix<double> spoilt = points;
    spoilt(i, 0) = std::nan("");
    BOOST_TEST(std::isnan(diameter(spoilt)));
  }
  for (const Index n : {1, 2, 3, 8, 100})
    verify(std::abs(dobrushin(attn::gibbs(past_bias<double>(n, n))) -
                    (1 - 1 / double(n))), double(n) * 0x1p-52);
  BOOST_CHECK_EXCEPTION(dobrushin(2 * A), std::domain_error,
                        says("dobrushin: row 0"));
}
BOOST_AUTO_TEST_CASE(causal_averages_halve) {
  for (const Index n : {2, 10, 100}) {
    const Matrix<double> A = attn::gibbs(past_bias<double>(n, n));
    Matrix<double> w = Matrix<double>::Zero(1, n);
    w(n - 1) = 1;
    for (int layer = 1; layer <= 40; ++layer) {
      w = (w * A).eval();

      // compare the mean distance from the first place
      double mean = 0;
      for (Index j = 0; j < n; ++j) mean += double(j) * w(j);
      const double left = double(n - 1) * std::ldexp(1, -layer),
                   err = gamma((layer + 1) * (2 * n + 10), 0x1p-53);
      verify(std::abs(mean / left - 1), err);
      verify(w.rightCols(n - 1).sum(), left * (1 + err));
    }
    const double before = w.rightCols(n - 1).sum();
    w = (w * A).eval();
    verify(std::abs(w.rightCols(n - 1).sum() / before - 0.5), 1e-5);
  }
}
BOOST_AUTO_TEST_CASE(averages_contract) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Index n = Index(2 + seed % 4), m = Index(1 + seed % 5);
    const double s = 0.1 * double(seed % 40);
    const Matrix<double> A = attn::gibbs(
        Matrix<double>(s * gaussian<double>(n, m, seed)));
    const Matrix<double> B = attn::gibbs(
        Matrix<double>(s * gaussian<double>(m, 4, seed + 400)));
    const Matrix<double> V = gaussian<double>(m, 3, seed + 800);
    verify(diameter(A * V), dobrushin(A) * diameter(V) + 0x1p-48);
    verify(dobrushin(A * B), dobrushin(A) * dobrushin(B) + 0x1p-49);
  }
}
BOOST_AUTO_TEST_CASE(weights_move_by_tanh) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const double step = 0.05 * double(1 + seed % 60);
    const Matrix<double> s = 2 * gaussian<double>(1, 5, seed);
    const Matrix<double> d = step * gaussian<double>(1, 5, seed + 400);
    Matrix<double> both(2, 5);
    both.row(0) = s;
    both.row(1) = s + d;
    verify(dobrushin(attn::gibbs(both)),
           std::tanh((d.maxCoeff() - d.minCoeff()) / 4) + 0x1p-50);
    const double rho = step, y = rho / 2;
    const Matrix<double> tight{{-y, 0}, {y, 0}};
    verify(std::abs(dobrushin(attn::gibbs(tight)) - std::tanh(rho / 4)),
           0x1p-51);
  }
}
void bias_at_random(MultiHead<double>& m, std::uint64_t seed) {
  set_biases(m);
  for_each_weight([&](std::string name, auto& w) {
    if (name[0] == 'b') w = gaussian<double>(w.size(), 1, seed++);
  }, m);
}
BOOST_AUTO_TEST_CASE(collapse_is_cubic) {
  double last = 0, before = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix<double> X = 0.3 * gaussian<double>(8, 12, seed);
    for (int layer = 0; layer < 3; ++layer) {
      auto m = xavier<double>({12, 3},
                              seed * 100 + 4 * std::uint64_t(layer));
      if (seed % 2) bias_at_random(m, 1000 * seed + 4 * std::uint64_t(layer));
      const double delta = diameter(X);
      X = attend(m, X);
      const double now = diameter(X);
      verify(now, collapse_bound(m, delta) * (1 + 1e-13) + 1e-14);
      before = delta, last = now;
    }
    const auto m = xavier<double>({12, 3}, seed);
    const Matrix<double> small = 1e-2 * gaussian<double>(8, 12, seed + 50);
    const double one = diameter(attend(m, small));
    const double ten = diameter(attend(m, small / 10));
    verify(std::abs(std::log10(one / ten) - 3), 1e-3);
  }
  fact("before", before);
  fact("after", last);
}
BOOST_AUTO_TEST_CASE(bound_of_shared_keys) {
  for (Index h = 0; h < 4; ++h) {
    auto m = xavier<double>({8, 4, 2}, 3);
    const auto all = m;
    m.W_O.setZero();
    m.W_O.middleRows(2 * h, 2) = all.W_O.middleRows(2 * h, 2);
    MultiHead<double> one{1, 1, {}, {}, {}, {}, {}, {}, {}, {}};
    one.W_Q = m.W_Q.middleCols(2 * h, 2);
    one.W_K = m.W_K.middleCols(2 * (h / 2), 2);
    one.W_V = m.W_V.middleCols(2 * (h / 2), 2);
    one.W_O = m.W_O.middleRows(2 * h, 2);
    const double bound = collapse_bound(one, 1.5);
    verify(std::abs(collapse_bound(m, 1.5) - bound), 0x1p-48 * bound);
  }
}
BOOST_AUTO_TEST_CASE(shortcuts_prevent_collapse) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix<double> X = 0.05 * gaussian<double>(8, 12, seed);
    const double start = diameter(X);
    for (int layer = 0; layer < 12; ++layer) {
      const auto m =
          xavier<double>({12, 3}, seed * 100 + 4 * std::uint64_t(layer));
      const double delta = diameter(X), c = collapse_bound(m, delta);
      const double now = diameter(X += attend(m, X));
      verify(std::abs(now - delta), c + 1e-13);
    }
    verify(0.5 * start, diameter(X));  // half of it is left, at least
  }
}
BOOST_AUTO_TEST_CASE(collapse_bound_is_attained) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    auto m = xavier<double>({1, 1}, seed);
    if (m.W_Q(0) * m.W_K(0) < 0) m.W_Q *= -1;
    const double x = 0.1 * double(seed);
    const Matrix<double> X{{x}, {-x}};
    const double bound = collapse_bound(m, diameter(X));
    verify(std::abs(diameter(attend(m, X)) - bound), 0x1p-46 * (1 + bound));
  }
}

// check how many weights matter
/// Derivatives of all outputs for eight inputs: a column each, a row for
/// each weight.
Matrix<double> output_derivatives(const MultiHead<double>& m) {
  const Index n = 7, p = m.W_O.cols();
  Matrix<double> J(parameter_count(m), 8 * n * p);
  for (Index k = 0; k < J.cols(); ++k) {
    const std::uint64_t set = std::uint64_t(k / (n * p));
    const Matrix<double> X = gaussian<double>(n, m.W_Q.rows(), set, "X"),
                         C = gaussian<double>(6, m.W_K.rows(), set, "C");
    Matrix<double> dY = Matrix<double>::Zero(n, p);
    dY.data()[k % (n * p)] = 1;
    const auto g = multihead_vjp(m, X, C, multihead_forward(m, X, C), dY);
    Index at = 0;
    for_each_weight([&](auto, const auto& w) {
      for (Index e = 0; e < w.size(); ++e) J(at++, k) = w.data()[e];
    }, g.weights);
  }
  return J;
}
BOOST_AUTO_TEST_CASE(effective_parameters) {
  double least = 1, noise = 0;
  const HeadShape shapes[] = {
      {3, 1, 1, 2}, {4, 2}, {4, 2, 1, 2, 3, 5, 3}, {4, 4, 2, 1, 2},
      {3, 2, 1, 2, 2, 4, 3, true}, {4, 2, 2, 2, 2, 4, 4, true},
      {2, 3, 1, 1, 2, 2, 2, true}, {3, 2, 2, 2, 2, 3, 2, true},
      {5, 4, 2, 2, 1, 4, 6, true}};
  for (const HeadShape& s : shapes) {
    auto m = xavier<double>(s, 1);
    if (s.bias) bias_at_random(m, 1);

    // count the parameters that matter by the formula
    const HeadShape c = completed(s);
    const Index R = c.heads / c.kv_heads;
    const Index expected =
        c.kv_heads * (c.d_k * (R * c.d_model + c.d_context - c.d_k) +
                      c.d_v * (c.d_context + R * c.d_out - c.d_v)) +
        (s.bias ? c.heads * c.d_k + c.d_out : 0);
    BOOST_TEST(parameter_count(m) - expected ==
               c.kv_heads * (c.d_k * c.d_k + c.d_v * c.d_v +
                             (s.bias ? c.d_k + c.d_v : 0)));
    const Vector<double> sigma =
        Eigen::JacobiSVD<Eigen::MatrixXd>(output_derivatives(m))
            .singularValues();
    BOOST_REQUIRE(expected < sigma.size());
    least = std::min(least, sigma(expected - 1) / sigma(0));
    noise = std::max(noise, sigma(expected) / sigma(0));
  }
  fact("least", least, 1);
  fact("noise", noise, 1);
  verify(noise, 1e-8 * least);
}
BOOST_AUTO_TEST_SUITE_END()
