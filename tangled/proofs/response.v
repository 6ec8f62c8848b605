(* proofs/response.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* derivatives of a row that moves, in Coq *)

(* mean and covariance, in Coq *)
Section Covariance.
Variables (R : realFieldType) (K : finType).
Implicit Types a f h : K -> R.
Definition mean a f := \sum_j a j * f j.
Definition cov a f h :=
  \sum_j a j * (f j - mean a f) * (h j - mean a h).

(* the covariance of two functions *)
Lemma covE a f h : \sum_j a j = 1 -> cov a f h = \sum_j a j * f j *
  (h j - mean a h).
Proof.
move=> a1; apply/eqP; rewrite -subr_eq0 -sumrB; apply/eqP.
transitivity (- mean a f * \sum_j a j * (h j - mean a h)).
  by rewrite mulr_sumr; apply: eq_bigr => j _; move: (mean a f) (mean a h) =>
    x y; ring.
under eq_bigr do rewrite mulrBr.
by rewrite sumrB -mulr_suml a1 mul1r subrr mulr0.
Qed.

Lemma covC a f h : cov a f h = cov a h f.
Proof. by apply: eq_bigr => j _; rewrite mulrAC. Qed.

Lemma variance_ge0 a f : (forall j, 0 <= a j) -> 0 <= cov a f f.
Proof. by move=> a0; apply: sumr_ge0 => j _;
  rewrite -mulrA -expr2 mulr_ge0 ?sqr_ge0. Qed.

Lemma covZ a f h c : \sum_j a j = 1 -> cov a f (fun j => c * h j) = c *
  cov a f h.
Proof.
move=> a1; rewrite !covE// mulr_sumr; apply: eq_bigr => j _.
rewrite (_ : mean a (fun j => c * h j) = c * mean a h); first by ring.
by rewrite /mean mulr_sumr; apply: eq_bigr => k _; ring.
Qed.
End Covariance.

(* scores that move, in Coq *)
(* Scores c_k(t) that move, at T = 1. *)
Section Curve.
Variables (R : realType) (K : finType) (k0 : K) (c : K -> R -> R) (c' : K -> R)
  (t0 : R).
Hypothesis dc : forall k, is_derive t0 (1 : R) (c k) (c' k).
Let a k := A (c^~ t0) 1 k.

Lemma derive_sum (f : K -> R -> R) (df : K -> R) :
  (forall k, is_derive t0 (1 : R) (f k) (df k)) ->
  is_derive t0 (1 : R) (fun t => \sum_k f k t) (\sum_k df k).
Proof.
move=> h; have -> : (fun t => \sum_k f k t) = \sum_k f k.
  by apply/funext => x; rewrite fct_sumE.
elim/big_ind2: _ => [|f1 d1 f2 d2 h1 h2|k _]; first exact: is_derive_cst.
  exact: is_deriveD.
exact: h.
Qed.

(* the logarithm of a sum that moves *)
Lemma derive_lnZ : is_derive t0 (1 : R) (fun t => ln (Z (c^~ t) 1)) (mean a c').
Proof.
have dE k : is_derive t0 (1 : R) (fun t => expR (c k t / 1))
  (expR (c k t0 / 1) * c' k).
  have -> : (fun t => expR (c k t / 1)) = (fun t => expR (c k t)).
    by apply/funext => t; rewrite divr1.
  rewrite divr1;
    exact: (is_derive1_comp (f := expR) (g := c k) (is_derive_expR _) (dc k)).
have Zp : 0 < \sum_k expR (c k t0 / 1) by exact: (Z_gt0 _ _ k0).
have := is_derive1_comp (f := @ln R) (g := fun t => \sum_k expR (c k t / 1))
  (is_derive1_ln Zp) (derive_sum dE).
move=> h; apply: (is_derive_eq h); rewrite mulr_sumr; apply: eq_bigr => k _.
by rewrite /a /A -/(Z (c^~ t0) 1) mulrA [_^-1 * _]mulrC.
Qed.

Lemma derive_A j : is_derive t0 (1 : R) (fun t => A (c^~ t) 1 j)
  (a j * (c' j - mean a c')).
Proof.
have AE t : A (c^~ t) 1 j = expR (c j t - ln (Z (c^~ t) 1)).
  by rewrite -[c j t]divr1 -ln_A lnK// posrE A_gt0.
rewrite (funext AE); have dB := is_deriveB (dc j) derive_lnZ.
have h := is_derive1_comp (f := expR) (is_derive_expR _) dB.
by apply: (is_derive_eq h); rewrite /a AE.
Qed.

(* a mean and an entropy that move *)
Lemma derive_mean f : is_derive t0 (1 : R) (fun t => mean (A (c^~ t) 1) f)
  (cov a f c').
Proof.
have h k : is_derive t0 (1 : R) (fun t => A (c^~ t) 1 k * f k)
  (a k * f k * (c' k - mean a c')).
  have -> : (fun t => A (c^~ t) 1 k * f k) = f k \*: (fun t => A (c^~ t) 1 k).
    by apply/funext => t; rewrite -[RHS]/(f k * _) mulrC.
  apply: (is_derive_eq (is_deriveZ (f k) (derive_A k))).
  by rewrite /GRing.scale /= mulrCA mulrA.
apply: (is_derive_eq (derive_sum h)); rewrite covE//.
exact: (sum_A _ _ k0).
Qed.

Lemma entropyE t : H (A (c^~ t) 1) = ln (Z (c^~ t) 1) - \sum_k A (c^~ t) 1 k *
  c k t.
Proof.
have -> : ln (Z (c^~ t) 1) = \sum_k A (c^~ t) 1 k * ln (Z (c^~ t) 1).
  by rewrite -mulr_suml (sum_A _ _ k0) mul1r.
rewrite /H -sumrB -sumrN.
by apply: eq_bigr => k _; rewrite ln_A divr1; ring.
Qed.

Lemma derive_entropy : is_derive t0 (1 : R) (fun t => H (A (c^~ t) 1))
  (- cov a (c^~ t0) c').
Proof.
have h k : is_derive t0 (1 : R) (fun t => A (c^~ t) 1 k * c k t)
    (a k * c' k + c k t0 * (a k * (c' k - mean a c'))).
  exact: (is_deriveM (derive_A k) (dc k)).
rewrite (funext entropyE).
apply: (is_derive_eq (is_deriveB derive_lnZ (derive_sum h))).
rewrite big_split /= -/(mean a c') opprD addrA subrr add0r covE
  ?(sum_A _ _ k0)//.
by congr (- _); apply: eq_bigr => k _; rewrite mulrCA mulrA.
Qed.
End Curve.

(* a temperature in the scores *)
Section Response.
Variables (R : realType) (K : finType) (k0 : K) (s : K -> R).
Implicit Types f h : K -> R.

Lemma A1E (u : K -> R) T : A u T = A (fun k => u k / T) 1.
Proof.
apply/funext => j; rewrite /A /Z divr1.
by under [in RHS]eq_bigr do rewrite divr1.
Qed.

(* state the response of a mean *)
(* proves lem:response *)
Theorem response T f h : 0 < T ->
  is_derive (0 : R) (1 : R)
    (fun e => mean (A (fun k => s k + e * h k) T) f)
    (T^-1 * cov (A s T) f h).

(* prove the response of a mean *)
Proof.
move=> T0; pose c k e := (s k + e * h k) / T.
have dc k : is_derive (0 : R) (1 : R) (c k) (T^-1 * h k).
  have -> : c k = cst (s k / T) + ((T^-1 * h k) \*: id : R -> R).
    by apply/funext => e; rewrite -[RHS]/(s k / T + T^-1 * h k * e) /c; ring.
  by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
have aE e : A (fun k => s k + e * h k) T = A (c^~ e) 1.
  by rewrite A1E.
have -> : (fun e => mean (A (fun k => s k + e * h k) T) f) =
    (fun e => mean (A (c^~ e) 1) f) by apply/funext => e; rewrite aE.
have a0 : A (c^~ 0) 1 = A s T.
  by rewrite -aE; congr (A _ T); apply/funext => k; rewrite mul0r addr0.
apply: (is_derive_eq (derive_mean k0 dc f)); rewrite a0 covZ//.
exact: (sum_A _ _ k0).
Qed.

(* a row at a temperature, in Coq *)
Definition C T := cov (A s T) s s / T ^+ 2.

Section Temperature.
Variable T : R.
Hypothesis T_gt0 : 0 < T.

(* scores over a temperature that moves *)
Let c k t := s k / t.

Lemma dc k : is_derive T (1 : R) (c k) (- T ^- 2 * s k).
Proof.
have Tn : T != 0 by rewrite gt_eqF.
have h : is_derive T (1 : R) (fun y : R => y^-1) (- T ^- 2 *: 1).
  by apply: (is_deriveV (f := id)) => //; exact: is_derive_id.
have -> : c k = s k \*: (fun y : R => y^-1) by apply/funext.
by apply: (is_derive_eq (is_deriveZ (s k) h));
  rewrite /GRing.scale /= mulr1 mulrC.
Qed.

Lemma a1 : \sum_j A s T j = 1. Proof. exact: (sum_A _ _ k0). Qed.
Lemma cT t : A (c^~ t) 1 = A s t. Proof. by rewrite [RHS]A1E. Qed.

(* state the response of the energy *)
(* proves thm:response *)
Theorem energy_response :
  is_derive T (1 : R) (fun T => U s (A s T)) (C T).

(* prove the response of the energy *)
Proof.
have h := is_deriveN (derive_mean k0 dc s).
have -> : (fun T => U s (A s T)) = - (fun t => mean (A (c^~ t) 1) s).
  by apply/funext => t; rewrite -[RHS]/(- mean _ s) cT.
apply: (is_derive_eq h); rewrite cT covZ ?a1// mulNr opprK /C mulrC.
by [].
Qed.

(* state the response of the entropy *)
(* proves thm:response *)
Theorem entropy_response :
  is_derive T (1 : R) (fun T => H (A s T)) (C T / T).

(* prove the response of the entropy *)
Proof.
have -> : (fun T => H (A s T)) = (fun t => H (A (c^~ t) 1)) by apply/funext =>
  t; rewrite cT.
apply: (is_derive_eq (derive_entropy k0 dc)).
rewrite cT covZ ?a1// covC; have -> : (c^~ T) = (fun k => T^-1 * s k)
  by apply/funext => k; rewrite mulrC.
transitivity (T^-1 * (T ^- 2 * cov (A s T) s s)).
  by rewrite covZ ?a1// mulNr opprK mulrCA.
by rewrite /C mulrC [_ * cov _ _ _]mulrC.
Qed.

(* state the response of the free energy *)
(* proves thm:response *)
Theorem free_energy_response :
  is_derive T (1 : R) (fun T => - T * ln (Z s T)) (- H (A s T)).

(* prove the response of the free energy *)
Proof.
have Tn : T != 0 by rewrite gt_eqF.
have ZT t : Z (c^~ t) 1 = Z s t by apply: eq_bigr => k _; rewrite divr1.
have hZ := derive_lnZ k0 dc.
have hM := is_deriveN (is_deriveM (is_derive_id T 1) hZ).
have -> : (fun T => - T * ln (Z s T)) = - (id * (fun t => ln (Z (c^~ t) 1))).
  by apply/funext => t; rewrite -[RHS]/(- (t * _)) ZT mulNr.
apply: (is_derive_eq hM); rewrite -[A s T]cT (entropyE k0) cT ZT /GRing.scale /=
  mulr1.
congr (- _); rewrite addrC; congr (_ + _); rewrite /mean mulr_sumr -sumrN;
  apply: eq_bigr => k _.
by rewrite /c; field.
Qed.
End Temperature.

(* state the response of the entropy to a score *)
(* proves thm:response *)
Theorem entropy_response_to_a_score T k : 0 < T ->
  is_derive (0 : R) (1 : R)
    (fun e => H (A (fun j => s j + e * (j == k)%:R) T))
    (- (A s T k * (s k - mean (A s T) s)) / T ^+ 2).

(* prove the response of the entropy to a score *)
Proof.
move=> T0; pose c j e := (s j + e * (j == k)%:R) / T.
have dc j : is_derive (0 : R) (1 : R) (c j) (T^-1 * (j == k)%:R).
  have -> : c j = cst (s j / T) + ((T^-1 * (j == k)%:R) \*: id : R -> R).
    by apply/funext => e; rewrite -[RHS]/(s j / T + T^-1 * (j == k)%:R * e) /c;
      ring.
  by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
have aE e : A (fun j => s j + e * (j == k)%:R) T = A (c^~ e) 1 by rewrite A1E.
have -> : (fun e => H (A (fun j => s j + e * (j == k)%:R) T))
  = (fun e => H (A (c^~ e) 1)).
  by apply/funext => e; rewrite aE.
have s0 : (fun j => s j + 0 * (j == k)%:R) = s by apply/funext => j;
  rewrite mul0r addr0.
have S1 : \sum_j A s T j = 1 by exact: (sum_A _ _ k0).
apply: (is_derive_eq (derive_entropy k0 dc)); rewrite -aE s0 covZ// covC.
have -> : (c^~ 0) = (fun j => T^-1 * s j).
  by apply/funext => j; rewrite /c mul0r addr0 mulrC.
rewrite covZ// covE// (bigD1 k)//= eqxx big1 ?addr0; last first.
  by move=> j /negbTE->; rewrite mulr0 mul0r.
by rewrite mulr1; move: (mean _ _) => x; field; rewrite gt_eqF.
Qed.
End Response.
