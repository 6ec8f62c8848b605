// tests/mpirun.hpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
#pragma once
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace attn {
inline std::string own_path() {
  char path[4096];
  const auto n = readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, n > 0 ? std::size_t(n) : 0);
}

// become ranks under mpirun
/// Lets mpirun run for root, with more ranks than cores, for so long.
inline void prepare_mpirun(int seconds = 120) {
  for (const char* yes : {"OMPI_ALLOW_RUN_AS_ROOT",
                          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                          "OMPI_MCA_rmaps_base_oversubscribe",
                          "OMP_NUM_THREADS"})
    setenv(yes, "1", 1);
  setenv("MPIEXEC_TIMEOUT", std::to_string(seconds).c_str(), 1);
}
/// Returns in each of n ranks, MPI initialised; replaces the process by
/// mpirun unless that has been done.
inline void become_ranks(int n, int seconds = 120) {
  if (!std::getenv("OMPI_COMM_WORLD_RANK")) {
    prepare_mpirun(seconds);
    std::vector<std::string> words{"mpirun", "-n", std::to_string(n),
                                   own_path()};
    std::ifstream line("/proc/self/cmdline");
    std::string word;
    std::getline(line, word, '\0');
    while (std::getline(line, word, '\0')) words.push_back(word);
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    execvp("mpirun", argv.data());
    std::cerr << "mpirun is missing\n";
    std::_Exit(1);
  }
  int rank, level;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) unsetenv("ATTN_LEDGER");
}
}  // namespace attn
