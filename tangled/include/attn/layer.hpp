// include/attn/layer.hpp: tangled from chapters/09a-layer.nw; edit that file, not this one.
#pragma once

// include what layers need
#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/block.hpp"
#include "attn/cache.hpp"
#include "attn/flash.hpp"
#include "attn/mask.hpp"
#include "attn/modifiers.hpp"
#include "attn/multihead.hpp"
#include "attn/positions.hpp"
#include "attn/tensor.hpp"
namespace attn {
// hold what a layer is

// say what the heads of a layer learn
/// What heads learn besides their projections (def. layer); empty where
/// absent.  Also the type of its gradient.
template <class S>
struct HeadParts {
  Vector<S> scale{};              // beta: 1 or H; absent: 1/sqrt(d_k)
  Vector<S> sink{};               // H
  Matrix<S> table{};              // tau: H x number of buckets
  std::vector<Matrix<S>> bias{};  // B: 1 or H, over places
  Vector<S> gain_q{}, gain_k{};   // d_k
};
/// f(name, field of p, same field of n...) for each field and bias.
template <class F, class P, class... N>
  requires requires(P p) { p.gain_q; }
void for_each_weight(F&& f, P&& p, N&&... n) {
  f("scale", p.scale, n.scale...);
  f("sink", p.sink, n.sink...);
  f("table", p.table, n.table...);
  f("gain_q", p.gain_q, n.gain_q...);
  f("gain_k", p.gain_k, n.gain_k...);
  for (std::size_t b = 0; b < p.bias.size(); ++b)
    f("bias", p.bias[b], n.bias[b]...);
}

// say what the heads of a layer do not learn
/// What is fixed in a layer's heads (def. layer).  The mask is over
/// places, and may be endless; slopes are 0 or H numbers.
struct HeadRules {
  Mask mask = everything(unlimited, unlimited);
  std::optional<double> softcap{};
  std::vector<double> slopes{};
  Buckets buckets{};       // of the table
  Dropout dropout{};       // head and batch are set for each
  Empty empty = Empty::zero;
  double epsilon = 1e-6;   // of the normalisation
  bool by_definition = false;  // never the kernel
};

// say what a layer is
/// Heads that ask, and heads of keys and values that are asked.
struct HeadCount {
  Index heads, kv_heads;
  Index group() const { return heads / kv_heads; }
};
/// One layer (def. layer): projections, what its heads learn and obey,
/// and the rotation of one head's d_k columns, if there is one.
template <class S>
struct Layer {
  MultiHead<S> weights;
  HeadParts<S> parts{};
  HeadRules rules{};
  std::optional<Rotary<S>> rotary{};
  HeadCount count() const { return {weights.heads, weights.kv_heads}; }
};

// turn all heads of a row
/// Turns each head of each row of X, n x H (2 planes + fixed), in place
/// by R at its position, or back (the vjp; thm. turned), as rotate turns
/// one head.  Throws std::invalid_argument for shapes that do not fit.
template <class S>
void turn_heads(std::type_identity_t<Eigen::Ref<Matrix<S>>> X,
                const Rotary<S>& R, const Places& at, bool back = false) {
  const Index planes = R.theta.size(), d = 2 * planes + R.fixed;
  require(d > 0 && X.cols() % d == 0 && at.size() == X.rows(),
          "turn_heads: X is ", shape(X), ", heads have ", d,
          " columns, and there are ", at.size(), " positions");
  const Rotations<S> t = rotations(R, at);
  for (Index i = 0; i < X.rows(); ++i)
    for (Index h = 0; h < X.cols(); h += d)

      // turn the planes of one head
      for (Index a = 0; a < planes; ++a) {
        const bool near = R.pairs == Pairs::neighbours;
        S& x = X(i, h + (near ? 2 * a : a));
        S& y = X(i, h + (near ? 2 * a + 1 : a + planes));
        const S c = t.cos(i, a), s = back ? S(-t.sin(i, a)) : t.sin(i, a);
        const S turned = s * x + c * y;
        x = c * x - s * y, y = turned;
      }
}

// view the heads of one sequence
/// One sequence: Q n_q x H d_k, K n_k x G d_k, V n_k x G d_v, where to put
/// O, n_q x H d_v, and logZ, H x n_q; the places of the first query and
/// the first key, and the positions if they are not those of the mask.
template <class S>
struct HeadsView {
  In<S> Q, K, V;
  Out<S> O;
  S* logZ;
  Index query0{}, key0{};
  std::optional<Positions> at{};
  std::uint32_t batch{};  // of dropout
  Block places() const {
    return {query0, query0 + Q.rows(), key0, key0 + K.rows()};
  }
};
/// Cotangents of a HeadsView: dO is given, the others are wanted.
template <class S>
struct HeadsCotangent {
  In<S> dO;
  Out<S> dQ, dK, dV;
};

// name the roads of a call
/// How a call is computed: by def. modified; by the kernel with
/// a matrix of pairs; by the kernel alone; by decode, for one query.
enum class Route { definition, pairs, tiles, pages };
namespace detail {
// ask for a part
/// Is a part of a layer there?  An absent one is empty.
template <class V>
bool present(const V& part) { return part.size() != 0; }
/// Of a list of one for all heads, or of one for each, that of head h.
template <class V>
auto& of_head(V& list, Index h) {
  return list[list.size() == 1 ? 0 : h];
}

// normalise all heads of a row
/// Heads of d columns side by side as rows one below the other: a view.
template <class M>
auto heads_as_rows(M& X, Index d) {
  return Eigen::Map<Matrix<typename M::Scalar>>(
      X.data(), X.size() / d, d);
}
/// Normalises the heads of X in place, unless there is no gain.
template <class S>
Normalised<S> normalise_heads(Matrix<S>& X, const Vector<S>& gain,
                              double epsilon) {
  if (!present(gain)) return {};
  auto rows = heads_as_rows(X, gain.size());
  Normalised<S> n = rms_norm(rows, epsilon);
  rows = with_gain(n.x, gain, Vector<S>());
  return n;
}
/// Pulls dX back through normalise_heads, in place; adds to dgain.
template <class S>
void unnormalise_heads(Matrix<S>& dX, const Normalised<S>& n,
                       const Vector<S>& gain, Vector<S>& dgain) {
  if (!present(gain)) return;
  auto rows = heads_as_rows(dX, gain.size());
  const auto g = with_gain_vjp<S>(n.x, gain, Vector<S>(), rows);
  dgain += g.gain;
  rows = norm_vjp(n, g.x);
}

// say what the hull of a mask is
/// Diagonals low <= j - i <= high within the first `queries` rows and
/// `keys` columns.
struct Hull {
  Index queries{}, keys{}, low = unlimited, high = -unlimited;

  // compare a hull with a block
  bool holds(const Block& b) const {
    return b.i1 <= queries && b.j1 <= keys && low <= b.j0 - (b.i1 - 1) &&
           b.j1 - 1 - b.i0 <= high;
  }
  bool meets(const Block& b) const {
    return b.i0 < queries && b.j0 < keys && low <= b.j1 - 1 - b.i0 &&
           b.j0 - (b.i1 - 1) <= high;
  }
};

// quarter a block of pairs
/// The four quarters of a block, some of which may be empty.
inline std::array<Block, 4> quarters(const Block& b) {
  const Index i = std::midpoint(b.i0, b.i1);
  const Index j = std::midpoint(b.j0, b.j1);
  return {{{b.i0, i, b.j0, j}, {b.i0, i, j, b.j1},
           {i, b.i1, b.j0, j}, {i, b.i1, j, b.j1}}};
}

// find the hull of a mask
/// Widens the hull to the allowed pairs of block b.
inline void widen(Hull& hull, const Mask& m, const Block& b) {
  if (b.pairs() == 0 || hull.holds(b)) return;
  const Cover c = m.covers(b);
  if (c == Cover::none) return;
  const bool one = b.pairs() == 1;
  if (c == Cover::all || (one && m.allows(b.i0, b.j0)))

    // let the hull hold a block
    {
      hull.queries = std::max(hull.queries, b.i1);
      hull.keys = std::max(hull.keys, b.j1);
      hull.low = std::min(hull.low, b.j0 - (b.i1 - 1));
      hull.high = std::max(hull.high, b.j1 - 1 - b.i0);
    }
  else if (!one)
    for (const Block& quarter : quarters(b)) widen(hull, m, quarter);
}
/// Does the mask allow all pairs of the hull that lie in block b?
inline bool fills(const Hull& hull, const Mask& m, const Block& b) {
  if (b.pairs() == 0 || !hull.meets(b)) return true;
  const Cover c = m.covers(b);
  if (c != Cover::some) return c == Cover::all;
  if (b.pairs() == 1) return m.allows(b.i0, b.j0);
  for (const Block& quarter : quarters(b))
    if (!fills(hull, m, quarter)) return false;
  return true;
}
/// The hull of all of a mask's pairs; empty at the diagonal 0 if none.
inline Hull hull_of(const Mask& m) {
  Hull hull;
  widen(hull, m, m.whole());
  if (hull.queries == 0) hull.low = hull.high = 0;
  return hull;
}

// find the diagonal of equal positions
/// The diagonal j - i at which positions are equal, if they are runs.
inline std::optional<Index> zero_diagonal(const Mask& m) {
  if (m.whole().pairs() == 0) return 0;
  const Positions& at = m.at();
  if (!(at.q == Places(m.n_q(), at.q[0])) ||
      !(at.k == Places(m.n_k(), at.k[0])))
    return {};
  return -at.offset(0, 0);
}

// plan one call of the heads
/// One sequence's mask, hull and road.
struct CallPlan {
  Mask mask;
  Hull hull{};
  Index offset{};       // of the kernel's window and slope
  bool full = true;     // the mask is its hull
  bool sloped = false;  // slopes are in the kernel's rule
  bool biased = false;  // a matrix of numbers is added
  Route route = Route::definition;
};
/// The rectangle of the layer's mask that belongs to a call.
inline Mask cut_mask(const HeadRules& r, const Block& places,
                     const std::optional<Positions>& at) {
  const Mask m = part(r.mask, places);
  return at ? placed_at(m, *at) : m;
}
/// The scalars of the kernel.
template <class S>
inline constexpr bool in_kernel =
    std::is_same_v<S, float> || std::is_same_v<S, double>;
/// The plan of one call (tab. layer-routes).
template <class S>
CallPlan plan_call(const HeadParts<S>& p, const HeadRules& r,
                   const HeadsView<S>& v) {
  CallPlan c{cut_mask(r, v.places(), v.at)};
  if (!in_kernel<S> || r.by_definition || r.dropout.p > 0 ||
      r.empty == Empty::refuse)
    return c;

  // ask the mask for its hull and the positions for their diagonal
  c.hull = hull_of(c.mask);
  c.full = fills(c.hull, c.mask, c.mask.whole());
  const auto zero = zero_diagonal(c.mask);
  c.offset = std::clamp(zero.value_or(c.hull.low), c.hull.low,
                        c.hull.high);
  c.sloped = present(r.slopes) && zero == c.offset;
  c.biased = present(p.bias) || present(p.table) ||
             (present(r.slopes) && !c.sloped);
  c.route = c.biased || !c.full ? Route::pairs
            : v.Q.rows() == 1   ? Route::pages : Route::tiles;
  return c;
}
}  // namespace detail

// say which road is taken
/// The road that heads_forward and heads_vjp take for a sequence
/// (tab. layer-routes; going back, pages are tiles).
template <class S>
Route route(const HeadParts<S>& parts, const HeadRules& rules,
            const HeadsView<S>& view) {
  return detail::plan_call(parts, rules, view).route;
}

// hold what the heads of a layer do
namespace detail {
// cut a sequence into heads
/// The heads of a sequence.
template <class S>
Heads<S> heads_of(HeadCount H, const HeadsView<S>& v) {
  return {cut(v.Q, H.heads), cut(v.K, H.kv_heads), cut(v.V, H.kv_heads),
          cut(v.O, H.heads)};
}

// write the kernel's rule of one head
/// The number of head h in a list, unless that is absent.
template <class S>
std::optional<S> entry(const Vector<S>& list, Index h) {
  if (!present(list)) return {};
  return of_head(list, h);
}
/// The kernel's rule for head h.
template <class S>
FlashRule<S> rule_of_head(const CallPlan& c, const HeadParts<S>& p,
                          const HeadRules& r, Index h) {
  FlashRule<S> f;
  f.scale = entry(p.scale, h);
  f.sink = entry(p.sink, h);
  if (r.softcap) f.softcap = S(*r.softcap);
  if (c.sloped) f.slope = S(r.slopes[std::size_t(h)]);
  f.queries = c.hull.queries, f.keys = c.hull.keys;
  f.offset = c.offset;
  f.left = c.offset - c.hull.low, f.right = c.hull.high - c.offset;
  return f;
}

// write the bias of one head
/// What is added to head h's scores, but for slopes in the rule.
template <class S>
Matrix<S> bias_of_head(const CallPlan& c, const HeadParts<S>& p,
                       const HeadRules& r, const HeadsView<S>& v, Index h) {
  const auto at = std::size_t(h);
  Matrix<S> B = Matrix<S>::Zero(v.Q.rows(), v.K.rows());
  if (present(p.bias))
    B = of_head(p.bias, h).block(v.query0, v.key0, B.rows(), B.cols());
  for (Index i = 0; i < B.rows(); ++i)
    for (Index j = 0; j < B.cols(); ++j)

      // add what the distance of a pair adds
      {
        const Index t = c.mask.at().offset(i, j);
        if (present(p.table)) B(i, j) += p.table(h, r.buckets(t));
        if (present(r.slopes) && !c.sloped)
          B(i, j) -= S(r.slopes[at]) * S(double(std::abs(t)));
      }
  return B;
}
/// Head h's bias, if that is all that is added, at all its places; or null.
template <class S>
const Matrix<S>* whole_bias(const CallPlan& c, const HeadParts<S>& p,
                            const HeadRules& r, const HeadsView<S>& v,
                            Index h) {
  const bool more = present(p.table) || (present(r.slopes) && !c.sloped);
  if (more || !present(p.bias)) return nullptr;
  const Matrix<S>& B = of_head(p.bias, h);
  const bool all = B.rows() == v.Q.rows() && B.cols() == v.K.rows();
  return all ? &B : nullptr;
}

// gather a wave of heads
/// Heads first .. first + n - 1 of a sequence, together in the kernel.
template <class S>
struct Wave {
  std::vector<Matrix<S>> bias, dbias;
  std::vector<FlashHead<S>> heads;
  std::vector<FlashCotangent<S>> bars;
};
template <class S>
Wave<S> gather_wave(const CallPlan& c, const HeadParts<S>& p,
                    const HeadRules& r, const HeadsView<S>& v, Heads<S>& x,
                    Index first, Index n) {
  Wave<S> w;
  if (c.biased) w.bias.resize(std::size_t(n));
  for (Index h = first; h < first + n; ++h)
    w.heads.push_back(x(h, v.logZ + h * v.Q.rows(),
                        rule_of_head<S>(c, p, r, h)));

  // point the rules of a wave to its matrices
  for (std::size_t k = 0; k < w.bias.size(); ++k) {
    const Index h = first + Index(k);
    const Matrix<S>* whole = whole_bias(c, p, r, v, h);
    if (!whole) w.bias[k] = bias_of_head(c, p, r, v, h);
    w.heads[k].rule.bias = whole ? whole : &w.bias[k];
  }
  return w;
}

// run the kernel forward
/// Attends with all heads of a sequence by the kernel.
template <class S>
void forward_by_kernel(HeadCount H, const CallPlan& c,
                       const HeadParts<S>& p, const HeadRules& r,
                       const HeadsView<S>& v) {
  const Index wave = c.biased ? H.group() : H.heads, n = v.Q.rows();
  Heads<S> x = heads_of(H, v);
  if (x.stacks_pay()) x.stack();

  // write the pairs of a sequence
  Matrix<bool> keep;
  if (!c.full) keep = dense(c.mask);
  for (Index h = 0; h < H.heads; h += wave) {
    Wave<S> w = gather_wave(c, p, r, v, x, h, wave);

    // let a wave see the pairs
    if (!c.full)
      for (auto& head : w.heads) head.rule.keep = &keep;
    flash_forward<S>(w.heads);
  }
  for (Index h = 0; h < p.sink.size(); ++h)
    std::fill(v.logZ + h * n + c.hull.queries, v.logZ + (h + 1) * n,
              p.sink(h));
}

// attend with one query by pages
/// Attends with the one query of a sequence by decode.
template <class S>
void forward_by_pages(HeadCount H, const CallPlan& c,
                      const HeadParts<S>& p, const HeadRules& r,
                      const HeadsView<S>& v) {
  const Index R = H.group(), d = v.K.cols() / H.kv_heads;
  const Index e = v.V.cols() / H.kv_heads;

  // find the keys that one query sees
  const Index from = c.hull.low, to = c.hull.keys;
  const auto rows = [&](const In<S>& m) {
    return In<S>(m.data() + from * m.outerStride(), to - from, m.cols(),
                 Eigen::OuterStride<>(m.outerStride()));
  };

  // read the state of a head
  const auto read = [&](Index h, const Online<S>& y) {
    Out<S>(v.O).row(0).segment(h * e, e) = y.output();
    v.logZ[h] = y.logZ();
  };
  for (Index g = 0; g < H.kv_heads; ++g) {
    const Page<S> page{rows(head_of(v.K, g, d)), rows(head_of(v.V, g, e))};
      Matrix<S> Q = Eigen::Map<const Matrix<S>>(v.Q.data() + g * R * d, R, d);

    // write the rule of a group's one query
    FlashRule<S> rule;
    rule.share = R;
    if (present(p.scale)) {
      rule.scale = S(1);
      for (Index k = 0; k < R; ++k) Q.row(k) *= *entry(p.scale, g * R + k);
    }
    if (r.softcap) rule.softcap = S(*r.softcap);
    const std::vector<S> slopes(r.slopes.begin(), r.slopes.end());
    const auto at = std::size_t(g * R), n = std::size_t(R);
    if (c.sloped) rule.slopes = std::span<const S>(slopes).subspan(at, n);
    if (present(p.sink)) rule.sinks = {p.sink.data() + at, n};
    rule.offset = c.offset - from;
    const auto states = decode<S>(Q, {&page, 1}, rule);
    for (Index k = 0; k < R; ++k) read(g * R + k, states[std::size_t(k)]);
  }
}

// show the bias of one head
/// The bias of head h at the places of a sequence; empty if there is none.
template <class S>
GivenRows<S> bias_given(const HeadParts<S>& p, const HeadsView<S>& v,
                        Index h) {
  if (!present(p.bias)) return {};
  return of_head(p.bias, h).block(v.query0, v.key0, v.Q.rows(),
                                  v.K.rows());
}

// write one head as a variant
/// Head h of a sequence as modified attention, which looks at its rows.
template <class S>
std::pair<VariantParts<S, GivenRows<S>>, VariantRules> variant_of_head(
    HeadCount H, const CallPlan& c, const HeadParts<S>& p,
    const HeadRules& r, const HeadsView<S>& v, Index h) {
  const Index d = v.K.cols() / H.kv_heads, e = v.V.cols() / H.kv_heads;
  const Index g = h / H.group();
  VariantParts<S, GivenRows<S>> x{
      .Q = head_of(v.Q, h, d), .K = head_of(v.K, g, d),
      .V = head_of(v.V, g, e), .bias = bias_given(p, v, h)};

  // give a variant the numbers of its head
  const auto number = [](const S& s) {
    return Matrix<S>::Constant(1, 1, s);
  };
  if (present(p.scale)) x.scale = number(*entry(p.scale, h));
  if (present(p.sink)) x.sink = number(p.sink(h));
  if (present(p.table)) x.table = p.table.row(h);
  if (present(r.slopes)) x.slope = number(S(r.slopes[std::size_t(h)]));

  // give a variant the rules of its head
  VariantRules rules{c.mask};
  rules.softcap = r.softcap, rules.buckets = r.buckets;
  rules.dropout = r.dropout, rules.empty = r.empty;
  rules.dropout.head = decltype(rules.dropout.head)(h);
  rules.dropout.batch += v.batch;
  return {std::move(x), std::move(rules)};
}

// run the definition forward
/// Attends with all heads of a sequence by the definition.
template <class S>
void forward_by_definition(HeadCount H, const CallPlan& c,
                           const HeadParts<S>& p, const HeadRules& r,
                           const HeadsView<S>& v) {
  const Index e = v.V.cols() / H.kv_heads, n = v.Q.rows();
  for (Index h = 0; h < H.heads; ++h) {
    const auto [x, rules] = variant_of_head(H, c, p, r, v, h);
    const auto f = variant_forward(x, rules);
    Out<S>(head_of(v.O, h, e)) = f.O;
    for (Index i = 0; i < n; ++i) v.logZ[h * n + i] = f.logZ(i);
  }
}

// scale the queries of a sequence
/// The queries of a sequence times their heads' scales.
template <class S>
Matrix<S> scaled_queries(HeadCount H, const HeadParts<S>& p,
                         const HeadsView<S>& v) {
  Matrix<S> Q = v.Q;
  const Index d = Q.cols() / H.heads;
  for (Index h = 0; h < H.heads; ++h)
    Q.middleCols(h * d, d) *= *entry(p.scale, h);
  return Q;
}

// add the cotangent of a bias
/// Adds the cotangent B of head h's bias to bias and table.
template <class S>
void add_bias_cotangent(const CallPlan& c, const HeadRules& r,
                        const HeadsView<S>& v, Index h, const Matrix<S>& B,
                        HeadParts<S>& sum) {
  if (present(sum.bias))
    of_head(sum.bias, h).block(v.query0, v.key0, B.rows(), B.cols()) += B;
  if (!present(sum.table)) return;
  for (Index i = 0; i < B.rows(); ++i)
    for (Index j = 0; j < B.cols(); ++j)
      sum.table(h, r.buckets(c.mask.at().offset(i, j))) += B(i, j);
}

// run the kernel backward
/// Takes all heads of a sequence back by the kernel; adds to sum.
template <class S>
void backward_by_kernel(HeadCount H, const CallPlan& c,
                        const HeadParts<S>& p, const HeadRules& r,
                        HeadsView<S> v, const HeadsCotangent<S>& bar,
                        HeadParts<S>& sum) {
  // put the scales into the queries
  const In<S> Q = v.Q;
  Matrix<S> scaled;
  if (present(p.scale)) {
    scaled = scaled_queries(H, p, v);
    new (&v.Q) In<S>(view_in<S>(scaled));
  }

  // write the pairs of a sequence
  Matrix<bool> keep;
  if (!c.full) keep = dense(c.mask);
  Heads<S> x = heads_of(H, v);

  // cut the cotangents of a sequence
  HeadBars<S> y{cut(bar.dO, H.heads), cut(bar.dQ, H.heads),
                cut(bar.dK, H.kv_heads), cut(bar.dV, H.kv_heads)};
  if (x.stacks_pay()) y.stack(x);
  const Index wave = c.biased ? H.group() : H.heads;
  for (Index h = 0; h < H.heads; h += wave)

    // take a wave of heads back
    {
      Wave<S> w = gather_wave(c, p, r, v, x, h, wave);

      // let a wave see the pairs
      if (!c.full)
        for (auto& head : w.heads) head.rule.keep = &keep;
      if (present(p.scale))
        for (auto& head : w.heads) head.rule.scale = S(1);
      w.dbias.resize(w.bias.size());
      for (Index k = 0; k < wave; ++k) {
        w.bars.push_back(y(h + k));
        if (c.biased) w.bars.back().dbias = &w.dbias[std::size_t(k)];
      }

      // collect what the kernel found for a wave
      Vector<S> sinks = Vector<S>::Zero(wave);
      for (Index k = 0; k < wave; ++k)
        w.bars[std::size_t(k)].dsink = &sinks(k);
      flash_backward<S>(w.heads, w.bars, H.group());
      if (present(p.sink)) sum.sink.segment(h, wave) += sinks;
      for (std::size_t k = 0; k < w.dbias.size(); ++k)
        add_bias_cotangent(c, r, v, h + Index(k), w.dbias[k], sum);
    }
  y.put_back();
  if (present(p.scale))

    // give the scales their cotangents
    for (Index h = 0; h < H.heads; ++h) {
      const Index d = Q.cols() / H.heads;
      Out<S> dQ = head_of(bar.dQ, h, d);
      of_head(sum.scale, h) += head_of(Q, h, d).cwiseProduct(dQ).sum();
      dQ *= *entry(p.scale, h);
    }
}

// run the definition backward
/// Takes all heads of a sequence back by the definition; adds to sum.
template <class S>
void backward_by_definition(HeadCount H, const CallPlan& c,
                            const HeadParts<S>& p, const HeadRules& r,
                            const HeadsView<S>& v,
                            const HeadsCotangent<S>& bar,
                            HeadParts<S>& sum) {
  const Index d = v.K.cols() / H.kv_heads, e = v.V.cols() / H.kv_heads;
  Out<S>(bar.dK).setZero(), Out<S>(bar.dV).setZero();
  for (Index h = 0; h < H.heads; ++h) {
    // take one variant back
    const auto [x, rules] = variant_of_head(H, c, p, r, v, h);
    const auto g = variant_vjp(x, rules, variant_forward(x, rules),
                               head_of(bar.dO, h, e));
    head_of(bar.dQ, h, d) = g.Q;
    head_of(bar.dK, h / H.group(), d) += g.K;
    head_of(bar.dV, h / H.group(), e) += g.V;

    // add the numbers of one head's gradient
    if (present(p.scale)) of_head(sum.scale, h) += g.scale(0, 0);
    if (present(p.sink)) sum.sink(h) += g.sink(0, 0);
    if (present(p.table)) sum.table.row(h) += g.table;
    if (present(p.bias))
      of_head(sum.bias, h).block(v.query0, v.key0, v.Q.rows(),
                                 v.K.rows()) += g.bias;
  }
}

// refuse heads that do not fit
/// Throws unless parts, rules and the views of a sequence fit H heads.
template <class S>
void require_heads_fit(const char* who, HeadCount H, const HeadParts<S>& p,
                       const HeadRules& r, const HeadsView<S>& v) {
  const Index heads = H.heads, kv = H.kv_heads;
  require(heads >= 1 && kv >= 1 && heads % kv == 0, who, ": ", heads,
          " heads on ", kv, " of keys");

  // refuse rows that do not divide among the heads
  require(v.Q.cols() % heads == 0 && v.K.cols() % kv == 0 &&
              v.Q.cols() / heads == v.K.cols() / kv &&
              v.V.cols() % kv == 0 && v.K.rows() == v.V.rows(),
          who, ": Q is ", shape(v.Q), ", K is ", shape(v.K), ", V is ",
          shape(v.V), " for ", heads, " heads on ", kv);
  require(v.O.rows() == v.Q.rows() &&
              v.O.cols() == v.V.cols() / kv * heads &&
              (v.logZ || v.O.rows() == 0),
          who, ": O is ", shape(v.O), ", expected ", v.Q.rows(), "x",
          v.V.cols() / kv * heads);

  // refuse numbers of heads that do not fit
  const auto fits = [&](const char* name, Index have, Index want) {
    require(have == 0 || have == want, who, ": ", name, " has ", have,
            " entries, expected ", want);
  };
  fits("scale", p.scale.size(), p.scale.size() == 1 ? 1 : heads);
  fits("sink", p.sink.size(), heads);
  fits("slopes", std::ssize(r.slopes), heads);
  fits("bias", std::ssize(p.bias), p.bias.size() == 1 ? 1 : heads);
  require(!present(p.table) || (p.table.rows() == heads &&
                                p.table.cols() == r.buckets.size()),
          who, ": table is ", shape(p.table), ", expected ", heads, "x",
          r.buckets.size());

  // refuse numbers that mean nothing
  require_domain(!r.softcap ||
                     (*r.softcap > 0 && std::isfinite(*r.softcap)),
                 who, ": softcap must be positive and finite");
  if constexpr (in_kernel<S>)
    require_domain(p.sink.allFinite() && p.scale.allFinite(), who,
                   ": sinks and scales must be finite");
  for (const double slope : r.slopes)
    require_domain(std::isfinite(slope), who, ": slopes must be finite");
  require_domain(0 <= r.dropout.p && r.dropout.p < 1, who, ": dropout ",
                 r.dropout.p, " is not in [0, 1)");

  // refuse a bias that does not cover the places
  const Block b = v.places();
  for (const Matrix<S>& B : p.bias)
    require(b.i1 <= B.rows() && b.j1 <= B.cols(), who, ": bias is ",
            shape(B), ", but the places go to ", b.i1, "x", b.j1);
  require(b.i1 <= r.mask.n_q() && b.j1 <= r.mask.n_k(), who, ": mask is ",
          r.mask.n_q(), "x", r.mask.n_k(), ", but the places go to ", b.i1,
          "x", b.j1);
  require(!v.at || (v.at->q.size() == v.Q.rows() &&
                    v.at->k.size() == v.K.rows()),
          who, ": positions of ", v.at ? v.at->q.size() : 0, " queries and ",
          v.at ? v.at->k.size() : 0, " keys for ", v.Q.rows(), " and ",
          v.K.rows());
}

// refuse cotangents of other heads
/// Throws unless the cotangents have the shapes of their sequence, and
/// sum that of p.
template <class S>
void require_cotangents_fit(const HeadParts<S>& p, const HeadsView<S>& v,
                            const HeadsCotangent<S>& bar,
                            const HeadParts<S>& sum) {
  const auto fits = [](const char* name, const auto& a, const auto& b) {
    require(a.rows() == b.rows() && a.cols() == b.cols(), "heads_vjp: ",
            name, " is ", shape(a), ", expected ", shape(b));
  };
  fits("dO", bar.dO, v.O), fits("dQ", bar.dQ, v.Q);
  fits("dK", bar.dK, v.K), fits("dV", bar.dV, v.V);
  require(sum.bias.size() == p.bias.size(), "heads_vjp: sum has ",
          sum.bias.size(), " biases, expected ", p.bias.size());
  for_each_weight([&](const char* name, const auto& a, const auto& b) {
    fits(("sum." + std::string(name)).c_str(), a, b);
  }, sum, p);
}
}  // namespace detail

// attend with heads
/// Attention of heads side by side, for each sequence (def. layer, eqs.
/// layer-score and layer-weights), by the road that route names.  Throws
/// std::invalid_argument for shapes, std::domain_error for values.
template <class S>
void heads_forward(HeadCount H, const HeadParts<S>& p, const HeadRules& r,
                   std::span<const HeadsView<S>> views) {
  for (const HeadsView<S>& v : views) {
    detail::require_heads_fit("heads_forward", H, p, r, v);

    // take one sequence forward by its road
    const detail::CallPlan c = detail::plan_call(p, r, v);
    if (c.route == Route::definition) {
      detail::forward_by_definition(H, c, p, r, v);
    } else if constexpr (detail::in_kernel<S>) {
      if (c.route == Route::pages)
        detail::forward_by_pages(H, c, p, r, v);
      else
        detail::forward_by_kernel(H, c, p, r, v);
    }
  }
}

// pull back through heads
/// Cotangents of what heads_forward read, given its O and logZ in the
/// views; what heads learn is added to sum, shaped like p (thm.
/// layer-vjp).  Throws as heads_forward.
template <class S>
void heads_vjp(HeadCount H, const HeadParts<S>& p, const HeadRules& r,
               std::span<const HeadsView<S>> views,
               std::span<const HeadsCotangent<S>> bars,
               HeadParts<S>& sum) {
  require(views.size() == bars.size(), "heads_vjp: ", views.size(),
          " sequences, ", bars.size(), " cotangents");
  for (std::size_t b = 0; b < views.size(); ++b) {
    detail::require_heads_fit("heads_vjp", H, p, r, views[b]);
    detail::require_cotangents_fit(p, views[b], bars[b], sum);

    // take one sequence back by its road
    const detail::CallPlan c = detail::plan_call(p, r, views[b]);
    if (c.route == Route::definition)
      detail::backward_by_definition(H, c, p, r, views[b], bars[b], sum);
    else if constexpr (detail::in_kernel<S>)
      detail::backward_by_kernel(H, c, p, r, views[b], bars[b], sum);
  }
}

// hold the layer itself

// say what a batch is
/// Sequences one below the other: their lengths (empty: one sequence; no
/// keys: those of the queries), and their positions (empty: the mask's).
struct Sequences {
  std::vector<Index> queries{}, keys{};
  std::vector<Positions> at{};
};
namespace detail {
/// Rows q .. q + n - 1 and k .. k + m - 1 belong to one sequence.
struct Span {
  Index q, n, k, m;
  std::optional<Positions> at;
};
/// The spans of a batch.  Throws std::invalid_argument unless the lengths
/// add up to the rows.
inline std::vector<Span> spans_of(const char* who, const Sequences& s,
                                  Index queries, Index keys) {
  // fill in the lengths that are not given
  const std::vector<Index> n =
      s.queries.empty() ? std::vector<Index>{queries} : s.queries;
  const std::vector<Index> m = !s.keys.empty()      ? s.keys
                               : s.queries.empty() ? std::vector{keys} : n;
  require(n.size() == m.size() && (s.at.empty() || s.at.size() == n.size()),
          who, ": ", n.size(), " lengths of queries, ", m.size(),
          " of keys, ", s.at.size(), " lists of positions");

  // lay the sequences out
  std::vector<Span> spans;
  Index q = 0, k = 0;
  for (std::size_t b = 0; b < n.size(); ++b) {
    require(n[b] >= 0 && m[b] >= 0, who, ": a negative length");
    spans.push_back({q, n[b], k, m[b], {}});
    if (!s.at.empty()) spans.back().at = s.at[b];
    q += n[b], k += m[b];
  }
  require(q == queries && k == keys, who, ": lengths add up to ", q, " and ",
          k, ", but there are ", queries, " rows of X and ", keys, " of C");
  return spans;
}
}  // namespace detail

// keep what a layer computed
/// What layer_forward computed: Q, K, V as the heads saw them, heads side
/// by side; their O, and logZ, sequence by sequence H x n_q; Y.
template <class S>
struct LayerTrace {
  Matrix<S> Q, K, V, O;
  Vector<S> logZ;
  Matrix<S> Y;
  Normalised<S> norm_q{}, norm_k{};
};

// say what a layer's gradient is
/// Gradient of a layer; for self-attention X has all paths, C is empty.
template <class S>
struct LayerGradient {
  MultiHead<S> weights;
  HeadParts<S> parts;
  Matrix<S> X, C;
};
namespace detail {
// prepare the rows of a layer
/// The positions of a sequence's rows.
template <class S>
Positions positions_of(const Layer<S>& L, const Block& places,
                       const std::optional<Positions>& at) {
  return cut_mask(L.rules, places, at).at();
}
/// Q, K and V of X and C, normalised but not turned.
template <class S>
LayerTrace<S> prepare(const Layer<S>& L, const Input<S>& X,
                      const Input<S>& C) {
  const MultiHead<S>& w = L.weights;
  LayerTrace<S> t;
  t.Q = project<S>(X, w.W_Q, w.b_Q).mat();
  t.K = project<S>(C, w.W_K, w.b_K).mat();
  t.V = project<S>(C, w.W_V, w.b_V).mat();
  t.norm_q = normalise_heads(t.Q, L.parts.gain_q, L.rules.epsilon);
  t.norm_k = normalise_heads(t.K, L.parts.gain_k, L.rules.epsilon);
  t.O.resize(X.rows(), w.W_O.rows());
  t.logZ.resize(w.heads * X.rows());
  return t;
}
/// Turns the queries and keys of each sequence, or back.
template <class S>
void turn(const Layer<S>& L, const std::vector<Span>& spans, Matrix<S>& Q,
          Matrix<S>& K, bool back = false) {
  if (!L.rotary) return;
  for (const Span& s : spans) {
    const Positions at = positions_of(L, {0, s.n, 0, s.m}, s.at);
    turn_heads<S>(Q.middleRows(s.q, s.n), *L.rotary, at.q, back);
    turn_heads<S>(K.middleRows(s.k, s.m), *L.rotary, at.k, back);
  }
}

// view the sequences of a trace
/// The sequences of a trace as the heads see them.
template <class S>
std::vector<HeadsView<S>> views_of(const Layer<S>& L,
                                   const LayerTrace<S>& t,
                                   const std::vector<Span>& spans) {
  const auto rows = [](const Matrix<S>& m, Index first, Index n) {
    return In<S>(m.data() + first * m.cols(), n, m.cols(),
                 Eigen::OuterStride<>(m.cols()));
  };
  std::vector<HeadsView<S>> views;
  for (const Span& s : spans)

    // view one sequence of a trace
    {
      S* O = const_cast<S*>(t.O.data()) + s.q * t.O.cols();
      S* logZ = const_cast<S*>(t.logZ.data()) + s.q * L.weights.heads;
      views.push_back({rows(t.Q, s.q, s.n), rows(t.K, s.k, s.m),
                       rows(t.V, s.k, s.m),
                       Out<S>(O, s.n, t.O.cols(),
                              Eigen::OuterStride<>(t.O.cols())),
                       logZ, 0, 0, s.at, std::uint32_t(views.size())});
    }
  return views;
}

// refuse a layer that does not fit
/// The spans of a batch; throws unless the layer, its inputs and the
/// lengths fit each other.
template <class S>
std::vector<Span> require_layer(const char* who, const Layer<S>& L,
                                const Input<S>& X, const Input<S>& C,
                                const Sequences& s) {
  require_multihead<S>(who, L.weights, X, C, Matrix<S>());
  const Index d = L.weights.d_k();

  // refuse gains and rotations of other columns
  for (const auto* gain : {&L.parts.gain_q, &L.parts.gain_k})
    require(!present(*gain) || gain->size() == d, who,
            ": a gain has ", gain->size(), " entries, expected ", d);
  require(!L.rotary || 2 * L.rotary->theta.size() + L.rotary->fixed == d,
          who, ": rotary turns ", L.rotary ? L.rotary->theta.size() : 0,
          " planes and leaves ", L.rotary ? L.rotary->fixed : 0,
          " columns of ", d);
  require_domain(L.rules.epsilon > 0, who, ": epsilon must be positive");
  return spans_of(who, s, X.rows(), C.rows());
}

// refuse a foreign trace of a layer
/// Throws unless the trace belongs to these inputs and dY fits Y.
template <class S>
void require_trace(const Layer<S>& L, const Input<S>& X,
                   const Input<S>& C, const LayerTrace<S>& t,
                   const Input<S>& dY) {
  const MultiHead<S>& w = L.weights;
  require(t.Q.rows() == X.rows() && t.Q.cols() == w.W_Q.cols() &&
              t.K.rows() == C.rows() && t.K.cols() == w.W_K.cols() &&
              t.V.rows() == C.rows() && t.V.cols() == w.W_V.cols() &&
              t.logZ.size() == w.heads * X.rows() &&
              t.O.rows() == X.rows() && t.O.cols() == w.W_O.rows(),
          "layer_vjp: the trace has Q ", shape(t.Q), ", K ", shape(t.K),
          ", V ", shape(t.V), ", not of this layer and input");
  require(dY.rows() == X.rows() && dY.cols() == w.W_O.cols(),
          "layer_vjp: dY is ", shape(dY), ", expected ", X.rows(), "x",
          w.W_O.cols());
}

// view the cotangents of a trace
/// The cotangents of each sequence: dO is read, those in bar are written.
template <class S>
std::vector<HeadsCotangent<S>> cotangents_of(
    const Matrix<S>& dO, LayerTrace<S>& bar,
    const std::vector<Span>& spans) {
  const auto rows = [](auto& m, Index first, Index n) {
    using M = std::remove_reference_t<decltype(m)>;
    using V = std::conditional_t<std::is_const_v<M>, In<S>, Out<S>>;
    return V(m.data() + first * m.cols(), n, m.cols(),
             Eigen::OuterStride<>(m.cols()));
  };
  std::vector<HeadsCotangent<S>> bars;
  for (const Span& s : spans)
    bars.push_back({rows(dO, s.q, s.n), rows(bar.Q, s.q, s.n),
                    rows(bar.K, s.k, s.m), rows(bar.V, s.k, s.m)});
  return bars;
}

// pull back through the rows of a layer
/// From the cotangents of Q, K and V to those of weights and inputs.
template <class S>
void pull_back(const Layer<S>& L, const Input<S>& X,
               const Input<S>& C, const LayerTrace<S>& t,
               const std::vector<Span>& spans, LayerTrace<S>& bar,
               LayerGradient<S>& g) {
  const MultiHead<S>& w = L.weights;
  turn(L, spans, bar.Q, bar.K, true);
  unnormalise_heads(bar.Q, t.norm_q, L.parts.gain_q, g.parts.gain_q);
  unnormalise_heads(bar.K, t.norm_k, L.parts.gain_k, g.parts.gain_k);

  // pull back through three projections
  auto q = project_vjp<S>(X, w.W_Q, w.b_Q, view<dn, dn>(bar.Q));
  auto k = project_vjp<S>(C, w.W_K, w.b_K, view<dn, dn>(bar.K));
  auto v = project_vjp<S>(C, w.W_V, w.b_V, view<dn, dn>(bar.V));
  g.X = q.X.mat();
  g.C = (k.X + v.X).mat();
  g.weights.W_Q = std::move(q.W), g.weights.b_Q = std::move(q.b);
  g.weights.W_K = std::move(k.W), g.weights.b_K = std::move(k.b);
  g.weights.W_V = std::move(v.W), g.weights.b_V = std::move(v.b);
}

// find what later queries need
/// The first of the places first .. end that a query at a place >= end
/// may see, as far as the mask can tell.
inline Index first_needed(const Mask& m, Index first, Index end) {
  Index low = first, high = end;  // keys before low are not needed
  while (low < high) {
    const Index mid = std::midpoint(high, low);  // never low
    const bool empty =
        m.covers({end, m.n_q(), first, mid}) == Cover::none;
    if (empty) low = mid;
    else high = mid - 1;
  }
  return low;
}

// refuse caches that do not fit
/// Throws unless there is a cache of the right width for each sequence,
/// which has a key for each new row and lacks none that they may see.
template <class S>
void require_caches(const Layer<S>& L, const std::vector<Span>& spans,
                    std::span<KeyValueCache<S>> caches) {
  require(caches.size() == spans.size(), "decode: ", caches.size(),
          " caches for ", spans.size(), " sequences");
  const Index dk = L.weights.W_K.cols(), dv = L.weights.W_V.cols();
  for (std::size_t b = 0; b < spans.size(); ++b) {
    const KeyValueCache<S>& c = caches[b];
    require(spans[b].n == spans[b].m, "decode: sequence ", b, " has ",
            spans[b].n, " new queries and ", spans[b].m, " new keys");
    require(c.keys().cols() == dk && c.values().cols() == dv,
            "decode: cache ", b, " has ", c.keys().cols(), " and ",
            c.values().cols(), " columns, expected ", dk, " and ", dv);

    // refuse a cache that has forgotten too much
    const Mask& m = L.rules.mask;
    const Index end = c.end() + spans[b].n;
    require(end <= m.n_q() && end <= m.n_k(), "decode: place ", end,
            " of a mask ", m.n_q(), "x", m.n_k());
    require(count(m, {c.end(), end, 0, c.first()}) == 0, "decode: ",
            "keys before place ", c.first(), " of sequence ", b,
            " are allowed, but were forgotten");
  }
}
/// Throws unless heads_forward will take a chunk behind its cache.
template <class S>
void require_chunk(const Layer<S>& L, const HeadsView<S>& v,
                   const KeyValueCache<S>& c) {
  const Index n = c.end() - c.first() + v.Q.rows();
  const auto longer = [n](const In<S>& m) {
    return In<S>(m.data(), n, m.cols(),
                 Eigen::OuterStride<>(m.outerStride()));
  };
  require_heads_fit<S>("decode", L.count(), L.parts, L.rules,
                       {v.Q, longer(v.K), longer(v.V), v.O, v.logZ,
                        c.end(), c.first(), v.at});
}
}  // namespace detail

// run a layer forward
/// A layer (def. layer) on X and a context C, which gives keys and
/// values; rows of all sequences, n x D.  Throws std::invalid_argument
/// for shapes, std::domain_error for values.
template <class S>
LayerTrace<S> layer_forward(const Layer<S>& L, const Input<S>& X,
                            const Input<S>& C, const Sequences& s = {}) {
  const auto spans = detail::require_layer("layer_forward", L, X, C, s);
  LayerTrace<S> t = detail::prepare<S>(L, X, C);
  detail::turn(L, spans, t.Q, t.K);
  heads_forward<S>(L.count(), L.parts, L.rules,
                   detail::views_of(L, t, spans));
  t.Y = project<S>(t.O, L.weights.W_O, L.weights.b_O).mat();
  return t;
}
/// The same for self-attention: C = X.
template <class S>
LayerTrace<S> layer_forward(const Layer<S>& L, const Input<S>& X,
                            const Sequences& s = {}) {
  return layer_forward(L, X, X, s);
}
/// The Y of layer_forward alone; arguments and errors are its.
template <class S>
Matrix<S> attend(const Layer<S>& L, const Input<S>& X, const Input<S>& C,
                 const Sequences& s = {}) {
  return layer_forward(L, X, C, s).Y;
}
/// The same for self-attention.
template <class S>
Matrix<S> attend(const Layer<S>& L, const Input<S>& X,
                 const Sequences& s = {}) {
  return layer_forward(L, X, X, s).Y;
}

// pull back through a layer
/// Gradient of <dY, Y> for t = layer_forward(L, X, C, s) (thm.
/// layer-vjp).  Throws std::invalid_argument for shapes that do not fit.
template <class S>
LayerGradient<S> layer_vjp(const Layer<S>& L, const Input<S>& X,
                           const Input<S>& C, const LayerTrace<S>& t,
                           const Input<S>& dY, const Sequences& s = {}) {
  const auto spans = detail::require_layer("layer_vjp", L, X, C, s);
  detail::require_trace(L, X, C, t, dY);
  LayerGradient<S> g{{}, zeros_like(L.parts), {}, {}};
  g.weights.heads = L.weights.heads;
  g.weights.kv_heads = L.weights.kv_heads;
  LayerTrace<S> bar;  // of Q, K, V

  // pull back through output and heads
  auto out = project_vjp<S>(t.O, L.weights.W_O, L.weights.b_O,
                            view<dn, dn>(dY));
  g.weights.W_O = std::move(out.W), g.weights.b_O = std::move(out.b);
  const Matrix<S> dO = out.X.mat();
  bar.Q.resizeLike(t.Q), bar.K.resizeLike(t.K), bar.V.resizeLike(t.V);
  const auto bars = detail::cotangents_of(dO, bar, spans);
  heads_vjp<S>(L.count(), L.parts, L.rules, detail::views_of(L, t, spans),
               bars, g.parts);
  detail::pull_back<S>(L, X, C, t, spans, bar, g);
  return g;
}
/// The same for self-attention: X receives all paths.
template <class S>
LayerGradient<S> layer_vjp(const Layer<S>& L, const Input<S>& X,
                           const LayerTrace<S>& t, const Input<S>& dY,
                           const Sequences& s = {}) {
  LayerGradient<S> g = layer_vjp(L, X, X, t, dY, s);
  g.X += g.C;
  g.C = {};
  return g;
}

// start the cache of a layer
/// A cache without rows for a layer: keys (normalised, turned) and values
/// of all heads side by side.
template <class S>
KeyValueCache<S> empty_cache(const Layer<S>& L) {
  return KeyValueCache<S>(L.weights.W_K.cols(), L.weights.W_V.cols());
}

// decode with a layer
/// Appends the rows of X, sequence by sequence, to their caches, and
/// returns their Y (thm. layer-prefix); keys that the mask shows to no
/// later place are forgotten.  s.queries are the numbers of new rows,
/// s.at the positions of new queries and of all keys then in the cache.
/// Throws std::invalid_argument and std::domain_error, before any cache
/// is changed unless for an empty row that shall be refused.
template <class S>
Matrix<S> decode(const Layer<S>& L, const Input<S>& X,
                 std::span<KeyValueCache<S>> caches, const Sequences& s) {
  const auto spans = detail::require_layer("decode", L, X, X, s);
  detail::require_caches(L, spans, caches);
  LayerTrace<S> t = detail::prepare<S>(L, X, X);
  std::vector<HeadsView<S>> views = detail::views_of(L, t, spans);
  for (std::size_t b = 0; b < spans.size(); ++b)
    detail::require_chunk(L, views[b], caches[b]);
  for (std::size_t b = 0; b < spans.size(); ++b)

    // append a chunk and look at its cache
    {
      const detail::Span& c = spans[b];
      KeyValueCache<S>& cache = caches[b];
      const Block places{cache.end(), cache.end() + c.n, cache.first(),
                         cache.end() + c.n};

      // turn a chunk at its places
      if (L.rotary) {
        const Positions at = detail::positions_of(L, places, c.at);
        const Index m = at.k.size();
        turn_heads<S>(t.Q.middleRows(c.q, c.n), *L.rotary, at.q);
        turn_heads<S>(t.K.middleRows(c.q, c.n), *L.rotary,
                      at.k.part(m - c.n, m));
      }
      cache.append(t.K.middleRows(c.q, c.n), t.V.middleRows(c.q, c.n));
      const auto look = [](const auto& m) {
        return In<S>(m.data(), m.rows(), m.cols(),
                     Eigen::OuterStride<>(m.outerStride()));
      };
      new (&views[b].K) In<S>(look(cache.keys()));
      new (&views[b].V) In<S>(look(cache.values()));
      views[b].query0 = places.i0, views[b].key0 = places.j0;
    }
  heads_forward<S>(L.count(), L.parts, L.rules, views);

  // let the caches forget
  for (auto& cache : caches)
    cache.forget_before(
        detail::first_needed(L.rules.mask, cache.first(), cache.end()));
  return project<S>(t.O, L.weights.W_O, L.weights.b_O).mat();
}
/// The same for one sequence.
template <class S>
Matrix<S> decode(const Layer<S>& L, const Input<S>& X,
                 KeyValueCache<S>& cache) {
  return decode<S>(L, X, std::span<KeyValueCache<S>>(&cache, 1), {});
}
}  // namespace attn
