// tests/hopfield_capacity_test.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "memories.hpp"
#include "attn/glyphs.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(hopfield)

// check what has been proved
BOOST_AUTO_TEST_CASE(eight_outvote_one) {
  for (const auto& [k, most] : {std::pair<Index, Index>{1, 7}, {2, 54},
                                {3, 403}})
    for (const Index m : {most, most + 1}) {
      Matrix<double> K = Matrix<double>::Ones(m + 1, 9);
      K.bottomLeftCorner(m, k + 1).setConstant(-1);
      const Vector<double> y =
          exponential_update(K, Vector<double>::Ones(9));
      verify(std::abs(y(0) - (m > most ? -1 : 1)), 0);
      verify(std::abs(y(8) - 1), 0);
    }
}
/// How often noise as in the proof of thm. binary turns over a neuron,
/// with exponents times `power`.
double noise_wins(Index d, Index M, double power, int draws) {
  auto bits = detail::stream(std::uint64_t(d), "noise");
  const std::uint64_t mask = (std::uint64_t(1) << (d - 1)) - 1;
  int wrong = 0;
  for (int k = 0; k < draws; ++k) {
    double sum = 1;  // in units of e^(d - 1)
    for (Index j = 1; j < M; ++j) {
      const std::uint64_t coins = bits();
      const double w = std::exp(-2 * power * std::popcount(coins & mask));
      sum += coins >> 63 ? w : -w;
    }
    wrong += sum < 0;
  }
  return double(wrong) / draws;
}
BOOST_AUTO_TEST_CASE(binary_patterns_within_bound) {
  for (const Index d : {8, 10, 12}) {
    const Index M = Index(1) << (d / 2), networks = 600;
    double lost = 0;
    Vector<double> wrong = Vector<double>::Zero(networks);
    for (Index r = 0; r < networks; ++r) {
      const Matrix<double> K = signs(M, d, std::uint64_t(r));
      for (Index j = 0; j < M; ++j) {
        const Vector<double> k = K.row(j).transpose();
        const Vector<double> off = exponential_update(K, k) - k;
        const double turned = double((off.array() != 0).count());
        wrong(r) += turned / double(M * d);
        lost += turned > 0 ? 1 / double(M * networks) : 0;
      }
    }

    // compare lost patterns and wrong neurons with the theorem
    const double bound = double(d) / 2 * double(M - 1) *
                         std::pow((1 + std::exp(-4.0)) / 2, double(d - 1));
    fact("lost" + std::to_string(d), lost);
    verify(worse(0, lost - 4 * std::sqrt(lost / double(networks))), bound);
    const int draws = 100000;
    const double p = noise_wins(d, M, 1, draws), mean = wrong.mean();
    const double spread = (wrong.array() - mean).square().sum() /
                          double(networks * (networks - 1));
    const double error = 4 * std::sqrt(spread + p / draws);
    verify(std::abs(mean - p), error);
    const double half = noise_wins(d, M, 0.5, draws);
    refute(std::abs(mean - half), error);
    verify(double(d) * half, bound);  // which the bound would not have seen
  }
}
BOOST_AUTO_TEST_CASE(exponential_update_lowers_its_energy) {
  const auto energy = [](const Matrix<double>& K, const Vector<double>& x) {
    return -(K * x).array().exp().sum();
  };
  int ties = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Index d = Index(1 + seed % 9), M = Index(1 + seed % 10);
    const Matrix<double> K = signs(M, d, seed);
    const Vector<double> x = signs(1, d, seed, "x").transpose();
    const Vector<double> y = exponential_update(K, x);
    for (Index a = 0; a < d; ++a) {
      Vector<double> up = x, dn = x;
      up(a) = 1;
      dn(a) = -1;
      const double gain = energy(K, dn) - energy(K, up);

      // hold neuron $a$ to the energies or to a tie
      std::map<int, int> votes;
      for (Index j = 0; j < M; ++j)
        votes[int(K.row(j).dot(x) - K(j, a) * x(a))] += int(K(j, a));
      if (std::ranges::all_of(votes, [](auto& v) { return v.second == 0; })) {
        verify(std::abs(y(a) - x(a)), 0);
        ++ties;
      } else {
        refute(std::abs(gain), 0x1p-46 * std::abs(energy(K, x)));
        verify(std::abs(y(a) - (gain > 0 ? 1 : -1)), 0);
      }
    }
  }
  refute(ties, 1);

  // let weak votes decide where strong ones cancel
  Matrix<double> K = Matrix<double>::Ones(3, 1000);
  K(1, 0) = -1;
  K.row(2).setConstant(-1);
  const Vector<double> one = K.row(0).transpose();
  verify(distance(exponential_update(K, one), K.row(1).transpose()), 0);
  for (const Index m : {96, 97}) {
    Matrix<double> near = Matrix<double>::Ones(13 + m, 2);
    near.topLeftCorner(13, 1).setConstant(-1);
    near.bottomRightCorner(m, 1).setConstant(-1);
    const Vector<double> y = exponential_update(near, Vector<double>::Ones(2));
    verify(std::abs(y(0) - (m == 96 ? -1 : 1)), 0);
  }
}
BOOST_AUTO_TEST_CASE(ramsauer_constants) {
  const double p = 1e-3;
  verify(std::abs(ramsauer_base(20, 3, 1, p) - 3.1546), 5e-5);
  verify(std::abs(ramsauer_base(75, 1, 1, p) - 1.3719), 5e-5);
  verify(std::abs(ramsauer_base(20, 3, 4, p) -
                  ramsauer_base(20, 6, 1, p)), 0);
  const double m20 = std::sqrt(p) * std::pow(3.1546, 4.75);
  verify(std::abs(ramsauer_guarantee(20, 3, 1, p) / m20 - 1),
         4.75 * 5e-5 / 3.1546);

  // try the proviso from both sides
  Index first = 0;
  for (Index d = 2; d <= 150; ++d) {
    const double n = double(d), most = ramsauer_guarantee(n, 1, 1, p);
    const bool met = ramsauer_base(n, 1, 1, p) >=
                     std::pow(2 / std::sqrt(p), 4 / (n - 1));
    if (met) verify(2, most);
    else verify(most, 0);
    if (met && first == 0) first = d;
    BOOST_TEST((met || first == 0));
  }
  BOOST_TEST((2 < first && first < 150));
  fact("first", first);
  fact("c20", ramsauer_base(20, 3, 1, p), 5);
  fact("c75", ramsauer_base(75, 1, 1, p), 5);
  fact("m20", ramsauer_guarantee(20, 3, 1, p), 2);
  fact("m75", ramsauer_guarantee(75, 1, 1, p), 2);
  fact("e20", std::exp(10.0), 2);
  fact("e75", std::exp(37.5), 2);
  refute(std::exp(10.0) / ramsauer_guarantee(20, 3, 1, p), 1000);
  refute(std::exp(37.5) / ramsauer_guarantee(75, 1, 1, p), 1e12);
  for (const double x : {0.0, 1e-3, 1.0, 50.0, 1e5})
    verify(std::abs(lambert_w(x) * std::exp(lambert_w(x)) - x), 0x1p-46 * x);
  for (const double x : {1e6, 1e100, 1e306, 1.7e308}) {
    const double w = lambert_w(x);  // where w e^w itself may overflow
    verify(std::abs(w + std::log(w) - std::log(x)), 8 * 0x1p-53 * w);
  }
}

// check the odds
BOOST_AUTO_TEST_CASE(mean_odds) {
  for (const double d : {16.0, 36.0, 64.0, 100.0})
    for (const double lambda : {0.5, 1.0, 1.2}) {
      const double beta = lambda / std::sqrt(d), M = 200, rows = 400;
      Vector<double> odds(400);
      for (Index k = 0; k < 400; ++k)
        odds(k) = draw_odds(M, d, beta, std::uint64_t(k) +
                                            1000 * std::uint64_t(d));
      const double e = std::exp(-beta * d + lambda * lambda / 2);
      const double variance =
          (M - 1) * e * e * std::expm1(lambda * lambda);
      verify(std::abs(odds.mean() - (M - 1) * e),
             4 * std::sqrt(variance / rows));

      // hold the spread of the odds to their variance
      const double spread =
          (odds.array() - odds.mean()).square().sum() / (rows - 1);
      const double l = std::exp(lambda * lambda);
      const double excess = (l * l * l * l + 2 * l * l * l + 3 * l * l - 6) /
                            (M - 1);
      verify(std::abs(spread / variance - 1),
             4 * std::sqrt((2 + excess) / rows));
    }
}
BOOST_AUTO_TEST_CASE(odds_concentrate) {
  for (const double x : {1.0, 2.0}) {
    const double d = 64, M = 800, beta = 1 / std::sqrt(d), rows = 400;
    const double mean = (M - 1) * std::exp(-std::sqrt(d) + 0.5);
    const double t = x * std::sqrt(std::expm1(1.0) / (M - 1));
    double far = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed)
      far += std::abs(draw_odds(M, d, beta, seed) / mean - 1) >= t;
    verify(far, rows / (x * x));
    const auto off = [&](double y) {  // from a normal tail beyond y
      return std::abs(far / rows - std::erfc(y / std::sqrt(2.0)));
    };
    const double p = std::erfc(x / std::sqrt(2.0));
    const double error = 4 * std::sqrt(p * (1 - p) / rows) + 0.01;
    verify(off(x), error);
    refute(off(x / std::sqrt(2.0)), error);  // twice the variance
  }
}
/// Mean of A_1 over rows with r^2 = d and beta = 1/sqrt d, the prediction
/// 1/(1 + M/M_c), and four standard errors with the curvature of 1/(1 + o).
struct OwnWeight {
  double mean, predicted, error;
};
inline OwnWeight own_weight(double M, double d, int rows,
                            double Mc, double s2 = 1) {
  const double o = (M - 1) / Mc;
  double mean = 0;
  for (int k = 1; k <= rows; ++k)
    mean += 1 / (1 + draw_odds(M, d, s2 / std::sqrt(d), std::uint64_t(k)));
  const double relative = std::expm1(s2 * s2) / (M - 1);
  const double slope = o / ((1 + o) * (1 + o));
  const double bent = relative * o * o / std::pow(1 + o, 3);
  return {mean / rows, 1 / (1 + o),
          4 * slope * std::sqrt(relative / rows) + 1.1 * bent};
}
BOOST_AUTO_TEST_CASE(own_weight_at_transformer_scaling) {
  const double Mc = std::exp(head_log_capacity(36));
  for (const double f : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    const OwnWeight own = own_weight(std::floor(f * Mc), 36, 300, Mc);
    verify(std::abs(own.mean - own.predicted), own.error);
  }
}
BOOST_AUTO_TEST_CASE(own_weight_of_other_norms) {
  for (const double s2 : {0.8, 1.0, 1.5}) {
    const double Mc = std::exp(6 * s2 - s2 * s2 / 2);  // d = 36
    const OwnWeight own = own_weight(std::floor(Mc), 36, 300, Mc, s2);
    verify(std::abs(own.mean - 0.5), own.error + 1 / Mc);
  }
}
BOOST_AUTO_TEST_CASE(retrieval_of_real_patterns) {
  const Index d = 36, M = Index(std::exp(head_log_capacity(36)));
  const double beta = 1 / std::sqrt(double(d)), m = double(M - 1);
  double wrong = 0, expected = 0, skew = 0, doubled = 0;
  int kept = 0, predicted = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Matrix<double> K = gaussian<double>(M, d, seed, "K");
    const Matrix<double> A = attention(K, K, K).A;
    for (Index i = 0; i < M; ++i, ++tried) {
      const double r2 = K.row(i).squaredNorm(), v = beta * beta * r2;
      const double o = m * std::exp(-beta * r2 + v / 2);
      kept += A(i, i) > 0.5;
      predicted += o < 1;
      wrong += (A(i, i) > 0.5) != (o < 1);
      doubled += (A(i, i) > 0.5) != (2 * o < 1);

      // expect wrong predictions from the spread of the odds
      const double spread = o * std::sqrt(std::expm1(v) / m);
      const double away = std::abs(o - 1) / spread;
      expected += std::erfc(away / std::sqrt(2.0)) / 2;
      if (away < 2)
        skew += (std::exp(v) + 2) * std::sqrt(std::expm1(v) / m) / 6 *
                std::exp(-away * away / 2) / std::sqrt(2 * std::numbers::pi);
    }
  }
  fact("kept", kept);
  fact("predicted", predicted);
  fact("tried", tried);
  const double error = 4 * std::sqrt(expected) + skew;
  verify(std::abs(wrong - expected), error);
  refute(doubled - expected, error);
}
void gaussian_losses(double gamma, double beta) {
  const double M = std::floor(std::exp(20 * gamma)), rows = 100;
  double lost = 0, least = 0, most = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const double r2 = gaussian<double>(20, 1, seed, "r2").squaredNorm();
    const double r = std::sqrt(r2), Q = std::erfc(r * std::sqrt(0.5)) / 2;
    const double tail = std::erfc((beta - 1) * r * std::sqrt(0.5)) / 2;
    lost += draw_odds(M, r2, beta, seed + 77) >= 1;
    least += 1 - std::pow(1 - Q, M - 1);
    const double mean = std::exp(-beta * r2 + beta * beta * r2 / 2) * tail;
    most += std::min(1.0, (M - 1) * (Q + mean));
  }
  verify(worse(0, least - lost), 4 * std::sqrt(least));
  verify(worse(0, lost - most), 4 * std::sqrt(most));
  if (beta == 1)
    fact("kept" + std::to_string(std::lround(10 * gamma)),
         1 - lost / rows, 2);
}
BOOST_AUTO_TEST_CASE(gaussian_threshold) {
  for (const double beta : {0.7, 1.0, 2.0})
    for (const double gamma : {0.2, 0.3, 0.4, 0.5})
      gaussian_losses(gamma, beta);
  gaussian_losses(0.6, 1);
}
BOOST_AUTO_TEST_CASE(odds_of_lower_scores) {
  const double r2 = 20, r = std::sqrt(r2), M = std::floor(std::exp(8));
  for (const double beta : {0.7, 1.0}) {
    const double Phi = std::erfc((beta - 1) * r * std::sqrt(0.5)) / 2;
    const double mean =
        (M - 1) * std::exp(-beta * r2 + beta * beta * r2 / 2) * Phi;
    Vector<double> odds(400);
    for (Index k = 0; k < 400; ++k)
      odds(k) = draw_odds(M, r2, beta, std::uint64_t(k) + 5000, r2);
    const double error =
        4 * std::sqrt((odds.array() - odds.mean()).square().sum()) / 400;
    verify(std::abs(odds.mean() - mean), error);
    refute(std::abs(odds.mean() - mean / 2), error);
    refute(std::abs(odds.mean() - mean * 2), error);
  }
}
BOOST_AUTO_TEST_CASE(moment_of_truncated_odds) {
  const double r2 = 4, beta = 0.7, delta = 0.4, draws = 40000;
  Vector<double> square(40000);
  for (Index k = 0; k < 40000; ++k)
    square(k) = std::pow(draw_odds(2, r2, beta, std::uint64_t(k),
                                   (beta + delta) * r2), 2);
  const double x = (beta - delta) * std::sqrt(r2);
  const double moment = std::exp(2 * beta * beta * r2 - 2 * beta * r2) *
                        std::erfc(x * std::sqrt(0.5)) / 2;
  const double error =
      4 * std::sqrt((square.array() - square.mean()).square().sum()) / draws;
  verify(std::abs(square.mean() - moment), error);
  refute(std::abs(square.mean() - moment / 2), error);
}
double log_normal(double x) {
  return std::log(std::erfc(-x * std::sqrt(0.5)) / 2);
}
void cold_limit(double beta, double d) {
  const double r = std::sqrt(d), off = 0.05 * d;
  const double at = gaussian_capacity_rate(beta) * d;  // log M at gamma_c
  const double mean = beta * beta * d / 2 - beta * d;
  verify(std::exp(at - off + log_normal(-r)), std::exp(-0.9 * off));
  verify(std::exp(at - off + mean + log_normal((1 - beta) * r)),
         std::exp(-0.9 * off));
  if (beta >= 1) verify(std::exp(off) / d, std::exp(at + off + log_normal(-r)));

  // follow the truncated odds beyond the threshold
  if (beta < 1) {
    const double gamma = gaussian_capacity_rate(beta) + 0.05;
    const double delta =
        std::min(beta, (gamma - beta * beta / 2) / (2 * beta));
    verify(std::exp(0.9 * off), std::exp(at + off + mean));
    const double variance = -gamma * d + beta * beta * d +
                            log_normal(-(beta - delta) * r);
    const double most = beta * beta - (beta - delta) * (beta - delta) / 2;
    verify(most, gamma);
    if (d > 1000) verify(std::exp(variance), 0.01);
    if (d > 1000) verify(std::exp(log_normal(-delta * r)), 0.05);
  }
}
BOOST_AUTO_TEST_CASE(cold_limits) {
  for (const double beta : {0.2, 0.5, 0.7, 0.8, 0.95, 1.0, 1.5, 2.0})
    for (const double d : {200.0, 500.0, 1200.0}) cold_limit(beta, d);
}
BOOST_AUTO_TEST_CASE(cold_failures) {
  for (const double beta : {0.7, 0.85, 1.0}) {
    double before = 0.5;
    for (const double d : {6.0, 14.0}) {
      const double gamma = gaussian_capacity_rate(beta) + 0.15;
      double lost = 0;
      for (std::uint64_t seed = 1; seed <= 400; ++seed)
        lost += draw_odds(std::exp(gamma * d), d, beta, 9000 + seed) >= 1;
      verify(before, lost / 400);
      before = lost / 400;
    }
  }
}
double sphere_log_mean(double d, double beta) {
  const double nu = d / 2 - 1;
  return std::lgamma(nu + 1) + nu * std::log(2 / (beta * d)) +
         std::log(std::cyl_bessel_i(nu, beta * d));
}
BOOST_AUTO_TEST_CASE(sphere_rate) {
  for (const double beta : {0.5, 1.0, 2.0}) {
    const auto slope = [&](double d) {
      return (sphere_log_mean(2 * d, beta) - sphere_log_mean(d, beta)) / d;
    };
    verify(std::abs(beta - slope(32) - spherical_capacity_rate(beta)),
           std::abs(slope(32) - slope(16)));
  }
}
double sphere_losses(double gamma, double d, double beta) {
  auto bits = detail::stream(std::uint64_t(d), "sphere");
  std::normal_distribution<double> normal;
  std::gamma_distribution<double> rest((d - 1) / 2, 2);
  const double M = std::floor(std::exp(gamma * d));
  double lost = 0;
  for (int row = 0; row < 300; ++row) {
    double odds = 0;
    for (double j = 1; j < M && odds < 1; ++j) {
      const double x = normal(bits);
      const double t = x / std::sqrt(x * x + rest(bits));
      odds += std::exp(-beta * d * (1 - t));
    }
    lost += odds >= 1;
  }
  return lost / 300;
}
BOOST_AUTO_TEST_CASE(sphere_threshold) {
  for (const double beta : {0.5, 1.0, 2.0}) {
    const double rate = spherical_capacity_rate(beta);
    double below = 0.5, above = 0.5;
    for (const double d : {5.0, 10.0}) {
      const double few = sphere_losses(rate - 0.15, d, beta);
      const double many = sphere_losses(rate + 0.15, d, beta);
      verify(few, below);
      verify(above, many);
      below = few, above = many;
    }
  }
  const double gauss = gaussian_capacity_rate(2);
  verify(sphere_losses(gauss, 10, 2), 0.05);
}
BOOST_AUTO_TEST_CASE(sphere_odds) {
  for (const double beta : {0.25, 0.5, 1.0}) {
    const Index d = 8, M = 30, memories = 400;
    Vector<double> odds(memories);
    for (Index m = 0; m < memories; ++m) {
      Matrix<double> K = gaussian<double>(M, d, std::uint64_t(m + 1), "K");
      K.rowwise().normalize();
      K *= std::sqrt(8.0);
      odds(m) = 1 / attn::gibbs(K.topRows(1) * K.transpose(), 1 / beta)(0) -
                1;
    }
    const double mean = odds.mean(), count = double(memories);
    const double spread = (odds.array() - mean).square().sum();
    verify(std::abs(mean - double(M - 1) *
                               std::exp(sphere_log_mean(8, beta) - 8 * beta)),
           4 * std::sqrt(spread / (count - 1) / count));
  }
}
BOOST_AUTO_TEST_CASE(capacity_functions) {
  fact("sphere", spherical_capacity_rate(1), 3);
  fact("head64", std::round(std::exp(head_log_capacity(64))));
  fact("head128", std::round(std::exp(head_log_capacity(128))));
  fact("claim64", std::exp(32.0), 2);
  verify(std::abs(gaussian_capacity_rate(1 / 8.0) * 64 -
                  head_log_capacity(64)),
         8 * unit_roundoff<double>() * head_log_capacity(64));
  verify(std::abs(gaussian_capacity_rate(1.5) - 0.5), 0);
  for (const double beta : {0.1, 0.5, 1.0}) {
    double best = 0;  // the maximum over t on a grid: the curvature is < 4
    const double h = 1e-5;
    for (double t = 0; t < 1; t += h)
      best = std::max(best, beta * t + std::log1p(-t * t) / 2);
    verify(std::abs(spherical_capacity_rate(beta) - beta + best), h * h / 2);
  }

  // evaluate the sphere's rate at all temperatures
  for (const double beta : {1e-8, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e8}) {
    const quad b(beta), t = (sqrt(1 + 4 * b * b) - 1) / (2 * b);
    const quad rate = b - b * t - log1p(-t * t) / 2;
    verify(distance(spherical_capacity_rate(beta), rate),
           8 * 0x1p-53 * to_double(rate));
  }
  for (const double beta : {1e16, 1e160, 1.7e308}) {
    const double rate = (1 + std::log(beta)) / 2;
    verify(std::abs(spherical_capacity_rate(beta) - rate), 4 * 0x1p-53 * rate);
  }

  // weigh patterns of norm one
  double own = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Matrix<double> K = gaussian<double>(24, 16, seed, "K");
    K.rowwise().normalize();
    const Vector<double> A = attn::gibbs(K * K.transpose()).diagonal();
    verify(A.maxCoeff(), 1 / (1 + 23 * std::exp(-2.0)));
    own += A.mean() / 40;
  }
  fact("unit", own, 2);
  refute(0.5 - 1 / (1 + 8 * std::exp(-2.0)), 0.01);
  refute(std::exp(0.21 * std::sqrt(128.0) - (std::pow(1.21, 2) - 1) / 2), 8);
}

// check errata of the modern network
/// The energy without 1/beta in front of its logarithm.
double printed_energy(const Matrix<double>& x, const Matrix<double>& K,
                      double beta) {
  return beta * hopfield_energy(x, K, beta)(0) +
         (1 - beta) * x.squaredNorm() / 2;
}
double printed_slope(const Matrix<double>& x, const Matrix<double>& K,
                     double beta, Index a, double h) {
  Matrix<double> up = x, dn = x;
  up(a) += h;
  dn(a) -= h;
  return (printed_energy(up, K, beta) - printed_energy(dn, K, beta)) /
         (2 * h);
}
BOOST_AUTO_TEST_CASE(errata_energy_without_beta) {
  using Case = std::pair<double, const char*>;
  for (const auto& [beta, name] :
       {Case{0.5, "half"}, Case{2, "two"}, Case{8, "eight"}}) {
    double off = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Matrix<double> K = gaussian<double>(5, 3, seed, "K");
      const Matrix<double> x = gaussian<double>(1, 3, seed, "x");
      const Matrix<double> mean = hopfield_update(x, K, beta);
      const Matrix<double> printed = x - mean;
      for (Index a = 0; a < 3; ++a) {
        const double slope = printed_slope(x, K, beta, a, 0x1p-17);
        const double twice = printed_slope(x, K, beta, a, 0x1p-16);
        off = std::max(off, std::abs(slope - printed(a)));
        const double E = 1 + std::abs(printed_energy(x, K, beta));
        verify(std::abs(slope - (x(a) - beta * mean(a))),
               std::abs(twice - slope) + 64 * E * 0x1p-53 * 0x1p16);
      }
    }
    fact(name, off);
    refute(off, 0.5);
  }
}
BOOST_AUTO_TEST_CASE(errata_transposed_patterns) {
  const Matrix<double> K = gaussian<double>(4, 4, 1, "K");
  const Matrix<double> x = gaussian<double>(1, 4, 1, "x");
  const double ours = hopfield_energy(x, K, 1.0)(0);
  const double printed = hopfield_energy(x, K.transpose(), 1.0)(0);
  fact("off", std::abs(printed - ours));
  refute(std::abs(printed - ours), 0.1);
  const double direct = -std::log((K * x.transpose()).array().exp().sum()) +
                        x.squaredNorm() / 2;
  verify(std::abs(ours - direct), 0x1p-48);
  BOOST_CHECK_EXCEPTION(hopfield_update(x, K.topRows(3).transpose(), 1.0),
                        std::invalid_argument,
                        says("hopfield_update: states are 1x4 but "
                             "patterns are 4x3"));
}
BOOST_AUTO_TEST_CASE(errata_descent_and_alignment) {
  const Matrix<double> K = Matrix<double>::Identity(3, 3);
  const auto end = [&](double beta) {
    return (hopfield_retrieve(K.topRows(1), K, beta, 4000, 1e-12).X - K.row(0))
        .norm();
  };
  fact("two", end(2));
  fact("four", end(4));
  fact("ten", end(10));
  refute(end(2), 0.8);
  verify(std::abs(end(2) - std::sqrt(2.0 / 3)), 4e-12);
  verify(end(10), basin(K, 0, 10).rate * basin(K, 0, 10).radius);
}
BOOST_AUTO_TEST_CASE(errata_capacity_claim) {
  const double Mc = std::exp(head_log_capacity(16));
  const OwnWeight printed = own_weight(std::floor(std::exp(8)), 16, 60, Mc);
  const OwnWeight ours = own_weight(std::floor(std::exp(3.5)), 16, 60, Mc);
  fact("printed", printed.mean, 2);
  fact("ours", ours.mean, 2);
  refute(0.5 - printed.mean, 0.4);
  verify(std::abs(ours.mean - ours.predicted), ours.error);
}
BOOST_AUTO_TEST_CASE(errata_number_of_keys) {
  RowVector<double> s = RowVector<double>::Zero(1000);
  s(0) = 1;
  const RowVector<double> A = attn::gibbs(s, 0.2);
  fact("top", A(0));
  fact("other", A(1), 2);
  fact("printed", std::exp(-5.0), 2);
  refute(1 - A(0), 0.8);
  verify(std::abs(A(0) - 1 / (1 + 999 * std::exp(-5.0))), 0x1p-53 * 1020);
  const double enough = std::log(999 * 0.99 / 0.01);
  verify(std::abs(1 - attn::gibbs(s, 1 / enough)(0) - 0.01),
         0x1p-53 * 1100);
}

// check edges of the memory
BOOST_AUTO_TEST_CASE(edges_of_a_memory) {
  const Matrix<double> none(0, 3), x = gaussian<double>(2, 3, 1, "x");
  verify(hopfield_update(x, none, 1.0).norm(), 0);
  const auto lost = hopfield_retrieve(x, none, 1.0);
  verify(lost.X.norm() + lost.tolerance, 0);
  BOOST_TEST(hopfield_energy(x, none, 1.0)(1) == HUGE_VAL);
  const Matrix<double> one = gaussian<double>(1, 3, 1, "one");
  for (const double beta : {1e-3, 1.0, 1e6})
    verify((hopfield_update(x, one, beta).rowwise() - one.row(0)).norm(), 0);
  BOOST_TEST((basin(one, 0, 1.0).kept() && !Basin{1, 1, 1, 1}.kept()));
  verify(basin(Matrix<double>{{0}, {0.5}}, 0, 1.0).radius - 2, 0);
  for (const double beta : {0.0, -1.0, HUGE_VAL, std::nan("")})
    BOOST_CHECK_EXCEPTION(hopfield_update(x, one, beta), std::domain_error,
                          says("hopfield_update: beta"));
  BOOST_CHECK_EXCEPTION(hopfield_update(x, Matrix<double>(2, 4), 1.0),
                        std::invalid_argument, says("2x4"));
  BOOST_CHECK_EXCEPTION(basin(one, 1, 1.0), std::invalid_argument,
                        says("basin: no row 1 in 1x3"));
  BOOST_CHECK_EXCEPTION(
      classical_energy(Matrix<double>(2, 2), Vector<double>(3)),
      std::invalid_argument, says("W is 2x2 but x has 3 entries"));
  BOOST_CHECK_EXCEPTION(
      classical_energy<double>(Matrix<double>(2, 3), Vector<double>(2)),
      std::invalid_argument, says("W is 2x3 but x has 2 entries"));
}
BOOST_AUTO_TEST_CASE(retrieval_stops) {
  const Matrix<double> one{{1, 2}}, x{{5, 5}}, K{{3, 0}, {0, 3}};
  const auto once = hopfield_retrieve(x, one, 1.0);
  BOOST_TEST((once.converged && once.steps == 2));
  verify(distance(once.X, one), 0);
  const auto none = hopfield_retrieve(x, one, 1.0, 0);
  BOOST_TEST((!none.converged && none.steps == 0));
  verify(distance(none.X, x), 0);
  const auto loose = hopfield_retrieve(K, K, 1.0, 100, 1.0);
  BOOST_TEST((loose.converged && loose.steps == 1));
  const Matrix<double> bad{{std::nan(""), 1}};
  BOOST_TEST(!hopfield_retrieve(bad, K, 1.0, 7).converged);
  BOOST_CHECK_EXCEPTION(hopfield_retrieve(x, K, 0.0, 0), std::domain_error,
                        says("hopfield_retrieve: beta"));
  BOOST_CHECK_EXCEPTION(hopfield_retrieve(x, K.leftCols(1), 1.0, 0),
                        std::invalid_argument,
                        says("hopfield_retrieve: states are 1x2"));
}
BOOST_AUTO_TEST_CASE(retrieval_in_a_metric) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<double> K = gaussian<double>(5, 3, seed, "K");
    const Matrix<double> X = gaussian<double>(4, 3, seed, "X");
    const Vector<double> scale{{2, 2, seed % 2 ? 2 : 0.5}};
    const auto g = Metric<double>::diagonal(scale.cwiseAbs2());
    const Matrix<double> XL = X * scale.asDiagonal();
    const Matrix<double> KL = K * scale.asDiagonal();
    for (const double tol : {-1.0, 0x1p-40}) {
      const auto ours = hopfield_retrieve(X, K, 0.5, g, 9, tol);
      const auto there = hopfield_retrieve(XL, KL, 0.5, 9, 2 * tol);
      const Matrix<double> moved = ours.X * scale.asDiagonal();
      if (tol < 0 || seed % 2) verify(distance(moved, there.X), 0);
      if (seed % 2) verify(std::abs(double(ours.steps - there.steps)), 0);
      refute(distance(ours.X, hopfield_retrieve(X, K, 0.5, 9, tol).X), 0.01);
    }
  }
}
BOOST_AUTO_TEST_CASE(refusals) {
  const Matrix<double> W(2, 2), K(1, 3);
  const Vector<double> x(3);
  const auto bad = [](const char* words, auto f) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  bad("synchronous_update: W is 2x2", [&] { synchronous_update(W, x); });
  bad("settle: W is 2x2 but x has 3", [&] { settle(W, x); });
  bad("exponential_update: K is 1x3",
      [&] { exponential_update(K, Vector<double>(2)); });
  bad("hebb_bit_error: d = 0, M = 1", [] { hebb_bit_error(0, 1); });
  const RowVector<double> y = K.row(0), z(2);
  bad("energy_along: 1 points", [&] { energy_along(y, y, 1, K, 1.0); });
  bad("between 1x3 and 1x2", [&] { energy_along(y, z, 2, K, 1.0); });
  bad("glyph: scale 0", [] { glyph('A', 0); });
  for (const double bad_x : {-1.0, HUGE_VAL, std::nan("")})
    BOOST_CHECK_EXCEPTION(lambert_w(bad_x), std::domain_error,
                          says("lambert_w: x ="));
  BOOST_CHECK_EXCEPTION(head_log_capacity(0), std::domain_error,
                        says("head_log_capacity: d = 0"));
  BOOST_CHECK_EXCEPTION(spherical_capacity_rate(0), std::domain_error,
                        says("spherical_capacity_rate: beta"));
  verify(exponential_update(Matrix<double>(0, 3),
                            Vector<double>::Ones(3)).sum() - 3, 0);
}
BOOST_AUTO_TEST_CASE(temperatures_are_positive) {
  const Matrix<double> K = gaussian<double>(2, 3, 1, "K");
  for (const double beta : {0.0, -1.0, HUGE_VAL, std::nan("")})
    BOOST_CHECK_EXCEPTION(
        hopfield_retrieve(K, K, beta, 1), std::domain_error,
        says("beta must be positive and finite"));
  const double faint = 1e-310;  // a number, but 1/beta is not
  BOOST_CHECK_EXCEPTION(hopfield_update(K, K, faint), std::domain_error,
                        says("hopfield_update: 1/beta must be finite"));
  BOOST_CHECK_EXCEPTION(hopfield_energy(K, K, faint), std::domain_error,
                        says("hopfield_energy: 1/beta must be finite"));
  BOOST_CHECK_EXCEPTION(hopfield_retrieve(K, K, faint, 1, 0.1),
                        std::domain_error,
                        says("hopfield_retrieve: 1/beta must be finite"));
}
BOOST_AUTO_TEST_CASE(guarantees_are_refused) {
  BOOST_TEST(ramsauer_base(2, 1, 1, 1) > 0);
  BOOST_CHECK_EXCEPTION(ramsauer_base(1, 1, 1, 1), std::domain_error,
                        says("ramsauer_base: d = 1"));
  for (const Index k : {0, 1, 2})
    BOOST_CHECK_EXCEPTION(ramsauer_base(2, k != 0, k != 1, k != 2),
                          std::domain_error, says("ramsauer_base: d = 2"));
  BOOST_CHECK_EXCEPTION(ramsauer_guarantee(20, 3, 1, 1.01),
                        std::domain_error, says("p = 1.01"));
  verify(ramsauer_guarantee(20, 1e-170, 1, 0.5), 0);
  BOOST_CHECK_EXCEPTION(gaussian_capacity_rate(-1), std::domain_error,
                        says("gaussian_capacity_rate: beta"));
}
BOOST_AUTO_TEST_SUITE_END()
