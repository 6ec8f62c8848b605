(* proofs/examples_06.v: tangled from chapters/06-variants-checks.nw; edit that file, not this one. *)
From attn Require Import prelude examples.
From attn Require cache causal covers dropout rows offsets.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* examples of caches, in Coq *)
Section Cache.
Variables (F : fieldType) (e : F -> F) (T Q K U : Type) (d : nat) (z0 : F).
Variables (q : nat -> T -> Q) (k : nat -> T -> K).
Variables (v : nat -> nat -> T -> 'rV[F]_d).
Variables (s : nat -> nat -> Q -> K -> F) (Wo : 'rV[F]_d -> U).
Let past i j := (j <= i)%N.
Lemma past_causal i j : past i j -> (j <= i)%N. Proof. by []. Qed.
Example past_decides X t := @cache.past_decides F e T Q K U d z0 q k v s
  past Wo past_causal X X t.+1 _ _ (leqnn _) (leqnn _) (fun _ _ => erefl)
  0%N isT.
Lemma later i : (i < i.+1 <= i.+2)%N. Proof. by rewrite ltnSn leqnSn. Qed.
Example chunks_decode X i := @cache.chunks_decode F e T Q K U d z0 q k v s
  past Wo past_causal X i _ _ (later i).
Let near i j := (i <= j.+1)%N && (j <= i)%N.
Lemma kept (i : nat) : (i <= i.+2 <= i.+3)%N.
Proof. by rewrite leqnSn (leq_trans (leqnSn i)). Qed.
Lemma seen i j : near i.+1 j -> (i <= j < i.+2)%N. Proof. by []. Qed.
Example cache_forgets X i := @cache.cache_forgets F e T Q K U d z0 q k v s
  near Wo X i.+1 _ _ _ (kept i) (@seen i).
End Cache.

(* examples of masks, in Coq *)
Example causal_count nq := @causal.causal_count nq nq.+1 (leqnSn nq).
Section Masks.
Let vague (f : nat -> nat -> bool) := covers.Mask f (fun=> covers.some).
Lemma vague_sound f : covers.sound (vague f). Proof. by []. Qed.
Example covers_compose f g := @covers.covers_compose _ _
  (vague_sound f) (vague_sound g).
Lemma range x i j : covers.inside x i j ->
  (covers.j0 x)%:Z - (covers.i1 x)%:Z <= j%:Z - i%:Z
    <= (covers.j1 x)%:Z - (covers.i0 x)%:Z.
Proof.
move=> /and4P[a b c d]; rewrite !ler_sub ?lez_nat// ltnW//.
Qed.
Example window_sound lo hi :=
  @covers.window_sound _ _ lo hi _ _ range.
End Masks.

(* examples of dropout and sinks, in Coq *)
Lemma kept_half (R : numFieldType) : 1 - 2%:R^-1 != 0 :> R.
Proof.
have -> : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
by rewrite invr_neq0 ?two.
Qed.
Example unbiased (R : numFieldType) (K : finType) (A V : K -> R) :=
  @dropout.unbiased R K 2%:R^-1 A V (kept_half R).
Section Sink.
Variables (F : fieldType) (d : nat) (s : unit -> F) (V : unit -> 'rV[F]_d).
Let e (x : F) : F := 1.
Lemma one_key : rows.Z e 0 xpredT s != 0.
Proof. by rewrite /rows.Z sumr_const card_unit add0r oner_neq0. Qed.
Example sink := @rows.sink F e _ 0 xpredT s one_key.
Example sink_of_an_empty_row z0 := @rows.sink_of_an_empty_row F e d _ z0
  xpred0 s V (fun=> isT).
End Sink.

(* examples of masks of every kind, in Coq *)
Example order_matters (F : fieldType) :=
  @cache.order_matters F (fun=> 1) (oner_neq0 F).
Lemma limits (a b i : nat) : (a <= i < b)%N -> a%:Z <= i%:Z <= b%:Z.
Proof. by move=> /andP[h h']; rewrite !lez_nat h ltnW. Qed.
Example strided_sound := @covers.strided_sound _ _ _ _ range (Posz 2) isT.
Example labels_and_tokens_sound := @covers.labels_and_tokens_sound
  Posz Posz (fun a b => (a%:Z, b%:Z)) (fun a b => (a%:Z, b%:Z)) limits limits.
Example sees_offsets (F : fieldType) exp cap nq nk d dv c0 sink u w table
    slope T T' B keep M Q K V p p' :=
  @offsets.sees_offsets F exp cap nq nk d dv c0 sink u w table slope T T'
    B keep M Q K V p p' _ _ (fun i j => erefl).
