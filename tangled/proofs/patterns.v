(* proofs/patterns.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import hebb.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* Hebbian forms, in Coq *)
Section Overlaps.
Variables (R : realFieldType) (d : nat) (P : finType)
  (K : P -> 'cV[R]_d).
Hypothesis d0 : (0 < d)%N.
Definition hebb :
  'M[R]_d := \matrix_(a, b) (d%:R^-1 * \sum_j K j a 0 * K j b 0).
Definition hebb0 :
  'M[R]_d := \matrix_(a, b) (if a == b then 0 else hebb a b).
Definition overlap j (x : 'cV[R]_d) := d%:R^-1 * \sum_a K j a 0 * x a 0.

(* state the energy in overlaps *)
(* proves prop:overlaps *)
Theorem overlaps x :
  energy hebb x = - (d%:R / 2%:R) * \sum_j overlap j x ^+ 2.

(* prove the energy in overlaps *)
Proof.
have dn : d%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
rewrite /energy formE /field.
have E : \sum_a x a 0 * (hebb *m x) a 0 = \sum_a \sum_j x a 0 * K j a 0 *
  overlap j x.
  apply: eq_bigr => a _; rewrite mxE big_distrr /=.
  transitivity
    (\sum_b \sum_j x a 0 * K j a 0 * (d%:R^-1 * (K j b 0 * x b 0))).
    apply: eq_bigr => b _; rewrite mxE mulr_sumr mulr_suml mulr_sumr;
      apply: eq_bigr => j _.
    by entries; ring.
  rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite /overlap !mulr_sumr.
  by apply: eq_bigr => b _.
have S j : \sum_a x a 0 * K j a 0 = d%:R * overlap j x.
  by rewrite /overlap mulrA mulfV// mul1r; apply: eq_bigr => a _;
    rewrite mulrC.
rewrite E exchange_big /= (eq_bigr (fun j => d%:R * overlap j x ^+ 2)) =>
  [|j _]; last first.
  by rewrite -mulr_suml S expr2 mulrA.
rewrite -mulr_sumr.
by rewrite mulrA; congr (_ * _); field.
Qed.

(* state that the Hebbian form is semidefinite *)
(* proves prop:parallel *)
Theorem hebb_is_semidefinite y : 0 <= form hebb y y.

(* prove that the Hebbian form is semidefinite *)
Proof.
have E : form hebb y y = - 2%:R * energy hebb y.
  by rewrite /energy; move: (form _ _ _) => x; field.
rewrite E overlaps; set s := \sum_j _.
have s0 : 0 <= s by apply: sumr_ge0 => j _; exact: sqr_ge0.
rewrite (_ : _ * _ = d%:R * s) ?mulr_ge0 ?ler0n//.
by move: s {s0} (d%:R) => s t; field.
Qed.

(* state what the diagonal does *)
(* proves prop:overlaps *)
Theorem diagonal x : signs x -> (forall j, signs (K j)) ->
  energy hebb0 x - energy hebb x = #|P|%:R / 2%:R.

(* prove what the diagonal does *)
Proof.
move=> sx sK; have dn : d%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have -> : hebb0 = hebb - (#|P|%:R / d%:R)%:M.
  apply/matrixP => a b; rewrite !mxE; case: (eqVneq a b) => [->|_];
    last by rewrite mulr0n subr0.
  rewrite mulr1n (eq_bigr (fun=> 1)) => [|j _]; last by rewrite -expr2 sK.
  by rewrite sumr_const mulrC subrr.
rewrite /energy /form mulmxBr mulmxBl mul_mx_scalar -scalemxAl.
have EE (U V : 'M[R]_1) (z : R) : (U - z *: V) 0 0 = U 0 0 - z * V 0 0
  by rewrite !mxE.
rewrite EE.
have -> : (x^T *m x) 0 0 = d%:R.
  rewrite mxE (eq_bigr (fun=> 1)) => [|a _]; last by rewrite mxE -expr2 sx.
  by rewrite sumr_const card_ord.
by entries; field; rewrite dn.
Qed.
End Overlaps.

(* values that are permuted patterns, in Coq *)
Section NoEnergy.
Variables (R : fieldType) (e : R -> R) (d : nat) (I : finType)
  (k : I -> 'rV[R]_d).
Variables (g : 'M[R]_d) (P : 'M[R]_d).
Hypotheses (isometry : P *m g *m P^T = g) (involution : P *m P = 1%:M).
Variable p : I -> I.
Hypotheses (permutes : forall j, k j *m P = k (p j))
  (p_inj : injective p).
Implicit Types x : 'rV[R]_d.
Definition score x j := (x *m g *m (k j)^T) 0 0.
Definition weight x j := e (score x j) / \sum_l e (score x l).
Definition update (v : I -> 'rV[R]_d) x := \sum_j weight x j *: v j.

(* turning a state permutes its weights *)
Lemma score_turned x j : score (x *m P) (p j) = score x j.
Proof. by rewrite /score -permutes trmx_mul !mulmxA -[x *m P *m g]mulmxA
  -[x *m _ *m P^T]mulmxA isometry. Qed.
Lemma update_turned x : update k (x *m P) = update k x *m P.
Proof.
rewrite /update mulmx_suml (reindex_inj p_inj) /=; apply: eq_bigr => j _.
rewrite -scalemxAl permutes /weight score_turned; congr (_ / _ *: _).
by rewrite (reindex_inj p_inj); apply: eq_bigr => l _; rewrite score_turned.
Qed.
(* V = K P *)
Let f := update (fun j => k j *m P).

(* state that other values have no energy *)
(* proves prop:no-energy *)
Theorem no_energy x : update k x = x -> x *m P != x ->
  [/\ f x = x *m P, f (x *m P) = x, f x != x
    & forall (u : unit) (T : porderType u), ~ exists E : 'rV[R]_d -> T,
      forall y, f y != y -> (E (f y) < E y)%O].

(* prove that other values have no energy *)
Proof.
move=> fix_ moved; have fE y : f y = update k y *m P.
  by rewrite /f /update mulmx_suml; apply: eq_bigr => j _; rewrite scalemxAl.
have E1 : f x = x *m P by rewrite fE fix_.
have E2 : f (x *m P) = x by rewrite fE update_turned fix_ -mulmxA
  involution mulmx1.
split=> //; first by rewrite E1.
move=> u T [E h]; have h1 := h x; rewrite E1 in h1.
have h2 := h (x *m P); rewrite E2 eq_sym in h2.
by have := lt_trans (h1 moved) (h2 moved); rewrite ltxx.
Qed.
End NoEnergy.
