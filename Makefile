# Makes .venv, then hands over to the doit task of the same name.
#
## make reproduce    re-derive all results, then open build/site/index.html
## make site         build the site from the last run
## make notebook     run one: NAME=11_error_weights ARGS="-p aggregation mean"
## make new          start the notebook of a new study: NAME=70_my_study
## make test         lint, tests, committed outputs, all notebooks on simulated data
## make lab          open JupyterLab
## make refresh      renew the committed outputs, figures and claims from real data
## make bench        print speed ratios
## make coverage     measure how often printed intervals hold the truth (a quarter of an hour)
## make quoted       the same for headlines, with new raters too (a quarter of an hour)
## make label_errors measure what models of label error find (ten minutes)
## make audit        measure what the rules of verdicts notice, and how often they err
## make sweep        run all notebooks with other values of each parameter (some minutes)
## make gates        measure how often conclusions about own ratings err (hours; it goes on where it stopped)
## make answers      let the model under test answer again (extra: models)
## make lock         renew the locks after a change of pyproject.toml; ARGS=--upgrade: all packages
## make clean        delete build/
##
## DATA=auto         real data where they can be had (default); or DATA=real, DATA=simulated
## PYTHON=python3.13 make .venv with this Python (default: python3)

DATA ?= auto
PYTHON ?= python3
# Called through Python, since the first line of a script fails in a long path or one with quotes.
DOIT := .venv/bin/python -m doit
RATINGS := .venv/bin/python .venv/bin/ratings

unexport PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH
unexport PIP_CONSTRAINT PIP_PREFIX PIP_REQUIREMENT PIP_ROOT PIP_TARGET PIP_USER
export DATA NAME

.DEFAULT_GOAL := help
.PHONY: help reproduce site notebook new test lab refresh bench coverage label_errors quoted audit gates sweep answers
.PHONY: .venv new-environment lock clean

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

reproduce site test lab refresh bench coverage label_errors quoted audit gates sweep answers: .venv
	@$(DOIT) $@ data="$$DATA"

notebook: .venv
	@$(RATINGS) run "$$NAME" --data "$$DATA" $(ARGS)

new: .venv
	@$(RATINGS) new "$$NAME"

clean:
	@rm -rf build

# The last step writes what .venv was made for into .venv/complete. Without it, .venv is made anew.
MADE_FOR := pwd -P; cksum requirements.lock pyproject.toml
COMPLETE := test -x .venv/bin/python && \
	test "$$($(MADE_FOR))" = "$$(cat .venv/complete 2>/dev/null)"

# File 9 is this folder. What is started here inherits it, so that its lock ends with the last.
TRY_LOCK := import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
LOCK := import fcntl; fcntl.flock(9, fcntl.LOCK_EX)

.venv:
	@$(COMPLETE) || { \
		exec 9<.; \
		$(PYTHON) -c "$(TRY_LOCK)" 2>/dev/null || { \
			echo "waiting for another make, which is making .venv"; \
			$(PYTHON) -c "$(LOCK)"; \
		}; \
		$(COMPLETE) || $(MAKE) --no-print-directory new-environment; \
	}

# Any Python can read this.
IS_NEW := import sys; sys.version_info >= (3, 11) or sys.exit( \
	'Python 3.11 or newer is needed, and $(PYTHON) is ' + sys.version.split()[0] + \
	': install one, and name it, as in  make PYTHON=python3.12')
# In an active .venv, python3 is the one that is deleted.
IS_OTHER := import os, sys; sys.prefix == os.path.realpath('.venv') and sys.exit( \
	'.venv is active, but has to be made anew: type  deactivate  first')
# uv reads no settings of pip; variables come last, since they outrank files.
SETTINGS_FOR_UV := s/\\n/ /g; \
	s/.*\.index-url=/export UV_DEFAULT_INDEX=/p; \
	s/.*\.extra-index-url=/export UV_INDEX=/p; \
	s/.*\.find-links=/export UV_FIND_LINKS=/p
UV := .venv/bin/uv pip install --python .venv/bin/python --system-certs --no-progress \
	--compile-bytecode --index-strategy unsafe-best-match
PIP := .venv/bin/python -I -m pip --disable-pip-version-check

new-environment:
	@$(PYTHON) -c "$(IS_NEW)"
	@$(PYTHON) -c "$(IS_OTHER)"
	rm -rf .venv
	$(PYTHON) -I -m venv .venv
	@sed -n '/^uv==/,/[^\]$$/p' requirements.lock >.venv/uv.txt
	@echo "Installing requirements.lock by uv, or else by pip"
	@$(PIP) install --quiet --require-hashes -r .venv/uv.txt && \
		eval "$$($(PIP) config list | sort -r | sed -n '$(SETTINGS_FOR_UV)')" && \
		$(UV) --require-hashes -r requirements.lock || \
		$(PIP) install --no-cache-dir --require-hashes -r requirements.lock
	$(UV) --offline --no-deps --no-build-isolation --editable .
	@# Python brings an old pip, which nothing here needs.
	.venv/bin/uv pip uninstall --python .venv/bin/python pip
	.venv/bin/uv pip check --python .venv/bin/python
	@{ $(MADE_FOR); } >.venv/complete

LOCK_BY_UV := .venv/bin/uv pip compile --system-certs --quiet --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-header --only-binary :all: --emit-build-options

lock:
	$(LOCK_BY_UV) $(ARGS) --extra dask --extra dev --extra install --extra site \
		--output-file requirements.lock pyproject.toml
	$(LOCK_BY_UV) $(ARGS) --group browser --output-file requirements-browser.lock
