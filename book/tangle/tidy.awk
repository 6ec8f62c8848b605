# tidy.awk - tangled code as people read it: no blanks at the ends of lines, a blank line
# before the name of a chunk, unless something opens there
{ sub(/[ \t]+$/, "") }
/^ *\/\/~ / { sub(/\/\/~ /, (open ? open : "//") " "); $0 = $0 close_
              if (last !~ /(^|[{(])$/) print "" }
{ print; last = $0 }
