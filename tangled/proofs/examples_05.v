(* proofs/examples_05.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From attn Require Import prelude examples.
From attn Require metric averages layers collapse multihead parameters
  gauges dobrushin tanh gibbs diversity tangent.
From attn Require logerr chains softmaxbound mhround.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of heads and prefixes, in Coq *)
Section Heads.
Variables (F : fieldType) (e : F -> F) (T Q K U : Type) (d : nat) (z0 : F).
Variables (q : nat -> T -> Q) (k : nat -> T -> K).
Variables (v : nat -> nat -> T -> 'rV[F]_d).
Variables (s : nat -> nat -> Q -> K -> F) (Wo : 'rV[F]_d -> U).
Let past i j := (j <= i)%N.
Lemma causal i j : past i j -> (j <= i)%N. Proof. by []. Qed.
Example prefix X t := @layers.prefix F e T Q K U d z0 q k v s past Wo
  X X t.+1 _ _ causal (leqnn _) (leqnn _) (fun _ _ => erefl) 0%N isT.
Example last_row X i n := @layers.last_row F e T Q K U d z0 q k v s
  (fun _ _ => true) Wo X i n (fun _ _ => isT).
Variables (n m D Dc dk dv Do : nat) (H G : finType).
Lemma same (set : H -> G) h :
  (1%g : {perm G}) (set h) = set ((1%g : {perm H}) h).
Proof. by rewrite !perm1. Qed.
Example heads_renumbered (g : 'M[F]_dk) WQ WK WV WO set X C :=
  @multihead.heads_renumbered F e n m D Dc dk dv Do H G g 1%g 1%g WQ WK WV WO
    set set X C (same set).
End Heads.
Example row_major := @parameters.row_major 1 1 0 0 0 isT isT.

(* examples of gauges of heads, in Coq *)
Section Gauges.
Variables (F : fieldType) (gd : F) (n D Dc dk dv Do : nat) (H G : finType).
Variables (set : H -> G) (X : 'M[F]_(n, D)) (C : 'M[F]_(1, Dc)).
Let e (x : F) : F := 1.
Lemma eD x y : e (x + y) = e x * e y. Proof. by rewrite /e mulr1. Qed.
Lemma e_neq0 x : e x != 0. Proof. exact: oner_neq0. Qed.
Let all (i : 'I_n) : pred 'I_1 := xpredT.
Example gauge w i := @gauges.gauge F e gd n 1 D Dc dk dv Do H G set all X C
  (fun=> 1%:M) (fun=> 1%:M) w i (fun=> unitmx1 _ _) (fun=> unitmx1 _ _).
Example no_bias_of_keys b (w : gauges.weights F D Dc dk dv Do H G) i :=
  @gauges.no_bias_of_keys F e gd n 1 D Dc dk dv Do H G eD e_neq0 set all X C
    b w i.
Lemma one_key (w : gauges.weights F D Dc dk dv Do H G) i h :
  \sum_(l | all i l) e (gauges.S gd set X C w h i l) != 0.
Proof. by rewrite big_ord1 oner_neq0. Qed.
Example no_bias_of_values (w : gauges.weights F D Dc dk dv Do H G) i :=
  @gauges.no_bias_of_values F e gd n 1 D Dc dk dv Do H G set all X C w i
    (one_key w i).
End Gauges.

(* examples of averages and depth, in Coq *)
Example rank_one (R : numFieldType) h (h0 : 'I_h) :=
  @averages.rank_one R h 2 _ h0 (fun i => halves_sum R i).
Example diam_contracts (R : rcfType) n d (V : 'M[R]_(2, d)) :=
  @dobrushin.diam_contracts R n 2 d _ _ V (metric.metric1 R d)
    (fun i => halves_sum R i).
Example tau_submultiplicative (R : rcfType) n m (B : 'M[R]_(2, m)) :=
  @dobrushin.tau_submultiplicative R n 2 m _ B (fun i => halves_sum R i).
Section Depth.
Variables (R : realType) (n D : nat) (X : 'M[R]_(n, D)).
Lemma no_move (s : bool -> R) j k : (s j - s j) - (s k - s k) <= 0.
Proof. by rewrite !subrr. Qed.
Example weights_move_by_tanh s := @tanh.weights_move_by_tanh R _ s s 0
  (no_move s) true.
Local Notation len := (metric.norm (1%:M : 'M[R]_D)).
Lemma len_ge0 u : 0 <= len u. Proof. exact: sqrtr_ge0. Qed.
Lemma bounded (h : unit) u v :
  `|(u *m 0 *m v^T) 0 0| <= 1 * (len u * len v).
Proof. by rewrite mulmx0 mul0mx mxE normr0 mul1r mulr_ge0 ?len_ge0. Qed.
Lemma bounded_value (h : unit) v : len (v *m 0) <= 1 * len v.
Proof.
rewrite mulmx0 mul1r /metric.norm /metric.inner !mul0mx mxE sqrtr0.
exact: len_ge0.
Qed.
Example collapse := @collapse.collapse R n D _ X (fun=> 0) (fun=> 0)
  (fun=> 1) (fun=> 1) bounded bounded_value (fun=> ler01) (fun=> ler01).
Example cubic := @collapse.cubic R n D [finType of unit] X (fun=> 1) (fun=> 1)
  (fun=> ler01) (fun=> ler01).
Example collapse_attained (x k : R) :=
  @collapse.collapse_attained R x 1 k ler01.
End Depth.

(* an example of diverse heads, in Coq *)
Lemma heads_of_halves (R : realType) (h : bool) :
  gibbs.distribution (half R).
Proof. by split; [exact: half_ge0 | exact: half_sum]. Qed.
Example js_range (R : realType) :=
  @diversity.js_range R bool_finType bool_finType (fun=> half R) true
    (@heads_of_halves R).

(* an example of the hyperbolic tangent, in Coq *)
Example tanh_attained (R : realType) := @tangent.tanh_attained R 1 ler01.

(* an example of a layer with errors, in Coq *)
Section Rounded.
Variables (R : realType) (n : nat) (X : 'M[R]_(n, 1)).
Variables (WQ C WK WV WO : 'M[R]_1) (seen : 'I_n -> pred 'I_1).
Let u : R := 25%:R^-1.
Let u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Let ok (a : R) : logerr.rounds u a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Let few k : (k < 25)%N -> k%:R * u < 1.
Proof. by move=> k25; rewrite ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Let extents k : k \in [:: 1; 1; 1; 1; (#|unit_finType| * 1)%N]%N ->
  2%:R * k%:R * u <= 1.
Proof.
by rewrite card_unit !inE !orbb => /eqP->; rewrite mulr1 ltW// (@few 2).
Qed.
Let alone (I : finType) (i0 : I) : (forall i, i = i0) -> enum I = [:: i0].
Proof.
move=> all; apply: perm_small_eq => //.
apply: uniq_perm => [||i] //; first exact: enum_uniq.
by rewrite mem_enum !inE (all i) eqxx.
Qed.
Let times (x y : R) := x * y * (1 + 0) + 0.
Let dot (I : finType) (i0 : I) (x y : I -> R) : (forall i, i = i0) ->
  chains.underflown u (1 / 2%:R) [seq (x a, y a) | a <- enum I]
    (times (x i0) (y i0)).
Proof.
move=> /alone->; apply: chains.UProduct; rewrite normr0//.
by rewrite divr_ge0 ?ler01 ?ler0n.
Qed.
Let sum (I : finType) (i0 : I) (x y : I -> R) : (forall i, i = i0) ->
  mhround.computed u 1 x y None (times (x i0) (y i0)).
Proof. by move=> all; exists (times (x i0) (y i0)); first exact: dot. Qed.
Let key i := {j : 'I_1 | seen i j}.
Let z : R := Num.sqrt 1%:R.
Let P (h : unit) i a := times (X i 0) (WQ 0 a).
Let Q h i a := times (1 / z) (P h i a).
Let K (s : unit) j a := times (C j 0) (WK 0 a).
Let V (s : unit) j c := times (C j 0) (WV 0 c).
Let s h i := times (Q h i 0) (K tt 0 0).
Let e h i : R := expR ((s h i - s h i) * (1 + 0)) * (1 + 0).
Let A h i := e h i / e h i * (1 + 0).
Let O h i c := if #|{: key i}| is 0%N then 0 else times (A h i) (V tt 0 c).
Let Y i f := times (O tt i 0) (WO 0 f).
Let none (S T : Type) (s : S) (a : T) : option R := None.
Let lowered (h : unit) i a : exists d e', [/\ `|d| <= u, `|e'| <= 1 / 2%:R
  & Q h i a = 1 / z * P h i a * (1 + d) + e'].
Proof. by exists 0, 0; rewrite normr0 u_ge0 divr_ge0 ?ler01 ?ler0n. Qed.
Let exponentials (h : unit) i (j : key i) :
  exists d e', [/\ `|d| <= u, `|e'| <= 2%:R * u
    & e h i = expR ((s h i - s h i) * (1 + d)) * (1 + e')].
Proof. by exists 0, 0; rewrite normr0 u_ge0 mulr_ge0 ?ler0n. Qed.
Let same i (j k : key i) : k = j.
Proof. by apply: val_inj; rewrite /= !ord1. Qed.
Let scores (h : unit) i (j : key i) :
  mhround.computed u 1 (Q h i) (K tt (val j)) None (s h i).
Proof. by rewrite (ord1 (val j)); apply: (@sum _ 0) => k; rewrite ord1. Qed.
Let sums (h : unit) i (j : key i) : softmaxbound.summed u
  [seq e h i | j <- enum {: key i}] (e h i).
Proof. by rewrite (alone (same j)); exact: softmaxbound.One. Qed.
Let quotients (h : unit) i (j : key i) : exists2 d, `|d| <= u
  & A h i = e h i / e h i * (1 + d).
Proof. by exists 0; rewrite ?normr0. Qed.
Let outputs (h : unit) i c : if #|{: key i}| is 0%N then O h i c = 0
  else chains.underflown u (1 / 2%:R)
    [seq (A h i, V tt (val j) c) | j <- enum {: key i}] (O h i c).
Proof.
rewrite /O; case E: #|_| => [|k] //.
have /card_gt0P[j _] : (0 < #|{: key i}|)%N by rewrite E.
have := @dot _ j (fun=> A h i) (fun k => V tt (val k) c) (same j).
by rewrite (ord1 (val j)).
Qed.
Let layer i f : mhround.computed u 1 (fun hc : unit * 'I_1 => O hc.1 i hc.2)
  (fun hc => WO hc.2 f) None (Y i f).
Proof. by apply: (@sum _ (tt, 0)) => -[[] k]; rewrite ord1. Qed.
Let product (x y : 'I_1 -> R) :
  mhround.computed u 1 x y None (times (x 0) (y 0)).
Proof. by apply: sum => k; rewrite ord1. Qed.
Example layer_rounding := @mhround.layer_rounding R u 1 n 1 1 1 1 1 1
  unit_finType unit_finType id seen
  X (fun=> WQ) C (fun=> WK) (fun=> WV) (fun=> WO) (@none _ _)
  (@none _ _) (@none _ _) (fun=> None) (@none _ _)
  u_ge0 ler01 (@few 3 isT) extents P Q K V z (1 / z)
  (fun h i _ => s h i) (fun h i _ => e h i) (fun h i _ => A h i) s e O Y
  (fun h i a => product _ _) (ok _) (ok _) lowered
  (fun h i a => product _ _) (fun h i a => product _ _)
  scores (fun h i j => lexx _) exponentials sums quotients outputs layer.
End Rounded.
