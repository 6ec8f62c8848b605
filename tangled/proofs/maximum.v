(* proofs/maximum.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope. Set Implicit Arguments.
Unset Strict Implicit. Unset Printing Implicit Defensive.

(* the exponential is not below its tangent *)
Lemma expR_ge1D (R : realType) (x : R) : 1 + x <= expR x.
Proof.
have [->|x0] := eqVneq x 0; first by rewrite expR0 addr0.
exact/ltW/expR_gt1Dx.
Qed.

(* weights at an inverse temperature, in Coq *)
Section MaximumEntropy.
Variables (R : realType) (K : finType) (s : K -> R).
Implicit Types (b mu : R) (q : K -> R).
(* the weights at the inverse temperature b, of any sign *)
Definition W b := A (fun j => b * s j) 1.
Definition logZ b := ln (Z (fun j => b * s j) 1).
Definition mean q := \sum_j q j * s j.

(* entropies and divergences *)
Lemma W_distribution b (j : K) : distribution (W b). Proof.
exact: A_distribution. Qed.
Lemma entropy_and_divergence b q : distribution q ->
  logZ b - b * mean q = H q + KL q (W b).
Proof.
move=> qd; have := variational_identity (fun j => b * s j)
  (ltr01 : 0 < 1 :> R) qd.
rewrite /F /U !mul1r mulN1r -/(logZ b) -/(W b) => E.
have Ub : \sum_j q j * (b * s j) = b * mean q.
  by rewrite /mean mulr_sumr; apply: eq_bigr => j _; rewrite mulrCA.
rewrite Ub in E; apply: (addrI (- logZ b)); rewrite addKr addrCA -E.
by rewrite addrC subrK.
Qed.
Lemma entropy_W b (j : K) : H (W b) = logZ b - b * mean (W b).
Proof.
rewrite (entropy_and_divergence b (W_distribution b j)).
suff -> : KL (W b) (W b) = 0 by rewrite addr0.
by rewrite /KL big1// => k _; rewrite divff ?ln1 ?mulr0// gt_eqF ?A_gt0.
Qed.
Lemma KL_W b q : distribution q ->
  0 <= KL q (W b) /\ (KL q (W b) = 0 <-> forall j, q j = W b j).
Proof.
move=> qd; apply: gibbs_inequality => //; first exact: W_distribution
  (inhabited qd).
by move=> j /eqP; rewrite gt_eqF ?A_gt0.
Qed.

(* state that Gibbs weights have the largest entropy *)
(* proves thm:maximum-entropy *)
Theorem largest_entropy b q : distribution q -> mean q = mean (W b) ->
  [/\ H (W b) - H q = KL q (W b), 0 <= KL q (W b)
    & H q = H (W b) -> forall j, q j = W b j].

(* prove that Gibbs weights have the largest entropy *)
Proof.
move=> qd e; have j0 := inhabited qd; have [k0 kE] := KL_W b qd.
have E : H (W b) - H q = KL q (W b).
  by rewrite entropy_W// -e (entropy_and_divergence b qd) addrC addKr.
by split=> // h; apply/kE; rewrite -E h subrr.
Qed.

(* a sum with the sign of a difference *)
(* A sum that has the sign of the difference of means. *)
Let f mu b := \sum_j expR (b * s j) * (s j - mu).
Lemma mean_f mu b : (exists j : K, True) -> mean (W b) = mu <-> f mu b = 0.
Proof.
move=> [j0 _]; have Zp : 0 < Z (fun j => b * s j) 1 by exact: Z_gt0 j0.
have E : f mu b = Z (fun j => b * s j) 1 * (mean (W b) - mu).
  rewrite mulrBr /mean mulr_sumr [Z _ _ * mu]mulr_suml -sumrB;
    apply: eq_bigr => j _.
  by rewrite mulrBr /W /A divr1 mulrA [Z _ _ * _]mulrC divfK ?gt_eqF.
split=> [e|/eqP]; first by rewrite E e subrr mulr0.
by rewrite E mulf_eq0 gt_eqF//= subr_eq0 => /eqP.
Qed.
Lemma f_derivable mu (b : R) : derivable (f mu : R -> R) b 1.
Proof.
have h j : is_derive b (1 : R) (fun b => expR (b * s j) * (s j - mu))
    ((s j - mu) * (expR (b * s j) * s j)).
  have ds : is_derive b (1 : R) (fun b => b * s j) (s j).
    have -> : (fun b => b * s j) = s j \*: (id : R -> R).
      by apply/funext => x; rewrite mulrC.
    by apply: is_derive_eq; rewrite /GRing.scale /= mulr1.
  have de := is_derive1_comp (f := expR) (g := fun b => b * s j)
    (is_derive_expR _) ds.
  have -> : (fun b => expR (b * s j) * (s j - mu)) = (s j - mu) \*:
    (fun b => expR (b * s j)).
    by apply/funext => x; rewrite mulrC.
  exact: is_deriveZ.
rewrite (_ : f mu = \sum_j (fun b => expR (b * s j) * (s j - mu)));
  last by apply/funext => x; rewrite fct_sumE.
elim/big_ind: _ => [|f1 f2 d1 d2|j _]; first exact: derivable_cst.
  exact: derivableD.
by case: (h j).
Qed.

(* one term outweighs the others *)
(* One term outweighs the others once b is large. *)
Lemma f_positive mu (j1 : K) : mu < s j1 -> exists b, 0 < b /\ 0 < f mu b.
Proof.
move=> d0; set d := s j1 - mu; have dp : 0 < d by rewrite subr_gt0.
pose S := \sum_j `|s j - mu|; have S0 : 0 <= S by apply: sumr_ge0 => j _;
  exact: normr_ge0.
pose b := (S + 1) / d ^+ 2; have b0 : 0 < b by rewrite divr_gt0
  ?exprn_gt0// ltr_paddl.
exists b; split=> //.
have E : f mu b = expR (b * mu) * \sum_j expR (b * (s j - mu)) * (s j - mu).
  rewrite /f mulr_sumr; apply: eq_bigr => j _; rewrite mulrA -expRD;
    congr (expR _ * _).
  by ring.
rewrite E mulr_gt0 ?expR_gt0// (bigD1 j1)//= -/d.
have low j : - `|s j - mu| <= expR (b * (s j - mu)) * (s j - mu).
  have [h|h] := leP 0 (s j - mu).
    by rewrite (@le_trans _ _ 0) ?oppr_le0// mulr_ge0// ltW ?expR_gt0.
  rewrite ltr0_norm// opprK -[X in X <= _]mul1r ler_wnmul2r ?(ltW h)//.
  by rewrite -[X in _ <= X]expR0 ler_expR mulr_ge0_le0 ?(ltW b0) ?(ltW h).
have first : S < expR (b * d) * d.
  apply: lt_le_trans (_ : (1 + b * d) * d <= _); last first.
    by rewrite ler_wpmul2r ?(ltW dp)// expR_ge1D.
  have -> : (1 + b * d) * d = S + 1 + d.
    by rewrite /b; field; rewrite gt_eqF.
  by rewrite -addrA ltr_addl addr_gt0.
have rest : - S <= \sum_(j | j != j1) expR (b * (s j - mu)) * (s j - mu).
  apply: le_trans (_ : \sum_(j | j != j1) - `|s j - mu| <= _);
    last by apply: ler_sum => j _; exact: low.
  by rewrite sumrN ler_opp2 /S [X in _ <= X](bigD1 j1)//= ler_addr.
by rewrite -[X in X < _](subrr S); apply: ltr_le_add.
Qed.
End MaximumEntropy.

(* a mean between the extremes, in Coq *)
Section Temperature.
Variables (R : realType) (K : finType) (s : K -> R) (mu : R)
  (jmin jmax : K).
Hypotheses (low : s jmin < mu) (high : mu < s jmax).
Implicit Types b : R.

(* state that the mean determines the temperature *)
(* proves thm:maximum-entropy *)
Theorem energy_determines_temperature : exists b, mean s (W s b) = mu /\
  forall b', mean s (W s b') = mu -> b' = b.

(* prove that the mean determines the temperature *)
Proof.
have ex : exists j : K, True by exists jmin.
have [b1 [b10 f1]] := f_positive high.
have [b2 [b20 f2]] := @f_positive R K (fun j => - s j) (- mu) jmin
  ltac:(by rewrite ltr_opp2).
have f2' : \sum_j expR (- b2 * s j) * (s j - mu) < 0.
  rewrite -oppr_gt0 -sumrN; move: f2; congr (0 < _); apply: eq_bigr => j _.
  have -> : - s j - - mu = - (s j - mu) by rewrite opprB opprK addrC.
  by rewrite mulrN mulNr mulrN.
have le : - b2 <= b1 by rewrite (@le_trans _ _ 0) ?oppr_le0 ?(ltW b10)
  ?(ltW b20).
have [||b _ fb] := @IVT R (fun b => \sum_j expR (b * s j) * (s j - mu)) (- b2)
  b1 0 le.
- apply: continuous_subspaceT => t; apply: differentiable_continuous.
  by apply/derivable1_diffP; exact: f_derivable.
- by rewrite le_minl le_maxr (ltW f2') (ltW f1) orbT.
exists b; have mb : mean s (W s b) = mu by apply/mean_f.
split=> // b' mb'.
have d := W_distribution s b jmin; have d' := W_distribution s b' jmin.
have [e p _] := largest_entropy d' (etrans mb' (esym mb)).
have [e' p' _] := largest_entropy d (etrans mb (esym mb')).
have z : KL (W s b') (W s b) = 0.
  by apply/eqP; rewrite eq_le p -e andbT -opprB oppr_le0 e' p'.
have WW := (KL_W s b d').2.1 z.
have lnW c j : ln (W s c j) = c * s j - logZ s c by rewrite ln_A divr1.
have := congr2 (fun x y => ln x - ln y) (WW jmax) (WW jmin);
  rewrite !lnW => E.
have {}E : (b' - b) * (s jmax - s jmin) = 0.
  apply/eqP;
    rewrite -(subrr (b * s jmax - logZ s b - (b * s jmin - logZ s b))) -{1}E.
  by apply/eqP; ring.
move/eqP: E; rewrite mulf_eq0 !subr_eq0 => /orP[/eqP//|/eqP h].
by move: (lt_trans low high); rewrite h ltxx.
Qed.

(* state when the temperature is positive *)
(* proves thm:maximum-entropy *)
Theorem hot_and_cold b : mean s (W s b) = mu ->
  #|K|%:R^-1 * (\sum_j s j) < mu -> 0 < b.

(* prove when the temperature is positive *)
Proof.
move=> mb hi; rewrite ltNge; apply/negP => b0.
pose e j := expR (b * s j).
have n0 : 0 < #|K|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists jmin.
have Z0 : 0 < \sum_j e j by rewrite (bigD1 jmin)//= ltr_paddr
  ?expR_gt0// sumr_ge0// => j _; exact/ltW/expR_gt0.
have meanE : mean s (W s b) = (\sum_j e j * s j) / \sum_j e j.
  rewrite /mean mulr_suml; apply: eq_bigr => j _; rewrite /W /A /Z divr1.
  by under eq_bigr do rewrite divr1; rewrite mulrAC.
have cheb : #|K|%:R * (\sum_j e j * s j) <= (\sum_j s j) * (\sum_j e j).
  have pair j k : (s j - s k) * (e j - e k) <= 0.
    have [h|/ltW h] := leP (s j) (s k).
      by rewrite mulr_le0_ge0 ?subr_le0// subr_ge0 /e ler_expR ler_wnmul2l.
    by rewrite mulr_ge0_le0 ?subr_ge0// subr_le0 /e ler_expR ler_wnmul2l.
  have : \sum_j \sum_k (s j - s k) * (e j - e k) <= 0.
    by rewrite -oppr_ge0 -sumrN sumr_ge0// => j _;
      rewrite -sumrN sumr_ge0// => k _; rewrite oppr_ge0.
  have -> : \sum_j \sum_k (s j - s k) * (e j - e k) =
      2%:R * (#|K|%:R * (\sum_j e j * s j) - (\sum_j s j) * (\sum_j e j)).
    transitivity (\sum_j \sum_(k : K) e j * s j - \sum_j \sum_k s j * e k
        - \sum_j \sum_k s k * e j + \sum_(j : K) \sum_k e k * s k).
      rewrite -sumrB -sumrB -big_split; apply: eq_bigr => j _ /=.
      rewrite -sumrB -sumrB -big_split; apply: eq_bigr => k _ /=.
      by move: (e j) (e k) => x y; ring.
    rewrite [X in _ - X + _]exchange_big /= -!big_distrlr /= sumr_const.
    under eq_bigr do rewrite sumr_const;
      rewrite sumrMnl -[_ *+ #|_|]mulr_natl.
    by move: (\sum_j e j * s j) (\sum_j s j) (\sum_j e j) #|K|%:R =>
      x y z n; ring.
  by rewrite pmulr_rle0 ?ltr0n// subr_le0.
have : mean s (W s b) <= #|K|%:R^-1 * \sum_j s j.
  by rewrite meanE ler_pdivr_mulr// mulrAC -mulrA ler_pdivl_mull// mulrC.
by rewrite mb leNgt hi.
Qed.
End Temperature.

(* entropies and energies, in Coq *)
Section EntropyOfEnergy.
Variables (R : realType) (K : finType) (s : K -> R) (j0 : K).
Implicit Types b : R.
Definition energy b := - mean s (W s b).
Definition S b := H (W s b).   (* the entropy at the energy of b *)

(* state that the entropy is the least *)
(* proves thm:entropy-of-energy *)
Theorem entropy_is_the_least_of_duals b b' :
  S b = logZ s b + b * energy b /\ S b <= logZ s b' + b' * energy b.

(* prove that the entropy is the least *)
Proof.
have E c : logZ s c + c * energy b = logZ s c - c * mean s (W s b).
  by rewrite /energy mulrN.
rewrite !E /S entropy_W//; split=> //.
have d := W_distribution s b j0; rewrite -entropy_W//.
rewrite (entropy_and_divergence s b' d) ler_addl.
by have [] := KL_W s b' d.
Qed.

(* state that the partition function is the greatest *)
(* proves thm:entropy-of-energy *)
Theorem partition_function_is_the_greatest b b' :
  logZ s b = S b - b * energy b /\ S b' - b * energy b' <= logZ s b.

(* prove that the partition function is the greatest *)
Proof.
have [e _] := entropy_is_the_least_of_duals b b;
  have [_ h] := entropy_is_the_least_of_duals b' b.
by split; [rewrite e addrK | rewrite ler_subl_addr].
Qed.

(* state that the tangent lies above *)
(* proves thm:entropy-of-energy *)
Theorem tangent_lies_above_by_a_divergence b b' :
  S b + b * (energy b' - energy b) - S b' = KL (W s b') (W s b) /\
  0 <= KL (W s b') (W s b).

(* prove that the tangent lies above *)
Proof.
have d' := W_distribution s b' j0; split; last by have [] := KL_W s b d'.
have := entropy_and_divergence s b d'; rewrite -/(S b') => E.
have [e _] := entropy_is_the_least_of_duals b b.
apply: (addrI (S b')); rewrite -E e /energy; move: (S b') (logZ s b)
  (mean s _) (mean s _) => x y z w.
by ring.
Qed.
End EntropyOfEnergy.
