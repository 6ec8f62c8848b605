# api.awk DEFS HEADER...: each public name of the library has a doc comment and a
# %def.  DEFS is what nodefs prints; headers carry #line, so complaints do too.
# Public: declared at column 0 of namespace attn, outside namespace detail.  A comment
# speaks for the declarations of one kind that follow it without a blank line, and for
# overloads.
# With -v list=1 it prints what it read instead, a declaration a line, for reference.awk:
# header, source:line, kind, name, declaration, comment, separated by tabs.
FNR == NR && FILENAME !~ /\.hpp$/ { defined[$1] = 1; next }
FNR == 1 { group = 0; delete known; depth = doc = inside = skip = 0; head = text = said = ""; file = FILENAME; line = 0
           header = FILENAME; sub(/.*include\//, "", header) }
/^#line / { line = $2 - 1; file = $3; gsub(/"/, "", file); next }
{ line++; s = $0; sub(/[ \t]*\/\/([^\/].*)?$/, "", s); as_is = s; gsub(/= *\{\}/, "= 0", s) }
/^namespace (attn )?detail/ || /^namespace attn::detail/ { skip = 1 }
/^}.*namespace (attn::)?detail/ { skip = 0; doc = 0; text = ""; next }
/^(inline )?namespace attn/ { inside = 1; next }
/^namespace (Eigen|std|boost)/ { inside = 0; next }
!inside || skip { next }
/^ *\/\/\// { doc = 1; text = text substr($0, index($0, "///") + 3); next }
/^[ \t]*$/ { if (head == "") group = 0; next }
/^#/ || /^ *requires requires.*\{.*\}$/ { next }
{ if (head == "" && depth == 0) { start = line; startfile = file; own = doc; documented = doc || group; group = documented
    if (doc) said = text; else if (!documented) said = ""; doc = 0; text = "" }
  if (depth == 0) { if (head == "") full = ""; head = head " " s; full = full " " as_is }
  else if (depth == 1 && class != "") part = part " " as_is
  if (depth == 1 && thrower != "" && match(s, /^  require(_domain)?\(/, m) && said !~ /[Tt]hrow/) {
    complain("public " thrower " throws, and its comment does not say so"); thrower = "" }
  n = s; gsub(/"([^"\\]|\\.)*"/, "", n); gsub(/'[^']*'/, "", n)
  opened = gsub(/\{/, "", n); closed = gsub(/\}/, "", n)
  if (opened && depth == 0) { declaration(head); spent = 1; part = "" }
  depth += opened - closed
  if (depth <= 1 && class != "" && part ~ /[^ ]/ && (closed || n ~ /[;:][ \t]*$/)) { member(part); part = "" }
  if (depth < 0) { depth = 0; inside = 0; head = ""; spent = 0; next }
  if (depth == 0 && (closed || n ~ /;[ \t]*$/)) { if (!spent) declaration(head); head = class = part = ""; spent = 0 } }
function declaration(h,   m, name, kind) {
  kind = "function"
  gsub(/"([^"\\]|\\.)*"/, "", h); sub(/^ +/, "", h)
  if (h ~ /(^|> )(struct|class|enum) +[A-Za-z_0-9]+ *;/ || h ~ /operator|static_assert|^}|-> *[A-Z][A-Za-z]*</ || h ~ /^using namespace/) return
  if (h ~ /(constexpr|bool|auto) +[A-Za-z_0-9]+ *<.*> *=/) return
  t = h; while (sub(/template *<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>/, "", t)); sub(/requires *\(.*\) *$/, "", t)
  if (match(t, /(class|struct|concept|enum class|enum) +([A-Za-z_0-9]+)/, m)) { name = m[2]; kind = m[1]; if (t ~ /(struct|class) +[A-Za-z_0-9]+ *</) return }
  else if (match(t, /using +([A-Za-z_0-9]+) *=/, m)) { name = m[1]; kind = "type" }
  else { gsub(/(requires|decltype|noexcept|alignas) *\([^()]*(\([^()]*\)[^()]*)*\)/, "", t)
    if (match(t, /(::)?([A-Za-z_][A-Za-z_0-9]*) *\(/, m)) { if (m[1]) return; name = m[2] }
    else if (match(t, /([A-Za-z_][A-Za-z_0-9]*) *(=|\{|;)/, m)) { name = m[1]; kind = "value" } else return }
  if (kind ~ /class|struct/) { class = name; hidden = kind == "class" }
  if (list) { entry(kind, name, full, said); return }
  if (own) spokenfor = kind; else if (documented && kind != spokenfor && !(name in known)) documented = 0
  thrower = kind == "function" ? name : ""
  if (documented) known[name] = 1
  if (!documented && !(name in known)) complain("public " name " has no doc comment")
  if (length(name) > 1 && !(name in defined)) complain("public " name " has no @ %def")
}
function complain(what) { print startfile ":" start ": " what > "/dev/stderr"; bad = 1 }
function member(h,   m) {         # of a class: what its users may touch
  if (h ~ /^ *(public|private|protected) *: *$/) { hidden = h !~ /public/; return }
  if (list && !hidden && h !~ /^ *};? *$/ && h !~ /operator|friend|static_assert|= *delete|= *default|^ *using|^ *template *<> *struct/)
    entry("member", class, h, text)
  text = ""; doc = 0 }
function entry(kind, name, h, said) {
  gsub(/[ \t]+/, " ", h); gsub(/[ \t]+/, " ", said); sub(/^ /, "", h); sub(/^ /, "", said)
  printf "%s\t%s:%d\t%s\t%s\t%s\t%s\n", header, startfile, start, kind, name, h, said }
END { exit bad }
