(* proofs/jacsize.v: tangled from chapters/01-bilinear-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* weights that sum to one, in Coq *)
Section Size.
Variables (R : realFieldType) (K : finType) (A : K -> R).
Hypotheses (A_ge0 : forall j, 0 <= A j) (A1 : \sum_j A j = 1).

(* the output of a row, in Coq *)
Section Hull.
Variables (c : nat) (V : K -> 'rV[R]_c).
Definition output := \sum_j A j *: V j.

(* state that an output lies between values *)
(* proves prop:hull *)
Theorem between_least_and_largest (w : 'cV_c) lo hi :
  (forall j, lo <= (V j *m w) 0 0 <= hi) ->
  lo <= (output *m w) 0 0 <= hi.

(* prove that an output lies between values *)
Proof.
move=> h; rewrite mulmx_suml summxE -[lo]mul1r -[hi]mul1r -A1 !mulr_suml.
apply/andP; split; apply: ler_sum => j _; rewrite -scalemxAl mxE ler_wpmul2l//;
  by case/andP: (h j).
Qed.

(* state that an output is not the longest *)
(* proves prop:hull *)
Theorem no_longer_than_the_longest (N : 'rV[R]_c -> R) L :
  (forall u v, N (u + v) <= N u + N v) ->
  (forall x u, N (x *: u) = `|x| * N u) ->
  (forall j, N (V j) <= L) -> N output <= L.

(* prove that an output is not the longest *)
Proof.
move=> tri sca h; rewrite -[L]mul1r -A1 mulr_suml.
have N0 : N 0 = 0 by rewrite -(scale0r 0) sca normr0 mul0r.
apply: le_trans (_ : \sum_j N (A j *: V j) <= _).
  rewrite /output; elim/big_ind2: _ => [|u a v b ua vb|//]; first by rewrite N0.
  exact: le_trans (tri _ _) (ler_add ua vb).
by apply: ler_sum => j _; rewrite sca ger0_norm// ler_wpmul2l.
Qed.
End Hull.

(* the Jacobian of a row, in Coq *)
Definition J j k := (j == k)%:R * A j - A j * A k.
Definition norm2 := \sum_j \sum_k J j k ^+ 2.
Definition p m := \sum_j A j ^+ m.

(* a sum over a Kronecker symbol *)
Lemma sum_delta j (f : K -> R) : \sum_k (j == k)%:R * f k = f j.
Proof.
rewrite (bigD1 j)//= eqxx mul1r big1 ?addr0// => k.
by rewrite eq_sym => /negbTE->; rewrite mul0r.
Qed.

(* state the size of the Jacobian *)
(* proves prop:jacobian-size *)
Theorem jacobian_size : norm2 = p 2 - 2%:R * p 3 + p 2 ^+ 2.

(* prove the size of the Jacobian *)
Proof.
have E j : \sum_k J j k ^+ 2 = A j ^+ 2 - 2%:R * A j ^+ 3 + A j ^+ 2 * p 2.
  transitivity
    (\sum_k ((j == k)%:R * (A j ^+ 2 - 2%:R * A j ^+ 2 * A k) + A j ^+ 2 *
    A k ^+ 2)).
    by apply: eq_bigr => k _; rewrite /J; case: (j == k); rewrite /=; ring.
  by rewrite big_split /= sum_delta -mulr_sumr; congr (_ + _); ring.
rewrite /norm2 (eq_bigr _ (fun j _ => E j)) big_split /= sumrB -mulr_sumr
  -mulr_suml.
by rewrite expr2.
Qed.

(* state the size with squares completed *)
(* proves prop:jacobian-size *)
Theorem jacobian_size_square : norm2 =
  4%:R^-1 - (2%:R^-1 - p 2) ^+ 2 - 2%:R * \sum_j A j * (A j - p 2) ^+ 2.

(* prove the size with squares completed *)
Proof.
rewrite jacobian_size.
have -> : \sum_j A j * (A j - p 2) ^+ 2 = p 3 - p 2 ^+ 2.
  transitivity (\sum_j (A j ^+ 3 - (2%:R * p 2) * A j ^+ 2 + p 2 ^+ 2 * A j)).
    by apply: eq_bigr => j _; ring.
  by rewrite big_split sumrB /= -!mulr_sumr A1 -/(p 3) -/(p 2); ring.
by field.
Qed.

(* state when the Jacobian vanishes *)
(* proves prop:jacobian-size *)
Theorem jacobian_vanishes : norm2 = 0 <-> exists j, A j = 1.

(* prove when the Jacobian vanishes *)
Proof.
split=> [N0|[j Aj]].
  have [j Aj|none] := pickP (fun j => A j != 0); last first.
    by move: A1; rewrite big1 => [/eqP|j _];
      [rewrite eq_sym oner_eq0 | exact/eqP/negbFE/none].
  exists j; have r0 i : 0 <= \sum_k J i k ^+ 2 by apply: sumr_ge0 => k _;
    exact: sqr_ge0.
  have z := psumr_eq0P (fun i _ => r0 i) N0; have /eqP := z j isT.
  rewrite psumr_eq0 => [/allP/(_ j)|k _]; last exact: sqr_ge0.
  rewrite mem_index_enum => /(_ isT) /=;
    rewrite sqrf_eq0 /J eqxx mul1r -{1}[A j]mulr1 -mulrBr mulf_eq0 (negbTE Aj)
    /=.
  by rewrite subr_eq0 => /eqP.
have z k : k != j -> A k = 0.
  have : \sum_(i | i != j) A i = 0.
    by apply: (addrI 1); rewrite addr0 -[RHS]A1 [RHS](bigD1 j)//= Aj.
  by move/psumr_eq0P; apply=> i _.
have pE m : p m.+1 = 1.
  rewrite /p (bigD1 j)//= Aj expr1n big1 ?addr0// => k /z->; by rewrite expr0n.
by rewrite jacobian_size !pE; ring.
Qed.

(* state the largest Jacobian *)
(* proves prop:jacobian-size *)
Theorem jacobian_at_most_half : norm2 <= 4%:R^-1 /\
  (norm2 = 4%:R^-1 <->
     exists j k, [/\ j != k, A j = 2%:R^-1 & A k = 2%:R^-1]).

(* prove the largest Jacobian *)
Proof.
have t0 j : 0 <= A j * (A j - p 2) ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
pose V := \sum_j A j * (A j - p 2) ^+ 2; have V0 : 0 <= V by exact: sumr_ge0.
rewrite jacobian_size_square -/V -addrA -opprD.
have S0 : 0 <= (2%:R^-1 - p 2) ^+ 2 + 2%:R * V by rewrite addr_ge0 ?sqr_ge0//
  mulr_ge0 ?ler0n.
split; first by rewrite ler_subl_addr ler_addl.
have h2 : 2%:R^-1 + 2%:R^-1 = 1 :> R by field.
split=> [/eqP|[j [k [jk Aj Ak]]]].
  rewrite -{2}[4%:R^-1]addr0 (inj_eq (addrI _)) oppr_eq0.
  rewrite paddr_eq0 ?sqr_ge0 ?mulr_ge0 ?ler0n// => /andP[].
  rewrite sqrf_eq0 subr_eq0 mulf_eq0 pnatr_eq0 /= => /eqP p2 /eqP/psumr_eq0P z.
  have half j : A j != 0 -> A j = 2%:R^-1.
    move=> Aj; have /eqP := z (fun j _ => t0 j) j isT.
    by rewrite mulf_eq0 (negbTE Aj) sqrf_eq0 subr_eq0 -p2 => /eqP.
  have [j Aj|none] := pickP (fun j => A j != 0); last first.
    by move: A1; rewrite big1 => [/eqP|j _];
      [rewrite eq_sym oner_eq0 | exact/eqP/negbFE/none].
  have [k /andP[kj Ak]|none] := pickP (fun k => (k != j) && (A k != 0));
    last first.
    move: A1; rewrite (bigD1 j)//= half// big1 => [/eqP|k kj].
      by rewrite addr0 invr_eq1 pnatr_eq1.
    by have := none k; rewrite kj => /negbFE/eqP.
  by exists j, k; rewrite eq_sym; split=> //; exact: half.
have z i : i != j -> i != k -> A i = 0.
  have : \sum_(i | (i != j) && (i != k)) A i = 0.
    have kj : k != j by rewrite eq_sym.
    apply: (addrI 1); rewrite addr0 -[RHS]A1 [RHS](bigD1 j)//=.
    by rewrite [X in _ = _ + X](bigD1 k)//= Aj Ak addrA h2.
  by move/psumr_eq0P => h ij ik; apply: h => //; rewrite ij ik.
have p2 : p 2 = 2%:R^-1.
  rewrite /p (bigD1 j)//= (bigD1 k) 1?eq_sym//= big1 => [|i /andP[ij ik]];
    last by rewrite z ?expr0n.
  by rewrite Aj Ak; field.
have -> : V = 0.
  apply: big1 => i _; rewrite p2; have [->|ij] := eqVneq i j;
    first by rewrite Aj subrr expr0n mulr0.
  have [->|ik] := eqVneq i k; first by rewrite Ak subrr expr0n mulr0.
  by rewrite z// mul0r.
by rewrite p2 subrr expr0n mulr0 addr0 subr0.
Qed.

End Size.
