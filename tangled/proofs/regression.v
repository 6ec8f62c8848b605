(* proofs/regression.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From attn Require Import prelude metric gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* entries of vectors are letters *)
(* ring, with the entries of matrices as its letters *)
Ltac entries := repeat match goal with
  |- context [@fun_of_matrix _ _ _ ?A ?i ?j] => move: (A i j) => ? end.

(* weights and a loss, in Coq *)
Section LocalConstant.
Variables (R : realFieldType) (K : finType) (d : nat).
Variables (A : K -> R) (v : K -> 'rV[R]_d).
Hypothesis A1 : \sum_j A j = 1.
Definition sq (x : 'rV[R]_d) := \sum_c x 0 c ^+ 2.
Definition loss a := \sum_j A j * sq (v j - a).
Definition o := \sum_j A j *: v j.

(* state that the mean is a fit *)
(* proves prop:local-constant *)
Theorem local_constant (a : 'rV[R]_d) : loss a = loss o + sq (a - o).

(* prove that the mean is a fit *)
Proof.
rewrite /loss /sq; under eq_bigr do rewrite mulr_sumr.
under [X in _ = X + _]eq_bigr do rewrite mulr_sumr.
rewrite exchange_big [X in _ = X + _]exchange_big -big_split /=;
  apply: eq_bigr => c _.
have oE : o 0 c = \sum_j A j * v j 0 c.
  by rewrite /o summxE; apply: eq_bigr => j _; rewrite mxE.
have E j : A j * (v j - a) 0 c ^+ 2 = A j * (v j - o) 0 c ^+ 2
    + (A j * v j 0 c * (2%:R * (o 0 c - a 0 c))
      + A j * (a 0 c ^+ 2 - o 0 c ^+ 2)).
  by rewrite !mxE; entries; ring.
rewrite (eq_bigr _ (fun j _ => E j)) big_split; congr (_ + _).
by rewrite big_split /= -!mulr_suml A1 -oE !mxE; entries; ring.
Qed.

(* squares vanish for zero alone *)
Lemma sq_ge0 x : 0 <= sq x. Proof. by apply: sumr_ge0 => c _; exact: sqr_ge0.
Qed.
Lemma sq_eq0 x : sq x = 0 -> x = 0.
Proof.
move=> /psumr_eq0P h; apply/rowP => c; rewrite mxE; apply/eqP;
  rewrite -sqrf_eq0.
by apply/eqP/h => // b _; exact: sqr_ge0.
Qed.

(* state that no other value fits as well *)
(* proves prop:local-constant *)
Theorem only_minimiser a :
  loss o <= loss a /\ (loss a = loss o <-> a = o).

(* prove that no other value fits as well *)
Proof.
rewrite (local_constant a) ler_addl sq_ge0; split=> //; split=> [h|->].
  by apply/eqP; rewrite -subr_eq0; apply/eqP/sq_eq0/(addrI (loss o));
    rewrite h addr0.
by rewrite subrr /sq big1 ?addr0// => c _; rewrite mxE expr0n.
Qed.
End LocalConstant.

(* fugacities, in Coq *)
Section Regression.
Variables (R : realType) (d : nat) (K : finType) (k : K -> 'rV[R]_d).
Variables (g : 'M[R]_d) (gm : metric g).
Implicit Types q : 'rV[R]_d.
Definition attention q j := A (fun l => inner g q (k l)) 1 j.
Definition kappa q l := expR (- (norm g (q - k l) ^+ 2 / 2%:R)).
Definition fugacity l := expR (norm g (k l) ^+ 2 / 2%:R).
Definition plain q j := kappa q j / \sum_l kappa q l.

(* scores are distances *)
Lemma exp_score q l : expR (inner g q (k l) / 1) =
  expR (norm g q ^+ 2 / 2%:R) * (fugacity l * kappa q l).
Proof.
rewrite /fugacity /kappa -!expRD; congr expR; rewrite !norm_sqr// -scaleN1r.
by rewrite !(innerDl, innerDr gm, innerZl, innerZr gm) (innerC gm (k l) q);
  field.
Qed.

(* state that attention is a regression *)
(* proves thm:attention-regression *)
Theorem attention_is_regression q j :
  attention q j = fugacity j * kappa q j / \sum_l fugacity l *
    kappa q l.

(* prove that attention is a regression *)
Proof.
rewrite /attention /A /Z; under eq_bigr do rewrite exp_score.
rewrite exp_score -mulr_sumr invfM mulrACA divff ?mul1r//.
by rewrite gt_eqF// expR_gt0.
Qed.

(* state the bandwidth of attention *)
(* proves thm:attention-regression *)
Theorem bandwidth q j :
  let h := Num.sqrt (Num.sqrt (d%:R : R)) in
  expR (- (norm ((Num.sqrt d%:R)^-1 *: 1%:M) (q - k j) ^+ 2 / 2%:R)) =
  expR (- (norm 1%:M (q - k j) ^+ 2 / (2%:R * h ^+ 2))).

(* prove the bandwidth of attention *)
Proof.
move=> h; have c0 : 0 <= (Num.sqrt d%:R)^-1 :> R by rewrite invr_ge0 sqrtr_ge0.
have E (u : 'rV[R]_d) : norm ((Num.sqrt d%:R)^-1 *: 1%:M) u ^+ 2 =
    (Num.sqrt d%:R)^-1 * norm 1%:M u ^+ 2.
  have i : inner ((Num.sqrt d%:R)^-1 *: 1%:M) u u =
      (Num.sqrt d%:R)^-1 * inner 1%:M u u.
    by rewrite /inner -scalemxAr -scalemxAl mxE.
  have p := inner_ge0 (@metric1 R d) u.
  by rewrite /norm i !sqr_sqrtr// mulr_ge0.
rewrite E /h sqr_sqrtr ?sqrtr_ge0// invfM; congr (expR (- _)).
by rewrite [_^-1 * norm _ _ ^+ 2]mulrC -mulrA [_^-1 * 2%:R^-1]mulrC.
Qed.

(* equal weights, equal fugacities *)
Lemma kappa_sum_gt0 q (j : K) : 0 < \sum_l kappa q l.
Proof.
rewrite (bigD1 j)//= ltr_paddr ?expR_gt0//.
by apply: sumr_ge0 => l _; exact/ltW/expR_gt0.
Qed.
Lemma same_weights_same_norms q : (forall j, attention q j = plain q j) ->
  forall j l, norm g (k j) = norm g (k l).
Proof.
move=> h j l; have f0 i : fugacity i != 0 by rewrite gt_eqF ?expR_gt0.
have k0 i : kappa q i != 0 by rewrite gt_eqF ?expR_gt0.
have N0 : \sum_l kappa q l != 0 by rewrite gt_eqF// (kappa_sum_gt0 _ j).
have W0 : \sum_l fugacity l * kappa q l != 0.
  rewrite gt_eqF// (bigD1 j)//= ltr_paddr ?mulr_gt0 ?expR_gt0//.
  by apply: sumr_ge0 => i _; rewrite mulr_ge0// ltW ?expR_gt0.
have E i : fugacity i = (\sum_l fugacity l * kappa q l) / (\sum_l kappa q l).
  have := h i; rewrite attention_is_regression /plain => e.
  have := congr1 (fun x => x * (\sum_l fugacity l * kappa q l) / kappa q i) e.
  by rewrite mulfVK// mulfK// => ->; field; rewrite N0 k0.
have : fugacity j = fugacity l by rewrite !E.
have i2 : 2%:R^-1 != 0 :> R by rewrite invr_eq0 pnatr_eq0.
move/(@expR_inj R)/(mulIf i2)/eqP; rewrite eqr_expn2 ?norm_ge0//.
by move/eqP.
Qed.
Lemma same_norms_same_weights : (forall j l, norm g (k j) = norm g (k l)) ->
  forall q j, attention q j = plain q j.
Proof.
move=> h q j; rewrite attention_is_regression /plain.
have E l : fugacity l = fugacity j by rewrite /fugacity (h l j).
under eq_bigr do rewrite E; rewrite -mulr_sumr invfM mulrACA divff ?mul1r//.
by rewrite gt_eqF// expR_gt0.
Qed.

(* state that equal norms make it plain *)
(* proves cor:equal-norms *)
Theorem equal_norms q :
  ((forall j, attention q j = plain q j) <->
    (forall j l, norm g (k j) = norm g (k l))) /\
  ((forall q j, attention q j = plain q j) <->
    (forall j l, norm g (k j) = norm g (k l))).

(* prove that equal norms make it plain *)
Proof.
split; split.
- exact: same_weights_same_norms.
- by move=> h j; exact: same_norms_same_weights.
- by move=> h; exact: (same_weights_same_norms (h q)).
exact: same_norms_same_weights.
Qed.
End Regression.
