// tests/multihead_rounding_test.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/multihead.hpp"
#include "attn/verify_gradients.hpp"
#include "modules.hpp"
using namespace attn;

// track the parts of a head
/// n columns, errors and all.
Tracked columns(const Tracked& a, Index from, Index n) {
  return {a.value.middleCols(from, n), a.error.middleCols(from, n)};
}
/// The same row added to every row, unless it is empty.
template <class S>
Tracked shifted(const Tracked& a, const Vector<double>& b) {
  if (b.size() == 0) return a;
  return tracked_sum<S>(
      a, tracked_exactly(b.transpose().replicate(a.value.rows(), 1)));
}
template <class S>
Tracked projected(const Matrix<double>& X, const Matrix<double>& W,
                  const Vector<double>& b) {
  return shifted<S>(
      tracked_product<S>(tracked_exactly(X), tracked_exactly(W)), b);
}

// track the gradients of all weights
struct TrackedGradients {
  Tracked X, C, W_Q, W_K, W_V, W_O;
};
template <class S>
TrackedGradients tracked_gradients(
    const MultiHead<double>& m, const Matrix<double>& X,
    const Matrix<double>& C, const Matrix<double>& bias,
    const Matrix<double>& dY, const std::vector<Index>& key) {
  const auto product = [](const Tracked& a, const Tracked& b) {
    return tracked_product<S>(a, b);
  };
  const auto exact = [](const auto& a) { return tracked_exactly(a); };
  const auto t = [](const Tracked& a) { return tracked_transpose(a); };
  const Index k = m.d_k(), v = m.d_v(), n = X.rows();
  const double s = 1 / std::sqrt(double(k));
  const Tracked Q =
      tracked_multiple<S>(s, projected<S>(X, m.W_Q, m.b_Q), 2);
  const Tracked K = projected<S>(C, m.W_K, m.b_K);
  const Tracked V = projected<S>(C, m.W_V, m.b_V);
  const Tracked dO = product(exact(dY), exact(m.W_O.transpose()));
  Tracked O = exact(0 * dO.value), dQ = exact(0 * Q.value);
  Tracked dK = exact(0 * K.value), dV = exact(0 * V.value);
  for (Index h = 0; h < m.heads; ++h) {
    // track the gradients of one head
    const Index g = h / m.group();
    const Tracked Vg = columns(V, g * v, v), Kg = columns(K, g * k, k);
    const Tracked Qh = columns(Q, h * k, k), dOh = columns(dO, h * v, v);
    const Tracked A = tracked_gibbs<S>(tracked_scores<S>(Qh, Kg, bias), 1);
    const Tracked dS = tracked_lower<S>(
        A, product(dOh, t(Vg)),
        {key.begin() + h * n, key.begin() + (h + 1) * n});
    const auto put = [](Tracked& to, Index at, const Tracked& y) {
      const Index width = y.value.cols();
      const Tracked sum = tracked_sum<S>(columns(to, at, width), y);
      to.value.middleCols(at, width) = sum.value;
      to.error.middleCols(at, width) = sum.error;
    };
    put(O, h * v, product(A, Vg));
    put(dV, g * v, product(t(A), dOh));
    put(dQ, h * k, tracked_multiple<S>(s, product(dS, Kg), 2));
    put(dK, g * k, product(t(dS), Qh));
  }
  return {product(dQ, exact(m.W_Q.transpose())),
          tracked_sum<S>(product(dK, exact(m.W_K.transpose())),
                         product(dV, exact(m.W_V.transpose()))),
          product(exact(X.transpose()), dQ),
          product(exact(C.transpose()), dK),
          product(exact(C.transpose()), dV), product(t(O), exact(dY))};
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
    const Tracked Q = tracked_multiple<S>(
        1 / std::sqrt(double(k)), projected<S>(X, m.W_Q, m.b_Q), 2);
    const Tracked K = projected<S>(C, m.W_K, m.b_K);
    const Tracked V = projected<S>(C, m.W_V, m.b_V);
    Tracked O = tracked_exactly(Matrix<double>::Zero(n, m.heads * v));

    // track the output of every head
    for (Index h = 0; h < m.heads; ++h) {
      const Index g = h / m.group();
      const Tracked A = tracked_gibbs<S>(
          tracked_scores<S>(columns(Q, h * k, k), columns(K, g * k, k), t.bias),
          1);
      const Tracked o = tracked_product<S>(A, columns(V, g * v, v));
      O.value.middleCols(h * v, v) = o.value;
      O.error.middleCols(h * v, v) = o.error;
    }
    const Tracked Y = shifted<S>(
        tracked_product<S>(O, tracked_exactly(m.W_O)), m.b_O);
    verify(attend(s.m, s.X, s.C, s.bias),
           attend(lifted<quad>(s.m), lift<quad>(s.X), lift<quad>(s.C),
                  lift<quad>(s.bias)),
           Y.error);
  }
}
BOOST_AUTO_TEST_CASE(forward_in_double) { forward_within_bound<double>(60); }
BOOST_AUTO_TEST_CASE(forward_in_float) { forward_within_bound<float>(60); }

// check the gradients against their bounds
template <class S>
void gradients_within_bound(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto s = setting<S>(seed);
    const Matrix<S> dY = gaussian<S>(s.X.rows(), s.m.W_O.cols(), seed);
    const auto f = multihead_forward(s.m, s.X, s.C, s.bias);
    const auto g = multihead_vjp(s.m, s.X, s.C, f, dY);
    const auto m = lifted<quad>(s.m);
    const Matrix<quad> X = lift<quad>(s.X), C = lift<quad>(s.C);
    const auto t = multihead_vjp(
        m, X, C, multihead_forward(m, X, C, lift<quad>(s.bias)),
        lift<quad>(dY));
    const auto b = tracked_gradients<S>(
        lifted<double>(s.m), lift<double>(s.X), lift<double>(s.C),
        lift<double>(s.bias), lift<double>(dY),
        heaviest_keys<S>(stacked(f.A)));
    verify(g.X, t.X, b.X.error);
    verify(g.C, t.C, b.C.error);
    verify(g.weights.W_Q, t.weights.W_Q, b.W_Q.error);
    verify(g.weights.W_K, t.weights.W_K, b.W_K.error);
    verify(g.weights.W_V, t.weights.W_V, b.W_V.error);
    verify(g.weights.W_O, t.weights.W_O, b.W_O.error);
  }
}
BOOST_AUTO_TEST_CASE(gradients_in_double) {
  gradients_within_bound<double>(60);
}
BOOST_AUTO_TEST_CASE(gradients_in_float) {
  gradients_within_bound<float>(60);
}
BOOST_AUTO_TEST_SUITE_END()
