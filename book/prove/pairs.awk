# pairs.awk CLAIMS tangled/proofs/*.v tangled/tests/*.cpp chapters/*.nw: the table of identities
# that are both proved over every field (or commutative ring) and tried in GF(2^61-1).  Its rows
#   \cref{LABEL} & \texttt{suite/case} & \texttt{file/theorem}\\   % exact
# have to fit: the theorem proves the statement and knows no order, the case is one of its
# stamps and calls verify_exact; and no statement that has both may be missing.
FILENAME ~ /claims$/ {
  split($0, c, "\t")
  proves[c[1], c[2]] = 1; claimed[c[2]] = c[1]; place[c[1]] = c[4]; next }
BEGIN {
  structures = "(realType|rcfType|realFieldType|numFieldType|fieldType|comUnitRingType|" \
    "comRingType|ringType)" }
FILENAME ~ /\.v$/ {
  if (FNR == 1) { file = FILENAME; gsub(/.*\/|\.v$/, "", file); depth = 0 }
  if (match($0, /^Section ([A-Za-z_]+)/)) { depth++; kind[depth] = kind[depth - 1] }
  if (/^End / && depth) depth--
  if (match($0, /^(Theorem|Lemma|Corollary|Proposition|Fact) +([A-Za-z_0-9']+)/, m)) {
    name = file "/" m[2]; over[name] = kind[depth] }
  if (match($0, ": *" structures, m)) {
    if (name != "" && !/^Variable/) over[name] = m[1]; else kind[depth] = m[1] }
  if (/^Proof/ || /^$/) name = ""
  next }
FILENAME ~ /\.cpp$/ {
  if (match($0, /AUTO_TEST_SUITE\(([a-z_]+)\)/, m)) suite = m[1]
  if (match($0, /^BOOST_AUTO_TEST_CASE(_TEMPLATE)?\(([A-Za-z_0-9]+)/, m)) test = suite "/" m[2]
  if (/verify_exact\(/) exact[test] = 1
  next }
FNR == 1 { label = "" }
match($0, /\\begin\{(definition|proposition|theorem|lemma|corollary)\}/) {
  label = ""; stamping = 0 }
match($0, /\\label\{([a-z]+:[A-Za-z0-9-]+)\}/, m) && label == "" { label = m[1] }
/\\verifiedby\{/ && label != "" { stamping = 1; stamps = "" }
stamping { stamps = stamps $0
  if (sub(/.*\\verifiedby\{/, "", stamps) || 1) if (stamps ~ /\}/) {
    sub(/\}.*/, "", stamps); gsub(/[ %\n]/, "", stamps); n = split(stamps, s, ",")
    for (i = 1; i <= n; i++) stamp[label, s[i]] = 1
    stamping = 0 } }
match($0, /\\cref\{([a-z]+:[A-Za-z0-9-]+)\} & (.*)\\\\ *% exact/, m) &&
match(m[1] " " m[2], /(.*) \\texttt\{([^}]*)\} & \\texttt\{([^}]*)\}$/, m) {
  for (i = 2; i <= 3; i++) { gsub(/\\_/, "_", m[i]); gsub(/\\(-|allowbreak )/, "", m[i]) }
  rows++; row[rows] = m[1]; test_of[rows] = m[2]; theorem_of[rows] = m[3]
  at[rows] = FILENAME ":" FNR; listed[m[1]] = 1 }
function bad(where, what) { print where ": " what > "/dev/stderr"; wrong = 1 }
END {
  algebra = " fieldType comUnitRingType comRingType ringType "
  for (i = 1; i <= rows; i++) {
    if (!((row[i], theorem_of[i]) in proves)) bad(at[i], theorem_of[i] " does not prove " row[i])
    else if (!index(algebra, " " over[theorem_of[i]] " "))
      bad(at[i], theorem_of[i] " is not proved over every field")
    if (!((row[i], test_of[i]) in stamp)) bad(at[i], test_of[i] " is no stamp of " row[i])
    else if (!(test_of[i] in exact)) bad(at[i], test_of[i] " does not call verify_exact") }
  for (t in claimed) if (index(algebra, " " over[t] " ") && !(claimed[t] in listed))
    for (x in stamp) { split(x, y, SUBSEP)
      if (y[1] == claimed[t] && (y[2] in exact)) {
        bad(place[y[1]], y[1] " is proved over every field (" t ") and tried in a finite one (" \
          y[2] "): it belongs to the table of \\cref{sec:proving-twice}")
        listed[y[1]] = 1 } }
  exit wrong }
