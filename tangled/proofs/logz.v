(* proofs/logz.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs fisher response hessian.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state the Hessian of logz in the scores *)
(* proves prop:hessian-logz *)
Theorem hessian_of_logz (R : realType) (K : finType) (k0 : K)
    (s v w : K -> R) (T : R) : 0 < T ->
  [/\ is_derive (0 : R) (1 : R)
        (fun t => ln (Z (fun k => s k + t * v k) T))
        (T^-1 * mean (A s T) v),
      is_derive (0 : R) (1 : R)
        (fun t => T^-1 * mean (A (fun k => s k + t * w k) T) v)
        (T ^- 2 * \sum_j v j * lower (A s T) w j)
    & 0 <= T ^- 2 * \sum_j v j * lower (A s T) v j].

(* prove the Hessian of logz in the scores *)
Proof.
move=> T0; have [h1 h2] := hessian_in_scores k0 s T0 v w.
have E x y : \sum_j x j * lower (A s T) y j =
    \sum_j x j * (A s T j * (y j - mean (A s T) y)).
  by apply: eq_bigr => j _; rewrite lowerE.
split=> //; first by rewrite E.
rewrite E mulr_ge0 ?invr_ge0 ?sqr_ge0//.
have -> : \sum_j v j * (A s T j * (v j - mean (A s T) v)) = cov (A s T) v v.
  rewrite covE ?(sum_A _ _ k0)//; apply: eq_bigr => j _.
  by rewrite mulrCA mulrA.
by apply: variance_ge0 => j; exact/ltW/A_gt0.
Qed.

(* state the Hessian of logz in the query *)
(* proves prop:hessian-logz *)
Theorem hessian_of_logz_in_the_query (R : realType) (K : finType)
    (k0 : K) d e (M : 'M[R]_(d, e)) (k : K -> 'cV[R]_e) (b : K -> R)
    (q u w : 'rV[R]_d) T : 0 < T ->
  let S q j := (q *m M *m k j) 0 0 + b j in
  let lowered u j := (u *m M *m k j) 0 0 in
  [/\ is_derive (0 : R) (1 : R) (fun t => ln (Z (S (q + t *: u)) T))
        (T^-1 * mean (A (S q) T) (lowered u)),
      is_derive (0 : R) (1 : R)
        (fun t => T^-1 * mean (A (S (q + t *: w)) T) (lowered u))
        (T ^- 2 * cov (A (S q) T) (lowered u) (lowered w))
    & 0 <= T ^- 2 * cov (A (S q) T) (lowered u) (lowered u)].

(* prove the Hessian of logz in the query *)
Proof.
move=> T0 S lowered.
have E q' v t : S (q' + t *: v) = (fun j => S q' j + t * lowered v j).
  apply/funext => j; rewrite /S /lowered !mulmxDl -!scalemxAl !mxE.
  by rewrite addrAC.
have [h1 h2] := hessian_in_scores k0 (S q) T0 (lowered u) (lowered w).
split.
- have -> : (fun t => ln (Z (S (q + t *: u)) T)) =
      (fun t => ln (Z (fun j => S q j + t * lowered u j) T)).
    by apply/funext => t; rewrite E.
  exact: h1.
- have -> : (fun t => T^-1 * mean (A (S (q + t *: w)) T) (lowered u)) =
      (fun t => T^-1 * mean (A (fun j => S q j + t * lowered w j) T)
        (lowered u)).
    by apply/funext => t; rewrite E.
  apply: (is_derive_eq h2); rewrite covE ?(sum_A _ _ k0)//; congr (_ * _).
  by apply: eq_bigr => j _; rewrite mulrCA mulrA.
by rewrite mulr_ge0 ?invr_ge0 ?sqr_ge0// variance_ge0// => j; exact/ltW/A_gt0.
Qed.
