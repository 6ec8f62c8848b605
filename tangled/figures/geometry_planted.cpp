// figures/geometry_planted.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/learned.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Planted task = planted_task(32, 4, 7);
  std::cout << "how,step,distance\n";
  int name = 0;
  for (const Cone how :
       {Cone::plain, Cone::affine, Cone::cholesky, Cone::natural}) {
    const auto d = learn_metric(task, how, 1e-26, 200).distance;
    for (std::size_t k = 0; k < d.size(); ++k)
      std::cout << name << ',' << k + 1 << ',' << std::max(d[k], 1e-15) << '\n';
    ++name;
  }
}
