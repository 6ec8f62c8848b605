(* proofs/equivariance.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* attention with any function, in Coq *)
Section Equivariance.
(* e is the exponential; the theorem holds for every function. *)
Variables (R : fieldType) (e : R -> R) (nq nk d dv : nat) (g : 'M[R]_d).
Implicit Types (Q : 'M[R]_(nq, d)) (K : 'M[R]_(nk, d)) (V : 'M[R]_(nk, dv)).

Definition scores Q K := Q *m g *m K^T.
Definition weights Q K :=
  \matrix_(i, j) (e (scores Q K i j) / \sum_k e (scores Q K i k)).
Definition attention Q K V := weights Q K *m V.

(* permute rows and columns at once *)
Lemma perm_both (s : 'S_nq) (t : 'S_nk) (W : 'M[R]_(nq, nk)) i j :
  (perm_mx s *m W *m (perm_mx t)^T) i j = W (s i) (t j).
Proof. by rewrite tr_perm_mx -row_permE -col_permE !mxE. Qed.

(* state that attention is equivariant *)
(* proves prop:permutation *)
Theorem equivariance (s : 'S_nq) (t : 'S_nk) Q K V :
  let P := perm_mx s in let S := perm_mx t in
  weights (P *m Q) (S *m K) = P *m weights Q K *m S^T /\
  attention (P *m Q) (S *m K) (S *m V) = P *m attention Q K V.

(* prove that attention is equivariant *)
Proof.
move=> P S.
have sE : scores (P *m Q) (S *m K) = P *m scores Q K *m S^T.
  by rewrite /scores trmx_mul !mulmxA.
have wE : weights (P *m Q) (S *m K) = P *m weights Q K *m S^T.
  apply/matrixP => i j; rewrite perm_both [LHS]mxE [RHS]mxE sE perm_both.
  congr (_ / _); rewrite [RHS](reindex_inj (@perm_inj _ t)).
  by apply: eq_bigr => k _; rewrite perm_both.
split=> //; rewrite /attention wE -!mulmxA; congr (_ *m (_ *m _)).
by rewrite mulmxA tr_perm_mx -perm_mxM mulVg perm_mx1 mul1mx.
Qed.
End Equivariance.
