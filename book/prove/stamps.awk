# stamps.awk CLAIMS HASHES RECORD: the stamps PROVED, for LaTeX; a claim that the record
# does not bear out is an error, at the line of the chapter.  -v draft=1: it is printed.
BEGIN { FS = "\t" }
FILENAME ~ /claims$/ { n++; for (k = 1; k <= 5; k++) claim[n, k] = $k; next }
FILENAME ~ /hashes$/ { hash[$1] = $2; next }
/^# seconds / { seconds = substr($0, 11) }
/^#/ { next }
{ known[$1, $2] = 1; group[$1, $2] = $3; file[$1, $2] = $4; stated[$1, $2] = $5
  coq[$1, $2] = $6; except[$1, $2] = $8 }
function sha(s,   cmd, h) {
  gsub(/'/, "'\\''", s); cmd = "printf %s '" s "' | sha256sum"
  cmd | getline h; close(cmd); return substr(h, 1, 16) }
function refused(why) {
  print place ": " label " is not known to be proved: " why "; run `make prove'" > "/dev/stderr"
  bad = !draft; print "\\unproveddef{" label "}{" theorem "}%" }
function tex(s) {
  gsub(/\\/, "\\textbackslash ", s); gsub(/[_&%#${}]/, "\\\\&", s); gsub(/\^/, "\\^{}", s)
  return s }
END {
  for (i = 1; i <= n; i++) {
    label = claim[i, 1]; theorem = claim[i, 2]; place = claim[i, 4]; f = theorem; sub(/\/.*/, "", f)
    if (!((label, theorem) in known)) { refused(theorem " has no record"); continue }
    if (file[label, theorem] != hash[f]) {
      refused("proofs/" f ".v, or what it requires, has changed since"); continue }
    if (stated[label, theorem] != sha(claim[i, 5])) {
      refused(theorem " was stated otherwise"); continue }
    if (except[label, theorem] != claim[i, 3]) {
      refused("the exception of " theorem " was another"); continue }
    version = coq[label, theorem]; sub(/\.[0-9]+$/, "", version)
    printf "\\proveddef{%s}{%s}{%s}{%s}{%s}%%\n", label, theorem, version,
      group[label, theorem], tex(claim[i, 3])
    if (!(label in seen)) { seen[label] = 1; statements++ }
    theorems++
    if (claim[i, 3] != "" && !(label in part)) { part[label] = 1; parts++ }
  }
  print fact("statements", statements + 0) fact("theorems", theorems + 0) fact("parts", parts + 0) \
    fact("whole", statements - parts) fact("seconds", seconds + 0) fact("lines", lines + 0) \
    fact("instances", instances + 0)
  exit bad }
function fact(key, x) { return "\\resdef{proved/" key "}{\\ensuremath{" x "}}{" x "}\n" }
