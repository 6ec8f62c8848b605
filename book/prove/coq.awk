# coq.awk - reads tangled proofs (with `(*@ LINE FILE *)', which say where a line comes
# from) for the scripts beside it.  For each line that is no such mark it calls
# coq(line without comments, the comments of the line); place says where it stands.
FNR == 1 { if (file != "") ended(); file = FILENAME; gsub(/.*\/|\.v$/, "", file)
           deep = quoted = 0; place = FILENAME ":1"; from = FILENAME; at = 0 }
match($0, /^\(\*@ ([0-9]+) (.*) \*\)$/, m) { at = m[1] - 1; from = m[2]; next }
{ at++; place = from ":" at; split_line($0); coq(code, said) }
END { if (file != "") ended() }
function split_line(s,   c) {
  code = said = ""
  while (s != "") {
    c = substr(s, 1, 2)
    if (!quoted && c == "(*") { deep++; if (deep > 1) said = said c; s = substr(s, 3) }
    else if (!quoted && deep && c == "*)") {
      deep--; if (deep) said = said c; else code = code " "; s = substr(s, 3) }
    else { c = substr(s, 1, 1)
      if (deep) said = said c
      else { code = code c; if (c == "\"") quoted = !quoted }
      s = substr(s, 2) } } }
function squeezed(s) { gsub(/[ \t\n]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }
function wrong(s, where) { print (where ? where : place) ": " s > "/dev/stderr"; bad = 1 }
