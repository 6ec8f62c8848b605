# cover.awk - the book as a graph: an arc from each chunk to each that uses it, and a
# fine one to each chunk of another chapter that uses a name which it defines; in the
# order of the text, in the colour of the chapter that defines.  Half an ellipse is two
# Bezier curves; they are computed here, since to have TikZ do it takes seconds a run.
# (The width is in points, the height in radii; kappa makes a quarter of a circle.)
BEGIN { width = 469.755; height = 1.6; kappa = .5522847; last = -1 }
/^@file /       { chapter++ }
/^@begin code/  { of[++n] = chapter; code = 1 }
/^@end code/    { code = 0 }
/^@defn /       { where[substr($0, 7)] = n }
/^@use /        { used[++k] = substr($0, 6); at[k] = n }
/^@index defn / { if (!($3 in home)) home[$3] = n }
code && /^@index use / { name[++m] = $3; user[m] = n }
function colour(c) { if (c % 6 != last) printf "\\covercolor{%d}", (last = c % 6) }
function arc(a, b,   r, x, y) {
  colour(of[a])
  r = (b > a ? b - a : a - b) / 2 * width / n; x = (a + b) / 2 * width / n; y = height * r
  printf "\\coverarc{%.2f}{%.2f}{%.2f}{%.2f}{%.2f}{%.2f}{%.2f}%%\n",
    x - r, x - kappa * r, x, x + kappa * r, x + r, kappa * y, y }
END {
  printf "\\def\\covernames{%%\n"
  for (i = 1; i <= m; i++)
    if (name[i] in home && of[a = home[name[i]]] != of[b = user[i]] && !drawn[a, b]++) arc(a, b)
  printf "}\n\\def\\coverarcs{%%\n"; last = -1
  for (i = 1; i <= k; i++) if (used[i] in where && (a = where[used[i]]) != (b = at[i])) arc(a, b)
  printf "}\n\\def\\coverdots{%%\n"; last = -1
  for (i = 1; i <= n; i++) { colour(of[i]); printf "\\coverdot{%.2f}%%\n", i * width / n }
  print "}"
}
