// tests/gibbs_errata_test.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/field.hpp"
#include "printed.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(gibbs)

// find the temperature of a given entropy
inline double temperature_of(const RowVector<double>& s, double H) {
  double low = -40, high = 40, t = 0, step = 80;
  for (bool done = false; !done; t += step) {
    const double T = std::exp(t), miss = H - gibbs_entropy(s, T)(0);
    (miss > 0 ? low : high) = t;
    const double newton = miss / heat_capacity(s, T)(0);
    const bool fast = low <= t + newton && t + newton <= high &&
                      2 * std::abs(newton) < std::abs(step);
    step = fast ? newton : (low + high) / 2 - t;
    done = std::abs(step) <= 0x1p-53 * (1 + std::abs(t));
  }
  return std::exp(t);
}

// check the sources' temperature table
BOOST_AUTO_TEST_CASE(temperature_table) {
  const Matrix<double> paper{{0.997, 0.003, 0.000, 0.02},
                             {0.876, 0.118, 0.006, 0.42},
                             {0.665, 0.245, 0.090, 0.80},
                             {0.474, 0.316, 0.211, 1.02}};
  const std::vector<double> T{0.25, 0.5, 1, 2};
  const std::vector<std::string> name{"025", "05", "1", "2"};
  const RowVector<double> s{{2, 1, 0}};
  Matrix<double> truth(4, 4), own(4, 1);
  for (Index t = 0; t < 4; ++t) {
    const auto at = std::size_t(t);
    truth.row(t) << attn::gibbs(s, T[at]), gibbs_entropy(s, T[at]);
    const RowVector<double> p = paper.row(t).head(3);
    own(t) = entropy(p / p.sum())(0);
    for (Index j = 0; j < 3; ++j)
      fact("a" + std::to_string(j + 1) + "_" + name[at], truth(t, j));
    fact("H_" + name[at], truth(t, 3));
    fact("own_" + name[at], own(t));
    fact("true_T_" + name[at], 1 / std::log(p(0) / p(1)));
    const Printed p4 = printed(lift<quad>(s), T[at]);
    verify(distance(lift<quad>(truth.row(t).head(3)), p4.A), 0x1p-51);
  }

  // refute the printed rows
  const Matrix<double> off = (paper - truth).cwiseAbs();
  fact("weights_off", off.leftCols(3).maxCoeff());
  fact("entropies_off", off.col(3).maxCoeff());
  for (const Index t : {0, 1, 3})
    refute(off.row(t).head(3).maxCoeff(), 0.005);
  for (const Index t : {0, 1, 2}) refute(off(t, 3), 0.01);
  verify(off.row(2).head(3).maxCoeff(), 0.0005);
  const Matrix<double> tutorial{{0.88, 0.11, 0.01, 0.42},
                                {0.67, 0.24, 0.09, 0.80},
                                {0.47, 0.32, 0.21, 1.02}};
  const Matrix<double> there = (tutorial - truth.bottomRows(3)).cwiseAbs();
  fact("tutorial_off", there.leftCols(3).maxCoeff());
  for (const Index t : {0, 2}) refute(there.row(t).head(3).maxCoeff(), 0.01);
  for (const Index t : {0, 1}) refute(there(t, 3), 0.01);
  verify(off(3, 3), 0.005);
}

// check errata of the sources
BOOST_AUTO_TEST_CASE(limit_with_ties) {
  const RowVector<double> s{{1, 1, 0}}, as_printed{{1, 0, 0}};
  const RowVector<double> A = attn::gibbs(s, 1e-6);
  fact("off", (A - as_printed).cwiseAbs().maxCoeff());
  refute((A - as_printed).cwiseAbs().maxCoeff(), 0.49);
  verify(largest(A - hard_attention(s)), 0);
}
BOOST_AUTO_TEST_CASE(metric_or_temperature) {
  const double d = 8, root = std::sqrt(d);
  const Matrix<double> raw =
      gaussian<double>(3, 8, 1) * gaussian<double>(5, 8, 2).transpose();
  const Matrix<double> scaled = raw / root;
  const Vector<double> F = free_energy(raw, root), f = free_energy(scaled);
  const double u = unit_roundoff<double>(), big = raw.cwiseAbs().maxCoeff();
  verify(largest(attn::gibbs(raw, root) - attn::gibbs(scaled)),
         u * (8 * big + 20));
  verify(largest(F - root * f), u * (20 * big + 60));
  refute((F - f).cwiseAbs().minCoeff(), 0.1);
  fact("ratio", F(0) / f(0), 4);
}
BOOST_AUTO_TEST_CASE(zero_entropy_is_not_attained) {
  const RowVector<double> s{{700, 0}};
  const quad truth = gibbs_entropy(lift<quad>(s), quad(1))(0);
  fact("H", gibbs_entropy(s)(0));
  refute(to_double(truth / exp(quad(-700))), 1);
  verify(to_double(abs(gibbs_entropy(s)(0) / truth - 1)), 1500 * 0x1p-53);
  const double missed =
      to_double(1 - entropy(attn::gibbs(s))(0) / truth);
  fact("missed", missed);
  refute(missed, 0.001);
}
BOOST_AUTO_TEST_CASE(entropy_with_epsilon) {
  const auto as_printed = [](const RowVector<double>& A) {
    return -(A.array() * (A.array() + 1e-12).log()).sum();
  };
  const RowVector<double> one{{1, 0, 0}}, s{{0, -40, -60}};
  const RowVector<double> even = RowVector<double>::Constant(1000000, 1e-6);
  const double truth = to_double(gibbs_entropy(lift<quad>(s), quad(1))(0));
  fact("onehot", as_printed(one));
  fact("million", std::abs(as_printed(even) - std::log(1e6)));
  fact("cold", as_printed(attn::gibbs(s)));
  fact("truth", truth);
  refute(-as_printed(one), 0.9e-12);
  refute(std::abs(as_printed(even) - std::log(1e6)), 0.9e-6);
  refute(std::abs(as_printed(attn::gibbs(s)) / truth - 1), 1000);
  verify(entropy(one)(0), 0);
  verify(std::abs(entropy(even)(0) - std::log(1e6)), gamma(1e6, 0x1p-53) * 14);
  verify(std::abs(gibbs_entropy(s)(0) - truth), truth * 0x1p-46);
}
BOOST_AUTO_TEST_CASE(entropy_formulas_compared) {
  const Entropies h = entropies(0.05);
  fact("plain", std::abs(h.plain / h.truth - 1));
  fact("eps", std::abs(h.eps / h.truth - 1));
  refute(std::abs(h.eps / h.truth - 1), 1e-6);
  refute(std::abs(h.plain / h.truth - 1), 1e-11);
  verify(std::abs(h.ours / h.truth - 1), 0x1p-53 * (4 * 20 + 20));
}
BOOST_AUTO_TEST_CASE(normalised_entropy_of_one_key) {
  const RowVector<double> one{{1}};
  const double as_printed = entropy(one)(0) / std::log(1.0);
  refute(std::isnan(as_printed) ? inf : 0.0, 1);
  verify(std::abs(normalised_entropy(one)(0)), 0);
  const RowVector<double> padded = attn::gibbs(RowVector<double>{{3, -inf}});
  verify(std::abs(normalised_entropy(padded)(0)), 0);
  BOOST_TEST(normalised_entropy(Matrix<double>(2, 0)).isZero(0));
}
BOOST_AUTO_TEST_CASE(stationary_is_not_minimal) {
  const Matrix<quad> s = lift<quad>(Matrix<double>{{2, 1, 0}});
  const Matrix<quad> minus = -s;
  const Matrix<quad> even = Matrix<quad>::Constant(1, 3, quad(1) / 3);
  const Matrix<quad> A = attn::gibbs(minus);  // gibbs(s, -1), by the gauge
  const quad T(-1), higher =
      free_energy_of(A, s, T) - free_energy_of(even, s, T);
  fact("higher", to_double(higher));
  refute(to_double(higher), 0.1);
  verify(distance(higher, -T * kl(even, A)(0)), roundings(300));
}
BOOST_AUTO_TEST_CASE(jacobian_norm_peaks) {
  const RowVector<double> s{{2, 1, 0}};
  const auto norm = [&](double T) {
    return softmax_jacobian(attn::gibbs(s, T), T).norm();
  };
  double best = 0.5;
  for (double step = 0.1; step > 1e-7; step /= 2)
    for (const double move : {step, -step})
      while (norm(best + move) > norm(best)) best += move;
  fact("T", best);
  fact("norm", norm(best));
  refute(norm(best) - norm(10), 0.3);
  verify(std::abs(10 * norm(10) / (50 * norm(50)) - 1), 0.01);
  const double F = free_energy(s, 0.3)(0), U = expected_energy(s, 0.3)(0);
  const double H = gibbs_entropy(s, 0.3)(0);
  refute(std::abs(F - (-U - 0.3 * H)), 1);
  verify(std::abs(F - (U - 0.3 * H)), 0x1p-50);
}

// check the answers of chapter two
BOOST_AUTO_TEST_CASE(answer_two_level) {
  double x = 2;
  for (int k = 0; k < 60; ++k) x = 2 / std::tanh(x / 2);
  const auto C = [](double y) {
    return heat_capacity(RowVector<double>{{0, -y}})(0);
  };
  fact("x", x, 5);
  fact("C", C(x), 4);
  for (const double y : {0.1, 1.0, x, 5.0})
    verify(std::abs(C(y) - y * y * std::exp(y) / std::pow(1 + std::exp(y), 2)),
           0x1p-49);
  verify(std::max(C(x - 0.01), C(x + 0.01)), C(x));
  verify(std::abs(x * std::tanh(x / 2) - 2), 0x1p-50);
}
BOOST_AUTO_TEST_CASE(answer_target_entropy) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RowVector<double> s = gaussian<double>(1, 12, seed);
    const double H = std::log(1.05 + 0.2 * double(seed));
    const double T = temperature_of(s, H);
    verify(std::abs(gibbs_entropy(s, T)(0) - H),
           bounds<double>(lift<quad>(s), T).H + 8 * 0x1p-53);
  }
  const RowVector<double> two{{0, -1}};
  for (const double H : {1e-10, 1e-100, 1e-300}) {
    const double found = gibbs_entropy(two, temperature_of(two, H))(0);
    verify(std::abs(found / H - 1), 0x1p-53 * 800 * 16);
  }
}
BOOST_AUTO_TEST_CASE(answer_prior) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 5, seed);
    const Matrix<quad> pi = attn::gibbs(gaussian<quad>(1, 5, seed + 9));
    const quad T(0.8);
    const Matrix<quad> with = s.array() + T * pi.array().log();
    const Matrix<quad> q = attn::gibbs(gaussian<quad>(1, 5, seed + 99));
    const quad F = quad(-(q.array() * s.array()).sum()) + T * kl(q, pi)(0);
    verify(distance(F - free_energy(with, T)(0),
               T * kl(q, attn::gibbs(with, T))(0)), roundings(300));
  }
}
BOOST_AUTO_TEST_CASE(answer_bregman) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 4, seed);
    const Matrix<quad> t = gaussian<quad>(1, 4, seed + 40);
    const quad T(1.7);
    const Matrix<quad> A = attn::gibbs(t, T);
    const quad B = T * (log_partition(s, T)(0) - log_partition(t, T)(0)) -
                   quad((A.array() * (s - t).array()).sum());
    verify(distance(B, T * kl(A, attn::gibbs(s, T))(0)), roundings(300));
    verify(distance(B, fenchel_young(s, A, T)(0)), roundings(300));
  }
}
BOOST_AUTO_TEST_CASE(answer_condensed) {
  const auto means = [](Index n, std::uint64_t seed) {
    const double sigma = 2 * std::sqrt(2 * std::log(double(n)));
    const Matrix<double> s = sigma * gaussian<double>(300, n, seed);
    const Vector<double> Y = attn::gibbs(s).rowwise().squaredNorm();
    return std::pair{estimate(Y), estimate(gibbs_entropy(s))};
  };
  const auto [Y, H] = means(16384, 21);
  const auto [Y8, H8] = means(256, 22);

  // compare the condensed means with their limits
  fact("Y", Y.first);
  fact("errorY", Y.second);
  fact("H", H.first);
  fact("errorH", H.second);
  verify(std::abs(Y.first - 0.5) + Y.second, std::abs(Y8.first - 0.5));
  verify(std::abs(H.first - 2 * std::log(2.0)) + H.second,
         std::abs(H8.first - 2 * std::log(2.0)));
}
BOOST_AUTO_TEST_CASE(answer_thermodynamic_length) {
  const Matrix<quad> s = lift<quad>(Matrix<double>{{2, 1, 0, -1}});
  const quad T(0.7), C = heat_capacity(s, T)(0);
  const auto excess = [&](double h) {
    const Matrix<quad> next = attn::gibbs(s, quad(T + quad(h)));
    return to_double(kl(attn::gibbs(s, T), next)(0) -
                     C * quad(h * h) / (2 * T * T));
  };
  verify(std::abs(excess(0x1p-20) / excess(0x1p-21) - 8), 0x1p-15);
}
BOOST_AUTO_TEST_CASE(answer_copies) {
  const double T = 0.7, u = 0x1p-53;
  const RowVector<double> s{{1, 0.5, -0.3, 0.5, 0.5}};
  const RowVector<double> t{{1, 0.5 + T * std::log(3), -0.3}};
  const RowVector<double> A = attn::gibbs(s, T), B = attn::gibbs(t, T);
  verify(std::abs(A(1) + A(3) + A(4) - B(1)), 40 * u);
  verify(std::abs(A(0) - B(0)) + std::abs(A(2) - B(2)), 40 * u);
}
BOOST_AUTO_TEST_CASE(answer_subsets) {
  const Index n = 6;
  const RowVector<quad> s = gaussian<quad>(1, n, 3);
  RowVector<quad> sums = RowVector<quad>::Zero(1 << n);
  for (Index subset = 0; subset < sums.size(); ++subset)
    for (Index j = 0; j < n; ++j)
      if (subset >> j & 1) sums(subset) += s(j);
  const RowVector<quad> A = attn::gibbs(sums);
  for (Index j = 0; j < n; ++j) {
    quad present(0);
    for (Index subset = 0; subset < A.size(); ++subset)
      if (subset >> j & 1) present += A(subset);
    verify(distance(present, 1 / (1 + exp(-s(j)))), roundings(300));
  }
}
BOOST_AUTO_TEST_CASE(answer_pythagoras) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 5, seed);
    const RowVector<quad> q = attn::gibbs(gaussian<quad>(1, 5, seed + 60));
    const quad beta = inverse_temperature(s, quad(-q.dot(s)));
    const RowVector<quad> A = weights_at(s, beta), p = attn::gibbs(s);
    const quad sum = kl(q, A)(0) + kl(A, p)(0);
    verify(distance(kl(q, p)(0), sum), roundings(1000));
  }
}
BOOST_AUTO_TEST_CASE(answer_two_of_four) {
  const Index N = 100000;
  const RowVector<double> s{{1, 0, -0.5, 0.3}};
  const RowVector<double> A = attn::gibbs(s);
  Matrix<double> noisy = s.replicate(N, 1) + gumbel<double>(N, 4, 5);
  Matrix<double> often = Matrix<double>::Zero(4, 4);
  for (Index i = 0; i < N; ++i) {
    Index j, k;
    noisy.row(i).maxCoeff(&j);
    noisy(i, j) = -inf;
    noisy.row(i).maxCoeff(&k);
    often(j, k) += 1.0 / double(N);
  }

  // compare pairs drawn without replacement
  const double epsilon = std::sqrt(std::log(24 / 1e-6) / (2.0 * double(N)));
  for (Index j = 0; j < 4; ++j)
    for (Index k = 0; k < 4; ++k) {
      const double p = j == k ? 0 : A(j) * A(k) / (1 - A(j));
      verify(std::abs(often(j, k) - p), epsilon);
    }
}
BOOST_AUTO_TEST_CASE(answer_almost_exponential) {
  const auto f = [](double x) { return x + std::sin(x) / 2; };
  const double delta = 0.75 * std::sqrt(3.0), x0 = 2 * M_PI / 3;
  verify(std::abs(f(2 * x0) - 2 * f(x0) + delta), 0x1p-49);
  for (double x = -5; x <= 5; x += 0.25) {
    for (double y = -5; y <= 5; y += 0.25)
      verify(std::abs(f(x + y) - f(x) - f(y)), delta);
    const double g = std::ldexp(f(std::ldexp(x, 60)), -60);
    verify(std::abs(g - x), 0x1p-50);
    verify(std::abs(f(x) - g), delta);
  }
}
BOOST_AUTO_TEST_CASE(answer_negative_temperature) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RowVector<quad> s = gaussian<quad>(1, 4, seed), minus = -s;
    const quad beta = quad(double(seed)) / 3;
    const auto k = cumulants<4>(s, quad(-beta)), l = cumulants<4>(minus, beta);
    for (std::size_t i = 0; i <= 4; ++i)
      verify(distance(k[i], (i % 2 == 1 ? -1 : 1) * l[i]), 0);
    RowVector<quad> both(8);
    both << s, minus;
    const quad U = both.maxCoeff() / 3;
    verify(distance(entropy_of_energy(both, U),
                    entropy_of_energy(both, quad(-U))), roundings(100));
  }
}
BOOST_AUTO_TEST_SUITE_END()
