// figures/gibbs_weights.cpp: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one.
#include "printed.hpp"
#include <iostream>
using namespace attn;

int main() {
  std::cout << "T,a1,a2,a3,D,d1,d2,d3\n";
  const RowVector<quad> s = lift<quad>(RowVector<double>{{2, 1, 0}});
  for (int k = 0; k <= 150; ++k) {
    const double T = std::pow(10.0, -1 + 2.5 * k / 150);
    const Matrix<double> A = attn::gibbs(RowVector<double>{{2, 1, 0}}, T);
    std::cout << T << ',' << A(0) << ',' << A(1) << ',' << A(2);

    // print the dots of one total
    const int total = 42 + 2 * k, N = 40;
    const bool any = total < 2 * N;
    const quad mean = any ? quad(total / double(N)) : quad(1.5);
    const auto given = gibbs::throws_of_die(
        s, N, [&](double t) { return t == total; });
    const quad beta = inverse_temperature(s, quad(-mean));
    std::cout << ',' << (any ? to_double(1 / beta) : NAN);
    for (Index j = 0; j < 3; ++j)
      std::cout << ',' << (any ? to_double(given.fractions(j)) : NAN);
    std::cout << '\n';
  }
}
