(* proofs/examples_01.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require pairing forms inertia metric jacsize logdet roundtrip
  woodbury.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of forms, in Coq *)
Section Forms.
Variables (R : numFieldType) (d : nat).
Example parts_unique (M : 'M[R]_d) := @forms.parts_unique R d (two R) M.
Lemma parts1 : forms.parts (1%:M : 'M[R]_d) 1%:M 0.
Proof. by split; rewrite ?addr0 ?trmx1 ?trmx0 ?oppr0. Qed.
Example parts_of_a_form := @forms.parts_of_a_form R d (two R) _ _ _ parts1.
Example parts_change (P : 'M[R]_d) := @forms.parts_change R d _ _ _ P parts1.
Example gauge_keeps_the_form (WQ WK : 'M[R]_(d.+1, d)) :=
  @forms.gauge_keeps_the_form R _ _ WQ WK 1%:M (unitmx1 _ _).
Example factors_differ_by_a_gauge :=
  @forms.factors_differ_by_a_gauge R d d 1%:M 1%:M 1%:M 1%:M
    (mxrank1 _ _) (mxrank1 _ _) erefl.
Example pairing_invariant (u : 'rV[R]_d) v :=
  @forms.pairing_invariant R d 1%:M u v (unitmx1 _ _).
Example scores_determine_the_form (g g' : 'M[R]_d) :=
  @forms.scores_determine_the_form R d g g' 1%:M (unitmx1 _ _).
Example inverse_of_changed_form :=
  @forms.inverse_of_changed_form R d 1%:M 1%:M (unitmx1 _ _) (unitmx1 _ _).
End Forms.
Example metric_in_every_basis (R : realFieldType) d (g : 'M[R]_d) :=
  @forms.metric_in_every_basis R d g 1%:M (unitmx1 _ _).

(* examples of signatures, in Coq *)
Section Signatures.
Variables (R : rcfType) (d : nat).
Example sylvester := @inertia.sylvester R d 1%:M (trmx1 _ _).
Lemma signature1 : inertia.signature (1%:M : 'M[R]_d) d 0.
Proof.
split; first by rewrite addn0.
exists 1%:M; rewrite unitmx1 trmx1 mul1mx mulmx1; split=> //.
by apply/matrixP => a b; rewrite !mxE ltn_ord.
Qed.
Example law_of_inertia := @inertia.law_of_inertia R d _ _ _ signature1.
Example signature_unique :=
  @inertia.signature_unique R d _ _ _ _ _ signature1 signature1.
Lemma symmetric1 : inertia.symmetric_part (1%:M : 'M[R]_d) 1%:M = 1%:M.
Proof.
rewrite /inertia.symmetric_part trmx1 mul1mx trmx1 -[1%:M + _]mulr2n.
by rewrite -scaler_nat scalerA mulVf ?scale1r// two.
Qed.
Lemma signature_head :
  inertia.signature (inertia.symmetric_part (1%:M : 'M[R]_d) 1%:M) d 0.
Proof. by rewrite symmetric1; exact: signature1. Qed.
Example signature_of_one_head :=
  @inertia.signature_of_one_head R d d _ _ _ _ signature_head.

(* examples of heads, in Coq *)
Lemma independent : \rank (row_mx (col_mx 1%:M 0) (col_mx 0 1%:M) :
  'M[R]_(d + d, d + d)) = (d + d)%N.
Proof. by rewrite -block_mxEh -scalar_mx_block mxrank1. Qed.
Example signature_of_independent_factors :=
  @inertia.signature_of_independent_factors R _ _ _ _ independent.
Lemma symmetric_unit :
  inertia.symmetric_part (1%:M : 'M[R]_d) 1%:M \in unitmx.
Proof. by rewrite symmetric1 unitmx1. Qed.
Example signature_of_a_wide_head := @inertia.signature_of_a_wide_head
  R d d _ _ _ _ symmetric_unit signature_head.
Example cauchy_schwarz := @metric.cauchy_schwarz R d _ (metric.metric1 R d).
End Signatures.

(* examples of outputs and sizes, in Coq *)
Section Weights.
Variables (R : realFieldType) (c : nat) (v : 'rV[R]_c) (w : 'cV[R]_c).
Lemma between (j : bool) : (v *m w) 0 0 <= (v *m w) 0 0 <= (v *m w) 0 0.
Proof. by rewrite lexx. Qed.
Example between_least_and_largest := @jacsize.between_least_and_largest
  R _ _ (half_ge0 R) (half_sum R) c (fun=> v) w _ _ between.
Let N (u : 'rV[R]_1) := `|u 0 0|.
Lemma triangle a b : N (a + b) <= N a + N b.
Proof. by rewrite /N mxE ler_norm_add. Qed.
Lemma scaled x a : N (x *: a) = `|x| * N a.
Proof. by rewrite /N mxE normrM. Qed.
Example no_longer_than_the_longest (u : 'rV[R]_1) :=
  @jacsize.no_longer_than_the_longest R _ _ (half_ge0 R) (half_sum R) 1
    (fun=> u) N _ triangle scaled (fun _ => lexx (N u)).
Example jacobian_size_square :=
  @jacsize.jacobian_size_square R _ _ (half_sum R).
Example jacobian_vanishes :=
  @jacsize.jacobian_vanishes R _ _ (half_ge0 R) (half_sum R).
Example jacobian_at_most_half :=
  @jacsize.jacobian_at_most_half R _ _ (half_ge0 R) (half_sum R).
Lemma positive_diagonal (a : 'I_c) : 0 < (const_mx 1 : 'rV[R]_c) 0 a.
Proof. by rewrite mxE ltr01. Qed.
Example woodbury r (U : 'M[R]_(r, c)) :=
  @woodbury.woodbury R r c (const_mx 1) U positive_diagonal.
End Weights.

(* examples of balance, in Coq *)
Lemma metric1 (R : realType) d : forms.metric (1%:M : 'M[R]_d).
Proof.
split=> [|v v0]; first exact: trmx1.
have := (metric.metric1 R d).2 v^T; rewrite trmxK; apply.
by rewrite -trmx0 (inj_eq trmx_inj).
Qed.
Example log_det_in_another_basis (R : realType) d :=
  @logdet.log_det_in_another_basis R d _ _ (metric1 R d) (unitmx1 _ _).
Section Balance.
Variables (R : realType) (d : nat) (x : bool -> 'cV[R]_d).
Lemma balanced0 : roundtrip.balanced (0 : 'M[R]_d) x (fun=> 1).
Proof.
split=> [i|i j]; first exact: ltr01.
have E i' j' : roundtrip.S 0 x i' j' = 0.
  by rewrite /roundtrip.S /pairing.form mulmx0 mul0mx mxE.
by rewrite /roundtrip.A /gibbs.A /gibbs.Z !E; congr (_ * (_ / _));
  apply: eq_bigr => k _; rewrite !E.
Qed.
Example the_balance := @roundtrip.the_balance R d 0 _ x true _ balanced0.
End Balance.
