(* proofs/turned.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From attn Require Import prelude rotations.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* scores of a layer, in Coq *)
Section Turned.
Variables (R : realType) (n : nat) (theta : 'rV[R]_n).
Local Notation score := (score theta).
Variables (N : nat) (x y : 'I_N -> 'cV[R]_(n + n)) (cap : R -> R).
Variables (beta slope : R) (B : 'I_N -> 'I_N -> R) (table : R -> R).
Definition layer_score (pq pk : 'I_N -> R) i j :=
  cap (beta * score (pq i) (pk j) (x i) (y j)) + B i j
  + table (pk j - pq i) - slope * `|pk j - pq i|.

(* state that scores see differences of positions *)
(* proves thm:turned *)
Theorem turned (pq pk pq' pk' : 'I_N -> R) i j :
  pk j - pq i = pk' j - pq' i ->
  layer_score pq pk i j = layer_score pq' pk' i j.

(* prove that scores see differences of positions *)
Proof.
by move=> E; rewrite /layer_score !scoreE E.
Qed.

(* state that raised positions change nothing *)
(* proves thm:turned *)
Theorem raised (pq pk : 'I_N -> R) c i j :
  layer_score (fun i => pq i + c) (fun j => pk j + c) i j =
  layer_score pq pk i j.

(* prove that raised positions change nothing *)
Proof.
by apply: turned; rewrite opprD addrACA subrr addr0.
Qed.

(* state that raised positions make the same layer *)
Definition O (M : rel 'I_N) z0 d (v : 'I_N -> 'rV[R]_d) pq pk i :=
  let e j := expR (layer_score pq pk i j) in
  (z0 + \sum_(j | M i j) e j)^-1 *: \sum_(j | M i j) e j *: v j.
(* proves thm:turned *)
Theorem raised_outputs M z0 d (v : 'I_N -> 'rV[R]_d) pq pk c i :
  O M z0 v (fun i => pq i + c) (fun j => pk j + c) i = O M z0 v pq pk i.

(* prove that raised positions make the same layer *)
Proof.
rewrite /O; under eq_bigr do rewrite raised.
by under [in X in _ *: X]eq_bigr do rewrite raised.
Qed.
End Turned.
