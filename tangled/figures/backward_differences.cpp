// figures/backward_differences.cpp: tangled from chapters/04-backward-checks.nw; edit that file, not this one.
#include "attn/verify_gradients.hpp"
#include "attn/random.hpp"
#include <iostream>
#include "problems.hpp"
using namespace backward;
using attn::detail::direction_like, attn::detail::moved_inputs;

// take one derivative by central differences
/// Loss at x + t u, evaluated in S.
template <class S>
quad loss_at(const quad& t) {
  const auto x = lift<quad>(small_problem(1));
  const auto u = lift<quad>(direction_like(x, 5));
  const auto y = lift<S>(moved_inputs(x, u, t));
  const OutputParts<S> w{gaussian<S>(4, 3, 4, "dO")};
  return quad(cotangent_loss(attention_forward(y), w));
}
template <class S>
quad central(double h) {
  return (loss_at<S>(h) - loss_at<S>(-h)) / (2 * quad(h));
}
quad sixth_order(double h) {
  return line_derivative([](const quad& t) { return loss_at<quad>(t); },
                         quad(h)).value;
}

int main() {
  std::cout << "h,single,double,quad,sixth\n";
  const auto x = lift<quad>(small_problem(1));
  const OutputParts<quad> w{gaussian<quad>(4, 3, 4, "dO")};
  const AttentionParts<quad> u = lift<quad>(direction_like(x, 5));
  const quad slope = duality(attention_vjp(x, w), u);
  const auto off = [&](const quad& value) {
    return std::max(to_double(quad(abs(value / slope - 1))), roundings(10));
  };
  for (int k = 4; k <= 90; ++k) {
    const double h = std::pow(2.0, -k);
    std::cout << h << ',' << off(central<float>(h)) << ','
              << off(central<double>(h)) << ',' << off(central<quad>(h))
              << ',' << off(sixth_order(h)) << '\n';
  }
}
