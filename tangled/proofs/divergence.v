(* proofs/divergence.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
From mathcomp.classical Require Import boolp functions.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state the inequality where it is infinite *)
Definition divergence (R : realType) (K : finType)
    (q p : K -> R) : \bar R :=
  if [forall j, (p j == 0) ==> (q j == 0)] then (KL q p)%:E else +oo%E.

(* proves lem:kl *)
Theorem gibbs_with_infinity (R : realType) (K : finType)
    (q p : K -> R) :
  distribution q -> distribution p -> (0%:E <= divergence q p)%E /\
  (divergence q p = 0%:E <-> forall j, q j = p j).

(* prove the inequality where it is infinite *)
Proof.
move=> qd pd; rewrite /divergence; case: ifP => [/forallP dom|/negbT].
  have d : dominated q p.
    by move=> j /eqP pj; apply/eqP; move: (dom j); rewrite pj.
  have [kl0 klE] := gibbs_inequality qd pd d.
  by rewrite lee_fin; split=> //; rewrite -klE; split=> [[]|->].
rewrite negb_forall => /existsP[j]; rewrite negb_imply => /andP[/eqP pj qj].
split; first by rewrite leey.
by split=> // E; move: qj; rewrite E pj eqxx.
Qed.

(* a row of scores and its potential, in Coq *)
Section Row.
Variables (R : realType) (K : finType) (j0 : K).
Implicit Types (s h : K -> R) (p q r : K -> R) (T : R).

Definition mean (a f : K -> R) := \sum_j a j * f j.
Definition psi T s := T * ln (Z s T).
Definition positive p := (forall j, 0 < p j) /\ \sum_j p j = 1.

(* Gibbs weights are positive *)
Lemma A_positive s T : 0 < T -> positive (A s T).
Proof. by move=> T0; split; [move=> j; exact: A_gt0 | exact: sum_A j0]. Qed.

(* state the gauge of scale *)
(* proves prop:gibbs-gauge *)
Theorem gauge_of_scale s T (l : R) : 0 < l ->
  let s' := fun j => l * s j in let T' := l * T in
  [/\ Z s' T' = Z s T, forall j, A s' T' j = A s T j,
      H (A s' T') = H (A s T), U s' (A s' T') = l * U s (A s T)
    & F s' T' (A s' T') = l * F s T (A s T)].

(* prove the gauge of scale *)
Proof.
move=> l0 s' T'; have E j : s' j / T' = s j / T.
  by rewrite /s' /T' invfM mulrACA divff ?mul1r// gt_eqF.
have ZE : Z s' T' = Z s T by apply: eq_bigr => j _; rewrite E.
have AE : A s' T' = A s T by apply/funext => j; rewrite /A E ZE.
have UE : U s' (A s' T') = l * U s (A s T).
  rewrite /U mulrN mulr_sumr AE; congr (- _); apply: eq_bigr => j _.
  by rewrite /s' mulrCA.
split=> //; rewrite ?AE// in UE *.
by rewrite /F UE /T' mulrBr mulrA.
Qed.

(* state what a finite push does *)
(* proves prop:finite-push *)
Theorem finite_pushes s h T : 0 < T ->
  let a := A s T in let a' := A (fun j => s j + h j) T in
  let rise := psi T (fun j => s j + h j) - psi T s in
  [/\ rise = T * ln (mean a (fun j => expR (h j / T))),
      mean a h + T * KL a a' = rise & rise = mean a' h - T * KL a' a].

(* prove what a finite push does *)
Proof.
move=> T0 a a' rise; have Tn : T != 0 by rewrite gt_eqF.
have Zp s' : 0 < Z s' T by exact: Z_gt0 j0.
have lnq j : ln (a j / a' j) = ln (Z (fun j => s j + h j) T) - ln (Z s T)
  - h j / T.
  by rewrite ln_div ?posrE ?A_gt0// !ln_A//; field.
have lnq' j : ln (a' j / a j) = - (ln (Z (fun j => s j + h j) T) - ln (Z s T)
  - h j / T).
  by rewrite ln_div ?posrE ?A_gt0// !ln_A//; field.
have kl b (c : R) : \sum_j b j = 1 -> T * (\sum_j b j * (c - h j / T)) = T * c
  - mean b h.
  move=> b1; rewrite /mean; under eq_bigr do rewrite mulrBr mulrA.
  by rewrite sumrB -!mulr_suml b1 mul1r mulrBr [T * (_ / _)]mulrC divfK.
have a1 : \sum_j a j = 1 by exact: sum_A j0.
have a'1 : \sum_j a' j = 1 by exact: sum_A j0.
have riseE : rise = T * (ln (Z (fun j => s j + h j) T) - ln (Z s T))
  by rewrite mulrBr.
split.
- rewrite riseE -ln_div ?posrE//; congr (_ * ln _); rewrite /mean mulr_suml;
  apply: eq_bigr => j _.
  by rewrite mulrDl expRD mulrAC.
- by rewrite /KL (eq_bigr _ (fun j _ => congr1 _ (lnq j))) kl// riseE addrC
  subrK.
rewrite /KL; under [X in _ - T * X]eq_bigr do rewrite lnq' mulrN.
by rewrite sumrN mulrN kl// opprK [RHS]addrC subrK riseE.
Qed.
End Row.
