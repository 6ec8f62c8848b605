# links.awk DESTS EXT - DESTS: the named destinations of a volume (pdfinfo -dests); EXT: what
# the other volume believes to be in it.  Each must be there, on the page that is printed.
{ ext = FNR < NR }
!ext { if (match($0, /^ *([0-9]+) .*"(.*)"$/, m)) page[m[2]] = m[1]; next }
match($0, /^\\extsub\{([^}]*)\}\{([0-9]+)[a-z]*\}/, m) { look("noweb." m[1], m[2]) }
match($0, /^\\extlabel\{([^}]*)\}\{\{.*\}\{([0-9]+)\}\{.*\}\{([^{}]*)\}\{\}\}/, m) {
  look(m[3], m[2]) }
function look(name, printed) {
  if (name == "") return
  if (!(name in page)) { print "link to " name ", which is not there"; bad = 1; return }
  tried++; if (!(page[name] - printed in off)) off[page[name] - printed] = name }
END {
  for (d in off) if (n++) { print "link to " off[d] ": the page is another one"; bad = 1 }
  if (ext && !tried) { print "no link between the volumes"; bad = 1 }
  exit bad }
