// include/attn/verify_multihead.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "attn/autodiff.hpp"
#include "attn/multihead.hpp"
#include "attn/quad.hpp"
#include "attn/verify_gradients.hpp"

namespace attn {
namespace detail {
// arrange the heads of a tracked matrix
/// Part number `which` of a's columns, d of them.
template <class = void>
Tracked columns(const Tracked& a, Index which, Index d) {
  return {a.value.middleCols(which * d, d), a.error.middleCols(which * d, d)};
}

template <class = void>
Tracked apart(const Tracked& a, Index R) {
  const Index n = a.value.rows() * R, d = a.value.cols() / R;
  return {a.value.reshaped<Eigen::RowMajor>(n, d),
          a.error.reshaped<Eigen::RowMajor>(n, d)};
}

template <class F>
Tracked across(Index parts, F part) {
  Tracked all = part(Index(0));
  const Index n = all.value.rows(), d = all.value.cols();
  all.value.conservativeResize(n, parts * d);
  all.error.conservativeResize(n, parts * d);
  for (Index k = 1; k < parts; ++k) {
    const Tracked one = part(k);
    all.value.middleCols(k * d, d) = one.value;
    all.error.middleCols(k * d, d) = one.error;
  }
  return all;
}

// track a projection and its bias
template <class S>
Tracked tracked_projection(const Tracked& X, const Matrix<double>& W,
                           const Vector<double>& b) {
  const Tracked y = tracked_product<S>(X, tracked_exactly(W));
  if (b.size() == 0) return y;
  return tracked_sum<S>(
      y, tracked_exactly(b.transpose().replicate(X.value.rows(), 1)));
}

template <class S>
Vector<double> bias_error(const Tracked& dY, const Vector<double>& b) {
  if (b.size() == 0) return {};
  return tracked_row_sums<S>(tracked_transpose(dY)).error.col(0);
}

// differentiate multi-head attention automatically
template <class T>
HeadGradient<T> autodiff_gradient(const MultiHead<T>& m, const Matrix<T>& X,
                                  const Matrix<T>& C, const Matrix<T>& bias,
                                  const Matrix<T>& dY) {
  // write the loss of a module
  const auto loss = [&](const auto& x, const auto& c, const auto&... w) {
    const MultiHead<Var<T>> v{m.heads, m.kv_heads, w...};
    const Matrix<Var<T>> Y = attend(v, x, c, lift<Var<T>>(bias));
    Var<T> sum(T(0));
    for (Index i = 0; i < Y.rows(); ++i)
      for (Index j = 0; j < Y.cols(); ++j) sum += Y(i, j) * dY(i, j);
    return sum;
  };
  HeadGradient<T> g;
  auto& w = g.weights;
  std::tie(g.X, g.C, w.W_Q, w.W_K, w.W_V, w.W_O, w.b_Q, w.b_K, w.b_V,
           w.b_O) = gradient(loss, X, C, m.W_Q, m.W_K, m.W_V, m.W_O, m.b_Q,
                             m.b_K, m.b_V, m.b_O);
  return g;
}
}  // namespace detail

// bound the errors of a layer
/// Componentwise bounds on the errors of multihead_forward's Y and of
/// multihead_vjp computed in S (thm. backward-rounding's rules), or with
/// another form of the softmax's gradient; those of scores are not kept.
struct HeadErrors {
  Matrix<double> Y;
  HeadGradient<double> gradient;
};

namespace detail {
template <class S>
HeadErrors head_errors(const MultiHead<double>& m, const Matrix<double>& X,
                       const Matrix<double>& C, const Matrix<double>& bias,
                       const Matrix<double>& dY,
                       const std::vector<Index>& key,
                       SoftmaxPullback how) {
  const Tracked w = tracked_exactly(dY);

  // track the forward pass of the heads
  const Index H = m.heads, G = m.kv_heads, R = m.group(), k = m.d_k(),
              v = m.d_v(), n_k = C.rows();
  const double scale = 1 / std::sqrt(double(k));
  const Tracked x = tracked_exactly(X), c = tracked_exactly(C);
  const Tracked Q = tracked_multiple<S>(
      scale, tracked_projection<S>(x, m.W_Q, m.b_Q), 2);
  const Tracked K = tracked_projection<S>(c, m.W_K, m.b_K);
  const Tracked V = tracked_projection<S>(c, m.W_V, m.b_V);
  const Tracked A = across(H, [&](Index h) {
    return tracked_gibbs<S>(
        tracked_scores<S>(columns(Q, h, k), columns(K, h / R, k), bias), 1);
  });
  const Tracked O = across(H, [&](Index h) {
    return tracked_product<S>(columns(A, h, n_k), columns(V, h / R, v));
  });
  const Tracked Y = tracked_projection<S>(O, m.W_O, m.b_O);

  // track the cotangents of the scores
  const Tracked dO =
      tracked_product<S>(w, tracked_exactly(m.W_O.transpose()));
  const Tracked dS = across(H, [&](Index h) {
    const Tracked a = columns(A, h, n_k), d = columns(dO, h, v);
    const Tracked dA =
        tracked_product<S>(d, tracked_transpose(columns(V, h / R, v)));
    if (how == SoftmaxPullback::fused)
      return tracked_centred<S>(a, dA, tracked_dots<S>(d, columns(O, h, v)));
    const auto at = key.begin() + h * X.rows();
    return tracked_lower<S>(a, dA, {at, at + X.rows()});
  });

  // track the cotangents of queries, keys and values
  const auto onto_keys = [&](const Tracked& W, const Tracked& y, Index d) {
    return across(G, [&](Index s) {
      return tracked_product<S>(
          tracked_transpose(apart(columns(W, s, R * n_k), R)),
          apart(columns(y, s, R * d), R));
    });
  };
  const Tracked dK = onto_keys(dS, Q, k), dV = onto_keys(A, dO, v);
  const Tracked dQ = tracked_multiple<S>(scale, across(H, [&](Index h) {
    return tracked_product<S>(columns(dS, h, n_k), columns(K, h / R, k));
  }), 2);
  HeadErrors e{Y.error, {}};

  // bound the gradients of inputs and weights
  const auto back = [&](const Tracked& d, const Matrix<double>& W) {
    return tracked_product<S>(d, tracked_exactly(W.transpose()));
  };
  const auto weight = [&](const Tracked& y, const Tracked& d) {
    return tracked_product<S>(tracked_transpose(y), d).error;
  };
  e.gradient.X = back(dQ, m.W_Q).error;
  e.gradient.C =
      tracked_sum<S>(back(dK, m.W_K), back(dV, m.W_V)).error;
  e.gradient.weights = {
      m.heads, m.kv_heads, weight(x, dQ), weight(c, dK), weight(c, dV),
      weight(O, w), bias_error<S>(dQ, m.b_Q),
      bias_error<S>(dK, m.b_K), bias_error<S>(dV, m.b_V),
      bias_error<S>(w, m.b_O)};
  return e;
}
}  // namespace detail

/// The bounds above for these inputs; dY n_q x D_o.  Throws as
/// multihead_vjp, and std::domain_error if an extent is too large for S.
template <class S>
HeadErrors multihead_errors(
    const MultiHead<S>& m, const Input<S>& X, const Input<S>& C,
    const Input<S>& dY, const Input<S>& bias = Matrix<S>(),
    SoftmaxPullback how = SoftmaxPullback::gauge_fixed) {
  const auto t = multihead_forward(m, X, C, bias);
  detail::require_cotangent<S>("multihead_errors", m, X, C, t, dY);
  std::vector<Index> key(std::size_t(m.heads * X.rows()), -1);
  if (how == SoftmaxPullback::gauge_fixed)
    key = heaviest_keys<S>(stacked(t.A));
  return detail::head_errors<S>(lifted<double>(m), lift<double>(X),
                                lift<double>(C), lift<double>(bias),
                                lift<double>(dY), key, how);
}
namespace detail {
// take the widest bounds of a layer
template <class S>
HeadGradient<double> widest_errors(const MultiHead<S>& m,
                                   const Matrix<S>& X, const Matrix<S>& C,
                                   const Matrix<S>& dY,
                                   const Matrix<S>& bias) {
  using enum SoftmaxPullback;
  auto e = multihead_errors<S>(m, X, C, dY, bias).gradient;
  for (const SoftmaxPullback how : {textbook, fused}) {
    const auto f = multihead_errors<S>(m, X, C, dY, bias, how).gradient;
    e.X = e.X.cwiseMax(f.X).eval(), e.C = e.C.cwiseMax(f.C).eval();
    for_each_weight([](auto, auto& a, const auto& b) {
      a = a.cwiseMax(b).eval();
    }, e.weights, f.weights);
  }
  return e;
}
}  // namespace detail

// verify the gradient of a layer
/// Compares a candidate gradient of <dY, Y> at (m, X, C, bias) with the
/// truth, entry by entry within the widest of the bounds for three forms
/// of the softmax's gradient, and the truth with reverse-mode autodiff;
/// two lines for each of X, C and the weights that are not empty.
/// Throws std::invalid_argument for shapes that do not fit, and
/// std::domain_error unless X, C and dY are finite.
template <class S>
GradientReport verify_multihead(const MultiHead<S>& m, const Input<S>& X,
                                const Input<S>& C, const Input<S>& dY,
                                const HeadGradient<S>& candidate,
                                const Input<S>& bias = Matrix<S>()) {
  // refuse what cannot be verified
  require_domain(X.allFinite() && C.allFinite() && dY.allFinite(),
                 "verify_multihead: X, C and dY must be finite");
  const auto like = [](const std::string& name, const auto& g, const auto& w) {
    require(g.rows() == w.rows() && g.cols() == w.cols(),
            "verify_multihead: gradient of ", name, " is ", shape(g),
            ", expected ", shape(w));
  };
  like("X", candidate.X, X);
  like("C", candidate.C, C);
  for_each_weight(like, candidate.weights, m);

  // compute the true gradient twice
  const auto exact = lifted<quad>(m);
  const Matrix<quad> x = lift<quad>(X), c = lift<quad>(C), w = lift<quad>(dY),
                     B = lift<quad>(bias);
  const auto truth = multihead_vjp<quad>(
      exact, x, c, multihead_forward<quad>(exact, x, c, B), w);
  const auto tape = detail::autodiff_gradient<quad>(exact, x, c, B, w);
  GradientReport report;

  // hold the gradients against their bounds
  const auto bound = detail::widest_errors<S>(m, X, C, dY, bias);
  const auto loose = detail::widest_errors<double>(
      lifted<double>(m), lift<double>(X), lift<double>(C), lift<double>(dY),
      lift<double>(bias));
  const double u = 4 * unit_roundoff<quad>() / unit_roundoff<double>();

  // compare one matrix twice
  const auto compare = [&](const std::string& name, const auto& g,
                           const auto& t, const auto& r, const auto& e,
                           const auto& l) {
    if (t.size() == 0) return;
    report.checks.push_back(detail::compare_parts(
        name + ", arithmetic", lift<quad>(g), Matrix<quad>(t), e));
    report.checks.push_back(detail::compare_parts(
        name + ", reverse mode", Matrix<quad>(t), Matrix<quad>(r), u * l));
  };
  compare("X", candidate.X, truth.X, tape.X, bound.X, loose.X);
  compare("C", candidate.C, truth.C, tape.C, bound.C, loose.C);
  for_each_weight(compare, candidate.weights, truth.weights, tape.weights,
                  bound.weights, loose.weights);
  return report;
}

/// The same for multihead_vjp and a random cotangent.
template <class S>
GradientReport verify_multihead(const MultiHead<S>& m, const Input<S>& X,
                                const Input<S>& C,
                                const Input<S>& bias = Matrix<S>(),
                                std::uint64_t seed = 0x5eed) {
  const auto t = multihead_forward(m, X, C, bias);
  const Matrix<S> dY = gaussian<S>(t.Y.rows(), t.Y.cols(), seed, "dY");
  return verify_multihead<S>(m, X, C, dY, multihead_vjp(m, X, C, t, dY),
                             bias);
}
}  // namespace attn
