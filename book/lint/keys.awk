# keys.awk RESULTS PROVED TEX... CHAPTERS...: each number and each check that the text names is
# among the results of this run, and each erratum has a check that refutes what is printed
# (but a gap, which prints nothing) and one that the correction holds; -v draft=1: it is
# only said.  (What a macro names in its own definition, with #, is left to LaTeX.)
FILENAME ~ /(results|proved(-draft)?)\.tex$/ {
  if (match($0, /^\\resdef\{([^}]*)\}/, m)) {
    key[m[1]]; c = m[1]
    if (sub(/\/status$/, "", c)) status[c] = 1
    else if (sub(/\/refuted\/n$/, "", c)) { measured[c]; refutes[c] }
    else if (sub(/\/n$/, "", c)) { measured[c]; holds[c] } } next }
/^@($| )|^<<.*>>=$/ { code = /^<</; next }
FNR == 1 { code = 0 }
!code && match($0, /\\begin\{erratum\}\{([^}]*)\}\{([^}]*)\}/, m) {
  erratum = m[1]; gap = m[2] == "G"; refuted = corrected = 0; where = FILENAME ":" FNR }
erratum && !code { rest = rest $0
  if (rest ~ /\\verifiedby\{[^}]*$/) { rest = rest " " } else {
    while (match(rest, /\\verifiedby\{([^}]*)\}/, m)) {
      n = split(m[1], part, /[ ,%]+/); rest = substr(rest, RSTART + RLENGTH)
      for (i = 1; i <= n; i++) { if (part[i] in refutes) refuted = 1
        if (part[i] in holds) corrected = 1 } }
    rest = "" } }
erratum && /\\end\{erratum\}/ {
  if (!gap && !refuted) complain("no check refutes what erratum " erratum " prints", where)
  if (!corrected) complain("no check shows that the correction of erratum " erratum " holds", where)
  erratum = "" }
code || /^[ ]*%/ || !/\\(result|recorded|ratio|percent|verifiedby)/ { next }
{ s = $0; gsub(/\\verb\|[^|]*\|/, "", s); gsub(/\\%/, "", s); sub(/%.*/, "", s)
    gsub(/\[\[[^\]]*\]\]/, "", s)
  for (t = s; match(t, /\\(result|recorded)\{([^}#]*)\}/, m); t = substr(t, RSTART + RLENGTH))
    number((m[1] == "recorded" ? "rec/" : "") m[2])
  for (t = s; match(t, /\\(ratio|percent|recordedratio)\{([^}#]*)\}\{([^}#]*)\}/, m);
       t = substr(t, RSTART + RLENGTH)) {
    number((m[1] ~ /^rec/ ? "rec/" : "") m[2]); number((m[1] ~ /^rec/ ? "rec/" : "") m[3]) }
  for (t = s; match(t, /\\verifiedby\{([^}#]*)(\}|$)/, m); t = substr(t, RSTART + RLENGTH)) {
    n = split(m[1], part, / *, */)
    for (i = 1; i <= n; i++) if (part[i] != "") check(part[i]) } }
function number(k) { if (!(k in key)) complain("unknown result " k hint(k, key)) }
function check(c) {
  if (c ~ /\\/) return
  if (!(c in status)) complain("statement names unknown check " c hint(c, status))
  else if (!(c in measured)) complain("statement rests on " c ", which measured nothing") }
function hint(k, among) { return ++hints > 5 ? "" : near(k, among) }   # to look takes a while
function complain(what, at) {
  print (at ? at : FILENAME ":" FNR) ": " what > "/dev/stderr"; bad = !draft }
END { exit bad }
