(* proofs/dropout.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* dropping keys, in Coq *)
Section Dropout.
Variables (R : fieldType) (K : finType) (pi : R) (A V : K -> R).
Hypothesis pi1 : 1 - pi != 0.
Definition prob (D : {ffun K -> bool}) :=
  \prod_j (if D j then 1 - pi else pi).
Definition mean (X : {ffun K -> bool} -> R) := \sum_D prob D * X D.
Definition a (D : {ffun K -> bool}) j := (D j)%:R / (1 - pi).
(* one component of the output *)
Definition out D := \sum_j a D j * A j * V j.

(* means of independent factors *)
Lemma mean_prod (f : K -> bool -> R) :
  mean (fun D => \prod_j f j (D j))
    = \prod_j ((1 - pi) * f j true + pi * f j false).
Proof.
rewrite /mean; under [LHS]eq_bigr do rewrite /prob -big_split /=.
rewrite -(bigA_distr_bigA (fun j b => (if b then 1 - pi else pi) * f j b)).
by apply: eq_bigr => j _; rewrite big_bool.
Qed.
Lemma mean_one : mean (fun=> 1) = 1.
Proof.
have := mean_prod (fun _ _ => 1); rewrite /mean => h.
rewrite (eq_bigr (fun D => prob D * \prod_(j : K) 1)) => [|D _];
  last by rewrite big1.
by rewrite h big1// => j _; rewrite !mulr1 subrK.
Qed.
Lemma mean_sum (I : finType) (X : I -> {ffun K -> bool} -> R) :
  mean (fun D => \sum_i X i D) = \sum_i mean (X i).
Proof. by rewrite /mean exchange_big; under eq_bigr do rewrite mulr_sumr. Qed.
Lemma meanZ c X : mean (fun D => c * X D) = c * mean X.
Proof. by rewrite /mean mulr_sumr; apply: eq_bigr => D _; rewrite mulrCA. Qed.
Lemma mean_eq X Y : (forall D, X D = Y D) -> mean X = mean Y.
Proof. by move=> E; apply: eq_bigr => D _; rewrite E. Qed.
Lemma mean_a j : mean (fun D => a D j) = 1.
Proof.
have -> : mean (fun D => a D j)
  = mean (fun D => \prod_l (if l == j then (D l)%:R / (1 - pi) else 1)).
  by apply: mean_eq => D; rewrite (bigD1 j)//= eqxx big1 ?mulr1// =>
    l /negbTE->.
rewrite (mean_prod (fun l b => if l == j then b%:R / (1 - pi) else 1))
  (bigD1 j)//= eqxx big1 => [|l /negbTE->].
  by rewrite mulr1 mul0r mulr0 addr0 mul1r mulfV.
by rewrite !mulr1 subrK.
Qed.
Lemma mean_aa j k : mean (fun D => a D j * a D k) = if j == k
  then (1 - pi)^-1 else 1.
Proof.
have [->|jk] := eqVneq j k.
  have -> : mean (fun D => a D k * a D k)
    = mean (fun D => (1 - pi)^-1 * a D k).
    by apply: mean_eq => D; rewrite /a; case: (D k);
      rewrite ?mul0r ?mulr0// !mul1r.
  by rewrite meanZ mean_a mulr1.
have -> : mean (fun D => a D j * a D k) =
    mean (fun D => \prod_l (if (l == j) || (l == k) then (D l)%:R / (1 - pi)
      else 1)).
  apply: mean_eq => D; rewrite (bigD1 j)//= (bigD1 k) /=;
    last by rewrite eq_sym.
  by rewrite !eqxx orbT big1 ?mulr1// => l /andP[/negbTE-> /negbTE->].
rewrite (mean_prod (fun l b => if (l == j) || (l == k) then b%:R / (1 - pi)
  else 1)).
apply: big1 => l _; case: ifP => _; last by rewrite !mulr1 subrK.
by rewrite mul0r mulr0 addr0 mul1r mulfV.
Qed.

(* state the moments of dropout *)
(* proves prop:dropout *)
Theorem unbiased :
  (forall j, mean (fun D => a D j * A j) = A j) /\
  mean (fun D => (out D - mean out) ^+ 2) = pi / (1 - pi) * \sum_j A j
    ^+ 2 * V j ^+ 2.

(* prove the moments of dropout *)
Proof.
have mA j : mean (fun D => a D j * A j) = A j.
  by rewrite -[RHS]mulr1 -(mean_a j) -meanZ; apply: mean_eq => D;
    rewrite mulrC.
split=> //; have mO : mean out = \sum_j A j * V j.
  rewrite /out mean_sum; apply: eq_bigr => j _;
    rewrite -[RHS]mulr1 -(mean_a j) -meanZ.
  by apply: mean_eq => D; ring.
have mS : mean (fun D => out D ^+ 2) =
    \sum_j \sum_k (if j == k then (1 - pi)^-1 else 1) *
      (A j * V j * (A k * V k)).
  rewrite (@mean_eq _ (fun D => \sum_j \sum_k a D j * A j * V j *
    (a D k * A k * V k))); last first.
    by move=> D; rewrite expr2 big_distrlr.
  rewrite mean_sum; apply: eq_bigr => j _; rewrite mean_sum;
    apply: eq_bigr => k _.
  by rewrite -mean_aa mulrC -meanZ; apply: mean_eq => D; ring.
have -> : mean (fun D => (out D - mean out) ^+ 2) = mean (fun D => out D ^+ 2)
  - mean out ^+ 2.
  have M c : mean (fun D => (out D - c) ^+ 2) =
      mean (fun D => out D ^+ 2) - 2%:R * c * mean out + c ^+ 2 * mean
        (fun=> 1).
    rewrite /mean !mulr_sumr -sumrB -big_split /=; apply: eq_bigr => D _.
    by move: (prob D) (out D) => x y; ring.
  by rewrite M mean_one; move: (mean _) (mean out) => x y; ring.
rewrite mS mO expr2 big_distrlr /= -sumrB mulr_sumr; apply: eq_bigr => j _.
rewrite -sumrB (bigD1 j)//= eqxx big1 ?addr0 => [|k kj];
  last by rewrite eq_sym (negbTE kj) mul1r subrr.
by field.
Qed.
End Dropout.
