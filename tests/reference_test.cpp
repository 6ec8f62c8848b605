// Attention and its gradient against JAX and mpmath.  Falsified by any formula,
// mask, order of indices or convention that differs from theirs by more than
// the roundings of both.
// reads: tests/reference/*_*.txt
#include "prelude.hpp"
#include "reference.hpp"
#include "attn/attention.hpp"
#include "attn/backward.hpp"
#include "attn/modifiers.hpp"

namespace {
using namespace attn;

template <class S>
AttentionInputs<S> inputs(const Case& c) {
  AttentionInputs<S> x{c.get<S>("Q"), c.get<S>("K"), c.get<S>("V")};
  if (c.has("M")) x.M = c.get<S>("M");
  if (c.has("bias")) x.bias = c.get<S>("bias");
  if (c.has("mask")) x.mask = c.get<double>("mask").array() > 0.5;
  x.T = c.number<S>("T");
  return x;
}
template <class S>
OutputParts<S> cotangents(const Case& c) {
  return {c.get<S>("bar_O"), c.vec<S>("bar_logZ")};
}

// A number whose dependence on others is not differentiated.
template <class S>
S frozen(const S& x) {
  if constexpr (is_active<S>) return S(x.v);
  else return x;
}

// The steps of with_jax.py: weigh and attend, without the library's own.
// Differentiated by the tape, the quotient below takes at least the steps of
// JAX's rule for the softmax, on the same terms.
template <class S>
Weights<S> weigh_by_definition(const Matrix<S>& X, const Allowed& mask) {
  using std::exp, std::log;
  Weights<S> w{Matrix<S>::Zero(X.rows(), X.cols()),
               Vector<S>::Constant(X.rows(), S(-HUGE_VAL))};
  for (Index i = 0; i < X.rows(); ++i) {
    if (!mask.row(i).any()) continue;
    S top(-HUGE_VAL), Z(0);
    for (Index j = 0; j < X.cols(); ++j)
      if (mask(i, j) && top < X(i, j)) top = frozen(X(i, j));
    for (Index j = 0; j < X.cols(); ++j)
      if (mask(i, j)) Z += w.A(i, j) = exp(S(X(i, j) - top));
    w.A.row(i) /= Z;
    w.logZ(i) = top + log(Z);
  }
  return w;
}
template <class S>
struct Defined {
  Matrix<S> O, A;
  Vector<S> logZ;
};
template <class S>
Defined<S> attend_by_definition(const AttentionInputs<S>& x) {
  using std::sqrt;
  const S scale = S(1) / S(sqrt(S(double(x.K.cols()))));
  const Matrix<S> low = x.M ? times(x.K, x.M->transpose())
                            : Matrix<S>(x.K * scale);
  Matrix<S> X = times(x.Q, low.transpose());
  if (x.bias) X += *x.bias;
  X /= x.T;
  const auto [A, logZ] = weigh_by_definition<S>(
      X, x.mask ? *x.mask : Allowed::Constant(X.rows(), X.cols(), true));
  return {times(A, x.V), A, logZ};
}
template <class S, class Y>
S loss(const Y& y, const OutputParts<Counted>& bar) {
  S sum(0);
  for (Index k = 0; k < y.O.size(); ++k)
    sum += S(bar.O.data()[k]) * y.O.data()[k];
  for (Index i = 0; i < y.logZ.size(); ++i)
    if (!is_forbidden(y.logZ(i))) sum += S(bar.logZ(i)) * y.logZ(i);
  return sum;
}
AttentionParts<Counted> gradient_by_definition(
    const AttentionInputs<Counted>& x, const OutputParts<Counted>& bar) {
  const Matrix<Counted> none;
  const auto [Q, K, V, M, B, T] = gradient(
      [&](const auto& q, const auto& k, const auto& v, const auto& m,
          const auto& b, const auto& t) {
        using S = Var<Counted>;
        AttentionInputs<S> y{q, k, v};
        if (x.M) y.M = m;
        if (x.bias) y.bias = b;
        y.mask = x.mask;
        y.T = t(0, 0);
        return loss<S>(attend_by_definition(y), bar);
      },
      x.Q, x.K, x.V, x.M.value_or(none), x.bias.value_or(none),
      Matrix<Counted>{{x.T}});
  return {Q, K, V, M, B, T(0, 0)};
}

// Compares outputs and gradients; r(key, steps) is the reference.
template <class R>
void compare(const Case& c, R r) {
  const auto x = inputs<double>(c);
  const auto y = inputs<Counted>(c);
  const auto f = attention_forward(x);
  const auto g = attention_forward(y);
  const auto steps = attend_by_definition(y);
  agree(f.O, g.O, r("O", steps.O));
  agree(f.logZ, g.logZ, r("logZ", Matrix<Counted>(steps.logZ)));
  if (c.has("A")) agree(f.weights, g.weights, r("A", steps.A));
  const auto d = attention_vjp(x, f, cotangents<double>(c));
  const auto e = attention_vjp(y, g, cotangents<Counted>(c));
  const auto s = gradient_by_definition(y, cotangents<Counted>(c));
  agree(d.Q, e.Q, r("dQ", s.Q));
  agree(d.K, e.K, r("dK", s.K));
  agree(d.V, e.V, r("dV", s.V));
  if (x.M) agree(d.M, e.M, r("dM", s.M));
  if (x.bias) agree(d.bias, e.bias, r("dbias", s.bias));
  agree(d.T, e.T, r("dT", Matrix<Counted>{{s.T}}));
}
}  // namespace

BOOST_AUTO_TEST_SUITE(reference)
BOOST_AUTO_TEST_CASE(counted_numbers_bound_what_they_count) {
  // The bound of a sum in three orders, and of a cancelling difference.
  const Counted x(0.1), y(3), z = (x + y) - y;
  verify(std::abs((0.1 + 3) - 3 - 0.1), z.error());
  BOOST_TEST((z.k == 2 && z.v == quad(0.1) && z.error() > 0x1p-52));
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Matrix<double> a = gaussian<double>(1, 9, seed);
    const Counted sum = lift<Counted>(a).sum() / exp(Counted(a(0)));
    const double up = a.sum() / std::exp(a(0));
    const double down = a.reverse().eval().sum() / std::exp(a(0));
    verify(to_double(abs(quad(up) - sum.v)), sum.error());
    verify(to_double(abs(quad(down) - sum.v)), sum.error());
  }
}
BOOST_AUTO_TEST_CASE(attention_of_jax) {
  for_cases("jax_attention", [](const Case& c) {
    compare(c, [&](const char* key, const Matrix<Counted>& steps) {
      return doubles(c, key, steps);
    });
  });
}
BOOST_AUTO_TEST_CASE(attention_of_mpmath) {
  for_cases("mpmath_attention", [](const Case& c) {
    compare(c, [&](const char* key, const Matrix<Counted>&) {
      return digits(c, key);
    });
  });
}
// The same layers through the other entry points.
BOOST_AUTO_TEST_CASE(other_ways_to_the_same_layer) {
  for (const Case& c : read_cases("jax_attention")) {
    auto x = inputs<double>(c);
    auto y = inputs<Counted>(c);
    const auto steps = attend_by_definition(y);
    const auto r = doubles(c, "O", steps.O);
    if (c.name == "plain" || c.name == "one_key")
      agree(attention(x.Q, x.K, x.V).O, attention(y.Q, y.K, y.V).O, r);
    if (c.name != "learned_metric" && c.name != "all_at_once") continue;
    const auto g = Metric<double>::full(*x.M);
    const auto h = Metric<Counted>::full(*y.M);
    x.M.reset(), y.M.reset();
    agree(attention_forward(x, g).O, attention_forward(y, h).O, r);
  }
}
// Masks built by the library are those that the reference used.
BOOST_AUTO_TEST_CASE(masks_of_jax) {
  int seen = 0;
  for (const Case& c : read_cases("jax_attention")) {
    const bool band = c.name == "window";
    if (c.name.rfind("causal", 0) != 0 && !band) continue;
    const Matrix<double> m = c.get<double>("mask");
    const Mask ours = band ? window(m.rows(), m.cols(), 2, 0)
                           : causal(m.rows(), m.cols());
    verify((dense(ours).cast<double>() - m).norm(), 0);
    ++seen;
  }
  BOOST_TEST(seen == 4);
}

namespace {
template <class S>
VariantParts<S> variant_inputs(const Case& c) {
  VariantParts<S> p{c.get<S>("Q"), c.get<S>("K"), c.get<S>("V")};
  p.slope = c.get<S>("slope");
  p.sink = c.get<S>("sink");
  return p;
}
// The steps of with_jax.py: variant.
template <class S>
Defined<S> variant_by_definition(const VariantParts<S>& x, double cap,
                                 const Allowed& allowed) {
  using std::sqrt, std::tanh;
  const Index n = x.Q.rows(), m = x.K.rows();
  Matrix<S> X(n, m + 1);
  X.leftCols(m) = times(x.Q, x.K.transpose()) *
                  (S(1) / S(sqrt(S(double(x.K.cols())))));
  Allowed mask = Allowed::Constant(n, m + 1, true);
  mask.leftCols(m) = allowed;
  for (Index i = 0; i < n; ++i) {
    X(i, m) = x.sink(0, 0);
    for (Index j = 0; j < m; ++j)
      X(i, j) = S(cap) * tanh(S(X(i, j) / S(cap))) -
                x.slope(0, 0) * S(double(std::abs(j - (i + m - n))));
  }
  const auto [A, logZ] = weigh_by_definition<S>(X, mask);
  return {times(A.leftCols(m), x.V), A, logZ};
}
}  // namespace

BOOST_AUTO_TEST_CASE(variant_of_jax) {
  for_cases("jax_variant", [](const Case& c) {
    const Matrix<bool> mask = c.get<double>("mask").array() > 0.5;
    const double cap = c.number<double>("cap");
    VariantRules rules{.mask = from_matrix(mask), .softcap = cap};
    const auto x = variant_inputs<double>(c);
    const auto y = variant_inputs<Counted>(c);
    const auto f = variant_forward(x, rules);
    const auto g = variant_forward(y, rules);
    const auto steps = variant_by_definition(y, cap, mask);
    agree(f.O, g.O, doubles(c, "O", steps.O));
    agree(f.logZ, g.logZ, doubles(c, "logZ", steps.logZ));
    const auto bar = cotangents<Counted>(c);
    const auto d = variant_vjp(x, rules, f, c.get<double>("bar_O"),
                               c.vec<double>("bar_logZ"));
    const auto e = variant_vjp(y, rules, g, bar.O, bar.logZ);
    const auto [Q, K, V, slope, sink] = gradient(
        [&](const auto& q, const auto& k, const auto& v, const auto& s,
            const auto& t) {
          using S = Var<Counted>;
          VariantParts<S> z{q, k, v};
          z.slope = s, z.sink = t;
          return loss<S>(variant_by_definition(z, cap, mask), bar);
        },
        y.Q, y.K, y.V, y.slope, y.sink);
    agree(d.Q, e.Q, doubles(c, "dQ", Q));
    agree(d.K, e.K, doubles(c, "dK", K));
    agree(d.V, e.V, doubles(c, "dV", V));
    agree(d.slope, e.slope, doubles(c, "dslope", slope));
    agree(d.sink, e.sink, doubles(c, "dsink", sink));
  });
}
BOOST_AUTO_TEST_SUITE_END()
