(* proofs/learned.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the pairing of a cotangent and a differential, in Coq *)
Section Learned.
Variable F : fieldType.

(* <X, Y> = X_ij Y_ij *)
Definition dot m n (X Y : 'M[F]_(m, n)) := \tr (X^T *m Y).

(* a cotangent is known by its pairings *)
Lemma dotC m n (X Y : 'M[F]_(m, n)) : dot X Y = dot Y X.
Proof. by rewrite /dot -mxtrace_tr trmx_mul trmxK. Qed.
Lemma dot_entries m n (X Y : 'M[F]_(m, n)) : dot X Y = \sum_i \sum_j X i j *
  Y i j.
Proof.
rewrite exchange_big; apply: eq_bigr => j _; rewrite mxE.
by apply: eq_bigr => i _; rewrite mxE.
Qed.
(* A cotangent is determined by its products with all directions. *)
Lemma dot_inj m n (X X' : 'M[F]_(m, n)) : (forall Y, dot X Y = dot X' Y) ->
  X = X'.
Proof.
have E (Z : 'M[F]_(m, n)) i j : dot Z (delta_mx i j) = Z i j.
  rewrite dot_entries (bigD1 i)//= (bigD1 j)//= mxE !eqxx mulr1 big1 ?addr0 =>
    [|l /negbTE lj].
    rewrite big1 ?addr0// => k /negbTE ki; apply: big1 => l _.
    by rewrite mxE ki mulr0.
  by rewrite mxE lj andbF mulr0.
by move=> h; apply/matrixP => i j; rewrite -!E h.
Qed.

(* scores, cotangents and a factor, in Coq *)
Variables (nq nk d r : nat) (S_bar : 'M[F]_(nq, nk)).
Variables (Q : 'M[F]_(nq, d)) (K : 'M[F]_(nk, d)).
Variables (W : 'M[F]_(r, d)) (g_bar : 'M[F]_d).

(* state the gradient of a form *)
(* proves prop:learned-gradient *)
Theorem gradient_of_form dg :
  dot S_bar (Q *m dg *m K^T) = dot (Q^T *m S_bar *m K) dg.

(* prove the gradient of a form *)
Proof.
by rewrite /dot !trmx_mul trmxK !mulmxA mxtrace_mulC !mulmxA.
Qed.

(* state the differential of a pull-back *)
(* proves prop:learned-gradient *)
Theorem pullback_differential (dW : 'M[F]_(r, d)) (t : F) :
  (W + t *: dW)^T *m (W + t *: dW) =
  W^T *m W + t *: (dW^T *m W + W^T *m dW) + t ^+ 2 *: (dW^T *m dW).

(* prove the differential of a pull-back *)
Proof.
have tE : (W + t *: dW)^T = W^T + t *: dW^T by rewrite linearD linearZ.
rewrite tE mulmxDl !mulmxDr -!scalemxAl -!scalemxAr scalerA -expr2.
by rewrite scalerDr !addrA [_ + t *: (dW^T *m W)]addrAC.
Qed.

(* state the gradient of a pull-back *)
Definition W_bar := W *m (g_bar + g_bar^T).

(* proves prop:learned-gradient *)
Theorem gradient_of_pullback dW :
  dot g_bar (dW^T *m W + W^T *m dW) = dot W_bar dW.

(* prove the gradient of a pull-back *)
Proof.
rewrite /dot /W_bar trmx_mul [(g_bar + _)^T]linearD /= trmxK !mulmxDl mxtraceD.
rewrite mulmxDr mxtraceD addrC; congr (_ + _); first by rewrite mulmxA.
by rewrite -mxtrace_tr !trmx_mul !trmxK mxtrace_mulC mulmxA.
Qed.

(* state the gradient of the parameters *)
Definition L_part (L X : 'M[F]_d) := \matrix_(a, b)
  (if (b < a)%N then X a b else if a == b then L a a * X a b else 0).

(* proves prop:learned-gradient *)
Theorem gradient_of_parameters (L dTheta : 'M[F]_d) :
  let dL := L_part L dTheta in
  dot g_bar (dL *m L^T + L *m dL^T)
    = dot (L_part L ((g_bar + g_bar^T) *m L)) dTheta.

(* prove the gradient of the parameters *)
Proof.
move=> dL; transitivity (dot ((g_bar + g_bar^T) *m L) dL).
  have E : \tr (((g_bar + g_bar^T) *m L)^T *m dL) =
      \tr (L^T *m g_bar^T *m dL) + \tr (L^T *m g_bar *m dL).
    by rewrite trmx_mul [(g_bar + _)^T]linearD /= trmxK mulmxDr mulmxDl
      mxtraceD.
  rewrite /dot E mulmxDr mxtraceD; congr (_ + _).
    by rewrite mulmxA mxtrace_mulC mulmxA.
  by rewrite -mxtrace_tr !trmx_mul !trmxK -mulmxA mxtrace_mulC.
rewrite !dot_entries; apply: eq_bigr => a _; apply: eq_bigr => b _;
  rewrite !mxE.
by case: ifP => // _; case: eqP => // _; rewrite ?mulr0 ?mul0r//; ring.
Qed.
End Learned.
