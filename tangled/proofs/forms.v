(* proofs/forms.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Export pairing.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* rank, parts and gauge of a form *)

(* state the normal form of a rank *)
Section Rank.
Variables (F : fieldType) (m n : nat).
Implicit Types M N : 'M[F]_(m, n).

Definition same_up_to_bases M N :=
  exists P P', [/\ P \in unitmx, P' \in unitmx & P^T *m M *m P' = N].

(* proves thm:rank-normal-form *)
Theorem rank_normal_form M : same_up_to_bases M (pid_mx (\rank M)).

(* prove the normal form of a rank *)
Proof.
exists (invmx (col_ebase M))^T, (invmx (row_ebase M)).
rewrite unitmx_tr !unitmx_inv col_ebase_unit row_ebase_unit; split=> //.
rewrite trmxK -{2}[M]mulmx_ebase -!mulmxA mulKmx ?col_ebase_unit//.
by rewrite mulmxA mulmxK ?row_ebase_unit.
Qed.

(* state that equal ranks are equal forms *)
(* proves thm:rank-normal-form *)
Theorem same_form_iff_same_rank M N :
  same_up_to_bases M N <-> \rank M = \rank N.

(* prove that equal ranks are equal forms *)
Proof.
split=> [[P [P' [Pu P'u <-]]]|E].
  rewrite mxrankMfree ?row_free_unit// -[RHS]mxrank_tr trmx_mul trmxK
    mxrankMfree ?row_free_unit//.
  by rewrite mxrank_tr.
have [P [P' [Pu P'u PE]]] := rank_normal_form M.
exists (P *m (col_ebase N)^T), (P' *m row_ebase N).
rewrite !unitmx_mul unitmx_tr Pu P'u col_ebase_unit row_ebase_unit; split=> //.
by rewrite trmx_mul trmxK !mulmxA -(mulmxA _ P^T) -(mulmxA _ (P^T *m M)) PE E
  mulmx_ebase.
Qed.
End Rank.

(* a symmetric and an antisymmetric part, in Coq *)
Section Parts.
Variables (F : fieldType) (d : nat).
Hypothesis two : 2%:R != 0 :> F.
Implicit Types (M G W P : 'M[F]_d) (u v : 'cV[F]_d).

Definition parts M G W := [/\ M = G + W, G^T = G & W^T = - W].

(* take the half of a sum *)
Lemma half2 (x : F) : 2%:R^-1 * (x + x) = x.
Proof. by rewrite -mulr2n -[X in _ * X]mulr_natl mulKf. Qed.

Lemma halfM M : 2%:R^-1 *: (M + M) = M.
Proof. by apply/matrixP => i j; rewrite !mxE half2. Qed.

Lemma partsE M G W : parts M G W -> G = 2%:R^-1 *: (M + M^T) /\
  W = 2%:R^-1 *: (M - M^T).
Proof.
move=> [-> GT WT]; rewrite [(G + W)^T]linearD /= GT WT opprD opprK.
by rewrite [X in _ *: X]addrACA subrr addr0 [X in _ /\ _ = _ *: X]addrACA subrr
  add0r !halfM.
Qed.

(* state that the two parts are unique *)
(* proves prop:parts *)
Theorem parts_unique M : exists G W, parts M G W /\
  forall G' W', parts M G' W' -> G' = G /\ W' = W.

(* prove that the two parts are unique *)
Proof.
exists (2%:R^-1 *: (M + M^T)), (2%:R^-1 *: (M - M^T)); split;
  last by move=> G W /partsE.
split; rewrite ?linearZ /= ?linearB ?linearD /= ?trmxK //.
- by rewrite -scalerBr -!scalerDr addrACA subrr addr0 halfM.
- by rewrite addrC.
by rewrite !scalerN opprK addrC.
Qed.

(* state what the two parts measure *)
(* proves prop:parts *)
Theorem parts_of_a_form M G W : parts M G W -> forall u v,
  [/\ form M v v = form G v v,
      form M u v - form M v u = 2%:R * form W u v
    & 2%:R^-1 * (form M (u + v) (u + v) - form M u u - form M v v)
      = form G u v].

(* prove what the two parts measure *)
Proof.
move=> [ME GT WT] u v.
have Wx x y : form W x y = - form W y x by rewrite -formT WT -scaleN1r formZM
  mulN1r.
have W0 x : form W x x = 0.
  by apply: (mulfI two); rewrite mulr0 mulr_natl mulr2n {1}Wx addNr.
have Gx x y : form G x y = form G y x by rewrite -formT GT.
split; rewrite ?ME !formDM ?(W0 v) ?addr0//.
  by rewrite (Gx u v) (Wx v u) opprD addrACA subrr add0r opprK mulr_natl.
rewrite !W0 !addr0 formDl !formDr (Gx v u).
rewrite -[RHS]half2; congr (_ * _).
by move: (form G u u) (form G u v) (form G v v) => a b c; ring.
Qed.

(* state that a basis keeps the parts apart *)
(* proves prop:parts *)
Theorem parts_change M G W P : parts M G W ->
  parts (P^T *m M *m P) (P^T *m G *m P) (P^T *m W *m P).

(* prove that a basis keeps the parts apart *)
Proof.
move=> [-> GT WT]; split; first by rewrite mulmxDr mulmxDl.
  by rewrite !trmx_mul trmxK GT mulmxA.
by rewrite !trmx_mul trmxK WT mulNmx mulmxN mulmxA.
Qed.
End Parts.

(* state that the gauge keeps the form *)
Section Gauge.
Variables (F : fieldType) (D d : nat) (WQ WK : 'M[F]_(D, d)).

(* proves prop:gauge *)
Theorem gauge_keeps_the_form (N : 'M_d) : N \in unitmx ->
  (WQ *m N) *m (WK *m (invmx N)^T)^T = WQ *m WK^T.

(* prove that the gauge keeps the form *)
Proof.
by move=> Nu; rewrite trmx_mul trmxK mulmxA mulmxK. Qed.

(* One-sided inverses of the two factors of full rank do it. *)

(* state that factors differ by a gauge *)
(* proves prop:gauge *)
Theorem factors_differ_by_a_gauge (U V : 'M_(D, d)) :
  \rank WQ = d -> \rank WK = d -> U *m V^T = WQ *m WK^T ->
  exists! N, [/\ N \in unitmx, U = WQ *m N & V = WK *m (invmx N)^T].

(* prove that factors differ by a gauge *)
Proof.
move=> rQ rK E.
have /row_freeP[K' KE] : row_free WK^T by rewrite /row_free mxrank_tr rK.
have /row_freeP[Q' QE] : row_free WQ^T by rewrite /row_free mxrank_tr rQ.
have lQ : Q'^T *m WQ = 1%:M by rewrite -[WQ]trmxK -trmx_mul QE trmx1.
pose N := Q'^T *m U; pose L := V^T *m K'.
have NV : N *m V^T = WK^T by rewrite /N -mulmxA E mulmxA lQ mul1mx.
have NL : N *m L = 1%:M by rewrite /L mulmxA NV.
have [Nu Lu] := mulmx1_unit NL.
have iN : invmx N = L by rewrite -[RHS]mul1mx -(mulVmx Nu) -mulmxA NL mulmx1.
exists N; split; last by move=> N' [_ UE _]; rewrite /N UE mulmxA lQ mul1mx.
split=> //; last first.
  by rewrite -[WK]trmxK -trmx_mul -NV mulmxA mulVmx// mul1mx trmxK.
by rewrite -[LHS]mulmx1 -(mulVmx Nu) iN !mulmxA -(mulmxA U) -/L /L !mulmxA E
  -(mulmxA WQ) KE mulmx1.
Qed.
End Gauge.

(* state that the pairing is invariant *)
Section Basis.
Variables (F : fieldType) (d : nat).
Implicit Types (g P : 'M[F]_d) (v q k : 'cV[F]_d).

(* proves prop:basis *)
Theorem pairing_invariant P (u : 'rV_d) v : P \in unitmx ->
  (u *m P) *m (invmx P *m v) = u *m v.

(* prove that the pairing is invariant *)
Proof.
by move=> Pu; rewrite mulmxA mulmxK.
Qed.

(* state that scores determine the form *)
(* proves prop:basis *)
Theorem scores_determine_the_form g g' P : P \in unitmx ->
  (forall u v,
     form g' (invmx P *m u) (invmx P *m v) = form g u v) <->
  g' = P^T *m g *m P.

(* prove that scores determine the form *)
Proof.
move=> Pu; split=> [E|-> u v]; last by rewrite form_subst !mulmxA mulmxV//
  !mul1mx.
by apply: form_inj => u v; rewrite form_subst -E !mulmxA mulVmx// !mul1mx.
Qed.

(* state the inverse of a changed form *)
(* proves prop:basis *)
Theorem inverse_of_changed_form g P : P \in unitmx -> g \in unitmx ->
  invmx (P^T *m g *m P) = invmx P *m invmx g *m (invmx P)^T.

(* prove the inverse of a changed form *)
Proof.
move=> Pu gu; have PTu : P^T \in unitmx by rewrite unitmx_tr.
set X := _ *m P; set Y := RHS.
have XY : X *m Y = 1%:M.
  by rewrite /X /Y !mulmxA mulmxK// mulmxK// trmx_inv mulmxV.
have [Xu _] := mulmx1_unit XY.
by rewrite -[RHS]mul1mx -(mulVmx Xu) -mulmxA XY mulmx1.
Qed.
End Basis.

(* state that a basis keeps metrics *)
Section Definite.
Variables (R : realFieldType) (d : nat).
Implicit Types (g P : 'M[R]_d) (v : 'cV[R]_d).

Definition metric g := g^T = g /\ forall v, v != 0 -> 0 < form g v v.

(* proves prop:basis *)
Theorem metric_in_every_basis g P : P \in unitmx ->
  metric (P^T *m g *m P) <-> metric g.

(* prove that a basis keeps metrics *)
Proof.
have unit_kernel Q (v : 'cV[R]_d) : Q \in unitmx -> Q *m v = 0 -> v = 0.
  by move=> Qu E; rewrite -[v]mul1mx -(mulVmx Qu) -mulmxA E mulmx0.
move=> Pu; have Vu : invmx P \in unitmx by rewrite unitmx_inv.
have keep Q h : Q \in unitmx -> metric h -> metric (Q^T *m h *m Q).
  move=> Qu [hT pd]; split=> [|v v0]; first by rewrite !trmx_mul trmxK hT
    mulmxA.
  by rewrite form_subst; apply: pd; apply: contraNneq v0 =>
    /(unit_kernel _ _ Qu)/eqP.
split; last exact: keep.
move=> /(keep (invmx P) _ Vu); rewrite !mulmxA -trmx_mul mulmxV// trmx1 mul1mx.
by rewrite mulmxK.
Qed.

(* a dot product with itself *)
Lemma unit_kernel P v : P \in unitmx -> P *m v = 0 -> v = 0.
Proof. by move=> Pu E; rewrite -[v]mul1mx -(mulVmx Pu) -mulmxA E mulmx0. Qed.

Lemma dot_self_ge0 n (x : 'cV[R]_n) : 0 <= (x^T *m x) 0 0 ?= iff (x == 0).
Proof.
have -> : (x^T *m x) 0 0 = \sum_j x j 0 ^+ 2.
  by rewrite mxE; apply: eq_bigr => j _; rewrite mxE expr2.
split; first by apply: sumr_ge0 => j _; exact: sqr_ge0.
apply/eqP/eqP => [/esym/psumr_eq0P z|->]; last by rewrite big1// => j _;
  rewrite mxE expr0n.
apply/colP => j; rewrite mxE; apply/eqP; rewrite -sqrf_eq0.
by apply/eqP/z => // k _; exact: sqr_ge0.
Qed.

(* state what a pull-back is *)
Variables (r : nat) (W : 'M[R]_(r, d)).

(* proves prop:pullback *)
Theorem pullback (g := W^T *m W) :
  [/\ forall u v, form g u v = ((W *m u)^T *m (W *m v)) 0 0,
      g^T = g, forall v, 0 <= form g v v,
      metric g <-> \rank W = d & metric g -> (d <= r)%N].

(* prove what a pull-back is *)
Proof.
have val u v : form g u v = ((W *m u)^T *m (W *m v)) 0 0.
  by rewrite /form /g trmx_mul !mulmxA.
have gT : g^T = g by rewrite /g trmx_mul trmxK.
have iff : metric g <-> \rank W = d.
  split=> [[_ pd]|rW].
    rewrite -mxrank_tr; apply/eqP; rewrite -[_ == _]/(row_free _) -kermx_eq0.
    apply/rowV0P => x /sub_kermxP E; apply/eqP; apply: contraT => x0.
    have := pd x^T; rewrite -trmx0 (inj_eq trmx_inj) => /(_ x0).
    by rewrite val -[W]trmxK -trmx_mul trmxK E trmx0 mulmx0 mxE ltxx.
  split=> // v v0; rewrite val lt0r (dot_self_ge0 _).1 andbT eq_sym
    (dot_self_ge0 _).2.
  have fW : row_free W^T by rewrite /row_free mxrank_tr rW.
  apply: contra v0 => /eqP E; rewrite -[v]trmxK -trmx0 (inj_eq trmx_inj).
  by rewrite -(mulmx_free_eq0 _ fW) -trmx_mul E trmx0.
split=> //; first by move=> v; rewrite val (dot_self_ge0 _).1.
by move=> /iff <-; exact: rank_leq_row.
Qed.
End Definite.
