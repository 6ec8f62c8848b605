// What every public entry point owes to any input: shapes fit or are refused by
// the documented exception; zero extents, strides, NaN, infinities and numbers
// near underflow give what the definition gives.  Falsified by a shape that is
// accepted and should not be (or the other way round), by a result that depends
// on how its arguments are stored, and by a special value that spreads.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/attention.hpp"
#include "attn/backward.hpp"
#include "attn/fisher.hpp"
#include "attn/hopfield.hpp"
#include "attn/linear.hpp"
#include "attn/modifiers.hpp"
#include "attn/multihead.hpp"
#include "attn/positions.hpp"
#include "attn/sparsemax.hpp"

namespace {
using namespace attn;
using M = Matrix<double>;
const double inf = HUGE_VAL, unknown = std::nan("");

// Inside a property: fails it unless ok.
void demand(bool ok,
            std::source_location at = std::source_location::current()) {
  verify(ok ? 0 : 1, 0, at);
}
// f throws std::invalid_argument, or nothing.
template <class F>
bool refused(F f) {
  try {
    f();
    return false;
  } catch (const std::invalid_argument&) {
    return true;
  }
}
// The extent n, or now and then another.
Index about(Index n) { return draw(0, 7) == 0 ? draw(0, 3) : n; }
M some(Index n, Index d) {
  return gaussian<double>(n, d, std::uint64_t(draw(1, 1000)));
}
template <class... X>
M any_of(Index n, Index d, X... values) {
  const std::array<double, sizeof...(X)> v{double(values)...};
  M m(n, d);
  for (Index k = 0; k < m.size(); ++k)
    m.data()[k] = v[std::size_t(draw(0, std::ssize(v) - 1))];
  return m;
}
bool is(const M& m, Index n, Index d) {
  return m.rows() == n && m.cols() == d;
}
bool same_numbers(const M& a, const M& b) {  // NaN is one number here
  return is(a, b.rows(), b.cols()) &&
         ((a.array() == b.array()) || (a.array().isNaN() && b.array().isNaN()))
             .all();
}
}  // namespace

BOOST_AUTO_TEST_SUITE(properties)
BOOST_AUTO_TEST_CASE(layers_fit_or_are_refused) {
  for_all([] {
    const Index n = draw(0, 3), m = draw(0, 3), d = draw(0, 3), v = draw(0, 3);
    const M Q = some(about(n), about(d)), K = some(about(m), about(d));
    const M V = some(about(m), about(v)), g = some(about(d), about(d));
    const Index q = Q.rows(), k = K.rows();
    const bool form = Q.cols() == g.rows() && K.cols() == g.cols();
    const bool values = V.rows() == k;
    const bool alike = Q.cols() == K.cols() && K.cols() > 0;
    demand(refused([&] { demand(is(scores(Q, K), q, k)); }) != alike);
    demand(refused([&] {
             demand(is(scores(Q, K, Bilinear<double>{g}), q, k));
           }) == !form);
    demand(refused([&] { demand(is(attention(Q, K, V).O, q, V.cols())); }) ==
           !(alike && values));
    // The layer with everything it can have, and its gradient.
    AttentionInputs<double> x{Q, K, V};
    const bool given = draw(0, 1);
    if (given) x.M = g;
    x.bias = some(about(q), about(k));
    x.mask = Allowed::Constant(about(q), about(k), true);
    const bool fits = values && is(*x.bias, q, k) &&
                      x.mask->rows() == q && x.mask->cols() == k &&
                      (given ? form : alike);
    demand(refused([&] {
             const auto f = attention_forward(x);
             demand(is(f.O, q, V.cols()) && f.logZ.size() == q);
             if (k == 0) demand(f.O.isZero(0) && (f.logZ.array() == -inf).all());
           }) == !fits);
    const OutputParts<double> bar{some(about(q), about(V.cols())),
                                  some(about(q), 1)};
    demand(refused([&] {
             const auto f = attention_vjp(x, bar);
             demand(is(f.Q, q, Q.cols()) && is(f.K, k, K.cols()) &&
                    is(f.V, k, V.cols()) && is(f.bias, q, k));
           }) == !(fits && is(bar.O, q, V.cols()) &&
                   (bar.logZ.size() == 0 || bar.logZ.size() == q)));
  }, 400);
}
BOOST_AUTO_TEST_CASE(rows_of_weights_fit_or_are_refused) {
  for_all([] {
    const Index n = draw(0, 3), m = draw(0, 3);
    const M S = some(n, m), other = some(about(n), about(m));
    const M A = gibbs(S), B = gibbs(other);
    const bool alike = is(other, n, m);
    demand(refused([&] { demand(is(softmax_vjp(A, other), n, m)); }) != alike);
    demand(refused([&] { demand(is(fisher_lower(A, other), n, m)); }) !=
           alike);
    demand(refused([&] { demand(kl(A, B).size() == n); }) != alike);
    demand(refused([&] { demand(fenchel_young(S, B).size() == n); }) != alike);
    demand(refused([&] { demand(is(natural_gradient(A, other), n, m)); }) !=
           alike);
    demand(refused([&] { demand(is(entmax_vjp(A, other, 1.5), n, m)); }) !=
           alike);
    demand(refused([&] { learn_temperature(S, B); }) != alike);
    demand(refused([&] { average(A, other); }) == (m != other.rows()));
    demand(refused([&] { softmax_jacobian(A); }) == (n != 1));
    demand(refused([&] { output_vjp(A, other, other); }) !=
           (m == other.rows() && n == other.rows()));
    demand(gibbs_entropy(S).size() == n && log_partition(S).size() == n &&
           free_energy(S).size() == n && heat_capacity(S).size() == n &&
           entropy(A).size() == n && is(log_softmax(S), n, m) &&
           is(hard_attention(S), n, m) && is(entmax(S, 1.5), n, m));
  }, 400);
}
BOOST_AUTO_TEST_CASE(other_layers_fit_or_are_refused) {
  for_all([] {
    const Index n = draw(0, 3), m = draw(0, 3), r = draw(0, 3), v = draw(0, 3);
    const M Phi = some(about(n), about(r)), Psi = some(about(m), about(r));
    const M V = some(about(m), v);
    const bool alike = Phi.cols() == Psi.cols() && Psi.rows() == V.rows();
    demand(refused([&] {
             demand(is(linear_attention(Phi, Psi, V), Phi.rows(), v));
           }) != alike);
    demand(refused([&] {
             demand(is(causal_linear_attention(Phi, Psi, V, 2), Phi.rows(), v));
           }) != (alike && Phi.rows() == V.rows()));
    demand(refused([&] {
             demand(is(hopfield_update(Phi, Psi, 2.0), Phi.rows(),
                       Phi.cols()));
           }) != (Phi.cols() == Psi.cols()));
    demand(refused([&] {
             demand(hopfield_energy(Phi, Psi, 2.0).size() == Phi.rows());
           }) != (Phi.cols() == Psi.cols()));
    demand(refused([&] { demand(is(hebb(Psi), Psi.cols(), Psi.cols())); }) ==
           (Psi.cols() == 0));
    const Rotary<double> R{frequencies<double>(2 * r)};
    demand(refused([&] { demand(is(rotate(Phi, R), Phi.rows(), 2 * r)); }) !=
           (Phi.cols() == 2 * r));
    demand(refused([&] { frequencies<double>(r); }) == (r % 2 == 1));
  }, 400);
}
BOOST_AUTO_TEST_CASE(heads_and_variants_fit_or_are_refused) {
  for_all([] {
    const Index D = draw(1, 4), H = draw(1, 3), G = draw(0, 3), d = draw(0, 2);
    const Index n = draw(0, 3), m = draw(0, 3);
    HeadShape s{D, H, G, d};
    const bool even = (G == 0 || H % G == 0) && (d > 0 || D % H == 0);
    demand(refused([&] { completed(s); }) != even);
    if (even) {
      const auto w = xavier<double>(s, 1);
      const M X = some(n, about(D)), C = some(m, about(D));
      const M bias = some(about(n), about(m));
      const bool fits = X.cols() == D && C.cols() == D &&
                        (bias.size() == 0 || is(bias, n, m));
      demand(refused([&] {
               demand(is(multihead_forward(w, X, C, bias).Y, n, D));
             }) != fits);
    }
    VariantParts<double> x{some(about(n), D), some(m, about(D)), some(m, 2)};
    x.bias = some(about(n), about(m));
    x.slope = some(about(1), 1);
    const VariantRules rules{causal(n, m)};
    const auto& B = x.bias;
    const bool fits = x.Q.rows() == n && x.K.cols() == D &&
                      (x.slope.size() == 0 || is(x.slope, 1, 1)) &&
                      (B.size() == 0 || ((B.rows() == n || B.rows() == 1) &&
                                         (B.cols() == m || B.cols() == 1)));
    demand(refused([&] {
             demand(is(variant_forward(x, rules).O, n, 2));
           }) != fits);
    demand(refused([&] { variant_in_tiles(x, rules, 2); }) != fits);
  }, 400);
}
BOOST_AUTO_TEST_CASE(temperatures_are_positive_or_refused) {
  const M S{{1, 2}, {0, -1}}, A = gibbs(S);
  const Metric<double> g = Metric<double>::identity(2);
  for (const double T : {0.0, -0.0, -1.0, inf, -inf, unknown}) {
    const auto bad = [&](auto f) {
      BOOST_CHECK_THROW(f(), std::domain_error);
    };
    bad([&] { gibbs(S, T); });
    bad([&] { log_partition(S, T); });
    bad([&] { log_softmax(S, T); });
    bad([&] { gibbs_entropy(S, T); });
    bad([&] { free_energy(S, T); });
    bad([&] { expected_energy(S, T); });
    bad([&] { heat_capacity(S, T); });
    bad([&] { softmax_vjp(A, S, T); });
    bad([&] { natural_gradient(A, S, T); });
    bad([&] { entmax(S, 1.5, T); });
    bad([&] { sinkhorn(S, T); });
    bad([&] { fisher(Vector<double>(A.row(0).transpose()), T); });
    bad([&] { hopfield_update(S, S, T); });
    bad([&] { hopfield_energy(S, S, T, g); });
    bad([&] {
      AttentionInputs<double> x{S, S, S};
      x.T = T;
      attention_forward(x);
    });
  }
  for (const double T : {5e-324, 1e-308, 1e308})  // positive and finite
    BOOST_TEST(gibbs(S, T).allFinite());
}

namespace {
// What a row of scores with special values gives, by the conventions of
// softmax: unknown, or certain, or empty; otherwise the definition.
void check_row(const RowVector<double>& s, const M& A, double logZ, double H) {
  const auto count = [&](auto what) {
    return std::count_if(s.begin(), s.end(), what);
  };
  const Index tops = count([](double x) { return x == inf; });
  const bool no_number = count([](double x) { return x != x; }) > 0 || tops > 1;
  const bool empty = count([](double x) { return x == -inf; }) == s.size();
  if (no_number) {
    demand(A.array().isNaN().all() && std::isnan(logZ) && std::isnan(H));
  } else if (empty) {
    demand(A.isZero(0) && logZ == -inf && H == 0);
  } else if (tops == 1) {
    for (Index j = 0; j < s.size(); ++j) demand(A(j) == (s(j) == inf ? 1 : 0));
    demand(logZ == inf && H == 0);
  } else {
    const RowVector<quad> t = lift<quad>(s);
    const quad top = lift<quad>(s).maxCoeff();
    const RowVector<quad> e = (t.array() - top).exp();
    // (softmax_bound wants no numbers whose exponentials are certainly zero)
    const M near = s.unaryExpr([&](double x) {
      return s.maxCoeff() - x > 1e4 ? -inf : x;
    });
    verify(A, Matrix<quad>(e / e.sum()),
           softmax_bound(near, M::Zero(1, s.size())));
    const quad truth = top + log(quad(e.sum()));
    verify(to_double(abs(quad(logZ) - truth)),
           gamma(s.size() + 20, 0x1p-53) *
               (to_double(abs(top)) + std::log(double(s.size())) + 1));
  }
}
}  // namespace

BOOST_AUTO_TEST_CASE(special_scores) {
  for_all([] {
    const M S = any_of(2, draw(0, 5), 0, -0.0, 1, -2.5, 5e-324, -1e-310, 700,
                       -800, 1e300, -1e300, inf, -inf, -inf, unknown);
    const auto [A, logZ] = weigh(S);
    const M B = gibbs(S);
    const Vector<double> Z = log_partition(S), H = gibbs_entropy(S);
    for (Index i = 0; i < 2; ++i) {
      check_row(S.row(i), A.row(i), logZ(i), H(i));
      check_row(S.row(i), B.row(i), Z(i), H(i));
    }
  }, 2000);
}
// A row of special numbers does not change any other row.
BOOST_AUTO_TEST_CASE(special_values_stay_in_their_row) {
  for_all([] {
    const Index n = draw(1, 4), m = draw(0, 4), d = draw(1, 3), i = draw(0, n - 1);
    const M K = some(m, d), V = some(m, 2), bar = some(n, 2);
    M Q = some(n, d), P = Q;
    Q.row(i) = any_of(1, d, unknown, inf, -inf, 1e308, 5e-324, 0);
    P.row(i).setZero();
    const auto others = [&](M a) {
      a.row(i).setZero();
      return a;
    };
    const auto equal = [&](const M& a, const M& b) {
      demand(same_numbers(others(a), others(b)));
    };
    equal(attention(Q, K, V).O, attention(P, K, V).O);
    equal(softmax(Q), softmax(P));
    equal(gibbs(Q, 0.5), gibbs(P, 0.5));
    equal(log_softmax(Q), log_softmax(P));
    equal(gibbs_entropy(Q), gibbs_entropy(P));
    equal(free_energy(Q), free_energy(P));
    equal(heat_capacity(Q), heat_capacity(P));
    equal(hard_attention(Q), hard_attention(P));
    equal(entmax(Q, 1.5), entmax(P, 1.5));
    equal(hopfield_update(Q, K, 2.0), hopfield_update(P, K, 2.0));
    equal(elu_features(Q), elu_features(P));
    equal(linear_attention(elu_features(Q), elu_features(K), V),
          linear_attention(elu_features(P), elu_features(K), V));
    const AttentionInputs<double> x{Q, K, V}, y{P, K, V};
    equal(attention_forward(x).O, attention_forward(y).O);
    equal(attention_vjp(x, {bar}).Q, attention_vjp(y, {bar}).Q);
    const VariantRules rules{everything(n, m)};
    equal(variant_forward<double>({Q, K, V}, rules).O,
          variant_forward<double>({P, K, V}, rules).O);
  }, 300);
}
// Keys that nobody may read may hold anything.
BOOST_AUTO_TEST_CASE(unread_keys_may_hold_anything) {
  for_all([] {
    const Index n = draw(0, 4), m = draw(1, 4), d = draw(1, 3), j = draw(0, m - 1);
    AttentionInputs<double> x{some(n, d), some(m, d), some(m, 2)};
    x.mask = Allowed::Constant(n, m, true);
    x.mask->col(j).setConstant(false);
    auto y = x;
    y.K.row(j) = any_of(1, d, unknown, inf, -inf, 1e308);
    y.V.row(j) = any_of(1, 2, unknown, inf, -inf, 1e308);
    const OutputParts<double> bar{some(n, 2)};
    const auto f = attention_forward(x), g = attention_forward(y);
    demand(same_numbers(f.O, g.O) && same_numbers(f.logZ, g.logZ));
    const auto a = attention_vjp(x, bar), b = attention_vjp(y, bar);
    demand(same_numbers(a.Q, b.Q) && same_numbers(a.K, b.K) &&
           same_numbers(a.V, b.V) && b.K.row(j).isZero(0) &&
           b.V.row(j).isZero(0));
    const VariantRules rules{from_matrix(*x.mask)};
    const VariantParts<double> p{x.Q, x.K, x.V}, q{y.Q, y.K, y.V};
    demand(same_numbers(variant_forward(p, rules).O,
                        variant_forward(q, rules).O));
    demand(same_numbers(variant_in_tiles(p, rules, 2).O,
                        variant_in_tiles(q, rules, 2).O));
  }, 200);
}
// However the arguments are stored, the error keeps its bound; so it does for
// subnormal numbers and for products that underflow.
BOOST_AUTO_TEST_CASE(strides_and_subnormal_numbers) {
  using Strided = Eigen::Map<const Eigen::MatrixXd, 0,
                             Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  for_all([] {
    const Index n = draw(0, 3), m = draw(1, 4), d = draw(1, 3);
    const auto numbers = [](Index rows, Index cols) {
      return any_of(rows, cols, 0, 1, -2, 0.3, 5e-324, -1e-310, 1e-160,
                    -3e-200, 1e-8, 40);
    };
    const M Q = numbers(n, d), K = numbers(m, d), V = numbers(m, 2);
    const auto truth = attention(lift<quad>(Q), lift<quad>(K), lift<quad>(V));
    const auto b = attention_bound(Q, K, V);
    // Scatter the entries over a longer array, by rows or by columns.
    std::vector<std::vector<double>> room(3);
    const auto scattered = [&](const M& x, std::vector<double>& a) {
      const Index in = draw(1, 3), out = in * std::max(x.rows(), x.cols()) +
                                         draw(0, 2);
      const bool by_rows = draw(0, 1);
      const Index row = by_rows ? out : in, col = by_rows ? in : out;
      a.assign(std::size_t((row * x.rows() + col * x.cols()) + 1), unknown);
      for (Index i = 0; i < x.rows(); ++i)
        for (Index j = 0; j < x.cols(); ++j)
          a[std::size_t(i * row + j * col)] = x(i, j);
      return Strided(a.data(), x.rows(), x.cols(), {col, row});
    };
    const auto f = attention(scattered(Q, room[0]), scattered(K, room[1]),
                             scattered(V, room[2]));
    verify(f.S, truth.S, b.S);
    verify(f.A, truth.A, b.A);
    verify(f.O, truth.O, b.O);
    demand(same_numbers(gibbs(scattered(Q, room[0])), gibbs(Q)));
    demand(same_numbers(log_softmax(scattered(Q, room[0])), log_softmax(Q)));
    demand(same_numbers(entropy(scattered(f.A, room[0])), entropy(f.A)));
    demand(same_numbers(elu_features(scattered(K, room[1])), elu_features(K)));
  }, 400);
}
BOOST_AUTO_TEST_SUITE_END()
