// tests/layer_gradient_test.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/autodiff.hpp"
#include "layer_case.hpp"
using namespace layers;

BOOST_AUTO_TEST_SUITE(layer)

// check a scale of zero
BOOST_AUTO_TEST_CASE(euler_gives_the_scale) {
  const Index n = 9;
  auto L = draw_layer<double>(scales | turned, causal(n, n), n, 8);
  L.parts.scale(1) = 0;
  const auto X = gaussian<double>(n, 5, 8, "X");
  const auto dY = gaussian<double>(n, 5, 8, "dY");
  const auto a = layer_vjp(L, X, layer_forward(L, X), dY);
  const auto Q = lifted_layer<quad>(L);
  const Matrix<quad> Xq = lift<quad>(X), dYq = lift<quad>(dY);
  const auto b = layer_vjp(Q, Xq, layer_forward(Q, Xq), dYq);
  // at zero all weights of a row are equal: an estimate of its conditioning
  for (Index h = 0; h < 4; ++h)
    verify(distance(a.parts.scale(h), b.parts.scale(h)),
           1e5 * unit_roundoff<double>() *
               to_double(b.parts.scale.cwiseAbs().maxCoeff()));
}

// check that the gradient is the derivative
BOOST_AUTO_TEST_CASE(gradient_is_the_derivative) {
  for (const int bits : {0, 511, gains | turned, scales | capped,
                         tables | biased | sinks, 1023 - turned})
    for (const int kind : {1, 2, 3}) {
      const Index n = 5, m = 7;
      const auto seed = std::uint64_t(bits + kind);
      auto L = draw_layer<quad>(bits, mask_of_kind(kind, m), m, seed);
      const auto X = gaussian<quad>(n, 5, seed, "X");
      const auto C = gaussian<quad>(m, 5, seed, "C");
      const auto dY = gaussian<quad>(n, 5, seed, "dY");
      const auto g = layer_vjp(L, X, C, layer_forward(L, X, C), dY);
      using D = Dual<quad>;
      Layer<D> M = lifted_layer<D>(L);
      Matrix<D> x = lift<D>(X), c = lift<D>(C);
      quad expected = 0, size = 0;
      std::uint64_t stream = 0;

      // step in a random direction
      const auto step = [&](auto, const auto& gradient, auto& variable) {
        const auto v = gaussian<quad>(variable.rows(), variable.cols(),
                                      seed + 100 * ++stream, "direction");
        BOOST_TEST(gradient.size() == variable.size());
        for (Index i = 0; i < variable.rows(); ++i)
          for (Index j = 0; j < variable.cols(); ++j) {
            variable(i, j).d = v(i, j);
            expected += gradient(i, j) * v(i, j);
            size += abs(gradient(i, j) * v(i, j));
          }
      };
      for_each_weight(step, g.weights, M.weights);
      for_each_weight(step, g.parts, M.parts);
      step("X", g.X, x), step("C", g.C, c);
      quad found = 0;
      const Matrix<D> Y = layer_forward(M, x, c).Y;
      for (Index i = 0; i < Y.size(); ++i)
        found += dY.data()[i] * Y.data()[i].d;
      verify(distance(found, expected),
             1e6 * unit_roundoff<quad>() * to_double(size));
    }
}
BOOST_AUTO_TEST_SUITE_END()
