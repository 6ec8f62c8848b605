(* proofs/cosines.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs divergence.
From mathcomp.classical Require Import boolp functions.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the logarithm of a quotient *)
Section Cosines.
Variables (R : realType) (K : finType) (j0 : K).
Implicit Types (s : K -> R) (p q r : K -> R).

Lemma ln_ratio (x y : R) : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof. by move=> x0 y0; rewrite ln_div ?posrE. Qed.

(* state the law of cosines *)
(* proves thm:geometry-pythagoras *)
Theorem law_of_cosines p q r :
  distribution p -> positive q -> positive r ->
  let u j := p j - q j in let v j := ln (r j) - ln (q j) in
  KL p r = KL p q + KL q r - \sum_j u j * v j.

(* prove the law of cosines *)
Proof.
move=> [p0 p1] [q0 q1] [r0 r1] u v; rewrite /KL -big_split -sumrB /=.
apply: eq_bigr => j _; rewrite /u /v; have [->|pj] := eqVneq (p j) 0.
  by rewrite !mul0r ln_ratio//; ring.
have pj0 : 0 < p j by rewrite lt0r pj p0.
by rewrite !ln_ratio//; ring.
Qed.

(* The sum is Fisher's inner product: if y is a change of scores that moves the
   weights by u, then y F v = u v. *)

(* state the inner product of two velocities *)
(* proves thm:geometry-pythagoras *)
Theorem inner_product_of_u_and_v q (u v y : K -> R) :
  let fisher (x : K -> R) j := q j * (x j - mean q x) in
  (forall j, fisher y j = u j) ->
  \sum_j y j * fisher v j = \sum_j u j * v j.

(* prove the inner product of two velocities *)
Proof.
move=> f fy; under [RHS]eq_bigr do rewrite -fy mulrC.
have E (x t : K -> R) : \sum_j x j * f t j = \sum_j q j * x j * t j - mean q x *
  mean q t.
  by rewrite /mean mulr_suml -sumrB; apply: eq_bigr => j _; rewrite /f /mean;
    ring.
by rewrite !E [mean q v * _]mulrC; congr (_ - _); apply: eq_bigr => j _;
  rewrite mulrAC.
Qed.

(* state the projection on the queries *)
(* proves cor:geometry-projection *)
Theorem projection_on_queries d (k : K -> 'rV[R]_d) (p : K -> R)
  (x y : 'cV[R]_d) :
  let a (x : 'cV[R]_d) := A (fun j => (k j *m x) 0 0) 1 in
  distribution p -> \sum_j a x j *: k j = \sum_j p j *: k j ->
  KL p (a y) = KL p (a x) + KL (a x) (a y).

(* prove the projection on the queries *)
Proof.
move=> a pp E; have ap z : positive (a z) by apply: (A_positive j0);
  exact: ltr01.
rewrite (law_of_cosines pp (ap x) (ap y)).
suff -> : \sum_j (p j - a x j) * (ln (a y j) - ln (a x j)) = 0 by rewrite subr0.
have lna z j : ln (a z j) = (k j *m z) 0 0 - ln (Z (fun j => (k j *m z) 0 0) 1).
  by rewrite ln_A// divr1.
pose c := ln (Z (fun j => (k j *m x) 0 0) 1)
  - ln (Z (fun j => (k j *m y) 0 0) 1).
transitivity (((\sum_j (p j - a x j) *: k j) *m (y - x)) 0 0
  + (\sum_j (p j - a x j)) * c).
  rewrite mulmx_suml summxE mulr_suml -big_split; apply: eq_bigr => j _ /=.
  have -> : ((p j - a x j) *: k j *m (y - x)) 0 0 =
      (p j - a x j) * ((k j *m y) 0 0 - (k j *m x) 0 0).
    rewrite -scalemxAl mulmxBr [LHS]mxE; congr (_ * _).
    by rewrite [LHS]mxE; congr (_ + _); rewrite mxE.
  rewrite !lna /c -mulrDr; congr (_ * _).
  move: (ln _) (ln _) ((k j *m x) 0 0) ((k j *m y) 0 0) => l m X Y.
  by ring.
rewrite sumrB pp.2 (ap x).2 subrr mul0r addr0.
by under eq_bigr do rewrite scalerBl; rewrite sumrB E subrr mul0mx mxE.
Qed.

(* state that a mirror step is natural *)
(* proves prop:geometry-mirror *)
Theorem mirror_step_is_natural s (A_bar z : K -> R) (eta : R) :
  let step j := s j - eta * (A_bar j - \sum_k z k * A_bar k) in
  forall j, A step 1 j =
    A s 1 j * expR (- eta * A_bar j) /
      (\sum_k A s 1 k * expR (- eta * A_bar k)).

(* prove that a mirror step is natural *)
Proof.
move=> step j; pose c := expR (eta * \sum_k z k * A_bar k).
have cn : c != 0 by rewrite gt_eqF ?expR_gt0.
have Zn : Z s 1 != 0 by rewrite gt_eqF ?(Z_gt0 _ _ j0).
pose w k := A s 1 k * expR (- eta * A_bar k).
have stepE k : expR (step k / 1) = c * Z s 1 * w k.
  have Ak : Z s 1 * A s 1 k = expR (s k / 1) by rewrite mulrC /A divfK.
  rewrite /w -mulrA [Z s 1 * _]mulrA Ak !divr1 /c -!expRD; congr expR.
  by rewrite /step; ring.
have wS : \sum_k w k != 0.
  have w0 k : 0 < w k by apply: mulr_gt0; [exact: A_gt0 | exact: expR_gt0].
  rewrite gt_eqF// (bigD1 j)//= ltr_paddr//.
  by apply: sumr_ge0 => k _; exact/ltW.
rewrite /A /Z stepE; under [X in _ / X = _]eq_bigr do rewrite stepE.
rewrite -mulr_sumr -mulf_div divff ?mulf_neq0// mul1r.
by [].
Qed.
End Cosines.
