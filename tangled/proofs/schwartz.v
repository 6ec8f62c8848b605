(* proofs/schwartz.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* polynomials in several variables, in Coq *)
Section Polynomials.
Variable F : idomainType.

Fixpoint mpoly n : Type := if n is n'.+1 then seq (mpoly n') else F.

(* Some coefficient does not vanish. *)
Fixpoint nonzero n : mpoly n -> bool :=
  if n is n'.+1 then fun f => has (@nonzero n') f else fun f => f != 0.

(* degree and value of a polynomial, in Coq *)
(* The total degree is at most D. *)
Fixpoint degree_le n : mpoly n -> nat -> Prop :=
  if n is n'.+1 then fun f D => forall k g,
    (k < size f)%N -> g = nth g f k -> nonzero g ->
    (k <= D)%N /\ degree_le g (D - k)
  else fun f D => True.

(* The value at x_1, ..., x_n. *)
Fixpoint value n : mpoly n -> seq F -> F :=
  if n is n'.+1 then fun f x =>
    (Poly [seq value g (behead x) | g <- f]).[head 0 x]
  else fun f x => f.

(* a polynomial that is zero vanishes *)
Lemma value_zero n (f : mpoly n) x : ~~ nonzero f -> value f x = 0.
Proof.
elim: n f x => [|n IH] f x /=; first by move/negbNE/eqP.
case: f => [|g f] h; first by rewrite horner0.
suff -> : Poly [seq value g (behead x) | g <- g :: f] = 0 by rewrite horner0.
apply/polyP => i; rewrite coef_Poly coef0.
have [lt|ge] := ltnP i (size (g :: f)); last by rewrite nth_default// size_map.
rewrite (nth_map g)//; apply: IH; apply: contra h => ng.
by apply/(has_nthP g); exists i.
Qed.
End Polynomials.

(* independent draws, in Coq *)
Section Draws.
Variables (F : idomainType) (R : realFieldType) (W : finType) (pi : R).
Definition draw : Type := ((W -> R) * (W -> F))%type.
Definition fair (m : draw) :=
  [/\ forall w, 0 <= m.1 w, \sum_w m.1 w = 1
    & forall a, \sum_(w | m.2 w == a) m.1 w <= pi].

(* the mean over independent draws, in Coq *)
(* the mean of a function of the draws *)
Fixpoint mean (ms : seq draw) (h : seq F -> R) : R :=
  if ms is m :: ms' then
    mean ms' (fun x => \sum_w m.1 w * h (m.2 w :: x))
  else h [::].
Definition Pr ms (E : pred (seq F)) := mean ms (fun x => (E x)%:R).

Fixpoint all_fair (ms : seq draw) : Prop :=
  if ms is m :: ms' then fair m /\ all_fair ms' else True.

(* rules for means over draws *)
Lemma mean_le ms h h' : all_fair ms -> (forall x, h x <= h' x) ->
  mean ms h <= mean ms h'.
Proof.
elim: ms h h' => [|m ms IH] h h' /=; first by move=> _; exact.
move=> [[m0 _ _] fs] le; apply: IH => // x; apply: ler_sum => w _.
by rewrite ler_wpmul2l.
Qed.

Lemma mean_eq ms h h' : h =1 h' -> mean ms h = mean ms h'.
Proof.
elim: ms h h' => [|m ms IH] h h' E //=; apply: IH => x.
by apply: eq_bigr => w _; rewrite E.
Qed.

Lemma mean_add ms h c : all_fair ms -> mean ms (fun x => h x + c) = mean ms h
  + c.
Proof.
elim: ms h => [|m ms IH] h //= [[_ m1 _] fs].
rewrite -IH//; apply: mean_eq => x; under eq_bigr do rewrite mulrDr.
by rewrite big_split /= -mulr_suml m1 mul1r.
Qed.

(* suppose that $\pi$ is not negative *)
Hypothesis pi_ge0 : 0 <= pi.

(* a polynomial has few roots *)
Lemma few_roots (m : draw) (p : {poly F}) k : fair m -> p != 0 ->
  (size p <= k.+1)%N ->
  \sum_w m.1 w * (p.[m.2 w] == 0)%:R <= k%:R * pi.
Proof.
move=> [m0 _ mp] p0 pk.
pose rs := undup [seq m.2 w | w <- enum W & root p (m.2 w)].
have rsp : (size rs <= k)%N.
  rewrite -ltnS; apply: leq_trans pk; apply: max_poly_roots => //;
    last exact: undup_uniq.
  by apply/allP => a; rewrite mem_undup => /mapP[w]; rewrite mem_filter =>
    /andP[rw _] ->.
apply: le_trans (_ : \sum_(a <- rs) \sum_(w | m.2 w == a) m.1 w <= _);
  last first.
  apply: le_trans (_ : (size rs)%:R * pi <= _);
    last by rewrite ler_wpmul2r// ler_nat.
  elim: rs {rsp} => [|a rs IH]; first by rewrite big_nil mul0r.
  by rewrite big_cons /= -add1n natrD mulrDl mul1r ler_add.
under [X in _ <= X]eq_bigr do rewrite big_mkcond.
rewrite exchange_big; apply: ler_sum => w _ /=.
have ge0 a : 0 <= (if m.2 w == a then m.1 w else 0) by case: ifP.
have [z|_] := eqVneq (p.[m.2 w]) 0; last by rewrite mulr0 sumr_ge0.
rewrite mulr1 (bigD1_seq (m.2 w)) ?undup_uniq//=;
  first by rewrite eqxx ler_addl sumr_ge0.
rewrite mem_undup; apply/mapP; exists w => //.
by rewrite mem_filter /root z eqxx mem_enum.
Qed.

(* state the lemma of Schwartz and Zippel *)
(* proves thm:schwartz-zippel *)
Theorem schwartz_zippel n (f : mpoly F n) D ms :
  size ms = n -> all_fair ms -> nonzero f -> degree_le f D ->
  Pr ms (fun x => value f x == 0) <= D%:R * pi.

(* take the highest power of a variable *)
Proof.
elim: n f D ms => [|n IH] f D [|m ms] //=.
  by move=> _ _ /negbTE f0 _; rewrite /Pr /= f0 mulr_ge0 ?ler0n.
move=> [sz] [fm fs] nf deg.
have [g0 _] : exists g0 : mpoly F n, True by case: f nf {deg} => // g0;
  exists g0.
have /(has_nthP g0)[i0 i0f i0n] := nf.
pose top k := (k < size f)%N && nonzero (nth g0 f k).
have ex : exists k, top k.
  by exists i0; rewrite /top i0f.
have bound k : top k -> (k <= size f)%N by case/andP => /ltnW.
case: (ex_maxnP ex bound) => k /andP[kf kn] kmax; set g := nth g0 f k in kn.
have gE : g = nth g f k by apply: set_nth_default.
have [kD degg] := deg k g kf gE kn.
apply: le_trans (_ : mean ms (fun x => (value g x == 0)%:R + k%:R * pi) <= _);
  last first.
  rewrite mean_add// -(subnK kD) natrD mulrDl ler_add2r.
  exact: IH.

(* bound the roots of the highest power *)
rewrite /Pr [X in X <= _]/=; apply: mean_le => // x; have [z|gx] :=
  eqVneq (value g x) 0.
  apply: le_trans (_ : 1 <= _); last by rewrite ler_addl mulr_ge0 ?ler0n.
  have [m0 m1 _] := fm; rewrite -[X in _ <= X]m1; apply: ler_sum => w _.
  by case: (_ == 0); [rewrite mulr1 | rewrite mulr0n mulr0 m0].
rewrite add0r; apply: few_roots => //.
  apply: contra_neq gx => p0; have := coef0 F k; rewrite -p0 coef_Poly.
  by rewrite (nth_map g0).
apply/leq_sizeP => i ki; rewrite coef_Poly.
have [lt|ge] := ltnP i (size f); last by rewrite nth_default// size_map.
rewrite (nth_map g0)// value_zero//; apply: contraL ki => ni.
by rewrite -ltnNge ltnS; apply: kmax; rewrite /top lt.
Qed.

(* two points are independent *)
Lemma mean_scale ms c h : mean ms (fun x => c * h x) = c * mean ms h.
Proof.
elim: ms h => [|m ms IH] h //=; rewrite -IH; apply: mean_eq => x.
by rewrite mulr_sumr; apply: eq_bigr => w _; rewrite mulrCA.
Qed.

Lemma mean_ge0 ms h : all_fair ms -> (forall x, 0 <= h x) -> 0 <= mean ms h.
Proof.
elim: ms h => [|m ms IH] h //= [[m0 _ _] fs] h0; apply: IH => // x.
by apply: sumr_ge0 => w _; rewrite mulr_ge0.
Qed.

(* Points drawn one after the other are independent. *)
Lemma mean_cat ms ms' h h' :
  mean (ms ++ ms') (fun x => h (take (size ms) x) * h' (drop (size ms) x)) =
  mean ms h * mean ms' h'.
Proof.
elim: ms h => [|m ms IH] h /=.
  by rewrite -mean_scale; apply: mean_eq => x; rewrite take0 drop0.
rewrite -IH; apply: mean_eq => x; rewrite mulr_suml; apply: eq_bigr => w _.
by rewrite mulrA.
Qed.

(* an instance of an identity, in Coq *)
Record instance := Instance
  { vars : nat; difference : mpoly F vars;
    deg : nat; draws : seq draw }.
Definition false_in i :=
  [/\ size (draws i) = vars i, all_fair (draws i),
      nonzero (difference i) & degree_le (difference i) (deg i)].
Definition not_shown i x := value (difference i) x == 0.
Fixpoint none_shown (js : seq instance) x := if js is i :: js' then
  not_shown i (take (size (draws i)) x) &&
  none_shown js' (drop (size (draws i)) x)
  else true.
Fixpoint all_false (js : seq instance) : Prop :=
  if js is i :: js' then false_in i /\ all_false js' else True.

(* state that one instance shows it *)
(* proves cor:exact *)
Corollary false_in_one js k i :
  (k < size js)%N -> i = nth i js k -> false_in i ->
  Pr (draws i) (not_shown i) <= (\max_(l <- map deg js) l)%N%:R * pi.

(* prove that one instance shows it *)
Proof.
move=> kn ik [sz fs nz dg]; apply: le_trans (schwartz_zippel sz fs nz dg) _.
rewrite ler_wpmul2r// ler_nat; apply: (@leq_bigmax_seq _ _ xpredT id (deg i)) =>
  //.
by rewrite ik -(nth_map i 0%N deg kn) mem_nth ?size_map.
Qed.

(* state that all instances show it *)
(* proves cor:exact *)
Corollary false_in_all js : all_false js ->
  Pr (flatten (map draws js)) (none_shown js) <=
  \prod_(i <- js) ((deg i)%:R * pi).

(* prove that all instances show it *)
Proof.
elim: js => [|i js IH] /=; first by rewrite big_nil /Pr /=.
move=> [[sz fs nz dg] af]; rewrite big_cons.
have fair_all : all_fair (flatten (map draws js)).
  elim: js af {IH} => //= j js IH [[_ fj _ _] /IH fjs].
  by elim: (draws j) fj => //= m ms IHm [fm /IHm].
have -> : Pr (draws i ++ flatten (map draws js))
    (fun x => not_shown i (take (size (draws i)) x) && none_shown js
      (drop (size (draws i)) x)) =
    Pr (draws i) (not_shown i) * Pr (flatten (map draws js)) (none_shown js).
  rewrite /Pr -mean_cat; apply: mean_eq => x.
  by rewrite -natrM mulnb.
apply: ler_pmul; rewrite ?mean_ge0//; last exact: IH.
- by move=> x; rewrite ler0n.
- by move=> x; rewrite ler0n.
exact: (schwartz_zippel sz fs nz dg).
Qed.
End Draws.
