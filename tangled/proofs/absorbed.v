(* proofs/absorbed.v: tangled from chapters/09b-models-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* attention from latent vectors, in Coq *)
Section Absorbed.
Variables (R : fieldType) (e : R -> R) (n r d d' dv D : nat)
  (H : finType) (lam : R).
Variables (rot : int -> 'M[R]_d').
Hypothesis rotD : forall i j, (rot i)^T *m rot j = rot (j - i).
Variables (q : H -> nat -> 'cV[R]_d) (q' : H -> nat -> 'cV[R]_d').
Variables (c : 'I_n -> 'cV[R]_r) (k' : 'I_n -> 'cV[R]_d').
Variables (U : H -> 'M[R]_(d, r)) (Zh : H -> 'M[R]_(dv, r))
  (M : nat -> pred 'I_n) (z0 : R).
(* attention with scores s and values v *)
Definition weights (s : 'I_n -> R) i j :=
  if M i j then e (s j) / (z0 + \sum_(l | M i l) e (s l)) else 0.
Definition average m (s : 'I_n -> R) (v : 'I_n -> 'cV[R]_m) i :=
  \sum_j weights s i j *: v j.

(* scores and outputs of a latent head, in Coq *)
Definition S h i (j : 'I_n) := lam * (((q h i)^T *m U h *m c j) 0 0 +
  ((q' h i)^T *m rot (j%:Z - i%:Z) *m k' j) 0 0).
Definition o h i := average (S h i) (fun j => Zh h *m c j) i.
(* one head of keys and of values for all queries *)
Definition key (j : 'I_n) := col_mx (c j) (rot j%:Z *m k' j).
Definition query h i := col_mx ((U h)^T *m q h i) (rot i%:Z *m q' h i).

(* state that keys can be absorbed *)
(* proves thm:models-absorbed *)
Theorem absorbed h i :
  (forall j, S h i j = lam * ((query h i)^T *m key j) 0 0) /\
  o h i = Zh h *m average (fun j => lam * ((query h i)^T *m key j) 0 0)
    c i.

(* prove that keys can be absorbed *)
Proof.
have E j : S h i j = lam * ((query h i)^T *m key j) 0 0.
  rewrite /S /query /key tr_col_mx mul_row_col [in RHS]mxE !trmx_mul !trmxK;
    congr (_ * (_ + _)).
  by rewrite -!mulmxA [(rot i)^T *m _]mulmxA rotD.
split=> //; rewrite /o /average mulmx_sumr; apply: eq_bigr => j _.
rewrite -scalemxAr; congr (_ *: _); rewrite /weights E; case: ifP => // _;
  congr (_ / (_ + _)).
by apply: eq_bigr => l _; rewrite E.
Qed.

(* state the rank of a latent form *)
(* proves thm:models-absorbed *)
Theorem latent_rank (W : 'M[R]_(d, D)) h :
  (\rank (W^T *m U h) <= minn d r)%N.

(* prove the rank of a latent form *)
Proof.
rewrite leq_min (leq_trans (mxrankM_maxr _ _) (rank_leq_row _)).
exact: leq_trans (mxrankM_maxr _ _) (rank_leq_col _).
Qed.

(* state the memory of latent keys *)
(* proves thm:models-absorbed *)
Theorem latent_memory :
  #|{: 'I_r + 'I_d'}| = (r + d')%N /\ #|{: H * ('I_d + 'I_d' + 'I_dv)}|
    = (#|H| * (d + d' + dv))%N.

(* prove the memory of latent keys *)
Proof.
by rewrite card_prod !card_sum !card_ord.
Qed.
End Absorbed.
