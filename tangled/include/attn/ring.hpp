// include/attn/ring.hpp: tangled from chapters/10-ring.nw; edit that file, not this one.
#pragma once
#include <mpi.h>
#ifdef _OPENMP
#include <omp.h>
#endif

// include what the ring needs
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <limits>
#include <mutex>
#include <new>

// include what the ring needs besides
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/flash.hpp"
#include "attn/online.hpp"
#include "attn/random.hpp"
#include "attn/shards.hpp"

namespace attn {
// end the process unless MPI obeys
namespace detail {
/// Ends this process unless MPI has done what it was asked.
inline void must(int code) noexcept {
  if (code != MPI_SUCCESS) std::terminate();
}
}  // namespace detail

// say what a ring is
/// What a rank has sent in messages to single ranks, and the seconds it has
/// waited for such messages; collectives are not counted.
struct Traffic {
  long messages = 0, bytes = 0;
  double waited = 0;
};

/// A ring of ranks and the placement of queries and keys on them.  A call
/// that takes longer than `patience` > 0 seconds ends the job; a limit
/// below 1e9 seconds needs MPI_Init_thread with MPI_THREAD_FUNNELED.
struct Ring {
  MPI_Comm comm;
  Shards queries, keys;
  Traffic* traffic = nullptr;
  double patience = std::numeric_limits<double>::infinity();

  // ask who is here
  int rank() const {
    int r = 0;
    detail::must(MPI_Comm_rank(comm, &r));
    return r;
  }
  int size() const {
    int p = 0;
    detail::must(MPI_Comm_size(comm, &p));
    return p;
  }
};
namespace detail {
// prepare what ranks share

// keep a communicator of our own
/// Called by MPI when the communicator is freed that has a duplicate.
inline int free_duplicate(MPI_Comm, int, void* value, void*) {
  int over = 0;
  MPI_Finalized(&over);
  auto* copy = static_cast<MPI_Comm*>(value);
  if (!over) MPI_Comm_free(copy);
  delete copy;
  return MPI_SUCCESS;
}

/// The duplicate of comm on which this library sends.  Collective.
inline MPI_Comm own(MPI_Comm comm) noexcept {
  static const int key = [] {
    int k;
    must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &k,
                                nullptr));
    return k;
  }();
  MPI_Comm* copy = nullptr;
  int found = 0;
  must(MPI_Comm_get_attr(comm, key, &copy, &found));
  if (!found)

    // duplicate the communicator
    {
      copy = new MPI_Comm;
      must(MPI_Comm_dup(comm, copy));
      must(MPI_Comm_set_errhandler(*copy, MPI_ERRORS_ARE_FATAL));
      must(MPI_Comm_set_attr(comm, key, copy));
    }
  return *copy;
}

// watch the clock during a call
constexpr double forever = 1e9;  // seconds
/// Throws std::invalid_argument unless a call may have such a limit.
inline void require_patience(const char* who, double seconds) {
  require(seconds > 0, who, ": patience is ", seconds);
  int level = 0;
  must(MPI_Query_thread(&level));
  require(seconds >= forever || level >= MPI_THREAD_FUNNELED, who,
          ": a limit needs MPI_Init_thread with MPI_THREAD_FUNNELED");
}
/// Ends this process, and with it the job, unless it is destroyed within
/// so many seconds.
struct Watch {
  std::mutex lock;
  std::condition_variable bell;
  bool over = false;
  std::thread guard;

  Watch(const char* who, MPI_Comm comm, double seconds) noexcept;
  Watch(const Watch&) = delete;
  ~Watch();
};
inline Watch::~Watch() {
  if (!guard.joinable()) return;
  { const std::lock_guard hold(lock); over = true; }
  bell.notify_one();
  guard.join();
}
inline Watch::Watch(const char* who, MPI_Comm comm,
                    double seconds) noexcept {
  if (!(seconds > 0 && seconds < forever)) return;
  int rank = 0, level = 0;
  must(MPI_Query_thread(&level));
  if (level < MPI_THREAD_FUNNELED) return;
  must(MPI_Comm_rank(comm, &rank));
  guard = std::thread([this, who, rank, seconds] {
    std::unique_lock hold(lock);
    const std::chrono::duration<double> most(seconds);
    if (bell.wait_for(hold, most, [this] { return over; })) return;
    std::fprintf(stderr, "%s: rank %d is not through after %g seconds; "
                 "the job is ended\n", who, rank, seconds);
    std::_Exit(3);
  });
}

// object together
/// A kind of exception (0: none) and its words, as far as they fit.
struct Complaint {
  int kind = 0;
  char words[508] = "";
};
inline Complaint complain(int kind, const char* words) {
  Complaint x{kind};
  std::snprintf(x.words, sizeof x.words, "%s", words);
  return x;
}

/// What f throws.
template <class F>
Complaint complaint(F f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return complain(1, e.what());
  } catch (const std::domain_error& e) {
    return complain(2, e.what());
  } catch (const std::bad_alloc& e) {
    return complain(3, e.what());
  } catch (const std::exception& e) {
    return complain(4, e.what());
  } catch (...) {
    return complain(4, "an exception of unknown type");
  }
  return {};
}
/// No memory on a rank, and which.
struct OutOfMemory : std::bad_alloc {
  std::array<char, 540> text;
  OutOfMemory(const char* words, int rank) {
    std::snprintf(text.data(), text.size(), "%s (on rank %d)", words, rank);
  }
  const char* what() const noexcept override { return text.data(); }
};
/// Calls f on every rank.  If it throws on any, all throw what the first of
/// them did: std::invalid_argument, std::domain_error, std::bad_alloc, or
/// std::runtime_error for all others.  Collective.
template <class F>
void together(MPI_Comm comm, F f) {
  int rank, p, first;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &p);
  Complaint x = complaint(f);
  const int mine = x.kind > 0 ? rank : p;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == p) return;

  // let all ranks throw what one has thrown
  MPI_Bcast(&x, int(sizeof x), MPI_BYTE, first, comm);
  if (x.kind == 3) throw OutOfMemory(x.words, first);
  const std::string text =
      std::string(x.words) + " (on rank " + std::to_string(first) + ")";
  if (x.kind == 1) throw std::invalid_argument(text);
  if (x.kind == 2) throw std::domain_error(text);
  throw std::runtime_error(text);
}
/// What went wrong on this rank, to be told at the end.
struct Trouble {
  std::exception_ptr first{};
  template <class F> void in(F f) {
    if (!first) try { f(); } catch (...) { first = std::current_exception(); }
  }
  void tell(MPI_Comm comm) const {
    together(comm, [&] { if (first) std::rethrow_exception(first); });
  }
};
/// The 64 bits of a double or of an integer, for comparison.
struct Number {
  std::uint64_t bits;
  bool real;
  Number(std::floating_point auto x)
      : bits(std::bit_cast<std::uint64_t>(
            std::isnan(x) ? std::numeric_limits<double>::quiet_NaN()
                          : double(x) + 0.0)), real(true) {}
  Number(std::integral auto x)
      : bits(std::bit_cast<std::uint64_t>(std::int64_t(x))), real(false) {}

  // give a number to an option that is absent
  static constexpr auto none = std::numeric_limits<std::int64_t>::min();
  template <class T>
  Number(const std::optional<T>& x)
      : Number(x ? Number(*x) : std::integral<T>
                       ? Number(none)
                       : Number(std::numeric_limits<double>::infinity())) {}
};
/// Writes a number as it was, or inf for an integer that is absent.
inline std::ostream& operator<<(std::ostream& out, const Number& x) {
  if (x.real) return out << std::bit_cast<double>(x.bits);
  const auto whole = std::bit_cast<std::int64_t>(x.bits);
  return whole == Number::none ? out << "inf" : out << whole;
}
/// A number and its name, for objections.
struct Named {
  const char* name;
  Number number;
};
/// How many numbers can be compared.
inline constexpr std::size_t most_named = 22;

/// Calls f, and requires that the function and its named numbers are those
/// of rank 0; in case of an objection all ranks throw it.  Collective.
template <std::size_t n, class F>
void agree(MPI_Comm comm, const char* who, const std::array<Named, n>& mine,
           F f) {
  static_assert(n <= most_named);
  int rank;
  MPI_Comm_rank(comm, &rank);
  std::array<std::uint64_t, 1 + most_named> theirs{hashed(who)};
  for (std::size_t i = 0; i < n; ++i) theirs[1 + i] = mine[i].number.bits;
  MPI_Bcast(theirs.data(), int(theirs.size()), MPI_UINT64_T, 0, comm);
  together(comm, [&] {
    // compare all numbers with the first rank's
    require(theirs[0] == hashed(who), who, ": rank ", rank,
            " calls another function than rank 0");
    for (std::size_t i = 0; i < n; ++i) {
      Number first = mine[i].number;
      first.bits = theirs[1 + i];
      require(mine[i].number.bits == first.bits, who, ": ", mine[i].name, " is ",
              std::setprecision(17), mine[i].number, " on rank ", rank, " but ",
              first, " on rank 0");
    }
    f();
  });
}

// name numbers and rows for MPI
/// What MPI calls a float or a double.
template <class T>
MPI_Datatype mpi_type() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

/// So many numbers, to MPI.
template <class T>
struct RowType {
  MPI_Datatype type;
  explicit RowType(Index width) {
    must(MPI_Type_contiguous(int(width), mpi_type<T>(), &type));
    must(MPI_Type_commit(&type));
  }
  RowType(const RowType&) = delete;
  ~RowType() { must(MPI_Type_free(&type)); }
};

// count what one message can carry
/// n, if MPI can count so many rows, or numbers in a row.  Throws
/// std::invalid_argument.
inline Index countable(Index n) {
  require(n <= std::numeric_limits<int>::max(), "ring: a block of ", n,
          " rows or columns");
  return n;
}

// ask all ranks
/// Is it so on any rank?  Collective.
inline bool any_of(MPI_Comm comm, bool mine) {
  int here = mine, any = 0;
  MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, comm);
  return any != 0;
}
/// Sums over all ranks, entry by entry.  Collective.
template <class T>
void add_up(MPI_Comm comm, std::vector<T>& x) {
  MPI_Allreduce(MPI_IN_PLACE, x.data(), int(x.size()), mpi_type<T>(),
                MPI_SUM, comm);
}

/// The factor of the scores.
template <class T>
T scale_of(const FlashHeads<T>& many, const Matrix<T>& Q) {
  return many.rule.scale.value_or(T(1) /
                                  std::sqrt(T(Q.cols() / many.heads)));
}

// say who stands beside whom
/// A circle of `size` places, of which this rank has one; left and right
/// are ranks of comm, and the placements have a shard for each place.
struct Circle {
  MPI_Comm comm;
  int size, place, left, right;
  const Shards &queries, &keys;
  Index n_q, n_k;  // in all
  Traffic* traffic;
  int before(int at, int steps = 1) const {
    return (at - steps + size) % size;
  }
};

inline Circle circle_of(const Ring& ring) {
  const int p = ring.size(), r = ring.rank();
  return {own(ring.comm), p, r, (r + p - 1) % p, (r + 1) % p,
          ring.queries, ring.keys, ring.queries.total(), ring.keys.total(),
          ring.traffic};
}

// let blocks travel round the circle
/// A block of rows on its way round the circle, and room for the next.
template <class T>
struct Convoy {
  const Circle& circle;
  int tag;
  Matrix<T> here, next;
  Index rows = 0, coming = 0;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};

  Convoy(const Circle& c, int label, Index width);
  Convoy(const Convoy&) = delete;
  ~Convoy() { MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE); }

  // say what a convoy can do
  void depart(Index incoming);
  void arrive();
  In<T> block() const {
    return {here.data(), rows, here.cols(), Eigen::OuterStride<>(here.cols())};
  }
  Out<T> block() {
    return {here.data(), rows, here.cols(), Eigen::OuterStride<>(here.cols())};
  }
};
template <class T>
Convoy<T>::Convoy(const Circle& c, int label, Index width)
    : circle(c), tag(label),
      here(c.size > 1 ? countable(c.keys.most()) : c.keys.rows(0),
           countable(width)),
      next(c.size > 1 ? c.keys.most() : 0, width),
      rows(c.keys.rows(c.place)) {}
/// Starts to send the block to the right and to receive one of so many
/// rows from the left.
template <class T>
void Convoy<T>::depart(Index incoming) {
  const RowType<T> row(here.cols());
  coming = incoming;
  MPI_Irecv(next.data(), int(coming), row.type, circle.left, tag,
            circle.comm, &requests[0]);
  MPI_Isend(here.data(), int(rows), row.type, circle.right, tag,
            circle.comm, &requests[1]);
  if (!circle.traffic) return;
  ++circle.traffic->messages;
  circle.traffic->bytes += long(rows * here.cols()) * long(sizeof(T));
}
/// Waits until the block is gone and the next one is here.
template <class T>
void Convoy<T>::arrive() {
  const double start = MPI_Wtime();
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  if (circle.traffic) circle.traffic->waited += MPI_Wtime() - start;
  here.swap(next), rows = coming;
}

// give MPI an opportunity
/// Lets MPI move what is on its way; for the thread that called the ring.
inline void poke(MPI_Comm comm) {
#ifdef _OPENMP
  if (omp_get_thread_num() != 0) return;
#endif
  int any;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any, MPI_STATUS_IGNORE);
}

// cut shards into spans
/// Successive rows of a shard, the first of which is `row`.
struct Span {
  Piece piece;
  Index row;
};

/// The rows at a place, in spans of at most so many.
inline std::vector<Span> spans_of(const Shards& x, int place, Index most) {
  std::vector<Span> spans;
  Index row = 0;
  for (const Piece& piece : x.of[std::size_t(place)])
    for (Index i = 0; i < piece.n; i += most) {
      const Index n = std::min(most, piece.n - i);
      spans.push_back({{piece.first + i * piece.step, n, piece.step}, row});
      row += n;
    }
  return spans;
}
/// Queries of a span, of n in all.
template <class T>
Index sweep_of(const FlashRule<T>& rule, Index n) {
  return lanes<T> * std::min(rule.groups, n / lanes<T> + 1);
}

// view some rows and columns
/// Rows row .. row + n - 1 and columns c .. c + d - 1 of a view.
template <class View>
View part_of_view(View m, Index row, Index n, Index c, Index d) {
  return {m.data() + row * m.outerStride() + c, n, d,
          Eigen::OuterStride<>(m.outerStride())};
}
/// Where the numbers of the heads are: G heads of keys for H of queries.
template <class T>
struct Columns {
  Index H, G, d_k, d_v;
  Index shared(Index h) const { return h / (H / G); }
  template <class V> V query(V m, const Span& q, Index h) const {
    return part_of_view(m, q.row, q.piece.n, h * d_k, d_k);
  }
  template <class V> V output(V m, const Span& q, Index h) const {
    return part_of_view(m, q.row, q.piece.n, h * d_v, d_v);
  }

  // find the keys and values of a head
  template <class V> V key(V m, const Span& k, Index h) const {
    return part_of_view(m, k.row, k.piece.n, shared(h) * d_k, d_k);
  }
  template <class V> V value(V m, const Span& k, Index h) const {
    return part_of_view(m, k.row, k.piece.n, G * d_k + shared(h) * d_v, d_v);
  }
};
/// The columns of heads side by side.
template <class T>
Columns<T> columns_of(const FlashHeads<T>& many, const Matrix<T>& Q,
                      const Matrix<T>& V) {
  return {many.heads, many.kv_heads, Q.cols() / many.heads,
          V.cols() / many.kv_heads};
}

// take fingerprints
/// The bytes of numbers that lie one after the other.
template <class C>
std::string_view bytes_of(const C& x) {
  return {reinterpret_cast<const char*>(x.data()),
          std::size_t(x.size()) * sizeof *x.data()};
}

/// 53 bits that depend on the numbers and on their order.
template <class N>
double fingerprint(const std::vector<N>& numbers) {
  return double(hashed(bytes_of(numbers)) >> 11);
}
/// A hash and one more.
inline std::uint64_t joined(std::uint64_t h, std::string_view more) {
  return 0x9e3779b97f4a7c15 * h + hashed(more);
}
/// The same for a placement.
inline double fingerprint(const Shards& shards) {
  static_assert(sizeof(Piece) == 3 * sizeof(Index));
  std::uint64_t h = 0;
  for (const auto& pieces : shards.of) h = joined(h, bytes_of(pieces));
  return double(h >> 11);
}
/// 53 bits that depend on a mask and its blocks; -1 without one.
template <class T>
double fingerprint_of_mask(const FlashRule<T>& rule) {
  if (!rule.keep) return -1;
  const std::array<Index, 4> sizes{rule.keep->rows(), rule.keep->cols(),
                                   rule.keep_q, rule.keep_k};
  return double(joined(hashed(bytes_of(sizes)), bytes_of(*rule.keep)) >> 11);
}

// check the arguments of all ranks
/// What must be the same on all ranks of a ring or a grid.
template <class T>
std::array<Named, most_named> to_agree(const Ring& ring, int columns,
                                       const Matrix<T>& Q,
                                       const Matrix<T>& V,
                                       const FlashHeads<T>& many) {
  const FlashRule<T>& r = many.rule;
  return {{{"size of a number", sizeof(T)}, {"columns", columns},
           {"width of Q", Q.cols()}, {"width of V", V.cols()},
           {"heads of queries", many.heads},
           {"heads of keys", many.kv_heads},
           {"slopes (fingerprint)", fingerprint(many.slopes)},
           {"sinks (fingerprint)", fingerprint(many.sinks)},
           {"queries (fingerprint)", fingerprint(ring.queries)},
           {"keys (fingerprint)", fingerprint(ring.keys)},
           {"mask (fingerprint)", fingerprint_of_mask(r)},

           // name the numbers of a rule
           {"scale", r.scale}, {"softcap", r.softcap}, {"slope", r.slope},
           {"sink", r.sink}, {"offset", r.offset}, {"left", r.left},
           {"right", r.right}, {"queries in use", r.queries}, {"keys in use", r.keys},
           {"key block", r.key_block}, {"groups", r.groups}}};
}
/// Throws on all ranks, the same, unless arguments are in order on each and
/// agree; extra() is called with the checks.  Collective.
template <class T, class Extra>
void check_ring(const char* who, const Ring& ring, int columns,
                const Matrix<T>& Q, const Matrix<T>& K, const Matrix<T>& V,
                const FlashHeads<T>& many, Extra extra) {
  const auto all = to_agree(ring, columns, Q, V, many);
  agree(own(ring.comm), who, all, [&] {
    const FlashRule<T>& rule = many.rule;
    require_patience(who, ring.patience);

    // check the placement and the shapes of a rank
    const int p = ring.size(), rank = ring.rank();
    require(ring.queries.ranks() == p && ring.keys.ranks() == p, who,
            ": queries for ", ring.queries.ranks(), " and keys for ",
            ring.keys.ranks(), " ranks, of which there are ", p);
    const Index step = require_placement(who, ring.queries);
    const Index step_k = require_placement(who, ring.keys);
    require(Q.rows() == ring.queries.rows(rank), who, ": Q is ", shape(Q),
            ", expected ", ring.queries.rows(rank), " rows");
    require(K.rows() == ring.keys.rows(rank), who, ": K is ", shape(K),
            ", expected ", ring.keys.rows(rank), " rows");
    require_heads(Q, K, V, many);

    // check what the kernel will be given
    const Index d_k = K.cols() / many.kv_heads, d_v = V.cols() / many.kv_heads;
    const Index t = step > 0 ? step : std::max<Index>(step_k, 1);
    const auto extents = [](Index n, Index d) {
      return In<T>(nullptr, n, d, Eigen::OuterStride<>(d));
    };
    for (Index h = 0; h != many.heads; ++h) {
      FlashRule<T> local = many.rule_of(h);
      require_restriction(who, local, t, step_k > 0 ? step_k : t,
                          ring.queries.total(), ring.keys.total());
      local.keep = nullptr, local.queries.reset(), local.keys.reset();
      const Out<T> O(nullptr, Q.rows(), d_v, Eigen::OuterStride<>(d_v));
      Plan<T>(who, {extents(Q.rows(), Q.cols() / many.heads),
                    extents(K.rows(), d_k), extents(V.rows(), d_v), O, nullptr,
                    local});
    }

    // check a rule against all positions
    require_mask(who, rule, ring.queries.total(), ring.keys.total());
    extra();
  });
}
/// Throws std::invalid_argument unless outputs and cotangents of this rank
/// have the shapes that its queries and V say.
template <class T>
void require_cotangents(const char* who, Index n, const Matrix<T>& V,
                        const FlashHeads<T>& many, const HeadsOutput<T>& y,
                        const Matrix<T>& dO, const Matrix<T>& dlogZ) {
  const Index H = many.heads, width = V.cols() / many.kv_heads * H;
  const auto fits = [&](const char* name, const Matrix<T>& x, Index rows,
                        Index cols) {
    require(x.rows() == rows && x.cols() == cols, who, ": ", name, " is ",
            shape(x), ", expected ", rows, "x", cols);
  };
  fits("dO", dO, n, width);
  fits("O", y.O, n, width), fits("logZ", y.logZ, H, n);
  if (dlogZ.size() > 0) fits("dlogZ", dlogZ, H, n);
}

// let ranks meet what passes

// keep the states of many rows
/// States of the rows of H heads (def. online), for merging finished
/// blocks (prop. finished-state): m and l are H x n, o is n x H d_v.
template <class T>
struct RowStates {
  Matrix<T> m, l, o;

  RowStates(Index n, Index width, Index H)
      : m(Matrix<T>::Constant(H, n, -std::numeric_limits<T>::infinity())),
        l(Matrix<T>::Zero(H, n)), o(Matrix<T>::Zero(n, width)) {}
  void absorb(Index h, Index first, const Matrix<T>& O, const Vector<T>& L);
};
/// Rows first, first + 1, ... of head h meet further keys, whose outputs
/// are O and log-sum-exps L.
template <class T>
void RowStates<T>::absorb(Index h, Index first, const Matrix<T>& O,
                          const Vector<T>& L) {
  const Index d = O.cols();
  for (Index i = 0; i < O.rows(); ++i)
    if (!is_forbidden(L[i]))

      // absorb a finished row
      {
        T& M = m(h, first + i);
        const T top = M < L[i] ? L[i] : M;
        const T before = decay(M, top), now = decay(L[i], top);
        auto sum = o.row(first + i).segment(h * d, d);
        sum = before * sum + now * O.row(i);
        l(h, first + i) = before * l(h, first + i) + now;
        M = top;
      }
}

// let the queries of a rank meet a block
/// Lets this rank's queries meet the block of place `from`.
template <class T>
void meet_block(const Circle& c, int from, const In<T>& Q, const In<T>& kv,
                const FlashHeads<T>& many, const Columns<T>& at,
                RowStates<T>& x) {
  const Index block = std::min(many.rule.key_block, c.n_k);
  const auto queries = spans_of(c.queries, c.place,
                                sweep_of(many.rule, c.n_q));
  const auto keys = spans_of(c.keys, from, 16 * block);
  const auto work = [&](Index task, Matrix<bool>& keep) {
    const Span& q = queries[std::size_t(task / at.H)];
    const Index h = task % at.H;

    // take a span of queries through the spans of keys
    Matrix<T> O(q.piece.n, at.d_v);
    Vector<T> L(q.piece.n);
    for (const Span& k : keys) {
      const FlashRule<T> rule = rule_between(many.rule_of(h), q.piece, k.piece,
                                             c.n_q, c.n_k, keep);
      if (!may_meet(rule)) continue;
      const FlashHead<T> head{at.query(Q, q, h), at.key(kv, k, h),
                              at.value(kv, k, h), view_out(O), L.data(), rule};
      flash_forward<T>({&head, 1});
      x.absorb(h, q.row, O, L);
      poke(c.comm);
    }
  };
  in_parallel(std::ssize(queries) * at.H, [] { return Matrix<bool>(); },
              work);
}

// start and finish the rows of a rank
/// Sinks are the first keys of the rows in use.
template <class T>
void start_with_sinks(const Circle& c, const FlashHeads<T>& many,
                      RowStates<T>& x) {
  for (Index h = 0; h < many.heads; ++h) {
    const FlashRule<T> rule = many.rule_of(h);
    if (!rule.sink) continue;

    // make the sink of a head the first key
    Index row = 0;
    for (const Piece& q : c.queries.of[std::size_t(c.place)]) {
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

// go round a circle
/// Finished rows of this rank's queries Q, H d_k wide, after all blocks
/// have been here; kv holds the first.  Nothing if there was trouble.
template <class T>
HeadsOutput<T> go_round(const Circle& c, const In<T>& Q, Convoy<T>& kv,
                        const FlashHeads<T>& many, const Columns<T>& at,
                        Trouble& trouble) {
  std::optional<RowStates<T>> x;
  trouble.in([&] {
    x.emplace(Q.rows(), at.H * at.d_v, at.H);
    start_with_sinks(c, many, *x);
  });

  // let all blocks come by
  for (int t = 0; t < c.size; ++t) {
    const int from = c.before(c.place, t);
    if (t + 1 < c.size) kv.depart(c.keys.rows(c.before(from)));
    trouble.in([&] {
      meet_block(c, from, Q, std::as_const(kv).block(), many, at, *x);
    });
    if (t + 1 < c.size) kv.arrive();
  }
  HeadsOutput<T> y;
  trouble.in([&] { y = finish_rows(std::move(*x)); });
  return y;
}

// keep dominant keys until the end
/// For each row of each head: its dominant key, if any, where that lives,
/// and the sum of the cotangents of all others (prop. second-lap).
template <class T>
struct Stars {
  std::vector<int> owner;     // its place, or -1
  std::vector<Index> at;      // its row there
  Vector<T> slope, rest, dX;  // derivative of the cap; sum; cotangent
  Matrix<T> K;

  Stars(Index n, Index d_k)
      : owner(std::size_t(n), -1), at(std::size_t(n)), slope(n),
        rest(Vector<T>::Zero(n)), dX(n), K(n, d_k) {}
};

// let a block meet a rank going back
/// What a thread of a rank going back needs.
template <class T>
struct TileWork {
  BackwardWork<T> back;
  Matrix<bool> keep{};
};
/// A rank going back: what it was given, what it finds and what it keeps.
template <class T>
struct BackRank {
  const Circle& circle;
  const FlashHeads<T>& many;
  Columns<T> at;
  In<T> Q, dO;
  Out<T> O;
  Matrix<T>& L;          // H x n
  const Matrix<T>& dL;   // the same, or empty

  // say what a rank going back finds
  Matrix<T> dQ;
  std::vector<T> dsink;
  Stars<T> stars;

  // say what a rank going back does
  BackRank(const Circle& c, const FlashHeads<T>& heads, const Columns<T>& x,
           In<T> q, In<T> bar_O, Out<T> o, Matrix<T>& l, const Matrix<T>& bar_L)
      : circle(c), many(heads), at(x), Q(q), dO(bar_O), O(o), L(l), dL(bar_L),
        dQ(Matrix<T>::Zero(q.rows(), q.cols())), dsink(std::size_t(x.H), T(0)),
        stars(x.H * q.rows(), x.d_k) {}

  // say in which steps a rank goes back
  void restart();
  void take_block(int from, const In<T>& kv, const Out<T>& found);
  void take_tile(const Span& q, const Span& k, Index g, int from,
                 const In<T>& kv, const Out<T>& found, TileWork<T>& w);
  void collect(const BackwardGroup<T>& work, const FlashHead<T>& head, Index h,
               Index row, Index key, int from);
  void settle(Index h, Index i);
};
template <class T>
void BackRank<T>::take_block(int from, const In<T>& kv,
                             const Out<T>& found) {
  const Index block = std::min(many.rule.key_block, circle.n_k);
  const Index sweep = sweep_of(many.rule, circle.n_q);
  const auto queries = spans_of(circle.queries, circle.place, sweep);
  const auto keys = spans_of(circle.keys, from, 4 * block);
  const Index c = std::ssize(queries), s = std::ssize(keys);
  const auto make = [&] {
    return TileWork<T>{{sweep / lanes<T>, block, at.d_k, at.d_v}};
  };
  for (Index t = 0; t < rounds_of(c, s); ++t)
    in_parallel(c * at.G, make, [&](Index task, TileWork<T>& work) {
      const Index i = task / at.G, j = partner(i, t, c, s);
      if (j >= 0)
        take_tile(queries[std::size_t(i)], keys[std::size_t(j)],
                  task % at.G, from, kv, found, work);
    });
}
template <class T>
void BackRank<T>::take_tile(const Span& q, const Span& k, Index g, int from,
                            const In<T>& kv, const Out<T>& found,
                            TileWork<T>& w) {
  for (Index h = g * (at.H / at.G); h < (g + 1) * (at.H / at.G); ++h) {
    const FlashRule<T> rule = rule_between(
        many.rule_of(h), q.piece, k.piece, circle.n_q, circle.n_k, w.keep);
    if (!may_meet(rule)) continue;

    // view a tile and its cotangents
    const FlashHead<T> head{at.query(Q, q, h), at.key(kv, k, h),
                            at.value(kv, k, h), at.output(O, q, h),
                            L.data() + h * L.cols() + q.row, rule};
    const T* bar_L = dL.size() > 0 ? dL.data() + h * L.cols() + q.row : nullptr;
    const FlashCotangent<T> bar{at.output(dO, q, h), bar_L,
                                at.query(view_out(dQ), q, h),
                                at.key(found, k, h), at.value(found, k, h)};

    // take the kernel back through a tile
    const Plan<T> plan("take_tile", head);
    for (Index i = 0; i < plan.queries; i += plan.sweep())
      backward_sweep(head, bar, plan, i, w.back, [&](auto& group) {
        collect(group, head, h, q.row + group.q, k.row, from);
      });
    poke(circle.comm);
  }
}
template <class T>
void BackRank<T>::collect(const BackwardGroup<T>& work,
                          const FlashHead<T>& head, Index h, Index row,
                          Index key, int from) {
  for (Index i = 0; i < work.n; ++i) {
    for (Index a = 0; a < at.d_k; ++a)
      dQ(row + i, h * at.d_k + a) += work.y[std::size_t(a)][i];
    const Index mine = h * Q.rows() + row + i;
    stars.rest[mine] += work.rest[i];
    if (const Index star = work.star[std::size_t(i)]; star >= 0)

      // remember a dominant key
      {
        stars.owner[std::size_t(mine)] = from;
        stars.at[std::size_t(mine)] = key + star;
        stars.slope[mine] = work.star_bend[i];
        stars.K.row(mine) = head.K.row(star);
      }
  }
}
/// Finishes row i of head h: dQ, and its part of the sink's cotangent.
template <class T>
void BackRank<T>::settle(Index h, Index i) {
  const Index mine = h * Q.rows() + i;
  const T Z = L(h, i), bar_L = dL.size() > 0 ? dL(h, i) : T(0);
  if (is_forbidden(Z)) return;
  T sink = 0;

  // find the cotangent of the sink
  if (const auto s = many.rule_of(h).sink)
    sink = std::exp(*s - Z) *
           (bar_L - O.row(i).segment(h * at.d_v, at.d_v).dot(
                        dO.row(i).segment(h * at.d_v, at.d_v)));
  dsink[std::size_t(h)] += sink;
  if (stars.owner[std::size_t(mine)] < 0) return;
  stars.dX[mine] = (bar_L - sink - stars.rest[mine]) * stars.slope[mine];
  dQ.row(i).segment(h * at.d_k, at.d_k) += stars.dX[mine] *
                                           stars.K.row(mine);
}
/// Forgets all that was found.
template <class T>
void BackRank<T>::restart() {
  dQ.setZero();
  std::fill(dsink.begin(), dsink.end(), T(0));
  std::fill(stars.owner.begin(), stars.owner.end(), -1);
  stars.rest.setZero();
}

// go back round a circle
/// Takes all blocks back, of which kv holds the first; afterwards the sums
/// for this rank's own are in `sums`, its dK without the scale, dominant
/// keys included.  Collective on the communicator of the circle.
template <class T>
void go_back(const Circle& c, BackRank<T>& back, Convoy<T>& kv,
             Convoy<T>& sums, Matrix<T>& room, Trouble& trouble) {
  for (int t = 0; t < c.size; ++t) {
    const int from = c.before(c.place, t), before = c.before(from);
    if (t + 1 < c.size) kv.depart(c.keys.rows(before));

    // take a block back and add to its sums
    const Out<T> found(room.data(), kv.rows, room.cols(),
                       Eigen::OuterStride<>(room.cols()));
    trouble.in([&] {
      Out<T>(found).setZero();
      back.take_block(from, std::as_const(kv).block(), found);
    });
    if (t > 0) sums.arrive();
    if (t == 0) sums.block() = found;
    else sums.block() += found;
    if (c.size > 1) sums.depart(c.keys.rows(before));
    if (t + 1 < c.size) kv.arrive();
  }
  if (c.size > 1) sums.arrive();

  // make the second lap if anybody needs it
  trouble.in([&] {
    for (Index h = 0; h < back.at.H; ++h)
      for (Index i = 0; i < back.Q.rows(); ++i) back.settle(h, i);
  });
  const auto& owner = back.stars.owner;
  const auto add = [&](int from) {
    // add what belongs to the dominant keys of a block
    const Columns<T>& at = back.at;
    Out<T> sum = sums.block();
    for (Index k = 0; k < std::ssize(owner); ++k) {
      if (owner[std::size_t(k)] != from) continue;
      const Index h = k / back.Q.rows(), i = k % back.Q.rows();
      sum.row(back.stars.at[std::size_t(k)])
          .segment(at.shared(h) * at.d_k, at.d_k) +=
          back.stars.dX[k] * back.Q.row(i).segment(h * at.d_k, at.d_k);
    }
  };
  add(c.place);
  const auto far = [&](int o) { return o >= 0 && o != c.place; };
  const bool lap =
      any_of(c.comm, std::any_of(owner.begin(), owner.end(), far));
  for (int t = 1; lap && t <= c.size; ++t) {
    const int from = c.before(c.place, t);
    sums.depart(c.keys.rows(from));
    sums.arrive();
    if (t < c.size) add(from);
  }
}

// share heads among columns
/// Some successive heads of queries and the heads of keys they use.
struct HeadShare {
  Index first = 0, n = 0, kv_first = 0, kv = 0;
};

/// How H heads of queries on G of keys are shared by a columns.
inline std::vector<HeadShare> share_heads(Index H, Index G, int a) {
  std::vector<HeadShare> shares;
  const Index s = H / G;
  if (a <= G)
    for (const auto& of : contiguous(G, a).of)
      shares.push_back({of[0].first * s, of[0].n * s, of[0].first, of[0].n});
  else

    // divide the columns among the heads of keys
    for (Index g = 0; g < G; ++g) {
      const auto columns = contiguous(Index(a), int(G)).rows(int(g));
      for (const auto& of : contiguous(s, int(columns)).of)
        shares.push_back({g * s + of[0].first, of[0].n, g, of[0].n > 0});
    }
  return shares;
}
/// Wave w of a share: one of its heads of keys, if it has so many.
inline HeadShare wave_of(const HeadShare& x, Index w) {
  if (w >= x.kv) return {};
  const Index n = x.n / x.kv;
  return {x.first + w * n, n, x.kv_first + w, 1};
}

// say what a grid is
/// A grid of ranks as one of them sees it.
struct Grid {
  MPI_Comm comm;
  int columns, column, base;  // base: the first rank of this row
  Shards queries, keys;       // of ranks
  Shards row_queries, row_keys;  // of rows
  std::vector<HeadShare> shares;
  Traffic* traffic;
  Index waves() const {
    Index w = 0;
    for (const auto& x : shares) w = std::max(w, x.kv);
    return w;
  }
};
inline Grid grid_of(const Ring& ring, int a, Index H, Index G) {
  const int r = ring.rank();
  return {own(ring.comm), a, r % a, r - r % a, ring.queries, ring.keys,
          grouped(ring.queries, a), grouped(ring.keys, a),
          share_heads(H, G, a), ring.traffic};
}
/// The circle of this rank's column.
inline Circle circle_of(const Grid& g) {
  const int b = g.row_keys.ranks(), row = g.base / g.columns;
  const auto rank = [&](int i) { return (i + b) % b * g.columns + g.column; };
  return {g.comm, b, row, rank(row - 1), rank(row + 1),
          g.row_queries, g.row_keys, g.row_queries.total(),
          g.row_keys.total(), g.traffic};
}

// exchange matrices within a row
/// Matrices on their way between the ranks of a row, one to and from each.
template <class T>
struct Exchange {
  const Grid& grid;
  int tag;
  std::vector<Matrix<T>> out, in;
  std::vector<MPI_Request> requests;

  Exchange(const Grid& g, int label)
      : grid(g), tag(label), out(std::size_t(g.columns)), in(out.size()) {
    requests.reserve(2 * out.size());
  }
  Exchange(Exchange&&) = default;
  ~Exchange() { arrive(); }
  void depart();
  void arrive();
};
template <class T>
void Exchange<T>::depart() {
  for (int j = 0; j < grid.columns; ++j) {
    Matrix<T>&to = out[std::size_t(j)], &from = in[std::size_t(j)];
    if (j == grid.column) { to.swap(from); continue; }
    if (from.size() > 0)

      // start to receive from a rank of the row
      {
        const RowType<T> row(from.cols());
        MPI_Irecv(from.data(), int(from.rows()), row.type, grid.base + j, tag,
                  grid.comm, &requests.emplace_back());
      }
    if (to.size() > 0)

      // start to send to a rank of the row
      {
        const RowType<T> row(to.cols());
        MPI_Isend(to.data(), int(to.rows()), row.type, grid.base + j, tag,
                  grid.comm, &requests.emplace_back());

        // count what leaves in an exchange
        if (grid.traffic) {
          ++grid.traffic->messages;
          grid.traffic->bytes += long(to.size()) * long(sizeof(T));
        }
      }
  }
}
template <class T>
void Exchange<T>::arrive() {
  const double start = MPI_Wtime();
  MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  if (grid.traffic && !requests.empty())
    grid.traffic->waited += MPI_Wtime() - start;
  requests.clear();
}

// pick the columns of some heads
/// A matrix with d columns for each head.
template <class T>
struct PerHead {
  const Matrix<T>* m;
  Index d;
};

/// All columns of heads first .. first + n - 1, matrix beside matrix.
template <class T>
Matrix<T> pick_heads(const std::vector<PerHead<T>>& all, Index first,
                     Index n) {
  Index width = 0, at = 0;
  for (const auto& x : all) width += n * x.d;
  Matrix<T> picked(all[0].m->rows(), width);
  for (const auto& x : all) {
    picked.middleCols(at, n * x.d) = x.m->middleCols(first * x.d, n * x.d);
    at += n * x.d;
  }
  return picked;
}
/// Adds columns that were picked to those of matrices with d[k] a head.
template <class T>
void put_heads(const std::vector<Matrix<T>*>& all, const std::vector<Index>& d,
               Index first, Index n, const Matrix<T>& picked) {
  Index at = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k]->middleCols(first * d[k], n * d[k]) +=
        picked.middleCols(at, n * d[k]);
    at += n * d[k];
  }
}
/// Matrices one above the other.
template <class T>
Matrix<T> stacked(const std::vector<Matrix<T>>& parts) {
  Index rows = 0, width = 0;
  for (const auto& x : parts) rows += x.rows(), width = x.cols();
  Matrix<T> all(rows, width);
  rows = 0;
  for (const auto& x : parts) {
    all.middleRows(rows, x.rows()) = x;
    rows += x.rows();
  }
  return all;
}
/// Copies successive rows of all to the parts, from column c on.
template <class T, class M>
void cut_rows(const M& all, std::vector<Matrix<T>>& parts, Index c = 0) {
  Index row = 0;
  for (auto& x : parts) {
    x.middleCols(c, all.cols()) = all.middleRows(row, x.rows());
    row += x.rows();
  }
}

// exchange the heads of a wave
/// The exchanges of a wave: q and k to the heads, back_q and back_k home.
template <class T>
struct Wave {
  Exchange<T> q, k, back_q, back_k;
  Wave(const Grid& g, Index w, const std::vector<PerHead<T>>& queries,
       const std::vector<PerHead<T>>& keys, Index back, Index back_keys);
};
template <class T>
Wave<T>::Wave(const Grid& g, Index w,
              const std::vector<PerHead<T>>& queries,
              const std::vector<PerHead<T>>& keys, Index back,
              Index back_keys)
    : q(g, 2), k(g, 3), back_q(g, 4), back_k(g, 5) {
  const HeadShare mine = wave_of(g.shares[std::size_t(g.column)], w);
  for (int j = 0; j < g.columns; ++j) {
    const auto i = std::size_t(j);
    const HeadShare his = wave_of(g.shares[i], w);
    q.out[i] = pick_heads(queries, his.first, his.n);
    k.out[i] = pick_heads(keys, his.kv_first, his.kv);

    // make room for what will arrive
    const Index n = g.queries.rows(g.base + j), m = g.keys.rows(g.base + j);
    Index per_q = 0, per_k = 0;
    for (const auto& x : queries) per_q += x.d;
    for (const auto& x : keys) per_k += x.d;
    for (const Index x : {n, m, his.n * std::max(per_q, back),
                          his.kv * std::max(per_k, back_keys)})
      countable(x);
    q.in[i].resize(n, mine.n * per_q), k.in[i].resize(m, mine.kv * per_k);
    back_q.out[i] = Matrix<T>::Zero(n, mine.n * back);
    back_k.out[i] = Matrix<T>::Zero(m, mine.kv * back_keys);
    back_q.in[i].resize(q.out[i].rows(), his.n * back);
    back_k.in[i].resize(k.out[i].rows(), his.kv * back_keys);
  }
}
/// Sends all waves to their heads and back; compute(w) is called when wave
/// w is here, while wave w + 1 is on its way.
template <class T, class F>
void in_waves(std::vector<Wave<T>>& waves, F compute) {
  for (std::size_t w = 0; w <= waves.size(); ++w) {
    if (w < waves.size()) waves[w].q.depart(), waves[w].k.depart();
    if (w == 0) continue;
    Wave<T>& here = waves[w - 1];
    here.q.arrive(), here.k.arrive();
    compute(w - 1);
    here.back_q.depart(), here.back_k.depart();
  }
  for (auto& wave : waves) wave.back_q.arrive(), wave.back_k.arrive();
}
/// The rule of some heads that share one head of keys.
template <class T>
FlashHeads<T> rule_of_wave(const FlashHeads<T>& many, const HeadShare& x) {
  FlashHeads<T> y{x.n, 1, many.rule, {}, {}};
  const auto cut = [&](const std::vector<T>& all) {
    if (all.empty()) return all;
    return std::vector<T>(all.begin() + x.first, all.begin() + x.first + x.n);
  };
  y.slopes = cut(many.slopes), y.sinks = cut(many.sinks);
  return y;
}
}  // namespace detail

// attend around the ring
/// Exact attention of sequences spread over the ranks of a ring: this
/// rank's rows of Q, H d_k wide, K, H_k d_k, and V, H_k d_v, give those of
/// O, n x H d_v, and logZ, H x n.  Collective.  Extra memory O(m), m the
/// most rows of a rank.  Throws std::invalid_argument or std::domain_error
/// before anything is computed, std::bad_alloc then or later, the same on
/// all ranks (thm. ring-rounding).
template <class T>
HeadsOutput<T> ring_attention(const Ring& ring, const Matrix<T>& Q,
                              const Matrix<T>& K, const Matrix<T>& V,
                              const FlashHeads<T>& many = {}) {
  const detail::Watch watch("ring_attention", ring.comm, ring.patience);
  std::optional<detail::Circle> circle;
  std::optional<detail::Convoy<T>> kv;

  // check the arguments and fill the convoy
  detail::check_ring<T>("ring_attention", ring, 1, Q, K, V, many, [&] {
    circle.emplace(detail::circle_of(ring));
    kv.emplace(*circle, 0, K.cols() + V.cols());
    kv->block().leftCols(K.cols()) = K;
    kv->block().rightCols(V.cols()) = V;
  });
  detail::Trouble trouble;
  auto y = detail::go_round<T>(*circle, view_in<T>(Q), *kv, many,
                               detail::columns_of(many, Q, V), trouble);
  trouble.tell(circle->comm);
  return y;
}

// take the ring back
/// Gradient of <dO, O> + <dlogZ, logZ>, summed over all ranks, for y =
/// ring_attention(ring, Q, K, V, many): this rank's rows of dQ, dK and dV,
/// and the sinks', the same on all.  dlogZ is H x n, or empty.  Collective;
/// throws like ring_attention (prop. second-lap).
template <class T>
HeadsGradient<T> ring_attention_vjp(
    const Ring& ring, const Matrix<T>& Q, const Matrix<T>& K,
    const Matrix<T>& V, const HeadsOutput<T>& y, const Matrix<T>& dO,
    const FlashHeads<T>& many = {}, const Matrix<T>& dlogZ = {}) {
  const detail::Watch watch("ring_attention_vjp", ring.comm, ring.patience);
  std::optional<detail::Circle> circle;
  std::optional<detail::Convoy<T>> kv, sums;
  std::optional<detail::BackRank<T>> back;
  HeadsOutput<T> out;
  Matrix<T> room;

  // check the arguments and prepare to go back
  constexpr const char* who = "ring_attention_vjp";
  detail::check_ring<T>(who, ring, 1, Q, K, V, many, [&] {
    detail::require_cotangents(who, Q.rows(), V, many, y, dO, dlogZ);
    const Index both = K.cols() + V.cols();
    circle.emplace(detail::circle_of(ring));
    kv.emplace(*circle, 0, both), sums.emplace(*circle, 1, both);
    kv->block().leftCols(K.cols()) = K;
    kv->block().rightCols(V.cols()) = V;
    room.resize(kv->here.rows(), both), out = y;
    back.emplace(*circle, many, detail::columns_of(many, Q, V), view_in<T>(Q),
                 view_in<T>(dO), view_out(out.O), out.logZ, dlogZ);
  });
  detail::Trouble trouble;
  detail::go_back(*circle, *back, *kv, *sums, room, trouble);
  HeadsGradient<T> g;

  // take the gradients out of the sums
  kv.reset(), room.resize(0, 0);
  trouble.in([&] {
    const T scale = detail::scale_of(many, Q);
    g.Q = std::move(back->dQ), g.Q *= scale;
    g.K = scale * sums->block().leftCols(K.cols());
    g.V = sums->block().rightCols(V.cols());
  });
  detail::add_up(circle->comm, g.sinks = std::move(back->dsink));
  trouble.tell(circle->comm);
  return g;
}

// attend on a grid of ranks
/// Exact attention on a grid of ranks, of which each row, `columns`
/// successive ranks, exchanges heads, and each column is a ring.  Shapes,
/// result and exceptions are ring_attention's; throws std::invalid_argument
/// as well unless the columns divide the ranks.  Collective.
template <class T>
HeadsOutput<T> grid_attention(const Ring& ring, int columns,
                              const Matrix<T>& Q, const Matrix<T>& K,
                              const Matrix<T>& V,
                              const FlashHeads<T>& many = {}) {
  const detail::Watch watch("grid_attention", ring.comm, ring.patience);

  // prepare the waves of a rank
  std::optional<detail::Grid> grid;
  std::optional<detail::Circle> circle;
  std::optional<detail::Convoy<T>> kv;
  std::vector<detail::Wave<T>> waves;
  Index d_k = 0, d_v = 0;
  const int p = ring.size();
  detail::check_ring<T>("grid_attention", ring, columns, Q, K, V, many, [&] {
    require(columns >= 1 && p % columns == 0, "grid_attention: ", columns,
            " columns for ", p, " ranks");
    grid.emplace(detail::grid_of(ring, columns, many.heads, many.kv_heads));
    circle.emplace(detail::circle_of(*grid));
    d_k = Q.cols() / many.heads, d_v = V.cols() / many.kv_heads;
    kv.emplace(*circle, 0, d_k + d_v);

    // make the waves forward
    using All = std::vector<detail::PerHead<T>>;
    for (Index w = 0; w < grid->waves(); ++w)
      waves.emplace_back(*grid, w, All{{&Q, d_k}}, All{{&K, d_k}, {&V, d_v}},
                         d_v + 1, 0);
  });
  detail::Trouble trouble;
  detail::in_waves(waves, [&](std::size_t w) {
    // compute a wave forward
    const auto mine = detail::wave_of(grid->shares[std::size_t(grid->column)],
                                      Index(w));
    if (mine.n == 0) return;
    FlashHeads<T> rule;
    Matrix<T> q;
    kv->rows = grid->row_keys.rows(circle->place);
    trouble.in([&] {
      rule = detail::rule_of_wave(many, mine);
      q = detail::stacked(waves[w].q.in);
      kv->block() = detail::stacked(waves[w].k.in);
    });
    const auto z = detail::go_round<T>(*circle, view_in<T>(q), *kv, rule,
                                       {mine.n, 1, d_k, d_v}, trouble);

    // send home the outputs of a wave
    trouble.in([&] {
      detail::cut_rows<T>(z.O, waves[w].back_q.out);
      detail::cut_rows<T>(Matrix<T>(z.logZ.transpose()), waves[w].back_q.out,
                          z.O.cols());
    });
  });
  HeadsOutput<T> y;

  // take the outputs out of the waves
  trouble.in([&] {
    y.O.setZero(Q.rows(), many.heads * d_v);
    Matrix<T> L = Matrix<T>::Zero(Q.rows(), many.heads);
    for (std::size_t w = 0; w < waves.size(); ++w)
      for (std::size_t j = 0; j < grid->shares.size(); ++j)

        // put the outputs of a column in their places
        {
          const auto his = detail::wave_of(grid->shares[j], Index(w));
          detail::put_heads<T>({&y.O, &L}, {d_v, 1}, his.first, his.n,
                               waves[w].back_q.in[j]);
        }
    y.logZ = L.transpose();
  });
  trouble.tell(detail::own(ring.comm));
  return y;
}
/// Exact attention of which each rank computes some heads: the grid of one
/// row.  Collective; throws like grid_attention.
template <class T>
HeadsOutput<T> head_parallel(const Ring& ring, const Matrix<T>& Q,
                             const Matrix<T>& K, const Matrix<T>& V,
                             const FlashHeads<T>& many = {}) {
  return grid_attention(ring, ring.size(), Q, K, V, many);
}

// take a grid back
/// Gradient of <dO, O> + <dlogZ, logZ> for y = grid_attention(ring,
/// columns, Q, K, V, many), like ring_attention_vjp's.  Collective; throws
/// like grid_attention.
template <class T>
HeadsGradient<T> grid_attention_vjp(
    const Ring& ring, int columns, const Matrix<T>& Q, const Matrix<T>& K,
    const Matrix<T>& V, const HeadsOutput<T>& y, const Matrix<T>& dO,
    const FlashHeads<T>& many = {}, const Matrix<T>& dlogZ = {}) {
  const detail::Watch watch("grid_attention_vjp", ring.comm, ring.patience);

  // prepare the waves going back
  std::optional<detail::Grid> grid;
  std::optional<detail::Circle> circle;
  std::optional<detail::Convoy<T>> kv, sums;
  std::optional<detail::BackRank<T>> back;
  std::vector<detail::Wave<T>> waves;
  Matrix<T> L, dL, room, x, Lw, dLw;
  FlashHeads<T> rule;
  std::vector<T> sinks;
  Index d_k = 0, d_v = 0;
  const int p = ring.size();
  constexpr const char* who = "grid_attention_vjp";
  detail::check_ring<T>(who, ring, columns, Q, K, V, many, [&] {
    require(columns >= 1 && p % columns == 0, who, ": ", columns,
            " columns for ", p, " ranks");
    detail::require_cotangents(who, Q.rows(), V, many, y, dO, dlogZ);
    grid.emplace(detail::grid_of(ring, columns, many.heads, many.kv_heads));
    circle.emplace(detail::circle_of(*grid));

    // make the convoys going back
    d_k = Q.cols() / many.heads, d_v = V.cols() / many.kv_heads;
    kv.emplace(*circle, 0, d_k + d_v), sums.emplace(*circle, 1, d_k + d_v);
    room.resize(kv->here.rows(), d_k + d_v);

    // make the waves going back
    L = y.logZ.transpose();
    if (dlogZ.size() > 0) dL = dlogZ.transpose();
    else dL = Matrix<T>::Zero(L.rows(), L.cols());
    using All = std::vector<detail::PerHead<T>>;
    const All queries{{&Q, d_k}, {&dO, d_v}, {&y.O, d_v}, {&L, 1}, {&dL, 1}};
    for (Index w = 0; w < grid->waves(); ++w)
      waves.emplace_back(*grid, w, queries, All{{&K, d_k}, {&V, d_v}}, d_k,
                         d_k + d_v);

    // view what will arrive in a wave
    const auto mine =
        detail::wave_of(grid->shares[std::size_t(grid->column)], 0);
    const Index n = grid->row_queries.rows(circle->place);
    const Index f = mine.n * d_k, e = mine.n * d_v;
    x.resize(n, f + 2 * e + 2 * mine.n);
    Lw.resize(mine.n, n), dLw.resize(mine.n, n);
    rule = detail::rule_of_wave(many, mine);
    const auto in = view_in<T>(x);
    using detail::part_of_view;
    if (mine.n > 0)
      back.emplace(*circle, rule, detail::Columns<T>{mine.n, 1, d_k, d_v},
                   part_of_view(in, 0, n, 0, f), part_of_view(in, 0, n, f, e),
                   part_of_view(view_out(x), 0, n, f + e, e), Lw, dLw);
    sinks.assign(std::size_t(many.heads), T(0));
  });
  detail::Trouble trouble;
  detail::in_waves(waves, [&](std::size_t w) {
    // compute a wave going back
    const auto mine = detail::wave_of(grid->shares[std::size_t(grid->column)],
                                      Index(w));
    if (mine.n == 0) { detail::any_of(circle->comm, false); return; }
    kv->rows = sums->rows = grid->row_keys.rows(circle->place);
    trouble.in([&] {
      rule = detail::rule_of_wave(many, mine);
      view_out(x) = detail::stacked(waves[w].q.in);
      kv->block() = detail::stacked(waves[w].k.in);
      Lw = x.middleCols(x.cols() - 2 * mine.n, mine.n).transpose();
      dLw = x.rightCols(mine.n).transpose();
      back->restart();
    });
    detail::go_back(*circle, *back, *kv, *sums, room, trouble);
    trouble.in([&] {
      // send home what a wave has found
      const T scale = detail::scale_of(many, Q);
      detail::cut_rows<T>(Matrix<T>(scale * back->dQ), waves[w].back_q.out);
      Matrix<T> found = sums->block();
      found.leftCols(d_k) *= scale;
      detail::cut_rows<T>(found, waves[w].back_k.out);
      for (Index h = 0; h < mine.n; ++h)
        sinks[std::size_t(mine.first + h)] += back->dsink[std::size_t(h)];
    });
  });
  HeadsGradient<T> g;

  // take the gradients out of the waves
  trouble.in([&] {
    g.Q.setZero(Q.rows(), Q.cols());
    g.K.setZero(K.rows(), K.cols()), g.V.setZero(V.rows(), V.cols());
    for (std::size_t w = 0; w < waves.size(); ++w)
      for (std::size_t j = 0; j < grid->shares.size(); ++j) {
        const auto his = detail::wave_of(grid->shares[j], Index(w));
        detail::put_heads<T>({&g.Q}, {d_k}, his.first, his.n,
                             waves[w].back_q.in[j]);
        detail::put_heads<T>({&g.K, &g.V}, {d_k, d_v}, his.kv_first, his.kv,
                             waves[w].back_k.in[j]);
      }
  });
  detail::add_up(circle->comm, sinks);
  g.sinks = std::move(sinks);
  trouble.tell(detail::own(ring.comm));
  return g;
}
/// Gradient for y = head_parallel(ring, Q, K, V, many).  Collective;
/// throws like grid_attention.
template <class T>
HeadsGradient<T> head_parallel_vjp(
    const Ring& ring, const Matrix<T>& Q, const Matrix<T>& K,
    const Matrix<T>& V, const HeadsOutput<T>& y, const Matrix<T>& dO,
    const FlashHeads<T>& many = {}, const Matrix<T>& dlogZ = {}) {
  return grid_attention_vjp(ring, ring.size(), Q, K, V, y, dO, many, dlogZ);
}

// merge states as a reduction of MPI
namespace detail {
/// The operation of eq. merge on states (m, l, o), d_v + 2 numbers each.
template <class T>
void merge_states(void* in, void* inout, int* n, MPI_Datatype* type) {
  MPI_Count bytes;  // which may be more than an int can count
  must(MPI_Type_size_x(*type, &bytes));
  const Index d = bytes / Index(sizeof(T)) - 1;  // all but m
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(inout);
  for (int k = 0; k < *n; ++k, from += d + 1, to += d + 1)

    // merge one state into another
    {
      const Eigen::Map<const RowVector<T>> a(from + 1, d);  // l and o
      Eigen::Map<RowVector<T>> b(to + 1, d);
      if (to[0] < from[0])
        b = a + decay(to[0], from[0]) * b, to[0] = from[0];
      else
        b += decay(from[0], to[0]) * a;
    }
}

// write states as rows and read them
/// A row m, l, o for each state.  Throws std::invalid_argument unless all
/// have equally many values.
template <class T>
Matrix<T> rows_of(const std::vector<Online<T>>& states) {
  const Index n = std::ssize(states), d = n > 0 ? states[0].o.size() : 0;
  Matrix<T> all(n, d + 2);
  for (Index i = 0; i < n; ++i) {
    const Online<T>& x = states[std::size_t(i)];
    require(x.o.size() == d, "reduce_states: a state of ", x.o.size(),
            " values among those of ", d);
    all(i, 0) = x.m, all(i, 1) = x.l, all.row(i).tail(d) = x.o;
  }
  return all;
}
/// The states of rows, into states of the same sizes.
template <class T>
void read_rows(const Matrix<T>& all, std::vector<Online<T>>& states) {
  for (Index i = 0; i < all.rows(); ++i) {
    Online<T>& x = states[std::size_t(i)];
    x.m = all(i, 0), x.l = all(i, 1), x.o = all.row(i).tail(x.o.size());
  }
}
}  // namespace detail
namespace detail {
/// Merges row i of all ranks, for each i; all ranks get all.  Collective.
template <class T>
void reduce_rows(MPI_Comm comm, Matrix<T>& all) {
  const RowType<T> state(all.cols());
  MPI_Op op;
  must(MPI_Op_create(merge_states<T>, 1, &op));
  MPI_Allreduce(MPI_IN_PLACE, all.data(), int(all.rows()), state.type, op,
                comm);
  must(MPI_Op_free(&op));
}
}  // namespace detail
/// Merges state i of all ranks, for each i; all ranks get all.  Collective.
/// Throws std::invalid_argument unless states and their values are equally
/// many on all ranks and countable by MPI, std::bad_alloc; on all ranks.
template <class T>
void reduce_states(MPI_Comm comm, std::vector<Online<T>>& states) {
  Matrix<T> all;
  const MPI_Comm ours = detail::own(comm);
  const Index values = states.empty() ? 0 : states[0].o.size();
  const std::array<detail::Named, 3> mine{
      {{"size of a number", sizeof(T)}, {"number of states", states.size()},
       {"values of a state", values}}};
  detail::agree(ours, "reduce_states", mine, [&] {
    detail::countable(std::ssize(states)), detail::countable(values + 2);
    all = detail::rows_of(states);
  });
  if (states.empty()) return;
  detail::reduce_rows(ours, all);
  detail::read_rows(all, states);
}

// decode with a cache on many ranks
/// States of a query's H heads, side by side in q, the same on all ranks,
/// on a cache of which this rank has rows of K, H_k d_k wide, and of V,
/// H_k d_v.  All ranks get them.  Collective.  Throws
/// std::invalid_argument for shapes, std::domain_error for values,
/// std::bad_alloc; the same on all ranks.  A call that takes longer than
/// `patience` seconds ends the job, as in a Ring (prop. tree).
template <class T>
std::vector<Online<T>> tree_decode(
    MPI_Comm comm, const RowVector<T>& q, const Matrix<T>& K,
    const Matrix<T>& V, Index H = 1, Index H_k = 1,
    std::optional<T> scale = {},
    double patience = std::numeric_limits<double>::infinity()) {
  const detail::Watch watch("tree_decode", comm, patience);

  // agree about a query and its cache
  const std::array<detail::Named, 6> mine{
      {{"size of a number", sizeof(T)}, {"width of q", q.size()},
       {"width of V", V.cols()}, {"heads of queries", H},
       {"heads of keys", H_k}, {"scale", scale}}};
  detail::agree(detail::own(comm), "tree_decode", mine, [&] {
    // check the cache of a rank
    detail::require_heads(Matrix<T>(q), K, V, FlashHeads<T>{H, H_k});
    detail::require_patience("tree_decode", patience);
    require(q.size() / H == K.cols() / H_k, "tree_decode: q is ", shape(q),
            " for ", H, " heads, K is ", shape(K), " for ", H_k);
    require(K.rows() == V.rows(), "tree_decode: K is ", shape(K), ", V is ",
            shape(V));
    require(scale || q.size() > 0, "tree_decode: d_k = 0 needs a scale");
    detail::countable(H), detail::countable(V.cols() / H_k + 2);
  });
  std::vector<Online<T>> states;
  Matrix<T> all;
  detail::Trouble trouble;

  // compute the states of all heads
  trouble.in([&] {
    const Index d_k = q.size() / H, d_v = V.cols() / H_k;
    for (Index h = 0; h < H; ++h) {
      const Index g = h / (H / H_k);
      const Page<T> page{
          detail::part_of_view(view_in<T>(K), 0, K.rows(), g * d_k, d_k),
          detail::part_of_view(view_in<T>(V), 0, V.rows(), g * d_v, d_v)};
      states.push_back(decode<T>(q.segment(h * d_k, d_k), {&page, 1}, scale));
    }
    all = detail::rows_of(states);
  });
  trouble.tell(detail::own(comm));
  detail::reduce_rows(detail::own(comm), all);
  detail::read_rows(all, states);
  return states;
}
}  // namespace attn
