// tests/hopfield_test.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "memories.hpp"
#include "attn/field.hpp"
#include "attn/glyphs.hpp"
#include "attn/linear.hpp"
#include "attn/lowrank.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(hopfield)

// check Hebb's rule
BOOST_AUTO_TEST_CASE(hebb_weights) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index M = Index(seed % 9), d = Index(1) << (seed % 5);
    const Matrix<double> K = signs(M, d, seed);
    const Matrix<double> W = hebb(K), kept = hebb(K, Diagonal::kept);
    double worst = 0;
    for (Index a = 0; a < d; ++a)
      for (Index b = 0; b < d; ++b) {
        double sum = 0;
        for (Index j = 0; j < M; ++j) sum += K(j, a) * K(j, b);
        worst = worse(worst, std::abs(kept(a, b) - sum / double(d)));
        worst = worse(worst, std::abs(W(a, b) - (a == b ? 0 : kept(a, b))));
      }
    verify(worst, 0);
    verify((kept.diagonal().array() - double(M) / double(d)).abs().sum(), 0);
  }
  BOOST_CHECK_EXCEPTION(hebb(Matrix<double>(3, 0)), std::invalid_argument,
                        says("hebb: patterns are 3x0"));
}
BOOST_AUTO_TEST_CASE(energy_is_overlaps) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Index M = Index(seed % 5), d = Index(1 + seed % 7);
    const Matrix<Fp> K = uniform<Fp>(M, d, seed, "K");
    const Vector<Fp> x = uniform<Fp>(d, 1, seed, "x");
    Fp squares(0);
    for (Index j = 0; j < M; ++j) {
      Fp h(0);
      for (Index a = 0; a < d; ++a) h += K(j, a) * x(a);
      squares += h * h;
    }
    verify_exact(classical_energy(hebb(K, Diagonal::kept), x),
                 -squares / Fp(2 * d), 4);
  }
}
BOOST_AUTO_TEST_CASE(diagonal_is_a_constant) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<double> K = signs(Index(seed % 9), 16, seed);
    const Vector<double> x = signs(1, 16, seed, "x").transpose();
    verify(std::abs(classical_energy(hebb(K, Diagonal::kept), x) -
                    classical_energy(hebb(K), x) + double(K.rows()) / 2), 0);
  }
}

// check the classical dynamics
/// A symmetric matrix of whole numbers from -8 to 8.
Matrix<double> symmetric(Index d, std::uint64_t seed) {
  const Matrix<double> half =
      (4 * uniform<double>(d, d, seed, "W")).array().round();
  return half + half.transpose();
}
BOOST_AUTO_TEST_CASE(flips_lower_the_energy) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Diagonal diagonal = seed % 2 ? Diagonal::zero : Diagonal::kept;
    const Matrix<double> W =
        seed % 3 == 0
            ? symmetric(32, seed)
            : hebb(signs(Index(1 + seed % 7), 32, seed), diagonal);
    Vector<double> x = signs(1, 32, seed, "x").transpose(), h = W * x;
    for (const Index a : permutation(32, seed)) {
      const double before = classical_energy(W, x);
      const double loss = 2 * std::abs(h(a)) + 2 * W(a, a);
      const Index flips = detail::sweep(W, {a}, x, h);
      verify(std::abs(before - classical_energy(W, x) -
                      double(flips) * loss), 0);
    }
    verify((h - W * x).cwiseAbs().sum(), 0);
  }
}
BOOST_AUTO_TEST_CASE(ties_move_nobody) {
  const Matrix<double> W = hebb(Matrix<double>{{1, 1}, {1, -1}});
  for (const double a : {-1.0, 1.0})
    for (const double b : {-1.0, 1.0}) {
      const Vector<double> x{{a, b}};
      verify((synchronous_update(W, x) - x).norm(), 0);
      const Settled<double> end = settle(W, x);
      verify((end.x - x).norm(), 0);
      BOOST_TEST(end.sweeps == 1);
    }
}
BOOST_AUTO_TEST_CASE(ties_in_whole_numbers) {
  Index ties = 0, moved = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Matrix<double> K = signs(6, 100, seed, "K");
    const Vector<double> x = signs(1, 100, seed, "x").transpose();

    // count votes on a neuron in integers
    const auto votes = [&](const Vector<double>& z, Index a) {
      std::int64_t sum = 0;
      for (Index j = 0; j < 6; ++j)
        for (Index b = 0; b < 100; ++b)
          if (b != a) sum += std::int64_t(K(j, a) * K(j, b) * z(b));
      return sum;
    };
    const auto turned = [&](const Vector<double>& z, Index a) {
      const auto sum = votes(z, a);
      return sum == 0 ? z(a) : sum > 0 ? 1.0 : -1.0;
    };
    const Matrix<double> W = hebb_sums(K);
    const Vector<double> y = synchronous_update(W, x);
    const Vector<double> divided = synchronous_update(hebb(K), x);
    for (Index a = 0; a < 100; ++a) {
      verify(std::abs(y(a) - turned(x, a)), 0);
      ties += votes(x, a) == 0;
      moved += votes(x, a) == 0 && divided(a) != x(a);
    }
    Vector<double> z = x;
    for (const Index a : permutation(100, seed, "sweep 0"))
      z(a) = turned(z, a);
    verify((settle(W, x, seed, 1).x - z).norm(), 0);
  }
  fact("fields", 4000);
  fact("ties", ties);
  fact("moved", moved);
  refute(double(moved), 1);
}
BOOST_AUTO_TEST_CASE(ties_are_not_rare) {
  const Index networks = 2000;
  Vector<double> ties(networks);
  for (Index r = 0; r < networks; ++r) {
    const Matrix<double> W = hebb(signs(4, 16, std::uint64_t(r), "K"));
    const Vector<double> x =
        signs(1, 16, std::uint64_t(r), "x").transpose();
    const Vector<double> h = W * x;
    ties(r) = double((h.array() == 0).count()) / 16;
  }
  const double p = std::exp(std::lgamma(61) - 2 * std::lgamma(31) -
                            60 * std::numbers::ln2);
  const double spread = (ties.array() - ties.mean()).square().sum();
  fact("ties", ties.mean(), 2);
  verify(std::abs(ties.mean() - p),
         4 * std::sqrt(spread) / double(networks - 1));
}
BOOST_AUTO_TEST_CASE(runs_differ_from_their_neighbours) {
  const Matrix<double> W = hebb(signs(12, 64, 1, "K"));
  const Vector<double> x = signs(1, 64, 1, "x").transpose();
  int alike = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto first = permutation(64, seed, "sweep 0");
    const auto second = permutation(64, seed, "sweep 1");
    const auto next = permutation(64, seed + 1, "sweep 0");
    alike += first == second || second == next || first == next;
    Vector<double> y = x, h = W * x;
    detail::sweep(W, first, y, h);
    verify((settle(W, x, seed, 1).x - y).norm(), 0);
  }
  verify(alike, 0);
}
BOOST_AUTO_TEST_CASE(settles) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Matrix<double> W = hebb(signs(Index(1 + seed % 20), 64, seed));
    const Vector<double> x = signs(1, 64, seed, "x").transpose();
    const Settled<double> end = settle(W, x, seed);
    verify(double(end.fixed ? 0 : 1), 0);
    verify((synchronous_update(W, end.x) - end.x).cwiseAbs().sum(), 0);
    BOOST_TEST(classical_energy(W, end.x) <= classical_energy(W, x));
  }
}
BOOST_AUTO_TEST_CASE(parallel_descent_with_diagonal) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Matrix<double> W =
        hebb(signs(Index(1 + seed % 7), 16, seed), Diagonal::kept);
    Vector<double> x = signs(1, 16, seed, "x").transpose();
    for (int t = 0; t < 4; ++t) {
      const Vector<double> y = synchronous_update(W, x);
      verify(worse(0, classical_energy(W, y) - classical_energy(W, x)),
             0);
      x = y;
    }
  }
}
double after_two_steps(const Matrix<double>& W, const Vector<double>& x) {
  return (synchronous_update(W, synchronous_update(W, x)) - x).norm();
}
BOOST_AUTO_TEST_CASE(parallel_ends_in_two_cycles) {
  int cycles = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    for (const bool whole : {false, true}) {
      const Matrix<double> W =
          whole ? symmetric(16, seed)
                : hebb(signs(Index(1 + seed % 5), 16, seed));
      Vector<double> x = signs(1, 16, seed, "x").transpose();
      for (int t = 0; t < 200; ++t) x = synchronous_update(W, x);
      verify(after_two_steps(W, x), 0);
      cycles += !whole && synchronous_update(W, x) != x;
    }
  refute(after_two_steps(Matrix<double>{{0, -1}, {1, 0}},
                         Vector<double>::Ones(2)), 2);
  fact("runs", 300);
  fact("cycles", cycles);
}
BOOST_AUTO_TEST_CASE(spurious_states) {
  int mixtures = 0, tried = 40;
  for (int k = 0; k < tried; ++k) {
    const Matrix<double> K = signs(8, 512, std::uint64_t(k + 1));
    const Matrix<double> W = hebb(K);
    const Vector<double> sum = K.topRows(3).colwise().sum().transpose();
    const Vector<double> x = sum.cwiseSign();
    mixtures += synchronous_update(W, x) == x;
    refute(1 - (K * x).cwiseAbs().maxCoeff() / 512, 0.25);
    const Vector<double> end = settle(W, x, 3).x, other = -end;
    verify((synchronous_update(W, other) - other).cwiseAbs().sum(), 0);
  }
  fact("mixtures", mixtures);
  fact("tried", tried);
  refute(mixtures, tried / 2 + 1);
}
BOOST_AUTO_TEST_CASE(fields_that_are_no_numbers) {
  Matrix<double> W = hebb(signs(3, 8, 1));
  W(2, 5) = W(5, 2) = std::nan("");
  const Vector<double> x = signs(1, 8, 1, "x").transpose();
  const Vector<double> y = synchronous_update(W, x);
  for (Index a = 0; a < 8; ++a)
    BOOST_TEST(std::isnan(y(a)) == (a == 2 || a == 5));
  const Settled<double> end = settle(W, x, 1, 20);
  BOOST_TEST((!end.fixed && end.sweeps == 20 && end.x.hasNaN()));
  const Matrix<double> chase{{0, 1}, {-1, 0}};  // never comes to rest
  BOOST_TEST(settle(chase, Vector<double>{{1, 1}}).sweeps == 1000);
  for (const double entry : {std::nan(""), 0.5, 0.0}) {
    Matrix<double> K = signs(4, 8, 2);
    K(1, 3) = entry;
    const Vector<double> z = K.row(1).transpose();
    for (const auto& f : {K, signs(4, 8, 2)})
      BOOST_CHECK_EXCEPTION(exponential_update(f, f == K ? x : z),
                            std::domain_error, says("entry is no sign"));
  }
}
BOOST_AUTO_TEST_CASE(random_starts) {
  int patterns = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<double> K = signs(16, 256, seed);
    const Matrix<double> W = hebb(K);
    for (std::uint64_t k = 1; k <= 20; ++k, ++tried) {
      const Vector<double> x =
          signs(1, 256, 1000 * seed + k).transpose();
      const Settled<double> end = settle(W, x, k);
      verify(double(end.fixed ? 0 : 1), 0);
      const double m = (K * end.x).cwiseAbs().maxCoeff() / 256;
      verify(distance(synchronous_update(W, end.x), end.x), 0);
      patterns += m >= 0.8;
    }
  }
  fact("tried", tried);
  fact("patterns", patterns);
  fact("spurious", tried - patterns);
}

// check the crosstalk
BOOST_AUTO_TEST_CASE(crosstalk_is_binomial) {
  for (const Index M : {7, 9, 14, 20}) {
    const Index d = 64, networks = 150;
    Vector<double> rate(networks);
    for (Index r = 0; r < networks; ++r) {
      const Matrix<double> K = signs(M, d, std::uint64_t(1000 * M + r));
      const Matrix<double> fields = K * hebb(K);
      rate(r) = double((fields.cwiseProduct(K).array() < 0).count()) /
                double(M * d);
    }
    const double p = hebb_bit_error(d, M), mean = rate.mean();
    const double spread = (rate.array() - mean).square().sum();
    const double count = double(networks);
    verify(std::abs(mean - p),
           4 * std::sqrt(spread / (count - 1) / count));
  }
  verify(std::abs(hebb_bit_error(2, 3) - 0.25), 0x1p-50);
  verify(std::abs(hebb_bit_error(2, 4) - 0.125), 0x1p-50);
  verify(hebb_bit_error(2, 1) + hebb_bit_error(1, 9), 0);
}
BOOST_AUTO_TEST_CASE(tail_without_logarithms) {
  for (const Index d : {3, 16, 64, 200})
    for (const Index M : {2, 5, 12, 40}) {
      const double n = double(M - 1) * double(d - 1);
      long double chance = std::exp2l(-n), tail = 0;
      for (double k = 0; k <= n; ++k) {
        if (2 * k > n + double(d) - 1) tail += chance;
        chance *= (long double)(n - k) / (long double)(k + 1);
      }
      const double p = hebb_bit_error(d, M);
      verify(double(std::abs(p - tail)),
             (20 * (n + 2) * std::log(n + 2) + n) * 0x1p-53 * double(tail));
    }
}
BOOST_AUTO_TEST_CASE(fixed_patterns_below_the_threshold) {
  for (const Index M : {16, 20}) {
    const Index d = 256, networks = 400;
    Vector<double> lost(networks);
    for (Index r = 0; r < networks; ++r)
      lost(r) = 1 - stable_fraction(
                        signs(M, d, std::uint64_t(1000 * M + r)));
    const double mean = lost.mean(), count = double(networks);
    const double spread = (lost.array() - mean).square().sum();
    const double least = mean - 4 * std::sqrt(spread / (count - 1) / count);
    const double x = double(d - 1) / double(2 * (M - 1));
    verify(least, double(d) * std::exp(-x));
    verify(double(d) * hebb_bit_error(d, M), double(d) * std::exp(-x));
    refute(least, double(d) * std::exp(-2 * x));
  }
}
BOOST_AUTO_TEST_CASE(errors_vanish_below_the_threshold) {
  for (const double epsilon : {0.1, 0.3, 0.5})
    for (const Index d : {32, 128, 512, 2048}) {
      const double n = double(d);
      const double most = (1 - epsilon) * (n - 1) / (2 * std::log(n));
      verify(n * hebb_bit_error(d, 1 + Index(most)),
             std::pow(n, -epsilon / (1 - epsilon)));
    }
}
BOOST_AUTO_TEST_CASE(replica_threshold) {
  double y = 1.5;
  for (double step = 0.1; step > 1e-9; step /= 2)
    for (const double move : {step, -step})
      while (replica_load(y + move) > replica_load(y)) y += move;
  fact("alpha", replica_load(y), 4);
  fact("m", std::erf(y), 3);
  fact("bits", (1 - std::erf(y)) / 2, 2);
  verify(std::abs(replica_load(y) - 0.138), 0.0005);
  for (double z = 0.02; z < 30; z += 0.02)  // and nowhere is it larger
    verify(replica_load(z), replica_load(y) + 0x1p-50);
}

// check the state of linear attention
BOOST_AUTO_TEST_CASE(linear_attention_is_hebb) {
  const Index n = 17, m = 64, networks = 200;
  Vector<double> wrong(networks), square(networks);
  double pass = 0;
  for (Index r = 0; r < networks; ++r) {
    const Matrix<double> K = signs(n, m, std::uint64_t(r), "keys");
    const Matrix<double> V = signs(n, 4, std::uint64_t(r), "values");
    const auto rate = delta<double>(Vector<double>::Constant(n, 1.0 / m));
    const Matrix<double> told =
        K * recurrence(K, K, V, additive<double>(n)).M / double(m);
    const Matrix<double> mended = K * recurrence(K, K, V, rate).M;
    wrong(r) = double((told.cwiseProduct(V).array() < 0).count()) /
               double(n * 4);
    square(r) = (told - V).squaredNorm() / double(n * 4);
    pass += (mended - V).squaredNorm() / double(n * 4 * networks);
  }

  // hold the answers of the state to the crosstalk
  const auto judge = [&](const Vector<double>& x, double truth) {
    const double spread = (x.array() - x.mean()).square().sum();
    verify(std::abs(x.mean() - truth),
           4 * std::sqrt(spread) / double(networks - 1));
  };
  judge(wrong, hebb_bit_error(m + 1, n));
  judge(square, double(n - 1) / double(m));
  verify(pass, square.mean());
  const Matrix<double> K = signs(n, m, 1, "keys");
  verify(distance(memorise(K, K).leftCols(m) / double(m),
                  hebb(K, Diagonal::kept)), 0);
  fact("networks", networks);
  fact("wrong", wrong.mean(), 2);
  fact("predicted", hebb_bit_error(m + 1, n), 2);
  fact("square", square.mean(), 3);
  fact("pass", pass, 2);

  // read the patterns again and again
  const Eigen::MatrixXd gram = K * K.transpose();
  const Matrix<double> W =
      K.transpose() * gram.ldlt().solve(Eigen::MatrixXd(K));
  const double shrink = std::sqrt(1 - (gram / double(m)).determinant());
  const auto rule = delta<double>(Vector<double>::Constant(n, 1.0 / m));
  Matrix<double> M = Matrix<double>::Zero(m, m);
  double left = W.norm();
  for (int t = 0; t < 300; ++t) {
    M = recurrence(K, K, K, rule, M).M;
    left *= shrink;
    verify((M - W).norm(), left + 0x1p-40);
  }
  verify((M - W).norm(), 0x1p-30);
}
/// Fractions of signs that states of n tokens and m features get wrong.
template <class F>
Vector<double> wrong_signs(Index n, Index m, F features) {
  Vector<double> wrong(200);
  for (Index r = 0; r < 200; ++r) {
    const auto seed = std::uint64_t(r);
    const Matrix<double> P = features(gaussian<double>(n, m, seed, "keys"));
    const Matrix<double> V = signs(n, 4, seed, "values");
    const Matrix<double> told = P * memorise(P, V).leftCols(4);
    wrong(r) = (told.cwiseProduct(V).array() < 0).cast<double>().mean();
  }
  return wrong;
}
/// E (elu(x) + 1)^k for a standard normal x and k <= 4.
double elu_moment(int k) {
  const double root = 1 / std::sqrt(2 * std::numbers::pi);
  const double half[] = {0.5, root, 0.5, 2 * root, 1.5};
  double sum = std::exp(k * k / 2.0) * std::erfc(k / std::sqrt(2.0)) / 2;
  double choose = 1;
  for (int i = 0; i <= k; ++i) {
    sum += choose * half[i];
    choose = choose * (k - i) / (i + 1);
  }
  return sum;
}
/// Probability that a sign is wrong as m -> infinity, and what m features
/// may add to or take from it; x[k] is the k-th moment of a feature, and
/// there are `others` tokens beside the one asked for.
std::pair<double, double> crosstalk_of_means(const double* x, Index m,
                                             int others) {
  double limit = 0, slack = 0, chance = std::exp2(-others);
  for (int k = 0; k <= others; ++k) {
    const double S = 2 * k - others, delta = x[2] + x[1] * x[1] * S;
    const double square = others * (x[2] - x[1] * x[1]) + S * S * x[1] * x[1];
    const double var = (x[4] + 2 * x[3] * S * x[1] + x[2] * square -
                        delta * delta) / double(m);
    limit += delta < 0 ? chance : 0;
    slack += chance * var / (var + delta * delta);
    chance = chance * (others - k) / (k + 1);
  }
  return {limit, slack};
}
BOOST_AUTO_TEST_CASE(features_with_a_mean) {
  double x[5], c[5] = {1, 0, 0, 0, 0};
  for (int k = 0; k <= 4; ++k) x[k] = elu_moment(k);
  const double mu = x[1];
  c[2] = x[2] - mu * mu;
  c[3] = x[3] - 3 * x[2] * mu + 2 * mu * mu * mu;
  c[4] = x[4] - 4 * x[3] * mu + 6 * x[2] * mu * mu - 3 * std::pow(mu, 4);
  fact("limit", crosstalk_of_means(x, 1, 16).first, 2);
  for (const Index m : {64, 256, 1024}) {
    const auto told = [&](const std::string& name, auto features,
                          Index n = 17) {
      const Vector<double> wrong = wrong_signs(n, m, features);
      const double spread = (wrong.array() - wrong.mean()).square().sum();
      if (n == 17) fact(name + "_" + std::to_string(m), wrong.mean(), 2);
      return std::pair{wrong.mean(), 4 * std::sqrt(spread) / 199};
    };

    // hold three kinds of features to their crosstalk
    using M = Matrix<double>;
    const auto coins = told("coins", [](const M& X) { return X.cwiseSign(); });
    verify(worse(0, coins.first - coins.second), hebb_bit_error(m + 1, 17));
    const auto elu = told("elu", [](const M& X) { return elu_features(X); });
    const auto [limit, slack] = crosstalk_of_means(x, m, 16);
    verify(std::abs(elu.first - limit), elu.second + slack);
    const auto odd = told("odd", [](const M& X) { return elu_features(X); }, 16);
    const auto [third, more] = crosstalk_of_means(x, m, 15);
    verify(std::abs(odd.first - third), odd.second + more);
    refute(std::abs(odd.first - 0.5), odd.second + more);
    const auto less = told("centred", [&](const M& X) {
      return M(elu_features(X).array() - mu);
    });
    verify(less.first, less.second + crosstalk_of_means(c, m, 16).second);
  }
}
/// What one wave in the mean answers for keys X and values V (M x d_v),
/// times the value asked for, and the variance of that.
std::array<Matrix<double>, 2> answers_of_waves(const Matrix<double>& X,
                                               const Matrix<double>& V) {
  const Matrix<double> G = gaussian_kernel(X, X);
  Matrix<double> delta(V.rows(), V.cols()), var = delta;
  for (Index i = 0; i < X.rows(); ++i) {
    const Matrix<double> Y = X.rowwise() - X.row(i);
    const Matrix<double> square = G + gaussian_kernel(Y, -Y) / 2;
    for (Index c = 0; c < V.cols(); ++c) {
      const Vector<double> u = V.col(c) * V(i, c);
      delta(i, c) = u.dot(G.col(i));
      var(i, c) = u.dot(square * u) - delta(i, c) * delta(i, c);
    }
  }
  return {delta, var};
}
BOOST_AUTO_TEST_CASE(features_of_a_plane) {
  const double root = std::sqrt(2.0);
  for (const Index m : {64, 1024}) {
    Vector<double> wrong(200), kernel(200), slack(200), off(200);
    for (Index r = 0; r < 200; ++r) {
      const auto seed = std::uint64_t(r);
      const Matrix<double> X = gaussian<double>(17, 2, seed, "keys");
      const Matrix<double> V = signs(17, 4, seed, "values");
      const Matrix<double> W = gaussian<double>(m, 2, seed, "waves");
      Matrix<double> P = X * W.transpose();
      P.rowwise() += M_PI * uniform<double>(1, m, seed, "phases").row(0);
      P = root * P.array().cos();
      const Matrix<double> told = P * memorise(P, V).leftCols(4);
      const Matrix<double> answer = told.cwiseProduct(V) / double(m);

      // compare the answers of waves with the kernel's
      const auto [delta, one] = answers_of_waves(X, V);
      const Matrix<double> var = one / double(m);
      const Matrix<double> square = delta.cwiseAbs2();
      wrong(r) = double((answer.array() < 0).count()) / 68;
      kernel(r) = double((delta.array() < 0).count()) / 68;
      slack(r) = var.cwiseQuotient(var + square).mean();
      off(r) = (answer - delta).cwiseAbs2().cwiseQuotient(var).mean();
    }

    // hold the waves to their kernel
    const Vector<double> gap = wrong - kernel;
    const double spread = (gap.array() - gap.mean()).square().sum();
    verify(std::abs(gap.mean()), 4 * std::sqrt(spread) / 199 + slack.mean());
    const double error =
        4 * std::sqrt((off.array() - off.mean()).square().sum()) / 199;
    verify(std::abs(off.mean() - 1), error);
    refute(std::abs(off.mean() / 2 - 1), error);
    refute(std::abs(off.mean() * 2 - 1), error);
    refute(wrong.mean(), hebb_bit_error(m + 1, 17) + 0.1);
    fact("waves_" + std::to_string(m), wrong.mean(), 2);
    if (m == 64) fact("kernel", kernel.mean(), 2);
  }
}

// check the letters
BOOST_AUTO_TEST_CASE(letters_are_retrieved) {
  const Matrix<double> K = glyphs("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const Matrix<double> W = hebb_sums(K);
  int modern = 0, classical = 0, fixed = 0, tried = 0, nearest = 0, tied = 0;
  for (Index i = 0; i < 26; ++i) {
    const Vector<double> k = K.row(i).transpose();
    fixed += synchronous_update(W, k) == k;
    for (std::uint64_t seed = 1; seed <= 20; ++seed, ++tried) {
      // ask both memories for letter $i$
      const Matrix<double> cue =
          damaged(k.transpose(), 0.3, 432, seed + 100 * std::uint64_t(i));
      const Vector<double> x = hopfield_update(cue, K, 1.0).row(0);
      Vector<double> s = K * cue.row(0).transpose();
      const double own = std::exchange(s(i), -1e9);
      nearest += own > s.maxCoeff();
      tied += own == s.maxCoeff();
      const int read = x.cwiseSign() == k;
      if (own - s.maxCoeff() > std::log(50)) verify(1 - read, 0);
      modern += read;
      classical += settle(W, Vector<double>(cue.row(0)), seed).x == k;
    }
  }

  // record what the memories answered
  fact("random", 1 - 432 * std::exp(-431 / 50.0), 2);
  for (const auto& [name, count] :
       {std::pair{"fixed", fixed}, {"modern", modern},
        {"classical", classical}, {"tried", tried}, {"nearest", nearest},
        {"tied", tied}})
    fact(name, count);
}
BOOST_AUTO_TEST_CASE(strokes_measure_distance) {
  const double u = unit_roundoff<double>();
  verify(std::abs(detail::segment_distance(1, 1, 0, 0, 2, 0) - 1), 0);
  verify(std::abs(detail::segment_distance(5, 4, 0, 0, 2, 0) - 5), 4 * u);
  verify(std::abs(detail::segment_distance(-3, 4, 0, 0, 0, 0) - 5), 4 * u);
  verify(std::abs(detail::ink_distance("060040", 1, 3) - 1), 0);
  verify(std::abs(detail::ink_distance("060040", 3, 1) - 1), 0);
  verify(std::abs(detail::ink_distance("0004 4044", 2, 1) - 2), 0);
}
BOOST_AUTO_TEST_CASE(damage_is_as_ordered) {
  const RowVector<double> x = RowVector<double>::Ones(4000);
  for (const double p : {0.1, 0.5, 0.9}) {
    const double turned = (1 - damaged(x, p, 4000, 7).mean()) / 2;
    verify(std::abs(turned - p), 4 * std::sqrt(p * (1 - p) / 4000));
  }
  const double coins = damaged(x, 0.5, 4000, 7).dot(damaged(x, 0, 0, 7));
  verify(std::abs(coins), 4 * std::sqrt(4000.0));
  const RowVector<double> half = damaged(x, 0, 1000, 7);
  verify((half.head(1000).array() - 1).abs().sum(), 0);
  verify(std::abs(half.tail(3000).mean()), 4 / std::sqrt(3000.0));
  double sum = 0;  // of the very entry from which coins are tossed
  for (std::uint64_t seed = 1; seed <= 64; ++seed)
    sum += damaged(x.head(1), 0, 0, seed)(0);
  verify(std::abs(sum), 4 * 8);
}
BOOST_AUTO_TEST_CASE(letters_are_drawn) {
  for (const Index s : {1, 2, 3, 4}) {
    const RowVector<double> L = glyph('L', s);

    // compare the L with integers
    for (Index i = 0; i < 8 * s; ++i)
      for (Index j = 0; j < 6 * s; ++j) {
        const Index u = 2 * j + 1 - 2 * s, v = 14 * s - 2 * i - 1;
        const auto beyond = [](Index at, Index end) {
          return at - std::clamp(at, Index(0), end);
        };
        const Index up = beyond(v, 12 * s), right = beyond(u, 8 * s);
        const Index d2 = std::min(u * u + up * up, v * v + right * right);
        verify(L(i * 6 * s + j) - (d2 < s * s ? 1 : -1), 0);
      }
  }
}
BOOST_AUTO_TEST_CASE(letters_and_damage) {
  const Matrix<double> K = glyphs("HI", 2);
  BOOST_TEST(K.cols() == 192);
  verify(largest((K.array().abs() - 1).matrix()), 0);
  for (Index i = 0; i < 16; ++i)  // H is its own mirror image
    for (Index j = 0; j < 12; ++j)
      verify(std::abs(K(0, i * 12 + j) - K(0, i * 12 + 11 - j)), 0);
  const RowVector<double> x = glyph('A'), L = glyph('L', 2);
  verify(2 + L(2 * 12 + 9) - L(13 * 12 + 9), 0);  // its foot is below
  verify((damaged(x, 0, 432, 1) - x).norm(), 0);
  verify((damaged(x, 1, 432, 1) + x).norm(), 0);
  BOOST_CHECK_EXCEPTION(glyph('a'), std::invalid_argument,
                        says("glyph: no strokes for 'a'"));
  BOOST_CHECK_EXCEPTION(damaged(x, 2, 0, 1), std::domain_error,
                        says("damaged: p = 2"));
  const Matrix<double> all = glyphs("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  double closest = HUGE_VAL;
  for (Index i = 0; i < 26; ++i)
    for (Index j = 0; j < i; ++j)
      closest = std::min(closest,
                         (all.row(i) - all.row(j)).squaredNorm() / 4);
  fact("closest", closest);
}

// check errata of the classical network
BOOST_AUTO_TEST_CASE(errata_diagonal) {
  int kept = 0, zero = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Matrix<double> K = signs(64, 16, seed);
    const Vector<double> x = signs(1, 16, seed, "x").transpose();
    kept += synchronous_update(hebb(K, Diagonal::kept), x) == x;
    zero += synchronous_update(hebb(K), x) == x;
  }
  fact("kept", kept);
  fact("zero", zero);
  refute(kept - zero, 20);
}
BOOST_AUTO_TEST_CASE(errata_two_cycle) {
  const Matrix<double> K{{1, 1}};
  const Vector<double> x{{1, -1}};
  const Vector<double> k = K.row(0).transpose();
  const Matrix<double> W = hebb(K);
  Vector<double> y = x;
  for (int t = 0; t < 100; ++t) {
    const Vector<double> next = synchronous_update(W, y);
    refute((next - y).norm(), 2);
    refute(std::min((next - k).norm(), (next + k).norm()), 2);
    refute(classical_energy(W, next) - classical_energy(W, k), 1);
    y = next;
  }
  verify((y - x).norm(), 0);
  const Vector<double> reference = (hebb(K, Diagonal::kept) * x).cwiseSign();
  refute(std::sqrt(2.0) - reference.norm(), std::sqrt(2.0));
  const Settled<double> end = settle(W, x);
  verify(std::min((end.x - k).norm(), (end.x + k).norm()), 0);
}
BOOST_AUTO_TEST_CASE(errata_capacity_of_hebb) {
  const Index d = 512, M = 72;  // 0.14 d
  const Index safe = Index(hebb_capacity(d) / 2);
  double exact = 0, secure = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    exact += stable_fraction(signs(M, d, seed));
    secure += stable_fraction(signs(safe, d, seed));
  }
  exact /= 20;
  secure /= 20;
  fact("patterns", int(20 * M));
  fact("stored", int(M));
  fact("bit", hebb_bit_error(d, M));
  fact("exact", exact);
  fact("safe", secure);
  fact("free", int(hebb_capacity(d)));
  refute(1 - exact, 0.7);
  verify(std::abs(hebb_capacity(2) * std::numbers::ln2 - 1), 0x1p-52);
  BOOST_CHECK_EXCEPTION(hebb_capacity(1), std::invalid_argument,
                        says("hebb_capacity: d = 1"));
  verify(std::abs(hebb_capacity(d) * 18 * std::numbers::ln2 - 512),
         4 * 512 * unit_roundoff<double>());
}

// check answers on the classical network
BOOST_AUTO_TEST_CASE(answer_mixture) {
  Matrix<double> K(3, 8);
  for (Index a = 0; a < 8; ++a)
    for (Index j = 0; j < 3; ++j) K(j, a) = (a >> j) & 1 ? 1 : -1;
  const Vector<double> x = K.colwise().sum().transpose().cwiseSign();
  verify(((K * x) / 8 - Vector<double>::Constant(3, 0.5)).norm(), 0);
  const Matrix<double> W = hebb(K, Diagonal::kept);
  verify(std::abs(classical_energy(W, x) + 3), 0);
  verify(std::abs(classical_energy(W, Vector<double>(K.row(0))) + 4), 0);
}
BOOST_AUTO_TEST_CASE(answer_noise) {
  const Matrix<double> K = signs(1000, 64, 1);
  for (const int percent : {10, 25, 40}) {
    int right = 0;
    for (Index i = 0; i < 100; ++i) {
      const Matrix<double> cue = damaged(
          K.row(i), percent / 100.0, 64, std::uint64_t(i + 1));
      const bool read =
          hopfield_update(cue, K, 1.0).row(0).cwiseSign() == K.row(i);
      Vector<double> s = K * cue.row(0).transpose();
      const double own = std::exchange(s(i), -1e9);
      if (own - s.maxCoeff() > std::log(2 * 999.0))
        verify(read ? 0 : 1, 0);
      right += read;
    }
    fact("p" + std::to_string(percent), right / 100.0);
  }
}
BOOST_AUTO_TEST_CASE(answer_ties) {
  for (Index M = 1; M <= 4; ++M)
    for (const Index d : {3, 4, 6, 7}) {
      Index ties = 0;
      for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Matrix<double> W = hebb_sums(signs(M, d, seed, "K"));
        const Vector<double> x = signs(1, d, seed, "x").transpose();
        ties += (Vector<double>(W * x).array() == 0).count();
      }
      BOOST_TEST((ties == 0) == (M % 2 == 1 && d % 2 == 0));
    }
}
BOOST_AUTO_TEST_CASE(answer_projection) {
  const Matrix<double> K = glyphs("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const Eigen::MatrixXd gram = K * K.transpose();
  Matrix<double> W = K.transpose() * gram.ldlt().solve(Eigen::MatrixXd(K));
  const double off = distance(times(K, W), K);
  verify(off + W.diagonal().maxCoeff(), 1);
  W.diagonal().setZero();
  int right = 0;
  for (Index i = 0; i < 26; ++i) {
    const Vector<double> k = K.row(i).transpose();
    verify((synchronous_update(W, k) - k).norm(), 0);
    const Vector<double> cue =
        damaged(k.transpose(), 0.3, 432, 100 * std::uint64_t(i) + 1)
            .transpose();
    right += settle(W, cue).x == k;
  }
  fact("right", right);
}
BOOST_AUTO_TEST_CASE(answer_all_fixed) {
  for (const double epsilon : {0.1, 0.3, 0.5})
    for (const Index d : {32, 128, 512, 2048}) {
      const double n = double(d);
      const double most = (1 - epsilon) * (n - 1) / (4 * std::log(n));
      const Index M = 1 + Index(most);
      verify(n * double(M) * hebb_bit_error(d, M),
             std::pow(n, -2 * epsilon / (1 - epsilon)));
    }
}
Vector<double> power_update(const Matrix<double>& K,
                            const Vector<double>& x, int n) {
  const Vector<double> o = K * x;
  Vector<double> y(x.size());
  for (Index a = 0; a < x.size(); ++a) {
    double field = 0;
    for (Index j = 0; j < K.rows(); ++j) {
      const double h = o(j) - K(j, a) * x(a);
      double up = 1, dn = 1;
      for (int k = 0; k < n; ++k) up *= h + K(j, a), dn *= h - K(j, a);
      field += up - dn;
    }
    y(a) = detail::follow(field, x(a));
  }
  return y;
}
BOOST_AUTO_TEST_CASE(answer_dense) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<double> K = signs(64, 64, seed, "K");
    const Vector<double> x = signs(1, 64, seed, "x").transpose();
    verify((power_update(K, x, 2) - synchronous_update(hebb(K), x)).norm(),
           0);
  }
  const auto fixed = [](Index M, int n) {  // of a hundred first patterns
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const Matrix<double> K = signs(M, 64, seed, "K");
      const Vector<double> k = K.row(0).transpose();
      count += power_update(K, k, n) == k;
    }
    return count;
  };
  for (const int n : {2, 4}) {
    // predict how many patterns are fixed half of the time
    double square = 0;
    for (int up = 0; up <= 63; ++up) {
      const double h = 2 * up - 63, p = std::lgamma(64) - std::lgamma(up + 1) -
                                        std::lgamma(64 - up);
      square += std::exp(p - 63 * std::numbers::ln2) *
                std::pow(std::pow(h + 1, n) - std::pow(h - 1, n), 2);
    }
    const double signal = std::pow(64, n) - std::pow(62, n);
    const double guess = 1 + signal * signal / square / (2.30 * 2.30);
    fact("guess" + std::to_string(n), std::round(guess));

    // count how many patterns are fixed half of the time
    Index half = Index(0.9 * guess);
    int left = fixed(half, n);
    BOOST_TEST(left > 50);
    while (left >= 50) left = fixed(half += 1 + half / 20, n);
    fact("half" + std::to_string(n), half);
    verify(std::abs(double(half) / guess - 1), 0.25);
    refute(50 - fixed(half, n - 1), 40);
    refute(fixed(half, n + 1) - 50, 40);
  }
}
BOOST_AUTO_TEST_SUITE_END()
