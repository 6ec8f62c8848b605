// tests/layer_test.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "layer_case.hpp"
using namespace layers;

BOOST_AUTO_TEST_SUITE(layer)

// check a layer against its definition
BOOST_AUTO_TEST_CASE(by_its_definition) {
  for (int bits = 0; bits <= last_bits; bits += 17)
    for (int kind = 0; kind < 6; ++kind) {
      const Index n = 1 + (bits + 3 * kind) % 9, m = n + bits % 3;
      const auto seed = std::uint64_t(bits + 600 * kind);
      const auto L = draw_layer<quad>(bits, mask_of_kind(kind, m), m, seed);
      const auto X = gaussian<quad>(n, 5, seed, "X");
      const auto C = gaussian<quad>(m, 5, seed, "C");
      const auto truth = literal_layer(L, X, C);
      const auto t = layer_forward(L, X, C);
      verify(t.Y, truth.Y, 2 * truth.Y_error);
      verify_logZ<quad>(t.logZ, truth, 2);
    }
}

// check rows that are known to a digit
BOOST_AUTO_TEST_CASE(rows_known_to_a_digit) {
  const double u = unit_roundoff<quad>();
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const Index n = 3, d = 6;
    const auto draw = [&](Index a, Index b, const char* name) {
      return gaussian<quad>(a, b, seed, name);
    };
    RowRules rule{{}, draw(d, 1, "gain"), {}, d};
    if (seed % 3) rule.R = Rotary<quad>{frequencies<quad>(d, 100)};
    const Arithmetic with{1e-6, u, u, Index(seed)};
    const Quads x = draw(n, 2 * d, "x"), g = draw(n, 2 * d, "dx");
    const double most = seed % 2 ? 0.3 : 0.03;

    // move rows by what they may be off
    LiteralRows known{x, Matrix<double>(n, 2 * d)};
    LiteralRows moved{x, Matrix<double>::Zero(n, 2 * d)};
    for (Index k = 0; k < x.size(); ++k) {
      quad& a = known.x.data()[k];
      a += a < quad(0) ? quad(-1) : quad(1);
      const double size = std::abs(to_double(g.data()[k]));
      const double dx = most * size / (1 + size);
      const bool out = seed % 5 == 0 || (seed % 5 != 1 && g.data()[k] > quad(0));
      known.error.data()[k] = dx;
      moved.x.data()[k] = a + quad((a < quad(0)) == out ? -dx : dx);
    }
    const auto bound = carried_on(known, rule, with);
    verify(carried_on(moved, rule, with).x, bound.x,
           (1 + 100 * unit_roundoff<double>()) * bound.error);
  }
}

// check both roads forward
template <class S>
void check_forward_of_layers() {
  int kind = 0, bits = 0;
  for (const Index n : {1, 2, 15, 16, 17, 33, 64, 65, 128, 129})
    for (int k = 0; k < 5; ++k) {
      kind = (kind + 1) % 6, bits = (bits + 73) % (last_bits + 1);
      const Index m = n + 2 * (k % 2);
      const auto seed = std::uint64_t(n * 10 + k);
      auto L = draw_layer<S>(bits, mask_of_kind(kind, m), m, seed);
      const auto X = gaussian<S>(n, 5, seed, "X");
      const auto C = gaussian<S>(m, 5, seed, "C");
      const auto truth = literal_layer(L, X, C);
      for (const bool plain : {false, true}) {
        L.rules.by_definition = plain;
        const auto t = layer_forward(L, X, C);
        verify(t.Y, truth.Y, truth.Y_error);
        verify_logZ<S>(t.logZ, truth);
      }
    }
}
BOOST_AUTO_TEST_CASE(forward_in_double) { check_forward_of_layers<double>(); }
BOOST_AUTO_TEST_CASE(forward_in_float) { check_forward_of_layers<float>(); }

// check that heads turn like one head
BOOST_AUTO_TEST_CASE(turned_like_rotate) {
  const double u = unit_roundoff<double>();
  for (const Pairs pairs : {Pairs::neighbours, Pairs::halves})
    for (const Index fixed : {0, 3}) {
      const Rotary<double> R{frequencies<double>(4), pairs, fixed, 1.25};
      const Index d = 4 + fixed;
      const Matrix<double> X = gaussian<double>(5, 3 * d, 7, "X");
      const Places at(std::vector<Index>{9, 0, 4, 4, 1000});
      for (const bool back : {false, true}) {
        Matrix<double> Y = X;
        turn_heads<double>(Y, R, at, back);
        for (Index h = 0; h < 3; ++h) {
          const Matrix<double> one = X.middleCols(h * d, d);
          // a compiler may fuse a product with a sum in one of the two
          verify(Y.middleCols(h * d, d), rotate(one, R, at, back),
                 1.25 * 4 * u * Matrix<double>::Constant(
                     5, d, 2 * one.cwiseAbs().maxCoeff()));
        }
      }
    }

  // turn heads of one column and of none
  Matrix<double> X = gaussian<double>(5, 6, 7, "X");
  const Matrix<double> before = X;
  const auto turn = [&](Index planes, Index fixed, Index rows) {
    const Rotary<double> R{Vector<double>::Ones(planes), Pairs::halves, fixed};
    turn_heads<double>(X, R, Places(rows));
  };
  turn(0, 1, 5);
  BOOST_TEST((X == before));
  for (const auto& [planes, fixed, rows] :
       std::vector<std::array<Index, 3>>{{0, 0, 5}, {2, 0, 5}, {2, 2, 4}})
    BOOST_CHECK_EXCEPTION(turn(planes, fixed, rows), std::invalid_argument,
                          says("turn_heads: X is 5x6"));
}

// check that only differences count
BOOST_AUTO_TEST_CASE(only_differences_count) {
  const Index n = 12, far = 1000000;
  double moved = 0, allowed = HUGE_VAL;
  for (const int bits : {turned | 0, turned | partly, turned | gains | sinks,
                         turned | sloped | tables}) {
    const auto L = draw_layer<double>(bits, causal(n, n), n, 5);
    const auto X = gaussian<double>(n, 5, 5, "X");
    const Positions at{Places(n, far), Places(n, far)};
    const auto Y = layer_forward(L, X).Y;
    const auto Z = layer_forward(L, X, Sequences{{n}, {n}, {at}}).Y;
    const auto here = literal_layer(L, X, X);
    const auto there = literal_layer(L, X, X, far);
    verify(Z, there.Y, there.Y_error);
    verify(Z, Y, here.Y_error + there.Y_error);
    moved = std::max(moved, (Z - Y).cwiseAbs().maxCoeff());
    allowed = std::min(allowed, there.Y_error.maxCoeff());
  }
  fact("moved", moved, 2);
  fact("allowed", allowed, 2);
}

// check the gauge of a turned head
BOOST_AUTO_TEST_CASE(gauge_of_a_turned_head) {
  const Index d = 6;
  const Rotary<quad> R{frequencies<quad>(d, 100)};
  Matrix<quad> R1 = Matrix<quad>::Identity(d, d);
  R1 = Matrix<quad>(rotate(R1, R, Places(std::vector<Index>(6, 1)))
                        .transpose());
  const Matrix<quad> M = gaussian<quad>(d, d, 3, "M");
  Matrix<quad> P = Matrix<quad>::Zero(d, d);
  double gap = HUGE_VAL;
  for (Index a = 0; a < d; a += 2) {
    const quad c = (M(a, a) + M(a + 1, a + 1)) / quad(2);
    const quad s = (M(a + 1, a) - M(a, a + 1)) / quad(2);
    P(a, a) = P(a + 1, a + 1) = c, P(a + 1, a) = s, P(a, a + 1) = -s;

    // find the least difference of eigenvalues
    const double x = to_double(R.theta(a / 2));
    gap = std::min(gap, 2 * std::abs(std::sin(x)));
    for (Index b = 0; b < a; b += 2) {
      const double y = to_double(R.theta(b / 2));
      gap = std::min({gap, 2 * std::abs(std::sin((x - y) / 2)),
                      2 * std::abs(std::sin((x + y) / 2))});
    }
  }
  const auto commutator = [&](const Matrix<quad>& A) {
    return to_double(Matrix<quad>(times(A, R1) - times(R1, A)).norm());
  };
  verify(commutator(P), 20 * double(d) * unit_roundoff<quad>() *
                            to_double(P.norm()));
  refute(commutator(M - P),
         (1 - 1e-12) * gap * to_double(Matrix<quad>(M - P).norm()));

  // move scores by a change of gauge
  const Matrix<quad> x = gaussian<quad>(4, d, 3, "x");
  const Matrix<quad> y = gaussian<quad>(4, d, 3, "y");
  const auto inverse_of_rotations = [&] {
    Matrix<quad> I = P;  // scaled rotations: P^-1 = P^T / (c^2 + s^2)
    for (Index a = 0; a < d; a += 2)
      I.middleRows(a, 2) /= P(a, a) * P(a, a) + P(a + 1, a) * P(a + 1, a);
    return Matrix<quad>(I);
  };
  const auto scores = [&](const Matrix<quad>& A, const Matrix<quad>& B) {
    const Places q(4, 3), k(std::vector<Index>{0, 7, 2, 30});
    return Matrix<quad>(times(rotate(times(x, A), R, q),
                              rotate(times(y, B), R, k).transpose()));
  };
  const Matrix<quad> I = Matrix<quad>::Identity(d, d);
  const Matrix<quad> S = scores(I, I);
  const double stays = distance(scores(P, inverse_of_rotations()), S);
  verify(stays, 1e4 * unit_roundoff<quad>() * to_double(S.norm()));
  // M^-T for a triangular M = 1 + N with N^2 = 0
  Matrix<quad> N = Matrix<quad>::Zero(d, d);
  N.topRightCorner(3, 3) = M.topRightCorner(3, 3);
  const double moves = distance(scores(I + N, I - N.transpose()), S);
  refute(moves, 1e-3);
  fact("random", moves, 2);
  fact("commuting", stays, 1);
}

// check that normalised scores are bounded
BOOST_AUTO_TEST_CASE(normalised_scores_are_bounded) {
  const double u = unit_roundoff<double>();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto L = draw_layer<double>(gains | turned, causal(9, 9), 9, seed);
    const auto X = Matrix<double>(std::pow(10.0, double(seed) - 10) *
                                  gaussian<double>(9, 5, seed, "X"));
    const auto t = layer_forward(L, X);
    const double beta = L.parts.scale(0), s = std::abs(beta) * 6 *
        L.parts.gain_q.cwiseAbs().maxCoeff() *
        L.parts.gain_k.cwiseAbs().maxCoeff();
    for (Index h = 0; h < 4; ++h) {
      const Matrix<double> S = beta * t.Q.middleCols(6 * h, 6) *
                               t.K.middleCols(6 * (h / 2), 6).transpose();
      verify(S.cwiseAbs().maxCoeff(), s * (1 + 60 * u));
      const Matrix<double> A = softmax(S.leftCols(8));
      const double w = std::exp(2 * s) * (1 + 1000 * u * (1 + s));
      verify(A.maxCoeff(), 1 / (1 + 7 / w));
      verify(1 / (1 + 7 * w), A.minCoeff());
    }
  }

  // attain the bound on normalised scores
  Layer<double> L{xavier<double>({6, 1}, 4)};
  L.weights.W_K = L.weights.W_Q;
  L.parts.gain_q = L.parts.gain_k = Vector<double>::Constant(6, 1.5);
  const Matrix<double> X = gaussian<double>(1, 6, 4, "X");
  const double length = (X * L.weights.W_Q).squaredNorm();
  for (const double epsilon : {1e-300, 1e-6, 0.1, 10.0}) {
    L.rules.epsilon = epsilon;
    const auto t = layer_forward(L, X);
    const double score = 1.5 * 1.5 * 6 * length / (length + 6 * epsilon);
    verify(std::abs(t.Q.row(0).dot(t.K.row(0)) - score), score * 60 * u);
  }
}

// check that gains stand before rotations
BOOST_AUTO_TEST_CASE(gains_before_rotations) {
  const Index d = 6;
  const Rotary<quad> R{frequencies<quad>(d, 100)};
  const auto x = gaussian<quad>(1, d, 1, "x"), y = gaussian<quad>(1, d, 1, "y");
  const auto g_q = gaussian<quad>(1, d, 1, "g");

  // score with gains before a rotation or behind it
  const auto score = [&](const Matrix<quad>& g_k, bool first, Index p) {
    const auto at = [&](const Matrix<quad>& z, const Matrix<quad>& g,
                        Index position) {
      const Matrix<quad> w = first ? Matrix<quad>(z.cwiseProduct(g)) : z;
      const Matrix<quad> turned = rotate(w, R, Places(1, position));
      return first ? turned : Matrix<quad>(turned.cwiseProduct(g));
    };
    return times(at(x, g_q, p + 3), at(y, g_k, p).transpose())(0, 0);
  };
  Matrix<quad> planes = gaussian<quad>(1, d, 1, "products");
  for (Index a = 0; a < d; a += 2) planes(0, a + 1) = planes(0, a);
  planes = planes.cwiseQuotient(g_q);
  Matrix<quad> any = planes;
  any(0, 1) = -any(0, 1);
  const double small = 1e4 * unit_roundoff<quad>();  // an estimate
  for (const Index p : {1, 2, 50}) {
    verify(distance(score(any, true, p), score(any, true, 0)), small);
    verify(distance(score(planes, false, p), score(planes, false, 0)), small);
    refute(distance(score(any, false, p), score(any, false, 0)), 1e-3);
  }
  const Matrix<quad> turned = rotate(x, R, Places(1, 17));
  verify(distance(turned.norm(), x.norm()), small);
}

// check that a slope is a bias of keys
BOOST_AUTO_TEST_CASE(slope_is_a_bias_of_keys) {
  const Index n = 11;
  const auto X = gaussian<quad>(n, 5, 2, "X");
  for (const bool sink : {false, true}) {
    auto L = draw_layer<quad>(sloped | (sink ? sinks : 0), causal(n, n), n, 2);
    const auto a = layer_forward(L, X);

    // write slopes as biases of keys
    for (const double m : L.rules.slopes) {
      L.parts.bias.push_back(Matrix<quad>(n, n));
      for (Index j = 0; j < n; ++j)
        L.parts.bias.back().col(j).setConstant(quad(m * double(j)));
    }
    L.rules.slopes.clear();
    const auto b = layer_forward(L, X);
    const auto bound = literal_layer(L, X, X).Y_error;

    // compare slopes and biases row by row
    for (Index i = 0; i < n; ++i) {
      const double apart = distance(a.Y.row(i), b.Y.row(i));
      if (sink && i > 0) {
        refute(apart, 1e-3);
        continue;
      }
      verify(a.Y.row(i), b.Y.row(i), 4 * bound.row(i));
      for (Index h = 0; h < 4; ++h)
        verify(distance(b.logZ(h * n + i) - a.logZ(h * n + i),
                        quad(std::ldexp(double(i), -1 - int(h)))),
               1e4 * unit_roundoff<quad>());  // an estimate
    }
    if (sink) fact("with_sink", distance(a.Y, b.Y), 2);
  }
}

// check what a cache may hold
BOOST_AUTO_TEST_CASE(what_a_cache_may_hold) {
  const Index n = 6, d = 3;
  const auto q = gaussian<quad>(n, d, 1, "q"), k = gaussian<quad>(n, d, 1, "k");
  const auto v = gaussian<quad>(n, d, 1, "v"), b = gaussian<quad>(1, n, 1, "b");
  const quad beta = 0.75;
  VariantParts<quad> x{q, k, v}, y{Matrix<quad>(n, d + 1),
                                   Matrix<quad>(n, d + 1), v};
  x.scale = y.scale = Matrix<quad>::Constant(1, 1, beta);
  x.bias = b;
  y.Q.leftCols(d) = q, y.Q.col(d).setOnes();
  y.K.leftCols(d) = k, y.K.col(d) = b.transpose() / beta;
  const VariantRules r{causal(n, n)};
  verify(distance(variant_forward(x, r).O, variant_forward(y, r).O),
         1e4 * unit_roundoff<quad>());  // an estimate
  VariantParts<quad> one{q, k, v}, two{quad(2) * q, k, v};
  for (const bool capped : {false, true}) {
    VariantRules rules{everything(n, n)};
    if (capped) rules.softcap = 1.5;
    const Matrix<quad> S = variant_forward(one, rules).scores,
                       T = variant_forward(two, rules).scores;
    if (capped) refute(distance(T, quad(2) * S), 0.1);
    else verify(distance(T, quad(2) * S), 0);
  }
}
BOOST_AUTO_TEST_SUITE_END()
