// tests/autodiff_test.cpp: tangled from chapters/91-checking-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/autodiff.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "hundred.hpp"
#include <boost/math/differentiation/autodiff.hpp>
#include <complex>
#include <unsupported/Eigen/AutoDiff>
#include "layer.hpp"
using namespace attn;

// compare the two sides of the adjoint identity
/// |<w, Jv> - <J'w, v>| relative to the absolute values of all terms.
/// Shapes: w as Jv, Jtw as v; throws std::invalid_argument if they differ.
template <class A, class B, class C, class D>
double adjoint_gap(const Eigen::MatrixBase<A>& w,
                   const Eigen::MatrixBase<B>& Jv,
                   const Eigen::MatrixBase<C>& Jtw,
                   const Eigen::MatrixBase<D>& v) {
  quad gap = 0, size = 0;
  const auto add = [&](const auto& x, const auto& y, int sign) {
    require(x.rows() == y.rows() && x.cols() == y.cols(),
            "adjoint_gap: ", shape(x), " beside ", shape(y));
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) {
        const quad term = quad(x(i, j)) * quad(y(i, j));
        gap += sign * term;
        size += abs(term);
      }
  };
  add(w, Jv, 1);
  add(Jtw, v, -1);
  return gap == 0 ? 0 : to_double(quad(abs(gap) / size));
}

// a number that counts its products and sums
struct Counted {
  double x = 0;
  static inline long products = 0, sums = 0;
  Counted(double value = 0) : x(value) {}
  Counted& operator+=(Counted b) {
    ++sums;
    x += b.x;
    return *this;
  }
  friend Counted operator*(Counted a, Counted b) {
    ++products;
    return a.x * b.x;
  }
  friend Counted operator+(Counted a, Counted b) { return a.x + b.x; }
  friend Counted operator-(Counted a, Counted b) { return a.x - b.x; }
  friend Counted operator/(Counted a, Counted b) { return a.x / b.x; }
  friend Counted operator-(Counted a) { return -a.x; }
};

// the elementary functions of one argument
const auto elementary = std::tuple{
    [](auto x) { using std::exp; return exp(x); },
    [](auto x) { using std::expm1; return expm1(x); },
    [](auto x) { using std::log; return log(x); },
    [](auto x) { using std::log1p; return log1p(x); },
    [](auto x) { using std::sqrt; return sqrt(x); },
    [](auto x) { using std::sin; return sin(x); },
    [](auto x) { using std::cos; return cos(x); },
    [](auto x) { using std::tan; return tan(x); },
    [](auto x) { using std::sinh; return sinh(x); },
    [](auto x) { using std::cosh; return cosh(x); },
    [](auto x) { using std::tanh; return tanh(x); },
    [](auto x) { using std::asin; return asin(x); },
    [](auto x) { using std::acos; return acos(x); },
    [](auto x) { using std::atan; return atan(x); },
    [](auto x) { using std::abs; return abs(x); },
    [](auto x) { using std::pow; return pow(x, 3); },
    [](auto x) { using std::pow; return pow(2, x); },
    [](auto x) { using std::pow; return pow(x, x); },
    [](auto x) { using std::atan2; return atan2(x, 1 - x * x); },
    [](auto x) { return (1 - x) / (2 + x) - x * x; }};
const auto single_steps = std::tuple{
    [](auto x) { return exp(x); }, [](auto x) { return expm1(x); },
    [](auto x) { return log(x); }, [](auto x) { return log1p(x); },
    [](auto x) { return sqrt(x); }, [](auto x) { return sin(x); },
    [](auto x) { return cos(x); }, [](auto x) { return tan(x); },
    [](auto x) { return sinh(x); }, [](auto x) { return cosh(x); },
    [](auto x) { return tanh(x); }, [](auto x) { return asin(x); },
    [](auto x) { return acos(x); }, [](auto x) { return atan(x); },
    [](auto x) { return pow(x, 3); }, [](auto x) { return pow(2, x); },
    [](auto x) { return pow(x, x); }, [](auto x) { return atan2(x, x); },
    [](auto x) { return -x; }, [](auto x) { return 1 / x; }};

BOOST_AUTO_TEST_SUITE(autodiff)

// check differentiation

// check the algebra of dual numbers
BOOST_AUTO_TEST_CASE(dual_numbers_form_a_ring) {
  using D = Dual<Fp>;
  const auto same = [](const D& x, const D& y, long degree) {
    verify_exact(Vector<Fp>{{x.v, x.d}}, Vector<Fp>{{y.v, y.d}}, degree);
  };
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Matrix<Fp> r = gaussian<Fp>(3, 2, i);
    const D a(r(0, 0), r(0, 1)), b(r(1, 0), r(1, 1)), c(r(2, 0), r(2, 1));
    same(a + b, b + a, 1);
    same((a + b) + c, a + (b + c), 1);
    same(a + 0, a, 1);
    same(a + -a, 0, 1);
    same(a * b, b * a, 2);
    same((a * b) * c, a * (b * c), 3);
    same(a * 1, a, 1);
    same(a * (b + c), a * b + a * c, 2);
    same((a - b) + b, a, 1);
    same(a / b * b, a, 4);
    same(D(0, a.v) * D(0, b.v), 0, 2);

    // assign to dual numbers
    D x = a;
    x += b;
    same(x, a + b, 1);
    x *= c;
    same(x, (a + b) * c, 2);
    x -= b;
    same(x, (a + b) * c - b, 2);
    x /= a;
    same(x, ((a + b) * c - b) / a, 4);
  }
  BOOST_CHECK_THROW(D(1) / D(0, 1), std::domain_error);
}
BOOST_AUTO_TEST_CASE(polynomials_differentiate) {
  for (Index n = 0; n <= 20; ++n) {
    const Matrix<Fp> c = gaussian<Fp>(n + 1, 1, std::uint64_t(n));
    const Fp x = gaussian<Fp>(1, 1, 77)(0, 0);
    const auto horner = [&](auto y) {
      auto p = y * Fp(0);
      for (Index k = n; k >= 0; --k) p = p * y + c(k, 0);
      return p;
    };
    Fp formal = 0, power = 1;
    for (Index k = 1; k <= n; ++k, power *= x)
      formal += Fp(k) * c(k, 0) * power;
    verify_exact(derivative(horner, x), formal, std::max<long>(1, n));
  }
}

// check the table of derivatives
BOOST_AUTO_TEST_CASE(table_of_derivatives) {
  const big h("1e-30");
  const Matrix<double> points = 0.5 + 0.45 * uniform<double>(40, 1, 4).array();
  const auto check = [&](const auto& f) {
    for (Index i = 0; i < points.size(); ++i) {
      const double x = points(i);
      const big central =
          (big(f(big(x + h))) - big(f(big(x - h)))) / (2 * h);
      const double size = std::abs(to_double(central)) + 1;
      verify(distance(derivative(f, quad(x)), carry<quad>(central)),
             40 * unit_roundoff<quad>() * size);
    }
  };
  std::apply([&](const auto&... f) { (check(f), ...); }, elementary);
}
BOOST_AUTO_TEST_CASE(derivatives_do_not_cancel) {
  const double u = unit_roundoff<double>();
  const auto relative = [&](const auto& f, double x, const quad& truth) {
    verify(to_double(quad(abs(quad(derivative(f, x)) / truth - 1))),
           8 * u);
  };
  for (const double x : {-30.0, -5.0, 5.0, 20.0, 300.0}) {
    relative([](auto z) { return tanh(z); }, x,
             1 / quad(cosh(quad(x)) * cosh(quad(x))));
    if (x < 0)
      relative([](auto z) { return expm1(z); }, x, exp(quad(x)));
  }
  for (const double e : {1e-3, 1e-9, 1e-15}) {
    const quad x(1 - e);
    relative([](auto z) { return asin(z); }, 1 - e,
             1 / sqrt(quad((1 - x) * (1 + x))));
  }
}
BOOST_AUTO_TEST_CASE(powers_and_corners_at_their_edges) {
  const auto power = [](auto p) {
    return [p](auto x) { return pow(x, p); };
  };
  verify(std::abs(derivative(power(0), 0.0)), 0);
  verify(std::abs(derivative(power(2), 0.0)), 0);
  verify(std::abs(derivative(power(1), 0.0) - 1), 0);
  verify(std::abs(derivative(power(3), -2.0) - 12), 0);
  verify(std::abs(derivative(power(-1), -2.0) + 0.25), 0);
  verify(std::abs(derivative(power(2.0), -3.0) + 6), 0);
  verify(std::abs(derivative([](auto x) { return abs(x); }, -2.0) + 1), 0);
  const auto larger = [](auto x) { return max(x * x, 2 * x); };
  verify(std::abs(derivative(larger, 1.0) - 2), 0);
  verify(std::abs(derivative(larger, 3.0) - 6), 0);
  const auto smaller = [](auto x) { return min(x * x, 2 * x); };
  verify(std::abs(derivative(smaller, 3.0) - 2), 0);
}
BOOST_AUTO_TEST_CASE(angle_differentiates_in_all_quadrants) {
  for (int k = 0; k < 16; ++k) {
    const double phi = 0.1 + k * 0.39;
    const auto angle = [](auto t) { return atan2(sin(t), cos(t)); };
    verify(std::abs(derivative(angle, phi) - 1),
           8 * unit_roundoff<double>());
  }
  for (const double y : {-2.0, 2.0}) {  // on the axis
    const auto angle = [y](auto x) { return atan2(decltype(x)(y), x); };
    verify(std::abs(derivative(angle, 0.0) + 1 / y), 0);
  }
}
BOOST_AUTO_TEST_CASE(scalars_keep_their_contract) {
  using D = Dual<double>;
  const D x(1, 5), nan(std::nan(""), 0);
  BOOST_TEST((x < 2 && 0 < x && x <= 1.0 && x >= 1 && x == 1 && x != 2));
  BOOST_TEST((!(nan < x) && !(x < nan) && !(nan == nan) && nan != nan));
  BOOST_TEST((isnan(nan) && !isnan(x) && isfinite(x) && !isinf(nan)));
  const D inf = std::numeric_limits<D>::infinity();
  BOOST_TEST((isinf(inf) && x < inf && -inf < x));
  BOOST_TEST(value(Dual<Var<double>>(3)) == 3);
  BOOST_TEST(to_double(value(Var<Dual<quad>>(0.5))) == 0.5);
  using V = Var<double>;
  BOOST_TEST((V(2) < V(3) && V(2) <= 2 && max(V(2), V(3)) == 3));
}

// check derivatives of derivatives
template <int n, class F, class T>
T nth_derivative(const F& f, const T& x) {
  if constexpr (n == 0) return f(x);
  else
    return derivative(
        [&](const auto& y) { return nth_derivative<n - 1>(f, y); }, x);
}
BOOST_AUTO_TEST_CASE(nested_derivatives_in_closed_form) {
  const double u = unit_roundoff<quad>();
  const auto growth = [](const auto& x) { return exp(2 * x); };
  const auto wave = [](const auto& x) { return sin(x); };
  const auto inverse = [](const auto& x) { return 1 / x; };
  for (const double t : {-1.5, 0.25, 0.75, 3.0}) {
    const quad x(t), x2 = x * x;
    verify(distance(nth_derivative<5>(growth, x) / exp(2 * x), 32),
           100 * 32 * u);
    verify(distance(nth_derivative<4>(wave, x), sin(x)), 10 * u);
    verify(distance(nth_derivative<3>(inverse, x) * x2 * x2, -6),
           100 * 6 * u);
  }
}
BOOST_AUTO_TEST_CASE(inner_point_carries_the_outer_type) {
  const auto confused = [](auto x) {
    return x * derivative([&](auto y) { return x + y; }, 1.0);
  };
  const auto typed = [](auto x) {
    return x * derivative([&](auto y) { return x + y; }, decltype(x)(1));
  };
  verify(std::abs(derivative(typed, 1.0) - 1), 0);
  refute(std::abs(derivative(confused, 1.0) - 1), 1);
}
BOOST_AUTO_TEST_CASE(inner_gradient_carries_the_outer_type) {
  const auto inner = [](const auto& x, const auto& point) {
    return gradient([&](const auto& y) {
      using S = typename std::decay_t<decltype(y)>::Scalar;
      return S(S(x) * y(0));
    }, point)(0);
  };
  const auto plain = [&](const auto& x) {
    return Var<double>(x(0) * inner(x(0), Vector<double>{{1.0}}));
  };
  const auto typed = [&](const auto& x) {
    const Vector<Var<double>> one = Vector<Var<double>>::Ones(1);
    return Var<double>(x(0) * inner(x(0), one));
  };
  const Vector<double> three = Vector<double>::Constant(1, 3);
  verify(std::abs(gradient(typed, three)(0) - 6), 0);
  refute(std::abs(gradient(plain, three)(0) - 6), 3);
}

// check the reverse sweep
BOOST_AUTO_TEST_CASE(reverse_equals_forward) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Index n = 1 + Index(seed % 4);
    const Matrix<Fp> X = gaussian<Fp>(n, n, seed);
    const Matrix<Fp> B = gaussian<Fp>(n, n, seed + 100);
    const Matrix<Fp> dX = gaussian<Fp>(n, n, seed + 200);
    const auto f = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      const Matrix<S> b = lift<S>(B), inverse = x.inverse();
      const Matrix<S> y = x * b * x + inverse * b * x;
      return S(y.trace());
    };
    const Matrix<Fp> g = gradient(f, X);
    verify_exact(Fp(g.cwiseProduct(dX).sum()), directional(f, X, dX),
                 long(2 * n + 4));
  }
}
BOOST_AUTO_TEST_CASE(hand_equals_tape) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    const Index n = 1 + Index(i % 4), m = 1 + Index(i / 2 % 5);
    const Index d = 1 + Index(i % 3), c = 1 + Index(i / 3 % 3);
    const auto draw = [&](Index rows, Index cols, std::uint64_t k) {
      return lift<quad>(gaussian<double>(rows, cols, 10 * i + k));
    };
    const Matrix<quad> Q = draw(n, d, 1), K = draw(m, d, 2);
    const Matrix<quad> V = draw(m, c, 3), W = draw(n, c, 4);
    const auto [q, k, v] = gradient(
        [&](const auto& a, const auto& b, const auto& e) {
          return layer(Matrix<Var<quad>>(a), Matrix<Var<quad>>(b),
                       Matrix<Var<quad>>(e), lift<Var<quad>>(W));
        }, Q, K, V);
    const auto hand = layer_gradient(Q, K, V, W);

    // compare three gradients in quad
    const double size = to_double(
        quad(W.norm() * V.norm() * (1 + K.norm() + Q.norm())));
    const auto agree = [&](const Matrix<quad>& x, const Matrix<quad>& y) {
      const double bound = 1000 * unit_roundoff<quad>() * (1 + size);
      verify(x, y, Matrix<double>::Constant(x.rows(), x.cols(), bound));
    };
    agree(q, hand[0]);
    agree(k, hand[1]);
    agree(v, hand[2]);
  }
}

// check against other people's programs
BOOST_AUTO_TEST_CASE(gradient_agrees_with_autodiffscalar) {
  constexpr int N = 12;
  using Other = Eigen::AutoDiffScalar<Eigen::Matrix<quad, N, 1>>;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Vector<quad> x = lift<quad>(gaussian<double>(N, 1, seed));
    const auto f = [](const auto& z) {
      using std::exp, std::log, std::sqrt, std::sin;
      using S = typename std::decay_t<decltype(z)>::Scalar;
      S sum(1), wave(0);
      for (Index i = 0; i + 1 < z.size(); ++i) {
        const S step = z(i) * z(i + 1), size = 2 + z(i) * z(i);
        sum += exp(step) / sqrt(size);
        wave += sin(step - z(i));
      }
      const S result = log(sum) * wave;
      return result;
    };
    Vector<Other> z(N);
    for (int i = 0; i < N; ++i) z(i) = Other(x(i), N, i);
    const Vector<quad> theirs = f(z).derivatives(), ours = gradient(f, x);
    const double bound = 1000 * unit_roundoff<quad>() *
                         to_double(quad(1 + theirs.norm()));
    verify(ours, theirs, Vector<double>::Constant(N, bound));
  }
}
BOOST_AUTO_TEST_CASE(sixth_derivatives_agree_with_boost) {
  const auto f = [](const auto& beta) {
    using std::exp, std::log;
    auto Z = exp(beta * 2);
    for (const int s : {1, 0, -1}) Z = Z + exp(beta * s);
    return decltype(Z)(log(Z));
  };
  for (const double b : {-1.0, 0.25, 1.0, 3.0}) {
    const auto series = f(
        boost::math::differentiation::make_fvar<big, 6>(big(b)));
    const auto same = [&](const quad& ours, unsigned order) {
      const double terms = std::tgamma(order + 1) * std::pow(2, order);
      const big theirs = series.derivative(order);
      verify(distance(ours, carry<quad>(theirs)),
             100 * terms * unit_roundoff<quad>());
    };
    same(nth_derivative<1>(f, quad(b)), 1);
    same(nth_derivative<2>(f, quad(b)), 2);
    same(nth_derivative<4>(f, quad(b)), 4);
    same(nth_derivative<6>(f, quad(b)), 6);
  }
}

// check against difference quotients
BOOST_AUTO_TEST_CASE(derivative_agrees_with_differences) {
  const auto f = [](const auto& x) {
    using std::exp, std::sin;
    return exp(sin(x));
  };
  const quad h = 1e-11;
  for (int i = 0; i < 50; ++i) {
    const quad x = quad(i) / 8;
    const quad central = (f(quad(x + h)) - f(quad(x - h))) / (2 * h);
    const double bound =
        to_double(h * h) * 10 / 6 + 8 * unit_roundoff<quad>() * 3e11;
    verify(distance(derivative(f, x), central), bound);
  }
}

// check the adjoint identity
BOOST_AUTO_TEST_CASE(adjoint_identity_sees_a_planted_error) {
  int seen = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Index n = 16, m = 24, c = 8;
    const Matrix<double> A =
        softmax(Matrix<double>(gaussian<double>(n, m, i)));
    const Matrix<double> dV = gaussian<double>(m, c, i + 100);
    const Matrix<double> W = gaussian<double>(n, c, i + 200);
    const Matrix<double> pushed = A * dV;
    Matrix<double> pulled = A.transpose() * W;
    const double bound = gamma(n + m, unit_roundoff<double>()) *
                         (A.cwiseAbs() * dV.cwiseAbs()).cwiseProduct(
                             W.cwiseAbs()).sum() /
                         (pushed.cwiseProduct(W).cwiseAbs().sum() +
                          pulled.cwiseProduct(dV).cwiseAbs().sum());
    verify(adjoint_gap(W, pushed, pulled, dV), bound);
    pulled(Index(i) % m, 3) *= 1 + 1e-9;
    seen += adjoint_gap(W, pushed, pulled, dV) > bound;
  }
  fact("seen", seen);
  refute(seen, 90);
}
BOOST_AUTO_TEST_CASE(adjoint_gap_compares_shapes) {
  const Matrix<double> x(2, 3), y(3, 2), z(2, 4);
  for (const Matrix<double>& other : {y, z}) {
    BOOST_CHECK_EXCEPTION(adjoint_gap(x, other, x, x),
                          std::invalid_argument,
                          says("adjoint_gap: 2x3 beside"));
    BOOST_CHECK_EXCEPTION(adjoint_gap(other, x, x, x),
                          std::invalid_argument, says("beside 2x3"));
    BOOST_CHECK_EXCEPTION(adjoint_gap(x, x, x, other),
                          std::invalid_argument, says("2x3 beside"));
  }
}
BOOST_AUTO_TEST_CASE(adjoint_identity_holds_exactly) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Index n = 1 + Index(i % 5);
    const Matrix<Fp> X = gaussian<Fp>(n, n, i), B = gaussian<Fp>(n, n, 50);
    const Matrix<Fp> v = gaussian<Fp>(n, n, i + 60);
    const Matrix<Fp> w = gaussian<Fp>(n, n, i + 90);
    const auto F = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      return Matrix<S>(x * lift<S>(B) * x);
    };
    const auto paired = [&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      return S(F(x).cwiseProduct(lift<S>(w)).sum());
    };
    const Matrix<Fp> Jv = directional(F, X, v), Jtw = gradient(paired, X);
    verify_exact(Fp(w.cwiseProduct(Jv).sum()),
                 Fp(Jtw.cwiseProduct(v).sum()), 4);
  }
}

// check the life of a tape
BOOST_AUTO_TEST_CASE(one_step_per_operation) {
  for (Index n = 1; n <= 12; ++n) {
    Index steps = 0;
    const auto f = [&](const auto& x, const auto& y) {
      const Matrix<Var<double>> C = x * y;
      const Var<double> sum = C.sum();
      steps = Index(Tape<double>::steps().size());
      return sum;
    };
    gradient(f, gaussian<double>(n, 3, 1), gaussian<double>(3, 5, 2));
    const Index inputs = 3 * n + 15, operations = 30 * n - 1;
    verify(std::abs(double(steps - inputs - operations)), 0);
  }

  // check that each function leaves one step at most
  const auto steps_of = [](const auto& f, double at) {
    const Recording<double> tape;
    const Var<double> x(at, Tape<double>::push(-1, 0, -1, 0));
    const auto before = Tape<double>::steps().size();
    f(x);
    return Tape<double>::steps().size() - before;
  };
  double off = 0;
  const auto each = [&](const auto&... f) {
    ((off += std::abs(double(steps_of(f, 0.5)) - 1)), ...);
  };
  std::apply(each, single_steps);
  verify(off, 0);
  const auto size = [](auto x) { return abs(x); };
  BOOST_TEST((steps_of(size, -2) == 1 && steps_of(size, 2) == 0));
  BOOST_TEST(steps_of([](auto x) { return max(x, 3 + x * 0); }, 1) == 2);
}
BOOST_AUTO_TEST_CASE(tape_is_erased_even_by_exceptions) {
  const auto size = [] { return Tape<double>::steps().size(); };
  const Vector<double> x = gaussian<double>(5, 1, 1);
  const auto before = size();
  gradient([](const auto& z) { return z.sum(); }, x);
  BOOST_TEST(size() == before);
  const auto throws = [](const auto& z) {
    auto y = z(0) * z(1);
    if (y < 1e300) throw std::runtime_error("in the middle");
    return y;
  };
  BOOST_CHECK_THROW(gradient(throws, x), std::runtime_error);
  BOOST_TEST(size() == before);
  for (int i = 0; i < 1000; ++i)
    gradient([](const auto& z) { return z.squaredNorm(); }, x);
  BOOST_TEST(size() == before);
}
BOOST_AUTO_TEST_CASE(gradients_nest) {
  const auto g = [](const auto& z) {
    using S = typename std::decay_t<decltype(z)>::Scalar;
    return S((z.array() * z.array() * z.array()).sum() / S(3));
  };
  const auto f = [&](const auto& z) {
    using S = typename std::decay_t<decltype(z)>::Scalar;
    return S(gradient(g, z).squaredNorm());
  };
  const Vector<quad> x = lift<quad>(gaussian<double>(6, 1, 5));
  const Vector<quad> expected = 4 * x.array().cube();
  verify(gradient(f, x), expected,
         Vector<double>::Constant(6, 100 * unit_roundoff<quad>() *
                                         to_double(expected.norm())));
  const Vector<double> y = gaussian<double>(3, 1, 6);
  const Vector<double> kept = gradient([&](const auto& z) {
    const Vector<double> inner = gradient(g, y);  // leaves no trace
    return Var<double>(z.dot(lift<Var<double>>(inner)));
  }, y);
  verify(kept, Vector<quad>(lift<quad>(y).array().square()),
         Vector<double>(8 * unit_roundoff<double>() * y.array().square()));
}
BOOST_AUTO_TEST_CASE(hessians_agree_in_every_nesting) {
  const auto lse = [](const auto& z) {
    using std::exp, std::log;
    using S = typename std::decay_t<decltype(z)>::Scalar;
    S Z(0);
    for (Index i = 0; i < z.size(); ++i) Z += exp(z(i));
    return S(log(Z));
  };
  for (Index n = 1; n <= 5; ++n) {
    const Vector<quad> x = lift<quad>(gaussian<double>(n, 1, 8));
    Vector<quad> p = x.array().exp();
    p /= quad(p.sum());
    Matrix<quad> F = -p * p.transpose();
    F.diagonal() += p;
    const Matrix<double> tiny = Matrix<double>::Constant(
        n, n, 100 * unit_roundoff<quad>());
    verify(hessian(lse, x), F, tiny);
    Matrix<quad> columns(n, n), twice(n, n);

    // form the Hessian in the other two nestings
    for (Index j = 0; j < n; ++j) {
      const auto along = [&](const auto& z) {
        using S = typename std::decay_t<decltype(z)>::Scalar;
        return directional(lse, z, Vector<S>(Vector<S>::Unit(n, j)));
      };
      columns.col(j) = gradient(along, x);
      for (Index i = 0; i < n; ++i)
        twice(i, j) =
            directional(along, x, Vector<quad>(Vector<quad>::Unit(n, i)));
    }
    verify(columns, F, tiny);
    verify(twice, F, tiny);
  }
}
BOOST_AUTO_TEST_CASE(two_products_per_step) {
  using V = Var<Counted>;
  for (const int n : {0, 1, 2, 10, 1000}) {
    const Recording<Counted> tape;
    const auto input = [] {
      return V(Counted(2), Tape<Counted>::push(-1, 0, -1, 0));
    };
    const V a = input(), b = input();
    V y = a;
    for (int i = 0; i < n; ++i) y += a * b / b - a;
    const double steps = double(Tape<Counted>::steps().size());
    verify(std::abs(steps - 2 - 4 * n), 0);
    Counted::products = Counted::sums = 0;
    const auto bar = tape.adjoints(y);
    verify(double(Counted::products), 2 * steps);
    verify(double(Counted::sums), 2 * steps);
    verify(std::abs(bar[0].x - 1), 0);
  }
}
BOOST_AUTO_TEST_CASE(gradients_at_the_edges) {
  const Matrix<double> x = gaussian<double>(2, 3, 1), none(0, 3);
  using V = Var<double>;
  const auto constant = [](const auto&) { return V(7); };
  BOOST_TEST((gradient(constant, x).array() == 0).all());
  BOOST_TEST(gradient(constant, none).rows() == 0);
  const auto corner = [](const auto& z) { return V(z(1, 2)); };
  const auto twice = [](const auto& z) { return V(z(1, 2) + z(1, 2)); };
  BOOST_TEST(gradient(corner, x).sum() == 1);
  BOOST_TEST(gradient(twice, x)(1, 2) == 2);
  const Vector<double> v = x.row(0).transpose();
  const Vector<double> g =
      gradient([](const Vector<V>& z) { return z(0) * z(2); }, v);
  BOOST_TEST(g(0) == v(2));
  const auto identity = [](const auto& z) { return z; };
  BOOST_CHECK_EXCEPTION(directional(identity, x, none),
                        std::invalid_argument,
                        says("directional: X is 2x3 but dX is 0x3"));
}

// check that Eigen accepts our numbers
BOOST_AUTO_TEST_CASE(eigen_accepts_our_numbers) {
  const Matrix<double> x = gaussian<double>(3, 4, 3);
  const auto f = [](const auto& z) {
    using S = typename std::decay_t<decltype(z)>::Scalar;
    const Matrix<S> y = 2 * z + z * 0.5 - z / 4;
    return S(y.sum() + y.rowwise().maxCoeff().sum() * 0.0);
  };
  verify(gradient(f, x), Matrix<quad>::Constant(3, 4, 2.25),
         Matrix<double>::Zero(3, 4));
  for (Index n = 1; n <= 5; ++n) {
    const Matrix<Fp> A = gaussian<Fp>(n, n, 1), B = gaussian<Fp>(n, n, 2);
    const auto inverse = [](const auto& z) {
      using S = typename std::decay_t<decltype(z)>::Scalar;
      return Matrix<S>(z.inverse());
    };
    const Matrix<Fp> I = inverse(A);
    verify_exact(directional(inverse, A, B), Matrix<Fp>(-I * B * I),
                 long(2 * n + 1));
  }
}
template <class S>
Matrix<S> by_definition(const Matrix<S>& A, const Matrix<S>& B) {
  Matrix<S> C = Matrix<S>::Zero(A.rows(), B.cols());
  for (Index i = 0; i < C.rows(); ++i)
    for (Index j = 0; j < C.cols(); ++j)
      for (Index k = 0; k < A.cols(); ++k) C(i, j) += A(i, k) * B(k, j);
  return C;
}
BOOST_AUTO_TEST_CASE(products_go_row_by_column) {
  for (const auto& [n, k, m] : {std::array<Index, 3>{12, 30, 13},
                                {30, 25, 1}, {1, 25, 30}, {2, 0, 3}}) {
    const Matrix<Fp> A = gaussian<Fp>(n, k, 1), B = gaussian<Fp>(k, m, 2);
    const Matrix<Fp> C = by_definition(A, B);
    Matrix<Fp> D = gaussian<Fp>(n, m, 3), E = D;
    verify_exact(Matrix<Fp>(A * B), C, 2);
    D.noalias() += A * B;
    verify_exact(D, Matrix<Fp>(E + C), 2);
    D.noalias() -= 2 * A * B;
    verify_exact(D, Matrix<Fp>(E - C), 2);

    // check what a product leaves on the tape
    Index steps = 0;
    const Matrix<double> a = gaussian<double>(n, k, 1);
    gradient([&](const auto& x) {
      using S = typename std::decay_t<decltype(x)>::Scalar;
      const auto before = Tape<double>::steps().size();
      const Matrix<S> y = x * lift<S>(gaussian<double>(k, m, 2));
      steps = Index(Tape<double>::steps().size() - before);
      return S(y.sum());
    }, a);
    BOOST_TEST(steps == n * m * std::max<Index>(2 * k - 1, 0));
  }
}
BOOST_AUTO_TEST_CASE(cholesky_differentiates) {
  for (Index n = 1; n <= 5; ++n) {
    const auto R = lift<quad>(gaussian<double>(n, n, 3));
    const Matrix<quad> A =
        R * R.transpose() + Matrix<quad>::Identity(n, n);
    const Matrix<quad> S = R + R.transpose();
    const Vector<quad> b = lift<quad>(gaussian<double>(n, 1, 4));
    const auto solve = [&](const auto& z) {
      using T = typename std::decay_t<decltype(z)>::Scalar;
      const Eigen::LLT<Matrix<T>> cholesky(z);
      return Vector<T>(cholesky.solve(lift<T>(b)));
    };
    const Vector<quad> expected = -A.inverse() * (S * solve(A));
    const double bound = 1e4 * unit_roundoff<quad>() *
                         to_double(quad(1 + A.norm() * expected.norm()));
    verify(Vector<quad>(directional(solve, A, S)), expected,
           Vector<double>::Constant(n, bound));
  }
}

// check the answers about differentiation
BOOST_AUTO_TEST_CASE(answer_dual_numbers_as_matrices) {
  const auto matrix = [](const Dual<Fp>& x) {
    return Matrix<Fp>{{x.v, x.d}, {0, x.v}};
  };
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Matrix<Fp> r = gaussian<Fp>(2, 2, i);
    const Dual<Fp> a(r(0, 0), r(0, 1)), b(r(1, 0), r(1, 1));
    const Matrix<Fp> A = matrix(a), B = matrix(b);
    verify_exact(matrix(a + b), Matrix<Fp>(A + B), 1);
    verify_exact(matrix(a * b), Matrix<Fp>(A * B), 2);
    verify_exact(matrix(a / b), Matrix<Fp>(A * B.inverse()), 4);
  }
}
BOOST_AUTO_TEST_CASE(answer_derivative_of_a_branch) {
  const auto f = [](const auto& x) -> std::decay_t<decltype(x)> {
    if (x == 0) return 0;
    return x;
  };
  verify(std::abs(derivative(f, 1e-300) - 1), 0);
  refute(std::abs(derivative(f, 0.0) - 1), 1);
}
BOOST_AUTO_TEST_CASE(answer_complex_step) {
  using complex = std::complex<double>;
  const auto f = [](const auto& x) {
    using std::exp, std::sin;
    return exp(sin(x)) * x;
  };
  const auto square = [](const auto& x) {
    using std::abs;
    return abs(x) * abs(x);
  };
  const double h = 1e-100, u = unit_roundoff<double>();
  for (const double x : {-2.0, -0.5, 0.25, 1.0}) {
    const quad truth = derivative(f, quad(x));
    verify(distance(f(complex(x, h)).imag() / h, truth), 30 * u);
    verify(distance(derivative(f, x), truth), 30 * u);
    const double step = std::imag(complex(square(complex(x, h)))) / h;
    refute(std::abs(step - 2 * x), std::abs(x));
    verify(std::abs(derivative(square, x) - 2 * x), 0);
  }
}
BOOST_AUTO_TEST_CASE(answer_central_step) {
  const double u = unit_roundoff<double>(), x = 0.5, h = 0x1p-17;
  const double top = std::exp(x + h);
  const double central = (std::exp(x + h) - std::exp(x - h)) / (2 * h);
  const double forward = (std::exp(x + h) - std::exp(x)) / h;
  const double own = gamma(8, u);
  verify(distance(central, exp(quad(x))),
         (1 + own) * (h * h / 6 * top + 2 * u * top / h));
  refute(distance(forward, exp(quad(x))), h / 2);
}
BOOST_AUTO_TEST_CASE(answer_central_step_attains_its_bound) {
  const quad x = 0.5, two_u = 2 * unit_roundoff<double>();
  const auto off = [&](const quad& h) {
    const quad above = exp(x + h) * (1 + two_u);
    const quad below = exp(x - h) * (1 - two_u);
    return to_double(quad((above - below) / (2 * h) - exp(x)));
  };
  const quad best = pow(3 * two_u, quad(1) / 3);
  const quad least = best * best / 2 * exp(x + best);
  verify(off(best), to_double(least));
  refute(off(best), to_double(quad(least * exp(-best))));
  for (int k = 1; k <= 40; ++k)
    for (const int sign : {-1, 1})
      refute(off(best * pow(quad(2), quad(sign * k) / 8)),
             to_double(least));
}
template <class F, class T>
Vector<T> hessian_times(const F& f, const Vector<T>& x,
                        const Vector<T>& u) {
  return directional([&](const auto& z) { return gradient(f, z); }, x, u);
}
BOOST_AUTO_TEST_CASE(answer_hessian_times_vector) {
  const auto f = [](const auto& z) {
    using S = typename std::decay_t<decltype(z)>::Scalar;
    S product(1);
    for (Index i = 0; i < z.size(); ++i) product *= z(i) + S(i);
    return S(product * product);
  };
  for (Index n = 1; n <= 6; ++n) {
    const Vector<Fp> x = gaussian<Fp>(n, 1, 1), u = gaussian<Fp>(n, 1, 2);
    const auto along = [&](const auto& z) {
      using S = typename std::decay_t<decltype(z)>::Scalar;
      return directional(f, z, lift<S>(u));
    };
    verify_exact(hessian_times(f, x, u), Vector<Fp>(gradient(along, x)),
                 long(2 * n + 1));
  }
}
BOOST_AUTO_TEST_SUITE_END()
