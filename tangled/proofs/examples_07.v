(* proofs/examples_07.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require metric crossover delta leave_one_out recurrence
  regression rows landmarks.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of keys left out, in Coq *)
Example crossover n m d := @crossover.crossover n m d.
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
  two_keys_neq0 (not_alone j).
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

(* examples of landmarks, in Coq *)
Section Landmark.
Variable R : realFieldType.
Let kappa (x y : R) := x * y.
Let l (r : 'I_1) : R := 1.
Lemma kappa_sym x y : kappa x y = kappa y x. Proof. exact: mulrC. Qed.
Lemma kappa_ge0 n (p c : 'I_n -> R) :
  0 <= \sum_i \sum_j c i * c j * kappa (p i) (p j).
Proof.
have -> : \sum_i \sum_j c i * c j * kappa (p i) (p j) =
    (\sum_i c i * p i) ^+ 2; last exact: sqr_ge0.
rewrite expr2 mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr.
by apply: eq_bigr => j _; rewrite mulrACA.
Qed.
Lemma one_factor : landmarks.kLL kappa l = 1%:M *m 1%:M^T.
Proof.
by apply/matrixP => i j; rewrite trmx1 mulmx1 !mxE !ord1 /kappa mulr1.
Qed.
Example landmarks_are_exact x r := @landmarks.landmarks_are_exact R R kappa 1
  l 1%:M kappa_sym one_factor (unitmx1 _ _) x r.
Example residual_is_positive n p c := @landmarks.residual_is_positive R R
  kappa 1 l 1%:M kappa_sym kappa_ge0 one_factor (unitmx1 _ _) n p c.
End Landmark.
