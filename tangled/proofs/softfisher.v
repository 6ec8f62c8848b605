(* proofs/softfisher.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import woodbury.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* equal scores and gauges, in Coq *)

(* the metric of the scores, in Coq *)
Section Fisher.
Variables (F : fieldType) (n : nat) (A : 'cV[F]_n) (T : F).
Hypotheses (A1 : \sum_j A j 0 = 1) (A_neq0 : forall j, A j 0 != 0)
  (T0 : T != 0).

Definition ones : 'cV[F]_n := const_mx 1.
Definition diag (a : 'cV[F]_n) := diag_mx a^T.
Definition fisher := T ^- 2 *: (diag A - A *m A^T).
Definition inv_weights : 'cV[F]_n := \col_j (A j 0)^-1.

(* sums as products with ones *)
Lemma sumE (a : 'cV[F]_n) : a^T *m ones = (\sum_j a j 0)%:M.
Proof. by rewrite [LHS]mx11_scalar mxE; congr _%:M; apply: eq_bigr => j _;
  rewrite !mxE mulr1. Qed.
Lemma sumE' (a : 'cV[F]_n) : ones^T *m a = (\sum_j a j 0)%:M.
Proof. by rewrite -[LHS]trmxK trmx_mul trmxK sumE tr_scalar_mx. Qed.
Lemma diag1 a : diag a *m ones = a.
Proof. by apply/colP => i; rewrite mul_diag_mx !mxE mulr1. Qed.

(* state that the metric is information *)
(* proves thm:geometry-softmax-fisher *)
Theorem fisher_is_information a b :
  \sum_j A j 0 * (((j == a)%:R - A a 0) / T * (((j == b)%:R - A b 0) / T))
  = fisher a b.

(* prove that the metric is information *)
Proof.
rewrite /fisher !mxE big_ord1 !mxE eq_sym.
transitivity (T ^- 2 * \sum_j A j 0 * ((j == a)%:R - A a 0) *
    ((j == b)%:R - A b 0)).
  rewrite mulr_sumr; apply: eq_bigr => j _; rewrite expr2 invfM.
  by move: (A j 0) (_ - A a 0) (_ - A b 0) (T^-1) => x y z t; ring.
congr (_ * _); transitivity (A a 0 * ((a == b)%:R - A b 0) - A a 0 * A b 0
  + (\sum_j A j 0) * (A a 0 * A b 0)); last first.
  by rewrite A1 eq_sym; case: eqVneq => [->|_];
    rewrite ?mulr1n ?mulr0n; move: (A b 0) (A a 0) => x y; ring.
rewrite mulr_suml; transitivity (\sum_j ((j == a)%:R * (A j 0 *
    ((j == b)%:R - A b 0)) - (j == b)%:R * (A j 0 * A a 0)
  + A j 0 * (A a 0 * A b 0))).
  apply: eq_bigr => j _.
  by move: (A j 0) (A a 0) (A b 0) (_%:R) (_%:R) => x y z p q; ring.
have pick c (f : 'I_n -> F) : \sum_j (j == c)%:R * f j = f c.
  rewrite (bigD1 c)//= eqxx mul1r big1 ?addr0// => j /negbTE->.
  by rewrite mul0r.
by rewrite big_split sumrB /= !pick [A b 0 * _]mulrC.
Qed.

(* state that equal scores are a null direction *)
(* proves thm:geometry-softmax-fisher *)
Theorem null_direction : fisher *m ones = 0.

(* prove that equal scores are a null direction *)
Proof.
by rewrite /fisher -scalemxAl mulmxBl diag1 -mulmxA sumE A1 mulmx1 subrr
  scaler0.
Qed.

(* a gauge and its inverse, in Coq *)
Variable z : 'cV[F]_n.
Hypothesis z1 : \sum_j z j 0 = 1.
Definition P := 1%:M - ones *m z^T.
Definition X := T ^+ 2 *: (P *m diag inv_weights *m P^T).

(* project along equal scores *)
Lemma P1 : P *m ones = 0.
Proof. by rewrite mulmxBl mul1mx -mulmxA sumE z1 mulmx1 subrr. Qed.
Lemma zP : z^T *m P = 0.
Proof. by rewrite mulmxBr mulmx1 mulmxA sumE z1 mul1mx subrr. Qed.
Lemma PP : P *m P = P.
Proof. by rewrite {1}/P mulmxBl mul1mx -mulmxA zP mulmx0 subr0. Qed.

Lemma fisherT : fisher^T = fisher.
Proof. by rewrite /fisher linearZ /= linearB /= trmx_mul trmxK tr_diag_mx. Qed.

Lemma fisherP : fisher *m P = fisher.
Proof. by rewrite mulmxBr mulmx1 mulmxA null_direction mul0mx subr0. Qed.
Lemma Pfisher : P^T *m fisher = fisher.
Proof. by rewrite -fisherT -trmx_mul fisherP. Qed.

Lemma inv_fisher : T ^+ 2 *: (diag inv_weights *m fisher) = 1%:M - ones *m A^T.
Proof.
rewrite /fisher -scalemxAr scalerA mulfV ?expf_neq0// scale1r mulmxBr mulmxA.
have -> : diag inv_weights *m A = ones.
  by apply/colP => i; rewrite mul_diag_mx !mxE mulVf.
congr (_ - _).
apply/matrixP => i j; rewrite mul_diag_mx !mxE.
by have [->|] := eqVneq i j; rewrite ?mulr1n ?mulVf// mulr0n mulr0.
Qed.

(* state that the gauge is an inverse *)
(* proves thm:geometry-pinv *)
Theorem gauge_inverse :
  [/\ X *m fisher = P, fisher *m X *m fisher = fisher
    & X *m fisher *m X = X].

(* prove that the gauge is an inverse *)
Proof.
have XF : X *m fisher = P.
  rewrite /X -scalemxAl -!mulmxA Pfisher scalemxAr inv_fisher.
  by rewrite mulmxBr mulmx1 mulmxA P1 mul0mx subr0.
split=> //; first by rewrite -mulmxA XF fisherP.
by rewrite XF /X -scalemxAr !mulmxA PP.
Qed.

(* state the solution in the gauge *)
(* proves thm:geometry-pinv *)
Theorem solution_in_the_gauge (w x : 'cV[F]_n) : \sum_j w j 0 = 0 ->
  (fisher *m x = w /\ z^T *m x = 0) <-> x = X *m w.

(* prove the solution in the gauge *)
Proof.
have [XF FXF _] := gauge_inverse.
move=> w0; pose y := T ^+ 2 *: (diag inv_weights *m w).
have Fy : fisher *m y = w.
  rewrite /y -scalemxAr mulmxA /fisher -!scalemxAl scalerA mulfV ?expf_neq0//
    scale1r mulmxBl.
  have -> : diag A *m diag inv_weights = 1%:M.
    apply/matrixP => i j; rewrite mul_diag_mx !mxE.
    by have [->|] := eqVneq i j; rewrite ?mulr1n ?divff// mulr0n mulr0.
  rewrite mulmxBl mul1mx -!mulmxA [A^T *m _]mulmxA.
  have -> : A^T *m diag inv_weights = ones^T.
    by apply/rowP => i; rewrite mul_mx_diag !mxE divff.
  by rewrite sumE' w0 raddf0 mulmx0 subr0.
split=> [[<- zx]|->].
  by rewrite mulmxA XF /P mulmxBl mul1mx -mulmxA zx mulmx0 subr0.
split; first by rewrite -Fy !mulmxA FXF.
by rewrite /X -scalemxAl -scalemxAr !mulmxA zP !mul0mx scaler0.
Qed.

(* state that two products are symmetric *)
Variables (h : 'M[F]_n) (lambda : F).
Hypotheses (hT : h^T = h) (hu : h \in unitmx)
  (h1 : h *m ones = lambda *: z) (l0 : lambda != 0).

(* proves thm:geometry-pinv *)
Theorem symmetric_products :
  (h *m X *m fisher)^T = h *m X *m fisher /\
  (invmx h *m fisher *m X)^T = invmx h *m fisher *m X.

(* prove that two products are symmetric *)
Proof.
have [XF _ _] := gauge_inverse.
have XT : X^T = X by rewrite /X linearZ /= !trmx_mul trmxK tr_diag_mx mulmxA.
have FX : fisher *m X = P^T by rewrite -XF trmx_mul fisherT XT.
have e1 : h *m P = h - lambda *: (z *m z^T).
  by rewrite mulmxBr mulmx1 mulmxA h1 -scalemxAl.
have h1' : invmx h *m z = lambda^-1 *: ones.
  by rewrite -[ones](mulKmx hu) h1 -scalemxAr scalerA mulVf// scale1r.
have e2 : invmx h *m P^T = invmx h - lambda^-1 *: (ones *m ones^T).
  by rewrite linearB /= trmx1 trmx_mul trmxK mulmxBr mulmx1 mulmxA h1'
    -scalemxAl.
rewrite -!mulmxA XF FX e1 e2.
by rewrite !linearB /= !linearZ /= !trmx_mul !trmxK hT trmx_inv hT.
Qed.

(* state that natural gradients are centred *)
Variable A_bar : 'cV[F]_n.
Definition S_bar := T *: (fisher *m A_bar).

(* proves thm:geometry-natural *)
Theorem natural_is_centred :
  X *m S_bar = T *: (P *m A_bar) /\
  T *: (P *m A_bar) = T *: (A_bar - (\sum_j z j 0 * A_bar j 0) *: ones).

(* prove that natural gradients are centred *)
Proof.
have [XF _ _] := gauge_inverse; split; first by rewrite /S_bar -scalemxAr mulmxA
  XF.
congr (_ *: _); rewrite mulmxBl mul1mx -mulmxA; congr (_ - _).
rewrite [z^T *m _]mx11_scalar mul_mx_scalar mxE; congr (_ *: _).
by apply: eq_bigr => j _; rewrite mxE.
Qed.

(* state that all gauges move weights alike *)
(* proves thm:geometry-natural *)
Theorem gauges_move_alike :
  T *: (fisher *m (X *m S_bar)) = T ^+ 2 *: (fisher *m A_bar).

(* prove that all gauges move weights alike *)
Proof.
have [_ FXF _] := gauge_inverse.
by rewrite /S_bar -!scalemxAr !mulmxA FXF scalerA expr2.
Qed.
End Fisher.

(* The shortest solution; a metric for every gauge. *)

(* a metric on the scores, in Coq *)
Section Shortest.
Variables (R : realFieldType) (n : nat) (z : 'cV[R]_n).
Hypothesis z1 : \sum_j z j 0 = 1.
Implicit Types (h : 'M[R]_n) (x : 'cV[R]_n).

Definition positive h :=
  h^T = h /\ forall x, x != 0 -> 0 < (x^T *m h *m x) 0 0.
Definition len2 h x := (x^T *m h *m x) 0 0.

(* the vector of ones is not zero *)
Lemma ones_neq0 : ones R n != 0.
Proof.
apply/eqP => o; move: z1; have zo := sumE z; rewrite o mulmx0 in zo.
by move=> e; move/matrixP/(_ 0 0): zo; rewrite e !mxE eqxx => /eqP;
  rewrite eq_sym oner_eq0.
Qed.

(* state that the gauge is shortest *)
(* proves thm:geometry-pinv *)
Theorem gauge_is_shortest h (lambda : R) x (c : R) : positive h ->
  h *m ones R n = lambda *: z -> z^T *m x = 0 ->
  len2 h (x + c *: ones R n) = len2 h x + c ^+ 2 * len2 h (ones R n) /\
  (len2 h (x + c *: ones R n) <= len2 h x -> c = 0).

(* prove that the gauge is shortest *)
Proof.
move=> [hT pd] h1 zx.
have hx : (ones R n)^T *m h *m x = 0.
  by rewrite -{1}hT -trmx_mul h1 linearZ /= -scalemxAl zx scaler0.
have hx' : x^T *m h *m ones R n = 0.
  by apply: trmx_inj; rewrite !trmx_mul trmxK hT mulmxA hx trmx0.
have E : len2 h (x + c *: ones R n) = len2 h x + c ^+ 2 * len2 h (ones R n).
  have tE : (x + c *: ones R n)^T = x^T + c *: (ones R n)^T.
    by rewrite linearD linearZ.
  rewrite /len2 tE !mulmxDl !mulmxDr -!scalemxAl -!scalemxAr hx hx'.
  by rewrite !scaler0 addr0 add0r scalerA -expr2 !mxE.
split=> //; rewrite E => le; apply/eqP; apply: contraT => c0.
have : 0 < c ^+ 2 * len2 h (ones R n) by rewrite mulr_gt0 ?pd ?ones_neq0// lt0r
  sqrf_eq0 c0 sqr_ge0.
by rewrite ltNge -(ler_add2l (len2 h x)) addr0 le.
Qed.

(* state that every gauge has a metric *)
(* proves thm:geometry-pinv *)
Theorem every_gauge_has_a_metric :
  let h := z *m z^T + (P z)^T *m P z in
  positive h /\ h *m ones R n = z.

(* prove that every gauge has a metric *)
Proof.
move=> h; have sq m (v : 'cV[R]_m) : (v^T *m v) 0 0 = \sum_j v j 0 ^+ 2.
  by rewrite mxE; apply: eq_bigr => j _; rewrite mxE expr2.
have sq0 m (v : 'cV[R]_m) : 0 <= (v^T *m v) 0 0 by rewrite sq sumr_ge0// => j _;
  exact: sqr_ge0.
have hT : h^T = h by rewrite /h linearD /= !trmx_mul !trmxK.
split; last by rewrite /h mulmxDl -!mulmxA P1// mulmx0 addr0 sumE z1 mulmx1.
split=> // x x0.
have -> : (x^T *m h *m x) 0 0 = ((z^T *m x)^T *m (z^T *m x)) 0 0
  + ((P z *m x)^T *m (P z *m x)) 0 0.
  by rewrite /h mulmxDr mulmxDl mxE !trmx_mul trmxK !mulmxA.
rewrite lt0r addr_ge0// andbT; apply: contra x0; rewrite paddr_eq0// => /andP[].
have eq0 m (v : 'cV[R]_m) : (v^T *m v) 0 0 == 0 -> v = 0.
  rewrite sq => /eqP/psumr_eq0P e; apply/colP => j; apply/eqP;
    rewrite mxE -sqrf_eq0.
  by apply/eqP/e => // k _; exact: sqr_ge0.
move=> /eq0 zx /eq0; rewrite /P mulmxBl mul1mx -mulmxA zx mulmx0 subr0 => ->.
by rewrite eqxx.
Qed.
End Shortest.

(* state the kernel of the metric *)
Section Kernel.
Variables (R : realFieldType) (n : nat) (A : 'cV[R]_n) (T : R).
Hypotheses (A1 : \sum_j A j 0 = 1) (A0 : forall j, 0 < A j 0)
  (T0 : 0 < T).

(* proves thm:geometry-softmax-fisher *)
Theorem kernel_of_fisher (v : 'cV[R]_n) :
  fisher A T *m v = 0 <-> exists c, v = c *: ones R n.

(* prove the kernel of the metric *)
Proof.
have An j : A j 0 != 0 by rewrite gt_eqF.
have Tn : T != 0 by rewrite gt_eqF.
split=> [E|[c ->]]; last by rewrite -scalemxAr null_direction// scaler0.
exists ((A^T *m v) 0 0); have := inv_fisher An Tn => /(congr1 (mulmx^~ v)).
rewrite -scalemxAl -mulmxA E mulmx0 scaler0 mulmxBl mul1mx => /esym/eqP.
rewrite subr_eq0 -mulmxA => /eqP{1}->.
by rewrite {1}[A^T *m v]mx11_scalar mul_mx_scalar.
Qed.
End Kernel.

(* state the determinant without a key *)
Section Minor.
Variables (F : fieldType) (n : nat) (A : 'cV[F]_n.+1) (T : F).
Hypotheses (A1 : \sum_j A j 0 = 1) (A_neq0 : forall j, A j 0 != 0).

(* proves thm:geometry-softmax-fisher *)
Theorem minor_of_fisher :
  \det (row' ord_max (col' ord_max (fisher A T))) =
  T ^- (2 * n) * \prod_j A j 0.

(* prove the determinant without a key *)
Proof.
pose a : 'cV_n := row' ord_max A.
have aE j : a j 0 = A (widen_ord (leqnSn n) j) 0 by rewrite mxE; congr (A _ _);
  apply: val_inj; exact: lift_max.
have an j : a j 0 != 0 by rewrite mxE.
have -> : row' ord_max (col' ord_max (fisher A T)) = T ^-
  2 *: (diag a - a *m a^T).
  apply/matrixP => i j; rewrite !mxE (inj_eq (@lift_inj _ _));
    congr (_ * (_ - _)).
  by rewrite !big_ord1 !mxE.
rewrite detZ -exprVn -exprM exprVn; congr (_ * _).
have du : diag a \in unitmx.
  by rewrite unitmxE det_diag unitfE; apply/prodf_neq0 => j _; rewrite mxE.
have := det_block_ul a a^T (1%:M : 'M_1) du.
rewrite det_block_dr ?unitmx1// det1 mul1r invmx1 mulmx1 => ->.
have -> : invmx (diag a) = diag (inv_weights a).
  apply: (can_inj (mulKmx du)); rewrite mulmxV//; apply/matrixP => i j.
  by rewrite mul_diag_mx !mxE; have [->|] := eqVneq i j;
    rewrite ?mulr1n ?divff// mulr0n mulr0.
have -> : a^T *m diag (inv_weights a) *m a = (\sum_j a j 0)%:M.
  rewrite [LHS]mx11_scalar mxE; congr _%:M; apply: eq_bigr => j _.
  by rewrite mul_mx_diag !mxE divfK.
rewrite det_diag big_ord_recr /=; congr (_ * _).
  by apply: eq_bigr => j _; rewrite mxE aE.
rewrite det_mx11 !mxE mulr1n -A1 big_ord_recr /=
  addrC (eq_bigr _ (fun j _ => aE j)).
by rewrite mulr1n addKr.
Qed.
End Minor.
