// include/attn/modern.hpp: tangled from chapters/06b-modern.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/modifiers.hpp"

namespace attn {
// subtract one head from another
/// Two heads and the difference of their outputs (eq. modern-difference).
template <class S>
struct Differential {
  VariantForward<S> plus, minus;
  Matrix<S> O;  // O - lambda O'
};
/// O - lambda O' of the heads x and y under the same rules.  Throws as
/// variant_forward, and std::invalid_argument if outputs do not fit.
template <class S>
Differential<S> differential_forward(
    const VariantParts<S>& x, const VariantParts<S>& y,
    const VariantRules& r, const std::type_identity_t<S>& lambda) {
  require(x.V.cols() == y.V.cols(), "differential_forward: values are ",
          shape(x.V), " and ", shape(y.V));
  Differential<S> f{variant_forward(x, r), variant_forward(y, r), {}};
  f.O = f.plus.O - lambda * f.minus.O;
  return f;
}

// pull back through the difference
/// Cotangents of both heads' parts and of lambda; V's are those of each
/// head, to be added if they share it.
template <class S>
struct DifferentialGradient {
  VariantParts<S> x, y;
  S lambda;
};
/// Gradient of <dO, O> for f = differential_forward(x, y, r, lambda).
/// Throws as variant_vjp.
template <class S>
DifferentialGradient<S> differential_vjp(
    const VariantParts<S>& x, const VariantParts<S>& y,
    const VariantRules& r, const Differential<S>& f,
    const std::type_identity_t<Matrix<S>>& dO,
    const std::type_identity_t<S>& lambda) {
  return {variant_vjp(x, r, f.plus, dO),
          variant_vjp(y, r, f.minus, Matrix<S>(-lambda * dO)),
          S(-dO.cwiseProduct(f.minus.O).sum())};
}

// gate an output
namespace detail {
/// 1 / (1 + e^-z); 0 and 1 at the ends.
template <class S>
S logistic(const S& z) {
  using std::exp;
  return S(1) / (S(1) + exp(S(-z)));
}
}  // namespace detail
/// Y of eq. modern-gate, entry by entry.  Throws std::invalid_argument
/// for different shapes.
template <class S>
Matrix<S> gated(const Matrix<S>& O,
                const std::type_identity_t<Matrix<S>>& Z) {
  require(O.rows() == Z.rows() && O.cols() == Z.cols(), "gated: O is ",
          shape(O), " but Z is ", shape(Z));
  Matrix<S> Y = O;
  for (Index k = 0; k < Y.size(); ++k)
    Y.data()[k] *= detail::logistic(Z.data()[k]);
  return Y;
}
/// Cotangents of output and gate.
template <class S>
struct GateCotangents {
  Matrix<S> O, Z;
};
/// Pulls dY back through gated(O, Z).  Throws std::invalid_argument for
/// different shapes.
template <class S>
GateCotangents<S> gated_vjp(const Matrix<S>& O,
                            const std::type_identity_t<Matrix<S>>& Z,
                            const std::type_identity_t<Matrix<S>>& dY) {
  require(O.rows() == dY.rows() && O.cols() == dY.cols(), "gated_vjp: O is ",
          shape(O), " but dY is ", shape(dY));
  GateCotangents<S> g{gated(dY, Z), gated(dY, Z)};
  for (Index k = 0; k < O.size(); ++k)
    g.Z.data()[k] *= O.data()[k] * detail::logistic(S(-Z.data()[k]));
  return g;
}

// choose a temperature for each length
/// log n_i / log L for each query, n_i the number of keys that it sees; 0
/// if that is less than two.  To be multiplied with the rows of Q (thm.
/// modern-length).  Throws std::invalid_argument unless L >= 2.
template <class S>
Vector<S> length_factors(const Mask& mask, Index trained) {
  using std::log;
  require(trained >= 2, "length_factors: trained at length ", trained);
  Vector<S> s = Vector<S>::Constant(mask.n_q(), S(0));

  // count the keys of each query
  for (Index i = 0; i < mask.n_q(); ++i) {
    const Index n = count(mask, {i, i + 1, 0, mask.n_k()});
    if (n > 1) s(i) = log(S(double(n))) / log(S(double(trained)));
  }
  return s;
}

// forget by gates
/// The bias -c_j of eq. modern-forget, 1 x n, from the logarithms of n
/// gates, of which the first is not read by any weight.  Throws
/// std::domain_error unless they are finite and not positive.
template <class S>
Matrix<S> forgetting_row(const Vector<S>& log_f) {
  Matrix<S> row(1, log_f.size());
  S c(0);
  for (Index l = 0; l < log_f.size(); ++l) {
    // demand the logarithm of a gate
    require_domain(log_f(l) - log_f(l) == S(0) && !(S(0) < log_f(l)),
                   "forgetting_row: log of gate ", l, " is ",
                   to_double(value(log_f(l))));
    row(l) = -(c += log_f(l));
  }
  return row;
}
/// Cotangent of log_f from that of the row.
template <class S>
Vector<S> forgetting_row_vjp(const Matrix<S>& drow) {
  Vector<S> g(drow.size());
  S sum(0);
  for (Index l = drow.size(); l-- > 0;) g(l) = -(sum += drow(l));
  return g;
}

// break a stick
namespace detail {
/// log(1 + e^s), the logarithm of what a key of score s leaves, negated.
template <class S>
S spent(const S& s) {
  using std::exp, std::log1p;
  return S(0) < s ? S(s + log1p(exp(S(-s)))) : S(log1p(exp(s)));
}
}  // namespace detail
/// Weights A (eq. modern-stick) and the logarithm of what is left.
template <class S>
struct Stick {
  Matrix<S> A;
  Vector<S> left;
};
/// Breaks a stick for each row of scores, whose last column is nearest;
/// -inf forbids a pair, +inf takes all that is left.  A NaN makes its own
/// weight and those of farther keys NaN.
template <class S>
Stick<S> break_stick(const Matrix<S>& scores) {
  using std::exp;
  Stick<S> f{Matrix<S>::Zero(scores.rows(), scores.cols()),
             Vector<S>::Constant(scores.rows(), S(0))};
  for (Index i = 0; i < scores.rows(); ++i)
    for (Index j = scores.cols(); j-- > 0;)
      if (const S& s = scores(i, j); !is_forbidden(s)) {
        f.A(i, j) = exp(S(f.left(i) - detail::spent(S(-s))));
        f.left(i) -= detail::spent(s);
      }
  return f;
}

// pull back through a stick
/// Cotangent of the scores from that of A = break_stick(scores).A (thm.
/// modern-stick).  Throws std::invalid_argument for different shapes.
template <class S>
Matrix<S> stick_vjp(const Matrix<S>& scores,
                    const std::type_identity_t<Matrix<S>>& A,
                    const std::type_identity_t<Matrix<S>>& dA) {
  require(A.rows() == scores.rows() && A.cols() == scores.cols() &&
              dA.rows() == A.rows() && dA.cols() == A.cols(),
          "stick_vjp: scores are ", shape(scores), ", A is ", shape(A),
          " and dA is ", shape(dA));
  Matrix<S> dS = Matrix<S>::Zero(A.rows(), A.cols());
  for (Index i = 0; i < A.rows(); ++i) {
    S farther(0);

    // pull back along one stick
    for (Index k = 0; k < A.cols(); ++k)
      if (const S& s = scores(i, k); !is_forbidden(s)) {
        const S own = A(i, k) * dA(i, k);
        dS(i, k) = detail::logistic(S(-s)) * own -
                   detail::logistic(s) * farther;
        farther += own;
      }
  }
  return dS;
}
namespace detail {
// score the tiles of a query
/// The tiles that query i sees, best first, at most `best`.  A tile with
/// a NaN comes first: what is not a number is not hidden.
template <class S>
std::vector<Index> best_tiles(const Matrix<S>& scores, const Mask& mask,
                              Index i, Index tile, Index best) {
  std::vector<std::pair<S, Index>> mean;
  for (Index j = 0; j < scores.cols(); j += tile) {
    // average the scores of one tile
    S sum(0), seen(0);
    for (Index k = j; k < std::min(j + tile, scores.cols()); ++k)
      if (mask.allows(i, k) && !is_forbidden(scores(i, k)))
        sum += scores(i, k), seen += S(1);
    if (S(0) < seen) mean.push_back({S(sum / seen), j / tile});
  }

  // sort the tiles and keep the best
  const auto nan = [](const auto& x) { return x.first != x.first; };
  std::stable_sort(mean.begin(), mean.end(), [&](const auto& a, const auto& b) {
    return nan(a) != nan(b) ? nan(a) : b.first < a.first;
  });
  std::vector<Index> tiles;
  for (const auto& [score, t] : mean)
    if (std::ssize(tiles) < best) tiles.push_back(t);
  return tiles;
}
}  // namespace detail

// choose tiles by their scores
/// The pairs of a mask in those `best` tiles of keys that have the largest
/// mean score among the pairs which the query sees; at a tie the first.
/// Scores n_q x n_k.  Throws std::invalid_argument.
template <class S>
Mask select_tiles(const Matrix<S>& scores, const Mask& mask, Index tile,
                  Index best) {
  const Index n = mask.n_q(), m = mask.n_k();

  // refuse a choice that does not fit
  require(tile >= 1 && best >= 0, "select_tiles: tile ", tile, ", best ",
          best);
  require(scores.rows() == n && scores.cols() == m,
          "select_tiles: scores are ", shape(scores), " but the mask is ", n,
          "x", m);
  auto table = std::make_shared<Matrix<bool>>(
      Matrix<bool>::Constant(n, (m + tile - 1) / tile, false));
  for (Index i = 0; i < n; ++i)
    for (const Index t : detail::best_tiles(scores, mask, i, tile, best))
      (*table)(i, t) = true;

  // make a mask of the chosen tiles
  return mask & detail::unplaced(
      n, m, [=](Index i, Index j) { return (*table)(i, j / tile); },
      [=](const Block& b) {
        const Index t = b.j0 / tile;
        const auto touched = table->block(
            b.i0, t, b.i1 - b.i0, (b.j1 - 1) / tile - t + 1);
        return touched.all() ? Cover::all
               : touched.any() ? Cover::some : Cover::none;
      });
}
}  // namespace attn
