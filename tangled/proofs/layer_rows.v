(* proofs/layer_rows.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import rows.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a slope and a bias, in Coq *)
Section Slope.
Variables (R : realFieldType) (e : R -> R) (d : nat) (K : finType).
Hypotheses (eD : forall x y, e (x + y) = e x * e y) (e_gt0 : forall x,
  0 < e x).
Variables (M : pred K) (s : K -> R) (V : K -> 'rV[R]_d) (p : K -> R)
  (pi m : R).
Hypothesis causal : forall j, M j -> p j <= pi.
Definition with_slope j := s j - m * `|p j - pi|.
Definition with_bias j := s j + m * p j.

(* a bias is a slope and a constant *)
Lemma bias_slope j : M j -> with_bias j = with_slope j + m * pi.
Proof.
move=> /causal le; rewrite /with_bias /with_slope ler0_norm ?subr_le0//; ring.
Qed.

(* state that a slope is a bias *)
(* proves prop:layer-slope *)
Theorem slope_is_a_bias :
  [/\ forall j, weight e 0 M with_slope j = weight e 0 M with_bias j,
      out e 0 M with_slope V = out e 0 M with_bias V
    & Z e 0 M with_bias = e (m * pi) * Z e 0 M with_slope].

(* prove that a slope is a bias *)
Proof.
have e0 := gt_eqF (e_gt0 (m * pi)).
have ZE : Z e 0 M with_bias = e (m * pi) * Z e 0 M with_slope.
  rewrite /Z !add0r mulr_sumr; apply: eq_bigr => j Mj.
  by rewrite bias_slope// eD mulrC.
have wE j : weight e 0 M with_slope j = weight e 0 M with_bias j.
  rewrite /weight; case: ifP => // Mj; rewrite bias_slope// eD ZE
    [e _ * e (m * pi)]mulrC.
  by rewrite -mulf_div divff ?e0// mul1r.
by split=> //; apply: eq_bigr => j _; rewrite wE.
Qed.

(* state that a sink tells slope from bias *)
(* proves prop:layer-slope *)
Theorem slope_with_a_sink z0 j : 0 < z0 -> M j -> e (m * pi) != 1 ->
  weight e z0 M with_slope j != weight e z0 M with_bias j.

(* prove that a sink tells slope from bias *)
Proof.
move=> z00 Mj e1; have e0 := e_gt0 (m * pi).
set y := \sum_(l | M l) e (with_slope l).
have y0 : 0 <= y by apply: sumr_ge0 => l _; exact/ltW/e_gt0.
have Zs : Z e z0 M with_slope = z0 + y by [].
have Zb : Z e z0 M with_bias = z0 + e (m * pi) * y.
  rewrite /Z; congr (_ + _); rewrite mulr_sumr; apply: eq_bigr => l Ml.
  by rewrite bias_slope// eD mulrC.
have Zs0 : 0 < z0 + y by rewrite ltr_paddr.
have Zb0 : 0 < z0 + e (m * pi) * y by rewrite ltr_paddr// mulr_ge0// ltW.
rewrite /weight Mj bias_slope// eD Zs Zb; apply: contra e1 => /eqP E.
have := congr1 (fun x => x * ((z0 + y) * (z0 + e (m * pi) * y))) E.
rewrite (_ : e (with_slope j) / (z0 + y) * _ = e (with_slope j) *
  (z0 + e (m * pi) * y)); last first.
  by field; rewrite gt_eqF.
rewrite (_ : _ / (z0 + e (m * pi) * y) * _ = e (with_slope j) *
  (e (m * pi) * (z0 + y))); last first.
  by field; rewrite gt_eqF.
move/(mulfI (negbT (gt_eqF (e_gt0 _)))); rewrite mulrDr => /addIr h.
by rewrite -(inj_eq (mulIf (negbT (gt_eqF z00)))) mul1r -h.
Qed.
End Slope.

(* packed sequences, in Coq *)
Section Packing.
Variables (R : fieldType) (e : R -> R) (d : nat) (B : finType)
  (n : B -> nat) (z0 : R).
Variables (M : forall b, rel 'I_(n b)) (s : forall b, 'I_(n b) ->
  'I_(n b) -> R).
Variable V : forall b, 'I_(n b) -> 'rV[R]_d.
Definition place := {b : B & 'I_(n b)}.
Definition at_ b (i : 'I_(n b)) : place := Tagged (fun b => 'I_(n b)) i.

(* the mask of packed sequences, in Coq *)
Definition packed_mask (x y : place) :=
  if eqVneq (tag x) (tag y) is EqNotNeq E then
    M (ecast b ('I_(n b)) E (tagged x)) (tagged y)
  else false.
(* what scores hold for other pairs does not matter *)
Variable packed_score : place -> place -> R.
Hypothesis same_scores : forall b (i j : 'I_(n b)),
  packed_score (at_ i) (at_ j) = s i j.

(* sums over packed places *)
Lemma packed_own b (i j : 'I_(n b)) :
  packed_mask (at_ i) (at_ j) = M i j.
Proof.
rewrite /packed_mask /at_ /=; case: eqVneq => [E|/eqP//].
by rewrite (eq_irrelevance E erefl).
Qed.
Lemma packed_other b c (i : 'I_(n b)) (j : 'I_(n c)) : b != c ->
  packed_mask (at_ i) (at_ j) = false.
Proof. by rewrite /packed_mask /at_ /=; case: eqVneq. Qed.
Lemma sum_packed (T : zmodType) (F : place -> T) b (i : 'I_(n b)) :
  \sum_(y | packed_mask (at_ i) y) F y = \sum_(j | M i j) F (at_ j).
Proof.
have -> : \sum_(y | packed_mask (at_ i) y) F y =
    \sum_c \sum_(j < n c) (if packed_mask (at_ i) (at_ j) then F (at_ j)
      else 0).
  by rewrite sig_big_dep big_mkcond /=; apply: eq_bigr => -[c j] _.
rewrite (bigD1 b)//= [X in _ + X]big1 ?addr0 => [|c cb].
  by rewrite [RHS]big_mkcond; apply: eq_bigr => j _; rewrite packed_own.
by apply: big1 => j _; rewrite packed_other// eq_sym.
Qed.

(* state that a batch is a mask *)
(* proves prop:layer-packing *)
Theorem packing b (i : 'I_(n b)) :
  out e z0 (packed_mask (at_ i)) (packed_score (at_ i))
    (fun y => V (tagged y)) =
  out e z0 (M i) (s i) (@V b).

(* prove that a batch is a mask *)
Proof.
have outE (K : finType) (N : pred K) t (U : K -> 'rV[R]_d) :
    out e z0 N t U = \sum_(j | N j) (e (t j) / Z e z0 N t) *: U j.
  rewrite [RHS]big_mkcond; apply: eq_bigr => j _.
  by rewrite /weight; case: ifP => _; rewrite ?scale0r.
have ZE : Z e z0 (packed_mask (at_ i)) (packed_score (at_ i))
  = Z e z0 (M i) (s i).
  by rewrite /Z sum_packed; congr (_ + _); apply: eq_bigr => j _;
    rewrite same_scores.
by rewrite !outE sum_packed; apply: eq_bigr => j _; rewrite ZE same_scores.
Qed.
End Packing.
