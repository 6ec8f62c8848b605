(* proofs/examples_flash.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From attn Require gibbs logerr rounding tanh merged flashround scores
  joined decoded.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* an example of attention without errors, in Coq *)
Section Rounded.
Variables (R : realType) (V : unit -> R).
Let u : R := 25%:R^-1.
Let e : R := 2%:R / 25%:R.
Let s (j : unit) : R := 0.
Let zero (j : unit) : R := 0.
Lemma u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma e_ge0 : 0 <= e. Proof. by rewrite divr_ge0 ?ler0n. Qed.
Lemma exact_result (c a : R) : 0 <= c -> logerr.rounds c a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Let ok a := @exact_result u a u_ge0.
Lemma u2_ge0 : 0 <= 2%:R * u.
Proof. by rewrite mulr_ge0 ?ler0n ?u_ge0. Qed.
Let ok2 a := @exact_result (2%:R * u) a u2_ge0.
Lemma exact_score j : `|s j - s j| <= zero j.
Proof. by rewrite subrr normr0. Qed.
Lemma the_largest : (forall j, s j <= 0) /\ exists j, s j = 0.
Proof. by split; [move=> j; exact: lexx | exists tt]. Qed.
Lemma small : 3%:R * (8%:R / 25%:R) < 1 :> R.
Proof. by rewrite mulrA ltr_pdivr_mulr ?ltr0n// mul1r -natrM ltr_nat. Qed.
Lemma most j : flashround.r s zero 25%:R^-1 (2%:R / 25%:R) 1 0 0 j
  <= 8%:R / 25%:R.
Proof.
rewrite /flashround.r /s /zero le_eqVlt; apply/orP; left; apply/eqP.
by field.
Qed.
Let tree := merged.Block [set tt].
Lemma whole : merged.keys tree = [set: unit].
Proof. by apply/setP => -[]; rewrite !inE. Qed.
Lemma one_wide j : (merged.width tree j)%:R <= 1 :> R.
Proof. by rewrite /= cards1. Qed.
Lemma top0 : merged.top s 0 tree = 0.
Proof. by rewrite /=; elim/big_rec: _ => // i x _ ->; rewrite maxxx. Qed.
Lemma a_block v : merged.computed s u e 0 v tree (v tt).
Proof.
apply: (merged.OfBlock (p := fun=> 1)) (merged.One _ _ _) => j _.
  by exists 0, 0; rewrite normr0 u_ge0 e_ge0 top0 subrr mul0r expR0 addr0
    mulr1.
by case: j; rewrite mul1r; exact: ok.
Qed.
Example outputs_rounding := @flashround.outputs_rounding R _ s s zero V
  u e 1 0 0 u_ge0 e_ge0 exact_score the_largest _ most small tree 0 _ _ _
  whole (fun j => lexx 0) one_wide (fun j => lexx 0) (a_block _)
  (a_block _) (ok _).
Example logarithms_rounding := @flashround.logarithms_rounding R _ s s
  zero u e 1 0 0 u_ge0 e_ge0 exact_score the_largest _ most small tree 0
  _ _ _ _ _ whole (fun j => lexx 0) one_wide (fun j => lexx 0)
  (a_block _) (ok2 _) (ok _) (ok _) (ok _).
End Rounded.

(* an example of a score without errors, in Coq *)
Section Score.
Variable R : realType.
Let u : R := 25%:R^-1.
Let one (a : 'I_1) : R := 1.
Let c : option R := Some 1.
Let u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Let ok (a : R) : logerr.rounds u a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Lemma eight : (1 + 7)%:R * u < 1.
Proof. by rewrite ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Let p : R := 1 / 1 / 1 * 1 * 1 * (1 + 0).
Lemma dot : rounding.computed u
  [seq (1 / 1 / 1 * one a, one a) | a <- enum 'I_1] p.
Proof.
rewrite enum_ordS enum_ord0 /=; apply: rounding.Product.
by rewrite normr0.
Qed.
Lemma flat : exists t c', [/\ `|t - tanh.tanh p| <= 7%:R * u,
  logerr.rounds u (1 * 1) c' & logerr.rounds u (c' * t) (1 * 1 * tanh.tanh p)].
Proof.
exists (tanh.tanh p), (1 * 1); split; [|exact: ok|exact: ok].
by rewrite subrr normr0 mulr_ge0 ?ler0n.
Qed.
Let scale : exists2 z, logerr.rounds u 1 z & logerr.rounds u (1 / z) (1 / 1).
Proof. by exists 1; exact: ok. Qed.
Example product_error := @scores.product_error R 1 one one c 1 1 u u_ge0
  eight ler01 ltr01 _ _ _ _ _ _ (ok 1) scale (ok _) (fun a => ok _) dot
  flat.
Example score_error := @scores.score_error R 1 one one c 1 1 1 1 1 u u_ge0
  eight ler01 ltr01 _ _ _ _ _ _ (ok 1) scale (ok _) (fun a => ok _) dot
  flat _ _ _ _ _ (ok _) (ok _) (ok _) (ok _) (ok _).
Example sink_error := @scores.sink_error R 1 1 u u_ge0
  eight ler01 _ (ok 1) 1 _ (ok _).
End Score.

(* an example of a cache of one key, in Coq *)
Section Few.
Variables (R : realType) (V : unit -> R).
Let u : R := 50%:R^-1.
Let e : R := 2%:R / 50%:R.
Let s (j : unit) : R := 0.
Let zero (j : unit) : R := 0.
Let piece (j : unit) := tt.
Let u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Let e_ge0 : 0 <= e. Proof. by rewrite divr_ge0 ?ler0n. Qed.
Let ok a : logerr.rounds u a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Let ok2 a : logerr.rounds (2%:R * u) a a.
Proof. by exists 0; rewrite ?normr0 ?mulr_ge0 ?ler0n// addr0 mulr1. Qed.
Let exact_score j : `|s j - s j| <= zero j.
Proof. by rewrite subrr normr0. Qed.
Let largest : (forall j, s j <= 0) /\ exists j, s j = 0.
Proof. by split; [move=> j; exact: lexx | exists tt]. Qed.
Let sizes j : `|s j| <= 0. Proof. by rewrite normr0. Qed.
Let size : `|ln (gibbs.Z s 1)| <= 0.
Proof.
rewrite /gibbs.Z (bigD1 tt)//= big1 => [|[]//].
by rewrite mul0r expR0 addr0 ln1 normr0.
Qed.
Let most j : decoded.rho s zero 1 0 0 u e 0 0 j <= 16%:R / 50%:R.
Proof.
rewrite /decoded.rho /flashround.r /s /zero /u /e -subr_ge0.
rewrite [X in 0 <= X](_ : _ = 8%:R / 50%:R); last by field.
by rewrite divr_ge0 ?ler0n.
Qed.
Let small : 3%:R * (16%:R / 50%:R) < 1 :> R.
Proof. by rewrite mulrA ltr_pdivr_mulr ?ltr0n// mul1r -natrM ltr_nat.
  Qed.
Let attained p : exists2 j, piece j = p & s j = 0.
Proof. by exists tt => //; case: p. Qed.
Let whole (p : unit) : [set j | piece j == p] = [set tt].
Proof. by case: p; apply/setP => -[]; rewrite !inE. Qed.
Let alone v (p : unit) : joined.joined s u e v [set j | piece j == p] 0
  1 0 (v tt).
Proof.
rewrite whole; apply: (joined.AtMost _ _ (joined.Alone _ _ _ _ _)) =>
  //.
Qed.
Let all (y : unit -> R) : joined.joined s u (2%:R * u) y [set: unit] 0
  0 0
  (y tt).
Proof.
rewrite (_ : [set: unit] = [set tt]); first exact: joined.Alone.
by apply/setP => -[]; rewrite !inE.
Qed.
Let base (p : unit) : exists2 z, logerr.rounds u 0 z & logerr.rounds u
  z 0.
Proof. by exists 0; exact: ok. Qed.
Let maximum : exists p : unit, s p = 0. Proof. by exists tt. Qed.
Example outputs_of_few := @decoded.outputs_of_few R _ _ piece s s zero
  V 1 0
  0 u e 0 0 _ u_ge0 e_ge0 isT exact_score largest sizes most small
  (fun=> 0) _ _ s attained (alone _)
  (alone _) base 0 _ _ _ maximum (all _) (all _) (ok _).
Example logarithms_of_few := @decoded.logarithms_of_few R _ _ piece s s
  zero
  1 0 0 u e 0 0 _ u_ge0 e_ge0 isT exact_score largest sizes size most
    small
  (fun=> 0) _ s attained (alone _)
  base 0 _ _ _ maximum (all _) (ok _) (ok2 _).
End Few.
