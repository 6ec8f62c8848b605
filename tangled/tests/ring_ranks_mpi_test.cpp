// tests/ring_ranks_mpi_test.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include <malloc.h>
#include <cstring>
#include <functional>

#include "attn/ring.hpp"
#include "ring_ranks.hpp"

// count what one thread allocates
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void __libc_free(void*);

namespace {
thread_local bool counting = false;
thread_local long live = 0, peak = 0;
thread_local long allocations = 0, before_message = -1;
thread_local int fail_in = 0;  // the how many-th large allocation fails
bool fails(std::size_t n) {
  return fail_in > 0 && n > 200'000 && --fail_in == 0;
}
void* counted(void* p) {
  if (counting && p) live += long(malloc_usable_size(p)), ++allocations;
  if (live > peak) peak = live;
  return p;
}
void start_counting() {
  live = peak = allocations = 0, before_message = -1, counting = true;
}
long peak_since() { counting = false; return peak; }
}  // namespace
extern "C" void* malloc(std::size_t n) {
  return fails(n) ? nullptr : counted(__libc_malloc(n));
}
extern "C" void* aligned_alloc(std::size_t align, std::size_t n) {
  return fails(n) ? nullptr : counted(__libc_memalign(align, n));
}
extern "C" void free(void* p) {
  if (counting && p) live -= long(malloc_usable_size(p));
  __libc_free(p);
}

// stand between the ring and MPI
namespace {
long started = 0, completed = 0, duplicated = 0, freed = 0;
attn::Traffic given;  // to MPI, to be sent
int throw_at_poke = 0, kind_to_throw = 4;
[[noreturn]] void throw_planted() {
  switch (kind_to_throw) {
    case 1: throw std::invalid_argument("planted");
    case 2: throw std::domain_error("planted");
    case 3: throw std::bad_alloc();
    case 4: throw std::runtime_error("planted");
    default: throw kind_to_throw;
  }
}
}
extern "C" int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* any,
                          MPI_Status* status) {
  if (throw_at_poke > 0 && --throw_at_poke == 0) throw_planted();
  return PMPI_Iprobe(from, tag, comm, any, status);
}
extern "C" int MPI_Irecv(void* data, int n, MPI_Datatype type, int from,
                         int tag, MPI_Comm comm, MPI_Request* request) {
  ++started;
  return PMPI_Irecv(data, n, type, from, tag, comm, request);
}
extern "C" int MPI_Isend(const void* data, int n, MPI_Datatype type, int to,
                         int tag, MPI_Comm comm, MPI_Request* request) {
  ++started, ++given.messages;
  int size = 0;
  PMPI_Type_size(type, &size);
  given.bytes += long(n) * size;
  return PMPI_Isend(data, n, type, to, tag, comm, request);
}
extern "C" int MPI_Waitall(int n, MPI_Request* all, MPI_Status* status) {
  for (int i = 0; i < n; ++i) completed += all[i] != MPI_REQUEST_NULL;
  return PMPI_Waitall(n, all, status);
}
extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  ++duplicated;
  return PMPI_Comm_dup(comm, copy);
}
extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  ++freed;
  return PMPI_Comm_free(comm);
}
extern "C" int MPI_Bcast(void* data, int n, MPI_Datatype type, int root,
                         MPI_Comm comm) {
  if (counting && before_message < 0) before_message = allocations;
  return PMPI_Bcast(data, n, type, root, comm);
}
extern "C" int MPI_Allreduce(const void* in, void* out, int n,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int planned = fail_in;
  fail_in = 0;
  const int error = PMPI_Allreduce(in, out, n, type, op, comm);
  fail_in = planned;
  return error;
}
namespace { int threads_allowed = -1; }  // as MPI says
extern "C" int MPI_Query_thread(int* level) {
  if (threads_allowed < 0) return PMPI_Query_thread(level);
  *level = threads_allowed;
  return MPI_SUCCESS;
}
using namespace attn;
static const World world;

BOOST_AUTO_TEST_SUITE(ring)
using attn::flash;

// check traffic, heads, decoding and faults

// compare traffic with the theorem
Worst compare_traffic(const Traffic& sent, long messages, Index bytes) {
  Worst worst;
  for (const Traffic& x : {sent, given}) {
    worst.add(double(std::abs(x.messages - messages)), 0);
    worst.add(double(std::abs(x.bytes - bytes)), 0);
  }
  given = {};
  return worst;
}

// check which pieces meet
BOOST_AUTO_TEST_CASE(which_pieces_meet) {
  const auto wide = [](Index w) {
    return w < 0 ? std::optional<Index>() : std::optional<Index>(w);
  };
  for (Index n = 0; n < 4; ++n)
    for (Index m = 0; m < 4; ++m)
      for (Index offset = -6; offset <= 6; ++offset)
        for (Index left = -1; left < 3; ++left)
          for (Index right = -1; right < 3; ++right) {
            FlashRule<float> r;
            r.queries = n, r.keys = m, r.offset = offset;
            r.left = wide(left), r.right = wide(right);

            // look for a pair of two pieces
            bool pair = false;
            for (Index i = 0; i < n; ++i)
              for (Index j = 0; j < m; ++j) {
                const Index t = j - offset - i;
                pair = pair || ((left < 0 || -left <= t) && (right < 0 || t <= right));
              }
            BOOST_TEST(detail::may_meet(r) == pair);
          }
}

// check that a call in time is not kept
BOOST_AUTO_TEST_CASE(a_call_in_time_is_not_kept) {
  on_ranks(2, [](MPI_Comm comm, int) {
    const double start = MPI_Wtime();
    {
      const detail::Watch watch("a call", comm, 40);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    Worst worst;
    worst.add(MPI_Wtime() - start, 20);
    return worst;
  });
}

// count the traffic going back
enum class Lap { cold, hot, at_home, elsewhere };
Worst count_backward(MPI_Comm comm, int p, int rank, Lap way) {
  const double hot = way == Lap::hot ? 1000 : 0.1;
  Traffic sent;
  const Index m = 5, d = 4, e = 3;
  Ring ring{comm, contiguous(p * m, p), contiguous(p * m, p), nullptr};
  const Matrix<double> Q = hot * gaussian<double>(m, d, std::uint64_t(rank));
  const auto K = gaussian<double>(m, d, std::uint64_t(rank + 20));
  const auto V = gaussian<double>(m, e, std::uint64_t(rank + 40));
  FlashHeads<double> many;
  if (way == Lap::at_home || way == Lap::elsewhere) many.rule.right = 0;
  if (way == Lap::elsewhere) many.rule.offset = -m;
  const auto y = ring_attention<double>(ring, Q, K, V, many);
  ring.traffic = &sent, given = {};
  ring_attention_vjp<double>(ring, Q, K, V, y, V, many);
  const bool second = way == Lap::hot || way == Lap::elsewhere;
  const long laps = p == 1 ? 0 : 2 * p - 1 + (second ? p : 0);
  return compare_traffic(sent, laps, 8 * laps * m * (d + e));
}

// check what is sent
BOOST_AUTO_TEST_CASE(counted_forward) {
  for (const int p : {1, 2, 3, 4, 7})
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      Traffic sent;
      const Index d = 4, e = 3;
      std::vector<Index> lengths;
      for (int r = 0; r < p; ++r) lengths.push_back(5 + r % 3);
      const Shards x = contiguous(lengths);
      const Index m = x.rows(rank);
      const auto Q = gaussian<double>(m, 4 * d, std::uint64_t(rank));
      const auto K = gaussian<double>(m, 2 * d, std::uint64_t(rank + 20));
      const auto V = gaussian<double>(m, 2 * e, std::uint64_t(rank + 40));
      const double start = MPI_Wtime();
      given = {};
      ring_attention<double>({comm, x, x, &sent}, Q, K, V, {4, 2});
      const double spent = MPI_Wtime() - start;
      // every block but that of the right neighbour
      const Index departed = x.total() - x.rows((rank + 1) % p);
      Worst worst = compare_traffic(sent, p - 1, 8 * departed * 2 * (d + e));
      worst.add(sent.waited, p == 1 ? 0 : spent);
      worst.add((sent.waited > 0) != (p > 1), 0);
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(waiting_is_counted) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    const Index n = 4000, m = 600;
    Traffic traffic;
    const Ring ring{comm, contiguous({0, 0, n}), contiguous({m, m, m}),
                    &traffic};
    const auto Q = gaussian<double>(rank == 2 ? n : 0, 32, 1);
    const auto K = gaussian<double>(m, 32, 2);
    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    ring_attention<double>(ring, Q, K, K);
    const double spent = MPI_Wtime() - start;
    Worst worst;
    if (rank == 0) worst.add(0.05 * spent, traffic.waited);
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(counted_backward) {
  for (const int p : {1, 2, 3, 4, 7})
    for (const Lap way : {Lap::cold, Lap::hot, Lap::at_home, Lap::elsewhere})
      on_ranks(p, [&](MPI_Comm comm, int rank) {
        return count_backward(comm, p, rank, way);
      });
}

// count the traffic of a grid
enum class Laps { none, all, first };
Worst count_grid(MPI_Comm comm, int rank, int a, int b, bool back,
                 Laps lap) {
  Traffic sent;
  const Index m = 6, H = 8, G = 4, d = 4, e = 3, h = std::max<Index>(1, G / a);
  Ring ring{comm, contiguous(a * b * m, a * b), contiguous(a * b * m, a * b)};
  const auto seed = std::uint64_t(rank);
  Matrix<double> Q = 0.1 * gaussian<double>(m, H * d, seed, "Q");
  for (Index i = 0; i < H; ++i)
    if (lap == Laps::first && i / (H / G) % h == 0)
      Q.middleCols(i * d, d) *= 1000;
  const auto K = gaussian<double>(m, G * d, seed, "K");
  const auto V = gaussian<double>(m, G * e, seed, "V");
  const auto dO = gaussian<double>(m, H * e, seed, "dO");
  FlashHeads<double> many{H, G};
  if (lap == Laps::all) many.rule.right = 0, many.rule.offset = -a * m;
  if (!back) ring.traffic = &sent;
  given = {};
  const auto y = grid_attention(ring, a, Q, K, V, many);
  if (back) {
    ring.traffic = &sent, given = {};
    grid_attention_vjp(ring, a, Q, K, V, y, dO, many);
  }

  // compare the traffic of a grid with the theorem
  const Index per_query = back ? 2 * d + 2 * e + 2 : d + e + 1;
  const Index again = lap == Laps::all ? h : lap == Laps::first ? 1 : 0;
  const Index laps = h * (back && b > 1 ? 2 * b - 1 : b - 1) +  // of all waves
                     (back && b > 1 ? b * again : 0);
  const Index numbers = (a - 1) * m * H / a * per_query +
                        (back ? 2 : 1) * (a - 1) * m * h * (d + e) +
                        laps * a * m * (d + e);
  Worst worst = compare_traffic(
      sent, laps + h * (back ? 4 : 3) * (a - 1), 8 * numbers);
  worst.add(sent.waited > 0 ? 0 : 1, 0);
  return worst;
}

// compare heads with flash
template <class T>
Shards two_spans(int p) {
  const Index lane = detail::lanes<T>;
  return contiguous(FlashRule<T>{}.groups * lane + lane / 2 + 1, p);
}
template <class T>
Worst compare_heads(MPI_Comm comm, const Shards& x, int rank, Index H,
                    Index G) {
  const Index d = 3, e = 2, n = x.total();
  const auto Q = gaussian<T>(n, H * d, 1), K = gaussian<T>(n, G * d, 2);
  const auto V = gaussian<T>(n, G * e, 3);
  FlashHeads<T> many{H, G, causal_rule<T>()};
  for (Index h = 0; h < H; ++h) many.slopes.push_back(T(0.125) * T(h));
  const auto y = head_parallel<T>({comm, x, x}, part_of(Q, x, rank),
      part_of(K, x, rank), part_of(V, x, rank), many);
  Worst worst;
  for (Index h = 0; h < H; ++h)

    // compare a head with flash
    {
      const Index g = h * G / H;
      const FlashOutput<T> whole =
          flash(Q.middleCols(h * d, d), K.middleCols(g * d, d),
                V.middleCols(g * e, e), many.rule_of(h));
      worst.add(distance(y.O.middleCols(h * e, e), part_of(whole.O, x, rank)), 0);
      worst.add(distance(y.logZ.row(h).transpose(),
                         part_of(whole.logZ, x, rank)), 0);
    }
  worst.add(double(std::abs(y.O.cols() - H * e)), 0);
  return worst;
}

// check heads spread over ranks
void count_grids(bool back) {
  for (const auto& [a, b] : {std::pair{1, 3}, {2, 1}, {2, 3}, {4, 1}, {4, 2},
                             {8, 1}})
    for (const Laps lap : {Laps::none, Laps::all, Laps::first})
      on_ranks(a * b, [&, a = a, b = b](MPI_Comm comm, int rank) {
        return count_grid(comm, rank, a, b, back, lap);
      });
}
BOOST_AUTO_TEST_CASE(counted_grid) { count_grids(false); }
BOOST_AUTO_TEST_CASE(counted_grid_backward) { count_grids(true); }
BOOST_AUTO_TEST_CASE(heads_have_the_bits_of_flash) {
  for (const auto& [H, G] : {std::pair{1, 1}, {3, 3}, {5, 1}, {8, 4}})
    for (const int p : {1, 2, 3, 4, 7})
      on_ranks(p, [&, H = H, G = G](MPI_Comm comm, int rank) {
        std::vector<Index> lengths;
        for (int r = 0; r < p; ++r) lengths.push_back(r % 3 == 1 ? 0 : 3 + r);
        const Shards x = contiguous(lengths);
        Worst worst = compare_heads<double>(comm, x, rank, H, G);
        const Shards y = two_spans<double>(p), z = two_spans<float>(p);
        worst.add(compare_heads<double>(comm, y, rank, H, G));
        worst.add(compare_heads<float>(comm, z, rank, H, G));
        return worst;
      });
}
BOOST_AUTO_TEST_CASE(one_column_is_no_ring) {
  on_ranks(2, [](MPI_Comm comm, int rank) {
    const Ring ring{comm, zigzag(64, 2), zigzag(64, 2)};
    const auto seed = std::uint64_t(rank);
    const auto Q = gaussian<double>(32, 8, seed, "Q");
    const auto K = gaussian<double>(32, 8, seed, "K");
    const auto y = ring_attention(ring, Q, K, K);
    const auto z = grid_attention(ring, 1, Q, K, K);
    Worst worst;
    worst.add(double(distance(y.O, z.O) == 0), 0);
    return worst;
  });
}

// draw a random state
Online<float> random_state(std::uint64_t seed) {
  if (seed % 7 == 0) return Online<float>::nothing(4);
  const Matrix<float> x = gaussian<float>(1, 6, seed);
  return {20 * x(0), 1 + x(1) * x(1), x.rightCols(4)};
}

// check that all ranks refuse
template <class Error, class F>
Worst all_throw(MPI_Comm comm, const std::string& words, F f) {
  constexpr int room = 600;
  std::string text(room, ' ');
  try {
    f();
  } catch (const Error& e) {
    text = e.what();
    text.resize(room, ' ');
  }
  std::string first = text;
  MPI_Bcast(first.data(), room, MPI_CHAR, 0, comm);
  Worst worst;
  worst.add(text.find(words) == std::string::npos || text != first, 0);
  return worst;
}
struct Call {
  Matrix<double> Q, K, V;
  Ring ring;
  FlashHeads<double> many{};
  FlashRule<double>& rule = many.rule;
  Call(MPI_Comm comm)
      : Q(gaussian<double>(4, 3, 1)), K(gaussian<double>(4, 3, 2)),
        V(gaussian<double>(4, 2, 3)),
        ring{comm, contiguous(12, 3), contiguous(12, 3), nullptr} {}
  auto operator()() const { return ring_attention(ring, Q, K, V, many); }
};
template <class Error, class Change>
void refuses(const std::string& words, Change change) {
  on_ranks(3, [&](MPI_Comm comm, int rank) {
    Call call(comm);
    change(call, rank);
    Worst worst = all_throw<Error>(comm, words, call);
    worst.add(double(Call(comm)().O.rows() != 4), 0);  // still usable
    return worst;
  });
}
using Shape = std::invalid_argument;
using Value = std::domain_error;
BOOST_AUTO_TEST_CASE(one_rank_has_a_wrong_shape) {
  refuses<Shape>("K is 5x3, expected 4 rows (on rank 1)",
                 [](Call& c, int r) { if (r == 1) c.K.setZero(5, 3); });
  refuses<Shape>("width of Q is 2 on rank 2 but 3 on rank 0",
                 [](Call& c, int r) {
                   if (r == 2) c.Q.setZero(4, 2), c.K.setZero(4, 2);
                 });
  refuses<Shape>("V is 3x2 (on rank 0)",
                 [](Call& c, int r) { if (r == 0) c.V.setZero(3, 2); });
  refuses<Shape>("width of V is 7 on rank 1", [](Call& c, int r) {
    if (r == 1) c.V.setZero(4, 7);
  });
  refuses<Shape>("Q is 4x3 but K is 4x1", [](Call& c, int r) {
    if (r == 2) c.K.setZero(4, 1);
  });
}
BOOST_AUTO_TEST_CASE(two_ranks_object) {
  const auto shape = [](Call& c) { c.K.setZero(5, 3); };
  const auto value = [](Call& c) { c.rule.softcap = -1; };
  refuses<Shape>("expected 4 rows (on rank 1)", [&](Call& c, int r) {
    if (r == 1) shape(c);
    if (r == 2) value(c);
  });
  refuses<Shape>("expected 4 rows (on rank 0)", [&](Call& c, int r) {
    if (r == 0) shape(c);
    if (r == 2) c.rule.right = 1;
  });
  refuses<Shape>("softcap is -1 on rank 1", [&](Call& c, int r) {
    if (r == 1) value(c);
    if (r == 2) shape(c);
  });
}
BOOST_AUTO_TEST_CASE(ranks_disagree_about_the_rule) {
  refuses<Shape>("right is 1 on rank 2 but inf on rank 0",
                 [](Call& c, int r) { if (r == 2) c.rule.right = 1; });
  refuses<Shape>("scale is 1.0000000000000002 on rank 2 but 1 on rank 0",
                 [](Call& c, int r) {
    c.rule.scale = r == 2 ? 1 + 0x1p-52 : 1;
  });
  refuses<Shape>("offset is 1152921504606846977 on rank 2 but "
                 "1152921504606846976 on rank 0", [](Call& c, int r) {
    c.rule.offset = (Index(1) << 60) + (r == 2);
  });
  refuses<Shape>("queries (fingerprint)", [](Call& c, int r) {
    if (r == 1) c.ring.queries = contiguous({3, 4, 5});
  });
  refuses<Shape>("mask (fingerprint)", [](Call& c, int r) {
    static const Matrix<bool> some = Matrix<bool>::Constant(12, 12, true);
    if (r == 1) c.rule.keep = &some;
  });
  refuses<Shape>("mask (fingerprint)", [](Call& c, int r) {
    static Matrix<bool> all = Matrix<bool>::Constant(12, 12, true);
    all(0, 0) = r != 1;
    c.rule.keep = &all;
  });
}
BOOST_AUTO_TEST_CASE(nothing_may_differ) {
  static_assert(detail::most_named == 18 + 4);
  using Change = std::function<void(Call&)>;
  const Matrix<bool> keep = Matrix<bool>::Constant(12, 12, true);
  const std::vector<std::pair<const char*, Change>> entries{
      {"heads of queries", [](auto& c) { c.many.heads = 3; }},
      {"heads of keys", [](auto& c) { c.many.kv_heads = 3; }},

      // alter what has a fingerprint
      {"slopes (fingerprint)", [](auto& c) { c.many.slopes = {0.5}; }},
      {"sinks (fingerprint)", [](auto& c) { c.many.sinks = {0.5}; }},
      {"queries (fingerprint)", [](auto& c) {
        std::swap(c.ring.queries.of[0], c.ring.queries.of[2]); }},
      {"keys (fingerprint)", [](auto& c) {
        c.ring.keys = contiguous({3, 4, 5}); }},
      {"mask (fingerprint)", [](auto& c) { c.rule.keep_q = 2; }},
      {"mask (fingerprint)", [](auto& c) { c.rule.keep_k = 2; }},

      // alter the numbers of a rule
      {"scale", [](auto& c) { c.rule.scale = 1; }},
      {"softcap", [](auto& c) { c.rule.softcap = 2; }},
      {"slope", [](auto& c) { c.rule.slope = 0.5; }},
      {"sink", [](auto& c) { c.rule.sink = 0.5; }},
      {"offset", [](auto& c) { c.rule.offset = 1; }},
      {"left", [](auto& c) { c.rule.left = 3; }},
      {"right", [](auto& c) { c.rule.right = 3; }},
      {"queries in use", [](auto& c) { c.rule.queries = 11; }},
      {"keys in use", [](auto& c) { c.rule.keys = 11; }},
      {"key block", [](auto& c) { c.rule.key_block = 64; }},
      {"groups", [](auto& c) { c.rule.groups = 1; }}
  };
  for (const auto& [name, change] : entries)
    refuses<Shape>(std::string("ring_attention: ") + name + " is ",
                   [&](Call& c, int r) {
      c.rule.keep = &keep;
      if (r == 1) change(c);
    });
}
BOOST_AUTO_TEST_CASE(zeros_and_NaNs_agree) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    Call c(comm);
    c.rule.slope = rank == 1 ? -0.0 : 0.0;
    Worst worst;
    worst.add(double(c().O.rows() != 4), 0);
    c.rule.slope = rank == 1 ? -NaN : NaN;
    worst.add(all_throw<Value>(comm, "slope", c));
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(ranks_call_different_functions) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    const Call c(comm);
    const auto y = c();
    std::vector<Online<double>> x(2, Online<double>::nothing(4));

    // list all functions that ranks call together
    const std::vector<std::function<void()>> calls{
        [&] { c(); },
        [&] { ring_attention_vjp(c.ring, c.Q, c.K, c.V, y, c.V); },
        [&] { grid_attention(c.ring, 1, c.Q, c.K, c.V); },
        [&] { grid_attention_vjp(c.ring, 1, c.Q, c.K, c.V, y, c.V); },
        [&] { tree_decode<double>(comm, c.Q.row(0), c.K, c.V); },
        [&] { reduce_states(comm, x); }};
    for (const auto& call : calls) call();
    Worst worst;
    for (const int alone : {0, 1})
      for (std::size_t f = 0; f < calls.size(); ++f)
        for (std::size_t g = 0; g < calls.size(); ++g)
          if (f != g)
            worst.add(all_throw<Shape>(
                comm, "calls another function than rank 0",
                [&] { calls[rank == alone ? f : g](); }));
    const Matrix<float> Q = c.Q.cast<float>(), V = c.V.cast<float>();
    worst.add(all_throw<Shape>(comm, "size of a number is 4 on rank 1", [&] {
      if (rank == 1) ring_attention<float>(c.ring, Q, Q, V);
      else c();
    }));
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(what_cannot_be_sharded) {
  refuses<Shape>("ring_attention: position 3 is held twice",
                 [](Call& c, int) { c.ring.keys.of[1][0].first = 3; });
  refuses<Shape>("a piece of 4 positions from 9 in steps of 1, of 12",
                 [](Call& c, int) { c.ring.queries.of[2][0].first = 9; });
  refuses<Shape>("positions after 4 others", [](Call& c, int) {
    for (int r : {1, 2})
      c.ring.keys.of[std::size_t(r)][0].n = std::numeric_limits<Index>::max();
  });
  refuses<Shape>("rows of several heads are not sharded", [](Call& c, int) {
    static const std::vector<double> one{0.5};
    c.rule.sinks = one;
  });
  refuses<Shape>("offset is", [](Call& c, int) {
    c.rule.offset = std::numeric_limits<Index>::max();
  });
  const Index most = std::numeric_limits<int>::max();
  BOOST_TEST(detail::countable(most) == most);
  BOOST_CHECK_EXCEPTION(detail::countable(most + 1), Shape,
                        says("ring: a block of 2147483648 rows or columns"));
  on_ranks(3, [&](MPI_Comm comm, int) {
    // refuse rows of more numbers than MPI can count
    const Ring ring{comm, contiguous(0, 3), contiguous(0, 3)};
    const Matrix<double> wide(0, most + 1), V(0, 1);
    Worst worst;
    worst.add(all_throw<Shape>(comm, "rows or columns", [&] {
      ring_attention<double>(ring, wide, wide, V);
    }));
    worst.add(all_throw<Shape>(comm, "rows or columns", [&] {
      grid_attention<double>(ring, 3, wide, wide, V);
    }));
    worst.add(all_throw<Shape>(comm, "rows or columns", [&] {
      grid_attention_vjp<double>(ring, 3, wide, wide, V, {V, {V.transpose()}}, V);
    }));
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(one_rank_has_no_patience) {
  for (const double never : {0.0, -1.0, NaN})
    refuses<Shape>("patience is", [never](Call& c, int r) {
      if (r == 1) c.ring.patience = never;
    });
}
BOOST_AUTO_TEST_CASE(a_limit_needs_a_thread) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    const Call c(comm);
    Ring hasty = c.ring;
    hasty.patience = 100;
    Worst worst;
    worst.add(double(ring_attention(hasty, c.Q, c.K, c.V).O.rows() != 4), 0);
    if (rank == 1) threads_allowed = MPI_THREAD_SINGLE;
    const std::string words = "a limit needs MPI_Init_thread";
    worst.add(all_throw<Shape>(comm, "ring_attention: " + words, [&] {
      ring_attention(hasty, c.Q, c.K, c.V);
    }));
    worst.add(all_throw<Shape>(comm, "tree_decode: " + words, [&] {
      tree_decode<double>(comm, c.Q.row(0), c.K, c.V, 1, 1, {}, 100);
    }));
    worst.add(double(c().O.rows() != 4), 0);
    threads_allowed = -1;
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(a_thread_that_is_not_needed) {
  on_ranks(2, [](MPI_Comm comm, int) {
    const auto watched = [comm](double seconds) {
      return detail::Watch("a call", comm, seconds).guard.joinable();
    };
    Worst worst;
    threads_allowed = MPI_THREAD_SINGLE;
    worst.add(double(watched(100)), 0);
    threads_allowed = -1;
    worst.add(double(!watched(100)), 0);
    for (const double never : {1e9, 1e12, HUGE_VAL, 0.0, -1.0, NaN})
      worst.add(double(watched(never)), 0);
    worst.add(double(!watched(0.99e9)), 0);
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(all_ranks_have_a_wrong_rule) {
  refuses<Value>("softcap", [](Call& c, int) { c.rule.softcap = -1; });
  refuses<Value>("sink", [](Call& c, int) { c.rule.sink = NaN; });
  refuses<Shape>("lengths 13 and 12",
                 [](Call& c, int) { c.rule.queries = 13; });
  refuses<Shape>("for 2 and keys for 3 ranks, of which there are 3",
                 [](Call& c, int) { c.ring.queries = contiguous(8, 2); });
  refuses<Shape>("steps 3 and 1",
                 [](Call& c, int) { c.ring.queries = striped(12, 3); });
  refuses<Shape>("slope", [](Call& c, int) {
    c.ring.queries = c.ring.keys = striped(12, 3), c.rule.slope = 0.5;
  });
  refuses<Shape>("a bias is not sharded", [](Call& c, int) {
    static const Matrix<double> bias = Matrix<double>::Zero(4, 4);
    c.rule.bias = &bias;
  });
  refuses<Shape>("keep is 2x2 blocks of 1x1", [](Call& c, int) {
    static const Matrix<bool> few = Matrix<bool>::Constant(2, 2, true);
    c.rule.keep = &few;
  });
  refuses<Shape>("keep is 12x2 blocks of 1x1", [](Call& c, int) {
    static const Matrix<bool> few = Matrix<bool>::Constant(12, 2, true);
    c.rule.keep = &few;
  });
}
BOOST_AUTO_TEST_CASE(the_other_functions_refuse_too) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    Call c(comm);
    const auto y = c();
    const Matrix<double> dO(rank == 1 ? 3 : 4, 2);
    Worst worst;
    worst.add(all_throw<Shape>(
        comm, "ring_attention_vjp: dO is 3x2, expected 4x2", [&] {
      ring_attention_vjp(c.ring, c.Q, c.K, c.V, y, dO);
    }));
    worst.add(all_throw<Shape>(comm, "logZ is 0x0, expected 1x4", [&] {
      ring_attention_vjp<double>(c.ring, c.Q, c.K, c.V, {y.O, {}}, c.V);
    }));
    worst.add(all_throw<Shape>(comm, "dlogZ is 1x1, expected 1x4", [&] {
      ring_attention_vjp<double>(c.ring, c.Q, c.K, c.V, y, c.V, {},
                                 Matrix<double>::Zero(1, 1));
    }));

    // refuse heads and caches that do not fit
    worst.add(all_throw<Shape>(comm, "2 heads on 1 of keys", [&] {
      head_parallel(c.ring, c.Q, c.K, c.V, {2, 1});
    }));
    worst.add(all_throw<Shape>(comm, "dO is 3x2, expected 4x2", [&] {
      head_parallel_vjp(c.ring, c.Q, c.K, c.V, y, dO);
    }));
    worst.add(all_throw<Shape>(comm, "3 heads on 0 of keys", [&] {
      ring_attention(c.ring, c.Q, c.K, c.V, {3, 0});
    }));
    worst.add(all_throw<Shape>(comm, "3 heads on 3 of keys", [&] {
      ring_attention<double>(c.ring, c.Q, Matrix<double>(4, 4), c.Q, {3, 3});
    }));
    worst.add(all_throw<Shape>(comm, "heads of keys is 3 on rank 1", [&] {
      const Matrix<double> K = c.K.leftCols(rank == 1 ? 3 : 1);
      tree_decode<double>(comm, c.Q.row(0), K, c.V, 3, rank == 1 ? 3 : 1);
    }));

    // refuse grids that do not fit
    worst.add(all_throw<Shape>(comm, "2 columns for 3 ranks", [&] {
      grid_attention(c.ring, 2, c.Q, c.K, c.V);
    }));
    worst.add(all_throw<Shape>(comm, "columns is 3 on rank 1", [&] {
      grid_attention(c.ring, rank == 1 ? 3 : 1, c.Q, c.K, c.V);
    }));
    worst.add(all_throw<Shape>(
        comm, "grid_attention_vjp: dO is 3x2, expected 4x2", [&] {
      grid_attention_vjp(c.ring, 3, c.Q, c.K, c.V, y, dO);
    }));
    worst.add(all_throw<Shape>(comm, "tree_decode: width of V is 3 on rank 2", [&] {
      tree_decode<double>(comm, c.Q.row(0), c.K,
                          gaussian<double>(4, rank == 2 ? 3 : 2, 1));
    }));

    // refuse caches that decoding cannot use
    worst.add(all_throw<Shape>(comm, "q is 1x3 for 1 heads, K is 4x2 for 1", [&] {
      tree_decode<double>(comm, c.Q.row(0),
                          rank == 1 ? Matrix<double>(c.K.leftCols(2)) : c.K, c.V);
    }));
    worst.add(all_throw<Shape>(comm, "q is 1x4 for 4 heads, K is 4x4 for 2", [&] {
      tree_decode<double>(comm, RowVector<double>::Ones(4),
                          Matrix<double>::Ones(4, 4), c.V, 4, 2);
    }));
    worst.add(all_throw<Shape>(comm, "scale is 0.5 on rank 2 but inf", [&] {
      tree_decode<double>(comm, c.Q.row(0), c.K, c.V, 1, 1,
                          rank == 2 ? std::optional(0.5) : std::nullopt);
    }));
    worst.add(all_throw<Shape>(comm, "patience is 0", [&] {
      tree_decode<double>(comm, c.Q.row(0), c.K, c.V, 1, 1, {}, 0);
    }));
    worst.add(all_throw<Shape>(comm, "tree_decode: K is 4x3, V is 5x2", [&] {
      tree_decode<double>(comm, c.Q.row(0), c.K, Matrix<double>(5, 2));
    }));
    worst.add(all_throw<Shape>(comm, "d_k = 0 needs a scale", [&] {
      tree_decode<double>(comm, RowVector<double>(0), Matrix<double>(4, 0), c.V);
    }));
    const Matrix<double> ones = Matrix<double>::Ones(4, 1);
    const auto one = tree_decode<double>(comm, ones.row(0), ones, ones).front();
    worst.add(std::abs(one.output()(0) - 1), 0);
    return worst;
  });
}

// check decoding by reduction
template <class T>
void decode_on_ranks() {
  for (const Place place : {Place::even, Place::uneven, Place::striped})
    for (const Index n : {0, 1, 5, 60, 300}) {
      RingCase<T> c = ring_case<T>(1, n, 6, 4, std::uint64_t(n));
      c.place = place;
      if (n % 20 == 0) c.plain.scale = T(0.9);
      const Truth t = forward_truth(c);
      for (int p = 1; p <= 8; ++p)
        on_ranks(p, [&](MPI_Comm comm, int rank) {
          const Bounds<T> bound(c, t, cuts_of_decoding(c, p));
          const Shards x = c.keys(p);
          const auto y = tree_decode<T>(
              comm, c.Q.row(0), part_of(c.K, x, rank),
              part_of(c.V, x, rank), 1, 1, c.plain.scale)[0];
          Worst worst;
          worst.add(y.output(), t.O, bound.O);
          if (n > 0) worst.add(distance(y.logZ(), t.L(0)), bound.L(0));
          else worst.add(is_forbidden(y.logZ()) ? 0 : 1, 0);
          return worst;
        });
    }
}
BOOST_AUTO_TEST_CASE(decode_on_up_to_eight_ranks) {
  decode_on_ranks<double>();
  decode_on_ranks<float>();
}
BOOST_AUTO_TEST_CASE(decode_several_heads) {
  const Index d = 5, e = 3;
  for (int p = 1; p <= 8; ++p)
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      Worst worst;
      std::vector<RingCase<double>> cases;
      RowVector<double> q(4 * d);
      Matrix<double> K(70, 2 * d), V(70, 2 * e);
      for (Index h = 0; h < 4; ++h) {
        auto c = ring_case<double>(1, 70, d, e, std::uint64_t(30 + h / 2));
        q.segment(h * d, d) = c.Q = gaussian<double>(1, d, std::uint64_t(h));
        K.middleCols(h / 2 * d, d) = c.K, V.middleCols(h / 2 * e, e) = c.V;
        cases.push_back(c);
      }
      const Shards x = cases[0].keys(p);
      const auto y = tree_decode<double>(comm, q, part_of(K, x, rank),
                                         part_of(V, x, rank), 4, 2);
      for (std::size_t h = 0; h < 4; ++h)

        // compare one of several heads with its truth
        {
          const Cuts k = cuts_of_decoding(cases[h], p);
          const Truth t = forward_truth(cases[h]);
          const Bounds<double> bound(cases[h], t, k);
          worst.add(y[h].output(), t.O, bound.O);
          worst.add(distance(y[h].logZ(), t.L(0)), bound.L(0));
        }
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(decode_has_the_same_bits_on_all_ranks) {
  for (int p = 1; p <= 8; ++p)
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      std::vector<Online<float>> x;
      for (std::uint64_t i = 0; i < 200; ++i)
        x.push_back(random_state(i * 8 + std::uint64_t(rank)));
      reduce_states(comm, x);
      Worst worst;
      for (const auto& state : x) {
        RowVector<float> mine(6), first(6);
        mine << state.m, state.l, state.o;
        first = mine;
        MPI_Bcast(first.data(), 6, MPI_FLOAT, 0, comm);
        worst.add(std::memcmp(first.data(), mine.data(), 24) != 0 ? 1 : 0, 0);
      }
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(states_of_different_lengths) {
  using States = std::vector<Online<float>>;
  const auto zero = [](Index d) { return Online<float>::nothing(d); };
  const std::vector<std::pair<States, const char*>> strange{
      {{zero(4), zero(5)}, "a state of 5 values among those of 4"},
      {{zero(5), zero(5)}, "values of a state is 5 on rank 1 but 4 on rank 0"},
      {{zero(4)}, "number of states is 1 on rank 1 but 2 on rank 0"},
      {{}, "number of states is 0 on rank 1 but 2 on rank 0"}};
  for (const auto& other : strange)
    on_ranks(3, [&](MPI_Comm comm, int rank) {
      States x(2, zero(4)), none;
      if (rank == 1) x = other.first;
      reduce_states(comm, none);
      return all_throw<std::invalid_argument>(
          comm, other.second, [&] { reduce_states(comm, x); });
    });
}
BOOST_AUTO_TEST_CASE(many_states_in_one_message) {
  for (const int p : {2, 3, 8})
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      std::vector<Online<float>> x;
      for (std::uint64_t i = 0; i < 50; ++i)
        x.push_back(random_state(i * 8 + std::uint64_t(rank)));
      reduce_states(comm, x);
      Worst worst;
      for (std::uint64_t i = 0; i < 50; ++i) {
        auto y = Online<quad>::nothing(4), size = y;
        for (std::uint64_t r = 0; r < std::uint64_t(p); ++r) {
          const auto s = random_state(i * 8 + r);
          const quad m = s.m, l = s.l;
          const RowVector<quad> o = lift<quad>(s.o);
          y = merge(y, Online<quad>{m, l, o});
          size = merge(size, Online<quad>{m, l, o.cwiseAbs()});
        }
        const double u = unit_roundoff<float>();
        const double q = std::expm1(u * (200 + 4 * (p - 1)) / (1 - 2 * u));
        worst.add(distance(x[i].l, y.l), q * to_double(size.l));
        worst.add(x[i].o, y.o, RowVector<double>(q * lift<double>(size.o)));
      }
      return worst;
    });
}

// plant exceptions in a call
template <class F>
Worst planted_on(MPI_Comm comm, bool here, const F& call) {
  int rank, p, first = 0, planted = 0;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &p);
  Worst worst;
  for (; first < p; ++planted) {
    started = completed = 0;
    kind_to_throw = 1 + planted % 5;
    throw_at_poke = here ? planted + 1 : 0;
    const detail::Complaint said = detail::complaint(call);
    const int mine = here && throw_at_poke == 0 ? rank : p;
    throw_at_poke = 0;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);

    // compare what was said with what was planted
    const std::string words =
        (kind_to_throw == 3   ? std::string(std::bad_alloc().what())
         : kind_to_throw == 5 ? "an exception of unknown type"
                              : "planted") +
        " (on rank " + std::to_string(first) + ")";
    worst.add(double(said.kind != (first < p ? std::min(kind_to_throw, 4) : 0)),
              0);
    worst.add(double(first < p && said.words != words), 0);
    worst.add(double(std::abs(started - completed)), 0);
  }
  worst.add(double(planted < 2), 0);
  return worst;
}
template <class F>
Worst starved_on(MPI_Comm comm, int rank, int p, int least, const F& call) {
  Worst worst;
  int planted = 0;
  for (int thrown = 1; thrown; ++planted) {
    started = completed = thrown = 0;
    fail_in = rank == 1 ? planted + 1 : 0;
    std::string text = "none";
    try { call(); } catch (const std::bad_alloc& e) { text = e.what(); }
    fail_in = 0, thrown = text != "none";
    int all = 0;
    MPI_Allreduce(&thrown, &all, 1, MPI_INT, MPI_SUM, comm);
    worst.add(double(all != 0 && all != p), 0);
    worst.add(double(thrown && !text.ends_with(" (on rank 1)")), 0);
    worst.add(double(std::abs(started - completed)), 0);
  }
  worst.add(double(planted <= least), 0);
  return worst;
}

// check that trouble is told
BOOST_AUTO_TEST_CASE(thrown_between_departure_and_arrival) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    Worst worst;
    started = completed = 0;
    const Ring ring{comm, contiguous(30, 3), contiguous(30, 3)};
    const auto circle = detail::circle_of(ring);
    const auto depart_only = [&] {
      detail::Convoy<double> x(circle, 0, 500);
      x.block().setConstant(rank);
      x.depart(10);
      throw std::runtime_error("between (on rank 1)");
    };
    worst.add(all_throw<std::runtime_error>(comm, "between", depart_only));
    worst.add(double(std::abs(started - 2) + std::abs(completed - 2)), 0);

    // plant an exception at each poke
    Call c(comm);
    const auto y = c();
    const std::vector<std::function<void()>> calls{
        [&] { c(); },
        [&] { ring_attention_vjp(c.ring, c.Q, c.K, c.V, y, c.V); },
        [&] { grid_attention(c.ring, 1, c.Q, c.K, c.V); },
        [&] { grid_attention_vjp(c.ring, 1, c.Q, c.K, c.V, y, c.V); }};
    for (const auto& call : calls) {
      worst.add(planted_on(comm, rank == 1, call));
      worst.add(planted_on(comm, rank > 0, call));
    }
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(words_that_are_cut) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    return all_throw<std::domain_error>(
        comm, std::string(507, 'x') + " (on rank 2)", [&] {
      detail::together(comm, [&] {
        if (rank == 2) throw std::domain_error(std::string(600, 'x'));
      });
    });
  });
}
BOOST_AUTO_TEST_CASE(thrown_on_a_grid) {
  for (int where = 0; where < 4; ++where)
    on_ranks(4, [&](MPI_Comm comm, int rank) {
      const Ring ring{comm, zigzag(24, 4), zigzag(24, 4)};
      const auto seed = std::uint64_t(rank);
      const Matrix<double> Q = 30 * gaussian<double>(6, 6 * 3, seed, "Q");
      const auto K = gaussian<double>(6, 3 * 3, seed, "K");
      const auto V = gaussian<double>(6, 3 * 2, seed, "V");
      const auto dO = gaussian<double>(6, 6 * 2, seed, "dO");
      const FlashHeads<double> many{6, 3, causal_rule<double>()};
      const auto y = grid_attention(ring, 2, Q, K, V, many);
      const auto forward = [&] { grid_attention(ring, 2, Q, K, V, many); };
      const auto back = [&] {
        grid_attention_vjp(ring, 2, Q, K, V, y, dO, many);
      };
      Worst worst = planted_on(comm, rank == where, forward);
      worst.add(planted_on(comm, rank == where, back));
      const auto z = grid_attention(ring, 2, Q, K, V, many);
      worst.add(distance(z.O, y.O) + distance(z.logZ, y.logZ), 0);
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(what_cannot_be_told_ends_the_process) {
  verify(double(!noexcept(detail::own(MPI_COMM_WORLD))), 0);
  verify(double(!std::is_nothrow_constructible_v<
             detail::Watch, const char*, MPI_Comm, double>), 0);
}
BOOST_AUTO_TEST_CASE(nothing_is_allocated_before_all_listen) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    Worst worst;
    const Shards x = zigzag(12, 3);
    const Ring ring{comm, x, x};
    const auto Q = gaussian<double>(4, 6, 1), K = gaussian<double>(4, 3, 2);
    const Matrix<bool> keep = Matrix<bool>::Constant(12, 12, true);
    FlashHeads<double> many{2, 1, causal_rule<double>(), {0.5, 1}, {1, 2}};
    many.rule.keep = &keep;
    const RowVector<double> q = Q.row(0);
    const auto y = ring_attention(ring, Q, K, K, many);

    // count what each function allocates before its first message
    std::vector<Online<double>> states(3, Online<double>::nothing(4));
    const std::vector<std::function<void()>> calls{
        [&] { ring_attention(ring, Q, K, K, many); },
        [&] { ring_attention_vjp(ring, Q, K, K, y, Q, many); },
        [&] { grid_attention(ring, 3, Q, K, K, many); },
        [&] { grid_attention_vjp(ring, 3, Q, K, K, y, Q, many); },
        [&] { head_parallel(ring, Q, K, K, many); },
        [&] { head_parallel_vjp(ring, Q, K, K, y, Q, many); },
        [&] { tree_decode<double>(comm, q, K, K, 2, 1); },
        [&] { reduce_states(comm, states); }};
    for (const auto& call : calls) {
      start_counting();
      call();
      worst.add(double(std::abs(before_message)), 0);
      worst.add(double(peak_since() <= 0), 0);
    }
    if (rank == 0) BOOST_TEST(y.O.rows() == 4);
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(errors_of_MPI_end_the_job) {
  on_ranks(3, [](MPI_Comm comm, int) {
    MPI_Comm users;
    PMPI_Comm_dup(comm, &users);
    MPI_Comm_set_errhandler(users, MPI_ERRORS_RETURN);
    MPI_Errhandler theirs, ours;
    MPI_Comm_get_errhandler(detail::own(users), &ours);
    MPI_Comm_get_errhandler(users, &theirs);
    Worst worst;
    worst.add(double(ours != MPI_ERRORS_ARE_FATAL), 0);
    worst.add(double(theirs != MPI_ERRORS_RETURN), 0);
    MPI_Comm_free(&users);
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(one_duplicate_for_a_communicator) {
  on_ranks(3, [](MPI_Comm comm, int) {
    MPI_Comm users;
    PMPI_Comm_dup(comm, &users);
    duplicated = freed = 0;
    const Call c(users);
    const auto y = c();
    ring_attention_vjp(c.ring, c.Q, c.K, c.V, y, c.V);
    head_parallel(c.ring, c.Q, c.K, c.V);
    tree_decode<double>(users, c.Q.row(0), c.K, c.V);
    Worst worst;
    worst.add(double(std::abs(duplicated - 1) + freed), 0);
    MPI_Comm_free(&users);
    worst.add(double(std::abs(freed - 2)), 0);
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(no_memory_on_one_rank) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    const Index m = 300, d = 96;
    const Ring ring{comm, contiguous(3 * m, 3), contiguous(3 * m, 3)};
    const auto seed = std::uint64_t(rank);
    const auto Q = gaussian<double>(m, d, seed, "Q");
    const auto K = gaussian<double>(m, d, seed, "K");
    FlashHeads<double> many{3, 3, causal_rule<double>()};
    many.rule.left = 5;
    const auto y = ring_attention(ring, Q, K, K, many);
    grid_attention(ring, 3, Q, K, K, many);  // all connected
    const RowVector<double> q = RowVector<double>::Ones(1);
    const auto k = gaussian<double>(3, 1, 1), v = gaussian<double>(3, 30000, 2);
    std::vector<Online<double>> states{Online<double>::nothing(30000)};
    Worst worst;

    // let memory run out in six functions
    const auto starve = [&](int least, const auto& call) {
      worst.add(starved_on(comm, rank, 3, least, call));
    };
    starve(2, [&] { ring_attention(ring, Q, K, K, many); });
    starve(2, [&] { grid_attention(ring, 3, Q, K, K, many); });
    starve(2, [&] { ring_attention_vjp(ring, Q, K, K, y, K, many); });
    starve(2, [&] { grid_attention_vjp(ring, 3, Q, K, K, y, K, many); });
    starve(2, [&] { tree_decode<double>(comm, q, k, v); });
    starve(1, [&] { reduce_states(comm, states); });
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(no_memory_on_a_grid) {
  on_ranks(4, [](MPI_Comm comm, int rank) {
    const Index m = 300, d = 96;
    const Ring ring{comm, zigzag(4 * m, 4), zigzag(4 * m, 4)};
    const auto seed = std::uint64_t(rank);
    const Matrix<double> Q = 30 * gaussian<double>(m, 4 * d, seed, "Q");
    const auto K = gaussian<double>(m, 4 * d, seed, "K");
    FlashHeads<double> many{4, 4, causal_rule<double>()};
    many.rule.left = 5;
    const auto y = grid_attention(ring, 2, Q, K, K, many);
    Worst worst = starved_on(comm, rank, 4, 9, [&] {
      grid_attention(ring, 2, Q, K, K, many);
    });
    worst.add(starved_on(comm, rank, 4, 9, [&] {
      grid_attention_vjp(ring, 2, Q, K, K, y, K, many);
    }));
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(messages_of_users_are_not_disturbed) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    double mine = 10.0 + rank, got = 0;
    MPI_Request waiting;
    MPI_Irecv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
              &waiting);
    const Call c(comm);
    const auto y = c();
    ring_attention_vjp(c.ring, c.Q, c.K, c.V, y, c.V);
    head_parallel(c.ring, c.Q, c.K, c.V);
    tree_decode<double>(comm, c.Q.row(0), c.K, c.V);
    MPI_Send(&mine, 1, MPI_DOUBLE, (rank + 1) % 3, rank % 2, comm);
    MPI_Wait(&waiting, MPI_STATUS_IGNORE);
    Worst worst;
    worst.add(std::abs(got - (10.0 + (rank + 2) % 3)), 0);
    return worst;
  });
}

// count the numbers that a rank holds
struct Extents { Index H, G, d, e; };
Index ring_row(const Extents& x, bool back) {
  const Index w = x.G * (x.d + x.e);
  return back ? 5 * w + x.H * (2 * x.d + x.e + 4) : 2 * w + x.H * (x.e + 2);
}
Index grid_row(const Extents& x, Index a, bool back) {
  const Index w = x.d + x.e, h = std::max<Index>(1, x.G / a);
  if (back)
    return 4 * x.H * (w + 1) + 4 * a * h * w + 2 * x.H + 5 * a * w +
           x.H / h * (4 * w + 9) + x.H * x.d + x.G * w;
  return 2 * x.H * (w + 1) + 2 * a * h * w + 3 * a * w + x.H / h * (w + 4) +
         x.H * (x.e + 2);
}

// measure what a rank holds
struct Held { long forward, backward, grid, grid_back; };
Held hold(MPI_Comm comm, int p, Index m, const Extents& x) {
  const Ring ring{comm, contiguous(p * m, p), contiguous(p * m, p), nullptr};
  const auto Q = gaussian<double>(m, x.H * x.d, 1);
  const auto K = gaussian<double>(m, x.G * x.d, 2);
  const auto V = gaussian<double>(m, x.G * x.e, 3);
  const auto dO = gaussian<double>(m, x.H * x.e, 4);
  FlashHeads<double> many{x.H, x.G, causal_rule<double>()};
  many.rule.left = 8;  // what is visited does not change what is held

  // measure what four calls hold
  Held held{};
  HeadsOutput<double> y;
  const int columns = p > 1 ? 2 : 1;
  start_counting();
  y = ring_attention<double>(ring, Q, K, V, many);
  held.forward = peak_since();
  start_counting();
  HeadsGradient<double> g = ring_attention_vjp(ring, Q, K, V, y, dO, many);
  held.backward = peak_since();
  start_counting();
  y = grid_attention<double>(ring, columns, Q, K, V, many);
  held.grid = peak_since();
  start_counting();
  g = grid_attention_vjp(ring, columns, Q, K, V, y, dO, many);
  held.grid_back = peak_since();
  return held;
}

// check the memory of a rank
void check_memory(Index H, Index G, Index d, Index e, bool tell) {
  const Extents x{H, G, d, e};
  const Index m = 8192 / H;
  for (const int p : {1, 2, 4})
    on_ranks(p, [&](MPI_Comm comm, int) {
      hold(comm, p, m, x);  // MPI connects its ranks the first time
      const Held few = hold(comm, p, m, x), many = hold(comm, p, 4 * m, x);
      Worst worst;

      // compare what a rank holds with the proposition
      const auto within = [&](long held, Index numbers) {
        worst.add(double(held), double(8 * 3 * m * numbers + 100'000));
      };
      const Index a = p > 1 ? 2 : 1, h = std::max<Index>(1, x.G / a);
      within(many.forward - few.forward, ring_row(x, false));
      within(many.backward - few.backward, ring_row(x, true) + 2 * x.H);
      within(many.grid - few.grid, grid_row(x, a, false));
      within(many.grid_back - few.grid_back,
             grid_row(x, a, true) + 2 * x.H / h);
      worst.add(double(few.forward <= 0 || few.backward <= 0), 0);
      if (tell && p == 4) {
        fact("forward", double(many.forward) / double(4 * m), 3);
        fact("backward", double(many.backward) / double(4 * m), 3);
      }
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(extra_memory_of_a_rank) {
  check_memory(2, 1, 64, 32, true);
  check_memory(8, 4, 32, 16, false);
  BOOST_TEST(ring_row({32, 8, 128, 128}, false) == 8256);
  BOOST_TEST(ring_row({32, 8, 128, 128}, true) == 22656);
  BOOST_TEST(grid_row({32, 8, 128, 128}, 8, false) == 39168);
  BOOST_TEST(grid_row({32, 8, 128, 128}, 8, true) == 90592);
}
BOOST_AUTO_TEST_SUITE_END()
