// include/attn/flash.hpp: tangled from chapters/09-flash.nw; edit that file, not this one.
#pragma once

// include what the kernels need
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <new>
#include <numbers>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/exp2.hpp"
#include "attn/form.hpp"
#include "attn/online.hpp"
#include "attn/tensor.hpp"

namespace attn {
// hold the rules and the product
namespace detail {
// let a number hold many queries
/// Vector registers that the processor has.
#if EIGEN_MAX_ALIGN_BYTES >= 64 || defined(__aarch64__)
inline constexpr int registers = 32;
#else
inline constexpr int registers = 16;
#endif
/// Numbers of type T in one of them.
template <class T>
inline constexpr int width = std::max(16, EIGEN_MAX_ALIGN_BYTES) / sizeof(T);
/// Queries that one Lane holds.
template <class T>
inline constexpr int lanes = width<T> * (registers == 32 ? 4 : 2);

/// One number for each of a group of queries.
template <class T>
using Lane = Eigen::Array<T, lanes<T>, 1>;
/// s_k = 2^(s_k - top) for k = 0 .. b - 1, lane by lane.
template <class L>

// ask for registers of full width
#if defined(__AVX512F__) && !defined(__clang__)
[[gnu::target("prefer-vector-width=512")]]
#endif
[[gnu::noinline]] void exp2_lanes(L* s, Index b, const L& top) {
  using T = typename L::Scalar;
  const L m = top;
  for (Index k = 0; k < b; ++k) {
    const L x = s[k] - m, i = x + exp2_shift<T>;
    const L p = power_of_rest<T>(L(x - (i - exp2_shift<T>)));
    T* y = s[k].data();
    for (int l = 0; l < L::SizeAtCompileTime; ++l)
      y[l] = times_power(x.data()[l], i.data()[l], p.data()[l]);
  }
}

// multiply rows by lanes
/// Rows whose sums are kept in registers.
inline constexpr int tile_rows = 6;

// add a multiple

// say whether sums are fused
/// Are a product and a sum one operation of the processor?
template <class T>
inline constexpr bool fuses = false;
#ifdef __FP_FAST_FMA
template <>
inline constexpr bool fuses<double> = true;
#endif
#ifdef __FP_FAST_FMAF
template <>
inline constexpr bool fuses<float> = true;
#endif
/// c += a x; fused, where the compiler says that this is one operation, if
/// a lane is one number.
template <class L, class T, class X>
inline void add_multiple(L& c, T a, const X& x) {
  if constexpr (L::SizeAtCompileTime == 1 && fuses<T>)
    c[0] = std::fma(a, x[0], c[0]);
  else
    c += a * x;
}
/// y(r) = join(y(r), sum_k a(r,k) x(k)) for rows r .. r + n - 1.
template <int n, class L, class A, class X, class Y, class Join>
inline void product_rows(const A& a, Index r, X x, Y y, Join join) {
  L c[n];
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) c[i] = L::Zero();
  for (Index k = 0; k < a.cols(); ++k)
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) add_multiple(c[i], a.coeff(r + i, k), x(k));
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) y(r + i) = join(y(r + i), c[i]);
}
/// The same for all rows r of a, where x and y yield lanes of type L.
template <class L, class A, class X, class Y, class Join>
[[gnu::noinline]] void product(const A& a, X x, Y y, Join join) {
  // take tiles of six rows and what remains
  Index r = 0;
  for (; r + tile_rows <= a.rows(); r += tile_rows)
    product_rows<tile_rows, L>(a, r, x, y, join);
  if (r + 4 <= a.rows()) product_rows<4, L>(a, r, x, y, join), r += 4;
  if (r + 2 <= a.rows()) product_rows<2, L>(a, r, x, y, join), r += 2;
  if (r < a.rows()) product_rows<1, L>(a, r, x, y, join);
}
/// What a sum is joined to: nothing, or what is there.
inline constexpr auto from_zero =
    [](const auto&, const auto& sum) -> const auto& { return sum; };
/// See from_zero.
inline constexpr auto onwards = [](const auto& y, const auto& sum) {
  return (y + sum).eval();
};
/// Are all numbers of these rows finite?
template <class M>
bool finite(const M& m) {
  int bad = 0;
  for (Index i = 0; i < m.rows() && m.cols() > 0; ++i) {
    const auto* row = &m.coeffRef(i, 0);
    for (Index c = 0; c < m.cols(); ++c)
      bad |= !(std::abs(row[c]) <= std::numeric_limits<
                                       typename M::Scalar>::max());
  }
  return !bad;
}
/// y(r) = join(y(r), sum), with the sum of a(r,k) x(k) over what
/// has(a(r,k), x(k)) admits.
template <class L, class A, class X, class Y, class Has, class Join>
[[gnu::noinline]] void product_of_weighted(const A& a, X x, Y y, Has has,
                                           Join join) {
  for (Index r = 0; r < a.rows(); ++r) {
    // add what has weight only
    L sum = L::Zero();
    for (Index k = 0; k < a.cols(); ++k)
      for (Index i = 0; i < L::SizeAtCompileTime; ++i)
        if (has(a.coeff(r, k), x(k).coeff(i)))
          sum.coeffRef(i) += a.coeff(r, k) * x(k).coeff(i);
    y(r) = join(y(r), sum);
  }
}
}  // namespace detail

// state the rule of a head
/// What happens to Q K^T before the softmax, and which pairs may meet (eq.
/// finished).  Scale, cap, slopes and sinks are finite, in base two as well.
/// Defaults: plain attention with scale 1/sqrt(d_k).
template <class T>
struct FlashRule {
  std::optional<T> scale{};
  std::optional<T> softcap{};        // c > 0
  T slope = 0;                       // of ALiBi
  const Matrix<T>* bias = nullptr;   // n_q x n_k; < -max/log2(e) forbids
  std::optional<T> sink{};
  std::optional<Index> offset{};     // default keys - queries in use

  // say which pairs may meet
  std::optional<Index> left{}, right{};    // >= 0; absent: unlimited
  std::optional<Index> queries{}, keys{};  // lengths in use
  const Matrix<bool>* keep = nullptr;      // pairs, or blocks of pairs
  Index keep_q = 1, keep_k = 1;            // size of such a block
  Index key_block = 128;             // of the kernel
  Index groups = std::max(4, 512 / int(sizeof(detail::Lane<T>)));
  Index share = 1;  // rows at one position: heads that share the keys
  std::span<const T> slopes{}, sinks{};  // of these heads, or none
};
/// Plain causal attention, aligned at the end.
template <class T>
FlashRule<T> causal_rule() {
  FlashRule<T> rule;
  rule.right = 0;
  return rule;
}

// view a head without copying
/// Rows of contiguous numbers, any distance apart, to read: a view, no copy.
template <class T>
using In = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
/// The same, to write.
template <class T>
using Out = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;
/// One head of attention: Q n_q x d_k, K n_k x d_k, V n_k x d_v, and where
/// to put O, n_q x d_v, and logZ, n_q numbers or null.
template <class T>
struct FlashHead {
  In<T> Q, K, V;
  Out<T> O;
  T* logZ = nullptr;
  FlashRule<T> rule{};
};
namespace detail {
// resolve a rule against the shapes
/// A rule resolved against the shapes of a head (who is named in errors):
/// lengths, offset, window, and factors to base two.
template <class T>
struct Plan {
  FlashRule<T> rule;
  Index queries, keys, offset;
  T scale, factor, cap = 0;
  Plan(const char* who, const FlashHead<T>& h);

  // place a query among the keys
  Index position(Index i) const { return i / rule.share + offset; }
  Index groups() const {  // no more than the queries fill
    const Index filled = queries / lanes<T> + (queries % lanes<T> != 0);
    return std::clamp<Index>(filled, 1, rule.groups);
  }
  Index sweep() const { return groups() * lanes<T>; }

  // find the window of a query
  // the keys first(i) .. last(i) - 1 lie in the window of query i
  Index first(Index i) const {
    const Index j = position(i);
    return rule.left && *rule.left < j ? std::min(j - *rule.left, keys) : 0;
  }
  Index last(Index i) const {
    const Index j = position(i);
    if (!rule.right || *rule.right >= keys - j) return keys;
    return std::max<Index>(0, j + *rule.right + 1);
  }

  // find what belongs to one of the heads
  T slope(Index i) const {
    return rule.slopes.empty() ? rule.slope
                               : rule.slopes[std::size_t(i % rule.share)];
  }
  std::optional<T> sink(Index i) const {
    if (rule.sinks.empty()) return rule.sink;
    return rule.sinks[std::size_t(i % rule.share)];
  }
  bool has_slope() const { return !rule.slopes.empty() || rule.slope != 0; }
  bool any(Index q, Index n, Index from, Index to) const;
  bool all(Index q, Index n, Index from, Index to) const;
};
template <class T>
bool Plan<T>::any(Index q, Index n, Index from, Index to) const {
  if (!rule.keep) return true;
  const Index i0 = q / rule.keep_q, j0 = from / rule.keep_k;
  const Index i1 = (q + n - 1) / rule.keep_q, j1 = (to - 1) / rule.keep_k;
  return rule.keep->block(i0, j0, i1 - i0 + 1, j1 - j0 + 1).any();
}
template <class T>
bool Plan<T>::all(Index q, Index n, Index from, Index to) const {
  if (!rule.keep) return true;
  const Index i0 = q / rule.keep_q, j0 = from / rule.keep_k;
  const Index i1 = (q + n - 1) / rule.keep_q, j1 = (to - 1) / rule.keep_k;
  static_assert(sizeof(bool) == 1);
  for (Index i = i0; i <= i1; ++i)
    if (std::memchr(&(*rule.keep)(i, j0), 0, std::size_t(j1 - j0 + 1)))
      return false;
  return true;
}
/// Throws std::invalid_argument unless a mask of the rule, if there is one,
/// has an answer for each of n_q x n_k pairs.
template <class T>
void require_mask(const char* who, const FlashRule<T>& rule, Index n_q,
                  Index n_k) {
  if (!rule.keep) return;
  const auto covers = [](Index blocks, Index size, Index n) {
    return size >= 1 && blocks >= n / size + (n % size != 0);
  };
  require(covers(rule.keep->rows(), rule.keep_q, n_q) &&
              covers(rule.keep->cols(), rule.keep_k, n_k),
          who, ": keep is ", shape(*rule.keep), " blocks of ", rule.keep_q,
          "x", rule.keep_k, " for ", n_q, "x", n_k, " pairs");
}
template <class T>
Plan<T>::Plan(const char* who, const FlashHead<T>& h)
    : rule(h.rule), queries(h.Q.rows()), keys(h.K.rows()) {
  // refuse shapes that do not fit
  require(h.Q.cols() == h.K.cols(), who, ": Q is ", shape(h.Q),
          " but K is ", shape(h.K));
  require(h.K.rows() == h.V.rows(), who, ": K is ", shape(h.K),
          " but V is ", shape(h.V));
  require(h.O.rows() == queries && h.O.cols() == h.V.cols(), who,
          ": O is ", shape(h.O), ", expected ", queries, "x", h.V.cols());
  require(rule.share >= 1 && queries % rule.share == 0 &&
              rule.queries.value_or(0) % rule.share == 0, who, ": ", queries,
          " queries of ", rule.share, " heads");
  for (const auto list : {rule.slopes, rule.sinks})
    require(list.empty() || std::ssize(list) == rule.share, who, ": ",
            list.size(), " slopes or sinks for ", rule.share, " heads");

  // refuse rules that mean nothing
  require(rule.scale || h.Q.cols() > 0, who,
          ": d_k = 0 needs an explicit scale");
  require(!rule.bias || (rule.bias->rows() == queries &&
                         rule.bias->cols() == keys), who, ": bias is ",
          rule.bias ? shape(*rule.bias) : "", ", expected ", queries, "x",
          keys);
  require(rule.key_block >= 1 && rule.groups >= 1, who, ": blocks of ",
          rule.key_block, " keys, ", rule.groups, " groups");
  constexpr Index most = Index(1) << std::numeric_limits<T>::digits;
  require(std::min(rule.key_block, keys) <= most, who, ": blocks of ",
          rule.key_block, " keys of ", keys, ", at most ", most);
  constexpr Index far = std::numeric_limits<Index>::max() / 4;
  require(rule.offset.value_or(0) >= -far && rule.offset.value_or(0) <= far,
          who, ": an offset of ", rule.offset.value_or(0));
  require(rule.queries.value_or(0) >= 0 && rule.keys.value_or(0) >= 0 &&
          rule.queries.value_or(0) <= queries &&
          rule.keys.value_or(0) <= keys, who, ": lengths ",
          rule.queries.value_or(queries), " and ", rule.keys.value_or(keys),
          " of ", queries, " queries and ", keys, " keys");
  require(rule.left.value_or(0) >= 0 && rule.right.value_or(0) >= 0, who,
          ": window of ", rule.left.value_or(0), " and ",
          rule.right.value_or(0), " keys");
  require_mask(who, rule, queries, keys);

  // refuse values out of their range
  const auto good = [](T x) {
    return std::isfinite(std::numbers::log2e_v<T> * x);
  };
  require_domain(!rule.softcap || (*rule.softcap > 0 &&
                 std::isfinite(*rule.softcap)), who,
                 ": softcap must be positive and finite");
  require_domain(good(rule.sink.value_or(0)) &&
                 std::ranges::all_of(rule.sinks, good), who,
                 ": sink must be finite in base two");
  require_domain(std::isfinite(rule.scale.value_or(0)) && good(rule.slope) &&
                 std::ranges::all_of(rule.slopes, good), who,
                 ": slope and scale must be finite in base two");
  if (rule.queries) queries = *rule.queries;
  if (rule.keys) keys = *rule.keys;
  offset = rule.offset.value_or(keys - queries / rule.share);

  // bring scale and cap to base two
  scale = rule.scale ? *rule.scale
                     : T(1) / std::sqrt(T(std::max<Index>(1, h.Q.cols())));
  factor = scale * std::numbers::log2e_v<T>;
  if (rule.softcap) {
    factor = scale / *rule.softcap;
    cap = *rule.softcap * std::numbers::log2e_v<T>;
  }
  require_domain(std::isfinite(factor) && std::isfinite(cap), who,
                 rule.softcap ? ": softcap and scale / softcap" : ": scale",
                 " must be finite in base two");
}

// transpose by squares
/// y = x^T, by squares of registers.
template <class X, class Y>
void transpose_into(const X& x, Y y) {
  using T = typename X::Scalar;
  constexpr int w = width<T>;
  for (Index i = 0; i < x.rows(); i += w)
    for (Index a = 0; a < x.cols(); a += w) {
      const Index n = std::min<Index>(w, x.rows() - i);
      const Index d = std::min<Index>(w, x.cols() - a);
      if (n < w || d < w)
        y.block(a, i, d, n) = x.block(i, a, n, d).transpose();
      else

        // transpose one square of registers
        {
          Eigen::Matrix<T, w, w, Eigen::RowMajor> square =
              x.template block<w, w>(i, a);
          square.transposeInPlace();
          y.template block<w, w>(a, i) = square;
        }
    }
}

// see lanes as one array
/// x if so, else y.
template <class T>
T either(bool so, T x, T y) {
  using Word = typename Exp2<T>::Bits;
  const Word b = so ? ~Word(0) : Word(0);
  return std::bit_cast<T>(Word((std::bit_cast<Word>(x) & b) |
                               (std::bit_cast<Word>(y) & ~b)));
}
/// The numbers of n lanes as one array.
template <class L>
auto in_one(L* s, Index n) {
  using A = Eigen::Array<typename L::Scalar, Eigen::Dynamic, 1>;
  return Eigen::Map<A>(s->data(), n * L::SizeAtCompileTime);
}
/// x_i += b_i to base two for n numbers, or forbids.
template <class T>
void add_or_forbid(T* x, const T* b, Index n) {
  for (Index i = 0; i < n; ++i) {
    const T two = std::numbers::log2e_v<T> * b[i];
    x[i] = either(two < std::numeric_limits<T>::lowest(), two, x[i] + two);
  }
}
/// Adds biases, a row for a query, to the scores of a tile, or forbids.
template <class B, class L>
void add_bias(const B& bias, L* s) {
  using T = typename L::Scalar;
  constexpr Index w = width<T>, lane = L::SizeAtCompileTime;
  if constexpr (lane == 1)
    return add_or_forbid(s->data(), &bias.coeffRef(0, 0), bias.cols());
  std::array<L, w> part;
  part.fill(L::Zero());
  for (Index k = 0; k < bias.cols(); k += w) {
    const Index some = std::min(w, bias.cols() - k);
    Eigen::Map<Matrix<T>> lanes_of(part[0].data(), some, lane);
    transpose_into(bias.middleCols(k, some), lanes_of.leftCols(bias.rows()));
    add_or_forbid(s[k].data(), part[0].data(), some * lane);
  }
}
/// Forbids the pairs of queries q .. q + n - 1 and keys j .. j + b - 1 that
/// a mask does not keep.
template <class L>
void forbid_pairs(const Matrix<bool>& keep, L* s, Index q, Index n, Index j,
                  Index b) {
  using T = typename L::Scalar;
  constexpr Index w = width<T>, lane = L::SizeAtCompileTime;
  constexpr T never = -std::numeric_limits<T>::infinity();
  Eigen::Matrix<T, lane, w, Eigen::RowMajor> bias;
  for (Index k = 0; k < b; k += w) {
    const Index some = std::min(w, b - k);
    for (Index i = 0; i < n; ++i) {
      const bool* row = &keep(q + i, j + k);
      for (Index c = 0; c < some; ++c)
        bias(i, c) = either(row[c], T(0), never);
    }
    add_bias(bias.topLeftCorner(n, some), s + k);
  }
}

// finish the scores of a tile
/// Applies cap, bias and mask to the scores s_0 .. s_{b-1} of keys j ..
/// j + b - 1 and queries q .. q + n - 1; true if some pair may be
/// forbidden.  If bend is given, it gets the cap's derivative.
template <class T, class L>
bool finish_scores(const Plan<T>& plan, L* s, Index q, Index n, Index j,
                   Index b, std::type_identity_t<L>* bend = nullptr) {
  constexpr T log2e = std::numbers::log2e_v<T>;

  // cap the scores
  if (plan.cap > 0) {
    auto t = in_one(s, b);
    t = t.tanh();
    if (bend) in_one(bend, b) = 1 - t * t;
    t *= plan.cap;
  }
  if (plan.has_slope())

    // subtract distances times slope
    {
      L at = L::Zero(), kappa = L::Zero();
      for (Index i = 0; i < n; ++i) {
        at[i] = T(plan.position(q + i) - j);
        kappa[i] = log2e * plan.slope(q + i);
      }
      for (Index k = 0; k < b; ++k) s[k] -= kappa * (at - T(k)).abs();
    }
  if (plan.rule.bias)

    // add the bias or forbid
    add_bias(plan.rule.bias->block(q, j, n, b), s);
  return forbid(plan, s, q, n, j, b) || plan.rule.bias;
}
/// Sets scores of forbidden pairs to -infinity; false if there are none.
template <class T, class L>
bool forbid(const Plan<T>& plan, L* s, Index q, Index n, Index j,
            Index b) {
  if (plan.first(q + n - 1) <= j && j + b <= plan.last(q) &&
      plan.all(q, n, j, j + b))
    return false;
  constexpr T never = -std::numeric_limits<T>::infinity();

  // forbid what is outside the windows
  L first = L::Zero(), last = L::Zero();
  for (Index i = 0; i < n; ++i) {
    first[i] = T(std::clamp<Index>(plan.first(q + i) - j, 0, b));
    last[i] = T(std::clamp<Index>(plan.last(q + i) - j, 0, b));
  }
  for (Index k = 0; k < b; ++k)
    for (Index i = 0; i < L::SizeAtCompileTime; ++i)
      s[k][i] = either((T(k) < first[i]) | (last[i] <= T(k)), never, s[k][i]);

  // forbid what the mask does not keep
  if (plan.rule.keep && plan.rule.keep_q == 1 && plan.rule.keep_k == 1) {
    forbid_pairs(*plan.rule.keep, s, q, n, j, b);
  } else if (plan.rule.keep) {
    const Index wide = plan.rule.keep_k;
    std::array<Index, L::SizeAtCompileTime> row{};
    for (Index i = 0; i < n; ++i)
      row[std::size_t(i)] = (q + i) / plan.rule.keep_q;
    L kept = L::Zero();
    for (Index k = 0, left = wide - j % wide; k < b; ++k, --left) {
      if (left == 0) left = wide;
      if (k == 0 || left == wide)
        for (Index i = 0; i < n; ++i)
          kept[i] = T((*plan.rule.keep)(row[std::size_t(i)], (j + k) / wide));
      for (Index i = 0; i < L::SizeAtCompileTime; ++i)
        s[k][i] = either(kept[i] == 0, never, s[k][i]);
    }
  }
  return true;
}

// visit the tiles of a sweep
/// Calls f(group, j, b) for each tile of queries q0 .. end - 1, keys j ..
/// j + b - 1, in which windows allow a pair and the mask allows a pair:
/// block by block, group by group.
template <class T, class F>
void visit_tiles(const Plan<T>& plan, Index q0, Index end, F f,
                 Index wide = lanes<T>) {
  const Index block = plan.rule.key_block;
  const Index begin = plan.first(q0) / block * block;
  for (Index j = begin; j < plan.last(end - 1); j += block)
    for (Index q = q0; q < end; q += wide) {
      const Index n = std::min(wide, end - q);
      const Index from = std::max(j, plan.first(q));
      const Index to = std::min(j + block, plan.last(q + n - 1));
      if (from < to && plan.any(q, n, from, to))
        f((q - q0) / wide, from, to - from);
    }
}
}  // namespace detail

// hold the kernels forward
namespace detail {
// hold a group of queries
/// A vector of lanes: a row per component, a column per query.
template <class T>
using Lanes = std::vector<Lane<T>>;

/// Queries q .. q + n - 1 on their way through the keys, other lanes idle:
/// d_k query components x, the state m, l and d_v output components o.
template <class T, class L = Lane<T>>
struct Group {
  std::vector<L> x, o;
  L m, l;
  Index q = 0, n = 0;
};
/// Lanes as a matrix, a row per component.
template <class L>
auto table(std::vector<L>& x) {
  return Eigen::Map<Matrix<typename L::Scalar>>(
      x.empty() ? nullptr : x[0].data(), std::ssize(x),
      L::SizeAtCompileTime);
}
/// v as a function of the index.
template <class L>
auto lane_of(std::vector<L>& v) {
  return [&v](Index k) -> L& { return v[std::size_t(k)]; };
}
/// Rows first .. first + n - 1 of a view, to read or to write.
template <class V>
V some_rows(V m, Index first, Index n) {
  return {m.data() + first * m.outerStride(), n, m.cols(),
          Eigen::OuterStride<>(m.outerStride())};
}
/// x = factor times Q, transposed.
template <class L, class T>
void load(std::vector<L>& x, const In<T>& Q, T factor) {
  auto rows = table(x).topRows(Q.cols());
  if (Q.rows() < L::SizeAtCompileTime) rows.setZero();
  transpose_into(Q, rows.leftCols(Q.rows()));
  for (auto& component : x) component *= factor;
}

// let a block of keys meet a group
/// Takes keys j .. j + b - 1 into the states of a group; s is for b scores.
template <class T, class L>
void attend_tile(Group<T, L>& g, const Plan<T>& plan, const In<T>& K,
                 const In<T>& V, Index j, Index b, L* s) {
  const auto S = [s](Index k) -> L& { return s[k]; };
  product<L>(K.middleRows(j, b), lane_of(g.x), S, from_zero);
  const bool partial = finish_scores(plan, s, g.q, g.n, j, b);

  // join the block's state to the group's
  L m = g.m;
  for (Index k = 0; k < b; ++k) m = m.max(s[k]);
  const L floor = m.max(std::numeric_limits<T>::lowest());
  L factor = g.m, l = L::Zero();
  exp2_lanes(&factor, 1, floor), exp2_lanes(s, b, floor);
  for (Index k = 0; k < b; ++k) l += s[k];
  g.l = factor * g.l + l, g.m = m;
  const auto VT = V.middleRows(j, b).transpose();

  // add the weighted values of the block
  const auto rescale = [&](const L& o, const L& sum) {
    return L(factor * o + sum);
  };
  if (partial && !finite(V.middleRows(j, b)))

    // multiply what has weight only
    product_of_weighted<L>(
        VT, S, lane_of(g.o), [](T, T w) { return w != 0; }, rescale);
  else
    product<L>(VT, S, lane_of(g.o), rescale);
}

// finish a group of queries
/// Divides, and writes the rows of a group to O.
template <class T, class L>
void finish_group(Group<T, L>& g, Out<T> O) {
  const L l = (g.l == 0).select(T(1), g.l);
  for (auto& o : g.o) o /= l;
  transpose_into(table(g.o).topRows(O.cols()).leftCols(g.n), O);
}
/// The log-sum-exp of query i of a group.
template <class T, class L>
T log_sum(const Group<T, L>& g, Index i) {
  return std::numbers::ln2_v<T> * (g.m[i] + std::log2(g.l[i]));
}

// start a group of queries
/// Makes g the queries Q from q on, having seen no key but perhaps a sink.
template <class T, class L>
void start_group(Group<T, L>& g, const Plan<T>& plan, const In<T>& Q,
                 Index q) {
  g.q = q, g.n = Q.rows();
  load(g.x, Q, plan.factor);
  for (auto& o : g.o) o.setZero();

  // begin with the sink of each query
  g.m.setConstant(-std::numeric_limits<T>::infinity()), g.l.setZero();
  for (Index i = 0; i < g.n; ++i)
    if (const auto sink = plan.sink(q + i))
      g.m[i] = *sink * std::numbers::log2e_v<T>, g.l[i] = 1;
}

// multiply tiles by rows
/// Weights or cotangents of a tile as ordinary numbers, a row per key.
template <class T>
using Tile = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
/// About six kilobytes, in rows of d numbers.
template <class T>
Index reading_ahead(Index d) { return 6144 / (d * Index(sizeof(T)) + 1) + 1; }

/// y += a x for the columns from c on that fill lanes of that width; asks
/// for what comes later in x if told to.
template <class T, int w, bool ask, class X, class Y>
void add_columns(const Tile<T>& a, const X& x, Y& y, Index& c,
                 bool careful) {
  using L = Eigen::Array<T, w, 1>;
  for (; c + w <= x.cols(); c += w) {
    // see columns as lanes
    const auto from = [&](Index k) {
      const T* at = &x.coeffRef(k, c);
      if constexpr (ask)
        for (int i = 0; i < w; i += 64 / int(sizeof(T)))
          __builtin_prefetch(at + reading_ahead<T>(x.cols()) * x.outerStride() + i,
                             0, 2);
      return Eigen::Map<const L>(at);
    };
    const auto to = [&](Index r) { return Eigen::Map<L>(&y.coeffRef(r, c)); };

    // multiply these columns with care or without
    if (careful)
      product_of_weighted<L>(
          a, from, to, [](T p, T) { return p != 0; }, onwards);
    else
      product<L>(a, from, to, onwards);
  }
}
/// y += a x, for a tile of weights and as many rows of x as it has
/// columns.
template <class T, bool ask = false, class X, class Y>
void add_product(const Tile<T>& a, const X& x, Y y, bool partial) {
  const bool careful = partial && !finite(x);
  Index c = 0;
  if (ask && a.rows() <= 2)
    add_columns<T, 8 * width<T>, ask>(a, x, y, c, careful);
  add_columns<T, lanes<T>, ask>(a, x, y, c, careful);
  add_columns<T, width<T>, ask>(a, x, y, c, careful);
  add_columns<T, 1, ask>(a, x, y, c, careful);
}

// add up across registers
/// A register of numbers, and how to fill it from any address.
template <class T>
struct Register {
  using Full [[gnu::vector_size(width<T> * sizeof(T))]] = T;
  using Loose [[gnu::vector_size(width<T> * sizeof(T)), gnu::may_alias,
                gnu::aligned(alignof(T))]] = T;
  static Full load(const T* p) {
    return *reinterpret_cast<const Loose*>(p);
  }
};
/// The number, in two registers of w, of the first (or second) of the
/// i-th two neighbours: blocks of h numbers within spans.
consteval int neighbour(int w, int span, int h, int i, int second) {
  const int block = i % span / h, half = span / h / 2;
  return block / half * w + i / span * span +
         (2 * (block % half) + second) * h + i % h;
}
/// Sums of neighbours, in each span those of a before those of b.
template <class T, int span, int h, class V, int... i>
inline V add_neighbours(V a, V b, std::integer_sequence<int, i...>) {
  constexpr int w = width<T>;
  return __builtin_shufflevector(a, b, neighbour(w, span, h, i, 0)...) +
         __builtin_shufflevector(a, b, neighbour(w, span, h, i, 1)...);
}
/// The sums of n registers, of all numbers of each, in c[0].
template <class T, int n = width<T>, class V>
inline void add_across(V* c) {
  constexpr int w = width<T>, small = 16 / sizeof(T);
  constexpr int span = n > w / small ? small : w;
  constexpr int h = n > w / small ? 1 : small;
  if constexpr (n > 1) {
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i)
      c[i] = add_neighbours<T, span, h>(
          c[2 * i], c[2 * i + 1], std::make_integer_sequence<int, w>());
    add_across<T, n / 2>(c);
  }
}

// score few queries
/// As many keys as a register has numbers, `apart` from one to the next,
/// and those to be asked for meanwhile, which lie as the cache does.
template <class T>
struct Strip {
  const T* keys;
  Index apart;
  const T* next;
  Index next_apart;
};
/// y = numbers a .. of some keys of a strip from k on, q those of n rows.
template <int n, int some, class T, class V>
[[gnu::always_inline]] inline void load_some(const T* x, Index d,
                                             const Strip<T>& strip, int k,
                                             Index a, V* y, V* q) {
#pragma GCC unroll 16
  for (int j = 0; j < some; ++j)
    y[j] = Register<T>::load(strip.keys + (k + j) * strip.apart + a);
#pragma GCC unroll 16
  for (int r = 0; r < n; ++r) q[r] = Register<T>::load(x + r * d + a);
}
/// Scores of n queries x, of d numbers each, with width / n keys of a
/// strip from k on: those of one query side by side.
template <int n, class T>
[[gnu::always_inline]] inline auto score_tile(const T* x, Index d,
                                              const Strip<T>& strip, int k,
                                              bool ask) {
  constexpr int w = width<T>, m = w / n, some = std::min(m, 4);
  typename Register<T>::Full c[w];
#pragma GCC unroll 16
  for (int i = 0; i < m; i += some)

    // multiply some keys by some queries
    {
      typename Register<T>::Full y[some], q[n];

      // begin the sums of some keys at zero
      #pragma GCC unroll 16
      for (int r = 0; r < n; ++r)
      #pragma GCC unroll 16
        for (int j = 0; j < some; ++j)
          c[r * m + i + j] = typename Register<T>::Full{};
      load_some<n, some>(x, d, strip, k + i, 0, y, q);
    #pragma GCC unroll 1
      for (Index a = 0; a < d; a += w) {
        // ask for keys that come later
        if (ask && a * Index(sizeof(T)) % 64 == 0)
          for (int j = 0; j < some; ++j)
            __builtin_prefetch(strip.next + (k + i + j) * strip.next_apart + a, 0,
                               2);

        // add the products of some keys
        #pragma GCC unroll 16
        for (int r = 0; r < n; ++r)
        #pragma GCC unroll 16
          for (int j = 0; j < some; ++j) c[r * m + i + j] += q[r] * y[j];
        load_some<n, some>(x, d, strip, k + i, a + w < d ? a + w : 0, y, q);
      }
    }
  add_across<T>(c);
  return c[0];
}
/// Scores of n queries with a strip; those of a query are `row` numbers
/// from those of the next.
template <int n, class T>
[[gnu::always_inline]] inline void score_strip(const T* x, Index d,
                                               const Strip<T>& strip,
                                               bool ask, T* s, Index row) {
  constexpr int m = width<T> / n;
#pragma GCC unroll 1
  for (int k = 0; k < width<T>; k += m) {
    const auto c = score_tile<n>(x, d, strip, k, ask);
    std::array<T, std::size_t(width<T>)> part;
    std::memcpy(part.data(), &c, sizeof c);
    for (int r = 0; r < n; ++r)
      std::copy_n(part.data() + r * m, m, s + r * row + k);
  }
}

// let few queries meet their keys
/// A row: query q of a head.
template <class T>
struct FewRow {
  const Plan<T>* plan;
  Index q;
};
/// A block of keys that few queries have met: its values, where its scores
/// begin in a row, and whether some pair may be forbidden.
template <class T>
struct FewTile {
  In<T> V;
  Index at;
  bool partial;
};
/// d or what is needed to fill registers, one at least.
template <class T>
Index filled(Index d) {
  return (std::max<Index>(d, 1) + width<T> - 1) / width<T> * width<T>;
}
/// What a thread needs for few queries: rows x of d numbers; states m, l
/// and o, of e numbers; scores s of blocks met; a strip of keys.
template <class T>
struct FewWork {
  Index most, block, d = 0, e = 0, slot = 0, row = 0, span = 0;
  Lanes<T> s;
  std::vector<T> x, m, l, o, strip;
  std::vector<FewTile<T>> tiles;
  std::vector<FewRow<T>> rows;
  FewWork(Index n, Index b, Index d_k, Index d_v, Index blocks = 8)
      : most(std::clamp<Index>(blocks, 1, 8)), block(b),
        s(std::size_t(n * (lanes_of(b) * most + 1))),
        x(std::size_t(n * filled<T>(d_k))), m(std::size_t(n)), l(m),
        o(std::size_t(n * d_v)), strip(std::size_t(width<T> * filled<T>(d_k))) {
    tiles.reserve(std::size_t(most)), rows.reserve(std::size_t(n));
  }
  static Index lanes_of(Index n) { return (n + lanes<T> - 1) / lanes<T>; }
  Index n() const { return std::ssize(rows); }
};
/// Makes w ready for rows of keys with d_k and values with d_v numbers.
template <class T>
void start_few(FewWork<T>& w, Index key_block, Index d_k, Index d_v) {
  w.rows.clear(), w.tiles.clear();
  w.d = filled<T>(d_k), w.e = d_v;
  w.slot = w.lanes_of(std::min(key_block, w.block)) * lanes<T>;
  w.row = w.slot * w.most + lanes<T>;
}
/// Adds the queries of a head to the rows, having seen no key.
template <class T>
void add_rows(FewWork<T>& w, const Plan<T>& plan, const In<T>& Q) {
  const Index r = w.n(), n = plan.queries;
  for (Index i = 0; i < n; ++i) w.rows.push_back({&plan, i});
  Out<T> x(w.x.data() + r * w.d, n, w.d, Eigen::OuterStride<>(w.d));
  x.setZero();
  x.leftCols(Q.cols()) = plan.factor * Q.topRows(n);
  std::fill_n(w.o.data() + r * w.e, n * w.e, T(0));
  std::fill_n(w.l.data() + r, n, T(0));
  std::fill_n(w.m.data() + r, n, -std::numeric_limits<T>::infinity());
}
/// s = scores of all queries with the keys K.
template <class T>
[[gnu::noinline]] void score_keys(FewWork<T>& w, const In<T>& K, T* s) {
  const Index apart = K.outerStride(), ahead = reading_ahead<T>(w.d);
  for (Index k = 0; k < K.rows(); k += width<T>) {
    const T* at = K.data() + k * apart;
    Strip<T> strip{at, apart, at + ahead * apart, apart};
    if (K.cols() < w.d || k + width<T> > K.rows())

      // copy the keys of a strip
      {
        const Index n = std::min<Index>(width<T>, K.rows() - k);
        Out<T> copy(w.strip.data(), width<T>, w.d, Eigen::OuterStride<>(w.d));
        copy.setZero();
        copy.topLeftCorner(n, K.cols()) = K.middleRows(k, n);
        strip.keys = w.strip.data(), strip.apart = w.d;
      }

    // take the queries by fours
    Index r = 0;
    const auto take = [&]<int n>(std::integral_constant<int, n>) {
      for (; r + n <= w.n(); r += n)
        score_strip<n>(w.x.data() + r * w.d, w.d, strip, r == 0,
                       s + r * w.row + k, w.row);
    };
    if constexpr (width<T> >= 4) take(std::integral_constant<int, 4>());
    take(std::integral_constant<int, 2>());
    take(std::integral_constant<int, 1>());
  }
}
/// Takes the scores of keys K, which are j .. in the cache, with values V;
/// they begin at `lead` in their block.
template <class T>
void meet_tile(FewWork<T>& w, const In<T>& K, const In<T>& V, Index j,
               Index lead) {
  constexpr T never = -std::numeric_limits<T>::infinity();
  const Index n = K.rows(), at = std::ssize(w.tiles) * w.slot + lead;
  score_keys(w, K, w.s[0].data() + at);
  bool partial = false;
  T* s = w.s[0].data() + at;
  for (const auto& [plan, q] : w.rows) {
    std::fill(s - lead, s, never), std::fill(s + n, s - lead + w.slot, never);
    using One = Eigen::Array<T, 1, 1>;
    partial |= finish_scores(*plan, reinterpret_cast<One*>(s), q, 1, j, n);
    s += w.row;
  }
  w.tiles.push_back({V, at, partial});
}
/// Turns the scores of query r into weights and joins their sums to its
/// state.
template <class T>
void weigh_row(FewWork<T>& w, Index r) {
  Lane<T>* s = w.s.data() + r * (w.row / lanes<T>);
  const Index each = w.slot / lanes<T>, n = each * std::ssize(w.tiles);
  T &m = w.m[std::size_t(r)], &l = w.l[std::size_t(r)], before = m;

  // raise the maximum of a row
  Lane<T> top = s[0];
  for (Index k = 1; k < n; ++k) top = top.max(s[k]);
  m = std::max(m, top.maxCoeff());
  const T floor = std::max(m, std::numeric_limits<T>::lowest());
  const T factor = attn::exp2(before - floor);
  exp2_lanes(s, n, Lane<T>(Lane<T>::Constant(floor)));
  if (factor != 1) {
    l *= factor;
    Eigen::Map<Vector<T>>(w.o.data() + r * w.e, w.e) *= factor;
  }
  for (Index k = 0; k < n; k += each) {
    Lane<T> sum = s[k];
    for (Index i = 1; i < each; ++i) sum += s[k + i];
    l += sum.sum();
  }
}
/// Joins the weighted values of the blocks that have been met.
template <class T>
void join_tiles(FewWork<T>& w) {
  if (w.tiles.empty()) return;
  for (Index r = 0; r < w.n(); ++r) weigh_row(w, r);
  Out<T> o(w.o.data(), w.n(), w.e, Eigen::OuterStride<>(w.e));
  for (const auto& [V, at, partial] : w.tiles) {
    const Tile<T> P(w.s[0].data() + at, w.n(), V.rows(),
                    Eigen::OuterStride<>(w.row));
    if (w.n() <= 32 / width<T>) add_product<T, true>(P, V, o, partial);
    else add_product<T>(P, V, o, partial);
  }
  w.tiles.clear();
}
/// Takes the keys K, `before` of the cache before them, in blocks of b, and
/// their values.
template <class T>
void attend_few(FewWork<T>& w, Index b, const In<T>& K, const In<T>& V,
                Index before) {
  // find the keys that some row sees
  Index begin = before + K.rows(), end = before;
  for (const auto& [plan, q] : w.rows) {
    begin = std::min(begin, std::max(before, plan->first(q)));
    end = std::max(end, std::min(before + K.rows(), plan->last(q)));
  }
  const auto seen = [&w](Index from, Index to) {
    return std::any_of(w.rows.begin(), w.rows.end(), [&](const auto& row) {
      return row.plan->any(row.q, 1, from, to);
    });
  };
  for (Index j = before + (begin - before) / b * b; j < end; j += b) {
    const Index from = std::max(j, begin), n = std::min(j + b, end) - from;
    if (n < 1 || !seen(from, from + n)) continue;

    // join eight blocks before the next
    const Index span = j / b / w.most;
    if (std::ssize(w.tiles) == w.most || span != w.span) join_tiles(w);
    w.span = span;
    meet_tile(w, some_rows(K, from - before, n),
              some_rows(V, from - before, n), from, from - j);
  }
}

// finish the rows of a head
/// Writes O and logZ of a head whose n rows begin at r.
template <class T>
void finish_rows(const FewWork<T>& w, const FlashHead<T>& h, Index r,
                 Index n) {
  Out<T> O(h.O);
  for (Index i = 0; i < n; ++i, ++r) {
    const T m = w.m[std::size_t(r)], l = w.l[std::size_t(r)];
    O.row(i) = Eigen::Map<const RowVector<T>>(w.o.data() + r * w.e, w.e) /
               (l == 0 ? T(1) : l);
    if (h.logZ) h.logZ[i] = std::numbers::ln2_v<T> * (m + std::log2(l));
  }
}

// attend with the heads of a turn
/// Attends with few queries of heads that have their keys, values and
/// blocks in common; plans are theirs.
template <class T>
void forward_few(std::span<const FlashHead<T>> heads, const Plan<T>* plans,
                 FewWork<T>& w) {
  const FlashHead<T>& h = heads.front();
  start_few(w, h.rule.key_block, h.K.cols(), h.V.cols());
  for (std::size_t k = 0; k < heads.size(); ++k)
    add_rows(w, plans[k], heads[k].Q);
  for (Index r = 0; r < w.n(); ++r)

    // begin with the sink of a row
    {
      const auto k = std::size_t(r);
      if (const auto sink = w.rows[k].plan->sink(w.rows[k].q))
        w.m[k] = *sink * std::numbers::log2e_v<T>, w.l[k] = 1;
    }
  attend_few(w, h.rule.key_block, h.K, h.V, 0);
  join_tiles(w);
  Index r = 0;
  for (std::size_t k = 0; k < heads.size(); r += plans[k++].queries)
    finish_rows(w, heads[k], r, plans[k].queries);
}

// tell whether views are the same
/// Are these views of the same rows?
template <class V>
bool same_rows(const V& a, const V& b) {
  return a.data() == b.data() && a.rows() == b.rows() &&
         a.cols() == b.cols() && a.outerStride() == b.outerStride();
}

// divide heads into turns
/// Heads from `first` on that are taken together, with so many queries in
/// all; do their rules agree but for slopes and sinks?
struct Turn {
  std::size_t first, heads;
  Index queries;
  bool alike;
};
/// Are so many queries few: no more than fill half a lane?
template <class T>
bool few(Index queries) {
  return 2 * queries <= lanes<T>;
}
/// Does a turn go by rows?
template <class T>
bool by_rows(const Turn& turn) {
  return !turn.alike || few<T>(turn.queries);
}
/// Do the rules of two heads agree but for slope and sink?
template <class T>
bool alike(const Plan<T>& a, const Plan<T>& b) {
  const auto said = [](const Plan<T>& p) {
    const FlashRule<T>& r = p.rule;
    return std::tuple(p.queries, p.keys, p.offset, p.factor, p.cap, r.left,
                      r.right, r.key_block, r.groups, r.share, p.has_slope(),
                      p.sink(0).has_value(), r.bias || r.keep);
  };
  return a.rule.share == 1 && !a.rule.bias && !a.rule.keep &&
         said(a) == said(b);
}
/// May the last of these heads join a turn?
template <class T>
bool may_join(const Turn& turn, std::span<const FlashHead<T>> heads,
              std::span<const Plan<T>> plans) {
  const Plan<T> &first = plans[turn.first], &plan = plans.back();
  const auto &a = heads[turn.first], &b = heads[plans.size() - 1];
  if (!same_rows(a.K, b.K) || !same_rows(a.V, b.V) ||
      first.rule.key_block != plan.rule.key_block)
    return false;
  if (turn.alike && alike(first, plan))
    return plan.queries / lanes<T> < plan.rule.groups;
  return few<T>(first.queries) && few<T>(plan.queries) &&
         turn.queries + plan.queries <= 32;
}
/// Slopes and sinks of heads that are taken together by sweeps.
template <class T>
struct OfHeads {
  std::vector<T> slopes, sinks;
  OfHeads(std::span<const Plan<T>> plans, std::span<const Turn> turns) {
    if (std::none_of(turns.begin(), turns.end(), [](const Turn& turn) {
          return turn.heads > 1 && !by_rows<T>(turn);
        }))
      return;
    for (const auto& plan : plans) {
      slopes.push_back(plan.slope(0));
      sinks.push_back(plan.sink(0).value_or(0));
    }
  }

  // make the plan of a turn
  Plan<T> plan(std::span<const Plan<T>> plans, const Turn& turn) const {
    Plan<T> all = plans[turn.first];
    if (turn.heads == 1) return all;
    all.queries = turn.queries, all.rule.share = Index(turn.heads);
    if (all.has_slope())
      all.rule.slopes = std::span(slopes).subspan(turn.first, turn.heads);
    if (all.sink(0))
      all.rule.sinks = std::span(sinks).subspan(turn.first, turn.heads);
    return all;
  }
};

// sweep several groups over the keys
/// What a thread needs forward: n groups, a block of scores, and `copied`
/// rows of d numbers where heads are taken together.
template <class T, class L = Lane<T>>
struct ForwardWork {
  std::vector<Group<T, L>> groups;
  std::vector<L> s;
  std::vector<T> copy;
  ForwardWork(Index n, Index block, Index d_k, Index d_v, Index copied = 0)
      : groups(std::size_t(n)), s(std::size_t(block)),
        copy(std::size_t(copied * std::max(d_k, d_v))) {
    for (auto& g : groups)
      g.x.resize(std::size_t(d_k)), g.o.resize(std::size_t(d_v));
  }
};
/// Rows q .. q + n - 1 of heads that are taken together.
template <class T>
In<T> queries_of(std::span<const FlashHead<T>> heads, Index q, Index n,
                 std::vector<T>& copy) {
  const Index s = std::ssize(heads), d = heads[0].Q.cols();
  if (s == 1) return some_rows(heads[0].Q, q, n);
  Out<T> rows(copy.data(), n, d, Eigen::OuterStride<>(d));
  for (Index i = 0; i < n; ++i)
    rows.row(i) = heads[std::size_t((q + i) % s)].Q.row((q + i) / s);
  return {copy.data(), n, d, Eigen::OuterStride<>(d)};
}
/// Finishes a group: rows of O, and of logZ where it is wanted.
template <class T, class L>
void write_group(Group<T, L>& g, std::span<const FlashHead<T>> heads,
                 std::vector<T>& copy) {
  const Index s = std::ssize(heads), d = heads[0].V.cols();
  const Out<T> rows = s == 1 ? some_rows(heads[0].O, g.q, g.n)
                             : Out<T>(copy.data(), g.n, d,
                                      Eigen::OuterStride<>(d));
  finish_group(g, rows);
  for (Index i = 0; i < g.n; ++i) {
    const FlashHead<T>& h = heads[std::size_t((g.q + i) % s)];
    if (s > 1) Out<T>(h.O).row((g.q + i) / s) = rows.row(i);
    if (h.logZ) h.logZ[(g.q + i) / s] = log_sum(g, i);
  }
}
/// Attends with the queries of one sweep, from q0 on, which there are, of
/// one head or of heads together, whose plan this is.
template <class T, class L>
void forward_sweep(std::span<const FlashHead<T>> heads, const Plan<T>& plan,
                   Index q0, ForwardWork<T, L>& work) {
  constexpr Index wide = L::SizeAtCompileTime;
  const Index end = std::min(q0 + plan.groups() * wide, plan.queries);
  const std::span<Group<T, L>> active(
      work.groups.data(), std::size_t((end - q0 - 1) / wide + 1));
  for (Index q = q0; auto& g : active) {
    const Index n = std::min(wide, end - q);
    start_group(g, plan, queries_of(heads, q, n, work.copy), q), q += n;
  }

  // meet the tiles of the sweep
  visit_tiles(plan, q0, end, [&](Index k, Index j, Index b) {
    attend_tile(active[std::size_t(k)], plan, heads[0].K, heads[0].V, j, b,
                work.s.data());
  }, wide);
  for (auto& g : active) write_group(g, heads, work.copy);
}

// share independent work among threads
/// The first exception of several threads, to be thrown again by one.
struct FirstError {
  std::atomic<bool> failed = false;
  std::exception_ptr error;

  // run a task unless one has failed
  template <class F>
  void guard(F f) noexcept {
    if (failed) return;
    try {
      f();
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  void rethrow() const {
    if (error) std::rethrow_exception(error);
  }
};
/// Calls f(i, work) for i = n-1 .. 0 with a workspace per thread; in
/// parallel if compiled with OpenMP.  Throws what f or make throws first.
template <class Make, class F>
void in_parallel(Index n, Make make, F f) {
  if (n == 1) {
    auto work = make();
    f(Index(0), work);
  }
  if (n < 2) return;
  FirstError first;

  // let threads take tasks as they become free
  #ifdef _OPENMP
  #pragma omp parallel
  #endif
  {
    std::optional<decltype(make())> work;
    first.guard([&] { work.emplace(make()); });
  #ifdef _OPENMP
  #pragma omp for schedule(dynamic)
  #endif
    for (Index i = 0; i < n; ++i)
      first.guard([&] { f(n - 1 - i, *work); });
  }
  first.rethrow();
}
}  // namespace detail

// attend with several heads at once
/// Exact attention of each head, forward; O(1) extra memory per thread.
/// Throws std::invalid_argument for shapes, std::domain_error for values
/// of the rule, before anything is computed (thm. flash-forward).
template <class T>
void flash_forward(std::span<const FlashHead<T>> heads) {
  std::vector<detail::Plan<T>> plans;
  std::vector<detail::Turn> turns;
  std::map<const T*, std::size_t> outputs;
  for (const auto& h : heads) {
    plans.emplace_back("flash", h);

    // refuse outputs that something else has
    if (h.O.size() > 0) {
      const std::size_t i = plans.size() - 1;
      const auto has = outputs.try_emplace(h.O.data(), i).first->second;
      require(has == i, "flash: heads ", has, " and ", i, " have one O, ",
              shape(h.O));
      require(h.O.data() != h.K.data() && h.O.data() != h.V.data(),
              "flash: O of head ", i, ", ", shape(h.O), ", is its K or V");
    }
    if (h.logZ && h.Q.rows() > 0)
      require(outputs.try_emplace(h.logZ, plans.size() - 1).second,
              "flash: logZ of head ", plans.size() - 1, ", ", h.Q.rows(),
              " numbers, has a place that is taken");

    // give a head its turn
    const detail::Plan<T>& plan = plans.back();
    if (!turns.empty() && detail::may_join<T>(turns.back(), heads, plans)) {
      auto& [first, joined, queries, alike] = turns.back();
      alike = alike && detail::alike(plans[first], plan);
      ++joined, queries += plan.queries;
    } else {
      turns.push_back({plans.size() - 1, 1, plan.queries, true});
    }
  }

  // divide the turns into tasks
  detail::OfHeads<T> own(plans, turns);
  std::vector<Index> tasks{0};
  Index d_k = 0, d_v = 0, groups = 0, block = 1, blocks = 1;
  Index rows = 0, copied = 0;
  for (const auto& turn : turns) {
    const auto& h = heads[turn.first];
    Index n = std::min<Index>(turn.queries, 1);

    // find the largest workspace
    d_k = std::max(d_k, h.K.cols());
    d_v = std::max(d_v, h.V.cols());
    block = std::max(block, std::min(h.rule.key_block, h.K.rows()));
    blocks = std::max(blocks, (h.K.rows() - 1) / h.rule.key_block + 1);
    if (detail::by_rows<T>(turn)) {
      rows = std::max(rows, turn.queries);
    } else {
      const auto plan = own.plan(plans, turn);
      groups = std::max(groups, plan.groups());
      n = (plan.queries + plan.sweep() - 1) / plan.sweep();
      if (turn.heads > 1) copied = detail::lanes<T>;
    }
    tasks.push_back(tasks.back() + n);
  }
  for (std::size_t k = 0; k < plans.size(); ++k)

    // clear the rows of unused queries
    for (Index i = plans[k].queries; i < heads[k].Q.rows(); ++i) {
      Out<T>(heads[k].O).row(i).setZero();
      if (heads[k].logZ)
        heads[k].logZ[i] = -std::numeric_limits<T>::infinity();
    }

  // share the turns of all heads
  const auto make = [&] {
    // make what a thread needs for the turns
    std::pair<std::optional<detail::ForwardWork<T>>,
              std::optional<detail::FewWork<T>>> work;
    if (groups > 0) work.first.emplace(groups, block, d_k, d_v, copied);
    if (rows > 0) work.second.emplace(rows, block, d_k, d_v, blocks);
    return work;
  };
  detail::in_parallel(tasks.back(), make, [&](Index i, auto& work) {
    const auto next = std::upper_bound(tasks.begin(), tasks.end(), i);
    const auto t = std::size_t(next - tasks.begin() - 1);
    const detail::Turn& turn = turns[t];
    const auto some = heads.subspan(turn.first, turn.heads);
    if (detail::by_rows<T>(turn))
      return detail::forward_few(some, plans.data() + turn.first, *work.second);
    const auto plan = own.plan(plans, turn);
    detail::forward_sweep(some, plan, (i - tasks[t]) * plan.sweep(),
                          *work.first);
  });
}

// attend with one head
/// Outputs O (n_q x d_v) and logZ (n_q) of flash attention.
template <class T>
struct FlashOutput {
  Matrix<T> O;
  Vector<T> logZ;
};
/// Has D rows of contiguous numbers T in memory, any distance apart?
template <class D, class T>
concept RowsInMemory =
    std::is_same_v<typename D::Scalar, T> && bool(D::IsRowMajor) &&
    (int(D::Flags) & int(Eigen::DirectAccessBit)) != 0 &&
    int(D::InnerStrideAtCompileTime) == 1;
/// A matrix, or a block of one, as a view of its rows; no copy.
template <class T, RowsInMemory<T> D>
In<T> view_in(const Eigen::MatrixBase<D>& matrix) {
  const D& m = matrix.derived();
  return {m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.outerStride())};
}
/// A matrix as a view that can be written to.
template <class T>
Out<T> view_out(Matrix<T>& m) {
  return {m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.outerStride())};
}
/// Exact attention of one head under a rule: Q n_q x d_k, K n_k x d_k,
/// V n_k x d_v.  An empty row has O = 0, logZ = -infinity (or the sink).
/// Throws std::invalid_argument or std::domain_error (thm. flash-forward).
template <class DQ, class DK, class DV>
auto flash(const Eigen::MatrixBase<DQ>& Q, const Eigen::MatrixBase<DK>& K,
           const Eigen::MatrixBase<DV>& V,
           const FlashRule<typename DQ::Scalar>& rule = {}) {
  using T = typename DQ::Scalar;

  // view one head and attend
  const Rows<T> q(Q), k(K), v(V);
  FlashOutput<T> y{Matrix<T>(q.rows(), v.cols()), Vector<T>(q.rows())};
  const FlashHead<T> head{view_in<T>(q), view_in<T>(k), view_in<T>(v),
                          view_out(y.O), y.logZ.data(), rule};
  flash_forward<T>({&head, 1});
  return y;
}

// hold the kernels back

// view the cotangents of a head
/// Cotangents of a FlashHead: dO (n_q x d_v) and dlogZ (n_q, or null) are
/// given; dQ, dK, dV, dsink and dbias (n_q x n_k) are wanted, the last two
/// unless null.
template <class T>
struct FlashCotangent {
  In<T> dO;
  const T* dlogZ;
  Out<T> dQ, dK, dV;
  T* dsink = nullptr;
  Matrix<T>* dbias = nullptr;
};
namespace detail {
// hold a group of queries going back
/// Queries q .. q + n - 1 going back, side by side in lanes.
template <class T>
struct BackwardGroup {
  Lanes<T> x, g, y;
  Lane<T> L, D, rest, total, star_bend;
  std::array<Index, std::size_t(lanes<T>)> star;  // dominant key or -1
  Index q = 0, n = 0;
};
/// What a thread needs going back: n groups, and a block of weights,
/// cotangents and derivatives of the cap.
template <class T>
struct BackwardWork {
  std::vector<BackwardGroup<T>> groups;
  Lanes<T> p, s, bend;
  BackwardWork(Index n, Index block, Index d_k, Index d_v)
      : groups(std::size_t(n)), p(std::size_t(block)), s(p.size()),
        bend(p.size()) {
    for (auto& w : groups)
      for (auto [x, d] : {std::pair(&w.x, d_k), {&w.g, d_v}, {&w.y, d_k}})
        x->resize(std::size_t(d));
  }
};
/// Makes w the queries from q on, given L, O and their cotangents.
template <class T>
void start_back(BackwardGroup<T>& w, const FlashHead<T>& h,
                const FlashCotangent<T>& c, const Plan<T>& plan, Index q) {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  w.q = q;
  w.n = std::min<Index>(lanes<T>, plan.queries - q);
  load(w.x, some_rows(h.Q, q, w.n), plan.factor);
  load(w.g, some_rows(c.dO, q, w.n), T(1));

  // clear the sums of a group going back
  for (auto& y : w.y) y.setZero();
  w.L.setConstant(infinite);
  w.D.setZero(), w.rest.setZero(), w.total.setZero();
  w.star.fill(-1);
  for (Index i = 0; i < w.n; ++i)

    // start one row going back
    {
      const T L = h.logZ[q + i], dL = c.dlogZ ? c.dlogZ[q + i] : T(0);
      if (L == -infinite) continue;
      w.L[i] = L * std::numbers::log2e_v<T>;
      w.D[i] = h.O.row(q + i).dot(c.dO.row(q + i)) - dL;
      w.total[i] = dL;
      const auto sink = plan.sink(q + i);
      if (!sink) continue;
      const T dsink = -std::exp(*sink - L) * w.D[i];
      w.total[i] -= dsink;
      if (c.dsink) *c.dsink += dsink;
    }
}

// set a dominant key aside
/// Records dominant keys of the tile and leaves their cotangents out.
template <class T>
void set_aside(BackwardGroup<T>& w, BackwardWork<T>& tile,
               const Plan<T>& plan, Index j, Index b) {
  for (Index k = 0; k < b; ++k)
    for (Index i = 0; i < w.n; ++i) {
      // set one key aside
      const auto at = std::size_t(k);
      if (!(tile.p[at][i] > T(0.75)) || w.star[std::size_t(i)] >= 0) continue;
      w.star[std::size_t(i)] = j + k;
      w.star_bend[i] = plan.cap > 0 ? tile.bend[at][i] : T(1);
      tile.s[at][i] = 0;
    }
}

// let a block of keys meet a group going back
/// Takes keys j .. j + b - 1 back: adds to dK and dV, and to the sums of w.
template <class T>
void attend_back(BackwardGroup<T>& w, BackwardWork<T>& tile,
                 const FlashHead<T>& h, const FlashCotangent<T>& c,
                 const Plan<T>& plan, Index j, Index b) {
  auto& [groups, p, s, bend] = tile;
  const auto K = h.K.middleRows(j, b), V = h.V.middleRows(j, b);
  product<Lane<T>>(K, lane_of(w.x), lane_of(p), from_zero);
  const bool partial = finish_scores(plan, p.data(), w.q, w.n, j, b,
                                     bend.data());
  product<Lane<T>>(V, lane_of(w.g), lane_of(s), from_zero);

  // turn scores into weights and cotangents
  Lane<T> top = Lane<T>::Zero();

  // recompute the weights of a tile
  if (partial)
    for (Index k = 0; k < b; ++k) {
      T* x = p[std::size_t(k)].data();
      for (int i = 0; i < lanes<T>; ++i)
        x[i] = either(x[i] < std::numeric_limits<T>::lowest(), x[i],
                      x[i] - w.L[i]);
    }
  const Lane<T> L = partial ? Lane<T>(Lane<T>::Zero()) : w.L;
  exp2_lanes(p.data(), b, L);

  // multiply weights by what they did
  for (std::size_t k = 0; k < std::size_t(b); ++k) {
    s[k] = p[k] * (s[k] - w.D);
    top = top.max(p[k]);
  }

  // clear the cotangents of forbidden pairs
  const auto clear = [](Lane<T>& y, const Lane<T>& weights) {
    const T* a = weights.data();
    T* x = y.data();
    for (int i = 0; i < lanes<T>; ++i) x[i] = either(a[i] == 0, T(0), x[i]);
  };
  if (partial)
    for (std::size_t k = 0; k < std::size_t(b); ++k) {
      clear(s[k], p[k]);
      if (plan.cap > 0) clear(bend[k], p[k]);
    }
  if ((top > T(0.75)).any()) set_aside(w, tile, plan, j, b);
  for (Index k = 0; k < b; ++k) w.rest += s[std::size_t(k)];

  // write the cotangents of the bias
  if (c.dbias)
    for (Index k = 0; k < b; ++k)
      for (Index i = 0; i < w.n; ++i)
        (*c.dbias)(w.q + i, j + k) = s[std::size_t(k)][i];
  if (plan.cap > 0)
    for (Index k = 0; k < b; ++k)
      s[std::size_t(k)] *= bend[std::size_t(k)];

  // add what the keys and values receive
  const Tile<T> P(p[0].data(), b, w.n, Eigen::OuterStride<>(lanes<T>));
  const Tile<T> S(s[0].data(), b, w.n, Eigen::OuterStride<>(lanes<T>));
  Out<T> dV(c.dV), dK(c.dK);
  add_product<T>(P, c.dO.middleRows(w.q, w.n), dV.middleRows(j, b), partial);
  add_product<T>(S, h.Q.middleRows(w.q, w.n), dK.middleRows(j, b), partial);

  // add what the queries receive
  const auto KT = K.transpose();
  if (partial && !finite(K))
    product_of_weighted<Lane<T>>(
        KT, lane_of(s), lane_of(w.y), [](T, T x) { return x != 0; },
        onwards);
  else
    product<Lane<T>>(KT, lane_of(s), lane_of(w.y), onwards);
}

// settle a group going back
/// Gives dominant keys what is missing, and writes rows q .. of dQ.
template <class T>
void settle(BackwardGroup<T>& w, const FlashHead<T>& h,
            const FlashCotangent<T>& c, const Plan<T>& plan) {
  Out<T> dQ(c.dQ), dK(c.dK);
  for (Index i = 0; i < w.n; ++i) {
    const Index q = w.q + i, star = w.star[std::size_t(i)];
    for (Index a = 0; a < dQ.cols(); ++a) dQ(q, a) = w.y[std::size_t(a)][i];
    if (star >= 0)

      // give the dominant key what is missing
      {
        const T dS = w.total[i] - w.rest[i], dX = dS * w.star_bend[i];
        if (c.dbias) (*c.dbias)(q, star) = dS;
        dQ.row(q) += dX * h.K.row(star);
        dK.row(star) += dX * h.Q.row(q);
      }
    dQ.row(q) *= plan.scale;
  }
}

// go back through one head
/// Takes the queries of one sweep back, from q0 on, and finishes each group.
template <class T, class F>
void backward_sweep(const FlashHead<T>& h, const FlashCotangent<T>& c,
                    const Plan<T>& plan, Index q0, BackwardWork<T>& work,
                    F finish) {
  const Index end = std::min(q0 + plan.sweep(), plan.queries);
  for (Index q = q0, k = 0; q < end; q += lanes<T>, ++k)
    start_back(work.groups[std::size_t(k)], h, c, plan, q);
  visit_tiles(plan, q0, end, [&](Index k, Index j, Index b) {
    attend_back(work.groups[std::size_t(k)], work, h, c, plan, j, b);
  });
  for (Index q = q0, k = 0; q < end; q += lanes<T>, ++k)
    finish(work.groups[std::size_t(k)]);
}
/// Goes back through one head.
template <class T>
void backward_head(const FlashHead<T>& h, const FlashCotangent<T>& c,
                   BackwardWork<T>& w) {
  const Plan<T> plan("flash_backward", h);
  Out<T> dQ(c.dQ), dK(c.dK), dV(c.dV);
  if (c.dsink) *c.dsink = 0;
  dK.setZero(), dV.setZero();
  dQ.bottomRows(h.Q.rows() - plan.queries).setZero();

  // take the sweeps of a head back
  for (Index q = 0; q < plan.queries; q += plan.sweep())
    backward_sweep(h, c, plan, q, w, [&](BackwardGroup<T>& group) {
      settle(group, h, c, plan);
    });
  dK *= plan.scale;
}
/// What a thread needs for heads that share keys.
template <class T>
struct SharedWork {
  BackwardWork<T> back;
  Matrix<T> dK, dV;
};
/// Makes a view one of something else.
template <class V>
void rebind(V& view, const V& other) {
  new (&view) V(other);
}

// share work and join it in turn
/// Calls f(i, work) for i = 0 .. n - 1 like in_parallel, and after each
/// then(i, work), one after the other in the order of i.
template <class Make, class F, class Then>
void in_turn(Index n, Make make, F f, Then then) {
  FirstError first;
#ifdef _OPENMP
#pragma omp parallel if (n > 1)
#endif
  {
    std::optional<decltype(make())> work;
    first.guard([&] { work.emplace(make()); });
#ifdef _OPENMP
#pragma omp for ordered schedule(dynamic)
#endif
    for (Index i = 0; i < n; ++i) {
      first.guard([&] { f(i, *work); });

      // wait for the turn of a task
      #ifdef _OPENMP
      #pragma omp ordered
      #endif
      first.guard([&] { then(i, *work); });
    }
  }
  first.rethrow();
}
}  // namespace detail

// take several heads back at once
/// Cotangents of each head's inputs, given the outputs O and logZ of
/// flash_forward; `shared` successive heads have the same K, V, dK and
/// dV, others have places of their own.  Throws like flash_forward, and
/// std::invalid_argument for cotangents that do not fit the heads.
template <class T>
void flash_backward(std::span<const FlashHead<T>> heads,
                    std::span<const FlashCotangent<T>> bars,
                    Index shared = 1) {
  // refuse heads without their cotangents
  require(heads.size() == bars.size() && shared >= 1 &&
              std::ssize(heads) % shared == 0, "flash_backward: ",
          heads.size(), " heads, ", bars.size(), " cotangents, ", shared,
          " sharing keys");
  Index d_k = 0, d_v = 0, groups = 1, block = 1;
  std::map<const void*, std::pair<std::size_t, int>> places;
  for (std::size_t i = 0; i < heads.size(); ++i)

    // check the cotangents of one head
    {
      const auto& h = heads[i];
      const auto& c = bars[i];

      // refuse heads that share other keys
      const auto first = i - i % std::size_t(shared);
      const auto& own = bars[first];
      using detail::same_rows;
      require(same_rows(h.K, heads[first].K) && same_rows(h.V, heads[first].V) &&
                  same_rows(c.dK, own.dK) && same_rows(c.dV, own.dV),
              "flash_backward: head ", i, " shares the keys of head ", first,
              " but has others, or other dK or dV; K is ", shape(h.K), ", dK ",
              shape(c.dK), ", dV ", shape(c.dV));

      // refuse sums that two heads would overwrite
      const auto claim = [&](const void* place, std::size_t owner, int what) {
        constexpr std::array names{"dK", "dV", "dQ", "dbias", "dsink"};
        const std::pair mine(owner, what);
        const auto has = places.try_emplace(place, mine).first->second;
        require(has == mine, "flash_backward: heads ", has.first, " and ", i,
                " have one place for ", names[std::size_t(has.second)], " and ",
                names[std::size_t(what)], "; dK is ", shape(c.dK), ", dV ",
                shape(c.dV), ", and ", shared, " share keys");
      };
      for (const Out<T>* x : {&c.dQ, &c.dK, &c.dV})
        for (const T* y : {h.Q.data(), h.K.data(), h.V.data(), c.dO.data(),
                           static_cast<const T*>(h.O.data())})
          require(x->size() == 0 || x->data() != y,
                  "flash_backward: dQ, dK or dV of head ", i, ", ", shape(*x),
                  ", is its Q, K, V, O or dO");
      require(!c.dbias || c.dbias != h.rule.bias, "flash_backward: dbias of head ",
              i, " is its bias");
      if (c.dK.size() > 0) claim(c.dK.data(), first, 0);
      if (c.dV.size() > 0) claim(c.dV.data(), first, 1);
      if (c.dQ.size() > 0) claim(c.dQ.data(), i, 2);
      if (c.dbias) claim(c.dbias, i, 3);
      if (c.dsink) claim(c.dsink, i, 4);
      const detail::Plan<T> plan("flash_backward", h);

      // refuse cotangents of other shapes
      const auto fits = [](const char* name, const auto& a, const auto& b) {
        require(a.rows() == b.rows() && a.cols() == b.cols(),
                "flash_backward: ", name, " is ", shape(a), ", expected ",
                shape(b));
      };
      fits("dO", c.dO, h.O), fits("dQ", c.dQ, h.Q);
      fits("dK", c.dK, h.K), fits("dV", c.dV, h.V);
      require(h.rule.share == 1, "flash_backward: ", h.rule.share,
              " heads in one");
      require(h.logZ || plan.queries == 0,
              "flash_backward: logZ of the forward pass is missing");
      d_k = std::max(d_k, h.K.cols());
      d_v = std::max(d_v, h.V.cols());
      groups = std::max(groups, plan.groups());
      block = std::max(block, std::min(h.rule.key_block, plan.keys));
    }

  // make room for the cotangents of biases
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (bars[i].dbias)
      bars[i].dbias->setZero(heads[i].Q.rows(), heads[i].K.rows());

  // share the heads going back
  const auto make = [&] {
    return detail::BackwardWork<T>(groups, block, d_k, d_v);
  };
  if (shared == 1)
    detail::in_parallel(std::ssize(heads), make, [&](Index k, auto& work) {
      const auto i = std::size_t(k);
      detail::backward_head(heads[i], bars[i], work);
    });
  else

    // add the sums of heads that share
    detail::in_turn(
        std::ssize(heads),
        [&] { return detail::SharedWork<T>{make(), {}, {}}; },
        [&](Index k, auto& work) {
          // take a head back with sums of its own
          FlashCotangent<T> c = bars[std::size_t(k)];
          work.dK.resize(c.dK.rows(), c.dK.cols());
          work.dV.resize(c.dV.rows(), c.dV.cols());
          detail::rebind(c.dK, view_out(work.dK));
          detail::rebind(c.dV, view_out(work.dV));
          detail::backward_head(heads[std::size_t(k)], c, work.back);
        },
        [&](Index k, auto& work) {
          // join the sums of one head
          Out<T> dK(bars[std::size_t(k)].dK), dV(bars[std::size_t(k)].dV);
          if (k % shared == 0)
            dK = work.dK, dV = work.dV;
          else
            dK += work.dK, dV += work.dV;
        });
}

// take one head back
/// Cotangents of what flash reads; bias is n_q x n_k or empty.
template <class T>
struct FlashGradient {
  Matrix<T> Q, K, V, bias;
  T sink = 0;
};
/// Gradient of <dO, O> + <dlogZ, logZ> for y = flash(Q, K, V, rule); dlogZ
/// may be empty.  Throws like flash (thm. recompute).
template <class T>
FlashGradient<T> flash_vjp(const Matrix<T>& Q, const Matrix<T>& K,
                           const Matrix<T>& V, FlashOutput<T> y,
                           const Matrix<T>& dO, const FlashRule<T>& rule = {},
                           const Vector<T>& dlogZ = {}) {
  require(dlogZ.size() == 0 || dlogZ.size() == Q.rows(),
          "flash_vjp: dlogZ has ", dlogZ.size(), " entries, expected ",
          Q.rows());
  require(y.logZ.size() == Q.rows(), "flash_vjp: logZ has ", y.logZ.size(),
          " entries, expected ", Q.rows());

  // run one head backwards
  FlashGradient<T> g{Matrix<T>(Q.rows(), Q.cols()),
                     Matrix<T>(K.rows(), K.cols()),
                     Matrix<T>(V.rows(), V.cols()), {}};
  const FlashHead<T> head{view_in<T>(Q), view_in<T>(K), view_in<T>(V),
                          view_out(y.O), y.logZ.data(), rule};
  const FlashCotangent<T> bar{
      view_in<T>(dO), dlogZ.size() > 0 ? dlogZ.data() : nullptr,
      view_out(g.Q), view_out(g.K), view_out(g.V), &g.sink,
      rule.bias ? &g.bias : nullptr};
  flash_backward<T>({&head, 1}, {&bar, 1});
  return g;
}

// hold heads side by side and decoding

// describe heads side by side
/// H query heads side by side on kv_heads heads of keys: Q is n_q x H d_k,
/// K n_k x kv_heads d_k, V n_k x kv_heads d_v.  slopes and sinks have one
/// entry per query head, or none; the rest of the rule is common.
template <class T>
struct FlashHeads {
  Index heads = 1, kv_heads = 1;
  FlashRule<T> rule{};
  std::vector<T> slopes{}, sinks{};

  // find the rule of one head
  FlashRule<T> rule_of(Index h) const {
    FlashRule<T> r = rule;
    if (!slopes.empty()) r.slope = slopes[std::size_t(h)];
    if (!sinks.empty()) r.sink = sinks[std::size_t(h)];
    return r;
  }
};
namespace detail {
// cut columns into heads
/// Columns h d .. (h + 1) d - 1: one head of several side by side.
template <class V>
V head_of(V m, Index h, Index d) {
  return V(m.data() + h * d, m.rows(), d,
           Eigen::OuterStride<>(m.outerStride()));
}
/// Throws std::invalid_argument unless the columns divide among the heads.
template <class T>
void require_heads(const Matrix<T>& Q, const Matrix<T>& K,
                   const Matrix<T>& V, const FlashHeads<T>& many) {
  const Index H = many.heads, kv = many.kv_heads;
  require(H >= 1 && kv >= 1 && H % kv == 0 && Q.cols() % H == 0 &&
              K.cols() % kv == 0 && V.cols() % kv == 0, "flash: ", H,
          " heads on ", kv, " of keys; Q is ", shape(Q), ", K is ",
          shape(K), ", V is ", shape(V));

  // refuse lists that do not fit the heads
  for (const auto* list : {&many.slopes, &many.sinks})
    require(list->empty() || std::ssize(*list) == H, "flash: ",
            list->size(), " slopes or sinks for ", H, " heads");
}

// lay heads one below the other
/// Heads of one shape: the first, and how far on the next begins.
template <class V>
struct HeadRows {
  V first;
  Index heads, apart;
  Matrix<typename V::Scalar> stack{};
  V operator()(Index h) {
    const Index n = first.rows(), d = first.cols();
    if (stack.size() == 0)
      return V(first.data() + h * apart, n, d,
               Eigen::OuterStride<>(first.outerStride()));
    return V(stack.data() + h * n * d, n, d, Eigen::OuterStride<>(d));
  }

  // carry rows to a stack and back
  /// Calls f(row of a head, its row of the stack), sixty-four rows a task.
  template <class F>
  void each_row(F f) {
    const Index n = first.rows(), some = 64;
    const auto rows = [&](Index k, int) {
      for (Index i = k * some; i < std::min(n, (k + 1) * some); ++i)
        for (Index h = 0; h < heads; ++h)
          f(first.data() + i * first.outerStride() + h * apart,
            stack.data() + (h * n + i) * stack.cols());
    };
    in_parallel((n + some - 1) / some, [] { return 0; }, rows);
  }
  void make_room() {
    if (first.outerStride() > first.cols())
      stack.resize(heads * first.rows(), first.cols());
  }
  void fetch() {
    make_room();
    if (stack.size() > 0) each_row([d = first.cols()](auto* row, auto* here) {
      std::copy_n(row, d, here);
    });
  }
  void put_back() {
    if (stack.size() > 0) each_row([d = first.cols()](auto* row, auto* here) {
      std::copy_n(here, d, row);
    });
  }
};
/// The columns of m, cut into heads.
template <class V>
HeadRows<V> cut(V m, Index heads) {
  return {head_of(m, 0, m.cols() / heads), heads, m.cols() / heads};
}
/// Queries from which on the kernel is given stacks.
inline constexpr Index stack_from = 1024;
/// What the kernel reads and writes.
template <class T>
struct Heads {
  HeadRows<In<T>> Q, K, V;
  HeadRows<Out<T>> O;
  bool stacks_pay() const {
    return Q.heads > 1 && Q.first.rows() >= stack_from;
  }
  void stack() { Q.fetch(), K.fetch(), V.fetch(); }
  FlashHead<T> operator()(Index h, T* logZ, const FlashRule<T>& rule) {
    const Index g = h / (Q.heads / K.heads);
    return {Q(h), K(g), V(g), O(h), logZ, rule};
  }
};
/// What the kernel reads and writes besides, going back.
template <class T>
struct HeadBars {
  HeadRows<In<T>> dO;
  HeadRows<Out<T>> dQ, dK, dV;
  void stack(Heads<T>& x) {
    x.stack(), x.O.fetch(), dO.fetch();
    dQ.make_room(), dK.make_room(), dV.make_room();
  }
  FlashCotangent<T> operator()(Index h) {
    const Index g = h / (dQ.heads / dK.heads);
    return {dO(h), nullptr, dQ(h), dK(g), dV(g)};
  }
  void put_back() { dQ.put_back(), dK.put_back(), dV.put_back(); }
};
}  // namespace detail

// attend with heads side by side
/// Outputs of heads side by side: O n_q x H d_v, logZ H x n_q.
template <class T>
struct HeadsOutput {
  Matrix<T> O, logZ;
};
namespace detail {
/// The heads of matrices side by side.
template <class T>
Heads<T> heads_in(const Matrix<T>& Q, const Matrix<T>& K,
                  const Matrix<T>& V, HeadsOutput<T>& y,
                  const FlashHeads<T>& many) {
  const Index H = many.heads, kv = many.kv_heads;
  return {cut(view_in<T>(Q), H), cut(view_in<T>(K), kv),
          cut(view_in<T>(V), kv), cut(view_out(y.O), H)};
}
/// Their views, as they lie or in stacks.
template <class T>
std::vector<FlashHead<T>> list_heads(Heads<T>& x, HeadsOutput<T>& y,
                                     const FlashHeads<T>& many) {
  std::vector<FlashHead<T>> list;
  for (Index h = 0; h < many.heads; ++h)
    list.push_back(x(h, y.logZ.data() + h * y.logZ.cols(),
                     many.rule_of(h)));
  return list;
}
}  // namespace detail
/// Exact attention of heads side by side; of several heads of many queries
/// Q is copied, and K and V if they have several heads
/// (detail::stack_from).  Throws std::invalid_argument for columns
/// that do not divide, and like flash.
template <class T>
HeadsOutput<T> flash(const Matrix<T>& Q, const Matrix<T>& K,
                     const Matrix<T>& V, const FlashHeads<T>& many) {
  detail::require_heads(Q, K, V, many);
  const Index d_v = V.cols() / many.kv_heads;
  HeadsOutput<T> y{Matrix<T>(Q.rows(), many.heads * d_v),
                   Matrix<T>(many.heads, Q.rows())};
  auto x = detail::heads_in(Q, K, V, y, many);
  if (x.stacks_pay()) x.stack();
  flash_forward<T>(detail::list_heads(x, y, many));
  return y;
}
/// Gradient of <dO, O> for y = flash(Q, K, V, many); sinks one per head.
template <class T>
struct HeadsGradient {
  Matrix<T> Q, K, V;
  std::vector<T> sinks;
};
/// That gradient, for cotangents dO in the shape of y.O; of several heads of
/// many queries what has several heads is copied.  Throws like flash, and
/// std::invalid_argument if y or dO do not fit the heads.
template <class T>
HeadsGradient<T> flash_vjp(const Matrix<T>& Q, const Matrix<T>& K,
                           const Matrix<T>& V, HeadsOutput<T> y,
                           const Matrix<T>& dO, const FlashHeads<T>& many) {
  detail::require_heads(Q, K, V, many);

  // refuse outputs of other heads
  const Index wide = many.heads * (V.cols() / many.kv_heads);
  const auto fits = [](const char* name, const Matrix<T>& x, Index rows,
                       Index cols) {
    require(x.rows() == rows && x.cols() == cols, "flash_vjp: ", name, " is ",
            shape(x), ", expected ", rows, "x", cols);
  };
  fits("O", y.O, Q.rows(), wide), fits("dO", dO, Q.rows(), wide);
  fits("logZ", y.logZ, many.heads, Q.rows());

  // make room for the gradients of heads
  HeadsGradient<T> g{Matrix<T>(Q.rows(), Q.cols()),
                     Matrix<T>(K.rows(), K.cols()),
                     Matrix<T>(V.rows(), V.cols()),
                     std::vector<T>(std::size_t(many.heads))};
  auto x = detail::heads_in(Q, K, V, y, many);

  // list the cotangents of heads
  using detail::cut;
  const Index H = many.heads, kv = many.kv_heads;
  detail::HeadBars<T> z{cut(view_in<T>(dO), H), cut(view_out(g.Q), H),
                        cut(view_out(g.K), kv), cut(view_out(g.V), kv)};
  if (x.stacks_pay()) z.stack(x);
  std::vector<FlashCotangent<T>> bars;
  for (Index h = 0; h < H; ++h) {
    bars.push_back(z(h));
    bars.back().dsink = &g.sinks[std::size_t(h)];
  }
  const auto list = detail::list_heads(x, y, many);
  flash_backward<T>(list, bars, many.heads / many.kv_heads);
  z.put_back();
  return g;
}

// view a page of a cache
/// Part of a cache: keys n x d_k and values n x d_v.
template <class T>
struct Page {
  In<T> K, V;
};
namespace detail {
// cut a cache into pieces
/// Keys first .. first + n - 1 of a page, `before` keys in all before
/// them.
template <class T>
struct CachePart {
  const Page<T>* page;
  Index first, n, before;
};
}  // namespace detail

// attend with few queries
/// States of queries on all pages of a cache, one for each row of Q:
/// rule.share query heads at each position; bias and keep are n_q x n_k for
/// all pages.  The cache is read once.  output() and logZ() of a state are
/// attention's.  Throws like flash, and for pages that do not fit.
template <class T>
std::vector<Online<T>> decode(const Matrix<T>& Q,
                              std::span<const Page<T>> pages,
                              const FlashRule<T>& rule) {
  require(!pages.empty(), "decode: no pages");
  const Index d_v = pages[0].V.cols();

  // cut the pages into pieces
  const Index piece = 8192;
  std::vector<detail::CachePart<T>> parts;
  std::vector<std::size_t> pieces;  // where each begins
  Index keys = 0, room = 0;
  for (const auto& page : pages) {
    // check one page of the cache
    require(page.K.cols() == Q.cols() && page.K.rows() == page.V.rows() &&
                page.V.cols() == d_v, "decode: Q is ", shape(Q),
            ", but a page has K ", shape(page.K), " and V ", shape(page.V));
    for (Index j = 0; j < page.K.rows(); j += piece) {
      const Index n = std::min(piece, page.K.rows() - j);
      if (n > room) pieces.push_back(parts.size()), room = piece;
      parts.push_back({&page, j, n, keys + j});
      room -= n;
    }
    keys += page.K.rows();
  }
  const auto number = std::ssize(pieces);
  pieces.push_back(parts.size());

  // resolve the rule for the whole cache
  const Eigen::OuterStride<> none(0);
  const In<T> K(nullptr, keys, Q.cols(), none), V(nullptr, keys, d_v, none);
  const Out<T> O(nullptr, Q.rows(), d_v, none);
  const FlashHead<T> whole{view_in<T>(Q), K, V, O, nullptr, rule};
  const detail::Plan<T> plan("decode", whole);

  // take the pieces in parallel
  const Index n_q = Q.rows(), block = std::min(rule.key_block, piece);
  Matrix<T> m(number, n_q), l(number, n_q), o(number, n_q * d_v);
  const auto make = [&] {
    return detail::FewWork<T>(n_q, block, Q.cols(), d_v);
  };
  detail::in_parallel(number, make, [&](Index i, auto& work) {
    detail::start_few(work, block, Q.cols(), d_v);
    detail::add_rows(work, plan, whole.Q);
    const auto p = std::size_t(i);
    for (std::size_t k = pieces[p]; k < pieces[p + 1]; ++k)

      // attend to one part of a piece
      {
        const auto& [page, first, n, before] = parts[k];
        detail::attend_few(work, block, detail::some_rows(page->K, first, n),
                           detail::some_rows(page->V, first, n), before);
      }
    detail::join_tiles(work);
    std::copy(work.m.begin(), work.m.end(), m.data() + i * n_q);
    std::copy(work.l.begin(), work.l.end(), l.data() + i * n_q);
    std::copy(work.o.begin(), work.o.end(), o.data() + i * n_q * d_v);
  });

  // merge the pieces of each query
  std::vector<Online<T>> states(std::size_t(Q.rows()),
                                Online<T>::nothing(d_v));
  for (Index i = 0; i < plan.queries; ++i) {
    auto& x = states[std::size_t(i)];
    if (const auto sink = plan.sink(i)) x.m = *sink, x.l = 1;
    for (Index p = 0; p < number; ++p)
      x = merge(x, Online<T>{std::numbers::ln2_v<T> * m(p, i), l(p, i),
                             o.row(p).segment(i * d_v, d_v)});
  }
  return states;
}

// attend with one query
/// State of one query q (d_k numbers) on all pages of a cache; scale
/// defaults to 1/sqrt(d_k).  Throws like decode of several.
template <class T>
Online<T> decode(const RowVector<T>& q, std::span<const Page<T>> pages,
                 std::optional<T> scale = {}) {
  FlashRule<T> rule;
  rule.scale = scale;
  return decode<T>(Matrix<T>(q), pages, rule).front();
}
}  // namespace attn
