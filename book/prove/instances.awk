# instances.awk (after coq.awk) - Example NAME ... := @file.theorem ARGUMENTS. shows that what
# the theorem supposes can be had.  Prints, by tabs: file/theorem, NAME.
function coq(s, comment,   m) {
  if (match(s, /^Example +([A-Za-z_0-9']+)/, m)) { name = m[1]; text = "" }
  if (name == "") return
  text = text " " s
  if (match(text, /:= *@?([a-z_0-9]+)\.([A-Za-z_0-9']+)/, m)) print m[1] "/" m[2] "\t" name
  else if (text ~ /\. *$/) wrong("Example " name " is no instance of a theorem: := @file.theorem ...")
  else return
  name = "" }
function ended() { name = "" }
END { exit bad }
