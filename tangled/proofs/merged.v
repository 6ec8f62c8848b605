(* proofs/merged.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From mathcomp.classical Require Import mathcomp_extra.
From attn Require online.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* trees of mergers, in Coq *)
Section Merged.
Variables (R : realType) (K : finType) (s : K -> R) (u eta low : R).
Hypotheses (u_ge0 : 0 <= u) (u_lt1 : u < 1) (eta_lt1 : eta < 1).

Inductive tree := Block of {set K} | Merger of tree & tree.
Fixpoint keys t : {set K} := match t with
  | Block J => J
  | Merger a b => keys a :|: keys b end.
(* maxima begin with a number below all scores *)
Fixpoint top t : R := match t with
  | Block J => \big[Num.max/low]_(j in J) s j
  | Merger a b => Num.max (top a) (top b) end.

(* what is counted for a key, in Coq *)
Fixpoint width t j : nat := match t with
  | Block J => #|J|
  | Merger a b => if j \in keys a then width a j else width b j end.
Fixpoint mergers t j : nat := match t with
  | Block _ => 0
  | Merger a b =>
    (if j \in keys a then mergers a j else mergers b j).+1 end.
Fixpoint rises t j : nat := match t with
  | Block _ => 0
  | Merger a b => if j \in keys a then (rises a j + (top a < top b)%R)%N
      else (rises b j + (top b < top a)%R)%N end.

(* rounded operations, in Coq *)
Definition rounded x y := exists2 d, `|d| <= u & y = x * (1 + d).
Definition exponential x y := exists h f,
  [/\ `|h| <= u, `|f| <= eta & y = expR (x * (1 + h)) * (1 + f)].
(* x times e^z, which is x if z is 0 *)
Definition rescaled x z y := if z == 0 then y = x
  else exists2 q, exponential z q & rounded (q * x) y.
(* added in any grouping and order *)
Inductive summed (w : K -> R) : {set K} -> R -> Prop :=
| One j : summed w [set j] (w j)
| Parts (I J : {set K}) a b c : [disjoint I & J] ->
    summed w I a -> summed w J b -> rounded (a + b) c ->
    summed w (I :|: J) c.

(* what a tree computes, in Coq *)
Inductive computed (v : K -> R) : tree -> R -> Prop :=
| OfBlock (J : {set K}) p w c :
    (forall j, j \in J -> exponential (s j - top (Block J)) (p j)) ->
    (forall j, j \in J -> rounded (p j * v j) (w j)) ->
    summed w J c -> computed v (Block J) c
| OfMerger a b x y x' y' c (m := top (Merger a b)) :
    [disjoint keys a & keys b] -> computed v a x -> computed v b y ->
    rescaled x (top a - m) x' -> rescaled y (top b - m) y' ->
    rounded (x' + y') c -> computed v (Merger a b) c.

(* the exponent of a key's error, in Coq *)
Definition x t j := u * (top t - s j)
  + (width t j + mergers t j + rises t j)%:R * (u / (1 - u))
  + (rises t j).+1%:R * (eta / (1 - eta)).

(* relative errors as exponents *)
Lemma exponent_of (d a : R) : `|d| <= a -> a < 1 ->
  exists2 t, `|t| <= a / (1 - a) & 1 + d = expR t.
Proof.
move=> da a1; have a0 : 0 <= a := le_trans (normr_ge0 _) da.
move: da; rewrite ler_norml => /andP[lo hi].
have p : 0 < 1 - a by rewrite subr_gt0.
have d0 : 0 < 1 + d by apply: lt_le_trans p _; rewrite ler_add2l.
have g : a / (1 - a) = (1 - a)^-1 - 1 by field; rewrite gt_eqF.
exists (ln (1 + d)); last by rewrite lnK ?posrE.
rewrite ler_norml; apply/andP; split; last first.
  have [h _] := ln_leB1 d0; apply: le_trans h _.
  rewrite addrC addKr (le_trans hi)// ler_pdivl_mulr// ler_pimulr//.
  by rewrite ler_subl_addr ler_addl.
have i0 : 0 < (1 + d)^-1 by rewrite invr_gt0.
have [h _] := ln_leB1 i0.
rewrite ler_oppl -lnV ?posrE//; apply: le_trans h _.
by rewrite g ler_add2r ler_pinv ?inE ?unitfE ?gt_eqF// ler_add2l.
Qed.

(* exponents of rounded operations *)
Let l := u / (1 - u).
Let k := eta / (1 - eta).
Lemma l_ge0 : 0 <= l. Proof. by rewrite divr_ge0// subr_ge0 ltW. Qed.
Lemma natr1 n : n%:R + 1 = n.+1%:R :> R.
Proof. by rewrite -addn1 natrD. Qed.

Lemma exponentialE z q : exponential z q ->
  exists2 t, `|t| <= u * `|z| + k & q = expR (z + t).
Proof.
move=> [h [f [hu fe ->]]]; have [t tk ->] := exponent_of fe eta_lt1.
exists (z * h + t); last by rewrite -expRD; congr expR; ring.
apply: le_trans (ler_norm_add _ _) (ler_add _ tk).
by rewrite normrM mulrC ler_wpmul2r.
Qed.
Lemma roundedE a c : rounded a c ->
  exists2 t, `|t| <= l & c = a * expR t.
Proof.
by move=> [d du ->]; have [t tl ->] := exponent_of du u_lt1; exists t.
Qed.

(* exponents of a sum of terms *)
Lemma summedE w J c : summed w J c -> (0 < #|J|)%N /\
  exists2 t : K -> R, forall j, `|t j| <= #|J|.-1%:R * l &
    c = \sum_(j in J) w j * expR (t j).
Proof.
elim=> {J c} [j|I J a b c dis _ [I0 [t tI ->]] _ [J0 [t' tJ ->]]].
  rewrite cards1; split=> //; exists (fun=> 0) => [i|].
    by rewrite normr0 mul0r.
  by rewrite big_set1 expR0 mulr1.
move=> /roundedE[r rl ->].
have -> : #|I :|: J| = (#|I| + #|J|)%N.
  by rewrite cardsU disjoint_setI0// cards0 subn0.
rewrite addn_gt0 I0; split=> //.
exists (fun j => (if j \in I then t j else t' j) + r) => [j|]; last first.
  rewrite online.big_setU//= mulrDl !mulr_suml.
  congr (_ + _); apply: eq_bigr => j jI; first by rewrite jI expRD mulrA.
  by rewrite (disjointFl dis jI) expRD mulrA.
apply: le_trans (ler_norm_add _ _) _.
have fin n y : `|y| <= n.-1%:R * l -> (0 < n)%N ->
    (n <= (#|I| + #|J|).-1)%N -> `|y| + `|r| <= (#|I| + #|J|).-1%:R * l.
  move=> yE n0 nle; apply: le_trans (ler_add yE rl) _.
  rewrite -[X in _ + X]mul1r -mulrDl ler_wpmul2r ?l_ge0// natr1.
  by rewrite prednK// ler_nat.
have lt := prednK (ltn_addl #|I| J0).
case: ifP => _; [apply: fin (tI j) I0 _ | apply: fin (tJ j) J0 _];
  rewrite -ltnS lt; first by rewrite -[X in (X < _)%N]addn0 ltn_add2l.
by rewrite -[X in (X < _)%N]add0n ltn_add2r.
Qed.

(* exponents of a block *)
Lemma term_exponents v (J : {set K}) p w :
  (forall j, j \in J -> exponential (s j - top (Block J)) (p j)) ->
  (forall j, j \in J -> rounded (p j * v j) (w j)) ->
  exists2 q : K -> R,
    forall j, j \in J -> `|q j| <= u * (top (Block J) - s j) + k + l &
    forall j, j \in J -> w j = expR (s j - top (Block J) + q j) * v j.
Proof.
move=> pE wE; have := @fin_all_exists2 _ _
  (fun j q => j \in J -> `|q| <= u * (top (Block J) - s j) + k + l)
  (fun j q => j \in J -> w j = expR (s j - top (Block J) + q) * v j).
apply=> j; have [jJ|] := boolP (j \in J); last by exists 0.
have [f fk fE] := exponentialE (pE j jJ).
have [g gl gE] := roundedE (wE j jJ).
have le_top : s j <= top (Block J) by exact: le_bigmax_cond.
exists (f + g) => _; last by rewrite gE fE addrA expRD mulrAC.
apply: le_trans (ler_norm_add _ _) (ler_add _ gl).
rewrite -[X in u * X]opprB -[X in u * X]ger0_norm ?normrN//.
by rewrite oppr_ge0 subr_le0.
Qed.

Lemma block_exponents v (J : {set K}) p w c :
  (forall j, j \in J -> exponential (s j - top (Block J)) (p j)) ->
  (forall j, j \in J -> rounded (p j * v j) (w j)) -> summed w J c ->
  exists2 t : K -> R, forall j, j \in J -> `|t j| <= x (Block J) j &
    c = \sum_(j in J) expR (s j - top (Block J) + t j) * v j.
Proof.
move=> pE wE /summedE[J0 [t tJ ->]].
have [q qE wqE] := term_exponents pE wE.
exists (fun j => q j + t j) => [j jJ|]; last first.
  by apply: eq_bigr => j jJ; rewrite wqE// addrA [in RHS]expRD mulrAC.
apply: le_trans (ler_norm_add _ _) _.
apply: le_trans (ler_add (qE j jJ) (tJ j)) _.
have J1 : #|J|%:R = #|J|.-1%:R + 1 :> R by rewrite natr1 prednK.
rewrite /x /= !addn0 -/l -/k J1 le_eqVlt; apply/orP; left.
by apply/eqP; ring.
Qed.

(* exponents of a rescaled state *)
Lemma rescaled_exponents v t m (f : K -> R) (y y' : R) : top t <= m ->
  y = \sum_(j in keys t) expR (s j - top t + f j) * v j ->
  rescaled y (top t - m) y' -> exists2 h,
    `|h| <= u * (m - top t) + (top t < m)%R%:R * (l + k) &
    y' = \sum_(j in keys t) expR (s j - m + (f j + h)) * v j.
Proof.
move=> tm ->; rewrite /rescaled subr_eq0; case: eqVneq => [<- ->|ne].
  exists 0; first by rewrite normr0 subrr mulr0 ltxx mul0r addr0.
  by apply: eq_bigr => j _; rewrite addr0.
move=> [q /exponentialE[g gk ->] /roundedE[h hl ->]].
have lt : top t < m by rewrite lt_neqAle ne.
exists (g + h); last first.
  rewrite mulr_sumr mulr_suml; apply: eq_bigr => j _.
  rewrite -!mulrA [v j * _]mulrC !mulrA -!expRD; congr (expR _ * _).
  by ring.
apply: le_trans (ler_norm_add _ _) _.
rewrite lt mul1r [l + k]addrC addrA ler_add//.
by move: gk; rewrite [`|top t - m|]ltr0_norm ?subr_lt0// opprB.
Qed.

(* one more merger *)
Lemma one_more t m j (y h r : R) (n : nat) :
  `|y| <= x t j -> `|h| <= u * (m - top t) + n%:R * (l + k) ->
  `|r| <= l -> `|y + h + r| <= u * (m - s j)
    + (width t j + (mergers t j).+1 + (rises t j + n))%:R * l
    + (rises t j + n).+1%:R * k.
Proof.
move=> yE hE rE; apply: le_trans (ler_norm_add _ _) _.
apply: le_trans (ler_add (ler_norm_add _ _) rE) _.
apply: le_trans (ler_add (ler_add yE hE) (lexx _)) _.
rewrite /x -/l -/k -[(mergers t j).+1]addn1 -[(rises t j + n).+1]addn1.
rewrite -[(rises t j).+1]addn1 !natrD le_eqVlt; apply/orP; left.
by apply/eqP; ring.
Qed.

(* exponents of a tree *)
Lemma merged_exponents v t c : computed v t c ->
  exists2 th : K -> R, forall j, j \in keys t -> `|th j| <= x t j &
    c = \sum_(j in keys t) expR (s j - top t + th j) * v j.
Proof.
elim=> {t c} [J p w c pE wE cE|]; first exact: block_exponents pE wE cE.
move=> a b y z y' z' c m dis _ [f fE yE] _ [g gE zE] ya zb.
move=> /roundedE[r rl ->].
have am : top a <= m by rewrite le_maxr lexx.
have bm : top b <= m by rewrite le_maxr lexx orbT.
have [h hE ->] := rescaled_exponents am yE ya.
have [i iE ->] := rescaled_exponents bm zE zb.
have ltm (X Y : R) : (X < Num.max X Y) = (X < Y) by rewrite lt_maxr ltxx.
have am' : (top a < m) = (top a < top b) by exact: ltm.
have bm' : (top b < m) = (top b < top a) by rewrite /m /= maxC; exact: ltm.
exists (fun j => (if j \in keys a then f j + h else g j + i) + r) => [j|].
  rewrite /x /= inE; case: ifP => [ja _|ja /= jb].
    by rewrite -am'; exact: one_more (fE j ja) hE rl.
  by rewrite -bm'; exact: one_more (gE j jb) iE rl.
rewrite online.big_setU//= mulrDl !mulr_suml; congr (_ + _).
  by apply: eq_bigr => j ji; rewrite ji [in RHS]addrA [in RHS]expRD mulrAC.
apply: eq_bigr => j ji.
by rewrite (disjointFl dis ji) [in RHS]addrA [in RHS]expRD mulrAC.
Qed.

(* state the rounding of a merged row *)
(* proves thm:online-rounding *)
Theorem merged_row v t c : computed v t c -> exists2 eps : K -> R,
    forall j, j \in keys t -> `|eps j| <= expR (x t j) - 1 &
    c = \sum_(j in keys t) expR (s j - top t) * v j * (1 + eps j).

(* prove the rounding of a merged row *)
Proof.
move=> /merged_exponents[th thE ->].
exists (fun j => expR (th j) - 1) => [j jt|]; last first.
  by apply: eq_bigr => j _; rewrite expRD mulrAC [1 + _]addrC subrK.
have := thE j jt; rewrite !ler_norml => /andP[lo hi].
rewrite ler_add2r ler_expR hi andbT -subr_ge0.
have -> (y z : R) : y - 1 - - (z - 1) = y + z - (1 + 1) by ring.
rewrite subr_ge0.
apply: le_trans (_ : expR (- x t j) + expR (x t j) <= _); last first.
  by rewrite ler_add2r ler_expR.
rewrite expRN; set y := expR _; have y0 : 0 < y := expR_gt0 _.
rewrite -(ler_pmul2l y0) [X in _ <= X]mulrDr divff ?gt_eqF// -subr_ge0.
have -> (z : R) : 1 + z * z - z * (1 + 1) = (z - 1) ^+ 2 by ring.
by rewrite sqr_ge0.
Qed.
End Merged.
