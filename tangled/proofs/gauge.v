(* proofs/gauge.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From attn Require Import rotary.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a rotation before the gains, in Coq *)
Section Gains.
Variables (R : fieldType) (n : nat) (c s : 'rV[R]_n).
Hypothesis circle : forall a, c 0 a ^+ 2 + s 0 a ^+ 2 = 1.
Local Notation R1 := (R1 c s).
Local Notation rot := (rot c s).

(* state that rotations keep lengths *)
(* proves prop:layer-gains *)
Theorem rotations_keep_length i (x : 'cV[R]_(n + n)) :
  (rot i *m x)^T *m (rot i *m x) = x^T *m x.

(* prove that rotations keep lengths *)
Proof.
exact: length_kept.
Qed.

(* state which gains may follow a rotation *)
(* proves prop:layer-gains *)
Theorem gains_before_rotations (x y : 'rV[R]_n) :
  (forall a, s 0 a != 0) ->
  only_differences c s (diag_mx (row_mx x y)) <-> x = y.

(* prove which gains may follow a rotation *)
Proof.
exact: gains_between_rotations.
Qed.

(* weights of a turned head, in Coq *)
Hypothesis two : 2%:R != 0 :> R.
Hypothesis sines : forall a, s 0 a != 0.
Hypothesis cosines : forall a b, c 0 a = c 0 b -> a = b.
Variables (D Dc : nat) (WQ : 'M[R]_(D, n + n)) (WK : 'M[R]_(Dc, n + n)).
Variables (bQ bK : 'rV[R]_(n + n)).
Definition turned_score (WQ : 'M[R]_(D, n + n)) bQ
    (WK : 'M[R]_(Dc, n + n)) bK (x : 'rV_D) (y : 'rV_Dc) i j :=
  (rot i *m (x *m WQ + bQ)^T)^T *m (rot j *m (y *m WK + bK)^T).

(* state the gauge of a turned head *)
(* proves thm:layer-gauge *)
Theorem gauge_of_a_turned_head (M : 'M[R]_(n + n)) :
  M \in unitmx -> row_full WQ -> row_full WK ->
  (forall x y i j, turned_score (WQ *m M) (bQ *m M)
       (WK *m (invmx M)^T) (bK *m (invmx M)^T) x y i j
     = turned_score WQ bQ WK bK x y i j)
  <-> M *m R1 = R1 *m M.

(* prove the gauge of a turned head *)
Proof.
exact: gauge.
Qed.

(* state that the gauge scales and turns *)
(* proves thm:layer-gauge *)
Theorem gauge_scales_and_turns (M : 'M[R]_(n + n)) :
  M *m R1 = R1 *m M <-> exists x y, M = planes x y.

(* prove that the gauge scales and turns *)
Proof.
exact: commutant.
Qed.
End Gains.
