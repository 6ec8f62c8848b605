(* proofs/collapse.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From attn Require Import prelude metric gibbs dobrushin tanh tangent.
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
(* proves thm:collapse *)
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

(* state that the collapse is cubic *)
(* proves thm:collapse *)
Theorem cubic :
  \sum_h nu h * tanh (mu h * delta ^+ 2 / 4%:R) * delta <=
  4%:R^-1 * delta ^+ 3 * \sum_h nu h * mu h.

(* prove that the collapse is cubic *)
Proof.
rewrite mulr_sumr; apply: ler_sum => h _.
have z0 : 0 <= mu h * delta ^+ 2 / 4%:R.
  by rewrite divr_ge0 ?ler0n// mulr_ge0 ?mu_ge0 ?sqr_ge0.
apply: le_trans (ler_wpmul2r delta_ge0 (ler_wpmul2l (nu_ge0 h)
  (tanh_le z0))) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.
End Collapse.

(* two positions of one feature, in Coq *)
Section Attained.
Variables (R : realType) (x m k : R).
(* Two positions x and -x; the form m of one head, and k = W_V W_O. *)
Definition pair : 'M[R]_(2, 1) :=
  \matrix_(i, a) if i == 0 then x else - x.
Definition Y_pair := Y pair (fun _ : unit => m%:M) (fun=> k%:M).

(* diameters of two rows *)
Local Notation len := (norm (1%:M : 'M[R]_1)).
Lemma norm1 (v : 'rV[R]_1) : len v = `|v 0 0|.
Proof.
by rewrite /norm /inner mulmx1 !mxE big_ord1 mxE -expr2 sqrtr_sqr.
Qed.
Lemma sum2 (f : 'I_2 -> R) : \sum_i f i = f 0 + f 1.
Proof.
by rewrite big_ord_recl big_ord1; congr (_ + f _); exact: val_inj.
Qed.
Lemma diam2 (Z : 'M[R]_(2, 1)) : diam len Z = `|Z 0 0 - Z 1 0|.
Proof.
have E i j : len (row i Z - row j Z) = `|Z i 0 - Z j 0|.
  by rewrite norm1 !mxE.
apply/le_anti; rewrite -{2}E le_diam andbT; apply: diam_le => // i j.
have two (a : 'I_2) : a = 0 \/ a = 1.
  by case: a => [[|[|//]]] p; [left|right]; apply: val_inj.
by rewrite E; have [->|->] := two i; have [->|->] := two j;
  rewrite ?subrr ?normr0// distrC.
Qed.

(* weights of two positions *)
Lemma Y_pairE i : Y_pair i 0 = k * x *
  (A (scores pair (fun _ : unit => m%:M) tt i) 1 0
   - A (scores pair (fun _ : unit => m%:M) tt i) 1 1).
Proof.
rewrite /Y_pair /Y (big_pred1 tt) => [|[]//].
rewrite mxE sum2 !mxE !big_ord1 !mxE /= !mulr1n.
by move: (A _ 1 0) (A _ 1 1) => a b; ring.
Qed.
Lemma scoresE i j : scores pair (fun _ : unit => m%:M) tt i j =
  (if i == j then 1 else -1) * (m * x ^+ 2).
Proof.
rewrite /scores !mxE big_ord1 !mxE big_ord1 !mxE mulr1n.
have two (a : 'I_2) : a = 0 \/ a = 1.
  by case: a => [[|[|//]]] p; [left|right]; apply: val_inj.
by have [->|->] := two i; have [->|->] := two j; rewrite /=; ring.
Qed.

(* state that two positions attain the bound *)
(* proves thm:collapse *)
Theorem collapse_attained : 0 <= m ->
  diam (norm 1%:M) Y_pair = `|k| *
    tanh (m * diam (norm 1%:M) pair ^+ 2 / 4%:R) * diam (norm 1%:M) pair.

(* prove that two positions attain the bound *)
Proof.
move=> m0; rewrite !diam2 !Y_pairE !mxE /= real_normK ?num_real//.
have -> : m * (x - - x) ^+ 2 / 4%:R = m * x ^+ 2 by field.
have z0 : 0 <= m * x ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
have t0 := tanh_ge0 z0.
have ZE i : Z (scores pair (fun _ : unit => m%:M) tt i) 1 =
    expR (m * x ^+ 2) + expR (- (m * x ^+ 2)).
  rewrite /Z sum2 !divr1 !scoresE.
  by case: i => [[|[|//]]] p /=; rewrite ?mul1r ?mulN1r// addrC.
rewrite -{1}(ger0_norm t0) -!normrM; congr `|_|.
rewrite /A !ZE !divr1 !scoresE /= !mul1r !mulN1r /tanh.
have p : 0 < expR (m * x ^+ 2) + expR (- (m * x ^+ 2)).
  by rewrite addr_gt0 ?expR_gt0.
move: p; move: (expR _) (expR _) => a b p.
by field; rewrite gt_eqF.
Qed.
End Attained.
