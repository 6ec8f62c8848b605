(* proofs/online.v: tangled from chapters/09-flash-checks.nw; edit that file, not this one. *)
From attn Require Import prelude.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* split a sum at a union *)
Lemma big_setU (M : Type) (idx : M) (op : Monoid.com_law idx) (K : finType)
    (I J : {set K}) (F : K -> M) : [disjoint I & J] ->
  \big[op/idx]_(j in I :|: J) F j =
  op (\big[op/idx]_(j in I) F j) (\big[op/idx]_(j in J) F j).
Proof. by move=> dis; rewrite -bigU//; apply: eq_bigl => j;
  rewrite inE. Qed.

(* scores and their decay, in Coq *)
Section Online.
Variables (R : realType) (d : nat).

(* A score is a real number, or -oo, the score of a forbidden key. *)
Definition score := option R.
Local Notation "'-oo'" := None.

Definition max_score (a b : score) : score :=
  match a, b with
  | Some x, Some y => Some (Num.max x y)
  | -oo, _ => b
  | _, -oo => a
  end.

(* e^(a - b) for a <= b; 0 if a = -oo, whatever b is *)
Definition decay (a b : score) : R :=
  if (a, b) is (Some x, Some y) then expR (x - y) else 0.

(* states and their merger, in Coq *)
(* States (m, l, o).  If there is no maximum nothing has been summed. *)
Definition triple : Type := (score * R * 'rV[R]_d)%type.
Definition is_state (x : triple) :=
  let: (m, l, o) := x in (m == -oo) ==> (l == 0) && (o == 0).

Definition nothing : triple := (-oo, 0, 0).
Definition merge (x y : triple) : triple :=
  let: (m, l, o) := x in let: (m', l', o') := y in
  let mu := max_score m m' in
  (mu, decay m mu * l + decay m' mu * l',
   decay m mu *: o + decay m' mu *: o').

(* the greatest score is a monoid *)
Lemma maxA : associative max_score.
Proof. by move=> [x|] [y|] [z|] //=; rewrite maxA. Qed.
Lemma maxC : commutative max_score.
Proof. by move=> [x|] [y|] //=; rewrite maxC. Qed.
Lemma max0s : left_id -oo max_score. Proof. by case. Qed.
Lemma maxs0 : right_id -oo max_score. Proof. by case. Qed.
Lemma maxss : idempotent max_score. Proof. by case=> //= x;
  rewrite maxxx. Qed.
Canonical max_monoid := Monoid.Law maxA max0s maxs0.
Canonical max_comoid := Monoid.ComLaw maxC.

Local Notation "a =< b" := (max_score a b = b) (at level 70).
Lemma le_maxl a b : a =< max_score a b. Proof. by rewrite maxA maxss. Qed.
Lemma le_maxr a b : b =< max_score a b. Proof. by rewrite maxC -maxA maxss.
  Qed.
Lemma le_trans a b c : a =< b -> b =< c -> a =< c.
Proof. by move=> ab bc; rewrite -bc maxA ab. Qed.

Lemma decayM a b c : a =< b -> b =< c -> decay b c * decay a b = decay a c.
Proof.
case: a b c => [x|] [y|] [z|] //= _ _; rewrite ?mulr0//.
by rewrite -expRD; congr expR; ring.
Qed.

(* state that states merge in any order *)
(* proves thm:monoid *)
Theorem mergeC : commutative merge.

(* prove that states merge in any order *)
Proof.
move=> [[m l] o] [[m' l'] o'] /=; rewrite (maxC m').
by congr (_, _, _); rewrite addrC.
Qed.

(* state that states merge in any grouping *)
(* proves thm:monoid *)
Theorem mergeA : associative merge.

(* prove that states merge in any grouping *)
Proof.
move=> [[m1 l1] o1] [[m2 l2] o2] [[m3 l3] o3] /=; rewrite -maxA.
set mu := max_score m1 (max_score m2 m3).
have muE : mu = max_score (max_score m1 m2) m3 by rewrite -maxA.
have h12 : max_score m1 m2 =< mu by rewrite muE; exact: le_maxl.
have h23 : max_score m2 m3 =< mu by exact: le_maxr.
congr (_, _, _).
  by rewrite !mulrDr !mulrA !decayM ?le_maxl ?le_maxr// addrA.
by rewrite !scalerDr !scalerA !decayM ?le_maxl ?le_maxr// addrA.
Qed.

(* state that the empty state is the identity *)
(* proves thm:monoid *)
Theorem merge_nothing x : is_state x -> merge nothing x = x.

(* prove that the empty state is the identity *)
Proof.
case: x => [[[y|] l] o]; rewrite /merge /decay /=; last first.
  by move=> /andP[/eqP-> /eqP->]; rewrite !mulr0 !scaler0 !addr0.
by rewrite subrr expR0 !mul0r !scale0r !scale1r !mul1r !add0r.
Qed.

(* states as a type of their own *)
Theorem is_state_merge x y : is_state x -> is_state y ->
  is_state (merge x y).
Proof.
case: x y => [[[x|] l] o] [[[y|] l'] o'] //= _ _.
by rewrite !mul0r !scale0r !addr0 !eqxx.
Qed.

Lemma is_state_nothing : is_state nothing.
Proof. by rewrite /= !eqxx. Qed.

(* The states as a type of their own, so that merging is a big operator. *)
Definition state : Type := {x : triple | is_state x}.
Definition no_keys : state := exist _ nothing is_state_nothing.
Definition smerge (x y : state) : state :=
  exist _ (merge (sval x) (sval y)) (is_state_merge (svalP x) (svalP y)).

Lemma smergeA : associative smerge.
Proof. by move=> x y z; apply: val_inj; exact: mergeA. Qed.
Lemma smergeC : commutative smerge.
Proof. by move=> x y; apply: val_inj; exact: mergeC. Qed.
Lemma smerge0 : left_id no_keys smerge.
Proof. by move=> x; apply: val_inj; exact: merge_nothing (svalP x). Qed.
Canonical smerge_monoid := Monoid.Law smergeA smerge0 (fun x => etrans
  (smergeC _ _) (smerge0 x)).
Canonical smerge_comoid := Monoid.ComLaw smergeC.

(* the state of a set of keys, in Coq *)
Variables (K : finType) (s : K -> score) (V : K -> 'rV[R]_d).

Definition top (J : {set K}) : score := \big[max_score/None]_(j in J) s j.
Definition triple_of (J : {set K}) : triple :=
  (top J, \sum_(j in J) decay (s j) (top J),
    \sum_(j in J) decay (s j) (top J) *: V j).

(* every set of keys has a state *)
Lemma le_top (J : {set K}) j : j \in J -> s j =< top J.
Proof. by move=> jJ; rewrite /top (bigD1 j)//= le_maxl. Qed.

Lemma is_state_of J : is_state (triple_of J).
Proof.
apply/implyP => /eqP E; rewrite E.
have z j : decay (s j) None = 0 by rewrite /decay; case: (s j).
by rewrite !big1 ?eqxx// => j _; rewrite z ?scale0r.
Qed.

Definition state_of J : state := exist _ (triple_of J) (is_state_of J).

(* state that a union is a merger *)
(* proves thm:monoid *)
Theorem state_of_union (I J : {set K}) : [disjoint I & J] ->
  state_of (I :|: J) = smerge (state_of I) (state_of J).

(* prove that a union is a merger *)
Proof.
move=> dis; apply: val_inj => /=.
have mu : top (I :|: J) = max_score (top I) (top J) by rewrite /top
  big_setU.
rewrite /triple_of -mu; congr (_, _, _).
  rewrite big_setU//= !big_distrr /=; congr (_ + _); apply: eq_bigr => j jJ.
    by rewrite decayM ?le_top// mu le_maxl.
  by rewrite decayM ?le_top// mu le_maxr.
rewrite big_setU//= !scaler_sumr; congr (_ + _); apply: eq_bigr => j jJ.
  by rewrite scalerA decayM ?le_top// mu le_maxl.
by rewrite scalerA decayM ?le_top// mu le_maxr.
Qed.

Lemma state_of_no_keys : state_of set0 = no_keys.
Proof. by apply: val_inj; rewrite /= /triple_of /top !big_set0. Qed.

(* state that any split will do *)
(* proves thm:monoid *)
Theorem any_split_any_order (blocks : seq {set K}) :
  pairwise (fun I J : {set K} => [disjoint I & J]) blocks ->
  \big[smerge/no_keys]_(J <- blocks) state_of J
    = state_of (\bigcup_(J <- blocks) J).

(* prove that any split will do *)
Proof.
elim: blocks => [|J b IH] /=; first by rewrite !big_nil state_of_no_keys.
rewrite !big_cons => /andP[dJ pb]; rewrite IH// state_of_union//.
rewrite disjoint_sym; elim: b dJ {IH pb} => [|I b IH] /=;
  first by rewrite big_nil -setI_eq0 set0I.
rewrite big_cons => /andP[JI /IH dI].
by rewrite -setI_eq0 setIUl setU_eq0 !setI_eq0 dI disjoint_sym JI.
Qed.

End Online.
