(* proofs/examples_90.v: tangled from chapters/90-equations-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require einsum.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of sums of products, in Coq *)
Section Einsum.
Variables (R : realFieldType) (x : R).
Let u : R := 4%:R^-1.
Lemma u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma few : (1 + 1)%:R * u < 1.
Proof. by rewrite /u ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Example einsum_rounding := @einsum.einsum_rounding R u u_ge0 (einsum.Leaf x)
  x 1 1 erefl erefl few (einsum.RLeaf u x).
End Einsum.
