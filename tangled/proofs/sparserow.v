(* proofs/sparserow.v: tangled from chapters/06a-weights-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import rounding nonneg.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* rounding to nearest, in Coq *)
Section Sparsemax.
Variables (R : realFieldType) (K : finType) (u : R) (fl : R -> R).
Definition n : R := #|K|%:R.
Hypotheses (u_ge0 : 0 <= u) (few : 8%:R * n ^+ 2 * u <= 1).
Hypothesis near : forall y, exists2 a, `|a| <= u & fl y = y * (1 + a).
Hypothesis ordered : forall y y', y <= y' -> fl y <= fl y'.
Hypothesis rounded : forall y, fl (fl y) = fl y.
Hypothesis odd : forall y, fl (- y) = - fl y.
Hypothesis counts : forall m, (m <= #|K|)%N -> fl m%:R = m%:R.

(* scores of sparsemax, in Coq *)
Variables (row : K -> R) (top : K) (T tau : R).
Hypotheses (T_gt0 : 0 < T) (T_rounded : fl T = T).
Hypothesis best : forall j, row j <= row top.
Definition s j := (row j - row top) / T.
Definition z j := fl (fl (row j - row top) / T).
Definition weight (y : R) := Num.max y 0.
Hypothesis tau_root : \sum_j weight (s j - tau) = 1.

(* a computed step of Newton, in Coq *)
Fixpoint added (ys : seq R) (f lost : R) :=
  if ys is y :: ys' then
    added ys' (fl (f + y)) (fl (lost + (f + y - fl (f + y))))
  else (f, lost).
Definition above t := #|[pred j | t < z j]|%:R : R.
Definition excess t :=
  let sums := added [seq fl (z j - t) | j <- enum K & t < z j] (-1) 0
  in fl (sums.1 + sums.2).
Definition next t := fl (t + fl (excess t / above t)).

(* thresholds that the loop reaches, in Coq *)
Inductive reached : R -> Prop :=
| Start : reached (-1)
| Step t : reached t -> t < next t -> reached (next t).

(* follow the errors of sparsemax *)

(* what rounding to nearest leaves alone *)
Lemma fl0 : fl 0 = 0. Proof. exact: (counts (leq0n _)). Qed.
Lemma card_gt0 : (0 < #|K|)%N. Proof. by apply/card_gt0P; exists top. Qed.
Lemma fl1 : fl 1 = 1. Proof. exact: (counts card_gt0). Qed.
Lemma flN1 : fl (-1) = -1. Proof. by rewrite odd fl1. Qed.
Lemma s_le0 j : s j <= 0.
Proof. by rewrite /s mulr_le0_ge0 ?subr_le0 ?invr_ge0 ?(ltW T_gt0). Qed.
Lemma z_top : z top = 0. Proof. by rewrite /z subrr fl0 mul0r fl0. Qed.
Lemma z_rounded j : exists a b,
  [/\ `|a| <= u, `|b| <= u & z j = s j * (1 + a) * (1 + b)].
Proof.
have [a au E] := near (row j - row top).
have [b bu F] := near (fl (row j - row top) / T).
exists a, b; split=> //; rewrite /z F E /s; ring.
Qed.
Lemma z_low j : s j <= -1 -> z j <= -1.
Proof.
rewrite /s /z ler_pdivr_mulr// mulN1r => /ordered; rewrite odd T_rounded => h.
by rewrite -flN1; apply: ordered; rewrite ler_pdivr_mulr// mulN1r.
Qed.

(* a step with its errors *)
Definition omega := n * u * gamma u #|K|.
Definition step w t d := exists delta zeta a b,
  [/\ forall j, `|delta j| <= u, `|zeta| <= w, `|a| <= u, `|b| <= u &
   d * above t = (\sum_(j | t < z j) (z j - t) * (1 + delta j) - 1
      + zeta) * (1 + a) * (1 + b)].

(* sizes of small numbers *)
Lemma n_ge1 : 1 <= n.
Proof. by rewrite /n ler1n; apply/card_gt0P; exists top. Qed.
Let n0 : 0 <= n. Proof. exact: le_trans ler01 n_ge1. Qed.
Lemma n2_ge1 : 1 <= n ^+ 2. Proof. exact: exprn_ege1 n_ge1. Qed.
Lemma nu8 : 8%:R * (n * u) <= 1.
Proof.
apply: le_trans few; rewrite -[8%:R * n ^+ 2 * u]mulrA; apply:
  ler_wpmul2l; first exact: ler0n.
by apply: ler_wpmul2r => //; rewrite expr2 ler_pemull// n_ge1.
Qed.
Lemma u8 : 8%:R * u <= 1.
Proof. by apply: le_trans nu8; rewrite ler_wpmul2l ?ler0n//
  ler_pemull// n_ge1. Qed.
Lemma nu1 : n * u < 1.
Proof.
rewrite -(ltr_pmul2l (_ : 0 < 8%:R :> R)) ?ltr0n// mulr1.
by apply: le_lt_trans nu8 _; rewrite ltr1n.
Qed.
Lemma u1 : u < 1.
Proof. by apply: le_lt_trans nu1; rewrite ler_pemull// n_ge1. Qed.
Let U := n ^+ 2 * u ^+ 2.
Lemma u2_U : u ^+ 2 <= U.
Proof. by rewrite /U ler_pemull ?sqr_ge0// n2_ge1. Qed.
Lemma omega_ge0 : 0 <= omega.
Proof.
rewrite /omega /gamma -/n; apply: mulr_ge0; first exact: mulr_ge0.
by rewrite divr_ge0 ?mulr_ge0// subr_ge0 ltW// nu1.
Qed.
(* 7 omega <= 8 U *)
Lemma omega_U : 7%:R * omega <= 8%:R * U.
Proof.
rewrite /omega /gamma -/n /U; set x := n * u.
have x0 : 0 <= x by exact: mulr_ge0.
have x1 : 0 < 1 - x by rewrite subr_gt0 nu1.
rewrite [x * (x / _)]mulrA [7%:R * (_ / _)]mulrA ler_pdivr_mulr//
  -subr_ge0.
rewrite [X in 0 <= X](_ : _ = x ^+ 2 * (1 - 8%:R * x)); last by
  rewrite /x; ring.
by rewrite mulr_ge0 ?sqr_ge0// subr_ge0 nu8.
Qed.

(* cut scores off at minus one *)
Let cut x : R := Num.max x (-1).
Let e := 2%:R * u + u ^+ 2.
Let e0 : 0 <= e. Proof. by rewrite /e; nonneg. Qed.
Lemma weight_near x y : `|weight x - weight y| <= `|x - y|.
Proof.
rewrite /weight; wlog xy : x y / y <= x.
  move=> H; case: (leP y x) => [/H//|/ltW/H].
  by rewrite distrC [X in _ <= X]distrC.
have h : Num.max y 0 <= Num.max x 0.
  by rewrite le_maxl !le_maxr xy lexx orbT.
rewrite !ger0_norm ?subr_ge0// ler_subl_addr le_maxl; apply/andP; split.
  by rewrite -[X in X <= _](subrK y) ler_add2l le_maxr lexx.
by rewrite addr_ge0 ?subr_ge0// le_maxr lexx orbT.
Qed.
Lemma cut_near x y : `|cut x - cut y| <= `|x - y|.
Proof.
have E a : cut a = weight (a + 1) - 1.
  rewrite /cut /weight; case: (leP a (-1)) => h.
    by rewrite max_r ?sub0r// -ler_subr_addr sub0r.
  by rewrite max_l ?addrK// -ler_subl_addr sub0r ltW.
rewrite !E; set a := weight _; set b := weight _.
have -> : a - 1 - (b - 1) = a - b by ring.
by apply: le_trans (weight_near _ _) _; rewrite opprD addrACA subrr
  addr0.
Qed.
Lemma cut_weight x y : -1 <= y -> weight (cut x - y) = weight (x - y).
Proof.
move=> y1; rewrite /cut /weight; case: (leP x (-1)) => h //.
rewrite !max_r// subr_le0//; exact: le_trans y1.
Qed.
Lemma factor_gt0 (a : R) : `|a| <= u -> 0 < 1 + a.
Proof.
rewrite ler_norml => /andP[lo _]; rewrite -(opprK 1) -ltr_subl_addl
  sub0r opprK.
by apply: lt_le_trans lo; rewrite ltr_opp2 u1.
Qed.
Lemma z_le0 j : z j <= 0.
Proof.
have [a [b [au bu ->]]] := z_rounded j.
apply: mulr_le0_ge0; last by rewrite ltW// factor_gt0.
by apply: mulr_le0_ge0; [exact: s_le0 | rewrite ltW// factor_gt0].
Qed.
Lemma s_top : s top = 0. Proof. by rewrite /s subrr mul0r. Qed.
Lemma cut_error j : `|cut (z j) - cut (s j)| <= e.
Proof.
case: (leP (s j) (-1)) => h.
  by rewrite /cut !max_r ?subrr ?normr0// z_low.
apply: le_trans (cut_near _ _) _; have [a [b [au bu ->]]] := z_rounded
  j.
have -> : s j * (1 + a) * (1 + b) - s j = s j * (a + b + a * b) by ring.
rewrite normrM -[e]mul1r; apply: ler_pmul => //.
  by rewrite ler0_norm ?s_le0// ler_oppl ltW.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
  by apply: le_trans (ler_norm_add _ _) _; rewrite mulr_natl mulr2n
    ler_add.
by rewrite normrM expr2 ler_pmul.
Qed.

(* find what the root bounds *)
Lemma weight_ge0 x : 0 <= weight x. Proof. by rewrite le_maxr lexx
  orbT. Qed.
Lemma weight_id x : 0 <= x -> weight x = x. Proof. by move=> x0;
  rewrite /weight max_l. Qed.
Lemma weight_0 x : x <= 0 -> weight x = 0. Proof. by move=> x0;
  rewrite /weight max_r. Qed.
Lemma weight_le x y : x <= y -> weight x <= weight y.
Proof. by move=> xy; rewrite /weight le_maxl !le_maxr xy lexx orbT. Qed.
Lemma tau_ge : -1 <= tau.
Proof.
rewrite leNgt; apply/negP => t1.
suff : 1 < \sum_j weight (s j - tau) by rewrite tau_root ltxx.
rewrite (bigD1 top)//= s_top sub0r ltr_paddr//.
  by rewrite sumr_ge0// => j _; exact: weight_ge0.
rewrite weight_id; first by rewrite ltr_oppr.
by rewrite oppr_ge0 ltW// (lt_trans t1)// ltrN10.
Qed.
Lemma tau_lt0 : tau < 0.
Proof.
rewrite ltNge; apply/negP => t0'.
suff : \sum_j weight (s j - tau) = 0.
  by rewrite tau_root => /eqP; rewrite oner_eq0.
apply: big1 => j _; rewrite weight_0// subr_le0.
exact: le_trans (s_le0 j) t0'.
Qed.
Let F (x : R) : R := \sum_j weight (cut (z j) - x).
Lemma F_right : F (tau + e) <= 1.
Proof.
rewrite -tau_root; apply: ler_sum => j _.
rewrite -[weight (s j - tau)]cut_weight ?tau_ge//; apply: weight_le.
rewrite opprD addrA [_ - e]addrAC ler_add2r ler_subl_addr
  -ler_subl_addl.
exact: le_trans (ler_norm _) (cut_error _).
Qed.
Lemma F_left : 1 <= F (tau - e).
Proof.
rewrite -tau_root; apply: ler_sum => j _.
rewrite -[weight (s j - tau)]cut_weight ?tau_ge//; apply: weight_le.
rewrite opprB [e - tau]addrC addrA [_ + e]addrAC ler_add2r
  -ler_subl_addl.
by apply: le_trans (ler_norm _) _; rewrite distrC; exact: cut_error.
Qed.

(* the last two steps with their errors *)
Section LastSteps.
Variables (t0 d t d' : R).
Definition stepped := t = -1 \/ [/\ -1 <= t0 < 0, -1 <= t,
  step (above t0 * omega) t0 d, 0 <= d
  & exists2 c, `|c| <= u & t = (t0 + d) * (1 + c)].
Definition ended := [/\ step omega t d',
  forall j, t < z j -> t + d' < z j
  & exists2 c, `|c| <= u & (t + d') * (1 + c) <= t].

(* bound the threshold from above *)
Lemma above_ge1 x : x < 0 -> 1 <= above x.
Proof.
by move=> x0; rewrite /above ler1n; apply/card_gt0P; exists top;
  rewrite inE z_top.
Qed.
Lemma above_le x : above x <= n.
Proof. by rewrite /above /n ler_nat max_card. Qed.
Lemma sum_above x c : \sum_(j | x < z j) c = above x * c :> R.
Proof. by rewrite sumr_const mulr_natl. Qed.
Let X x := \sum_(j | x < z j) (z j - x).
Lemma X_ge0 x : 0 <= X x.
Proof. by apply: sumr_ge0 => j h; rewrite subr_ge0 ltW. Qed.
Lemma X_le x : -1 <= x -> X x <= above x * - x.
Proof.
move=> x1; rewrite -sum_above; apply: ler_sum => j _.
by rewrite ler_subl_addr addNr z_le0.
Qed.
Lemma deltas x delta : (forall j, `|delta j| <= u) ->
  `|\sum_(j | x < z j) (z j - x) * (1 + delta j) - X x| <= u * X x.
Proof.
move=> du; rewrite /X -sumrB mulr_sumr.
apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => j h.
have -> : (z j - x) * (1 + delta j) - (z j - x) = delta j * (z j - x)
  by ring.
have zx : 0 <= z j - x by rewrite subr_ge0 ltW.
by rewrite normrM [`|z j - x|]ger0_norm// ler_wpmul2r.
Qed.
Lemma two_factors (a b y : R) : `|a| <= u -> `|b| <= u -> 0 <= y ->
  (1 - u) ^+ 2 * y <= y * (1 + a) * (1 + b) <= (1 + u) ^+ 2 * y.
Proof.
have bd c : `|c| <= u -> [/\ 0 <= 1 - u, 1 - u <= 1 + c, 0 <= 1 + c &
  1 + c <= 1 + u].
  move=> cu; have := cu; rewrite ler_norml !ler_add2l => /andP[-> ->].
  by rewrite subr_ge0 ltW ?u1// ltW// factor_gt0.
move=> /bd[v0 la a0 ha] /bd[_ lb b0 hb] y0.
have -> : y * (1 + a) * (1 + b) = (1 + a) * (1 + b) * y by ring.
by rewrite !ler_wpmul2r ?expr2 ?ler_pmul.
Qed.
Lemma over : stepped -> [/\ -1 <= t, t < 0 & t - tau - u * tau <=
  e + u * e + 3%:R * u + u ^+ 2 + (1 + u) * omega].
Proof.
have w0 := omega_ge0; have := tau_ge; have := tau_lt0 => tn t1.
case=> [->|[/andP[t01 t00] t_1 [delta [zeta [a [b [du zu au bu dE]]]]]
  d0 [c cu tE]]].
  split; rewrite ?ltrN10//.
  rewrite -subr_ge0; have -> : e + u * e + 3%:R * u + u ^+ 2 + (1 + u)
    * omega
    - (- 1 - tau - u * tau) = (1 + u) * (tau + 1) + 2%:R * u + e + u *
      e + u ^+ 2
     + (1 + u) * omega by ring.
  have : 0 <= tau + 1 by rewrite -ler_subl_addr sub0r.
  by move=> h; nonneg.
have k1 := above_ge1 t00; set k := above t0 in zu dE k1.
have k0 : 0 < k by exact: lt_le_trans k1.
pose y := (X t0 - 1) / k.
have kn : k <= n by exact: above_le.
(* the tangent's root *)
have tangent : y <= tau + e - t0.
  rewrite ler_pdivr_mulr// ler_subl_addr; apply: le_trans (_ : F (tau
    + e) + (tau + e - t0) * k <= _);
    last by rewrite addrC ler_add2l F_right.
  rewrite (_ : X t0 = \sum_(j | t0 < z j) (z j - (tau + e)) + (tau + e
    - t0) * k).
    rewrite ler_add2r /F [X in _ <= X](bigID [pred j | t0 < z j])/=.
      apply: ler_paddr; first by apply: sumr_ge0 => j _; exact:
        weight_ge0.
      apply: ler_sum => j _; apply: le_trans (_ : cut (z j) - (tau +
        e) <= _).
        by rewrite ler_add2r /cut le_maxr lexx.
      by rewrite /weight le_maxr lexx.
  by rewrite mulrC -sum_above /X -big_split /=; apply: eq_bigr => j _;
    ring.
(* the computed step *)
pose y' := y + u + omega.
have B : X t0 - 1 + u * X t0 + k * omega <= k * y'.
  have -> : k * y' = X t0 - 1 + u * k + k * omega.
    by rewrite /y' /y; field; rewrite gt_eqF.
  rewrite ler_add2r ler_add2l ler_wpmul2l ?ler0n//; apply: le_trans
    (X_le t01) _.
  by rewrite ler_pimulr ?(ltW k0)// ler_oppl.
have dy : d <= (1 + u) ^+ 2 * y'.
  have h := deltas t0 du; set Y := \sum_(j | _) _ in dE h.
  have base : Y - 1 + zeta <= k * y'.
    apply: le_trans B; apply: ler_add; last exact: le_trans (ler_norm
      _) zu.
    rewrite addrAC ler_add2r -ler_subl_addl; exact: le_trans (ler_norm
      _) h.
  have base0 : 0 <= Y - 1 + zeta.
    have : 0 <= d * k by rewrite mulr_ge0// ltW.
    by rewrite dE !pmulr_lge0 ?factor_gt0.
  have /andP[_ hi] := two_factors au bu base0.
  rewrite -(ler_pmul2r k0) dE; apply: le_trans hi _.
  by rewrite -[X in _ <= X]mulrA [y' * k]mulrC ler_wpmul2l ?sqr_ge0.
have y0 : 0 <= y'.
  by have := le_trans d0 dy; rewrite pmulr_rge0// exprn_gt0//
    ltr_paddr// ltr01.
(* it ends below zero *)
have nk : n^-1 <= k^-1 by rewrite lef_pinv ?posrE// (lt_le_trans k0).
have yt : y <= - t0 - n^-1.
  rewrite /y ler_pdivr_mulr// mulrBl ler_sub//.
    by rewrite mulrC; exact: X_le.
  by rewrite -(ler_pmul2l k0) in nk; rewrite mulrC (le_trans nk)//
    mulfV// gt_eqF.
have low : t0 + d < 0.
  apply: (@le_lt_trans _ _ (t0 + (1 + u) ^+ 2 * y')); first by rewrite
    ler_add2l.
  have w_u : 7%:R * omega <= u.
    apply: le_trans omega_U _; rewrite /U.
    have -> : 8%:R * (n ^+ 2 * u ^+ 2) = 8%:R * n ^+ 2 * u * u by ring.
    by rewrite ler_pimull.
  have w_u' : omega <= u.
    by apply: le_trans w_u; rewrite ler_pemull// ler1n.
  have inv : 8%:R * u <= n^-1.
    rewrite -[X in _ <= X]mul1r ler_pdivl_mulr ?(lt_le_trans ltr01
      n_ge1)//.
    by rewrite -mulrA [u * n]mulrC nu8.
  have y2 : y' <= 2%:R.
    rewrite /y' [2%:R]mulr2n; apply: le_trans (_ : (- t0 - n^-1) + u +
      u <= _).
      by apply: ler_add w_u'; rewrite ler_add2r.
    rewrite -addrA; apply: ler_add.
      apply: le_trans (_ : - t0 <= _); last by rewrite ler_oppl.
      by rewrite ler_subl_addr ler_addl invr_ge0.
    by apply: le_trans u8; rewrite -mulr2n -[u *+ 2]mulr_natl
      ler_wpmul2r// ler_nat.
  have : (1 + u) ^+ 2 * y' <= y' + 5%:R * u.
    have -> : (1 + u) ^+ 2 * y' = y' + u * ((2%:R + u) * y') by ring.
    rewrite ler_add2l mulrC ler_wpmul2r//.
    apply: le_trans (_ : (2%:R + u) * 2%:R <= _).
      by apply: ler_wpmul2l => //; apply: addr_ge0 => //; exact: ler0n.
    have -> : (2%:R + u) * 2%:R = 4%:R + 2%:R * u by ring.
    have -> : 5%:R = 4%:R + 1 :> R by ring.
    by rewrite ler_add2l; apply: le_trans u8; rewrite ler_wpmul2r//
      ler_nat.
  rewrite -(ler_add2l t0) => h; apply: le_lt_trans h _.
  rewrite /y'; apply: (@le_lt_trans _ _ (t0 + (- t0 - n^-1 + u + u +
    5%:R * u))).
    by rewrite ler_add2l ler_add2r; apply: ler_add w_u'; rewrite
      ler_add2r.
  have -> : t0 + (- t0 - n^-1 + u + u + 5%:R * u) = 7%:R * u - n^-1 by
    ring.
  rewrite subr_lt0 -(ltr_pmul2l (_ : 0 < 8%:R)) ?ltr0n//.
  have -> : 8%:R * (7%:R * u) = 7%:R * (8%:R * u) by ring.
  apply: le_lt_trans (ler_wpmul2l (ler0n _ 7) inv) _.
  by rewrite ltr_pmul2r ?invr_gt0 ?(lt_le_trans ltr01 n_ge1)// ltr_nat.
(* the last rounding *)
have tb : t <= t0 + u + (1 + u) * y'.
  apply: le_trans (_ : (t0 + d) * (1 - u) <= _).
    rewrite tE ler_wnmul2l ?(ltW low)// ler_add2l.
    by move: cu; rewrite ler_norml => /andP[].
  have -> : (t0 + d) * (1 - u) = t0 + - t0 * u + (1 - u) * d by ring.
  apply: ler_add.
    rewrite ler_add2l -[X in _ <= X]mul1r ler_wpmul2r// ler_oppl//.
  have v0 : 0 <= 1 - u by rewrite subr_ge0 ltW// u1.
  apply: le_trans (ler_wpmul2l v0 dy) _; rewrite mulrA ler_wpmul2r//.
  rewrite -subr_ge0; have -> : 1 + u - (1 - u) * (1 + u) ^+ 2 = u ^+ 2
    * (1 + u) by ring.
  by nonneg.
split=> //.
  by rewrite tE nmulr_rlt0// factor_gt0.
rewrite -subr_ge0.
have yu : y <= tau + e + 1.
  by apply: le_trans tangent _; rewrite ler_add2l ler_oppl.
have -> : e + u * e + 3%:R * u + u ^+ 2 + (1 + u) * omega - (t - tau -
  u * tau)
  = (t0 + u + (1 + u) * y' - t) + (tau + e - t0 - y) + u * (tau + e +
    1 - y).
  by rewrite /y'; ring.
apply: addr_ge0; first by apply: addr_ge0; rewrite subr_ge0.
by apply: mulr_ge0; rewrite // subr_ge0.
Qed.

(* bound the threshold from below *)
Lemma short c : -1 <= t -> t + d' < 0 -> `|c| <= u ->
  (t + d') * (1 + c) <= t -> d' <= u.
Proof.
move=> t1 td0 cu tE.
have : (t + d') * (1 + u) <= t.
  apply: le_trans tE; rewrite ler_wnmul2l ?(ltW td0)// ler_add2l.
  by apply: le_trans cu; exact: ler_norm.
rewrite -subr_ge0 => h; rewrite -(ler_pmul2r (_ : 0 < 1 + u)); last
  first.
  by rewrite ltr_paddr// ltr01.
apply: le_trans (_ : u * - t <= _); last first.
  rewrite ler_wpmul2l//; apply: le_trans (_ : 1 <= _).
    by rewrite ler_oppl.
  by rewrite ler_addl.
rewrite -subr_ge0; apply: le_trans h _; rewrite le_eqVlt; apply/orP;
  left.
by apply/eqP; ring.
Qed.
Lemma under : -1 <= t -> t < 0 -> ended -> (1 - u) * (tau - t - e - u)
  <= u + omega + 4%:R * n * u ^+ 2.
Proof.
move=> t1 tn [[delta [zeta [a [b [du zu au bu dE]]]]] below [c cu tE]].
have w0 := omega_ge0; have v0 : 0 < 1 - u by rewrite subr_gt0 u1.
have k1 := above_ge1 tn; set k := above t in dE k1.
have k0 : 0 < k by exact: lt_le_trans k1.
have kn : k <= n by exact: above_le.
have td0 : t + d' < 0 by have := below top; rewrite z_top; exact.
have du1 : d' <= u by exact: short cu tE.
pose g := Num.max d' 0.
have g0 : 0 <= g by rewrite /g le_maxr lexx orbT.
have gu : g <= u by rewrite /g le_maxl du1.
have tg j : t < z j -> 0 <= z j - (t + g).
  move=> tz; rewrite subr_ge0 /g; case: (leP d' 0) => _.
    by rewrite addr0 ltW.
  exact: ltW (below _ tz).
have tg0 : t + g < 0.
  by rewrite /g; case: (leP d' 0) => _; rewrite ?addr0.
have tg1 : -1 <= t + g by apply: ler_paddr.
have FE : F (t + g) = X t - k * g.
  rewrite /F (bigID [pred j | t < z j])/= [X in _ + X]big1 ?addr0 =>
    [|j h].
    rewrite /X -sum_above -sumrB; apply: eq_bigr => j h.
    by rewrite cut_weight// weight_id ?tg//; ring.
  rewrite cut_weight// weight_0// subr_le0; apply: le_trans (_ : t <=
    _).
    by rewrite leNgt.
  by rewrite ler_addl.
have XE : (1 - u) ^+ 2 * ((1 - u) * X t) <= (1 - u) ^+ 2 * (1 + omega)
  + k * g.
  have h := deltas t du; set Y := \sum_(j | _) _ in dE h.
  have base : (1 - u) * X t <= 1 + omega + (Y - 1 + zeta).
    have h1 : X t - Y <= u * X t.
      by apply: le_trans h; rewrite distrC; exact: ler_norm.
    have h2 : - zeta <= omega.
      by apply: le_trans zu; rewrite -normrN; exact: ler_norm.
    rewrite -subr_ge0; have -> : 1 + omega + (Y - 1 + zeta) - (1 - u)
      * X t =
      (u * X t - (X t - Y)) + (omega - - zeta) by ring.
    by apply: addr_ge0; rewrite subr_ge0.
  apply: le_trans (ler_wpmul2l (sqr_ge0 _) base) _.
  rewrite [X in X <= _]mulrDr ler_add2l; case: (leP (Y - 1 + zeta) 0)
    => s0.
    apply: le_trans (_ : 0 <= _); last by rewrite mulr_ge0// ltW.
    by rewrite mulr_ge0_le0 ?sqr_ge0.
  have /andP[lo _] := two_factors au bu (ltW s0).
  apply: le_trans lo _; rewrite -dE mulrC ler_wpmul2l ?(ltW k0)//.
  by rewrite /g le_maxr lexx.
have rest : (1 - u) * (F (t + g) - 1) <= u + omega + 4%:R * n * u ^+ 2.
  rewrite FE -(ler_pmul2l (_ : 0 < (1 - u) ^+ 2)) ?exprn_gt0//.
  have -> : (1 - u) ^+ 2 * ((1 - u) * (X t - k * g - 1)) =
    (1 - u) ^+ 2 * ((1 - u) * X t) - (1 - u) ^+ 3 * (k * g) - (1 - u)
      ^+ 3 by ring.
  apply: le_trans (_ : (1 - u) ^+ 2 * (1 + omega) + k * g
     - (1 - u) ^+ 3 * (k * g) - (1 - u) ^+ 3 <= _).
    by rewrite !ler_add2r.
  rewrite -subr_ge0; have -> : (1 - u) ^+ 2 * (u + omega + 4%:R * n *
    u ^+ 2) -
    ((1 - u) ^+ 2 * (1 + omega) + k * g - (1 - u) ^+ 3 * (k * g) - (1
      - u) ^+ 3)
    = (1 - (1 - u) ^+ 3) * (n * u - k * g)
      + n * u ^+ 2 * (1 - 5%:R * u + 3%:R * u ^+ 2) by ring.
  apply: addr_ge0; apply: mulr_ge0; rewrite ?mulr_ge0 ?sqr_ge0//.
  - have -> : 1 - (1 - u) ^+ 3 = u * (1 + (1 - u) + (1 - u) ^+ 2) by
    ring.
    have v0' := ltW v0; apply: mulr_ge0 => //; apply: addr_ge0; last
      exact: sqr_ge0.
    by apply: addr_ge0; rewrite ?ler01.
  - by rewrite subr_ge0; apply: ler_pmul => //; exact: ltW.
  rewrite addr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n// subr_ge0; apply:
    le_trans u8.
  by rewrite ler_wpmul2r// ler_nat.
case: (leP (t + g) (tau - e)) => h; last first.
  apply: le_trans (_ : 0 <= _); last by nonneg.
  rewrite mulr_ge0_le0 ?(ltW v0)//.
  rewrite -oppr_ge0 [X in 0 <= X](_ : _ = (t + g - (tau - e)) + (u -
    g)); last by ring.
  by apply: addr_ge0; rewrite subr_ge0// ltW.
apply: le_trans rest; apply: ler_wpmul2l; first exact: ltW.
apply: le_trans (_ : F (t + g) - F (tau - e) <= _); last first.
  by rewrite ler_add2l ler_opp2 F_left.
rewrite /F (bigD1 top)//= [\sum_j weight (cut (z j) - (tau -
  e))](bigD1 top)//=.
rewrite [- (weight _ + _)]opprD addrACA; apply: ler_paddr.
  rewrite subr_ge0; apply: ler_sum => j _; apply: weight_le.
  by rewrite ler_add2l ler_opp2.
have te : tau - e <= 0 by rewrite subr_le0; exact: le_trans (ltW
  tau_lt0) e0.
rewrite /cut z_top max_l ?oppr_le0 ?ler01// !sub0r !weight_id
  ?oppr_ge0 ?(ltW tg0)//.
rewrite opprK -subr_ge0.
have -> : - (t + g) + (tau - e) - (tau - t - e - u) = u - g by ring.
by rewrite subr_ge0.
Qed.
End LastSteps.

(* bound the error of a compensated sum *)
Lemma added_sum M ys f l : 0 <= M -> fl M = M -> -1 <= f -> - M <= -1 ->
  fl f = f -> (forall y, y \in ys -> 0 <= y) -> (added ys f l).1 < M ->
  exists r A, [/\ f <= (added ys f l).1, `|r| <= A,
    (added ys f l).1 + r = f + \sum_(y <- ys) y,
    A <= u * M * (size ys)%:R &
    `|(added ys f l).2 - (l + r)| <= ((1 + u) ^+ size ys - 1) * (`|l| + A)].
Proof.
move=> M0 MM f1 M1; elim: ys f l f1 => [|y ys IH] f l f1 ff y0 /= lt.
  exists 0, 0; rewrite normr0 big_nil !addr0 subrr normr0 expr0 subrr mul0r.
  by rewrite mulr0 lexx.
set g := fl (f + y) in lt *; set b := f + y - g; set l1 := fl (l + b) in lt *.
have fg : f <= g.
  by rewrite -ff; apply: ordered; rewrite ler_addl y0 ?inE ?eqxx.
have [|||r [A [gS rA E AM D]]] := IH g l1 _ _ _ lt.
- exact: le_trans fg.
- exact: rounded.
- by move=> v vy; apply: y0; rewrite inE vy orbT.
have fyM : f + y <= M.
  rewrite leNgt; apply/negP => /ltW/ordered; rewrite MM -/g leNgt.
  by rewrite (le_lt_trans gS lt).
have bM : `|b| <= u * M.
  have [a au ga] := near (f + y).
  have -> : b = - (a * (f + y)) by rewrite /b /g ga; ring.
  rewrite normrN normrM; apply: ler_pmul => //.
  rewrite ler_norml fyM andbT (le_trans M1)// (le_trans f1)// ler_addl.
  by rewrite y0 ?inE ?eqxx.
exists (b + r), (`|b| + A); split.
- exact: le_trans gS.
- by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l.
- rewrite big_cons; move: E; set Y := \sum_(_ <- _) _; set W := _.1 => E.
  have -> : W + (b + r) = W + r + b by ring.
  by rewrite E /b; ring.
- by rewrite -[(size ys).+1]addn1 natrD mulrDr mulr1 addrC ler_add.
have [c cu lc] := near (l + b).
have c1 : `|1 + c| <= 1 + u.
  by apply: le_trans (ler_norm_add _ _) _; rewrite normr1 ler_add2l.
have lb : `|l + b| <= `|l| + `|b| by exact: ler_norm_add.
have A0 : 0 <= A by exact: le_trans rA.
set p := (1 + u) ^+ size ys - 1 in D.
have p0 : 0 <= p by rewrite subr_ge0 exprn_ege1// ler_addl.
apply: le_trans (_ : `|(added ys g l1).2 - (l1 + r)| + `|l1 - (l + b)| <= _).
  by apply: le_trans (ler_norm_add _ _); rewrite le_eqVlt; apply/orP; left;
    apply/eqP; congr (`|_|); ring.
have l1le : `|l1| <= (`|l| + `|b|) * (1 + u) by rewrite /l1 lc normrM ler_pmul.
have off : `|l1 - (l + b)| <= (`|l| + `|b|) * u.
  have -> : l1 - (l + b) = (l + b) * c by rewrite /l1 lc; ring.
  by rewrite normrM ler_pmul.
apply: le_trans (ler_add D off) _.
apply: le_trans
  (_ : p * ((`|l| + `|b|) * (1 + u) + A) + (`|l| + `|b|) * u <= _).
  by rewrite ler_add2r ler_wpmul2l// ler_add2r.
rewrite -subr_ge0 exprS.
have -> : (1 + u) * (1 + u) ^+ size ys = (1 + u) * (p + 1) by rewrite /p subrK.
have -> : ((1 + u) * (p + 1) - 1) * (`|l| + (`|b| + A)) -
  (p * ((`|l| + `|b|) * (1 + u) + A) + (`|l| + `|b|) * u)
  = u * (p + 1) * A by ring.
by rewrite mulr_ge0// mulr_ge0// addr_ge0// ler01.
Qed.
Lemma added_le ys f l m : (forall y, y \in ys -> y <= 1) ->
  (m + size ys <= #|K|)%N -> f <= m%:R - 1 ->
  (added ys f l).1 <= (m + size ys)%:R - 1.
Proof.
elim: ys f l m => [|y ys IH] f l m y1 /= mn fm; first by rewrite addn0.
rewrite -addSnnS; apply: IH.
- by move=> v vy; apply: y1; rewrite inE vy orbT.
- by rewrite addSnnS.
rewrite -[m.+1]addn1 natrD addrK.
have <- : fl m%:R = m%:R by apply: counts; exact: leq_trans (leq_addr _ _) mn.
apply: ordered; rewrite -[m%:R](subrK 1) ler_add// y1 ?inE ?eqxx//.
Qed.

(* find the error of a step *)
Section Sums.
Variable t : R.
Hypotheses (t1 : -1 <= t) (tn : t < 0).
Let ys := [seq fl (z j - t) | j <- enum K & t < z j].
Let sums := added ys (-1) 0.
Lemma size_ys : (size ys)%:R = above t.
Proof.
rewrite size_map /above -sum1_size big_filter big_enum_cond sum1_card.
by [].
Qed.
Lemma k_le : (size ys <= #|K|)%N.
Proof. by rewrite -(ler_nat R) size_ys above_le. Qed.
Lemma sum_ys : \sum_(y <- ys) y = \sum_(j | t < z j) fl (z j - t).
Proof. by rewrite big_map big_filter big_enum_cond. Qed.
Lemma ys_ge0 y : y \in ys -> 0 <= y.
Proof.
move=> /mapP[j]; rewrite mem_filter => /andP[tj _] ->.
by rewrite -fl0; apply: ordered; rewrite subr_ge0 ltW.
Qed.
Lemma ys_le1 y : y \in ys -> y <= 1.
Proof.
move=> /mapP[j _] ->; rewrite -fl1; apply: ordered.
by rewrite ler_subl_addr (le_trans (z_le0 j))// -ler_subl_addl sub0r.
Qed.
Lemma sums_low : sums.1 <= above t - 1.
Proof.
have := @added_le ys (-1) 0 0 ys_le1; rewrite add0n size_ys => -> //.
  exact: k_le.
by rewrite sub0r.
Qed.
Lemma above1 : 1 <= above t. Proof. exact: above_ge1. Qed.
Lemma sums_near M : 1 <= M -> fl M = M -> sums.1 < M -> exists2 r,
  sums.1 + r = \sum_(j | t < z j) fl (z j - t) - 1 &
  `|r| <= u * M * above t /\ `|sums.2 - r| <= gamma u #|K| * (u * M * above t).
Proof.
move=> M1 MM lt; have M0 : 0 <= M by exact: le_trans ler01 M1.
have M1' : - M <= -1 by rewrite ler_opp2.
have [r [A [_ rA E AM D]]] := added_sum M0 MM (lexx _) M1' flN1 ys_ge0 lt.
rewrite -/sums normr0 !add0r in D; rewrite -/sums sum_ys in E.
exists r; first by rewrite E addrC.
rewrite -size_ys; split; first exact: le_trans AM.
apply: le_trans D _; apply: ler_pmul.
- by rewrite subr_ge0 exprn_ege1// ler_addl.
- exact: le_trans rA.
- apply: le_trans (e_gamma u_ge0 nu1).
  by rewrite ler_add2r ler_weexpn2l ?ler_addl ?k_le.
- exact: AM.
Qed.
Lemma stepE w d r : sums.1 + r = \sum_(j | t < z j) fl (z j - t) - 1 ->
  `|sums.2 - r| <= w -> d = fl (excess t / above t) -> step w t d.
Proof.
move=> E rw ->; have [delta du dE] := fin_all_exists2 (fun j => near (z j - t)).
have [a au aE] := near (sums.1 + sums.2).
have [b bu bE] := near (excess t / above t).
exists delta, (sums.2 - r), a, b; split=> //.
have k0 : above t != 0 by rewrite gt_eqF// (lt_le_trans ltr01 above1).
rewrite bE (_ : \sum_(j | t < z j) (z j - t) * (1 + delta j) - 1 = sums.1 + r).
  have -> : excess t = (sums.1 + sums.2) * (1 + a) by exact: aE.
  have -> : sums.1 + r + (sums.2 - r) = sums.1 + sums.2 by ring.
  by field.
by rewrite E; congr (_ - 1); apply: eq_bigr => j _; rewrite dE.
Qed.
Lemma gamma_ge0 : 0 <= gamma u #|K|.
Proof.
apply: divr_ge0; first by rewrite mulr_ge0 ?ler0n.
by rewrite subr_ge0; exact: ltW nu1.
Qed.
Lemma gamma_small : 7%:R * gamma u #|K| <= 1.
Proof.
have x1 : 0 < 1 - n * u by rewrite subr_gt0 nu1.
rewrite /gamma -/n mulrA ler_pdivr_mulr// mul1r ler_subr_addl.
apply: le_trans nu8; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
Lemma any_step : step (above t * omega) t (fl (excess t / above t)).
Proof.
have lt : sums.1 < above t.
  by apply: le_lt_trans sums_low _; rewrite ltr_subl_addr ltr_addl ltr01.
have kk : fl (above t) = above t by rewrite -size_ys counts ?k_le.
have [r E [_ D]] := sums_near above1 kk lt.
apply: (stepE E) => //; apply: le_trans D _; rewrite /omega.
have -> : gamma u #|K| * (u * above t * above t)
  = above t * (above t * (u * gamma u #|K|)) by ring.
rewrite -[n * u * _]mulrA ler_wpmul2l ?(le_trans ler01 above1)//.
by rewrite ler_wpmul2r ?above_le// mulr_ge0 ?gamma_ge0.
Qed.
Lemma last_step : fl (excess t / above t) <= u ->
  step omega t (fl (excess t / above t)).
Proof.
move=> du; set d := fl _ in du.
have k1 := above1; have k0 : 0 < above t by exact: lt_le_trans ltr01 k1.
have kn : above t <= n by exact: above_le.
have lt : sums.1 < above t.
  by apply: le_lt_trans sums_low _; rewrite ltr_subl_addr ltr_addl ltr01.
have kk : fl (above t) = above t by rewrite -size_ys counts ?k_le.
have [r E [rA D]] := sums_near above1 kk lt.
have small : sums.1 < 1.
  rewrite ltNge; apply/negP => S1; set W := u * above t * above t in rA D.
  have W0 : 0 <= W by rewrite /W !mulr_ge0// (le_trans ler01).
  have W1 : 8%:R * W <= 1.
    apply: le_trans few; have -> : 8%:R * W = 8%:R * (above t * above t) * u.
      by rewrite /W; ring.
    by rewrite ler_wpmul2r// ler_wpmul2l ?ler0n// expr2 ler_pmul ?ler0n.
  have L7 : 7%:R * `|sums.2| <= 1.
    apply: le_trans W1.
    apply: le_trans (_ : 7%:R * (gamma u #|K| * W + W) <= _).
      rewrite ler_wpmul2l ?ler0n// -[sums.2](subrK r).
      by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add.
    rewrite -subr_ge0; have -> : 8%:R * W - 7%:R * (gamma u #|K| * W + W)
      = (1 - 7%:R * gamma u #|K|) * W by ring.
    by rewrite mulr_ge0// subr_ge0 gamma_small.
  have S6 : 6%:R <= 7%:R * (sums.1 + sums.2).
    rewrite mulrDr; have -> : 6%:R = 7%:R * 1 + - 1 :> R by ring.
    rewrite ler_add ?ler_wpmul2l ?ler0n// ler_oppl.
    apply: le_trans L7; rewrite -mulrN ler_wpmul2l ?ler0n//.
    by rewrite -normrN ler_norm.
  have S0 : 0 <= sums.1 + sums.2.
    by rewrite -(pmulr_rge0 _ (_ : 0 < 7%:R)) ?ltr0n// (le_trans _ S6) ?ler0n.
  have [a au aE] := near (sums.1 + sums.2).
  have [b bu bE] := near (excess t / above t).
  have dk : d * above t = (sums.1 + sums.2) * (1 + a) * (1 + b).
    rewrite /d bE (_ : excess t = (sums.1 + sums.2) * (1 + a)); last exact: aE.
    by field; rewrite gt_eqF.
  have /andP[lo _] := two_factors au bu S0; rewrite -dk in lo.
  have hi : 8%:R * (d * above t) <= 1.
    apply: le_trans nu8; rewrite ler_wpmul2l ?ler0n// [n * u]mulrC.
    by apply: le_trans (ler_wpmul2r (ltW k0) du) _; rewrite ler_wpmul2l.
  have lo' : 36%:R <= 56%:R * (d * above t).
    apply: le_trans (ler_wpmul2l (ler0n _ 56) lo).
    have -> : 56%:R * ((1 - u) ^+ 2 * (sums.1 + sums.2))
      = 8%:R * (1 - u) ^+ 2 * (7%:R * (sums.1 + sums.2)) by ring.
    have -> : 36%:R = 6%:R * 6%:R :> R by ring.
    apply: ler_pmul; rewrite ?ler0n//.
    rewrite -subr_ge0; have -> : 8%:R * (1 - u) ^+ 2 - 6%:R =
      2%:R * (1 - 8%:R * u) + 8%:R * u ^+ 2 by ring.
    by rewrite addr_ge0 ?mulr_ge0 ?ler0n ?sqr_ge0// subr_ge0 u8.
  have := le_trans lo' (_ : 56%:R * (d * above t) <= 7%:R).
  have -> : 56%:R * (d * above t) = 7%:R * (8%:R * (d * above t)) by ring.
  by rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?ler0n// ler_nat => /(_ isT).
have [r' E' [_ D']] := sums_near (lexx _) fl1 small.
apply: (stepE E') => //; apply: le_trans D' _; rewrite /omega.
have -> : gamma u #|K| * (u * 1 * above t)
  = above t * (u * gamma u #|K|) by ring.
by rewrite -[n * u * _]mulrA ler_wpmul2r ?above_le// mulr_ge0 ?gamma_ge0.
Qed.
End Sums.

(* take the steps of the loop *)
Lemma reached_stepped t : reached t ->
  fl t = t /\ exists t0 d, stepped t0 d t.
Proof.
elim=> [|{}t _ [tt [t0 [d st]]] up].
  by split; [exact: flN1 | exists 0, 0; left].
have [t1 tn _] := over st; split; first exact: rounded.
pose d1 := fl (excess t / above t); exists t, d1; right.
have [c cu cE] := near (t + d1).
split=> //; rewrite ?t1//.
- exact: le_trans (ltW up).
- exact: any_step.
- rewrite leNgt; apply/negP => d0; move: up; rewrite ltNge; case/negP.
  by rewrite -[X in _ <= X]tt; apply: ordered; rewrite ger_addl ltW.
- by exists c.
Qed.
Lemma last_ended t : fl t = t -> -1 <= t -> t < 0 -> next t <= t ->
  ended t (fl (excess t / above t)).
Proof.
move=> tt t1 tn; rewrite /next; set d := fl (excess t / above t) => end_.
have [c cu cE] := near (t + d).
have below j : t < z j -> t + d < z j.
  move=> tz; rewrite ltNge; apply/negP => /ordered; rewrite rounded => h.
  by have := lt_le_trans tz (le_trans h end_); rewrite ltxx.
have td : t + d < 0 by have := below top; rewrite z_top; exact.
split=> //; last by exists c; rewrite -?cE.
by apply: last_step => //; apply: (short t1 td cu); rewrite -cE.
Qed.

(* a tactic for what is positive *)
Ltac pos := repeat first [assumption | by rewrite subr_ge0 | exact:
  ler0n
  | exact: ler01 | apply: exprn_ge0 | apply: addr_ge0 | apply:
    mulr_ge0].

(* state the rounding of sparsemax *)
(* proves thm:sparsemax-rounding *)
Theorem sparsemax_rounding t j : reached t -> next t <= t ->
  `|fl (weight (z j - t)) - weight (s j - tau)| <=
    7%:R * u + 10%:R * (n ^+ 2 * u ^+ 2).

(* prove the rounding of sparsemax *)
Proof.
move=> r_ nx; have [tt [t0 [d /over[t1 tn over_]]]] := reached_stepped r_.
have end_ := last_ended tt t1 tn nx; have [c cu ->] := near (weight (z j - t)).
have w0 := omega_ge0; have v0 : 0 < 1 - u by rewrite subr_gt0 u1.
have u2 : 0 <= u ^+ 2 by exact: sqr_ge0.
have wU := omega_U; have uU := u2_U; have u8' := u8.
have first : `|weight (z j - t) * (1 + c) - weight (s j - tau)| <=
    u * - t + e + `|t - tau|.
  rewrite mulrDr mulr1 addrAC; apply: le_trans (ler_norm_add _ _) _.
  rewrite addrC -addrA; apply: ler_add.
    rewrite normrM (ger0_norm (weight_ge0 _)) [u * _]mulrC.
    apply: ler_pmul => //; first exact: weight_ge0.
    by rewrite /weight le_maxl oppr_ge0 (ltW tn) ler_subl_addr addNr
      z_le0.
  rewrite -[weight (z j - t)]cut_weight// -[weight (s j -
    tau)]cut_weight ?tau_ge//.
  apply: le_trans (weight_near _ _) _.
  have -> : cut (z j) - t - (cut (s j) - tau) = cut (z j) - cut (s j)
    - (t - tau) by ring.
  by apply: le_trans (ler_norm_sub _ _) _; rewrite ler_add2r cut_error.
apply: le_trans first _.
have u3 : 8%:R * u ^+ 3 <= u ^+ 2.
  by rewrite exprS mulrA ler_pimull.
rewrite -(ler_pmul2l (_ : 0 < 56%:R :> R)) ?ltr0n//.
case: (leP tau t) => h.
  rewrite ger0_norm ?subr_ge0//.
  apply: le_trans (_ : 56%:R * (7%:R * u + 5%:R * u ^+ 2 + u ^+ 3 + (1
    + u) * omega) <= _).
    rewrite ler_wpmul2l ?ler0n// -subr_ge0.
    have -> : 7%:R * u + 5%:R * u ^+ 2 + u ^+ 3 + (1 + u) * omega -
      (u * - t + e + (t - tau)) = (e + u * e + 3%:R * u + u ^+ 2 + (1
        + u) * omega
         - (t - tau - u * tau)) + u * (t - tau) by rewrite /e; ring.
    by apply: addr_ge0; [rewrite subr_ge0|apply: mulr_ge0; rewrite
      ?subr_ge0].
  rewrite -/U -subr_ge0.
  have -> : 56%:R * (7%:R * u + 10%:R * U) - 56%:R * (7%:R * u + 5%:R
    * u ^+ 2
     + u ^+ 3 + (1 + u) * omega) = 9%:R * (8%:R * U - 7%:R * omega)
     + 7%:R * (omega * (1 - 8%:R * u)) + 287%:R * (U - u ^+ 2)
     + 7%:R * (u ^+ 2 - 8%:R * u ^+ 3) + 201%:R * U by ring.
  have U0 : 0 <= U by rewrite /U; nonneg.
  by pos.
rewrite ler0_norm ?subr_le0 ?(ltW h)// opprB.
have un := under t1 tn end_.
rewrite -subr_ge0 -(pmulr_rge0 _ v0) -/U.
have nU : n * u ^+ 2 <= U by rewrite /U expr2 -mulrA ler_pemull
  ?n_ge1//; nonneg.
have U0 : 0 <= U by rewrite /U; nonneg.
rewrite [X in 0 <= X](_ : _ = 56%:R * ((u + omega + 4%:R * n * u ^+ 2)
    - (1 - u) * (tau - t - e - u)) + 56%:R * ((1 - u) * (u * (t + 1)))
  + 8%:R * (8%:R * U - 7%:R * omega) + 168%:R * (U - u ^+ 2)
  + 224%:R * (U - n * u ^+ 2) + 70%:R * (U * (1 - 8%:R * u))
  + 112%:R * u ^+ 3 + 34%:R * U); last by rewrite /e; ring.
have t1' : 0 <= t + 1 by rewrite -ler_subl_addr sub0r.
have v0' := ltW v0.
by pos.
Qed.

(* add equal numbers up *)
Lemma sum_same (B : R) : \sum_(j : K) B = n * B.
Proof. by rewrite sumr_const -mulr_natl. Qed.

(* state how rows of sparsemax sum up *)
(* proves cor:sparsemax-rows *)
Theorem sparsemax_rows t : reached t -> next t <= t ->
  `|\sum_j fl (weight (z j - t)) - 1| <=
    n * (7%:R * u + 10%:R * (n ^+ 2 * u ^+ 2)).

(* prove how rows of sparsemax sum up *)
Proof.
move=> r_ end_; have -> : \sum_j fl (weight (z j - t)) - 1 =
  \sum_j (fl (weight (z j - t)) - weight (s j - tau)).
  by rewrite sumrB tau_root.
apply: le_trans (ler_norm_sum _ _ _) _; rewrite -sum_same.
by apply: ler_sum => j _; exact: sparsemax_rounding.
Qed.
End Sparsemax.
