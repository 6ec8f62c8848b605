// tests/multihead_rounding_test.cpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/multihead.hpp"
#include "attn/rounding.hpp"
using namespace attn;

// draw modules and inputs for the checks
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
  const Index n = Index(1 + seed % 5), c = n + Index(seed % 3);
  Setting<double> s;
  s.m = xavier<double>(shapes[k], 10 * seed);
  for_each_weight([&](std::string name, auto& w) {
    if (name[0] == 'b') w = 0.5 * gaussian<double>(w.size(), 1, seed + 5);
  }, s.m);
  s.X = gaussian<double>(n, s.m.W_Q.rows(), seed + 6);
  s.C = gaussian<double>(c, s.m.W_K.rows(), seed + 7);
  if (seed % 2) s.bias = causal_bias<double>(n, c);
  return {lifted<S>(s.m), lift<S>(s.X), lift<S>(s.C), lift<S>(s.bias)};
}
// propagate bounds through matrix operations
/// A matrix and a bound on the error of each of its entries, when computed
/// in the arithmetic of S.
template <class S>
struct Approx {
  Matrix<double> x, e;
  Approx(const Matrix<double>& exact)
      : x(exact), e(Matrix<double>::Zero(exact.rows(), exact.cols())) {}
  Approx(const Matrix<double>& value, const Matrix<double>& error)
      : x(value), e(error) {}
};
/// One rounding of each entry of y, after errors e.
template <class S>
Approx<S> rounded(const Matrix<double>& y, const Matrix<double>& e) {
  return {y, (1 + 0x1p-20) * (e + unit_roundoff<S>() * (y.cwiseAbs() + e))};
}
template <class S>
Approx<S> operator+(const Approx<S>& a, const Approx<S>& b) {
  return rounded<S>(a.x + b.x, a.e + b.e);
}
// propagate bounds through matrix operations
template <class S>
Approx<S> operator*(const Approx<S>& a, const Approx<S>& b) {
  const Matrix<double> A = a.x.cwiseAbs() + a.e, B = b.x.cwiseAbs() + b.e;
  return {a.x * b.x, (1 + 0x1p-20) * (a.e * B + A * b.e +
                     gamma(a.x.cols() + 2, unit_roundoff<S>()) * A * B)};
}
template <class S>
Approx<S> each_times(const Approx<S>& a, const Approx<S>& b) {
  const Matrix<double> A = a.x.cwiseAbs() + a.e;
  return rounded<S>(a.x.cwiseProduct(b.x), a.e.cwiseProduct(b.x.cwiseAbs()) +
                                               A.cwiseProduct(b.e));
}
template <class S>
Approx<S> transposed(const Approx<S>& a) {
  return {a.x.transpose(), a.e.transpose()};
}
template <class S>
Approx<S> columns(const Approx<S>& a, Index from, Index n) {
  return {a.x.middleCols(from, n), a.e.middleCols(from, n)};
}
template <class S>
Approx<S> scaled(const Approx<S>& a, double s) {  // by an inexact s
  return rounded<S>(s * a.x, 3 * unit_roundoff<S>() * s * a.x.cwiseAbs() +
                                 s * a.e);
}
// propagate bounds through matrix operations
/// One head, given its projections: weights and bound.
template <class S>
Approx<S> weights(const Approx<S>& Q, const Approx<S>& K,
                  const Matrix<double>& bias) {
  Approx<S> s = Q * transposed(K);
  if (bias.size()) s = s + Approx<S>(bias);
  return {lift<double>(attn::gibbs(lift<quad>(s.x))),
          softmax_bound<S>(s.x, s.e)};
}
template <class S>
Approx<S> projected(const Matrix<double>& X, const Matrix<double>& W,
                    const Vector<double>& b) {
  const Approx<S> y = Approx<S>(X) * Approx<S>(W);
  return b.size() == 0 ? y : y + Approx<S>(Vector<double>::Ones(X.rows()) *
                                           b.transpose());
}
// propagate bounds through one head's softmax
/// Bounds for fisher_lower.
template <class S>
Approx<S> lowered(const Approx<S>& A, const Approx<S>& dA) {
  Approx<S> c = dA;
  for (Index i = 0; i < A.x.rows() && A.x.cols() > 0; ++i) {
    const Index top = heaviest_key(A.x, i);
    c.x.row(i).setConstant(-dA.x(i, top));
    c.e.row(i).setConstant(dA.e.row(i).maxCoeff());
  }
  const Approx<S> D = dA + c, P = each_times(A, D);
  const Approx<S> one(Matrix<double>::Ones(A.x.cols(), A.x.cols()));
  const Approx<S> mean = P * one;
  return each_times(A, D + Approx<S>(-mean.x, mean.e));
}
// propagate bounds through the backward pass
template <class S>
struct GradientBound {
  Approx<S> X, C, W_Q, W_K, W_V, W_O;
};
template <class S>
GradientBound<S> gradient_bound(const MultiHead<double>& m,
                                const Matrix<double>& X,
                                const Matrix<double>& C,
                                const Matrix<double>& bias,
                                const Matrix<double>& dY) {
  using A_ = Approx<S>;
  const auto zero = [](const auto& M) {
    return A_(Matrix<double>::Zero(M.rows(), M.cols()));
  };
// propagate bounds through the backward pass
  const Index k = m.d_k(), v = m.d_v();
  const double s = 1 / std::sqrt(double(k));
  const A_ Q = scaled(projected<S>(X, m.W_Q, m.b_Q), s);
  const A_ K = projected<S>(C, m.W_K, m.b_K);
  const A_ V = projected<S>(C, m.W_V, m.b_V);
  const A_ dO = A_(dY) * A_(m.W_O.transpose());
  A_ O = zero(dO.x), dQ = zero(Q.x), dK = zero(K.x), dV = zero(V.x);
  for (Index h = 0; h < m.heads; ++h) {
    // add the bounds of one head
    const Index g = h / m.group();
    const A_ Vg = columns(V, g * v, v), Kg = columns(K, g * k, k);
    const A_ Qh = columns(Q, h * k, k), dOh = columns(dO, h * v, v);
    const A_ A = weights(Qh, Kg, bias);
    const A_ dS = lowered(A, dOh * transposed(Vg));
    const auto put = [](A_& to, Index at, const A_& y) {
      const A_ sum = columns(to, at, y.x.cols()) + y;
      to.x.middleCols(at, y.x.cols()) = sum.x;
      to.e.middleCols(at, y.x.cols()) = sum.e;
    };
    put(O, h * v, A * Vg);
    put(dV, g * v, transposed(A) * dOh);
    put(dQ, h * k, scaled(dS * Kg, s));
    put(dK, g * k, transposed(dS) * Qh);
  }
  const A_ Xt(X.transpose()), Ct(C.transpose());
  return {dQ * A_(m.W_Q.transpose()),
          dK * A_(m.W_K.transpose()) + dV * A_(m.W_V.transpose()),
          Xt * dQ, Ct * dK, Ct * dV, transposed(O) * A_(dY)};
}
BOOST_AUTO_TEST_SUITE(multihead)
// check the forward pass against its bound
template <class S>
void forward_within_bound(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto s = setting<S>(seed);
    const auto t = setting<double>(seed);
    const MultiHead<double> m = lifted<double>(s.m);
    const Index k = m.d_k(), v = m.d_v(), n = s.X.rows();
    const Matrix<double> X = lift<double>(s.X), C = lift<double>(s.C);
    const auto Q = scaled(projected<S>(X, m.W_Q, m.b_Q),
                          1 / std::sqrt(double(k)));
    const auto K = projected<S>(C, m.W_K, m.b_K);
    const auto V = projected<S>(C, m.W_V, m.b_V);
    Approx<S> O(Matrix<double>::Zero(n, m.heads * v));
    for (Index h = 0; h < m.heads; ++h) {
      const Index g = h / m.group();
      const auto A = weights(columns(Q, h * k, k), columns(K, g * k, k),
                             t.bias);
      const auto o = A * columns(V, g * v, v);
      O.x.middleCols(h * v, v) = o.x;
      O.e.middleCols(h * v, v) = o.e;
    }
    Approx<S> Y = O * Approx<S>(m.W_O);
    // compare the result with truth and bound
    if (m.b_O.size())
      Y = Y + Approx<S>(Vector<double>::Ones(n) * m.b_O.transpose());
    verify(attend(s.m, s.X, s.C, s.bias),
           attend(lifted<quad>(s.m), lift<quad>(s.X), lift<quad>(s.C),
                     lift<quad>(s.bias)),
           Y.e);
  }
}
// check the forward pass against its bound
BOOST_AUTO_TEST_CASE(forward_in_double) { forward_within_bound<double>(60); }
BOOST_AUTO_TEST_CASE(forward_in_float) { forward_within_bound<float>(60); }
// check the gradients against their bounds
template <class S>
void gradients_within_bound(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto s = setting<S>(seed);
    const Matrix<S> dY = gaussian<S>(s.X.rows(), s.m.W_O.cols(), seed);
    const auto g = multihead_vjp(
        s.m, s.X, s.C, multihead_forward(s.m, s.X, s.C, s.bias), dY);
    const auto m = lifted<quad>(s.m);
    const Matrix<quad> X = lift<quad>(s.X), C = lift<quad>(s.C);
    const auto t = multihead_vjp(
        m, X, C, multihead_forward(m, X, C, lift<quad>(s.bias)),
        lift<quad>(dY));
// check the gradients against their bounds
    const auto b = gradient_bound<S>(
        lifted<double>(s.m), lift<double>(s.X), lift<double>(s.C),
        lift<double>(s.bias), lift<double>(dY));
    verify(g.X, t.X, b.X.e);
    verify(g.C, t.C, b.C.e);
    verify(g.weights.W_Q, t.weights.W_Q, b.W_Q.e);
    verify(g.weights.W_K, t.weights.W_K, b.W_K.e);
    verify(g.weights.W_V, t.weights.W_V, b.W_V.e);
    verify(g.weights.W_O, t.weights.W_O, b.W_O.e);
  }
}
BOOST_AUTO_TEST_CASE(gradients_in_double) {
  gradients_within_bound<double>(60);
}
BOOST_AUTO_TEST_CASE(gradients_in_float) {
  gradients_within_bound<float>(60);
}
BOOST_AUTO_TEST_SUITE_END()
