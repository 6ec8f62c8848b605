// tests/checking_test.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "hundred.hpp"
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <unistd.h>
#include "layer.hpp"
using namespace attn;

// show a matrix on one line
namespace Eigen {
inline void showValue(const attn::Matrix<double>& m, std::ostream& out) {
  out << m.format(IOFormat(StreamPrecision, DontAlignCols, ", ", "; ", "",
                           "", "[", "]"));
}
}  // namespace Eigen

// run a check that ought to fail
template <class F>
std::string complaint(F&& check) {
  record().falsifying = true;
  std::string text;
  try {
    check();
  } catch (const rc::detail::CaseResult& failure) {
    text = failure.description;
  }
  record().falsifying = false;
  return text;
}

// polynomials in three variables

// add up the weight of the zeros
template <class F> struct Term { F c; std::array<Index, 3> power; };

template <class F>
long zeros(const std::vector<Term<F>>& f, const std::vector<long>& w,
           std::array<F, 3> x = {}, std::size_t k = 0) {
  if (k == 3) return evaluate(f, x) == F(0);
  long sum = 0;
  for (std::size_t v = 0; v < w.size(); ++v) {
    x[k] = F(v);
    if (w[v] > 0) sum += w[v] * zeros(f, w, x, k + 1);
  }
  return sum;
}

// evaluate a list of terms
template <class F>
F evaluate(const std::vector<Term<F>>& f, const std::array<F, 3>& x) {
  F sum = 0;
  for (const auto& [c, power] : f) {
    F term = c;
    for (std::size_t i = 0; i < 3; ++i)
      for (Index j = 0; j < power[i]; ++j) term *= x[i];
    sum += term;
  }
  return sum;
}

// draw a polynomial of a given degree
template <class F, class G>
std::vector<Term<F>> random_polynomial(Index D, G& generator) {
  std::vector<Term<F>> f;
  for (Index i = 0; i <= D; ++i)
    for (Index j = 0; i + j <= D; ++j)
      for (Index k = 0; i + j + k <= D; ++k)
        if (i + j + k < D && generator() % 2)
          f.push_back({F::random(generator()), {i, j, k}});
  const std::size_t lower = f.size();
  for (Index i = 0; i <= D; ++i)
    for (Index j = 0; i + j <= D; ++j)
      f.push_back({F::random(generator()), {i, j, D - i - j}});
  f[lower + generator() % (f.size() - lower)].c = 1;
  return f;
}
template <class F>
std::vector<Term<F>> with_roots(Index D) {
  std::vector<F> c(std::size_t(D + 1), F(0));
  c[0] = 1;
  for (Index k = 1; k <= D; ++k)  // multiply by (x - k)
    for (std::size_t i = c.size(); i-- > 0;)
      c[i] = (i > 0 ? c[i - 1] : F(0)) - F(k) * c[i];
  std::vector<Term<F>> f;
  for (Index i = 0; i <= D; ++i)
    f.push_back({c[std::size_t(i)], {i, 0, 0}});
  return f;
}

// count the points at which a claim passes
template <class F>
using Poly = std::vector<Term<F>>;

template <class F>
int passes(const Poly<F>& P, const Poly<F>& Q, const Poly<F>& R,
           const Poly<F>& T) {
  const int p = int(F::modulus);
  int count = 0;
  for (int i = 0; i < p * p * p; ++i)
    try {
      const std::array<F, 3> x{i % p, i / p % p, i / (p * p)};
      count += evaluate(P, x) / evaluate(Q, x) ==
               evaluate(R, x) / evaluate(T, x);
    } catch (const std::domain_error&) {
    }
  return count;
}
template <class F>
bool identical(const Poly<F>& P, const Poly<F>& Q, const Poly<F>& R,
               const Poly<F>& T) {
  std::map<std::array<Index, 3>, F> sum;
  const auto add = [&](const Poly<F>& f, const Poly<F>& g, F sign) {
    for (const auto& [c, m] : f)
      for (const auto& [e, n] : g)
        sum[{m[0] + n[0], m[1] + n[1], m[2] + n[2]}] += sign * c * e;
  };
  add(P, T, 1);
  add(R, Q, -1);
  return std::all_of(sum.begin(), sum.end(),
                     [](const auto& x) { return x.second == F(0); });
}

// run this program again for some cases
struct Rerun {
  std::string ledger, log;
  int status;
};
Rerun rerun(const std::string& cases) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("attn-ledger-" + std::to_string(getpid()));
  const std::string ledger = file.string(), log = ledger + ".log";
  const std::string command =
      "ATTN_LEDGER='" + ledger + "' '" +
      boost::unit_test::framework::master_test_suite().argv[0] +
      "' --run_test=" + cases + " >'" + log + "' 2>&1";
  const int status = std::system(command.c_str());
  const auto take = [](const std::string& name) {
    std::ifstream in(name);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::filesystem::remove(name);
    return text;
  };
  return {take(ledger), take(log), status};
}

BOOST_AUTO_TEST_SUITE(checking)

// check the checks

// check that verify fails when it must
BOOST_AUTO_TEST_CASE(verify_fails_when_it_must) {
  const double inf = HUGE_VAL, nan = std::nan("");
  const double pairs[][2] = {
      {nan, 1}, {1, nan}, {nan, nan}, {std::nextafter(1.0, 2.0), 1},
      {inf, 1}, {inf, inf}, {0, inf}, {1, inf}, {-1e-9, 1}, {0, -1},
      {5e-324, 0}, {std::nextafter(3.0, 4.0), 3}};
  for (const auto& [error, bound] : pairs)
    BOOST_TEST(complaint([&] { verify(error, bound); }) != "",
               error << " against " << bound << " passed");

  // check that what is just right passes
  verify(0, 0);
  verify(1, 1);
  verify(0, 1);
  verify(5e-324, 5e-324);
}
BOOST_AUTO_TEST_CASE(verify_names_the_worst_entry) {
  const Matrix<double> good = gaussian<double>(5, 7, 1);
  const Matrix<quad> truth = lift<quad>(good);
  const Matrix<double> bound = Matrix<double>::Constant(5, 7, 1e-12);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 7; ++j)
      for (const double planted : {2e-12, -2e-12, std::nan("")}) {
        Matrix<double> bad = good;
        bad(i, j) += planted;
        std::ostringstream place;
        place << " at (" << i << "," << j << ")";
        const std::string text =
            complaint([&] { verify(bad, truth, bound); });
        BOOST_TEST(text.find(place.str()) != std::string::npos, text);
      }
  verify(good, truth, bound);
}
BOOST_AUTO_TEST_CASE(nan_is_the_largest_distance) {
  const Matrix<double> good = Matrix<double>::Constant(2, 3, 0.5);
  for (Index k = 0; k < good.size(); ++k) {
    Matrix<double> bad = good;
    bad(k / 3, k % 3) = std::nan("");
    BOOST_TEST(std::isnan(distance(bad, good)));
    BOOST_TEST(std::isnan(distance(good, bad)));
    BOOST_TEST(std::isnan(largest(bad)));
    bad(k / 3, k % 3) = good(k / 3, k % 3) - 8;
    BOOST_TEST(distance(bad, good) == 8);
  }
  BOOST_TEST(complaint([] { verify(worse(0, std::nan("")), 1); }) != "");
  BOOST_TEST(worse(1, 2) == 2);
  BOOST_TEST(worse(2, 1) == 2);
}
BOOST_AUTO_TEST_CASE(verify_refuses_other_shapes) {
  const Matrix<double> a = gaussian<double>(2, 3, 1), empty(0, 3);
  const auto fails = [](const auto& x, const auto& y, const auto& z) {
    return complaint([&] { verify(x, y, z); }) != "";
  };
  BOOST_TEST(fails(a, Matrix<quad>(3, 2), a));
  BOOST_TEST(fails(a, lift<quad>(a), empty));
  BOOST_TEST(fails(empty, lift<quad>(a), a));
  BOOST_TEST(!fails(empty, lift<quad>(empty), empty));
  BOOST_TEST(record().tally[0].instances == 0);  // empty: not counted
}
BOOST_AUTO_TEST_CASE(refute_needs_a_gap) {
  const double nan = std::nan("");
  for (const auto& [gap, least] :
       {std::pair{1.0, 2.0}, {nan, 1.0}, {1.0, nan}, {1.0, 0.0},
        {0.0, 0.0}, {-2.0, -3.0}, {1.0, HUGE_VAL},
        {HUGE_VAL, HUGE_VAL}})
    BOOST_TEST(complaint([&] { refute(gap, least); }) != "");
  refute(2, 1);
  refute(HUGE_VAL, 1);
  BOOST_TEST(record().tally[std::size_t(Kind::refuted)].ratio == 0.5);
}
BOOST_AUTO_TEST_CASE(limits_that_are_missed) {
  const auto steps = [](double off) {
    return [=](Index n) { return 1 + 1 / double(n) + off; };
  };
  verify_limit(steps(0), 1000, 1, 1.0);
  BOOST_TEST(complaint([&] {
    verify_limit(steps(0.01), 1000, 1, 1.0);
  }) != "");
}
BOOST_AUTO_TEST_CASE(ledger_keeps_the_worst) {
  for (const double error : {1.0, 3.0, 2.0}) verify(error, 4);
  const Tally& t = record().tally[std::size_t(Kind::bound)];
  BOOST_TEST(t.instances == 3);
  BOOST_TEST(t.ratio == 0.75);
  BOOST_TEST(t.error == 3);
  verify(1e-9, 1.1e-9);  // a smaller error, but closer to its bound
  BOOST_TEST(t.error == 1e-9);
}

// check what the observer writes of planted failures
BOOST_AUTO_TEST_SUITE(planted, *boost::unit_test::disabled())
BOOST_AUTO_TEST_CASE(passes) {
  verify(1, 2);
  fact("answer", 42);
}
BOOST_AUTO_TEST_CASE(exceeds) { verify(3, 2); }
BOOST_AUTO_TEST_CASE(throws) {
  verify(1, 2);
  throw std::runtime_error("planted");
}
BOOST_AUTO_TEST_CASE(crashes) { std::_Exit(3); }
BOOST_AUTO_TEST_CASE(aborts) { std::raise(SIGSEGV); }
BOOST_AUTO_TEST_CASE(repeats) {
  for (int i = 0; i < 10; ++i) verify(5, 4);
}
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_CASE(observer_tells_failures_from_crashes) {
  const Rerun failed = rerun("checking/planted/passes,exceeds,throws");
  const auto has = [&](const std::string& words) {
    return failed.ledger.find(words) != std::string::npos;
  };
  const std::string at = std::string("\t") + __FILE__ + ":";
  BOOST_TEST(has("case\tchecking/planted/passes\tpassed" + at),
             failed.ledger);
  BOOST_TEST(has("case\tchecking/planted/exceeds\tfailed" + at));
  BOOST_TEST(has("case\tchecking/planted/throws\tfailed" + at));
  BOOST_TEST(
      has("verify\tchecking/planted/exceeds\tbound\t1\t3\t2\t1.5\n"));
  BOOST_TEST(has("fact\tchecking/planted/passes/answer\t42\n"));
  BOOST_TEST((has("\nend\n") && failed.status != 0));
  const Rerun crashed = rerun("checking/planted/crashes");
  BOOST_TEST(crashed.ledger.find("end") == std::string::npos);
  BOOST_TEST(crashed.status != 0);
}
BOOST_AUTO_TEST_CASE(observer_keeps_the_end_from_an_aborted_run) {
  const Rerun aborted = rerun("checking/planted/passes,aborts,repeats");
  const auto has = [&](const std::string& words) {
    return aborted.ledger.find(words) != std::string::npos;
  };
  BOOST_TEST(has("case\tchecking/planted/passes\tpassed"), aborted.ledger);
  BOOST_TEST(has("case\tchecking/planted/aborts\tfailed"));
  BOOST_TEST(!has("planted/repeats"));
  BOOST_TEST(!has("end\n"));
  BOOST_TEST(aborted.status != 0);
}
BOOST_AUTO_TEST_CASE(three_failures_are_told_and_the_rest_counted) {
  const Rerun repeated = rerun("checking/planted/repeats");
  const std::string words = "error 5 exceeds bound 4";
  int told = 0;
  for (std::size_t at = 0;
       (at = repeated.log.find(words, at)) != std::string::npos; ++at)
    ++told;
  BOOST_TEST(told == 3, repeated.log);
  BOOST_TEST(repeated.log.find("planted/repeats\": 7 more failures") !=
             std::string::npos);
  BOOST_TEST(repeated.ledger.find("\tbound\t10\t5\t4\t1.25\n") !=
             std::string::npos);
}

// check the arithmetic of quad
BOOST_AUTO_TEST_CASE(quad_agrees_with_a_hundred_digits) {
  const double u = unit_roundoff<quad>();
  const Matrix<double> x = 20 * uniform<double>(300, 1, 3);
  const auto compare = [&](const quad& q, const big& truth) {
    verify(to_double(big(abs(carry<big>(q) / truth - 1))), 4 * u);
  };
  for (Index i = 0; i < x.rows(); ++i) {
    const double a = x(i), b = std::abs(x(i));
    compare(exp(quad(a)), exp(big(a)));
    compare(exp(quad(35 * a)), exp(big(35 * a)));
    compare(log(1 + quad(b)), log(1 + big(b)));
    compare(sqrt(quad(b)), sqrt(big(b)));
    compare(tanh(quad(b)), tanh(big(b)));
    compare(pow(quad(b), quad(a)), pow(big(b), big(a)));
    compare(quad(a) / (quad(b) + 1), big(a) / (big(b) + 1));

    // compare the rarer functions with a hundred digits
    const double c = a / 20;
    const auto near = [&](const quad& q, const big& truth) {
      verify(to_double(big(abs(carry<big>(q) / truth - 1))), 16 * u);
    };
    near(sin(quad(a)), sin(big(a)));
    near(cos(quad(a)), cos(big(a)));
    near(tan(quad(a)), tan(big(a)));
    near(sinh(quad(a)), sinh(big(a)));
    near(cosh(quad(a)), cosh(big(a)));
    near(asin(quad(c)), asin(big(c)));
    near(acos(quad(c)), acos(big(c)));
    near(atan(quad(a)), atan(big(a)));
    near(atan2(quad(a), quad(-b)), atan2(big(a), big(-b)));
    near(expm1(quad(c)), exp(big(c)) - 1);
    near(log1p(quad(b)), log(1 + big(b)));
    near(log2(quad(b)), log(big(b)) / log(big(2)));
    big term = c, series = c, factorials = 0;
    for (int k = 1; k < 80; ++k) {
      term *= -big(c) * c / k;
      series += term / (2 * k + 1);
    }
    near(erf(quad(c)), series / sqrt(atan(big(1))));
    const int m = 3 + int(b);
    for (int k = 2; k < m; ++k) factorials += log(big(k));
    near(lgamma(quad(m)), factorials);
    BOOST_TEST((floor(quad(a)) == std::floor(a)));
    BOOST_TEST((ceil(quad(a)) == std::ceil(a)));
  }
}
BOOST_AUTO_TEST_CASE(quad_knows_its_limits) {
  using limits = std::numeric_limits<quad>;
  const quad one = 1, e = limits::epsilon();
  BOOST_TEST((one + e != one && one + e / 2 == one));
  BOOST_TEST((isfinite(limits::max()) && isinf(limits::max() * (1 + e))));
  BOOST_TEST((limits::denorm_min() > 0 && limits::denorm_min() / 2 == 0));
  BOOST_TEST((limits::min() * e == limits::denorm_min()));
  BOOST_TEST((limits::lowest() == -limits::max()));
  BOOST_TEST((isinf(limits::infinity()) && !isnan(limits::infinity())));
  BOOST_TEST((isnan(limits::quiet_NaN())));
  std::ostringstream text;
  text << one / 3;
  BOOST_TEST(text.str() == "0.333333333333333333333333333333333317");
}
BOOST_AUTO_TEST_CASE(quad_runs_the_solvers) {
  for (Index n = 1; n <= 6; ++n) {
    const auto R = lift<quad>(gaussian<double>(n, n, std::uint64_t(n)));
    const Matrix<quad> I = Matrix<quad>::Identity(n, n);
    const Matrix<quad> G = R * R.transpose() + I;
    const auto residual = [&](const Matrix<quad>& M, const quad& size) {
      verify(largest(M),
             double(32 * n * n) * unit_roundoff<quad>() *
                 to_double(size));
    };
    const quad size = G.norm();
    residual(Matrix<quad>(G.inverse()) * G - I, size);
    const Eigen::LLT<Matrix<quad>> cholesky(G);
    const Matrix<quad> L = cholesky.matrixL();
    residual(L * L.transpose() - G, size);
    const Eigen::SelfAdjointEigenSolver<Matrix<quad>> eigen(G);
    const Matrix<quad> E = eigen.eigenvectors();
    residual(G * E - E * eigen.eigenvalues().asDiagonal(), size);
  }
}

// check the bounds on rounding
BOOST_AUTO_TEST_CASE(product_that_underflows) {
  const Matrix<double> a{{1e-160}}, b{{3.3e-162}};
  const Matrix<double> c = a * b;
  const Matrix<quad> truth = lift<quad>(a) * lift<quad>(b);
  const quad off = abs(c(0, 0) / truth(0, 0) - 1);
  const double u = unit_roundoff<double>();
  const double roundings = to_double(off) / gamma(1, u);
  fact("roundings", roundings, 2);
  refute(roundings, 1e13);
  verify(c, truth, product_bound(a, b));

  // check products around the smallest number
  int broken = 0, beyond = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Index k = 1 + Index(i % 7);
    const Matrix<double> A = gaussian<double>(2, k, i) * 1e-162;
    const Matrix<double> B = gaussian<double>(k, 3, i + 5000) * 1e-160;
    const Matrix<double> C = gaussian<double>(3, 2, i + 9000);
    const Matrix<double> AB = A * B, P = AB * C;
    const Matrix<quad> exact = lift<quad>(A) * lift<quad>(B);
    verify(AB, exact, product_bound(A, B));
    verify(P, Matrix<quad>(exact * lift<quad>(C)), product_bound(A, B, C));

    // count what goes beyond the half of an $\eta$
    const Matrix<quad> size =
        lift<quad>(A).cwiseAbs() * lift<quad>(B).cwiseAbs();
    const Matrix<quad> E = Matrix<quad>::Ones(2, 3);
    const Matrix<quad> last = lift<quad>(C).cwiseAbs();
    const Matrix<quad> error = (lift<quad>(AB) - exact).cwiseAbs();
    broken += (error.array() > (quad(gamma(k, u)) * size).array()).all();
    const auto count = [&](const Matrix<quad>& by, const Matrix<quad>& of,
                           Index terms, const Matrix<quad>& lost) {
      const quad g = gamma(terms, u), half = quad(0x1p-1074) / 2;
      beyond += int((by.array() > (g * of + (1 + g) * half * lost).array())
                        .count());
    };
    count(error, size, k, double(k) * E);
    count((lift<quad>(P) - exact * lift<quad>(C)).cwiseAbs(), size * last,
          k + 3, double(k) * E * last + 3 * E.leftCols(2));
  }
  refute(broken, 900);
  verify(beyond, 0);
}
BOOST_AUTO_TEST_CASE(gamma_bounds_many_roundings) {
  for (const double u : {0x1p-24, 0x1p-11, 0x1p-8})
    for (Index n : {0, 1, 2, 3, 10, 100, 255}) {
      const quad down = pow(1 - quad(u), int(n));
      const double own = 4 * unit_roundoff<double>();
      const double bound = gamma(n, u) * (1 + own);
      verify(to_double(quad(1 - down)), bound);
      verify(to_double(quad(1 / down - 1)), bound);
      const Matrix<double> d = u * uniform<double>(n, 1, 40);
      const Matrix<double> sign = uniform<double>(n, 1, 41);
      quad product = 1;
      for (Index i = 0; i < n; ++i)
        product *= sign(i) < 0 ? 1 / (1 + quad(d(i))) : 1 + quad(d(i));
      verify(distance(product, 1), bound);
    }
  BOOST_CHECK_EXCEPTION(gamma(256, 0x1p-8), std::domain_error,
                        says("gamma: n u = 1"));
  BOOST_CHECK_EXCEPTION(gamma(-1, 0x1p-8), std::domain_error,
                        says("gamma"));
  for (const double u : {-0.1, -0x1p-53, double(NAN)})
    BOOST_CHECK_EXCEPTION(gamma(1, u), std::domain_error,
                          says("is not in [0, 1)"));
}
BOOST_AUTO_TEST_CASE(product_within_its_bound) {
  double mean = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto k = Index(i % 25), m = Index(i / 25 % 25);
    const Index n = 1 + Index(i * 7 % 24);
    const Matrix<double> A = gaussian<double>(m, k, i);
    const Matrix<double> B = gaussian<double>(k, n, i + 5000);
    const Matrix<double> C = A * B;
    const Matrix<quad> truth = lift<quad>(A) * lift<quad>(B);
    const Matrix<double> bound = product_bound(A, B);
    verify(C, truth, bound);
    double fused = 0;
    for (Index l = k; m > 0 && l-- > 0;)
      fused = std::fma(A(0, l), B(l, 0), fused);
    if (m > 0) verify(distance(fused, truth(0, 0)), bound(0, 0));

    // add the worst ratio of this product to the mean
    double worst = 0;
    for (Index r = 0; r < m; ++r)
      for (Index c = 0; c < n; ++c)
        worst = std::max(
            worst, quotient(distance(C(r, c), truth(r, c)), bound(r, c)));
    mean += worst;
  }
  fact("mean", mean / 2000);
}
BOOST_AUTO_TEST_CASE(product_at_extreme_scales) {
  const double scale[] = {1e-162, 1e150, 1e-5, 1e-160, 1};
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Index k = 1 + Index(i % 20);
    const Matrix<double> A = gaussian<double>(3, k, i) * scale[i % 5];
    const Matrix<double> B = gaussian<double>(k, 4, i + 900) * scale[i % 4];
    verify(Matrix<double>(A * B),
           Matrix<quad>(lift<quad>(A) * lift<quad>(B)),
           product_bound(A, B));
  }
}
BOOST_AUTO_TEST_CASE(product_bound_by_hand) {
  const double u = 0x1p-53, tiny = 0x1p-1074;
  const Matrix<double> a{{1, -2}}, b{{3}, {4}}, c{{-5.0}};
  verify(std::abs(product_bound(a, b, c)(0, 0) / (gamma(3, u) * 55) - 1),
         gamma(30, u));
  verify(std::abs(product_bound<float>(a, b)(0, 0) /
                  (gamma(2, 0x1p-24) * 11) - 1), gamma(30, u));
  BOOST_TEST((product_bound(0 * a, b)(0, 0) == 2 * tiny));
  BOOST_TEST((product_bound(0 * a, b, c)(0, 0) == (2 * 5 + 1) * tiny));
}
BOOST_AUTO_TEST_CASE(float_product_within_bound) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Index m = Index(i % 5), k = Index(i % 33), n = Index(i % 7);
    const Matrix<float> A = gaussian<float>(m, k, i);
    const Matrix<float> B = gaussian<float>(k, n, i + 1000);
    verify(Matrix<float>(A * B),
           Matrix<quad>(lift<quad>(A) * lift<quad>(B)),
           product_bound<float>(A, B));
  }
}
BOOST_AUTO_TEST_CASE(chain_within_its_bound) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Index m = Index(i % 6), k = Index(i % 20), l = Index(i % 11);
    const Matrix<double> A = gaussian<double>(m, k, i);
    const Matrix<double> B = gaussian<double>(k, l, i + 1000);
    const Matrix<double> C = gaussian<double>(l, 5, i + 2000);
    const Matrix<quad> truth =
        lift<quad>(A) * lift<quad>(B) * lift<quad>(C);
    verify(Matrix<double>(A * B * C), truth, product_bound(A, B, C));
    verify(Matrix<double>(A * (B * C)), truth, product_bound(A, B, C));
    const Matrix<double> D = gaussian<double>(5, 2, i + 3000);
    const Matrix<double> bound = product_bound(A, B, C, D);
    const Matrix<quad> longer = truth * lift<quad>(D);
    verify(Matrix<double>((A * B) * (C * D)), longer, bound);
    verify(Matrix<double>(A * (B * (C * D))), longer, bound);
  }
  BOOST_CHECK_EXCEPTION(
      product_bound(Matrix<double>(2, 3), Matrix<double>(2, 3)),
      std::invalid_argument, says("product_bound: 2x3 times 2x3"));
}
BOOST_AUTO_TEST_CASE(exp_within_two_roundings) {
  const auto relative = [](auto computed, const quad& truth) {
    return to_double(quad(abs(quad(computed) / truth - 1)));
  };
  const Matrix<double> x = uniform<double>(4000, 1, 9);
  for (Index i = 0; i < x.size(); ++i) {
    const double s = -350 * (1 + x(i));
    verify(relative(std::exp(s), exp(quad(s))),
           2 * unit_roundoff<double>());
    const float f = float(-40 * (1 + x(i)));
    verify(relative(std::exp(f), exp(quad(f))),
           2 * unit_roundoff<float>());
  }
}
BOOST_AUTO_TEST_CASE(softmax_within_its_bound) {
  const double scale[] = {0.1, 1, 3, 10, 100, 300};
  for (std::uint64_t i = 0; i < 1500; ++i) {
    const Index n = 1 + Index(i % 40), d = Index(i % 9);
    const Matrix<double> Q = gaussian<double>(2, d, i) * scale[i % 6];
    const Matrix<double> K = gaussian<double>(d, n, i + 5000);
    Matrix<double> S = Q * K;
    Matrix<quad> exact = lift<quad>(Q) * lift<quad>(K);
    if (n > 1 && i % 3 == 0) {
      S.col(0).setConstant(-HUGE_VAL);
      exact.col(0).setConstant(quad(-HUGE_VAL));
    }
    verify(softmax(S), softmax(exact),
           softmax_bound(S, product_bound(Q, K)));
  }
  for (const auto& [n, m] : {std::pair{3, 2}, std::pair{2, 2}, std::pair{3, 3}})
    BOOST_CHECK_EXCEPTION(
        softmax_bound(Matrix<double>(2, 3), Matrix<double>(n, m)),
        std::invalid_argument, says("softmax_bound: S is 2x3"));
}
BOOST_AUTO_TEST_CASE(softmax_bound_by_hand) {
  const double r = 0.25, w = std::exp(2 * r), no = -HUGE_VAL;
  const Matrix<double> S{{0, 0, no}, {std::log(3), 0, no}, {no, no, no}};
  const Matrix<double> b =
      softmax_bound(S, Matrix<double>{{r, r, 0}, {0, r, 0}, {0, 0, 0}});
  const double up = std::exp(r) / (1 + w * std::expm1(-r)) - 1;
  const double down = 1 - 1 / (1 + w / 4 * std::expm1(r));
  verify(std::abs(b(0, 0) / (w / 2 * up) - 1), gamma(4400, 0x1p-53));
  verify(std::abs(b(0, 1) / (w / 2 * up) - 1), gamma(4400, 0x1p-53));
  verify(std::abs(b(1, 0) / (w * 3 / 4 * down) - 1), gamma(4400, 0x1p-53));
  BOOST_TEST((b(0, 2) == 4 * 0x1p-1074));
  BOOST_TEST((b.row(2).array() == 0).all());
  const Matrix<double> none(2, 0);
  BOOST_TEST(shape(softmax_bound(none, none)) == "2x0");
}
BOOST_AUTO_TEST_CASE(softmax_bound_of_no_numbers) {
  for (const double x : {HUGE_VAL, double(NAN), -double(NAN)})
    for (Index at = 0; at < 5; ++at)
      for (const double other : {0.0, -HUGE_VAL}) {
        Matrix<double> S = Matrix<double>::Constant(2, 5, other);
        S.row(1).setZero();
        S(0, at) = x;
        const Matrix<double> none = Matrix<double>::Zero(2, 5);
        const Matrix<double> b = softmax_bound(S, none);
        BOOST_TEST((b.row(0).array() == HUGE_VAL).all());
        BOOST_TEST((b.row(1).array() < 0x1p-49).all());
      }
}
BOOST_AUTO_TEST_CASE(softmax_bound_from_below) {
  const double u = 0x1p-24, own = gamma(2, u), r = own + 0.25 + u * std::log(3);
  const double w = std::exp(2 * r) / 4;
  const double over = 1 + w * (3 * std::expm1(own) + std::expm1(r));
  const double down = 1 - std::exp(-own - gamma(2, u)) / over;
  const double b = softmax_bound<float>(Matrix<double>{{std::log(3), 0}},
                                        Matrix<double>{{0, 0.25}})(0, 0);
  verify(std::abs(b / (3 * w * down) - 1), gamma(4400, 0x1p-53));
}
BOOST_AUTO_TEST_CASE(softmax_bound_of_uncertain_scores) {
  const double no = -HUGE_VAL;
  const Matrix<double> S{{0, -745.2, no}};
  const auto bound = [&](double first, double second) {
    return softmax_bound(S, Matrix<double>{{first, second, 0}});
  };
  for (const double off : {-10.0, -1.0, 0.0, 1.0, 10.0}) {
    const Matrix<quad> s{{0, quad(-745.2) + off, no}};
    verify(softmax(S), softmax(s), bound(0, std::abs(off)));
  }
  for (const double vast : {0.5, 40.0, 1e4, HUGE_VAL}) {
    const Matrix<double> b = bound(vast, 0);
    BOOST_TEST(b(0, 0) == HUGE_VAL);
    BOOST_TEST(b(0, 1) == HUGE_VAL);
    BOOST_TEST(b(0, 2) == 4 * 0x1p-1074);
  }
}
BOOST_AUTO_TEST_CASE(softmax_bound_of_exact_scores) {
  const double two = gamma(2, 0x1p-53), one = gamma(1, 0x1p-53);
  const Matrix<double> tie{{7, 7}}, sole{{7}};
  const auto is = [](const Matrix<double>& S, double by_hand) {
    const double b = softmax_bound(S, Matrix<double>(0 * S))(0, 0);
    verify(std::abs(b / by_hand - 1), gamma(4400, 0x1p-53));
  };
  is(tie, (two + two + two) / 2);
  is(sole, two + two + one);
}
BOOST_AUTO_TEST_CASE(softmax_bound_of_a_long_row) {
  const Index n = 65536;
  const double u = 0x1p-24, r = gamma(2, u), w = std::exp(2 * r);
  const double up = std::exp(r + gamma(n, u)) / (1 + w * std::expm1(-r)) - 1;
  const Matrix<double> none = Matrix<double>::Zero(1, n);
  const double b = softmax_bound<float>(none, none)(0, 0);
  verify(std::abs(b * double(n) / (w * up) - 1), gamma(6 * n, 0x1p-53));
}
BOOST_AUTO_TEST_CASE(softmax_of_floats_within_its_bound) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Index n = 1 + Index(i % 50);
    const Matrix<float> S = gaussian<float>(3, n, i) * float(i % 30);
    const Matrix<double> none = Matrix<double>::Zero(3, n);
    verify(softmax(S), softmax(lift<quad>(S)),
           softmax_bound<float>(lift<double>(S), none));
  }
}
BOOST_AUTO_TEST_CASE(bound_sees_what_a_tolerance_does_not) {
  int seen = 0;
  const int tries = 400;
  for (int i = 0; i < tries; ++i) {
    const auto seed = std::uint64_t(i);
    const Matrix<double> A = gaussian<double>(8, 16, seed);
    const Matrix<double> B = gaussian<double>(16, 8, seed + 1000);
    const Matrix<quad> truth = lift<quad>(A) * lift<quad>(B);
    const Matrix<double> bound = product_bound(A, B), C = A * B;
    verify(C, truth, bound);
    Matrix<double> spoilt = C;
    double& entry = spoilt(i % 8, i / 8 % 8);
    entry *= 1 + 1e-9;
    seen += complaint([&] { verify(spoilt, truth, bound); }) != "";
  }
  fact("seen", seen);
  fact("tries", tries);
  refute(double(seen) / tries, 0.9);
}

// check that counterexamples are found and shrunk
BOOST_AUTO_TEST_CASE(shrinking_finds_the_overflow) {
  const std::string found =
      counterexample([](const std::vector<int>& scores) {
        double Z = 0;
        for (const int s : scores) Z += std::exp(double(s));
        verify(Z, std::numeric_limits<double>::max());
      });
  const std::string example = found.substr(0, found.find(" after"));
  fact("counterexample", example);
  BOOST_TEST(example == "([710])", found);
  verify(std::exp(709.0), std::numeric_limits<double>::max());
  refute(std::exp(710.0), std::numeric_limits<double>::max());
}
BOOST_AUTO_TEST_CASE(shrinking_finds_what_does_not_commute) {
  const std::string found = counterexample([] {
    const Index n = draw(1, 5);
    const Matrix<double> A = draw_matrix(n, n), B = draw_matrix(n, n);
    verify(largest(A * B - B * A), 0);
  });
  fact("counterexample", found.substr(0, found.find(" after")));
  BOOST_TEST(found.substr(0, 2) == "2,", found);
  const std::string again = counterexample([] {
    const Index n = draw(1, 5);
    const Matrix<double> A = draw_matrix(n, n), B = draw_matrix(n, n);
    verify(largest(A * B - B * A), 0);
  });
  BOOST_TEST(found.substr(0, 40) == again.substr(0, 40));  // fixed seed
}
BOOST_AUTO_TEST_CASE(true_properties_survive) {
  for_all([] {
    const Index n = draw(1, 4), k = draw(0, 4), m = draw(1, 4);
    const Matrix<double> A = draw_matrix(n, k), B = draw_matrix(n, k);
    const Matrix<double> C = draw_matrix(k, m), D = draw_matrix(m, 2);
    const Matrix<double> left = (A * C) * D, right = A * (C * D);
    verify(largest(left - right), 0);
    const Matrix<double> sum = (A + B) * C, parts = A * C + B * C;
    verify(largest(sum - parts), 0);
  }, 300);
  BOOST_TEST(record().tally[0].instances == 600);
}
BOOST_AUTO_TEST_CASE(for_all_fails_when_it_must) {
  const auto fails = [](const auto& property) {
    return complaint([&] { for_all(property); });
  };
  const std::string text =
      fails([](int n) { verify(double(n), 20); });
  const std::string place = std::string(", ") + __FILE__;
  BOOST_TEST(text.find("falsified by") == 0, text);
  BOOST_TEST(text.find(place) != text.rfind(place), text);
  BOOST_TEST(fails([](int n) {
    if (n > 5) throw std::runtime_error("unexpected");
  }).find("unexpected") != text.npos);
  BOOST_TEST(fails([](int) { RC_PRE(false); }) != "");
  BOOST_TEST(fails([](int) { verify(0, 0); }) == "");
}

// check the arithmetic of the field
BOOST_AUTO_TEST_CASE(axioms_hold_for_all_triples) {
  using F = Mersenne<5>;
  int violations = 0;
  for (int a = 0; a < 31; ++a)
    for (int b = 0; b < 31; ++b) {
      const F x(a), y(b);
      violations += (x * y != y * x) + (x - y != -(y - x));
      violations += b != 0 && x / y * y != x;
      violations += (x * y).n != std::uint64_t(a * b % 31);
      for (int c = 0; c < 31; ++c) {
        const F z(c);
        violations += ((x * y) * z != x * (y * z)) +
                      ((x + y) + z != x + (y + z)) +
                      (x * (y + z) != x * y + x * z);
      }
    }
  verify(violations, 0);
}
BOOST_AUTO_TEST_CASE(reduction_equals_division) {
  std::mt19937_64 generator(1);
  const std::uint64_t p = Fp::modulus;
  const std::uint64_t edges[] = {0, 1, 2, p / 2, p / 2 + 1, p - 2, p - 1};
  long wrong = 0, tried = 0;
  const auto compare = [&](Fp a, Fp b) {
    const auto remainder = Fp::Wide(a.n) * b.n % p;
    wrong += (a * b).n != std::uint64_t(remainder);
    wrong += b.n != 0 && a / b * b != a;
    ++tried;
  };
  for (const auto a : edges)
    for (const auto b : edges) compare(Fp(a), Fp(b));
  for (int i = 0; i < 5000; ++i) {
    const Fp a = Fp::random(generator());
    compare(a, Fp::random(generator()));
  }
  verify(double(wrong), 0);
  BOOST_TEST(tried == 5049);
  BOOST_CHECK_THROW(Fp(1) / Fp(0), std::domain_error);
}
BOOST_AUTO_TEST_CASE(integers_wrap_and_reals_are_refused) {
  static_assert(!std::is_constructible_v<Fp, double>);
  static_assert(Fp(3) / Fp(3) == Fp(1) && Fp(-1) + Fp(1) == Fp(0));
  BOOST_TEST((Fp(-5) == Fp(0) - Fp(5)));
  BOOST_TEST((Fp(Fp::modulus) == Fp(0)));
  BOOST_TEST((Fp(~std::uint64_t(0)) == Fp(7)));  // 2^64 - 1 = 8 p + 7
  BOOST_TEST((Fp(1) / Fp(2) + Fp(1) / Fp(2) == Fp(1)));
  BOOST_TEST((Fp(std::int64_t(-1) << 62) == Fp(-2)));
}
BOOST_AUTO_TEST_CASE(random_elements_are_uniform) {
  std::mt19937_64 generator(2);
  std::array<int, 31> count{};
  for (int i = 0; i < 31000; ++i)
    ++count[Mersenne<5>::random(generator()).n];
  double chi2 = 0, above = 0;
  for (const int c : count) chi2 += (c - 1000.0) * (c - 1000.0) / 1000;
  double term = std::exp(-chi2 / 2);
  for (int k = 0; k < 15; term *= chi2 / 2 / ++k) above += term;
  fact("above", above, 2);
  refute(above, 1e-6);
  refute(1 - above, 1e-6);
}
BOOST_AUTO_TEST_CASE(elimination_is_exact) {
  for (Index n = 0; n <= 12; ++n) {
    const Matrix<Fp> A = gaussian<Fp>(n, n, 3), B = gaussian<Fp>(n, 2, 4);
    const Matrix<Fp> I = Matrix<Fp>::Identity(n, n);
    if (n > 0) {
      verify_exact(Matrix<Fp>(A * A.inverse()), I, long(n + 1));
      const Matrix<Fp> X = A.partialPivLu().solve(B);
      verify_exact(Matrix<Fp>(A * X), B, long(n + 1));
    }
  }
}
BOOST_AUTO_TEST_CASE(the_field_has_no_exponential) {
  using F = Mersenne<7>;
  for (int c = 0; c < 127; ++c) {
    F power = 1;
    for (int k = 0; k < 127; ++k) power *= F(c);
    verify(power != F(c), 0);
    if (c != 1) refute(power != F(1), 1);  // c^x is no function mod p
  }
}

// check that exact stamps fail when they must
BOOST_AUTO_TEST_CASE(chance_of_the_worst_point) {
  const Matrix<Fp> A = gaussian<Fp>(2, 3, 1), B = A.transpose();
  Matrix<Fp> C = A;
  C(1, 2) += 1;
  const auto fails = [](const auto& x, const auto& y, long degree) {
    return complaint([&] { verify_exact(x, y, degree); }) != "";
  };
  BOOST_TEST(fails(A, B, 1));
  BOOST_TEST(fails(A, C, 1));
  BOOST_TEST(fails(A, A, 0));
  BOOST_TEST(fails(Fp(1), Fp(2), 1));
  const Matrix<Fp> none(0, 3);
  verify_exact(none, none, 1);
  Tally& t = record().tally[std::size_t(Kind::exact)];
  BOOST_TEST(t.instances == 0);
  verify_exact(A, A, 10);
  verify_exact(Fp(5), Fp(5), 3);
  const double pi = Fp::likeliest;
  BOOST_TEST(t.bound == 10 * pi);
  BOOST_TEST(pi * double(Fp::modulus) < 1.126);
  for (int i = 0; i < 30; ++i) verify_exact(A, A, 2);
  BOOST_TEST(t.bound == 10 * pi);
}
BOOST_AUTO_TEST_CASE(instances_that_do_not_show_it) {
  using F = Mersenne<3>;
  std::mt19937_64 generator(11);
  const auto any = [&](Index degree) {
    return random_polynomial<F>(degree, generator);
  };
  const Poly<F> one = any(0);
  for (int i = 0; i < 243; ++i) {
    const Index p = i % 3, q = i / 3 % 3, r = i / 9 % 3, t = i / 27 % 3;
    const auto P = any(p), Q = any(q), R = any(r), T = any(t);
    if (!identical(P, Q, R, T))
      verify(passes(P, Q, R, T), 49.0 * double(std::max(p + t, r + q)));
  }
  for (Index D = 1; D <= 6; ++D) {
    const Poly<F> R = any(2);
    Poly<F> more = with_roots<F>(D);
    more.insert(more.end(), R.begin(), R.end());
    verify(passes(more, one, R, one), 49.0 * double(D));
    refute(passes(more, one, R, one), 49.0 * double(D));
  }
}

// check the lemma of Schwartz and Zippel by counting
template <class F, class G>
void count_zeros(const std::vector<long>& w, Index D, G& generator) {
  const long W = std::accumulate(w.begin(), w.end(), 0L);
  const long most = *std::max_element(w.begin(), w.end());
  const double bound = double(D * most * W * W);
  for (int trial = 0; trial < 12; ++trial)
    verify(double(zeros(random_polynomial<F>(D, generator), w)), bound);
  if (std::count(w.begin() + 1, w.begin() + D + 1, most) == D)
    verify(std::abs(double(zeros(with_roots<F>(D), w)) - bound), 0);
}
template <class F>
void count_in_field(Index degrees) {
  std::mt19937_64 generator(F::modulus);
  std::vector<long> uniform(F::modulus, 1), word = uniform,
      subset(F::modulus, 0), random = subset;
  word[0] = 2;
  std::fill(subset.begin() + 1, subset.begin() + 5, 1);
  for (long& w : random) w = long(generator() % 5) + 1;
  for (Index D = 1; D <= degrees; ++D)
    for (const auto& w : {uniform, word, subset, random})
      count_zeros<F>(w, D, generator);
}
BOOST_AUTO_TEST_CASE(zeros_in_small_fields) {
  count_in_field<Mersenne<3>>(6);
  count_in_field<Mersenne<5>>(3);
}

// check a true identity and a false one
BOOST_AUTO_TEST_CASE(softmax_jacobian_in_two_forms) {
  int caught = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Index n = 2 + Index(i % 7);
    const Matrix<Fp> E = gaussian<Fp>(n, 1, i);
    const Matrix<Fp> dA = gaussian<Fp>(n, 1, i + 5000);
    const Fp Z = E.sum();
    const Matrix<Fp> A = E * (Fp(1) / Z);
    const Fp mean = A.cwiseProduct(dA).sum();
    const Matrix<Fp> rows = A.cwiseProduct(dA) - A * mean;
    const Matrix<Fp> wrong = A.cwiseProduct(dA) + A * mean;
    Matrix<Fp> J = -A * A.transpose();
    J.diagonal() += A;
    verify_exact(Matrix<Fp>(J * dA), rows, 3);
    caught += !same(Matrix<Fp>(J * dA), wrong);
  }
  refute(caught, 1000);
  fact("caught", caught);
}
BOOST_AUTO_TEST_CASE(false_by_one_part_in_a_trillion_million) {
  const std::int64_t large = 1000000000000000000;
  int nearer = 0, in_field = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Matrix<double> a = gaussian<double>(3, 3, i);
    const Matrix<double> b = gaussian<double>(3, 3, i + 500);

    // compare the claim with the truth in quad and in double
    const double det = a.determinant() * b.determinant();
    const Matrix<quad> qa = lift<quad>(a), qb = lift<quad>(b);
    const quad truth = Matrix<quad>(qa * qb).determinant();
    const quad claim =
        qa.determinant() * qb.determinant() * (1 + 1 / quad(large));
    refute(to_double(quad(abs(claim / truth - 1))), 0.99e-18);
    nearer += abs(det - claim) < abs(det - truth);
    const Matrix<Fp> A = gaussian<Fp>(3, 3, i);
    const Matrix<Fp> B = gaussian<Fp>(3, 3, i + 900);
    const Fp exact = Matrix<Fp>(A * B).determinant();
    const Fp product = A.determinant() * B.determinant();
    verify_exact(exact, product, 6);
    in_field += exact != product * (Fp(large) + 1) / Fp(large);
  }
  fact("nearer", nearer);
  fact("field", in_field);
  verify(std::abs(nearer - 100.0), 35);
  refute(in_field, 200);
}

// check the answers about checking
BOOST_AUTO_TEST_CASE(answer_sums_of_gamma) {
  const double u = 0x1p-11, own = 1 + 8 * unit_roundoff<double>();
  for (Index m = 1; m < 40; ++m)
    for (Index n = 1; n < 40; ++n) {
      const double a = gamma(m, u), b = gamma(n, u);
      verify(a + b + a * b, gamma(m + n, u) * own);
      verify(double(m) * b, gamma(m * n, u) * own);
    }
}
BOOST_AUTO_TEST_CASE(answer_maximum_of_nan) {
  const volatile double nan = std::nan("");
  const double x = nan, bound = 1;
  BOOST_TEST(std::max(0.0, x) == 0);
  BOOST_TEST(std::isnan(std::max(x, 0.0)));
  BOOST_TEST((!(x <= bound) && !(x > bound)));
  BOOST_TEST((std::isnan(worse(0, x)) && std::isnan(worse(x, 0))));
}
BOOST_AUTO_TEST_CASE(answer_points_of_small_fields) {
  const double doubt = 10 * Fp::likeliest;
  verify(std::pow(10 / 31.0, 36), doubt);
  refute(std::pow(10 / 31.0, 35), doubt);
  for (int k = 0; k < 7; ++k) {
    const Mersenne<3> x(k), square = x * x;
    BOOST_TEST((square * square * square * x == x));
  }
}
template <class S>
S pairwise(const Vector<S>& x) {
  if (x.size() == 1) return x(0);
  const Index half = x.size() / 2;
  return pairwise<S>(x.head(half)) + pairwise<S>(x.tail(x.size() - half));
}
BOOST_AUTO_TEST_CASE(answer_pairwise_summation) {
  const double u = 0x1p-24;
  for (const Index n : {1, 2, 3, 7, 64, 1000, 65536}) {
    Vector<float> x = Vector<float>::Constant(n, 0x1p-25f);
    x(0) = 1;
    const quad truth = 1 + quad(n - 1) * 0x1p-25;
    const auto depth = Index(std::ceil(std::log2(double(n))));
    const double bound = gamma(depth, u) * to_double(truth);
    verify(distance(pairwise(x), truth), bound);
    float sum = 0;
    for (Index i = 0; i < n; ++i) sum += x(i);
    if (n >= 64) refute(distance(sum, truth), bound);

    // let a one swallow a half at every addition
    Vector<float> y = Vector<float>::Zero(n);
    y(n - 1) = 1;
    for (Index b = 0; n - b > 1; b += (n - b) / 2) y(b) = float(u);
    const double missing = double(depth) * u;
    const double most = gamma(depth, u) * (1 + missing);
    verify(distance(pairwise(y), quad(1 + missing)), most);
    if (n > 1)
      refute(distance(pairwise(y), quad(1 + missing)),
             (1 - 2 * missing) * most);
  }
}
BOOST_AUTO_TEST_CASE(answer_sums_do_not_associate) {
  const auto search = [](double unit) {
    return counterexample([=] {
      const double a = double(draw(0, 20)) * unit;
      const double b = double(draw(0, 20)) * unit;
      const double c = double(draw(0, 20)) * unit;
      verify(std::abs((a + b) + c - (a + (b + c))), 0);
    }, 1000);
  };
  const std::string tenths = search(0.1);
  fact("tenths", tenths.substr(0, tenths.find(" after")));
  BOOST_TEST(tenths != "");
  BOOST_TEST(search(0.125) == "");
}
BOOST_AUTO_TEST_CASE(answer_sherman_morrison) {
  int caught = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Index n = 1 + Index(i % 6);
    const Matrix<Fp> A = gaussian<Fp>(n, n, i), I = A.inverse();
    const Matrix<Fp> u = gaussian<Fp>(n, 1, i + 200);
    const Matrix<Fp> v = gaussian<Fp>(n, 1, i + 300);
    const Matrix<Fp> left = (A + u * v.transpose()).inverse();
    const Fp below = Fp(1) + (v.transpose() * I * u)(0, 0);
    const Matrix<Fp> change = I * u * v.transpose() * I * (1 / below);
    verify_exact(left, Matrix<Fp>(I - change), long(2 * n + 1));
    caught += !same(left, Matrix<Fp>(I + change));
  }
  refute(caught, 100);
}
BOOST_AUTO_TEST_CASE(answer_sylvester) {
  int caught = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Index n = 1 + Index(i % 5), m = 1 + Index(i / 5 % 4);
    const Matrix<Fp> A = gaussian<Fp>(n, m, i);
    const Matrix<Fp> B = gaussian<Fp>(m, n, i + 1000);
    const Matrix<Fp> I = Matrix<Fp>::Identity(n, n), AB = A * B;
    const Matrix<Fp> J = Matrix<Fp>::Identity(m, m), BA = B * A;
    const Fp right = Matrix<Fp>(J + BA).determinant();
    verify_exact(Matrix<Fp>(I + AB).determinant(), right,
                 long(2 * std::max(n, m)));
    caught += Matrix<Fp>(I - AB).determinant() != right;
  }
  refute(caught, 100);
}
BOOST_AUTO_TEST_CASE(answer_freivalds) {
  using F = Mersenne<3>;
  std::mt19937_64 generator(7);
  const auto draw = [&](Index n, Index m) {
    Matrix<F> x(n, m);
    for (Index i = 0; i < x.size(); ++i)
      x.data()[i] = F::random(generator());
    return x;
  };
  const Matrix<F> A = draw(5, 5), B = draw(5, 5);
  Matrix<F> C = A * B;
  C(3, 1) += F(2);
  int passed = 0;
  const int draws = 70000;
  for (int i = 0; i < draws; ++i) {
    const Matrix<F> r = draw(5, 1), Br = B * r, left = A * Br;
    passed += left == Matrix<F>(C * r);
  }
  fact("passed", passed);
  verify(std::abs(passed - 10000.0), 5 * std::sqrt(draws * 6 / 49.0));
}
BOOST_AUTO_TEST_CASE(answer_bound_without_a_term) {
  const double u = unit_roundoff<double>();
  double ratio = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Matrix<double> S = 300 * gaussian<double>(1, 20, i);
    const Matrix<double> term = u * (S.maxCoeff() - S.array());
    const Matrix<double> none = 0 * S, less = softmax_bound(S, -term);
    const Matrix<double> A = softmax(S);
    const Matrix<quad> truth = softmax(lift<quad>(S));
    verify(A, truth, softmax_bound(S, none));
    for (Index j = 0; j < A.size(); ++j)
      ratio = std::max(ratio, quotient(distance(A(j), truth(j)), less(j)));
  }
  fact("ratio", ratio, 2);
  refute(ratio, 2);
}
BOOST_AUTO_TEST_SUITE_END()
