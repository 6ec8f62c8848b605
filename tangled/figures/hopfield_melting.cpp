// figures/hopfield_melting.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/glyphs.hpp"
#include "attn/hopfield.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Matrix<double> K = glyphs("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const Matrix<double> cue = damaged(glyph('R'), 0.2, 432, 4);
  std::cout << "x,y,c\n";
  double left = 0;
  for (const double beta :
       {0.0, 0.004, 0.015, 0.02, 0.025, 0.03, 0.035, 0.05}) {
    const Matrix<double> x =
        beta == 0 ? cue : hopfield_retrieve(cue, K, beta, 5000).X;
    for (Index i = 0; i < 24; ++i)
      for (Index j = 0; j < 18; ++j)
        std::cout << left + double(j) << ',' << -double(i) << ','
                  << x(0, i * 18 + j) << '\n';
    left += 20;
  }
}
