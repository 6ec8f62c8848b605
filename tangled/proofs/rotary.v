(* proofs/rotary.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import metric.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* entries of forms are letters *)
(* ring, with the entries of matrices as its letters *)
Ltac entries := repeat match goal with
  |- context [@fun_of_matrix _ _ _ ?A ?i ?j] => move: (A i j) => ? end.

(* rotations by whole positions, in Coq *)
Section Rotary.
Variables (R : fieldType) (n : nat) (c s : 'rV[R]_n).
(* the cosines and sines of the angles *)
Hypothesis circle : forall a, c 0 a ^+ 2 + s 0 a ^+ 2 = 1.
Implicit Types (g : 'M[R]_(n + n)) (q k : 'cV[R]_(n + n)).
(* R_1 turns plane a by theta_a, and R_p = R_1^p. *)
Definition R1 : 'M[R]_(n + n) :=
  block_mx (diag_mx c) (- diag_mx s) (diag_mx s) (diag_mx c).
Fixpoint rot p : 'M[R]_(n + n) := if p is p'.+1 then R1 *m rot p'
  else 1%:M.
(* The sum over planes of x_a delta + y_a J. *)
Definition planes (x y : 'rV[R]_n) : 'M[R]_(n + n) :=
  block_mx (diag_mx x) (- diag_mx y) (diag_mx y) (diag_mx x).

(* blocks of planes multiply plane by plane *)
Lemma diagM (x y : 'rV[R]_n) :
  diag_mx x *m diag_mx y = diag_mx (\row_a (x 0 a * y 0 a)).
Proof.
rewrite mul_diag_mx; apply/matrixP => i j; rewrite !mxE.
by case: (eqVneq i j) => [->|_]; rewrite ?mulr1n// !mulr0n mulr0.
Qed.
Lemma diagC (x y : 'rV[R]_n) :
  diag_mx x *m diag_mx y = diag_mx y *m diag_mx x.
Proof. by rewrite !diagM; congr diag_mx; apply/rowP => a; rewrite !mxE mulrC.
Qed.
Lemma planesM x y z w : planes x y *m planes z w =
  planes (\row_a (x 0 a * z 0 a - y 0 a * w 0 a))
    (\row_a (y 0 a * z 0 a + x 0 a * w 0 a)).
Proof.
rewrite /planes mulmx_block !(mulmxN, mulNmx) !diagM.
by congr block_mx; apply/matrixP => i j; rewrite !mxE; case: (i == j);
  rewrite ?mulr1n ?mulr0n; entries; ring.
Qed.
Lemma planesC x y z w : planes x y *m planes z w = planes z w *m planes x y.
Proof. by rewrite !planesM; congr planes; apply/rowP => a; rewrite !mxE;
  entries; ring. Qed.
Lemma planesT x y : (planes x y)^T = planes x (- y).
Proof. by rewrite tr_block_mx !linearN /= !tr_diag_mx /planes !linearN
  /= opprK. Qed.
Lemma planes1 : planes (const_mx 1) 0 = 1%:M.
Proof. by rewrite /planes diag_const_mx !linear0 ?oppr0 -scalar_mx_block. Qed.

(* rotations by positions keep lengths *)
Lemma R1T : R1^T *m R1 = 1%:M.
Proof.
rewrite /R1 -/(planes c s) planesT planesM -planes1; congr planes.
  by apply/rowP => a; rewrite !mxE mulNr opprK -!expr2 circle.
by apply/rowP => a; rewrite !mxE; entries; ring.
Qed.
Lemma R1T' : R1 *m R1^T = 1%:M. Proof. exact: mulmx1C R1T. Qed.
Lemma rotD i j : rot (i + j) = rot i *m rot j.
Proof. by elim: i => [|i IH]; rewrite ?mul1mx// addSn /= IH mulmxA. Qed.
Lemma rotT i : (rot i)^T *m rot i = 1%:M.
Proof.
elim: i => [|i IH]; first by rewrite trmx1 mul1mx.
by rewrite /= trmx_mul mulmxA -[_ *m R1^T *m _]mulmxA R1T mulmx1.
Qed.
Lemma rot_commutes g i : g *m R1 = R1 *m g -> g *m rot i = rot i *m g.
Proof.
move=> C; elim: i => [|i IH]; first by rewrite mulmx1 mul1mx.
by rewrite /= mulmxA C -mulmxA IH mulmxA.
Qed.
Lemma form_eq m (A B : 'M[R]_m) :
  (forall q k : 'cV[R]_m, q^T *m A *m k = q^T *m B *m k) -> A = B.
Proof.
move=> h; have E (C : 'M[R]_m) i j : C i j
  = ((delta_mx i 0 : 'cV_m)^T *m C *m (delta_mx j 0 : 'cV_m)) 0 0.
  by rewrite trmx_delta -rowE -colE !mxE.
by apply/matrixP => i j; rewrite !E h.
Qed.

(* dependence on differences, in Coq *)
Definition only_differences g :=
  forall i j i' j', (i' + j = i + j')%N -> forall q k,
    (rot i *m q)^T *m g *m (rot j *m k) = (rot i' *m q)^T *m g *m
      (rot j' *m k).

(* state which forms see differences only *)
(* proves thm:rotary *)
Theorem depends_on_differences g : only_differences g <->
  g *m R1 = R1 *m g.

(* prove which forms see differences only *)
Proof.
split=> [h|C].
  have E : (rot 1)^T *m g *m rot 1 = (rot 0)^T *m g *m rot 0.
    apply: form_eq => q k; have := h 1%N 1%N 0%N 0%N erefl q k.
    by rewrite !trmx_mul !mulmxA.
  rewrite /= trmx1 mul1mx !mulmx1 in E.
  by rewrite -{2}E !mulmxA R1T' mul1mx.
have shift i j d q k : (rot i *m q)^T *m g *m (rot j *m k) =
    (rot (d + i) *m q)^T *m g *m (rot (d + j) *m k).
  rewrite !rotD !trmx_mul -!mulmxA; congr (_ *m (_ *m _)); rewrite !mulmxA.
  by rewrite -[_ *m g *m rot d]mulmxA (rot_commutes d C) !mulmxA rotT mul1mx.
move=> i j i' j' E q k; case/orP: (leq_total i i') => le.
  rewrite (shift i j (i' - i)%N) subnK//; congr (_ *m (rot _ *m _)).
  by apply/eqP; rewrite -(eqn_add2l i) -E addnA subnKC.
rewrite [RHS](shift i' j' (i - i')%N) subnK//; congr (_ *m (rot _ *m _)).
by apply/eqP; rewrite -(eqn_add2l i') E addnA subnKC.
Qed.

(* gains on both columns of a plane *)
Theorem length_kept i q : (rot i *m q)^T *m (rot i *m q) = q^T *m q.
Proof. by rewrite trmx_mul -mulmxA [_^T *m (rot i *m q)]mulmxA rotT mul1mx.
Qed.
Theorem gains_between_rotations (x y : 'rV[R]_n) : (forall a, s 0 a != 0) ->
  only_differences (diag_mx (row_mx x y)) <-> x = y.
Proof.
move=> s0; rewrite depends_on_differences.
rewrite diag_mx_row /R1 !mulmx_block !(mul0mx, mulmx0, add0r, addr0, mulmxN,
  mulNmx).
split=> [/eq_block_mx[_ + _ _]|->]; last by rewrite !(diagC y).
move/oppr_inj/matrixP => h; apply/rowP => a; have := h a a.
by rewrite [_ *m diag_mx y]diagC !diagM !mxE eqxx !mulr1n => /(mulIf (s0 a)).
Qed.

(* angles that differ, in Coq *)
Hypothesis two : 2%:R != 0 :> R.
Hypothesis sines : forall a, s 0 a != 0.
Hypothesis cosines : forall a b, c 0 a = c 0 b -> a = b.

(* state what commutes with rotations *)
(* proves thm:rotary *)
Theorem commutant g : g *m R1 = R1 *m g <-> exists x y, g = planes x y.

(* prove what commutes with rotations *)
Proof.
split=> [C|[x [y ->]]]; last exact: planesC.
have CT : g *m R1^T = R1^T *m g.
  by rewrite -[LHS]mul1mx -R1T -!mulmxA [R1 *m _]mulmxA -C
    -[g *m R1 *m _]mulmxA R1T' mulmx1.
have C2 : g *m (R1 + R1^T) = (R1 + R1^T) *m g by rewrite mulmxDr C CT mulmxDl.
have RT : R1 + R1^T = block_mx (diag_mx (2%:R *: c)) 0 0
  (diag_mx (2%:R *: c)).
  rewrite /R1 -/(planes c s) planesT add_block_mx !linearN /= opprK
    addNr subrr.
  by rewrite -!linearD /= scaler_nat mulr2n.
set A := ulsubmx g; set B := ursubmx g; set D := dlsubmx g;
  set E := drsubmx g.
have gE : g = block_mx A B D E by rewrite submxK.
move: C2; rewrite RT gE !mulmx_block !(mul0mx, mulmx0, add0r, addr0) =>
  /eq_block_mx[hA hB hD hE].
have diag (X : 'M[R]_n) : X *m diag_mx (2%:R *: c)
  = diag_mx (2%:R *: c) *m X ->
    X = diag_mx (\row_a X a a).
  rewrite mul_diag_mx mul_mx_diag => /matrixP h; apply/matrixP => i j;
    rewrite !mxE.
  have [->|ij] := eqVneq i j; first by rewrite mulr1n.
  have := h i j; rewrite !mxE mulr0n => /eqP; rewrite mulrC -subr_eq0 -mulrBl
    -mulrBr.
  rewrite !mulf_eq0 (negbTE two) /= subr_eq0 =>
    /orP[/eqP/cosines ji|/eqP->//].
  by rewrite ji eqxx in ij.
rewrite gE in C; rewrite (diag _ hA) (diag _ hB) (diag _ hD)
  (diag _ hE) in C *.
move: C; move: (\row_a A a a) (\row_a B a a) (\row_a D a a) (\row_a E a a) =>
  x y z w.
rewrite /R1 !mulmx_block !(mulmxN, mulNmx) => /eq_block_mx[+ + _ _].
rewrite (diagC x c) => /addrI /matrixP h1; rewrite (diagC y c) addrC =>
  /addrI /oppr_inj /matrixP h2.
exists x, z; rewrite /planes; congr block_mx.
  rewrite -linearN; congr diag_mx; apply/rowP => a; apply: (mulfI (sines a));
    have := h1 a a.
  by rewrite [X in _ = X]mxE !diagM !mxE eqxx !mulr1n => E1;
    rewrite mulrC E1 mulrN.
congr diag_mx; apply/rowP => a; have := h2 a a.
by rewrite !diagM !mxE eqxx !mulr1n [_ * s 0 a]mulrC => /(mulfI (sines a)) ->.
Qed.

(* the gauge of turned scores *)
Section Gauge.
Variables (D Dc : nat) (WQ : 'M[R]_(D, n + n)) (WK : 'M[R]_(Dc, n + n)).
Variables (bQ bK : 'rV[R]_(n + n)).
Definition score (WQ : 'M[R]_(D, n + n)) bQ (WK : 'M[R]_(Dc, n + n)) bK
  (x : 'rV_D) (y : 'rV_Dc) i j :=
  (rot i *m (x *m WQ + bQ)^T)^T *m (rot j *m (y *m WK + bK)^T).
Theorem gauge (M : 'M[R]_(n + n)) : M \in unitmx -> row_full WQ ->
  row_full WK ->
  (forall x y i j, score (WQ *m M) (bQ *m M) (WK *m (invmx M)^T)
    (bK *m (invmx M)^T) x y i j
                 = score WQ bQ WK bK x y i j)
  <-> M *m R1 = R1 *m M.
Proof.
move=> Mu /row_fullP[BQ fQ] /row_fullP[BK fK].
have E x y i j : score (WQ *m M) (bQ *m M) (WK *m (invmx M)^T)
  (bK *m (invmx M)^T) x y i j
    = (x *m WQ + bQ) *m (M *m (rot i)^T *m rot j *m invmx M) *m
      (y *m WK + bK)^T.
  rewrite /score !mulmxA -!mulmxDl; set u := x *m WQ + bQ;
    set v := y *m WK + bK.
  by rewrite !trmx_mul !trmxK !mulmxA.
have E1 x y i j : score WQ bQ WK bK x y i j
    = (x *m WQ + bQ) *m ((rot i)^T *m rot j) *m (y *m WK + bK)^T.
  by rewrite /score !trmx_mul !trmxK !mulmxA.
split=> [h|C x y i j]; last first.
  rewrite E E1; congr (_ *m _ *m _); rewrite -[M *m _ *m rot j]mulmxA.
  have CT : M *m (rot i)^T = (rot i)^T *m M.
    rewrite -[LHS]mul1mx -(rotT i) -!mulmxA [rot i *m _]mulmxA
      -(rot_commutes _ C).
    by rewrite -[M *m _ *m _]mulmxA (mulmx1C (rotT i)) mulmx1.
  by rewrite !mulmxA CT -[_ *m M *m rot j]mulmxA (rot_commutes _ C) !mulmxA
    -[X in X = _]mulmxA mulmxV ?mulmx1.
have F : M *m R1 *m invmx M = R1.
  apply: form_eq => q k; have := h ((q^T - bQ) *m BQ) ((k^T - bK) *m BK)
    0%N 1%N.
  have xE (x : 'rV_(n + n)) : (x - bQ) *m BQ *m WQ + bQ = x by rewrite -mulmxA
    fQ mulmx1 subrK.
  have yE (y : 'rV_(n + n)) : (y - bK) *m BK *m WK + bK = y by rewrite -mulmxA
    fK mulmx1 subrK.
  have r1 : rot 1 = R1 by rewrite /= mulmx1.
  by rewrite E E1 xE yE trmxK r1 trmx1 mulmx1 mul1mx.
by rewrite -{2}F -!mulmxA mulVmx// mulmx1.
Qed.
End Gauge.
End Rotary.

(* state which metrics commute with rotations *)
(* proves thm:rotary *)
Theorem commuting_metrics (R : rcfType) n (c s : 'rV[R]_n)
  (g : 'M[R]_(n + n)) :
  (forall a, c 0 a ^+ 2 + s 0 a ^+ 2 = 1) -> (forall a, s 0 a != 0) ->
  (forall a b, c 0 a = c 0 b -> a = b) ->
  metric g /\ g *m R1 c s = R1 c s *m g <->
  exists x : 'rV_n, (forall a, 0 < x 0 a) /\ g = planes x 0.

(* prove which metrics commute with rotations *)
Proof.
move=> circle sines cosines.
have two : 2%:R != 0 :> R by rewrite pnatr_eq0.
have quad (x : 'rV[R]_n) (v : 'rV_(n + n)) : (v *m planes x 0 *m v^T) 0 0 =
    \sum_a x 0 a * (v 0 (lshift n a) ^+ 2 + v 0 (rshift n a) ^+ 2).
  rewrite -[v in LHS]hsubmxK /planes linear0 oppr0 mul_row_block !mulmx0
    addr0 add0r.
  rewrite tr_row_mx mul_row_col !mul_mx_diag mxE !mxE -big_split;
    apply: eq_bigr => a _ /=.
  by rewrite !mxE; entries; ring.
split=> [[[gT g0] /(commutant circle two sines cosines)[x [y gE]]]|[x
  [x0 ->]]].
  have y0 : y = 0.
    move: gT; rewrite gE planesT => /eq_block_mx[_ _ + _];
      rewrite linearN /= => /matrixP h.
    apply/rowP => a; have := h a a; rewrite !mxE eqxx !mulr1n => /eqP.
    by rewrite eq_sym -addr_eq0 -mulr2n -mulr_natl mulf_eq0 (negbTE two)
      => /eqP.
  exists x; rewrite gE y0; split=> // a.
  have := g0 (row_mx (delta_mx 0 a) 0); rewrite gE y0 quad (bigD1 a)//= big1
    => [|b ba].
    rewrite row_mxEl row_mxEr !mxE !eqxx expr1n expr0n !addr0 mulr1; apply.
    apply/eqP => /(congr1 (fun u : 'rV[R]_(n + n) => u 0 (lshift n a))).
    by rewrite row_mxEl !mxE !eqxx => /eqP; rewrite oner_eq0.
  by rewrite row_mxEl row_mxEr !mxE (negbTE ba) expr0n addr0 mulr0.
split; last by apply/(commutant circle two sines cosines); exists x, 0.
split=> [|v v0]; first by rewrite planesT oppr0.
rewrite quad lt0r sumr_ge0 ?andbT => [|a _]; last by rewrite mulr_ge0
  ?addr_ge0 ?sqr_ge0 ?ltW.
apply: contraNneq v0 => /psumr_eq0P z; apply/eqP/rowP => i; rewrite mxE.
have {}z a : v 0 (lshift n a) = 0 /\ v 0 (rshift n a) = 0.
  have := z
    (fun a _ => mulr_ge0 (ltW (x0 a)) (addr_ge0 (sqr_ge0 _) (sqr_ge0 _))) a
    isT.
  move/eqP; rewrite mulf_eq0 gt_eqF//= paddr_eq0 ?sqr_ge0// !sqrf_eq0 =>
    /andP[/eqP-> /eqP->//].
by rewrite -(splitK i); case: (split i) => a /=;
  [exact: (z a).1 | exact: (z a).2].
Qed.
