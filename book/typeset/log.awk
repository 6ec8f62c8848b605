# log.awk - what LaTeX only mutters is an error here: undefined references,
# missing glyphs, boxes more than 2pt too wide; each with its chapter and line.
# TeX opens files with "(name" and closes them with ")": keep the stack.  Lines of
# text that TeX shows after a bad box are not of that kind.
!/^(\[\]|\\TU|\\OM|!|l\.)/ {
  s = $0
  while (match(s, /[()]/)) {
    c = substr(s, RSTART, 1); s = substr(s, RSTART + 1)
    if (c == "(") stack[++top] = match(s, /^[^() ]+\.[a-z]+/) ? substr(s, RSTART, RLENGTH) : ""
    else if (top) top-- }
  for (i = top; i && stack[i] == ""; i--) ;
  file = i ? stack[i] : "book/attention.tex" }
function where(l,   f) { f = file; sub(/^\.\//, "", f)
  if (f ~ /tex\/[^\/]*\.tex$/ && f !~ /^book\//) {
    sub(/.*tex\/(answers-)?/, "chapters/", f); sub(/\.tex$/, ".nw", f) }
  return f ":" l ": " }
!preview && (/^LaTeX Warning: (Reference|Citation|Label|There were)/ ||
             /^Package natbib Warning: (Citation|There were)/) {
  line = match($0, /input line ([0-9]+)/, m) ? m[1] : 0
  sub(/^(LaTeX|Package natbib) Warning: /, ""); print where(line) $0; bad = 1 }
/^Missing character/ { print where(0) $0; bad = 1 }
/^Overfull \\hbox/ && match($0, /\(([0-9.]+)pt too wide\)/, m) && m[1] > 2 {
  line = match($0, /at lines? ([0-9]+)/, n) ? n[1] : 0
  print where(line) "line too wide by " m[1] "pt"; bad = 1 }
/^Overfull \\vbox/ && match($0, /\(([0-9.]+)pt too high\)/, m) && m[1] > 2 {
  print where(0) "page too high by " m[1] "pt"; bad = 1 }
END { exit bad }
