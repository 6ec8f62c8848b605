// figures/bilinear_jacobian.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "attn/attention.hpp"
#include "attn/random.hpp"

int main() {
  using namespace attn;
  std::cout << "d,raw1,raw,raw3,scaled1,scaled,scaled3\n";
  for (const Index d : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    std::cout << d;
    for (const bool scaled : {false, true}) {
      std::vector<double> size;

      // collect Jacobian norms of fresh layers
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto g = scaled ? Metric<double>::scaled(d)
                              : Metric<double>::identity(d);
        const Matrix<double> Q = gaussian<double>(40, d, seed, "Q");
        const Matrix<double> K = gaussian<double>(64, d, seed, "K");
        const Matrix<double> A = softmax(scores(Q, K, g));
        for (Index i = 0; i < A.rows(); ++i) {
          const double p2 = A.row(i).squaredNorm();
          const double p3 = A.row(i).array().cube().sum();
          size.push_back(std::sqrt(std::max(0.0, p2 - 2 * p3 + p2 * p2)));
        }
      }
      std::ranges::sort(size);
      for (const std::size_t quarter : {1, 2, 3})
        std::cout << ',' << size[quarter * size.size() / 4];
    }
    std::cout << '\n';
  }
}
