(* proofs/tangent.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs tanh.
From mathcomp.classical Require Import boolp classical_sets functions
  mathcomp_extra.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the hyperbolic tangent lies below its argument *)
Section Tangent.
Variable R : realType.
Implicit Types x y : R.
Lemma derive_expN x :
  is_derive x (1 : R) (fun y : R => expR (- y)) (- expR (- x)).
Proof.
have := is_derive1_comp (f := expR) (g := fun y : R => - y)
  (is_derive_expR (- x)) (is_deriveN (is_derive_id x (1 : R))).
by move=> h; apply: (is_derive_eq h); rewrite mulrN1.
Qed.
(* x cosh x - sinh x increases, since its derivative is x sinh x *)
Lemma sinh_le x : 0 <= x -> expR x - expR (- x) <= x * (expR x + expR (- x)).
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite oppr0 subrr mul0r.
pose f (t : R) := t * (expR t + expR (- t)) - (expR t - expR (- t)).
pose df (t : R) := t * (expR t - expR (- t)).
have dE (t : R) : is_derive t (1 : R) f (df t).
  have dN := derive_expN t; have de := is_derive_expR t.
  have h := is_deriveB (is_deriveM (is_derive_id t (1 : R))
    (is_deriveD de dN)) (is_deriveB de dN).
  apply: (is_derive_eq h).
  transitivity (t * (expR t - expR (- t)) + (expR t + expR (- t)) * 1
    - (expR t - - expR (- t))); first by [].
  by rewrite mulr1 opprK addrK.
have cE : {within `[0, x]%classic, continuous f}.
  apply: continuous_subspaceT => t; apply: differentiable_continuous.
  by apply/derivable1_diffP; have [] := dE t.
have [c /andP[/=]] := MVT x0 (fun t _ => dE t) cE.
rewrite !bnd_simp => c0 _; rewrite /f oppr0 subrr mul0r !subr0 => E.
rewrite -subr_ge0 E addr0 mulr_ge0 ?(ltW x0)// /df mulr_ge0
  ?(ltW c0)// subr_ge0 ler_expR.
by apply: le_trans (ltW c0); rewrite oppr_le0 ltW.
Qed.
Lemma tanh_le x : 0 <= x -> tanh x <= x.
Proof. by move=> x0; rewrite /tanh ler_pdivr_mulr ?sinh_le// addr_gt0
  ?expR_gt0. Qed.
Lemma tanhN x : tanh (- x) = - tanh x.
Proof. by rewrite /tanh opprK -[_ - _ in LHS]opprB mulNr
  [expR (- x) + _]addrC. Qed.
Lemma tanh_nonneg x : 0 <= x -> 0 <= tanh x.
Proof.
move=> x0; apply: divr_ge0; last by apply: addr_ge0; exact/ltW/expR_gt0.
by rewrite subr_ge0 ler_expR (@le_trans _ _ 0) ?oppr_le0.
Qed.
Lemma norm_tanh x : `|tanh x| <= `|x|.
Proof.
wlog x0 : x / 0 <= x => [h|].
  by case/orP: (le_total 0 x) => s; first exact: h; rewrite -normrN -tanhN
    -(normrN x) h// oppr_ge0.
by rewrite !ger0_norm ?tanh_le ?tanh_nonneg.
Qed.

(* state that two keys attain it *)
(* proves lem:tanh *)
Theorem tanh_attained (rho : R) : 0 <= rho ->
  let s (j : bool) := if j then - (rho / 4%:R) else rho / 4%:R in
  let s' j := - s j in
  (s' true - s true) - (s' false - s false) = rho /\
  2%:R^-1 * (\sum_j `|A s 1 j - A s' 1 j|) = tanh (rho / 4%:R).

(* prove that two keys attain it *)
Proof.
move=> r0 s s'; split; first by rewrite /s' /s; field.
have ZE : Z s 1 = expR (rho / 4%:R) + expR (- (rho / 4%:R)).
  by rewrite /Z big_bool /s !divr1 addrC.
have ZE' : Z s' 1 = expR (rho / 4%:R) + expR (- (rho / 4%:R)).
  by rewrite /Z big_bool /s' /s !divr1 opprK.
have t0 : 0 <= tanh (rho / 4%:R) by rewrite tanh_nonneg// divr_ge0 ?ler0n.
have At : A s 1 true - A s' 1 true = - tanh (rho / 4%:R).
  by rewrite /A ZE ZE' -mulrBl /s' /s !divr1 opprK /tanh -[RHS]mulNr opprB.
have Af : A s 1 false - A s' 1 false = tanh (rho / 4%:R).
  by rewrite /A ZE ZE' -mulrBl /s' /s !divr1 /tanh.
by rewrite big_bool /= At Af normrN ger0_norm//; field.
Qed.

(* a gate, in Coq *)
Definition silu x := x / (1 + expR (- x)).

(* a gate is half a tangent *)
Lemma silu_tanh x : silu x = x / 2%:R * (1 + tanh (x / 2%:R)).
Proof.
rewrite /silu /tanh; have -> : expR (- x) = expR (- (x / 2%:R)) ^+ 2.
  by rewrite expr2 -expRD; congr expR; field.
have p : expR (- (x / 2%:R)) * expR (x / 2%:R) = 1 by rewrite -expRD
  addNr expR0.
have u0 := expR_gt0 (x / 2%:R); have v0 := expR_gt0 (- (x / 2%:R)).
move: p u0 v0; move: (expR (x / 2%:R)) (expR (- (x / 2%:R))) => u v p u0 v0.
have n1 : 1 + v ^+ 2 != 0 by rewrite gt_eqF// addr_gt0 ?ltr01 ?exprn_gt0.
have n2 : u + v != 0 by rewrite gt_eqF// addr_gt0.
apply: (mulIf n1); rewrite mulfVK//; apply: (mulIf n2).
transitivity (x * u * (1 + v ^+ 2)); last first.
  have u1 : 1 + (u - v) / (u + v) = 2%:R * u / (u + v).
    have {1}-> : 1 = (u + v) / (u + v) by rewrite mulfV.
    by rewrite -mulrDl; congr (_ / _); ring.
  by rewrite u1; field; rewrite ?n2 ?pnatr_eq0.
have -> : x * u * (1 + v ^+ 2) = x * u + x * v * (v * u) by ring.
by rewrite p mulr1 mulrDr.
Qed.

(* state that a gate is a form *)
(* proves prop:gate *)
Theorem gate a b :
  `|silu a * b - 2%:R^-1 * a * b| <= 4%:R^-1 * a ^+ 2 * `|b|.

(* prove that a gate is a form *)
Proof.
rewrite silu_tanh.
have -> : a / 2%:R * (1 + tanh (a / 2%:R)) * b - 2%:R^-1 * a * b = a / 2%:R *
  tanh (a / 2%:R) * b.
  by field.
rewrite normrM ler_wpmul2r// normrM.
apply: le_trans (ler_wpmul2l (normr_ge0 _) (norm_tanh _)) _.
by rewrite -normrM ger0_norm -?expr2 ?sqr_ge0// (_ : _ ^+ 2 = 4%:R^-1 * a ^+
  2)//; field.
Qed.
End Tangent.
