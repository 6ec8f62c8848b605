(* proofs/cumulants.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
From mathcomp.classical Require Import boolp functions classical_sets.
From mathcomp.analysis Require Import topology normedtype realfun.
From attn Require Import response.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Local Open Scope classical_set_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* cumulants, in Coq *)
Section Cumulants.
Variables (R : realType) (K : finType) (s : K -> R) (j0 : K) (b : R).
Definition logZ b := ln (Z (fun j => b * s j) 1).
Definition W := A (fun j => b * s j) 1.
(* the logarithm of the moment-generating function of the score *)
Definition log_mgf h := ln (\sum_j W j * expR (h * s j)).
Definition cumulant k := derive1n k log_mgf 0.

(* functions that can be differentiated often *)
Fixpoint smooth n (f : R -> R) : Prop := if n is m.+1 then
  exists2 g, (forall x, is_derive x (1 : R) f (g x)) & smooth m g else True.
Lemma smooth_less n f : smooth n.+1 f -> smooth n f.
Proof.
by elim: n f => // n IH f [g fg sg]; exists g => //; exact: IH.
Qed.
Lemma smooth_add n f g : smooth n f -> smooth n g ->
  smooth n (fun x => f x + g x).
Proof.
elim: n f g => // n IH f g [f' df sf] [g' dg sg].
by exists (fun x => f' x + g' x); [move=> x; exact: is_deriveD | exact: IH].
Qed.
Lemma smooth_mul n f g : smooth n f -> smooth n g ->
  smooth n (fun x => f x * g x).
Proof.
elim: n f g => // n IH f g sf sg.
have [[f' df sf'] [g' dg sg']] := (sf, sg).
exists (fun x => f x * g' x + g x * f' x) => [x|]; first exact: is_deriveM.
by apply: smooth_add; apply: IH => //; exact: smooth_less.
Qed.
Lemma smooth_const n c : smooth n (fun=> c).
Proof.
by elim: n c => // n IH c; exists (fun=> 0) => // x; exact: is_derive_cst.
Qed.
Lemma smooth_inv n f : (forall x, f x != 0) -> smooth n f ->
  smooth n (fun x => (f x)^-1).
Proof.
move=> f0; elim: n => // n IH sf; have [f' df sf'] := sf.
exists (fun x => - 1 * f' x * ((f x)^-1 * (f x)^-1)) => [x|].
  apply: (is_derive_eq (is_deriveV (f0 x) (df x))).
  rewrite /GRing.scale /= expr2 invfM.
  by move: (f x)^-1 (f' x) => y z; ring.
have si := IH (smooth_less sf).
by apply: smooth_mul; apply: smooth_mul => //; exact: smooth_const.
Qed.
Lemma derive_line c x : is_derive x (1 : R) (fun x => x * c) c.
Proof.
have -> : (fun x => x * c) = (c \*: id : R -> R).
  by apply/funext => y; rewrite mulrC.
by apply: is_derive_eq; rewrite /GRing.scale /= mulr1.
Qed.
Lemma smooth_exp n (c : R) : smooth n (fun x => expR (x * c)).
Proof.
elim: n => // n IH; exists (fun x => expR (x * c) * c); last first.
  by apply: smooth_mul => //; exact: smooth_const.
by move=> x; exact: (is_derive1_comp (f := expR) (is_derive_expR _)
  (derive_line c x)).
Qed.
Lemma smooth_sum n (F : K -> R -> R) : (forall j, smooth n (F j)) ->
  smooth n (fun x => \sum_j F j x).
Proof.
move=> sF; elim: (index_enum K) => [|j r IH].
  have -> : (fun x => \sum_(j <- [::]) F j x) = fun=> 0.
    by apply/funext => x; rewrite big_nil.
  exact: smooth_const.
have -> : (fun x => \sum_(j <- j :: r) F j x) =
    fun x => F j x + \sum_(i <- r) F i x.
  by apply/funext => x; rewrite big_cons.
exact: smooth_add.
Qed.

(* state that $\log Z$ is smooth *)
(* proves prop:cumulants *)
Theorem logZ_is_smooth k x : derivable (derive1n k logZ) x 1.

(* prove that $\log Z$ is smooth *)
Proof.
have sZ n : smooth n (fun x => Z (fun j => x * s j) 1).
  apply: smooth_sum => j.
  have -> : (fun x => expR (x * s j / 1)) = (fun x => expR (x * s j)).
    by apply/funext => y; rewrite divr1.
  exact: smooth_exp.
have Zp y : 0 < Z (fun j => y * s j) 1 by exact: Z_gt0 j0.
have sL n : smooth n logZ.
  case: n => // n; have [Z' dZ sZ'] := sZ n.+1.
  exists (fun y => (Z (fun j => y * s j) 1)^-1 * Z' y) => [y|].
    exact: (is_derive1_comp (f := @ln R) (g := fun y => Z _ 1)
      (is_derive1_ln (Zp y)) (dZ y)).
  apply: smooth_mul => //; apply: smooth_inv => [y|]; first by rewrite gt_eqF.
  exact: sZ.
have D n f : smooth n.+1 f -> derivable (derive1n n f) x 1.
  elim: n f => [|n IH] f [g df sg]; first by have [] := df x.
  have -> : derive1n n.+1 f = derive1n n g; last exact: IH.
  rewrite derive1Sn; congr derive1n; apply/funext => y.
  by rewrite derive1E; apply: derive_val.
exact: D.
Qed.

(* a derivative does not see a shift *)
Lemma derive1_shift (f : R -> R) c x :
  derive1 (fun h => f (b + h) - c) x = derive1 f (b + x).
Proof.
rewrite /derive1.
have -> :
  (fun h => h^-1 *:
  ((fun h => f (b + h) - c) (h + x) - (fun h => f (b + h) - c) x)) =
    (fun h => h^-1 *: (f (h + (b + x)) - f (b + x))); last by [].
apply/funext => h; congr (_ *: _); rewrite opprB addrA subrK.
by rewrite addrCA.
Qed.
Lemma log_mgfE : log_mgf = (fun h => logZ (b + h) - logZ b).
Proof.
apply/funext => h; have Zp c : 0 < Z (fun j => c * s j) 1 by exact: Z_gt0 j0.
rewrite /log_mgf /logZ -ln_div ?posrE//; congr ln; rewrite mulr_suml.
apply: eq_bigr => j _; rewrite /W /A mulrAC divr1 -expRD.
by rewrite [in RHS]divr1 mulrDl.
Qed.

(* state that cumulants are derivatives *)
(* proves prop:cumulants *)
Theorem cumulants_are_derivatives k :
  cumulant k.+1 = derive1n k.+1 logZ b.

(* prove that cumulants are derivatives *)
Proof.
have shift0 (f : R -> R) x : derive1 (fun h => f (b + h)) x = derive1 f
  (b + x).
  rewrite -(derive1_shift f 0 x); congr (derive1 _ x).
  by apply/funext => h; rewrite subr0.
have E n : derive1n n.+1 log_mgf = (fun h => derive1n n.+1 logZ (b + h)).
  elim: n => [|n IH].
    by rewrite !derive1n1 log_mgfE; apply/funext => h; rewrite derive1_shift.
  by rewrite derive1nS IH; apply/funext => h; rewrite shift0 -derive1nS.
by rewrite /cumulant E addr0.
Qed.
End Cumulants.

(* three tokens, in Coq *)
Section NotLipschitz.
Variables (R : realType) (t : R).
Definition token (e : R) (j : 'I_3) :=
  if j == 0 then e else if j == 1 then t else - t.
Definition output e :=
  \sum_j A (fun j => token e 0 * token e j) 1 j * token e j.

(* state that attention is not Lipschitz *)
(* proves prop:not-lipschitz *)
Theorem attention_is_not_lipschitz :
  is_derive (0 : R) (1 : R) output (3%:R^-1 + 2%:R / 3%:R * t ^+ 2).

(* prove that attention is not Lipschitz *)
Proof.
pose c (j : 'I_3) e := token e 0 * token e j.
pose x' (j : 'I_3) : R := if j == 0 then 1 else 0.
have dx j : is_derive (0 : R) (1 : R) (fun e => token e j) (x' j).
  rewrite /token /x'; case: (j == 0); first exact: is_derive_id.
  by case: (j == 1); exact: is_derive_cst.
have dc j : is_derive (0 : R) (1 : R) (c j) (token 0 j).
  apply: (is_derive_eq (is_deriveM (dx 0) (dx j))).
  by rewrite /GRing.scale /= /x' eqxx mulr1 {1}/token eqxx mul0r add0r.
have a0 j : A (c^~ 0) 1 j = 3%:R^-1.
  rewrite /A /Z /c /token eqxx; under eq_bigr do rewrite mul0r mul0r expR0.
  by rewrite mul0r mul0r expR0 sumr_const card_ord mul1r.
have dO := derive_sum (fun j => is_deriveM (derive_A (0 : 'I_3) dc j) (dx j)).
apply: (is_derive_eq dO); rewrite !big_ord_recl big_ord0 /mean !big_ord_recl
  big_ord0.
rewrite !a0 /x' /token /= /GRing.scale /=.
by field.
Qed.
End NotLipschitz.
