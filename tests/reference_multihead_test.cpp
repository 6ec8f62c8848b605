// Many heads and a transformer block against JAX.  Falsified by a head that
// reads another head's keys, a gradient that lacks a path, or any value that
// differs by more than the roundings of both.
// reads: tests/reference/*_*.txt
#include "prelude.hpp"
#include "reference.hpp"
#include "attn/autodiff.hpp"
#include "attn/block.hpp"
#include "attn/mask.hpp"

namespace {
using namespace attn;

// Weights by the names that the data files have.
template <class S>
MultiHead<S> heads_of(const Case& c) {
  MultiHead<S> m;
  m.heads = c.integer("heads", 0);
  m.kv_heads = c.integer("heads", 1);
  for_each_weight([&](const char* name, auto& w) {
    if (c.has(name)) w = c.get<S>(name);
  }, m);
  return m;
}
template <class S>
S silu_of(const S& x) {
  using std::exp;
  return x / (S(1) + exp(-x));
}
template <class S>
S pairing(const Matrix<Counted>& bar, const Matrix<S>& y) {
  S sum(0);
  for (Index k = 0; k < y.size(); ++k) sum += S(bar.data()[k]) * y.data()[k];
  return sum;
}
template <class S>
Matrix<S> plus(const Matrix<S>& x, const Vector<S>& b) {
  return b.size() > 0 ? Matrix<S>(x.rowwise() + b.transpose()) : x;
}

// The steps of with_jax.py: multihead, without the library's own.
template <class S>
Matrix<S> softmax_steps(Matrix<S> X, const Matrix<bool>& mask) {
  using std::exp;
  for (Index i = 0; i < X.rows(); ++i) {
    quad top = -HUGE_VAL;
    for (Index j = 0; j < X.cols(); ++j)
      if (mask(i, j) && top < quad(value(X(i, j)))) top = quad(value(X(i, j)));
    S Z(0);
    for (Index j = 0; j < X.cols(); ++j) {
      X(i, j) = mask(i, j) ? S(exp(S(X(i, j) - S(Counted(top))))) : S(0);
      Z += X(i, j);
    }
    if (mask.row(i).any()) X.row(i) /= Z;
  }
  return X;
}
template <class S>
Matrix<S> multihead_steps(const MultiHead<S>& m, const Matrix<S>& X,
                          const Matrix<S>& C, const Matrix<bool>& mask) {
  using std::sqrt;
  const Matrix<S> Q = plus<S>(times(X, m.W_Q), m.b_Q);
  const Matrix<S> K = plus<S>(times(C, m.W_K), m.b_K);
  const Matrix<S> V = plus<S>(times(C, m.W_V), m.b_V);
  const Index d = m.d_k(), v = m.d_v();
  Matrix<S> O(X.rows(), m.heads * v);
  for (Index h = 0; h < m.heads; ++h) {
    const Index g = h / m.group();
    const Matrix<S> q = Q.middleCols(h * d, d) *
                        (S(1) / S(sqrt(S(double(d)))));
    const Matrix<S> A = softmax_steps<S>(
        times(q, K.middleCols(g * d, d).transpose()), mask);
    O.middleCols(h * v, v) = times(A, V.middleCols(g * v, v));
  }
  return plus<S>(times(O, m.W_O), m.b_O);
}
template <class S>
Matrix<S> normalise_steps(Matrix<S> X) {
  using std::sqrt;
  for (Index i = 0; i < X.rows(); ++i) {
    const S n(double(X.cols()));
    X.row(i).array() -= S(X.row(i).sum() / n);
    X.row(i) /= S(sqrt(S(X.row(i).cwiseProduct(X.row(i)).sum() / n +
                         S(1e-5))));
  }
  return X;
}
template <class S>
Matrix<S> block_steps(const TransformerBlock<S>& b, const Matrix<S>& X) {
  Matrix<bool> mask = Matrix<bool>::Constant(X.rows(), X.rows(), false);
  for (Index i = 0; i < X.rows(); ++i) mask.row(i).head(i + 1).setConstant(true);
  const Matrix<S> x = normalise_steps(X);
  const Matrix<S> middle = X + multihead_steps(b.attention, x, x, mask);
  Matrix<S> hidden = plus<S>(times(normalise_steps(middle), b.W_1), b.b_1);
  for (Index k = 0; k < hidden.size(); ++k)
    hidden.data()[k] = silu_of(hidden.data()[k]);
  return middle + plus<S>(times(hidden, b.W_2), b.b_2);
}

// Records all weights of a module on the tape, and X beside them.
template <class M, class V, class F>
auto weight_gradient(const M& m, V z, const Matrix<Counted>& X, F loss) {
  const Recording<Counted> tape;
  for_each_weight([&](auto, const auto& w, auto& v) { v = tape.inputs(w); }, m,
                  z);
  const auto x = tape.inputs(X);
  const auto bar = tape.adjoints(loss(z, x));
  M g = m;
  for_each_weight([&](auto, auto& to, const auto& v) {
    to = attn::detail::read<Counted>(v, bar, tape.begin);
  }, g, z);
  return std::pair(g, Matrix<Counted>(
                          attn::detail::read<Counted>(x, bar, tape.begin)));
}
template <class D, class C>
void agree_on_weights(const Case& c, const D& ours, const C& counted,
                      const C& steps) {
  for_each_weight([&](const std::string& name, const auto& a, const auto& b,
                      const auto& s) {
    if (a.size() == 0) return;
    agree(a, b, doubles(c, "d" + name, s));
  }, ours, counted, steps);
}
}  // namespace

BOOST_AUTO_TEST_SUITE(reference)
BOOST_AUTO_TEST_CASE(heads_of_jax) {
  for_cases("jax_multihead", [](const Case& c) {
    const auto m = heads_of<double>(c);
    const auto n = heads_of<Counted>(c);
    const Matrix<double> X = c.get<double>("X"), C = c.get<double>("C");
    const Matrix<Counted> Y = c.get<Counted>("X"), D = c.get<Counted>("C");
    const Matrix<bool> mask = c.get<double>("mask").array() > 0.5;
    const auto t = multihead_forward(m, X, C, bias_of<double>(from_matrix(mask)));
    const auto u = multihead_forward(n, Y, D,
                                     bias_of<Counted>(from_matrix(mask)));
    agree(t.Y, u.Y, doubles(c, "Y", multihead_steps(n, Y, D, mask)));
    const auto bar = c.get<Counted>("bar_Y");
    const auto g = multihead_vjp(m, X, C, t, c.get<double>("bar_Y"));
    const auto h = multihead_vjp(n, Y, D, u, bar);
    // X and the context in one matrix would have one gradient: two runs.
    using V = Var<Counted>;
    const MultiHead<V> blank{n.heads, n.kv_heads, {}, {}, {}, {}, {}, {}, {}, {}};
    const auto [weights, dX] = weight_gradient(n, blank, Y, [&](auto& z, auto& x) {
      return pairing<V>(bar, multihead_steps<V>(z, x, lift<V>(D), mask));
    });
    const auto dC = weight_gradient(n, blank, D, [&](auto& z, auto& x) {
      return pairing<V>(bar, multihead_steps<V>(z, lift<V>(Y), x, mask));
    }).second;
    agree(g.X, h.X, doubles(c, "dX", dX));
    agree(g.C, h.C, doubles(c, "dC", dC));
    agree_on_weights(c, g.weights, h.weights, weights);
  });
}

namespace {
template <class S>
TransformerBlock<S> block_of(const Case& c) {
  return {heads_of<S>(c), c.get<S>("W_1"), c.get<S>("W_2"), c.vec<S>("b_1"),
          c.vec<S>("b_2")};
}
}  // namespace

BOOST_AUTO_TEST_CASE(block_of_jax) {
  for_cases("jax_block", [](const Case& c) {
    const auto b = block_of<double>(c);
    const auto d = block_of<Counted>(c);
    const Matrix<double> X = c.get<double>("X");
    const Matrix<Counted> Y = c.get<Counted>("X"), bar = c.get<Counted>("bar_Y");
    const auto t = block_forward(b, X);
    const auto u = block_forward(d, Y);
    agree(t.Y, u.Y, doubles(c, "Y", block_steps(d, Y)));
    auto g = zeros_like(b);
    auto h = zeros_like(d);
    const auto dX = block_vjp(b, t, c.get<double>("bar_Y"), g);
    const auto eX = block_vjp(d, u, bar, h);
    using V = Var<Counted>;
    TransformerBlock<V> blank;
    blank.attention.heads = blank.attention.kv_heads = d.attention.heads;
    const auto [weights, sX] = weight_gradient(d, blank, Y, [&](auto& z, auto& x) {
      return pairing<V>(bar, block_steps<V>(z, x));
    });
    agree(dX, eX, doubles(c, "dX", sX));
    agree_on_weights(c, g, h, weights);
  });
}
BOOST_AUTO_TEST_SUITE_END()
