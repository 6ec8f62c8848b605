// c/attn.h: tangled from chapters/10a-doors.nw; edit that file, not this one.
#ifndef ATTN_H
#define ATTN_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define ATTN_API __attribute__((visibility("default")))

// name the types of elements
enum { ATTN_F32 = 1, ATTN_F64 = 2, ATTN_BF16 = 3, ATTN_F16 = 4,
       ATTN_B8 = 5 };

// describe an array by a view
typedef struct attn_view {
  void *data;
  int32_t type, rank;
  int64_t extent[4], stride[4];
} attn_view;
typedef const attn_view *attn_in, *attn_out;

// name what a rule may contain
enum { ATTN_SCALE = 1, ATTN_SOFTCAP = 2, ATTN_SLOPE = 4, ATTN_SINK = 8,
       ATTN_OFFSET = 16, ATTN_LEFT = 32, ATTN_RIGHT = 64,
       ATTN_QUERIES = 128, ATTN_KEYS = 256 };

// state the rule of attention in C
typedef struct attn_rule {
  int64_t size, has; /* sizeof(attn_rule); which numbers are meant */
  double scale, softcap, slope, sink;
  int64_t offset, left, right, queries, keys;
  attn_in bias, keep, slopes, sinks; /* or null */
} attn_rule;
typedef struct attn_cache attn_cache;

// name what a call may return
enum { ATTN_OK = 0, ATTN_ARGUMENT = 1, ATTN_VALUE = 2,
       ATTN_MEMORY = 3, ATTN_CPU = 4, ATTN_INTERNAL = 5 };

// declare what concerns the library itself
/** Why the last call that failed on this thread did so. */
ATTN_API const char *attn_message(void);
/** major.minor.patch */
ATTN_API const char *attn_version(void);
/** The code in use: "sse2", "avx2", "avx512", "generic", or "none". */
ATTN_API const char *attn_cpu(void);
/** Uses that code from now on; null: the best that this processor has. */
ATTN_API int attn_use_cpu(const char *name);
#define ATTN_FUNCTION(name, parameters, arguments) \
  ATTN_API int attn_##name parameters;
#define ATTN_OF_CACHE ATTN_FUNCTION
#include "list.h"
#undef ATTN_OF_CACHE
#undef ATTN_FUNCTION
#ifdef __cplusplus
}
#endif
#endif
