(* proofs/turnround.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From attn Require Import prelude rounding softmaxbound logerr.
From mathcomp.classical Require Import boolp classical_sets functions
  mathcomp_extra.
From mathcomp.analysis Require Import topology normedtype realfun trigo.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a function of slope at most one *)
Lemma gentle (R : realType) (f df : R -> R) :
  (forall t, is_derive t (1 : R) f (df t)) -> (forall t, `|df t| <= 1) ->
  forall x y, `|f y - f x| <= `|y - x|.
Proof.
move=> dE d1; suff lt x y : x < y -> `|f y - f x| <= `|y - x|.
  move=> x y; case: (ltgtP x y) => [/lt//|/lt|->].
    by rewrite distrC [X in _ <= X]distrC.
  by rewrite !subrr.
move=> xy; have cE : {within `[x, y]%classic, continuous f}.
  apply: continuous_subspaceT => t; apply: differentiable_continuous.
  by apply/derivable1_diffP; have [] := dE t.
have [c _ ->] := MVT xy (fun t _ => dE t) cE.
by rewrite normrM ler_pimull.
Qed.

(* a plane and its frequency, in Coq *)
Section Turn.
Variables (R : realType) (u v e b p x1 x2 : R).
Definition theta := expR (e * ln b).
Definition w := 4%:R + `|e * ln b|.
Definition bound := (`|x1| + `|x2|) * (w * v * `|p * theta| + gamma u 4).
Hypotheses (u_ge0 : 0 <= u) (four_u : 4%:R * u < 1) (v_ge0 : 0 <= v)
  (few : w ^+ 2 * v <= 2%:R).

(* what a program computes of a plane, in Coq *)
Variables (e' theta' phi c s a1 a2 b1 b2 y1 y2 : R).
Hypotheses (exponent : rounds v e e')
  (power : rounds (2%:R * v) (expR (e' * ln b)) theta')
  (angle : rounds v (p * theta') phi)
  (cosine : rounds (2%:R * u) (cos phi) c)
  (sine : rounds (2%:R * u) (sin phi) s)
  (products : [/\ rounds u (c * x1) a1, rounds u (s * x2) a2,
                  rounds u (s * x1) b1 & rounds u (c * x2) b2])
  (difference : rounds u (a1 - a2) y1) (sum : rounds u (b1 + b2) y2).

(* errors of two factors *)
Lemma factors (x y h k : R) : `|x - 1| <= h -> `|y - 1| <= k ->
  `|x * y - 1| <= (1 + h) * (1 + k) - 1.
Proof.
move=> xh yk; have h0 := le_trans (normr_ge0 _) xh.
rewrite (_ : _ - 1 = (x - 1) * (y - 1) + ((x - 1) + (y - 1))); last by ring.
rewrite (_ : (1 + h) * _ - 1 = h * k + (h + k)); last by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite normrM ler_add ?ler_pmul//.
exact: le_trans (ler_norm_add _ _) (ler_add xh yk).
Qed.
Lemma rounded (h d : R) : `|d| <= h -> `|1 + d - 1| <= h.
Proof. by rewrite addrAC subrr add0r. Qed.

(* the error of an angle *)
Lemma angle_error : `|phi - p * theta| <= w * v * `|p * theta|.
Proof.
have [d0 d0v eE] := exponent; have [d1 d1v tE] := power.
have [d2 d2v ->] := angle; set l := e * ln b.
have E : p * theta' * (1 + d2) - p * theta =
    (expR (d0 * l) * ((1 + d1) * (1 + d2)) - 1) * (p * theta).
  rewrite tE eE [e * _ * _](_ : _ = l + d0 * l); last by rewrite /l; ring.
  by rewrite expRD /theta -/l; ring.
rewrite E normrM ler_wpmul2r//.

(* the power of a rounded exponent *)
pose h := `|l| * v; have h0 : 0 <= h by rewrite mulr_ge0.
have d0h : `|expR (d0 * l) - 1| <= expR h - 1.
  have dl : `|d0 * l| <= h by rewrite normrM mulrC ler_wpmul2l.
  move: dl; rewrite ler_norml => /andP[lo hi].
  rewrite ler_norml ler_add2r ler_expR hi andbT ler_oppl opprB.
  have := expR_ge1D (d0 * l); have := expR_ge1D h => H X.
  rewrite -subr_ge0 [X in 0 <= X](_ : _ = (expR h - (1 + h)) +
    (expR (d0 * l) - (1 + d0 * l)) + (d0 * l - - h)); last by ring.
  by apply: addr_ge0; first apply: addr_ge0; rewrite subr_ge0.

(* three more roundings of an angle *)
apply: le_trans (factors d0h (factors (rounded d1v) (rounded d2v))) _.
pose y := (`|l| + 3%:R) * v.
have v3 : (1 + 2%:R * v) * (1 + v) <= expR (3%:R * v).
  apply: (@le_trans _ _ (expR (2%:R * v) * expR v)); last first.
    by rewrite -expRD (_ : 2%:R * v + v = 3%:R * v); last by ring.
  by apply: ler_pmul; rewrite ?expR_ge1D// addr_ge0 ?mulr_ge0 ?ler0n ?ler01//.
apply: (@le_trans _ _ (expR y - 1)).
  rewrite addrCA subrr addr0 [1 + (_ - 1)]addrCA subrr addr0 ler_add2r.
  have -> : y = h + 3%:R * v by rewrite /y mulrDl.
  by rewrite expRD ler_wpmul2l// ltW ?expR_gt0.

(* the second order of an angle *)
have y0 : 0 <= y by rewrite mulr_ge0 ?addr_ge0.
have w4 : w = `|l| + 3%:R + 1 by rewrite /w -/l; ring.
have w0 : 0 < w by rewrite w4 addr_gt0// ltr_paddl.
have yw : y * w <= 2%:R.
  apply: le_trans few; rewrite /y mulrAC expr2 ler_wpmul2r// ler_wpmul2r//.
    exact: ltW.
  by rewrite w4 ler_addl.
have yl : y < 2%:R.
  rewrite -(ltr_pmul2r w0); apply: le_lt_trans yw _.
  by rewrite ltr_pmulr// w4 ltr_addr ltr_paddl.
apply: le_trans (expB1_le y0 yl) _.
rewrite ler_pdivr_mulr ?subr_gt0 ?ltr_pdivr_mulr ?ltr0n ?mul1r//.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = v * (2%:R - y * w) / 2%:R); last first.
  by rewrite /y w4; field.
by rewrite divr_ge0 ?ler0n// mulr_ge0// subr_ge0.
Qed.

(* the error of a turned coordinate *)
Lemma second_order :
  0 <= 1 - (1 + 2%:R * u) * ((1 + u) * (1 + u)) * (1 - 4%:R * u).
Proof.
have -> : 1 - (1 + 2%:R * u) * ((1 + u) * (1 + u)) * (1 - 4%:R * u) =
  u ^+ 2 * (11%:R + (18%:R * u + 8%:R * u ^+ 2)) by ring.
apply: mulr_ge0; first exact: sqr_ge0.
apply: addr_ge0; first exact: ler0n.
apply: addr_ge0; apply: mulr_ge0; [exact: ler0n|exact: u_ge0|exact: ler0n|].
exact: sqr_ge0.
Qed.
Lemma term (t t' x a d y : R) : `|t' - t| <= w * v * `|p * theta| ->
  `|t'| <= 1 -> rounds (2%:R * u) t' y -> rounds u (y * x) a -> `|d| <= u ->
  `|a * (1 + d) - t * x| <= `|x| * (w * v * `|p * theta| + gamma u 4).
Proof.
move=> tt t1 [d0 h0 ->] [d1 h1 ->] h2.
have -> : t' * (1 + d0) * x * (1 + d1) * (1 + d) - t * x =
  x * ((t' - t) + t' * ((1 + d0) * ((1 + d1) * (1 + d)) - 1)) by ring.
rewrite normrM ler_wpmul2l//; apply: le_trans (ler_norm_add _ _) _.
rewrite ler_add// normrM; apply: le_trans (ler_pimull _ t1) _ => //.
apply: le_trans (factors (rounded h0) (factors (rounded h1) (rounded h2))) _.
rewrite ler_subl_addl gammaE// -[X in _ <= X]mul1r.
rewrite ler_pdivl_mulr ?subr_gt0// -subr_ge0.
move: second_order; rewrite [X in _ -> 0 <= X](_ : _ =
  1 - (1 + 2%:R * u) * ((1 + u) * (1 + u)) * (1 - 4%:R * u)) //; ring.
Qed.

(* state the rounding of a rotation *)
(* proves prop:rotary-rounding *)
Theorem turned_plane :
  `|y1 - (cos (p * theta) * x1 - sin (p * theta) * x2)| <= bound /\
  `|y2 - (sin (p * theta) * x1 + cos (p * theta) * x2)| <= bound.

(* prove the rounding of a rotation *)
Proof.
have a := angle_error.
have C : `|cos phi - cos (p * theta)| <= w * v * `|p * theta|.
  apply: le_trans a; apply: (@gentle R cos (fun t => - sin t)) => t.
  by rewrite normrN sin_max.
have S : `|sin phi - sin (p * theta)| <= w * v * `|p * theta|.
  apply: le_trans a; apply: (@gentle R sin (@cos R)) => t.
  exact: cos_max.
have [p1 p2 p3 p4] := products; rewrite /bound mulrDl.
split.
  have [d du ->] := difference.
  have := term C (cos_max _) cosine p1 du.
  have := term S (sin_max _) sine p2 du.
  move=> h2 h1; have -> : (a1 - a2) * (1 + d) -
    (cos (p * theta) * x1 - sin (p * theta) * x2) =
    (a1 * (1 + d) - cos (p * theta) * x1) -
    (a2 * (1 + d) - sin (p * theta) * x2) by ring.
  by apply: le_trans (ler_norm_sub _ _) (ler_add h1 h2).
have [d du ->] := sum.
have := term S (sin_max _) sine p3 du.
have := term C (cos_max _) cosine p4 du.
move=> h2 h1; have -> : (b1 + b2) * (1 + d) -
  (sin (p * theta) * x1 + cos (p * theta) * x2) =
  (b1 * (1 + d) - sin (p * theta) * x1) +
  (b2 * (1 + d) - cos (p * theta) * x2) by ring.
by apply: le_trans (ler_norm_add _ _) (ler_add h1 h2).
Qed.
End Turn.
