(* proofs/loweredrow.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import rounding.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row of given weights, in Coq *)
Section LoweredRow.
Variables (R : realFieldType) (K : finType) (A A_bar : K -> R).
Variables (best q : K) (u sigma h : R).
Hypotheses (u_ge0 : 0 <= u) (h_ge0 : 0 <= h).
Hypotheses (A_ge0 : forall k, 0 <= A k) (A_le1 : A q <= 1).
Hypotheses (best_gt0 : 0 < A best) (A1 : `|\sum_k A k - 1| <= sigma).
Let n := #|K|.
Hypothesis few : 2%:R * (n.+4%:R * u) <= 1.

(* the three steps as they are computed, in Coq *)
Definition z k := A_bar k - A_bar best.
Variables (z' : K -> R) (D' Y : R).
Hypothesis z_rounded : forall k, `|z' k - z k| <= u * `|z k|.
Hypothesis D_rounded : `|D' - \sum_k A k * z' k| <=
  gamma u n * (\sum_k A k * `|z' k|) + (1 + gamma u n) * (n%:R * h).
Hypothesis Y_rounded : `|Y - A q * (z' q - D')| <=
  gamma u 2 * (A q * `|z' q - D'|) + h.

(* how constants of roundings add up *)
Lemma few_lt k : (k <= n.+4)%N -> 2%:R * (k%:R * u) <= 1.
Proof.
move=> kn; apply: le_trans few; rewrite ler_wpmul2l ?ler0n// ler_wpmul2r//.
by rewrite ler_nat.
Qed.
Lemma few_lt1 k : (k <= n.+4)%N -> k%:R * u < 1.
Proof.
move=> /few_lt h2; apply: le_lt_trans (_ : 2%:R^-1 < 1).
  by rewrite -(ler_pmul2l (ltr0n R 2)) mulfV ?pnatr_eq0.
by rewrite invf_lt1 ?ltr0n// ltr1n.
Qed.
Lemma gamma_ge0 k : (k <= n.+4)%N -> 0 <= gamma u k.
Proof.
move=> kn; rewrite /gamma divr_ge0 ?mulr_ge0 ?ler0n// subr_ge0 ltW//.
exact: few_lt1.
Qed.
Lemma gammaD j k : (j + k <= n.+4)%N ->
  gamma u j + gamma u k + gamma u j * gamma u k <= gamma u (j + k).
Proof.
move=> jk; have j1 := few_lt1 (leq_trans (leq_addr _ _) jk).
have k1 := few_lt1 (leq_trans (leq_addl _ _) jk); have jk1 := few_lt1 jk.
rewrite -(ler_add2l 1).
have -> : 1 + (gamma u j + gamma u k + gamma u j * gamma u k) =
  (1 + gamma u j) * (1 + gamma u k) by ring.
rewrite !gammaE// -invfM ler_pinv ?inE ?unitfE ?gt_eqF ?mulr_gt0 ?subr_gt0//.
rewrite -subr_ge0 natrD.
have -> : (1 - j%:R * u) * (1 - k%:R * u) - (1 - (j%:R + k%:R) * u) =
  j%:R * u * (k%:R * u) by ring.
by rewrite !mulr_ge0 ?ler0n.
Qed.
Lemma gamma_le j k : (j <= k)%N -> (k <= n.+4)%N -> gamma u j <= gamma u k.
Proof.
move=> jk kn; rewrite -(subnKC jk); have kn' : (j + (k - j) <= n.+4)%N
  by rewrite subnKC.
have g1 : 0 <= gamma u j by apply: gamma_ge0; exact: leq_trans kn.
have g2 : 0 <= gamma u (k - j).
  by apply: gamma_ge0; exact: leq_trans (leq_subr _ _) kn.
apply: le_trans (gammaD kn'); rewrite -addrA ler_addl; apply: addr_ge0 => //.
exact: mulr_ge0.
Qed.
Lemma u_gamma : u <= gamma u 1.
Proof.
have u1 : 1%:R * u < 1 by exact: few_lt1.
rewrite /gamma mul1r ler_pdivl_mulr; last by rewrite subr_gt0 -[u]mul1r.
by rewrite ler_pimulr// ler_subl_addr ler_addl.
Qed.

(* the sizes of differences *)
Let P := \sum_k A k * `|A_bar q - A_bar k|.
Let D := \sum_k A k * z k.
Let zeta := \sum_k A k * `|z k|.
Lemma z_best : `|z q| <= P / A best.
Proof.
rewrite ler_pdivl_mulr// mulrC /P (bigD1 best)//= ler_addl sumr_ge0// => k _.
by rewrite mulr_ge0.
Qed.
Lemma sigma_ge0 : 0 <= sigma. Proof. exact: le_trans A1. Qed.
Lemma zeta_le : zeta <= P + (1 + sigma) * (P / A best).
Proof.
have s1 : \sum_k A k <= 1 + sigma.
  by rewrite -ler_subl_addl; apply: le_trans A1; exact: ler_norm.
apply: le_trans (_ : P + (\sum_k A k) * `|z q| <= _); last first.
  rewrite ler_add2l; apply: ler_pmul => //; last exact: z_best.
  by rewrite sumr_ge0.
rewrite mulr_suml /P /zeta -big_split /=; apply: ler_sum => k _.
rewrite -mulrDr ler_wpmul2l//.
have -> : z k = z q - (A_bar q - A_bar k) by rewrite /z; ring.
by rewrite [X in _ <= X]addrC ler_norm_sub.
Qed.
Lemma zD_le : `|z q - D| <= P + sigma * (P / A best).
Proof.
have -> : z q - D = \sum_k A k * (A_bar q - A_bar k)
    + (1 - \sum_k A k) * z q.
  have -> : \sum_k A k * (A_bar q - A_bar k) = (\sum_k A k) * z q - D.
    by rewrite /D mulr_suml -sumrB; apply: eq_bigr => k _; rewrite /z; ring.
  ring.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => k _.
  by rewrite normrM ger0_norm.
rewrite normrM distrC; apply: ler_pmul => //; exact: z_best.
Qed.

(* the error of a computed mean *)
Lemma D_error : `|D' - D| <= gamma u n.+1 * zeta
  + (1 + gamma u n) * (n%:R * h).
Proof.
have g0 : 0 <= gamma u n by apply: gamma_ge0; rewrite -addn4 leq_addr.
have -> : D' - D = (D' - \sum_k A k * z' k) + \sum_k A k * (z' k - z k).
  have -> : \sum_k A k * (z' k - z k) = \sum_k A k * z' k - D.
    by rewrite /D -sumrB; apply: eq_bigr => k _; rewrite mulrBr.
  ring.
have e1 : `|\sum_k A k * (z' k - z k)| <= u * zeta.
  apply: le_trans (ler_norm_sum _ _ _) _; rewrite mulr_sumr; apply: ler_sum =>
    k _; by rewrite normrM ger0_norm// mulrCA ler_wpmul2l.
have e2 : \sum_k A k * `|z' k| <= (1 + u) * zeta.
  rewrite mulr_sumr; apply: ler_sum => k _; rewrite mulrCA ler_wpmul2l//.
  rewrite -[z' k](subrK (z k)) mulrDl mul1r addrC.
  apply: le_trans (ler_norm_add _ _) _; by rewrite ler_add2l.
have zeta0 : 0 <= zeta by rewrite sumr_ge0// => k _; rewrite mulr_ge0.
apply: le_trans (ler_norm_add _ _) _.
apply: le_trans (ler_add D_rounded e1) _; rewrite addrAC ler_add2r.
apply: le_trans (_ : gamma u n * ((1 + u) * zeta) + u * zeta <= _).
  by rewrite ler_add2r ler_wpmul2l.
have -> : gamma u n * ((1 + u) * zeta) + u * zeta =
  (gamma u n + u + gamma u n * u) * zeta by ring.
rewrite ler_wpmul2r// -addn1; apply: le_trans (gammaD _);
  last by rewrite -addn4 leq_add2l.
have h1 := u_gamma.
by rewrite ler_add// ?ler_add2l// ler_wpmul2l.
Qed.

(* state the accuracy of the gauge-fixed form *)
(* proves thm:gauge *)
Theorem lowered_row :
  let P := \sum_k A k * `|A_bar q - A_bar k| in
  let S_bar := A q * (z q - \sum_k A k * z k) in
  `|Y - S_bar| <= gamma u n.+4 * (1 + (1 + sigma) / A best) * (A q * P)
    + n.+1%:R * (2%:R * h).

(* the error of a computed row *)
Proof.
cbv zeta; rewrite -/D -/P.
set g := gamma u 2; set g1 := gamma u n.+1; set gn := gamma u n.
set Pa := P / A best.
have g0 : 0 <= g by exact: gamma_ge0.
have g10 : 0 <= g1 by apply: gamma_ge0; rewrite !ltnS -addn3 leq_addr.
have gn0 : 0 <= gn by apply: gamma_ge0; rewrite -addn4 leq_addr.
have P0 : 0 <= P by rewrite sumr_ge0// => k _; rewrite mulr_ge0.
have Pa0 : 0 <= Pa by rewrite divr_ge0// ltW.
have s0 := sigma_ge0.
set E := u * `|z q| + `|D' - D|.
have zd : `|z' q - D'| <= `|z q - D| + E.
  have -> : z' q - D' = (z q - D) + ((z' q - z q) - (D' - D)) by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
  apply: le_trans (ler_norm_sub _ _) _; by rewrite ler_add2r.
have step : `|Y - A q * (z q - D)| <=
    A q * (g * `|z q - D| + (1 + g) * E) + h.
  have -> : Y - A q * (z q - D) = (Y - A q * (z' q - D'))
    + A q * ((z' q - z q) - (D' - D)) by ring.
  apply: le_trans (ler_norm_add _ _) _.
  have e : `|A q * ((z' q - z q) - (D' - D))| <= A q * E.
    rewrite normrM ger0_norm// ler_wpmul2l//.
    by apply: le_trans (ler_norm_sub _ _) _; rewrite ler_add2r.
  apply: le_trans (ler_add Y_rounded e) _; rewrite addrAC ler_add2r.
  rewrite -/g mulrCA -mulrDr ler_wpmul2l//.
  apply: le_trans (_ : g * (`|z q - D| + E) + E <= _).
    by rewrite ler_add2r ler_wpmul2l.
  by rewrite mulrDr -addrA mulrDl mul1r [E + _]addrC.

(* put sizes in the place of errors *)
apply: le_trans step _; set L := (1 + gn) * (n%:R * h).
have EE : E <= u * Pa + g1 * (P + (1 + sigma) * Pa) + L.
  rewrite /E -addrA; apply: ler_add; first by rewrite ler_wpmul2l ?z_best.
  apply: le_trans D_error _; rewrite ler_add2r ler_wpmul2l//; exact: zeta_le.
apply: le_trans (_ : A q * (g * (P + sigma * Pa) + (1 + g) *
  (u * Pa + g1 * (P + (1 + sigma) * Pa) + L)) + h <= _).
  have h1 := zD_le; have g1' : 0 <= 1 + g by exact: addr_ge0 ler01 g0.
  rewrite ler_add2r; apply: ler_wpmul2l => //; apply: ler_add.
    by apply: ler_wpmul2l.
  by apply: ler_wpmul2l.
have -> : A q * (g * (P + sigma * Pa) + (1 + g) *
    (u * Pa + g1 * (P + (1 + sigma) * Pa) + L)) + h =
  (A q * P) * (g + g1 + g * g1)
  + (A q * Pa) * (sigma * g + (1 + g) * (u + (1 + sigma) * g1))
  + (A q * ((1 + g) * L) + h) by ring.

(* bound the factors of a computed row *)
have G4 : g + g1 + g * g1 <= gamma u n.+4.
  apply: le_trans (_ : gamma u (2 + n.+1) <= _).
    by apply: gammaD; rewrite addSn addSn add0n.
  by apply: gamma_le; rewrite // addSn addSn add0n.
have G5 : sigma * g + (1 + g) * (u + (1 + sigma) * g1) <=
    (1 + sigma) * gamma u n.+4.
  have ug : u + g1 <= gamma u n.+2.
    rewrite -[n.+2]addn1; apply: le_trans (gammaD _);
      last by rewrite addn1 -addn4 -addn2 leq_add2l.
    rewrite [u + _]addrC -/g1.
    apply: le_trans (_ : g1 + gamma u 1 <= _).
      by rewrite ler_add2l u_gamma.
    by rewrite ler_addl mulr_ge0// gamma_ge0.
  apply: le_trans (_ : (1 + sigma) * (g + (1 + g) * (u + g1)) <= _).
    rewrite -subr_ge0.
    have -> : (1 + sigma) * (g + (1 + g) * (u + g1)) -
      (sigma * g + (1 + g) * (u + (1 + sigma) * g1)) =
      g + (1 + g) * (sigma * u) by ring.
    by rewrite addr_ge0// mulr_ge0 ?mulr_ge0// addr_ge0 ?ler01.
  apply: ler_wpmul2l; first exact: addr_ge0 ler01 s0.
  apply: le_trans (_ : g + (1 + g) * gamma u n.+2 <= _).
    by rewrite ler_add2l ler_wpmul2l// addr_ge0 ?ler01.
  have -> : g + (1 + g) * gamma u n.+2 = g + gamma u n.+2 + g * gamma u n.+2
    by ring.
  by rewrite -[n.+4]/(2 + n.+2)%N; exact: gammaD.

(* add what underflows in a row *)
have -> : gamma u n.+4 * (1 + (1 + sigma) / A best) * (A q * P) =
  (A q * P) * gamma u n.+4 + (A q * Pa) * ((1 + sigma) * gamma u n.+4).
  by rewrite /Pa; ring.
have AP0 : 0 <= A q * P by rewrite mulr_ge0.
have APa0 : 0 <= A q * Pa by rewrite mulr_ge0.
apply: ler_add; first by rewrite ler_add// ler_wpmul2l.
have two : (1 + g) * (1 + gn) <= 2%:R.
  have -> : (1 + g) * (1 + gn) = 1 + (g + gn + g * gn) by ring.
  have n2 : (2 + n <= n.+4)%N by rewrite -addn4 addnC leq_add2l.
  rewrite [2%:R]mulr2n ler_add2l; apply: le_trans (gammaD n2) _.
  rewrite /gamma ler_pdivr_mulr ?subr_gt0 ?few_lt1// mul1r ler_subr_addr.
  by rewrite -mulr2n -[X in X <= _]mulr_natl few_lt.
have -> : n.+1%:R * (2%:R * h) = 2%:R * (n%:R * h) + 2%:R * h.
  by rewrite -[n.+1]addn1 natrD; ring.
apply: ler_add; last by rewrite ler_pemull// ler1n.
have -> : A q * ((1 + g) * L) = A q * ((1 + g) * (1 + gn)) * (n%:R * h).
  by rewrite /L; ring.
rewrite ler_wpmul2r ?mulr_ge0 ?ler0n// -[2%:R]mul1r; apply: ler_pmul => //.
by rewrite mulr_ge0// addr_ge0 ?ler01.
Qed.
End LoweredRow.
