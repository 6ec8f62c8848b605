# draws.awk SOURCE...: two draws for different names in one test case, or one function,
# come from different streams.  gaussian<S>(n, m, seed, "stream") gives the same numbers
# for the same seed and stream; a matrix compared with itself is no check.
# -v lenient: the chapters (numbers) where such places are only counted.
FNR == 1 { unit(); nw = FILENAME; line = 0 }
/^#line / { line = $2 - 1; nw = $3; gsub(/"/, "", nw); next }
{ line++; s = $0; sub(/^ *\/\/.*/, "", s); sub(/[ \t]+\/\/[^"]*$/, "", s)
  if (s ~ /^[^ }#]/ && s !~ /^(namespace|template|using|public|private|\{)/) unit()
  if (s ~ /^#/) next
  for (i = 1; i <= length(s); i++) { where[length(body) + i] = nw ":" line }
  body = body s "\n"; where[length(body)] = nw ":" line }
END { unit()
  if (later) print "      later    " later " draws repeat a seed under another name"
  exit bad }
# what a case or a function is, has been read
function unit(   i, c, deep, b) {
  b = body; body = ""
  if (b ~ /(gaussian|uniform)</) {
    delete seed; delete owner; delete spoken; n = arguments = deep = 0
    for (i = 1; i <= length(b); i++) {
      c = substr(b, i, 1)
      if (c == "{") at[++deep] = n
      else if (c == "}") { if (deep) n = at[deep--] }
      else if (c ~ /[gu]/ && substr(b, i, 40) ~ /^(gaussian|uniform)<[A-Za-z0-9_:<> ]*>\(/ &&
               substr(b, i - 1, 1) !~ /[A-Za-z0-9_]/) draw(b, i) } }
  delete where }
function draw(b, i,   p, k, c, deep, arg, n_args, s, before, m, name, sentence) {
  p = i + index(substr(b, i), "(")
  deep = 0; n_args = 1; delete arg
  for (k = p; k <= length(b); k++) {
    c = substr(b, k, 1)
    if (c ~ /[({[]/) deep++
    else if (c ~ /[)}\]]/) { if (!deep) break; deep-- }
    if (c == "," && !deep) n_args++
    else arg[n_args] = arg[n_args] c }
  if (n_args < 3) return
  s = arg[3] "," arg[4]; gsub(/[ \n]/, "", s)
  before = substr(b, 1, i - 1); sub(/.*[;{}]/, "", before)
  # (what is compared with itself in one sentence, or refused, is meant so)
  if (before ~ /BOOST_|verify|says\(/) return
  # (an argument without a name meets but the others of its sentence)
  sentence = i - length(before)
  if (match(before, /([A-Za-z_][A-Za-z_0-9.]*) *[-+*\/]?= *[^=]*$/, m)) name = m[1]
  else if (match(before, /[:,>] *([A-Za-z_][A-Za-z_0-9]*)\($/, m)) name = m[1]
  else name = "argument " ++arguments
  for (k = 1; k <= n; k++)
    if (seed[k] == s && owner[k] != name &&
        (spoken[k] == sentence || name owner[k] !~ /argument/)) {
      complain(where[i], name " is drawn from the seed of " owner[k] " (" s ")"); break }
  seed[++n] = s; owner[n] = name; spoken[n] = sentence }
function complain(place, what,   c) {
  c = place; sub(/.*\//, "", c); sub(/,\)$/, ")", what)
  if (index(" " lenient " ", " " substr(c, 1, 2) " ")) { later++; if (tell) print place ": " what }
  else { print place ": " what > "/dev/stderr"; bad = 1 } }
