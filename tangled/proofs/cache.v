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
  (v : nat -> nat -> T -> 'rV[R]_d).
Variables (s : nat -> nat -> Q -> K -> R) (M : rel nat)
  (Wo : 'rV[R]_d -> U).
Local Notation Y := (Y e z0 q k v s M Wo).
Hypothesis causal : forall i j, M i j -> (j <= i)%N.

(* state that the past decides *)
(* proves prop:causal *)
Theorem past_decides X X' t n n' : (t <= n)%N -> (t <= n')%N ->
  (forall i, i < t -> X i = X' i)%N ->
  forall i, (i < t)%N -> Y X i 0 n = Y X' i 0 n'.

(* prove that the past decides *)
Proof.
by move=> tn tn' same; exact: prefix.
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

(* state that order matters *)
(* proves prop:causal *)
Theorem order_matters (F : fieldType) (exp : F -> F) : exp 0 != 0 ->
  let id (t : nat) (x : 'rV[F]_1) := x in
  let O X i := layers.Y exp 0 id id (fun=> id) (fun _ _ _ _ => 0)
    (fun i j => j <= i)%N (fun y : 'rV[F]_1 => y) X i 0 2 in
  exists X X' : nat -> 'rV[F]_1,
    [/\ X' 0%N = X 1%N, X' 1%N = X 0%N & O X' 1%N != O X 0%N].

(* prove that order matters *)
Proof.
move=> e0 id O; pose X t : 'rV[F]_1 := if t == 0%N then const_mx 1 else 0.
pose X' t : 'rV[F]_1 := if t == 1%N then const_mx 1 else 0.
exists X, X'; split=> //; apply/eqP => /matrixP/(_ 0 0).
rewrite /O /layers.Y /layers.O /layers.Zi /index_iota subn0 /=.
rewrite !big_cons !big_nil /= !add0r !addr0 scaler0 add0r mulfV// scale1r.
rewrite /X /X' /= !mxE mulr1 => E.
have [z|nz] := eqVneq (exp 0 + exp 0) 0.
  by move: E; rewrite z invr0 mulr0 => /esym/eqP; rewrite oner_eq0.
move: E => /(congr1 (fun x => x * (exp 0 + exp 0))); rewrite mulfVK// mul1r.
by rewrite -{1}[exp 0]addr0 => /addrI/esym/eqP; rewrite (negbTE e0).
Qed.
