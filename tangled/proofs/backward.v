(* proofs/backward.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Export fisher.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the backward pass of a row, in Coq *)
Section Lowering.
Variables (R : realFieldType) (K : finType) (a : K -> R) (T : R).
Hypotheses (a0 : forall q, 0 <= a q) (a1 : \sum_q a q = 1) (T0 : 0 < T).
Definition S_bar (A_bar : K -> R) q := T^-1 * lower a A_bar q.

(* state what the softmax does backwards *)
(* proves thm:lowering *)
Theorem lowering (A_bar : K -> R) :
  [/\ forall q, \sum_n fisher a q n = 0,
      \sum_q S_bar A_bar q = 0,
      forall c q, S_bar (fun n => A_bar n - c) q = S_bar A_bar q,
      \sum_q S_bar A_bar q * A_bar q = T^-1 * variance a A_bar
    & 0 <= T^-1 * variance a A_bar /\
      (T^-1 * variance a A_bar = 0 <->
         exists c, forall q, 0 < a q -> A_bar q = c)].

(* prove what the softmax does backwards *)
Proof.
have Ti : 0 < T^-1 by rewrite invr_gt0.
split; first exact: fisher_null.
- by rewrite -mulr_sumr lower_sum0// mulr0.
- by move=> c q; rewrite /S_bar gauge.
- by under eq_bigr do rewrite -mulrA; rewrite -mulr_sumr lower_variance.
have v0 q : 0 <= a q * (A_bar q - mean a A_bar) ^+ 2 by rewrite mulr_ge0
  ?sqr_ge0.
split; first by apply: mulr_ge0; [exact: ltW | exact: sumr_ge0].
split=> [/eqP|[c E]].
  rewrite mulf_eq0 gt_eqF//= => /eqP/psumr_eq0P z;
    exists (mean a A_bar) => q aq.
  by move/eqP: (z (fun q _ => v0 q) q isT);
    rewrite mulf_eq0 gt_eqF//= sqrf_eq0 subr_eq0 => /eqP.
have aE q : a q * A_bar q = a q * c.
  have [->|aq] := eqVneq (a q) 0; first by rewrite !mul0r.
  by rewrite E// lt0r aq a0.
have -> : variance a A_bar = 0; last by rewrite mulr0.
apply: big1 => q _; have [->|aq] := eqVneq (a q) 0; first by rewrite mul0r.
rewrite E ?lt0r ?aq ?a0// /mean (eq_bigr _ (fun q _ => aE q)) -mulr_suml a1
  mul1r.
by rewrite subrr expr0n mulr0.
Qed.
End Lowering.

(* attention and a direction, in Coq *)
Section Adjoint.
Variables (R : fieldType) (nq nk da db dv : nat) (T : R).
Variables (Q : 'M[R]_(nq, da)) (K : 'M[R]_(nk, db)) (V : 'M[R]_(nk, dv)).
Variables (M : 'M[R]_(da, db)) (B : 'M[R]_(nq, nk)).
Variable A : 'M[R]_(nq, nk).   (* the weights; the identity holds for any *)

Definition dot m n (X Y : 'M[R]_(m, n)) := \sum_i \sum_j X i j * Y i j.
Definition lower_rows (X : 'M[R]_(nq, nk)) :=
  \matrix_(i, j) lower (A i) (X i) j.
Definition S := Q *m M *m K^T + B.

(* the derivative along a direction *)
Variables (dQ : 'M[R]_(nq, da)) (dK : 'M[R]_(nk, db)) (dV : 'M[R]_(nk, dv)).
Variables (dM : 'M[R]_(da, db)) (dB : 'M[R]_(nq, nk)) (dT : R).
Definition dS := dQ *m M *m K^T + Q *m dM *m K^T + Q *m M *m dK^T + dB.
Definition dA := lower_rows (T^-1 *: dS - (dT / T ^+ 2) *: S).
Definition dL := \col_i \sum_j A i j * (dS i j / T - S i j * dT / T ^+ 2).
Definition dO := dA *m V + A *m dV.

(* the cotangents of attention, in Coq *)
Variables (Ob : 'M[R]_(nq, dv)) (Lb : 'cV[R]_nq).
Definition Sb := T^-1 *:
  (lower_rows (Ob *m V^T) + \matrix_(i, j) (A i j * Lb i 0)).
Definition Qb := Sb *m (M *m K^T)^T.
Definition Kb := Sb^T *m (Q *m M).
Definition Mb := Q^T *m Sb *m K.
Definition Vb := A^T *m Ob.
Definition Tb := - T^-1 * dot Sb S.

(* move a matrix across the inner product *)
Lemma dotDr m n (X Y Z : 'M[R]_(m, n)) : dot X (Y + Z) = dot X Y + dot X Z.
Proof.
rewrite /dot -big_split; apply: eq_bigr => i _; rewrite -big_split; apply:
  eq_bigr => j _.
by rewrite mxE mulrDr.
Qed.
Lemma dotE m n (X Y : 'M[R]_(m, n)) : dot X Y = \tr (X^T *m Y).
Proof.
rewrite /dot exchange_big; apply: eq_bigr => j _; rewrite mxE.
by apply: eq_bigr => i _; rewrite mxE.
Qed.
Lemma dotZr m n c (X Y : 'M[R]_(m, n)) : dot X (c *: Y) = c * dot X Y.
Proof. by rewrite !dotE -scalemxAr linearZ. Qed.
Lemma dotZl m n c (X Y : 'M[R]_(m, n)) : dot (c *: X) Y = c * dot X Y.
Proof. by rewrite !dotE linearZ/= -scalemxAl linearZ. Qed.
Lemma dotDl m n (X Y Z : 'M[R]_(m, n)) : dot (X + Y) Z = dot X Z + dot Y Z.
Proof. by rewrite !dotE linearD/= mulmxDl linearD. Qed.
Lemma dotM m n p (X : 'M[R]_(m, p)) (Y : 'M[R]_(m, n)) (Z : 'M[R]_(n, p)) :
  dot X (Y *m Z) = dot (X *m Z^T) Y /\ dot X (Y *m Z) = dot (Y^T *m X) Z.
Proof.
rewrite !dotE !trmx_mul !trmxK; split; last by rewrite mulmxA.
by rewrite mulmxA mxtrace_mulC mulmxA.
Qed.
Lemma dot_tr m n (X Y : 'M[R]_(m, n)) : dot X^T Y^T = dot X Y.
Proof. by rewrite !dotE trmxK mxtrace_mulC -mxtrace_tr trmx_mul trmxK. Qed.

(* state the adjoint identity *)
(* proves thm:adjoint *)
Theorem adjoint_identity : T != 0 ->
  dot Ob dO + dot Lb dL =
  dot Qb dQ + dot Kb dK + dot Vb dV + dot Mb dM + dot Sb dB + Tb * dT.

(* prove the adjoint identity *)
Proof.
move=> T0; set Y := T^-1 *: dS - (dT / T ^+ 2) *: S.
have E1 : dot Ob dO = dot (lower_rows (Ob *m V^T)) Y + dot Vb dV.
  rewrite dotDr (dotM _ _ V).1 (dotM _ A _).2; congr (_ + _).
  apply: eq_bigr => i _; transitivity (\sum_j (Ob *m V^T) i j * lower (A i)
    (Y i) j).
    by apply: eq_bigr => j _; rewrite [dA i j]mxE.
  by rewrite -lowerC; apply: eq_bigr => j _; rewrite [lower_rows _ i j]mxE.
have E2 : dot Lb dL = dot (\matrix_(i, j) (A i j * Lb i 0)) Y.
  apply: eq_bigr => i _; rewrite big_ord1 mxE mulr_sumr; apply:
    eq_bigr => j _.
  by rewrite !mxE; ring.
have E3 : dot Ob dO + dot Lb dL = dot Sb dS + Tb * dT + dot Vb dV.
  rewrite E1 E2 addrAC -dotDl; congr (_ + _).
  have -> : lower_rows (Ob *m V^T) + \matrix_(i, j) (A i j * Lb i 0) = T *:
    Sb.
    by rewrite /Sb scalerA divff// scale1r.
  rewrite /Y -scaleNr dotDr !(dotZl T) !dotZr /Tb.
  by field.
rewrite E3 /dS !dotDr.
have -> : dot Sb (dQ *m M *m K^T) = dot Qb dQ by rewrite -mulmxA (dotM _ _
  _).1.
have -> : dot Sb (Q *m dM *m K^T) = dot Mb dM.
  by rewrite (dotM _ _ _).1 trmxK (dotM _ _ _).2 mulmxA.
have -> : dot Sb (Q *m M *m dK^T) = dot Kb dK.
  by rewrite (dotM _ _ _).2 -dot_tr trmxK trmx_mul trmxK.
by ring.
Qed.
End Adjoint.
