(* proofs/examples_08.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require metric hebb hopfield patterns retrieval settles
  coming_to_rest.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of networks of signs, in Coq *)
Section Signs.
Variable R : realFieldType.
Let W : 'M[R]_2 := \matrix_(a, b) (- (a != b)%:R).
Let x : 'cV[R]_2 := const_mx 1.
Lemma W_sym : W^T = W. Proof. by apply/matrixP => a b; rewrite !mxE eq_sym. Qed.
Lemma x_signs : hebb.signs x. Proof. by move=> a; rewrite mxE expr1n. Qed.
Lemma x_field a : hebb.field W x a = -1.
Proof.
rewrite /hebb.field !mxE !big_ord_recl big_ord0 !mxE !mulr1 addr0.
by case: a => -[|[|]] //= i; rewrite ?oppr0 ?add0r ?addr0.
Qed.
Lemma x_turns a : hebb.turned W x a != x a 0.
Proof.
rewrite /hebb.turned x_field oppr_eq0 oner_eq0 sgrN sgr1 mxE.
by rewrite eq_sym -subr_eq0 opprK -[1 + 1]/(2%:R) two.
Qed.
Example flip a := @hebb.flip R 2 W W_sym x a x_signs (x_turns a).
Lemma W_diagonal a : 0 <= W a a. Proof. by rewrite mxE eqxx oppr0. Qed.
Example flip_lowers a := @hebb.flip_lowers R 2 W W_sym x a x_signs
  (x_turns a) (W_diagonal a).

(* examples of parallel networks, in Coq *)
Lemma squares y : 0 <= hebb.form (1%:M : 'M[R]_2) y y.
Proof.
rewrite /hebb.form mulmx1 mxE; apply: sumr_ge0 => j _.
by rewrite mxE -expr2 sqr_ge0.
Qed.
Example parallel_descends := @hebb.parallel_descends R 2 1%:M
  (trmx1 _ _) x x_signs squares.
Let y : 'cV[R]_1 := const_mx 1.
Lemma y_signs : hebb.signs y. Proof. by move=> a; rewrite mxE expr1n. Qed.
Example overlaps (P : finType) (K : P -> 'cV[R]_1) :=
  @patterns.overlaps R 1 P K isT y.
Example hebb_is_semidefinite (P : finType) (K : P -> 'cV[R]_1) :=
  @patterns.hebb_is_semidefinite R 1 P K isT.
Example diagonal := @patterns.diagonal R 1 _ (fun _ : bool => y) isT y
  y_signs (fun=> y_signs).

(* examples of turned values, in Coq *)
Let e (t : R) : R := 1 + t.
Let k (j : bool) : 'rV[R]_1 := if j then 1%:M else - 1%:M.
Let P : 'M[R]_1 := - 1%:M.
Lemma isometry : P *m 1%:M *m P^T = 1%:M.
Proof. by rewrite mulmx1 linearN /= trmx1 mulmxN mulmx1 opprK. Qed.
Lemma involution : P *m P = 1%:M.
Proof. by rewrite mulmxN mulmx1 opprK. Qed.
Lemma permutes j : k j *m P = k (negb j).
Proof. by case: j; rewrite /= mulmxN mulmx1 ?opprK. Qed.
Lemma score_k j :
  patterns.score k 1%:M 1%:M j = if j then 1 else - 1.
Proof.
rewrite /patterns.score /k mulmx1 mul1mx.
by case: j; rewrite ?linearN /= trmx1 !mxE eqxx.
Qed.
Lemma fixed : patterns.update e k 1%:M k 1%:M = 1%:M.
Proof.
rewrite /patterns.update /patterns.weight !big_bool /= !score_k /e subrr.
rewrite !addr0 mul0r scale0r addr0 divff ?scale1r//.
by rewrite -[1 + 1]/(2%:R) two.
Qed.
Lemma moved : (1%:M : 'rV[R]_1) *m P != 1%:M.
Proof.
rewrite mul1mx; apply/eqP => /matrixP/(_ 0 0); rewrite !mxE eqxx => /eqP.
by rewrite eq_sym -subr_eq0 opprK -[1 + 1]/(2%:R) (negbTE (two R)).
Qed.
Example no_energy := @patterns.no_energy R e 1 _ k 1%:M P isometry involution
  negb permutes negb_inj 1%:M fixed moved.
End Signs.

(* examples of memories, in Coq *)
Section Hopfield.
Variables (R : realType) (d : nat) (P : finType) (p0 : P) (v x : 'rV[R]_d).
Let one := metric.metric1 R d.
Example descent k := @hopfield.descent R d P k _ 1 p0 one ltr01 x.
Example steps_summable k := @hopfield.steps_summable R d P k _ 1 p0 one
  ltr01 x.
Lemma apart (i j : P) : j != i ->
  0 <= metric.inner (1%:M : 'M[R]_d) (v - v) x.
Proof. by rewrite subrr /metric.inner !mul0mx mxE. Qed.
Lemma near (i j : P) : metric.norm (1%:M : 'M[R]_d) (v - v) <= 0.
Proof. by rewrite subrr /metric.norm /metric.inner !mul0mx mxE sqrtr0. Qed.
Example retrieval i := @retrieval.retrieval R d P (fun=> v) _ 1 one ltr01 x
  i 0 0 (@apart i) (near i).
Lemma G_apart i j : pred1 p0 i -> ~~ pred1 p0 j ->
  0 <= metric.inner (1%:M : 'M[R]_d) (v - v) x.
Proof. by rewrite subrr /metric.inner !mul0mx mxE. Qed.
Example groups := @retrieval.groups R d P (fun=> v) _ 1 ltr01
  (pred1 p0) x 0 p0 (eqxx p0) G_apart.
Example energy_below := @retrieval.energy_below R d P (fun=> v) _ 1 one
  ltr01 x _ p0 (fun=> lexx (metric.norm 1%:M v)).
Let inf := - (2%:R^-1 * metric.norm (1%:M : 'M[R]_d) v ^+ 2)
  - 1^-1 * ln #|P|%:R.
Lemma bounded y : inf <= hopfield.energy (fun _ : P => v) 1%:M 1 y.
Proof. by apply: retrieval.energy_below => //; exact: ltr01. Qed.
Example steps_bounded := @retrieval.steps_bounded R d P (fun=> v) _ 1 one
  ltr01 x _ p0 bounded.
End Hopfield.

(* an example of a group, in Coq *)
Section Near.
Variables (R : realType) (d : nat) (P : finType) (p0 : P) (v x : 'rV[R]_d).
Example group_is_near := @retrieval.group_is_near R d P (fun=> v) _ 1
  (metric.metric1 R d) ltr01 (pred1 p0) x 0 p0 (eqxx p0)
  (@G_apart R d P p0 v x) 0 (near v).
End Near.

(* examples of flips and cycles, in Coq *)
Section Flips.
Variable R : realFieldType.
Let W : 'M[R]_2 := \matrix_(a, b) (- (a != b)%:R).
Let x : settles.state 2 := [ffun=> true].
Let y : settles.state 2 := [ffun b => if b == 0 then ~~ x b else x b].
Lemma x_vec : settles.vec R x = const_mx 1.
Proof. by apply/colP => a; rewrite !mxE ffunE. Qed.
Lemma one_flip : path (settles.flips W) x [:: y].
Proof.
by rewrite /= andbT; apply/existsP; exists 0; rewrite x_vec x_turns eqxx.
Qed.
Example finitely_many_flips := @settles.finitely_many_flips R 2 W (W_sym R)
  x [:: y] (@W_diagonal R) one_flip.
Example ends_in_two_cycle := @settles.ends_in_two_cycle R 2 W (W_sym R) x.
End Flips.

(* an example of an iteration, in Coq *)
Section AtRest.
Variable R : realFieldType.
Let zero (t : nat) : R := 0.
Let still t : `|zero t.+1 - zero t| <= 0 * `|zero t.+1 - zero t|.
Proof. by rewrite subrr normr0 mulr0. Qed.
Let exact t : `|zero t.+1 - zero t| <= 0.
Proof. by rewrite subrr normr0. Qed.
Example short_steps := @coming_to_rest.short_steps R R Num.norm id zero
  0 0 (lexx 0) ltr01 (@ler_norm_add _ _) (@normrN _ _) still exact.
End AtRest.
