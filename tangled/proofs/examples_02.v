(* proofs/examples_02.v: tangled from chapters/02-gibbs-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require divergence entropy gibbs jacobian luce response maximum
  logerr gibbsround.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of distributions, in Coq *)
Section Rows.
Variables (R : realType) (s h f : bool -> R).
Lemma two_gt0 : 0 < 2%:R :> R. Proof. by rewrite ltr0n. Qed.
Lemma distribution2 : gibbs.distribution (half R).
Proof. by split; [exact: half_ge0 | exact: half_sum]. Qed.
Lemma dominated2 : gibbs.dominated (half R) (half R).
Proof. by []. Qed.
Example gibbs_inequality := @gibbs.gibbs_inequality R _ _ _
  distribution2 distribution2 dominated2.
Example variational_identity := @gibbs.variational_identity R _ s 1 ltr01
  _ distribution2.
Example variational_principle := @gibbs.variational_principle R _ s 1
  ltr01 _ distribution2.
Example legendre_duality := @gibbs.legendre_duality R _ s 1 ltr01
  _ distribution2.
Example gauge_of_scale := @divergence.gauge_of_scale R _ s 1 _ two_gt0.
Example finite_pushes := @divergence.finite_pushes R _ true s h 1 ltr01.
Example entropy_bounds := @entropy.entropy_bounds R _ _ distribution2.
Lemma more_than_one : (1 < #|{: bool}|)%N. Proof. by rewrite card_bool. Qed.
Example entropy_gt0 := @entropy.entropy_gt0 R _ s 1 ltr01 more_than_one.
Example mutual_information := @entropy.mutual_information R _ _
  (fun _ : bool => half R) true (fun=> distribution2).

(* examples of limits, in Coq *)
Let up (j : bool) : R := j%:R.
Lemma best : exists j, up j = 1. Proof. by exists true. Qed.
Lemma gap j : up j = 1 \/ up j <= 1 - 1.
Proof. by case: j; [left | right; rewrite subrr]. Qed.
Lemma within j : 1 - 1 <= up j <= 1.
Proof. by rewrite subrr ler0n lern1 leq_b1. Qed.
Example cold_limit := @entropy.cold_limit R _ up 1 1 1 ltr01 best gap.
Example hot_limit := @entropy.hot_limit R _ up 1 1 1 ltr01 within.
Example gradient_of_psi := @jacobian.gradient_of_psi R _ 1 true ltr01.
Example response := @response.response R _ true s 1 f h ltr01.
Example energy_response := @response.energy_response R _ true s 1 ltr01.
Example entropy_response := @response.entropy_response R _ true s 1 ltr01.
Example free_energy_response :=
  @response.free_energy_response R _ true s 1 ltr01.
Example entropy_response_to_a_score :=
  @response.entropy_response_to_a_score R _ true s 1 true ltr01.
End Rows.

(* examples of choices, in Coq *)
Section Luce.
Variable R : realType.
Let P n (s : 'I_n.+2 -> R) (j : 'I_n.+2) : R := n.+2%:R^-1.
Lemma positive n (s : 'I_n.+2 -> R) j : 0 < P s j.
Proof. by rewrite invr_gt0 ltr0n. Qed.
Lemma normed n (s : 'I_n.+2 -> R) : \sum_j P s j = 1.
Proof.
by rewrite sumr_const card_ord -[_^-1 *+ _]mulr_natl divff ?pnatr_eq0.
Qed.
Lemma irrelevant n (s : 'I_n.+2 -> R) j k : P s j / P s k = 1.
Proof. by rewrite divff// invr_neq0 ?pnatr_eq0. Qed.
Example luce := @luce.luce R P (fun _ _ => 1) positive normed irrelevant
  (fun _ _ _ _ => erefl) (fun _ _ _ _ _ => lexx _).
End Luce.

(* an example of an infinite divergence, in Coq *)
Example gibbs_with_infinity (R : realType) :=
  @divergence.gibbs_with_infinity R _ _ _ (distribution2 R)
    (distribution2 R).

(* examples of largest entropies, in Coq *)
Section Largest.
Variables (R : realType) (s : bool -> R) (b : R).
Example largest_entropy := @maximum.largest_entropy R _ s b _
  (maximum.W_distribution s b true) erefl.
Let up (j : bool) : R := j%:R.
Lemma above_zero : up false < 2%:R^-1.
Proof. by rewrite /up /= mulr0n invr_gt0 ltr0n. Qed.
Lemma below_one : 2%:R^-1 < up true.
Proof. by rewrite /up /= mulr1n invf_lt1 ?ltr0n// ltr1n. Qed.
Example energy_determines_temperature :=
  @maximum.energy_determines_temperature R _ up _ _ _ above_zero below_one.
Lemma above_mean :
  #|{: bool}|%:R^-1 * (\sum_j up j) < maximum.mean up (maximum.W up 1).
Proof.
rewrite /maximum.mean /maximum.W /gibbs.A /gibbs.Z !big_bool /up /=.
rewrite card_bool !(mulr0n, mulr1n, mulr0, mul0r, mulr1, mul1r, divr1).
rewrite !(addr0, expR0, mulr1) ltr_pdivl_mulr ?addr_gt0 ?expR_gt0 ?ltr01//.
rewrite ltr_pdivr_mull ?ltr0n// mulr_natl mulr2n ltr_add2l.
by rewrite expR_gt1 invr1 ltr01.
Qed.
Example hot_and_cold := @maximum.hot_and_cold R _ up _ true 1 erefl above_mean.
End Largest.

(* examples of a row without errors, in Coq *)
Section Rounded.
Variable R : realType.
Let u : R := 16%:R^-1.
Let s (j : unit) : R := 0.
Lemma u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma two_u_ge0 : 0 <= 2%:R * u.
Proof. by rewrite mulr_ge0 ?ler0n ?u_ge0. Qed.
Lemma exact_result (c a : R) : 0 <= c -> logerr.rounds c a a.
Proof. by exists 0; rewrite ?normr0// addr0 mulr1. Qed.
Let ok a := @exact_result u a u_ge0.
Let ok2 a := @exact_result (2%:R * u) a two_u_ge0.
Lemma nothing (f : unit -> R) :
  logerr.total u [seq f j | j <- enum (predC1 tt)] 0.
Proof.
by rewrite (_ : enum _ = [::])//; apply: size0nil;
  rewrite -cardE cardC1 card_unit.
Qed.
Lemma small : gibbsround.kappa s 1 tt u 0 < 1.
Proof.
rewrite /gibbsround.kappa card_unit /gibbsround.xbar big1 => [|j _].
  rewrite !add0r -natrD /u -mulrA mulrCA -natrM mulrC.
  by rewrite ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat.
by rewrite /gibbsround.x subrr mul0r mulr0.
Qed.
Lemma widest j : gibbsround.x s 1 tt j <= 0.
Proof. by rewrite /gibbsround.x subrr mul0r. Qed.
Lemma no_others (c : R) (a b : unit -> R) j :
  j != tt -> logerr.rounds c (a j) (b j).
Proof. by case: j. Qed.
Let one (j : unit) : R := 1.
Example weights_rounding := @gibbsround.weights_rounding R _ s 1 tt ltr01
  (fun=> lexx _) u 0 u_ge0 widest small _ _ one _ 0 _ (fun=> ok _)
  (fun=> ok _) erefl (@no_others _ _ _) (nothing one) (ok _) (fun=> ok _).
Example logZ_rounding := @gibbsround.logZ_rounding R _ s 1 tt ltr01
  (fun=> lexx _) u 0 u_ge0 widest small _ _ one 0 _ _ _ (fun=> ok _)
  (fun=> ok _) erefl (@no_others _ _ _) (nothing one) (ok2 _) (ok _) (ok _).
Example log_weights_rounding := @gibbsround.log_weights_rounding R _ s 1 tt
  ltr01 (fun=> lexx _) u 0 u_ge0 widest small _ _ one _ 0 _ (fun=> ok _)
  (fun=> ok _) erefl (@no_others _ _ _) (nothing one) (ok2 _) (fun=> ok _).
Example entropy_rounding := @gibbsround.entropy_rounding R _ s 1 tt ltr01
  (fun=> lexx _) u 0 u_ge0 widest small _ _ one 0 _ _ (fun=> ok _)
  (fun=> ok _) erefl (@no_others _ _ _) (nothing one) (ok _) (ok2 _) one 0
  _ _ (@no_others _ _ _) (nothing one) (ok _) (ok _).
End Rounded.
