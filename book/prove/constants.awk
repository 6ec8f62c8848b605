# constants.awk (after coq.awk) - numbers that a proof and the program share: below
#   Definition NAME := NUMBER / NUMBER.    there may stand
#   (* = C++ EXPRESSION in attn/header.hpp *)
# Prints a program that compiles only if the compiler reads the same numbers.
function coq(s, comment,   m) {
  if (match(s, /^Definition +[A-Za-z_0-9']+ *:= *([-0-9 \/]+)\./, m)) number = m[1]
  if (match(comment, /^ *= (.*) in (attn\/[A-Za-z0-9_]+\.hpp) *$/, m)) {
    if (number == "") { wrong("no number stands above this comment"); return }
    gsub(/[0-9]+/, "&.0", number)
    if (!(m[2] in header)) { header[m[2]] = 1; print "#include \"" m[2] "\"" }
    split(place, p, ":")
    print "#line " p[2] " \"" p[1] "\""
    print "static_assert((" m[1] ") == " number ", \"proof and program have other numbers\");"
    number = "" }
  else if (squeezed(s) != "" && s !~ /^Definition/) number = "" }
function ended() { number = "" }
END { exit bad }
