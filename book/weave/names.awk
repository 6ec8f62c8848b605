# names.awk - noweb filter: print each chunk's name as a comment above its code
/^@begin code/ { code = 1 }
/^@end code/   { code = 0 }
/^@defn /      { name = substr($0, 7); fresh = 1 }
{ print }
/^@nl/ && code && fresh {
  fresh = 0
  if (name !~ /^\[\[/) { gsub(/\[\[|\]\]/, "", name); print "@text // " name; print "@nl" }
}
