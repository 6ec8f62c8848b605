(* proofs/examples_exp2.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From Flocq.IEEE754 Require Import Bits.
From Gappa Require Gappa_round_def.
From attn Require exp2 bits.
Local Open Scope R_scope.

(* examples of floats, in Coq *)
Lemma zero_format : generic_format radix2 (FLT_exp (-149) 24) 0.
Proof. exact (generic_format_0 _ _). Qed.
Lemma zero_in_range : -126 <= 0 <= 127. Proof. lra. Qed.
Lemma zero_shifted : bits.value (b32_of_bits (bits.sum_bits 0)) =
  round radix2 (FLT_exp (-149) 24) Gappa_round_def.rndNE (0 + exp2.shift).
Proof.
destruct (exp2.reduction 0 zero_format zero_in_range) as (n & B & W & _
    & r & H).
assert (n = 0)%Z as E.
{ assert (-1 < n < 1)%Z; [|lia]; split; apply lt_IZR; lra. }
rewrite E in B; refine (eq_trans _ (eq_sym B)).
destruct (bits.is_floatE _ _ _ bits.zero_good) as [V _].
unfold bits.value; rewrite V; apply Rmult_1_r.
Qed.
Example exp2_error := @exp2.exp2_error (fun _ => exp2.fused) 0 _
  (fun _ => or_introl eq_refl) zero_format zero_in_range zero_shifted.
