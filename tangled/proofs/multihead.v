(* proofs/multihead.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra ring.
From attn Require Import equivariance.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* extents of heads, in Coq *)
Section Fused.
Variables (R : ringType) (n H dv Do : nat).

(* columns of heads are columns *)
Lemma at_lt (h : 'I_H) (c : 'I_dv) : (h * dv + c < H * dv)%N.
Proof.
apply: (@leq_trans (h.+1 * dv)); first by rewrite mulSn addnC ltn_add2r.
by rewrite leq_mul2r ltn_ord orbT.
Qed.

(* heads side by side, in Coq *)
Definition at_ h c : 'I_(H * dv) := Ordinal (at_lt h c).
(* the outputs of head h, and the block of the matrix that they meet *)
Definition output (O : 'M[R]_(n, H * dv)) h : 'M[R]_(n, dv) :=
  \matrix_(i, c) O i (at_ h c).
Definition block (W : 'M[R]_(H * dv, Do)) h : 'M[R]_(dv, Do) :=
  \matrix_(c, m) W (at_ h c) m.

(* a sum over columns is one over heads *)
Lemma sum_heads (F : 'I_(H * dv) -> R) :
  \sum_g F g = \sum_h \sum_c F (at_ h c).
Proof.
rewrite pair_bigA /= (reindex (fun hc : 'I_H * 'I_dv => at_ hc.1 hc.2)) //.
have dv0 (g : 'I_(H * dv)) : (0 < dv)%N by case: dv g => [[m]|//];
  rewrite muln0.
have hlt (g : 'I_(H * dv)) : (g %/ dv < H)%N by rewrite ltn_divLR ?(dv0 g).
have clt (g : 'I_(H * dv)) : (g %% dv < dv)%N by rewrite ltn_pmod ?(dv0 g).
exists (fun g => (Ordinal (hlt g), Ordinal (clt g))) => [[h c] _|g _].
  congr (_, _); apply: val_inj => /=; first by rewrite divnMDl ?divn_small
    ?addn0// (leq_ltn_trans _ (ltn_ord c)).
  by rewrite modnMDl modn_small.
by apply: val_inj; rewrite /= -divn_eq.
Qed.

(* state that a concatenation is a sum *)
(* proves prop:multihead-fused *)
Theorem concatenation_is_a_sum O (W : 'M[R]_(H * dv, Do)) :
  O *m W = \sum_h output O h *m block W h.

(* prove that a concatenation is a sum *)
Proof.
apply/matrixP => i m; rewrite mxE sum_heads summxE; apply: eq_bigr => h _.
by rewrite mxE; apply: eq_bigr => c _; rewrite !mxE.
Qed.
End Fused.

(* heads and sets, in Coq *)
Section Symmetry.
Variables (R : fieldType) (e : R -> R) (nq nk D dk dv Do : nat)
  (H G : finType).
Variables (g : 'M[R]_dk).
Definition layer (WQ : H -> 'M_(D, dk)) (WK : G -> 'M_(D, dk))
  (WV : G -> 'M_(D, dv))
    (WO : H -> 'M_(dv, Do)) (set : H -> G) n m (X : 'M[R]_(n, D))
      (C : 'M[R]_(m, D)) :=
  \sum_h attention e g (X *m WQ h) (C *m WK (set h))
    (C *m WV (set h)) *m WO h.

(* state that heads may be renumbered *)
(* proves prop:mh-symmetry *)
Theorem heads_renumbered (s : {perm H}) (t : {perm G}) WQ WK WV WO
  set set'
    (X : 'M_(nq, D)) (C : 'M_(nk, D)) :
      (forall h, t (set' h) = set (s h)) ->
  layer (WQ \o s) (WK \o t) (WV \o t) (WO \o s) set' X C = layer WQ WK
    WV WO set X C.

(* prove that heads may be renumbered *)
Proof.
move=> E; rewrite [RHS](reindex_inj (@perm_inj _ s)) /=.
by apply: eq_bigr => h _ /=; rewrite E.
Qed.

(* state that the context may be permuted *)
(* proves prop:mh-symmetry *)
Theorem context_permuted (t : 'S_nk) WQ WK WV WO set (X : 'M_(nq, D))
  (C : 'M_(nk, D)) :
  layer WQ WK WV WO set X (perm_mx t *m C) = layer WQ WK WV WO set X C.

(* prove that the context may be permuted *)
Proof.
apply: eq_bigr => h _; rewrite -!(mulmxA (perm_mx t) C); congr (_ *m _).
have [_ E] := equivariance e g 1%g t (X *m WQ h) (C *m WK (set h))
  (C *m WV (set h)).
by move: E; rewrite perm_mx1 !mul1mx.
Qed.

(* state that positions may be permuted *)
(* proves prop:mh-symmetry *)
Theorem positions_permuted (s : 'S_nq) WQ WK WV WO set
  (X : 'M_(nq, D)) :
  let Y X := layer WQ WK WV WO set X X in Y (perm_mx s *m X)
    = perm_mx s *m Y X.

(* prove that positions may be permuted *)
Proof.
rewrite /= /layer mulmx_sumr; apply: eq_bigr => h _;
  rewrite -!(mulmxA (perm_mx s) X) [RHS]mulmxA.
have [_ E] := equivariance e g s s (X *m WQ h) (X *m WK (set h))
  (X *m WV (set h)).
by rewrite -E.
Qed.
End Symmetry.

(* what the first layer writes, in Coq *)
Section Composition.
Variables (R : comRingType) (n D : nat) (H : finType) (X : 'M[R]_(n, D))
  (M : 'M[R]_D).
Variables (A : H -> 'M[R]_n) (N : H -> 'M[R]_D).
Definition after := X + \sum_h A h *m X *m N h.

(* state the forms of two layers *)
(* proves prop:composition *)
Theorem composition : after *m M *m after^T =
  X *m M *m X^T
  + \sum_h X *m M *m (N h)^T *m X^T *m (A h)^T
  + \sum_h A h *m X *m N h *m M *m X^T
  + \sum_h \sum_h' A h *m X *m N h *m M *m (N h')^T *m X^T *m (A h')^T.

(* prove the forms of two layers *)
Proof.
have T h : (A h *m X *m N h)^T = (N h)^T *m (X^T *m (A h)^T)
  by rewrite !trmx_mul.
rewrite /after linearD /= linear_sum /= !mulmxDl !mulmxDr addrA;
  congr (_ + _ + _ + _).
- by rewrite mulmx_sumr; apply: eq_bigr => h _; rewrite T !mulmxA.
- by rewrite !mulmx_suml.
rewrite !mulmx_suml; apply: eq_bigr => h _; rewrite mulmx_sumr.
by apply: eq_bigr => h' _; rewrite T !mulmxA.
Qed.
End Composition.
