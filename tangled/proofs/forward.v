(* proofs/forward.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs fisher jacobian.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state what the softmax does forwards *)
(* proves thm:lowering *)
Theorem forward_map (R : realType) (K : finType) (s v : K -> R) (T : R)
    (k0 : K) j :
  derivative_along (fun s => A s T j) s v (T^-1 * lower (A s T) v j).

(* prove what the softmax does forwards *)
Proof.
exact: (derivative_softmax T k0).
Qed.
