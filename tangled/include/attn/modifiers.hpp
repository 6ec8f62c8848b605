// include/attn/modifiers.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once

// include what the modifiers need
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "attn/backward.hpp"
#include "attn/input.hpp"
#include "attn/mask.hpp"
#include "attn/quad.hpp"
#include "attn/softmax.hpp"

namespace attn {
// sort distances into buckets
/// Classes of offsets: `count` of them, the last one from distance `far`
/// on; with `both` half of them are for keys to the right (positive
/// offsets), otherwise those are in class 0.  A copy shares its table.
/// Throws std::invalid_argument.  Source: Raffel 2020.
class Buckets {
 public:
  Buckets() : Buckets(usual()) {}  // T5's: 32 classes, far from 128 on
  explicit Buckets(bool both, Index count = 32, Index far = 128);
  Index operator()(Index offset) const;
  Index size() const { return std::ssize(*first) * (sided ? 2 : 1); }

 private:
  static const Buckets& usual();
  bool sided;
  std::shared_ptr<const std::vector<Index>> first;  // least distances
};
inline Index Buckets::operator()(Index offset) const {
  const Index n = sided ? std::abs(offset) : std::max<Index>(-offset, 0);
  const auto at = std::upper_bound(first->begin(), first->end(), n);
  return (at - first->begin() - 1) +
         (sided && offset > 0 ? std::ssize(*first) : 0);
}
inline Buckets::Buckets(bool both, Index count, Index far) : sided(both) {
  const Index classes = both ? count / 2 : count, E = classes / 2;
  require(E >= 1 && (!both || count % 2 == 0) && far > E,
          "Buckets: count ", count, ", far ", far);
  std::vector<Index> least;
  for (Index n = 0; n < E; ++n) least.push_back(n);

  // find the first distances of the wider classes
  const quad ratio = quad(double(far)) / quad(double(E));
  for (Index k = 0; k < classes - E; ++k) {
    const quad power = quad(double(k)) / quad(double(classes - E));
    const quad edge = quad(double(E)) * pow(ratio, power);
    least.push_back(Index(to_double(ceil(edge - quad(1e-25)))));
  }
  first = std::make_shared<const std::vector<Index>>(std::move(least));
}
inline const Buckets& Buckets::usual() {
  static const Buckets t5(true, 32, 128);
  return t5;
}

// generate random bits from a counter
/// Four words of 32 bits: a counter, or the random bits made of it.
using Philox = std::array<std::uint32_t, 4>;

/// Philox-4x32-10: random bits for a counter and a key (Salmon 2011).
inline Philox philox(Philox c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(0xD2511F53) * c[0];
    const std::uint64_t b = std::uint64_t(0xCD9E8D57) * c[2];
    c = {std::uint32_t(b >> 32) ^ c[1] ^ key[0], std::uint32_t(b),
         std::uint32_t(a >> 32) ^ c[3] ^ key[1], std::uint32_t(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}
/// Which weights are dropped: probability p in [0, 1), seed, and whose
/// weights they are.
struct Dropout {
  double p = 0;
  std::uint64_t seed = 0;
  std::uint16_t head = 0, layer = 0;
  std::uint32_t batch = 0;

  // decide whether a weight is kept
  /// Is the weight of a query and a key at these positions (modulo 2^32)
  /// kept?
  bool keeps(Index query, Index key) const {
    const std::uint32_t whose = head + (std::uint32_t(layer) << 16);
    const Philox bits =
        philox({std::uint32_t(query), std::uint32_t(key), whose, batch},
               {std::uint32_t(seed), std::uint32_t(seed >> 32)});
    return double(bits[0]) >= std::ldexp(p, 32);
  }
};

// say what a variant is made of
/// Everything modified attention reads that has a gradient (def.
/// modified); 0 x 0 where absent.  Also the type of that gradient.  With
/// GivenRows<S> for Rows what grows with positions is read where it lies.
template <class S, class Rows = Matrix<S>>
struct VariantParts {
  Rows Q, K, V;                    // n_q x d, n_k x d, n_k x d_v
  Matrix<S> scale{}, u{}, w{};     // 1 x 1; 1 x d
  Matrix<S> rel_keys{};            // R: (2 reach + 1) x d
  Matrix<S> rel_values{};          // R': (2 reach + 1) x d_v
  Rows bias{};                     // n_q or 1 rows, n_k or 1 columns
  Matrix<S> table{};               // 1 x number of buckets
  Matrix<S> slope{}, sink{};       // 1 x 1
};
/// Calls f(name, field of each argument) for every field.
template <class F, class... P>
void each_part(F f, P&... p) {
  f("Q", p.Q...), f("K", p.K...), f("V", p.V...);
  f("scale", p.scale...), f("u", p.u...), f("w", p.w...);
  f("rel_keys", p.rel_keys...), f("rel_values", p.rel_values...);
  f("bias", p.bias...), f("table", p.table...);
  f("slope", p.slope...), f("sink", p.sink...);
}
/// A query without a key: its row is zero, or is refused.
enum class Empty { zero, refuse };

/// The rules of modified attention (def. modified).  Positions are those
/// of the mask.
struct VariantRules {
  Mask mask;
  std::optional<double> softcap = {};
  Buckets buckets = {};
  Dropout dropout = {};
  Empty empty = Empty::zero;
  /// t_ij = p_j - p_i.
  Index offset(Index i, Index j) const { return mask.at().offset(i, j); }
};
namespace detail {
// prepare scores and weights of a variant

// pick and add up by offset
/// Row of a table of 2 reach + 1 that belongs to offset t, clipped.
inline Index offset_row(Index t, Index rows) {
  const Index reach = (rows - 1) / 2;
  return std::clamp(t, -reach, reach) + reach;
}
/// Y(i, j) += P(i, row of the offset of i and j) for the pairs of b.
template <class S>
void gather(const Matrix<S>& P, const VariantRules& r, const Block& b,
            Matrix<S>& Y) {
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index j = 0; j < Y.cols(); ++j)
      Y(i, j) += P(i, offset_row(r.offset(b.i0 + i, b.j0 + j), P.cols()));
}
/// The transpose of gather: one column for each of `rows` offsets, sums
/// over the keys at this offset.
template <class S>
Matrix<S> scatter(const Matrix<S>& Y, const VariantRules& r, const Block& b,
                  Index rows) {
  Matrix<S> P = Matrix<S>::Zero(Y.rows(), rows);
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index j = 0; j < Y.cols(); ++j)
      P(i, offset_row(r.offset(b.i0 + i, b.j0 + j), rows)) += Y(i, j);
  return P;
}

// score a block of pairs
/// The rows Q, plus one vector if there is one.
template <class S, class R>
GivenRows<S> displaced(const R& Q, const Matrix<S>& u) {
  if (u.size() == 0) return Q;
  return Q.rowwise() + u.row(0);
}
/// P of eq. mod-raw for the pairs of a block, forbidden or not.
template <class S, class R>
Matrix<S> products(const VariantParts<S, R>& x, const VariantRules& r,
                   const Block& b) {
  const auto Q = x.Q.middleRows(b.i0, b.i1 - b.i0);
  const auto K = x.K.middleRows(b.j0, b.j1 - b.j0);
  Matrix<S> P = eq<"P^{ij} = Q^{ia} K^j{}_a">(  // eq:variant-content
      view<up, up>(displaced(Q, x.u)), view<up, dn>(K)).mat();

  // add the products with the table of offsets
  if (x.rel_keys.size() > 0)
    gather<S>(eq<"P^{ir} = Q^{ia} R^r{}_a">(  // eq:variant-offset
        view<up, up>(displaced(Q, x.w)), view<up, dn>(x.rel_keys)).mat(),
        r, b, P);
  return P;
}
/// c_0: the given scale, or 1/sqrt(d).
template <class S, class R>
S scale_of(const VariantParts<S, R>& x) {
  using std::sqrt;
  return x.scale.size() > 0 ? x.scale(0, 0)
                            : S(S(1) / sqrt(S(double(x.K.cols()))));
}

// modify one score
/// The entry of a bias that may have one row or one column only.
template <class B>
decltype(auto) bias_at(B& bias, Index i, Index j) {
  return bias(bias.rows() == 1 ? 0 : i, bias.cols() == 1 ? 0 : j);
}
/// Is the pair forbidden by a bias or by the table of buckets?
template <class S, class R>
bool barred(const VariantParts<S, R>& x, const VariantRules& r, Index i,
            Index j) {
  return (x.bias.size() > 0 && is_forbidden(bias_at(x.bias, i, j))) ||
         (x.table.size() > 0 &&
          is_forbidden(x.table(0, r.buckets(r.offset(i, j)))));
}
/// S^ij from X^ij (eq. mod-score), for a pair that is not forbidden.
template <class S, class R>
S modify(S X, const VariantParts<S, R>& x, const VariantRules& r, Index i,
         Index j) {
  using std::tanh;
  const Index t = r.offset(i, j);
  if (r.softcap) X = S(*r.softcap) * tanh(S(X / S(*r.softcap)));
  if (x.bias.size() > 0) X += bias_at(x.bias, i, j);
  if (x.table.size() > 0) X += x.table(0, r.buckets(t));
  if (x.slope.size() > 0) X -= x.slope(0, 0) * S(double(std::abs(t)));
  return X;
}
/// Scores of a block, -inf where forbidden; c is the mask's cover of it.
template <class S, class R>
Matrix<S> modified(const Matrix<S>& P, const VariantParts<S, R>& x,
                   const VariantRules& r, const Block& b, Cover c) {
  const S never(-std::numeric_limits<double>::infinity());
  const S c0 = scale_of(x);
  Matrix<S> s = Matrix<S>::Constant(P.rows(), P.cols(), never);
  for (Index i = 0; i < P.rows(); ++i)
    for (Index j = 0; j < P.cols(); ++j) {
      const Index p = b.i0 + i, q = b.j0 + j;
      if ((c == Cover::all || r.mask.allows(p, q)) && !barred(x, r, p, q))
        s(i, j) = modify(S(P(i, j) * c0), x, r, p, q);
    }
  return s;
}

// demand a variant that fits
/// Throws unless the parts fit the mask and each other; who is for errors.
template <class S, class R>
void require_variant(const char* who, const VariantParts<S, R>& x,
                     const VariantRules& r) {
  const Index n = r.mask.n_q(), m = r.mask.n_k(), d = x.K.cols();
  require(x.Q.rows() == n && x.K.rows() == m, who, ": the mask is for ", n,
          " queries and ", m, " keys, but Q is ", shape(x.Q), " and K ",
          shape(x.K));
  require(d > 0 || x.scale.size() > 0, who, ": K has no columns and there ",
          "is no scale");

  // demand parts that fit
  const auto demand = [&](const char* name, const auto& a, Index rows,
                          Index cols, bool optional = true) {
    require((optional && a.size() == 0) ||
                (a.rows() == rows && a.cols() == cols),
            who, ": ", name, " is ", shape(a), ", expected ", rows, "x", cols);
  };
  demand("Q", x.Q, n, d, false), demand("V", x.V, m, x.V.cols(), false);
  demand("u", x.u, 1, d), demand("w", x.w, 1, d);
  demand("rel_keys", x.rel_keys, x.rel_keys.rows() | 1, d);
  demand("rel_values", x.rel_values, x.rel_values.rows() | 1, x.V.cols());
  demand("table", x.table, 1, r.buckets.size());
  demand("scale", x.scale, 1, 1), demand("slope", x.slope, 1, 1);
  demand("sink", x.sink, 1, 1);
  demand("bias", x.bias, x.bias.rows() == 1 ? 1 : n,
         x.bias.cols() == 1 ? 1 : m);

  // demand rules within their range
  require_domain(!r.softcap || (*r.softcap > 0 && *r.softcap < HUGE_VAL), who,
                 ": softcap must be positive");
  require_domain(0 <= r.dropout.p && r.dropout.p < 1, who, ": dropout ",
                 r.dropout.p, " is not in [0, 1)");
}

// sum over the offsets that are seen
/// 0 where query i sees a key at the offset of row k, -inf elsewhere.
template <class S>
Matrix<S> offsets_seen(const Matrix<S>& scores, const VariantRules& r,
                       const Block& b, Index rows) {
  Matrix<S> seen = Matrix<S>::Constant(
      scores.rows(), rows, S(-std::numeric_limits<double>::infinity()));
  for (Index i = 0; i < scores.rows(); ++i)
    for (Index j = 0; j < scores.cols(); ++j)
      if (!is_forbidden(scores(i, j)))
        seen(i, offset_row(r.offset(b.i0 + i, b.j0 + j), rows)) = S(0);
  return seen;
}
/// W R for weights W of offsets, n_q x rows, and a table R of vectors:
/// no row is read at an offset that is not seen.
template <class S>
Matrix<S> sum_offsets(const Matrix<S>& scores, const Matrix<S>& W,
                      const Matrix<S>& R, const VariantRules& r,
                      const Block& b) {
  if (spoilt_rows(R).empty()) return times(W, R);
  return sum_seen(offsets_seen(scores, r, b, R.rows()), W, R,
                  [&](const Matrix<S>& Y) { return times(W, Y); });
}
/// W^T Y for weights W of offsets: row k collects from the queries that
/// see a key at its offset.
template <class S, class R>
Matrix<S> rows_of_table(const Matrix<S>& scores, const Matrix<S>& W,
                        const R& Y, const VariantRules& r) {
  if (spoilt_rows(Y).empty()) return times(W.transpose(), Y);
  const auto seen = offsets_seen(scores, r, r.mask.whole(), W.cols());
  return sum_seen(seen.transpose(), W.transpose(), Y,
                  [&](const auto& y) {
                    return times(W.transpose(), y);
                  });
}

// weigh keys beside a sink
/// Weights and log Z of scores with the sink as a last column.
template <class S>
Weights<S> weigh_with_sink(const Matrix<S>& scores, const Matrix<S>& sink) {
  Matrix<S> E(scores.rows(), scores.cols() + 1);
  E.leftCols(scores.cols()) = scores;
  E.rightCols(1).setConstant(
      sink.size() > 0 ? sink(0, 0)
                      : S(-std::numeric_limits<double>::infinity()));
  Weights<S> w = weigh(E);
  keep_zeros(E, w.A);
  return w;
}
/// Throws std::domain_error for a row whose Z is zero, if the rules refuse
/// such rows; first is the number by which the message calls row 0.
template <class S>
void require_keys(const char* who, const VariantRules& r,
                  const Vector<S>& logZ, Index first) {
  if (r.empty == Empty::zero) return;
  for (Index i = 0; i < logZ.size(); ++i)
    require_domain(!is_forbidden(logZ(i)), who, ": query ", first + i,
                   " has no key and no sink");
}

// drop weights by their positions
/// Weights after dropout; the block says where A begins.
template <class S>
Matrix<S> dropped(Matrix<S> A, const VariantRules& r, const Block& b) {
  if (r.dropout.p == 0) return A;
  const Positions& at = r.mask.at();
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j)
      A(i, j) = r.dropout.keeps(at.q[b.i0 + i], at.k[b.j0 + j])
                    ? S(A(i, j) / S(1 - r.dropout.p)) : S(0);
  return A;
}

// differentiate the cap
/// s / cosh(X/c)^2, the cotangent before the cap from that after it.
template <class S>
S uncapped(const S& s, const S& X, double c) {
  using std::cosh;
  const S y = cosh(S(X / S(c)));
  return s / y / y;
}
}  // namespace detail

// run a variant forward
/// Modified attention: O n_q x d_v, log Z n_q; products P and scores
/// n_q x n_k; weights n_q x (n_k + 1), the sink's in the last column (0
/// without a sink); D the weights after dropout, n_q x n_k.
template <class S>
struct VariantForward {
  Matrix<S> O, P, scores, A, D;
  Vector<S> logZ;
};
/// Modified attention (def. modified).  What a query may not see it does
/// not read (prop. variant-unseen).  Throws std::invalid_argument for
/// shapes that do not fit, std::domain_error for p or a cap out of range
/// and, if the rules say so, for an empty row.
template <class S, class R = Matrix<S>>
VariantForward<S> variant_forward(const VariantParts<S, R>& x,
                                  const VariantRules& r) {
  detail::require_variant("variant_forward", x, r);
  const Block all = r.mask.whole();
  VariantForward<S> f;
  f.P = detail::products(x, r, all);
  f.scores = detail::modified(f.P, x, r, all, Cover::some);
  auto [A, logZ] = detail::weigh_with_sink(f.scores, x.sink);
  f.A = std::move(A), f.logZ = std::move(logZ);
  detail::require_keys("variant_forward", r, f.logZ, 0);

  // sum up the values of a variant
  f.D = detail::dropped<S>(f.A.leftCols(r.mask.n_k()), r, all);
  f.O = detail::sum_seen(f.scores, f.D, x.V, [&](const auto& V) {
    return Matrix<S>(eq<"O^{ic} = A^i{}_j V^{jc}">(
        view<up, dn>(f.D), view<up, up>(V)).mat());
  });
  if (const Index rows = x.rel_values.rows(); rows > 0)
    f.O += detail::sum_offsets(f.scores,
                               detail::scatter(f.D, r, all, rows),
                               x.rel_values, r, all);
  return f;
}

// run a variant in tiles
/// What tiles compute, and for how many pairs they formed a score.
template <class S>
struct TiledVariant {
  Matrix<S> O;
  Vector<S> logZ;
  Index pairs = 0;
};
/// variant_forward's O and log Z, skipping wholly masked square tiles.
/// Throws as variant_forward, std::invalid_argument unless tile >= 1.
template <class S, class R = Matrix<S>>
TiledVariant<S> variant_in_tiles(const VariantParts<S, R>& x,
                                 const VariantRules& r, Index tile) {
  detail::require_variant("variant_in_tiles", x, r);
  require(tile >= 1, "variant_in_tiles: tile ", tile);
  const Index n = r.mask.n_q(), m = r.mask.n_k();
  TiledVariant<S> t{Matrix<S>::Zero(n, x.V.cols()), Vector<S>(n)};
  for (Index i = 0; i < n; i += tile) {
    const Block rows{i, std::min(i + tile, n), 0, m};
    const Index h = rows.i1 - rows.i0;

    // score one row of tiles
    Matrix<S> s = Matrix<S>::Constant(
        h, m, S(-std::numeric_limits<double>::infinity()));
    each_tile(r.mask, rows, tile, [&](const Block& b, Cover c) {
      s.middleCols(b.j0, b.j1 - b.j0) =
          detail::modified(detail::products(x, r, b), x, r, b, c);
      t.pairs += b.pairs();
    });
    const Weights<S> row = detail::weigh_with_sink(s, x.sink);
    t.logZ.segment(i, h) = row.logZ;
    detail::require_keys("variant_in_tiles", r, row.logZ, i);

    // sum up the values of one row of tiles
    const Matrix<S> D = detail::dropped<S>(row.A.leftCols(m), r, rows);
    Matrix<S> O = detail::sum_seen(s, D, x.V, [&](const auto& V) {
      Matrix<S> sum = Matrix<S>::Zero(h, V.cols());
      each_tile(r.mask, rows, tile, [&](const Block& b, Cover) {
        add_times(sum, D.middleCols(b.j0, b.j1 - b.j0),
                  V.middleRows(b.j0, b.j1 - b.j0));
      });
      return sum;
    });
    if (const Index k = x.rel_values.rows(); k > 0)
      O += detail::sum_offsets(s, detail::scatter(D, r, rows, k),
                               x.rel_values, r, rows);
    t.O.middleRows(i, h) = O;
  }
  return t;
}

// pull back through a variant
/// Gradient of <dO, O> + <dlogZ, log Z> with respect to all parts (thm.
/// variant-vjp) for the forward pass f of the same x and r; dlogZ may be
/// empty.  Any expressions will do.  Throws std::invalid_argument.
template <class S, class R = Matrix<S>>
VariantParts<S> variant_vjp(
    const VariantParts<S, R>& x, const VariantRules& r,
    const VariantForward<S>& f, const Input<S>& dO,
    const std::type_identity_t<Vector<S>>& dlogZ = {}) {
  // refuse what does not belong to the forward pass
  detail::require_variant("variant_vjp", x, r);
  const Index n = r.mask.n_q(), m = r.mask.n_k();
  require(dO.rows() == f.O.rows() && dO.cols() == f.O.cols() &&
              (dlogZ.size() == 0 || dlogZ.size() == f.O.rows()),
          "variant_vjp: dO is ", shape(dO), " and dlogZ has ", dlogZ.size(),
          " entries but O is ", shape(f.O));
  require(f.scores.rows() == n && f.scores.cols() == m &&
              f.P.rows() == n && f.P.cols() == m && f.O.rows() == n &&
              f.O.cols() == x.V.cols() && f.A.rows() == n &&
              f.A.cols() == m + 1 && f.D.rows() == n && f.D.cols() == m,
          "variant_vjp: the forward pass has scores ", shape(f.scores),
          " and O ", shape(f.O), ", not of these inputs");
  const Block all = r.mask.whole();
  VariantParts<S> g{Matrix<S>(), Matrix<S>(), Matrix<S>()};
  each_part([](auto, const auto& a, auto& b) {
    b = Matrix<S>::Zero(a.rows(), a.cols());
  }, x, g);

  // pull back to the scores of a variant
  const auto seen_by = f.scores.transpose();
  g.V = detail::sum_seen(seen_by, f.D.transpose(), dO,
                         [&](const auto& Y) {
                           return detail::value_cotangent(f.D, Y);
                         });
  Matrix<S> dA = Matrix<S>::Zero(n, m + 1);
  dA.leftCols(m) = detail::weight_cotangent(dO, x.V);

  // pull back through relative values
  if (const Index rows = x.rel_values.rows(); rows > 0) {
    Matrix<S> extra = Matrix<S>::Zero(n, m);
    detail::gather<S>(times(dO, x.rel_values.transpose()), r, all, extra);
    dA.leftCols(m) += extra;
    g.rel_values = detail::rows_of_table<S>(
        f.scores, detail::scatter(f.D, r, all, rows), dO, r);
  }
  dA.leftCols(m) = detail::dropped<S>(dA.leftCols(m), r, all);
  Matrix<S> lowered = fisher_lower(f.A, dA);

  // add the cotangent of the free energy
  for (Index i = 0; i < dlogZ.size(); ++i)
    for (Index j = 0; j <= m; ++j)
      if (!(f.A(i, j) == S(0))) lowered(i, j) += dlogZ(i) * f.A(i, j);
  if (x.sink.size() > 0) g.sink(0, 0) = lowered.col(m).sum();
  Matrix<S> dS = lowered.leftCols(m);
  detail::keep_zeros(f.scores, dS);

  // pull back to the tables of a variant
  Matrix<S> dP = Matrix<S>::Zero(n, m);
  const S scale = detail::scale_of(x);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      if (is_forbidden(f.scores(i, j))) continue;
      const S& s = dS(i, j);

      // add one score's share to the tables
      const Index t = r.offset(i, j);
      if (x.bias.size() > 0) detail::bias_at(g.bias, i, j) += s;
      if (x.table.size() > 0) g.table(0, r.buckets(t)) += s;
      if (x.slope.size() > 0) g.slope(0, 0) -= s * S(double(std::abs(t)));
      const S dX = r.softcap ? detail::uncapped(s, S(f.P(i, j) * scale),
                                                *r.softcap) : s;
      if (x.scale.size() > 0) g.scale(0, 0) += dX * f.P(i, j);
      dP(i, j) = dX * scale;
    }

  // pull back to the vectors of a variant
  g.Q = detail::sum_seen(f.scores, dP, x.K, [&](const auto& K) {
    return detail::query_cotangent(dP, K);
  });
  if (x.u.size() > 0) g.u = g.Q.colwise().sum();
  g.K = detail::sum_seen(seen_by, dP.transpose(),
                         detail::displaced(x.Q, x.u), [&](const auto& Q) {
                           return detail::key_cotangent(dP, Q);
                         });
  if (const Index rows = x.rel_keys.rows(); rows > 0) {
    const Matrix<S> W = detail::scatter(dP, r, all, rows);
    g.rel_keys = detail::rows_of_table<S>(
        f.scores, W, detail::displaced(x.Q, x.w), r);
    const Matrix<S> dQw =
        detail::sum_offsets(f.scores, W, x.rel_keys, r, all);
    g.Q += dQw;
    if (x.w.size() > 0) g.w = dQw.colwise().sum();
  }
  return g;
}
}  // namespace attn
