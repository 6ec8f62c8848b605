(* proofs/retrieval.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From attn Require Import prelude metric gibbs hopfield.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* scores and weights of patterns, in Coq *)
Section Retrieval.
Variables (R : realType) (d : nat) (P : finType) (k : P -> 'rV[R]_d).
Variables (g : 'M[R]_d) (beta : R).
Hypotheses (gm : metric g) (beta_gt0 : 0 < beta).
Implicit Types x : 'rV[R]_d.
Local Notation s := (score k g).
Local Notation w := (weights k g beta).

(* odds of two patterns *)
Let b0 : 0 < beta^-1. Proof. by rewrite invr_gt0. Qed.
Lemma w_gt0 x j : 0 < w x j. Proof. exact: A_gt0. Qed.
Lemma sum_w x (j : P) : \sum_l w x l = 1. Proof. exact: sum_A j. Qed.
Lemma odds x i j : w x j = w x i * expR (- (beta * (s x i - s x j))).
Proof.
rewrite /weights /A mulrAC -expRD !invrK; congr (expR _ / _); ring.
Qed.
Lemma norm_sum (I : finType) (F : I -> 'rV[R]_d) (Q : pred I) :
  norm g (\sum_(i | Q i) F i) <= \sum_(i | Q i) norm g (F i).
Proof.
elim/big_ind2: _ => // [|u a v b ua vb].
  by rewrite /norm /inner mul0mx mul0mx mxE sqrtr0.
by apply: le_trans (norm_triangle gm _ _) _; rewrite ler_add.
Qed.

(* state that one step retrieves *)
(* proves thm:retrieval *)
Theorem retrieval x i D Di :
  (forall j, j != i -> D <= inner g (k i - k j) x) ->
  (forall j, norm g (k j - k i) <= Di) ->
  1 - w x i <= (#|P| - 1)%:R * expR (- (beta * D)) /\
  norm g (update k g beta x - k i) <= Di * (#|P| - 1)%:R * expR
    (- (beta * D)).

(* prove that one step retrieves *)
Proof.
move=> sep dist; have w1 : w x i <= 1.
  rewrite -(sum_w x i) (bigD1 i)//= ler_addl; apply: sumr_ge0 => j _;
    exact/ltW/w_gt0.
have wj j : j != i -> w x j <= expR (- (beta * D)).
  move=> ji; rewrite (odds x i j);
    apply: (@le_trans _ _ (1 * expR (- (beta * (s x i - s x j))))).
    by rewrite ler_wpmul2r// ltW// expR_gt0.
  rewrite mul1r ler_expR ler_opp2 ler_pmul2l//.
  have := sep j ji; rewrite /score -scaleN1r innerDl innerZl mulN1r.
  by [].
have rest : 1 - w x i = \sum_(j | j != i) w x j.
  by rewrite -(sum_w x i) (bigD1 i)//= addrAC subrr add0r.
have cnt : \sum_(j | j != i) expR (- (beta * D)) = (#|P| - 1)%:R * expR
  (- (beta * D)).
  rewrite sumr_const mulr_natl; congr (_ *+ _).
  by rewrite subn1 -(cardC1 i); apply: eq_card => j; rewrite !inE.
have E : 1 - w x i <= (#|P| - 1)%:R * expR (- (beta * D)).
  by rewrite rest -cnt; apply: ler_sum => j; exact: wj.
have D0 : 0 <= Di by apply: le_trans (dist i); exact: norm_ge0.
split=> //; apply: (@le_trans _ _ (Di * (1 - w x i))); last by rewrite -mulrA
  ler_wpmul2l.
have -> : update k g beta x - k i = \sum_(j | j != i) w x j *: (k j - k i).
  have -> : k i = \sum_j w x j *: k i by rewrite -scaler_suml sum_w ?scale1r.
  rewrite /update -sumrB (bigD1 i)//= subrr add0r; apply: eq_bigr => j _.
  by rewrite scalerBr -scaler_suml sum_w ?scale1r.
apply: le_trans (norm_sum _ _) _; rewrite rest mulr_sumr;
  apply: ler_sum => j _.
by rewrite normZ// ger0_norm ?(ltW (w_gt0 _ _))// mulrC
  ler_wpmul2r// ltW// w_gt0.
Qed.

(* a group of patterns, in Coq *)
Section Groups.
Variables (G : pred P) (x : 'rV[R]_d) (D : R) (i0 : P).
Hypotheses (G_i0 : G i0) (sep : forall i j, G i -> ~~ G j ->
  D <= inner g (k i - k j) x).
Definition rho := \sum_(j | ~~ G j) w x j.
(* the update of the patterns of a set alone *)
Definition update_of (Q : pred P) :=
  (\sum_(j | Q j) expR (beta * s x j))^-1 *: \sum_(j | Q j) expR
    (beta * s x j) *: k j.

(* partition functions of a group *)
Lemma weightE j : w x j = expR (beta * s x j) / \sum_l expR (beta * s x l).
Proof.
by rewrite /weights /A /Z; congr (_ / _); [|apply: eq_bigr => l _];
  rewrite invrK mulrC.
Qed.
Let zG := \sum_(j | G j) expR (beta * s x j).
Let zr := \sum_(j | ~~ G j) expR (beta * s x j).
Let zG0 : 0 < zG.
Proof.
rewrite /zG (bigD1 i0)//= ltr_paddr ?expR_gt0//.
by apply: sumr_ge0 => j _; exact/ltW/expR_gt0.
Qed.
Let zr0 : 0 <= zr. Proof. by apply: sumr_ge0 => j _; exact/ltW/expR_gt0. Qed.
Let Zs : \sum_l expR (beta * s x l) = zG + zr. Proof.
by rewrite (bigID G). Qed.
Let Z0 : 0 < zG + zr. Proof. by rewrite ltr_paddr. Qed.
Let rhoE : rho = zr / (zG + zr).
Proof. by rewrite /rho; under eq_bigr do rewrite weightE Zs;
  rewrite -mulr_suml. Qed.

(* state that groups act alone *)
(* proves prop:groups *)
Theorem groups :
  rho <= #|[pred j | ~~ G j]|%:R / #|G|%:R * expR (- (beta * D)) /\
  update k g beta x = (1 - rho) *: update_of G + rho *:
    update_of (predC G).

(* prove that groups act alone *)
Proof.
split.
  apply: (@le_trans _ _ (zr / zG)).
    rewrite rhoE ler_wpmul2l// ler_pinv ?ler_addl// inE unitfE gt_eqF//=.
  have c0 : 0 < #|G|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists i0.
  have pair i j : G i -> ~~ G j -> expR (beta * s x j)
    <= expR (beta * s x i) * expR (- (beta * D)).
    move=> Gi Gj; rewrite -expRD ler_expR -mulrBr ler_pmul2l// ler_subr_addr
      -ler_subr_addl.
    by have := sep Gi Gj; rewrite -scaleN1r innerDl innerZl mulN1r.
  (* each of the c (M - c) pairs, summed *)
  have : \sum_(i | G i) \sum_(j | ~~ G j) expR (beta * s x j) <=
         \sum_(i | G i) \sum_(j | ~~ G j) expR (beta * s x i) * expR
           (- (beta * D)).
    by apply: ler_sum => i Gi; apply: ler_sum => j; exact: pair.
  rewrite -/zr sumr_const; under [X in _ <= X]eq_bigr do rewrite sumr_const
    -mulr_natl.
  rewrite -mulr_sumr -mulr_suml -/zG -[zr *+ _]mulr_natl => h.
  rewrite ler_pdivr_mulr// -(ler_pmul2l c0); apply: le_trans h _.
  set e := expR _; set c := #|G|%:R in c0 *; set r := _%:R.
  rewrite (_ : c * (r / c * e * zG) = r * (zG * e))//; field;
    exact: lt0r_neq0.
have n1 : zG + zr != 0 by rewrite gt_eqF.
have r1 : 1 - rho = zG / (zG + zr) by rewrite rhoE; field.
rewrite /update (bigID G) /=; congr (_ + _).
  rewrite /update_of -/zG r1 scalerA mulrAC mulfV ?gt_eqF// mul1r scaler_sumr.
  by apply: eq_bigr => j _; rewrite scalerA weightE Zs mulrC.
have [z0|z0] := eqVneq zr 0.
  rewrite rhoE z0 mul0r scale0r big1// => j Gj.
  have := expR_gt0 (beta * s x j); rewrite lt0r => /andP[/eqP n _]; case: n.
  apply: (psumr_eq0P (F := fun j => expR (beta * s x j)) (P := predC G)) =>
    //= l _.
  exact/ltW/expR_gt0.
rewrite /update_of rhoE scalerA mulrAC -/zr mulfV// mul1r scaler_sumr.
by apply: eq_bigr => j _; rewrite scalerA weightE Zs mulrC.
Qed.

(* averages are near *)
Lemma near_average (Q : pred P) u Di : 0 < \sum_(j | Q j) expR (beta * s x j) ->
  (forall j, Q j -> norm g (k j - u) <= Di) -> norm g (update_of Q - u) <= Di.
Proof.
set z := \sum_(j | Q j) _ => z0 h.
have -> : update_of Q - u =
    z^-1 *: \sum_(j | Q j) expR (beta * s x j) *: (k j - u).
  rewrite /update_of -/z; under [in RHS]eq_bigr do rewrite scalerBr.
  by rewrite sumrB -scaler_suml scalerBr scalerA mulVf ?gt_eqF// scale1r.
rewrite normZ// ger0_norm ?invr_ge0 ?(ltW z0)// ler_pdivr_mull//.
apply: le_trans (norm_sum _ _) _; rewrite mulr_suml; apply: ler_sum => j Qj.
have e0 := expR_gt0 (beta * s x j).
by rewrite normZ// ger0_norm ?(ltW e0)// ler_wpmul2l ?(ltW e0)// h.
Qed.

(* state that a group is near the whole *)
(* proves prop:groups *)
Theorem group_is_near Di : (forall j l, norm g (k j - k l) <= Di) ->
  norm g (update k g beta x - update_of G) <= rho * Di.

(* prove that a group is near the whole *)
Proof.
move=> near; have sym u v : norm g (u - v) = norm g (v - u).
  by rewrite -opprB -scaleN1r normZ// normrN1 mul1r.
have [_ ->] := groups; set uG := update_of G; set uR := update_of _.
have -> : (1 - rho) *: uG + rho *: uR - uG = rho *: (uR - uG).
  rewrite scalerBl scale1r scalerBr addrAC [uG - _]addrC addrK.
  by rewrite addrC.
have r0 : 0 <= rho by apply: sumr_ge0 => j _; exact/ltW/w_gt0.
rewrite normZ// ger0_norm//; have [z0|zn] := eqVneq zr 0.
  by rewrite rhoE z0 !mul0r.
rewrite ler_wpmul2l// sym; apply: near_average => // i Gi; rewrite sym.
have zr_gt0 : 0 < zr by rewrite lt0r zn zr0.
by apply: near_average => [|j _]; [exact: zr_gt0 | exact: near].
Qed.
End Groups.

(* state that the energy is bounded below *)
(* proves thm:convergence *)
Theorem energy_below x rad (j0 : P) : (forall j, norm g (k j) <= rad) ->
  - (2%:R^-1 * rad ^+ 2) - beta^-1 * ln #|P|%:R <= energy k g beta x.

(* prove that the energy is bounded below *)
Proof.
move=> h; have r0 : 0 <= rad by apply: le_trans (h j0); exact: norm_ge0.
have n0 : 0 < #|P|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists j0.
have sc j : s x j <= rad * norm g x.
  apply: le_trans (ler_norm _) _; apply: le_trans (cauchy_schwarz gm _ _).1 _.
  by rewrite ler_wpmul2r ?norm_ge0.
have Zle : Z (s x) beta^-1 <= #|P|%:R * expR (beta * (rad * norm g x)).
  rewrite mulr_natl -sumr_const; apply: ler_sum => j _.
  by rewrite ler_expR invrK mulrC ler_pmul2l.
have lnZ : ln (Z (s x) beta^-1) <= ln #|P|%:R + beta * (rad * norm g x).
  rewrite -[X in _ + X](@expK R) -lnM ?posrE ?expR_gt0//.
  by rewrite ler_ln ?posrE ?mulr_gt0 ?expR_gt0// (Z_gt0 _ _ j0).
have q0 : 0 <= 2%:R^-1 * (norm g x - rad) ^+ 2 by rewrite mulr_ge0 ?sqr_ge0
  ?invr_ge0 ?ler0n.
rewrite /energy -norm_sqr// mulNr ler_subl_addr.
have h1 := ler_wpmul2l (ltW b0) lnZ.
rewrite -subr_ge0; apply: le_trans q0 _; rewrite -subr_ge0.
rewrite (_ : _ - _ = beta^-1 * (ln #|P|%:R + beta * (rad * norm g x))
  - beta^-1 * ln (Z (s x) beta^-1)).
  by rewrite subr_ge0.
by rewrite sqrrB; field; rewrite gt_eqF.
Qed.

(* state that updates lie in the hull *)
(* proves thm:convergence *)
Theorem in_the_hull x (j0 : P) : exists a : P -> R,
  [/\ forall j, 0 < a j, \sum_j a j = 1 & update k g beta x
    = \sum_j a j *: k j].

(* prove that updates lie in the hull *)
Proof.
by exists (w x); split=> //; [exact: w_gt0 | exact: sum_w j0].
Qed.

(* state that all steps together are bounded *)
(* proves thm:convergence *)
Theorem steps_bounded x0 (inf : R) (p0 : P) :
  (forall x, inf <= energy k g beta x) ->
  forall n, \sum_(t < n) norm g (iter t.+1 (update k g beta) x0
    - iter t (update k g beta) x0) ^+ 2
    <= 2 * (energy k g beta x0 - inf).

(* prove that all steps together are bounded *)
Proof.
move=> h n; apply: le_trans (steps_summable k p0 gm beta_gt0 x0 n) _.
by rewrite ler_wpmul2l ?ler0n// ler_add2l ler_opp2 h.
Qed.
End Retrieval.
