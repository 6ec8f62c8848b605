// live.cpp: calls a function of the live figures in a native program.
//   call LIBRARY FUNCTION HOW_MANY_ARGUMENTS < arguments > results
// Both are doubles as they are in memory; before the results of a call stands their number.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int, char** argument) {
  using Function = int (*)(const double*, double*);
  void* library = dlopen(argument[1], RTLD_NOW);
  void* found = library ? dlsym(library, argument[2]) : nullptr;
  if (!found) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const auto f = reinterpret_cast<Function>(found);
  std::vector<double> x(std::strtoul(argument[3], nullptr, 10)), y(1 << 14);
  while (std::fread(x.data(), sizeof(double), x.size(), stdin) == x.size()) {
    const int n = f(x.data(), y.data());
    const double count = n;
    std::fwrite(&count, sizeof(double), 1, stdout);
    std::fwrite(y.data(), sizeof(double), std::size_t(n), stdout);
  }
}
