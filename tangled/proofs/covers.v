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
(* proves prop:covers *)
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
(* proves prop:covers *)
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
(* proves prop:covers *)
Theorem window_sound : sound window.

(* prove that windows are sound *)
Proof.
move=> x /=; case: ifP => [out i j /range|_]; first by move: out; lia.
by case: ifP => // in_ i j /range; move: in_; lia.
Qed.

(* a mask of strides, in Coq *)
Definition next (stride : int) t :=
  if (t %% stride)%Z == 0 then t else t + stride - (t %% stride)%Z.
Definition strided (stride : int) :=
  Mask (fun i j => (stride %| k j - q i)%Z)
    (fun x => if most x < next stride (least x) then none
      else if (stride == 1) || (least x == most x) then all else some).

(* state that strides are sound *)
(* proves prop:covers *)
Theorem strided_sound stride : 0 < stride -> sound (strided stride).

(* prove that strides are sound *)
Proof.
move=> s0 x /=; set l := least x; have lE := divz_eq l stride.
have r0 : 0 <= (l %% stride)%Z by rewrite modz_ge0// gt_eqF.
have rs : (l %% stride)%Z < stride by rewrite ltz_pmod.
case: ifP => [beyond i j /range/andP[o1 o2]|/negbT].
  apply/negP => /dvdzP[m E]; move: beyond; rewrite /next.
  case: eqP => [_|rn]; first by rewrite -/l in o1; lia.
  have dm : (l %/ stride)%Z < m.
    by rewrite -(ltr_pmul2r s0); rewrite -/l in o1; lia.
  have : ((l %/ stride)%Z + 1) * stride <= m * stride.
    by rewrite ler_pmul2r//; lia.
  by rewrite mulrDl mul1r; lia.
rewrite -leNgt => le; case: ifP => // /orP[/eqP-> i j _|/eqP lm i j /range].
  exact: dvd1z.
rewrite -/l -lm -/l => /andP[o1 o2]; have -> : k j - q i = l by lia.
apply/dvdz_mod0P; move: le; rewrite -lm -/l /next; case: eqP => // _; lia.
Qed.

(* masks of labels and of global positions, in Coq *)
Variables (qr kr : nat -> nat -> int * int).
Hypotheses (q_range : forall a b i, (a <= i < b)%N ->
    (qr a b).1 <= q i <= (qr a b).2)
  (k_range : forall a b j, (a <= j < b)%N ->
    (kr a b).1 <= k j <= (kr a b).2).
Definition segments := Mask (fun i j => q i == k j)
  (fun x => let q0 := qr (i0 x) (i1 x) in let k0 := kr (j0 x) (j1 x) in
    if (q0.2 < k0.1) || (k0.2 < q0.1) then none
    else if (q0.1 == q0.2) && (k0.1 == k0.2) then all else some).
Definition in_front (tokens p : int) := 0 <= p < tokens.
Definition among (r : int * int) (tokens : int) :=
  if [|| tokens == 0, r.2 < 0 | tokens <= r.1] then none
  else if (0 <= r.1) && (r.2 < tokens) then all else some.
Definition larger a b := match a, b with
  | all, _ | _, all => all | none, none => none | _, _ => some end.
Definition global_tokens tokens :=
  Mask (fun i j => in_front tokens (k j) || in_front tokens (q i))
    (fun x => larger (among (qr (i0 x) (i1 x)) tokens)
      (among (kr (j0 x) (j1 x)) tokens)).

(* state that labels and global positions are sound *)
(* proves prop:covers *)
Theorem labels_and_tokens_sound :
  sound segments /\ forall tokens, sound (global_tokens tokens).

(* prove that labels and global positions are sound *)
Proof.
have in_ x i j : inside x i j ->
    (qr (i0 x) (i1 x)).1 <= q i <= (qr (i0 x) (i1 x)).2 /\
    (kr (j0 x) (j1 x)).1 <= k j <= (kr (j0 x) (j1 x)).2.
  by move=> /and4P[a b c e]; split; [apply: q_range | apply: k_range];
    rewrite ?a ?b ?c ?e.
have front (r : int * int) (t p : int) : r.1 <= p <= r.2 ->
    match among r t return Prop with
    none => ~~ in_front t p | all => in_front t p | some => True end.
  rewrite /among /in_front; case: ifP => [h|_] /=; first by move: h; lia.
  by case: ifP => // h /=; move: h; lia.
split=> [x|t x] /=.
  case: ifP => [out i j /in_[]|near]; first by move: out; lia.
  by case: ifP => // eqs i j /in_[]; move: near eqs; lia.
case A : (among (qr _ _) t); case B : (among (kr _ _) t) => //= i j /in_[hq hk];
  have := front _ t _ hq; have := front _ t _ hk; rewrite A B.
- by move=> /negbTE-> /negbTE->.
- by move=> ->.
- by move=> ->.
- by move=> _ ->; rewrite orbT.
- by move=> _ ->; rewrite orbT.
by move=> ->.
Qed.
End Window.

(* masks without positions, in Coq *)
Definition everything := Mask (fun _ _ => true) (fun=> all).
Definition where_ p := Mask p (fun=> some).
Definition padding ql kl := Mask (fun i j => (i < ql) && (j < kl))%N
  (fun x => if (ql <= i0 x) || (kl <= j0 x) then none
    else if (i1 x <= ql) && (j1 x <= kl) then all else some)%N.
Section Tiles.
Variables (tile : nat) (table : nat -> nat -> bool).
Definition touched x := [seq table a b
    | a <- index_iota (i0 x %/ tile) ((i1 x - 1) %/ tile).+1,
      b <- index_iota (j0 x %/ tile) ((j1 x - 1) %/ tile).+1]%N.
Definition tiles := Mask (fun i j => table (i %/ tile) (j %/ tile))%N
  (fun x => if seq.all id (touched x) then all
    else if has id (touched x) then some else none).

(* state that masks without positions are sound *)
(* proves prop:covers *)
Theorem without_positions_sound : [/\ sound everything,
  forall p, sound (where_ p), forall ql kl, sound (padding ql kl)
  & sound tiles].

(* prove that masks without positions are sound *)
Proof.
split=> // [ql kl x|x] /=.
  case: ifP => [out i j|_]; first by rewrite /inside; lia.
  by case: ifP => // h i j; rewrite /inside; lia.
have in_ i j : inside x i j ->
    table (i %/ tile)%N (j %/ tile)%N \in touched x.
  move=> /and4P[a b c e]; apply/allpairsP; exists (i %/ tile, j %/ tile)%N.
  rewrite !mem_index_iota !ltnS !leq_div2r//= -ltnS; lia.
case: ifP => [/allP h i j /in_/h//|_]; case: ifP => // /negbT/hasPn h i j /in_.
exact: h.
Qed.
End Tiles.
