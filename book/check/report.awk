# report.awk - the table that `make check' ends with
BEGIN { FS = "\t" }
$1 == "case" {
  n = split($2, p, "/"); s = p[1]
  if (!(s in cases)) order[++suites] = s
  cases[s]++; if ($3 == "passed") good[s]++; else { wrong[s]++; print $4 ": " $2 " " $3 }
}
$1 == "verify" {
  split($2, p, "/"); s = p[1]; inst[s] += $4
  if ($3 == "exact") exact[s] += $4
  else if ($3 == "refuted") refuted[s] += $4
  else { r = NF > 6 ? $7 : $6 > 0 ? $5 / $6 : ($5 > 0 ? "inf" : 0)
      if (r + 0 > worst[s] + 0) worst[s] = r }
}
END {
  line = "---------------------------------------------------------------------------"
  printf "%s\n%-22s %6s %10s %8s %8s %8s  %s\n%s\n", line, "suite", "cases",
    "instances", "exact", "refuted", "worst", "verdict", line
  for (i = 1; i <= suites; i++) { s = order[i]; N += cases[s]; G += good[s]
    printf "%-22s %6d %10d %8d %8d %8s  %s\n", s, cases[s], inst[s], exact[s], refuted[s],
      (s in worst) ? sprintf("%.3f", worst[s]) : "-", wrong[s] ? wrong[s] " failed" : "passed" }
  print line
  print "(instances: measurements made; exact: over the prime field; refuted: statements of"
  print " the sources shown to be false; worst: largest error in units of its bound)"
  printf "%d passed, %d failed\n", G, N - G
  exit N > G || N == 0
}
