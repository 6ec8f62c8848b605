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

(* the divergence is $\log Z$ but for linear terms *)
Lemma divergenceE (R : realType) (K : finType) (p s : K -> R) T :
  distribution p -> KL p (A s T) =
  (\sum_j p j * ln (p j)) - T^-1 * mean p s + ln (Z s T).
Proof.
move=> [p0 p1]; have E j : p j * ln (p j / A s T j) =
    p j * ln (p j) - T^-1 * (p j * s j) + p j * ln (Z s T).
  have [->|pj] := eqVneq (p j) 0; first by rewrite !mul0r mulr0 subr0 addr0.
  rewrite ln_div ?posrE ?A_gt0 ?lt0r ?pj ?p0// ln_A; ring.
by rewrite /KL (eq_bigr _ (fun j _ => E j)) big_split sumrB /= -mulr_sumr
  -mulr_suml p1 mul1r.
Qed.

(* state that the metric of the queries is a Hessian *)
(* proves thm:geometry-query *)
Theorem hessian_in_the_query (R : realType) (K : finType) (k0 : K) d e
    (M : 'M[R]_(d, e)) (k : K -> 'cV[R]_e) (b p : K -> R)
    (q u w : 'rV[R]_d) T : 0 < T -> distribution p ->
  let score q j := (q *m M *m k j) 0 0 + b j in
  let lowered u j := (u *m M *m k j) 0 0 in
  let slope q := T^-1 * (mean (A (score q) T) (lowered u)
    - mean p (lowered u)) in
  let G u w := T ^- 2 * cov (A (score q) T) (lowered u) (lowered w) in
  [/\ is_derive (0 : R) (1 : R)
        (fun t => KL p (A (score (q + t *: u)) T)) (slope q),
      is_derive (0 : R) (1 : R) (fun t => slope (q + t *: w)) (G u w)
    & 0 <= G u u].

(* prove that the metric of the queries is a Hessian *)
Proof.
move=> T0 pd score lowered slope G.
have E q' v t : score (q' + t *: v) = (fun j => score q' j + t * lowered v j).
  apply/funext => j; rewrite /score /lowered !mulmxDl -!scalemxAl !mxE.
  by rewrite addrAC.
have [h1 h2] := hessian_in_scores k0 (score q) T0 (lowered u) (lowered w).
split.
- set c0 := \sum_j p j * ln (p j) - T^-1 * mean p (score q).
  set b0 := - (T^-1 * mean p (lowered u)).
  have -> : (fun t => KL p (A (score (q + t *: u)) T)) =
      (cst c0 + (b0 \*: id : R -> R))
      + (fun t => ln (Z (fun j => score q j + t * lowered u j) T)).
    apply/funext => t.
    rewrite -[RHS]/(c0 + b0 * t
      + ln (Z (fun j => score q j + t * lowered u j) T)).
    rewrite divergenceE// E; congr (_ + _).
    have -> : mean p (fun j => score q j + t * lowered u j) =
        mean p (score q) + t * mean p (lowered u).
      by rewrite /mean mulr_sumr -big_split; apply: eq_bigr => j _ /=; ring.
    by rewrite /c0 /b0 mulrDr opprD addrA mulNr mulrCA [t * _]mulrC.
  have da : is_derive (0 : R) (1 : R) (cst c0 + (b0 \*: id : R -> R)) b0.
    by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
  apply: (is_derive_eq (is_deriveD da h1)).
  by rewrite /slope /b0 mulrBr addrC.
- have -> : (fun t => slope (q + t *: w)) =
      (fun t => T^-1 * mean (A (fun j => score q j + t * lowered w j) T)
        (lowered u)) + cst (- (T^-1 * mean p (lowered u))).
    apply/funext => t; rewrite /slope E mulrBr.
    by [].
  have dc := is_derive_cst (- (T^-1 * mean p (lowered u))) (0 : R) (1 : R).
  apply: (is_derive_eq (is_deriveD h2 dc)).
  rewrite addr0 /G covE ?(sum_A _ _ k0)//; congr (_ * _).
  by apply: eq_bigr => j _; rewrite mulrCA mulrA.
by rewrite mulr_ge0 ?invr_ge0 ?sqr_ge0// variance_ge0// => j; exact/ltW/A_gt0.
Qed.
