(* proofs/learned_form.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* learned forms, in Coq *)
Section LearnedForm.
Variables (R : comRingType) (nq nk d d' : nat).
Variables (Q : 'M[R]_(nq, d)) (K : 'M[R]_(nk, d')) (M : 'M[R]_(d, d')).
Definition K_low (M : 'M[R]_(d, d')) := K *m M^T.

(* state that a form can be learned *)
(* proves prop:learned-form *)
Theorem learned_form (Kb : 'M[R]_(nk, d)) (dM : 'M[R]_(d, d')) :
  [/\ Q *m (K_low M)^T = Q *m M *m K^T, K_low (M + dM) = K_low M
    + K_low dM
    & \tr (Kb^T *m K_low dM) = \tr ((Kb^T *m K)^T *m dM)].

(* prove that a form can be learned *)
Proof.
split; first by rewrite /K_low trmx_mul trmxK mulmxA.
  by rewrite /K_low linearD /= mulmxDr.
by rewrite /K_low mulmxA -[LHS]mxtrace_tr trmx_mul trmxK mxtrace_mulC.
Qed.
End LearnedForm.
