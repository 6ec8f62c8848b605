// tests/metrics.hpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#pragma once
#include "attn/einsum.hpp"
#include "attn/form.hpp"
#include "attn/random.hpp"

namespace bilinear {
using namespace attn;

// change the basis of vectors and covectors
template <class S>
struct Basis {
  Matrix<S> P, R;
  explicit Basis(const Matrix<S>& p) : P(p), R(p.inverse()) {}

  // transform vectors, covectors and forms
  auto vector(const Tensor<S, up>& v) const {
    return eq<R"(\tilde v^a = R^a{}_b v^b)">(view<up, dn>(R), v);
  }
  auto covector(const Tensor<S, dn>& u) const {
    return eq<R"(\tilde u_a = P^b{}_a u_b)">(view<up, dn>(P), u);
  }
  auto form(const Tensor<S, dn, dn>& g) const {
    const auto p = view<up, dn>(P);
    return eq<R"(\tilde g_{ab} = P^c{}_a P^d{}_b g_{cd})">(p, p, g);
  }
};

// draw a metric of each kind
constexpr double agreement = 0x1p-80;  // heuristic, for identities in quad

template <class S>
std::vector<Metric<S>> metrics(Index d, std::uint64_t seed) {
  using M = Metric<S>;
  const Matrix<double> W = gaussian<double>(d + 2, d, seed, "metrics W");
  Matrix<double> G = W.transpose() * W;
  G = ((G + G.transpose()) / 2 + Matrix<double>::Identity(d, d)).eval();
  const Vector<double> D =
      gaussian<double>(d, 1, seed, "metrics D").array().exp();
  const Matrix<S> U = gaussian<S>(1 + d / 3, d, seed, "metrics U");
  return {M::identity(d), M::scaled(d, S(0.3)), M::diagonal(lift<S>(D)),
          M::low_rank(lift<S>(D), U), M::full(lift<S>(G))};
}
}  // namespace bilinear
