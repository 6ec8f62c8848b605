// include/attn/online.hpp: tangled from chapters/09-flash.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/argument.hpp"
#include "attn/gibbs.hpp"
#include "attn/tensor.hpp"

namespace attn {
// state and merge partial rows
/// exp(from - to), and 0 for a state without keys, whatever `to`.
template <class S>
S decay(const S& from, const S& to) {
  using std::exp;
  return is_forbidden(from) ? S(0) : S(exp(from - to));
}
/// State of a set of keys (def. online): largest score m, sum l of
/// exp(s - m), and o, the sum of exp(s - m) V, d_v numbers.
template <class S>
struct Online {
  S m, l;
  RowVector<S> o;

  // begin with no keys
  /// The state of no keys, for values of d_v numbers.
  static Online nothing(Index d_v) {
    return {S(-std::numeric_limits<double>::infinity()), S(0),
            RowVector<S>::Zero(d_v)};
  }
  /// o/l, or 0 for no keys.
  RowVector<S> output() const { return l == S(0) ? o : RowVector<S>(o / l); }
  /// Log-sum-exp of the scores; -infinity for no keys.
  S logZ() const { using std::log; return l == S(0) ? m : S(m + log(l)); }
};
/// State of a single key with score s and value v.
template <class S, class D>
Online<S> one_key(const S& s, const Eigen::MatrixBase<D>& v) {
  if (is_forbidden(s)) return Online<S>::nothing(v.size());
  return {s, decay(s, s), v};
}
/// Union of two disjoint sets of keys (eq. merge).  Throws
/// std::invalid_argument if their values differ in length.
template <class S>
Online<S> merge(const Online<S>& a, const Online<S>& b) {
  require(a.o.size() == b.o.size(), "merge: values of ", a.o.size(),
          " and ", b.o.size(), " numbers");
  if (a.m < b.m) return merge(b, a);
  const S q = decay(b.m, a.m);
  return {a.m, a.l + q * b.l, a.o + q * b.o};
}

// reduce keys block by block
/// State of keys first .. first + n - 1 of a row of scores.
template <class S>
Online<S> block_state(const RowVector<S>& s, const Matrix<S>& V,
                      Index first, Index n) {
  Online<S> x = Online<S>::nothing(V.cols());
  for (Index j = first; j < first + n; ++j)
    if (x.m < s(j)) x.m = s(j);

  // add up the keys of a block
  for (Index j = first; j < first + n; ++j) {
    if (is_forbidden(s(j))) continue;
    const S p = decay(s(j), x.m);
    x.l += p;
    x.o += p * V.row(j);
  }
  return x;
}
/// State of all keys of a row, folded from the left over blocks of keys.
/// Throws std::invalid_argument unless V has a row per score, block >= 1.
template <class S>
Online<S> online_row(const RowVector<S>& s, const Matrix<S>& V,
                     Index block) {
  require(s.size() == V.rows() && block >= 1, "online_row: ", s.size(),
          " scores, V is ", shape(V), ", blocks of ", block);
  Online<S> x = Online<S>::nothing(V.cols());
  for (Index j = 0; j < s.size(); j += block)
    x = merge(x, block_state(s, V, j, std::min(block, s.size() - j)));
  return x;
}
}  // namespace attn
