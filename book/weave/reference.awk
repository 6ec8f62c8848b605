# reference.awk TEX... LIST: what api.awk listed, typeset.  Line n of each TEX is line n
# of its chapter, which tells in which chunk a declaration stands.  With -v lint=1 a
# comment that names an equation or a theorem must name one that there is.
function tex(s) { gsub(/\\/, "\\textbackslash{}", s); gsub(/[{}]/, "\\\\&", s); gsub(/\\textbackslash\\{\\}/, "\\textbackslash{}", s)
  gsub(/[_&%#$]/, "\\\\&", s); gsub(/\^/, "\\textasciicircum{}", s); gsub(/~/, "\\textasciitilde{}", s)
  gsub(/>>/, ">\\kern0pt>", s); gsub(/>>/, ">\\kern0pt>", s); gsub(/<</, "<\\kern0pt<", s); gsub(/--/, "-\\kern0pt-", s); return s }
function chunk_of(source,   p, l) { split(source, p, ":"); for (l = p[2]; l > 0; l--) if ((p[1], l) in chunk) return chunk[p[1], l]
  print source ": in no chunk" > "/dev/stderr"; exit bad = 1 }
function shown(s, name,   i, c, deep, m, out) {   # the declaration without body and trimmings, its name set off
  gsub(/template <class = void> /, "", s); if (s ~ /^ *template <class S> .*[^A-Za-z_]S[^A-Za-z_0-9]/) sub(/template <class S> /, "", s); sub(/^(inline |static_assert.*)/, "", s); gsub(/ inline /, " ", s); gsub(/ +/, " ", s)
  for (i = 1; i <= length(s); i++) { c = substr(s, i, 1)
    if (c == "(") deep++; else if (c == ")") deep--
    else if (deep == 0 && (c == ";" || c == "{" || (c == ":" && substr(s, i - 2, 4) == ") : "))) break
    else if (deep == 0 && c == "=" && substr(s, i - 1, 3) == " = " && s !~ /^(template <[^=]*> )?using|concept|template <[^>]*$/ && substr(s, 1, i) !~ /template <[^>]*$/ && value) break }
  s = substr(s, 1, i - 1); sub(/ +$/, "", s); sub(/^ +/, "", s)
  if (name != "" && match(s, "(^|[^A-Za-z0-9_:])" name "($|[^A-Za-z0-9_])")) {
    i = substr(s, RSTART, 1) == substr(name, 1, 1) && RLENGTH <= length(name) + 1 ? RSTART : RSTART + 1
    out = tex(substr(s, 1, i - 1)) "\\apiname{" tex(name) "}" tex(substr(s, i + length(name))) }
  else out = tex(s)
  return out }
function known(kind, l) { return ((kind ":" l) in label) }
function said(s, source,   m, out, kind) {         # the comment, its references made real
  while (match(s, /(^|[^a-z])(eqs?|thm|prop|def|lem|cor|ch|sec)\. ([a-z][a-z0-9-]*)/, m)) {
    kind = m[2]; sub(/s$/, "", kind)
    out = out tex(substr(s, 1, RSTART - 1) m[1] m[2] "."); s = substr(s, RSTART + RLENGTH)
    if (known(kind, m[3])) out = out "~\\ref{" kind ":" m[3] "}"
    else { out = out " " tex(m[3]); if (lint) { print source ": comment refers to " m[2] ". " m[3] ", which there is not" > "/dev/stderr"; bad = 1 } }
    while (match(s, /^(, | to | and )([a-z][a-z0-9-]*)/, m) && known(kind, m[2])) {
      out = out m[1] "\\ref{" kind ":" m[2] "}"; s = substr(s, RLENGTH + 1) } }
  return out tex(s) }
FILENAME ~ /\.tex$/ {
  if (FNR == 1) { nw = FILENAME; sub(/.*\//, "", nw); sub(/^answers-/, "", nw); sub(/tex$/, "nw", nw); nw = "chapters/" nw }
  if (match($0, /\\sublabel\{([^}]*)\}/, m)) chunk[nw, FNR] = m[1]
  for (s = $0; match(s, /\\(label|codeequation)\{([^}]*)\}/, m); s = substr(s, RSTART + RLENGTH)) label[m[2]] = 1
  for (s = $0; match(s, /\{[^{}]*\\label\{([^}]*)\}/, m); s = substr(s, RSTART + RLENGTH)) label[m[1]] = 1
  next }
BEGIN { print "\\begin{apireference}%" }
FNR == 1 { FS = "\t"; $0 = $0 }
{ source = $2; kind = $3; name = $4; comment = $6; value = kind == "value" || kind == "member" }
kind == "member" { sig = shown($5, ""); if (comment == "") { loose = loose (loose == "" ? "" : "; ") sig } else { spill(); members = members "\\refmember{" sig "}{" said(comment, source) "}%\n" }; next }
{ finish(pending == comment && kind == "function" && was == "function") }
$1 != header { header = $1; c = source; sub(/:.*/, "", c); sub(/.*\//, "", c); printf "\\refheader{%s}{%d}%%\n", tex(header), c + 0 }
{ printf "\\refentry{%s}{%s}%%\n", chunk_of(source), shown($5, name); if (kind ~ /struct|class/ || pending != comment) text = said(comment, source); pending = comment; was = kind }
function spill() { if (loose != "") members = members "\\refmember{" loose "}{}%\n"; loose = "" }
function finish(same) {
  spill()
  if (!same && text != "") { print "\\reftext{" text "}%"; text = "" }
  printf "%s", members; members = "" }
END { if (bad) exit 1; finish(0); print "\\end{apireference}" }
