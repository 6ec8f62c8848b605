// live/geometry_geodesics.cpp: tangled from chapters/03-geometry-checks.nw; edit that file, not this one.
#include "attn/fisher.hpp"
#include "port.hpp"
using namespace attn;

// hold weights by two scores
static Vector<double> held(double s, double t) {
  return gibbs(RowVector<double>{{s, t, 0}}).transpose();
}
extern "C" int live_grasp(const double* x, double* y) {
  live::Out out{y};
  const double top = x[1] / std::sqrt(0.75), left = x[0] - top / 2;
  const Vector<double> p =
      Vector<double>{{left, top, 1 - left - top}}.cwiseMax(0.004);
  out(std::log(p(0) / p(2))), out(std::log(p(1) / p(2)));
  return out.count;
}

// place weights in the triangle and on the octant
static void place(const Vector<double>& p, live::Out& out) {
  const Vector<double> s = p.cwiseSqrt();
  const double k = 2 / (1 + s.sum() / std::sqrt(3.0));
  out(p(0) + p(1) / 2), out(p(1) * std::sqrt(0.75));
  out(k * (s(0) - s(2)) / std::sqrt(2.0));
  out(k * (2 * s(1) - s(0) - s(2)) / std::sqrt(6.0));
}

// draw the edges of the octant
extern "C" int live_edges(const double*, double* y) {
  live::Out out{y};
  for (Index a = 0; a < 3; ++a)
    for (int k = 0; k <= 30; ++k)
      place(fisher_rao_geodesic<double>(Vector<double>::Unit(3, a),
                                        Vector<double>::Unit(3, (a + 1) % 3),
                                        k / 30.0), out);
  return out.count;
}
extern "C" int live_ways(const double* x, double* y) {
  live::Out out{y};
  const auto p = held(x[0], x[1]), q = held(x[2], x[3]);
  out(p), out(q), out(fisher_rao_distance(p, q));
  out(kl(p.transpose(), q.transpose()));
  out(kl(q.transpose(), p.transpose()));
  for (int k = 0; k <= 40; ++k) {
    const double t = k / 40.0;
    place(fisher_rao_geodesic(p, q, t), out);
    place(e_geodesic(p, q, t), out);
    place(m_geodesic(p, q, t), out);
  }
  return out.count;
}
