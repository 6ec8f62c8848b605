# ext.awk -v dir=DIR JOB.aux - what the other volume may refer to, from LaTeX's notes of this
# one: \extlabel for its labels, \extcref for cleveref's, \extsub for its chunks (page and,
# where a page has several, a letter, as noweb counts them).
function read(file,   s, m, i) {
  while ((getline s < file) > 0) {
    if (match(s, /^\\@input\{(.*)\}/, m)) read(dir "/" m[1])
    else if (match(s, /^\\newlabel\{([^}]*@cref)\}(.*)$/, m)) print "\\extcref{" m[1] "}" m[2] "%"
    else if (match(s, /^\\newlabel\{([^}]*)\}(.*)$/, m)) print "\\extlabel{" m[1] "}" m[2] "%"
    else if (match(s, /^\\pendingsublabel\{([^}]*)\}/, m)) pending[++waiting] = m[1]
    else if (match(s, /^\\newsublabel\{([^}]*)\}\{\{\}\{(.*)\}\}/, m)) {
      page[++n] = m[2]; letter[n] = ++on[m[2]]; name[n] = m[1]
      for (i = 1; i <= waiting; i++) {
        page[++n] = m[2]; letter[n] = on[m[2]]; name[n] = pending[i] }
      waiting = 0 } }
  close(file) }
function alpha(k,   s) {
  while (k > 0) { s = sprintf("%c", 97 + (k - 1) % 26) s; k = int((k - 1) / 26) }
  return s }
BEGIN {
  read(ARGV[1])
  for (i = 1; i <= n; i++)
    print "\\extsub{" name[i] "}{" page[i] (on[page[i]] > 1 ? alpha(letter[i]) : "") "}%" }
