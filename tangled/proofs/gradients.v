(* proofs/gradients.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
From attn Require Import response.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* partial derivatives by a matrix, in Coq *)
Section Partial.
Variable R : realType.

(* f has at X the derivative df in the direction Y *)
Definition along m n (f : 'M[R]_(m, n) -> R) X Y df :=
  is_derive (0 : R) (1 : R) (fun t => f (X + t *: Y)) df.
(* the partial derivative by the entry i, j *)
Definition partial m n (f : 'M[R]_(m, n) -> R) X i j df :=
  along f X (delta_mx i j) df.

(* differentiate what is linear *)
Lemma along_affine m n (f f' : 'M[R]_(m, n) -> R) X Y :
  (forall t, f (X + t *: Y) = f X + t * f' Y) -> along f X Y (f' Y).
Proof.
move=> h; rewrite /along (funext h).
have -> : (fun t => f X + t * f' Y) = cst (f X) + (f' Y \*: id : R -> R).
  by apply/funext => t; rewrite -[RHS]/(f X + f' Y * t) mulrC.
by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
Qed.

Lemma delta_mul m n p (V : 'M[R]_(n, p)) i j k l :
  (delta_mx i j *m V : 'M_(m, p)) k l = (k == i)%:R * V j l.
Proof.
rewrite mxE (bigD1 j)//= mxE eqxx andbT big1 ?addr0// => h /negbTE hj.
by rewrite mxE hj andbF mul0r.
Qed.
Lemma mul_delta m n p (A : 'M[R]_(m, n)) i j k l :
  (A *m delta_mx i j : 'M_(m, p)) k l = A k i * (l == j)%:R.
Proof.
rewrite mxE (bigD1 i)//= mxE eqxx big1 ?addr0// => h /negbTE hi.
by rewrite mxE hi mulr0.
Qed.

(* attention as functions of matrices, in Coq *)
Section Attention.
Variables (nq nk da db dv : nat) (T : R).
Variables (Q : 'M[R]_(nq, da)) (K : 'M[R]_(nk, db))
  (V : 'M[R]_(nk, dv)).
Variables (M : 'M[R]_(da, db)) (A S : 'M[R]_(nq, nk)).
Definition score (Q : 'M[R]_(nq, da)) (M : 'M[R]_(da, db))
    (K : 'M[R]_(nk, db)) := Q *m M *m K^T.
Definition weights (S : 'M[R]_(nq, nk)) : 'M[R]_(nq, nk) :=
  \matrix_(i, j) gibbs.A (S i) T j.

(* state the derivative of an output by a weight *)
(* proves thm:jacobians *)
Theorem output_by_weight i c m n :
  partial (fun A => (A *m V) i c) A m n ((i == m)%:R * V n c).

(* prove the derivative of an output by a weight *)
Proof.
rewrite -delta_mul; apply: (along_affine (f' := fun Y => (Y *m V) i c)) => t.
by rewrite mulmxDl -scalemxAl !mxE.
Qed.

(* state the derivative of an output by a value *)
(* proves thm:jacobians *)
Theorem output_by_value i c n e :
  partial (fun V => (A *m V) i c) V n e (A i n * (c == e)%:R).

(* prove the derivative of an output by a value *)
Proof.
rewrite -mul_delta; apply: (along_affine (f' := fun Y => (A *m Y) i c)) => t.
by rewrite mulmxDr -scalemxAr !mxE.
Qed.

(* state the derivative of a weight by a score *)
(* proves thm:jacobians *)
Theorem weight_by_score m n p q : 0 < T ->
  partial (fun S => weights S m n) S p q
    ((m == p)%:R / T * weights S m n * ((n == q)%:R - weights S m q)).

(* move one score of one row *)
Proof.
move=> T0; rewrite /partial /along.
have -> : (fun t => weights (S + t *: delta_mx p q) m n) =
    (fun t => gibbs.A (fun j => S m j + t * ((m == p) && (j == q))%:R) T n).
  apply/funext => t; rewrite mxE; congr (gibbs.A _ T n); apply/funext => j.
  by rewrite !mxE.
pose c j t := (S m j + t * ((m == p) && (j == q))%:R) / T.
have dc j : is_derive (0 : R) (1 : R) (c j) (T^-1 * ((m == p) && (j == q))%:R).
  set b := _%:R; have -> : c j = cst (S m j / T) + ((T^-1 * b) \*: id : R -> R).
    by apply/funext => t; rewrite -[RHS]/(S m j / T + T^-1 * b * t) /c -/b;
      ring.
  by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
have -> : (fun t => gibbs.A (fun j => S m j + t * ((m == p) && (j == q))%:R) T
  n) =
    (fun t => gibbs.A (c^~ t) 1 n) by apply/funext => t; rewrite A1E.
apply: (is_derive_eq (derive_A n dc n)).
have a0 : gibbs.A (c^~ 0) 1 = gibbs.A (S m) T.
  by rewrite [RHS]A1E; congr (gibbs.A _ 1); apply/funext => j;
    rewrite /c mul0r addr0.
rewrite a0 !mxE; have [->|mp] /= := eqVneq m p; last first.
  rewrite mulr0 mul0r /mean big1 ?subrr ?mulr0 ?mul0r// => j _.
  by rewrite !mulr0.
rewrite /mean (bigD1 q)//= eqxx mulr1 big1 ?addr0; last first.
  by move=> j /negbTE->; rewrite !mulr0.
by ring.
Qed.

(* state the derivative of a score by a query *)
(* proves thm:jacobians *)
Theorem score_by_query p q k a :
  partial (fun Q => score Q M K p q) Q k a
    ((p == k)%:R * (M *m K^T) a q).

(* prove the derivative of a score by a query *)
Proof.
rewrite -delta_mul; apply: (along_affine (f' := fun Y => (Y *m (M *m K^T)) p q))
  => t.
by rewrite /score -!mulmxA mulmxDl -scalemxAl !mxE.
Qed.

(* state the derivative of a score by a key *)
(* proves thm:jacobians *)
Theorem score_by_key p q l b :
  partial (fun K => score Q M K p q) K l b ((q == l)%:R * (Q *m M) p b).

(* prove the derivative of a score by a key *)
Proof.
rewrite mulrC -mul_delta -trmx_delta.
apply: (along_affine (f' := fun Y => (Q *m M *m Y^T) p q)) => t.
by rewrite /score linearD linearZ /= mulmxDr -scalemxAr !mxE.
Qed.

(* state the derivative of a score by the form *)
(* proves thm:jacobians *)
Theorem score_by_form p q a b :
  partial (fun M => score Q M K p q) M a b (Q p a * K q b).

(* prove the derivative of a score by the form *)
Proof.
have -> : Q p a * K q b = (Q *m delta_mx a b *m K^T) p q.
  rewrite -mulmxA mxE (bigD1 a)//= delta_mul eqxx mul1r mxE big1 ?addr0// =>
    h /negbTE ha.
  by rewrite delta_mul ha mul0r mulr0.
apply: (along_affine (f' := fun Y => (Q *m Y *m K^T) p q)) => t.
by rewrite /score mulmxDr mulmxDl -scalemxAr -scalemxAl !mxE.
Qed.
End Attention.
End Partial.
