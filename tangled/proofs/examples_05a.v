(* proofs/examples_05a.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require metric rotary.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of rotations, in Coq *)
Section Rotary.
Variable R : rcfType.
Let c : 'rV[R]_1 := const_mx (3%:R / 5%:R).
Let s : 'rV[R]_1 := const_mx (4%:R / 5%:R).
Lemma circle a : c 0 a ^+ 2 + s 0 a ^+ 2 = 1.
Proof. by rewrite !mxE; field. Qed.
Lemma sines a : s 0 a != 0.
Proof. by rewrite mxE mulf_neq0 ?invr_neq0 ?pnatr_eq0. Qed.
Lemma cosines a b : c 0 a = c 0 b -> a = b.
Proof. by rewrite !ord1. Qed.
Example depends_on_differences := @rotary.depends_on_differences R 1 c s
  circle.
Example commutant := @rotary.commutant R 1 c s circle (two R) sines
  cosines.
Example commuting_metrics g := @rotary.commuting_metrics R 1 c s g circle
  sines cosines.
End Rotary.
