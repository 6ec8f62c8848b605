# mutate.awk -v every=N -v from=M -v out=DIR -v drop=FILE HEADER...: the headers with
# #line directives, with a mark of mutant.hpp at every N-th place that can be altered,
# counted from the M-th.
# Standard output: a line for each mutant, number, header, chapter:line, kind, C++
# as it is and as it becomes, and 1 if it stands in a constexpr function.
# `compiled' lists headers whose constant functions the compiler alone runs.
# Lines of `drop' (chapter:line) are left alone: there a mark does not compile.
function masked(s,   r, i, c, q) {                # strings and comments blanked
  r = ""
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    if (raw) { r = r "\1"; if (substr(s, i, 2) == ")\"") { r = r "\1"; i++; raw = 0 }; continue }
    if (q == "") {
      if (substr(s, i, 2) == "//") { while (i++ <= length(s)) r = r " "; return r }
      if (substr(s, i, 3) == "R\"(") { raw = 1; r = r "\1"; continue }
      if (c == "\"" || (c == "'" && substr(s, i - 1, 1) !~ /[0-9]/)) { q = c; r = r "\1"; continue }
      r = r c
    } else { r = r "\1"; if (c == "\\") { r = r "\1"; i++ } else if (c == q) q = "" }
  }
  return r
}
# A mutant of the given kind: from `at', `len' characters become `text' (K: its number).
function mutant(kind, at, len, text, becomes,   k) {
  if (constant && by_compiler) return
  if (((++places[kind]) + length(kind) + from) % every || where in dropped) return
  k = ++count; gsub(/K/, k, text)
  if (len > 0) { cut[at] = len; ins[at] = ins[at] text }
  else ins[at] = kind == "sign" && text ~ /undo/ ? ins[at] text : text ins[at]
  printf "%d\t%s\t%s\t%s\t%s\t%s\t%d\n", k, header, where, kind, line(at, len, ""), becomes,
      constant
}
function line(at, len, x) { x = $0; gsub(/\t/, " ", x); sub(/^ +/, "", x); return x }
function shown(at, len, new,   x) {
  x = substr($0, 1, at - 1) new substr($0, at + len); sub(/^ +/, "", x); return x
}
# calls f for each match of re in the masked line
function each(re, f,   rest, off) {
  rest = m; off = 0
  while (match(rest, re, g)) {
    @f(off + RSTART, RLENGTH, g[1])
    off += RSTART + (RLENGTH > 1 ? RLENGTH - 2 : 0); rest = substr(m, off + 1)
  }
}
function binary(at, len, op) {
  if (substr(m, 1, at) ~ /<([A-Za-z0-9_]+, )?[A-Za-z0-9_]+ $/ &&
      substr(m, at + len) ~ /^[A-Za-z0-9_]+(, [A-Za-z0-9_]+)?>/) return  # <n - 1>
  if (op == "&&") mutant("logic", at + 4, 0, "mutant::either{K} | ", shown(at, len,
      " /* && ... */ "))
  else if (op == "||") mutant("logic", at + 4, 0, "mutant::both{K} & ", shown(at, len,
      " /* || ... */ "))
  else mutant(op ~ /[<>=]/ ? "comparison" : "operator", at + length(op) + 1, 0,
      " mutant::swap{K} " op,
              shown(at, len, " " twin[op] " "))
}
function unary(at, len, op,   p) {
  p = at + len - 2; if (substr(m, p + 1, 1) ~ /[=\-]/) return
  mutant("sign", p, 0, "mutant::undo{K}->*", shown(p, 1, ""))
}
function condition(at, len, w,   c) {
  c = substr(m, at + len)
  if (c ~ /^(const|auto|Index|int) /) return
  mutant("condition", at + len, 0, "mutant::flip{K} = ", shown(at + len, 0, "not "))
}
function guard(at, len, w) {
  if (m ~ /void require/) return
  mutant("guard", at + len, 0, "mutant::on(K) || ", shown(at + len, 0, "true || "))
}
function number(at, len, v,   p) {
  p = at + len - 1 - length(v)
  if (substr(m, at + len - 1, 1) ~ /[A-Za-z0-9_.>'xX]/) return
  mutant("constant", p, length(v), "mutant::next(K, " v ")", shown(p, length(v), v == 0 ||
      (count + 1) % 2 ? v + 1 : v - 1))
}
function exchange(at, len, x,   p, a, b, head) {
  head = substr(m, 1, at)
  if (head ~ /(if|for|while|return|switch|requires|decltype|sizeof) ?$/ || g[1] == g[2] ||
      g[0] ~ /\<(up|dn)\>/) return
  p = at + index(g[0], "(")
  a = g[1]; b = g[2]
  mutant("arguments", p, length(a ", " b),
      "mutant::first(K, " a ", " b "), mutant::first(K, " b ", " a ")",
         shown(p, length(a ", " b), b ", " a))
}
function extreme(at, len, w,   p, t) {
  if (substr(m, at + len) ~ /^\)/) return
  mutant("operator", at, len, "mutant::" g[1] g[2] "(mutant::swap{K}, ", shown(at, len,
      "std::" (g[1] == "max" ? "min" : "max") g[2] "("))
}
function extent(at, len, w) {
  mutant("extent", at, len, ".mutant_" w "(K)", shown(at, len, w == "rows" ? ".cols()" : ".rows()"))
}
function transposed(at, len, w) { mutant("transpose", at, len, ".mutant_transpose(K)",
  shown(at, len, "")) }
# A statement of one line, and only that on it.
function statement(   p) {
  if (m !~ /^ *[a-z][A-Za-z_0-9.()\[\], >*-]* ([-+*\/|]?=) [^{}]*; *$/ &&
      m !~ /^ *[a-z][A-Za-z_0-9.]*\([^{}]*\); *$/ && m !~ /^ *(continue|break); *$/) return 0
  if (m ~ /^ *(return|const|auto|using|else|do|case|if|for|while|friend|static)\>/) return 0
  if (m ~ /^ *(template|require|require_domain)\>/) return 0
  if (m ~ /^ *[A-Za-z_][A-Za-z_0-9]* [A-Za-z_]/ || before !~ /[;{})]$/) return 0
  if (constant && by_compiler) return 0
  if (((++places["statement"]) + 9 + from) % every || where in dropped) return 0
  k = ++count
  match(m, /^ */); p = RLENGTH + 1
  printf "%d\t%s\t%s\tstatement\t%s\t%s\t%d\n", k, header, where, line(), "/* " line() " */",
      constant
  match(m, / *$/)
  ins[p] = "{ if (!mutant::on(" k ")) " ins[p]; tail = " }"
  return 1
}
BEGIN {
  split("+ - * / < <= > >= == !=", o, " "); split("- + / * <= < >= > != ==", t, " ")
  for (i in o) twin[o[i]] = t[i]
  if (drop != "") while ((getline d < drop) > 0) dropped[d]
}
FNR == 1 { header = FILENAME; sub(/.*\/include\//, "", header); file = out "/" header
  by_compiler = index(" " compiled, " " header " ")
  raw = skipping = constant = depth = message = asking = 0; before = "" }
/^#line/ { nw = $3; gsub(/"/, "", nw); number_ = $2 - 1; print > file; next }
{ number_++; where = nw ":" number_; delete ins; delete cut; tail = ""; was = raw
    m = whole = masked($0)
  # what a guard says when it throws is left alone
  if (m ~ /\<require(_domain)?\(/) { asking = 1; message = 0 }
  if (asking) {
    if (message) gsub(/[^ ]/, "\1", m)
    else if (match(m, /\1|\<(who|function)\>/)) { message = 1
      m = substr(m, 1, RSTART - 1) gensub(/[^ ]/, "\1", "g", substr(m, RSTART)) }
    if (whole ~ /;/) asking = message = 0
  }
}
directive { print > file; directive = /\\$/; next }
/^ *#/ { directive = /\\$/; print > file
    if (/pragma once/) print "#include \"mutant.hpp\"" > file; next }
m ~ /^ *((static|inline) )*constexpr [^(]*=|^ *(static_assert|using|concept|template *<|enum)/ ||
m ~ /\<(requires|concept)\>|operator *[-+*\/<>=!&|]|= *(delete|default);|\<if constexpr\>/ {
  skipping = 1 }
by_compiler && m ~ /^  [a-z:_]+ [a-z]+ = [0-9]/ {
    skipping = 1 }   # of what the compiler reads, at first
m ~ /^ *((static|inline|friend|virtual|explicit) )*(constexpr|consteval) / && !constant &&
    m ~ /^[^=]*\(/ { constant = 1; level = depth }
!skipping && !was && m !~ /^ *(case|default|struct|class|namespace|public|private) / {
  statement()
  each("[^ ] (\\+|-|\\*|/|<|<=|>|>=|==|!=|&&|\\|\\|)( |$)", "binary_")
  each("[(,=?:{] ?(!|-)[A-Za-z(]", "unary")
  each("return (-)[A-Za-z(]", "unary"); each("&& (!)[A-Za-z(]", "unary")
      each("\\|\\| (!)[A-Za-z(]", "unary")
  each(" (\\+=|-=) ", "assign_")
  each("\\<(if|while) \\(", "condition")
  each("\\<(require|require_domain)\\(", "guard")
  each("[ (\\[]([0-9]+|[0-9]+\\.[0-9]+)([ );,\\]]|$)", "number")
  each("[A-Za-z_0-9>]\\(([A-Za-z_][A-Za-z_0-9]*), ([A-Za-z_][A-Za-z_0-9]*)\\)", "exchange")
  each("std::(max|min)(<[A-Za-z_:0-9]+>)?\\(", "extreme")
  each("\\.(rows|cols)\\(\\)", "extent"); each("\\.(transpose)\\(\\)", "transposed")
}
function binary_(at, len, op) { binary(at + 1, length(op) + 2, op) }
function assign_(at, len, op) { mutant("sign", at + len, 0, "mutant::other{K} = ", shown(at, len,
    (op == "+=" ? " -= " : " += "))) }
{ m = whole; x = ""
  for (i = 1; i <= length($0) + 2; i++) {
    if (i in ins) x = x ins[i]
    if (i in cut) { i += cut[i] - 1; continue }
    x = x substr($0, i, 1)
  }
  c = ""; if (tail != "" && match(x, / *\/\/[^"]*$/)) { c = substr(x, RSTART)
      x = substr(x, 1, RSTART - 1) }
  print x tail c > file
  depth += gsub(/{/, "{", m) - gsub(/}/, "}", m)
  if (constant && depth <= level && m ~ /[;}] *$/) constant = 0
  if (skipping && m ~ /[;{}>] *$/ ) skipping = 0
  sub(/ +$/, "", m); if (m != "") before = m
}
