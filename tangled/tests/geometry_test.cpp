// tests/geometry_test.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/geometry.hpp"
#include "attn/random.hpp"
#include "zoo.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(geometry)

// check lengths, angles and volumes
const auto latitude = [](double theta) {
  return [=](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    return Vector<S>{{S(theta), t}};
  };
};
const double ulp = 0x1p-52;
BOOST_AUTO_TEST_CASE(lengths_of_curves) {
  for (const double r : {0.5, 1.0, 2.0}) {
    verify(std::abs(curve_length(polar, latitude(r), 0.0, 2 * M_PI, 3) -
                    2 * M_PI * r), 20 * ulp * r);
    verify(std::abs(curve_length(sphere(3), latitude(r), 0.0, 2 * M_PI, 3) -
                    6 * M_PI * std::sin(r)), 60 * ulp);
  }
  const auto line = [](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    return Vector<S>{{sqrt(S(1) + t * t), atan(t)}};
  };
  verify(std::abs(curve_length(polar, line, -1.0, 2.0, 200) - 3), 400 * ulp);
}
BOOST_AUTO_TEST_CASE(angles_ignore_scale) {
  for (Index d = 1; d <= 40; ++d) {
    const Vector<double> u = gaussian<double>(d, 1, std::uint64_t(d), "u");
    const Vector<double> v = gaussian<double>(d, 1, std::uint64_t(d), "v");
    const double c = u.dot(v) / (u.norm() * v.norm());
    verify(std::abs(std::cos(angle(scaled_identity(d), u, u, v)) - c),
           double(3 * d + 9) * ulp);
    const Vector<double> along = 3 * u;
    verify(angle(scaled_identity(d), u, u, along),
           std::sqrt(3 * double(3 * d + 9) * ulp));
    verify(std::abs(volume_density(scaled_identity(d), u) /
                        std::pow(double(d), -0.25 * double(d)) - 1),
           double(2 * d + 4) * ulp);
  }
}
BOOST_AUTO_TEST_CASE(volumes_of_boxes) {
  const auto det = [](const Matrix<Fp>& g) {
    return inverse_metric(Tensor<Fp, dn, dn>(g)).det;
  };
  for (Index d = 1; d <= 6; ++d) {
    const Vector<Fp> x = uniform<Fp>(d, 1, std::uint64_t(d), "point");
    const Matrix<Fp> E = uniform<Fp>(d, d, std::uint64_t(d), "edges");
    const Matrix<Fp> g = crooked(x), gram = E.transpose() * g * E;
    verify_exact(det(g) * det(E.transpose() * E), det(gram), long(6 * d));
  }
}
BOOST_AUTO_TEST_CASE(inverse_metric_is_inverse) {
  for (Index d = 1; d <= 8; ++d) {
    const Matrix<Fp> W = uniform<Fp>(d, d, std::uint64_t(d));
    const Tensor<Fp, dn, dn> g(Matrix<Fp>(W + W.transpose()));
    const auto inv = inverse_metric(g);
    const auto one =
        eq<R"(\delta^a{}_b = g^{ac} g_{cb})">(inv.g, g);  // eq:none
    verify_exact(Matrix<Fp>(one.mat()), Matrix<Fp>(Matrix<Fp>::Identity(d, d)),
                 long(2 * d));
  }
}
BOOST_AUTO_TEST_CASE(refuses_what_is_no_metric) {
  const Vector<double> x{{0.0, 1.0}};
  using M = Matrix<double>;
  const auto fixed = [](const M& m) {
    return [=](const auto&) { return m; };
  };
  BOOST_CHECK_EXCEPTION(metric_at(fixed(M{{1, 0, 0}, {0, 1, 0}}), x),
                        std::invalid_argument, says("metric_at: g is 2x3"));
  BOOST_CHECK_EXCEPTION(metric_at(fixed(M{{1, 0.5}, {0.4, 1}}), x),
                        std::domain_error, says("not symmetric at (1,0)"));
  BOOST_CHECK_EXCEPTION(
      inverse_metric(Tensor<double, dn, dn>(M{{1, 0, 0}, {0, 1, 0}})),
      std::invalid_argument, says("inverse_metric: g is 2x3"));
  BOOST_CHECK_EXCEPTION(volume_density(fixed(M{{1, 2}, {2, 1}}), x),
                        std::domain_error, says("pivot 1"));
  BOOST_CHECK_EXCEPTION(christoffel(polar, x), std::domain_error,
                        says("pivot 1"));
  BOOST_CHECK_EXCEPTION(curve_length(polar, latitude(1), 0.0, 1.0, 0),
                        std::invalid_argument, says("curve_length: n"));
}

// check the covariant derivative
BOOST_AUTO_TEST_CASE(christoffel_of_the_zoo) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> x = uniform<Fp>(2, 1, seed);
    Tensor<Fp, up, dn, dn> P(2, 2, 2), H(2, 2, 2);
    P(0, 1, 1) = -x(0);
    P(1, 0, 1) = P(1, 1, 0) = 1 / x(0);
    H(1, 0, 0) = 1 / x(1);
    H(0, 0, 1) = H(0, 1, 0) = H(1, 1, 1) = -H(1, 0, 0);
    verify_exact(christoffel(polar, x), P, 4);
    verify_exact(christoffel(half_plane, x), H, 8);
  }
}
BOOST_AUTO_TEST_CASE(metric_is_constant) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Index d = Index(2 + seed % 3);
    const Vector<Fp> x = uniform<Fp>(d, 1, seed);
    const auto Ga = christoffel(crooked, x);
    const auto swapped = eq<R"(C^c_{ab} = \Gamma^c_{ba})">(Ga);  // eq:none
    verify_exact(Ga, swapped, 50);
    const auto field = [](const auto& y) { return metric_at(crooked, y); };
    const auto D = covariant_derivative(crooked, field, x);
    verify_exact(D, Tensor<Fp, dn, dn, dn>(d, d, d), 50);
    BOOST_TEST(!same(partial(field, x), D));
  }
}
BOOST_AUTO_TEST_CASE(leibniz_rule) {
  const auto v = [](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    return Tensor<S, up>(Vector<S>{{y(0) * y(0) + y(1), y(0) * y(1)}});
  };
  const auto u = [](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    return Tensor<S, dn>(Vector<S>{{S(1) / y(1), y(0) - y(1) * y(1)}});
  };
  const auto uv = [&](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    return Tensor<S>(eq<"s = u_b v^b">(u(y), v(y)));  // eq:none
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> x = uniform<Fp>(2, 1, seed);
    const auto Du = covariant_derivative(crooked, u, x);
    const auto Dv = covariant_derivative(crooked, v, x);
    const auto D =
        eq<R"(D_a = D_{ab} v^b + u_b D_a{}^b)">(Du, v(x), u(x), Dv);  // eq:none
    verify_exact(D, partial(uv, x), 30);
  }
}
BOOST_AUTO_TEST_CASE(constant_field_is_constant) {
  const auto parabolic = [](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    const S w = S(4) * y.squaredNorm();
    return Matrix<S>{{w, S(0)}, {S(0), w}};
  };
  const auto east = [](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    const S w = S(2) * y.squaredNorm();
    return Tensor<S, up>(Vector<S>{{y(0) / w, -y(1) / w}});
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> x = uniform<Fp>(2, 1, seed);
    const Tensor<Fp, dn, up> zero(2, 2);
    verify_exact(covariant_derivative(parabolic, east, x), zero, 20);
    BOOST_TEST(!same(partial(east, x), zero));
  }
}
const auto crumpled = [](const auto& y) {
  using S = typename std::decay_t<decltype(y)>::Scalar;
  return Tensor<S, up>(
      Vector<S>{{y(0) + S(3) * y(1) * y(1), y(1) * (S(2) - y(0))}});
};
const auto new_point = [](const auto& y) { return crumpled(y).vec().eval(); };
const auto tilted = [](const auto& x) {
  using S = typename std::decay_t<decltype(x)>::Scalar;
  return Tensor<S, dn>(Vector<S>{{x(0) * x(1), x(0) - x(1) * x(1)}});
};
BOOST_AUTO_TEST_CASE(derivative_of_a_tensor_is_a_tensor) {
  const auto pulled = [](const auto& y) {
    return eq<R"(w_a = u_i \partial_a f^i)">(  // eq:none
        tilted(new_point(y)), partial(crumpled, y));
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<Fp> y = uniform<Fp>(2, 1, seed, "y"), x = new_point(y);
    const auto D = covariant_derivative(crooked, tilted, x);
    const auto df = partial(crumpled, y);
    verify_exact(
        covariant_derivative(Induced{crooked, new_point}, pulled, y),
        eq<R"(D_{ab} = D_{ij} \partial_a f^i \partial_b f^j)">(  // eq:none
            D, df, df), 100);
  }
}

// check that there is one connection
BOOST_AUTO_TEST_CASE(only_one_connection) {
  for (Index d = 1; d <= 5; ++d) {
    Tensor<Fp, dn, dn, dn> W(d, d, d);  // any numbers
    W.values = uniform<Fp>(d * d * d, 1, std::uint64_t(d));
    const auto G = eq<R"(\Gamma_{dab} = W_{dab} + W_{dba})">(W, W);  // eq:none
    for (const bool torsion : {false, true}) {
      const auto Ga = torsion ? W : G;

      // recover symbols from the derivatives of the metric
      const auto E =
          eq<R"(E_{cab} = \Gamma_{bca} + \Gamma_{acb})">(Ga, Ga);  // eq:none
      const auto C =
          eq<"C_{dab} = E_{abd} + E_{bad} - E_{dab}">(E, E, E);  // eq:none
      if (!torsion) verify_exact(C, Fp(2) * Ga, 1);
      if (torsion && d > 1) BOOST_TEST(!same(C, Fp(2) * Ga));
    }
  }
}

// check geodesics
BOOST_AUTO_TEST_CASE(straight_lines_in_polar) {
  const auto end = [](Index steps) {
    const Vector<double> x{{1, 0}}, v{{0.5, 1}};
    const auto y = geodesic(polar, x, v, 2.0, steps).back().x;
    return Vector<double>{{y(0) * std::cos(y(1)), y(0) * std::sin(y(1))}};
  };
  const Vector<double> straight{{2, 2}};
  const auto ratio = [&](Index steps) {
    return (end(steps) - straight).norm() / (end(2 * steps) - straight).norm();
  };
  fact("ratio", ratio(50), 4);
  verify_limit(end, 50, 4, straight);
  verify_limit(ratio, 25, 1, 16.0);
}
BOOST_AUTO_TEST_CASE(great_circles) {
  const auto on = [](const auto& y) {
    using S = typename std::decay_t<decltype(y)>::Scalar;
    return Vector<S>{{sin(y(0)) * cos(y(1)), sin(y(0)) * sin(y(1)), cos(y(0))}};
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<double> v = uniform<double>(2, 1, seed), x{{1.5, 0}};
    const Vector<double> p = on(x), w = directional(on, x, v);
    const double speed = std::sqrt(inner(sphere(1), x, v, v));
    const auto end = [&](Index steps) {
      return Vector<double>(on(geodesic(sphere(1), x, v, 1.0, steps).back().x));
    };
    verify_limit(end, 50, 4, Vector<double>(std::cos(speed) * p +
                                            std::sin(speed) / speed * w));
  }
}
BOOST_AUTO_TEST_CASE(geodesics_keep_speed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector<double> x = gaussian<double>(3, 1, seed, "x");
    const Vector<double> v = gaussian<double>(3, 1, seed, "v");
    verify_limit([&](Index steps) {
      const auto end = geodesic(crooked, x, v, 0.5, steps).back();
      return inner(crooked, end.x, end.v, end.v);
    }, 50, 4, inner(crooked, x, v, v));
  }
}
BOOST_AUTO_TEST_CASE(semicircles_of_the_half_plane) {
  const Vector<double> x{{0, 1}}, v{{1, 0.5}};
  const double centre = 0.5, radius = std::sqrt(1.25);
  for (const double time : {0.1, 0.5, 1.0, 2.0})
    verify_limit([&](Index steps) {
      const auto y = geodesic(half_plane, x, v, time, steps).back().x;
      return std::hypot(y(0) - centre, y(1));
    }, 50, 4, radius);
}
double bent_length(const std::vector<Moving<double>>& path, double bend,
                   Index axis, int waves) {
  const auto at = [&](std::size_t i) {
    const double t = double(i) / double(path.size() - 1);
    Vector<double> y = path[i].x;
    y(axis) += bend * y(1) * std::sin(M_PI * waves * t);
    return y;
  };
  double length = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Vector<double> a = at(i), b = at(i + 1);
    length += 2 * std::asinh((b - a).norm() / (2 * std::sqrt(a(1) * b(1))));
  }
  return length;
}
BOOST_AUTO_TEST_CASE(geodesics_are_short) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Vector<double> x{{0, 1}}, v = gaussian<double>(2, 1, seed);
    const auto path = geodesic(half_plane, x, v, 1.0, 100);
    const double shortest = std::sqrt(inner(half_plane, x, v, v));
    for (const Index axis : {0, 1})
      for (const int waves : {1, 2, 3})
        for (const double bend : {-0.1, -0.02, 0.02, 0.1})
          verify(shortest, bent_length(path, bend, axis, waves));
  }
}
BOOST_AUTO_TEST_CASE(long_geodesics_are_not_short) {
  const Vector<double> x{{M_PI / 2, 0}}, v{{0.6, 0.8}};
  const double length = 4 * M_PI / 3;
  const auto end = geodesic(sphere(1), x, v, length, 400).back().x;
  const double apart = std::acos(std::sin(end(0)) * std::cos(end(1)));
  verify(std::abs(apart - (2 * M_PI - length)), 1e-6);
  refute(length - apart, 2);
}
BOOST_AUTO_TEST_CASE(transport_around_a_circle) {
  const double round = 2 * M_PI;
  for (const double theta : {0.3, 1.0, 1.4}) {
    const Vector<double> w{{1, 0}}, x{{theta, 0}};
    const auto turn = [&](Index steps) {
      const auto end = parallel_transport(sphere(1), latitude(theta), w, 0.0,
                                          round, steps);
      return std::acos(end(0));  // the first axis has length 1
    };
    const double area = round * (1 - std::cos(theta));
    if (theta == 1) fact("turn", turn(400), 6);
    verify_limit(turn, 100, 4, area < M_PI ? area : round - area);
    verify_limit([&](Index steps) {
      return parallel_transport(polar, latitude(theta), w, 0.0, round, steps);
    }, 100, 4, w);
  }
}
BOOST_AUTO_TEST_CASE(transport_keeps_products) {
  const auto curve = [](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    return Vector<S>(Vector<S>{{sin(t), t * t, S(0.5) - t}});
  };
  const Vector<double> u = gaussian<double>(3, 1, 1, "u");
  const Vector<double> w = gaussian<double>(3, 1, 1, "w");
  const Vector<double> from = curve(0.0), to = curve(1.0);
  verify_limit([&](Index steps) {
    const auto end = [&](const Vector<double>& a) {
      return parallel_transport(crooked, curve, a, 0.0, 1.0, steps);
    };
    return inner(crooked, to, end(u), end(w));
  }, 50, 4, inner(crooked, from, u, w));
  BOOST_CHECK_EXCEPTION(
      parallel_transport(polar, curve, u, 0.0, 1.0, 0),
      std::invalid_argument, says("parallel_transport: steps"));
  BOOST_CHECK_EXCEPTION(geodesic(polar, u, Vector<double>(2), 1.0, 3),
                        std::invalid_argument, says("autoparallel: x has 3"));
}
BOOST_AUTO_TEST_CASE(one_step_along_a_ray) {
  const auto ray = [](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    return Vector<S>(Vector<S>{{S(1) + t, S(0)}});
  };
  const Vector<double> u{{1, 0}}, w = Vector<double>::Ones(3);
  BOOST_TEST((parallel_transport(polar, ray, u, 0.0, 1.0, 1) == u));
  const auto path = geodesic(polar, u, u, 1.0, 1);
  BOOST_TEST(path.size() == 2U);
  BOOST_TEST((path.back().v == u && path.front().x == u));
  verify((path.back().x - 2 * u).norm(), 0x1p-52);
  BOOST_CHECK_EXCEPTION(parallel_transport(polar, ray, w, 0.0, 1.0, 1),
                        std::invalid_argument, says("transport: w has 3"));
  BOOST_CHECK_EXCEPTION(geodesic(polar, u, u, 1.0, 0), std::invalid_argument,
                        says("autoparallel: steps is 0"));
}

// check the answers on curves
BOOST_AUTO_TEST_CASE(answer_coin) {
  const auto coin = [](const auto& p) {
    using S = typename std::decay_t<decltype(p)>::Scalar;
    const S g = S(1) / (p(0) * (S(1) - p(0)));
    return Matrix<S>(Matrix<S>::Constant(1, 1, g));
  };
  const auto arc = [](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    const S s = sin(t / S(2));
    return Vector<S>(Vector<S>::Constant(1, S(s * s)));
  };
  verify(std::abs(curve_length(coin, arc, 0.5, 3.0, 20) - 2.5), 200 * ulp);
}
BOOST_AUTO_TEST_CASE(answer_nearest) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<double> K = gaussian<double>(9, 4, seed);
    Index longest = 0, shortest = 0, best = 0, nearest = 0;
    K.rowwise().norm().maxCoeff(&longest);
    K.rowwise().norm().minCoeff(&shortest);
    const RowVector<double> l = K.row(longest), j = K.row(shortest);
    const double gap = l.squaredNorm() - j.squaredNorm();
    const RowVector<double> q = gap / (4 * (l.squaredNorm() - l.dot(j))) * l;
    (K * q.transpose()).col(0).maxCoeff(&best);
    (K.rowwise() - q).rowwise().norm().minCoeff(&nearest);
    BOOST_TEST(best == longest);
    BOOST_TEST(nearest != best);
  }
}
BOOST_AUTO_TEST_CASE(answer_octant) {
  const auto radius = [](double angle) {
    return [=](const auto& t) {
      using S = std::decay_t<decltype(t)>;
      return Vector<S>{{t * S(std::cos(angle)), t * S(std::sin(angle))}};
    };
  };
  const auto arc = [](const auto& t) {
    using S = std::decay_t<decltype(t)>;
    return Vector<S>{{S(2) * cos(t), S(2) * sin(t)}};
  };
  const auto g = stereographic(2);
  verify_limit([&](Index n) {
    Vector<double> w{{1, 0}};
    w = parallel_transport(g, radius(0), w, 0.0, 2.0, n);
    w = parallel_transport(g, arc, w, 0.0, M_PI / 2, n);
    return parallel_transport(g, radius(M_PI / 2), w, 2.0, 0.0, n);
  }, 50, 4, Vector<double>{{0, 1}});
}
BOOST_AUTO_TEST_SUITE_END()
