// tests/doors_test.cpp: tangled from chapters/10a-doors-checks.nw; edit that file, not this one.
// flags: -Ibuild/src/c -pthread -ldl -Wl,-rpath,$ORIGIN/../../c
#include "prelude.hpp"
#include "verify.hpp"

// include what the doors are held against
#include "attn.h"
#include "attn/flash.hpp"
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include <cstring>

#if defined(__x86_64__)
static const char* const oldest = "sse2";
#else
static const char* const oldest = "generic";
#endif
#include "attn/fisher.hpp"
#include "attn/hopfield.hpp"
#include "attn/linear.hpp"
#include "attn/positions.hpp"
#include "attn/thermodynamics.hpp"
#include <fstream>

namespace attn {
// show a matrix to C
template <class T>
constexpr int type_of = std::is_same_v<T, double>   ? ATTN_F64
                        : std::is_same_v<T, float>  ? ATTN_F32
                                                    : ATTN_B8;
template <class T>
attn_view seen(const Matrix<T>& m) {
  return {const_cast<T*>(m.data()), type_of<T>, 2, {m.rows(), m.cols()},
          {m.cols(), 1}};
}
template <class T>
attn_view seen(const Vector<T>& v) {
  return {const_cast<T*>(v.data()), type_of<T>, 1, {v.size()}, {1}};
}
/// Demands success; shows the message of a failure.
inline void succeeds(int code) {
  BOOST_TEST(code == ATTN_OK, attn_message());
}
template <class A, class B>
void same_bits(const A& a, const B& b) {
  require(a.rows() == b.rows() && a.cols() == b.cols(), "same_bits");
  const auto n = std::size_t(a.size()) * sizeof(typename A::Scalar);
  const bool same = n == 0 || std::memcmp(a.data(), b.data(), n) == 0;
  verify(same ? 0 : 1, 0);
}
BOOST_AUTO_TEST_SUITE(doors)

// hold functions against the library
BOOST_AUTO_TEST_CASE(scores_and_gibbs_are_the_library) {
  for (std::uint64_t s = 1; s < 20; ++s) {
    const Index n = Index(s % 5), m = Index(s % 7) + 1, d = 1 + Index(s % 4);
    const auto Q = gaussian<double>(n, d, s, "Q");
    const auto K = gaussian<double>(m, d, s, "K");
    const auto W = gaussian<double>(d + 2, d, s, "W");
    const Matrix<double> g = W.transpose() * W;
    Matrix<double> S(n, m), A(n, m);
    const auto q = seen(Q), k = seen(K), G = seen(g), to = seen(S);
    succeeds(attn_scores(&q, &k, nullptr, &to));
    same_bits(S, scores(Q, K));
    succeeds(attn_scores(&q, &k, &G, &to));
    same_bits(S, scores(Q, K, Metric<double>::full(g)));
    const Vector<double> diagonal = g.diagonal();
    const auto D = seen(diagonal);
    succeeds(attn_scores(&q, &k, &D, &to));
    same_bits(S, scores(Q, K, Metric<double>::diagonal(diagonal)));

    // hold Gibbs quantities against the library
    if (n > 0) S(n - 1, 0) = -HUGE_VAL;
    Vector<double> Z(n), H(n), F(n), M(n);
    const auto a = seen(A), z = seen(Z), h = seen(H), f = seen(F), e = seen(M);
    succeeds(attn_gibbs(&to, 0.7, &a, &z, &h, &f, &e));
    same_bits(A, gibbs(S, 0.7));
    same_bits(Z, log_partition(S, 0.7));
    same_bits(H, gibbs_entropy(S, 0.7));
    same_bits(F, free_energy(S, 0.7));
    same_bits(M, effective_states(gibbs(S, 0.7)));
  }
}
BOOST_AUTO_TEST_CASE(geometry_and_memories_are_the_library) {
  for (std::uint64_t s = 1; s < 12; ++s) {
    const Index n = Index(s % 5) + 1, m = Index(s % 7) + 1, d = 3;
    const auto A = gibbs(gaussian<double>(n, m, s, "S"));
    const auto v = gaussian<double>(n, m, s, "v");
    const auto X = gaussian<double>(n, d, s, "X");
    const auto K = gaussian<double>(m, d, s, "K");
    Matrix<double> U(n, m), Y(n, d);
    Vector<double> E(n);
    const auto a = seen(A), x = seen(v), u = seen(U);
    const auto p = seen(X), k = seen(K), y = seen(Y), e = seen(E);
    succeeds(attn_fisher_times(&a, &x, 0.5, &u));
    for (Index i = 0; i < n; ++i)
      same_bits(Vector<double>(U.row(i)),
                fisher_times<double>(A.row(i), v.row(i), 0.5));
    succeeds(attn_natural_gradient(&a, &x, 0.5, &u));
    same_bits(U, natural_gradient<double>(A, v, 0.5));
    succeeds(attn_hopfield_update(&p, &k, 2, nullptr, &y));
    same_bits(Y, hopfield_update(X, K, 2.0));
    succeeds(attn_hopfield_energy(&p, &k, 2, nullptr, &e));
    same_bits(E, hopfield_energy(X, K, 2.0));

    // hold memories in a metric against the library
    const auto W = gaussian<double>(d + 2, d, s, "W");
    const Matrix<double> g = W.transpose() * W;
    const auto metric = Metric<double>::full(g);
    const auto G = seen(g);
    succeeds(attn_hopfield_update(&p, &k, 2, &G, &y));
    same_bits(Y, hopfield_update(X, K, 2.0, metric));
    succeeds(attn_hopfield_energy(&p, &k, 2, &G, &e));
    same_bits(E, hopfield_energy(X, K, 2.0, metric));
  }
}
BOOST_AUTO_TEST_CASE(linear_attention_is_the_library) {
  for (const int causal : {0, 1}) {
    const Index n = 70, r = 5, e = 4;
    const Matrix<double> Phi = gaussian<double>(n, r, 1, "Q").cwiseAbs();
    const Matrix<double> Psi = gaussian<double>(n, r, 1, "K").cwiseAbs();
    const auto V = gaussian<double>(n, e, 1, "V");
    const auto dO = gaussian<double>(n, e, 1, "dO");
    Matrix<double> O(n, e), dPhi(n, r), dPsi(n, r), dV(n, e);
    const auto f = seen(Phi), p = seen(Psi), v = seen(V), o = seen(O);
    const auto c = seen(dO), a = seen(dPhi), b = seen(dPsi), w = seen(dV);
    succeeds(attn_linear_attention(&f, &p, &v, causal, &o));
    same_bits(O, causal ? causal_linear_attention(Phi, Psi, V)
                        : linear_attention(Phi, Psi, V));
    succeeds(attn_linear_attention_vjp(&f, &p, &v, causal, &c, &a, &b, &w));
    const auto g = causal ? causal_linear_attention_vjp(Phi, Psi, V, dO)
                          : linear_attention_vjp(Phi, Psi, V, dO);
    same_bits(dPhi, g.Phi), same_bits(dPsi, g.Psi), same_bits(dV, g.V);
  }
}
BOOST_AUTO_TEST_CASE(rotations_are_the_library) {
  const Index n = 9, d = 7;
  for (const Index w : {0, 2, 3}) for (const int halves : {0, 1}) {
    const auto X = gaussian<double>(n, d, 1, "X");
    Vector<double> at(n);
    std::vector<Index> ids;
    for (Index i = 0; i < n; ++i)
      ids.push_back(i * i - 20), at(i) = double(ids.back());
    const Rotary<double> R{frequencies<double>(2 * w, 500),
                           halves ? Pairs::halves : Pairs::neighbours,
                           d - 2 * w};
    const auto t = rotations(R, Places(ids));
    Matrix<double> C(n, w), S(n, w), Y(n, d);
    const auto p = seen(at), c = seen(C), s = seen(S), x = seen(X);
    const auto y = seen(Y);
    succeeds(attn_rotations(&p, 500, &c, &s));
    same_bits(C, t.cos), same_bits(S, t.sin);
    succeeds(attn_rotate(&x, &c, &s, halves, 0, &y));
    same_bits(Y, rotate<double>(X, t));
    succeeds(attn_rotate(&y, &c, &s, halves, 1, &y));
    same_bits(Y, rotate<double>(rotate<double>(X, t), t, true));

    // rotate where the tables are shared
    const auto Z = gaussian<float>(2 * n, d, 1, "Z");
    Matrix<float> to(2 * n, d);
    const Matrix<float> c4 = C.cast<float>(), s4 = S.cast<float>();
    const auto c1 = seen(c4), s1 = seen(s4);
    const auto heads = [&](const Matrix<float>& m) {
      return attn_view{const_cast<float*>(m.data()) + (n - 1) * d, ATTN_F32, 3,
                       {2, n, d}, {n * d, -d, 1}};
    };
    const auto z = heads(Z), o = heads(to);
    succeeds(attn_rotate(&z, &c1, &s1, halves, 0, &o));
    const Rotations<double> one{R.pairs, R.fixed, c4.cast<double>(),
                                s4.cast<double>()};
    for (const Index h : {0, 1}) {
      const Matrix<double> rows =
          Z.middleRows(h * n, n).colwise().reverse().cast<double>();
      const Matrix<double> turned = rotate<double>(rows, one);
      same_bits(Matrix<float>(to.middleRows(h * n, n).colwise().reverse()),
                Matrix<float>(turned.cast<float>()));
    }
  }
}
BOOST_AUTO_TEST_CASE(equations_are_judged) {
  std::ifstream file("build/src/include/attn/einsum.hpp");
  std::stringstream header;
  header << file.rdbuf();
  std::string text = header.str();
  std::vector<std::string> said;
  for (auto at = text.find("static_assert(f != "); at != text.npos;
       at = text.find("static_assert(f != ", at + 1)) {
    std::string& sentence = said.emplace_back();

    // gather the literals of an assertion
    const auto end = text.find(";\n", at);
    for (auto from = text.find('"', at); from < end;) {
      const auto to = text.find('"', from + 1);
      sentence += text.substr(from + 1, to - from - 1);
      from = text.find('"', to + 1);
    }
  }
  const char* wrong[] = {
      "S^i", "S^i = $", "S^{i1} = v^i", "S^i = \\sum_a v^i", "S^{(i} = v^i",
      "S^i = ", "S = v^{abcdefghi}", "S^{ij} = Q^{ia} K^{ja}",
      "S = Q^a K_a R^a", "S^i = Q^i K_i", "S^i = Q^{ia}", "S_i = Q^i",
      "S^{ij} = Q^i", "S^{ii} = Q^i", "S = Q^{(h)}", "S^{(h)} = Q^h"};
  BOOST_TEST(said.size() == std::size(wrong));
  char program[1024];
  for (std::size_t k = 0; k < std::min(said.size(), std::size(wrong)); ++k) {
    BOOST_TEST(attn_subscripts(wrong[k], program, 1024) == ATTN_ARGUMENT);
    const std::string message = attn_message();
    verify(message.substr(0, said[k].size()) != said[k], 0);
  }

  // turn right equations into plans
  const auto plan = [&](const char* equation, std::int64_t room) {
    program[0] = '\0';
    return attn_subscripts(equation, program, room) == ATTN_OK
               ? std::string(program) : std::string("refused");
  };
  const char* scores = "S^{ij} = Q^{ia} g_{ab} K^{jb}";
  BOOST_TEST(plan(scores, 1024) == "1 ia,ab,jb->ij\n");
  BOOST_TEST(plan(scores, 16) == "1 ia,ab,jb->ij\n");
  BOOST_TEST(plan(scores, 15) == "refused");
  BOOST_TEST(plan("x^{\\mu(h)} = -\\tfrac{1}{2} A^{\\mu(h)}{}_\\nu y^\\nu"
                  " + 3 z^{\\mu(h)}", 1024) ==
             "-1/2 LhM,M->Lh\n3 Lh->Lh\n");
  BOOST_TEST(plan(std::string(1025, ' ').c_str(), 1024) == "refused");
}
BOOST_AUTO_TEST_SUITE_END()
}  // namespace attn
