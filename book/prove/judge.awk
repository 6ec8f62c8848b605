# rests.awk, judge.awk CLAIMS HASHES SECONDS... SAID...: what the claimed theorems rest on, as
# Coq has said it, file by file; prints the record, or complains.  SAID holds a line `@ file',
# what Print Assumptions prints about all theorems of the file that claim something, and
# for each of them and of the examples below `% ...' what it supposes.  A theorem that
# supposes something needs an example that supposes nothing.
BEGIN { FS = "\t"
  print "# What Coq has proved; written by `make prove', never by hand.  By tabs: statement, " \
    "theorem,"
  print "# what it rests on, hash of what Coq read, hash of the theorem, Coq, seconds, exception."
}
FILENAME ~ /claims$/ { n++; label[n] = $1; theorem[n] = $2; except[n] = $3; place[n] = $4
                       stated[n] = $5; next }
FILENAME ~ /hashes$/ { hash[$1] = $2; next }
FILENAME ~ /\.seconds$/ { f = FILENAME; gsub(/.*\/|\.seconds$/, "", f); seconds[f] = $1; next }
/^% /  { about = substr($0, 3); if (sub(/^instance /, "", about)) { shown[about] = 1
           about = "instance " about }; next }
/^supposes$/ { supposes[about]++; next }
/^@ /  { t = substr($0, 3); sub(/\/.*/, "", t); next }
/^(Closed under the global context|Axioms:)/ { said[t] = 1; next }
{ rests[t] = rests[t] axiom($0) }
function sha(s,   cmd, h) {
  gsub(/'/, "'\\''", s); cmd = "printf %s '" s "' | sha256sum"
  cmd | getline h; close(cmd); return substr(h, 1, 16) }
END {
  for (f in seconds) all += seconds[f]
  printf "# seconds %.0f\n", all
  for (i = 1; i <= n; i++) { t = theorem[i]; f = t; sub(/\/.*/, "", f)
    g = said[f] ? group_of(rests[f]) : "nothing known"
    if (g ~ /^no(t allowed|thing)/) {
      print place[i] ": " t " rests on what is " g > "/dev/stderr"; bad = 1 }
    if (supposes[t] && (!(t in shown) || supposes["instance " t])) {
      print place[i] ": " t " supposes something, and no Example shows that this can be had" \
        > "/dev/stderr"
      bad = 1 }
    print label[i] "\t" t "\t" g "\t" hash[f] "\t" sha(stated[i]) "\t" coq "\t" seconds[f] "\t" \
      except[i] }
  exit bad }
