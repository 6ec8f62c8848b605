(* proofs/examples_06a.v: tangled from chapters/06a-weights-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require gibbs learning.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of learned temperatures, in Coq *)
Section Learn.
Variables (R : realType) (s : bool -> bool -> R).
Let q : bool -> bool -> R := learning.Ab s 1.
Lemma q_distribution i : gibbs.distribution (q i).
Proof. exact: gibbs.A_distribution true. Qed.
Example learn_temperature := @learning.learn_temperature R _ _ s q true
  q_distribution.
Example planted beta' := @learning.planted R _ _ s q true q_distribution
  1 beta' (fun _ _ => erefl).
Example derivatives := @learning.derivatives R _ _ s q true q_distribution.
End Learn.
