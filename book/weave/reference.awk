# reference.awk TEX... LIST: what api.awk listed, typeset.  Line n of each TEX is line n
# of its chapter, which tells in which chunk a declaration stands.  With -v lint=1 a
# comment that names an equation or a theorem must name one that there is.
BEGIN { print "\\begin{apireference}%" }
FILENAME ~ /\.tex$/ {
  if (FNR == 1) { nw = FILENAME; sub(/.*\//, "", nw); sub(/^(answers|checks)-/, "", nw)
                  sub(/tex$/, "nw", nw); nw = "chapters/" nw }
  if (match($0, /\\sublabel\{([^}]*)\}/, m)) chunk[nw, FNR] = m[1]
  if (match($0, /\\chapter\{.*\}\\label\{([^}]*)\}/, m)) chapter[nw] = m[1]
  if (!/\\(label|codeequation)\{/) next
  for (s = $0; match(s, /\\(label|codeequation)\{([^}]*)\}/, m); s = rest(s)) label[m[2]] = 1
  for (s = $0; match(s, /\{[^{}]*\\label\{([^}]*)\}/, m); s = rest(s)) label[m[1]] = 1
  next }
FNR == 1 { FS = "\t"; $0 = $0 }
{ source = $2; kind = $3; name = $4; comment = $6 }
kind == "member" { member(shown($5, kind, ""), comment, source); next }
{ finish(pending == comment && kind == "function" && was == "function") }
$1 != header { header = $1; print "\\refheader{" tex(header) "}{" number(source) "}%" }
{ printf "\\refentry{%s}{%s}%%\n", chunk_of(source), shown($5, kind, name)
  if (kind ~ /struct|class|enum/ || pending != comment) text = said(comment, source)
  pending = comment; was = kind }
END { if (bad) exit 1; finish(0); print "\\end{apireference}" }

function rest(s) { return substr(s, RSTART + RLENGTH) }
function number(source,   p) {     # of the chapter; LaTeX knows it by the label
  split(source, p, ":")
  return p[1] in chapter ? "\\ref{" chapter[p[1]] "}" : "" }
function chunk_of(source,   p, l) {
  split(source, p, ":"); for (l = p[2]; l > 0; l--) if ((p[1], l) in chunk) return chunk[p[1], l]
  print source ": in no chunk" > "/dev/stderr"; exit bad = 1 }
function tex(s) {
  gsub(/\\/, "\\textbackslash{}", s); gsub(/[{}]/, "\\\\&", s)
  gsub(/\\textbackslash\\{\\}/, "\\textbackslash{}", s)
  gsub(/[_&%#$]/, "\\\\&", s); gsub(/\^/, "\\textasciicircum{}", s);
      gsub(/~/, "\\textasciitilde{}", s)
  gsub(/>>/, ">\\kern0pt>", s); gsub(/>>/, ">\\kern0pt>", s)
  gsub(/<</, "<\\kern0pt<", s); gsub(/--/, "-\\kern0pt-", s); return s }
# a declaration without its body and trimmings, its name set off
function shown(s, kind, name,   i) {
  gsub(/template <class = void> /, "", s)
  if (s ~ /^ *template <class S> .*[^A-Za-z_]S[^A-Za-z_0-9]/) sub(/template <class S> /, "", s)
  sub(/^ *(inline |static_assert.*|friend (constexpr )?)/, "", s); gsub(/ inline /, " ", s)
  gsub(/ +/, " ", s)
  if (kind == "enum") { sub(/ *; *$/, "", s); sub(/^ +/, "", s) }
  else if (kind == "member" && is_data(s)) { gsub(/\{\}/, "", s); sub(/ *; *$/, "", s);
      sub(/^ +/, "", s) }
  else s = without_body(s, kind)
  if (name != "" && match(s, "(^|[^A-Za-z0-9_:])" name "($|[^A-Za-z0-9_])")) {
    i = RSTART; if (substr(s, i, length(name)) != name) i++
    return tex(substr(s, 1, i - 1)) "\\apiname{" tex(name) "}" tex(substr(s, i + length(name))) }
  return tex(s) }
function is_data(s) {              # and not a function or a type within
  while (gsub(/<[^<>]*>/, "", s));
  sub(/[={].*/, "", s)
  return s !~ /[(~]/ && s !~ /^ *(struct|class|enum|template) / }
function without_body(s, kind,   i, c, deep) {
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    if (c == "(") deep++
    else if (c == ")") deep--
    else if (deep) continue
    else if (c ~ /[;{]/ || c == ":" && substr(s, i - 2, 4) == ") : ") break
    else if (c == "=" && kind == "value" && substr(s, i - 1, 3) == " = " &&
             substr(s, 1, i) !~ /template <[^>]*$/) break }
  s = substr(s, 1, i - 1); sub(/ +$/, "", s); sub(/^ +/, "", s)
  return s }
function known(kind, l) { return ((kind ":" l) in label) }
function said(s, source,   m, out, kind) {         # the comment, its references made real
  while (match(s, /(^|[^a-z])(eqs?|thm|prop|def|lem|cor|ch|sec)\. ([a-z][a-z0-9-]*)/, m)) {
    kind = m[2]; sub(/s$/, "", kind)
    out = out tex(substr(s, 1, RSTART - 1) m[1] m[2] "."); s = rest(s)
    if (known(kind, m[3])) out = out "~\\ref{" kind ":" m[3] "}"
    else { out = out " " tex(m[3]); unknown(source, m[2] ". " m[3]) }
    while (match(s, /^(, | to | and )([a-z][a-z0-9-]*)/, m) && known(kind, m[2])) {
      out = out m[1] "\\ref{" kind ":" m[2] "}"; s = substr(s, RLENGTH + 1) } }
  return out tex(s) }
function unknown(source, what) {
  if (lint) { print source ": comment refers to " what ", which there is not" > "/dev/stderr"
      bad = 1 } }
# members without a comment of their own stand in one line
function member(sig, comment, source) {
  if (comment == "") { loose = loose (loose == "" ? "" : "; ") sig; return }
  spill(); members = members "\\refmember{" sig "}{" said(comment, source) "}%\n" }
function spill() { if (loose != "") members = members "\\refmember{" loose "}{}%\n"; loose = "" }
function finish(same) {
  spill()
  if (!same && text != "") { print "\\reftext{" text "}%"; text = "" }
  printf "%s", members; members = "" }
