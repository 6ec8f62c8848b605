// tests/linear_test.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/autodiff.hpp"
#include "attn/field.hpp"
#include "attn/linear.hpp"
#include "attn/rounding.hpp"
using namespace attn;

// teach Eigen to count

// count products and what is alive
struct Counted {
  double x;
  inline static long products = 0, alive = 0, peak = 0;
  Counted(double value = 0) : x(value) { peak = std::max(peak, ++alive); }
  Counted(const Counted& other) : Counted(other.x) {}
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  friend Counted operator+(const Counted& a, const Counted& b) {
    return a.x + b.x;
  }
  friend Counted operator-(const Counted& a, const Counted& b) {
    return a.x - b.x;
  }
  friend Counted operator-(const Counted& a) { return -a.x; }
  friend Counted operator/(const Counted& a, const Counted& b) {
    return a.x / b.x;
  }

  // multiply and count
  friend Counted operator*(const Counted& a, const Counted& b) {
    ++products;
    return a.x * b.x;
  }
  Counted& operator+=(const Counted& b) { return *this = *this + b; }
  Counted& operator-=(const Counted& b) { return *this = *this - b; }
  Counted& operator*=(const Counted& b) { return *this = *this * b; }
  friend bool operator==(const Counted& a, const Counted& b) {
    return a.x == b.x;
  }
};
namespace Eigen {
template <>
struct NumTraits<Counted> : GenericNumTraits<Counted> {
  enum { RequireInitialization = 1, ReadCost = 1, AddCost = 1, MulCost = 1 };
};
}  // namespace Eigen
BOOST_AUTO_TEST_SUITE(kernel)

// check the local fit
BOOST_AUTO_TEST_CASE(local_constant) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<Fp> V = gaussian<Fp>(5, 3, seed, "V");
    Matrix<Fp> A = gaussian<Fp>(1, 5, seed, "A");
    A /= A.sum();
    const Matrix<Fp> a = gaussian<Fp>(1, 3, seed, "a"), o = times(A, V);
    const auto loss = [&](const Matrix<Fp>& x) {
      Fp sum(0);
      for (Index j = 0; j < 5; ++j)
        sum += A(j) * (V.row(j) - x).squaredNorm();
      return sum;
    };
    verify_exact(loss(a), loss(o) + (a - o).squaredNorm(), 8);
  }
}

// sum over keys by the definition
/// sum_j Phi_i . Psi_j (V_j, 1) in quad, over j <= i only if causal.
Matrix<quad> literal_sums(const Matrix<double>& Phi,
                          const Matrix<double>& Psi,
                          const Matrix<double>& V, bool causal) {
  const Matrix<double> W = append_ones(V);
  Matrix<quad> N(Phi.rows(), W.cols());
  N.setConstant(quad(0));
  for (Index i = 0; i < N.rows(); ++i)
    for (Index j = 0; j < (causal ? i + 1 : W.rows()); ++j) {
      quad kernel(0);
      for (Index r = 0; r < Phi.cols(); ++r)
        kernel += quad(Phi(i, r)) * quad(Psi(j, r));
      for (Index c = 0; c < N.cols(); ++c)
        N(i, c) += kernel * quad(W(j, c));
    }
  return N;
}

// hold elu to its units
/// elu_features to 2 + slope |x| units in the last place.
template <class T>
void check_elu(double slope) {
  const T lowest = std::log(std::numeric_limits<T>::min());
  Matrix<T> x = lowest * uniform<T>(1, 40000, 1, "x").cwiseAbs();
  x.leftCols(20000) /= 40;
  const Matrix<T> y = elu_features(x);
  for (Index i = 0; i < x.size(); ++i) {
    const long double truth = std::exp((long double)x(i));
    const long double unit = std::ldexp(
        1.0L, std::ilogb(truth) + 1 - std::numeric_limits<T>::digits);
    verify(double(std::abs(y(i) - truth) / unit),
           2 + slope * std::abs(double(x(i))));
  }

  // check elu where it is zero, and of NaN
  for (const T far : {std::nextafter(lowest, 2 * lowest), 2 * lowest,
                      -std::numeric_limits<T>::infinity()}) {
    x.setConstant(far);
    verify(largest(elu_features(x)), 0);
  }
  for (Index i = 0; i < 40; ++i) {
    x.setConstant(T(-1));
    x(i) = std::numeric_limits<T>::quiet_NaN();
    const Matrix<T> taint = elu_features(x);
    BOOST_TEST((std::isnan(taint(i)) && !std::isnan(taint(39 - i))));
  }
}

// check linear attention
BOOST_AUTO_TEST_CASE(reassociation) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index m = Index(1 + seed % 5), n = Index(1 + seed % 7);
    const Matrix<Fp> Phi = gaussian<Fp>(3, m, seed, "Phi");
    const Matrix<Fp> Psi = gaussian<Fp>(n, m, seed, "Psi");
    const Matrix<Fp> V = gaussian<Fp>(n, 2, seed, "V");
    const Matrix<Fp> E = times(Phi, Psi.transpose()), N = times(E, V);
    const Matrix<Fp> O = linear_attention(Phi, Psi, V);
    for (Index i = 0; i < 3; ++i)
      for (Index c = 0; c < 2; ++c)
        verify_exact(O(i, c), N(i, c) / E.row(i).sum(), 5);
  }
}
BOOST_AUTO_TEST_CASE(memories_add) {
  const Matrix<Fp> Psi = gaussian<Fp>(9, 3, 1, "Psi");
  const Matrix<Fp> V = gaussian<Fp>(9, 2, 1, "V");
  const auto part = [&](Index first, Index n) {
    const Matrix<Fp> psi = Psi.middleRows(first, n);
    return memorise(psi, V.middleRows(first, n));
  };
  const Matrix<Fp> parts = part(0, 4) + part(4, 5);
  verify_exact(memorise(Psi, V), parts, 2);
}
template <class T>
void check_linear(std::uint64_t seed, Index d, Index e) {
  const Index n = Index(1 + seed * 2);
  const T scale = T(seed % 2 ? 1 : 20);
  const Matrix<T> X = scale * gaussian<T>(4, d, seed, "X");
  const Matrix<T> Y = scale * gaussian<T>(n, d, seed, "Y");
  const Matrix<T> F = elu_features(X), P = elu_features(Y);
  const Matrix<T> V = gaussian<T>(n, e, seed, "V");
  const Matrix<double> f = lift<double>(F), p = lift<double>(P);
  const Matrix<double> v = lift<double>(V);
  const Matrix<double> size = linear_attention(f, p, v.cwiseAbs());
  Matrix<quad> truth = literal_sums(f, p, v, false);
  for (Index i = 0; i < 4; ++i) truth.row(i) /= quad(truth(i, e));
  const double g = gamma(2 * (n + d) + 1, unit_roundoff<T>());
  const Matrix<double> bound = g * (1 + g) * size;
  verify(linear_attention(F, P, V), truth.leftCols(e), bound);
}
BOOST_AUTO_TEST_CASE(linear_within_bound) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    check_linear<double>(seed, Index(1 + seed % 6), 3);
    check_linear<float>(seed, Index(1 + seed % 6), 3);
    check_linear<double>(seed, 64, 33);
    check_linear<float>(seed, 64, 33);
  }
}
BOOST_AUTO_TEST_CASE(simple_features) {
  const Matrix<double> x{{-800, -1, 0, 0.5, 3}};
  const Matrix<double> elu{{0, std::exp(-1), 1, 1.5, 4}};
  const Matrix<double> relu{{0, 0, 0, 0.5, 3}};
  verify(distance(elu_features(x)(1), elu(1)), 2 * 0x1p-54);
  for (const Index i : {0, 2, 3, 4})
    verify(distance(elu_features(x)(i), elu(i)), 0);
  verify(largest(relu_features(x) - relu), 0);
  const Matrix<quad> wide = elu_features(lift<quad>(x));
  verify(distance(wide(1), exp(quad(-1))), 0);
  for (const Index i : {2, 3, 4}) verify(distance(wide(i), elu(i)), 0);
  const Matrix<double> bad{{std::nan("")}};
  BOOST_TEST(std::isnan(elu_features(bad)(0)));
  BOOST_TEST(std::isnan(relu_features(bad)(0)));
}
BOOST_AUTO_TEST_CASE(elu_features_below_zero) {
  check_elu<float>(0);
  check_elu<double>(0);
}

// count the multiplications of both ways
struct Cost {
  double exact, linear;
};
Cost count_products(Index n, Index d, Index m) {
  const Matrix<Counted> Q = Matrix<Counted>::Constant(n, d, Counted(1));
  const Matrix<Counted> F = Matrix<Counted>::Constant(n, m, Counted(1));
  Counted::products = 0;
  const Matrix<Counted> O = times(times(Q, Q.transpose()), Q);
  const double exact = double(Counted::products);
  Counted::products = 0;
  const Matrix<Counted> L = linear_attention(F, F, Q);
  return {exact, double(Counted::products)};
}
BOOST_AUTO_TEST_CASE(operation_counts) {
  for (const Index m : {1, 2, 4})
    for (const Index d : {1, 2, 3})
      for (Index n = 1; n <= 8; ++n) {
        const auto [exact, linear] = count_products(n, d, m);
        verify(distance(exact, double(2 * n * n * d)), 0);
        verify(distance(linear, double(2 * n * m * (d + 1))), 0);
        BOOST_TEST((linear < exact) == (n * d > m * (d + 1)));
      }
}
BOOST_AUTO_TEST_CASE(when_linear_is_slower) {
  const Cost few = count_products(3, 4, 6), many = count_products(6, 4, 3);
  refute(few.linear / few.exact, 2);
  verify(many.linear, many.exact);
  const double n = 128, d = 64, m = 256;
  fact("times", 2 * n * m * (d + 1) / (2 * n * n * d));
}

// check the recurrence
BOOST_AUTO_TEST_CASE(delta_rule_is_stable) {
  const Matrix<Fp> psi = gaussian<Fp>(1, 4, 1, "psi");
  const Matrix<Fp> v = gaussian<Fp>(1, 3, 1, "v");
  const Matrix<Fp> M = gaussian<Fp>(4, 3, 1, "M");
  const Matrix<Fp> apart =
      times(psi.transpose(), gaussian<Fp>(1, 3, 1, "x"));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Fp beta = gaussian<Fp>(1, 1, seed, "beta")(0);
    const Fp c = beta * psi.row(0).squaredNorm();
    const auto rule = delta<Fp>(Vector<Fp>::Constant(1, beta));
    const Matrix<Fp> moved =
        recurrence(psi, psi, v, rule, Matrix<Fp>(M + apart)).M -
        recurrence(psi, psi, v, rule, M).M;
    verify_exact(moved, Matrix<Fp>((Fp(1) - c) * apart), 10);
  }

  // push the rate across its limits

  // measure how far two states are driven apart
  const Matrix<double> key = gaussian<double>(1, 4, 1, "key");
  const Matrix<double> value = gaussian<double>(1, 3, 1, "value");
  const Matrix<double> none = Matrix<double>::Zero(4, 3);
  const Matrix<double> along_key = key.transpose() * value;
  const auto spread = [&](double c, const Matrix<double>& D) {
    const auto rule = delta<double>(
        Vector<double>::Constant(1, c / key.squaredNorm()));
    return (recurrence(key, key, value, rule, D).M -
            recurrence(key, key, value, rule, none).M).norm() / D.norm();
  };
  const double slack = 1 + gamma(100, 0x1p-53);
  for (const double c : {0.0, 0.3, 1.0, 1.7, 2.0})
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      verify(spread(c, gaussian<double>(4, 3, seed, "D")), slack);
  for (const double c : {-0.1, 2.1})
    refute(spread(c, along_key), slack);
}
struct Stream {
  Matrix<Fp> Phi, Psi, V;
  Vector<Fp> alpha, beta;
  Stream(Index n, Index m, std::uint64_t seed)
      : Phi(gaussian<Fp>(n, m, seed, "Phi")),
        Psi(gaussian<Fp>(n, m, seed, "Psi")),
        V(gaussian<Fp>(n, 2, seed, "V")),
        alpha(gaussian<Fp>(n, 1, seed, "alpha")),
        beta(gaussian<Fp>(n, 1, seed, "beta")) {}
};
BOOST_AUTO_TEST_CASE(recurrence_is_masked_attention) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index n = Index(seed);
    const Stream x(n, 3, seed);
    Matrix<Fp> O = Matrix<Fp>::Zero(n, 2);
    for (Index t = 0; t < n; ++t)
      for (Index s = 0; s <= t; ++s) {
        Fp w = x.Phi.row(t).dot(x.Psi.row(s)) * x.beta(s);
        for (Index u = s + 1; u <= t; ++u) w *= x.alpha(u);
        O.row(t) += w * x.V.row(s);
      }
    const Rule<Fp> rule{x.alpha, x.beta, false};
    verify_exact(recurrence(x.Phi, x.Psi, x.V, rule).O, O, n + 4);
  }
}
BOOST_AUTO_TEST_CASE(chunks_equal_recurrence) {
  for (const Index n : {1, 2, 7, 12})
    for (const bool erase : {false, true}) {
      Stream x(n, 3, std::uint64_t(n));
      if (n == 7) x.alpha(4) = Fp(0);
      const Rule<Fp> rule{x.alpha, x.beta, erase};
      const Matrix<Fp> M0 = gaussian<Fp>(3, 2, 1, "M0");
      const auto truth = recurrence(x.Phi, x.Psi, x.V, rule, M0);
      for (Index C = 1; C <= n + 2; ++C) {
        const auto ours = chunked(x.Phi, x.Psi, x.V, rule, C, M0);
        verify_exact(ours.O, truth.O, 5 * n + 3);
        verify_exact(ours.M, truth.M, 5 * n + 3);
      }
    }
}
template <class F>
void spoil_a_token(Index t, const F& attend) {
  const Matrix<double> X = gaussian<double>(9, 3, 1, "X").cwiseAbs();
  const Matrix<double> truth = attend(X, X, X);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Matrix<double> Y = X;
    Y.row(t).setConstant(bad);
    for (const Matrix<double>& O :
         {attend(Y, X, X), attend(X, Y, X), attend(X, X, Y)}) {
      verify(distance(O.topRows(t), truth.topRows(t)), 0);
      BOOST_TEST(!O.row(t).array().isFinite().all());
    }
  }
}
BOOST_AUTO_TEST_CASE(nothing_comes_from_the_future) {
  using M = Matrix<double>;
  const Vector<double> half = Vector<double>::Constant(9, 0.5);
  for (const Index t : {0, 4, 8})
    for (const Index C : {1, 4, 9, 32}) {
      for (const bool erase : {false, true})
        spoil_a_token(t, [&](const M& F, const M& P, const M& V) {
          return chunked(F, P, V, Rule<double>{half, half, erase}, C).O;
        });
      spoil_a_token(t, [&](const M& F, const M& P, const M& V) {
        return causal_linear_attention(F, P, V, C);
      });
    }
  M F = M::Ones(8, 3), P = F;
  F.row(0) *= 1e200, P.row(7) *= 1e200;
  const M v = M::Ones(8, 1);
  verify(std::abs(chunked(F, P, v, additive<double>(8)).O(0) / 3e200 - 1),
         0x1p-50);
  verify(std::abs(causal_linear_attention(F, P, v)(0) - 1), 0);
}
BOOST_AUTO_TEST_CASE(gradients_do_not_mix_times) {
  const Matrix<double> X = gaussian<double>(9, 3, 1, "X");
  const Vector<double> half = Vector<double>::Constant(9, 0.5);
  for (const bool erase : {false, true})
    for (const Index C : {1, 4, 9, 32}) {
      const Rule<double> rule{half, half, erase};
      const auto back = [&](const auto& F, const auto& P, const auto& V,
                            const auto& dO) {
        return recurrence_vjp(F, P, V, rule, dO, C);
      };
      Matrix<double> Y = X;
      Y.row(4).setConstant(std::nan(""));
      const auto truth = back(X, X, X, X);
      for (const auto& d : {back(X, Y, X, X), back(X, X, Y, X)})
        verify(distance(d.Phi.topRows(4), truth.Phi.topRows(4)), 0);
      for (const auto& d : {back(Y, X, X, X), back(X, X, X, Y)})

        // see that later tokens have learned nothing
        {
          verify(distance(d.Psi.bottomRows(4), truth.Psi.bottomRows(4)), 0);
          verify(distance(d.V.bottomRows(4), truth.V.bottomRows(4)), 0);
          verify(distance(d.alpha.tail(4), truth.alpha.tail(4)), 0);
          verify(distance(d.beta.tail(4), truth.beta.tail(4)), 0);
        }
    }
}
BOOST_AUTO_TEST_CASE(streams_may_be_interrupted) {
  const Stream x(8, 3, 5);
  const Rule<Fp> rule{x.alpha, x.beta, true};
  const Rule<Fp> head{x.alpha.head(3), x.beta.head(3), true};
  const Rule<Fp> tail{x.alpha.tail(5), x.beta.tail(5), true};
  const auto a = recurrence(x.Phi.topRows(3), x.Psi.topRows(3),
                            x.V.topRows(3), head);
  const auto b = recurrence(x.Phi.bottomRows(5), x.Psi.bottomRows(5),
                            x.V.bottomRows(5), tail, a.M);
  const auto all = recurrence(x.Phi, x.Psi, x.V, rule);
  verify_exact(b.M, all.M, 40);
  verify_exact(b.O, Matrix<Fp>(all.O.bottomRows(5)), 40);
}
BOOST_AUTO_TEST_CASE(prompts_are_continued) {
  const Index n = 2 * chunk_length + 9, prompt = n - 4;
  const Stream x(n, 3, 6);
  const Matrix<Fp> whole = causal_linear_attention(x.Phi, x.Psi, x.V);
  auto piece = causal_linear_stream(x.Phi.topRows(prompt),
                                    x.Psi.topRows(prompt),
                                    x.V.topRows(prompt));
  verify_exact(piece.O, Matrix<Fp>(whole.topRows(prompt)), 4 * n);
  for (Index t = prompt; t < n; ++t) {
    piece = causal_linear_stream(x.Phi.row(t), x.Psi.row(t), x.V.row(t),
                                 piece.M);
    verify_exact(piece.O, Matrix<Fp>(whole.row(t)), 4 * n);
  }
  verify_exact(piece.M, memorise(x.Psi, x.V), 2);
}
BOOST_AUTO_TEST_CASE(delta_rule_overwrites) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<Fp> psi = gaussian<Fp>(1, 4, seed, "psi");
    const Matrix<Fp> v = gaussian<Fp>(1, 3, seed, "v");
    Matrix<Fp> other = gaussian<Fp>(1, 4, seed, "other");
    const Fp square = psi.row(0).squaredNorm();
    other -= psi.row(0).dot(other.row(0)) / square * psi;
    const Matrix<Fp> M0 = gaussian<Fp>(4, 3, seed, "M0");
    const Rule<Fp> rule = delta<Fp>(Vector<Fp>::Constant(1, Fp(1) / square));
    const auto after = recurrence(psi, psi, v, rule, M0);
    verify_exact(after.O, v, 8);
    verify_exact(times(other, after.M), times(other, M0), 12);
  }
}
BOOST_AUTO_TEST_CASE(delta_rule_is_a_gradient_step) {
  using D = Dual<Fp>;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix<Fp> psi = gaussian<Fp>(1, 4, seed, "psi");
    const Matrix<Fp> v = gaussian<Fp>(1, 3, seed, "v");
    const Matrix<Fp> M = gaussian<Fp>(4, 3, seed, "M");
    const Matrix<Fp> E = gaussian<Fp>(4, 3, seed, "E");
    D loss(Fp(0));
    for (Index c = 0; c < 3; ++c) {
      D r(-v(c));
      for (Index a = 0; a < 4; ++a) r = r + D(psi(a)) * D(M(a, c), E(a, c));
      loss = loss + r * r / D(Fp(2));
    }
    const Fp rate = gaussian<Fp>(1, 1, seed, "rate")(0);
    const auto rule = delta<Fp>(Vector<Fp>::Constant(1, rate));
    const Matrix<Fp> step = M - recurrence(psi, psi, v, rule, M).M;
    verify_exact(step.cwiseProduct(E).sum(), rate * loss.d, 6);
  }
}
BOOST_AUTO_TEST_CASE(chunks_within_bound) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = Index(1 + 3 * seed), m = Index(1 + seed % 6);
    const Index C = Index(1 + seed % 9);
    const Matrix<double> F = gaussian<double>(n, m, seed, "F").cwiseAbs();
    const Matrix<double> P = gaussian<double>(n, m, seed, "P").cwiseAbs();
    const Matrix<double> V = gaussian<double>(n, 2, seed, "V");
    const Matrix<quad> truth = literal_sums(F, P, V, true).leftCols(2);
    const Matrix<double> size =
        lift<double>(literal_sums(F, P, V.cwiseAbs(), true)).leftCols(2);
    const double g = gamma(n + m + 2 * (n / C + 1), 0x1p-53);
    const Matrix<double> bound = g * (1 + g) * size;
    const auto rule = additive<double>(n);
    verify(chunked(F, P, V, rule, C).O, truth, bound);
    verify(recurrence(F, P, V, rule).O, truth, bound);
  }
}
BOOST_AUTO_TEST_CASE(causal_within_bound) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index n = Index(1 + 3 * seed), m = Index(1 + seed % 6);
    const Index C = Index(1 + seed % 9);
    Matrix<double> F = gaussian<double>(n, m, seed, "F").cwiseAbs();
    const Matrix<double> P = gaussian<double>(n, m, seed, "P").cwiseAbs();
    const Matrix<double> V = gaussian<double>(n, 2, seed, "V");
    F.row(n / 2).setZero();  // a query that no key answers
    Matrix<quad> truth = literal_sums(F, P, V, true);
    Matrix<quad> size = literal_sums(F, P, V.cwiseAbs(), true);
    for (Index i = 0; i < n; ++i) {
      const quad l = i == n / 2 ? quad(1) : quad(truth(i, 2));
      truth.row(i) /= l, size.row(i) /= l;
    }
    const double g = gamma(2 * (n + m + 2 * (n / C + 1)) + 1, 0x1p-53);
    const Matrix<double> bound = g * (1 + g) * lift<double>(size).leftCols(2);
    verify(causal_linear_attention(F, P, V, C), truth.leftCols(2), bound);
  }
}
BOOST_AUTO_TEST_CASE(causal_in_float_at_full_size) {
  const Index n = 4 * chunk_length + 22, m = 64;
  const Matrix<float> F = elu_features(gaussian<float>(n, m, 1, "F"));
  const Matrix<float> P = elu_features(gaussian<float>(n, m, 1, "P"));
  const Matrix<float> V = gaussian<float>(n, m, 1, "V");
  const Matrix<double> f = F.cast<double>(), p = P.cast<double>(),
                       v = V.cast<double>();
  Matrix<quad> truth = literal_sums(f, p, v, true);
  Matrix<quad> size = literal_sums(f, p, v.cwiseAbs(), true);
  const auto rule = additive<float>(n);
  const Index terms = n + m + 2 * (n / chunk_length + 1);
  const double g = gamma(terms, 0x1p-24), h = gamma(2 * terms + 1, 0x1p-24);
  verify(chunked(F, P, V, rule).O, truth.leftCols(m),
         Matrix<double>(g * (1 + g) * lift<double>(size).leftCols(m)));
  for (Index i = 0; i < n; ++i)
    size.row(i) /= truth(i, m), truth.row(i) /= quad(truth(i, m));
  verify(causal_linear_attention(F, P, V), truth.leftCols(m),
         Matrix<double>(h * (1 + h) * lift<double>(size).leftCols(m)));
}
template <class S>
void delta_in_chunks(double c) {
  const Index n = 2 * chunk_length + 22, m = 64, C = chunk_length;
  const auto draw = [&](const char* name) {
    return gaussian<S>(n, m, 1, name);
  };
  const Matrix<S> F = draw("F"), P = draw("P"), V = draw("V");
  const Vector<S> beta = S(c) * P.rowwise().squaredNorm().cwiseInverse();
  const auto ours = chunked(F, P, V, delta<S>(beta));
  const Matrix<quad> f = lift<quad>(F), p = lift<quad>(P), v = lift<quad>(V);
  Matrix<quad> M = Matrix<quad>::Zero(m, m);
  double work = 0, lost = 0;
  const double g = gamma(m + C + 1, unit_roundoff<S>());
  for (Index t = 0; t < n; ++t) {
    // follow one token of the delta rule, and what it rounds
    const quad b = quad(beta(t));
    if (t % C == 0) {
      lost += g * work;
      work = to_double(M.norm()) + lost;
    }
    const double length = to_double(p.row(t).norm()), rate = to_double(b);
    const Matrix<quad> u = b * (v.row(t) - p.row(t) * M);
    const double e = g * (to_double(v.row(t).norm()) + length * work);
    work += length * (to_double(u.norm()) + rate * (e + length * lost));
    lost += rate * length * e;
    M += p.row(t).transpose() * u;
    verify(to_double((lift<quad>(ours.O.row(t)) - f.row(t) * M).norm()),
           to_double(f.row(t).norm()) * (lost + g * work));
  }
}
BOOST_AUTO_TEST_CASE(delta_chunks_within_bound) {
  for (const double c : {0.3, 1.0, 1.9}) {
    delta_in_chunks<float>(c);
    delta_in_chunks<double>(c);
  }
}

// let all arguments move
using Moving = Matrix<Dual<Fp>>;
Moving moving(const Matrix<Fp>& X, const Matrix<Fp>& dX) {
  Moving Y(X.rows(), X.cols());
  for (Index k = 0; k < X.size(); ++k)
    Y.data()[k] = {X.data()[k], dX.data()[k]};
  return Y;
}
Fp along(const Matrix<Fp>& gradient, const Matrix<Fp>& dX) {
  Fp sum(0);
  for (Index k = 0; k < dX.size(); ++k)
    sum += gradient.data()[k] * dX.data()[k];
  return sum;
}
/// sum_t W_t . o_t by eq. recurrence, for n x m features; M is moved on.
Dual<Fp> literal_recurrence(const Moving& Phi, const Moving& Psi,
                            const Moving& V, const Moving& alpha,
                            const Moving& beta, bool erase, Moving& M,
                            const Matrix<Fp>& W) {
  using D = Dual<Fp>;
  D sum(Fp(0));
  for (Index t = 0; t < V.rows(); ++t)
    for (Index c = 0; c < V.cols(); ++c) {
      D r = V(t, c), o(Fp(0));
      for (Index a = 0; a < Phi.cols(); ++a) {
        M(a, c) = M(a, c) * alpha(t);
        if (erase) r = r - Psi(t, a) * M(a, c);
      }
      for (Index a = 0; a < Phi.cols(); ++a) {
        M(a, c) = M(a, c) + beta(t) * Psi(t, a) * r;
        o = o + Phi(t, a) * M(a, c);
      }
      sum = sum + o * D(W(t, c));
    }
  return sum;
}
Dual<Fp> literal_attention(const Moving& Phi, const Moving& Psi,
                           const Moving& V, bool causal,
                           const Matrix<Fp>& W) {
  using D = Dual<Fp>;
  D sum(Fp(0));
  for (Index i = 0; i < Phi.rows(); ++i) {
    D top(Fp(0)), Z(Fp(0));
    for (Index j = 0; j < (causal ? i + 1 : V.rows()); ++j) {
      D k(Fp(0)), w(Fp(0));
      for (Index r = 0; r < Phi.cols(); ++r)
        k = k + Phi(i, r) * Psi(j, r);
      for (Index c = 0; c < V.cols(); ++c) w = w + D(W(i, c)) * V(j, c);
      Z = Z + k;
      top = top + k * w;
    }
    sum = sum + top / Z;
  }
  return sum;
}

// check the gradients
BOOST_AUTO_TEST_CASE(recurrence_gradient) {
  const Index n = 7;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const bool erase : {false, true}) {
      Stream x(n, 3, seed), y(n, 3, seed + 500);
      if (seed == 2) x.alpha(4) = Fp(0);
      const Matrix<Fp> W = gaussian<Fp>(n, 2, seed, "W");
      const Matrix<Fp> M = gaussian<Fp>(3, 2, seed, "M");
      const Matrix<Fp> dM = gaussian<Fp>(3, 2, seed, "dM");
      Moving state = moving(M, dM);
      const Dual<Fp> loss = literal_recurrence(
          moving(x.Phi, y.Phi), moving(x.Psi, y.Psi), moving(x.V, y.V),
          moving(x.alpha, y.alpha), moving(x.beta, y.beta), erase, state, W);

      // compare the slopes, with and without the last state
      const Matrix<Fp> none, L = gaussian<Fp>(3, 2, seed, "L");
      const Fp rest = state.unaryExpr([](const Dual<Fp>& s) { return s.d; })
                          .cwiseProduct(L).sum();
      for (const Index C : {1, 3, 7, 9})
        for (const bool seen : {false, true}) {
          const auto d = recurrence_vjp(x.Phi, x.Psi, x.V,
                                        {x.alpha, x.beta, erase}, W, C, M,
                                        seen ? L : none);
          verify_exact(along(d.Phi, y.Phi) + along(d.Psi, y.Psi) +
                           along(d.V, y.V) + along(d.alpha, y.alpha) +
                           along(d.beta, y.beta) + along(d.start, dM),
                       seen ? loss.d + rest : loss.d, 4 * n + 8);
        }
    }
}
template <class F>
void linear_gradient(bool causal, F vjp) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Stream x(5, 3, seed), y(5, 3, seed + 500);
    const Matrix<Fp> W = gaussian<Fp>(5, 2, seed, "W");
    const Dual<Fp> loss = literal_attention(
        moving(x.Phi, y.Phi), moving(x.Psi, y.Psi), moving(x.V, y.V),
        causal, W);
    const LinearGradient<Fp> d = vjp(x.Phi, x.Psi, x.V, W);
    verify_exact(along(d.Phi, y.Phi) + along(d.Psi, y.Psi) +
                     along(d.V, y.V), loss.d, 26);
  }
}
BOOST_AUTO_TEST_CASE(linear_attention_gradient) {
  linear_gradient(false, [](const auto&... x) {
    return linear_attention_vjp(x...);
  });
}
BOOST_AUTO_TEST_CASE(causal_gradient) {
  for (const Index C : {1, 2, 64})
    linear_gradient(true, [C](const auto&... x) {
      return causal_linear_attention_vjp(x..., C);
    });
}
BOOST_AUTO_TEST_CASE(chunks_of_no_named_length) {
  const Index n = 2 * chunk_length + 7;
  const Stream x(n, 3, 8), y(n, 3, 508);
  const Matrix<Fp> W = gaussian<Fp>(n, 2, 8, "W");
  for (const bool erase : {false, true}) {
    const Rule<Fp> rule{x.alpha, x.beta, erase};
    const auto truth = recurrence(x.Phi, x.Psi, x.V, rule);
    const auto ours = chunked(x.Phi, x.Psi, x.V, rule);
    verify_exact(ours.O, truth.O, 5 * n + 3);
    verify_exact(ours.M, truth.M, 5 * n + 3);

    // compare the slope of a recurrence of three chunks
    const Matrix<Fp> none = Matrix<Fp>::Zero(3, 2);
    const Matrix<Fp> dM = gaussian<Fp>(3, 2, 8, "dM");
    Moving state = moving(none, dM);
    const Dual<Fp> loss = literal_recurrence(
        moving(x.Phi, y.Phi), moving(x.Psi, y.Psi), moving(x.V, y.V),
        moving(x.alpha, y.alpha), moving(x.beta, y.beta), erase, state, W);
    const auto d = recurrence_vjp(x.Phi, x.Psi, x.V, rule, W);
    verify_exact(along(d.Phi, y.Phi) + along(d.Psi, y.Psi) + along(d.V, y.V) +
                     along(d.alpha, y.alpha) + along(d.beta, y.beta) +
                     along(d.start, dM), loss.d, 5 * n + 8);
  }

  // compare the slope of causal attention over three chunks
  const Dual<Fp> loss = literal_attention(
      moving(x.Phi, y.Phi), moving(x.Psi, y.Psi), moving(x.V, y.V), true, W);
  const auto d = causal_linear_attention_vjp(x.Phi, x.Psi, x.V, W);
  verify_exact(along(d.Phi, y.Phi) + along(d.Psi, y.Psi) + along(d.V, y.V),
               loss.d, 4 * n + 6);
}

// check the memory of the gradient
BOOST_AUTO_TEST_CASE(gradient_keeps_one_state_per_chunk) {
  const Index m = 8, v = 4, C = 8;
  const auto extra = [&](Index n, bool erase) {
    const auto ones = [](Index rows, Index cols) {
      return Matrix<Counted>(
          Matrix<Counted>::Constant(rows, cols, Counted(0.125)));
    };
    const Matrix<Counted> F = ones(n, m), V = ones(n, v);
    Rule<Counted> rule = additive<Counted>(n);
    rule.erase = erase;
    const long before = Counted::peak = Counted::alive;
    const auto d = recurrence_vjp(F, F, V, rule, V, C);
    const long results = n * (2 * m + v + 2) + m * v;
    return Counted::peak - before - results;
  };
  for (const bool erase : {false, true}) {
    const long a = extra(64, erase), b = extra(128, erase);
    verify(std::abs(double(b - a - 64 / C * m * v)), 0);
  }
  const Index n = 1024;
  fact("tokens", n);
  fact("extra", extra(n, true));
  fact("tape", n * m * v);
}
BOOST_AUTO_TEST_CASE(causal_gradient_walks_once) {
  const Index n = 16, m = 3, v = 2, C = 4;
  const Matrix<Counted> F =
      Matrix<Counted>::Constant(n, m, Counted(0.5));
  const Matrix<Counted> V = F.leftCols(v), W = append_ones(V);
  const auto count = [](auto f) {
    Counted::products = 0;
    f();
    return Counted::products;
  };
  const long causal = count(
      [&] { causal_linear_attention_vjp(F, F, V, V, C); });
  const long plain = count([&] {
    recurrence_vjp(F, F, W, additive<Counted>(n), W, C);
  });
  const long outputs = n * (C * (m + 1) + (m + 1) * (v + 1) + v) +
                       n * (C + 1) * (v + 1) / 2;
  verify(std::abs(double(causal - plain - outputs)), 0);
}

// check the edges of linear attention
BOOST_AUTO_TEST_CASE(linear_edges) {
  const Matrix<double> F = gaussian<double>(3, 2, 1, "F").cwiseAbs(), V = F;
  const Matrix<double> none(0, 2), zero = Matrix<double>::Zero(3, 2);
  verify(linear_attention(F, none, none).cwiseAbs().sum(), 0);
  verify(linear_attention(F, zero, V).cwiseAbs().sum(), 0);
  verify(linear_attention_vjp(F, zero, V, V).V.cwiseAbs().sum(), 0);
  BOOST_TEST(chunked(none, none, none, additive<double>(0)).O.rows() == 0);
  BOOST_TEST(linear_attention(none, F, V).rows() == 0);
  const Matrix<double> once = Matrix<double>::Ones(3, 1);
  verify(causal_linear_stream(once, once, Matrix<double>(3, 0),
                              Matrix<double>{{5}}).M(0) - 8, 0);

  // let no normaliser vanish
  const Matrix<double> big = 500 * gaussian<double>(4, 2, 1, "big");
  const Matrix<double> W = gaussian<double>(8, 2, 1, "W");
  const Matrix<double> ones = Matrix<double>::Ones(4, 1);
  verify(distance(performer(big, big, ones, W), ones),
         gamma(2 * (4 + 8) + 1, 0x1p-53));
  verify(positive_features(kernel_coordinates(big), W).rowwise().sum()
             .minCoeff(), 0);
  verify(performer(F, none, none, W).norm(), 0);
  const Matrix<double> up{{30.0}}, two{{30}, {-30}};  // no common direction
  verify(distance(performer(up, Matrix<double>(-up), up, two), up), 0);
  const Matrix<double> sole = big.topRows(1), v = V.topRows(1);
  verify(distance(performer(sole, sole, v, W.topRows(1)), v), 0);
  Matrix<double> bad = F;
  bad(1, 0) = std::nan("");
  BOOST_TEST(linear_attention(bad, F, V).row(1).array().isNaN().all());
  verify((linear_attention(bad, F, V) - linear_attention(F, F, V))
             .row(0).norm(), 0);
}
BOOST_AUTO_TEST_CASE(long_queries) {
  const Matrix<double> K = gaussian<double>(7, 3, 1, "K");
  const Matrix<double> V = gaussian<double>(7, 2, 1, "V");
  const Matrix<double> W = gaussian<double>(9, 3, 1, "W");
  for (const double s : {1.0, 1e3, 1e5, 1e155}) {
    const Matrix<double> Q = s * gaussian<double>(5, 3, 1, "Q");
    const double size = W.rowwise().norm().maxCoeff() *
                        (s < 1e100 ? Q.rowwise().norm().maxCoeff() : 1);
    verify(distance(performer(Q, K, V, W),
                    performer(lift<quad>(Q), lift<quad>(K), lift<quad>(V),
                              lift<quad>(W))),
           (4 * gamma(6, 0x1p-53) * (size + K.squaredNorm()) +
            2 * gamma(40, 0x1p-53)) * V.cwiseAbs().maxCoeff());

    // let two directions be equally near to long queries
    const Matrix<double> two{{3, 2, 1}, {3, 2, -1}};
    const Matrix<double> long_one{{3 * s, 2 * s, 0.5}};
    const auto of = [&](const auto& q, const auto& k, const auto& v,
                        const auto& w) { return performer(q, k, v, w); };
    const double off = distance(
        of(long_one, K, V, two), of(lift<quad>(long_one), lift<quad>(K),
                                    lift<quad>(V), lift<quad>(two)));
    if (s < 1e100)
      verify(off, (4 * gamma(6, 0x1p-53) * (20 * s + K.squaredNorm()) +
                   2 * gamma(40, 0x1p-53)) * V.cwiseAbs().maxCoeff());
  }
}
BOOST_AUTO_TEST_CASE(shifts_change_nothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index d = Index(1 + seed % 5), n = Index(1 + seed % 7);
    const Matrix<quad> Q = gaussian<quad>(3, d, seed, "Q");
    const Matrix<quad> K = quad(2) * gaussian<quad>(n, d, seed, "K");
    const Matrix<quad> V = gaussian<quad>(n, 2, seed, "V");
    const Matrix<quad> W = gaussian<quad>(6, d, seed, "W");
    const auto features = [&](const Matrix<quad>& X) {
      return positive_features(kernel_coordinates(X), W);
    };
    const double u = unit_roundoff<quad>();
    const double x = to_double(3 * W.squaredNorm() + Q.squaredNorm() +
                               K.squaredNorm());
    const double most = 4 * gamma(2 * (d + 8), u) * 4 * x +
                        2 * gamma(2 * (n + 6) + 8, u);
    verify(distance(performer(Q, K, V, W),
                    linear_attention(features(Q), features(K), V)),
           most * to_double(V.cwiseAbs().maxCoeff()));
  }
}
BOOST_AUTO_TEST_CASE(linear_refusals) {
  const Matrix<double> F = gaussian<double>(3, 2, 1, "F"), G(4, 2), T(3, 3);
  const auto rule = additive<double>(3);
  const auto refused = [](auto f, const char* words) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  refused([&] { linear_attention(F, G, F); }, "memorise: Psi is 4x2");
  refused([&] { linear_attention(T, F, F); }, "recall: Phi is 3x3");
  refused([&] { linear_attention_vjp(F, F, F, G); }, "dO is 4x2");
  refused([&] { recurrence(F, G, F, rule); }, "recurrence: Phi is 3x2");
  refused([&] { recurrence(F, F, F, additive<double>(2)); }, "2 decays");
  refused([&] { additive<double>(-1); }, "additive: -1 steps");
  refused([&] { chunked(F, F, F, rule, 0); }, "chunks of length 0");
  refused([&] { causal_linear_attention(F, F, F, 0); }, "chunks of length 0");
  refused([&] { causal_linear_attention(F, T, F); }, "Psi is 3x3");
  refused([&] { causal_linear_stream(F, F, F, F); }, "the memory is 3x2");
  refused([&] { causal_linear_stream(F, F, F, T); }, "the memory is 3x3");
  refused([&] { chunked(F, F, F, rule, 2, T); }, "the state is 3x3");
  refused([&] { recurrence_vjp(F, F, F, rule, G); }, "recurrence_vjp: dO");
  refused([&] { causal_linear_attention_vjp(F, F, F, G); }, "dO is 4x2");
  refused([&] { performer(F, T, F, F); }, "performer: Q is 3x2");
  refused([&] { log_features(F, T); }, "log_features: X is 3x2");
  refused([&] { trigonometric_features(F, T); }, "the directions are 3x3");
  refused([&] { kernel_coordinates(Matrix<double>(3, 0)); }, "X is 3x0");
}
BOOST_AUTO_TEST_CASE(decays_that_grow) {
  const auto rule = [](double a) {
    return decaying<double>(Vector<double>{{1, 0, a}});
  };
  for (const double bad : {-0.01, 1.01, HUGE_VAL})
    BOOST_CHECK_EXCEPTION(rule(bad), std::domain_error,
                          says("decaying: alpha_2 is"));
  BOOST_TEST(std::isnan(rule(std::nan("")).alpha(2)));
}
BOOST_AUTO_TEST_CASE(linear_refuses_each_extent) {
  const Matrix<double> F = gaussian<double>(3, 2, 1, "F"), G(4, 2), T(3, 3);
  const Matrix<double> none(0, 2), wide(2, 3);
  const auto rule = additive<double>(3);
  const Rule<double> odd{Vector<double>::Ones(3), Vector<double>::Ones(2)};
  const auto refused = [](auto f, const char* words) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  refused([&] { recall(F, Matrix<double>(2, 0)); }, "the memory is 2x0");
  refused([&] { linear_attention_vjp(F, F, F, T); }, "dO is 3x3");
  refused([&] { log_features(F, none); }, "the directions are 0x2");
  refused([&] { trigonometric_features(F, none); }, "directions are 0x2");
  refused([&] { performer(F, F, G, F); }, "V 4x2");
  refused([&] { recurrence(F, T, F, rule); }, "Psi 3x3");
  refused([&] { recurrence(F, F, G, rule); }, "V 4x2");
  refused([&] { recurrence(F, F, F, odd); }, "3 decays and 2 rates");
  refused([&] { recurrence(F, F, F, rule, wide); }, "the state is 2x3");
  refused([&] { causal_linear_attention(G, F, F); }, "Phi is 4x2");
  refused([&] { causal_linear_attention(F, G, F); }, "Psi is 4x2");
  refused([&] { recurrence_vjp(F, F, F, rule, T); }, "dO is 3x3");
  refused([&] { recurrence_vjp(F, F, F, rule, F, 0); }, "of length 0");
  refused([&] { causal_linear_attention_vjp(F, F, F, T); }, "dO is 3x3");

  // refuse shapes of the gradients
  refused([&] { recurrence_vjp(F, F, F, rule, F, 2, {}, T); }, "dM is 3x3");
  refused([&] { recurrence_vjp(F, F, F, rule, F, 2, {}, wide); },
          "dM is 2x3");
  refused([&] { causal_linear_attention_vjp(F, F, F, F, 0); }, "of length 0");
  refused([&] { causal_linear_attention_vjp(G, F, F, F); }, "Phi is 4x2");
  refused([&] { causal_linear_attention_vjp(F, G, F, F); }, "Psi is 4x2");
  refused([&] { causal_linear_attention_vjp(F, T, F, F); }, "Psi is 3x3");
  refused([&] { causal_linear_stream(F, F, F.leftCols(1), G.topRows(3)); },
          "the memory is 3x2");
}
BOOST_AUTO_TEST_CASE(refusals_name_the_function) {
  const Matrix<double> F = gaussian<double>(3, 2, 1, "F"), G(4, 2), T(3, 3);
  const auto refused = [](auto f, const char* words) {
    BOOST_CHECK_EXCEPTION(f(), std::invalid_argument, says(words));
  };
  refused([&] { causal_linear_attention(F, G, F); },
          "causal_linear_attention: Phi is 3x2");
  refused([&] { causal_linear_attention(F, F, F, 0); },
          "causal_linear_attention: chunks of length 0");
  refused([&] { causal_linear_stream(F, G, F); },
          "causal_linear_stream: Phi is 3x2");
  refused([&] { causal_linear_stream(F, F, F, {}, 0); },
          "causal_linear_stream: chunks of length 0");
  refused([&] { normalise(Matrix<double>(3, 0)); }, "normalise: nothing");
  refused([&] { normalise_vjp(T, T); }, "normalise_vjp: N is 3x3");
  refused([&] { normalise_vjp(T, G); }, "N is 3x3 but dO is 4x2");
}

// check the answer about least squares
BOOST_AUTO_TEST_CASE(answer_recursive) {
  const Index n = 8, m = 3;
  const Matrix<Fp> Psi = gaussian<Fp>(n, m, 1, "Psi");
  const Matrix<Fp> V = gaussian<Fp>(n, 2, 1, "V");
  const Fp lambda = Psi(0, 0) + Fp(1);
  Matrix<Fp> P = Matrix<Fp>::Identity(m, m) / lambda;
  Matrix<Fp> M = Matrix<Fp>::Zero(m, 2);
  Matrix<Fp> H = lambda * Matrix<Fp>::Identity(m, m);
  Matrix<Fp> B = M;
  for (Index t = 0; t < n; ++t) {
    const Matrix<Fp> psi = Psi.row(t), v = V.row(t), up = psi.transpose();
    const Matrix<Fp> p = times(psi, P), miss = v - times(psi, M);
    P -= times(p.transpose(), p) / (Fp(1) + times(p, up)(0));
    M += times(times(P, up), miss);
    H += times(up, psi);
    B += times(up, v);
    verify_exact(times(H, M), B, 40);
  }
}

// check the answers about streams
template <class S>
Matrix<S> windowed(const Matrix<S>& F, const Matrix<S>& P,
                   const Matrix<S>& V, Index w) {
  const Index n = V.rows();
  Matrix<S> P2 = Matrix<S>::Zero(2 * n, P.cols());
  Matrix<S> F2 = P2, V2 = Matrix<S>::Zero(2 * n, V.cols());
  Rule<S> rule = additive<S>(2 * n);
  for (Index t = 0; t < n; ++t) {
    rule.beta(2 * t) = S(-1);
    if (t >= w) P2.row(2 * t) = P.row(t - w), V2.row(2 * t) = V.row(t - w);
    F2.row(2 * t + 1) = F.row(t);
    P2.row(2 * t + 1) = P.row(t);
    V2.row(2 * t + 1) = V.row(t);
  }
  const Matrix<S> O = recurrence(F2, P2, V2, rule).O;
  Matrix<S> seen(n, V.cols());
  for (Index t = 0; t < n; ++t) seen.row(t) = O.row(2 * t + 1);
  return seen;
}
template <class S>
Matrix<S> window_sums(const Matrix<S>& F, const Matrix<S>& P,
                      const Matrix<S>& V, Index w) {
  Matrix<S> O = Matrix<S>::Zero(V.rows(), V.cols());
  for (Index t = 0; t < V.rows(); ++t)
    for (Index s = std::max<Index>(0, t - w + 1); s <= t; ++s)
      O.row(t) += F.row(t).dot(P.row(s)) * V.row(s);
  return O;
}
BOOST_AUTO_TEST_CASE(answer_window) {
  const Stream x(9, 3, 1);
  verify_exact(windowed(x.Phi, x.Psi, x.V, 4),
               window_sums(x.Phi, x.Psi, x.V, 4), 3);
  const Matrix<double> F = gaussian<double>(9, 3, 1, "F").cwiseAbs();
  Matrix<double> P = gaussian<double>(9, 3, 1, "P").cwiseAbs();
  P.row(2) *= 1e9;
  const Matrix<double> V = gaussian<double>(9, 1, 1, "V");
  const double left = std::abs(
      (windowed(F, P, V, 4) - window_sums(F, P, V, 4))(8, 0));
  const double size = window_sums<double>(F, P, V.cwiseAbs(), 4)(8, 0);
  fact("left", left, 2);
  refute(left, gamma(20, 0x1p-53) * size);
}
BOOST_AUTO_TEST_CASE(answer_pieces) {
  const Stream x(9, 3, 4);
  const Matrix<Fp> W = gaussian<Fp>(9, 2, 4, "W");
  const auto piece = [&](Index s, Index n, const Matrix<Fp>& M,
                         const Matrix<Fp>& dM) {
    const Rule<Fp> rule{x.alpha.segment(s, n), x.beta.segment(s, n), true};
    return recurrence_vjp(x.Phi.middleRows(s, n), x.Psi.middleRows(s, n),
                          x.V.middleRows(s, n), rule, W.middleRows(s, n), 2,
                          M, dM);
  };
  const Matrix<Fp> none, M = recurrence(
      x.Phi.topRows(5), x.Psi.topRows(5), x.V.topRows(5),
      {x.alpha.head(5), x.beta.head(5), true}).M;
  const auto all = piece(0, 9, none, none), late = piece(5, 4, M, none);
  const auto early = piece(0, 5, none, late.start);
  verify_exact(early.Psi, Matrix<Fp>(all.Psi.topRows(5)), 53);
  verify_exact(early.V, Matrix<Fp>(all.V.topRows(5)), 53);
  verify_exact(late.Psi, Matrix<Fp>(all.Psi.bottomRows(4)), 53);
  const auto cut = piece(0, 5, none, none);
  for (Index t = 0; t < 5; ++t)
    BOOST_TEST(!(cut.V.row(t) == all.V.row(t)));
}
BOOST_AUTO_TEST_CASE(answer_scan) {
  const Index n = 11, m = 3;
  for (const bool erase : {false, true}) {
    const Stream x(n, m, 7);

    // write each step as a pair
    std::vector<Matrix<Fp>> P, B;
    for (Index t = 0; t < n; ++t) {
      const Matrix<Fp> psi = x.Psi.row(t), up = psi.transpose();
      Matrix<Fp> p = Matrix<Fp>::Identity(m, m);
      if (erase) p -= x.beta(t) * times(up, psi);
      P.push_back(x.alpha(t) * p);
      B.push_back(x.beta(t) * times(up, Matrix<Fp>(x.V.row(t))));
    }
    for (Index far = 1; far < n; far *= 2)
      for (Index t = n; t-- > far;) {
        const auto now = std::size_t(t), before = std::size_t(t - far);
        B[now] += times(P[now], B[before]);
        P[now] = times(P[now], P[before]);
      }
    for (Index t = 0; t < n; ++t) {
      const Rule<Fp> rule{x.alpha.head(t + 1), x.beta.head(t + 1), erase};
      verify_exact(B[std::size_t(t)],
                   recurrence(x.Phi.topRows(t + 1), x.Psi.topRows(t + 1),
                              x.V.topRows(t + 1), rule).M, 5 * n);
    }
  }
}
BOOST_AUTO_TEST_SUITE_END()
