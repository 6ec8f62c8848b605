(* proofs/all_gradients.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import GRing.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* rows with caps and sinks, in Coq *)
Section Recompute.
Variables (R : comRingType) (I J F C : finType).
(* queries, keys, features *)
Variables (Q : I -> F -> R) (K : J -> F -> R) (V : J -> C -> R)
  (sigma : R).
(* weights, zero where a pair is forbidden; weights of the sink; slopes
   of the cap, 1 - tanh^2 (X / c) *)
Variables (A : I -> J -> R) (As : I -> R) (slope : I -> J -> R).
Definition O i c := \sum_j A i j * V j c.

(* what changes of inputs do, in Coq *)
(* A change of the inputs, and those that follow: d log Z = sum A dS,
   with the sink, and dA = A (dS - d log Z). *)
Variables (dQ : I -> F -> R) (dK : J -> F -> R) (dV : J -> C -> R)
  (dB : I -> J -> R) (dsink : R).
Definition dX i j := sigma * \sum_a (dQ i a * K j a + Q i a * dK j a).
Definition dS i j := slope i j * dX i j + dB i j.
Definition dL i := \sum_j A i j * dS i j + As i * dsink.
Definition dA i j := A i j * (dS i j - dL i).
Definition dO i c := \sum_j (dA i j * V j c + A i j * dV j c).

(* cotangents of all inputs, in Coq *)
(* the cotangents *)
Variables (Ob : I -> C -> R) (Lb : I -> R).
Definition D i := \sum_c Ob i c * O i c.
Definition Sb i j := A i j * (\sum_c Ob i c * V j c - D i + Lb i).
Definition Xb i j := Sb i j * slope i j.
Definition sinkb := \sum_i As i * (Lb i - D i).
Definition Vb j c := \sum_i A i j * Ob i c.
Definition Qb i a := sigma * \sum_j Xb i j * K j a.
Definition Kb j a := sigma * \sum_i Xb i j * Q i a.

(* state the cotangents of an empty row *)
(* proves thm:recompute *)
Theorem empty_row i : (forall j, A i j = 0) ->
  (forall j, Sb i j = 0) /\ As i * (Lb i - D i) = As i * Lb i.

(* prove the cotangents of an empty row *)
Proof.
move=> z; split=> [j|]; first by rewrite /Sb z mul0r.
have -> : D i = 0; last by rewrite subr0.
by rewrite /D big1// => c _; rewrite /O big1 ?mulr0// => j _; rewrite z mul0r.
Qed.

(* the cotangents of a row *)
Lemma part (a v d l s : R) :
  a * (v - d + l) * s = a * v * s + (l - d) * (a * s).
Proof. ring. Qed.
Lemma row_part (x y d l a t : R) : x - d * (y + a * t) + l * (y + a * t) =
  x + (l - d) * y + a * (l - d) * t.
Proof. ring. Qed.
Lemma sink_part (a v d l : R) : a * (v - d + l) = a * v + a * (l - d).
Proof. ring. Qed.
Lemma scores_part i : \sum_c Ob i c * dO i c + Lb i * dL i =
  \sum_j Sb i j * dS i j + As i * (Lb i - D i) * dsink + \sum_j \sum_c A i j *
    Ob i c * dV j c.
Proof.
have E : \sum_c Ob i c * dO i c =
    \sum_j A i j * (\sum_c Ob i c * V j c) * (dS i j - dL i) + \sum_j \sum_c A
      i j * Ob i c * dV j c.
  rewrite /dO; under eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big -big_split; apply: eq_bigr => j _ /=.
  rewrite mulr_sumr mulr_suml -big_split; apply: eq_bigr => c _ /=.
  by rewrite /dA; ring.
have DE : D i = \sum_j A i j * (\sum_c Ob i c * V j c).
  rewrite /D /O; under eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite mulr_sumr.
  by apply: eq_bigr => c _; ring.
rewrite E addrAC; congr (_ + _).
under eq_bigr do rewrite mulrBr; rewrite sumrB -mulr_suml -DE.
have -> : \sum_j Sb i j * dS i j =
    \sum_j A i j * (\sum_c Ob i c * V j c) * dS i j + (Lb i - D i) * \sum_j A
      i j * dS i j.
  rewrite mulr_sumr -big_split; apply: eq_bigr => j _ /=.
  exact: part.
rewrite /dL; exact: row_part.
Qed.

(* state that all gradients are recomputed *)
(* proves thm:recompute *)
Theorem recompute :
  (\sum_i \sum_c Ob i c * dO i c) + (\sum_i Lb i * dL i) =
  (\sum_i \sum_a Qb i a * dQ i a) + (\sum_j \sum_a Kb j a * dK j a) +
  (\sum_j \sum_c Vb j c * dV j c) + (\sum_i \sum_j Sb i j * dB i j)
    + sinkb * dsink.

(* prove that all gradients are recomputed *)
Proof.
have V_ : \sum_j \sum_c Vb j c * dV j c = \sum_i \sum_j \sum_c A i j * Ob i
  c * dV j c.
  rewrite [RHS]exchange_big; apply: eq_bigr => j _ /=.
  by rewrite [RHS]exchange_big; apply: eq_bigr => c _ /=; rewrite mulr_suml.
have Q_ : \sum_i \sum_a Qb i a * dQ i a = \sum_i \sum_j Xb i j *
  (sigma * \sum_a dQ i a * K j a).
  apply: eq_bigr => i _;
    transitivity (\sum_a \sum_j sigma * (Xb i j * (dQ i a * K j a))).
    apply: eq_bigr => a _; rewrite /Qb -mulrA mulr_suml mulr_sumr.
    by apply: eq_bigr => j _; ring.
  rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite !mulr_sumr.
  by apply: eq_bigr => a _; ring.
have K_ : \sum_j \sum_a Kb j a * dK j a = \sum_i \sum_j Xb i j *
  (sigma * \sum_a Q i a * dK j a).
  rewrite [RHS]exchange_big; apply: eq_bigr => j _ /=.
  transitivity (\sum_a \sum_i sigma * (Xb i j * (Q i a * dK j a))).
    apply: eq_bigr => a _; rewrite /Kb -mulrA mulr_suml mulr_sumr.
    by apply: eq_bigr => i _; ring.
  rewrite exchange_big; apply: eq_bigr => i _ /=; rewrite !mulr_sumr.
  by apply: eq_bigr => a _; ring.
have S_ : (\sum_i \sum_c Ob i c * dO i c) + (\sum_i Lb i * dL i) =
    \sum_i (\sum_j Sb i j * dS i j + As i * (Lb i - D i) * dsink
             + \sum_j \sum_c A i j * Ob i c * dV j c).
  by rewrite -big_split; apply: eq_bigr => i _; exact: scores_part.
rewrite S_ !big_split /= V_ Q_ K_ /sinkb mulr_suml addrAC; congr (_ + _).
rewrite [RHS]addrAC; congr (_ + _).
rewrite -!big_split; apply: eq_bigr => i _ /=; rewrite -!big_split;
  apply: eq_bigr => j _ /=.
by rewrite /dS /dX big_split /= /Xb; ring.
Qed.
End Recompute.

(* state that sinks are conserved too *)
(* proves prop:conservation *)
Theorem conservation_with_sink (R : comRingType) (I J C : finType)
    (V : J -> C -> R) (A : I -> J -> R) (As : I -> R)
    (Ob : I -> C -> R) (Lb : I -> R) i :
  \sum_j A i j + As i = 1 ->
  \sum_j Sb V A Ob Lb i j + As i * (Lb i - D V A Ob i) = Lb i.

(* prove that sinks are conserved too *)
Proof.
move=> A1; have DE : D V A Ob i = \sum_j A i j * (\sum_c Ob i c * V j c).
  rewrite /D /O; under eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite mulr_sumr.
  by apply: eq_bigr => c _; ring.
have -> : \sum_j Sb V A Ob Lb i j = D V A Ob i + (\sum_j A i j) *
  (Lb i - D V A Ob i).
  rewrite {1}DE mulr_suml -big_split; apply: eq_bigr => j _ /=.
  exact: sink_part.
have -> : \sum_j A i j = 1 - As i by rewrite -A1 addrK.
by move: (As i) (Lb i) (D _ _ _ _) => x y z; ring.
Qed.
