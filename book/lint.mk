# lint.mk - what is refused before LaTeX or a reader would stumble over it; read by the
# Makefile.
.PHONY: lint
# Each check and number that the text names is there; each public name has its comment and
# its place in the index.
KEYED := build/keyed$(draft)
$(KEYED): build/results.tex $(NW) $(wildcard book/*.tex) $W/keys.awk
	$Qgawk -v draft=$(DRAFT) -f $W/near.awk -f $W/keys.awk \
	  build/results.tex $(wildcard book/*.tex) $(NW)
	@touch $@
$(PDF): $(KEYED)
APIS := build/apis$(draft)
api   = gawk -v lenient="$(LENIENT)" -f $W/api.awk <(nodefs $(NW)) \
          $(filter build/src/include/%,$(SRC_H))
$(APIS): $(NW) $(SRC_H) $W/api.awk
	$Q$(api) > /dev/null$(if $(DRAFT), || true)
	@touch $@
$(LINTED): $(APIS) $W/near.awk $(wildcard figures)
# A preview says of a stamp that its code is younger than it.
build/stale.tex: $(TANGLED) always
	@$W/stale $(RUN) | cpif $@
preview: build/stale.tex
## lint: chunks, statements, doc comments, labels, citations, draws
lint: $(TANGLED) $(TABLES) build/tex/reference.tex
	$(call say,lint,$(words $(CHAPTERS)) chapters)
	$Q$W/lint --count --book $(NW)
	$Q$(api)
	$Qgawk -v lenient="$(LENIENT)" -f $W/draws.awk \
	  $(addprefix build/src/,$(filter %pp,$(ROOTS))) $(wildcard tests/*pp)
	$Qgawk -v lint=1 -f $W/reference.awk $(filter-out %/indexes.tex,$(TEX)) \
	  build/reference.txt > /dev/null
