// mutant.hpp: all mutants of the library in one program.  `mutate.awk' puts marks
// of these types between the tokens of the headers; each mark has the precedence
// of what it alters, and does nothing unless its number is the active one.
//   a + swap{7} + b   is a - b for mutant 7;   x += other{8} = y   is x += -y.
#pragma once
#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace mutant {
inline int active = 0;           // no mutant is number 0
inline bool recording = false;   // which marks are passed, and which can bite
inline unsigned char passed[20000], able[20000];

constexpr bool on(int k, bool possible = true) {
  if (std::is_constant_evaluated()) return false;
  if (recording) passed[k] = 1, able[k] |= possible;
  return possible && active == k;
}
// What an expression stands for, kept: Eigen's refer to their operands.
template <class T>
constexpr auto kept(T&& x) {
  if constexpr (requires { x.eval(); }) return x.eval();
  else return std::decay_t<T>(std::forward<T>(x));
}
template <class T> using Kept = decltype(kept(std::declval<T>()));

template <class A, int kind> struct Left { A a; int k; };
struct swap { int k; };     // of operators: + -, * /, < <=, > >=, == !=
struct either { int k; };   // drops the right side of &&
struct both { int k; };     // drops the right side of ||
struct undo { int k; };     // the ! or - that follows
struct other { int k;       // of what is assigned: the opposite
  template <class T> constexpr auto operator=(T&& x) const {
    if constexpr (std::same_as<std::decay_t<T>, bool>) return on(k) ? !x : x;
    else if constexpr (requires { { kept(-x) } -> std::same_as<Kept<T>>; }) {
      if (on(k)) return kept(-x);
      return kept(x);
    } else { on(k, false); return kept(std::forward<T>(x)); }
  }
};
struct flip { int k;        // a condition
  template <class T> constexpr bool operator=(T&& x) const { return on(k) != bool(x); }
};
#define MUTANT_PAIR(kind, op, op2)                                             \
  template <class A> constexpr Left<A&&, kind> operator op(A&& a, swap s) {    \
    return {std::forward<A>(a), s.k}; }                                        \
  template <class A, class B>                                                  \
  constexpr auto operator op(Left<A, kind> l, B&& b) {                         \
    using R = Kept<decltype(l.a op b)>;                                        \
    if constexpr (requires { { kept(l.a op2 b) } -> std::same_as<R>; }) {      \
      if (on(l.k)) return R(kept(l.a op2 b));                                  \
    } else { on(l.k, false); }                                                 \
    return R(kept(l.a op b)); }
MUTANT_PAIR(0, +, -)
MUTANT_PAIR(1, -, +)
MUTANT_PAIR(2, *, /)
MUTANT_PAIR(3, /, *)
MUTANT_PAIR(4, <, <=)
MUTANT_PAIR(5, <=, <)
MUTANT_PAIR(6, >, >=)
MUTANT_PAIR(7, >=, >)
MUTANT_PAIR(8, ==, !=)
MUTANT_PAIR(9, !=, ==)
#undef MUTANT_PAIR
template <class B> constexpr auto operator|(either e, B&& b) {
  if constexpr (std::is_constructible_v<bool, B>) return on(e.k) | bool(b);
  else { on(e.k, false); return kept(std::forward<B>(b)); }
}
template <class B> constexpr auto operator&(both e, B&& b) {
  if constexpr (std::is_constructible_v<bool, B>) return !on(e.k) & bool(b);
  else { on(e.k, false); return kept(std::forward<B>(b)); }
}
template <class B> constexpr auto operator->*(undo u, B&& b) {
  if constexpr (std::same_as<std::decay_t<B>, bool>) return on(u.k) ? !b : b;
  else if constexpr (requires { { kept(-b) } -> std::same_as<Kept<B>>; }) {
    if (on(u.k)) return kept(-b);
    return kept(b);
  } else { on(u.k, false); return kept(std::forward<B>(b)); }
}
// A number, or the next one.
template <class T> constexpr T next(int k, T x) {
  return on(k) ? x == T(0) || k % 2 ? T(x + 1) : T(x - 1) : x;
}
// Of two arguments the first, or the second if they can be exchanged.
template <class A, class B> constexpr A& first(int k, A& a, B& b) {
  if constexpr (std::same_as<A, B>) return on(k) ? b : a;
  else { on(k, false); return a; }
}
template <class T> constexpr T max(swap s, const T& a, const T& b) {
  return on(s.k) ? std::min(a, b) : std::max(a, b);
}
template <class T> constexpr T min(swap s, const T& a, const T& b) {
  return on(s.k) ? std::max(a, b) : std::min(a, b);
}
template <class T> constexpr T max(swap s, std::initializer_list<T> x) {
  return on(s.k) ? std::min(x) : std::max(x);
}
template <class T> constexpr T min(swap s, std::initializer_list<T> x) {
  return on(s.k) ? std::max(x) : std::min(x);
}
}  // namespace mutant
