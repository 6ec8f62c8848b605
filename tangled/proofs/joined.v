(* proofs/joined.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From attn Require merged online.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* sums that are joined, in Coq *)
Section Joined.
Variables (R : realType) (K : finType) (s : K -> R) (u e : R).
Hypotheses (u_ge0 : 0 <= u) (u_lt1 : u < 1) (e_ge0 : 0 <= e) (e_lt1 : e
  < 1).

(* v summed over J with the maximum m, which takes no more than
   n roundings and k exponentials for any key *)
Inductive joined (v : K -> R)
    : {set K} -> R -> nat -> nat -> R -> Prop :=
| Alone j : joined v [set j] (s j) 0 0 (v j)
| Weighed j m p w : s j <= m -> merged.exponential u e (s j - m) p ->
    merged.rounded u (p * v j) w -> joined v [set j] m 1 1 w
| Added (I J : {set K}) m n n' k k' a b c : [disjoint I & J] ->
    joined v I m n k a -> joined v J m n' k' b ->
    merged.rounded u (a + b) c ->
    joined v (I :|: J) m (maxn n n').+1 (maxn k k') c
| Rescaled (J : {set K}) m m' n k a q c : m <= m' -> joined v J m n k a
  ->
    merged.exponential u e (m - m') q -> merged.rounded u (q * a) c ->
    joined v J m' n.+1 k.+1 c
| AtMost J m n n' k k' c : (n <= n')%N -> (k <= k')%N ->
    joined v J m n k c -> joined v J m n' k' c.

(* exponents of joined sums *)
Definition x m n k j := u * (m - s j) + n%:R * (u / (1 - u))
  + k%:R * (e / (1 - e)).
Let l := u / (1 - u).
Let f := e / (1 - e).
Let l0 : 0 <= l. Proof. by rewrite divr_ge0// subr_ge0 ltW. Qed.
Let f0 : 0 <= f. Proof. by rewrite divr_ge0// subr_ge0 ltW. Qed.
Let x_mono m n n' k k' j : (n <= n')%N -> (k <= k')%N ->
  x m n k j <= x m n' k' j.
Proof.
by move=> nn kk; rewrite /x !ler_add// ler_wpmul2r// ler_nat.
Qed.
Lemma joined_exponents v J m n k c : joined v J m n k c ->
  (forall j, j \in J -> s j <= m) /\
  exists2 th : K -> R, forall j, j \in J -> `|th j| <= x m n k j &
    c = \sum_(j in J) expR (s j - m + th j) * v j.
Proof.
elim=> {J m n k c}.
- move=> j; split=> [i|]; first by rewrite inE => /eqP->.
  exists (fun=> 0) => [i|]; last by rewrite big_set1 subrr addr0 expR0
    mul1r.
  by rewrite inE => /eqP->; rewrite /x subrr !mul0r mulr0 !addr0 normr0.
- move=> j m p w jm /(merged.exponentialE e_lt1)[t tE ->].
  move=> /(merged.roundedE u_lt1)[r rE ->]; split=> [i|].
    by rewrite inE => /eqP->.
  exists (fun=> t + r) => [i|].
    rewrite inE => /eqP->; rewrite /x !mul1r.
    apply: le_trans (ler_norm_add _ _) _; apply: le_trans (ler_add tE
      rE) _.
    rewrite ler0_norm ?subr_le0// opprB addrAC; exact: lexx.
  by rewrite big_set1 addrA [in RHS]expRD mulrAC.
- move=> I J m n n' k k' a b c dis _ [Im [t tE ->]] _ [Jm [t' tE' ->]].
  move=> /(merged.roundedE u_lt1)[r rE ->]; split=> [i|].
    by rewrite inE => /orP[/Im|/Jm].
  exists (fun j => (if j \in I then t j else t' j) + r) => [j|]; last
    first.
    rewrite online.big_setU//= mulrDl !mulr_suml; congr (_ + _).
      by apply: eq_bigr => j jI; rewrite jI addrA [in RHS]expRD mulrAC.
    apply: eq_bigr => j jJ; rewrite (disjointFl dis jJ) addrA.
    by rewrite [in RHS]expRD mulrAC.
  have one y p q : `|y| <= x m p q j -> (p <= maxn n n')%N ->
      (q <= maxn k k')%N -> `|y + r| <= x m (maxn n n').+1 (maxn k k')
        j.
    move=> yE pn qk; apply: le_trans (ler_norm_add _ _) _.
    apply: le_trans (ler_add (le_trans yE (x_mono _ _ pn qk)) rE) _.
    rewrite /x -[(maxn n n').+1]addn1 natrD le_eqVlt; apply/orP; left.
    by apply/eqP; ring.
  rewrite inE; case: ifP => [jI _|_ /= jJ].
    by apply: one (tE j jI) _ _; rewrite leq_maxl.
  by apply: one (tE' j jJ) _ _; rewrite leq_maxr.
- move=> J m m' n k a q c mm' _ [Jm [t tE ->]].
  move=> /(merged.exponentialE e_lt1)[h hE ->].
  move=> /(merged.roundedE u_lt1)[r rE ->]; split=> [i iJ|].
    exact: le_trans (Jm i iJ) mm'.
  exists (fun j => t j + h + r) => [j jJ|]; last first.
    rewrite mulr_sumr mulr_suml; apply: eq_bigr => j jJ.
    rewrite -!mulrA [v j * _]mulrC !mulrA -!expRD; congr (expR _ * _).
    by ring.
  have {}hE : `|h| <= u * (m' - m) + f.
    by move: hE; rewrite [`|m - _|]ler0_norm ?subr_le0// opprB.
  apply: le_trans (ler_norm_add _ _) _.
  apply: le_trans (ler_add (ler_norm_add _ _) rE) _.
  apply: le_trans (ler_add (ler_add (tE j jJ) hE) (lexx _)) _.
  rewrite /x -/l -/f -[n.+1]addn1 -[k.+1]addn1 !natrD le_eqVlt.
  by apply/orP; left; apply/eqP; ring.
move=> J m n n' k k' c nn kk _ [Jm [t tE ->]]; split=> //.
by exists t => // j jJ; exact: le_trans (tE j jJ) (x_mono _ _ nn kk).
Qed.
End Joined.
