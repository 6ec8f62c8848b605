# readme.awk README LEDGER...: the stamp that README shows is the stamp of this run.
FNR == NR {
  if (/^> ✓ VERIFIED BY · /) { shown = $0; split($0, part, / · /); name = part[2] }
  next }
$1 == "verify" && $2 == name {
  ran = sprintf("> ✓ VERIFIED BY · %s · error %s ≤ %s, %.3f of it, worst of %d",
                name, scientific($5), scientific($6), $7, $4) }
function scientific(x,    part, digit, up, i, s) {
  split(sprintf("%.1e", x), part, "e")
  split("⁰ ¹ ² ³ ⁴ ⁵ ⁶ ⁷ ⁸ ⁹", up, " ")
  s = part[2] < 0 ? "⁻" : ""
  digit = part[2] < 0 ? -part[2] : +part[2]
  for (i = 1; i <= length(digit ""); i++) s = s up[substr(digit, i, 1) + 1]
  return part[1] "×10" s }
END {
  if (shown != ran) {
    print "README.md: the stamp it shows is not the one of this run, which is" > "/dev/stderr"
    print (ran ? ran : "none: no check " name) > "/dev/stderr"
    exit 1 } }
