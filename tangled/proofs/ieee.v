(* proofs/ieee.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From Coq Require Import Reals Lra.
From Flocq Require Import Core Relative Plus_error.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import Rstruct.
From attn Require Import rounding.
Open Scope R_scope.

(* binary64 in Coq *)
Notation rnd := (round radix2 (FLT_exp (-1074) 53) ZnearestE).
  (* 53 = std::numeric_limits<double>::digits
     in attn/rounding.hpp *)
Notation format := (generic_format radix2 (FLT_exp (-1074) 53)).
  (* 0x1p-1074 = std::numeric_limits<double>::denorm_min()
     in attn/rounding.hpp *)
Definition u := / 2 * bpow radix2 (-53 + 1).
  (* 0x1p-53 = std::numeric_limits<double>::epsilon() / 2
     in attn/rounding.hpp *)

(* A product that is zero, or not below the normal range. *)
Definition no_underflow z := z = 0 \/ bpow radix2 (-1022) <= Rabs z.
  (* 0x1p-1022 = std::numeric_limits<double>::min()
     in attn/rounding.hpp *)

(* sums and products obey the model *)
Lemma rnd_format z : format (rnd z).
Proof. apply generic_format_round; [by apply: FLT_exp_valid | by apply:
  valid_rnd_N]. Qed.

Lemma sum_model x y : format x -> format y ->
  exists d, Rabs d <= u /\ rnd (x + y) = (x + y) * (1 + d).
Proof.
move=> Fx Fy.
have P : Prec_gt_0 53 by [].
have [d [dE ->]] := @FLT_plus_error_N_ex radix2 (-1074) 53 P (fun x => negb
  (Z.even x)) x y Fx Fy.
exists d; split=> //; apply: Rle_trans dE _; rewrite -/u /u_ro -/u.
have u0 : 0 <= u by apply: Rmult_le_pos; [lra | apply: bpow_ge_0].
rewrite -[X in _ <= X]Rmult_1_r; apply: Rmult_le_compat_l => //.
rewrite -[X in _ <= X]Rinv_1; apply: Rinv_le; lra.
Qed.

Lemma product_model x y : no_underflow (x * y) ->
  exists d, Rabs d <= u /\ rnd (x * y) = x * y * (1 + d).
Proof.
case=> [->|big].
  exists 0; rewrite Rabs_R0 Rmult_0_l round_0; split=> //.
  by apply: Rmult_le_pos; [lra | apply: bpow_ge_0].
have [//|d [dE ->]] := relative_error_N_FLT_ex radix2 (-1074) 53 _ (fun x =>
  negb (Z.even x)) (x * y) big.
by exists d.
Qed.

(* a loop over doubles, in Coq *)
(* s += x * y, from the left; the first product is the first sum. *)
Definition add (s : R) (xy : R * R) := rnd (s + rnd (xy.1 * xy.2)).
Definition dot (xy : R * R) (t : seq (R * R)) :=
  foldl add (rnd (xy.1 * xy.2)) t.

(* a loop computes what the model allows *)
Lemma foldl_computed t s a : format a -> computed u s a ->
  (forall xy, List.In xy t -> no_underflow (xy.1 * xy.2)) ->
  computed u (s ++ t) (foldl add a t).
Proof.
elim: t s a => [|[x y] t IH] s a Fa ca nt /=; first by rewrite cats0.
rewrite -cat_rcons; apply: IH; first exact: rnd_format.
  rewrite /add /=; have [d [du ->]] := sum_model a (rnd (x * y)) Fa
    (rnd_format _).
  have [e [eu ->]] := product_model x y (nt (x, y) (or_introl erefl)).
  rewrite -cats1; apply: (Sum ca); last by apply/RlebP.
  by apply: Product; apply/RlebP.
by move=> xy xyt; apply: nt; right.
Qed.

Lemma u_ge0 : 0 <= u.
Proof. by apply: Rmult_le_pos; [lra | apply: bpow_ge_0]. Qed.

(* state the bound of a loop over doubles *)
(* proves thm:product-bound *)
Theorem double_dot_product xy t :
  (forall z, List.In z (xy :: t) -> no_underflow (z.1 * z.2)) ->
  INR (size (xy :: t)) * u < 1 ->
  Rabs (dot xy t - exact (xy :: t)) <=
    gamma u (size (xy :: t)) * size_of (xy :: t).

(* prove the bound of a loop over doubles *)
Proof.
move=> nt small; apply/RlebP.
have c : computed u (xy :: t) (dot xy t).
  case: xy nt {small} => x y nt; rewrite -cat1s; apply: foldl_computed.
  - exact: rnd_format.
  - have [e [eu ->]] := product_model x y (nt (x, y) (or_introl erefl)).
    by apply: Product; apply/RlebP.
  by move=> z zt; apply: nt; right.
apply: (dot_product_error _ c); first by apply/RlebP; exact: u_ge0.
by apply/RltbP; rewrite -INRE.
Qed.
