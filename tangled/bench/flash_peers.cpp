// bench/flash_peers.cpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
// flags: -fopenmp
#include "flash_probe.hpp"
#include <dlfcn.h>
#include <iostream>
#include <omp.h>
#if __has_include(<dnnl.hpp>)
#include <dnnl.hpp>
#endif

// find the products of other libraries
/// C = alpha A B^T or alpha A B, plus beta C; rows of length lda, ldb, ldc.
using Gemm = void (*)(bool transposed, Index m, Index n, Index k,
                      float alpha, const float* A, Index lda,
                      const float* B, Index ldb, float beta, float* C,
                      Index ldc);
using Cblas = void (*)(int, int, int, int, int, int, float, const float*,
                       int, const float*, int, float, float*, int);
static Cblas cblas = [] {
#ifdef __AVX512F__
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  unsetenv("OPENBLAS_L2_SIZE");
#endif
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return lib ? reinterpret_cast<Cblas>(dlsym(lib, "cblas_sgemm")) : nullptr;
}();
static void openblas(bool t, Index m, Index n, Index k, float alpha,
                     const float* A, Index lda, const float* B, Index ldb,
                     float beta, float* C, Index ldc) {
  const int row_major = 101, plain = 111, transposed = 112;
  cblas(row_major, plain, t ? transposed : plain, int(m), int(n), int(k),
        alpha, A, int(lda), B, int(ldb), beta, C, int(ldc));
}
#if __has_include(<dnnl.hpp>)
static void onednn(bool t, Index m, Index n, Index k, float alpha,
                   const float* A, Index lda, const float* B, Index ldb,
                   float beta, float* C, Index ldc) {
  dnnl_sgemm('N', t ? 'T' : 'N', m, n, k, alpha, A, lda, B, ldb, beta, C,
             ldc);
}
#endif

// attend with whole matrices
static float largest(const float* row, Index n, float m) {
  if (n == 0) return m;
  return std::max(m, Eigen::Map<const Eigen::ArrayXf>(row, n).maxCoeff());
}
/// The first n scores of a row, less m, to weights, others to 0; their sum.
[[gnu::noinline]] static float weights(float* row, Index n, Index width,
                                       float m) {
  for (Index j = 0; j < n; ++j) row[j] = attn::exp2(row[j] - m);
  for (Index j = n; j < width; ++j) row[j] = 0;
  return Eigen::Map<Eigen::ArrayXf>(row, n).sum();
}
template <Gemm gemm>
void whole(const Problem<float>& p, bool causal, Matrix<float>& O) {
  const Index n = p.Q.rows(), d = p.Q.cols();
  static Matrix<float> S;
  S.resize(n, n);
  const float factor = std::numbers::log2e_v<float> / std::sqrt(float(d));
  gemm(true, n, n, d, factor, p.Q.data(), d, p.K.data(), d, 0, S.data(), n);
  Vector<float> l(n);
  for (Index i = 0; i < n; ++i) {
    float* row = S.data() + i * n;
    const Index seen = causal ? i + 1 : n;
    l(i) = weights(row, seen, n, largest(row, seen, row[0]));
  }
  gemm(false, n, d, n, 1, S.data(), n, p.V.data(), d, 0, O.data(), d);
  O.array().colwise() /= l.array();
}

// attend in blocks of another product
template <Gemm gemm>
void blocks(const Problem<float>& p, bool causal, Matrix<float>& O) {
  const Index n = p.Q.rows(), d = p.Q.cols(), rows = 256, keys = 512;
  static Matrix<float> S(rows, keys);
  const float factor = std::numbers::log2e_v<float> / std::sqrt(float(d));
  for (Index q = 0; q < n; q += rows) {
    const Index nq = std::min(rows, n - q);
    Vector<float> m = Vector<float>::Constant(nq, -HUGE_VALF);
    Vector<float> l = Vector<float>::Zero(nq);
    for (Index j = 0; j < (causal ? q + nq : n); j += keys) {
      const Index nk = std::min(keys, n - j);
      gemm(true, nq, nk, d, factor, p.Q.data() + q * d, d,
           p.K.data() + j * d, d, 0, S.data(), keys);
      for (Index i = 0; i < nq; ++i)

        // merge one row of a block
        {
          const Index seen = causal ? std::clamp<Index>(q + i + 1 - j, 0, nk) : nk;
          float* s = S.data() + i * keys;
          const float top = largest(s, seen, m(i));
          const float decay = attn::exp2(m(i) - top);
          l(i) = decay * l(i) + weights(s, seen, nk, top);
          m(i) = top;
          if (j > 0) O.row(q + i) *= decay;
        }
      gemm(false, nq, d, nk, 1, S.data(), keys, p.V.data() + j * d, d,
           j > 0, O.data() + q * d, d);
    }
    O.middleRows(q, nq).array().colwise() /= l.array();
  }
}

// attend with the primitives of oneDNN
#if __has_include(<dnnl.hpp>)
static dnnl::memory::desc layout(Index n, Index m, bool transposed = false) {
  using Desc = dnnl::memory::desc;
  return transposed ? Desc({n, m}, dnnl::memory::data_type::f32, {1, n})
                    : Desc({n, m}, dnnl::memory::data_type::f32, {m, 1});
}
static auto softmax_of(const dnnl::engine& cpu, Index n) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::softmax_forward::primitive_desc(
      cpu, dnnl::prop_kind::forward_inference,
      dnnl::algorithm::softmax_accurate, layout(n, n), layout(n, n), 1);
#else
  return dnnl::softmax_forward::primitive_desc(
      {dnnl::prop_kind::forward_inference, layout(n, n), 1}, cpu);
#endif
}
#endif
#if __has_include(<dnnl.hpp>)
static auto product_of(const dnnl::engine& cpu, const dnnl::memory::desc& a,
                       const dnnl::memory::desc& b,
                       const dnnl::memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul::primitive_desc(cpu, a, b, c);
#else
  return dnnl::matmul::primitive_desc({a, b, c}, cpu);
#endif
}
#endif
#if __has_include(<dnnl.hpp>)
static void primitives(const Problem<float>& p, bool, Matrix<float>& O) {
  using dnnl::memory;
  const Index n = p.Q.rows(), d = p.Q.cols();
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(cpu);
  static Matrix<float> S;
  S.resize(n, n);
  Matrix<float> Q = p.Q / std::sqrt(float(d));
  const auto at = [&](const memory::desc& desc, const float* x) {
    return memory(desc, cpu, const_cast<float*>(x));
  };
  const auto rows = layout(n, d), keys = layout(d, n, true);
  auto s = at(layout(n, n), S.data()), o = at(rows, O.data());
  const auto q = at(rows, Q.data()), k = at(keys, p.K.data());
  const auto v = at(rows, p.V.data());

  // run the three primitives
  dnnl::matmul(product_of(cpu, rows, keys, layout(n, n)))
      .execute(stream, {{DNNL_ARG_SRC, q}, {DNNL_ARG_WEIGHTS, k},
                        {DNNL_ARG_DST, s}});
  dnnl::softmax_forward(softmax_of(cpu, n))
      .execute(stream, {{DNNL_ARG_SRC, s}, {DNNL_ARG_DST, s}});
  dnnl::matmul(product_of(cpu, layout(n, n), rows, rows))
      .execute(stream, {{DNNL_ARG_SRC, s}, {DNNL_ARG_WEIGHTS, v},
                        {DNNL_ARG_DST, o}});
  stream.wait();
}
#endif

// register the peers that are found
static void kernel(const Problem<float>& p, bool causal, Matrix<float>& O) {
  FlashRule<float> rule;
  if (causal) rule.right = 0;
  const FlashHead<float> h{view_in<float>(p.Q), view_in<float>(p.K),
                           view_in<float>(p.V), view_out(O), nullptr, rule};
  flash_forward<float>({&h, 1});
}
using Contestant = void (*)(const Problem<float>&, bool, Matrix<float>&);
static void enter(const std::string& name, Contestant f, bool masks = true) {
  for (const Index n : {512, 1024, 2048, 4096})
    for (const bool c : {false, true})
      if (!c || masks)
        benchmark::RegisterBenchmark(
            ("flash/peers/" + name + '/' + std::to_string(n) +
             (c ? "/causal" : "/full")).c_str(),
            [=](auto& t) { peer(t, 8, n, c, f); });
}
static const int registered = [] {
  omp_set_num_threads(1);
  keep_memory();
  enter("ours", kernel);
  if (cblas) {
    enter("openblas-whole", whole<openblas>);
    enter("openblas-blocks", blocks<openblas>);
  } else {
    std::cerr << "flash_peers: OpenBLAS was not found\n";
  }
#if __has_include(<dnnl.hpp>)
  enter("onednn-whole", whole<onednn>);
  enter("onednn-blocks", blocks<onednn>);
  enter("onednn-primitives", primitives, false);
#else
  std::cerr << "flash_peers: oneDNN was not found\n";
#endif
  return 0;
}();
