(* proofs/transfers.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect zify.
From attn Require Import shards.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* what is read and written, in Coq *)
Section Transfers.
Variables (nq nk dk dv B : nat).
Definition sweeps := (nq + B - 1) %/ B.
Definition reads :=
  \sum_(t < sweeps) (\sum_(i < nq | i %/ B == t) dk + \sum_(j < nk)
    (dk + dv)).
Definition writes := \sum_(t < sweeps) \sum_(i < nq | i %/ B == t)
  (dv + 1).

(* each query belongs to one sweep *)
Lemma each_query_once c :
  0 < B -> \sum_(t < sweeps) \sum_(i < nq | i %/ B == t) c = nq * c.
Proof.
move=> B0; rewrite (exchange_big_dep xpredT)//=.
rewrite -[RHS]/(nq * c) -[nq in RHS]card_ord -sum_nat_const;
  apply: eq_bigr => i _.
have it : i %/ B < sweeps.
  have i_lt := ltn_ord i; rewrite /sweeps ltn_divLR// .
  have := divn_eq (nq + B - 1) B; have := ltn_pmod (nq + B - 1) B0; nia.
by rewrite (big_pred1 (Ordinal it)) // => t; rewrite /= -(inj_eq val_inj)
  /= eq_sym.
Qed.

(* state the transfers of attention *)
(* proves prop:transfers *)
Theorem transfers : 0 < B ->
  reads = nq * dk + sweeps * (nk * (dk + dv)) /\ writes = nq * (dv + 1).

(* prove the transfers of attention *)
Proof.
move=> B0; split; last exact: each_query_once.
rewrite /reads big_split /= each_query_once//; congr (_ + _).
by rewrite !sum_nat_const !card_ord.
Qed.
End Transfers.
