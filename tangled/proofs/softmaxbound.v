(* proofs/softmaxbound.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp Require Import zify.
From attn Require Import prelude gibbs rounding.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* an inequality of lengths *)
Lemma maxn_pred a b : (0 < a)%N -> (0 < b)%N ->
  ((maxn a.-1 b.-1).+1 <= (a + b).-1)%N.
Proof. by lia. Qed.

(* a computed sum, in Coq *)
Section Sums.
Variables (R : realFieldType) (u : R).
Hypotheses (u_ge0 : 0 <= u) (u_lt1 : u < 1).
(* A computed sum of some numbers, grouped and ordered in any way. *)
Inductive summed : seq R -> R -> Prop :=
| One x : summed [:: x] x
| Add s t a b delta : summed s a -> summed t b -> `|delta| <= u ->
    summed (s ++ t) ((a + b) * (1 + delta))
| Order s t a : perm_eq s t -> summed s a -> summed t a.

(* bounds of a computed sum *)
Lemma summed_bounds s c : summed s c -> (forall x, x \in s -> 0 < x) ->
  (0 < size s)%N /\ (1 - u) ^+ (size s).-1 * (\sum_(x <- s) x) <= c
    <= (1 - u) ^- (size s).-1 * (\sum_(x <- s) x).
Proof.
have v0 : 0 < 1 - u by rewrite subr_gt0.
have v1 : 1 - u <= 1 by rewrite ler_subl_addr ler_addl.
elim=> {s c}.
- by move=> x _; rewrite /= expr0 invr1 !mul1r big_seq1 lexx.
- move=> s t a b delta _ IHs _ IHt du pos.
  have [|s0 /andP[sl su]] := IHs; first by move=> x xs; apply: pos;
    rewrite mem_cat xs.
  have [|t0 /andP[tl tu]] := IHt; first by move=> x xt; apply: pos;
    rewrite mem_cat xt orbT.
  rewrite size_cat addn_gt0 s0 big_cat /=; split=> //.
  set S := \sum_(x <- s) x in sl su *; set T := \sum_(x <- t) x in tl tu *.
  have S0 : 0 <= S by rewrite /S big_seq sumr_ge0// => x xs;
    rewrite ltW// pos// mem_cat xs.
  have T0 : 0 <= T by rewrite /T big_seq sumr_ge0// => x xt;
    rewrite ltW// pos// mem_cat xt orbT.
  pose k := (maxn (size s).-1 (size t).-1).
  have kE : (k.+1 <= (size s + size t).-1)%N by exact: maxn_pred.
  have [dl dh] : 1 - u <= 1 + delta /\ 1 + delta <= (1 - u)^-1.
    have := du; rewrite ler_norml => /andP[lo hi]; rewrite ler_add2l lo;
      split=> //.
    apply: le_trans (_ : 1 + u <= _); first by rewrite ler_add2l.
    rewrite -[(1 - u)^-1]mul1r ler_pdivl_mulr// (_ : _ * _ = 1 - u ^+ 2);
      last by ring.
    by rewrite ler_subl_addr ler_addl sqr_ge0.

(* lower and upper powers *)
  have low i X : (i <= k)%N -> 0 <= X -> (1 - u) ^+ k * X <= (1 - u) ^+ i * X.
    by move=> ik X0; rewrite ler_wpmul2r// ler_wiexpn2l ?(ltW v0).
  have high i X : (i <= k)%N -> 0 <= X -> (1 - u) ^- i * X
    <= (1 - u) ^- k * X.
    move=> ik X0; rewrite ler_wpmul2r// ler_pinv ?inE ?unitfE ?gt_eqF
      ?exprn_gt0//.
    by rewrite ler_wiexpn2l ?(ltW v0).
  have sk : ((size s).-1 <= k)%N by rewrite leq_maxl.
  have tk : ((size t).-1 <= k)%N by rewrite leq_maxr.
  have lo : (1 - u) ^+ k * (S + T) <= a + b.
    by rewrite mulrDr ler_add ?(le_trans (low _ _ sk S0))//
      (le_trans (low _ _ tk T0)).
  have hi : a + b <= (1 - u) ^- k * (S + T).
    rewrite mulrDr ler_add//; first exact: le_trans su (high _ _ sk S0).
    exact: le_trans tu (high _ _ tk T0).
  have ST : 0 <= S + T by rewrite addr_ge0.
  have ab0 : 0 <= a + b by apply: le_trans lo; rewrite mulr_ge0 ?exprn_ge0
    ?(ltW v0).
  apply/andP; split.
    apply: le_trans (_ : (1 - u) ^+ k.+1 * (S + T) <= _).
      by rewrite ler_wpmul2r// ler_wiexpn2l ?(ltW v0).
    by rewrite exprSr mulrAC ler_pmul// ?mulr_ge0 ?exprn_ge0 ?(ltW v0).
  apply: le_trans (_ : (1 - u) ^- k.+1 * (S + T) <= _).
    have d0 : 0 <= 1 + delta by exact: le_trans (ltW v0) dl.
    by rewrite exprSr invfM mulrAC ler_pmul.
  rewrite ler_wpmul2r// ler_pinv ?inE ?unitfE ?gt_eqF ?exprn_gt0//.
  by rewrite ler_wiexpn2l ?(ltW v0).
move=> s t a st _ IH pos; rewrite -(perm_size st) -(perm_big _ st).
by apply: IH => x xs; apply: pos; rewrite -(perm_mem st).
Qed.
End Sums.
Lemma expR_ge1D (R : realType) (x : R) : 1 + x <= expR x.
Proof.
have [->|x0] := eqVneq x 0; first by rewrite expR0 addr0.
exact/ltW/expR_gt1Dx.
Qed.

(* a computed softmax, in Coq *)
Section Softmax.
Variables (R : realType) (K : finType) (u : R).
Variables (s s' delta e A' : K -> R) (m total : R).
Let n := #|K|.
Hypotheses (u_ge0 : 0 <= u) (two_u : 2%:R * u < 1) (n_u : n%:R * u < 1).
Hypothesis scores : forall j, `|s' j - s j| <= delta j.
Hypothesis largest : forall j, s' j <= m.
(* a rounded difference, and an exponential with an error of two
   roundings *)
Hypothesis exponentials : forall j, exists eta eps,
  [/\ `|eta| <= u, `|eps| <= 2%:R * u &
    e j = expR ((s' j - m) * (1 + eta)) * (1 + eps)].
Hypothesis sum : summed u [seq e j | j <- enum K] total.
Hypothesis quotients : forall j, exists2 d, `|d| <= u &
  A' j = e j / total * (1 + d).

(* bounds of a softmax, in Coq *)
Definition r j := delta j + u * (m - s' j) + gamma u 2.
Definition above j :=
  expR (r j + gamma u n) / (\sum_k A s 1 k * expR (- r k)) - 1.
Definition below j :=
  1 - expR (- r j - gamma u n) / (\sum_k A s 1 k * expR (r k)).

(* exponentials with errors *)
Lemma ln_gamma (x : R) : `|x| <= 2%:R * u -> `|ln (1 + x)| <= gamma u 2.
Proof.
move=> /[dup] xu; rewrite ler_norml => /andP[lo hi].
have p : 0 < 1 - 2%:R * u by rewrite subr_gt0.
have x1 : 1 - 2%:R * u <= 1 + x by rewrite ler_add2l.
have x0 : 0 < 1 + x by exact: lt_le_trans x1.
have g : gamma u 2 = (1 - 2%:R * u)^-1 - 1 by rewrite /gamma; field;
  rewrite gt_eqF.
have g2 : 2%:R * u <= gamma u 2.
  by rewrite /gamma ler_pdivl_mulr// ler_pimulr ?mulr_ge0
    ?ler0n// ler_subl_addr ler_addl mulr_ge0 ?ler0n.
rewrite ler_norml; apply/andP; split; last first.
  have [h _] := ln_leB1 x0; apply: le_trans h _.
  by rewrite addrC addKr (le_trans hi).
have i0 : 0 < (1 + x)^-1 by rewrite invr_gt0.
have [h _] := ln_leB1 i0; rewrite ler_oppl -lnV ?posrE//; apply: le_trans h _.
by rewrite g ler_add2r ler_pinv ?inE ?unitfE ?gt_eqF.
Qed.
Lemma exponent j : exists2 x, `|x| <= r j & e j = expR (s j - m + x).
Proof.
have [eta [eps [etau epsu ->]]] := exponentials j.
exists (s' j - s j + (s' j - m) * eta + ln (1 + eps)).
  apply: le_trans (ler_norm_add _ _) (ler_add _ (ln_gamma epsu)).
  apply: le_trans (ler_norm_add _ _) (ler_add (scores j) _).
  rewrite normrM mulrC ler_pmul//.
  by rewrite ler0_norm ?subr_le0// opprB.
have p : 0 < 1 + eps.
  move: epsu; rewrite ler_norml => /andP[lo _];
    apply: lt_le_trans (_ : 1 - 2%:R * u <= _).
    by rewrite subr_gt0.
  by rewrite ler_add2l.
rewrite -{1}(lnK (x := 1 + eps)) ?posrE// -expRD; congr expR.
by move: (ln _) => l; ring.
Qed.

(* state the rounding of a softmax *)
(* proves prop:softmax-bound *)
Theorem softmax_bound j :
  `|A' j - A s 1 j| <= A s 1 j * Num.max (above j) (below j).

(* prove the rounding of a softmax *)
Proof.
have u1 : u < 1.
  apply: le_lt_trans two_u; rewrite -{1}[u]mul1r ler_wpmul2r//.
  by rewrite -[1]/(1%:R) ler_nat.
have v0 : 0 < 1 - u by rewrite subr_gt0.
have v1 : 1 - u <= 1 by rewrite ler_subl_addr ler_addl.
have n0 : (0 < n)%N by apply/card_gt0P; exists j.
have e0 k : 0 < e k by have [x _ ->] := exponent k; exact: expR_gt0.
pose a k := A s 1 k; have a0 k : 0 < a k by exact: A_gt0.
pose E := \sum_k e k.
have E0 : 0 < E by rewrite /E (bigD1 j)//= ltr_paddr// sumr_ge0// => k _;
  exact/ltW.
have [|_] := summed_bounds u_ge0 u1 sum.
  by move=> x /mapP[k _ ->].
rewrite size_map -cardE -/n big_map big_enum /= -/E => /andP[tl th].
have t0 : 0 < total by apply: lt_le_trans tl; rewrite mulr_gt0 ?exprn_gt0.
(* the exact quotient *)
pose x k := ln (e k) - (s k - m).
have xr k : `|x k| <= r k.
  by have [y yr E'] := exponent k; rewrite /x E' expK addrAC subrr add0r.
have ex k : e k = expR (s k - m) * expR (x k).
  by rewrite -expRD addrCA subrr addr0 lnK ?posrE.
pose N := \sum_k expR (s k - m).
have N0 : 0 < N by rewrite /N (bigD1 j)//= ltr_paddr ?expR_gt0// sumr_ge0// =>
  k _; exact/ltW/expR_gt0.
have aE k : a k = expR (s k - m) / N.
  rewrite /a /A /Z /N; under eq_bigr do rewrite divr1.
  under [X in _ = _ / X]eq_bigr do rewrite expRD;
    rewrite divr1 expRD -mulr_suml -mulf_div divff ?mulr1//.
  by rewrite gt_eqF ?expR_gt0.

(* the quotient without roundings *)
pose y := \sum_k a k * expR (x k).
have EN : E = N * y.
  rewrite /E /y mulr_sumr; apply: eq_bigr => k _; rewrite ex aE.
  by rewrite mulrA [N * _]mulrC divfK ?gt_eqF.
have y0 : 0 < y by rewrite -(pmulr_rgt0 _ N0) -EN.
have q : e j / E = a j * (expR (x j) / y).
  by rewrite EN ex aE; field; rewrite !gt_eqF.
have ylo : \sum_k a k * expR (- r k) <= y.
  apply: ler_sum => k _; rewrite ler_wpmul2l ?(ltW (a0 k))// ler_expR.
  by have := xr k; rewrite ler_norml => /andP[].
have yhi : y <= \sum_k a k * expR (r k).
  apply: ler_sum => k _; rewrite ler_wpmul2l ?(ltW (a0 k))// ler_expR.
  by have := xr k; rewrite ler_norml => /andP[].
have sp (f : K -> R) : (forall k, 0 < f k) -> 0 < \sum_k a k * f k.
  move=> f0; rewrite (bigD1 j)//=; apply: ltr_paddr; last exact: mulr_gt0.
  by apply: sumr_ge0 => k _; exact/ltW/mulr_gt0.

(* the roundings of the sum and of the quotient *)
(* all roundings of the sum and the quotient in one factor *)
have [d du A'E] := quotients j.
pose t := E / total * (1 + d).
have A't : A' j = a j * (expR (x j) / y) * t.
  by rewrite A'E -q /t; field; rewrite !gt_eqF.
have [dl dh] : 1 - u <= 1 + d /\ 1 + d <= (1 - u)^-1.
  have := du; rewrite ler_norml => /andP[lo hi]; rewrite ler_add2l lo;
    split=> //.
  apply: le_trans (_ : 1 + u <= _); first by rewrite ler_add2l.
  rewrite -[(1 - u)^-1]mul1r ler_pdivl_mulr// (_ : _ * _ = 1 - u ^+ 2);
    last by ring.
  by rewrite ler_subl_addr ler_addl sqr_ge0.
have nS : n = n.-1.+1 by rewrite prednK.
have Et0 : 0 <= E / total by rewrite divr_ge0 ?ltW.
have tlo : (1 - u) ^+ n <= t.
  rewrite nS exprSr ler_pmul ?exprn_ge0 ?(ltW v0)//.
  by rewrite ler_pdivl_mulr// -ler_pdivl_mull ?exprn_gt0.
have thi : t <= (1 - u) ^- n.
  have d0 : 0 <= 1 + d by exact: le_trans (ltW v0) dl.
  rewrite nS exprSr invfM ler_pmul//.
  by rewrite ler_pdivr_mulr// ler_pdivl_mull ?exprn_gt0.
have g1 : 1 + gamma u n <= expR (gamma u n) by exact: expR_ge1D.
have thi' : t <= expR (gamma u n).
  exact: le_trans thi (le_trans (powers_gamma u_ge0 n_u) g1).
have tlo' : expR (- gamma u n) <= t.
  apply: le_trans tlo; rewrite expRN -[X in _ <= X]invrK.
  rewrite ler_pinv ?inE ?unitfE ?gt_eqF ?expR_gt0 ?invr_gt0 ?exprn_gt0//.
  exact: le_trans (powers_gamma u_ge0 n_u) g1.
have t0' : 0 <= t by apply: le_trans tlo'; exact/ltW/expR_gt0.
have xj := xr j; rewrite ler_norml in xj; case/andP: xj => xlo xhi.
have hi : expR (x j) / y * t <= 1 + above j.
  rewrite /above addrC subrK expRD [X in _ <= X]mulrAC.
  apply: ler_pmul => //; first by rewrite divr_ge0 ?(ltW y0)// ltW ?expR_gt0.
  apply: ler_pmul; rewrite ?invr_ge0 ?(ltW y0)// ?(ltW (expR_gt0 _))
    ?ler_expR//.
  by rewrite ler_pinv ?inE ?unitfE ?gt_eqF ?sp// => k; exact: expR_gt0.
have lo : 1 - below j <= expR (x j) / y * t.
  rewrite /below subKr expRD [X in X <= _]mulrAC.
  have sr : 0 < \sum_k a k * expR (r k) by apply: sp => k; exact: expR_gt0.
  apply: ler_pmul => //; rewrite ?(ltW (expR_gt0 _)) ?divr_ge0
    ?(ltW (expR_gt0 _)) ?(ltW sr)//.
  apply: ler_pmul; rewrite ?invr_ge0 ?(ltW sr)// ?(ltW (expR_gt0 _))
    ?ler_expR//.
  by rewrite ler_pinv ?inE ?unitfE ?gt_eqF.
rewrite A't -/(a j) -mulrA -{2}[a j]mulr1 -mulrBr normrM
  gtr0_norm// ler_wpmul2l ?(ltW (a0 j))//.
rewrite ler_norml ler_subr_addl; apply/andP; split.
  by apply: le_trans lo; rewrite ler_add2l ler_opp2 le_maxr lexx orbT.
by rewrite ler_subl_addl; apply: le_trans hi _;
  rewrite ler_add2l le_maxr lexx.
Qed.
End Softmax.
