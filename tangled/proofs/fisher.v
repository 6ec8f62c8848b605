(* proofs/fisher.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the covariance of a one-hot draw, in Coq *)
Section Fisher.
Variables (R : comRingType) (K : finType) (a : K -> R).
Implicit Types x : K -> R.

(* F_qn = delta_qn a_q - a_q a_n *)
Definition fisher q n := (q == n)%:R * a q - a q * a n.
Definition lower x q := \sum_n fisher q n * x n.
Definition mean x := \sum_n a n * x n.
Definition variance x := \sum_n a n * (x n - mean x) ^+ 2.

(* what the matrix $\Sigma$ does to a vector *)
Lemma fisherC q n : fisher q n = fisher n q.
Proof. by rewrite /fisher; have [->//|_] := eqVneq q n;
  rewrite !mul0r [a q * _]mulrC. Qed.

Lemma lowerE x q : lower x q = a q * (x q - mean x).
Proof.
rewrite /lower; under eq_bigr do rewrite /fisher mulrBl.
rewrite sumrB (bigD1 q)//= eqxx mul1r big1 ?addr0; last first.
  by move=> n /negbTE; rewrite eq_sym => ->; rewrite !mul0r.
by rewrite mulrBr mulr_sumr; congr (_ - _); apply: eq_bigr => n _;
  rewrite mulrA.
Qed.

Lemma lowerC x y : \sum_q lower x q * y q = \sum_q x q * lower y q.
Proof.
have E z q : lower z q = \sum_n fisher q n * z n by [].
under eq_bigr do rewrite E mulr_suml.
rewrite exchange_big; apply: eq_bigr => q _; rewrite E mulr_sumr; apply:
  eq_bigr => n _.
by rewrite fisherC; ring.
Qed.

Hypothesis a1 : \sum_q a q = 1.

Lemma fisher_null q : \sum_n fisher q n = 0.
Proof.
have := lowerE (fun=> 1) q; rewrite /lower /mean;
  under eq_bigr do rewrite mulr1.
by move=> ->; under eq_bigr do rewrite mulr1; rewrite a1 subrr mulr0.
Qed.

Theorem gauge x (c : R) q : lower (fun n => x n - c) q = lower x q.
Proof.
rewrite !lowerE /mean; under eq_bigr do rewrite mulrBr.
by rewrite sumrB -mulr_suml a1 mul1r; ring.
Qed.

Lemma lower_sum0 x : \sum_q lower x q = 0.
Proof.
under eq_bigr do rewrite lowerE mulrBr.
by rewrite sumrB -mulr_suml a1 mul1r subrr.
Qed.

Lemma lower_variance x : \sum_q lower x q * x q = variance x.
Proof.
have -> : \sum_q lower x q * x q = \sum_q lower x q * (x q - mean x).
  by under [RHS]eq_bigr do rewrite mulrBr;
    rewrite sumrB -mulr_suml lower_sum0 mul0r subr0.
by apply: eq_bigr => q _; rewrite lowerE expr2 mulrA.
Qed.
End Fisher.
