(* proofs/gauges.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a query and its keys, in Coq *)
Section Gauge.
Variables (R : fieldType) (e : R -> R) (gd : R) (n m D Dc dk dv Do :
  nat) (H G : finType).
Hypotheses (eD : forall x y, e (x + y) = e x * e y)
  (e0 : forall x, e x != 0).
Variables (set : H -> G) (M : 'I_n -> pred 'I_m) (X : 'M[R]_(n, D))
  (C : 'M[R]_(m, Dc)).

(* the weights of a layer, in Coq *)
Record weights := Weights {
  WQ : H -> 'M[R]_(D, dk); WK : G -> 'M[R]_(Dc, dk); WV : G ->
    'M[R]_(Dc, dv);
  WO : H -> 'M[R]_(dv, Do); bQ : H -> 'rV[R]_dk; bK : G -> 'rV[R]_dk;
  bV : G -> 'rV[R]_dv; bO : 'rV[R]_Do }.
Implicit Types w : weights.
Definition q w h i := row i X *m WQ w h + bQ w h.
Definition k w s j := row j C *m WK w s + bK w s.
Definition v w s j := row j C *m WV w s + bV w s.
Definition S w h i j := gd * (q w h i *m (k w (set h) j)^T) 0 0.
Definition A w h i j := if M i j then e (S w h i j) / \sum_(l | M i l) e
  (S w h i l) else 0.
Definition Y w i := \sum_h (\sum_j A w h i j *: v w (set h) j) *m WO w
  h + bO w.

(* what the output depends on *)
Lemma Y_eq w w' i : (forall h j, A w h i j = A w' h i j) ->
  (forall h j, v w (set h) j *m WO w h = v w' (set h) j *m WO w' h) ->
    bO w = bO w' ->
  Y w i = Y w' i.
Proof.
move=> EA Ev Eb; rewrite /Y Eb; congr (_ + _); apply: eq_bigr => h _.
by rewrite !mulmx_suml; apply: eq_bigr => j _; rewrite -!scalemxAl EA Ev.
Qed.

(* another gauge, in Coq *)
Variables (P : G -> 'M[R]_dk) (N : G -> 'M[R]_dv).
Definition regauged w := Weights
  (fun h => WQ w h *m P (set h)) (fun s => WK w s *m (invmx (P s))^T)
  (fun s => WV w s *m N s) (fun h => invmx (N (set h)) *m WO w h)
  (fun h => bQ w h *m P (set h)) (fun s => bK w s *m (invmx (P s))^T)
  (fun s => bV w s *m N s) (bO w).

(* state that the gauge does not matter *)
(* proves thm:mh-gauge *)
Theorem gauge w i : (forall s, P s \in unitmx) ->
  (forall s, N s \in unitmx) ->
  Y (regauged w) i = Y w i.

(* prove that the gauge does not matter *)
Proof.
move=> Pu Nu; have ES h j : S (regauged w) h i j = S w h i j.
  rewrite /S /q /k /= !mulmxA -!mulmxDl trmx_mul trmxK -!mulmxA
    [P _ *m _]mulmxA.
  by rewrite mulmxV// mul1mx.
have vE s j : v (regauged w) s j = v w s j *m N s by rewrite /v /= mulmxA
  -mulmxDl.
apply: Y_eq => // h j; last by rewrite vE /= -mulmxA [N _ *m _]mulmxA
  mulmxV// mul1mx.
rewrite /A ES; case: ifP => // _; congr (_ / _).
by apply: eq_bigr => l _; rewrite ES.
Qed.

(* any biases of keys, in Coq *)
(* the output does not depend on the biases of keys *)
Definition with_bK b w := Weights (WQ w) (WK w) (WV w) (WO w) (bQ w) b
  (bV w) (bO w).

(* state that biases of keys do nothing *)
(* proves thm:mh-gauge *)
Theorem no_bias_of_keys b w i : Y (with_bK b w) i = Y w i.

(* prove that biases of keys do nothing *)
Proof.
apply: Y_eq => // h j;
  pose x := e (gd * (q w h i *m (b (set h) - bK w (set h))^T) 0 0).
have kE l : k (with_bK b w) (set h) l = k w (set h) l
  + (b (set h) - bK w (set h)).
  by rewrite /k /= -addrA [bK w _ + _]addrC subrK.
have ES l : e (S (with_bK b w) h i l) = e (S w h i l) * x.
  by rewrite /S kE linearD /= mulmxDr mxE mulrDr eD.
rewrite /A; case: ifP => // _; rewrite ES; under eq_bigr do rewrite ES.
rewrite -mulr_suml -mulf_div divff ?mulr1//; exact: e0.
Qed.

(* biases of values moved, in Coq *)
(* biases of values move to the output where the query sees a key *)
Definition without_bV w := Weights (WQ w) (WK w) (WV w) (WO w) (bQ w)
  (bK w) (fun=> 0)
  (bO w + \sum_h bV w (set h) *m WO w h).

(* state that biases of values can be moved *)
(* proves thm:mh-gauge *)
Theorem no_bias_of_values w i :
  (forall h, \sum_(l | M i l) e (S w h i l) != 0) ->
  Y (without_bV w) i = Y w i.

(* prove that biases of values can be moved *)
Proof.
move=> sees; rewrite /Y /= [_ + bO w]addrC addrC -addrA; congr (_ + _).
rewrite addrC -big_split; apply: eq_bigr => h _ /=; rewrite -mulmxDl;
  congr (_ *m _).
have A1 : \sum_j A w h i j = 1 by rewrite /A -big_mkcond -mulr_suml divff.
have -> : bV w (set h) = \sum_j A w h i j *:
  bV w (set h) by rewrite -scaler_suml A1 scale1r.
rewrite -big_split; apply: eq_bigr => j _ /=.
by rewrite -scalerDr /v /= addr0.
Qed.
End Gauge.
