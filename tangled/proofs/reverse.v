(* proofs/reverse.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a tape of steps, in Coq *)
Section Reverse.
Variable R : comRingType.
(* x_k = phi(x_a, x_b) has the differential da dx_a + db dx_b *)
Record step := Step { a : nat; da : R; b : nat; db : R }.
Implicit Types (s : step) (t : seq step) (x : nat -> R).

(* Nodes below k are there; the tape makes k, k+1 and so on. *)
Fixpoint earlier k t :=
  if t is s :: t' then
    [&& (a s < k)%N, (b s < k)%N & earlier k.+1 t'] else true.

(* differentials and the sweep, in Coq *)
Definition set x k v : nat -> R := fun i => if i == k then v else x i.
Definition add x k v : nat -> R := fun i =>
  if i == k then x i + v else x i.

(* differentials of all nodes, from those of the inputs *)
Fixpoint forward k t dx := if t is s :: t' then
  forward k.+1 t' (set dx k (da s * dx (a s) + db s * dx (b s)))
  else dx.
(* the sweep, from the last step to the first *)
Fixpoint sweep k t x_bar := if t is s :: t' then
  let y := sweep k.+1 t' x_bar in
  add (add y (a s) (y k * da s)) (b s) (y k * db s) else x_bar.

(* the sweep keeps the sum of products *)
Lemma sum_add n x k v (y : nat -> R) : (k < n)%N ->
  \sum_(i < n) add x k v i * y i = \sum_(i < n) x i * y i + v * y k.
Proof.
move=> kn; rewrite [LHS](bigD1 (Ordinal kn))//=
  [X in _ = X + _](bigD1 (Ordinal kn))//=.
rewrite /add eqxx mulrDl -!addrA; congr (_ + _); rewrite addrC; congr (_ + _).
by apply: eq_bigr => i; rewrite -val_eqE /= => /negbTE->.
Qed.

Lemma sweep_forward k t (x_bar dx : nat -> R) : earlier k t ->
  \sum_(i < k + size t) x_bar i * forward k t dx i =
  \sum_(i < k) sweep k t x_bar i * dx i.
Proof.
elim: t k dx => [|s t IH] k dx /=; first by rewrite addn0.
move=> /and3P[ak bk et]; rewrite -addSnnS IH// big_ord_recr /= !sum_add//.
rewrite {2}/set eqxx mulrDr !mulrA -addrA; congr (_ + (_ + _)).
by apply: eq_bigr => i _; rewrite /set ltn_eqF.
Qed.

(* state what the sweep leaves *)
(* proves thm:reverse *)
Theorem reverse_sweep n t y dx : earlier n t -> (y < n + size t)%N ->
  forward n t dx y =
  \sum_(i < n) sweep n t (set (fun=> 0) y 1) i * dx i.

(* prove what the sweep leaves *)
Proof.
move=> et yn; rewrite -sweep_forward// (bigD1 (Ordinal yn))//= /set eqxx mul1r.
rewrite big1 ?addr0// => i; rewrite -val_eqE /= => /negbTE->.
by rewrite mul0r.
Qed.

(* state what the sweep leaves at an input *)
(* proves thm:reverse *)
Corollary derivative_by_an_input n t y (i : 'I_n) :
  earlier n t -> (y < n + size t)%N ->
  sweep n t (set (fun=> 0) y 1) i =
  forward n t (fun j => (j == i)%:R) y.

(* prove what the sweep leaves at an input *)
Proof.
move=> et yn; rewrite reverse_sweep// (bigD1 i)//= eqxx mulr1 big1 ?addr0// =>
  j.
by rewrite -val_eqE /= => /negbTE->; rewrite mulr0.
Qed.
End Reverse.
