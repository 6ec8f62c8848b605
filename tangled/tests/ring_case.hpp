// tests/ring_case.hpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#pragma once
#include "verify.hpp"

#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "attn/shards.hpp"

namespace attn {
// draw a sequence and a placement
const double inf = std::numeric_limits<double>::infinity();
const double NaN = std::numeric_limits<double>::quiet_NaN();
enum class Place { even, uneven, zigzag, striped };

inline Shards placed(Place place, Index n, int p) {
  if (place == Place::zigzag) return zigzag(n, p);
  if (place == Place::striped) return striped(n, p);
  if (place == Place::even) return contiguous(n, p);
  std::vector<Index> lengths(std::size_t(p), 0);
  for (Index r = 1; r < p; r += 2) lengths[std::size_t(r)] = n / (2 * p);
  Index rest = n;
  for (const Index m : lengths) rest -= m;
  lengths[std::size_t(p / 2)] += rest;
  return contiguous(lengths);
}
template <class T>
struct RingCase {
  Matrix<T> Q, K, V, dO;
  Vector<T> dL;
  Matrix<bool> keep;
  FlashRule<T> plain{};
  bool masked = false;
  Place place = Place::even;
  Index others = 0;  // rows of other heads, added to the same sums

  FlashRule<T> rule() const {
    FlashRule<T> r = plain;
    if (masked) r.keep = &keep, r.keep_q = 3, r.keep_k = 4;
    return r;
  }
  FlashHeads<T> heads() const { return {1, 1, rule()}; }
  Shards queries(int p) const { return placed(place, Q.rows(), p); }
  Shards keys(int p) const { return placed(place, K.rows(), p); }
};
template <class T>
RingCase<T> ring_case(Index n_q, Index n_k, Index d_k, Index d_v,
                      std::uint64_t seed) {
  RingCase<T> c{gaussian<T>(n_q, d_k, 7 * seed + 1),
                gaussian<T>(n_k, d_k, 7 * seed + 2),
                gaussian<T>(n_k, d_v, 7 * seed + 3),
                gaussian<T>(n_q, d_v, 7 * seed + 4),
                gaussian<T>(n_q, 1, 7 * seed + 5),
                Matrix<bool>(n_q / 3 + 1, n_k / 4 + 1)};
  const auto coin = uniform<double>(c.keep.rows(), c.keep.cols(), seed);
  c.keep = coin.array() > -0.4;
  c.plain.key_block = 5;
  return c;
}

// write attention on the whole sequence in quad
/// May query i of n_q see key j of n_k?
template <class T>
bool allows(const FlashRule<T>& r, Index n_q, Index n_k, Index i, Index j) {
  const Index n = r.queries.value_or(n_q), m = r.keys.value_or(n_k);
  const Index at = i + r.offset.value_or(m - n);
  return i < n && j < m && (!r.left || at - j <= *r.left) &&
         (!r.right || j - at <= *r.right) &&
         (!r.keep || (*r.keep)(i / r.keep_q, j / r.keep_k));
}

struct Truth {
  Matrix<quad> X, S, A, O;
  Vector<quad> L, A_sink;
  quad scale = 0;
};

template <class T>
quad finished_score(const FlashRule<T>& r, quad x, Index distance) {
  if (r.softcap) {
    const quad y = exp(2 * x / quad(*r.softcap));
    x = quad(*r.softcap) * (y - quad(1)) / (y + quad(1));
  }
  return x - quad(r.slope) * quad(distance);
}
/// How far key j is from query i.
template <class T>
Index distance_of(const RingCase<T>& c, Index i, Index j) {
  const FlashRule<T>& r = c.plain;
  const Index shift = r.keys.value_or(c.K.rows()) -
                      r.queries.value_or(c.Q.rows());
  return std::abs(i + r.offset.value_or(shift) - j);
}
template <class T>
Truth forward_truth(const RingCase<T>& c) {
  const FlashRule<T> r = c.rule();
  const Index n = c.Q.rows(), m = c.K.rows();
  Truth t;
  t.scale = r.scale ? quad(*r.scale) : quad(1) / sqrt(quad(c.Q.cols()));
  t.X = t.scale * times(lift<quad>(c.Q),
                        lift<quad>(Matrix<T>(c.K.transpose())));
  t.S = t.A = Matrix<quad>::Zero(n, m);
  t.L = Vector<quad>::Constant(n, quad(-inf));
  t.A_sink = Vector<quad>::Zero(n);
  for (Index i = 0; i < n; ++i) {
    const bool sink = r.sink && i < r.queries.value_or(n);
    quad top = sink ? quad(*r.sink) : quad(-inf), Z = 0;

    // finish the scores of a row in quad
    for (Index j = 0; j < m; ++j) {
      t.S(i, j) = allows(r, n, m, i, j)
                      ? finished_score(r, t.X(i, j), distance_of(c, i, j))
                      : quad(-inf);
      if (top < t.S(i, j)) top = t.S(i, j);
    }
    if (is_forbidden(top)) continue;
    if (sink) Z = t.A_sink(i) = exp(quad(*r.sink) - top);
    for (Index j = 0; j < m; ++j)
      if (!is_forbidden(t.S(i, j))) Z += t.A(i, j) = exp(t.S(i, j) - top);
    t.A.row(i) /= Z, t.A_sink(i) /= Z;
    t.L(i) = top + log(Z);
  }
  t.O = times(t.A, lift<quad>(c.V));
  return t;
}

// evaluate the bounds of the ring
struct Cuts {
  double N, b, D, also = 0;  // also: of M, more in delta
};
template <class T>
Cuts cuts_of(const RingCase<T>& c, const Shards& keys) {
  const Index block = std::min(c.plain.key_block, c.K.rows());
  Index N = c.plain.sink.has_value(), longest = 0;
  for (const auto& place : keys.of)
    for (const Piece& piece : place) {
      if (piece.n == 0) continue;
      N += (piece.n - 1) / (16 * block) + 1;
      longest = std::max(longest, std::min(16 * block, piece.n));
    }
  const double b = double(std::max<Index>(1, std::min(block, longest)));
  return {double(std::max<Index>(1, N)), b, std::ceil(double(longest) / b)};
}
template <class T>
Cuts cuts_of(const RingCase<T>& c, int p) { return cuts_of(c, c.keys(p)); }
template <class T>
Cuts cuts_of(const RingCase<T>& c, const Shards& keys, bool circle,
             int columns) {
  if (columns == 0) return cuts_of(c, keys);
  const Cuts x = cuts_of(c, detail::grouped(keys, columns));
  if (!circle) return x;
  const Cuts y = cuts_of(c, keys);
  return {std::max(x.N, y.N), std::max(x.b, y.b), std::max(x.D, y.D)};
}
template <class T>
Cuts cuts_of_decoding(const RingCase<T>& c, int p) {
  return {double(p - 1), 1, double(c.K.rows()), 2 * unit_roundoff<T>()};
}
template <class T>
struct Bounds {
  double u = unit_roundoff<T>();
  double tiny = 100 * double(std::numeric_limits<T>::min());
  double last = -std::log(  // no exponential of less is zero
      double(std::numeric_limits<T>::denorm_min()));
  double N, b, D, also;
  Matrix<double> A, O, product, delta, rho;  // product: X's part of delta
  Vector<double> L, mean, left;  // left: 1 - 3 rho_i

  Bounds(const RingCase<T>& c, const Truth& t, const Cuts& k);
  void row(const RingCase<T>& c, const Truth& t, Index i);
};
template <class T>
Bounds<T>::Bounds(const RingCase<T>& c, const Truth& t, const Cuts& k)
    : N(k.N), b(k.b), D(k.D), also(k.also), A(lift<double>(t.A)),
      product(Matrix<double>::Zero(A.rows(), A.cols())), delta(product),
      rho(product), L(Vector<double>::Zero(A.rows())), mean(L),
      left(Vector<double>::Ones(A.rows())) {
  for (Index i = 0; i < A.rows(); ++i)
    if (!is_forbidden(t.L(i))) row(c, t, i);
  const Matrix<double> all = rho + mean.replicate(1, A.cols());
  O = A.cwiseProduct(all) * lift<double>(c.V).cwiseAbs();
  O = left.cwiseInverse().asDiagonal() * O;
  O.array() += tiny;
}
template <class T>
void Bounds<T>::row(const RingCase<T>& c, const Truth& t, Index i) {
  const FlashRule<T> rule = c.rule();
  const double scale = to_double(t.scale);
  const double w = u / (1 - double(c.Q.cols() + 7) * u);
  const double sink = rule.sink ? double(*rule.sink) : -inf;
  double m = sink, M = std::abs(to_double(t.L(i))), n = 0;
  if (rule.sink) M = std::max(M, std::abs(sink)), n = 1;
  for (Index j = 0; j < A.cols(); ++j) {
    const double S = to_double(t.S(i, j));
    if (S == -inf) continue;
    m = std::max(m, S), M = std::max(M, std::abs(S)), n += 1;
    double size = 0;
    for (Index a = 0; a < c.Q.cols(); ++a)
      size += std::abs(scale * double(c.Q(i, a)) * double(c.K(j, a)));

    // bound the error of a score
    delta(i, j) = product(i, j) = w * (double(c.Q.cols()) + 5) * size;
    if (rule.softcap) delta(i, j) += w * 10 * double(*rule.softcap);
    if (rule.slope != 0)
      delta(i, j) += 3 * w * double(rule.slope) * double(distance_of(c, i, j));
    if (rule.slope != 0) delta(i, j) += 2 * w * std::abs(S);
  }

  // bound the weights of a row
  const double lambda = std::log(n);
  const double more = b + 3 + 6 * (D + 1) + 3 * M + 3 * lambda + 4 * N;
  double most = 0;
  if (rule.sink) {
    const double its = u * (m - sink + more);
    mean(i) = to_double(t.A_sink(i)) * its;
    if (m - sink <= last) most = its;
  }
  for (Index j = 0; j < A.cols(); ++j) {
    const double S = to_double(t.S(i, j));
    if (S == -inf) continue;
    delta(i, j) += also * M;
    rho(i, j) = delta(i, j) + u * (m - S + more);
    mean(i) += A(i, j) * rho(i, j);
    if (m - S <= last) most = std::max(most, rho(i, j));
  }
  left(i) = 1 - 3 * most;
  L(i) = (mean(i) + u * (M + 2 * lambda)) / left(i);
}

// write the gradients on the whole sequence in quad
struct BackTruth {
  Matrix<quad> g, dS, dX, dQ, dK, dV;  // g = dA - D + dL
  Matrix<quad> slope;
  quad dsink = 0;
};
template <class T>
BackTruth backward_truth(const RingCase<T>& c, const Truth& f) {
  const FlashRule<T> r = c.rule();
  const Matrix<quad> dO = lift<quad>(c.dO), V = lift<quad>(c.V);
  const Matrix<quad> dA = times(dO, Matrix<quad>(V.transpose()));
  const Index n = f.A.rows(), m = f.A.cols();
  BackTruth t;
  t.g = t.dS = t.dX = Matrix<quad>::Zero(n, m);
  t.slope = Matrix<quad>::Constant(n, m, quad(1));
  for (Index i = 0; i < n; ++i)
    if (!is_forbidden(f.L(i)))

      // go back through one row in quad
      {
        Index top = 0;
        for (Index j = 1; j < m; ++j)
          if (f.A(i, top) < f.A(i, j)) top = j;
        const quad gauge = m > 0 ? dA(i, top) : quad(0), dL = quad(c.dL(i));
        quad mean = -gauge * f.A_sink(i);
        for (Index j = 0; j < m; ++j) mean += f.A(i, j) * (dA(i, j) - gauge);
        t.dsink += f.A_sink(i) * (dL - gauge - mean);
        for (Index j = 0; j < m; ++j) {
          if (r.softcap) {
            const quad y = exp(2 * f.X(i, j) / quad(*r.softcap));
            t.slope(i, j) = 4 * y / ((y + quad(1)) * (y + quad(1)));
          }
          t.g(i, j) = dA(i, j) - gauge - mean + dL;
          t.dS(i, j) = f.A(i, j) * t.g(i, j);
          t.dX(i, j) = t.dS(i, j) * t.slope(i, j);
        }
      }
  t.dV = times(Matrix<quad>(f.A.transpose()), dO);
  t.dQ = f.scale * times(t.dX, lift<quad>(c.K));
  t.dK = f.scale * times(Matrix<quad>(t.dX.transpose()), lift<quad>(c.Q));
  return t;
}

// evaluate the bounds of the ring going back
/// Relative errors x and y of two factors, in their product.
inline double compound(double x, double y) { return x + y + x * y; }
template <class T>
struct BackBounds {
  Matrix<double> dX, dQ, dK, dV;
  double dsink = 0;
  BackBounds(const RingCase<T>& c, const Truth& f, const BackTruth& t,
             const Cuts& k);

 private:
  void row(const RingCase<T>& c, const Truth& f, const BackTruth& t,
           const Bounds<T>& bound, Index i, Matrix<double>& rho);
};
template <class T>
BackBounds<T>::BackBounds(const RingCase<T>& c, const Truth& f,
                          const BackTruth& t, const Cuts& cuts)
    : dX(Matrix<double>::Zero(f.A.rows(), f.A.cols())) {
  const Bounds<T> bound(c, f, cuts);
  Matrix<double> rho = dX;
  for (Index i = 0; i < dX.rows(); ++i)
    if (!is_forbidden(f.L(i))) row(c, f, t, bound, i, rho);
  const Index n = dX.rows() + c.others, m = dX.cols();
  const double u = bound.u, scale = to_double(f.scale), g = gamma(n, u);
  const Matrix<double> X = lift<double>(t.dX).cwiseAbs();
  const Matrix<double> V = bound.A.array() * (g + (1 + g) * rho.array());
  const Matrix<double> q = dX + gamma(m + 3, u) * (X + dX);
  const Matrix<double> k = dX + gamma(n + 3, u) * (X + dX);
  dQ = scale * (q * lift<double>(c.K).cwiseAbs());
  dK = scale * (k.transpose() * lift<double>(c.Q).cwiseAbs());
  dV = V.transpose() * lift<double>(c.dO).cwiseAbs();
  dQ.array() += bound.tiny, dK.array() += bound.tiny;
  dV.array() += bound.tiny, dsink += bound.tiny;
}
template <class T>
void BackBounds<T>::row(const RingCase<T>& c, const Truth& f,
                        const BackTruth& t, const Bounds<T>& bound, Index i,
                        Matrix<double>& rho) {
  const double u = bound.u, g = gamma(c.V.cols(), u);
  const double L = std::abs(to_double(f.L(i))), error_L = bound.L(i);

  // bound the mean of a row
  double error_D = 0, y = std::abs(double(c.dL(i)));  // y bounds |D - dL|
  for (Index a = 0; a < c.V.cols(); ++a) {
    const double dO = std::abs(double(c.dO(i, a)));
    const double O = std::abs(to_double(f.O(i, a)));
    error_D += dO * (bound.O(i, a) + g * (O + bound.O(i, a))), y += dO * O;
  }
  error_D = (1 + u) * error_D + u * y;
  Vector<double> own = Vector<double>::Zero(dX.cols());

  // bound the cotangents of a row
  for (Index j = 0; j < dX.cols(); ++j) {
    if (is_forbidden(f.S(i, j))) continue;
    const double S = to_double(f.S(i, j) - f.L(i));
    const double x =
        bound.delta(i, j) + error_L + (2 * u + u * u) * (L + error_L);
    rho(i, j) = std::expm1((1 + u) * x + u * std::abs(S) + 4 * u);
    double size = 0;
    for (Index a = 0; a < c.V.cols(); ++a)
      size += std::abs(double(c.dO(i, a)) * double(c.V(j, a)));
    const double bar = std::abs(to_double(t.g(i, j)));
    const double eta = (1 + u) * (g * size + error_D) + u * bar;
    const double q = compound(rho(i, j), u);
    own[j] = bound.A(i, j) * (q * (bar + eta) + eta);
  }

  // bound the sink and the dominant key of a row
  const FlashRule<T> r = c.rule();
  const double A_sink = to_double(f.A_sink(i));
  const double below =
      r.sink ? std::abs(to_double(quad(*r.sink) - f.L(i))) : 0;
  const double q_sink =
      compound(std::expm1((1 + u) * error_L + u * below + 2 * u), u);
  const double sink_error = A_sink * (q_sink * (y + error_D) + error_D);
  dsink += sink_error + gamma(dX.rows(), u) * (A_sink * y + sink_error);
  for (Index j = 0; j < dX.cols(); ++j)
    if (!is_forbidden(f.S(i, j))) {
      // bound the missing cotangent
      const double A = bound.A(i, j), most = A * (1 + rho(i, j));
      double rest = sink_error;
      double sum = std::abs(double(c.dL(i))) + A_sink * y;
      for (Index k = 0; k < dX.cols(); ++k)
        if (k != j) rest += own[k], sum += std::abs(to_double(t.dS(i, k)));
      rest += gamma(dX.cols(), u) * (sum + rest);
      const bool sure = A * (1 - rho(i, j)) > 0.75;
      const double error = sure          ? rest
                           : most > 0.75 ? std::max(rest, own[j]) : own[j];

      // bound what a cap of the ring passes on
      const double S = std::abs(to_double(t.dS(i, j)));
      const double slope = to_double(t.slope(i, j));
      dX(i, j) = error;
      if (r.softcap) {
        const double s = 16 * u + bound.product(i, j) / double(*r.softcap);
        dX(i, j) = (1 + u) * (error * (slope + s) + S * s) + u * S * slope;
      }
    }
}
}  // namespace attn
