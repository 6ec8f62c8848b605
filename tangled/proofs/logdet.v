(* proofs/logdet.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From attn Require Import prelude forms inertia.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state the logarithm of a changed determinant *)
(* proves prop:basis *)
Theorem log_det_in_another_basis (R : realType) d (g P : 'M[R]_d) :
  metric g -> P \in unitmx ->
  ln (\det (P^T *m g *m P)) = ln (\det g) + 2%:R * ln `|\det P|.

(* prove the logarithm of a changed determinant *)
Proof.
move=> gm Pu; have g0 := metric_det_gt0 gm.
have p0 : 0 < `|\det P| by rewrite normr_gt0 -unitfE -unitmxE.
rewrite !det_mulmx det_tr mulrC mulrA -expr2 -(real_normK (num_real (\det P))).
by rewrite expr2 !lnM ?posrE ?mulr_gt0// addrC mulr_natl mulr2n.
Qed.
