# results.awk - ledgers, machine facts and benchmark reports to TeX macros.
# \resdef{key}{printed}{number or word}; keys of book/measured/ begin with rec/, those of
# book/measured/intel/, the reference run on another kind of processor, with intel/.
function number(key, x, digits,   s, e, m) {
  if (x !~ /^[-+]?([0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?|inf|nan)$/) {
    print FILENAME ":" FNR ": not a number: " x > "/dev/stderr"; exit bad = 1 }
  print "\\resdef{" key "}{" pretty(x, digits) "}{" x + 0 "}"
}
function pretty(x, digits,   s, m, e, neg) {
  if (x ~ /inf/) return (x ~ /^-/ ? "-" : "") "\\ensuremath{\\infty}"
  if (x ~ /nan/) return "NaN"
  if (!digits) digits = 3
  x += 0
  if (x == int(x) && x < 1e7 && x > -1e7) return "\\ensuremath{" grouped(sprintf("%d", x)) "}"
  m = x < 0 ? -x : x
  if (m >= 1e-3 && m < 1e6) {
    e = m >= 1 ? length(sprintf("%d", m)) : (m >= .1 ? 0 : m >= .01 ? -1 : -2)
    e = digits - e; if (e < 0) e = 0
    return "\\ensuremath{" grouped(sprintf("%.*f", e, x)) "}" }
  s = sprintf("%.*e", digits > 2 ? digits - 2 : 1, x); split(s, p, "e")
  return "\\ensuremath{" p[1] "\\times10^{" p[2] + 0 "}}"
}
function grouped(s,   i, f, neg) {          # 12345.6 -> 12\,345.6
  neg = s ~ /^-/ ? "-" : ""; sub(/^-/, "", s); i = index(s, "."); f = i ? substr(s, i) : ""
  if (i) s = substr(s, 1, i - 1)
  if (length(s) > 4) s = substr(s, 1, length(s) - 3) "\\," substr(s, length(s) - 2)
  return neg s f
}
function word(key, w) { gsub(/[_&%#$]/, "\\\\&", w); print "\\resdef{" key "}{" w "}{" w "}" }
function duration(ns,   u) { u = ns < 1e3 ? "ns" : ns < 1e6 ? "µs" : ns < 1e9 ? "ms" : "s"
  return pretty(ns / (u == "ns" ? 1 : u == "µs" ? 1e3 : u == "ms" ? 1e6 : 1e9), 3) "\\," u }
BEGIN { FS = "\t" }
FNR == 1 { rec = match(FILENAME, /book\/measured\/([a-z]+\/)?/, m) ? (m[1] ? m[1] : "rec/") : "" }
FILENAME ~ /\.json$/ {                       # Google Benchmark prints a field a line
  if (match($0, /"run_name": "([^"]*)"/, m)) run = m[1]
  if (match($0, /"repetitions": ([0-9]+)/, m)) times = m[1]
  if (match($0, /"aggregate_name": "([^"]*)"/, m)) agg = m[1]
  if (match($0, /"cpu_time": ([-+.eE0-9]+)/, m)) cpu = m[1]
  if (match($0, /"time_unit": "([^"]*)"/, m)) { unit = m[1]
    if (agg == "median") { number(rec "bench/" run "/" unit, cpu); runs++
      number(rec "bench/" run "/repetitions", times)
      took[rec run] = cpu * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1)
      if (rec == "") ran[++here] = run }
    else if (agg == "cv") number(rec "bench/" run "/cv", cpu) }
  if (match($0, /^ *"([A-Za-z_]+)": ([-+.eE0-9]+),?$/, m) && agg ~ /^(median|cv)$/ &&
      m[1] !~ /_index$|^(repetitions|threads|iterations|real_time|cpu_time)$/)
    { number(rec "bench/" run "/" m[1] (agg == "cv" ? "/cv" : ""), m[2])
      if (m[1] == "ms") own = 1 }
  if ($0 ~ /^ *\},?$/) {                      # (which counts its own time says so in ms)
    if (agg == "median" && unit && unit != "ms" && !own)
      number(rec "bench/" run "/ms", took[rec run] / 1e6)
    unit = agg = ""; own = 0 }
  next
}
$1 == "case"   { word($2 "/status", $3); word($2 "/line", $4); total++
    if ($3 == "passed") passed++ ; next }
$1 == "verify" { v = $2 ($3 == "refuted" ? "/refuted" : "")
                 number(v "/err", $5); number(v "/bound", $6); number(v "/n", $4)
                 number(v "/ratio", NF > 6 ? $7 : $6 > 0 ? $5 / $6 : 0)
                 word(v "/kind", $3); instances += $4
                 if ($3 == "exact") exacts += $4; if ($3 == "refuted") refuted++
                 next }
$1 == "fact"   { if ($3 ~ /^[-+]?([0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?|inf|nan)$/) 
                   number(rec $2, $3, $4)
                 else word(rec $2, $3)
                 next }
$1 == "end"    { next }
NF             { print FILENAME ":" FNR ": strange ledger line: " $0 > "/dev/stderr"; exit bad = 1 }
END { if (bad) exit 1
  number("book/cases", total + 0); number("book/passed", passed + 0)
      number("book/instances", instances + 0)
  number("book/exact", exacts + 0); number("book/refuted", refuted + 0)
  printf "\\def\\benchlist{"
  for (i = 1; i <= here; i++) { r = ran[i]; n = r; gsub(/[_&%#$]/, "\\\\&", n)
    printf "\\benchline{%s}{%s}{%s}{%s}", n, duration(took[r]),
      ("rec/" r) in took ? duration(took["rec/" r]) : "", \
      ("rec/" r) in took ? sprintf("%.2f", took[r] / took["rec/" r]) : "" }
  print "}" }
