(* proofs/mhround.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs logerr rounding chains.
From attn Require softmaxbound.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* errors of products and sums, in Coq *)
Section Rules.
Variables (R : realType) (u eta : R).
Definition product (I : finType) (x dx y dy : I -> R) :=
  \sum_a (dx a * (`|y a| + dy a) + (`|x a| + dx a) * dy a)
  + gamma u #|I| * (\sum_a (`|x a| + dx a) * (`|y a| + dy a))
  + #|I|%:R * eta.
Definition plus (b : option R) (z : R) :=
  if b is Some c then z + c else z.
Definition plus_error (b : option R) (z e : R) :=
  if b is Some c then e + u * (`|z + c| + e) else e.
Definition computed (I : finType) (x' y' : I -> R) b (r : R) := exists2 z,
  underflown u (eta / 2%:R) [seq (x' a, y' a) | a <- enum I] z
  & if b is Some c then rounds u (z + c) r else r = z.

(* constants that are at most one *)
Hypotheses (u_ge0 : 0 <= u) (eta_ge0 : 0 <= eta).
Lemma ceil_le (t t' dt : R) : `|t' - t| <= dt -> `|t'| <= `|t| + dt.
Proof.
move=> h; rewrite -[t'](subrK t) addrC.
exact: le_trans (ler_norm_add _ _) (ler_add (lexx _) h).
Qed.

Lemma gamma_le1 k : 2%:R * k%:R * u <= 1 ->
  k%:R * u < 1 /\ 0 <= gamma u k <= 1.
Proof.
move=> h; have k0 : 0 <= k%:R * u by rewrite mulr_ge0 ?ler0n.
have k1 : k%:R * u <= 1 - k%:R * u.
  by rewrite -subr_ge0 [X in 0 <= X](_ : _ = 1 - 2%:R * k%:R * u)
    ?subr_ge0//; ring.
have kl : k%:R * u < 1.
  rewrite -(ltr_pmul2l (ltr0Sn R 1)) mulrA mulr1.
  by apply: le_lt_trans h _; rewrite -[1]/(1%:R) ltr_nat.
have p : 0 < 1 - k%:R * u by rewrite subr_gt0.
by rewrite /gamma divr_ge0 ?(ltW p)// ler_pdivr_mulr// mul1r.
Qed.

(* a product of numbers with errors *)
Lemma product_rule (I : finType) (x x' dx y y' dy : I -> R) z :
  2%:R * #|I|%:R * u <= 1 -> (forall a, `|x' a - x a| <= dx a) ->
  (forall a, `|y' a - y a| <= dy a) ->
  underflown u (eta / 2%:R) [seq (x' a, y' a) | a <- enum I] z ->
  `|z - \sum_a x a * y a| <= product x dx y dy.
Proof.
move=> /gamma_le1[ku /andP[g0 g1]] xE yE.
have h0 : 0 <= eta / 2%:R by rewrite divr_ge0 ?ler0n.
move=> /(underflown_error u_ge0 h0)[_].
rewrite size_map -cardE.
have -> : exact [seq (x' a, y' a) | a <- enum I] = \sum_a x' a * y' a.
  by rewrite /exact big_map big_enum.
have -> : size_of [seq (x' a, y' a) | a <- enum I]
    = \sum_a `|x' a| * `|y' a|.
  by rewrite /size_of big_map big_enum.
set k := #|I| in ku g0 g1 * => zE.
have pg := e_le_gamma u_ge0 ku.
have moved : `|\sum_a x' a * y' a - \sum_a x a * y a|
    <= \sum_a (dx a * (`|y a| + dy a) + (`|x a| + dx a) * dy a).
  rewrite -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: ler_sum => a _.
  rewrite (_ : _ - _ = (x' a - x a) * y' a + x a * (y' a - y a));
    last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
  apply: ler_add; apply: ler_pmul => //; first exact: ceil_le.
  by rewrite ler_addl (le_trans _ (xE a)).
have sizes : \sum_a `|x' a| * `|y' a|
    <= \sum_a (`|x a| + dx a) * (`|y a| + dy a).
  by apply: ler_sum => a _; rewrite ler_pmul// ceil_le.
rewrite (_ : z - _ = (\sum_a x' a * y' a - \sum_a x a * y a)
  + (z - \sum_a x' a * y' a)); last by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite /product -addrA.
apply: ler_add; first exact: moved.
apply: le_trans zE _; apply: ler_add.
  apply: ler_pmul => //.
  - by rewrite subr_ge0 exprn_ege1// ler_addl.
  - by apply: sumr_ge0 => a _; rewrite mulr_ge0.
  - by rewrite ler_subl_addl.
rewrite -/k [X in _ <= X](_ : _ = 2%:R * (k%:R * (eta / 2%:R)));
  last by field.
apply: ler_wpmul2r; first by rewrite mulr_ge0 ?ler0n.
apply: le_trans pg _.
by rewrite -[2%:R]/(1 + 1) ler_add2l.
Qed.

(* a product and a bias *)
Lemma computed_rule (I : finType) (x x' dx y y' dy : I -> R) b r :
  2%:R * #|I|%:R * u <= 1 -> (forall a, `|x' a - x a| <= dx a) ->
  (forall a, `|y' a - y a| <= dy a) -> computed x' y' b r ->
  `|r - plus b (\sum_a x a * y a)|
    <= plus_error b (\sum_a x a * y a) (product x dx y dy).
Proof.
move=> few xE yE [z /(product_rule few xE yE) zE].
case: b => [c|] /=; last by move=> ->.
have {}zE : `|z + c - (\sum_a x a * y a + c)| <= product x dx y dy.
  by rewrite opprD addrACA subrr addr0.
move=> /(round_last zE) h; apply: le_trans h _.
set p := product _ _ _ _ => //; set t := \sum_a _; clearbody p t.
have E (w : R) : p * (1 + u) + u * w = p + u * (w + p) by ring.
by rewrite E.
Qed.

(* a product with the metric *)
Lemma scaled_rule (s p p' dp z g q : R) : 0 < s -> 3%:R * u < 1 ->
  `|p' - p| <= dp -> rounds u s z -> rounds u (1 / z) g ->
  (exists d e, [/\ `|d| <= u, `|e| <= eta / 2%:R
    & q = g * p' * (1 + d) + e]) ->
  `|q - p / s| <= (dp + gamma u 3 * (`|p| + dp)) / s + eta.
Proof.
move=> s0 u3 pE [d1 h1 zE] [d2 h2 gE] [d3 [e [h3 eE ->]]].
have u1 : u < 1.
  by apply: le_lt_trans u3; rewrite ler_pemull// -[1]/(1%:R) ler_nat.
have p1 : 0 < 1 + d1.
  move: h1; rewrite ler_norml => /andP[lo _]; apply: lt_le_trans
    (_ : 1 - u <= _); first by rewrite subr_gt0.
  by rewrite ler_add2l.
pose f := (1 + d1)^-1 * ((1 + d2) * (1 + d3)).
have fE : `|f - 1| <= gamma u 3.
  pose d (i : 'I_3) := nth 0 [:: d1; d2; d3] i.
  pose rho (i : 'I_3) : int := nth 0 [:: -1; 1; 1] i.
  have := @many_roundings R u u_ge0 3 d rho; rewrite !big_ord_recl big_ord0.
  rewrite /d /rho /= exprN1 !expr1z mulr1; apply=> //.
    by case=> [[|[|[|//]]]] ? /=.
  by case=> [[|[|[|//]]]] ? /=; [right|left|left].
have g0 := le_trans (normr_ge0 _) fE.
have e0 : `|e| <= eta.
  apply: le_trans eE _; rewrite ler_pdivr_mulr ?ltr0n// ler_pemulr//.
  by rewrite -[1]/(1%:R) ler_nat.
have -> : g * p' * (1 + d3) + e - p / s
    = ((p' - p) + (f - 1) * p') / s + e.
  by rewrite gE zE /f; field; rewrite !gt_eqF.
apply: le_trans (ler_norm_add _ _) (ler_add _ e0).
rewrite normrM normfV (gtr0_norm s0) ler_wpmul2r ?invr_ge0 ?(ltW s0)//.
apply: le_trans (ler_norm_add _ _) (ler_add pE _).
by rewrite normrM ler_pmul// ceil_le.
Qed.
End Rules.
Unset Implicit Arguments.

(* a layer and who sees whom, in Coq *)
Section Layer.
Variables (R : realType) (u eta : R) (n m D Dc dk dv Do : nat).
Variables (H G : finType) (set : H -> G) (seen : 'I_n -> pred 'I_m).
Variables (X : 'M[R]_(n, D)) (WQ : H -> 'M[R]_(D, dk))
  (C : 'M[R]_(m, Dc)) (WK : G -> 'M[R]_(Dc, dk))
  (WV : G -> 'M[R]_(Dc, dv)) (WO : H -> 'M[R]_(dv, Do)).
Variables (bQ : H -> 'I_dk -> option R) (bK : G -> 'I_dk -> option R)
  (bV : G -> 'I_dv -> option R) (bO : 'I_Do -> option R)
  (B : 'I_n -> 'I_m -> option R).
Definition keys i := {j : 'I_m | seen i j}.
Hypotheses (u_ge0 : 0 <= u) (eta_ge0 : 0 <= eta) (u3 : 3%:R * u < 1)
  (few : forall k, k \in [:: D; Dc; dk; m; (#|H| * dv)%N] ->
    2%:R * k%:R * u <= 1).

(* what a layer means, in Coq *)
Definition XW h i a := \sum_b X i b * WQ h b a.
Definition Q h i a := plus (bQ h a) (XW h i a) / Num.sqrt dk%:R.
Definition CK s j a := \sum_b C j b * WK s b a.
Definition K s j a := plus (bK s a) (CK s j a).
Definition CV s j c := \sum_b C j b * WV s b c.
Definition V s j c := plus (bV s c) (CV s j c).
Definition QK h i j := \sum_a Q h i a * K (set h) j a.
Definition S h i (j : keys i) := plus (B i (val j)) (QK h i (val j)).
Definition O h i c :=
  \sum_(j : keys i) A (S h i) 1 j * V (set h) (val j) c.
Definition OW i f := \sum_(hc : H * 'I_dv) O hc.1 i hc.2 * WO hc.1 hc.2 f.
Definition Y i f := plus (bO f) (OW i f).

(* what a program computes of scores, in Coq *)
Variables (P' Q' : H -> 'I_n -> 'I_dk -> R) (K' : G -> 'I_m -> 'I_dk -> R)
  (V' : G -> 'I_m -> 'I_dv -> R) (z g : R)
  (S' e' A' : forall (h : H) i, keys i -> R) (top total : H -> 'I_n -> R)
  (O' : H -> 'I_n -> 'I_dv -> R) (Y' : 'I_n -> 'I_Do -> R).
Local Notation computed := (computed u eta).
Hypotheses (queries : forall h i a,
    computed (X i) (fun b => WQ h b a) (bQ h a) (P' h i a))
  (root : rounds u (Num.sqrt dk%:R) z) (metric : rounds u (1 / z) g)
  (lowered : forall h i a, exists d e, [/\ `|d| <= u,
    `|e| <= eta / 2%:R & Q' h i a = g * P' h i a * (1 + d) + e])
  (keys_ : forall s j a,
    computed (C j) (fun b => WK s b a) (bK s a) (K' s j a))
  (values : forall s j c,
    computed (C j) (fun b => WV s b c) (bV s c) (V' s j c))
  (scores : forall h i (j : keys i), computed (Q' h i)
    (K' (set h) (val j)) (B i (val j)) (S' h i j)).

(* what a program computes of scored values, in Coq *)
Hypotheses (largest : forall h i j, S' h i j <= top h i)
  (exponentials : forall h i j, exists d e,
    [/\ `|d| <= u, `|e| <= 2%:R * u
      & e' h i j = expR ((S' h i j - top h i) * (1 + d)) * (1 + e)])
  (sums : forall h i, keys i -> softmaxbound.summed u
    [seq e' h i j | j <- enum {: keys i}] (total h i))
  (quotients : forall h i j, exists2 d, `|d| <= u
    & A' h i j = e' h i j / total h i * (1 + d))
  (outputs : forall h i c, if #|{: keys i}| is 0%N then O' h i c = 0
    else underflown u (eta / 2%:R)
      [seq (A' h i j, V' (set h) (val j) c) | j <- enum {: keys i}]
      (O' h i c))
  (layer : forall i f, computed (fun hc : H * 'I_dv => O' hc.1 i hc.2)
    (fun hc => WO hc.1 hc.2 f) (bO f) (Y' i f)).

(* bounds of a layer, in Coq *)
Definition dP h i a := plus_error u (bQ h a) (XW h i a)
  (product u eta (X i) (fun=> 0) (fun b => WQ h b a) (fun=> 0)).
Definition dQ h i a := (dP h i a + gamma u 3
  * (`|plus (bQ h a) (XW h i a)| + dP h i a)) / Num.sqrt dk%:R + eta.
Definition dK s j a := plus_error u (bK s a) (CK s j a)
  (product u eta (C j) (fun=> 0) (fun b => WK s b a) (fun=> 0)).
Definition dV s j c := plus_error u (bV s c) (CV s j c)
  (product u eta (C j) (fun=> 0) (fun b => WV s b c) (fun=> 0)).
Definition dS h i (j : keys i) := plus_error u (B i (val j))
  (QK h i (val j)) (product u eta (Q h i) (dQ h i)
    (K (set h) (val j)) (dK (set h) (val j))).
Definition dA h i (j : keys i) := A (S h i) 1 j * Num.max
  (softmaxbound.above u (S h i) (S' h i) (dS h i) (top h i) j)
  (softmaxbound.below u (S h i) (S' h i) (dS h i) (top h i) j).
Definition dO h i c := product u eta (A (S h i) 1) (dA h i)
  (fun j => V (set h) (val j) c) (fun j => dV (set h) (val j) c).
Definition dY i f := plus_error u (bO f) (OW i f)
  (product u eta (fun hc : H * 'I_dv => O hc.1 i hc.2)
    (fun hc => dO hc.1 i hc.2) (fun hc => WO hc.1 hc.2 f) (fun=> 0)).

(* extents of a layer *)
Let same (I : Type) (x : I -> R) a : `|x a - x a| <= 0.
Proof. by rewrite subrr normr0. Qed.
Let ok k : k \in [:: D; Dc; dk; m; (#|H| * dv)%N] ->
  2%:R * k%:R * u <= 1.
Proof. exact: few. Qed.
Let okI k : k \in [:: D; Dc; dk; m; (#|H| * dv)%N] ->
  2%:R * #|'I_k|%:R * u <= 1.
Proof. by rewrite card_ord; exact: few. Qed.
Let okm i : 2%:R * #|{: keys i}|%:R * u <= 1.
Proof.
apply: le_trans (ok m _); last by rewrite !inE eqxx !orbT.
rewrite ler_wpmul2r// ler_wpmul2l ?ler0n// ler_nat card_sig.
by apply: leq_trans (max_card _) _; rewrite card_ord.
Qed.

(* the numbers of a layer *)
Lemma queries_near h i a : `|Q' h i a - Q h i a| <= dQ h i a.
Proof.
have dk0 : 0 < Num.sqrt dk%:R :> R.
  by rewrite sqrtr_gt0 ltr0n (leq_ltn_trans _ (ltn_ord a)).
apply: scaled_rule dk0 u3 _ root metric (lowered h i a) => //.
apply: (computed_rule u_ge0 eta_ge0 _ (same _ (X i))
  (same _ (fun b => WQ h b a)) (queries h i a)).
by apply: (okI D); rewrite inE eqxx.
Qed.
Lemma keys_near s j a : `|K' s j a - K s j a| <= dK s j a.
Proof.
apply: (computed_rule u_ge0 eta_ge0 _ (same _ (C j))
  (same _ (fun b => WK s b a)) (keys_ s j a)); apply: (okI Dc).
by rewrite !inE eqxx orbT.
Qed.
Lemma values_near s j c : `|V' s j c - V s j c| <= dV s j c.
Proof.
apply: (computed_rule u_ge0 eta_ge0 _ (same _ (C j))
  (same _ (fun b => WV s b c)) (values s j c)); apply: (okI Dc).
by rewrite !inE eqxx orbT.
Qed.
Lemma scores_near h i j : `|S' h i j - S h i j| <= dS h i j.
Proof.
apply: (computed_rule u_ge0 eta_ge0 _ _ _ (scores h i j)).
- by apply: (okI dk); rewrite !inE eqxx !orbT.
- exact: queries_near.
- exact: keys_near.
Qed.
Lemma weights_near h i j : `|A' h i j - A (S h i) 1 j| <= dA h i j.
Proof.
have [n_u _] := gamma_le1 u_ge0 (okm i).
have u2 : 2%:R * u < 1.
  by apply: le_lt_trans u3; rewrite ler_wpmul2r// ler_nat.
exact: (softmaxbound.softmax_bound u_ge0 u2 n_u (scores_near h i)
  (largest h i) (exponentials h i) (sums h i j) (quotients h i)).
Qed.
Lemma outputs_near h i c : `|O' h i c - O h i c| <= dO h i c.
Proof.
have := outputs h i c; case E: #|{: keys i}| => [|k] => [->|oE].
  have none (f : keys i -> R) : \sum_j f j = 0.
    by apply: big1 => j _; have := fintype0 j E.
  by rewrite /O /dO /product !none E mulr0 mul0r !addr0 subrr normr0.
apply: (product_rule u_ge0 eta_ge0 _ _ _ oE).
- exact: okm.
- exact: weights_near.
- by move=> j; exact: values_near.
Qed.

(* state the rounding of a layer *)
(* proves thm:mh-rounding, except the bounds of gradients *)
Theorem layer_rounding i f : `|Y' i f - Y i f| <= dY i f.

(* prove the rounding of a layer *)
Proof.
apply: (computed_rule u_ge0 eta_ge0 _ _ (same _ (fun hc =>
  WO hc.1 hc.2 f)) (layer i f)).
- by rewrite card_prod card_ord; apply: ok; rewrite !inE eqxx !orbT.
- by move=> hc; exact: outputs_near.
Qed.
End Layer.
