(* proofs/rest.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import backward.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the cotangents of a score and of the temperature, in Coq *)
Section Rest.
Variables (F : fieldType) (nq nk : nat) (T : F).
Variables (A S A_bar : 'M[F]_(nq, nk)) (l_bar : 'I_nq -> F).
Hypothesis rows : forall i, \sum_j A i j = 1.

Definition S_bar i j :=
  T^-1 * (lower (A i) (A_bar i) j + A i j * l_bar i).
Definition T_bar := - T^-1 * \sum_i \sum_j S_bar i j * S i j.

(* state the cotangent of the temperature by differences *)
(* proves prop:rest *)
Theorem T_bar_by_differences (m : 'I_nq -> F) : T_bar =
  - T^-1 * \sum_i
    (\sum_j S_bar i j * (S i j - m i) + m i * l_bar i / T).

(* prove the cotangent of the temperature by differences *)
Proof.
have row_sum i : \sum_j S_bar i j = l_bar i / T.
  by rewrite -mulr_sumr big_split /= lower_sum0// add0r -mulr_suml rows mul1r
    mulrC.
congr (_ * _); apply: eq_bigr => i _; under [X in _ = X + _]eq_bigr do
  rewrite mulrBr.
by rewrite sumrB -mulr_suml row_sum [l_bar i / T * m i]mulrC mulrA subrK.
Qed.

(* state that a forbidden score has no cotangent *)
(* proves prop:rest *)
Theorem forbidden_score i j : A i j = 0 -> S_bar i j = 0.

(* prove that a forbidden score has no cotangent *)
Proof.
by move=> z; rewrite /S_bar lowerE z !mul0r addr0 mulr0.
Qed.

(* state that these are the cotangents *)
Variables (dS : 'M[F]_(nq, nk)) (dT : F).
Definition dx i j := dS i j / T - S i j * dT / T ^+ 2.

(* proves prop:rest *)
Theorem cotangents_of_scores : T != 0 ->
  (\sum_i \sum_j A_bar i j * lower (A i) (dx i) j)
    + (\sum_i l_bar i * \sum_j A i j * dx i j) =
  (\sum_i \sum_j S_bar i j * dS i j) + T_bar * dT.

(* prove that these are the cotangents *)
Proof.
move=> T0; have row i : \sum_j A_bar i j * lower (A i) (dx i) j
    + l_bar i * (\sum_j A i j * dx i j) = \sum_j T * S_bar i j * dx i j.
  rewrite -lowerC mulr_sumr -big_split; apply: eq_bigr => j _ /=.
  rewrite (_ : T * S_bar i j = lower (A i) (A_bar i) j + A i j * l_bar i).
    by move: (lower _ _ _) (A i j) (dx i j) => x y z; ring.
  by rewrite /S_bar mulrA mulfV// mul1r.
rewrite -big_split (eq_bigr _ (fun i _ => row i)) /T_bar -mulrA mulr_suml.
rewrite mulr_sumr -big_split; apply: eq_bigr => i _ /=.
rewrite mulr_suml mulr_sumr -big_split; apply: eq_bigr => j _ /=.
by rewrite /dx; move: (S_bar i j) (dS i j) (S i j) => x y z; field.
Qed.
End Rest.
