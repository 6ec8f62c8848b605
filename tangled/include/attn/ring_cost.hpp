// include/attn/ring_cost.hpp: tangled from chapters/10-ring.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

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
/// t; message: seconds of sending a block.
template <class Work>
RingTime ring_time(int p, Work work, double message) {
  const auto size = std::size_t(p);
  std::vector<double> start(size, 0.0), busy(size, 0.0), next(size);
  RingTime time{0, 0};
  for (int t = 0; t < p; ++t, start = next)
    for (std::size_t r = 0; r < size; ++r) {
      const double done = start[r] + work(int(r), t);
      busy[r] += done - start[r];
      time.total = std::max(time.total, done);
      time.busiest = std::max(time.busiest, busy[r]);
      next[r] = std::max({done, start[r] + message,
                          start[(r + size - 1) % size] + message});
    }
  return time;
}
}  // namespace attn
