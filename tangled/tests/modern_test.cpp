// tests/modern_test.cpp: tangled from chapters/06b-modern-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <Eigen/SVD>
#include <string>
#include "attn/autodiff.hpp"
#include "attn/gibbs.hpp"
#include "attn/modern.hpp"
#include "attn/multihead.hpp"
#include "attn/random.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(modern)

// check differences of heads
using QuadParts = VariantParts<quad>;
QuadParts head(Index n, Index m, std::uint64_t seed, std::string who) {
  return {gaussian<quad>(n, 3, seed, who + " Q"),
          gaussian<quad>(m, 3, seed, who + " K"),
          gaussian<quad>(m, 2, seed, who + " V")};
}
BOOST_AUTO_TEST_CASE(signed_weights) {
  int mixed = 0, pure = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const double lambda : {0.01, 0.5, 1.0, 1.5, 200.0}) {
      const VariantRules r{causal(4, 6)};
      const auto f = differential_forward(head(4, 6, seed, "x"),
                                          head(4, 6, seed, "y"), r,
                                          quad(lambda));
      for (Index i = 0; i < 4; ++i) {
        // hold the sums of a row of signed weights
        const Index seen = i + 3;
        const Matrix<quad> B = f.plus.A.row(i).leftCols(seen) -
                               quad(lambda) * f.minus.A.row(i).leftCols(seen);
        const quad sum = B.sum(), size = B.cwiseAbs().sum();
        const quad least = abs(quad(1) - quad(lambda));
        verify(distance(sum, 1 - quad(lambda)), 1e-29);
        const bool both = B.minCoeff() < quad(0) && quad(0) < B.maxCoeff();
        ++(both ? mixed : pure);
        if (both) refute(to_double(size - least), 1e-9);
        else verify(distance(size, least), 1e-29);
        verify(size < 1 + quad(lambda) ? 0 : 1, 0);
      }
    }
  BOOST_TEST((mixed > 100 && pure > 100));
}
using DualParts = VariantParts<Dual<quad>>;
DualParts lifted(const QuadParts& x) {
  DualParts z{{}, {}, {}};
  each_part([](auto, const auto& a, auto& b) { b = lift<Dual<quad>>(a); },
            x, z);
  return z;
}
BOOST_AUTO_TEST_CASE(difference_to_first_order) {
  const Index n = 5;
  const quad lambda(0.75);
  const VariantRules r{everything(3, n)};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const QuadParts x = head(3, n, seed, "x"), y = head(3, n, seed, "y");
    DualParts a = lifted(x), b = lifted(y);
    a.scale = b.scale = Matrix<Dual<quad>>::Constant(1, 1, {quad(0)});
    a.scale(0).d = b.scale(0).d = 1;
    const auto f = differential_forward(a, b, r, Dual<quad>(lambda));
    const Matrix<quad> D =
        x.Q * x.K.transpose() - lambda * (y.Q * y.K.transpose());

    // compare weights with their first order
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < n; ++j) {
        const Dual<quad> B = f.plus.A(i, j) - lambda * f.minus.A(i, j);
        verify(distance(B.v, (1 - lambda) / quad(double(n))), 1e-31);
        verify(distance(B.d, (D(i, j) - quad(D.row(i).mean())) /
                                 quad(double(n))), 1e-31);
      }
  }
}
BOOST_AUTO_TEST_CASE(difference_is_a_layer) {
  const Index n = 5, D = 4, d = 2;
  const quad lambda(0.75);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto m = xavier<quad>({D, 2}, seed);
    m.W_V.rightCols(d) = m.W_V.leftCols(d).eval();
    m.W_O.bottomRows(d) = -lambda * m.W_O.topRows(d);
    const Matrix<quad> X = gaussian<quad>(n, D, seed, "X"),
                       Q = X * m.W_Q, K = X * m.W_K, V = X * m.W_V;
    const QuadParts x{Q.leftCols(d), K.leftCols(d), V.leftCols(d)},
        y{Q.rightCols(d), K.rightCols(d), V.leftCols(d)};
    const auto f = differential_forward(x, y, {everything(n, n)}, lambda);
    const Matrix<quad> Y = f.O * m.W_O.topRows(d);
    verify(distance(attend(m, X), Y), 1e-31);
  }
}
/// Moves all parts of z along a fixed direction; returns its product with g.
quad pushed(DualParts& z, const QuadParts& g, Index phase) {
  quad product = 0;
  each_part([&](auto, auto& a, const auto& da) {
    for (Index k = 0; k < a.size(); ++k) {
      a.data()[k].d = quad(double((k * 7 + phase) % 5) - 1.5);
      product += a.data()[k].d * da.data()[k];
    }
  }, z, g);
  return product;
}
/// The derivative of <G, O>.
quad along(const Matrix<quad>& G, const Matrix<Dual<quad>>& O) {
  quad sum = 0;
  for (Index k = 0; k < G.size(); ++k) sum += G.data()[k] * O.data()[k].d;
  return sum;
}
BOOST_AUTO_TEST_CASE(difference_gradient) {
  const VariantRules r{causal(4, 6)};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const QuadParts x = head(4, 6, seed, "x"), y = head(4, 6, seed, "y");
    const Matrix<quad> G = gaussian<quad>(4, 2, seed, "dO");
    const quad lambda(0.75);
    const auto g = differential_vjp(
        x, y, r, differential_forward(x, y, r, lambda), G, lambda);
    DualParts a = lifted(x), b = lifted(y);
    Dual<quad> l(lambda);
    l.d = 2;
    const quad product =
        pushed(a, g.x, 1) + pushed(b, g.y, 2) + 2 * g.lambda;
    const quad slope = along(G, differential_forward(a, b, r, l).O);
    verify(distance(product, slope), 1e-29);
  }
}

// check gates
BOOST_AUTO_TEST_CASE(gate_in_double) {
  const Matrix<double> O = gaussian<double>(40, 5, 1, "O"),
                       Z = 10 * gaussian<double>(40, 5, 1, "Z");
  const Matrix<quad> truth = gated(lift<quad>(O), lift<quad>(Z));
  verify(gated(O, Z), truth, Matrix<double>(8 * 0x1p-53 *
                                            O.cwiseAbs().eval()));
  const Matrix<double> ends = gated<double>(Matrix<double>{{3, 3}},
                                            Matrix<double>{{-800, 800}});
  verify(distance(ends, Matrix<double>{{0, 3}}), 0);
}
BOOST_AUTO_TEST_CASE(gate_gradient) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto draw = [&](const char* name) {
      return gaussian<quad>(3, 2, seed, name);
    };
    const Matrix<quad> O = draw("O"), Z = draw("Z"), G = draw("dY"),
                       DO = draw("step of O"), DZ = draw("step of Z");
    Matrix<Dual<quad>> o = lift<Dual<quad>>(O), z = lift<Dual<quad>>(Z);
    for (Index k = 0; k < 6; ++k)
      o.data()[k].d = DO.data()[k], z.data()[k].d = DZ.data()[k];
    const auto g = gated_vjp(O, Z, G);
    const quad product = g.O.cwiseProduct(DO).sum() +
                         g.Z.cwiseProduct(DZ).sum();
    verify(distance(product, along(G, gated(o, z))), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(gate_fixes_the_gauge) {
  const Index n = 4, D = 5, d = 3;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto draw = [&](Index a, Index b, const char* name) {
      return gaussian<quad>(a, b, seed, name);
    };
    const Matrix<quad> X = draw(n, D, "X"), W_V = draw(D, d, "W_V"),
                       W_O = draw(d, D, "W_O"), Z = X * draw(D, d, "W_g"),
                       A = attn::gibbs(draw(n, n, "S"));
    const auto Y = [&](const Matrix<quad>& G, bool gate) {
      const Matrix<quad> O = A * X * W_V * G;
      return Matrix<quad>((gate ? gated(O, Z) : O) * G.inverse() * W_O);
    };
    const Matrix<quad> I = Matrix<quad>::Identity(d, d),
                       full = I + draw(d, d, "G") / quad(4);
    const Matrix<quad> diagonal = full.diagonal().asDiagonal();
    verify(distance(Y(diagonal, true), Y(I, true)), 1e-28);
    verify(distance(Y(full, false), Y(I, false)), 1e-28);
    refute(distance(Y(full, true), Y(I, true)), 1e-3);

    // mix two columns behind a gate
    for (Index a = 0; a < d; ++a)
      for (Index b = 0; b < d; ++b) {
        Matrix<quad> shear = I;
        shear(a, b) = quad(a == b ? 2 : 0.25);
        const double off = distance(Y(shear, true), Y(I, true));
        if (a == b) verify(off, 1e-28);
        else refute(off, 1e-6);
      }
  }
}

// check lengths
BOOST_AUTO_TEST_CASE(leads_and_lengths) {
  const double u = 0x1p-53;
  const auto bound = [](double n, double gap) {
    return 1 / (1 + (n - 1) * std::exp(-gap));
  };
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index n = Index(2 + seed % 9);
    Matrix<double> s = 3 * uniform<double>(1, n, seed, "s");
    const double slack = 1 + (double(n) + 400) * u;
    verify(attn::gibbs(s).maxCoeff(),
           bound(double(n), s.maxCoeff() - s.minCoeff()) * slack);
    const double next = s.maxCoeff();
    s(0) = next + 0.5;
    verify(bound(double(n), s(0) - next), attn::gibbs(s)(0) * slack);
  }

  // follow one leader through the lengths
  const double lead = 2 * std::log(64.0);
  int k = 0;
  for (const Index n : {64, 4096, 262144}) {
    Matrix<double> s = Matrix<double>::Zero(1, n);
    s(0) = lead;
    const auto factor = length_factors<double>(everything(1, n), 64);
    const double fixed = attn::gibbs(s)(0),
                 grown = attn::gibbs(Matrix<double>(factor(0) * s))(0);
    const double N = double(n), slack = (N + 400) * u;
    ++k;
    fact("fixed_" + std::to_string(k), fixed);
    fact("log_" + std::to_string(k), grown);
    verify(std::abs(fixed / bound(N, lead) - 1), slack);
    verify(std::abs(grown / bound(N, 2 * std::log(N)) - 1), slack);
  }
}
BOOST_AUTO_TEST_CASE(factors_count_what_is_seen) {
  const auto s = length_factors<double>(causal(5, 7) & window(5, 7, 3, 0), 4);
  const auto t = length_factors<double>(causal(4, 2), 16);
  verify(std::abs(s(0) - std::log2(3) / 2), 4 * 0x1p-53);
  for (Index i = 1; i < 5; ++i) verify(std::abs(s(i) - 1), 0);
  for (Index i = 0; i < 3; ++i) verify(std::abs(t(i)), 0);
  verify(std::abs(t(3) - 0.25), 2 * 0x1p-53);
  BOOST_CHECK_EXCEPTION(length_factors<double>(causal(2, 2), 1),
                        std::invalid_argument, says("trained at length 1"));
}
BOOST_AUTO_TEST_CASE(three_laws) {
  const auto share = [](Index n, double beta) {
    const Matrix<double> s = beta * gaussian<double>(200, n, 1, "laws");
    const Vector<double> h = gibbs_entropy(s) / std::log(double(n));
    const double var = (h.array() - h.mean()).square().sum() / 199;
    return std::pair{h.mean(), std::sqrt(var / 200)};
  };
  const double at = std::sqrt(std::log(256.0)), L = std::log(16384.0);
  const auto [start, e] = share(256, at);
  const auto [fixed, e1] = share(16384, at);
  const auto [root, e2] = share(16384, std::sqrt(L));
  const auto [grown, e3] = share(16384, L / at);
  fact("start", start), fact("fixed", fixed), fact("root", root);
  fact("log", grown);
  verify(start + 5 * (e + e1), fixed);
  verify(grown + 5 * (e + e3), start);
  verify(std::abs(root - 0.5) + e2, std::abs(start - 0.5));
}

// check forgetting
/// Weights of x in causal attention with the bias of eq. modern-forget.
Matrix<quad> forgotten(QuadParts x, const Matrix<quad>& log_f) {
  const Index n = log_f.size();
  x.bias = Matrix<quad>::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j)
      for (Index l = j + 1; l <= i; ++l) x.bias(i, j) += log_f(l);
  return variant_forward(x, {causal(n, n)}).A;
}
BOOST_AUTO_TEST_CASE(forgetting_is_a_row) {
  const Index n = 6;
  const VariantRules past{causal(n, n)};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const QuadParts x = head(n, n, seed, "x");
    QuadParts row = x, slope = x;
    const Matrix<quad> log_f =
        -gaussian<quad>(1, n, seed, "gates").cwiseAbs();
    row.bias = forgetting_row<quad>(log_f.transpose());
    verify(distance(forgotten(x, log_f), variant_forward(row, past).A), 1e-30);
    slope.slope = -log_f.leftCols(1);
    verify(distance(forgotten(x, Matrix<quad>::Constant(1, n, log_f(0))),
                    variant_forward(slope, past).A), 1e-30);

    // compare forgetting with segments
    Matrix<quad> cut = Matrix<quad>::Zero(1, n);
    cut(2) = cut(4) = quad(-HUGE_VAL);
    const std::vector<Index> document{0, 0, 1, 1, 2, 2};
    const VariantRules apart{causal(n, n) & segments(document, document)};
    verify(distance(forgotten(x, cut), variant_forward(x, apart).A), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(forgetting_gradient) {
  const Index n = 6;
  const VariantRules past{causal(n, n)};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    QuadParts x = head(n, n, seed, "x"), full = x;
    const Vector<quad> log_f =
        -gaussian<quad>(n, 1, seed, "gates").cwiseAbs();
    const Matrix<quad> G = gaussian<quad>(n, 2, seed, "dO");
    x.bias = forgetting_row(log_f);
    full.bias = x.bias.replicate(n, 1);
    const Vector<quad> g = forgetting_row_vjp(
        variant_vjp(x, past, variant_forward(x, past), G).bias);
    const Matrix<quad> dS =
        variant_vjp(full, past, variant_forward(full, past), G).bias;
    for (Index l = 1; l < n; ++l)
      verify(distance(g(l), dS.block(l, 0, n - l, l).sum()), 1e-29);

    // compare the gradient of the gates with dual numbers
    Vector<Dual<quad>> f = lift<Dual<quad>>(log_f);
    quad product = 0;
    for (Index l = 0; l < n; ++l)
      f(l).d = quad(double(l % 3) - 1.25), product += f(l).d * g(l);
    DualParts z = lifted(x);
    z.bias = forgetting_row(f);
    verify(distance(product, along(G, variant_forward(z, past).O)), 1e-29);
  }
}

// check sticks
BOOST_AUTO_TEST_CASE(stick_is_gibbs) {
  const Index n = 6;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = quad(3) * gaussian<quad>(1, n, seed, "s");
    const Stick<quad> f = break_stick(s);
    Matrix<quad> scores(1, n + 1);
    quad left = 1, spent = 0;
    for (Index j = n; j-- > 0;) {
      const quad v = 1 / (1 + exp(-s(j)));
      verify(distance(f.A(j), v * left), 1e-31);
      left *= 1 - v, spent += log(1 + exp(s(j)));
      scores(j) = s(j) - spent;
    }
    scores(n) = -spent;
    verify(distance(attn::gibbs(scores).leftCols(n), f.A), 1e-31);
    verify(to_double(abs(log_partition(scores)(0))), 1e-31);
    verify(distance(exp(f.left(0)), left), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(a_stick_forgets_for_nothing) {
  Matrix<double> s = gaussian<double>(1, 12, 1, "s");
  s(0) = s.rightCols(11).maxCoeff();
  const Matrix<double> whole = break_stick(s).A, A = attn::gibbs(s);
  for (Index k = 1; k < 12; ++k)
    verify(distance(break_stick(Matrix<double>(s.rightCols(k))).A,
                    whole.rightCols(k)), 0);
  const double factor = 1 / (1 - A(0));
  fact("gibbs", factor);
  refute(factor - 1, 0.1);
  verify(distance(attn::gibbs(Matrix<double>(s.rightCols(11))),
                  factor * A.rightCols(11)), 60 * 0x1p-53);

  // break sticks of equal scores and of none
  for (const double score : {-2.0, -0.5, 0.0, 1.5}) {
    const Matrix<quad> row = Matrix<quad>::Constant(1, 9, quad(score));
    const Matrix<quad> even = break_stick(row).A;
    const quad v = 1 / (1 + exp(-quad(score)));
    quad part = v;
    for (Index d = 0; d < 9; ++d, part *= 1 - v)
      verify(distance(even(8 - d), part), 1e-31);
  }
  const auto f = break_stick(Matrix<double>{{1, HUGE_VAL, 0}, {2, NAN, 0}});
  verify(distance(f.A.row(0), Matrix<double>{{0, 0.5, 0.5}}), 20 * 0x1p-53);
  BOOST_TEST((std::isnan(f.A(1, 0)) && std::isnan(f.A(1, 1))));
  verify(std::abs(f.A(1, 2) - 0.5), 20 * 0x1p-53);
}
BOOST_AUTO_TEST_CASE(stick_gradient) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix<quad> s = quad(2) * gaussian<quad>(3, 6, seed, "s");
    s(0, 1) = s(1, 5) = quad(-HUGE_VAL);
    s.row(2).setConstant(quad(-HUGE_VAL));
    const Matrix<quad> G = gaussian<quad>(3, 6, seed, "dA"),
                       step = gaussian<quad>(3, 6, seed, "step");
    const Stick<quad> f = break_stick(s);
    const Matrix<quad> g = stick_vjp(s, f.A, G);
    Matrix<Dual<quad>> z = lift<Dual<quad>>(s);
    quad product = 0;
    for (Index k = 0; k < s.size(); ++k)
      if (!is_forbidden(s.data()[k])) {
        z.data()[k].d = step.data()[k];
        product += step.data()[k] * g.data()[k];
      } else {
        verify(to_double(abs(f.A.data()[k]) + abs(g.data()[k])), 0);
      }
    verify(distance(product, along(G, break_stick(z).A)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(stick_in_double) {
  for (const double size : {0.01, 1.0, 5.0, 40.0}) {
    const Matrix<double> s = size * gaussian<double>(10, 30, 1, "s");
    const Stick<quad> truth = break_stick(lift<quad>(s));
    Matrix<double> bound(10, 30);
    for (Index i = 0; i < 10; ++i) {
      double m = 0, L = 0;
      for (Index j = 30; j-- > 0;) {
        m += 1, L += attn::detail::spent(s(i, j));
        const double E = 5 * m + (m + 4) * L + 2 * std::abs(s(i, j)) + 4;
        bound(i, j) = to_double(truth.A(i, j)) *
                          std::expm1(0x1p-53 * E / (1 - (m + 8) * 0x1p-53)) +
                      0x1p-1074;
      }
    }
    verify(break_stick(s).A, truth.A, bound);
  }
}

// check choices
BOOST_AUTO_TEST_CASE(a_choice_is_a_mask) {
  const Index n = 7, m = 10;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const QuadParts x = head(n, m, seed, "x");
    const Mask mask = causal(n, m);
    const auto f = variant_forward(x, {mask});
    BOOST_TEST(count(select_tiles(f.scores, mask, 3, 4)) == count(mask));
    BOOST_TEST(count(select_tiles(f.scores, mask, 3, 0)) == 0);
    const Mask chosen = select_tiles(f.scores, mask, 3,
                                     Index(1 + seed % 2));
    const auto kept = variant_forward(x, {chosen}),
               rest = variant_forward(x, {mask & !chosen});

    // mix what was chosen with the rest
    const Matrix<bool> D = dense(chosen);
    for (Index i = 0; i < n; ++i) {
      quad lost = 0;
      for (Index j = 0; j < m; ++j)
        if (!D(i, j)) lost += f.A(i, j);
      const Matrix<quad> mixed =
          (1 - lost) * kept.O.row(i) + lost * rest.O.row(i);
      verify(distance(mixed, f.O.row(i)), 1e-30);
      for (Index c = 0; c < 2; ++c) {
        const quad range = x.V.col(c).maxCoeff() - x.V.col(c).minCoeff();
        verify(to_double(abs(f.O(i, c) - kept.O(i, c))),
               to_double(lost * range) + 1e-30);
      }
    }
  }
}
BOOST_AUTO_TEST_CASE(covers_of_a_choice) {
  const Index n = 5, m = 8;
  const Matrix<double> s = gaussian<double>(n, m, 1, "s");
  const Mask chosen = select_tiles(s, everything(n, m), 3, 1);
  for (Index i = 0; i < n; ++i) {
    Index best = 0;
    double means[3];
    for (Index t = 0; t < 3; ++t) {
      means[t] = s.row(i).segment(3 * t, std::min<Index>(3, m - 3 * t)).mean();
      if (means[best] < means[t]) best = t;
    }
    for (Index j = 0; j < m; ++j)
      BOOST_TEST(chosen.allows(i, j) == (j / 3 == best));
  }

  // ask a choice about all rectangles
  for (Index i0 = 0; i0 < n; ++i0)
    for (Index i1 = i0 + 1; i1 <= n; ++i1)
      for (Index j0 = 0; j0 < m; ++j0)
        for (Index j1 = j0 + 1; j1 <= m; ++j1) {
          const Block b{i0, i1, j0, j1};
          Index allowed = 0;
          for (Index i = i0; i < i1; ++i)
            for (Index j = j0; j < j1; ++j) allowed += chosen.allows(i, j);
          const Cover c = chosen.covers(b);
          BOOST_TEST((c != Cover::none || allowed == 0));
          BOOST_TEST((c != Cover::all || allowed == b.pairs()));
        }
}
BOOST_AUTO_TEST_CASE(means_are_bounds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Index m = Index(1 + seed % 8);
    const Matrix<quad> s = quad(double(seed) / 10) *
                           gaussian<quad>(1, m, seed, "s");
    const quad low = log(quad(double(m))) + s.mean(), l = log_partition(s)(0);
    const quad range = s.maxCoeff() - s.minCoeff();
    verify(worse(0, to_double(low - l)), 1e-30);
    verify(worse(0, to_double(l - low - range * range / 8)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(a_choice_is_locally_constant) {
  const Index n = 5, m = 9;
  const Mask mask = causal(n, m);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const QuadParts x = head(n, m, seed, "x");
    const Matrix<quad> G = gaussian<quad>(n, 2, seed, "dO"),
                       P = x.Q * x.K.transpose();
    const VariantRules r{select_tiles(P, mask, 3, 1)};
    const QuadParts g = variant_vjp(x, r, variant_forward(x, r), G);
    DualParts z = lifted(x);
    const quad product = pushed(z, g, 3);
    const Matrix<Dual<quad>> moving = z.Q * z.K.transpose();
    const VariantRules again{select_tiles(moving, mask, 3, 1)};
    verify(distance(product, along(G, variant_forward(z, again).O)), 1e-29);
    const auto used = dense(r.mask).colwise().any().eval();
    for (Index j = 0; j < m; ++j)
      if (!used(j)) verify(to_double(g.K.row(j).cwiseAbs().sum()), 0);
  }
}
BOOST_AUTO_TEST_CASE(a_choice_must_not_see_the_future) {
  const Index n = 8;
  const Mask past = causal(n, n);
  QuadParts x = head(n, n, 1, "x");
  x.K.row(n - 1) = quad(100) * x.Q.row(n - 2);
  const auto output = [&](bool whole) {
    const Matrix<quad> P = x.Q * x.K.transpose();
    const Mask chosen = whole
        ? past & select_tiles(P, everything(n, n), 4, 1)
        : select_tiles(P, past, 4, 1);
    return Matrix<quad>(variant_forward(x, {chosen}).O.topRows(n - 1));
  };
  const Matrix<quad> ours = output(false), leaky = output(true);
  x.K.row(n - 1) *= quad(-1);
  verify(distance(output(false), ours), 0);
  const double off = distance(output(true), leaky);
  fact("off", off);
  refute(off, 1e-2);
}
BOOST_AUTO_TEST_CASE(choices_and_sticks_refuse) {
  using bad = std::invalid_argument;
  Matrix<double> s = Matrix<double>::Zero(1, 6);
  s(0) = 5, s(4) = NAN;
  BOOST_TEST(picture(select_tiles(s, everything(1, 6), 2, 1)) == "....##\n");
  BOOST_CHECK_EXCEPTION(select_tiles(s, everything(1, 6), 0, 1), bad,
                        says("select_tiles: tile 0"));
  BOOST_CHECK_EXCEPTION(select_tiles(s, everything(1, 6), 1, -1), bad,
                        says("best -1"));

  // refuse other rows and other columns
  for (const auto& [n, d] : {std::pair{1, 5}, {2, 6}}) {
    const Matrix<double> t = Matrix<double>::Zero(n, d);
    const std::string is = " is " + shape(t);
    BOOST_CHECK_EXCEPTION(select_tiles(s, everything(n, d), 1, 1), bad,
                          says("scores are 1x6 but the mask" + is));
    BOOST_CHECK_EXCEPTION(gated(s, t), bad, says("gated: O is 1x6 but Z" + is));
    BOOST_CHECK_EXCEPTION(gated_vjp(s, s, t), bad, says("1x6 but dY" + is));
    BOOST_CHECK_EXCEPTION(stick_vjp(s, t, t), bad, says(", A" + is));
    BOOST_CHECK_EXCEPTION(stick_vjp(s, s, t), bad, says(" dA" + is));
  }
  for (const double f : {0.5, double(NAN), -HUGE_VAL})
    BOOST_CHECK_EXCEPTION(forgetting_row<double>(Vector<double>{{-1, f}}),
                          std::domain_error, says("log of gate 1 is"));
  const QuadParts x = head(2, 2, 1, "x");
  QuadParts y = x;
  y.V = Matrix<quad>::Zero(2, 3);
  BOOST_CHECK_EXCEPTION(differential_forward(x, y, {causal(2, 2)}, 1), bad,
                        says("differential_forward: values are 2x2 and 2x3"));
}

// check shared keys
template <class S>
struct TwoLayers {
  Matrix<S> X, K, V, W1, W2;
  VariantParts<S> first() const { return {X * W1, K, V}; }
  VariantParts<S> second(const Matrix<S>& O) const {
    return {(X + O) * W2, K, V};
  }
};
BOOST_AUTO_TEST_CASE(shared_keys_add_up) {
  const Index n = 4, d = 3;
  const VariantRules r{causal(n, n)};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    // draw two layers and a direction
    const auto draw = [&](Index a, const char* name) {
      return gaussian<quad>(a, d, seed, name);
    };
    const TwoLayers<quad> x{draw(n, "X"), draw(n, "K"), draw(n, "V"),
                            draw(d, "W1"), draw(d, "W2")};
    const Matrix<quad> G = draw(n, "G"), DK = draw(n, "DK"), DV = draw(n, "DV");
    using D = Dual<quad>;
    TwoLayers<D> z{lift<D>(x.X), lift<D>(x.K), lift<D>(x.V), lift<D>(x.W1),
                   lift<D>(x.W2)};
    for (Index k = 0; k < n * d; ++k)
      z.K.data()[k].d = DK.data()[k], z.V.data()[k].d = DV.data()[k];
    const auto one = x.first();
    const auto f1 = variant_forward(one, r);
    const auto two = x.second(f1.O);
    const auto f2 = variant_forward(two, r);
    const auto g2 = variant_vjp(two, r, f2, G);
    const auto g1 = variant_vjp(one, r, f1,
                                G + g2.Q * x.W2.transpose());

    // move keys and values of two layers
    const auto O1 = variant_forward(z.first(), r).O;
    const auto O2 = variant_forward(z.second(O1), r).O;
    quad slope = 0, product = 0;
    for (Index k = 0; k < n * d; ++k) {
      slope += G.data()[k] * quad((O1.data()[k] + O2.data()[k]).d);
      product += DK.data()[k] * (g1.K.data()[k] + g2.K.data()[k]) +
                 DV.data()[k] * (g1.V.data()[k] + g2.V.data()[k]);
    }
    verify(to_double(abs(slope - product)), 1e-29);
  }
}
BOOST_AUTO_TEST_CASE(shared_forms_have_a_common_side) {
  const Index D = 7, d = 2;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto draw = [&](Index b, const char* name) {
      return gaussian<double>(b == d ? D : d, b, seed, name);
    };
    const Matrix<double> Q1 = draw(d, "Q1"), Q2 = draw(d, "Q2"),
                         K1 = draw(d, "K1"), K2 = draw(d, "K2");
    const auto rank = [&](const Matrix<double>& k) {
      Matrix<double> M(2 * D, D);
      M << Q1 * K1.transpose(), Q2 * k.transpose();
      const Eigen::VectorXd sv = M.jacobiSvd().singularValues();
      return (sv.array() > 64 * 2 * double(D) * 0x1p-53 * sv(0)).count();
    };
    BOOST_TEST(rank(K1) == d);
    BOOST_TEST(rank(K2) == 2 * d);

    // change the gauge of two layers
    const Matrix<double> G{{1, 0.5}, {0, 1}}, back{{1, 0}, {-0.5, 1}};
    const Matrix<double> K = K1 * back;
    const double bound = 16 * 0x1p-53 * (1 + 0.5) * (1 + 0.5);
    for (const Matrix<double>* Q : {&Q1, &Q2}) {
      const Matrix<double> M = *Q * K1.transpose();
      verify(distance(*Q * G * K.transpose(), M),
             bound * Q->cwiseAbs().maxCoeff() * K1.cwiseAbs().maxCoeff() * 4);
      refute(distance(*Q * K.transpose(), M), 1e-3);
    }
  }
}

// check the answers on later variants
BOOST_AUTO_TEST_CASE(answer_segments) {
  const std::vector<Index> document{0, 0, 0, 1, 1};
  const Index n = 5;
  QuadParts x = head(n, n, 1, "x");
  const Vector<quad> log_f = -gaussian<quad>(n, 1, 1, "gates").cwiseAbs();
  x.bias = forgetting_row(log_f);
  const auto f = variant_forward(
      x, {causal(n, n) & segments(document, document)});
  QuadParts last{x.Q.bottomRows(2), x.K.bottomRows(2), x.V.bottomRows(2)};
  last.bias = forgetting_row<quad>(log_f.tail(2));
  verify(distance(variant_forward(last, {causal(2, 2)}).O,
                  f.O.bottomRows(2)), 1e-30);
}
BOOST_AUTO_TEST_CASE(answer_forget_sink) {
  const Index n = 5;
  QuadParts x = head(n, n, 1, "x");
  const Vector<quad> log_f = -gaussian<quad>(n, 1, 1, "gates").cwiseAbs();
  x.sink = Matrix<quad>::Constant(1, 1, quad(0.5));
  QuadParts full = x, row = x;
  row.bias = forgetting_row(log_f);
  full.bias = row.bias.replicate(n, 1);
  full.bias.colwise() -= row.bias.row(0).transpose().eval();
  const auto f = variant_forward(full, {causal(n, n)});
  refute(distance(variant_forward(row, {causal(n, n)}).O, f.O), 1e-3);
  for (Index i = 0; i < n; ++i) {
    QuadParts one = row;
    one.Q = row.Q.row(i);
    one.sink(0) = x.sink(0) + row.bias(i);
    const VariantRules r{part(causal(n, n), {i, i + 1, 0, n})};
    verify(distance(variant_forward(one, r).O, f.O.row(i)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(answer_drift) {
  const Index n = 1000000;
  const auto row =
      forgetting_row<double>(Vector<double>::Constant(n, std::log(0.9)));
  const double c = row(n - 1), before = row(n - 2), step = -std::log(0.9);
  const double narrow = double(float(c)) - double(float(before));
  verify(std::abs(narrow - step), 0x1p-7 + 1e-9);
  refute(std::abs(double(float(before + 50 * step)) -
                  double(float(before)) - 50 * step), 1e-6);
  verify(std::abs(double(float(c - before)) - step),
         step * 0x1p-24 + 2 * 0x1p-53 * c);
}
BOOST_AUTO_TEST_CASE(answer_first_match) {
  const Matrix<double> s{{3, 1, 0.5, -2, -0.25}, {-1, -1, -2, -1, -0.5}};
  const Matrix<double> A = break_stick(Matrix<double>(s / 0.005)).A;
  Matrix<double> found = Matrix<double>::Zero(2, 5);
  found(0, 2) = 1;
  verify(distance(A, found), 5 * std::exp(-50.0) + 20 * 0x1p-53);
  verify(std::abs(attn::gibbs(s, 0.005)(0, 0) - 1), 0x1p-50);
}
BOOST_AUTO_TEST_SUITE_END()
