(* proofs/gibbsround.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs softmaxbound logerr nonneg.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row and its excitations, in Coq *)
Section Gibbs.
Variables (R : realType) (K : finType) (s : K -> R) (T : R) (top : K).
Let n := #|K|.
Hypotheses (T_gt0 : 0 < T) (best : forall j, s j <= s top).
Definition x j := (s top - s j) / T.
Definition xbar := \sum_j A s T j * x j.
Definition L := ln (1 + \sum_(k | k != top) expR (- x k)).
Variables u X : R.
Hypotheses (u_ge0 : 0 <= u) (widest : forall j, x j <= X).
Definition kappa := 2%:R * u * (X + xbar + n%:R + 4%:R).
Hypothesis small : kappa < 1.

(* what a program computes of a row, in Coq *)
Variables (t x' w' A' logA' : K -> R) (r' D' L' m' logZ' : R).
Hypotheses (differences : forall j, rounds u (s top - s j) (t j))
  (excitations : forall j, rounds u (t j / T) (x' j))
  (ground : w' top = 1) (factors : forall j, j != top ->
    rounds (2%:R * u) (expR (- x' j)) (w' j))
  (rest : total u [seq w' j | j <- enum (predC1 top)] r')
  (denominator : rounds u (1 + r') D')
  (weights : forall j, rounds u (w' j / D') (A' j))
  (logarithm : rounds (2%:R * u) (ln (1 + r')) L')
  (shift : rounds u (s top / T) m') (sum : rounds u (m' + L') logZ')
  (logarithms : forall j, rounds u (- x' j - L') (logA' j)).

(* what it computes for the entropy, in Coq *)
Definition square := \sum_j A s T j * x j ^+ 2.
Variables (p' : K -> R) (f' xbar' H' : R).
Hypotheses
  (products : forall j, j != top -> rounds u (x' j * w' j) (p' j))
  (first : total u [seq p' j | j <- enum (predC1 top)] f')
  (mean : rounds u (f' / D') xbar') (both : rounds u (L' + xbar') H').

(* weights in terms of excitations *)
Definition E := 2%:R * xbar + n%:R * (1 - A s T top).
Lemma x_ge0 j : 0 <= x j.
Proof. by rewrite divr_ge0 ?subr_ge0 ?(ltW T_gt0). Qed.
Lemma x_top : x top = 0. Proof. by rewrite /x subrr mul0r. Qed.
Lemma X_ge0 : 0 <= X. Proof. exact: le_trans (x_ge0 top) (widest top).
  Qed.
Lemma A0 j : 0 <= A s T j. Proof. exact/ltW/A_gt0. Qed.
Lemma xbar_ge0 : 0 <= xbar.
Proof. by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?x_ge0 ?A0. Qed.
Lemma n_ge1 : 1 <= n%:R :> R.
Proof. by rewrite ler1n; apply/card_gt0P; exists top. Qed.
Lemma two_u : 2%:R * u < 1.
Proof.
apply: le_lt_trans small; rewrite -[Y in Y <= _]mulr1 ler_wpmul2l
  ?mulr_ge0 ?ler0n//.
have := X_ge0; have := xbar_ge0; have := n_ge1 => n1 b0 X0.
by apply: ler_paddl; rewrite ?addr_ge0 ?ler0n// ler1n.
Qed.
Definition Z0 := 1 + \sum_(k | k != top) expR (- x k).
Lemma Z0_sum : \sum_k expR (- x k) = Z0.
Proof. by rewrite (bigD1 top)//= x_top oppr0 expR0. Qed.
Lemma Z0_ge1 : 1 <= Z0.
Proof. by rewrite ler_addl sumr_ge0// => k _; exact/ltW/expR_gt0. Qed.
Lemma Z0_gt0 : 0 < Z0. Proof. exact: lt_le_trans ltr01 Z0_ge1. Qed.
Lemma ZE : Z s T = expR (s top / T) * Z0.
Proof.
rewrite -Z0_sum mulr_sumr; apply: eq_bigr => k _; rewrite -expRD; congr
  expR.
by rewrite /x -mulrBl opprB addrC subrK.
Qed.
Lemma AE j : A s T j = expR (- x j) / Z0.
Proof.
rewrite /A ZE invfM mulrA -[in LHS]expRN -expRD; congr (expR _ / _).
by rewrite /x mulrBl opprB addrC.
Qed.
Lemma logZ : ln (Z s T) = s top / T + L.
Proof. by rewrite ZE lnM ?posrE ?expR_gt0 ?Z0_gt0// expK. Qed.
Lemma logA j : ln (A s T j) = - x j - L.
Proof.
by rewrite AE lnM ?posrE ?invr_gt0 ?expR_gt0 ?Z0_gt0// expK lnV ?posrE
  ?Z0_gt0.
Qed.
Lemma A_sum : \sum_j A s T j = 1. Proof. exact: sum_A top. Qed.
Lemma A_le1 j : A s T j <= 1.
Proof. by rewrite -A_sum (bigD1 j)//= ler_addl sumr_ge0// => k _; exact:
  A0. Qed.

(* excitations and factors, rounded *)
Local Notation v := (v u).
Let v0 : 0 <= v. Proof. exact: v_ge0 u_ge0 two_u. Qed.
Lemma x'_error j : `|x' j - x j| <= x j * (2%:R * u + u ^+ 2).
Proof.
have [d du tE] := differences j; have [e eu ->] := excitations j.
rewrite tE (_ : _ - _ = x j * (d + e + d * e)); last by rewrite /x; ring.
rewrite normrM ger0_norm ?x_ge0// ler_wpmul2l ?x_ge0//.
apply: le_trans (ler_norm_add _ _) _; rewrite normrM expr2 ler_add
  ?ler_pmul//.
apply: le_trans (ler_norm_add _ _) _; rewrite mulr_natl mulr2n ler_add//.
Qed.
Lemma near_x' j : near (2%:R * v) (x j) (x' j).
Proof.
have d := near_round u_ge0 two_u (differences j).
have e := near_round u_ge0 two_u (excitations j).
have := near_trans (near_div d (near_refl T (lexx 0))) e.
by rewrite addr0 [2%:R * _]mulr_natl mulr2n.
Qed.
Lemma near_w j : near (v * (2%:R * x j + 2%:R)) (expR (- x j)) (w' j).
Proof.
have [->|jt] := eqVneq j top.
  by rewrite ground x_top oppr0 expR0; apply: near_refl;
    rewrite mulr_ge0// mulr0 add0r ler0n.
have e := near_round2 two_u (factors jt).
have /near_exp d : `|- x' j - - x j| <= x j * (2%:R * u + u ^+ 2).
  by rewrite -opprD normrN x'_error.
apply: near_le (near_trans d e).
have -> : v * (2%:R * x j + 2%:R) = x j * (2%:R * v) + 2%:R * v by ring.
rewrite ler_add2r ler_wpmul2l ?x_ge0// /logerr.v mulrA.
rewrite ler_pdivl_mulr ?q_gt0 ?two_u// -subr_ge0 [Y in 0 <= Y](_ : _ = u
  ^+ 2 * (3%:R + 2%:R * u));
  last by ring.
by rewrite mulr_ge0 ?sqr_ge0// addr_ge0 ?mulr_ge0 ?ler0n.
Qed.
Lemma w'_ge0 j : 0 <= w' j.
Proof.
have /andP[l _] := near_bounds (ltW (expR_gt0 (- x j))) (near_w j).
by apply: le_trans l; rewrite mulr_ge0// ltW// expR_gt0.
Qed.

(* what $\kappa$ is enough for *)
Definition q := 1 - 2%:R * u - u * (X + n%:R / 2%:R).
Lemma kappa_q : 1 - kappa <= q * (1 - 4%:R * u).
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u * (2%:R + X + 2%:R * xbar
  + n%:R * (1 + 2%:R^-1)) + 4%:R * u * u * (2%:R + X + n%:R / 2%:R)); last
    first.
  by rewrite /q /kappa; field.
have := X_ge0; have := xbar_ge0 => b0 X0.
have i0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
by nonneg.
Qed.
Lemma four_u : 4%:R * u < 1.
Proof.
apply: le_lt_trans small; rewrite -[Y in Y <= _]mulr1.
rewrite /kappa (_ : 4%:R * u = 2%:R * u * 2%:R); last by ring.
rewrite -mulrA ler_wpmul2l ?mulr_ge0 ?ler0n// mulr1.
have := X_ge0; have := xbar_ge0; have := n_ge1 => n1 b0 X0.
by apply: ler_paddl; rewrite ?addr_ge0 ?ler0n// ler_nat.
Qed.
Lemma q_gt0 : 0 < q.
Proof.
have p : 0 < 1 - 4%:R * u by rewrite subr_gt0 four_u.
rewrite -(pmulr_lgt0 _ p); apply: lt_le_trans kappa_q.
by rewrite subr_gt0.
Qed.
Let eta := v * (2%:R * X + n%:R).
Lemma q_eta : q = (1 - 2%:R * u) * (1 - eta / 2%:R).
Proof.
have p := logerr.q_gt0 two_u; rewrite /eta /q /logerr.v; field.
by rewrite gt_eqF.
Qed.
Let eta2 : 0 < 1 - eta / 2%:R.
Proof.
by have := q_gt0; rewrite q_eta pmulr_rgt0// subr_gt0 two_u.
Qed.
Let eta_lt2 : eta < 2%:R.
Proof. by move: eta2; rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n// mul1r. Qed.

(* the partition function, rounded *)
Lemma others_size : size (enum (predC1 top)) = n.-1.
Proof. by rewrite -cardE cardC1. Qed.
Lemma others_n j : j != top -> (n.-1.-1)%:R = n%:R - 2%:R :> R.
Proof.
move=> jt; rewrite -natrB; last first.
  by rewrite /n (cardD1 top) (cardD1 j) !inE jt.
by rewrite -!subn1 -subnDA.
Qed.
Lemma near_rest : exists2 y, `|y| <= (n.-1.-1)%:R * v &
  r' = \sum_(k | k != top) w' k * expR y.
Proof.
have [|y] := near_total u_ge0 two_u rest.
  by move=> y /mapP[k _ ->]; exact: w'_ge0.
rewrite size_map others_size big_map big_enum /= mulr_suml => yn rE.
by exists y.
Qed.
Lemma eta_ge0 : 0 <= eta.
Proof. by have := X_ge0 => X0; rewrite /eta; nonneg. Qed.
Lemma AxE (f : K -> R) :
  (\sum_k expR (- x k) * f k) / Z0 = \sum_k A s T k * f k.
Proof.
by rewrite mulr_suml; apply: eq_bigr => k _; rewrite AE mulrAC.
Qed.
Lemma near_Z : near (u * E / q) Z0 (1 + r').
Proof.
have [y yn rE] := near_rest.
pose g k := if k == top then 1 else w' k * expR y.
pose h k := if k == top then 0 else v * (2%:R * x k + n%:R).
have gE : \sum_k g k = 1 + r'.
  rewrite (bigD1 top)//= {1}/g eqxx rE; congr (_ + _).
  by apply: eq_bigr => k /negPf kt; rewrite /g kt.
have hE : \sum_k A s T k * h k = v * E.
  have -> : \sum_k A s T k * h k = \sum_k A s T k * (v * (2%:R * x k +
    n%:R))
      - A s T top * (v * n%:R).
    rewrite (bigD1 top)//= [in RHS](bigD1 top)//= {1}/h eqxx mulr0 add0r.
    rewrite x_top mulr0 add0r addrAC subrr add0r.
    by apply: eq_bigr => k /negPf kt; rewrite /h kt.
  rewrite (eq_bigr (fun k => v * 2%:R * (A s T k * x k) + v * n%:R * A s T
    k));
    last by move=> k _; ring.
  rewrite big_split /= -!mulr_sumr A_sum /E /xbar; set b := \sum_j _;
    ring.
have -> : u * E / q = (\sum_k expR (- x k) * h k) / Z0 / (1 - eta / 2%:R).
  rewrite AxE hE q_eta invfM /logerr.v.
  by set a := (1 - 2%:R * u)^-1; set b := (1 - eta / 2%:R)^-1; ring.
rewrite -gE -Z0_sum; apply: near_mean => //.
- by move=> k; exact/ltW/expR_gt0.
- move=> k; rewrite /g /h; case: eqP => [->|/eqP kt].
    by rewrite x_top oppr0 expR0; exact: near_refl.
  have := near_trans (near_w k) (ex_intro2 _ _ y yn erefl).
  by rewrite (others_n kt); congr (near _ _ _); ring.
- move=> k; rewrite /h /eta; case: eqP => _; first exact: eta_ge0.
  by rewrite ler_wpmul2l// ler_add2r ler_wpmul2l ?ler0n.
exact: eta_ge0.
Qed.

(* what $1-\kappa$ absorbs *)
Let c0 : 0 < 1 - kappa. Proof. by rewrite subr_gt0. Qed.
Let q_le1 : q <= 1.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u * (2%:R + X + n%:R * 2%:R^-1));
  last by rewrite /q; ring.
by have := X_ge0 => X0; nonneg; rewrite invr_ge0 ler0n.
Qed.
Lemma c_absorbs a : (1 - 4%:R * u) * a <= 1 -> 0 <= a -> (1 - kappa) * a
  <= q.
Proof.
move=> a1 a0; apply: le_trans (ler_wpmul2r a0 kappa_q) _.
by rewrite -mulrA ler_pimulr// ltW// q_gt0.
Qed.
Lemma c_q : (1 - kappa) * ((1 + 2%:R * u) * (1 + u)) <= q.
Proof.
apply: c_absorbs; last by nonneg.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u + 10%:R * u * u + 8%:R * u * u *
  u);
  last by ring.
by nonneg.
Qed.
Lemma c_2 : (1 - kappa) * ((2%:R + u) * (1 + u)) <= 2%:R.
Proof.
have h : (1 - kappa) * ((2%:R + u) * (1 + u) / 2%:R) <= q.
  apply: c_absorbs; last by nonneg; rewrite invr_ge0 ler0n.
  rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u * (5%:R + 11%:R * u + 4%:R * u
    * u)
    / 2%:R); last by field.
  by nonneg; rewrite invr_ge0 ler0n.
by move: (le_trans h q_le1); rewrite mulrA ler_pdivr_mulr ?ltr0n// mul1r.
Qed.
Lemma c_1 : (1 - kappa) * (1 + u) <= 1.
Proof.
apply: le_trans q_le1; apply: c_absorbs; last by nonneg.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 3%:R * u + 4%:R * u * u); last by
  ring.
by nonneg.
Qed.
Let c_le1 : 1 - kappa <= 1.
Proof. by apply: le_trans kappa_q _; rewrite mulr_ile1 ?(ltW q_gt0)//
  ?subr_ge0 ?(ltW four_u)// ler_subl_addr ler_addl; nonneg. Qed.
Lemma E_ge0 : 0 <= E.
Proof.
have := xbar_ge0 => b0; have h : 0 <= 1 - A s T top by rewrite subr_ge0
  A_le1.
by rewrite /E; nonneg.
Qed.
Lemma E_le : E <= 2%:R * xbar + n%:R.
Proof.
by rewrite ler_add2l ler_pimulr ?ler0n// ler_subl_addr ler_addl A0.
Qed.
Lemma v_q : v <= u / q.
Proof.
rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF ?q_gt0 ?subr_gt0
  ?two_u//.
rewrite ler_subl_addr ler_addl; have := X_ge0 => X0; nonneg.
by rewrite invr_ge0 ler0n.
Qed.
Lemma near_D : near (u * E / q + v) Z0 D'.
Proof. exact: near_trans near_Z (near_round u_ge0 two_u denominator). Qed.

(* state the rounding of weights *)
(* proves thm:gibbs-rounding *)
Theorem weights_rounding j : (1 - kappa) * `|A' j - A s T j| <=
  u * (2%:R * x j + 2%:R * xbar + n%:R + 6%:R) * A s T j.

(* prove the rounding of weights *)
Proof.
pose N := u * (2%:R * x j + 2%:R * xbar + n%:R + 4%:R).
have := xbar_ge0; have := x_ge0 j => xj0 b0.
have near_A : near (N / q) (A s T j) (A' j).
  have a := near_trans (near_div (near_w j) near_D)
    (near_round u_ge0 two_u (weights j)).
  rewrite -AE in a; apply: near_le a.
  have -> : N / q = u / q * (2%:R * x j + 2%:R) + (u * (2%:R * xbar +
    n%:R) / q
    + u / q) + u / q by rewrite /N; ring.
  have w0 : 0 <= 2%:R * x j + 2%:R by nonneg.
  have qi : 0 <= q^-1 by rewrite invr_ge0 ltW ?q_gt0.
  rewrite !ler_add ?v_q// ?ler_wpmul2r ?v_q// ler_wpmul2l// E_le//.
have Nq : 1 - kappa <= q - N / 2%:R.
  rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u * (X - x j + xbar + n%:R +
    4%:R));
    last by rewrite /q /kappa /N; field.
  by have := widest j; rewrite -subr_ge0 => ?; nonneg.
apply: le_trans (near_bound near_A c0 q_gt0 Nq) _; rewrite /N.
rewrite ger0_norm ?A0// mulrC ler_wpmul2r ?A0// ler_wpmul2l// ler_add2l.
by rewrite ler_nat.
Qed.

(* the logarithm, rounded *)
Lemma L_ge0 : 0 <= L.
Proof.
by rewrite /L -/Z0 -[Y in Y <= _](@ln1 R) ler_ln ?posrE ?ltr01 ?Z0_ge1
  ?Z0_gt0.
Qed.
Lemma L'_error : (1 - kappa) * (1 + u) * `|L' - L| <= u * (E + 2%:R * L).
Proof.
have [y yE ZE'] := near_Z; have [e eu LE] := logarithm.
have {}LE : L' = (L + y) * (1 + e).
  by rewrite LE ZE' lnM ?posrE ?Z0_gt0 ?expR_gt0// expK.
have h : `|L' - L| <= `|y| * (1 + 2%:R * u) + 2%:R * u * L.
  rewrite LE (_ : _ - L = y * (1 + e) + e * L); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite !normrM ler_add//.
    rewrite ler_wpmul2l//; apply: le_trans (ler_norm_add _ _) _.
    by rewrite normr1 ler_add2l.
  by rewrite (ger0_norm L_ge0) ler_wpmul2r ?L_ge0.
have c10 : 0 <= (1 - kappa) * (1 + u) by rewrite mulr_ge0 ?(ltW c0)//;
  nonneg.
apply: le_trans (ler_wpmul2l c10 h) _; rewrite mulrDr [u * _]mulrDr
  ler_add//.
  apply: (@le_trans _ _ ((1 - kappa) * ((1 + 2%:R * u) * (1 + u))
    * (u * E / q))).
    rewrite [Y in Y <= _](_ : _ = (1 - kappa) * ((1 + 2%:R * u) * (1 + u))
      * `|y|);
      last by ring.
    by rewrite ler_wpmul2l// mulr_ge0 ?(ltW c0)//; nonneg.
  have uE0 : 0 <= u * E / q.
    by rewrite divr_ge0 ?(ltW q_gt0)// mulr_ge0// E_ge0.
  apply: le_trans (ler_wpmul2r uE0 c_q) _.
  by rewrite mulrC divfK// gt_eqF// q_gt0.
rewrite mulrA [u * _]mulrC -[u in X in _ <= X]mulr1.
rewrite [Y in Y <= _](_ : _ = 2%:R * L * u * ((1 - kappa) * (1 + u)));
  last by ring.
rewrite [Y in _ <= Y](_ : _ = 2%:R * L * u * 1); last by ring.
by rewrite ler_wpmul2l ?c_1//; have := L_ge0 => L0; nonneg.
Qed.

(* state the rounding of $\log Z$ *)
(* proves thm:gibbs-rounding *)
Theorem logZ_rounding : (1 - kappa) * `|logZ' - ln (Z s T)| <=
  u * (`|s top / T| + `|ln (Z s T)| + 2%:R * xbar + 2%:R * L
       + n%:R * (1 - A s T top)).

(* prove the rounding of $\log Z$ *)
Proof.
pose e := u * `|s top / T| + `|L' - L|.
have h : `|m' + L' - ln (Z s T)| <= e.
  rewrite logZ (_ : _ - _ = (m' - s top / T) + (L' - L)); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r.
  have [d du ->] := shift; rewrite mulrDr mulr1 addrAC subrr add0r normrM
    mulrC.
  by rewrite ler_wpmul2r.
have := ler_wpmul2l (ltW c0) (round_last h sum).
move=> H; apply: le_trans H _; rewrite /e.
have m0 : 0 <= u * `|s top / T| by nonneg.
have z0 : 0 <= u * `|ln (Z s T)| by nonneg.
have a := ler_pimull m0 c_1; have b := ler_pimull z0 c_le1.
have := ler_add (ler_add a L'_error) b.
by congr (_ <= _); rewrite /E; ring.
Qed.

(* state the rounding of logarithms of weights *)
(* proves thm:gibbs-rounding *)
Theorem log_weights_rounding j : (1 - kappa) * `|logA' j - ln (A s T j)|
  <=
  u * (2%:R * x j + 2%:R * xbar + 2%:R * L + n%:R * (1 - A s T top)
       + `|ln (A s T j)|).

(* prove the rounding of logarithms of weights *)
Proof.
pose e := x j * (2%:R * u + u ^+ 2) + `|L' - L|.
have h : `|- x' j - L' - ln (A s T j)| <= e.
  rewrite logA (_ : _ - _ = - ((x' j - x j) + (L' - L))); last by ring.
  rewrite normrN; apply: le_trans (ler_norm_add _ _) _.
  by rewrite ler_add2r x'_error.
have := ler_wpmul2l (ltW c0) (round_last h (logarithms j)).
move=> H; apply: le_trans H _; rewrite /e.
have x0 : 0 <= u * x j by rewrite mulr_ge0 ?x_ge0.
have z0 : 0 <= u * `|ln (A s T j)| by nonneg.
have a := ler_wpmul2l x0 c_2; have b := ler_pimull z0 c_le1.
have := ler_add (ler_add a L'_error) b.
by congr (_ <= _); rewrite /E; ring.
Qed.

(* moments of excitations *)
Lemma H_A : H (A s T) = L + xbar.
Proof.
rewrite /H -sumrN (eq_bigr (fun j => A s T j * L + A s T j * x j)).
  by rewrite big_split /= -mulr_suml A_sum mul1r.
by move=> j _; rewrite logA; ring.
Qed.
Lemma loss_le_L : 1 - A s T top <= L.
Proof.
have i0 : 0 < Z0^-1 by rewrite invr_gt0 Z0_gt0.
have [h _] := ln_leB1 i0; rewrite AE x_top oppr0 expR0 mul1r.
by rewrite -ler_opp2 opprB /L -/Z0 -lnV ?posrE ?Z0_gt0.
Qed.
Lemma square_ge : xbar ^+ 2 <= square.
Proof.
rewrite -subr_ge0 (_ : _ - _ = \sum_j A s T j * (x j - xbar) ^+ 2).
  by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?A0 ?sqr_ge0.
rewrite (eq_bigr (fun j => A s T j * x j ^+ 2 - 2%:R * xbar * (A s T j * x
  j)
  + xbar ^+ 2 * A s T j)); last by move=> j _; ring.
rewrite big_split sumrB /= -!mulr_sumr A_sum -/xbar -/square.
by move: xbar square => a b; ring.
Qed.
Lemma square_le : square <= X * xbar.
Proof.
rewrite /xbar mulr_sumr; apply: ler_sum => j _.
have -> : A s T j * x j ^+ 2 = x j * (A s T j * x j) by ring.
by rewrite ler_wpmul2r// mulr_ge0 ?A0 ?x_ge0.
Qed.
Definition M := square / xbar.
Lemma M_xbar : M * xbar = square.
Proof.
have [b0|b0] := eqVneq xbar 0; last by rewrite divfK.
have := square_le; have := square_ge; rewrite b0 !mulr0 expr2 mulr0 => l
  h.
by apply/esym/eqP; rewrite eq_le l h.
Qed.
Lemma M_ge0 : 0 <= M.
Proof.
by rewrite divr_ge0 ?xbar_ge0// (le_trans _ square_ge)// sqr_ge0.
Qed.
Lemma M_le : M <= X.
Proof.
have [b0|b0] := eqVneq xbar 0; first by rewrite /M b0 invr0 mulr0 X_ge0.
by rewrite ler_pdivr_mulr ?square_le// lt_neqAle eq_sym b0 xbar_ge0.
Qed.

(* constants of the mean excitation *)
Let zeta := v * (2%:R * X + n%:R + 3%:R).
Let q2 := q - u * (3%:R / 2%:R).
Let N2 := u * (2%:R * M + n%:R + 5%:R + E).
Let q2_zeta : q2 = (1 - 2%:R * u) * (1 - zeta / 2%:R).
Proof.
have p := logerr.q_gt0 two_u; rewrite /zeta /q2 /q /logerr.v; field.
by rewrite gt_eqF.
Qed.
Let c2 : (1 - kappa) * (1 + u) <= q2 - N2 / 2%:R.
Proof.
have k0 : 0 <= kappa.
  have := X_ge0; have := xbar_ge0 => b0 X0; rewrite /kappa; nonneg.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u * ((X - M) + xbar / 2%:R
  + (2%:R * xbar + n%:R - E) / 2%:R + (n%:R + xbar) / 2%:R + 1) + u *
    kappa);
  last by rewrite /q2 /N2 /q /kappa; field.
have i2 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have := E_le; rewrite -subr_ge0 => E0; have := M_le; rewrite -subr_ge0 =>
  M0.
have := xbar_ge0 => b0; nonneg.
Qed.
Let cc0 : 0 < (1 - kappa) * (1 + u).
Proof. by rewrite mulr_gt0// ltr_paddr ?ltr01. Qed.
Let N20 : 0 <= N2.
Proof. by have := E_ge0; have := M_ge0 => M0 E0; rewrite /N2; nonneg. Qed.
Let q20 : 0 < q2.
Proof.
apply: lt_le_trans cc0 (le_trans c2 _).
by rewrite ler_subl_addr ler_addl divr_ge0// ler0n.
Qed.
Let zeta2 : 0 < 1 - zeta / 2%:R.
Proof. by have := q20; rewrite q2_zeta pmulr_rgt0// subr_gt0 two_u. Qed.
Let zeta_lt2 : zeta < 2%:R.
Proof. by move: zeta2; rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n// mul1r.
  Qed.
Let zeta_ge0 : 0 <= zeta.
Proof. by have := X_ge0 => X0; rewrite /zeta; nonneg. Qed.
Let FE : \sum_k expR (- x k) * x k = Z0 * xbar.
Proof.
by have := AxE x; rewrite -/xbar => <-; rewrite mulrC divfK// gt_eqF
  ?Z0_gt0.
Qed.

(* the sum of excitations, rounded *)
Lemma p'_ge0 j : j != top -> 0 <= p' j.
Proof.
move=> jt; have xw : 0 <= x' j * w' j.
  rewrite mulr_ge0 ?w'_ge0//.
  have /andP[l _] := near_bounds (x_ge0 j) (near_x' j).
  by apply: le_trans l; rewrite mulr_ge0 ?x_ge0// ltW ?expR_gt0.
have /andP[l _] := near_bounds xw (near_round u_ge0 two_u (products jt)).
by apply: le_trans l; rewrite mulr_ge0// ltW ?expR_gt0.
Qed.
Lemma near_f : near (v * (2%:R * M + n%:R + 3%:R) / (1 - zeta / 2%:R))
  (Z0 * xbar) f'.
Proof.
have [|y] := near_total u_ge0 two_u first.
  move=> y /mapP[k]; rewrite mem_enum inE => kt ->; exact: p'_ge0.
rewrite size_map others_size big_map big_enum /= mulr_suml => yn fE.
pose g k := if k == top then 0 else p' k * expR y.
pose h k := v * (2%:R * x k + n%:R + 3%:R).
have gE : \sum_k g k = f'.
  rewrite (bigD1 top)//= {1}/g eqxx add0r fE.
  by apply: eq_bigr => k /negPf kt; rewrite /g kt.
pose f k := expR (- x k) * x k.
have f0 k : 0 <= f k by rewrite mulr_ge0 ?x_ge0// ltW ?expR_gt0.
have h0 k : 0 <= h k.
  by have := x_ge0 k => xk0; rewrite /h; nonneg.
have hm : (\sum_k f k * h k) / (\sum_k f k) <= v * (2%:R * M + n%:R +
  3%:R).
  have [F0|F0] := eqVneq (\sum_k f k) 0.
    by rewrite F0 invr0 mulr0; have := M_ge0 => M0; nonneg.
  have -> : \sum_k f k * h k = Z0 * (v * (2%:R * square + (n%:R + 3%:R) *
    xbar)).
    have := AxE (fun k => x k * h k) => /(congr1 (fun y => y * Z0)).
    rewrite divfK ?gt_eqF ?Z0_gt0// [RHS]mulrC => E1.
    transitivity (\sum_k expR (- x k) * (x k * h k)).
      by apply: eq_bigr => k _; rewrite /f mulrA.
    rewrite E1; congr (_ * _); rewrite /square /xbar !mulr_sumr -big_split
      mulr_sumr.
    by apply: eq_bigr => k _; rewrite /h /=; ring.
  rewrite FE in F0 *; rewrite -M_xbar.
  have b0 : xbar != 0 by apply: contraNneq F0 => ->; rewrite mulr0.
  rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
  by rewrite b0 gt_eqF ?Z0_gt0.
rewrite -gE -FE; apply: near_le (near_mean (h := h) f0 _ _ zeta_ge0
  zeta_lt2).
- by rewrite ler_wpmul2r ?invr_ge0 ?(ltW zeta2)// hm.
- move=> k; rewrite /f /g; case: eqP => [->|/eqP kt].
    by rewrite x_top mulr0; exact: near_refl.
  have a := near_mul (near_w k) (near_x' k).
  rewrite [w' k * _]mulrC in a.
  have b := near_trans a (near_round u_ge0 two_u (products kt)).
  apply: near_le (near_trans b (ex_intro2 _ _ y yn erefl)).
  by rewrite (others_n kt) /h le_eqVlt; apply/orP; left; apply/eqP; ring.
- move=> k; rewrite /h /zeta ler_wpmul2l// !ler_add2r ler_wpmul2l
  ?ler0n//.
Qed.

(* the mean excitation, rounded *)
Lemma mean_error : (1 - kappa) * (1 + u) * `|xbar' - xbar| <= xbar * N2.
Proof.
have near_m : near (N2 / q2) xbar xbar'.
  have a := near_trans (near_div near_f near_D) (near_round u_ge0 two_u
    mean).
  rewrite [Z0 * _]mulrC mulfK ?gt_eqF ?Z0_gt0// in a; apply: near_le a.
  have qi : q^-1 <= q2^-1.
    rewrite ler_pinv ?inE ?unitfE ?gt_eqF ?q_gt0//.
    by rewrite ler_subl_addr ler_addl; nonneg; rewrite invr_ge0 ler0n.
  have -> : N2 / q2 = u * (2%:R * M + n%:R + 3%:R) / q2 + (u * E / q2 + u
    / q2)
    + u / q2 by rewrite /N2; ring.
  have vq : v <= u / q2 by apply: le_trans v_q _; rewrite ler_wpmul2l.
  rewrite !ler_add//; last by rewrite ler_wpmul2l// mulr_ge0// E_ge0.
  rewrite q2_zeta invfM /logerr.v.
  set a := (1 - 2%:R * u)^-1; set b := (1 - zeta / 2%:R)^-1.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have := near_bound near_m cc0 q20 c2.
by rewrite (ger0_norm xbar_ge0).
Qed.

(* state the rounding of the entropy *)
(* proves thm:entropy-rounding *)
Theorem entropy_rounding : (1 - kappa) * `|H' - H (A s T)| <=
  u * (4%:R * square + (2%:R * n%:R + 8%:R) * H (A s T)).

(* prove the rounding of the entropy *)
Proof.
rewrite H_A; pose e := `|L' - L| + `|xbar' - xbar|.
have h : `|L' + xbar' - (L + xbar)| <= e.
  rewrite (_ : _ - _ = (L' - L) + (xbar' - xbar)); last by ring.
  exact: ler_norm_add.
have := ler_wpmul2l (ltW c0) (round_last h both).
have HL : 0 <= L + xbar by rewrite addr_ge0 ?L_ge0 ?xbar_ge0.
rewrite (ger0_norm HL) => G; apply: le_trans G _; rewrite /e.
have uH : 0 <= u * (L + xbar) by rewrite mulr_ge0.
have b := ler_add (ler_add L'_error mean_error) (ler_pimull uH c_le1).
apply: (@le_trans _ _ ((1 - kappa) * (1 + u) * `|L' - L| +
  (1 - kappa) * (1 + u) * `|xbar' - xbar| + (1 - kappa) * (u * (L +
    xbar)))).
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: le_trans b _; rewrite /N2.
have l1 := loss_le_L; rewrite -subr_ge0 in l1.
have l2 := A0 top; have s0 := square_ge; rewrite -subr_ge0 in s0.
have b0 := xbar_ge0; have L0 := L_ge0.
rewrite -subr_ge0 -M_xbar /E [Y in 0 <= Y](_ : _ = u * (2%:R *
  (M * xbar - xbar ^+ 2) + n%:R * (L - (1 - A s T top))
  + n%:R * A s T top * xbar + (n%:R + 5%:R) * L)); last by ring.
by rewrite M_xbar; nonneg.
Qed.
End Gibbs.
