(* proofs/examples_05.v: tangled from chapters/05-multihead-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From attn Require Import prelude examples.
From attn Require metric averages layers collapse multihead parameters
  gauges dobrushin tanh gibbs diversity tangent.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of heads and prefixes, in Coq *)
Section Heads.
Variables (F : fieldType) (e : F -> F) (T Q K U : Type) (d : nat) (z0 : F).
Variables (q : nat -> T -> Q) (k : nat -> T -> K) (v : nat -> T -> 'rV[F]_d).
Variables (s : nat -> nat -> Q -> K -> F) (Wo : 'rV[F]_d -> U).
Let past i j := (j <= i)%N.
Lemma causal i j : past i j -> (j <= i)%N. Proof. by []. Qed.
Example prefix X t := @layers.prefix F e T Q K U d z0 q k v s past Wo
  X X t.+1 _ causal (leqnn _) (fun _ _ => erefl) 0%N isT.
Example last_row X i n := @layers.last_row F e T Q K U d z0 q k v s
  (fun _ _ => true) Wo X i n (fun _ _ => isT).
Variables (n m D Dc dk dv Do : nat) (H G : finType).
Lemma same (set : H -> G) h :
  (1%g : {perm G}) (set h) = set ((1%g : {perm H}) h).
Proof. by rewrite !perm1. Qed.
Example heads_renumbered (g : 'M[F]_dk) WQ WK WV WO set X C :=
  @multihead.heads_renumbered F e n m D dk dv Do H G g 1%g 1%g WQ WK WV WO
    set set X C (same set).
End Heads.
Example row_major := @parameters.row_major 1 1 1 0 0 0 isT isT isT.

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
