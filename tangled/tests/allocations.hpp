// tests/allocations.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include <cstddef>

// count what is allocated
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void __libc_free(void*);

namespace {
struct Block { const void* p; long n; };
Block blocks[1000];  // asked for since counting began, and not given back
int used = 0;
long live = 0, most = 0, calls = 0;
bool counting = false;

void* counted(void* p, std::size_t n) {
  if (!counting || used == 1000) return p;
  blocks[used++] = {p, long(n)};
  live += long(n), ++calls;
  most = live > most ? live : most;
  return p;
}
}  // namespace
extern "C" void* malloc(std::size_t n) {
  return counted(__libc_malloc(n), n);
}
extern "C" void* aligned_alloc(std::size_t align, std::size_t n) {
  return counted(__libc_memalign(align, n), n);
}
extern "C" void free(void* p) {
  for (int k = used; p && k-- > 0;)
    if (blocks[k].p == p) {
      live -= blocks[k].n, blocks[k] = blocks[--used];
      break;
    }
  __libc_free(p);
}

// measure what both directions hold
struct Held { long forward, both, calls, data; };
inline Held held(attn::Index n, attn::Index d,
                 const attn::FlashRule<float>& rule) {
  using namespace attn;
  counting = true;
  const long none = live;
  const auto Q = gaussian<float>(n, d, 1), K = gaussian<float>(n, d, 2);
  const auto V = gaussian<float>(n, d, 3), dO = gaussian<float>(n, d, 4);
  FlashOutput<float> y{Matrix<float>(n, d), Vector<float>(n)};
  Matrix<float> dQ(n, d), dK(n, d), dV(n, d);
  const FlashHead<float> head{view_in<float>(Q), view_in<float>(K),
                              view_in<float>(V), view_out(y.O),
                              y.logZ.data(), rule};
  const FlashCotangent<float> bar{view_in<float>(dO), nullptr, view_out(dQ),
                                  view_out(dK), view_out(dV)};
  const long before = live, first = calls;
  most = live;
  flash_forward<float>({&head, 1});
  const long forward = most - before;
  flash_backward<float>({&head, 1}, {&bar, 1});
  return {forward, most - before, calls - first, before - none};
}
