(* proofs/forward.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs fisher jacobian backward.
Import GRing.Theory.
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

(* state that the softmax is passed backwards *)
(* proves thm:lowering *)
Theorem backward_map (R : realType) (K : finType) (s v : K -> R)
    (A_bar : K -> R) (T : R) (k0 : K) : exists A_dot : K -> R,
  (forall j, derivative_along (fun s => A s T j) s v (A_dot j)) /\
  \sum_j S_bar (A s T) T A_bar j * v j = \sum_j A_bar j * A_dot j.

(* prove that the softmax is passed backwards *)
Proof.
exists (fun j => T^-1 * lower (A s T) v j); split=> [j|].
  exact: (derivative_softmax T k0).
under eq_bigr do rewrite /S_bar -mulrA; rewrite -mulr_sumr lowerC mulr_sumr.
by apply: eq_bigr => j _; rewrite mulrCA.
Qed.
