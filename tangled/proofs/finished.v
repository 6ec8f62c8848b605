(* proofs/finished.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From attn Require Import prelude online fisher recompute.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* what a state stands for, in Coq *)
Section Finished.
Variables (R : realType) (d : nat).
Implicit Types x y : triple R d.
(* What a state stands for, e^m (l, o). *)
Definition expo (m : score R) : R := if m is Some a then expR a else 0.
Definition stands_for x := let: (m, l, o) :=
  x in (expo m * l, expo m *: o).
(* The row: its output and its log-sum-exp, for l > 0. *)
Definition output x : 'rV[R]_d := let: (m, l, o) := x in l^-1 *: o.
Definition logsumexp (m l : R) : R := m + ln l.
(* (L, 1, O) of the state (m, l, o) *)
Definition finished (m l : R) (o : 'rV[R]_d) : triple R d :=
  (Some (logsumexp m l), 1, l^-1 *: o).

(* a merger adds what states stand for *)
Lemma expo_decay (a b : score R) : max_score a b = b ->
  expo b * decay a b = expo a.
Proof.
case: a b => [a|] [b|] //= _; rewrite /decay ?mulr0 ?mul0r//.
by rewrite -expRD addrC subrK.
Qed.
(* A merger adds what states stand for. *)
Lemma stands_for_merge x y : stands_for (merge x y) =
  ((stands_for x).1 + (stands_for y).1, (stands_for x).2 + (stands_for y).2).
Proof.
case: x y => [[m l] o] [[m' l'] o'] /=.
have h := expo_decay (online.le_maxl m m');
  have h' := expo_decay (online.le_maxr m m').
by rewrite mulrDr scalerDr !mulrA !scalerA h h'.
Qed.
(* The row depends on what the state stands for only. *)
Lemma output_stands_for m l (o : 'rV[R]_d) :
  output (Some m, l, o) = ((stands_for (Some m, l, o)).1)^-1 *:
    (stands_for (Some m, l, o)).2.
Proof.
by rewrite /= scalerA invfM mulrAC mulVf ?mul1r// gt_eqF// expR_gt0.
Qed.
Lemma logsumexp_stands_for m l (o : 'rV[R]_d) : 0 < l ->
  logsumexp m l = ln (stands_for (Some m, l, o)).1.
Proof. by move=> l0; rewrite /= lnM ?posrE ?expR_gt0// expK. Qed.

(* state that finished rows are states *)
(* proves prop:finished-state *)
Theorem finished_rows_are_states m l (o : 'rV[R]_d) : 0 < l ->
  let x := (Some m, l, o) in let f := finished m l o in
  [/\ stands_for f = stands_for x, output f = output x,
      logsumexp (logsumexp m l) 1 = logsumexp m l
    & forall y, stands_for (merge f y) = stands_for (merge x y) /\
                output (merge f y) = output (merge x y)].

(* prove that finished rows are states *)
Proof.
move=> l0 x f; have E : stands_for f = stands_for x.
  rewrite /= /logsumexp expRD lnK ?posrE// mulr1 scalerA mulfK//.
  by rewrite gt_eqF.
split=> //; first by rewrite /= invr1 scale1r.
  by rewrite /logsumexp ln1 addr0.
move=> y; have Ey : stands_for (merge f y) = stands_for (merge x y).
  by rewrite !stands_for_merge E.
split=> //; have some a u v : exists b p q, merge (Some a, u, v) y
  = (Some b, p, q).
  by case: y {Ey} => [[[b|] p] q] /=; do 3!eexists.
have [b [p [q E1]]] := some (logsumexp m l) 1 (l^-1 *: o).
have [b' [p' [q' E2]]] := some m l o.
move: Ey; rewrite /f /finished /x E1 E2 => Ey.
by rewrite !output_stands_for Ey.
Qed.
End Finished.

(* a row of several blocks, in Coq *)
Section SecondLap.
Variables (R : comRingType) (K C : finType) (a : K -> R)
  (V : K -> C -> R).
Variables (O_bar : C -> R) (L_bar : R) (blocks : finType)
  (block : K -> blocks) (top : K).
Hypothesis a1 : \sum_j a j = 1.   (* a sink is a key with V = 0 *)
Definition S_bar j := a j * (A_bar V O_bar j - D a V O_bar + L_bar).

(* state what the second lap knows *)
(* proves prop:second-lap *)
Theorem second_lap :
  S_bar top = L_bar - \sum_b \sum_(j | (block j == b) && (j != top))
    S_bar j.

(* prove what the second lap knows *)
Proof.
have E : \sum_b \sum_(j | (block j == b) && (j != top)) S_bar j
  = \sum_(j | j != top) S_bar j.
  rewrite [RHS](partition_big block xpredT)//=; apply: eq_bigr => b _.
  by apply: eq_bigl => j; rewrite andbC.
have c : \sum_j S_bar j = L_bar by exact: conservation.
by rewrite E -c (bigD1 top)//= addrK.
Qed.

(* state what the second lap adds *)
(* proves prop:second-lap *)
Theorem finish (n : finType) (Q : n -> C -> R) (S : n -> K -> R)
  (dominant : n -> K) c j :
  \sum_(i | dominant i != j) S i j * Q i c + \sum_(i | dominant i == j)
    S i (dominant i) * Q i c =
  \sum_i S i j * Q i c.

(* prove what the second lap adds *)
Proof.
rewrite addrC [RHS](bigID (fun i => dominant i == j)) /=; congr (_ + _).
by apply: eq_bigr => i /eqP->.
Qed.
End SecondLap.
