(* proofs/examples_09b.v: tangled from chapters/09b-models-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require absorbed speed.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of models, in Coq *)
Lemma no_turn (F : fieldType) d (i j : int) :
  (1%:M : 'M[F]_d)^T *m 1%:M = 1%:M.
Proof. by rewrite trmx1 mulmx1. Qed.
Example absorbed (F : fieldType) e n r d d' dv H lam q q' c k' U Zh M z0 h i :=
  @absorbed.absorbed F e n r d d' dv H lam (fun=> 1%:M) (@no_turn F d')
    q q' c k' U Zh M z0 h i.
Section Speed.
Variables (F : fieldType) (e : F -> F) (T Q K U : Type) (d : nat) (z0 : F).
Variables (q : nat -> T -> Q) (k : nat -> T -> K).
Variables (v : nat -> nat -> T -> 'rV[F]_d).
Variables (s : nat -> nat -> Q -> K -> F) (M : rel nat) (Wo : 'rV[F]_d -> U).
Example reads_what_it_sees X i n := @speed.reads_what_it_sees F e T Q K U d
  z0 q k v s M Wo X X i n erefl (fun _ _ => erefl).
Let near i j := (i <= j + 3)%N && (j <= i)%N.
Example of_a_window n := @speed.of_a_window F e T Q K U d z0 q k v s near Wo
  4 n (fun _ _ => id).
Lemma itself (A : Type) : speed.window 1 (fun X : nat -> A => X).
Proof. exact: (speed.by_position (fun _ x => x)). Qed.
Example windows_add := @speed.windows_add T T T 1 1 _ _ isT isT
  (@itself T) (@itself T).
Example with_shortcut (V : zmodType) := @speed.with_shortcut V 1 _ (@itself V).
Example speed l X i := @speed.speed T 1 _ l (fun=> @itself T) X X i
  (fun _ _ _ => erefl).
End Speed.

(* an example without gradients, in Coq *)
Lemma nothing (A : Type) (t : nat) : speed.window 1 (fun X : nat -> A => X).
Proof. exact: (speed.by_position (fun _ x => x)). Qed.
Example no_gradient (R : ringType) (V : lmodType R) l i X t :=
  @speed.no_gradient R V 1 _ l i X (fun=> 0) t (@nothing V)
    (fun _ _ _ => erefl).
