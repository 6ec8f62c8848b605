# eq.awk - noweb filter: typeset the equations that the code runs.
# The string of each eq<"..."> becomes a numbered display above the chunk where it
# first occurs; a comment "// eq:name" at the end of its line is its label.  Later
# uses, and that line itself, show the number at the right.  "// eq:none": no display.
# The string may stand on the line after eq<, and a line may hold several.
{ l[NR] = $0 }
/^@begin code/ { begin = NR; opened = 0 }
/^@text / && begin && (opened || index($0, "eq<")) { line($0, NR) }
/^@end code/   { begin = 0 }
function line(s, at,   m, rest, lab) {
  lab = ""
  if (match(s, / *\/\/ (eq:[A-Za-z0-9-]+) *$/, m)) lab = m[1]
  rest = substr(s, 7)
  if (opened && match(rest, /^ *(R"\((.*)\)"|"([^"]*)")>/, m)) found(m[2] m[3], at, lab)
  while (match(rest, /(^|[^A-Za-z_])eq<(R"\(([^"]*)\)"|"([^"]*)")>/, m)) {
    rest = substr(rest, RSTART + RLENGTH); found(m[3] m[4], at, lab) }
  opened = s ~ /(^|[^A-Za-z_])eq<$/ }
function found(str, at, lab) {
  if (lab != "") sub(/ *\/\/ eq:[A-Za-z0-9-]+ *$/, "", l[at])
  if (lab == "eq:none") return
  if (!(str in label)) {
    label[str] = lab != "" ? lab : "eq:code-" (++auto)
    show[begin] = show[begin] SUBSEP str
  } else if (lab != "" && lab != label[str]) more[str] = more[str] "\\label{" lab "}"
  tag[at] = tag[at] (tag[at] == "" ? "" : ",") label[str]
}
END {
  for (i = 1; i <= NR; i++) {
    n = split(show[i], strings, SUBSEP)
    for (k = 2; k <= n; k++)
      print "@literal \\codeequation{" label[strings[k]] "}{" strings[k] "}{" more[strings[k]] "}"
    print l[i]
    if (i in tag) print "@literal \\eqtag{" tag[i] "}"
  }
}
