# shape.awk MARKUP - how a chapter is made: reads noweb's markup of its files, prints a line
# a chapter.  Library: what include/ roots reach.  Prose: lines of volume one that are neither
# blank nor comment, outside answers; code: lines of volume one's chunks, likewise, but for
# statements in Coq (what proofs/ roots reach), which have a column of their own.
/^@file / { file = substr($0, 7); aside = file ~ /-checks\.nw$/; answer = 0
            c = file; gsub(/.*\/|(-checks)?\.nw$/, "", c)
            if (!(c in seen)) { seen[c] = 1; order[++n] = c } }
/^@begin docs/ { docs = 1 } /^@end docs/ { docs = 0; line() }
/^@begin code/ { code = 1; lines = 0; text = ""; use = 0; top = 1 }
/^@end code/   { code = 0
                 size[c, chunk] += lines
                 if (aside) away[c, chunk] += lines
                 else if (!answer) { here[c, chunk] += lines; length_of[c, ++chunks[c]] = lines } }
/^@defn /      { chunk = substr($0, 7) }
/^@use /       { if (code) {
                   parts[c, chunk] = parts[c, chunk] SUBSEP substr($0, 6); text = text "u" }
                 else if (docs && !aside) pointer[c, substr($0, 6)]++ }
/^@text/       { text = text substr($0, 7) }
/^@nl/         { if (code) { if (!top && text !~ /^ *$/) lines++; top = 0; text = "" } else line() }
function line() {
  if (text ~ /\\begin\{answer\}/) answer = 1
  if (!aside && !answer && text !~ /^ *(%|$)/) prose[c]++
  if (!aside && text ~ /\\begin\{exercise\}/) { exercises[c]++; if (text ~ /\{derive\}/) pencil[c]++
    match(text, /exercise\}\{([0-9])/, m); grade[c, m[1]]++ }
  if (text ~ /\\end\{answer\}/) answer = 0
  text = "" }
function reach(c, name, set,   k, u, i) {
  if ((c, name) in set) return
  set[c, name] = 1; k = split(parts[c, name], u, SUBSEP)
  for (i = 2; i <= k; i++) reach(c, u[i], set) }
END {
  for (x in size) { split(x, p, SUBSEP)
    if (p[2] ~ /^\[\[include\//) reach(p[1], p[2], lib)
    if (p[2] ~ /^\[\[proofs\//) reach(p[1], p[2], proof) }
  for (x in here) { split(x, p, SUBSEP)
    if (x in proof) coq[p[1]] += here[x]; else total[p[1]] += here[x] }
  for (x in size) { split(x, p, SUBSEP)
    if (x in lib) { all[p[1]] += size[x]; there[p[1]] += away[x] } }
  for (x in pointer) { split(x, p, SUBSEP); if (x in away) refs[p[1]] += pointer[x] }
  if (pages != "") while ((getline s < pages) > 0) { split(s, p, "\t"); np[p[1]] = p[2] }
  printf "%-14s %5s %8s %6s %5s %9s %6s %4s %4s %8s  %s\n", "chapter", "pages", "library", "in I", \
    "Coq", "prose/code", "median", "p90", "max", "refs/p.", "exercises"
  for (i = 1; i <= n; i++) { c = order[i]; k = 0; delete v
    for (j = 1; j <= chunks[c]; j++) v[++k] = length_of[c, j]
    asort(v)
    printf "%-14s %5s %8d %6s %5d %9s %6s %4s %4s %8s  %s\n", c, np[c] == "" ? "-" : np[c], all[c],
      all[c] ? sprintf("%.0f%%", 100 * (1 - there[c] / all[c])) : "-", coq[c],
      total[c] ? sprintf("%.2f", prose[c] / total[c]) : "-", k ? v[int((k + 1) / 2)] : "-",
      k ? v[int(.9 * k + .999)] : "-", k ? v[k] : "-",
      np[c] ? sprintf("%.2f", refs[c] / np[c]) : "-",
      exercises[c] + 0 " (" grade[c, 1] + 0 "+" grade[c, 2] + 0 "+" grade[c, 3] + 0 ", " \
        pencil[c] + 0 " pencil)" } }
