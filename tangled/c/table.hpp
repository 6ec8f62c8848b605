// c/table.hpp: tangled from chapters/10a-doors.nw; edit that file, not this one.
#pragma once
#include "attn.h"

/// What the code for one kind of processor can do.
struct attn_table {
#define ATTN_FUNCTION(name, parameters, arguments) int(*name) parameters;
#define ATTN_OF_CACHE ATTN_FUNCTION

// list the functions of the kernel
/** Attention O (B,H,n,e) of Q (B,H,n,d) to K (B,G,m,d), V (B,G,m,e), G
    dividing H, under a rule or null; logZ (B,H,n) or null.  In the rule,
    bias and keep are (B,H,n,m), slopes and sinks (H). */
ATTN_FUNCTION(flash, (attn_in Q, attn_in K, attn_in V,
                      const attn_rule *rule, attn_out O, attn_out logZ),
              (Q, K, V, rule, O, logZ))
/** Cotangents dQ, dK, dV of flash, of its rule's bias, dbias (B,H,n,m)
    or as bias is, and sinks, dsinks (H), given O and logZ of flash, dO
    and dlogZ. */
ATTN_FUNCTION(flash_vjp,
              (attn_in Q, attn_in K, attn_in V, const attn_rule *rule,
               attn_in O, attn_in logZ, attn_in dO, attn_in dlogZ,
               attn_out dQ, attn_out dK, attn_out dV, attn_out dbias,
               attn_out dsinks),
              (Q, K, V, rule, O, logZ, dO, dlogZ, dQ, dK, dV, dbias,
               dsinks))
/** A cache of elements of a type, for G heads of keys of d numbers and
    values of e; its address goes to *made. */
ATTN_FUNCTION(cache_new, (int32_t type, int64_t G, int64_t d, int64_t e,
                          attn_cache **made), (type, G, d, e, made))
/** Appends keys K (G,m,d) and values V (G,m,e) to a cache. */
ATTN_OF_CACHE(cache_append, (attn_cache *cache, attn_in K, attn_in V),
              (cache, K, V))
/** The rows first .. end - 1 are in the cache. */
ATTN_OF_CACHE(cache_rows, (attn_cache *cache, int64_t *first,
                           int64_t *end), (cache, first, end))
/** Forgets the rows of a cache before a given one. */
ATTN_OF_CACHE(cache_forget_before, (attn_cache *cache, int64_t row),
              (cache, row))
/** Attention O (H,n,e) of the last n queries Q (H,n,d) to a cache, under
    a rule without bias, keep and lengths, or null; logZ (H,n) or null. */
ATTN_OF_CACHE(decode, (attn_cache *cache, attn_in Q,
                       const attn_rule *rule, attn_out O, attn_out logZ),
              (cache, Q, rule, O, logZ))
/** Ends a cache; null is no error. */
ATTN_OF_CACHE(cache_free, (attn_cache *cache), (cache))
#undef ATTN_OF_CACHE
#undef ATTN_FUNCTION
};

// know what stands behind the opaque address
struct attn_table;
struct attn_cache {
  const attn_table* table;
  void* state;
};
/// Keeps a message for this thread; returns the code.
extern "C" int attn_fail(int code, const char* message);
