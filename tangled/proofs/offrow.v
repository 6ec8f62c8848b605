(* proofs/offrow.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs logerr nonneg.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row whose exponents are off, in Coq *)
Section Off.
Variables (R : realType) (K : finType) (s g : K -> R).
Variables (u m' l' c q W : R).
Hypotheses (some : exists j : K, true) (u_ge0 : 0 <= u)
  (six : 6%:R * u <= W) (c_gt0 : 0 < c) (c_q : c + 2%:R * W <= q)
  (q_1 : q + W / 2%:R <= 1) (g_ge0 : forall j, 0 <= g j)
  (g_W : forall j, g j <= W).
Definition off v c := exists2 th : K -> R, forall j, `|th j| <= g j / q
  &
  c = \sum_j expR (s j - m' + th j) * v j.
Hypothesis denominator : off (fun=> 1) l'.
Definition mean (f : K -> R) := \sum_j A s 1 j * f j.

(* numbers below one *)
Let W0 : 0 <= W. Proof. by apply: le_trans six; rewrite mulr_ge0
  ?ler0n. Qed.
Let uW : u <= W.
Proof. by apply: le_trans six; rewrite ler_pemull// ler1n. Qed.
Definition Q := q - W / 2%:R.
Let cQ : c + 3%:R / 2%:R * W <= Q.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = q - (c + 2%:R * W)); last first.
  by rewrite /Q; field.
by rewrite subr_ge0.
Qed.
Let half n : 0 <= n%:R / 2%:R * W.
Proof. by rewrite mulr_ge0// divr_ge0 ?ler0n. Qed.
Let c_Q : c <= Q. Proof. by apply: le_trans cQ; rewrite ler_addl. Qed.
Let Q0 : 0 < Q. Proof. exact: lt_le_trans c_gt0 c_Q. Qed.
Let Qq : Q <= q.
Proof. by rewrite /Q ler_subl_addr ler_addl divr_ge0 ?ler0n. Qed.
Let q0 : 0 < q. Proof. exact: lt_le_trans Q0 Qq. Qed.
Let QW : Q <= 1 - W.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 1 - (q + W / 2%:R)) ?subr_ge0//.
by rewrite /Q; field.
Qed.
Let Q1 : Q <= 1. Proof. by apply: le_trans QW _; rewrite ler_subl_addr
  ler_addl. Qed.
Let Qu : Q <= 1 - u.
Proof. by apply: le_trans QW _; rewrite ler_add2l ler_opp2. Qed.
Let u1 : u < 1. Proof. by rewrite -subr_gt0; apply: lt_le_trans Qu. Qed.

(* the denominator of a row, off *)
Let A0 j : 0 <= A s 1 j. Proof. exact/ltW/A_gt0. Qed.
Let A1 : \sum_j A s 1 j = 1. Proof. by have [j _] := some; exact: sum_A
  j. Qed.
Let Z0 : 0 < Z s 1. Proof. by have [j _] := some; exact: Z_gt0 j. Qed.
Let Sf : \sum_j expR (s j - m') = Z s 1 * expR (- m').
Proof. by rewrite mulr_suml; apply: eq_bigr => j _; rewrite expRD
  divr1. Qed.
Let mean_ge0 : 0 <= mean g.
Proof. by apply: sumr_ge0 => j _; rewrite mulr_ge0. Qed.
Let mean_W : mean g <= W.
Proof.
rewrite -[W]mulr1 -A1 mulr_sumr; apply: ler_sum => j _.
by rewrite mulrC ler_wpmul2r.
Qed.

Lemma near_l : near (mean g / Q) (Z s 1 * expR (- m')) l'.
Proof.
have [th within lE] := denominator.
rewrite (eq_bigr _ (fun j _ => mulr1 _)) in lE.
pose H := W / q.
have qH : Q = q * (1 - H / 2%:R) by rewrite /Q /H; field; rewrite
  gt_eqF.
have H1 : 0 < 1 - H / 2%:R by have := Q0; rewrite qH pmulr_rgt0.
have H2 : H < 2%:R by move: H1; rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n//
  mul1r.
have H0 : 0 <= H by rewrite divr_ge0// ltW.
have -> : mean g / Q = (\sum_j expR (s j - m') * (g j / q))
    / (\sum_j expR (s j - m')) / (1 - H / 2%:R).
  have -> : (\sum_j expR (s j - m') * (g j / q)) / (\sum_j expR (s j -
    m'))
      = mean g / q.
    rewrite Sf mulr_suml /mean mulr_suml; apply: eq_bigr => j _.
    rewrite /A expRD divr1.
    by field; rewrite !gt_eqF ?expR_gt0.
  by rewrite qH invfM mulrA.
rewrite -Sf lE; apply: near_mean => //.
- by move=> j; exact/ltW/expR_gt0.
- move=> j; apply: near_exp; have tx := within j.
  by rewrite (_ : _ - _ = th j)//; ring.
- by move=> j; rewrite /H ler_wpmul2r// invr_ge0 ltW.
Qed.

(* weights that are off *)
Lemma off_weights V o' O' : off V o' -> rounds u (o' / l') O' ->
  exists2 x : K -> R, forall j, `|x j| <= (g j + mean g + u) / Q &
    O' = \sum_j A s 1 j * expR (x j) * V j.
Proof.
move=> [th within oE] [d du OE].
have uQ : u / (1 - u) <= u / Q.
  by rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF// subr_gt0.
have nB j : near ((g j + mean g + u) / Q) (A s 1 j)
    (expR (s j - m' + th j) / l' * (1 + d)).
  have n1 : near (g j / q) (expR (s j - m')) (expR (s j - m' + th j)).
    by apply: near_exp; rewrite (_ : _ - _ = th j)//; ring.
  have n2 := near_trans (near_div n1 near_l)
    (near_rounds u1 (ex_intro2 _ _ d du erefl)).
  rewrite (_ : expR (s j - m') / (Z s 1 * expR (- m')) = A s 1 j) in n2.
    apply: near_le n2; rewrite !mulrDl !ler_add//.
    by rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF.
  by rewrite /A expRD divr1; field; rewrite !gt_eqF ?expR_gt0.
have [x [xE1 xE2]] : exists x : K -> R,
    (forall j, `|x j| <= (g j + mean g + u) / Q) /\
    (forall j, expR (s j - m' + th j) / l' * (1 + d) = A s 1 j * expR
      (x j)).
  have [x xE1 xE2] := @fin_all_exists2 _ _ _ _ nB.
  by exists x.
exists x => //; rewrite OE oE !mulr_suml; apply: eq_bigr => j _.
by rewrite -xE2; ring.
Qed.

(* outputs of weights that are off *)
Theorem off_outputs V o' O' : off V o' -> rounds u (o' / l') O' ->
  c * `|O' - mean V| <= \sum_j A s 1 j * (g j + mean g + u) * `|V j|.
Proof.
move=> oE OE; have [x xE ->] := off_weights oE OE.
rewrite /mean -sumrB; apply: le_trans (ler_wpmul2l (ltW c_gt0)
  (ler_norm_sum
  _ _ _)) _.
rewrite mulr_sumr; apply: ler_sum => j _.
rewrite -mulrBl normrM mulrA ler_wpmul2r//.
have near_j : near ((g j + mean g + u) / Q) (A s 1 j) (A s 1 j * expR
  (x j)).
  by exists (x j); [exact: xE|].
apply: le_trans (near_bound near_j c_gt0 Q0 _) _; last by rewrite
  ger0_norm.
apply: le_trans (_ : Q - 3%:R / 2%:R * W <= _).
  by rewrite ler_subr_addr.
rewrite ler_add2l ler_opp2 -subr_ge0 [Y in 0 <= Y](_ : _ =
  ((W - g j) + (W - mean g) + (W - u)) / 2%:R); last by field.
by rewrite divr_ge0 ?ler0n//; apply: addr_ge0; [apply: addr_ge0|];
  rewrite subr_ge0.
Qed.

(* a logarithm that is rounded *)
Fixpoint chain n a b := if n is n'.+1
  then exists2 z, chain n' a z & rounds u z b else b = a.


Let cP : c * ((1 + 2%:R * u) * (1 + u) ^+ 3) <= Q.
Proof.
have P0 : 0 <= (1 + 2%:R * u) * (1 + u) ^+ 3.
  by nonneg.
have u9 : 9%:R * u <= 3%:R / 2%:R * W.
  rewrite [X in X <= _](_ : _ = 3%:R / 2%:R * (6%:R * u)); last by
    field.
  by rewrite ler_wpmul2l// divr_ge0 ?ler0n.
have cQ9 : c <= Q * (1 - 9%:R * u).
  apply: le_trans (_ : Q - 9%:R * u <= _).
    by rewrite ler_subr_addr (le_trans _ cQ)// ler_add2l.
  by rewrite mulrBr mulr1 ler_add2l ler_opp2 ler_pimull//; nonneg.
apply: le_trans (ler_wpmul2r P0 cQ9) _.
rewrite -mulrA ler_pimulr ?(ltW Q0)// -subr_ge0 [Y in 0 <= Y](_ : _ =
  4%:R * u + 36%:R * u * u + 74%:R * u * u * u + 61%:R * u * u * u * u
  + 18%:R * u * u * u * u * u); last by ring.
by nonneg.
Qed.
Let p1 : 1 <= 1 + u. Proof. by rewrite ler_addl. Qed.
Let cn n : (n <= 3)%N -> c * ((1 + 2%:R * u) * (1 + u) ^+ n) <= Q.
Proof.
move=> n3; apply: le_trans cP; rewrite ler_wpmul2l ?(ltW c_gt0)//.
by rewrite ler_wpmul2l ?ler_weexpn2l//; nonneg.
Qed.
Let c1 n : (n <= 3)%N -> c * (1 + u) ^+ n <= 1.
Proof.
move=> n3; apply: le_trans (le_trans (cn n3) Q1).
rewrite ler_wpmul2l ?(ltW c_gt0)// ler_pemull//; first by nonneg.
by rewrite ler_addl; nonneg.
Qed.

(* what rounding a logarithm costs *)
Lemma chain_error n a b L e : chain n a b -> `|a - L| <= e ->
  `|b - L| <= e * (1 + u) ^+ n + `|L| * ((1 + u) ^+ n - 1).
Proof.
elim: n b => [|n IH] b /=.
  by move=> -> ae; rewrite expr0 subrr mulr0 addr0 mulr1.
move=> [z az zb] ae; apply: le_trans (round_last (IH _ az ae) zb) _.
by rewrite le_eqVlt exprS; apply/orP; left; apply/eqP; ring.
Qed.
Theorem off_logarithm m n h L' : (n <= 3)%N ->
  rounds (2%:R * u) (ln l') h -> chain n (m' + h) L' ->
  c * `|L' - ln (Z s 1)| <= mean g + 2%:R * u * `|m' - m|
    + u * (2%:R * `|ln (Z s 1) - m| + n%:R * `|ln (Z s 1)|).
Proof.
move=> n3 [d du hE] chained; have [z zy lE] := near_l; pose L := ln (Z
  s 1).
have {}hE : h = (L - m' + z) * (1 + d).
  by rewrite hE lE !lnM ?posrE ?mulr_gt0 ?expR_gt0// !expK.
pose P := (1 + 2%:R * u) * `|z| + 2%:R * u * `|L - m'|.
have h1 : `|m' + h - L| <= P.
  rewrite hE (_ : _ - L = z * (1 + d) + d * (L - m')); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite !normrM mulrC ler_add//.
    rewrite ler_wpmul2r//; apply: le_trans (ler_norm_add _ _) _.
    by rewrite normr1 ler_add2l.
  by rewrite ler_wpmul2r.
have := ler_wpmul2l (ltW c_gt0) (chain_error chained h1) => E.
apply: le_trans E _; rewrite -/L.
rewrite [X in X <= _](_ : _ = c * ((1 + 2%:R * u) * (1 + u) ^+ n) * `|z|
  + 2%:R * u * `|L - m'| * (c * (1 + u) ^+ n)
  + `|L| * (c * ((1 + u) ^+ n - 1))); last by rewrite /P; ring.
have zQ : Q * `|z| <= mean g.
  apply: le_trans (ler_wpmul2l (ltW Q0) zy) _.
  by rewrite mulrC divfK ?gt_eqF.
have Lm : `|L - m'| <= `|m' - m| + `|L - m|.
  rewrite (_ : L - m' = (m - m') + (L - m)); last by ring.
  by apply: le_trans (ler_norm_add _ _) _; rewrite distrC.
have cnu : c * ((1 + u) ^+ n - 1) <= n%:R * u.
  elim: n n3 {chained} => [|n IH] n3; first by rewrite expr0 subrr
    mulr0 mul0r.
  rewrite (_ : _ * _ = c * ((1 + u) ^+ n - 1) + c * (1 + u) ^+ n * u);
    last by rewrite exprS; ring.
  rewrite -addn1 natrD mulrDl ler_add// ?IH ?(ltnW n3)//.
  by rewrite ler_wpmul2r// c1// ltnW.
have u2L : 0 <= 2%:R * u * `|L - m'| by nonneg.
rewrite [X in _ <= X](_ : _ = mean g + 2%:R * u * (`|m' - m| + `|L - m|)
  + `|L| * (n%:R * u)); last by ring.
apply: ler_add; last by rewrite ler_wpmul2l.
apply: ler_add.
  by apply: le_trans zQ; rewrite ler_wpmul2r// cn.
apply: le_trans (_ : 2%:R * u * `|L - m'| <= _).
  by rewrite ler_pimulr// c1.
by rewrite ler_wpmul2l//; nonneg.
Qed.
End Off.
