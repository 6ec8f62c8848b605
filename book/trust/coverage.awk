# coverage.awk - of the lines that #line in the headers names, those that ran
FILENAME != "-" && /^#line/ { nw = $3; gsub(/"/, "", nw); n = $2 - 1; next }
FILENAME != "-" { library[nw ":" ++n] = $0; next }
/^ *-: *0:Source:/ { nw = $0; sub(/.*:Source:/, "", nw); next }
match($0, /^ *([0-9]+|#####|=====)\*?: *([0-9]+):/, m) && (nw ":" m[2]) in library {
  at = nw ":" m[2]; ran[at] += m[1] ~ /[1-9]/ }
END {
  if (!length(ran)) { print "coverage: no counts; run `make sanitize' first" > "/dev/stderr"
      exit 1 }
  printf "" > rest
  PROCINFO["sorted_in"] = "@ind_str_asc"
  for (at in ran) {
    c = at; sub(/\.nw:.*/, "", c); sub(/.*\//, "", c); lines[c]++; all++
    if (ran[at]) { reached[c]++; good++ } else { print at ": " library[at] > rest; missed++
        braces += library[at] ~ /^ *}[;)]*$/ }
  }
  for (c in lines) {
    printf "fact\tcoverage/%s/lines\t%d\nfact\tcoverage/%s/percent\t%.1f\n", c, lines[c], c,
        100 * reached[c] / lines[c] > facts
    printf "  %-14s %4d of %4d lines, %5.1f per cent\n", c, reached[c], lines[c],
        100 * reached[c] / lines[c]
  }
  printf "fact\tcoverage/lines\t%d\nfact\tcoverage/percent\t%.1f\n", all, 100 * good / all > facts
  printf "fact\tcoverage/missed\t%d\nfact\tcoverage/braces\t%d\n", missed, braces > facts
  printf "%d of %d lines of the headers, %.1f per cent; the others are in %s\n", good, all,
      100 * good / all, rest
}
