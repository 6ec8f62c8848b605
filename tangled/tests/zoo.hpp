// tests/zoo.hpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#pragma once
#include "attn/geometry.hpp"

namespace geometry {
using namespace attn;

// keep a zoo of metrics
struct Zoo {
  enum Kind { polar, half_plane, normal, round, conformal, crooked } kind;
  int r = 1;
  template <class S>
  Matrix<S> operator()(const Vector<S>& x) const {
    Matrix<S> g = Matrix<S>::Identity(x.size(), x.size());

    // fill in the metric of one animal
    if (kind == polar) g(1, 1) = x(0) * x(0);
    if (kind == half_plane || kind == normal) g /= S(x(1) * x(1));
    if (kind == normal) g(1, 1) *= S(2);
    if (kind == round) {
      const S w = S(2 * r * r) / (S(r * r) + x.squaredNorm());
      g *= S(w * w);
    }
    if (kind == conformal) {
      const S w = S(1) + x(0) + S(3) * x(0) * x(0) * x(1) + x(1) * x(1);
      g *= S(w * w);
    }
    if (kind == crooked) {
      Matrix<S> W(x.size(), x.size());
      for (Index a = 0; a < x.size(); ++a)
        for (Index b = 0; b < x.size(); ++b)
          W(a, b) = x(a) * S(int(a + 2 * b)) - x(b) * x(b) + S(int(a));
      g += times(W.transpose(), W);
    }
    return g;
  }
};
const Zoo polar{Zoo::polar}, half_plane{Zoo::half_plane};
const Zoo crooked{Zoo::crooked};
inline Zoo stereographic(int r) { return {Zoo::round, r}; }
const auto scaled_identity = [](Index d) {
  return [=](const auto& x) {
    using S = typename std::decay_t<decltype(x)>::Scalar;
    return Matrix<S>(Matrix<S>::Identity(d, d) / sqrt(S(double(d))));
  };
};
const auto sphere = [](int r) {
  return [=](const auto& x) {
    using std::sin;
    using S = typename std::decay_t<decltype(x)>::Scalar;
    const S s = sin(x(0)), rr(r * r);
    return Matrix<S>{{rr, S(0)}, {S(0), rr * s * s}};
  };
};

// lay out keys in the plane
inline const Matrix<double> six_keys{{1, 0}, {0, 1}, {-1, 0.5},
                                     {0.3, -1}, {2, 1}, {-0.5, -0.5}};
inline Matrix<double> pentagon() {
  Matrix<double> k(5, 2);
  for (Index j = 0; j < 5; ++j)
    k.row(j) << std::cos(0.4 * M_PI * double(j)),
        std::sin(0.4 * M_PI * double(j));
  return k;
}

// allow for roundings in quad
/// n roundings in quad, relative to numbers of order one.
inline double roundings(double n) { return n * 0x1p-113; }
const auto real_line = [](const auto& t) {
  using S = std::decay_t<decltype(t)>;
  return Vector<S>(Vector<S>::Constant(1, t));
};
}  // namespace geometry
