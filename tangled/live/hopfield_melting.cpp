// live/hopfield_melting.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
#include "attn/glyphs.hpp"
#include "attn/hopfield.hpp"
#include "port.hpp"
using namespace attn;

// hold all letters and a damaged one
static const Matrix<double>& alphabet() {
  static const Matrix<double> K = glyphs("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return K;
}
/// A letter by its number, each pixel turned over with a probability, and
/// nothing known of it from some pixel on.
struct Damaged {
  RowVector<double> whole, cue;
  explicit Damaged(live::In& in) : whole(alphabet().row(in.whole())) {
    const double p = in.number();
    const Index from = in.whole();
    cue = damaged(whole, p, from, std::uint64_t(in.whole()));
  }
};
extern "C" int live_melting(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  const Damaged letter(in);
  const double beta = in.number();
  const auto run = hopfield_retrieve(letter.cue, alphabet(), beta,
                                     in.whole(), 0.0);
  const Matrix<double> overlaps = scores(
      run.X, alphabet(), Metric<double>::identity(432));
  const Matrix<double> A = gibbs(overlaps, 1 / beta);
  out(effective_states(A)), out(A), out(run.X), out(letter.cue);
  return out.count;
}
