// figures/gibbs_entropy_error.cpp: tangled from chapters/02-gibbs.nw; edit that file, not this one.
#include "attn/gibbs.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include <iostream>
using namespace attn;

// compute one entropy in three ways
struct Entropies {
  double truth, ours, plain, eps;
};
inline Entropies entropies(double T) {
  const RowVector<double> s{{2, 1, 0, -1, 0.5}};
  const RowVector<double> A = attn::gibbs(s, T);
  const auto a = A.array();
  return {to_double(gibbs_entropy(lift<quad>(s), quad(T))(0)),
          gibbs_entropy(s, T)(0), entropy(A)(0),
          -(a * (a + 1e-12).log()).sum()};
}

int main() {
  std::cout << "T,ours,plain,eps\n";
  for (int k = 0; k <= 120; ++k) {
    const double T = std::pow(10.0, 1 - 3.0 * k / 120);
    const Entropies h = entropies(T);
    std::cout << T;
    for (const double x : {h.ours, h.plain, h.eps})
      std::cout << ',' << std::max(1e-17, std::abs(x / h.truth - 1));
    std::cout << '\n';
  }
}
