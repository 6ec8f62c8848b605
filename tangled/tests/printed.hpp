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

// write the free energy of any distribution
/// F(q) = U(q) - T H(q) of one row, as printed.
inline quad free_energy_of(const Matrix<quad>& q, const Matrix<quad>& s,
                           quad T) {
  return quad(-(q.array() * s.array()).sum()) - T * entropy(q)(0);
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
