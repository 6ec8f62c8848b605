// figures/backward_flow.cpp: tangled from chapters/04-backward.nw; edit that file, not this one.
#include "attn/backward.hpp"
#include "attn/random.hpp"
#include <iostream>
#include <vector>
using namespace attn;

// stack attention layers
/// Norm of the cotangent of X_l for l = depth, ..., 0, through layers
/// X <- attention(beta X, X, X) or X + attention(beta X, X, X).
std::vector<double> cotangent_norms(Matrix<double> X, double beta,
                                    int depth, bool residual) {
  std::vector<AttentionInputs<double>> layer;
  for (int l = 0; l < depth; ++l) {
    layer.push_back({Matrix<double>(beta * X), X, X});
    const Matrix<double> O = attention_forward(layer.back()).O;
    X = residual ? Matrix<double>(X + O) : O;
  }
  Matrix<double> dX = gaussian<double>(X.rows(), X.cols(), 77);
  std::vector<double> norm{dX.norm()};
  for (int l = depth; l-- > 0;) {
    const auto g = attention_vjp(layer[std::size_t(l)],
                                 OutputParts<double>{dX});
    dX = beta * g.Q + g.K + g.V + (residual ? dX : Matrix<double>(0 * dX));
    norm.push_back(dX.norm());
  }
  return norm;
}

int main() {
  const double beta[4] = {0, 1, 4, 16};
  std::vector<double> plain[4], residual[4];
  const Matrix<double> X = gaussian<double>(32, 16, 1);
  for (int b = 0; b < 4; ++b) {
    plain[b] = cotangent_norms(X, beta[b], 24, false);
    residual[b] = cotangent_norms(X, beta[b], 24, true);
  }
  std::cout << "l,p0,p1,p2,p3,r0,r1,r2,r3\n";
  for (std::size_t l = 0; l <= 24; ++l) {
    std::cout << l;
    for (const auto& p : plain) std::cout << ',' << p[l] / p[0];
    for (const auto& r : residual) std::cout << ',' << r[l] / r[0];
    std::cout << '\n';
  }
}
