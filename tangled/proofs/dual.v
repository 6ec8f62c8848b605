(* proofs/dual.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a program without branches, in Coq *)
Section Dual.
Variables (R : realType) (n : nat).

Inductive program :=
| Input of 'I_n
| Const of R
| Plus of program & program
| Minus of program & program
| Times of program & program
| Quotient of program & program
| Apply of (R -> R) & (R -> R) & program.

(* the value of a program, in Coq *)
Fixpoint value (x : 'I_n -> R) e := match e with
| Input i => x i
| Const c => c
| Plus u w => value x u + value x w
| Minus u w => value x u - value x w
| Times u w => value x u * value x w
| Quotient u w => value x u / value x w
| Apply phi _ u => phi (value x u)
end.

(* dual numbers, in Coq *)
(* a + b eps is the pair (a, b) *)
Definition dual : Type := (R * R)%type.
Definition dplus (u w : dual) : dual := (u.1 + w.1, u.2 + w.2).
Definition dminus (u w : dual) : dual := (u.1 - w.1, u.2 - w.2).
Definition dtimes (u w : dual) : dual :=
  (u.1 * w.1, u.2 * w.1 + u.1 * w.2).
Definition dquotient (u w : dual) : dual :=
  (u.1 / w.1, (u.2 - u.1 / w.1 * w.2) / w.1).

(* the dual value of a program, in Coq *)
Fixpoint dual_value (x x' : 'I_n -> R) e : dual := match e with
| Input i => (x i, x' i)
| Const c => (c, 0)
| Plus u w => dplus (dual_value x x' u) (dual_value x x' w)
| Minus u w => dminus (dual_value x x' u) (dual_value x x' w)
| Times u w => dtimes (dual_value x x' u) (dual_value x x' w)
| Quotient u w => dquotient (dual_value x x' u) (dual_value x x' w)
| Apply phi phi' u =>
    let v := dual_value x x' u in (phi v.1, phi' v.1 * v.2)
end.

(* where a program is regular, in Coq *)
Fixpoint regular (x : 'I_n -> R) e : Prop := match e with
| Input _ | Const _ => True
| Plus u w | Minus u w | Times u w => regular x u /\ regular x w
| Quotient u w => [/\ regular x u, regular x w & value x w != 0]
| Apply phi phi' u =>
    regular x u /\ is_derive (value x u) (1 : R) phi (phi' (value x u))
end.

Definition line (x x' : 'I_n -> R) t i := x i + t * x' i.

(* state what a dual evaluation gives *)
(* proves thm:dual *)
Theorem dual_evaluation x x' e : regular x e ->
  (dual_value x x' e).1 = value x e /\
  is_derive (0 : R) (1 : R) (fun t => value (line x x' t) e)
    (dual_value x x' e).2.

(* prove what a dual evaluation gives *)
Proof.
have l0 e' : value (line x x' 0) e' = value x e'.
  by congr value; apply/funext => i; rewrite /line mul0r addr0.
elim: e => [i|c|u IHu w IHw|u IHu w IHw|u IHu w IHw|u IHu w IHw|phi phi' u IHu]
  /=.
- split=> //; rewrite (_ : (fun t => _) = cst (x i) + ((x' i) \*: id : R -> R)).
    by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
  by apply/funext => t; rewrite /line -[RHS]/(x i + x' i * t) mulrC.
- by move=> _; split=> //; exact: is_derive_cst.
- by move=> [/IHu[-> du] /IHw[-> dw]]; split=> //; exact: is_deriveD du dw.
- by move=> [/IHu[-> du] /IHw[-> dw]]; split=> //; exact: is_deriveB du dw.
- move=> [/IHu[uE du] /IHw[wE dw]]; rewrite uE wE; split=> //.
  have := is_deriveM du dw; rewrite !l0 => h; apply: (is_derive_eq h).
  by rewrite /GRing.scale /= addrC mulrC.
- move=> [/IHu[uE du] /IHw[wE dw] w0]; rewrite uE wE; split=> //.
  have w0' : value (line x x' 0) w != 0 by rewrite l0.
  have := is_deriveM du (is_deriveV w0' dw); rewrite !l0 => h;
    apply: (is_derive_eq h).
  rewrite /GRing.scale /=; move: (value x u) (value x w) w0
    (dual_value x x' u).2 (dual_value x x' w).2.
  by move=> a b b0 p q; field.
move=> [/IHu[uE du] dphi]; rewrite uE; split=> //.
rewrite -(l0 u) in dphi *.
exact: (@is_derive1_comp R phi (fun t => value (line x x' t) u) 0 _ _ dphi du).
Qed.
End Dual.
