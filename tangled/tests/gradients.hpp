// tests/gradients.hpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#pragma once
#include "verify.hpp"
#include "attn/verify_gradients.hpp"
#include "problems.hpp"

namespace backward {
using attn::detail::absolute_parts, attn::detail::compare_parts,
    attn::detail::difference_along, attn::detail::direction_like,
    attn::detail::dual_inputs, attn::detail::errors_of_any_form,
    attn::detail::heaviest_key, attn::detail::moved_inputs,
    attn::detail::scaled_parts, attn::detail::tracked_forward;

// seed one entry after the other
/// Calls f(p, q, X + eps e_pq) for every entry of X.
template <class F>
void each_entry(const Matrix<quad>& X, F f) {
  for (Index p = 0; p < X.rows(); ++p)
    for (Index q = 0; q < X.cols(); ++q) {
      Matrix<Dual<quad>> x = lift<Dual<quad>>(X);
      x(p, q).d = quad(1);
      f(p, q, x);
    }
}

/// Infinitesimal part of A V, where `which` of the two factors is dual.
inline Matrix<quad> infinitesimal(const Matrix<Dual<quad>>& X,
                           const Matrix<quad>& Y, char which) {
  const Matrix<Dual<quad>> y = lift<Dual<quad>>(Y);
  const Matrix<Dual<quad>> O = which == 'A' ? times(X, y) : times(y, X);
  return O.unaryExpr([](const Dual<quad>& z) { return z.d; });
}

// compare all parts of two gradients
inline void verify_parts(const AttentionParts<quad>& a,
                  const AttentionParts<quad>& b, double bound) {
  verify(distance(a.Q, b.Q), bound);
  verify(distance(a.K, b.K), bound);
  verify(distance(a.V, b.V), bound);
  verify(distance(a.M, b.M), bound);
  verify(distance(a.bias, b.bias), bound);
  verify(distance(a.T, b.T), bound);
}
}  // namespace backward
