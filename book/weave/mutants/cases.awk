# cases.awk -v k=MUTANT PASSED...: for each program the cases that pass the mark of
# the mutant and succeed without it, quickest first, with a limit in seconds
function flush() {
  if (n) { PROCINFO["sorted_in"] = "@val_num_asc"; list = ""
    for (c in time) list = list (list == "" ? "" : ",") c
    printf "%s\t%s\t%d\n", program, list, 5 + 20 * total }
  delete time; n = total = 0 }
FNR == 1 { flush(); program = FILENAME; sub(/.*\//, "", program); sub(/\..*/, "", program) }
$3 == 1 { for (i = 4; i <= NF; i++) if ($i == k) { time[$1] = $2; total += $2; n++; break } }
END { flush() }
