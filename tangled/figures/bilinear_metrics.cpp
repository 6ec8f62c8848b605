// figures/bilinear_metrics.cpp: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one.
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <numbers>
#include <Eigen/LU>
#include "attn/attention.hpp"

using attn::Matrix, attn::Index;

// describe one panel of the picture
const Matrix<double> query{{0.9, -0.25}};
const Matrix<double> keys{{1.5, 0.55}, {1.05, -0.7}, {0.1, -1.25},
                          {-0.9, -0.35}, {-0.5, 0.9}, {0.5, 1.2}};
struct Panel {
  Matrix<double> ball, line, winner;
};
Panel panel(const attn::Metric<double>& g) {
  Matrix<double> circle(121, 2);
  for (Index t = 0; t <= 120; ++t) {
    const double a = double(t) * std::numbers::pi / 60;
    circle.row(t) << std::cos(a), std::sin(a);
  }
  Index best = 0;
  attn::scores(query, keys, g).row(0).maxCoeff(&best);
  const Matrix<double> low = g.lower(query).normalized();
  const Matrix<double> along{{-low(1), low(0)}}, win = keys.row(best);
  Matrix<double> line(2, 2);
  line << win - 4 * along, win + 4 * along;
  return {circle * attn::cholesky(g.dense()).inverse(), line, win};
}
double at(const Matrix<double>& m, Index t, Index c) {
  return t < m.rows() ? m(t, c) : std::numeric_limits<double>::quiet_NaN();
}
void print_row(const Panel& p, Index t) {
  for (const Matrix<double>* m : {&p.ball, &p.line, &p.winner})
    for (const Index c : {0, 1}) std::cout << ',' << at(*m, t, c);
}

int main() {
  const Matrix<double> W{{0.9, -0.9}}, one = Matrix<double>::Identity(2, 2);
  const std::array g{one, Matrix<double>{{0.36, 0}, {0, 3.2}},
                     Matrix<double>(W.transpose() * W + 0.15 * one)};
  std::cout << "keyx,keyy";
  for (const char* p : {"0", "1", "2"})
    for (const char* c : {"ballx", "bally", "linex", "liney", "winx", "winy"})
      std::cout << ',' << c << p;
  for (Index t = 0; t <= 120; ++t) {
    std::cout << '\n' << at(keys, t, 0) << ',' << at(keys, t, 1);
    for (const auto& m : g) print_row(panel(attn::Metric<double>::full(m)), t);
  }
  std::cout << '\n';
}
