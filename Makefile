# Attention as a Bilinear Form.  `make help` lists what can be asked for.
#
#   chapters/*.nw --tangle--> tangled/ (plain) and build/src/ (with #line)
#                               | compile, run
#                               v
#                 build/results/ --> build/results.tex --+
#   chapters/*.nw --weave--> build/tex/*.tex ------------+--> book/attention.pdf
#
# No list of files is kept here: chapters, their roots and figures are found.
# The scripts of each step are in the folder of book/ that is called as it is: tangle,
# lint, compile, check, prove, measure, weave, typeset.  In book/setup/ is what sets up this
# machine, a new chapter, an installed copy; in book/trust/, what checks the checks and
# the press itself.
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
export LC_ALL := C.UTF-8
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := book

# As many jobs as there are cores, if each can have 3 GB; `make -j1' asks for one.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell awk -v n=$$(nproc) '/^MemAvailable/ { m = int($$2 / 3e6); \
  print m < 1 ? 1 : m < n ? m : n }' /proc/meminfo)
endif

## setup: install what Debian 12 lacks for all this (needs root or sudo, network)
## clean: remove build/ and the PDFs
## setup-prove: and what `make prove' needs, 400 MB more
## setup-web: and what `make web epub check-site check-web' needs: node, npm, a browser, clang
.PHONY: setup setup-prove setup-web clean
setup setup-prove setup-web:
	@book/setup/$@
clean:
	rm -rf build book/{attention,companion}{,-draft}.pdf
# These two come first, and alone: even reading the rest of this file takes noweb, and
# what it reads of build/ is not there any more.
FIRST := $(filter setup setup-prove setup-web clean,$(MAKECMDGOALS))
ifneq ($(FIRST),)
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
$(filter-out $(FIRST),$(MAKECMDGOALS)): $(FIRST)
	@$(MAKE) --no-print-directory $@
else
# Goals for which no chapter has to be read
ifneq ($(or $(if $(MAKECMDGOALS),,x),$(filter-out help chapter install,$(MAKECMDGOALS))),)
READ := 1
endif

V      ?= 0
# What a draft let pass has not passed: it leaves stamps of its own.
DRAFT  ?=
draft  := $(if $(DRAFT),-draft)
VERIFIED := build/verified$(draft)
LINTED := build/linted$(draft)
# Where noweb and Eigen are (for the scripts too)
include book/setup/paths
export NOWEB EIGENDIR
# The date in the PDFs is the commit's, so that they depend on nothing but their source.
released = $(shell date -u -d "$$(sed -n 's/^date-released: *//p' CITATION.cff 2> /dev/null)" +%s)
ifndef SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH := $(or $(shell git log -1 --format=%ct 2> /dev/null),$(released))
endif
export SOURCE_DATE_EPOCH

# A chapter is NN-name.nw and, if there is one, NN-name-checks.nw, for volume two.
CHAPTERS := $(filter-out %-checks,$(patsubst chapters/%.nw,%,$(sort \
              $(wildcard chapters/[0-9]*.nw))))
of        = chapters/$1.nw $(wildcard chapters/$1-checks.nw)
NW       := $(foreach c,$(CHAPTERS),$(call of,$c))
# Chapters to which the newer rules have not come: there `make lint' counts what breaks them.
export LENIENT ?=

# One quiet line a step, with the time since make began; V=1 shows commands.
START := $(shell echo $$EPOCHSECONDS)
Q      = $(if $(filter 1,$V),,@)
say    = @printf '%4ds  %-8s %s\n' $$((EPOCHSECONDS - $(START))) "$(1)" "$(2)"
made   = $(call say,made,$(1))

# ------------------------------------------------------------------ tangle --
$(foreach c,$(CHAPTERS),$(eval build/mk/$c.mk build/tangle/$c.stamp: $(call of,$c)))
build/mk/%.mk: chapters/%.nw book/lint/lint book/lint/lint.awk book/tangle/roots
	@mkdir -p $(@D)
	$Qbook/lint/lint $(if $(DRAFT),--draft) $(call of,$*)
	$Qbook/tangle/roots $(call of,$*) > $@
ifdef READ
include $(CHAPTERS:%=build/mk/%.mk)
endif
build/tangle/%.stamp: chapters/%.nw build/mk/%.mk book/tangle/tangle book/tangle/names.awk
	$(call say,tangle,$<)
	$Qbook/tangle/tangle "$(call of,$*)" tangled build/src $(ROOTS_$*)
	@mkdir -p $(@D); touch $@
ROOTS   := $(foreach c,$(CHAPTERS),$(ROOTS_$c))
TANGLED := $(CHAPTERS:%=build/tangle/%.stamp)
HEADERS := $(filter include/%.hpp,$(ROOTS))
UMBRELLA := $(if $(HEADERS),include/attn/attn.hpp)
tangled/include/attn/attn.hpp: $(HEADERS:%=tangled/%) book/tangle/umbrella
	$Qbook/tangle/umbrella tangled $(HEADERS)

## tangle: write tangled/ and build/src/ from the chapters
.PHONY: tangle
tangle:
	$Qrm -f build/tangle/*.stamp
	$Q$(MAKE) --no-print-directory $(TANGLED)
	$Q$(if $(HEADERS),book/tangle/umbrella tangled $(HEADERS))
	$Qbook/tangle/tangled-check --prune tangled $(ROOTS) $(UMBRELLA)
	$(call made,tangled/ from $(words $(CHAPTERS)) chapters)

# ----------------------------------------------------------------- compile --
# Which programs there are, by what compiler and with what flags
include book/compile/programs.mk
# The library for C, and its users
include book/doors/doors.mk

# --------------------------------------------------------- verify, measure --
LEDGERS := $(TESTS:%=$O/results/tests/%.txt) $(EXTRA:%=$O/results/extra/%.txt)
$(LEDGERS): $O/results/%.txt: $O/bin/%
	$(call say,check,$*)
	@rm -f $O/obj/$*.gcda
	$Qbook/check/run-checks $< $@ "$(call needs,$(wildcard build/src/$*.cpp))"
# (what a processor must have for it: // needs: avx2 fma)
needs    = $(if $1,$$(sed -n 's,^// needs: ,,p' $1))
# A program in tests/ that reads files says so: // reads: tests/data.txt
reads    = $(if $(READ),$(wildcard $(shell sed -n 's,^// reads: ,,p' tests/$1.cpp)))
$(foreach e,$(EXTRA),$(eval $O/results/extra/$e.txt: $(call reads,$e)))
$(EXTRA:%=$O/results/extra/%.txt): | $(TESTS:%=build/src/tests/%.cpp)
RUN     := $(LEDGERS)
LEDGERS += $(REFUSED:%=build/results/refused/%.txt)
-include $(REFUSED:%=build/results/refused/%.d)
build/results/refused/%.txt: build/src/tests/%.cpp book/check/must-fail build/flags-tests | $(SRC_H)
	$(call say,refuse,tests/$*.cpp)
	$Qbook/check/must-fail $@ $< $(CXX) $(STD) $(WARN) $(INC)
# The gate: no PDF survives a check that failed (unless it says DRAFT).
$(VERIFIED): $(LEDGERS) book/check/gate
	$Qbook/check/gate $(if $(DRAFT),--draft) $(LEDGERS)
	@touch $@

# Benchmarks run alone, one after the other, when nothing else has to be built.
BENCHJSON := $(BENCHES:%=build/results/bench/%.json)
BENCHOPT  := --benchmark_repetitions=5 --benchmark_min_time=0.01 \
             --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
build/bench.stamp: $(BENCHES:%=build/bin/bench/%) | $(LEDGERS) $(FIGDATA:%=build/data/%.csv)
	$QQUICK=1 book/measure/run-benches build/results/bench "$(BENCHOPT)" $^
	@touch $@
$(BENCHJSON): build/bench.stamp ;
build/machine.txt: $(VERIFIED) build/bench.stamp
	$Qbook/measure/machine $(CXX) > $@
# What is typeset: asked again each time, and new only if it is another.
.PHONY: always
build/source.txt: always
	@mkdir -p $(@D); book/measure/source | cpif $@

build/data/%.csv: build/bin/figures/% book/measure/run-figure
	$(call say,draw,figures/$*)
	$Qbook/measure/run-figure $< $@

MEASURED := $(wildcard $(foreach d,book/measured book/measured/*,$d/*.txt $d/*.json))
FACTS    := build/machine.txt build/source.txt $(BENCHJSON) $(MEASURED)
build/results.stamp: $(VERIFIED) $(FACTS) book/measure/results.awk
	$Qgawk -f book/measure/results.awk $(LEDGERS) $(FACTS) > build/results.tmp
	$Qcpif build/results.tex < build/results.tmp; rm build/results.tmp; touch $@
build/results.tex: build/results.stamp ;

# ------------------------------------------------------------------- prove --
include book/prove/prove.mk

# ------------------------------------------------------------------- weave --
TEX := $(NW:chapters/%.nw=build/tex/%.tex) $(CHAPTERS:%=build/tex/answers-%.tex) \
       build/tex/indexes.tex
build/weave.stamp: $(NW) $(wildcard chapters/template.nw tests/press/*.nw) \
    $(CHAPTERS:%=build/mk/%.mk) book/weave/weave $(wildcard book/weave/*.awk) | build/tex
	$(call say,weave,$(words $(CHAPTERS)) chapters)
	$Qbook/weave/weave build/tex $(NW)
	@touch $@
# (beside it, on another core, what only the whole book can tell)
$(LINTED): $(NW) $(CHAPTERS:%=build/mk/%.mk) book/lint/lint book/lint/lint.awk \
    book/refs.bib $(wildcard book/*.tex)
	$Qbook/lint/lint $(if $(DRAFT),--draft) --book $(NW)
	@touch $@
$(TEX) build/chapters.tex build/cover.tex build/cases.tex: build/weave.stamp ;
build/tex/reference.tex: build/weave.stamp book/lint/api.awk book/weave/reference.awk $(SRC_H)
	$Qgawk -v list=1 -f book/lint/api.awk <(nodefs $(NW)) \
	  $(filter build/src/include/%,$(SRC_H)) > build/reference.txt
	$Qgawk -f book/weave/reference.awk $(filter-out %/indexes.tex,$(TEX)) build/reference.txt > $@

# ------------------------------------------------------------------ figures --
FIGURES := $(patsubst figures/%.tex,%,$(wildcard figures/*.tex))
build/fig/%.d: figures/%.tex | build/fig
	@{ printf 'build/fig/$*.pdf:'; grep -o 'figdata{[^}]*}' $< | sort -u | \
	  sed 's/figdata{\(.*\)}/ build\/data\/\1.csv/' | tr -d '\n' || true; echo; } > $@
ifdef READ
-include $(FIGURES:%=build/fig/%.d)
endif
STYLE := book/attnbook.sty book/attnfonts.sty book/macros.tex
# (drawn after the benchmarks, which want the machine to themselves)
build/fig/%.pdf: figures/%.tex book/attnfonts.sty book/macros.tex book/typeset/typeset-figure \
    | build/fig $(if $(filter preview,$(MAKECMDGOALS)),,build/bench.stamp)
	$(call say,figure,$*)
	$Qbook/typeset/typeset-figure $* build/fig

# ----------------------------------------------------------------- typeset --
export TEXINPUTS := .:book:build:
export BIBINPUTS := .:book:
export max_print_line := 10000
export FORCE_SOURCE_DATE := 1
PDF   := $(patsubst %,book/%$(if $(DRAFT),-draft).pdf,attention companion)
TABLES := $(patsubst book/%.txt,build/%.tex,$(filter-out book/proved.txt,$(wildcard book/*.txt)))
PARTS := $(STYLE) $(wildcard book/*.tex) book/refs.bib $(TEX) build/tex/reference.tex \
         build/chapters.tex build/cover.tex build/cases.tex $(TABLES) $(FIGURES:%=build/fig/%.pdf)
$(TABLES): build/%.tex: book/%.txt $(NW) \
    book/weave/counterparts book/weave/counterparts.awk | build/tex
	$Qbook/weave/counterparts $< $(NW) > $@

## book: everything verified, measured, drawn, typeset, in two volumes (default)
.PHONY: book
book: $(PDF)
	@book/typeset/summary $(PDF)
.PRECIOUS: $(PDF)
$(PDF) &: $(PARTS) build/results.tex $(PROVED) $(VERIFIED) $(LINTED) book/typeset/typeset
	$(call say,latex,$(PDF))
	$Qbook/typeset/typeset $(if $(DRAFT),draft)
	@touch $(PDF)

## reproducible: typeset again from nothing and compare, byte for byte
.PHONY: reproducible
reproducible: $(PDF)
	$(call say,latex,again)
	$Qbook/typeset/typeset --again
	$Qfor v in attention companion; do cmp build/again/$$v/$$v.pdf book/$$v.pdf; done
	$(call made,the same $$(cat $(PDF) | wc -c) bytes again)

## preview CH=04: one chapter in seconds (numbers of the last full build)
.PHONY: preview
drawn_in = $(shell sed -n 's/.*\\bookfig\(\[[a-z]*\]\)*{\([^}]*\)}.*/\2/p' \
             $(wildcard chapters/$1.nw chapters/$1-*.nw))
preview: $(LINTED) $(PROVED) $(TEX) build/chapters.tex build/cover.tex build/cases.tex \
    $(patsubst %,build/fig/%.pdf,$(if $(CH),$(call drawn_in,$(CH))))
	$(if $(CH),,$(error say which chapter: make preview CH=04))
	$Qbook/typeset/typeset --preview $(CH)

## shape: how the chapters are made: library in volume one, prose per code, lengths of chunks
.PHONY: shape
shape: $(NW)
	$Q$(NOWEB)/markup $(NW) | gawk -v pages=<(book/lint/pages build/attention) -f book/lint/shape.awk

## watch: rebuild whenever a chapter, figure or style is saved (WEB=1: the site)
.PHONY: watch
watch:
	@while :; do $(MAKE) -j2 --no-print-directory $(if $(WEB),web-draft,$(if $(CH),preview,book)) || true; \
	  touch build/watch; while [ -z "$$(find chapters figures book -newer build/watch -type f \
	  ! -name '*.pdf' -print -quit)" ]; do sleep 0.5; done; done

# ------------------------------------------------------------------- check --
## check: everything verified, no TeX: ledger, tests, lint, freshness, quick benchmarks
.PHONY: check fresh
include book/lint/lint.mk
include book/trust/trust.mk
APART := $(EXAMPLES:%=build/results/examples/%.txt) build/results/product.txt \
         build/results/press.txt
check: lint fresh $(PROVED) build/machine.txt $(APART) $(KEYED) build/readme
	$Qgawk -f book/check/report.awk $(LEDGERS) $(APART)
## fresh: tangled/ equals what the chapters give
fresh: $(TANGLED) $(UMBRELLA:%=tangled/%)
	$(call say,fresh,tangled/)
	$Qbook/tangle/tangled-check tangled $(ROOTS)

# -------------------------------------------------------------------- web --
include book/web/web.mk

# ------------------------------------------------------------------- rest --
## install PREFIX=/usr/local: headers, examples, pkg-config and CMake files
.PHONY: install chapter help
PREFIX ?= /usr/local
install:
	@book/setup/install "$(PREFIX)" "$(DESTDIR)"
## chapter NAME=11-foo: start a new chapter from the template
chapter:
	$(if $(NAME),,$(error say its name: make chapter NAME=11-foo))
	@book/setup/new-chapter "$(NAME)"
## help: this list
help:
	@echo 'Attention as a Bilinear Form: make ...'
	@sed -n 's/^## \([^:]*\): /\1\t/p' $(MAKEFILE_LIST) | \
	  awk -F'\t' '{ printf "  %-20s %s\n", $$1, $$2 }'
	@echo '  (DRAFT=1 typesets in spite of failed checks, marked as such; V=1 shows commands)'

DIRS := build/tex build/fig
$(DIRS): ; @mkdir -p $@
# Keep what pattern rules make on the way.  (Not .SECONDARY: with it a PDF that is
# newer than the chapters would count as made although build/ is gone.)
.PRECIOUS: $(foreach k,tests bench figures extra,build/obj/$k/%.o build/bin/$k/%) \
  build/data/%.csv build/mk/%.mk build/fig/%.d
endif
