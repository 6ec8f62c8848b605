# split.awk - cut the woven book by its files: chapters/NAME.nw gives NAME.tex and, for the
# answers to its exercises, answers-NAME.tex; NAME-checks.nw, for volume two, gives
# NAME-checks.tex.  Line n of each is line n of the .nw: a line goes to one of them,
# the other gets "%".  What noidx has sorted goes to indexes.tex.
{ if ((i = index($0, "\\nwfilename{")) > 0) {
    if (i > 1 && body != "") put(substr($0, 1, i - 1))
    $0 = substr($0, i); match($0, /\{[^}]*\}/); name = substr($0, RSTART + 1, RLENGTH - 2)
    gsub(/.*\/|\.nw$/, "", name); to = "body"; body = dir "/" name ".tex"
    answers = name ~ /-checks$/ ? "/dev/null" : dir "/answers-" name ".tex" } }
/^\\nwixlogsorted/ { ix = ix $0 "\n"; next }
/\\begin\{answer\}/ { to = "answers" }
{ put($0) }
/\\end\{answer\}/ { to = "body" }
function put(s) { print (to == "body" ? s : "%") > body; print (to == "body" ? "%" : s) > answers }
END { printf "%s", ix > (dir "/indexes.tex") }
