// examples/learned_metric.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
// Attention with a learned metric: a teacher attends with a metric that
// we do not see; from its inputs and outputs we descend to it.
#include "attn/attention.hpp"
#include "attn/learned.hpp"
#include <iostream>

int main() {
  using namespace attn;
  const Planted teacher = planted_task(60, 3, 1);  // positions, features
  const auto path = learn_metric(teacher, Cone::natural, 1e-24, 100);
  std::cout << "step  loss         distance to the hidden metric\n";
  for (std::size_t k = 0; k < path.loss.size(); ++k)
    std::cout << k << "     " << path.loss[k] << "  "
              << path.distance[k] << '\n';

  // attend with the metric that was learned
  const auto g = Metric<double>::full(path.g);
  const auto O = attention(teacher.Q, teacher.K, teacher.V, g).O;
  const double off =
      (O - teacher.O).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  std::cout << "the metric that was learned:\n" << g.dense()
            << "\nthe teacher's:\n" << teacher.g
            << "\nlargest difference of their outputs: " << off << '\n';
  return off < 1e-9 ? 0 : 1;
}
