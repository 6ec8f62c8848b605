(* proofs/gibbs.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state the inequality of Gibbs *)
Section Divergence.
Variables (R : realType) (K : finType).
Implicit Types p q : K -> R.

Definition distribution q := (forall j, 0 <= q j) /\ \sum_j q j = 1.
(* ln 0 is a number here, so that 0 ln 0 = 0 needs no convention *)
Definition KL q p := \sum_j q j * ln (q j / p j).
Definition dominated q p := forall j, p j = 0 -> q j = 0.

(* proves lem:kl *)
Theorem gibbs_inequality q p :
  distribution q -> distribution p -> dominated q p ->
  0 <= KL q p /\ (KL q p = 0 <-> forall j, q j = p j).

(* prove the inequality of Gibbs *)
Proof.
move=> [q0 q1] [p0 p1] qp.
have le j : q j - p j <= q j * ln (q j / p j) ?= iff (q j == p j).
  have [qj|qj] := eqVneq (q j) 0.
    rewrite qj mul0r sub0r eq_sym; split; first by rewrite oppr_le0.
    by rewrite oppr_eq0.
  have pj : p j != 0 by apply: contraNneq qj => /qp ->.
  have qj0 : 0 < q j by rewrite lt0r qj q0.
  have pj0 : 0 < p j by rewrite lt0r pj p0.
  have x0 : 0 < p j / q j by rewrite divr_gt0.
  have -> : ln (q j / p j) = - ln (p j / q j) by rewrite -lnV ?posrE//
    invf_div.
  have qx : q j * (p j / q j - 1) = p j - q j.
    by rewrite mulrBr mulr1 mulrCA divff// mulr1.
  have [h e] := ln_leB1 x0; rewrite mulrN; split.
    by rewrite -opprB ler_opp2 -qx ler_pmul2l.
  rewrite -opprB eqr_opp -qx eq_sym (inj_eq (mulfI qj)) e.
  by rewrite -(inj_eq (mulIf qj)) mulfVK// mul1r eq_sym.
have S0 : \sum_j (q j - p j) = 0 by rewrite sumrB q1 p1 subrr.
have [L E] := leif_sum (fun j (_ : true) => le j).
rewrite S0 in L E; split=> //; split=> [K0 j|qpE].
  by move: E; rewrite -/(KL q p) K0 eqxx => /esym/forallP/(_ j)/eqP.
by apply/esym/eqP; rewrite E; apply/forallP => j; rewrite qpE eqxx.
Qed.
End Divergence.

(* weights and free energy, in Coq *)
Section Variational.
Variables (R : realType) (K : finType) (s : K -> R) (T : R).
Hypothesis T_gt0 : 0 < T.
Implicit Types q : K -> R.

Definition Z := \sum_k expR (s k / T).
Definition A j := expR (s j / T) / Z.
Definition H q := - \sum_j q j * ln (q j).
Definition U q := - \sum_j q j * s j.
Definition F q := U q - T * H q.

(* the weights are a distribution *)
Lemma Z_gt0 (j : K) : 0 < Z.
Proof.
rewrite /Z (bigD1 j)//= ltr_paddr ?expR_gt0//.
by apply: sumr_ge0 => k _; exact/ltW/expR_gt0.
Qed.

Lemma A_gt0 j : 0 < A j. Proof. by rewrite divr_gt0 ?expR_gt0// (Z_gt0 j).
  Qed.

Lemma ln_A j : ln (A j) = s j / T - ln Z.
Proof. by rewrite ln_div ?posrE ?expR_gt0 ?(Z_gt0 j)// expK. Qed.

Lemma sum_A (j : K) : \sum_k A k = 1.
Proof. by rewrite -mulr_suml divff// gt_eqF// (Z_gt0 j). Qed.

Lemma inhabited q : distribution q -> K.
Proof.
move=> [_ q1]; case: (pickP (fun _ : K => true)) => // none.
by move/eqP: q1; rewrite big_pred0// eq_sym oner_eq0.
Qed.

Lemma A_distribution (j : K) : distribution A.
Proof. by split; [move=> k; exact/ltW/A_gt0 | exact: sum_A j]. Qed.

(* state the variational identity *)
(* proves thm:variational *)
Theorem variational_identity q :
  distribution q -> F q = - T * ln Z + T * KL q A.

(* prove the variational identity *)
Proof.
move=> [q0 q1]; have T0 : T != 0 by rewrite gt_eqF.
have term j : q j * ln (q j / A j) = q j * ln (q j) - (q j * s j) / T
  + q j * ln Z.
  have [->|qj] := eqVneq (q j) 0; first by rewrite !mul0r subr0 addr0.
  rewrite ln_div ?posrE ?A_gt0// ?lt0r ?qj ?q0// ln_A.
  ring.
rewrite /KL (eq_bigr _ (fun j _ => term j)) big_split sumrB/= -!mulr_suml q1
  mul1r.
rewrite mulrDr mulrBr mulrCA divff// mulr1 /F /U /H mulrN opprK mulNr.
by rewrite [RHS]addrC addrK addrC.
Qed.

(* state the variational principle *)
(* proves thm:variational *)
Theorem variational_principle q : distribution q ->
  F A = - T * ln Z /\ F A <= F q /\ (F q = F A <-> forall j, q j = A j).

(* prove the variational principle *)
Proof.
move=> qd; have j0 := inhabited qd; have Ad := A_distribution j0.
have dom : dominated q A by move=> j /eqP; rewrite gt_eqF ?A_gt0.
have [kl0 klE] := gibbs_inequality qd Ad dom.
have KAA : KL A A = 0.
  by rewrite /KL big1// => j _; rewrite divff ?ln1 ?mulr0// gt_eqF ?A_gt0.
have FA : F A = - T * ln Z by rewrite variational_identity// KAA mulr0
  addr0.
split=> //; rewrite FA variational_identity// ler_addl mulr_ge0 ?(ltW
  T_gt0)//.
split=> //; rewrite -klE; split=> [/eqP|->]; last by rewrite mulr0 addr0.
by rewrite -subr_eq0 addrAC subrr add0r mulf_eq0 gt_eqF//= => /eqP.
Qed.

(* state the duality of Legendre *)
(* proves thm:legendre *)
Theorem legendre_duality q : distribution q ->
  T * ln Z + T * (\sum_j q j * ln (q j)) - \sum_j q j * s j = T * KL q A /\
  0 <= T * KL q A /\ (T * KL q A = 0 <-> forall j, q j = A j).

(* prove the duality of Legendre *)
Proof.
move=> qd; have [FA [le E]] := variational_principle qd; have I :=
  variational_identity qd.
split; first by apply: (addrI (- T * ln Z)); rewrite -I /F /U /H; ring.
have -> : T * KL q A = F q - F A by rewrite I FA addrAC subrr add0r.
rewrite subr_ge0 le -E; do 2!split=> //; last by move=> ->; rewrite subrr.
by move=> h; apply/eqP; rewrite -subr_eq0 h.
Qed.
End Variational.
