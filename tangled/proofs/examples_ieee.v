(* proofs/examples_ieee.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From Coq Require Import Reals Lra List.
From Flocq Require Import Core.
From attn Require ieee.
Local Open Scope R_scope.

(* examples of doubles, in Coq *)
Lemma zero_large z : In z ((0, 0) :: nil) -> ieee.no_underflow (fst z * snd z).
Proof. intros [<-|[]]; left; simpl; lra. Qed.
Lemma one_rounding : INR (length ((0, 0) :: nil)) * ieee.u < 1.
Proof.
unfold ieee.u; simpl length; change (INR 1) with 1.
assert (bpow radix2 (-53 + 1) < bpow radix2 0) by now apply bpow_lt.
simpl (bpow radix2 0) in H; lra.
Qed.
Example double_dot_product :=
  @ieee.double_dot_product (0, 0) nil zero_large one_rounding.
