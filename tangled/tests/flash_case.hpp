// tests/flash_case.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include "attn/flash.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "verify.hpp"

namespace attn {
// name infinity and NaN
const double inf = std::numeric_limits<double>::infinity();
const double NaN = std::numeric_limits<double>::quiet_NaN();

// bound the rounding of a merged row
/// Exponents x_j of the errors of keys with the given scores, computed in
/// S by mergers over blocks of b keys, D deep, of which r raise the maximum
/// (thm. online-rounding).
template <class S>
RowVector<double> merged_exponents(const RowVector<double>& s, Index b,
                                   Index D, Index r) {
  const double u = unit_roundoff<S>(), m = s.maxCoeff();
  const double rounded = double(b + D + r) * u / (1 - u);
  const double e = double(r + 1) * 2 * u / (1 - 2 * u);
  return s.unaryExpr([=](double x) {
    return x == -inf ? 0 : u * (m - x) + rounded + e;
  });
}
/// Bound on the error of the output of such a row; r = D unless given.
template <class S>
RowVector<double> merged_bound(const RowVector<S>& scores,
                               const Matrix<S>& V, Index b, Index D,
                               Index r = -1) {
  const RowVector<double> s = lift<double>(scores);
  const double u = unit_roundoff<S>();
  if (s.size() == 0 || s.maxCoeff() == -inf)
    return RowVector<double>::Zero(V.cols());
  const auto x = merged_exponents<S>(s, b, D, r < 0 ? D : r);

  // bound the quotient of two sums
  RowVector<double> w = (s.array() - s.maxCoeff()).exp();
  w /= w.sum();
  double over = 0, under = 0;
  for (Index j = 0; j < s.size(); ++j)
    over += w(j) * std::expm1(x(j)), under += w(j) * std::expm1(-x(j));
  for (Index j = 0; j < s.size(); ++j) {
    const double y = x(j) + u / (1 - u);
    w(j) *= std::max((std::expm1(y) - under) / (1 + under),
                     (over - std::expm1(-y)) / (1 + over));
  }
  return w * lift<double>(V).cwiseAbs();
}

// draw a random case
template <class T>
struct Case {
  Matrix<T> Q, K, V, bias, dO;
  Vector<T> dL;
  Matrix<bool> keep;
  FlashRule<T> plain{};
  bool biased = false, masked = false;
  FlashRule<T> rule() const {
    FlashRule<T> r = plain;
    if (biased) r.bias = &bias;
    if (masked) r.keep = &keep, r.keep_q = 3, r.keep_k = 4;
    return r;
  }
  Index position(Index i) const {
    const Index n = plain.queries.value_or(Q.rows()) / plain.share;
    const Index m = plain.keys.value_or(K.rows());
    return i / plain.share + plain.offset.value_or(m - n);
  }
  double away(Index i, Index j) const {
    return std::abs(double(position(i) - j));
  }

  // ask what belongs to a head
  T slope(Index i) const {
    const auto k = std::size_t(i % plain.share);
    return plain.slopes.empty() ? plain.slope : plain.slopes[k];
  }
  std::optional<T> sink(Index i) const {
    const auto k = std::size_t(i % plain.share);
    return plain.sinks.empty() ? plain.sink : plain.sinks[k];
  }
};
struct Dice {
  std::uint64_t k;
  Index operator()(Index n) {
    k = k * 6364136223846793005u + 1442695040888963407u;
    return Index((k >> 33) % std::uint64_t(n));
  }
};
template <class T>
Case<T> plain_case(Dice& roll, std::uint64_t seed, Index least = 0) {
  const Index n = least + roll(30), m = least + roll(40);
  const Index d = 1 + roll(12), e = roll(11);
  const T wide = roll(5) == 0 ? T(4) : T(1);
  Case<T> c{wide * gaussian<T>(n, d, seed), gaussian<T>(m, d, seed + 1),
            gaussian<T>(m, e, seed + 2),    gaussian<T>(n, m, seed + 3),
            gaussian<T>(n, e, seed + 4),    gaussian<T>(n, 1, seed + 5),
            Matrix<bool>(n / 3 + 1, m / 4 + 1)};
  for (Index i = 0; i < c.keep.size(); ++i) c.keep.data()[i] = roll(3) > 0;
  for (Index i = 0; i < c.bias.size(); ++i)
    if (roll(9) == 0) c.bias.data()[i] = -T(inf);
  c.plain.key_block = 1 + roll(9);
  c.plain.groups = 1 + roll(3);
  return c;
}
template <class T>
Case<T> random_case(std::uint64_t seed, Index least = 0) {
  Dice roll{seed};
  Case<T> c = plain_case<T>(roll, 10 * seed, least);
  FlashRule<T>& r = c.plain;
  if (roll(2)) r.right = roll(4) * roll(4);
  if (roll(3) == 0) r.left = roll(9);
  if (roll(3) == 0) r.offset = roll(20) - 10;
  if (roll(4) == 0) r.scale = T(0.375);
  if (roll(4) == 0) r.softcap = T(1.5);
  if (roll(4) == 0) r.slope = T(0.25);
  if (roll(3) == 0) r.sink = T(0.5);
  if (roll(5) == 0) r.queries = roll(c.Q.rows() + 1);
  if (roll(5) == 0) r.keys = roll(c.K.rows() + 1);
  c.biased = roll(4) == 0;
  c.masked = roll(4) == 0;
  return c;
}

// name the variants one by one
const auto with_causal = [](auto& c, Dice&) { c.plain.right = 0; };
const auto with_offset = [](auto& c, Dice& roll) {
  c.plain.right = roll(5), c.plain.offset = roll(30) - 15;
};
const auto with_window = [](auto& c, Dice& roll) {
  c.plain.left = roll(7), c.plain.right = roll(7);
};
const auto with_blocks = [](auto& c, Dice&) { c.masked = true; };
const auto with_bias = [](auto& c, Dice&) { c.biased = true; };
const auto with_slope = [](auto& c, Dice& roll) {
  c.plain.slope = 0.125f * float(1 + roll(8));
};
const auto with_softcap = [](auto& c, Dice& roll) {
  c.plain.softcap = 0.5f + float(roll(4));
};
const auto with_sink = [](auto& c, Dice& roll) {
  c.plain.sink = float(roll(9)) - 4;
};
const auto with_lengths = [](auto& c, Dice& roll) {
  c.plain.queries = roll(c.Q.rows() + 1);
  c.plain.keys = roll(c.K.rows() + 1);
};
const auto with_scale = [](auto& c, Dice&) { c.plain.scale = -0.75f; };
const auto with_tiny_tiles = [](auto& c, Dice&) {
  c.plain.key_block = c.plain.groups = 1, c.plain.left = 3;
};
const auto resize = [](auto& c, Index n, Index m) {
  c.Q.conservativeResize(n, c.Q.cols());
  c.dO.conservativeResize(n, c.dO.cols());
  c.dL.conservativeResize(n);
  c.K.conservativeResize(m, c.K.cols());
  c.V.conservativeResize(m, c.V.cols());
  c.bias.conservativeResize(n, m);
};
const auto with_one_query = [](auto& c, Dice&) {
  resize(c, std::min<Index>(1, c.Q.rows()), c.K.rows());
};
const auto with_one_key = [](auto& c, Dice&) {
  resize(c, c.Q.rows(), std::min<Index>(1, c.K.rows()));
};
const auto with_empty_rows = [](auto& c, Dice& roll) {
  resize(c, c.Q.rows(), std::min(c.K.rows(), c.Q.rows() / 2));
  c.plain.right = 0, c.biased = roll(2) == 0;
};
const auto with_sharp_rows = [](auto& c, Dice& roll) {
  c.plain.scale = float(1 + roll(9));
};
const auto with_wide_features = [](auto& c, Dice& roll) {
  using T = typename std::decay_t<decltype(c.Q)>::Scalar;
  const Index d = 33 + roll(40), e = 33 + roll(40);
  c.Q = T(0.25) * gaussian<T>(c.Q.rows(), d, 1);
  c.K = gaussian<T>(c.K.rows(), d, 2), c.V = gaussian<T>(c.K.rows(), e, 3);
  c.dO = gaussian<T>(c.Q.rows(), e, 4);
};

// write attention by definition in quad
template <class T>
bool meets(const Case<T>& c, Index i, Index j) {
  const FlashRule<T> r = c.rule();
  const Index n = r.queries.value_or(c.Q.rows());
  const Index m = r.keys.value_or(c.K.rows()), at = c.position(i);
  return i < n && j < m && (!r.left || j >= at - *r.left) &&
         (!r.right || j <= at + *r.right) &&
         (!r.keep || c.keep(i / 3, j / 4)) &&
         (!r.bias || c.bias(i, j) > -T(inf));
}

/// Everything that attention computes, and what the bounds need.
template <class R>
struct TruthIn {
  Matrix<R> X, S, A, O, dS, dX, dQ, dK, dV;
  Vector<R> L, A_sink, D;
  R dsink = 0, scale = 0;
};
using Truth = TruthIn<quad>;
template <class R = quad, class T>
TruthIn<R> forward_truth(const Case<T>& c) {
  using std::exp, std::log, std::sqrt;
  const FlashRule<T> r = c.rule();
  const Index n = c.Q.rows(), m = c.K.rows();
  const Matrix<R> Q = lift<R>(c.Q), K = lift<R>(c.K), V = lift<R>(c.V);
  TruthIn<R> t;
  t.scale = r.scale ? R(*r.scale) : R(R(1) / sqrt(R(c.Q.cols())));
  t.X = t.scale * times(Q, K.transpose());
  t.S = t.X, t.A = Matrix<R>::Zero(n, m);
  t.L = t.A_sink = Vector<R>::Constant(n, R(-inf));
  for (Index i = 0; i < n; ++i) {
    const bool used = i < r.queries.value_or(n);
    const auto sink = c.sink(i);
    R Z = used && sink ? R(exp(R(*sink))) : R(0);
    for (Index j = 0; j < m; ++j)

      // finish one score in quad
      {
        R& s = t.S(i, j);
        if (r.softcap) {
          const R y = exp(2 * s / R(*r.softcap));
          s = R(*r.softcap) * (y - R(1)) / (y + R(1));
        }
        if (meets(c, i, j)) {
          if (r.bias) s += R(c.bias(i, j));
          s -= R(c.slope(i)) * R(c.away(i, j));
          Z += t.A(i, j) = exp(s);
        } else {
          s = R(-inf);
        }
      }
    if (Z == R(0)) { t.A_sink(i) = 0; continue; }
    for (Index j = 0; j < m; ++j) t.A(i, j) /= Z;
    t.L(i) = log(Z);
    t.A_sink(i) = sink ? R(exp(R(*sink)) / Z) : R(0);
  }
  t.O = times(t.A, V);
  return t;
}

// evaluate the bounds of flash attention
template <class T>
struct Bounds {
  // name what bounds are made of
  double u = unit_roundoff<T>(), b, D, also, own;
  double tiny = 100 * to_double(std::numeric_limits<T>::min());
  double last = -std::log(  // no exponential of less is zero
      to_double(std::numeric_limits<T>::denorm_min()));
  Matrix<double> S, A, O, product, delta, r;  // product: X's part of delta
  Vector<double> L, dL;  // logZ and the bound on its error
  Vector<double> sunk;   // A r of the sink
  Vector<double> most;   // the largest r of a row
  Matrix<double> dO_bound;
  template <class R>
  Bounds(const Case<T>& c, const TruthIn<R>& t, double more = 0)
      : b(double(std::min(c.plain.key_block, c.K.rows()))),
        D(std::ceil(double(c.K.rows()) / double(c.plain.key_block))),
        also(more),
        own(std::is_same_v<R, T> ? 1 : 1 + double(c.Q.rows() + c.K.rows()) *
                                               unit_roundoff<R>() / u),
        S(lift<double>(t.S)), A(lift<double>(t.A)), O(lift<double>(t.O)),
        product(Matrix<double>::Zero(S.rows(), S.cols())), delta(product),
        r(product), L(lift<double>(t.L)), dL(L),
        sunk(Vector<double>::Zero(L.size())), most(sunk) {
    // bound all rows and then their outputs
    for (Index i = 0; i < S.rows(); ++i)
      row(c, std::abs(to_double(t.scale)), i);
    const Vector<double> mean = A.cwiseProduct(r).rowwise().sum() + sunk;
    const Matrix<double> both = r + mean.replicate(1, S.cols());
    dO_bound = A.cwiseProduct(both) * lift<double>(c.V).cwiseAbs();
    for (Index i = 0; i < S.rows(); ++i)
      dO_bound.row(i) *= own / (1 - 3 * most(i));
    dO_bound.array() += tiny;
  }
  void row(const Case<T>& c, double scale, Index i);

  // bound the error of a key
  double error(double below, double error_of_score) {
    return error_of_score + u * (below + b + 3 + 6 * (D + 1));
  }
};
/// Sum over a of |Q(i,a) K(j,a)|.
template <class T>
double size_of_score(const Case<T>& c, Index i, Index j) {
  double sum = 0;
  for (Index a = 0; a < c.Q.cols(); ++a)
    sum += std::abs(to_double(c.Q(i, a)) * to_double(c.K(j, a)));
  return sum;
}
template <class T>
void Bounds<T>::row(const Case<T>& c, double scale, Index i) {
  const FlashRule<T> rule = c.rule();
  const auto its = c.sink(i);
  const double sink = its ? to_double(*its) : -inf;
  const double slope = std::abs(to_double(c.slope(i)));
  const double w = u / (1 - double(c.Q.cols() + 7) * u);
  double m = sink;
  for (Index j = 0; j < S.cols(); ++j) m = std::max(m, S(i, j));

  // bound what the sink adds to the sum
  if (its) {
    const double its_r = error(m - sink, 2 * w * std::abs(sink));
    sunk(i) = std::exp(sink - L(i)) * its_r;
    if (m - sink <= last) most(i) = its_r;
  }
  dL(i) = u * (2 * std::abs(m) + 5 * std::abs(L(i))) + sunk(i);
  for (Index j = 0; j < S.cols(); ++j) {
    if (S(i, j) == -inf) continue;

    // bound the error of one score and of its key
    const double size = scale * size_of_score(c, i, j);
    delta(i, j) = product(i, j) = w * double(c.Q.cols() + 5) * size;
    if (rule.softcap) delta(i, j) += w * 10 * to_double(*rule.softcap);
    if (rule.bias) delta(i, j) += 3 * w * std::abs(to_double(c.bias(i, j)));
    delta(i, j) += 3 * w * slope * c.away(i, j) + also;

    // add the roundings of the last sum
    if (rule.bias || slope > 0)
      delta(i, j) += 2 * w * std::abs(S(i, j));
    r(i, j) = error(m - S(i, j), delta(i, j));
    if (m - S(i, j) <= last) most(i) = std::max(most(i), r(i, j));
    dL(i) += A(i, j) * r(i, j);
  }
  if (L(i) == -inf) dL(i) = sunk(i) = 0;
  dL(i) *= own / (1 - 3 * most(i));
}

// write attention backwards in quad
template <class R, class T>
void backward_truth(const Case<T>& c, TruthIn<R>& t) {
  using std::exp;
  const FlashRule<T> r = c.rule();
  const Matrix<R> dO = lift<R>(c.dO), V = lift<R>(c.V);
  const Vector<R> dL = lift<R>(c.dL);
  const Matrix<R> dA = times(dO, V.transpose());
  const Index n = t.S.rows(), m = t.S.cols();
  t.D = dO.cwiseProduct(t.O).rowwise().sum();
  t.dS = t.dX = Matrix<R>::Zero(n, m);
  for (Index i = 0; i < n; ++i) {
    if (t.L(i) == R(-inf)) continue;
    t.dsink += t.A_sink(i) * (dL(i) - t.D(i));

    // fix the gauge in quad
    Index top = 0;
    for (Index j = 1; j < m; ++j)
      if (t.A(i, top) < t.A(i, j)) top = j;
    const R g = m > 0 ? dA(i, top) : R(0);
    R mean = -g * t.A_sink(i);
    for (Index j = 0; j < m; ++j) mean += t.A(i, j) * (dA(i, j) - g);
    for (Index j = 0; j < m; ++j) {
      t.dS(i, j) = t.A(i, j) * (dA(i, j) - g - mean + dL(i));
      const R y = r.softcap ? R(exp(2 * t.X(i, j) / R(*r.softcap))) : R(1);
      t.dX(i, j) = t.dS(i, j) * 4 * y / ((y + R(1)) * (y + R(1)));
    }
  }
  t.dV = times(t.A.transpose(), dO);
  t.dQ = t.scale * times(t.dX, lift<R>(c.K));
  t.dK = t.scale * times(t.dX.transpose(), lift<R>(c.Q));
}

// evaluate the bounds going back
/// Relative errors x and y of two factors, in their product.
inline double compound(double x, double y) { return x + y + x * y; }
template <class T>
struct BackBounds {
  Matrix<double> dS, dX, dQ, dK, dV;
  double dsink = 0;
  template <class R>
  BackBounds(const Case<T>& c, const TruthIn<R>& t, const Bounds<T>& f);

 private:
  template <class R>
  void row(const Case<T>& c, const TruthIn<R>& t, const Bounds<T>& f,
           Index i, Matrix<double>& rho);
};
template <class T>
template <class R>
BackBounds<T>::BackBounds(const Case<T>& c, const TruthIn<R>& t,
                          const Bounds<T>& f)
    : dS(f.S.rows(), f.S.cols()), dX(dS) {
  const Index n = dS.rows(), m = dS.cols();
  const double u = f.u, g = gamma(n, u);
  Matrix<double> rho = Matrix<double>::Zero(n, m);
  dS.setZero(), dX.setZero();
  for (Index i = 0; i < dS.rows(); ++i)
    if (f.L(i) != -inf) row(c, t, f, i, rho);
  const double scale = std::abs(to_double(t.scale));
  const Matrix<double> X = lift<double>(t.dX).cwiseAbs();
  const Matrix<double> AV = f.A.array() * (g + (1 + g) * rho.array());

  // bound the products going back
  const Matrix<double> q = dX + gamma(m + 3, u) * (X + dX);
  const Matrix<double> k = dX + gamma(n + 3, u) * (X + dX);
  dV = AV.transpose() * lift<double>(c.dO).cwiseAbs();
  dQ = scale * (q * lift<double>(c.K).cwiseAbs());
  dK = scale * (k.transpose() * lift<double>(c.Q).cwiseAbs());
  dsink *= f.own;
  for (auto* b : {&dV, &dQ, &dK, &dS})
    *b = (f.own * b->array() + f.tiny).matrix();
}
template <class T>
template <class R>
void BackBounds<T>::row(const Case<T>& c, const TruthIn<R>& t,
                        const Bounds<T>& f, Index i, Matrix<double>& rho) {
  using std::abs;
  const double u = f.u, g = gamma(c.V.cols(), u), error_L = f.dL(i);
  const RowVector<double> dO = lift<double>(c.dO.row(i));
  const RowVector<double> size = dO.cwiseAbs(), O = f.dO_bound.row(i);
  const double dL = double(c.dL(i)), y = to_double(t.D(i)) - dL;
  const double error_D = (1 + u) * size.dot(
      O + g * (f.O.row(i).cwiseAbs() + O)) + u * std::abs(y);
  double rest = 0, sum = std::abs(dL);
  Index star = -1;
  for (Index j = 0; j < dS.cols(); ++j) {
    if (f.S(i, j) == -inf) continue;

    // bound one cotangent
    const RowVector<double> V = lift<double>(c.V.row(j));
    const double L = std::abs(f.L(i)), A = f.A(i, j);
    const double x =
        f.delta(i, j) + error_L + (2 * u + u * u) * (L + error_L);
    rho(i, j) = std::expm1(
        (1 + u) * x + u * std::abs(f.S(i, j) - f.L(i)) + 4 * u);
    const double bar = std::abs(dO.dot(V) - y), q = compound(rho(i, j), u);
    const double eta =
        (1 + u) * (g * size.dot(V.cwiseAbs()) + error_D) + u * bar;
    dS(i, j) = A * (q * (bar + eta) + eta);
    if (A * (1 + rho(i, j)) > 0.75) star = j;
    else rest += dS(i, j), sum += to_double(abs(t.dS(i, j)));
  }

  // bound the cotangent of the sink
  if (c.plain.sink) {
    const double A = to_double(t.A_sink(i));
    const double below = std::abs(double(*c.plain.sink) - f.L(i));
    const double q =
        compound(std::expm1((1 + u) * error_L + u * below + 2 * u), u);
    const double error = A * (q * (std::abs(y) + error_D) + error_D);
    dsink += error + f.tiny +
             gamma(dS.rows(), u) * (A * std::abs(y) + error);
    rest += error, sum += A * std::abs(y);
  }

  // bound the dominant key and what caps pass on
  if (star >= 0) {
    const double missing = rest + gamma(dS.cols(), u) * (sum + rest);
    const bool sure = f.A(i, star) * (1 - rho(i, star)) > 0.75;
    dS(i, star) = sure ? missing : std::max(dS(i, star), missing);
  }
  dX.row(i) = dS.row(i);
  if (c.plain.softcap)
    for (Index j = 0; j < dS.cols(); ++j) {
      if (f.S(i, j) == -inf) continue;

      // bound a cotangent below the cap
      const double cap = double(*c.plain.softcap), S = to_double(abs(t.dS(i, j)));
      const double tanh = std::tanh(to_double(t.X(i, j)) / cap);
      const double slope = 1 - tanh * tanh, s = 16 * u + f.product(i, j) / cap;
      dX(i, j) =
          (1 + u) * (dS(i, j) * (slope + s) + S * s) + u * S * slope;
    }
}

// check one case forward
template <class R = quad, class T>
void verify_forward(const Case<T>& c, const Matrix<T>& O,
                    const Vector<T>& logZ) {
  const auto t = forward_truth<R>(c);
  const Bounds<T> bound(c, t);
  verify(O, t.O, bound.dO_bound);
  for (Index i = 0; i < logZ.size(); ++i)
    if (t.L(i) == R(-inf)) BOOST_TEST(logZ(i) == -T(inf));
    else verify(distance(logZ(i), t.L(i)), bound.dL(i));
}
template <class R = quad, class T>
void check_forward(const Case<T>& c) {
  const auto y = flash(c.Q, c.K, c.V, c.rule());
  verify_forward<R>(c, y.O, y.logZ);
}

// check one case backward
template <class R = quad, class T>
FlashGradient<T> check_backward(const Case<T>& c) {
  auto t = forward_truth<R>(c);
  backward_truth(c, t);
  const Bounds<T> f(c, t);
  const BackBounds<T> bound(c, t, f);
  const auto y = flash(c.Q, c.K, c.V, c.rule());
  const auto g = flash_vjp(c.Q, c.K, c.V, y, c.dO, c.rule(), c.dL);
  verify(g.Q, t.dQ, bound.dQ);
  verify(g.K, t.dK, bound.dK);
  verify(g.V, t.dV, bound.dV);
  if (c.biased) verify(g.bias, t.dS, bound.dS);
  verify(distance(g.sink, t.dsink), c.plain.sink ? bound.dsink + f.tiny : 0);
  return g;
}

// cut a cache into pages
template <class T>
std::vector<Page<T>> paged(const Matrix<T>& K, const Matrix<T>& V, Index b) {
  std::vector<Page<T>> pages;
  for (Index j = 0; j < K.rows(); j += b) {
    const Index n = std::min(b, K.rows() - j);
    pages.push_back({view_in<T>(K.middleRows(j, n)),
                     view_in<T>(V.middleRows(j, n))});
  }
  return pages;
}

// hold few queries to their bound
template <class R = quad, class T>
void verify_few(const Case<T>& c, const std::vector<Page<T>>& pages) {
  const auto t = forward_truth<R>(c);
  const Bounds<T> f(c, t);
  const auto states = decode<T>(c.Q, pages, c.rule());
  double P = 0;
  for (const auto& page : pages)
    P += std::ceil(double(page.K.rows()) / 8192);
  for (Index i = 0; i < c.Q.rows(); ++i) {
    const auto& x = states[std::size_t(i)];
    if (f.L(i) == -inf) {
      BOOST_TEST(x.logZ() == -T(inf));
      verify(to_double(x.output().cwiseAbs().sum()), 0);
      continue;
    }

    // bound one query on a cache
    const auto sink = c.sink(i);
    double M = std::abs(f.L(i));
    if (sink) M = std::max(M, std::abs(double(*sink)));
    for (Index j = 0; j < c.K.rows(); ++j)
      if (f.S(i, j) > -inf) M = std::max(M, std::abs(f.S(i, j)));
    const double more = f.u * (2 * M + 10 * P);
    const double left = 1 - 3 * (f.most(i) + more);
    BOOST_REQUIRE(left > 0);
    const double mean = f.A.row(i).dot(f.r.row(i)) + f.sunk(i) + more;
    const RowVector<double> weight =
        (f.A.row(i).array() * (f.r.row(i).array() + more + mean)).matrix();
    const RowVector<double> size =
        f.own / left * (weight * lift<double>(c.V).cwiseAbs());
    verify(x.output(), t.O.row(i), (size.array() + f.tiny).matrix());
    verify(distance(x.logZ(), t.L(i)),
           f.own * (mean + 5 * f.u * M) / left);
  }
}

// measure the tangent of the cap
/// Largest error of the tangent in units of u.
template <class T>
double tangent_off() {
  constexpr Index n = detail::width<T> + 1;
  using Numbers = Eigen::Array<T, Eigen::Dynamic, 1>;
  double worst = 0;
  const auto see = [&](T x) {
    const Numbers t = Numbers::Constant(n, x).tanh();
    const long double truth = std::tanh((long double)x);
    for (const T y : {t[0], t[n - 1]})
      worst = worse(worst, double(std::abs(y - truth)));
  };
  const auto last = std::bit_cast<std::uint32_t>(16.0f);
  for (auto bits = std::bit_cast<std::uint32_t>(0x1p-20f); bits < last;
       bits += 1009) {
    const T x = T(std::bit_cast<float>(bits)) * (1 - T(0x1p-30));
    see(x), see(-x);
  }
  for (const T x : {T(17), T(1e4), T(inf)}) see(x), see(-x);
  return worst / unit_roundoff<T>();
}
}  // namespace attn
