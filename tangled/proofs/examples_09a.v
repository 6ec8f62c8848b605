(* proofs/examples_09a.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require decoding gauge layer_rows turned rotary bounds.
From attn Require logerr rounding layerround.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of decoding, in Coq *)
Section Decoding.
Variables (F : fieldType) (e : F -> F) (T Q K U : Type) (d : nat) (z0 : F).
Variables (q : nat -> T -> Q) (k : nat -> T -> K).
Variables (v : nat -> nat -> T -> 'rV[F]_d).
Variables (s : nat -> nat -> Q -> K -> F) (Wo : 'rV[F]_d -> U).
Let past i j := (j <= i)%N.
Lemma past_causal i j : past i j -> (j <= i)%N. Proof. by []. Qed.
Lemma later i : (i < i.+1 <= i.+2)%N. Proof. by rewrite ltnSn leqnSn. Qed.
Example decodes_in_any_pieces X i := @decoding.decodes_in_any_pieces F e T Q
  K U d z0 q k v s past Wo past_causal X i _ _ (later i).
Let near i j := (i <= j.+1)%N && (j <= i)%N.
Lemma kept (i : nat) : (i <= i.+2 <= i.+3)%N.
Proof. by rewrite leqnSn (leq_trans (leqnSn i)). Qed.
Lemma seen i j : near i.+1 j -> (i <= j < i.+2)%N. Proof. by []. Qed.
Example keys_can_be_dropped X i := @decoding.keys_can_be_dropped F e T Q K U
  d z0 q k v s near Wo X i.+1 _ _ _ (kept i) (@seen i).
Lemma turnD (m n x : nat) : (m + n + x)%N = (m + (n + x))%N.
Proof. by rewrite addnA. Qed.
Example caches_form_a_monoid := @decoding.caches_form_a_monoid nat U addn
  add0n turnD.
End Decoding.

(* examples of turned heads, in Coq *)
Section Gauge.
Variable R : numFieldType.
Let c : 'rV[R]_1 := const_mx (3%:R / 5%:R).
Let s : 'rV[R]_1 := const_mx (4%:R / 5%:R).
Lemma circle a : c 0 a ^+ 2 + s 0 a ^+ 2 = 1.
Proof. by rewrite !mxE; field. Qed.
Lemma sines a : s 0 a != 0.
Proof. by rewrite mxE mulf_neq0 ?invr_neq0 ?pnatr_eq0. Qed.
Lemma cosines a b : c 0 a = c 0 b -> a = b.
Proof. by rewrite !ord1. Qed.
Example rotations_keep_length i x := @gauge.rotations_keep_length R 1 c s
  circle i x.
Example gains_before_rotations x y := @gauge.gains_before_rotations R 1 c s
  circle x y sines.
Lemma full1 n : row_full (1%:M : 'M[R]_n).
Proof. by rewrite row_full_unit unitmx1. Qed.
Example gauge_of_a_turned_head bQ bK := @gauge.gauge_of_a_turned_head R 1
  c s circle _ _ 1%:M 1%:M bQ bK 1%:M (unitmx1 _ _) (full1 _) (full1 _).
Example gauge_scales_and_turns M := @gauge.gauge_scales_and_turns R 1 c s
  circle (two R) sines cosines M.
End Gauge.

(* examples of slopes and batches, in Coq *)
Section Slope.
Variables (R : realType) (d : nat) (s : unit -> R) (V : unit -> 'rV[R]_d).
Lemma before (j : unit) : true -> (0 : R) <= 1.
Proof. by move=> _; exact: ler01. Qed.
Lemma exp_sum (x y : R) : expR (x + y) = expR x * expR y.
Proof. exact: expRD. Qed.
Example slope_is_a_bias m := @layer_rows.slope_is_a_bias R _ d _ exp_sum
  (@expR_gt0 R) xpredT s V (fun=> 0) 1 m before.
Lemma exp_neq1 : expR (1 * 1 : R) != 1.
Proof. by rewrite mulr1 gt_eqF// expR_gt1 ltr01. Qed.
Example slope_with_a_sink j := @layer_rows.slope_with_a_sink R _ _ exp_sum
  (@expR_gt0 R) xpredT s (fun=> 0) 1 1 before 1 j ltr01 isT exp_neq1.
End Slope.
Section Packing.
Variables (F : fieldType) (e : F -> F) (d : nat) (B : finType) (n : B -> nat).
Variables (M : forall b, rel 'I_(n b)) (V : forall b, 'I_(n b) -> 'rV[F]_d).
Example packing z0 b i := @layer_rows.packing F e d B n z0 M
  (fun b i j => 0) V (fun _ _ => 0) (fun _ _ _ => erefl) b i.
End Packing.
Example turned (R : realType) n theta N x y cap beta slope B table pq pk i j :=
  @turned.turned R n theta N x y cap beta slope B table pq pk pq pk i j
    erefl.

(* examples of normalised rows, in Coq *)
Lemma unit_gain (R : realDomainType) (A : Type) (a : A) : `|1 : R| <= 1.
Proof. by rewrite normr1. Qed.
Example scores_are_bounded (R : rcfType) n x y beta :=
  @bounds.scores_are_bounded R n 1 (fun=> 1) (fun=> 1) x y 1 1 beta id id id
    ler01 (@unit_gain R _) (@unit_gain R _) ler01 ler01 (fun=> erefl)
    (fun=> erefl) (fun=> lexx _).
Lemma one_sq (R : rcfType) : 0 < bounds.sq (fun _ : 'I_1 => 1 : R).
Proof. by rewrite /bounds.sq big_ord1 expr1n ltr01. Qed.
Example near_the_bound (R : rcfType) G beta := @bounds.near_the_bound R 1 1 G
  beta _ id ler01 (one_sq R) (fun=> erefl).
Example weights_are_bounded (R : realType) := @bounds.weights_are_bounded R
  bool_finType (fun=> 1) 1 true (@unit_gain R _).

(* examples of rows with errors, in Coq *)
Section Rows.
Variables (R : realType) (phi x1 x2 sigma B : R) (V : unit -> R).
Let u : R := 25%:R^-1.
Let one (a : 'I_1) : R := 1.
Let zero (T : Type) (a : T) : R := 0.
Let u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Let few k : (k < 25)%N -> k%:R * u < 1.
Proof. by move=> k25; rewrite ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Let same (T : Type) (x : T -> R) a : `|x a - x a| <= zero a.
Proof. by rewrite subrr normr0. Qed.
Let ok (a : R) : logerr.rounds u a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Let ok2 (a : R) : logerr.rounds (2%:R * u) a a.
Proof.
by exists 0; rewrite ?normr0 ?mulr_ge0 ?ler0n// addr0 mulr1.
Qed.
Let dot : rounding.computed u [seq (one a, one a) | a <- enum 'I_1]
  (1 * 1 * (1 + 0)).
Proof.
by rewrite enum_ordS enum_ord0 /=; apply: rounding.Product; rewrite normr0.
Qed.
Example projected := @layerround.projected R u 1 one one _ one 0 _ _ u_ge0
  (@few 2 isT) (same one) dot (ok _).
Let divisor : 0 < layerround.r 0 one.
Proof.
by rewrite sqrtr_gt0 addr0 mulr_gt0 ?invr_gt0 ?ltr0n ?one_sq.
Qed.
Let t0 : 2%:R * layerround.t 0 one (@zero _) < 1.
Proof.
rewrite /layerround.t big1 ?mul0r ?mulr0 ?ltr01// => b _.
by rewrite mulr0 expr0n mul0r addr0.
Qed.
Example normalised_row a := @layerround.normalised_row R 1 u 0 one one _
  one u_ge0 (@few 9 isT) (lexx 0) divisor t0 (same one) _ _ _ _ _ _ _ dot
  (ok _) (ok _) (ok _) (ok _) (fun a => ok _) (fun a => ok _) a.
Example turned_row := @layerround.turned_row R u u phi x1 x2 x1 x2 0 0
  u_ge0 (@few 5 isT) (lexx u) (conj (same id x1) (same id x2)) _ _ _ _ _ _
  _ _ _ _ _ (ok _) (conj (ok2 _) (ok _)) (conj (ok2 _) (ok _))
  (And4 (ok _) (ok _) (ok _) (ok _)) (ok _) (ok _).
Let score (S size : R) : 1 * `|S - S| <= 0 * size + 0 + 0 * `|S|.
Proof. by rewrite subrr normr0 mulr0 !mul0r !addr0. Qed.
Let cb : 1 + 0 <= 1 :> R. Proof. by rewrite addr0. Qed.
Example score_of_rows := @layerround.score_of_rows R 1 one one _ one one _
  (Some 1) sigma 0 0 B ltr01 (same one) (same one) 1 0 0 0 _ (lexx 0)
  (lexx 0) ler01 cb (score _ _).
Let whole : (0 <= 1 :> R) && (1 <= 1 :> R). Proof. by rewrite ler01 lexx. Qed.
Let output : 1 * `|\sum_(j : unit) 1 * V j - \sum_j 1 * V j|
  <= \sum_j 1 * zero j * `|V j|.
Proof.
by rewrite subrr normr0 mulr0 big1// => j _; rewrite mul0r.
Qed.
Example outputs_of_rows := @layerround.outputs_of_rows R _ _ _ V V _ 1 _
  whole (fun=> ler01) (fun=> lexx 0) (same V) output.
End Rows.
