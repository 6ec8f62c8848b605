# judge.awk CLAIMS HASHES SECONDS... SAID...: what the claimed theorems rest on, as Coq has
# said it, file by file; prints the record, or complains.  SAID holds a line `@ file',
# what Print Assumptions prints about all theorems of the file that claim something, and
# for each of them and of the examples below `% ...' what it supposes.  A theorem that
# supposes something needs an example that supposes nothing.
BEGIN { FS = "\t"
  # Beyond the logic of Coq a proof may assume what stands here, one group of it.
  group[1] = "no axioms"
  # of the real numbers of mathcomp-analysis
  group[2] = "classical logic"
  allowed[2] = " propositional_extensionality functional_extensionality_dep" \
    " constructive_indefinite_description "
  # of Coq's own library of real numbers, for Flocq, Gappa and Interval
  group[3] = "classical reals"
  allowed[3] = " classic sig_not_dec sig_forall_dec functional_extensionality_dep "
  # the bridge between the two
  group[4] = "classical reals, seen as a field"
  allowed[4] = allowed[3] "epsilon_statement "
  print "# What Coq has proved; written by `make prove', never by hand.  By tabs: statement, " \
    "theorem,"
  print "# what it rests on, hash of what Coq read, hash of the theorem, Coq, seconds, exception."
}
FILENAME ~ /claims$/ { n++; label[n] = $1; theorem[n] = $2; except[n] = $3; place[n] = $4
                       stated[n] = $5; next }
FILENAME ~ /hashes$/ { hash[$1] = $2; next }
FILENAME ~ /\.seconds$/ { f = FILENAME; gsub(/.*\/|\.seconds$/, "", f); seconds[f] = $1; next }
/^% /  { about = substr($0, 3); if (sub(/^instance /, "", about)) { shown[about] = 1
           about = "instance " about }; next }
/^supposes$/ { supposes[about]++; next }
/^@ /  { t = substr($0, 3); sub(/\/.*/, "", t); next }
/^Closed under the global context/ { closed[t] = 1; next }
/^Axioms:/ { closed[t] = 1; next }
/^[^ \t]/ {
  name = $0; sub(/ *:.*/, "", name)
  if (name !~ /^[A-Za-z_][A-Za-z_0-9'.]*$/) name = "(" $0 ")"
  sub(/.*\./, "", name); rests[t] = rests[t] " " name }
function of(t,   g, w, k, i, ok, alien) {
  k = split(rests[t], w, " ")
  for (g = 1; g <= 4; g++) { ok = 1
    for (i = 1; i <= k; i++) if (!index(allowed[g], " " w[i] " ")) ok = 0
    if (ok) return group[g] }
  for (i = 1; i <= k; i++)
    if (!index(allowed[2] allowed[4], " " w[i] " ")) alien = alien " " w[i]
  return "not allowed:" (alien ? alien : " a mixture of" rests[t]) }
function sha(s,   cmd, h) {
  gsub(/'/, "'\\''", s); cmd = "printf %s '" s "' | sha256sum"
  cmd | getline h; close(cmd); return substr(h, 1, 16) }
END {
  for (i = 1; i <= n; i++) { t = theorem[i]; f = t; sub(/\/.*/, "", f)
    g = closed[f] ? of(f) : "nothing known"
    if (g ~ /^no(t allowed|thing)/) {
      print place[i] ": " t " rests on what is " g > "/dev/stderr"; bad = 1 }
    if (supposes[t] && (!(t in shown) || supposes["instance " t])) {
      print place[i] ": " t " supposes something, and no Example shows that this can be had" \
        > "/dev/stderr"
      bad = 1 }
    print label[i] "\t" t "\t" g "\t" hash[f] "\t" sha(stated[i]) "\t" coq "\t" seconds[f] "\t" \
      except[i] }
  exit bad }
