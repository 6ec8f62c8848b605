(* proofs/examples.v: tangled from chapters/92-proving-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From attn Require metric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* an example of the tangent of the logarithm *)
Example log_below_tangent (R : realType) :=
  @prelude.log_below_tangent R 1 ltr01.

(* equal weights of two, in Coq *)
Definition half (R : numFieldType) (j : bool) : R := 2%:R^-1.
Lemma half_ge0 (R : numFieldType) j : 0 <= half R j.
Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma half_gt0 (R : numFieldType) j : 0 < half R j.
Proof. by rewrite invr_gt0 ltr0n. Qed.
Lemma half_sum (R : numFieldType) : \sum_j half R j = 1.
Proof. by rewrite big_bool /= /half; field. Qed.
Lemma two (R : numFieldType) : 2%:R != 0 :> R.
Proof. by rewrite pnatr_eq0. Qed.
Definition halves (R : numFieldType) m : 'M[R]_(m, 2) := const_mx 2%:R^-1.
Lemma halves_sum (R : numFieldType) m i : \sum_j halves R m i j = 1.
Proof.
by rewrite !big_ord_recl big_ord0 !mxE; field.
Qed.
