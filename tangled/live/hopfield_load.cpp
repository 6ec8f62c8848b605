// live/hopfield_load.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/hopfield.hpp"
#include "port.hpp"
using namespace attn;

// draw patterns and count the stable
/// M patterns of d fair coins.
inline Matrix<double> signs(Index M, Index d, std::uint64_t seed,
                            std::string_view name = "signs") {
  return uniform<double>(M, d, seed, name).unaryExpr(
      [](double x) { return x < 0 ? -1.0 : 1.0; });
}

/// Fraction of the patterns that are exact fixed points.
inline double stable_fraction(const Matrix<double>& K) {
  const Matrix<double> h = K * hebb_sums(K);
  Index stable = 0;
  for (Index j = 0; j < K.rows(); ++j)
    stable += (h.row(j).cwiseProduct(K.row(j)).array() >= 0).all();
  return double(stable) / double(K.rows());
}
/// Overlaps with the first patterns after settling from them.
inline Vector<double> settled_overlaps(const Matrix<double>& K,
                                       Index tries) {
  const Matrix<double> W = hebb_sums(K);
  Vector<double> m(tries);
  for (Index j = 0; j < tries; ++j) {
    const Vector<double> k = K.row(j).transpose();
    m(j) = settle(W, k, std::uint64_t(j + 1), 30).x.dot(k);
  }
  return m / double(K.cols());
}
extern "C" int live_load(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Index M = in.whole();
  const Matrix<double> K = signs(M, 256, std::uint64_t(in.whole()));
  out(stable_fraction(K));
  out(settled_overlaps(K, std::min<Index>(M, 12)));
  return out.count;
}
