# prove.mk - proofs that Coq checks (`make prove'), and the record of that, by which the
# book prints its stamps on machines where there is no Coq; read by the Makefile.
.PHONY: prove proofs prove-mutants
PROOFS  := $(patsubst proofs/%.v,%,$(filter proofs/%.v,$(ROOTS)))
PROOF_V := $(PROOFS:%=build/src/proofs/%.v)
gawk_coq = gawk -f book/prove/coq.awk -f book/prove/$1.awk
# What the chapters claim to be proved, and the hashes of the proofs
build/prove/claims: $(PROOF_V) $(TANGLED) $(wildcard book/prove/*.awk)
	@mkdir -p $(@D)
	$Q$(if $(PROOFS),$(call gawk_coq,claims) $(PROOF_V)) > $@
build/prove/hashes: $(PROOF_V) $(wildcard book/prove/*) | $(TANGLED)
	@mkdir -p $(@D)
	$Qbook/prove/hashes $(PROOF_V) > $@
# The stamps; a draft and a preview print those that are refused, so that one sees it.
SOFT    := $(or $(DRAFT),$(filter preview web-draft,$(MAKECMDGOALS)))
PROVED := build/proved$(if $(SOFT),-draft).tex
# (Numbers that proofs and program share are the same, says the compiler.)
build/prove/constants: $(PROOF_V) $(SRC_H) $(wildcard book/prove/*.awk) | $(TANGLED)
	@mkdir -p $(@D)
	$Q$(if $(PROOFS),$(call gawk_coq,constants) $(PROOF_V)) > $@.cpp
	$Q$(CXX) $(STD) $(INC) -fsyntax-only $@.cpp 2>&1 | book/compile/blame
	@touch $@
# (Tables that Coq has computed are of these definitions.)
build/prove/tables: $(PROOF_V) build/prove/hashes book/prove/tables \
    $(wildcard tests/reference/coq_*.txt)
	$Q$(if $(PROOFS),book/prove/tables --check build/prove/hashes $(PROOF_V))
	@touch $@
# (What is said to be proved over every field and tried in a finite one is.)
build/prove/pairs: build/prove/claims $(TANGLED) $(NW) book/prove/pairs.awk
	$Q$(if $(PROOFS),gawk -f book/prove/pairs.awk $< $(PROOFS:%=tangled/proofs/%.v) \
	  $(wildcard tangled/tests/*.cpp) $(NW))
	@touch $@
$(PROVED): build/prove/constants build/prove/pairs $(if $(SOFT),,build/prove/tables) \
    build/prove/claims build/prove/hashes book/prove/stamps.awk $(wildcard book/proved.txt)
	$Qgawk -v draft=$(SOFT) \
	  -v lines=$$(cat /dev/null $(PROOFS:%=tangled/proofs/%.v) | wc -l) \
	  -v instances=$$(cat /dev/null $(PROOFS:%=tangled/proofs/%.v) | grep -c '^Example ') \
	  -f book/prove/stamps.awk build/prove/claims build/prove/hashes \
	  $(wildcard book/proved.txt) > $@.tmp
	$Qcpif $@ < $@.tmp; rm $@.tmp; touch $@

## prove: Coq checks all proofs anew where they changed (after `make setup-prove')
prove: build/prove/claims build/prove/hashes
	$Q$(if $(PROOFS),$(call gawk_coq,refuse) $(PROOF_V))
	$Qcommand -v $(COQC) > /dev/null || { echo "prove: there is no coqc here;" \
	  "\`make setup-prove' installs it" >&2; exit 1; }
	$Q$(MAKE) --no-print-directory PROVE=1 proofs
	$Qbook/prove/record $(COQC) $(PROOFS)
	$(call made,book/proved.txt (commit it): $$(grep -vc '^\#' book/proved.txt) theorems)
COQC    ?= coqc
# (Coq's collector saves memory that is there: with a smaller nursery, which need not be
# touched whole for each file, and fewer passes all takes a fifth less time.)
prove proofs prove-mutants: export OCAMLRUNPARAM ?= s=8M,o=2000
proofs: build/prove/answers build/prove/computed
build/prove/computed: $(PROOFS:%=build/prove/%.vo) book/prove/tables \
    $(wildcard tests/reference/coq_*.txt)
	$Q$(if $(PROOFS),book/prove/tables $(COQC) $(PROOFS:%=build/prove/%))
	@touch $@
$(PROOFS:%=build/prove/%.v): build/prove/%.v: build/src/proofs/%.v
	@mkdir -p $(@D); cp -p $< $@
build/prove/deps: $(PROOFS:%=build/prove/%.v)
	@coqdep -Q build/prove attn $^ > $@
ifdef PROVE
-include build/prove/deps
endif
$(PROOFS:%=build/prove/%.vo): %.vo: %.v book/prove/compile
	$(call say,prove,proofs/$(*F).v)
	$Qbook/prove/compile $(COQC) $(*F)
build/prove/answers: $(PROOFS:%=build/prove/%.vo) build/prove/claims book/prove/ask \
    book/prove/rests.awk
	$Q$(if $(PROOFS),book/prove/ask $(COQC) $(PROOFS))
	@touch $@

## prove-mutants: alter what is proved, at EVERY=4th place, and see whether the proofs notice
prove-mutants: build/prove/claims
	$Q$(MAKE) --no-print-directory PROVE=1 proofs
	$Qbook/prove/mutate coqtop build/prove/mutants $(or $(filter-out 11,$(EVERY)),4) \
	  $(FROM) $(PROOFS)
	$Qcp build/prove/mutants/score.txt book/measured/proof-mutants.txt
