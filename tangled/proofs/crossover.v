(* proofs/crossover.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* how many elements a set has *)
Local Notation size_of T := #|{: T}|.

(* counting multiplications, in Coq *)
Section Crossover.
Variables (n m d : nat).
Definition product a b c := size_of ('I_a * 'I_b * 'I_c).
(* scores and average; features times values and ones, twice *)
Definition exact_attention := product n d n + product n n d.
Definition linear_attention := product m n d.+1 + product n m d.+1.
(* one for each pair of a query and a key *)
Definition exponentials := size_of ('I_n * 'I_n).

(* state where linear attention takes fewer *)
(* proves prop:crossover *)
Theorem crossover :
  [/\ exact_attention = 2 * n ^ 2 * d, exponentials = n ^ 2,
      linear_attention = 2 * n * m * (d + 1)
    & 0 < n -> (linear_attention < exact_attention)
      = (m * (d + 1) < n * d)].

(* prove where linear attention takes fewer *)
Proof.
have E : exact_attention = 2 * n ^ 2 * d.
  by rewrite /exact_attention /product !card_prod !card_ord -mulnn; nia.
have L : linear_attention = 2 * n * m * (d + 1).
  by rewrite /linear_attention /product !card_prod !card_ord; nia.
have X : exponentials = n ^ 2 by rewrite /exponentials card_prod !card_ord.
split=> // n0; rewrite E L -mulnn.
have -> : 2 * n * m * (d + 1) = 2 * n * (m * (d + 1)) by rewrite !mulnA.
have -> : 2 * (n * n) * d = 2 * n * (n * d) by nia.
by rewrite ltn_pmul2l// muln_gt0.
Qed.
End Crossover.
