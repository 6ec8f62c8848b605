// tests/doors_kernel_test.cpp: tangled from chapters/10a-doors-checks.nw; edit that file, not this one.
// flags: -Ibuild/src/c -pthread -ldl -Wl,-rpath,$ORIGIN/../../c
#include "prelude.hpp"
#include "verify.hpp"

// include what the doors are held against
#include "attn.h"
#include "attn/flash.hpp"
#include "attn/gibbs.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
#include <cstring>

#if defined(__x86_64__)
static const char* const oldest = "sse2";
#else
static const char* const oldest = "generic";
#endif
#include "flash_case.hpp"

// include what the system offers
#include <bit>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

// know whether there are sanitizers
#ifdef __SANITIZE_ADDRESS__
static constexpr bool instrumented = true;
#else
static constexpr bool instrumented = false;
#endif

namespace attn {
// show a matrix to C
template <class T>
constexpr int type_of = std::is_same_v<T, double>   ? ATTN_F64
                        : std::is_same_v<T, float>  ? ATTN_F32
                                                    : ATTN_B8;
template <class T>
attn_view seen(const Matrix<T>& m) {
  return {const_cast<T*>(m.data()), type_of<T>, 2, {m.rows(), m.cols()},
          {m.cols(), 1}};
}
template <class T>
attn_view seen(const Vector<T>& v) {
  return {const_cast<T*>(v.data()), type_of<T>, 1, {v.size()}, {1}};
}
/// Demands success; shows the message of a failure.
inline void succeeds(int code) {
  BOOST_TEST(code == ATTN_OK, attn_message());
}
template <class A, class B>
void same_bits(const A& a, const B& b) {
  require(a.rows() == b.rows() && a.cols() == b.cols(), "same_bits");
  const auto n = std::size_t(a.size()) * sizeof(typename A::Scalar);
  const bool same = n == 0 || std::memcmp(a.data(), b.data(), n) == 0;
  verify(same ? 0 : 1, 0);
}

// translate a random case
template <class T>
struct InC {
  Case<T> c;
  Matrix<bool> keep;
  attn_view bias{}, mask{};
  attn_rule rule{};
  explicit InC(Case<T> x) : c(std::move(x)) {
    rule.size = sizeof rule;
    const auto& r = c.plain;
    const auto give = [this](bool is, int bit) { if (is) rule.has |= bit; };
    give(bool(r.scale), ATTN_SCALE), give(bool(r.softcap), ATTN_SOFTCAP);
    give(true, ATTN_SLOPE), give(bool(r.sink), ATTN_SINK);
    give(bool(r.offset), ATTN_OFFSET), give(bool(r.left), ATTN_LEFT);
    give(bool(r.right), ATTN_RIGHT), give(bool(r.queries), ATTN_QUERIES);
    give(bool(r.keys), ATTN_KEYS);

    // copy the numbers of a case
    rule.scale = double(r.scale.value_or(0));
    rule.softcap = double(r.softcap.value_or(0));
    rule.slope = double(r.slope), rule.sink = double(r.sink.value_or(0));
    rule.offset = r.offset.value_or(0), rule.left = r.left.value_or(0);
    rule.right = r.right.value_or(0), rule.queries = r.queries.value_or(0);
    rule.keys = r.keys.value_or(0);
    c.plain.key_block = FlashRule<T>{}.key_block;
    c.plain.groups = FlashRule<T>{}.groups;
    if (c.biased) c.plain.bias = &c.bias, bias = seen(c.bias);
    if (c.masked) {
      keep.resize(c.Q.rows(), c.K.rows());
      for (Index i = 0; i < keep.rows(); ++i)
        for (Index j = 0; j < keep.cols(); ++j)
          keep(i, j) = c.keep(i / 3, j / 4);
      c.plain.keep = &keep, mask = seen(keep);
    }
    if (c.biased) rule.bias = &bias;
    if (c.masked) rule.keep = &mask;
  }
};

// hold the kernel against the library
template <class T>
void check_kernel_bits() {
  succeeds(attn_use_cpu(oldest));
  for (std::uint64_t seed = 1; seed < 150; ++seed) {
    const InC<T> x(random_case<T>(seed));
    const Case<T>& c = x.c;
    FlashOutput<T> y{Matrix<T>(c.Q.rows(), c.V.cols()),
                     Vector<T>(c.Q.rows())};
    const auto Q = seen(c.Q), K = seen(c.K), V = seen(c.V), O = seen(y.O);
    const auto L = seen(y.logZ), dO = seen(c.dO), dL = seen(c.dL);
    succeeds(attn_flash(&Q, &K, &V, &x.rule, &O, &L));
    const auto truth = flash(c.Q, c.K, c.V, c.plain);
    same_bits(y.O, truth.O), same_bits(y.logZ, truth.logZ);

    // hold the gradient against the library
    Matrix<T> gQ = c.Q, gK = c.K, gV = c.V, gB = c.bias;
    Vector<T> sink(1);
    const auto q = seen(gQ), k = seen(gK), v = seen(gV), b = seen(gB);
    const auto s = seen(sink);
    succeeds(attn_flash_vjp(&Q, &K, &V, &x.rule, &O, &L, &dO, &dL, &q, &k, &v,
                            c.biased ? &b : nullptr,
                            c.plain.sink ? &s : nullptr));
    const auto g = flash_vjp<T>(c.Q, c.K, c.V, truth, c.dO, c.plain, c.dL);
    same_bits(gQ, g.Q), same_bits(gK, g.K), same_bits(gV, g.V);
    if (c.biased) same_bits(gB, g.bias);
    if (c.plain.sink) verify(double(std::abs(sink(0) - g.sink)), 0);
  }
  succeeds(attn_use_cpu(nullptr));
}

// put an array in a box
struct Boxed {
  std::array<Index, 4> n;
  std::vector<float> box;
  attn_view view{nullptr, ATTN_F32, 4, {}, {}};
  Matrix<float> plain;  // rows b, h, i
  Boxed(std::array<Index, 4> extents, const char* name)
      : n(extents),
        plain(gaussian<float>(n[0] * n[1] * n[2], n[3], 5, name)) {}
  float& at(Index b, Index h, Index i, Index j) {
    return static_cast<float*>(view.data)[
        b * view.stride[0] + h * view.stride[1] + i * view.stride[2] +
        j * view.stride[3]];
  }

  // lay out an array in a box
  void lay_out(Dice& roll) {
    std::array<int, 4> order{3, 1, 2, 0};
    const bool usual = roll(2);
    for (int k = usual ? 0 : 3; k > 0; --k)
      std::swap(order[std::size_t(k)], order[std::size_t(roll(k + 1))]);
    Index step = 1, start = 0;
    for (const int k : order) {
      const Index extent = n[std::size_t(k)];
      if (!usual || k != 3) step *= 1 + roll(2);
      view.extent[k] = extent, view.stride[k] = step;
      if ((!usual || k < 2) && roll(2))
        start += (extent - 1) * step, view.stride[k] = -step;
      step *= extent;
    }
    box.assign(std::size_t(step), -7);
    view.data = box.data() + start;
    for (Index b = 0; b < n[0]; ++b)
      for (Index h = 0; h < n[1]; ++h)
        for (Index i = 0; i < n[2]; ++i)
          for (Index j = 0; j < n[3]; ++j)
            at(b, h, i, j) = plain((b * n[1] + h) * n[2] + i, j);
  }

  // read one head of a box
  bool gaps_kept() const {
    std::vector<char> mine(box.size());
    const auto first = static_cast<float*>(view.data) - box.data();
    for (Index k = 0; k < n[0] * n[1] * n[2] * n[3]; ++k) {
      Index at = first, rest = k;
      for (int l = 3; l >= 0; --l)
        at += rest % view.extent[l] * view.stride[l], rest /= view.extent[l];
      mine[std::size_t(at)] = 1;
    }
    for (std::size_t k = 0; k < box.size(); ++k)
      if (!mine[k] && box[k] != -7) return false;
    return true;
  }
  Matrix<float> head(Index b, Index h) {
    Matrix<float> m(n[2], n[3]);
    for (Index i = 0; i < n[2]; ++i)
      for (Index j = 0; j < n[3]; ++j) m(i, j) = at(b, h, i, j);
    return m;
  }
};

// convert to sixteen bits and back
static std::uint16_t to_bits(int type, float x) {
  if (type == ATTN_F16) return Eigen::half(x).x;
  const auto b = std::bit_cast<std::uint32_t>(x);
  return std::uint16_t((b + 0x7fff + ((b >> 16) & 1)) >> 16);
}
static float from_bits(int type, std::uint16_t b) {
  if (type == ATTN_BF16)
    return std::bit_cast<float>(std::uint32_t(b) << 16);
  Eigen::half h;
  h.x = b;
  return float(h);
}

// read the symbols of an object
struct Symbol {
  char kind;
  std::string name;
};
static std::string directory() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&attn_version), &info);
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}
static std::string said_by(const std::string& command) {
  std::string all;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe)) all += buffer;
  BOOST_TEST((pipe && pclose(pipe) == 0), command);
  return all;
}
static std::vector<Symbol> symbols(const std::string& options,
                                   const std::string& file) {
  std::istringstream lines(said_by("nm " + options + " '" + directory() +
                                   file + "'"));
  std::vector<Symbol> all;
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find_first_not_of("0123456789abcdef ");
    if (line.size() > 18) all.push_back({line[17], line.substr(19)});
    else if (at != line.npos) all.push_back({line[at], line.substr(at + 2)});
  }
  return all;
}
static std::string text_of(const std::filesystem::path& file) {
  std::ifstream s(file);
  return {std::istreambuf_iterator<char>(s), {}};
}
static bool is_foreign(const std::string& name) {
  return name.find("4attn") == name.npos &&
         name.find("5Eigen") == name.npos && name.rfind("attn_", 0) != 0;
}
BOOST_AUTO_TEST_SUITE(doors)

// run the checks of the kernel's door
BOOST_AUTO_TEST_CASE(kernel_is_the_library) {
  check_kernel_bits<float>();
  check_kernel_bits<double>();
}

// hold heads against single heads
void check_layouts(Index n) {
  const Index B = 2, H = 4, G = 2, m = 33, d = 8, e = 6;
  Boxed Q({B, H, n, d}, "Q"), K({B, G, m, d}, "K"), V({B, G, m, e}, "V");
  Boxed dO({B, H, n, e}, "dO"), bias({B, H, n, m}, "bias");

  // give each head a rule of its own
  const Vector<float> slopes = Vector<float>::LinSpaced(H, 0.1f, 0.7f);
  const Vector<float> sinks = Vector<float>::LinSpaced(H, -1, 2);
  const auto of_heads = [&](const Vector<float>& x) {
    return attn_view{const_cast<float*>(x.data()), ATTN_F32, 1, {H}, {1}};
  };
  const attn_view slope = of_heads(slopes), sink = of_heads(sinks);
  std::vector<unsigned char> keeps(std::size_t(B * H * n * m));
  const attn_view keep{keeps.data(), ATTN_B8, 4, {B, H, n, m},
                       {H * n * m, n * m, m, 1}};
  attn_rule rule{};
  rule.size = sizeof rule, rule.has = ATTN_RIGHT;
  rule.keep = &keep, rule.slopes = &slope, rule.sinks = &sink;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Dice roll{seed};
    for (Boxed* x : {&Q, &K, &V, &dO, &bias}) x->lay_out(roll);
    rule.bias = &bias.view;
    for (auto& kept : keeps) kept = roll(4) > 0;

    // attend with all heads at once
    Boxed O({B, H, n, e}, "O"), L({B, H, n, 1}, "L"), dL({B, H, n, 1}, "dL");
    Boxed dQ({B, H, n, d}, "Q"), dK({B, G, m, d}, "K");
    Boxed dV({B, G, m, e}, "V"), dB({B, H, n, m}, "bias");
    for (Boxed* x : {&O, &L, &dL, &dQ, &dK, &dV, &dB}) x->lay_out(roll);
    auto row = L.view, given = dL.view;
    row.rank = given.rank = 3;
    Vector<float> of_sinks(H), sum_of_sinks = Vector<float>::Zero(H);
    const attn_view s = of_heads(of_sinks);
    succeeds(attn_flash(&Q.view, &K.view, &V.view, &rule, &O.view, &row));
    succeeds(attn_flash_vjp(&Q.view, &K.view, &V.view, &rule, &O.view, &row,
                            &dO.view, &given, &dQ.view, &dK.view, &dV.view,
                            &dB.view, &s));
    for (Boxed* x : {&O, &L, &dQ, &dK, &dV, &dB}) BOOST_TEST(x->gaps_kept());

    // compare each head with one that is alone
    for (Index b = 0; b < B; ++b)
      for (Index h = 0; h < H; ++h) {
        const Matrix<float> q = Q.head(b, h), k = K.head(b, h / 2);
        const Matrix<float> v = V.head(b, h / 2), c = dO.head(b, h);
        const Matrix<float> added = bias.head(b, h);
        Matrix<float> o(n, e), gq(n, d), gk(m, d), gv(m, e), gb(n, m);
        Vector<float> l(n), of_l = dL.head(b, h), gs(1);

        // cut the rule of one head out
        const auto own_bias = seen(added);
        const attn_view own_keep{keeps.data() + (b * H + h) * n * m, ATTN_B8, 2,
                                 {n, m}, {m, 1}};
        attn_rule own{};
        own.size = sizeof own, own.has = ATTN_RIGHT | ATTN_SLOPE | ATTN_SINK;
        own.slope = double(slopes(h)), own.sink = double(sinks(h));
        own.bias = &own_bias, own.keep = &own_keep;
        const auto a1 = seen(q), a2 = seen(k), a3 = seen(v), a4 = seen(o);
        const auto a5 = seen(l), a6 = seen(c), b1 = seen(gq), b2 = seen(gk);
        const auto b3 = seen(gv), b4 = seen(gb), a7 = seen(of_l), b5 = seen(gs);
        succeeds(attn_flash(&a1, &a2, &a3, &own, &a4, &a5));
        succeeds(attn_flash_vjp(&a1, &a2, &a3, &own, &a4, &a5, &a6, &a7, &b1,
                                &b2, &b3, &b4, &b5));
        sum_of_sinks(h) += gs(0);
        same_bits(O.head(b, h), o), same_bits(dQ.head(b, h), gq);
        same_bits(dB.head(b, h), gb), same_bits(L.head(b, h), Matrix<float>(l));

        // compare what keys receive from two heads
        static Matrix<float> first_k, first_v;
        if (h % 2 == 0) {
          first_k = gk, first_v = gv;
        } else {
          first_k += gk, first_v += gv;
          same_bits(dK.head(b, h / 2), first_k);
          same_bits(dV.head(b, h / 2), first_v);
        }
      }
    same_bits(of_sinks, sum_of_sinks);
  }
}
BOOST_AUTO_TEST_CASE(layouts_do_not_matter) {
  for (const Index n : {Index(19), attn::detail::stack_from - 1,
                        attn::detail::stack_from}) check_layouts(n);
}
BOOST_AUTO_TEST_CASE(shared_biases_add_up) {
  const Index n = 5, m = 7, d = 4;
  const auto boxed = [](const Matrix<double>& x, Index B, Index H) {
    const Index rows = x.rows() / (B * H), all = x.size() / B;
    return attn_view{const_cast<double*>(x.data()), ATTN_F64, 4,
                     {B, H, rows, x.cols()},
                     {all, all / H, x.cols(), 1}};
  };
  const auto Q = gaussian<double>(4 * n, d, 1, "Q");
  const auto K = gaussian<double>(4 * m, d, 1, "K");
  const auto dO = gaussian<double>(4 * n, d, 1, "dO");
  Matrix<double> O(4 * n, d), L(4 * n, 1), dQ = Q, dK = K, dV = K;
  const auto q = boxed(Q, 2, 2), k = boxed(K, 2, 2), o = boxed(O, 2, 2);
  const auto c = boxed(dO, 2, 2), x = boxed(dQ, 2, 2), y = boxed(dK, 2, 2);
  const auto z = boxed(dV, 2, 2);
  auto l = boxed(L, 2, 2);
  l.rank = 3;
  for (const Index B : {1, 2}) for (const Index H : {1, 2}) {
    // share a bias among heads
    const auto bias = gaussian<double>(B * H * n, m, 1, "bias");
    Matrix<double> full(4 * n, m), own(B * H * n, m);
    const auto b = boxed(bias, B, H), f = boxed(full, 2, 2);
    const auto g = boxed(own, B, H);
    attn_rule rule{};
    rule.size = sizeof rule, rule.bias = &b;
    succeeds(attn_flash(&q, &k, &k, &rule, &o, &l));
    for (const attn_view* to : {&f, &g})
      succeeds(attn_flash_vjp(&q, &k, &k, &rule, &o, &l, &c, nullptr, &x, &y,
                              &z, to, nullptr));
    Matrix<double> sum = Matrix<double>::Zero(B * H * n, m);
    for (Index i = 0; i < 2; ++i)
      for (Index j = 0; j < 2; ++j)
        sum.middleRows((i % B * H + j % H) * n, n) +=
            full.middleRows((i * 2 + j) * n, n);
    same_bits(own, sum);
  }
}
BOOST_AUTO_TEST_CASE(short_types_are_rounded_once) {
  const Index n = 9, m = 14, d = 5;
  for (const int type : {ATTN_BF16, ATTN_F16}) {
    const auto Q = gaussian<float>(n, d, 1, "Q");
    std::vector<std::uint16_t> q(std::size_t(n * d)), o(std::size_t(n * d));
    Matrix<float> rounded(n, d);
    for (Index k = 0; k < n * d; ++k) {
      q[std::size_t(k)] = to_bits(type, Q.data()[k]);
      rounded.data()[k] = from_bits(type, q[std::size_t(k)]);
    }
    const auto K = gaussian<float>(m, d, 1, "K");
    const auto k = seen(K), x = seen(rounded);
    Matrix<float> O(n, d);
    const auto to = seen(O);
    const attn_view a{q.data(), type, 2, {n, d}, {d, 1}};
    const attn_view b{o.data(), type, 2, {n, d}, {d, 1}};
    succeeds(attn_flash(&a, &k, &k, nullptr, &b, nullptr));
    succeeds(attn_flash(&x, &k, &k, nullptr, &to, nullptr));
    for (Index i = 0; i < n * d; ++i)
      verify(double(o[std::size_t(i)] != to_bits(type, O.data()[i])), 0);
  }
}

// hold the cache against the kernel
BOOST_AUTO_TEST_CASE(caches_of_other_types) {
  const Index G = 2, m = 21, d = 5;
  const auto x = gaussian<double>(G * m, d, 1, "K");
  const attn_rule* plain = nullptr;
  const auto filled = [&](int made, int type, void* K) {
    const attn_view k{K, type, 3, {G, m, d}, {m * d, d, 1}};
    attn_cache* cache = nullptr;
    succeeds(attn_cache_new(made, G, d, d, &cache));
    succeeds(attn_cache_append(cache, &k, &k));
    return cache;
  };

  // decode from a cache of doubles
  Matrix<double> O(G, d);
  const attn_view q{const_cast<double*>(x.data()), ATTN_F64, 3, {G, 1, d},
                    {m * d, d, 1}};
  const attn_view o{O.data(), ATTN_F64, 3, {G, 1, d}, {d, d, 1}};
  attn_cache* wide =
      filled(ATTN_F64, ATTN_F64, const_cast<double*>(x.data()));
  succeeds(attn_decode(wide, &q, plain, &o, nullptr));
  succeeds(attn_cache_free(wide));
  for (Index g = 0; g < G; ++g) {
    const auto K = x.middleRows(g * m, m);
    const Case<double> c{K.topRows(1), K, K, {}, {}, {}, {}};
    const auto t = forward_truth<quad>(c);
    verify(O.row(g), t.O, Bounds<double>(c, t).dO_bound);
  }
  for (const int type : {ATTN_BF16, ATTN_F16}) {
    // decode from a cache of sixteen bits
    std::vector<std::uint16_t> cut;
    Matrix<float> wide_k(G * m, d), one(G, d), two(G, d);
    for (Index k = 0; k < x.size(); ++k) {
      cut.push_back(to_bits(type, float(x.data()[k])));
      wide_k.data()[k] = from_bits(type, cut.back());
    }
    const attn_view ask{wide_k.data(), ATTN_F32, 3, {G, 1, d}, {m * d, d, 1}};
    for (Matrix<float>* to : {&one, &two}) {
      attn_cache* cache = to == &one ? filled(type, type, cut.data())
                                     : filled(ATTN_F32, ATTN_F32, wide_k.data());
      const attn_view out{to->data(), ATTN_F32, 3, {G, 1, d}, {d, d, 1}};
      succeeds(attn_decode(cache, &ask, plain, &out, nullptr));
      succeeds(attn_cache_free(cache));
    }
    same_bits(one, two);
  }
}
BOOST_AUTO_TEST_CASE(decoding_is_attention) {
  const Index H = 4, G = 2, n = 3, m = 40, d = 8;
  attn_cache* cache = nullptr;
  succeeds(attn_cache_new(ATTN_F32, G, d, d, &cache));
  Matrix<float> K[2], V[2];
  for (int g = 0; g < 2; ++g) {
    K[g] = gaussian<float>(m, d, std::uint64_t(g) + 1, "K");
    V[g] = gaussian<float>(m, d, std::uint64_t(g) + 1, "V");
  }
  for (Index from = 0, step = 1; from < m; from += step, step += 3) {
    step = std::min(step, m - from);

    // append rows to a cache
    Matrix<float> k(2 * step, d), v(2 * step, d);
    for (int g = 0; g < 2; ++g) {
      k.middleRows(g * step, step) = K[g].middleRows(from, step);
      v.middleRows(g * step, step) = V[g].middleRows(from, step);
    }
    const attn_view a{k.data(), ATTN_F32, 3, {G, step, d}, {step * d, d, 1}};
    const attn_view b{v.data(), ATTN_F32, 3, {G, step, d}, {step * d, d, 1}};
    succeeds(attn_cache_append(cache, &a, &b));
    succeeds(attn_use_cpu(from > 8 ? oldest : nullptr));
  }
  succeeds(attn_use_cpu(nullptr));

  // decode and compare with the kernel
  std::int64_t first = -1, end = -1;
  succeeds(attn_cache_rows(cache, &first, &end));
  BOOST_TEST((first == 0 && end == m));
  attn_rule rule{};
  rule.size = sizeof rule, rule.has = ATTN_RIGHT | ATTN_LEFT | ATTN_OFFSET;
  rule.left = 25, rule.offset = m - n - 1;
  float slopes[] = {0, 0.1f, 0.25f, 0.5f}, sinks[] = {-1, 0, 0.5f, 2};
  const attn_view slope{slopes, ATTN_F32, 1, {H}, {1}};
  const attn_view sink{sinks, ATTN_F32, 1, {H}, {1}};
  rule.slopes = &slope, rule.sinks = &sink;
  const auto Q = gaussian<float>(H * n, d, 1, "Q");
  Matrix<float> O(H * n, d), L(H * n, 1);
  const attn_view l{L.data(), ATTN_F32, 2, {H, n}, {n, 1}};
  const attn_view q{const_cast<float*>(Q.data()), ATTN_F32, 3, {H, n, d},
                    {n * d, d, 1}};
  const attn_view o{O.data(), ATTN_F32, 3, {H, n, d}, {n * d, d, 1}};

  // decode with what is left of the cache
  for (const std::int64_t forgotten : {0, 10}) {
    succeeds(attn_cache_forget_before(cache, forgotten));
    succeeds(attn_decode(cache, &q, &rule, &o, &l));
    for (Index h = 0; h < H; ++h) {
      Case<float> c{Q.middleRows(h * n, n), K[h / 2], V[h / 2], {}, {}, {},
                    {}};
      c.plain.right = 0, c.plain.left = 25, c.plain.offset = m - n - 1;
      c.plain.slope = slopes[h], c.plain.sink = sinks[h];
      const auto t = forward_truth<double>(c);
      const Bounds<float> f(c, t);
      verify(O.middleRows(h * n, n), t.O, f.dO_bound);
      verify(L.middleRows(h * n, n), Matrix<double>(t.L),
             Matrix<double>(f.dL));
    }
  }

  // decode with any number of threads
  Matrix<float> again(H * n, d);
  const attn_view p{again.data(), ATTN_F32, 3, {H, n, d}, {n * d, d, 1}};
  using Set = void (*)(int);
  const auto threads =
      reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  for (int t = 3; threads && t > 0; --t) {
    threads(t);
    succeeds(attn_decode(cache, &q, &rule, &p, nullptr));
    same_bits(again, O);
  }
  succeeds(attn_cache_free(cache));
  succeeds(attn_cache_free(nullptr));
}

// hold the widths against the bound
BOOST_AUTO_TEST_CASE(widths_keep_the_bound) {
  std::string ran;
  for (const char* cpu : {"sse2", "avx2", "avx512", "generic"}) {
    if (attn_use_cpu(cpu) != ATTN_OK) continue;
    ran += (ran.empty() ? "" : ", ") + std::string(cpu);
    BOOST_TEST(attn_cpu() == std::string(cpu));
    for (std::uint64_t seed = 1; seed < 60; ++seed) {
      const InC<float> x(random_case<float>(seed));
      const Case<float>& c = x.c;
      Matrix<float> O(c.Q.rows(), c.V.cols());
      const auto q = seen(c.Q), k = seen(c.K), v = seen(c.V), o = seen(O);
      succeeds(attn_flash(&q, &k, &v, &x.rule, &o, nullptr));
      auto blocks = c;
      blocks.plain.bias = nullptr, blocks.plain.keep = nullptr;
      const auto t = forward_truth<double>(blocks);
      verify(O, t.O, Bounds<float>(blocks, t).dO_bound);
    }
  }
  succeeds(attn_use_cpu(nullptr));
  fact("ran", ran);
}
BOOST_AUTO_TEST_CASE(forms_keep_their_bounds) {
  // hold the forms against their bounds
  const auto Q = gaussian<double>(17, 9, 1, "Q");
  const auto K = gaussian<double>(23, 9, 1, "K");
  Matrix<double> S(17, 23), A(17, 23);
  const auto q = seen(Q), k = seen(K), s = seen(S), a = seen(A);
  const Matrix<double> unit = Matrix<double>::Identity(9, 9) / 3;
  succeeds(attn_scores(&q, &k, nullptr, &s));
  const Matrix<double> bound = product_bound(Q, unit, K.transpose());
  verify(S, times(lift<quad>(Q), lift<quad>(K).transpose()) / quad(3), bound);
  succeeds(attn_gibbs(&s, 1, &a, nullptr, nullptr, nullptr, nullptr));
  verify(A, gibbs(lift<quad>(S)),
         softmax_bound(S, Matrix<double>::Zero(17, 23)));
}

// check that no symbol is shared
static bool exists(const std::string& file) {
  return std::ifstream(directory() + file).good();
}
BOOST_AUTO_TEST_CASE(symbols) {
  std::vector<std::string> widths;
  for (const char* w : {"sse2", "avx2", "avx512", "generic"})
    if (exists(w + std::string(".o"))) widths.push_back(w);
  BOOST_TEST(!widths.empty());
  for (const auto& w : widths) {
    std::vector<std::string> shown;
    for (const auto& [kind, name] : attn::symbols("", w + ".o")) {
      if (kind == 'U' || kind == 'w')
        BOOST_TEST((name == "attn_fail" || is_foreign(name)), name);
      else if (std::isupper(kind) || kind == 'u' || kind == 'v')
        shown.push_back(name);
    }
    verify(shown != std::vector{"attn_" + w}, 0);
  }

  // check the object of what is compiled once
  std::set<std::string> once, of_list;
  for (const auto& [kind, name] : attn::symbols("", "forms.o")) {
    if (kind == 'U' || kind == 'w')
      BOOST_TEST((name == "attn_fail" || is_foreign(name)), name);
    else if (std::isupper(kind) || kind == 'u' || kind == 'v')
      once.insert(name);
  }
  #define ATTN_FUNCTION(name, parameters, arguments) \
    of_list.insert("attn_" #name);
  #define ATTN_ONLY_ONCE
  #include "list.h"
  #undef ATTN_ONLY_ONCE
  #undef ATTN_FUNCTION
  verify(once != of_list, 0);

  // count what the objects had in common
  std::map<std::string, int> copies;
  for (const auto& w : widths)
    for (const auto& [kind, name] : attn::symbols("-C", w + ".alone"))
      if (kind == 'W' || kind == 'V' || kind == 'u') ++copies[name];
  long shared = 0, ours = 0, eigen = 0;
  for (const auto& [name, n] : copies) {
    if (n < 2) continue;
    ++shared;
    if (name.find("attn::") != name.npos) ++ours;
    else if (name.find("Eigen::") != name.npos) ++eigen;
  }
  fact("shared", shared), fact("ours", ours), fact("eigen", eigen);
  fact("std", shared - ours - eigen);
  if (widths.size() > 1) BOOST_TEST(shared > 100);

  // check what the library exports
  std::set<std::string> expected{"attn_message", "attn_version", "attn_cpu",
                                 "attn_use_cpu"};
  #define ATTN_FUNCTION(name, parameters, arguments) \
    expected.insert("attn_" #name);
  #define ATTN_OF_CACHE ATTN_FUNCTION
  #include "list.h"
  #undef ATTN_OF_CACHE
  #undef ATTN_FUNCTION
  std::set<std::string> exported;
  const char* options = "-D --defined-only";
  for (const auto& [kind, name] : attn::symbols(options, "libattn.so"))
    if (kind != 'A') {
      BOOST_TEST(name.ends_with("@@ATTN_1"), name);
      exported.insert(name.substr(0, name.find('@')));
    }
  BOOST_TEST((exported == expected));
  fact("exported", long(exported.size()));

  // demand a comment of each name in the header
  const std::string header = text_of("tangled/c/attn.h") +
                             text_of("tangled/c/list.h");
  std::string book;
  for (const auto& f : std::filesystem::directory_iterator("chapters"))
    book += text_of(f.path());
  for (const std::string& name : exported) {
    auto at = header.find("(" + name.substr(5) + ",");
    if (at == header.npos) at = header.find(name + "(");
    const auto end = header.rfind("*/\n", at), from = header.rfind("/**", end);
    const bool above = end < at && header.find('\n', end + 3) > at;
    BOOST_TEST(above, name << " has no comment");
    verify(!above, 0);
    if (!above) continue;
    const std::string comment = header.substr(from, end - from);

    // demand that a comment names parameters and a place
    const auto open = header.find('(', at + 1);
    const std::string list =
        header.substr(open, header.find(')', open) + 1 - open);
    const auto each = [](const std::string& text, const char* what, auto f) {
      const std::regex r(what);
      for (std::sregex_iterator m(text.begin(), text.end(), r), none; m != none;
           ++m)
        f(*m);
    };
    each(list, R"((\w+)\s*[,)])", [&](const auto& m) {
      if (m[1] == "void") return;
      const std::regex word("\\b" + m[1].str() + "\\b");
      BOOST_TEST(std::regex_search(comment, word), name << ": " << m[1]);
    });
    long places = 0;
    each(comment, R"((eq|def|thm|prop|sec)\.\s+([a-z-]+))", [&](const auto& m) {
      const auto label = "\\label{" + m[1].str() + ":" + m[2].str() + "}";
      BOOST_TEST(book.find(label) != book.npos, name << ": " << label);
      ++places;
    });
    BOOST_TEST(places > 0, name);
  }
}

// check the first program
static double make_first_program() {
  const std::string d = directory();
  const auto start = std::chrono::steady_clock::now();
  said_by("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Ibuild/src/c "
          "build/src/c/first.c -o '" + d + "first' -L'" + d +
          "' -lattn -Wl,-rpath,'" + d + "' 2>&1");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       start).count();
}
BOOST_AUTO_TEST_CASE(first_program) {
  if (instrumented) return;
  fact("seconds", make_first_program(), 2);
  const std::string said = said_by("'" + directory() + "first' 2>&1");

  // say what the first program must print
  Matrix<double> Q(2, 2), V(2, 1);
  Q << 1, 0, 0, 1;
  V << 1, 2;
  const auto y = flash(Q, Q, V);
  std::ostringstream expected;
  expected << std::fixed << std::setprecision(6) << y.O(0, 0) << ' '
           << y.O(1, 0) << '\n';
  BOOST_TEST(said.find(expected.str()) != std::string::npos, said);
  std::ifstream source("build/src/c/first.c");
  long lines = 0;
  for (std::string line; std::getline(source, line);)
    lines += line.rfind("#line", 0) != 0 && !line.empty();
  fact("lines", lines - 1);  // without the remark in front
}
BOOST_AUTO_TEST_CASE(installed_copy) {
  if (instrumented) return;
  const std::string d = directory(), usr = d + "usr";
  said_by("LIBATTN='" + d + "' book/setup/install \"$(realpath '" + d +
          "')/usr\"");
  said_by("PKG_CONFIG_PATH='" + usr + "/share/pkgconfig' sh -c 'cc "
          "-std=c11 build/src/c/first.c -o " + usr + "/first "
          "$(pkg-config --cflags --libs attn-c)' 2>&1");
  const auto said = said_by("LD_LIBRARY_PATH='" + usr + "/lib' '" + usr +
                            "/first' 2>&1");
  BOOST_TEST(said.find(attn_cpu()) != std::string::npos, said);
}

// check the choice of a width
BOOST_AUTO_TEST_CASE(never_unloaded) {
  const auto said = said_by("readelf -d '" + directory() + "libattn.so'");
  BOOST_TEST(said.find("NODELETE") != std::string::npos, said);
}
BOOST_AUTO_TEST_CASE(unknown_processors) {
  if (instrumented) return;
  BOOST_TEST(attn_use_cpu("pdp11") == ATTN_CPU);
  BOOST_TEST(std::string(attn_message()).find("pdp11") !=
             std::string::npos);
  const std::string first = "LD_LIBRARY_PATH=" + directory() + " " +
                            directory() + "first 2>&1; true";
  make_first_program();
  const auto run = [&](const std::string& cpu) {
    return said_by("ATTN_CPU=" + cpu + " " + first);
  };
  BOOST_TEST(run("pdp11").find("no code for \"pdp11\"") != std::string::npos);
  BOOST_TEST(run(oldest).find(oldest) != std::string::npos);
  BOOST_TEST(run("").find("no code") == std::string::npos);

  // refuse a width that is asked for no more
  if (std::system("python3 -c 'import ctypes' > /dev/null 2>&1") == 0) {
    const std::string said = said_by(
        "ATTN_CPU=pdp11 python3 -c 'import ctypes, os\n"
        "lib = ctypes.CDLL(\"" + directory() + "libattn.so.1\")\n"
        "made = ctypes.c_void_p()\n"
        "new = lambda: lib.attn_cache_new(1, *map(ctypes.c_int64, (1, 1, 1)),"
        " ctypes.byref(made))\n"
        "print(new(), lib.attn_cache_free(made), end=\" \")\n"
        "os.unsetenv(\"ATTN_CPU\")\n"
        "print(new(), lib.attn_use_cpu(None), new())'");
    BOOST_TEST(said == "4 0 4 0 0\n", said);
  }
}

// check the door to Python
BOOST_AUTO_TEST_CASE(python) {
  if (instrumented) return;
  const bool there = std::system("python3 -c 'import ctypes' "
                                 "> /dev/null 2>&1") == 0;
  fact("ran", there ? "ran" : "was not run");
  if (!there) return;
  const auto said =
      said_by("ATTN_LIBRARY='" + directory() + "libattn.so.1' python3 -B "
              "build/src/python/check.py 2>&1");
  BOOST_TEST(said.find("numpy") != std::string::npos, said);
}

// measure the price of a call
BOOST_AUTO_TEST_CASE(overhead) {
  const auto Q = gaussian<float>(16, 64, 1, "Q");
  Matrix<float> O(16, 64);
  const auto q = seen(Q), o = seen(O);
  const auto best = [](auto f) {
    double least = HUGE_VAL;
    for (int k = 0; k < 2000; ++k) {
      const auto start = std::chrono::steady_clock::now();
      f();
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      least = std::min(least, took.count());
    }
    return least;
  };

  // measure calls of three kinds
  const attn_view none{nullptr, ATTN_F32, 2, {0, 64}, {64, 1}};
  const attn_view bad{nullptr, ATTN_F32, 7, {}, {}};
  fact("refused", best([&] {
    attn_flash(&bad, &q, &q, nullptr, &o, nullptr); }), 2);
  fact("empty", best([&] {
    attn_flash(&none, &q, &q, nullptr, &none, nullptr); }), 2);
  fact("sixteen", best([&] {
    attn_flash(&q, &q, &q, nullptr, &o, nullptr); }), 2);
}

// check a call after a fork
BOOST_AUTO_TEST_CASE(fork_after_use) {
  const auto Q = gaussian<float>(4000, 16, 1, "Q");
  const auto q = seen(Q);
  Matrix<float> O(4000, 16), again(4000, 16);
  const auto o = seen(O), p = seen(again);
  using Set = void (*)(int);
  const auto threads =
      reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (threads) threads(3);
  succeeds(attn_flash(&q, &q, &q, nullptr, &o, nullptr));
  const pid_t child = fork();
  if (child == 0) {
    alarm(instrumented ? 600 : 60);
    const bool good =
        attn_flash(&q, &q, &q, nullptr, &p, nullptr) == ATTN_OK;
    _exit(good && again == O ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
BOOST_AUTO_TEST_SUITE_END()
}  // namespace attn
