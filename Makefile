# Attention as a Bilinear Form.  `make help` lists what can be asked for.
#
#   chapters/*.nw --tangle--> tangled/ (plain) and build/src/ (with #line)
#                               | compile, run
#                               v
#                 build/results/ --> build/results.tex --+
#   chapters/*.nw --weave--> build/tex/*.tex ------------+--> book/attention.pdf
#
# No list of files is kept here: chapters, their roots and figures are found.
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
ifneq ($(filter setup,$(MAKECMDGOALS)),)
# First of all, since even reading the rest of this file takes noweb.
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
setup:
	@book/weave/setup
$(filter-out setup,$(MAKECMDGOALS)): setup
	@$(MAKE) --no-print-directory $@
else

## setup-peers: other implementations to compare with in `make bench' (8 GB)
.PHONY: setup-peers
setup-peers:
	@book/weave/setup-peers

V      ?= 0
# What a draft let pass has not passed: it leaves stamps of its own.
DRAFT  ?=
VERIFIED := build/verified$(if $(DRAFT),-draft)
LINTED := build/linted$(if $(DRAFT),-draft)
CXX    ?= g++
ifeq ($(origin CXX),default)
CXX    := g++
endif
OPT    ?= -O1
WARN   := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-maybe-uninitialized
STD    := -std=c++20
EIGEN  := -isystem /usr/include/eigen3
INC    := -Ibuild/src/include -Ibuild/src/tests $(EIGEN)
# Checks and figure programs see plain -O1, which compiles sooner; benchmarks may
# use all that this processor has.  (g++ spares itself a tenth of its time when it
# may let its heap grow to a gigabyte before it collects.)
HEAP   := $(if $(findstring g++,$(CXX)),$(if $(findstring clang,$(CXX)),,--param ggc-min-heapsize=1000000))
FLAGS_tests   := $(STD) $(OPT) $(WARN) $(HEAP) $(INC) -DBOOST_TEST_DYN_LINK
FLAGS_figures = $(FLAGS_tests) $(if $(PRELUDE),-include prelude.hpp)
FLAGS_bench   := $(STD) -O3 -march=native -DNDEBUG $(WARN) -Wno-uninitialized $(INC)
LIBS_tests    := -lboost_unit_test_framework -lrapidcheck
LIBS_bench    := -lbenchmark_main -lbenchmark -lpthread -ldl -Wl,--as-needed \
                 $(if $(wildcard /usr/include/dnnl.hpp),-ldnnl)
W             := book/weave

# A chapter is NN-name.nw and, if there is one, NN-name-checks.nw, for volume two.
CHAPTERS := $(patsubst chapters/%.nw,%,$(sort $(filter-out %-checks.nw,$(wildcard chapters/[0-9]*.nw))))
of        = chapters/$1.nw $(wildcard chapters/$1-checks.nw)
NW       := $(foreach c,$(CHAPTERS),$(call of,$c))

# One quiet line a step, with the time since make began; V=1 shows commands.
START := $(shell echo $$EPOCHSECONDS)
Q      = $(if $(filter 1,$V),,@)
say    = @printf '%4ds  %-8s %s\n' $$((EPOCHSECONDS - $(START))) "$(1)" "$(2)"
made   = @printf '%4ds  made     %s\n' $$((EPOCHSECONDS - $(START))) "$(1)"

# ------------------------------------------------------------------ tangle --
$(foreach c,$(CHAPTERS),$(eval build/mk/$c.mk build/tangle/$c.stamp: $(call of,$c)))
build/mk/%.mk: chapters/%.nw $W/lint $W/lint.awk $W/roots | build/mk
	$Q$W/lint $(if $(DRAFT),--draft) $(call of,$*)
	$Q$W/roots $(call of,$*) > $@
ifeq ($(filter clean help chapter install,$(MAKECMDGOALS)),)
include $(CHAPTERS:%=build/mk/%.mk)
endif
build/tangle/%.stamp: chapters/%.nw build/mk/%.mk $W/tangle $W/names.awk | build/tangle
	$(call say,tangle,$<)
	$Q$W/tangle "$(call of,$*)" tangled build/src $(ROOTS_$*)
	@touch $@
ROOTS   := $(foreach c,$(CHAPTERS),$(ROOTS_$c))
HEADERS := $(filter include/%.hpp,$(ROOTS))
UMBRELLA := $(if $(HEADERS),include/attn/attn.hpp)
tangled/include/attn/attn.hpp: $(HEADERS:%=tangled/%) $W/umbrella
	$Q$W/umbrella tangled $(HEADERS)

## tangle: write tangled/ and build/src/ from the chapters
.PHONY: tangle
tangle: | build/tangle
	$Qrm -f build/tangle/*.stamp
	$Q$(MAKE) --no-print-directory $(CHAPTERS:%=build/tangle/%.stamp)
	$Q$(if $(HEADERS),$W/umbrella tangled $(HEADERS))
	$Q$W/tangled-check --prune tangled $(ROOTS) $(UMBRELLA)
	$(call made,tangled/ from $(words $(CHAPTERS)) chapters)

# ----------------------------------------------------------------- compile --
# Programs named *_mpi_* are compiled and linked as mpicxx says.  Where there is
# none they are left out, their stamps are missing, and the book needs DRAFT=1.
MPI     := $(patsubst -I%,-isystem %,$(shell mpicxx --showme:compile 2> /dev/null && mpicxx --showme:link))
NO_MPI  := $(if $(MPI),,%_mpi_test.cpp %_mpi_bench.cpp)
ifeq ($(MPI)$(filter clean help chapter,$(MAKECMDGOALS)),)
$(info no mpicxx here (`make setup' installs it): programs named *_mpi_* are left out)
endif
# (So are those named *_x86_*, elsewhere.)
NO_X86  := $(if $(filter x86_64,$(shell uname -m)),,%_x86_test.cpp)
TESTS   := $(patsubst tests/%.cpp,%,$(filter-out tests/main.cpp %_must_fail.cpp $(NO_MPI) $(NO_X86),$(filter tests/%.cpp,$(ROOTS))))
REFUSED := $(patsubst tests/%.cpp,%,$(filter tests/%_must_fail.cpp,$(ROOTS)))
EXTRA   := $(patsubst tests/%.cpp,%,$(wildcard tests/*.cpp))
# Comparisons with other implementations run in `make bench' only.
ASIDE   := bench/%_peers.cpp bench/%_shared.cpp $(NO_MPI)
BENCHES := $(patsubst bench/%.cpp,%,$(filter-out $(ASIDE),$(filter bench/%.cpp,$(ROOTS))))
PEERS   := $(patsubst bench/%.cpp,%,$(filter bench/%_peers.cpp,$(ROOTS)))
SHARED  := $(patsubst bench/%.cpp,%,$(filter bench/%_shared.cpp,$(ROOTS)))
PYTHON  := $(patsubst bench/%.py,%,$(filter bench/%.py,$(ROOTS)))
FIGDATA := $(patsubst figures/%.cpp,%,$(filter figures/%.cpp,$(ROOTS)))
OBJ     := $(TESTS:%=build/obj/tests/%.o) $(BENCHES:%=build/obj/bench/%.o) \
           $(PEERS:%=build/obj/bench/%.o) \
           $(FIGDATA:%=build/obj/figures/%.o) $(EXTRA:%=build/obj/extra/%.o)
MAIN    := $(filter tests/main.cpp,$(ROOTS))
PRELUDE := $(filter tests/prelude.hpp,$(ROOTS))
PCH     := $(PRELUDE:tests/%=build/src/tests/%.gch)
SRC_H   := $(addprefix build/src/,$(filter %.hpp,$(ROOTS)))
# $(call nth,ITEM,LIST): which of how many
space   := $(subst ,, )
nth      = $(words $(subst @, ,$(firstword $(subst @$1@, ,0@$(subst $(space),@,$(strip $2))@))))/$(words $2)
# A program that needs options of its own says so: // flags: -fopenmp
own      = $$(sed -n 's,^// flags: ,,p' $(1)) $(if $(findstring _mpi_,$(1)),-DOMPI_SKIP_MPICXX $(MPI))
compile  = $(CXX) $(FLAGS_$(1)) $(call own,$<) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@ 2> $@.err \
             || { $W/blame < $@.err; exit 1; }; cat $@.err >&2; rm $@.err

$(PCH): build/src/tests/prelude.hpp
	$(call say,c++,tests/prelude.hpp (precompiled))
	$Q$(CXX) $(FLAGS_tests) -MMD -MP -MT $@ -MF $@.d -x c++-header $< -o $@
build/obj/tests/%.o: build/src/tests/%.cpp $(PCH) | $(SRC_H) build/obj/tests
	$(call say,c++,tests/$*.cpp ($(call nth,$@,$(OBJ))))
	$Q$(call compile,tests)
build/obj/extra/%.o: tests/%.cpp $(PCH) | $(SRC_H) build/obj/extra
	$(call say,c++,tests/$*.cpp ($(call nth,$@,$(OBJ))))
	$Q$(call compile,tests)
build/obj/bench/%.o: build/src/bench/%.cpp | $(SRC_H) build/obj/bench
	$(call say,c++,bench/$*.cpp ($(call nth,$@,$(OBJ))))
	$Q$(call compile,bench)
build/obj/figures/%.o: build/src/figures/%.cpp $(PCH) | $(SRC_H) build/obj/figures
	$(call say,c++,figures/$*.cpp ($(call nth,$@,$(OBJ))))
	$Q$(call compile,figures)
-include $(OBJ:.o=.d) $(PCH:%=%.d)

build/bin/tests/%: build/obj/tests/%.o $(MAIN:%.cpp=build/obj/%.o) | build/bin/tests
	$Q$(CXX) $^ $(call own,build/src/tests/$*.cpp) $(LIBS_tests) -o $@
build/bin/extra/%: build/obj/extra/%.o $(MAIN:%.cpp=build/obj/%.o) | build/bin/extra
	$Q$(CXX) $^ $(LIBS_tests) -o $@
build/bin/bench/%: build/obj/bench/%.o | build/bin/bench
	$Q$(CXX) $^ $(call own,build/src/bench/$*.cpp) $(LIBS_bench) -o $@
build/bin/bench/%.so: build/src/bench/%.cpp | $(SRC_H) build/bin/bench
	$(call say,c++,bench/$*.cpp)
	$Q$(CXX) $(FLAGS_bench) -fPIC -shared $< $(filter-out -lbenchmark_main,$(LIBS_bench)) -o $@
build/bin/figures/%: build/obj/figures/%.o | build/bin/figures
	$Q$(CXX) $^ $(LIBS_tests) -o $@

# --------------------------------------------------------- verify, measure --
LEDGERS := $(TESTS:%=build/results/tests/%.txt) $(EXTRA:%=build/results/extra/%.txt) \
           $(REFUSED:%=build/results/refused/%.txt)
$(filter-out build/results/refused/%,$(LEDGERS)): build/results/%.txt: build/bin/%
	$(call say,check,$*)
	@mkdir -p $(@D)
	$Q$W/run-checks $< $@
# What is compared with data or a table is compared again when those change.
$(filter build/results/extra/reference%,$(LEDGERS)): $(wildcard tests/reference/*_*.txt)
build/results/extra/worked_examples_test.txt: tests/worked_examples.txt $(TESTS:%=build/src/tests/%.cpp)
build/results/refused/%.txt: build/src/tests/%.cpp $(SRC_H) $W/must-fail | build/results/refused
	$(call say,refuse,tests/$*.cpp)
	$Q$W/must-fail $@ $< $(CXX) $(STD) $(WARN) $(INC)
# The gate: no PDF survives a check that failed (unless it says DRAFT).
$(VERIFIED): $(LEDGERS) $W/report.awk $W/gate
	$Q$W/gate $(if $(DRAFT),--draft) $(LEDGERS)
	@touch $@

# Benchmarks run alone, one after the other, when nothing else has to be built.
BENCHJSON := $(BENCHES:%=build/results/bench/%.json)
BENCHOPT  := --benchmark_repetitions=5 --benchmark_min_time=0.01 \
             --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
build/bench.stamp: $(BENCHES:%=build/bin/bench/%) | $(LEDGERS) $(FIGDATA:%=build/data/%.csv) build/results/bench
	$Q$W/run-benches build/results/bench "$(BENCHOPT)" $^
	@touch $@
$(BENCHJSON): build/bench.stamp ;
build/machine.txt: $(VERIFIED) build/bench.stamp
	$Q$W/machine $(CXX) > $@

build/data/%.csv: build/bin/figures/% | build/data
	$(call say,draw,figures/$*)
	$Q$< > $@.tmp && mv $@.tmp $@

MEASURED := $(wildcard book/measured/*.txt book/measured/*.json)
build/results.stamp: $(VERIFIED) build/machine.txt $(BENCHJSON) $(MEASURED) $W/results.awk
	$Qgawk -f $W/results.awk $(LEDGERS) build/machine.txt $(BENCHJSON) $(MEASURED) > build/results.tmp
	$Qcpif build/results.tex < build/results.tmp; rm build/results.tmp; touch $@
build/results.tex: build/results.stamp ;

# ------------------------------------------------------------------- weave --
TEX := $(NW:chapters/%.nw=build/tex/%.tex) $(CHAPTERS:%=build/tex/answers-%.tex) build/tex/indexes.tex
build/weave.stamp: $(NW) $(wildcard chapters/template.nw tests/press/*.nw) $(CHAPTERS:%=build/mk/%.mk) $W/weave $(wildcard $W/*.awk) | build/tex
	$(call say,weave,$(words $(CHAPTERS)) chapters)
	$Q$W/weave build/tex $(NW)
	@touch $@
# (beside it, on another core, what only the whole book can tell)
$(LINTED): $(NW) $(CHAPTERS:%=build/mk/%.mk) $W/lint $W/lint.awk book/refs.bib $(wildcard book/*.tex)
	$Q$W/lint $(if $(DRAFT),--draft) --book $(NW)
	@touch $@
$(TEX) build/chapters.tex build/cover.tex build/cases.tex: build/weave.stamp ;
build/tex/reference.tex: build/weave.stamp $W/api.awk $W/reference.awk $(SRC_H)
	$Qgawk -v list=1 -f $W/api.awk <(nodefs $(NW)) $(filter build/src/include/%,$(SRC_H)) > build/reference.txt
	$Qgawk -f $W/reference.awk $(filter-out %/indexes.tex,$(TEX)) build/reference.txt > $@

# ------------------------------------------------------------------ figures --
FIGURES := $(patsubst figures/%.tex,%,$(wildcard figures/*.tex))
build/fig/%.d: figures/%.tex | build/fig
	@{ printf 'build/fig/$*.pdf:'; grep -o 'figdata{[^}]*}' $< | sort -u | sed 's/figdata{\(.*\)}/ build\/data\/\1.csv/' | tr -d '\n' || true; echo; } > $@
ifeq ($(filter clean help chapter install,$(MAKECMDGOALS)),)
-include $(FIGURES:%=build/fig/%.d)
endif
STYLE := book/attnbook.sty book/attnfonts.sty book/macros.tex
# (drawn after the benchmarks, which want the machine to themselves)
build/fig/%.pdf: figures/%.tex book/attnfonts.sty book/macros.tex $W/typeset-figure \
    | build/fig $(if $(filter preview,$(MAKECMDGOALS)),,build/bench.stamp)
	$(call say,figure,$*)
	$Q$W/typeset-figure $* build/fig

# ----------------------------------------------------------------- typeset --
export TEXINPUTS := .:book:build:
export BIBINPUTS := .:book:
export max_print_line := 10000
# The date in the PDF is the commit's, so that it depends on nothing but its source.
export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2> /dev/null || date +%s)
export FORCE_SOURCE_DATE := 1
PDF   := $(patsubst %,book/%$(if $(DRAFT),-draft).pdf,attention companion)
TABLES := $(patsubst book/%.txt,build/%.tex,$(wildcard book/*.txt))
PARTS := $(STYLE) $(wildcard book/*.tex) book/refs.bib $(TEX) build/tex/reference.tex \
         build/chapters.tex build/cover.tex build/cases.tex $(TABLES) $(FIGURES:%=build/fig/%.pdf)
$(TABLES): build/%.tex: book/%.txt $(NW) $W/counterparts $W/counterparts.awk | build/tex
	$Q$W/counterparts $< $(CHAPTERS:%=chapters/%.nw) > $@

## book: everything verified, measured, drawn, typeset, in two volumes (default)
.PHONY: book
book: $(PDF)
	@$W/summary $(PDF)
.PRECIOUS: $(PDF)
$(PDF) &: $(PARTS) build/results.tex $(VERIFIED) $(LINTED) $W/typeset
	$(call say,latex,$(PDF))
	$Q$W/typeset $(if $(DRAFT),draft)
	@touch $(PDF)

## reproducible: typeset again from nothing and compare, byte for byte
.PHONY: reproducible
reproducible: $(PDF)
	$(call say,latex,again)
	$Q$W/typeset --again
	$Qfor v in attention companion; do cmp build/again/$$v/$$v.pdf book/$$v.pdf; done
	$(call made,the same $$(cat $(PDF) | wc -c) bytes again)

## preview CH=04: one chapter in seconds (numbers of the last full build)
.PHONY: preview
preview: $(LINTED) $(TEX) build/chapters.tex build/cover.tex build/cases.tex $(FIGURES:%=build/fig/%.pdf)
	$(if $(CH),,$(error say which chapter: make preview CH=04))
	$Q$W/typeset --preview $(CH)

## shape: how the chapters are made: library in volume one, prose per code, lengths of chunks
.PHONY: shape
shape: $(NW)
	$Q/usr/lib/noweb/markup $(NW) | gawk -v pages=<($W/pages build/attention) -f $W/shape.awk

## watch: rebuild whenever a chapter, figure or style is saved
.PHONY: watch
watch:
	@while :; do $(MAKE) --no-print-directory $(if $(CH),preview,book) || true; \
	  touch build/watch; while [ -z "$$(find chapters figures book -newer build/watch -type f \
	  ! -name '*.pdf' -print -quit)" ]; do sleep 0.5; done; done

# ------------------------------------------------- examples, installed copy --
# Programs to start from: compiled as their users will, and run (*_mpi_* with four ranks).
EXAMPLES := $(patsubst examples/%.cpp,%,$(filter-out $(if $(MPI),,%_mpi_example.cpp),$(filter examples/%.cpp,$(ROOTS))))
four     = $(if $(findstring _mpi_,$1),mpirun --oversubscribe --allow-run-as-root -n 4 )
$(EXAMPLES:%=build/results/examples/%.txt): build/results/examples/%.txt: tangled/examples/%.cpp | build/results/examples build/bin/examples
	$(call say,example,$*)
	$Q$(CXX) $(STD) $(OPT) $(WARN) -Itangled/include $(EIGEN) -MMD -MP -MT $@ \
	  -MF build/bin/examples/$*.d $< $(call own,$<) -o build/bin/examples/$*
	$Q$(call four,$*)build/bin/examples/$* > $(@:.txt=.log) && r=passed || r=failed; \
	  printf 'case\texamples/%s\t%s\t$<:1\t0\nend\n' $* $$r > $@
-include $(EXAMPLES:%=build/bin/examples/%.d)
## install PREFIX=/usr/local: headers, examples, pkg-config and CMake files
.PHONY: install
PREFIX ?= /usr/local
install:
	@$W/install $(PREFIX) $(DESTDIR)
build/results/product.txt: $(HEADERS:%=tangled/%) $(EXAMPLES:%=tangled/examples/%.cpp) \
    $(UMBRELLA:%=tangled/%) $(wildcard tests/product/*) $W/install CITATION.cff CHANGELOG.md \
    | $(VERIFIED) build/bench.stamp
	$(call say,product,tests/product)
	$Qtests/product/run $@ $(CXX)

# ------------------------------------------------------------------- check --
APART := $(EXAMPLES:%=build/results/examples/%.txt) build/results/product.txt build/results/press.txt
## check: everything verified, no TeX: ledger, tests, lint, freshness, quick benchmarks
.PHONY: check lint fresh press bench record
check: lint fresh build/machine.txt $(APART) build/results.stamp
	$Qgawk -f $W/report.awk $(LEDGERS) $(APART)
## lint: chunks, statements, doc comments, labels, citations
lint: $(CHAPTERS:%=build/tangle/%.stamp) $(TABLES) build/tex/reference.tex
	$(call say,lint,$(words $(CHAPTERS)) chapters)
	$Q$W/lint --book $(NW)
	$Qgawk -f $W/api.awk <(nodefs $(NW)) $(filter build/src/include/%,$(SRC_H))
	$Qgawk -v lint=1 -f $W/reference.awk $(filter-out %/indexes.tex,$(TEX)) build/reference.txt > /dev/null
## fresh: tangled/ equals what the chapters give
fresh: $(CHAPTERS:%=build/tangle/%.stamp) $(UMBRELLA:%=tangled/%)
	$(call say,fresh,tangled/)
	$Q$W/tangled-check tangled $(ROOTS)
## press: the build refuses broken chapters, at the right line
press: build/results/press.txt
	$Qgawk -f $W/report.awk $<
build/results/press.txt: $(wildcard tests/press/*) Makefile $(wildcard $W/*) chapters/template.nw \
    $(SRC_H) $(MAIN:%=build/src/%) | $(VERIFIED) build/bench.stamp
	$(call say,press,tests/press)
	$Qtests/press/run $@

## mutants: alter the library at EVERY=11th place and count what the checks catch
#    (FROM=5 takes other places; SAMPLE=20 so many, of one chapter, that SEED chooses;
#    CH=04 that chapter)
.PHONY: mutants sanitize coverage
EVERY ?= 11
FROM  ?= 0
SEED  ?= $(shell git rev-parse HEAD 2> /dev/null || echo 1)
mutants: $(CHAPTERS:%=build/tangle/%.stamp)
	$QCH=$(CH) FROM=$(FROM) $W/mutants/run build/mutants/$(FROM) $(EVERY) $(SAMPLE) $(if $(SAMPLE),$(SEED)) || r=$$?; \
	  $(if $(SAMPLE)$(CH)$(filter-out 11,$(EVERY)),,[ ! -e build/mutants/$(FROM)/score.txt ] \
	  || cp build/mutants/$(FROM)/score.txt book/measured/mutants$(filter-out 0,$(FROM)).txt;) exit $${r:-0}
## sanitize: the checks under the address and undefined-behaviour sanitizers
sanitize: $(CHAPTERS:%=build/tangle/%.stamp) $(TESTS:%=build/bin/tests/%) $(EXTRA:%=build/bin/extra/%)
	$Q$W/sanitize build/sanitize $(TESTS) $(EXTRA)
## coverage: lines of the headers that the checks run (after `make sanitize')
coverage: sanitize
	$Q$W/coverage build/sanitize
	$Qcp build/sanitize/coverage.txt book/measured/
	$Qcp build/sanitize/uncovered.txt book/measured/uncovered.list

## reference: compute tests/reference/*.txt anew with JAX and mpmath (needs network)
.PHONY: reference
reference:
	$Qpython3 -m venv build/reference
	$Qbuild/reference/bin/pip install -q -r tests/reference/requirements.txt
	$Qfor with in jax mpmath; do build/reference/bin/python -B tests/reference/with_$$with.py tests/reference; done
	$(call made,tests/reference/ (commit it))

# -------------------------------------------------------------- benchmarks --
FULLOPT := --benchmark_repetitions=9 --benchmark_min_time=0.25 \
           --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
## bench: the full benchmarks, medians of nine interleaved runs
bench: $(BENCHES:%=build/bin/bench/%) $(PEERS:%=build/bin/bench/%) $(if $(wildcard build/peers/bin/python),$(SHARED:%=build/bin/bench/%.so)) | build/bench-full
	$Q$W/run-benches build/bench-full "$(FULLOPT)" $(filter-out %.so,$^)
	$Q$W/run-peers build/bench-full $(PYTHON:%=build/src/bench/%.py) $(filter %.so,$^)
	$Q$W/machine $(CXX) > build/bench-full/machine.txt
	$Qgawk -f $W/bench-table.awk build/bench-full/*.json
	$(call made,build/bench-full; keep it as the reference run: make record)
## record: keep the last `make bench` in book/measured/ as the reference run
record:
	@test -e build/bench-full/machine.txt || { echo "record: run \`make bench' first"; exit 1; }
	$Qmkdir -p book/measured; rm -f book/measured/*.json
	$Qfor f in build/bench-full/*.json; do gawk -f $W/slim-json.awk $$f > book/measured/$${f##*/}; done
	$Qcp build/bench-full/machine.txt book/measured/machine.txt
	$(call made,book/measured/ (commit it))
## bench-build: how long the build itself takes (clean, no-op, prose edit, preview)
.PHONY: bench-build
bench-build:
	$Q$W/bench-build

# ------------------------------------------------------------------- rest --
.PHONY: chapter clean help
## chapter NAME=11-foo: start a new chapter from the template
chapter:
	$(if $(NAME),,$(error say its name: make chapter NAME=11-foo))
	@$W/new-chapter $(NAME)
## clean: remove build/ and the PDF
clean:
	rm -rf build book/{attention,companion}{,-draft}.pdf
## help: this list
help:
	@echo 'Attention as a Bilinear Form: make ...'
	@sed -n 's/^## \([^:]*\): /\1\t/p' $(MAKEFILE_LIST) | awk -F'\t' '{printf "  %-20s %s\n", $$1, $$2}'
	@echo '  (DRAFT=1 typesets in spite of failed checks, marked as such; V=1 shows commands)'

DIRS := build/mk build/tangle build/tex build/fig build/data build/bench-full \
  $(addprefix build/obj/,tests bench figures extra) $(addprefix build/bin/,tests bench figures extra) \
  $(addprefix build/results/,tests extra bench refused examples) build/bin/examples
$(DIRS): ; @mkdir -p $@
# Keep what pattern rules make on the way.  (Not .SECONDARY: with it a PDF that is
# newer than the chapters would count as made although build/ is gone.)
.PRECIOUS: $(foreach k,tests bench figures extra,build/obj/$k/%.o build/bin/$k/%) build/data/%.csv build/mk/%.mk build/fig/%.d
endif
