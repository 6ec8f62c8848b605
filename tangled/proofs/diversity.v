(* proofs/diversity.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* diversity, in Coq *)
Section Diversity.
Variables (R : realType) (heads K : finType) (A : heads -> K -> R)
  (h0 : heads).
Hypothesis Ad : forall h, distribution (A h).
Let N : R := #|heads|%:R.
Definition mu j := N^-1 * \sum_h A h j.
Definition JS := H mu - N^-1 * \sum_h H (A h).

(* the mean dominates its heads *)
Let N0 : 0 < N. Proof. by rewrite ltr0n; apply/card_gt0P; exists h0. Qed.
Let A0 h j : 0 <= A h j. Proof. exact: (Ad h).1. Qed.
Lemma mu_ge h j : A h j <= N * mu j.
Proof.
rewrite /mu mulrA mulfV ?gt_eqF// mul1r (bigD1 h)//= ler_addl.
by apply: sumr_ge0 => l _.
Qed.
Lemma mu_gt0 h j : A h j != 0 -> 0 < mu j.
Proof.
move=> a; rewrite -(pmulr_rgt0 _ N0); apply: lt_le_trans (mu_ge h j).
by rewrite lt0r a A0.
Qed.
Lemma mu_distribution : distribution mu.
Proof.
split=> [j|]; first by rewrite mulr_ge0 ?invr_ge0 ?(ltW N0)//;
  apply: sumr_ge0.
rewrite -mulr_sumr exchange_big /=; under eq_bigr do rewrite (Ad _).2.
by rewrite sumr_const mulVf// gt_eqF.
Qed.
Lemma mu_dominates h : dominated (A h) mu.
Proof. by move=> j z; apply/eqP; apply: contraTT isT => /mu_gt0;
  rewrite z ltxx. Qed.

(* diversity is a mean of relative entropies *)
Lemma ln_ratio h j : A h j * ln (A h j / mu j) = A h j * ln (A h j)
  - A h j * ln (mu j).
Proof.
have [->|a] := eqVneq (A h j) 0; first by rewrite !mul0r subr0.
by rewrite ln_div ?posrE ?(mu_gt0 a)// ?lt0r ?a ?A0// mulrBr.
Qed.
Lemma JS_KL : JS = N^-1 * \sum_h KL (A h) mu.
Proof.
have E : \sum_h KL (A h) mu = N * H mu - \sum_h H (A h).
  rewrite /H; under [\sum_h - _]eq_bigr do rewrite -mulN1r.
  rewrite -mulr_sumr mulN1r opprK mulrN addrC -[_ - _]/(_ + _).
  rewrite /KL; under [LHS]eq_bigr do under eq_bigr do rewrite ln_ratio.
  under [LHS]eq_bigr do rewrite sumrB; rewrite sumrB; congr (_ - _).
  rewrite exchange_big mulr_sumr; apply: eq_bigr => j _ /=.
  by rewrite -mulr_suml mulrA /mu mulrA mulfV ?gt_eqF// mul1r.
by rewrite E mulrBr mulrA mulVf ?gt_eqF// mul1r.
Qed.
Lemma KL_ge0 h : 0 <= KL (A h) mu.
Proof. exact: (gibbs_inequality (Ad h) mu_distribution (@mu_dominates h)).1.
Qed.

(* what each key lacks *)
(* a key's share of the distance to log N *)
Definition gap h j := A h j * (ln N - ln (A h j / mu j)).
Lemma gap_ge0 h j : 0 <= gap h j.
Proof.
rewrite /gap; have [->|a] := eqVneq (A h j) 0; first by rewrite mul0r.
have a0 : 0 < A h j by rewrite lt0r a A0.
have m0 := mu_gt0 a.
rewrite mulr_ge0// subr_ge0 ler_ln ?posrE ?divr_gt0//.
by rewrite ler_pdivr_mulr// mu_ge.
Qed.
Lemma gap_eq0 h j : gap h j = 0 <-> A h j = 0 \/ A h j = N * mu j.
Proof.
rewrite /gap; have [->|a] := eqVneq (A h j) 0; first by rewrite mul0r; split=>
  //; left.
have a0 : 0 < A h j by rewrite lt0r a A0.
have m0 := mu_gt0 a.
split=> [/eqP|[/eqP|E]]; last 2 first.
- by rewrite (negbTE a).
- by rewrite E mulfK ?gt_eqF// subrr mulr0.
rewrite mulf_eq0 (negbTE a) /= subr_eq0 => /eqP/ln_inj;
  rewrite !posrE divr_gt0// => E.
by right; rewrite E ?mulfVK ?gt_eqF.
Qed.
Lemma JS_gap : ln N - JS = N^-1 * \sum_h \sum_j gap h j.
Proof.
have E h : \sum_j gap h j = ln N - KL (A h) mu.
  rewrite /gap; under eq_bigr do rewrite mulrBr.
  by rewrite sumrB -mulr_suml (Ad h).2 mul1r.
rewrite JS_KL; under [in RHS]eq_bigr do rewrite E.
rewrite sumrB mulrBr; congr (_ - _).
by rewrite sumr_const -mulr_natl mulrA mulVf ?gt_eqF// mul1r.
Qed.

(* entropies lie between bounds *)
Lemma H_ge0 (q : K -> R) : distribution q -> 0 <= H q.
Proof.
move=> [q0 q1]; rewrite /H -sumrN; apply: sumr_ge0 => j _; rewrite -mulrN.
have [->|qj] := eqVneq (q j) 0; first by rewrite mul0r.
have qj0 : 0 < q j by rewrite lt0r qj q0.
rewrite mulr_ge0// oppr_ge0; apply: le_trans (ln_leB1 qj0).1 _;
  rewrite subr_le0 -q1 (bigD1 j)//= ler_addl.
by apply: sumr_ge0 => l _.
Qed.
Lemma H_le (q : K -> R) : distribution q -> H q <= ln #|K|%:R.
Proof.
move=> qd; have j0 := inhabited qd.
have k0 : 0 < #|K|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists j0.
have kn : #|K|%:R != 0 :> R by rewrite gt_eqF.
have ud : distribution (fun _ : K => #|K|%:R^-1 : R).
  split=> [j|]; first by rewrite invr_ge0 ltW.
  by rewrite sumr_const -[_ *+ _]mulr_natl mulfV.
have dom : dominated q (fun _ : K => #|K|%:R^-1 : R).
  by move=> j /eqP; rewrite invr_eq0 (negbTE kn).
have := (gibbs_inequality qd ud dom).1.
suff -> : KL q (fun=> #|K|%:R^-1) = ln #|K|%:R - H q by rewrite subr_ge0.
have -> : ln #|K|%:R = \sum_j q j * ln #|K|%:R :> R by rewrite -mulr_suml
  qd.2 mul1r.
rewrite /H opprK -big_split; apply: eq_bigr => j _ /=.
have [->|qj] := eqVneq (q j) 0; first by rewrite !mul0r addr0.
by rewrite invrK lnM ?posrE ?lt0r ?qj ?qd.1 ?kn ?ler0n// mulrDr addrC.
Qed.

(* state the range of the diversity *)
(* proves thm:js-range *)
Theorem js_range :
  [/\ JS = N^-1 * \sum_h KL (A h) mu, 0 <= JS, JS <= ln N /\ JS
    <= ln #|K|%:R,
      JS = 0 <-> forall h h' j, A h j = A h' j
    & JS = ln N <-> forall j h h', h != h' -> A h j = 0 \/ A h' j = 0].

(* prove the range of the diversity *)
Proof.
have Ni0 : 0 <= N^-1 by rewrite invr_ge0 ltW.
split; first exact: JS_KL.
- by rewrite JS_KL mulr_ge0//; apply: sumr_ge0 => h _; exact: KL_ge0.
- split; last first.
    apply: le_trans (H_le mu_distribution); rewrite /JS ler_subl_addr ler_addl
      mulr_ge0//.
    by apply: sumr_ge0 => h _; exact: H_ge0.
  by rewrite -subr_ge0 JS_gap mulr_ge0//; do 2!apply: sumr_ge0 => ? _;
    exact: gap_ge0.
- rewrite JS_KL; split=> [/eqP|same].
    rewrite mulf_eq0 invr_eq0 gt_eqF//= => /eqP/psumr_eq0P z h h' j.
    have zK l : KL (A l) mu = 0 by apply: z => // i _; exact: KL_ge0.
    have e l : A l j = mu j.
      by apply:
        ((gibbs_inequality (Ad l) mu_distribution (@mu_dominates l)).2.1
        (zK l)).
    by rewrite !e.
  rewrite big1 ?mulr0// => h _;
    apply: ((gibbs_inequality (Ad h) mu_distribution (@mu_dominates h)).2.2)
    => j.
  rewrite /mu (eq_bigr (fun=> A h j)) => [|l _]; last exact: same.
  by rewrite sumr_const -[A h j *+ _]mulr_natl mulrA mulVf ?gt_eqF// mul1r.
have g0 h : 0 <= \sum_j gap h j by apply: sumr_ge0 => j _; exact: gap_ge0.
have others h j : A h j = N * mu j <-> forall h', h' != h -> A h' j = 0.
  have -> : N * mu j = A h j + \sum_(l | l != h) A l j.
    by rewrite /mu mulrA mulfV ?gt_eqF// mul1r (bigD1 h).
  split=> [E h' hh|z]; last by rewrite big1 ?addr0.
  apply: (psumr_eq0P (F := fun l => A l j) (P := fun l => l != h)) => //.
  by apply: (addrI (A h j)); rewrite -E addr0.
split=> [E j h h' hh|z].
  have /eqP := JS_gap; rewrite E subrr eq_sym mulf_eq0 invr_eq0 gt_eqF//= =>
    /eqP/psumr_eq0P z.
  have zj : gap h j = 0.
    have s0 : \sum_j gap h j = 0 by apply: z => // i _.
    by apply: (psumr_eq0P (F := gap h) _ s0) => // l _; exact: gap_ge0.
  have [|/others o] := (gap_eq0 h j).1 zj; first by left.
  by right; apply: o; rewrite eq_sym.
apply/esym/eqP; rewrite -subr_eq0 JS_gap big1 ?mulr0// => h _;
  apply: big1 => j _.
apply/gap_eq0; have [->|a] := eqVneq (A h j) 0; first by left.
right; apply/others => h' hh; have nh : h != h' by rewrite eq_sym.
by case: (z j h h' nh) => // /eqP; rewrite (negbTE a).
Qed.
End Diversity.
