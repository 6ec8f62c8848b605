(* proofs/storedweights.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* weights with errors, in Coq *)
Section RoundedWeights.
Variables (R : realFieldType) (K : finType) (A A_bar delta : K -> R).
Variables (best : K) (eps : R).
Hypotheses (A_ge0 : forall n, 0 <= A n) (A1 : \sum_n A n = 1).
Hypotheses (best_gt0 : 0 < A best).
Hypothesis small : forall n, `|delta n| <= eps.

(* the backward pass of stored weights, in Coq *)
Definition P q := \sum_n A n * `|A_bar q - A_bar n|.
(* a row's S_bar from weights a, in the gauge c *)
Definition backward (a : K -> R) c q :=
  a q * ((A_bar q - c) - \sum_n a n * (A_bar n - c)).
Definition stored n := A n * (1 + delta n).
Definition exact q := A q * (A_bar q - \sum_n A n * A_bar n).

(* a gauge is free with exact weights *)
Lemma gauge_free c q : backward A c q = exact q.
Proof.
rewrite /backward /exact; congr (_ * _); under eq_bigr do rewrite mulrBr.
by rewrite sumrB -mulr_suml A1 mul1r opprB addrA subrK.
Qed.

(* state the error of the gauge-fixed form *)
(* proves prop:rounded-weights *)
Theorem gauge_fixed_form q :
  `|backward stored (A_bar best) q - exact q| <=
  eps * A q * P q * (1 + (1 + eps) * (1 + (A best)^-1)).

(* write the error of the gauge-fixed form *)
Proof.
have e0 : 0 <= eps by exact: le_trans (normr_ge0 _) (small best).
rewrite -(gauge_free (A_bar best)).
pose z n := A_bar n - A_bar best; pose D' := \sum_n A n * z n.
pose D1 := \sum_n A n * (delta n * z n); pose zeta := \sum_n A n * `|z n|.
have E : backward stored (A_bar best) q - backward A (A_bar best) q =
    A q * (delta q * (z q - D') - (1 + delta q) * D1).
  rewrite /backward -/(z q) -/D' /stored.
  have -> : \sum_n A n * (1 + delta n) * (A_bar n - A_bar best) = D' + D1.
    by rewrite -big_split; apply: eq_bigr => n _; rewrite /= -/(z n); ring.
  ring.

(* bound the error of the gauge-fixed form *)
have P0 : 0 <= P q by apply: sumr_ge0 => n _; rewrite mulr_ge0.
have zD : `|z q - D'| <= P q.
  have -> : z q - D' = \sum_n A n * (A_bar q - A_bar n).
    rewrite /D' -[z q]mul1r -A1 mulr_suml -sumrB; apply: eq_bigr => n _;
      rewrite /z; ring.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => n _.
  by rewrite normrM ger0_norm.
have zq : `|z q| <= P q / A best.
  rewrite ler_pdivl_mulr// mulrC /P (bigD1 best)//= ler_addl sumr_ge0// => n _.
  by rewrite mulr_ge0.
have zetaP : zeta <= P q * (1 + (A best)^-1).
  rewrite mulrDr mulr1; apply: le_trans (ler_add (lexx (P q)) zq).
  rewrite -[`|z q|]mul1r -A1 mulr_suml /P /zeta -big_split /=; apply: ler_sum =>
    n _.
  rewrite -mulrDr ler_wpmul2l//; have -> : z n = (z q) - (A_bar q - A_bar n)
    by rewrite /z; ring.
  by rewrite [X in _ <= X]addrC ler_norm_sub.
have D1P : `|D1| <= eps * zeta.
  apply: le_trans (ler_norm_sum _ _ _) _; rewrite mulr_sumr; apply: ler_sum =>
    n _.
  by rewrite !normrM (ger0_norm (A_ge0 n)) mulrCA ler_wpmul2r ?mulr_ge0.
rewrite E normrM ger0_norm// -!mulrA [X in _ <= X]mulrCA ler_wpmul2l//.
apply: le_trans (ler_norm_sub _ _) _; rewrite !normrM.
have d1 : `|1 + delta q| <= 1 + eps.
  by apply: le_trans (ler_norm_add _ _) _; rewrite normr1 ler_add2l.
apply: le_trans (_ : eps * P q + (1 + eps) * (eps * (P q * (1 + (A best)^-1)))
  <= _).
  apply: ler_add; first by rewrite ler_pmul.
  by rewrite ler_pmul// (le_trans D1P)// ler_wpmul2l.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; move: (P q) (A best)^-1 => p i;
  ring.
Qed.

(* state the error of the textbook form *)
(* proves prop:rounded-weights *)
Theorem textbook_form q :
  backward stored 0 q - backward stored (A_bar best) q =
  - (1 + delta q) * A q * A_bar best * (\sum_n A n * delta n).

(* prove the error of the textbook form *)
Proof.
have S : \sum_n stored n = 1 + \sum_n A n * delta n.
  by rewrite -[X in X + _]A1 -big_split; apply: eq_bigr => n _;
    rewrite /stored /=; ring.
have E c : \sum_n stored n * (A_bar n - c) = \sum_n stored n * A_bar n
  - (1 + \sum_n A n * delta n) * c.
  by rewrite -S mulr_suml -sumrB; apply: eq_bigr => n _; rewrite mulrBr.
rewrite /backward !E /stored; move: (\sum_n _ * A_bar n) (\sum_n A n * _) =>
  x y; ring.
Qed.
End RoundedWeights.

(* a row that saturates, in Coq *)
Section Saturation.
Variables (R : realFieldType) (K : finType) (A x : K -> R) (c : R).
Hypotheses (A_ge0 : forall n, 0 <= A n) (A1 : \sum_n A n = 1).
Hypothesis largest : forall n, 2%:R * A n * (1 - A n) <= c.
Definition F q n := (q == n)%:R * A q - A q * A n.

(* the absolute sum of a row of F *)
Lemma row_sum q : \sum_n `|F q n| = 2%:R * A q * (1 - A q).
Proof.
have A_le1 n : A n <= 1 by rewrite -A1 (bigD1 n)//= ler_addl sumr_ge0.
rewrite (bigD1 q)//= {1}/F eqxx mul1r ger0_norm; last first.
  by rewrite subr_ge0 ler_pimulr.
rewrite (eq_bigr (fun n => A q * A n)) => [|n nq]; last first.
  by rewrite /F eq_sym (negbTE nq) mul0r sub0r normrN ger0_norm// mulr_ge0.
rewrite -mulr_sumr; have -> : \sum_(n | n != q) A n = 1 - A q.
  by rewrite -A1 [X in _ = X - _](bigD1 q)//= addrC addKr.
ring.
Qed.

Lemma F_sym q n : F q n = F n q.
Proof. by rewrite /F eq_sym; case: eqP => [->//|_];
  rewrite !mul0r [A q * _]mulrC. Qed.

(* state the bound of saturation *)
(* proves prop:saturation *)
Theorem saturation :
  \sum_q (\sum_n F q n * x n) ^+ 2 <= c ^+ 2 * \sum_n x n ^+ 2.

(* prove the bound of saturation *)
Proof.
have A_le1 n : A n <= 1 by rewrite -A1 (bigD1 n)//= ler_addl sumr_ge0.
have row q : \sum_n `|F q n| <= c by rewrite row_sum.
have step q : (\sum_n F q n * x n) ^+ 2 <= c * \sum_n `|F q n| * x n ^+ 2.
  apply: le_trans (_ : (\sum_n `|F q n|) * (\sum_n `|F q n| * x n ^+ 2) <= _);
    last first.
    by rewrite ler_wpmul2r// sumr_ge0// => n _; rewrite mulr_ge0 ?sqr_ge0.
  apply: le_trans (_ : (\sum_n `|F q n| * `|x n|) ^+ 2 <= _).
    rewrite -[X in X <= _]real_normK ?num_real// ler_expn2r ?nnegrE ?sumr_ge0//.
      by move=> n _; rewrite mulr_ge0.
    apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => n _;
      by rewrite normrM.
  rewrite expr2 !big_distrlr /= -subr_ge0 -sumrB.
  under eq_bigr do rewrite -sumrB.
  pose g n m := `|F q n| * (`|F q m| * x m ^+ 2) - `|F q n| * `|x n| *
    (`|F q m| * `|x m|).
  have gg n m : 0 <= g n m + g m n.
    have -> : g n m + g m n = `|F q n| * `|F q m| * (`|x n| - `|x m|) ^+ 2.
      have e i : x i ^+ 2 = `|x i| ^+ 2 by rewrite real_normK ?num_real.
      rewrite /g !e; move: (`|F q n|) (`|F q m|) (`|x n|) (`|x m|) => a b y z.
      by ring.
    by apply: mulr_ge0; [apply: mulr_ge0; exact: normr_ge0 | exact: sqr_ge0].
  rewrite -(@pmulr_rge0 _ 2%:R) ?ltr0n// mulr_natl mulr2n
    {2}exchange_big -big_split /=.
  apply: sumr_ge0 => n _; rewrite -big_split /=; apply: sumr_ge0 => m _.
  exact: gg.
apply: le_trans (ler_sum _ (fun q _ => step q)) _;
  rewrite -mulr_sumr expr2 -mulrA.
have c0 : K -> 0 <= c by move=> k; apply: le_trans (largest k);
  rewrite !mulr_ge0 ?ler0n ?subr_ge0.
have [k _|none] := pickP (fun _ : K => true); last by rewrite !big_pred0 ?mulr0.
rewrite ler_wpmul2l ?(c0 k)// exchange_big mulr_sumr; apply: ler_sum => n _ /=.
by rewrite -mulr_suml ler_wpmul2r ?sqr_ge0//; under eq_bigr do rewrite F_sym.
Qed.
End Saturation.

(* values and their gradient, in Coq *)
Section MeanFlow.
Variables (R : fieldType) (nq nk c : nat) (A : 'M[R]_(nq, nk))
  (O_bar : 'M[R]_(nq, c)).
Definition V_bar := A^T *m O_bar.

(* state that values conserve the sum *)
(* proves prop:mean-flow *)
Theorem values_conserve_the_sum : (forall i, \sum_j A i j = 1) ->
  forall a, \sum_j V_bar j a = \sum_i O_bar i a.

(* prove that values conserve the sum *)
Proof.
move=> A1 a; under eq_bigr do rewrite mxE; rewrite exchange_big;
  apply: eq_bigr => i _ /=.
by under eq_bigr do rewrite mxE; rewrite -mulr_suml A1 mul1r.
Qed.

(* state that uniform weights average *)
(* proves prop:mean-flow *)
Theorem uniform_layer_averages : (forall i j, A i j = nk%:R^-1) ->
  forall j a, V_bar j a = nk%:R^-1 * \sum_i O_bar i a.

(* prove that uniform weights average *)
Proof.
by move=> Au j a; rewrite mxE mulr_sumr; apply: eq_bigr => i _;
  rewrite mxE Au.
Qed.

(* state that queries do not act *)
Definition weights (e : R -> R) beta (S : 'M[R]_(nq, nk)) i j :=
  e (beta * S i j) / \sum_l e (beta * S i l).

(* proves prop:mean-flow *)
Theorem scores_do_not_act e S i j : e 0 != 0 ->
  weights e 0 S i j = nk%:R^-1.

(* prove that queries do not act *)
Proof.
move=> e0; rewrite /weights mul0r (eq_bigr (fun=> e 0)) => [|l _]; last first.
  by rewrite mul0r.
by rewrite sumr_const card_ord -[e 0 *+ nk]mulr_natl invfM mulrCA mulfV// mulr1.
Qed.
End MeanFlow.
