# cover.awk - the book as the graph of its chunks: an arc from each chunk to each
# that uses it, in the order of the text, coloured by chapter
/^@file /      { chapter++ }
/^@begin code/ { n++ }
/^@defn /      { name = substr($0, 7); where[name] = n; of[n] = chapter }
/^@use /       { used[++k] = substr($0, 6); at[k] = n }
END {
  printf "\\def\\covernodes{%d}\\def\\coverchapters{%d}\n\\def\\coverarcs{", n ? n : 1, chapter
  for (i = 1; i <= k; i++) if (used[i] in where) {
    a = at[i]; b = where[used[i]]
    if (a != b) printf "\\coverarc{%d}{%d}{%d}", a < b ? a : b, a < b ? b : a, of[b] }
  printf "}\n\\def\\coverdots{"; for (i = 1; i <= n; i++) printf "\\coverdot{%d}{%d}", i, of[i]; print "}"
}
