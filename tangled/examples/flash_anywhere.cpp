// examples/flash_anywhere.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// Compares the kernel with the definition on any processor.
#include <Eigen/Dense>
#include "attn/flash.hpp"
#include "attn/random.hpp"

#include <cmath>
#include <cstdio>
using namespace attn;

// count what is compared and what is wrong
static int compared = 0, wrong = 0;
void see(double x, double truth, double tolerance) {
  ++compared;
  wrong += !(x == truth ||
             std::abs(x - truth) <= tolerance * (1 + std::abs(truth)));
}
template <class M>
void see(const M& found, const Eigen::MatrixXd& truth, double tolerance) {
  for (Index i = 0; i < truth.rows(); ++i)
    for (Index j = 0; j < truth.cols(); ++j)
      see(double(found(i, j)), truth(i, j), tolerance);
}

// evaluate attention and its gradient in double
using Wide = Eigen::MatrixXd;
struct Definition {
  Wide Q, K, V, dO, O, dQ, dK, dV, L;
  double dsink = 0;
};
template <class T>
void evaluate(Definition& x, const FlashRule<T>& r, Index i) {
  const Index m = x.K.rows(), at = i + m - x.Q.rows();
  const double scale = 1 / std::sqrt(double(x.Q.cols()));
  Eigen::VectorXd slope = Eigen::VectorXd::Ones(m), A = 0 * slope;
  double Z = r.sink ? std::exp(double(*r.sink)) : 0;
  for (Index j = 0; j < m; ++j)

    // weigh one key in double
    {
      double s = scale * x.Q.row(i).dot(x.K.row(j));
      if (r.softcap) {
        const double c = double(*r.softcap), t = std::tanh(s / c);
        s = c * t, slope(j) = 1 - t * t;
      }
      s -= double(r.slope) * std::abs(double(at - j));
      if ((!r.right || j <= at + *r.right) && (!r.left || j >= at - *r.left))
        Z += A(j) = std::exp(s);
    }
  x.L(i, 0) = std::log(Z);
  if (Z == 0) return;
  A /= Z;
  const Eigen::VectorXd g = x.dO.row(i), dA = x.V * g;
  const Eigen::VectorXd dS = A.array() * (dA.array() - A.dot(dA));
  const Eigen::VectorXd dX = scale * dS.cwiseProduct(slope);
  x.O.row(i) = A.transpose() * x.V;
  x.dV += A * g.transpose();
  x.dQ.row(i) = dX.transpose() * x.K;
  x.dK += dX * x.Q.row(i);
  if (r.sink) x.dsink -= std::exp(double(*r.sink)) / Z * A.dot(dA);
}

// compare a head on any processor
template <class T>
void compare(Index n, Index d, const FlashRule<T>& rule) {
  const Index m = 65, e = d + 1;
  const auto Q = gaussian<T>(n, d, 1, "Q"), K = gaussian<T>(m, d, 1, "K");
  const auto V = gaussian<T>(m, e, 1, "V"), dO = gaussian<T>(n, e, 1, "dO");
  const auto wide = [](const Matrix<T>& x) {
    return Wide(x.template cast<double>());
  };
  Definition x{wide(Q), wide(K), wide(V), wide(dO), Wide::Zero(n, e),
               Wide::Zero(n, d), Wide::Zero(m, d), Wide::Zero(m, e),
               Wide::Zero(n, 1)};
  for (Index i = 0; i < n; ++i) evaluate(x, rule, i);
  const auto y = flash(Q, K, V, rule);
  const auto g = flash_vjp(Q, K, V, y, dO, rule);
  const double u = double(std::numeric_limits<T>::epsilon()) / 2;
  const double tolerance = u * double(d + n + m);
  see(y.O, x.O, tolerance), see(g.Q, x.dQ, tolerance);
  see(g.K, x.dK, tolerance), see(g.V, x.dV, tolerance);
  see(y.logZ, x.L, tolerance), see(double(g.sink), x.dsink, tolerance);
}
template <class T>
void compare_heads() {
  const Index w = detail::lanes<T>;
  int k = 0;
  for (const Index n : {Index(1), w - 1, w, w + 1, 2 * w + 1})
    for (const Index d : {1, 3, 16, 17, 64}) {
      FlashRule<T> rule;
      rule.key_block = 32, rule.groups = 1 + k % 2;
      if (k % 4 == 1) rule.right = 0;
      if (k % 4 == 2) rule.right = 3, rule.left = w;
      if (k % 4 == 3)
        rule.softcap = T(1.5), rule.slope = T(0.125), rule.sink = T(0.5);
      compare(n, d, rule);
      ++k;
    }
}

// compare few queries on any processor
template <class T>
void compare_few() {
  const auto Q = gaussian<T>(6, 16, 1, "Q"), K = gaussian<T>(300, 16, 1, "K");
  const auto V = gaussian<T>(300, 8, 1, "V");
  const std::vector<Page<T>> pages{{view_in<T>(K), view_in<T>(V)}};
  const double tolerance = 150 * double(std::numeric_limits<T>::epsilon());
  FlashRule<T> rule = causal_rule<T>();
  rule.share = 3;
  const auto few = decode<T>(Q, pages, rule);
  for (Index i = 0; i < 6; ++i) {
    const Index n = 299 + i / 3;
    Definition x{Q.row(i).template cast<double>(),
                 K.topRows(n).template cast<double>(),
                 V.topRows(n).template cast<double>(), Wide::Zero(1, 8),
                 Wide::Zero(1, 8), Wide::Zero(1, 16), Wide::Zero(n, 16),
                 Wide::Zero(n, 8), Wide::Zero(1, 1)};
    evaluate(x, FlashRule<T>{}, 0);
    see(few[std::size_t(i)].output(), x.O, tolerance);
    see(double(few[std::size_t(i)].logZ()), x.L(0, 0), tolerance);
  }
}

int main() {
  compare_heads<float>(), compare_heads<double>();
  compare_few<float>(), compare_few<double>();
  std::printf("lanes of %d floats: %d numbers compared, %d wrong\n",
              detail::lanes<float>, compared, wrong);
  return wrong != 0 || compared < 1000;
}
