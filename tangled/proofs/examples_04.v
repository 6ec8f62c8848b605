(* proofs/examples_04.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require gradients backward raised rest follows logz storedweights
  loweredrow rounding.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of what goes backward, in Coq *)
Section Backward.
Variables (R : realType) (s v w : bool -> R).
Example lowering := @backward.lowering R _ _ 1 (half_ge0 R) (half_sum R)
  ltr01.
Example weight_by_score nq nk (S : 'M[R]_(nq, nk)) m n p q :=
  @gradients.weight_by_score R nq nk 1 S m n p q ltr01.
Example what_follows dT :=
  @follows.what_follows R _ true s v 1 dT (oner_neq0 R).
Example hessian_of_logz := @logz.hessian_of_logz R _ true s v w 1 ltr01.
Example hessian_of_logz_in_the_query d e (M : 'M[R]_(d, e)) k b q u w :=
  @logz.hessian_of_logz_in_the_query R _ true d e M k b q u w 1 ltr01.
End Backward.
Section Fields.
Variables (F : fieldType) (nq nk d e c : nat).
Example adjoint_identity Q K V M B A dQ dK dV dM dB dT Ob Lb :=
  @backward.adjoint_identity F nq nk d e c 1 Q K V M B A dQ dK dV dM dB dT
    Ob Lb (oner_neq0 F).
Example raised_gradient (S_bar : 'M[F]_(nq, nk)) (K : 'M[F]_(nk, d)) :=
  @raised.raised_gradient F nq nk d 1%:M S_bar K (unitmx1 _ _) (trmx1 _ _).
End Fields.

(* examples of stored weights, in Coq *)
Section Stored.
Variables (R : realFieldType) (n c : nat).
Example T_bar_by_differences T S A_bar l_bar :=
  @rest.T_bar_by_differences R n 2 T (halves R n) S A_bar l_bar
    (fun i => halves_sum R i).
Example forbidden_score T A_bar l_bar i j :=
  @rest.forbidden_score R n 2 T 0 A_bar l_bar i j (mxE _ _ i j).
Lemma small (j : bool) : `|(0 : R)| <= 1. Proof. by rewrite normr0 ler01. Qed.
Example gauge_fixed_form A_bar := @storedweights.gauge_fixed_form R _
  _ A_bar (fun=> 0) true 1 (half_ge0 R) (half_sum R) (half_gt0 R true) small.
Example textbook_form A_bar delta := @storedweights.textbook_form R _
  _ A_bar delta true (half_sum R).
Lemma largest j : 2%:R * half R j * (1 - half R j) <= 1.
Proof.
rewrite /half divff ?two// mul1r ler_subl_addr ler_addl.
by rewrite invr_ge0 ler0n.
Qed.
Example saturation x := @storedweights.saturation R _ _ x 1 (half_ge0 R)
  (half_sum R) largest.
Example values_conserve_the_sum (O_bar : 'M[R]_(n, c)) :=
  @storedweights.values_conserve_the_sum R n 2 c _ O_bar
    (fun i => halves_sum R i).
Lemma uniform i j : halves R n i j = 2%:R^-1. Proof. by rewrite mxE. Qed.
Example uniform_layer_averages (O_bar : 'M[R]_(n, c)) :=
  @storedweights.uniform_layer_averages R n 2 c _ O_bar uniform.
End Stored.

(* examples of a lowered row, in Coq *)
Section Lowered.
Variables (R : realFieldType) (A_bar : bool -> R) (q : bool).
Let z := @loweredrow.z R _ A_bar true.
Let D := \sum_k half R k * z k.
Lemma half_le1 : half R q <= 1.
Proof. by rewrite invf_le1 ?ltr0n// ler1n. Qed.
Lemma no_miss : `|\sum_k half R k - 1| <= 0.
Proof. by rewrite half_sum subrr normr0. Qed.
Lemma any_number m : 2%:R * (m%:R * 0) <= 1 :> R.
Proof. by rewrite !mulr0 ler01. Qed.
Lemma exact_z k : `|z k - z k| <= 0 * `|z k|.
Proof. by rewrite subrr normr0 mul0r. Qed.
Lemma no_gamma m : rounding.gamma (0 : R) m = 0.
Proof. by rewrite /rounding.gamma mulr0 mul0r. Qed.
Lemma exact_D m (x : R) : `|D - D| <=
  rounding.gamma 0 m * x + (1 + rounding.gamma 0 m) * (m%:R * 0).
Proof. by rewrite subrr normr0 no_gamma mul0r !mulr0 addr0. Qed.
Lemma exact_Y (y x : R) : `|y - y| <= rounding.gamma 0 2 * x + 0.
Proof. by rewrite subrr normr0 no_gamma mul0r addr0. Qed.
Example lowered_row := @loweredrow.lowered_row R _ _ A_bar true q 0 0 0
  (lexx 0) (lexx 0) (half_ge0 R) half_le1 (half_gt0 R true) no_miss
  (any_number _) z D _ exact_z (exact_D _ _) (exact_Y _ _).
End Lowered.

(* examples of gradients of scores, in Coq *)
Section Cotangents.
Variables (F : fieldType) (n c : nat).
Example cotangents_of_scores (A S : 'M[F]_(n, c)) A_bar l_bar dS dT :=
  @rest.cotangents_of_scores F n c 1 A S A_bar l_bar dS dT (oner_neq0 F).
Example scores_do_not_act (S : 'M[F]_(n, c)) i j :=
  @storedweights.scores_do_not_act F n c (fun=> 1) S i j (oner_neq0 F).
End Cotangents.
