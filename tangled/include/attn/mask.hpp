// include/attn/mask.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once

// include what masks need
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/places.hpp"
#include "attn/random.hpp"
#include "attn/tensor.hpp"

namespace attn {
// say what a mask is
/// How much of a block a mask allows; some is always a safe answer.
enum class Cover { none, some, all };
/// A set of allowed pairs (def. mask) of queries and keys at known
/// positions; one test for a pair, one for a block, which may answer
/// some if unsure.  A copy shares the rule and its tables.
class Mask {
 public:
  using Pair = std::function<bool(Index, Index)>;
  using Rectangle = std::function<Cover(const Block&)>;
  Mask(Positions at, bool placed, Pair allows, Rectangle covers)
      : places(std::move(at)), said(placed),
        rule(std::make_shared<const Rule>(
            Rule{std::move(allows), std::move(covers)})) {}

  // look through a mask at its rule
  /// Is the pair of query i and key j allowed?
  bool allows(Index i, Index j) const {
    if (turned) std::swap(i, j);
    return rule->allows(i + row, j + col);
  }
  /// How much of the block is.
  Cover covers(const Block& b) const {
    if (b.pairs() == 0) return Cover::none;
    const Block x = turned ? Block{b.j0, b.j1, b.i0, b.i1} : b;
    return rule->covers({x.i0 + row, x.i1 + row, x.j0 + col, x.j1 + col});
  }

  // say whose extents and positions they are
  const Positions& at() const { return places; }
  /// Have the positions been stated, or are they the default?
  bool placed() const { return said; }
  Index n_q() const { return places.q.size(); }
  Index n_k() const { return places.k.size(); }
  Block whole() const { return {0, n_q(), 0, n_k()}; }

  // keep the rule of a mask
   private:
    struct Rule {
      Pair allows;
      Rectangle covers;
    };
    friend Mask part(const Mask&, const Block&);
    friend Mask transposed(const Mask&);
    friend Mask placed_at(Mask, Positions);
    Positions places;
    bool said, turned = false;
    std::shared_ptr<const Rule> rule;
    Index row = 0, col = 0;  // where the window on the rule begins
};

// make masks from a band
/// Pairs with -left <= p_j - p_i <= right.  Throws
/// std::invalid_argument for a negative width.
inline Mask window(const Positions& at, Index left, Index right) {
  require(left >= 0 && right >= 0, "window: left ", left, ", right ", right,
          " must not be negative");
  return {at, true,
          [=](Index i, Index j) {
            const Index t = at.offset(i, j);
            return -left <= t && t <= right;
          },

          // compare the offsets of a block with a band
          [=](const Block& b) {
            const auto [low, high] = at.offsets(b);
            if (high < -left || right < low) return Cover::none;
            return -left <= low && high <= right ? Cover::all : Cover::some;
          }
  };
}
/// The same with n_q queries and n_k keys at aligned positions.
inline Mask window(Index n_q, Index n_k, Index left, Index right,
                   std::optional<Index> offset = {}) {
  return window(aligned(n_q, n_k, offset), left, right);
}
/// A width that no sequence reaches.
inline constexpr Index unlimited = Index{1} << 40;
/// Pairs with p_j <= p_i.
inline Mask causal(const Positions& at) {
  return window(at, unlimited, 0);
}
/// The same at aligned positions: by default the last query sees all.
inline Mask causal(Index n_q, Index n_k, std::optional<Index> offset = {}) {
  return causal(aligned(n_q, n_k, offset));
}

// make masks without positions
namespace detail {
/// A mask of extents alone.
inline Mask unplaced(Index n_q, Index n_k, Mask::Pair allows,
                     Mask::Rectangle covers) {
  return {aligned(n_q, n_k), false, std::move(allows), std::move(covers)};
}
}  // namespace detail
/// Everything is allowed.
inline Mask everything(const Positions& at) {
  return {at, true, [](Index, Index) { return true; },
          [](const Block&) { return Cover::all; }};
}
/// The same without positions of its own.
inline Mask everything(Index n_q, Index n_k) {
  return detail::unplaced(n_q, n_k, [](Index, Index) { return true; },
                          [](const Block&) { return Cover::all; });
}
/// The first q_length queries and k_length keys of a padded sequence.
/// Throws std::invalid_argument for lengths outside the extents.
inline Mask padding(Index n_q, Index n_k, Index q_length, Index k_length) {
  require(0 <= q_length && q_length <= n_q && 0 <= k_length &&
              k_length <= n_k, "padding: lengths ", q_length, " and ",
          k_length, " but extents ", n_q, "x", n_k);
  return detail::unplaced(
      n_q, n_k,
      [=](Index i, Index j) { return i < q_length && j < k_length; },

      // compare a block with the padded lengths
      [=](const Block& b) {
        if (b.i0 >= q_length || b.j0 >= k_length) return Cover::none;
        return b.i1 <= q_length && b.j1 <= k_length ? Cover::all : Cover::some;
      }
  );
}
/// Pairs with equal labels, one label per query and per key.
inline Mask segments(std::vector<Index> of_queries,
                     std::vector<Index> of_keys) {
  const Places q(std::move(of_queries)), k(std::move(of_keys));
  return detail::unplaced(
      q.size(), k.size(), [=](Index i, Index j) { return q[i] == k[j]; },
      [=](const Block& b) {
        const auto [q0, q1] = q.range(b.i0, b.i1);
        const auto [k0, k1] = k.range(b.j0, b.j1);
        if (q1 < k0 || k1 < q0) return Cover::none;
        return q0 == q1 && k0 == k1 ? Cover::all : Cover::some;
      });
}

// make masks from a stride
/// Pairs whose offset is a multiple of the stride.
/// Throws std::invalid_argument unless stride >= 1.
inline Mask strided(const Positions& at, Index stride) {
  require(stride >= 1, "strided: stride ", stride);
  return {at, true,
          [=](Index i, Index j) { return at.offset(i, j) % stride == 0; },

          // look for a multiple among the offsets of a block
          [=](const Block& b) {
            const auto [low, high] = at.offsets(b);
            const Index past = ((low % stride) + stride) % stride;
            const Index next = past == 0 ? low : low + stride - past;
            if (next > high) return Cover::none;
            return stride == 1 || low == high ? Cover::all : Cover::some;
          }
  };
}
inline Mask strided(Index n_q, Index n_k, Index stride,
                    std::optional<Index> offset = {}) {
  return strided(aligned(n_q, n_k, offset), stride);
}

// make masks from global positions
namespace detail {
/// How much of a range of positions lies in 0, ..., tokens - 1.
inline Cover among(std::pair<Index, Index> range, Index tokens) {
  if (tokens == 0 || range.second < 0 || range.first >= tokens)
    return Cover::none;
  return 0 <= range.first && range.second < tokens ? Cover::all
                                                   : Cover::some;
}
}  // namespace detail
/// Pairs one member of which is at a position 0, ..., tokens - 1.
/// Throws std::invalid_argument for a negative number of them.
inline Mask global_tokens(const Positions& at, Index tokens) {
  require(tokens >= 0, "global_tokens: tokens ", tokens);
  const auto global = [=](Index p) { return 0 <= p && p < tokens; };
  return {at, true,
          [=](Index i, Index j) { return global(at.k[j]) || global(at.q[i]); },
          [=](const Block& b) {
            return std::max(
                detail::among(at.q.range(b.i0, b.i1), tokens),
                detail::among(at.k.range(b.j0, b.j1), tokens));
          }};
}
inline Mask global_tokens(Index n_q, Index n_k, Index tokens,
                          std::optional<Index> offset = {}) {
  return global_tokens(aligned(n_q, n_k, offset), tokens);
}

// make masks from a table of tiles
/// Pair (i, j) is allowed if layout(i / tile, j / tile) is.  Throws
/// std::invalid_argument unless the layout has ceil(n / tile) rows, cols.
inline Mask block_sparse(Index n_q, Index n_k, Index tile,
                         Matrix<bool> layout) {
  require(tile >= 1 && layout.rows() == (n_q + tile - 1) / tile &&
              layout.cols() == (n_k + tile - 1) / tile,
          "block_sparse: tile ", tile, ", layout ", shape(layout),
          ", extents ", n_q, "x", n_k);
  const auto table =
      std::make_shared<const Matrix<bool>>(std::move(layout));
  return detail::unplaced(
      n_q, n_k,
      [=](Index i, Index j) { return (*table)(i / tile, j / tile); },

      // look at the tiles that a block touches
      [=](const Block& b) {
        const Index i = b.i0 / tile, j = b.j0 / tile;
        const auto touched = table->block(i, j, (b.i1 - 1) / tile - i + 1,
                                          (b.j1 - 1) / tile - j + 1);
        return touched.all() ? Cover::all
               : touched.any() ? Cover::some : Cover::none;
      }
  );
}
/// In each row of tiles, per_row different random ones (fewer if there are
/// not that many).  Throws std::invalid_argument.
inline Mask random_tiles(Index n_q, Index n_k, Index tile, Index per_row,
                         std::uint64_t seed) {
  require(tile >= 1 && per_row >= 0, "random_tiles: tile ", tile,
          ", per row ", per_row);
  const Index rows = (n_q + tile - 1) / tile, cols = (n_k + tile - 1) / tile;
  Matrix<bool> layout = Matrix<bool>::Constant(rows, cols, false);
  for (Index i = 0; i < rows; ++i) {
    const auto order =
        permutation(cols, seed, "row of tiles " + std::to_string(i));
    for (Index k = 0; k < std::min(per_row, cols); ++k)
      layout(i, order[std::size_t(k)]) = true;
  }
  return block_sparse(n_q, n_k, tile, std::move(layout));
}

// make masks from anything else
/// Pairs for which the predicate holds.
inline Mask where(Index n_q, Index n_k, Mask::Pair allows) {
  return detail::unplaced(n_q, n_k, std::move(allows),
                          [](const Block&) { return Cover::some; });
}
/// The pairs at which a matrix is true.
inline Mask from_matrix(const Matrix<bool>& m) {
  return block_sparse(m.rows(), m.cols(), 1, m);
}
namespace detail {
// agree on extents and positions
/// The one of two masks whose positions hold for both.
inline const Mask& leading(const Mask& a, const Mask& b) {
  require(a.n_q() == b.n_q() && a.n_k() == b.n_k(), "Mask &: extents ",
          a.n_q(), "x", a.n_k(), " and ", b.n_q(), "x", b.n_k());
  require(!a.placed() || !b.placed() || a.at() == b.at(),
          "Mask &: the masks place queries and keys differently");
  return a.placed() ? a : b;
}
}  // namespace detail

// combine masks like sets
/// Pairs in both masks.  Throws std::invalid_argument for other extents,
/// or if both state positions and they differ.
inline Mask operator&(const Mask& a, const Mask& b) {
  const Mask& m = detail::leading(a, b);
  return {m.at(), m.placed(),
          [=](Index i, Index j) { return a.allows(i, j) && b.allows(i, j); },
          [=](const Block& x) {
            const Cover one = a.covers(x);
            if (one == Cover::none) return one;
            const Cover two = b.covers(x);
            return one == Cover::all || two == Cover::none ? two : one;
          }};
}
/// Pairs that are not in the mask.
inline Mask operator!(const Mask& a) {
  return {a.at(), a.placed(),
          [=](Index i, Index j) { return !a.allows(i, j); },
          [=](const Block& x) {
            const Cover c = a.covers(x);
            return c == Cover::some ? c
                   : c == Cover::all ? Cover::none : Cover::all;
          }};
}
/// Pairs in either mask, or in both.  Throws as &.
inline Mask operator|(const Mask& a, const Mask& b) { return !((!a) & (!b)); }

// cut and turn masks
/// The rectangle b of a mask, as a mask with its own indices from 0.
/// Throws std::invalid_argument if b is not inside.
inline Mask part(const Mask& m, const Block& b) {
  require(0 <= b.i0 && b.i0 <= b.i1 && b.i1 <= m.n_q() && 0 <= b.j0 &&
              b.j0 <= b.j1 && b.j1 <= m.n_k(), "part: block ", b.i0, "..",
          b.i1, " x ", b.j0, "..", b.j1, " of a mask ", m.n_q(), "x",
          m.n_k());
  Mask p = m;
  p.row += m.turned ? b.j0 : b.i0;
  p.col += m.turned ? b.i0 : b.j0;
  p.places = {m.places.q.part(b.i0, b.i1), m.places.k.part(b.j0, b.j1)};
  return p;
}
/// Queries and keys exchanged.
inline Mask transposed(const Mask& m) {
  Mask t = m;
  t.turned = !m.turned;
  t.places = {m.places.k, m.places.q};
  return t;
}
/// The same set of pairs at other positions.
/// Throws std::invalid_argument for other extents.
inline Mask placed_at(Mask m, Positions at) {
  require(at.q.size() == m.n_q() && at.k.size() == m.n_k(),
          "placed_at: positions ", at.q.size(), "x", at.k.size(),
          " for a mask ", m.n_q(), "x", m.n_k());
  m.places = std::move(at), m.said = true;
  return m;
}

// look at a mask
/// Number of allowed pairs in the block, by quartering.
inline Index count(const Mask& m, const Block& b) {
  if (b.pairs() == 0) return 0;
  const Cover c = m.covers(b);
  if (c != Cover::some) return c == Cover::all ? b.pairs() : 0;
  if (b.pairs() == 1) return m.allows(b.i0, b.j0);
  const Index i = (b.i0 + b.i1 + 1) / 2, j = (b.j0 + b.j1 + 1) / 2;
  return count(m, {b.i0, i, b.j0, j}) + count(m, {b.i0, i, j, b.j1}) +
         count(m, {i, b.i1, b.j0, j}) + count(m, {i, b.i1, j, b.j1});
}
/// Number of allowed pairs.
inline Index count(const Mask& m) { return count(m, m.whole()); }
/// Calls f(block, cover) for each tile of which something is allowed.
/// Throws std::invalid_argument unless tile >= 1.
template <class F>
void each_tile(const Mask& m, const Block& b, Index tile, F f) {
  require(tile >= 1, "each_tile: tile ", tile);
  for (Index i = b.i0; i < b.i1; i += tile)
    for (Index j = b.j0; j < b.j1; j += tile) {
      const Block x{i, std::min(i + tile, b.i1), j, std::min(j + tile, b.j1)};
      const Cover c = m.covers(x);
      if (c != Cover::none) f(x, c);
    }
}
/// Numbers of tiles skipped, tested pair by pair, and wholly allowed.
struct Census {
  Index none = 0, some = 0, all = 0;
};
/// Census of the mask in square tiles of the given edge.
inline Census census(const Mask& m, Index tile) {
  Census c;
  each_tile(m, m.whole(), tile, [&](const Block&, Cover cover) {
    ++(cover == Cover::all ? c.all : c.some);
  });
  c.none = ((m.n_q() + tile - 1) / tile) * ((m.n_k() + tile - 1) / tile) -
           c.some - c.all;
  return c;
}
/// The mask as a matrix of n_q x n_k booleans: only if you must.
inline Matrix<bool> dense(const Mask& m) {
  Matrix<bool> d(m.n_q(), m.n_k());
  for (Index i = 0; i < m.n_q(); ++i)
    for (Index j = 0; j < m.n_k(); ++j) d(i, j) = m.allows(i, j);
  return d;
}
/// One line per query, '#' for an allowed key and '.' for another.
inline std::string picture(const Mask& m) {
  std::string s;
  for (Index i = 0; i < m.n_q(); ++i, s += '\n')
    for (Index j = 0; j < m.n_k(); ++j) s += m.allows(i, j) ? '#' : '.';
  return s;
}
/// The mask as a bias, n_q x n_k: 0 where allowed, -infinity elsewhere.
template <class S>
Matrix<S> bias_of(const Mask& m) {
  return dense(m).select(Matrix<S>::Zero(m.n_q(), m.n_k()),
                         S(-HUGE_VAL));
}
}  // namespace attn
