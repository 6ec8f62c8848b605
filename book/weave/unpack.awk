# unpack.awk -v held=FILE: puts back what pack.awk took out
$0 == "@literal" { while ((getline line < held) > 0 && line != "") print line; next }
{ print }
