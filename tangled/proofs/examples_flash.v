(* proofs/examples_flash.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From attn Require gibbs logerr flashround.
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
Lemma x_ge0 j : 0 <= flashround.x s u e 1 0 0 j.
Proof.
have u1 : u < 1 by rewrite invf_lt1 ?ltr0n// ltr1n.
have e1 : e < 1 by rewrite ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat.
rewrite /flashround.x /s subrr !mulr0 !add0r addr0 !mul1r.
by rewrite addr_ge0// divr_ge0 ?u_ge0 ?e_ge0// subr_ge0 ltW.
Qed.
Lemma no_error j :
  `|zero j| <= flashround.x s u e 1 0 0 j /\
  `|zero j| <= flashround.x s u e 1 0 0 j.
Proof. by rewrite normr0 x_ge0. Qed.
Example outputs_rounding := @flashround.outputs_rounding R _ s s zero V
  u e 1 0 0 0 u_ge0 e_ge0 (lexx 1) (lexx 0) exact_score the_largest
  the_largest _ most small zero zero _ _ _ no_error erefl erefl (ok _).
Example logarithms_rounding := @flashround.logarithms_rounding R _ s s
  zero
  u e 1 0 0 0 u_ge0 e_ge0 (lexx 1) (lexx 0) exact_score the_largest
  the_largest _ most small zero zero _ _ _ _ _ no_error erefl (ok2 _)
  (ok _) (ok _) (ok _).
End Rounded.
