# api.awk DEFS HEADER...: each public name of the library has a doc comment and a
# %def, and says so if it throws.  DEFS is what nodefs prints; headers carry #line, so
# complaints do too.  Public: declared at column 0 of namespace attn, outside namespace
# detail.  A comment speaks for the declarations of one kind and one line each that
# follow it without a blank line, for overloads, and for functions that it names.
# With -v list=1 it prints what it read instead, a declaration a line, for reference.awk:
# header, source:line, kind, name, declaration, comment, separated by tabs.
# -v lenient: the chapters (numbers) to which a rule that is new has not come.
FNR == NR && FILENAME !~ /\.hpp$/ { defined[$1] = 1; next }
FNR == 1 { delete known; depth = doc = inside = skip = group = 0; head = text = said = class = ""
           file = header = FILENAME; line = 0; sub(/.*include\//, "", header) }
/^#line / { line = $2 - 1; file = $3; gsub(/"/, "", file); next }
{ line++; s = $0; remark = ""
  if (match(s, /[ \t]*\/\/([^\/].*)?$/)) { remark = substr(s, RSTART);
      s = substr(s, 1, RSTART - 1) }
  sub(/^[ \t]*\/\/ */, "", remark); as_is = s; gsub(/= *\{\}/, "= 0", s) }
/^namespace (attn )?detail/ || /^namespace attn::detail/ { skip = 1; detailed[header] }
/^}.*namespace (attn::)?detail/ { skip = 0; doc = 0; text = ""; next }
/^(inline )?namespace attn/ { inside = 1; next }
/^namespace (Eigen|std|boost)/ { inside = 0; next }
!inside || skip { next }
/^ *\/\/\// { doc = 1; text = text substr($0, index($0, "///") + 3); next }
/^[ \t]*$/ { if (head == "") { group = 0; before = "" } next }
/^#/ || /^ *requires requires.*\{.*\}$/ { next }
{ if (head == "" && depth == 0) begins()
  if (depth == 0) { if (head == "") full = ""; head = head " " s; full = full " " as_is }
  else if (depth == 1 && class != "") {
    part = part " " as_is; if (remark !~ /^eq:/) note = note " " remark }
  else if (depth == 1 && enumerated) full = full " " as_is
  n = s; gsub(/"([^"\\]|\\.)*"/, "", n); gsub(/'[^']*'/, "", n)
  opened = gsub(/\{/, "", n); closed = gsub(/\}/, "", n)
  if (opened && depth == 0) { declaration(head); spent = 1; part = note = "" }
  throws(n)
  depth += opened - closed
  if (depth <= 1 && class != "" && part ~ /[^ ]/ && (closed || n ~ /[;:][ \t]*$/)) {
    member(part); part = note = "" }
  if (depth < 0) { depth = 0; inside = 0; head = ""; spent = 0; next }
  if (depth == 0 && (closed || n ~ /;[ \t]*$/)) ends() }
function begins() {
  start = line; startfile = file; own = doc
  if (doc) said = text
  doc = 0; text = "" }
function ends() {
  if (!spent) declaration(head)
  if (enumerated && list) entry("enum", enumerated, full, said)
  # (a body of several lines is the end of what a comment above it says)
  group = documented && (line == start || class == "" && !spent)
  before = current
  head = class = part = note = thrower = enumerated = current = ""; spent = 0 }
# a function that throws says so, whether it asks by itself, deep inside, or bluntly
function throws(n) {
  if (n !~ /(^|[^A-Za-z_0-9])(require(_domain)?\(|throw([^A-Za-z_0-9]|$))/) return
  if (thrower != "") {
    if (said !~ /[Tt]hrow/) fresh("public " thrower " throws, and its comment does not say so")
    thrower = "" }
  else if (class != "" && !hidden && said text !~ /[Tt]hrow/) {
    at = start; start = line
    fresh("a member of " class " throws, and neither its comment nor that of " class " says so")
    start = at } }
function declaration(h,   t, m, name, kind) {
  kind = "function"; documented = 0; current = ""
  gsub(/"([^"\\]|\\.)*"/, "", h); sub(/^ +/, "", h)
  if (h ~ /(^|> )(struct|class|enum) +[A-Za-z_0-9]+ *;/ || h ~ /operator|static_assert|^}/ ||
      h ~ /-> *[A-Z][A-Za-z]*</ || h ~ /^using namespace/) return
  if (h ~ /(constexpr|bool|auto) +[A-Za-z_0-9]+ *<.*> *=/) return
  t = h; while (sub(/template *<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>/, "", t));
  sub(/requires *\(.*\) *$/, "", t)
  if (match(t, /(class|struct|concept|enum class|enum) +([A-Za-z_0-9]+)/, m)) {
    name = m[2]; kind = m[1]; if (t ~ /(struct|class) +[A-Za-z_0-9]+ *</) return }
  else if (match(t, /using +([A-Za-z_0-9]+) *=/, m)) { name = m[1]; kind = "type" }
  else {
    gsub(/(requires|decltype|noexcept|alignas) *\([^()]*(\([^()]*\)[^()]*)*\)/, "", t)
    if (match(t, /(::)?([A-Za-z_][A-Za-z_0-9]*) *\(/, m)) { if (m[1]) return; name = m[2] }
    else if (match(t, /([A-Za-z_][A-Za-z_0-9]*) *(=|\{|;)/, m)) { name = m[1]; kind = "value" }
    else return }
  if (kind ~ /class|struct/ && kind !~ /enum/) { class = name; hidden = kind == "class" }
  documented = own || name == before || kind == spokenfor && (group || speaks(name))
  if (own) spokenfor = kind; else if (!documented) said = ""
  current = name; thrower = kind == "function" ? name : ""
  if (list) { if (kind ~ /enum/) enumerated = name; else entry(kind, name, full, said); return }
  headers[header]; public += !(name in known)
  if (documented) known[name] = 1
  else if (!(name in known)) complain("public " name " has no doc comment")
  if (length(name) > 1 && !(name in defined)) complain("public " name " has no @ %def")
}
function speaks(name) {
  return before != "" && said ~ ("(^|[^A-Za-z_0-9])" name "($|[^A-Za-z_0-9])") }
function member(h,   m) {         # of a class: what its users may touch
  if (h ~ /^ *(public|private|protected) *: *$/) { hidden = h !~ /public/; text = ""; return }
  gsub(/^ +| +$/, "", note)
  if (list && !hidden && h !~ /^ *};? *$/ &&
      h !~ /operator|friend (class|struct|std)|static_assert|= *(delete|default)/ &&
      h !~ /^ *using|^ *template *<> *struct/)
    entry("member", class, h, text != "" ? text : note)
  text = ""; doc = 0 }
function complain(what) {
  if (!list) { print startfile ":" start ": " what > "/dev/stderr"; bad = 1 } }
# of chapters to which a new rule has not come yet, places are counted
function fresh(what,   c) {
  if (list) return
  c = startfile; sub(/.*\//, "", c)
  if (index(" " lenient " ", " " substr(c, 1, 2) " ")) later++; else complain(what) }
function entry(kind, name, h, said) {
  gsub(/[ \t]+/, " ", h); gsub(/[ \t]+/, " ", said); sub(/^ /, "", h); sub(/^ /, "", said)
  printf "%s\t%s:%d\t%s\t%s\t%s\t%s\n", header, startfile, start, kind, name, h, said }
END {
  if (!list && public) print "      public   " public " names in " length(headers) \
    " headers, of which " length(detailed) " have a namespace detail"
  if (later) print "      later    " later " functions throw and do not say so"
  exit bad }
