(* proofs/inertia.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra ring zify.
From attn Require Import forms.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* Lagrange's reduction of a form *)

(* find a vector of some length *)
Section Lagrange.
Variable F : fieldType.
Hypothesis two : 2%:R != 0 :> F.

Lemma some_value d (G : 'M[F]_d) : G^T = G -> G != 0 -> exists v,
  form G v v != 0.
Proof.
move=> GT G0; have [|none] := boolP [exists a, G a a != 0].
  by move=> /existsP[a aP]; exists (delta_mx a 0); rewrite form_unit.
have z a : G a a = 0 by move/existsPn: none => /(_ a)/negbNE/eqP.
have /existsP[a /existsP[b ab]] : [exists a, exists b, G a b != 0].
  apply: contra_neqT G0 => /existsPn n; apply/matrixP => a b; rewrite mxE.
  by move/(_ a)/existsPn/(_ b)/negbNE/eqP: n.
exists (delta_mx a 0 + delta_mx b 0).
have ba : G b a = G a b by rewrite -{1}GT mxE.
rewrite formDl !formDr !form_unit !z add0r addr0 ba -mulr2n -mulr_natl.
by rewrite mulf_neq0.
Qed.

(* split off one row and one column *)
Lemma block_unit m n (A : 'M[F]_m) (B : 'M_(m, n)) (C : 'M_n) :
  A \in unitmx -> C \in unitmx -> block_mx A B 0 C \in unitmx.
Proof. by rewrite !unitmxE det_ublock unitrM => -> ->. Qed.

Lemma diag_blocks d (x : F) (D : 'rV[F]_d) :
  block_mx (diag_mx (x%:M : 'rV_1)) 0 0 (diag_mx D) =
  diag_mx (row_mx x%:M D : 'rV_(1 + d)).
Proof. by rewrite diag_mx_row. Qed.

Lemma symmetric_blocks d (M : 'M[F]_(1 + d)) : M^T = M ->
  M = block_mx (M 0 0)%:M (ursubmx M) (ursubmx M)^T (drsubmx M).
Proof.
move=> MT; rewrite -[LHS]submxK; congr block_mx.
  rewrite [LHS]mx11_scalar !mxE.
  by have -> : lshift d (0 : 'I_1) = 0 by exact: val_inj.
by apply/matrixP => i j; rewrite !mxE -{1}MT mxE.
Qed.

Lemma symmetric_corner d (M : 'M[F]_(1 + d)) : M^T = M ->
  (drsubmx M)^T = drsubmx M.
Proof. by move=> MT; apply/matrixP => i j; rewrite !mxE -{1}MT mxE. Qed.

(* reduce a form to a sum of squares *)
Theorem lagrange d (G : 'M[F]_d) : G^T = G ->
  exists P D, P \in unitmx /\ P^T *m G *m P = diag_mx D.
Proof.
elim: d G => [|d IH] G GT.
  by exists 1%:M, 0; rewrite unitmx1; split=> //; apply/matrixP => -[].
have [->|G0] := eqVneq G 0.
  exists 1%:M, 0; rewrite unitmx1 mulmx0 mul0mx; split=> //.
  by apply/matrixP => i j; rewrite !mxE mul0rn.
have [v vP] := some_value GT G0.
pose U := col_ebase v; have Uu : U \in unitmx by exact: col_ebase_unit.
pose w : 'cV[F]_d.+1 := pid_mx (\rank v) *m row_ebase v.
have wE : w = w 0 0 *: delta_mx 0 0.
  apply/colP => i; rewrite [RHS]mxE mxE [w 0 0]mxE !big_ord1 !mxE.
  have [->|i0] := eqVneq i 0; first by rewrite !eqxx /= mulr1.
  have -> : (i == 0%N :> nat) = false by exact/negbTE.
  by rewrite !mul0r mulr0.
have vE : v = w 0 0 *: (U *m delta_mx 0 0).
  by rewrite scalemxAr -wE /w /U mulmxA mulmx_ebase.
pose H : 'M[F]_(1 + d) := U^T *m G *m U.
have HT : H^T = H by rewrite /H !trmx_mul trmxK GT mulmxA.
pose a := H 0 0; have a0 : a != 0.
  apply: contraNneq vP => z; rewrite vE formZl formZr -form_subst form_unit -/H
    -/a z.
  by rewrite !mulr0.
pose b := ursubmx H; pose C := drsubmx H.
have HE : H = block_mx a%:M b b^T C by exact: symmetric_blocks.
have CT : C^T = C by exact: symmetric_corner.
pose L := block_mx 1%:M (- a^-1 *: b) 0 1%:M : 'M_(1 + d).
have LHL : L^T *m H *m L = block_mx a%:M 0 0 (C - a^-1 *: (b^T *m b)).
  rewrite HE /L tr_block_mx !trmx1 trmx0 !mulmx_block !mul0mx !mulmx0 !mul1mx
    !mulmx1 !addr0 ?add0r.
  have bT : (- a^-1 *: b)^T = - a^-1 *: b^T by rewrite linearZ.
  rewrite bT -!scalemxAl -!scalemxAr mul_mx_scalar mul_scalar_mx !scalerA.
  have -> : - a^-1 * a = -1 by rewrite mulNr mulVf.
  by rewrite !scaleN1r !addNr mul0mx scaler0 add0r scaleNr addrC.
have [|P' [D' [P'u P'E]]] := IH (C - a^-1 *: (b^T *m b)).
  by rewrite linearB /= linearZ /= trmx_mul trmxK CT.
pose B := block_mx 1%:M 0 0 P' : 'M_(1 + d).
exists (U *m L *m B), (row_mx a%:M D').
have Lu : L \in unitmx by apply: block_unit; rewrite unitmx1.
have Bu : B \in unitmx by apply: block_unit; rewrite ?unitmx1.
split; first by rewrite !unitmx_mul Uu Lu Bu.
rewrite (_ : _ *m _ = B^T *m (L^T *m H *m L) *m B);
  last by rewrite /H !trmx_mul !mulmxA.
rewrite LHL /B tr_block_mx trmx1 !trmx0 !mulmx_block !mul0mx !mulmx0 !mul1mx
  !mulmx1 !addr0 ?add0r.
transitivity (block_mx (diag_mx (a%:M : 'rV_1)) 0 0 (diag_mx D')).
  have e11 : diag_mx (a%:M : 'rV_1) = a%:M.
    by apply/matrixP => i j; rewrite !ord1 !mxE eqxx !mulr1n.
  by rewrite mul0mx P'E e11.
exact: diag_blocks.
Qed.
End Lagrange.

(* a sum of what is not positive *)
Lemma sum_le0 (R : realFieldType) (I : finType) (f : I -> R) : (forall i,
  f i <= 0) -> \sum_i f i <= 0.
Proof. by move=> h; rewrite -oppr_ge0 -sumrN sumr_ge0// => i _;
  rewrite oppr_ge0. Qed.

(* Sylvester's law of inertia, in Coq *)

(* the signature of a form, in Coq *)
Section Inertia.
Variables (R : rcfType) (d : nat).
Implicit Types (G P : 'M[R]_d) (p q : nat).

(* p squares, minus q squares *)
Definition squares p q : 'M[R]_d :=
  diag_mx (\row_a (if (a < p)%N then 1 else
                   if (a < p + q)%N then -1 else 0)).
Definition signature G p q := (p + q <= d)%N /\
  exists P, P \in unitmx /\ P^T *m G *m P = squares p q.
(* on the subspace spanned by the columns of E *)
Definition positive_on G m (E : 'M[R]_(d, m)) :=
  forall x, E *m x != 0 -> 0 < form G (E *m x) (E *m x).
Definition largest_positive G p :=
  (exists E : 'M_(d, p), \rank E = p /\ positive_on G E) /\
  (forall m (E : 'M_(d, m)), positive_on G E -> (\rank E <= p)%N).

(* two is not zero *)
Lemma two : 2%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.

(* state that a basis of squares exists *)
(* proves thm:sylvester *)
Theorem sylvester G : G^T = G -> exists p q, signature G p q.

(* scale and sort the squares *)
Proof.
move=> /(lagrange two)[P [D [Pu PE]]].
pose t := [tuple Num.sg (D 0 a) | a < d].
pose p := count_mem 1 t; pose q := count_mem (-1) t; pose r := count_mem 0 t.
pose s0 := nseq p 1 ++ nseq q (-1) ++ nseq r (0 : R).
have n11 : (1 == -1 :> R) = false.
  by rewrite -subr_eq0 opprK -[_ + _]/(2%:R) (negbTE two).
have n12 : (-1 == 1 :> R) = false by rewrite eq_sym.
have st : perm_eq s0 t.
  apply/allP => x xst; apply/eqP; rewrite !count_cat !count_nseq /=.
  have : x \in [:: 1; -1; 0].
    move: xst; rewrite !mem_cat !mem_nseq !inE => /orP[|/mapP[a _ ->]].
      by case/or3P => /andP[_ ->]; rewrite ?orbT.
    by case: sgrP => _; rewrite eqxx ?orbT.
  rewrite !inE => /or3P[]/eqP->; by rewrite eqxx ?n11 ?n12 ?(eq_sym 0) ?oppr_eq0
    ?oner_eq0 ?mul0n ?mul1n ?addn0 ?add0n.
have [s sE] := tuple_permP st.
have sg a : Num.sg (D 0 (s a)) = if (a < p)%N then 1 else if (a < p + q)%N then
  -1 else 0.
  transitivity (nth 0 s0 a).
    by rewrite sE (nth_map a) ?size_enum_ord// nth_ord_enum !tnth_mktuple.
  rewrite !nth_cat !size_nseq !nth_nseq; case: ifP => ap; first by rewrite ap.
  have -> : (a - p < q)%N = (a < p + q)%N by lia.
  by case: (a < p + q)%N => //; case: ifP.
exists p, q; split.
  have : (size s0 = d) by rewrite (perm_size st) size_tuple.
  by rewrite !size_cat !size_nseq; lia.
pose c := \row_a (if D 0 (s a) == 0 then 1 else (Num.sqrt `|D 0 (s a)|)^-1).
have cP a : c 0 a * c 0 a * D 0 (s a) = Num.sg (D 0 (s a)).
  rewrite mxE; case: eqP => [->|/eqP n0]; first by rewrite mulr0 sgr0.
  rewrite -invfM -expr2 sqr_sqrtr ?normr_ge0// {2}[D 0 (s a)]numEsg mulrCA mulVf
    ?mulr1//.
  by rewrite normr_eq0.

(* finish the scaled squares *)
have cu : diag_mx c \in unitmx.
  rewrite unitmxE det_diag unitfE; apply/prodf_neq0 => a _; rewrite mxE.
  case: ifP => [_|/negbT n0]; first exact: oner_neq0.
  by rewrite invr_eq0 gt_eqF// sqrtr_gt0 normr_gt0.
exists (P *m ((perm_mx s)^T *m diag_mx c)).
rewrite !unitmx_mul Pu cu unitmx_tr unitmx_perm; split=> //.
have -> : (P *m ((perm_mx s)^T *m diag_mx c))^T *m G *m
  (P *m ((perm_mx s)^T *m diag_mx c)) =
   diag_mx c *m (perm_mx s *m (P^T *m G *m P) *m (perm_mx s)^T) *m diag_mx c.
  by rewrite !trmx_mul trmxK tr_diag_mx !mulmxA.
rewrite PE; apply/matrixP => i j; set W := perm_mx s *m _ *m _.
have WE : W i j = D 0 (s i) *+ (i == j).
  by rewrite /W tr_perm_mx -row_permE -col_permE !mxE (inj_eq perm_inj).
rewrite mul_mx_diag mul_diag_mx [LHS]mxE [X in X * _ = _]mxE WE [RHS]mxE
  [X in _ = X *+ _]mxE -sg -cP.
by have [->|] := eqVneq i j; rewrite ?mulr1n ?mulr0n ?mulr0 ?mul0r// mulrAC.
Qed.

(* bound a rank by a map *)
(* A form of k positive squares is positive on no larger subspace. *)
Lemma rank_le m k (E : 'M[R]_(d, m)) (X : 'M_(k, m)) :
  (forall x : 'cV_m, X *m x = 0 -> E *m x = 0) -> (\rank E <= k)%N.
Proof.
move=> h; apply: leq_trans (rank_leq_row X).
have : (kermx X^T <= kermx E^T)%MS.
  apply/sub_kermxP/row_matrixP => i; rewrite row_mul row0.
  rewrite -[LHS]trmxK trmx_mul trmxK h ?trmx0//.
  by rewrite -[LHS]trmxK trmx_mul trmxK -row_mul mulmx_ker row0 trmx0.
move=> /mxrankS; rewrite !mxrank_ker !mxrank_tr.
by have := rank_leq_col E; have := rank_leq_col X; lia.
Qed.

(* count the positive squares *)
Lemma form_diag (D : 'rV[R]_d) w : form (diag_mx D) w w = \sum_a D 0 a *
  w a 0 ^+ 2.
Proof.
rewrite /form mul_mx_diag mxE; apply: eq_bigr => a _;
  by rewrite !mxE mulrAC [RHS]mulrC expr2.
Qed.

Lemma positives G P (D : 'rV[R]_d) : P \in unitmx ->
  P^T *m G *m P = diag_mx D ->
  largest_positive G #|[pred a | 0 < D 0 a]|.
Proof.
move=> Pu PE; set N := [pred a | _].
have GE w : form G (P *m w) (P *m w) = \sum_a D 0 a * w a 0 ^+ 2.
  by rewrite -form_subst PE form_diag.
split.
  pose E := \matrix_(a < d, i < #|N|) (a == enum_val i)%:R : 'M[R]_(d, #|N|).
  have EE : E^T *m E = 1%:M.
    apply/matrixP => i j; rewrite !mxE (bigD1 (enum_val i))//= big1 ?addr0.
      by rewrite !mxE eqxx mul1r (inj_eq enum_val_inj).
    by move=> a /negbTE ai; rewrite !mxE ai mul0r.
  have Ex x a : (E *m x) a 0 = \sum_i (a == enum_val i)%:R * x i 0.
    by rewrite mxE; apply: eq_bigr => i _; rewrite mxE.
  exists (P *m E); split.
    rewrite -mxrank_tr trmx_mul mxrankMfree ?row_free_unit ?unitmx_tr//.
    by apply/eqP; apply/row_freeP; exists E.
  move=> x; rewrite -mulmxA => x0; rewrite GE.
  have w0 : E *m x != 0 by apply: contraNneq x0 => ->; rewrite mulmx0.
  have out a : a \notin N -> (E *m x) a 0 = 0.
    move=> aN; rewrite Ex big1// => i _; case: eqP => [ai|];
      last by rewrite mul0r.
    by move: aN; rewrite ai enum_valP.
  have ge a : 0 <= D 0 a * (E *m x) a 0 ^+ 2.
    have [aN|aN] := boolP (a \in N); last by rewrite out// expr0n mulr0.
    by rewrite mulr_ge0 ?sqr_ge0// ltW.
  have S0 : 0 <= \sum_a D 0 a * (E *m x) a 0 ^+ 2 by exact: sumr_ge0.
  rewrite lt0r S0 andbT.
  apply: contraNneq w0 => /psumr_eq0P z; apply/eqP/colP => a; rewrite [RHS]mxE.
  have [aN|] := boolP (a \in N); last exact: out.
  have /eqP := z (fun a _ => ge a) a isT.
  by rewrite mulf_eq0 sqrf_eq0 gt_eqF//= => /eqP.
move=> m E pos.
apply: (@rank_le m _ E (\matrix_(i < #|N|, a < d) (enum_val i == a)%:R *m
  (invmx P *m E))).
move=> x X0; apply/eqP; apply: contraT => /pos;
  rewrite -{1 2}(mulKVmx Pu (E *m x)) GE.
rewrite ltNge sum_le0// => a.
have [aN|] := boolP (a \in N); last by rewrite inE -leNgt => h;
  rewrite mulr_le0_ge0 ?sqr_ge0.
have : (\matrix_(i < #|N|, a < d) (enum_val i == a)%:R *m (invmx P *m E) *m x)
  (enum_rank_in aN a) 0 = 0 by rewrite X0 mxE.
rewrite -!mulmxA; set y := invmx P *m _; rewrite mxE (bigD1 a)//=
  [X in X * _ + _]mxE enum_rankK_in// eqxx mul1r.
rewrite big1 ?addr0 => [->|b ba]; first by rewrite expr0n mulr0.
by rewrite mxE enum_rankK_in// eq_sym (negbTE ba) mul0r.
Qed.

(* count the first of some numbers *)
Lemma count_lt k : (k <= d)%N -> #|[pred a : 'I_d | (a < k)%N]| = k.
Proof.
move=> kd; rewrite -sum1_card (eq_bigl (fun i : 'I_d => (i < k)%N))//.
by rewrite (big_ord_narrow kd) big_const_ord iter_addn_0 mul1n.
Qed.

Lemma count_between k l : (k + l <= d)%N ->
  #|[pred a : 'I_d | (k <= a < k + l)%N]| = l.
Proof.
move=> kl; have := cardID [pred a : 'I_d | (a < k)%N]
  [pred a : 'I_d | (a < k + l)%N].
have -> : #|[predI [pred a : 'I_d | (a < k + l)%N] &
  [pred a : 'I_d | (a < k)%N]]| = k.
  rewrite -[RHS]count_lt; last by lia.
  by apply: eq_card => a; rewrite !inE; apply/andb_idl; lia.
have -> : #|[predD [pred a : 'I_d | (a < k + l)%N] &
  [pred a : 'I_d | (a < k)%N]]| =
    #|[pred a : 'I_d | (k <= a < k + l)%N]|.
  by apply: eq_card => a; rewrite !inE -leqNgt.
by rewrite count_lt//; lia.
Qed.

(* state the law of inertia *)
(* proves thm:sylvester *)
Theorem law_of_inertia G p q : signature G p q ->
  largest_positive G p /\ largest_positive (- G) q.

(* prove the law of inertia *)
Proof.
move=> [pq [P [Pu PE]]]; split.
  have := positives Pu PE; rewrite (eq_card (B := [pred a : 'I_d | (a < p)%N]))
    ?count_lt//; first lia.
  by move=> a; rewrite !inE mxE; case: ltnP => // _; rewrite ?ltr01//;
    case: ifP; rewrite ?ltxx// oppr_gt0 ltr10.
have NE : P^T *m (- G) *m P
  = diag_mx
  (- \row_a (if (a < p)%N then 1 else if (a < p + q)%N then -1 else 0)).
  by rewrite mulmxN mulNmx PE /squares linearN.
have := positives Pu NE;
  rewrite (eq_card (B := [pred a : 'I_d | (p <= a < p + q)%N]))
  ?count_between//.
move=> a; rewrite !inE !mxE; case: ltnP => //= _;
  first by rewrite oppr_gt0 ltr10.
by case: ifP; rewrite ?opprK ?ltr01// oppr0 ltxx.
Qed.

(* state that the signature is unique *)
(* proves thm:sylvester *)
Corollary signature_unique G p q p' q' :
  signature G p q -> signature G p' q' -> p = p' /\ q = q'.

(* prove that the signature is unique *)
Proof.
have le H k l : largest_positive H k -> largest_positive H l -> (k <= l)%N.
  by move=> [[E [rE pos]] _] [_ h]; rewrite -rE; exact: h.
move=> /law_of_inertia[a b] /law_of_inertia[a' b'].
split; apply/eqP; rewrite eqn_leq; first by rewrite (le _ _ _ a a')
  (le _ _ _ a' a).
by rewrite (le _ _ _ b b') (le _ _ _ b' b).
Qed.

(* a metric has a positive determinant *)
Lemma metric_det_gt0 (g : 'M[R]_d) : metric g -> 0 < \det g.
Proof.
move=> [gT pd]; have [P [D [Pu PE]]] := lagrange two gT.
have Dgt a : 0 < D 0 a.
  have -> : D 0 a = form g (P *m delta_mx a 0) (P *m delta_mx a 0).
    by rewrite -form_subst PE form_unit mxE eqxx mulr1n.
  apply: pd; apply: contraT =>
    /negbNE/eqP /(unit_kernel Pu) /matrixP/(_ a 0)/eqP.
  by rewrite !mxE !eqxx oner_eq0.
have : 0 < \det (P^T *m g *m P) by rewrite PE det_diag; exact: prodr_gt0.
rewrite !det_mulmx det_tr mulrAC -expr2 pmulr_rgt0// lt0r sqr_ge0 andbT
  sqrf_eq0.
by rewrite -unitfE -unitmxE.
Qed.
End Inertia.

(* the signature of one head, in Coq *)

(* a head and its two parts, in Coq *)
Section OneHead.
Variables (R : rcfType) (D d : nat) (WQ WK : 'M[R]_(D, d)).
Let M := WQ *m WK^T.
Definition symmetric_part := 2%:R^-1 *: (M + M^T).
Definition antisymmetric_part := 2%:R^-1 *: (M - M^T).

(* state the rank of a head *)
(* proves thm:one-head *)
Theorem rank_of_a_head :
  (\rank M <= d)%N /\ (\rank M = d <-> \rank WQ = d /\ \rank WK = d).

(* prove the rank of a head *)
Proof.
split; first exact: mulmx_max_rank.
split=> [E|[rQ rK]]; last by rewrite mxrankMfree// /row_free mxrank_tr rK.
split; apply/eqP; rewrite eqn_leq rank_leq_col -{1}E ?mxrankM_maxl//.
by rewrite -[\rank WK]mxrank_tr mxrankM_maxr.
Qed.

(* a head is positive on few dimensions *)
Let dotc (a b : 'cV[R]_d) := (a^T *m b) 0 0.

Lemma head_value v : form symmetric_part v v = dotc (WQ^T *m v) (WK^T *m v).
Proof.
rewrite /symmetric_part formZM formDM formT half2 ?two// /form /dotc /M.
by rewrite trmx_mul trmxK !mulmxA.
Qed.

Lemma dotcE a b : dotc a b = \sum_i a i 0 * b i 0.
Proof. by rewrite /dotc mxE; apply: eq_bigr => i _; rewrite mxE. Qed.

Lemma head_positive m (E : 'M_(D, m)) : positive_on symmetric_part E ->
  (\rank E <= d)%N.
Proof.
move=> pos; apply: (@rank_le _ _ _ _ E ((WQ + WK)^T *m E)) => x.
rewrite -mulmxA linearD /= mulmxDl => /eqP; rewrite addr_eq0 => /eqP e.
apply/eqP; apply: contraT => /pos; rewrite head_value e dotcE ltNge sum_le0// =>
  i.
by rewrite mxE mulNr oppr_le0 -expr2 sqr_ge0.
Qed.

Lemma head_negative m (E : 'M_(D, m)) : positive_on (- symmetric_part) E ->
  (\rank E <= d)%N.
Proof.
move=> pos; apply: (@rank_le _ _ _ _ E ((WQ - WK)^T *m E)) => x.
rewrite -mulmxA linearB /= mulmxBl => /eqP; rewrite subr_eq0 => /eqP e.
apply/eqP; apply: contraT => /pos; rewrite -scaleN1r formZM head_value e dotcE
  ltNge mulN1r oppr_le0 sumr_ge0// => i _.
by rewrite -expr2 sqr_ge0.
Qed.

(* state the signature of one head *)
(* proves thm:one-head *)
Theorem signature_of_one_head p q : signature symmetric_part p q ->
  [/\ (p <= d)%N, (q <= d)%N & (\rank antisymmetric_part <= 2 * d)%N].

(* prove the signature of one head *)
Proof.
move=> /law_of_inertia[[[E [rE pos]] _] [[E' [rE' neg]] _]]; split.
- by rewrite -rE; exact: head_positive pos.
- by rewrite -rE'; exact: head_negative neg.
rewrite /antisymmetric_part mxrank_scale_nz ?invr_eq0 ?two//.
apply: leq_trans (mxrank_add _ _) _;
  rewrite mul2n -addnn leq_add ?mulmx_max_rank//.
by rewrite mxrank_opp /M trmx_mul trmxK mulmx_max_rank.
Qed.

(* state the signature of independent factors *)
(* proves thm:one-head *)
Theorem signature_of_independent_factors :
  \rank (row_mx WQ WK) = (d + d)%N ->
  signature symmetric_part d d /\ \rank antisymmetric_part = (d + d)%N.

(* find subspaces for independent factors *)
Proof.
move=> rW; set W := row_mx WQ WK.
have fW : row_free W^T by rewrite /row_free mxrank_tr rW.
have [B WB] := row_freeP fW.
have half (c : R) (E : 'M_(D, d)) : W^T *m E = col_mx 1%:M c%:M ->
  \rank E = d /\
    forall x, form symmetric_part (E *m x) (E *m x) = c * (x^T *m x) 0 0.
  rewrite /W tr_row_mx mul_col_mx => /eq_col_mx[e1 e2]; split=> [|x].
    by apply/eqP; rewrite -mxrank_tr; apply/row_freeP; exists WQ;
      rewrite -[WQ]trmxK -trmx_mul e1 trmx1.
  by rewrite head_value !mulmxA e1 e2 mul1mx mul_scalar_mx /dotc -scalemxAr mxE.
have [r1 v1] :=
  half 1 (B *m col_mx 1%:M 1%:M) ltac:(by rewrite mulmxA WB mul1mx).
have [r2 v2] := half (-1) (B *m col_mx 1%:M (-1)%:M)
  ltac:(by rewrite mulmxA WB mul1mx).
have pos (x : 'cV_d) m (E : 'M[R]_(m, d)) : E *m x != 0 -> 0 < (x^T *m x) 0 0.
  move=> x0; rewrite lt0r (dot_self_ge0 x).1 andbT eq_sym (dot_self_ge0 x).2.
  by apply: contraNneq x0 => ->; rewrite mulmx0.
have [|p [q sg]] := @sylvester R D symmetric_part.
  by rewrite /symmetric_part linearZ /= linearD /= trmxK addrC.
have [pd qd _] := signature_of_one_head sg.
have [[_ maxp] [_ maxq]] := law_of_inertia sg.
have dp : (d <= p)%N by rewrite -{1}r1; apply: maxp => x x0;
  rewrite v1 mul1r (pos _ _ _ x0).
have dq : (d <= q)%N.
  rewrite -{1}r2; apply: maxq => x x0.
  by rewrite -scaleN1r formZM v2 !mulN1r opprK (pos _ _ _ x0).
have -> : d = p by lia.
split; first by have {2}-> : p = q by lia.

(* take the rank of the antisymmetric part *)
rewrite /antisymmetric_part mxrank_scale_nz ?invr_eq0 ?two//.
pose J : 'M[R]_(d + d) := block_mx 0 1%:M (- 1%:M) 0.
have JJ : J *m (- J) = 1%:M.
  rewrite /J opp_block_mx !mulmx_block !opprK !oppr0 !mulmx0 !mul0mx !mulmx1
    !add0r !addr0.
  by rewrite mulmxN mulNmx mulmx1 opprK -scalar_mx_block.
have [Ju _] := mulmx1_unit JJ.
have -> : M - M^T = W *m J *m W^T.
  rewrite /W /J tr_row_mx mul_row_block !mulmx0 !mulmx1 !add0r !addr0
    mul_row_col.
  by rewrite mulmxN mulmx1 mulNmx addrC /M trmx_mul trmxK.
have -> : (p + p = d + d)%N by lia.
rewrite mxrankMfree// -mxrank_tr trmx_mul mxrankMfree// mxrank_tr.
by rewrite mxrank_unit.
Qed.

(* state the signature of a wide head *)
(* proves thm:one-head *)
Theorem signature_of_a_wide_head p q :
  symmetric_part \in unitmx -> signature symmetric_part p q ->
  (p + q = D)%N /\ (D - d <= p <= d)%N.

(* prove the signature of a wide head *)
Proof.
move=> Gu sg; have [pd qd _] := signature_of_one_head sg.
suff pq : (p + q = D)%N by split=> //; lia.
have [pqD [P [Pu PE]]] := sg; apply/eqP; rewrite eqn_leq pqD leqNgt.
apply/negP => lt; have : squares R D p q \in unitmx by rewrite -PE !unitmx_mul
  unitmx_tr Pu Gu.
rewrite unitmxE det_diag unitfE => /prodf_neq0/(_ (Ordinal lt) isT).
by rewrite mxE /= ltnn ltnNge leq_addr eqxx.
Qed.
End OneHead.
