(* proofs/examples_exp2.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From Coq Require Import Reals Lra.
From Flocq Require Import Core.
From attn Require exp2.
Local Open Scope R_scope.

(* examples of floats, in Coq *)
Lemma zero_format : generic_format radix2 (FLT_exp (-149) 24) 0.
Proof. exact (generic_format_0 _ _). Qed.
Lemma zero_in_range : -126 <= 0 <= 127. Proof. lra. Qed.
Example exp2_error := @exp2.exp2_error exp2.fused 0 (or_introl eq_refl)
  zero_format zero_in_range.
