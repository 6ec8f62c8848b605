(* proofs/examples_06a.v: tangled from chapters/06a-weights-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require gibbs learning sparserow.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of learned temperatures, in Coq *)
Section Learn.
Variables (R : realType) (s : bool -> bool -> R).
Let q : bool -> bool -> R := learning.Ab s 1.
Lemma q_distribution i : gibbs.distribution (q i).
Proof. exact: gibbs.A_distribution true. Qed.
Example learn_temperature := @learning.learn_temperature R _ _ s q true
  q_distribution.
Example planted beta' := @learning.planted R _ _ s q true q_distribution
  1 beta' (fun _ _ => erefl).
Example derivatives := @learning.derivatives R _ _ s q true q_distribution.
End Learn.

(* an example of sparsemax, in Coq *)
Section One.
Variable R : realType.
Let z (j : unit) : R := 0.
Lemma few : 8%:R * sparserow.n R unit_finType ^+ 2 * 0 <= 1 :> R.
Proof. by rewrite mulr0 ler01. Qed.
Lemma z_le0 j : z j <= 0. Proof. exact: lexx. Qed.
Lemma z_rounded j : exists a b, [/\ `|a| <= 0 :> R, `|b| <= 0 :> R
  & z j = z j * (1 + a) * (1 + b)].
Proof. by exists 0, 0; rewrite normr0 lexx /z !mul0r. Qed.
Lemma z_low j : z j <= -1 -> z j <= -1. Proof. by []. Qed.
Lemma root : \sum_j sparserow.weight (z j - -1) = 1.
Proof.
rewrite (bigD1 tt)//= big1 ?addr0 => [|[]//].
by rewrite /sparserow.weight /z sub0r opprK max_l ?ler01.
Qed.
Lemma keys : \sum_(j | -1 < z j) (z j - -1) * (1 + 0) = 1.
Proof.
rewrite (bigD1 tt)/= ?ltrN10// big1 => [|[]]; last by rewrite andbF.
by rewrite /z sub0r opprK !addr0 mulr1.
Qed.
Lemma ended : sparserow.ended 0 z (-1) 0.
Proof.
split; last by exists 0; rewrite ?normr0// !addr0 mulr1.
  exists (fun=> 0), 0, 0, 0; split=> //; rewrite ?normr0//.
    by rewrite /sparserow.omega mulr0 mul0r.
  by rewrite keys subrr !(mul0r, addr0).
by move=> j _; rewrite addr0 ltrN10.
Qed.
Lemma told : exists2 c : R, `|c| <= 0 &
  1 = sparserow.weight (z tt - -1) * (1 + c).
Proof.
exists 0; rewrite ?normr0// addr0 mulr1 /sparserow.weight /z sub0r opprK.
by rewrite max_l ?ler01.
Qed.
Example sparsemax_rounding := @sparserow.sparsemax_rounding R _ 0 z
  z tt (-1) (lexx _) few z_le0 erefl z_rounded z_low root 0 0 (-1) 0 tt
  1 (or_introl erefl) ended told.
End One.
