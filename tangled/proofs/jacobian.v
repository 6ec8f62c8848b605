(* proofs/jacobian.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude fisher gibbs.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a partial derivative, in Coq *)
Section Jacobian.
Variables (R : realType) (K : finType) (T : R) (k0 : K).
Hypothesis T_gt0 : 0 < T.
Implicit Types (s v : K -> R) (j k : K).

(* f has the derivative df at s in the direction v. *)
Definition derivative_along (f : (K -> R) -> R) s v df :=
  is_derive (0 : R) (1 : R) (fun t => f (fun j => s j + t * v j)) df.
(* f has the partial derivative df by the k-th score at s. *)
Definition partial (f : (K -> R) -> R) k s df :=
  derivative_along f s (fun j => (j == k)%:R) df.

(* derive $\log Z$ along a direction *)
Lemma derive_affine (a b t : R) : is_derive t (1 : R) (fun t : R => (a
  + t * b) / T) (b / T).
Proof.
have -> : (fun t : R => (a + t * b) / T) = cst (a / T) + ((b / T) \*: id : R
  -> R).
  by apply/funext => x; rewrite -[RHS]/(a / T + b / T * x); ring.
by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
Qed.

Lemma derive_sum (f : K -> R -> R) (df : K -> R) (t : R) :
  (forall k, is_derive t (1 : R) (f k) (df k)) ->
  is_derive t (1 : R) (fun t => \sum_k f k t) (\sum_k df k).
Proof.
move=> h; have -> : (fun t => \sum_k f k t) = \sum_k f k.
  by apply/funext => x; rewrite fct_sumE.
elim/big_ind2: _ => [|f1 d1 f2 d2 h1 h2|k _]; first exact: is_derive_cst.
  exact: is_deriveD.
exact: h.
Qed.

Theorem derivative_lnZ s v :
  derivative_along (fun s => ln (Z s T)) s v (T^-1 * \sum_k A s T k * v k).
Proof.
rewrite /derivative_along.
have dE k : is_derive (0 : R) (1 : R) (fun t : R => expR ((s k
  + t * v k) / T))
    (expR (s k / T) * (v k / T)).
  have da := derive_affine (s k) (v k) 0.
  have de := is_derive_expR ((s k + 0 * v k) / T).
  have := is_derive1_comp (f := expR) (g := fun t => (s k
    + t * v k) / T) de da.
  by rewrite mul0r addr0.
have dZ := derive_sum dE.
have Zp : 0 < \sum_k expR ((s k + 0 * v k) / T).
  by under eq_bigr do rewrite mul0r addr0; exact: Z_gt0 k0.
have := is_derive1_comp (f := @ln R) (g := fun t => \sum_k expR ((s k
  + t * v k) / T)) (is_derive1_ln Zp) dZ.
move=> h; apply: (is_derive_eq h).
under eq_bigr do rewrite mul0r addr0.
rewrite !mulr_sumr; apply: eq_bigr => k _; rewrite /A -/(Z s T).
by rewrite mulrCA [RHS]mulrC -!mulrA.
Qed.

(* derive the weights along a direction *)
Theorem derivative_softmax s v j :
  derivative_along (fun s => A s T j) s v (T^-1 * lower (A s T) v j).
Proof.
rewrite /derivative_along.
have AE t : A (fun j => s j + t * v j) T j =
    expR ((s j + t * v j) / T - ln (Z (fun j => s j + t * v j) T)).
  by rewrite -ln_A// lnK// posrE A_gt0.
rewrite (funext AE).
have := is_deriveB (derive_affine (s j) (v j) 0) (derivative_lnZ s v) => dB.
have h := is_derive1_comp (f := expR) (is_derive_expR _) dB.
have E0 : expR ((s j + 0 * v j) / T - ln (Z (fun j => s j + 0 * v j) T))
  = A s T j.
  by rewrite -AE; congr (A _ T j); apply/funext => i; rewrite mul0r addr0.
apply: (is_derive_eq h); rewrite lowerE /mean.
transitivity (A s T j * (v j / T - T^-1 * \sum_k A s T k * v k));
  first by rewrite -E0.
rewrite [RHS]mulrCA; congr (_ * _); by rewrite mulrBr [v j / T]mulrC.
Qed.

(* state the response of a weight *)
(* proves thm:response *)
Theorem softmax_jacobian s j k :
  partial (fun s => A s T j) k s (T^-1 * fisher (A s T) j k).

(* prove the response of a weight *)
Proof.
have := derivative_softmax s (fun i => (i == k)%:R) j; rewrite /partial.
suff -> : lower (A s T) (fun i => (i == k)%:R) j = fisher (A s T) j k by [].
rewrite /lower (bigD1 k)//= eqxx mulr1 big1 ?addr0// => i /negbTE ->.
by rewrite mulr0.
Qed.

(* state that weights are a gradient *)
(* proves thm:legendre *)
Theorem gradient_of_psi s j :
  partial (fun s => T * ln (Z s T)) j s (A s T j).

(* prove that weights are a gradient *)
Proof.
have d := derivative_lnZ s (fun i => (i == j)%:R).
apply: (is_derive_eq (is_deriveZ T d));
  rewrite /GRing.scale /= mulrA divff ?gt_eqF// mul1r.
by rewrite (bigD1 j)//= eqxx mulr1 big1 ?addr0// => i /negbTE ->;
  rewrite mulr0.
Qed.
End Jacobian.
