(* proofs/settles.v: tangled from chapters/08-hopfield-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import hebb.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* what decreases must stop *)
(* Where something decreases until g stops, g stops, if states are finitely
   many. *)
Lemma must_stop (R : realDomainType) (T : finType) (E : T -> R) (g : T -> T)
  (stop : pred T) :
  (forall x, ~~ stop x -> E (g x) < E x) -> forall x, exists t,
    stop (iter t g x).
Proof.
move=> dec x; have [n] := ubnP #|[pred y | E y < E x]|; elim: n x =>
  // n IH x xn.
have [s|ns] := boolP (stop x); first by exists 0%N.
have [|t st] := IH (g x); last by exists t.+1; rewrite iterSr.
rewrite -ltnS (leq_trans _ xn)// ltnS; apply: proper_card;
  apply/properP; split.
  by apply/subsetP => y; rewrite !inE => /lt_trans; apply; exact: dec.
by exists (g x); rewrite !inE ?ltxx ?dec.
Qed.

(* states that are finitely many, in Coq *)
Section Dynamics.
Variables (R : realFieldType) (d : nat) (W : 'M[R]_d).
Hypothesis sym : W^T = W.
Definition state := {ffun 'I_d -> bool}.
Implicit Types x y : state.
Definition vec x : 'cV[R]_d := \col_a (if x a then 1 else -1).
Definition f x : state := [ffun a =>
  if field W (vec x) a == 0 then x a else 0 < field W (vec x) a].

(* states are vectors of signs *)
Lemma vec_signs x : signs (vec x).
Proof. by move=> a; rewrite mxE; case: ifP; rewrite ?sqrrN expr1n. Qed.
Lemma vec_inj : injective vec.
Proof.
move=> x y /colP E; apply/ffunP => a; have := E a; rewrite !mxE.
have n1 : (1 : R) != -1 by rewrite -subr_eq0 opprK -mulr2n pnatr_eq0.
by case: (x a); case: (y a) => // /eqP; rewrite ?(negbTE n1)// eq_sym
  (negbTE n1).
Qed.
Lemma vec_f x a : vec (f x) a 0 = turned W (vec x) a.
Proof.
rewrite mxE ffunE /turned; case: eqVneq => [_|h]; first by rewrite mxE.
by case: (ltrgt0P (field W (vec x) a)) h => // h _;
  [rewrite gtr0_sg | rewrite ltr0_sg].
Qed.

(* flips, in Coq *)
(* Sequential dynamics: from x to y by turning neuron a over. *)
Definition flips x y := [exists a, (turned W (vec x) a != vec x a 0) &&
  (y == [ffun b => if b == a then ~~ x b else x b])].

(* flips lower the energy *)
Lemma flips_lower x y : (forall a, 0 <= W a a) -> flips x y ->
  energy W (vec y) < energy W (vec x).
Proof.
move=> W0 /existsP[a /andP[t /eqP ->]].
have -> : vec [ffun b => if b == a then ~~ x b else x b] =
    vec x + (- 2%:R * vec x a 0) *: delta_mx a 0.
  apply/colP => b; rewrite !mxE ffunE; case: (eqVneq b a) => [->|_];
    last by rewrite mulr0 addr0.
  by rewrite mulr1; case: (x a) => /=; ring.
exact: (flip_lowers sym (vec_signs x) t).
Qed.

(* state that flips are finitely many *)
(* proves prop:sequential *)
Theorem finitely_many_flips x (s : seq state) :
  (forall a, 0 <= W a a) -> path flips x s -> (size s < 2 ^ d)%N.

(* prove that flips are finitely many *)
Proof.
move=> W0 p; have : uniq (x :: s).
  apply: (sorted_uniq (leT := fun x y : state => energy W (vec y)
    < energy W (vec x))).
  - by move=> b a c ab bc; exact: lt_trans bc ab.
  - by move=> a; rewrite ltxx.
  by apply: sub_path p => a b; exact: flips_lower.
move/card_uniqP => c; have := max_card (mem (x :: s)).
by rewrite c card_ffun card_bool card_ord.
Qed.

(* a number below all that are positive *)
(* Parallel dynamics. *)
Lemma small (I : finType) (F : I -> R) :
  exists2 e, 0 < e & forall i, 0 < F i -> e < F i.
Proof.
have [e e0 h] : exists2 e, 0 < e & forall i, i \in enum I -> 0 < F i ->
  e < F i.
  elim: (enum I) => [|i s [e e0 h]]; first by exists 1.
  exists (Num.min e (if 0 < F i then F i / 2%:R else 1)).
    by rewrite lt_minr e0; case: ifP => p; rewrite ?ltr01 ?divr_gt0 ?ltr0n.
  move=> j; rewrite inE => /predU1P[->|js] p; rewrite lt_minl;
    last by rewrite h.
  by rewrite p orbC ltr_pdivr_mulr ?ltr0n// ltr_pmulr ?ltr1n.
by exists e => // i; apply: h; rewrite mem_enum.
Qed.

(* state that parallel steps end in a two-cycle *)
(* proves prop:parallel *)
Theorem ends_in_two_cycle x : exists t, iter t.+2 f x = iter t f x.

(* prove that parallel steps end in a two-cycle *)
Proof.
have [eps e0 he] := small (fun ia : state * 'I_d =>
  `|field W (vec ia.1) ia.2|).
pose dot x y := \sum_a vec x a 0 * vec y a 0.
pose L (p : state * state) := - form W (vec p.2) (vec p.1) - eps * dot
  p.2 p.1.
pose g (p : state * state) := (p.2, f p.2).
pose stop (p : state * state) := (f p.2 == p.1) || (p.2 != f p.1).
have term y z a : 0 <= (vec (f y) a 0 - vec z a 0) *
  (field W (vec y) a + eps * vec y a 0) /\
    ((vec (f y) a 0 - vec z a 0) * (field W (vec y) a + eps * vec y a 0)
      = 0 ->
      vec (f y) a 0 = vec z a 0).
  have n1 (u : state) : vec u a 0 = 1 \/ vec u a 0 = -1 by rewrite mxE; case:
    ifP; [left|right].
  have [h0|h0] := eqVneq (field W (vec y) a) 0.
    have -> : vec (f y) a 0 = vec y a 0 by rewrite vec_f /turned h0 eqxx.
    rewrite h0 add0r; case: (n1 y) (n1 z) => -> [] ->;
      rewrite ?subrr ?mul0r ?mulr1 ?mulrN1//.
      rewrite opprK -mulr2n; split; first by rewrite mulr_ge0 ?ler0n ?ltW.
      by move/eqP; rewrite mulf_eq0 pnatr_eq0 (gt_eqF e0).
    rewrite -opprD mulrNN; split.
      exact: mulr_ge0 (addr_ge0 ler01 ler01) (ltW e0).
    by move/eqP; rewrite mulf_eq0 (gt_eqF e0) -mulr2n pnatr_eq0.
  have fy : vec (f y) a 0 = Num.sg (field W (vec y) a) by rewrite vec_f
    /turned (negbTE h0).
  have := he (y, a); rewrite /= normr_gt0 => /(_ h0) eh.
  have ee : - eps <= eps by rewrite ge0_cp// ltW.
  have e1 : -1 <= 1 :> R by rewrite ge0_cp// ler01.
  have s1 : - eps <= eps * vec y a 0 by case: (n1 y) => ->;
    rewrite ?mulr1 ?mulrN1.
  have s2 : eps * vec y a 0 <= eps by case: (n1 y) => ->;
    rewrite ?mulr1 ?mulrN1.
  have z1 : -1 <= vec z a 0 by case: (n1 z) => ->.
  have z2 : vec z a 0 <= 1 by case: (n1 z) => ->.
  case: (ltrgt0P (field W (vec y) a)) h0 fy eh => // h _;
    [rewrite gtr0_sg// => -> eh | rewrite ltr0_sg// => -> eh].
    have p : 0 < field W (vec y) a + eps * vec y a 0.
      by rewrite -ltr_subl_addr sub0r (le_lt_trans _ eh)// ler_oppl.
    split; first by apply: mulr_ge0; [rewrite subr_ge0 | exact: ltW].
    by move/eqP; rewrite mulf_eq0 (gt_eqF p) orbF subr_eq0 => /eqP.
  have p : field W (vec y) a + eps * vec y a 0 < 0.
    by rewrite -ltr_subr_addl sub0r (le_lt_trans s2)// ?ltr_oppr.
  split; first by apply: mulr_le0; [rewrite subr_le0 | exact: ltW].
  by move/eqP; rewrite mulf_eq0 (lt_eqF p) orbF subr_eq0 => /eqP.

(* what decreases along two steps *)
have dec p : ~~ stop p -> L (g p) < L p.
  case: p => z y; rewrite /stop negb_or negbK => /andP[/= ne /eqP yz].
  have E : L (z, y) - L (g (z, y)) =
      \sum_a (vec (f y) a 0 - vec z a 0) *
        (field W (vec y) a + eps * vec y a 0).
    rewrite /L /g /= (formC sym (vec y) (vec z)) !formE.
    have dC : dot y z = dot z y by apply: eq_bigr => a _; rewrite mulrC.
    have lin (u v w r : R) : - v - eps * r - (- u - eps * w)
      = u - v + eps * w - eps * r by ring.
    rewrite dC /dot lin !mulr_sumr -sumrB -big_split -sumrB;
      apply: eq_bigr => a _ /=.
    by move: (vec (f y) a 0) (vec z a 0) (vec y a 0) (field _ _ _) =>
      u v w r; ring.
  rewrite -subr_gt0 E lt_neqAle sumr_ge0 ?andbT => [|a _];
    last exact: (term y z a).1.
  apply: contraNneq ne => /esym/psumr_eq0P z0; apply/eqP/vec_inj/colP => a.
  by apply: (term y z a).2; apply: z0 => // b _; exact: (term y z b).1.
have [t] := must_stop dec (x, f x).
have it n : iter n g (x, f x) = (iter n f x, iter n.+1 f x).
  by elim: n => //= n ->.
by rewrite it /stop /= eqxx orbF => /eqP E; exists t.
Qed.
End Dynamics.
