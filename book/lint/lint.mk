# lint.mk - what is refused before LaTeX or a reader would stumble over it; read by the
# Makefile.
.PHONY: lint
# Each check and number that the text names is there; each public name has its comment and
# its place in the index.
KEYED := build/keyed$(draft)
$(KEYED): build/results.tex $(PROVED) $(NW) $(wildcard book/*.tex) book/lint/keys.awk
	$Qgawk -v draft=$(DRAFT) -f book/lint/near.awk -f book/lint/keys.awk \
	  build/results.tex $(PROVED) $(wildcard book/*.tex) $(NW)
	@touch $@
$(PDF): $(KEYED)
build/readme: README.md $(LEDGERS) book/check/readme.awk
	$Qgawk -f book/check/readme.awk README.md $(LEDGERS)
	@touch $@
APIS := build/apis$(draft)
api   = gawk -v lenient="$(LENIENT)" -f book/lint/api.awk <(nodefs $(NW)) \
          $(filter build/src/include/%,$(SRC_H))
$(APIS): $(NW) $(SRC_H) book/lint/api.awk
	$Q$(api) > /dev/null$(if $(DRAFT), || true)
	@touch $@
$(LINTED): $(APIS) book/lint/near.awk $(wildcard figures)
# A preview says of a stamp that its code is younger than it.
build/stale.tex: $(TANGLED) always
	@book/check/stale $(RUN) | cpif $@
preview: build/stale.tex
## lint: chunks, statements, doc comments, labels, citations, draws
lint: $(TANGLED) $(TABLES) build/tex/reference.tex
	$(call say,lint,$(words $(CHAPTERS)) chapters)
	$Qbook/lint/lint --count --book $(NW)
	$Q$(api)
	$Qgawk -v lenient="$(LENIENT)" -f book/lint/draws.awk \
	  $(addprefix build/src/,$(filter %pp,$(ROOTS))) $(wildcard tests/*pp)
	$Qgawk -v lint=1 -f book/weave/reference.awk $(filter-out %/indexes.tex,$(TEX)) \
	  build/reference.txt > /dev/null
