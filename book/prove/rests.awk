# rests.awk - the groups of axioms on which a proof may rest, read before judge.awk
BEGIN {
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
}
# Of a line of what Print Assumptions prints: a blank and the name of an axiom, or nothing
function axiom(line) {
  if (line !~ /^[^ \t]/ || line ~ /^(Closed under the global context|Axioms:)/) return ""
  if (match(line, /^[A-Za-z_][A-Za-z_0-9'.]*( *:|$)/)) sub(/ *:.*/, "", line)
  else line = "(" line ")"
  sub(/.*\./, "", line); return " " line }
# The smallest group that has all of NAMES
function group_of(names,   g, w, k, i, ok, alien) {
  k = split(names, w, " ")
  for (g = 1; g <= 4; g++) { ok = 1
    for (i = 1; i <= k; i++) if (!index(allowed[g], " " w[i] " ")) ok = 0
    if (ok) return group[g] }
  for (i = 1; i <= k; i++)
    if (!index(allowed[2] allowed[4], " " w[i] " ")) alien = alien " " w[i]
  return "not allowed:" (alien ? alien : " a mixture of" names) }
