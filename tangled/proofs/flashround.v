(* proofs/flashround.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs logerr nonneg.
From mathcomp.classical Require Import mathcomp_extra.
From attn Require merged offrow.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row of attention, in Coq *)
Section Flash.
Variables (R : realType) (K : finType) (s s' delta V : K -> R).
Variables (u e b D m : R).
Hypotheses (u_ge0 : 0 <= u) (e_ge0 : 0 <= e)
  (scores : forall j, `|s' j - s j| <= delta j)
  (largest : (forall j, s j <= m) /\ exists j, s j = m).
Definition r j := delta j + u * (m - s j + b + 3%:R)
  + (2%:R * u + e) * (D + 1).
Definition mean (f : K -> R) := \sum_j A s 1 j * f j.
Variable W : R.
Hypotheses (most : forall j, r j <= W) (small : 3%:R * W < 1).

(* what a kernel computes of a row, in Coq *)
Variables (tree : merged.tree K) (low l' o' O' g h k L' : R).
Let m' := merged.top s' low tree.
Hypotheses (all : merged.keys tree = [set: K])
  (below : forall j, low <= s' j)
  (blocks : forall j, (merged.width tree j)%:R <= b)
  (depth : forall j, (merged.mergers tree j)%:R <= D)
  (denominator : merged.computed s' u e low (fun=> 1) tree l')
  (numerator : merged.computed s' u e low V tree o')
  (quotient : rounds u (o' / l') O')
  (logarithm : rounds (2%:R * u) (ln l') g) (sum : rounds u (m' + g) h)
  (constant : rounds u h k) (product : rounds u k L').

(* what a tree has for its maximum *)
Lemma rises_le (f : K -> R) lo T j : (merged.rises f lo T j <=
  merged.mergers T j)%N.
Proof.
elim: T => [J|a IHa c IHc] //=.
by case: ifP => _; rewrite -addn1 leq_add// leq_b1.
Qed.
Lemma summed_gt0 w (J : {set K}) c : merged.summed u w J c -> (0 <
  #|J|)%N.
Proof.
elim=> {J c} [j|I J a c d _ _ I0 _ _ _]; first by rewrite cards1.
exact: leq_trans I0 (subset_leq_card (subsetUl I J)).
Qed.
Lemma top_attained v T c : merged.computed s' u e low v T c ->
  (forall j, low <= s' j) -> [/\ (forall j, j \in merged.keys T ->
      s' j <= merged.top s' low T /\ (0 < merged.width T j)%N)
    & exists2 j, j \in merged.keys T & s' j = merged.top s' low T].
Proof.
move=> cT lows; elim: cT => {T c} [J p w c _ _ JE|].
  have J0 := summed_gt0 JE.
  split=> [j jJ|]; first by split=> //; exact: le_bigmax_cond.
  have [i iJ] : exists i, i \in J by apply/card_gt0P.
  rewrite /= (bigmax_eq_arg _ _ _ _ iJ) => [|j _]; last exact: lows.
  by case: arg_maxP => // j jJ _; exists j.
move=> A C y z y' z' c m0 _ _ [IA [i iA iE]] _ [IC [j jC jE]] _ _ _.
split=> [i'|] /=.
  rewrite inE le_maxr; case: ifP => [/IA[-> //]|_ /= /IC[-> w]].
  by rewrite orbT.
case: (leP (merged.top s' low A) (merged.top s' low C)) => _.
  by exists j; rewrite // inE jC orbT.
by exists i; rewrite // inE iA.
Qed.
Let shape : (forall j, s' j <= m') /\ exists2 j, s' j = m' & 1 <= b.
Proof.
have [M [j _ jE]] := top_attained denominator below.
have M' i : s' i <= m' /\ (0 < merged.width tree i)%N.
  by apply: M; rewrite all inE.
split=> [i|]; first by case: (M' i).
exists j => //; have [_ w] := M' j; apply: le_trans (blocks j).
by rewrite ler1n.
Qed.

(* errors below their bound *)
Let b_ge1 : 1 <= b. Proof. by case: shape => _ []. Qed.
Let b0 : 0 <= b. Proof. exact: le_trans ler01 b_ge1. Qed.
Let D_ge0 : 0 <= D.
Proof. by have [_ [j _ _]] := shape; exact: le_trans (ler0n _ _) (depth
  j). Qed.
Let largest' : (forall j, s' j <= m') /\ exists j, s' j = m'.
Proof. by case: shape => M [j jm _]; split=> //; exists j. Qed.
Let j0 : exists j : K, s j = m. Proof. by case: largest. Qed.
Lemma delta_ge0 j : 0 <= delta j.
Proof. exact: le_trans (normr_ge0 _) (scores j). Qed.
Let ms j : 0 <= m - s j. Proof. by rewrite subr_ge0; case: largest. Qed.
(* what r holds besides the error of a score *)
Lemma r_split j : r j = delta j + u * (m - s j) + u * (b - 1)
  + 2%:R * u * D + e * D + (6%:R * u + e).
Proof. by rewrite /r; ring. Qed.
Let b1 : 0 <= b - 1. Proof. by rewrite subr_ge0. Qed.
Lemma delta_r j : delta j + (6%:R * u + e) <= r j.
Proof.
rewrite r_split ler_add2r -!addrA ler_addl.
by have := ms j => mj; nonneg.
Qed.
Let W6 : 6%:R * u + e <= W.
Proof.
have [j _] := j0; apply: le_trans (most j); apply: le_trans (delta_r j).
by rewrite ler_addr delta_ge0.
Qed.
Let uW : 6%:R * u <= W. Proof. by apply: le_trans W6; rewrite ler_addl.
  Qed.
Let eW : e <= W.
Proof. by apply: le_trans W6; rewrite ler_addr; nonneg. Qed.
Let W0 : 0 <= W. Proof. exact: le_trans e_ge0 eW. Qed.
Let u_W : u <= W.
Proof.
apply: le_trans uW; rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 5%:R * u);
  by [nonneg|ring].
Qed.
Let dW j : delta j <= W.
Proof.
apply: le_trans (most j); apply: le_trans (delta_r j).
by rewrite ler_addl; nonneg.
Qed.

(* errors of maxima and exponentials *)
Let c0 : 0 < 1 - 3%:R * W. Proof. by rewrite subr_gt0. Qed.
Let W1 : 0 < 1 - W.
Proof.
apply: lt_le_trans c0 _; rewrite ler_add2l ler_opp2 -subr_ge0.
by rewrite [Y in 0 <= Y](_ : _ = 2%:R * W); [nonneg|ring].
Qed.
Lemma over a : 0 <= a -> a <= W -> a / (1 - a) <= a / (1 - W).
Proof.
move=> a0 aW; have p : 0 < 1 - a by apply: lt_le_trans W1 _; rewrite
  ler_add2l ler_opp2.
by rewrite ler_wpmul2l// ler_pinv ?inE ?unitfE ?gt_eqF// ler_add2l
  ler_opp2.
Qed.
Lemma m'_le : m' <= m + W.
Proof.
have [_ [i <-]] := largest'; have [M _] := largest.
have := scores i; rewrite ler_norml => /andP[_]; rewrite ler_subl_addl =>
  h1.
by apply: le_trans h1 _; rewrite ler_add.
Qed.
Lemma m'_ge : m - W <= m'.
Proof.
have [_ [i <-]] := largest; have [M _] := largest'; apply: le_trans (M i).
have := scores i; rewrite ler_norml => /andP[+ _].
by rewrite ler_subr_addl; apply: le_trans; rewrite ler_add2l ler_opp2.
Qed.

(* the exponent of a key is off *)
Definition x j := u * (m' - s' j) + (b + 2%:R * D) * (u / (1 - u))
  + (D + 1) * (e / (1 - e)).
Definition y j := (r j - 4%:R * u) / (1 - W).
Lemma exponents j t : `|t| <= x j -> `|s' j - s j + t| <= y j.
Proof.
move=> tx; apply: le_trans (ler_norm_add _ _) _.
apply: le_trans (ler_add (scores j) tx) _.
have w1 : 2%:R * W <= 1.
  apply: le_trans (ltW small); rewrite -subr_ge0.
  by rewrite [Y in 0 <= Y](_ : _ = W); [nonneg|ring].
have arg : u * (m' - s' j) <= u * (m - s j) + u.
  rewrite -{3}[u]mulr1 -mulrDr ler_wpmul2l//.
  apply: le_trans (_ : m - s j + 2%:R * W <= _); last by rewrite
    ler_add2l.
  have -> : m - s j + 2%:R * W = (m + W) + (W - s j) by ring.
  rewrite ler_add ?m'_le// ler_oppl opprB.
  have := scores j; rewrite ler_norml => /andP[lo _].
  rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = (s' j - s j + delta j) + (W -
    delta j));
    last by ring.
  by rewrite addr_ge0// ?subr_ge0// -[delta j]opprK subr_ge0.
have q1 : 1 <= (1 - W)^-1 by rewrite invf_ge1// ler_subl_addr ler_addl.
have bd0 : 0 <= b + 2%:R * D by nonneg.
have d10 : 0 <= D + 1 by nonneg.
have one a : 0 <= a -> a <= a / (1 - W) by move=> a0; rewrite ler_pemulr.
apply: le_trans (_ : delta j / (1 - W) + ((u * (m - s j) + u) / (1 - W)
  + (b + 2%:R * D) * (u / (1 - W)) + (D + 1) * (e / (1 - W))) <= _).
  apply: ler_add; first by rewrite one ?delta_ge0.
  apply: ler_add; first apply: ler_add.
  - by apply: le_trans arg (one _ _); have := ms j => mj; nonneg.
  - by rewrite ler_wpmul2l// over.
  - by rewrite ler_wpmul2l// over.
rewrite le_eqVlt /y; apply/orP; left; apply/eqP; rewrite /r.
by set i := (1 - W)^-1; ring.
Qed.

(* exponents of numerator and denominator *)
Let u1 : u < 1. Proof. by apply: le_lt_trans u_W _; rewrite -subr_gt0.
  Qed.
Let e1 : e < 1. Proof. by apply: le_lt_trans eW _; rewrite -subr_gt0.
  Qed.
Lemma exponents_of v c : merged.computed s' u e low v tree c ->
  exists2 th : K -> R, forall j, `|th j| <= x j &
    c = \sum_j expR (s' j - m' + th j) * v j.
Proof.
move=> /(merged.merged_exponents u_ge0 u1 e1)[th thE ->]; exists th =>
  [j|].
  have jt : j \in merged.keys tree by rewrite all inE.
  apply: le_trans (thE j jt) _; rewrite /merged.x /x -/m' -!addrA
    ler_add2l.
  have rD : (merged.rises s' low tree j)%:R <= D.
    by apply: le_trans (depth j); rewrite ler_nat rises_le.
  have g0 a : 0 <= a -> a < 1 -> 0 <= a / (1 - a).
    by move=> a0 a1; rewrite divr_ge0// subr_ge0 ltW.
  apply: ler_add; rewrite ler_wpmul2r ?g0//; last by rewrite -addn1
    natrD ler_add2r.
  by rewrite !natrD mulr_natl mulr2n addrA !ler_add.
by rewrite all; apply: eq_bigl => j; rewrite inE.
Qed.

(* exponents that are off by less than $r$ *)
Let less j := r j - 4%:R * u.
Lemma off_of v c : merged.computed s' u e low v tree c ->
  offrow.off s less m' (1 - W) v c.
Proof.
move=> /exponents_of[th thE ->].
exists (fun j => s' j - s j + th j) => [j|]; first exact: exponents.
by apply: eq_bigr => j _; congr (expR _ * _); ring.
Qed.
Let less_ge0 j : 0 <= less j.
Proof.
rewrite /less r_split [Y in 0 <= Y](_ : _ = delta j + u * (m - s j)
  + u * (b - 1) + 2%:R * u * D + e * D + (2%:R * u + e)); last by ring.
by have := delta_ge0 j; have := ms j => mj dj; nonneg.
Qed.
Let less_W j : less j <= W.
Proof.
by apply: le_trans (most j); rewrite ler_subl_addr ler_addl; nonneg.
Qed.
Let some : exists j : K, true. Proof. by have [j _] := j0; exists j. Qed.
Let mean_less : offrow.mean s less = mean r - 4%:R * u.
Proof.
rewrite /offrow.mean /mean (eq_bigr (fun j => A s 1 j * r j
  - A s 1 j * (4%:R * u))) => [|j _]; last by rewrite mulrBr.
have [j _] := j0; rewrite sumrB -mulr_suml.
by rewrite (_ : \sum_k A s 1 k = 1) ?mul1r//; exact: sum_A j.
Qed.
Let c_q : 1 - 3%:R * W + 2%:R * W <= 1 - W.
Proof. by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring. Qed.
Let q_1 : 1 - W + W / 2%:R <= 1.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = W / 2%:R); last by field.
by rewrite divr_ge0 ?ler0n.
Qed.

(* state the rounding of outputs *)
(* proves thm:flash-forward *)
Theorem outputs_rounding : (1 - 3%:R * W) * `|O' - mean V| <=
  \sum_j A s 1 j * (r j + mean r) * `|V j|.

(* prove the rounding of outputs *)
Proof.
have := offrow.off_outputs some u_ge0 uW c0 c_q q_1 less_ge0 less_W
  (off_of denominator) (off_of numerator) quotient.
move=> /le_trans; apply; apply: ler_sum => j _.
have := less_ge0 j => lj; rewrite ler_wpmul2r// ler_wpmul2l//.
  exact/ltW/A_gt0.
rewrite mean_less /less -subr_ge0.
by rewrite [Y in 0 <= Y](_ : _ = 7%:R * u); [nonneg|ring].
Qed.

(* state the rounding of their logarithms *)
(* proves thm:flash-forward *)
Theorem logarithms_rounding : (1 - 3%:R * W) * `|L' - ln (Z s 1)| <=
  mean r + u * (2%:R * `|m| + 5%:R * `|ln (Z s 1)|).

(* prove the rounding of their logarithms *)
Proof.
have last3 : offrow.chain u 3 (m' + g) L'.
  by exists k => //; exists h => //; exists (m' + g).
have := offrow.off_logarithm some u_ge0 uW c0 c_q q_1 less_W
  (off_of denominator) m (isT : 3 <= 3)%N logarithm last3.
move=> /le_trans; apply; rewrite mean_less; set L := ln _.
have mm : `|m' - m| <= 2%:R.
  apply: le_trans (_ : W <= _).
    rewrite ler_norml ler_subr_addr ler_subl_addr addrC [W + m]addrC.
    by rewrite m'_ge m'_le.
  apply: le_trans (_ : 1 <= _); last by rewrite ler1n.
  by rewrite -subr_ge0 ltW.
have Lm : `|L - m| <= `|L| + `|m| by exact: ler_norm_sub.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = 2%:R * u * (2%:R - `|m' - m|)
  + 2%:R * u * (`|L| + `|m| - `|L - m|)); last by ring.
by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0//; nonneg.
Qed.
End Flash.
