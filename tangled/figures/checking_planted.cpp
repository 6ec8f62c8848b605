// figures/checking_planted.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include <iostream>
using namespace attn;

int main() {
  const Matrix<double> A = gaussian<double>(32, 32, 1);
  const Matrix<double> B = gaussian<double>(32, 32, 2);
  const Matrix<double> C = A * B, bound = product_bound(A, B);
  const Matrix<quad> truth = lift<quad>(A) * lift<quad>(B);
  std::cout << "epsilon,bound,tolerance\n";
  for (double power = -17; power <= -1; power += 0.25) {
    // count the entries whose planted error is noticed
    const double epsilon = std::pow(10, power);
    int bounded = 0, tolerated = 0;
    for (Index i = 0; i < C.size(); ++i) {
      const quad t = truth.data()[i];
      const double x = C.data()[i] * (1 + epsilon);
      const double error = to_double(quad(abs(quad(x) - t)));
      bounded += error > bound.data()[i];
      tolerated += error > 1e-8 + 1e-5 * std::abs(to_double(t));
    }
    const double n = double(C.size());
    std::cout << epsilon << ',' << bounded / n << ',' << tolerated / n << '\n';
  }
}
