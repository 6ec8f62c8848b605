(* proofs/examples_07.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require metric crossover delta leave_one_out recurrence regression
  rows.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of keys left out, in Coq *)
Example crossover n m d := @crossover.crossover n m d.+1 isT.
Example delta_is_stable (R : realFieldType) m d (beta : R) psi v :=
  @delta.delta_is_stable R m d.+1 beta psi v isT.
Section Leave.
Variables (R : numFieldType) (d : nat) (s : bool -> R) (V : bool -> 'rV[R]_d).
Let e (x : R) : R := 1.
Lemma two_keys : rows.Z e 0 xpredT s = 2%:R.
Proof. by rewrite /rows.Z sumr_const card_bool add0r. Qed.
Lemma two_keys_neq0 : rows.Z e 0 xpredT s != 0.
Proof. by rewrite two_keys two. Qed.
Lemma not_alone j : rows.weight e 0 xpredT s j != 1.
Proof.
rewrite /rows.weight two_keys mul1r invr_eq1 -subr_eq0 -[X in _ - X]/(1%:R).
by rewrite -natrB// oner_neq0.
Qed.
Example leave_one_out j := @leave_one_out.leave_one_out R e d _ xpredT s V j
  two_keys_neq0 isT (not_alone j).
End Leave.

(* examples of chunks and regression, in Coq *)
Section Chunks.
Variables (R : comRingType) (m d : nat) (phi psi : nat -> 'cV[R]_m).
Variables (v : nat -> 'cV[R]_d) (alpha : nat -> R) (eps : R).
Variable M0 : 'M[R]_(m, d).
Lemma silent C t : (0 < t <= C)%N ->
  recurrence.increments psi v alpha (fun=> 0) eps M0 (fun=> 0) t.
Proof. by move=> _; rewrite /recurrence.increments scale0r. Qed.
Example chunks C := @recurrence.chunks R m d phi psi v alpha _ eps M0 _ C
  (@silent C).
End Chunks.
Section Regression.
Variables (R : realFieldType) (d : nat) (v : bool -> 'rV[R]_d).
Example local_constant a := @regression.local_constant R _ d _ v
  (half_sum R) a.
Example only_minimiser a := @regression.only_minimiser R _ d _ v
  (half_sum R) a.
End Regression.
Example attention_is_regression (R : realType) d (K : finType) k q j :=
  @regression.attention_is_regression R d K k _ (metric.metric1 R d) q j.
Example equal_norms (R : realType) d (K : finType) k q :=
  @regression.equal_norms R d K k _ (metric.metric1 R d) q.
