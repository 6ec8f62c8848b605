// tests/ring_ranks.hpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#pragma once
#include "mpirun.hpp"
#include "ring_case.hpp"

namespace attn {
// collect the worst error of all ranks
struct World {
  World() { become_ranks(8, 600); }
  ~World() { MPI_Finalize(); }
};

/// The error of a rank that is worst in relation to its bound.
struct Worst {
  double error = 0, bound = 1, ratio = -1;
  void add(double e, double b) {
    const double q = quotient(e, b);
    if (q > ratio) error = e, bound = b, ratio = q;
  }
  void add(const Worst& w) { if (w.ratio >= 0) add(w.error, w.bound); }
  template <class A, class B, class C>
  void add(const Eigen::MatrixBase<A>& computed,
           const Eigen::MatrixBase<B>& truth,
           const Eigen::MatrixBase<C>& allowed) {
    if (computed.rows() != truth.rows() || computed.cols() != truth.cols())
      return add(HUGE_VAL, 0);
    add(0, 0);  // the right shape, perhaps of nothing
    for (Index i = 0; i < computed.rows(); ++i)
      for (Index j = 0; j < computed.cols(); ++j)
        add(distance(computed(i, j), truth(i, j)), allowed(i, j));
  }
};
/// Calls f(comm, rank) on the first p ranks; verifies the worst it finds,
/// on all ranks alike.
template <class F>
void on_ranks(int p, F f, std::source_location at =
                              std::source_location::current()) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  BOOST_REQUIRE(p <= size);
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank < p, rank, &comm);
  Worst worst;
  if (rank < p) worst = f(comm, rank);
  MPI_Comm_free(&comm);
  struct { double ratio; int rank; } mine{worst.ratio, rank}, most;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  double pair[2] = {worst.error, worst.bound};
  MPI_Bcast(pair, 2, MPI_DOUBLE, most.rank, MPI_COMM_WORLD);
  BOOST_REQUIRE(most.ratio >= 0);  // somebody has looked at something
  verify(pair[0], pair[1], at);
}
}  // namespace attn
