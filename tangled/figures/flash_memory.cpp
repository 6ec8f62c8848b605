// figures/flash_memory.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O2 -march=native -Wno-uninitialized
#include "attn/flash.hpp"
#include "attn/random.hpp"
#include <iostream>

#include "allocations.hpp"
using namespace attn;

// count what stored weights take
long stored(Index n) {
  counting = true;
  const auto Q = gaussian<float>(n, 64, 1), K = gaussian<float>(n, 64, 2);
  const auto V = gaussian<float>(n, 64, 3), dO = gaussian<float>(n, 64, 4);
  Matrix<float> O(n, 64), dQ(n, 64), dK(n, 64), dV(n, 64);
  const long before = live;
  most = live;
  Matrix<float> A = Q * K.transpose() / 8;
  for (Index i = 0; i < n; ++i) {
    A.row(i) = (A.row(i).array() - A.row(i).maxCoeff()).exp();
    A.row(i) /= A.row(i).sum();
  }
  O.noalias() = A * V;
  Matrix<float> S = dO * V.transpose();
  S.array() *= A.array();
  for (Index i = 0; i < n; ++i) S.row(i) -= A.row(i) * S.row(i).sum();
  dV.noalias() = A.transpose() * dO;
  dQ.noalias() = S * K / 8;
  dK.noalias() = S.transpose() * Q / 8;
  return most - before;
}

int main() {
  std::cout << "n,flash,naive,data\n";
  auto rule = causal_rule<float>();
  rule.left = 8;  // a mask changes what is visited, not what is held
  for (Index n = 256; n <= 65536; n *= 2) {
    const Held x = held(n, 64, rule);
    const double mega = 1 << 20;
    std::cout << n << ',' << double(x.both) / mega << ','
              << (n <= 2048 ? double(stored(n)) / mega : NAN) << ','
              << double(x.data) / mega << '\n';
  }
}
