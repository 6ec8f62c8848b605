# web.mk: the book as a site and as an EPUB.  `make book' and `make check' need none of it,
# nor what it needs (make setup-web).
WEBSOURCES := $(filter-out %/web.mk,$(wildcard book/web/*.mjs book/web/fonts book/web/theme/* \
  book/web/live/*.* book/web/live/figures/*))
# What moves the figures NAME of the chapters that have a program live/NAME.cpp, where there is
# a compiler for it (make setup-web); elsewhere they stay as they are printed.
LIVE  := $(patsubst live/%.cpp,%,$(filter live/%.cpp,$(ROOTS)))
MOVED := $(if $(shell command -v clang++-16),$(LIVE:%=build/live/%.wasm.js))
build/live/%.wasm.js: build/src/live/%.cpp book/web/live/compile book/web/live/functions | $(SRC_H)
	$(call say,wasm,live/$*.cpp)
	@mkdir -p $(@D)
	$Qbook/web/live/compile $* $@
-include $(MOVED:%=%.d)
# The same programs, compiled as everything else is, for the check that compares both.  Sums
# are formed in the same order, so Eigen must not use vectors.
NATIVE := $(LIVE:%=build/live/native/%.so) build/live/native/call
build/live/native/%.so: build/src/live/%.cpp | $(SRC_H)
	$(call say,c++,live/$*.cpp)
	@mkdir -p $(@D)
	$Q$(CXX) $(STD) $(OPT) $(WARN) $(INC) -DEIGEN_DONT_VECTORIZE -ffp-contract=off -fPIC -shared \
	  -MMD -MP -MT $@ -MF $(@:.so=.d) $< -o $@ 2>&1 | book/compile/blame
build/live/native/call: book/web/check/live.cpp
	@mkdir -p $(@D)
	$Q$(CXX) $(STD) $(OPT) $(WARN) $< -ldl -o $@
-include $(LIVE:%=build/live/native/%.d)

build/web/index.html: $(PDF) $(WEBSOURCES) $(MOVED)
	$(call say,web,build/web/)
	$Qnode --max-semi-space-size=64 book/web/build.mjs --out build/web --epub build/attention.epub --quiet
	@touch $@
build/attention.epub: build/web/index.html ;

.PHONY: web epub check-site check-web
## web: the book as a site that needs no server, in build/web/
web: build/web/index.html
	$(call made,build/web/index.html)
# What is on the pages now, whether it holds or not: for an author who looks on in a browser
# (make watch WEB=1, and in another terminal node book/web/serve.mjs)
.PHONY: web-draft
web-draft: $(TEX) $(PROVED) build/tex/reference.tex build/chapters.tex build/cover.tex build/cases.tex
	$Qnode --max-semi-space-size=64 book/web/build.mjs --draft --quiet
	$(call made,build/web/index.html)
## epub: both volumes as one EPUB
epub: build/attention.epub
	$(call made,build/attention.epub)
## check-site: links, words and numbers as in the PDFs, mutations, EPUB, live numbers
check-site: web $(if $(MOVED),$(NATIVE))
	$Qnode book/web/check/files.mjs build/web
	$Qnode book/web/check/mutations.mjs
	$Qnode book/web/check/epub.mjs build/attention.epub
	$Q[ -z "$(MOVED)" ] || node book/web/check/live.mjs
## check-web: check-site, and accessibility and the reader's steps on each page in a browser
check-web: check-site
	$Qnode book/web/check/browser.mjs build/web
	$Q[ -z "$(MOVED)" ] || node book/web/check/live-browser.mjs build/web
