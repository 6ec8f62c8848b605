(* proofs/einsum.v: tangled from chapters/90-equations-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From attn Require Import rounding.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a term as a tree, in Coq *)
Section Einsum.
Variables (R : realFieldType) (u : R).
Hypothesis u_ge0 : 0 <= u.

Inductive tree :=
| Leaf of R | Plus of tree & tree | Times of tree & tree.

Fixpoint exact t := match t with
| Leaf x => x
| Plus s t => exact s + exact t | Times s t => exact s * exact t end.
(* the same with absolute values for factors *)
Fixpoint size t := match t with
| Leaf x => `|x|
| Plus s t => size s + size t | Times s t => size s * size t end.

(* what a tree is when written out, in Coq *)
Fixpoint products t : nat := match t with
| Leaf _ => 1%N | Plus s t => (products s + products t)%N
| Times s t => (products s * products t)%N end.
Fixpoint factors t : nat := match t with
| Leaf _ => 1%N | Plus s t => maxn (factors s) (factors t)
| Times s t => (factors s + factors t)%N end.

(* what a rounded tree may give, in Coq *)
Inductive rounds : tree -> R -> Prop :=
| RLeaf x : rounds (Leaf x) x
| RPlus s t a b delta : rounds s a -> rounds t b -> `|delta| <= u ->
    rounds (Plus s t) ((a + b) * (1 + delta))
| RTimes s t a b delta : rounds s a -> rounds t b -> `|delta| <= u ->
    rounds (Times s t) (a * b * (1 + delta)).

(* the longest chain of roundings *)
(* the longest chain of roundings *)
Fixpoint chain t : nat := match t with
| Leaf _ => 0%N | Plus s t => (maxn (chain s) (chain t)).+1
| Times s t => (chain s + chain t).+1 end.

Lemma pos t : (0 < products t)%N && (0 < factors t)%N.
Proof.
elim: t => [x|s /andP[a b] t /andP[c d]|s /andP[a b] t /andP[c d]] //=.
  by rewrite addn_gt0 a leq_max b.
by rewrite muln_gt0 a c addn_gt0 b.
Qed.

Lemma chain_le t : (chain t + 2 <= products t + factors t)%N.
Proof.
elim: t => [x|s IHs t IHt|s IHs t IHt] //=.
  have /andP[a b] := pos s; have /andP[c d] := pos t.
  lia.
have /andP[a b] := pos s; have /andP[c d] := pos t.
have : (products s + products t <= products s * products t + 1)%N by nia.
lia.
Qed.

(* the error of a tree *)
Let p n := (1 + u) ^+ n.
Lemma p_ge1 n : 1 <= p n. Proof. by rewrite exprn_ege1// ler_addl. Qed.

Lemma exact_le t : `|exact t| <= size t.
Proof.
elim: t => [x|s IHs t IHt|s IHs t IHt] //=.
  by apply: le_trans (ler_norm_add _ _) (ler_add IHs IHt).
by rewrite normrM ler_pmul.
Qed.

Lemma tree_error t c : rounds t c -> `|c - exact t| <= (p (chain t) - 1) *
  size t.
Proof.
elim=> {t c} [x|s t a b delta _ IHs _ IHt du|s t a b delta _ IHs _ IHt du] /=.
- by rewrite subrr normr0 /p expr0 subrr mul0r.
- exact: (round_sum u_ge0 du (exact_le s) (exact_le t) IHs IHt).
have S0 := le_trans (normr_ge0 _) (exact_le s); have T0 :=
  le_trans (normr_ge0 _) (exact_le t).
have d1 : `|1 + delta| <= 1 + u.
  by apply: le_trans (ler_norm_add _ _) _; rewrite normr1 ler_add2l.
have b1 : `|b| <= p (chain t) * size t.
  have -> : b = (b - exact t) + exact t by rewrite subrK.
  apply: le_trans (ler_norm_add _ _) (le_trans (ler_add IHt (exact_le t)) _).
  by rewrite mulrBl mul1r subrK.
have -> : a * b * (1 + delta) - exact s * exact t =
    (a - exact s) * b * (1 + delta) + exact s * (b - exact t) * (1 + delta)
      + exact s * exact t * delta.
  by ring.
have -> : (p (chain s + chain t).+1 - 1) * (size s * size t) =
    (p (chain s) - 1) * size s * (p (chain t) * size t) * (1 + u)
    + size s * ((p (chain t) - 1) * size t) * (1 + u) + size s * size t * u.
  rewrite /p exprS exprD; move: ((1 + u) ^+ chain s) ((1 + u) ^+ chain t) =>
    x y.
  by ring.
apply: le_trans (ler_norm_add _ _)
  (ler_add (le_trans (ler_norm_add _ _) (ler_add _ _)) _).
- by rewrite !normrM !ler_pmul ?mulr_ge0.
- by rewrite !normrM !ler_pmul ?mulr_ge0 ?exact_le.
by rewrite !normrM !ler_pmul ?mulr_ge0 ?exact_le.
Qed.

(* state the rounding of a term *)
(* proves prop:einsum-rounding *)
Theorem einsum_rounding t c N f : products t = N -> factors t = f ->
  (N + f)%:R * u < 1 -> rounds t c ->
  `|c - exact t| <= gamma u (N + f) * size t.

(* prove the rounding of a term *)
Proof.
move=> <- <- small /tree_error h; apply: le_trans h _; rewrite ler_wpmul2r//.
  exact: le_trans (normr_ge0 _) (exact_le t).
apply: le_trans (e_gamma u_ge0 small); apply: ler_sub => //.
by rewrite ler_weexpn2l ?ler_addl//; have := chain_le t; lia.
Qed.
End Einsum.
