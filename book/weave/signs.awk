# signs.awk - for cxx.awk: Coq as it is printed.  Statements and definitions have signs for
# words, forall as it is written elsewhere; scripts stand as Coq reads them.  What is
# tangled is not touched.
BEGIN {
  n = split("Theorem Lemma Corollary Proposition Fact Definition Fixpoint Inductive Record " \
    "Variable Variables Hypothesis Hypotheses Context Section End Notation Let Canonical " \
    "Proof Qed Defined Local Open Scope Import Export Require From Set Unset Module Implicit " \
    "Types match with end fun let in if then else pose have suff set by", w, " ")
  for (i = 1; i <= n; i++) vernacular[w[i]] = 1
  says = "^ *((Local|Global) +)?(Theorem|Lemma|Corollary|Proposition|Fact|Definition|Fixpoint|" \
    "Inductive|Record|Variables?|Hypothes[ie]s|Context|Notation|Let|Implicit)( |$)"
  n = split("forall \\forall exists \\exists alpha \\alpha beta \\beta gamma \\gamma " \
    "delta \\delta epsilon \\varepsilon eta \\eta theta \\theta kappa \\kappa mu \\mu nu \\nu " \
    "rho \\rho sigma \\sigma tau \\tau lambda \\lambda phi \\phi psi \\psi omega \\omega", w, " ")
  for (i = 1; i < n; i += 2) word[w[i]] = w[i + 1]
  # longest first; what has no sign after it is left out
  n = split("<-> \\Leftrightarrow ==> \\Rightarrow -> \\to => \\mapsto /\\ \\land \\/ \\lor " \
    "<= \\le >= \\ge != \\ne <> \\ne 2^-1 \\tfrac12 ^-1 \\coqinverse *m \\cdot *: \\cdot " \
    "^T \\coqtranspose 1%:M I %:R . %:M . %:Z . %:E . %MS . %N . %R . %Z . %E . %O . %type . " \
    "\\in \\in \\o \\circ +oo +\\infty && \\land ~~ \\lnot ^+ ^ `| |", w, " ")
  for (i = 1; i < n; i += 2) { sign[++signs] = w[i]; shown[signs] = w[i + 1] }
}
function maths(s) { put("@literal \\coqsign{" s "}") }
function raised(s) { put("@literal \\coqraised{" s "}") }
function coq_begins() { stated = deep_comment = 0; mode = "" }
function coq_line(s,   t, m, i) {
  if (bol && !deep_comment) { if (s ~ says) stated = 1 }
  bol = 0
  while (s != "") {
    if (deep_comment) {
      if (match(s, /^[^(*]+/)) { text(substr(s, 1, RLENGTH)); s = rest(s) }
      else if (substr(s, 1, 2) == "*)") {
        text("*)"); s = substr(s, 3); if (!--deep_comment) shut() }
      else if (substr(s, 1, 2) == "(*") { deep_comment++; text("(*"); s = substr(s, 3) }
      else { text(substr(s, 1, 1)); s = substr(s, 2) }
    } else if (match(s, /^\(\* proves ([a-z]+:[A-Za-z0-9-]+)/, m)) {
      deep_comment = 1; open("b"); text("(* proves ")
      put("@literal \\coqproves{" m[1] "}"); s = rest(s)
    } else if (substr(s, 1, 2) == "(*") {
      deep_comment = 1; open("b"); text("(*"); s = substr(s, 3)
    } else if (match(s, /^"[^"]*"/)) { span("s", substr(s, 1, RLENGTH)); s = rest(s)
    } else if (match(s, /^[A-Za-z_][A-Za-z_0-9']*/)) {
      t = substr(s, 1, RLENGTH); s = rest(s)
      if (t == "Proof") stated = 0
      if (stated && t in word) maths(word[t])
      else if (stated && match(t, /^([A-Za-z])_bar$/, m)) maths("\\bar{" m[1] "}")
      else if (t in vernacular) span("k", t)
      else text(t)
    } else if (!stated) { text(substr(s, 1, 1)); s = substr(s, 2)
    } else if (match(s, /^\\bar ([A-Z])/, m)) { maths("\\bar{" m[1] "}"); s = rest(s)
    } else if (match(s, /^\|\| /)) { maths("\\lor"); s = substr(s, 3)
    } else if (match(s, /^ ?\^- (([0-9]|n|k|m)|\(([0-9]) \* (n|k|m)\))([^A-Za-z_0-9.']|$)/, m)) {
      raised("−" m[2] m[3] m[4]); s = substr(s, RLENGTH + (m[5] == "" ? 1 : 0))
    } else if (match(s, "^\\\\(sum|prod|max|bigcup|big\\[Num\\.max/0\\])" \
                        "_(\\(([^()]*)\\)|([A-Za-z]'?))", m)) {
      s = rest(s); sub(/^big\[.*/, "max", m[1]); sub(/^ /, "", s)
      put("@literal \\coqbig{\\" m[1] "}{"); coq_line_within(m[3] m[4]); put("@literal }")
    } else if (match(s, /^ ?\^\+? ?([0-9]|n|k|m|q|d)([^A-Za-z_0-9.']|$)/, m)) {
      raised(m[1]); s = substr(s, RLENGTH + (m[2] == "" ? 1 : 0)) 
    } else { 
      for (i = 1; i <= signs; i++) if (substr(s, 1, length(sign[i])) == sign[i]) break
      if (i > signs) { text(substr(s, 1, 1)); s = substr(s, 2) }
      else { s = substr(s, length(sign[i]) + 1)
        if (shown[i] == "|" || shown[i] == "^") text(shown[i])
        else if (shown[i] != ".") maths(shown[i]) } } } }
# what stands below a sum
function coq_line_within(s,   m, t) {
  while (s != "") {
    if (match(s, /^[A-Za-z_][A-Za-z_0-9']*/)) { t = substr(s, 1, RLENGTH); s = rest(s)
      if (t in word) maths(word[t]); else if (t == "in") maths("\\in"); else text(t) }
    else if (substr(s, 1, 2) == "<-") { maths("\\in"); s = substr(s, 3) }
    else if (substr(s, 1, 2) == "!=") { maths("\\ne"); s = substr(s, 3) }
    else if (substr(s, 1, 2) == "<=") { maths("\\le"); s = substr(s, 3) }
    else if (substr(s, 1, 2) == "::") { text(":"); s = substr(s, 3) }
    else { text(substr(s, 1, 1)); s = substr(s, 2) } } }
