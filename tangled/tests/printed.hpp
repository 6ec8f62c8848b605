// tests/printed.hpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#pragma once
#include <limits>
#include "attn/einsum.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "attn/thermodynamics.hpp"

namespace gibbs {
using namespace attn;

// count roundings in quad
/// n roundings in quad, relative to numbers of order one.
inline double roundings(double n) { return n * 0x1p-113; }

// draw rows of scores for the checks
const double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

/// Calls f(S, T) for scores S (2 x n) over sizes, scales and temperatures.
template <class F>
void for_rows(std::uint64_t seeds, F f) {
  std::uint64_t seed = 0;
  for (std::uint64_t k = 0; k < seeds; ++k)
    for (const Index n : {1, 2, 3, 7, 33})
      for (const double scale : {1e-3, 1.0, 30.0, 1e4})
        for (const double T : {1e-6, 0.1, 1.0, 7.0, 1e9})
          f(Matrix<double>(scale * gaussian<double>(2, n, ++seed)), T);
}

// write the printed definitions in quad
/// Weights, log Z, mean energy and entropy as printed, in quad precision.
struct Printed {
  Matrix<quad> A;
  quad logZ, U, H;
};
inline Printed printed(const Matrix<quad>& s, const quad& T) {
  const Matrix<quad> w = (s.array() / T).exp();
  const quad Z = w.sum();
  const Matrix<quad> A = w / Z;
  const quad U = -(A.array() * s.array()).sum();
  return {A, log(Z), U, quad(-(A.array() * A.array().log()).sum())};
}

// evaluate the rounding bounds
/// Theorem's bounds for one row: weights, log Z, entropy and energies.
struct Bounds {
  RowVector<double> A, logA;
  double logZ, H, F, U;
};
template <class S>
Bounds bounds(const Matrix<quad>& s, double T) {
  const double least = to_double(std::numeric_limits<S>::denorm_min());
  const double tiny = 1e3 * least;
  const double n = double(s.cols()), m = to_double(s.maxCoeff());
  const RowVector<double> A = lift<double>(attn::gibbs(s, quad(T)));
  const RowVector<double> x = lift<double>(
      ((s.maxCoeff() - s.array()) / quad(T)).matrix());
  const double mean = A.dot(x), L = -std::log(A.maxCoeff());
  const double second = A.dot(x.cwiseProduct(x));
  const double logZ = m / T + L, H = L + mean, rest = 1 - A.maxCoeff();
  const double kappa = 2 * unit_roundoff<S>() *
      (std::min(x.maxCoeff(), -std::log(least)) + mean + n + 4);
  const double u = unit_roundoff<S>() / (1 - kappa);

  // assemble the bounds of a row
  const double eL = 2 * mean + n * rest + 2 * L;
  const double eX = 2 * second + (n + 5) * mean + 2 * mean * mean +
                    n * rest * mean;
  return {u * (2 * x.array() + 2 * mean + n + 6) * A.array() + tiny,
          u * (3 * x.array() + eL + L) + n * tiny,
          u * (std::abs(m) / T + std::abs(logZ) + eL) + n * tiny,
          u * (4 * second + (2 * n + 8) * H) + n * tiny,
          u * (T * (eL + L) + std::abs(m + T * L)) + T * n * tiny,
          u * (T * (eX + mean) + std::abs(m - T * mean)) + T * n * tiny};
}
template <class S, class F>
void rows_within_bound(std::uint64_t seeds, F f) {
  for_rows(seeds, [&](const Matrix<double>& X, double temperature) {
    const Matrix<S> s = X.cast<S>().row(0);
    const S T = static_cast<S>(temperature);
    f(s, T, lift<quad>(s), quad(T), bounds<S>(lift<quad>(s), T));
  });
}

// write the free energy of any distribution
/// F(q) = U(q) - T H(q) of one row, as printed, over the keys of q.
inline quad free_energy_of(const Matrix<quad>& q, const Matrix<quad>& s,
                           quad T) {
  quad U(0);
  for (Index j = 0; j < q.size(); ++j)
    if (q(j) > 0) U -= q(j) * s(j);
  return U - T * entropy(q)(0);
}

// write weights at any temperature
inline RowVector<quad> weights_at(const RowVector<quad>& s, quad beta) {
  const RowVector<quad> w = (beta * s.array()).exp();
  return w / w.sum();
}

// estimate a mean and its error
/// The mean of x and the standard error of that mean.
inline std::pair<double, double> estimate(const Vector<double>& x) {
  const double n = double(x.size()), mean = x.mean();
  const double square = (x.array() - mean).square().sum() / (n - 1);
  return {mean, std::sqrt(square / n)};
}

// integrate over the noisy free energy
/// For n = exp(log_n) normal scores of standard deviation sigma: E log Z,
/// E H, and log E Z - E log Z with its own digits.
struct ManyKeys {
  double logZ, H, gap;
};
/// Means over z of 1 - exp(-x), x + exp(-x) - 1 and z x exp(-x), where
/// x = exp(sigma z - y).
struct Below {
  double missed = 0, excess = 0, slope = 0;
};
inline Below below(double y, double sigma) {
  const double h = 0.25 / std::max(1.0, sigma);
  Below b;
  for (double z = -10; z < 2 * sigma + 10; z += h) {
    const double p = h * std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    const double x = std::exp(std::min(sigma * z - y, 700.0));
    b.missed -= p * std::expm1(-x);
    b.excess += p * (std::expm1(-x) + x);
    b.slope += p * z * x * std::exp(-x);
  }
  return b;
}
inline ManyKeys many_keys(double log_n, double sigma) {
  const double n = std::exp(log_n), top = log_n + 12 * sigma + 50;
  const double L = log_n + sigma * sigma / 2, h = 0.25;
  double mean = top - h / 2, slope = 0, gap = 0;
  for (double y = top - h; y > -12 * sigma - 10; y -= h) {
    // add one value of the noisy maximum
    const Below b = below(y, sigma);
    const double power = n * std::log1p(-b.missed);
    if (!(power > -700)) break;
    mean -= h * std::exp(power);
    slope += h * n * std::exp(power) / (1 - b.missed) * b.slope;
    const double more = n * (b.excess + std::log1p(-b.missed) + b.missed);
    const double G = std::exp(-std::exp(L - y));
    gap += h * (G > 0 ? G * std::expm1(more) : std::exp(power));
  }
  const double phi = mean - 0.57721566490153286;
  return {phi, phi - sigma * slope, gap};
}

// visit all types of draws
/// Calls f(type, number of its sequences) for all types of N draws of n.
template <class F>
void for_types(Index n, Index N, F f) {
  // fill Pascal's triangle
  Matrix<quad> choose = Matrix<quad>::Zero(N + 1, N + 1);
  for (Index i = 0; i <= N; ++i)
    for (Index j = 0; j <= i; ++j)
      choose(i, j) = j == 0 ? quad(1)
                            : quad(choose(i - 1, j - 1) + choose(i - 1, j));
  RowVector<quad> count = RowVector<quad>::Zero(n);
  const auto visit = [&](auto& self, Index j, Index left,
                         const quad& ways) -> void {
    count(j) = quad(double(left));
    if (j == n - 1) return f(RowVector<quad>(count / quad(double(N))), ways);
    for (Index c = 0; c <= left; ++c) {
      count(j) = quad(double(c));
      self(self, j + 1, left - c, quad(ways * choose(left, c)));
    }
  };
  visit(visit, 0, N, quad(1));
}

// throw a die many times
/// Throws of a die: the probability of an event, and the expected
/// fractions of the faces given that event.
struct Throws {
  quad probability;
  RowVector<quad> fractions;
};
template <class Event>
Throws throws_of_die(const RowVector<quad>& faces, Index N,
                     Event happens) {
  const Index n = faces.size();
  Throws y{quad(0), RowVector<quad>::Zero(n)};
  const quad each = pow(quad(double(n)), quad(double(-N)));
  for_types(n, N, [&](const RowVector<quad>& q, const quad& sequences) {
    const double total = double(N) * to_double(q.dot(faces));
    if (!happens(std::round(total))) return;
    y.probability += sequences * each;
    y.fractions += sequences * each * q;
  });
  y.fractions /= y.probability;
  return y;
}

// compute one entropy in three ways
struct Entropies {
  double truth, ours, plain, eps;
};
inline Entropies entropies(double T) {
  const RowVector<double> s{{2, 1, 0, -1, 0.5}};
  const RowVector<double> A = attn::gibbs(s, T);
  const auto a = A.array();
  return {to_double(gibbs_entropy(lift<quad>(s), quad(T))(0)),
          gibbs_entropy(s, T)(0), entropy(A)(0),
          -(a * (a + 1e-12).log()).sum()};
}
}  // namespace gibbs
