# claims.awk (after coq.awk) - which theorem proves which statement of the book:
#   (* proves thm:label *)   or   (* proves thm:label, except for what *)
# stands above the theorem.  Prints, by tabs: label, file/theorem, exception, place,
# statement (from its name up to the proof, without comments, blanks as one).
BEGIN { kinds = "^ *(Theorem|Lemma|Corollary|Proposition|Fact|Remark) +" }
function coq(s, comment,   m) {
  if (claim != "" && comment != "" && !closed) { claim = claim " " comment }
  else if (match(comment, /^ *proves +[a-z]+:/)) {
    if (claim != "") wrong("no theorem follows what it claims", where)
    claim = comment; where = place; closed = 0 }
  closed = claim != "" && (closed || !deep)   # comments within a statement are another matter
  if (claim != "" && closed && squeezed(s) != "" && !stating) {
    if (match(s, kinds "([A-Za-z_][A-Za-z_0-9']*)", m)) { name = m[2]; stating = 1; text = "" }
    else { wrong("no theorem follows what it claims", where); claim = "" } }
  if (stating) {
    text = text " " s
    if (match(text, /(^|[ .])Proof(\.| )/)) { text = substr(text, 1, RSTART); say() } } }
function say(   m, label, except) {
  claim = squeezed(claim); sub(/^proves /, "", claim)
  label = claim; if (match(claim, /, except /)) {
    label = substr(claim, 1, RSTART - 1); except = substr(claim, RSTART + 9) }
  if (label !~ /^[a-z]+:[A-Za-z0-9-]+$/)
    wrong("a theorem's claim is written (* proves thm:label *) or " \
      "(* proves thm:label, except what *)", where)
  print label "\t" file "/" name "\t" except "\t" where "\t" squeezed(text)
  claim = ""; stating = 0 }
function ended() {
  if (stating) wrong(name " has no Proof", where)
  else if (claim != "") wrong("no theorem follows what it claims", where)
  claim = ""; stating = 0 }
END { exit bad }
