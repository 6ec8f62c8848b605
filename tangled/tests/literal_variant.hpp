// tests/literal_variant.hpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#pragma once
#include "variants.hpp"
#include "attn/modifiers.hpp"
#include "attn/random.hpp"

namespace variants {
// write modified attention in plain loops
/// O, log Z and weights of def. modified, literally.
struct Literal {
  Matrix<quad> O, A;
  Vector<quad> logZ;
};
using QuadParts = VariantParts<quad>;

inline Matrix<quad> at_offset(const Matrix<quad>& R, Index t, Index d) {
  if (R.size() == 0) return Matrix<quad>::Zero(1, d);
  const Index l = R.rows() / 2;
  return R.row((t < -l ? -l : t > l ? l : t) + l);
}
inline quad literal_score(const QuadParts& x, const VariantRules& r,
                          Index i, Index j) {
  const Positions& at = r.mask.at();
  const Index d = x.K.cols(), t = at.k[j] - at.q[i];
  const Matrix<quad> R = at_offset(x.rel_keys, t, d);
  quad X = 0;
  for (Index a = 0; a < d; ++a)
    X += (x.Q(i, a) + (x.u.size() ? x.u(a) : quad(0))) * x.K(j, a) +
         (x.Q(i, a) + (x.w.size() ? x.w(a) : quad(0))) * R(a);
  X *= x.scale.size() ? x.scale(0) : 1 / sqrt(quad(double(d)));
  if (r.softcap) X = quad(*r.softcap) * tanh(X / quad(*r.softcap));
  if (x.bias.size())
    X += x.bias(x.bias.rows() > 1 ? i : 0, x.bias.cols() > 1 ? j : 0);
  if (x.table.size()) X += x.table(r.buckets(t));
  if (x.slope.size()) X -= x.slope(0) * quad(double(t < 0 ? -t : t));
  return X;
}
inline Literal literal(const QuadParts& x, const VariantRules& r) {
  const Index n = r.mask.n_q(), m = r.mask.n_k(), dv = x.V.cols();
  Literal f{Matrix<quad>::Zero(n, dv), Matrix<quad>::Zero(n, m),
            Vector<quad>::Constant(n, quad(-inf))};
  for (Index i = 0; i < n; ++i) {
    quad top = x.sink.size() ? x.sink(0) : quad(-inf), Z = 0;
    for (Index j = 0; j < m; ++j)
      if (r.mask.allows(i, j)) top = std::max(top, literal_score(x, r, i, j));
    if (top == quad(-inf)) continue;
    if (x.sink.size()) Z = exp(x.sink(0) - top);
    for (Index j = 0; j < m; ++j)
      if (r.mask.allows(i, j))
        Z += f.A(i, j) = exp(literal_score(x, r, i, j) - top);
    f.A.row(i) /= Z;
    f.logZ(i) = top + log(Z);
    for (Index j = 0; j < m; ++j) {
      const bool kept = r.dropout.keeps(r.mask.at().q[i], r.mask.at().k[j]);
      if (!r.mask.allows(i, j) || !kept) continue;
      f.O.row(i) += f.A(i, j) / quad(1 - r.dropout.p) *
                    (x.V.row(j) + at_offset(x.rel_values,
                                            r.offset(i, j), dv));
    }
  }
  return f;
}

// draw a random variant
constexpr unsigned last_variant = 1023;

inline QuadParts draw_parts(Index n, Index m, Index d, Index dv,
                            unsigned bits, std::uint64_t seed) {
  const auto G = [&](const char* name, Index a, Index b) {
    return gaussian<quad>(a, b, seed, name);
  };
  QuadParts x{G("Q", n, d), G("K", m, d), G("V", m, dv)};
  if (bits & 1) x.scale = G("scale", 1, 1);
  if (bits & 2) x.u = G("u", 1, d), x.w = G("w", 1, d);
  if (bits & 4) x.rel_keys = G("rel_keys", 5, d);
  if (bits & 8) x.rel_values = G("rel_values", 7, dv);
  if (bits & 16) x.bias = G("bias", seed % 2 ? n : 1, seed % 3 ? m : 1);
  if (bits & 32) x.table = G("table", 1, 8);
  if (bits & 64) x.slope = G("slope", 1, 1).cwiseAbs();
  if (bits & 128) x.sink = G("sink", 1, 1);
  return x;
}
inline VariantRules draw_rules(const Mask& mask, unsigned bits) {
  VariantRules r{mask};
  r.buckets = Buckets(true, 8, 12);
  if (bits & 256) r.softcap = 1.5;
  if (bits & 512) r.dropout = {0.25, 7, 2, 1, 3};
  return r;
}
}  // namespace variants
