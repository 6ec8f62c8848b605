(* proofs/examples_10.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require going_back groups schedule shards volume windows.
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
Example ring_volume m Hk d := @volume.ring_volume 2 m Hk d isT.
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
Example grid_volume m h d := @volume.grid_volume 2 2 m h d 0 isT isT.
