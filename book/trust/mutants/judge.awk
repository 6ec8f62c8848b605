# judge.awk -v part=SAMPLE -v name=NAME -v score=FILE -v date=DAY -v commit=HASH \
#   tests/mutants.txt (TABLE PASSED... VERDICTS)...
# A mutant counts if the mark can bite where it is compiled; one that only the
# compiler passes (in a constexpr function) is not counted.  Fails if one survives
# that has no verdict in tests/mutants.txt, or one with a verdict was caught; of a
# sample, if fewer than 95 in a hundred are caught.
FILENAME ~ /^tests/ { if (/^[^#]/ && NF >= 3) reason[$1 FS $2] = $3; next }
FILENAME ~ /table/ { if (FNR == 1) { delete row; delete able; delete seen }
  row[$1] = $2 FS $6; place[$1] = $3; was[$1] = $5; kind[$1] = $4; inner[$1] = $7; next }
FILENAME ~ /passed$/ { for (i = 4; i <= NF; i++) if ($i > 0) able[$i]; else seen[-$i]; next }
{ k = $1; chapter = place[k]; sub(/:.*/, "", chapter); sub(/.*\//, "", chapter)
    sub(/\.nw$/, "", chapter)
  if (!(k in able) && ((k in seen) || inner[k])) next
  total[chapter]++; n++
  if ($2 == "caught") { caught[chapter]++; c++; if (row[k] in reason) stale[row[k]]; next }
  if (row[k] in reason) { equal[chapter]++; e++; next }
  printf "%s: survives%s: %s\n    %s\n    %s\n", place[k], (k in able) ? "" : " unreached",
      kind[k], was[k], substr(row[k], index(row[k], FS) + 1)
  bad++ }
END {
  percent = n > e ? 100 * c / (n - e) : 100
  PROCINFO["sorted_in"] = "@ind_str_asc"
  for (i in total) {
    key = "fact\t" name "/" i
    printf "%s/made\t%d\n%s/caught\t%d\n%s/equivalent\t%d\n", key, total[i], key, caught[i], key,
        equal[i] > score
    printf "  %-14s %3d mutants, %3d caught, %2d equivalent\n", i, total[i], caught[i], equal[i] }
  key = "fact\t" name
  printf "%s/made\t%d\n%s/caught\t%d\n%s/equivalent\t%d\n%s/survive\t%d\n%s/score\t%.1f\n",
    key, n, key, c, key, e, key, bad, key, percent > score
  printf "%s/date\t%s\n%s/commit\t%s\n", key, date, key, commit > score
  for (r in stale) print "tests/mutants.txt: caught after all: " r
  printf "%d mutants, %d caught, %d equivalent, %d survive: %.1f per cent\n", n, c, e, bad, percent
  exit part ? percent < 95 : bad > 0 || length(stale) > 0 }
