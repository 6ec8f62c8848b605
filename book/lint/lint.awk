# lint.awk - reads noweb's markup of one or all chapters; complains on stdout.
# -v book=1 adds the rules about headers, labels, figures and citations, which need
# every chapter; -v figures: the drawings that there are; -v draft=1: only what no
# compiler would survive is an error; -v lenient: the chapters (numbers) to which
# rules that are new have not come.
function complain(f, l, s) { print f ":" l ": " s; if (!draft || s ~ /^undefined|^root/) bad = 1 }
function here(s) { complain(file, line, s) }
# of chapters to which a new rule has not come yet, places are counted
function fresh(place, s,   p) {
  split(place, p, ":")
  if (index(" " lenient " ", " " substr(base(p[1]), 1, 2) " ")) later++
  else complain(p[1], p[2], s) }
function base(c) { sub(/.*\//, "", c); return c }
function at_place(place, what,   p) { split(place, p, ":"); complain(p[1], p[2], what) }

BEGIN {
  stamped = "definition|theorem|proposition|lemma|corollary|erratum"
  folders = "^\\[\\[((include/attn|examples|tests|bench|figures|live)/[A-Za-z0-9_]+\\." \
    "(hpp|cpp|py)|proofs/[A-Za-z0-9_]+\\.v|c/[a-z_]+\\.(h|c|hpp|cpp)|" \
    "python/[a-zA-Z_/]+\\.(py|toml|typed|txt|cpp))\\]\\]$"
  gone["printlater"] = "what users include is printed where it stands; " \
    "checks and programs go to the chapter's -checks.nw"
  gone["printhere"] = "a chunk is printed in the file where it stands"
  gone["begin{back}"] = gone["end{back}"] = \
    "what is printed in volume two stands in the chapter's -checks.nw"
}
# chapter: what the two files of a chapter have in common; a chunk's code may be in both
/^@file /        { closed(); file = substr($0, 7); line = 1; env = ""
                   chapter = file; sub(/(-checks)?\.nw$/, "", chapter); next }
/^@begin code/   { code = 1; len = 0; cols = 0; begun = line; script = 0; next }
/^@end code/     { code = 0
                   if (len > (script ? 60 : 25)) complain(file, begun, "chunk of " len " lines; " \
                     (script ? "60 is the most for a proof" : "25 is the most a reader can hold"))
                   next }
/^@begin docs/   { words = 0; next }
/^@defn /        { chunk = substr($0, 7); top = 1; begins(chunk); next }
/^@use /         { uses(substr($0, 6)); next }
/^@text( |$)/    { t = substr($0, 7)
                   if (code) { after(t); text = text t; cols += length(t) }
                   else { if (quoted == 1) mention(t)
                          prose = prose t; if (!quoted) tex = tex t }
                   next }
/^@quote/        { quoted = 1; next }
/^@endquote/     { quoted = 0; next }
/^@index defn /  { next }
/^@index nl/     { line++; next }
/^@nl/ {
  if (code) code_line(text)
  else if (prose != "") { doc(prose); if (tex ~ /\\/) environments(tex)
                          if (prose ~ /[[:alpha:]]/) words = 1 }
  text = prose = tex = ""; cols = usedhere = 0; line++
  next
}
# ---- chunks ------------------------------------------------------------------
function begins(c) {
  if (!((chapter, c) in defined)) {
    defined[chapter, c] = file ":" line; home[c] = home[c] " " chapter }
  if (file ~ /-checks\.nw$/) aside[chapter, c] = file ":" line
  if (c ~ /^\[\[/) {
    used[chapter, c] = 1
    if (c ~ /[^][A-Za-z0-9_.\/]/)
      here("root " c ": the name of a file has letters, digits and _, no blank")
    else if (c !~ folders)
      here("root " c " is outside include/attn, examples, tests, bench, figures, live, proofs, " \
        "c, python") }
  else if (length(c) < 8 || c ~ /[0-9]$/ || c ~ /^(misc|stuff|other|helpers?)/)
    here("chunk name <<" c ">> says too little")
  if (!words) here("chunk <<" c ">> has no sentence before it") }
function uses(u) {                 # in prose a chunk is only named
  if (!code) { if (!(u in named)) named[u] = file ":" line; return }
  used[chapter, u] = 1; if (!((chapter, u) in useline)) useline[chapter, u] = file ":" line
  parts[chapter, chunk] = parts[chapter, chunk] SUBSEP u
  if (text !~ /^ *$/) here("chunk use <<" u ">> shares its line with code")
  usedhere = 1; cols += length(u) + 4 }
function mention(t) {              # of a chunk it would be an @use, had it ended on its line
  quoted = 2
  if (t ~ /^<<[^ <]/) here("a chunk is named on one line, up to its >>]]: [[" t) }
function after(t) {
  if (usedhere && t !~ /^ *$/) here("code after a chunk use on the same line") }
function code_line(s,   m) {
  if (!top) { len++; if (cols > 80) here("code line of " cols " columns; 80 is the limit") }
  top = 0
  if (s ~ /eq</ && s ~ /\/\/ *eq[^ul]/ && s !~ /\/\/ eq:[A-Za-z0-9-]+ *$/)
    here("the label of an equation is written // eq:name, with letters, digits and -")
  if (match(s, /\/\/ (eq:[A-Za-z0-9-]+) *$/, m)) labels_of_code[m[1]] = file ":" line
  if (match(s, /^#include "(attn\/[^"]*)"/, m))
    includes[chapter, chunk] = includes[chapter, chunk] SUBSEP m[1] SUBSEP file ":" line
  if (s ~ /^(Proof|Qed)\.|[ .]Qed\.$/) script = 1
  if (match(s, /\(\* proves ([a-z]+:[A-Za-z0-9-]+)/, m)) {
    claims[file ":" line] = m[1]; if (!(m[1] in refs)) refs[m[1]] = file ":" line }
  if (s ~ /NOSENTENCE/) nosentence() }
function nosentence() {
    fresh(file ":" line, "NOSENTENCE: the sentence that belongs here was never written") }
# ---- a line of prose ---------------------------------------------------------
function doc(s,   m, t) {
  if (s ~ /NOSENTENCE/) nosentence()
  if (s ~ /^[ ]*%/ || !index(s, "\\")) return
  gsub(/\\verb\|[^|]*\|/, "", s); gsub(/\\%/, "", s); sub(/%.*/, "", s)
  if (match(s, /\\(print(later|here)|(begin|end)\{back\})/))
    here(substr(s, RSTART, RLENGTH) " is no longer known: " \
         gone[substr(s, RSTART + 1, RLENGTH - 1)])
  if (match(s, "\\\\begin\\{(" stamped ")\\}", m)) { env = m[1]; at = line; ok = 0 }
  if (s ~ /\\(verifiedby|unverified)\{/) {
    ok = 1; if (s ~ /\\unverified\{ *\}/) here("\\unverified wants a reason") }
  if (env != "" && s ~ "\\\\end\\{" env "\\}") {
    if (!ok) complain(file, at, env " without \\verifiedby{suite/case} or \\unverified{reason}")
    env = "" }
  if (match(s, /\\begin\{erratum\}(\{([^}]*)\})?(\{([^}]*)\})?(\{)?/, m)) erratum(m[2], m[4], m[5])
  if (s !~ /\\(label|begin|bookfig|cite|checksof|[A-Za-z]*ref)/) return
  t = s
  while (match(t, /\\label\{([^}]*)\}/, m)) {
    if (m[1] in labels) here("label " m[1] " stands at " labels[m[1]] " too")
    t = substr(t, RSTART + RLENGTH) }
  collect(s, "\\\\label\\{([^}]*)\\}", labels)
  collect(s, "\\\\[cC]?(ref|pageref|eqref|cref|Cref|crefrange|autoref|nameref|checksof|" \
    "begin\\{answer\\})\\*?\\{([^}]*)\\}", refs)
  collect(s, "\\\\cite[a-z]*\\*?(\\[[^]]*\\])*\\{([^}]*)\\}", cites)
  collect(s, "\\\\bookfig(\\[[a-z]*\\])?\\{([^}]*)\\}", figs)
}
function erratum(name, code, source) {
  if (name == "" || source == "")
    here("an erratum begins \\begin{erratum}{E-01}{W}{what source}")
  else if (code !~ /^[WIXG]$/)
    here("erratum " name " is of kind `" code "'; there are W wrong, I imprecise, " \
         "X inconsistent, G gap")
  if (name in errata) here("erratum " name " stands at " errata[name] " too")
  else errata[name] = file ":" line }
function collect(s, re, into,   m, k, n, part) {
  while (match(s, re, m)) {
    n = split(m[2] != "" ? m[2] : m[1], part, /, */)
    for (k = 1; k <= n; k++) if (!(part[k] in into)) into[part[k]] = file ":" line
    s = substr(s, RSTART + RLENGTH) }
}
# what is begun is ended, in its file; nothing in an answer
function environments(s,   m) {
  if (s ~ /^ *%/) return
  gsub(/\\\\/, "", s); gsub(/\\%/, "", s); sub(/%.*/, "", s); gsub(/\\verb\|[^|]*\|/, "", s)
  for (; match(s, /\\(begin|end)\{([^{}]*)\}/, m); s = substr(s, RSTART + RLENGTH)) {
    if (m[1] == "begin") {
      if (m[2] == "answer" && deep) here("\\begin{answer} inside \\begin{" open[deep] "}")
      open[++deep] = m[2]; opened[deep] = line
    } else if (deep && open[deep] == m[2]) deep--
    else if (deep) {
      here("\\end{" m[2] "}, where \\begin{" open[deep] "} of line " opened[deep] " is still open")
      if (deep > 1 && open[deep - 1] == m[2]) deep -= 2
    } else here("\\end{" m[2] "} without its beginning") } }
function closed() {
  for (; deep > 0; deep--) complain(file, opened[deep], "\\begin{" open[deep] "} is never closed") }
# ---- what a chapter, and what only the book can tell ---------------------------
END {
  closed()
  for (fc in defined) { split(fc, p, SUBSEP)
    if (!(fc in used)) at_place(defined[fc], "chunk <<" p[2] ">> is defined and never used")
    if (p[2] ~ /^\[\[include\//) library(p[1], p[2], substr(p[2], 11, length(p[2]) - 12)) }
  for (fc in useline) { split(fc, p, SUBSEP)
    if (!(fc in defined)) at_place(useline[fc], "undefined chunk <<" p[2] ">> " \
      "(two less-than signs in code are written @<<)") }
  if (book) whole_book()
  if (book && count && later) print "later " later
  exit bad
}
# what users include is printed where it is derived, in volume one
function library(c, name, header,   n, u, i) {
  if ((c, name) in reached) return
  reached[c, name] = 1
  if (header != "" && name ~ /^\[\[/) of[header] = c
  if ((c, name) in aside)
    at_place(aside[c, name], "<<" name ">> is the library's; it belongs in " c ".nw")
  n = split(includes[c, name], u, SUBSEP)
  for (i = 2; i < n; i += 2) {
    arrows++; from[arrows] = c; to[arrows] = u[i]; drawn[arrows] = u[i + 1] }
  n = split(parts[c, name], u, SUBSEP)
  for (i = 2; i <= n; i++) library(c, u[i], header) }
function number(c) { return base(c) + 0 }
# a header may include the machinery (chapters 90 and above) and earlier chapters
# the machinery may include the machinery
function order(   i, a, b) {
  for (i = 1; i <= arrows; i++) {
    if (!(to[i] in of)) {
      if (to[i] != "attn/attn.hpp") at_place(drawn[i], "no chapter has " to[i])
      continue }
    a = number(from[i]); b = number(of[to[i]])
    if (a >= 90 && b < 90)
      fresh(drawn[i], "the machinery includes " to[i] " of " of[to[i]] ".nw; it has only itself")
    else if (b < 90 && b > a)
      fresh(drawn[i], to[i] " comes later, in " of[to[i]] ".nw; " \
        "a header includes earlier chapters and the machinery") } }
function whole_book(   c, l, i, n, f, key, t) {
  for (c in home) { n = split(home[c], f, " ")
    for (i = 2; i <= n; i++) if (f[i] != f[1])
      at_place(defined[f[i], c], "chunk <<" c ">> is also defined in " f[1] ".nw") }
  for (c in named) if (!(c in home))
    at_place(named[c], "no chapter has the chunk <<" c ">>" near(c, home))
  order()
  n = split(frame, f, " ")
  for (i = 1; i <= n; i++) {
    file = f[i]; line = 0
    while ((getline t < f[i]) > 0) { line++; doc(t) } }
  for (l in labels_of_code) if (!(l in labels)) labels[l] = "code"
  for (l in labels) if (!(l in refs) && labels[l] ~ /^chapters/ && l !~ /^fig:/)
    at_place(labels[l], "label " l " is never referred to")
  for (l in refs) if (refs[l] ~ /^chapters/ && l ~ /^[a-z]+:[A-Za-z0-9-]+$/ &&
      l !~ /^(fig|eq:code)/ && !(l in labels))
    at_place(refs[l], "no label is called " l near(l, labels))
  for (c in claims) proved(c, claims[c])
  drawings()
  citations() }
# what is proved is stated in Coq in the same file, further down
function proved(place, l,   here, p) {
  if (!(l in labels)) return                  # (which is said anyhow)
  split(place, here, ":"); split(labels[l], p, ":")
  if (here[1] != p[1] || here[2] + 0 < p[2] + 0)
    at_place(place, "what proves " l " is stated below it, in " p[1]) }
function drawings(   n, f, i, l) {
  n = split(figures, f, " ")
  for (i = 1; i <= n; i++) { l = f[i]; gsub(/.*\/|\.tex$/, "", l); drawing[l] = f[i] }
  for (l in figs) {
    if (!(("fig:" l) in refs)) at_place(figs[l], "figure " l " is never referred to")
    if (!(l in drawing)) at_place(figs[l], "figure " l " has no drawing figures/" l ".tex")
    else if (!described(drawing[l]))
      complain(drawing[l], 1, "nothing says in words what is to be seen: begin with % alt: ...") }
  for (l in refs) if (l ~ /^fig:/ && !(substr(l, 5) in figs) && !(l in labels))
    at_place(refs[l], "no \\bookfig has " substr(l, 5) near(substr(l, 5), figs))
  for (l in drawing) if (!(l in figs)) complain(drawing[l], 1, "no chapter places this figure") }
function described(file,   t, yes) {
  while ((getline t < file) > 0) if (t ~ /^% alt: ./) yes = 1
  close(file)
  return yes }
function citations(   t, m, key) {
  line = 0
  while ((getline t < bib) > 0) { line++
    if (match(t, /^@[a-zA-Z]+\{ *([^, ]+),/, m)) { key = m[1]; inbib[key] = 1
      if (!(key in cites) && !("*" in cites)) 
        complain(bib, line, "reference " key " is never cited") } }
  for (key in cites) if (key != "*" && !(key in inbib))
    at_place(cites[key], "citation of " key ", which " bib " lacks" near(key, inbib)) }
