// bench/flash_bench.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -fopenmp
// quick: --benchmark_repetitions=3
#include "flash_probe.hpp"
#include "attn/linear.hpp"
#include <chrono>
#include <omp.h>

// attend as a user of Eigen does
template <class T>
Matrix<T> naive(const Problem<T>& p, bool causal, bool by_rows) {
  const Index n = p.Q.rows();
  Matrix<T> S = p.Q * p.K.transpose() / std::sqrt(T(p.Q.cols()));
  if (causal)
    for (Index i = 0; i < n; ++i)
      S.row(i).tail(n - i - 1).setConstant(-INFINITY);
  if (by_rows)
    for (Index i = 0; i < n; ++i)
      S.row(i) = (S.row(i).array() - S.row(i).maxCoeff()).exp();
  else
    S = (S.colwise() - S.rowwise().maxCoeff().eval()).array().exp();
  S.array().colwise() /= S.rowwise().sum().array().eval();
  return S * p.V;
}

// attend with the whole matrix in lanes
template <class T>
Matrix<T> stored(const Problem<T>& p, bool causal) {
  using L = detail::Lane<T>;
  const Index n = p.Q.rows(), w = detail::lanes<T>, groups = (n + w - 1) / w;
  Matrix<T> O(n, p.V.cols());
  const FlashHead<T> h{view_in<T>(p.Q), view_in<T>(p.K), view_in<T>(p.V),
                       view_out(O), nullptr, masked<T>(causal)};
  const detail::Plan<T> plan("stored", h);
  static std::vector<L> S;  // kept from call to call
  S.resize(std::size_t(groups * n));
  detail::Group<T> g;
  g.x.resize(std::size_t(p.Q.cols())), g.o.resize(std::size_t(p.V.cols()));

  // write the scores, then the weights, then the outputs
  const auto rows = [&](Index k) {
    return [s = S.data() + k * n](Index j) -> L& { return s[j]; };
  };
  const auto each = [&](auto f) {
    for (Index k = 0; k < groups; ++k)
      detail::start_group(g, plan, detail::some_rows(h.Q, k * w,
                          std::min(w, n - k * w)), k * w), f(k);
  };
  each([&](Index k) {
    detail::product<L>(h.K, detail::lane_of(g.x), rows(k), detail::from_zero);
    detail::finish_scores(plan, S.data() + k * n, g.q, g.n, 0, n);
  });
  std::vector<L> sums(std::size_t(groups), L::Zero());
  for (Index k = 0; k < groups; ++k)

    // turn one group's scores into weights
    {
      const auto s = rows(k);
      L top = s(0);
      for (Index j = 1; j < n; ++j) top = top.max(s(j));
      detail::exp2_lanes(&s(0), n, top);
      for (Index j = 0; j < n; ++j) sums[std::size_t(k)] += s(j);
    }
  each([&](Index k) {
    detail::product<L>(h.V.transpose(), rows(k), detail::lane_of(g.o),
                       detail::from_zero);
    g.l = sums[std::size_t(k)];
    detail::finish_group(g, detail::some_rows(h.O, g.q, g.n));
  });
  return O;
}

// attend in blocks of products
template <class T>
Matrix<T> products(const Problem<T>& p, bool causal) {
  const Index n = p.Q.rows(), d = p.V.cols(), rows = 256, keys = 512;
  Matrix<T> O = Matrix<T>::Zero(n, d), S(rows, keys);
  const T scale = 1 / std::sqrt(T(p.Q.cols()));
  for (Index q = 0; q < n; q += rows) {
    const Index nq = std::min(rows, n - q);
    Vector<T> m = Vector<T>::Constant(nq, -INFINITY);
    Vector<T> l = Vector<T>::Zero(nq);
    for (Index j = 0; j < (causal ? q + nq : n); j += keys) {
      const Index nk = std::min(keys, n - j);
      auto s = S.topLeftCorner(nq, nk);
      s.noalias() = scale * p.Q.middleRows(q, nq) *
                    p.K.middleRows(j, nk).transpose();

      // merge one block of products
      if (causal)
        for (Index i = std::max<Index>(0, j - q); i < nq; ++i)
          s.row(i).tail(std::clamp<Index>(j + nk - q - i - 1, 0, nk))
              .setConstant(-INFINITY);
      const Vector<T> top = m.cwiseMax(s.rowwise().maxCoeff());
      for (Index i = 0; i < nq; ++i)
        s.row(i) = (s.row(i).array() - top(i)).exp();
      const Vector<T> a = (m - top).array().exp();
      l = l.cwiseProduct(a) + s.rowwise().sum();
      O.middleRows(q, nq) = a.asDiagonal() * O.middleRows(q, nq);
      O.middleRows(q, nq).noalias() += s * p.V.middleRows(j, nk);
      m = top;
    }
    O.middleRows(q, nq).array().colwise() /= l.array();
  }
  return O;
}

// time both directions
/// Heads, queries, features; pairs that meet; the rule.
template <class T>
struct Size {
  Index H, n, d;
  double met;
  FlashRule<T> rule{};
};
template <class T>
Size<T> size(Index H, Index n, Index d, bool causal) {
  return {H, n, d, pairs(double(n), causal), masked<T>(causal)};
}
template <class T>
void forward(benchmark::State& state, const Size<T>& s) {
  Ours<T> x(s.H, s.n, s.d, s.rule);
  x.forward();
  for (const auto& p : x.p)
    if (first_time && !outputs_right(p, s.rule, p.O))
      return state.SkipWithError("wrong output");
  run<T>(state, 4 * double(s.H * s.d) * s.met, [&] { x.forward(); });
}
template <class T>
void backward(benchmark::State& state, const Size<T>& s) {
  Ours<T> x(s.H, s.n, s.d, s.rule);
  x.forward(), x.backward();
  for (const auto& p : x.p)
    if (first_time && !cotangents_right(p, s.rule))
      return state.SkipWithError("wrong cotangents");
  run<T>(state, 10 * double(s.H * s.d) * s.met, [&] { x.backward(); });
}
static Matrix<float> four_lines(const Problem<float>& p, bool causal) {
  return naive(p, causal, false);
}
static Matrix<float> row_by_row(const Problem<float>& p, bool causal) {
  return naive(p, causal, true);
}
template <auto f>
void user(benchmark::State& state, Index n, bool causal) {
  peer(state, 1, n, causal, [](const auto& p, bool c, Matrix<float>& O) {
    O = f(p, c);
  });
}

// time the exponential and the peak
static void exponentials(benchmark::State& state) {
  double gflops = 0, gexps = 0, ceiling = 0;
  for (auto _ : state) {
    const double F = peak<float>(), X = exp_rate();
    gflops += 1e-9 * F, gexps += 1e-9 * X;
    ceiling += 1 / (1 + F / (256 * X));
  }
  using benchmark::Counter;
  state.counters["gflops"] = Counter(gflops, Counter::kAvgIterations);
  state.counters["gexps"] = Counter(gexps, Counter::kAvgIterations);
  state.counters["ceiling"] = Counter(ceiling, Counter::kAvgIterations);
}
#if defined(__AVX512F__) && !defined(__clang__)
[[gnu::target("prefer-vector-width=512")]]
#endif
[[gnu::noinline]] static void powers_singly(float* x, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = attn::exp2(x[i] - 1);
}
template <bool singly>
void powers(benchmark::State& state) {
  using L = detail::Lane<float>;
  const L x = L::LinSpaced(-20, 0), top = L::Ones();
  std::vector<L> s(128, x);
  const auto powers = [&](int rounds) {
    while (rounds-- > 0)
      if (singly) powers_singly(s[0].data(), 128 * detail::lanes<float>);
      else detail::exp2_lanes(s.data(), 128, top);
    keep(s.data());
  };
  powers(1);
  for (const L& y : s)
    for (Index i = 0; i < y.size(); ++i)
      if (!near(y[i] / std::exp2(x[i] - 1), 1))
        return state.SkipWithError("wrong powers");
  run<float>(state, 0, [&] { powers(200); });
}
static void peaks(benchmark::State& state) {
  double F = 0;
  for (auto _ : state) F += 1e-9 * peak<float>();
  state.counters["gflops"] =
      benchmark::Counter(F, benchmark::Counter::kAvgIterations);
}

// time decoding against reading
struct Cache {
  static constexpr Index n = 1 << 19, d = 64, part = n / 64;
  Matrix<float> K{n, d}, V{n, d};
  std::vector<Page<float>> pages{{view_in<float>(K), view_in<float>(V)}};
  Cache() {
    const auto k = gaussian<float>(part, d, 1), v = gaussian<float>(part, d, 2);
    for (Index j = 0; j < n; j += part) {
      const float size = 0.75f + float(j) / float(2 * n);
      K.middleRows(j, part) = size * k, V.middleRows(j, part) = size * v;
    }
  }
};
static void reading(benchmark::State& state, bool from_two_places) {
  const Cache c;
  run<float>(state, 2.0 * double(c.n * c.d), [&] {
    benchmark::DoNotOptimize(
        from_two_places ? total(c.K.data(), c.K.size()) +
                              total(c.V.data(), c.V.size())
                        : c.K.sum() + c.V.sum());
  });
}
static void few_decoding(benchmark::State& state, Index heads, bool at_once) {
  const Cache c;
  const Problem<float> p(gaussian<float>(heads, c.d, 3), c.K, c.V);
  FlashRule<float> rule;
  rule.share = heads;
  std::vector<Online<float>> states;
  const auto attend = [&] {
    if (at_once) states = decode<float>(p.Q, c.pages, rule);
    else states.clear();
    for (Index h = std::ssize(states); h < heads; ++h)
      states.push_back(decode<float>(RowVector<float>(p.Q.row(h)), c.pages));
    keep(states.data());
  };
  attend();
  for (Index h = 0; first_time && h < heads; ++h) {
    const auto& x = states[std::size_t(h)];
    const Row t = row_truth<float>(p, {}, h);
    if (!near(x.output(), t.O) || !near(x.logZ(), t.L))
      return state.SkipWithError("wrong output");
  }
  run<float>(state, 4.0 * double(heads * c.n * c.d), attend);
}

// time biases and masks of pairs
static void pairs(benchmark::State& state, bool biased, bool masked) {
  const Index n = 1024, d = 64;
  const auto Q = gaussian<float>(n, d, 1), K = gaussian<float>(n, d, 2);
  const auto V = gaussian<float>(n, d, 3), B = gaussian<float>(n, n, 4);
  const Matrix<bool> keep = B.array() > 0;
  FlashRule<float> rule;
  if (biased) rule.bias = &B;
  if (masked) rule.keep = &keep;
  Matrix<float> O(n, d);
  const FlashHead<float> h{view_in<float>(Q), view_in<float>(K),
                           view_in<float>(V), view_out(O), nullptr, rule};
  const auto attend = [&] { flash_forward<float>({&h, 1}); };
  attend();
  for (const Index i : {Index(0), n - 1})

    // compare a row of pairs with its definition
    {
      RowVector<double> s = (lift<double>(K) * lift<double>(Q).row(i).transpose())
                                .transpose() / 8;
      if (biased) s += lift<double>(B).row(i);
      RowVector<double> A = (s.array() - s.maxCoeff()).exp();
      if (masked) A = A.cwiseProduct(keep.row(i).cast<double>());
      if (!near(O.row(i), RowVector<double>(A / A.sum() * lift<double>(V))))
        return state.SkipWithError("wrong output");
    }
  run<float>(state, 4.0 * double(n * n * d), attend);
}

// time few queries in lanes and in rows
enum class By { tiles, rows };
template <class T>
void by_tiles(const std::vector<FlashHead<T>>& heads) {
  const auto& f = heads.front();
  detail::ForwardWork<T> work(f.rule.groups, f.rule.key_block, f.K.cols(),
                              f.V.cols(), detail::lanes<T>);
  const std::size_t n = f.K.data() == heads.back().K.data() ? heads.size() : 1;
  for (std::size_t h = 0; h < heads.size(); h += n) {
    detail::Plan<T> plan("flash", heads[h]);
    plan.queries *= Index(n), plan.rule.share = Index(n);
    for (Index i = 0; i < plan.queries; i += plan.sweep())
      detail::forward_sweep<T>({&heads[h], n}, plan, i, work);
  }
}
template <class T>
void by_rows(const std::vector<FlashHead<T>>& heads) {
  const auto& f = heads.front();
  const Index n = f.Q.rows(), H = std::ssize(heads);
  const Index turn = f.K.data() == heads.back().K.data()
                         ? std::clamp<Index>(32 / n, 1, H) : 1;
  std::vector<detail::Plan<T>> plans;
  for (const auto& h : heads) plans.emplace_back("flash", h);
  detail::FewWork<T> work(turn * n, f.rule.key_block, f.K.cols(), f.V.cols());
  for (Index h = 0; h < H; h += turn)
    detail::forward_few<T>({heads.data() + h, std::size_t(turn)},
                           plans.data() + h, work);
}
static void few_forward(benchmark::State& state, Index n, Index kv, By way) {
  const Index H = 8, d = 64, m = 2048;
  const auto Q = gaussian<float>(n, H * d, 1);
  const auto K = gaussian<float>(m, kv * d, 2);
  const auto V = gaussian<float>(m, kv * d, 3);
  HeadsOutput<float> y{Matrix<float>(n, H * d), Matrix<float>(H, n)};
  const FlashHeads<float> many{H, kv};
  auto lie = detail::heads_in(Q, K, V, y, many);
  const auto heads = detail::list_heads(lie, y, many);
  const auto attend = [&] {
    way == By::rows ? by_rows(heads) : by_tiles(heads);
  };
  attend();
  for (const auto& h : heads)
    for (const Index i : {Index(0), n - 1})
      if (!near(h.O.row(i),
                row_truth<float>({h.Q.row(i), h.K, h.V}, {}, 0).O))
        return state.SkipWithError("wrong output");
  run<float>(state, 4.0 * double(H * n * m * d), attend);
}

// time products by other tiles
template <int rows, bool singly>
void tiles(benchmark::State& state) {
  using detail::product_rows, detail::from_zero, detail::lane_of;
  const auto K = gaussian<float>(128, 64, 1), V = gaussian<float>(128, 64, 2);
  detail::Lanes<float> x(64), s(128), o(64);
  for (auto& v : x) v = detail::Lane<float>::Random() / 8;
  const auto by = [&](const auto& a, auto from, auto to) {
    using L = detail::Lane<float>;
    Index r = 0;
    for (; r + rows <= a.rows(); r += rows)
      product_rows<rows, L>(a, r, from, to, from_zero);
    for (; !singly && r + 4 <= a.rows(); r += 4)
      product_rows<4, L>(a, r, from, to, from_zero);
    for (; !singly && r + 2 <= a.rows(); r += 2)
      product_rows<2, L>(a, r, from, to, from_zero);
    for (; r < a.rows(); ++r) product_rows<1, L>(a, r, from, to, from_zero);
  };

  // compare the products of a block
  const auto products = [&] {
    by(K, lane_of(x), lane_of(s));
    by(V.transpose(), lane_of(s), lane_of(o));
    keep(o.data());
  };
  products();
  if (!near(detail::table(o),
            lift<double>(V).transpose() *
                (lift<double>(K) * detail::table(x).cast<double>())))
    return state.SkipWithError("wrong products");
  run<float>(state, 2.0 * 2 * 128 * 64 * detail::lanes<float> * 100, [&] {
    for (int k = 0; k < 100; ++k) products();
  });
}

// time what is not the kernel
static void linear(benchmark::State& state) {
  const Index n = 16384, d = 64;
  const Problem<float> p(n, d, 1);

  // compare linear attention with its definition
  const Matrix<float> phi = elu_features(p.Q), psi = elu_features(p.K);
  const Matrix<float> O = causal_linear_attention(phi, psi, p.V);
  for (const Index i : some_of(n)) {
    const Vector<double> w = psi.topRows(i + 1).cast<double>() *
                             phi.row(i).cast<double>().transpose();
    const RowVector<double> o =
        w.transpose() * p.V.topRows(i + 1).cast<double>() / w.sum();
    if (!near(O.row(i), o)) return state.SkipWithError("wrong output");
  }
  run<float>(state, 1, [&] {
    benchmark::DoNotOptimize(
        causal_linear_attention(elu_features(p.Q), elu_features(p.K), p.V)
            .sum());
  });
}
template <bool squares>
void transposition(benchmark::State& state) {
  const auto Q = gaussian<float>(detail::lanes<float>, 64, 1);
  detail::Lanes<float> x(64);
  run<float>(state, 1, [&] {
    for (int k = 0; k < 1000; ++k, keep(x.data()))
      if (squares) detail::transpose_into(Q, detail::table(x));
      else detail::table(x) = Q.transpose();
  });
  if (detail::table(x) != Q.transpose())
    state.SkipWithError("wrong transpose");
}

// time threads by the clock on the wall
static void threads(benchmark::State& state, int count) {
  const Index n = 2048, d = 64, H = 8;
  const auto Q = gaussian<float>(n, H * d, 1), K = gaussian<float>(n, H * d, 2);
  const auto V = gaussian<float>(n, H * d, 3);
  omp_set_num_threads(count);

  // compare the heads of several threads
  const auto y = flash(Q, K, V, FlashHeads<float>{H, H});
  for (Index h = 0; h < H; ++h) {
    const auto its = [&](const Matrix<float>& m) {
      return Matrix<float>(m.middleCols(h * d, d));
    };
    Problem<float> p(its(Q), its(K), its(V));
    p.logZ = y.logZ.row(h);
    if (first_time && !outputs_right(p, {}, its(y.O)))
      state.SkipWithError("wrong output");
  }
  double seconds = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(flash(Q, K, V, FlashHeads<float>{H, H}).O.sum());
    seconds += std::chrono::duration<double>(
        std::chrono::steady_clock::now() - start).count();
  }
  omp_set_num_threads(1);
  state.counters["ms"] =
      benchmark::Counter(1e3 * seconds, benchmark::Counter::kAvgIterations);
}

// register the benchmarks of attention
template <class F>
void add(const std::string& name, F f) {
  benchmark::RegisterBenchmark(
      ("flash/" + name).c_str(),
      [f, seen = false, wrong = false](benchmark::State& state) mutable {
        if (wrong) return state.SkipWithError("wrong before");
        first_time = !seen;
        f(state);
        seen = true, wrong = state.error_occurred();
      });
}
static const int registered = [] {
  omp_set_num_threads(1);
  keep_memory();
  for (const Index n : {512, 4096})
    for (const bool c : {false, true}) {
      const std::string s = std::to_string(n) + (c ? "/causal" : "/full");
      const auto eight = size<float>(8, n, 64, c);
      const auto one = size<float>(1, n, 64, c);
      add("forward/" + s, [=](auto& t) { forward<float>(t, eight); });
      add("backward/" + s, [=](auto& t) { backward<float>(t, eight); });
      add("single/" + s, [=](auto& t) { forward<float>(t, one); });
      add("naive/" + s, [=](auto& t) { user<four_lines>(t, n, c); });
      add("by_rows/" + s, [=](auto& t) { user<row_by_row>(t, n, c); });
      add("stored/" + s, [=](auto& t) { user<stored<float>>(t, n, c); });
      add("products/" + s, [=](auto& t) { user<products<float>>(t, n, c); });
    }

  // register other sizes
  for (const Index n : {2048, 4096})
    add("d128/" + std::to_string(n),
        [=](auto& t) { forward<float>(t, size<float>(8, n, 128, false)); });
  add("double/forward",
      [](auto& t) { forward<double>(t, size<double>(8, 2048, 64, false)); });
  add("double/backward",
      [](auto& t) { backward<double>(t, size<double>(8, 2048, 64, false)); });
  for (const bool c : {false, true})
    add(c ? "long/8192/causal" : "long/8192/full",
        [=](auto& t) { forward<float>(t, size<float>(1, 8192, 64, c)); });
  add("long/16384/causal",
      [=](auto& t) { forward<float>(t, size<float>(1, 16384, 64, true)); });
  add("linear/16384/causal", linear);
  for (const Index n : {4096, 8192, 16384})
    add("window/" + std::to_string(n), [=](auto& t) {
      Size<float> s{1, n, 64, 512.0 * double(n), causal_rule<float>()};
      s.rule.left = 511;
      forward<float>(t, s);
    });

  // register other tiles
  for (const Index b : {32, 64, 128, 512})
    add("block/" + std::to_string(b), [=](auto& t) {
      Size<float> s = size<float>(1, 4096, 64, false);
      s.rule.key_block = b;
      forward<float>(t, s);
    });
  for (const Index g : {1, 4, 8, 16}) {
    add("groups/" + std::to_string(g), [=](auto& t) {
      Size<float> s = size<float>(1, 4096, 64, false);
      s.rule.groups = g;
      forward<float>(t, s);
    });
    add("groups/back/" + std::to_string(g), [=](auto& t) {
      Size<float> s = size<float>(1, 4096, 128, false);
      s.rule.groups = g;
      backward<float>(t, s);
    });
  }
  add("transpose/squares", transposition<true>);
  add("transpose/singly", transposition<false>);

  // register the limits
  for (const int k : {1, 2})
    add("threads/" + std::to_string(k), [=](auto& t) { threads(t, k); });
  add("tile/six", tiles<6, false>);
  add("tile/four", tiles<4, false>);
  add("tile/singly", tiles<6, true>);
  benchmark::RegisterBenchmark("flash/peak", peaks);
  benchmark::RegisterBenchmark("flash/exp2", exponentials);
  add("decode", [](auto& t) { few_decoding(t, 1, false); });
  add("decode/group", [](auto& t) { few_decoding(t, 8, true); });
  add("decode/one_by_one", [](auto& t) { few_decoding(t, 8, false); });
  for (const Index n : {1, 2, 4, 8, 16, 32})
    add("few/" + std::to_string(n),
        [n](auto& t) { few_decoding(t, n, true); });
  add("read", [](auto& t) { reading(t, false); });
  add("few/read", [](auto& t) { reading(t, true); });

  // register few queries of the forward pass
  for (const Index n : {1, 2, 4, 8, 16, 32, 64})
    for (const bool own : {true, false})
      for (const bool rows : {false, true})
        add(std::string("turn/") + (own ? "own/" : "shared/") +
                (rows ? "rows/" : "tiles/") + std::to_string(n),
            [=](auto& t) {
              few_forward(t, n, own ? 8 : 1, rows ? By::rows : By::tiles);
            });
  add("pairs/none", [](auto& t) { pairs(t, false, false); });
  add("pairs/bias", [](auto& t) { pairs(t, true, false); });
  add("pairs/keep", [](auto& t) { pairs(t, false, true); });
  benchmark::RegisterBenchmark("flash/exp2/lanes", powers<false>);
  benchmark::RegisterBenchmark("flash/exp2/singly", powers<true>);
  return 0;
}();
