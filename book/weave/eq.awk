# eq.awk - noweb filter: typeset the equations that the code runs.
# The string of each eq<"..."> becomes a numbered display above the chunk where it
# first occurs; a comment "// eq:name" at the end of the line is its label.  Later
# uses, and that line itself, show the number at the right.  "// eq:none": no display.
{ l[NR] = $0 }
/^@begin code/ { begin = NR }
/^@text / && index($0, "eq<") && begin { found($0, NR) }
/^@end code/   { begin = 0 }
function found(s, at,   m, str, lab, raw) {
  raw = match(s, /eq<R"\((.*)\)">/, m); if (!raw && !match(s, /eq<"([^"]*)">/, m)) return
  str = m[1]; lab = ""
  if (match(s, / *\/\/ (eq:[A-Za-z0-9-]+) *$/, m)) {
    lab = m[1]; sub(/ *\/\/ eq:[A-Za-z0-9-]+ *$/, "", s); l[at] = s }
  if (lab == "eq:none") return
  if (!(str in label)) {
    label[str] = lab != "" ? lab : "eq:code-" (++auto)
    show[begin] = show[begin] SUBSEP str
  } else if (lab != "" && lab != label[str]) more[str] = more[str] "\\label{" lab "}"
  tag[at] = "\\eqtag{" label[str] "}"
}
END {
  for (i = 1; i <= NR; i++) {
    n = split(show[i], strings, SUBSEP)
    for (k = 2; k <= n; k++) print "@literal \\codeequation{" label[strings[k]] "}{" strings[k] "}{" more[strings[k]] "}"
    print l[i]
    if (i in tag) print "@literal " tag[i]
  }
}
