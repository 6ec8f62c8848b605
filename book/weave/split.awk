# split.awk - cut the woven book into one .tex per chapter and one for its answers.
# Line n of either is line n of the .nw: a line goes to one file, the other gets "%".
function put(s,   a) { a = answers; print (a ? "%" : s) > body; print (a ? s : "%") > back }
{ if ((i = index($0, "\\nwfilename{")) > 0) {
    rest = i > 1 ? substr($0, 1, i - 1) : ""
    if (rest != "" && body != "") put(rest)
    $0 = substr($0, i); match($0, /\{[^}]*\}/); f = substr($0, RSTART + 1, RLENGTH - 2)
    sub(/.*\//, "", f); sub(/\.nw$/, "", f)
    body = dir "/" f ".tex"; back = dir "/answers-" f ".tex"; answers = 0 } }
/^\\nwixlogsorted/ { ix = ix $0 "\n"; next }
/\\begin\{answer\}/ { answers = 1 }
{ put($0) }
/\\end\{answer\}/ { answers = 0 }
END { printf "%s", ix > (dir "/indexes.tex") }
