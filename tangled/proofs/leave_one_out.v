(* proofs/leave_one_out.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From attn Require Import rows.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a query without its own key, in Coq *)
Section Leave.
Variables (R : fieldType) (e : R -> R) (d : nat) (K : finType).
Local Notation Z := (Z e 0).
Local Notation weight := (weight e 0).
Local Notation out := (out e 0).

(* state how one is left out *)
(* proves prop:leave-one-out *)
Theorem leave_one_out (M : pred K) (s : K -> R) (V : K -> 'rV[R]_d) j :
  Z M s != 0 -> weight M s j != 1 ->
  V j - out (fun l => M l && (l != j)) s V =
  (1 - weight M s j)^-1 *: (V j - out M s V).

(* prove how one is left out *)
Proof.
exact: rows.leave_one_out.
Qed.
End Leave.
