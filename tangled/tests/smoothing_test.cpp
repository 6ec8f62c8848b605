// tests/smoothing_test.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "lattice.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(kernel)

// check bias and variance on a lattice
BOOST_AUTO_TEST_CASE(bias_and_variance) {
  for (const Index d : {1, 2, 3}) {
    const Index s = d == 1 ? 400 : d == 2 ? 60 : 36;
    const Matrix<double> K = lattice(s, d);
    const double nu = std::pow(double(s) / 6, double(d)), D = double(d);
    for (const double h : {0.2, 0.3, 0.4}) {
      const Risk r = risk(K, h);
      const double bias = std::sin(1.0) * std::expm1(-D * h * h / 2);
      const double var = 1 / (nu * std::pow(2 * std::sqrt(M_PI) * h, D));
      const double wave =
          std::exp(-M_PI * M_PI * h * h * std::pow(nu, 2 / D));
      const double lost = 8 * D * wave + 4 * D * std::erfc(3 / h / M_SQRT2);
      const double rounding = 2 * gamma(
          2 * K.rows() + Index(4 * (D + 5) * 9 * D / (h * h)), 0x1p-53);
      verify(std::abs(r.bias - bias), lost + rounding);
      verify(std::abs(r.variance / var - 1), lost + rounding);
    }
  }

  // try waves of four spacings, and of three
  const Matrix<double> K = Vector<double>::LinSpaced(81, -40, 40);
  for (const double h : {0.7, 1.0, 1.4}) {
    const double w = std::exp(-M_PI * M_PI * h * h);
    const double rounding = gamma(2 * 81 + Index(24 * 900 / (h * h)), 0x1p-53);
    double most[2] = {0, 0};
    for (const double x : {0.0, 0.2, 0.37, 0.5}) {
      // compare with waves that are left of two
      double spread = 0;
      for (const int k : {0, 1})
        for (const double phase : {0.0, 0.7, 1.9}) {
          const double turn = 2 * M_PI / (4 - k);
          const Matrix<double> m = (turn * K.array() + phase).sin();
          const auto fit = nadaraya_watson(Matrix<double>{{x}}, K, m, h);
          const double left = std::exp(-turn * turn * h * h / 2);
          most[k] = std::max(most[k], std::abs(fit.O(0) / left -
                                               std::sin(turn * x + phase)));
          spread = fit.A.squaredNorm();
        }
      verify(std::abs(spread * 2 * std::sqrt(M_PI) * h - 1),
             2 * w * (1 + 3 * w) + 2 * rounding);
    }
    verify(most[0], w * (1 + 3 * w) + 20 * rounding);
    refute(most[1], w * (1 + 3 * w) + 20 * rounding);
  }
}
BOOST_AUTO_TEST_CASE(consistency_rate) {
  for (const Index d : {1, 2, 3}) {
    const Index first = d == 1 ? 128 : d == 2 ? 32 : 24;
    const double D = double(d), b = D * std::sin(1.0);
    Vector<double> error(2), volume(2), width(2);
    for (const Index k : {0, 1}) {
      const Index s = k == 0 ? first : first * (d == 1 ? 8 : 2);
      volume(k) = std::pow(double(s) / 6, D);
      const double c = 0.04 / volume(k) / std::pow(2 * std::sqrt(M_PI), D);
      width(k) = std::pow(D * c / (b * b), 1 / (D + 4));
      const Risk r = risk(lattice(s, d), width(k));
      error(k) = r.bias * r.bias + 0.04 * r.variance;

      // try narrower and wider kernels
      for (const double x : {0.5, 0.8, 1.25, 2.0}) {
        const Risk other = risk(lattice(s, d), x * width(k));
        verify(error(k), other.bias * other.bias + 0.04 * other.variance);
      }
    }
    const double span = std::log(volume(1) / volume(0));
    const double slope = std::log(error(1) / error(0)) / span;
    const double h2 = width(0) * width(0), side = double(first) / 6;
    const double off =
        D * h2 / 2 + 4 * D * std::exp(-M_PI * M_PI * h2 * side * side);
    fact("slope_" + std::to_string(d), slope, 4);
    verify(std::abs(slope + 4 / (D + 4)), off / span);
    const double least = (0.25 + 1 / D) * b * b * h2 * h2;
    verify(std::abs(error(0) / least - 1), off);
  }
}

// check the limit of attention
BOOST_AUTO_TEST_CASE(gaussian_keys) {
  const Vector<double> k = Vector<double>::LinSpaced(4001, -20, 20);
  const Matrix<double> m = (1.3 * k.array() + 0.4).sin();
  const double rounding = gamma(2 * k.size() + 8 * 1000, 0x1p-53);
  for (const double s : {0.5, 1.0})
    for (const double tau : {0.5, 1.0, 2.0})
      for (const double q : {-1.5, 0.0, 0.7}) {
        const Vector<double> density = -k.array().square() / (2 * s * s);
        const Vector<double> shift = k * (q / tau) + density;
        const Matrix<double> A = softmax(shift.transpose());
        const auto wave = [](double at, double width) {
          return std::sin(1.3 * at + 0.4) *
                 std::exp(-1.3 * 1.3 * width * width / 2);
        };
        verify(std::abs(A.row(0).dot(m.col(0)) - wave(s * s / tau * q, s)),
               rounding);
        const Vector<double> bump =
            -(k.array() - q).square() / (2 * tau) + density.array();
        const double lambda = s * s / (s * s + tau);
        verify(std::abs(softmax(bump.transpose()).row(0).dot(m.col(0)) -
                        wave(lambda * q, std::sqrt(lambda * tau))),
               rounding);
      }
}
BOOST_AUTO_TEST_CASE(squares_of_gaussian_keys) {
  const RowVector<double> all{{0.7, -0.3, 0.5}};
  for (const Index d : {1, 2, 3})
    for (const double s : {0.5, 1.0, 2.0})
      for (const double tau : {0.5, 1.0, 2.0}) {
        const RowVector<double> q = all.head(d);
        const double a2 = s * s * q.squaredNorm() / (tau * tau);

        // lay keys on a grid of half a deviation
        const double far = s * (9 + 2 * std::sqrt(a2));
        const Matrix<double> K = lattice(Index(4 * far / s), d) * far / 3;
        const Vector<double> density =
            -K.rowwise().squaredNorm() / (2 * s * s);
        const Vector<double> S = K * q.transpose() / tau;
        const auto log_sum = [&](double times) {
          const Vector<double> x = times * S + density;
          return weigh(Matrix<double>(x.transpose())).logZ(0);
        };
        verify(std::abs(log_sum(2) + log_sum(0) - 2 * log_sum(1) - a2),
               4 * gamma(2 * K.rows() + 8000, 0x1p-53));
      }
}
BOOST_AUTO_TEST_CASE(attention_tilts) {
  const Index n = 40000;
  const Matrix<double> K = gaussian<double>(n, 1, 1, "K");
  const Matrix<double> V = K.array().sin();
  for (const double q : {-1.0, 0.5, 1.0}) {
    const auto fit = attention(Matrix<double>{{q}}, K, V);
    const double alive = double(n) * std::exp(-q * q);
    const double limit = std::sin(q) * std::exp(-0.5);
    verify(std::abs(fit.O(0) - limit),
           4 * (1 + std::abs(limit)) / std::sqrt(alive));
    verify(std::abs(double(n) * fit.A.squaredNorm() / std::exp(q * q) - 1),
           4 * (std::exp(2 * q * q) + 2 * std::exp(q * q / 2)) /
               std::sqrt(double(n)));
    refute(std::abs(fit.O(0) - std::sin(q)), 0.1);
  }
}
BOOST_AUTO_TEST_CASE(limits_take_many_keys) {
  const double n = 4096;
  const auto middle = [](Vector<double> x) {
    std::sort(x.begin(), x.end());
    return x(x.size() / 2);
  };
  for (const double a : {1.0, 3.0, 6.0}) {
    Vector<double> place(25), squares(25);
    for (Index k = 0; k < 25; ++k) {
      const Matrix<double> K =
          gaussian<double>(Index(n), 1, std::uint64_t(k + 1), "K");
      const auto fit = attention(Matrix<double>{{a}}, K, K);
      place(k) = fit.O(0);
      squares(k) = n * fit.A.squaredNorm() / std::exp(a * a);
    }
    const double near = middle(place), share = middle(squares);

    // hold both limits to the number of keys
    const std::string name = std::to_string(int(a));
    fact("place_" + name, near);
    fact("squares_" + name, share, 2);
    if (a < 6) verify(std::abs(near - a), 2 * std::exp(a * a / 4) / std::sqrt(n));
    else refute(a - near, 1);
    verify(near, std::sqrt(2 * std::log(n)));
    if (a == 6) verify(0.8 * std::sqrt(2 * std::log(n)), near);
    if (a > 1) refute(1 - share, 0.5);
    else verify(std::abs(share - 1), (std::exp(2 * a * a) +
                                      2 * std::exp(a * a / 2)) / std::sqrt(n));
  }
}

// check the leave-one-out shortcut
BOOST_AUTO_TEST_CASE(leave_one_out_shortcut) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index n = Index(2 + seed % 17);
    const Matrix<double> S = 2 * gaussian<double>(n, n, seed, "S");
    const Matrix<double> V = gaussian<double>(n, 2, seed, "V");
    const Matrix<double> A = softmax(S), O = average(A, V);
    const Matrix<double> left = leave_one_out(S, V);
    const double size = V.cwiseAbs().maxCoeff();
    for (Index j = 0; j < n; ++j) {
      const double rest = 1 - A(j, j);
      const double most = gamma(8 * n + 32, 0x1p-53) * size / rest / rest;
      for (Index c = 0; c < 2; ++c)
        verify(distance(V(j, c) - left(j, c), (V(j, c) - O(j, c)) / rest),
               most);
    }
  }
  const Matrix<double> one{{3.0}};
  verify(leave_one_out(one, one)(0), 0);
}

// check the bias at the boundary
BOOST_AUTO_TEST_CASE(boundary_bias) {
  const Index n = 100000;
  const double h = 0.005, step = 1.0 / double(n);
  Matrix<double> K(n, 1);
  for (Index j = 0; j < n; ++j) K(j) = (double(j) + 0.5) * step;
  const Matrix<double> V = (2 * K.array() + 0.3).sin();
  const Matrix<double> q{{0.0}};
  const double m = std::sin(0.3), slope = 2 * std::cos(0.3), bend = -4 * m;
  const auto fit = nadaraya_watson(q, K, V, h);
  const double line = local_linear(fit.A, q, K, V)(0) - m;
  const double mean = fit.O(0) - m, ours = std::sqrt(2 / M_PI) * h * slope;
  fact("mean", mean / ours);
  fact("line", line / (h * h * bend));
  const double next = 8 * 2 * h * h * h, grid = step * step / h * slope +
      gamma(2 * n + Index(16 / (h * h)), 0x1p-53);
  verify(std::abs(mean - ours - h * h * bend / 2), next + grid);
  verify(std::abs(line - h * h * bend / 2 * (M_PI - 4) / (M_PI - 2)),
         next + grid);
}

// check the weighted line
/// Relative error of a weighted line through K (n x d) with weights a.
double line_error(const Matrix<double>& a, const Matrix<double>& K,
                  double ridge) {
  const Index n = K.rows(), d = K.cols();
  const Matrix<double> k = a * K, X = K.rowwise() - k.row(0);
  Matrix<double> G = X.transpose() * (a.row(0).asDiagonal() * X);
  G.diagonal().array() += ridge;
  const Matrix<double> I = Matrix<double>::Identity(d, d);
  const double condition = G.norm() * solve_rows(cholesky(G), I).norm();
  return gamma(8 * (n + d * d), 0x1p-53) * condition;
}
/// A distance times what a line of that slope and value reaches in it.
double line_size(const Matrix<double>& q, const Matrix<double>& K,
                 double value, double slope) {
  const double reach = 1 + K.norm() + q.norm();
  return reach * (1 + value + slope * reach);
}
BOOST_AUTO_TEST_CASE(line_is_least_squares) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<double> K = gaussian<double>(8, 2, seed, "K");
    const Matrix<double> V = gaussian<double>(8, 1, seed, "V");
    const Matrix<double> q = gaussian<double>(1, 2, seed, "q");
    const double ridge = double(seed % 3) / 4;
    const Matrix<double> A = softmax(gaussian<double>(1, 8, seed, "A"));
    const auto at = [&](double x, double y) {
      const Matrix<double> moved{{q(0) + x, q(1) + y}};
      return local_linear(A, moved, K, V, ridge)(0);
    };
    const double a = at(0, 0);
    const Vector<double> b{{at(1, 0) - a, at(0, 1) - a}};

    // write the loss of a line
    const auto loss = [&](double level, double x, double y) {
      double sum = ridge * (x * x + y * y);
      for (Index j = 0; j < 8; ++j) {
        const double r = V(j) - level - x * (K(j, 0) - q(0)) -
                         y * (K(j, 1) - q(1));
        sum += A(j) * r * r;
      }
      return sum;
    };
    const double size = line_size(q, K, V.norm(), b.norm());
    const double most = line_error(A, K, ridge) * size * size;
    verify(distance(loss(a + 1, b(0), b(1)), loss(a - 1, b(0), b(1))), most);
    verify(distance(loss(a, b(0) + 1, b(1)), loss(a, b(0) - 1, b(1))), most);
    verify(distance(loss(a, b(0), b(1) + 1), loss(a, b(0), b(1) - 1)), most);
  }
}
BOOST_AUTO_TEST_CASE(line_reproduces_affine) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index d = Index(1 + seed % 4);
    const Matrix<double> K = gaussian<double>(12, d, seed, "K");
    const Matrix<double> Q = 5 * gaussian<double>(3, d, seed, "Q");
    const Matrix<double> B = gaussian<double>(d, 2, seed, "B");
    const Matrix<double> A = softmax(gaussian<double>(3, 12, seed, "A"));
    const RowVector<double> at = gaussian<double>(1, 2, seed, "at");
    const Matrix<double> V = (K * B).rowwise() + at;
    const Matrix<double> truth = (Q * B).rowwise() + at;
    double most = 0;
    for (Index i = 0; i < 3; ++i)
      most = std::max(most, line_error(A.row(i), K, 0));
    verify(distance(local_linear(A, Q, K, V), truth),
           most * line_size(Q, K, V.norm(), B.norm()));
    refute(distance(average(A, V), truth), 0.1);
  }
}
BOOST_AUTO_TEST_CASE(lines_that_do_not_exist) {
  const Matrix<double> K = gaussian<double>(4, 2, 1, "K");
  const Matrix<double> V = gaussian<double>(4, 1, 1, "V"), q = K.row(0);
  const Matrix<double> one{{0, 0, 1, 0}}, none = Matrix<double>::Zero(1, 4);
  BOOST_CHECK_EXCEPTION(local_linear(one, q, K, V), std::domain_error,
                        says("local_linear: the keys that query 0"));
  verify(distance(local_linear(one, q, K, V, 0.5)(0), V(2)), 0);
  verify(std::abs(local_linear(none, q, K, V)(0)), 0);
  BOOST_CHECK_EXCEPTION(local_linear(one, q, K, V, -1.0), std::domain_error,
                        says("local_linear: ridge"));
  BOOST_CHECK_EXCEPTION(local_linear(one / 2, q, K, V, 0.5),
                        std::domain_error,
                        says("the weights of query 0 add up to 0.5"));
  for (const double more : {0.0, 1.0})
    BOOST_CHECK_EXCEPTION(
        local_linear(Matrix<double>{{1, -1, 0, more}}, q, K, V, 0.5),
        std::domain_error,
        says("local_linear: a weight of query 0 is negative"));
  BOOST_CHECK_EXCEPTION(local_linear(one, q, K, K.topRows(3)),
                        std::invalid_argument, says("local_linear: A is 1x4"));
}
BOOST_AUTO_TEST_CASE(lines_through_no_number) {
  const Matrix<double> K = gaussian<double>(5, 2, 1, "K");
  const Matrix<double> A = softmax(gaussian<double>(2, 5, 1, "A"));
  const Matrix<double> Q = K.topRows(2), truth = local_linear(A, Q, K, K);
  const double nan = std::nan("");
  Matrix<double> bad = A, far = K;
  bad(0, 2) = nan;
  const Matrix<double> O = local_linear(bad, Q, K, K);
  BOOST_TEST(O.row(0).array().isNaN().all());
  verify((O - truth).row(1).norm(), 0);
  BOOST_TEST(local_linear(A, Q, K, K, nan).array().isNaN().all());
  for (const double x : {nan, HUGE_VAL, -HUGE_VAL}) {
    far(3, 1) = x;
    BOOST_TEST(local_linear(A, Q, far, K, 1.0).array().isNaN().all());
  }
  for (const double r : {0.0, 1.0})
    BOOST_TEST(local_linear(A, Q, 1e200 * K, K, r).array().isNaN().all());
}

// check the edges of regression
BOOST_AUTO_TEST_CASE(regression_edges) {
  const Matrix<double> Q = gaussian<double>(2, 3, 1, "Q");
  const Matrix<double> none(0, 3), V0(0, 2);
  const auto empty = nadaraya_watson(Q, none, V0, 1.0);
  verify(empty.O.cwiseAbs().sum(), 0);
  BOOST_TEST(empty.logZ(0) == -HUGE_VAL);
  BOOST_TEST(nadaraya_watson(none, Q, Q, 1.0).O.rows() == 0);
  const auto sharp = nadaraya_watson(Q, Q, Q, 1e-9);
  verify(largest(sharp.O - Q), 0);
  for (const double h : {0.0, -1.0, std::nan(""), 1e-170, 1e160, HUGE_VAL})
    BOOST_CHECK_EXCEPTION(nadaraya_watson(Q, Q, Q, h), std::domain_error,
                          says("nadaraya_watson: bandwidth"));
  BOOST_CHECK_EXCEPTION(nadaraya_watson(Q, Q, V0, 1.0),
                        std::invalid_argument, says("K is 2x3 but V is 0x2"));
  BOOST_CHECK_EXCEPTION(
      gaussian_scores(Q, Q, Metric<double>::identity(2)),
      std::invalid_argument, says("gaussian_scores: Q is 2x3"));
  BOOST_CHECK_EXCEPTION(key_prior(Q, Metric<double>::identity(2)),
                        std::invalid_argument, says("key_prior: K is 2x3"));
  BOOST_CHECK_EXCEPTION(leave_one_out(Q, Q), std::invalid_argument,
                        says("leave_one_out: the scores are 2x3"));
}
BOOST_AUTO_TEST_CASE(regression_refuses_each_extent) {
  const Matrix<double> Q(2, 3), S(2, 2), V(4, 1);
  const auto g = Metric<double>::identity(3);
  const auto refused = [](auto f, const char* words) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  refused([&] { gaussian_scores(S, Q, g); }, "Q is 2x2 and K is 2x3");
  refused([&] { gaussian_scores(Q, S, g); }, "Q is 2x3 and K is 2x2");
  const Bilinear<double> oblong(Matrix<double>::Ones(3, 2));
  refused([&] { gaussian_scores(Q, S, oblong); }, "but the form is 3x2");
  refused([&] { key_prior(S, oblong); }, "K is 2x2 but the form is 3x2");
  refused([&] { leave_one_out(S, V); }, "scores are 2x2 but V is 4x1");
  const Matrix<double> A(2, 4), K(4, 3);
  refused([&] { local_linear(A, K, K, V); }, "A is 2x4, Q 4x3");
  refused([&] { local_linear(S, Q, K, V); }, "A is 2x2");
  refused([&] { local_linear(A, S, K, V); }, "Q 2x2, K 4x3");
}

// check errata about regression
BOOST_AUTO_TEST_CASE(plain_gaussian_is_not_attention) {
  const Matrix<double> Q = gaussian<double>(16, 8, 1, "Q");
  const Matrix<double> K = gaussian<double>(16, 8, 1, "K");
  const auto g = Metric<double>::scaled(8);
  const Matrix<double> A = softmax(scores(Q, K));
  Matrix<double> G = gaussian_scores(Q, K, g);
  const double plain = distance(softmax(G), A);
  const Matrix<double> size = G.cwiseAbs();
  G.rowwise() += key_prior(K, g).transpose();
  const double with_prior = distance(softmax(G), A);
  fact("gap", plain);
  fact("with_prior", with_prior, 2);
  refute(plain, 0.05);
  const double largest = 4 * size.maxCoeff() + 4 * G.cwiseAbs().maxCoeff();
  verify(with_prior, 2 * gamma(11, 0x1p-53) * largest +
                         2 * gamma(21, 0x1p-53));
}
BOOST_AUTO_TEST_CASE(weights_are_no_kernel_matrix) {
  const Matrix<double> K = gaussian<double>(10, 4, 1, "K");
  const Matrix<double> A = softmax(scores(K, K));
  const double asymmetry = distance(A, A.transpose());
  fact("asymmetry", asymmetry);
  refute(asymmetry, 0.05);
  const Matrix<double> two{{3, 0}, {0, 3}}, swapped{{0, 3}, {3, 0}};
  const Matrix<double> B = softmax(scores(swapped, two));
  const double eigenvalue = B.trace() - 1;  // the other one is 1
  fact("eigenvalue", eigenvalue);
  refute(-eigenvalue, 0.5);
  verify(std::abs(B(0, 0) * B(1, 1) - B(0, 1) * B(1, 0) - eigenvalue),
         gamma(8, 0x1p-53));

  // let three queries go in a circle
  const Matrix<double> I = 5 * Matrix<double>::Identity(3, 3);
  Matrix<double> next(3, 3);
  next << I.bottomRows(2), I.topRows(1);
  const Matrix<double> D = softmax(scores(next, I));
  refute(4 * D.determinant() - std::pow(D.trace() - 1, 2), 2);
}

// check the choice of a temperature
BOOST_AUTO_TEST_CASE(answer_choose_temperature) {
  const Matrix<double> K = uniform<double>(200, 1, 1, "K") * 3;
  const Matrix<double> m = (2 * K.array()).sin();
  const Matrix<double> V = m + 0.3 * gaussian<double>(200, 1, 1, "V");

  // search for the bandwidth twice
  double chosen = 0, best = 0, least = 1e9, seen = 1e9, paid = 0;
  for (double h = 0.02; h < 2; h *= 1.1) {
    const auto g = Metric<double>::scaled(1, 1 / (h * h));
    const Matrix<double> S = gaussian_scores(K, K, g);
    const double hidden = (leave_one_out(S, V) - V).squaredNorm();
    const double truth = (average(softmax(S), V) - m).squaredNorm();
    if (hidden < seen) seen = hidden, chosen = h, paid = truth;
    if (truth < least) least = truth, best = h;
  }
  fact("chosen", chosen, 2);
  fact("best", best, 2);
  fact("excess", paid / least);
  verify(paid, 0.09 * 200 / 4);
  const Matrix<double> S = gaussian_scores(
      K, K, Metric<double>::scaled(1, 1e14));
  verify(distance(average(softmax(S), V), V), 0);
}

// check the answer about bandwidths
BOOST_AUTO_TEST_CASE(answer_balance) {
  const Matrix<double> K = lattice(1024, 1);
  const double b = std::sin(1.0), sigma2 = 0.04;
  const double c = sigma2 * 6 / 1024 / (2 * std::sqrt(M_PI));
  const double h = std::pow(c / (b * b), 0.2);
  const auto parts = [&](double x) {
    const Risk r = risk(K, x * h);
    return std::pair(r.bias * r.bias, sigma2 * r.variance);
  };
  const auto [bias, variance] = parts(1);
  const double rounding = 64 / (h * h) *
      gamma(2 * 1024 + Index(4 * 6 * 9 / (h * h)), 0x1p-53);
  const auto below = [](double y) { return 1 / (1 - y) / (1 - y) - 1; };
  verify(std::abs(variance / bias / 4 - 1), below(h * h / 4) + rounding);
  for (const double x : {0.5, 2.0}) {
    const auto [left, right] = parts(x);
    const double told = (std::pow(x, 4) + 4 / x) / 5;
    verify(std::abs((left + right) / (bias + variance) / told - 1),
           below(h * h) + rounding);
  }
}
BOOST_AUTO_TEST_CASE(answer_signs) {
  const Index n = 400;
  const double h = 0.1, step = 1.0 / double(n);
  const Vector<double> k =
      (Vector<double>::LinSpaced(n, 0, double(n - 1)).array() + 0.5) * step;
  const Matrix<double> q{{0.0}}, K = k;
  const Matrix<double> I = Matrix<double>::Identity(n, n);
  const auto fit = nadaraya_watson(q, K, I, h);
  const Matrix<double> w = local_linear(fit.A, q, K, I);
  Index first = 0;
  while (w(first) > 0) ++first;
  verify(std::abs(k(first) - h * std::sqrt(M_PI / 2)), 2 * step);
  for (Index j = 0; j < n; ++j)
    BOOST_TEST((j < first ? w(j) > 0 : w(j) <= 0));
}
BOOST_AUTO_TEST_SUITE_END()
