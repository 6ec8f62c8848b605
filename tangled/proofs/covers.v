(* proofs/covers.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* masks and their answers, in Coq *)
Inductive cover := none | some | all.
(* rows i0, ..., i1 - 1, columns j0, ..., j1 - 1 *)
Record rectangle := Rectangle { i0 : nat; i1 : nat; j0 : nat;
  j1 : nat }.
Definition inside (x : rectangle) i j :=
  [&& i0 x <= i, i < i1 x, j0 x <= j & j < j1 x].
Record mask := Mask { allows : nat -> nat -> bool; covers : rectangle ->
  cover }.
Definition sound m := forall x,
  match covers m x with
  | none => forall i j, inside x i j -> ~~ allows m i j
  | all => forall i j, inside x i j -> allows m i j
  | some => True
  end.

(* masks made of masks, in Coq *)
Definition meet a b := Mask (fun i j => allows a i j && allows b i j)
  (fun x => match covers a x with
    | none => none
    | all => covers b x
    | some => if covers b x is none then none else some end).
Definition complement a := Mask (fun i j => ~~ allows a i j)
  (fun x => match covers a x with none => all | all => none | some =>
    some end).
Definition join a b := complement (meet (complement a) (complement b)).

(* parts of masks, in Coq *)
(* the rectangle of a mask that begins at (i, j), with indices from 0 *)
Definition cut i j a := Mask (fun i' j' => allows a (i + i') (j + j'))
  (fun x => covers a (Rectangle (i + i0 x) (i + i1 x) (j + j0 x)
    (j + j1 x))).
Definition transpose a := Mask (fun i j => allows a j i)
  (fun x => covers a (Rectangle (j0 x) (j1 x) (i0 x) (i1 x))).

(* state that covers compose *)
(* proves prop:covers, except that the masks other
   than windows are sound *)
Theorem covers_compose a b : sound a -> sound b ->
  [/\ sound (meet a b), sound (join a b), sound (complement a),
      forall i j, sound (cut i j a) & sound (transpose a)].

(* prove that covers compose *)
Proof.
have C m : sound m -> sound (complement m).
  move=> h x; have := h x; rewrite /=; case: (covers m x) => //= hx i j ij;
    rewrite ?negbK; exact: hx.
have I m n : sound m -> sound n -> sound (meet m n).
  move=> hm hn x; have := hn x; have := hm x; rewrite /=.
  case: (covers m x); case: (covers n x) => //= hx hy i j ij;
    by [rewrite negb_and (hx _ _ ij) | rewrite negb_and (hy _ _ ij) orbT
       | rewrite (hx _ _ ij) (hy _ _ ij)].
move=> ha hb; split=> [||||].
- exact: (I _ _ ha hb).
- exact: (C _ (I _ _ (C _ ha) (C _ hb))).
- exact: (C _ ha).
- move=> i j x;
  have := ha (Rectangle (i + i0 x) (i + i1 x) (j + j0 x) (j + j1 x));
  rewrite /=.
  by case: (covers a _) => // hx i' j' ij; apply: hx; rewrite /inside /=;
    move: ij; rewrite /inside; lia.
move=> x; have := ha (Rectangle (j0 x) (j1 x) (i0 x) (i1 x)); rewrite /=.
by case: (covers a _) => // hx i' j' ij; apply: hx; rewrite /inside /=;
  move: ij; rewrite /inside; lia.
Qed.

(* state what an intersection knows *)
(* proves prop:covers, except that the masks other
   than windows are sound *)
Theorem meet_knows a b x :
  (covers a x = none \/ covers b x = none -> covers (meet a b) x = none)
    /\
  (covers (meet a b) x = all <-> covers a x = all /\ covers b x = all).

(* prove what an intersection knows *)
Proof.
by rewrite /=; case: (covers a x); case: (covers b x); split=> //;
  try (by case); split=> // -[].
Qed.

(* a mask of windows, in Coq *)
(* A mask of this section: positions are integers, and a window allows
   offsets from lo to hi. Offsets of a rectangle lie between the limits
   that it finds. *)
Local Open Scope ring_scope.
Section Window.
Variables (q k : nat -> int) (lo hi : int).
Variables (least most : rectangle -> int).
Hypothesis range : forall x i j, inside x i j -> least x <= k j - q i
  <= most x.
Definition window := Mask (fun i j => lo <= k j - q i <= hi)
  (fun x => if (most x < lo) || (hi < least x) then none
            else if (lo <= least x) && (most x <= hi) then all
              else some).

(* state that windows are sound *)
(* proves prop:covers, except that the masks other
   than windows are sound *)
Theorem window_sound : sound window.

(* prove that windows are sound *)
Proof.
move=> x /=; case: ifP => [out i j /range|_]; first by move: out; lia.
by case: ifP => // in_ i j /range; move: in_; lia.
Qed.
End Window.
