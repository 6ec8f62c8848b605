(* proofs/dominant.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import rounding.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* a row with a key set aside, in Coq *)
Section Dominant.
Variables (R : realFieldType) (K : finType) (u rho eta L_bar : R).
Variables (A A' y y' : K -> R) (star : K) (S' : R).
Hypotheses (u_ge0 : 0 <= u) (few : #|K|%:R * u < 1) (rho_ge0 : 0 <= rho)
  (A_ge0 : forall j, 0 <= A j) (one : \sum_j A j = 1)
  (conserved : \sum_j A j * y j = L_bar)
  (weights : forall j, `|A' j - A j| <= rho * A j)
  (brackets : forall j, `|y' j - y j| <= eta)
  (missing : computed u ((L_bar, 1) ::
     [seq (A' j, - y' j) | j <- enum (predC1 star)]) S').
Definition g := (1 + rho) / (1 - #|K|%:R * u).

(* prove how far a product may be off *)
Definition m j := (1 + rho) * (A j * (`|y j| + eta)).
Lemma product_le j : `|A' j| * `|y' j| <= m j.
Proof.
have yE : `|y' j| <= `|y j| + eta.
  rewrite -[y' j](subrK (y j)) addrC.
  exact: le_trans (ler_norm_add _ _) (ler_add (lexx _) (brackets j)).
have AE : `|A' j| <= (1 + rho) * A j.
  rewrite -[A' j](subrK (A j)); apply: le_trans (ler_norm_add _ _) _.
  by rewrite mulrDl mul1r addrC ger0_norm// ler_add2l.
by rewrite /m mulrA ler_pmul.
Qed.
Lemma product_off j : `|A' j * y' j - A j * y j| <= m j - `|A j * y j|.
Proof.
have yE : `|y' j| <= `|y j| + eta.
  rewrite -[y' j](subrK (y j)) addrC.
  exact: le_trans (ler_norm_add _ _) (ler_add (lexx _) (brackets j)).
rewrite (_ : _ - _ = (A' j - A j) * y' j + A j * (y' j - y j)); last by ring.
apply: le_trans (ler_norm_add _ _) _.
rewrite (_ : m j - _ = rho * A j * (`|y j| + eta) + A j * eta); last first.
  by rewrite /m normrM (ger0_norm (A_ge0 j)); move: `|y j| => v; ring.
by rewrite !normrM (ger0_norm (A_ge0 j)) ler_add ?ler_pmul ?ler_wpmul2l.
Qed.

(* prove what all products come to *)
Let others : \sum_(j | j != star) m j
  = (1 + rho) * (\sum_(j | j != star) `|A j * y j| + (1 - A star) * eta).
Proof.
have <- : \sum_(j | j != star) A j = 1 - A star.
  by rewrite -one [in RHS](bigD1 star)//= addrAC subrr add0r.
rewrite mulr_suml -big_split mulr_sumr; apply: eq_bigr => j _ /=.
by rewrite /m normrM (ger0_norm (A_ge0 j)); move: `|y j| => v; ring.
Qed.
Let gm := gamma u #|K|.
Let gE : g = (1 + rho) * (1 + gm).
Proof. by rewrite /gm gammaE. Qed.
Let gm_ge0 : 0 <= gm.
Proof. by rewrite divr_ge0 ?mulr_ge0 ?ler0n// subr_ge0 ltW. Qed.

(* prove the roundings of what is missing *)
Let rounded : `|S' - (L_bar + \sum_(j | j != star) A' j * - y' j)|
  <= gm * (`|L_bar| + \sum_(j | j != star) `|A' j| * `|- y' j|).
Proof.
have size_n : size ((L_bar, 1) :: [seq (A' j, - y' j)
    | j <- enum (predC1 star)]) = #|K|.
  rewrite /= size_map -cardE cardC1 prednK//.
  by apply/card_gt0P; exists star.
have := dot_product_error u_ge0 missing; rewrite size_n => /(_ few).
by rewrite /exact /size_of !big_cons !big_map !big_enum /= normr1 !mulr1.
Qed.

(* state the error of a dominant cotangent *)
(* proves thm:dominant *)
Theorem dominant : `|S' - A star * y star| <= (1 - A star) * g * eta
  + (g - 1) * (`|L_bar| + \sum_(j | j != star) `|A j * y j|).

(* prove the error of a dominant cotangent *)
Proof.
pose X := \sum_(j | j != star) A' j * - y' j.
pose Y := \sum_(j | j != star) A j * y j.
rewrite (_ : S' - _ = (S' - (L_bar + X)) + (X + Y)); last first.
  by rewrite -conserved [in RHS](bigD1 star)//= -/Y; ring.
apply: le_trans (ler_norm_add _ _) _.
have XE : `|X + Y| <= \sum_(j | j != star) (m j - `|A j * y j|).
  rewrite /X /Y -big_split /=; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: ler_sum => j _; rewrite (_ : _ + _ = - (A' j * y' j - A j * y j));
    last by ring.
  by rewrite normrN product_off.
have le_m : \sum_(j | j != star) `|A' j| * `|- y' j|
    <= \sum_(j | j != star) m j.
  by apply: ler_sum => j _; rewrite normrN product_le.
apply: le_trans (ler_add (le_trans rounded (ler_wpmul2l gm_ge0
  (ler_add (lexx _) le_m))) XE) _.
rewrite sumrB others gE; set T := \sum_(j | _) _.
rewrite -subr_ge0 [Z in 0 <= Z](_ : _ = rho * (1 + gm) * `|L_bar|);
  last by ring.
exact: mulr_ge0 (mulr_ge0 rho_ge0 (addr_ge0 ler01 gm_ge0)) (normr_ge0 _).
Qed.

(* state the error of the textbook's cotangent *)
(* proves thm:dominant *)
Theorem textbook_may_reach : exists2 y_star, `|y_star - y star| <= eta
  & `|A star * y_star - A star * y star| = A star * eta.

(* prove the error of the textbook's cotangent *)
Proof.
have eta_ge0 : 0 <= eta := le_trans (normr_ge0 _) (brackets star).
exists (y star + eta); first by rewrite addrAC subrr add0r ger0_norm.
by rewrite mulrDr addrAC subrr add0r ger0_norm// mulr_ge0.
Qed.
End Dominant.
