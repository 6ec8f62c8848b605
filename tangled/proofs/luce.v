(* proofs/luce.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From mathcomp.classical Require Import mathcomp_extra.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a rule for weights, in Coq *)
Section Luce.
Variable R : realType.
(* A rule gives every row of two or more scores its weights. *)
Variable P : forall n, ('I_n.+2 -> R) -> 'I_n.+2 -> R.
Variable rho : R -> R -> R.
Hypothesis positive : forall n (s : 'I_n.+2 -> R) j, 0 < P s j.
Hypothesis normed : forall n (s : 'I_n.+2 -> R), \sum_j P s j = 1.
Hypothesis irrelevant : forall n (s : 'I_n.+2 -> R) j k,
  P s j / P s k = rho (s j) (s k).
Hypothesis shift : forall n (s : 'I_n.+2 -> R) c j,
  P (fun k => s k + c) j = P s j.
Hypothesis order : forall n (s : 'I_n.+2 -> R) j k,
  s j < s k -> P s j <= P s k.

(* two keys tell a quotient *)
Let f x := ln (rho x 0).

Lemma two_keys (a b : R) : exists s : 'I_2 -> R, exists j k, s j = a /\ s k = b.
Proof. by exists (fun i => if i == 0 then a else b), 0, 1. Qed.

Lemma rho_gt0 a b : 0 < rho a b.
Proof.
have [s [j [k [<- <-]]]] := two_keys a b.
by rewrite -irrelevant divr_gt0 ?positive.
Qed.

Lemma rho_shift a b : rho a b = rho (a - b) 0.
Proof.
have [s [j [k [sj sk]]]] := two_keys (a - b) 0; rewrite -sj -sk -irrelevant.
by rewrite -!(shift s b) irrelevant sj sk subrK add0r.
Qed.

(* three keys make the logarithm additive *)
Lemma fD x y : f (x + y) = f x + f y.
Proof.
pose s (i : 'I_3) := if i == 0 then x + y else if i == 1 then y else 0.
have Pn j : P s j != 0 by rewrite gt_eqF ?positive.
have E : rho (s 0) (s 1) * rho (s 1) (s ord_max) = rho (s 0) (s ord_max).
  by rewrite -!irrelevant mulrA divfK.
have e : rho (x + y) y * rho y 0 = rho (x + y) 0 by exact: E.
rewrite /f -e lnM ?posrE ?rho_gt0//; congr (_ + _); by rewrite rho_shift addrK.
Qed.

Lemma f0 : f 0 = 0.
Proof. by apply: (addrI (f 0)); rewrite -fD !addr0. Qed.

Lemma f_ge0 x : 0 <= x -> 0 <= f x.
Proof.
rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite f0.
have [s [j [k [sj sk]]]] := two_keys x 0.
apply: ln_ge0; rewrite -sj -[X in rho _ X]sk -irrelevant.
by rewrite ler_pdivl_mulr ?positive// mul1r order// sj sk.
Qed.

Lemma fMn x n : f (n%:R * x) = n%:R * f x.
Proof.
elim: n => [|n IH]; first by rewrite !mul0r f0.
by rewrite -addn1 natrD !mulrDl !mul1r fD IH.
Qed.

Lemma f_mono x y : x <= y -> f x <= f y.
Proof. by move=> xy; rewrite -(subrK x y) fD ler_addr f_ge0// subr_ge0. Qed.

Lemma fN x : f (- x) = - f x.
Proof. by apply/eqP; rewrite -addr_eq0 -fD addNr f0. Qed.

Lemma f_int (z : int) : f z%:~R = z%:~R * f 1.
Proof.
case: z => n; first by rewrite -fMn mulr1.
by rewrite NegzE mulrNz fN mulNr -fMn mulr1.
Qed.

(* an additive function that grows is linear *)
(* n x lies between two whole numbers next to each other, for every n. *)
Lemma f_linear x : f x = f 1 * x.
Proof.
have b0 : 0 <= f 1 by apply: f_ge0; exact: ler01.
have near n : `|n%:R * (f x - f 1 * x)| <= f 1.
  pose m : R := (floor (n%:R * x))%:~R.
  have lo : m <= n%:R * x by exact: floor_le.
  have hi : n%:R * x <= m + 1 by apply/ltW; exact: lt_succ_floor.
  have := f_mono hi; have := f_mono lo; rewrite fD fMn f_int -/m => h1 h2.
  rewrite mulrBr [n%:R * (f 1 * x)]mulrCA ler_norml; apply/andP; split.
    rewrite ler_subr_addr; apply: le_trans h1.
    rewrite -mulrN1 -mulrDr [m * _]mulrC ler_wpmul2l//.
    by rewrite addrC ler_subl_addr.
  rewrite ler_subl_addr; apply: le_trans h2 _; rewrite addrC ler_add2l.
  by rewrite [m * _]mulrC ler_wpmul2l.
apply/eqP; rewrite -subr_eq0 -normr_eq0; apply: contraT => e0.
have ep : 0 < `|f x - f 1 * x| by rewrite lt0r e0 normr_ge0.
have := near (Num.bound (f 1 / `|f x - f 1 * x|)).
rewrite normrM normr_nat leNgt -ltr_pdivr_mulr//.
by rewrite archi_boundP ?divr_ge0 ?(ltW ep).
Qed.

(* state that irrelevant alternatives leave the softmax *)
(* proves thm:luce *)
Theorem luce : exists beta, 0 <= beta /\
  forall n (s : 'I_n.+2 -> R) j,
    P s j = expR (beta * s j) / \sum_k expR (beta * s k).

(* prove that irrelevant alternatives leave the softmax *)
Proof.
exists (f 1); split; first by apply: f_ge0; exact: ler01.
move=> n s j; have e k : P s k = P s j * (expR (f 1 * s k) / expR (f 1 * s j)).
  have -> : expR (f 1 * s k) / expR (f 1 * s j) = rho (s k) (s j).
    rewrite -expRN -expRD -mulrBr -f_linear /f -rho_shift lnK//.
    by rewrite posrE rho_gt0.
  by rewrite -irrelevant mulrCA divff ?mulr1// gt_eqF.
have Sn : \sum_k expR (f 1 * s k) != 0.
  rewrite gt_eqF// (bigD1 j)//= ltr_paddr ?expR_gt0//.
  by apply: sumr_ge0 => k _; exact/ltW/expR_gt0.
have := normed s; rewrite (eq_bigr _ (fun k _ => e k)) -mulr_sumr -mulr_suml =>
  E.
have ej : expR (f 1 * s j) != 0 by rewrite gt_eqF ?expR_gt0.
have := congr1 (fun z => z * expR (f 1 * s j)) E;
  rewrite /= mulrA divfK// mul1r.
by move=> <-; rewrite mulfK.
Qed.
End Luce.

(* The hypotheses hold for the softmax, and for n = 2 alone they do not do:
   exp((a - b)^3) is a rho of two keys. *)
