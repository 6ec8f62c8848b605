// figures/flash_roofline.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -O3 -march=native -DNDEBUG -Wno-uninitialized
#include "../bench/flash_peak.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>

// take the median of five rates
static double median(const std::function<double()>& rate) {
  std::vector<double> x(5);
  for (double& y : x) y = rate();
  std::sort(x.begin(), x.end());
  return x[2];
}
template <class F>
double rate_of(double operations, F f) {
  f();
  return median([&] {
    const double start = thread_seconds();
    f();
    return operations / (thread_seconds() - start);
  });
}

// attend by stored scores
static void stored(const Problem<float>& p, Matrix<float>& S,
                   Matrix<float>& O) {
  S.noalias() = p.Q * p.K.transpose();
  for (Index i = 0; i < S.rows(); ++i) {
    float* row = &S(i, 0);
    const float m = S.row(i).maxCoeff(), factor = 0.125f * 1.442695f;
    for (Index j = 0; j < S.cols(); ++j)
      row[j] = attn::exp2(factor * (row[j] - m));
    S.row(i) /= S.row(i).sum();
  }
  O.noalias() = S * p.V;
}

int main() {
  const Index n = 2048, d = 64;
  const Index B = FlashRule<float>{}.groups * detail::lanes<float>;
  const auto cache = gaussian<float>(1 << 17, 128, 1);
  const double F = median([] { return peak<float>(); });
  const double X = median(exp_rate);
  const double M = median([&] { return read_rate(cache); });
  const double ceiling = F / (1 + F / (256 * X));
  std::cout << "x,roof,ceiling,flash,naive,decode\n";
  for (double x = 0.125; x <= 1024; x *= 2)
    std::cout << x << ',' << std::min(F, M * x) * 1e-9 << ','
              << std::min(ceiling, M * x) * 1e-9 << ",nan,nan,nan\n";

  // place the points under the roof
  Ours<float> x(1, n, d, {});
  const double work = 4.0 * double(d * n * n);
  const double flash = rate_of(work, [&] { x.forward(); });
  Matrix<float> S(n, n), O(n, d);
  const double naive = rate_of(work, [&] { stored(x.p[0], S, O); });
  const RowVector<float> q = gaussian<float>(1, 64, 1);
  const std::vector<Page<float>> pages{
      {{cache.data(), cache.rows(), 64, Eigen::OuterStride<>(128)},
       {cache.data() + 64, cache.rows(), 64, Eigen::OuterStride<>(128)}}};
  const double decoding =
      rate_of(4.0 * 64 * double(cache.rows()),
              [&] { keep(decode<float>(q, pages).o.data()); });
  const double moved = 4.0 * double(n * d + (n / B) * n * 2 * d + n * d);
  std::cout << work / moved << ",nan,nan," << flash * 1e-9 << ",nan,nan\n"
            << double(d) / 4 << ",nan,nan,nan," << naive * 1e-9 << ",nan\n"
            << "0.5,nan,nan,nan,nan," << decoding * 1e-9 << '\n';
}
