(* proofs/alibi.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a slope as a prior, in Coq *)
Section Alibi.
Variables (R : realType) (K : finType) (s t : K -> R) (m : R) (j0 : K).
Definition with_slope j := s j - m * `|t j|.
Definition prior := A (fun j => - (m * `|t j|)) 1.
(* in proportion to exp(-m |t|) *)
Definition objective q := - (\sum_j q j * s j) + KL q prior.

(* the objective is a free energy *)
Lemma objective_free_energy q : distribution q ->
  objective q = F with_slope 1 q + ln (Z (fun j => - (m * `|t j|)) 1).
Proof.
move=> [q0 q1]; set z := Z _ _.
have E j : q j * ln (q j / prior j) = q j * ln (q j) + q j * (m * `|t j|)
  + q j * ln z.
  have [->|qj] := eqVneq (q j) 0; first by rewrite !mul0r !addr0.
  rewrite ln_div ?posrE ?A_gt0 ?lt0r ?qj ?q0// ln_A divr1 /= -/z.
  ring.
rewrite /objective /KL (eq_bigr _ (fun j _ => E j)) !big_split /= -mulr_suml
  q1 mul1r.
rewrite /F /U /H /with_slope; under [\sum_j q j * (s j - _)]eq_bigr do
  rewrite mulrBr.
rewrite sumrB; move: (\sum_j q j * s j) (\sum_j q j * ln _)
  (\sum_j q j * (m * _)) => x y w.
ring.
Qed.

(* state that a slope is a prior *)
(* proves prop:alibi *)
Theorem slope_is_a_prior q : distribution q ->
  objective (A with_slope 1) <= objective q /\
  (objective q = objective (A with_slope 1) <->
    forall j, q j = A with_slope 1 j).

(* prove that a slope is a prior *)
Proof.
move=> qd; have Ad : distribution (A with_slope 1) by exact:
  A_distribution j0.
have [FA [le E]] := variational_principle with_slope ltr01 qd.
rewrite !objective_free_energy// ler_add2r; split=> //.
by rewrite -E; split=> [/addIr|->].
Qed.
End Alibi.

(* keys at consecutive distances, in Coq *)
(* Keys at the distances 0, ..., n - 1, scores within a range rho. *)
Section Horizon.
Variables (R : realType) (n r : nat) (s : nat -> R) (rho m : R).
Hypotheses (range : forall i j, s i - s j <= rho) (rn : (r < n)%N).
Definition weight j :=
  expR (s j - m * j%:R) / \sum_(0 <= i < n) expR (s i - m * i%:R).

(* state how far ALiBi looks *)
(* proves prop:alibi *)
Theorem alibi_horizon :
  \sum_(r.+1 <= j < n) weight j <= expR (rho - m * r.+1%:R).

(* prove how far ALiBi looks *)
Proof.
rewrite /weight; set z := \sum_(0 <= i < n) expR (s i - m * i%:R).
have z0 : 0 < z.
  rewrite /z big_ltn ?(leq_ltn_trans _ rn)// ltr_paddr ?expR_gt0//.
  by rewrite big_nat; apply: sumr_ge0 => i _; exact/ltW/expR_gt0.
rewrite -mulr_suml ler_pdivr_mulr// -[in X in X <= _](add0n r.+1) big_addn.
apply: (@le_trans _ _ (\sum_(0 <= i < n - r.+1) expR (rho - m * r.+1%:R) *
  expR (s i - m * i%:R))).
  rewrite !big_nat; apply: ler_sum => i _; rewrite -expRD ler_expR -subr_ge0.
  rewrite (_ : _ - _ = rho - (s (i + r.+1)%N - s i));
    last by rewrite natrD; ring.
  by rewrite subr_ge0.
rewrite -mulr_sumr ler_wpmul2l ?(ltW (expR_gt0 _))//.
rewrite /z (@big_cat_nat _ _ _ (n - r.+1) 0 n) ?leq_subr//= ler_addl big_nat.
by apply: sumr_ge0 => i _; exact/ltW/expR_gt0.
Qed.
End Horizon.
