(* proofs/rounding.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* the constant of many roundings, in Coq *)
Section Rounding.
Variables (R : realFieldType) (u : R).
Hypothesis u_ge0 : 0 <= u.

Definition gamma n := n%:R * u / (1 - n%:R * u).

(* the inequality of Bernoulli *)
Lemma bernoulli n : u <= 1 -> 1 - n%:R * u <= (1 - u) ^+ n.
Proof.
move=> u1; elim: n => [|n IH]; first by rewrite mul0r subr0 expr0.
rewrite exprS; apply: le_trans (ler_wpmul2l _ IH); last by rewrite subr_ge0.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = n%:R * u ^+ 2);
  first by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
by rewrite -addn1 natrD; ring.
Qed.

Lemma u_lt1 n : (0 < n)%N -> n%:R * u < 1 -> u < 1.
Proof.
move=> n0; apply: le_lt_trans; rewrite -[X in X <= _]mul1r ler_wpmul2r//.
by rewrite -[1]/(1%:R) ler_nat.
Qed.

Lemma gammaE n : n%:R * u < 1 -> 1 + gamma n = (1 - n%:R * u)^-1.
Proof.
move=> nu; have n0 : 1 - n%:R * u != 0 by rewrite gt_eqF// subr_gt0.
by apply: (mulIf n0); rewrite mulVf// /gamma mulrDl mul1r divfK// subrK.
Qed.

Lemma powers_gamma n : n%:R * u < 1 -> (1 - u) ^- n <= 1 + gamma n.
Proof.
case: n => [|n] nu; first by rewrite expr0 invr1 /gamma !mul0r addr0.
have u1 := u_lt1 (ltn0Sn n) nu.
rewrite gammaE// ler_pinv ?bernoulli ?(ltW u1)//.
  by rewrite inE unitfE gt_eqF exprn_gt0 ?subr_gt0.
by rewrite inE unitfE gt_eqF subr_gt0.
Qed.

(* state the bound of many roundings *)
(* proves lem:gamma *)
Theorem many_roundings n (delta : 'I_n -> R) (rho : 'I_n -> int) :
  (forall i, `|delta i| <= u) -> (forall i, rho i = 1 \/ rho i = -1) ->
  n%:R * u < 1 ->
  `|\prod_i (1 + delta i) ^ rho i - 1| <= gamma n.

(* prove the bound of many roundings *)
Proof.
case: n delta rho => [|n] delta rho.
  by rewrite big_ord0 subrr normr0 /gamma !mul0r.
move=> du pm nu; have u1 := u_lt1 (ltn0Sn n) nu.
have v0 : 0 < 1 - u by rewrite subr_gt0.
have d2 i : (1 - u <= 1 + delta i) && (1 + delta i <= (1 - u)^-1).
  have := du i; rewrite ler_norml => /andP[lo hi]; rewrite ler_add2l lo /=.
  apply: le_trans (_ : 1 + u <= _); first by rewrite ler_add2l.
  rewrite -[(1 - u)^-1]mul1r ler_pdivl_mulr// (_ : _ * _ = 1 - u ^+ 2);
    last by ring.
  by rewrite ler_subl_addr ler_addl sqr_ge0.
have f i : (1 - u <= (1 + delta i) ^ rho i) && ((1 + delta i) ^ rho i <= (1
  - u)^-1).
  have /andP[lo hi] := d2 i; have p0 := lt_le_trans v0 lo.
  case: (pm i) => ->; first by rewrite expr1z lo hi.
  rewrite exprN1 -[X in X <= _]invrK !ler_pinv ?hi ?lo// inE unitfE gt_eqF
    ?invr_gt0//.
have lo : (1 - u) ^+ n.+1 <= \prod_i (1 + delta i) ^ rho i.
  have -> : (1 - u) ^+ n.+1 = \prod_(i < n.+1) (1
    - u) by rewrite prodr_const card_ord.
  by apply: ler_prod => i _; rewrite ltW//; case/andP: (f i).
have hi : \prod_i (1 + delta i) ^ rho i <= (1 - u) ^- n.+1.
  have -> : (1 - u) ^- n.+1 = \prod_(i < n.+1) (1 - u)^-1.
    by rewrite prodr_const card_ord exprVn.
  apply: ler_prod => i _; case/andP: (f i) => a ->; rewrite andbT.
  exact: le_trans (ltW v0) a.
rewrite ler_norml ler_subl_addl (le_trans hi (powers_gamma nu)) andbT.
rewrite ler_subr_addl; apply: le_trans (le_trans (bernoulli _ (ltW u1)) lo).
rewrite ler_add2l ler_opp2 /gamma ler_pdivl_mulr ?subr_gt0//.
by rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?mulr_ge0 ?ler0n// ler_subl_addr
  ler_addl mulr_ge0 ?ler0n.
Qed.

(* what a program may compute, in Coq *)
Inductive computed : seq (R * R) -> R -> Prop :=
| Product x y delta : `|delta| <= u ->
    computed [:: (x, y)] (x * y * (1 + delta))
| Sum s t a b delta : computed s a -> computed t b -> `|delta| <= u ->
    computed (s ++ t) ((a + b) * (1 + delta))
| Fused x y t b delta : computed t b -> `|delta| <= u ->
    computed ((x, y) :: t) ((x * y + b) * (1 + delta))
| Order s t a : perm_eq s t -> computed s a -> computed t a.

(* one more rounding of a sum *)
Definition exact (s : seq (R * R)) := \sum_(xy <- s) xy.1 * xy.2.
Definition size_of (s : seq (R * R)) := \sum_(xy <- s) `|xy.1| * `|xy.2|.

Let e n := (1 + u) ^+ n - 1.

Lemma exact_le s : `|exact s| <= size_of s.
Proof. by apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _;
  rewrite normrM. Qed.

Lemma size_ge0 s : 0 <= size_of s. Proof. by apply: sumr_ge0 => i _;
  rewrite mulr_ge0. Qed.

Lemma e_mono m n : (m <= n)%N -> e m <= e n.
Proof. by move=> mn; rewrite ler_sub// ler_weexpn2l// ler_addl. Qed.

Lemma round_sum a b S T As At m n delta : `|delta| <= u ->
  `|S| <= As -> `|T| <= At -> `|a - S| <= e m * As -> `|b - T|
    <= e n * At ->
  `|(a + b) * (1 + delta) - (S + T)| <= e (maxn m n).+1 * (As + At).
Proof.
move=> du Sl Tl aS bT; have u10 : 0 <= 1 + u by exact: addr_ge0 ler01 u_ge0.
have As0 := le_trans (normr_ge0 _) Sl; have At0 :=
  le_trans (normr_ge0 _) Tl.
have one x X k A : (k <= maxn m n)%N -> 0 <= A -> `|X| <= A -> `|x - X|
  <= e k * A ->
    `|x * (1 + delta) - X| <= e (maxn m n).+1 * A.
  move=> kmn A0 XA xX; rewrite (_ : _ - _ = (x - X) * (1 + delta)
    + X * delta); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
  have d1 : `|1 + delta| <= 1 + u.
    by apply: le_trans (ler_norm_add _ _) _; rewrite normr1 ler_add2l.
  apply: le_trans (ler_add (ler_pmul (normr_ge0 _) (normr_ge0 _) xX d1)
                           (ler_pmul (normr_ge0 _) (normr_ge0 _) XA du)) _.
  rewrite [X in X <= _](_ : _ = e k.+1 * A);
    first by rewrite ler_wpmul2r// e_mono.
  by rewrite /e exprS; ring.
rewrite (_ : _ - _ = (a * (1 + delta) - S) + (b * (1 + delta) - T));
  last by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite [X in _ <= X]mulrDr ler_add//.
  by apply: one aS; rewrite ?leq_maxl.
by apply: one bT; rewrite ?leq_maxr.
Qed.

(* a sum has as many roundings as terms *)
Lemma computed_error s c : computed s c -> (0 < size s)%N /\
  `|c - exact s| <= e (size s) * size_of s.
Proof.
rewrite /exact /size_of; elim=> {s c}.
- move=> x y delta du; rewrite !big_seq1 /=; split=> //.
  rewrite (_ : _ - _ = x * y * delta); last by ring.
  by rewrite !normrM mulrC ler_wpmul2r ?mulr_ge0// /e expr1 addrC addKr.
- move=> s t a b delta _ [s0 aE] _ [t0 bE] du;
  rewrite size_cat addn_gt0 s0 !big_cat /=; split=> //.
  apply: le_trans (round_sum du (exact_le s) (exact_le t) aE bE) _.
  rewrite ler_wpmul2r ?addr_ge0 ?size_ge0// e_mono//.
  by rewrite -maxnSS geq_max -addn1 leq_add2l t0 -add1n leq_add2r s0.
- move=> x y t b delta _ [t0 bE] du; rewrite !big_cons /=; split=> //.
  have xy : `|x * y| <= `|x| * `|y| by rewrite normrM.
  have x0 : `|x * y - x * y| <= e 0 * (`|x| * `|y|) by rewrite subrr normr0
    /e expr0 subrr mul0r.
  by have := round_sum du xy (exact_le t) x0 bE; rewrite max0n.
by move=> s t a st _ [s0 aE]; rewrite -(perm_size st) -!(perm_big _ st).
Qed.

(* roundings that add up to the constant *)
Lemma e_gamma n : n%:R * u < 1 -> e n <= gamma n.
Proof.
case: n => [|n] nu; first by rewrite /e /gamma expr0 subrr !mul0r.
have u1 := u_lt1 (ltn0Sn n) nu; rewrite /e ler_subl_addl.
apply: le_trans (powers_gamma nu); have v0 : 0 < 1 - u by rewrite subr_gt0.
have h : 1 + u <= (1 - u)^-1.
  rewrite -[(1 - u)^-1]mul1r ler_pdivl_mulr// (_ : _ * _ = 1 - u ^+ 2);
    last by ring.
  by rewrite ler_subl_addr ler_addl sqr_ge0.
have u10 := addr_ge0 ler01 u_ge0.
by rewrite -exprVn ler_expn2r// nnegrE// invr_ge0 ltW.
Qed.

Theorem dot_product_error s c : computed s c -> (size s)%:R * u < 1 ->
  `|c - exact s| <= gamma (size s) * size_of s.
Proof.
move=> /computed_error[_ h] nu; apply: le_trans h _.
by rewrite ler_wpmul2r ?size_ge0// e_gamma.
Qed.

(* state the bound of a product *)
Definition mxabs m n (A : 'M[R]_(m, n)) := map_mx Num.norm A.

(* proves thm:product-bound *)
Theorem product_error m k n
    (A : 'M[R]_(m, k)) (B : 'M_(k, n)) (C : 'M_(m, n)) :
  k%:R * u < 1 ->
  (forall i j, computed [seq (A i l, B l j) | l <- enum 'I_k] (C i j)) ->
  forall i j, mxabs (C - A *m B) i j <= gamma k * (mxabs A *m mxabs B) i j.

(* prove the bound of a product *)
Proof.
move=> ku cC i j; have := dot_product_error (cC i j).
rewrite size_map size_enum_ord => /(_ ku).
have -> : exact [seq (A i l, B l j) | l <- enum 'I_k] = (A *m B) i j.
  by rewrite mxE /exact big_map big_enum.
have -> : size_of [seq (A i l, B l j) | l <- enum 'I_k]
  = (mxabs A *m mxabs B) i j.
  by rewrite mxE /size_of big_map big_enum; apply: eq_bigr => l _;
    rewrite !mxE.
by move=> h; rewrite mxE [(C - _) i j]mxE [X in C i j + X]mxE.
Qed.
End Rounding.
