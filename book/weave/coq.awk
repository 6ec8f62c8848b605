# coq.awk MARKUP MARKUP - noweb filter, run over the same text twice: marks the chunks of
# proofs (what roots in proofs/ use), in which no name is one of the program's.
FNR == 1       { pass++ }
/^@file /      { chapter = substr($0, 7); sub(/(-checks)?\.nw$/, "", chapter) }
/^@begin code/ { code = 1; fresh = 0 }
/^@end code/   { code = coq = 0 }
/^@defn /      { name = substr($0, 7); coq = (chapter, name) in reached; fresh = coq
                 if (pass == 1 && name ~ /^\[\[proofs\//) root[chapter, name] = 1 }
pass == 1      { if (code && /^@use /)
                   uses[chapter, name] = uses[chapter, name] SUBSEP substr($0, 6)
                 next }
pass == 2 && FNR == 1 { for (r in root) { split(r, p, SUBSEP); reach(p[1], p[2]) } }
code && coq && /^@index (use|defn) / { next }
{ print }
/^@nl/ && fresh { print "@literal \\coqcode{}"; fresh = 0 }
function reach(c, n,   u, k, i) {
  if ((c, n) in reached) return
  reached[c, n] = 1; k = split(uses[c, n], u, SUBSEP)
  for (i = 2; i <= k; i++) reach(c, u[i]) }
