// tests/variants_cache_test.cpp: tangled from chapters/06-variants-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <boost/multiprecision/cpp_int.hpp>
#include "tracked_variant.hpp"
#include "attn/cache.hpp"
#include "attn/positions.hpp"

BOOST_AUTO_TEST_SUITE(variants)
namespace {
// round the formula for buckets
template <class T>
Index rounded_bucket(Index n, Index E, Index m, Index far) {
  if (n < E) return n;
  const T ratio = std::log(T(n) / T(E)) / T(std::log(double(far) / double(E)));
  return std::min(E + Index(ratio * T(m)), E + m - 1);
}
}  // namespace

// check the counter-based generator
BOOST_AUTO_TEST_CASE(philox_known_answers) {
  const std::uint32_t f = 0xffffffff;
  const Philox zero = philox({0, 0, 0, 0}, {0, 0});
  const Philox full = philox({f, f, f, f}, {f, f});
  const Philox pi = philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                           {0xa4093822, 0x299f31d0});
  const Philox answers[] = {
      {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  verify((zero != answers[0]) + (full != answers[1]) + (pi != answers[2]), 0);
}
BOOST_AUTO_TEST_CASE(dropout_statistics) {
  const double p = 0.3, n = 512;
  const Dropout d{p, 11}, head{p, 11, 1}, layer{p, 11, 0, 1},
      batch{p, 11, 0, 0, 1};
  double kept = 0, right = 0, below = 0, heads = 0, layers = 0, batches = 0;
  for (Index i = 0; i < Index(n); ++i)
    for (Index j = 0; j < Index(n); ++j) {
      const double k = d.keeps(i, j) - (1 - p);
      kept += k;
      right += k * (d.keeps(i, j + 1) - (1 - p));
      below += k * (d.keeps(i + 1, j) - (1 - p));
      heads += k * (head.keeps(i, j) - (1 - p));
      layers += k * (layer.keeps(i, j) - (1 - p));
      batches += k * (batch.keeps(i, j) - (1 - p));
    }
  const double s = p * (1 - p);
  verify(std::abs(kept), 5 * n * std::sqrt(s));
  for (const double c : {right, below, heads, layers, batches})
    verify(std::abs(c), 5 * n * s);
}
BOOST_AUTO_TEST_CASE(dropout_by_hand) {
  for (std::uint32_t i = 0; i < 8; ++i)
    for (std::uint32_t j = 0; j < 8; ++j) {
      const double bits = philox({i, j, 9 + (4U << 16), 6}, {7, 5})[0];
      const double at = bits * 0x1p-32, past = (bits + 1) * 0x1p-32;
      const std::uint64_t seed = (std::uint64_t(5) << 32) + 7;
      BOOST_TEST((Dropout{at, seed, 9, 4, 6}.keeps(i, j)));
      BOOST_TEST((!Dropout{past, seed, 9, 4, 6}.keeps(i, j)));
      BOOST_TEST((Dropout{0.5}.keeps(i, j) == Dropout{0.5, 0, 0}.keeps(i, j)));
    }
  BOOST_TEST(Dropout{}.p == 0);
}
BOOST_AUTO_TEST_CASE(dropout_output_moments) {
  const Index n = 6, seeds = 20000;
  const VariantParts<double> x{gaussian<double>(1, 4, 1),
                               gaussian<double>(n, 4, 2),
                               gaussian<double>(n, 1, 3)};
  VariantRules r{everything(1, n)};
  const auto f = variant_forward(x, r);
  r.dropout.p = 0.4;
  double sum = 0, square = 0, fourth = 0, variance = 0;
  for (Index j = 0; j < n; ++j)
    variance += 0.4 / 0.6 * std::pow(f.A(0, j) * x.V(j, 0), 2);
  for (Index s = 0; s < seeds; ++s) {
    r.dropout.seed = std::uint64_t(s);
    const Matrix<double> D =
        detail::dropped<double>(f.A.leftCols(n), r, r.mask.whole());
    const double off = (D * x.V - f.O)(0, 0);
    sum += off, square += off * off, fourth += std::pow(off, 4);
  }
  const double N = double(seeds), spread = fourth / N - variance * variance;
  verify(std::abs(sum / N), 5 * std::sqrt(variance / N));
  verify(std::abs(square / N - variance), 5 * std::sqrt(spread / N));
}

// check the buckets
BOOST_AUTO_TEST_CASE(bucket_edges) {
  for (const Index far : {20, 64, 128, 256, 1024})
    for (const Index classes : {8, 16, 32}) {
      const Index E = classes / 2, m = classes - E;
      if (far <= E) continue;
      const Buckets b(false, classes, far);
      for (Index n = 0; n <= 2 * far; ++n) {
        Index exact = n < E ? n : E;
        using Big = boost::multiprecision::cpp_int;
        for (Index k = 1; n >= E && k < m; ++k)
          exact += pow(Big(n), unsigned(m)) >=
                   pow(Big(E), unsigned(m - k)) * pow(Big(far), unsigned(k));
        verify(std::abs(double(b(-n) - exact)), 0);
        verify(std::abs(double(b(n))), 0);
      }
    }
}
BOOST_AUTO_TEST_CASE(buckets_have_sides) {
  const Buckets b;
  for (Index t = 0; t < 300; ++t) {
    verify(std::abs(double(b(t) - b(-t) - (t > 0 ? 16 : 0))), 0);
    verify(b(-t) <= b(-t - 1) ? 0 : 1, 0);
  }
  verify(std::abs(double(b(-127) - 15)) + double(b(-8) != 8), 0);
  BOOST_TEST(b.size() == 32);
  BOOST_TEST((b(-90) == 14 && b(-91) == 15));
  const auto refused = [](bool both, Index count, Index far) {
    BOOST_CHECK_EXCEPTION(Buckets(both, count, far), std::invalid_argument,
                          says("Buckets: count " + std::to_string(count)));
  };
  refused(true, 7, 64);
  refused(true, 2, 64);
  refused(false, 1, 64);
  refused(true, 32, 8);
  BOOST_TEST((Buckets(true, 32, 9).size() == 32 &&
              Buckets(false, 2, 2).size() == 2));
}
BOOST_AUTO_TEST_CASE(bucket_formula) {
  int tried = 0, wrong_float = 0, wrong_double = 0, at = 0;
  for (const Index classes : {8, 16, 32, 64})
    for (Index far = classes; far <= 1024; ++far) {
      const Buckets b(false, classes, far);
      const Index E = classes / 2;
      for (Index n = 0; n <= far; ++n, ++tried) {
        const bool off = rounded_bucket<float>(n, E, E, far) != b(-n);
        wrong_float += off;
        if (off) at = int(n);
        wrong_double += rounded_bucket<double>(n, E, E, far) != b(-n);
      }
    }
  fact("tried", tried);
  fact("float", wrong_float);
  fact("double", wrong_double);
  fact("at", at);
  verify(wrong_double, 0);
}

// check the cache
template <class S>
VariantParts<S> queries_of(const VariantParts<S>& x, Index from, Index to) {
  VariantParts<S> y = x;
  y.Q = x.Q.middleRows(from, to - from);
  return y;
}
/// Adds g to sum; K and V stand at the position `first` in it.
template <class P>
void add_chunk(P& sum, const P& g, Index first, bool magnitude) {
  each_part([&](const std::string& name, auto& into, const auto& part) {
    if (part.size() == 0) return;
    const Index at = name == "K" || name == "V" ? first : 0;
    into.middleRows(at, part.rows()) +=
        magnitude ? Matrix<double>(part.cwiseAbs()) : part;
  }, sum, g);
}
BOOST_AUTO_TEST_CASE(cached_gradients_add_up) {
  const Index N = 8;
  for (unsigned bits = 0; bits <= last_variant; bits += 13)
    for (const Mask& mask : {causal(N, N), window(N, N, 2, 0)}) {
      VariantParts<double> x{{}, {}, {}};
      QuadParts q = draw_parts(N, N, 3, 2, bits, bits), truth = q;
      each_part([](auto, const auto& from, auto& to, auto& back) {
        to = lift<double>(from), back = lift<quad>(to);
      }, q, x, truth);
      const VariantRules r = draw_rules(mask, bits);
      const Matrix<double> dO = gaussian<double>(N, 2, 5);
      const Vector<double> dl = gaussian<double>(N, 1, 6);
      VariantParts<double> sum{{}, {}, {}};
      each_part([](auto, const auto& a, auto& b) {
        b = Matrix<double>::Zero(a.rows(), a.cols());
      }, x, sum);
      VariantParts<double> bound = sum, size = sum;

      // add the gradients of all chunks
      const bool narrow = mask.allows(N - 1, 0) == false;
      KeyValueCache<double> cache(3, 2);
      for (Index i = 0, c = 2; i < N; i += c, c = 1 + c % 3) {
        const Index to = std::min(i + c, N);
        if (narrow) cache.forget_before(i - 2);
        cache.append(x.K.middleRows(i, to - i), x.V.middleRows(i, to - i));
        VariantParts<double> here = queries_of(x, i, to);
        const Matrix<double> w = dO.middleRows(i, to - i);
        const Vector<double> l = dl.segment(i, to - i);
        auto g = decode_vjp(here, r, cache, w, l);
        sum.Q.middleRows(i, to - i) = g.Q;
        const auto [parts, rules] = cut_to_cache(here, r, cache);
        VariantParts<double> there;
        each_part([](auto, const auto& a, auto& b) { b = a; }, parts, there);
        auto e = variant_errors<double>(there, rules, w, l).g;
        bound.Q.middleRows(i, to - i) = e.Q;

        // put the bound of a bias where it was cut
        if (x.bias.size() > 0) {
          Matrix<double> B = Matrix<double>::Zero(x.bias.rows(), x.bias.cols());
          B.block(B.rows() > 1 ? i : 0, B.cols() > 1 ? cache.first() : 0,
                  e.bias.rows(), e.bias.cols()) = e.bias;
          e.bias = B;
        }
        g.Q.resize(0, 3), e.Q.resize(0, 3);
        add_chunk(sum, g, cache.first(), false);
        add_chunk(size, g, cache.first(), true);
        add_chunk(bound, e, cache.first(), false);
      }

      // compare their sum with the gradient of the whole
      const QuadParts exact = variant_vjp<quad>(
          truth, r, variant_forward(truth, r), lift<quad>(dO), lift<quad>(dl));
      each_part([&](auto, const auto& ours, const auto& theirs,
                    const auto& b, const auto& m) {
        if (ours.size() > 0)
          verify(ours, theirs,
                 Matrix<double>(b + gamma(N, 0x1p-53) * (m + b)));
      }, sum, exact, bound, size);
    }
}
BOOST_AUTO_TEST_CASE(window_forgets) {
  const Index N = 200, L = 7;
  const VariantParts<double> x{gaussian<double>(N, 4, 1),
                               gaussian<double>(N, 4, 2),
                               gaussian<double>(N, 3, 3)};
  VariantRules r{window(N, N, L, 0)};
  r.dropout.p = 0.25;
  const auto full = variant_forward(x, r);
  const Matrix<double> bound = 2 * tracked_variant(x, r).O.error;
  KeyValueCache<double> cache(4, 3);
  for (Index i = 0; i < N; ++i) {
    cache.forget_before(i - L);
    cache.append(x.K.row(i), x.V.row(i));
    BOOST_TEST(cache.end() - cache.first() <= L + 1);
    const auto f = decode(queries_of(x, i, i + 1), r, cache);
    verify(f.O, lift<quad>(full.O.row(i)), bound.row(i));
  }
  BOOST_CHECK_EXCEPTION(cache.append(x.K.row(0), x.V.topRows(2)),
                        std::invalid_argument, says("append 1x4 and 2x3"));
  BOOST_CHECK_EXCEPTION(cache.append(x.V.row(0), x.V.row(0)),
                        std::invalid_argument, says("append 1x3 and 1x3"));
  BOOST_CHECK_EXCEPTION(cache.append(x.K.row(0), x.K.row(0)),
                        std::invalid_argument, says("append 1x4 and 1x4"));
  BOOST_CHECK_EXCEPTION(decode(x, r, KeyValueCache<double>(4, 3)),
                        std::invalid_argument,
                        says("decode: 200 queries"));
  cache.forget_before(N - L);
  BOOST_CHECK_EXCEPTION(decode(queries_of(x, N - 1, N), r, cache),
                        std::invalid_argument,
                        says("before row 193 are allowed"));
  cache.append(x.K.row(0), x.V.row(0));
  BOOST_CHECK_EXCEPTION(decode(queries_of(x, 0, 1), r, cache),
                        std::invalid_argument,
                        says("decode: 1 queries"));
}
BOOST_AUTO_TEST_CASE(rotated_keys_are_cached) {
  const Index N = 12, d = 4;
  const Rotary<quad> R{frequencies<quad>(d)};
  const Matrix<quad> W = gaussian<quad>(d, d, 9);
  const Matrix<quad> g = W.transpose() * W;
  QuadParts x = draw_parts(N, N, d, 2, 0, 5);
  const Matrix<quad> Q = x.Q, K = x.K;
  x.Q = rotate<quad>(Q, R), x.K = rotate<quad>(K, R) * g;
  const VariantRules r{causal(N, N)};
  const auto full = variant_forward(x, r);
  KeyValueCache<quad> cache(d, 2);
  for (Index i = 0; i < N; ++i) {
    cache.append(rotate<quad>(K.row(i), R, cache.end()) * g, x.V.row(i));
    QuadParts q = x;
    q.Q = rotate<quad>(Q.row(i), R, i);
    verify(distance(decode(q, r, cache).O, full.O.row(i)), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(what_breaks_a_cache) {
  const Index N = 16, d = 4;
  const QuadParts x = draw_parts(N, N, d, 2, 0, 5);
  const auto last_of_half = [&](const Mask& mask) {
    KeyValueCache<quad> cache(d, 2);
    cache.append(x.K.topRows(N / 2), x.V.topRows(N / 2));
    const VariantRules r{mask};
    const auto f = decode(queries_of(x, 0, N / 2), r, cache);
    return distance(f.O, variant_forward(x, r).O.topRows(N / 2));
  };
  verify(last_of_half(causal(N, N)), 1e-31);
  fact("both", last_of_half(window(N, N, 3, 3)));
  refute(last_of_half(window(N, N, 3, 3)), 1e-2);

  // decode with frequencies of another length
  const Rotary<quad> now{frequencies<quad>(d, 1e4 * 4)};
  const Rotary<quad> then{frequencies<quad>(d)};
  QuadParts y = x;
  y.Q = rotate<quad>(x.Q, now), y.K = rotate<quad>(x.K, now);
  QuadParts stale = y;
  stale.K.topRows(N / 2) = rotate<quad>(x.K.topRows(N / 2), then);
  const VariantRules r{causal(N, N)};
  const double dynamic =
      distance(variant_forward(y, r).O.bottomRows(1),
             variant_forward(stale, r).O.bottomRows(1));
  fact("dynamic", dynamic);
  refute(dynamic, 1e-4);

  // decode with the mask at the top left
  QuadParts one = queries_of(x, N - 1, N);
  const auto right = variant_forward(one, {causal(1, N)});
  const auto wrong = variant_forward(one, {causal(1, N, 0)});
  const auto full = variant_forward(x, r);
  verify(distance(right.O, full.O.bottomRows(1)), 1e-31);
  fact("aligned", distance(wrong.O, full.O.bottomRows(1)));
  refute(distance(wrong.O, full.O.bottomRows(1)), 1e-2);
}

// check decoding in chunks
BOOST_AUTO_TEST_CASE(any_partition_decodes) {
  const Index N = 9;
  for (unsigned bits = 0; bits <= last_variant; bits += 5)
    for (const Mask& mask :
         {causal(N, N), causal(N, N) & strided(N, N, 2),
          causal(N, N) & (window(N, N, 2, 0) | global_tokens(N, N, 1))}) {
      const QuadParts x = draw_parts(N, N, 2, 2, bits, bits);
      const VariantRules r = draw_rules(mask, bits);
      const auto full = variant_forward(x, r);
      KeyValueCache<quad> cache(2, 2);
      for (Index i = 0, c = 1; i < N; i += c, c = 1 + (c + bits) % 3) {
        const Index to = std::min(i + c, N);
        cache.append(x.K.middleRows(i, to - i), x.V.middleRows(i, to - i));
        const auto f = decode(queries_of(x, i, to), r, cache);
        verify(distance(f.O, full.O.middleRows(i, to - i)), 1e-31);
      }
    }
}

// check errata about variants
BOOST_AUTO_TEST_CASE(work_of_the_benchmark) {
  const Index n = 1024, b = 64;
  const auto visited = [&](const Mask& m) {
    const Census c = census(m, b);
    return double(c.some + c.all) / double(n / b * n / b);
  };
  fact("causal", visited(causal(n, n)));
  fact("window", visited(window(n, n, 127, 0)));
  verify(std::abs(visited(causal(n, n)) - 17.0 / 32), 0);
  verify(std::abs(visited(window(n, n, 127, 0)) - 45.0 / 256), 0);
}
BOOST_AUTO_TEST_CASE(alignment_of_causal_masks) {
  const Index N = 10;
  QuadParts x = draw_parts(N, N, 3, 2, 0, 1);
  const auto full = variant_forward(x, {causal(N, N)});
  x.Q = x.Q.bottomRows(1).eval();
  const auto printed = variant_forward(x, {causal(1, N, 0)});
  const double off = distance(printed.O, full.O.bottomRows(1));
  fact("off", off);
  refute(off, 0.1);
  verify(distance(variant_forward(x, {causal(1, N)}).O, full.O.bottomRows(1)),
         1e-31);
}
BOOST_AUTO_TEST_CASE(mask_by_multiplication) {
  const Matrix<double> S = gaussian<double>(4, 4, 1);
  Matrix<double> M = Matrix<double>::Zero(4, 4);
  M.triangularView<Eigen::Lower>().setOnes();
  const Matrix<double> printed = S.array() + (1 - M.array()) * -inf;
  fact("nans", int(printed.array().isNaN().count()));
  fact("entries", int(S.size()));
  refute(double(softmax(printed).array().isNaN().count()), 16);
  const VariantParts<double> x{S, Matrix<double>::Identity(4, 4),
                               Matrix<double>::Identity(4, 4)};
  verify(double(variant_forward(x, {causal(4, 4)}).O.array().isNaN()
                    .count()), 0);
}
BOOST_AUTO_TEST_CASE(mask_by_a_large_number) {
  const Matrix<double> empty = softmax(Matrix<double>{{-1e9, -1e9, -1e9}});
  refute(empty.sum(), 1);
  const Matrix<double> lost = softmax(Matrix<double>{{-2e9, -1e9}});
  fact("kept", lost(0));
  refute(lost(1), 1);
  refute(std::isinf(static_cast<float>(Eigen::half(-1e9f))) ? inf : 0, 1);
  VariantParts<double> x{Matrix<double>{{1}}, Matrix<double>{{-2e9}, {5}},
                         Matrix<double>{{3}, {7}}};
  const auto f = variant_forward(x, {causal(1, 2, 0)});
  verify(std::abs(f.A(0, 0) - 1) + std::abs(f.A(0, 1)), 0);
  verify(std::abs(f.O(0, 0) - 3), 0);
  verify(std::abs(variant_forward(x, {!everything(1, 2)}).O(0, 0)), 0);
}
BOOST_AUTO_TEST_CASE(printed_relative_attention) {
  const Index n = 5;
  QuadParts x = draw_parts(n, n, 3, 2, 8, 2);
  x.rel_keys = gaussian<quad>(2 * n - 1, 3, 4);
  const VariantRules r{everything(n, n)};
  const Matrix<quad> truth = literal(x, r).O;
  verify(distance(variant_forward(x, r).O, truth), 1e-31);
  QuadParts without = x, turned = x;
  without.rel_values.resize(0, 0);
  turned.rel_keys = x.rel_keys.colwise().reverse().eval();
  fact("values", distance(variant_forward(without, r).O, truth));
  fact("sign", distance(variant_forward(turned, r).O, truth));
  refute(distance(variant_forward(without, r).O, truth), 0.1);
  refute(distance(variant_forward(turned, r).O, truth), 0.1);
}
BOOST_AUTO_TEST_CASE(unscaled_scores) {
  QuadParts x = draw_parts(3, 5, 16, 2, 33, 4);
  x.scale.setConstant(quad(1));
  const VariantRules r = draw_rules(everything(3, 5), 33);
  const auto f = variant_forward(x, r);
  verify(distance(f.A.leftCols(5), literal(x, r).A), 1e-31);
  QuadParts printed = x;
  printed.scale.resize(0, 0);
  fact("off", distance(variant_forward(printed, r).A, f.A));
  refute(distance(variant_forward(printed, r).A, f.A), 0.1);
}
BOOST_AUTO_TEST_CASE(patterns_are_unions) {
  const Index n = 12;
  const Mask w = window(n, n, 1, 1), g = global_tokens(n, n, 2);
  const auto as_int = [](const Mask& m) {
    return Eigen::MatrixXi(dense(m).cast<int>());
  };
  const auto twos = ((as_int(w) + as_int(g)).array() == 2).count();
  const Mask text = where(n, n, [](Index, Index j) { return j % 3 == 0; });
  const auto differ = (as_int(text).array() !=
                       as_int(strided(n, n, 3)).array()).count();
  const Index local = count(window(n, n, 4, 4)) - count(window(n, n, 2, 2));
  fact("local", int(local));
  refute(double(local), 1);
  fact("twos", int(twos));
  fact("strided", int(differ));
  refute(double(twos), 1);
  refute(double(differ), 1);
  verify(double((as_int(w | g).array() !=
                 (as_int(w) + as_int(g)).array().min(1)).count()), 0);
}

// check the answers about variants
BOOST_AUTO_TEST_CASE(answer_cap) {
  for (const double X : {-9.0, -1.0, -0.01, 0.3, 2.0, 40.0})
    for (const double c : {0.5, 2.0, 30.0}) {
      const quad slope = derivative(
          [&](const Dual<quad>& z) {
            return Dual<quad>(z * tanh(Dual<quad>(quad(X)) / z));
          }, quad(c));
      const quad y = quad(X) / quad(c);
      const quad ours = tanh(y) - y / cosh(y) / cosh(y);
      verify(to_double(abs(slope - ours)), 1e-32);
      if (std::abs(X / c) < 0.1)
        verify(to_double(abs(ours / (2 * y * y * y / 3) - 1)),
               to_double(y * y));
    }
}
BOOST_AUTO_TEST_CASE(answer_prefix) {
  const Index N = 9, l = 4;
  const Mask m = causal(N, N) | padding(N, N, l, l);
  verify(std::abs(double(count(m) - (N * (N + 1) / 2 + l * (l - 1) / 2))),
         0);
  const QuadParts x = draw_parts(N, N, 2, 2, 64, 3);
  const VariantRules r = draw_rules(m, 64);
  const auto full = variant_forward(x, r);
  KeyValueCache<quad> cache(2, 2);
  for (Index i = 0, to = l; i < N; i = to, to = i + 1) {
    cache.append(x.K.middleRows(i, to - i), x.V.middleRows(i, to - i));
    const auto f = decode(queries_of(x, i, to), r, cache);
    verify(distance(f.O, full.O.middleRows(i, to - i)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(answer_packed) {
  const std::vector<Index> id{0, 1, 2, 0, 1, 0, 1, 2, 3};
  const std::vector<Index> document{0, 0, 0, 1, 1, 2, 2, 2, 2};
  const Positions at{Places(id), Places(id)};
  QuadParts x = draw_parts(9, 9, 4, 2, 64, 1);
  const QuadParts bare = x;
  const Rotary<quad> R{frequencies<quad>(4)};
  x.Q = rotate(bare.Q, R, at.q), x.K = rotate(bare.K, R, at.k);
  const VariantRules r{causal(at) & segments(document, document)};
  const auto O = variant_forward(x, r).O;
  for (const auto& [from, n] : {std::pair<Index, Index>{0, 3}, {3, 2},
                                {5, 4}}) {
    QuadParts one = queries_of(bare, from, from + n);
    one.Q = rotate(one.Q, R);
    one.K = rotate(bare.K.middleRows(from, n), R);
    one.V = bare.V.middleRows(from, n);
    verify(distance(variant_forward(one, {causal(n, n)}).O,
                    O.middleRows(from, n)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(answer_sink) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    QuadParts x = draw_parts(3, 5, 2, 2, 128, seed), y = x;
    y.sink.resize(0, 0);
    const VariantRules r{causal(3, 5)};
    const auto f = variant_forward(x, r), f0 = variant_forward(y, r);
    const Matrix<quad> dO = gaussian<quad>(3, 2, seed, "dO");
    quad d = 0;
    for (Index i = 0; i < 3; ++i) {
      const quad phi = 1 / (1 + exp(x.sink(0) - f0.logZ(i)));
      verify(distance(f.O.row(i), phi * f0.O.row(i)), 1e-31);
      d -= phi * (1 - phi) * quad(dO.row(i).dot(f0.O.row(i)));
    }
    verify(to_double(abs(variant_vjp(x, r, f, dO).sink(0) - d)), 1e-31);
  }
}
BOOST_AUTO_TEST_CASE(answer_recency) {
  for (const unsigned sink : {0, 128}) {
    QuadParts x = draw_parts(5, 5, 2, 2, 64 | sink, 1), y = x;
    y.slope.resize(0, 0);
    y.bias.resize(1, 5);
    for (Index j = 0; j < 5; ++j) y.bias(j) = x.slope(0) * quad(double(j));
    const VariantRules past{causal(5, 5)}, all{everything(5, 5)};
    const auto off = [&](const VariantRules& r) {
      return distance(variant_forward(x, r).A, variant_forward(y, r).A);
    };
    if (sink) refute(off(past), 1e-3);
    else verify(off(past), 1e-31);
    refute(off(all), 1e-3);
  }
}
BOOST_AUTO_TEST_CASE(answer_gauge_of_a_sink) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    QuadParts x = draw_parts(3, 5, 2, 2, 128, seed);
    x.bias = Matrix<quad>::Zero(3, 1);
    const VariantRules r{causal(3, 5)};
    const auto f = variant_forward(x, r);
    const Matrix<quad> dO = gaussian<quad>(3, 2, seed, "dO");
    const Matrix<quad> g = variant_vjp(x, r, f, dO).bias;
    for (Index i = 0; i < 3; ++i)
      verify(distance(g(i), f.A(i, 5) * quad(dO.row(i).dot(f.O.row(i)))),
             1e-31);
  }
}
BOOST_AUTO_TEST_SUITE_END()
