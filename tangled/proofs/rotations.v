(* proofs/rotations.v: tangled from chapters/05a-positions-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
From mathcomp.analysis Require Import trigo.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* entries of matrices are letters *)
Ltac entries := repeat match goal with
  |- context [@fun_of_matrix _ _ _ ?A ?i ?j] => move: (A i j) => ? end.

(* turning all planes, in Coq *)
Section Rotations.
Variables (R : realType) (n : nat) (theta : 'rV[R]_n).
Implicit Types (p q t : R) (x y : 'cV[R]_(n + n)).
(* first members of all planes, then second ones *)
Definition C t : 'M[R]_n := diag_mx (\row_a cos (t * theta 0 a)).
Definition S t : 'M[R]_n := diag_mx (\row_a sin (t * theta 0 a)).
(* The sum over planes of cos (t theta_a) delta - sin (t theta_a) J',
   where J' is the block matrix (0, 1; -1, 0). *)
Definition turn t : 'M[R]_(n + n) := block_mx (C t) (- S t) (S t) (C t).

(* turns make a group *)
Lemma diagM (x y : 'rV[R]_n) :
  diag_mx x *m diag_mx y = diag_mx (\row_a (x 0 a * y 0 a)).
Proof.
rewrite mul_diag_mx; apply/matrixP => i j; rewrite !mxE.
by case: (i == j); rewrite ?mulr1n// !mulr0n mulr0.
Qed.
Lemma turnD p q : turn p *m turn q = turn (p + q).
Proof.
rewrite /turn mulmx_block; congr block_mx; rewrite ?mulNmx ?mulmxN !diagM;
  apply/matrixP => i j;
  rewrite !mxE; case: (i == j); rewrite ?mulr1n ?mulr0n ?oppr0 ?addr0//;
  rewrite mulrDl ?cosD ?sinD; ring.
Qed.
Lemma turn0 : turn 0 = 1%:M.
Proof.
have c0 : C 0 = 1%:M by apply/matrixP => i j; rewrite !mxE mul0r cos0.
have s0 : S 0 = 0 by apply/matrixP => i j; rewrite !mxE mul0r sin0 mul0rn.
by rewrite /turn c0 s0 oppr0 -scalar_mx_block.
Qed.
Lemma turnN t : turn (- t) = (turn t)^T.
Proof.
have cN : C (- t) = C t by apply/matrixP => i j; rewrite !mxE mulNr cosN.
have sN : S (- t) = - S t.
  by apply/matrixP => i j; rewrite !mxE mulNr sinN mulNrn.
have cT : (C t)^T = C t by exact: tr_diag_mx.
have sT : (S t)^T = S t by exact: tr_diag_mx.
have sNT : (- S t)^T = - S t by rewrite -[in RHS]sT; exact: linearN.
by rewrite /turn tr_block_mx cN sN opprK cT sT sNT.
Qed.

(* rows of sines and cosines, in Coq *)
Definition P p : 'rV[R]_(n + n) :=
  row_mx (\row_a sin (p * theta 0 a)) (\row_a cos (p * theta 0 a)).

(* state that a shift is linear *)
(* proves prop:sinusoid *)
Theorem sinusoid p q k l :
  [/\ P (p + k) = P p *m turn k, turn k *m (turn k)^T = 1%:M,
    turn k *m turn l = turn (k + l)
    & (P p *m (P q)^T) 0 0 = \sum_a cos ((p - q) * theta 0 a)].

(* prove that a shift is linear *)
Proof.
split.
- rewrite /P /turn mul_row_block !mul_mx_diag mulmxN !mul_mx_diag;
  congr row_mx; apply/rowP => a;
    rewrite !mxE mulrDl ?cosD ?sinD; ring.
- by rewrite -turnN turnD subrr turn0.
- exact: turnD.
rewrite /P tr_row_mx mul_row_col !mxE -big_split; apply: eq_bigr => a _.
by rewrite !mxE mulrBl cosB addrC.
Qed.

(* scores of turned vectors, in Coq *)
Definition score i j x y := ((turn i *m x)^T *m (turn j *m y)) 0 0.
Definition plane x a := x (lshift n a) 0 ^+ 2 + x (rshift n a) 0 ^+ 2.

(* state the form of a distance *)
(* proves prop:rotary-forms *)
Lemma scoreE i j x y : score i j x y = (x^T *m turn (j - i) *m y) 0 0.

(* prove the form of a distance *)
Proof.
by rewrite /score trmx_mul -(turnN i) mulmxA -[x^T *m _ *m turn j]mulmxA
  (turnD (- i) j) addrC.
Qed.

(* forms of two halves *)
Lemma trE (u : 'cV[R]_(n + n)) a : u^T 0 a = u a 0.
Proof. by rewrite mxE. Qed.
Lemma form_of_halves t (u v : 'cV[R]_n) :
  ((col_mx u v)^T *m turn t *m col_mx u v) 0 0 =
  \sum_a cos (t * theta 0 a) * (u a 0 ^+ 2 + v a 0 ^+ 2).
Proof.
rewrite tr_col_mx /turn mul_row_block !mulmxN !mul_mx_diag mul_row_col.
rewrite [LHS]mxE [X in X + _]mxE [X in _ + X]mxE -big_split.
apply: eq_bigr => a _ /=; rewrite !mxE; entries; ring.
Qed.

(* state how forms depend on the distance *)
(* proves prop:rotary-forms *)
Theorem form_for_each_distance t x :
  [/\ turn (- t) = (turn t)^T,
      turn t + (turn t)^T = turn (- t) + (turn (- t))^T,
      turn t - (turn t)^T = - (turn (- t) - (turn (- t))^T)
    & (x^T *m turn t *m x) 0 0 = \sum_a cos (t * theta 0 a) *
      plane x a /\
      (x^T *m turn t *m x) 0 0 <= \sum_a plane x a].

(* prove how forms depend on the distance *)
Proof.
have E : (x^T *m turn t *m x) 0 0 = \sum_a cos (t * theta 0 a) * plane x a.
  by rewrite -[x in LHS]vsubmxK form_of_halves; apply: eq_bigr => a _;
    rewrite ![(usubmx _) _ _]mxE ![(dsubmx _) _ _]mxE.
split; [exact: turnN | by rewrite turnN trmxK addrC
  | by rewrite turnN trmxK opprB | split; first exact: E].
rewrite E; apply: ler_sum => a _; rewrite ler_pimull ?cos_le1//.
by rewrite addr_ge0 ?sqr_ge0.
Qed.

(* state that positions have a Gram matrix *)
(* proves prop:rotary-forms *)
Theorem gram_of_positions N (p z : 'I_N -> R) x :
  0 <= \sum_i \sum_j z i * z j * score (p i) (p j) x x.

(* prove that positions have a Gram matrix *)
Proof.
have -> : \sum_i \sum_j z i * z j * score (p i) (p j) x x =
    \sum_a (\sum_i z i * (turn (p i) *m x) a 0) ^+ 2.
  rewrite [RHS](eq_bigr (fun a => \sum_i \sum_j
    z i * (turn (p i) *m x) a 0 * (z j * (turn (p j) *m x) a 0))) => [|a _];
      last first.
    by rewrite expr2 big_distrlr.
  rewrite [RHS]exchange_big; apply: eq_bigr => i _ /=.
  rewrite [RHS]exchange_big; apply: eq_bigr => j _ /=.
  rewrite /score mxE mulr_sumr; apply: eq_bigr => a _.
  by rewrite trE mulrACA.
by apply: sumr_ge0 => a _; rewrite sqr_ge0.
Qed.
End Rotations.
