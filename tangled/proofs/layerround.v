(* proofs/layerround.v: tangled from chapters/09a-layer-checks.nw; edit that file, not this one. *)
From attn Require Import prelude gibbs logerr rounding.
From attn Require bounds scores turnround.
From mathcomp.analysis Require Import trigo.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a computed number is below its ceiling *)
Lemma ceil_le (R : realFieldType) (t t' dt : R) :
  `|t' - t| <= dt -> `|t'| <= `|t| + dt.
Proof.
move=> h; rewrite -[t'](subrK t) addrC.
exact: le_trans (ler_norm_add _ _) (ler_add (lexx _) h).
Qed.

(* rows with errors, projected and normalised *)

(* a projection of a row, in Coq *)
Section Projection.
Variables (R : realFieldType) (u : R) (D : nat).
Variables (x x' dx w : 'I_D -> R) (b p y : R).
Hypotheses (u_ge0 : 0 <= u) (few : D.+1%:R * u < 1)
  (known : forall a, `|x' a - x a| <= dx a)
  (dot : computed u [seq (x' a, w a) | a <- enum 'I_D] p)
  (sum : exists2 d, `|d| <= u & y = (p + b) * (1 + d)).

(* state the rounding of a projection *)
(* proves prop:layer-rounding *)
Theorem projected : `|y - (\sum_a x a * w a + b)| <=
  \sum_a dx a * `|w a|
    + gamma u D.+1 * (\sum_a (`|x a| + dx a) * `|w a| + `|b|).

(* prove the rounding of a projection *)
Proof.
have [d du ->] := sum; have [_] := computed_error u_ge0 dot.
rewrite size_map size_enum_ord => pE.
have eE : exact [seq (x' a, w a) | a <- enum 'I_D] = \sum_a x' a * w a.
  by rewrite /exact big_map big_enum.
have sE : size_of [seq (x' a, w a) | a <- enum 'I_D]
    = \sum_a `|x' a| * `|w a|.
  by rewrite /size_of big_map big_enum.
have h := exact_le [seq (x' a, w a) | a <- enum 'I_D].
rewrite {}eE {}sE in pE h.
have b0 : `|b - b| <= ((1 + u) ^+ 0 - 1) * `|b|.
  by rewrite subrr normr0 expr0 subrr mul0r.
have := round_sum u_ge0 du h (lexx `|b|) pE b0; rewrite maxn0 => {}h.
have S_le : \sum_a `|x' a| * `|w a| <= \sum_a (`|x a| + dx a) * `|w a|.
  by apply: ler_sum => a _; rewrite ler_wpmul2r// ceil_le.
have move' : `|\sum_a x' a * w a - \sum_a x a * w a|
    <= \sum_a dx a * `|w a|.
  rewrite -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
  by apply: ler_sum => a _; rewrite -mulrBl normrM ler_wpmul2r.
rewrite (_ : _ - _ = (\sum_a x' a * w a - \sum_a x a * w a)
  + ((p + b) * (1 + d) - (\sum_a x' a * w a + b))); last by ring.
apply: le_trans (ler_norm_add _ _) (ler_add move' _).
apply: le_trans h _; apply: ler_pmul.
- by rewrite subr_ge0 exprn_ege1// ler_addl.
- by rewrite addr_ge0// sumr_ge0// => a _; rewrite mulr_ge0.
- exact: e_gamma.
- by rewrite ler_add2r.
Qed.
End Projection.

(* a row and its divisor, in Coq *)
Section Row.
Variables (R : realType) (d : nat) (u eps : R) (x x' dx g : 'I_d -> R).
Definition r := bounds.rms eps x.
Definition n a := x a / r.
Definition t := (\sum_b (`|x b| * dx b + dx b ^+ 2 / 2%:R))
  / (d%:R * r ^+ 2).
Definition moved a := (dx a / r + `|n a| * t) / (1 - 2%:R * t).
Hypotheses (u_ge0 : 0 <= u) (few : (d + 8)%:R * u < 1)
  (eps_ge0 : 0 <= eps) (r_gt0 : 0 < r) (small : 2%:R * t < 1)
  (known : forall a, `|x' a - x a| <= dx a).

(* what a program computes of a normalised row, in Coq *)
Variables (q m e v w : R) (z y : 'I_d -> R).
Hypotheses (squares : computed u [seq (x' a, x' a) | a <- enum 'I_d] q)
  (mean : rounds u (q / d%:R) m) (floor : rounds u eps e)
  (sum : rounds u (m + e) v) (root : rounds u (Num.sqrt v) w)
  (quotients : forall a, rounds u (x' a / w) (z a))
  (products : forall a, rounds u (g a * z a) (y a)).

(* the divisor of a computed row *)
Let r' := bounds.rms eps x'.
Let dx_ge0 a : 0 <= dx a.
Proof. exact: le_trans (normr_ge0 _) (known a). Qed.
Let sq_pos (f : 'I_d -> R) : 0 <= d%:R^-1 * bounds.sq f + eps.
Proof. by rewrite addr_ge0// mulr_ge0 ?bounds.sq_ge0// invr_ge0 ler0n. Qed.
Let r2 : r ^+ 2 = d%:R^-1 * bounds.sq x + eps.
Proof. by rewrite sqr_sqrtr. Qed.
Let r2' : r' ^+ 2 = d%:R^-1 * bounds.sq x' + eps.
Proof. by rewrite sqr_sqrtr. Qed.
Let r'_ge0 : 0 <= r'. Proof. exact: sqrtr_ge0. Qed.
Let t_ge0 : 0 <= t.
Proof.
apply: divr_ge0; last by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
apply: sumr_ge0 => b _; apply: addr_ge0; first by rewrite mulr_ge0.
by rewrite divr_ge0 ?sqr_ge0 ?ler0n.
Qed.
Let c_gt0 : 0 < 1 - 2%:R * t. Proof. by rewrite subr_gt0. Qed.
Let c_le1 : 1 - 2%:R * t <= 1.
Proof. by rewrite ler_subl_addr ler_addl mulr_ge0 ?ler0n. Qed.

Lemma squares_near (a : 'I_d) : `|r' ^+ 2 - r ^+ 2| <= 2%:R * t * r ^+ 2.
Proof.
have d0 : d%:R != 0 :> R.
  by rewrite pnatr_eq0 -lt0n (leq_ltn_trans _ (ltn_ord a)).
rewrite r2 r2' opprD addrACA subrr addr0 -mulrBr normrM.
rewrite ger0_norm ?invr_ge0 ?ler0n// -r2.
have -> : 2%:R * t * r ^+ 2 =
    d%:R^-1 * (2%:R * \sum_b (`|x b| * dx b + dx b ^+ 2 / 2%:R)).
  have p : r != 0 by rewrite gt_eqF.
  by rewrite /t; field; rewrite p d0.
rewrite ler_wpmul2l ?invr_ge0 ?ler0n// -sumrB mulr_sumr.
apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => b _.
rewrite subr_sqr normrM.
have -> : 2%:R * (`|x b| * dx b + dx b ^+ 2 / 2%:R)
    = dx b * (2%:R * `|x b| + dx b) by field.
apply: ler_pmul => //; rewrite (_ : _ + _ = 2%:R * x b + (x' b - x b));
  last by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite normrM ger0_norm ?ler0n//.
by rewrite ler_add2l.
Qed.
Let r'2_ge (a : 'I_d) : (1 - 2%:R * t) * r ^+ 2 <= r' ^+ 2.
Proof.
have := squares_near a; rewrite ler_norml => /andP[lo _].
by rewrite -subr_ge0 [X in 0 <= X](_ : _ = r' ^+ 2 - r ^+ 2
  - - (2%:R * t * r ^+ 2)) ?subr_ge0//; ring.
Qed.
Let r'_gt0 (a : 'I_d) : 0 < r'.
Proof.
rewrite lt0r r'_ge0 andbT -sqrf_eq0 gt_eqF//.
by apply: lt_le_trans (r'2_ge a); rewrite mulr_gt0// exprn_gt0.
Qed.
Let r'_ge (a : 'I_d) : (1 - 2%:R * t) * r <= r'.
Proof.
have [le|lt] := leP r r'.
  by apply: le_trans le; rewrite ler_pimull// ltW.
rewrite -(ler_pmul2r r_gt0) -mulrA -expr2.
apply: le_trans (r'2_ge a) _; rewrite expr2.
by rewrite ler_wpmul2l// ltW.
Qed.

(* a row divided by another divisor *)
Lemma row_moved a : `|x' a / r' - n a| <= moved a.
Proof.
have p' := r'_gt0 a; have rr : 0 < r + r' by exact: addr_gt0.
rewrite ler_pdivl_mulr// mulrC.
have -> : x' a / r' - n a = (x' a - x a) / r' + n a * ((r - r') / r').
  by rewrite /n; field; rewrite !gt_eqF.
set N := n a; clearbody N; have p0 : 0 <= r'^-1 by rewrite invr_ge0.
apply: le_trans (ler_wpmul2l (ltW c_gt0) (ler_norm_add _ _)) _.
rewrite mulrDr !normrM (ger0_norm p0); apply: ler_add.
  rewrite mulrCA ler_pmul//; first by rewrite mulr_ge0// ltW.
  rewrite -[r^-1]mul1r ler_pdivl_mulr// mulrAC ler_pdivr_mulr// mul1r.
  exact: r'_ge.
rewrite mulrCA ler_wpmul2l//.
rewrite mulrA ler_pdivr_mulr//.
rewrite -(ler_pmul2r rr) -[X in X <= _]mulrA.
have -> : `|r - r'| * (r + r') = `|r' ^+ 2 - r ^+ 2|.
  rewrite -[X in _ * X](gtr0_norm rr) -normrM -[RHS]normrN.
  by congr `|_|; ring.
apply: le_trans (ler_wpmul2l (ltW c_gt0) (squares_near a)) _.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = t * ((r' ^+ 2
  - (1 - 2%:R * t) * r ^+ 2) + r * (r' - (1 - 2%:R * t) * r)));
  last by ring.
by rewrite mulr_ge0// addr_ge0 ?subr_ge0 ?r'2_ge// mulr_ge0 ?subr_ge0
  ?r'_ge// ltW.
Qed.

(* squares in logarithms *)
Let v0 := u / (1 - u).
Let u1 : u < 1.
Proof.
apply: le_lt_trans few; rewrite ler_pemull// -[1]/(1%:R) ler_nat.
by rewrite addnS.
Qed.
Let v0_ge0 : 0 <= v0. Proof. by rewrite divr_ge0// subr_ge0 ltW. Qed.
Let one a b : rounds u a b -> near v0 a b.
Proof. exact: near_rounds. Qed.

Lemma near_squares s c : computed u s c ->
  (forall a, a \in s -> 0 <= a.1 * a.2) ->
  (0 < size s)%N /\ near ((size s)%:R * v0) (exact s) c.
Proof.
have grow k a b : (k > 0)%N -> near (k.-1%:R * v0) a b ->
    forall c, rounds u b c -> near (k%:R * v0) a c.
  move=> k0 ab c' bc; apply: near_le (near_trans ab (one bc)).
  by rewrite -[X in _ + X]mul1r -mulrDl -[1]/(1%:R) -natrD addn1 prednK.
have up m' n' a b : (m' <= n')%N -> near (m'%:R * v0) a b ->
    near (n'%:R * v0) a b.
  by move=> mn; apply: near_le; rewrite ler_wpmul2r// ler_nat.
rewrite /exact; elim=> {s c}.
- move=> a b delta du pos; split=> //; rewrite big_seq1 mul1r.
  by apply: one; exists delta.
- move=> s s' a b delta _ IHs _ IHt du pos.
  have ps c : c \in s -> 0 <= c.1 * c.2.
    by move=> cs; apply: pos; rewrite mem_cat cs.
  have pt c : c \in s' -> 0 <= c.1 * c.2.
    by move=> ct; apply: pos; rewrite mem_cat ct orbT.
  have [s0 sa] := IHs ps; have [t0 tb] := IHt pt.
  rewrite size_cat addn_gt0 s0 big_cat /=; split=> //.
  apply: (@grow _ _ (a + b)); rewrite ?addn_gt0 ?s0//;
    last by exists delta.
  apply: near_add; try by rewrite big_seq sumr_ge0.
    apply: up sa; rewrite -ltnS prednK ?addn_gt0 ?s0//.
    by rewrite -[X in (X < _)%N]addn0 ltn_add2l.
  apply: up tb; rewrite -ltnS prednK ?addn_gt0 ?s0//.
  by rewrite -[X in (X < _)%N]add0n ltn_add2r.
- move=> a b s' c delta _ IH du pos; rewrite big_cons /=; split=> //.
  have [t0 tb] := IH (fun c cs => pos c (mem_behead (s := (a, b) :: s') cs)).
  apply: (@grow _ _ (a * b + c)) => //; last by exists delta.
  apply: near_add => //.
  - by apply: (pos (a, b)); rewrite mem_head.
  - rewrite big_seq sumr_ge0// => c' cs; apply: pos.
    by rewrite in_cons cs orbT.
  - by apply: near_refl; rewrite mulr_ge0 ?ler0n.
move=> s s' c st _ IH pos; rewrite -(perm_size st) -(perm_big _ st).
by apply: IH => a; rewrite (perm_mem st); exact: pos.
Qed.

(* a computed row in logarithms *)
Lemma near_sqrt (h a b : R) : 0 <= a -> near h a b ->
  near (h / 2%:R) (Num.sqrt a) (Num.sqrt b).
Proof.
move=> a0 [k kh ->]; exists (k / 2%:R).
  by rewrite normrM [`|_^-1|]ger0_norm ?ler_wpmul2r ?invr_ge0 ?ler0n.
rewrite sqrtrM//; congr (_ * _).
rewrite [in LHS](_ : k = k / 2%:R + k / 2%:R); last by field.
by rewrite expRD -expr2 sqrtr_sqr gtr0_norm// expR_gt0.
Qed.

Let h := (d%:R / 2%:R + 4%:R) * v0.
Lemma near_row a : near h (g a * (x' a / r')) (y a).
Proof.
have [|d0 nq] := near_squares squares.
  by move=> b /mapP[c _ ->]; rewrite /= -expr2 sqr_ge0.
rewrite size_map size_enum_ord in d0 nq.
have eE : exact [seq (x' a, x' a) | a <- enum 'I_d] = bounds.sq x'.
  by rewrite /exact big_map big_enum.
rewrite {}eE in nq.
have nm : near ((d + 1)%:R * v0) (d%:R^-1 * bounds.sq x') m.
  rewrite natrD mulrDl mul1r; apply: near_trans (one mean).
  rewrite [_^-1 * _]mulrC -[d%:R * v0]addr0; apply: near_mul => //.
  exact: near_refl.
have ne : near ((d + 1)%:R * v0) eps e.
  apply: near_le (one floor); rewrite ler_pemull// -[1]/(1%:R) ler_nat.
  by rewrite addn1.
have nv : near ((d + 1)%:R * v0 + v0) (r' ^+ 2) v.
  apply: near_trans (one sum); rewrite r2'; apply: near_add => //.
  by rewrite mulr_ge0 ?bounds.sq_ge0// invr_ge0 ler0n.
have := near_sqrt (sqr_ge0 _) nv; rewrite sqrtr_sqr ger0_norm// => nw.
have nz := near_trans (near_div (near_refl (x' a) (lexx 0))
  (near_trans nw (one root))) (one (quotients a)).
have := near_trans (near_mul (near_refl (g a) (lexx 0)) nz)
  (one (products a)).
apply: near_le; rewrite /h natrD le_eqVlt; apply/orP; left; apply/eqP.
by field.
Qed.

(* state the rounding of a normalised row *)
(* proves prop:layer-rounding *)
Theorem normalised_row a : `|y a - bounds.normalised eps g x a| <=
  `|g a| * (moved a + gamma u (d + 8) / 2%:R * (`|n a| + moved a)).

(* prove the rounding of a normalised row *)
Proof.
have p1 : 0 < 1 - u by rewrite subr_gt0.
pose k := d%:R / 2%:R + 4%:R : R.
have k0 : 0 <= k by rewrite addr_ge0 ?divr_ge0 ?ler0n.
have kE : (d + 8)%:R = 2%:R * k :> R by rewrite natrD /k; field.
have p8 : 0 < 1 - 2%:R * k * u by rewrite subr_gt0 -kE.
have big : 1 - 2%:R * k * u <= 1 - u - k * u / 2%:R.
  rewrite -subr_ge0 [X in 0 <= X](_ : _ = u * (3%:R * (k - 4%:R)
    + 10%:R) / 2%:R); last by field.
  rewrite divr_ge0 ?mulr_ge0 ?ler0n// addr_ge0 ?ler0n//.
  by rewrite mulr_ge0 ?ler0n// /k addrK divr_ge0 ?ler0n.
have q0 : 0 < 1 - u - k * u / 2%:R by exact: lt_le_trans big.
have hE : h / (1 - h / 2%:R) = k * u / (1 - u - k * u / 2%:R).
  rewrite /h -/k /v0; field; rewrite !gt_eqF//=.
  rewrite [X in 0 < X](_ : _ = 2%:R * (1 - u - k * u / 2%:R));
    first by rewrite mulr_gt0 ?ltr0n.
  by field.
have h2 : h < 2%:R.
  rewrite /h -/k /v0 mulrA ltr_pdivr_mulr// -subr_gt0.
  rewrite [X in 0 < X](_ : _ = 2%:R * (1 - u - k * u / 2%:R));
    first by rewrite mulr_gt0 ?ltr0n.
  by field.
have := near_error (near_row a) h2; rewrite hE => nE.
have gE : k * u / (1 - u - k * u / 2%:R) <= gamma u (d + 8) / 2%:R.
  rewrite /gamma kE [X in _ <= X](_ : _ = k * u / (1 - 2%:R * k * u));
    last by field; rewrite gt_eqF.
  rewrite ler_wpmul2l ?mulr_ge0// ler_pinv ?inE ?unitfE ?gt_eqF//.
have mv := row_moved a.
rewrite (_ : _ - _ = (y a - g a * (x' a / r'))
  + g a * (x' a / r' - n a)); last by rewrite mulrBr addrA subrK.
apply: le_trans (ler_norm_add _ _) _; rewrite addrC [X in _ <= X]mulrDr.
apply: ler_add; first by rewrite normrM ler_wpmul2l.
apply: le_trans nE _; rewrite normrM -mulrA ler_wpmul2l// mulrC.
apply: ler_pmul => //; first by rewrite divr_ge0 ?mulr_ge0// ltW.
rewrite -[x' a / r'](subrK (n a)) addrC.
exact: le_trans (ler_norm_add _ _) (ler_add (lexx _) mv).
Qed.
End Row.

(* rows with errors, turned and scored *)

(* a plane with errors, in Coq *)
Section Plane.
Variables (R : realType) (u v phi x1 x2 x1' x2' e1 e2 : R).
Definition own := (`|x1| + e1 + (`|x2| + e2)) * (v * `|phi| + gamma u 5).
Hypotheses (u_ge0 : 0 <= u) (five_u : 5%:R * u < 1) (v_le : v <= u)
  (known : `|x1' - x1| <= e1 /\ `|x2' - x2| <= e2).
Variables (phi' c0 s0 c s a1 a2 b1 b2 y1 y2 : R).
Hypotheses (angle : rounds v phi phi')
  (cosine : rounds (2%:R * v) (cos phi') c0 /\ rounds u c0 c)
  (sine : rounds (2%:R * v) (sin phi') s0 /\ rounds u s0 s)
  (products : [/\ rounds u (c * x1') a1, rounds u (s * x2') a2,
                  rounds u (s * x1') b1 & rounds u (c * x2') b2])
  (difference : rounds u (a1 - a2) y1) (sum : rounds u (b1 + b2) y2).

(* a term of a turned row *)
Let up := v * `|phi| + gamma u 5.
Lemma turned_term (f f' x x' e k0 k a dd : R) : `|f' - f| <= v * `|phi| ->
  `|f'| <= 1 -> `|x' - x| <= e -> rounds (2%:R * v) f' k0 ->
  rounds u k0 k -> rounds u (k * x') a -> `|dd| <= u ->
  `|a * (1 + dd) - f * x| <= `|f| * e + (`|x| + e) * up.
Proof.
move=> ff f1 xe [d0 h0 ->] [d1 h1 ->] [d2 h2 ->] h3.
rewrite (_ : _ - _ = f * (x' - x) + x' * ((f' - f)
  + f' * ((1 + d0) * ((1 + d1) * ((1 + d2) * (1 + dd))) - 1)));
  last by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
have g5 : `|(1 + d0) * ((1 + d1) * ((1 + d2) * (1 + dd))) - 1|
    <= gamma u 5.
  have r1 := turnround.rounded h1; have r2 := turnround.rounded h2.
  have r3 := turnround.rounded h3; have r0 := turnround.rounded h0.
  apply: le_trans (turnround.factors r0 (turnround.factors r1
    (turnround.factors r2 r3))) _.
  have -> : (1 + 2%:R * v) * (1 + ((1 + u) * (1 + ((1 + u) * (1 + u) - 1))
      - 1)) - 1 = (1 + 2%:R * v) * (1 + u) ^+ 3 - 1 by ring.
  apply: le_trans (e_gamma u_ge0 five_u); rewrite ler_add2r.
  rewrite [X in _ <= X](exprD _ 2 3).
  apply: ler_wpmul2r; first by rewrite exprn_ge0// addr_ge0 ?ler01.
  apply: le_trans (_ : 1 + 2%:R * u <= _).
    by rewrite ler_add2l ler_wpmul2l ?ler0n.
  rewrite -subr_ge0 [X in 0 <= X](_ : _ = u ^+ 2); last by ring.
  exact: sqr_ge0.
apply: ler_add; first by rewrite ler_wpmul2l.
apply: ler_pmul => //; first exact: ceil_le.
apply: le_trans (ler_norm_add _ _) (ler_add ff _).
by rewrite normrM (le_trans _ g5)// ler_pimull.
Qed.

(* state the rounding of a turned row *)
(* proves prop:layer-rounding *)
Theorem turned_row :
  `|y1 - (cos phi * x1 - sin phi * x2)|
    <= `|cos phi| * e1 + `|sin phi| * e2 + own /\
  `|y2 - (sin phi * x1 + cos phi * x2)|
    <= `|sin phi| * e1 + `|cos phi| * e2 + own.

(* prove the rounding of a turned row *)
Proof.
have aE : `|phi' - phi| <= v * `|phi|.
  have [d dv ->] := angle; rewrite mulrDr mulr1 addrAC subrr add0r.
  by rewrite normrM mulrC ler_wpmul2r.
have C : `|cos phi' - cos phi| <= v * `|phi|.
  apply: le_trans aE.
  apply: (@turnround.gentle R cos (fun t => - sin t)) => t.
  by rewrite normrN sin_max.
have S : `|sin phi' - sin phi| <= v * `|phi|.
  apply: le_trans aE; apply: (@turnround.gentle R sin (@cos R)) => t.
  exact: cos_max.
have [k1 k2] := known; have [p1 p2 p3 p4] := products.
have [co1 co2] := cosine; have [si1 si2] := sine.
rewrite /own -/up mulrDl; split.
  have [dd du ->] := difference.
  have t1 := turned_term C (cos_max _) k1 co1 co2 p1 du.
  have t2 := turned_term S (sin_max _) k2 si1 si2 p2 du.
  have -> : (a1 - a2) * (1 + dd) - (cos phi * x1 - sin phi * x2) =
    (a1 * (1 + dd) - cos phi * x1) - (a2 * (1 + dd) - sin phi * x2) by ring.
  apply: le_trans (ler_norm_sub _ _) (le_trans (ler_add t1 t2) _).
  by rewrite addrACA.
have [dd du ->] := sum.
have t1 := turned_term S (sin_max _) k1 si1 si2 p3 du.
have t2 := turned_term C (cos_max _) k2 co1 co2 p4 du.
have -> : (b1 + b2) * (1 + dd) - (sin phi * x1 + cos phi * x2) =
  (b1 * (1 + dd) - sin phi * x1) + (b2 * (1 + dd) - cos phi * x2) by ring.
apply: le_trans (ler_norm_add _ _) (le_trans (ler_add t1 t2) _).
by rewrite addrACA.
Qed.
End Plane.

(* scores of rows with errors, in Coq *)
Section Score.
Variables (R : realType) (d : nat) (q q' dq k k' dk : 'I_d -> R).
Variables (cap : option R) (sigma kappa away B : R).
Hypotheses (cap_gt0 : 0 < odflt 1 cap)
  (queries : forall a, `|q' a - q a| <= dq a)
  (keys : forall a, `|k' a - k a| <= dk a).
Local Notation S q k := (scores.S q k cap sigma kappa away B).
Definition inherited :=
  `|sigma| * \sum_a (dq a * `|k a| + (`|q a| + dq a) * dk a).
Definition ceiling :=
  `|sigma| * \sum_a (`|q a| + dq a) * (`|k a| + dk a).

(* a score of other rows *)
Lemma score_moved : `|S q' k' - S q k| <= inherited.
Proof.
have E : S q' k' - S q k = scores.capped q' k' cap sigma
    - scores.capped q k cap sigma by rewrite /scores.S; ring.
have XE : `|scores.X q' k' sigma - scores.X q k sigma| <= inherited.
  rewrite /scores.X -mulrBr normrM ler_wpmul2l// -sumrB.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => a _.
  rewrite (_ : _ - _ = (q' a - q a) * k a + q' a * (k' a - k a));
    last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
  by rewrite ler_add ?ler_wpmul2r// ler_pmul// ceil_le.
rewrite E /scores.capped; case: (cap) cap_gt0 => [c|]//= c0.
rewrite -mulrBr normrM (gtr0_norm c0).
apply: le_trans (ler_wpmul2l (ltW c0) (scores.tanh_near _ _)) _.
rewrite -mulrBl normrM normfV (gtr0_norm c0) mulrC divfK ?gt_eqF//.
Qed.

(* state what scores inherit *)
(* proves prop:layer-rounding *)
Theorem score_of_rows (c a b f s' : R) :
  0 <= a -> 0 <= b -> 0 <= c -> c + b <= 1 ->
  c * `|s' - S q' k'| <= a * scores.size q' k' sigma + f
    + b * `|S q' k'| ->
  c * `|s' - S q k| <= a * ceiling + f + b * `|S q k| + inherited.

(* prove what scores inherit *)
Proof.
move=> a0 b0 c0 cb h; have mv := score_moved.
have size_le : scores.size q' k' sigma <= ceiling.
  rewrite ler_wpmul2l//; apply: ler_sum => i _.
  by rewrite ler_pmul// ceil_le.
rewrite (_ : s' - _ = (s' - S q' k') + (S q' k' - S q k)); last by ring.
apply: le_trans (ler_wpmul2l c0 (ler_norm_add _ _)) _; rewrite mulrDr.
apply: le_trans (ler_add h (lexx _)) _.
have S_le := ceil_le mv.
apply: le_trans (ler_add (ler_add (ler_add (ler_wpmul2l a0 size_le)
  (lexx f)) (ler_wpmul2l b0 S_le)) (ler_wpmul2l c0 mv)) _.
have E (A p i : R) : A + b * p + i - (A + b * (p + i) + c * i)
    = (1 - (c + b)) * i by ring.
rewrite -subr_ge0 E.
by rewrite mulr_ge0 ?subr_ge0// (le_trans (normr_ge0 _) mv).
Qed.
End Score.

(* state what outputs inherit *)
(* proves prop:layer-rounding *)
Theorem outputs_of_rows (R : realFieldType) (K : finType)
  (A e V V' dV : K -> R) (c O' : R) : 0 <= c <= 1 ->
  (forall j, 0 <= A j) -> (forall j, 0 <= e j) ->
  (forall j, `|V' j - V j| <= dV j) ->
  c * `|O' - \sum_j A j * V' j| <= \sum_j A j * e j * `|V' j| ->
  c * `|O' - \sum_j A j * V j|
    <= \sum_j A j * e j * (`|V j| + dV j) + \sum_j A j * dV j.

(* prove what outputs inherit *)
Proof.
move=> /andP[c0 c1] A0 e0 known h.
rewrite (_ : O' - _ = (O' - \sum_j A j * V' j)
  + (\sum_j A j * V' j - \sum_j A j * V j)); last by ring.
apply: le_trans (ler_wpmul2l c0 (ler_norm_add _ _)) _; rewrite mulrDr.
apply: ler_add.
  apply: le_trans h _; apply: ler_sum => j _.
  by rewrite ler_wpmul2l ?mulr_ge0// ceil_le.
apply: le_trans (ler_pimull (normr_ge0 _) c1) _; rewrite -sumrB.
apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => j _.
by rewrite -mulrBr normrM ger0_norm// ler_wpmul2l.
Qed.
