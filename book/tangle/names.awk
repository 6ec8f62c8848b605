# names.awk - noweb filter: print each chunk's name as a comment above its code, once,
# however many parts it has; tidy.awk sees to the blank line before it
/^@begin code/ { code = 1 }
/^@end code/   { code = 0 }
/^@defn /      { name = substr($0, 7); fresh = name !~ /^\[\[/ && !named[name]++ }
{ print }
/^@nl/ && code && fresh {
  fresh = 0; gsub(/\[\[|\]\]/, "", name); print "@text //~ " name; print "@nl" }
