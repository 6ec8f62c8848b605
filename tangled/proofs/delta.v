(* proofs/delta.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import recurrence.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the delta rule, in Coq *)
Section Delta.
Variables (R : realFieldType) (m d : nat) (beta : R) (psi : 'cV[R]_m)
  (v : 'cV[R]_d).
Implicit Types M N : 'M[R]_(m, d).
Definition step M : 'M[R]_(m, d) :=
  M + beta *: (psi *m (v - M^T *m psi)^T).
Definition cc := beta * dot psi psi.
Definition gradient M : 'M[R]_(m, d) := psi *m (M^T *m psi - v)^T.
Definition objective M :=
  2%:R^-1 * dot (M^T *m psi - v) (M^T *m psi - v).
Definition sqnorm m n (X : 'M[R]_(m, n)) := \sum_i \sum_j X i j ^+ 2.

(* sums for inner products *)
Lemma dotE n (x y : 'cV[R]_n) : dot x y = \sum_i x i 0 * y i 0.
Proof. by rewrite /dot mxE; apply: eq_bigr => i _; rewrite mxE. Qed.

(* state that the delta rule is a gradient step *)
(* proves prop:delta *)
Theorem delta_is_gradient_step M :
  step M = M - beta *: gradient M /\
  forall N (t : R), objective (M + t *: N) = objective M
    + t * (\sum_i \sum_j gradient M i j * N i j)
    + t ^+ 2 * (2%:R^-1 * dot (N^T *m psi) (N^T *m psi)).

(* prove that the delta rule is a gradient step *)
Proof.
split.
  by rewrite /step /gradient -[v - _]opprB linearN /= mulmxN scalerN.
move=> N t; rewrite /objective; set r := M^T *m psi - v; set w := N^T *m psi.
have -> : (M + t *: N)^T *m psi - v = r + t *: w.
  by rewrite linearD linearZ /= mulmxDl -scalemxAl addrAC.
have -> : \sum_i \sum_j gradient M i j * N i j = dot r w.
  rewrite dotE exchange_big; apply: eq_bigr => j _;
    rewrite [w j 0]mxE mulr_sumr.
  by apply: eq_bigr => i _; rewrite -/r /gradient -/r mxE big_ord1 !mxE;
    entries; ring.
have E : dot (r + t *: w) (r + t *: w) = dot r r + 2%:R * t * dot r w
  + t ^+ 2 * dot w w.
  rewrite !dotE !mulr_sumr -!big_split; apply: eq_bigr => i _ /=;
    rewrite !mxE; entries; ring.
by rewrite E; field.
Qed.

(* state what the delta rule answers *)
(* proves prop:delta *)
Theorem delta_answers M :
  (step M)^T *m psi = (1 - cc) *: (M^T *m psi) + cc *: v /\
  (cc = 1 -> (step M)^T *m psi = v) /\
  forall x, dot psi x = 0 -> (step M)^T *m x = M^T *m x.

(* prove what the delta rule answers *)
Proof.
have E x : (step M)^T *m x = M^T *m x + (beta * dot psi x) *:
  (v - M^T *m psi).
  rewrite /step linearD linearZ /= mulmxDl -scalemxAl trmx_mul trmxK
    -mulmxA tr_dot.
  by rewrite mul_mx_scalar scalerA.
have E1 : (step M)^T *m psi = (1 - cc) *: (M^T *m psi) + cc *: v.
  by rewrite E -/cc scalerBr scalerBl scale1r addrAC addrA addrAC.
split=> //; split=> [c1|x x0]; first by rewrite E1 c1 subrr scale0r add0r
  scale1r.
by rewrite E x0 mulr0 scale0r addr0.
Qed.

(* how far apart two states are *)
Lemma sqnorm_ge0 p n (X : 'M[R]_(p, n)) : 0 <= sqnorm X.
Proof. by do 2!apply: sumr_ge0 => ? _; exact: sqr_ge0. Qed.
Lemma entry (X : 'M[R]_(m, d)) (p : 'cV[R]_m) (y : 'cV[R]_d) (b : R) i j :
  (X - b *: (p *m y^T)) i j = X i j - b * (p i 0 * y j 0).
Proof. by rewrite !mxE big_ord1 !mxE. Qed.
(* |step M - step N|^2 - |M - N|^2 = beta (c - 2) |(M - N)^T psi|^2 *)
Lemma delta_distance M N : sqnorm (step M - step N) =
  sqnorm (M - N) + beta * (cc - 2%:R) * sqnorm ((M - N)^T *m psi).
Proof.
set X := M - N; set y := X^T *m psi.
have -> : step M - step N = X - beta *: (psi *m y^T).
  have uE : v - M^T *m psi = v - N^T *m psi - y.
    by rewrite /y /X linearB /= mulmxBl opprB addrA subrK.
  rewrite /step uE linearB /= mulmxBr scalerBr opprD addrACA; congr (_ + _).
  by rewrite addrAC subrr add0r.
rewrite /sqnorm exchange_big [\sum_i \sum_j X i j ^+ 2]exchange_big.
rewrite mulr_sumr -big_split; apply: eq_bigr => j _ /=; rewrite big_ord1.
have yj : \sum_i X i j * psi i 0 = y j 0.
  by rewrite /y [RHS]mxE; apply: eq_bigr => i _; rewrite [X^T _ _]mxE.
have pp : \sum_i psi i 0 ^+ 2 = dot psi psi by rewrite dotE; apply: eq_bigr =>
  i _; rewrite expr2.
have E i : (X - beta *: (psi *m y^T)) i j ^+ 2 =
    X i j ^+ 2 + (X i j * psi i 0 * (- 2%:R * beta * y j 0) + psi i 0 ^+ 2 *
      (beta * y j 0) ^+ 2).
  by rewrite entry; entries; ring.
rewrite (eq_bigr _ (fun i _ => E i)) big_split; congr (_ + _).
by rewrite big_split -!mulr_suml yj pp /cc /=; ring.
Qed.

(* state when the delta rule is stable *)
(* proves prop:delta *)
Theorem delta_is_stable : (0 < d)%N ->
  (forall M N, sqnorm (step M - step N) <= sqnorm (M - N)) <-> 0 <= cc
    <= 2%:R.

(* prove when the delta rule is stable *)
Proof.
move=> d0; have pp : 0 <= dot psi psi.
  by rewrite dotE; apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0.
split=> [h|/andP[c0 c2] M N]; last first.
  rewrite delta_distance ger_addl.
  have [p0|p0] := eqVneq (dot psi psi) 0.
    have z i : psi i 0 = 0.
      have s0 : \sum_i psi i 0 ^+ 2 = 0.
        by rewrite -[RHS]p0 dotE; apply: eq_bigr => j _; rewrite expr2.
      apply/eqP; rewrite -sqrf_eq0; apply/eqP.
      by apply: (psumr_eq0P (F := fun i => psi i 0 ^+ 2) _ s0) => // j _;
        rewrite sqr_ge0.
    have -> : psi = 0 by apply/colP => i; rewrite mxE z.
    by rewrite mulmx0 /sqnorm big1 ?mulr0// => i _; rewrite big1// => j _;
      rewrite mxE expr0n.
  have b0 : 0 <= beta by move: c0; rewrite /cc pmulr_lge0// lt0r p0.
  rewrite mulr_le0_ge0 ?sqnorm_ge0//; rewrite mulr_ge0_le0// subr_le0//.
have := h (psi *m (const_mx 1 : 'cV[R]_d)^T) 0; rewrite delta_distance
  ger_addl subr0.
rewrite trmx_mul trmxK -mulmxA tr_dot mul_mx_scalar.
set z : R := sqnorm (dot psi psi *: const_mx 1).
have zE : z = dot psi psi ^+ 2 * d%:R.
  rewrite /z /sqnorm; under eq_bigr do rewrite big_ord1 !mxE mulr1.
  by rewrite sumr_const card_ord mulr_natr.
rewrite zE; have [p0|p0] := eqVneq (dot psi psi) 0.
  by rewrite /cc p0 mulr0 lexx ler0n.
have pp0 : 0 < dot psi psi by rewrite lt0r p0.
have -> : beta * (cc - 2%:R) * (dot psi psi ^+ 2 * d%:R) = cc * (cc - 2%:R) *
  (dot psi psi * d%:R).
  by rewrite /cc; ring.
rewrite pmulr_lle0 ?mulr_gt0 ?ltr0n// => h2; apply/andP; split.
  rewrite leNgt; apply/negP => c0; move: h2;
    rewrite leNgt nmulr_rgt0// subr_lt0 => /negP; apply.
  by apply: lt_trans c0 _; rewrite ltr0n.
rewrite leNgt; apply/negP => c2; move: h2; rewrite leNgt pmulr_rgt0
  ?subr_gt0 ?c2//.
by apply: lt_trans c2; rewrite ltr0n.
Qed.
End Delta.
