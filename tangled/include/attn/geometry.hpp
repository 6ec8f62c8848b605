// include/attn/geometry.hpp: tangled from chapters/03-geometry.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/autodiff.hpp"
#include "attn/einsum.hpp"
#include "attn/rounding.hpp"
#include "attn/tensor.hpp"
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace attn {
// measure with a metric

// evaluate a metric field at a point
/// The metric g_ab at the point x; g maps Vector<S> to a d x d matrix.
/// Throws std::invalid_argument for a wrong shape, std::domain_error
/// unless the matrix is symmetric to half the digits.
template <class G, class S>
Tensor<S, dn, dn> metric_at(const G& g, const Vector<S>& x) {
  const Matrix<S> m = g(x);
  require(m.rows() == x.size() && m.cols() == x.size(), "metric_at: g is ",
          shape(m), " at a point with ", x.size(), " coordinates");

  // refuse an asymmetric matrix
  if constexpr (std::numeric_limits<S>::is_specialized) {
    using std::abs;
    const S u(unit_roundoff<S>());
    for (Index a = 0; a < x.size(); ++a)
      for (Index b = 0; b < a; ++b) {
        const S off = m(a, b) - m(b, a);
        require_domain(!(u * abs(S(m(a, a) * m(b, b))) < off * off),
                       "metric_at: g is not symmetric at (", a, ",", b, ")");
      }
  }
  return Tensor<S, dn, dn>(m);
}

// invert a metric by elimination
/// The inverse metric g^{ab} and the determinant of g.
template <class S>
struct InverseMetric {
  Tensor<S, up, up> g;
  S det;
};
/// Inverse and determinant of g_ab by elimination without pivoting.
/// Throws std::invalid_argument if g is not square, std::domain_error
/// unless every pivot is positive.
template <class S>
InverseMetric<S> inverse_metric(const Tensor<S, dn, dn>& g) {
  Matrix<S> A = g.mat(), B = A;
  require(A.rows() == A.cols(), "inverse_metric: g is ", shape(A));
  B.setIdentity();
  S det(1);
  for (Index c = 0; c < A.rows(); ++c) {
    // divide a row by its positive pivot
    const S pivot = A(c, c);
    require_domain(S(0) < pivot, "inverse_metric: pivot ", c,
                   " is not positive, so g is not positive definite");
    det *= pivot;
    A.row(c) /= pivot;
    B.row(c) /= pivot;

    // eliminate the column below and above its pivot
    for (Index r = 0; r < A.rows(); ++r) {
      if (r == c) continue;
      const S factor = A(r, c);
      A.row(r) -= factor * A.row(c);
      B.row(r) -= factor * B.row(c);
    }
  }
  return {Tensor<S, up, up>(B), det};
}

// measure lengths, angles and volumes
/// Inner product g_ab u^a v^b at the point x; u and v have d entries.
template <class G, class S>
S inner(const G& g, const Vector<S>& x, const Vector<S>& u,
        const Vector<S>& v) {
  const auto gx = metric_at(g, x);
  return eq<"s = g_{ab} u^a v^b">(gx, view<up>(u), view<up>(v));
}
/// Angle between u and v at x, in [0, pi]; NaN if one of them is zero.
template <class G, class S>
S angle(const G& g, const Vector<S>& x, const Vector<S>& u,
        const Vector<S>& v) {
  using std::acos, std::sqrt;
  const S c = inner(g, x, u, v) /
              sqrt(S(inner(g, x, u, u) * inner(g, x, v, v)));
  return c < S(-1) ? S(acos(S(-1))) : S(1) < c ? S(0) : S(acos(c));
}
/// sqrt(det g) at x, the volume of a unit box of coordinates.
/// Throws std::domain_error unless g is positive definite there.
template <class G, class S>
S volume_density(const G& g, const Vector<S>& x) {
  using std::sqrt;
  return sqrt(inverse_metric(metric_at(g, x)).det);
}

// follow a curve and its velocity
/// Point and velocity of a curve at t.
template <class C, class S>
std::pair<Vector<S>, Vector<S>> at_time(const C& curve, const S& t) {
  const Vector<Dual<S>> y = curve(Dual<S>(t, S(1)));
  Vector<S> x(y.size()), v(y.size());
  for (Index a = 0; a < y.size(); ++a) x(a) = y(a).v, v(a) = y(a).d;
  return {x, v};
}
/// Speed of a curve at t, the length of its velocity in the metric g.
template <class G, class C, class S>
S speed(const G& g, const C& curve, const S& t) {
  using std::sqrt;
  const auto [x, v] = at_time(curve, t);
  return sqrt(inner(g, x, v, v));
}

// measure the length of a curve
/// Length of a curve between the times s and t, by Simpson's rule with
/// 2n intervals.  Throws std::invalid_argument unless n > 0.
template <class G, class C, class S>
S curve_length(const G& g, const C& curve, const S& s, const S& t,
               Index n) {
  require(n > 0, "curve_length: n is ", n);
  const S h = (t - s) / S(double(2 * n));
  S sum = speed(g, curve, s) + speed(g, curve, t);
  for (Index k = 1; k < 2 * n; ++k)
    sum += S(k % 2 == 0 ? 2 : 4) *
           speed(g, curve, S(s + h * S(double(k))));
  return h * sum / S(3);
}

// differentiate covariantly with a metric

// add a slot for the derivative
namespace detail {
template <class T>
struct Differential;
template <class S, Height... H>
struct Differential<Tensor<Dual<S>, H...>> {
  using type = Tensor<S, dn, H...>;
};
}  // namespace detail

// differentiate a tensor field
/// All partial derivatives of a tensor field at x: slot 0 is the
/// coordinate c of d/dx^c.  field maps Vector<Dual<S>> to a Tensor.
template <class F, class S>
auto partial(const F& field, const Vector<S>& x) {
  Vector<Dual<S>> y = x.template cast<Dual<S>>();
  using Field = std::decay_t<decltype(field(y))>;
  typename detail::Differential<Field>::type D;
  for (Index c = 0; c < x.size(); ++c) {
    y(c).d = S(1);
    const Field T = field(y);
    y(c).d = S(0);

    // store the derivatives along one coordinate
    const Index n = T.values.size();
    if (c == 0) {
      D.dim[0] = x.size();
      std::copy(T.dim.begin(), T.dim.end(), D.dim.begin() + 1);
      D.values.resize(x.size() * n);
    }
    for (Index k = 0; k < n; ++k) D.values(c * n + k) = T.values(k).d;
  }
  return D;
}

// compute the Christoffel symbols
/// Christoffel symbols of the second kind at x, slots (c; a, b) (eq.
/// christoffel).  Throws std::domain_error where g is no metric.
template <class G, class S>
Tensor<S, up, dn, dn> christoffel(const G& g, const Vector<S>& x) {
  const auto gi = inverse_metric(metric_at(g, x)).g;
  const auto dg =
      partial([&](const auto& y) { return metric_at(g, y); }, x);
  const auto E =
      eq<R"(E_{dab} = \partial_a g_{bd} + \partial_b g_{ad})">(dg, dg);
  const auto C = eq<R"(C_{dab} = E_{dab} - \partial_d g_{ab})">(E, dg);
  return eq<R"(\Gamma^c_{ab} = \tfrac{1}{2} g^{cd} C_{dab})">( // eq:christoffel
      gi, C);
}

// correct a derivative by the symbols
namespace detail {
template <class S>
using Symbols = Tensor<S, up, dn, dn>;

template <class S>
auto corrected(const Symbols<S>& Ga, const Tensor<S, up>& v,
               const Tensor<S, dn, up>& dv) {
  return eq<R"(D_a{}^b = \partial_a v^b + \Gamma^b_{ac} v^c)">(dv, Ga, v);
}
template <class S>
auto corrected(const Symbols<S>& Ga, const Tensor<S, dn>& u,
               const Tensor<S, dn, dn>& du) {
  return eq<R"(D_{ab} = \partial_a u_b - \Gamma^c_{ab} u_c)">(du, Ga, u);
}
}  // namespace detail
namespace detail {
template <class S>
auto corrected(const Symbols<S>& Ga, const Tensor<S, dn, dn>& h,
               const Tensor<S, dn, dn, dn>& dh) {
  const auto C = eq<R"(C_{cab} = \Gamma^d_{ca} h_{db})">(Ga, h);
  const auto E = eq<R"(E_{cab} = \Gamma^d_{cb} h_{ad})">(Ga, h);
  return eq<R"(D_{cab} = \partial_c h_{ab} - C_{cab} - E_{cab})">(
      dh, C, E);
}
}  // namespace detail

// differentiate covariantly
/// Covariant derivative at x of a vector, covector or rank-2 covariant
/// field: field maps Vector<S> to a Tensor, for S and for Dual<S>.
template <class G, class F, class S>
auto covariant_derivative(const G& g, const F& field, const Vector<S>& x) {
  return detail::corrected(christoffel(g, x), field(x), partial(field, x));
}

// bend with a metric and go straight

// compute the curvature of a connection
/// Curvature at x, slots (a; b, c, d) (eq. riemann), of a connection that
/// maps Vector<S>, for S and for Dual<S>, to symbols of slots (c; a, b).
template <class C_, class S>
Tensor<S, up, dn, dn, dn> connection_curvature(const C_& connection,
                                               const Vector<S>& x) {
  const Tensor<S, up, dn, dn> Ga = connection(x);
  const auto dGa = partial(connection, x);
  const auto P = eq<R"(P^a_{bcd} = \Gamma^a_{ce} \Gamma^e_{db})">(Ga, Ga);
  const auto C =
      eq<R"(C^a_{bcd} = \partial_c \Gamma^a_{db} + P^a_{bcd})">(dGa, P);
  return eq<R"(R^a{}_{bcd} = C^a_{bcd} - C^a_{bdc})">(C, C);  // eq:riemann
}

// compute the Riemann tensor
/// Riemann tensor at x, slots (a; b, c, d).  Throws std::domain_error
/// where g is no metric.
template <class G, class S>
Tensor<S, up, dn, dn, dn> riemann(const G& g, const Vector<S>& x) {
  return connection_curvature(
      [&](const auto& y) { return christoffel(g, y); }, x);
}
/// Riemann tensor at x with all slots down.
template <class G, class S>
Tensor<S, dn, dn, dn, dn> riemann_lowered(const G& g, const Vector<S>& x) {
  return eq<"R_{abcd} = g_{ae} R^e{}_{bcd}">(metric_at(g, x),
                                             riemann(g, x));
}

// contract the Riemann tensor
/// Ricci tensor at x.
template <class G, class S>
Tensor<S, dn, dn> ricci(const G& g, const Vector<S>& x) {
  return eq<"R_{bd} = R^a{}_{bad}">(riemann(g, x));  // eq:ricci
}
/// Scalar curvature at x.
template <class G, class S>
S scalar_curvature(const G& g, const Vector<S>& x) {
  const auto gi = inverse_metric(metric_at(g, x)).g;
  return eq<"R = g^{bd} R_{bd}">(gi, ricci(g, x));
}
/// Sectional curvature at x of the plane spanned by u and v; NaN or
/// infinite if they are parallel.
template <class G, class S>
S sectional_curvature(const G& g, const Vector<S>& x, const Vector<S>& u,
                      const Vector<S>& v) {
  const auto R = riemann_lowered(g, x);
  const auto U = view<up>(u), V = view<up>(v);
  const S k = eq<"k = R_{abcd} u^a v^b u^c v^d">(R, U, V, U, V);
  const S uv = inner(g, x, u, v);
  return k / (inner(g, x, u, u) * inner(g, x, v, v) - uv * uv);
}
/// Curvature of a two-dimensional metric at x.
/// Throws std::invalid_argument unless x has two coordinates.
template <class G, class S>
S gauss_curvature(const G& g, const Vector<S>& x) {
  require(x.size() == 2, "gauss_curvature: x has ", x.size(), " coordinates");
  return sectional_curvature(g, x, Vector<S>(Vector<S>::Unit(2, 0)),
                             Vector<S>(Vector<S>::Unit(2, 1)));
}

// pull a metric back along a map
/// The metric that the map f induces from g: lengths of image curves.
template <class G, class F>
struct Induced {
  G g;
  F f;
  /// h_ab at y; f(y) must be in the domain of g.
  template <class S>
  Matrix<S> operator()(const Vector<S>& y) const {
    const auto gx = metric_at(g, Vector<S>(f(y)));

    // take the Jacobian of a map at dual numbers
    const auto df = partial([&](const auto& z) {
      using T = typename std::decay_t<decltype(z)>::Scalar;
      return Tensor<T, up>(Vector<T>(f(z)));
    }, y);
    const auto h =
        eq<R"(h_{ab} = g_{ij} \partial_a f^i \partial_b f^j)">(gx, df, df);
    return h.mat();
  }
};
template <class G, class F>
Induced(G, F) -> Induced<G, F>;

// step by the classical Runge-Kutta method
/// One step h of the classical Runge-Kutta method for dy/dt = f(t, y).
template <class S, class F>
Vector<S> runge_kutta_step(const F& f, const S& t, const Vector<S>& y,
                           const S& h) {
  const S half = h / S(2);
  const Vector<S> k1 = f(t, y);
  const Vector<S> k2 = f(S(t + half), Vector<S>(y + half * k1));
  const Vector<S> k3 = f(S(t + half), Vector<S>(y + half * k2));
  const Vector<S> k4 = f(S(t + h), Vector<S>(y + h * k3));
  return y + h / S(6) * (k1 + S(2) * (k2 + k3) + k4);
}

// integrate a geodesic
/// Position and velocity.
template <class S>
struct Moving {
  Vector<S> x, v;
};
/// The autoparallel curve of a connection (as in connection_curvature)
/// from x with velocity v during the given time: steps + 1 points.
/// Throws std::invalid_argument for unequal sizes or steps < 1.
template <class C, class S>
std::vector<Moving<S>> autoparallel(const C& connection,
                                    const Vector<S>& x, const Vector<S>& v,
                                    const S& time, Index steps) {
  const Index d = x.size();
  require(v.size() == d, "autoparallel: x has ", d, " entries but v ",
          v.size());
  require(steps > 0, "autoparallel: steps is ", steps);

  // define the flow of position and velocity
  const auto flow = [&](const S&, const Vector<S>& state) {
    const Vector<S> at = state.head(d), u = state.tail(d);
    const Tensor<S, up, dn, dn> Ga = connection(at);
    const auto U = view<up>(u);
    const auto a =
        eq<R"(\dot v^c = -\Gamma^c_{ab} v^a v^b)">(Ga, U, U);  // eq:geodesic
    Vector<S> rate(2 * d);
    rate << u, a.vec();
    return rate;
  };

  // follow the flow and keep the path
  const S h = time / S(double(steps));
  Vector<S> y(2 * d);
  y << x, v;
  std::vector<Moving<S>> path{{x, v}};
  for (Index k = 0; k < steps; ++k) {
    y = runge_kutta_step(flow, S(h * S(double(k))), y, h);
    path.push_back({y.head(d), y.tail(d)});
  }
  return path;
}
/// The geodesic from x with velocity v during the given time (eq.
/// geodesic): steps + 1 points.  Throws as autoparallel.
template <class G, class S>
std::vector<Moving<S>> geodesic(const G& g, const Vector<S>& x,
                                const Vector<S>& v, const S& time,
                                Index steps) {
  return autoparallel([&](const auto& y) { return christoffel(g, y); }, x,
                      v, time, steps);
}

// transport a vector along a curve
/// The vector w at curve(s), transported in parallel to curve(t) in the
/// given number of steps.  Throws std::invalid_argument for a wrong size
/// or steps < 1.
template <class G, class C, class S>
Vector<S> parallel_transport(const G& g, const C& curve, const Vector<S>& w,
                             const S& s, const S& t, Index steps) {
  require(steps > 0, "parallel_transport: steps is ", steps);

  // define the flow of a transported vector
  const auto flow = [&](const S& at, const Vector<S>& u) {
    const auto [x, v] = at_time(curve, at);
    require(u.size() == x.size(), "parallel_transport: w has ", u.size(),
            " entries on a curve in dimension ", x.size());
    const auto du =
        eq<R"(\dot w^c = -\Gamma^c_{ab} \dot x^a w^b)">(
            christoffel(g, x), view<up>(v), view<up>(u));
    return Vector<S>(du.vec());
  };
  const S h = (t - s) / S(double(steps));
  Vector<S> u = w;
  for (Index k = 0; k < steps; ++k)
    u = runge_kutta_step(flow, S(s + h * S(double(k))), u, h);
  return u;
}
}  // namespace attn
