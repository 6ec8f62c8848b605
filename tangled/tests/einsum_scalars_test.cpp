// tests/einsum_scalars_test.cpp: tangled from chapters/90-equations-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/autodiff.hpp"
#include "attn/einsum.hpp"
#include "attn/field.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(notation)

// check equations over other scalars
BOOST_AUTO_TEST_CASE(equations_are_exact_over_the_field) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Tensor<Fp, up, up> Q = uniform<Fp>(4, 3, seed, "Q");
    const Tensor<Fp, up, up> K = uniform<Fp>(5, 3, seed, "K");
    const Tensor<Fp, dn, dn> g = uniform<Fp>(3, 3, seed, "g");
    const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);
    const auto R = eq<"S^{ij} = K^{jb} Q^{ia} g_{ab}">(K, Q, g);
    verify_exact(S, R, 3);
    const Matrix<Fp> matrices = Q.mat() * g.mat() * K.mat().transpose();
    verify_exact(Matrix<Fp>(S.mat()), matrices, 3);
  }
}
BOOST_AUTO_TEST_CASE(halves_exist_in_the_field) {
  const Tensor<Fp, dn, dn> A = uniform<Fp>(3, 3, 1);
  const auto S = eq<
      R"(S_{ab} = \tfrac{1}{2} A_{ab} + \tfrac{1}{2} A_{ba})">(A, A);
  verify_exact(eq<"T_{ab} = 2 S_{ab} - A_{ba}">(S, A), A, 1);
}
BOOST_AUTO_TEST_CASE(derivatives_pass_through_equations) {
  const Matrix<quad> q = gaussian<quad>(4, 3, 1, "Q");
  const Matrix<quad> k = gaussian<quad>(5, 3, 1, "K");
  const Matrix<quad> g = gaussian<quad>(3, 3, 1, "g");
  const Matrix<quad> c = gaussian<quad>(4, 5, 1, "dS");
  const Matrix<quad> dq = gaussian<quad>(4, 3, 1, "dQ");
  const auto loss = [&]<class S>(const Matrix<S>& Q) {
    return S(eq<R"(L = \bar S_{ij} Q^{ia} g_{ab} K^{jb})">(
        Tensor<S, dn, dn>(lift<S>(c)), Tensor<S, up, up>(Q),
        Tensor<S, dn, dn>(lift<S>(g)), Tensor<S, up, up>(lift<S>(k))));
  };
  const auto dQ = eq<R"(\bar Q_{ia} = \bar S_{ij} K^{jb} g_{ab})">(
      view<dn, dn>(c), k, view<dn, dn>(g));

  // bound the derivative by its absolute terms
  const Matrix<quad> terms =
      c.cwiseAbs() * k.cwiseAbs() * g.cwiseAbs().transpose();
  const Matrix<double> size =
      gamma(368, unit_roundoff<quad>()) * lift<double>(terms);
  const Matrix<quad> reverse = gradient(loss, q);
  verify(reverse, dQ.mat(), size);
  const quad forward = directional(loss, q, dq);
  const quad paired = eq<R"(s = \bar Q_{ia} X^{ia})">(dQ, dq);
  verify(to_double(quad(abs(forward - paired))),
         size.cwiseProduct(lift<double>(dq.cwiseAbs())).sum());
}
BOOST_AUTO_TEST_SUITE_END()
