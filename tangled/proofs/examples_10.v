(* proofs/examples_10.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require going_back groups schedule shards volume windows.
From attn Require gibbs logerr flashround joined ringround.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of ranks, in Coq *)
Example contiguous_balance := @shards.contiguous_balance 2 3 1 0 isT isT isT.
Example striped_balance := @shards.striped_balance 2 3 1 0 isT isT.
Example zigzag_balance := @shards.zigzag_balance 2 4 1 0 isT isT isT isT.
Example last_rank := @groups.last_rank 2 3 isT isT.
Example last_group := @groups.last_group 2 2 3 isT isT isT.
Lemma owned i : (i < 4)%N -> (shards.striped 2 i < 2)%N.
Proof. by rewrite ltn_mod. Qed.
Example joined_pairs := @groups.joined_pairs 2 _ 2 4 0%N 0%N owned.
Example zigzag_joined := @groups.zigzag_joined 2 2 2 1 0 isT isT isT isT isT
  isT.
Example striped_joined := @groups.striped_joined 2 2 3 1 0 isT isT isT isT.
Example ring_volume m Hk d := @volume.ring_volume 2 m Hk d.
Example exchange_volume m dk dv := @volume.exchange_volume 2 1 m dk dv 0 isT
  isT.
Example rounds := @volume.rounds 2 3 1 2 isT isT.
Example within_a_round := @volume.within_a_round 2 3 1 0 1 0 1 isT isT.
Example windows_between_pieces q0 k0 o L R i j :=
  @windows.windows_between_pieces 2 q0 k0 o L R isT i j.
Example it_is_a_window q0 k0 o L R :=
  @windows.it_is_a_window 2 q0 k0 o L R isT.

(* examples of times, in Coq *)
Section Times.
Variable R : realFieldType.
Example uniform_ring := @schedule.uniform_ring R 1 (fun _ _ => 1) 2 1 isT
  ler01 ler01 (fun _ _ => erefl).
Lemma first_same (r t : nat) : 1 = if t is 0%N then 1 else 1 :> R.
Proof. by case: t. Qed.
Example hidden := @schedule.hidden R 1 (fun _ _ => 1) 3 1 1 isT ler01
  (lexx 1) ler01 first_same.
Example long_shards_hide_messages s Hk :=
  @schedule.long_shards_hide_messages R 1 1 s 1 Hk 1 1 ltr01 ltr01 ltr01
    ltr01 ltr01.
Lemma zero_hidden : (0 : R) <= 1 / 2%:R.
Proof. by rewrite divr_ge0 ?ler01 ?ler0n. Qed.
Example contiguous_ring := @schedule.contiguous_ring R 2 0 1 isT (lexx 0)
  zero_hidden.
Example zigzag_ring := @schedule.zigzag_ring R 2 0 1 isT (lexx 0)
  zero_hidden.
Lemma quick : (0 : R) <= (1 : R) <= 2%:R.
Proof. by rewrite ler01 ler1n. Qed.
Example ring_back r := @going_back.ring_back R 2 1 2%:R r isT quick.
End Times.

(* examples of second laps, in Coq *)
Example second_lap (R : realFieldType) r :=
  @going_back.second_lap R 2 1 2%:R r isT (quick R).
Example grid_volume m h d := @volume.grid_volume 2 2 m h d 0 isT.

(* an example of a ring of one key, in Coq *)
Section OneSpan.
Variables (R : realType) (V : unit -> R).
Let u : R := 50%:R^-1.
Let e : R := 2%:R / 50%:R.
Let s (j : unit) : R := 0.
Let zero (j : unit) : R := 0.
Let span (j : unit) := tt.
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
Let most j : ringround.rho s zero 1 0 0 u e 0 0 j <= 12%:R / 50%:R.
Proof.
rewrite /ringround.rho /ringround.lambda card_unit ln1.
rewrite /flashround.r /s /zero /u /e le_eqVlt; apply/orP; left; apply/eqP.
by field.
Qed.
Let small : 3%:R * (12%:R / 50%:R) < 1 :> R.
Proof. by rewrite mulrA ltr_pdivr_mulr ?ltr0n// mul1r -natrM ltr_nat.
  Qed.
Let attained p : exists2 j, span j = p & s j = 0.
Proof. by exists tt => //; case: p. Qed.
Let whole (p : unit) : [set j | span j == p] = [set tt].
Proof. by case: p; apply/setP => -[]; rewrite !inE. Qed.
Let alone v (p : unit) : joined.joined s u e v [set j | span j == p] 0
  1 1 (v tt).
Proof.
by rewrite whole; apply: (joined.AtMost _ _ (joined.Alone _ _ _ _ _)).
Qed.
Let all (y : unit -> R) : joined.joined s u (2%:R * u) y [set: unit] 0
  0 0 (y tt).
Proof.
rewrite (_ : [set: unit] = [set tt]); first exact: joined.Alone.
by apply/setP => -[]; rewrite !inE.
Qed.
Let finished (p : unit) : exists y z, [/\ logerr.rounds u (0 + ln 1) y,
  logerr.rounds u y z & logerr.rounds u z (s p)].
Proof. by exists 0, 0; rewrite ln1 addr0; split; exact: ok. Qed.
Let maximum : exists p : unit, s p = 0. Proof. by exists tt. Qed.
Example outputs_around := @ringround.outputs_around R _ _ span s s zero
  V 1 0 0 u e 0 0 u_ge0 e_ge0 exact_score largest sizes size _ most small
  (fun=> 0) _ _ _ s _ attained (alone _) (alone _) (fun p => ok _)
  (fun p => ok2 _) finished 0 _ _ _ maximum (all _) (all _) (ok _).
Example logarithms_around := @ringround.logarithms_around R _ _ span s s
  zero 1 0 0 u e 0 0 u_ge0 e_ge0 exact_score largest sizes size _ most
  small (fun=> 0) _ _ s attained (alone _) (fun p => ok2 _) finished 0 _
  _ _ maximum (all _) (ok2 _) (ok _).
End OneSpan.
