(* proofs/hopfield.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From attn Require Import prelude metric gibbs.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a memory and its energy, in Coq *)
Section Hopfield.
Variables (R : realType) (d : nat) (P : finType) (k : P -> 'rV[R]_d).
Variables (g : 'M[R]_d) (beta : R) (p0 : P).
Hypotheses (gm : metric g) (beta_gt0 : 0 < beta).
Implicit Types x : 'rV[R]_d.

Definition score x j := inner g (k j) x.
Definition weights x := A (score x) beta^-1.
Definition energy x :=
  - beta^-1 * ln (Z (score x) beta^-1) + 2^-1 * inner g x x.
Definition update x := \sum_j weights x j *: k j.

(* the update against a vector *)
Lemma inner_update x y : inner g (update x) y
  = \sum_j weights x j * score y j.
Proof.
rewrite /update; elim/big_ind2: _ => [|u a v b ua vb|j _].
- by rewrite /inner !mul0mx mxE.
- by rewrite innerDl ua vb.
by rewrite innerZl.
Qed.

(* state that the energy descends *)
(* proves thm:descent *)
Theorem descent x :
  energy x - energy (update x) =
    2^-1 * norm g (update x - x) ^+ 2
    + beta^-1 * KL (weights x) (weights (update x))
  /\ 2^-1 * norm g (update x - x) ^+ 2 <= energy x - energy (update x).

(* prove that the energy descends *)
Proof.
set y := update x.
have b0 : 0 < beta^-1 by rewrite invr_gt0.
have wd z : distribution (weights z) by exact: A_distribution p0.
have KLE : KL (weights x) (weights y) = beta * (inner g y x - inner g y y)
    - ln (Z (score x) beta^-1) + ln (Z (score y) beta^-1).
  have term j : weights x j * ln (weights x j / weights y j) =
      beta * (weights x j * score x j - weights x j * score y j)
      + weights x j * (ln (Z (score y) beta^-1) - ln (Z (score x) beta^-1)).
    rewrite ln_div ?posrE ?A_gt0// !ln_A// invrK; ring.
  rewrite /KL (eq_bigr _ (fun j _ => term j)) big_split /= -mulr_sumr
    -mulr_suml.
  by rewrite (wd x).2 sumrB -!inner_update -/y; ring.
have E : energy x - energy y =
    2^-1 * norm g (y - x) ^+ 2 + beta^-1 * KL (weights x) (weights y).
  have bn : beta != 0 by rewrite gt_eqF.
  rewrite norm_sqr// KLE /energy -scaleN1r !(innerDl, innerDr gm, innerZl,
    innerZr gm).
  by rewrite (innerC gm x y); field.
split=> //; rewrite E ler_addl mulr_ge0 ?(ltW b0)//.
have dom : dominated (weights x) (weights y) by move=> j /eqP;
  rewrite gt_eqF ?A_gt0.
exact: (gibbs_inequality (wd x) (wd y) dom).1.
Qed.

(* state that steps are summable *)
(* proves thm:convergence *)
Theorem steps_summable x n :
  \sum_(t < n) norm g (iter t.+1 update x - iter t update x) ^+ 2 <=
    2 * (energy x - energy (iter n update x)).

(* prove that steps are summable *)
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 subrr mulr0.
rewrite big_ord_recr /=; have [_ h] := descent (iter n update x).
have h2 : norm g (update (iter n update x) - iter n update x) ^+ 2 <=
    2 * (energy (iter n update x) - energy (update (iter n update x))).
  by rewrite -ler_pdivr_mull ?ltr0n.
by apply: le_trans (ler_add IH h2) _; rewrite -mulrDr addrA subrK.
Qed.
End Hopfield.
