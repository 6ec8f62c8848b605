(* proofs/examples_91.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require dual finite reverse rounding schwartz tape chains
  softmaxbound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of programs and primes, in Coq *)
Example dual_evaluation (R : realType) n x x' (i : 'I_n) :=
  @dual.dual_evaluation R n x x'
    (dual.Times (dual.Input R i) (dual.Input R i)) (conj I I).
Lemma seven : (3 * 5 = 2 ^ 3 * 1 + 7)%N. Proof. by []. Qed.
Example mersenne_reduction :=
  @finite.mersenne_reduction 3 3 5 1 7 isT isT seven isT.
Example no_exponential := @finite.no_exponential 7 (fun=> 1) isT erefl
  (fun _ _ => esym (mulr1 1)).
Section Reverse.
Variable R : comRingType.
Let t : seq (reverse.step R) := [:: reverse.Step 0 1 0 1].
Example reverse_sweep dx := @reverse.reverse_sweep R 1 t 1 dx isT isT.
Example derivative_by_an_input i := @reverse.derivative_by_an_input R 1 t 1 i
  isT isT.
End Reverse.

(* examples of roundings, in Coq *)
Section Rounding.
Variable R : realFieldType.
Let u : R := 4%:R^-1.
Lemma u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma few : 1%:R * u < 1.
Proof. by rewrite /u mul1r invf_lt1 ?ltr0n// ltr1n. Qed.
Lemma small : `|(0 : R)| <= u. Proof. by rewrite normr0 u_ge0. Qed.
Example many_roundings := @rounding.many_roundings R u u_ge0 1 (fun=> 0)
  (fun=> 1) (fun=> small) (fun=> or_introl erefl) few.
Variables (A B : 'M[R]_1).
Lemma exactly i j : rounding.computed u
  [seq (A i l, B l j) | l <- enum 'I_1] (A i 0 * B 0 j * (1 + 0)).
Proof. by rewrite enum_ordS enum_ord0 /=; exact: rounding.Product small. Qed.
Let C : 'M[R]_1 := \matrix_(i, j) (A i 0 * B 0 j * (1 + 0)).
Lemma computed i j : rounding.computed u
  [seq (A i l, B l j) | l <- enum 'I_1] (C i j).
Proof. by rewrite mxE; exact: exactly. Qed.
Example product_error := @rounding.product_error R u u_ge0 1 1 1 A B C few
  computed.
End Rounding.

(* examples of polynomials, in Coq *)
Section Schwartz.
Variables (F : idomainType) (R : realFieldType).
Let m : schwartz.draw F R [finType of unit] :=
  (fun=> 1, fun=> 0).
Lemma fair1 : schwartz.fair 1 m.
Proof.
split=> [w||a] /=; rewrite ?ler01 ?sumr_const ?card_unit//.
by rewrite -[X in _ <= X]mulr1n ler_nat -card_unit max_card.
Qed.
Lemma fair_all : schwartz.all_fair 1 [:: m].
Proof. by split; first exact: fair1. Qed.
Let f : schwartz.mpoly F 1 := [:: 0; 1].
Lemma f_nonzero : schwartz.nonzero f.
Proof. by rewrite /= oner_neq0 orbT. Qed.
Lemma f_degree : schwartz.degree_le f 1.
Proof. by move=> k g; rewrite ltnS. Qed.
Example schwartz_zippel := @schwartz.schwartz_zippel F R _ 1 ler01 1 f 1
  [:: m] erefl fair_all f_nonzero f_degree.
Let i := @schwartz.Instance F R _ 1 f 1 [:: m].
Lemma i_false : schwartz.false_in 1 i.
Proof. by split; [| exact: fair_all | exact: f_nonzero | exact: f_degree]. Qed.
Example false_in_one := @schwartz.false_in_one F R _ 1 ler01 [:: i] 0 i isT
  erefl i_false.
Example false_in_all := @schwartz.false_in_all F R _ 1 ler01 [:: i]
  (conj i_false I).
End Schwartz.

(* an example of a tape, in Coq *)
Section Tape.
Variable R : realType.
Let plus : tape.function R := @tape.Function R 0 1 (fun a b => a + b)
  (fun _ _ => 1) (fun _ _ => 1).
Lemma plus_chain (x : nat -> R) : tape.smooth 2 [:: plus] x.
Proof.
split=> // u v du dv _ _ hu hv; rewrite !mul1r.
exact: (derive.is_deriveD hu hv).
Qed.
Example reverse_is_derivative x i := @tape.reverse_is_derivative R 2
  [:: plus] x 2 i isT isT (plus_chain x).
End Tape.

(* examples of chains, in Coq *)
Section Chains.
Variable R : realFieldType.
Let u : R := 4%:R^-1.
Variables (A B : 'M[R]_1).
Let C : 'M[R]_1 := \matrix_(i, j) (A i 0 * B 0 j * (1 + 0) + 0).
Lemma rounds_well h : 0 <= h -> chains.rounded u h A B C.
Proof.
move=> h0 i j; rewrite mxE enum_ordS enum_ord0 /=.
by apply: chains.UProduct; rewrite normr0 ?u_ge0.
Qed.
Example product_with_underflow i j := @chains.product_with_underflow R u
  (u_ge0 R) 1 1 1 1 A B C i j ler01 (few R) (rounds_well ler01).
Example chain_error i j := @chains.chain_error R u (u_ge0 R) 1 1 1 _ _ _ _ _
  i j ler01 (few R)
  (chains.Times (chains.Factor u 1 A) (rounds_well ler01)).
Example grouped_error i j := @chains.grouped_error R u (u_ge0 R) 1 1 _ _ _ _
  i j (few R) (chains.Pair (chains.Single u A) (chains.Single u B)
    (rounds_well (lexx 0))).
End Chains.

(* an example of a computed softmax, in Coq *)
Section Softmax.
Variable R : realType.
Let u : R := 4%:R^-1.
Let e (j : 'I_1) : R := expR ((0 - 0) * (1 + 0)) * (1 + 0).
Lemma two_u : 2%:R * u < 1.
Proof. by rewrite /u ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Lemma n_u : #|'I_1|%:R * u < 1. Proof. by rewrite card_ord few. Qed.
Lemma same_scores (j : 'I_1) : `|(0 : R) - 0| <= 0.
Proof. by rewrite subrr normr0. Qed.
Lemma exponential j : exists eta eps, [/\ `|eta| <= u, `|eps| <= 2%:R * u &
  e j = expR ((0 - 0) * (1 + eta)) * (1 + eps)].
Proof.
by exists 0, 0; rewrite !normr0 u_ge0 mulr_ge0 ?ler0n ?u_ge0.
Qed.
Lemma one_term : softmaxbound.summed u [seq e j | j <- enum 'I_1] (e 0).
Proof. by rewrite enum_ordS enum_ord0; exact: softmaxbound.One. Qed.
Lemma one_quotient j : exists2 d, `|d| <= u &
  e j / e 0 * (1 + 0) = e j / e 0 * (1 + d).
Proof. by exists 0; rewrite ?normr0 ?u_ge0. Qed.
Example softmax_bound j := @softmaxbound.softmax_bound R _ u (fun=> 0)
  (fun=> 0) (fun=> 0) e (fun j => e j / e 0 * (1 + 0)) 0 (e 0) (u_ge0 R)
  two_u n_u same_scores (fun=> lexx 0) exponential one_term one_quotient j.
End Softmax.
