// bench/ring_mpi_bench.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/ring.hpp"
#include "attn/ring_cost.hpp"
#include "mpirun.hpp"
#include <benchmark/benchmark.h>
#include <map>
using namespace attn;

namespace {
// do what the benchmarks order
double waited = 0;  // by this rank, in the last ring

void bounce(int rank, long bytes) {
  static std::vector<char> data;
  data.resize(std::size_t(bytes));
  const int other = 1 - rank;
  for (int k = 0; k < 200; ++k)
    if (rank == k % 2)
      MPI_Send(data.data(), int(bytes), MPI_CHAR, other, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data.data(), int(bytes), MPI_CHAR, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void attend_alone(long n, Index keys, Index pieces) {
  static Matrix<float> Q;
  if (Q.rows() != n) Q = gaussian<float>(n, 64, 1);
  const Matrix<float> K = Q.topRows(keys);
  Shards k{{{}}};
  for (Index i = 0; i < pieces; ++i)
    k.of[0].push_back({i * keys / pieces, keys / pieces});
  const auto y = ring_attention<float>({MPI_COMM_SELF, contiguous(n, 1), k},
                                       Q, K, K);
  benchmark::DoNotOptimize(y.O.data());
}

void attend(MPI_Comm comm, int rank, int what, int p, long n) {
  const Shards x = what == 4 ? zigzag(n, p) : contiguous(n, p);
  static Matrix<float> Q;
  if (Q.rows() != x.rows(rank)) Q = gaussian<float>(x.rows(rank), 64, 1);
  Traffic traffic;
  const auto y = ring_attention<float>(
      {comm, x, x, &traffic}, Q, Q, Q,
      {1, 1, what == 2 ? FlashRule<float>{} : causal_rule<float>()});
  benchmark::DoNotOptimize(y.O.data());
  waited = traffic.waited;
}

// serve the benchmarks
struct Command { int what = 0, ranks = 0; long size = 0; };

MPI_Comm group(int p) {
  static std::map<int, MPI_Comm> groups;
  const auto [at, fresh] = groups.try_emplace(p, MPI_COMM_NULL);
  if (fresh) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < p, rank, &at->second);
  }
  return at->second;
}
/// Seconds between two barriers of the ranks that take part.
double act(const Command& c) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const MPI_Comm comm = group(c.ranks);
  if (rank >= c.ranks) return 0;
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  if (c.what == 1) bounce(rank, c.size);
  else if (c.what == 5) attend_alone(c.size, c.size, 1);
  else if (c.what == 6) attend_alone(c.size, 16, 1);
  else if (c.what == 7) attend_alone(c.size, 16, 16);
  else attend(comm, rank, c.what, c.ranks, c.size);
  MPI_Barrier(comm);
  return MPI_Wtime() - start;
}
double order(Command c) {
  for (int r = 1; r < 4; ++r)
    MPI_Send(&c, int(sizeof c), MPI_BYTE, r, 7, MPI_COMM_WORLD);
  return c.what == 0 ? 0 : act(c);
}

void serve() {
  for (;;) {
    MPI_Request request;
    Command c;
    MPI_Irecv(&c, int(sizeof c), MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
    for (int done = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
      usleep(200);
    if (c.what == 0) return;
    act(c);
  }
}

// keep a crew of ranks
struct Crew {
  Crew() {
    become_ranks(4, 3600);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) return;
    serve();
    MPI_Finalize();
    std::_Exit(0);
  }
  ~Crew() {
    order({0, 0, 0});
    MPI_Finalize();
  }
};
const Crew crew;

// measure the constants of the model
double fastest(const Command& c, int times) {
  double best = 1e9, waited_then = 0;
  for (int i = 0; i < times; ++i) {
    const double seconds = order(c);
    if (seconds < best) best = seconds, waited_then = waited;
  }
  waited = waited_then;
  return best;
}
/// Numbers x >= 0 for which A x is nearest to times, in relation to these.
Eigen::Vector3d not_negative(Eigen::Matrix3d A, const Eigen::Vector3d& times) {
  A.array().colwise() /= times.array();
  Eigen::Vector3d x = Eigen::Vector3d::Zero();
  for (int k = 0; k < 300'000; ++k) {
    const auto a = A.col(k % 3);
    const Eigen::Vector3d left = Eigen::Vector3d::Ones() - A * x;
    x[k % 3] = std::max(0.0, x[k % 3] + a.dot(left) / a.squaredNorm());
  }
  return x;
}
/// Seconds of a pair, of a row that meets a span, and of a row in a call,
/// with so many ranks at work, each by itself.
struct Work {
  double pair, row, call;
  explicit Work(int p) {
    const double n = 2048;
    const Eigen::Vector3d times{fastest({5, p, 2048}, 5),
                                fastest({6, p, 2048}, 10),
                                fastest({7, p, 2048}, 10)};
    Eigen::Matrix3d counts;  // of pairs, of rows in spans, of rows
    counts << n * n, n, n, 16 * n, n, n, 16 * n, 16 * n, n;
    const Eigen::Vector3d x = not_negative(counts, times);
    pair = x[0], row = x[1], call = x[2];
  }
};
Network network() {
  const double large = 1 << 20, round = fastest({1, 2, 8}, 20) / 200;
  const double whole = fastest({1, 2, 1 << 20}, 5) / 200;
  return {round, large / std::max(whole - round, 1e-9)};
}
/// Rows of rank r that meet keys of rank s, once for each span of these.
double meetings(const FlashRule<float>& rule, const Shards& x, int r, int s) {
  const Index n = x.total();
  Index rows = 0;
  Matrix<bool> keep;
  for (const auto& q : detail::spans_of(x, r, detail::sweep_of(rule, n)))
    for (const auto& k : detail::spans_of(x, s, 16 * rule.key_block))
      if (detail::may_meet(rule_between(rule, q.piece, k.piece, n, n, keep)))
        rows += q.piece.n;
  return double(rows);
}
double predicted(int what, int p, Index n, const Network& net,
                 const Work& k) {
  const Shards x = what == 4 ? zigzag(n, p) : contiguous(n, p);
  const auto rule = what == 2 ? FlashRule<float>{} : causal_rule<float>();
  const double m = double(n) / p, group = 0.5 * detail::lanes<float>;
  const auto work = [&](int r, int t) {
    const int s = (r - t + p) % p;
    const double pairs = double(count_pairs(rule, x, x, r, s));
    const double more = what != 2 && t == 0 ? m * group : 0;
    return (pairs + more) * k.pair + meetings(rule, x, r, s) * k.row;
  };
  return ring_time(p, work, net.seconds(m * 128 * 4)).total + m * k.call;
}

// time the ring
void latency(benchmark::State& state) {
  for (auto _ : state) order({1, 2, 8});  // a hundred round trips
  state.counters["us"] = 1e6 * network().alpha;
}
void bandwidth(benchmark::State& state) {
  for (auto _ : state) order({1, 2, 1 << 20});
  state.counters["gbytes"] = 1e-9 * network().bandwidth;
}
void work(benchmark::State& state) {
  const int p = int(state.range(0));
  for (auto _ : state) order({6, p, 2048});
  const Work k(p);
  state.counters["pair_ns"] = 1e9 * k.pair;
  state.counters["row_ns"] = 1e9 * k.row;
  state.counters["call_ns"] = 1e9 * k.call;
}
void beyond(benchmark::State& state) {
  for (auto _ : state) order({1, 2, 8});
  const Work k(1);
  const Machine f{4 * 64 / k.pair, {5e-6, 5e10}, {5e-6, 5e10}, 1, 2 * k.row};
  for (const auto& [name, n] : {std::pair{"short", 1e6}, {"long", 1e7}})
    state.counters[name] = 100 * grid_speed({n, 32, 8, 128, 4}, f,
                                            Placement::zigzag, 4096, 1, false);
}
void ring(benchmark::State& state, int what) {
  const int p = int(state.range(0));
  double best = 1e9;
  for (auto _ : state) best = std::min(best, fastest({what, p, 4096}, 5));
  state.counters["ms"] = 1e3 * best;
  state.counters["waited"] = 1e6 * waited;
  const Network net = network();
  const Work k(p);
  state.counters["predicted"] = 1e3 * predicted(what, p, 4096, net, k);
  Work kernel(1);  // nothing but pairs, and alone
  kernel.row = kernel.call = 0;
  state.counters["kernel_only"] = 1e3 * predicted(what, p, 4096, net, kernel);
}
BENCHMARK(latency)->Name("ring/latency");
BENCHMARK(bandwidth)->Name("ring/bandwidth");
BENCHMARK(work)->Name("ring/constants")->DenseRange(1, 2);
BENCHMARK(beyond)->Name("ring/beyond");
BENCHMARK_CAPTURE(ring, full, 2)->Name("ring/full")->DenseRange(1, 2);
BENCHMARK_CAPTURE(ring, contiguous, 3)->Name("ring/contiguous")
    ->DenseRange(1, 2);
BENCHMARK_CAPTURE(ring, zigzag, 4)->Name("ring/zigzag")->DenseRange(1, 2);
}  // namespace
