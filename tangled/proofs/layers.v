(* proofs/layers.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a layer of attention, in Coq *)
(* A head: q and k are made of a row and its place, v of those and the
   place of the query, s is the score of a pair of places, with
   position terms and whatever else (-oo is a place outside of the mask
   M), z0 the sink's e^sigma or 0, Wo the output projection. *)
Section Layer.
Variables (R : fieldType) (e : R -> R) (T Q K U : Type) (d : nat)
  (z0 : R).
Variables (q : nat -> T -> Q) (k : nat -> T -> K)
  (v : nat -> nat -> T -> 'rV[R]_d).
Variables (s : nat -> nat -> Q -> K -> R) (M : rel nat)
  (Wo : 'rV[R]_d -> U).
Implicit Types X : nat -> T.
(* Row i, when the keys and values of the places first, ..., n - 1 are
   there. *)
Definition Zi X i first n :=
  z0 + \sum_(first <= j < n | M i j) e (s i j (q i (X i)) (k j (X j))).
Definition O X i first n :=
  \sum_(first <= j < n | M i j)
    (e (s i j (q i (X i)) (k j (X j))) / Zi X i first n) *: v i j (X j).
Definition Y X i first n := Wo (O X i first n).

(* keys that are not seen may be there *)
Lemma more_keys (V : zmodType) (F : nat -> V) i first n m : (first <= m)%N ->
  (m <= n)%N ->
  (forall j, M i j -> first <= j < m)%N ->
  \sum_(0 <= j < n | M i j) F j = \sum_(first <= j < m | M i j) F j.
Proof.
move=> fm mn in_; rewrite (big_cat_nat _ _ _ (leq0n first) (leq_trans fm mn))
  /=.
rewrite big_nat_cond big_pred0 ?add0r => [|j]; last first.
  by apply/negbTE/negP => /andP[/andP[_ jf] /in_/andP[]]; rewrite leqNgt jf.
rewrite (big_cat_nat _ _ _ fm mn) /= [X in _ + X]big_nat_cond
  [X in _ + X]big_pred0 ?addr0// => j.
by apply/negbTE/negP => /andP[/andP[mj _] /in_/andP[_]]; rewrite ltnNge mj.
Qed.

(* a row needs the keys that it sees *)
Theorem decoding X i first m n : (first <= m <= n)%N ->
  (forall j, M i j -> first <= j < m)%N -> Y X i 0 n = Y X i first m.
Proof.
move=> /andP[fm mn] in_; rewrite /Y /O.
have ZE : Zi X i 0 n = Zi X i first m by rewrite /Zi (more_keys _ fm mn in_).
by rewrite ZE (more_keys _ fm mn in_).
Qed.
(* in particular under a causal mask, from the chunk of row i on *)
Corollary any_chunks X i m n : (forall i j, M i j -> j <= i)%N ->
  (i < m <= n)%N ->
  Y X i 0 n = Y X i 0 m.
Proof.
move=> causal /andP[im mn]; apply: decoding => [|j /causal ji];
  first by rewrite mn.
exact: leq_ltn_trans ji im.
Qed.

(* state that the future is not seen *)
(* proves prop:mh-prefix *)
Theorem prefix X X' t n n' : (forall i j, M i j -> j <= i)%N ->
  (t <= n)%N -> (t <= n')%N ->
  (forall i, i < t -> X i = X' i)%N ->
  forall i, (i < t)%N -> Y X i 0 n = Y X' i 0 n'.

(* prove that the future is not seen *)
Proof.
move=> causal tn tn' same i it.
rewrite (@any_chunks _ i t n) ?it// (@any_chunks _ i t n') ?it//.
rewrite /Y /O; congr Wo; have E j : M i j -> X j = X' j.
  by move=> /causal ji; apply: same; exact: leq_ltn_trans ji it.
have ZE : Zi X i 0 t = Zi X' i 0 t.
  by rewrite /Zi (same i it); congr (_ + _); apply: eq_bigr => j /E->.
by apply: eq_bigr => j /E->; rewrite ZE same.
Qed.

(* state that the last row sees all *)
(* proves prop:mh-prefix *)
Theorem last_row X i n : (forall j, j < n -> M i j)%N -> Y X i 0 n =
  Wo (\sum_(0 <= j < n) (e (s i j (q i (X i)) (k j (X j))) /
    (z0 + \sum_(0 <= l < n) e (s i l (q i (X i)) (k l (X l))))) *:
      v i j (X j)).

(* prove that the last row sees all *)
Proof.
move=> all_; have E (W : zmodType) (F : nat -> W) :
    \sum_(0 <= j < n | M i j) F j = \sum_(0 <= j < n) F j.
  by rewrite big_nat_cond [RHS]big_nat; apply: eq_bigl => j; case: ltnP =>
    //= /all_ ->; rewrite ?andbT.
by rewrite /Y /O /Zi !E.
Qed.

(* a row reads what it sees *)
(* Row i reads the rows that it sees and itself. *)
Lemma reads X X' i n : X i = X' i -> (forall j, M i j -> X j = X' j) ->
  Y X i 0 n = Y X' i 0 n.
Proof.
move=> Ei E; rewrite /Y /O; congr Wo.
have ZE : Zi X i 0 n = Zi X' i 0 n.
  by rewrite /Zi Ei; congr (_ + _); apply: eq_bigr => j /E->.
by apply: eq_bigr => j /E->; rewrite ZE Ei.
Qed.
End Layer.
