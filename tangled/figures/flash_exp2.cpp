// figures/flash_exp2.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "attn/exp2.hpp"
#include <array>
#include <cmath>
#include <iostream>

int main() {
  const std::array r{0.693147202855, 0.240226479136, 0.0555033247119,
                     0.00961843735696, 0.00133988743934, 0.000153533620689};
  std::cout << "f,polynomial,computed\n";
  for (int k = -400; k <= 400; ++k) {
    const double f = k / 801.0 + (k % 3) * 1e-4;
    double p = 0;
    for (std::size_t a = r.size(); a-- > 0;) p = (p + r[a]) * f;
    const float x = float(f);
    const double truth = std::exp2(double(x));
    std::cout << f << ',' << ((1 + p) / std::exp2(f) - 1) * 0x1p24 * 10 << ','
              << (double(attn::exp2(x)) / truth - 1) * 0x1p24 << '\n';
  }
}
