// figures/checking_step.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "attn/autodiff.hpp"
#include "attn/quad.hpp"
#include <complex>
#include <iostream>
using namespace attn;

// the function that is differentiated in the figure
const auto sample = [](const auto& x) {
  using std::exp, std::log;
  const auto e = exp(x);
  return std::decay_t<decltype(x)>(log(e + e * e + 1.0 / e));
};

int main() {
  const quad truth = derivative(sample, quad(0.7));
  const auto off = [&](const quad& x) {
    return std::max(to_double(quad(abs(x - truth))), 1e-36);
  };
  const double dual = off(quad(derivative(sample, 0.7)));
  std::cout << "h,forward,central,complex,quad,dual\n";
  for (double power = 0; power >= -30; power -= 0.25) {
    // print the errors of the quotients with this step
    const double h = std::pow(10, power), x = 0.7;
    const quad H = h, X = x;
    const double forward = (sample(x + h) - sample(x)) / h;
    const double central = (sample(x + h) - sample(x - h)) / (2 * h);
    const double complex = sample(std::complex<double>(x, h)).imag() / h;
    const quad better =
        (sample(quad(X + H)) - sample(quad(X - H))) / (2 * H);
    std::cout << h << ',' << off(quad(forward)) << ',' << off(quad(central))
              << ',' << std::max(off(quad(complex)), 1e-18) << ','
              << off(better) << ',' << std::max(dual, 1e-18) << '\n';
  }
}
