(* proofs/decoded.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs logerr joined nonneg.
From attn Require flashround offrow.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row of a cache, in Coq *)
Section Decoding.
Variables (R : realType) (K pieces : finType) (piece : K -> pieces).
Variables (s s' delta V : K -> R) (b D P : nat) (u e m M W : R).
Hypotheses (u_ge0 : 0 <= u) (e_ge0 : 0 <= e) (b_gt0 : (0 < b)%N)
  (scores : forall j, `|s' j - s j| <= delta j)
  (largest : (forall j, s j <= m) /\ exists j, s j = m)
  (sizes : forall j, `|s j| <= M) (size : `|ln (Z s 1)| <= M).
Definition rho j := flashround.r s delta u e b%:R D%:R m j
  + u * (2%:R * M) + (6%:R * u + e) * P%:R.
Hypotheses (most : forall j, rho j <= W) (small : 3%:R * W < 1).

(* the states of pieces, in Coq *)
Variables top l o m_e : pieces -> R.
Hypotheses (attained : forall p, exists2 j, piece j = p & s' j = top p)
  (denominators : forall p, joined s' u e (fun=> 1)
    [set j | piece j == p] (top p) (b + 2 * (D + P)) (D + P) (l p))
  (numerators : forall p, joined s' u e V
    [set j | piece j == p] (top p) (b + 2 * (D + P)) (D + P) (o p))
  (base : forall p, exists2 z, rounds u (top p) z & rounds u z (m_e p)).

(* the state of a cache, in Coq *)
Variables m' l' o' O' h L' : R.
Hypotheses (maximum : exists p, m_e p = m')
  (denominator : joined m_e u (2%:R * u) l [set: pieces] m' (2 * P) P
    l')
  (numerator : joined m_e u (2%:R * u) o [set: pieces] m' (2 * P) P o')
  (quotient : rounds u (o' / l') O') (sum : rounds u (m' + h) L')
  (logarithm : rounds (2%:R * u) (ln l') h).
Definition mean (f : K -> R) := \sum_j A s 1 j * f j.

(* what is small in a cache *)
Let j0 : exists j : K, s j = m. Proof. by case: largest. Qed.
Let delta0 j : 0 <= delta j.
Proof. exact: le_trans (normr_ge0 _) (scores j). Qed.
Let ms j : 0 <= m - s j. Proof. by rewrite subr_ge0; case: largest. Qed.
Let M0 : 0 <= M. Proof. by have [j _] := j0; apply: le_trans (sizes j).
  Qed.
Let b1 : 0 <= b%:R - 1 :> R. Proof. by rewrite subr_ge0 ler1n. Qed.
Lemma rho_split j : rho j = delta j + 6%:R * u + (e + u * (m - s j)
  + u * (b%:R - 1) + 2%:R * u * D%:R + e * D%:R
  + u * (2%:R * M) + (6%:R * u + e) * P%:R).
Proof. by rewrite /rho /flashround.r; ring. Qed.
Let rest j : 0 <= e + u * (m - s j)
  + u * (b%:R - 1) + 2%:R * u * D%:R + e * D%:R
  + u * (2%:R * M) + (6%:R * u + e) * P%:R.
Proof. by have := ms j => mj; nonneg. Qed.
Let delta_W j : delta j + 6%:R * u <= W.
Proof.
by apply: le_trans (most j); rewrite rho_split ler_addl.
Qed.
Let six : 6%:R * u <= W.
Proof.
by have [j _] := j0; apply: le_trans (delta_W j); rewrite ler_addr.
Qed.
Let dW j : delta j <= W.
Proof. by apply: le_trans (delta_W j); rewrite ler_addl; nonneg. Qed.
Let W0 : 0 <= W. Proof. by apply: le_trans six; nonneg. Qed.
Let rest_W f : (forall j, 0 <= rho j - f) -> f <= W.
Proof.
have [j _] := j0 => fE; apply: le_trans (most j).
by rewrite -subr_ge0.
Qed.
Let eW : e <= W.
Proof.
apply: rest_W => j; rewrite rho_split.
rewrite [Y in 0 <= Y](_ : _ = delta j + 6%:R * u + (u * (m - s j)
  + u * (b%:R - 1) + 2%:R * u * D%:R + e * D%:R
  + u * (2%:R * M) + (6%:R * u + e) * P%:R)); last by ring.
by have := ms j => mj; have := delta0 j => dj; nonneg.
Qed.
Let MW : u * (2%:R * M) <= W.
Proof.
apply: rest_W => j; rewrite rho_split.
rewrite [Y in 0 <= Y](_ : _ = delta j + 6%:R * u + (e + u * (m - s j)
  + u * (b%:R - 1) + 2%:R * u * D%:R + e * D%:R
  + (6%:R * u + e) * P%:R)); last by ring.
by have := ms j => mj; have := delta0 j => dj; nonneg.
Qed.
Let W1 : 0 < 1 - W.
Proof.
rewrite subr_gt0; apply: le_lt_trans small.
by rewrite ler_pemull// ler1n.
Qed.
Lemma over y a z : 0 <= a -> a <= W -> y <= z :> R -> 0 <= y ->
  y * (a / (1 - a)) <= z * a / (1 - W).
Proof.
move=> a0 aW yz y0.
have p : 0 < 1 - a.
  by apply: lt_le_trans W1 _; rewrite ler_add2l ler_opp2.
rewrite mulrA ler_pmul//; [by nonneg|by rewrite invr_ge0 ltW| |].
  by rewrite ler_wpmul2r.
by rewrite ler_pinv ?inE ?unitfE ?gt_eqF// ler_add2l ler_opp2.
Qed.

(* the base of a maximum *)
(* maxima *)
Let near_s j : `|s' j - s j| <= W.
Proof. exact: le_trans (scores j) (dW j). Qed.
Let s'_le j : s' j <= s j + W.
Proof.
by have := near_s j; rewrite ler_norml ler_subl_addl => /andP[].
Qed.
Let s'_ge j : s j - W <= s' j.
Proof.
by have := near_s j; rewrite ler_norml ler_subr_addl => /andP[].
Qed.
Definition beta := u * (2%:R * M) + u.
Lemma base_error p : `|m_e p - top p| <= beta.
Proof.
have [z [d du zE] [d' du' mE]] := base p; rewrite mE zE.
have [j _ <-] := attained p.
have sM : `|s' j| <= M + W.
  rewrite -(subrK (s j) (s' j)) addrC.
  exact: le_trans (ler_norm_add _ _) (ler_add (sizes j) (near_s j)).
rewrite (_ : _ - _ = s' j * (d + d' + d * d')); last by ring.
rewrite normrM.
have dd : `|d + d' + d * d'| <= 2%:R * u + u * u.
  apply: le_trans (ler_norm_add _ _) _; rewrite normrM ler_add
    ?ler_pmul//.
  by apply: le_trans (ler_norm_add _ _) _; rewrite mulr_natl mulr2n
    ler_add.
apply: le_trans (ler_pmul (normr_ge0 _) (normr_ge0 _) sM dd) _.
rewrite /beta -subr_ge0 [Y in 0 <= Y](_ : _ = u * (1 - (2%:R * W
  + u * M + u * W))); last by ring.
apply: mulr_ge0 => //; rewrite subr_ge0; apply: le_trans (ltW small).
have uM : u * M <= W / 2%:R.
  by rewrite ler_pdivl_mulr ?ltr0n// -mulrA [M * _]mulrC.
have uw : u * W <= W / 2%:R.
  rewrite mulrC ler_wpmul2l// -[X in _ <= X]mul1r ler_pdivl_mulr
    ?ltr0n//.
  have w1 : W <= 1 by rewrite -subr_ge0 ltW.
  apply: le_trans (le_trans six w1); rewrite mulrC ler_wpmul2r//.
  by rewrite ler_nat.
rewrite [X in _ <= X](_ : _ = 2%:R * W + W / 2%:R + W / 2%:R); last by
  field.
by rewrite !ler_add.
Qed.

(* the maxima of pieces *)
Let u_W : u <= W.
Proof. by apply: le_trans six; rewrite ler_pemull// ler1n. Qed.
Let u2_W : 2%:R * u <= W.
Proof. by apply: le_trans six; rewrite ler_wpmul2r// ler_nat. Qed.
Let u1 : u < 1. Proof. by rewrite -subr_gt0 (lt_le_trans W1)//
  ler_add2l ler_opp2. Qed.
Let u21 : 2%:R * u < 1.
Proof. by rewrite -subr_gt0 (lt_le_trans W1)// ler_add2l ler_opp2. Qed.
Let e1 : e < 1. Proof. by rewrite -subr_gt0 (lt_le_trans W1)//
  ler_add2l ler_opp2. Qed.
Let u2_ge0 : 0 <= 2%:R * u. Proof. by nonneg. Qed.
Let beta_W : beta <= W + u. Proof. by rewrite /beta ler_add2r. Qed.
Let me_le p : m_e p <= top p + beta.
Proof.
by have := base_error p; rewrite ler_norml ler_subl_addl => /andP[].
Qed.
Let me_ge p : top p - beta <= m_e p.
Proof.
by have := base_error p; rewrite ler_norml ler_subr_addl => /andP[].
Qed.
Let sm j : s j <= m. Proof. by case: largest. Qed.
Let six_W : 6%:R * W <= 2%:R.
Proof.
rewrite (_ : 6%:R * W = 2%:R * (3%:R * W)); last by ring.
by rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?ler0n// ltW.
Qed.
Lemma m'_le : m' <= m + W + beta.
Proof.
have [p <-] := maximum; apply: le_trans (me_le p) _; rewrite ler_add2r.
have [j _ <-] := attained p; apply: le_trans (s'_le j) _.
by rewrite ler_add2r.
Qed.
Lemma m'_ge : m - (W + beta) <= m'.
Proof.
have [j jm] := j0; have [me_m' _] := joined_exponents u_ge0 u1 u2_ge0
  u21
  denominator.
have [top_le _] := joined_exponents u_ge0 u1 e_ge0 e1
  (denominators (piece j)).
apply: le_trans (me_m' (piece j) _); last by rewrite inE.
apply: le_trans (me_ge _); rewrite opprD addrA ler_add2r -jm.
by apply: le_trans (s'_ge j) (top_le j _); rewrite inE.
Qed.
Lemma m'_near : `|m' - m| <= 1.
Proof.
have w1 : W + beta <= 1.
  apply: le_trans (ltW small).
  rewrite [X in _ <= X](_ : _ = W + (W + W)); last by ring.
  by rewrite ler_add2l (le_trans beta_W)// ler_add2l.
rewrite ler_norml; apply/andP; split.
  by rewrite ler_subr_addr (le_trans _ m'_ge)// addrC ler_add2l
    ler_opp2.
by rewrite ler_subl_addr (le_trans m'_le)// -addrA addrC ler_add2r.
Qed.

(* the arguments of two mergers *)
Lemma arguments j : (top (piece j) - s' j) + (m' - m_e (piece j))
  <= m - s j + 2%:R.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = (m + W + beta - m')
  + (m_e (piece j) - (top (piece j) - beta)) + (s' j - (s j - W))
  + (2%:R - (W + beta + (W + beta)))); last by ring.
have bW : W + beta <= 3%:R * W.
  rewrite [X in _ <= X](_ : _ = W + (W + W)); last by ring.
  by rewrite ler_add2l (le_trans beta_W)// ler_add2l.
have m'l := m'_le.
apply: addr_ge0; last first.
  rewrite subr_ge0; apply: le_trans (ler_add bW bW) _.
  by rewrite -mulrDl -natrD.
by apply: addr_ge0; [apply: addr_ge0|]; rewrite subr_ge0.
Qed.

(* the exponent of a key in a cache *)
Definition g j := rho j - 2%:R * u.
Lemma exponent j th th' :
  `|th| <= x s' u e (top (piece j))
    (b + 2 * (D + P)) (D + P) j ->
  `|th'| <= x m_e u (2%:R * u) m' (2 * P) P (piece j) ->
  `|s' j - s j + th + (m_e (piece j) - top (piece j)) + th'|
    <= g j / (1 - W).
Proof.
set p := piece j => thE thE'.
have nE : (b + 2 * (D + P))%:R <= b%:R + 2%:R * (D%:R + P%:R) :> R.
  by rewrite -natrD -natrM -natrD.
have kE : (D + P)%:R <= D%:R + P%:R :> R by rewrite -natrD.
have nE' : (2 * P)%:R <= 2%:R * P%:R :> R by rewrite -natrM.
set i := (1 - W)^-1.
have {}thE : `|th| <= u * (top p - s' j)
    + (b%:R + 2%:R * (D%:R + P%:R)) * u * i + (D%:R + P%:R) * e * i.
  by apply: le_trans thE _; rewrite /x !ler_add// over ?ler0n.
have {}thE' : `|th'| <= u * (m' - m_e p) + 2%:R * P%:R * u * i
    + P%:R * (2%:R * u) * i.
  by apply: le_trans thE' _; rewrite /x !ler_add// over ?ler0n.
apply: le_trans (ler_norm_add _ _) (le_trans (ler_add (le_trans
  (ler_norm_add _ _) (ler_add (le_trans (ler_norm_add _ _)
  (ler_add (scores j) thE)) (base_error p))) thE') _).
have i1 : 1 <= i by rewrite invf_ge1// ler_subl_addr ler_addl.
pose a := delta j + u * (m - s j + 2%:R) + beta.
have a0 : 0 <= a.
  have := ms j => mj; have := delta0 j => dj; rewrite /a /beta.
  by nonneg.
have aE : delta j + u * ((top p - s' j) + (m' - m_e p)) + beta <= a * i.
  apply: le_trans (_ : a <= _); last by rewrite ler_pemulr.
  by rewrite /a ler_add2r ler_add2l ler_wpmul2l// arguments.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = (a * i
  - (delta j + u * ((top p - s' j) + (m' - m_e p)) + beta)) + e * i);
  last by rewrite /g rho_split /a /beta /i; ring.
by rewrite addr_ge0 ?subr_ge0// mulr_ge0// (le_trans ler01).
Qed.

(* keys of a piece in a whole row *)
Lemma whole v y c :
  (forall p, joined s' u e v [set j | piece j == p] (top p)
    (b + 2 * (D + P)) (D + P) (y p)) -> joined m_e u (2%:R * u) y [set:
      pieces] m' (2 * P) P c ->
  offrow.off s g m' (1 - W) v c.
Proof.
move=> yE cE.
have [th thE thS] := @fin_all_exists2 pieces (fun=> K -> R) _ _
  (fun p => proj2 (joined_exponents u_ge0 u1 e_ge0 e1 (yE p))).
have [_ [th' thE' ->]] := joined_exponents u_ge0 u1 u2_ge0 u21 cE.
exists (fun j => s' j - s j + th (piece j) j
  + (m_e (piece j) - top (piece j)) + th' (piece j)) => [j|].
  by apply: exponent; [apply: thE; rewrite inE|apply: thE'; rewrite
    inE].
rewrite (partition_big piece xpredT)//=; apply: eq_big => [p|p _].
  by rewrite inE.
rewrite thS mulr_sumr; apply: eq_big => [j|j]; first by rewrite inE.
rewrite inE => /eqP->; rewrite mulrA -expRD; congr (expR _ * _).
by ring.
Qed.

(* the numbers of a row *)
Let some : exists j : K, true. Proof. by have [j _] := j0; exists j.
  Qed.
Let c0 : 0 < 1 - 3%:R * W. Proof. by rewrite subr_gt0. Qed.
Let c_q : 1 - 3%:R * W + 2%:R * W <= 1 - W.
Proof. by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring. Qed.
Let q_1 : 1 - W + W / 2%:R <= 1.
Proof.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = W / 2%:R); last by field.
by rewrite divr_ge0 ?ler0n.
Qed.
Let g0 j : 0 <= g j.
Proof.
rewrite /g rho_split [Y in 0 <= Y](_ : _ = delta j + 4%:R * u
  + (e + u * (m - s j) + u * (b%:R - 1) + 2%:R * u * D%:R + e * D%:R
  + u * (2%:R * M) + (6%:R * u + e) * P%:R)); last by ring.
by have := rest j => rj; have := delta0 j => dj; nonneg.
Qed.
Let g_W j : g j <= W.
Proof. by apply: le_trans (most j); rewrite ler_subl_addr ler_addl;
  nonneg. Qed.
Let A0 j : 0 <= A s 1 j. Proof. exact/ltW/A_gt0. Qed.
Let A1 : \sum_j A s 1 j = 1. Proof. by have [j _] := j0; exact: sum_A
  j. Qed.
Let mean_g : offrow.mean s g = mean rho - 2%:R * u.
Proof.
rewrite /offrow.mean /mean (eq_bigr (fun j => A s 1 j * rho j
  - A s 1 j * (2%:R * u))) => [|j _]; last by rewrite mulrBr.
by rewrite sumrB -mulr_suml A1 mul1r.
Qed.

(* state the rounding of few queries *)
(* proves prop:decode-few *)
Theorem outputs_of_few : (1 - 3%:R * W) * `|O' - mean V| <=
  \sum_j A s 1 j * (rho j + mean rho) * `|V j|.

(* prove the rounding of few queries *)
Proof.
have := offrow.off_outputs some u_ge0 six c0 c_q q_1 g0 g_W
  (whole denominators denominator) (whole numerators numerator)
    quotient.
move=> /le_trans; apply; apply: ler_sum => j _.
rewrite ler_wpmul2r// ler_wpmul2l// mean_g /g -subr_ge0.
by rewrite [Y in 0 <= Y](_ : _ = 3%:R * u); [nonneg|ring].
Qed.

(* state the rounding of their log-sum-exps *)
(* proves prop:decode-few *)
Theorem logarithms_of_few : (1 - 3%:R * W) * `|L' - ln (Z s 1)| <=
  mean rho + 5%:R * u * M.

(* prove the rounding of their log-sum-exps *)
Proof.
have := offrow.off_logarithm some u_ge0 six c0 c_q q_1 g_W
  (whole denominators denominator) m (isT : 1 <= 3)%N logarithm
  (ex_intro2 _ (fun z => rounds u z L') (m' + h) erefl sum).
move=> /le_trans; apply; rewrite mean_g.
have mM : `|m| <= M by have [j <-] := j0.
have Lm : `|ln (Z s 1) - m| <= 2%:R * M.
  apply: le_trans (ler_norm_sub _ _) _.
  by rewrite mulr_natl mulr2n ler_add.
rewrite [X in _ <= X](_ : _ = mean rho - 2%:R * u + 2%:R * u * 1
  + u * (2%:R * (2%:R * M) + M)); last by ring.
apply: ler_add; first by rewrite ler_add2l ler_wpmul2l// m'_near.
by rewrite ler_wpmul2l// mul1r ler_add// ler_wpmul2l.
Qed.
End Decoding.
