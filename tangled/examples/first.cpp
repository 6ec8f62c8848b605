// examples/first.cpp: tangled from chapters/00-reading.nw; edit that file, not this one.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numbers>

#include "attn/einsum.hpp"
#include "attn/form.hpp"
using namespace attn;

// attend, from scores to outputs
template <class T, class Form>
auto attend(const Matrix<T>& Q, const Form& g, const Matrix<T>& K,
            const Matrix<T>& V) {
  const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);  // eq:score

  // weigh by the exponentials of the scores
  Tensor<T, up, dn> A = Matrix<T>(
      S.mat().unaryExpr([](T s) { return std::exp(s); }));
  for (Index i = 0; i < Q.rows(); ++i)
    A.mat().row(i) /= A.mat().row(i).sum();
  return eq<"O^{ic} = A^i{}_j V^{jc}">(A, V);
}

int main() {
  using T = double;

  // set up two queries, three keys, three values
  const Matrix<T> Q{{1, 0}, {1, 2}};
  const Matrix<T> K{{1, 0}, {0, 1}, {1, 1}};
  const Matrix<T> V{{3, 0}, {0, 2}, {1, 1}};
  const auto g = Metric<T>::scaled(2, std::numbers::ln2_v<T>);
  std::cout << std::setprecision(17) << attend(Q, g, K, V).mat() << '\n';
}
