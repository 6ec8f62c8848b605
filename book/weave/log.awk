# log.awk - what LaTeX only mutters is an error here: undefined references,
# missing glyphs, boxes more than 2pt too wide; each with its chapter and line.
{ s = $0
  while (match(s, /\(\.?\/?(build\/|book\/)?(tex\/)?[^() ]+\.(tex|ind|bbl|ldg|toc)/)) {
    file = substr(s, RSTART + 1, RLENGTH - 1); s = substr(s, RSTART + RLENGTH) } }
function where(l,   f) { f = file; sub(/^\.\//, "", f)
  if (f ~ /tex\/[^\/]*\.tex$/ && f !~ /^book\//) { sub(/.*tex\/(answers-)?/, "chapters/", f); sub(/\.tex$/, ".nw", f) }
  return f ":" l ": " }
/^LaTeX Warning: (Reference|Citation|Label|There were)|^Package natbib Warning: (Citation|There were)/ {
  line = match($0, /input line ([0-9]+)/, m) ? m[1] : 0; sub(/^(LaTeX|Package natbib) Warning: /, ""); print where(line) $0; bad = 1 }
/^Missing character/ { print where(0) $0; bad = 1 }
/^Overfull \\hbox/ && match($0, /\(([0-9.]+)pt too wide\)/, m) && m[1] > 2 {
  line = match($0, /at lines? ([0-9]+)/, n) ? n[1] : 0; print where(line) "line too wide by " m[1] "pt"; bad = 1 }
/^Overfull \\vbox/ && match($0, /\(([0-9.]+)pt too high\)/, m) && m[1] > 2 { print where(0) "page too high by " m[1] "pt"; bad = 1 }
END { exit bad }
