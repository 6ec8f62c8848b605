// live/variants_offsets.cpp: tangled from chapters/05a-positions-checks.nw; edit that file, not this one.
#include "attn/positions.hpp"
#include "port.hpp"
using namespace attn;

extern "C" int live_offsets(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const double base = in.number();
  const Index d = 2 * in.whole(), heads = in.whole(), head = in.whole();
  const Rotary<double> R{frequencies<double>(d, base)};
  const Matrix<double> ones = Matrix<double>::Constant(129, d, 1);
  const Matrix<double> P = rotate<double>(ones, R);
  const double m = alibi_slopes(heads)[std::size_t(head - 1)];
  for (Index t = 0; t < P.rows(); ++t) {
    out(P.row(0).dot(P.row(t)) / double(d));
    out(std::exp(-m * double(t)));
  }
  return out.count;
}
