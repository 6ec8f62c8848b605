(* proofs/parameters.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the arrays of a layer, in Coq *)
Local Notation size_of T := #|{: T}|.
Section Counting.
Variables (D Dc Do H G dk dv : nat).
Definition parameters :=
  size_of ('I_D * 'I_H * 'I_dk) + size_of ('I_Dc * 'I_G * 'I_dk) +
  size_of ('I_Dc * 'I_G * 'I_dv) + size_of ('I_H * 'I_dv * 'I_Do).
Definition bias_parameters :=
  size_of ('I_H * 'I_dk) + size_of ('I_G * 'I_dk)
    + size_of ('I_G * 'I_dv) + size_of ('I_Do).

(* state the number of parameters *)
(* proves prop:multihead-count *)
Theorem multihead_count :
  [/\ parameters = D * H * dk + Dc * G * (dk + dv) + H * dv * Do,
      bias_parameters = H * dk + G * (dk + dv) + Do
    & Dc = D -> Do = D -> G = H -> H * dk = D -> H * dv = D ->
      parameters = 4 * D ^ 2].

(* prove the number of parameters *)
Proof.
have E : parameters = D * H * dk + Dc * G * (dk + dv) + H * dv * Do.
  by rewrite /parameters !card_prod !card_ord mulnDr !addnA.
split=> //; first by rewrite /bias_parameters !card_prod !card_ord
  mulnDr !addnA.
move=> cD oD gH kD vD; rewrite E cD oD gH -mulnA -[D * H * _]mulnA mulnDr kD
  vD -mulnn.
by rewrite mulnDr; lia.
Qed.
End Counting.

(* state that rows hold heads side by side *)
(* proves prop:multihead-fused *)
Theorem row_major H d m h a : h < H -> a < d ->
  (m * H + h) * d + a = m * (H * d) + (h * d + a) /\
  forall m' h' a', h' < H -> a' < d -> (m * H + h) * d + a
    = (m' * H + h') * d + a' ->
    [/\ m = m', h = h' & a = a'].

(* prove that rows hold heads side by side *)
Proof.
move=> hH ad; split; first by rewrite mulnDl -mulnA addnA.
move=> m' h' a' h'H a'd E; have d0 : 0 < d by lia.
have H0 : 0 < H by lia.
have aa : a = a' by have := congr1 (fun x => x %% d) E;
  rewrite !modnMDl !modn_small.
have E1 : m * H + h = m' * H + h'.
  by have := congr1 (fun x => x %/ d) E;
    rewrite !divnMDl// !divn_small// !addn0.
split=> //; first by have := congr1 (fun x => x %/ H) E1;
  rewrite !divnMDl// !divn_small// !addn0.
by have := congr1 (fun x => x %% H) E1; rewrite !modnMDl !modn_small.
Qed.
