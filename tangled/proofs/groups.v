(* proofs/groups.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From attn Require Import shards.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the load of a rank, in Coq *)
(* All pairs of rank r, and the mean of the ranks. *)
Definition load owner p n r := \sum_(s < p) pairs owner n r s.
Definition mean_load owner p n : rat :=
  ((\sum_(r < p) load owner p n r)%:R / p%:R)%R.

(* the load of contiguous shards *)
Lemma contiguous_load p m r : 0 < m -> r < p ->
  (load (contiguous m) p (p * m) r).*2 = r * (m ^ 2).*2 + m * m.+1.
Proof.
move=> m0 rp; rewrite /load -muln2 big_distrl /=.
rewrite (eq_bigr (fun s : 'I_p => (s < r) * (m ^ 2).*2 + (s == r :> nat) *
  (m * m.+1))); last first.
  move=> s _; rewrite muln2 contiguous_balance//.
  by case: (ltngtP s r); rewrite ?mul1n ?mul0n ?addn0.
rewrite big_split -!big_distrl /= sum_lt (minn_idPl (ltnW rp)); congr (_ + _).
have := sum_at (fun=> 1) rp; rewrite big_mkcond /= => h.
by rewrite -[RHS]mul1n -[X in _ = X * _]h; congr (_ * _); apply: eq_bigr =>
  s _; case: eqP.
Qed.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Lemma sum_ranks p : ((\sum_(r < p) r).*2 = p * p.-1)%N.
Proof. by elim: p => [|p IH]; rewrite ?big_ord0// big_ord_recr doubleD IH /=;
  case: p {IH} => //= p; nia. Qed.

(* the share of the last rank, in Coq *)
Definition ratio p m :=
  (load (contiguous m) p (p * m) p.-1)%:R / mean_load (contiguous m) p
    (p * m).

(* state the share of the last rank *)
(* proves thm:balance *)
Theorem last_rank p m : (0 < m)%N -> (0 < p)%N ->
  ratio p m = ((2 * p - 1) * m + 1)%:R / (p * m + 1)%:R /\
  2%:R - p%:R^-1 - ratio p m = (1 - p%:R^-1) / (p * m + 1)%:R.

(* prove the share of the last rank *)
Proof.
move=> m0 p0; have n0 : (p * m + 1)%:R != 0 :> rat by rewrite pnatr_eq0 addn1.
have pn : p%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n.
have mn : m%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n.
have E : ratio p m = ((2 * p - 1) * m + 1)%:R / (p * m + 1)%:R.
  have L : (load (contiguous m) p (p * m) p.-1).*2
    = (((2 * p - 1) * m + 1) * m)%N.
    rewrite contiguous_load//; last by rewrite prednK.
    clear -p0; rewrite -[(m ^ 2)%N]mulnn -muln2; case: p p0 => // q _; nia.
  have T : ((\sum_(r < p) load (contiguous m) p (p * m) r).*2 = (p * m + 1) *
    m * p)%N.
    rewrite -muln2 big_distrl /=.
    under eq_bigr => r _ do rewrite muln2 contiguous_load//.
    rewrite big_split sum_nat_const card_ord -big_distrl /=.
    have := sum_ranks p; set S := (\sum_(i < p) i)%N; rewrite -muln2 => S2.
    have : (S * 2 * (m * m) = p * p.-1 * (m * m))%N by rewrite S2.
    clear -p0; rewrite -[(m ^ 2)%N]mulnn -muln2; case: p p0 S =>
      // q _ S; nia.
  have dbl (a : nat) : a%:R = a.*2%:R / 2%:R :> rat by rewrite -muln2
    natrM mulfK.
  rewrite /ratio /mean_load (dbl (load _ _ _ _)) (dbl (\sum_(r < p) _)%N) L T.
  have n1 : p%:R * m%:R + 1 != 0 :> rat by rewrite -natrM -(natrD _ _ 1).
  by rewrite !(natrM, natrD); field; rewrite pn mn n1.
split=> //; rewrite E natrD natrM natrB; last by lia.
rewrite natrD natrM in n0 *; rewrite natrM; field.
by rewrite pn -natrM -[1]/1%:R -natrD pnatr_eq0 addn1.
Qed.

(* state the share of the last group *)
(* proves cor:grid-balance *)
Theorem last_group b a m : (0 < b)%N -> (0 < a)%N -> (0 < m)%N ->
  2%:R - b%:R^-1 - ratio b (m * a) = (1 - b%:R^-1)
    / (b * (m * a) + 1)%:R.

(* prove the share of the last group *)
Proof.
by move=> b0 a0 m0; have [|//|_ ->] := @last_rank b (m * a);
  rewrite ?muln_gt0 ?m0.
Qed.
Local Close Scope ring_scope.

(* ranks joined, in Coq *)
Definition joined a (owner : nat -> nat) i := owner i %/ a.

(* sums over ranks of a group *)
Lemma sum_joined a owner p n (F : nat -> nat) r :
  (forall i, i < n -> owner i < p) ->
  \sum_(i < n | joined a owner i == r) F i =
  \sum_(r' < p | r' %/ a == r) \sum_(i < n | owner i == r') F i.
Proof.
move=> own; rewrite (exchange_big_dep (fun i : 'I_n => joined a owner i == r))
  /=; last first.
  by move=> r' i /eqP h /eqP E; rewrite /joined E h.
apply: eq_bigr => i /eqP h;
  rewrite (big_pred1 (Ordinal (own i (ltn_ord i))))// => r'.
rewrite /= -(inj_eq val_inj) /= [owner i == _]eq_sym andbC; case:
  eqP => //= ->.
by rewrite -h /joined eqxx.
Qed.

(* state pairs of joined ranks *)
(* proves cor:grid-balance *)
Theorem joined_pairs a owner p n r s :
  (forall i, i < n -> owner i < p) ->
  pairs (joined a owner) n r s =
  \sum_(r' < p | r' %/ a == r) \sum_(s' < p | s' %/ a == s) pairs owner
    n r' s'.

(* prove pairs of joined ranks *)
Proof.
move=> own;
  rewrite /pairs (sum_joined a (fun i => \sum_(j < n | _) (j <= i)) r own).
apply: eq_bigr => r' _; rewrite [RHS]exchange_big /=; apply: eq_bigr => i _.
exact: (sum_joined a (fun j => nat_of_bool (j <= i)) s own).
Qed.

(* state that contiguous shards stay contiguous *)
(* proves cor:grid-balance *)
Theorem contiguous_joined a m i :
  joined a (contiguous m) i = contiguous (m * a) i.

(* prove that contiguous shards stay contiguous *)
Proof.
by rewrite /joined /contiguous divnMA.
Qed.

(* ranks of a group *)
Lemma sum_group b a (F : nat -> nat) r : 0 < a -> r < b ->
  \sum_(r' < b * a | r' %/ a == r) F r' = \sum_(x < a) F (r * a + x).
Proof.
move=> a0 rb; rewrite (@sum_blocks (fun i => i %/ a) id F a b r)
  ?(sum_at (fun y => \sum_(x < a) F (y * a + x)) rb)//.
by move=> y x xa; rewrite divnMDl// divn_small ?addn0.
Qed.
Lemma group_lt b a r x : r < b -> x < a -> r * a + x < b * a.
Proof. by move=> rb xa; apply: (@leq_trans (r.+1 * a));
  [rewrite mulSn; lia | rewrite leq_mul2r rb orbT]. Qed.
Lemma other_group a r s x y : x < a -> y < a -> r != s ->
  r * a + x != s * a + y.
Proof.
move=> xa ya; apply: contraNneq => E.
have a0 : 0 < a by lia.
by have := congr1 (fun i => i %/ a) E;
  rewrite !divnMDl// !divn_small// !addn0 => ->.
Qed.

(* state the balance of joined zigzags *)
(* proves cor:grid-balance *)
Theorem zigzag_joined b a m r s : 0 < a -> 0 < m -> ~~ odd m -> r < b ->
  s < b -> r != s ->
  (pairs (joined a (zigzag (b * a) m)) (b * a * m) r s).*2
    = (a * m) ^ 2.

(* prove the balance of joined zigzags *)
Proof.
move=> a0 m0 me rb sb rs; rewrite (@joined_pairs a _ (b * a)); last first.
  move=> i ib; rewrite /zigzag /=.
  have : i %/ m./2 < (b * a).*2.
    have h0 : 0 < m./2 by have := odd_double_half m; rewrite (negbTE me); lia.
    rewrite ltn_divLR//; have := odd_double_half m;
      rewrite (negbTE me) add0n => <-.
    by rewrite -muln2 in ib *; nia.
  by set x := i %/ _; lia.
rewrite (sum_group (fun r' => \sum_(s' < b * a | s' %/ a == s) pairs
  (zigzag (b * a) m) (b * a * m) r' s') a0 rb).
have E (x : 'I_a) : (\sum_(s' < b * a | s' %/ a == s) pairs (zigzag (b * a) m)
  (b * a * m) (r * a + x) s').*2 = a * m ^ 2.
  rewrite (sum_group (fun s' => pairs (zigzag (b * a) m) (b * a * m)
    (r * a + x) s') a0 sb) -muln2 big_distrl /=.
  rewrite (eq_bigr (fun=> m ^ 2)) ?sum_nat_const ?card_ord// => y _.
  by rewrite muln2 zigzag_balance ?group_lt// (negbTE (other_group _ _ _))//
    eq_sym.
rewrite -muln2 big_distrl /= (eq_bigr (fun=> a * m ^ 2)); last by move=> x _;
  rewrite muln2 E.
by rewrite sum_nat_const card_ord mulnA mulnn expnMn.
Qed.

(* state the balance of joined stripes *)
(* proves cor:grid-balance *)
Theorem striped_joined b a m r s : 0 < a -> r < b -> s < b -> r != s ->
  (pairs (joined a (striped (b * a))) (m * (b * a)) r s).*2 =
  a ^ 2 * (if s < r then m * m.+1 else m * m.-1).

(* prove the balance of joined stripes *)
Proof.
move=> a0 rb sb rs; have p0 : 0 < b * a by rewrite muln_gt0 a0
  (leq_ltn_trans _ rb).
have before (x y : 'I_a) : (s * a + y <= r * a + x) = (s < r).
  case: (ltngtP s r) => [h|h|E]; last by rewrite E eqxx in rs.
    apply: leq_trans (leq_addr _ _); apply: ltnW;
      apply: (@leq_trans (s.+1 * a)).
      by rewrite mulSn addnC ltn_add2r.
    by rewrite leq_mul2r h orbT.
  apply/negbTE; rewrite -ltnNge; apply: leq_trans (leq_addr _ _).
  apply: (@leq_trans (r.+1 * a)); first by rewrite mulSn addnC ltn_add2r.
  by rewrite leq_mul2r h orbT.
rewrite (@joined_pairs a _ (b * a)) => [|i _]; last by rewrite /striped
  ltn_pmod.
rewrite (sum_group (fun r' => \sum_(s' < b * a | s' %/ a == s) pairs
  (striped (b * a)) (m * (b * a)) r' s') a0 rb).
under eq_bigr =>
  x _ do rewrite (sum_group (fun s' => pairs (striped (b * a)) (m * (b * a))
  (r * a + x) s') a0 sb).
rewrite -muln2 big_distrl /=; under eq_bigr => x _ do rewrite big_distrl /=.
set c := if s < r then _ else _; have S : \sum_(x < a) \sum_(y < a) c
  = a ^ 2 * c.
  by rewrite !sum_nat_const !card_ord mulnA mulnn.
rewrite -S; apply: eq_bigr => x _; apply: eq_bigr => y _.
by rewrite muln2 striped_balance ?group_lt// before.
Qed.
