(* proofs/metric.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a metric and its norm, in Coq *)
(* Symmetric, and v_a g_ab v_b > 0 for all v other than 0. *)
Definition metric (R : rcfType) d (g : 'M[R]_d) :=
  g^T = g /\ forall v : 'rV_d, v != 0 -> 0 < (v *m g *m v^T) 0 0.

Section Metric.
Variables (R : rcfType) (d : nat) (g : 'M[R]_d).
Hypothesis gm : metric g.
Implicit Types u v w : 'rV[R]_d.

Definition inner u v := (u *m g *m v^T) 0 0.
Definition norm u := Num.sqrt (inner u u).

(* the inner product is bilinear *)
Lemma innerDl u v w : inner (u + v) w = inner u w + inner v w.
Proof. by rewrite /inner !mulmxDl mxE. Qed.
Lemma innerZl c u w : inner (c *: u) w = c * inner u w.
Proof. by rewrite /inner -!scalemxAl mxE. Qed.
Lemma innerC u v : inner u v = inner v u.
Proof.
rewrite /inner -[LHS](mxE trmx_key (fun i j => (u *m g *m v^T) j i) 0 0).
by rewrite -/(trmx _) !trmx_mul trmxK gm.1 mulmxA.
Qed.
Lemma innerDr u v w : inner w (u + v) = inner w u + inner w v.
Proof. by rewrite innerC innerDl !(innerC w). Qed.
Lemma innerZr c u w : inner w (c *: u) = c * inner w u.
Proof. by rewrite innerC innerZl innerC. Qed.

Lemma inner0 u : inner u u = 0 -> u = 0.
Proof. by move=> E; apply/eqP; apply: contraTT isT => /(gm.2);
  rewrite -/(inner u u) E ltxx. Qed.
Lemma inner_ge0 u : 0 <= inner u u.
Proof.
have [->|u0] := eqVneq u 0; last by rewrite ltW// gm.2.
by rewrite /inner !mul0mx mxE.
Qed.
Lemma norm_ge0 u : 0 <= norm u. Proof. exact: sqrtr_ge0. Qed.
Lemma norm_sqr u : norm u ^+ 2 = inner u u. Proof. by rewrite sqr_sqrtr
  ?inner_ge0. Qed.

(* state the inequality of Cauchy and Schwarz *)
(* proves thm:cauchy-schwarz *)
Theorem cauchy_schwarz u v :
  `|inner u v| <= norm u * norm v /\
  (`|inner u v| = norm u * norm v <->
     exists a b, (a != 0) || (b != 0) /\ a *: u + b *: v = 0).

(* prove the inequality of Cauchy and Schwarz *)
Proof.
pose w := inner v v *: u - inner u v *: v.
have wE : inner w w = inner v v * (inner v v * inner u u - inner u v ^+ 2).
  by rewrite /w -scaleNr !(innerDl, innerDr, innerZl, innerZr) (innerC v u);
    ring.
have sq : inner u v ^+ 2 <= inner u u * inner v v.
  have [E|v0] := eqVneq (inner v v) 0.
    by rewrite (inner0 E) /inner trmx0 !mulmx0 mxE mulr0 expr0n.
  have vp : 0 < inner v v by rewrite lt0r v0 inner_ge0.
  by have := inner_ge0 w; rewrite wE pmulr_rge0// subr_ge0 [inner v v *
    _]mulrC.
have nn : 0 <= norm u * norm v by rewrite mulr_ge0 ?norm_ge0.
have n2 : (norm u * norm v) ^+ 2 = inner u u * inner v v by rewrite exprMn
  !norm_sqr.
split; first by rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?normr_ge0// real_normK
  ?num_real// n2.
have -> : (`|inner u v| = norm u * norm v) <-> inner u v ^+ 2
  = inner u u * inner v v.
  rewrite -n2 -(real_normK (num_real (inner u v))); split=> [->//|/eqP].
  by rewrite eqr_expn2// => /eqP.
split=> [E|[a [b [ab E]]]].
  have [v0|v0] := eqVneq (inner v v) 0.
    by exists 0, 1; rewrite oner_eq0 orbT (inner0 v0) scale0r scaler0 addr0.
  exists (inner v v), (- inner u v); rewrite v0; split=> //;
    rewrite scaleNr; apply: inner0.
  by rewrite -/w wE E mulrC [inner u u * _]mulrC subrr mul0r.
have i1 : a * inner u u + b * inner u v = 0.
  by rewrite [inner u v]innerC -!innerZl -innerDl E /inner !mul0mx mxE.
have i2 : a * inner u v + b * inner v v = 0.
  by rewrite -!innerZl -innerDl E /inner !mul0mx mxE.
case/orP: ab => [a0|b0].
  apply: (mulfI a0); have -> : a * (inner u u * inner v v) = (a * inner u u
    + b * inner u v) * inner v v
     - inner u v * (a * inner u v + b * inner v v)
       + a * inner u v ^+ 2 by ring.
  by rewrite i1 i2 mul0r mulr0 subrr add0r.
apply: (mulfI b0); have -> : b * (inner u u * inner v v) = (a * inner u v
  + b * inner v v) * inner u u
   - inner u v * (a * inner u u + b * inner u v)
     + b * inner u v ^+ 2 by ring.
by rewrite i1 i2 mul0r mulr0 subrr add0r.
Qed.

(* the triangle inequality of a metric *)
Lemma norm_triangle u v : norm (u + v) <= norm u + norm v.
Proof.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?addr_ge0 ?norm_ge0// norm_sqr sqrrD
  !norm_sqr.
rewrite innerDl !innerDr (innerC v u) addrA ler_add2r -addrA ler_add2l
  -mulr2n ler_muln2r /=.
by apply: le_trans (cauchy_schwarz u v).1; rewrite ler_norm.
Qed.

Lemma normZ c u : norm (c *: u) = `|c| * norm u.
Proof. by rewrite /norm innerZl innerZr mulrA -expr2 sqrtrM ?sqr_ge0//
  sqrtr_sqr. Qed.
End Metric.

Lemma metric1 (R : rcfType) d : @metric R d 1%:M.
Proof.
split=> [|v v0]; first by rewrite trmx1.
have E : (v *m 1%:M *m v^T) 0 0 = \sum_j v 0 j ^+ 2.
  by rewrite mulmx1 mxE; apply: eq_bigr => j _; rewrite mxE expr2.
rewrite E lt0r sumr_ge0 ?andbT; last by move=> j _; exact: sqr_ge0.
apply: contraNneq v0 => /psumr_eq0P z; apply/eqP/rowP => j; rewrite mxE;
  apply/eqP.
by rewrite -sqrf_eq0; apply/eqP/z => // k _; exact: sqr_ge0.
Qed.
