# Builds .venv from requirements.lock, then hands over to the doit task of the same name.
#
## make reproduce    re-derive all results, then open build/site/index.html
## make site         build the site from the last run
## make notebook     run one: NAME=11_error_weights ARGS="-p alpha 0.05"
## make new          start the notebook of a new study: NAME=60_my_study
## make test         lint, tests, committed outputs, all notebooks on simulated data
## make lab          open JupyterLab
## make refresh      renew the committed outputs, figures and claims from real data
## make bench        print speed ratios
## make coverage     measure how often printed intervals hold the truth (a quarter of an hour)
## make audit        measure what the rules of verdicts notice, and how often they err
## make answers      let the model under test answer again (extra: models)
## make clean        delete build/
##
## DATA=auto         real data where they can be had (default); or DATA=real, DATA=simulated

DATA ?= auto
DOIT := .venv/bin/doit
INSTALLED := .venv/installed
LOCKED := --quiet --require-hashes -r requirements.lock

# A machine's own pip settings stay in force, save those that would install elsewhere or otherwise.
unexport PIP_CONSTRAINT PIP_NO_DEPS PIP_PREFIX PIP_REQUIREMENT PIP_ROOT PIP_TARGET PYTHONHOME PYTHONPATH
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export ARGS

.DEFAULT_GOAL := help
.PHONY: help reproduce site notebook new test lab refresh bench coverage audit answers clean

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

reproduce site test lab refresh bench coverage audit answers: $(INSTALLED)
	@$(DOIT) $@ data=$(DATA)

notebook: $(INSTALLED)
	@$(DOIT) notebook data=$(DATA) name=$(NAME) args="$$ARGS"

new: $(INSTALLED)
	@$(DOIT) new name=$(NAME)

clean: $(INSTALLED)
	@$(DOIT) clean

$(INSTALLED): requirements.lock pyproject.toml
	@for python in python3.11 python3.12 python3.13 python3.14 python3 none; do \
	    $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	        2>/dev/null && break; \
	done; \
	if [ $$python = none ]; then \
	    echo "No Python 3.11 or newer with the modules venv and ensurepip found: install one."; \
	    exit 1; \
	fi; \
	echo "Installing the locked packages into .venv with $$($$python --version)"; \
	[ -x .venv/bin/pip ] || $$python -m venv .venv
	@.venv/bin/python -m pip install --quiet uv \
	    && .venv/bin/uv pip install --python .venv --system-certs --compile-bytecode $(LOCKED) \
	    || .venv/bin/python -m pip install $(LOCKED)
	@cd .venv/lib/python3.*/site-packages && echo ../../../../src > helpers.pth
	@touch $@
