// examples/ring_mpi_example.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
// Causal attention of a sequence spread over ranks, compared with one rank's.
#include "attn/random.hpp"
#include "attn/ring.hpp"
#include <iostream>
using namespace attn;

int main(int argc, char** argv) {
  int p, rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Index n = 1000, d = 64;

  // attend to shards and compare with the whole
  const Shards shards = zigzag(n, p);  // the positions of each rank
  const auto mine = [&](const auto& m) { return part_of(m, shards, rank); };
  const auto Q = gaussian<double>(n, d, 1), K = gaussian<double>(n, d, 2);
  const auto V = gaussian<double>(n, d, 3);

  const Ring ring{MPI_COMM_WORLD, shards, shards};
  const auto rule = causal_rule<double>();
  const auto y = ring_attention(ring, mine(Q), mine(K), mine(V), {1, 1, rule});

  const auto whole = flash(Q, K, V, rule);  // on one rank
  const auto off = (y.O - mine(whole.O)).cwiseAbs().eval();
  double here = off.maxCoeff<Eigen::PropagateNaN>(), most = 0;
  MPI_Reduce(&here, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::cout << "the last of " << n << " outputs, on " << p
              << " ranks, begins\n  " << y.O.bottomRows(1).leftCols(4)
              << "\nno number is further than " << most
              << " from what one rank computes\n";
  MPI_Finalize();
}
