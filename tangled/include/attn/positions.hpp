// include/attn/positions.hpp: tangled from chapters/05a-positions.nw; edit that file, not this one.
#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/places.hpp"
#include "attn/quad.hpp"
#include "attn/tensor.hpp"

namespace attn {
// encode positions by sinusoids
/// Angles are at least double, even where the vectors are float or have
/// sixteen bits.
template <class S>
using Angle = std::conditional_t<std::is_convertible_v<S, float> &&
    (std::numeric_limits<S>::digits < std::numeric_limits<double>::digits),
    double, S>;
/// theta_a = base^(-2a/d), a = 0, ..., d/2 - 1.  Throws
/// std::invalid_argument for odd d, std::domain_error unless base > 0.
template <class S>
Vector<S> frequencies(Index d, double base = 10000) {
  using std::pow;
  require(d >= 0 && d % 2 == 0, "frequencies: d = ", d, " is not even");
  require_domain(base > 0, "frequencies: base ", base);
  Vector<S> theta(d / 2);
  for (Index a = 0; a < d / 2; ++a)
    theta(a) = pow(S(base), S(-2.0 * double(a)) / S(double(d)));
  return theta;
}
/// P of eq. sinusoidal for positions first, ..., first + n - 1; n x d.
/// Throws as frequencies, std::invalid_argument for n < 0.
template <class S>
Matrix<S> sinusoidal(Index n, Index d, Index first = 0,
                     double base = 10000) {
  using std::cos, std::sin;
  require(n >= 0, "sinusoidal: n = ", n);
  const Vector<Angle<S>> theta = frequencies<Angle<S>>(d, base);
  Matrix<S> P(n, d);

  // read the clocks of each row
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < d / 2; ++a) {
      const Angle<S> phi = Angle<S>(double(first + i)) * theta(a);
      P(i, 2 * a) = S(sin(phi)), P(i, 2 * a + 1) = S(cos(phi));
    }
  return P;
}

// rotate by positions
/// Which coordinates form a plane: (2a, 2a+1), or (a, a + planes).
enum class Pairs { neighbours, halves };
/// Rotation of plane a by theta_a per position (Su 2021), times gain, in
/// the first 2 theta.size() features; `fixed` more are left alone.
template <class S>
struct Rotary {
  Vector<Angle<S>> theta;
  Pairs pairs = Pairs::neighbours;
  Index fixed = 0;
  Angle<S> gain = Angle<S>(1);
};
/// Cosines and sines of rotations, times gain: a row for each place, a
/// column for each plane.
template <class S>
struct Rotations {
  Pairs pairs = Pairs::neighbours;
  Index fixed = 0;
  Matrix<S> cos, sin;
};
/// The rotations of R at the places p.
template <class S>
Rotations<S> rotations(const Rotary<S>& R, const Places& at) {
  using std::cos, std::sin;
  Rotations<S> t{R.pairs, R.fixed, Matrix<S>(at.size(), R.theta.size()), {}};
  t.sin = t.cos;

  // fill the tables of cosines and sines
  for (Index i = 0; i < at.size(); ++i)
    for (Index a = 0; a < R.theta.size(); ++a) {
      const Angle<S> phi = Angle<S>(double(at[i])) * R.theta(a);
      t.cos(i, a) = S(R.gain * cos(phi));
      t.sin(i, a) = S(R.gain * sin(phi));
    }
  return t;
}
/// Rows x_i -> R_p x_i, or R_p^T x_i if back; each is the vjp of the
/// other.  X is any expression, places x (2 planes + fixed).  Throws
/// std::invalid_argument unless X and both tables have these shapes.
template <class S, std::same_as<bool> Back = bool>
Matrix<S> rotate(std::type_identity_t<Matrix<S>> X, const Rotations<S>& t,
                 Back back = false) {
  const Index planes = t.cos.cols();

  // demand features and places that fit
  require(t.sin.rows() == t.cos.rows() && t.sin.cols() == planes,
          "rotate: cosines are ", shape(t.cos), " but sines ", shape(t.sin));
  require(X.cols() == 2 * planes + t.fixed, "rotate: X is ", shape(X),
          " but R has ", planes, " planes and ", t.fixed, " fixed features");
  require(X.rows() == t.cos.rows(), "rotate: X is ", shape(X), " but has ",
          t.cos.rows(), " places");
  for (Index i = 0; i < X.rows(); ++i)
    for (Index a = 0; a < planes; ++a) {
      // turn one plane
      const bool near = t.pairs == Pairs::neighbours;
      const S c = t.cos(i, a), s = back ? S(-t.sin(i, a)) : t.sin(i, a);
      S& x = X(i, near ? 2 * a : a);
      S& y = X(i, near ? 2 * a + 1 : a + planes);
      const S turned = s * x + c * y;
      x = c * x - s * y, y = turned;
    }
  return X;
}
/// The same by R at the places p.
template <class S>
Matrix<S> rotate(std::type_identity_t<Matrix<S>> X, const Rotary<S>& R,
                 const Places& at, bool back = false) {
  return rotate(std::move(X), rotations(R, at), back);
}
/// The same for rows at the positions first, first + 1, ...
template <class S>
Matrix<S> rotate(std::type_identity_t<Matrix<S>> X, const Rotary<S>& R,
                 Index first = 0, bool back = false) {
  const Places at(X.rows(), first);
  return rotate(std::move(X), R, at, back);
}

// slow the clocks by whole planes
namespace detail {
/// The next whole number, upwards or downwards.
template <class S>
S rounded(const S& x, bool up) {
  const double v = to_double(x);
  return S(up ? std::ceil(v) : std::floor(v));
}
}  // namespace detail

// slow the clocks
/// A context `factor` times as long as the trained length; clocks of at
/// most `slow` turns in it are slowed by the factor, those of `fast` turns
/// or more not at all.
struct Stretch {
  double factor, length;
  double slow = 1, fast = 4;
};
namespace detail {
/// Throws std::domain_error naming the number that is out of range.
inline void require_stretch(const char* who, const Stretch& x) {
  require_domain(x.factor >= 1, who, ": factor ", x.factor);
  require_domain(x.length > 0, who, ": length ", x.length);
  require_domain(0 < x.slow && x.slow < x.fast, who, ": slow ", x.slow,
                 " and fast ", x.fast);
}
}  // namespace detail
namespace detail {
/// theta' of eq. stretch, gamma clamped to [0, 1].
template <class S>
S stretched(const S& theta, const S& gamma, double factor) {
  const S g = gamma < S(0) ? S(0) : S(1) < gamma ? S(1) : gamma;
  return S(g + (S(1) - g) / S(factor)) * theta;
}
}  // namespace detail
/// Frequencies of Llama 3: a ramp in the number of turns.  Throws
/// std::invalid_argument for odd d, std::domain_error unless base > 0,
/// factor >= 1, length > 0 and 0 < slow < fast.
template <class S>
Vector<S> llama3_frequencies(Index d, const Stretch& x,
                             double base = 500000) {
  using std::atan;
  detail::require_stretch("llama3_frequencies", x);
  Vector<S> theta = frequencies<S>(d, base);

  // slow each clock by its turns
  const S round = S(8) * atan(S(1));
  for (Index a = 0; a < d / 2; ++a) {
    const S turns = S(x.length) * theta(a) / round;
    theta(a) = detail::stretched(
        theta(a), S((turns - S(x.slow)) / S(x.fast - x.slow)), x.factor);
  }
  return theta;
}
/// Frequencies of YaRN (Peng 2024), as published programs compute them: a
/// ramp in the plane, between whole planes if `whole`.  Throws as
/// llama3_frequencies, and std::domain_error unless base > 1.
template <class S>
Vector<S> yarn_frequencies(Index d, const Stretch& x, double base = 10000,
                           bool whole = true) {
  using std::log, std::atan;
  detail::require_stretch("yarn_frequencies", x);
  require_domain(base > 1, "yarn_frequencies: base ", base);
  Vector<S> theta = frequencies<S>(d, base);

  // find the planes between which the ramp falls
  const auto plane = [&](double turns) {
    const S round = S(8) * atan(S(1));
    return S(S(double(d)) / S(2) * log(S(x.length) / (S(turns) * round)) /
             log(S(base)));
  };
  S first = plane(x.fast), last = plane(x.slow);
  if (whole) first = detail::rounded(first, false),
             last = detail::rounded(last, true);
  if (first < S(0)) first = S(0);
  if (S(double(d - 1)) < last) last = S(double(d - 1));
  if (!(first < last)) last = first + S(0.001);
  for (Index a = 0; a < d / 2; ++a)
    theta(a) = detail::stretched(
        theta(a), S(S(1) - (S(double(a)) - first) / (last - first)),
        x.factor);
  return theta;
}
/// 1 + log(factor) / 10: the gain of YaRN's rotations, whose square
/// divides the temperature.  Throws std::domain_error if factor < 1.
inline double yarn_gain(double factor) {
  require_domain(factor >= 1, "yarn_gain: factor ", factor);
  return 0.1 * std::log(factor) + 1;
}

// choose the slopes of heads
/// ALiBi's slopes for H heads (Press 2022).  Throws
/// std::invalid_argument for H < 1.
template <class S = double>
std::vector<S> alibi_slopes(Index H) {
  require(H >= 1, "alibi_slopes: H = ", H);
  const Index low = Index(std::bit_floor(std::uint64_t(H)));
  std::vector<S> m;
  for (Index h = 1; h <= low; ++h)
    m.push_back(S(std::exp2(-8.0 * double(h) / double(low))));
  for (Index h = 1; std::ssize(m) < H; h += 2)
    m.push_back(S(std::exp2(-4.0 * double(h) / double(low))));
  return m;
}
}  // namespace attn
