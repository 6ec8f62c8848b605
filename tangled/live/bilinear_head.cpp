// live/bilinear_head.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include "attn/attention.hpp"
#include "port.hpp"
using namespace attn;

// walk along the level curves
static void level_curves(const Bilinear<double>& B, live::Out& out) {
  for (int t = 0; t <= 180; ++t) {
    const double angle = t * M_PI / 90;
    const Vector<double> u{{std::cos(angle), std::sin(angle)}};
    const double square = inner(u, u, B);
    out(std::min(10.0, 1 / std::sqrt(std::abs(square))) * u);
    out(square > 0 ? 1 : -1);
  }
}
extern "C" int live_head(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Matrix<double> tokens{{1.2, 0.3}, {-0.4, 1.1}, {-0.7, -0.9}};
  const Matrix<double> w_Q = in.matrix(2, 1), w_K = in.matrix(2, 1);
  const HeadForm<double> head{w_Q, w_K};
  const Signature found = signature(head.dense());
  for (const Index n : {found.positive, found.negative, found.null})
    out(double(n));
  const Matrix<double> A = softmax(scores(tokens, tokens, head));
  out(A);
  out(A(0, 1) * A(1, 2) * A(2, 0) / (A(1, 0) * A(2, 1) * A(0, 2)));
  level_curves(head.dense(), out);
  return out.count;
}
