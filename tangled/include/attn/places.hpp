// include/attn/places.hpp: tangled from chapters/05a-positions.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/tensor.hpp"

namespace attn {
// say where rows stand
/// Where n rows stand: in a run, or at ids given one by one.  A copy
/// shares the ids.
class Places {
 public:

  // make places from a run or from ids
  /// A run: first, first + 1, ...  Throws std::invalid_argument if n < 0.
  explicit Places(Index rows, Index first = 0) : n(rows), start(first) {
    require(n >= 0, "Places: extent ", n);
  }
  /// One id for each row, in any order.
  explicit Places(std::vector<Index> each)
      : n(std::ssize(each)), start(0),
        ids(std::make_shared<const std::vector<Index>>(std::move(each))) {}
  Index size() const { return n; }
  /// Position of row i.
  Index operator[](Index i) const {
    return ids ? (*ids)[std::size_t(start + i)] : start + i;
  }

  // find the range of some places
  /// Least and largest position of the rows from, ..., to - 1, of which
  /// there is one.
  std::pair<Index, Index> range(Index from, Index to) const {
    if (!ids) return {start + from, start + to - 1};
    const auto first = ids->begin() + start;
    const auto [low, high] =
        std::minmax_element(first + from, first + to);
    return {*low, *high};
  }

  // cut and compare places
  /// Places of the rows from, ..., to - 1.  Throws std::invalid_argument.
  Places part(Index from, Index to) const {
    require(0 <= from && from <= to && to <= n, "Places: rows ", from, "..",
            to, " of ", n);
    Places p = *this;
    p.start += from, p.n = to - from;
    return p;
  }
  bool operator==(const Places& o) const {
    if (n != o.n) return false;
    if (ids == o.ids && start == o.start) return true;
    for (Index i = 0; i < n; ++i)
      if ((*this)[i] != o[i]) return false;
    return true;
  }

 private:
  Index n, start;  // start: position, or place among the ids, of row 0
  std::shared_ptr<const std::vector<Index>> ids;
};

// say what a rectangle of pairs is
/// Queries i0, ..., i1 - 1 and keys j0, ..., j1 - 1.
struct Block {
  Index i0, i1, j0, j1;
  Index pairs() const { return (i1 - i0) * (j1 - j0); }
};

// say where queries and keys stand
/// Positions of queries and of keys.
struct Positions {
  Places q, k;
  /// t_ij = p_j - p_i.
  Index offset(Index i, Index j) const { return k[j] - q[i]; }
  /// Limits of the offsets in a block, which is not empty.
  std::pair<Index, Index> offsets(const Block& b) const {
    const auto [q0, q1] = q.range(b.i0, b.i1);
    const auto [k0, k1] = k.range(b.j0, b.j1);
    return {k0 - q1, k1 - q0};
  }
  bool operator==(const Positions&) const = default;
};
/// Key j at position j, query i at i + offset, by default n_k - n_q.
/// Throws std::invalid_argument for negative extents.
inline Positions aligned(Index n_q, Index n_k,
                         std::optional<Index> offset = {}) {
  require(n_q >= 0 && n_k >= 0, "positions: extents ", n_q, "x", n_k);
  return {Places(n_q, offset.value_or(n_k - n_q)), Places(n_k)};
}
}  // namespace attn
