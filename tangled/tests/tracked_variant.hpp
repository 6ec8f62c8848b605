// tests/tracked_variant.hpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#pragma once
#include "literal_variant.hpp"
#include "attn/verify_gradients.hpp"

namespace variants {
// track a variant
/// A map that copies entries.
template <class F>
Tracked tracked_copy(const Tracked& y, F f) {
  return {f(y.value), f(y.error)};
}
/// A linear map with nonnegative coefficients, computed in k roundings.
template <class S, class F>
Tracked tracked_map(const Tracked& y, Index k, F f) {
  return {f(y.value), Matrix<double>(f(y.error) +
                      gamma(k, unit_roundoff<S>()) * f(y.size()))};
}
/// Queries plus a vector, if there is one.
template <class S>
Tracked tracked_rows(const Matrix<S>& Q, const Matrix<S>& u) {
  const Tracked q = tracked_exactly(Q);
  return u.size() == 0 ? q : tracked_sum<S>(
      q, tracked_exactly(u.replicate(Q.rows(), 1).eval()));
}
inline Matrix<double> gathered(const Matrix<double>& P,
                               const VariantRules& r) {
  Matrix<double> Y = Matrix<double>::Zero(r.mask.n_q(), r.mask.n_k());
  detail::gather(P, r, r.mask.whole(), Y);
  return Y;
}
/// The factor c_0, and how many roundings there are in it.
template <class S>
std::pair<double, Index> tracked_scale(const VariantParts<S>& x) {
  if (x.scale.size() > 0) return {to_double(x.scale(0, 0)), 0};
  return {1 / std::sqrt(double(x.K.cols())), 2};
}
template <class S>
Tracked tracked_products(const VariantParts<S>& x, const VariantRules& r) {
  const auto T = [](const Matrix<S>& m) {
    return tracked_transpose(tracked_exactly(m));
  };
  Tracked X = tracked_product<S>(tracked_rows(x.Q, x.u), T(x.K));
  if (x.rel_keys.size() > 0)
    X = tracked_sum<S>(
        X, tracked_copy(
               tracked_product<S>(tracked_rows(x.Q, x.w), T(x.rel_keys)),
               [&](const auto& P) { return gathered(P, r); }));
  return X;
}
template <class S>
Tracked tracked_modified(const Tracked& X, const VariantParts<S>& x,
                         const VariantRules& r) {
  const Index n = r.mask.n_q(), m = r.mask.n_k();
  const double u = unit_roundoff<S>(), c = r.softcap.value_or(1);
  Tracked s{Matrix<double>::Constant(n, m + 1, -HUGE_VAL),
            Matrix<double>::Zero(n, m + 1)};
  VariantParts<double> y{{}, {}, {}}, a = y;
  each_part([](auto, const auto& from, auto& to, auto& size) {
    to = lift<double>(from), size = to.cwiseAbs();
  }, x, y, a);
  a.slope = -a.slope;
  VariantRules plain = r;
  plain.softcap = {};
  if (x.sink.size()) s.value.col(m).setConstant(y.sink(0));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      if (!r.mask.allows(i, j) || detail::barred(y, r, i, j)) continue;

      // track one modified score
      const double e = X.error(i, j), raw = std::abs(X.value(i, j)) + 2 * e;
      const double cap = r.softcap ? c * std::tanh(raw / c) : raw;
      s.value(i, j) = detail::modify(X.value(i, j), y, r, i, j);
      if (is_forbidden(s.value(i, j))) continue;
      s.error(i, j) = e + (r.softcap ? 7 * u * cap : 0) +
                      gamma(4, u) * detail::modify(cap, a, plain, i, j) +
                      (r.softcap ? 3 * c + 1 : 1) * smallest_subnormal<S>();
    }
  return s;
}
struct TrackedVariant {
  Tracked P, X, A, D, O;
};
template <class S>
Tracked tracked_dropped(const Tracked& A, const VariantRules& r) {
  return tracked_map<S>(A, r.dropout.p > 0 ? 2 : 0, [&](const auto& a) {
    return detail::dropped<double>(a, r, r.mask.whole());
  });
}
template <class S>
Tracked tracked_scatter(const Tracked& Y, const VariantRules& r,
                        Index rows) {
  return tracked_map<S>(Y, r.mask.n_k(), [&](const auto& y) {
    return detail::scatter<double>(y, r, r.mask.whole(), rows);
  });
}
template <class S>
TrackedVariant tracked_variant(const VariantParts<S>& x,
                               const VariantRules& r) {
  TrackedVariant t;
  t.P = tracked_products(x, r);
  const auto [c0, k] = tracked_scale(x);
  t.X = tracked_multiple<S>(c0, t.P, k);
  t.A = tracked_gibbs<S>(tracked_modified(t.X, x, r), 1);
  t.D = tracked_dropped<S>(tracked_copy(t.A, [&](const auto& a) {
    return Matrix<double>(a.leftCols(r.mask.n_k()));
  }), r);
  t.O = tracked_product<S>(t.D, tracked_exactly(x.V));
  if (x.rel_values.size() > 0)
    t.O = tracked_sum<S>(
        t.O, tracked_product<S>(
                 tracked_scatter<S>(t.D, r, x.rel_values.rows()),
                 tracked_exactly(x.rel_values)));
  return t;
}

// track the gradient of a variant
template <class S>
Tracked tracked_cotangent(const TrackedVariant& t, const VariantParts<S>& x,
                          const VariantRules& r, const Matrix<S>& dO,
                          const Vector<S>& dlogZ) {
  const Tracked w = tracked_exactly(dO);
  Tracked dA = tracked_product<S>(
      w, tracked_transpose(tracked_exactly(x.V)));
  if (x.rel_values.size() > 0)
    dA = tracked_sum<S>(
        dA, tracked_copy(
                tracked_product<S>(
                    w, tracked_transpose(tracked_exactly(x.rel_values))),
                [&](const auto& P) { return gathered(P, r); }));
  dA = tracked_copy(tracked_dropped<S>(dA, r), [](const auto& y) {
    Matrix<double> z = Matrix<double>::Zero(y.rows(), y.cols() + 1);
    z.leftCols(y.cols()) = y;
    return z;
  });
  Tracked dS = tracked_lower<S>(t.A, dA,
                                heaviest_keys(variant_forward(x, r).A));

  // add the tracked cotangent of the free energy
  if (dlogZ.size() > 0) {
    const Vector<double> l = lift<double>(dlogZ), size = l.cwiseAbs();
    Tracked A_l{l.asDiagonal() * t.A.value, size.asDiagonal() * t.A.error};
    A_l.error += unit_roundoff<S>() * (size.asDiagonal() * t.A.size());
    A_l.error.array() += smallest_subnormal<S>();
    dS = tracked_sum<S>(dS, A_l);
  }
  return dS;
}
template <class S>
Tracked tracked_uncapped(const Tracked& dS, const Tracked& X,
                         const VariantRules& r) {
  const Index n = r.mask.n_q(), m = r.mask.n_k();
  const double u = unit_roundoff<S>();
  Tracked y{Matrix<double>::Zero(n, m), Matrix<double>::Zero(n, m)};
  const Matrix<double> size = dS.size();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      if (!r.mask.allows(i, j)) continue;
      double cut = 1, eta = 0;
      if (r.softcap) {
        eta = (2 * X.error(i, j) + 2 * u * std::abs(X.value(i, j))) /
              *r.softcap;
        cut = detail::uncapped(1.0, X.value(i, j), *r.softcap);
      }
      y.value(i, j) = cut * dS.value(i, j);
      y.error(i, j) = cut * std::exp(2 * eta) *
                      (dS.error(i, j) + (r.softcap ? 1 : 0) *
                       (std::expm1(4 * eta) + gamma(12, u)) * size(i, j)) +
                      (r.softcap ? 2 : 0) * smallest_subnormal<S>();
    }
  return y;
}
/// Errors of a rows x cols table whose entries are sums of weighted y_ij.
template <class S, class F>
Matrix<double> tracked_table(const Tracked& y, const VariantRules& r,
                             const Matrix<S>& like, F add) {
  const Matrix<double> size = y.size();
  const double g = gamma(size.size() + 3, unit_roundoff<S>());
  Matrix<double> e = Matrix<double>::Constant(
      like.rows(), like.cols(),
      double(size.size()) * smallest_subnormal<S>());
  for (Index i = 0; i < r.mask.n_q(); ++i)
    for (Index j = 0; j < r.mask.n_k(); ++j)
      if (e.size() > 0 && r.mask.allows(i, j))
        add(e, i, j, y.error(i, j) + g * size(i, j));
  return e;
}
struct VariantBounds {
  Matrix<double> O;
  VariantParts<double> g;
};
/// Bounds on the errors of variant_forward's O and of variant_vjp in S.
template <class S>
VariantBounds variant_errors(const VariantParts<S>& x,
                             const VariantRules& r, const Matrix<S>& dO,
                             const Vector<S>& dlogZ = {}) {
  const TrackedVariant t = tracked_variant(x, r);
  const Tracked dS = tracked_cotangent(t, x, r, dO, dlogZ);
  const Tracked dX = tracked_uncapped<S>(dS, t.X, r);
  const auto [c0, k] = tracked_scale(x);
  const Tracked Y = tracked_multiple<S>(c0, dX, k);
  const Tracked w = tracked_exactly(dO);
  VariantBounds b{t.O.error, {{}, {}, {}}};

  // track the gradients of tables
  b.g.bias = tracked_table(dS, r, x.bias, [](auto& e, Index i, Index j,
                                             double v) {
    detail::bias_at(e, i, j) += v;
  });
  b.g.table = tracked_table(dS, r, x.table, [&](auto& e, Index i, Index j,
                                                double v) {
    e(0, r.buckets(r.offset(i, j))) += v;
  });
  b.g.slope = tracked_table(dS, r, x.slope, [&](auto& e, Index i, Index j,
                                                double v) {
    e(0) += v * double(std::abs(r.offset(i, j)));
  });
  const Tracked PdX{t.P.value.cwiseProduct(dX.value),
                    t.P.error.cwiseProduct(dX.size()) +
                        t.P.size().cwiseProduct(dX.error)};
  b.g.scale = tracked_table(PdX, r, x.scale, [](auto& e, Index, Index,
                                                double v) { e(0) += v; });
  if (x.sink.size() > 0)
    b.g.sink = Matrix<double>::Constant(
        1, 1, dS.error.col(r.mask.n_k()).sum() +
                  gamma(r.mask.n_q(), unit_roundoff<S>()) *
                      dS.size().col(r.mask.n_k()).sum());

  // track the gradients of vectors
  const auto column_sums = [&](const Tracked& y) {
    return tracked_map<S>(y, y.value.rows(), [](const auto& m) {
      return Matrix<double>(m.colwise().sum());
    }).error;
  };
  Tracked dQ = tracked_product<S>(Y, tracked_exactly(x.K));
  b.g.w = Matrix<double>::Zero(x.w.rows(), x.w.cols());
  if (x.u.size() > 0) b.g.u = column_sums(dQ);
  b.g.K = tracked_product<S>(tracked_transpose(Y),
                             tracked_rows(x.Q, x.u)).error;
  b.g.V = tracked_product<S>(tracked_transpose(t.D), w).error;
  if (x.rel_values.size() > 0)
    b.g.rel_values = tracked_product<S>(tracked_transpose(
        tracked_scatter<S>(t.D, r, x.rel_values.rows())), w).error;
  if (x.rel_keys.size() > 0) {
    const Tracked dP = tracked_scatter<S>(Y, r, x.rel_keys.rows());
    b.g.rel_keys = tracked_product<S>(
        tracked_transpose(dP), tracked_rows(x.Q, x.w)).error;
    const Tracked dQw = tracked_product<S>(dP, tracked_exactly(x.rel_keys));
    if (x.w.size() > 0) b.g.w = column_sums(dQw);
    dQ = tracked_sum<S>(dQ, dQw);
  }
  b.g.Q = dQ.error;
  return b;
}
}  // namespace variants
