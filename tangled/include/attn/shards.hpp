// include/attn/shards.hpp: tangled from chapters/10-ring.nw; edit that file, not this one.
#pragma once

// include what placements need
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/flash.hpp"
#include "attn/tensor.hpp"

namespace attn {
// say which positions a rank holds
/// The positions first, first + step, ...: n of them.
struct Piece {
  Index first = 0, n = 0, step = 1;
};

/// Which positions of a sequence each rank holds, in the order of its
/// rows: one list of pieces per rank, the same on all ranks.
struct Shards {
  std::vector<std::vector<Piece>> of;

  // count the rows of a rank and of all
  int ranks() const { return int(of.size()); }
  Index rows(int rank) const {
    Index n = 0;
    for (const Piece& piece : of[std::size_t(rank)]) n += piece.n;
    return n;
  }

  // count all rows, and the most of a rank
  Index total() const {
    Index n = 0;
    for (int r = 0; r < ranks(); ++r) n += rows(r);
    return n;
  }
  Index most() const {
    Index n = 0;
    for (int r = 0; r < ranks(); ++r) n = std::max(n, rows(r));
    return n;
  }
};

// place the positions of a sequence
/// Rank r holds lengths[r] successive positions.  Throws
/// std::invalid_argument if a length is negative, all together are more
/// than an index can count, or there is no rank.
inline Shards contiguous(const std::vector<Index>& lengths) {
  require(!lengths.empty(), "contiguous: no ranks");
  Shards shards;
  Index first = 0;
  for (const Index n : lengths) {
    require(n >= 0 && n <= std::numeric_limits<Index>::max() - first,
            "contiguous: a length is ", n, " after ", first, " positions");
    shards.of.push_back({{first, n}});
    first += n;
  }
  return shards;
}
/// n positions in p successive parts whose lengths differ by at most one.
/// Throws std::invalid_argument if n < 0 or p < 1, like zigzag and striped.
inline Shards contiguous(Index n, int p) {
  require(n >= 0 && p >= 1, "contiguous: ", n, " rows on ", p, " ranks");
  const auto cut = [&](Index r) { return n / p * r + n % p * r / p; };
  std::vector<Index> lengths;
  for (Index r = 0; r < p; ++r) lengths.push_back(cut(r + 1) - cut(r));
  return contiguous(lengths);
}
/// Of 2 p successive parts rank r holds those numbered r and 2 p - 1 - r.
/// Throws std::invalid_argument as contiguous does, or if 2 p is no int.
inline Shards zigzag(Index n, int p) {
  require(n >= 0 && p >= 1 && p <= std::numeric_limits<int>::max() / 2,
          "zigzag: ", n, " rows on ", p, " ranks");
  const Shards parts = contiguous(n, 2 * p);
  const auto part = [&](int i) { return parts.of[std::size_t(i)][0]; };
  Shards shards;
  for (int r = 0; r < p; ++r)
    shards.of.push_back({part(r), part(2 * p - 1 - r)});
  return shards;
}
/// Rank r holds the positions r, r + p, r + 2 p, ...
/// Throws std::invalid_argument as contiguous does.
inline Shards striped(Index n, int p) {
  require(n >= 0 && p >= 1, "striped: ", n, " rows on ", p, " ranks");
  Shards shards;
  for (Index r = 0; r < p; ++r)
    shards.of.push_back({{r, n > r ? (n - 1 - r) / p + 1 : 0, p}});
  return shards;
}
namespace detail {
// refuse a piece beyond the positions
/// Throws std::invalid_argument unless the step is at least one and all
/// positions of the piece are among 0 .. n - 1.
inline void require_piece(const char* who, const Piece& x, Index n) {
  const bool inside = x.n == 0 || (x.n > 0 && x.first >= 0 && x.first < n &&
                                   x.n - 1 <= (n - 1 - x.first) /
                                                  std::max<Index>(x.step, 1));
  require(x.step >= 1 && inside, who, ": a piece of ", x.n,
          " positions from ", x.first, " in steps of ", x.step, ", of ", n);
}

// refuse what is no placement
/// The step of all pieces, 0 if none has a position.  Throws
/// std::invalid_argument unless each position is held once (prop.
/// placement).
inline Index require_placement(const char* who, const Shards& shards) {
  std::vector<Piece> all;
  Index total = 0;
  for (const auto& pieces : shards.of)
    for (const Piece& x : pieces)

      // count a piece that holds something
      if (x.n != 0) {
        require(x.n >= 1 && x.n <= std::numeric_limits<Index>::max() - total, who,
                ": a piece of ", x.n, " positions after ", total, " others");
        total += x.n, all.push_back(x);
      }
  if (all.empty()) return 0;
  const Index t = all[0].step;
  for (const Piece& x : all)

    // refuse a piece that reaches beyond the positions
    {
      require(x.step == t, who, ": pieces of steps ", t, " and ", x.step);
      require_piece(who, x, total);
    }
  std::ranges::sort(all, {}, [t](const Piece& x) {
    return std::pair(x.first % t, x.first);
  });

  // refuse pieces that overlap
  for (std::size_t k = 1; k < all.size(); ++k) {
    const Piece &x = all[k - 1], &y = all[k];
    require((y.first - x.first) % t != 0 || (y.first - x.first) / t >= x.n,
            who, ": position ", y.first, " is held twice");
  }
  return t;
}

// restrict a window to a pair of pieces
/// a / b rounded down, for b > 0.
inline Index floor_div(Index a, Index b) {
  return a >= 0 ? a / b : -1 - (-1 - a) / b;
}
/// a / b rounded up, for b > 0.
inline Index ceil_div(Index a, Index b) { return -floor_div(-a, b); }

/// The rows of a piece at positions below `length`, of all if absent.
inline Index rows_in_use(const Piece& x, std::optional<Index> length) {
  if (!length || x.n == 0) return x.n;
  return std::clamp<Index>(ceil_div(*length - x.first, x.step), 0, x.n);
}
/// Makes the window of r that between two pieces (prop. windows).
template <class T>
void restrict_window(FlashRule<T>& r, const Piece& q, const Piece& k) {
  const Index x = q.first + *r.offset - k.first, t = q.step;
  if (t == 1) { r.offset = x; return; }
  const Index low = ceil_div(x - r.left.value_or(0), t);
  const Index high = floor_div(x + r.right.value_or(0), t);
  if (r.left && r.right && high < low) { r.keys = 0; return; }
  r.offset = r.right ? high : low;
  if (r.left) r.left = r.right ? high - low : 0;
  if (r.right) r.right = 0;
}
/// Can one of n queries see a key under this rule between pieces?
template <class T>
bool may_meet(const FlashRule<T>& r) {
  const Index first = *r.offset, last = first + *r.queries - 1;
  return *r.queries > 0 && *r.keys > 0 &&
         (!r.right || last + *r.right >= 0) &&
         (!r.left || first - *r.left < *r.keys);
}

// refuse what has no restriction
/// Throws std::invalid_argument unless the rule can be restricted to
/// pieces of n_q queries and n_k keys with these steps.
template <class T>
void require_restriction(const char* who, const FlashRule<T>& r, Index step,
                         Index step_k, Index n_q, Index n_k) {
  require(step == step_k, who, ": pieces of steps ", step, " and ", step_k);
  require(!r.bias, who, ": a bias is not sharded");
  require(r.slope == 0 || step == 1, who,
          ": a slope needs pieces of step 1, not ", step);
  require(r.share == 1 && r.slopes.empty() && r.sinks.empty(), who,
          ": rows of several heads are not sharded");
  const Index far = std::numeric_limits<Index>::max() / 4;
  const Index offset = r.offset.value_or(0);
  require(-far <= offset && offset <= far, who, ": offset is ", offset);
  require(n_q <= far / 2 && n_k <= far / 2, who, ": ", n_q, " queries and ",
          n_k, " keys are too many");

  // refuse lengths and reaches that mean nothing
  require(r.queries.value_or(0) >= 0 && r.keys.value_or(0) >= 0 &&
              r.queries.value_or(0) <= n_q && r.keys.value_or(0) <= n_k,
          who, ": lengths ", r.queries.value_or(n_q), " and ",
          r.keys.value_or(n_k), " of ", n_q, " queries and ", n_k, " keys");
  require(r.left.value_or(0) >= 0 && r.right.value_or(0) >= 0, who,
          ": window of ", r.left.value_or(0), " and ", r.right.value_or(0));
}

// count the pairs under a window
/// Pairs that meet under the rule between two pieces.
template <class T>
Index pairs_under(const FlashRule<T>& r) {
  Index n = 0;
  for (Index i = 0; i < *r.queries; ++i) {
    const Index at = i + *r.offset;
    const Index end = r.right ? std::min(at + *r.right + 1, *r.keys) : *r.keys;
    const Index from = r.left ? std::max<Index>(at - *r.left, 0) : 0;
    if (!r.keep) n += std::max<Index>(0, end - from);
    else for (Index j = from; j < end; ++j) n += (*r.keep)(i, j);
  }
  return n;
}

// join the shards of a row
/// The placement in which each group of a successive ranks is one place.
inline Shards grouped(const Shards& x, int a) {
  Shards y;
  for (int r = 0; r < x.ranks(); ++r) {
    if (r % a == 0) y.of.emplace_back();
    auto& list = y.of.back();
    for (const Piece& piece : x.of[std::size_t(r)])

      // append a piece or lengthen the last one
      if (list.empty() || piece.step != list.back().step ||
          piece.first != list.back().first + list.back().n * piece.step)
        list.push_back(piece);
      else
        list.back().n += piece.n;
  }
  return y;
}

// divide work into rounds
/// The number of rounds in which c spans meet s.
inline Index rounds_of(Index c, Index s) {
  return c > 0 && s > 0 ? std::max(c, s) : 0;
}
/// The span of s that span i of c meets in round t, -1 if none (prop.
/// rounds).
inline Index partner(Index i, Index t, Index c, Index s) {
  const Index j = (i + t) % rounds_of(c, s);
  return j < s ? j : -1;
}
}  // namespace detail

// restrict a rule to a pair of pieces
/// The rule under which queries q meet keys k, out of n_q and n_k in all
/// (prop. windows); its mask is written to `keep`, or it has no keys if the
/// window leaves no pair.  Throws std::invalid_argument for what has no
/// restriction, for positions and lengths that are not among those n_q and
/// n_k, for more of them than an eighth of the largest index, for a negative
/// reach, and for a mask that does not cover all pairs.
template <class T>
FlashRule<T> rule_between(const FlashRule<T>& rule, const Piece& q,
                          const Piece& k, Index n_q, Index n_k,
                          Matrix<bool>& keep) {
  detail::require_restriction("rule_between", rule, q.step, k.step, n_q, n_k);
  detail::require_piece("rule_between", q, n_q);
  detail::require_piece("rule_between", k, n_k);
  detail::require_mask("rule_between", rule, n_q, n_k);
  FlashRule<T> r = rule;

  // cut lengths and reaches to the pieces
  if (!r.offset) r.offset = rule.keys.value_or(n_k) -
                            rule.queries.value_or(n_q);
  r.queries = detail::rows_in_use(q, rule.queries);
  r.keys = detail::rows_in_use(k, rule.keys);
  const Index far = n_q + n_k + std::abs(*r.offset);
  if (r.left) r.left = std::min(*r.left, far);
  if (r.right) r.right = std::min(*r.right, far);
  detail::restrict_window(r, q, k);
  r.sink.reset();
  if (!detail::may_meet(r))
    r.keep = nullptr, r.keys = 0;
  else if (rule.keep)

    // look the mask up by positions
    {
      keep.resize(q.n, k.n);
      for (Index i = 0; i < q.n; ++i)
        for (Index j = 0; j < k.n; ++j)
          keep(i, j) = (*rule.keep)((q.first + i * q.step) / rule.keep_q,
                                    (k.first + j * k.step) / rule.keep_k);
      r.keep = &keep, r.keep_q = r.keep_k = 1;
    }
  return r;
}

// count the pairs of two ranks
/// Pairs that meet between the queries of rank r and the keys of rank s.
/// Throws like rule_between, and std::invalid_argument for a placement
/// with a mistake or if there is no such rank.
template <class T>
Index count_pairs(const FlashRule<T>& rule, const Shards& queries,
                  const Shards& keys, int r, int s) {
  detail::require_placement("count_pairs", queries);
  detail::require_placement("count_pairs", keys);
  require(0 <= r && r < queries.ranks() && 0 <= s && s < keys.ranks(),
          "count_pairs: ranks ", r, " and ", s, " of ", queries.ranks(),
          " and ", keys.ranks());
  Index n = 0;
  Matrix<bool> keep;
  for (const Piece& q : queries.of[std::size_t(r)])
    for (const Piece& k : keys.of[std::size_t(s)])
      if (q.n > 0 && k.n > 0)
        n += detail::pairs_under(rule_between(rule, q, k, queries.total(),
                                              keys.total(), keep));
  return n;
}

// take the rows of a rank
/// Positions of the rows of a rank, in their order.
inline std::vector<Index> positions_of(const Shards& shards, int rank) {
  std::vector<Index> at;
  for (const Piece& x : shards.of[std::size_t(rank)])
    for (Index i = 0; i < x.n; ++i) at.push_back(x.first + i * x.step);
  return at;
}

/// The rows of `whole`, one per position, that a rank holds.  Throws
/// std::invalid_argument for a placement with a mistake, a rank that is
/// none of its ranks, or other than one row per position.
template <class T>
Matrix<T> part_of(const Matrix<T>& whole, const Shards& shards, int rank) {
  detail::require_placement("part_of", shards);
  require(0 <= rank && rank < shards.ranks(), "part_of: rank ", rank, " of ",
          shards.ranks());
  require(whole.rows() == shards.total(), "part_of: matrix is ", shape(whole),
          ", expected ", shards.total(), " rows");
  const std::vector<Index> at = positions_of(shards, rank);
  Matrix<T> mine(std::ssize(at), whole.cols());
  for (std::size_t i = 0; i < at.size(); ++i)
    mine.row(Index(i)) = whole.row(at[i]);
  return mine;
}
/// The same for a vector with an entry per position.  Throws like it.
template <class T>
Vector<T> part_of(const Vector<T>& whole, const Shards& shards, int rank) {
  return part_of<T>(Matrix<T>(whole), shards, rank);
}
}  // namespace attn
