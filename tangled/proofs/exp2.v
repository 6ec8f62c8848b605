(* proofs/exp2.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core Mult_error.
From Gappa Require Import Gappa_tactic.
From Interval Require Import Tactic Float.Specific_stdz Float.Specific_ops.
(* Interval arithmetic on the integers of Coq's library:
  no axioms on machine words. *)
Module SF := SpecificFloat StdZRadix2.
Module IT := IntervalTactic SF.
Import IT.
From attn Require Import bits.
Open Scope R_scope.

(* the coefficients of the exponential, in Coq *)
Definition r0 := 1453635 / 2097152.
  (* = attn::detail::Exp2<float>::r[0] in attn/exp2.hpp *)
Definition r1 := 8060663 / 33554432.
  (* = attn::detail::Exp2<float>::r[1] in attn/exp2.hpp *)
Definition r2 := 3724765 / 67108864.
  (* = attn::detail::Exp2<float>::r[2] in attn/exp2.hpp *)
Definition r3 := 5163859 / 536870912.
  (* = attn::detail::Exp2<float>::r[3] in attn/exp2.hpp *)
Definition r4 := 11509545 / 8589934592.
  (* = attn::detail::Exp2<float>::r[4] in attn/exp2.hpp *)
Definition r5 := 5275375 / 34359738368.
  (* = attn::detail::Exp2<float>::r[5] in attn/exp2.hpp *)
Definition shift := 12583039.
  (* = attn::detail::exp2_shift<float> in attn/exp2.hpp *)

(* binary32 and a step of Horner, in Coq *)
(* Rounding to nearest in binary32. *)
Notation rnd := (round radix2 (FLT_exp (-149) 24) rndNE).
  (* 24 = std::numeric_limits<float>::digits
     in attn/exp2.hpp *)
Notation format := (generic_format radix2 (FLT_exp (-149) 24)).
  (* 0x1p-149 = std::numeric_limits<float>::denorm_min()
     in attn/exp2.hpp *)

(* p f + r with one rounding, with two, with none. *)
Definition fused p f r := rnd (p * f + r).
Definition separate p f r := rnd (rnd (p * f) + r).
Definition exact p f r := p * f + r.

(* Each step is of its own kind. *)
Definition horner (step : nat -> R -> R -> R -> R) f :=
  step 0%nat (step 1%nat (step 2%nat (step 3%nat (step 4%nat
    (step 5%nat r5 f r4) f r3) f r2) f r1) f r0) f 1.

(* the power of two, in Coq *)
Definition whole x := rnd (rnd (x + shift) - shift).
Definition rest x := rnd (x - whole x).
Definition exp2 step x b :=
  rnd (horner step (rest x) * value (shifted b)).

(* the polynomial and its roundings *)
Lemma poly_below f : -1/2 <= f <= 0 -> Rabs (horner (fun _ => exact) f
    - Rpower 2 f)
  <= 1.13e-8.
Proof.
intros H; unfold horner, exact, r0, r1, r2, r3, r4, r5, Rpower.
interval with (i_bisect f, i_taylor f, i_degree 8, i_prec 80).
Qed.
Lemma poly_above f : 0 <= f <= 1/2 -> Rabs (horner (fun _ => exact) f -
    Rpower 2 f)
  <= 1.36e-8.
Proof.
intros H; unfold horner, exact, r0, r1, r2, r3, r4, r5, Rpower.
interval with (i_bisect f, i_taylor f, i_degree 8, i_prec 80).
Qed.

(* one step after the other *)
Ltac step H := destruct H as [-> | ->];
  unfold fused, separate, r0, r1, r2, r3, r4, r5 in *; gappa.
(* Errors of the last but one and the last but two, in units of 2^-40. *)
Ltac climb S e1 e0 := unfold horner, exact;
  match goal with |- context [?s 5%nat r5 ?g r4] =>
    set (p5 := s 5%nat r5 g r4);
    assert (Rabs (p5 - (r5 * g + r4)) <= 68 / 1099511627776)
      by (unfold p5; step (S 5%nat)); clearbody p5;
    set (p4 := s 4%nat p5 g r3);
    assert (Rabs (p4 - ((r5 * g + r4) * g + r3)) <= 579 / 1099511627776)
      by (unfold p4; step (S 4%nat)); clearbody p4;
    set (p3 := s 3%nat p4 g r2);
    assert (Rabs (p3 - (((r5 * g + r4) * g + r3) * g + r2))
      <= 2595 / 1099511627776) by (unfold p3; step (S 3%nat));
    clearbody p3; set (p2 := s 2%nat p3 g r1);
    assert (Rabs (p2 - ((((r5 * g + r4) * g + r3) * g + r2) * g + r1))
      <= e1 / 1099511627776) by (unfold p2; step (S 2%nat));
    clearbody p2; set (p1 := s 1%nat p2 g r0);
    assert (Rabs (p1 - (((((r5 * g + r4) * g + r3) * g + r2) * g + r1) * g
      + r0)) <= e0 / 1099511627776) by (unfold p1; step (S 1%nat));
    clearbody p1 end; split; step (S 0%nat).

(* errors of steps of any kind *)
Lemma steps_below s f : (forall k, s k = fused \/ s k = separate) ->
  -1/2 <= rnd f <= 0 ->
  Rabs (horner s (rnd f) - horner (fun _ => exact) (rnd f)) <=
    69 / 1073741824 /\ 1/2 <= horner s (rnd f).
Proof. intros S H; climb S 10515 42124. Qed.
Lemma steps_above s f : (forall k, s k = fused \/ s k = separate) ->
  0 <= rnd f <= 1/2 ->
  Rabs (horner s (rnd f) - horner (fun _ => exact) (rnd f)) <=
    105 / 1073741824 /\ 1 <= horner s (rnd f).
Proof. intros S H; climb S 18707 50316. Qed.

(* the integer leaves an exact rest *)
Lemma rnd_format x : format x -> rnd x = x.
Proof. intros F; apply round_generic; [apply valid_rnd_N | exact F]. Qed.

Lemma format_small (m e : Z) : (Z.abs m < 2 ^ 24)%Z -> (-149 <= e)%Z ->
  format (IZR m * bpow radix2 e).
Proof.
intros Hm He; apply generic_format_FLT;
  exists (Flocq.Core.Defs.Float radix2 m e); unfold F2R; simpl; auto.
Qed.

Lemma reduction x : format x -> -126 <= x <= 127 -> exists n : Z,
  rnd (x + shift) = IZR (12583039 + n) /\ whole x = IZR n /\ (-126 <= n
    <= 127)%Z /\ rest x = x - IZR n /\ -1/2
    <= rest x <= 1/2.
Proof.
intros Fx Hx.
assert (Hi : 8388608 <= rnd (x + shift) <= 16777215) by (unfold shift;
  gappa).
assert (Hd : Rabs (rnd (x + shift) - (x + shift)) <= 1/2) by (unfold shift;
  gappa).
assert (Fi : format (rnd (x + shift))) by (apply generic_format_round;
  [apply FLT_exp_valid; reflexivity | apply valid_rnd_N]).
set (i := rnd (x + shift)) in *.
assert (exists k, i = IZR k) as [k Hk].
{ rewrite Fi; unfold F2R; simpl.
  assert (cexp radix2 (FLT_exp (-149) 24) i = 0%Z) as ->.
  { unfold cexp, FLT_exp; rewrite (mag_unique_pos radix2 i 24);
    [reflexivity|].
    simpl; lra. }
  exists (Ztrunc (scaled_mantissa radix2 (FLT_exp (-149) 24) i)); simpl;
    ring. }
pose (n := (k - 12583039)%Z).
assert (Hn : i - shift = IZR n) by (unfold n, shift; rewrite minus_IZR, Hk;
  reflexivity).
assert (Hxn : Rabs (x - IZR n) <= 1/2).
{ rewrite <- Hn, Rabs_minus_sym; replace (i - shift - x) with (i - (x
  + shift)) by ring; exact Hd. }
assert (Bn : (-127 < n < 128)%Z).
{ apply Rabs_le_inv in Hxn; split; apply lt_IZR; simpl; lra. }
exists n; split; [rewrite Hk; unfold n; f_equal; ring|].
assert (W : whole x = IZR n).
{ unfold whole; fold i; rewrite Hn; apply rnd_format.
  rewrite <- (Rmult_1_r (IZR n)); change 1 with (bpow radix2 0);
    apply format_small; lia. }

(* the rest of the exponent is a float *)
assert (Fr : format (x - IZR n)).
{ destruct (Rlt_or_le (Rabs x) (1/2)) as [Hs|Hl].
  - assert (n = 0)%Z as ->; [|rewrite Rminus_0_r; exact Fx].
    assert (-1 < n < 1)%Z; [|lia].
    apply Rabs_le_inv in Hxn; apply Rabs_lt_inv in Hs; split; apply lt_IZR;
      simpl; lra.
  - pose (e := cexp radix2 (FLT_exp (-149) 24) x).
    assert (He : (-24 <= e)%Z).
    { assert (0 <= mag radix2 x)%Z; [|unfold e, cexp, FLT_exp; lia].
      apply mag_ge_bpow; simpl; lra. }
    pose (m := Ztrunc (scaled_mantissa radix2 (FLT_exp (-149) 24) x)).
    assert (Hm : x = IZR m * bpow radix2 e) by exact Fx.
    pose (q := (m * 2 ^ (e + 24) - n * 2 ^ 24)%Z).
    assert (Hq : x - IZR n = IZR q * bpow radix2 (-24)).
    { unfold q; rewrite minus_IZR, 2!mult_IZR, Rmult_minus_distr_r.
      change (IZR (2 ^ 24)) with (bpow radix2 24);
        change 2%Z with (radix_val radix2); rewrite IZR_Zpower by lia.
      rewrite 2!Rmult_assoc, <- 2!bpow_plus.
      replace (e + 24 + -24)%Z with e by ring; rewrite <- Hm; simpl; ring. }
    rewrite Hq; apply format_small; [|lia].
    apply lt_IZR; rewrite abs_IZR.
    rewrite Hq, Rabs_mult, (Rabs_pos_eq (bpow _ _)) in Hxn by apply
      bpow_ge_0.
    simpl in Hxn |- *; lra. }
assert (r : rest x = x - IZR n) by (unfold rest; rewrite W;
  apply rnd_format; exact Fr).
split; [exact W|]; split; [lia|]; split; [exact r|].
rewrite r; apply Rabs_le_inv in Hxn; lra.
Qed.

(* errors are added up *)
Lemma add_errors a b c d e : Rabs (a - b) <= d -> Rabs (b - c) <= e ->
  Rabs (a - c) <= d + e.
Proof.
intros H1 H2; replace (a - c) with ((a - b) + (b - c)) by ring.
eapply Rle_trans; [apply Rabs_triang|lra].
Qed.

Lemma horner_error s f : (forall k, s k = fused \/ s k = separate) ->
  rnd f = f ->
  (-1/2 <= f <= 0 -> Rabs (horner s f - Rpower 2 f) <= 1.3 / 16777216 /\
    1/2 <= horner s f) /\
  (0 <= f <= 1/2 -> Rabs (horner s f - Rpower 2 f) <= 1.3 / 8388608 /\
    1 <= horner s f).
Proof.
intros S F; split; intros H.
- assert (E := poly_below f H); destruct (steps_below s f S) as [G L];
    rewrite F in *; [exact H|].
  assert (A := add_errors _ _ _ _ _ G E); split; [lra|exact L].
- assert (E := poly_above f H); destruct (steps_above s f S) as [G L];
    rewrite F in *; [exact H|].
  assert (A := add_errors _ _ _ _ _ G E); split; [lra|exact L].
Qed.

Lemma ulp_at y e : bpow radix2 (e - 1) <= y < bpow radix2 e -> (-125
  <= e)%Z ->
  ulp radix2 (FLT_exp (-149) 24) y = bpow radix2 (e - 24).
Proof.
intros H He; assert (0 < y) by (eapply Rlt_le_trans;
  [apply bpow_gt_0|apply H]).
rewrite ulp_neq_0 by lra; unfold cexp; rewrite (mag_unique_pos radix2 y e
  H).
f_equal; unfold FLT_exp; lia.
Qed.

(* a power of two scales a float *)
Lemma horner_format s f : (forall k, s k = fused \/ s k = separate) ->
  format (horner s f).
Proof.
intros S; unfold horner; destruct (S 0%nat) as [-> | ->];
  apply generic_format_round;
  try (apply FLT_exp_valid; reflexivity); apply valid_rnd_N.
Qed.
Lemma scaled y n e : format y -> bpow radix2 (e - 1) <= y ->
  (-125 - e <= n)%Z -> rnd (y * bpow radix2 n) = y * bpow radix2 n.
Proof.
intros Fy Hy Hn; apply rnd_format.
apply (mult_bpow_exact_FLT radix2 (-149) 24 y n Fy).
assert (e <= mag radix2 y)%Z; [|lia].
apply mag_ge_bpow; rewrite Rabs_pos_eq; [exact Hy|].
apply Rle_trans with (2 := Hy), bpow_ge_0.
Qed.

(* state the error of the exponential *)
(* proves prop:exp2 *)
Theorem exp2_error step x b :
  (forall k, step k = fused \/ step k = separate) ->
  format x -> -126 <= x <= 127 ->
  (* -126 = attn::detail::exp2_lowest<float>
     in attn/exp2.hpp *)
  (* 127 = std::numeric_limits<float>::max_exponent - 1
     in attn/exp2.hpp *)
  value b = rnd (x + shift) ->
  Rabs (exp2 step x b - Rpower 2 x) <=
    1.3 * ulp radix2 (FLT_exp (-149) 24) (Rpower 2 x).

(* prove the error of the exponential *)
Proof.
intros S Fx Hx Hb; destruct (reduction x Fx Hx) as (n & B & W & Hn & r & Hf).
assert (P : Rpower 2 x = Rpower 2 (rest x) * Rpower 2 (IZR n)).
{ rewrite <- Rpower_plus, r; f_equal; ring. }
assert (Pn : Rpower 2 (IZR n) = bpow radix2 n).
{ rewrite <- powerRZ_Rpower by lra; rewrite bpow_powerRZ; reflexivity. }
assert (F : rnd (rest x) = rest x) by (apply rnd_format; unfold rest;
  apply generic_format_round;
  [apply FLT_exp_valid; reflexivity | apply valid_rnd_N]).
destruct (horner_error step (rest x) S F) as [below above].
assert (X : exp2 step x b = horner step (rest x) * bpow radix2 n).
{ unfold exp2; rewrite (shiftedE n b Hn) by (rewrite Hb; exact B).
  assert (Fh := horner_format step (rest x) S).
  destruct (Rlt_or_le (rest x) 0) as [neg|pos].
  - apply (scaled _ n 0 Fh).
    + simpl; destruct (below (conj (proj1 Hf) (Rlt_le _ _ neg))); lra.
    + assert (-126 < n)%Z; [|lia]; apply lt_IZR; simpl; lra.
  - apply (scaled _ n 1 Fh); [|lia].
    simpl; destruct (above (conj pos (proj2 Hf))); lra. }
rewrite X, P, Pn, <- Rmult_minus_distr_r, Rabs_mult.
rewrite (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0.

(* compare with the unit on either side *)
assert (bn := bpow_gt_0 radix2 n).
destruct (Rlt_or_le (rest x) 0) as [neg|pos].
- rewrite (ulp_at _ n).
  + replace (n - 24)%Z with (-24 + n)%Z by ring; rewrite bpow_plus,
    <- Rmult_assoc.
    apply Rmult_le_compat_r; [lra|]; simpl; assert (C :=
      below (conj (proj1 Hf) (Rlt_le _ _ neg))); lra.
  + assert (/2 <= Rpower 2 (rest x) < 1).
    { split; [|rewrite <- (Rpower_O 2) by lra; apply Rpower_lt; lra].
      apply Rle_trans with (Rpower 2 (-1));
        [rewrite <- powerRZ_Rpower by lra; simpl; lra|].
      apply Rle_Rpower; lra. }
    replace (n - 1)%Z with (-1 + n)%Z by ring; rewrite bpow_plus; simpl.
    split; [apply Rmult_le_compat_r|rewrite <- (Rmult_1_l (bpow radix2 n))
      at 2; apply Rmult_lt_compat_r]; lra.
  + assert (-126 < n)%Z; [|lia]; apply lt_IZR; simpl; lra.
- rewrite (ulp_at _ (n + 1)).
  + replace (n + 1 - 24)%Z with (-23 + n)%Z by ring; rewrite bpow_plus,
    <- Rmult_assoc.
    apply Rmult_le_compat_r; [lra|]; simpl; assert (C :=
      above (conj pos (proj2 Hf))); lra.
  + assert (1 <= Rpower 2 (rest x) < 2).
    { split; [rewrite <- (Rpower_O 2) at 1 by lra; apply Rle_Rpower; lra|].
      rewrite <- (Rpower_1 2) at 2 by lra; apply Rpower_lt; lra. }
    replace (n + 1 - 1)%Z with n by ring; rewrite (Z.add_comm n), bpow_plus;
      simpl.
    split; [rewrite <- (Rmult_1_l (bpow radix2 n)) at 1;
      apply Rmult_le_compat_r|apply Rmult_lt_compat_r]; lra.
  + lia.
Qed.
