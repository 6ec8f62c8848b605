(* proofs/entropy.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a tangent of the exponential, zero included *)
Lemma expR_ge1D (R : realType) (x : R) : 1 + x <= expR x.
Proof.
have [->|x0] := eqVneq x 0; first by rewrite expR0 addr0.
exact/ltW/expR_gt1Dx.
Qed.

(* uniform and one-hot weights, in Coq *)
Section Entropy.
Variables (R : realType) (K : finType).
Implicit Types q p : K -> R.

Definition uniform (j : K) : R := #|K|%:R^-1.
Definition one_hot (k j : K) : R := (j == k)%:R.

(* what each term of an entropy is *)
Lemma keys_gt0 q : distribution q -> (0 < #|K|)%N.
Proof. by move=> /inhabited j; apply/card_gt0P; exists j. Qed.

Lemma sum_uniform q : distribution q -> distribution uniform.
Proof.
move=> /keys_gt0 n0; split; first by move=> j; rewrite invr_ge0 ler0n.
by rewrite /uniform sumr_const -[X in X = _]mulr_natl divff// pnatr_eq0 -lt0n.
Qed.

Lemma prob_le1 q j : distribution q -> q j <= 1.
Proof.
move=> [q0 q1]; rewrite -q1 (bigD1 j)//= ler_addl.
by apply: sumr_ge0 => k _; exact: q0.
Qed.

Lemma plogp_le0 (x : R) : 0 <= x <= 1 ->
  x * ln x <= 0 ?= iff ((x == 0) || (x == 1)).
Proof.
move=> /andP[x0 x1]; have [->|xn] := eqVneq x 0; first by rewrite mul0r; split;
  rewrite ?eqxx.
have xp : 0 < x by rewrite lt0r xn.
have [le E] := ln_leB1 xp; have l0 : ln x <= 0 by rewrite (le_trans le)//
  subr_le0.
split; first by rewrite mulr_ge0_le0.
rewrite mulf_eq0 (negbTE xn) /=; apply/eqP/eqP => [l|->]; last by rewrite ln1.
apply/eqP; rewrite -E l eq_sym subr_eq0; rewrite l in le.
by apply/eqP/le_anti; rewrite x1 -subr_ge0.
Qed.

(* state the bounds on the entropy *)
(* proves prop:entropy-bounds *)
Theorem entropy_bounds q : distribution q ->
  [/\ 0 <= H q, H q <= ln #|K|%:R,
      H q = ln #|K|%:R <-> (forall j, q j = uniform j)
    & H q = 0 <-> exists k, forall j, q j = one_hot k j].

(* prove the bounds on the entropy *)
Proof.
move=> qd; have [q0 q1] := qd; have n0 := keys_gt0 qd.
have nR : 0 < #|K|%:R :> R by rewrite ltr0n.
have le j : q j * ln (q j) <= 0 ?= iff ((q j == 0) || (q j == 1)).
  by apply: plogp_le0; rewrite q0 prob_le1.
have gap : ln #|K|%:R - H q = KL q uniform.
  rewrite /H opprK /KL
    [RHS](eq_bigr (fun j => q j * ln (q j) + q j * ln #|K|%:R)).
    by rewrite big_split /= -mulr_suml q1 mul1r addrC.
  move=> j _; have [->|qj] := eqVneq (q j) 0; first by rewrite !mul0r addr0.
  by rewrite /uniform invrK lnM ?posrE ?mulrDr// lt0r qj q0.
have dom : dominated q uniform.
  by move=> j /eqP; rewrite invr_eq0 gt_eqF.
have [kl0 klE] := gibbs_inequality qd (sum_uniform qd) dom.
split.
- by rewrite /H -sumrN sumr_ge0// => j _; rewrite oppr_ge0; exact: (le j).1.
- by rewrite -subr_ge0 gap.
- rewrite -klE -gap; split=> [->|/eqP]; first by rewrite subrr.
  by rewrite subr_eq0 => /eqP.
have [_ E] := leif_sum (fun j (_ : true) => le j); rewrite sumr_const mul0rn in
  E.
split=> [H0|[k qk]]; last first.
  apply/eqP; rewrite /H oppr_eq0 E; apply/forallP => j; rewrite /= qk /one_hot.
  by case: (j == k); [rewrite mulr1n eqxx orbT | rewrite mulr0n eqxx].
have /forallP z : [forall (i | true), (q i == 0) || (q i == 1)].
  by rewrite -E -oppr_eq0 -/(H q) H0.
have [k qk|none] := pickP (fun k => q k == 1); last first.
  move: q1; rewrite big1 => [/eqP|j _]; first by rewrite eq_sym oner_eq0.
  by have := z j; rewrite /= none orbF => /eqP.
exists k => j; rewrite /one_hot; have [->|jk] := eqVneq j k; first exact/eqP.
have := z j => /=; case/orP => /eqP // qj1.
have : 1 + 1 <= 1 :> R.
  rewrite -{3}q1 (bigD1 k)//= (eqP qk) ler_add2l (bigD1 j)//= qj1 ler_addl.
  by apply: sumr_ge0.
by rewrite ger_addl ler10.
Qed.

(* Two finite scores are two elements of K. *)

(* state that Gibbs weights have an entropy *)
(* proves prop:entropy-bounds *)
Theorem entropy_gt0 (s : K -> R) T : 0 < T -> (1 < #|K|)%N ->
  0 < H (A s T).

(* prove that Gibbs weights have an entropy *)
Proof.
move=> T0 /card_gt1P[j [k [_ _ jk]]]; have Ad := A_distribution s T j.
have [h _ _ E] := entropy_bounds Ad; rewrite lt0r h andbT; apply/eqP =>
  /E[l lE].
have pos i : 0 < A s T i by exact: A_gt0.
have one i : i = l by apply/eqP; have := pos i; rewrite lE /one_hot; case: eqP;
  rewrite ?ltxx.
by move: jk; rewrite (one j) (one k) eqxx.
Qed.
End Entropy.

(* a mean row and its information, in Coq *)
Section Mutual.
Variables (R : realType) (I K : finType) (A : I -> K -> R) (i0 : I).
Hypothesis rows : forall i, distribution (A i).
Definition mean_row j := #|I|%:R^-1 * \sum_i A i j.
Definition information := H mean_row - #|I|%:R^-1 * \sum_i H (A i).

(* state the bounds on mutual information *)
(* proves prop:mutual *)
Theorem mutual_information :
  [/\ information = #|I|%:R^-1 * \sum_i KL (A i) mean_row,
      0 <= information
    & information <= Num.min (ln #|I|%:R) (ln #|K|%:R)].

(* prove the second form of mutual information *)
Proof.
have n0 : 0 < #|I|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists i0.
have nn : #|I|%:R != 0 :> R by rewrite gt_eqF.
have ni : 0 <= #|I|%:R^-1 :> R by rewrite invr_ge0 ltW.
have le i j : A i j <= #|I|%:R * mean_row j.
  rewrite mulVKf// (bigD1 i)//= ler_addl sumr_ge0// => k _; exact: (rows k).1.
have md : distribution mean_row.
  split=> [j|]; first by rewrite mulr_ge0// sumr_ge0// => i _;
    exact: (rows i).1.
  rewrite -mulr_sumr exchange_big /= (eq_bigr (fun=> 1)); last by move=> i _;
    exact: (rows i).2.
  by rewrite sumr_const -mulr_natl mulr1 mulVf.
have dom i : dominated (A i) mean_row.
  move=> j m0; apply/eqP; rewrite eq_le (rows i).1 andbT.
  by have := le i j; rewrite m0 mulr0.
have pos i j : A i j != 0 -> 0 < A i j /\ 0 < mean_row j.
  move=> a0; have a : 0 < A i j by rewrite lt0r a0 (rows i).1.
  by split=> //; rewrite -(pmulr_rgt0 _ n0) (lt_le_trans a).
have E : information = #|I|%:R^-1 * \sum_i KL (A i) mean_row.
  have kl i : KL (A i) mean_row = - H (A i) - \sum_j A i j * ln (mean_row j).
    rewrite /H opprK -sumrB; apply: eq_bigr => j _.
    have [->|/pos[a m]] := eqVneq (A i j) 0; first by rewrite !mul0r subrr.
    by rewrite ln_div ?posrE// mulrBr.
  rewrite (eq_bigr _ (fun i _ => kl i)) sumrB sumrN mulrBr mulrN addrC;
    congr (_ - _).
  rewrite /H; congr (- _); rewrite exchange_big /= mulr_sumr.
  by apply: eq_bigr => j _; rewrite -mulr_suml mulrA.

(* prove the bounds on mutual information *)
split=> //; first by rewrite E mulr_ge0// sumr_ge0// => i _;
  exact: (gibbs_inequality (rows i) md (dom i)).1.
rewrite le_minr; apply/andP; split.
  rewrite E mulrC ler_pdivr_mulr// mulr_natr -sumr_const ler_sum// => i _.
  rewrite /KL -[X in _ <= X]mul1r -[X in _ <= X * _](rows i).2 mulr_suml
    ler_sum// => j _.
  have [->|/pos[a m]] := eqVneq (A i j) 0; first by rewrite !mul0r.
  rewrite ler_wpmul2l ?(ltW a)// ler_ln ?posrE ?divr_gt0//.
  by rewrite ler_pdivr_mulr.
apply: le_trans (_ : H mean_row <= _); last by have [] := entropy_bounds md.
rewrite /information ler_subl_addr ler_addl mulr_ge0// sumr_ge0// => i _.
by have [] := entropy_bounds (rows i).
Qed.
End Mutual.

(* best keys and a gap, in Coq *)
Section Limits.
Variables (R : realType) (K : finType) (s : K -> R)
  (T m Delta range : R).
Hypotheses (T_gt0 : 0 < T) (best : exists j, s j = m).
Hypothesis gap : forall j, s j = m \/ s j <= m - Delta.
Hypothesis within : forall j, m - range <= s j <= m.
Definition g := #|[pred j | s j == m]|.
Definition A0 j : R := (s j == m)%:R / g%:R.

(* state the cold limit *)
(* proves thm:gibbs-limits *)
Theorem cold_limit :
  \sum_j `|A s T j - A0 j| <=
  2 * ((#|K| - g)%:R / g%:R) * expR (- (Delta / T)).

(* sum the weights of the best keys *)
Proof.
have [b bm] := best; pose B j := s j == m; pose w j := expR ((s j - m) / T).
have wE j : expR (s j / T) = expR (m / T) * w j.
  by rewrite -expRD; congr expR; rewrite -mulrDl addrCA subrr addr0.
pose W := \sum_j w j; have c0 : expR (m / T) != 0 by rewrite gt_eqF ?expR_gt0.
have AE j : A s T j = w j / W.
  rewrite /A /Z wE; under eq_bigr do rewrite wE.
  by rewrite -mulr_sumr -mulf_div divff// mul1r.
have w1 j : B j -> w j = 1 by move=> /eqP E; rewrite /w E subrr mul0r expR0.
have g0 : 0 < g%:R :> R by rewrite ltr0n; apply/card_gt0P; exists b;
  rewrite inE bm.
pose rho := \sum_(j | ~~ B j) w j.
have sumB (c : R) : \sum_(j | B j) c = g%:R * c by rewrite sumr_const mulr_natl.
have WE : W = g%:R + rho.
  rewrite /W (bigID B) /= (eq_bigr (fun=> 1)) ?sumB ?mulr1//.
have rho0 : 0 <= rho by apply: sumr_ge0 => j _; exact/ltW/expR_gt0.
have W0 : 0 < W by rewrite WE ltr_paddr.
have -> : \sum_j `|A s T j - A0 j| = 2 * (rho / W).
  rewrite (bigID B) /= (eq_bigr (fun=> g%:R^-1 - W^-1)); last first.
    move=> j Bj; rewrite AE /A0 w1// -/(B j) Bj !mul1r ler0_norm ?opprB//.
    by rewrite subr_le0 ler_pinv ?inE ?unitfE ?gt_eqF// WE ler_addl.
  rewrite [X in _ + X](eq_bigr (fun j => w j / W)); last first.
    move=> j Bj; rewrite AE /A0 -/(B j) (negbTE Bj) mul0r subr0 ger0_norm//.
    by rewrite divr_ge0 ?(ltW W0)// ltW ?expR_gt0.
  rewrite sumB -mulr_suml -/rho WE; field.
  by rewrite -WE !gt_eqF.

(* bound the weights of the other keys *)
rewrite -!mulrA ler_wpmul2l ?ler0n//; apply: le_trans (_ : rho / g%:R <= _).
  by rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF// WE ler_addl.
rewrite [X in _ <= X]mulrCA [rho / _]mulrC ler_wpmul2l ?invr_ge0 ?(ltW g0)//.
have cB : #|[pred j | ~~ B j]| = (#|K| - g)%N.
  by rewrite -(cardC [pred j | s j == m]) addKn; apply: eq_card.
rewrite -cB mulr_natl -sumr_const; apply: ler_sum => j Bj; rewrite ler_expR.
rewrite -mulNr ler_pmul2r ?invr_gt0// ler_subl_addl.
by case: (gap j) => // E; move: Bj; rewrite /B E eqxx.
Qed.

(* state the hot limit *)
(* proves thm:gibbs-limits *)
Theorem hot_limit j : `|#|K|%:R * A s T j - 1| <= expR (range / T) - 1.

(* prove the hot limit *)
Proof.
have Ap k : 0 < A s T k by exact: A_gt0.
have ratio i k : A s T i <= expR (range / T) * A s T k.
  rewrite /A mulrA ler_pmul2r ?invr_gt0 ?(Z_gt0 _ _ j)// -expRD ler_expR
    -mulrDl.
  rewrite ler_pmul2r ?invr_gt0//; have /andP[lo _] := within k;
    have /andP[_ hi] := within i.
  by apply: le_trans hi _; rewrite -ler_subl_addl.
have S1 : \sum_k A s T k = 1 by exact: sum_A j.
have nA : \sum_(k : K) A s T j = #|K|%:R * A s T j by rewrite sumr_const
  mulr_natl.
have hi : #|K|%:R * A s T j <= expR (range / T).
  by rewrite -nA -[X in _ <= X]mulr1 -S1 mulr_sumr ler_sum.
have lo : 1 <= expR (range / T) * (#|K|%:R * A s T j).
  by rewrite -nA -S1 mulr_sumr ler_sum.
set x := range / T in hi lo *; set y := _ * _ in hi lo *.
have e0 : 0 < expR x by exact: expR_gt0.
have y1 : (expR x)^-1 <= y by rewrite -[_^-1]mulr1 ler_pdivr_mull.
rewrite ler_norml ler_add2r hi andbT opprB ler_subr_addr.
apply: le_trans y1; rewrite -expRN addrAC ler_subl_addr.
rewrite (_ : 1 + 1 = (1 - x) + (1 + x)); last by ring.
by rewrite ler_add// expR_ge1D.
Qed.
End Limits.
