# cases.awk [-v k=MUTANT] -v patience=TIMES PASSED...: for each program the cases that succeed
# without a mutant (and pass the mark of this one), quickest first, with a limit in seconds;
# the quickest program first
FNR == 1 { program = FILENAME; sub(/.*\//, "", program); sub(/\..*/, "", program) }
$3 == 1 { for (i = 4; i <= NF && $i != k; i++);
  if (!k || i <= NF) if (!($1 in time[program])) { time[program][$1] = $2; total[program] += $2 } }
END {
  PROCINFO["sorted_in"] = "@val_num_asc"
  for (p in total) { list = ""
    for (c in time[p]) list = list "," c
    printf "%s\t%s\t%d\n", p, list, 5 + patience * total[p] }
}
