(* proofs/speed.v: tangled from chapters/09b-models-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From attn Require Import layers.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* layers that read rows, in Coq *)
Section Reads.
Variables (R : fieldType) (e : R -> R) (T Q K U : Type) (d : nat)
  (z0 : R).
Variables (q : nat -> T -> Q) (k : nat -> T -> K)
  (v : nat -> nat -> T -> 'rV[R]_d).
Variables (s : nat -> nat -> Q -> K -> R) (M : rel nat)
  (Wo : 'rV[R]_d -> U).
Local Notation Y := (Y e z0 q k v s M Wo).

(* state that a layer reads what it sees *)
(* proves prop:models-speed *)
Theorem reads_what_it_sees X X' i n : X i = X' i ->
  (forall j, M i j -> X j = X' j) -> Y X i 0 n = Y X' i 0 n.

(* prove that a layer reads what it sees *)
Proof.
exact: reads.
Qed.

(* speed, in Coq *)
Definition window (T U : Type) w (F : (nat -> T) -> nat -> U) :=
  forall X X' i, (forall j, i <= j + w.-1 -> j <= i -> X j = X' j)%N ->
    F X i = F X' i.

(* state that windows have a speed *)
(* proves prop:models-speed *)
Theorem of_a_window w n :
  (forall i j, M i j -> (i <= j + w.-1) && (j <= i))%N ->
  window w (fun X i => Y X i 0 n).

(* prove that windows have a speed *)
Proof.
move=> seen X X' i same; apply: reads_what_it_sees => [|j /seen/andP[ij ji]].
  by apply: same; rewrite ?leq_addr.
exact: same.
Qed.
End Reads.

(* blocks, in Coq *)
Section Speed.
Variables (T : Type).

(* state that positions alone have no speed *)
(* proves prop:models-speed *)
Theorem by_position (U : Type) (f : nat -> T -> U) :
  window 1 (fun X i => f i (X i)).

(* prove that positions alone have no speed *)
Proof.
by move=> X X' i h; rewrite (h i)// leq_addr.
Qed.

(* state that speeds add *)
(* proves prop:models-speed *)
Theorem windows_add (U V : Type) w w' (F : (nat -> T) -> nat -> U)
  (G : (nat -> U) -> nat -> V) :
  (0 < w)%N -> (0 < w')%N -> window w F -> window w' G ->
  window (w + w').-1 (fun X => G (F X)).

(* prove that speeds add *)
Proof.
move=> w0 w0' hF hG X X' i h; apply: hG => j ij ji; apply: hF => l jl lj;
  apply: h; lia.
Qed.

(* state that shortcuts add no speed *)
(* proves prop:models-speed *)
Theorem with_shortcut (U : zmodType) w (F : (nat -> U) -> nat -> U) :
  window w F -> window w (fun X i => X i + F X i).

(* prove that shortcuts add no speed *)
Proof.
by move=> hF X X' i h; rewrite (hF X X')// h ?leq_addr.
Qed.

(* layers on layers, in Coq *)
(* l layers *)
Fixpoint stack (layers : nat -> (nat -> T) -> nat -> T) l X :=
  if l is l'.+1 then layers l' (stack layers l' X) else X.

(* state the speed of layers *)
(* proves prop:models-speed *)
Theorem speed w layers l : (forall t, window w (layers t)) ->
  forall X X' i, (forall j, i <= j + l * w.-1 -> j <= i -> X j = X' j)%N
    ->
  stack layers l X i = stack layers l X' i.

(* prove the speed of layers *)
Proof.
move=> hw; elim: l => [|l IH] X X' i h; first by apply: h;
  rewrite ?mul0n ?addn0.
by apply: hw => j ij ji; apply: IH => a ja aj; apply: h; rewrite ?mulSn; lia.
Qed.
End Speed.

(* state that there are no gradients from afar *)
(* proves prop:models-speed *)
Corollary no_gradient (R : ringType) (T : lmodType R) w
    (layers : nat -> (nat -> T) -> nat -> T) l i (X V : nat -> T)
    (t : R) :
  (forall t, window w (layers t)) ->
  (forall j, (i <= j + l * w.-1)%N -> (j <= i)%N -> V j = 0) ->
  stack layers l (fun j => X j + t *: V j) i = stack layers l X i.

(* prove that there are no gradients from afar *)
Proof.
move=> hw V0; apply: (speed hw) => j ij ji.
by rewrite (V0 _ ij ji) scaler0 addr0.
Qed.
