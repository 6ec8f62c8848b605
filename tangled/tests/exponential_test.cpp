// tests/exponential_test.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "printed.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(gibbs)

// write rules of choice
using Rule = RowVector<quad> (*)(const RowVector<quad>&);

inline RowVector<quad> by_exponential(const RowVector<quad>& s) {
  return attn::gibbs(s);
}
inline RowVector<quad> by_own_scale(const RowVector<quad>& s) {
  const quad mean = s.mean();
  const quad square = (s.array() - mean).square().mean();
  return attn::gibbs(s, quad(sqrt(square)));
}
inline RowVector<quad> by_softplus(const RowVector<quad>& s) {
  const RowVector<quad> v = (1 + s.array().exp()).log();
  return v / v.sum();
}
inline RowVector<quad> by_softmin(const RowVector<quad>& s) {
  return attn::gibbs(RowVector<quad>(-s));
}

// check each hypothesis on choice
BOOST_AUTO_TEST_CASE(each_hypothesis_is_needed) {
  const double u = unit_roundoff<quad>();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 5, seed);
    const auto third = [&](Rule P) {
      const RowVector<quad> all = P(s), two = P(s.head(2));
      return to_double(abs(log(all(0) / all(1)) - log(two(0) / two(1))));
    };
    const auto shift = [&](Rule P) {
      const RowVector<quad> moved = s.array() + quad(1);
      return distance(P(moved), P(s));
    };

    // ask each rule both questions
    verify(third(by_exponential), 250 * u);
    verify(shift(by_exponential), 250 * u);
    refute(third(by_own_scale), 1e-3);
    verify(shift(by_own_scale), 1000 * u);
    verify(third(by_softplus), 1000 * u);
    refute(shift(by_softplus), 1e-3);
    verify(third(by_softmin), 250 * u);
    verify(shift(by_softmin), 250 * u);
    BOOST_TEST(((s(0) < s(1)) == (by_softmin(s)(1) < by_softmin(s)(0))));
  }
}
BOOST_AUTO_TEST_CASE(two_keys_tell_all) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = Index(2 + seed % 9);
    const quad T = quad(double(seed)) / 11;
    const RowVector<quad> s = gaussian<quad>(1, n, seed);
    const RowVector<quad> A = attn::gibbs(s, T);
    const RowVector<quad> two =
        attn::gibbs(lift<quad>(RowVector<double>{{1, 0}}), T);
    const quad beta = log(two(0) / two(1));
    verify(distance(A, weights_at(s, beta)),
           roundings(2000) * (1 + 1 / to_double(T)));
    for (Index j = 1; j < n; ++j)
      BOOST_TEST(((s(j) > s(0)) == (A(j) > A(0))));
  }
}

// integrate over the largest noisy score
/// Probability that key k has the largest noisy score, by quadrature, for
/// noise with density g and distribution function G; and its error.
struct Integral {
  quad value;
  double error;
};
template <class Density, class Below>
Integral key_wins(const RowVector<quad>& s, Index k, Density g, Below G) {
  const double h = 0.125;
  Integral y{quad(0), 3e-33};
  for (double t = -85; t <= 85; t += h) {
    quad p = h * g(quad(t - s(k)));
    double lost = 4;
    for (Index j = 0; j < s.size(); ++j) {
      if (j != k) p *= G(quad(t - s(j)));
      lost += (std::abs(t) + to_double(abs(s(j))) + 4) *
              (1 + std::exp(-t + to_double(s(j))));
    }
    y.value += p;
    y.error += to_double(p) * (lost + 1400) * 0x1p-113;
  }
  return y;
}

// check the law of the largest score
quad gumbel_below(const quad& y) { return exp(-exp(-y)); }
quad gumbel_density(const quad& y) { return exp(-y - exp(-y)); }

BOOST_AUTO_TEST_CASE(largest_noisy_score) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Index n = Index(1 + seed % 5);
    RowVector<quad> s = gaussian<quad>(1, n, seed);
    s.array() -= log_partition(s)(0);  // so that log Z is zero
    const Matrix<quad> A = attn::gibbs(s);
    for (Index k = 0; k < n; ++k) {
      const Integral p = key_wins(s, k, gumbel_density, gumbel_below);
      verify(distance(p.value, A(k)), p.error + bounds<quad>(s, 1).A(k));
    }
  }
}
BOOST_AUTO_TEST_CASE(reversed_noise_fails_at_three) {
  const auto below = [](const quad& y) { return quad(-expm1(-exp(y))); };
  const auto density = [](const quad& y) { return quad(exp(y - exp(y))); };
  const RowVector<quad> s = lift<quad>(RowVector<double>{{1, 0, 0}});
  const RowVector<quad> two = s.head(2);
  const quad pair = key_wins(two, 0, density, below).value;
  const quad three = key_wins(s, 0, density, below).value;
  const quad a = exp(quad(-1));
  verify(distance(pair, attn::gibbs(two)(0)), roundings(1e4));
  verify(distance(three, 1 - 2 * a / (a + 1) + a / (a + 2)), roundings(1e4));
  refute(distance(three, attn::gibbs(s)(0)), 0.04);
  fact("reversed", to_double(three));
  fact("softmax", to_double(attn::gibbs(s)(0)));
}
BOOST_AUTO_TEST_CASE(largest_and_where_are_independent) {
  const RowVector<double> s{{1, 0, -0.7}};
  const double T = 0.8, euler = 0.57721566490153286;
  const Index N = 100000;
  const Matrix<double> noisy = s.replicate(N, 1) + T * gumbel<double>(N, 3, 9);
  for (Index k = 0; k < 3; ++k) {
    std::vector<double> won;
    for (Index i = 0; i < N; ++i) {
      Index j;
      const double M = noisy.row(i).maxCoeff(&j);
      if (j == k) won.push_back(M);
    }
    const Eigen::Map<Vector<double>> M(won.data(), std::ssize(won));
    const auto [mean, error] = estimate(M);
    const double psi = T * log_partition(s, T)(0);
    verify(std::abs(mean - psi - euler * T), 6 * error);
    const Vector<double> square = (M.array() - psi - euler * T).square();
    const auto [variance, its_error] = estimate(square);
    verify(std::abs(variance - M_PI * M_PI * T * T / 6), 6 * its_error);
  }
}

// check keys drawn by noise
BOOST_AUTO_TEST_CASE(drawn_keys_have_their_weights) {
  const RowVector<double> s{{2, 1, 0, -inf, -1}};
  const Index N = 200000;
  for (const double T : {0.5, 1.0, 4.0}) {
    const Vector<Index> J = draw_keys(s.replicate(N, 1), 11, T);
    const double epsilon = std::sqrt(std::log(10 / 1e-6) / (2.0 * double(N)));
    for (Index j = 0; j < 5; ++j) {
      const double frequency = double((J.array() == j).count()) / double(N);
      verify(std::abs(frequency - attn::gibbs(s, T)(j)), epsilon);
    }
    const double wrong = double((J.array() == 0).count()) / double(N);
    refute(std::abs(wrong - attn::gibbs(s, std::sqrt(2.0) * T)(0)),
           2 * epsilon);
  }
}
BOOST_AUTO_TEST_CASE(edges_of_drawing) {
  const Matrix<double> s{{1, -inf, 0}, {-inf, -inf, -inf}, {0, inf, 5}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Vector<Index> J = draw_keys(s, seed, 0.5);
    BOOST_TEST(((J(0) == 0 || J(0) == 2) && J(1) == -1 && J(2) == 1));
    BOOST_TEST((J.array() == draw_keys(s, seed, 0.5).array()).all());
  }
  BOOST_TEST(draw_keys(Matrix<double>(0, 3), 1).size() == 0);
  BOOST_TEST(draw_keys(Matrix<double>(2, 0), 1)(1) == -1);
  BOOST_CHECK_EXCEPTION(draw_keys(RowVector<double>{{0, nan}}, 1),
                        std::domain_error, says("score of key 1 is NaN"));
  BOOST_CHECK_EXCEPTION(draw_keys(s, 1, 0.0), std::domain_error,
                        says("draw_keys: temperature"));
  const Matrix<double> G = gumbel<double>(1000, 100, 4);
  verify(-G.minCoeff(), 3.7);
  verify(G.maxCoeff(), 37.5);
}

// check entropy at a given mean
BOOST_AUTO_TEST_CASE(largest_entropy_at_given_mean) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index n = Index(3 + seed % 6);
    const RowVector<quad> s = gaussian<quad>(1, n, seed);
    const RowVector<quad> q =
        attn::gibbs(gaussian<quad>(1, n, seed + 200));
    const quad mu = q.dot(s), beta = inverse_temperature(s, quad(-mu));
    const RowVector<quad> A = weights_at(s, beta);
    const quad gap = entropy(A)(0) - entropy(q)(0);
    verify(distance(A.dot(s), mu), roundings(1000));
    verify(distance(gap, kl(q, A)(0)),
           roundings(2000) * (1 + to_double(abs(beta))));
    BOOST_TEST(gap > 0);
    BOOST_TEST(((beta > 0) == (mu > s.mean())));
  }
}
BOOST_AUTO_TEST_CASE(energy_determines_temperature) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Matrix<double> s = 3 * gaussian<double>(1, 7, seed);
    if (seed % 4 == 0) s(3) = -inf;
    const double beta = 0.15 * (double(seed) - 20.5);
    const auto kappa = cumulants<2>(s, beta);
    const double most = s.array().isFinite().select(s, 0.0)
                            .cwiseAbs().maxCoeff();
    const double slip = (2 * std::abs(beta) * most + 20) * 0x1p-53 * 4 *
                        most / kappa[2];
    verify(std::abs(inverse_temperature(s, -kappa[1]) - beta), slip);
  }

  // find the temperature of frozen rows
  for (const double p : {0.25, 1e-5, 1e-20, 1e-100, 1e-200, 1e-300}) {
    const RowVector<double> cold{{0, -1}}, hot{{1, 0}};
    const double beta = std::log1p(-p) - std::log(p), u = 0x1p-53;
    const double H = -(1 - p) * std::log1p(-p) - p * std::log(p);
    verify(std::abs(inverse_temperature(cold, p) - beta), u * (8 * beta + 30));
    verify(std::abs(inverse_temperature(hot, -p) + beta), u * (8 * beta + 30));
    verify(std::abs(entropy_of_energy(cold, p) / H - 1), u * (8 * beta + 30));
    verify(std::abs(entropy_of_energy(hot, -p) / H - 1), u * (8 * beta + 30));
  }

  // refuse energies that no weights have
  const RowVector<double> s{{2, 1, 0, -inf}};
  verify(std::abs(inverse_temperature(s, -1.0)), 0x1p-52);
  for (const double U : {-2.0, 0.0, 0.1, -3.0, nan})
    BOOST_CHECK_EXCEPTION(inverse_temperature(s, U), std::domain_error,
                          says("is not between -2 and -0"));
  BOOST_CHECK_EXCEPTION(inverse_temperature(Matrix<double>(2, 3), 1.0),
                        std::invalid_argument, says("scores are 2x3"));
  BOOST_CHECK_THROW(inverse_temperature(RowVector<double>{{1, 1}}, -1.0),
                    std::domain_error);
  BOOST_CHECK_EXCEPTION(inverse_temperature(RowVector<double>{{1, 0, nan}}, -0.5),
                        std::domain_error, says("score of key 2 is NaN"));
}

// check the probabilities of types
BOOST_AUTO_TEST_CASE(probability_of_a_type) {
  const RowVector<quad> p =
      attn::gibbs(lift<quad>(RowVector<double>{{0.5, 0, -1}}));
  for (const Index N : {1, 2, 5, 16, 40}) {
    double least = 0;
    for_types(N, [&](const RowVector<quad>& q, const quad& sequences) {
      quad logP = log(sequences);
      for (Index j = 0; j < 3; ++j) logP += double(N) * q(j) * log(p(j));
      const double off = to_double(logP + double(N) * kl(q, p)(0));
      verify(worse(0, off), roundings(1000) * double(N));
      verify(worse(0, -off), 2 * std::log(double(N) + 1));
      least = std::min(least, off);
    });
    if (N == 40) refute(-least, std::log(double(N) + 1));
  }
}
BOOST_AUTO_TEST_CASE(probability_of_a_set_of_types) {
  const RowVector<quad> p = RowVector<quad>::Constant(3, quad(1) / 3);
  for (const Index N : {2, 5, 16, 40, 64})
    for (const double mu : {0.4, 1.2, 1.5, 1.9}) {
      quad D(HUGE_VAL);
      const auto beyond = [&](double t) { return t >= mu * double(N); };
      for_types(N, [&](const RowVector<quad>& q, const quad&) {
        const double total = to_double(2 * q(0) + q(1)) * double(N);
        if (beyond(std::round(total))) D = std::min(D, kl(q, p)(0));
      });
      const quad P = throws_of_die(N, [&](double t) {
        return beyond(t); }).probability;
      const double off = to_double(log(P) + double(N) * D);
      verify(std::abs(off), 2 * std::log(double(N) + 1));
    }
}
BOOST_AUTO_TEST_CASE(law_given_the_mean) {
  const RowVector<quad> s = lift<quad>(RowVector<double>{{2, 1, 0}});
  for (const double mu : {1.25, 1.5, 1.75}) {
    const quad beta = inverse_temperature(s, quad(-mu));
    const RowVector<quad> A = weights_at(s, beta);
    double before = 0;
    for (const Index N : {4, 16, 64, 256}) {
      const Throws given = throws_of_die(
          N, [&](double t) { return t >= mu * double(N); });
      const double bound = to_double(-log(given.probability) / double(N) -
                                     (log(quad(3)) - entropy(A)(0)));
      verify(to_double(kl(given.fractions, A)(0)), bound);
      if (before > 0) verify(bound, before / 2);
      if (N == 256) verify(std::abs(256 * bound - 64 * before -
                                    0.5 * std::log(4.0)), 1 / 8.0);
      before = bound;
    }
  }
}

// check the die with three faces
BOOST_AUTO_TEST_CASE(a_die_of_three_faces) {
  const Index N = 200;
  const RowVector<quad> s = lift<quad>(RowVector<double>{{2, 1, 0}});
  const double total = std::round(-double(N) * to_double(
      expected_energy(s, quad(1))(0)));
  const Throws given = throws_of_die(
      N, [&](double t) { return t == total; });
  const quad beta = inverse_temperature(s, quad(-total / double(N)));
  const RowVector<quad> A = attn::gibbs(s, quad(1 / beta));
  const double gap = to_double(kl(given.fractions, A)(0));
  const double bound = to_double(-log(given.probability) / double(N) -
                                 (log(quad(3)) - entropy(A)(0)));
  verify(gap, bound);

  // note the fractions and the softmax of the die
  const RowVector<quad> one = attn::gibbs(s);
  fact("throws", N);
  fact("total", total);
  for (Index j = 0; j < 3; ++j) {
    fact("a" + std::to_string(2 - j), to_double(given.fractions(j)), 3);
    fact("A" + std::to_string(2 - j), to_double(one(j)), 3);
    verify(distance(given.fractions(j), one(j)), 1e-3);
  }
  fact("kl", gap);
  fact("bound", bound);
}
BOOST_AUTO_TEST_CASE(die_errs_by_a_multiple_of_reciprocal_throws) {
  const RowVector<quad> s = lift<quad>(RowVector<double>{{2, 1, 0}});
  const auto miss = [&](Index N, double mean) {
    const Throws given = throws_of_die(
        N, [&](double t) { return t == mean * double(N); });
    return distance(given.fractions, weights_at(s, inverse_temperature(
                                         s, quad(-mean))));
  };
  double worst = 0;
  for (int total = 42; total < 80; total += 2)
    worst = std::max(worst, miss(40, total / 40.0));
  fact("worst", worst, 2);
  for (const double mean : {1.25, 1.5, 1.75})
    verify(std::abs(miss(80, mean) / miss(160, mean) - 2), 0.1);
}
BOOST_AUTO_TEST_SUITE_END()
