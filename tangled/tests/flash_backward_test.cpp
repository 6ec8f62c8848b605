// tests/flash_backward_test.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"

#include "attn/softmax.hpp"
#include "flash_case.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(flash)
using attn::flash;

// check that the truth goes back
struct Loss { quad sum = 0; double size = 0; };
template <class T>
Loss loss(const Case<T>& c) {
  const Truth t = forward_truth(c);
  Loss x;
  const auto add = [&x](const quad& term) {
    x.sum += term, x.size += std::abs(to_double(term));
  };
  for (Index k = 0; k < t.O.size(); ++k)
    add(quad(c.dO.data()[k]) * t.O.data()[k]);
  for (Index i = 0; i < t.L.size(); ++i)
    if (!(t.L(i) == quad(-inf))) add(quad(c.dL(i)) * t.L(i));
  return x;
}
Case<quad> moved(const Case<quad>& c, const Case<quad>& u, const quad& h) {
  Case<quad> x = c;
  x.Q += h * u.Q, x.K += h * u.K, x.V += h * u.V, x.bias += h * u.bias;
  if (x.plain.sink) *x.plain.sink += h;
  return x;
}
quad slope_along(const Case<quad>& c, const Case<quad>& u) {
  Truth t = forward_truth(c);
  backward_truth(c, t);
  quad slope = t.dQ.cwiseProduct(u.Q).sum() +
               t.dK.cwiseProduct(u.K).sum() + t.dV.cwiseProduct(u.V).sum();
  if (c.biased) slope += t.dS.cwiseProduct(u.bias).sum();
  if (c.plain.sink) slope += t.dsink;
  return slope;
}
BOOST_AUTO_TEST_CASE(truth_is_a_gradient) {
  const double h = 0x1p-24, u = unit_roundoff<quad>();
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto c = random_case<quad>(seed);
    Case<quad> d = c;
    d.Q = gaussian<quad>(c.Q.rows(), c.Q.cols(), seed + 1);
    d.K = gaussian<quad>(c.K.rows(), c.K.cols(), seed + 2);
    d.V = gaussian<quad>(c.V.rows(), c.V.cols(), seed + 3);
    d.bias = gaussian<quad>(c.bias.rows(), c.bias.cols(), seed + 4);
    double size = 0;
    const auto difference = [&](const quad& step) -> quad {
      const Loss up = loss(moved(c, d, step)), down = loss(moved(c, d, -step));
      size = std::max({size, up.size, down.size});
      return (up.sum - down.sum) / (2 * step);
    };
    const quad fine = difference(h), coarse = difference(2 * h);
    verify(distance(slope_along(c, d), fine),
           distance(fine, coarse) + 4000 * u * size / h);
  }
}

// check gradients against their bound
template <class T>
void check_plain_gradients() {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Dice roll{seed};
    check_backward(plain_case<T>(roll, 10 * seed));
  }
}
BOOST_AUTO_TEST_CASE(gradients_from_logZ) {
  check_plain_gradients<double>();
  check_plain_gradients<float>();
}
BOOST_AUTO_TEST_CASE(all_gradients_at_once) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    check_backward(random_case<double>(seed));
    check_backward(random_case<float>(seed + 1000));
  }
}
BOOST_AUTO_TEST_CASE(conservation) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Case<double> c = random_case<double>(seed);
    c.biased = true;
    const auto g = check_backward(c);
    Truth t = forward_truth(c);
    backward_truth(c, t);
    const Bounds<double> f(c, t);
    const BackBounds<double> bound(c, t, f);
    double given = 0, size = std::abs(to_double(t.dsink));
    for (Index i = 0; i < c.Q.rows(); ++i)
      if (f.L(i) > -inf) given += c.dL(i), size += std::abs(c.dL(i));
    size += lift<double>(t.dS).cwiseAbs().sum();
    const double off = bound.dS.sum() + bound.dsink + f.tiny;
    const double rounding =
        gamma(c.bias.size() + c.Q.rows(), f.u) * (size + off);
    verify(std::abs(g.bias.sum() + g.sink - given), off + rounding);
  }
}

// check a dominant cotangent by itself
/// A row whose last key is dominant, as meant and as computed.
template <class T>
struct DominantRow {
  Vector<quad> A, y;              // weights; bar A - D + bar L
  Vector<T> computed_A, computed_y;
  T dL;
  Index others() const { return A.size() - 1; }
  quad cotangent() const { return A(others()) * y(others()); }

  // measure the errors of a row
  quad eta() const {
    return (lift<quad>(computed_y) - y).cwiseAbs().maxCoeff();
  }
  quad rho() const {
    return ((lift<quad>(computed_A) - A).cwiseQuotient(A)).cwiseAbs().maxCoeff();
  }
  quad rest() const { return A.head(others()).sum(); }
  quad sizes() const {
    return A.cwiseProduct(y).head(others()).cwiseAbs().sum() +
           quad(std::abs(double(dL)));
  }
  double bound(Index roundings) const {
    const quad nu = quad(double(roundings) * unit_roundoff<T>());
    const quad g = (quad(1) + rho()) / (quad(1) - nu);
    return to_double(rest() * g * eta() + (g - quad(1)) * sizes());
  }
  double first_order() const {
    const quad nu = quad(double(A.size()) * unit_roundoff<T>());
    return to_double(rest() * eta() + (rho() + nu) * sizes());
  }
};
template <class T>
T what_is_missing(const DominantRow<T>& r, Dice& roll) {
  std::vector<T> terms{r.dL};
  const auto some = [&] { return std::size_t(roll(Index(terms.size()))); };
  for (Index j = 0; j < r.others(); ++j) {
    const T a = r.computed_A(j), y = -r.computed_y(j);
    if (T& term = terms[some()]; roll(2) == 0)
      term = std::fma(a, y, term);
    else
      terms.push_back(a * y);
  }
  while (terms.size() > 1) {
    std::swap(terms[some()], terms.back());
    const T last = terms.back();
    terms.pop_back();
    terms[some()] += last;
  }
  return terms[0];
}
template <class T>
DominantRow<T> draw_dominant_row(std::uint64_t seed, Dice& roll) {
  const auto below = [&](Index n) {
    return std::pow(10.0, -double(roll(n)));
  };
  const Index n = 2 + roll(40);
  Vector<quad> A = gaussian<quad>(n, 1, seed, "A").cwiseAbs();
  A *= quad(0.25 * below(9)) / A.head(n - 1).sum();
  A(n - 1) = quad(1) - A.head(n - 1).sum();
  Vector<quad> dA = gaussian<quad>(n, 1, seed, "dA");
  if (roll(2)) dA(0) = quad(0);
  const T dL = roll(2) ? T(gaussian<double>(1, 1, seed, "dL")(0)) : T(0);
  const quad D = A.cwiseProduct(dA).sum();
  const Vector<quad> y = (dA.array() - D + quad(double(dL))).matrix();

  // draw the errors of a row
  const quad rho(0.9 * below(9)), eta(below(9));
  const auto errors = [&](const char* which) -> Vector<quad> {
    const Vector<quad> part = gaussian<quad>(n, 1, seed, which);
    return part.unaryExpr([](const quad& x) {
      return x < quad(-1) ? quad(-1) : quad(1) < x ? quad(1) : x;
    });
  };
  const Vector<quad> off_A = rho * A.cwiseProduct(errors("rho"));
  const Vector<quad> off_y = eta * errors("eta");
  return {A, y, lift<T>(A + off_A), lift<T>(y + off_y), dL};
}
template <class T>
void dominant_rows() {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Dice roll{seed};
    const auto r = draw_dominant_row<T>(seed, roll);
    verify(distance(what_is_missing(r, roll), r.cotangent()),
           r.bound(r.A.size()));
  }
}
BOOST_AUTO_TEST_CASE(dominant_row) {
  dominant_rows<float>();
  dominant_rows<double>();
}
DominantRow<float> all_one_way(float rho, float eta) {
  DominantRow<float> r;
  r.A = Vector<quad>::Constant(5, quad(0x1p-5));
  r.y = Vector<quad>::Constant(5, quad(1));
  r.A(4) = quad(0.875), r.y(4) = quad(-0.125) / quad(0.875);
  r.computed_A = (1 + rho) * lift<float>(r.A);
  r.computed_y = (lift<float>(r.y).array() + eta).matrix();
  r.computed_A(4) = float(to_double(r.A(4)));
  r.computed_y(4) = float(to_double(r.y(4)));
  r.dL = 0;
  return r;
}
DominantRow<float> all_rounded_up(Index n) {
  const float u = 0x1p-24f;
  DominantRow<float> r;
  r.A = Vector<quad>::Constant(n, quad(0x1p-10));
  r.A(n - 1) = quad(1) - r.rest();
  r.y = Vector<quad>::Constant(n, quad(-1024 * (u + u / 4096)));
  r.y(n - 1) = (quad(1) - r.A.cwiseProduct(r.y).head(n - 1).sum()) / r.A(n - 1);
  r.computed_A = lift<float>(r.A), r.computed_y = lift<float>(r.y);
  r.dL = 1;
  return r;
}
BOOST_AUTO_TEST_CASE(dominant_row_at_its_worst) {
  for (const float rho : {0.0f, 0.125f, 0.5f, 1.0f})
    for (const float eta : {0.0f, 0.125f, 1.0f, 8.0f}) {
      // hold one row to the bound
      const auto r = all_one_way(rho, eta);
      Dice roll{1};
      const double off = distance(what_is_missing(r, roll), r.cotangent());
      verify(off, r.bound(5));
      if (rho + eta > 0) refute(off, (1 - 0x1p-16) * r.bound(5));
      if (rho * eta > 0) refute(off, r.first_order());
    }
  for (const Index n : {3, 20, 150}) {
    const auto r = all_rounded_up(n);
    float sum = r.dL;
    for (Index j = 0; j < n - 1; ++j) sum -= r.computed_A(j) * r.computed_y(j);
    verify(distance(sum, r.cotangent()), r.bound(n));
    refute(distance(sum, r.cotangent()), r.bound(n - 2));
  }
}

// check weights that were recomputed
BOOST_AUTO_TEST_CASE(recomputed_weights) {
  for (const float size : {1.f, 1e3f, 3e4f, -1.f, -1e3f, -3e4f, -5e5f, 5e5f})
    for (const Index n : {1, 2, 7}) {
      const Matrix<float> Q = Matrix<float>::Constant(1, 1, size);
      const Matrix<float> V = gaussian<float>(n, 1, 1, "V");
      Matrix<float> K(n, 1);
      for (Index j = 0; j < n; ++j) K(j, 0) = 1 + float(j) / size;
      FlashRule<float> rule;
      rule.scale = 1.f;
      const auto g = flash_vjp(Q, K, V, flash(Q, K, V, rule),
                               Matrix<float>(Matrix<float>::Ones(1, 1)), rule);

      // compare recomputed weights with the definition
      const RowVector<quad> s = (lift<quad>(K) * lift<quad>(Q)).transpose();
      const Matrix<quad> all = softmax(s);
      for (Index j = 0; j < n; ++j) {
        const double A = to_double(all(0, j)), S = std::abs(to_double(s(j)));
        const double L = std::abs(to_double(s(j)) - std::log(A));
        verify(std::abs(to_double(quad(g.V(j, 0)) - all(0, j))),
               A * std::expm1(0x1p-24 * (5 * L + 3 * S + std::abs(S - L) + 8)));
      }
      if (n == 1) BOOST_TEST((g.Q(0, 0) == 0 && g.K(0, 0) == 0));
    }
}

// check gradients at low temperature
BOOST_AUTO_TEST_CASE(low_temperature) {
  long rows = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const double scale : {1.0, 10.0, 30.0, 100.0}) {
      Dice roll{seed};
      Case<double> c = plain_case<double>(roll, 10 * seed);
      c.plain.scale = scale;
      c.biased = true;
      if (roll(2)) c.plain.sink = scale * double(roll(7) - 2);
      if (c.Q.size() == 0 || c.Q.cwiseAbs().maxCoeff() >= 4) continue;
      check_backward(c);
      if (c.K.rows() > 0)
        rows += (lift<double>(forward_truth(c).A).rowwise().maxCoeff().array() >
                 0.75).count();
    }
  BOOST_TEST(rows > 0);
  fact("rows", rows);
}
double off_in_row(const Matrix<double>& dQ, const Matrix<quad>& truth,
                  Index i) {
  return distance(lift<quad>(dQ.row(i)), truth.row(i)) /
         to_double(truth.row(i).cwiseAbs().maxCoeff());
}
BOOST_AUTO_TEST_CASE(textbook_at_low_temperature) {
  double textbook = 0, ours = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Case<double> c{gaussian<double>(16, 8, seed),
                   gaussian<double>(24, 8, seed + 50),
                   gaussian<double>(24, 8, seed + 90), {},
                   gaussian<double>(16, 8, seed + 70),
                   Vector<double>::Zero(16), {}};
    c.plain.scale = 30;
    Truth t = forward_truth(c);
    backward_truth(c, t);
    const auto y = flash(c.Q, c.K, c.V, c.rule());
    const auto back = check_backward(c);

    // evaluate the textbook form
    const Matrix<double> A = lift<double>(t.A);
    const Vector<double> D = c.dO.cwiseProduct(y.O).rowwise().sum();
    const Matrix<double> dA = c.dO * c.V.transpose();
    const Matrix<double> dS = A.array() * (dA.colwise() - D).array();
    const Matrix<double> dQ = 30 * dS * c.K;
    for (Index i = 0; i < 16; ++i) {
      textbook = std::max(textbook, off_in_row(dQ, t.dQ, i));
      ours = std::max(ours, off_in_row(back.Q, t.dQ, i));
    }
  }
  fact("rows", 30 * 16);
  fact("textbook", textbook * 0x1p53);
  fact("ours", ours * 0x1p53);
  refute(textbook, 1e3 * ours);
}
BOOST_AUTO_TEST_CASE(one_key_is_set_aside) {
  const Matrix<float> Q = Matrix<float>::Ones(1, 1);
  const Matrix<float> K = Matrix<float>::Ones(2, 1);
  const Matrix<float> V = Vector<float>::LinSpaced(2, 1, 2);
  FlashOutput<float> y = flash(Q, K, V);
  y.logZ(0) -= 0.5f;
  const auto g = flash_vjp(Q, K, V, y, Q);
  BOOST_TEST((std::min(g.V(0, 0), g.V(1, 0)) > 0.75f));
  verify(std::abs(double(g.K(0, 0)) + double(g.K(1, 0))), 0x1p-24);
  refute(std::abs(double(g.K(0, 0))), 0.25);
}

// check the edges going back
void check_forbidden(FlashRule<float> rule) {
  Matrix<float> Q = gaussian<float>(9, 3, 1), K = gaussian<float>(9, 3, 2);
  Matrix<float> V = gaussian<float>(9, 2, 3), dO = gaussian<float>(9, 2, 4);
  const auto y = flash(Q, K, V, rule);
  const auto clean = flash_vjp(Q, K, V, y, dO, rule);
  K(5, 1) = V(5, 0) = float(NaN);
  const auto z = flash(Q, K, V, rule);
  const auto g = flash_vjp(Q, K, V, z, dO, rule);
  verify((g.Q.topRows(5) - clean.Q.topRows(5)).norm(), 0);
  BOOST_TEST(std::isnan(g.Q(6, 0)));
  rule.keys = 5, rule.queries = 4, rule.offset = 0;
  const auto cut = flash(Q, K, V, rule);
  const auto part = flash_vjp(Q, K, V, cut, dO, rule);
  BOOST_TEST(part.Q.allFinite());
  verify(part.Q.bottomRows(5).norm() + part.K.bottomRows(5).norm() +
             part.V.bottomRows(5).norm(), 0);
  BOOST_TEST(part.K.row(3).norm() > 0);
}
BOOST_AUTO_TEST_CASE(forbidden_pairs_have_no_gradient) {
  auto rule = causal_rule<float>();
  check_forbidden(rule);
  rule.softcap = 5.f;
  check_forbidden(rule);
}
BOOST_AUTO_TEST_CASE(empty_rows_have_no_gradient) {
  const auto Q = gaussian<double>(6, 3, 1), K = gaussian<double>(2, 3, 2);
  const auto V = gaussian<double>(2, 4, 3), dO = gaussian<double>(6, 4, 4);
  const auto y = flash(Q, K, V, causal_rule<double>());
  const Vector<double> dL = gaussian<double>(6, 1, 5);
  const auto g = flash_vjp(Q, K, V, y, dO, causal_rule<double>(), dL);
  verify(g.Q.topRows(4).norm(), 0);
  BOOST_TEST(g.Q.bottomRows(2).allFinite());
  BOOST_TEST(g.V.row(0).norm() > 0);
  const Matrix<double> none(0, 3), nothing(0, 4);
  const auto no_keys = flash_vjp(Q, none, nothing, flash(Q, none, nothing), dO);
  verify(no_keys.Q.norm(), 0);
  const auto no_queries = flash_vjp(none, K, V, flash(none, K, V), nothing);
  verify(no_queries.K.norm() + no_queries.V.norm(), 0);
}
BOOST_AUTO_TEST_CASE(one_key_has_no_gradient) {
  const auto Q = gaussian<double>(5, 3, 1), K = gaussian<double>(1, 3, 2);
  const auto V = gaussian<double>(1, 4, 3), dO = gaussian<double>(5, 4, 4);
  const auto g = flash_vjp(Q, K, V, flash(Q, K, V), dO);
  verify(g.Q.norm() + g.K.norm(), 0);
  const Matrix<quad> sum = lift<quad>(dO).colwise().sum();
  verify(g.V, sum, 5 * 0x1p-53 * dO.cwiseAbs().colwise().sum());
}
BOOST_AUTO_TEST_CASE(gradients_scale_with_cotangents) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice roll{seed};
    const auto c = plain_case<float>(roll, 10 * seed);
    const auto y = flash(c.Q, c.K, c.V, c.plain);
    const Matrix<float> dO = 8 * c.dO;
    const Vector<float> dL = 8 * c.dL;
    const auto g = flash_vjp(c.Q, c.K, c.V, y, c.dO, c.plain, c.dL);
    const auto h = flash_vjp(c.Q, c.K, c.V, y, dO, c.plain, dL);
    verify(distance(h.Q, 8 * g.Q), 0);
    verify(distance(h.K, 8 * g.K), 0);
    verify(distance(h.V, 8 * g.V), 0);
  }
}
BOOST_AUTO_TEST_CASE(list_of_one_sink) {
  const auto Q = gaussian<double>(5, 3, 1, "Q");
  const auto K = gaussian<double>(4, 3, 1, "K");
  const auto dO = gaussian<double>(5, 3, 1, "dO");
  const std::vector<double> one{1.5};
  FlashRule<double> a, b;
  a.sink = 1.5, b.sinks = one;
  a.scale = b.scale = 9;  // dominant keys as well
  const auto g = flash_vjp(Q, K, K, flash(Q, K, K, a), dO, a);
  const auto h = flash_vjp(Q, K, K, flash(Q, K, K, b), dO, b);
  verify(distance(g.Q, h.Q) + distance(g.K, h.K), 0);
  verify(std::abs(g.sink - h.sink), 0);
  BOOST_TEST(g.sink != 0);
}
BOOST_AUTO_TEST_CASE(nan_stays_in_its_row_going_back) {
  Matrix<float> Q = gaussian<float>(9, 3, 1);
  const auto K = gaussian<float>(12, 3, 2), V = gaussian<float>(12, 2, 3);
  const auto dO = gaussian<float>(9, 2, 4);
  const auto clean = flash_vjp(Q, K, V, flash(Q, K, V), dO);
  Q(4, 1) = float(NaN);
  const auto g = flash_vjp(Q, K, V, flash(Q, K, V), dO);
  for (Index i = 0; i < 9; ++i)
    if (i == 4) BOOST_TEST(std::isnan(g.Q(i, 0)));
    else verify(distance(g.Q.row(i), clean.Q.row(i)), 0);
}
template <class T>
void check_keys_out_of_sight(bool capped) {
  const auto Q = gaussian<T>(9, 3, 1), K = gaussian<T>(9, 3, 2);
  const auto V = gaussian<T>(9, 2, 3), dO = gaussian<T>(9, 2, 4);
  const auto back = [&](const Matrix<T>& q, const Matrix<T>& bar) {
    auto rule = causal_rule<T>();
    if (capped) rule.softcap = T(5);
    return flash_vjp(q, K, V, flash(q, K, V, rule), bar, rule);
  };
  const auto clean = back(Q, dO);
  for (const T x : {T(NaN), T(inf)}) {
    Matrix<T> q = Q, bar = dO;
    q(2, 1) = bar(3, 0) = x;  // which keys 4 to 8 do not see
    for (const auto& g : {back(q, dO), back(Q, bar), back(q, bar)}) {
      verify(distance(g.K.bottomRows(5), clean.K.bottomRows(5)), 0);
      verify(distance(g.V.bottomRows(5), clean.V.bottomRows(5)), 0);
      if (std::isnan(x) || !capped)
        BOOST_TEST(!(g.K.row(2).allFinite() && g.V.row(2).allFinite()));
    }
  }
}
BOOST_AUTO_TEST_CASE(keys_out_of_sight_stay_clean) {
  for (const bool capped : {false, true}) {
    check_keys_out_of_sight<float>(capped);
    check_keys_out_of_sight<double>(capped);
  }
}
BOOST_AUTO_TEST_CASE(nan_stays_below_the_diagonal) {
  const Index n = detail::lanes<float>, keys = 2 * n;
  Matrix<float> Q = gaussian<float>(n + 1, 3, 1);
  Q(3, 1) = float(NaN);
  const auto K = gaussian<float>(keys, 3, 2), V = gaussian<float>(keys, 2, 3);
  const auto dO = gaussian<float>(n + 1, 2, 4);
  auto rule = causal_rule<float>();
  rule.key_block = 4, rule.groups = 1, rule.offset = 0;
  const auto g = flash_vjp(Q, K, V, flash(Q, K, V, rule), dO, rule);
  BOOST_TEST((g.K.bottomRows(keys - 4).allFinite() &&
              g.V.bottomRows(keys - 4).allFinite()));
}
BOOST_AUTO_TEST_CASE(property_of_all_gradients) {
  for_all([] {
    check_backward(random_case<double>(std::uint64_t(draw(1, 1000000000))));
    check_backward(random_case<float>(std::uint64_t(draw(1, 1000000000))));
  });
}
BOOST_AUTO_TEST_CASE(refuses_bad_cotangents) {
  const Matrix<double> Q(3, 4), K(5, 4), V(5, 2), dO(2, 2);
  const auto y = flash(Q, K, V);
  BOOST_CHECK_EXCEPTION(flash_vjp(Q, K, V, y, dO), std::invalid_argument,
                        says("dO is 2x2, expected 3x2"));
  BOOST_CHECK_EXCEPTION(
      flash_vjp(Q, K, V, y, Matrix<double>(3, 2), {}, Vector<double>(2)),
      std::invalid_argument, says("dlogZ has 2 entries, expected 3"));
  auto odd = y;
  odd.logZ.resize(2);
  BOOST_CHECK_EXCEPTION(flash_vjp(Q, K, V, odd, Matrix<double>(3, 2)),
                        std::invalid_argument,
                        says("logZ has 2 entries, expected 3"));
}
BOOST_AUTO_TEST_CASE(refuses_bad_results_going_back) {
  const Matrix<double> Q(3, 4), K(5, 4), V(5, 2), dO(3, 2);
  Matrix<double> O(3, 2), dQ(3, 4), dK(5, 4), dV(5, 2), odd(4, 3);
  Vector<double> L(3);
  const auto out = [](auto& m) { return view_out(m); };
  const auto refused = [&](const char* words, auto q, auto k, auto v) {
    const FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                              view_in<double>(V), view_out(O), L.data(), {}};
    const FlashCotangent<double> bar{view_in<double>(dO), nullptr, q, k, v};
    BOOST_CHECK_EXCEPTION(flash_backward<double>({&h, 1}, {&bar, 1}),
                          std::invalid_argument, says(words));
  };
  refused("dQ is 4x3, expected 3x4", out(odd), out(dK), out(dV));
  refused("dK is 4x3, expected 5x4", out(dQ), out(odd), out(dV));
  refused("dV is 4x3, expected 5x2", out(dQ), out(dK), out(odd));
}
BOOST_AUTO_TEST_CASE(going_back_needs_normalizers) {
  const Matrix<double> Q(3, 4), K(5, 4), V(5, 2), dO(3, 2);
  Matrix<double> O(3, 2), dQ(3, 4), dK(5, 4), dV(5, 2);
  const FlashHead<double> h{view_in<double>(Q), view_in<double>(K),
                            view_in<double>(V), view_out(O), nullptr, {}};
  const FlashCotangent<double> bar{view_in<double>(dO), nullptr, view_out(dQ),
                                   view_out(dK), view_out(dV)};
  BOOST_CHECK_EXCEPTION(flash_backward<double>({&h, 1}, {&bar, 1}),
                        std::invalid_argument, says("logZ of the forward"));
}
BOOST_AUTO_TEST_SUITE_END()
