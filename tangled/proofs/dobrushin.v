(* proofs/dobrushin.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From mathcomp.classical Require Import mathcomp_extra.
From attn Require Import metric.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* diameter and contraction, in Coq *)
Section Definitions.
Variable R : rcfType.

(* The diameter of the rows of X, in a norm N. *)
Definition diam (n d : nat) (N : 'rV[R]_d -> R) (X : 'M[R]_(n, d)) : R :=
  \big[Num.max/0]_i \big[Num.max/0]_i' N (row i X - row i' X).

Definition tau (n k : nat) (A : 'M[R]_(n, k)) : R :=
  2^-1 * (\big[Num.max/0]_i \big[Num.max/0]_i' \sum_j `|A i j - A i' j|).
End Definitions.

(* a seminorm is enough *)
(* The argument needs no more than a seminorm. *)
Section Contraction.
Variables (R : rcfType) (d : nat) (N : 'rV[R]_d -> R).
Hypothesis N_triangle : forall u v, N (u + v) <= N u + N v.
Hypothesis N_scale : forall c u, N (c *: u) = `|c| * N u.

Lemma N0 : N 0 = 0. Proof. by rewrite -(scale0r 0) N_scale normr0 mul0r.
  Qed.
Lemma N_sum (I : finType) (F : I -> 'rV[R]_d) : N (\sum_i F i)
  <= \sum_i N (F i).
Proof.
elim/big_ind2: _ => // [|u a v b ua vb]; first by rewrite N0.
exact: le_trans (N_triangle _ _) (ler_add ua vb).
Qed.

Lemma le_diam n (X : 'M[R]_(n, d)) i j : N (row i X - row j X) <= diam N X.
Proof.
apply: le_trans (le_bigmax 0 (fun i => \big[Num.max/0]_j N (row i X
  - row j X)) i).
exact: (le_bigmax 0 (fun j => N (row i X - row j X)) j).
Qed.
Lemma diam_le n (X : 'M[R]_(n, d)) c : 0 <= c ->
  (forall i j, N (row i X - row j X) <= c) -> diam N X <= c.
Proof. by move=> c0 h; do 2!apply: bigmax_le => // ? _. Qed.
Lemma diam_ge0 n (X : 'M[R]_(n, d)) : 0 <= diam N X.
Proof. by rewrite /diam bigmax_idl le_maxr lexx. Qed.

(* the rows of a difference cancel *)
Lemma contraction_rows k (a : 'I_k -> R) (X : 'M[R]_(k, d)) : \sum_j a j
  = 0 ->
  N (\sum_j a j *: row j X) <= 2^-1 * (\sum_j `|a j|) * diam N X.
Proof.
move=> a0; pose p j := Num.max (a j) 0; pose q j := Num.max (- a j) 0.
have p0 j : 0 <= p j by rewrite le_maxr lexx orbT.
have q0 j : 0 <= q j by rewrite le_maxr lexx orbT.
have apq j : a j = p j - q j.
  rewrite /p /q; case: (leP 0 (a j)) => h.
    by rewrite [X in _ - X]max_r ?oppr_le0// subr0.
  by rewrite [X in _ - X]max_l ?sub0r ?opprK// oppr_ge0 ltW.
have npq j : `|a j| = p j + q j.
  rewrite /p /q; case: (leP 0 (a j)) => h.
    by rewrite [X in _ + X]max_r ?oppr_le0// addr0 ger0_norm.
  by rewrite [X in _ + X]max_l ?add0r ?ltr0_norm// oppr_ge0 ltW.
pose t := \sum_j p j.
have tq : \sum_j q j = t.
  apply/esym/eqP; rewrite -subr_eq0 -sumrB; apply/eqP.
  by rewrite -[RHS]a0; apply: eq_bigr => j _; rewrite apq.
have -> : 2^-1 * (\sum_j `|a j|) = t.
  under eq_bigr do rewrite npq; rewrite big_split /= tq -/t -mulr2n
    -mulr_natl mulrA.
  by rewrite mulVf ?mul1r// pnatr_eq0.
have t0 : 0 <= t by exact: sumr_ge0.
have [tz|tn] := eqVneq t 0.
  have az j : a j = 0.
    have pz : p j = 0 by apply: (psumr_eq0P (fun j _ => p0 j) tz).
    have qz : q j = 0 by rewrite tz in tq; apply:
      (psumr_eq0P (fun j _ => q0 j) tq).
    by rewrite apq pz qz subrr.
  by rewrite tz mul0r big1 ?N0// => j _; rewrite az scale0r.
have tp : 0 < t by rewrite lt0r tn.
rewrite -(ler_pmul2l tp) -[X in X * N _](ger0_norm t0) -N_scale.
have -> : t *: (\sum_j a j *: row j X) =
    \sum_jk (p jk.1 * q jk.2) *: (row jk.1 X - row jk.2 X).
  rewrite -(pair_bigA _ (fun j k => (p j * q k) *: (row j X - row k X))) /=.
  under [RHS]eq_bigr do under eq_bigr do rewrite scalerBr.
  under [RHS]eq_bigr do rewrite sumrB.
  rewrite sumrB [X in _ - X]exchange_big /= -sumrB scaler_sumr.
  apply: eq_bigr => j _; rewrite -!scaler_suml -scalerBl scalerA;
    congr (_ *: _).
  by rewrite -mulr_sumr -mulr_suml tq -/t apq; ring.
apply: le_trans (N_sum _) _.
have -> : t * (t * diam N X) = \sum_jk p jk.1 * q jk.2 * diam N X.
  rewrite -mulr_suml -(pair_bigA _ (fun j k => p j * q k)) /=.
  under eq_bigr do rewrite -mulr_sumr tq; rewrite -mulr_suml -/t; ring.
apply: ler_sum => jk _; rewrite N_scale ger0_norm ?mulr_ge0//.
by rewrite ler_wpmul2l ?mulr_ge0// le_diam.
Qed.

(* averages contract in any seminorm *)
Theorem contraction n k (A : 'M[R]_(n, k)) (X : 'M[R]_(k, d)) :
  (forall i, \sum_j A i j = 1) -> diam N (A *m X) <= tau A * diam N X.
Proof.
move=> A1; have tau_ge i i' : 2^-1 * (\sum_j `|A i j - A i' j|) <= tau A.
  rewrite ler_wpmul2l ?invr_ge0 ?ler0n//.
  apply: le_trans (le_bigmax 0 (fun i => \big[Num.max/0]_i' \sum_j `|A i j
    - A i' j|) i).
  exact: (le_bigmax 0 (fun i' => \sum_j `|A i j - A i' j|) i').
apply: diam_le => [|i i'].
  by rewrite mulr_ge0 ?diam_ge0// mulr_ge0 ?invr_ge0 ?ler0n// bigmax_idl
    le_maxr lexx.
have -> : row i (A *m X) - row i' (A *m X) = \sum_j (A i j - A i' j) *:
  row j X.
  rewrite !row_mul -mulmxBl mulmx_sum_row; apply: eq_bigr => j _.
  by rewrite !mxE.
apply: le_trans (contraction_rows _ _) (ler_wpmul2r (diam_ge0 _) (tau_ge i
  i')).
by rewrite sumrB !A1 subrr.
Qed.
End Contraction.

(* state that averages contract *)
(* proves lem:dobrushin *)
Theorem diam_contracts (R : rcfType) n k d
    (g : 'M[R]_d) (A : 'M[R]_(n, k)) (V : 'M[R]_(k, d)) :
  metric g -> (forall i, \sum_j A i j = 1) ->
  diam (norm g) (A *m V) <= tau A * diam (norm g) V.

(* prove that averages contract *)
Proof. by move=> gm; apply: contraction; [exact: norm_triangle | exact:
  normZ]. Qed.

(* state that contractions multiply *)
(* proves lem:dobrushin *)
Theorem tau_submultiplicative (R : rcfType) n k m
    (A : 'M[R]_(n, k)) (B : 'M[R]_(k, m)) :
  (forall i, \sum_j A i j = 1) -> tau (A *m B) <= tau A * tau B.

(* prove that contractions multiply *)
Proof.
move=> A1; pose N (v : 'rV[R]_m) := 2^-1 * (\sum_j `|v 0 j|).
have tauE n' (C : 'M[R]_(n', m)) : tau C = diam N C.
  have mM (x y : R) : Num.max (2^-1 * x) (2^-1 * y) = 2^-1 * Num.max x y.
    by rewrite maxr_pmulr ?invr_ge0 ?ler0n.
  rewrite /tau /diam; rewrite (big_morph _ (fun x y => esym (mM x y)) (mulr0
    _)).
  apply: eq_bigr => i _; rewrite (big_morph _ (fun x y => esym (mM x y))
    (mulr0 _)).
  by apply: eq_bigr => i' _; congr (_ * _); apply: eq_bigr => j _;
    rewrite !mxE.
rewrite !tauE; apply: contraction A1 => [u v|c u]; rewrite /N.
  rewrite -mulrDr -big_split ler_wpmul2l ?invr_ge0 ?ler0n//.
  by apply: ler_sum => j _; rewrite mxE ler_norm_add.
by rewrite [RHS]mulrCA; congr (_ * _); rewrite mulr_sumr; apply:
  eq_bigr => j _; rewrite mxE normrM.
Qed.
