(* proofs/tape.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From attn Require Import prelude reverse.
From mathcomp.classical Require Import boolp functions.
From mathcomp.analysis Require Import topology normedtype realfun.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* steps that are functions, in Coq *)
Section Derivatives.
Variable R : realType.
Record function := Function { fa : nat; fb : nat; phi : R -> R -> R;
  phi_a : R -> R -> R; phi_b : R -> R -> R }.
Definition chain_rule (f : function) x y := forall (u v : R -> R) du dv,
  u 0 = x -> v 0 = y ->
  is_derive (0 : R) (1 : R) u du -> is_derive (0 : R) (1 : R) v dv ->
  is_derive (0 : R) (1 : R) (fun h => phi f (u h) (v h))
    (phi_a f x y * du + phi_b f x y * dv).

(* a program and its tape, in Coq *)
Fixpoint run k (fs : seq function) (x : nat -> R) :=
  if fs is f :: fs' then
    run k.+1 fs' (set x k (phi f (x (fa f)) (x (fb f)))) else x.
Fixpoint tape k fs (x : nat -> R) : seq (step R) :=
  if fs is f :: fs' then let u := x (fa f) in let v := x (fb f) in
    Step (fa f) (phi_a f u v) (fb f) (phi_b f u v)
      :: tape k.+1 fs' (set x k (phi f u v)) else [::].
Fixpoint smooth k fs (x : nat -> R) : Prop :=
  if fs is f :: fs' then let u := x (fa f) in let v := x (fb f) in
    chain_rule f u v /\ smooth k.+1 fs' (set x k (phi f u v)) else True.

(* the velocities of all nodes *)
Lemma size_tape k fs x : size (tape k fs x) = size fs.
Proof. by elim: fs k x => //= f fs IH k x; rewrite IH. Qed.
Lemma velocities k fs (x : R -> nat -> R) dx : smooth k fs (x 0) ->
  (forall i, is_derive (0 : R) (1 : R) (x^~ i) (dx i)) -> forall y,
  is_derive (0 : R) (1 : R) (fun h => run k fs (x h) y)
    (forward k (tape k fs (x 0)) dx y).
Proof.
elim: fs k x dx => [|f fs IH] k x dx /=; first by move=> _ h y; exact: h.
move=> [cf sm] h y.
apply: (IH _ (fun h => set (x h) k (phi f (x h (fa f)) (x h (fb f))))) => // i.
rewrite /set; case: (i == k); last exact: h.
exact: (cf _ _ _ _ erefl erefl (h (fa f)) (h (fb f))).
Qed.

(* state that the sweep leaves derivatives *)
(* proves thm:reverse *)
Theorem reverse_is_derivative n fs x y (i : 'I_n) :
  earlier n (tape n fs x) -> (y < n + size fs)%N -> smooth n fs x ->
  is_derive (0 : R) (1 : R)
    (fun h => run n fs (fun j => x j + h * (j == i)%:R) y)
    (sweep n (tape n fs x) (set (fun=> 0) y 1) i).

(* prove that the sweep leaves derivatives *)
Proof.
move=> et yn sm; rewrite derivative_by_an_input ?size_tape//.
pose c (h : R) (j : nat) := x j + h * (j == i)%:R.
have c0 : c 0 = x by apply/funext => j; rewrite /c mul0r addr0.
have := @velocities n fs c (fun j => (j == i)%:R); rewrite c0; apply => // j.
have -> : c^~ j = cst (x j) + ((j == i)%:R \*: id : R -> R).
  by apply/funext => h; rewrite -[RHS]/(x j + (j == i)%:R * h) mulrC.
by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
Qed.
End Derivatives.
