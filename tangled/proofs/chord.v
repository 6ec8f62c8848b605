(* proofs/chord.v: tangled from chapters/03-geometry-checks.nw; edit that file, not this one. *)
From attn Require Import prelude softmaxbound logerr.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the chord of two distributions, in Coq *)
Section Chord.
Variables (R : realType) (K : finType) (p q : K -> R) (u : R).
Hypotheses (u_ge0 : 0 <= u) (two_u : 2%:R * u < 1)
  (some : (0 < #|K|)%N) (p_ge0 : forall j, 0 <= p j)
  (q_ge0 : forall j, 0 <= q j).
Variables (d r r' z y w : K -> R) (S c : R).
Hypotheses (differences : forall j, rounds u (p j - q j) (d j))
  (roots : forall j, rounds u (Num.sqrt (p j)) (r j))
  (roots' : forall j, rounds u (Num.sqrt (q j)) (r' j))
  (sums : forall j, rounds u (r j + r' j) (z j))
  (quotients : forall j, rounds u (d j / z j) (y j))
  (squares : forall j, rounds u (y j * y j) (w j))
  (total_of : total u [seq w j | j <- enum K] S)
  (root : rounds u (Num.sqrt S) c).

(* roots near one another *)
Let v := logerr.v u.
Let v0 : 0 <= v. Proof. exact: v_ge0 u_ge0 two_u. Qed.
Let e j := Num.sqrt (p j) - Num.sqrt (q j).
Lemma near_sqrt h (a b : R) : 0 <= a -> near h a b ->
  near (h / 2%:R) (Num.sqrt a) (Num.sqrt b).
Proof.
move=> a0 [x xh ->]; exists (x / 2%:R).
  by rewrite normrM [`|_^-1|]ger0_norm ?invr_ge0 ?ler0n// ler_wpmul2r
    ?invr_ge0 ?ler0n.
rewrite sqrtrM//; congr (_ * _).
rewrite (_ : expR x = expR (x / 2%:R) ^+ 2); last first.
  by rewrite expr2 -expRD; congr expR; field.
by rewrite sqrtr_sqr ger0_norm// ltW// expR_gt0.
Qed.
Lemma eE j : e j = (p j - q j) / (Num.sqrt (p j) + Num.sqrt (q j)).
Proof.
have pE := sqr_sqrtr (p_ge0 j); have qE := sqr_sqrtr (q_ge0 j).
have [s0|s0] := eqVneq (Num.sqrt (p j) + Num.sqrt (q j)) 0; last first.
  by apply: (mulIf s0); rewrite divfK// -{2}pE -{2}qE /e; ring.
have := s0; move/eqP; rewrite paddr_eq0 ?sqrtr_ge0// => /andP[/eqP a0 /eqP
  b0].
by rewrite s0 invr0 mulr0 /e a0 b0 subrr.
Qed.
Lemma near_y j : near (4%:R * v) (e j) (y j).
Proof.
have nd := near_round u_ge0 two_u (differences j).
have nz := near_trans (near_add (sqrtr_ge0 _) (sqrtr_ge0 _)
  (near_round u_ge0 two_u (roots j)) (near_round u_ge0 two_u (roots' j)))
  (near_round u_ge0 two_u (sums j)).
have ny := near_trans (near_div nd nz)
  (near_round u_ge0 two_u (quotients j)).
by rewrite eE; apply: near_le ny; rewrite le_eqVlt; apply/orP; left;
  apply/eqP; rewrite -/v; ring.
Qed.
Lemma near_w j : near (9%:R * v) (e j ^+ 2) (w j).
Proof.
have n2 := near_trans (near_mul (near_y j) (near_y j))
  (near_round u_ge0 two_u (squares j)).
rewrite expr2; apply: near_le n2; rewrite le_eqVlt; apply/orP; left.
by apply/eqP; rewrite -/v; ring.
Qed.
Let w_ge0 j : 0 <= w j.
Proof.
by have [x _ ->] := near_w j; rewrite mulr_ge0 ?sqr_ge0// ltW// expR_gt0.
Qed.

(* state the rounding of a chord *)
(* proves prop:distance-rounding, except the arc sine *)
Theorem chord_rounding : near ((#|K|%:R / 2%:R + 5%:R) * logerr.v u)
  (Num.sqrt (\sum_j (Num.sqrt (p j) - Num.sqrt (q j)) ^+ 2)) c.

(* prove the rounding of a chord *)
Proof.
have sizeE : size [seq w j | j <- enum K] = #|K|.
  by rewrite size_map -cardE.
have nS : near ((#|K|%:R + 8%:R) * v) (\sum_j e j ^+ 2) S.
  have nw : near (9%:R * v) (\sum_j e j ^+ 2) (\sum_j w j).
    apply: near_sum => [|j _|j _]; first by rewrite mulr_ge0 ?ler0n.
      exact: sqr_ge0.
    exact: near_w.
  have := near_total u_ge0 two_u total_of; rewrite sizeE big_map big_enum.
  move=> /(_ _)/(near_trans nw) nt; apply: near_le (nt _); last first.
    by move=> x /mapP[j _ ->].
  have E : #|K|%:R = #|K|.-1%:R + 1 :> R.
    by rewrite -[in LHS](prednK some) -addn1 natrD.
  by rewrite E le_eqVlt; apply/orP; left; apply/eqP; rewrite -/v; ring.
have := near_trans (near_sqrt (sumr_ge0 _ (fun j _ => sqr_ge0 (e j))) nS)
  (near_round u_ge0 two_u root).
apply: near_le; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by rewrite -/v; field.
Qed.
End Chord.
