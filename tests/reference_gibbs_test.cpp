// Gibbs weights and what belongs to them, sparse weights, Hopfield networks and
// positions against JAX and mpmath.  Falsified by any convention (sign, unit of
// temperature, base of logarithms, pairing of coordinates) or value that differs
// by more than the roundings of both.
// reads: tests/reference/*_*.txt
#include "prelude.hpp"
#include "reference.hpp"
#include "attn/fisher.hpp"
#include "attn/hopfield.hpp"
#include "attn/modifiers.hpp"
#include "attn/positions.hpp"
#include "attn/sparsemax.hpp"

namespace {
using namespace attn;

// Applies f in double and with counted numbers to the parts named.
template <class F, class... K>
void agree_on(const Case& c, F f, const Reference& r, const K&... key) {
  agree(f(c.get<double>(key)...), f(c.get<Counted>(key)...), r);
}
// f is made of products, sums and elementary functions in the order that
// with_jax.py has, so that its own steps bound JAX's.
template <class F, class G, class... K>
void agree_with_jax(const Case& c, const char* result, F f, G steps,
                    const K&... key) {
  agree_on(c, f, doubles(c, result, Matrix<Counted>(
                             steps(c.get<Counted>(key)...))), key...);
}
template <class F, class... K>
void agree_with_mpmath(const Case& c, const char* result, F f,
                       const K&... key) {
  agree_on(c, f, digits(c, result), key...);
}

// The definitions, as with_jax.py has them.
template <class S>
Matrix<S> exponentials(const Matrix<S>& S_, const Matrix<S>& T) {
  using std::exp;
  Matrix<S> X = S_ / T(0, 0);
  for (Index i = 0; i < X.rows(); ++i) {
    S top = X(i, 0);
    for (Index j = 1; j < X.cols(); ++j)
      if (top < X(i, j)) top = X(i, j);
    for (Index j = 0; j < X.cols(); ++j) X(i, j) = exp(S(X(i, j) - top));
  }
  return X;
}
template <class S>
Matrix<S> softmax_steps(const Matrix<S>& S_, const Matrix<S>& T) {
  Matrix<S> A = exponentials(S_, T);
  for (Index i = 0; i < A.rows(); ++i) A.row(i) /= S(A.row(i).sum());
  return A;
}
template <class S>
Matrix<S> logZ_steps(const Matrix<S>& S_, const Matrix<S>& T) {
  using std::log;
  const Matrix<S> E = exponentials(S_, T);
  Matrix<S> y(E.rows(), 1);
  for (Index i = 0; i < E.rows(); ++i) {
    S top = S_(i, 0) / T(0, 0);
    for (Index j = 1; j < E.cols(); ++j)
      if (top < S_(i, j) / T(0, 0)) top = S_(i, j) / T(0, 0);
    y(i) = log(S(E.row(i).sum())) + top;
  }
  return y;
}
template <class S>
Matrix<S> entropy_steps(const Matrix<S>& A) {
  using std::log;
  Matrix<S> H = Matrix<S>::Zero(A.rows(), 1);
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j) H(i) -= A(i, j) * log(A(i, j));
  return H;
}
template <class S>
Matrix<S> energy_steps(const Matrix<S>& S_, const Matrix<S>& T) {
  const Matrix<S> A = softmax_steps(S_, T);
  return -A.cwiseProduct(S_).rowwise().sum();
}
}  // namespace

BOOST_AUTO_TEST_SUITE(reference)
BOOST_AUTO_TEST_CASE(gibbs_of_jax) {
  for_cases("jax_gibbs", [](const Case& c) {
    const auto T = [](const auto& t) { return t(0, 0); };
    const auto on = [&](const char* result, auto f, auto steps) {
      agree_with_jax(c, result, f, steps, "S", "T");
    };
    on("A", [&](auto s, auto t) { return gibbs(s, T(t)); },
       [](auto s, auto t) { return softmax_steps(s, t); });
    on("logA", [&](auto s, auto t) { return log_softmax(s, T(t)); },
       [](auto s, auto t) {
         return Matrix<Counted>((s / t(0, 0)).colwise() -
                                Vector<Counted>(logZ_steps(s, t)));
       });
    on("logZ", [&](auto s, auto t) { return log_partition(s, T(t)); },
       [](auto s, auto t) { return logZ_steps(s, t); });
    on("F", [&](auto s, auto t) { return free_energy(s, T(t)); },
       [](auto s, auto t) {
         return Matrix<Counted>(-t(0, 0) * logZ_steps(s, t));
       });
    on("U", [&](auto s, auto t) { return expected_energy(s, T(t)); },
       [](auto s, auto t) { return energy_steps(s, t); });
    const auto H = [](auto s, auto t) {
      return entropy_steps(softmax_steps(s, t));
    };
    on("H", [&](auto s, auto t) { return gibbs_entropy(s, T(t)); }, H);
    on("H", [&](auto s, auto t) { return entropy(gibbs(s, T(t))); }, H);
    on("normalised", [&](auto s, auto t) {
      return normalised_entropy(gibbs(s, T(t)));
    }, [&](auto s, auto t) {
      return Matrix<Counted>(H(s, t) / log(Counted(double(s.cols()))));
    });
    on("effective", [&](auto s, auto t) {
      return effective_states(gibbs(s, T(t)));
    }, [&](auto s, auto t) {
      return Matrix<Counted>(H(s, t).array().exp());
    });
    on("C", [&](auto s, auto t) { return heat_capacity(s, T(t)); },
       [](auto s, auto t) {
         const Matrix<Dual<Counted>> z = lift<Dual<Counted>>(s);
         const Matrix<Dual<Counted>> time{{{t(0, 0), Counted(1)}}};
         return Matrix<Counted>(energy_steps(z, time).unaryExpr(
             [](const Dual<Counted>& y) { return y.d; }));
       });
    // The second derivatives of log Z, and the first ones of the weights.
    const auto first = [](const auto& s) {
      return std::decay_t<decltype(s)>(s.row(0));
    };
    const auto jacobian = [&](const Matrix<Counted>& s,
                              const Matrix<Counted>& t) {
      Matrix<Counted> J(s.cols(), s.cols());
      for (Index k = 0; k < s.cols(); ++k) {
        Matrix<Dual<Counted>> z = lift<Dual<Counted>>(first(s));
        z(0, k).d = Counted(1);
        const auto A = softmax_steps(z, lift<Dual<Counted>>(t).eval());
        for (Index j = 0; j < s.cols(); ++j) J(j, k) = A(0, j).d;
      }
      return J;
    };
    on("jacobian", [&](auto s, auto t) {
      return softmax_jacobian(gibbs(first(s), T(t)), T(t));
    }, jacobian);
    on("fisher", [&](auto s, auto t) {
      using S = typename decltype(s)::Scalar;
      return fisher(Vector<S>(gibbs(first(s), T(t)).transpose()), S(T(t)));
    }, [&](auto s, auto t) {
      return Matrix<Counted>(jacobian(s, t) / t(0, 0));
    });
    agree_with_jax(c, "dS", [&](auto s, auto t, auto dA) {
      return softmax_vjp(gibbs(s, T(t)), dA, T(t));
    }, [](auto s, auto t, auto dA) {
      return gradient([&](const auto& z) {
        using V = Var<Counted>;
        const Matrix<V> A = softmax_steps<V>(z, lift<V>(t));
        V sum(0);
        for (Index k = 0; k < A.size(); ++k)
          sum += V(dA.data()[k]) * A.data()[k];
        return sum;
      }, s);
    }, "S", "T", "dA");
    agree_with_jax(c, "kl", [&](auto s, auto t, auto q) {
      return kl(q, gibbs(s, T(t)));
    }, [](auto s, auto t, auto q) {
      const Matrix<Counted> A = softmax_steps(s, t);
      Matrix<Counted> y = Matrix<Counted>::Zero(A.rows(), 1);
      for (Index i = 0; i < A.rows(); ++i)
        for (Index j = 0; j < A.cols(); ++j)
          y(i) += q(i, j) * log(q(i, j) / A(i, j)) - q(i, j) + A(i, j);
      return y;
    }, "S", "T", "q");
  });
}
BOOST_AUTO_TEST_CASE(gibbs_of_mpmath) {
  for_cases("mpmath_gibbs", [](const Case& c) {
    const auto on = [&](const char* result, auto f) {
      agree_with_mpmath(c, result, [&](auto s, auto t) {
        return f(s, t(0, 0));
      }, "S", "T");
    };
    on("A", [](auto s, auto T) { return gibbs(s, T); });
    on("logA", [](auto s, auto T) { return log_softmax(s, T); });
    on("logZ", [](auto s, auto T) { return log_partition(s, T); });
    on("F", [](auto s, auto T) { return free_energy(s, T); });
    on("U", [](auto s, auto T) { return expected_energy(s, T); });
    on("H", [](auto s, auto T) { return gibbs_entropy(s, T); });
    on("C", [](auto s, auto T) { return heat_capacity(s, T); });
    if (c.has("fisher"))
      on("fisher", [](auto s, auto T) {
        using S = typename decltype(s)::Scalar;
        return fisher(Vector<S>(gibbs(s, T).transpose()), S(T));
      });
  });
}
BOOST_AUTO_TEST_CASE(distributions_of_mpmath) {
  for_cases("mpmath_distribution", [](const Case& c) {
    agree_with_mpmath(c, "kl", [](auto q, auto p) { return kl(q, p); }, "q",
                      "p");
    agree_with_mpmath(c, "H", [](auto p) { return entropy(p); }, "p");
    agree_with_mpmath(c, "fisher_rao", [](auto p, auto q) {
      using S = typename decltype(p)::Scalar;
      return Matrix<S>{{fisher_rao_distance(
          Vector<S>(p.transpose()), Vector<S>(q.transpose()))}};
    }, "p", "q");
  });
}

namespace {
// The steps of with_jax.py: entmax, for alpha 3/2 and 2.
template <class S>
Matrix<S> entmax_steps(const Matrix<S>& scores, double alpha) {
  using std::sqrt;
  Matrix<S> p = Matrix<S>::Zero(scores.rows(), scores.cols());
  for (Index i = 0; i < p.rows(); ++i) {
    std::vector<S> x;
    for (Index j = 0; j < p.cols(); ++j)
      x.push_back(scores(i, j) * S(alpha - 1));
    std::sort(x.begin(), x.end(), [](auto& a, auto& b) { return b < a; });
    const S top = x[0];
    S sum(0), square(0), tau(0);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const S y = x[k] - top, n = S(double(k + 1));
      sum += y, square += y * y;
      const S mean = sum / n;
      const S rest = (S(1) - n * (square / n - mean * mean)) / n;
      if (alpha < 2 && rest < S(0)) break;
      const S t = alpha < 2 ? S(mean - sqrt(rest)) : S(mean - S(1) / n);
      if (!(y < t)) tau = t;
    }
    for (Index j = 0; j < p.cols(); ++j) {
      const S y = scores(i, j) * S(alpha - 1) - top - tau;
      if (S(0) < y) p(i, j) = alpha < 2 ? S(y * y) : y;
    }
  }
  return p;
}

// Newton's iteration forgets its earlier errors, so its steps must not be
// counted: p = (z - tau)^q is an atom.  z <= 0 errs by 4 u where z > tau >= -1;
// the sum that tau makes equal to one, by q + 10 + n roundings, and it falls by
// q sum_j p_j^((q-1)/q) >= q for each unit of tau, which is itself rounded.
Matrix<Counted> sparse(const Matrix<double>& s, double alpha) {
  const Matrix<quad> p = entmax(lift<quad>(s), quad(alpha));
  const double q = 1 / (alpha - 1), u = Counted::u;
  const double z = 4 * u, tau = (q + 10 + double(p.cols())) * u / q + z + u;
  return p.unaryExpr([=](const quad& y) {
    if (y == 0) return Counted(0);
    const double x = std::pow(to_double(y), 1 / q), e = z + tau + u;
    return Counted::atom(y, to_double(y) * std::expm1(q * std::log1p(e / x)));
  });
}
}  // namespace

BOOST_AUTO_TEST_CASE(entmax_of_jax) {
  for_cases("jax_entmax", [](const Case& c) {
    const double alpha = c.number<double>("alpha");
    const auto s = c.get<double>("S"), bar = c.get<double>("bar_p");
    const auto t = c.get<Counted>("S"), rab = c.get<Counted>("bar_p");
    const auto steps = doubles(c, "p", entmax_steps(t, alpha));
    const auto p = entmax(s, alpha);
    const auto q = sparse(s, alpha);
    agree(p, q, steps);
    if (alpha == 2) agree(sparsemax(s), q, steps);
    agree(entmax_vjp(p, bar, alpha), entmax_vjp(q, rab, Counted(alpha)),
          doubles(c, "dS", gradient([&](const auto& z) {
            using V = Var<Counted>;
            const Matrix<V> y = entmax_steps<V>(z, alpha);
            V sum(0);
            for (Index k = 0; k < y.size(); ++k)
              sum += V(rab.data()[k]) * y.data()[k];
            return sum;
          }, t)));
  });
}
BOOST_AUTO_TEST_CASE(entmax_of_mpmath) {
  for_cases("mpmath_entmax", [](const Case& c) {
    const double alpha = c.number<double>("alpha");
    const auto s = c.get<double>("S");
    const auto p = entmax(s, alpha);
    const auto q = sparse(s, alpha);
    agree(p, q, digits(c, "p"));
    agree(tsallis_entropy(p, alpha), tsallis_entropy(q, Counted(alpha)),
          digits(c, "H"));
  });
}
BOOST_AUTO_TEST_CASE(hopfield_of_jax) {
  for (const Case& c : read_cases("jax_hopfield")) {
    if (c.name == "classical") {
      const auto K = c.get<double>("K"), W = c.get<double>("W");
      const auto L = c.get<Counted>("K");
      const Vector<double> x = c.vec<double>("x");
      agree(hebb(K, Diagonal::kept), hebb(L, Diagonal::kept),
            doubles(c, "W", hebb(L, Diagonal::kept)));
      agree(hebb(K), hebb(L), doubles(c, "W0", hebb(L)));
      const Counted E = classical_energy(hebb(L, Diagonal::kept),
                                         c.vec<Counted>("x"));
      agree(classical_energy(hebb(K, Diagonal::kept), x), E,
            doubles(c, "E", Matrix<Counted>{{E}}));
      verify((synchronous_update(hebb(K), x) - c.vec<double>("update")).norm(),
             0);
    } else {
      const auto beta = [](auto b) { return b(0, 0); };
      agree_with_jax(c, "update", [&](auto x, auto k, auto b) {
        return hopfield_update(x, k, beta(b));
      }, [&](auto x, auto k, auto b) {  // x - grad E, as JAX has it
        const Matrix<Counted> one{{1}};
        const Matrix<Counted> A = softmax_steps<Counted>(
            beta(b) * times(x, k.transpose()), one);
        const Matrix<Counted> y = beta(b) * times(A, k) / beta(b);
        return Matrix<Counted>(x - (x - y));
      }, "X", "K", "beta");
      agree_with_jax(c, "E", [&](auto x, auto k, auto b) {
        return hopfield_energy(x, k, beta(b));
      }, [&](auto x, auto k, auto b) {
        const Matrix<Counted> one{{1}};
        return Matrix<Counted>(
            x.cwiseProduct(x).rowwise().sum() * Counted(0.5) -
            logZ_steps<Counted>(beta(b) * times(x, k.transpose()), one) /
                beta(b));
      }, "X", "K", "beta");
    }
    c.finish();
  }
}
BOOST_AUTO_TEST_CASE(hopfield_of_mpmath) {
  for_cases("mpmath_hopfield", [](const Case& c) {
    agree_with_mpmath(c, "update", [&](auto x, auto k, auto b) {
      return hopfield_update(x, k, b(0, 0));
    }, "X", "K", "beta");
    agree_with_mpmath(c, "E", [&](auto x, auto k, auto b) {
      return hopfield_energy(x, k, b(0, 0));
    }, "X", "K", "beta");
  });
}
// Functions in double only; the bound is that of their last steps, with the
// library's functions right to four units in the last place.
BOOST_AUTO_TEST_CASE(constants_of_mpmath) {
  const auto near = [](double ours, quad truth, double roundings) {
    verify(to_double(abs(quad(ours) - truth)),
           gamma(Index(roundings), Counted::u) * to_double(abs(truth)));
  };
  for_cases("mpmath_constant", [&](const Case& c) {
    const auto at = [&](Index k) { return c.get<double>("arguments")(k); };
    if (c.name == "lambert") {
      // Newton's last step: exp, two products, two sums, a quotient, a
      // difference; its condition number x/(e (w + 1)) w is below one.
      const auto x = c.vec<double>("x");
      for (Index k = 0; k < x.size(); ++k)
        near(lambert_w(x(k)), c.vec<quad>("w")(k), 2 * (8 + 6));
    } else if (c.name == "ramsauer") {
      // a and b to 20 roundings, exp and W to 8 each, magnified by at most
      // |a| < 2; then the power (d-1)/4 magnifies by 19/4.
      near(ramsauer_base(at(0), at(1), at(2), at(3)), c.number<quad>("base"),
           2 * 20 + 14 + 28);
      near(ramsauer_guarantee(at(0), at(1), at(2), at(3)),
           c.number<quad>("guarantee"), (2 * 20 + 14 + 28) * 19 / 4 + 20);
    } else if (c.name == "hebb") {
      // lgamma of up to 121 is below 461: four of them, each to 8 roundings,
      // and four sums of that size, in the exponent; then exp and 50 sums.
      near(hebb_bit_error(Index(at(0)), Index(at(1))),
           c.number<quad>("error"), 4 * 461 * (8 + 4) + 8 + 50);
      near(hebb_capacity(Index(at(0))), c.number<quad>("capacity"), 8 + 2);
    } else {
      // t is stationary; log1p magnifies t's error by 2t^2/(1-t^2) < 2, and
      // the sum of three terms below 1.5 cancels to 0.78.
      near(spherical_capacity_rate(c.number<double>("beta")),
           c.number<quad>("rate"), 3 * 2 * (2 * 8 + 12));
    }
  });
}
BOOST_AUTO_TEST_CASE(positions_of_jax) {
  for_cases("jax_position", [](const Case& c) {
    const Index first = c.integer("first");
    const Pairs pairs = c.integer("half") ? Pairs::halves : Pairs::neighbours;
    const auto turn = [&](bool back) {
      return [=](auto x) {
        using S = typename decltype(x)::Scalar;
        return rotate<S>(x, Rotary<S>{frequencies<S>(x.cols()), pairs}, first,
                         back);
      };
    };
    agree_with_jax(c, "Y", turn(false), turn(false), "X");
    agree_with_jax(c, "dX", turn(true), turn(true), "bar_Y");
  });
}
BOOST_AUTO_TEST_CASE(positions_of_mpmath) {
  for_cases("mpmath_position", [](const Case& c) {
    if (c.name == "rotary") {
      const Index first = c.integer("first");
      agree_with_mpmath(c, "Y", [&](auto x) {
        using S = typename decltype(x)::Scalar;
        return rotate<S>(x, Rotary<S>{frequencies<S>(x.cols())}, first);
      }, "X");
      agree(frequencies<double>(4), frequencies<Counted>(4),
            digits(c, "theta"));
    } else if (c.name == "sinusoidal") {
      agree(sinusoidal<double>(c.integer("n"), 4, c.integer("first")),
            sinusoidal<Counted>(c.integer("n"), 4, c.integer("first")),
            digits(c, "P"));
    } else if (c.has("heads")) {
      // powers of two and, between them, exp2 of a quotient
      const auto slopes = alibi_slopes(c.integer("heads"));
      const auto truth = c.vec<quad>("slopes");
      BOOST_REQUIRE(Index(slopes.size()) == truth.size());
      for (Index h = 0; h < truth.size(); ++h)
        verify(to_double(abs(quad(slopes[std::size_t(h)]) - truth(h))),
               gamma(8 + 8, Counted::u) * to_double(truth(h)));
    } else {
      const Buckets bucket(c.integer("rules", 0), c.integer("rules", 1),
                           c.integer("rules", 2));
      const auto truth = c.vec<double>("bucket");
      for (Index t = 0; t < truth.size(); ++t)
        verify(std::abs(double(bucket(t - 150)) - truth(t)), 0);
    }
  });
}
BOOST_AUTO_TEST_SUITE_END()
