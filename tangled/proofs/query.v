(* proofs/query.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require softfisher.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the metric of the queries and its slopes *)

(* centred keys and their covariance, in Coq *)
Section Keys.
Variables (F : comRingType) (n d : nat) (A : 'I_n -> F)
  (k : 'M[F]_(n, d)).
Definition mean (f : 'I_n -> F) := \sum_j A j * f j.
Definition centred j a := k j a - mean (fun i => k i a).
Definition covariance :=
  \matrix_(a, b) mean (fun j => centred j a * centred j b).
End Keys.

(* the metric of the queries, in Coq *)
Section Definite.
Variables (R : realFieldType) (n d : nat) (A : 'I_n -> R)
  (k : 'M[R]_(n, d)).
Hypotheses (A_ge0 : forall j, 0 <= A j) (A1 : \sum_j A j = 1).
Definition G (T : R) := T ^- 2 *: covariance A k.
Let value (v : 'cV[R]_d) j := \sum_a k j a * v a 0.

(* the metric at a vector is a variance *)
Lemma centred_value (v : 'cV[R]_d) j :
  \sum_a centred A k j a * v a 0 = value v j - mean A (value v).
Proof.
rewrite /centred; under eq_bigr do rewrite mulrBl; rewrite sumrB; congr (_ - _).
rewrite /mean /value; under eq_bigr do rewrite mulr_suml.
rewrite exchange_big; apply: eq_bigr => i _; rewrite mulr_sumr.
by apply: eq_bigr => a _; rewrite mulrA.
Qed.

Lemma form_of_covariance v : (v^T *m covariance A k *m v) 0 0 =
  \sum_j A j * (value v j - mean A (value v)) ^+ 2.
Proof.
transitivity
  (\sum_j A j *
  ((\sum_a centred A k j a * v a 0) * (\sum_a centred A k j a * v a 0))).
  rewrite mxE; under eq_bigr do rewrite mxE mulr_suml.
  under [RHS]eq_bigr do rewrite big_distrlr mulr_sumr /=.
  rewrite [RHS]exchange_big /= exchange_big /=; apply: eq_bigr => a _.
  under [RHS]eq_bigr do rewrite mulr_sumr.
  rewrite [RHS]exchange_big /=; apply: eq_bigr => b _.
  rewrite !mxE /mean mulr_sumr mulr_suml; apply: eq_bigr => j _.
  by rewrite -!mulrA; move: (v a 0) (v b 0) (centred A k j a) (centred A k j b)
    => x y p q; ring.
by apply: eq_bigr => j _; rewrite centred_value expr2.
Qed.

(* state when the metric of the queries is definite *)
(* proves thm:geometry-query *)
Theorem definite_if_keys_span (T : R) : 0 < T ->
  (forall v : 'cV_d, v != 0 -> 0 < (v^T *m G T *m v) 0 0) <->
  (forall v : 'cV_d, (forall i j, 0 < A i -> 0 < A j ->
      \sum_a (k i a - k j a) * v a 0 = 0) -> v = 0).

(* prove when the metric of the queries is definite *)
Proof.
move=> T0; have Tp : 0 < T ^- 2 by rewrite invr_gt0 exprn_gt0.
have E v : (v^T *m G T *m v) 0 0 = T ^- 2 * \sum_j A j *
  (value v j - mean A (value v)) ^+ 2.
  by rewrite /G -scalemxAr -scalemxAl mxE form_of_covariance.
have t0 v j : 0 <= A j * (value v j - mean A (value v)) ^+ 2 by rewrite mulr_ge0
  ?sqr_ge0.
have dE (v : 'cV[R]_d) i j : \sum_a (k i a - k j a) * v a 0 = value v i
  - value v j.
  by rewrite /value -sumrB; apply: eq_bigr => a _; rewrite mulrBl.
split=> h v.
  move=> flat; apply/eqP; apply: contraT => /h;
    rewrite E pmulr_rgt0// big1 ?ltxx// => j _.
  have [->|Aj] := eqVneq (A j) 0; first by rewrite mul0r.
  have Ajp : 0 < A j by rewrite lt0r Aj A_ge0.
  suff -> : mean A (value v) = value v j by rewrite subrr expr0n mulr0.
  rewrite -[RHS]mul1r -A1 mulr_suml; apply: eq_bigr => i _.
  have [->|Ai] := eqVneq (A i) 0; first by rewrite !mul0r.
  have Aip : 0 < A i by rewrite lt0r Ai A_ge0.
  by have /eqP := flat i j Aip Ajp; rewrite dE subr_eq0 => /eqP->.
move=> v0; rewrite E pmulr_rgt0// lt0r sumr_ge0 ?andbT => [|j _];
  last exact: t0.
apply: contra v0 => /eqP/psumr_eq0P z; apply/eqP/h => i j Ai Aj.
have eqm l : 0 < A l -> value v l = mean A (value v).
  move=> Al; have /eqP := z (fun j _ => t0 v j) l isT.
  by rewrite mulf_eq0 gt_eqF//= sqrf_eq0 subr_eq0 => /eqP.
by rewrite dE !eqm ?subrr.
Qed.

(* state that the metric of the queries is pulled back *)
(* proves thm:geometry-query *)
Theorem metric_is_pulled_back T :
  k^T *m softfisher.fisher (\col_j A j) T *m k = G T.

(* prove that the metric of the queries is pulled back *)
Proof.
rewrite /softfisher.fisher /G -scalemxAr -scalemxAl; congr (_ *: _).
apply/matrixP => a b; rewrite [RHS]mxE.
have cE : mean A (fun j => centred A k j a * centred A k j b) =
    mean A (fun j => k j a * k j b)
    - mean A (fun j => k j a) * mean A (fun j => k j b).
  rewrite /centred; set x := mean A (fun i => k i a).
  set y := mean A (fun i => k i b).
  have s (z : R) f : mean A (fun j => z * f j) = z * mean A f.
    by rewrite /mean mulr_sumr; apply: eq_bigr => j _; rewrite mulrCA.
  transitivity (mean A (fun j => k j a * k j b) - mean A (fun j => y * k j a)
    - mean A (fun j => x * k j b) + x * y); last by rewrite !s -/x -/y; ring.
  rewrite -[x * y]mul1r -A1 mulr_suml /mean -!sumrB -big_split.
  by apply: eq_bigr => j _ /=; ring.
rewrite cE mulmxBr mulmxBl [LHS]mxE [X in _ + X]mxE; congr (_ - _).
  rewrite [LHS]mxE; apply: eq_bigr => j _.
  by rewrite mul_mx_diag !mxE [_ * A j]mulrC mulrA.
set w := \col_j A j; have kw c : (k^T *m w) c 0 = mean A (k^~ c).
  by rewrite mxE; apply: eq_bigr => j _; rewrite !mxE mulrC.
have -> : k^T *m (w *m w^T) *m k = (k^T *m w) *m (k^T *m w)^T.
  by rewrite trmx_mul trmxK !mulmxA.
by rewrite mxE big_ord1 kw mxE kw.
Qed.

(* least squares on the keys, in Coq *)
Section Regression.
Variables (T : R) (A_bar : 'I_n -> R).
Hypothesis T_gt0 : 0 < T.
Definition squares alpha (beta : 'cV[R]_d) :=
  \sum_j A j * (alpha + value beta j - A_bar j) ^+ 2.
Definition S_bar j := T^-1 * (A j * (A_bar j - mean A A_bar)).
Definition q_bar : 'cV[R]_d := \col_a \sum_j k j a * S_bar j.
Definition optimal beta := exists alpha, forall alpha' beta',
  squares alpha beta <= squares alpha' beta'.

(* the least squares are stationary *)
Lemma stationary (p q : R) : (forall t, 0 <= p * t + q * t ^+ 2) -> p = 0.
Proof.
move=> h; apply/eqP; apply: contraT => p0; have q0 : 0 <= q.
  have := addr_ge0 (h 1) (h (- 1)); rewrite (_ : _ + _ = q + q); last by ring.
  by rewrite -mulr2n pmulrn_lge0.
have q1 : 0 < q + 1 by rewrite ltr_paddl ?ltr01.
have qn : q + 1 != 0 by rewrite gt_eqF.
have := h (- p / (q + 1)).
have -> : p * (- p / (q + 1)) + q * (- p / (q + 1)) ^+ 2 = - (p / (q + 1)) ^+ 2.
  by field.
by rewrite oppr_ge0 leNgt lt0r sqrf_eq0 mulf_neq0 ?invr_eq0// sqr_ge0.
Qed.

Lemma value_line beta (w : 'cV_d) t j : value (beta + t *: w) j = value beta j
  + t * value w j.
Proof.
rewrite /value mulr_sumr -big_split; apply: eq_bigr => a _; rewrite !mxE /=;
  ring.
Qed.

Lemma normal_equations alpha beta : (forall alpha' beta', squares alpha beta <=
  squares alpha' beta') ->
  forall s (w : 'cV_d), \sum_j A j * (alpha + value beta j - A_bar j) *
    (s + value w j) = 0.
Proof.
move=> opt s w; pose e j := alpha + value beta j - A_bar j; pose h j :=
  s + value w j.
have E t : squares (alpha + t * s) (beta + t *: w) - squares alpha beta =
    2%:R * (\sum_j A j * e j * h j) * t + (\sum_j A j * h j ^+ 2) * t ^+ 2.
  rewrite /squares -sumrB mulr_sumr !mulr_suml -big_split; apply: eq_bigr =>
    j _ /=.
  by rewrite value_line /e /h; move: (value beta j) (value w j) => x y; ring.
have := @stationary (2%:R * (\sum_j A j * e j * h j)) (\sum_j A j * h j ^+ 2).
have pos t : 0 <= 2%:R * (\sum_j A j * e j * h j) * t + (\sum_j A j * h j ^+ 2)
  * t ^+ 2.
  by rewrite -E subr_ge0.
by move=> /(_ pos)/eqP; rewrite mulf_eq0 pnatr_eq0 => /eqP.
Qed.

(* state that the natural query is a slope *)
(* proves thm:geometry-regression *)
Theorem natural_query_is_a_slope beta : optimal beta ->
  G T *m (T *: beta) = q_bar.

(* take the normal equations at a query *)
Proof.
move=> [alpha /normal_equations N]; have Tn : T != 0 by rewrite gt_eqF.
pose e j := alpha + value beta j - A_bar j.
have value0 j : value 0 j = 0 by rewrite /value big1// => a _;
  rewrite mxE mulr0.
have e0 : \sum_j A j * e j = 0.
  by rewrite -[RHS](N 1 0); apply: eq_bigr => j _; rewrite value0 addr0 mulr1.
have eK a : \sum_j A j * e j * centred A k j a = 0.
  have ka j : value (delta_mx a 0) j = k j a.
    rewrite /value (bigD1 a)//= mxE !eqxx mulr1 big1 ?addr0// => b /negbTE ba.
    by rewrite mxE ba mulr0.
  rewrite -[RHS](N (- mean A (fun i => k i a)) (delta_mx a 0));
    apply: eq_bigr => j _.
  by rewrite ka /centred [- _ + _]addrC.
have c0 a : \sum_j A j * centred A k j a = 0.
  rewrite /centred; under eq_bigr do rewrite mulrBr.
  by rewrite sumrB -mulr_suml A1 mul1r subrr.
apply/colP => a; rewrite /G -scalemxAl -scalemxAr scalerA !mxE.
have -> : T ^- 2 * T = T^-1 by rewrite expr2 invfM -mulrA mulVf ?mulr1.
rewrite /S_bar; under [RHS]eq_bigr do rewrite mulrCA; rewrite -mulr_sumr;
  congr (_ * _).

(* compare the two sides of the regression *)
transitivity (\sum_j A j * centred A k j a *
  (value beta j - mean A (value beta))).
  under eq_bigr do rewrite mxE /mean mulr_suml.
  rewrite exchange_big; apply: eq_bigr => j _ /=.
  rewrite -centred_value mulr_sumr; apply: eq_bigr => b _.
  by rewrite !mulrA.
transitivity (\sum_j A j * centred A k j a * value beta j).
  under eq_bigr do rewrite mulrBr.
  by rewrite sumrB -mulr_suml c0 mul0r subr0.
transitivity (\sum_j A j * centred A k j a * A_bar j).
  apply/eqP; rewrite -subr_eq0 -sumrB; apply/eqP.
  transitivity (\sum_j A j * e j * centred A k j a - alpha * \sum_j A j *
    centred A k j a).
    rewrite mulr_sumr -sumrB; apply: eq_bigr => j _; rewrite /e.
    by move: (centred A k j a) (value beta j) => x y; ring.
  by rewrite eK c0 mulr0 subrr.
transitivity (\sum_j A j * k j a * A_bar j - mean A (fun i => k i a) *
  mean A A_bar).
  rewrite [X in _ - X]mulr_sumr -sumrB; apply: eq_bigr => j _; rewrite /centred.
  move: (mean A _) (k j a) (A_bar j) (A j) => x p q w.
  by ring.
rewrite [X in _ - X]mulr_suml -sumrB; apply: eq_bigr => j _.
move: (mean A A_bar) (k j a) (A_bar j) (A j) => x p q w.
by ring.
Qed.

(* a null vector of the metric *)
Lemma null_vector v : G T *m v = 0 -> forall i j, 0 < A i -> 0 < A j ->
  value v i = value v j.
Proof.
move=> Gv i j Ai Aj; have : (v^T *m covariance A k *m v) 0 0 = 0.
  apply: (@mulfI _ (T ^- 2)); first by rewrite invr_eq0 expf_neq0 ?gt_eqF.
  rewrite mulr0; have := congr1 (fun M => (v^T *m M) 0 0) Gv.
  by rewrite /= /G -scalemxAl -scalemxAr mulmx0 mulmxA !mxE.
rewrite form_of_covariance => /psumr_eq0P z.
have eqm l : 0 < A l -> value v l = mean A (value v).
  move=> Al; have /eqP := z (fun j _ => mulr_ge0 (A_ge0 j) (sqr_ge0 _)) l isT.
  by rewrite mulf_eq0 gt_eqF//= sqrf_eq0 subr_eq0 => /eqP.
by rewrite !eqm.
Qed.

(* state that the natural query is the slope *)
(* proves thm:geometry-regression *)
Theorem natural_query_is_the_slope beta : optimal beta ->
  (forall beta', optimal beta' -> beta' = beta) ->
  G T \in unitmx /\ T *: beta = invmx (G T) *m q_bar.

(* add a null vector to a slope *)
Proof.
move=> opt only; have eq := natural_query_is_a_slope opt.
have [alpha best] := opt.
have Gu : G T \in unitmx; last first.
  by split=> //; rewrite -eq mulKmx.
have GT : (G T)^T = G T.
  apply/matrixP => a b; rewrite !mxE; congr (_ * _); apply: eq_bigr => j _.
  by rewrite [centred A k j b * _]mulrC.
rewrite unitmxE unitfE; apply/negP => /det0P[w w0 wG].
pose v := w^T; have Gv : G T *m v = 0 by rewrite /v -GT -trmx_mul wG trmx0.

(* prove that the natural query is the slope *)
pose m := mean A (value v).
have same j : A j * (alpha - m + value (beta + v) j - A_bar j) ^+ 2 =
  A j * (alpha + value beta j - A_bar j) ^+ 2.
  have [->|Aj] := eqVneq (A j) 0; first by rewrite !mul0r.
  have Ajp : 0 < A j by rewrite lt0r Aj A_ge0.
  have vm : value v j = m.
    rewrite /m /mean -[LHS]mul1r -A1 mulr_suml; apply: eq_bigr => i _.
    have [->|Ai] := eqVneq (A i) 0; first by rewrite !mul0r.
    by rewrite (null_vector Gv (i := j) (j := i))// lt0r Ai A_ge0.
  have := value_line beta v 1 j; rewrite scale1r mul1r vm => ->.
  by congr (_ * _ ^+ 2); move: (value beta j) (A_bar j) => x y; ring.
have optv : optimal (beta + v).
  exists (alpha - m) => a' b'; apply: le_trans (best a' b').
  by rewrite /squares (eq_bigr _ (fun j _ => same j)).
move/(congr1 trmx): (only _ optv); rewrite linearD /= trmxK => /eqP.
by rewrite -[X in _ == X]addr0 (inj_eq (addrI _)) (negbTE w0).
Qed.

(* state that optimal slopes move alike *)
(* proves thm:geometry-regression *)
Theorem optimal_slopes_move_alike beta beta' :
  optimal beta -> optimal beta' -> forall i j, 0 < A i -> 0 < A j ->
  value (beta - beta') i = value (beta - beta') j.

(* prove that optimal slopes move alike *)
Proof.
move=> /natural_query_is_a_slope e /natural_query_is_a_slope e'.
apply: null_vector; have Tn : T != 0 by rewrite gt_eqF.
have : G T *m (T *: beta) - G T *m (T *: beta') = 0 by rewrite e e' subrr.
rewrite -mulmxBr -scalerBr -scalemxAr => /eqP.
by rewrite scaler_eq0 (negbTE Tn) => /eqP.
Qed.
End Regression.
End Definite.

(* the curvature of the queries, in Coq *)
Section Gauss.
Variables (F : fieldType) (n d : nat) (A : 'I_n -> F)
  (k : 'M[F]_(n, d)).
Hypotheses (A1 : \sum_j A j = 1) (two : 2%:R != 0 :> F).
Local Notation E := (mean A).
Let c j a := centred A k j a.
Let G := covariance A k.
Hypothesis Gu : G \in unitmx.
Let Gi := invmx G.
Definition kappa a b e := E (fun j => c j a * c j b * c j e).
(* fitted to the product of c_a and c_b: affine in the keys *)
Definition slope a b j := \sum_e \sum_f kappa a b e * Gi e f * c j f.
Definition nu a b j := 2%:R^-1 * (c j a * c j b - G a b - slope a b j).
Definition curvature a b x y := 4%:R^-1 *
  \sum_e \sum_f Gi e f *
    (kappa a y e * kappa b x f - kappa a x e * kappa b y f).

(* means of centred keys *)
Lemma E_add f h : E (fun j => f j + h j) = E f + E h.
Proof. by rewrite /mean -big_split; apply: eq_bigr => j _; rewrite mulrDr. Qed.
Lemma E_scale x f : E (fun j => x * f j) = x * E f.
Proof. by rewrite /mean mulr_sumr; apply: eq_bigr => j _; rewrite mulrCA. Qed.
Lemma E_eq f h : f =1 h -> E f = E h.
Proof. by move=> e; apply: eq_bigr => j _; rewrite e. Qed.
Lemma E_const x : E (fun=> x) = x. Proof. by rewrite /mean -mulr_suml A1 mul1r.
  Qed.
Lemma E_sum (I : finType) (f : I -> 'I_n -> F) : E (fun j => \sum_i f i j)
  = \sum_i E (f i).
Proof. by rewrite /mean exchange_big; apply: eq_bigr => j _;
  rewrite mulr_sumr. Qed.
Lemma E_c a : E (c^~ a) = 0.
Proof.
rewrite /c /centred /mean; under eq_bigr do rewrite mulrBr.
by rewrite sumrB -mulr_suml A1 mul1r subrr.
Qed.
Lemma E_cc a b : E (fun j => c j a * c j b) = G a b. Proof. by rewrite mxE. Qed.
Lemma G_sym a b : G a b = G b a.
Proof. by rewrite -!E_cc; apply: E_eq => j; rewrite mulrC. Qed.
Lemma Gi_sym e f : Gi e f = Gi f e.
Proof.
have GT : G^T = G by apply/matrixP => a b; rewrite mxE G_sym.
by rewrite -{1}[Gi]trmxK mxE /Gi trmx_inv GT.
Qed.

(* means of a fitted product *)
Definition middle a b x y := \sum_e \sum_f kappa a b e * Gi e f * kappa x y f.

Lemma middleC a b x y : middle a b x y = middle x y a b.
Proof.
rewrite /middle exchange_big; apply: eq_bigr => f _; apply: eq_bigr => e _.
rewrite Gi_sym; move: (kappa _ _ _) (Gi _ _) (kappa _ _ _) => p q r.
by ring.
Qed.

Lemma E_slope a b h : E (fun j => slope a b j * h j) =
  \sum_e \sum_f kappa a b e * Gi e f * E (fun j => c j f * h j).
Proof.
rewrite /slope;
  transitivity
  (E (fun j => \sum_e \sum_f kappa a b e * Gi e f * (c j f * h j))).
  apply: E_eq => j; rewrite mulr_suml; apply: eq_bigr => e _.
  by rewrite mulr_suml; apply: eq_bigr => f _; rewrite mulrA.
rewrite E_sum; apply: eq_bigr => e _; rewrite E_sum; apply: eq_bigr => f _.
by rewrite E_scale.
Qed.

Lemma slope_cc a b x y : E (fun j => slope a b j * (c j x * c j y)) = middle a b
  x y.
Proof.
rewrite E_slope; apply: eq_bigr => e _; apply: eq_bigr => f _; congr (_ * _).
by apply: E_eq => j; rewrite mulrC.
Qed.

Lemma slope_const a b x : E (fun j => slope a b j * x) = 0.
Proof.
rewrite E_slope big1// => e _; rewrite big1// => f _.
rewrite (E_eq (h := fun j => x * c j f)) => [|j]; last by rewrite mulrC.
by rewrite E_scale E_c !mulr0.
Qed.

Lemma slope_c x y f : E (fun j => slope x y j * c j f) = kappa x y f.
Proof.
have GG h : \sum_l Gi h l * G l f = (h == f)%:R.
  have -> : \sum_l Gi h l * G l f = (Gi *m G) h f by rewrite mxE.
  by rewrite /Gi mulVmx// mxE.
rewrite E_slope; under eq_bigr do under eq_bigr do rewrite E_cc -mulrA.
under eq_bigr do rewrite -mulr_sumr GG.
rewrite (bigD1 f)//= eqxx mulr1 big1 ?addr0// => h /negbTE->.
by rewrite mulr0.
Qed.

Lemma slope_slope a b x y : E (fun j => slope a b j * slope x y j) = middle a b
  x y.
Proof.
rewrite E_slope; apply: eq_bigr => e _; apply: eq_bigr => f _; congr (_ * _).
by rewrite -slope_c; apply: E_eq => j; rewrite mulrC.
Qed.

(* state that the residuals are those of a fit *)
(* proves thm:geometry-gauss *)
Theorem residuals_of_the_fit a b :
  E (nu a b) = 0 /\ forall e, E (fun j => nu a b j * c j e) = 0.

(* prove that the residuals are those of a fit *)
Proof.
have E0 f : E (fun j => f j * 1) = E f by apply: E_eq => j; rewrite mulr1.
have s0 : E (slope a b) = 0 by rewrite -E0 slope_const.
split=> [|e].
  have e1 j : nu a b j = 2%:R^-1 * (c j a * c j b + ((- 1) * slope a b j
    + - G a b)).
    rewrite /nu; move: (slope a b j) (G a b) (2%:R^-1) => p q r.
    by move: (c j a) (c j b) => x y; ring.
  by rewrite (E_eq e1) E_scale !E_add E_scale s0 E_cc E_const; ring.
have e1 j : nu a b j * c j e = 2%:R^-1 * (c j a * c j b * c j e
  + ((- G a b) * c j e + (- 1) * (slope a b j * c j e))).
  rewrite /nu; move: (slope a b j) (G a b) (2%:R^-1) => p q r.
  by move: (c j a) (c j b) (c j e) => x y z; ring.
rewrite (E_eq e1) E_scale !E_add !E_scale slope_c E_c -/(kappa a b e).
by move: (kappa a b e) => x; ring.
Qed.

(* the mean of two residuals *)
Lemma nu_nu a b x y : E (fun j => nu a b j * nu x y j) = 4%:R^-1 *
  (E (fun j => c j a * c j b * (c j x * c j y)) - G a b * G x y - middle a b x
    y).
Proof.
have e1 j : nu a b j * nu x y j = 4%:R^-1 * (c j a * c j b * (c j x * c j y)
   + ((- G x y) * (c j a * c j b) + ((- G a b) * (c j x * c j y)
   + ((- 1) * (slope a b j * (c j x * c j y))
     + ((- 1) * (slope x y j * (c j a * c j b))
   + (slope a b j * G x y
     + (slope x y j * G a b
     + (slope a b j * slope x y j + G a b * G x y)))))))).
  rewrite /nu; have -> : 4%:R^-1 = 2%:R^-1 * 2%:R^-1 :> F by rewrite -invfM
    -natrM.
  move: (slope a b j) (slope x y j) (G a b) (G x y) (2%:R^-1) => p q r s t.
  by move: (c j a) (c j b) (c j x) (c j y) => p' q' r' s'; ring.
rewrite (E_eq e1) E_scale; congr (_ * _).
rewrite !E_add !E_scale !slope_const !slope_cc slope_slope E_const !E_cc
  (middleC x y).
by move: (E _) (middle a b x y) (G a b) (G x y) => p q r s; ring.
Qed.

(* state Gauss's equation for queries *)
(* proves thm:geometry-gauss *)
Theorem gauss_equation a b x y : curvature a b x y =
  4%:R^-1 * (G a x * G b y - G a y * G b x) +
  E (fun j => nu a x j * nu b y j - nu a y j * nu b x j).

(* prove Gauss's equation for queries *)
Proof.
have -> : E (fun j => nu a x j * nu b y j - nu a y j * nu b x j) =
    E (fun j => nu a x j * nu b y j) - E (fun j => nu a y j * nu b x j).
  by rewrite /mean -sumrB; apply: eq_bigr => j _; rewrite mulrBr.
rewrite !nu_nu.
have -> : curvature a b x y = 4%:R^-1 * (middle a y b x - middle a x b y).
  rewrite /curvature /middle -sumrB; congr (_ * _); apply: eq_bigr => e _.
  rewrite -sumrB; apply: eq_bigr => f _.
  move: (kappa a y e) (kappa b x f) (kappa a x e) (kappa b y f) (Gi e f) =>
    p q r s t.
  by ring.
have -> : E (fun j => c j a * c j y * (c j b * c j x))
  = E (fun j => c j a * c j x * (c j b * c j y)).
  apply: E_eq => j; move: (c j a) (c j b) (c j x) (c j y) => p q r s.
  by ring.
by move: (E _) (middle _ _ _ _) (middle a x b y) => p q r; ring.
Qed.
End Gauss.
