# cases.awk MARKUP TEX... - in which chunk is each check?  A line a check:
# \casedef{suite/case}{label of the chunk}.  A program of checks names its suite and uses
# chunks, in which cases stand; line n of each TEX is line n of its chapter.
FILENAME ~ /\.tex$/ {
  if (FNR == 1) { nw = FILENAME; gsub(/.*\/(answers-)?|\.tex$/, "", nw) }
  if (match($0, /\\sublabel\{([^}]*)\}/, m)) label[nw, FNR] = m[1]
  next }
/^@file /  { file = substr($0, 7); gsub(/.*\/|\.nw$/, "", file); line = 1
             chapter = file; sub(/-checks$/, "", chapter) }
/^@defn /  { chunk = chapter SUBSEP substr($0, 7); at = file SUBSEP line
             if ($0 ~ /^@defn \[\[tests\//) roots[chunk] = 1 }
/^@use /   { uses[chunk] = uses[chunk] "\034" substr($0, 6) }
/^@nl/ || /^@index nl/ { line++ }
/^@text .*BOOST_AUTO_TEST_SUITE\(/ { match($0, /SUITE\(([^)]*)\)/, m); suite[chunk] = m[1] }
/^@text .*BOOST_(AUTO|FIXTURE)_TEST_CASE\(/ {
  match($0, /CASE\(([A-Za-z_0-9]*)/, m)
  cases[chunk] = cases[chunk] " " m[1]; where[chunk, m[1]] = at }
function reach(c, chunk, s,   n, u, i, k) {
  n = split(cases[chunk], u, " ")
  for (i = 1; i <= n; i++) {
    split(where[chunk, u[i]], k, SUBSEP)
    if ((k[1], k[2]) in label) print "\\casedef{" s "/" u[i] "}{" label[k[1], k[2]] "}" }
  n = split(uses[chunk], u, "\034")
  for (i = 2; i <= n; i++) reach(c, c SUBSEP u[i], s) }
END { for (r in roots) if (r in suite) { split(r, c, SUBSEP); reach(c[1], r, suite[r]) } }
