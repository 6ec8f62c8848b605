// tests/gibbs_test.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/field.hpp"
#include "printed.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(gibbs)

// check weights against their definition
BOOST_AUTO_TEST_CASE(printed_definitions) {
  const double u = unit_roundoff<quad>();
  for_rows(4, [&](const Matrix<double>& S, double T) {
    const double x = S.cwiseAbs().maxCoeff() / T;
    if (x > 5000) return;
    const double bound = u * (8 * x + 4 * double(S.cols()) + 16);
    const Matrix<quad> s = lift<quad>(S.row(0));
    const Printed p = printed(s, T);
    verify(distance(attn::gibbs(s, quad(T)), p.A), bound);
    verify(distance(log_partition(s, quad(T))(0), p.logZ), bound * (1 + x));
    verify(distance(gibbs_entropy(s, quad(T))(0), p.H), bound * (1 + x));
  });
}

// check weights against their rounding bound
/// x as a double, but no less than the smallest normal number.
double least(const quad& x) {
  return std::max(to_double(x), std::numeric_limits<double>::min());
}
template <class S>
void weights_within_bound(std::uint64_t seeds) {
  for_rows(seeds, [](const Matrix<double>& X, double temperature) {
    const Matrix<S> s = X.cast<S>();
    const S T = static_cast<S>(temperature);
    const Matrix<quad> sq = lift<quad>(s), Aq = attn::gibbs(sq, quad(T));
    const Matrix<S> A = attn::gibbs(s, T);
    for (Index i = 0; i < s.rows(); ++i) {
      const Bounds b = bounds<S>(sq.row(i), T);
      for (Index j = 0; j < s.cols(); ++j)
        verify(distance(A(i, j), Aq(i, j)) / least(Aq(i, j)),
               b.A(j) / least(Aq(i, j)));
    }
  });
}
BOOST_AUTO_TEST_CASE(weights_in_double) { weights_within_bound<double>(10); }
BOOST_AUTO_TEST_CASE(weights_in_float) { weights_within_bound<float>(10); }
BOOST_AUTO_TEST_CASE(log_partition_in_both) {
  const auto f = [](auto s, auto T, auto sq, auto Tq, const Bounds& b) {
    verify(distance(log_partition(s, T)(0), log_partition(sq, Tq)(0)),
           b.logZ);
  };
  rows_within_bound<double>(10, f);
  rows_within_bound<float>(10, f);
}
BOOST_AUTO_TEST_CASE(log_softmax_in_both) {
  const auto f = [](auto s, auto T, auto sq, auto Tq, const Bounds& b) {
    using S = decltype(T);
    const Matrix<quad> y = log_softmax(sq, Tq);
    const Matrix<S> computed = log_softmax(s, T);
    for (Index j = 0; j < s.cols(); ++j)
      verify(distance(computed(j), y(j)), b.logA(j));
  };
  rows_within_bound<double>(5, f);
  rows_within_bound<float>(5, f);
}

// check what the naive formula does
template <class S>
int first_overflow() {
  for (int s = 1;; ++s) {
    const S a = std::exp(S(s)) / (std::exp(S(s)) + std::exp(S(0)));
    if (!(a <= S(1))) return s;
  }
}
BOOST_AUTO_TEST_CASE(naive_formula_overflows) {
  const int d = first_overflow<double>(), f = first_overflow<float>();
  fact("double", d);
  fact("float", f);
  const double as_printed = std::exp(double(d)) / (std::exp(double(d)) + 1);
  refute(std::isnan(as_printed) ? inf : std::abs(as_printed - 1), 0.5);
  verify(std::abs(attn::gibbs(RowVector<double>{{double(d), 0}})(0) - 1), 0);
  verify(std::abs(attn::gibbs(RowVector<float>{{float(f), 0}})(0) - 1), 0);
}

// check the library's exponential
BOOST_AUTO_TEST_CASE(the_two_exponentials) {
  const Index n = 4096;
  const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(n, -708, 0);
  const Eigen::ArrayXd eigen = x.exp();
  double worst = 0;
  for (Index k = 0; k < n; ++k) {
    const double e = std::exp(x(k));
    const quad truth = exp(quad(x(k))), log = log1p(quad(e));
    verify(distance(e, truth) / to_double(truth), 0x1p-52);
    verify(distance(std::log1p(e), log) / to_double(log), 0x1p-52);
    const float f = static_cast<float>(x(k) / 8.2);
    verify(distance(std::exp(f), exp(quad(f))) / std::exp(double(f)),
           0x1p-23);
    worst = std::max(worst, distance(eigen(k), truth) / to_double(truth));
  }
  fact("eigen", worst * 0x1p53);
  const Eigen::ArrayXd out = Eigen::ArrayXd::Constant(16, -inf).exp();
  fact("at_minus_infinity", out(0));
  verify(std::exp(-inf), 0);
}

// check the symmetries of a row
BOOST_AUTO_TEST_CASE(shift_and_permutation) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index n = Index(1 + seed % 9);
    const Matrix<quad> s = gaussian<quad>(3, n, seed);
    const Matrix<quad> A = attn::gibbs(s, quad(0.7));
    const Matrix<quad> shifted = s.array() + quad(double(seed) * 100);
    const double most = bounds<quad>(s.row(0), 0.7).A.maxCoeff() +
                        bounds<quad>(s.row(1), 0.7).A.maxCoeff() +
                        bounds<quad>(s.row(2), 0.7).A.maxCoeff();
    verify(distance(attn::gibbs(shifted, quad(0.7)), A),
           roundings(2 * 4096 / 0.7) + 2 * most);
    const auto pi = permutation(n, seed);
    Matrix<quad> t(3, n), B(3, n);
    for (Index j = 0; j < n; ++j) {
      t.col(j) = s.col(pi[std::size_t(j)]);
      B.col(j) = A.col(pi[std::size_t(j)]);
    }
    verify(distance(attn::gibbs(t, quad(0.7)), B), 2 * most);
  }
}

// check the edges of the definition
BOOST_AUTO_TEST_CASE(forbidden_keys_are_deleted_keys) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Matrix<double> s = gaussian<double>(1, 9, seed);
    s(0, Index(seed % 9)) = s(0, Index((seed / 2) % 9)) = -inf;
    Matrix<double> kept(1, 0);
    for (Index j = 0; j < 9; ++j)
      if (std::isfinite(s(j))) {
        kept.conservativeResize(1, kept.cols() + 1);
        kept(kept.cols() - 1) = s(j);
      }
    const Matrix<double> A = attn::gibbs(s, 0.3), B = attn::gibbs(kept, 0.3);
    for (Index j = 0, k = 0; j < 9; ++j)
      verify(std::abs(A(j) - (std::isfinite(s(j)) ? B(k++) : 0.0)), 0);
    verify(std::abs(gibbs_entropy(s, 0.3)(0) - gibbs_entropy(kept, 0.3)(0)),
           0);
  }
}
BOOST_AUTO_TEST_CASE(empty_rows) {
  for (const Index n : {0, 1, 4}) {
    const Matrix<double> s = Matrix<double>::Constant(2, n, -inf);
    verify(attn::gibbs(s, 2.0).cwiseAbs().sum(), 0);
    verify(std::abs(gibbs_entropy(s, 2.0)(1)), 0);
    BOOST_TEST(log_partition(s, 2.0)(1) == -inf);
    if (n > 0) BOOST_TEST(log_softmax(s, 2.0)(1, 0) == -inf);
  }
  BOOST_TEST(attn::gibbs(Matrix<double>(0, 5)).rows() == 0);
}
BOOST_AUTO_TEST_CASE(nan_stays_in_its_row) {
  for (const Index j : {0, 1, 2}) {
    Matrix<double> s = gaussian<double>(2, 3, 5);
    s(0, j) = nan;
    const Matrix<double> A = attn::gibbs(s, 1.0);
    BOOST_TEST(A.row(0).array().isNaN().all());
    BOOST_TEST(std::isnan(log_partition(s, 1.0)(0)));
    BOOST_TEST(std::isnan(gibbs_entropy(s, 1.0)(0)));
    verify(std::abs(A.row(1).sum() - 1), gamma(5, 0x1p-53));
  }
}
BOOST_AUTO_TEST_CASE(first_of_equal_scores) {
  const auto first = [](const std::vector<double>& s) {
    return ground_state(std::span<const double>(s)).at;
  };
  BOOST_TEST(first({2, 5, 5}) == 1);
  BOOST_TEST(first({-inf, -inf}) == 0);
  BOOST_TEST(first({nan, 1}) == 0);
  BOOST_TEST(first({}) == -1);
}
BOOST_AUTO_TEST_CASE(one_infinitely_good_key) {
  const RowVector<double> s{{1, inf, -inf}};
  verify((attn::gibbs(s) - RowVector<double>{{0, 1, 0}}).norm(), 0);
  BOOST_TEST(log_partition(s)(0) == inf);
  BOOST_TEST(std::isnan(attn::gibbs(RowVector<double>{{inf, inf}})(0)));
}
BOOST_AUTO_TEST_CASE(refuses_bad_temperatures) {
  const RowVector<double> s{{1, 2}};
  for (const double T : {0.0, -1.0, nan, inf}) {
    BOOST_CHECK_EXCEPTION(attn::gibbs(s, T), std::domain_error,
                          says("gibbs: temperature"));
    BOOST_CHECK_EXCEPTION(log_softmax(s, T), std::domain_error,
                          says("log_softmax: temperature"));
  }
}
BOOST_AUTO_TEST_CASE(takes_expressions_and_strides) {
  const Matrix<double> Q = gaussian<double>(3, 4, 1);
  const Matrix<double> K = gaussian<double>(10, 4, 2);
  const Matrix<double> S = Q * K.transpose();
  const Eigen::MatrixXd columns = S;
  const auto block = S.middleCols(2, 5);
  const Matrix<double> A = attn::gibbs(S), B = attn::gibbs(block);
  verify((softmax(S) - A).norm(), 0);
  verify((attn::gibbs(columns) - A).norm(), 0);
  verify((attn::gibbs(Q * K.transpose()) - A).norm(), 0);
  verify((attn::gibbs(block.eval()) - B).norm(), 0);
}

// check the limits of temperature
BOOST_AUTO_TEST_CASE(cold_limit) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    for (const double T : {2.0, 0.5, 0.1, 0.02}) {
      const Index n = Index(2 + seed % 7), g = Index(1 + seed % 2);
      Matrix<quad> s = gaussian<quad>(1, n, seed);
      const quad m = s.maxCoeff() + quad(0.25);
      for (Index j = 0; j < g; ++j) s(j) = m;
      const quad next = g < n ? s.rightCols(n - g).maxCoeff() : m;
      const quad rate = quad(double(2 * (n - g))) / quad(double(g)) *
                        exp(-(m - next) / quad(T));
      const Matrix<quad> d = attn::gibbs(s, quad(T)) - hard_attention(s);
      verify(to_double(d.cwiseAbs().sum()),
             to_double(rate) + bounds<quad>(s, T).A.sum());
    }
}
BOOST_AUTO_TEST_CASE(hot_limit) {
  for_rows(2, [](const Matrix<double>& S, double T) {
    const Matrix<quad> s = lift<quad>(S.row(0));
    const quad n = quad(double(s.cols()));
    const quad x = (s.maxCoeff() - s.minCoeff()) / quad(T);
    if (x > 700) return;
    const Matrix<quad> d = (n * attn::gibbs(s, quad(T))).array() - quad(1);
    verify(largest(d), to_double(exp(x) - 1) + roundings(33 * 3000));
  });
}
BOOST_AUTO_TEST_CASE(warming_up_is_slow) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const double T : {1e1, 1e3, 1e6}) {
      Matrix<quad> s = gaussian<quad>(1, 5, seed, "scores");
      s(4) = s.leftCols(4).mean();
      const Matrix<quad> y = (s.array() - s.mean()) / quad(T);
      const Matrix<quad> A = attn::gibbs(s, quad(T));
      const double most = largest(y);
      BOOST_TEST(most < 0.5);
      verify(distance(quad(5) * A - y, Matrix<quad>::Ones(1, 5)),
             2 * most * most);
    }
}
BOOST_AUTO_TEST_CASE(ties_share_equally) {
  const Matrix<double> s{{1, 1, 0}, {0, -inf, -inf}, {-inf, -inf, -inf}};
  const Matrix<double> hard{{0.5, 0.5, 0}, {1, 0, 0}, {0, 0, 0}};
  verify((hard_attention(s) - hard).norm(), 0);
  verify((attn::gibbs(s, 1e-3) - hard).norm(), 0);
  const Matrix<double> hot = attn::gibbs(s, 1e9);
  verify(std::abs(hot(0, 2) - 1 / 3.0), 1e-9);
  verify((hot.bottomRows(2) - hard.bottomRows(2)).norm(), 0);
  BOOST_TEST(hard_attention(RowVector<double>{{0, nan}}).hasNaN());
}
BOOST_AUTO_TEST_CASE(gauge_of_scale) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Matrix<quad> s = gaussian<quad>(2, 6, seed);
    const quad T(0.4), a = quad(double(seed)) / 7;
    const Matrix<quad> as = a * s;
    const double bound = roundings(400) * (1 + to_double(a));
    verify(distance(attn::gibbs(as, quad(a * T)), attn::gibbs(s, T)), bound);
    verify(distance(gibbs_entropy(as, quad(a * T))(1), gibbs_entropy(s, T)(1)),
           bound);
    verify(distance(log_partition(as, quad(a * T))(1), log_partition(s, T)(1)),
           bound);
    verify(distance(free_energy(as, quad(a * T))(1), a * free_energy(s, T)(1)),
           bound);
    verify(distance(expected_energy(as, quad(a * T))(1),
                    a * expected_energy(s, T)(1)), bound);
  }
}

// check entropies against their rounding bound
BOOST_AUTO_TEST_CASE(entropy_in_both) {
  const auto f = [](auto s, auto T, auto sq, auto Tq, const Bounds& b) {
    const quad H = gibbs_entropy(sq, Tq)(0);
    verify(distance(gibbs_entropy(s, T)(0), H) / least(H), b.H / least(H));
  };
  rows_within_bound<double>(10, f);
  rows_within_bound<float>(10, f);
}

// check entropies of given weights
BOOST_AUTO_TEST_CASE(entropy_of_given_weights) {
  for_rows(4, [](const Matrix<double>& S, double T) {
    const Matrix<double> A = attn::gibbs(S, T);
    quad H(0);
    for (Index j = 0; j < A.cols(); ++j) H -= xlogx(quad(A(0, j)));
    const double u = unit_roundoff<double>();
    verify(distance(entropy(A)(0), H),
           gamma(A.cols() + 2, u) * to_double(H));
    verify(distance(effective_states(A)(0), exp(H)),
           (gamma(A.cols() + 2, u) * to_double(H) + 3 * u) * to_double(exp(H)));
  });
}
BOOST_AUTO_TEST_CASE(entropy_bounds) {
  for_rows(4, [](const Matrix<double>& S, double T) {
    const Matrix<quad> s = lift<quad>(S.row(0));
    const quad logn = log(quad(double(s.cols())));
    const quad H = gibbs_entropy(s, quad(T))(0);
    verify(worse(0, to_double(H - logn)),
           bounds<quad>(s, T).H + roundings(8));
    if (s.cols() > 1 && s.maxCoeff() - s.minCoeff() < quad(1e4 * T))
      BOOST_TEST(H > 0);
  });
  const Matrix<double> even = Matrix<double>::Constant(1, 8, 0.125);
  verify(std::abs(entropy(even)(0) - std::log(8.0)), 0x1p-50);
  verify(std::abs(normalised_entropy(even)(0) - 1), 0x1p-52);
  verify(std::abs(effective_states(even)(0) - 8), 0x1p-47);
  Matrix<quad> moved = lift<quad>(even);
  const quad h(0x1p-20);
  moved(0) += h;
  moved(1) -= h;
  const quad lost = log(quad(8)) - entropy(moved)(0);
  verify(std::abs(to_double(lost / (8 * h * h)) - 1), 0x1p-30);
}
BOOST_AUTO_TEST_CASE(refuses_what_is_no_distribution) {
  BOOST_CHECK_EXCEPTION(entropy(Matrix<double>{{0.5, 0.5, 0.5, 0.5}}),
                        std::domain_error, says("entropy: row 0 must have"));
  BOOST_CHECK_EXCEPTION(entropy(Matrix<double>{{1, 0}, {1.5, -0.5}}),
                        std::domain_error, says("entropy: row 1 must have"));
  BOOST_TEST(std::isnan(entropy(Matrix<double>{{nan, 1}})(0)));
  verify(effective_states(Matrix<double>::Zero(1, 3))(0), 0);
  BOOST_CHECK_EXCEPTION(max_entropy(-1), std::invalid_argument,
                        says("max_entropy: n = -1"));
  verify(max_entropy(0), 0);
  for (const Index n : {1, 2, 3, 8, 1000}) {
    const auto even = Matrix<double>::Constant(1, n, 1 / double(n)).eval();
    const double H = entropy(even)(0);
    verify(std::abs(max_entropy(n) - H), gamma(n + 6, 0x1p-53) * H);
    BOOST_TEST(max_entropy(n - 1) <= H);
  }
}
BOOST_AUTO_TEST_SUITE_END()
