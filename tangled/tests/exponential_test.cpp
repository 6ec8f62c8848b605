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
RowVector<quad> by_powers_of_ten(const RowVector<quad>& s) {
  RowVector<quad> v = s;
  for (quad& x : v) x = pow(quad(10), x);
  return v / v.sum();
}
/// How far the weights of s are from what the odds of (1, 0) predict.
double surprise(Rule P, const RowVector<quad>& s) {
  const RowVector<quad> two = P(lift<quad>(RowVector<double>{{1, 0}}));
  return distance(P(s), weights_at(s, log(two(0) / two(1))));
}
BOOST_AUTO_TEST_CASE(two_keys_tell_all) {
  double own_scale = 0, softplus = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = Index(2 + seed % 9);
    const RowVector<quad> s = gaussian<quad>(1, n, seed, "scores");
    for (Rule P : {by_exponential, by_powers_of_ten, by_softmin})
      verify(surprise(P, s), roundings(400));
    own_scale = std::max(own_scale, surprise(by_own_scale, s));
    softplus = std::max(softplus, surprise(by_softplus, s));
    for (Index j = 1; j < n; ++j)
      BOOST_TEST(((s(j) > s(0)) ==
                  (by_exponential(s)(j) > by_exponential(s)(0))));
  }
  refute(own_scale, 0.05);
  refute(softplus, 0.05);
}

// integrate over the largest noisy score
/// The noise of one key: its density and its distribution function.
struct Noise {
  quad (*density)(const quad&), (*below)(const quad&);
};
/// A number by quadrature, and its error.
struct Integral {
  quad value;
  double error;
};
/// E [J = k] f(M), where |f| <= 1.
template <class F>
Integral key_wins(const RowVector<quad>& s, Index k,
                  const std::vector<Noise>& noise, F f) {
  const double h = 1 / 16.0;
  Integral y{quad(0), 1e-34};
  for (double t = -85; t <= 85; t += h) {
    quad p = h * noise[std::size_t(k)].density(quad(t - s(k)));
    double lost = 4;
    for (Index j = 0; j < s.size(); ++j) {
      if (j != k) p *= noise[std::size_t(j)].below(quad(t - s(j)));
      lost += (std::abs(t) + to_double(abs(s(j))) + 4) *
              (1 + std::exp(-t + to_double(s(j))));
    }
    y.value += p * f(quad(t));
    y.error += to_double(p) * (lost + 3300) * 0x1p-113;
  }
  return y;
}

// check the law of the largest score
const Noise gumbel_noise{
    [](const quad& y) { return quad(exp(-y - exp(-y))); },
    [](const quad& y) { return quad(exp(-exp(-y))); }};
const auto always = [](const quad&) { return quad(1); };

BOOST_AUTO_TEST_CASE(largest_noisy_score) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Index n = Index(1 + seed % 5);
    const RowVector<quad> s = gaussian<quad>(1, n, seed);
    const std::vector<Noise> noise(std::size_t(n), gumbel_noise);
    const Matrix<quad> A = attn::gibbs(s);
    for (Index k = 0; k < n; ++k) {
      const Integral p = key_wins(s, k, noise, always);
      verify(distance(p.value, A(k)), p.error + bounds<quad>(s, 1).A(k));
    }
  }
}
struct Wave {
  Integral cosine, sine;
};
Wave wave(const RowVector<quad>& s, Index k, const quad& omega) {
  const std::vector<Noise> noise(std::size_t(s.size()), gumbel_noise);
  const auto c = [&](const quad& t) { return quad(cos(omega * t)); };
  const auto d = [&](const quad& t) { return quad(sin(omega * t)); };
  return {key_wins(s, k, noise, c), key_wins(s, k, noise, d)};
}
BOOST_AUTO_TEST_CASE(law_of_winner_and_value) {
  const quad T(0.8);
  for (const double omega : {1.0, 3.0}) {
    const Wave G = wave(RowVector<quad>::Zero(1), 0, omega * T);
    const quad c = G.cosine.value, d = G.sine.value;
    const quad x = acos(quad(-1)) * omega * T;
    verify(distance(c * c + d * d, x / sinh(x)),
           2 * (G.cosine.error + G.sine.error) + roundings(40));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const RowVector<quad> s = gaussian<quad>(1, Index(1 + seed), seed);
      const Bounds b = bounds<quad>(s, to_double(T));
      const quad phase = omega * T * log_partition(s, T)(0);

      // compare the wave of each key with the product
      const RowVector<quad> A = attn::gibbs(s, T);
      for (Index k = 0; k < s.size(); ++k) {
        const Wave w = wave(s / T, k, omega * T);
        const double error = w.cosine.error + 2 * G.cosine.error +
                             b.A(k) + omega * b.logZ + roundings(40);
        verify(distance(w.cosine.value, A(k) * (cos(phase) * c - sin(phase) * d)),
               error);
        verify(distance(w.sine.value, A(k) * (sin(phase) * c + cos(phase) * d)),
               error);
      }
    }
  }
}
const Noise reversed_noise{
    [](const quad& y) { return quad(exp(y - exp(y))); },
    [](const quad& y) { return quad(-expm1(-exp(y))); }};
const Noise normal_noise{
    [](const quad& y) {
      return quad(sqrt(3 / quad(M_PI * M_PI * M_PI)) *
                  exp(-3 * y * y / quad(M_PI * M_PI)));
    },
    [](const quad& y) {
      return quad((1 + erf(sqrt(quad(3)) / quad(M_PI) * y)) / 2);
    }};
double far_from_softmax(const std::vector<Noise>& noise) {
  double worst = 0;
  for (Index k = 0; k < 3; ++k) {
    RowVector<quad> s = RowVector<quad>::Zero(3);
    s(k) = quad(1);
    const quad chance = key_wins(s, k, noise, always).value;
    worst = worse(worst, distance(chance, attn::gibbs(s)(k)));
  }
  return worst;
}
BOOST_AUTO_TEST_CASE(only_three_gumbels) {
  const Noise kind[] = {gumbel_noise, reversed_noise, normal_noise};
  for (int a = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b)
      for (int c = b; c < 3; ++c) {
        const double far = far_from_softmax({kind[a], kind[b], kind[c]});
        if (c == 0) verify(far, roundings(1e4));
        else refute(far, 0.005);
      }
}
BOOST_AUTO_TEST_CASE(reversed_noise_fails_at_three) {
  const std::vector<Noise> noise(3, reversed_noise);
  const RowVector<quad> s = lift<quad>(RowVector<double>{{1, 0, 0}});
  const RowVector<quad> two = s.head(2);
  const quad pair = key_wins(two, 0, noise, always).value;
  const quad three = key_wins(s, 0, noise, always).value;
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
    const RowVector<quad> s = gaussian<quad>(1, n, seed, "scores");
    RowVector<quad> r = gaussian<quad>(1, n, seed, "others");
    if (seed % 2 == 0) r(0) = quad(-inf);
    const RowVector<quad> q = attn::gibbs(r);
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
BOOST_AUTO_TEST_CASE(mean_rises_from_end_to_end) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RowVector<quad> s = gaussian<quad>(1, 6, seed);
    const quad top = s.maxCoeff() + quad(0.25);
    const quad bottom = s.minCoeff() - quad(0.25);
    s(0) = s(1) = top, s(2) = bottom;
    quad before = bottom;
    for (double x = -12; x <= 12; x += 0.5) {
      const quad beta(std::copysign(std::exp2(std::abs(x)) - 1, x));
      const quad mean = cumulants<1>(s, beta)[1];
      BOOST_TEST((before < mean || (abs(beta) > 64 && before == mean)));
      before = mean;
    }
    verify(distance(cumulants<1>(s, quad(-4095))[1], bottom), roundings(8));
    verify(distance(before, top), roundings(8));

    // follow the entropy to the ends of its range
    for (const double h : {0x1p-30, 0x1p-60}) {
      const double left = 4 * h * (std::log(1 / h) + 4);
      const quad cold = entropy_of_energy(s, quad(-top + quad(h)));
      const quad hot = entropy_of_energy(s, quad(-bottom - quad(h)));
      BOOST_TEST((cold > log(quad(2)) && hot > 0));
      verify(to_double(cold - log(quad(2))), left);
      verify(to_double(hot), left);
    }
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
  BOOST_CHECK_EXCEPTION(inverse_temperature(RowVector<double>{{1, inf, 0}}, -0.5),
                        std::domain_error, says("score of key 1 is NaN or inf"));
}

// check the probabilities of types
std::vector<RowVector<quad>> laws_of_draws() {
  std::vector<RowVector<quad>> laws;
  for (const RowVector<double>& s :
       {RowVector<double>{{0.5, 0, -1}}, RowVector<double>{{0, 0, 0}},
        RowVector<double>{{1, -0.5}}, RowVector<double>{{0, -inf, 1}},
        RowVector<double>{{2, 0, 0, -1}}})
    laws.push_back(attn::gibbs(lift<quad>(s)));
  return laws;
}
quad probability(const RowVector<quad>& q, const quad& sequences, Index N,
                 const RowVector<quad>& p) {
  quad P = sequences;
  for (Index j = 0; j < p.size(); ++j)
    P *= pow(p(j), quad(double(N)) * q(j));
  return P;
}
BOOST_AUTO_TEST_CASE(probability_of_a_type) {
  for (const RowVector<quad>& p : laws_of_draws())
    for (const Index N : {1, 2, 5, 16, 40}) {
      const double logN = std::log(double(N) + 1);
      double least = 0;
      for_types(p.size(), N, [&](const RowVector<quad>& q, const quad& ways) {
        const quad P = probability(q, ways, N, p), D = kl(q, p)(0);
        BOOST_TEST(((P == 0) == isinf(D)));
        if (P == 0) return;
        const double off = to_double(log(P) + double(N) * D);
        verify(worse(0, off), roundings(1000) * double(N));
        verify(worse(0, -off), double(p.size() - 1) * logN);
        least = std::min(least, off);
      });
      if (N == 40 && p.size() == 3 && p(1) > 0) refute(-least, logN);
    }
}
BOOST_AUTO_TEST_CASE(probability_of_a_set_of_types) {
  for (const RowVector<quad>& p : laws_of_draws())
    for (const Index N : {2, 5, 16, 40})
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        std::mt19937_64 bits(seed);
        const RowVector<quad> normal = gaussian<quad>(1, p.size(), seed);
        quad P(0), D(HUGE_VAL);
        for_types(p.size(), N, [&](const RowVector<quad>& q, const quad& ways) {
          const bool in = seed % 2 ? bits() % 8 == 0
                                   : (q - p).dot(normal) > 0.1 * double(seed);
          if (!in) return;
          P += probability(q, ways, N, p);
          D = std::min(D, kl(q, p)(0));
        });
        if (isinf(D)) BOOST_TEST((P == 0));
        else verify(std::abs(to_double(log(P) + double(N) * D)),
                    double(p.size() - 1) * std::log(double(N) + 1));
      }
}
struct Conditioned {
  bool possible;
  quad divergence, bound;
};
template <class Event>
Conditioned conditioned(const RowVector<quad>& faces, Index N, double mean,
                        Event happens) {
  const Throws given = throws_of_die(faces, N, happens);
  if (given.probability == 0) return {false, quad(0), quad(0)};
  const quad beta = inverse_temperature(faces, quad(-mean));
  const RowVector<quad> A = weights_at(faces, beta);
  const quad n(double(faces.size()));
  return {true, kl(given.fractions, A)(0),
          -log(given.probability) / double(N) - (log(n) - entropy(A)(0))};
}
const RowVector<double> dice[] = {RowVector<double>{{2, 1, 0}},
                                  RowVector<double>{{1, 0}},
                                  RowVector<double>{{3, 1, 0, 0}}};
BOOST_AUTO_TEST_CASE(law_given_the_mean) {
  for (const RowVector<double>& faces : dice)
    for (const double way : {0.25, 0.5, 0.75}) {
      const double mu =
          faces.mean() + way * (faces.maxCoeff() - faces.mean());
      double before = 0;
      for (const Index N : {4, 16, 64}) {
        const Conditioned c = conditioned(
            lift<quad>(faces), N, mu,
            [&](double t) { return t >= mu * double(N); });
        const double bound = to_double(c.bound);
        verify(to_double(c.divergence), bound);
        if (N > 4) verify(bound, before / 2);
        if (N == 64) verify(std::abs(64 * bound - 16 * before -
                                      0.5 * std::log(4.0)), 0.2);
        before = bound;
      }
    }
}
BOOST_AUTO_TEST_CASE(law_given_the_total) {
  for (const RowVector<double>& faces : dice)
    for (const Index N : {1, 2, 5, 16})
      for (double total = 1; total < double(N) * faces(0); ++total) {
        const Conditioned c = conditioned(
            lift<quad>(faces), N, total / double(N),
            [&](double t) { return t == total; });
        if (!c.possible) continue;
        verify(to_double(c.divergence),
               to_double(c.bound) * (1 + 0x1p-50) + roundings(1000));
        if (N == 1) verify(distance(c.bound, c.divergence), roundings(1000));
      }
}

// check the die with three faces
BOOST_AUTO_TEST_CASE(a_die_of_three_faces) {
  const Index N = 200;
  const RowVector<quad> s = lift<quad>(RowVector<double>{{2, 1, 0}});
  const double total = std::round(-double(N) * to_double(
      expected_energy(s, quad(1))(0)));
  const Throws given = throws_of_die(
      s, N, [&](double t) { return t == total; });
  const quad beta = inverse_temperature(s, quad(-total / double(N)));
  const RowVector<quad> A = attn::gibbs(s, quad(1 / beta));
  const double gap = to_double(kl(given.fractions, A)(0));
  const double bound = to_double(-log(given.probability) / double(N) -
                                 (log(quad(3)) - entropy(A)(0)));
  verify(gap, bound);
  const double variance = to_double(cumulants<2>(s, beta)[2]);
  const double throws = double(N);
  verify(std::abs(bound - std::log(2 * M_PI * throws * variance) /
                              (2 * throws)), 1 / (throws * throws));

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
        s, N, [&](double t) { return t == mean * double(N); });
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
