// figures/hopfield_letters.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/glyphs.hpp"
#include "attn/hopfield.hpp"
#include <iostream>
using namespace attn;

// print the runs of ink
/// Runs of ink of a picture 18 pixels wide as lines x, y; nan between.
void print_runs(const Matrix<double>& picture, double left, double top) {
  for (Index i = 0; i < picture.size() / 18; ++i)
    for (Index j = 0; j < 18; ++j) {
      const Index from = j;
      while (j < 18 && picture(0, i * 18 + j) > 0) ++j;
      if (j > from)
        std::cout << left + double(from) << ',' << top - double(i) << '\n'
                  << left + double(j) << ',' << top - double(i)
                  << "\nnan,nan\n";
    }
}

int main() {
  const Matrix<double> K = glyphs("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const Matrix<double> W = hebb_sums(K), word = glyphs("ATTENTION");
  std::cout << "x,y\n";
  for (Index i = 0; i < 9; ++i) {
    const Matrix<double> cue =
        damaged(word.row(i), 0.3, 432, 11 + std::uint64_t(i));
    const Vector<double> start = cue.row(0).transpose();
    print_runs(cue, double(i) * 20, 0);
    print_runs(settle(W, start).x.transpose(), double(i) * 20, -27);
    print_runs(hopfield_update(cue, K, 1.0), double(i) * 20, -54);
    print_runs(word.row(i), double(i) * 20, -81);
  }
}
