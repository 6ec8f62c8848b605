(* proofs/finite.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra all_field zify.
Import GRing.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* state the reduction modulo $2^q-1$ *)
(* proves prop:mersenne *)
Theorem mersenne_reduction q a b h l :
  let p := 2 ^ q - 1 in a < p -> b < p ->
  a * b = 2 ^ q * h + l -> l < 2 ^ q ->
  a * b = h + l %[mod p] /\ h + l < 2 * p.

(* prove the reduction modulo $2^q-1$ *)
Proof.
move=> p ap bp E lq; have p1 : 2 ^ q
  = p.+1 by rewrite /p subn1 prednK// expn_gt0.
split; first by rewrite E p1 mulSn [h + _]addnC -addnA mulnC modnMDl.
have ab : a * b <= p.-1 * p.-1 by apply: leq_mul; lia.
rewrite p1 in E lq; suff : h < p by lia.
case: (ltnP h p) => // ph; have : p.+1 * p
  <= p.+1 * h by rewrite leq_mul2l ph orbT.
have : p.-1 * p.-1 <= p * p by apply: leq_mul; lia.
by rewrite mulSn; lia.
Qed.

Local Open Scope ring_scope.

(* state that a field has no exponential *)
(* proves prop:no-exponential *)
Theorem no_exponential (p : nat) (f : 'F_p -> 'F_p) : prime p ->
  f 0 = 1 -> (forall x y, f (x + y) = f x * f y) -> forall x, f x = 1.

(* prove that a field has no exponential *)
Proof.
move=> pp f0 fD x.
have fM n : f (x *+ n) = f x ^+ n.
  by elim: n => [|n IH]; rewrite ?mulr0n ?expr0// mulrS exprS fD IH.
have fx1 : f x ^+ p = 1.
  by rewrite -fM -mulr_natr; have /andP[_ /eqP ->] := char_Fp pp;
    rewrite mulr0.
by have := expf_card (f x); rewrite card_Fp// fx1.
Qed.
