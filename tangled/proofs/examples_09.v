(* proofs/examples_09.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require finished online recompute transfers all_gradients cap
  merged rounding dominant.
From mathcomp.classical Require boolp.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of states, in Coq *)
Section States.
Variables (R : realType) (d : nat) (o : 'rV[R]_d).
Example finished_rows_are_states m :=
  @finished.finished_rows_are_states R d m 1 o ltr01.
Let x : online.triple R d := (Some 0, 1, o).
Lemma x_state : online.is_state x. Proof. by []. Qed.
Example merge_nothing := @online.merge_nothing R d x x_state.
Variables (s : bool -> online.score R) (V : bool -> 'rV[R]_d).
Lemma apart : [disjoint [set true] & [set false]].
Proof. by rewrite disjoints1 inE. Qed.
Example state_of_union := @online.state_of_union R d _ s V _ _ apart.
Lemma all_apart : pairwise (fun I J : {set bool} => [disjoint I & J])
  [:: [set true]; [set false]].
Proof. by rewrite /= apart. Qed.
Example any_split_any_order := @online.any_split_any_order R d _ s V _
  all_apart.
End States.
Section Back.
Variables (R : numFieldType) (C : finType) (V : bool -> C -> R).
Variables (O_bar : C -> R) (L_bar : R).
Example conservation := @recompute.conservation R _ C _ V O_bar L_bar
  (half_sum R).
Example second_lap (blocks : finType) block top := @finished.second_lap R
  _ C _ V O_bar L_bar blocks block top (half_sum R).
End Back.
Example transfers nq nk dk dv := @transfers.transfers nq nk dk dv 1 isT.

(* examples of caps and sinks, in Coq *)
Section Sink.
Variables (R : numFieldType) (C : finType) (V : unit -> C -> R).
Variables (Ob : unit -> C -> R) (Lb : unit -> R) (i : unit).
Lemma with_sink : \sum_(j : unit) 2%:R^-1 + 2%:R^-1 = 1 :> R.
Proof. by rewrite sumr_const card_unit mulr1n; field. Qed.
Example conservation_with_sink := @all_gradients.conservation_with_sink R _ _
  C V (fun _ _ => 2%:R^-1) (fun=> 2%:R^-1) Ob Lb i with_sink.
Example empty_row := @all_gradients.empty_row R _ unit_finType C V
  (fun _ _ => 0) (fun=> 1) Ob Lb i (fun=> erefl).
End Sink.
Example sink_alone (R : realType) S dS sink dsink :=
  @cap.sink_alone R [finType of void] S dS sink dsink card_void.
Example derive_cap (R : realType) x :=
  @cap.derive_cap R 1 x (oner_neq0 R).

(* an example of a key set aside, in Coq *)
Section SetAside.
Variables (R : realFieldType) (y : bool -> R).
Let u : R := 25%:R^-1.
Let A (j : bool) : R := half R j.
Let L : R := \sum_j A j * y j.
Let u_ge0 : 0 <= u. Proof. by rewrite invr_ge0 ler0n. Qed.
Let few : #|bool_finType|%:R * u < 1.
Proof. by rewrite card_bool ltr_pdivr_mulr ?ltr0n// mul1r ltr_nat. Qed.
Let A_ge0 j : 0 <= A j. Proof. by rewrite invr_ge0 ler0n. Qed.
Let weights j : `|A j - A j| <= 1 * A j.
Proof. by rewrite subrr normr0 mul1r. Qed.
Let brackets j : `|y j - y j| <= 1. Proof. by rewrite subrr normr0 ler01. Qed.
Let others : enum (predC1 true) = [:: false].
Proof.
apply: perm_small_eq => //; apply: uniq_perm => [||[]] //.
- exact: enum_uniq.
- by rewrite mem_enum !inE.
- by rewrite mem_enum !inE.
Qed.
Let missing : rounding.computed u ((L, 1) ::
    [seq (A j, - y j) | j <- enum (predC1 true)])
  ((L * 1 + A false * - y false * (1 + 0)) * (1 + 0)).
Proof.
rewrite others; apply: rounding.Fused; last by rewrite normr0.
by apply: rounding.Product; rewrite normr0.
Qed.
Example dominant := @dominant.dominant R bool_finType u 1 1 L A A y y true _
  u_ge0 few ler01 A_ge0 (half_sum R) erefl weights brackets missing.
Example textbook_may_reach := @dominant.textbook_may_reach R bool_finType 1
  A y y true A_ge0 brackets.
End SetAside.

(* examples of rounded blocks, in Coq *)
Section Two.
Variable R : realType.
Let s (j : bool) : R := if j then 1 else 0.
Let half : R := 2%:R^-1.
Let exactly (a : R) : merged.rounded half a a.
Proof. by exists 0; rewrite ?normr0 ?addr0 ?mulr1// invr_ge0 ler0n. Qed.
Let exact_exp (a : R) : merged.exponential half half a (expR a).
Proof.
by exists 0, 0; rewrite normr0 invr_ge0 ler0n !addr0 !mulr1.
Qed.
Let rescaled_two (a b : R) : exists c, merged.rescaled half half a b c.
Proof.
rewrite /merged.rescaled; case: eqP => _; first by exists a.
by exists (expR b * a); exists (expR b).
Qed.
Let block j : exists c,
  merged.computed s half half 0 (fun=> 1) (merged.Block [set j]) c.
Proof.
pose p i := expR (s i - merged.top s 0 (merged.Block [set j])).
exists (p j); apply: (merged.OfBlock (p := p)) (merged.One _ _ _) => i _.
  exact: exact_exp.
by rewrite mulr1; exact: exactly.
Qed.

(* an example of a merged row, in Coq *)
Let one := merged.Block [set true].
Let other := merged.Block [set false].
Lemma two : exists c,
  merged.computed s half half 0 (fun=> 1) (merged.Merger one other) c.
Proof.
have [y yE] := block true; have [z zE] := block false.
pose m := merged.top s 0 (merged.Merger one other).
have [y' yE'] := rescaled_two y (merged.top s 0 one - m).
have [z' zE'] := rescaled_two z (merged.top s 0 other - m).
exists (y' + z'); apply: merged.OfMerger yE zE yE' zE' (exactly _).
by rewrite /= disjoints1 inE.
Qed.
Lemma half_lt1 : half < 1. Proof. by rewrite invf_lt1 ?ltr0n// ltr1n. Qed.
Lemma half_ge0 : 0 <= half. Proof. by rewrite invr_ge0 ler0n. Qed.
Example merged_row := @merged.merged_row R _ s half half 0 half_ge0 half_lt1
  half_lt1 _ _ _ (svalP (boolp.cid two)).
End Two.
