# constants.awk (after coq.awk) - numbers that a proof and the program share.  Below
#   Definition NAME := NUMBER / NUMBER.
# there may stand
#   (* = C++ EXPRESSION in attn/header.hpp *)
# and below any line in which the number N stands (N may be written as a power, 0x1p-149)
#   (* N = C++ EXPRESSION in attn/header.hpp *)
# Prints a program that compiles only if the compiler reads the same numbers.
function coq(s, comment,   m, n) {
  remark = remark comment; if (deep) return
  comment = squeezed(remark); remark = ""
  if (match(s, /^Definition +[A-Za-z_0-9']+ *:= *([-0-9 \/]+)\./, m)) number = m[1]
  if (match(comment, /^([-0-9xp]*) ?= (.*) in (attn\/[A-Za-z0-9_]+\.hpp)$/, m)) {
    if (m[1] == "" && number == "") { wrong("no number stands above this comment"); return }
    n = m[1]; sub(/^0x1p/, "", n)
    if (n != "" && !index(" " gensub(/[^-0-9]+/, " ", "g", above) " ", " " n " ")) {
      wrong(n " does not stand above this comment"); return }
    if (m[1] != "") number = m[1]
    if (number !~ /x/) gsub(/[0-9]+/, "&.0", number)
    if (!(m[3] in header)) { header[m[3]] = 1; print "#include \"" m[3] "\"" }
    split(place, p, ":")
    print "#line " p[2] " \"" p[1] "\""
    print "static_assert((" m[2] ") == " number ", \"proof and program have other numbers\");"
    number = "" }
  else if (squeezed(s) != "" && s !~ /^Definition/) number = ""
  if (squeezed(s) != "") above = s }
function ended() { number = above = "" }
END { exit bad }
