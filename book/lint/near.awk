# near.awk - near(word, names): "; did you mean ...?", the name that fewest letters
# inserted, left out or changed turn into it, if a third of its letters suffice
function near(word, names,   n, best, d, limit) {
  limit = int(length(word) / 3) + 1
  for (n in names) if (length(n) - length(word) < limit && length(word) - length(n) < limit) {
    d = distance(word, n, limit)
    if (d < limit || (d == limit && best != "" && n < best)) { limit = d; best = n } }
  return best == "" ? "" : "; did you mean " best "?" }
function distance(a, b, limit,   i, j, row, last, diagonal, m, n, least, c) {
  m = length(a); n = length(b)
  for (j = 0; j <= n; j++) row[j] = j
  for (i = 1; i <= m; i++) {
    diagonal = row[0]; least = row[0] = i; c = substr(a, i, 1)
    for (j = 1; j <= n; j++) {
      last = row[j]
      row[j] = diagonal + (c != substr(b, j, 1))
      if (last + 1 < row[j]) row[j] = last + 1
      if (row[j - 1] + 1 < row[j]) row[j] = row[j - 1] + 1
      if (row[j] < least) least = row[j]
      diagonal = last }
    if (least > limit) return least }
  return row[n] }
