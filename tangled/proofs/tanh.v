(* proofs/tanh.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the hyperbolic tangent, in Coq *)
Definition tanh (R : realType) (x : R) :=
  (expR x - expR (- x)) / (expR x + expR (- x)).

(* bound a gap by its odds *)
Lemma odds_gap (R : rcfType) (x y c : R) : 0 <= x <= 1 -> 0 <= y <= 1 -> 1
  <= c ->
  x * (1 - y) <= c ^+ 2 * (y * (1 - x)) -> (x - y) * (c + 1) <= c - 1.
Proof.
move=> /andP[x0 x1] /andP[y0 y1] c1 h.
have c0 : 0 <= c by exact: le_trans ler01 c1.
pose p := x * (1 - y); pose q := y * (1 - x).
have p0 : 0 <= p by rewrite mulr_ge0 ?subr_ge0.
have q0 : 0 <= q by rewrite mulr_ge0 ?subr_ge0.
pose P := Num.sqrt p; pose Q := Num.sqrt q.
have P0 : 0 <= P by exact: sqrtr_ge0.
have Q0 : 0 <= Q by exact: sqrtr_ge0.
have P2 : P ^+ 2 = p by rewrite sqr_sqrtr.
have Q2 : Q ^+ 2 = q by rewrite sqr_sqrtr.
have PcQ : P <= c * Q.
  by rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0// exprMn P2 Q2.
have PQ1 : (P + Q) ^+ 2 <= 1.
  have z0 : 0 <= (1 - x) * (1 - y) by rewrite mulr_ge0 ?subr_ge0.
  have w0 : 0 <= x * y by rewrite mulr_ge0.
  pose z := Num.sqrt ((1 - x) * (1 - y)); pose w := Num.sqrt (x * y).
  have PQ : P * Q = z * w.
    rewrite /P /Q /z /w -!sqrtrM//; congr Num.sqrt; rewrite /p /q; ring.
  have zz : z ^+ 2 = (1 - x) * (1 - y) by rewrite sqr_sqrtr.
  have ww : w ^+ 2 = x * y by rewrite sqr_sqrtr.
  rewrite -subr_ge0 (_ : _ - _ = (z - w) ^+ 2) ?sqr_ge0//.
  rewrite sqrrD sqrrB P2 Q2 PQ zz ww /p /q; ring.
have -> : x - y = (P - Q) * (P + Q) by rewrite -subr_sqr P2 Q2 /p /q; ring.
have h1 : (P - Q) * (c + 1) <= (c - 1) * (P + Q).
  rewrite -subr_ge0 (_ : _ - _ = 2 * (c * Q - P)); last by ring.
  by rewrite mulr_ge0 ?ler0n// subr_ge0.
have h2 : (P - Q) * (P + Q) * (c + 1) <= (c - 1) * (P + Q) ^+ 2.
  by rewrite mulrAC expr2 mulrA ler_wpmul2r// addr_ge0.
apply: le_trans h2 _; rewrite -[X in _ <= X]mulr1 ler_wpmul2l// subr_ge0//.
Qed.

(* state how far weights move *)
Section Tanh.
Variables (R : realType) (K : finType) (s s' : K -> R) (rho : R).
(* Differences of scores change by no more than rho. *)
Hypothesis range : forall j k, (s' j - s j) - (s' k - s k) <= rho.

(* proves lem:tanh *)
Theorem weights_move_by_tanh (j0 : K) :
  2^-1 * (\sum_j `|A s 1 j - A s' 1 j|) <= tanh (rho / 4%:R).

(* prove how far weights move *)
Proof.
pose a := A s 1; pose b := A s' 1.
have a1 : \sum_j a j = 1 by exact: sum_A j0.
have b1 : \sum_j b j = 1 by exact: sum_A j0.
have a0 j : 0 < a j by exact: A_gt0.
have b0 j : 0 < b j by exact: A_gt0.
pose B j := a j < b j.
pose x := \sum_(j | B j) b j; pose y := \sum_(j | B j) a j.
have xC : \sum_(j | ~~ B j) b j = 1 - x by rewrite -b1 [X in _ = X
  - _](bigID B)/= -/x addrAC subrr add0r.
have yC : \sum_(j | ~~ B j) a j = 1 - y by rewrite -a1 [X in _ = X
  - _](bigID B)/= -/y addrAC subrr add0r.
have -> : 2^-1 * (\sum_j `|a j - b j|) = x - y.
  rewrite (bigID B)/= (eq_bigr (fun j => b j - a j)); last first.
    by move=> j Bj; rewrite ltr0_norm ?opprB// subr_lt0.
  rewrite [X in _ + X](eq_bigr (fun j => a j - b j)); last first.
    by move=> j; rewrite -leNgt => Bj; rewrite ger0_norm// subr_ge0.
  by rewrite !sumrB xC yC -/x -/y; field.
have rho0 : 0 <= rho by have := range j0 j0; rewrite subrr.
pose c := expR (rho / 2%:R).
have c1 : 1 <= c.
  rewrite -[X in X <= _](@expR0 R) ler_expR mulr_ge0 ?invr_ge0 ?ler0n//.
have c2 : c ^+ 2 = expR rho by rewrite expr2 -expRD; congr expR; field.
have xy : x * (1 - y) <= c ^+ 2 * (y * (1 - x)).
  rewrite c2 -yC -xC /x /y !big_distrlr /= mulr_sumr ler_sum// => j _.
  rewrite mulr_sumr ler_sum// => k _.
  have E (t t' : K -> R) : A t 1 j * A t' 1 k = expR (t j
    + t' k) / (Z t 1 * Z t' 1).
    by rewrite /A !divr1 mulf_div expRD.
  rewrite /a /b !E mulrA -expRD [Z s' 1 * _]mulrC ler_wpmul2r//.
    by rewrite invr_ge0 mulr_ge0// ltW// (Z_gt0 _ _ j0).
  by rewrite ler_expR; have := range j k; rewrite ler_subl_addr => h;
    rewrite -subr_ge0 (_ : _ - _ = rho + (s' k - s k) - (s' j
    - s j)) ?subr_ge0//; ring.
have in01 (u : K -> R) (v : R) : (forall j, 0 < u j) -> \sum_j u j = 1 -> v
  = \sum_(j | B j) u j -> 0 <= v <= 1.
  move=> u0 u1 ->; rewrite sumr_ge0 => [/=|j _]; last exact: ltW.
  by rewrite -u1 [X in _ <= X](bigID B)/= ler_addl sumr_ge0// => j _; exact:
    ltW.
have := odds_gap (in01 b x b0 b1 erefl) (in01 a y a0 a1 erefl) c1 xy.
have c10 : 0 < c + 1 by rewrite ltr_paddl ?ltr01// (le_trans ler01 c1).
rewrite -ler_pdivl_mulr//; congr (_ <= _).
pose e := expR (rho / 4%:R).
have e0 : e != 0 by rewrite gt_eqF ?expR_gt0.
have ce : c = e ^+ 2 by rewrite expr2 -expRD; congr expR; field.
rewrite /tanh expRN -/e ce; field.
by rewrite e0 -expr2 -ce gt_eqF.
Qed.
End Tanh.
