(* proofs/learning.v: tangled from chapters/06a-weights-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs response.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* learning a temperature, in Coq *)
Section Learn.
Variables (R : realType) (I K : finType) (s q : I -> K -> R) (j0 : K).
Hypothesis qd : forall i, distribution (q i).
Definition Ab (beta : R) i := A (s i) beta^-1.
Definition mean (p : K -> R) i := \sum_j p j * s i j.
Definition Lambda beta := \sum_i KL (q i) (Ab beta i).
Definition slope beta := \sum_i (mean (Ab beta i) i - mean (q i) i).

(* relative entropies and temperatures *)
Lemma ln_Ab beta i j : ln (Ab beta i j) = beta * s i j - ln (Z (s i) beta^-1).
Proof. by rewrite /Ab ln_A invrK mulrC. Qed.
Lemma KL_Ab (p : K -> R) beta i : distribution p ->
  KL p (Ab beta i) = (\sum_j p j * ln (p j)) - beta * mean p i
    + ln (Z (s i) beta^-1).
Proof.
move=> [p0 p1]; have E j : p j * ln (p j / Ab beta i j) =
    p j * ln (p j) - beta * (p j * s i j) + p j * ln (Z (s i) beta^-1).
  have [->|pj] := eqVneq (p j) 0; first by rewrite !mul0r mulr0 subr0 addr0.
  rewrite ln_div ?posrE ?A_gt0 ?lt0r ?pj ?p0// ln_Ab; ring.
by rewrite /KL (eq_bigr _ (fun j _ => E j)) big_split sumrB /= -mulr_sumr
  -mulr_suml p1 mul1r.
Qed.
Lemma Ad beta i : distribution (Ab beta i). Proof. exact: A_distribution j0.
Qed.
Lemma KLAA beta beta' i : KL (Ab beta i) (Ab beta' i) =
  ln (Z (s i) beta'^-1) - ln (Z (s i) beta^-1) - (beta' - beta) * mean
    (Ab beta i) i.
Proof.
rewrite (KL_Ab _ _ (Ad beta i)).
have -> : \sum_j Ab beta i j * ln (Ab beta i j) = beta * mean (Ab beta i) i
  - ln (Z (s i) beta^-1).
  under eq_bigr do rewrite ln_Ab mulrBr mulrCA.
  by rewrite sumrB -mulr_sumr -mulr_suml (Ad beta i).2 mul1r.
ring.
Qed.

(* state that learning is convex *)
(* proves prop:learn-temperature *)
Theorem learn_temperature beta beta' :
  Lambda beta' - Lambda beta - (beta' - beta) * slope beta =
    \sum_i KL (Ab beta i) (Ab beta' i) /\
  0 <= \sum_i KL (Ab beta i) (Ab beta' i).

(* prove that learning is convex *)
Proof.
split.
  rewrite /Lambda /slope mulr_sumr -!sumrB; apply: eq_bigr => i _.
  by rewrite !(KL_Ab _ _ (qd i)) KLAA; ring.
apply: sumr_ge0 => i _; apply: (gibbs_inequality (Ad beta i) (Ad beta' i) _).1
  => j /eqP.
by rewrite gt_eqF// A_gt0.
Qed.

(* state that a planted temperature is found *)
(* proves prop:learn-temperature *)
Theorem planted beta beta' : (forall i j, q i j = Ab beta i j) ->
  Lambda beta <= Lambda beta'.

(* prove that a planted temperature is found *)
Proof.
move=> E; have [h p] := learn_temperature beta beta'.
have z : slope beta = 0.
  by apply: big1 => i _; apply/eqP; rewrite subr_eq0; apply/eqP/eq_bigr =>
    j _; rewrite E.
by rewrite -subr_ge0; move: h; rewrite z mulr0 subr0 => ->.
Qed.

(* state the derivatives of the sum *)
(* proves prop:learn-temperature *)
Theorem derivatives beta :
  is_derive beta (1 : R) Lambda (slope beta) /\
  is_derive beta (1 : R) slope
    (\sum_i cov (Ab beta i) (s i) (s i)).

(* prove the derivatives of the sum *)
Proof.
have dc i k : is_derive beta (1 : R) (fun t => t * s i k) (s i k).
  have -> : (fun t => t * s i k) = (s i k \*: id : R -> R).
    by apply/funext => t; rewrite -[RHS]/(s i k * t) mulrC.
  by apply: is_derive_eq; rewrite /GRing.scale /= mulr1.
have AE t i : A (fun k => t * s i k) 1 = Ab t i.
  rewrite /Ab [RHS]A1E; congr (A _ 1).
  by apply/funext => k; rewrite invrK mulrC.
have ZE t i : ln (Z (fun k => t * s i k) 1) = ln (Z (s i) t^-1).
  by congr ln; apply: eq_bigr => k _; rewrite divr1 invrK mulrC.
split; apply: derive_sum => i.
  have -> : (fun t => KL (q i) (Ab t i)) =
      (cst (\sum_j q i j * ln (q i j)) + ((- mean (q i) i) \*: id : R -> R))
      + (fun t => ln (Z ((fun k t => t * s i k)^~ t) 1)).
    apply/funext => t; rewrite (KL_Ab _ _ (qd i)) -ZE.
    rewrite -[RHS]/((\sum_j q i j * ln (q i j)) + - mean (q i) i * t
      + ln (Z (fun k => t * s i k) 1)).
    by congr (_ + _); ring.
  have da : is_derive beta (1 : R) (cst (\sum_j q i j * ln (q i j))
      + ((- mean (q i) i) \*: id : R -> R)) (- mean (q i) i).
    by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
  apply: (is_derive_eq (is_deriveD da (derive_lnZ j0 (dc i)))).
  by rewrite addrC -AE.
have -> : (fun t => mean (Ab t i) i - mean (q i) i) =
    (fun t => response.mean (A ((fun k t => t * s i k)^~ t) 1) (s i))
    + cst (- mean (q i) i).
  by apply/funext => t; rewrite -AE.
have dm := derive_mean j0 (dc i) (s i).
apply: (is_derive_eq (is_deriveD dm (is_derive_cst _ _ _))).
by rewrite addr0 -AE.
Qed.
End Learn.
