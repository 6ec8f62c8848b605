// examples/own_gradient.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
// Verify a gradient of your own: the first one here is right, the
// second forgets the factor 1/sqrt(d) that the scores carry.
#include "attn/attention.hpp"
#include "attn/random.hpp"
#include "attn/verify_gradients.hpp"
#include <iostream>

using namespace attn;

// write a gradient by hand
AttentionParts<double> mine(const AttentionInputs<double>& x,
                            const Matrix<double>& dO, double scale) {
  const Matrix<double> A = attention(x.Q, x.K, x.V).A;
  const Matrix<double> dA = dO * x.V.transpose();
  const Vector<double> mean = A.cwiseProduct(dA).rowwise().sum();
  const Matrix<double> dX = scale * A.cwiseProduct(dA.colwise() - mean);
  AttentionParts<double> g{dX * x.K, dX.transpose() * x.Q,
                           A.transpose() * dO};
  g.T = -dX.cwiseProduct(x.Q * x.K.transpose()).sum();
  return g;
}

int main() {
  const Index n = 5, d = 4;
  const AttentionInputs<double> x{gaussian<double>(n, d, 1, "Q"),
                                  gaussian<double>(n, d, 1, "K"),
                                  gaussian<double>(n, d, 1, "V")};
  const OutputParts<double> bar{gaussian<double>(n, d, 1, "dO"), {}};
  const auto right = verify_gradients(x, bar, mine(x, bar.O, 0.5));
  const auto wrong = verify_gradients(x, bar, mine(x, bar.O, 1));
  std::cout << "with 1/sqrt(d):\n" << right << "\nwithout:\n" << wrong;
  return right.passed() && !wrong.passed() ? 0 : 1;
}
