# trust.mk - what checks the checks, the press and the product, and what is measured at
# leisure; read by the Makefile.
.PHONY: setup-peers press mutants sanitize sanitized coverage reference bench bench-peers \
  record record-peers bench-build

# ------------------------------------------------- examples, installed copy --
# Programs to start from: compiled as their users will, and run (*_mpi_* with four ranks).
EXAMPLES := $(call find,examples,%,$(if $(MPI),,%_mpi_example.cpp))
four      = $(if $(findstring _mpi_,$1),mpirun --oversubscribe --allow-run-as-root -n 4 )
$(EXAMPLES:%=build/results/examples/%.txt): build/results/examples/%.txt: \
    tangled/examples/%.cpp build/flags-tests
	$(call say,example,$*)
	@mkdir -p $(@D) build/bin/examples
	$Q$(CXX) $(STD) $(OPT) $(WARN) -Itangled/include $(EIGEN) -MMD -MP -MT $@ \
	  -MF build/bin/examples/$*.d $< $(call own,$<) -o build/bin/examples/$*
	$Q$(call four,$*)build/bin/examples/$* > $(@:.txt=.log) && r=passed || r=failed; \
	  printf 'case\texamples/%s\t%s\t$<:1\t0\nend\n' $* $$r > $@
-include $(EXAMPLES:%=build/bin/examples/%.d)
build/results/product.txt: $(HEADERS:%=tangled/%) $(EXAMPLES:%=tangled/examples/%.cpp) \
    $(UMBRELLA:%=tangled/%) $(wildcard tests/product/*) book/setup/install \
    CITATION.cff CHANGELOG.md README.md | $(VERIFIED) build/bench.stamp
	$(call say,product,tests/product)
	$Qtests/product/run $@ $(CXX)

# ------------------------------------------------------- the press, mutants --
## press: the build refuses broken chapters, at the right line
press: build/results/press.txt
	$Qgawk -f book/check/report.awk $<
PRESS := Makefile $(filter-out book/measured/%,$(wildcard book/*/*))
build/results/press.txt: $(PRESS) $(wildcard tests/press/*) \
    chapters/template.nw $(SRC_H) $(MAIN:$O/obj/%.o=build/src/%.cpp) | $(VERIFIED) build/bench.stamp
	$(call say,press,tests/press)
	$Qtests/press/run $@

## mutants: alter the library at EVERY=11th place and count what the checks catch
#    (FROM=5 takes other places; SAMPLE=20 so many, of one chapter, that SEED chooses;
#    CH=04 that chapter)
EVERY ?= 11
FROM  ?= 0
SEED  ?= $(shell git rev-parse HEAD 2> /dev/null || echo 1)
mutants: export COMPILE = $(CXX) $(STD) -O1 -w $(HEAP) $(EIGEN) -DBOOST_TEST_DYN_LINK
MUTANTS = build/mutants/$(FROM)
mutants: export LIBS = $(LIBS_tests)
mutants: $(TANGLED)
	$QCH=$(CH) FROM=$(FROM) book/trust/mutants/run $(MUTANTS) $(EVERY) \
	  $(SAMPLE) $(if $(SAMPLE),$(SEED)) || r=$$?; \
	  $(if $(SAMPLE)$(CH)$(filter-out 11,$(EVERY)),,[ ! -e $(MUTANTS)/score.txt ] || \
	  cp $(MUTANTS)/score.txt book/measured/mutants$(filter-out 0,$(FROM)).txt;) exit $${r:-0}

# --------------------------------------------------------------- sanitizers --
# A build of another kind, by the same rules: without optimisation, with the address and
# undefined-behaviour sanitizers, counting lines as they run.  (With the checks for null
# g++ 12 no longer takes an address for a constant; a null pointer that is used does not
# get far anyway.  Who counts calls of malloc leaves no room for the address sanitizer's.)
FLAGS_sanitize = -O0 -g1 -w $(LINK_sanitize) -fno-sanitize-recover=undefined \
  -fno-sanitize=null,returns-nonnull-attribute,nonnull-attribute
LINK_sanitize  = -fsanitize=address,undefined --coverage
no_room        = allocations.hpp\|__libc_malloc
own_sanitize   = $$(! grep -qs '$(no_room)' $1 || echo -fno-sanitize=address) \
  $(if $(findstring tests/main.cpp,$1),-fno-sanitize=address)
build/sanitize/src/tests/%: build/src/tests/%
	@mkdir -p $(@D); cp -p $< $@
ifeq ($(KIND),sanitize)
$(PCH) $(OBJ): | $(patsubst build/src/%,$O/src/%,$(filter build/src/tests/%,$(SRC_H)))
.INTERMEDIATE: $(call obj,tests,$(TESTS)) $(TESTS:%=$O/bin/tests/%) \
  $(call obj,extra,$(EXTRA)) $(EXTRA:%=$O/bin/extra/%)
endif
sanitized: $(RUN)
	$Qbook/check/gate --keep $(RUN)
	$(call made,$(words $(RUN)) programs: clean)
## sanitize: the checks under the address and undefined-behaviour sanitizers
#    (and WATCH=20 seconds of each as it was made for the book under valgrind, if there is
#    one: it sees what the sanitizers do not, memory that was never written)
WATCH ?= 20
sanitize: $(TANGLED) $(TESTS:%=build/bin/tests/%) $(EXTRA:%=build/bin/extra/%)
	$Q$(MAKE) --no-print-directory KIND=sanitize sanitized
	$Qbook/trust/watch-memory build/sanitize $(WATCH) \
	  $(filter-out $(call findmpi,$^),$(filter build/bin/%,$^))
findmpi = $(foreach p,$1,$(if $(findstring _mpi_,$p),$p))
## coverage: lines of the headers that the checks run (after `make sanitize')
coverage: sanitize
	$Qbook/trust/coverage build/sanitize
	$Qcp build/sanitize/coverage.txt book/measured/
	$Qcp build/sanitize/uncovered.txt book/measured/uncovered.list

# ------------------------------------------------------ data, benchmarks, time --
## reference: compute tests/reference/*.txt anew with JAX and mpmath (needs network)
reference:
	$Qpython3 -m venv build/reference
	$Qbuild/reference/bin/pip install -q -r tests/reference/requirements.txt
	$Qfor with in jax mpmath; do \
	  build/reference/bin/python -B tests/reference/with_$$with.py tests/reference; done
	$(call made,tests/reference/ (commit it))
## setup-peers: other implementations to compare with in `make bench' (8 GB)
setup-peers:
	@book/setup/setup-peers
FULLOPT := --benchmark_repetitions=9 --benchmark_min_time=0.25 \
           --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
# (A program that is lent to Python knows oneDNN if `make setup-peers' installed it.)
DNNL := $(wildcard build/peers/include/dnnl.hpp)
WITH_DNNL = $(if $(DNNL),-isystem build/peers/include)
LIBS_DNNL = $(if $(DNNL),-Lbuild/peers/lib -ldnnl -Wl$(comma)-rpath$(comma)$(CURDIR)/build/peers/lib)
comma := ,
build/bin/bench/%.so: build/src/bench/%.cpp build/flags-bench $(DNNL) | $(SRC_H)
	$(call say,c++,bench/$*.cpp)
	@mkdir -p $(@D)
	$Q$(CXX) $(FLAGS_bench) $(WITH_DNNL) -fPIC -shared $< -ldl -Wl,--as-needed $(LIBS_DNNL) \
	  -MMD -MP -MT $@ -MF $(@:.so=.so.d) -o $@
-include $(SHARED:%=build/bin/bench/%.so.d)
## bench: the full benchmarks, medians of nine interleaved runs
bench: $(BENCHES:%=build/bin/bench/%)
	$Qbook/measure/run-benches build/bench-full "$(FULLOPT)" $^
	$Q$(MAKE) --no-print-directory bench-peers
	$Q{ book/measure/machine $(CXX); book/measure/source; } > build/bench-full/machine.txt
	$Qgawk -f book/measure/bench-table.awk build/bench-full/*.json
	$(call made,build/bench-full; keep it as the reference run: make record)
## bench-peers: of them what is compared with other implementations
#    (ONLY=flash: one program)
ONLY ?= %
bench-peers: $(if $(wildcard build/peers/bin/python),\
    $(patsubst %,build/bin/bench/%.so,$(filter $(ONLY)_shared,$(SHARED))))
	$Qbook/measure/run-peers build/bench-full build/bin/bench \
	  $(patsubst %,build/src/bench/%.py,$(filter $(ONLY)_peers,$(PYTHON)))
## record: keep the last `make bench` in book/measured/ as the reference run
#    (on a processor of another maker than that of the run that is kept there: in a folder
#    with the maker's name beside it)
record:
	@test -e build/bench-full/machine.txt || { echo "record: run \`make bench' first"; exit 1; }
	$Qbook/measure/record build/bench-full book/measured
## record-peers: the same with the comparisons alone, after `make bench-peers'
record-peers:
	$Qbook/measure/record build/bench-full book/measured peers
## bench-build: how long the build itself takes (clean, no-op, prose edit, preview)
bench-build:
	$Qbook/trust/bench-build
