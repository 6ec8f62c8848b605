// include/attn/cache.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <type_traits>
#include <utility>

#include "attn/modifiers.hpp"

namespace attn {
// keep keys and values
/// Keys (d_k columns) and values (d_v) of rows first(), ..., end() - 1.
template <class S>
class KeyValueCache {
 public:
  KeyValueCache(Index d_k, Index d_v) : K(0, d_k), V(0, d_v) {}
  Index first() const { return start; }
  Index end() const { return start + used; }
  /// Views, valid until the next append.
  auto keys() const { return K.middleRows(gone, used); }
  auto values() const { return V.middleRows(gone, used); }

  // append to the cache
  /// Appends rows end(), ...  Throws std::invalid_argument.
  void append(const GivenRows<S>& k, const GivenRows<S>& v) {
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
  /// Forgets the rows before a given one.
  void forget_before(Index row) {
    const Index n = std::clamp<Index>(row - start, 0, used);
    start += n, gone += n, used -= n;
  }

 private:
  Matrix<S> K, V;
  Index start = 0, gone = 0, used = 0;  // row in all, here, and how many
};

// attend to the cache
/// Parts and rules of modified attention for the last queries x.Q, rows
/// end() - n_q, ...; x.K and x.V are ignored, `whole` are the rules for
/// all rows.  The parts look at x and at the cache, and must not outlive
/// them.  Throws std::invalid_argument.
template <class S>
std::pair<VariantParts<S, GivenRows<S>>, VariantRules> cut_to_cache(
    const VariantParts<S>& x, const VariantRules& whole,
    const KeyValueCache<S>& cache) {
  const Block b{cache.end() - x.Q.rows(), cache.end(), cache.first(),
                cache.end()};

  // demand queries and keys that are there
  require(b.i0 >= 0 && b.i1 <= whole.mask.n_q() && b.i1 <= whole.mask.n_k(),
          "decode: ", x.Q.rows(), " queries end at row ", b.i1,
          " of a mask ", whole.mask.n_q(), "x", whole.mask.n_k());
  require(count(whole.mask, {b.i0, b.i1, 0, b.j0}) == 0,
          "decode: keys before row ", b.j0,
          " are allowed, but were forgotten");
  VariantRules r = whole;
  r.mask = part(whole.mask, b);

  // show the cache to a variant
  const Index n = x.bias.rows(), m = x.bias.cols();
  const Block cut{n > 1 ? b.i0 : 0, n > 1 ? b.i1 : n,
                  m > 1 ? b.j0 : 0, m > 1 ? b.j1 : m};
  VariantParts<S, GivenRows<S>> y{
      .Q = x.Q, .K = cache.keys(), .V = cache.values(),
      .bias = x.bias.block(cut.i0, cut.j0, cut.i1 - cut.i0,
                           cut.j1 - cut.j0)};
  each_part([](auto, const auto& from, auto& to) {
    if constexpr (std::is_same_v<decltype(to), Matrix<S>&>) to = from;
  }, x, y);
  return {std::move(y), std::move(r)};
}
/// Rows of modified attention for the last queries.  Throws as
/// cut_to_cache and variant_forward.
template <class S>
VariantForward<S> decode(const VariantParts<S>& x,
                         const VariantRules& whole,
                         const KeyValueCache<S>& cache) {
  const auto [parts, rules] = cut_to_cache(x, whole, cache);
  return variant_forward(parts, rules);
}
/// Gradient of <dO, O> + <dlogZ, log Z> of the last queries (prop.
/// cache-vjp): K and V for the rows in the cache, all others in the
/// shapes of x.  Throws as decode and variant_vjp.
template <class S>
VariantParts<S> decode_vjp(
    const VariantParts<S>& x, const VariantRules& whole,
    const KeyValueCache<S>& cache, const Input<S>& dO,
    const std::type_identity_t<Vector<S>>& dlogZ = {}) {
  const auto [parts, r] = cut_to_cache(x, whole, cache);
  auto g = variant_vjp(parts, r, variant_forward(parts, r), dO, dlogZ);

  // put the bias back where it was cut
  if (x.bias.size() > 0) {
    Matrix<S> B = Matrix<S>::Zero(x.bias.rows(), x.bias.cols());
    B.block(B.rows() > 1 ? cache.end() - x.Q.rows() : 0,
            B.cols() > 1 ? cache.first() : 0, g.bias.rows(),
            g.bias.cols()) = g.bias;
    g.bias = std::move(B);
  }
  return g;
}
}  // namespace attn
