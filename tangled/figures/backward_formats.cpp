// figures/backward_formats.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "hundred.hpp"
#include "attn/verify_gradients.hpp"
#include "attn/random.hpp"
#include <iostream>
using namespace attn;

// measure one format in units of roundoff
template <class S>
Matrix<big> exact(const Matrix<S>& m) {
  return m.unaryExpr([](const S& x) {
    if constexpr (std::is_same_v<S, quad>) return carry<big>(x);
    else if constexpr (sizeof(S) == 2) return big(float(x));
    else return big(x);
  });
}
template <class S>
double off(const Matrix<S>& computed, const Matrix<big>& truth) {
  const Matrix<big> d = exact(computed) - truth;
  const big most = truth.cwiseAbs().maxCoeff();
  return to_double(big(d.cwiseAbs().maxCoeff() / most)) /
         unit_roundoff<S>();
}
template <class S>
void measure(const char* name, int bits) {
  double worst[5] = {};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto draw = [&](const char* k) {
      return lift<S>(gaussian<double>(32, 16, seed, k));
    };
    const AttentionInputs<S> x{draw("Q"), draw("K"), draw("V")};
    const OutputParts<S> w{draw("dO")};
    const AttentionInputs<big> X{exact(x.Q), exact(x.K), exact(x.V)};
    const auto f = attention_forward(x);
    const auto F = attention_forward(X);
    const auto g = attention_vjp(x, f, w);
    const auto G = attention_vjp(X, F, {exact(w.O)});
    const double e[5] = {off(f.O, F.O), off(g.Q, G.Q), off(g.K, G.K),
                         off(g.V, G.V), off(g.bias, G.bias)};
    for (int k = 0; k < 5; ++k) worst[k] = std::max(worst[k], e[k]);
  }
  std::cout << name << ',' << bits;
  for (const double w : worst) std::cout << ',' << w;
  std::cout << '\n';
}

int main() {
  std::cout << "format,bits,O,Q,K,V,bias\n";
  measure<Eigen::bfloat16>("bf16", 8);
  measure<Eigen::half>("half", 11);
  measure<float>("float", 24);
  measure<double>("double", 53);
  measure<long double>("extended", 64);
  measure<quad>("quad", 113);
}
