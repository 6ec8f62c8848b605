// tests/layer_case.hpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#pragma once
#include "verify.hpp"
#include "attn/layer.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include "attn/softmax.hpp"

namespace layers {
using namespace attn;

// draw a random layer
enum Bits { gains = 1, turned = 2, partly = 4, scales = 8, capped = 16,
            sloped = 32, sinks = 64, tables = 128, biased = 256,
            unscaled = 512, last_bits = 1023 };
/// Masks of kinds 0 to 5 on n places.
inline Mask mask_of_kind(int kind, Index n) {
  const auto seen = [](Index i, Index j) { return (3 * i + 5 * j) % 4 < 3; };
  switch (kind) {
    case 0: return causal(unlimited, unlimited);
    case 1: return window(unlimited, unlimited, 5, 0);
    case 2: return everything(unlimited, unlimited);
    case 3: return causal(n, n) & where(n, n, seen);
    case 4: return window(n, n, 4, 2, 0) & padding(n, n, n, n - n / 5);
    default: return causal(n, n) & padding(n, n, n - n / 3, n - n / 4);
  }
}
template <class S>
Layer<S> draw_layer(int bits, const Mask& mask, Index n,
                    std::uint64_t seed) {
  const Index D = 5, H = 4, G = 2, d = 6, e = 3;
  const auto draw = [&](Index a, Index b, const char* name) {
    return gaussian<S>(a, b, seed, name);
  };
  const auto list = [&](Index a, const char* name) {
    return Vector<S>(draw(a, 1, name));
  };
  Layer<S> L{MultiHead<S>{H, G, draw(D, H * d, "W_Q"),
                          draw(D, G * d, "W_K"), draw(D, G * e, "W_V"),
                          draw(H * e, D, "W_O"), list(H * d, "b_Q"),
                          list(G * d, "b_K"), list(G * e, "b_V"),
                          list(D, "b_O")}};
  L.rules.mask = mask;

  // give a random layer its options
  L.parts.scale = Vector<S>::Constant(1, S(0.25));
  if (bits & scales) L.parts.scale = S(0.25) * list(H, "scale");
  if (bits & unscaled) L.parts.scale.resize(0);
  if (bits & gains) L.parts.gain_q = list(d, "g_q");
  if (bits & gains) L.parts.gain_k = list(d, "g_k");
  if (bits & turned)
    L.rotary = Rotary<S>{frequencies<Angle<S>>(bits & partly ? d - 2 : d, 100),
                         bits & scales ? Pairs::halves : Pairs::neighbours,
                         bits & partly ? 2 : 0};
  if (bits & capped) L.rules.softcap = bits & scales ? 0.75 : 1.5;
  if (bits & sloped) L.rules.slopes = {0.5, 0.25, 0.125, 0.0625};
  if (bits & sinks) L.parts.sink = list(H, "sink");
  L.rules.buckets = Buckets(true, 8, 12);
  if (bits & tables) L.parts.table = draw(H, 8, "table");
  if (bits & biased)
    for (Index h = 0; h < (seed % 2 ? H : 1); ++h)
      L.parts.bias.push_back(gaussian<S>(n, n, seed + 1000 * std::uint64_t(h),
                                         "B"));
  return L;
}

// lift a layer
/// The same layer in another scalar.
template <class R, class S>
Layer<R> lifted_layer(const Layer<S>& L) {
  Layer<R> M{lifted<R>(L.weights)};
  M.rules = L.rules;
  M.parts.bias.resize(L.parts.bias.size());
  for_each_weight([](auto, const auto& a, auto& b) { b = lift<R>(a); },
                  L.parts, M.parts);
  if (L.rotary)
    M.rotary = Rotary<R>{lift<Angle<R>>(L.rotary->theta), L.rotary->pairs,
                         L.rotary->fixed, Angle<R>(L.rotary->gain)};
  return M;
}

// write a layer in plain loops
using Quads = Matrix<quad>;
/// Rows of one projection, normalised and turned, and the bound on their
/// error in arithmetic of unit roundoff u, angles of ua.
struct LiteralRows {
  Quads x;
  Matrix<double> error;
};
struct RowRules {
  Vector<quad> b, gain;
  std::optional<Rotary<quad>> R;
  Index d;
};
struct Arithmetic {
  double eps, u, ua;
  Index shift;
};
inline LiteralRows carried_on(LiteralRows y, const RowRules& rule,
                              const Arithmetic& with) {
  const auto& [b, gain, R, d] = rule;
  const auto [eps, u, ua, shift] = with;
  for (Index i = 0; i < y.x.rows(); ++i)
    for (Index h = 0; h < y.x.cols(); h += d) {
      // normalise one head in plain numbers
      if (gain.size() > 0) {
        quad sum = 0;
        for (Index a = 0; a < d; ++a) sum += y.x(i, h + a) * y.x(i, h + a);
        const quad r = sqrt(sum / quad(double(d)) + quad(eps));
        double t = 0;
        for (Index a = 0; a < d; ++a) {
          const double dx = y.error(i, h + a);
          t += (std::abs(to_double(y.x(i, h + a))) + dx / 2) * dx;
        }
        t /= double(d) * to_double(r * r);
        BOOST_TEST(2 * t < 1);
        for (Index a = 0; a < d; ++a) {
          const quad n = y.x(i, h + a) / r;
          const double size = std::abs(to_double(n));
          const double e =
              (y.error(i, h + a) / to_double(r) + size * t) / (1 - 2 * t);
          y.error(i, h + a) = std::abs(to_double(gain(a))) *
                              (e + gamma(d + 8, u) / 2 * (size + e));
          y.x(i, h + a) = gain(a) * n;
        }
      }

      // turn one head in plain numbers
      for (Index a = 0; R && a < R->theta.size(); ++a) {
        const Index m = R->theta.size();
        const bool near = R->pairs == Pairs::neighbours;
        const Index k = h + (near ? 2 * a : a), l = near ? k + 1 : k + m;
        const quad phi = quad(double(i + shift)) * R->theta(a);
        const quad c = cos(phi), s = sin(phi), v = y.x(i, k), w = y.x(i, l);
        const double ev = y.error(i, k), ew = y.error(i, l);
        const double both =
            std::abs(to_double(v)) + ev + std::abs(to_double(w)) + ew;
        const double own = both * (ua * std::abs(to_double(phi)) + gamma(5, u));
        const double C = std::abs(to_double(c)), E = std::abs(to_double(s));
        y.error(i, k) = C * ev + E * ew + own;
        y.error(i, l) = E * ev + C * ew + own;
        y.x(i, k) = c * v - s * w;
        y.x(i, l) = s * v + c * w;
      }
    }
  return y;
}
inline LiteralRows literal_rows(const Quads& X, const Quads& W,
                                const RowRules& rule,
                                const Arithmetic& with) {
  const Vector<quad>& b = rule.b;
  LiteralRows y{times(X, W), {}};
  for (Index i = 0; i < y.x.rows() && b.size() > 0; ++i)
    y.x.row(i) += b.transpose();
  const Matrix<double> x = lift<double>(X).cwiseAbs();
  y.error = x * lift<double>(W).cwiseAbs();
  if (b.size() > 0)
    y.error.rowwise() += lift<double>(b).cwiseAbs().transpose();
  y.error *= gamma(X.cols() + 1, with.u);
  return carried_on(y, rule, with);
}
struct LiteralLayer {
  Quads O, Y, L;  // L: log Z, n_q x H
  Matrix<double> O_error, Y_error, L_error;
};
template <class S>
LiteralLayer literal_layer(const Layer<S>& layer, const Matrix<S>& X,
                           const Matrix<S>& C, Index shift = 0) {
  const Layer<quad> L = lifted_layer<quad>(layer);
  const double u = unit_roundoff<S>();
  const Arithmetic as{L.rules.epsilon, u, unit_roundoff<Angle<S>>(), shift};
  const auto& [w, p, rules, rotary] = L;
  const Index d = w.d_k(), e = w.d_v(), H = w.heads;
  const Quads Xq = lift<quad>(X), Cq = lift<quad>(C);
  const auto q = literal_rows(Xq, w.W_Q, {w.b_Q, p.gain_q, rotary, d}, as);
  const auto k = literal_rows(Cq, w.W_K, {w.b_K, p.gain_k, rotary, d}, as);
  const auto v = literal_rows(Cq, w.W_V, {w.b_V, {}, {}, e}, as);
  LiteralLayer y{Quads::Zero(X.rows(), H * e), {},
                 Quads::Constant(X.rows(), H, quad(-HUGE_VAL)),
                 Matrix<double>::Zero(X.rows(), H * e), {},
                 Matrix<double>::Zero(X.rows(), H)};
  for (Index h = 0; h < H; ++h)
    for (Index i = 0; i < X.rows(); ++i)

      // attend in plain numbers
      {
        const Index m = C.rows(), g = h / w.group();
        const double slack = 1 - double(d + 7) * u;
        std::vector<quad> s(std::size_t(m), quad(-HUGE_VAL));
        std::vector<double> r(s.size(), 0.0);
        quad top = L.parts.sink.size() > 0 ? L.parts.sink(h) : quad(-HUGE_VAL);
        const quad sink = top;
        for (Index j = 0; j < m; ++j)
          if (L.rules.mask.allows(i, j)) {
            // score in plain numbers
            quad x = 0;
            double size = 0, error = 0;
            for (Index a = 0; a < d; ++a) {
              const quad qa = q.x(i, h * d + a), ka = k.x(j, g * d + a);
              const double K = std::abs(to_double(ka)), dq = q.error(i, h * d + a),
                           dk = k.error(j, g * d + a);
              const double Q = std::abs(to_double(qa)) + dq;
              x += qa * ka, size += Q * (K + dk), error += dq * K + Q * dk;
            }
            const auto& beta = L.parts.scale;
            const quad f = beta.size() == 0 ? 1 / sqrt(quad(double(d)))
                                            : beta(beta.size() == 1 ? 0 : h);
            x *= f;
            double delta = std::abs(to_double(f)) * (error + double(d + 6) * u * size);
            if (L.rules.softcap) {
              const quad c = quad(*L.rules.softcap);
              x = c * tanh(x / c), delta += 11 * u * *L.rules.softcap;
            }

            // add biases in plain numbers
            const Index t = j - i;
            quad more = 0;
            const auto add = [&](const quad& z) {
              more += z, delta += 6 * u * std::abs(to_double(z));
            };
            const auto& B = L.parts.bias;
            if (!B.empty()) add(B[B.size() == 1 ? 0 : std::size_t(h)](i, j));
            if (L.parts.table.size() > 0) add(L.parts.table(h, L.rules.buckets(t)));
            if (!L.rules.slopes.empty())
              add(-quad(L.rules.slopes[std::size_t(h)]) * quad(double(std::abs(t))));
            s[std::size_t(j)] = x + more;
            r[std::size_t(j)] = delta + 3 * u * std::abs(to_double(x + more));
            top = std::max(top, s[std::size_t(j)]);
          }
        if (top == quad(-HUGE_VAL)) continue;
        quad Z = exp(sink - top);
        for (const quad& x : s) Z += exp(x - top);

        // mix values in plain numbers
        const double b = double(2 * m + 10), D = double(m / 128 + 2);
        double mean = 0, R = 0;
        const auto key = [&](const quad& score, double delta) {
          const double off = delta / slack + u * (to_double(top - score) + b + 3 +
                                                  6 * (D + 1));
          mean += to_double(exp(score - top) / Z) * off;
          R = std::max(R, off);
          return off;
        };
        if (sink > quad(-HUGE_VAL)) key(sink, 2 * u * to_double(abs(sink)));
        for (Index j = 0; j < m; ++j)
          if (s[std::size_t(j)] > quad(-HUGE_VAL))
            r[std::size_t(j)] = key(s[std::size_t(j)], r[std::size_t(j)]);
        BOOST_TEST(3 * R < 1);

        // add what the values of a row carry
        for (Index j = 0; j < m; ++j) {
          const quad A = exp(s[std::size_t(j)] - top) / Z;
          for (Index c = 0; c < e; ++c) {
            const quad V = v.x(j, g * e + c);
            const double dV = v.error(j, g * e + c);
            y.O(i, h * e + c) += A * V;
            y.O_error(i, h * e + c) +=
                to_double(A) / (1 - 3 * R) *
                ((r[std::size_t(j)] + mean) * (std::abs(to_double(V)) + dV) + dV);
          }
        }

        // take the logarithm in plain numbers
        y.L(i, h) = top + log(Z);
        y.L_error(i, h) =
            (mean + u * to_double(2 * abs(top) + 5 * abs(y.L(i, h)))) / (1 - 3 * R);
      }

  // project in plain numbers
  y.Y = times(y.O, w.W_O);
  const Matrix<double> W = lift<double>(w.W_O).cwiseAbs();
  y.Y_error = (lift<double>(y.O).cwiseAbs() + y.O_error) * W;
  if (w.b_O.size() > 0) {
    y.Y.rowwise() += w.b_O.transpose();
    y.Y_error.rowwise() += lift<double>(w.b_O).cwiseAbs().transpose();
  }
  y.Y_error *= gamma(H * e + 1, u);
  y.Y_error += y.O_error * W;
  return y;
}

// check the logarithm of the sums
template <class S>
void verify_logZ(const Vector<S>& logZ, const LiteralLayer& truth,
                 double times = 1) {
  const Index n = truth.L.rows();
  for (Index h = 0; h < truth.L.cols(); ++h)
    for (Index i = 0; i < n; ++i)
      if (truth.L(i, h) == quad(-HUGE_VAL))
        BOOST_TEST((logZ(h * n + i) == S(-HUGE_VAL)));
      else
        verify(distance(logZ(h * n + i), truth.L(i, h)),
               times * truth.L_error(i, h));
}
}  // namespace layers
