(* proofs/landmarks.v: tangled from chapters/07-kernel-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* landmarks, in Coq *)
Section Nystroem.
Variables (R : realFieldType) (T : Type) (kappa : T -> T -> R) (m : nat)
  (l : 'I_m -> T).
Variable (L : 'M[R]_m).   (* the Cholesky factor *)
Hypothesis symmetric : forall x y, kappa x y = kappa y x.
Hypothesis positive : forall n (p : 'I_n -> T) (c : 'I_n -> R),
  0 <= \sum_i \sum_j c i * c j * kappa (p i) (p j).
Definition kLL : 'M[R]_m := \matrix_(r, s) kappa (l r) (l s).
Definition kL x : 'cV[R]_m := \col_r kappa (l r) x.
Hypotheses (factor : kLL = L *m L^T) (L_unit : L \in unitmx).

(* features of landmarks, in Coq *)
Definition phi x := invmx L *m kL x.
Definition kappa_hat x y := ((phi x)^T *m phi y) 0 0.

(* the features give a product *)
Lemma kLL_unit : kLL \in unitmx.
Proof. by rewrite factor unitmx_mul unitmx_tr L_unit. Qed.
Lemma kappa_hatE x y : kappa_hat x y = ((kL x)^T *m invmx kLL *m kL y) 0 0.
Proof.
have E : invmx kLL = (invmx L)^T *m invmx L.
  have LL : (invmx L)^T *m invmx L *m kLL = 1%:M.
    rewrite factor -!mulmxA [invmx L *m _]mulmxA mulVmx// mul1mx.
    by rewrite -trmx_mul mulmxV// trmx1.
  by rewrite -[RHS]mulmx1 -(mulmxV kLL_unit) mulmxA LL mul1mx.
by rewrite /kappa_hat /phi E trmx_mul !mulmxA.
Qed.

(* state that landmarks are exact *)
(* proves thm:nystroem *)
Theorem landmarks_are_exact x r :
  kappa_hat x (l r) = kappa x (l r) /\ kappa_hat (l r) x
    = kappa (l r) x.

(* prove that landmarks are exact *)
Proof.
have kl : kL (l r) = kLL *m delta_mx r 0 by rewrite -colE; apply/colP => s;
  rewrite !mxE.
have E y : kappa_hat y (l r) = kappa y (l r).
  rewrite kappa_hatE kl -!mulmxA [invmx _ *m _]mulmxA mulVmx
    ?kLL_unit// mul1mx.
  by rewrite -colE !mxE symmetric.
split=> //; rewrite symmetric -E /kappa_hat.
by rewrite !mxE; apply: eq_bigr => s _; rewrite !mxE mulrC.
Qed.

(* state that the residual is positive *)
(* proves thm:nystroem *)
Theorem residual_is_positive n (p : 'I_n -> T) (c : 'I_n -> R) :
  0 <= \sum_i \sum_j c i * c j *
    (kappa (p i) (p j) - kappa_hat (p i) (p j)).

(* prove that the residual is positive *)
Proof.
pose w := \sum_i c i *: kL (p i).
pose b := invmx kLL *m w.
pose P (k : 'I_(m + n)) := match split k with inl r => l r | inr i => p i end.
pose a (k : 'I_(m + n)) := match split k with inl r => - b r 0 | inr i =>
  c i end.
have Pl r : P (lshift n r) = l r by rewrite /P (unsplitK (inl r)).
have Pr i : P (rshift m i) = p i by rewrite /P (unsplitK (inr i)).
have al r : a (lshift n r) = - b r 0 by rewrite /a (unsplitK (inl r)).
have ar i : a (rshift m i) = c i by rewrite /a (unsplitK (inr i)).
have wE r : w r 0 = \sum_i c i * kappa (l r) (p i).
  by rewrite /w summxE; apply: eq_bigr => i _; rewrite !mxE.
have bE r : \sum_s b s 0 * kappa (l r) (l s) = w r 0.
  have : kLL *m b = w by rewrite /b mulmxA mulmxV ?kLL_unit// mul1mx.
  by move=> <-; rewrite mxE; apply: eq_bigr => s _;
    rewrite [kLL _ _]mxE mulrC.
have hat i j : kappa_hat (p i) (p j) = \sum_r kappa (l r) (p i) *
  (invmx kLL *m kL (p j)) r 0.
  rewrite kappa_hatE -mulmxA mxE; apply: eq_bigr => r _.
    by rewrite [_^T _ _]mxE [kL _ _ _]mxE.
have bw : \sum_i \sum_j c i * c j * kappa_hat (p i) (p j) = \sum_r w r
  0 * b r 0.
  have bE' r : b r 0 = \sum_j c j * (invmx kLL *m kL (p j)) r 0.
    rewrite /b /w mulmx_sumr summxE; apply: eq_bigr => j _.
    by rewrite -scalemxAr mxE.
  under [RHS]eq_bigr do rewrite wE bE' big_distrlr /=.
  rewrite [RHS]exchange_big; apply: eq_bigr => i _ /=.
  rewrite [RHS]exchange_big; apply: eq_bigr => j _ /=.
  by rewrite hat mulr_sumr; apply: eq_bigr => r _; rewrite mulrACA.

(* the form of points and landmarks *)
have := positive P a.
suff -> : \sum_i \sum_j a i * a j * kappa (P i) (P j) =
    \sum_i \sum_j c i * c j * (kappa (p i) (p j) - kappa_hat (p i) (p j))
      by [].
have E2 : \sum_i \sum_j c i * c j * (kappa (p i) (p j) - kappa_hat (p i)
  (p j)) =
    \sum_i \sum_j c i * c j * kappa (p i) (p j) - \sum_r w r 0 * b r 0.
  rewrite -bw -sumrB; apply: eq_bigr => i _; rewrite -sumrB.
  by apply: eq_bigr => j _; rewrite mulrBr.
rewrite E2 big_split_ord /=.
have LL : \sum_(r < m) \sum_j a (lshift n r) * a j * kappa (P (lshift n r))
  (P j) = 0.
  apply: big1 => r _; rewrite big_split_ord /= Pl al.
  rewrite (eq_bigr (fun s => b r 0 * (b s 0 * kappa (l r) (l s)))) => [|s _];
    last first.
    by rewrite Pl al mulrNN mulrA.
  rewrite -mulr_sumr bE
    (eq_bigr (fun i => - b r 0 * (c i * kappa (l r) (p i)))) => [|i _];
    last first.
    by rewrite Pr ar mulrA.
  by rewrite -mulr_sumr -wE mulNr subrr.
rewrite LL add0r
  (eq_bigr (fun i => (- \sum_r b r 0 * (c i * kappa (l r) (p i))) +
    \sum_j c i * c j * kappa (p i) (p j))) => [|i _]; last first.
  rewrite big_split_ord /= Pr ar; congr (_ + _); last by apply: eq_bigr =>
    j _; rewrite Pr ar.
  rewrite -sumrN; apply: eq_bigr => r _; rewrite Pl al symmetric.
  by move: (b r 0) (c i) (kappa _ _) => x y z; ring.
rewrite big_split sumrN /= addrC; congr (_ - _); rewrite exchange_big;
  apply: eq_bigr => r _ /=.
by rewrite -mulr_sumr -wE mulrC.
Qed.
End Nystroem.
