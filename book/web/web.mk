# web.mk: the book as a site and as an EPUB.  `make book' and `make check' need none of it,
# nor what it needs: node, the fonts' tools, and for its checks a browser and epubcheck.
WEBSOURCES := $(filter-out %/web.mk,$(wildcard book/web/*.mjs book/web/fonts book/web/theme/* book/web/vendor/*))
build/web/index.html: $(PDF) $(WEBSOURCES)
	$(call say,web,build/web/)
	$Qnode --max-semi-space-size=64 book/web/build.mjs --out build/web --epub build/attention.epub --quiet
	@touch $@
build/attention.epub: build/web/index.html ;

.PHONY: web epub check-web setup-web
## web: the book as a site that needs no server, in build/web/
web: build/web/index.html
	$(call made,build/web/index.html)
# What is on the pages now, whether it holds or not: for an author who looks on in a browser
# (make watch WEB=1, and in another terminal node book/web/serve.mjs)
.PHONY: web-draft
web-draft: $(TEX) build/tex/reference.tex build/chapters.tex build/cover.tex build/cases.tex
	$Qnode --max-semi-space-size=64 book/web/build.mjs --draft --quiet
	$(call made,build/web/index.html)
## epub: both volumes as one EPUB
epub: build/attention.epub
	$(call made,build/attention.epub)
## check-web: links, words and numbers as in the PDFs, mutations, accessibility, EPUB
check-web: web
	$Qnode book/web/check/files.mjs build/web
	$Qnode book/web/check/mutations.mjs
	$Qnode book/web/check/epub.mjs build/attention.epub
	$Q[ ! -d build/web-checks ] || node book/web/check/browser.mjs build/web
## setup-web: what the web edition and its checks need beyond `make setup'
setup-web:
	@book/web/setup
