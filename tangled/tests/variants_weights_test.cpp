// tests/variants_weights_test.cpp: tangled from chapters/06a-weights-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/backward.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "attn/sparsemax.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(variants)
constexpr double inf = HUGE_VAL, nan = NAN;

// check sparse weights
BOOST_AUTO_TEST_CASE(entmax_is_the_maximum) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    for (const double alpha : {1.0, 1.1, 1.5, 1.75, 2.0}) {
      const quad a(alpha), T(0.3 + 0.1 * double(seed % 10));
      const Matrix<quad> s = gaussian<quad>(1, Index(1 + seed % 9), seed);
      const Matrix<quad> p = entmax(s, a, T);
      verify(to_double(abs(quad(p.sum()) - 1)), 1e-31);
      const auto objective = [&](const Matrix<quad>& x) {
        const Vector<quad> H = tsallis_entropy(x, a);
        BOOST_TEST(H.size() == 1);
        return quad(x.cwiseProduct(s).sum()) + T * H(0);
      };
      for (const double t : {0.001, 0.3, 1.0}) {
        const Matrix<quad> other = entmax(
            gaussian<quad>(1, s.cols(), seed + 77), quad(1.5));
        const Matrix<quad> x = p + quad(t) * (other - p);
        const quad gap = objective(p) - objective(x);
        verify(worse(0, to_double(T / 2 * (x - p).squaredNorm() - gap)), 1e-31);
      }
    }
}
BOOST_AUTO_TEST_CASE(sparsemax_is_a_projection) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Matrix<quad> s =
        quad(double(seed % 7)) / 3 * gaussian<quad>(1, 8, seed);
    const Matrix<quad> p = sparsemax(s);
    for (Index j = 0; j < 8; ++j) {
      quad angle = 0;
      for (Index k = 0; k < 8; ++k)
        angle += (s(k) - p(k)) * (quad(k == j ? 1 : 0) - p(k));
      verify(worse(0, to_double(angle)), 1e-31);
    }
  }
}
BOOST_AUTO_TEST_CASE(entmax_limits) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 6, seed);
    const Matrix<quad> p = attn::gibbs(s);
    quad mean = 0;
    for (Index j = 0; j < 6; ++j) mean += p(j) * log(p(j)) * log(p(j));
    Matrix<quad> c(1, 6);
    for (Index j = 0; j < 6; ++j)
      c(j) = p(j) * (mean - log(p(j)) * log(p(j))) / 2;
    const auto rest = [&](double e) {
      const quad alpha = quad(1) + quad(e);
      return distance(entmax(s, alpha), Matrix<quad>(p + quad(e) * c));
    };
    verify(rest(1e-5), rest(1e-4) / 50);
  }
}
BOOST_AUTO_TEST_CASE(entmax_leads) {
  for (const double alpha : {1.25, 1.5, 2.0})
    for (const double T : {0.5, 1.0, 3.0}) {
      const double lead = T / (alpha - 1);
      const auto nonzero = [&](double gap) {
        const Matrix<double> s{{gap, 0, -1}};
        return double((entmax(s, alpha, T).array() > 0).count());
      };
      verify(std::abs(nonzero(lead) - 1), 0);
      verify(nonzero(lead * (1 - 0x1p-40)) == 1, 0);
    }
}
/// tau itself, also where the library keeps tau + 1.
quad threshold(const Matrix<quad>& z, const quad& q) {
  const std::span<const quad> row(z.data(), std::size_t(z.size()));
  return detail::entmax_threshold(row, q) - quad(q > 2 ? 1 : 0);
}
BOOST_AUTO_TEST_CASE(newton_is_monotone) {
  int most = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index n = Index(1 + seed % 40);
    Matrix<quad> z = gaussian<quad>(1, n, seed) * quad(0.5);
    z.array() -= z.maxCoeff();
    for (const double alpha : {1.2, 1.5, 2.0}) {
      const quad q = 1 / (quad(alpha) - 1), root = threshold(z, q);

      // follow the iterates to the root
      quad tau = -1;
      int steps = 0;
      for (; tau < root && steps < 200; ++steps) {
        quad f = -1, slope = 0;
        for (Index j = 0; j < n; ++j)
          if (tau < z(j)) f += pow(z(j) - tau, q),
              slope += q * pow(z(j) - tau, q - 1);
        const quad next = tau + f / slope;
        verify(worse(0, to_double(tau - next)), 1e-31);
        verify(worse(0, to_double(next - root)), 1e-31);
        if (abs(next - tau) < quad(1e-30)) break;
        tau = next;
      }
      if (alpha == 2.0) verify(steps, double(n + 1));
      most = std::max(most, steps);
    }
  }
  fact("most", most);
}
int few_steps(const Matrix<quad>& z, double alpha) {
  const quad q = 1 / (quad(alpha) - 1), root = threshold(z, q);
  const double n2 = double(z.size() * z.size()), slack = 1 + 1e-25;
  quad tau = -1, last = 0;
  int steps = 0;
  for (; steps < 200; ++steps) {
    quad f = -1, h = 0;
    for (Index j = 0; j < z.size(); ++j)
      if (tau < z(j)) f += pow(z(j) - tau, q), h += q * pow(z(j) - tau, q - 1);
    if (!(quad(1e-28) < f)) break;
    const double most = n2 * std::pow(0.25, steps);
    verify(to_double(f), most * slack);
    verify(to_double(q * (root - tau)), most * slack + 1e-27);
    if (steps > 0) verify(to_double(f * h / last), 0.25 * slack);
    last = f * h, tau += f / h;
  }
  return steps;
}
BOOST_AUTO_TEST_CASE(newton_needs_few_steps) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    for (const double alpha : {1.05, 1.2, 1.5, 1.8, 2.0}) {
      const Index n = Index(1 + 5 * (seed % 20));
      Matrix<quad> z = gaussian<quad>(1, n, seed, "z");
      z *= quad(std::pow(10.0, double(seed % 5) - 3));
      z.array() -= z.maxCoeff();
      few_steps(z, alpha);
      verify(few_steps(Matrix<quad>::Zero(1, n), alpha) <= 1 || alpha < 2
                 ? 0 : 1, 0);
    }
}
Matrix<quad> slow_row(Index n, double keep) {
  std::vector<Index> k{n};
  while (Index(double(k.back()) * keep) >= 2)
    k.push_back(Index(double(k.back()) * keep));
  std::vector<double> depth, gap;
  double all = 0, deepest = 1;
  for (std::size_t i = 0; i + 1 < k.size(); ++i) {
    depth.push_back(0.999 * (i > 0 ? gap.back() : 1));
    gap.push_back(double(k[i] - k[i + 1]) / double(k[i + 1]) * depth[i]);
    all += gap.back(), deepest = std::max(deepest, depth[i]);
  }
  const double unit = std::min(0.4 / all, 0.1 / deepest);
  quad t = -1 / quad(double(k.back()));
  Matrix<quad> z = Matrix<quad>::Zero(1, n);
  for (std::size_t i = gap.size(); i-- > 0;) {
    t -= quad(gap[i] * unit);
    for (Index j = k[i + 1]; j < k[i]; ++j) z(j) = t - quad(depth[i] * unit);
  }
  return z;
}
BOOST_AUTO_TEST_CASE(newton_on_slow_rows) {
  const auto most = [](Index n) {
    int steps = 0;
    for (const double keep : {0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9}) {
      const Matrix<quad> z = slow_row(n, keep);
      steps = std::max(steps, few_steps(z, 2.0));
      few_steps(z, 1.5), few_steps(z, 1.9);
    }
    return steps;
  };
  const int forty = most(40), thousand = most(1000);
  fact("forty", forty), fact("thousand", thousand);
  verify(thousand, std::log2(1000.0) + 56.5);
  refute(forty, 15);
}
BOOST_AUTO_TEST_CASE(newton_converges_at_its_order) {
  for (const double alpha : {1.05, 1.2, 1.5, 1.6, 1.75, 1.8, 1.9})
    for (const Index n : {1, 2, 5}) {
      const quad q = 1 / (quad(alpha) - 1), x = pow(quad(double(n)), -1 / q);
      Matrix<quad> z = Matrix<quad>::Zero(1, n + 3);
      for (Index j = n; j < n + 3; ++j) z(j) = -x;
      for (const double e : {1e-6, 1e-9, 1e-12}) {
        quad tau = -x - quad(e);

        // take one step and compare what is left
        quad f = -1, slope = 0, k = 0;
        for (Index j = 0; j < z.size(); ++j)
          if (tau < z(j)) f += pow(z(j) - tau, q), k += 1,
              slope += q * pow(z(j) - tau, q - 1);
        tau += f / slope;
        const quad E(e), left = -x - tau;
        const quad bound = q <= 2 ? k / q * pow(E, q) : (q - 1) * k / 2 * E * E;
        verify(to_double(left), to_double(bound) + 1e-31);
        if (n > 1) continue;
        const quad limit =
            q < 2 ? 3 * (q - 1) / q * pow(E, q) : (q - 1) / 2 * E * E;
        const double near = std::pow(e, to_double(q < 2 ? q - 1 : quad(0.5)));
        const double far = std::pow(e, to_double(q < 2 ? 2 - q : quad(0.5)));
        if (q != 2) verify(to_double(abs(left / limit - 1)), 10 * (near + far));
      }
    }
}
template <class S>
double sparsemax_error(Index n) {
  const double u = unit_roundoff<S>(), nu = double(n) * u;
  BOOST_TEST(8 * double(n) * nu <= 1);
  return 7 * u + 10 * nu * nu;
}
BOOST_AUTO_TEST_CASE(sparsemax_in_double) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Index n = Index(1 + seed % 60);
    const double size = std::pow(10.0, double(seed % 7) - 4);
    const Matrix<double> s = size * gaussian<double>(2, n, seed);
    const Matrix<float> single = s.cast<float>();
    for (const double T : {1.0, 0.3}) {
      verify(entmax(s, 2.0, T), entmax(lift<quad>(s), quad(2), quad(T)),
             Matrix<double>::Constant(2, n, sparsemax_error<double>(n)));
      const float t(static_cast<float>(T));
      verify(entmax(single, 2.0f, t),
             entmax(lift<quad>(single), quad(2), quad(t)),
             Matrix<double>::Constant(2, n, sparsemax_error<float>(n)));
    }
    verify(distance(sparsemax(s), entmax(s, 2.0)), 0);
  }
}
BOOST_AUTO_TEST_CASE(sparsemax_by_hand) {
  const Matrix<double> s{{1, 0.8, 0.1}}, p{{0.6, 0.4, 0}};
  verify(distance(sparsemax(s), p), 7 * 0x1p-53);
}
BOOST_AUTO_TEST_CASE(sparsemax_on_hard_rows) {
  double most = 0;
  const auto compare = [&](const Matrix<float>& s, float T) {
    const Matrix<float> p = entmax(s, 2.0f, T);
    const Matrix<quad> truth = entmax(lift<quad>(s), quad(2), quad(T));
    verify(p, truth, Matrix<double>::Constant(
                         1, s.cols(), sparsemax_error<float>(s.cols())));
    most = std::max(most, distance(p, truth) / 0x1p-24);
  };
  compare(Matrix<float>{{0x1.6p-23f, -0x1.764bf2p-3f, -0x1.71cec2p-3f,
                         -0x1.d27e62p-3f, -0x1.021766p-2f, -0x1.1b738cp-2f}},
          0x1.15a77ap-1f);
  compare(Matrix<float>{{0x1.52a4dp-5f, -0x1.e2f756p-3f, -0x1.76p-3f,
                         -0x1.432a98p-3f, -0x1.efb2fap-3f, -0x1.d4bd16p-3f}},
          0x1.1f512ep-1f);
  fact("most", most, 2);
  refute(most, 2);
}
template <class S>
Matrix<S> near_ties(std::uint64_t seed, Index n) {
  const Index m = Index(1 + seed % 6);
  const S u(static_cast<float>(unit_roundoff<S>() / (seed % 2 ? 1 : 8)));
  const Matrix<S> r = uniform<S>(1, n, seed);
  Matrix<S> s(1, n);
  for (Index j = 0; j < n; ++j)
    s(j) = j < n - m ? S(-1) / S(m) + u * std::floor(r(j) * S(1 + seed % 30))
           : j < n - 1 ? -std::abs(r(j)) * S(seed % 3) / 1000 : S(0);
  if (seed % 4 == 3) s.reverseInPlace();
  return s;
}
float careless(const Matrix<float>& z, bool compensated, bool back) {
  float t(-1), next(-1);
  do {
    t = next;
    float f(-1), lost(0), slope(0);
    for (const float x : z.reshaped())
      if (t < x) {
        const float sum = f + (x - t), added = sum - f;
        lost += (f - (sum - added)) + ((x - t) - added);
        f = sum, slope += 1;
      }
    next = t + (compensated ? f + lost : f) / slope;
  } while (t < next);
  return back ? next : t;
}
/// The error of the weights, in units of u, with such a threshold.
double carelessness(const Matrix<float>& z, bool compensated, bool back) {
  const float t = careless(z, compensated, back);
  const Matrix<float> p = (z.array() - t).cwiseMax(0.0f).matrix();
  return distance(p, sparsemax(lift<quad>(z))) / 0x1p-24;
}
template <class S>
S last_iterate(std::span<const S> z) {
  using detail::lead_powers;
  const S q(1), least(0);
  S t(-1), next(-1);
  do {
    t = next;

    // evaluate the excess and its slope
    S f(-1), lost(0), slope(0);
    for (const S& zj : z) {
      const S lead = zj - t;
      if (!(least < lead)) continue;
      const auto [power, term] = lead_powers(lead, q);
      const S sum = f + term, added = sum - f;
      lost += (f - (sum - added)) + (term - added);
      f = sum, slope += q * power;
    }
    f += lost;
    next = t + f / slope;
  } while (t < next);
  return t;
}
BOOST_AUTO_TEST_CASE(sparsemax_among_near_ties) {
  double plain = 0, plain_back = 0, back = 0, ours = 0, rows = 0;
  int tried = 0;
  const auto compare = [&]<class S>(std::uint64_t seed, Index n, S one) {
    const Matrix<S> s = near_ties<S>(seed, n);

    // compare ties with the truth
    const std::span<const S> z(s.data(), std::size_t(n));
    verify(distance(detail::entmax_threshold(z, one), last_iterate(z)), 0);
    const double bound = sparsemax_error<S>(n), u = unit_roundoff<S>();
    double error = 0;
    for (const S T : {one, S(0.3f)}) {
      const Matrix<S> scaled = T * s, p = entmax(scaled, S(2), T);
      const Matrix<quad> truth = entmax(lift<quad>(scaled), quad(2), quad(T));
      verify(p, truth, Matrix<double>::Constant(1, n, bound));
      const double off = distance(quad(lift<quad>(p).sum()), quad(1));
      verify(off, double(n) * bound);
      if (T < one || sizeof(S) > 4) continue;
      error = distance(p, truth) / u, rows = std::max(rows, off / u);
    }

    // compare careless thresholds in float
    if constexpr (std::is_same_v<S, float>)
      if (n >= 1000) {
        const auto most = [](double& x, double y) { x = std::max(x, y); };
        most(plain, carelessness(s, false, false));
        most(plain_back, carelessness(s, false, true));
        most(back, carelessness(s, true, true));
        most(ours, error), ++tried;
      }
  };
  for (std::uint64_t seed = 1; seed <= 120; ++seed)
    for (const Index n : {Index(8), Index(100), Index(1000), Index(1448)})
      compare(seed, n, 1.0f), compare(seed, n, 1.0);
  fact("plain", plain, 3), fact("plain_back", plain_back, 3);
  fact("back", back, 3), fact("ours", ours, 2), fact("rows", rows, 4);
  fact("tried", tried);
  refute(plain, 7), refute(plain_back, 7), refute(back, 2 * ours);
}
BOOST_AUTO_TEST_CASE(a_step_back) {
  const Index n = 1446;
  const float c = -0.6f;
  Matrix<float> z = Matrix<float>::Constant(1, n + 2, c);
  z(0) = 0;
  z(1) = static_cast<float>(2 * double(c) + 1 - 0.4 * double(n) * 0x1p-24);
  const double back = carelessness(z, true, true),
               ours = distance(sparsemax(z), sparsemax(lift<quad>(z))) /
                      0x1p-24;
  verify(ours * 0x1p-24, sparsemax_error<float>(n + 2));
  refute(back, 7);
  fact("tied", n), fact("back", back, 3), fact("ours", ours, 2);
}
BOOST_AUTO_TEST_CASE(entmax_near_gibbs) {
  double far = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const int k : {3, 6, 10, 20, 30, 40, 52}) {
      const double alpha = 1 + std::pow(0.5, k), u = 0x1p-53;
      const Matrix<double> s = 3 * gaussian<double>(1, Index(seed), seed);
      const Matrix<double> p = entmax(s, alpha);
      const Matrix<quad> truth = entmax(lift<quad>(s), quad(alpha));

      // count the roundings of powers near the exponential
      const double q = 1 / (alpha - 1);
      Matrix<double> w(1, s.cols()), r = w, bound = w;
      double all = 3, least = 1;
      for (Index j = 0; j < s.cols(); ++j) {
        w(j) = truth(j) > 0 ? -std::expm1(to_double(log(truth(j))) / q) : 0;
        r(j) = 8 * q * w(j) / (1 - w(j)) + 2;
        all += to_double(truth(j)) * r(j);
        if (truth(j) > 0) least = std::min(least, w(j));
      }
      verify(u * all, 1);
      for (Index j = 0; j < s.cols(); ++j) {
        const double own = r(j) + 2 * q * least / (1 - w(j));
        verify(u * own, 1);
        bound(j) = 2 * u * (to_double(truth(j)) * own + all);
      }
      verify(p, truth, bound);
      far = std::max(far, distance(p, truth) / u);
      if (k == 52) verify(distance(p, attn::gibbs(s)), 1000 * u);
    }
  fact("far", far, 2);
  const Matrix<double> half{{0.5, 0.5}};
  for (const double e : {1e-6, 1e-9, 0x1p-52})
    verify(std::abs(tsallis_entropy(half, 1 + e)(0) - std::log(2.0)),
           2 * e + 4 * 0x1p-53);
}
BOOST_AUTO_TEST_CASE(thresholds_do_not_merge) {
  const auto tau = [](const Matrix<quad>& s) {
    return quad(s(0) - sparsemax(s)(0));
  };
  const quad h(0.5);
  verify(distance(tau(Matrix<quad>{{h}}), -h), 0);
  verify(distance(tau(Matrix<quad>{{0, 0}}), -h), 0);
  verify(distance(tau(Matrix<quad>{{h, h}}), quad(0)), 1e-33);
  verify(distance(tau(Matrix<quad>{{h, 0, 0}}), -1 / quad(6)), 1e-33);
}
BOOST_AUTO_TEST_CASE(sparse_edges) {
  const Matrix<double> s{{1, -inf, 0.5}, {-inf, -inf, -inf}, {0, nan, 1}};
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const Matrix<double> p = entmax(s, alpha);
    verify(std::abs(p(0, 1)), 0);
    verify(std::abs(p(0, 0) + p(0, 2) - 1), 0x1p-50);
    verify(p.row(1).cwiseAbs().sum(), 0);
    verify(entmax_vjp<double>(p.row(1), s.row(0).cwiseMax(0), alpha).norm(), 0);
    BOOST_TEST(p.row(2).array().isNaN().all());
    const Matrix<double> best{{1, inf, -inf}}, tie{{inf, inf, 0}};
    verify((entmax(best, alpha) - Matrix<double>{{0, 1, 0}}).norm(), 0);
    BOOST_TEST(entmax(tie, alpha).array().isNaN().all());
    const Matrix<double> wide{{1e308, -1e308}}, first{{1, 0}};
    verify(distance(entmax(wide, alpha), first), 0);
    const Matrix<double> nothing(3, 0);
    BOOST_TEST(entmax(nothing, alpha).cols() == 0);
    BOOST_TEST(entmax_vjp(nothing, nothing, alpha).rows() == 3);
  }
}
BOOST_AUTO_TEST_CASE(sparse_weights_refuse_bad_numbers) {
  const Matrix<double> s{{1, 0}}, wide{{1e308, -1e308}};
  for (const double alpha : {0.5, 2.1, nan}) {
    BOOST_CHECK_EXCEPTION(entmax(s, alpha), std::domain_error,
                          says("entmax: alpha"));
    BOOST_CHECK_EXCEPTION(entmax_vjp(s, s, alpha), std::domain_error,
                          says("entmax_vjp: alpha"));
  }
  for (const double alpha : {0.5, inf, nan})
    BOOST_CHECK_EXCEPTION(tsallis_entropy(s, alpha), std::domain_error,
                          says("tsallis_entropy: alpha"));
  const Matrix<double> half{{0.5, 0.5}};
  verify(std::abs(tsallis_entropy(half, 2)(0) - 0.25), 0);
  verify(distance(entmax(wide, 2.0, 1.5e308), s), 0);
  BOOST_CHECK_EXCEPTION(entmax(s, 1.5, 0.0), std::domain_error,
                        says("entmax: temperature"));
}
BOOST_AUTO_TEST_CASE(sparse_rows_do_not_hide_nan) {
  const Matrix<double> bad = Matrix<double>::Constant(1, 3, nan),
                       one = Matrix<double>::Ones(1, 3);
  for (const double alpha : {1.0, 1.5, 2.0}) {
    BOOST_TEST(entmax_vjp(bad, one, alpha).array().isNaN().all());
    BOOST_TEST(std::isnan(tsallis_entropy(bad, alpha)(0)));
  }
}
BOOST_AUTO_TEST_CASE(a_key_at_the_threshold) {
  const quad h(1e-12);
  for (const double alpha : {1.25, 1.5, 1.75, 2.0}) {
    const quad lead = 1 / (quad(alpha) - 1);
    const auto slope = [&](const quad& step) {
      const Matrix<quad> s{{lead, step}};
      return to_double(quad((entmax(s, quad(alpha))(1)) / step));
    };
    verify(std::abs(slope(-h)), 0);
    if (alpha < 2) verify(slope(h), 2e-4);
    else refute(slope(h), 0.4);
  }
}
BOOST_AUTO_TEST_CASE(entmax_jacobian) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const double alpha : {1.0, 1.3, 1.5, 2.0}) {
      const quad T(0.7);
      const Matrix<quad> s = gaussian<quad>(2, 5, seed),
                         D = gaussian<quad>(2, 5, seed + 50),
                         G = gaussian<quad>(2, 5, seed + 90);
      Matrix<Dual<quad>> z = lift<Dual<quad>>(s);
      for (Index k = 0; k < 10; ++k) z.data()[k].d = D.data()[k];
      const auto p = entmax(z, Dual<quad>(quad(alpha)), Dual<quad>(T));
      const Matrix<quad> dS =
          entmax_vjp(entmax(s, quad(alpha), T), G, quad(alpha), T);
      quad along = 0, product = 0;
      for (Index k = 0; k < 10; ++k)
        along += p.data()[k].d * G.data()[k],
            product += dS.data()[k] * D.data()[k];
      verify(to_double(abs(along - product)), 1e-28);
      verify(to_double(abs(quad(dS.sum()))), 1e-30);
    }
}
BOOST_AUTO_TEST_CASE(entmax_of_gibbs_is_fisher) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> A = attn::gibbs(gaussian<quad>(3, 6, seed));
    const Matrix<quad> G = gaussian<quad>(3, 6, seed + 1);
    verify(distance(entmax_vjp(A, G, quad(1)), fisher_lower(A, G)), 1e-31);
    const Matrix<double> a =
        attn::gibbs(Matrix<double>(20 * gaussian<double>(1, 6, seed, "a")));
    const Matrix<double> g = gaussian<double>(1, 6, seed + 60);
    const Matrix<double> ours = entmax_vjp(a, g, 1.0);
    const Matrix<quad> truth =
        entmax_vjp(lift<quad>(a), lift<quad>(g), quad(1));
    for (Index q = 0; q < 6; ++q) {
      double P = 0;
      for (Index k = 0; k < 6; ++k) P += a(k) * std::abs(g(q) - g(k));
      verify(distance(ours(q), truth(q)),
             0x1p-53 * (2 * 6 + 8) * (1 + 1 / a.maxCoeff()) * a(q) * P +
                 6 * 0x1p-1074);
    }
  }
}

// check doubly stochastic weights
BOOST_AUTO_TEST_CASE(sinkhorn_sums) {
  for (const auto& [n, m] : {std::pair<Index, Index>{4, 4}, {3, 7}, {6, 2},
                             {1, 5}, {5, 1}}) {
    const Matrix<quad> S = gaussian<quad>(n, m, 3);
    const auto k = sinkhorn(S, quad(1), 600);
    const auto one = sinkhorn(S, quad(1), 5), two = sinkhorn(S, quad(1), 6);
    verify(distance(two.g, one.g), to_double(two.residual) + 1e-32);
    const quad share = quad(double(n)) / quad(double(m));
    for (Index i = 0; i < n; ++i)
      verify(to_double(abs(quad(k.P.row(i).sum()) - 1)), 1e-31);
    for (Index j = 0; j < m; ++j)
      verify(to_double(abs(quad(k.P.col(j).sum()) - share)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(sinkhorn_stops) {
  BOOST_TEST((sinkhorn(Matrix<double>(0, 3), 1.0).P.cols() == 3 &&
              sinkhorn(Matrix<double>(3, 0), 1.0).rounds == 0 &&
              sinkhorn(Matrix<double>{{0, 0}, {0, 0}}, 1.0).rounds == 1 &&
              sinkhorn(Matrix<double>{{1}, {2}}, 1.0).rounds == 1));
  Matrix<double> s = gaussian<double>(3, 3, 1);
  const auto near = sinkhorn(s, 1.0, 99, 1e-3);
  verify(near.residual, 1e-3);
  refute(sinkhorn(s, 1.0, near.rounds - 1).residual, 1e-3);
  const auto slow = sinkhorn(Matrix<quad>{{0, 0}, {0, -200}}, quad(1));
  BOOST_TEST((slow.rounds == 1000 && slow.residual > quad(0)));
  BOOST_TEST((near.converged && !slow.converged &&
              sinkhorn(Matrix<double>(0, 3), 1.0).converged &&
              !sinkhorn(s, 1.0, near.rounds - 1, 1e-3).converged));
  s(1, 2) = -inf;
  BOOST_CHECK_EXCEPTION(sinkhorn(s, 1.0), std::domain_error,
                        says("sinkhorn: score 1,2"));
  BOOST_CHECK_EXCEPTION(sinkhorn(Matrix<double>{{1, 99}}, 1e-308),
                        std::domain_error,
                        says("sinkhorn: score in units of T, 0,0"));
}
BOOST_AUTO_TEST_CASE(sinkhorn_forgets_a_shift) {
  for (const double T : {1.0, 0.25}) {
    Matrix<double> S = gaussian<double>(4, 6, 1);
    for (Index k = 0; k < S.size(); ++k)  // numbers that a shift leaves exact
      S.data()[k] = std::round(S.data()[k] * 0x1p20) * 0x1p-20;
    const auto here = sinkhorn(S, T);
    S.array() += 0x1p27;
    const auto there = sinkhorn(S, T);
    verify(distance(here.P, there.P) + distance(here.g, there.g), 0);
    verify(distance(Vector<double>(there.f.array() - 0x1p27 / T), here.f),
           0x1p27 / T * 0x1p-52);
    verify(largest(Matrix<double>(there.P.rowwise().sum().array() - 1)),
           8 * 0x1p-53);
  }
}
BOOST_AUTO_TEST_CASE(sinkhorn_contracts) {
  double worst = 0, share = 0;
  for (const auto& [n, m] : {std::pair<Index, Index>{4, 5}, {2, 2}, {6, 3},
                             {2, 7}})
    for (const double T : {1.0, 0.5, 3.0})
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Matrix<quad> S = gaussian<quad>(n, m, seed, "S");

        // find the range of the cross differences
        const auto span = [](const Matrix<quad>& x) {
          return to_double(x.maxCoeff() - x.minCoeff());
        };
        double Delta = 0;
        for (Index i = 0; i < n; ++i)
          for (Index k = 0; k < n; ++k)
            Delta = std::max(Delta, span(S.row(i) - S.row(k)) / T);
        const double rate = std::pow(std::tanh(Delta / 4), 2);
        const Vector<quad> limit = sinkhorn(S, quad(T), 600).g;
        double last = span(sinkhorn(S, quad(T), 1).g - limit);
        for (int t = 2; t < 8 && last > 1e-20; ++t) {
          const double now = span(sinkhorn(S, quad(T), t).g - limit);
          verify(now, rate * last * (1 + 1e-9) + 1e-31);
          worst = std::max(worst, now / last);
          share = std::max(share, now / last / rate);
          last = now;
        }
      }
  fact("worst", worst);
  fact("share", share);
}
BOOST_AUTO_TEST_CASE(sinkhorn_is_optimal) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const quad T(seed % 4 == 0 ? 0.3 : 0.8);
    const Index n = Index(2 + seed % 3), m = Index(2 + seed % 4);
    const Matrix<quad> S = gaussian<quad>(n, m, seed);
    const Matrix<quad> P = sinkhorn(S, T, 4000).P;
    const Matrix<quad> R =
        sinkhorn(gaussian<quad>(n, m, seed + 20), quad(2), 800).P;
    quad gap = 0, kl = 0;
    for (Index k = 0; k < n * m; ++k) {
      const quad p = P.data()[k], r = R.data()[k], s = S.data()[k];
      gap += p * (s - T * log(p)) - r * (s - T * log(r));
      kl += r * log(r / p);
    }
    verify(to_double(abs(gap - T * kl)), 1e-28);
  }
}
BOOST_AUTO_TEST_CASE(sinkhorn_gradient) {
  for (const auto& [n, m] : {std::pair<Index, Index>{3, 3}, {2, 4}, {4, 3}})
    for (const double temperature : {1.5, 0.4}) {
      const Matrix<quad> S = gaussian<quad>(n, m, 5),
                         D = gaussian<quad>(n, m, 6),
                         G = gaussian<quad>(n, m, 7);
      const quad T(temperature);
      Matrix<Dual<quad>> z = lift<Dual<quad>>(S);
      for (Index k = 0; k < n * m; ++k) z.data()[k].d = D.data()[k];
      const auto moved = sinkhorn(z, Dual<quad>(T), 2000);
      const Matrix<quad> dS = sinkhorn_vjp(sinkhorn(S, T, 2000).P, G, T);
      quad along = 0, product = 0;
      for (Index k = 0; k < n * m; ++k)
        along += moved.P.data()[k].d * G.data()[k],
            product += dS.data()[k] * D.data()[k];
      verify(to_double(abs(along - product)), 1e-28);
    }
}
BOOST_AUTO_TEST_CASE(sinkhorn_gradient_of_hard_weights) {
  const Index n = 4;
  for (const double T : {0.2, 0.07, 0.02, 0.01}) {
    Matrix<double> S = gaussian<double>(n, n, 3) / 8;
    S.diagonal().array() += 3;
    const Matrix<double> P = sinkhorn(S, T).P, G = gaussian<double>(n, n, 2);
    const Matrix<double> dS = sinkhorn_vjp(P, G, T);
    const Matrix<quad> truth = sinkhorn_vjp(lift<quad>(P), lift<quad>(G), T);
    const double spread = G.maxCoeff() - G.minCoeff();
    Matrix<double> bound = Matrix<double>::Zero(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index l = 0; l < n; ++l)
          if (l != j)
            bound(i, j) += (64 + 10) * 0x1p-53 * spread / T * P(i, j) * P(i, l);
    verify(dS, truth, bound);
    refute(largest(truth), 1e-200);
  }
  const Matrix<double> I = Matrix<double>::Identity(n, n);
  verify(largest(sinkhorn_vjp(I, gaussian<double>(n, n, 2), 1.0)), 0);
  const Matrix<double> bad = Matrix<double>::Constant(n, n, nan);
  BOOST_TEST(sinkhorn_vjp(bad, I, 1.0).array().isNaN().all());
  BOOST_TEST(sinkhorn_vjp(I, bad, 1.0).array().isNaN().any());
}
BOOST_AUTO_TEST_CASE(causal_sinkhorn_is_the_identity) {
  double last = 1;
  for (const double depth : {5.0, 10.0, 20.0}) {
    Matrix<double> S = gaussian<double>(4, 4, 1);
    S.triangularView<Eigen::StrictlyUpper>().setConstant(-depth);
    const double off =
        largest(sinkhorn(S, 1.0, 20000).P - Matrix<double>::Identity(4, 4));
    verify(off, 0.5 * last);
    last = off;
  }
}
BOOST_AUTO_TEST_CASE(sinkhorn_sees_the_future) {
  Matrix<double> S = gaussian<double>(5, 5, 2);
  const Matrix<double> P = sinkhorn(S, 1.0).P, A = attn::gibbs(S);
  S.row(4) *= -2;
  const Matrix<double> R = sinkhorn(S, 1.0).P;
  const double off = largest((P - R).topRows(4));
  fact("off", off);
  refute(off, 0.01);
  verify(largest((A - attn::gibbs(S)).topRows(4)), 0);
}

// check the control of temperature
BOOST_AUTO_TEST_CASE(target_entropy_is_met) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Matrix<double> s = gaussian<double>(5, 12, seed);
    s(2, 3) = s(2, 4) = -inf;
    const double H = 0.05 + 0.08 * double(seed - 1);
    const double T = temperature_of_entropy(s, H), u = 0x1p-53;
    const Matrix<double> A = attn::gibbs(s, T);
    double square = 0;
    for (Index k = 0; k < s.size(); ++k)
      if (A.data()[k] > 0)
        square += A.data()[k] *
                  std::pow((s.row(k / 12).maxCoeff() - s.data()[k]) / T, 2);
    const double noise = u * (4 * square / 5 + (2 * 12 + 8) * H);
    const double C = heat_capacity(s, T).mean();
    verify(std::abs(gibbs_entropy(s, T).mean() - H),
           3 * noise + 4 * u * (1 + std::abs(std::log(T))) * C);
  }
}
BOOST_AUTO_TEST_CASE(target_entropy_in_any_unit) {
  const Matrix<double> s = gaussian<double>(3, 8, 3);
  const double here = temperature_of_entropy(s, 1.0);
  for (const double unit : {1e-300, 1e-30, 1e-20, 1e30, 1e300}) {
    const Matrix<double> scaled = unit * s;
    const double T = temperature_of_entropy(scaled, 1.0);
    verify(std::abs(T / unit / here - 1), 3000 * 0x1p-53);
  }
  for (const float unit : {1e-30f, 1e30f}) {
    const Matrix<float> scaled = unit * s.cast<float>();
    const float T = temperature_of_entropy(scaled, 1.0f);
    verify(std::abs(double(T) / double(unit) / here - 1), 3000 * 0x1p-24);
  }
  BOOST_CHECK_EXCEPTION(
      temperature_of_entropy(Matrix<double>(1e-318 * s), 1.0),
      std::domain_error, says("no number is that temperature"));
}
BOOST_AUTO_TEST_CASE(impossible_entropies_are_refused) {
  const Matrix<double> tie{{1, 1, 0}, {2, 0, 0}};
  for (const double off : {0.34, 1.2})  // from log(2)/2 to log(3)
    BOOST_CHECK_EXCEPTION(temperature_of_entropy(tie, off), std::domain_error,
                          says("is not between 0.346574 and 1.09861"));
  const double warm = temperature_of_entropy(tie, 0.35);
  verify(std::abs(gibbs_entropy(tie, warm).mean() - 0.35), 0x1p-50);
  const Matrix<double> pair{{1, 0}, {-inf, -inf}};  // from 0 to log(2)/2
  for (const double end : {0.0, std::log(2.0) / 2})
    BOOST_CHECK_EXCEPTION(temperature_of_entropy(pair, end), std::domain_error,
                          says("is not between 0 and 0.346574"));
  const double T = temperature_of_entropy(pair, 0.3);
  verify(std::abs(gibbs_entropy(pair, T).mean() - 0.3), 0x1p-50);
  for (const Matrix<double>& one : {Matrix<double>(2, 0), Matrix<double>{{3}}})
    BOOST_CHECK_EXCEPTION(temperature_of_entropy(one, 0.1), std::domain_error,
                          says("between 0 and 0"));
}
BOOST_AUTO_TEST_CASE(planted_temperature) {
  for (const double T : {0.1, 0.2, 0.7, 1.0, 4.0, 50.0}) {
    const Matrix<quad> s = gaussian<quad>(6, 8, 3);
    const Matrix<quad> q = attn::gibbs(s, quad(T));
    for (const double unit : {1.0, 1e6, 1e-6, 0x1p400, 0x1p-400}) {
      const Matrix<quad> large = quad(unit) * s;
      const quad found = learn_temperature(large, q) / quad(unit);
      verify(to_double(abs(found / quad(T) - 1)), 1e-28);
    }
  }
}
BOOST_AUTO_TEST_CASE(any_temperature_of_equal_scores) {
  const Matrix<double> q{{0.25, 0.75}, {0.5, 0.5}}, none(2, 0);
  for (const Matrix<double>& w : {q, none})
    for (const double s : {0.0, 2.0}) {
      const Matrix<double> equal = Matrix<double>::Constant(2, w.cols(), s);
      const double T = learn_temperature(equal, w);
      BOOST_TEST((0 < T && T < inf));
    }
}
BOOST_AUTO_TEST_CASE(learning_has_limits) {
  const auto limits = []<class S>(S) {
    const Matrix<S> s = gaussian<S>(50, 8, 1);
    const Matrix<S> top = attn::hard_attention(s),
                    low = attn::hard_attention(Matrix<S>(-s)),
                    even = Matrix<S>::Constant(50, 8, S(1) / 8);
    BOOST_TEST((learn_temperature(s, top) == 0 &&
                learn_temperature(s, low) == S(inf) &&
                learn_temperature(s, even) > 1e3));
  };
  limits(1.0), limits(1.0f);
  const Matrix<double> s = gaussian<double>(6, 8, 3) * 1024;
  const Matrix<double> r = s.array().round() / 1024;
  const Matrix<double> q = attn::gibbs(r, 0.7);
  const double here = learn_temperature(r, q);
  verify(std::abs(here / 0.7 - 1), 0x1p-45);
  Matrix<double> away = r;
  for (Index i = 0; i < 6; ++i) away.row(i).array() += double(i) * 0x1p30;
  verify(std::abs(learn_temperature(away, q) - here), 0);
  for (const double wrong : {0.0, 0.9, 1.1})
    BOOST_CHECK_EXCEPTION(learn_temperature(r, wrong * q), std::domain_error,
                          says("learn_temperature: row 0 of q"));
}
BOOST_AUTO_TEST_CASE(learning_is_convex) {
  const Matrix<quad> s = gaussian<quad>(4, 6, 1, "s"),
                     q = attn::gibbs(gaussian<quad>(4, 6, 1, "q"));
  const auto KL = [](const Matrix<quad>& a, const Matrix<quad>& b) {
    quad sum = 0;
    for (Index k = 0; k < a.size(); ++k)
      sum += a.data()[k] * log(a.data()[k] / b.data()[k]);
    return sum;
  };
  const auto at = [&](double beta) {
    return attn::gibbs(Matrix<quad>(quad(beta) * s));
  };
  for (const double b : {0.1, 1.0, 7.0})
    for (const double c : {-2.0, 0.5, 1.0, 30.0}) {
      const quad slope = quad((at(b) - q).cwiseProduct(s).sum());
      const quad rest = KL(q, at(c)) - KL(q, at(b)) -
                        (quad(c) - quad(b)) * slope;
      verify(distance(rest, KL(at(b), at(c))), 1e-30);
    }
}
/// One draw from each row's weights at beta, and the information in all.
std::pair<Matrix<double>, double> draws_from(const Matrix<double>& s,
                                             double beta,
                                             std::uint64_t seed) {
  const Matrix<double> A = attn::gibbs(Matrix<double>(beta * s));
  const Matrix<double> r = uniform<double>(s.rows(), 1, seed, "draws");
  Matrix<double> q = Matrix<double>::Zero(s.rows(), s.cols());
  double information = 0;
  for (Index i = 0; i < s.rows(); ++i) {
    double left = (r(i) + 1) / 2;
    Index j = 0;
    while (j + 1 < s.cols() && left >= A(i, j)) left -= A(i, j++);
    q(i, j) = 1;
    const double mean = A.row(i).dot(s.row(i));
    information += A.row(i).dot(s.row(i).array().square().matrix()) -
                   mean * mean;
  }
  return {q, information};
}
BOOST_AUTO_TEST_CASE(temperature_from_samples) {
  const double beta = 1.25;
  const Matrix<double> s = gaussian<double>(4000, 8, 5, "scores");
  const auto [q, information] = draws_from(s, beta, 6);
  const double error = 1 / std::sqrt(information);
  const double found = 1 / learn_temperature(s, q);
  fact("found", found, 4);
  fact("error", error);
  verify(std::abs(found - beta), 5 * error);
}
BOOST_AUTO_TEST_CASE(standard_error_of_a_temperature) {
  const Index n = 100, m = 8;
  double square = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Matrix<double> s = gaussian<double>(n, m, seed, "scores");
    const auto [q, information] = draws_from(s, 1.25, seed);
    const double off = 1 / learn_temperature(s, q) - 1.25;
    square += off * off * information / 1000;
  }
  verify(std::abs(square - 1), 5 * std::sqrt(2 / 1000.0) + 0.1);
}
BOOST_AUTO_TEST_CASE(weights_refuse_what_does_not_fit) {
  using bad = std::invalid_argument;
  const Matrix<double> A = attn::gibbs(gaussian<double>(2, 3, 1)),
                       B = A.leftCols(2);
  BOOST_CHECK_EXCEPTION(entmax_vjp(A, B, 1.5), bad,
                        says("entmax_vjp: p is 2x3 but dp is 2x2"));
  const Matrix<double> C = A.topRows(1);
  BOOST_CHECK_EXCEPTION(entmax_vjp(A, C, 1.5), bad, says("dp is 1x3"));
  BOOST_CHECK_EXCEPTION(sinkhorn_vjp(A, C, 1.0), bad, says("dP is 1x3"));
  BOOST_CHECK_EXCEPTION(learn_temperature(A, C), bad, says("q is 1x3"));
  BOOST_CHECK_EXCEPTION(sinkhorn_vjp(A, B, 1.0), bad,
                        says("sinkhorn_vjp: P is 2x3 but dP is 2x2"));
  BOOST_CHECK_EXCEPTION(learn_temperature(A, B), bad,
                        says("scores are 2x3 but q is 2x2"));
  const Matrix<double> one{{1, 0}};
  BOOST_CHECK_EXCEPTION(learn_temperature(Matrix<double>{{0, -inf}}, one),
                        std::domain_error, says("score 0,1 is not finite"));
  BOOST_CHECK_EXCEPTION(learn_temperature(Matrix<double>{{1e308, -1e308}}, one),
                        std::domain_error, says("score below the best, 0,1"));
}
BOOST_AUTO_TEST_CASE(weights_refuse_bad_numbers) {
  const Matrix<double> A = attn::gibbs(gaussian<double>(2, 3, 1));
  BOOST_CHECK_EXCEPTION(sinkhorn(A, 0.0), std::domain_error,
                        says("sinkhorn: temperature"));
  BOOST_CHECK_EXCEPTION(sinkhorn_vjp(A, A, 0.0), std::domain_error,
                        says("sinkhorn_vjp: temperature"));
  BOOST_CHECK_EXCEPTION(entmax_vjp(A, A, 1.5, -1.0), std::domain_error,
                        says("entmax_vjp: temperature"));
  const Matrix<double> bad{{0, nan}};
  BOOST_CHECK_EXCEPTION(learn_temperature(Matrix<double>{{0, 1}}, bad),
                        std::domain_error, says("weight 0,1 is not finite"));
  BOOST_CHECK_EXCEPTION(temperature_of_entropy(bad, 0.1), std::domain_error,
                        says("temperature_of_entropy: score 0,1 is NaN"));
}

// check the answers about weights
BOOST_AUTO_TEST_CASE(answer_permutation) {
  const Matrix<double> S{{3, 2, 0}, {2.5, 0, 0}, {0, 0, 1}};
  const Matrix<double> best{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  for (const double T : {0.2, 0.1}) {
    const Matrix<double> P = sinkhorn(S, T, 20000).P;
    verify(largest(P - best), 2 * std::exp(-0.75 / T));
    refute(largest(attn::gibbs(S, T) - best), 0.9);
  }
}
BOOST_AUTO_TEST_CASE(answer_threehalves) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 7, seed, "s");
    const Matrix<quad> p = entmax(s, quad(1.5));
    quad k = 0, mean = 0, square = 0;
    for (Index j = 0; j < 7; ++j)
      if (p(j) > 0) k += 1, mean += s(j) / 2, square += s(j) * s(j) / 4;
    mean /= k;
    const quad tau = mean - sqrt(1 / k - (square / k - mean * mean));
    for (Index j = 0; j < 7; ++j)
      if (p(j) > 0)
        verify(distance(p(j), (s(j) / 2 - tau) * (s(j) / 2 - tau)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(answer_two_by_two) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Matrix<quad> S = gaussian<quad>(2, 2, seed, "S");
    const quad T(0.6), Delta = S(0, 0) + S(1, 1) - S(0, 1) - S(1, 0);
    const quad x = 1 / (1 + exp(-Delta / (2 * T)));
    const Matrix<quad> P = sinkhorn(S, T).P;
    verify(distance(P(0, 0), x) + distance(P(1, 0), 1 - x), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(answer_support) {
  const Index rows = 4000, n = 12;
  for (const double rate : {0.5, 2.0, 5.0}) {
    const Matrix<double> s =
        ((1 - uniform<double>(rows, n, 3, "support").array()) / 2).log() /
        -rate;
    const Matrix<double> p = sparsemax(s);
    double below = 0, term = std::exp(-rate), poisson = 0;
    for (Index k = 1; k < n; ++k) {
      // compare the share of rows that keep at most k keys
      poisson += term, term *= rate / double(k);
      below = 0;
      for (Index i = 0; i < rows; ++i)
        below += (p.row(i).array() > 0).count() <= k;
      verify(std::abs(below / double(rows) - poisson),
             5 * std::sqrt(std::max(0.0, poisson * (1 - poisson)) / double(rows)) +
                 25 / (3.0 * double(rows)));
    }
  }
}
BOOST_AUTO_TEST_CASE(support_of_normal_rows) {
  const Index rows = 400;
  std::vector<double> mean;
  for (const Index n : {16, 256, 4096}) {
    const Matrix<double> p =
        sparsemax(gaussian<double>(rows, n, 3, "normal"));
    mean.push_back(double((p.array() > 0).count()) / double(rows));
  }
  fact("n16", mean[0]);
  fact("n256", mean[1]);
  fact("n4096", mean[2]);
  verify(mean[0] < mean[1] && mean[1] < mean[2] ? 0 : 1, 0);
}
BOOST_AUTO_TEST_CASE(answer_each_row) {
  const Matrix<double> s = gaussian<double>(5, 12, 1, "each");
  for (Index i = 0; i < 5; ++i) {
    const Matrix<double> row = s.row(i);
    const double T = temperature_of_entropy(row, std::log(6.0));
    const double C = heat_capacity(row, T)(0);
    verify(std::abs(gibbs_entropy(row, T)(0) - std::log(6.0)),
           (100 + 10 * C * (1 + std::abs(std::log(T)))) * 0x1p-53);
  }
}
BOOST_AUTO_TEST_CASE(answer_lipschitz) {
  double sparse = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Matrix<double> s = 2 * gaussian<double>(1, 4, seed, "s"),
                         x = gaussian<double>(1, 4, seed, "x");
    const double d = 2 * x.norm() * (1 + 0x1p-40);
    const auto moved = [&](auto weights) {
      return (weights(Matrix<double>(s + x)) -
              weights(Matrix<double>(s - x))).norm();
    };
    const double a = moved([](const auto& y) { return sparsemax(y); }),
                 b = moved([](const auto& y) { return attn::gibbs(y); });
    verify(a, d), verify(b, d / 2);
    sparse = std::max(sparse, a / d);
  }
  refute(sparse, 0.51);
  const Matrix<double> J = entmax_vjp(attn::gibbs(Matrix<double>{{0, 0}}),
                                      Matrix<double>{{1, -1}}, 1.0);
  verify(std::abs(J(0) - 0.5) + std::abs(J(1) + 0.5), 4 * 0x1p-53);
}
BOOST_AUTO_TEST_CASE(answer_hot_sinkhorn) {
  const Index n = 4;
  const Matrix<quad> S = gaussian<quad>(n, n, 1, "S"),
                     B = gaussian<quad>(1, n, 1, "B");
  Matrix<quad> C = S;
  C.colwise() -= (S.rowwise().sum() / quad(4)).eval();
  C.rowwise() -= (C.colwise().sum() / quad(4)).eval();
  const auto rest = [&](double T) {
    const Matrix<quad> P = sinkhorn(S, quad(T)).P;
    return distance(quad(T) * (quad(4) * P - Matrix<quad>::Ones(n, n)), C);
  };
  verify(rest(1e4), rest(1e3) / 9.9);
  verify(distance(sinkhorn(Matrix<quad>(S.rowwise() + B.row(0)), quad(1)).P,
                  sinkhorn(S, quad(1)).P), 1e-29);
}
BOOST_AUTO_TEST_CASE(answer_fenchel_young) {
  const auto loss = []<class S>(const Matrix<S>& s, const Matrix<S>& q) {
    const S alpha(quad(1.5));
    const Matrix<S> p = entmax(s, alpha, S(quad(1)));
    const Vector<S> Hp = tsallis_entropy(p, alpha),
                    Hq = tsallis_entropy(q, alpha);
    return S(S((p - q).cwiseProduct(s).sum()) + Hp(0) - Hq(0));
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix<quad> s = gaussian<quad>(1, 5, seed, "s"),
                       p = entmax(s, quad(1.5)),
                       q = entmax(gaussian<quad>(1, 5, seed, "t"), quad(1.5));
    verify(to_double(abs(loss(s, p))), 1e-31);
    verify(worse(0, to_double(-loss(s, q))), 1e-31);
    BOOST_TEST((loss(s, q) > quad(1e-12)) == (distance(p, q) > 1e-9));

    // compare the slope of a loss with its gradient
    const Matrix<quad> x = gaussian<quad>(1, 5, seed, "x");
    Matrix<Dual<quad>> z = lift<Dual<quad>>(s);
    for (Index j = 0; j < 5; ++j) z(j).d = x(j);
    const quad slope = loss(z, lift<Dual<quad>>(q)).d;
    verify(distance(slope, quad((p - q).cwiseProduct(x).sum())), 1e-28);
  }
  const Matrix<quad> one{{1, 0, 0}};
  verify(to_double(abs(loss(Matrix<quad>{{2.5, 0.5, 0}}, one))), 1e-31);
  refute(to_double(loss(Matrix<quad>{{2.4, 0.5, 0}}, one)), 1e-6);
}
BOOST_AUTO_TEST_SUITE_END()
