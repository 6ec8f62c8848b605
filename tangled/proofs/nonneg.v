(* proofs/nonneg.v: tangled from chapters/92-proving-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Ltac nonneg := repeat lazymatch goal with
  | |- is_true (0 <= _%:R) => exact: ler0n
  | |- is_true (0 <= 1) => exact: ler01
  | |- is_true (0 <= `|_|) => exact: normr_ge0
  | |- is_true (0 <= _ + _) => first [assumption | apply: addr_ge0]
  | |- is_true (0 <= _ * _) => first [assumption | apply: mulr_ge0]
  | |- is_true (0 <= _ ^+ 2) => first [assumption | apply: sqr_ge0]
  | |- is_true (0 <= _ ^+ _) => first [assumption | apply: exprn_ge0]
  | |- is_true (0 <= _^-1) => first [assumption | by rewrite invr_ge0]
  | |- _ => assumption end.
