(* proofs/prelude.v: tangled from chapters/92-proving-checks.nw; edit that file, not this one. *)
From mathcomp Require Export all_ssreflect all_algebra ring.
From mathcomp.classical Require Import boolp classical_sets functions
  mathcomp_extra.
From mathcomp.analysis Require Import reals signed topology normedtype.
From mathcomp.analysis Require Export reals ereal sequences derive exp.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.

(* the exponential lies above its tangent *)
Section Tangent.
Variable R : realType.
Implicit Types x y : R.

Lemma expR_gt1Dx x : x != 0 -> 1 + x < expR x.
Proof.
move=> x0.
have dE (a b : R) y : y \in `]a, b[%R -> is_derive y (1 : R) expR (expR y).
  by move=> _; exact: is_derive_expR.
have cE (a b : R) : {within `[a, b]%classic, continuous (expR : R -> R)}.
  by apply: continuous_subspaceT => y; exact: continuous_expR.
case: (ltgtP x 0) x0 => // [xlt|xgt] _.
  have [c /andP[/=]] := MVT xlt (@dE x 0) (@cE x 0).
  rewrite !bnd_simp => _ clt; rewrite expR0 sub0r => E.
  have : expR c * - x < - x by rewrite gtr_pmull ?oppr_gt0// expR_lt1.
  by rewrite -E ltr_subl_addl ltr_subr_addr.
have [c /andP[/=]] := MVT xgt (@dE 0 x) (@cE 0 x).
rewrite !bnd_simp => cgt _; rewrite expR0 subr0 => E.
by rewrite -ltr_subr_addl E ltr_pmull// expR_gt1.
Qed.

(* state that the logarithm lies below its tangent *)
(* proves prop:log-tangent *)
Theorem log_below_tangent x : 0 < x ->
  ln x <= x - 1 /\ (ln x = x - 1 <-> x = 1).

(* prove that the logarithm lies below its tangent *)
Proof.
move=> x_gt0.
have [->|x_ne1] := eqVneq x 1; first by rewrite ln1 subrr.
have ln_ne0 : ln x != 0.
  by rewrite -(@ln1 R) (inj_in_eq (@ln_inj R)) ?posrE.
have below : ln x < x - 1.
  by rewrite ltr_subr_addl -[X in _ < X]lnK ?expR_gt1Dx.
split; first exact: ltW.
by split=> [E|E]; [rewrite E ltxx in below | rewrite E eqxx in x_ne1].
Qed.

(* the tangent of the logarithm with its equality *)
Lemma ln_leB1 x : 0 < x -> ln x <= x - 1 ?= iff (x == 1).
Proof.
move=> /log_below_tangent[le eq].
by split=> //; apply/eqP/eqP => /eq.
Qed.

End Tangent.
