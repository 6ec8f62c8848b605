// tests/allocations.hpp: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
#pragma once
#include <cstddef>
#include <cstdlib>

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
  if (!counting) return p;
  if (used == 1000) std::abort();
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
template <class T = float>
Held held(attn::Index n, attn::Index d, const attn::FlashRule<T>& rule,
          attn::Matrix<T>* dbias = nullptr) {
  using namespace attn;
  counting = true;
  const long none = live;
  const auto Q = gaussian<T>(n, d, 1), K = gaussian<T>(n, d, 2);
  const auto V = gaussian<T>(n, d, 3), dO = gaussian<T>(n, d, 4);
  FlashOutput<T> y{Matrix<T>(n, d), Vector<T>(n)};
  Matrix<T> dQ(n, d), dK(n, d), dV(n, d);
  const FlashHead<T> head{view_in<T>(Q), view_in<T>(K), view_in<T>(V),
                          view_out(y.O), y.logZ.data(), rule};
  const FlashCotangent<T> bar{view_in<T>(dO), nullptr, view_out(dQ),
                              view_out(dK), view_out(dV), nullptr, dbias};
  const long before = live, first = calls;
  most = live;
  flash_forward<T>({&head, 1});
  const long forward = most - before;
  flash_backward<T>({&head, 1}, {&bar, 1});
  return {forward, most - before, calls - first, before - none};
}
