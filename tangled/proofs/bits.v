(* proofs/bits.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From Coq Require Import Reals ZArith Lra Lia List.
From Flocq Require Import Core.
From Flocq.IEEE754 Require Import Binary Bits.
Open Scope R_scope.

(* the shift of bits, in Coq *)
Definition value (b : binary32) : R := B2R 24 128 b.
Definition shifted (b : binary32) : binary32 :=
  b32_of_bits (bits_of_b32 b * 2 ^ 23 mod 2 ^ 32).

(* floats by their bits *)
(* the float 12583039 + n, by its bits, and what shifting makes of it *)
Definition sum_bits n := (150 * 2 ^ 23 + (4194431 + n))%Z.
Definition is_float (b : binary32) m e :=
  match b with
  | B754_finite _ _ false m' e' _ => (Zpos m' =? m)%Z && (e' =? e)%Z
  | _ => false end%bool.
Definition good n := (is_float (b32_of_bits (sum_bits n)) (12583039 + n) 0
  && is_float (shifted (b32_of_bits (sum_bits n))) 8388608 (n - 23))%bool.
Definition all_good := forallb (fun k => good (Z.of_nat k - 126)) (seq 0 254).
Lemma all_goodE : all_good = true.
Proof. vm_compute. reflexivity. Qed.

Lemma good_n n : (-126 <= n <= 127)%Z -> good n = true.
Proof.
intros H; pose proof all_goodE as A; revert A; unfold all_good.
generalize good; intros g A.
rewrite forallb_forall in A; specialize (A (Z.to_nat (n + 126))).
rewrite Z2Nat.id in A by lia; replace (n + 126 - 126)%Z with n in A by ring.
apply A; apply in_seq; lia.
Qed.

(* what a shift of bits makes *)
Lemma zero_good :
  is_float (b32_of_bits (sum_bits 0)) (12583039 + 0) 0 = true.
Proof. vm_compute. reflexivity. Qed.
Lemma is_floatE b m e : is_float b m e = true ->
  B2R 24 128 b = IZR m * bpow radix2 e /\ is_finite_strict 24 128 b = true.
Proof.
destruct b as [s|s|s p H|[|] m' e' H]; try discriminate.
unfold is_float; intros E; apply andb_prop in E; destruct E as [E1 E2].
apply Z.eqb_eq in E1, E2; subst; split; reflexivity.
Qed.

Lemma shiftedE n b : (-126 <= n <= 127)%Z -> value b = IZR (12583039 + n) ->
  value (shifted b) = bpow radix2 n.
Proof.
unfold value; intros Hn Hb; pose proof (good_n n Hn) as G.
unfold good in G; apply andb_prop in G.
destruct G as [G1 G2]; apply is_floatE in G1, G2.
destruct G1 as [V1 F1]; destruct G2 as [V2 _].
assert (b = b32_of_bits (sum_bits n)) as ->.
{ apply B2R_inj; [|exact F1|].
  - assert (N : B2R 24 128 b <> 0).
    { rewrite Hb; apply not_0_IZR; lia. }
    destruct b; try reflexivity; exfalso; apply N; reflexivity.
  - rewrite Hb; symmetry; rewrite V1; apply Rmult_1_r. }
rewrite V2; change 8388608%Z with (2 ^ 23)%Z.
change 2%Z with (radix_val radix2); rewrite IZR_Zpower by lia.
rewrite <- bpow_plus; f_equal; ring.
Qed.
