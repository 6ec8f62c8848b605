(* proofs/stretch.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* clocks and slower clocks, in Coq *)
Section Stretch.
(* P is a full turn, 2 pi; theta a the angle of clock a per position; L
   the length of training, s * L that of use. *)
Variables (R : realType) (P L s : R) (theta gam : nat -> R).
Hypotheses (P0 : 0 < P) (L0 : 0 < L) (s1 : 1 <= s).
Hypotheses (theta0 : forall a, 0 < theta a)
  (decreasing : forall a, theta a.+1 < theta a).
Hypotheses (gam01 : forall a, 0 <= gam a <= 1)
  (gam_le : forall a, gam a.+1 <= gam a).
Definition turns a := L * theta a / P.
Definition theta' a := (gam a + (1 - gam a) / s) * theta a.
(* clock a, of angle th per position, shows at t an angle of training *)
Definition shown a th t := exists t' (k : int),
  0 <= t' <= L /\ t * th = t' * theta a + k%:~R * P.

(* an angle and its full turns *)
Let s0 : 0 < s. Proof. exact: lt_le_trans ltr01 s1. Qed.
Lemma division n x : 0 <= x -> x < n%:R * P ->
  exists (k : nat) r, 0 <= r < P /\ x = r + k%:R * P.
Proof.
elim: n x => [|n IH] x x0 xn; first by move: xn; rewrite mul0r ltNge x0.
case: (ltrP x P) => xP; first by exists 0%N, x; rewrite x0 xP mul0r addr0.
have x1 : 0 <= x - P by rewrite subr_ge0.
have x2 : x - P < n%:R * P.
  by rewrite ltr_subl_addr (_ : n%:R * P + P = n.+1%:R * P)// mulrSr
    mulrDl mul1r.
have [k [r [rP E]]] := IH _ x1 x2; exists k.+1, r; split=> //.
by rewrite mulrSr mulrDl mul1r addrA -E subrK.
Qed.
Lemma factor a : s^-1 <= gam a + (1 - gam a) / s <= 1.
Proof.
have /andP[g0 g1] := gam01 a; have i1 : s^-1 <= 1 by rewrite invf_le1.
have -> : gam a + (1 - gam a) / s = s^-1 + gam a * (1 - s^-1) by ring.
apply/andP; split; first by rewrite ler_addl mulr_ge0// subr_ge0.
by rewrite -[X in _ <= X](subrK s^-1) addrC ler_add2r ler_pimull// subr_ge0.
Qed.
(* whose sharpness says that a slower clock cannot be less slow *)
Lemma new_angle a th : 0 < th -> turns a < 1 -> L * theta a < s * L * th ->
  exists t, 0 <= t <= s * L /\ ~ shown a th t.
Proof.
move=> th0; rewrite /turns ltr_pdivr_mulr// mul1r => n1 big.
have [x /andP[x1 x2]] : exists x, L * theta a < x < Num.min P (s * L * th).
  have h : L * theta a < Num.min P (s * L * th) by rewrite lt_minr n1 big.
  exists ((L * theta a + Num.min P (s * L * th)) / 2%:R).
  by rewrite !(midf_lt h).
move: x2; rewrite lt_minr => /andP[xP xs].
have a0 : 0 < L * theta a by rewrite mulr_gt0.
have x0 : 0 < x by exact: lt_trans a0 x1.
exists (x / th); split.
  by rewrite divr_ge0 ?(ltW x0) ?(ltW th0)//= ler_pdivr_mulr// (ltW xs).
move=> [t' [k [/andP[t0 tL] E]]]; rewrite mulfVK ?gt_eqF// in E.
have u0 : 0 <= t' * theta a by rewrite mulr_ge0// ltW.
have u1 : t' * theta a <= L * theta a by rewrite ler_pmul2r.
case: (ltrgt0P k) E => [k0|k0|->] E.
- have : P <= x.
    rewrite E; apply: ler_paddl => //; rewrite ler_pemull ?(ltW P0)// ler1z.
    by rewrite -gtz0_ge1.
  by rewrite leNgt xP.
- have : x <= L * theta a - P.
    rewrite E ler_add//.
    have k1 : 1 <= (- k)%:~R :> R by rewrite ler1z -gtz0_ge1 oppr_gt0.
    by rewrite -[k]opprK mulrNz mulNr ler_opp2 ler_pemull// ltW.
  by rewrite leNgt (lt_trans _ x0)// subr_lt0.
by move: x1; rewrite E mul0r addr0 ltNge u1.
Qed.

(* state that no angle is new *)
(* proves thm:stretch *)
Theorem no_new_angles a :
  [/\ theta a / s <= theta' a <= theta a, theta' a.+1 < theta' a,
      (turns a < 1 -> gam a = 0) ->
        forall t, 0 <= t <= s * L -> shown a (theta' a) t
    & turns a < 1 -> 0 < gam a -> 1 < s ->
        exists t, 0 <= t <= s * L /\ ~ shown a (theta' a) t].

(* prove that no angle is new *)
Proof.
have fac b := factor b; have si : 0 < s^-1 by rewrite invr_gt0.
have f0 b : 0 < gam b + (1 - gam b) / s by have /andP[h _] := fac b;
  exact: lt_le_trans h.
have th0 b : 0 < theta' b by rewrite mulr_gt0.
split.
- have /andP[h1 h2] := fac a; rewrite /theta' mulrC ler_pmul2r//=.
  by rewrite h1 /= ger_pmull.
- rewrite /theta';
  apply: (@le_lt_trans _ _ ((gam a + (1 - gam a) / s) * theta a.+1)).
    rewrite ler_pmul2r// (_ : gam a + _ = s^-1 + gam a * (1 - s^-1));
      last by ring.
    rewrite (_ : gam a.+1 + _ = s^-1 + gam a.+1 * (1 - s^-1)); last by ring.
    by rewrite ler_add2l ler_wpmul2r// subr_ge0 invf_le1.
  by rewrite ltr_pmul2l.
- move=> slow t /andP[t0 ts]; case: (ltrP (turns a) 1) => n1.
    exists (t / s), 0; rewrite divr_ge0 ?(ltW s0)//= ler_pdivr_mulr//
      [L * s]mulrC ts.
    by split=> //; rewrite mul0r addr0 /theta' (slow n1) subr0 add0r
      mul1r mulrA.
  have x0 : 0 <= t * theta' a by rewrite mulr_ge0// ltW.
  have [n xn] : exists n : nat, t * theta' a < n%:R * P.
    exists (Num.bound (t * theta' a / P)); rewrite -ltr_pdivr_mulr//.
    by apply: archi_boundP; rewrite divr_ge0// ltW.
  have [k [r [/andP[r0 rP] E]]] := division x0 xn.
  exists (r / theta a), k%:Z; split; last by rewrite mulfVK ?gt_eqF// E.
  rewrite divr_ge0 ?(ltW (theta0 a))//= ler_pdivr_mulr//.
  move: n1; rewrite /turns ler_pdivl_mulr// mul1r; exact: le_trans (ltW rP).
move=> n1 g0 s1'; apply: new_angle => //; rewrite /theta'.
have -> : s * L * ((gam a + (1 - gam a) / s) * theta a)
  = (1 + (s - 1) * gam a) * (L * theta a).
  by field; rewrite gt_eqF.
by rewrite ltr_pmull ?mulr_gt0// ltr_addl mulr_gt0// subr_gt0.
Qed.
End Stretch.

(* a larger base, in Coq *)
(* Frequencies b^(-2a/d), and those of a larger base; d > 2 is even. *)
Section Base.
Variables (R : realType) (P L s b : R) (d : nat).
Hypotheses (P0 : 0 < P) (L0 : 0 < L) (s1 : 1 < s) (b1 : 1 < b)
  (d2 : (2 < d)%N).
Definition frequency (b : R) (a : nat) : R :=
  expR (- (2%:R * a%:R / d%:R) * ln b).
Definition larger := b * expR (d%:R / (d - 2)%:R * ln s).

(* state that a larger base shows new angles *)
(* proves thm:stretch *)
Theorem larger_base a : (a.*2 < d - 2)%N ->
  turns P L (frequency b) a < 1 ->
  exists t, 0 <= t <= s * L /\
    ~ shown P L (frequency b) a (frequency larger a) t.

(* prove that a larger base shows new angles *)
Proof.
move=> ad n1; have dn : d%:R != 0 :> R by rewrite pnatr_eq0; case: d d2.
have d2n : 0 < (d - 2)%:R :> R by rewrite ltr0n subn_gt0.
have b0 : 0 < b by exact: lt_trans ltr01 b1.
have E : frequency larger a = frequency b a * expR
  (- (2%:R * a%:R / (d - 2)%:R) * ln s).
  rewrite /frequency /larger lnM ?posrE ?expR_gt0// expK -expRD; congr expR.
  by field; rewrite dn gt_eqF.
have f0 c : 0 < frequency b c by exact: expR_gt0.
apply: new_angle => //; try exact: ltW; try exact: expR_gt0.
rewrite E; set z := expR _.
have -> : s * L * (frequency b a * z) = L * frequency b a * (s * z).
  by rewrite [s * L]mulrC mulrACA.
rewrite ltr_pmulr ?mulr_gt0// /z.
have s0 : 0 < s by exact: lt_trans ltr01 s1.
rewrite -{1}[s](@lnK R) ?posrE// -expRD -[X in X < _](@expR0 R) ltr_expR.
have -> : ln s + - (2%:R * a%:R / (d - 2)%:R) * ln s
  = (1 - 2%:R * a%:R / (d - 2)%:R) * ln s by ring.
rewrite mulr_gt0 ?ln_gt0// subr_gt0 ltr_pdivr_mulr// mul1r -natrM ltr_nat.
by rewrite mul2n.
Qed.
End Base.
