(* proofs/chains.v: tangled from chapters/91-checking-checks.nw; edit that file, not this one. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From attn Require Import rounding.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* what may be computed with underflow, in Coq *)
Section Underflow.
Variables (R : realFieldType) (u : R).
Hypothesis u_ge0 : 0 <= u.
(* h is half of the smallest number; products may underflow by it *)
Inductive underflown (h : R) : seq (R * R) -> R -> Prop :=
| UProduct x y delta eps : `|delta| <= u -> `|eps| <= h ->
    underflown h [:: (x, y)] (x * y * (1 + delta) + eps)
| USum s t a b delta : underflown h s a -> underflown h t b ->
    `|delta| <= u -> underflown h (s ++ t) ((a + b) * (1 + delta))
| UFused x y t b delta eps : underflown h t b -> `|delta| <= u ->
    `|eps| <= h ->
    underflown h ((x, y) :: t) ((x * y + b) * (1 + delta) + eps)
| UOrder s t a : perm_eq s t -> underflown h s a -> underflown h t a.
Definition rounded h m k n (A : 'M[R]_(m, k)) (B : 'M_(k, n))
  (C : 'M_(m, n)) := forall i j,
  underflown h [seq (A i l, B l j) | l <- enum 'I_k] (C i j).

(* powers of one and a rounding *)
Let p n : R := (1 + u) ^+ n.
Let e n := p n - 1.
Lemma p_ge1 n : 1 <= p n. Proof. by rewrite exprn_ege1// ler_addl. Qed.
Lemma p_ge0 n : 0 <= p n. Proof. exact: le_trans ler01 (p_ge1 n). Qed.
Lemma e_ge0 n : 0 <= e n. Proof. by rewrite subr_ge0 p_ge1. Qed.
Lemma p_mono m n : (m <= n)%N -> p m <= p n.
Proof. by move=> mn; rewrite ler_weexpn2l// ler_addl. Qed.
Lemma pD m n : p (m + n) = p m * p n. Proof. exact: exprD. Qed.
Lemma more x X delta A i k L : (i < k)%N -> `|delta| <= u -> `|X| <= A ->
  0 <= L -> `|x - X| <= e i * A + p i * L ->
  `|x * (1 + delta) - X| <= e k * A + p k * L.
Proof.
move=> ik du XA L0 xX; have A0 := le_trans (normr_ge0 _) XA.
rewrite (_ : _ - _ = (x - X) * (1 + delta) + X * delta); last by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
have d1 : `|1 + delta| <= 1 + u.
  by apply: le_trans (ler_norm_add _ _) _; rewrite normr1 ler_add2l.
apply: le_trans (ler_add (ler_pmul (normr_ge0 _) (normr_ge0 _) xX d1)
                         (ler_pmul (normr_ge0 _) (normr_ge0 _) XA du)) _.
rewrite [X in X <= _](_ : _ = e i.+1 * A + p i.+1 * L).
  by rewrite ler_add// ler_wpmul2r// ?ler_sub// p_mono.
by rewrite /e /p exprS; ring.
Qed.
Lemma together (E P A B m n h : R) : E * A + P * (m * h)
  + (E * B + P * (n * h)) = E * (A + B) + P * ((m + n) * h).
Proof. ring. Qed.
Lemma one_more (E P A B m h : R) : E * A + P * 0 + (E * B + P * (m * h))
  + P * h = E * (A + B) + P * ((m + 1) * h).
Proof. ring. Qed.
Lemma two_errors (x y b d z s : R) : (x * y + b) * (1 + d) + z - (x * y + s)
  = x * y * (1 + d) - x * y + (b * (1 + d) - s) + z.
Proof. ring. Qed.
Lemma grow (q r s l b : R) :
  (q - 1) * (r * (s + l) * b) + ((r - 1) * s + r * l) * b =
  (r * q - 1) * (s * b) + r * q * (l * b).
Proof. ring. Qed.
Lemma grow_both (q r t s b : R) :
  (q - 1) * (r * s * (t * b)) + ((r - 1) * s * (t * b) + s * ((t - 1) * b)) =
  (r * q * t - 1) * (s * b).
Proof. ring. Qed.
Lemma split_error (a b c d : R) : a * b - c * d = (a - c) * b + c * (b - d).
Proof. ring. Qed.

(* a sum with underflow *)
Lemma underflown_error h s c : 0 <= h -> underflown h s c ->
  (0 < size s)%N /\ `|c - exact s| <=
    e (size s) * size_of s + p (size s) * ((size s)%:R * h).
Proof.
move=> h0; rewrite /exact /size_of; elim=> {s c}.
- move=> x y delta eps du eh; rewrite !big_seq1 /=; split=> //.
  rewrite (_ : _ - _ = x * y * delta + eps); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite !normrM mul1r ler_add//.
    by rewrite mulrC ler_wpmul2r ?mulr_ge0// /e /p expr1 addrC addKr.
  by rewrite (le_trans eh)// ler_pemull// p_ge1.
- move=> s t a b delta _ [s0 aE] _ [t0 bE] du.
  rewrite size_cat addn_gt0 s0 !big_cat /=; split=> //.
  set k := (size s + size t)%N.
  have sk : (size s < k)%N by rewrite /k -[X in (X < _)%N]addn0 ltn_add2l.
  have tk : (size t < k)%N by rewrite /k -[X in (X < _)%N]add0n ltn_add2r.
  have hs := more sk du (exact_le s) (mulr_ge0 (ler0n _ _) h0) aE.
  have ht := more tk du (exact_le t) (mulr_ge0 (ler0n _ _) h0) bE.
  rewrite (_ : _ - _ = (a * (1 + delta) - exact s)
    + (b * (1 + delta) - exact t)); last by rewrite mulrDl opprD addrACA.
  apply: le_trans (ler_norm_add _ _) (le_trans (ler_add hs ht) _).
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  have kE : k%:R = (size s)%:R + (size t)%:R :> R by rewrite /k natrD.
  by rewrite kE; exact: together.
- move=> x y t b delta eps _ [t0 bE] du eh; rewrite !big_cons /=; split=> //.
  set k := (size t).+1; have xy : `|x * y| <= `|x| * `|y| by rewrite normrM.
  have x0 : `|x * y - x * y| <= e 0 * (`|x| * `|y|) + p 0 * 0.
    by rewrite subrr normr0 /e /p expr0 subrr mul0r mulr0 addr0.
  have hx := more (ltn0Sn (size t)) du xy (lexx 0) x0.
  have ht := more (ltnSn (size t)) du (exact_le t)
    (mulr_ge0 (ler0n _ _) h0) bE.
  rewrite (_ : _ - _ = (x * y * (1 + delta) - x * y)
    + (b * (1 + delta) - exact t) + eps); last exact: two_errors.
  apply: le_trans (ler_norm_add _ _) _.
  apply: le_trans (ler_add (le_trans (ler_norm_add _ _) (ler_add hx ht))
    (le_trans eh (_ : _ <= p k * h))) _; first by rewrite ler_pemull// p_ge1.
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  have kE : k%:R = (size t)%:R + 1 :> R by rewrite /k mulrSr.
  by rewrite kE; exact: one_more.
by move=> s t a st _ [s0 aE]; rewrite -(perm_size st) -!(perm_big _ st).
Qed.

(* a product of matrices, entry by entry *)
Lemma rounded_error h m k n (A : 'M[R]_(m, k)) (B : 'M_(k, n)) C i j :
  0 <= h -> rounded h A B C -> `|C i j - (A *m B) i j| <=
  e k * (mxabs A *m mxabs B) i j + p k * (k%:R * h).
Proof.
move=> h0 /(_ i j)/(underflown_error h0)[_].
rewrite size_map size_enum_ord.
have -> : exact [seq (A i l, B l j) | l <- enum 'I_k] = (A *m B) i j.
  by rewrite mxE /exact big_map big_enum.
have -> // : size_of [seq (A i l, B l j) | l <- enum 'I_k]
    = (mxabs A *m mxabs B) i j.
by rewrite mxE /size_of big_map big_enum; apply: eq_bigr => l _; rewrite !mxE.
Qed.
Lemma e_le_gamma n : n%:R * u < 1 -> p n <= 1 + gamma u n.
Proof. by move=> /(e_gamma u_ge0); rewrite ler_subl_addl. Qed.

(* state the bound of a product with underflow *)
(* proves thm:product-bound *)
Theorem product_with_underflow h m k n (A : 'M[R]_(m, k))
    (B : 'M_(k, n)) (C : 'M_(m, n)) i j :
  0 <= h -> k%:R * u < 1 -> rounded h A B C ->
  mxabs (C - A *m B) i j <= gamma u k * (mxabs A *m mxabs B) i j
    + (1 + gamma u k) * (k%:R * h).

(* prove the bound of a product with underflow *)
Proof.
move=> h0 ku r; have pg := e_le_gamma ku; have := rounded_error i j h0 r.
have S0 : 0 <= (mxabs A *m mxabs B) i j.
  by rewrite mxE sumr_ge0// => l _; rewrite !mxE mulr_ge0.
rewrite [mxabs (C - _) i j]mxE [(C - _) i j]mxE [(- (A *m B)) i j]mxE => h1.
apply: le_trans h1 _; rewrite ler_add// ler_wpmul2r// ?mulr_ge0 ?ler0n//.
by rewrite ler_subl_addl.
Qed.

(* chains, in Coq *)
(* The computed product of some factors, the exact one, that of their
   absolute values, the sum that underflow adds, and the sum of the
   inner extents. *)
Inductive chain h m : forall n,
  'M[R]_(m, n) -> 'M[R]_(m, n) -> 'M[R]_(m, n) -> 'M[R]_(m, n) ->
    nat -> Prop :=
| Factor n (A : 'M[R]_(m, n)) : chain h A A (mxabs A) 0 0
| Times n q (P' P S L : 'M_(m, n)) k (B : 'M_(n, q)) C :
    chain h P' P S L k -> rounded h P' B C ->
    chain h C (P *m B) (S *m mxabs B)
      (L *m mxabs B + const_mx (n%:R * h)) (k + n).

(* a chain is near its product *)
Definition near m n (P' P S L : 'M[R]_(m, n)) k := forall i j,
  [/\ `|P i j| <= S i j, 0 <= L i j
    & `|P' i j - P i j| <= e k * S i j + p k * L i j].
Lemma abs_near m n (P' P S L : 'M[R]_(m, n)) k i j : near P' P S L k ->
  `|P' i j| <= p k * (S i j + L i j).
Proof.
move=> /(_ i j)[PS L0 PP]; rewrite -[P' i j](subrK (P i j)).
apply: le_trans (ler_norm_add _ _) (le_trans (ler_add PP PS) _).
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /e; ring.
Qed.
Lemma times_near h m n q (P' P S L : 'M[R]_(m, n)) k (B : 'M_(n, q)) C :
  0 <= h -> near P' P S L k -> rounded h P' B C ->
  near C (P *m B) (S *m mxabs B) (L *m mxabs B + const_mx (n%:R * h)) (k + n).
Proof.
move=> h0 nP r i j; have nh : 0 <= n%:R * h by rewrite mulr_ge0 ?ler0n.
split.
- rewrite !mxE; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => l _.
  by rewrite normrM [mxabs B l j]mxE ler_wpmul2r//; have [] := nP i l.
- rewrite !mxE addr_ge0// sumr_ge0// => l _; rewrite [mxabs B l j]mxE.
  by rewrite mulr_ge0//; have [] := nP i l.
have -> : C i j - (P *m B) i j = (C i j - (P' *m B) i j)
    + ((P' *m B) i j - (P *m B) i j) by rewrite addrA subrK.
apply: le_trans (ler_norm_add _ _) _.
have h1 := rounded_error i j h0 r.
have h2 : `|(P' *m B) i j - (P *m B) i j| <=
    \sum_l (e k * S i l + p k * L i l) * `|B l j|.
  rewrite !mxE -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: ler_sum => l _; rewrite -mulrBl normrM ler_wpmul2r//.
  by have [] := nP i l.
have h3 : (mxabs P' *m mxabs B) i j <= \sum_l p k * (S i l + L i l) *
  `|B l j|.
  rewrite mxE; apply: ler_sum => l _; rewrite !mxE ler_wpmul2r//.
  exact: abs_near.
apply: le_trans (ler_add (le_trans h1 (ler_add (ler_wpmul2l (e_ge0 n) h3)
  (_ : _ <= p (k + n) * (n%:R * h)))) h2) _.
  by rewrite ler_wpmul2r// p_mono// leq_addl.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite !mxE addrAC mulrDr addrA; congr (_ + _).
rewrite !mulr_sumr -!big_split; apply: eq_bigr => l _ /=.
by rewrite !mxE /e pD; exact: grow.
Qed.
Lemma chain_near h m n (P' P S L : 'M[R]_(m, n)) k : 0 <= h ->
  chain h P' P S L k -> near P' P S L k.
Proof.
move=> h0; elim=> {n P' P S L k} [n A i j|n q P' P S L k B C _ IH r].
  by rewrite !mxE subrr normr0 /e /p expr0 subrr mul0r mulr0 addr0.
exact: times_near IH r.
Qed.

(* state the bound of a chain *)
(* proves thm:product-bound *)
Theorem chain_error h m n (P' P S L : 'M[R]_(m, n)) k i j :
  0 <= h -> k%:R * u < 1 -> chain h P' P S L k ->
  mxabs (P' - P) i j <= gamma u k * S i j + (1 + gamma u k) * L i j.

(* prove the bound of a chain *)
Proof.
move=> h0 ku /(chain_near h0)/(_ i j)[PS L0 PP]; have pg := e_le_gamma ku.
rewrite !mxE; apply: le_trans PP _; rewrite ler_add// ler_wpmul2r//.
  exact: le_trans (normr_ge0 _) PS.
by rewrite ler_subl_addl.
Qed.

(* products grouped in any way, in Coq *)
(* in whatever order, if nothing underflows *)
Inductive grouped : forall m n,
  'M[R]_(m, n) -> 'M[R]_(m, n) -> 'M[R]_(m, n) -> nat -> Prop :=
| Single m n (A : 'M[R]_(m, n)) : grouped A A (mxabs A) 0
| Pair m n q (P' P S : 'M_(m, n)) k (Q' Q T : 'M_(n, q)) l C :
    grouped P' P S k -> grouped Q' Q T l -> rounded 0 P' Q' C ->
    grouped C (P *m Q) (S *m T) (k + n + l).

(* a product is near, however it is grouped *)
Lemma grouped_near m n (P' P S : 'M[R]_(m, n)) k : grouped P' P S k ->
  near P' P S 0 k.
Proof.
elim=> {m n P' P S k} [m n A i j|m n q P' P S k Q' Q T l C _ nP _ nQ r i j].
  by rewrite !mxE subrr normr0 /e /p expr0 subrr mul0r mulr0 addr0.
have S0 a b : 0 <= S a b by have [h _ _] := nP a b; exact: le_trans h.
have T0 a b : 0 <= T a b by have [h _ _] := nQ a b; exact: le_trans h.
split; last 1 first.
- have := rounded_error i j (lexx 0) r; rewrite mulr0 mulr0 addr0 => h1.
  rewrite [(0 : 'M[R]_(m, q)) i j]mxE mulr0 addr0.
  have -> : C i j - (P *m Q) i j = (C i j - (P' *m Q') i j)
      + ((P' *m Q') i j - (P *m Q) i j) by rewrite addrA subrK.
  apply: le_trans (ler_norm_add _ _) (le_trans (ler_add h1 (lexx _)) _).
  have aP a b : `|P' a b| <= p k * S a b.
    by have := abs_near a b nP; rewrite mxE addr0.
  have aQ a b : `|Q' a b| <= p l * T a b.
    by have := abs_near a b nQ; rewrite mxE addr0.
  have h2 : (mxabs P' *m mxabs Q') i j <=
      \sum_b (p k * S i b) * (p l * T b j).
    by rewrite mxE; apply: ler_sum => b _; rewrite !mxE ler_pmul.
  have h3 : `|(P' *m Q') i j - (P *m Q) i j| <=
      \sum_b (e k * S i b * (p l * T b j) + S i b * (e l * T b j)).
    rewrite !mxE -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
    apply: ler_sum => b _.
    rewrite split_error.
    apply: le_trans (ler_norm_add _ _) _; rewrite !normrM.
    have [p1 _ p2] := nP i b; have [q1 _ q2] := nQ b j.
    by rewrite !mxE !mulr0 !addr0 in p2 q2; rewrite ler_add// ler_pmul.
  apply: le_trans (ler_add (ler_wpmul2l (e_ge0 n) h2) h3) _.
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  rewrite mxE !mulr_sumr -!big_split; apply: eq_bigr => b _ /=.
  by rewrite /e !pD; exact: grow_both.
- rewrite !mxE; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => b _.
  by rewrite normrM ler_pmul//; [have [] := nP i b | have [] := nQ b j].
by rewrite mxE.
Qed.

(* state the bound of products in any order *)
(* proves thm:product-bound *)
Theorem grouped_error m n (P' P S : 'M[R]_(m, n)) k i j :
  k%:R * u < 1 -> grouped P' P S k ->
  mxabs (P' - P) i j <= gamma u k * S i j.

(* prove the bound of products in any order *)
Proof.
move=> ku /grouped_near/(_ i j)[PS _]; have pg := e_le_gamma ku.
rewrite !mxE mulr0 addr0 => PP; apply: le_trans PP _; rewrite ler_wpmul2r//.
  exact: le_trans (normr_ge0 _) PS.
by rewrite ler_subl_addl.
Qed.
End Underflow.
