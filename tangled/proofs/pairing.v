(* proofs/pairing.v: tangled from chapters/00-reading-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the value of a form, in Coq *)
(* B(u, v) = u_a M_ab v_b *)
Definition form (R : ringType) m n (M : 'M[R]_(m, n)) (u : 'cV_m)
  (v : 'cV_n) :=
  (u^T *m M *m v) 0 0.

(* a form is linear in each place *)
Section Values.
Variables (R : comRingType) (m n : nat).
Implicit Types (M : 'M[R]_(m, n)) (u : 'cV[R]_m) (v : 'cV[R]_n).

Lemma formDM M M' u v : form (M + M') u v = form M u v + form M' u v.
Proof. by rewrite /form mulmxDr mulmxDl mxE. Qed.
Lemma formDl M u u' v : form M (u + u') v = form M u v + form M u' v.
Proof. by rewrite /form linearD /= !mulmxDl mxE. Qed.
Lemma formDr M u v v' : form M u (v + v') = form M u v + form M u v'.
Proof. by rewrite /form mulmxDr mxE. Qed.
Lemma formZl c M u v : form M (c *: u) v = c * form M u v.
Proof. by rewrite /form linearZ /= -!scalemxAl mxE. Qed.
Lemma formZr c M u v : form M u (c *: v) = c * form M u v.
Proof. by rewrite /form -scalemxAr mxE. Qed.
Lemma formZM c M u v : form (c *: M) u v = c * form M u v.
Proof. by rewrite /form -scalemxAr -scalemxAl mxE. Qed.
Lemma formT M u v : form M^T v u = form M u v.
Proof.
rewrite /form -[RHS](mxE trmx_key (fun i j => (u^T *m M *m v) j i) 0 0)
  -/(trmx _).
by rewrite !trmx_mul trmxK mulmxA.
Qed.
Lemma form_subst k l M (P : 'M_(m, k)) (P' : 'M_(n, l)) (u : 'cV_k)
  (v : 'cV_l) :
  form (P^T *m M *m P') u v = form M (P *m u) (P' *m v).
Proof. by rewrite /form trmx_mul !mulmxA. Qed.

(* a form is known by its values *)
Lemma form_unit M a b : form M (delta_mx a 0) (delta_mx b 0) = M a b.
Proof. by rewrite /form trmx_delta -rowE -colE !mxE. Qed.
(* A form is determined by its values. *)
Lemma form_inj M M' : (forall u v, form M u v = form M' u v) -> M = M'.
Proof. by move=> E; apply/matrixP => a b; rewrite -!form_unit E. Qed.
End Values.

(* state that scores need no coordinates *)
Section Pairing.
Variables (R : comRingType) (d : nat).
Implicit Types (g M : 'M[R]_d) (q k : 'cV[R]_d).

(* proves prop:pairing *)
Theorem scores_need_no_coordinates g' M q k :
  form (M^T *m g' *m M) q k = form g' (M *m q) (M *m k).

(* prove that scores need no coordinates *)
Proof.
exact: form_subst.
Qed.

(* state that bare products need orthogonal coordinates *)
(* proves prop:pairing *)
Theorem dot_needs_orthogonal M :
  (forall q k, (M *m q)^T *m (M *m k) = q^T *m k) <-> M^T *m M = 1%:M.

(* prove that bare products need orthogonal coordinates *)
Proof.
split=> [E|E q k]; last by rewrite trmx_mul mulmxA -(mulmxA _ M^T) E mulmx1.
apply: form_inj => u v; rewrite /form mulmxA -(mulmxA _ M) -trmx_mul E.
by rewrite mulmx1.
Qed.
End Pairing.
