// include/attn/glyphs.hpp: tangled from chapters/08-hopfield.nw; edit that file, not this one.
#pragma once
#include "attn/argument.hpp"
#include "attn/random.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace attn {
namespace detail {
// write the alphabet as strokes
/// Strokes of the capital letters: pairs of digits are points x y of a grid
/// 4 wide and 6 high; a blank lifts the pen.
inline constexpr std::array<const char*, 26> alphabet{
    "002640 1232",              "00063645443303 3342413000",
    "4536160501103041",         "00062644422000",
    "46060040 0333",            "460600 0333",
    "45361605011030414323",     "0006 4046 0343",
    "1636 2620 1030",           "4641301001",
    "0006 4602 1340",           "060040",
    "0006234640",               "00064046",
    "163645413010010516",       "00063645443303",
    "163645413010010516 2240",  "00063645443303 2340",
    "453616050413334241301001", "0646 2620",
    "060110304146",             "062046",
    "0610243046",               "0046 0640",
    "062346 2320",              "06460040"};

// measure the distance from the strokes
/// Distance of the point (x, y) from the segment between (a, b) and (c, d).
inline double segment_distance(double x, double y, double a, double b,
                               double c, double d) {
  const double u = c - a, v = d - b, w = u * u + v * v;
  const double t =
      w > 0 ? std::clamp(((x - a) * u + (y - b) * v) / w, 0.0, 1.0) : 0;
  return std::hypot(x - a - t * u, y - b - t * v);
}
/// Distance of (x, y) from the nearest of the strokes.
inline double ink_distance(std::string_view strokes, double x, double y) {
  double nearest = HUGE_VAL;
  const auto at = [&](std::size_t k) { return double(strokes[k] - '0'); };
  for (std::size_t k = 0; k + 3 < strokes.size(); k += 2) {
    if (strokes[k] == ' ') --k;  // the next stroke begins one further on
    else if (strokes[k + 2] != ' ')
      nearest = std::min(nearest, segment_distance(x, y, at(k), at(k + 1),
                                                   at(k + 2), at(k + 3)));
  }
  return nearest;
}
}  // namespace detail

// rasterise the strokes
/// The letter c in signs, 1 for ink: 8 scale rows of 6 scale pixels, one
/// after the other.  Throws std::invalid_argument unless c is in A..Z and
/// scale >= 1.
inline RowVector<double> glyph(char c, Index scale = 3) {
  require('A' <= c && c <= 'Z', "glyph: no strokes for '", c, "'");
  require(scale >= 1, "glyph: scale ", scale);
  const char* strokes = detail::alphabet[std::size_t(c - 'A')];
  const Index rows = 8 * scale, cols = 6 * scale;
  RowVector<double> x(rows * cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      // ink pixel $(i,j)$ near a stroke
      const double u = (double(j) + 0.5) / double(scale) - 1;
      const double v = 7 - (double(i) + 0.5) / double(scale);
      x(i * cols + j) = detail::ink_distance(strokes, u, v) < 0.5 ? 1 : -1;
    }
  return x;
}
/// The letters of a text, one per row.
inline Matrix<double> glyphs(std::string_view text, Index scale = 3) {
  Matrix<double> K(Index(text.size()), 48 * scale * scale);
  for (Index i = 0; i < K.rows(); ++i)
    K.row(i) = glyph(text[std::size_t(i)], scale);
  return K;
}

// damage a picture
/// Each entry of x changes its sign with probability p; from entry `from`
/// on, entries are replaced by fair coins.  Throws std::domain_error unless
/// 0 <= p <= 1.
inline RowVector<double> damaged(RowVector<double> x, double p, Index from,
                                 std::uint64_t seed) {
  require_domain(0 <= p && p <= 1, "damaged: p = ", p);
  const Matrix<double> chance = uniform<double>(2, x.size(), seed, "damage");
  for (Index k = 0; k < x.size(); ++k) {
    if (chance(0, k) < 2 * p - 1) x(k) = -x(k);
    if (k >= from) x(k) = chance(1, k) < 0 ? -1 : 1;
  }
  return x;
}
}  // namespace attn
