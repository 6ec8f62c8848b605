// tests/ring_faults_mpi_test.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
// flags: -fopenmp
#include "prelude.hpp"
#include "verify.hpp"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <thread>
#include "attn/ring.hpp"
#include "mpirun.hpp"
#include "ring_case.hpp"
using namespace attn;

// stand before MPI and report errors
namespace {
std::string failing;  // the name of a function
int reported(const char* name, int code) {
  return failing == name ? int(MPI_ERR_OTHER) : code;
}
}
extern "C" int MPI_Type_contiguous(int n, MPI_Datatype old,
                                   MPI_Datatype* type) {
  return reported("contiguous", PMPI_Type_contiguous(n, old, type));
}
extern "C" int MPI_Type_commit(MPI_Datatype* type) {
  return reported("commit", PMPI_Type_commit(type));
}
extern "C" int MPI_Op_create(MPI_User_function* f, int commutes, MPI_Op* op) {
  return reported("operation", PMPI_Op_create(f, commutes, op));
}
extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  return reported("duplicate", PMPI_Comm_dup(comm, copy));
}
extern "C" int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* any,
                          MPI_Status* status) {
  if (omp_get_thread_num() != 0) std::abort();
  return PMPI_Iprobe(from, tag, comm, any, status);
}
extern "C" int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return reported("rank", PMPI_Comm_rank(comm, rank));
}
extern "C" int MPI_Comm_size(MPI_Comm comm, int* size) {
  return reported("size", PMPI_Comm_size(comm, size));
}
extern "C" int MPI_Query_thread(int* level) {
  return reported("threads", PMPI_Query_thread(level));
}
extern "C" int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                      MPI_Comm_delete_attr_function* gone,
                                      int* key, void* state) {
  return reported("key", PMPI_Comm_create_keyval(copy, gone, key, state));
}
extern "C" int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value,
                                 int* found) {
  return reported("look", PMPI_Comm_get_attr(comm, key, value, found));
}
extern "C" int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  return reported("attribute", PMPI_Comm_set_attr(comm, key, value));
}
extern "C" int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler h) {
  return reported("handler", PMPI_Comm_set_errhandler(comm, h));
}

namespace {
using attn::flash;

// do what the job asks for
void compute_digest(int rank) {
  const Index n = 900;
  const auto c = ring_case<double>(n, n, 32, 32, 3);
  const Ring ring{MPI_COMM_WORLD, zigzag(n, 3), zigzag(n, 3), nullptr, 100};
  const auto mine = [&](const auto& m) { return part_of(m, ring.keys, rank); };
  FlashHeads<double> rule{2, 1, causal_rule<double>()};
  rule.rule.key_block = 8;  // spans of 128 and 32 keys
  rule.rule.sink = 0.25;
  const Matrix<double> K = mine(c.K), V = mine(c.V);
  const Matrix<double> Q = mine(c.Q).replicate(1, 2);
  const Matrix<double> dO = mine(c.dO).replicate(1, 2);
  const auto y = ring_attention(ring, Q, K, V, rule);
  const auto g = ring_attention_vjp<double>(ring, Q, K, V, y, dO, rule);
  const FlashHeads<double> eight{8, 4, rule.rule};
  const auto z = grid_attention(ring, 3, Q, K, V, eight);
  const auto f = grid_attention_vjp(ring, 3, Q, K, V, z, dO, eight);

  // fingerprint what all ranks have found
  std::string bytes;
  const auto add = [&](const double* x, std::size_t many) {
    bytes.append(reinterpret_cast<const char*>(x), many * sizeof(double));
  };
  for (const auto* m : {&y.O, &y.logZ, &g.Q, &g.K, &g.V, &z.O, &z.logZ, &f.Q,
                        &f.K, &f.V})
    add(m->data(), std::size_t(m->size()));
  add(g.sinks.data(), g.sinks.size()), add(f.sinks.data(), f.sinks.size());
  std::uint64_t hash = detail::hashed(bytes) * std::uint64_t(2 * rank + 1), all;
  MPI_Allreduce(&hash, &all, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);

  // decode, and see whether all ranks are right
  const auto states = tree_decode<double>(MPI_COMM_WORLD, c.Q.row(0), K, V, 4,
                                          4);
  int good = 1;
  for (Index h = 0; h < 4; ++h)

    // hold a decoded head to its bound
    {
      RingCase<double> one = c;
      one.Q = c.Q.block(0, 8 * h, 1, 8), one.K = c.K.middleCols(8 * h, 8);
      one.V = c.V.middleCols(8 * h, 8);
      const Truth truth = forward_truth(one);
      const Bounds<double> bound(one, truth, cuts_of_decoding(one, 3));
      for (Index e = 0; e < 8; ++e)
        good &= distance(states[std::size_t(h)].output()(e), truth.O(0, e)) <=
                bound.O(0, e);
    }

  // compare decoded heads with the first rank's
  for (const auto& x : states) {
    RowVector<double> here(x.o.size() + 2), first(here.size());
    here << x.m, x.l, x.o;
    first = here;
    MPI_Bcast(first.data(), int(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    good &= first == here;
  }
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank != 0) return;
  if (good == 1) std::cout << "digest " << all << std::endl;
  std::cout << "threads " << omp_get_max_threads() << std::endl;
}
[[noreturn]] void run_job(const std::string& scenario) {
  int rank, level;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);  // all are there, and know each other
  if (scenario == "killed" && rank == 1) std::raise(SIGKILL);
  if (scenario == "throws" && rank == 1)
    throw std::runtime_error("no such rank");
  if (scenario == "hangs")

    // let one rank hang
    {
      if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(100));
      const Matrix<double> x = Matrix<double>::Ones(4, 2);
      ring_attention<double>({MPI_COMM_WORLD, contiguous(12, 3),
                              contiguous(12, 3), nullptr, 0.5}, x, x, x);
    }
  if (scenario.starts_with("fails:")) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) failing = scenario.substr(6);
  }
  if (scenario == "sends") {
    // send without a receiver
    if (rank < 2) {
      std::vector<double> block(900 / 3 * 64);
      const auto [data, n] = std::pair(block.data(), int(block.size()));
      if (rank == 0) {
        MPI_Request request;
        int done = 0;
        MPI_Isend(data, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
        for (const double start = MPI_Wtime(); !done && MPI_Wtime() - start < 1;)
          MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        std::cout << (done ? "buffered" : "waits") << std::endl;
        MPI_Send(nullptr, 0, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(nullptr, 0, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  } else
    compute_digest(rank);
  MPI_Finalize();
  std::_Exit(0);
}

// do the job before main
struct Start {
  Start() {
    if (const char* scenario = std::getenv("ATTN_RING_JOB"))
      run_job(scenario);
  }
};
const Start begin;

// start a job and read what it says
struct Job {
  int status = 0;
  double seconds = 0;
  std::string output;
};
Job launch(const std::string& scenario, const std::string& settings) {
  const std::string command = "ATTN_RING_JOB=" + scenario + " mpirun " +
                              settings + " -n 3 " + own_path() + " 2>&1";
  prepare_mpirun();
  Job job;
  const auto start = std::chrono::steady_clock::now();
  std::FILE* pipe = popen(command.c_str(), "r");
  char line[256];
  while (pipe && std::fgets(line, sizeof line, pipe)) job.output += line;
  job.status = pipe ? pclose(pipe) : -1;
  job.seconds = std::chrono::duration<double>(
                    std::chrono::steady_clock::now() - start).count();
  return job;
}
std::string digest_of(const Job& job) {
  const std::size_t at = job.output.find("digest ");
  if (job.status != 0 || at == std::string::npos) return "";
  return job.output.substr(at, job.output.find('\n', at) - at);
}
}  // namespace

BOOST_AUTO_TEST_SUITE(ring)

// check that a dead rank ends the job
BOOST_AUTO_TEST_CASE(a_killed_rank_ends_the_job) {
  const Job job = launch("killed", "");
  fact("seconds", job.seconds, 2);
  verify(job.seconds, 50);
  verify(double(job.status == 0), 0);
  verify(double(job.output.find("rank 1") == std::string::npos ||
                job.output.find("signal 9") == std::string::npos), 0);
}
BOOST_AUTO_TEST_CASE(a_hanging_rank_ends_the_job) {
  const Job job = launch("hangs", "");
  fact("seconds", job.seconds, 2);
  verify(job.seconds, 50);
  verify(double(job.status == 0), 0);
  verify(double(job.output.find("ring_attention: rank") == std::string::npos ||
                job.output.find("is not through after 0.5 seconds") ==
                    std::string::npos), 0);
}
BOOST_AUTO_TEST_CASE(an_uncaught_exception_ends_the_job) {
  const Job job = launch("throws", "");
  fact("seconds", job.seconds, 2);
  verify(job.seconds, 50);
  verify(double(job.status == 0), 0);
  verify(double(job.output.find("no such rank") == std::string::npos), 0);
}
BOOST_AUTO_TEST_CASE(errors_returned_by_MPI_end_the_job) {
  for (const std::string name :
       {"contiguous", "commit", "operation", "duplicate", "key", "look",
        "attribute", "handler", "rank", "size", "threads"}) {
    const Job job = launch("fails:" + name, "");
    verify(double(job.status == 0 ||
                  job.output.find("signal 6") == std::string::npos), 0);
  }
  verify(double(digest_of(launch("fails:nothing", "")).empty()), 0);
}

// check the ring under several transports
BOOST_AUTO_TEST_CASE(same_bits_whatever_the_transport) {
  const std::string ob1 = "--mca pml ob1 ";
  const std::string digest = digest_of(launch("digest", ob1));
  verify(double(!digest_of(launch("digest", ob1 + "--mca btl self")).empty()),
         0);
  for (const std::string setting :
       {"--mca btl_vader_single_copy_mechanism none",
        "--mca btl_vader_eager_limit 128 --mca mpi_yield_when_idle 0",
        "--mca btl tcp,self",
        "--mca btl tcp,self --mca btl_tcp_eager_limit 1000000",
        "-x OMP_NUM_THREADS=3 -x OMP_WAIT_POLICY=passive"}) {
    const Job job = launch("digest", ob1 + setting);
    verify(double(digest_of(job) != digest), 0);
    const bool three = job.output.find("threads 3") != std::string::npos;
    BOOST_TEST(three == setting.starts_with("-x"));
  }
  BOOST_TEST(digest.size() > 10);
}
BOOST_AUTO_TEST_CASE(which_blocks_are_buffered) {
  const std::string ob1 = "--mca pml ob1 --mca btl tcp,self ";
  const auto says = [&](const std::string& setting, const char* word) {
    const Job job = launch("sends", ob1 + setting);
    return job.status == 0 && job.output.find(word) != std::string::npos;
  };
  BOOST_TEST(says("", "waits"));
  BOOST_TEST(says("--mca btl_tcp_eager_limit 1000000", "buffered"));
}
BOOST_AUTO_TEST_CASE(decoding_with_any_algorithm_of_reduction) {
  std::set<std::string> digests;
  for (const char* algorithm : {"1", "3", "4"}) {
    digests.insert(digest_of(launch("digest",
        std::string("--mca coll_tuned_use_dynamic_rules 1 "
                    "--mca coll_tuned_allreduce_algorithm ") + algorithm)));
    verify(double(digests.contains("")), 0);
  }
  BOOST_TEST(digests.size() > 1);  // the setting is read
}
BOOST_AUTO_TEST_SUITE_END()
