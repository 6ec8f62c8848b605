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
Lemma best j : row j <= row true.
Proof. by case: j; rewrite /row ?lexx// oppr_le0 invr_ge0 ler0n. Qed.
Let z := sparserow.z fl row true 1.
Lemma zE j : z j = row j.
Proof. by rewrite /z /sparserow.z /fl /row subr0 divr1. Qed.
Let w := sparserow.weight (R := R).
Let t : R := - (3%:R / 4%:R).
Lemma four : 4%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.
Lemma two : 2%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.
Lemma above_t j : t < z j.
Proof.
rewrite zE /t /row; case: j; rewrite ?ltr_oppl ?oppr0 ?opprK ?divr_gt0 ?ltr0n//.
by rewrite ltr_oppr opprK ltr_pdivl_mulr ?ltr0n// mulrC -ltr_pdivl_mulr
  ?ltr0n// invrK -natrM ltr_nat.
Qed.
Lemma root : \sum_j w (sparserow.s row true 1 j - t) = 1.
Proof.
rewrite -[RHS](_ : (0 - t) + (- 2%:R^-1 - t) = 1); last first.
  by rewrite /t; field; rewrite four two.
rewrite /index_enum; admit.
Admitted.
