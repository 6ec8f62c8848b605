(* proofs/hebb.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* entries of patterns are letters *)
Ltac entries := repeat match goal with
  |- context [@fun_of_matrix _ _ _ ?A ?i ?j] => move: (A i j) => ? end.

(* the energy of a form, in Coq *)
Section Energy.
Variables (R : realFieldType) (d : nat) (W : 'M[R]_d).
Implicit Types x y : 'cV[R]_d.
Definition form x y := (x^T *m W *m y) 0 0.
Definition energy x := - 2%:R^-1 * form x x.
Definition field x a := (W *m x) a 0.

(* the energy of a sum *)
Lemma formE x y : form x y = \sum_a x a 0 * field y a.
Proof. by rewrite /form -mulmxA mxE; apply: eq_bigr => a _; rewrite mxE. Qed.
Lemma formDl x y z : form (x + y) z = form x z + form y z.
Proof. by rewrite /form linearD /= !mulmxDl mxE. Qed.
Lemma formDr x y z : form z (x + y) = form z x + form z y.
Proof. by rewrite /form mulmxDr mxE. Qed.
Lemma formN x y : form (- x) y = - form x y.
Proof. by rewrite /form linearN /= !mulNmx mxE. Qed.
Hypothesis sym : W^T = W.
Lemma formC x y : form x y = form y x.
Proof.
rewrite /form -[LHS](mxE trmx_key (fun i j => (x^T *m W *m y) j i))
  -/(trmx _).
by rewrite !trmx_mul trmxK sym mulmxA.
Qed.
Lemma energyD x D : energy (x + D) = energy x - form D x - 2%:R^-1 * form D D.
Proof. by rewrite /energy !formDl !formDr (formC x D); field. Qed.

(* states and fields, in Coq *)
(* Entries are 1 or -1. A neuron turns towards its field, and stays
   where that is zero. *)
Definition signs x := forall a, x a 0 ^+ 2 = 1.
Definition turned x a := if field x a == 0 then x a 0 else Num.sg
  (field x a).

(* state what a flip does *)
(* proves prop:sequential *)
Theorem flip x a : signs x -> turned x a != x a 0 ->
  energy (x + (- 2%:R * x a 0) *: delta_mx a 0) = energy x
    - (2%:R * `|field x a| + 2%:R * W a a).

(* prove what a flip does *)
Proof.
move=> s ne; set D := _ *: _.
have fD y : form D y = - 2%:R * x a 0 * field y a.
  rewrite formE (bigD1 a)//= big1 ?addr0 => [|b ba];
    last by rewrite !mxE (negbTE ba) mulr0 mul0r.
  by rewrite !mxE !eqxx mulr1.
have DD : form D D = 4%:R * W a a.
  rewrite fD /field /D -scalemxAr mxE -colE mxE.
  transitivity (4%:R * W a a * x a 0 ^+ 2); first by entries; ring.
  by rewrite s mulr1.
have xh : x a 0 * field x a = - `|field x a|.
  have h0 : field x a != 0 by apply: contraNneq ne => h;
    rewrite /turned h eqxx.
  move: ne; rewrite /turned (negbTE h0) => ne.
  have : (x a 0 - Num.sg (field x a)) * (x a 0 + Num.sg (field x a)) = 0.
    by rewrite -subr_sqr s sqr_sg h0 subrr.
  move/eqP; rewrite mulf_eq0 subr_eq0 eq_sym (negbTE ne) /= addr_eq0
    => /eqP->.
  by rewrite mulNr -normrEsg.
rewrite energyD DD fD; transitivity (energy x + 2%:R * (x a 0 * field x a)
  - 2%:R * W a a); first by field.
by rewrite xh; ring.
Qed.

(* state that a flip lowers the energy *)
(* proves prop:sequential *)
Theorem flip_lowers x a : signs x -> turned x a != x a 0 ->
  0 <= W a a ->
  energy (x + (- 2%:R * x a 0) *: delta_mx a 0) < energy x.

(* prove that a flip lowers the energy *)
Proof.
move=> s ne w0; rewrite flip// gtr_addl oppr_lt0 ltr_paddr ?mulr_ge0 ?ler0n//.
rewrite mulr_gt0 ?ltr0n// normr_gt0.
by apply: contraNneq ne => h; rewrite /turned h eqxx.
Qed.

(* turning all neurons, in Coq *)
Definition step x : 'cV[R]_d := \col_a turned x a.

(* a neuron turns towards its field *)
Lemma turns_towards x y a : signs y -> 0 <= (turned x a - y a 0) * field x a.
Proof.
move=> s; rewrite /turned; case: (eqVneq (field x a) 0) => [->|h0];
  first by rewrite mulr0.
have y1 : `|y a 0| = 1.
  by apply/eqP; rewrite -(@eqr_expn2 _ 2)// ?ler01// real_normK
    ?num_real// s expr1n.
rewrite mulrBl -[Num.sg _ * _]normrEsg subr_ge0;
  apply: le_trans (ler_norm _) _.
by rewrite normrM y1 mul1r.
Qed.

(* state that parallel steps descend *)
(* proves prop:parallel *)
Theorem parallel_descends x : signs x -> (forall y, 0 <= form y y) ->
  energy (step x) <= energy x.

(* prove that parallel steps descend *)
Proof.
move=> s psd; set D := step x - x.
have -> : step x = x + D by rewrite addrC subrK.
have DF : 0 <= form D x.
  by rewrite formE; apply: sumr_ge0 => a _; rewrite [D a 0]mxE [step x a 0]mxE
    [(- x) a 0]mxE turns_towards.
rewrite energyD -addrA -opprD ger_addl oppr_le0 addr_ge0// mulr_ge0 ?invr_ge0
  ?ler0n//.
Qed.

(* two steps of all neurons *)
(* The function that decreases along two steps, where no field vanishes. *)
Theorem parallel_two_steps x y : signs x -> y = step x ->
  (forall a, field y a != 0) ->
  let L u v := - form v u in
  L y (step y) <= L x y /\ (L y (step y) = L x y -> step y = x).
Proof.
move=> s yE h0 L; have E : L x y - L y (step y)
  = \sum_a (turned y a - x a 0) * field y a.
  rewrite /L opprK (formC y x) addrC !formE -sumrB; apply: eq_bigr => a _.
  by rewrite mxE mulrBl.
have t0 a : 0 <= (turned y a - x a 0) * field y a by exact: turns_towards.
split; first by rewrite -subr_ge0 E sumr_ge0.
move=> Leq; move: E; rewrite Leq subrr => /esym/psumr_eq0P z; apply/colP => a;
  rewrite mxE.
have /eqP := z (fun a _ => t0 a) a isT.
by rewrite mulf_eq0 (negbTE (h0 a)) orbF subr_eq0 => /eqP.
Qed.
End Energy.
