(* proofs/ringround.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs logerr joined nonneg.
From attn Require flashround merged offrow.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row of several spans, in Coq *)
Section Ring.
Variables (R : realType) (K spans : finType) (span : K -> spans).
Variables (s s' delta V : K -> R) (b D N : nat) (u e m M : R).
Hypotheses (u_ge0 : 0 <= u) (e_ge0 : 0 <= e)
  (scores : forall j, `|s' j - s j| <= delta j)
  (largest : (forall j, s j <= m) /\ exists j, s j = m)
  (sizes : forall j, `|s j| <= M) (size : `|ln (Z s 1)| <= M).
Definition lambda := ln (#|K|%:R : R).
Definition rho j := flashround.r s delta u e b%:R D%:R m j
  + u * (3%:R * (M + lambda) + 4%:R * N.+1%:R).
Variable W : R.
Hypotheses (most : forall j, rho j <= W) (small : 3%:R * W < 1).

(* what the kernel finds in every span, in Coq *)
Variables top l o h L O : spans -> R.
Hypotheses (attained : forall p, exists2 j, span j = p & s' j = top p)
  (denominators : forall p, joined s' u e (fun=> 1)
    [set j | span j == p] (top p) (b + 2 * D) D.+1 (l p))
  (numerators : forall p, joined s' u e V
    [set j | span j == p] (top p) (b + 2 * D) D.+1 (o p))
  (quotients : forall p, rounds u (o p / l p) (O p))
  (logarithms : forall p, rounds (2%:R * u) (ln (l p)) (h p))
  (finished : forall p, exists y z,
    [/\ rounds u (top p + h p) y, rounds u y z & rounds u z (L p)]).

(* what a rank makes of the spans, in Coq *)
Variables m' l' o' O' h' L' : R.
Hypotheses (maximum : exists p, L p = m')
  (denominator : joined L u (2%:R * u) (fun=> 1) [set: spans] m'
    (2 * N) N l')
  (numerator : joined L u (2%:R * u) O [set: spans] m' (2 * N) N o')
  (quotient : rounds u (o' / l') O')
  (logarithm : rounds (2%:R * u) (ln l') h')
  (sum : rounds u (m' + h') L').
Definition mean (f : K -> R) := \sum_j A s 1 j * f j.

(* what is small in a ring *)
Let j0 : exists j : K, s j = m. Proof. by case: largest. Qed.
Let delta0 j : 0 <= delta j.
Proof. exact: le_trans (normr_ge0 _) (scores j). Qed.
Let ms j : 0 <= m - s j. Proof. by rewrite subr_ge0; case: largest. Qed.
Let M0 : 0 <= M.
Proof. by have [j _] := j0; apply: le_trans (sizes j). Qed.
Let K1 : 1 <= #|K|%:R :> R.
Proof. by have [j _] := j0; rewrite ler1n; apply/card_gt0P; exists j. Qed.
Let K0 : 0 < #|K|%:R :> R. Proof. exact: lt_le_trans ltr01 K1. Qed.
Let lambda0 : 0 <= lambda. Proof. exact: ln_ge0. Qed.
Definition some j := u * (m - s j) + u * (b%:R + 2%:R * D%:R + 1)
  + e * (D%:R + 1).
Definition few := u * (2%:R * lambda + 3%:R * M) + 3%:R * u.
Lemma rho_split j : rho j = delta j + some j + few + u * lambda
  + 4%:R * u * N%:R + 5%:R * u.
Proof.
by rewrite /rho /flashround.r /some /few -[N.+1]addn1 natrD; ring.
Qed.
Let some0 j : 0 <= some j.
Proof. by have := ms j => mj; rewrite /some; nonneg. Qed.
Let few0 : 0 <= few. Proof. by rewrite /few; nonneg. Qed.
Let part_W f g : (forall j, rho j = f j + g j) -> (forall j, 0 <= g j) ->
  forall j, f j <= W.
Proof.
by move=> fE g0 j; apply: le_trans (most j); rewrite fE ler_addl.
Qed.
Let eight : 8%:R * u <= W.
Proof.
have [j _] := j0; apply: (@part_W (fun=> 8%:R * u) (fun j => delta j
  + some j + u * (2%:R * lambda + 3%:R * M) + u * lambda
  + 4%:R * u * N%:R)) j => j; first by rewrite rho_split /few; ring.
by have := delta0 j; have := some0 j => sj dj; nonneg.
Qed.
Let e_W : e <= W.
Proof.
have [j _] := j0; apply: (@part_W (fun=> e) (fun j => delta j
  + (u * (m - s j) + u * (b%:R + 2%:R * D%:R + 1) + e * D%:R) + few
  + u * lambda + 4%:R * u * N%:R + 5%:R * u)) j => j.
  by rewrite rho_split /some; ring.
by have := delta0 j; have := ms j => mj dj; nonneg.
Qed.
Let few_W : few <= W.
Proof.
have [j _] := j0; apply: (@part_W (fun=> few) (fun j => delta j + some j
  + u * lambda + 4%:R * u * N%:R + 5%:R * u)) j => j.
  by rewrite rho_split; ring.
by have := delta0 j; have := some0 j => sj dj; nonneg.
Qed.
Let delta_some j : delta j + some j <= W.
Proof.
apply: (@part_W (fun j => delta j + some j) (fun=> few + u * lambda
  + 4%:R * u * N%:R + 5%:R * u)) j => j'; last by nonneg.
by rewrite rho_split; ring.
Qed.
Let W0 : 0 <= W. Proof. exact: le_trans e_ge0 e_W. Qed.
Let six : 6%:R * u <= W.
Proof. by apply: le_trans eight; rewrite ler_wpmul2r// ler_nat. Qed.
Let u_W : u <= W.
Proof. by apply: le_trans six; rewrite ler_pemull// ler1n. Qed.
Let u2_W : 2%:R * u <= W.
Proof. by apply: le_trans six; rewrite ler_wpmul2r// ler_nat. Qed.
Let W1 : 0 < 1 - W.
Proof.
by rewrite subr_gt0; apply: le_lt_trans small; rewrite ler_pemull// ler1n.
Qed.
Let below_one a : a <= W -> a < 1.
Proof.
by move=> aW; rewrite -subr_gt0 (lt_le_trans W1)// ler_add2l ler_opp2.
Qed.
Let i := (1 - W)^-1.
Let i0 : 0 <= i. Proof. by rewrite invr_ge0 ltW. Qed.
Let i1 : 1 <= i. Proof. by rewrite invf_ge1// ler_subl_addr ler_addl. Qed.
Let half0 : 0 <= 2%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.
Let half a : a <= W -> a * i <= 2%:R^-1.
Proof.
move=> aW; rewrite ler_pdivr_mulr//; apply: le_trans aW _.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = (1 - 3%:R * W) / 2%:R).
  by rewrite divr_ge0 ?ler0n// subr_ge0 ltW.
by field.
Qed.
Lemma over y a z : 0 <= a -> a <= W -> y <= z :> R -> 0 <= y ->
  y * (a / (1 - a)) <= z * a * i.
Proof.
move=> a0 aW yz y0; have p : 0 < 1 - a by rewrite subr_gt0 below_one.
rewrite mulrA ler_pmul//; [by nonneg|by rewrite invr_ge0 ltW| |].
  by rewrite ler_wpmul2r.
by rewrite ler_pinv ?inE ?unitfE ?gt_eqF// ler_add2l ler_opp2.
Qed.

(* the sums of a span *)
Let delta_W j : delta j <= W.
Proof. by apply: le_trans (delta_some j); rewrite ler_addl. Qed.
Let s'_le j : s' j <= s j + W.
Proof.
have := le_trans (scores j) (delta_W j).
by rewrite ler_norml ler_subl_addl => /andP[].
Qed.
Let s'_ge j : s j - W <= s' j.
Proof.
have := le_trans (scores j) (delta_W j).
by rewrite ler_norml ler_subr_addl => /andP[].
Qed.
Lemma arguments p j : u * (top p - s' j) <= u * (m - s j) + u.
Proof.
rewrite -{3}[u]mulr1 -mulrDr ler_wpmul2l// -subr_ge0.
have [k _ kp] := attained p; have [sm _] := largest.
rewrite [Y in 0 <= Y](_ : _ = (m - s k) + (s k + W - s' k)
  + (s' j - (s j - W)) + (1 - 2%:R * W)); last by rewrite -kp; ring.
have w1 : 0 <= 1 - 2%:R * W.
  rewrite [Y in 0 <= Y](_ : _ = 1 - 3%:R * W + W); last by ring.
  by rewrite addr_ge0// subr_ge0 ltW.
apply: addr_ge0 => //; apply: addr_ge0; last by rewrite subr_ge0.
by rewrite addr_ge0// subr_ge0.
Qed.
Lemma top_ge j : s' j <= top (span j).
Proof.
have [+ _] := joined_exponents u_ge0 (below_one u_W) e_ge0
  (below_one e_W) (denominators (span j)).
by apply; rewrite inE.
Qed.
Definition own p j := u * (top p - s' j) + (u * (b%:R + 2%:R * D%:R)
  + e * (D%:R + 1)) * i.
Lemma own_some p j : own p j <= some j * i.
Proof.
apply: le_trans (_ : (u * (m - s j) + u) * i + (u * (b%:R + 2%:R * D%:R)
  + e * (D%:R + 1)) * i <= _); last first.
  by rewrite le_eqVlt /some; apply/orP; left; apply/eqP; ring.
rewrite ler_add2r; apply: le_trans (arguments p j) _; rewrite ler_pemulr//.
by have := ms j => mj; nonneg.
Qed.
Lemma span_sum v p c : joined s' u e v [set j | span j == p] (top p)
    (b + 2 * D) D.+1 c -> exists2 th : K -> R,
    forall j, span j = p -> `|th j| <= own p j &
    c = \sum_(j | span j == p) expR (s' j - top p + th j) * v j.
Proof.
move=> /(joined_exponents u_ge0 (below_one u_W) e_ge0 (below_one e_W)).
move=> [_ [th thE ->]]; exists th => [j jp|]; last first.
  by apply: eq_bigl => j; rewrite inE.
apply: le_trans (thE j _) _; first by rewrite inE jp.
rewrite /x /own -addrA ler_add2l.
apply: le_trans (_ : (b%:R + 2%:R * D%:R) * u * i + (D%:R + 1) * e * i
  <= _); last by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: ler_add; (apply: over => //; last exact: ler0n).
  by rewrite natrD natrM.
by rewrite -addn1 natrD.
Qed.

(* the logarithm of a span's sum *)
Let le_ln (a y : R) : expR a <= y -> a <= ln y.
Proof.
move=> ay; rewrite -[X in X <= _]expK ler_ln ?posrE ?expR_gt0//.
exact: lt_le_trans (expR_gt0 _) ay.
Qed.
Let ln_le (a y : R) : 0 < y -> y <= expR a -> ln y <= a.
Proof.
by move=> y0 ya; rewrite -[X in _ <= X]expK ler_ln ?posrE ?expR_gt0.
Qed.
Let single (f : K -> R) p j : span j = p ->
  expR (f j) <= \sum_(k | span k == p) expR (f k).
Proof.
move=> jp; rewrite (bigD1 j) ?jp//= ler_addl.
by apply: sumr_ge0 => k _; exact/ltW/expR_gt0.
Qed.
Let lc p := top p + ln (l p).
Lemma l_gt0 p : 0 < l p.
Proof.
have [th _ ->] := span_sum (denominators p).
under eq_bigr => j _ do rewrite mulr1.
have [j jp _] := attained p; apply: lt_le_trans (single _ jp).
exact: expR_gt0.
Qed.
Lemma ln_l p : - 2%:R^-1 <= ln (l p) <= lambda + 2%:R^-1.
Proof.
have l0 := l_gt0 p; move: l0; have [th thE ->] := span_sum
  (denominators p).
under eq_bigr => j _ do rewrite mulr1.
move=> l0; have half_th j : span j = p -> - 2%:R^-1 <= th j <= 2%:R^-1.
  move=> jp; rewrite -ler_norml; apply: le_trans (thE j jp) _.
  apply: le_trans (own_some p j) (half _).
  by apply: le_trans (delta_some j); rewrite ler_addr.
apply/andP; split.
  have [j jp jE] := attained p; apply: le_ln.
  apply: le_trans (single (fun j => s' j - top p + th j) jp).
  by rewrite jE subrr add0r ler_expR; have /andP[] := half_th j jp.
apply: ln_le => //; rewrite expRD lnK ?posrE//.
rewrite -sum1_card natr_sum mulr_suml [X in X <= _]big_mkcond /=.
apply: ler_sum => j _; rewrite mul1r.
case: eqVneq => [jp|_]; last exact/ltW/expR_gt0.
rewrite ler_expR; have /andP[_] := half_th j jp.
apply: le_trans; rewrite -[X in _ <= X]add0r ler_add2r subr_le0 -jp.
exact: top_ge.
Qed.
Lemma lcE p : lc p = ln (expR (top p) * l p).
Proof. by rewrite lnM ?posrE ?expR_gt0 ?l_gt0// expK. Qed.
Let Z0 : 0 < Z s 1. Proof. by have [j _] := j0; exact: Z_gt0 j. Qed.
Lemma lc_bounds p : (forall j, span j = p -> s j - 2%:R^-1 <= lc p) /\
  lc p <= ln (Z s 1) + 2%:R^-1.
Proof.
rewrite lcE; have p0 : 0 < expR (top p) * l p.
  by rewrite mulr_gt0 ?expR_gt0 ?l_gt0.
move: p0; have [th thE ->] := span_sum (denominators p).
rewrite (eq_bigr _ (fun j _ => mulr1 _)) mulr_sumr.
rewrite (eq_bigr (fun j => expR (s' j + th j))) => [p0|j _]; last first.
  by rewrite -expRD; congr expR; ring.
have near_th j : span j = p -> `|s' j + th j - s j| <= 2%:R^-1.
  move=> jp; apply: le_trans (half (delta_some j)).
  rewrite (_ : _ - _ = (s' j - s j) + th j); last by ring.
  rewrite mulrDl; apply: le_trans (ler_norm_add _ _) (ler_add _ _).
    by apply: le_trans (scores j) _; rewrite ler_pemulr.
  exact: le_trans (thE j jp) (own_some p j).
split=> [j jp|].
  apply: le_ln; apply: le_trans (single (fun j => s' j + th j) jp).
  rewrite ler_expR; have := near_th j jp; rewrite ler_norml.
  by move=> /andP[+ _]; rewrite ler_subr_addr addrC.
apply: ln_le => //; rewrite expRD lnK ?posrE// mulr_suml.
rewrite [X in X <= _]big_mkcond; apply: ler_sum => j _.
rewrite divr1 -expRD.
case: eqVneq => [jp|_]; last exact/ltW/expR_gt0.
rewrite ler_expR; have := near_th j jp; rewrite ler_norml.
by move=> /andP[_]; rewrite ler_subl_addl.
Qed.

(* the log-sum-exp of a span *)
Let lc_M p : `|lc p| <= M + 2%:R^-1.
Proof.
have [low high] := lc_bounds p; have [j jp _] := attained p.
rewrite ler_norml; apply/andP; split.
  apply: le_trans (low j jp); rewrite opprD ler_add2r.
  by have := sizes j; rewrite ler_norml => /andP[].
apply: le_trans high _; rewrite ler_add2r.
by have := size; rewrite ler_norml => /andP[].
Qed.
Let cube : (1 + u) ^+ 3 <= i.
Proof.
rewrite -[X in _ <= X]mul1r /i ler_pdivl_mulr//.
apply: le_trans (_ : (1 + u) ^+ 3 * (1 - 6%:R * u) <= _).
  by rewrite ler_wpmul2l ?ler_add2l ?ler_opp2//; nonneg.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 3%:R * u + 15%:R * u ^+ 2
  + 17%:R * u ^+ 3 + 6%:R * u ^+ 4); last by ring.
by nonneg.
Qed.
Let cube1 : (1 + u) ^+ 3 - 1 <= 3%:R * u * i.
Proof.
rewrite ler_pdivl_mulr//; apply: le_trans (_ : ((1 + u) ^+ 3 - 1)
    * (1 - 6%:R * u) <= _).
  rewrite ler_wpmul2l ?ler_add2l ?ler_opp2// subr_ge0.
  by rewrite exprn_ege1// ler_addl.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 15%:R * u ^+ 2 + 17%:R * u ^+ 3
  + 6%:R * u ^+ 4); last by ring.
by nonneg.
Qed.
Lemma L_error p : `|L p - lc p| <= few * i.
Proof.
have [y [z [yE zE LE]]] := finished p.
have chained : offrow.chain u 3 (top p + h p) (L p).
  by exists z => //; exists y => //; exists (top p + h p).
have first : `|top p + h p - lc p| <= 2%:R * u * (lambda + 2%:R^-1).
  have [d du ->] := logarithms p.
  rewrite /lc (_ : _ - _ = d * ln (l p)); last by ring.
  rewrite normrM ler_pmul// ler_norml.
  have /andP[lo ->] := ln_l p; rewrite andbT; apply: le_trans lo.
  by rewrite ler_opp2 ler_addr.
apply: le_trans (offrow.chain_error chained first) _.
apply: le_trans (_ : 2%:R * u * (lambda + 2%:R^-1) * i
    + (M + 2%:R^-1) * (3%:R * u * i) <= _).
  apply: ler_add; first by rewrite ler_wpmul2l//; nonneg.
  rewrite ler_pmul// subr_ge0 exprn_ege1// ler_addl //.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = u / 2%:R * i); last first.
  by rewrite /few; field.
by nonneg.
Qed.
Lemma L_half p : `|L p - lc p| <= 2%:R^-1.
Proof. exact: le_trans (L_error p) (half few_W). Qed.
Let two_halves : 2%:R^-1 + 2%:R^-1 = 1 :> R. Proof. by field. Qed.
Lemma L_top p : top p - 1 <= L p.
Proof.
have := L_half p; rewrite ler_norml => /andP[+ _].
rewrite ler_subr_addr => /(le_trans _); apply.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = ln (l p) + 2%:R^-1); last first.
  by rewrite /lc; field.
by rewrite -ler_subl_addr sub0r; have /andP[] := ln_l p.
Qed.
Lemma L_Z p : L p <= ln (Z s 1) + 1.
Proof.
have := L_half p; rewrite ler_norml ler_subl_addr => /andP[_ h1].
apply: le_trans h1 _; have [_ h2] := lc_bounds p.
apply: le_trans (_ : 2%:R^-1 + (ln (Z s 1) + 2%:R^-1) <= _).
  by rewrite ler_add2l.
by rewrite addrCA two_halves.
Qed.
Lemma L_s j : s j - 1 <= L (span j).
Proof.
have := L_half (span j); rewrite ler_norml => /andP[+ _].
rewrite ler_subr_addr => /(le_trans _); apply.
have [h2 _] := lc_bounds (span j).
apply: le_trans (_ : - 2%:R^-1 + (s j - 2%:R^-1) <= _).
  by rewrite le_eqVlt -{1}two_halves; apply/orP; left; apply/eqP; ring.
by rewrite ler_add2l h2.
Qed.
Let Z_m : ln (Z s 1) <= m + lambda.
Proof.
apply: ln_le => //; rewrite expRD lnK ?posrE// mulrC -sum1_card natr_sum.
rewrite mulr_suml; apply: ler_sum => j _; rewrite mul1r divr1 ler_expR.
by case: largest.
Qed.
Let m'_Z : m' <= ln (Z s 1) + 1.
Proof. by have [p <-] := maximum; exact: L_Z. Qed.
Let L_m' p : L p <= m'.
Proof.
have [+ _] := joined_exponents u_ge0 (below_one u_W)
  (mulr_ge0 (ler0n _ 2) u_ge0) (below_one u2_W) denominator.
by apply; rewrite inE.
Qed.

(* the exponent of a key in a ring *)
Definition g j := rho j - 2%:R * u.
Lemma exponent j th th' d : `|th| <= own (span j) j -> `|d| <= u / (1 - u) ->
  `|th'| <= x L u (2%:R * u) m' (2 * N) N (span j) ->
  `|s' j - s j + th + (L (span j) - lc (span j)) + d + th'|
    <= g j / (1 - W).
Proof.
set p := span j => thE dE thE'.
have {}dE : `|d| <= u * i.
  apply: le_trans dE _.
  by have := over u_ge0 u_W (lexx 1) ler01; rewrite !mul1r.
have thE2 : `|th'| <= u * (m' - L p) + 4%:R * u * N%:R * i.
  apply: le_trans thE' _; rewrite /x -addrA ler_add2l.
  apply: le_trans (_ : 2%:R * N%:R * u * i + N%:R * (2%:R * u) * i <= _).
    by apply: ler_add; apply: over => //; rewrite ?natrM//; nonneg.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have args : (top p - s' j) + (m' - L p) <= (m - s j) + lambda + 3%:R.
  rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = (m + lambda - ln (Z s 1))
    + (ln (Z s 1) + 1 - m') + (L p - (top p - 1)) + (s' j - (s j - W))
    + (1 - W)); last by ring.
  have f1 : 0 <= m + lambda - ln (Z s 1) by rewrite subr_ge0.
  have f2 : 0 <= ln (Z s 1) + 1 - m' by rewrite subr_ge0.
  have f3 : 0 <= L p - (top p - 1) by rewrite subr_ge0 L_top.
  have f4 : 0 <= s' j - (s j - W) by rewrite subr_ge0.
  by have f5 := ltW W1; nonneg.
apply: le_trans (ler_norm_add _ _) (le_trans (ler_add (le_trans
  (ler_norm_add _ _) (ler_add (le_trans (ler_norm_add _ _) (ler_add
  (le_trans (ler_norm_add _ _) (ler_add (scores j) thE)) (L_error p)))
  dE)) thE2) _).
pose a := delta j + u * ((m - s j) + lambda + 3%:R).
have a0 : 0 <= a.
  by have := ms j => mj; have := delta0 j => dj; rewrite /a; nonneg.
have aE : delta j + u * ((top p - s' j) + (m' - L p)) <= a * i.
  apply: le_trans (_ : a <= _); last by rewrite ler_pemulr.
  by rewrite /a ler_add2l ler_wpmul2l.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = a * i
  - (delta j + u * ((top p - s' j) + (m' - L p)))).
  by rewrite subr_ge0.
by rewrite /g rho_split /own /some /a -/i; ring.
Qed.

(* keys of a span in a whole row *)
Lemma whole v c y t :
  (forall p, joined s' u e v [set j | span j == p] (top p) (b + 2 * D)
    D.+1 (c p)) -> (forall p, rounds u (c p / l p) (y p)) ->
  joined L u (2%:R * u) y [set: spans] m' (2 * N) N t ->
  offrow.off s g m' (1 - W) v t.
Proof.
move=> cE yE tE.
have [th thE thS] := @fin_all_exists2 spans (fun=> K -> R) _ _
  (fun p => span_sum (cE p)).
have [d dE dS] := @fin_all_exists2 spans (fun=> R) _ _
  (fun p => near_rounds (below_one u_W) (yE p)).
have [_ [th' thE' ->]] := joined_exponents u_ge0 (below_one u_W)
  (mulr_ge0 (ler0n _ 2) u_ge0) (below_one u2_W) tE.
exists (fun j => s' j - s j + th (span j) j + (L (span j) - lc (span j))
  + d (span j) + th' (span j)) => [j|].
  by apply: exponent => //; [exact: thE|apply: thE'; rewrite inE].
rewrite (partition_big span xpredT)//=; apply: eq_big => [p|p _].
  by rewrite inE.
have lE : (l p)^-1 = expR (- ln (l p)).
  by rewrite expRN lnK ?posrE ?l_gt0.
rewrite dS thS lE !mulr_suml mulr_sumr; apply: eq_bigr => j /eqP <-.
have E a1 a2 a3 a4 (w : R) : expR a1 * (expR a2 * w * expR a3 * expR a4)
    = expR (a1 + a2 + a3 + a4) * w by rewrite !expRD; ring.
by rewrite E; congr (expR _ * _); rewrite /lc; ring.
Qed.

(* the numbers of a row in a ring *)
Let c0 : 0 < 1 - 3%:R * W. Proof. by rewrite subr_gt0. Qed.
Let c_q : 1 - 3%:R * W + 2%:R * W <= 1 - W.
Proof. by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring. Qed.
Let q_1 : 1 - W + W / 2%:R <= 1.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = W / 2%:R); last by field.
by rewrite divr_ge0 ?ler0n.
Qed.
Let one : exists j : K, true. Proof. by have [j _] := j0; exists j. Qed.
Let g0 j : 0 <= g j.
Proof.
rewrite /g rho_split [Y in 0 <= Y](_ : _ = delta j + some j + few
  + u * lambda + 4%:R * u * N%:R + 3%:R * u); last by ring.
by have := some0 j => sj; have := delta0 j => dj; nonneg.
Qed.
Let g_W j : g j <= W.
Proof.
by apply: le_trans (most j); rewrite ler_subl_addr ler_addl; nonneg.
Qed.
Let A0 j : 0 <= A s 1 j. Proof. exact/ltW/A_gt0. Qed.
Let mean_g : offrow.mean s g = mean rho - 2%:R * u.
Proof.
rewrite /offrow.mean /mean (eq_bigr (fun j => A s 1 j * rho j
  - A s 1 j * (2%:R * u))) => [|j _]; last by rewrite mulrBr.
have [j _] := j0; rewrite sumrB -mulr_suml.
by rewrite (_ : \sum_k A s 1 k = 1) ?mul1r//; exact: sum_A j.
Qed.
Let ones p : rounds u (l p / l p) 1.
Proof.
by exists 0; rewrite ?normr0// divff ?gt_eqF ?l_gt0// addr0 mulr1.
Qed.

(* state the rounding around a ring *)
(* proves thm:ring-rounding *)
Theorem outputs_around : (1 - 3%:R * W) * `|O' - mean V| <=
  \sum_j A s 1 j * (rho j + mean rho) * `|V j|.

(* prove the rounding around a ring *)
Proof.
have := offrow.off_outputs one u_ge0 six c0 c_q q_1 g0 g_W
  (whole denominators ones denominator)
  (whole numerators quotients numerator) quotient.
move=> /le_trans; apply; apply: ler_sum => j _.
rewrite ler_wpmul2r// ler_wpmul2l// mean_g /g -subr_ge0.
by rewrite [Y in 0 <= Y](_ : _ = 3%:R * u); [nonneg|ring].
Qed.

(* state the rounding of log-sum-exps around a ring *)
(* proves thm:ring-rounding *)
Theorem logarithms_around : (1 - 3%:R * W) * `|L' - ln (Z s 1)| <=
  mean rho + u * (M + 2%:R * lambda).

(* prove the rounding of log-sum-exps around a ring *)
Proof.
have := offrow.off_logarithm one u_ge0 six c0 c_q q_1 g_W
  (whole denominators ones denominator) (ln (Z s 1)) (isT : 1 <= 3)%N
  logarithm (ex_intro2 _ (fun z => rounds u z L') (m' + h') erefl sum).
move=> /le_trans; apply; rewrite mean_g subrr normr0 mulr0 add0r mul1r.
have far : `|m' - ln (Z s 1)| <= lambda + 1.
  rewrite ler_norml; apply/andP; split; last first.
    by rewrite ler_subl_addl; apply: le_trans m'_Z _; rewrite ler_add2l
      ler_addr.
  rewrite ler_subr_addl; have [j jm] := j0.
  apply: le_trans (le_trans (L_s j) (L_m' _)); rewrite jm.
  by rewrite opprD addrA ler_add2r ler_subl_addr Z_m.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 2%:R * u * (lambda + 1
  - `|m' - ln (Z s 1)|) + u * (M - `|ln (Z s 1)|)); last by ring.
by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0//; nonneg.
Qed.
End Ring.
