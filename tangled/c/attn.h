// c/attn.h: tangled from chapters/10a-doors.nw; edit that file, not this one.
/* Parameters are called A, F, H, K, M, ...: include this file before a
   macro of one letter is defined. */
#ifndef ATTN_H
#define ATTN_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

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
  int64_t size;   /* sizeof(attn_rule) */
  int64_t has;    /* which of the next nine numbers are meant */
  double scale;   /* of the scores; absent: 1/sqrt(d) */
  double softcap; /* > 0; absent: none */
  double slope;   /* absent: 0 */
  double sink;    /* absent: none */
  int64_t offset; /* of positions; absent: keys - queries, of those
                     in use, aligned at the end */

  // say in C which pairs may meet
  int64_t left, right;    /* >= 0; absent: no limit */
  int64_t queries, keys;  /* in use, of n and m; absent: all */
  attn_in bias;   /* (B,H,n,m); B and H may be 1, as for keep; below
                     -max/log2(e) of the kernel's type it forbids */
  attn_in keep;   /* (B,H,n,m) of ATTN_B8: 0 forbids a pair */
  attn_in slopes, sinks; /* (H); in place of slope, sink */
} attn_rule;
typedef struct attn_cache attn_cache;

// name what a call may return
enum {
  ATTN_OK = 0,
  ATTN_ARGUMENT = 1, /* type, rank, extents, strides, overlap, null */
  ATTN_VALUE = 2,    /* right shapes, wrong numbers */
  ATTN_MEMORY = 3,   /* outputs may be half written */
  ATTN_CPU = 4,      /* no code for the width that was asked for */
  ATTN_INTERNAL = 5  /* a mistake in the library */
};

// say what holds for all functions
/* What holds for all functions.  Letters in parentheses are extents: B
   members of a batch, H heads, G heads of keys, n queries, m keys, d
   features, e numbers of a value.  B, or B and H, may be left out; inputs
   of functions other than flash and flash_vjp may have 1 for either.
   Numbers are all of ATTN_F64, or of the three smaller types in any
   mixture.  Angles are in radians, logarithms and entropies natural.
   Places in the book are named by (eq. ...), (thm. ...) and so on.

   A function that returns an int returns ATTN_OK, or, having written
   nothing, for what its sentence says (attn_message),
     ATTN_ARGUMENT  a type, rank, extent, stride, address or overlap that
                    does not fit, or a null that is not allowed,
     ATTN_VALUE     values that its comment names, and no others,
     ATTN_CPU       of flash, flash_vjp, cache_new: no code is in use;
   or, when outputs may be half written,
     ATTN_MEMORY    memory ran out,
     ATTN_INTERNAL  a mistake in the library. */

// declare the functions of the interface
#define ATTN_API __attribute__((visibility("default")))

// declare what concerns the library itself
/** Why the last call that failed on this thread did so: a sentence, valid
    until the next that fails on it, or its end; "" before (sec.
    doors-table). */
ATTN_API const char *attn_message(void);
/** major.minor.patch of the library that was loaded (sec. doors-table) */
ATTN_API const char *attn_version(void);
/** The code in use: "sse2", "avx2", "avx512", "generic", or "none" (sec.
    doors-widths). */
ATTN_API const char *attn_cpu(void);
/** Uses the code of that name from now on, in all threads; null: the best
    that this processor has (sec. doors-widths).  ATTN_CPU: it has none of
    that name, and the code in use stays. */
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
