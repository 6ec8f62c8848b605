(* proofs/examples_03.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require gibbs divergence connection cosines hessian natural query
  softfisher softmaxbound logerr chord.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of derivations, in Coq *)
Section Derivative.
Let R := [comUnitRingType of {poly rat}].
Let d (a : 'I_1) : {additive R -> R} := [additive of @deriv rat_Ring].
Lemma product_rule a x y : d a (x * y) = d a x * y + x * d a y.
Proof. exact: derivM. Qed.
Lemma commute a b x : d a (d b x) = d b (d a x). Proof. by []. Qed.
Lemma two_unit : (2%:R : R) \is a GRing.unit.
Proof.
rewrite -(rmorph_nat (polyC_rmorphism rat_Ring)) poly_unitE size_polyC.
by rewrite coefC unitfE.
Qed.
Example levi_civita := @connection.levi_civita R 1 d two_unit
  1%:M (trmx1 _ _) (unitmx1 _ _).
Lemma certain : \sum_(j : unit) (1 : R) = 1.
Proof. by rewrite sumr_const card_unit. Qed.
Lemma logarithm (j : unit) c : d c 1 = 1 * d c 0.
Proof. by rewrite /= derivC linear0 mulr0. Qed.
Example fisher_in_two_forms a b := @connection.fisher_in_two_forms R 1 d
  product_rule _ _ _ a b certain logarithm.
Let psi : R := 2%:R^-1 *: 'X ^+ 2.
Lemma second : connection.g d psi = 1%:M.
Proof.
apply/matrixP => a b; rewrite !mxE !ord1 /= /psi derivZ derivXn /=.
by rewrite expr1 derivZ derivMn derivX -scaler_nat scalerA mulVf// scale1r.
Qed.
Lemma second_unit : connection.g d psi \in unitmx.
Proof. by rewrite second unitmx1. Qed.
Lemma constant c : d c (3%:R : R) = 0.
Proof. by rewrite /= derivMn derivC mul0rn. Qed.
Example connection_is_half_a_cumulant :=
  @connection.connection_is_half_a_cumulant R 1 d commute psi.
Example alpha_connections_are_dual :=
  @connection.alpha_connections_are_dual R 1 d commute two_unit psi
    second_unit 3%:R.
Example alpha_curvature :=
  @connection.alpha_curvature R 1 d product_rule commute two_unit psi
    second_unit 3%:R constant.
End Derivative.

(* examples of divergences, in Coq *)
Section Rows.
Variables (R : realType) (s v w : bool -> R).
Lemma positive2 : divergence.positive (half R).
Proof. by split; [exact: half_gt0 | exact: half_sum]. Qed.
Example law_of_cosines := @cosines.law_of_cosines R _ _ _ _
  (conj (@half_ge0 R) (half_sum R)) positive2 positive2.
Example inner_product_of_u_and_v q y := @cosines.inner_product_of_u_and_v
  R bool_finType q _ v y (fun=> erefl).
Section Projection.
Variables (n : nat) (k : bool -> 'rV[R]_n) (x y : 'cV[R]_n).
Let a j := gibbs.A (fun j => (k j *m x) 0 0) 1 j.
Lemma distribution_a : gibbs.distribution a.
Proof. exact: gibbs.A_distribution true. Qed.
Example projection_on_queries := @cosines.projection_on_queries R _ true n
  k a x y distribution_a erefl.
End Projection.
Example hessian_in_scores := @hessian.hessian_in_scores R _ true s 1
  ltr01 v w.
Example hessian_in_the_query d e (M : 'M[R]_(d, e)) k b q u w :=
  @hessian.hessian_in_the_query R _ true d e M k b _ q u w 1 ltr01
    (conj (@half_ge0 R) (half_sum R)).
End Rows.
Example cotangents_without_g_bar (F : fieldType) nq nk d r
    (W : 'M[F]_(r, d)) (Q : 'M[F]_(nq, d)) (K : 'M[F]_(nk, d)) S_bar :=
  @natural.cotangents_without_g_bar F nq nk d r W Q K S_bar _ erefl.
Example gradient_of_diagonal (F : fieldType) nq nk d
    (Q : 'M[F]_(nq, d)) (K : 'M[F]_(nk, d)) S_bar :=
  @natural.gradient_of_diagonal F nq nk d Q K S_bar _ erefl.
Example natural_gradient_is_a_vector (F : fieldType) d (dL : 'cV[F]_d) :=
  @natural.natural_gradient_is_a_vector F d _ _ dL
    (unitmx1 _ _) (unitmx1 _ _).

(* examples of keys, in Coq *)
Section Keys.
Variables (R : realFieldType) (d : nat) (k : 'M[R]_(2, d)).
Let A (j : 'I_2) : R := 2%:R^-1.
Lemma A_gt0 j : 0 < A j. Proof. by rewrite invr_gt0 ltr0n. Qed.
Lemma A_ge0 j : 0 <= A j. Proof. exact/ltW/A_gt0. Qed.
Lemma A1 : \sum_j A j = 1.
Proof.
by rewrite !big_ord_recl big_ord0 /A; field.
Qed.
Example definite_if_keys_span := @query.definite_if_keys_span R 2 d A k
  A_ge0 A1 1 ltr01.
Lemma optimal0 m (l : 'M[R]_(2, m)) : query.optimal A l (fun=> 0) 0.
Proof.
exists 0 => alpha beta; rewrite /query.squares big1 => [|j _].
  by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?A_ge0 ?sqr_ge0.
by rewrite big1 => [|a _]; rewrite ?mxE ?mulr0// subr0 addr0 expr0n mulr0.
Qed.
Example metric_is_pulled_back := @query.metric_is_pulled_back R 2 d A k A1.
Example natural_query_is_a_slope := @query.natural_query_is_a_slope R 2 d
  A k A1 1 _ ltr01 _ (optimal0 k).
Example optimal_slopes_move_alike i j := @query.optimal_slopes_move_alike
  R 2 d A k A_ge0 A1 1 _ ltr01 _ _ (optimal0 k) (optimal0 k) i j (A_gt0 i)
  (A_gt0 j).
Let pair : 'M[R]_(2, 1) := \matrix_(j, a) (-1) ^+ j.
Lemma pair_unit : query.covariance A pair \in unitmx.
Proof.
have -> : query.covariance A pair = 1%:M; last exact: unitmx1.
apply/matrixP => a b; rewrite !ord1 !mxE /query.mean /query.centred.
by rewrite /query.mean !big_ord_recl !big_ord0 !mxE /A /= expr0 expr1; field.
Qed.
Example residuals_of_the_fit := @query.residuals_of_the_fit R 2 1 A pair A1
  pair_unit.
Example gauss_equation := @query.gauss_equation R 2 1 A pair A1
  pair_unit.
Lemma only0 beta : query.optimal A pair (fun=> 0) beta -> beta = 0.
Proof.
move=> opt; have := query.optimal_slopes_move_alike A_ge0 A1 ltr01 opt
  (optimal0 pair) (A_gt0 0) (A_gt0 1).
rewrite !big_ord1 !mxE expr0 expr1 oppr0 addr0 mul1r mulN1r.
move/eqP; rewrite -subr_eq0 opprK -mulr2n mulrn_eq0 /= => /eqP b0.
by apply/colP => i; rewrite ord1 b0 mxE.
Qed.
Example natural_query_is_the_slope := @query.natural_query_is_the_slope R 2 1
  A pair A_ge0 A1 1 _ ltr01 0 (optimal0 pair) only0.
End Keys.

(* examples of gauges, in Coq *)
Section Fisher.
Variable R : realFieldType.
Let A : 'cV[R]_2 := const_mx 2%:R^-1.
Lemma weights1 : \sum_j A j 0 = 1.
Proof.
by rewrite !big_ord_recl big_ord0 !mxE; field.
Qed.
Lemma weights_gt0 j : 0 < A j 0.
Proof. by rewrite mxE invr_gt0 ltr0n. Qed.
Lemma weights_neq0 j : A j 0 != 0. Proof. by rewrite gt_eqF ?weights_gt0. Qed.
Lemma one_neq0 : 1 != 0 :> R. Proof. exact: oner_neq0. Qed.
Lemma ones_are_two : (1%:M : 'M[R]_2) *m softfisher.ones R 2 = 2%:R *: A.
Proof.
by rewrite mul1mx; apply/colP => j; rewrite !mxE divff ?two.
Qed.
Example fisher_is_information a b := @softfisher.fisher_is_information R 2 A
  1 weights1 a b.
Example null_direction := @softfisher.null_direction R 2 A 1 weights1.
Example gauge_inverse := @softfisher.gauge_inverse R 2 A 1 weights1
  weights_neq0 one_neq0 A weights1.
Lemma no_sum : \sum_j (0 : 'cV[R]_2) j 0 = 0.
Proof. by rewrite big1// => j _; rewrite mxE. Qed.
Example solution_in_the_gauge x := @softfisher.solution_in_the_gauge R 2 A 1
  weights1 weights_neq0 one_neq0 A weights1 _ x no_sum.
Example symmetric_products := @softfisher.symmetric_products R 2 A 1
  weights1 weights_neq0 one_neq0 A weights1 1%:M _ (trmx1 _ _)
  (unitmx1 _ _) ones_are_two (two R).
Example natural_is_centred := @softfisher.natural_is_centred R 2 A 1
  weights1 weights_neq0 one_neq0 A weights1.

(* examples of metrics of gauges, in Coq *)
Lemma positive1 : softfisher.positive (1%:M : 'M[R]_2).
Proof.
split=> [|x x0]; first exact: trmx1.
have E : (x^T *m 1%:M *m x) 0 0 = \sum_j x j 0 ^+ 2.
  by rewrite mulmx1 mxE; apply: eq_bigr => j _; rewrite mxE expr2.
rewrite E lt0r sumr_ge0 ?andbT => [|j _]; last exact: sqr_ge0.
apply: contraNneq x0 => /psumr_eq0P z; apply/eqP/colP => j; apply/eqP.
by rewrite mxE -sqrf_eq0; apply/eqP/z => // i _; exact: sqr_ge0.
Qed.
Lemma no_product : A^T *m (0 : 'cV[R]_2) = 0. Proof. exact: mulmx0. Qed.
Example gauge_is_shortest c := @softfisher.gauge_is_shortest R 2 A weights1
  _ _ _ c positive1 ones_are_two no_product.
Example every_gauge_has_a_metric :=
  @softfisher.every_gauge_has_a_metric R 2 A weights1.
Example kernel_of_fisher := @softfisher.kernel_of_fisher R 2 A 1 weights1
  weights_gt0 ltr01.
Example minor_of_fisher := @softfisher.minor_of_fisher R 1 A 1 weights1
  weights_neq0.
End Fisher.

(* examples of flows and lines, in Coq *)
Example natural_flow (F : fieldType) d (dL : 'cV[F]_d) :=
  @natural.natural_flow F d _ _ dL _ (unitmx1 _ _) (unitmx1 _ _) erefl.
Example gauges_move_alike (R : realFieldType) A_bar :=
  @softfisher.gauges_move_alike R 2 _ 1 (weights1 R) (@weights_neq0 R)
    (one_neq0 R) _ (weights1 R) A_bar.
Section Lines.
Let R := [comUnitRingType of {poly rat}].
Let d (a : 'I_1) : {additive R -> R} := [additive of @deriv rat_Ring].
Let V : 'cV[R]_1 := const_mx 1.
Lemma along_itself f :
  d 0 ([rmorphism of @idfun R] f) =
  \sum_a [rmorphism of @idfun R] (d a f) * V a 0.
Proof. by rewrite big_ord1 mxE mulr1. Qed.
Example straight_lines := @connection.straight_lines R 1 d commute two_unit
  _ second_unit R (d 0) (product_rule 0) _ V along_itself.
End Lines.

(* an example of a chord, in Coq *)
Section OneChord.
Variable R : realType.
Let u : R := 4%:R^-1.
Let u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Let ok (a : R) : logerr.rounds u a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Let two_u : 2%:R * u < 1.
Proof. by rewrite ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Let K := [finType of unit].
Let some : (0 < #|K|)%N. Proof. by rewrite card_unit. Qed.
Let one (j : K) : R := 1.
Let one_ge0 j : 0 <= one j. Proof. exact: ler01. Qed.
Let all (w : K -> R) : logerr.total u [seq w j | j <- enum K] (w tt).
Proof. by rewrite enumT unlock /=; exact: softmaxbound.One. Qed.
Example chord_rounding := @chord.chord_rounding R _ one one u u_ge0 two_u
  some one_ge0 one_ge0 _ _ _ _ _ _ _ _ (fun j => ok _) (fun j => ok _)
  (fun j => ok _) (fun j => ok _) (fun j => ok _) (fun j => ok _) (all _)
  (ok _).
End OneChord.
