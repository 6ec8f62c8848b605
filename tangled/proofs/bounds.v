(* proofs/bounds.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* normalised rows, in Coq *)
Section Normalised.
Variables (R : rcfType) (n : nat).
Implicit Types (x y u v g : 'I_n -> R).
Definition sq x := \sum_a x a ^+ 2.
Definition rms eps x := Num.sqrt (n%:R^-1 * sq x + eps).
(* N divides by the root of the mean square plus eps and multiplies by a
   gain *)
Definition normalised eps g x a := g a * (x a / rms eps x).
(* a rotation keeps the length *)
Definition isometry (T : ('I_n -> R) -> 'I_n -> R) :=
  forall x, sq (T x) = sq x.

(* normalised rows have bounded lengths *)
Lemma sq_ge0 x : 0 <= sq x. Proof. by apply: sumr_ge0 => a _; exact: sqr_ge0.
Qed.
Lemma schwarz u v : (\sum_a u a * v a) ^+ 2 <= sq u * sq v.
Proof.
have E : \sum_a \sum_b (u a * v b - u b * v a) ^+ 2 =
    2%:R * (sq u * sq v) - 2%:R * (\sum_a u a * v a) ^+ 2.
  have e a b : (u a * v b - u b * v a) ^+ 2 =
      u a ^+ 2 * v b ^+ 2 + v a ^+ 2 * u b ^+ 2
        - 2%:R * ((u a * v a) * (u b * v b)) by ring.
  rewrite (eq_bigr (fun a => u a ^+ 2 * sq v + v a ^+ 2 * sq u
    - 2%:R * (u a * v a * \sum_b u b * v b))) => [|a _].
    rewrite sumrB big_split /= -!mulr_suml -mulr_sumr -mulr_suml.
    have fin (a b c : R) : a * b + b * a - 2%:R * (c * c)
      = 2%:R * (a * b) - 2%:R * c ^+ 2 by ring.
    exact: fin.
  rewrite (eq_bigr _ (fun b _ => e a b)) sumrB big_split /= -!mulr_sumr.
  by rewrite /sq.
rewrite -subr_ge0 -(pmulr_rge0 _ (ltr0Sn R 1)) mulrBr -E.
by do 2!apply: sumr_ge0 => ? _; exact: sqr_ge0.
Qed.
Lemma no_entries x : n = 0%N -> sq x = 0.
Proof.
move=> n0; apply: big1 => a _; have := ltn_ord a.
by rewrite [X in (_ < X)%N]n0.
Qed.
Lemma sq_normalised eps g x G : 0 <= eps -> (forall a, `|g a| <= G) ->
  sq (normalised eps g x) <= n%:R * G ^+ 2.
Proof.
move=> e0 gG; have r0 : 0 <= n%:R^-1 * sq x + eps.
  by rewrite addr_ge0// mulr_ge0 ?sq_ge0// invr_ge0 ler0n.
have r2 : rms eps x ^+ 2 = n%:R^-1 * sq x + eps by rewrite sqr_sqrtr.
have [rz|rn] := eqVneq (rms eps x) 0.
  have -> : sq (normalised eps g x) = 0.
    by apply: big1 => a _; rewrite /normalised rz invr0 !mulr0 expr0n.
  exact: mulr_ge0 (ler0n _ _) (sqr_ge0 _).
have rp : 0 < rms eps x ^+ 2 by rewrite exprn_even_gt0.
apply: (@le_trans _ _ (\sum_a G ^+ 2 * (x a ^+ 2 / rms eps x ^+ 2))).
  apply: ler_sum => a _; rewrite /normalised exprMn expr_div_n ler_wpmul2r
    ?divr_ge0 ?sqr_ge0//.
  by rewrite -(real_normK (num_real (g a))) ler_expn2r ?nnegrE
    ?(le_trans _ (gG a)).
rewrite -mulr_sumr -mulr_suml -/(sq x) mulrC ler_wpmul2r
  ?sqr_ge0// ler_pdivr_mulr// r2.
have [n0|n0] := eqVneq n 0%N.
  by apply: le_trans (mulr_ge0 (ler0n _ n) r0); rewrite no_entries.
by rewrite mulrDr mulrA mulfV ?pnatr_eq0// mul1r ler_addl mulr_ge0 ?ler0n.
Qed.

(* state that normalised scores are bounded *)
(* proves prop:layer-bound *)
Theorem scores_are_bounded eps gq gk x y Gq Gk beta
  (Tq Tk : ('I_n -> R) -> 'I_n -> R) (cap : R -> R) :
  0 <= eps -> (forall a, `|gq a| <= Gq) ->
  (forall a, `|gk a| <= Gk) -> 0 <= Gq -> 0 <= Gk ->
  isometry Tq -> isometry Tk -> (forall z, `|cap z| <= `|z|) ->
  `|cap (beta * \sum_a Tq (normalised eps gq x) a *
      Tk (normalised eps gk y) a)| <= `|beta| * (n%:R * Gq * Gk).

(* prove that normalised scores are bounded *)
Proof.
move=> e0 hq hk q0 k0 iq ik c; apply: le_trans (c _) _;
  rewrite normrM ler_wpmul2l//.
have G0 : 0 <= n%:R * Gq * Gk by rewrite !mulr_ge0 ?ler0n.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE// real_normK ?num_real//.
apply: le_trans (schwarz _ _) _; rewrite iq ik.
have -> : (n%:R * Gq * Gk) ^+ 2 = n%:R * Gq ^+ 2 * (n%:R * Gk ^+ 2) by ring.
by apply: ler_pmul; rewrite ?sq_ge0 ?sq_normalised.
Qed.

(* state how near a score comes to the bound *)
(* proves prop:layer-bound *)
Theorem near_the_bound eps (G beta : R) x (T : ('I_n -> R) -> 'I_n -> R) :
  0 <= eps -> 0 < sq x -> isometry T ->
  (beta * (\sum_a T (normalised eps (fun=> G) x) a *
     T (normalised eps (fun=> G) x) a) =
   beta * (n%:R * G * G) * (sq x / (sq x + n%:R * eps)))%R.

(* prove how near a score comes to the bound *)
Proof.
move=> e0 x0 iT; rewrite -mulrA; congr (_ * _).
transitivity (sq (T (normalised eps (fun=> G) x))).
  by apply: eq_bigr => a _; rewrite expr2.
rewrite iT /sq /normalised; under eq_bigr do rewrite exprMn expr_div_n.
have n0 : n%:R != 0 :> R.
  by rewrite pnatr_eq0; apply: contraTneq x0 => n0;
    rewrite (no_entries x n0) ltxx.
have r0 : 0 <= n%:R^-1 * sq x + eps.
  by rewrite addr_ge0// mulr_ge0 ?sq_ge0// invr_ge0 ler0n.
rewrite -mulr_sumr -mulr_suml /rms sqr_sqrtr// -/(sq x).
have -> : n%:R^-1 * sq x + eps = n%:R^-1 * (sq x + n%:R * eps).
  by rewrite mulrDr mulrA mulVf// mul1r.
by rewrite invfM invrK expr2 [sq x * _]mulrCA [LHS]mulrCA !mulrA.
Qed.
End Normalised.

(* state that weights are bounded *)
(* proves prop:layer-bound *)
Theorem weights_are_bounded (R : realType) (K : finType) (S : K -> R)
  (s : R) j :
  (forall l, `|S l| <= s) ->
  (1 + (#|K| - 1)%:R * expR (2%:R * s))^-1 <= A S 1 j
    <= (1 + (#|K| - 1)%:R * expR (- (2%:R * s)))^-1.

(* prove that weights are bounded *)
Proof.
move=> b; have AE : A S 1 j = (1 + \sum_(l | l != j) expR (S l - S j))^-1.
  have E : expR (S j) + \sum_(l | l != j) expR (S l) =
      expR (S j) * (1 + \sum_(l | l != j) expR (S l - S j)).
    rewrite mulrDr mulr1 mulr_sumr; congr (_ + _); apply: eq_bigr => l _.
    by rewrite -expRD addrC subrK.
  rewrite /A /Z (bigD1 j)//= !divr1; under eq_bigr do rewrite divr1.
  by rewrite E invfM mulrA mulfV ?mul1r// gt_eqF// expR_gt0.
have cnt (x : R) : \sum_(l | l != j) x = (#|K| - 1)%:R * x.
  rewrite sumr_const mulr_natl; congr (_ *+ _).
  by rewrite subn1 -(cardC1 j); apply: eq_card => l; rewrite !inE.
have bl l : - (2%:R * s) <= S l - S j <= 2%:R * s.
  have := b l; have := b j; rewrite !ler_norml => /andP[j1 j2] /andP[l1 l2].
  apply/andP; split.
    by rewrite (_ : - (2%:R * s) = - s - s) ?ler_sub//; ring.
  by rewrite (_ : 2%:R * s = s - - s) ?ler_sub//; ring.
have pos (x : R) : 0 <= x -> 0 < 1 + x.
  by move=> x0; apply: (lt_le_trans ltr01); rewrite ler_addl.
have p1 (x : R) : 0 < 1 + (#|K| - 1)%:R * expR x.
  by apply: pos; rewrite mulr_ge0 ?ler0n// ltW// expR_gt0.
have p2 : 0 < 1 + \sum_(l | l != j) expR (S l - S j).
  by apply: pos; apply: sumr_ge0 => l _; exact/ltW/expR_gt0.
rewrite AE !lef_pinv ?posrE// !ler_add2l -!cnt; apply/andP; split;
  apply: ler_sum => l _;
  by rewrite ler_expR; have /andP[] := bl l.
Qed.
