# refuse.awk (after coq.awk) - what no proof of this book may contain, whatever it says
BEGIN {
  n = split("Admitted admit give_up Axiom Axioms Conjecture Conjectures Parameter Parameters " \
    "Abort bypass_check native_compute native_cast_no_check Primitive Private private Load", w, " ")
  for (i = 1; i <= n; i++) refused[w[i]] = 1
}
function coq(s, comment,   w, n, i) {
  gsub(/"[^"]*"/, "\"\"", s)
  n = patsplit(s, w, /[A-Za-z_][A-Za-z_0-9']*/)
  for (i = 1; i <= n; i++) if (w[i] in refused) wrong(w[i] " in a proof: nothing would be proved")
  if (s ~ /(Set|Unset) +(Guard|Positivity|Universe) +Checking|Admit +Obligations|Declare +ML|Add +(Rec +)?LoadPath/)
    wrong(squeezed(s) " in a proof: Coq would not check it")
  if (s ~ /^ *(Section|Module)( |$)/ && s !~ /:=/) open[++sections] = (s ~ /Section/)
  if (s ~ /^ *End / && sections) sections--
  if (s ~ /^ *((Local|Global|Polymorphic) +)?(Variables?|Hypothes[ie]s|Context)( |$)/ && !inside())
    wrong(squeezed(s) " outside a section is an axiom") }
function inside(   i) { for (i = 1; i <= sections; i++) if (open[i]) return 1; return 0 }
function ended() { sections = 0; if (deep) wrong("a comment is never closed") }
END { exit bad }
