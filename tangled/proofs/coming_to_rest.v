(* proofs/coming_to_rest.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* an iteration with errors, in Coq *)
Section Rest.
Variables (R : realFieldType) (V : zmodType) (N : V -> R) (f : V -> V).
Variables (x : nat -> V) (q h : R).
Hypotheses (q_ge0 : 0 <= q) (q_lt1 : q < 1)
  (triangle : forall v w, N (v + w) <= N v + N w)
  (even : forall v, N (- v) = N v)
  (contracts : forall t,
    N (f (x t.+1) - f (x t)) <= q * N (x t.+1 - x t))
  (errors : forall t, N (x t.+1 - f (x t)) <= h).

(* state how steps become short *)
(* proves prop:hopfield-rest, except the error of an update *)
Theorem short_steps t : N (x t.+1 - x t) <=
  2%:R * h / (1 - q) + q ^+ t * N (x 1 - x 0).

(* prove how steps become short *)
Proof.
have p : 0 < 1 - q by rewrite subr_gt0.
have N0 v : 0 <= N v.
  have z : 0 <= N 0.
    by have := triangle 0 0; rewrite addr0 ler_addl.
  have := triangle v (- v); rewrite subrr even => /(le_trans z).
  by rewrite -mulr2n pmulrn_lge0.
have h0 : 0 <= h := le_trans (N0 _) (errors 0).
elim: t => [|t IH].
  by rewrite expr0 mul1r ler_addr divr_ge0 ?mulr_ge0 ?ler0n// ltW.
rewrite (_ : x t.+2 - x t.+1 = (x t.+2 - f (x t.+1))
  + (f (x t.+1) - f (x t)) + - (x t.+1 - f (x t))); last first.
  by rewrite opprB !addrA !subrK.
apply: le_trans (triangle _ _) _; rewrite even.
apply: le_trans (ler_add (le_trans (triangle _ _) (ler_add (errors _)
  (contracts t))) (errors t)) _.
apply: le_trans (_ : h + q * (2%:R * h / (1 - q) + q ^+ t
  * N (x 1 - x 0)) + h <= _); first by rewrite ler_add2r ler_add2l
  ler_wpmul2l.
rewrite le_eqVlt exprS; apply/orP; left; apply/eqP.
by field; rewrite gt_eqF.
Qed.
End Rest.
