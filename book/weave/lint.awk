# lint.awk - reads noweb's markup of one or all chapters; complains on stdout.
# -v book=1 adds the rules about labels and citations, which need every chapter.
function complain(f, l, s) { print f ":" l ": " s; if (!draft || s ~ /^undefined|^root/) bad = 1 }
function here(s) { complain(file, line, s) }

BEGIN {
  stamped = "definition|theorem|proposition|lemma|corollary|erratum"
  folders = "^\\[\\[(include/attn|examples|tests|bench|figures)/[A-Za-z0-9_]+\\.(hpp|cpp|py)\\]\\]$"
}
# chapter: what the two files of a chapter have in common; a chunk's code may be in both
/^@file /        { unmoved(); file = substr($0, 7); line = 1; nfile++; env = ""
                   chapter = file; sub(/(-checks)?\.nw$/, "", chapter); next }
/^@begin code/   { code = 1; len = 0; cols = 0; begun = line; next }
/^@end code/     { code = 0
                   if (len > 25) complain(file, begun, "chunk of " len " lines; 25 is the most a reader can hold")
                   next }
/^@begin docs/   { words = 0; next }
/^@defn /        { chunk = substr($0, 7); top = 1
                   if (!((chapter, chunk) in defined)) { defined[chapter, chunk] = file ":" line; home[chunk] = home[chunk] " " chapter }
                   if (file ~ /-checks\.nw$/) aside[chapter, chunk] = file ":" line
                   if (chunk ~ /^\[\[/) { used[chapter, chunk] = 1
                     if (chunk !~ folders) here("root " chunk " is outside include/attn, examples, tests, bench, figures") }
                   else if (length(chunk) < 8 || chunk ~ /[0-9]$/ || chunk ~ /^(misc|stuff|other|helpers?)/)
                     here("chunk name <<" chunk ">> says too little")
                   if (!words) here("chunk <<" chunk ">> has no sentence before it")
                   next }
/^@use /         { u = substr($0, 6); if (!code) next
                   used[chapter, u] = 1; if (!((chapter, u) in useline)) useline[chapter, u] = file ":" line
                   parts[chapter, chunk] = parts[chapter, chunk] SUBSEP u
                   alone = (text ~ /^ *$/); if (!alone) here("chunk use <<" u ">> shares its line with code")
                   usedhere = 1; cols += length(u) + 4; next }
/^@text / || /^@text$/ {
                   t = substr($0, 7)
                   if (code) { if (usedhere && t !~ /^ *$/) here("code after a chunk use on the same line")
                               text = text t; cols += length(t) }
                   else prose = prose t
                   next }
/^@(quote|endquote)/ { next }
/^@index defn /  { next }
/^@index nl/     { line++; next }
/^@nl/ {
  if (code) {
    if (!top) { len++; if (cols > 80) here("code line of " cols " columns; 80 is the limit") }
    top = 0
  } else if (prose != "") { doc(prose); if (prose ~ /[[:alpha:]]/) words = 1 }
  text = prose = ""; cols = usedhere = 0; line++
  next
}
# ---- a line of prose ---------------------------------------------------------
function doc(s,   m, t) {
  if (s ~ /^[ ]*%/ || !index(s, "\\")) return
  gsub(/\\%/, "", s); sub(/%.*/, "", s)
  if (match(s, "\\\\begin\\{(" stamped ")\\}", m)) { env = m[1]; at = line; ok = 0 }
  if (s ~ /\\(verifiedby|unverified)\{/) {
    ok = 1; if (s ~ /\\unverified\{ *\}/) here("\\unverified wants a reason") }
  if (env != "" && s ~ "\\\\end\\{" env "\\}") {
    if (!ok) complain(file, at, env " without \\verifiedby{suite/case} or \\unverified{reason}")
    env = "" }
  if (match(s, /\\begin\{erratum\}\{([^}]*)\}/, m)) {
    if (m[1] in errata) here("erratum " m[1] " stands at " errata[m[1]] " too")
    else errata[m[1]] = file ":" line }
  if (match(s, /\\begin\{(back|answer)\}/, m)) {
    if (moved != "") here("\\begin{" m[1] "} inside \\begin{" moved "}")
    moved = m[1]; movedat = line }
  if (match(s, /\\end\{(back|answer)\}/, m)) {
    if (moved != m[1]) here("\\end{" m[1] "} without its beginning")
    moved = "" }
  if (s !~ /\\(label|begin|bookfig|cite|[A-Za-z]*ref)/) return
  t = s
  while (match(t, /\\label\{([^}]*)\}/, m)) {
    if (m[1] in labels) here("label " m[1] " stands at " labels[m[1]] " too")
    t = substr(t, RSTART + RLENGTH) }
  collect(s, "\\\\label\\{([^}]*)\\}", labels)
  collect(s, "\\\\[cC]?(ref|pageref|eqref|cref|Cref|crefrange|autoref|nameref|checksof|begin\\{answer\\})\\{([^}]*)\\}", refs)
  collect(s, "\\\\cite[a-z]*\\*?(\\[[^]]*\\])*\\{([^}]*)\\}", cites)
  collect(s, "\\\\bookfig(\\[[a-z]*\\])?\\{([^}]*)\\}", figs)
}
function unmoved() { if (moved != "") complain(file, movedat, "\\begin{" moved "} is never closed"); moved = "" }
function collect(s, re, into,   m, k, n, part) {
  while (match(s, re, m)) {
    n = split(m[2] != "" ? m[2] : m[1], part, /, */)
    for (k = 1; k <= n; k++) if (!(part[k] in into)) into[part[k]] = file ":" line
    s = substr(s, RSTART + RLENGTH) }
}
END {
  unmoved()
  for (fc in defined) { split(fc, p, SUBSEP)
    if (!(fc in used)) at_place(defined[fc], "chunk <<" p[2] ">> is defined and never used")
    if (p[2] ~ /^\[\[include\//) library(p[1], p[2]) }
  for (fc in useline) { split(fc, p, SUBSEP)
    if (!(fc in defined)) at_place(useline[fc], "undefined chunk <<" p[2] ">> (two less-than signs in code are written @<<)") }
  if (book) whole_book()
  exit bad
}
function at_place(place, what,   p) { split(place, p, ":"); complain(p[1], p[2], what) }
# what users include is printed where it is derived, in volume one
function library(c, name,   n, u, i) {
  if ((c, name) in reached) return
  reached[c, name] = 1
  if ((c, name) in aside) at_place(aside[c, name], "<<" name ">> is the library's; it belongs in " c ".nw")
  n = split(parts[c, name], u, SUBSEP)
  for (i = 2; i <= n; i++) library(c, u[i]) }
function whole_book(   c, l, i, n, f, m, key, t) {
  for (c in home) if (split(home[c], f, " ") > 1 && f[1] != f[2])
    at_place(defined[f[2], c], "chunk <<" c ">> is also defined in " f[1] ".nw")
  n = split(frame, f, " ")
  for (i = 1; i <= n; i++) { file = f[i]; line = 0; while ((getline t < f[i]) > 0) { line++; doc(t) } }
  for (l in labels) if (!(l in refs) && labels[l] !~ /^book\// && l !~ /^fig:/) {
    split(labels[l], p, ":"); complain(p[1], p[2], "label " l " is never referred to") }
  for (l in figs) if (!(("fig:" l) in refs)) { split(figs[l], p, ":"); complain(p[1], p[2], "figure " l " is never referred to") }
  line = 0
  while ((getline t < bib) > 0) { line++
    if (match(t, /^@[a-zA-Z]+\{ *([^, ]+),/, m)) { key = m[1]; inbib[key] = 1
      if (!(key in cites) && !("*" in cites)) complain(bib, line, "reference " key " is never cited") } }
  for (key in cites) if (key != "*" && !(key in inbib)) { split(cites[key], p, ":"); complain(p[1], p[2], "citation of " key ", which " bib " lacks") }
}
