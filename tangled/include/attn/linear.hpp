// include/attn/linear.hpp: tangled from chapters/07-kernel.nw; edit that file, not this one.
#pragma once
#include "attn/einsum.hpp"
#include "attn/form.hpp"
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>
namespace attn {
// attend through a memory

// append a value of one
/// V with one more column, of ones: n x (d_v + 1).
template <class D>
Matrix<ScalarOf<D>> append_ones(const Expr<D>& V) {
  Matrix<ScalarOf<D>> W(V.rows(), V.cols() + 1);
  W.leftCols(V.cols()) = V;
  W.col(V.cols()).setOnes();
  return W;
}
/// Rows divided by their last entry, which is dropped; zero where that
/// is zero.  Shape: n x (d + 1) -> n x d, d >= 0.  Throws
/// std::invalid_argument if there are no columns.
template <class D>
Matrix<ScalarOf<D>> normalise(const Expr<D>& N) {
  using S = ScalarOf<D>;
  require(N.cols() > 0, "normalise: nothing to divide by in ", shape(N));
  const Rows<S> n(N);
  const Index d = N.cols() - 1;
  Matrix<S> O = Matrix<S>::Zero(N.rows(), d);
  for (Index i = 0; i < N.rows(); ++i)
    if (!(n(i, d) == S(0))) O.row(i) = n.row(i).head(d) / n(i, d);
  return O;
}

// sum over keys once
/// The memory M_r^c of keys with features Psi (n_k x m) and values V
/// (n_k x d_v), m x (d_v + 1) with the normaliser z in its last column.
/// Throws std::invalid_argument.
template <class D, class S = ScalarOf<D>>
Matrix<S> memorise(const Expr<D>& Psi, const Rows<ScalarOf<D>>& V) {
  require(Psi.rows() == V.rows(), "memorise: Psi is ", shape(Psi),
          " but V is ", shape(V));
  const Rows<S> psi(Psi);
  const Matrix<S> W = append_ones(V);
  return eq<R"(M_r{}^c = \Psi_{jr} V^{jc})">(  // eq:memory
      view<dn, dn>(psi), view<up, up>(W)).mat();
}
/// What a memory answers to queries with features Phi (n_q x m).
/// Throws std::invalid_argument.
template <class D>
Matrix<ScalarOf<D>> recall(const Expr<D>& Phi,
                           const Rows<ScalarOf<D>>& M) {
  using S = ScalarOf<D>;
  require(Phi.cols() == M.rows() && M.cols() > 0, "recall: Phi is ",
          shape(Phi), " but the memory is ", shape(M));
  const Rows<S> phi(Phi);
  return normalise(eq<R"(N^{ic} = \Phi^{ir} M_r{}^c)">(  // eq:recall
      view<up, up>(phi), view<dn, up>(M)).mat());
}
/// Linear attention from features (eq. linear-attention): Phi n_q x m,
/// Psi n_k x m, V n_k x d_v -> n_q x d_v.  Throws on shapes.
template <class D>
Matrix<ScalarOf<D>> linear_attention(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V) {
  return recall(Phi, memorise(Psi, V));
}

// transpose the division
/// The cotangent of N (n x (d + 1)), given that of O = normalise(N), n x d.
/// Throws std::invalid_argument.
template <class S>
Matrix<S> normalise_vjp(const Matrix<S>& N, const Matrix<S>& dO) {
  const Index d = dO.cols();
  require(N.rows() == dO.rows() && N.cols() == d + 1,
          "normalise_vjp: N is ", shape(N), " but dO is ", shape(dO));
  const Matrix<S> O = normalise(N);
  Matrix<S> dN = Matrix<S>::Zero(N.rows(), d + 1);
  for (Index i = 0; i < N.rows(); ++i) {
    if (N(i, d) == S(0)) continue;
    dN.row(i).head(d) = dO.row(i) / N(i, d);
    dN(i, d) = -dO.row(i).dot(O.row(i)) / N(i, d);
  }
  return dN;
}

// transpose the sums over keys
/// Cotangents of the arguments of linear_attention.
template <class S>
struct LinearGradient {
  Matrix<S> Phi, Psi, V;
};
/// The gradient of <dO, linear_attention(Phi, Psi, V)>.
/// Throws std::invalid_argument.
template <class D>
LinearGradient<ScalarOf<D>> linear_attention_vjp(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, const Rows<ScalarOf<D>>& dO) {
  using S = ScalarOf<D>;

  // refuse a cotangent unlike the output
  require(dO.rows() == Phi.rows() && dO.cols() == V.cols(),
          "linear_attention_vjp: dO is ", shape(dO), " for ",
          Phi.rows(), " queries and V ", shape(V));
  const Rows<S> phi(Phi);
  const Matrix<S> W = append_ones(V), M = memorise(Psi, V);
  const Matrix<S> dN = normalise_vjp<S>(times(phi, M), dO);

  // gather the cotangent of the memory
  const Matrix<S> dM = eq<R"(\bar M^r{}_c = \Phi^{ir} \bar N_{ic})">(  // eq:dM
      view<up, up>(phi), view<dn, dn>(dN)).mat();
  const Matrix<S> dW =
      eq<R"(\bar V_{jc} = \Psi_{jr} \bar M^r{}_c)">(  // eq:linear-dv
          view<dn, dn>(Psi), view<up, dn>(dM)).mat();

  // send the cotangent back through the memory
  return {eq<R"(\bar \Phi_{ir} = M_r{}^c \bar N_{ic})">(  // eq:dphi
              view<dn, up>(M), view<dn, dn>(dN)).mat(),
          eq<R"(\bar \Psi^{jr} = V^{jc} \bar M^r{}_c)">(  // eq:dpsi
              view<up, up>(W), view<up, dn>(dM)).mat(),
          dW.leftCols(V.cols())};
}

// map rows to simple features
/// x + 1 for x >= 0 and exp(x) below, entry by entry; n x d -> n x d.  In
/// float and double to 2 + |x|/16 units in the last place below 0, exactly 0
/// where exp(x) is below the smallest normal number.  NaN propagates.
template <class D>
Matrix<ScalarOf<D>> elu_features(const Expr<D>& X) {
  using S = ScalarOf<D>;
  if constexpr (std::is_floating_point_v<S>) {
    // exponentiate what is negative by vectors
    const S lowest = std::log(std::numeric_limits<S>::min());
    const Matrix<S> negative = X.cwiseMin(S(0));
    Matrix<S> Y = negative.array().exp();
    for (Index i = 0; i < Y.size(); ++i)
      Y.data()[i] = negative.data()[i] < lowest ? S(0) : Y.data()[i];
    return Y + X.cwiseMax(S(0));
  } else {
    return X.unaryExpr([](const S& x) {
      return x < S(0) ? S(exp(x)) : S(x + S(1));
    });
  }
}
/// max(x, 0), entry by entry; n x d -> n x d.  NaN propagates.
template <class D>
Matrix<ScalarOf<D>> relu_features(const Expr<D>& X) {
  using S = ScalarOf<D>;
  return X.unaryExpr([](const S& x) { return x < S(0) ? S(0) : x; });
}

// split the scale between both sides
/// X / d^(1/4): rows whose scalar products are the standard scores.
/// Throws std::invalid_argument if X has no columns.
template <class D>
Matrix<ScalarOf<D>> kernel_coordinates(const Expr<D>& X) {
  using std::sqrt;
  using S = ScalarOf<D>;
  require(X.cols() > 0, "kernel_coordinates: X is ", shape(X));
  return X / S(sqrt(S(sqrt(S(double(X.cols()))))));
}
namespace detail {
// exponentiate entry by entry
/// exp of each entry by the scalar function, which is 0 at -infinity.
template <class D>
Matrix<ScalarOf<D>> exponential(const Expr<D>& L) {
  using S = ScalarOf<D>;
  return L.unaryExpr([](const S& x) {
    using std::exp;
    return S(exp(x));
  });
}
}  // namespace detail

// map rows to random features
/// w_r . x_i - |x_i|^2 / 2 for X n x d and directions W m x d: n x m.
/// Throws std::invalid_argument.
template <class D>
Matrix<ScalarOf<D>> log_features(
    const Expr<D>& X, const Rows<ScalarOf<D>>& W) {
  using S = ScalarOf<D>;
  require(X.cols() == W.cols() && W.rows() > 0, "log_features: X is ",
          shape(X), " but the directions are ", shape(W));
  const Matrix<S> x = X;
  Matrix<S> L = times(x, W.transpose());
  L.colwise() -= S(0.5) * x.rowwise().squaredNorm();
  return L;
}
/// Positive random features (eq. positive); shapes as log_features.
template <class D>
Matrix<ScalarOf<D>> positive_features(
    const Expr<D>& X, const Rows<ScalarOf<D>>& W) {
  using std::sqrt;
  using S = ScalarOf<D>;
  return detail::exponential(log_features(X, W)) /
         S(sqrt(S(double(W.rows()))));
}
/// Trigonometric random features (eq. trigonometric): n x 2m, cosines
/// before sines.  Shapes and throws as log_features.
template <class D>
Matrix<ScalarOf<D>> trigonometric_features(
    const Expr<D>& X, const Rows<ScalarOf<D>>& W) {
  using std::sqrt;
  using S = ScalarOf<D>;
  require(X.cols() == W.cols() && W.rows() > 0,
          "trigonometric_features: X is ", shape(X),
          " but the directions are ", shape(W));
  const Matrix<S> x = X, P = times(x, W.transpose());

  // fill in cosines and sines
  const Vector<S> height =
      detail::exponential(S(0.5) * x.rowwise().squaredNorm()) /
      S(sqrt(S(double(W.rows()))));
  Matrix<S> F(X.rows(), 2 * W.rows());
  F.leftCols(W.rows()) = height.asDiagonal() * P.array().cos().matrix();
  F.rightCols(W.rows()) = height.asDiagonal() * P.array().sin().matrix();
  return F;
}

// attend by positive features
/// Attention approximated by positive features with directions W (m x d):
/// Q n_q x d, K n_k x d, V n_k x d_v -> n_q x d_v.  Throws on shapes.
template <class D>
Matrix<ScalarOf<D>> performer(
    const Expr<D>& Q, const Rows<ScalarOf<D>>& K,
    const Rows<ScalarOf<D>>& V, const Rows<ScalarOf<D>>& W) {
  using S = ScalarOf<D>;
  require(Q.cols() == K.cols() && K.rows() == V.rows(), "performer: Q is ",
          shape(Q), ", K ", shape(K), ", V ", shape(V));

  // take the largest exponents out
  Matrix<S> P = log_features(kernel_coordinates(K), W);
  Matrix<S> F = times(kernel_coordinates(Q), W.transpose());
  if (P.rows() > 0) {
    const RowVector<S> c = P.colwise().maxCoeff();
    P.rowwise() -= c;
    F.rowwise() += c;
  }
  for (Index i = 0; i < F.rows(); ++i)
    F.row(i).array() -= F.row(i).maxCoeff();
  return linear_attention(detail::exponential(F), detail::exponential(P),
                          V);
}

// choose orthogonal directions
/// m x d random directions, orthogonal within blocks of d rows, each row
/// standard normal.  Throws if m or d is negative.
template <class S>
Matrix<S> orthogonal_directions(Index m, Index d, std::uint64_t seed) {
  using std::sqrt;
  require(m >= 0 && d >= 0, "orthogonal_directions: ", m, "x", d);
  Matrix<S> W = gaussian<S>(m, d, seed, "directions");
  for (Index r = 0; r < m; ++r) {
    const S length = sqrt(S(W.row(r).squaredNorm()));

    // project on what no direction of the block has
    const Index first = d > 0 ? r - r % d : r;
    for (int twice = 0; twice < 2; ++twice)
      for (Index s = first; s < r; ++s) {
        const S along = W.row(r).dot(W.row(s)) / W.row(s).squaredNorm();
        W.row(r) -= along * W.row(s);
      }
    if (d > 0) W.row(r) *= length / S(sqrt(S(W.row(r).squaredNorm())));
  }
  return W;
}

// recur by tokens and by chunks

// say how a state forgets
/// M_t = alpha_t M + beta_t psi_t (v_t - erase alpha_t M^T psi_t)^T.
template <class S>
struct Rule {
  Vector<S> alpha, beta;
  bool erase = false;
};
/// Nothing is forgotten: n steps of linear attention.  Throws
/// std::invalid_argument if n is negative.
template <class S>
Rule<S> additive(Index n) {
  require(n >= 0, "additive: ", n, " steps");
  return {Vector<S>::Ones(n), Vector<S>::Ones(n), false};
}
/// The state decays by alpha_t before it is written to; throws
/// std::domain_error unless all are in [0, 1].
template <class S>
Rule<S> decaying(const Vector<S>& alpha) {
  for (Index t = 0; t < alpha.size(); ++t)
    require_domain(!(alpha(t) < S(0)) && !(S(1) < alpha(t)),
                   "decaying: alpha_", t, " is ", alpha(t));
  return {alpha, Vector<S>::Ones(alpha.size()), false};
}
/// The delta rule with rates beta.
template <class S>
Rule<S> delta(const Vector<S>& beta) {
  return {Vector<S>::Ones(beta.size()), beta, true};
}
/// Tokens in a chunk, unless another number is asked for.
inline constexpr Index chunk_length = 32;

namespace detail {
// refuse sequences that do not fit
/// Throws unless Phi, Psi are n x m, V is n x d_v, and so forth; returns
/// the initial state.
template <class S>
Matrix<S> initial_state(const char* who, const Rows<S>& Phi,
                        const Rows<S>& Psi, const Rows<S>& V,
                        const Rule<S>& rule, const Matrix<S>& M) {
  const Index n = Phi.rows();
  require(Psi.rows() == n && Psi.cols() == Phi.cols() && V.rows() == n, who,
          ": Phi is ", shape(Phi), ", Psi ", shape(Psi), ", V ", shape(V));
  require(rule.alpha.size() == n && rule.beta.size() == n, who,
          ": the rule has ", rule.alpha.size(), " decays and ",
          rule.beta.size(), " rates for ", n, " steps");

  // begin with the given state, or with nothing
  if (M.size() == 0) return Matrix<S>::Zero(Phi.cols(), V.cols());
  require(M.rows() == Phi.cols() && M.cols() == V.cols(), who,
          ": the state is ", shape(M), " but Phi is ", shape(Phi),
          " and V ", shape(V));
  return M;
}
}  // namespace detail

// update the state by a token
namespace detail {
/// One step of eq. recurrence, without the output.
template <class S>
void update_state(Matrix<S>& M, const RowVector<S>& psi,
                  const RowVector<S>& v, const S& alpha, const S& beta,
                  bool erase) {
  M *= alpha;
  RowVector<S> u = v;
  if (erase) u -= times(psi, M);
  u *= beta;
  M.noalias() += psi.transpose() * u;
}
}  // namespace detail
/// Outputs (n x d_v) and the state (m x d_v) that is left.
template <class S>
struct Recurrent {
  Matrix<S> O, M;
};
/// Recurrent attention, token by token (eq. recurrence): Phi and Psi are
/// n x m, V is n x d_v; begins with the state `start` (m x d_v), or zero.
/// Throws std::invalid_argument on shapes.
template <class D>
Recurrent<ScalarOf<D>> recurrence(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, const Rule<ScalarOf<D>>& rule,
    const Matrix<ScalarOf<D>>& start = {}) {
  using S = ScalarOf<D>;
  const Rows<S> phi(Phi);
  Matrix<S> M =
      detail::initial_state<S>("recurrence", phi, Psi, V, rule, start);
  Matrix<S> O(V.rows(), V.cols());

  // take one token after the other
  for (Index t = 0; t < V.rows(); ++t) {
    detail::update_state<S>(M, Psi.row(t), V.row(t), rule.alpha(t),
                            rule.beta(t), rule.erase);
    O.row(t) = times(phi.row(t), M);
  }
  return {std::move(O), std::move(M)};
}
namespace detail {
// multiply with a lower triangle
/// y += A x for a square A, of which nothing above the diagonal is read.
template <class Y, class A, class X>
void add_lower(Y& y, const A& a, const X& x) {
  for (Index t = 0; t < a.rows(); ++t) {
    auto row = y.row(t);
    add_times(row, a.row(t).head(t + 1), x.topRows(t + 1));
  }
}
/// y += A^T x, likewise.
template <class Y, class A, class X>
void add_lower_transposed(Y& y, const A& a, const X& x) {
  for (Index t = 0; t < a.rows(); ++t) {
    auto row = y.row(t);
    const Index n = a.rows() - t;
    add_times(row, a.col(t).tail(n).transpose(), x.bottomRows(n));
  }
}

// open a chunk and leave it
/// D_ts = alpha_{s+1} ... alpha_t for s <= t, else 0 (thm. chunks).
template <class S>
Matrix<S> decay_matrix(const Vector<S>& alpha) {
  const Index C = alpha.size();
  Matrix<S> D = Matrix<S>::Zero(C, C);
  for (Index t = 0; t < C; ++t) {
    for (Index s = 0; s < t; ++s) D(t, s) = alpha(t) * D(t - 1, s);
    D(t, t) = S(1);
  }
  return D;
}
/// Features, values and the rule they are to be used with.
template <class S>
struct Sequence {
  const Rows<S>&Phi, &Psi, &V;
  const Rule<S>& rule;
};
/// A chunk of C tokens: its inputs, g and D of thm. chunks, overlaps
/// L = D o Psi Psi^T, of which what is below the diagonal is read,
/// errors R, increments U.
template <class S>
struct Chunk {
  Matrix<S> Phi, Psi, V;
  Vector<S> alpha, beta, g;
  Matrix<S> D, L, R, U;
};
/// Opens tokens s, ..., s + C - 1 with the state M before them.
template <class S>
Chunk<S> open_chunk(const Sequence<S>& x, Index s, Index C,
                    const Matrix<S>& M) {
  Chunk<S> c{x.Phi.middleRows(s, C), x.Psi.middleRows(s, C),
             x.V.middleRows(s, C), x.rule.alpha.segment(s, C),
             x.rule.beta.segment(s, C), {}, {}, {}, {}, {}};
  c.g = c.alpha;
  for (Index t = 1; t < C; ++t) c.g(t) *= c.g(t - 1);
  c.D = decay_matrix(c.alpha);

  // subtract what the state would answer
  c.R = c.V;
  c.U = c.beta.asDiagonal() * c.R;
  if (x.rule.erase) {
    c.L = c.D.cwiseProduct(times(c.Psi, c.Psi.transpose()));
    c.R -= c.g.asDiagonal() * times(c.Psi, M);

    // solve for the increments forwards
    for (Index t = 0; t < C; ++t) {
      for (Index u = 0; u < t; ++u) c.R.row(t) -= c.L(t, u) * c.U.row(u);
      c.U.row(t) = c.beta(t) * c.R.row(t);
    }
  }
  return c;
}
/// The outputs of a chunk opened with M (eq. chunk).
template <class S>
Matrix<S> chunk_outputs(const Chunk<S>& c, const Matrix<S>& M) {
  const Matrix<S> A = c.D.cwiseProduct(times(c.Phi, c.Psi.transpose()));
  const Matrix<S> old = times(c.Phi, M);
  Matrix<S> O = c.g.asDiagonal() * old;
  add_lower(O, A, c.U);
  return O;
}
/// The state after a chunk that was opened with M (eq. chunk).
template <class S>
Matrix<S> chunk_state(const Chunk<S>& c, const Matrix<S>& M) {
  const Index last = c.g.size() - 1;
  const Vector<S> l = c.D.row(last).transpose();
  const Matrix<S> U = l.asDiagonal() * c.U;
  return M * c.g(last) + times(c.Psi.transpose(), U);
}
/// Opens the chunks of x in order, the first with the state M; shows each
/// to visit(first token, chunk, state before it).  Returns the last state.
template <class S, class Visit>
Matrix<S> walk_chunks(const Sequence<S>& x, Index length, Matrix<S> M,
                      const Visit& visit) {
  const Index n = x.V.rows();
  for (Index s = 0; s < n; s += length) {
    const auto c = open_chunk(x, s, std::min(length, n - s), M);
    visit(s, c, M);
    M = chunk_state(c, M);
  }
  return M;
}
}  // namespace detail

// work through a chunk
/// recurrence(...) in chunks of the given length, by matrix products; no
/// output depends on later tokens, be they NaN.  Throws
/// std::invalid_argument.
template <class D>
Recurrent<ScalarOf<D>> chunked(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, const Rule<ScalarOf<D>>& rule,
    Index length = chunk_length, const Matrix<ScalarOf<D>>& start = {}) {
  using S = ScalarOf<D>;
  require(length > 0, "chunked: chunks of length ", length);
  const Rows<S> phi(Phi);
  Matrix<S> M =
      detail::initial_state<S>("chunked", phi, Psi, V, rule, start);

  // walk through the chunks for their outputs
  Matrix<S> O(V.rows(), V.cols());
  const detail::Sequence<S> x{phi, Psi, V, rule};
  M = detail::walk_chunks<S>(
      x, length, std::move(M),
      [&](Index s, const auto& c, const Matrix<S>& head) {
        O.middleRows(s, c.g.size()) = detail::chunk_outputs(c, head);
      });
  return {std::move(O), std::move(M)};
}
/// Causal linear attention of a piece of a stream: outputs (n x d_v, zero
/// where the normaliser is) and the memory after it.  Phi, Psi n x m, V
/// n x d_v; begins with the memory `start` (m x (d_v + 1), as memorise
/// makes it), or with nothing.  Throws on shapes.
template <class D>
Recurrent<ScalarOf<D>> causal_linear_stream(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, const Matrix<ScalarOf<D>>& start = {},
    Index length = chunk_length) {
  using S = ScalarOf<D>;
  const char* who = "causal_linear_stream";

  // refuse chunks that do not fit
  require(length > 0, who, ": chunks of length ", length);
  require(Phi.rows() == V.rows() && Psi.rows() == V.rows() &&
              Phi.cols() == Psi.cols(),
          who, ": Phi is ", shape(Phi), ", Psi is ", shape(Psi), ", V is ",
          shape(V));

  // refuse a memory that does not fit
  require(start.size() == 0 || (start.rows() == Psi.cols() &&
                                start.cols() == V.cols() + 1),
          who, ": the memory is ", shape(start), " but Psi is ", shape(Psi),
          " and V ", shape(V));
  const Rows<S> phi(Phi);
  Matrix<S> O = Matrix<S>::Zero(V.rows(), V.cols()), A;

  // take the memory apart
  Matrix<S> M = Matrix<S>::Zero(Psi.cols(), V.cols());
  Vector<S> z = Vector<S>::Zero(Psi.cols());
  if (start.size() > 0) M = start.leftCols(V.cols()), z = start.col(V.cols());

  // add up chunk by chunk
  for (Index s = 0; s < V.rows(); s += length) {
    const Index C = std::min(length, V.rows() - s);
    const auto F = phi.middleRows(s, C), P = Psi.middleRows(s, C);
    const auto W = V.middleRows(s, C);
    auto o = O.middleRows(s, C);

    // ask the chunk and the memory before it
    A.setZero(C, C);
    add_times(A, F, P.transpose());
    A.template triangularView<Eigen::StrictlyUpper>().setZero();
    Vector<S> l = A.rowwise().sum();
    add_times(l, F, z);
    detail::add_lower(o, A, W);
    add_times(o, F, M);

    // divide by the normaliser
    for (Index t = 0; t < C; ++t)
      if (l(t) == S(0)) o.row(t).setZero();
      else o.row(t) /= l(t);

    // remember the chunk
    add_times(M, P.transpose(), W);
    z += P.colwise().sum().transpose();
  }
  Matrix<S> memory(M.rows(), M.cols() + 1);
  memory << M, z;
  return {std::move(O), std::move(memory)};
}
/// Causal linear attention: the additive rule, normalised; zero where the
/// normaliser is.  Phi, Psi n x m, V n x d_v -> n x d_v, row t from the
/// first t tokens alone, be later ones NaN.  Throws on shapes.
template <class D>
Matrix<ScalarOf<D>> causal_linear_attention(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, Index length = chunk_length) {
  const char* who = "causal_linear_attention";

  // refuse chunks that do not fit
  require(length > 0, who, ": chunks of length ", length);
  require(Phi.rows() == V.rows() && Psi.rows() == V.rows() &&
              Phi.cols() == Psi.cols(),
          who, ": Phi is ", shape(Phi), ", Psi is ", shape(Psi), ", V is ",
          shape(V));
  return causal_linear_stream(Phi, Psi, V, {}, length).O;
}

// differentiate a chunk
/// Cotangents of all arguments of recurrence.
template <class S>
struct RecurrentGradient {
  Matrix<S> Phi, Psi, V;
  Vector<S> alpha, beta;
  Matrix<S> start;
};
namespace detail {
/// Differentiates a chunk c that was opened with M at token s; dM is the
/// cotangent of the state after it, on return of the state before it.
template <class S>
void chunk_vjp(const Chunk<S>& c, bool erase, Index s, const Matrix<S>& M,
               const Matrix<S>& dO, Matrix<S>& dM, RecurrentGradient<S>& d) {
  const Index C = c.g.size();
  const Vector<S> l = c.D.row(C - 1).transpose();
  const Matrix<S> P = times(c.Phi, c.Psi.transpose());
  const Matrix<S> later = times(c.Psi, dM);

  // send cotangents back through the increments
  Matrix<S> dU = l.asDiagonal() * later;
  add_lower_transposed(dU, c.D.cwiseProduct(P).eval(), dO);
  Matrix<S> dR(C, dU.cols());
  for (Index t = C; t-- > 0;) {
    if (erase)
      for (Index u = t + 1; u < C; ++u) dU.row(t) -= c.L(u, t) * dR.row(u);
    dR.row(t) = c.beta(t) * dU.row(t);
  }
  d.V.middleRows(s, C) = dR;
  d.beta.segment(s, C) = dU.cwiseProduct(c.R).rowwise().sum();

  // send cotangents back through the products
  const Matrix<S> dA = times(dO, c.U.transpose());
  const Matrix<S> E = c.D.cwiseProduct(dA), shown = times(dO, M.transpose());
  Matrix<S> dPhi = c.g.asDiagonal() * shown;
  Matrix<S> dPsi = l.asDiagonal() * times(c.U, dM.transpose());
  add_lower(dPhi, E, c.Psi);
  add_lower_transposed(dPsi, E, c.Phi);
  Matrix<S> dD = dA.cwiseProduct(P);
  Vector<S> dg = shown.cwiseProduct(c.Phi).rowwise().sum();
  dD.row(C - 1) += later.cwiseProduct(c.U).rowwise().sum().transpose();
  dg(C - 1) += dM.cwiseProduct(M).sum();

  // send cotangents back through the state
  dM *= c.g(C - 1);
  dM += times(c.Phi.transpose(), Matrix<S>(c.g.asDiagonal() * dO));
  if (erase) {
    // blame the keys that erased
    const Matrix<S> dL = times(dR, c.U.transpose());
    Matrix<S> F = -c.D.cwiseProduct(dL);
    F.diagonal().setZero();
    const Matrix<S> hidden = times(dR, M.transpose());
    dPsi -= c.g.asDiagonal() * hidden;
    add_lower(dPsi, F, c.Psi);
    add_lower_transposed(dPsi, F, c.Psi);
    dD -= dL.cwiseProduct(times(c.Psi, c.Psi.transpose()));
    dg -= hidden.cwiseProduct(c.Psi).rowwise().sum();
    dM -= times(c.Psi.transpose(), Matrix<S>(c.g.asDiagonal() * dR));
  }
  d.Phi.middleRows(s, C) = dPhi;
  d.Psi.middleRows(s, C) = dPsi;

  // send cotangents back through the decays
  for (Index t = C - 1; t >= 0; --t) {
    S sum = t > 0 ? S(dg(t) * c.g(t - 1)) : dg(t);
    for (Index u = 0; u < t; ++u) {
      sum += dD(t, u) * c.D(t - 1, u);
      dD(t - 1, u) += c.alpha(t) * dD(t, u);
    }
    if (t > 0) dg(t - 1) += c.alpha(t) * dg(t);
    d.alpha(s + t) = sum;
  }
}
}  // namespace detail
namespace detail {
// take the chunks back in reverse
/// The way back over x, from the states at the heads of its chunks.  On
/// entry d.start is the cotangent of the last state, on return of the first.
template <class S>
void unwind_chunks(const Sequence<S>& x, Index length, const Rows<S>& dO,
                   std::vector<Matrix<S>>& heads, RecurrentGradient<S>& d) {
  for (; !heads.empty(); heads.pop_back()) {
    const Index s = Index(heads.size() - 1) * length;
    const Matrix<S>& M = heads.back();
    const auto c =
        open_chunk(x, s, std::min(length, x.V.rows() - s), M);
    chunk_vjp<S>(c, x.rule.erase, s, M, dO.middleRows(s, c.g.size()),
                 d.start, d);
  }
}
}  // namespace detail

// differentiate the recurrence
/// The gradient of <dO, O> + <dM, M> with {O, M} = recurrence(...), by
/// chunks; beside the chunk at work one state is kept for each.  dM is
/// m x d_v, or zero if it has no entries.  Throws as recurrence.
template <class D>
RecurrentGradient<ScalarOf<D>> recurrence_vjp(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, const Rule<ScalarOf<D>>& rule,
    const Rows<ScalarOf<D>>& dO, Index length = chunk_length,
    const Matrix<ScalarOf<D>>& start = {},
    const Matrix<ScalarOf<D>>& dM = {}) {
  using S = ScalarOf<D>;

  // refuse cotangents that do not fit
  require(length > 0 && dO.rows() == V.rows() && dO.cols() == V.cols(),
          "recurrence_vjp: dO is ", shape(dO), " but V is ", shape(V),
          ", chunks of length ", length);
  require(dM.size() == 0 ||
              (dM.rows() == Phi.cols() && dM.cols() == V.cols()),
          "recurrence_vjp: dM is ", shape(dM), " but Phi is ", shape(Phi),
          " and V ", shape(V));
  const Rows<S> phi(Phi);
  const Matrix<S> first =
      detail::initial_state<S>("recurrence_vjp", phi, Psi, V, rule, start);

  // walk there and back
  const detail::Sequence<S> x{phi, Psi, V, rule};
  RecurrentGradient<S> d{phi, Psi, V, rule.alpha, rule.beta, dM};
  if (dM.size() == 0) d.start.setZero(Phi.cols(), V.cols());
  std::vector<Matrix<S>> heads;
  detail::walk_chunks<S>(
      x, length, first, [&](Index, const auto&, const Matrix<S>& head) {
        heads.push_back(head);
      });
  detail::unwind_chunks<S>(x, length, dO, heads, d);
  return d;
}
/// The gradient of <dO, causal_linear_attention(Phi, Psi, V)>.
/// Throws std::invalid_argument.
template <class D>
LinearGradient<ScalarOf<D>> causal_linear_attention_vjp(
    const Expr<D>& Phi, const Rows<ScalarOf<D>>& Psi,
    const Rows<ScalarOf<D>>& V, const Rows<ScalarOf<D>>& dO,
    Index length = chunk_length) {
  using S = ScalarOf<D>;

  // refuse what the causal form would refuse
  require(length > 0 && dO.rows() == V.rows() && dO.cols() == V.cols(),
          "causal_linear_attention_vjp: dO is ", shape(dO), " but V is ",
          shape(V), ", chunks of length ", length);
  require(Phi.rows() == V.rows() && Psi.rows() == V.rows() &&
              Phi.cols() == Psi.cols(),
          "causal_linear_attention_vjp: Phi is ", shape(Phi), ", Psi is ",
          shape(Psi), ", V is ", shape(V));

  // append ones to a sequence of values
  const Rows<S> phi(Phi);
  const Matrix<S> W = append_ones(V);
  const Rows<S> w(W);
  const Rule<S> rule = additive<S>(V.rows());
  const detail::Sequence<S> x{phi, Psi, w, rule};
  RecurrentGradient<S> d{phi, Psi, W, rule.alpha, rule.beta,
                         Matrix<S>::Zero(Phi.cols(), W.cols())};

  // walk there, divide, and walk back
  std::vector<Matrix<S>> heads;
  Matrix<S> N(W.rows(), W.cols());
  detail::walk_chunks<S>(
      x, length, Matrix<S>(d.start),
      [&](Index s, const auto& c, const Matrix<S>& head) {
        N.middleRows(s, c.g.size()) = detail::chunk_outputs(c, head);
        heads.push_back(head);
      });
  detail::unwind_chunks<S>(x, length, normalise_vjp<S>(N, dO), heads, d);
  return {std::move(d.Phi), std::move(d.Psi), d.V.leftCols(V.cols())};
}
}  // namespace attn
