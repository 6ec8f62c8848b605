(* proofs/factor.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From attn Require Import prelude learned.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state the differential of a factor *)
Definition factor (R : realType) d (Theta : 'M[R]_d) := \matrix_(a, b)
  (if (b < a)%N then Theta a b
   else if a == b then expR (Theta a a) else 0).

(* proves prop:learned-gradient *)
Theorem differential_of_factor (R : realType) d
    (Theta dTheta : 'M[R]_d) a b :
  is_derive (0 : R) (1 : R) (fun t => factor (Theta + t *: dTheta) a b)
    (L_part (factor Theta) dTheta a b).

(* prove the differential of a factor *)
Proof.
have aff (x y : R) : is_derive (0 : R) (1 : R) (fun t => x + t * y) y.
  have -> : (fun t => x + t * y) = cst x + (y \*: id : R -> R).
    by apply/funext => t; rewrite -[RHS]/(x + y * t) mulrC.
  by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
have -> : (fun t => factor (Theta + t *: dTheta) a b) = (fun t =>
    if (b < a)%N then Theta a b + t * dTheta a b
    else if a == b then expR (Theta a a + t * dTheta a a) else 0).
  by apply/funext => t; rewrite !mxE.
rewrite [L_part _ _ _ _]mxE; case: ifP => _; first exact: aff.
case: eqP => [<-|_]; last exact: is_derive_cst.
have h := is_derive1_comp (f := expR)
  (g := fun t => Theta a a + t * dTheta a a) (is_derive_expR _) (aff _ _).
by apply: (is_derive_eq h); rewrite mul0r addr0 [factor _ _ _]mxE ltnn eqxx.
Qed.
