(* proofs/volume.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect zify.
From attn Require Import shards.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the number of elements *)
Local Notation size_of T := #|{: T}|.

(* what a ring sends, in Coq *)
Section Volume.
Variables (p m Hk d : nat).
Definition block := size_of ('I_m * 'I_Hk * 'I_d).
Definition ring_forward := \sum_(t < p.-1) block.
Definition ring_backward := \sum_(t < p.-1) block + \sum_(t < p) block.
Definition second_lap := \sum_(t < p) block.

(* state the volume of a ring *)
(* proves prop:volume *)
Theorem ring_volume :
  [/\ ring_forward = (p - 1) * (m * Hk * d), ring_backward
    = (2 * p - 1) * (m * Hk * d)
    & second_lap = p * (m * Hk * d)].

(* prove the volume of a ring *)
Proof.
rewrite /ring_forward /ring_backward /second_lap !sum_nat_const
  !card_ord.
by rewrite /block !card_prod !card_ord; split; nia.
Qed.
End Volume.

(* heads of a grid, in Coq *)
Section Exchange.
(* H heads of queries, c of them in each of a columns *)
Variables (a c m dk dv : nat).
Let H := a * c.
Definition column h := h %/ c.

(* heads of the other columns *)
Lemma other_heads x : 0 < c -> x < a -> \sum_(h < H | column h != x) 1
  = (a - 1) * c.
Proof.
move=> c0 xa; have all : \sum_(h < H) 1 = a * c by rewrite sum_nat_const
  card_ord muln1.
have own : \sum_(h < H | column h == x) 1 = c.
  rewrite (@sum_blocks column id (fun=> 1) c a x) => [|y z zc].
    by rewrite (sum_at (fun=> \sum_(y < c) 1) xa) sum_nat_const
      card_ord muln1.
  by rewrite /column divnMDl// divn_small ?addn0.
have := all; rewrite (bigID (fun h : 'I_H => column h == x)) /= own mulnBl
  mul1n; lia.
Qed.

(* what a grid exchanges, in Coq *)
(* A rank of column x sends the queries of the others' heads; of its own
   heads it has the outputs of a m rows, with a log-sum-exp each, and
   sends those of the a - 1 others. Going back, Q, O, their cotangents,
   L and its cotangent go, and the cotangent of Q comes back. *)
Definition queries_forward x :=
  (\sum_(h < H | column h != x) 1) * (m * dk)
    + (\sum_(y < a | y != x :> nat) 1) * (m * c * (dv + 1)).
Definition queries_backward x :=
  (\sum_(h < H | column h != x) 1) * (m * (dk + dv + dv + 2)) +
  (\sum_(y < a | y != x :> nat) 1) * (m * c * dk).

(* the other columns *)
Lemma other_columns x : x < a -> \sum_(y < a | y != x :> nat) 1 = a - 1.
Proof.
move=> xa; rewrite sum1_card -[a in RHS]card_ord subn1 -(cardC1 (Ordinal xa)).
by apply: eq_card => y; rewrite !inE -(inj_eq val_inj).
Qed.

(* state the volume of an exchange *)
(* proves prop:volume *)
Theorem exchange_volume x : 0 < c -> x < a ->
  a * queries_forward x = (a - 1) * (m * H * (dk + dv + 1)) /\
  a * queries_backward x = (a - 1) * (m * H * (2 * (dk + dv) + 2)).

(* prove the volume of an exchange *)
Proof.
move=> c0 xa; rewrite /queries_forward /queries_backward
  other_heads// other_columns// /H.
by split; nia.
Qed.
End Exchange.

(* what becomes of keys, in Coq *)
Section Keys.
Variables (a b m h d : nat).
Definition keys_forward x :=
  \sum_(y < a | y != x :> nat) size_of ('I_m * 'I_h * 'I_d).
Definition keys_backward x := keys_forward x
  + \sum_(y < a | y != x :> nat) size_of ('I_m * 'I_h * 'I_d).

(* state the volume of keys and rings *)
(* proves prop:volume *)
Theorem grid_volume x : x < a ->
  [/\ keys_forward x = (a - 1) * (m * h * d),
      keys_backward x = 2 * (a - 1) * (m * h * d),
      ring_forward b (a * m) h d = (b - 1) * (a * m * h * d),
      ring_backward b (a * m) h d = (2 * b - 1) * (a * m * h * d)
    & second_lap b (a * m) h d = b * (a * m * h * d)].

(* prove the volume of keys and rings *)
Proof.
move=> xa; have [-> -> ->] := ring_volume b (a * m) h d.
have E : keys_forward x = (a - 1) * (m * h * d).
  rewrite -(other_columns xa) /keys_forward big_distrl /=.
  by apply: eq_bigr => y _; rewrite mul1n !card_prod !card_ord.
by split=> //; rewrite /keys_backward -/(keys_forward x) E; nia.
Qed.
End Keys.

(* partners of a round, in Coq *)
Section Rounds.
Variables (c s : nat).
Let R := maxn c s.
Definition partner t i := (i + t) %% R.
Definition meets t i j := [&& i < c, j < s & partner t i == j].

(* state that all pairs meet once *)
(* proves prop:rounds *)
Theorem rounds i j : i < c -> j < s ->
  exists t, [/\ t < R, meets t i j & forall t', t' < R -> meets t' i j
    -> t' = t].

(* prove that all pairs meet once *)
Proof.
move=> ic js; have R0 : 0 < R by rewrite /R; lia.
have iR : i < R by rewrite /R; lia.
have jR : j < R by rewrite /R; lia.
rewrite /meets ic js /=; exists ((j + (R - i)) %% R); rewrite ltn_pmod//;
  split=> //.
  apply/eqP; rewrite /partner modnDmr.
  have -> : i + (j + (R - i)) = j + R by lia.
  by rewrite modnDr modn_small.
move=> t tR /eqP E; rewrite /partner in E.
case: (ltnP (i + t) R) => h.
  rewrite modn_small// in E; have -> : j + (R - i) = R + t by lia.
  by rewrite modnDl modn_small.
have e : i + t = R + (i + t - R) by lia.
rewrite e modnDl modn_small in E; last by lia.
have -> : j + (R - i) = t by lia.
by rewrite modn_small.
Qed.

(* state that none meets twice in a round *)
(* proves prop:rounds *)
Theorem within_a_round t i j i' j' : meets t i j -> meets t i' j' ->
  (i = i') <-> (j = j').

(* prove that none meets twice in a round *)
Proof.
rewrite /meets => /and3P[ic _ /eqP ej] /and3P[ic' _ /eqP ej']; split=> [E|];
  first by rewrite -ej -ej' E.
rewrite -ej -ej' /partner => E.
have iR : i < R by rewrite /R; lia.
have iR' : i' < R by rewrite /R; lia.
have : i == i' %[mod R] by rewrite -(eqn_modDr t) E.
by rewrite !modn_small// => /eqP.
Qed.
End Rounds.
