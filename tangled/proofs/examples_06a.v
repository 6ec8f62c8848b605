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
Section Two.
Variable R : realType.
Let u : R := 32%:R^-1.
Let fl (y : R) := y.
Let row (j : bool) : R := if j then 0 else - 2%:R^-1.
Lemma u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma few : 8%:R * sparserow.n R bool_finType ^+ 2 * u <= 1.
Proof.
rewrite /sparserow.n card_bool /u -natrX -natrM.
by rewrite ler_pdivr_mulr ?mul1r ?ler_nat ?ltr0n.
Qed.
Lemma near (y : R) : exists2 a, `|a| <= u & fl y = y * (1 + a).
Proof. by exists 0; rewrite ?normr0 ?u_ge0 ?addr0 ?mulr1. Qed.
Lemma ordered (y y' : R) : y <= y' -> fl y <= fl y'. Proof. by []. Qed.
Lemma half_gt0 : 0 < 2%:R^-1 :> R. Proof. by rewrite invr_gt0 ltr0n. Qed.
Lemma best j : row j <= row true.
Proof. by case: j; rewrite /row ?lexx// oppr_le0 ltW// half_gt0. Qed.
Let z := sparserow.z fl row true 1.
Lemma zE j : z j = row j.
Proof. by rewrite /z /sparserow.z /fl /row subr0 !divr1. Qed.
Lemma four : 4%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.
Lemma two : 2%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.
Let t : R := - (3%:R / 4%:R).
Let next := sparserow.next fl row true 1.
Lemma z_gt (y : R) j : y < - 2%:R^-1 -> y < z j.
Proof.
move=> h; rewrite zE /row; case: j => //.
by apply: lt_trans h _; rewrite oppr_lt0 half_gt0.
Qed.
Lemma nextE (y : R) : y < - 2%:R^-1 ->
  next y = y + (z true - y + (z false - y) - 1) / 2%:R.
Proof.
move=> h; have all_ : [seq j <- enum bool_finType | y < z j] = [:: true; false].
  have -> : enum bool_finType = [:: true; false] by rewrite enumT unlock.
  by rewrite /= !z_gt.
rewrite /next /sparserow.next /sparserow.excess /sparserow.above -/z all_.
rewrite (@eq_card _ _ predT) ?card_bool; last by move=> j; rewrite !inE z_gt.
rewrite /= /fl; field; rewrite ?two//.
Qed.
Lemma t_lt : t < - 2%:R^-1.
Proof.
rewrite ltr_opp2 -subr_gt0 (_ : _ - _ = 4%:R^-1) ?invr_gt0 ?ltr0n//.
by field; rewrite ?two ?four.
Qed.
Lemma m1_lt : -1 < - 2%:R^-1 :> R.
Proof.
rewrite ltr_opp2 -subr_gt0 (_ : _ - _ = 2%:R^-1) ?half_gt0//.
by field; rewrite ?two ?four.
Qed.
Lemma next1 : next (-1) = t.
Proof. by rewrite nextE ?m1_lt// !zE /row /t; field; rewrite ?two ?four. Qed.
Lemma next_t : next t = t.
Proof. by rewrite nextE ?t_lt// !zE /row /t; field; rewrite ?two ?four. Qed.
Lemma up : -1 < next (-1).
Proof.
rewrite next1 -subr_gt0 (_ : _ - _ = 4%:R^-1) ?invr_gt0 ?ltr0n//.
by rewrite /t; field; rewrite ?two ?four.
Qed.
Lemma got : sparserow.reached fl row true 1 t.
Proof. by rewrite -next1; apply: sparserow.Step up; exact: sparserow.Start. Qed.
Lemma root : \sum_j sparserow.weight (sparserow.s row true 1 j - t) = 1.
Proof.
rewrite big_bool /= /sparserow.weight /sparserow.s /row !subr0 !divr1 !max_l.
- by rewrite /t; field; rewrite ?two ?four.
- by rewrite subr_ge0 ltW// t_lt.
by rewrite subr_ge0 ltW// (lt_trans t_lt)// oppr_lt0 half_gt0.
Qed.
Let ended : next t <= t. Proof. by rewrite next_t lexx. Qed.
Example sparsemax_rounding := sparserow.sparsemax_rounding
  u_ge0 few near ordered (fun _ => erefl) (fun _ => erefl) (fun _ _ => erefl)
  ltr01 erefl best root true got ended.
Example sparsemax_rows := sparserow.sparsemax_rows
  u_ge0 few near ordered (fun _ => erefl) (fun _ => erefl) (fun _ _ => erefl)
  ltr01 erefl best root got ended.
End Two.
