// tests/einsum_must_fail.cpp: tangled from chapters/90-equations-checks.nw; edit that file, not this one.
#include "attn/einsum.hpp"
using namespace attn;
extern const Tensor<double, up, up> Q, K;
extern const Tensor<double, dn, dn> g;
extern const Tensor<double, up, dn> A;
extern const Matrix<double> M;
extern const double x;
void refused();
void refused() {
  // equations that break Einstein's rule
  #if CASE == 1
  eq<"S^{ij} = Q^{ia} K^{ja}">(Q, K);  // eq:none
  // expect: summed between two slots of the same height; lower one
  #elif CASE == 2
  eq<"S^{ij} = Q^{ia} g_{ab} g_{ac} K^{jb}">(Q, g, g, K);  // eq:none
  // expect: index occurs more than twice in a term; rename one pair
  #elif CASE == 3
  eq<"S^{ij} = Q^{ia} g_{ab} K^{jc}">(Q, g, K);  // eq:none
  // expect: index occurs once on the right and not on the left
  #elif CASE == 4
  eq<"S_i{}^j = Q^{ia} g_{ab} K^{jb}">(Q, g, K);  // eq:none
  // expect: free index is up on one side and down on the other
  #endif

  // equations that misuse the left side
  #if CASE == 5
  eq<"S^{ijk} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);  // eq:none
  // expect: index on the left is missing from a term on the right
  #elif CASE == 6
  eq<"S^{ii} = Q^{ia} g_{ab} K^{ib}">(Q, g, K);  // eq:none
  // expect: index stands twice on the left
  #elif CASE == 7
  eq<"D^a = A^a{}_a">(A);  // eq:none
  // expect: index is summed on the right and stands on the left as well
  #elif CASE == 8
  eq<"S^{ij} = Q^{ij} + K^{ji} - A^i{}_k Q^{kl}">(Q, K, A, Q);  // eq:none
  // expect: index occurs once on the right and not on the left
  #endif

  // equations that misuse a label
  #if CASE == 9
  eq<"s = Q^{(i)a} g_{ab} K^{(i)b}">(Q, g, K);  // eq:none
  // expect: a label is not summed, so it has to stand on the left
  #elif CASE == 10
  eq<"S^i = Q^{(i)a} g_{ab} K^{(i)b}">(Q, g, K);  // eq:none
  // expect: index is a label in one place and not in another
  #endif

  // texts that are no equations
  #if CASE == 11
  eq<"S^{ij} : Q^{ij}">(Q);  // eq:none
  // expect: the left side is not followed by =
  #elif CASE == 12
  eq<"S^{ij} = Q^{ij} / 2">(Q);  // eq:none
  // expect: cannot read this character
  #elif CASE == 13
  eq<"S^{ij} = Q^{IJ}">(Q);  // eq:none
  // expect: an index is a lower-case letter or a Greek command
  #elif CASE == 14
  eq<"S^{ij} = Q^{ij">(Q);  // eq:none
  // expect: a brace or parenthesis is not closed
  #elif CASE == 15
  eq<"S^{ij} = Q^{ij} +">(Q);  // eq:none
  // expect: a term has no factor
  #elif CASE == 16
  eq<"s = Q^{abcdefghi}">(Q);  // eq:none
  // expect: more than 8 slots, 6 factors or 8 terms
  #endif
  #if CASE == 28
  eq<"S^{(h i} = Q^{(h i}">(Q);  // eq:none
  // expect: a brace or parenthesis is not closed
  #elif CASE == 29
  eq<"S^{ij)} = Q^{ij)}">(Q);  // eq:none
  // expect: an index is a lower-case letter or a Greek command
  #elif CASE == 30
  const auto S = eq<R"(S^{ij} = Q^{ik} \cdot A^j{}_k)">(Q, A);  // eq:none
  // expect: sums and products are written without a sign
  #elif CASE == 31
  eq<"O^{ic} = A^i{}_j V^{jc}">(M, Q);  // eq:none
  // expect: a bare matrix is rows of vectors, up and up
  #endif

  // equations that do not fit their arguments
  #if CASE == 17
  eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g);  // eq:none
  // expect: as many arguments as factors
  #elif CASE == 18
  eq<"S^{ij} = Q^{ij} k^j">(Q, K);  // eq:none
  // expect: index is summed on the right and stands on the left as well
  #elif CASE == 19
  eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, K, g);  // eq:none
  // expect: an argument has a slot at another height than its factor
  #elif CASE == 20
  eq<"v^i = Q^{ia} g_a">(Q, g);  // eq:none
  // expect: an argument has not as many slots as its factor
  #elif CASE == 21
  eq<"S^{ij} = Q^{ij} + K^{ij}">(Q, Tensor<float, up, up>());  // eq:none
  // expect: all arguments must have the same scalar type
  #elif CASE == 22
  Q - g;
  // expect: use of deleted function
  #endif

  // equations whose arguments are no tensors
  #if CASE == 23
  eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(M, M, M);  // eq:none
  // expect: a bare matrix is rows of vectors, up and up
  #elif CASE == 24
  eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(2 * M, g, M);  // eq:none
  // expect: eq: an argument is no tensor
  #elif CASE == 25
  eq<"S^{ij} = x Q^{ij}">(x, Q);  // eq:none
  // expect: give a number x as Tensor<S>(x)
  #elif CASE == 26
  eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">("Q", g, nullptr);  // eq:none
  // expect: eq: an argument is no tensor
  #elif CASE == 27
  eq<"v^a = Q^{ia} g_{ab} K^{jb}">(M, 1.0, M);  // eq:none
  // expect: eq: an argument is no tensor
  #endif
}
