(* proofs/cap.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs fisher jacobian tanh tangent.
From mathcomp.classical Require Import boolp classical_sets functions
  mathcomp_extra.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the derivative of the hyperbolic tangent *)
Lemma derive_tanh (R : realType) (x : R) :
  is_derive x (1 : R) (@tanh R) (1 - tanh x ^+ 2).
Proof.
have dN := derive_expN x; have de := is_derive_expR x.
have p : 0 < expR x + expR (- x) by rewrite addr_gt0 ?expR_gt0.
have n0 : (expR + (fun y : R => expR (- y))) x != 0 by rewrite gt_eqF.
have h := is_deriveM (is_deriveB de dN) (is_deriveV n0 (is_deriveD de dN)).
apply: (is_derive_eq h); rewrite /tanh.
rewrite -[LHS]/((expR x - expR (- x)) *
    (- (expR x + expR (- x)) ^- 2 * (expR x + - expR (- x))) +
  (expR x + expR (- x))^-1 * (expR x - - expR (- x))).
move: p; move: (expR x) (expR (- x)) => u v p.
by field; rewrite gt_eqF.
Qed.

(* state the slope of a cap *)
(* proves thm:recompute *)
Theorem derive_cap (R : realType) (c x : R) : c != 0 ->
  is_derive x (1 : R) (fun x => c * tanh (x / c))
    (1 - tanh (x / c) ^+ 2).

(* prove the slope of a cap *)
Proof.
move=> c0; have d1 : is_derive x (1 : R) (fun x : R => x / c) c^-1.
  have -> : (fun x : R => x / c) = (c^-1 \*: id : R -> R).
    by apply/funext => y; rewrite mulrC.
  by apply: is_derive_eq; rewrite /GRing.scale /= mulr1.
have h := is_deriveZ c (is_derive1_comp (f := @tanh R) (g := fun x => x / c)
  (derive_tanh _) d1).
apply: (is_derive_eq h); rewrite /GRing.scale /=; by rewrite mulrC mulfVK.
Qed.

(* a row with a sink, in Coq *)
Section Row.
Variables (R : realType) (J : finType) (S dS : J -> R) (sink dsink : R).
Definition with_sink (f : J -> R) x (k : option J) :=
  if k is Some j then f j else x.
Let s := with_sink S sink.
Let ds := with_sink dS dsink.
Definition a j := A s 1 (Some j).
Definition a_sink := A s 1 None.
Definition L := ln (expR sink + \sum_j expR (S j)).
Definition dL := \sum_j a j * dS j + a_sink * dsink.

(* a sum with a sink *)
Lemma sum_option (f : option J -> R) :
  \sum_k f k = f None + \sum_j f (Some j).
Proof.
rewrite (bigD1 None)//=; congr (_ + _).
rewrite (reindex_omap (@Some J) id) => [|[j|]//].
by apply: eq_bigl => j; rewrite eqxx.
Qed.
Lemma L_E : L = ln (Z s 1).
Proof.
rewrite /L /Z sum_option /s /= divr1; congr (ln (_ + _)).
by apply: eq_bigr => j _; rewrite divr1.
Qed.

(* state how a row with a sink moves *)
(* proves thm:recompute *)
Theorem row_with_a_sink :
  [/\ forall j, a j = expR (S j - L), a_sink = expR (sink - L),
      derivative_along (fun s => ln (Z s 1)) s ds dL
    & forall j, derivative_along (fun s => A s 1 (Some j)) s ds
        (a j * (dS j - dL))].

(* prove how a row with a sink moves *)
Proof.
have aE k : A s 1 k = expR (s k - L).
  by rewrite L_E -[s k]divr1 -ln_A lnK// posrE A_gt0.
have E : \sum_k A s 1 k * ds k = dL by rewrite sum_option addrC.
split=> [j|||j]; rewrite ?/a ?/a_sink ?aE//.
  have := derivative_lnZ 1 None s ds; rewrite invr1 mul1r E.
  exact.
have := derivative_softmax 1 None s ds (Some j); rewrite invr1 mul1r lowerE.
by rewrite /mean E aE.
Qed.

(* state the weight of a sink alone *)
(* proves thm:recompute *)
Theorem sink_alone : #|J| = 0%N -> a_sink = 1.

(* prove the weight of a sink alone *)
Proof.
move=> J0; have [_ -> _ _] := row_with_a_sink.
have -> : L = sink; last by rewrite subrr expR0.
by rewrite /L big1 ?addr0 ?expK// => j _; have := card0_eq J0 j.
Qed.
End Row.

(* state how a row without a sink moves *)
(* proves thm:recompute *)
Theorem row_without_a_sink (R : realType) (J : finType) (S dS : J -> R) j :
  let a := A S 1 in let dL := \sum_j a j * dS j in
  [/\ a j = expR (S j - ln (\sum_j expR (S j))),
      derivative_along (fun s => ln (\sum_j expR (s j))) S dS dL
    & derivative_along (fun s => A s 1 j) S dS (a j * (dS j - dL))].

(* prove how a row without a sink moves *)
Proof.
have ZE s : \sum_j expR (s j) = Z s 1 :> R.
  by apply: eq_bigr => k _; rewrite divr1.
have lnE : (fun s => ln (\sum_j expR (s j))) = (fun s : J -> R => ln (Z s 1)).
  by apply/funext => s; rewrite ZE.
rewrite /= ZE lnE; split.
- by rewrite -[S j]divr1 -ln_A lnK// posrE A_gt0.
- by have := derivative_lnZ 1 j S dS; rewrite invr1 mul1r; exact.
have := derivative_softmax 1 j S dS j; rewrite invr1 mul1r lowerE.
exact.
Qed.
