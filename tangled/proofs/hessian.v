(* proofs/hessian.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs response.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state that the metric is a Hessian *)
Section Scores.
Variables (R : realType) (K : finType) (k0 : K) (s : K -> R) (T : R).
Hypothesis T0 : 0 < T.
Implicit Types v w : K -> R.

(* proves thm:geometry-softmax-fisher *)
Theorem hessian_in_scores v w :
  is_derive (0 : R) (1 : R) (fun e => ln (Z (fun k => s k + e * v k) T))
    (T^-1 * mean (A s T) v) /\
  is_derive (0 : R) (1 : R)
    (fun e => T^-1 * mean (A (fun k => s k + e * w k) T) v)
    (T ^- 2 * \sum_j v j * (A s T j * (w j - mean (A s T) w))).

(* prove that the metric is a Hessian *)
Proof.
split.
- pose c k e := (s k + e * v k) / T.
  have dc k : is_derive (0 : R) (1 : R) (c k) (T^-1 * v k).
    have -> : c k = cst (s k / T) + ((T^-1 * v k) \*: id : R -> R).
      by apply/funext => e; rewrite -[RHS]/(s k / T + T^-1 * v k * e) /c; ring.
    by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
  have -> : (fun e => ln (Z (fun k => s k + e * v k) T))
    = (fun e => ln (Z (c^~ e) 1)).
    by apply/funext => e; congr ln; apply: eq_bigr => k _; rewrite divr1.
  apply: (is_derive_eq (derive_lnZ k0 dc)); rewrite /mean mulr_sumr;
    apply: eq_bigr => k _.
  have -> : A (c^~ 0) 1 k = A s T k.
    by rewrite [A s T]A1E /c; congr (A _ 1 k); apply/funext => j;
      rewrite mul0r addr0.
  by rewrite mulrCA.
- apply: (is_derive_eq (is_deriveZ T^-1 (response k0 s v w T0))).
  rewrite /GRing.scale /= mulrA -invfM -expr2 covE ?(sum_A _ _ k0)//.
  by congr (_ * _); apply: eq_bigr => j _; rewrite mulrAC mulrC.
Qed.
End Scores.

(* state that the metric of the queries is a Hessian *)
(* proves thm:geometry-query, except that the divergence is log Z but
  for linear terms *)
Theorem hessian_in_the_query (R : realType) (K : finType) (k0 : K) d e
    (M : 'M[R]_(d, e)) (k : K -> 'cV[R]_e) (b : K -> R)
    (q u w : 'rV[R]_d) T : 0 < T ->
  let score q j := (q *m M *m k j) 0 0 + b j in
  let lowered u j := (u *m M *m k j) 0 0 in
  is_derive (0 : R) (1 : R) (fun t => ln (Z (score (q + t *: u)) T))
    (T^-1 * mean (A (score q) T) (lowered u)) /\
  is_derive (0 : R) (1 : R)
    (fun t => T^-1 * mean (A (score (q + t *: w)) T) (lowered u))
    (T ^- 2 * cov (A (score q) T) (lowered u) (lowered w)) /\
  0 <= T ^- 2 * cov (A (score q) T) (lowered u) (lowered u).

(* prove that the metric of the queries is a Hessian *)
Proof.
move=> T0 score lowered.
have E v : (fun t : R => score (q + t *: v))
  = (fun t j => score q j + t * lowered v j).
  apply/funext => t; apply/funext => j; rewrite /score /lowered !mulmxDl
    -!scalemxAl !mxE.
  by rewrite addrAC.
have [h1 h2] := hessian_in_scores k0 (score q) T0 (lowered u) (lowered w).
split; last split.
- have -> : (fun t => ln (Z (score (q + t *: u)) T)) =
      (fun t => ln (Z (fun j => score q j + t * lowered u j) T)).
    by apply/funext => t;
      rewrite -[score (q + t *: u)]/((fun t => score (q + t *: u)) t) E.
  exact: h1.
- have -> : (fun t => T^-1 * mean (A (score (q + t *: w)) T) (lowered u)) =
    (fun t => T^-1 * mean (A (fun j => score q j + t * lowered w j) T)
      (lowered u)).
  by apply/funext => t;
    rewrite -[score (q + t *: w)]/((fun t => score (q + t *: w)) t) E.
  apply: (is_derive_eq h2); congr (_ * _); rewrite covE ?(sum_A _ _ k0)//.
  by apply: eq_bigr => j _; rewrite mulrCA mulrA.
by rewrite mulr_ge0 ?invr_ge0 ?sqr_ge0// variance_ge0// => j; exact/ltW/A_gt0.
Qed.
