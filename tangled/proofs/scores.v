(* proofs/scores.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From mathcomp.classical Require Import boolp classical_sets functions.
From mathcomp.analysis Require Import topology normedtype.
From attn Require Import prelude tanh tangent cap rounding logerr nonneg.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the tangent is flat *)
Lemma tanh_le1 (R : realType) (a : R) : `|tanh a| <= 1.
Proof.
have p : 0 < expR a + expR (- a) by rewrite addr_gt0 ?expR_gt0.
rewrite /tanh normrM normfV (gtr0_norm p) ler_pdivr_mulr// mul1r.
by apply: le_trans (ler_norm_sub _ _) _; rewrite !gtr0_norm ?expR_gt0.
Qed.

Lemma tanh_near (R : realType) (a b : R) : `|tanh a - tanh b| <= `|a -
  b|.
Proof.
wlog ab : a b / b < a.
  move=> H; case: (ltgtP a b) => [ab|ab|->]; last by rewrite !subrr.
  - by rewrite distrC [X in _ <= X]distrC; exact: H.
  - exact: H.
have dE y : y \in `]b, a[%R -> is_derive y (1 : R) (@tanh R) (1 - tanh
  y ^+ 2).
  by move=> _; exact: derive_tanh.
have cE : {within `[b, a]%classic, continuous (@tanh R)}.
  apply: continuous_subspaceT => y; apply: differentiable_continuous.
  by apply/derivable1_diffP; case: (derive_tanh y).
have [e _ ->] := MVT ab dE cE.
rewrite normrM ler_pimull// ler_norml.
have := sqr_ge0 (tanh e); have := tanh_le1 e.
rewrite -[`|_| <= 1](@ler_pexpn2r _ 2) ?nnegrE// expr1n real_normK
  ?num_real//.
move=> t1 t0; apply/andP; split; last by rewrite ler_subl_addr ler_addl.
by rewrite ler_oppl opprB ler_subl_addr (le_trans t1)// ler_addl ler01.
Qed.

(* a score, in Coq *)
Section Scores.
Variables (R : realType) (d : nat) (q k : 'I_d -> R) (cap : option R).
Variables (sigma kappa away B log2e u : R).
Hypotheses (u_ge0 : 0 <= u) (small : (d + 7)%:R * u < 1)
  (log2e_ge0 : 0 <= log2e) (cap_gt0 : 0 < odflt 1 cap).
Definition size := `|sigma| * \sum_a `|q a| * `|k a|.
Definition X := sigma * \sum_a q a * k a.
Definition capped := if cap is Some c then c * tanh (X / c) else X.
Definition S := capped - kappa * away + B.

(* what a kernel computes of a product, in Coq *)
Variables (l sigma' f p y : R) (x : 'I_d -> R).
Hypotheses (constant : rounds u log2e l)
  (scale : exists2 z, rounds u 1 z & rounds u (sigma / z) sigma')
  (factor : rounds u (if cap is Some c then sigma' / c else sigma' * l) f)
  (queries : forall a, rounds u (f * q a) (x a))
  (dot : computed u [seq (x a, k a) | a <- enum 'I_d] p)
  (tangent : if cap is Some c then exists t c',
     [/\ `|t - tanh p| <= 7%:R * u, rounds u (c * l) c'
       & rounds u (c' * t) y] else y = p).

(* what a kernel computes of a score, in Coq *)
Variables (kappa' w B' y' s' : R).
Hypotheses (slope : rounds u (l * kappa) kappa')
  (distance : rounds u (kappa' * away) w) (bias : rounds u (l * B) B')
  (difference : rounds u (y - w) y') (sum : rounds u (y' + B') s').

(* prove what is said of a score *)

(* powers of a rounding *)
Let n7 : 1 <= (d + 7)%:R :> R. Proof. by rewrite ler1n addnS. Qed.
Let u1 : u < 1.
Proof. by apply: le_lt_trans small; rewrite ler_pemull. Qed.
Let v0 : 0 < 1 - u. Proof. by rewrite subr_gt0. Qed.
Definition g := (1 - u)^-1.
Let g1 : 1 <= g.
Proof. by rewrite invf_ge1// ler_subl_addr ler_addl. Qed.
Let g0 : 0 < g. Proof. exact: lt_le_trans ltr01 g1. Qed.
Let gn n : 1 <= g ^+ n. Proof. exact: exprn_ege1. Qed.
Let gn0 n : 0 <= g ^+ n. Proof. exact: le_trans ler01 (gn n). Qed.
Lemma g_powers n : (n <= d + 7)%N -> g ^+ n <= (1 - (d + 7)%:R * u)^-1.
Proof.
move=> nd; apply: le_trans (ler_weexpn2l g1 nd) _.
by have := powers_gamma u_ge0 small; rewrite gammaE// exprVn.
Qed.
Let gE : g = 1 + u * g.
Proof. by rewrite /g; field; rewrite gt_eqF. Qed.
Lemma g_minus n : g ^+ n - 1 <= n%:R * u * g ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite expr0 subrr !mul0r.
have -> : g ^+ n.+1 - 1 = g * (g ^+ n - 1) + u * g.
  have {}h : g - 1 = u * g by rewrite {1}gE addrAC subrr add0r.
  by rewrite exprS -h; ring.
have -> : n.+1%:R * u * g ^+ n.+1 = g * (n%:R * u * g ^+ n) + u * g ^+
  n.+1.
  by rewrite exprS -addn1 natrD; ring.
apply: ler_add; first by rewrite ler_wpmul2l// ltW.
by rewrite ler_wpmul2l// exprS ler_pemulr// ltW.
Qed.

(* factors of roundings *)
(* a factor of n roundings *)
Definition within n r := (g ^- n <= r <= g ^+ n).
Lemma within1 e : `|e| <= u -> within 1 (1 + e).
Proof.
rewrite ler_norml => /andP[lo hi]; rewrite /within expr1 invrK
  ler_add2l lo.
by rewrite gE ler_add2l (le_trans hi)// ler_pemulr.
Qed.
Lemma within_gt0 n r : within n r -> 0 < r.
Proof. by case/andP=> lo _; apply: lt_le_trans lo; rewrite invr_gt0
  exprn_gt0. Qed.
Lemma within_mul m n r s : within m r -> within n s -> within (m + n)
  (r * s).
Proof.
move=> r_ s_; have r0 := within_gt0 r_; have s0 := within_gt0 s_.
case/andP: r_ => a b; case/andP: s_ => a' b'.
by rewrite /within exprD invfM; apply/andP; split;
  rewrite ler_pmul ?invr_ge0 ?gn0 ?(ltW r0) ?(ltW s0).
Qed.
Lemma within_inv n r : within n r -> within n r^-1.
Proof.
move=> r_; have r0 := within_gt0 r_; case/andP: r_ => a b.
have gp : 0 < g ^+ n by exact: exprn_gt0.
apply/andP; split; first by rewrite lef_pinv ?posrE.
by rewrite -[X in _ <= X]invrK lef_pinv ?posrE ?invr_gt0.
Qed.
Lemma within_le m n r : (m <= n)%N -> within m r -> within n r.
Proof.
move=> mn /andP[a b]; have h := ler_weexpn2l g1 mn.
rewrite /within (le_trans b h) andbT; apply: le_trans a.
by rewrite lef_pinv ?posrE ?exprn_gt0.
Qed.
Lemma within_error n r : within n r -> `|r - 1| <= g ^+ n - 1.
Proof.
case/andP=> a b; rewrite ler_norml ler_add2r b andbT.
rewrite ler_oppl opprB; apply: le_trans (_ : 1 - g ^- n <= _).
  by rewrite ler_add2l ler_opp2.
have gp : 0 < g ^+ n by exact: exprn_gt0.
rewrite -subr_ge0 [Y in 0 <= Y](_ : _ = (g ^+ n - 1) ^+ 2 / g ^+ n).
  by rewrite divr_ge0 ?sqr_ge0 ?ltW.
by field; rewrite gt_eqF.
Qed.
Lemma roundsW a b : rounds u a b -> exists2 r, within 1 r & b = a * r.
Proof. by move=> [e eu ->]; exists (1 + e) => //; exact: within1. Qed.

(* the product, rounded *)
Definition F := if cap is Some c then sigma / c else sigma * log2e.
Lemma factors a : exists2 r, within 5 r & x a = F * q a * r.
Proof.
have [z0 [d0 d0u z0E] zE] := scale.
have [r1 r1w r1E] := roundsW zE.
have [r2 r2w r2E] := roundsW constant; have [r3 r3w r3E] := roundsW
  factor.
have [r4 r4w ->] := roundsW (queries a).
have [r5 r5w] := roundsW (ex_intro2 _ _ d0 d0u z0E); rewrite mul1r =>
  r5E.
have w2 := within_mul (within_mul (within_mul (within_inv r5w) r1w)
  r3w) r4w.
rewrite /F r3E r1E r5E; case: (cap) => [c|].
  exists (r5^-1 * r1 * r3 * r4); first exact: within_le w2.
  by move: r5^-1 c^-1 => i i'; ring.
exists (r5^-1 * r1 * r3 * r4 * r2); first exact: within_mul w2 r2w.
by rewrite r2E; move: r5^-1 => i; ring.
Qed.
Lemma dot_error : `|p - F * \sum_a q a * k a|
  <= `|F| * (\sum_a `|q a| * `|k a|) * (g ^+ (d + 5) - 1).
Proof.
have [_ ] := computed_error u_ge0 dot.
rewrite size_map size_enum_ord => h.
have eE : exact [seq (x a, k a) | a <- enum 'I_d] = \sum_a x a * k a.
  by rewrite /exact big_map big_enum.
have sE : size_of [seq (x a, k a) | a <- enum 'I_d] = \sum_a `|x a| *
  `|k a|.
  by rewrite /size_of big_map big_enum.
rewrite {}eE {}sE in h.
have [r rw xE] := all_sig2 (fun a => cid2 (factors a)).
have E : \sum_a F * (q a * k a) * (r a - 1)
    = \sum_a x a * k a - F * \sum_a q a * k a.
  rewrite mulr_sumr -sumrB; apply: eq_bigr => a _; rewrite xE; ring.
rewrite (_ : p - _ = (p - \sum_a x a * k a)
  + \sum_a F * (q a * k a) * (r a - 1)); last by rewrite E; ring.
apply: le_trans (ler_norm_add _ _) _.
rewrite (_ : _ * (_ - 1) = `|F| * (\sum_a `|q a| * `|k a|) * (g ^+ 5 *
  (g ^+ d - 1))
   + `|F| * (\sum_a `|q a| * `|k a|) * (g ^+ 5 - 1)); last by rewrite
     exprD; ring.
apply: ler_add; last first.
  apply: le_trans (ler_norm_sum _ _ _) _; rewrite mulr_sumr mulr_suml.
  apply: ler_sum => a _; rewrite !normrM ler_wpmul2l ?mulr_ge0//.
  exact: within_error.
apply: le_trans h _; rewrite [Y in Y <= _]mulrC [Y in _ <= Y]mulrA.
apply: ler_pmul; first by apply: sumr_ge0 => a _; rewrite mulr_ge0.
- by rewrite subr_ge0 exprn_ege1// ler_addl.
- rewrite mulr_sumr mulr_suml; apply: ler_sum => a _.
  have /andP[_ r5] := rw a; have r0 := within_gt0 (rw a).
  rewrite xE !normrM (ger0_norm (ltW r0)).
  rewrite mulrAC -[`|F| * _ * `|k a|]mulrA.
  by rewrite ler_wpmul2l ?mulr_ge0.
- have ug : 1 + u <= g by rewrite gE ler_add2l ler_pemulr.
  by rewrite ler_add2r ler_expn2r ?nnegrE ?(ltW g0) ?addr_ge0 ?ler01.
Qed.

(* the cap, rounded *)
Definition E := size * ((d + 5)%:R * u * g ^+ (d + 5))
  + odflt 0 cap * (10%:R * u * g ^+ 3).
Lemma product_near : `|y - log2e * capped| <= log2e * E.
Proof.
have := dot_error; have gm := g_minus (d + 5).
have S0 : 0 <= \sum_a `|q a| * `|k a| by apply: sumr_ge0 => a _;
  rewrite mulr_ge0.
move: tangent; rewrite /capped /X /E /size /F; move: cap_gt0.
case: (cap) => [c|] /= c0; last first.
  move=> ->; rewrite mul0r addr0 mulrA [log2e * sigma]mulrC => h.
  apply: le_trans h _; rewrite normrM (ger0_norm log2e_ge0).
  rewrite [X in _ <= X]mulrA [log2e * _]mulrA [log2e * `|_|]mulrC.
  by rewrite ler_wpmul2l// !mulr_ge0.
move=> [t [c' [tE c'E yE]]] h.
have [r1 r1w lE] := roundsW constant; have [r2 r2w c'2] := roundsW c'E.
have [r3 r3w {}yE] := roundsW yE.
have rw := within_mul (within_mul r1w r2w) r3w.
set r := r1 * r2 * r3 in rw; have r0 := within_gt0 rw.
set a := sigma * _ / c.
have aE : a = sigma / c * \sum_a q a * k a by rewrite /a mulrAC.
rewrite (_ : y - _ = log2e * (c * (r * (t - tanh p) + (r - 1) * tanh p)
  + c * (tanh p - tanh a))); last by rewrite yE c'2 lE /r; ring.
clearbody r.
rewrite normrM (ger0_norm log2e_ge0) ler_wpmul2l//.
rewrite addrC; apply: le_trans (ler_norm_add _ _) _.
rewrite !normrM (gtr0_norm c0); apply: ler_add.
  apply: le_trans (ler_wpmul2l (ltW c0) (tanh_near _ _)) _.
  rewrite aE; apply: le_trans (ler_wpmul2l (ltW c0) h) _.
  rewrite normrM normfV (gtr0_norm c0) !mulrA [c * _]mulrC mulfK
    ?gt_eqF//.
  by rewrite -!mulrA ler_wpmul2l// ler_wpmul2l// mulrA.
rewrite ler_wpmul2l ?(ltW c0)//; apply: le_trans (ler_norm_add _ _) _.
rewrite [`|r * _|]normrM [`|(r - 1) * _|]normrM (gtr0_norm r0).
have /andP[_ r3g] := rw; have g3 := g_minus 3.
rewrite (_ : 10%:R * u * g ^+ 3 = g ^+ 3 * (7%:R * u) + 3%:R * u * g ^+
  3); last by ring.
apply: ler_add; first by rewrite ler_pmul// ltW.
apply: le_trans (le_trans (within_error rw) g3).
by rewrite ler_pimulr ?tanh_le1.
Qed.

(* what a score's slack absorbs *)
Definition G := (1 - (d + 7)%:R * u)^-1.
Let slack : 0 < 1 - (d + 7)%:R * u. Proof. by rewrite subr_gt0. Qed.
Lemma absorb a b : a <= b * G -> (1 - (d + 7)%:R * u) * a <= b.
Proof. by move=> h; rewrite mulrC -ler_pdivl_mulr. Qed.
Lemma size_ge0 : 0 <= size.
Proof. by rewrite mulr_ge0// sumr_ge0// => a _; rewrite mulr_ge0. Qed.
Let C0 : 0 <= odflt 0 cap.
Proof. by case: (cap) cap_gt0 => [c|]//= /ltW. Qed.
Lemma E_le n : (n <= 2)%N -> g ^+ n * E <=
  u * ((d + 5)%:R * size + 10%:R * odflt 0 cap) * G.
Proof.
move=> n2; have s0 := size_ge0.
rewrite (_ : g ^+ n * E = u * ((d + 5)%:R * size * g ^+ (n + (d + 5))
  + 10%:R * odflt 0 cap * g ^+ (n + 3))); last by rewrite /E !exprD;
    ring.
rewrite -[X in _ <= X]mulrA ler_wpmul2l// [X in _ <= X]mulrDl.
apply: ler_add; rewrite ler_wpmul2l ?g_powers//; nonneg.
  by rewrite addnC -addnA leq_add2l (leq_add2l 5 n 2).
exact: leq_trans (leq_add n2 (leqnn 3)) (leq_trans _ (leq_addl d 7)).
Qed.

(* state the error of a product *)
(* proves thm:flash-forward *)
Theorem product_error : (1 - (d + 7)%:R * u) * `|y - log2e * capped|
  <= log2e * (u * ((d + 5)%:R * size + 10%:R * odflt 0 cap)).

(* prove the error of a product *)
Proof.
apply: absorb; apply: le_trans product_near _.
by rewrite -[X in _ <= X]mulrA ler_wpmul2l// -[E]mul1r -(expr0 g) E_le.
Qed.

(* state the error of a score *)
(* proves thm:flash-forward *)
Theorem score_error : (1 - (d + 7)%:R * u) * `|s' - log2e * S|
  <= log2e * (u * ((d + 5)%:R * size + 10%:R * odflt 0 cap
       + 3%:R * (`|kappa * away| + `|B|) + 2%:R * `|S|)).

(* prove the error of a score *)
Proof.
have [r1 r1w lE] := roundsW constant; have [r2 r2w k'E] := roundsW
  slope.
have [r3 r3w wE] := roundsW distance; have [r4 r4w BE] := roundsW bias.
have [r5 r5w y'E] := roundsW difference; have [r6 r6w ->] := roundsW
  sum.
have ww := within_mul (within_mul r1w r2w) r3w.
have bw := within_mul r1w r4w; have sw := within_mul r5w r6w.
set rw := r1 * r2 * r3 in ww; set rb := r1 * r4 in bw.
set rs := r5 * r6 in sw.
have p6 := within_gt0 r6w; have ps := within_gt0 sw.
pose K := kappa * away.
rewrite (_ : _ * r6 - _ = rs * (y - log2e * capped)
  + log2e * (- rs * (K * (rw - 1)) + r6 * (B * (rb - 1))
    + (r6 * ((r5 - 1) * (S - B)) + (r6 - 1) * S))); last first.
  by rewrite y'E wE k'E BE lE /rs /rw /rb /K /S; ring.
rewrite -/K; clearbody K rs rw rb.
apply: absorb; apply: le_trans (ler_norm_add _ _) _.
rewrite [`|rs * _|]normrM [`|log2e * _|]normrM (gtr0_norm ps).
rewrite (ger0_norm log2e_ge0).
have -> (a b e : R) : log2e * (u * (a + b + e)) * G
  = log2e * (u * a * G) + log2e * (u * (b + e) * G) by ring.
apply: ler_add.
  apply: le_trans (_ : g ^+ 2 * (log2e * E) <= _).
    by have /andP[_ ?] := sw; rewrite ler_pmul ?product_near// ltW.
  by rewrite mulrCA ler_wpmul2l// E_le.
rewrite ler_wpmul2l//.
have up n r : within n r -> 0 <= r <= g ^+ n.
  by move=> rw'; rewrite (ltW (within_gt0 rw')); case/andP: rw'.
have er n r : within n r -> `|r - 1| <= n%:R * u * g ^+ n.
  by move=> rw'; apply: le_trans (within_error rw') (g_minus n).
have up2 n m a z z' : within n a -> `|z| <= z' * g ^+ m -> `|a * z| <=
  z' * g ^+ (m + n).
  move=> aw zz; have /andP[a0 ag] := up _ _ aw.
  by rewrite exprD mulrA normrM mulrC (ger0_norm a0) ler_pmul.
have h1 : `|- rs * (K * (rw - 1))| <= 3%:R * u * `|K| * g ^+ (3 + 2).
  rewrite mulNr normrN; apply: up2 => //; rewrite normrM mulrC.
  by apply: le_trans (ler_wpmul2r _ (er _ _ ww)) _ => //; rewrite
    mulrAC.
have h2 : `|r6 * (B * (rb - 1))| <= 2%:R * u * `|B| * g ^+ (2 + 1).
  apply: up2 => //; rewrite normrM mulrC.
  by apply: le_trans (ler_wpmul2r _ (er _ _ bw)) _ => //; rewrite
    mulrAC.
have h3 : `|r6 * ((r5 - 1) * (S - B))| <= u * (`|S| + `|B|) * g ^+ (1 +
  1).
  apply: up2 => //; rewrite normrM [X in _ <= X]mulrAC ler_pmul//.
    by have := er _ _ r5w; rewrite mul1r.
  exact: ler_norm_sub.
have h4 : `|(r6 - 1) * S| <= u * `|S| * g ^+ 1.
  by rewrite normrM mulrAC ler_wpmul2r//; have := er _ _ r6w; rewrite
    mul1r.
have gG n : (n <= 7)%N -> g ^+ n <= G.
  by move=> n7'; apply: g_powers; rewrite (leq_trans n7')// leq_addl.
have fin a n : (n <= 7)%N -> 0 <= a -> a * g ^+ n <= a * G.
  by move=> n7' a0; rewrite ler_wpmul2l ?gG.
apply: le_trans (ler_norm_add _ _) _.
apply: le_trans (ler_add (ler_norm_add _ _) (ler_norm_add _ _)) _.
apply: le_trans (ler_add (ler_add h1 h2) (ler_add h3 h4)) _.
rewrite (_ : u * _ * G = (3%:R * u * `|K| * G + 2%:R * u * `|B| * G)
  + (u * (`|S| + `|B|) * G + u * `|S| * G)); last by ring.
by rewrite !ler_add ?fin//; nonneg.
Qed.

(* state the error of a sink *)
(* proves thm:flash-forward *)
Theorem sink_error sink s0 : rounds u (l * sink) s0 ->
  (1 - (d + 7)%:R * u) * `|s0 - log2e * sink|
    <= log2e * (u * (2%:R * `|sink|)).

(* prove the error of a sink *)
Proof.
move=> /roundsW[r rw ->]; have [r1 r1w ->] := roundsW constant.
apply: absorb; have tw := within_mul r1w rw.
rewrite (_ : _ * r - _ = log2e * (sink * (r1 * r - 1))); last by ring.
rewrite !normrM (ger0_norm log2e_ge0) -[X in _ <= X]mulrA ler_wpmul2l//.
rewrite mulrC; apply: le_trans (ler_wpmul2r _ (le_trans (within_error
  tw) (g_minus _))) _ => //.
rewrite [X in _ <= X](_ : _ = 2%:R * u * G * `|sink|); last by ring.
rewrite ler_wpmul2r// ler_wpmul2l ?mulr_ge0 ?ler0n//.
by apply: g_powers; rewrite addnC ltn_addr.
Qed.
End Scores.
