(* proofs/examples_05a.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require metric rotary alibi stretch logerr turnround.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of rotations, in Coq *)
Section Rotary.
Variable R : rcfType.
Let c : 'rV[R]_1 := const_mx (3%:R / 5%:R).
Let s : 'rV[R]_1 := const_mx (4%:R / 5%:R).
Lemma circle a : c 0 a ^+ 2 + s 0 a ^+ 2 = 1.
Proof. by rewrite !mxE; field. Qed.
Lemma sines a : s 0 a != 0.
Proof. by rewrite mxE mulf_neq0 ?invr_neq0 ?pnatr_eq0. Qed.
Lemma cosines a b : c 0 a = c 0 b -> a = b.
Proof. by rewrite !ord1. Qed.
Example depends_on_differences := @rotary.depends_on_differences R 1 c s
  circle.
Example commutant := @rotary.commutant R 1 c s circle (two R) sines
  cosines.
Example commuting_metrics g := @rotary.commuting_metrics R 1 c s g circle
  sines cosines.
End Rotary.

(* examples of slopes and clocks, in Coq *)
Section Clocks.
Variables (R : realType) (s t : bool -> R) (m : R).
Example slope_is_a_prior := @alibi.slope_is_a_prior R _ s t m true _
  (conj (@half_ge0 R) (half_sum R)).
Lemma level (i j : nat) : (0 : R) - 0 <= 0. Proof. by rewrite subrr. Qed.
Example alibi_horizon := @alibi.alibi_horizon R 3 1 (fun=> 0) 0 m level isT.
Lemma clock_gt0 (a : nat) : 0 < a.+1%:R^-1 :> R.
Proof. by rewrite invr_gt0 ltr0n. Qed.
Lemma slower (a : nat) : a.+2%:R^-1 < a.+1%:R^-1 :> R.
Proof. by rewrite ltf_pinv ?posrE ?ltr0n// ltr_nat. Qed.
Lemma ramp01 (a : nat) : 0 <= ((a == 0%N)%:R : R) <= 1.
Proof. by rewrite ler0n lern1 leq_b1. Qed.
Lemma ramp_le (a : nat) : (a.+1 == 0%N)%:R <= (a == 0%N)%:R :> R.
Proof. by rewrite /= mulr0n ler0n. Qed.
Lemma longer : 1 <= 2%:R :> R. Proof. by rewrite ler1n. Qed.
Example no_new_angles a := @stretch.no_new_angles R 1 1 2%:R _ _ ltr01 ltr01
  longer clock_gt0 slower ramp01 ramp_le a.
Lemma much_longer : 1 < 2%:R :> R. Proof. by rewrite ltr1n. Qed.
Let f : R := stretch.frequency 6 2%:R 1.
Lemma f_gt0 : 0 < f. Proof. exact: expR_gt0. Qed.
Let P := 2%:R * f.
Lemma P_gt0 : 0 < P. Proof. by rewrite mulr_gt0 ?ltr0n ?f_gt0. Qed.
Lemma half_a_turn : stretch.turns P 1 (stretch.frequency 6 2%:R) 1 < 1.
Proof.
rewrite /stretch.turns mul1r -/f ltr_pdivr_mulr ?P_gt0// mul1r /P.
by rewrite ltr_pmull ?f_gt0// ltr1n.
Qed.
Example larger_base := @stretch.larger_base R P 1 2%:R 2%:R 6 P_gt0 ltr01
  much_longer much_longer isT 1 isT half_a_turn.
End Clocks.

(* an example of a rounded rotation, in Coq *)
Section Turned.
Variable R : realType.
Lemma kept (a : R) : logerr.rounds 0 a a.
Proof. by exists 0; rewrite ?normr0 ?addr0 ?mulr1. Qed.
Lemma kept2 (a : R) : logerr.rounds (2%:R * 0) a a.
Proof. by rewrite mulr0; exact: kept. Qed.
Lemma none : 4%:R * 0 < 1 :> R. Proof. by rewrite mulr0 ltr01. Qed.
Lemma few : turnround.w 0 1 ^+ 2 * 0 <= 2%:R :> R.
Proof. by rewrite mulr0 ler0n. Qed.
Example turned_plane := @turnround.turned_plane R 0 0 0 1 1 1 1 (lexx 0)
  none (lexx 0) few _ _ _ _ _ _ _ _ _ _ _ (kept 0) (kept2 _) (kept _)
  (kept2 _) (kept2 _) (And4 (kept _) (kept _) (kept _) (kept _)) (kept _)
  (kept _).
End Turned.
