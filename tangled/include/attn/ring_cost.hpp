// include/attn/ring_cost.hpp: tangled from chapters/10-ring.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "attn/argument.hpp"

namespace attn {
// simulate a ring
/// Latency in seconds and bandwidth in bytes per second of a message.
struct Network {
  double alpha, bandwidth;
  double seconds(double bytes) const { return alpha + bytes / bandwidth; }
};
/// Seconds that a ring takes, and the largest sum of work of a rank in it.
struct RingTime {
  double total, busiest;
};
/// Time of a ring of p ranks; work(r, t): seconds of rank r's tile at step
/// t; message: seconds of sending a block.  Throws std::invalid_argument if
/// p < 1.
template <class Work>
RingTime ring_time(int p, Work work, double message) {
  require(p >= 1, "ring_time: ", p, " ranks");
  const auto size = std::size_t(p);
  std::vector<double> start(size, 0.0), busy(size, 0.0), next(size);
  RingTime time{0, 0};
  for (int t = 0; t < p; ++t, start.swap(next))
    for (std::size_t r = 0; r < size; ++r)

      // let each rank take a step
      {
        const double done = start[r] + work(int(r), t);
        busy[r] += done - start[r];
        time.total = std::max(time.total, done);
        time.busiest = std::max(time.busiest, busy[r]);
        const double met = std::max({start[r], start[r > 0 ? r - 1 : size - 1],
                                     start[r + 1 < size ? r + 1 : 0]});
        next[r] = std::max(done, met + message);
      }
  return time;
}
/// Time of a ring of p ranks going back, in which blocks and their sums are
/// messages of the same length; lap: with the second lap at the end.
/// Throws std::invalid_argument if p < 1.
template <class Work>
double ring_time_back(int p, Work work, double message, bool lap) {
  require(p >= 1, "ring_time_back: ", p, " ranks");
  const auto size = std::size_t(p);
  std::vector<double> start(size, 0.0), sent(size), ready(size);
  std::vector<double> sums(size, 0.0), last(size);
  const auto left = [&](std::size_t r) { return r > 0 ? r - 1 : size - 1; };
  const auto right = [&](std::size_t r) { return r + 1 < size ? r + 1 : 0; };
  for (int t = 0; t < p; ++t) {
    last = sums;

    // let each rank take a step back
    for (std::size_t r = 0; r < size; ++r) {
      sent[r] = t + 1 < p
          ? std::max({start[r], start[right(r)], last[r]}) + message : start[r];
      ready[r] = start[r] + work(int(r), t);
      if (t > 0) ready[r] = std::max({ready[r], last[r], last[left(r)]});
    }
    for (std::size_t r = 0; p > 1 && r < size; ++r)
      sums[r] = std::max({ready[r], ready[right(r)], sent[r]}) + message;
    for (std::size_t r = 0; r < size; ++r)
      start[r] = std::max({ready[r], sent[r], sent[left(r)]});
  }
  const auto& end = p > 1 ? sums : ready;
  return *std::max_element(end.begin(), end.end()) +
         (lap && p > 1 ? p * message : 0);
}

// simulate a layer on a grid
/// n positions, H heads of queries on G of keys, d features of keys and of
/// values, s bytes a number.
struct LayerExtents {
  double n, H, G, d, s;
};

/// Operations per second; the network, and the one among the `near` ranks
/// of a machine; seconds for a row of a head to meet a block.
struct Machine {
  double flops;
  Network far, inner;
  int near = 1;
  double row = 0;
};
/// The three placements of causal attention.
enum class Placement { contiguous, zigzag, striped };

/// Causal pairs of place r at step t of a ring of places with m rows each,
/// of `a` ranks together (thm. balance, cor. grid-balance).
inline double causal_pairs(Placement where, int r, int t, double m,
                           double a = 1) {
  if (t == 0) return m * (m + 1) / 2;
  if (where == Placement::striped) return m * (t <= r ? m + a : m - a) / 2;
  if (where == Placement::zigzag) return m * m / 2;
  return t <= r ? m * m : 0;
}
/// Do so many columns divide p ranks, and the heads of a layer evenly?
inline bool fits_grid(const LayerExtents& x, int p, int columns) {
  const auto divides = [](double a, double b) { return std::fmod(b, a) == 0; };
  return p >= 1 && columns >= 1 && p % columns == 0 && x.G >= 1 &&
         x.H >= x.G && divides(1, x.G) && divides(x.G, x.H) &&
         (divides(columns, x.G) ||
          (divides(x.G, columns) && divides(columns, x.H)));
}
/// Seconds of causal attention on a grid of so many columns, forward or
/// back (prop. volume), there with a second lap in each wave or without.
/// Throws std::invalid_argument unless they fit the grid.
inline double grid_time(const LayerExtents& x, const Machine& f,
                        Placement where, int p, int columns, bool back,
                        bool lap = true) {
  require(fits_grid(x, p, columns), "grid_time: ", columns, " columns for ",
          p, " ranks and ", x.H, " heads on ", x.G);
  const double a = columns, kv = std::max(1.0, x.G / a), q = x.H / a;
  const double waves = columns == 1 ? 1 : kv;

  // time the circle of a wave
  const int b = p / columns;
  const double m = x.n / b, ops = (back ? 10 : 4) * x.d * q / waves;
  const auto work = [&](int r, int t) {
    return causal_pairs(where, r, t, m, a) * ops / f.flops +
           f.row * m * q / waves;
  };
  const Network& net = p <= f.near ? f.inner : f.far;
  const double message = net.seconds(2 * x.s * m * x.d * kv / waves);
  const double wave = back ? ring_time_back(b, work, message, lap)
                           : ring_time(b, work, message).total;
  if (columns == 1) return wave;

  // time the exchanges of a wave
  const bool inside = p <= f.near || std::fmod(f.near, columns) == 0;
  const Network& beside = inside ? f.inner : f.far;
  const double rows = x.n / p * (a - 1) * x.s, Q = q / waves;
  const double out = Q * (back ? 3 * x.d + 2 : x.d) + 2 * x.d;
  const double in = back ? Q * x.d + 2 * x.d : Q * (x.d + 1);
  const auto exchange = [&](int messages, double bytes) {
    return messages * (a - 1) * beside.alpha + bytes / beside.bandwidth;
  };
  const double there = exchange(2, rows * out);
  const double home = exchange(back ? 2 : 1, rows * in);
  if (waves == 1) return there + wave + home;
  return there + std::max(wave, there) +
         (waves - 2) * std::max(wave, there + home) +
         std::max(wave, home) + home;
}
/// Share of the ideal speed that grid_time leaves.  Throws like it.
inline double grid_speed(const LayerExtents& x, const Machine& f,
                         Placement where, int p, int columns, bool back,
                         bool lap = true) {
  const double ops = x.n * (x.n + 1) / 2 * x.H * (back ? 10 : 4) * x.d;
  return ops / f.flops / p / grid_time(x, f, where, p, columns, back, lap);
}
/// The best number of columns between 1 and p of those that fit the grid;
/// if there is none, p if that fits, or else 1.
inline int best_columns(const LayerExtents& x, const Machine& f, int p,
                        bool back) {
  int best = fits_grid(x, p, p) ? p : 1;
  double most = 0;
  for (int a = 2; a < p; ++a) {
    if (!fits_grid(x, p, a)) continue;
    const double speed = grid_speed(x, f, Placement::zigzag, p, a, back);
    if (speed > most) most = speed, best = a;
  }
  return best;
}
}  // namespace attn
