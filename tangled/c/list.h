// c/list.h: tangled from chapters/10a-doors.nw; edit that file, not this one.
#ifndef ATTN_ONLY_KERNEL

// list the functions compiled once
/** S = Q g K^T for Q (B,H,n,d), K (B,H,m,d), S (B,H,n,m) and a metric g:
    null for 1/sqrt(d), (d) for a diagonal one, (d,d) for a full one. */
ATTN_FUNCTION(scores, (attn_in Q, attn_in K, attn_in g, attn_out S),
              (Q, K, g, S))
/** Of rows of scores S (B,H,n,m) at temperature T the weights A (B,H,n,m)
    and, each (B,H,n), log Z, entropy H, free energy F and effective
    number M of keys; each of the five may be null. */
ATTN_FUNCTION(gibbs, (attn_in S, double T, attn_out A, attn_out logZ,
                      attn_out H, attn_out F, attn_out M),
              (S, T, A, logZ, H, F, M))
/** w = F(A) v for each row of weights A; all (B,H,n,m). */
ATTN_FUNCTION(fisher_times, (attn_in A, attn_in v, double T, attn_out w),
              (A, v, T, w))
/** Natural gradient U of the scores from the cotangent dA of their
    weights A; all (B,H,n,m). */
ATTN_FUNCTION(natural_gradient,
              (attn_in A, attn_in dA, double T, attn_out U),
              (A, dA, T, U))
/** States X (B,H,n,d) move to Y (B,H,n,d) among patterns K (B,H,m,d), in
    the metric g as for scores; null is the identity. */
ATTN_FUNCTION(hopfield_update, (attn_in X, attn_in K, double beta,
                                attn_in g, attn_out Y),
              (X, K, beta, g, Y))
/** Energies E (B,H,n) of states X (B,H,n,d) among K (B,H,m,d). */
ATTN_FUNCTION(hopfield_energy, (attn_in X, attn_in K, double beta,
                                attn_in g, attn_out E),
              (X, K, beta, g, E))
/** Attention with features Phi (B,H,n,r), Psi (B,H,m,r), values V
    (B,H,m,e) and outputs O (B,H,n,e); causal is 0 or 1. */
ATTN_FUNCTION(linear_attention, (attn_in Phi, attn_in Psi, attn_in V,
                                 int32_t causal, attn_out O),
              (Phi, Psi, V, causal, O))
/** Cotangents of linear_attention's arguments, given that of O. */
ATTN_FUNCTION(linear_attention_vjp,
              (attn_in Phi, attn_in Psi, attn_in V, int32_t causal,
               attn_in dO, attn_out dPhi, attn_out dPsi, attn_out dV),
              (Phi, Psi, V, causal, dO, dPhi, dPsi, dV))
/** Tables cosines, sines (B,H,n,w) of rotary positions at (B,H,n), which
    are whole: plane a of w turns by base^(-a/w) for each position. */
ATTN_FUNCTION(rotations, (attn_in at, double base, attn_out cosines,
                          attn_out sines), (at, base, cosines, sines))
/** Y (B,H,n,d) is X (B,H,n,d) turned by tables (B,H,n,w): features 2a and
    2a + 1, or a and a + w if halves is 1; by the opposite angles if back
    is 1.  Y may be X itself. */
ATTN_FUNCTION(rotate, (attn_in X, attn_in cosines, attn_in sines,
                       int32_t halves, int32_t back, attn_out Y),
              (X, cosines, sines, halves, back, Y))
/** Writes to program, of room bytes, the terms of a tensor equation, each
    a line of coefficient and subscripts as einsum wants them: of
    "s = 2 v^a w_a" the line "2 a,a->". */
ATTN_FUNCTION(subscripts, (const char *text, char *program, int64_t room),
              (text, program, room))
#endif
#ifndef ATTN_ONLY_ONCE

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
/** A cache for G heads of keys of d numbers and values of e: of double
    for type ATTN_F64, of float for the others, to which sixteen bits are
    converted when appended; its address goes to *made. */
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
#endif
