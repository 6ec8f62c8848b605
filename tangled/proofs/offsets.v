(* proofs/offsets.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state which offsets occur *)
(* proves prop:shift, except the first sentence *)
Theorem offsets_that_occur (nq nk : nat) (o t : int) :
  (exists i j : nat,
    [/\ (i < nq)%N, (j < nk)%N & t = j%:Z - (o + i%:Z)])
  <-> (0 < nq)%N /\ (0 < nk)%N /\
      - (nq%:Z - 1) - o <= t <= nk%:Z - 1 - o.

(* prove which offsets occur *)
Proof.
split=> [[i [j [iq jk ->]]]|[q0 [k0 h]]]; first by lia.
have [le|lt] := lerP 0 (t + o); first by exists 0%N, (absz (t + o));
  split; lia.
by exists (absz (t + o)), 0%N; split; lia.
Qed.

(* state how many rows are read *)
(* proves prop:shift, except the first sentence *)
Theorem rows_of_the_table (nq nk : nat) (o : int) :
  (nk%:Z - 1 - o) - (- (nq%:Z - 1) - o) + 1 = nq%:Z + nk%:Z - 1.

(* prove how many rows are read *)
Proof.
by lia.
Qed.
