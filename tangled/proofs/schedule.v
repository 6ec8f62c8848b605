(* proofs/schedule.v: tangled from chapters/10-ring-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* when a rank starts, in Coq *)
(* The ranks on the left and right of rank r, of p in a ring. *)
Definition left p r := if r is r'.+1 then r' else p.-1.
Definition right p r := if (r.+1 < p)%N then r.+1 else 0%N.
Section Forward.
Variables (R : realFieldType) (p : nat) (tau : R)
  (work : nat -> nat -> R).
(* When rank r starts step t: its tile of step t - 1 is done, the rank on
   the right has its block, and the block of the rank on the left has come. *)
Fixpoint start t r : R :=
  if t is t'.+1 then
    Num.max (start t' r + work r t') (Num.max (start t' r)
      (Num.max (start t' (left p r)) (start t' (right p r))) + tau)
  else 0.
Definition done t r := start t r + work r t.

(* how long a ring takes, in Coq *)
(* The last of all tiles is done at T. *)
Definition ring_takes T :=
  (forall t r, (t < p)%N -> (r < p)%N -> done t r <= T) /\
  exists t r, [/\ (t < p)%N, (r < p)%N & done t r = T].

(* a ring takes one time *)
Lemma ring_takes_once T T' : ring_takes T -> ring_takes T' -> T = T'.
Proof.
move=> [h [t [r [tp rp E]]]] [h' [t' [r' [tp' rp' E']]]].
by apply/eqP; rewrite eq_le -{1}E -{2}E' h// h'.
Qed.
End Forward.

(* rings of equal ranks *)
Section Uniform.
Variables (R : realFieldType) (tau : R) (work : nat -> nat -> R).
(* First tiles may take longer than the others, c0. *)
Lemma start_uniform p c0 c :
  (forall r t, work r t = if t is 0%N then c0 else c) ->
  forall t r, start p tau work t.+1 r = Num.max c0 tau + t%:R * Num.max c tau.
Proof.
move=> w; elim=> [|t IH] r; first by rewrite /= w !maxxx !add0r mul0r addr0.
rewrite [LHS]/= -!/(start p tau work t.+1 _) !IH w !maxxx -addr_maxr.
by rewrite -addrA; congr (_ + _); rewrite mulrSr mulrDl mul1r.
Qed.
Lemma takes_first p c0 c : (0 < p)%N -> 0 <= c -> c <= c0 -> 0 <= tau ->
  (forall r t, work r t = if t is 0%N then c0 else c) ->
  ring_takes p tau work (if p is q.+2 then Num.max c0 tau + q%:R * Num.max c
    tau + c else c0).
Proof.
move=> p0 c_ge cc t_ge w; have m0 : 0 <= Num.max c tau
  by rewrite le_maxr c_ge.
have S := start_uniform p w.
case: p p0 S => // -[|q] _ S.
  split.
    by move=> t r; rewrite ltnS leqn0 => /eqP-> _; rewrite /done /= w add0r.
  by exists 0%N, 0%N; rewrite /done /= w add0r.
split=> [[|t] r tp _|]; last by exists q.+1, 0%N; rewrite /done S w.
  rewrite /done /= w add0r; apply: ler_paddr => //; apply: ler_paddr.
    by rewrite mulr_ge0 ?ler0n.
  by rewrite le_maxr lexx.
by rewrite /done S w ler_add2r ler_add2l ler_wpmul2r// ler_nat -ltnS.
Qed.

(* state how long a uniform ring takes *)
(* proves thm:overlap *)
Theorem uniform_ring p c : (0 < p)%N -> 0 <= c -> 0 <= tau ->
  (forall r t, work r t = c) -> ring_takes p tau work
    (c + p.-1%:R * Num.max c tau).

(* prove how long a uniform ring takes *)
Proof.
move=> p0 c0 t0 w; have := @takes_first p c c p0 c0 (lexx c) t0.
case: p p0 => // -[|q] _ h; first by rewrite mul0r addr0; apply: h => r [|t];
  rewrite w.
have -> : c + q.+1%:R * Num.max c tau = Num.max c tau + q%:R * Num.max c
  tau + c.
  by rewrite mulrSr; ring.
by apply: h => r [|t]; rewrite w.
Qed.

(* state when sending is hidden *)
(* proves thm:overlap *)
Theorem hidden p c0 c : (2 < p)%N -> 0 <= c -> c <= c0 -> 0 <= tau ->
  (forall r t, work r t = if t is 0%N then c0 else c) ->
  ring_takes p tau work (c0 + p.-1%:R * c) <-> tau <= c.

(* prove when sending is hidden *)
Proof.
move=> p2 c_ge cc t_ge w; have := takes_first (ltn_trans (isT : 0 < 2)%N p2)
  c_ge cc t_ge w.
case: p p2 => // -[|[|q]] // _ h.
have E : c0 + q.+2%:R * c = c0 + q.+1%:R * c + c by rewrite [q.+2%:R]mulrSr;
  ring.
split=> [/(ring_takes_once h) T|tc]; last first.
  by move: h; rewrite (max_l tc) (max_l (le_trans tc cc)) E.
have q0 : 0 < q.+1%:R :> R by rewrite ltr0n.
rewrite leNgt; apply/negP => ct; move/eqP: T; rewrite E gt_eqF//.
rewrite ltr_add2r; apply: ler_lt_add; first by rewrite le_maxr lexx.
by rewrite ltr_pmul2l// lt_maxr ct orbT.
Qed.

(* two ranks hide one message *)
(* With two ranks only the home tile hides a message, which is larger: then m
   + 1 takes the place of m in what follows. *)
Theorem hidden_two c0 c : 0 <= c -> c <= c0 -> 0 <= tau ->
  (forall r t, work r t = if t is 0%N then c0 else c) ->
  ring_takes 2 tau work (c0 + c) <-> tau <= c0.
Proof.
move=> c_ge cc t_ge w; have := @takes_first 2 c0 c isT c_ge cc t_ge w.
rewrite mul0r addr0 => h; split=> [/(ring_takes_once h)/addIr <-|tc].
  by rewrite le_maxr lexx orbT.
by move: h; rewrite (max_l tc).
Qed.
End Uniform.

(* messages and tiles, in Coq *)
Section Machine.
Variables (R : realFieldType) (F B s H Hk d m : R).
Hypotheses (F0 : 0 < F) (B0 : 0 < B) (H0 : 0 < H) (d0 : 0 < d)
  (m0 : 0 < m).
Definition message := s * (m * Hk * d) / B.
Definition tile pairs := 2%:R * H * d * pairs / F.

(* state that long shards hide messages *)
(* proves thm:overlap *)
Theorem long_shards_hide_messages :
  (message <= tile (m ^+ 2 / 2%:R) <-> s * F * Hk / (B * H) <= m) /\
  (message <= tile (m ^+ 2) <-> (s * F * Hk / (B * H)) / 2%:R <= m).

(* prove that long shards hide messages *)
Proof.
have k0 : 0 < H * d * m / F by rewrite !mulr_gt0 ?invr_gt0.
have n0 := (gt_eqF F0, gt_eqF B0, gt_eqF H0).
have E1 : tile (m ^+ 2 / 2%:R) - message = H * d * m / F *
  (m - s * F * Hk / (B * H)).
  by rewrite /message /tile; field; rewrite !n0.
have E2 : tile (m ^+ 2) - message =
    2%:R * (H * d * m / F) * (m - s * F * Hk / (B * H) / 2%:R).
  by rewrite /message /tile; field; rewrite !n0.
have k2 : 0 < 2%:R * (H * d * m / F) by rewrite mulr_gt0 ?ltr0n.
by split; rewrite -subr_ge0 ?E1 ?E2 pmulr_rge0// subr_ge0.
Qed.
End Machine.

(* contiguous work, in Coq *)
Section Contiguous.
Variables (R : realFieldType) (p : nat) (tau c : R).
Hypotheses (p0 : (0 < p)%N) (tau0 : 0 <= tau) (tauc : tau <= c / 2%:R).
Definition contiguous r t :=
  if t == 0%N then c / 2%:R else if (t <= r)%N then c else 0.

(* when contiguous ranks start *)
Let c2 : 0 <= c / 2%:R. Proof. exact: le_trans tau0 tauc. Qed.
Let c0 : 0 <= c. Proof. by have := c2; rewrite pmulr_lge0 ?invr_gt0 ?ltr0n.
Qed.
Let half : c / 2%:R <= c.
Proof. by rewrite ler_pdivr_mulr ?ltr0n// ler_pemulr ?ler1n. Qed.
Local Notation start := (start p tau contiguous).
Lemma start_le t r : start t.+1 r <= t%:R * c + c / 2%:R.
Proof.
elim: t r => [|t IH] r; first by rewrite /= /contiguous mul0r !maxxx !add0r
  le_maxl lexx.
have -> : start t.+2 r = Num.max (start t.+1 r + contiguous r t.+1)
  (Num.max (start t.+1 r) (Num.max (start t.+1 (left p r))
    (start t.+1 (right p r))) + tau) by [].
rewrite mulrSr mulrDl mul1r addrAC le_maxl; apply/andP; split.
  by apply: ler_add (IH r) _; rewrite /contiguous /=; case: ifP.
apply: ler_add; last exact: le_trans tauc half.
by rewrite le_maxl IH le_maxl !IH.
Qed.
Lemma start_ge t : (t < p)%N -> t.+1 != p ->
  t%:R * c + c / 2%:R <= start t.+1 p.-1.
Proof.
elim: t => [|t IH] tp tn; first by rewrite /= /contiguous mul0r !maxxx !add0r
  le_maxr lexx.
rewrite [X in _ <= X]/= -!/(start t.+1 _) le_maxr; apply/orP; left.
have h : (t < p.-1)%N by lia.
by rewrite mulrSr mulrDl mul1r addrAC /contiguous /= h ler_add2r IH//; lia.
Qed.

(* state how long a contiguous ring takes *)
(* proves prop:contiguous-ring *)
Theorem contiguous_ring :
  ring_takes p tau contiguous ((p%:R - 2%:R^-1) * c).

(* prove how long a contiguous ring takes *)
Proof.
have E : (p%:R - 2%:R^-1) * c = p.-1%:R * c + c / 2%:R.
  by rewrite -[in LHS](prednK p0) mulrSr; field.
rewrite E; have up t r : (t < p)%N -> done p tau contiguous t r <= p.-1%:R * c
  + c / 2%:R.
  case: t => [|t] tp.
    by rewrite /done /= /contiguous add0r ler_addr mulr_ge0 ?ler0n.
  rewrite /done; apply: le_trans (ler_add (start_le t r) (_ : _ <= c)) _.
    by rewrite /contiguous /=; case: ifP.
  have -> : t%:R * c + c / 2%:R + c = t.+1%:R * c
    + c / 2%:R by rewrite mulrSr; ring.
  by rewrite ler_add2r ler_wpmul2r// ler_nat; lia.
split=> [t r tp _|]; first exact: up.
exists p.-1, p.-1; split; rewrite ?prednK//; apply/eqP;
  rewrite eq_le up ?prednK//=.
move: E start_ge; case: p p0 => // -[|q] _ _ ge.
  by rewrite /done /= /contiguous add0r mul0r add0r.
rewrite /done /=; have -> : q.+1%:R * c + c / 2%:R = q%:R * c + c / 2%:R + c.
  by rewrite mulrSr; ring.
rewrite -/(start q.+1 q.+1); apply: ler_add; first by apply: ge; lia.
by rewrite /contiguous /= leqnn.
Qed.

(* state how long a zigzag takes *)
(* proves prop:contiguous-ring *)
Theorem zigzag_ring :
  ring_takes p tau (fun _ _ => c / 2%:R) (2%:R^-1 * p%:R * c).

(* prove how long a zigzag takes *)
Proof.
have := @uniform_ring R tau (fun _ _ => c / 2%:R) p _ p0 c2 tau0
  (fun _ _ => erefl).
rewrite (max_l tauc); suff -> : c / 2%:R + p.-1%:R * (c / 2%:R) = 2%:R^-1 *
  p%:R * c by [].
by rewrite -[in RHS](prednK p0) mulrSr; field.
Qed.
End Contiguous.
