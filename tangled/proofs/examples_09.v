(* proofs/examples_09.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require finished online recompute transfers all_gradients cap.
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
End Sink.
Example derive_cap (R : realType) x :=
  @cap.derive_cap R 1 x (oner_neq0 R).
