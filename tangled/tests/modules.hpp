// tests/modules.hpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#pragma once
#include "attn/multihead.hpp"

namespace multihead {
using namespace attn;

// draw modules and inputs for the checks
/// Zero where key j is not after query i, minus infinity elsewhere.
template <class S>
Matrix<S> past_bias(Index n_q, Index n_k) {
  Matrix<S> B = Matrix<S>::Zero(n_q, n_k);
  for (Index i = 0; i < n_q; ++i)
    for (Index j = 0; j < n_k; ++j)
      if (j - n_k > i - n_q) B(i, j) = S(-HUGE_VAL);
  return B;
}
/// A module with its inputs, context and causal bias, all from one seed.
template <class S>
struct Setting {
  MultiHead<S> m;
  Matrix<S> X, C, bias;
};
template <class S>
Setting<S> setting(std::uint64_t seed) {
  const Index k = Index(seed % 6);
  const HeadShape shapes[] = {{6, 2}, {5, 1, 1, 3, 2, 4, 7, true},
      {8, 4, 2, 3, 5, 6, 3, true}, {6, 6, 1, 2, 1, 6, 6, true},
      {4, 3, 3, 1, 2, 4, 4}, {7, 4, 2, 2, 3, 7, 7}};
  const Index n = Index(1 + seed % 5);
  const Index c = n == 5 ? 3 : n + Index(seed % 3);
  Setting<double> s;
  s.m = xavier<double>(shapes[k], 10 * seed);
  std::uint64_t stream = 1000 * seed;
  for_each_weight([&](std::string name, auto& w) {
    if (name[0] == 'b') w = 0.5 * gaussian<double>(w.size(), 1, stream++);
  }, s.m);
  s.X = gaussian<double>(n, s.m.W_Q.rows(), seed + 6);
  s.C = gaussian<double>(c, s.m.W_K.rows(), seed + 7);
  if (seed % 2) s.bias = past_bias<double>(n, c);
  if (seed % 10 == 7) s.bias.row(1).setConstant(-HUGE_VAL);
  return {lifted<S>(s.m), lift<S>(s.X), lift<S>(s.C), lift<S>(s.bias)};
}
/// Eight heads of eight features, two to a set, biases, 98 queries, 96 keys.
template <class S>
Setting<S> large_setting() {
  auto m = xavier<double>({64, 8, 4, 8, 8, 64, 64, true}, 1);
  for_each_weight([](std::string name, auto& w) {
    if (name[0] == 'b') w = 0.5 * gaussian<double>(w.size(), 1, 1, name);
  }, m);
  return {lifted<S>(m), gaussian<S>(98, 64, 1, "X"),
          gaussian<S>(96, 64, 1, "C"), past_bias<S>(98, 96)};
}

// write attention with repeated keys
/// Ordinary attention whose head h has the keys and values of head of(h).
template <class S, class F>
MultiHead<S> repeated(const MultiHead<S>& m, F of) {
  MultiHead<S> r = m;
  r.kv_heads = m.heads;
  r.W_K.resize(m.W_K.rows(), m.heads * m.d_k());
  r.W_V.resize(m.W_V.rows(), m.heads * m.d_v());
  for (Index h = 0; h < m.heads; ++h) {
    r.W_K.middleCols(h * m.d_k(), m.d_k()) =
        m.W_K.middleCols(of(h) * m.d_k(), m.d_k());
    r.W_V.middleCols(h * m.d_v(), m.d_v()) =
        m.W_V.middleCols(of(h) * m.d_v(), m.d_v());
  }
  return r;
}
}  // namespace multihead
