# pack.awk -v held=FILE: each run of lines that noidx passes on as they are goes to FILE, with
# an empty line below it, and leaves one line; unpack.awk puts them back.  So what noidx
# reads is the same as long as no chunk and no identifier comes, goes or moves.
/^@(text|nl|literal|quote|endquote)/ { print > held; run = 1; next }
run { print "@literal"; print "" > held; run = 0 }
{ print }
END { printf "" > held }
