(* proofs/offsets.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state which offsets occur *)
(* proves prop:shift *)
Theorem offsets_that_occur (nq nk : nat) (o t : int) :
  (exists i j : nat,
    [/\ (i < nq)%N, (j < nk)%N & t = j%:Z - (o + i%:Z)])
  <-> (0 < nq)%N /\ (0 < nk)%N /\
      - (nq%:Z - 1) - o <= t <= nk%:Z - 1 - o.

(* prove which offsets occur *)
Proof.
split=> [[i [j [iq jk ->]]]|[q0 [k0 h]]]; first by lia.
have [le|lt] := lerP 0 (t + o); first by exists 0%N, (absz (t + o));
  split; lia.
by exists (absz (t + o)), 0%N; split; lia.
Qed.

(* state how many rows are read *)
(* proves prop:shift *)
Theorem rows_of_the_table (nq nk : nat) (o : int) :
  (nk%:Z - 1 - o) - (- (nq%:Z - 1) - o) + 1 = nq%:Z + nk%:Z - 1.

(* prove how many rows are read *)
Proof.
by lia.
Qed.

(* modified attention, in Coq *)
Section Modified.
Variables (F : fieldType) (exp cap : F -> F) (nq nk d dv : nat).
Variables (c0 sink : F) (u w : 'rV[F]_d) (table slope : int -> F).
Variables (R : int -> 'rV[F]_d) (R' : int -> 'rV[F]_dv).
Variables (B keep : 'M[F]_(nq, nk)) (M : 'I_nq -> 'I_nk -> int -> bool).
Variables (Q : 'M[F]_(nq, d)) (K : 'M[F]_(nk, d)) (V : 'M[F]_(nk, dv)).
Definition P i j t := ((row i Q + u) *m (row j K)^T
  + (row i Q + w) *m (R t)^T) 0 0.
Definition S i j t := cap (c0 * P i j t) + B i j + table t + slope t.
Definition Z (p : 'I_nq -> int) (p' : 'I_nk -> int) i := exp sink
  + \sum_(j | M i j (p' j - p i)) exp (S i j (p' j - p i)).
Definition O (p : 'I_nq -> int) (p' : 'I_nk -> int) i :=
  \sum_(j | M i j (p' j - p i)) (keep i j * (exp (S i j (p' j - p i))
    / Z p p' i)) *: (row j V + R' (p' j - p i)).

(* state that modified attention sees offsets *)
(* proves prop:shift *)
Theorem sees_offsets p p' a a' : (forall i j, p' j - p i = a' j - a i) ->
  forall i, O p p' i = O a a' i.

(* prove that modified attention sees offsets *)
Proof.
move=> E i; have ZE : Z p p' i = Z a a' i.
  by rewrite /Z (eq_bigl _ _ (fun j => congr1 (M i j) (E i j)));
    congr (_ + _); apply: eq_bigr => j _; rewrite E.
rewrite /O ZE (eq_bigl _ _ (fun j => congr1 (M i j) (E i j))).
by apply: eq_bigr => j _; rewrite E.
Qed.
End Modified.
