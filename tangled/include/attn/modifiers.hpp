// include/attn/modifiers.hpp: tangled from chapters/06-variants.nw; edit that file, not this one.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "attn/backward.hpp"
#include "attn/mask.hpp"
#include "attn/quad.hpp"
#include "attn/softmax.hpp"

namespace attn {
// sort distances into buckets
/// Classes of offsets: `count` of them, the last one from distance `far`
/// on; with `both` half of them are for keys to the right (positive
/// offsets), otherwise those are in class 0.  Source: Raffel 2020.
class Buckets {
 public:
  Buckets(bool both = true, Index count = 32, Index far = 128);
  Index operator()(Index offset) const {
    const Index n = sided ? std::abs(offset) : std::max<Index>(-offset, 0);
    const auto at = std::upper_bound(first.begin(), first.end(), n);
    return (at - first.begin() - 1) +
           (sided && offset > 0 ? std::ssize(first) : 0);
  }
  Index size() const { return std::ssize(first) * (sided ? 2 : 1); }

 private:
  bool sided;
  std::vector<Index> first;  // the least distance of each class
};
inline Buckets::Buckets(bool both, Index count, Index far) : sided(both) {
  const Index classes = both ? count / 2 : count, E = classes / 2;
  require(E >= 1 && (!both || count % 2 == 0) && far > E,
          "Buckets: count ", count, ", far ", far);
  for (Index n = 0; n < E; ++n) first.push_back(n);
  for (Index k = 0; k < classes - E; ++k) {
    const quad power = quad(double(k)) / quad(double(classes - E));
    const quad edge = quad(double(E)) *
                      pow(quad(double(far)) / quad(double(E)), power);
    first.push_back(Index(to_double(ceil(edge - quad(1e-25)))));
  }
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
/// Which weights are dropped: probability p in [0, 1), seed, head.
struct Dropout {
  double p = 0;
  std::uint64_t seed = 0;
  std::uint32_t head = 0;
  /// Is the weight of the pair at positions i, j kept?
  bool keeps(Index i, Index j) const {
    const Philox bits =
        philox({std::uint32_t(i), std::uint32_t(j), head, 0},
               {std::uint32_t(seed), std::uint32_t(seed >> 32)});
    return double(bits[0]) >= std::ldexp(p, 32);
  }
};

// say what a variant is made of
/// Everything modified attention reads that has a gradient (def.
/// modified); 0 x 0 where absent.  Also the type of that gradient.
template <class S>
struct VariantParts {
  Matrix<S> Q, K, V;               // n_q x d, n_k x d, n_k x d_v
  Matrix<S> scale{}, u{}, w{};     // 1 x 1; 1 x d
  Matrix<S> rel_keys{};            // R: (2 reach + 1) x d
  Matrix<S> rel_values{};          // R': (2 reach + 1) x d_v
  Matrix<S> bias{};                // n_q or 1 rows, n_k or 1 columns
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

/// The rules of modified attention (def. modified).  By default the last
/// query stands at the last key.
struct VariantRules {
  Mask mask;
  std::optional<double> softcap = {};
  Buckets buckets = {};
  Dropout dropout = {};
  Index query0 = mask.n_k - mask.n_q, key0 = 0;
  Empty empty = Empty::zero;
  /// p_j - p_i.
  Index offset(Index i, Index j) const {
    return (key0 + j) - (query0 + i);
  }
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
/// The transpose of gather: n_q x rows, sums over keys of equal offset.
template <class S>
Matrix<S> scatter(const Matrix<S>& Y, const VariantRules& r, Index rows) {
  Matrix<S> P = Matrix<S>::Zero(Y.rows(), rows);
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index j = 0; j < Y.cols(); ++j)
      P(i, offset_row(r.offset(i, j), rows)) += Y(i, j);
  return P;
}

// score a block of pairs
/// Rows of Q plus one vector, if there is one.
template <class S>
Matrix<S> displaced(Matrix<S> Q, const Matrix<S>& u) {
  if (u.size() > 0) Q.rowwise() += u.row(0);
  return Q;
}
/// c_0: the given scale, or 1/sqrt(d).
template <class S>
S scale_of(const VariantParts<S>& x) {
  using std::sqrt;
  return x.scale.size() > 0 ? x.scale(0, 0)
                            : S(S(1) / sqrt(S(double(x.K.cols()))));
}
/// X of eq. mod-raw for the pairs of a block, masked or not.
template <class S>
Matrix<S> raw_scores(const VariantParts<S>& x, const VariantRules& r,
                     const Block& b) {
  const Matrix<S> Q = x.Q.middleRows(b.i0, b.i1 - b.i0);
  const Matrix<S> K = x.K.middleRows(b.j0, b.j1 - b.j0);
  const Matrix<S> Qu = displaced(Q, x.u), Qw = displaced(Q, x.w);
  Matrix<S> X = eq<"X^{ij} = Q^{ia} K^j{}_a">(  // eq:variant-content
      view<up, up>(Qu), view<up, dn>(K)).mat();
  if (x.rel_keys.size() > 0)
    gather<S>(eq<"P^{ir} = Q^{ia} R^r{}_a">(  // eq:variant-offset
        view<up, up>(Qw), view<up, dn>(x.rel_keys)).mat(), r, b, X);
  X *= scale_of(x);
  return X;
}

// modify one score
/// The entry of a bias that may have one row or one column only.
template <class S>
S& bias_at(Matrix<S>& B, Index i, Index j) {
  return B(B.rows() == 1 ? 0 : i, B.cols() == 1 ? 0 : j);
}
template <class S>
const S& bias_at(const Matrix<S>& B, Index i, Index j) {
  return B(B.rows() == 1 ? 0 : i, B.cols() == 1 ? 0 : j);
}
/// S^ij from X^ij (eq. mod-score), for an allowed pair.
template <class S>
S modify(S X, const VariantParts<S>& x, const VariantRules& r, Index i,
         Index j) {
  using std::tanh;
  const Index t = r.offset(i, j);
  if (r.softcap) X = S(*r.softcap) * tanh(S(X / S(*r.softcap)));
  if (x.bias.size() > 0) X += bias_at(x.bias, i, j);
  if (x.table.size() > 0) X += x.table(0, r.buckets(t));
  if (x.slope.size() > 0) X -= x.slope(0, 0) * S(double(std::abs(t)));
  return X;
}
/// Scores of a block, -inf where masked; c is the mask's cover of it.
template <class S>
Matrix<S> modified(Matrix<S> X, const VariantParts<S>& x,
                   const VariantRules& r, const Block& b, Cover c) {
  const S never(-std::numeric_limits<double>::infinity());
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < X.cols(); ++j) {
      const bool in = c == Cover::all || r.mask.allows(b.i0 + i, b.j0 + j);
      X(i, j) = in ? modify(X(i, j), x, r, b.i0 + i, b.j0 + j) : never;
    }
  return X;
}

// demand a variant that fits
/// Throws unless the parts fit the mask and each other; who is for errors.
template <class S>
void require_variant(const char* who, const VariantParts<S>& x,
                     const VariantRules& r) {
  const auto demand = [&](const char* name, const Matrix<S>& m, Index n,
                          Index d, bool optional) {
    require((optional && m.size() == 0) || (m.rows() == n && m.cols() == d),
            who, ": ", name, " is ", shape(m), ", expected ", n, "x", d);
  };
  const Index d = x.K.cols();
  require(d > 0 || x.scale.size() > 0, who, ": K has no columns and there ",
          "is no scale");
  demand("Q", x.Q, r.mask.n_q, d, false);
  demand("K", x.K, r.mask.n_k, d, false);
  demand("V", x.V, r.mask.n_k, x.V.cols(), false);
  demand("u", x.u, 1, d, true);
  demand("w", x.w, 1, d, true);

  // demand tables that fit
  demand("rel_keys", x.rel_keys, x.rel_keys.rows() | 1, d, true);
  demand("rel_values", x.rel_values, x.rel_values.rows() | 1, x.V.cols(),
         true);
  demand("table", x.table, 1, r.buckets.size(), true);
  demand("scale", x.scale, 1, 1, true);
  demand("slope", x.slope, 1, 1, true);
  demand("sink", x.sink, 1, 1, true);
  demand("bias", x.bias, x.bias.rows() == 1 ? 1 : r.mask.n_q,
         x.bias.cols() == 1 ? 1 : r.mask.n_k, true);
  require_domain(!r.softcap || (*r.softcap > 0 && *r.softcap < HUGE_VAL), who,
                 ": softcap must be positive");
  require_domain(0 <= r.dropout.p && r.dropout.p < 1, who, ": dropout ",
                 r.dropout.p, " is not in [0, 1)");
}

// sum over allowed pairs
/// sum_j W_ij V_jc over allowed pairs; nothing else of V is read.
template <class S>
Matrix<S> sum_allowed(const Matrix<S>& W, const Matrix<S>& V,
                      const Mask& m) {
  const auto finite = [](const S& v) { return v - v == S(0); };
  if (std::all_of(V.data(), V.data() + V.size(), finite))
    return eq<"O^{ic} = A^i{}_j V^{jc}">(view<up, dn>(W),
                                         view<up, up>(V)).mat();
  Matrix<S> O = Matrix<S>::Zero(W.rows(), V.cols());
  for (Index i = 0; i < W.rows(); ++i)
    for (Index j = 0; j < W.cols(); ++j)
      if (m.allows(i, j)) O.row(i) += W(i, j) * V.row(j);
  return O;
}

// weigh keys, refuse rows, drop weights
/// Weights and log Z of scores with the sink as a last column.
template <class S>
Weights<S> weigh_with_sink(const Matrix<S>& scores, const Matrix<S>& sink) {
  Matrix<S> E(scores.rows(), scores.cols() + 1);
  E.leftCols(scores.cols()) = scores;
  E.rightCols(1).setConstant(
      sink.size() > 0 ? sink(0, 0)
                      : S(-std::numeric_limits<double>::infinity()));
  return weigh(E);
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
/// Weights after dropout; the block says where A begins.
template <class S>
Matrix<S> dropped(Matrix<S> A, const VariantRules& r, const Block& b) {
  if (r.dropout.p == 0) return A;
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j)
      A(i, j) = r.dropout.keeps(r.query0 + b.i0 + i, r.key0 + b.j0 + j)
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
/// Modified attention: O n_q x d_v, log Z n_q; X n_q x n_k; weights
/// n_q x (n_k + 1), the sink's in the last column (0 without a sink);
/// D the weights after dropout, n_q x n_k.
template <class S>
struct VariantForward {
  Matrix<S> O, X, A, D;
  Vector<S> logZ;
};
/// Modified attention (def. modified).  Throws std::invalid_argument for
/// shapes that do not fit, std::domain_error for p or a cap out of range
/// and, if the rules say so, for an empty row.
template <class S>
VariantForward<S> variant_forward(const VariantParts<S>& x,
                                  const VariantRules& r) {
  detail::require_variant("variant_forward", x, r);
  const Block all = r.mask.whole();
  VariantForward<S> f;
  f.X = detail::raw_scores(x, r, all);
  const Matrix<S> scores =
      detail::modified(f.X, x, r, all, Cover::some);
  auto [A, logZ] = detail::weigh_with_sink(scores, x.sink);
  f.A = std::move(A), f.logZ = std::move(logZ);
  detail::require_keys("variant_forward", r, f.logZ, 0);
  f.D = detail::dropped<S>(f.A.leftCols(r.mask.n_k), r, all);
  f.O = detail::sum_allowed(f.D, x.V, r.mask);
  if (x.rel_values.size() > 0)
    f.O += Matrix<S>(detail::scatter(f.D, r, x.rel_values.rows()) *
                     x.rel_values);
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
template <class S>
TiledVariant<S> variant_in_tiles(const VariantParts<S>& x,
                                 const VariantRules& r, Index tile) {
  detail::require_variant("variant_in_tiles", x, r);
  require(tile >= 1, "variant_in_tiles: tile ", tile);
  const Index n = r.mask.n_q, m = r.mask.n_k;
  TiledVariant<S> t{Matrix<S>::Zero(n, x.V.cols()), Vector<S>(n)};
  for (Index i = 0; i < n; i += tile) {
    const Block rows{i, std::min(i + tile, n), 0, m};

    // compute one row of tiles
    const Index h = rows.i1 - rows.i0;
    Matrix<S> s = Matrix<S>::Constant(
        h, m, S(-std::numeric_limits<double>::infinity()));
    each_tile(r.mask, rows, tile, [&](const Block& b, Cover c) {
      s.middleCols(b.j0, b.j1 - b.j0) =
          detail::modified(detail::raw_scores(x, r, b), x, r, b, c);
      t.pairs += b.pairs();
    });
    const Weights<S> row = detail::weigh_with_sink(s, x.sink);
    t.logZ.segment(i, h) = row.logZ;
    detail::require_keys("variant_in_tiles", r, row.logZ, i);
    each_tile(r.mask, rows, tile, [&](const Block& b, Cover) {
      const Index w = b.j1 - b.j0;
      const Matrix<S> D = detail::dropped<S>(row.A.middleCols(b.j0, w), r, b);
      t.O.middleRows(i, h) += detail::sum_allowed<S>(
          D, x.V.middleRows(b.j0, w), part(r.mask, b));

      // add a tile's relative values
      if (x.rel_values.size() > 0) {
        VariantRules here = r;
        here.query0 += b.i0, here.key0 += b.j0;
        t.O.middleRows(i, h) +=
            Matrix<S>(detail::scatter(D, here, x.rel_values.rows()) *
                      x.rel_values);
      }
    });
  }
  return t;
}

// pull back through a variant
/// Gradient of <dO, O> + <dlogZ, log Z> with respect to all parts (thm.
/// variant-vjp); dlogZ may be empty; a given scale of zero has NaN for its
/// own gradient.  Throws std::invalid_argument.
template <class S>
VariantParts<S> variant_vjp(const VariantParts<S>& x, const VariantRules& r,
                            const VariantForward<S>& f, const Matrix<S>& dO,
                            const Vector<S>& dlogZ = {}) {
  require(dO.rows() == f.O.rows() && dO.cols() == f.O.cols() &&
              (dlogZ.size() == 0 || dlogZ.size() == f.O.rows()),
          "variant_vjp: dO is ", shape(dO), " and dlogZ has ", dlogZ.size(),
          " entries but O is ", shape(f.O));

  // refuse a foreign forward pass
  detail::require_variant("variant_vjp", x, r);
  require(f.X.rows() == r.mask.n_q && f.X.cols() == r.mask.n_k &&
              f.O.rows() == r.mask.n_q && f.O.cols() == x.V.cols(),
          "variant_vjp: the forward pass has scores ", shape(f.X), " and O ",
          shape(f.O), ", not of these inputs");
  VariantParts<S> g{Matrix<S>(), Matrix<S>(), Matrix<S>()};
  each_part([](auto, const auto& a, auto& b) {
    b = Matrix<S>::Zero(a.rows(), a.cols());
  }, x, g);

  // pull back to the scores of a variant
  const Index n = r.mask.n_q, m = r.mask.n_k;
  Matrix<S> dA = Matrix<S>::Zero(n, m + 1);
  dA.leftCols(m) = dO * x.V.transpose();
  if (x.rel_values.size() > 0) {
    Matrix<S> extra = Matrix<S>::Zero(n, m);
    detail::gather<S>(dO * x.rel_values.transpose(), r, r.mask.whole(),
                      extra);
    dA.leftCols(m) += extra;
    g.rel_values =
        detail::scatter(f.D, r, x.rel_values.rows()).transpose() * dO;
  }
  g.V = detail::sum_allowed<S>(f.D.transpose(), dO, transposed(r.mask));
  dA.leftCols(m) = detail::dropped<S>(dA.leftCols(m), r, r.mask.whole());
  Matrix<S> dS = fisher_lower(f.A, dA);
  if (dlogZ.size() > 0) dS += dlogZ.asDiagonal() * f.A;
  if (x.sink.size() > 0) g.sink(0, 0) = dS.col(m).sum();

  // pull back to the tables of a variant
  Matrix<S> dX = Matrix<S>::Zero(n, m);
  const S scale = detail::scale_of(x);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      if (!r.mask.allows(i, j)) continue;
      const Index t = r.offset(i, j);
      const S& s = dS(i, j);
      if (x.bias.size() > 0) detail::bias_at(g.bias, i, j) += s;
      if (x.table.size() > 0) g.table(0, r.buckets(t)) += s;
      if (x.slope.size() > 0) g.slope(0, 0) -= s * S(double(std::abs(t)));
      dX(i, j) =
          r.softcap ? detail::uncapped(s, f.X(i, j), *r.softcap) : s;
      if (x.scale.size() > 0) g.scale(0, 0) += dX(i, j) * f.X(i, j) / scale;
    }
  dX *= scale;

  // pull back to the vectors of a variant
  const Matrix<S> dQu = detail::sum_allowed(dX, x.K, r.mask);
  g.Q = dQu;
  g.K = detail::sum_allowed<S>(
      dX.transpose(), detail::displaced(x.Q, x.u), transposed(r.mask));
  if (x.u.size() > 0) g.u = dQu.colwise().sum();
  if (x.rel_keys.size() > 0) {
    const Matrix<S> dP = detail::scatter(dX, r, x.rel_keys.rows());
    g.rel_keys = dP.transpose() * detail::displaced(x.Q, x.w);
    const Matrix<S> dQw = dP * x.rel_keys;
    g.Q += dQw;
    if (x.w.size() > 0) g.w = dQw.colwise().sum();
  }
  return g;
}
}  // namespace attn
