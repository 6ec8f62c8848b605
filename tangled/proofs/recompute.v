(* proofs/recompute.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import fisher.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* one row of outputs, in Coq *)
Section Recomputation.
Variables (R : comRingType) (K C : finType) (a : K -> R) (V : K -> C -> R).
Variables (O_bar : C -> R) (L_bar : R).
Definition O c := \sum_j a j * V j c.
Definition A_bar j := \sum_c O_bar c * V j c.
Definition D := \sum_c O_bar c * O c.

(* state that two numbers a row suffice *)
(* proves thm:recompute *)
Theorem recomputation j :
  lower a A_bar j + a j * L_bar = a j * (A_bar j - D + L_bar).

(* prove that two numbers a row suffice *)
Proof.
rewrite lowerE mulrDr; congr (_ * (_ - _) + _).
rewrite /mean /A_bar /D /O; under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => c _; rewrite mulr_sumr.
by apply: eq_bigr => i _; ring.
Qed.

(* state that cotangents are conserved *)
(* proves prop:conservation *)
Theorem conservation : \sum_j a j = 1 ->
  \sum_j a j * (A_bar j - D + L_bar) = L_bar.

(* prove that cotangents are conserved *)
Proof.
move=> a1; under eq_bigr do rewrite -recomputation.
by rewrite big_split/= lower_sum0// add0r -mulr_suml a1 mul1r.
Qed.
End Recomputation.
