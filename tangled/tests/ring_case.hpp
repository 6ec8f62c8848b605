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
Cuts cuts_of(const RingCase<T>& c, int p = 0) {
  const Index block = std::min(c.plain.key_block, c.K.rows());
  Index N = 1, longest = p > 0 ? 0 : std::min(16 * block, c.K.rows());
  const Shards keys = p > 0 ? c.keys(p) : Shards{};
  for (const auto& place : keys.of)
    for (const Piece& piece : place) {
      if (piece.n == 0) continue;
      N += (piece.n - 1) / (16 * block) + 1;
      longest = std::max(longest, std::min(16 * block, piece.n));
    }
  const double b = double(std::max<Index>(1, std::min(block, longest)));
  return {p > 0 ? double(N) : 17, b, std::ceil(double(longest) / b), 0};
}
template <class T>
Cuts cuts_of_decoding(const RingCase<T>& c, int p) {
  return {double(p - 1), 1, double(c.K.rows()), 2 * unit_roundoff<T>()};
}
template <class T>
struct Bounds {
  double v = unit_roundoff<T>(), u = 1.01 * v;
  double tiny = 100 * double(std::numeric_limits<T>::min());
  double last = -std::log(  // no exponential of less is zero
      double(std::numeric_limits<T>::denorm_min()));
  double N, b, D, also;
  Matrix<double> A, O, delta, rho;
  Vector<double> L, mean, left;  // left: 1 - 3 rho_i

  Bounds(const RingCase<T>& c, const Truth& t)
      : Bounds(c, t, cuts_of(c)) {}
  Bounds(const RingCase<T>& c, const Truth& t, const Cuts& k);
  void row(const RingCase<T>& c, const Truth& t, Index i);
};
template <class T>
Bounds<T>::Bounds(const RingCase<T>& c, const Truth& t, const Cuts& k)
    : N(k.N), b(k.b), D(k.D), also(k.also), A(lift<double>(t.A)),
      delta(Matrix<double>::Zero(A.rows(), A.cols())), rho(delta),
      L(Vector<double>::Zero(A.rows())), mean(L),
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
  const double w = v / (1 - double(c.Q.cols() + 7) * v);
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
    delta(i, j) = w * (double(c.Q.cols()) + 5) * size;
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
    const double its = v * (m - sink + more);
    mean(i) = to_double(t.A_sink(i)) * its;
    if (m - sink <= last) most = its;
  }
  for (Index j = 0; j < A.cols(); ++j) {
    const double S = to_double(t.S(i, j));
    if (S == -inf) continue;
    delta(i, j) += also * M;
    rho(i, j) = delta(i, j) + v * (m - S + more);
    mean(i) += A(i, j) * rho(i, j);
    if (m - S <= last) most = std::max(most, rho(i, j));
  }
  left(i) = 1 - 3 * most;
  L(i) = (mean(i) + v * (M + 2 * lambda)) / left(i);
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
template <class T>
struct BackBounds {
  Matrix<double> dX, dQ, dK, dV;
  double dsink = 0;
  BackBounds(const RingCase<T>& c, const Truth& f, const BackTruth& t);

 private:
  void row(const RingCase<T>& c, const Truth& f, const BackTruth& t,
           const Bounds<T>& bound, Index i, Matrix<double>& rho);
};
template <class T>
BackBounds<T>::BackBounds(const RingCase<T>& c, const Truth& f,
                          const BackTruth& t)
    : dX(Matrix<double>::Zero(f.A.rows(), f.A.cols())) {
  const Bounds<T> bound(c, f);
  Matrix<double> rho = dX;
  for (Index i = 0; i < dX.rows(); ++i)
    if (!is_forbidden(f.L(i))) row(c, f, t, bound, i, rho);
  const double u = bound.u, n = double(dX.rows()), m = double(dX.cols());
  const double scale = to_double(f.scale);
  const double more = bound.N + 6 + double(c.others);
  const Matrix<double> X = lift<double>(t.dX).cwiseAbs();
  const Matrix<double> V = bound.A.array() * (rho.array() + u * (n + more));
  const Matrix<double> q = dX + u * (m + more) * X;
  const Matrix<double> k = dX + u * (n + more) * X;
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
  const double u = bound.u, e = double(c.V.cols()), L = to_double(f.L(i));

  // bound the mean of a row
  double error_D = 0, D = 0;
  for (Index a = 0; a < c.V.cols(); ++a) {
    const double dO = std::abs(double(c.dO(i, a)));
    const double O = std::abs(to_double(f.O(i, a)));
    error_D += dO * (bound.O(i, a) + u * (e + 2) * O), D += dO * O;
  }
  error_D += 2 * u * (D + std::abs(double(c.dL(i))));
  Vector<double> own = Vector<double>::Zero(dX.cols());

  // bound the cotangents of a row
  for (Index j = 0; j < dX.cols(); ++j) {
    if (is_forbidden(f.S(i, j))) continue;
    rho(i, j) = bound.delta(i, j) + bound.L(i) +
                u * (std::abs(to_double(f.S(i, j)) - L) + 2 * std::abs(L) + 8);
    double size = 0;
    for (Index a = 0; a < c.V.cols(); ++a)
      size += std::abs(double(c.dO(i, a)) * double(c.V(j, a)));
    own[j] = bound.A(i, j) *
             ((rho(i, j) + 3 * u) * std::abs(to_double(t.g(i, j))) +
              u * (e + 1) * size + error_D);
  }

  // bound the sink and the dominant key of a row
  const FlashRule<T> r = c.rule();
  const double sink = to_double(f.A_sink(i)), dL = std::abs(double(c.dL(i)));
  const double rho_sink = bound.L(i) + u * (std::abs(L) + 6 +
      (r.sink ? std::abs(double(*r.sink)) : 0.0));
  const double sink_error = sink * (rho_sink * (D + dL) + error_D + 3 * u * dL);
  dsink += sink_error + u * double(dX.rows() + 16) * sink * (D + dL);
  for (Index j = 0; j < dX.cols(); ++j) {
    if (is_forbidden(f.S(i, j))) continue;
    const double S = std::abs(to_double(t.dS(i, j))), A = bound.A(i, j);
    double rest = sink_error, sum = dL + sink * (D + dL);
    for (Index k = 0; k < dX.cols(); ++k)
      if (k != j) rest += own[k], sum += std::abs(to_double(t.dS(i, k)));
    rest += u * (double(dX.cols()) + bound.N + 4) * sum;
    const double error = A > 0.76 ? rest
                       : A > 0.74 ? std::max(rest, own[j]) : own[j];
    dX(i, j) = error * to_double(t.slope(i, j)) + 2 * u * S;
    if (r.softcap)
      dX(i, j) += S * (16 * u + bound.delta(i, j) / double(*r.softcap));
  }
}
}  // namespace attn
