// A user's program: two translation units, each of which includes the whole library.
#include "worked.hpp"
#include <iostream>

double in_float();

int main() {
  std::cout << attn::version << '\n';
  const double d = worked_example<double>(), f = in_float();
  std::cerr << "off by " << d << " in double, " << f << " in float\n";
  return d < 1e-15 && f < 1e-6 && f > 1e-15 ? 0 : 1;
}
