(* proofs/recurrence.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* entries of states are letters *)
(* ring, with the entries of matrices as its letters *)
Ltac entries := repeat match goal with
  |- context [@fun_of_matrix _ _ _ ?A ?i ?j] => move: (A i j) => ? end.

(* inner products of columns, in Coq *)
Definition dot (R : ringType) n (x y : 'cV[R]_n) := (x^T *m y) 0 0.

(* inner products commute *)
Lemma dotC (R : comRingType) n (x y : 'cV[R]_n) : dot x y = dot y x.
Proof. by rewrite /dot !mxE; apply: eq_bigr => i _; rewrite !mxE mulrC. Qed.
Lemma tr_dot (R : comRingType) n (x y : 'cV[R]_n) : x^T *m y = (dot x y)%:M.
Proof. exact: mx11_scalar. Qed.

(* recurrent attention, in Coq *)
Section Recurrence.
Variables (R : comRingType) (m d : nat) (phi psi : nat -> 'cV[R]_m)
  (v : nat -> 'cV[R]_d).
Variables (alpha beta : nat -> R) (eps : R) (M0 : 'M[R]_(m, d)).
(* Definition "Recurrent attention": the state after t tokens, which are
   numbered from 1, and the outputs. *)
Fixpoint state t : 'M[R]_(m, d) :=
  if t is t'.+1 then
    alpha t *: state t' +
    beta t *:
      (psi t *m (v t - (eps * alpha t) *: ((state t')^T *m psi t))^T)
  else M0.
Definition o t := (state t)^T *m phi t.

(* increments, in Coq *)
Definition decay s t := \prod_(s.+1 <= u < t.+1) alpha u.
Definition g t := decay 0 t.

(* a state is a sum of increments *)
Lemma decayS s t : (s <= t)%N -> decay s t.+1 = alpha t.+1 * decay s t.
Proof. by move=> st; rewrite /decay big_nat_recr//= mulrC. Qed.
Lemma decay_id t : decay t t = 1. Proof. by rewrite /decay big_geq. Qed.
Definition increments (u : nat -> 'cV[R]_d) t :=
  u t = beta t *: (v t - (eps * g t) *: (M0^T *m psi t)
    - eps *: \sum_(1 <= s < t) (decay s t * dot (psi t) (psi s)) *: u s).
Lemma state_chunk u C : (forall t, (0 < t <= C)%N -> increments u t) ->
  forall t, (t <= C)%N ->
  state t = g t *: M0 + \sum_(1 <= s < t.+1) decay s t *: (psi s *m (u s)^T).
Proof.
move=> uE; elim=> [|t IH] tC.
  by rewrite /g decay_id scale1r big_geq ?addr0.
rewrite [LHS]/= (IH (ltnW tC)) [in RHS]big_nat_recr// decay_id scale1r /g
  decayS// addrA.
have -> : alpha t.+1 *: (g t *: M0 + \sum_(1 <= s < t.+1) decay s t *:
  (psi s *m (u s)^T)) =
    (alpha t.+1 * g t) *: M0 + \sum_(1 <= s < t.+1) decay s t.+1 *:
      (psi s *m (u s)^T).
  rewrite scalerDr scalerA scaler_sumr; congr (_ + _); rewrite !big_nat;
    apply: eq_bigr => s /andP[_ st].
  by rewrite scalerA decayS.
congr (_ + _); rewrite scalemxAr; congr (_ *m _); rewrite -linearZ /=;
  congr _^T.
rewrite (uE t.+1) ?tC// /increments; congr (_ *: _); rewrite -addrA -opprD;
  congr (_ - _).
rewrite linearD /= mulmxDl scalerDr; congr (_ + _).
  by rewrite linearZ /= -scalemxAl scalerA /g decayS// mulrA.
rewrite !linear_sum mulmx_suml !scaler_sumr !big_nat; apply: eq_bigr =>
  s /andP[_ st].
rewrite linearZ /= -scalemxAl trmx_mul trmxK -mulmxA !scalerA decayS//.
rewrite tr_dot dotC.
by rewrite mul_mx_scalar scalerA; congr (_ *: _); rewrite !mulrA.
Qed.

(* state that chunks equal the recurrence *)
(* proves thm:chunks *)
Theorem chunks u C : (forall t, (0 < t <= C)%N -> increments u t) ->
  (forall t, (0 < t <= C)%N ->
     o t = g t *: (M0^T *m phi t)
       + \sum_(1 <= s < t.+1) (decay s t * dot (phi t) (psi s)) *:
         u s) /\
  state C = g C *: M0 + \sum_(1 <= s < C.+1) decay s C *:
    (psi s *m (u s)^T).

(* prove that chunks equal the recurrence *)
Proof.
move=> uE; split=> [t /andP[_ tC]|]; last exact: (state_chunk uE).
rewrite /o (state_chunk uE tC) linearD /= linearZ /= mulmxDl -scalemxAl;
  congr (_ + _).
rewrite linear_sum mulmx_suml; apply: eq_bigr => s _.
rewrite linearZ /= -scalemxAl trmx_mul trmxK -mulmxA.
rewrite tr_dot dotC.
by rewrite mul_mx_scalar scalerA.
Qed.
End Recurrence.

(* a chunk of tokens, in Coq *)
(* The system of increments is solved from the first token to the last,
   so that there is such a u. *)
Section Witness.
Variables (R : comRingType) (m d : nat) (psi : nat -> 'cV[R]_m)
  (v : nat -> 'cV[R]_d).
Variables (alpha beta : nat -> R) (eps : R) (M0 : 'M[R]_(m, d)).

(* state that increments can be solved for *)
(* proves thm:chunks *)
Theorem increments_solved : exists u, forall t,
  increments psi v alpha beta eps M0 u t.

(* prove that increments can be solved for *)
Proof.
pose next (w : nat -> 'cV[R]_d) t := beta t *:
  (v t - (eps * g alpha t) *: (M0^T *m psi t)
    - eps *: \sum_(1 <= s < t) (decay alpha s t * dot (psi t) (psi s)) *:
      w s).
pose tab := fix f n : nat -> 'cV[R]_d :=
  if n is n'.+1 then fun t => if t == n' then next (f n') t else f n' t
    else fun=> 0.
have tabE n t : (t < n)%N -> tab n t = next (tab t) t.
  elim: n => // n IH; rewrite ltnS leq_eqVlt => /predU1P[->|tn] /=;
    first by rewrite eqxx.
  by rewrite (ltn_eqF tn) IH.
exists (fun t => tab t.+1 t) => t; rewrite /increments tabE// /next.
congr (_ *: (_ - _ *: _)); rewrite !big_nat; apply: eq_bigr => s /andP[_ st].
by rewrite !tabE.
Qed.
End Witness.
