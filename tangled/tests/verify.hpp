// tests/verify.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#pragma once

// include what measuring needs
#include "attn/argument.hpp"
#include "attn/field.hpp"
#include "attn/quad.hpp"
#include "attn/tensor.hpp"
#include <array>
#include <cmath>
#include <iomanip>
#include <rapidcheck.h>
#include <source_location>
#include <sstream>
#include <string>
#include <utility>

namespace attn {
// keep the worst of many measurements
enum class Kind { bound, exact, refuted };

struct Tally {
  long instances = 0;
  double error = 0, bound = 0, ratio = -1;
};
struct Record {
  std::array<Tally, 3> tally;  // one for each Kind
  std::ostringstream facts;
  long failures = 0;        // the first three are told
  bool falsifying = false;  // inside a property a failure throws
};
inline Record& record() {
  static Record current;  // emptied by the observer at each case's start
  return current;
}

// tell Boost what was found
inline void judge(bool good, const std::string& complaint,
                  std::source_location at) {
  namespace test = boost::unit_test;

  // inside a property, throw the failure
  if (!good && record().falsifying)
    throw rc::detail::CaseResult(
        rc::detail::CaseResult::Type::Failure,
        complaint + ", " + at.file_name() + ":" +
            std::to_string(at.line()));
  test::unit_test_log.set_checkpoint(at.file_name(), at.line());
  if (!good && ++record().failures <= 3)
    test::unit_test_log
        << test::log::begin(at.file_name(), at.line())
        << test::log_all_errors << complaint << test::log::end();
  test::framework::assertion_result(good ? test::AR_PASSED
                                         : test::AR_FAILED);
}

// count one measurement and judge it
inline void measure(Kind kind, bool good, double error, double bound,
                    double ratio, const std::string& where,
                    std::source_location at) {
  std::string complaint;
  if (!good) {
    // complain of error, bound and ratio
    std::ostringstream text;
    text << "error " << error
         << (kind == Kind::refuted ? " below " : " exceeds bound ")
         << bound << " (ratio " << ratio << ")" << where;
    complaint = text.str();
  }
  judge(good, complaint, at);
  Tally& t = record().tally[std::size_t(kind)];
  if (ratio > t.ratio)
    t.error = error, t.bound = bound, t.ratio = ratio;
  ++t.instances;
}

// measure against bounds

// form the ratio that counts
inline double quotient(double error, double bound) {
  const bool sane = error >= 0 && bound >= 0 && bound < HUGE_VAL;
  if (!sane) return HUGE_VAL;
  return error == 0 ? 0 : error / bound;
}

// verify an error against its bound
/// Fails unless 0 <= error <= bound < infinity; a NaN fails.
inline void verify(double error, double bound,
                   std::source_location at =
                       std::source_location::current()) {
  const double ratio = quotient(error, bound);
  measure(Kind::bound, error <= bound && std::isfinite(ratio), error,
          bound, ratio, "", at);
}

// take the distance of two numbers in quad
template <class X, class Y>
  requires std::constructible_from<quad, X>
double distance(const X& x, const Y& y) {
  return to_double(quad(abs(quad(x) - quad(y))));
}
/// The larger of two errors, NaN if either is.
inline double worse(double a, double b) {
  return std::isnan(a) || b <= a ? a : b;
}
template <class X, class Y>
double distance(const Eigen::MatrixBase<X>& x,
                const Eigen::MatrixBase<Y>& y) {
  require(x.rows() == y.rows() && x.cols() == y.cols(), "distance: ",
          shape(x), " and ", shape(y));
  const auto& a = x.eval();
  const auto& b = y.eval();
  double worst = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      worst = worse(worst, distance(a(i, j), b(i, j)));
  return worst;
}
/// The distance of a matrix from zero.
template <class X> double largest(const Eigen::MatrixBase<X>& x) {
  return distance(x, Matrix<double>::Zero(x.rows(), x.cols()));
}

// verify a matrix entry by entry
/// Componentwise |computed - truth| <= bound; the worst entry is reported.
template <class C, class T, class B>
void verify(const Eigen::MatrixBase<C>& computed,
            const Eigen::MatrixBase<T>& truth,
            const Eigen::MatrixBase<B>& bound,
            std::source_location at = std::source_location::current()) {
  // refuse matrices of different shapes
  if (computed.rows() != truth.rows() || computed.cols() != truth.cols() ||
      bound.rows() != truth.rows() || bound.cols() != truth.cols())
    return judge(false, "verify: computed " + shape(computed) + ", truth " +
                 shape(truth) + ", bound " + shape(bound), at);
  Index I = 0, J = 0;
  double error = 0, allowed = 0, worst = -1;

  // find the entry with the largest ratio
  for (Index i = 0; i < computed.rows(); ++i)
    for (Index j = 0; j < computed.cols(); ++j) {
      const double e = distance(computed(i, j), truth(i, j));
      const double q = quotient(e, bound(i, j));
      if (q > worst)
        worst = q, error = e, allowed = bound(i, j), I = i, J = j;
    }
  if (worst < 0) return;  // nothing was measured: an empty matrix

  // name the worst entry and judge
  std::ostringstream where;
  if (!(worst <= 1))
    where << " at (" << I << "," << J << "): computed "
          << std::setprecision(17) << computed(I, J) << ", truth "
          << truth(I, J);
  measure(Kind::bound, error <= allowed && std::isfinite(worst), error,
          allowed, worst, where.str(), at);
}

// verify a limit by halving the step
/// y(n) is the result of n steps of a method of the given order; y(2 n)
/// must be as near to the truth as its distance to y(n) predicts.
template <class F, class T>
void verify_limit(F y, Index n, int order, const T& truth,
                  std::source_location at =
                      std::source_location::current()) {
  const auto coarse = y(n), fine = y(2 * n);
  const double size = distance(truth, T(0 * truth));
  const double rounding = 2 * double(n) * 0x1p-53 * std::max(1.0, size);
  verify(distance(fine, truth),
         3 * distance(fine, coarse) / (std::pow(2, order) - 1) + rounding,
         at);
}

// refute a statement by its gap
/// Passes iff gap >= at_least > 0, at_least finite: what is printed
/// elsewhere is false.
inline void refute(double gap, double at_least,
                   std::source_location at =
                       std::source_location::current()) {
  const bool good =
      gap >= at_least && at_least > 0 && at_least < HUGE_VAL;
  const double ratio = good ? at_least / gap : HUGE_VAL;
  measure(Kind::refuted, good, gap, at_least, ratio, "", at);
}

// decide equality over the field
inline bool same(const Fp& x, const Fp& y) { return x == y; }
inline bool empty(const Fp&) { return false; }

template <class A, class B>
bool same(const Eigen::MatrixBase<A>& x, const Eigen::MatrixBase<B>& y) {
  static_assert(std::is_same_v<typename A::Scalar, Fp>);
  return x.rows() == y.rows() && x.cols() == y.cols() &&
         (x.array() == y.array()).all();
}
template <class A>
bool empty(const Eigen::MatrixBase<A>& x) { return x.size() == 0; }
template <class T>
  requires requires(T t) { t.dim; t.values; }
bool same(const T& x, const T& y) {
  return x.dim == y.dim && same(x.values, y.values);
}
template <class T>
  requires requires(T t) { t.dim; t.values; }
bool empty(const T& x) { return x.values.size() == 0; }

// verify an identity exactly
/// Equality at one random point of the field; degree is that of the
/// identity after clearing denominators (cor. exact).
template <class L, class R>
void verify_exact(const L& lhs, const R& rhs, long degree,
                  std::source_location at =
                      std::source_location::current()) {
  const bool good = degree > 0 && same(lhs, rhs);
  judge(good, degree > 0
                  ? "not an identity: the two sides differ over the field"
                  : "verify_exact: the degree has to be positive", at);
  if (empty(lhs)) return;
  Tally& t = record().tally[std::size_t(Kind::exact)];
  t.bound = std::max(t.bound, double(degree) * Fp::likeliest);
  if (!good) t.error = 1;
  t.ratio = good ? std::max(t.ratio, 0.0) : HUGE_VAL;
  ++t.instances;
}

// note a fact for the text to print
/// Prints as \result{suite/case/name}.
template <class T>
void fact(const std::string& name, const T& value, int digits = 0) {
  namespace test = boost::unit_test;
  std::ostream& out = record().facts;
  out << "fact\t" << test::framework::current_test_case().full_name()
      << '/' << name << '\t' << std::setprecision(17) << value;
  if (digits > 0) out << '\t' << digits;
  out << '\n';
}

// accept an exception by its words
/// Predicate for BOOST_CHECK_EXCEPTION: the message contains the words.
inline auto says(const std::string& words) {
  return [words](const std::exception& e) {
    return std::string(e.what()).find(words) != std::string::npos;
  };
}

// search for a counterexample and shrink it
/// The smallest counterexample that RapidCheck finds; empty if none.
template <class P>
std::string counterexample(const P& property, int tries = 100) {
  rc::detail::TestParams how;
  how.seed = 1;
  how.maxSuccess = tries;
  const bool before = std::exchange(record().falsifying, true);
  const auto result = rc::detail::checkTestable(
      property, rc::detail::TestMetadata(), how);
  record().falsifying = before;
  if (result.template is<rc::detail::SuccessResult>()) return "";

  // print the counterexample in one line
  std::ostringstream text;
  if (result.template is<rc::detail::FailureResult>()) {
    const auto& found = result.template get<rc::detail::FailureResult>();
    const char* comma = "";
    for (const auto& [type, shown] : found.counterExample)
      text << std::exchange(comma, ", ") << shown;
    text << " after " << found.numSuccess + 1 << " tries: "
         << found.description;
  } else {
    rc::detail::printResultMessage(result, text);
  }
  return text.str();
}

// check a property for all arguments
/// Fails with the shrunk counterexample if verify fails inside property.
template <class P>
void for_all(const P& property, int tries = 100,
             std::source_location at = std::source_location::current()) {
  const std::string found = counterexample(property, tries);
  judge(found.empty(), "falsified by " + found, at);
}

// draw what shrinks well
/// Inside a property: an integer in lo..hi, shrinking towards lo.
inline Index draw(Index lo, Index hi) {
  return *rc::gen::inRange<Index>(lo, hi + 1);
}
/// Inside a property: multiples of 1/8 in [-4, 4], shrinking towards 0.
inline Matrix<double> draw_matrix(Index n, Index d) {
  const auto entries = rc::gen::container<std::vector<int>>(
      std::size_t(n * d), rc::gen::inRange(0, 65));
  return *rc::gen::map(entries, [=](const std::vector<int>& codes) {
    Matrix<double> m(n, d);
    for (Index i = 0; i < m.size(); ++i) {
      const int k = codes[std::size_t(i)];  // 0, -1, 1, -2, 2, ...
      m.data()[i] = (k % 2 == 0 ? k / 2 : -(k + 1) / 2) / 8.0;
    }
    return m;
  });
}
}  // namespace attn
