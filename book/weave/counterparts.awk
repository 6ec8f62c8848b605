# counterparts.awk DEFINITIONS CHAPTERS... TABLE: see book/weave/counterparts.
# TABLE: `module NAME: words', then lines of three columns, by tabs: their functions
# (commas), our counterparts (commas; `-' if none), a remark (LaTeX).
BEGIN { FS = "\t" }
FNR == 1 { n++; if (n > 1 && FILENAME !~ /\.nw$/) { tabled = 1
  left = ">{\\raggedright\\arraybackslash}"
  print "\\begin{longtable}{@{}" left "p{120pt}" left "p{148pt}c" left "p{132pt}@{}}" } }
n == 1 { if (!($1 in chapter)) chapter[$1] = $2; next }
!tabled { if (FNR == 1 && FILENAME !~ /-checks\.nw$/) label = ""   # the checks follow their chapter
  if (match($0, /^\\chapter\{.*\}\\label\{(.*)\}/, m)) label = m[1]
  if ($0 ~ /eq<|bookfig/) { text[++lines] = $0; from[lines] = label }
  next }
/^#/ || /^ *$/ { next }
/^module / { sub(/^module /, "")
    print (rows ? "\\addlinespace[4pt]" : "") "\\multicolumn{4}{@{}l}{\\itshape " $0 "}\\\\*[1pt]"
    next }
NF < 2 || ($2 == "-" && $3 == "") {
    complain("wants their name, our counterpart or `-', and a remark if `-'"); next }
{ where = ""; rows++
  print code($1) " & " ($2 == "-" ? "---" : ours($2)) " & " where " & " $3 "\\\\" }
END { if (!rows) { print FILENAME ": no counterparts" > "/dev/stderr"; bad = 1 }
  print "\\end{longtable}"; exit bad }
function complain(s) { print FILENAME ":" FNR ": " s > "/dev/stderr"; bad = 1 }
function code(s,   k, c, part, all) {
  c = split(s, part, /, */)
  for (k = 1; k <= c; k++)   # names that fit a column are not broken
    all = all (k > 1 ? ", " : "") (length(part[k]) > 27 ? "" : "\\mbox") \
      "{\\ttfamily\\breakable{" part[k] "}}"
  return all }
function ours(s,   k, c, part, all, t) {
  c = split(s, part, /; */)
  for (k = 1; k <= c; k++) { t = part[k]
    if (t ~ /^".*"$/) { t = substr(t, 2, length(t) - 2); place(printed("eq<", t), t)
      t = "$" t "$" }
    else if (t ~ /^fig:/) { place(printed("bookfig", "{" substr(t, 5) "}"), t)
        t = "\\cref{" t "}" }
    else { place(chapter[t], t); t = code(t) }
    all = all (k > 1 ? ", " : "") t }
  return all }
function printed(mark, t,   k) {
  for (k = 1; k <= lines; k++) if (index(text[k], mark) && index(text[k], t)) return from[k]
  return "" }
function place(label, t) {
  if (label == "") complain("no chapter has " t)
  else if (index(where, "{" label "}") == 0)
    where = where (where == "" ? "" : ", ") "\\ref{" label "}" }
