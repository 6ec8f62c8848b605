// bench/flash_shared.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#include "flash_peak.hpp"
#include <cstdlib>
#include <dlfcn.h>
#if __has_include(<dnnl.hpp>)
#include <dnnl.hpp>
#endif

// one head as others see it
/// n queries, m keys, d features.
struct Head {
  Index n, m, d;
  bool causal;
  const float *Q, *K, *V;
  float *O, *L;
  const float* dO;
  float *dQ, *dK, *dV;
  /// Scores in base two are the product times this.
  float factor() const {
    return std::numbers::log2e_v<float> / std::sqrt(float(d));
  }
  /// How many of the b keys from j on query i sees.
  Index seen(Index i, Index j, Index b) const {
    return causal ? std::clamp<Index>(i + 1 - j, 0, b) : b;
  }
};
/// H heads of queries on kv heads of keys; x as in Head.
struct Task {
  Index H, kv, n, m, d;
  bool causal;
  float* const* x;
  Head head(Index h, Index heads) const {
    const auto at = [&](int a, Index size) {
      return x[a] ? x[a] + h * size : nullptr;
    };
    const Index rows = n * H / heads, q = rows * d, k = m * d;
    return {rows, m, d, causal, at(0, q), at(1, k), at(2, k), at(3, q),
            at(4, rows), at(5, q), at(6, q), at(7, k), at(8, k)};
  }
};

// find the products of other libraries
struct Blas {
  void (*gemm)(int, int, int, int, int, int, float, const float*, int,
               const float*, int, float, float*, int) = nullptr;
  void (*gemv)(int, int, int, int, float, const float*, int, const float*,
               int, float, float*, int) = nullptr;
  void* lib = nullptr;
  template <class F>
  void find(const char* name, F& f) const {
    if (lib) f = reinterpret_cast<F>(dlsym(lib, name));
  }
  void open(const char* path) {
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    find("cblas_sgemm", gemm), find("cblas_sgemv", gemv);
  }
};
static Blas open_blas, mkl;
struct Factor {
  const float* x;
  Index step;
  bool transposed = false;
};
/// C = alpha A B + beta C; C is m x n, with rows of length step.
using Product = void (*)(Index m, Index n, Index k, float alpha, Factor A,
                         Factor B, float beta, float* C, Index step);
#if __has_include(<dnnl.hpp>)
static void onednn(Index m, Index n, Index k, float alpha, Factor A,
                   Factor B, float beta, float* C, Index step) {
  dnnl::error::wrap_c_api(
      dnnl_sgemm(A.transposed ? 'T' : 'N', B.transposed ? 'T' : 'N', m, n, k,
                 alpha, A.x, A.step, B.x, B.step, beta, C, step), "sgemm");
}
#endif
template <const Blas& lib>
void by_blas(Index m, Index n, Index k, float alpha, Factor A, Factor B,
             float beta, float* C, Index step) {
  const int row_major = 101, plain = 111, flipped = 112;
  const auto way = [&](bool t) { return t ? flipped : plain; };
  if (m == 1)
    lib.gemv(row_major, way(!B.transposed), int(B.transposed ? n : k),
             int(B.transposed ? k : n), alpha, B.x, int(B.step), A.x, 1,
             beta, C, 1);
  else
    lib.gemm(row_major, way(A.transposed), way(B.transposed), int(m), int(n),
             int(k), alpha, A.x, int(A.step), B.x, int(B.step), beta, C,
             int(step));
}

// attend with whole matrices
static float largest(const float* row, Index n, float m) {
  if (n == 0) return m;
  return std::max(m, Eigen::Map<const Eigen::ArrayXf>(row, n).maxCoeff());
}
/// The first n scores of a row, less m, to weights, others to 0.
static void exponentials(float* row, Index n, Index width, float m) {
  using L = detail::Lane<float>;
  constexpr Index w = detail::lanes<float>;
  const bool aligned = reinterpret_cast<std::uintptr_t>(row) % alignof(L) == 0;
  const Index all = !aligned ? 0 : width % w == 0 ? (n + w - 1) / w : n / w;
  detail::exp2_lanes(reinterpret_cast<L*>(row), all, L(L::Constant(m)));
  for (Index j = all * w; j < n; ++j) row[j] = attn::exp2(row[j] - m);
  for (Index j = n; j < width; ++j) row[j] = 0;
}
static float weights(float* row, Index n, Index width, float m) {
  exponentials(row, n, width, m);
  return Eigen::Map<Eigen::ArrayXf>(row, n).sum();
}
using Table = Eigen::Map<Matrix<float>>;
template <Product product>
void whole(const Head& h) {
  const Index n = h.n, m = h.m, d = h.d;
  static Matrix<float> S;
  S.resize(n, m);
  product(n, m, d, h.factor(), {h.Q, d}, {h.K, d, true}, 0, S.data(), m);
  Vector<float> l(n);
  for (Index i = 0; i < n; ++i) {
    float* row = S.data() + i * m;
    const Index seen = h.seen(i, 0, m);
    l(i) = weights(row, seen, m, largest(row, seen, row[0]));
  }
  product(n, d, m, 1, {S.data(), m}, {h.V, d}, 0, h.O, d);
  Table(h.O, n, d).array().colwise() /= l.array();
}

// attend in blocks of another product
template <Product product>
void blocks(const Head& h) {
  const Index d = h.d, rows = 256, keys = 512;
  static Matrix<float> S(rows, keys);
  Table O(h.O, h.n, d);
  for (Index q = 0; q < h.n; q += rows) {
    const Index nq = std::min(rows, h.n - q);
    Vector<float> m = Vector<float>::Constant(nq, -HUGE_VALF);
    Vector<float> l = Vector<float>::Zero(nq);
    for (Index j = 0; j < (h.causal ? q + nq : h.m); j += keys) {
      const Index nk = std::min(keys, h.m - j);
      product(nq, nk, d, h.factor(), {h.Q + q * d, d},
              {h.K + j * d, d, true}, 0, S.data(), keys);
      for (Index i = 0; i < nq; ++i)

        // merge one row of a block
        {
          const Index seen = h.seen(q + i, j, nk);
          float* s = S.data() + i * keys;
          const float top = largest(s, seen, m(i));
          const float decay = attn::exp2(m(i) - top);
          l(i) = decay * l(i) + weights(s, seen, nk, top);
          m(i) = top;
          if (j > 0) O.row(q + i) *= decay;
        }
      product(nq, d, nk, 1, {S.data(), keys}, {h.V + j * d, d}, j > 0,
              h.O + q * d, d);
    }
    O.middleRows(q, nq).array().colwise() /= l.array();
  }
}

// go back in blocks of another product
template <Product product>
void blocks_back(const Head& h) {
  const Index n = h.n, d = h.d, rows = 256, keys = 512;
  static Matrix<float> A(rows, keys), B(rows, keys);
  const Eigen::Map<const Matrix<float>> dO(h.dO, n, d);
  const Vector<float> D =
      Table(h.O, n, d).cwiseProduct(dO).rowwise().sum();
  const float scale = 1 / std::sqrt(float(d));
  for (Index j = 0; j < h.m; j += keys) {
    const Index nk = std::min(keys, h.m - j);
    const Index first = h.causal ? j / rows * rows : 0;
    for (Index q = first; q < n; q += rows) {
      const Index nq = std::min(rows, n - q);

      // recompute the weights of a block
      product(nq, nk, d, h.factor(), {h.Q + q * d, d}, {h.K + j * d, d, true}, 0,
              A.data(), keys);
      for (Index i = 0; i < nq; ++i)
        exponentials(A.data() + i * keys, h.seen(q + i, j, nk), nk,
                     h.L[q + i] * std::numbers::log2e_v<float>);
      product(nk, d, nq, 1, {A.data(), keys, true}, {h.dO + q * d, d}, q > first,
              h.dV + j * d, d);

      // collect the cotangents of a block
      product(nq, nk, d, 1, {h.dO + q * d, d}, {h.V + j * d, d, true}, 0, B.data(),
              keys);
      for (Index i = 0; i < nq; ++i)
        B.row(i).head(nk) = A.row(i).head(nk).array() *
                            (B.row(i).head(nk).array() - D(q + i));
      product(nq, d, nk, scale, {B.data(), keys}, {h.K + j * d, d}, j > 0,
              h.dQ + q * d, d);
      product(nk, d, nq, scale, {B.data(), keys, true}, {h.Q + q * d, d},
              q > first, h.dK + j * d, d);
    }
  }
}

// attend with the primitives of oneDNN
#if __has_include(<dnnl.hpp>)
static dnnl::memory::desc layout(Index n, Index m, bool transposed = false) {
  using Desc = dnnl::memory::desc;
  return transposed ? Desc({n, m}, dnnl::memory::data_type::f32, {1, n})
                    : Desc({n, m}, dnnl::memory::data_type::f32, {m, 1});
}
static const dnnl::engine& cpu() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
static auto product_of(Index n, Index m, Index d) {
  return dnnl::matmul::primitive_desc(cpu(), layout(n, d),
                                      layout(d, m, true), layout(n, m));
}
static auto softmax_of(Index n, Index m) {
  return dnnl::softmax_forward::primitive_desc(
      cpu(), dnnl::prop_kind::forward_inference,
      dnnl::algorithm::softmax_accurate, layout(n, m), layout(n, m), 1);
}
#endif
#if __has_include(<dnnl.hpp>)
static void primitives(const Head& h) {
  const Index n = h.n, m = h.m, d = h.d;
  static dnnl::stream stream(cpu());
  static Matrix<float> S;
  S.resize(n, m);
  Matrix<float> Q =
      Eigen::Map<const Matrix<float>>(h.Q, n, d) / std::sqrt(float(d));
  const auto at = [&](const dnnl::memory::desc& desc, const float* x) {
    return dnnl::memory(desc, cpu(), const_cast<float*>(x));
  };
  const auto s = at(layout(n, m), S.data()), o = at(layout(n, d), h.O);
  const auto q = at(layout(n, d), Q.data()), v = at(layout(m, d), h.V);
  const auto k = at(layout(d, m, true), h.K);

  // run the three primitives
  dnnl::matmul(product_of(n, m, d))
      .execute(stream, {{DNNL_ARG_SRC, q}, {DNNL_ARG_WEIGHTS, k},
                        {DNNL_ARG_DST, s}});
  dnnl::softmax_forward(softmax_of(n, m))
      .execute(stream, {{DNNL_ARG_SRC, s}, {DNNL_ARG_DST, s}});
  dnnl::matmul(dnnl::matmul::primitive_desc(cpu(), layout(n, m), layout(m, d),
                                            layout(n, d)))
      .execute(stream, {{DNNL_ARG_SRC, s}, {DNNL_ARG_WEIGHTS, v},
                        {DNNL_ARG_DST, o}});
  stream.wait();
}
#endif

// attend with the kernel
static void kernel(const Task& t, bool back) {
  std::vector<FlashHead<float>> heads;
  std::vector<FlashCotangent<float>> bars;
  const Eigen::OuterStride<> step(t.d);
  FlashRule<float> rule;
  if (t.causal) rule.right = 0;
  for (Index i = 0; i < t.H; ++i) {
    const Head h = t.head(i, t.H), k = t.head(i * t.kv / t.H, t.kv);
    heads.push_back({{h.Q, t.n, t.d, step}, {k.K, t.m, t.d, step},
                     {k.V, t.m, t.d, step}, {h.O, t.n, t.d, step}, h.L,
                     rule});
    if (back)
      bars.push_back({{h.dO, t.n, t.d, step}, nullptr,
                      {h.dQ, t.n, t.d, step}, {k.dK, t.m, t.d, step},
                      {k.dV, t.m, t.d, step}});
  }
  if (back) flash_backward<float>(heads, bars);
  else flash_forward<float>(heads);
}

// enter who is there
template <auto forward, auto backward>
void by_heads(const Task& t, bool back) {
  for (Index h = 0; h < t.kv; ++h)
    if (const Head x = t.head(h, t.kv); back) backward(x);
    else forward(x);
}
struct Contestant {
  const char* name;
  void (*run)(const Task&, bool back);
  bool goes_back, masks;
};
static void never(const Head&) {}
template <Product product>
void enter(std::vector<Contestant>& all, const char* wholly,
           const char* in_blocks) {
  all.push_back({wholly, by_heads<whole<product>, never>, false, true});
  all.push_back({in_blocks, by_heads<blocks<product>, blocks_back<product>>,
                 true, true});
}
static const std::vector<Contestant>& contestants() {
  static const auto list = [] {
    std::vector<Contestant> all{{"ours", kernel, true, true}};
    if (open_blas.gemm && open_blas.gemv)
      enter<by_blas<open_blas>>(all, "openblas-whole", "openblas-blocks");
    if (mkl.gemm && mkl.gemv)
      enter<by_blas<mkl>>(all, "mkl-whole", "mkl-blocks");
#if __has_include(<dnnl.hpp>)
    enter<onednn>(all, "onednn-whole", "onednn-blocks");
    all.push_back({"onednn-primitives", by_heads<primitives, never>, false,
                   false});
#endif
    return all;
  }();
  return list;
}
extern "C" const char* flash_name(int who) {
  return std::size_t(who) < contestants().size()
             ? contestants()[std::size_t(who)].name : nullptr;
}

// lend the contestants to other languages
extern "C" void flash_open(const char* openblas, const char* intels) {
#ifdef __AVX512F__
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  unsetenv("OPENBLAS_L2_SIZE");
#endif
  setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
  setenv("MKL_INTERFACE_LAYER", "LP64", 1);
  open_blas.open(openblas), mkl.open(intels);
}
/// Whoever has this number, on H, kv, n, m, d and Q, K, V, O, L and, where
/// it goes back, dO, dQ, dK, dV.  0, or 1 if it cannot or threw.
extern "C" int flash_run(int who, const Index* s, int causal, int back,
                         float* const* x) try {
  const Contestant& c = contestants().at(std::size_t(who));
  if ((back && !c.goes_back) || (causal && !c.masks)) return 1;
  c.run({s[0], s[1], s[2], s[3], s[4], causal != 0, x}, back != 0);
  return 0;
} catch (...) {
  return 1;
}
extern "C" double flash_peak() { return peak<float>(); }
/// Reads n numbers as fast as it can.
extern "C" void flash_read(const float* x, Index n) {
  const float sum = total(x, n);
  keep(&sum);
}
struct MklVersion {  // as mkl_types.h has it
  int major, minor, update;
  char *status, *build, *processor, *platform;
};
extern "C" const char* flash_openblas() {
  char* (*f)() = nullptr;
  open_blas.find("openblas_get_corename", f);
  return f ? f() : "";
}
extern "C" const char* flash_mkl(int* version) {
  void (*f)(MklVersion*) = nullptr;
  mkl.find("MKL_Get_Version", f);
  if (!f) return "";
  static MklVersion v;
  f(&v);
  version[0] = v.major, version[1] = v.minor, version[2] = v.update;
  return v.processor;
}
extern "C" const char* flash_onednn(int* version) {
#if __has_include(<dnnl.hpp>)
  const auto* v = dnnl_version();
  version[0] = v->major, version[1] = v->minor, version[2] = v->patch;
  const auto isa = int(dnnl_get_effective_cpu_isa());
  static const std::string said =
      std::string(isa & 0x20 ? "AVX-512" : isa & 4 ? "AVX2" : "SSE4") +
      " with " + product_of(4096, 4096, 64).impl_info_str();
  return said.c_str();
#else
  version[0] = 0;
  return "";
#endif
}
extern "C" int flash_bits() { return 8 * EIGEN_MAX_ALIGN_BYTES; }
