// c/attn.cpp: tangled from chapters/10a-doors.nw; edit that file, not this one.
#include "table.hpp"
#include "attn/version.hpp"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

// list the widths of this library
#if defined(__x86_64__) && !defined(ATTN_GENERIC)
#define ATTN_WIDTHS
extern "C" const attn_table attn_sse2, attn_avx2, attn_avx512;
#else
extern "C" const attn_table attn_generic;
#endif
struct Width {
  const char* name;
  const attn_table* table;
  bool (*there)();
};
static const Width widths[] = {
#ifdef ATTN_WIDTHS
    {"avx512", &attn_avx512, [] {
       return __builtin_cpu_supports("avx512f") &&
              __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("fma"); }},
    {"avx2", &attn_avx2, [] {
       return __builtin_cpu_supports("avx2") &&
              __builtin_cpu_supports("fma"); }},
    {"sse2", &attn_sse2, [] { return true; }},
#else
    {"generic", &attn_generic, [] { return true; }},
#endif
};

// keep a message for each thread
static thread_local char last_message[1024] = "";
extern "C" int attn_fail(int code, const char* message) {
  std::snprintf(last_message, sizeof last_message, "%s", message);
  return code;
}

// find a width by its name
/// The width of that name, or the best one for null; null if it is not
/// here.
static const Width* find_width(const char* name) {
#ifdef ATTN_WIDTHS
  __builtin_cpu_init();
#endif
  for (const Width& w : widths)
    if ((!name || std::strcmp(name, w.name) == 0) && w.there()) return &w;
  return nullptr;
}

// choose the width in use
static const char* wanted_cpu() {
  const char* wanted = std::getenv("ATTN_CPU");
  return wanted && *wanted ? wanted : nullptr;
}
static std::atomic<const Width*>& in_use() {
  static std::atomic<const Width*> width = find_width(wanted_cpu());
  return width;
}
static const attn_table* table_of(const attn_cache* cache) {
  return cache ? cache->table : (std::end(widths) - 1)->table;
}

// refuse a width
static int no_code_for(const char* name) {
  char text[200];
  std::snprintf(text, sizeof text, "attn: no code for \"%.80s\" that "
                "this processor can run", name ? name : "");
  return attn_fail(ATTN_CPU, text);
}

// define what concerns the library itself
extern "C" {
const char* attn_message(void) { return last_message; }
const char* attn_version(void) { return attn::version.data(); }
const char* attn_cpu(void) {
  const Width* w = in_use();
  return w ? w->name : "none";
}
int attn_use_cpu(const char* name) {
  const Width* w = find_width(name);
  if (!w) return no_code_for(name);
  in_use() = w;
  return ATTN_OK;
}
}

// work alone after a fork
__attribute__((constructor)) static void watch_forks() {
#ifdef _OPENMP
  pthread_atfork(nullptr, nullptr, [] { omp_set_num_threads(1); });
#endif
}
extern "C" {
// export the functions of the list
#define ATTN_FUNCTION(name, parameters, arguments)              \
  int attn_##name parameters {                                  \
    const Width* w = in_use();                                  \
    return w ? w->table->name arguments                         \
             : no_code_for(wanted_cpu());                       \
  }
#define ATTN_OF_CACHE(name, parameters, arguments)              \
  int attn_##name parameters {                                  \
    return table_of(cache)->name arguments;                     \
  }
#define ATTN_ONLY_KERNEL
#include "list.h"
}
