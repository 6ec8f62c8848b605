(* proofs/averages.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* averages of one query, in Coq *)
Section Independent.
Variables (R : fieldType) (H n dv : nat) (A : 'M[R]_(H, n)).

(* state which changes are not seen *)
(* proves prop:independent-averages *)
Theorem unseen_changes (V : 'M[R]_(n, dv)) :
  A *m V = 0 <-> forall c, ((col c V)^T <= kermx A^T)%MS.

(* prove which changes are not seen *)
Proof.
split=> [E c|h].
  by apply/sub_kermxP; rewrite -trmx_mul colE mulmxA E mul0mx trmx0.
apply/matrixP => i c; have /sub_kermxP := h c; rewrite -trmx_mul =>
  /(congr1 trmx).
rewrite trmxK trmx0 colE mulmxA -colE => /matrixP/(_ i 0).
by rewrite !mxE.
Qed.

(* state how many changes are not seen *)
(* proves prop:independent-averages *)
Theorem how_many : \rank (kermx A^T) = (n - \rank A)%N.

(* prove how many changes are not seen *)
Proof.
by rewrite mxrank_ker mxrank_tr.
Qed.

(* state when averages are one *)
(* proves prop:independent-averages *)
Theorem rank_one (h0 : 'I_H) : (forall h, \sum_j A h j = 1) ->
  \rank A = 1%N <-> forall h, row h A = row h0 A.

(* prove when averages are one *)
Proof.
move=> A1; pose one : 'cV[R]_n := const_mx 1.
have R1 h : row h A *m one = 1%:M.
  by rewrite [LHS]mx11_scalar mxE; congr _%:M; rewrite -[RHS](A1 h);
    apply: eq_bigr => j _; rewrite !mxE mulr1.
have nz h : row h A != 0.
  apply: contra_eq_neq (R1 h) => ->; rewrite mul0mx eq_sym.
  by apply/eqP => /matrixP/(_ 0 0); rewrite !mxE eqxx => /eqP;
    rewrite oner_eq0.
have r0 : \rank (row h0 A) = 1%N by rewrite rank_rV nz.
split=> [r1 h|same].
  have sub : (A <= row h0 A)%MS.
    have /eqmxP e : (row h0 A == A)%MS
      by rewrite -(mxrank_leqif_eq (row_sub h0 A)) r0 r1.
    by rewrite e submx_refl.
  have /sub_rVP[a E] : (row h A <= row h0 A)%MS by exact: submx_trans
    (row_sub h A) sub.
  have := R1 h; rewrite E -scalemxAl R1 => /matrixP/(_ 0 0);
    rewrite !mxE eqxx mulr1n mulr1 => a1.
  by rewrite a1 scale1r.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  by rewrite -r0 mxrankS//; apply/row_subP => h; rewrite same.
by rewrite -r0 mxrankS// row_sub.
Qed.
End Independent.
