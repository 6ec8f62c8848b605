# cxx.awk - noweb filter, after noidx and before totex: C++ highlighting.
# Reads first what noidx was given, only to count each chunk's lines, so that no page
# begins or ends with a single line of one.  Only @text inside code chunks is cut into
# words; @index and @xref lines pass, so that chunk links and identifier links survive.
# A span is {\hlX{}...}.
BEGIN {
  n = split("alignas alignof auto bool break case catch char class concept const " \
    "consteval constexpr constinit const_cast continue decltype default delete do " \
    "double else enum explicit extern false float for friend if inline int long " \
    "mutable namespace new noexcept nullptr operator private protected public " \
    "requires return short signed sizeof static static_assert static_cast struct " \
    "switch template this thread_local throw true try typename union unsigned " \
    "using virtual void volatile while reinterpret_cast", w, " ")
  for (i = 1; i <= n; i++) keyword[w[i]] = 1
  closing["b"] = "\\*/"; closing["s"] = "^([^\"\\\\]|\\\\.)*\""; closing["r"] = "\\)\""
}
function text(s)    { plain = plain s }        # neighbours go out as one
function put(line)  { if (plain != "") print "@text " plain; plain = ""; print line }
function open(k)    { put("@literal {\\hl" k "{}"); mode = k }
function shut()     { put("@literal }"); mode = "" }
function span(k, s) { open(k); text(s); shut() }
function words(s,   n, i, w, between) {
  n = patsplit(s, w, /[A-Za-z_][A-Za-z_0-9]*/, between); text(between[0])
  for (i = 1; i <= n; i++) {
    if (w[i] in keyword) span("k", w[i]); else text(w[i])
    text(between[i]) }
}
# Break s into tokens; mode is "" or the open span:
# c line comment, b block comment, s string, r raw string.
function lex(s,   t) {
  while (s != "") {
    if (mode == "c") { text(s); return
    } else if (mode != "") {
      if (!match(s, closing[mode])) { text(s); return }
      text(substr(s, 1, RSTART + RLENGTH - 1)); s = rest(s); shut()
    } else if (bol && match(s, /^[ \t]*#[ \t]*[a-z]+/)) {
      t = substr(s, 1, RLENGTH); span("p", t); s = rest(s)
      if (t ~ /include/ && match(s, /<[^>]+>/)) {
        text(substr(s, 1, RSTART - 1)); span("s", substr(s, RSTART, RLENGTH)); s = rest(s) }
    } else if (match(s, /^([^"'\/]|[0-9]'[0-9A-Fa-f])+/)) {
      words(substr(s, 1, RLENGTH)); s = rest(s)
    } else if (s ~ /^"\(/ && sub(/R$/, "", plain)) { open("r"); text("R\"("); s = substr(s, 3)
    } else if (match(s, /^\/\/\/?/)) { open("c"); text(substr(s, 1, RLENGTH)); s = rest(s)
    } else if (match(s, /^\/\*/))    { open("b"); text("/*"); s = rest(s)
    } else if (match(s, /^"/))       { open("s"); text("\""); s = rest(s)
    } else if (match(s, /^'([^'\\]|\\[^x]|\\x[0-9a-fA-F]+)'/)) {
      span("s", substr(s, 1, RLENGTH)); s = rest(s)
    } else { text(substr(s, 1, 1)); s = substr(s, 2) }
    bol = 0
  }
}
function keep(k, n,   t) {  # may a page end after line k of n?  Not within a head
  t = k < 2 || n - k < 2 || head ~ /^ *(\/\/\/|template)/
  if (t != tight) put("@literal \\nw" (t ? "tight" : "loose") "{}")
  tight = t
}
function rest(s) { return substr(s, RSTART + RLENGTH) }
FNR == 1 { pass++; chunk = code = 0 }
pass == 1 { if (/^@begin code/) { chunk++; code = 1 } else if (/^@end code/) code = 0
            else if (code && /^@nl/) lines[chunk]++; next }
/^@begin code/ { code = 1; mode = ""; bol = 1; chunk++; at = -1; tight = coq = 0 }
code && $0 == "@literal \\coqcode{}" { coq = 1; coq_begins() }
code && coq && /^@text / { whole = whole substr($0, 7); next }
whole != ""    { coq_line(whole); whole = "" }
/^@end code/   { if (mode != "") shut(); code = 0 }
# noidx puts "@xref ref" before the thing it refers to: hold it until that is known
held != "" && !/^@index use / { put(held); held = "" }
code && /^@text /      { s = last = substr($0, 7); if (bol) head = s
                         if (linked) { put($0); bol = 0 } else lex(s)
                         linked = 0; next }
code && /^@xref ref /  { held = $0; next }
code && /^@index use / { # finduses is lexical: no links in comments, strings, foreign names
                         if (mode == "" && last !~ /(std|Eigen|boost|benchmark|rc)::$/) {
                           put(held); put($0); linked = 1 }
                         held = ""; next }
code && /^@nl/         { m = mode; if (m != "") shut()
                         keep(++at, lines[chunk] - 1); head = ""; put($0)
                         if (m == "b" || m == "r") open(m); bol = 1; next }
{ put($0) }
