// include/attn/ring.hpp: tangled from chapters/10-ring.nw; edit that file, not this one.
#pragma once
#include <mpi.h>

// include what the ring needs
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include "attn/flash.hpp"
#include "attn/online.hpp"
#include "attn/shards.hpp"

namespace attn {
// say what a ring is
/// What a rank has sent, and the seconds it has waited for messages.
struct Traffic {
  long messages = 0, bytes = 0;
  double waited = 0;
};
/// A ring of ranks and the placement of queries and keys on them.  Nothing
/// else may be under way on `comm` during a call.
struct Ring {
  MPI_Comm comm;
  Shards queries, keys;
  Traffic* traffic = nullptr;
  int rank() const { int r; MPI_Comm_rank(comm, &r); return r; }
  int size() const { int p; MPI_Comm_size(comm, &p); return p; }
};
namespace detail {
// check arguments, send blocks, meet them

// let blocks travel round the ring
/// A block of rows on its way round the ring, and room for the next.
template <class T>
struct Convoy {
  const Ring& ring;
  int tag;
  Matrix<T> here, next;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  void depart(Index incoming);
  void poke();
  void arrive();
};
/// What MPI calls a float or a double.
template <class T>
MPI_Datatype mpi_type() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}
/// Starts to send the block to the right and to receive one of so many
/// rows from the left.
template <class T>
void Convoy<T>::depart(Index incoming) {
  const int p = ring.size(), right = (ring.rank() + 1) % p;
  const int left = (ring.rank() + p - 1) % p;
  next.resize(incoming, here.cols());
  MPI_Datatype row;
  MPI_Type_contiguous(int(here.cols()), mpi_type<T>(), &row);
  MPI_Type_commit(&row);
  MPI_Irecv(next.data(), int(incoming), row, left, tag, ring.comm,
            &requests[0]);
  MPI_Isend(here.data(), int(here.rows()), row, right, tag, ring.comm,
            &requests[1]);
  MPI_Type_free(&row);
  if (ring.traffic) {
    ++ring.traffic->messages;
    ring.traffic->bytes += long(here.size()) * long(sizeof(T));
  }
}
/// Gives MPI an opportunity to move what is on its way.
template <class T>
void Convoy<T>::poke() {
  int done;
  MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE);
}

/// Waits until the block has left and the next one is here.
template <class T>
void Convoy<T>::arrive() {
  const double start = MPI_Wtime();
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  if (ring.traffic) ring.traffic->waited += MPI_Wtime() - start;
  here.swap(next);
}

// object together
/// Calls f on every rank.  If it throws std::invalid_argument or
/// std::domain_error on any, all throw what the first of them did.
template <class F>
void together(MPI_Comm comm, F f) {
  int rank, p, kind = 0, first;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &p);
  std::string text;
  try {
    f();
  } catch (const std::invalid_argument& e) {
    kind = 1, text = e.what();
  } catch (const std::domain_error& e) {
    kind = 2, text = e.what();
  }
  const int mine = kind > 0 ? rank : p;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == p) return;

  // let all ranks throw what one has thrown
  int head[2] = {kind, int(text.size())};
  MPI_Bcast(head, 2, MPI_INT, first, comm);
  text.resize(std::size_t(head[1]));
  MPI_Bcast(text.data(), head[1], MPI_CHAR, first, comm);
  text += " (on rank " + std::to_string(first) + ")";
  if (head[0] == 1) throw std::invalid_argument(text);
  throw std::domain_error(text);
}
/// A number and its name, for objections.
using Named = std::pair<const char*, double>;
/// Are x and y equal, or both NaN?
inline bool same_number(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}
/// Calls f, and requires that the named numbers are those of rank 0; in
/// case of an objection all ranks throw it.
template <class F>
void agree(MPI_Comm comm, const char* who, const std::vector<Named>& mine,
           F f) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  std::vector<double> theirs;
  for (const auto& [name, value] : mine) theirs.push_back(value);
  MPI_Bcast(theirs.data(), int(theirs.size()), MPI_DOUBLE, 0, comm);
  together(comm, [&] {
    for (std::size_t i = 0; i < mine.size(); ++i)
      require(same_number(mine[i].second, theirs[i]), who, ": ",
              mine[i].first, " is ",
              mine[i].second, " on rank ", rank, " but ", theirs[i],
              " on rank 0");
    f();
  });
}

/// A number to compare: that of an option, or infinity for none.
template <class T>
double or_infinite(const std::optional<T>& x) {
  return x ? double(*x) : std::numeric_limits<double>::infinity();
}

// view some rows and columns
/// Rows first .. first + n - 1 of a view.
template <class View>
View rows_of(View m, Index first, Index n) {
  return {m.data() + first * m.outerStride(), n, m.cols(),
          Eigen::OuterStride<>(m.outerStride())};
}
/// Columns first .. first + n - 1 of a view.
template <class View>
View columns_of(View m, Index first, Index n) {
  return {m.data() + first, m.rows(), n,
          Eigen::OuterStride<>(m.outerStride())};
}
/// Head h's columns of queries, of keys beside values, and of outputs.
template <class T, class Q, class KV, class O>
auto head_columns(const FlashHeads<T>& many, Index h, const Q& q,
                  const KV& kv, const O& o) {
  const Index G = many.kv_heads, g = h / (many.heads / G);
  const Index d_k = q.cols() / many.heads, d_v = o.cols() / many.heads;
  return std::tuple(columns_of(q, h * d_k, d_k), columns_of(kv, g * d_k, d_k),
                    columns_of(kv, G * d_k + g * d_v, d_v),
                    columns_of(o, h * d_v, d_v));
}

// check the heads of all matrices
/// Throws std::invalid_argument unless the columns divide into the heads.
template <class T, class A, class B, class C>
void check_heads(const char* who, const FlashHeads<T>& many, const A& Q,
                 const B& K, const C& V) {
  const Index H = many.heads, G = many.kv_heads;
  require(G >= 1 && H >= 1 && H % G == 0 && Q.cols() % H == 0 &&
              K.cols() % G == 0 && V.cols() % G == 0,
          who, ": Q is ", shape(Q), ", K ", shape(K), ", V ", shape(V),
          " for ", H, " heads of queries and ", G, " of keys");
  for (const auto* list : {&many.slopes, &many.sinks})
    require(list->empty() || std::ssize(*list) == H, who, ": ",
            list->size(), " slopes or sinks for ", H, " heads");
}

// check the arguments of all ranks
/// 53 bits that depend on the numbers and on their order.
inline double fingerprint(std::span<const Index> data) {
  std::uint64_t h = 14695981039346656037u;
  for (const Index x : data) h = (h ^ std::uint64_t(x)) * 1099511628211u,
                             h ^= h >> 29;
  return double(h >> 11);
}

/// The same for the bits of numbers.
template <class T>
double fingerprint(const std::vector<T>& numbers) {
  std::vector<Index> data;
  for (const T x : numbers) data.push_back(std::bit_cast<Index>(double(x)));
  return fingerprint(std::span<const Index>(data));
}

/// The same for a placement.
inline double fingerprint(const Shards& shards) {
  std::vector<Index> data;
  for (const auto& pieces : shards.of) {
    data.push_back(-1);
    for (const Piece& x : pieces)
      data.insert(data.end(), {x.first, x.n, x.step});
  }
  return fingerprint(std::span<const Index>(data));
}
/// 53 bits that depend on a mask and its blocks; -1 without one.
template <class T>
double fingerprint_of_mask(const FlashRule<T>& rule) {
  if (!rule.keep) return -1;
  std::vector<Index> data{rule.keep->rows(), rule.keep->cols(), rule.keep_q,
                          rule.keep_k};
  for (Index i = 0; i < rule.keep->size(); ++i)
    data.push_back(rule.keep->data()[i]);
  return fingerprint(std::span<const Index>(data));
}
/// What must be the same on all ranks of a ring.
template <class T>
std::vector<Named> to_agree(const Ring& ring, const Matrix<T>& Q,
                            const Matrix<T>& V, const FlashHeads<T>& many) {
  const FlashRule<T>& r = many.rule;
  const auto length = [](const std::optional<Index>& x) {
    return x ? double(*x) : std::numeric_limits<double>::infinity();
  };
  return {{"size of a number", double(sizeof(T))},
          {"width of Q", double(Q.cols())}, {"width of V", double(V.cols())},
          {"heads of queries", double(many.heads)},
          {"heads of keys", double(many.kv_heads)},
          {"slopes (fingerprint)", fingerprint(many.slopes)},
          {"sinks (fingerprint)", fingerprint(many.sinks)},
          {"queries (fingerprint)", fingerprint(ring.queries)},
          {"keys (fingerprint)", fingerprint(ring.keys)},
          {"mask (fingerprint)", fingerprint_of_mask(r)},
          {"scale", or_infinite(r.scale)},
          {"softcap", or_infinite(r.softcap)}, {"slope", double(r.slope)},
          {"sink", or_infinite(r.sink)}, {"offset", length(r.offset)},
          {"left", length(r.left)}, {"right", length(r.right)},
          {"queries in use", length(r.queries)},
          {"keys in use", length(r.keys)},
          {"key block", double(r.key_block)}, {"groups", double(r.groups)}};
}
/// Throws on all ranks, the same, unless arguments are in order on each and
/// agree; extra() is checked with them.
template <class T, class Extra>
void check_ring(const char* who, const Ring& ring, const Matrix<T>& Q,
                const Matrix<T>& K, const Matrix<T>& V,
                const FlashHeads<T>& many, Extra extra) {
  agree(ring.comm, who, to_agree(ring, Q, V, many), [&] {
    const FlashRule<T>& rule = many.rule;
    const int p = ring.size(), rank = ring.rank();
    require(ring.queries.ranks() == p && ring.keys.ranks() == p, who,
            ": queries for ", ring.queries.ranks(), " and keys for ",
            ring.keys.ranks(), " ranks, of which there are ", p);
    require(Q.rows() == ring.queries.rows(rank), who, ": Q is ", shape(Q),
            ", expected ", ring.queries.rows(rank), " rows");
    require(K.rows() == ring.keys.rows(rank), who, ": K is ", shape(K),
            ", expected ", ring.keys.rows(rank), " rows");
    check_heads(who, many, Q, K, V);
    bool sloping = false;

    // check what the kernel will be given
    const Index d_k = K.cols() / many.kv_heads, d_v = V.cols() / many.kv_heads;
    for (Index h = 0; h != many.heads; ++h) {
      FlashRule<T> local = many.rule_of(h);
      local.keep = nullptr, local.queries.reset(), local.keys.reset();
      const Out<T> O(nullptr, Q.rows(), d_v, Eigen::OuterStride<>(d_v));
      Plan<T>(who, {columns_of(view_in<T>(Q), 0, Q.cols() / many.heads),
                    columns_of(view_in<T>(K), 0, d_k),
                    columns_of(view_in<T>(V), 0, d_v), O, nullptr, local});
      sloping = sloping || local.slope != 0;
    }

    // check a rule against all positions
    const Index n_q = ring.queries.total(), n_k = ring.keys.total();
    require(rule.queries.value_or(0) >= 0 && rule.keys.value_or(0) >= 0 &&
                rule.queries.value_or(0) <= n_q && rule.keys.value_or(0) <= n_k,
            who, ": lengths ", rule.queries.value_or(n_q), " and ",
            rule.keys.value_or(n_k), " of ", n_q, " queries and ", n_k, " keys");
    require(!rule.keep || (rule.keep_q >= 1 && rule.keep_k >= 1 &&
                           rule.keep->rows() * rule.keep_q >= n_q &&
                           rule.keep->cols() * rule.keep_k >= n_k),
            who, ": keep is ", rule.keep ? shape(*rule.keep) : "", " blocks of ",
            rule.keep_q, "x", rule.keep_k, " for ", n_q, "x", n_k, " pairs");
    require(!rule.bias, who, ": a bias is not sharded");
    for (const auto& qs : ring.queries.of) for (const Piece& q : qs)
      for (const auto& ks : ring.keys.of) for (const Piece& k : ks) {
        require(q.step == k.step, who, ": pieces of steps ", q.step, " and ",
                k.step);
        require(!sloping || q.step == 1, who,
                ": a slope needs pieces of step 1, not ", q.step);
      }
    extra();
  });
}

// keep the states of many rows
/// States of the rows of H heads (def. online), for merging finished
/// blocks (prop. finished-state): m and l are H x n, o is n x H d_v.
template <class T>
struct RowStates {
  Matrix<T> m, l, o;

  RowStates(Index n, Index width, Index H)
      : m(Matrix<T>::Constant(H, n, -std::numeric_limits<T>::infinity())),
        l(Matrix<T>::Zero(H, n)), o(Matrix<T>::Zero(n, width)) {}
  void absorb(Index first, const Matrix<T>& O, const Matrix<T>& logZ);
};
/// Rows first, first + 1, ... meet further keys, whose outputs are O and
/// log-sum-exps logZ.
template <class T>
void RowStates<T>::absorb(Index first, const Matrix<T>& O,
                          const Matrix<T>& logZ) {
  const Index d = o.cols() / m.rows();
  for (Index h = 0; h < m.rows(); ++h)
    for (Index i = 0; i < O.rows(); ++i) {
      const T L = logZ(h, i);
      if (is_forbidden(L)) continue;
      T& M = m(h, first + i);
      const T top = M < L ? L : M;
      const T before = decay(M, top), now = decay(L, top);
      auto sum = o.row(first + i).segment(h * d, d);
      sum = before * sum + now * O.row(i).segment(h * d, d);
      l(h, first + i) = before * l(h, first + i) + now;
      M = top;
    }
}

// go through the pairs of two shards
/// Calls f(q, row, k, at) for chunks q of the queries of one rank and
/// pieces k of the keys of another; row and at are their first rows.
template <class F>
void for_pairs(const Shards& queries, int rank, const Shards& keys,
               int from, Index chunk, F f) {
  Index row = 0;
  for (const Piece& q : queries.of[std::size_t(rank)])
    for (Index i = 0; i < q.n; i += chunk) {
      const Piece part{q.first + i * q.step, std::min(chunk, q.n - i),
                       q.step};
      Index at = 0;
      for (const Piece& k : keys.of[std::size_t(from)]) {
        f(part, row, k, at);
        at += k.n;
      }
      row += part.n;
    }
}

// let the queries of a rank meet a block
/// Lets this rank's queries meet the block of rank `from`, which is here.
template <class T>
void meet_block(const Ring& ring, int from, const Matrix<T>& Q,
                const FlashHeads<T>& many, Convoy<T>& kv, RowStates<T>& x) {
  Matrix<T> O, logZ;
  Matrix<bool> keep;
  for_pairs(ring.queries, ring.rank(), ring.keys, from,
            lanes<T> * many.rule.groups,
            [&](const Piece& q, Index row, const Piece& k, Index at) {
    O.resize(q.n, x.o.cols()), logZ.resize(many.heads, q.n);
    FlashRule<T> local = rule_between(
        many.rule, q, k, ring.queries.total(), ring.keys.total(), keep);

    // compute all heads of a pair of pieces
    std::vector<FlashHead<T>> all;
    for (Index h = 0; h < many.heads; ++h) {
      const auto [Qh, Kh, Vh, Oh] = head_columns(
          many, h, rows_of(view_in<T>(Q), row, q.n),
          rows_of(view_in<T>(kv.here), at, k.n), view_out(O));
      local.slope = many.rule_of(h).slope;
      all.push_back({Qh, Kh, Vh, Oh, logZ.data() + h * q.n, local});
    }
    flash_forward<T>(all);
    x.absorb(row, O, logZ);
    kv.poke();
  });
}

// start and finish the rows of a rank
/// K and V side by side, n x (w_K + w_V).
template <class T>
Matrix<T> side_by_side(const Matrix<T>& K, const Matrix<T>& V) {
  Matrix<T> block(K.rows(), K.cols() + V.cols());
  block.leftCols(K.cols()) = K;
  block.rightCols(V.cols()) = V;
  return block;
}

/// Sinks are the first keys of the rows in use.
template <class T>
void start_with_sinks(const Ring& ring, const FlashHeads<T>& many,
                      RowStates<T>& x) {
  for (Index h = 0; h < many.heads; ++h) {
    const FlashRule<T> rule = many.rule_of(h);
    if (!rule.sink) continue;
    Index row = 0;
    for (const Piece& q : ring.queries.of[std::size_t(ring.rank())]) {
      const Index used = rows_in_use(q, rule.queries);
      x.m.row(h).segment(row, used).setConstant(*rule.sink);
      x.l.row(h).segment(row, used).setOnes();
      row += q.n;
    }
  }
}
/// Divides by l, and makes m the log-sum-exp.
template <class T>
HeadsOutput<T> finish_rows(RowStates<T> x) {
  const Index d = x.o.cols() / x.m.rows();
  for (Index h = 0; h < x.m.rows(); ++h)
    for (Index i = 0; i < x.m.cols(); ++i) {
      if (x.l(h, i) == 0) continue;
      x.o.row(i).segment(h * d, d) /= x.l(h, i);
      x.m(h, i) += std::log(x.l(h, i));
    }
  return {std::move(x.o), std::move(x.m)};
}

// keep dominant keys until the end
/// For each row of each head: its dominant key, if any, where that lives,
/// and the sum of the cotangents of all others (prop. second-lap).
template <class T>
struct Stars {
  std::vector<int> owner;     // its rank, or -1
  std::vector<Index> at;      // its row there
  Vector<T> slope, rest, dX;  // derivative of the cap; sum; cotangent
  Matrix<T> K;

  Stars(Index n, Index d_k)
      : owner(std::size_t(n), -1), at(std::size_t(n)), slope(n),
        rest(Vector<T>::Zero(n)), dX(n), K(n, d_k) {}
};

// let a block meet a rank going back
/// A rank going back: what it was given, what it finds and what it keeps.
template <class T>
struct BackRank {
  const Ring& ring;
  const FlashHeads<T>& many;
  const Matrix<T>&Q, &dO, &dlogZ;
  HeadsOutput<T>& y;
  HeadsGradient<T>& g;
  Convoy<T>&kv, &sums;
  Stars<T> stars;
  BackwardWork<T> work;

  void take_block(int from, Matrix<T>& found);
  void take_pair(const FlashHead<T>& head, const FlashCotangent<T>& bar,
            Index first, Index at, int from);
  void settle(Index h, Index i);
};
template <class T>
void BackRank<T>::take_block(int from, Matrix<T>& found) {
  Matrix<bool> keep;
  for_pairs(ring.queries, ring.rank(), ring.keys, from,
            lanes<T> * many.rule.groups,
            [&](const Piece& q, Index row, const Piece& k, Index at) {
    FlashRule<T> local = rule_between(
        many.rule, q, k, ring.queries.total(), ring.keys.total(), keep);
    for (Index h = 0; h < many.heads; ++h) {
      const Index first = h * Q.rows() + row;
      const auto [Qh, Kh, Vh, Oh] = head_columns(
          many, h, rows_of(view_in<T>(Q), row, q.n),
          rows_of(view_in<T>(kv.here), at, k.n),
          rows_of(view_out(y.O), row, q.n));
      const auto [dQh, dKh, dVh, dOh] = head_columns(
          many, h, rows_of(view_out(g.Q), row, q.n),
          rows_of(view_out(found), at, k.n), rows_of(view_in<T>(dO), row, q.n));
      const T* dL = dlogZ.size() > 0 ? dlogZ.data() + first : nullptr;
      local.slope = many.rule_of(h).slope;
      take_pair({Qh, Kh, Vh, Oh, y.logZ.data() + first, local},
           {dOh, dL, dQh, dKh, dVh}, first, at, from);
    }
    kv.poke(), sums.poke();
  });
}
template <class T>
void BackRank<T>::take_pair(const FlashHead<T>& head,
                       const FlashCotangent<T>& bar, Index first, Index at,
                       int from) {
  const Plan<T> plan("ring_attention_vjp", head);
  const Index b = many.rule.key_block;
  Out<T> dQh(bar.dQ);
  for (Index q = 0; q < plan.queries; q += lanes<T>) {
    start_back(work, head, bar, plan, q);
    const Index end = plan.last(q + work.n - 1);
    for (Index j = plan.first(q); j < end; j += b)
      if (plan.any(q, work.n, j, std::min(j + b, end)))
        attend_back(work, head, bar, plan, j, std::min(b, end - j));
    for (Index i = 0; i < work.n; ++i) {
      for (Index a = 0; a < dQh.cols(); ++a)
        dQh(q + i, a) += work.y[std::size_t(a)][i];
      stars.rest[first + q + i] += work.rest[i];

      // remember a dominant key
      if (const Index star = work.star[std::size_t(i)]; star >= 0) {
        const Index mine = first + q + i;
        stars.owner[std::size_t(mine)] = from;
        stars.at[std::size_t(mine)] = at + star;
        stars.slope[mine] = work.star_slope[i];
        stars.K.row(mine) = head.K.row(star);
      }
    }
  }
}
/// Finishes row i of head h: dQ, and its part of the sink's cotangent.
template <class T>
void BackRank<T>::settle(Index h, Index i) {
  const Index at = h * Q.rows() + i, d_v = dO.cols() / many.heads;
  const Index d_k = stars.K.cols();
  const T L = y.logZ(h, i), dL = dlogZ.size() > 0 ? dlogZ(h, i) : T(0);
  if (is_forbidden(L)) return;
  T dsink = 0;
  if (const auto sink = many.rule_of(h).sink)
    dsink = std::exp(*sink - L) *
            (dL - y.O.row(i).segment(h * d_v, d_v).dot(
                      dO.row(i).segment(h * d_v, d_v)));
  g.sinks[std::size_t(h)] += dsink;
  if (stars.owner[std::size_t(at)] < 0) return;
  stars.dX[at] = (dL - dsink - stars.rest[at]) * stars.slope[at];
  g.Q.row(i).segment(h * d_k, d_k) += stars.dX[at] * stars.K.row(at);
}
}  // namespace detail

// attend around the ring
/// Exact attention of sequences spread over the ranks of a ring: this
/// rank's rows of Q, H d_k wide, K, H_k d_k, and V, H_k d_v, give those of
/// O, n x H d_v, and logZ, H x n.  Collective.  Extra memory O(n / p).
/// Throws std::invalid_argument or std::domain_error, the same on all
/// ranks, before anything is computed (thm. ring-rounding).
template <class T>
HeadsOutput<T> ring_attention(const Ring& ring, const Matrix<T>& Q,
                              const Matrix<T>& K, const Matrix<T>& V,
                              const FlashHeads<T>& many = {}) {
  detail::check_ring<T>("ring_attention", ring, Q, K, V, many, [] {});
  const int p = ring.size(), rank = ring.rank();
  detail::Convoy<T> kv{ring, 0, detail::side_by_side<T>(K, V), {}};
  const Index width = V.cols() / many.kv_heads * many.heads;
  detail::RowStates<T> x(Q.rows(), width, many.heads);
  detail::start_with_sinks(ring, many, x);
  for (int t = 0; t < p; ++t) {
    const int from = (rank - t + p) % p;
    if (t + 1 < p) kv.depart(ring.keys.rows((from + p - 1) % p));
    detail::meet_block(ring, from, Q, many, kv, x);
    if (t + 1 < p) kv.arrive();
  }
  return detail::finish_rows(std::move(x));
}

// take the ring back
/// Gradient of <dO, O> + <dlogZ, logZ>, summed over all ranks, for y =
/// ring_attention(ring, Q, K, V, many): this rank's rows of dQ, dK and dV,
/// and the sinks', the same on all.  dlogZ is H x n, or empty.  Collective;
/// throws like ring_attention (prop. second-lap).
template <class T>
HeadsGradient<T> ring_attention_vjp(
    const Ring& ring, const Matrix<T>& Q, const Matrix<T>& K,
    const Matrix<T>& V, HeadsOutput<T> y, const Matrix<T>& dO,
    const FlashHeads<T>& many = {}, const Matrix<T>& dlogZ = {}) {
  detail::check_ring<T>("ring_attention_vjp", ring, Q, K, V, many, [&] {
    // check the cotangents of a rank
    const Index H = many.heads, width = V.cols() / many.kv_heads * H;
    require(dO.rows() == Q.rows() && dO.cols() == width,
            "ring_attention_vjp: dO is ", shape(dO), ", expected ", Q.rows(),
            "x", width);
    require(y.O.rows() == Q.rows() && y.O.cols() == width &&
                y.logZ.rows() == H && y.logZ.cols() == Q.rows(),
            "ring_attention_vjp: O is ", shape(y.O), " and logZ ",
            shape(y.logZ), ", expected ", Q.rows(), "x", width, " and ", H, "x",
            Q.rows());
    require(dlogZ.size() == 0 ||
                (dlogZ.rows() == H && dlogZ.cols() == Q.rows()),
            "ring_attention_vjp: dlogZ is ", shape(dlogZ), ", expected ", H, "x",
            Q.rows());
  });

  // start the two convoys of a rank
  const int p = ring.size(), rank = ring.rank();
  const Index H = many.heads, d_k = Q.cols() / H;
  const T scale = many.rule.scale.value_or(T(1) / std::sqrt(T(d_k)));
  HeadsGradient<T> g{Matrix<T>::Zero(Q.rows(), Q.cols()), {}, {},
                     std::vector<T>(std::size_t(H), T(0))};
  detail::Convoy<T> kv{ring, 0, detail::side_by_side<T>(K, V), {}};
  detail::Convoy<T> sums{ring, 1, {}, {}};
  detail::BackRank<T> back{
      ring, many, Q, dO, dlogZ, y, g, kv, sums,
      detail::Stars<T>(H * Q.rows(), d_k),
      detail::BackwardWork<T>(d_k, V.cols() / many.kv_heads,
                              many.rule.key_block)};

  // go round with keys, values and sums
  Matrix<T> found;
  for (int t = 0; t < p; ++t) {
    const int from = (rank - t + p) % p, before = (from + p - 1) % p;
    if (t + 1 < p) kv.depart(ring.keys.rows(before));
    found.setZero(kv.here.rows(), kv.here.cols());
    back.take_block(from, found);
    if (t == 0) {
      sums.here = found;
    } else {
      sums.arrive();
      sums.here += found;
    }
    if (p > 1) sums.depart(ring.keys.rows(before));
    if (t + 1 < p) kv.arrive();
  }
  if (p > 1) sums.arrive();
  for (Matrix<T>* gone : {&kv.here, &kv.next, &found}) gone->resize(0, 0);
  for (Index h = 0; h < H; ++h)
    for (Index i = 0; i < Q.rows(); ++i) back.settle(h, i);

  // make the second lap if anybody needs it
  int mine = 0, any = 0;
  for (const int owner : back.stars.owner) mine |= owner >= 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, ring.comm);
  for (int t = 0; any && t < p; ++t) {
    const int from = (rank - t + p) % p;
    for (std::size_t k = 0; k < back.stars.owner.size(); ++k) {
      if (back.stars.owner[k] != from) continue;
      const Index h = Index(k) / Q.rows(), i = Index(k) % Q.rows();
      sums.here.row(back.stars.at[k])
          .segment(h / (H / many.kv_heads) * d_k, d_k) +=
          back.stars.dX[Index(k)] * Q.row(i).segment(h * d_k, d_k);
    }
    if (p == 1) break;
    sums.depart(ring.keys.rows((from + p - 1) % p));
    sums.arrive();
  }
  MPI_Allreduce(MPI_IN_PLACE, g.sinks.data(), int(H), detail::mpi_type<T>(),
                MPI_SUM, ring.comm);
  g.Q *= scale;
  g.K = scale * sums.here.leftCols(K.cols());
  g.V = sums.here.rightCols(V.cols());
  return g;
}

// turn heads and decode across ranks
namespace detail {
/// Sends the first sent[0] numbers to rank 0, the next to rank 1, ...; what
/// arrives lies in the order of ranks.  Collective.
template <class T>
void exchange_all(const Ring& ring, const T* out, const std::vector<int>& sent,
              T* in, const std::vector<int>& received);

// turn positions into heads
/// Columns of the widest matrix that is exchanged: Q, K, V or O.
template <class T>
Index widest(const FlashHeads<T>& many, Index q, Index k, Index v) {
  return std::max({q, k, v * many.heads / many.kv_heads});
}
/// The columns of so many heads of d numbers, for each rank.
inline std::vector<Index> widths_of(std::vector<Index> heads, Index d) {
  for (Index& h : heads) h *= d;
  return heads;
}

/// Sends rows of `mine` to each rank's columns and the reverse: column
/// block r has widths[r] columns, rank s has lengths[s] rows.  Returns
/// all rows of this rank's columns.
template <class T>
Matrix<T> rows_to_columns(const Ring& ring, const Matrix<T>& mine,
                          const std::vector<Index>& widths,
                          const std::vector<Index>& lengths) {
  const int p = ring.size(), rank = ring.rank();
  std::vector<T> out;
  out.reserve(std::size_t(mine.size()));

  // pack the columns of each rank
  std::vector<int> sent, received;
  Index first = 0, n = 0;
  for (std::size_t r = 0; r < std::size_t(p); ++r) {
    for (Index i = 0; i < mine.rows(); ++i)
      for (Index c = 0; c < widths[r]; ++c) out.push_back(mine(i, first + c));
    first += widths[r], n += lengths[r];
    sent.push_back(int(mine.rows() * widths[r]));
    received.push_back(int(lengths[r] * widths[std::size_t(rank)]));
  }
  Matrix<T> all(n, widths[std::size_t(rank)]);
  exchange_all<T>(ring, out.data(), sent, all.data(), received);
  return all;
}
/// The reverse of rows_to_columns: this rank's rows of all columns.
template <class T>
Matrix<T> columns_to_rows(const Ring& ring, const Matrix<T>& all,
                          const std::vector<Index>& widths,
                          const std::vector<Index>& lengths) {
  const auto rank = std::size_t(ring.rank());
  std::vector<int> sent, received;
  Index columns = 0;
  for (std::size_t r = 0; r < widths.size(); ++r) {
    sent.push_back(int(lengths[r] * all.cols()));
    received.push_back(int(lengths[rank] * widths[r]));
    columns += widths[r];
  }
  Matrix<T> mine(lengths[rank], columns), in(1, lengths[rank] * columns);
  exchange_all<T>(ring, all.data(), sent, in.data(), received);
  const T* from = in.data();
  Index first = 0;
  for (const Index width : widths) {
    for (Index i = 0; i < mine.rows(); ++i, from += width)
      std::copy(from, from + width, mine.data() + i * columns + first);
    first += width;
  }
  return mine;
}
/// Sends the first sent[0] numbers to rank 0, the next to rank 1, ...; what
/// arrives lies in the order of ranks.  Collective.
template <class T>
void exchange_all(const Ring& ring, const T* out, const std::vector<int>& sent,
              T* in, const std::vector<int>& received) {
  std::vector<int> a(sent.size()), b(sent.size());
  std::exclusive_scan(sent.begin(), sent.end(), a.begin(), 0);
  std::exclusive_scan(received.begin(), received.end(), b.begin(), 0);
  const double start = MPI_Wtime();
  MPI_Alltoallv(out, sent.data(), a.data(), mpi_type<T>(), in,
                received.data(), b.data(), mpi_type<T>(), ring.comm);
  if (!ring.traffic) return;
  ring.traffic->waited += MPI_Wtime() - start;
  for (int r = 0; r < ring.size(); ++r)
    if (r != ring.rank() && sent[std::size_t(r)] > 0) {
      ++ring.traffic->messages;
      ring.traffic->bytes += sent[std::size_t(r)] * long(sizeof(T));
    }
}
}  // namespace detail

// attend with heads spread over ranks
/// Exact attention, shaped like ring_attention's, of which each rank
/// computes some heads; shards must be contiguous.  Returns this rank's
/// rows of O.  Collective.  Throws std::invalid_argument, on all ranks.
template <class T>
Matrix<T> head_parallel(const Ring& ring, const Matrix<T>& Q,
                        const Matrix<T>& K, const Matrix<T>& V,
                        const FlashHeads<T>& many = {}) {
  detail::check_ring<T>("head_parallel", ring, Q, K, V, many, [&] {
    // check what an exchange can carry
    for (const Shards* x : {&ring.queries, &ring.keys}) {
      Index next = 0;
      for (const auto& pieces : x->of) {
        require(pieces.size() == 1 && pieces[0].first == next,
                "head_parallel: shards are not contiguous");
        next += pieces[0].n;
      }
    }

    // check that counts fit an integer
    const Shards share = contiguous(many.kv_heads, ring.size());
    const Index most = std::max(ring.queries.total(), ring.keys.total());
    const Index width = detail::widest(many, Q.cols(), K.cols(), V.cols());
    const Index numbers = std::max(
        std::max(Q.rows(), K.rows()) * width,
        most * (width * share.rows(ring.rank()) / many.kv_heads));
    require(numbers < (Index(1) << 31), "head_parallel: ", numbers,
            " numbers are too many for one exchange");
  });
  const Index d_k = K.cols() / many.kv_heads, d_v = V.cols() / many.kv_heads;

  // divide heads and rows among ranks
  const Index s = many.heads / many.kv_heads;
  const Shards share = contiguous(many.kv_heads, ring.size());
  const Index first = share.of[std::size_t(ring.rank())][0].first * s;
  std::vector<Index> mine, n_q, n_k;
  for (int r = 0; r < ring.size(); ++r) {
    mine.push_back(share.rows(r));
    n_q.push_back(ring.queries.rows(r)), n_k.push_back(ring.keys.rows(r));
  }
  using detail::rows_to_columns, detail::widths_of;
  const Matrix<T> q = rows_to_columns(ring, Q, widths_of(mine, s * d_k), n_q);
  const Matrix<T> k = rows_to_columns(ring, K, widths_of(mine, d_k), n_k);
  const Matrix<T> v = rows_to_columns(ring, V, widths_of(mine, d_v), n_k);
  Matrix<T> O(q.rows(), v.cols() * s);
  for (Index h = 0; h < mine[std::size_t(ring.rank())] * s; ++h)
    O.middleCols(h * d_v, d_v) = flash(q.middleCols(h * d_k, d_k),
        k.middleCols(h / s * d_k, d_k), v.middleCols(h / s * d_v, d_v),
        many.rule_of(first + h)).O;
  return detail::columns_to_rows(ring, O, widths_of(mine, s * d_v), n_q);
}

// merge states as a reduction of MPI
namespace detail {
/// The operation of eq. merge on states (m, l, o), d_v + 2 numbers each.
template <class T>
void merge_states(void* in, void* inout, int* n, MPI_Datatype* type) {
  int bytes;
  MPI_Type_size(*type, &bytes);
  const Index d = bytes / Index(sizeof(T)) - 2;
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(inout);
  for (int k = 0; k < *n; ++k, from += d + 2, to += d + 2) {
    Eigen::Map<RowVector<T>> o(to + 2, d);
    const Online<T> y =
        merge<T>({from[0], from[1],
                  Eigen::Map<const RowVector<T>>(from + 2, d)},
                 {to[0], to[1], o});
    to[0] = y.m, to[1] = y.l, o = y.o;
  }
}
}  // namespace detail
/// Merges state i of all ranks, for each i; all ranks get all.  Collective;
/// states and their values must be equally many on all ranks.
template <class T>
void reduce_states(MPI_Comm comm, std::vector<Online<T>>& states) {
  if (states.empty()) return;
  const Index d = states[0].o.size();

  // write the states into one matrix
  Matrix<T> all(std::ssize(states), d + 2);
  for (Index i = 0; i < all.rows(); ++i) {
    const Online<T>& x = states[std::size_t(i)];
    all(i, 0) = x.m, all(i, 1) = x.l, all.row(i).tail(d) = x.o;
  }
  MPI_Datatype state;
  MPI_Op op;
  MPI_Type_contiguous(int(d + 2), detail::mpi_type<T>(), &state);
  MPI_Type_commit(&state);
  MPI_Op_create(detail::merge_states<T>, 1, &op);
  MPI_Allreduce(MPI_IN_PLACE, all.data(), int(all.rows()), state, op, comm);
  MPI_Op_free(&op);
  MPI_Type_free(&state);
  for (Index i = 0; i < all.rows(); ++i)
    states[std::size_t(i)] = {all(i, 0), all(i, 1), all.row(i).tail(d)};
}

// decode with a cache on many ranks
/// States of a query's H heads, side by side in q, the same on all ranks,
/// on a cache of which this rank has rows of K, H_k d_k wide, and of V,
/// H_k d_v.  All ranks get them.  Collective.  Throws
/// std::invalid_argument, on all ranks, for shapes (prop. tree).
template <class T>
std::vector<Online<T>> tree_decode(MPI_Comm comm, const RowVector<T>& q,
                                   const Matrix<T>& K, const Matrix<T>& V,
                                   Index H = 1, Index H_k = 1,
                                   std::optional<T> scale = {}) {
  // agree about a query and its cache
  detail::agree(
      comm, "tree_decode",
      {{"size of a number", double(sizeof(T))},
       {"width of q", double(q.size())}, {"width of V", double(V.cols())},
       {"heads of queries", double(H)}, {"heads of keys", double(H_k)},
       {"scale", detail::or_infinite(scale)}}, [&] {
    detail::check_heads("tree_decode", FlashHeads<T>{H, H_k}, q, K, V);
    require(K.rows() == V.rows(), "tree_decode: K is ", shape(K), ", V is ",
            shape(V));
    require(scale || q.size() > 0, "tree_decode: d_k = 0 needs a scale");
  });
  const Index d_k = q.size() / H, d_v = V.cols() / H_k;
  std::vector<Online<T>> states;
  for (Index h = 0; h < H; ++h) {
    const Index g = h / (H / H_k);
    const Page<T> page{
        detail::columns_of(view_in<T>(K), g * d_k, d_k),
        detail::columns_of(view_in<T>(V), g * d_v, d_v)};
    states.push_back(decode<T>(q.segment(h * d_k, d_k), {&page, 1}, scale));
  }
  reduce_states(comm, states);
  return states;
}
}  // namespace attn
