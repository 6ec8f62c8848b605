(* proofs/connection.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a metric and its connection, in Coq *)

(* functions on a chart, in Coq *)
Section Derivations.
Variables (R : comUnitRingType) (n : nat).
Variable d : 'I_n -> {additive R -> R}.
Hypothesis product_rule : forall a x y,
  d a (x * y) = d a x * y + x * d a y.
Hypothesis commute : forall a b x, d a (d b x) = d b (d a x).
Hypothesis two : (2%:R : R) \is a GRing.unit.
Local Notation half := (2%:R^-1 : R).
Local Notation D c M := (map_mx (d c) M).

(* the product rule for matrices *)
Lemma half2 (x : R) : half * (x + x) = x.
Proof. by rewrite -mulr2n -[X in _ * X]mulr_natl mulKr. Qed.

Lemma d1 c : d c 1 = 0.
Proof.
have := product_rule c 1 1; rewrite !mulr1 mul1r => e.
by apply: (addrI (d c 1)); rewrite addr0 -e.
Qed.

Lemma product_rule_mx c m k l (A : 'M[R]_(m, k)) (B : 'M_(k, l)) :
  D c (A *m B) = D c A *m B + A *m D c B.
Proof.
apply/matrixP => i j; rewrite !mxE raddf_sum -big_split; apply: eq_bigr =>
  h _ /=.
by rewrite product_rule !mxE.
Qed.

Lemma derivative_of_inverse c (g : 'M[R]_n) : g \in unitmx ->
  D c (invmx g) = - (invmx g *m D c g *m invmx g).
Proof.
move=> gu; have := product_rule_mx c g (invmx g).
have -> : D c (g *m invmx g) = 0.
  rewrite mulmxV//; apply/matrixP => i j; rewrite !mxE.
  by case: (i == j); rewrite ?d1 ?raddf0.
move/esym/eqP; rewrite addrC addr_eq0 => /eqP e.
by rewrite -[LHS](mulKmx gu) e mulmxN -!mulmxA.
Qed.

(* the symbols of Christoffel, in Coq *)
Section LeviCivita.
Variable g : 'M[R]_n.
Hypotheses (gT : g^T = g) (gu : g \in unitmx).
Definition lowered e a b :=
  half * (d a (g b e) + d b (g a e) - d e (g a b)).
Definition christoffel c a b := \sum_e invmx g c e * lowered e a b.
(* covariant derivative of g with symbols G *)
Definition nabla (G : 'I_n -> 'I_n -> 'I_n -> R) c a b :=
  d c (g a b) - \sum_e G e c a * g e b - \sum_e G e c b * g a e.

(* lower the index of Christoffel's symbols *)
Lemma g_sym a b : g a b = g b a. Proof. by rewrite -{1}gT mxE. Qed.

Lemma lower_christoffel e a b : \sum_c g e c * christoffel c a b = lowered e a
  b.
Proof.
rewrite /christoffel; under eq_bigr do rewrite mulr_sumr;
  rewrite exchange_big /=.
rewrite (bigD1 e)//= [X in _ + X]big1 ?addr0 => [|f fe].
  under eq_bigr do rewrite mulrA; rewrite -mulr_suml.
  have /matrixP/(_ e e) := mulmxV gu; rewrite !mxE eqxx => ->.
  by rewrite mul1r.
under eq_bigr do rewrite mulrA; rewrite -mulr_suml.
have /matrixP/(_ e f) := mulmxV gu; rewrite !mxE eq_sym (negbTE fe) => ->.
by rewrite mul0r.
Qed.

(* state the theorem of Levi-Civita *)
(* proves thm:geometry-levi-civita *)
Theorem levi_civita :
  [/\ forall c a b, christoffel c a b = christoffel c b a,
      forall c a b, nabla christoffel c a b = 0
    & forall G, (forall c a b, G c a b = G c b a) ->
        (forall c a b, nabla G c a b = 0) ->
        forall c a b, G c a b = christoffel c a b].

(* prove that the metric is constant *)
Proof.
have sym e a b : lowered e a b = lowered e b a.
  by rewrite /lowered (g_sym b a) [d a _ + _]addrC.
split.
- by move=> c a b; apply: eq_bigr => e _; rewrite sym.
- move=> c a b; rewrite /nabla.
  under eq_bigr do rewrite mulrC g_sym; rewrite lower_christoffel.
  under eq_bigr do rewrite mulrC; rewrite lower_christoffel /lowered.
  rewrite (g_sym b a); set x := d c _; set y := d a _; set z := d b _.
  transitivity (x - half * (x + x)); last by rewrite half2 subrr.
  by move: (2%:R^-1 : R) => h; ring.
move=> G Gs G0 c a b.
pose L e x y := \sum_f g e f * G f x y.
have LL e x y : d x (g y e) = L e x y + L y x e.
  have /eqP := G0 x y e; rewrite /nabla -addrA -opprD subr_eq0 => /eqP ->.
  by congr (_ + _); apply: eq_bigr => f _; rewrite mulrC// g_sym.
have Ls e x y : L e x y = L e y x by apply: eq_bigr => f _; rewrite Gs.
have LE e x y : L e x y = lowered e x y.
  rewrite /lowered !LL (Ls e y x) (Ls y x e) (Ls x y e).
  rewrite -{1}[L e x y]half2; congr (_ * _).
  by move: (L _ _ _) (L y e x) (L x e y) => p q r; ring.

(* raise the index of the other symbols *)
transitivity (\sum_e invmx g c e * L e a b); last by apply: eq_bigr => e _;
  rewrite LE.
rewrite /L; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big /=.
rewrite (bigD1 c)//= [X in _ + X]big1 ?addr0 => [|f fc].
  under eq_bigr do rewrite mulrA; rewrite -mulr_suml.
  have /matrixP/(_ c c) := mulVmx gu; rewrite !mxE eqxx => ->.
  by rewrite mul1r.
under eq_bigr do rewrite mulrA; rewrite -mulr_suml.
have /matrixP/(_ c f) := mulVmx gu; rewrite !mxE eq_sym (negbTE fc) => ->.
by rewrite mul0r.
Qed.
End LeviCivita.

(* state the information in two forms *)
(* proves prop:geometry-two-forms *)
Theorem fisher_in_two_forms (K : finType) (p l : K -> R) a b :
  \sum_j p j = 1 -> (forall j c, d c (p j) = p j * d c (l j)) ->
  \sum_j p j * d a (l j) * d b (l j) = - \sum_j p j * d a (d b (l j)).

(* prove the information in two forms *)
Proof.
move=> p1 dp; have : d a (\sum_j d b (p j)) = 0.
  by rewrite -raddf_sum p1 d1 raddf0.
rewrite raddf_sum; under eq_bigr do rewrite dp product_rule dp.
by rewrite big_split /= => /eqP; rewrite addr_eq0 => /eqP.
Qed.

(* the natural chart, in Coq *)
Section Natural.
Variable psi : R.
Definition g := \matrix_(a, b) d a (d b psi).
Definition kappa a b c := d a (d b (d c psi)).
Hypothesis gu : g \in unitmx.

(* the third derivatives of a potential *)
Lemma dg c a b : d c (g a b) = kappa a b c.
Proof. by rewrite mxE /kappa [d b (d c _)]commute [RHS]commute. Qed.

(* state that the connection is half a cumulant *)
(* proves thm:geometry-cumulants *)
Theorem connection_is_half_a_cumulant c a b :
  lowered g c a b = half * kappa a b c.

(* prove that the connection is half a cumulant *)
Proof.
have k3 x y z : kappa x y z = kappa y x z /\ kappa x y z = kappa x z y.
  by rewrite /kappa; split; [rewrite commute | congr (d x _); rewrite commute].
rewrite /lowered !dg (k3 b c a).2 (k3 b a c).1 (k3 a c b).2.
by rewrite addrK.
Qed.

(* the curvature of a connection, in Coq *)
Definition cubic c := \matrix_(a, b) kappa a b c.
Definition Gamma al c := (half * (1 - al)) *: (invmx g *m cubic c).
Variable alpha : R.
Hypothesis alpha_constant : forall c, d c alpha = 0.
Definition Riemann c e := D c (Gamma alpha e) - D e (Gamma alpha c)
  + Gamma alpha c *m Gamma alpha e - Gamma alpha e *m Gamma alpha c.

(* the derivative of the metric is a matrix *)
Lemma dg_mx c : D c g = cubic c.
Proof. by apply/matrixP => i j; rewrite mxE dg mxE. Qed.

Lemma gK c (M : 'M_n) : g *m (invmx g *m cubic c *m M) = cubic c *m M.
Proof. by rewrite -!mulmxA mulKVmx. Qed.

Lemma cubicT c : (cubic c)^T = cubic c.
Proof. by apply/matrixP => i j; rewrite !mxE /kappa commute. Qed.

(* state that the connections are dual *)
(* proves thm:geometry-alpha *)
Theorem alpha_connections_are_dual c :
  D c g = g *m Gamma alpha c + (g *m Gamma (- alpha) c)^T.

(* prove that the connections are dual *)
Proof.
rewrite dg_mx /Gamma -!scalemxAr !mulKVmx// linearZ /= cubicT -scalerDl.
by rewrite -mulrDr opprK addrACA addNr addr0 half2 scale1r.
Qed.

(* the derivative of a connection *)
Let lambda := half * (1 - alpha).

Lemma d_lambda c : d c lambda = 0.
Proof.
have dh : d c half = 0.
  have := product_rule c 2%:R half; rewrite mulrV// d1 raddfMn d1 mul0rn mul0r
    add0r.
  by move/esym/(congr1 (fun x => half * x)); rewrite mulKr// mulr0.
by rewrite product_rule dh mul0r add0r raddfB d1 alpha_constant subrr mulr0.
Qed.

Lemma D_Gamma c e : D c (Gamma alpha e) = lambda *:
  (invmx g *m D c (cubic e) - (invmx g *m cubic c) *m (invmx g *m cubic e)).
Proof.
have DZ (M : 'M_n) : D c (lambda *: M) = lambda *: D c M.
  by apply/matrixP => i j; rewrite !mxE product_rule d_lambda mul0r add0r.
rewrite /Gamma DZ product_rule_mx derivative_of_inverse// dg_mx.
by rewrite mulNmx addrC -!mulmxA.
Qed.

(* state the curvature of the connections *)
(* proves thm:geometry-alpha *)
Theorem alpha_curvature c e : g *m Riemann c e =
  (half ^+ 2 * (1 - alpha ^+ 2)) *:
    (cubic e *m invmx g *m cubic c - cubic c *m invmx g *m cubic e).

(* prove the curvature of the connections *)
Proof.
have DC : D c (cubic e) = D e (cubic c).
  apply/matrixP => i j; rewrite !mxE /kappa.
  have c3 x : d i (d j (d x psi)) = d x (d i (d j psi)).
    by rewrite [d j (d x psi)]commute commute.
  by rewrite !c3 commute.
have cancel (V : zmodType) (I x y : V) : I - x - (I - y) = y - x.
  by rewrite opprB addrC addrA subrK.
have E : Riemann c e = (lambda - lambda ^+ 2) *:
    (invmx g *m cubic e *m (invmx g *m cubic c) -
     invmx g *m cubic c *m (invmx g *m cubic e)).
  rewrite /Riemann !D_Gamma DC /Gamma -/lambda -!scalemxAl -!scalemxAr !scalerA.
  rewrite -scalerBr cancel -addrA -scalerBr scalerBl expr2.
  by rewrite -[X in _ + _ *: X]opprB scalerN.
have hh : half = half ^+ 2 * 2%:R by rewrite expr2 -mulrA mulVr// mulr1.
have -> : half ^+ 2 * (1 - alpha ^+ 2) = lambda - lambda ^+ 2.
  by rewrite /lambda {2}hh; move: (2%:R^-1 : R) => h; ring.
by rewrite E -scalemxAr mulmxBr !gK !mulmxA.
Qed.

(* straight lines, in Coq *)
Variables (S : comUnitRingType) (dot : {additive S -> S}).
Hypothesis dot_product : forall x y,
  dot (x * y) = dot x * y + x * dot y.
Variables (along : {rmorphism R -> S}) (V : 'cV[S]_n).
Hypothesis chain_rule : forall f,
  dot (along f) = \sum_a along (d a f) * V a 0.
Definition straight al := map_mx dot V
  + \sum_c V c 0 *: (map_mx along (Gamma al c) *m V) = 0.

(* state which lines are straight *)
(* proves thm:geometry-alpha *)
Theorem straight_lines :
  (straight 1 <-> map_mx dot V = 0) /\
  (straight (-1) <-> forall a, dot (dot (along (d a psi))) = 0).

(* prove which lines are straight *)
Proof.
have h2 : half * (1 - -1) = 1 by rewrite opprK -[1 + 1]/(2%:R) mulVr.
have G1 c : Gamma 1 c = 0 by rewrite /Gamma subrr mulr0 scale0r.
have Gm1 c : Gamma (-1) c = invmx g *m cubic c by rewrite /Gamma h2 scale1r.
split.
  rewrite /straight big1 ?addr0 => [|c _]; first by [].
  by rewrite G1 map_mx0 mul0mx scaler0.
have eta : \col_a dot (along (d a psi)) = map_mx along g *m V.
  apply/colP => a; rewrite !mxE chain_rule; apply: eq_bigr => b _.
  by rewrite !mxE commute.
have acc : map_mx along g *m (map_mx dot V
    + \sum_c V c 0 *: (map_mx along (Gamma (-1) c) *m V))
    = map_mx dot (map_mx along g *m V).
  have -> : map_mx dot (map_mx along g *m V)
      = map_mx dot (map_mx along g) *m V + map_mx along g *m map_mx dot V.
    apply/colP => i; rewrite [LHS]mxE [in LHS]mxE raddf_sum [RHS]mxE.
    rewrite ![in RHS]mxE -big_split; apply: eq_bigr => h _ /=.
    by rewrite dot_product !mxE.
  have -> : map_mx dot (map_mx along g)
      = \sum_c V c 0 *: map_mx along (cubic c).
    apply/matrixP => a b; rewrite mxE [map_mx along g a b]mxE chain_rule.
    rewrite summxE; apply: eq_bigr => c _; rewrite dg.
    by rewrite [RHS]mxE [map_mx _ _ _ _]mxE [cubic c a b]mxE mulrC.
  rewrite mulmxDr addrC; congr (_ + _).
  rewrite mulmx_sumr mulmx_suml; apply: eq_bigr => c _.
  by rewrite -scalemxAr -scalemxAl Gm1 mulmxA -map_mxM mulKVmx.
rewrite /straight; split=> [E a|E].
  have := acc; rewrite E mulmx0 -eta => /esym/colP/(_ a).
  by rewrite [LHS]mxE [in LHS]mxE [RHS]mxE.
have z : map_mx along (invmx g) *m map_mx dot (map_mx along g *m V) = 0.
  rewrite -eta [map_mx dot _](_ : _ = 0) ?mulmx0//.
  by apply/colP => a; rewrite [LHS]mxE [in LHS]mxE [RHS]mxE E.
by move: z; rewrite -acc mulmxA -map_mxM mulVmx// map_mx1 mul1mx.
Qed.
End Natural.

End Derivations.
