(* proofs/follows.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs fisher jacobian.
From attn Require response.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row whose temperature moves, in Coq *)
Section Follows.
Variables (R : realType) (K : finType) (k0 : K).
Variables (s ds : K -> R) (T dT : R).
Definition S_at t k := s k + t * ds k.
Definition T_at t := T + t * dT.
Definition dx k := ds k / T - s k * dT / T ^+ 2.

(* the derivative of a score over a temperature *)
Lemma line (a b : R) : is_derive (0 : R) (1 : R) (fun t : R => a + t * b) b.
Proof.
have := derive_affine 1 a b 0; rewrite divr1.
by under [X in is_derive _ _ X _]funext do rewrite divr1.
Qed.

Lemma quotient k : T != 0 ->
  is_derive (0 : R) (1 : R) (fun t => S_at t k / T_at t) (dx k).
Proof.
move=> T0; have dS : is_derive (0 : R) (1 : R) (S_at^~ k) (ds k) by exact: line.
have dT_ : is_derive (0 : R) (1 : R) T_at dT by exact: line.
have n0 : T_at 0 != 0 by rewrite /T_at mul0r addr0.
have h := is_deriveM dS (is_deriveV n0 dT_).
apply: (is_derive_eq h).
rewrite -[LHS]/((s k + 0 * ds k) * (- (T + 0 * dT) ^- 2 * dT) +
  (T + 0 * dT)^-1 * ds k) !mul0r !addr0 /dx.
by field.
Qed.
Lemma rowE t j : A (S_at t) (T_at t) j = A (fun k => S_at t k / T_at t) 1 j
  /\ Z (S_at t) (T_at t) = Z (fun k => S_at t k / T_at t) 1.
Proof.
have ZE : Z (S_at t) (T_at t) = Z (fun k => S_at t k / T_at t) 1.
  by apply: eq_bigr => k _; rewrite divr1.
by rewrite /A ZE divr1.
Qed.

(* state how weights follow scores and temperature *)
(* proves prop:rest *)
Theorem what_follows : T != 0 ->
  (forall j, is_derive (0 : R) (1 : R) (fun t => A (S_at t) (T_at t) j)
     (lower (A s T) dx j)) /\
  is_derive (0 : R) (1 : R) (fun t => ln (Z (S_at t) (T_at t)))
    (\sum_j A s T j * dx j).

(* prove how weights follow scores and temperature *)
Proof.
move=> T0; have dc k := quotient k T0.
have Es : S_at 0 = s by apply/funext => i; rewrite /S_at mul0r addr0.
have ET : T_at 0 = T by rewrite /T_at mul0r addr0.
have E0 k : A (fun i => S_at 0 i / T_at 0) 1 k = A s T k.
  transitivity (A (S_at 0) (T_at 0) k); first exact: esym (rowE 0 k).1.
  by rewrite Es ET.
split=> [j|].
  rewrite (funext (fun t => (rowE t j).1)).
  have h := response.derive_A k0 (c := fun k t => S_at t k / T_at t) dc j.
  apply: (is_derive_eq h); rewrite /= lowerE /response.mean /mean E0.
  by under eq_bigr do rewrite E0.
rewrite (funext (fun t => congr1 (@ln R) (rowE t k0).2)).
have h := response.derive_lnZ k0 (c := fun k t => S_at t k / T_at t) dc.
apply: (is_derive_eq h); rewrite /response.mean /=.
by apply: eq_bigr => k _; rewrite E0.
Qed.
End Follows.
