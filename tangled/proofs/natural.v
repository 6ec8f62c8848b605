(* proofs/natural.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import learned.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the cotangent of a learned metric, in Coq *)
Section Cotangents.
Variables (F : fieldType) (nq nk d r : nat) (W : 'M[F]_(r, d)).
Variables (Q : 'M[F]_(nq, d)) (K : 'M[F]_(nk, d)).
Variables (S_bar : 'M[F]_(nq, nk)) (g_bar : 'M[F]_d).
Hypothesis g_barE : g_bar = Q^T *m S_bar *m K.

(* state the cotangents of a factor *)
(* proves prop:geometry-cotangents *)
Theorem cotangents_without_g_bar : W_bar W g_bar =
  (W *m Q^T) *m S_bar *m K + (W *m K^T) *m S_bar^T *m Q.

(* prove the cotangents of a factor *)
Proof.
by rewrite /W_bar g_barE mulmxDr !trmx_mul trmxK !mulmxA.
Qed.

(* state the cotangent of a diagonal *)
(* proves prop:geometry-cotangents *)
Theorem gradient_of_diagonal (dD : 'rV[F]_d) :
  dot g_bar (diag_mx dD) =
  \sum_a (\sum_i \sum_j Q i a * S_bar i j * K j a) * dD 0 a.

(* prove the cotangent of a diagonal *)
Proof.
rewrite dot_entries; apply: eq_bigr => a _.
rewrite (bigD1 a)//= mxE eqxx mulr1n big1 ?addr0 => [|b ba]; last first.
  by rewrite mxE eq_sym (negbTE ba) mulr0n mulr0.
congr (_ * _); rewrite g_barE mxE exchange_big; apply: eq_bigr => j _ /=.
rewrite mxE mulr_suml; apply: eq_bigr => i _; by rewrite mxE.
Qed.
End Cotangents.

(* state that the natural gradient is a vector *)
(* proves thm:geometry-invariance *)
Theorem natural_gradient_is_a_vector (F : fieldType) d
    (G J : 'M[F]_d) (dL : 'cV[F]_d) :
  G \in unitmx -> J \in unitmx ->
  invmx G *m dL = J *m (invmx (J^T *m G *m J) *m (J^T *m dL)).

(* prove that the natural gradient is a vector *)
Proof.
move=> Gu Ju; have JTu : J^T \in unitmx by rewrite unitmx_tr.
have Mu : J^T *m G *m J \in unitmx by rewrite !unitmx_mul JTu Gu.
apply: (can_inj (mulKmx Gu)); rewrite mulKVmx//.
apply: (can_inj (mulKmx JTu)).
by rewrite !mulmxA mulmxV// mul1mx.
Qed.

(* state that the natural flow is invariant *)
(* proves thm:geometry-invariance *)
Corollary natural_flow (F : fieldType) d
    (G J : 'M[F]_d) (dL velocity : 'cV[F]_d) :
  G \in unitmx -> J \in unitmx ->
  velocity = - (invmx (J^T *m G *m J) *m (J^T *m dL)) ->
  J *m velocity = - (invmx G *m dL).

(* prove that the natural flow is invariant *)
Proof.
by move=> Gu Ju ->; rewrite mulmxN -natural_gradient_is_a_vector.
Qed.
