# programs.mk - what the roots of the chapters (ROOTS) are compiled to, by what compiler,
# with what flags; read by the Makefile.
# ------------------------------------------------------------------- flags --
ifeq ($(origin CXX),default)
CXX    := g++
endif
OPT    ?= -O1
WARN   := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-maybe-uninitialized
STD    := -std=c++20
export EIGEN := -isystem $(EIGENDIR)
# A KIND of build other than the book's has files of its own, and flags: see trust.mk.
KIND   ?=
O      := build$(if $(KIND),/$(KIND))
TESTSRC := $(if $(KIND),$O,build)/src/tests
INC    := -Ibuild/src/include -I$(TESTSRC) $(if $(KIND),-Itests) $(EIGEN)
# Checks and figure programs see plain -O1, which compiles sooner; benchmarks may
# use all that this processor has.  (g++ spares itself a tenth of its time when it
# may let its heap grow to a gigabyte before it collects.)
gcc    := $(filter-out clang%,$(filter g++%,$(notdir $(firstword $(CXX)))))
HEAP   := $(if $(gcc),--param ggc-min-heapsize=1000000)
FLAGS_tests   = $(STD) $(OPT) $(WARN) $(HEAP) $(INC) -DBOOST_TEST_DYN_LINK $(FLAGS_$(KIND))
FLAGS_figures = $(FLAGS_tests) $(if $(PRELUDE),-include prelude.hpp)
FLAGS_bench   = $(STD) -O3 -march=native -DNDEBUG $(WARN) -Wno-uninitialized $(HEAP) $(INC)
LIBS_tests    = -lboost_unit_test_framework -lrapidcheck
LIBS_figures  = $(LIBS_tests)
LIBS_bench    = -lbenchmark_main -lbenchmark -lpthread -ldl

# ----------------------------------------------------------------- compile --
# Programs named *_mpi_* are compiled and linked as mpicxx says.  Where there is
# none they are left out, their stamps are missing, and the book needs DRAFT=1.
MPICXX  := $(shell mpicxx --showme:compile 2> /dev/null && mpicxx --showme:link)
export MPI := $(patsubst -I%,-isystem %,$(MPICXX))
NO_MPI  := $(if $(MPI),,%_mpi_test.cpp %_mpi_bench.cpp)
ifeq ($(MPI)$(if $(READ),,x),)
$(info no mpicxx here (`make setup' installs it): programs named *_mpi_* are left out, \
  and the book needs DRAFT=1, since what they would check stays unchecked)
endif
# (So are those named *_x86_*, elsewhere.)
NO_X86  := $(if $(filter x86_64,$(shell uname -m)),,%_x86_test.cpp)
NOT_RUN := tests/main.cpp %_must_fail.cpp $(NO_MPI) $(NO_X86)
find     = $(patsubst $1/%.cpp,%,$(filter-out $3,$(filter $1/$2.cpp,$(ROOTS))))
TESTS   := $(call find,tests,%,$(NOT_RUN))
REFUSED := $(call find,tests,%_must_fail)
EXTRA   := $(patsubst tests/%.cpp,%,$(wildcard tests/*.cpp))
# Comparisons with other implementations run in `make bench' only.
BENCHES := $(call find,bench,%,bench/%_peers.cpp bench/%_shared.cpp $(NO_MPI))
PEERS   := $(call find,bench,%_peers)
SHARED  := $(call find,bench,%_shared)
FIGDATA := $(call find,figures,%)
PYTHON  := $(patsubst bench/%.py,%,$(filter bench/%.py,$(ROOTS)))
MAIN    := $(patsubst tests/%.cpp,$O/obj/tests/%.o,$(filter tests/main.cpp,$(ROOTS)))
obj      = $(patsubst %,$O/obj/$1/%.o,$2)
OBJ     := $(call obj,tests,$(TESTS)) $(call obj,bench,$(BENCHES) $(PEERS)) \
           $(call obj,figures,$(FIGDATA)) $(call obj,extra,$(EXTRA)) $(MAIN)
PRELUDE := $(filter tests/prelude.hpp,$(ROOTS))
PCH     := $(PRELUDE:tests/%=$(TESTSRC)/%.gch)
SRC_H   := $(addprefix build/src/,$(filter %.hpp,$(ROOTS)))
# $(call nth,ITEM,LIST): which of how many
space   := $(subst ,, )
before   = $(subst @, ,$(firstword $(subst @$1@, ,0@$(subst $(space),@,$(strip $2))@)))
nth      = $(words $(before))/$(words $2)
# A program that needs options of its own says so: // flags: -fopenmp
own      = $$(sed -n 's,^// flags: ,,p' $(1)) $(call own_$(KIND),$1) \
           $(if $(findstring _mpi_,$(1)),-DOMPI_SKIP_MPICXX $(MPI))
compile  = $(CXX) $(FLAGS_$(1)) $(call own,$<) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@ 2>&1 | \
           book/compile/blame
# Other compilers and flags than the last time make everything new.  (Where nothing is
# noted, all that is there counts as made so.)
note     = $(if $(READ),$(shell mkdir -p $O; f=$O/flags-$1; said='$(CXX) $(FLAGS_$1) $(MPI)'; \
  if [ ! -e $$f ]; then echo "$$said" > $$f; touch -d @0 $$f; \
  elif [ "$$said" != "$$(cat $$f)" ]; then echo "$$said" > $$f; fi))
$(call note,tests)$(call note,bench)

$(PCH): $(TESTSRC)/prelude.hpp $O/flags-tests
	$(call say,c++,tests/prelude.hpp (precompiled))
	$Q$(CXX) $(FLAGS_tests) -MMD -MP -MT $@ -MF $@.d -x c++-header $< -o $@
# $(call programs,KIND OF PROGRAM,ITS SOURCES,KIND OF FLAGS,WHAT IS LINKED WITH IT)
define programs
$O/obj/$1/%.o: $2/%.cpp $(if $(filter bench,$3),,$(PCH)) $O/flags-$(3:figures=tests) | $(SRC_H)
	$$(call say,c++,$1/$$*.cpp ($$(call nth,$$@,$(OBJ))))
	@mkdir -p $$(@D)
	$Q$$(call compile,$3)
$O/bin/$1/%: $O/obj/$1/%.o $4
	@mkdir -p $$(@D)
	$Q$$(CXX) $$^ $$(LINK_$(KIND)) $$(call own,$2/$$*.cpp) $$(LIBS_$3) -o $$@
endef
$(eval $(call programs,tests,$(TESTSRC),tests,$(MAIN)))
$(eval $(call programs,extra,tests,tests,$(MAIN)))
$(eval $(call programs,figures,build/src/figures,figures))
$(eval $(call programs,bench,build/src/bench,bench))
-include $(OBJ:.o=.d) $(PCH:%=%.d)
