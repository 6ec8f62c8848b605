// include/attn/cache.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once
#include "attn/modifiers.hpp"

namespace attn {
// keep keys and values
/// Keys (d_k columns) and values (d_v) of positions first(), ..., end()-1.
template <class S>
class KeyValueCache {
 public:
  KeyValueCache(Index d_k, Index d_v) : K(0, d_k), V(0, d_v) {}
  Index first() const { return start; }
  Index end() const { return start + used; }
  Matrix<S> keys() const { return K.middleRows(gone, used); }
  Matrix<S> values() const { return V.middleRows(gone, used); }

  // append to the cache
  /// Appends rows at position end().  Throws std::invalid_argument.
  void append(const Matrix<S>& k, const Matrix<S>& v) {
    require(k.cols() == K.cols() && v.cols() == V.cols() &&
                k.rows() == v.rows(), "KeyValueCache: append ", shape(k),
            " and ", shape(v), " to ", K.cols(), " and ", V.cols(), " columns");
    if (gone + used + k.rows() > K.rows()) {
      const Index room = 2 * (used + k.rows());
      Matrix<S> k2(room, K.cols()), v2(room, V.cols());
      k2.topRows(used) = keys(), v2.topRows(used) = values();
      K.swap(k2), V.swap(v2), gone = 0;
    }
    K.middleRows(gone + used, k.rows()) = k;
    V.middleRows(gone + used, k.rows()) = v;
    used += k.rows();
  }

  // forget the oldest keys
  /// Forgets what stands before a position.
  void forget_before(Index position) {
    const Index n = std::clamp<Index>(position - start, 0, used);
    start += n, gone += n, used -= n;
  }

 private:
  Matrix<S> K, V;
  Index start = 0, gone = 0, used = 0;  // position, row of the oldest
};

// attend to the cache
/// Parts and rules of modified attention for the last queries x.Q, at
/// positions end() - n_q, ...; x.K and x.V are ignored, `whole` are the
/// rules for all positions.  Throws std::invalid_argument.
template <class S>
std::pair<VariantParts<S>, VariantRules> cut_to_cache(
    VariantParts<S> x, const VariantRules& whole,
    const KeyValueCache<S>& cache) {
  const Block b{cache.end() - x.Q.rows(), cache.end(), cache.first(),
                cache.end()};
  require(b.i0 >= 0 && b.i1 <= whole.mask.n_q, "decode: ", x.Q.rows(),
          " queries end at position ", b.i1, " of a mask ", whole.mask.n_q,
          "x", whole.mask.n_k);
  require(count(whole.mask, {b.i0, b.i1, 0, b.j0}) == 0, "decode: keys ",
          "before position ", b.j0, " are allowed, but were forgotten");
  x.K = cache.keys(), x.V = cache.values();
  if (x.bias.rows() > 1)
    x.bias = x.bias.middleRows(b.i0, b.i1 - b.i0).eval();
  if (x.bias.cols() > 1)
    x.bias = x.bias.middleCols(b.j0, b.j1 - b.j0).eval();
  VariantRules r = whole;
  r.mask = part(whole.mask, b);
  r.query0 = b.i0, r.key0 = b.j0;
  return {std::move(x), std::move(r)};
}
/// Rows of modified attention for the last queries.  Throws as
/// cut_to_cache and variant_forward.
template <class S>
VariantForward<S> decode(const VariantParts<S>& x, const VariantRules& whole,
                         const KeyValueCache<S>& cache) {
  const auto [parts, rules] = cut_to_cache(x, whole, cache);
  return variant_forward(parts, rules);
}
/// Gradient of <dO, O> + <dlogZ, log Z> of the last queries (prop.
/// cache-vjp): K and V for the positions in the cache, all others in the
/// shapes of x.  Throws as decode and variant_vjp.
template <class S>
VariantParts<S> decode_vjp(const VariantParts<S>& x,
                           const VariantRules& whole,
                           const KeyValueCache<S>& cache,
                           const Matrix<S>& dO,
                           const Vector<S>& dlogZ = {}) {
  const auto [parts, r] = cut_to_cache(x, whole, cache);
  auto g = variant_vjp(parts, r, variant_forward(parts, r), dO, dlogZ);
  Matrix<S> B = Matrix<S>::Zero(x.bias.rows(), x.bias.cols());
  if (B.size() > 0)
    B.block(B.rows() > 1 ? r.query0 : 0, B.cols() > 1 ? r.key0 : 0,
            g.bias.rows(), g.bias.cols()) = g.bias;
  g.bias = std::move(B);
  return g;
}
}  // namespace attn
