(* proofs/windows.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* windows between pieces, in Coq *)
Section Pieces.
Variables (t : int) (q0 k0 o L R : int).
Hypothesis t0 : 0 < t.
Definition floor_div (x : int) := (x %/ t)%Z.
Definition ceil_div (x : int) := - floor_div (- x).
(* query i at q0 + t i sees key j at k0 + t j *)
Definition sees (i j : int) := q0 + t * i + o - L <= k0 + t * j <= q0
  + t * i + o + R.

(* floors and ceilings *)
Lemma le_floor (y x : int) : (y <= floor_div x) = (t * y <= x).
Proof.
rewrite /floor_div; have tn : t != 0 by lia.
have e := divz_eq x t; have m0 := modz_ge0 x tn; have m1 := ltz_pmod x t0.
by apply/idP/idP => h; nia.
Qed.
Lemma ceil_le (y x : int) : (ceil_div x <= y) = (x <= t * y).
Proof.
rewrite /ceil_div; have := le_floor (- y) (- x).
by rewrite mulrN => h; apply/idP/idP => h'; lia.
Qed.

(* state which keys a piece sees *)
(* proves prop:windows *)
Theorem windows_between_pieces i j (x := q0 + o - k0) :
  sees i j = (i + ceil_div (x - L) <= j <= i + floor_div (x + R)).

(* prove which keys a piece sees *)
Proof.
have a : (i + ceil_div (x - L) <= j) = (x - L <= t * (j - i)).
  by rewrite -ceil_le; apply/idP/idP; lia.
have b : (j <= i + floor_div (x + R)) = (t * (j - i) <= x + R).
  by rewrite -le_floor; apply/idP/idP; lia.
rewrite a b /sees /x mulrBr; apply/idP/idP; lia.
Qed.

(* state that pieces see windows *)
(* proves prop:windows *)
Theorem it_is_a_window : (forall i j, sees i j = false) \/
  exists o' R', 0 <= R' /\ forall i j, sees i j
    = (i + o' <= j <= i + o' + R').

(* prove that pieces see windows *)
Proof.
set lo := ceil_div (q0 + o - k0 - L); set hi := floor_div (q0 + o - k0 + R).
case: (lerP lo hi) => h; [right; exists lo, (hi - lo)|left] => [|i j].
  by split=> [|i j]; [lia | rewrite windows_between_pieces -/lo -/hi;
    apply/idP/idP; lia].
by rewrite windows_between_pieces -/lo -/hi; apply/negbTE/negP; lia.
Qed.
End Pieces.

(* state what runs see *)
(* proves prop:windows *)
Theorem windows_between_runs (q0 k0 o L R i j : int)
  (x := q0 + o - k0) :
  sees 1 q0 k0 o L R i j = (i + x - L <= j <= i + x + R).

(* prove what runs see *)
Proof.
by rewrite /sees /x !mul1r; apply/idP/idP; lia.
Qed.
