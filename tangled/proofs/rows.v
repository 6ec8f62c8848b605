(* proofs/rows.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row of weights, in Coq *)
(* e is the exponential, of which only what is said is used. *)
Section Row.
Variables (R : fieldType) (e : R -> R) (d : nat) (K : finType).
Implicit Types (M : pred K) (s : K -> R) (V : K -> 'rV[R]_d).
(* M: the keys that the query sees; z0: the sink's e^sigma, 0 without a
   sink *)
Definition Z (z0 : R) M s := z0 + \sum_(l | M l) e (s l).
Definition weight (z0 : R) M s j :=
  if M j then e (s j) / Z z0 M s else 0.
Definition out (z0 : R) M s V := \sum_j weight z0 M s j *: V j.

(* the sum of weights *)
Lemma sum_weight z0 M s :
  \sum_j weight z0 M s j = (\sum_(j | M j) e (s j)) / Z z0 M s.
Proof. by rewrite /weight -big_mkcond mulr_suml. Qed.

(* state that a sink is a key *)
(* proves prop:sink *)
Theorem sink z0 M s : Z z0 M s != 0 ->
  \sum_j weight z0 M s j = 1 - z0 / Z z0 M s /\
  (Z 0 M s != 0 -> forall j,
     weight z0 M s j = weight 0 M s j * (1 - z0 / Z z0 M s)).

(* prove that a sink is a key *)
Proof.
move=> Z0; have E : (\sum_(j | M j) e (s j)) / Z z0 M s = 1 - z0 / Z z0 M s.
  by rewrite -[1](divff Z0) -mulrBl {2}/Z addrAC subrr add0r.
split=> [|Y0 j]; first by rewrite sum_weight.
rewrite /weight; case: ifP => _; last by rewrite mul0r.
have ZE : Z 0 M s = \sum_(l | M l) e (s l) by rewrite /Z add0r.
by rewrite -E -ZE mulrA mulfVK.
Qed.

(* state what a sink leaves of an empty row *)
(* proves prop:sink *)
Theorem sink_of_an_empty_row z0 M s V : (forall j, ~~ M j) ->
  out z0 M s V = 0 /\ Z z0 M s = z0.

(* prove what a sink leaves of an empty row *)
Proof.
move=> no; rewrite /out /Z !big1 ?addr0// => j;
  first by rewrite (negbTE (no j)).
by rewrite /weight (negbTE (no j)) scale0r.
Qed.

(* a row is what its keys are *)
(* Only what the query sees is read. *)
Lemma out_seen z0 M s s' V V' : (forall j, M j -> s j = s' j /\ V j = V' j) ->
  out z0 M s V = out z0 M s' V'.
Proof.
move=> same; have ZE : Z z0 M s = Z z0 M s'.
  by rewrite /Z; congr (_ + _); apply: eq_bigr => j /same[->].
apply: eq_bigr => j _; rewrite /weight ZE; case: ifP => [/same[-> ->]//|_].
by rewrite !scale0r.
Qed.
Theorem leave_one_out M s V j : Z 0 M s != 0 -> weight 0 M s j != 1 ->
  V j - out 0 (fun l => M l && (l != j)) s V =
  (1 - weight 0 M s j)^-1 *: (V j - out 0 M s V).
Proof.
move=> Z0 w1; set M' := fun l => _; have [Mj|Mj] := boolP (M j); last first.
  have -> : weight 0 M s j = 0 by rewrite /weight (negbTE Mj).
  rewrite subr0 invr1 scale1r; congr (_ - _); apply: eq_bigr => l _.
  have same : M' =1 M.
    by move=> i; rewrite /M'; case: eqVneq => [->|];
      rewrite ?andbT// andbF (negbTE Mj).
  by rewrite /weight /Z same (eq_bigl _ _ same).
have ZE : Z 0 M s = e (s j) + Z 0 M' s.
  by rewrite /Z !add0r (bigD1 j).
have Aj : weight 0 M s j = e (s j) / Z 0 M s by rewrite /weight Mj.
have Z'0 : Z 0 M' s != 0.
  by apply: contraNneq w1 => E; rewrite Aj; rewrite ZE E addr0 in Z0 *;
    rewrite divff.
have Z'E : 1 - weight 0 M s j = Z 0 M' s / Z 0 M s.
  by rewrite Aj -[1](divff Z0) -mulrBl {1}ZE addrAC subrr add0r.
have n0 : 1 - weight 0 M s j != 0 by rewrite subr_eq0 eq_sym.
have oE : out 0 M s V = weight 0 M s j *: V j + (1 - weight 0 M s j) *:
  out 0 M' s V.
  rewrite /out (bigD1 j)//= [\sum_j0 weight 0 M' s j0 *: _](bigD1 j)//=.
  have -> : weight 0 M' s j = 0 by rewrite /weight /M' eqxx andbF.
  rewrite scale0r add0r; congr (_ + _); rewrite scaler_sumr;
    apply: eq_bigr => l lj.
  have -> : weight 0 M' s l = if M l then e (s l) / Z 0 M' s else 0.
    by rewrite /weight {1}/M' lj andbT.
  rewrite scalerA /weight; congr (_ *: _); case: ifP => _; rewrite ?mulr0//.
  rewrite -[if M j then _ else _]/(weight 0 M s j) Z'E.
  by rewrite [RHS]mulrC mulrA mulfVK.
rewrite oE; set a := weight 0 M s j in n0 *; set w := out _ _ _ _.
have -> : V j - (a *: V j + (1 - a) *: w) = (1 - a) *: (V j - w).
  by rewrite scalerBr [(1 - a) *: V j]scalerBl scale1r opprD addrA.
by rewrite scalerA mulVf// scale1r.
Qed.
End Row.
