(* proofs/collapse.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From attn Require Import prelude metric gibbs dobrushin tanh.
From mathcomp.classical Require Import mathcomp_extra.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* heads without shortcuts, in Coq *)
Section Collapse.
Variables (R : realType) (n D : nat) (heads : finType) (X : 'M[R]_(n, D)).
(* The form M of each head; what values pass through, N = W_V W_O. *)
Variables (M N : heads -> 'M[R]_D) (mu nu : heads -> R).

Local Notation len := (norm 1%:M).
(* mu and nu bound the spectral norms. *)
Hypothesis mu_M : forall h u v,
  `|(u *m M h *m v^T) 0 0| <= mu h * (len u * len v).
Hypothesis nu_N : forall h v, len (v *m N h) <= nu h * len v.
Hypothesis mu_ge0 : forall h, 0 <= mu h.
Hypothesis nu_ge0 : forall h, 0 <= nu h.

Definition scores h i j := (row i X *m M h *m (row j X)^T) 0 0.
Definition attn h : 'M[R]_n := \matrix_(i, j) A (scores h i) 1 j.
Definition Y := \sum_h attn h *m (X *m N h).
Let delta := diam (norm 1%:M) X.

(* a head contracts as its scores allow *)
Let tri := norm_triangle (@metric1 R D).
Let sca := normZ (@metric1 R D).

Lemma tanh_ge0 (x : R) : 0 <= x -> 0 <= tanh x.
Proof.
move=> x0; apply: divr_ge0; last by rewrite addr_ge0 ?(ltW (expR_gt0 _)).
by rewrite subr_ge0 ler_expR (le_trans _ x0)// oppr_le0.
Qed.

Lemma delta_ge0 : 0 <= delta. Proof. exact: diam_ge0. Qed.

Lemma bound_ge0 h : 0 <= tanh (mu h * delta ^+ 2 / 4%:R).
Proof. by rewrite tanh_ge0// divr_ge0 ?ler0n// mulr_ge0 ?mu_ge0 ?sqr_ge0.
  Qed.

Lemma tau_attn h : tau (attn h) <= tanh (mu h * delta ^+ 2 / 4%:R).
Proof.
have t0 := bound_ge0 h.
rewrite /tau mulrC ler_pdivr_mulr ?ltr0n// mulrC.
apply: bigmax_le => [|i _]; first by rewrite mulr_ge0 ?ler0n.
apply: bigmax_le => [|i' _]; first by rewrite mulr_ge0 ?ler0n.
have range j k : (scores h i' j - scores h i j) - (scores h i' k
  - scores h i k) <= mu h * delta ^+ 2.
  have -> : (scores h i' j - scores h i j) - (scores h i' k
    - scores h i k) =
      ((row i' X - row i X) *m M h *m (row j X - row k X)^T) 0 0.
    by rewrite /scores linearB /= mulmxBr !mulmxBl !mxE; ring.
  apply: le_trans (ler_norm _) (le_trans (mu_M _ _ _) _);
    rewrite ler_wpmul2l// expr2.
  by rewrite ler_pmul ?norm_ge0 ?le_diam.
have := weights_move_by_tanh range i; rewrite -ler_pdivl_mull ?invr_gt0
  ?ltr0n// invrK.
by under [X in _ -> X <= _]eq_bigr do rewrite !mxE.
Qed.

(* state that depth collapses *)
(* proves thm:collapse, except the second inequality,
  and that the first is attained *)
Theorem collapse : diam (norm 1%:M) Y <=
  \sum_h nu h * tanh (mu h * delta ^+ 2 / 4%:R) * delta.

(* prove that depth collapses *)
Proof.
apply: diam_le => [|i i'].
  by apply: sumr_ge0 => h _; apply: mulr_ge0 (mulr_ge0 (nu_ge0 h) (bound_ge0
    h)) delta_ge0.
have -> : row i Y - row i' Y = \sum_h (row i (attn h *m (X *m N h))
  - row i' (attn h *m (X *m N h))).
  by rewrite [RHS]sumrB /Y !linear_sum.
apply: le_trans (N_sum tri sca _) _; apply: ler_sum => h _.
apply: le_trans (le_diam _ _ _ _) _.
have A1 a : \sum_j attn h a j = 1.
  by under eq_bigr do rewrite mxE; exact: sum_A a.
apply: le_trans (contraction tri sca _ A1) _.
rewrite [nu h * _]mulrC -[_ * nu h * _]mulrA; apply: ler_pmul;
  rewrite ?tau_attn ?diam_ge0//.
  by rewrite /tau mulr_ge0 ?invr_ge0 ?ler0n// bigmax_idl le_maxr lexx.
apply: diam_le => [|j j']; first by rewrite mulr_ge0 ?delta_ge0.
rewrite !row_mul -mulmxBl; apply: le_trans (nu_N _ _) _.
by rewrite ler_wpmul2l// le_diam.
Qed.
End Collapse.
