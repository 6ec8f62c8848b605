(* proofs/cache.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From attn Require Import layers.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* modified attention as a layer, in Coq *)
Section Cache.
Variables (R : fieldType) (e : R -> R) (T Q K U : Type) (d : nat)
  (z0 : R).
Variables (q : nat -> T -> Q) (k : nat -> T -> K)
  (v : nat -> T -> 'rV[R]_d).
Variables (s : nat -> nat -> Q -> K -> R) (M : rel nat)
  (Wo : 'rV[R]_d -> U).
Local Notation Y := (Y e z0 q k v s M Wo).
Hypothesis causal : forall i j, M i j -> (j <= i)%N.

(* state that the past decides *)
(* proves prop:causal, except that attention no
   longer commutes with permutations *)
Theorem past_decides X X' t n : (t <= n)%N ->
  (forall i, i < t -> X i = X' i)%N ->
  forall i, (i < t)%N -> Y X i 0 n = Y X' i 0 n.

(* prove that the past decides *)
Proof.
by move=> tn same; exact: prefix.
Qed.

(* state that chunks decode *)
(* proves thm:cache *)
Theorem chunks_decode X i m n : (i < m <= n)%N -> Y X i 0 n = Y X i 0 m.

(* prove that chunks decode *)
Proof.
by move=> h; exact: any_chunks.
Qed.

(* state that caches may forget *)
(* proves thm:cache *)
Theorem cache_forgets X i first m n : (first <= m <= n)%N ->
  (forall j, M i j -> first <= j < m)%N -> Y X i 0 n = Y X i first m.

(* prove that caches may forget *)
Proof.
exact: decoding.
Qed.
End Cache.
