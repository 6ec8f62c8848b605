(* proofs/raised.v: tangled from chapters/04-backward-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state that the raised gradient has no metric *)
(* proves cor:raised *)
Theorem raised_gradient (F : fieldType) nq nk d (g : 'M[F]_d)
    (S_bar : 'M[F]_(nq, nk)) (K : 'M[F]_(nk, d)) :
  g \in unitmx -> g^T = g ->
  let Q_bar := S_bar *m (g *m K^T)^T in
  Q_bar *m (invmx g)^T = S_bar *m K.

(* prove that the raised gradient has no metric *)
Proof.
by move=> gu gT Q; rewrite /Q trmx_mul trmxK gT !mulmxA trmx_inv gT mulmxK.
Qed.
