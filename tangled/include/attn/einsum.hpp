// include/attn/einsum.hpp: tangled from chapters/90-equations.nw; edit that file, not this one.
#pragma once

// include what an equation needs of the language
#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/tensor.hpp"

namespace attn {
// wrap a string for use as a template argument
/// The text of an equation as a template argument.
template <std::size_t N>
struct Text {
  char c[N]{};
  consteval Text(const char (&s)[N]) { std::copy_n(s, N, c); }
};
namespace detail {
// parse and judge equations

// enumerate what can be wrong
enum class Fault {
  none,
  no_equals, bad_character, bad_index, no_name, unclosed, no_factor,
  too_large,
  same_height, too_often, summed_on_left, dangling, height_moves,
  not_on_right, twice_on_left, label_summed, label_mixed
};

// define slots and factors
struct Slot {
  char letter = 0;
  Height height = up;
  bool label = false;
};
struct Factor {
  std::array<Slot, 8> slot{};
  std::size_t rank = 0;

  constexpr auto begin() const { return slot.begin(); }
  constexpr auto end() const { return begin() + std::ptrdiff_t(rank); }

  // count and find a letter in a factor
  constexpr int count(char letter) const {
    int n = 0;
    for (const Slot& s : *this) n += s.letter == letter;
    return n;
  }
  constexpr const Slot* find(char letter) const {
    for (const Slot& s : *this)
      if (s.letter == letter) return &s;
    return nullptr;
  }
};

// define terms and equations
struct Term {
  int num = 1, den = 1;
  std::array<Factor, 6> factor{};
  std::size_t n = 0, first = 0;

  constexpr auto begin() const { return factor.begin(); }
  constexpr auto end() const { return begin() + std::ptrdiff_t(n); }
  constexpr int count(char letter) const {
    int c = 0;
    for (const Factor& f : *this) c += f.count(letter);
    return c;
  }
};
struct Equation {
  Factor left;
  std::array<Term, 8> term{};
  std::size_t n = 0, arguments = 0;
  Fault fault = Fault::none;
  char letter = 0;

  constexpr auto begin() const { return term.begin(); }
  constexpr auto end() const { return begin() + std::ptrdiff_t(n); }
};

// list the accents and the Greek letters
inline constexpr std::array<std::string_view, 6> signs{
    "sum", "prod", "int", "cdot", "times", "otimes"};
inline constexpr std::array<std::string_view, 7> accents{
    "bar", "hat", "tilde", "dot", "mathbf", "mathrm", "mathcal"};
inline constexpr std::array<std::string_view, 24> greek{
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta",
    "iota", "kappa", "lambda", "mu", "nu", "xi", "omicron", "pi", "rho",
    "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"};

// read an equation
struct Reader {
  std::string_view s;
  std::size_t p = 0;
  Equation e;

  // look at one character
  constexpr bool done() {
    while (p < s.size() && (s[p] == ' ' || s[p] == '\n')) ++p;
    return p >= s.size();
  }
  constexpr char peek() { return done() ? '\0' : s[p]; }
  constexpr bool take(char c) { return peek() == c && ++p; }

  // complain and go to the end
  constexpr void fail(Fault f, char at) {
    if (e.fault == Fault::none) e.fault = f, e.letter = at;
    p = s.size();
  }
  constexpr void expect(char c, Fault f) {
    if (!take(c)) fail(f, peek());
  }

  // read a word or a command
  static constexpr bool lower(char c) { return 'a' <= c && c <= 'z'; }
  static constexpr bool alpha(char c) {
    return lower(c) || ('A' <= c && c <= 'Z');
  }
  constexpr std::string_view word() {
    const std::size_t begin = p;
    while (p < s.size() && alpha(s[p])) ++p;
    return s.substr(begin, p - begin);
  }
  constexpr bool take(std::string_view command) {
    if (peek() != '\\') return false;
    const std::size_t begin = p++;
    if (word() == command) return true;
    p = begin;
    return false;
  }

  // read a number
  constexpr bool digit() { return '0' <= peek() && peek() <= '9'; }
  constexpr int number() {
    if (!digit()) fail(Fault::bad_character, peek());
    int n = 0;
    while (digit() && n < 10000) n = 10 * n + (s[p++] - '0');
    return n;
  }

  // read a name
  constexpr void name() {
    if (take('\\')) {
      const auto command = word();
      if (command.empty()) return fail(Fault::bad_character, peek());
      if (std::ranges::find(signs, command) != signs.end())
        return fail(Fault::no_name, '\\');
      if (std::ranges::find(accents, command) != accents.end()) {
        const bool braced = take('{');
        name();
        if (braced) expect('}', Fault::unclosed);
      }
    } else if (alpha(peek())) ++p;
    else fail(Fault::bad_character, peek());
    while (take('\'')) {}
  }

  // read one index
  constexpr void index(Factor& f, Height height, bool label) {
    char letter = peek();
    if (lower(letter)) {
      ++p;
    } else if (take('\\')) {
      const auto g = std::ranges::find(greek, word());
      if (g == greek.end()) return fail(Fault::bad_index, '\\');
      letter = char('A' + (g - greek.begin()));
    } else {
      return fail(Fault::bad_index, letter);
    }
    if (f.rank == f.slot.size()) return fail(Fault::too_large, letter);
    f.slot[f.rank++] = {letter, height, label};
  }

  // read the indices of a factor
  constexpr void script(Factor& f, Height height) {
    if (!take('{')) return index(f, height, false);
    bool label = false;
    while (e.fault == Fault::none && !take('}')) {
      if (done()) fail(Fault::unclosed, '{');
      else if (!label && take('(')) label = true;
      else if (label && take(')')) label = false;
      else if (!take(',')) index(f, height, label);
    }
    if (label) fail(Fault::unclosed, '(');
  }
  constexpr void scripts(Factor& f) {
    for (;;) {
      if (take('^')) script(f, up);
      else if (take('_')) script(f, dn);
      else if (!take('{')) return;
      else expect('}', Fault::bad_character);
    }
  }

  // read a factor
  constexpr Factor factor() {
    Factor f;
    while (take("partial")) scripts(f);
    name();
    scripts(f);
    return f;
  }

  // read a coefficient
  constexpr void coefficient(Term& t) {
    if (take("tfrac") || take("frac")) {
      expect('{', Fault::bad_character);
      t.num *= number();
      expect('}', Fault::unclosed);
      expect('{', Fault::bad_character);
      t.den = number();
      if (t.den == 0) fail(Fault::bad_character, '0');
      expect('}', Fault::unclosed);
    } else if (digit()) {
      t.num *= number();
    }
  }

  // read a term
  constexpr void term() {
    if (e.n == e.term.size()) return fail(Fault::too_large, peek());
    Term& t = e.term[e.n++];
    t.first = e.arguments;
    if (take('-')) t.num = -1;
    else if (e.n > 1) expect('+', Fault::bad_character);
    coefficient(t);
    do {
      if (done()) return fail(Fault::no_factor, '=');
      if (t.n == t.factor.size()) return fail(Fault::too_large, peek());
      t.factor[t.n++] = factor();
    } while (!done() && peek() != '+' && peek() != '-');
    e.arguments += t.n;
  }

  // read the whole equation
  constexpr Equation equation() {
    e.left = factor();
    expect('=', Fault::no_equals);
    if (e.fault == Fault::none) do term(); while (!done());
    return e;
  }
};

// judge one slot by Einstein's rule
constexpr Fault judge(const Slot& x, const Term& t, const Factor& left) {
  const Slot* l = left.find(x.letter);
  int n = 0, u = 0, labels = l && l->label;
  for (const Factor& f : t)
    for (const Slot& y : f)
      if (y.letter == x.letter) ++n, u += y.height, labels += y.label;

  // judge a label
  if (labels > 0 && labels != n + (l ? 1 : 0)) return Fault::label_mixed;
  if (labels > 0) return l ? Fault::none : Fault::label_summed;

  // judge a sum or a free index
  if (n > 2) return Fault::too_often;
  if (n == 2 && l) return Fault::summed_on_left;
  if (n == 2) return u == 1 ? Fault::none : Fault::same_height;
  if (!l) return Fault::dangling;
  return l->height == x.height ? Fault::none : Fault::height_moves;
}

// judge the whole equation
constexpr Equation judged(Equation e) {
  using enum Fault;
  const auto note = [&e](Fault f, char letter) {
    if (f != none && e.fault == none) e.fault = f, e.letter = letter;
  };
  for (const Slot& x : e.left)
    if (e.left.count(x.letter) > 1) note(twice_on_left, x.letter);
  for (const Term& t : e) {
    for (const Factor& f : t)
      for (const Slot& x : f) note(judge(x, t, e.left), x.letter);
    for (const Slot& x : e.left)
      if (t.count(x.letter) == 0) note(not_on_right, x.letter);
  }
  return e;
}

// parse each text once
template <Text T>
inline constexpr Equation parsed =
    judged(Reader{std::string_view(T.c), 0, {}}.equation());

// report the fault of an equation
template <Fault f, char letter>
consteval void report() {
  using enum Fault;

  // say which symbol cannot be read
  static_assert(f != no_equals, "eq: the left side is not followed by =");
  static_assert(f != bad_character, "eq: cannot read this character");
  static_assert(f != bad_index,
      "eq: an index is a lower-case letter or a Greek command");
  static_assert(f != no_name,
      "eq: sums and products are written without a sign");
  static_assert(f != unclosed, "eq: a brace or parenthesis is not closed");
  static_assert(f != no_factor, "eq: a term has no factor");
  static_assert(f != too_large,
      "eq: more than 8 slots, 6 factors or 8 terms");

  // say which rule is broken
  static_assert(f != same_height,
      "eq: index summed between two slots of the same height; lower one "
      "with a metric g_{ab} or raise one with g^{ab}");
  static_assert(f != too_often,
      "eq: index occurs more than twice in a term; rename one pair");
  static_assert(f != summed_on_left,
      "eq: index is summed on the right and stands on the left as well; "
      "if no sum is meant, write it in parentheses: ^{(h)}");
  static_assert(f != dangling,
      "eq: index occurs once on the right and not on the left");
  static_assert(f != height_moves,
      "eq: free index is up on one side and down on the other");
  static_assert(f != not_on_right,
      "eq: index on the left is missing from a term on the right");
  static_assert(f != twice_on_left, "eq: index stands twice on the left");

  // say what is wrong with a label
  static_assert(f != label_summed,
      "eq: a label is not summed, so it has to stand on the left");
  static_assert(f != label_mixed,
      "eq: index is a label in one place and not in another");
}

// tell what has slots from what has not
template <class X>
concept Slotted = requires(const X& x) {
  typename X::scalar;
  X::height;
  x.stride();
};
template <class D>
D eigen_type(const Eigen::MatrixBase<D>*);

// see an argument as a tensor
template <class X>
decltype(auto) as_tensor(const X& x) {
  if constexpr (Slotted<X>) return (x);
  else if constexpr (requires { { x.tensor() } -> Slotted; })
    return x.tensor();
  else if constexpr (requires { eigen_type(&x); }) {
    if constexpr (Viewable<X, 1>) return view<up>(x);
    else if constexpr (Viewable<X, 2>) return view<up, up>(x);
  }
}
template <class X>
using Seen = std::remove_cvref_t<decltype(as_tensor(std::declval<X>()))>;

// compare heights of factor and argument
constexpr const Factor& nth_factor(const Equation& e, std::size_t k) {
  std::size_t t = 0;
  while (k >= e.term[t].first + e.term[t].n) ++t;
  return e.term[t].factor[k - e.term[t].first];
}
template <class X>
constexpr bool same_heights(const Factor& f) {
  for (std::size_t k = 0; k < f.rank; ++k)
    if (f.slot[k].height != X::height[k]) return false;
  return true;
}

// report what does not fit
template <Text T, std::size_t k, class X, class First>
consteval void report_argument() {
  constexpr const Factor& f = nth_factor(parsed<T>, k);
  static_assert(f.rank == X::rank,
      "eq: an argument has not as many slots as its factor");
  if constexpr (f.rank == X::rank)
    static_assert(same_heights<X>(f),
        "eq: an argument has a slot at another height than its factor; "
        "a bare matrix is rows of vectors, up and up, and a bare vector "
        "up: for other heights say view<up, dn>(m)");
  static_assert(
      std::is_same_v<typename X::scalar, typename First::scalar>,
      "eq: all arguments must have the same scalar type");
}

// lower equations to matrix products

// bind a factor to its numbers
struct Axis {
  char letter = 0;
  Index extent = 1, stride = 0;
};
template <class S>
struct Operand {
  S* data = nullptr;
  std::size_t rank = 0;
  std::array<Axis, 8> axis{};

  const Axis* begin() const { return axis.data(); }
  const Axis* end() const { return axis.data() + rank; }
  bool has(char letter) const {
    return std::any_of(begin(), end(),
                       [=](const Axis& x) { return x.letter == letter; });
  }
};

// find the step of an index
template <class S>
Index step(const Operand<S>& x, char letter) {
  Index sum = 0;
  for (const Axis& a : x)
    if (a.letter == letter) sum += a.stride;
  return sum;
}

// list the loops of a product
enum Role { summed = 1 + 2, row = 1 + 4, column = 2 + 4 };
struct Loop {
  char letter = 0;
  int role = 0;
  Index extent = 1, a = 0, b = 0, c = 0;
};
using Loops = std::vector<Loop>;
template <class S>
Loops loops_over(const Operand<const S>& A, const Operand<const S>& B,
                 const Operand<S>& C) {
  Loops loops;
  const auto add = [&](const Axis& x) {
    const char l = x.letter;
    for (const Loop& old : loops)
      if (old.letter == l) return;
    loops.push_back({l, A.has(l) + 2 * B.has(l) + 4 * C.has(l), x.extent,
                     step(A, l), step(B, l), step(C, l)});
  };
  for (const Axis& x : A) add(x);
  for (const Axis& x : B) add(x);
  return loops;
}

// walk over the remaining loops
template <class Body>
void walk(std::span<const Loop> loops, Index a, Index b, Index c,
          const Body& body) {
  if (loops.empty()) return body(a, b, c);
  const Loop& l = loops.front();
  for (Index t = 0; t < l.extent; ++t)
    walk(loops.subspan(1), a + t * l.a, b + t * l.b, c + t * l.c, body);
}

// multiply matrices by three loops
struct Triple {
  Loop m, n, k;
};
template <class S>
void multiply_by_loops(const S* A, const S* B, S* C, const Triple& g) {
  for (Index i = 0; i < g.m.extent; ++i)
    for (Index j = 0; j < g.n.extent; ++j) {
      S s(0);
      for (Index l = 0; l < g.k.extent; ++l)
        s += A[i * g.m.a + l * g.k.a] * B[l * g.k.b + j * g.n.b];
      C[i * g.m.c + j * g.n.c] += s;
    }
}

// multiply matrices by Eigen's product
template <class S, int order_a, int order_b>
void multiply_by_gemm(const S* A, const S* B, S* C, const Triple& g) {
  constexpr auto by_rows = Eigen::RowMajor;
  const Index m = g.m.extent, n = g.n.extent, k = g.k.extent;
  Eigen::internal::gemm_blocking_space<
      by_rows, S, S, Eigen::Dynamic, Eigen::Dynamic, Eigen::Dynamic>
      blocks(m, n, k, 1, true);
  Eigen::internal::general_matrix_matrix_product<
      Index, S, order_a, false, S, order_b, false, by_rows, 1>::
      run(m, n, k, A, order_a == by_rows ? g.m.a : g.k.a, B,
          order_b == by_rows ? g.k.b : g.n.b, C, 1, g.m.c, S(1), blocks);
}

// multiply a row and a matrix
template <class S, int order>
void multiply_row(const S* A, const S* B, S* C, const Triple& g) {
  using Row = Eigen::RowVectorX<S>;
  using Inner = Eigen::InnerStride<>;
  using Outer = Eigen::OuterStride<>;
  const Index n = g.n.extent, k = g.k.extent;
  const Eigen::Map<const Row, 0, Inner> a(A, k, Inner(g.k.a));
  const Eigen::Map<
      const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, order>, 0, Outer>
      b(B, k, n, Outer(order == Eigen::RowMajor ? g.k.b : g.n.b));
  Eigen::Map<Row>(C, n).noalias() += a * b;
}

// multiply a matrix and a column
template <class S, int order>
void multiply_column(const S* A, const S* B, S* C, const Triple& g) {
  const auto flip = [](Loop l) {
    std::swap(l.a, l.b);
    return l;
  };
  multiply_row<S, order>(B, A, C, {flip(g.n), flip(g.m), flip(g.k)});
}

// choose a kernel by the strides
template <class S>
auto kernel_for(const Triple& g) {
  if constexpr (std::is_arithmetic_v<S>) {
    constexpr int r = Eigen::RowMajor, c = Eigen::ColMajor;
    const auto unit = [](Index stride, const Loop& l) {
      return stride == 1 || l.extent == 1;
    };
    const bool a_rows = unit(g.k.a, g.k), a_columns = unit(g.m.a, g.m);
    const bool b_rows = unit(g.n.b, g.n), b_columns = unit(g.k.b, g.k);
    if (!unit(g.n.c, g.n)) return &multiply_by_loops<S>;

    // choose a kernel for vectors
    if (g.m.extent == 1 && b_rows) return &multiply_row<S, r>;
    if (g.m.extent == 1 && b_columns) return &multiply_row<S, c>;
    if (g.n.extent == 1 && unit(g.m.c, g.m)) {
      if (a_rows) return &multiply_column<S, c>;
      if (a_columns) return &multiply_column<S, r>;
    }

    // choose a kernel for matrices
    if (a_rows && b_rows) return &multiply_by_gemm<S, r, r>;
    if (a_rows && b_columns) return &multiply_by_gemm<S, r, c>;
    if (a_columns && b_rows) return &multiply_by_gemm<S, c, r>;
    if (a_columns && b_columns) return &multiply_by_gemm<S, c, c>;
  }
  return &multiply_by_loops<S>;
}

// pick the loop that the kernel takes over
inline Loop pick(Loops& loops, int role, Index Loop::*stride) {
  auto best = loops.end();
  for (auto l = loops.begin(); l != loops.end(); ++l)
    if (l->role == role && (best == loops.end() || (*best).*stride != 1))
      best = l;
  if (best == loops.end()) return {};
  const Loop l = *best;
  loops.erase(best);
  return l;
}
inline Triple kernel_loops(Loops& loops) {
  Triple g;
  g.n = pick(loops, column, &Loop::c);
  g.m = pick(loops, row, &Loop::a);
  g.k = pick(loops, summed, g.m.a == 1 ? &Loop::b : &Loop::a);
  return g;
}

// multiply two factors
template <class S>
void multiply(const Operand<const S>& A, const Operand<const S>& B,
              const Operand<S>& C) {
  if (C.rank > 0) {
    const char last = C.axis[C.rank - 1].letter;
    if (A.has(last) && !B.has(last)) return multiply<S>(B, A, C);
  }
  Loops loops = loops_over<S>(A, B, C);
  const Triple g = kernel_loops(loops);
  if (g.m.extent * g.n.extent * g.k.extent == 0) return;
  const auto kernel = kernel_for<S>(g);
  walk(loops, 0, 0, 0, [&](Index a, Index b, Index c) {
    kernel(A.data + a, B.data + b, C.data + c, g);
  });
}

// copy, transpose or trace one factor
template <class S>
void accumulate(const Operand<const S>& A, const Operand<S>& C) {
  walk(loops_over<S>(A, {}, C), 0, 0, 0,
       [&](Index a, Index, Index c) { C.data[c] += A.data[a]; });
}

// give an intermediate its storage
template <class S>
Index lay_out(Operand<S>& x) {
  Index size = 1;
  for (std::size_t k = x.rank; k-- > 0;) {
    x.axis[k].stride = size;
    size = times_extent(size, x.axis[k].extent);
  }
  return size;
}
template <class S>
void allocate(Operand<S>& x, std::deque<Vector<S>>& store) {
  store.push_back(Vector<S>::Zero(lay_out(x)));
  x.data = store.back().data();
}

// take the trace of a factor first
template <class S>
void trace(Operand<const S>& f, const Operand<S>& C,
           std::deque<Vector<S>>& store) {
  Operand<S> t;
  for (const Axis& x : f) {
    const auto same = [&](const Axis& y) { return y.letter == x.letter; };
    const bool once = std::count_if(f.begin(), f.end(), same) == 1;
    if ((once || C.has(x.letter)) && !t.has(x.letter))
      t.axis[t.rank++] = x;
  }
  if (t.rank == f.rank) return;
  allocate(t, store);
  accumulate<S>(f, t);
  f = {t.data, t.rank, t.axis};
}

// find the indices that a step keeps
template <class S>
Operand<S> kept(const Operand<const S>& A, const Operand<const S>& B,
                const Operand<S>& C,
                std::span<const Operand<const S>> later) {
  Operand<S> out;
  const auto keep = [&](const Axis& x) {
    bool needed = C.has(x.letter);
    for (const auto& y : later) needed = needed || y.has(x.letter);
    if (needed && !out.has(x.letter)) out.axis[out.rank++] = x;
  };
  for (const Axis& x : A) keep(x);
  for (const Axis& x : B) keep(x);
  return out;
}

// multiply the factors of a term
template <class S>
void fold(std::span<Operand<const S>> x, const Operand<S>& C) {
  std::deque<Vector<S>> store;
  for (auto& f : x) trace(f, C, store);
  if (x.size() == 1) return accumulate<S>(x[0], C);
  Operand<const S> P = x[0];
  for (std::size_t k = 1; k + 1 < x.size(); ++k) {
    Operand<S> Q = kept<S>(P, x[k], C, x.subspan(k + 1));
    allocate(Q, store);
    multiply<S>(P, x[k], Q);
    P = {Q.data, Q.rank, Q.axis};
  }
  multiply<S>(P, x.back(), C);
}

// add up the terms
template <class S>
void add_term(const Term& t, std::span<Operand<const S>> x,
              const Operand<S>& C) {
  if (t.num == t.den) return fold<S>(x, C);
  Operand<S> part = C;
  Vector<S> own = Vector<S>::Zero(lay_out(part));
  part.data = own.data();
  fold<S>(x, part);
  const S c = t.den == 1 ? S(t.num) : S(t.num) / S(t.den);
  for (Index q = 0; q < own.size(); ++q) C.data[q] += c * own(q);
}

// bind letters to extents
using Extents = std::array<Index, 128>;

inline std::string spelled(char letter) {
  if (letter >= 'a') return std::string(1, letter);
  return std::string(1, '\\').append(greek[std::size_t(letter - 'A')]);
}

inline void bind(const char* text, char letter, Index extent, Extents& n) {
  Index& known = n[std::size_t(letter)];
  require(known < 0 || known == extent, "eq<\"", text, "\">: index ",
          spelled(letter), " has extent ", known, " and ", extent);
  known = extent;
}

// turn an argument into an operand
template <class X>
auto bound(const char* text, const Factor& f, const X& x, Extents& n) {
  Operand<const typename X::scalar> o;
  if constexpr (requires { x.values; }) o.data = x.values.data();
  else o.data = x.first;
  const auto stride = x.stride();
  for (std::size_t k = 0; k < f.rank; ++k) {
    bind(text, f.slot[k].letter, x.dim[k], n);
    o.axis[o.rank++] = {f.slot[k].letter, x.dim[k], stride[k]};
  }
  return o;
}

// forget the dummies between terms
template <class X>
auto bound_argument(const char* text, const Equation& e, std::size_t k,
                    const X& x, Extents& n) {
  for (const Term& t : e)
    for (std::size_t c = 0; t.first == k && c < n.size(); ++c)
      if (!e.left.find(char(c))) n[c] = -1;
  return bound(text, nth_factor(e, k), x, n);
}

// name the type of the left side
template <class S, Text T, class = std::make_index_sequence<
                               parsed<T>.left.rank>>
struct Left;
template <class S, Text T, std::size_t... k>
struct Left<S, T, std::index_sequence<k...>> {
  using type = Tensor<S, parsed<T>.left.slot[k].height...>;
};
template <class... X>
using First = std::tuple_element_t<0, std::tuple<X...>>;

// see whether an argument lies in the result
template <class S>
bool overlap(const Operand<const S>& x, const Vector<S>& out) {
  Index last = 0;
  for (const Axis& a : x) {
    if (a.extent == 0) return false;
    last += (a.extent - 1) * a.stride;
  }
  const std::less<const S*> before;
  return !before(x.data + last, out.data()) &&
         before(x.data, out.data() + out.size());
}

// run an equation on its arguments
template <Text T, std::size_t... k, class R, class... X>
void run(std::index_sequence<k...>, R& out, const X&... x) {
  using S = typename R::scalar;
  constexpr const Equation& e = parsed<T>;
  (report_argument<T, k, X, First<X...>>(), ...);
  Extents n;
  n.fill(-1);
  std::array args{bound_argument(T.c, e, k, x, n)...};
  for (const auto& a : args)
    require(!overlap(a, out.values), "eq_into<\"", T.c,
            "\">: the result is among the arguments");
  Operand<S> C;
  for (const Slot& s : e.left)
    C.axis[C.rank++] = {s.letter, n[std::size_t(s.letter)], 0};

  // make the result a tensor of zeros
  for (std::size_t q = 0; q < C.rank; ++q) out.dim[q] = C.axis[q].extent;
  out.values.resize(lay_out(C));
  out.values.setZero();
  C.data = out.values.data();
  for (const Term& t : e)
    add_term<S>(t, std::span(args).subspan(t.first, t.n), C);
}

// name what a refused equation gives
struct Refused {};
}  // namespace detail

// evaluate an equation
/// The left side of a tensor equation written in LaTeX, one argument per
/// factor in order of appearance: a Tensor or TensorView; a matrix (rows
/// of vectors: up, up) or vector (up); a Metric (dn, dn).
/// Throws std::invalid_argument if an index has two extents.
/// Source: grammar and rules of ch. equations.
template <Text T, class... X>
auto eq(const X&... x) {
  // refuse a wrong equation or what is no tensor
  constexpr const detail::Equation& e = detail::parsed<T>;
  constexpr bool right = e.fault == detail::Fault::none;
  constexpr bool tensors = (detail::Slotted<detail::Seen<X>> && ...);
  constexpr bool ready = right && tensors && e.arguments == sizeof...(X);
  detail::report<e.fault, e.letter>();
  static_assert(!right || e.arguments == sizeof...(X),
                "eq: there must be as many arguments as factors");
  static_assert(tensors,
      "eq: an argument is no tensor; it has to be a Tensor, a view, a "
      "Metric, or a matrix or vector that lies in memory: evaluate an "
      "Eigen expression first, and give a number x as Tensor<S>(x)");
  if constexpr (ready) {
    using S = typename detail::Seen<detail::First<X...>>::scalar;
    typename detail::Left<S, T>::type out;
    detail::run<T>(std::index_sequence_for<X...>{}, out,
                   detail::as_tensor(x)...);
    return out;
  } else {
    return detail::Refused{};
  }
}

// evaluate an equation into a tensor
/// eq whose result replaces out, in the storage of out if it fits.
/// Throws like eq, and if an argument lies in the storage of out.
template <Text T, class R, class... X>
void eq_into(R& out, const X&... x) {
  using Result = decltype(eq<T>(x...));
  if constexpr (!std::is_same_v<Result, detail::Refused>) {
    static_assert(std::is_same_v<Result, R>,
                  "eq_into: the result has other slots than the left side");
    detail::run<T>(std::index_sequence_for<X...>{}, out,
                   detail::as_tensor(x)...);
  }
}

// count and explain
namespace detail {
// list letters without repetition
struct Letters {
  std::array<char, 50> c{};
  std::size_t n = 0;

  constexpr const char* begin() const { return c.data(); }
  constexpr const char* end() const { return begin() + n; }
  constexpr std::size_t find(char x) const {
    return std::size_t(std::find(begin(), end(), x) - begin());
  }
  constexpr bool has(char x) const { return find(x) < n; }
  constexpr void add(char x) { if (!has(x)) c[n++] = x; }
};

// list the indices of an equation
constexpr Letters letters(const Equation& e) {
  Letters all;
  for (const Slot& x : e.left) all.add(x.letter);
  for (const Term& t : e)
    for (const Factor& f : t)
      for (const Slot& x : f) all.add(x.letter);
  return all;
}

// follow the steps of a term on letters
struct Step {
  Letters loops, kept;
};
constexpr Letters open_letters(const Factor& f, const Factor& left) {
  Letters open;
  for (const Slot& x : f)
    if (f.count(x.letter) == 1 || left.find(x.letter)) open.add(x.letter);
  return open;
}
constexpr std::vector<Step> steps(const Equation& e, const Term& t) {
  std::vector<Step> out;
  Letters have = open_letters(t.factor[0], e.left);
  for (std::size_t k = 1; k < t.n; ++k) {
    Step s{have, {}};
    for (const char c : open_letters(t.factor[k], e.left)) s.loops.add(c);

    // keep the letters that are still needed
    for (const char c : s.loops) {
      bool needed = e.left.find(c);
      for (std::size_t q = k + 1; q < t.n; ++q)
        needed = needed || t.factor[q].find(c);
      if (needed) s.kept.add(c);
    }
    have = s.kept;
    out.push_back(s);
  }
  return out;
}

// multiply the extents of some loops
constexpr Index volume(const Letters& loops, const Letters& names,
                       std::span<const Index> n) {
  Index v = 1;
  for (const char c : loops) v = times_extent(v, n[names.find(c)]);
  return v;
}

// put the roles into words
inline std::string listed(const Letters& letters) {
  std::string s;
  for (const char c : letters) s += (s.empty() ? "" : " ") + spelled(c);
  return s.empty() ? "none" : s;
}
inline std::string roles_in_words(const Equation& e) {
  Letters free, label, summed;
  for (const char c : letters(e)) {
    const Slot* l = e.left.find(c);
    (!l ? summed : l->label ? label : free).add(c);
  }
  return "free: " + listed(free) + "; summed: " + listed(summed) +
         "; labels: " + listed(label) + "\n";
}

// put a product into words
inline std::string count_in_words(const Letters& loops,
                                  const Letters& names,
                                  std::span<const Index> n) {
  std::string count;
  for (const char c : loops)
    count += (count.empty() ? "n_" : " n_") + spelled(c);
  if (!n.empty()) count = std::to_string(volume(loops, names, n));
  if (count.empty()) count = "1";
  return count + " multiplications\n";
}
inline std::string step_in_words(const Step& s, const Letters& names,
                                 std::span<const Index> n) {
  Letters summed;
  for (const char c : s.loops)
    if (!s.kept.has(c)) summed.add(c);
  return "product for each " + listed(s.kept) + ", sum over " +
         listed(summed) + ": " + count_in_words(s.loops, names, n);
}
}  // namespace detail

// count multiplications
/// Number of multiplications that eq spends on an equation.
/// Extents in the order of first appearance of the indices, left side
/// first.  A constant expression if the extents are.
/// Throws std::invalid_argument if an extent is negative or the number
/// is too large for an Index.
template <Text T, std::integral... N>
constexpr Index cost(N... extents) {
  constexpr const detail::Equation& e = detail::parsed<T>;
  detail::report<e.fault, e.letter>();
  constexpr detail::Letters names = detail::letters(e);
  static_assert(sizeof...(N) == names.n, "cost: one extent for each index");
  const std::array<Index, sizeof...(N)> n{Index(extents)...};
  Index total = 0;
  const auto count = [&](const detail::Letters& loops) {
    const Index v = detail::volume(loops, names, n);
    require(total <= std::numeric_limits<Index>::max() - v,
            "cost: more multiplications than an Index counts");
    total += v;
  };
  for (const auto& t : e) {
    for (const auto& s : detail::steps(e, t)) count(s.loops);
    if (t.num != t.den) count(detail::open_letters(e.left, e.left));
  }
  return total;
}

// explain an equation
/// What eq does for an equation, in words: free and summed indices, the
/// products in their order with their loops, and the cost.
/// Extents as for cost, or none.
template <Text T, std::integral... N>
std::string explain(N... extents) {
  constexpr const detail::Equation& e = detail::parsed<T>;
  detail::report<e.fault, e.letter>();
  constexpr detail::Letters names = detail::letters(e);
  static_assert(sizeof...(N) == 0 || sizeof...(N) == names.n,
                "explain: one extent for each index, or none");
  const std::vector<Index> n{Index(extents)...};
  std::string s = std::string(T.c) + "\n" + detail::roles_in_words(e);

  // tell the products of each term
  for (const auto& t : e) {
    for (const auto& step : detail::steps(e, t))
      s += detail::step_in_words(step, names, n);
    if (t.num != t.den)
      s += "coefficient: " +
           detail::count_in_words(detail::open_letters(e.left, e.left),
                                  names, n);
  }
  if constexpr (sizeof...(N) > 0)
    s += "total: " + std::to_string(cost<T>(extents...)) +
         " multiplications\n";
  return s;
}
}  // namespace attn
