(* proofs/logerr.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp.classical Require Import boolp.
From attn Require Import prelude tanh tangent softmaxbound.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a factor and a rounding, in Coq *)
Section Near.
Variable R : realType.
Implicit Types (a b c d h x y : R).

(* b is a, off by a factor between e^-h and e^h *)
Definition near h a b := exists2 x, `|x| <= h & b = a * expR x.
(* b is a, rounded with a relative error of at most h *)
Definition rounds h a b := exists2 d, `|d| <= h & b = a * (1 + d).

(* errors of factors add *)

(* errors of factors add *)
Lemma near_ge0 h a b : near h a b -> 0 <= h.
Proof. by case=> x xh _; exact: le_trans (normr_ge0 _) xh. Qed.
Lemma near_refl h a : 0 <= h -> near h a a.
Proof. by exists 0; rewrite ?normr0 ?expR0 ?mulr1. Qed.
Lemma near_le h k a b : h <= k -> near h a b -> near k a b.
Proof. by move=> hk [x xh ->]; exists x; rewrite ?(le_trans xh). Qed.
Lemma near_trans h k a b c : near h a b -> near k b c -> near (h + k) a c.
Proof.
move=> [x xh ->] [y yk ->]; exists (x + y); last by rewrite expRD mulrA.
exact: le_trans (ler_norm_add _ _) (ler_add xh yk).
Qed.
Lemma near_mul h k a b c d :
  near h a b -> near k c d -> near (h + k) (a * c) (b * d).
Proof.
move=> [x xh ->] [y yk ->]; exists (x + y); last by rewrite expRD mulrACA.
exact: le_trans (ler_norm_add _ _) (ler_add xh yk).
Qed.
Lemma near_inv h a b : near h a b -> near h a^-1 b^-1.
Proof.
move=> [x xh ->]; exists (- x); first by rewrite normrN.
by rewrite invfM expRN.
Qed.
Lemma near_div h k a b c d :
  near h a b -> near k c d -> near (h + k) (a / c) (b / d).
Proof. by move=> ab /near_inv; exact: near_mul. Qed.
Lemma near_exp h x y : `|y - x| <= h -> near h (expR x) (expR y).
Proof. by exists (y - x) => //; rewrite -expRD addrC subrK. Qed.

(* sums of terms near one another *)

(* sums of terms near one another *)
Lemma near_bounds h a b : 0 <= a -> near h a b ->
  a * expR (- h) <= b <= a * expR h.
Proof.
move=> a0 [x]; rewrite ler_norml => /andP[lo hi] ->.
by rewrite !ler_wpmul2l// ler_expR.
Qed.
Lemma near_between h a b : 0 <= h -> 0 <= a ->
  a * expR (- h) <= b <= a * expR h -> near h a b.
Proof.
move=> h0; rewrite le_eqVlt => /predU1P[<-|a0] /andP[lo hi].
  rewrite !mul0r in lo hi; have -> : b = 0 by apply/eqP; rewrite eq_le hi
    lo.
  exact: near_refl.
have q0 : 0 < b / a.
  by rewrite divr_gt0// (lt_le_trans _ lo)// mulr_gt0 ?expR_gt0.
exists (ln (b / a)); last by rewrite lnK ?posrE// mulrC divfK ?gt_eqF.
rewrite ler_norml -[- h]expK -[X in _ && (_ <= X)]expK.
by rewrite !ler_ln ?posrE ?expR_gt0// ler_pdivl_mulr// ler_pdivr_mulr//
  mulrC lo mulrC.
Qed.
Lemma near_sum (K : finType) (P : pred K) (f g : K -> R) h : 0 <= h ->
  (forall k, P k -> 0 <= f k) -> (forall k, P k -> near h (f k) (g k)) ->
  near h (\sum_(k | P k) f k) (\sum_(k | P k) g k).
Proof.
move=> h0 f0 fg; apply: near_between => //; first exact: sumr_ge0.
by rewrite !mulr_suml; apply/andP; split; apply: ler_sum => k Pk;
  have /andP[] := near_bounds (f0 k Pk) (fg k Pk).
Qed.
Lemma near_add h a b c d : 0 <= a -> 0 <= c ->
  near h a b -> near h c d -> near h (a + c) (b + d).
Proof.
move=> a0 c0 ab cd; apply: near_between; first exact: near_ge0 ab.
  exact: addr_ge0.
have /andP[l1 h1] := near_bounds a0 ab; have /andP[l2 h2] := near_bounds
  c0 cd.
by rewrite !mulrDl !ler_add.
Qed.

(* an error from its logarithm *)
Lemma expB1_le y : 0 <= y -> y < 2%:R -> expR y - 1 <= y / (1 - y / 2%:R).
Proof.
move=> y0 y2; pose t := y / 2%:R; pose E := expR t.
have yE : y = t + t by rewrite /t; field.
have t0 : 0 <= t by rewrite divr_ge0 ?ler0n.
have p : 0 < 1 - t by rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n// mul1r.
have E0 : 0 < E by exact: expR_gt0.
have h : E * E - 1 <= t * (E * E + 1).
  have := ler_wpmul2r (ltW E0) (sinh_le t0); rewrite expRN -/E mulrBl
    -mulrA.
  by rewrite [(E + _) * E]mulrDl mulVf ?gt_eqF.
rewrite -/t ler_pdivl_mulr// {1}yE expRD -/E.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = t * (E * E + 1) - (E * E - 1))
  ?subr_ge0//.
by rewrite yE; ring.
Qed.
Lemma near_error h a b : near h a b -> h < 2%:R ->
  `|b - a| <= `|a| * (h / (1 - h / 2%:R)).
Proof.
move=> [x xh ->] h2; rewrite -[X in _ - X]mulr1 -mulrBr normrM
  ler_wpmul2l//.
have h0 : 0 <= h by exact: le_trans (normr_ge0 _) xh.
apply: le_trans (expB1_le h0 h2); move: xh; rewrite ler_norml => /andP[lo
  hi].
rewrite ler_norml ler_add2r ler_expR hi andbT ler_oppl opprB.
(* 1 - e^x <= e^h - 1 *)
have := expR_ge1D x; have := expR_ge1D h => H X.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = (expR h - (1 + h)) + (expR x - (1
  + x)) + (x - - h));
  last by ring.
by apply: addr_ge0; first apply: addr_ge0; rewrite subr_ge0.
Qed.

Lemma near_bound c N q a b : near (N / q) a b -> 0 < c -> 0 < q ->
  c <= q - N / 2%:R -> c * `|b - a| <= `|a| * N.
Proof.
move=> ab c0 q0 cq; have p : 0 < q - N / 2%:R by exact: lt_le_trans cq.
have N0 : 0 <= N by have := near_ge0 ab; rewrite pmulr_lge0 ?invr_gt0.
have N2 : N / q < 2%:R.
  rewrite ltr_pdivr_mulr// mulrC -ltr_pdivr_mulr ?ltr0n//.
  by rewrite -subr_gt0.
have E : N / q / (1 - N / q / 2%:R) = N / (q - N / 2%:R).
  field; rewrite !gt_eqF//= (_ : _ - _ = 2%:R * (q - N / 2%:R));
    first by rewrite mulr_gt0 ?ltr0n.
  by field.
apply: le_trans (ler_wpmul2l (ltW c0) (near_error ab N2)) _.
rewrite E mulrCA ler_wpmul2l// mulrCA ler_pimulr//.
by rewrite ler_pdivr_mulr// mul1r.
Qed.

(* an error that is a mean of errors *)
Lemma near_mean (K : finType) (f g h : K -> R) H :
  (forall k, 0 <= f k) -> (forall k, near (h k) (f k) (g k)) ->
  (forall k, h k <= H) -> 0 <= H -> H < 2%:R ->
  near ((\sum_k f k * h k) / (\sum_k f k) / (1 - H / 2%:R))
    (\sum_k f k) (\sum_k g k).
Proof.
move=> f0 fg hH H0 H2; pose S := \sum_k f k; pose B := (\sum_k f k * h k)
  / S.
have h0 k : 0 <= h k by exact: near_ge0 (fg k).
have S0 : 0 <= S by exact: sumr_ge0.
have q0 : 0 < 1 - H / 2%:R by rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n//
  mul1r.
have q1 : 1 - H / 2%:R <= 1 by rewrite ler_subl_addr ler_addl divr_ge0
  ?ler0n.
have fh0 : 0 <= \sum_k f k * h k by apply: sumr_ge0 => k _; rewrite
  mulr_ge0.
have B0 : 0 <= B by rewrite divr_ge0.
have Bq : B <= B / (1 - H / 2%:R).
  by rewrite ler_pdivl_mulr// ler_pimulr.
have BS : B * S = \sum_k f k * h k.
  have [S00|Sn0] := eqVneq S 0; last by rewrite divfK.
  rewrite S00 mulr0 big1// => k _; have -> : f k = 0; last by rewrite
    mul0r.
  by move/eqP: S00; rewrite psumr_eq0// => /allP/(_ k (mem_index_enum
    _))/eqP.
rewrite -/S -/B; apply: near_between; [exact: le_trans B0 Bq|exact: S0|].
apply/andP; split; last first.
  apply: le_trans (ler_wpmul2l S0 (expR_ge1D _)).
  have -> : S * (1 + B / (1 - H / 2%:R)) = \sum_k f k * (1 + h k / (1 - H
    / 2%:R)).
    rewrite mulrDr mulr1 mulrA [S * B]mulrC BS mulr_suml -big_split /=.
    by apply: eq_bigr => k _; rewrite mulrDr mulr1 mulrA.
  apply: ler_sum => k _; have /andP[_ hi] := near_bounds (f0 k) (fg k).
  apply: le_trans hi _; rewrite ler_wpmul2l// -ler_subl_addl.
  have hk2 : h k < 2%:R by exact: le_lt_trans (hH k) H2.
  apply: le_trans (expB1_le (h0 k) hk2) _.
  have p0 : 0 < 1 - h k / 2%:R.
    by rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n// mul1r.
  rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF//.
  by rewrite ler_add2l ler_opp2 ler_pmul2r ?invr_gt0 ?ltr0n.
apply: (@le_trans _ _ (S * expR (- B))).
  by rewrite ler_wpmul2l// ler_expR ler_opp2.
have -> : S * expR (- B) = \sum_k f k * ((1 + (B - h k)) * expR (- B)).
  under eq_bigr => k _ do rewrite mulrA mulrDr mulr1 mulrBr.
  by rewrite -mulr_suml big_split /= sumrB -BS -mulr_suml [_ * S]mulrC
    subrr addr0.
apply: ler_sum => k _; have /andP[lo _] := near_bounds (f0 k) (fg k).
apply: le_trans lo; rewrite ler_wpmul2l//.
apply: le_trans (ler_wpmul2r (ltW (expR_gt0 _)) (expR_ge1D _)) _.
by rewrite -expRD addrAC subrr add0r.
Qed.

(* a rounding in logarithms *)
Lemma near_rounds h a b : h < 1 -> rounds h a b -> near (h / (1 - h)) a b.
Proof.
move=> h1 [d dh ->]; have q : 0 < 1 - h by rewrite subr_gt0.
have h0 : 0 <= h by exact: le_trans (normr_ge0 _) dh.
have hq : h <= h / (1 - h).
  by rewrite ler_pdivl_mulr// ler_pimulr// ler_subl_addr ler_addl.
move: dh; rewrite ler_norml => /andP[lo hi].
have d1 : 1 - h <= 1 + d by rewrite ler_add2l.
have d0 : 0 < 1 + d by exact: lt_le_trans d1.
exists (ln (1 + d)); last by rewrite lnK ?posrE.
rewrite ler_norml; apply/andP; split; last first.
  by have [l _] := ln_leB1 d0; apply: le_trans l _; rewrite addrC addKr
    (le_trans hi).
have i0 : 0 < (1 + d)^-1 by rewrite invr_gt0.
have [l _] := ln_leB1 i0; rewrite ler_oppl -lnV ?posrE//; apply: le_trans
  l _.
have -> : h / (1 - h) = (1 - h)^-1 - 1 by field; rewrite gt_eqF.
by rewrite ler_add2r ler_pinv ?inE ?unitfE ?gt_eqF.
Qed.

(* the last rounding of a result *)
Lemma round_last h e a b c : `|b - a| <= e -> rounds h b c ->
  `|c - a| <= e * (1 + h) + h * `|a|.
Proof.
move=> be [d dh ->]; rewrite (_ : _ - _ = (b - a) * (1 + d) + d * a); last
  by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite !normrM ler_add
  ?ler_wpmul2r//.
rewrite ler_pmul//; apply: le_trans (ler_norm_add _ _) _.
by rewrite normr1 ler_add2l.
Qed.
End Near.

(* a sum of numbers, of none perhaps, in Coq *)

(* a sum of numbers, of none perhaps, in Coq *)
Section Sums.
Variables (R : realType) (u : R).
Hypotheses (u_ge0 : 0 <= u) (two_u : 2%:R * u < 1).
(* A computed sum of some numbers, of none perhaps. *)
Definition total (s : seq R) c :=
  if s is [::] then c = 0 else summed u s c.

Definition v := u / (1 - 2%:R * u).

(* sums in logarithms *)

(* sums in logarithms *)
Lemma q_gt0 : 0 < 1 - 2%:R * u. Proof. by rewrite subr_gt0. Qed.
Lemma v_ge0 : 0 <= v. Proof. by rewrite divr_ge0// ltW// q_gt0. Qed.
Lemma near_round a b : rounds u a b -> near v a b.
Proof.
have u2 : u <= 2%:R * u by rewrite mulr_natl mulr2n ler_addl.
have u1 : u < 1 by exact: le_lt_trans two_u.
move=> r; apply: near_le (near_rounds u1 r).
by rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF ?subr_gt0//
  ler_add2l ler_opp2.
Qed.
Lemma near_round2 a b : rounds (2%:R * u) a b -> near (2%:R * v) a b.
Proof. by move=> /(near_rounds two_u); rewrite /v mulrA. Qed.

Lemma near_summed s c : summed u s c -> (forall x, x \in s -> 0 <= x) ->
  (0 < size s)%N /\ near ((size s).-1%:R * v) (\sum_(x <- s) x) c.
Proof.
elim=> {s c}.
- by move=> x _; rewrite /= mul0r big_seq1; split=> //; exact: near_refl.
- move=> s t a b delta _ IHs _ IHt du pos.
  have ps x : x \in s -> 0 <= x by move=> xs; apply: pos; rewrite mem_cat
    xs.
  have pt x : x \in t -> 0 <= x by move=> xt; apply: pos; rewrite mem_cat
    xt orbT.
  have [s0 sa] := IHs ps; have [t0 tb] := IHt pt.
  rewrite size_cat addn_gt0 s0 big_cat /=; split=> //.
  have S0 : 0 <= \sum_(x <- s) x by rewrite big_seq sumr_ge0.
  have T0 : 0 <= \sum_(x <- t) x by rewrite big_seq sumr_ge0.
  pose k := (maxn (size s).-1 (size t).-1).
  have ab : near (k%:R * v) (\sum_(x <- s) x + \sum_(x <- t) x) (a + b).
    by apply: near_add => //; [apply: near_le sa|apply: near_le tb];
      rewrite ler_wpmul2r ?v_ge0// ler_nat ?leq_maxl ?leq_maxr.
  apply: near_le (near_trans ab (near_round (ex_intro2 _ _ delta du
    erefl))).
  rewrite -[X in _ + X]mul1r -mulrDl -[1]/(1%:R) -natrD.
  by rewrite ler_wpmul2r ?v_ge0// ler_nat addn1 maxn_pred.
move=> s t a st _ IH pos; rewrite -(perm_size st) -(perm_big _ st).
by apply: IH => x xs; apply: pos; rewrite -(perm_mem st).
Qed.
Lemma near_total s c : total s c -> (forall x, x \in s -> 0 <= x) ->
  near ((size s).-1%:R * v) (\sum_(x <- s) x) c.
Proof.
case: s => [->|x s] /=; last by move=> sc pos; have [] := near_summed sc
  pos.
by rewrite big_nil mul0r => _; exact: near_refl.
Qed.
End Sums.
