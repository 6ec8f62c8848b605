(* proofs/going_back.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From attn Require Import schedule.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* going back, in Coq *)
Section Back.
Variables (R : realFieldType) (p : nat) (tau c : R).
Implicit Types first last : nat -> R.
(* first r: when rank r starts step t; last r: when its sums of t - 1
   are gone *)
Definition keys_gone t first last r := if (t.+1 < p)%N
  then Num.max (Num.max (first r) (first (right p r))) (last r) + tau
  else first r.
Definition ready t first last r :=
  if t is _.+1 then Num.max (first r + c)
    (Num.max (last r) (last (left p r)))
  else first r + c.
Definition sums_gone t first last r :=
  Num.max (Num.max (ready t first last r) (ready t first last (right p r)))
    (keys_gone t first last r) + tau.

(* steps going back, in Coq *)
Fixpoint back t : (nat -> R) * (nat -> R) :=
  if t is t'.+1 then
    let: (first, last) := back t' in
    (fun r => Num.max (ready t' first last r)
       (Num.max (keys_gone t' first last r)
         (keys_gone t' first last (left p r))),
     sums_gone t' first last)
  else (fun=> 0, fun=> 0).
(* The sums of the last step have come home. *)
Definition home r := sums_gone p.-1 (back p.-1).1 (back p.-1).2 r.

(* steps going back are uniform *)
Lemma back1 r : 0 <= tau <= c -> (1 < p)%N -> (back 1).1 r = c /\ (back 1).2 r
  = c + tau.
Proof.
move=> /andP[t0 tc] p1; rewrite /= /sums_gone /ready /keys_gone p1 !maxxx
  !add0r.
by rewrite max_l.
Qed.
Lemma backS t x : (t.+2 < p)%N -> 0 <= tau <= c ->
  (forall r, (back t.+1).1 r = x /\ (back t.+1).2 r = x + tau) -> forall r,
  (back t.+2).1 r = x + Num.max c (2%:R * tau) /\
  (back t.+2).2 r = x + Num.max c (2%:R * tau) + tau.
Proof.
move=> tp /andP[t0 tc] h r; rewrite [back t.+2]/= -/(back t.+1).
case E : (back t.+1) h => [a b] /= h.
rewrite /sums_gone /ready /keys_gone tp !(h _).1 !(h _).2 !maxxx.
have -> : Num.max x (x + tau) = x + tau by rewrite max_r// ler_addl.
have -> : Num.max (x + c) (x + tau) = x + c by rewrite max_l// ler_add2l.
have -> : x + tau + tau = x + 2%:R * tau by ring.
by rewrite -addr_maxr.
Qed.

(* state how long going back takes *)
(* proves prop:overlap-back *)
Theorem ring_back r : (1 < p)%N -> 0 <= tau <= c ->
  home r = if 2%:R * tau <= c then p%:R * c + tau
           else 2%:R * c + (2 * p - 3)%:R * tau.

(* prove how long going back takes *)
Proof.
move=> p1 tc; have [t0 tc'] := andP tc.
have S t : (t.+1 < p)%N -> forall r,
    (back t.+1).1 r = c + t%:R * Num.max c (2%:R * tau) /\
    (back t.+1).2 r = c + t%:R * Num.max c (2%:R * tau) + tau.
  elim: t => [|t IH] tp r'; first by rewrite mul0r addr0; exact: back1.
  have := backS tp tc (IH (ltnW tp)) r'.
  by rewrite [t.+1%:R]mulrSr mulrDl mul1r addrA.
have [q pE] : exists q, p = q.+2 by exists p.-2; lia.
have qp : (q.+1 < p)%N by rewrite pE.
have h := S q qp; rewrite /home (_ : p.-1 = q.+1); last by rewrite pE.
rewrite /sums_gone /ready /keys_gone (_ : q.+2 < p = false)%N;
  last by rewrite pE ltnn.
rewrite !(h _).1 !(h _).2 !maxxx.
set x := c + _; have -> : Num.max (x + c) (x + tau) = x
  + c by rewrite max_l// ler_add2l.
rewrite max_l ?ler_addl ?(le_trans t0)// /x; case: ifP => h2.
  by rewrite max_l// pE [q.+2%:R]mulrSr [q.+1%:R]mulrSr; ring.
have -> : Num.max c (2%:R * tau) = 2%:R * tau.
  by rewrite max_r// ltW// ltNge h2.
have -> : (2 * p - 3)%N = (2 * q).+1 by lia.
by rewrite [(2 * q).+1%:R]mulrSr natrM; ring.
Qed.

(* state how long the second lap takes *)
Fixpoint lap n r := if n is n'.+1
  then Num.max (lap n' r) (Num.max (lap n' (left p r)) (lap n' (right p r)))
    + tau else home r.

(* proves prop:overlap-back *)
Theorem second_lap r : (1 < p)%N -> 0 <= tau <= c ->
  lap p r = home r + p%:R * tau.

(* prove how long the second lap takes *)
Proof.
move=> p1 tc; have same q : home q = home r by rewrite !ring_back.
have E n : forall q, lap n q = home r + n%:R * tau.
  elim: n => [|n IH] q; first by rewrite mul0r addr0 /= same.
  by rewrite /= !IH !maxxx mulrSr mulrDl mul1r addrA.
exact: E.
Qed.
End Back.
