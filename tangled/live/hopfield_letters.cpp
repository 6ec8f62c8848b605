// live/hopfield_letters.cpp: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one.
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
extern "C" int live_letters(const double* x, double* y) {
  live::In in{x};
  live::Out out{y};
  static const Matrix<double> W = hebb_sums(alphabet());
  const Damaged letter(in);
  const auto found = settle<double>(W, letter.cue.transpose());
  const RowVector<double> one =
      hopfield_update(letter.cue, alphabet(), in.number()).row(0);
  const auto wrong = [&](const RowVector<double>& z) {
    return double((z.array() * letter.whole.array() <= 0).count());
  };
  out(wrong(letter.cue)), out(wrong(found.x.transpose())), out(wrong(one));
  out(double(found.sweeps));
  out(letter.cue), out(found.x), out(one), out(letter.whole);
  return out.count;
}
