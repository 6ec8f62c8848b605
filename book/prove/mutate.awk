# mutate.awk -v every=N -v from=M -v list=FILE (after coq.awk) NAME.v: what coqtop has to
# read to try mutants of the statements that prove something in the book: each stands
# before the original, with its proof.  A mutant is made at every N-th place that can be
# altered, counted from the M-th, and of every hypothesis.  LIST gets a line for each: number,
# file/theorem, place, kind, what stood there, the altered statement.
BEGIN {
  print "Set Default Timeout 60."
  kinds = "(Theorem|Lemma|Corollary|Proposition|Fact|Remark)" }
function coq(s, comment,   at) {
  if (comment ~ /^ *proves +[a-z]+:/) { claim = 1; where = place }
  if (state == "" && claim && match(s, "^ *" kinds " ")) { state = "said"; text = ""; claim = 0 }
  if (state == "said") {
    if (match(s, /(^| )Proof[. ]/)) {
      text = text " " substr(s, 1, RSTART - 1); s = substr(s, RSTART)
      state = "proof"; script = "" }
    else { text = text " " s; return } }
  if (state == "proof") {
    script = script s "\n"
    if (s ~ /(^|[ .])(Qed|Defined)\. *$/) {
      text = squeezed(text); alter(text); print text "\n" script; state = "" }
    return }
  print s }
function ended() {}
# The statement: its name, what it is about, hypotheses, and what it says.
function alter(t,   m, i, d, c, begin, last) {
  match(t, "^" kinds " +([A-Za-z_0-9']+)", m); head = m[1]; name = m[2]
  t = substr(t, RLENGTH + 1); d = 0; begin = 0
  for (i = 1; i <= length(t); i++) { c = substr(t, i, 1)
    if (c ~ /[[({]/) d++; else if (c ~ /[])}]/) d--
    else if (d == 0 && substr(t, i, 2) ~ /^: $/ && substr(t, i - 1, 1) == " ") {
      begin = i + 2; break } }
  # hypotheses: what stands before an arrow, after what is between comma and arrow
  start = last = concluding = begin
  for (i = begin; i <= length(t); i++) { c = substr(t, i, 1)
    if (c ~ /[[({]/) d++; else if (c ~ /[])}]/) d--
    else if (d == 0 && c == ",") last = i + 2
    else if (d == 0 && substr(t, i, 4) == " in ") last = i + 4
    else if (d == 0 && substr(t, i, 4) == " -> ") {
      mutant(t, last, i - last, "True", "hypothesis"); last = concluding = i + 4 } }
  each(t, begin, " (<=|<|==|!=|=|\\+|-|\\*|/|%/|%%|/\\\\|\\\\/|\\*m|->|<->) ", "operator")
  each(t, begin, "(\\.\\+1|\\.-1|\\^T|\\^-1|forall|exists|- )", "unary")
  each(t, begin, "([-=+*/<|] |\\()[0-9]+", "number")
  each(t, begin, "\\\\(sum|prod|max)_\\([a-z]+ < [A-Za-z0-9.+]+\\)", "range")
  each(t, begin, "[ (][A-Za-z_]+ [a-zA-Z][a-z0-9_']? [a-zA-Z][a-z0-9_']?([ ),;.]|$)", "arguments") }
function each(t, begin, re, kind,   rest, off, m) {
  off = begin - 2; rest = substr(t, begin - 1)
  while (match(rest, re, m)) {
    @kind(t, off + RSTART, RLENGTH, m[0], off + RSTART < concluding)
    off += RSTART; rest = substr(t, off + 1) } }
# Hypotheses are weakened, conclusions strengthened.
function operator(t, at, len, x, premise,   y) {
  gsub(/ /, "", x)
  y = x == "<=" ? (premise ? "" : "<") : x == "<" ? (premise ? "<=" : "") : x == "+" ? "-" : \
    x == "-" ? "+" : x == "*" ? "+" : x == "/" ? "*" : x == "%/" ? "%%" : x == "%%" ? "%/" : \
    x == "==" ? "!=" : x == "!=" ? "==" : x == "=" ? (premise ? "" : "!=") : ""
  if (y != "") mutant(t, at + 1, length(x), y, "operator")
  if (x == "=" && !premise && substr(t, at + 3, 1) != "0") mutant(t, at + 3, 0, "- ", "sign") }
function unary(t, at, len, x, premise) {
  if (x == "- ") { if (substr(t, at - 1, 1) ~ /[( ]/ && substr(t, at - 2, 1) ~ /[(=+*,]/)
      mutant(t, at, len, "", "sign") }
  else if (x == "forall" || x == "exists") {
    if (x == "exists" && !premise) mutant(t, at, len, "forall", "quantifier") }
  else mutant(t, at, len, "", "index") }
function number(t, at, len, x, premise,   n) {
  n = x; gsub(/[^0-9]/, "", n)
  mutant(t, at + length(x) - length(n), length(n), n + 1, "number") }
function range(t, at, len, x, premise) { mutant(t, at + len - 1, 0, ".+1", "range") }
function arguments(t, at, len, x, premise,   w, e) {
  sub(/^[ (]/, "", x); e = x ~ /[ ),;.]$/ ? substr(x, length(x)) : ""; sub(/[ ),;.]$/, "", x)
  split(x, w, " ")
  if (w[2] == w[3] || w[1] ~ /^(forall|exists|fun|in|let|is|if|then|else|with|end)$/) return
  if (w[2] ~ /^(in|is|as)$/ || w[3] ~ /^(in|is|as)$/) return
  at += len - length(x e)
  mutant(t, at, length(x), w[1] " " w[3] " " w[2], "arguments") }
function mutant(t, at, len, new, kind,   k, s) {
  if (kind != "hypothesis" && ((++places[kind]) + length(kind) + from) % every) return
  s = substr(t, 1, at - 1) new substr(t, at + len)
  k = ++count
  print head " mutant_" k s "\nShow Conjectures.\n" script "Abort All.\nLocate mutant_" k "."
  print k "\t" file "/" name "\t" where "\t" kind "\t" squeezed(substr(t, at, len)) "\t" \
    squeezed(substr(s, start)) > list }
