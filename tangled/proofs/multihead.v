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
Variables (R : ringType) (H w : nat).

(* columns of heads are columns *)
Lemma at_lt (h : 'I_H) (c : 'I_w) : (h * w + c < H * w)%N.
Proof.
apply: (@leq_trans (h.+1 * w)); first by rewrite mulSn addnC ltn_add2r.
by rewrite leq_mul2r ltn_ord orbT.
Qed.

(* heads side by side, in Coq *)
Definition at_ h c : 'I_(H * w) := Ordinal (at_lt h c).
(* the columns of head h, and the block of a matrix that they meet *)
Definition of_head n (X : 'M[R]_(n, H * w)) h : 'M[R]_(n, w) :=
  \matrix_(i, c) X i (at_ h c).
Definition block m (W : 'M[R]_(H * w, m)) h : 'M[R]_(w, m) :=
  \matrix_(c, f) W (at_ h c) f.

(* state that queries stand side by side *)
(* proves prop:multihead-fused *)
Theorem queries_side_by_side n D (X : 'M[R]_(n, D))
    (WQ : 'M[R]_(D, H * w)) h :
  of_head (X *m WQ) h = X *m of_head WQ h.

(* prove that queries stand side by side *)
Proof.
by apply/matrixP => i a; rewrite !mxE; apply: eq_bigr => f _; rewrite mxE.
Qed.

(* a sum over columns is one over heads *)
Lemma sum_heads (F : 'I_(H * w) -> R) :
  \sum_g F g = \sum_h \sum_c F (at_ h c).
Proof.
rewrite pair_bigA /= (reindex (fun hc : 'I_H * 'I_w => at_ hc.1 hc.2)) //.
have w0 (g : 'I_(H * w)) : (0 < w)%N by case: w g => [[m]|//];
  rewrite muln0.
have hlt (g : 'I_(H * w)) : (g %/ w < H)%N by rewrite ltn_divLR ?(w0 g).
have clt (g : 'I_(H * w)) : (g %% w < w)%N by rewrite ltn_pmod ?(w0 g).
exists (fun g => (Ordinal (hlt g), Ordinal (clt g))) => [[h c] _|g _].
  congr (_, _); apply: val_inj => /=; first by rewrite divnMDl ?divn_small
    ?addn0// (leq_ltn_trans _ (ltn_ord c)).
  by rewrite modnMDl modn_small.
by apply: val_inj; rewrite /= -divn_eq.
Qed.

(* state that a concatenation is a sum *)
(* proves prop:multihead-fused *)
Theorem concatenation_is_a_sum n m O (W : 'M[R]_(H * w, m)) :
  O *m W = \sum_h of_head (O : 'M_(n, _)) h *m block W h.

(* prove that a concatenation is a sum *)
Proof.
apply/matrixP => i f; rewrite mxE sum_heads summxE; apply: eq_bigr => h _.
by rewrite mxE; apply: eq_bigr => c _; rewrite !mxE.
Qed.
End Fused.

(* heads and sets, in Coq *)
Section Symmetry.
Variables (R : fieldType) (e : R -> R) (nq nk D Dc dk dv Do : nat)
  (H G : finType).
Variables (g : 'M[R]_dk).
Definition layer Dc (WQ : H -> 'M_(D, dk)) (WK : G -> 'M_(Dc, dk))
  (WV : G -> 'M_(Dc, dv))
    (WO : H -> 'M_(dv, Do)) (set : H -> G) n m (X : 'M[R]_(n, D))
      (C : 'M[R]_(m, Dc)) :=
  \sum_h attention e g (X *m WQ h) (C *m WK (set h))
    (C *m WV (set h)) *m WO h.

(* state that heads may be renumbered *)
(* proves prop:mh-symmetry *)
Theorem heads_renumbered (s : {perm H}) (t : {perm G}) WQ WK WV WO
  set set'
    (X : 'M_(nq, D)) (C : 'M_(nk, Dc)) :
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
  (C : 'M_(nk, Dc)) :
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
