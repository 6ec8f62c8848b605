// include/attn/mask.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "attn/argument.hpp"
#include "attn/random.hpp"
#include "attn/tensor.hpp"

namespace attn {
// say what a rectangle of pairs is
/// Queries i0, ..., i1 - 1 and keys j0, ..., j1 - 1.
struct Block {
  Index i0, i1, j0, j1;
  Index pairs() const { return (i1 - i0) * (j1 - j0); }
};

/// How much of a block a mask allows; some is always a safe answer.
enum class Cover { none, some, all };

// say what a mask is
/// A set of allowed pairs (def. mask): n_q queries, n_k keys; one test
/// for a pair, one for a block, which may answer some if unsure.
struct Mask {
  Index n_q, n_k;
  std::function<bool(Index, Index)> allows;
  std::function<Cover(const Block&)> covers;
  Block whole() const { return {0, n_q, 0, n_k}; }
};

// make masks from a band
/// A width that no sequence reaches.
inline constexpr Index unlimited = Index{1} << 40;

/// Pairs with -left <= j - (i + offset) <= right; the offset is n_k - n_q
/// by default.  Throws std::invalid_argument for a negative width.
inline Mask window(Index n_q, Index n_k, Index left, Index right,
                   std::optional<Index> offset = {}) {
  require(left >= 0 && right >= 0, "window: left ", left, ", right ", right,
          " must not be negative");
  require(n_q >= 0 && n_k >= 0, "window: extents ", n_q, "x", n_k);
  const Index o = offset.value_or(n_k - n_q);
  return {n_q, n_k,
          [=](Index i, Index j) {
            return -left <= j - i - o && j - i - o <= right;
          },
          [=](const Block& b) {
            const Index low = b.j0 - (b.i1 - 1) - o;
            const Index high = b.j1 - 1 - b.i0 - o;
            if (high < -left || right < low) return Cover::none;
            return -left <= low && high <= right ? Cover::all : Cover::some;
          }};
}
/// Pairs with j <= i + offset, by default aligned at the bottom right.
inline Mask causal(Index n_q, Index n_k, std::optional<Index> offset = {}) {
  return window(n_q, n_k, unlimited, 0, offset);
}
/// Everything is allowed.
inline Mask everything(Index n_q, Index n_k) {
  return window(n_q, n_k, unlimited, unlimited);
}

// make masks from lengths and labels
/// The first q_length queries and k_length keys of a padded sequence.
/// Throws std::invalid_argument for lengths outside the extents.
inline Mask padding(Index n_q, Index n_k, Index q_length, Index k_length) {
  require(0 <= q_length && q_length <= n_q && 0 <= k_length &&
              k_length <= n_k, "padding: lengths ", q_length, " and ",
          k_length, " but extents ", n_q, "x", n_k);
  return {n_q, n_k,
          [=](Index i, Index j) { return i < q_length && j < k_length; },
          [=](const Block& b) {
            if (b.i0 >= q_length || b.j0 >= k_length) return Cover::none;
            return b.i1 <= q_length && b.j1 <= k_length ? Cover::all
                                                        : Cover::some;
          }};
}
/// Pairs with equal labels, one label per query and per key.
inline Mask segments(const std::vector<Index>& q,
                     const std::vector<Index>& k) {
  const auto range = [](const std::vector<Index>& v, Index from, Index to) {
    const auto [low, high] =
        std::minmax_element(v.begin() + from, v.begin() + to);
    return std::pair(*low, *high);
  };
  return {std::ssize(q), std::ssize(k),
          [=](Index i, Index j) {
            return q[std::size_t(i)] == k[std::size_t(j)];
          },
          [=](const Block& b) {
            const auto [ql, qh] = range(q, b.i0, b.i1);
            const auto [kl, kh] = range(k, b.j0, b.j1);
            if (qh < kl || kh < ql) return Cover::none;
            return ql == qh && kl == kh ? Cover::all : Cover::some;
          }};
}

// make masks from a stride
/// Pairs whose distance j - (i + offset) is a multiple of the stride.
/// Throws std::invalid_argument unless stride >= 1.
inline Mask strided(Index n_q, Index n_k, Index stride,
                    std::optional<Index> offset = {}) {
  require(stride >= 1, "strided: stride ", stride);
  const Index o = offset.value_or(n_k - n_q);
  return {n_q, n_k,
          [=](Index i, Index j) { return (j - i - o) % stride == 0; },
          [=](const Block& b) {
            const Index low = b.j0 - (b.i1 - 1) - o;
            const Index high = b.j1 - 1 - b.i0 - o;
            const Index past = ((low % stride) + stride) % stride;
            const Index next = past == 0 ? low : low + stride - past;
            if (next > high) return Cover::none;
            return stride == 1 || low == high ? Cover::all : Cover::some;
          }};
}
/// Pairs one member of which is among the first `tokens` positions.
/// Throws std::invalid_argument.
inline Mask global_tokens(Index n_q, Index n_k, Index tokens,
                          std::optional<Index> offset = {}) {
  require(tokens >= 0, "global_tokens: tokens ", tokens);
  const Index o = offset.value_or(n_k - n_q);
  return {n_q, n_k,
          [=](Index i, Index j) {
            return j < tokens || (0 <= i + o && i + o < tokens);
          },
          [=](const Block& b) {
            const Index low = std::max<Index>(b.i0 + o, 0);
            const Index high = std::min(b.i1 + o, tokens);
            if (b.j1 <= tokens || high - low == b.i1 - b.i0) return Cover::all;
            return b.j0 >= tokens && low >= high ? Cover::none : Cover::some;
          }};
}

// make masks from a table of tiles
/// Pair (i, j) is allowed if layout(i / tile, j / tile) is.  Throws
/// std::invalid_argument unless the layout has ceil(n / tile) rows, cols.
inline Mask block_sparse(Index n_q, Index n_k, Index tile,
                         const Matrix<bool>& layout) {
  require(tile >= 1 && layout.rows() == (n_q + tile - 1) / tile &&
              layout.cols() == (n_k + tile - 1) / tile,
          "block_sparse: tile ", tile, ", layout ", shape(layout),
          ", extents ", n_q, "x", n_k);
  return {n_q, n_k,
          [=](Index i, Index j) { return layout(i / tile, j / tile); },
          [=](const Block& b) {
            const auto part = layout.block(
                b.i0 / tile, b.j0 / tile, (b.i1 - 1) / tile - b.i0 / tile + 1,
                (b.j1 - 1) / tile - b.j0 / tile + 1);
            return part.all() ? Cover::all
                   : part.any() ? Cover::some : Cover::none;
          }};
}
/// In each row of tiles, per_row different random ones (fewer if there are
/// not that many).
/// Throws std::invalid_argument.
inline Mask random_tiles(Index n_q, Index n_k, Index tile, Index per_row,
                         std::uint64_t seed) {
  require(tile >= 1 && per_row >= 0, "random_tiles: tile ", tile,
          ", per row ", per_row);
  const Index rows = (n_q + tile - 1) / tile, cols = (n_k + tile - 1) / tile;
  Matrix<bool> layout = Matrix<bool>::Constant(rows, cols, false);
  for (Index i = 0; i < rows; ++i) {
    const auto order = permutation(cols, seed + std::uint64_t(i));
    for (Index k = 0; k < std::min(per_row, cols); ++k)
      layout(i, order[std::size_t(k)]) = true;
  }
  return block_sparse(n_q, n_k, tile, layout);
}

// make masks from anything else
/// Pairs for which the predicate holds.
inline Mask where(Index n_q, Index n_k,
                  std::function<bool(Index, Index)> allows) {
  return {n_q, n_k, std::move(allows),
          [](const Block&) { return Cover::some; }};
}
/// The pairs at which a matrix is true.
inline Mask from_matrix(const Matrix<bool>& m) {
  return block_sparse(m.rows(), m.cols(), 1, m);
}

// combine masks like sets
/// Pairs in both masks.  Throws std::invalid_argument for other extents.
inline Mask operator&(const Mask& a, const Mask& b) {
  require(a.n_q == b.n_q && a.n_k == b.n_k, "Mask &: extents ", a.n_q, "x",
          a.n_k, " and ", b.n_q, "x", b.n_k);
  return {a.n_q, a.n_k,
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
  return {a.n_q, a.n_k,
          [=](Index i, Index j) { return !a.allows(i, j); },
          [=](const Block& x) {
            const Cover c = a.covers(x);
            return c == Cover::some ? c
                   : c == Cover::all ? Cover::none : Cover::all;
          }};
}
/// Pairs in either mask, or in both.
inline Mask operator|(const Mask& a, const Mask& b) { return !((!a) & (!b)); }

// cut and turn masks
/// The rectangle b of a mask, as a mask with its own indices from 0.
/// Throws std::invalid_argument if b is not inside.
inline Mask part(const Mask& m, const Block& b) {
  require(0 <= b.i0 && b.i0 <= b.i1 && b.i1 <= m.n_q && 0 <= b.j0 &&
              b.j0 <= b.j1 && b.j1 <= m.n_k, "part: block ", b.i0, "..",
          b.i1, " x ", b.j0, "..", b.j1, " of a mask ", m.n_q, "x", m.n_k);
  return {b.i1 - b.i0, b.j1 - b.j0,
          [=](Index i, Index j) { return m.allows(i + b.i0, j + b.j0); },
          [=](const Block& x) {
            return m.covers({x.i0 + b.i0, x.i1 + b.i0, x.j0 + b.j0,
                             x.j1 + b.j0});
          }};
}
/// Queries and keys exchanged.
inline Mask transposed(const Mask& m) {
  return {m.n_k, m.n_q, [=](Index i, Index j) { return m.allows(j, i); },
          [=](const Block& b) {
            return m.covers({b.j0, b.j1, b.i0, b.i1});
          }};
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
/// Throws std::invalid_argument.
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
  c.none = ((m.n_q + tile - 1) / tile) * ((m.n_k + tile - 1) / tile) -
           c.some - c.all;
  return c;
}
/// The mask as a matrix of n_q x n_k booleans: only if you must.
inline Matrix<bool> dense(const Mask& m) {
  Matrix<bool> d(m.n_q, m.n_k);
  for (Index i = 0; i < m.n_q; ++i)
    for (Index j = 0; j < m.n_k; ++j) d(i, j) = m.allows(i, j);
  return d;
}
/// One line per query, '#' for an allowed key and '.' for another.
inline std::string picture(const Mask& m) {
  std::string s;
  for (Index i = 0; i < m.n_q; ++i, s += '\n')
    for (Index j = 0; j < m.n_k; ++j) s += m.allows(i, j) ? '#' : '.';
  return s;
}
}  // namespace attn
