(* proofs/causal.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect zify.
From attn Require Import shards.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* pairs of a causal mask, in Coq *)
Definition causal nq nk (i j : nat) := j + nq <= i + nk.
Definition allowed nq nk :=
  \sum_(i < nq) \sum_(j < nk) causal nq nk i j.

(* state the pairs of a causal mask *)
(* proves prop:causal *)
Theorem causal_count nq nk : nq <= nk -> allowed nq nk + nq * nq.-1 %/ 2
  = nq * nk.

(* prove the pairs of a causal mask *)
Proof.
move=> le; have row (i : 'I_nq) : \sum_(j < nk) causal nq nk i j = i
  + (nk - nq).+1.
  have := ltn_ord i => ilt;
    transitivity (\sum_(j < nk) (j < i + (nk - nq).+1)).
    by apply: eq_bigr => j _; congr nat_of_bool; rewrite /causal;
      apply/idP/idP; lia.
  by rewrite sum_lt; apply/minn_idPl; lia.
rewrite /allowed (eq_bigr _ (fun i _ => row i)) big_split sum_nat_const
  card_ord /=.
have S : (\sum_(i < nq) i).*2 = nq * nq.-1.
  elim: {le row} nq => [|n IH]; first by rewrite big_ord0.
  by rewrite big_ord_recr /= doubleD IH; case: n {IH} => //= n; nia.
have -> : nq * nq.-1 %/ 2 = \sum_(i < nq) i by rewrite -S divn2 doubleK.
case: nq le S {row} => [|q] le S; first by rewrite big_ord0 !mul0n.
move: (subnK le) S; move: (nk - q.+1) (\sum_(i < q.+1) i) => f t <- /= S; nia.
Qed.
