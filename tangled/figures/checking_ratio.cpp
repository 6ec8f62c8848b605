// figures/checking_ratio.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include <array>
#include <iostream>
#include "layer.hpp"
using namespace attn;

// take the worst ratio of a result
double ratio(const Matrix<double>& computed, const Matrix<quad>& truth,
             const Matrix<double>& bound) {
  double worst = 0;
  for (Index i = 0; i < bound.rows(); ++i)
    for (Index j = 0; j < bound.cols(); ++j) {
      const quad error = abs(quad(computed(i, j)) - truth(i, j));
      worst = std::max(worst, to_double(error) / bound(i, j));
    }
  return worst;
}

// sort ratios into bins of a tenth of a decade
using Bins = std::array<int, 40>;

void drop(Bins& bins, double x) {
  const double b = std::floor(10 * (std::log10(x) + 3));
  ++bins[std::size_t(std::clamp(b, 0.0, 39.0))];
}

int main() {
  Bins product{}, probable{}, weights{};
  for (std::uint64_t i = 0; i < 3000; ++i) {
    // draw a product and a softmax and bin their ratios
    const Index k = 1 + Index(i % 64);
    const Matrix<double> A = gaussian<double>(4, k, i);
    const Matrix<double> B = gaussian<double>(k, 4, i + 10000);
    const double worst =
        ratio(Matrix<double>(A * B),
              Matrix<quad>(lift<quad>(A) * lift<quad>(B)),
              product_bound(A, B));
    drop(product, worst);
    drop(probable, worst * std::sqrt(double(k)));
    const Matrix<double> S = 3 * A;
    drop(weights, ratio(softmax(S), softmax(lift<quad>(S)),
                        softmax_bound(S, Matrix<double>::Zero(4, k))));
  }
  std::cout << "ratio,product,probable,softmax\n";
  for (std::size_t b = 0; b < product.size(); ++b)
    std::cout << std::pow(10, 0.1 * double(b) - 3) << ',' << product[b]
              << ',' << probable[b] << ',' << weights[b] << '\n';
}
