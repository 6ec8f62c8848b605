(* proofs/woodbury.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* take a determinant in two ways *)
Section Determinant.
Variables (R : comUnitRingType) (r d : nat).
Implicit Types (D : 'M[R]_d) (U : 'M[R]_(r, d)).

Lemma det_block_ul n1 n2 (P : 'M[R]_n1) (B : 'M_(n1, n2)) (C : 'M_(n2,
  n1)) (E : 'M_n2) :
  P \in unitmx -> \det (block_mx P B C E) = \det P * \det (E
    - C *m invmx P *m B).
Proof.
move=> Pu.
have -> : block_mx P B C E =
    block_mx 1%:M 0 (C *m invmx P) 1%:M *m block_mx P B 0 (E
      - C *m invmx P *m B).
  rewrite mulmx_block !mul1mx !mul0mx !addr0 mulmxKV//.
  by rewrite addrCA subrr addr0.
by rewrite det_mulmx det_lblock det_ublock !det1 !mul1r.
Qed.

Lemma det_block_dr n1 n2 (P : 'M[R]_n1) (B : 'M_(n1, n2)) (C : 'M_(n2,
  n1)) (E : 'M_n2) :
  E \in unitmx -> \det (block_mx P B C E) = \det E * \det (P
    - B *m invmx E *m C).
Proof.
move=> Eu.
have -> : block_mx P B C E =
    block_mx 1%:M (B *m invmx E) 0 1%:M *m block_mx (P
      - B *m invmx E *m C) 0 C E.
  by rewrite mulmx_block !mul1mx !mul0mx !add0r subrK mulmxKV.
by rewrite det_mulmx det_lblock det_ublock !det1 !mul1r mulrC.
Qed.

Theorem determinant_lemma D U : D \in unitmx ->
  \det (D + U^T *m U) = \det D * \det (1%:M + U *m invmx D *m U^T).
Proof.
move=> Du; have := det_block_ul (- U^T) U (1%:M : 'M_r) Du.
rewrite det_block_dr ?unitmx1// det1 mul1r invmx1 mulmx1 mulNmx opprK => ->.
by rewrite mulmxN opprK.
Qed.

(* multiply by the inverse of Woodbury *)
Theorem woodbury_identity D U : D \in unitmx ->
  let C := 1%:M + U *m invmx D *m U^T in C \in unitmx ->
  D + U^T *m U \in unitmx /\
  invmx (D + U^T *m U) =
    invmx D - invmx D *m U^T *m invmx C *m U *m invmx D.
Proof.
move=> Du C Cu; set W := _ - _.
have UDU : U *m invmx D *m U^T = C - 1%:M by rewrite /C addrC addKr.
have E : (D + U^T *m U) *m W = 1%:M.
  have E1 : D *m W = 1%:M - U^T *m invmx C *m U *m invmx D.
    by rewrite mulmxBr mulmxV// !mulmxA mulmxV// mul1mx.
  have E2 : U^T *m U *m W = U^T *m invmx C *m U *m invmx D.
    rewrite mulmxBr; have -> : U^T *m U *m (invmx D *m U^T *m invmx C *m U
      *m invmx D) =
        U^T *m (U *m invmx D *m U^T *m invmx C) *m U *m invmx D by rewrite
          !mulmxA.
    rewrite UDU mulmxBl mulmxV// mul1mx.
    by rewrite mulmxBr mulmx1 !mulmxBl subKr.
  by rewrite mulmxDl E1 E2 subrK.
have [Mu _] := mulmx1_unit E; split=> //.
by rewrite -[RHS]mul1mx -(mulVmx Mu) -mulmxA E mulmx1.
Qed.

End Determinant.

(* the hypotheses of Woodbury, in Coq *)
Section Woodbury.
Variables (R : realFieldType) (r d : nat).

Definition positive_definite n (M : 'M[R]_n) :=
  M^T = M /\ forall v : 'rV_n, v != 0 -> 0 < (v *m M *m v^T) 0 0.

Variables (D : 'rV[R]_d) (U : 'M[R]_(r, d)).
Hypothesis D_gt0 : forall a, 0 < D 0 a.
Let C := 1%:M + U *m invmx (diag_mx D) *m U^T.

(* find that $C$ is positive definite *)
Lemma positive_definite_unit n (M : 'M[R]_n) : positive_definite M ->
  M \in unitmx.
Proof.
move=> [_ pd]; rewrite -row_free_unit -kermx_eq0;
  apply/rowV0P => v /sub_kermxP vM.
by apply: contraTeq isT => /pd; rewrite vM mul0mx mxE ltxx.
Qed.

Lemma sqr_norm n (v : 'rV[R]_n) : 0 <= (v *m v^T) 0 0 ?= iff (v == 0).
Proof.
have -> : (v *m v^T) 0 0 = \sum_j v 0 j ^+ 2.
  by rewrite mxE; apply: eq_bigr => j _; rewrite mxE expr2.
split; first by apply: sumr_ge0 => j _; exact: sqr_ge0.
apply/eqP/eqP => [/esym/psumr_eq0P z|->]; last by rewrite big1// => j _;
  rewrite mxE expr0n.
apply/rowP => j; rewrite mxE; apply/eqP; rewrite -sqrf_eq0.
by apply/eqP/z => // k _; exact: sqr_ge0.
Qed.

Lemma diag_unit : diag_mx D \in unitmx.
Proof. by rewrite unitmxE det_diag unitfE; apply/prodf_neq0 => a _;
  rewrite gt_eqF. Qed.

Lemma invmx_diag : invmx (diag_mx D) = diag_mx (map_mx GRing.inv D).
Proof.
rewrite -[RHS]mul1mx -(mulVmx diag_unit) -mulmxA mulmx_diag.
rewrite -[LHS]mulmx1; congr (_ *m _); apply/matrixP => a b; rewrite !mxE.
by have [->|] := eqVneq a b; rewrite ?mulr0n// divff// gt_eqF.
Qed.

Lemma C_positive_definite : positive_definite C.
Proof.
split=> [|v v0]; first by rewrite /C linearD/= trmx1 !trmx_mul trmxK
  invmx_diag tr_diag_mx mulmxA.
rewrite /C mulmxDr mulmxDl mulmx1 mxE ltr_paddr//; last first.
  by rewrite lt0r eq_sym (sqr_norm v).2 v0 (sqr_norm v).1.
rewrite invmx_diag !mulmxA -(mulmxA _ U^T) -trmx_mul.
rewrite mul_mx_diag mxE; apply: sumr_ge0 => a _;
  rewrite !mxE mulrAC mulr_ge0//.
  by rewrite -expr2 sqr_ge0.
by rewrite invr_ge0 ltW.
Qed.

(* state the identity of Woodbury *)
(* proves thm:woodbury *)
Theorem woodbury :
  [/\ positive_definite C,
      invmx (diag_mx D + U^T *m U) = invmx (diag_mx D)
        - invmx (diag_mx D) *m U^T *m invmx C *m U *m invmx (diag_mx D)
    & \det (diag_mx D + U^T *m U) = \det (diag_mx D) * \det C].

(* prove the identity of Woodbury *)
Proof.
have pd := C_positive_definite.
by split=> //; [rewrite (woodbury_identity diag_unit (positive_definite_unit
  pd)).2
               | rewrite determinant_lemma// diag_unit].
Qed.

End Woodbury.
