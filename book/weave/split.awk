# split.awk - cut the woven book: per chapter one .tex for the text, one for the
# answers to its exercises, one for the code of its checks and programs.  Line n of
# each is line n of the .nw: a line goes to one of them, the others get "%".
#
# To the back go chunks that only tests, benchmarks and figure programs use, and
# plumbing: chunks of nothing but includes, namespaces and other chunks.  In the text
# stays a mark with their page.  \printhere on a line before such a chunk keeps
# it; \printlater sends back one of the library's.  What stands between
# \begin{back} and \end{back}, prose and code, is printed at the back as a whole.
BEGIN { while ((getline s < plain) > 0) survey(s); close(plain)
        for (r in root) if (root[r] == "text") reach(r, "text")
        for (r in root) if (root[r] == "back") reach(r, "back")
        for (t in tag) { split(t, q, SUBSEP); if (!back(q[1], q[2])) intext[q[3]] = 1 } }
function survey(s,   m) {
  if (s ~ /^@file /) file = substr(s, 7)
  else if (s ~ /^@begin code/) { number = substr(s, 13); stay[file, number] = here; here = ""; incode = 1; plumbing[file, number] = 1 }
  else if (s ~ /^@end code/) incode = 0
  else if (match(s, /^@text \\print(here|later)/, m)) here = m[1]
  else if (s ~ /^@defn /) { name = substr(s, 7); of[file, number] = name
    if (name ~ /^\[\[/) root[name] = name ~ /^\[\[(bench|examples|figures|tests)\// && name !~ /\/verify\./ ? "back" : "text" }
  else if (incode && s ~ /^@text/) { if (s !~ /^@text ? *(#(include|pragma)|namespace|\}  \/\/|\/\/ |$)/) plumbing[file, number] = 0 }
  else if (match(s, /^@literal \\eqtag\{([^}]*)\}/, m)) tag[file, number, m[1]] = 1
  else if (s ~ /^@use /) uses[name] = uses[name] SUBSEP substr(s, 6)
}
function reach(c, where,   n, u, i) {      # a chunk of the text is never moved
  if (c in place) return
  place[c] = where; n = split(uses[c], u, SUBSEP)
  for (i = 2; i <= n; i++) reach(u[i], where)
}
function back(f, n) {
  return stay[f, n] != "here" && (stay[f, n] == "later" || plumbing[f, n] || place[of[f, n]] == "back") }
# The text is held back a chapter at a time: where a chunk has gone to the back its
# mark runs on from the sentence that led to it, and a short paragraph goes on.
function text(s,   m) {
  held[++lines] = s; if (!quiet(s)) spoken = 1
  if (match(s, /\\moddef\{(.*)~\{\\nwtagstyle/, m)) shown = m[1]
  if (s ~ /\\nwendcode\{\}/) { marked = shown; spoken = 0 } }
function quiet(s) { return s ~ /^(%|\\print(later|here)|\\nwbegindocs\{[0-9]+\}(\\nwdocspar)?|\\nwenddocs\{\})?$/ }
function flush(   i) { for (i = 1; i <= lines; i++) print held[i] > body; lines = 0; joining = 0 }
function structure(s) { return s ~ /^\\(chapter|section|subsection|paragraph|bookfig|begin|end|label|item|\[|\])/ || s ~ /\\(nwbegincode|codeequation|end\{[a-z*]+\}|\])/ }
function so_far(   i, n) {        # characters of the paragraph that the last line belongs to
  for (i = lines; i > 0 && held[i] !~ /^$|\\par$/ && !structure(held[i]); i--) n += length(held[i])
  return n }
function part(before,   n, p, i, l) {   # equations that the text never names go with their code
  n = split(before, p, /\\codeequation\{/); named = unnamed = ""
  for (i = 2; i <= n; i++) if (p[i] ~ /^eq:code-/ && !((l = substr(p[i], 1, index(p[i], "}") - 1)) in intext)) unnamed = unnamed "\\codeequation{" p[i]; else named = named "\\codeequation{" p[i] }
function mark(before, s,   i, name) {   # before may hold the displays of equations
  part(before); name = s; sub(/~\{.*/, "", name)
  if (!spoken && name == marked && named == "") { text("%"); return }   # it goes on, and so does its mark
  marked = name
  for (i = lines; i > 0 && quiet(held[i]); i--) held[i] = "%"
  moved = 0; i = above_display(above_floats(i))
  match(s, /\\subpageref\{[^}]*\}/)
  s = (spoken ? "" : "\\allowbreak") "\\codemark{" substr(s, RSTART, RLENGTH) "}"
  if (held[i] ~ /^(\\(allowbreak|codemark).*)?\\end\{(erratum|proof|remark|example)\}/ && named == "") {   # no line for a mark alone
    sub(/\\end\{/, s "\\end{", held[i]); text("%") }
  else if (i < lines && held[i] !~ /^\\/ && held[i] != "" && named == "" && moved) { held[i] = held[i] s "%"; text("%") }
  else { text(s named (named != "" ? "\\eqalone%" : "%")); joining = lines }
  spoken = 0 }
function above_display(i,   j) {  # nor does a mark stand alone below a formula
  if (held[i] !~ /(^|[^\\])\\\]$|\\end\{(equation|align|gather|multline)\*?\}$/) return i
  for (j = i; j > 0 && held[j] !~ /^ *(\\\[|\\begin\{(equation|align|gather|multline))/; j--) {}
  moved = 1; return j - 1 }
function above_floats(i,   j) {   # figures and tables may stand between a sentence and its code
  for (j = i; j > 0 && held[j] != ""; j--) {}
  if (held[j + 1] !~ /^\\(bookfig|begin\{(table|figure)\})/) return i
  while (j > 0 && held[j] == "") j--
  moved = 1
  return above_floats(j) }
function join(s) {                # s follows a mark: on with the paragraph?
  if (quiet(s)) { text("%"); return }
  if (structure(s) || so_far() > 900) sub(/%$/, "\\par", held[joining])
  sub(/^\\nwbegindocs\{[0-9]+\}/, "", s)
  joining = 0; text(s) }
function put(s) {
  if (to == "body" && joining) join(s); else text(to == "body" ? s : "%")
  print (to == "answers" ? s : "%") > answers; print (to == "checks" ? s : "%") > checks }
{ if ((i = index($0, "\\nwfilename{")) > 0) {
    if (i > 1 && body != "") put(substr($0, 1, i - 1))
    $0 = substr($0, i); match($0, /\{[^}]*\}/); nw = substr($0, RSTART + 1, RLENGTH - 2)
    flush(); f = nw; sub(/.*\//, "", f); sub(/\.nw$/, "", f); to = "body"
    body = dir "/" f ".tex"; answers = dir "/answers-" f ".tex"; checks = dir "/checks-" f ".tex" } }
/^\\nwixlogsorted/ { ix = ix $0 "\n"; next }
/\\begin\{answer\}/ { to = "answers" }
/\\begin\{back\}/ { to = "checks"; whole = 1 }
to == "body" && match($0, /\\nwbegincode\{([0-9]+)\}/, m) && back(nw, m[1]) {
  before = substr($0, 1, RSTART - 1); after = substr($0, RSTART)
  i = index(after, "\\moddef{"); j = index(after, "}\\endmoddef"); k = index(after, "}\\plusendmoddef"); if (k && (!j || k < j)) j = k
  mark(before, substr(after, i + 8, j - i - 8))
  print "%" > answers; print unnamed after > checks; to = "checks"; next }
to == "checks" && !whole && (i = index($0, "\\nwendcode{}")) {
  print substr($0, 1, i + 11) "%" > checks; print "%" > answers; to = "body"; join(substr($0, i + 12)); next }
{ put($0) }
/\\end\{(answer|back)\}/ { to = "body"; whole = 0 }
END { flush(); printf "%s", ix > (dir "/indexes.tex") }
