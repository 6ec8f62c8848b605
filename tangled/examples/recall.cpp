// examples/recall.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
// Store and recall patterns: a modern Hopfield network keeps five
// letters and is shown one of them, half of it lost, half damaged.
#include "attn/glyphs.hpp"
#include "attn/hopfield.hpp"
#include <iostream>

using namespace attn;

// show a letter on the screen
void show(const RowVector<double>& x) {
  for (Index row = 0; row < 16; ++row, std::cout << '\n')
    for (Index column = 0; column < 12; ++column)
      std::cout << (x(12 * row + column) > 0 ? "##" : " .");
}

int main() {
  const Matrix<double> letters = glyphs("AEKRX", 2);  // 16 x 12 pixels
  const RowVector<double> R = letters.row(3);
  const auto cue = damaged(R, 0.1, R.size() / 2, 1);
  const auto found = hopfield_retrieve(cue, letters, 0.3);
  std::cout << "shown:\n";
  show(cue);
  std::cout << "recalled after " << found.steps << " steps:\n";
  show(found.X.row(0));
  const double off =
      (found.X - R).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  std::cout << "largest difference to what was stored: " << off << '\n';
  return off < 1e-6 ? 0 : 1;
}
