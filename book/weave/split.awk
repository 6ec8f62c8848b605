# split.awk - cut the woven book: per chapter one .tex for the text, one for the
# answers to its exercises, one for the code of its checks and programs.  Line n of
# each is line n of the .nw: a line goes to one of them, the others get "%".
#
# Chunks that only tests, benchmarks and figure programs use go to the back; in the
# text stays their name, with the page.  \printhere before such a chunk keeps it.
BEGIN { while ((getline s < marked) > 0) survey(s); close(marked)
        for (r in root) if (root[r] == "text") reach(r, "text")
        for (r in root) if (root[r] == "back") reach(r, "back") }
function survey(s,   n) {
  if (s ~ /^@file /) file = substr(s, 7)
  else if (s ~ /^@begin code/) { number = substr(s, 13); stay[file, number] = here; here = 0 }
  else if (s ~ /^@text \\printhere/) here = 1
  else if (s ~ /^@defn /) { name = substr(s, 7); of[file, number] = name
    if (name ~ /^\[\[/) root[name] = name ~ /^\[\[(bench|figures|tests\/[a-z_]*_(test|must_fail)\.)/ ? "back" : "text" }
  else if (s ~ /^@use /) uses[name] = uses[name] SUBSEP substr(s, 6)
}
function reach(c, where,   n, u, i) {      # a chunk of the text is never moved
  if (c in place) return
  place[c] = where; n = split(uses[c], u, SUBSEP)
  for (i = 2; i <= n; i++) reach(u[i], where)
}
function put(s) {
  print (to == "body" ? s : "%") > body; print (to == "answers" ? s : "%") > answers; print (to == "checks" ? s : "%") > checks }
{ if ((i = index($0, "\\nwfilename{")) > 0) {
    if (i > 1 && body != "") put(substr($0, 1, i - 1))
    $0 = substr($0, i); match($0, /\{[^}]*\}/); nw = substr($0, RSTART + 1, RLENGTH - 2)
    f = nw; sub(/.*\//, "", f); sub(/\.nw$/, "", f); to = "body"
    body = dir "/" f ".tex"; answers = dir "/answers-" f ".tex"; checks = dir "/checks-" f ".tex" } }
/^\\nwixlogsorted/ { ix = ix $0 "\n"; next }
/\\begin\{answer\}/ { to = "answers" }
to == "body" && match($0, /\\nwbegincode\{([0-9]+)\}/, m) && place[of[nw, m[1]]] == "back" && !stay[nw, m[1]] {
  before = substr($0, 1, RSTART - 1); after = substr($0, RSTART)
  i = index(after, "\\moddef{"); j = index(after, "}\\endmoddef"); k = index(after, "}\\plusendmoddef"); if (k && (!j || k < j)) j = k
  print before "\\codepointer{" substr(after, i + 8, j - i - 8) "}%" > body
  print "%" > answers; print after > checks; to = "checks"; next }
to == "checks" && (i = index($0, "\\nwendcode{}")) {
  print substr($0, 1, i + 11) "%" > checks; print "%" > answers; print substr($0, i + 12) > body; to = "body"; next }
{ put($0) }
/\\end\{answer\}/ { to = "body" }
END { printf "%s", ix > (dir "/indexes.tex") }
