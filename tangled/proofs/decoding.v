(* proofs/decoding.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From attn Require Import layers.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a layer that decodes, in Coq *)
Section Decoding.
Variables (R : fieldType) (e : R -> R) (T Q K U : Type) (d : nat)
  (z0 : R).
Variables (q : nat -> T -> Q) (k : nat -> T -> K)
  (v : nat -> nat -> T -> 'rV[R]_d).
Variables (s : nat -> nat -> Q -> K -> R) (M : rel nat)
  (Wo : 'rV[R]_d -> U).
Local Notation Y := (Y e z0 q k v s M Wo).
Hypothesis causal : forall i j, M i j -> (j <= i)%N.

(* state that a layer decodes in any pieces *)
(* proves thm:layer-prefix *)
Theorem decodes_in_any_pieces X i m n : (i < m <= n)%N ->
  Y X i 0 n = Y X i 0 m.

(* prove that a layer decodes in any pieces *)
Proof.
by move=> h; exact: any_chunks.
Qed.

(* state that keys can be dropped *)
(* proves thm:layer-prefix *)
Theorem keys_can_be_dropped X i first m n : (first <= m <= n)%N ->
  (forall j, M i j -> first <= j < m)%N -> Y X i 0 n = Y X i first m.

(* prove that keys can be dropped *)
Proof.
exact: decoding.
Qed.
End Decoding.

(* caches, in Coq *)
Section Cache.
Variables (K V : Type) (turn : nat -> K -> K).
Hypotheses (turn0 : forall x, turn 0 x = x) (turnD : forall m n x,
  turn (m + n) x = turn m (turn n x)).
Implicit Types c : seq (K * V).
(* n rows of keys, turned at the places 0, ..., n - 1, and values *)
Definition cache_of (text : seq (K * V)) :=
  [seq (turn j.1 j.2.1, j.2.2) | j <- zip (iota 0 (size text)) text].
Definition mul c c' := c ++ [seq (turn (size c) kv.1, kv.2) | kv <- c'].

(* state that caches form a monoid *)
(* proves thm:layer-monoid *)
Theorem caches_form_a_monoid :
  [/\ associative mul, left_id [::] mul, right_id [::] mul
    & forall text text', cache_of (text ++ text') = mul (cache_of text)
      (cache_of text')].

(* prove that caches form a monoid *)
Proof.
split.
- move=> a b c; rewrite /mul map_cat -catA -map_comp size_cat size_map;
  congr (_ ++ (_ ++ _)).
  by apply: eq_map => -[x y] /=; rewrite turnD.
- by move=> c; rewrite /mul /= -[RHS]map_id; apply: eq_map => -[x y] /=;
  rewrite turn0.
- by move=> c; rewrite /mul cats0.
move=> t t'; rewrite /mul /cache_of !size_map size_zip size_iota minnn
  size_cat iotaD.
rewrite zip_cat ?size_iota// map_cat; congr (_ ++ _).
rewrite add0n -map_comp -[X in iota X]addn0 iotaDl.
have zl (f : nat -> nat) (a : seq nat) (b : seq (K * V)) :
    zip (map f a) b = [seq (f p.1, p.2) | p <- zip a b].
  by elim: a b => [|x a IH] [|y b] //=; rewrite IH.
rewrite zl -map_comp; apply: eq_map => -[j [x y]] /=.
by rewrite turnD.
Qed.
End Cache.

(* a scale and its cotangent, in Coq *)
Section Euler.
Variables (R : comRingType) (I : finType) (q : I -> R) (beta : R)
  (qb : I -> R).

(* state Euler's relation for a scale *)
(* proves prop:layer-euler *)
Theorem euler (dq : I -> R) (dbeta : R) :
  \sum_i qb i * (beta * dq i + dbeta * q i) =
  \sum_i (beta * qb i) * dq i + (\sum_i q i * qb i) * dbeta.

(* prove Euler's relation for a scale *)
Proof.
by rewrite mulr_suml -big_split; apply: eq_bigr => i _ /=; ring.
Qed.
End Euler.
