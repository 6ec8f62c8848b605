# api.awk DEFS HEADER...: each public name of the library has a doc comment and a
# %def.  DEFS is what nodefs prints; headers carry #line, so complaints do too.
# Public: declared at column 0 of namespace attn, outside namespace detail.  A comment
# speaks for the declarations that follow it without a blank line, and for overloads.
FNR == NR && FILENAME !~ /\.hpp$/ { defined[$1] = 1; next }
FNR == 1 { group = 0; delete known; depth = doc = inside = skip = 0; head = ""; file = FILENAME; line = 0 }
/^#line / { line = $2 - 1; file = $3; gsub(/"/, "", file); next }
{ line++; s = $0; sub(/[ \t]*\/\/([^\/].*)?$/, "", s); gsub(/= *\{\}/, "= 0", s) }
/^namespace (attn )?detail/ || /^namespace attn::detail/ { skip = 1 }
/^}.*namespace (attn::)?detail/ { skip = 0; doc = 0; next }
/^(inline )?namespace attn/ { inside = 1; next }
/^namespace (Eigen|std|boost)/ { inside = 0; next }
!inside || skip { next }
/^ *\/\/\// { doc = 1; next }
/^[ \t]*$/ { if (head == "") group = 0; next }
/^#/ || /^ *requires requires.*\{.*\}$/ { next }
{ if (head == "" && depth == 0) { start = line; startfile = file; documented = doc || group; group = documented; doc = 0 }
  if (depth == 0) head = head " " s
  n = s; gsub(/"([^"\\]|\\.)*"/, "", n); gsub(/'[^']*'/, "", n)
  opened = gsub(/\{/, "", n); closed = gsub(/\}/, "", n)
  if (opened && depth == 0) { declaration(head); spent = 1 }
  depth += opened - closed
  if (depth < 0) { depth = 0; inside = 0; head = ""; spent = 0; next }
  if (depth == 0 && (closed || n ~ /;[ \t]*$/)) { if (!spent) declaration(head); head = ""; spent = 0 } }
function declaration(h,   m, name) {
  gsub(/"([^"\\]|\\.)*"/, "", h); sub(/^ +/, "", h)
  if (h ~ /(^|> )(struct|class|enum) +[A-Za-z_0-9]+ *;/ || h ~ /operator|static_assert|^}|-> *[A-Z][A-Za-z]*</ || h ~ /^using namespace/) return
  if (h ~ /(constexpr|bool|auto) +[A-Za-z_0-9]+ *<.*> *=/) return
  t = h; while (sub(/template *<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>/, "", t)); sub(/requires *\(.*\) *$/, "", t)
  if (match(t, /(class|struct|concept|enum class|enum) +([A-Za-z_0-9]+)/, m)) { name = m[2]; if (t ~ /(struct|class) +[A-Za-z_0-9]+ *</) return }
  else if (match(t, /using +([A-Za-z_0-9]+) *=/, m)) name = m[1]
  else { gsub(/(requires|decltype|noexcept|alignas) *\([^()]*(\([^()]*\)[^()]*)*\)/, "", t)
    if (match(t, /([A-Za-z_][A-Za-z_0-9]*) *\(/, m)) name = m[1]
    else if (match(t, /([A-Za-z_][A-Za-z_0-9]*) *(=|\{|;)/, m)) name = m[1]; else return }
  if (documented) known[name] = 1
  if (!documented && !(name in known)) { print startfile ":" start ": public " name " has no doc comment" > "/dev/stderr"; bad = 1 }
  if (length(name) > 1 && !(name in defined)) { print startfile ":" start ": public " name " has no @ %def" > "/dev/stderr"; bad = 1 }
}
END { exit bad }
