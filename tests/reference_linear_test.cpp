// Linear attention, recurrences and their gradients against JAX, features
// against mpmath.  Falsified by a state that is read before it is written, a
// normaliser that is left out, or any value that differs by more than the
// roundings of both.
// reads: tests/reference/*_*.txt
#include "prelude.hpp"
#include "reference.hpp"
#include "attn/autodiff.hpp"
#include "attn/lowrank.hpp"

namespace {
using namespace attn;

template <class S>
S pairing(const Matrix<Counted>& bar, const Matrix<S>& y) {
  S sum(0);
  for (Index k = 0; k < y.size(); ++k) sum += S(bar.data()[k]) * y.data()[k];
  return sum;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(reference)
BOOST_AUTO_TEST_CASE(linear_attention_of_jax) {
  for_cases("jax_linear", [](const Case& c) {
    const bool causal = c.name == "linear_elu_causal";
    // Features first.
    const auto features = [&](const auto& X) {
      using S = typename std::decay_t<decltype(X)>::Scalar;
      if (c.name == "linear_relu") return Matrix<S>(relu_features(X));
      if (c.name != "linear_positive") return Matrix<S>(elu_features(X));
      return Matrix<S>(positive_features(kernel_coordinates(X),
                                         c.get<S>("W")));
    };
    const auto Y = c.get<Counted>("Y"), X = c.get<Counted>("X");
    agree(features(c.get<double>("Y")), features(Y),
          doubles(c, "Psi", features(Y)));
    if (c.name != "linear_relu")
      agree(features(c.get<double>("X")), features(X),
            doubles(c, "Phi", features(X)));
    // Then attention by the features that JAX had, and its gradient.
    const auto steps = [&](const auto& phi, const auto& psi, const auto& v) {
      using S = typename std::decay_t<decltype(phi)>::Scalar;
      Matrix<S> A = times(phi, psi.transpose());
      for (Index i = 0; i < A.rows(); ++i) {
        if (causal) A.row(i).tail(A.cols() - 1 - i).setZero();
        A.row(i) /= S(A.row(i).sum());
      }
      return times(A, v);
    };
    const auto run = [&](auto phi, auto psi, auto v, auto bar) {
      return causal ? std::pair(causal_linear_attention(phi, psi, v, 4),
                                causal_linear_attention_vjp(phi, psi, v, bar, 4))
                    : std::pair(linear_attention(phi, psi, v),
                                linear_attention_vjp(phi, psi, v, bar));
    };
    const auto Phi = c.get<Counted>("Phi"), Psi = c.get<Counted>("Psi");
    const auto V = c.get<Counted>("V"), bar = c.get<Counted>("bar_O");
    const auto [O, d] = run(c.get<double>("Phi"), c.get<double>("Psi"),
                            c.get<double>("V"), c.get<double>("bar_O"));
    const auto [P, e] = run(Phi, Psi, V, bar);
    agree(O, P, doubles(c, "O", steps(Phi, Psi, V)));
    const auto [dPhi, dPsi, dV] = gradient(
        [&](const auto& phi, const auto& psi, const auto& v) {
          return pairing<Var<Counted>>(bar, steps(phi, psi, v));
        }, Phi, Psi, V);
    agree(d.Phi, e.Phi, doubles(c, "dPhi", dPhi));
    agree(d.Psi, e.Psi, doubles(c, "dPsi", dPsi));
    agree(d.V, e.V, doubles(c, "dV", dV));
  });
}
BOOST_AUTO_TEST_CASE(recurrences_of_jax) {
  for_cases("jax_recurrence", [](const Case& c) {
    const bool erase = c.name == "gated_delta";
    const auto steps = [&](const auto& phi, const auto& psi, const auto& v,
                           auto M, const auto& alpha, const auto& beta) {
      using S = typename std::decay_t<decltype(phi)>::Scalar;
      Matrix<S> O(v.rows(), v.cols());
      for (Index t = 0; t < v.rows(); ++t) {
        M *= alpha(t);
        RowVector<S> w = v.row(t);
        if (erase) w -= times(psi.row(t), M).row(0);
        M += beta(t) * times(psi.row(t).transpose(), w);
        O.row(t) = times(phi.row(t), M);
      }
      return O;
    };
    const auto run = [&]<class S>(S) {
      const Rule<S> rule{c.vec<S>("alpha"), c.vec<S>("beta"), erase};
      const auto Phi = c.get<S>("Phi"), Psi = c.get<S>("Psi");
      const auto V = c.get<S>("V"), start = c.get<S>("start");
      return std::tuple(
          Matrix<S>(recurrence(Phi, Psi, V, rule, start).O),
          Matrix<S>(chunked(Phi, Psi, V, rule, 3, start).O),
          recurrence_vjp(Phi, Psi, V, rule, c.get<S>("bar_O"), 3, start));
    };
    const auto [O, blocks, d] = run(0.0);
    const auto [P, counted_blocks, e] = run(Counted(0));
    const auto get = [&](const char* key) { return c.get<Counted>(key); };
    const auto bar = get("bar_O");
    const auto r = doubles(c, "O", steps(get("Phi"), get("Psi"), get("V"),
                                         get("start"), get("alpha"),
                                         get("beta")));
    agree(O, P, r);
    agree(blocks, counted_blocks, r);
    const auto [dPhi, dPsi, dV, dM, da, db] = gradient(
        [&](const auto&... x) {
          return pairing<Var<Counted>>(bar, steps(x...));
        }, get("Phi"), get("Psi"), get("V"), get("start"), get("alpha"),
        get("beta"));
    agree(d.Phi, e.Phi, doubles(c, "dPhi", dPhi));
    agree(d.Psi, e.Psi, doubles(c, "dPsi", dPsi));
    agree(d.V, e.V, doubles(c, "dV", dV));
    agree(d.start, e.start, doubles(c, "dstart", dM));
    agree(d.alpha, e.alpha, doubles(c, "dalpha", da));
    agree(d.beta, e.beta, doubles(c, "dbeta", db));
  });
}
BOOST_AUTO_TEST_CASE(features_of_mpmath) {
  for_cases("mpmath_feature", [](const Case& c) {
    const auto X = c.get<double>("X");
    const auto Y = c.get<Counted>("X");
    if (c.name == "elu") {
      agree(elu_features(X), elu_features(Y), digits(c, "Phi"));
      agree(linear_attention(elu_features(X), elu_features(c.get<double>("Y")),
                             c.get<double>("V")),
            linear_attention(elu_features(Y), elu_features(c.get<Counted>("Y")),
                             c.get<Counted>("V")), digits(c, "O"));
    } else if (c.name == "positive") {
      agree(positive_features(X, c.get<double>("W")),
            positive_features(Y, c.get<Counted>("W")), digits(c, "Phi"));
    } else {
      agree(gaussian_kernel(X, c.get<double>("Y")),
            gaussian_kernel(Y, c.get<Counted>("Y")), digits(c, "kernel"));
    }
  });
}
BOOST_AUTO_TEST_SUITE_END()
