(* proofs/shards.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* pairs of ranks, in Coq *)
Definition pairs (owner : nat -> nat) n r s :=
  \sum_(i < n | owner i == r) \sum_(j < n | owner j == s) (j <= i).

(* Who owns position i, with p ranks of m positions. *)
Definition contiguous m i := i %/ m.
Definition striped p i := i %% p.
Definition zigzag p m i :=
  let h := m./2 in minn (i %/ h) (p.*2.-1 - i %/ h).

(* sum over the positions of a rank *)
Lemma sum_blocks (owner f F : nat -> nat) h k r :
  (forall b a, a < h -> owner (b * h + a) = f b) ->
  \sum_(i < k * h | owner i == r) F i =
  \sum_(b < k | f b == r) \sum_(a < h) F (b * h + a).
Proof.
move=> of_; elim: k => [|k IH]; first by rewrite !big_ord0.
rewrite big_mkcond mulSnr big_split_ord /= -big_mkcond IH [RHS]big_mkcond
  big_ord_recr /=.
congr (_ + _); first by rewrite big_mkcond.
case: ifP => fr; last by rewrite big1// => a _; rewrite of_// fr.
by apply: eq_bigr => a _; rewrite of_// fr.
Qed.

Lemma sum_at (F : nat -> nat) n k : k < n ->
  \sum_(i < n | i == k :> nat) F i = F k.
Proof. by move=> kn; rewrite (big_pred1 (Ordinal kn)). Qed.

Lemma sum_lt n a : \sum_(i < n) (i < a) = minn a n.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 minn0.
by rewrite big_ord_recr /= IH; case: ltnP; lia.
Qed.

(* count the pairs of two blocks *)
(* pairs between a query block and a key block of length h *)
Lemma block_pairs h b c :
  (\sum_(a < h) \sum_(a' < h) (c * h + a' <= b * h + a)).*2 =
  if c < b then (h * h).*2 else if c == b then h * h.+1 else 0.
Proof.
case: (ltngtP c b) => cb.
- have E (a a' : 'I_h) : c * h + a' <= b * h + a.
    have := ltn_ord a'; have : c.+1 * h
      <= b * h by rewrite leq_mul2r cb orbT.
    by rewrite mulSn; lia.
  under eq_bigr do under eq_bigr do rewrite E.
  by rewrite !sum_nat_const !card_ord muln1.
- have E (a a' : 'I_h) : (c * h + a' <= b * h + a) = false.
    have := ltn_ord a; have : b.+1 * h <= c * h by rewrite leq_mul2r cb
      orbT.
    by rewrite mulSn; lia.
  by rewrite big1// => a _; rewrite big1// => a' _; rewrite E.
rewrite cb; under eq_bigr do under eq_bigr do rewrite leq_add2l.
have -> : \sum_(a < h) \sum_(a' < h) (a' <= a) = \sum_(a < h) a.+1.
  by apply: eq_bigr => a _; rewrite (sum_lt h a.+1); apply/minn_idPl.
by elim: h => [|h IH]; [rewrite big_ord0 | rewrite big_ord_recr /= doubleD
  IH; lia].
Qed.

(* state the balance of contiguous shards *)
(* proves thm:balance *)
Theorem contiguous_balance p m r s : 0 < m -> r < p -> s < p ->
  (pairs (contiguous m) (p * m) r s).*2 =
  if s < r then (m ^ 2).*2 else if s == r then m * m.+1 else 0.

(* prove the balance of contiguous shards *)
Proof.
move=> m0 rp sp; have own b a : a < m -> contiguous m (b * m + a) = b.
  by move=> am; rewrite /contiguous divnMDl// divn_small ?addn0.
rewrite /pairs (sum_blocks (fun i => \sum_(j < p * m | contiguous m j == s)
  (j <= i)) _ _ own).
rewrite (sum_at (fun b => \sum_(a < m) \sum_(j < p * m | _) (j <= b * m
  + a)) rp).
rewrite -mulnn -(block_pairs m r s).
congr _.*2; apply: eq_bigr => a _.
by rewrite (sum_blocks (fun j => nat_of_bool (j <= r * m
  + a)) _ _ own) (sum_at (fun b => \sum_(a' < m) (b * m + a' <= r * m
  + a)) sp).
Qed.

(* sum over a stripe *)
Lemma sum_stripe (F : nat -> nat) p m r : r < p ->
  \sum_(i < m * p | striped p i == r) F i = \sum_(a < m) F (a * p + r).
Proof.
move=> rp; elim: m => [|m IH]; first by rewrite !big_ord0.
rewrite big_mkcond mulSnr big_split_ord /= -!big_mkcond IH big_ord_recr /=;
  congr (_ + _).
rewrite -(sum_at (fun a => F (m * p + a)) rp); apply: eq_bigl => a.
by rewrite /striped modnMDl modn_small.
Qed.

(* state the balance of striped shards *)
(* proves thm:balance *)
Theorem striped_balance p m r s : r < p -> s < p ->
  (pairs (striped p) (m * p) r s).*2 =
  if s <= r then m * m.+1 else m * m.-1.

(* prove the balance of striped shards *)
Proof.
move=> rp sp; rewrite /pairs.
rewrite (sum_stripe (fun i => \sum_(j < m * p | striped p j == s) (j
  <= i)) _ rp).
have E (a : 'I_m) : \sum_(j < m * p | striped p j == s) (j <= a * p + r)
  = (s <= r) + a.
  rewrite (sum_stripe (fun j => nat_of_bool (j <= a * p + r)) _ sp).
  transitivity (\sum_(a' < m) (a' < (s <= r) + a)); last first.
    by rewrite sum_lt; apply/minn_idPl; have := ltn_ord a; case: (s <= r);
      lia.
  apply: eq_bigr => a' _; case: (ltngtP a' a) => aa.
  - have : a'.+1 * p <= a * p by rewrite leq_mul2r aa orbT.
    by rewrite mulSn; case: (s <= r); lia.
  - have : a.+1 * p <= a' * p by rewrite leq_mul2r aa orbT.
    by rewrite mulSn; case: (s <= r); lia.
  by rewrite aa leq_add2l; case: (s <= r); lia.
under eq_bigr do rewrite E.
by case: (s <= r); elim: m {E} => [|n IH];
  rewrite ?big_ord0// big_ord_recr /= doubleD IH; case: n {IH} => [|n]; lia.
Qed.

(* sum over two blocks in a zigzag *)
Lemma sum_zigzag p (F : nat -> nat) r : r < p ->
  \sum_(b < p.*2 | minn b (p.*2.-1 - b) == r) F b = F r + F (p.*2.-1 - r).
Proof.
move=> rp; rewrite -addnn big_mkcond big_split_ord /= -!big_mkcond.
congr (_ + _).
  rewrite -(sum_at F rp); apply: eq_bigl => b; have := ltn_ord b; lia.
have kp : p.-1 - r < p by lia.
have -> : (p + p).-1 - r = p + (p.-1 - r) by lia.
rewrite -(sum_at (fun b => F (p + b)) kp); apply: eq_bigl => b; have :=
  ltn_ord b; lia.
Qed.

(* state the balance of a zigzag *)
(* proves thm:balance *)
Theorem zigzag_balance p m r s : 0 < m -> ~~ odd m -> r < p -> s < p ->
  (pairs (zigzag p m) (p * m) r s).*2 =
  if s == r then m * m.+1 else m ^ 2.

(* prove the balance of a zigzag *)
Proof.
move=> m0 me rp sp; set h := m./2.
have mE : m = h.*2 by rewrite -[LHS]odd_double_half (negbTE me).
have h0 : 0 < h by lia.
have nE : p * m = p.*2 * h by rewrite mE; lia.
have own b a : a < h -> zigzag p m (b * h + a) = minn b (p.*2.-1 - b).
  by move=> ah; rewrite /zigzag -/h divnMDl// divn_small ?addn0.
rewrite /pairs nE (sum_blocks (fun i => \sum_(j < p.*2 * h | zigzag p m j ==
  s) (j <= i)) _ _ own).
rewrite (sum_zigzag (fun b => \sum_(a < h) \sum_(j < p.*2 * h | _) (j
  <= b * h + a)) rp).
pose c b b' := \sum_(a < h) \sum_(a' < h) (b' * h + a' <= b * h + a).
have E b : \sum_(a < h) \sum_(j < p.*2 * h | zigzag p m j == s) (j <= b * h
  + a)
    = c b s + c b (p.*2.-1 - s).
  rewrite -big_split; apply: eq_bigr => a _.
  rewrite (sum_blocks (fun j => nat_of_bool (j <= b * h + a)) _ _ own).
  by rewrite (sum_zigzag (fun b' => \sum_(a' < h) (b' * h + a' <= b * h
    + a)) sp).
rewrite !E !doubleD !block_pairs -mulnn mE.
have [->|sr] := eqVneq s r.
  have -> : (p.*2.-1 - r < r) = false by lia.
  have -> : (p.*2.-1 - r == r) = false by lia.
  have -> : r < p.*2.-1 - r by lia.
  by rewrite !ltnn !eqxx; lia.
by case: (ltngtP s r) sr => // sr _; do ![case: ifP]; lia.
Qed.
