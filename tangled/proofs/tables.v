(* proofs/tables.v: tangled from chapters/92-proving-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import ZArith.
From attn Require shards groups windows covers causal volume schedule
  going_back.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

(* rows of numbers, in Coq *)
Definition of_nat (s : seq nat) := [seq Z.of_nat i | i <- s].
Definition of_int (x : int) := match x with
  Posz n => Z.of_nat n | Negz n => (- Z.of_nat n.+1)%Z end.
Definition from (a : int) n : seq int :=
  [seq (a + i%:Z)%R | i <- iota 0 n].
Definition over A B (s : seq A) (f : A -> seq B) :=
  flatten [seq f x | x <- s].

(* compute owners and rows, in Coq *)
Definition local (owner : nat -> nat) i :=
  count (fun j => owner j == owner i) (iota 0 i).
Definition places kind p m a owner := of_nat ([:: kind; p; m; a] ++
  flatten [seq [:: groups.joined a owner i; local owner i]
          | i <- iota 0 (p * m)]).
(* table owners *)
Definition owners_table :=
  over (iota 1 6) (fun p => over (iota 1 6) (fun m =>
    over [seq a <- iota 1 p | a %| p] (fun a =>
      [:: places 0 p m a (shards.contiguous m);
          places 1 p m a (shards.striped p);
          places 2 p m.*2 a (shards.zigzag p m.*2)]))).

(* count pairs of ranks, in Coq *)
Definition count_pairs (owner : nat -> nat) n r s :=
  sumn [seq count (fun j => (owner j == s) && (j <= i)) (iota 0 n)
       | i <- iota 0 n & owner i == r].
Lemma pairsE owner n r s :
  shards.pairs owner n r s = count_pairs owner n r s.
Proof.
have E (P : pred nat) (F : nat -> nat) :
    \sum_(i < n | P i) F i = \sum_(i <- iota 0 n | P i) F i.
  by rewrite -(big_mkord P F) /index_iota subn0.
rewrite /shards.pairs /count_pairs sumnE big_map big_filter.
rewrite (E (fun i => owner i == r)
  (fun i => \sum_(j < n | owner j == s) (j <= i))).
apply: eq_bigr => i _.
rewrite (E (fun j => owner j == s) (fun j => j <= i)).
rewrite -sum1_count big_mkcondr; by apply: eq_bigr => j _; case: (j <= i).
Qed.
Definition meetings kind p m owner := of_nat ([:: kind; p; m] ++
  flatten [seq [seq count_pairs owner (p * m) r s | s <- iota 0 p]
          | r <- iota 0 p]).
(* table pairs *)
Definition pairs_table :=
  over (iota 1 4) (fun p => over (iota 1 4) (fun m =>
    [:: meetings 0 p m (shards.contiguous m);
        meetings 1 p m (shards.striped p);
        meetings 2 p m.*2 (shards.zigzag p m.*2)])).

(* compute quotients and windows, in Coq *)
(* table quotients *)
Definition quotients_table := [seq [:: of_int t; of_int x;
    of_int (windows.floor_div t x); of_int (windows.ceil_div t x)]
  | t <- from 1 9, x <- from (-30) 61].
Definition seen (t q0 k0 o L R : int) :=
  [:: of_int t; of_int q0; of_int k0; of_int o; of_int L; of_int R] ++
  [seq if windows.sees t q0 k0 o L R i j then 1%Z else 0%Z
  | i <- from 0 3, j <- from 0 4].
(* table windows *)
Definition windows_table :=
  over (from 1 4) (fun t => over (from 0 3) (fun q0 =>
    over (from 0 3) (fun k0 => over (from (-3) 6) (fun o =>
      [seq seen t q0 k0 o L R | L <- from 0 4, R <- from 0 3])))).

(* compute answers of masks, in Coq *)
Definition answer c := match c with
  covers.none => 0%Z | covers.some => 1%Z | covers.all => 2%Z end.
(* a window on runs: query i at i + o, key j at j *)
Definition run_window (o left right : int) := covers.window
  (fun i => (i%:Z + o)%R) Posz (- left)%R right
  (fun x => ((covers.j0 x)%:Z - ((covers.i1 x)%:Z - 1 + o))%R)
  (fun x => ((covers.j1 x)%:Z - 1 - ((covers.i0 x)%:Z + o))%R).
Definition answers (o left right : int) i0 i1 j0 j1 :=
  let m := run_window o left right in
  [:: of_int o; of_int left; of_int right] ++
  of_nat [:: i0; i1; j0; j1] ++
  [:: answer (covers.covers m (covers.Rectangle i0 i1 j0 j1));
      Z.of_nat (covers.allows m i0 j0)].
(* table masks *)
Definition masks_table :=
  over (from (-3) 7) (fun o => over (from 0 3) (fun left =>
    over (from 0 3) (fun right => over (iota 0 3) (fun i0 =>
      over (iota 0 3) (fun j0 =>
        [seq answers o left right i0 (i0 + h) j0 (j0 + w)
        | h <- iota 1 3, w <- iota 1 3]))))).

(* compute answers of masks made of masks, in Coq *)
(* table algebra *)
Definition algebra_table :=
  let always c := covers.Mask (fun _ _ => true) (fun=> c) in
  let x := covers.Rectangle 0 1 0 1 in
  let each := [:: covers.none; covers.some; covers.all] in
  [seq [:: answer a; answer b;
      answer (covers.covers (covers.meet (always a) (always b)) x);
      answer (covers.covers (covers.join (always a) (always b)) x);
      answer (covers.covers (covers.complement (always a)) x)]
  | a <- each, b <- each].
(* table causal *)
Definition causal_table := [seq of_nat ([:: nq; nk] ++
    [seq causal.causal nq nk i j : nat | i <- iota 0 nq, j <- iota 0 nk])
  | nq <- iota 0 7, nk <- iota 0 7].

(* compute buckets, in Coq *)
Local Open Scope Z_scope.
Definition reached E m far n :=
  Z.of_nat (count (fun k => let k := Z.of_nat k in
    E ^ m * far ^ k <=? n ^ m * E ^ k) (iota 0 (Z.to_nat m))).
Definition bucket (both : bool) classes far t :=
  let classes := if both then classes / 2 else classes in
  let E := classes / 2 in
  let n := if both then Z.abs t else Z.max (- t) 0 in
  (if n <? E then n else E - 1 + reached E (classes - E) far n) +
  (if both && (0 <? t) then classes else 0).
(* table buckets *)
Definition buckets_table := [seq
  let: (both, classes, far) := x in
  [:: Z.of_nat both; classes; far; -200] ++
  [seq bucket (both == 1%nat) classes far (of_int t)
  | t <- from (-200)%R 401]
  | x <- [:: (1%nat, 32, 128); (0%nat, 32, 128); (1%nat, 4, 2); (0%nat, 2, 2);
             (0%nat, 7, 100); (1%nat, 10, 33); (0%nat, 16, 17);
             (1%nat, 64, 256); (0%nat, 8, 64)]].
Local Close Scope Z_scope.

(* compute tiles, in Coq *)
Definition meets (o : int) (left right : option int) (i j : nat) :=
  let t := (j%:Z - (i%:Z + o))%R in
  (if left is Some l then (- l <= t)%R else true) &&
  (if right is Some r then (t <= r)%R else true).
Definition tile nq nk block wide o left right b g :=
  let group := [seq i <- iota (g * wide) wide | i < nq] in
  let keys := [seq j <- iota (b * block) block | (j < nk) &&
                 has (fun i => meets o left right i j) group] in
  if keys is j :: _ then [:: g; j; last j keys - j + 1] else [::].
Definition tiles nq nk block wide o left right :=
  over (iota 0 (nk %/ block).+1) (fun b =>
    over (iota 0 (nq %/ wide).+1) (fun g =>
      tile nq nk block wide o left right b g)).
Definition visits nq nk block wide o left right :=
  let reach x := if x is Some r then of_int r else (-1)%Z in
  let list := tiles nq nk block wide o left right in
  of_nat [:: nq; nk; block; wide] ++
  [:: of_int o; reach left; reach right] ++
  of_nat (size list :: list).
Definition reaches n := [:: None; Some (Posz 0); Some (Posz n)].
(* table tiles *)
Definition tiles_table :=
  over [:: 1; 5; 8] (fun nq => over [:: 1; 6; 11] (fun nk =>
    over (reaches 2) (fun left => over (reaches 1) (fun right =>
      over [:: 1; 3; 4] (fun block =>
        [seq visits nq nk block wide o left right
        | wide <- [:: 2; 4], o <- from (-4) 10]))))).

(* compute partners and times of rings, in Coq *)
(* table partners *)
Definition partners_table :=
  over (iota 1 6) (fun c => over (iota 1 6) (fun s =>
    [seq of_nat [:: c; s; t] ++
      [seq let j := volume.partner c s t i in
        if j < s then Z.of_nat j else (-1)%Z | i <- iota 0 c]
    | t <- iota 0 (maxn c s)])).
Definition work a r t : rat := ((a + 3 * r + 5 * t) %% 4)%:R.
Definition total p tau a : rat := foldr Num.max 0%R
  [seq schedule.done p tau (work a) t r | t <- iota 0 p, r <- iota 0 p].
(* table rings *)
Definition rings_table :=
  over (iota 2 4) (fun p => over (iota 0 5) (fun tau =>
    [seq of_nat [:: p; tau; a] ++
      [:: of_int (numq (total p tau%:R a));
          of_int (numq (going_back.home p tau%:R a%:R 0))]
    | a <- iota 0 4])).
