(* proofs/roundtrip.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs forms.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* take the logarithm of a round trip *)
Section Trips.
Variables (R : realType) (K : Type) (A : K -> K -> R).
Hypothesis A_gt0 : forall i j, 0 < A i j.

Lemma ln_trip i j k : ln (A i j * A j k * A k i / (A i k * A k j * A j i)) =
  ln (A i j) + ln (A j k) + ln (A k i) - (ln (A i k) + ln (A k j) + ln (A j i)).
Proof.
have p a b c a' b' c' : 0 < A a a' * A b b' * A c c' by rewrite !mulr_gt0.
by rewrite ln_div ?posrE ?p// !lnM ?posrE ?mulr_gt0.
Qed.

Lemma balanced_trip f i j k : (forall i, 0 < f i) ->
  (forall i j, f i * A i j = f j * A j i) ->
  A i j * A j k * A k i / (A i k * A k j * A j i) = 1.
Proof.
move=> f0 fA; have fn l : f l != 0 by rewrite gt_eqF.
have An a b : A a b != 0 by rewrite gt_eqF.
have e : A i j * A j k * A k i = A i k * A k j * A j i.
  have ffn : f i * f j * f k != 0 by rewrite !mulf_neq0.
  apply: (mulfI ffn); rewrite mulrACA (mulrACA (f i)) (fA i j) (fA j k)
    (fA k i).
  move: (A j i) (A k j) (A i k) (f i) (f j) (f k) => p q r x' y z.
  by ring.
by rewrite e divff// !mulf_neq0.
Qed.
Lemma ln_trip_of (s : K -> K -> R) (z : K -> R) i j k :
  (forall i j, ln (A i j) = s i j - z i) ->
  ln (A i j * A j k * A k i / (A i k * A k j * A j i)) =
  s i j + s j k + s k i - (s i k + s k j + s j i).
Proof. by move=> e; rewrite ln_trip !e; ring. Qed.
End Trips.

(* scores and weights of tokens, in Coq *)
Section RoundTrips.
Variables (R : realType) (d : nat) (M : 'M[R]_d).
Variables (K : finType) (x : K -> 'cV[R]_d).
Definition S i j := form M (x i) (x j).
Definition A i j := gibbs.A (S i) 1 j.
Definition Zrow i := gibbs.Z (S i) 1.
Definition Omega := 2%:R^-1 *: (M - M^T).

(* the weights of tokens are positive *)
Lemma A_gt0 i j : 0 < A i j. Proof. exact: gibbs.A_gt0. Qed.
Lemma Z_gt0 i : 0 < Zrow i. Proof. exact: (gibbs.Z_gt0 _ _ i). Qed.
Lemma lnA i j : ln (A i j) = S i j - ln (Zrow i).
Proof. by rewrite /A ln_A divr1. Qed.

Let w i j := form Omega (x i) (x j).
Lemma wE i j : 2%:R * w i j = S i j - S j i.
Proof.
rewrite /w /Omega formZM mulVKf ?pnatr_eq0// formDM -scaleN1r formZM formT
  mulN1r.
by [].
Qed.

(* expand the antisymmetric form *)
Lemma two_w i j k : 2%:R * form Omega (x j - x i) (x k - x i) =
  2%:R * (w i j) + 2%:R * (w j k) + 2%:R * (w k i).
Proof.
have wN i' j' : w i' j' = - w j' i'.
  apply: (@mulfI _ 2%:R); first by rewrite pnatr_eq0.
  by rewrite mulrN !wE opprB.
have w0 : w i i = 0.
  by apply: (@mulfI _ 2%:R); rewrite ?pnatr_eq0// wE subrr mulr0.
rewrite -!mulrDr; congr (_ * _).
rewrite -!(scaleN1r (x i)) formDl !formDr !formZl !formZr -/(w j k) -/(w j i)
  -/(w i k) -/(w i i).
rewrite w0 (wN j i) (wN i k); move: (w i j) (w j k) (w k i) => p q r; ring.
Qed.

(* balance and round trips, in Coq *)
Definition balanced (f : K -> R) :=
  (forall i, 0 < f i) /\ forall i j, f i * A i j = f j * A j i.
Definition trip i j k :=
  ln (A i j * A j k * A k i / (A i k * A k j * A j i)).

(* state what a round trip costs *)
(* proves thm:round-trip *)
Theorem round_trip i j k :
  trip i j k = 2%:R * form Omega (x j - x i) (x k - x i).

(* prove what a round trip costs *)
Proof.
rewrite /trip (ln_trip_of A_gt0 i j k lnA) two_w !wE.
move: (S i j) (S j k) (S k i) (S i k) (S k j) (S j i) => a b c a' b' c'.
by ring.
Qed.

(* state when there is a balance *)
(* one is the first token *)
Variable one : K.
Definition weight i :=
  Zrow i * expR (- (2%:R * form Omega (x i) (x one))).

(* proves thm:round-trip *)
Theorem balanced_iff_no_round_trip :
  (exists f, balanced f) <-> forall i j k, trip i j k = 0.

(* prove when there is a balance *)
Proof.
split=> [[f [f0 fA]] i j k|t0].
  by rewrite /trip (balanced_trip A_gt0 _ _ _ f0 fA) ln1.
exists weight; split=> [i|i j]; first by rewrite mulr_gt0 ?expR_gt0 ?Z_gt0.
have Zn i' : Zrow i' != 0 by rewrite gt_eqF ?Z_gt0.
have wA a b : weight a * A a b = expR (S a b - 2%:R * w a one).
  rewrite /weight /A /gibbs.A -/(Zrow a) -/(w a one) expRD divr1 mulrC.
  by rewrite -!mulrA mulKf.
rewrite !wA; congr expR; have := t0 i j one; rewrite round_trip two_w !wE => e.
apply/eqP; rewrite -subr_eq0 -[X in _ == X]e; apply/eqP.
by move: (S i j) (S j i) (S i one) (S one i) (S j one) (S one j) =>
  a b c a' b' c'; ring.
Qed.

(* state that the balance is unique *)
(* proves thm:round-trip *)
Theorem the_balance f : balanced f ->
  exists c, 0 < c /\ forall i, f i = c * weight i.

(* prove that the balance is unique *)
Proof.
move=> fb; have [f0 fA] := fb.
have [w0 wA] : balanced weight.
  have t0 : forall i j k, trip i j k = 0 by apply/balanced_iff_no_round_trip;
    exists f.
  have Zn i' : Zrow i' != 0 by rewrite gt_eqF ?Z_gt0.
  split=> [i|i j]; first by rewrite mulr_gt0 ?expR_gt0 ?Z_gt0.
  have wA a b : weight a * A a b = expR (S a b - 2%:R * w a one).
    rewrite /weight /A /gibbs.A -/(Zrow a) -/(w a one) expRD divr1 mulrC.
    by rewrite -!mulrA mulKf.
  rewrite !wA; congr expR; have := t0 i j one; rewrite round_trip two_w !wE =>
    e.
  apply/eqP; rewrite -subr_eq0 -[X in _ == X]e; apply/eqP.
  by move: (S i j) (S j i) (S i one) (S one i) (S j one) (S one j) =>
    a b c a' b' c'; ring.
have wn i : weight i != 0 by rewrite gt_eqF ?w0.
exists (f one / weight one); split=> [|i]; first by rewrite divr_gt0.
have An : A i one != 0 by rewrite gt_eqF ?A_gt0.
apply: (mulIf An); rewrite fA -[_ * weight i * _]mulrA wA mulrA divfK//.
Qed.
End RoundTrips.
